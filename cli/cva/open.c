/* SPDX-License-Identifier: Apache-2.0
 *
 * open.c - what the CPU makes while a GPU opens, which takes 0.15 s: the rules of exercise, and the pages of the memory
 * for the results of outer paths. Errors of the book are found again when the plan is created.
 */
#define _GNU_SOURCE /* madvise */
#include "cva.h"

#include <pthread.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "cli/common/ranks.h"

typedef struct opening {
    cli *c;
    int code;
    int is_over;
    pthread_t thread;
} opening;

static void *open_device(void *of) {
    opening *o = of;
    o->code = cli_open(o->c);
    __atomic_store_n(&o->is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static bool is_over(const opening *o) { return __atomic_load_n(&o->is_over, __ATOMIC_ACQUIRE); }

/* Rules for a device that does not open are not wanted. */
static int on_fit(void *of, const char *stage, double fraction) {
    opening *o = of;
    if (is_over(o) && o->code != CLI_OK) return 1;
    return cli_on_progress(o->c, stage, fraction);
}

bool cva_begins_early(const cli *c, const cva_options *o, const cva_book *b) {
    bool fits = false;
    if (!cli_wants_gpu(c) || c->ctx || c->parts || ranks_count() > 1) return false;
    if (o->compare || o->shards || o->swaps.count || o->parties || o->add) return false;
    for (int64_t i = 0; i < b->count; i++) fits |= b->contract[i].american;
    return fits && o->opts.estimator != SHOAL_CVA_BY_INNER;
}

double *cva_rows(double *rows, int64_t outer, int64_t width) {
    const size_t bytes = (size_t)(outer * width + 1) * sizeof *rows;
    double *more = realloc(rows, bytes);
#ifdef MADV_HUGEPAGE
    enum { HUGE_PAGE = 1 << 21 };
    const uintptr_t from = ((uintptr_t)more + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t to = ((uintptr_t)more + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (more && to > from) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
    return more;
}

/* The first write to new memory waits for the kernel, page by page. */
static void make_rows(const cva_options *o, const opening *of, cva_early *e) {
    enum { PAGE = 4096 };
    const int64_t width = shoal_cva_width(e->rules);
    const size_t bytes = (size_t)(o->opts.outer * width + 1) * sizeof *e->rows;
    if (o->opts.outer == 0 || cva_in_units(of->c, o)) return;
    e->rows = cva_rows(NULL, o->opts.outer, width);
    for (size_t at = 0; e->rows && at < bytes && !is_over(of); at += PAGE)
        ((volatile char *)e->rows)[at] = 0;
}

/* The driver makes a queue per connection, 8 unless it is told otherwise: 6 ms each. One GPU with one stream needs one. */
void cva_want_one_queue(const cli *c, const cva_options *o) {
    if (cli_wants_gpu(c) && !cva_in_units(c, o)) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
}

int cva_open_early(cli *c, cva_options *o, const cva_book *b, cva_early *to) {
    opening of = { .c = c };
    shoal_options host = { .backend = "cpu", .threads = c->threads };
    shoal_machine machine = { .threads = 0 };
    shoal_status s = shoal_open(&host, &to->cpu);
    if (s == SHOAL_OK) s = shoal_describe(to->cpu, &machine);
    /* one core opens the GPU: all threads would wait for it */
    if (s == SHOAL_OK && machine.threads > 2) {
        shoal_close(to->cpu);
        host.threads = machine.threads - 1;
        s = shoal_open(&host, &to->cpu);
    }
    if (s != SHOAL_OK || pthread_create(&of.thread, NULL, open_device, &of) != 0)
        return cli_open(c);
    const double begun = cli_now();
    o->early = to;
    shoal_set_progress(to->cpu, on_fit, &of);
    if (cva_create_in(to->cpu, o, b, NULL, 1, &to->rules) != SHOAL_OK) to->rules = NULL;
    to->seconds = cli_now() - begun;
    if (to->rules) make_rows(o, &of, to);
    pthread_join(of.thread, NULL);
    shoal_set_progress(to->cpu, NULL, NULL);
    c->opened = cli_now() - begun - to->seconds; /* what it took longer */
    return of.code;
}

void cva_early_free(cva_early *e) {
    shoal_cva_free(e->rules);
    shoal_close(e->cpu);
    free(e->rows);
}
