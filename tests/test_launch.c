/* SPDX-License-Identifier: Apache-2.0
 *
 * test_launch.c - kernels that cannot be launched, in the emulator: launches of plans and runs of every module fail, one at
 * a time. Then the status is SHOAL_E_CUDA and the message says so, nothing is left behind, and the next run succeeds.
 */
#include "every_module.h"
#include "simt/faults.h"

static void refuse_in_turn(shoal_context *ctx, const char *name, job *run, const char *method,
                           const char *variant) {
    simt_refuse_launch(0);
    CHECK(run(ctx, method, variant) == SHOAL_OK);
    const long launches = simt_refuse_launch(0);
    for (long k = 1; k <= launches; k += 1 + k / 4) { /* many launches are of the same kernels */
        simt_refuse_launch(k);
        const shoal_status s = run(ctx, method, variant);
        CHECK_MSG(s == SHOAL_E_CUDA, "%s, launch %ld of %ld: %d", name, k, launches, (int)s);
        CHECK_MSG(strstr(shoal_message(ctx), "launch failed: too many resources"),
                  "%s, launch %ld: %s", name, k, shoal_message(ctx));
    }
    simt_refuse_launch(0);
    CHECK_MSG(run(ctx, method, variant) == SHOAL_OK, "%s: %s", name, shoal_message(ctx));
}

TEST(every_launch_may_fail) { each_job(targets[0].ctx, refuse_in_turn); }

static void succeed(shoal_context *ctx, const char *name, job *run, const char *method,
                    const char *variant) {
    before_a_step = simt_leave_error;
    CHECK_MSG(run(ctx, method, variant) == SHOAL_OK, "%s: %s", name, shoal_message(ctx));
    before_a_step = NULL;
}

/* No function reports an error that was there before it was called. */
TEST(errors_of_before_are_not_reported) { each_job(targets[0].ctx, succeed); }

/* A GPU on which nothing runs is not opened. */
TEST(the_first_launch_may_fail) {
    const shoal_options o = { .backend = "cuda" };
    shoal_context *ctx;
    simt_refuse_launch(1);
    CHECK(shoal_open(&o, &ctx) == SHOAL_E_CUDA);
    CHECK_MSG(strstr(shoal_message(ctx), "does not run"), "%s", shoal_message(ctx));
    simt_refuse_launch(0);
    shoal_close(ctx);
}

int main(int argc, char **argv) {
    const shoal_options o = { .backend = "cuda",
                              .unchecked = 1 }; /* kernels here read the host's memory */
    if (shoal_open(&o, &targets[0].ctx) != SHOAL_OK) return 77;
    target_count = 1;
    TEST_BEGIN(argc, argv);
    RUN(every_launch_may_fail);
    RUN(errors_of_before_are_not_reported);
    RUN(the_first_launch_may_fail);
    close_targets();
    return TEST_END();
}
