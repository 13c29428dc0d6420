/* SPDX-License-Identifier: Apache-2.0
 *
 * test_recur.c - every method of recur on every backend against substitution in long double, and
 * what a segment's answer must not depend on: batches, threads, blocks, levels, aliasing, time.
 */
#include "recur_batch.h"
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void check_calls(const batch *p, how h) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (!serves(c, p)) continue;
            answer r = solve_with(targets[t].ctx, p, c, h);
            check_accuracy(p, &r, name_of(&targets[t], c, p));
            CHECK(r.info.failed == 0);
            free_answer(&r);
        }
}

/* A block of lookback on the CPU: 33 rows for each pair of numbers in 64 bytes. */
static int64_t block_rows(shoal_type type) { return type == SHOAL_F32 ? 33 * 16 * 16 : 33 * 8 * 8; }

/* Around lanes, strips (128 or 64 rows), tiles (1024 or 512), the CPU's blocks (8448 or 2112). */
static const int64_t around[] = { 0,    1,    2,    3,    4,    5,    31,   32,   33,   63,
                                  64,   65,   127,  128,  129,  255,  256,  257,  511,  512,
                                  513,  777,  1023, 1024, 1025, 2047, 2048, 2049, 2111, 2112,
                                  2113, 4095, 4096, 4097, 8447, 8448, 8449 };
enum { AROUND = sizeof around / sizeof *around };

TEST(order_one_at_all_sizes) {
    const char *kinds[] = { "decay", "unit", "cuts" };
    for (int type = 0; type < 2; type++)
        for (int j = 0; j < AROUND; j++) {
            batch p = generate(kinds[j % 3], (shoal_recur_opts){ .n = around[j],
                                                                 .count = around[j] < 70 ? 37 : 2,
                                                                 .type = type });
            check_calls(&p, (how){ 0 });
            free_batch(&p);
        }
}

static void check_decay(int64_t n, int order) {
    for (int type = 0; type < 2; type++) {
        batch p = generate("decay",
                           (shoal_recur_opts){ .n = n, .count = 2, .order = order, .type = type });
        check_calls(&p, (how){ 0 });
        free_batch(&p);
    }
}

TEST(several_tiles) { check_decay(3 * 1024 + 7, 1); }

TEST(groups_of_tiles) {
    check_decay(34 * 1024 + 5, 1);
    check_decay(66 * 256 + 1, 4);
}

TEST(a_long_segment) {
    if (small) SKIP("too long for an emulated run");
    for (int type = 0; type < 2; type++) {
        batch p = generate("waves", (shoal_recur_opts){ .n = 1000003, .count = 1, .type = type });
        check_calls(&p, (how){ 0 });
        free_batch(&p);
    }
}

TEST(orders_and_moebius) {
    const int64_t lengths[] = { 1, 2, 3, 4, 5, 33, 64, 129, 257, 600, 2600, 4200 };
    for (int type = 0; type < 2; type++)
        for (int order = 2; order <= 5; order++)
            for (int j = 0; j < (small ? 10 : 12); j++) {
                shoal_recur_opts shape = { .n = lengths[j], .count = 3, .type = type };
                shape.form = order == 5 ? SHOAL_RECUR_MOEBIUS : SHOAL_RECUR_LINEAR;
                shape.order = order == 5 ? 1 : order;
                batch p = generate(j % 2 ? "decay" : "cuts", shape);
                check_calls(&p, (how){ 0 });
                free_batch(&p);
            }
}

TEST(directions_layouts_and_constants) {
    const int64_t lengths[] = { 6, 129, 1500, 4100 };
    for (int flags = 1; flags < 16; flags++)
        for (int order = 1; order <= 5; order++)
            for (int j = 0; j < (small ? 3 : 4); j++) {
                shoal_recur_opts shape = { .n = lengths[j],
                                           .count = j == 0 ? 21 : 3,
                                           .type = flags % 2,
                                           .reverse = flags & 1,
                                           .layout = flags & 2 ? SHOAL_INTERLEAVED : 0,
                                           .constant_s = (flags & 4) != 0,
                                           .constant_t = (flags & 8) != 0 };
                if (small && order % 2 == 0) continue;
                shape.form = order == 5 ? SHOAL_RECUR_MOEBIUS : SHOAL_RECUR_LINEAR;
                shape.order = order == 5 ? 1 : order;
                shape.type = (flags + j + order) % 2;
                batch p = generate("decay", shape);
                check_calls(&p, (how){ .in_place = j % 2 });
                free_batch(&p);
            }
}

