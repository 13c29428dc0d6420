/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_many.c - the promises of smallsym over very many systems: of every kind, size 1 to
 * 64, type and method, each answer called ok has a backward error of at most 10 n eps; a method does
 * not fail on what it is made for, and auto on nothing that is finite; the inertia of ldltp is that
 * of the eigenvalues. smallsym_many.h makes the systems and judges the answers; the defaults of the
 * library alone are tested here, all variants and storages in test_smallsym.c.
 *
 *     test_smallsym_many [--backend=cpu|cuda] [--n=1..64] [--share=0/1] [--count=1e5] [--eig-count=C]
 *                        [--first=0] [--seed=7] [--kind=NAME] [--method=NAME] [--type=f32|f64]
 *
 * --n takes sizes and ranges, "3,8..16"; --share=I/J every Jth of those sizes from the Ith on, so that
 * J processes share the work; --eig-count is the count of eigdc; --first --count=1 picks one system.
 * A line for each kind, type and method says what became of the systems and where the worst was.
 * At most 4 GB of matrices are held at once, 64 MB on the CPU.
 */
#include "smallsym_many_family.h"
#include <time.h>

enum { KINDS = 32, METHODS = 5 };
static const char *const methods[METHODS] = { "ldlt", "ldltp", "hhpcr", "eigdc", "auto" };
enum { LDLTP = 1, EIGDC = 3 };

static struct {
    const char *backend, *kind, *method, *type;
    double count, eig_count, first, seed;
    int sizes[MANY_MAX + 1];
} options = { .backend = "cpu", .count = 1e5, .eig_count = -1, .seed = 7 };

static const many_backend *backend;

static const char *method_name(int i) { return i < METHODS ? methods[i] : NULL; }
static const char *type_name(int i) {
    return i == SHOAL_F64 ? "f64" : i == SHOAL_F32 ? "f32" : NULL;
}

typedef struct row { /* all sizes of a kind, type and method */
    unsigned long long tally[TALLY_SUMS];
    float worst;       /* in n eps */
    int worst_n, used; /* worst_n 0: none is ok */
    uint32_t worst_k;
} row;

static row rows[KINDS][2][METHODS];

/* ---- the judge, judged ------------------------------------------------------------------------ */

enum { N = 7, SYSTEMS = 3 };                        /* the systems on both sides of MANY_BASE */
enum { SOLVED, DIVIDED, ZEROS, NOT_NUMBERS, WAYS }; /* what x is */

static float units_of(const unsigned long long *tally) {
    const uint32_t bits = (uint32_t)(tally[TALLY_WORST] >> 32);
    float units;
    memcpy(&units, &bits, sizeof units);
    return units;
}

/* The tally of system `at` of a batch, had it this x and status. */
static void judge_one(const many_family *f, const many_batch *p, int64_t at, const double *x,
                      int32_t status, unsigned long long *here) {
    const int rules[MANY_FAULTS] = { RULE_OK, RULE_OK, RULE_OK };
    const shoal_type type = f->single ? SHOAL_F32 : SHOAL_F64;
    const size_t size = size_of(type);
    const many_batch one = { p->first + at, 1, (char *)p->a + (size_t)at * N * N * size,
                             (char *)p->b + (size_t)at * N * size, p->x };
    const many_outcome o = { .status = memory_for(1, sizeof status) };
    unsigned long long *tally = memory_for(TALLY, sizeof *tally);
    double typed[N];
    memset(here, 0, TALLY * sizeof *here);
    for (int64_t i = 0; i < N; i++) set(typed, type, i, x[i]);
    fine(shoal_copy(ctx, tally, here, TALLY * sizeof *here), "tally");
    fine(shoal_copy(ctx, o.status, &status, sizeof status), "status");
    fine(shoal_copy(ctx, one.x, typed, N * size), "x");
    CHECK(backend->check(f, &one, &o, rules, tally) == 0);
    fine(shoal_copy(ctx, here, tally, TALLY * sizeof *here), "tally");
    shoal_free(ctx, tally), shoal_free(ctx, o.status);
}

