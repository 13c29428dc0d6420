/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_sizes.c - batches of systems of different sizes (opts.offsets): every system has the bits,
 * status, residual and condition that it has alone, whatever its neighbours; what is refused, in which
 * words.
 *
 *     test_tridiag_sizes [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

enum { MOST = 40 }; /* systems */

/* A batch of one "system" that holds all rows, and where the systems begin. */
typedef struct sizes {
    batch all;
    int64_t count, offsets[MOST + 1];
} sizes;

/* Systems out of a family of `longest` rows, each cut to its own size; what lies outside is NaN. */
static sizes make(const char *kind, const int64_t *rows, int64_t count, int64_t nrhs,
                  shoal_type type) {
    sizes s = { .count = count };
    int64_t longest = 1;
    for (int64_t k = 0; k < count; k++) {
        s.offsets[k + 1] = s.offsets[k] + rows[k];
        if (rows[k] > longest) longest = rows[k];
    }
    batch from = generate(kind, longest, count, nrhs, type);
    s.all = new_batch(s.offsets[count], 1, nrhs, type);
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = s.offsets[k], n = rows[k];
        memcpy(s.all.dl + at, from.dl + k * longest, (size_t)n * sizeof(double));
        memcpy(s.all.d + at, from.d + k * longest, (size_t)n * sizeof(double));
        memcpy(s.all.du + at, from.du + k * longest, (size_t)n * sizeof(double));
        memcpy(s.all.b + at * nrhs, from.b + k * longest * nrhs,
               (size_t)(n * nrhs) * sizeof(double));
        if (n > 0) s.all.dl[at] = s.all.du[at + n - 1] = NAN;
    }
    free_batch(&from);
    return s;
}

/* System k by itself. */
static batch one_of(const sizes *s, int64_t k) {
    const int64_t at = s->offsets[k], n = s->offsets[k + 1] - at, m = s->all.nrhs;
    batch p = new_batch(n, 1, m, s->all.type);
    memcpy(p.dl, s->all.dl + at, (size_t)n * sizeof(double));
    memcpy(p.d, s->all.d + at, (size_t)n * sizeof(double));
    memcpy(p.du, s->all.du + at, (size_t)n * sizeof(double));
    memcpy(p.b, s->all.b + at * m, (size_t)(n * m) * sizeof(double));
    return p;
}

static shoal_status run(shoal_tridiag *plan, shoal_type type, void *const *m, void *x,
                        void *factors) {
    if (!factors) return solve_typed(plan, type, m[0], m[1], m[2], m[3], x);
    shoal_status s = type ? shoal_tridiag_factorf(plan, m[0], m[1], m[2], factors)
                          : shoal_tridiag_factor(plan, m[0], m[1], m[2], factors);
    if (s != SHOAL_OK) return s;
    return type ? shoal_tridiag_resolvef(plan, factors, m[3], x)
                : shoal_tridiag_resolve(plan, factors, m[3], x);
}

/* All systems in one call, through kept factors or not; code is not SHOAL_OK where the backend has
 * no such variant. */