TEST(growth_within_range) {
    for (int type = 0; type < 2; type++) {
        batch p = generate("growth", (shoal_recur_opts){ .n = 1300, .count = 5, .type = type });
        check_calls(&p, (how){ 0 });
        free_batch(&p);
    }
}

TEST(no_first_values_are_zeros) {
    for (int order = 1; order <= 5; order++) {
        batch p = generate(
            "decay",
            (shoal_recur_opts){ .n = 300, .count = 4, .order = order % 5, .form = order == 5 });
        free(p.w0);
        p.w0 = NULL;
        check_calls(&p, (how){ 0 });
        free_batch(&p);
    }
}

/* Arrays that do not begin where a vector may, and w on top of t. */
TEST(in_place_and_unaligned) {
    const int64_t lengths[] = { 5, 60, 1031, 4500 };
    for (int type = 0; type < 2; type++)
        for (int j = 0; j < (small ? 3 : 4); j++)
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    batch p = generate(
                        "cuts", (shoal_recur_opts){
                                    .n = lengths[j], .count = 18, .reverse = j % 2, .type = type });
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    answer s = solve_with(targets[t].ctx, &p, c, (how){ .in_place = 1 });
                    answer u = solve_with(targets[t].ctx, &p, c, (how){ .offset = 1 + j });
                    CHECK_MSG(same_all(r.w, s.w, lengths[j] * 18), "%s: in place",
                              name_of(&targets[t], c, &p));
                    CHECK_MSG(same_all(r.w, u.w, lengths[j] * 18), "%s: unaligned",
                              name_of(&targets[t], c, &p));
                    check_accuracy(&p, &r, name_of(&targets[t], c, &p));
                    free_answer(&r), free_answer(&s), free_answer(&u);
                    free_batch(&p);
                }
}

/* Segment k of `from` becomes segment `at` of `to`. */
static void copy_segment(batch *to, int64_t at, const batch *from, int64_t k) {
    const int64_t n = from->shape.n, width = n * from->width, order = order_of(from);
    memcpy(to->s + at * width, from->s + k * width, (size_t)width * sizeof(double));
    memcpy(to->t + at * n, from->t + k * n, (size_t)n * sizeof(double));
    memcpy(to->w0 + at * order, from->w0 + k * order, (size_t)order * sizeof(double));
}

static void check_invariance(const target *t, const call *c, const batch *p) {
    const int64_t n = p->shape.n, count = p->shape.count;
    answer r = solve_with(t->ctx, p, c, (how){ 0 });
    shoal_recur_opts alone = p->shape;
    alone.count = 1;
    batch turned = new_batch(p->shape), one = new_batch(alone);
    for (int64_t k = 0; k < count; k++) copy_segment(&turned, count - 1 - k, p, k);
    answer s = solve_with(t->ctx, &turned, c, (how){ 0 });
    for (int64_t k = 0; k < count; k++)
        CHECK_MSG(same_all(r.w + k * n, s.w + (count - 1 - k) * n, n), "%s: place",
                  name_of(t, c, p));
    free_answer(&s);
    for (int64_t k = 0; k < count; k += 5) {
        copy_segment(&one, 0, p, k);
        s = solve_with(t->ctx, &one, c, (how){ 0 });
        CHECK_MSG(same_all(r.w + k * n, s.w, n), "%s: alone", name_of(t, c, p));
        free_answer(&s);
    }
    for (int again = 0; again < 5; again++) {
        shoal_context *ctx;
        char order[16];
        shoal_options o = { .backend = t->backend, .isa = t->isa, .threads = again + 1 };
        snprintf(order, sizeof order, "%d", 100 + again); /* of the emulator's threads and blocks */
        if (!on_cpu(t)) setenv("SIMT_ORDER", order, 1);
        CHECK(shoal_open(&o, &ctx) == 0);
        s = solve_with(ctx, p, c, (how){ 0 });
        CHECK_MSG(same_all(r.w, s.w, n * count), "%s: threads, blocks", name_of(t, c, p));
        free_answer(&s);
        shoal_close(ctx);
    }
    free_answer(&r);
    free_batch(&turned);
    free_batch(&one);
}

