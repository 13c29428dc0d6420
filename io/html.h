/* SPDX-License-Identifier: Apache-2.0
 *
 * html.h - the frame of a page: one file, no scripts, nothing from elsewhere, light and dark, for a phone
 * as for a large screen. Charts (svg.h) go into it as they are. What these functions write is
 * well-formed XML, too.
 *
 * Classes for what stands between: `lead` (p), `cards` and `card` (div), `charts` (div: two beside each
 * other where there is room), `chart` (div round an svg), `wide` (div round a table, scrolls), `l` (left),
 * `best`, `good`, `bad`; `big` and `small` (div): for large screens and for phones alone; `screen`: not printed, as are details; `sorted` (div round buttons of the
 * classes k0, k1, .. and a `wide` table whose rows have the ranks --k0, --k1, ..: the checked one orders them).
 */
#ifndef SHOAL_IO_HTML_H
#define SHOAL_IO_HTML_H

#include <stdint.h>
#include <stdio.h>

/* From the doctype to the opened main element; the end closes them. */
void io_html_begin(FILE *file, const char *title);
void io_html_end(FILE *file);

/* Escapes & < > and quotes; control characters and bytes that are not UTF-8 become U+FFFD. */
void io_html_text(FILE *file, const char *text);

/* A card: a value in large letters, and what it is. */
void io_html_card(FILE *file, const char *value, const char *label);

/* A line of a list of facts, within dl; nothing if value is NULL or empty. */
void io_html_fact(FILE *file, const char *name, const char *value);

/* 1234567 as 1,234,567. Returns text. */
char *io_html_count(int64_t value, char text[32]);

#endif
