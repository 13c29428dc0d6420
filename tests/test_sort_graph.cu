/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sort_graph.cu - sorting and merging neither allocate nor wait, so they can be captured in a
 * CUDA graph, which sorts and merges other keys in the same arrays like a direct call.
 */
#include <cuda_runtime.h>
#include <shoal/shoal.h>
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
extern "C" {
#include "test.h"
}

static shoal_context *ctx;

typedef std::vector<uint32_t> numbers;

static numbers random_numbers(size_t count, uint32_t seed) {
    numbers v(count);
    for (size_t i = 0; i < count; i++) v[i] = seed = seed * 1664525u + 1013904223u;
    return v;
}

static void put(uint32_t *to, const numbers &from) {
    CHECK(shoal_copy(ctx, to, from.data(), from.size() * sizeof from[0]) == SHOAL_OK);
}
static numbers get(const uint32_t *from, size_t count) {
    numbers v(count);
    CHECK(shoal_copy(ctx, v.data(), from, count * sizeof v[0]) == SHOAL_OK);
    return v;
}
static uint32_t *array(size_t count) {
    void *memory = NULL;
    CHECK(shoal_alloc(ctx, count * sizeof(uint32_t), &memory) == SHOAL_OK);
    return (uint32_t *)memory;
}

/* Captures what `call` puts on the stream. */
template <class F> static cudaGraphExec_t capture(cudaStream_t stream, F call) {
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_MSG(call() == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
    cudaGraphDestroy(graph);
    return run;
}

static void check_sort(cudaStream_t stream, int64_t n, int64_t count, const char *variant,
                       const int64_t *offsets) {
    const size_t total = (size_t)(offsets ? offsets[count] : n * count);
    uint32_t *keys = array(total), *sorted = array(total), *places = array(total);
    shoal_sort_opts o = {};
    o.n = n, o.count = count, o.offsets = offsets, o.method = "batchsort", o.variant = variant;
    o.value_bytes = 4, o.index = 1;
    shoal_sort *plan = NULL;
    CHECK(shoal_sort_create(ctx, &o, &plan) == SHOAL_OK);
    cudaGraphExec_t run =
        capture(stream, [&] { return shoal_sort_run(plan, keys, NULL, sorted, places); });
    const numbers given = random_numbers(total, 7);
    put(keys, given);
    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
    CHECK(shoal_wait(ctx) == SHOAL_OK);
    const numbers got = get(sorted, total), at = get(places, total);
    for (int64_t k = 0; k < count; k++) {
        const int64_t begin = offsets ? offsets[k] : k * n,
                      end = offsets ? offsets[k + 1] : begin + n;
        numbers wanted(given.begin() + begin, given.begin() + end);
        std::sort(wanted.begin(), wanted.end());
        CHECK(std::equal(wanted.begin(), wanted.end(), got.begin() + begin));
        for (int64_t i = begin; i < end; i++) CHECK(given[begin + at[i]] == got[i]);
    }
    cudaGraphExecDestroy(run);
    shoal_sort_free(plan);
    for (uint32_t *p : { keys, sorted, places }) shoal_free(ctx, p);
}

static void check_merge(cudaStream_t stream, int64_t na, int64_t nb, int64_t count,
                        const char *method, const char *variant) {
    const size_t a_total = (size_t)(na * count), b_total = (size_t)(nb * count);
    uint32_t *a = array(a_total), *b = array(b_total), *m = array(a_total + b_total);
    shoal_merge_opts o = {};
    o.na = na, o.nb = nb, o.count = count, o.method = method, o.variant = variant;
    shoal_merge *plan = NULL;
    CHECK(shoal_merge_create(ctx, &o, &plan) == SHOAL_OK);
    cudaGraphExec_t run =
        capture(stream, [&] { return shoal_merge_run(plan, a, b, m, NULL, NULL, NULL); });
    numbers given_a = random_numbers(a_total, 3), given_b = random_numbers(b_total, 5), wanted;
    for (int64_t k = 0; k < count; k++) {
        std::sort(given_a.begin() + k * na, given_a.begin() + (k + 1) * na);
        std::sort(given_b.begin() + k * nb, given_b.begin() + (k + 1) * nb);
        std::merge(given_a.begin() + k * na, given_a.begin() + (k + 1) * na,
                   given_b.begin() + k * nb, given_b.begin() + (k + 1) * nb,
                   std::back_inserter(wanted));
    }
    put(a, given_a);
    put(b, given_b);
    CHECK(cudaGraphLaunch(run, stream) == cudaSuccess);
    CHECK(shoal_wait(ctx) == SHOAL_OK);
    CHECK_MSG(get(m, a_total + b_total) == wanted, "%s %s", method, variant);
    cudaGraphExecDestroy(run);
    shoal_merge_free(plan);
    for (uint32_t *p : { a, b, m }) shoal_free(ctx, p);
}

TEST(sorts_can_be_captured) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    const int64_t offsets[] = { 0, 3, 3, 60, 2000, 2001 };
    for (const char *variant : { "network", "merge" }) {
        for (int64_t n : { 5, 100, 1024, 5000 }) check_sort(stream, n, 9, variant, NULL);
        check_sort(stream, 0, 5, variant, offsets);
    }
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

TEST(merges_can_be_captured) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(shoal_set_stream(ctx, stream) == SHOAL_OK);
    for (int row = 0; row < 2; row++) {
        const char *method = shoal_methods("sort", row);
        for (int v = 0; shoal_variants("sort", method, v); v++)
            check_merge(stream, 500, 400, row ? 7 : 1, method, shoal_variants("sort", method, v));
    }
    check_merge(stream, 50000, 3000, 1, "mergepath", "tiled");
    check_merge(stream, 5000, 3000, 3, "batchmerge", "narrow");
    CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
    cudaStreamDestroy(stream);
}

int main(int argc, char **argv) {
    shoal_options o = {};
    o.backend = "cuda";
    if (shoal_open(&o, &ctx) != SHOAL_OK) {
        printf("skip  %s\n", shoal_message(ctx));
        shoal_close(ctx);
        return 77;
    }
    TEST_BEGIN(argc, argv);
    RUN(sorts_can_be_captured);
    RUN(merges_can_be_captured);
    shoal_close(ctx);
    return TEST_END();
}
