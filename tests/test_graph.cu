/* SPDX-License-Identifier: Apache-2.0
 *
 * test_graph.cu - a solve, a factorization or a fill with random numbers neither allocates nor waits, so it
 * can be captured in a CUDA graph; the graph, launched on new numbers in the same arrays, gives the bits of
 * a direct call. Every method, variant and type, with the second pass of auto among them, on a stream
 * of its own.
 */
#include <cuda_runtime.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
extern "C" {
#include "test.h"
}

static shoal_context *ctx;

template <class T> struct arrays { T *dl, *d, *du, *b, *x; };

static shoal_status generate(const shoal_tridiag_opts *o, uint64_t seed, double *dl, double *d,
                             double *du, double *b) {
    return shoal_tridiag_generate(ctx, "zeropivot", seed, 0, o, dl, d, du, b);
}
static shoal_status generate(const shoal_tridiag_opts *o, uint64_t seed, float *dl, float *d,
                             float *du, float *b) {
    return shoal_tridiag_generatef(ctx, "zeropivot", seed, 0, o, dl, d, du, b);
}
static shoal_status solve(shoal_tridiag *p, const arrays<double> &s) {
    return shoal_tridiag_solve(p, s.dl, s.d, s.du, s.b, s.x);
}
static shoal_status solve(shoal_tridiag *p, const arrays<float> &s) {
    return shoal_tridiag_solvef(p, s.dl, s.d, s.du, s.b, s.x);
}

/* Fills the device's arrays with the systems of a seed. */
template <class T>
static void fill(const shoal_tridiag_opts *o, uint64_t seed, const arrays<T> &to) {
    const size_t m = (size_t)(o->n * o->count), r = m * (size_t)o->nrhs;
    std::vector<T> dl(m), d(m), du(m), b(r);
    CHECK(generate(o, seed, dl.data(), d.data(), du.data(), b.data()) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.dl, dl.data(), m * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.d, d.data(), m * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.du, du.data(), m * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.b, b.data(), r * sizeof(T)) == SHOAL_OK);
}

template <class T> static void check_capture(shoal_tridiag_opts o, cudaStream_t stream) {
    const size_t m = (size_t)(o.n * o.count), r = m * (size_t)o.nrhs;
    arrays<T> s;
    T **slots[] = { &s.dl, &s.d, &s.du, &s.b, &s.x };
    for (int i = 0; i < 5; i++)
        CHECK(shoal_alloc(ctx, (i < 3 ? m : r) * sizeof(T), (void **)slots[i]) == SHOAL_OK);
    o.type = sizeof(T) == 4 ? SHOAL_F32 : SHOAL_F64;
    shoal_tridiag *plan = NULL;
    const shoal_status created = shoal_tridiag_create(ctx, &o, &plan);
    CHECK_MSG(created == SHOAL_OK, "%s", shoal_message(ctx));
    if (created != SHOAL_OK) return;
    fill(&o, 1, s);
    shoal_outcome where = {};
    CHECK(shoal_alloc(ctx, (size_t)o.count * sizeof(float), (void **)&where.rcond) == SHOAL_OK);
    if (o.n == 100) CHECK(shoal_tridiag_outcome(plan, &where) == SHOAL_OK);

    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_MSG(solve(plan, s) == SHOAL_OK, "%s: %s", o.method, shoal_message(ctx));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);

    std::vector<T> by_graph(r), direct(r);
    std::vector<float> graph_rcond((size_t)o.count), direct_rcond((size_t)o.count);
    fill(&o, 2, s);
    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
    const size_t estimates = o.n == 100 ? (size_t)o.count * sizeof(float) : 0;
    CHECK(shoal_copy(ctx, graph_rcond.data(), where.rcond, estimates) == SHOAL_OK);
    CHECK(shoal_copy(ctx, by_graph.data(), s.x, r * sizeof(T)) == SHOAL_OK);
    shoal_tridiag_info graph_info, direct_info;
    CHECK(shoal_tridiag_last(plan, &graph_info) == SHOAL_OK);
    CHECK(solve(plan, s) == SHOAL_OK);
    CHECK(shoal_copy(ctx, direct.data(), s.x, r * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_tridiag_last(plan, &direct_info) == SHOAL_OK);
    CHECK_MSG(memcmp(by_graph.data(), direct.data(), r * sizeof(T)) == 0, "%s n=%lld", o.method,
              (long long)o.n);
    CHECK(graph_info.failed == direct_info.failed && graph_info.redone == direct_info.redone);
    CHECK(shoal_copy(ctx, direct_rcond.data(), where.rcond, estimates) == SHOAL_OK);
    CHECK(memcmp(graph_rcond.data(), direct_rcond.data(), estimates) == 0);

    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    shoal_free(ctx, where.rcond);
    shoal_tridiag_free(plan);
    for (int i = 0; i < 5; i++) shoal_free(ctx, *slots[i]);
}

