/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - a CVA in parts: `shoal cva --shard I/N -o PART` writes the rows of a range of outer paths, and
 * `shoal merge-parts PART...` puts them together in their order, with the bits of one run.
 *
 * What such a part has besides what all have (parts.h): the texts of book and market, what was counted,
 * and the rows, in 17 digits.
 */
#include "cva.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/parts.h"

enum { COUNTS = 7 + SHOAL_CVA_METHODS + SHOAL_CVA_DECADES };

/* Where the counts of a run are, in the order of a part. */
static int64_t *count_at(shoal_cva_counts *n, int i) {
    int64_t *const first[] = { &n->inner_paths, &n->systems, &n->empty, &n->warned,
                               &n->truncated,   &n->refined, &n->failed };
    enum { FIRST = sizeof first / sizeof *first };
    if (i < FIRST) return first[i];
    return i < FIRST + SHOAL_CVA_METHODS ? &n->method[i - FIRST]
                                         : &n->decade[i - FIRST - SHOAL_CVA_METHODS];
}

/* ---- writing ---------------------------------------------------------------------------------- */

typedef struct contents {
    const cva_book *book;
    const cva_result *result;
} contents;

static void write_rows(io_json *j, const void *what) {
    const contents *w = what;
    const cva_result *r = w->result;
    shoal_cva_counts counts = r->counts;
    int64_t count[COUNTS];
    for (int i = 0; i < COUNTS; i++) count[i] = *count_at(&counts, i);
    io_json_string(j, "book", w->book->text);
    io_json_string(j, "market", w->book->market_text);
    io_json_ints(j, "counts", count, COUNTS);
    io_json_array(j, "rows");
    for (int64_t i = 0; i < r->outer; i++)
        io_json_doubles(j, NULL, r->samples + i * r->width, r->width);
    io_json_close(j);
}

int cva_part_write(const cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    const part p = { .path = o->output,
                     .command = "cva",
                     .shard = o->shard,
                     .shards = o->shards,
                     .first = r->first,
                     .count = r->outer };
    const contents what = { b, r };
    part_words w = { 0 };
    part_words_of(&w, c, &cva_command, o);
    const int code = part_write(&p, "paths", &w, write_rows, &what);
    part_words_free(&w);
    return code;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int read_part(const char *path, part *p) {
    static const cli_command *const commands[] = { &cva_command, NULL };
    const int code = part_read(path, commands, "paths", p);
    if (code != CLI_OK) return code;
    if (!p->runs) return part_bad(path, "it is none of shoal cva");
    const io_json_value *counts = io_json_get(p->root, "counts");
    const io_json_value *rows = io_json_get(p->root, "rows");
    if (!part_string(p->root, "book") || !part_string(p->root, "market"))
        return part_bad(path, "no book or no market");
    if (!counts || counts->kind != IO_JSON_ARRAY || counts->count != COUNTS)
        return part_bad(path, "the counts do not fit");
    if (!rows || rows->kind != IO_JSON_ARRAY || rows->count != p->count)
        return part_bad(path, "the rows do not fit");
    return CLI_OK;
}

/* Adds counts and rows of a part; `at` is the first free row. */
static int join(const part *p, cva_joined *to, int64_t at) {
    int i = 0;
    for (const io_json_value *v = io_json_get(p->root, "counts")->first; v; v = v->next) {
        int64_t *sum = count_at(&to->counts, i++);
        if (v->kind != IO_JSON_INT || v->integer < 0 || v->integer > INT64_MAX - *sum)
            return part_bad(p->path, "a count is no whole number from 0");
        *sum += v->integer;
    }
    double *x = to->rows + at * to->width;
    for (const io_json_value *row = io_json_get(p->root, "rows")->first; row; row = row->next) {
        if (row->kind != IO_JSON_ARRAY || row->count != to->width)
            return part_bad(p->path, "the rows do not fit");
        for (const io_json_value *v = row->first; v; v = v->next) {
            if (!part_is_number(v)) return part_bad(p->path, "an exposure is no number");
            *x++ = v->number;
        }
    }
    return CLI_OK;
}

static int join_all(part *p, int count, cva_joined *to) {
    int code = part_check(p, sizeof *p, count, &to->paths);
    for (int i = 0; i < count && code == CLI_OK && !to->width; i++) {
        const io_json_value *row = io_json_get(p[i].root, "rows")->first;
        if (row) to->width = row->count;
    }
    to->book = part_string(p[0].root, "book"), to->market = part_string(p[0].root, "market");
    if (code == CLI_OK) to->rows = calloc((size_t)(to->paths * to->width) + 1, sizeof *to->rows);
    if (code == CLI_OK && !to->rows) code = cli_no_memory();
    for (int i = 0; i < count && code == CLI_OK; i++) code = join(&p[i], to, p[i].first);
    return code;
}

int cva_merge_parts(cli *c, const char *const *path, int count, const char *plot,
                    const char *output) {
    part *p = calloc((size_t)count + 1, sizeof *p);
    cva_joined joined = { 0 };
    int code = p ? CLI_OK : cli_no_memory();
    for (int i = 0; i < count && code == CLI_OK; i++) code = read_part(path[i], &p[i]);
    if (code == CLI_OK) code = join_all(p, count, &joined);
    if (code == CLI_OK) code = part_run(c, &p[0], plot, output, &joined);
    for (int i = 0; p && i < count; i++) io_json_free(p[i].root);
    free(p);
    free(joined.rows);
    return code;
}