/* The certificate is that of smallsym_batch.h, in long double; what must be called wrong is. */
static void check_verdict(const many_family *f, const many_batch *p, const batch *made, int64_t k,
                          const answer *solved, int way) {
    double all[SYSTEMS * N] = { 0 }, *x = all + k * N;
    unsigned long long t[TALLY];
    for (int64_t i = 0; i < N && way != ZEROS; i++) {
        x[i] = way == SOLVED ? solved->x[k * N + i] : made->b[k * N + i] / entry(made, k, i, i);
        if (made->type == SHOAL_F32) x[i] = (float)x[i];
    }
    if (way == NOT_NUMBERS) x[N - 1] = NAN;
    const double expected = backward_error(made, k, 0, all) / (N * eps_of(made->type));
    judge_one(f, p, k, x, SHOAL_SYSTEM_OK, t);
    CHECK(t[TALLY_OK] == 1 && t[TALLY_WRONG] == (way != SOLVED) && t[TALLY_BREACHES] == 0);
    CHECK_MSG(units_of(t) == (float)expected || /* long double has 2^-64 at least */
                  fabs(units_of(t) - expected) <= 1e-6 * expected + 0.005,
              "way %d: %g is %g", way, expected, (double)units_of(t));
    judge_one(f, p, k, x, SHOAL_SYSTEM_PIVOT, t);
    CHECK(t[TALLY_FAILED] == 1 && t[TALLY_BREACHES] == 1 && t[TALLY_WRONG] == 0);
    CHECK(~t[TALLY_BREACH] == (unsigned long long)(p->first + k));
}

/* The systems are the generator's but for order and signs, and not in its order. */
static void check_made(const batch *made, int64_t k, const batch *base, int64_t from) {
    double trace = 0, squares = 0;
    int equal = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            const double v = entry(made, k, i, j), w = entry(base, from, i, j);
            CHECK(j <= i || isnan(made->a[(k * N + i) * N + j]));
            trace += i == j ? v - w : 0, squares += v * v - w * w;
            equal += v == w;
        }
    CHECK_MSG(fabs(trace) < 1e-12 && fabs(squares) < 1e-12, "%g %g", trace, squares);
    CHECK_MSG(equal < N * N, "system %lld is the generator's", (long long)k);
}

static void check_judge(shoal_type type) {
    const size_t a_bytes = SYSTEMS * N * N * size_of(type), b_bytes = SYSTEMS * N * size_of(type);
    batch base = new_batch(N, MANY_BASE, 1, type), made = new_batch(N, SYSTEMS, 1, type);
    const shoal_smallsym_opts shape = { .n = N, .count = MANY_BASE, .nrhs = 1 };
    fine(shoal_smallsym_generate(ctx, "wishart", NAN, 7, 0, &shape, base.a, base.b), "base");
    round_batch(&base);
    const many_family f = new_family("wishart", &base, type, 7);
    const many_batch p = { MANY_BASE - 1, SYSTEMS, memory_for((int64_t)a_bytes, 1),
                           memory_for((int64_t)b_bytes, 1), memory_for((int64_t)b_bytes, 1) };
    void *a = new_array(a_bytes, 1), *b = new_array(b_bytes, 1);
    CHECK(backend->make(&f, &p) == 0);
    fine(shoal_copy(ctx, a, p.a, a_bytes), "A"), fine(shoal_copy(ctx, b, p.b, b_bytes), "b");
    for (int64_t i = 0; i < SYSTEMS * N * N; i++) made.a[i] = get(a, type, i);
    for (int64_t i = 0; i < SYSTEMS * N; i++) made.b[i] = get(b, type, i);
    answer solved = solve_with(ctx, &made, &(call){ "ldltp", NULL, 0 }, (how){ 0 });
    for (int64_t k = 0; k < SYSTEMS; k++) {
        check_made(&made, k, &base, (p.first + k) % MANY_BASE);
        for (int way = 0; way < WAYS; way++) check_verdict(&f, &p, &made, k, &solved, way);
    }
    free_answer(&solved), free(a), free(b), free_batch(&base), free_batch(&made), free_family(&f);
    shoal_free(ctx, p.a), shoal_free(ctx, p.b), shoal_free(ctx, p.x);
}

/* ---- all families ------------------------------------------------------------------------------ */

/* Adds the tally of a batch to its row and says what must not be. */
static void take(int kind, int method, const many_family *f, const unsigned long long *t) {
    row *r = &rows[kind][f->single][method];
    char who[128];
    snprintf(who, sizeof who, "%s %s %s n=%d seed=%g", shoal_smallsym_kind(kind),
             type_name(f->single), methods[method], f->n, options.seed);
    for (int i = 0; i < TALLY_SUMS; i++) r->tally[i] += t[i];
    const uint32_t k = ~(uint32_t)t[TALLY_WORST];
    const float worst = units_of(t);
    if (t[TALLY_OK] && (r->worst_n == 0 || worst > r->worst))
        r->worst = worst, r->worst_n = f->n, r->worst_k = k;
    r->used = 1;
    CHECK_MSG(t[TALLY_WRONG] == 0, "%s: %llu are called ok and are not, worst k=%u with %.9g n eps",
              who, t[TALLY_WRONG], k, (double)worst);
    CHECK_MSG(t[TALLY_BREACHES] == 0, "%s: %llu have a status that is not allowed, first k=%llu",
              who, t[TALLY_BREACHES], ~t[TALLY_BREACH]);
    CHECK_MSG(t[TALLY_DIFFERENT] == 0, "%s: inertia of ldltp is another %llu times, first k=%llu",
              who, t[TALLY_DIFFERENT], ~t[TALLY_UNEQUAL]);
}