TEST(every_method_can_be_captured) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    const int64_t sizes[] = { 5, 100, 700, 5000 };
    for (int i = -1; i < 0 || shoal_methods("tridiag", i); i++) {
        const char *method = i < 0 ? "auto" : shoal_methods("tridiag", i);
        for (int k = 0; k == 0 || shoal_variants("tridiag", method, k); k++)
            for (int64_t n : sizes) {
                shoal_tridiag_opts o = {};
                o.n = n, o.count = n > 1000 ? 3 : 40, o.nrhs = n == 100 ? 2 : 1;
                o.method = method, o.variant = shoal_variants("tridiag", method, k);
                o.transposed = n == 700;
                check_capture<double>(o, stream);
                check_capture<float>(o, stream);
            }
    }
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

/* ---- small symmetric systems ------------------------------------------------------------------- */

static shoal_status generate(const shoal_smallsym_opts *o, uint64_t seed, double *A, double *b) {
    return shoal_smallsym_generate(ctx, "singular", 7, seed, 0, o, A, b);
}
static shoal_status generate(const shoal_smallsym_opts *o, uint64_t seed, float *A, float *b) {
    return shoal_smallsym_generatef(ctx, "singular", 7, seed, 0, o, A, b);
}
static shoal_status solve(shoal_smallsym *p, const double *A, const double *b, double *x) {
    return shoal_smallsym_solve(p, A, b, x);
}
static shoal_status solve(shoal_smallsym *p, const float *A, const float *b, float *x) {
    return shoal_smallsym_solvef(p, A, b, x);
}
static shoal_status pairs(shoal_smallsym *p, const double *A, double *w, double *V) {
    return shoal_smallsym_eig(p, A, w, V);
}
static shoal_status pairs(shoal_smallsym *p, const float *A, float *w, float *V) {
    return shoal_smallsym_eigf(p, A, w, V);
}

