/* SPDX-License-Identifier: Apache-2.0
 *
 * sheet.c - a table without scripts whose heads sort it: a button per column, and per row its rank in that column, by
 * which CSS orders the cells.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/html.h"
#include "page.h"

int cva_make_sheet(cva_sheet *t, const char *const *names, int columns, int left, int64_t rows,
                   io_error *err) {
    const size_t cells = (size_t)(rows * columns) + 1;
    *t = (cva_sheet){
        names, columns, left, rows, calloc(cells, sizeof *t->text), calloc(cells, sizeof *t->key)
    };
    if (t->text && t->key) return IO_OK;
    free(t->text), free(t->key);
    return io_fail(err, IO_E_MEMORY, "not enough memory");
}

void cva_set_text(cva_sheet *t, int64_t row, int column, const char *text) {
    snprintf(t->text[row * t->columns + column], CVA_CELL, "%s", text);
}

void cva_set_number(cva_sheet *t, int64_t row, int column, double value, double error) {
    cva_set_text(t, row, column, isfinite(value) ? CVA_ROUNDED(value, error) : "–");
    t->key[row * t->columns + column] = value;
}

typedef struct rank {
    const cva_sheet *t;
    int column;
    int64_t row;
} rank;

/* Numbers fall, texts ascend. */
static int by_column(const void *a, const void *b) {
    const rank *x = a, *y = b;
    const int64_t i = x->row * x->t->columns + x->column, k = y->row * y->t->columns + y->column;
    if (x->column < x->t->left) {
        const int order = strcmp(x->t->text[i], y->t->text[k]);
        if (order) return order;
    } else if (x->t->key[i] != y->t->key[k])
        return x->t->key[i] < y->t->key[k] ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The rows of a sheet in the order of a column. */
static void sort_sheet(const cva_sheet *t, int column, rank *order) {
    for (int64_t i = 0; i < t->rows; i++) order[i] = (rank){ t, column, i };
    qsort(order, (size_t)t->rows, sizeof *order, by_column);
}

int cva_show_sheet(FILE *file, cva_sheet *t, char id, int first, io_error *err) {
    rank *order = malloc((size_t)(t->rows + 1) * sizeof *order);
    int *place = malloc((size_t)(t->rows * t->columns + 1) * sizeof *place);
    for (int column = 0; order && place && column < t->columns; column++) {
        sort_sheet(t, column, order);
        for (int64_t i = 0; i < t->rows; i++)
            place[order[i].row * t->columns + column] = (int)i + 1;
    }
    if (order && place) {
        fputs("<div class=\"sorted\">\n", file);
        for (int k = 0; k < t->columns && t->rows > 1; k++)
            fprintf(file, "<input type=\"radio\" name=\"%c\" id=\"%c%d\" class=\"k%d\"%s/>", id, id,
                    k, k, k == first ? " checked=\"checked\"" : "");
        fprintf(file,
                "\n<div class=\"wide\"><table style=\"grid-template-columns:repeat(%d,auto)\">"
                "<thead><tr>",
                t->columns);
        for (int k = 0; k < t->columns; k++) {
            fputs(k < t->left ? "<th class=\"l\">" : "<th>", file);
            if (t->rows > 1) fprintf(file, "<label for=\"%c%d\" class=\"k%d\">", id, k, k);
            io_html_text(file, t->names[k]);
            fputs(t->rows > 1 ? "</label></th>" : "</th>", file);
        }
        fputs("</tr></thead><tbody>\n", file);
        sort_sheet(t, first, order);
        for (int64_t i = 0; i < t->rows; i++) {
            const int64_t row = order[i].row * t->columns;
            fputs("<tr style=\"", file);
            for (int k = 0; k < t->columns; k++)
                fprintf(file, "%s--k%d:%d", k ? ";" : "", k, place[row + k]);
            fputs("\">", file);
            for (int k = 0; k < t->columns; k++) {
                fputs(k < t->left ? "<td class=\"l\">" : "<td>", file);
                io_html_text(file, t->text[row + k]);
                fputs("</td>", file);
            }
            fputs("</tr>\n", file);
        }
        fputs("</tbody></table></div></div>\n", file);
    }
    const bool good = order && place;
    free(order), free(place), free(t->text), free(t->key);
    return good ? IO_OK : io_fail(err, IO_E_MEMORY, "not enough memory");
}
