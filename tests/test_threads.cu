/* SPDX-License-Identifier: Apache-2.0
 *
 * test_threads.cu - contexts on one GPU, each in a thread of its own with systems of its own length
 * and a stream of its own, solve at the same time what one solves alone; the stream of a context
 * may change between a solve and the question what became of it; and contexts on two GPUs keep apart.
 */
#include <cuda_runtime.h>
#include <shoal/shoal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <vector>
extern "C" {
#include "test.h"
}

static shoal_context *open_cuda(int device = 0) {
    shoal_options options = {};
    shoal_context *ctx;
    options.backend = "cuda", options.device = device;
    if (shoal_open(&options, &ctx) == SHOAL_OK) return ctx;
    printf("note  %s\n", shoal_message(ctx));
    shoal_close(ctx);
    return NULL;
}

/* Systems of one kind on the device; NaN in x until they are solved. */
struct systems {
    shoal_context *ctx;
    shoal_tridiag_opts o = {};
    shoal_tridiag *plan = NULL;
    double *dl = NULL, *d = NULL, *du = NULL, *b = NULL, *x = NULL;
    bool good = true;

    systems(shoal_context *context, int64_t n, int64_t count) : ctx(context) {
        const size_t m = (size_t)(n * count), bytes = m * sizeof(double);
        std::vector<double> host(4 * m), nan(m, NAN);
        double *h = host.data();
        o.n = n, o.count = count, o.nrhs = 1;
        good &= shoal_tridiag_generate(ctx, "zeropivot", 3, 0, &o, h, h + m, h + 2 * m,
                                       h + 3 * m) == SHOAL_OK;
        h[m] = 0; /* in any case one system needs the second pass */
        double **arrays[] = { &dl, &d, &du, &b, &x };
        for (int i = 0; i < 5; i++) {
            good &= shoal_alloc(ctx, bytes, (void **)arrays[i]) == SHOAL_OK;
            good &= shoal_copy(ctx, *arrays[i], i < 4 ? h + (size_t)i * m : nan.data(), bytes) ==
                    SHOAL_OK;
        }
        good &= shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK;
    }
    ~systems() {
        shoal_tridiag_free(plan);
        double *arrays[] = { dl, d, du, b, x };
        for (double *array : arrays) shoal_free(ctx, array);
    }
    systems(const systems &) = delete;
    systems &operator=(const systems &) = delete;

    bool solve() { return shoal_tridiag_solve(plan, dl, d, du, b, x) == SHOAL_OK; }
    std::vector<double> answer() {
        std::vector<double> host((size_t)(o.n * o.count));
        good &= shoal_copy(ctx, host.data(), x, host.size() * sizeof(double)) == SHOAL_OK;
        return host;
    }
};

static bool same(const std::vector<double> &v, const std::vector<double> &w) {
    return v.size() == w.size() && memcmp(v.data(), w.data(), v.size() * sizeof(double)) == 0;
}

/* `last` waits for the stream of the solve, whatever the context's stream has become since. */
TEST(the_stream_may_change_before_last) {
    shoal_context *ctx = open_cuda();
    cudaStream_t one, other;
    CHECK(cudaStreamCreate(&one) == cudaSuccess && cudaStreamCreate(&other) == cudaSuccess);
    for (int64_t n : { 7, 300, 2300 }) {
        systems s(ctx, n, 20), alone(ctx, n, 20);
        shoal_tridiag_info info;
        CHECK(shoal_set_stream(ctx, one) == SHOAL_OK);
        CHECK(s.good && s.solve());
        CHECK(shoal_set_stream(ctx, other) == SHOAL_OK);
        CHECK(shoal_tridiag_last(s.plan, &info) == SHOAL_OK);
        CHECK_MSG(info.failed == 0 && info.redone >= 1 && info.redone < 20, "n=%lld: redone %lld",
                  (long long)n, (long long)info.redone);
        CHECK(shoal_set_stream(ctx, NULL) == SHOAL_OK);
        CHECK(alone.good && alone.solve() && same(s.answer(), alone.answer()));
    }
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    shoal_close(ctx);
}

/* Contexts on two devices, used in turn: each call selects its own device, memory of the other one is
 * refused, and what is solved is solved in the device's own stream. */
static void check_two_devices(shoal_context *const ctx[2]) {
    cudaStream_t streams[2];
    for (int i = 0; i < 2; i++)
        CHECK(cudaSetDevice(i) == cudaSuccess && cudaStreamCreate(&streams[i]) == cudaSuccess);
    {
        systems first(ctx[0], 30, 5), second(ctx[1], 30, 5);
        systems *const s[2] = { &first, &second };
        CHECK(first.good && second.good);
        for (int i = 0; i < 2; i++) {
            const systems &mine = *s[i], &other = *s[1 - i];
            char gpu[16];
            snprintf(gpu, sizeof gpu, "GPU %d", i);
            const double *dl[] = { mine.dl, other.dl }, *b[] = { mine.b, other.b };
            for (int wrong = 1; wrong < 8; wrong *= 2) {
                CHECK(shoal_tridiag_solve(mine.plan, dl[wrong & 1], mine.d, mine.du,
                                          b[wrong >> 1 & 1],
                                          wrong & 4 ? other.x : mine.x) == SHOAL_E_MEMORY);
                CHECK_MSG(strstr(shoal_message(ctx[i]), gpu), "%s", shoal_message(ctx[i]));
            }
            shoal_outcome where = {};
            where.status = (int32_t *)other.x;
            CHECK(shoal_tridiag_outcome(mine.plan, &where) == SHOAL_E_MEMORY);
        }
        for (int i = 0; i < 2; i++) CHECK(shoal_set_stream(ctx[i], streams[i]) == SHOAL_OK);
        for (int i = 0; i < 2; i++) CHECK_MSG(s[i]->solve(), "%s", shoal_message(ctx[i]));
        CHECK(same(first.answer(), second.answer()) && !isnan(first.answer()[0]));
        for (int i = 0; i < 2; i++) CHECK(shoal_set_stream(ctx[i], NULL) == SHOAL_OK);
    }
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
}