TEST(the_answer_depends_on_the_segment_alone) {
    const struct {
        int64_t n, count;
        int order;
    } cases[] = { { 7, 21, 1 },   { 100, 12, 2 }, { 1500, 6, 1 },
                  { 9000, 3, 1 }, { 2500, 2, 4 }, { 600, 6, 5 } };
    const char *order = getenv("SIMT_ORDER");
    char *kept = order ? strdup(order) : NULL;
    for (int j = 0; j < 6; j++)
        for (int flags = 0; flags < 4; flags++) {
            shoal_recur_opts shape = { .n = cases[j].n,
                                       .count = cases[j].count,
                                       .order = cases[j].order % 5,
                                       .form = cases[j].order == 5,
                                       .type = flags % 2,
                                       .layout = flags / 2 };
            if (small && flags != j % 4) continue;
            batch p = generate(j % 2 ? "cuts" : "decay", shape);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++)
                    if (serves(c, &p)) check_invariance(&targets[t], c, &p);
            free_batch(&p);
        }
    if (kept)
        setenv("SIMT_ORDER", kept, 1);
    else
        unsetenv("SIMT_ORDER");
    free(kept);
}

/* With and without the rearrangement pscheme is one algorithm, and every instruction level computes the same. */
TEST(variants_and_levels_agree_bit_for_bit) {
    for (int type = 0; type < 2; type++)
        for (int64_t n = 1; n < (small ? 300 : 5000); n = n * 2 + 3) {
            batch p = generate("decay", (shoal_recur_opts){ .n = n, .count = 19, .type = type });
            for (const call *c = calls; c->method; c++) {
                const int stored = c->variant && strncmp(c->variant, "stored", 6) == 0;
                const call plain = { "pscheme", stored ? "stored" : "blocked" };
                const call *first = strcmp(c->method, "pscheme") == 0 ? &plain : c;
                for (int cpu = 0; cpu < 2; cpu++) {
                    answer r = { 0 };
                    for (int t = 0; t < target_count; t++) {
                        if (on_cpu(&targets[t]) != cpu) continue;
                        if (!r.w) r = solve_with(targets[t].ctx, &p, first, (how){ 0 });
                        answer s = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                        CHECK_MSG(same_all(r.w, s.w, n * 19), "%s", name_of(&targets[t], c, &p));
                        free_answer(&s);
                    }
                    free_answer(&r);
                }
            }
            free_batch(&p);
        }
}

/* ---- a thread that stops while it has a block of lookback on the CPU ------------------------ */

/* The first `stopping` threads that touch the page stop in the handler of the fault until one of the `seen`
 * numbers of w is written, or the time is over. Later ones make the page usable. The first is the thread that
 * has the block of the page, or, seldom, one that did not wait for it to begin. */
static struct {
    char *page;
    size_t bytes, number;
    const volatile char *seen[2]; /* the last rows of two blocks, */
    char before[2][8];            /* and what was there           */
    int stopping, milliseconds, faults, gave_up;
} trap;

static int trap_is_over(void) {
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < trap.number; i++)
            if (trap.seen[b][i] != trap.before[b][i]) return 1;
    return 0;
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    const char *at = info->si_addr;
    if (at < trap.page || at >= trap.page + trap.bytes) {
        signal(signal_number, SIG_DFL); /* a fault of the library */
        return;
    }
    if (__atomic_fetch_add(&trap.faults, 1, __ATOMIC_SEQ_CST) < trap.stopping) {
        int looks = 0;
        const struct timespec millisecond = { .tv_nsec = 1000000 };
        while (looks < trap.milliseconds && !trap_is_over()) nanosleep(&millisecond, NULL), looks++;
        if (looks == trap.milliseconds) trap.gave_up = 1;
    }
    mprotect(trap.page, trap.bytes, PROT_READ | PROT_WRITE);
}

/* A thread stops when it reads s of row `row`, or, if w lies on t, when it writes w there. `stopping` threads
 * do so, until block `next` or the one after it is written. */
typedef struct stop {
    int in_place;
    int64_t row;
    int stopping, next;
} stop;