static void run_batch(int kind, const many_family *f, many_batch p, const many_outcome *factored,
                      const many_outcome *other, unsigned long long *tally) {
    const unsigned long long none[TALLY] = { 0 };
    const int64_t count = p.count;
    int have_ldltp = 0;
    CHECK(backend->make(f, &p) == 0);
    for (int m = 0; m < METHODS; m++) {
        const many_outcome *o = m == LDLTP ? factored : other;
        unsigned long long here[TALLY];
        int rules[MANY_FAULTS];
        if (options.method && strcmp(options.method, methods[m]) != 0) continue;
        p.count = count;
        if (m == EIGDC && options.eig_count >= 0)
            p.count =
                (int64_t)fmin((double)count, options.first + options.eig_count - (double)p.first);
        if (p.count <= 0 || !solve_batch(f, &p, methods[m], o)) continue;
        for (int i = 0; i < MANY_FAULTS; i++)
            rules[i] = rule_of(shoal_smallsym_kind(kind), methods[m], i);
        fine(shoal_copy(ctx, tally, none, sizeof none), "tally");
        CHECK(backend->check(f, &p, o, rules, tally) == 0);
        if (m == EIGDC && have_ldltp) CHECK(backend->compare(f, &p, factored, o, tally) == 0);
        if (m == LDLTP) have_ldltp = 1;
        if (fine(shoal_copy(ctx, here, tally, sizeof here), "tally")) take(kind, m, f, here);
    }
}

static void run_family(int kind, const batch *base, shoal_type type) {
    const int64_t n = base->n, count = (int64_t)options.count;
    const double room = strcmp(options.backend, "cuda") == 0 ? 4e9 : 64e6;
    const int64_t pieces = 1 + (int64_t)((double)(count * n * n) * (double)size_of(type) / room);
    const int64_t most = (count + pieces - 1) / pieces;
    const many_family f = new_family(shoal_smallsym_kind(kind), base, type, (uint64_t)options.seed);
    const many_outcome factored = new_outcome(most), other = new_outcome(most);
    unsigned long long *tally = memory_for(TALLY, sizeof *tally);
    many_batch p = { 0, 0, memory_for(most * n * n, size_of(type)),
                     memory_for(most * n, size_of(type)), memory_for(most * n, size_of(type)) };
    for (int64_t from = 0; from < count; from += most) {
        p.first = (int64_t)options.first + from;
        p.count = count - from < most ? count - from : most;
        run_batch(kind, &f, p, &factored, &other, tally);
    }
    shoal_free(ctx, p.a), shoal_free(ctx, p.b), shoal_free(ctx, p.x), shoal_free(ctx, tally);
    free_outcome(&factored), free_outcome(&other);
    free_family(&f);
}

static void run_size(int64_t n) {
    const double end = options.first + options.count;
    for (int kind = 0; shoal_smallsym_kind(kind) && kind < KINDS; kind++) {
        const char *name = shoal_smallsym_kind(kind);
        if (options.kind && strcmp(options.kind, name) != 0) continue;
        batch base = new_batch(n, end < MANY_BASE ? (int64_t)end : MANY_BASE, 1, SHOAL_F64);
        const shoal_smallsym_opts shape = { .n = n, .count = base.count, .nrhs = 1 };
        if (fine(shoal_smallsym_generate(ctx, name, NAN, (uint64_t)options.seed, 0, &shape, base.a,
                                         base.b),
                 name))
            for (int type = 0; type < 2; type++)
                if (!options.type || strcmp(options.type, type_name(type)) == 0)
                    run_family(kind, &base, type);
        free_batch(&base);
    }
}

static void print_rows(void) {
    printf("%-10s %-4s %-6s %10s %8s %9s %6s %8s %10s  worst ok, n eps\n", "kind", "type", "method",
           "ok", "ill", "truncated", "other", "failed", "inertias");
    for (int kind = 0; shoal_smallsym_kind(kind) && kind < KINDS; kind++)
        for (int i = 0; i < 2 * METHODS; i++) {
            const row *r = &rows[kind][i / METHODS][i % METHODS];
            const unsigned long long *t = r->tally;
            if (!r->used) continue;
            printf("%-10s %-4s %-6s %10llu %8llu %9llu %6llu %8llu %10llu",
                   shoal_smallsym_kind(kind), type_name(i / METHODS), methods[i % METHODS],
                   t[TALLY_OK], t[TALLY_ILL], t[TALLY_TRUNCATED], t[TALLY_OTHER], t[TALLY_FAILED],
                   t[TALLY_COMPARED]);
            if (r->worst_n) printf("  %.4g at n=%d k=%u", (double)r->worst, r->worst_n, r->worst_k);
            putchar('\n');
        }
}

