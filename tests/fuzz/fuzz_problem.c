/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_problem.c - libFuzzer target: any bytes as a problem string. What is accepted must have
 * sizes within bounds and read back as itself.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/problem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const bench_defaults defaults = { .backend = "auto", .seed = 1 };
    bench_problems list = { 0 };
    io_error err;
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, bytes, size);
    text[size] = 0;
    if (bench_problem_parse(text, &defaults, &list, &err) == IO_OK && list.count > 0) {
        char again[BENCH_TEXT];
        const bench_problem first = list.items[0];
        if (first.n < 0 || first.count < 0 || first.nrhs < 0) abort();
        int before = list.count;
        if (bench_problem_parse(bench_problem_text(&first, again), &defaults, &list, &err) != IO_OK)
            abort();
        if (list.count != before + 1 || list.items[before].n != first.n) abort();
    }
    bench_problems_free(&list);
    free(text);
    return 0;
}
