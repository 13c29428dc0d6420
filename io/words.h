/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - the message about a word that does not exist: one wording for options, methods, kinds, columns, assets.
 */
#ifndef SHOAL_IO_WORDS_H
#define SHOAL_IO_WORDS_H

/* Name i of a list, NULL past its end. */
typedef const char *io_names(const void *of, int i);

/* "book.csv:4: unknown asset 'ALPHA'; the market has ALFA, BRAVO. Did you mean 'ALFA'?": without a list of names if
 * `have`, "the market has", is NULL; a synonym, or the nearest name by edit distance, if one is near. Returns
 * `message`. */
enum { IO_MESSAGE = 1024 };
char *io_unknown(char message[IO_MESSAGE], const char *where, const char *what, const char *word,
                 const char *have, io_names *names, const void *of);

/* The number of the name that was probably meant; -1: none is near. A beginning counts as near. */
int io_nearest(const char *word, io_names *names, const void *of);

#endif