/* Solves, or finds eigenpairs, with the lower triangle of systems of which every 7th is singular. */
template <class T>
static void check_small(shoal_smallsym_opts o, bool eigenpairs, cudaStream_t stream) {
    const size_t vector = (size_t)(o.n * o.count), matrix = vector * (size_t)o.n;
    T *A = NULL, *b = NULL, *x = NULL, *V = NULL;
    std::vector<T> host_a(matrix), host_b(vector), by_graph(vector), direct(vector);
    CHECK(shoal_alloc(ctx, matrix * sizeof(T), (void **)&A) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, matrix * sizeof(T), (void **)&V) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, vector * sizeof(T), (void **)&b) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, vector * sizeof(T), (void **)&x) == SHOAL_OK);
    o.type = sizeof(T) == 4 ? SHOAL_F32 : SHOAL_F64;
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info graph_info, direct_info;
    CHECK_MSG(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    auto fill_with = [&](uint64_t seed) {
        CHECK(generate(&o, seed, host_a.data(), host_b.data()) == SHOAL_OK);
        CHECK(shoal_copy(ctx, A, host_a.data(), matrix * sizeof(T)) == SHOAL_OK);
        CHECK(shoal_copy(ctx, b, host_b.data(), vector * sizeof(T)) == SHOAL_OK);
    };
    auto call = [&] { return eigenpairs ? pairs(plan, A, x, V) : solve(plan, A, b, x); };
    fill_with(1);
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_MSG(call() == SHOAL_OK, "%s: %s", o.method, shoal_message(ctx));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
    fill_with(2);
    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
    CHECK(shoal_copy(ctx, by_graph.data(), x, vector * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_smallsym_last(plan, &graph_info) == SHOAL_OK);
    CHECK(call() == SHOAL_OK);
    CHECK(shoal_copy(ctx, direct.data(), x, vector * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_smallsym_last(plan, &direct_info) == SHOAL_OK);
    CHECK_MSG(memcmp(by_graph.data(), direct.data(), vector * sizeof(T)) == 0, "%s %s n=%lld",
              o.method, o.variant ? o.variant : "", (long long)o.n);
    CHECK(graph_info.failed == direct_info.failed && graph_info.redone == direct_info.redone);
    CHECK(eigenpairs || strcmp(o.method, "auto") != 0 || graph_info.redone == o.count / 7);
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    shoal_smallsym_free(plan);
    shoal_free(ctx, A), shoal_free(ctx, V), shoal_free(ctx, b), shoal_free(ctx, x);
}

TEST(every_small_solve_can_be_captured) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    for (int i = -1; i < 0 || shoal_methods("smallsym", i); i++) {
        const char *method = i < 0 ? "auto" : shoal_methods("smallsym", i);
        for (int k = 0; k == 0 || shoal_variants("smallsym", method, k); k++)
            for (int64_t n : { 3, 20, 40 }) {
                shoal_smallsym_opts o = {};
                o.n = n, o.count = 15, o.nrhs = 1;
                o.method = method, o.variant = shoal_variants("smallsym", method, k);
                const bool pairs_too =
                    shoal_method_flags("smallsym", method, NULL) & SHOAL_CAN_EIGEN;
                for (int eigenpairs = 0; eigenpairs <= pairs_too; eigenpairs++) {
                    check_small<double>(o, eigenpairs, stream);
                    check_small<float>(o, eigenpairs, stream);
                }
            }
    }
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

/* ---- random numbers ---------------------------------------------------------------------------- */

/* A fill, with parameters that leave some numbers without a value. */
TEST(every_fill_can_be_captured) {
    enum { COUNT = 3000, DIMENSIONS = 3 };
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    std::vector<double> parameters(COUNT, 3.0);
    for (int i = 0; i < COUNT; i += 10) parameters[i] = -1;
    double *given = NULL, *out = NULL;
    const size_t bytes = COUNT * DIMENSIONS * sizeof(double);
    CHECK(shoal_alloc(ctx, COUNT * sizeof(double), (void **)&given) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, bytes, (void **)&out) == SHOAL_OK);
    CHECK(shoal_copy(ctx, given, parameters.data(), COUNT * sizeof(double)) == SHOAL_OK);
    for (int i = 0; shoal_methods("rng", i); i++) {
        shoal_rng_opts o = {};
        o.method = shoal_methods("rng", i);
        o.alpha = 2, o.lambda = 20, o.df = 3;
        o.dimensions =
            shoal_method_flags("rng", o.method, NULL) & SHOAL_CAN_POINTS ? DIMENSIONS : 0;
        const bool counts = shoal_method_flags("rng", o.method, NULL) & SHOAL_CAN_COUNT;
        shoal_rng *plan = NULL;
        shoal_rng_info info;
        CHECK(shoal_rng_create(ctx, &o, &plan) == SHOAL_OK);
        const bool takes = shoal_rng_parameters(plan, given) == SHOAL_OK;
        std::vector<double> by_graph(COUNT * DIMENSIONS), direct(COUNT * DIMENSIONS);
        cudaGraph_t graph;
        cudaGraphExec_t run;
        auto fill_once = [&] {
            return counts ? shoal_rng_fillu(plan, 7, COUNT, (uint32_t *)out)
                          : shoal_rng_fill(plan, 7, COUNT, out);
        };
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK_MSG(fill_once() == SHOAL_OK, "%s: %s", o.method, shoal_message(ctx));
        CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
        for (int launch = 0; launch < 2; launch++) {
            CHECK(shoal_copy(ctx, out, by_graph.data(), bytes) == SHOAL_OK);
            CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
            CHECK(shoal_rng_last(plan, &info) == SHOAL_OK);
            CHECK_MSG(info.failed == (takes ? COUNT / 10 : 0), "%s: %lld", o.method,
                      (long long)info.failed);
        }
        CHECK(shoal_copy(ctx, by_graph.data(), out, bytes) == SHOAL_OK);
        CHECK(shoal_copy(ctx, out, direct.data(), bytes) == SHOAL_OK);
        CHECK(fill_once() == SHOAL_OK);
        CHECK(shoal_copy(ctx, direct.data(), out, bytes) == SHOAL_OK);
        const size_t size = counts ? COUNT * sizeof(uint32_t)
                                   : COUNT * sizeof(double) * (o.dimensions ? DIMENSIONS : 1);
        CHECK_MSG(memcmp(by_graph.data(), direct.data(), size) == 0, "%s", o.method);
        cudaGraphExecDestroy(run);
        cudaGraphDestroy(graph);
        shoal_rng_free(plan);
    }
    shoal_free(ctx, given), shoal_free(ctx, out);
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

/* ---- recurrences ----------------------------------------------------------------------------- */

static shoal_status generate(const shoal_recur_opts *o, uint64_t seed, double *s, double *t) {
    return shoal_recur_generate(ctx, "cuts", seed, 0, o, s, t, NULL);
}
static shoal_status generate(const shoal_recur_opts *o, uint64_t seed, float *s, float *t) {
    return shoal_recur_generatef(ctx, "cuts", seed, 0, o, s, t, NULL);
}
static shoal_status solve(shoal_recur *p, const double *s, const double *t, double *w) {
    return shoal_recur_solve(p, s, t, NULL, w);
}
static shoal_status solve(shoal_recur *p, const float *s, const float *t, float *w) {
    return shoal_recur_solvef(p, s, t, NULL, w);
}

template <class T> static void check_capture(shoal_recur_opts o, cudaStream_t stream) {
    const size_t m = (size_t)(o.n * o.count), width = (size_t)o.order;
    std::vector<T> s(m * width), t(m), by_graph(m), direct(m);
    T *there[3] = { NULL, NULL, NULL };
    for (int i = 0; i < 3; i++)
        CHECK(shoal_alloc(ctx, (i ? m : m * width) * sizeof(T), (void **)&there[i]) == SHOAL_OK);
    o.type = sizeof(T) == 4 ? SHOAL_F32 : SHOAL_F64;
    shoal_recur *plan = NULL;
    CHECK_MSG(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));

    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_MSG(solve(plan, there[0], there[1], there[2]) == SHOAL_OK, "%s: %s", o.method,
              shoal_message(ctx));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
    for (uint64_t seed = 1; seed < 3; seed++) { /* the flags of the look-back are cleared again */
        CHECK(generate(&o, seed, s.data(), t.data()) == SHOAL_OK);
        CHECK(shoal_copy(ctx, there[0], s.data(), m * width * sizeof(T)) == SHOAL_OK);
        CHECK(shoal_copy(ctx, there[1], t.data(), m * sizeof(T)) == SHOAL_OK);
        CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
        CHECK(shoal_copy(ctx, by_graph.data(), there[2], m * sizeof(T)) == SHOAL_OK);
        CHECK(solve(plan, there[0], there[1], there[2]) == SHOAL_OK);
        CHECK(shoal_copy(ctx, direct.data(), there[2], m * sizeof(T)) == SHOAL_OK);
        CHECK_MSG(memcmp(by_graph.data(), direct.data(), m * sizeof(T)) == 0, "%s n=%lld", o.method,
                  (long long)o.n);
    }
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    shoal_recur_free(plan);
    for (int i = 0; i < 3; i++) shoal_free(ctx, there[i]);
}

TEST(recurrences_can_be_captured) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    const int64_t sizes[] = { 5, 100, 5000 };
    for (int i = 0; shoal_methods("recur", i); i++) {
        const char *method = shoal_methods("recur", i);
        for (int k = 0; k == 0 || shoal_variants("recur", method, k); k++)
            for (int64_t n : sizes) {
                shoal_recur_opts o = {};
                const bool orders = shoal_method_flags("recur", method, NULL) & SHOAL_CAN_ORDERS;
                o.n = n, o.count = 3, o.order = n == 100 && orders ? 2 : 1;
                o.method = method, o.variant = shoal_variants("recur", method, k);
                check_capture<double>(o, stream);
                check_capture<float>(o, stream);
            }
    }
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

/* ---- one large matrix -------------------------------------------------------------------------- */

static shoal_status factor_and_solve(shoal_symindef *p, double *a, double *x) {
    const shoal_status s = shoal_symindef_factor(p, a);
    return s == SHOAL_OK ? shoal_symindef_solve(p, a, 1, x, x) : s;
}

TEST(factorizations_can_be_captured) {
    const size_t n = 70;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    std::vector<double> a(n * n), b(n, 1), answer[2] = { b, b };
    double *matrix, *x;
    CHECK(shoal_alloc(ctx, n * n * sizeof(double), (void **)&matrix) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, n * sizeof(double), (void **)&x) == SHOAL_OK);
    for (int i = 0; shoal_methods("symindef", i); i++) {
        shoal_symindef_opts o = {};
        o.n = (int64_t)n, o.method = shoal_methods("symindef", i);
        shoal_symindef *plan = NULL;
        cudaGraph_t graph;
        cudaGraphExec_t run;
        CHECK(shoal_symindef_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK_MSG(factor_and_solve(plan, matrix, x) == SHOAL_OK, "%s: %s", o.method,
                  shoal_message(ctx));
        CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
        for (uint64_t seed = 1; seed < 3; seed++) {
            CHECK(shoal_symindef_generate(ctx, "random", seed, o.n, a.data()) == SHOAL_OK);
            for (int direct = 0; direct < 2; direct++) {
                CHECK(shoal_copy(ctx, matrix, a.data(), n * n * sizeof(double)) == SHOAL_OK);
                CHECK(shoal_copy(ctx, x, b.data(), n * sizeof(double)) == SHOAL_OK);
                if (direct)
                    CHECK(factor_and_solve(plan, matrix, x) == SHOAL_OK);
                else
                    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
                CHECK(shoal_copy(ctx, answer[direct].data(), x, n * sizeof(double)) == SHOAL_OK);
            }
            CHECK_MSG(memcmp(answer[0].data(), answer[1].data(), n * sizeof(double)) == 0, "%s",
                      o.method);
        }
        cudaGraphExecDestroy(run);
        cudaGraphDestroy(graph);
        shoal_symindef_free(plan);
    }
    shoal_free(ctx, matrix), shoal_free(ctx, x), shoal_set_stream(ctx, NULL);
    cudaStreamDestroy(stream);
}

/* ---- plans whose calls wait ---------------------------------------------------------------------- */

/* The call is refused before it queues anything, and the capture goes on: with the default stream, too, which waits for
 * the one that is captured. */
template <class F> static void check_refused(cudaStream_t stream, const char *what, F call) {
    for (cudaStream_t from : { stream, (cudaStream_t)NULL }) {
        CHECK(shoal_set_stream(ctx, from) == SHOAL_OK);
        CHECK_MSG(call() == SHOAL_E_ARG, "%s", what);
        CHECK_MSG(strstr(shoal_message(ctx), ".waits cannot be captured"), "%s: %s", what,
                  shoal_message(ctx));
    }
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
}

TEST(calls_that_wait_are_refused) {
    enum { N = 4, COUNT = 5 };
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    double *a, *x, by_graph[N * COUNT], direct[N * COUNT];
    const size_t bytes = sizeof direct;
    const std::vector<double> ones(N * N * COUNT, 1);
    CHECK(shoal_alloc(ctx, N * bytes, (void **)&a) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, bytes, (void **)&x) == SHOAL_OK);
    CHECK(shoal_copy(ctx, a, ones.data(), N * bytes) == SHOAL_OK);
    shoal_tridiag_opts banded = {};
    banded.n = N, banded.count = COUNT, banded.nrhs = 1;
    shoal_smallsym_opts dense = {};
    dense.n = N, dense.count = COUNT, dense.nrhs = 1, dense.method = "ldlt";
    shoal_tridiag *bands, *waiting;
    shoal_smallsym *small;
    CHECK(shoal_tridiag_create(ctx, &banded, &bands) == SHOAL_OK);
    banded.waits = dense.waits = 1;
    CHECK(shoal_tridiag_create(ctx, &banded, &waiting) == SHOAL_OK);
    CHECK(shoal_smallsym_create(ctx, &dense, &small) == SHOAL_OK);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    check_refused(stream, "tridiag", [&] { return shoal_tridiag_solve(waiting, a, a, a, a, x); });
    check_refused(stream, "smallsym", [&] { return shoal_smallsym_solve(small, a, a, x); });
    check_refused(stream, "factor", [&] { return shoal_smallsym_factor(small, a, a); });
    CHECK(shoal_tridiag_solve(bands, a, a, a, a, x) == SHOAL_OK);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
    CHECK(shoal_copy(ctx, by_graph, x, bytes) == SHOAL_OK);
    CHECK_MSG(shoal_tridiag_solve(waiting, a, a, a, a, x) == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_copy(ctx, direct, x, bytes) == SHOAL_OK);
    CHECK(memcmp(by_graph, direct, bytes) == 0);
    CHECK_MSG(shoal_smallsym_solve(small, a, a, x) == SHOAL_OK, "%s", shoal_message(ctx));
    cudaGraphExecDestroy(run), cudaGraphDestroy(graph);
    shoal_tridiag_free(bands), shoal_tridiag_free(waiting), shoal_smallsym_free(small);
    shoal_free(ctx, a), shoal_free(ctx, x), shoal_set_stream(ctx, NULL);
    cudaStreamDestroy(stream);
}

int main(int argc, char **argv) {
    test_take_backend(&argc, argv, "cuda");
    TEST_BEGIN(argc, argv);
    shoal_options options = {};
    options.backend = "cuda";
    if (shoal_open(&options, &ctx) != SHOAL_OK) {
        printf("skip  %s\n", shoal_message(ctx));
        shoal_close(ctx);
        return 77;
    }
    RUN(every_method_can_be_captured);
    RUN(recurrences_can_be_captured);
    RUN(every_small_solve_can_be_captured);
    RUN(every_fill_can_be_captured);
    RUN(factorizations_can_be_captured);
    RUN(calls_that_wait_are_refused);
    shoal_close(ctx);
    return TEST_END();
}