/* ---- options ---------------------------------------------------------------------------------- */

static int usage(const char *argument) {
    fprintf(stderr, "test_smallsym_many: cannot use '%s'; the head of its source has the options\n",
            argument);
    return 64;
}

/* "3,8..16" */
static int parse_sizes(const char *text) {
    memset(options.sizes, 0, sizeof options.sizes);
    for (const char *at = text; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        char *end;
        const long from = strtol(at, &end, 10);
        const long to = strncmp(end, "..", 2) == 0 ? strtol(end + 2, &end, 10) : from;
        if ((*end && *end != ',') || from < 1 || to < from || to > MANY_MAX) return 0;
        for (long n = from; n <= to; n++) options.sizes[n] = 1;
    }
    return 1;
}

static int known(const char *word, const char *(*name)(int)) {
    for (int i = 0; name(i); i++)
        if (strcmp(word, name(i)) == 0) return 1;
    return 0;
}

static int parse(int argc, char **argv) {
    int share = 0, shares = 1;
    for (int n = 1; n <= MANY_MAX; n++) options.sizes[n] = 1;
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (!value++) return usage(argv[i]);
        const size_t length = (size_t)(value - argv[i]);
        const struct {
            const char *name, **word;
            double *number, least, most;
        } list[] = { { "--backend=", &options.backend, NULL, 0, 0 },
                     { "--kind=", &options.kind, NULL, 0, 0 },
                     { "--method=", &options.method, NULL, 0, 0 },
                     { "--type=", &options.type, NULL, 0, 0 },
                     { "--count=", NULL, &options.count, 1, 2e9 },
                     { "--eig-count=", NULL, &options.eig_count, 0, 2e9 },
                     { "--first=", NULL, &options.first, 0, 2e9 },
                     { "--seed=", NULL, &options.seed, 0, 1e15 } };
        const size_t entries = sizeof list / sizeof *list;
        size_t j = 0;
        while (j < entries && strncmp(argv[i], list[j].name, length) != 0) j++;
        if (strncmp(argv[i], "--n=", 4) == 0) {
            if (!parse_sizes(value)) return usage(argv[i]);
        } else if (strncmp(argv[i], "--share=", 8) == 0) {
            if (sscanf(value, "%d/%d", &share, &shares) != 2 || share < 0 || share >= shares)
                return usage(argv[i]);
        } else if (j == entries)
            return usage(argv[i]);
        else if (list[j].word)
            *list[j].word = value;
        else {
            char *end;
            *list[j].number = strtod(value, &end);
            if (*end || !(*list[j].number >= list[j].least && *list[j].number <= list[j].most))
                return usage(argv[i]);
        }
    }
    if (strcmp(options.backend, "cpu") != 0 && strcmp(options.backend, "cuda") != 0)
        return usage(options.backend);
    if (options.type && !known(options.type, type_name)) return usage(options.type);
    if (options.kind && !known(options.kind, shoal_smallsym_kind)) return usage(options.kind);
    if (options.method && !known(options.method, method_name)) return usage(options.method);
    for (int n = 1, place = 0; n <= MANY_MAX; n++)
        if (options.sizes[n]) options.sizes[n] = place++ % shares == share;
    return 0;
}

int main(int argc, char **argv) {
    const int bad = parse(argc, argv);
    if (bad) return bad;
    backend = &many_cpu;
#ifdef SHOAL_CUDA
    if (strcmp(options.backend, "cuda") == 0) backend = &many_cuda;
#endif
    if (shoal_open(&(shoal_options){ .backend = options.backend }, &ctx) != SHOAL_OK) {
        printf("skip  %s\n", shoal_message(ctx));
        shoal_close(ctx);
        return 77;
    }
    const time_t start = time(NULL);
    for (int type = 0; type < 2; type++) check_judge(type);
    for (int n = 1; n <= MANY_MAX; n++) {
        if (!options.sizes[n]) continue;
        run_size(n);
        printf("n=%-2d done after %.0f s, %d checks failed\n", n, difftime(time(NULL), start),
               test_state.failed_checks);
        fflush(stdout);
    }
    print_rows();
    shoal_close(ctx);
    return test_state.failed_checks != 0;
}