static answer solve_sizes(shoal_context *ctx, const sizes *s, const call *c, how h, int factored) {
    answer r = { .code = SHOAL_OK };
    const batch *p = &s->all;
    shoal_tridiag_opts o = { .count = s->count,
                             .nrhs = p->nrhs,
                             .type = p->type,
                             .method = c->method,
                             .variant = c->variant,
                             .transposed = h.transposed,
                             .offsets = s->offsets };
    shoal_tridiag *plan = NULL;
    r.code = shoal_tridiag_create(ctx, &o, &plan);
    if (r.code != SHOAL_OK) return r;
    const size_t systems = (size_t)s->count, size = (size_t)(p->n * p->nrhs);
    void *m[] = { upload(ctx, p, 0, 1, p->dl), upload(ctx, p, 0, 1, p->d),
                  upload(ctx, p, 0, 1, p->du), upload(ctx, p, 0, p->nrhs, p->b) };
    void *x = h.in_place ? m[3] : upload(ctx, p, 0, p->nrhs, p->b), *factors = NULL;
    void *host = new_array(size, size_of(p->type));
    shoal_outcome w = { 0 };
    shoal_alloc(ctx, systems * sizeof(int32_t), (void **)&w.status);
    shoal_alloc(ctx, systems * sizeof(float), (void **)&w.residual);
    shoal_alloc(ctx, systems * sizeof(float), (void **)&w.rcond);
    if (factored) CHECK(shoal_alloc(ctx, shoal_tridiag_factor_bytes(plan), &factors) == SHOAL_OK);
    CHECK(shoal_tridiag_outcome(plan, &w) == SHOAL_OK);
    CHECK_MSG(run(plan, p->type, m, x, factors) == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_tridiag_last(plan, &r.info) == SHOAL_OK);
    r.x = new_array(size, sizeof(double));
    r.status = new_array(systems, sizeof(int32_t));
    r.residual = new_array(systems, sizeof(float));
    r.rcond = new_array(systems, sizeof(float));
    CHECK(shoal_copy(ctx, host, x, size * size_of(p->type)) == SHOAL_OK);
    convert(p, 0, p->nrhs, r.x, host, 0);
    CHECK(shoal_copy(ctx, r.status, w.status, systems * sizeof(int32_t)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, r.residual, w.residual, systems * sizeof(float)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, r.rcond, w.rcond, systems * sizeof(float)) == SHOAL_OK);
    for (int i = 0; i < 4; i++) shoal_free(ctx, m[i]);
    if (!h.in_place) shoal_free(ctx, x);
    shoal_free(ctx, factors), shoal_free(ctx, w.status), shoal_free(ctx, w.residual);
    shoal_free(ctx, w.rcond);
    shoal_tridiag_free(plan);
    free(host);
    return r;
}

/* Each system against itself alone. auto is lupp here, on both backends. */
static void sizes_case(const target *t, const call *c, const sizes *s, how h, int factored) {
    const call lupp = { "lupp", NULL, 1 };
    const int64_t m = s->all.nrhs;
    answer r = solve_sizes(t->ctx, s, c, h, factored);
    if (r.code != SHOAL_OK) {
        CHECK_MSG(r.code == SHOAL_E_METHOD && c->variant, "%s", shoal_message(t->ctx));
        return;
    }
    int64_t failed = 0;
    for (int64_t k = 0; k < s->count; k++) {
        batch p = one_of(s, k);
        h.rcond = 1;
        answer a = solve_with(t->ctx, &p, is_auto(c) ? &lupp : c, h);
        const char *who = name_of(t, c);
        CHECK_MSG(same_all(r.x + s->offsets[k] * m, a.x, p.n * m), "%s k=%lld n=%lld: x", who,
                  (long long)k, (long long)p.n);
        CHECK_MSG(r.status[k] == a.status[0], "%s k=%lld n=%lld: status %d, not %d", who,
                  (long long)k, (long long)p.n, r.status[k], a.status[0]);
        if (factored)
            CHECK(isnan(r.residual[k]) && isnan(r.rcond[k]));
        else
            CHECK_MSG(same((double)r.residual[k], (double)a.residual[0]) &&
                          same((double)r.rcond[k], (double)a.rcond[0]),
                      "%s k=%lld n=%lld: residual %g, not %g, rcond %g, not %g", who, (long long)k,
                      (long long)p.n, (double)r.residual[k], (double)a.residual[0],
                      (double)r.rcond[k], (double)a.rcond[0]);
        failed += a.status[0] < 0;
        free_answer(&a);
        free_batch(&p);
    }
    CHECK(r.info.failed == failed);
    free_answer(&r);
}

static int takes_sizes(const call *c) {
    return (shoal_method_flags("tridiag", c->method, c->variant) & SHOAL_CAN_OFFSETS) != 0;
}

static void all_ways(const sizes *s) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++)
            for (int way = 0; way < 3 && takes_sizes(c); way++) {
                const how h = { .in_place = way == 1, .transposed = way > 0 };
                const int factored =
                    way == 2 && shoal_method_flags("tridiag", c->method, NULL) & SHOAL_CAN_FACTOR;
                sizes_case(&targets[t], c, s, h, factored);
            }
}

static const int64_t mixed[MOST] = { 3,  0, 1,  2, 17, 5,  0, 40, 8,  1,  33, 7, 9, 2,
                                     64, 0, 31, 4, 1,  12, 5, 0,  16, 15, 20, 6, 1, 3,
                                     3,  3, 90, 2, 11, 0,  1, 8,  8,  24, 2,  5 };