TEST(contexts_of_two_devices_keep_apart) {
#ifdef SHOAL_EMULATED
    setenv("SIMT_DEVICES", "2", 1);
#endif
    shoal_context *ctx[2] = { open_cuda(0), open_cuda(1) };
    const bool both = ctx[0] && ctx[1];
    if (both) check_two_devices(ctx);
    for (shoal_context *c : ctx) shoal_close(c);
    cudaSetDevice(0);
#ifdef SHOAL_EMULATED
    unsetenv("SIMT_DEVICES");
    CHECK(both);
#endif
    if (!both) SKIP("there is one device");
}

TEST(pinned_and_managed_memory_is_taken) {
    shoal_context *ctx = open_cuda();
    {
        systems s(ctx, 7, 3);
        const size_t bytes = 7 * 3 * sizeof(double);
        double *pinned = NULL, *managed = NULL;
        CHECK(s.good && s.solve());
        const std::vector<double> expected = s.answer();
        CHECK(cudaMallocHost((void **)&pinned, bytes) == cudaSuccess);
        CHECK(cudaMallocManaged((void **)&managed, bytes) == cudaSuccess);
        CHECK(shoal_copy(ctx, managed, s.b, bytes) == SHOAL_OK);
        CHECK_MSG(shoal_tridiag_solve(s.plan, s.dl, s.d, s.du, managed, pinned) == SHOAL_OK, "%s",
                  shoal_message(ctx));
        CHECK(shoal_wait(ctx) == SHOAL_OK && memcmp(pinned, expected.data(), bytes) == 0);
        cudaFreeHost(pinned);
        cudaFree(managed);
    }
    shoal_close(ctx);
}

/* The emulator runs all kernels on one thread of the system: only a GPU can be asked. */
#ifdef SHOAL_EMULATED
TEST(contexts_solve_at_once_in_several_threads) { SKIP("the emulator has one thread"); }
#else

enum { THREADS = 8, ROUNDS = 20, COUNT = 50 };
static const int64_t lengths[THREADS] = { 3, 40, 255, 300, 700, 1300, 2300, 5000 };

/* Counts the rounds whose answers were not those expected; all of them if there is no context. */
static void work(int64_t n, const std::vector<double> *expected, int *wrong) {
    shoal_context *ctx = open_cuda();
    cudaStream_t stream = NULL;
    if (!ctx || cudaStreamCreate(&stream) != cudaSuccess ||
        shoal_set_stream(ctx, stream) != SHOAL_OK) {
        *wrong = ROUNDS;
        shoal_close(ctx);
        return;
    }
    {
        systems s(ctx, n, COUNT);
        shoal_tridiag_info info;
        for (int round = 0; round < ROUNDS; round++) {
            bool right = s.good && s.solve() && shoal_tridiag_last(s.plan, &info) == SHOAL_OK;
            const bool redone = info.redone >= 1 || n > 2304; /* long ones are twocarry's */
            right = right && info.failed == 0 && redone && s.good;
            if (!right || !same(s.answer(), *expected)) ++*wrong;
        }
    }
    shoal_close(ctx);
    cudaStreamDestroy(stream);
}

TEST(contexts_solve_at_once_in_several_threads) {
    std::vector<std::vector<double>> expected;
    shoal_context *ctx = open_cuda();
    for (int64_t n : lengths) {
        systems s(ctx, n, COUNT);
        CHECK(s.good && s.solve() && shoal_wait(ctx) == SHOAL_OK);
        expected.push_back(s.answer());
    }
    shoal_close(ctx);
    std::vector<std::thread> threads;
    int wrong[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(work, lengths[i], &expected[(size_t)i], &wrong[i]);
    for (int i = 0; i < THREADS; i++) {
        threads[(size_t)i].join();
        CHECK_MSG(wrong[i] == 0, "n=%lld: %d of %d rounds wrong", (long long)lengths[i], wrong[i],
                  ROUNDS);
    }
}
#endif

int main(int argc, char **argv) {
    test_take_backend(&argc, argv, "cuda");
    TEST_BEGIN(argc, argv);
    shoal_context *ctx = open_cuda();
    if (!ctx) return 77;
    shoal_close(ctx);
    RUN(the_stream_may_change_before_last);
    RUN(contexts_of_two_devices_keep_apart);
    RUN(pinned_and_managed_memory_is_taken);
    RUN(contexts_solve_at_once_in_several_threads);
    return TEST_END();
}
