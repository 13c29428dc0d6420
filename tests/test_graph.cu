/* SPDX-License-Identifier: Apache-2.0
 *
 * test_graph.cu - a solve neither allocates nor waits, so it can be captured in a CUDA graph; the
 * graph, launched on new numbers in the same arrays, gives the bits of a direct solve. Every method,
 * variant and type, with the second pass of auto among them, on a stream of its own.
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

template <class T> struct arrays { T *a, *b, *c, *d, *x; };

static shoal_status generate(const shoal_tridiag_opts *o, uint64_t seed, double *a, double *b,
                             double *c, double *d) {
    return shoal_tridiag_generate(ctx, "zeropivot", seed, 0, o, a, b, c, d);
}
static shoal_status generate(const shoal_tridiag_opts *o, uint64_t seed, float *a, float *b,
                             float *c, float *d) {
    return shoal_tridiag_generatef(ctx, "zeropivot", seed, 0, o, a, b, c, d);
}
static shoal_status solve(shoal_tridiag *p, const arrays<double> &s) {
    return shoal_tridiag_solve(p, s.a, s.b, s.c, s.d, s.x);
}
static shoal_status solve(shoal_tridiag *p, const arrays<float> &s) {
    return shoal_tridiag_solvef(p, s.a, s.b, s.c, s.d, s.x);
}

/* Fills the device's arrays with the systems of a seed. */
template <class T>
static void fill(const shoal_tridiag_opts *o, uint64_t seed, const arrays<T> &to) {
    const size_t m = (size_t)(o->n * o->count), r = m * (size_t)o->nrhs;
    std::vector<T> a(m), b(m), c(m), d(r);
    CHECK(generate(o, seed, a.data(), b.data(), c.data(), d.data()) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.a, a.data(), m * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.b, b.data(), m * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.c, c.data(), m * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, to.d, d.data(), r * sizeof(T)) == SHOAL_OK);
}

template <class T> static void check_capture(shoal_tridiag_opts o, cudaStream_t stream) {
    const size_t m = (size_t)(o.n * o.count), r = m * (size_t)o.nrhs;
    arrays<T> s;
    T **slots[] = { &s.a, &s.b, &s.c, &s.d, &s.x };
    for (int i = 0; i < 5; i++)
        CHECK(shoal_alloc(ctx, (i < 3 ? m : r) * sizeof(T), (void **)slots[i]) == SHOAL_OK);
    o.type = sizeof(T) == 4 ? SHOAL_F32 : SHOAL_F64;
    shoal_tridiag *plan = NULL;
    const shoal_status created = shoal_tridiag_create(ctx, &o, &plan);
    CHECK_MSG(created == SHOAL_OK, "%s", shoal_message(ctx));
    if (created != SHOAL_OK) return;
    fill(&o, 1, s);

    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_MSG(solve(plan, s) == SHOAL_OK, "%s: %s", o.method, shoal_message(ctx));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);

    std::vector<T> by_graph(r), direct(r);
    fill(&o, 2, s);
    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
    CHECK(shoal_copy(ctx, by_graph.data(), s.x, r * sizeof(T)) == SHOAL_OK);
    shoal_tridiag_info graph_info, direct_info;
    CHECK(shoal_tridiag_last(plan, &graph_info) == SHOAL_OK);
    CHECK(solve(plan, s) == SHOAL_OK);
    CHECK(shoal_copy(ctx, direct.data(), s.x, r * sizeof(T)) == SHOAL_OK);
    CHECK(shoal_tridiag_last(plan, &direct_info) == SHOAL_OK);
    CHECK_MSG(memcmp(by_graph.data(), direct.data(), r * sizeof(T)) == 0, "%s n=%lld", o.method,
              (long long)o.n);
    CHECK(graph_info.failed == direct_info.failed && graph_info.redone == direct_info.redone);

    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
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
                check_capture<double>(o, stream);
                check_capture<float>(o, stream);
            }
    }
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    shoal_options options = {};
    options.backend = "cuda";
    if (shoal_open(&options, &ctx) != SHOAL_OK) {
        printf("skip  %s\n", shoal_message(ctx));
        shoal_close(ctx);
        return 77;
    }
    RUN(every_method_can_be_captured);
    shoal_close(ctx);
    return TEST_END();
}