TEST(every_system_is_as_it_is_alone) {
    const int64_t counts[] = { 2, 19, 1, 7, MOST };
    const char *const kinds[] = { "dominant", "random", "singular", "nonfinite", "zeropivot" };
    for (int i = 0; i < (small ? 2 : 5); i++)
        for (int kind = 0; kind < 5; kind++)
            for (int type = 0; type < 2; type++) {
                sizes s = make(kinds[kind], mixed, counts[i], 1 + 2 * (kind == 1), type);
                all_ways(&s);
                free_batch(&s.all);
            }
}

/* Some so long that systems come one at a time. */
TEST(long_systems_among_short_ones) {
    const int64_t rows[] = { 3, 5000, 0, 1, 1300, 5000 };
    if (small) SKIP("too long for an emulated run");
    for (int type = 0; type < 2; type++) {
        sizes s = make("random", rows, 6, 1, type);
        all_ways(&s);
        free_batch(&s.all);
    }
}

TEST(no_rows_at_all) {
    const int64_t none[] = { 0, 0, 0 };
    for (int64_t count = 0; count < 4; count += 3) {
        sizes s = make("dominant", none, count, 1, SHOAL_F64);
        all_ways(&s);
        free_batch(&s.all);
    }
}

TEST(what_is_refused) {
    const int64_t good[] = { 0, 3, 3, 8 }, down[] = { 0, 3, 2, 8 }, late[] = { 1, 3, 3, 8 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_tridiag *plan;
        const shoal_tridiag_opts o = { .count = 3, .nrhs = 1, .offsets = good };
        shoal_tridiag_opts p = o;
        p.n = 5;
        CHECK(shoal_tridiag_create(ctx, &p, &plan) == SHOAL_OK);
        shoal_tridiag_free(plan);
        p.n = 8;
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &p, &plan), SHOAL_E_ARG, "n is 8");
        p = o, p.offsets = down;
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &p, &plan), SHOAL_E_ARG, "offsets[2] = 2");
        p = o, p.offsets = late;
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &p, &plan), SHOAL_E_ARG, "offsets[0] is 1");
        p = o, p.layout = SHOAL_INTERLEAVED;
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &p, &plan), SHOAL_E_ARG, "layout");
        p = o, p.count = -3;
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &p, &plan), SHOAL_E_ARG, "count is -3");
        for (const call *c = calls; c->method; c++) {
            if (takes_sizes(c) || (c->variant && strcmp(c->variant, "stride") != 0)) continue;
            p = o, p.method = c->method;
            CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &p, &plan), SHOAL_E_METHOD, c->method);
            CHECK(plan == NULL && strstr(shoal_message(ctx), "different sizes"));
        }
        double v[8];
        CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "dominant", 1, 0, &o, v, v, v, v), SHOAL_E_ARG,
                   "offsets");
    }
}

/* Beyond shared memory pcr keeps 6 numbers per row, and variant permute two indices more. */
TEST(permuted_rows_need_two_indices) {
    const shoal_tridiag_opts o = { .n = 6000, .count = 3, .nrhs = 1, .method = "pcr" };
    shoal_context *ctx = targets[target_count - 1].ctx;
    if (strcmp(targets[target_count - 1].backend, "cuda") != 0) SKIP("no CUDA device");
    size_t bytes[2];
    for (int permute = 0; permute < 2; permute++) {
        shoal_tridiag_opts with = o;
        shoal_tridiag_info info;
        shoal_tridiag *plan;
        with.variant = permute ? "permute" : NULL;
        CHECK(shoal_tridiag_create(ctx, &with, &plan) == SHOAL_OK);
        CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
        bytes[permute] = info.bytes;
        shoal_tridiag_free(plan);
    }
    CHECK_MSG(bytes[0] >= 3 * 6000 * 6 * sizeof(double), "%zu bytes", bytes[0]);
    CHECK_MSG(bytes[1] - bytes[0] == 3 * 6000 * 2 * sizeof(int), "%zu and %zu bytes", bytes[0],
              bytes[1]);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(every_system_is_as_it_is_alone);
    RUN(long_systems_among_short_ones);
    RUN(no_rows_at_all);
    RUN(what_is_refused);
    RUN(permuted_rows_need_two_indices);
    close_targets();
    return TEST_END();
}
