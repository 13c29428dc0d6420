/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - the loop of all checks of answers: over a sample of the systems, by threads.
 */
#include <math.h>
#include <stdio.h>

#include "bench/session.h"

const char *bench_verdict(const bench_check *check) {
    if (check->passed) return "ok";
    if (check->wrong > 0) return "WRONG";
    return check->tolerance > 0 ? "failed" : "error";
}

int64_t bench_check_sample(const bench_sample *s, bench_check *check) {
    int64_t wrong = 0, inaccurate = 0, first_wrong = INT64_MAX;
    double largest = 0;
#pragma omp parallel for num_threads(s->threads > 0 ? s->threads : 1) schedule(static)             \
    reduction(+ : wrong, inaccurate) reduction(max : largest) reduction(min : first_wrong)
    for (int64_t i = 0; i < s->checked; i++) {
        const int64_t k = i + 1 < s->checked ? i * s->stride : s->count - 1;
        if (s->stop && s->stop()) continue;
        const bench_finding f = s->look(s->of, k);
        if (f.error > largest && !f.truncated) largest = f.error;
        inaccurate += f.error > s->tolerance && !f.truncated;
        if (!f.fault) continue;
        wrong++;
        if (k < first_wrong) first_wrong = k;
    }
    *check = (bench_check){ .systems = s->checked, .wrong = wrong };
    for (int64_t k = 0; s->status && k < s->count; k++) {
        check->failed += s->status[k] < 0;
        check->warned += s->status[k] > 0;
    }
    check->max_residual = largest;
    check->tolerance = s->tolerance;
    check->passed = wrong == 0 && check->failed == 0 && inaccurate == 0;
    if (wrong > 0) {
        const bench_finding f = s->look(s->of, first_wrong);
        snprintf(check->why, sizeof check->why, "system %lld: %s (%s %.2g); %lld of %lld wrong",
                 (long long)first_wrong, f.fault, s->error_name, f.error, (long long)wrong,
                 (long long)s->checked);
        return first_wrong;
    }
    if (check->failed > 0)
        snprintf(check->why, sizeof check->why, "%lld failed", (long long)check->failed);
    else if (inaccurate > 0)
        snprintf(check->why, sizeof check->why, "%lld inaccurate, as their status says",
                 (long long)inaccurate);
    return -1;
}

void bench_check_join(bench_check *check, const bench_check *plain) {
    if (plain->max_residual > check->max_residual) check->max_residual = plain->max_residual;
    if (plain->wrong > check->wrong || (check->passed && !plain->passed)) {
        check->passed = false;
        check->wrong = plain->wrong;
        snprintf(check->why, sizeof check->why, "without outcome: %.140s", plain->why);
    }
}
