/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - the modules, and a run of a list of problems. Neighbours with the same data share it, and the peers are
 * measured once for each set of data, right after our methods.
 */
#include "bench/module.h"

#include <stdlib.h>
#include <string.h>

static const bench_module *const modules[] = { &bench_tridiag,  &bench_band,   &bench_rng,
                                               &bench_smallsym, &bench_recur,  &bench_symindef,
                                               &bench_sort,     &bench_heston, &bench_expou,
                                               &bench_bullet };

const bench_grammar *bench_grammar_at(int i) {
    const int count = (int)(sizeof modules / sizeof *modules);
    return i >= 0 && i < count ? &modules[i]->grammar : NULL;
}

const bench_module *bench_module_of(const char *name) {
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strcmp(modules[i]->grammar.module, name) == 0) return modules[i];
    return NULL;
}

/* Ours against the best peer that passed the check (or counts all the same), among the rows from
 * `first` on. */
static void compare(bench_session *s, int first) {
    double best = 0;
    for (int i = first; i < s->row_count; i++) {
        const bench_row *row = &s->rows[i];
        const bool counts = row->check.passed || row->counts;
        if (strcmp(row->who, "Shoal") == 0 || !row->timed || !counts) continue;
        if (best == 0 || row->time.median < best) best = row->time.median;
    }
    for (int i = first; i < s->row_count && best > 0; i++) {
        bench_row *row = &s->rows[i];
        if (strcmp(row->who, "Shoal") == 0 && row->timed) row->speedup = best / row->time.median;
    }
}

/* True if the next problem is solved on the data of this one. */
static bool shared(const bench_problem *p, const bench_problem *next) {
    const bench_module *module = bench_module_of(p->module);
    return strcmp(p->module, next->module) == 0 &&
           (module->same ? module->same(p, next) : bench_same_data(p, next));
}

/* Puts the problem before a message that does not name it. */
static void name_problem(bench_session *s, const bench_problem *p) {
    char text[BENCH_TEXT], message[sizeof s->message];
    bench_problem_text(p, text);
    if (strncmp(s->message, text, strlen(text)) == 0) return;
    strcpy(message, s->message);
    bench_error(s, s->why, "%s: %s", text, message);
}

static void release(const bench_module *module, void *data) {
    if (data && module->release) module->release(data);
    free(data);
}

int bench_run(bench_session *s, const bench_problems *list, int flags) {
    if ((flags & BENCH_PEERS) && !BENCH_HAS_PEERS)
        bench_note(s, "no peers in this build: `make all`, or SHOAL_PEERS=ON in CMake, adds them");
    const bench_module *module = NULL;
    void *data = NULL; /* of that module */
    int code = BENCH_OK, first = s->row_count;
    for (int i = 0; i < list->count && code == BENCH_OK; i++) {
        const bench_problem *p = &list->items[i];
        if (bench_stopped(s)) {
            code = BENCH_STOPPED;
            break;
        }
        bench_place *place = bench_session_place(s, p->backend);
        if (!place) code = BENCH_ERROR;
        if (module != bench_module_of(p->module)) {
            release(module, data);
            module = bench_module_of(p->module);
            data = calloc(1, module->size);
            if (!data) code = bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
        }
        if (code == BENCH_OK)
            code = module->make ? module->make(s, p, place, data)
                                : bench_arrays_make(s, p, place, &module->filler, data);
        if (code == BENCH_OK) code = module->run(s, data, p, flags & BENCH_TIME);
        if (code == BENCH_ERROR && place) name_problem(s, p);
        bool last = i + 1 == list->count || !shared(p, &list->items[i + 1]);
        if (code != BENCH_OK || !last) continue;
        if (flags & BENCH_PEERS && module->peers) code = module->peers(s, data);
        compare(s, first);
        first = s->row_count;
    }
    if (code != BENCH_OK) compare(s, first);
    release(module, data);
    return code;
}