/* Solves p by lookback in three threads, of which one or two are stopped. */
static void solve_with_stopped_threads(const target *t, const batch *p, stop h) {
    const shoal_recur_opts *o = &p->shape;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = size_of(o->type);
    const size_t numbers = (size_t)(o->n * p->width);
    const size_t ahead = (size_t)(h.row * (h.in_place ? 1 : p->width)) * size;
    const size_t skip = (ahead + page - 1) / page * page - ahead; /* the row begins a page */
    const size_t bytes = numbers * size + skip;
    char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *rows = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED && rows != MAP_FAILED);
    char *s = base + skip, *rhs = rows + skip, *w = rhs;
    if (!h.in_place) w = new_array((size_t)o->n, size);
    convert(p, 0, p->width, p->s, s, 1);
    if (!o->form) convert(p, 0, 1, p->t, rhs, 1);
    if (!h.in_place) memset(w, 0xee, (size_t)o->n * size);
    char *w0 = upload_first(t->ctx, p);
    for (int b = 0; b < 2; b++) {
        trap.seen[b] = w + (size_t)((h.next + b + 1) * block_rows(o->type) - 1) * size;
        memcpy(trap.before[b], (const char *)trap.seen[b], size);
    }
    trap.page = (h.in_place ? rhs : s) + ahead;
    trap.bytes = page, trap.number = size;
    trap.stopping = h.stopping, trap.faults = trap.gave_up = 0;
    trap.milliseconds = h.in_place ? 20 : 10000;
    shoal_context *ctx;
    shoal_recur *plan = NULL;
    shoal_recur_opts opts = *o;
    opts.method = "lookback";
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .isa = t->isa, .threads = 3 }, &ctx) == 0);
    CHECK(shoal_recur_create(ctx, &opts, &plan) == SHOAL_OK);
    struct sigaction before, action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, &before);
    mprotect(trap.page, page, h.in_place ? PROT_READ : PROT_NONE);
    CHECK(solve_typed(plan, o->type, s, o->form ? NULL : rhs, w0, w) == SHOAL_OK);
    mprotect(trap.page, page, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &before, NULL);
    answer r = solve_with(t->ctx, p, &(call){ "lookback", NULL }, (how){ .in_place = h.in_place });
    double *there = new_array((size_t)o->n, sizeof *there);
    convert(p, 0, 1, there, w, 0);
    const char *who = name_of(t, &(call){ "lookback", "stopped" }, p);
    CHECK_MSG(trap.faults > 0, "%s: no thread was stopped", who);
    CHECK_MSG(trap.gave_up == h.in_place, "%s: those that wait %s its block", who,
              h.in_place ? "computed" : "did not compute");
    CHECK_MSG(same_all(there, r.w, o->n), "%s: other bits", who);
    check_accuracy(p, &r, who);
    free_answer(&r);
    free(there);
    if (!h.in_place) free(w);
    shoal_free(t->ctx, w0);
    shoal_recur_free(plan);
    shoal_close(ctx);
    munmap(base, bytes), munmap(rows, bytes);
}

/* Threads that wait long compute the block themselves, with the same operations. They leave it where w lies
 * on t: rows that are written are no t any more. */
TEST(a_thread_that_stops_is_not_waited_for) {
    if (!dlsym(RTLD_DEFAULT, "omp_get_max_threads")) SKIP("this build has no threads");
    for (int order = 1; order <= 5; order++)
        for (int type = 0; type < 2; type++)
            for (int overflow = 0; overflow < (order < 5 ? 2 : 1); overflow++) {
                shoal_recur_opts shape = { .n = 5 * block_rows(type) + 100,
                                           .count = 1,
                                           .order = order % 5,
                                           .form = order == 5,
                                           .type = type };
                batch p = generate(order == 1 ? "unit" : "decay", shape);
                for (int e = 0; e < order && overflow; e++) { /* of the map, not of w */
                    p.w0[e] = 0;
                    for (int64_t i = 0; i < 50; i++)
                        p.t[i] = 0, p.s[i * order + e] = i == 49 ? 0 : type ? 0x1p40 : 0x1p300;
                }
                for (int t = 0; t < target_count; t++) {
                    if (!on_cpu(&targets[t])) continue;
                    solve_with_stopped_threads(&targets[t], &p, (stop){ 0, 0, 2, 2 });
                    solve_with_stopped_threads(&targets[t], &p,
                                               (stop){ 0, 2 * block_rows(type), 1, 3 });
                    /* a block whose map overflows is known when its last row is written */
                    if (overflow && order < 3 && t == target_count - 1)
                        solve_with_stopped_threads(&targets[t], &p,
                                                   (stop){ 1, block_rows(type) - 100, 1, 1 });
                }
                free_batch(&p);
            }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(order_one_at_all_sizes);
    RUN(several_tiles);
    RUN(groups_of_tiles);
    RUN(a_long_segment);
    RUN(orders_and_moebius);
    RUN(directions_layouts_and_constants);
    RUN(growth_within_range);
    RUN(no_first_values_are_zeros);
    RUN(in_place_and_unaligned);
    RUN(the_answer_depends_on_the_segment_alone);
    RUN(variants_and_levels_agree_bit_for_bit);
    RUN(a_thread_that_stops_is_not_waited_for);
    close_targets();
    return TEST_END();
}
