/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c - one batch of systems in units: three processes solve them, and one puts them together,
 * bit-identical to a single process. Pipes stand for whatever carries bytes between machines. Prices,
 * CVAs and data sets need no function of the caller: shoal_units_price() and so on take a plan.
 *
 *     cc units.c $(pkg-config --cflags --libs shoal) -o units
 */
#define _POSIX_C_SOURCE 200809L
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 8, COUNT = 12000, UNITS = 20, PROCESSES = 3 };

typedef struct answer { /* a row of the job */
    double x[N];
    int64_t status;
} answer;

static struct batch { /* in the memory of a context */
    double A[COUNT][N][N], b[COUNT][N], x[COUNT][N];
    int32_t status[COUNT];
} host, *at;

/* System k; system 7 is all ones, of rank 1. */
static void describe(int64_t k, double A[N][N], double b[N]) {
    for (int i = 0; i < N; i++) {
        b[i] = 1;
        for (int j = 0; j < N; j++)
            A[i][j] = k == 7 ? 1 : i == j ? 2 + (double)(k % 5) : 1.0 / (1 + i + j);
    }
}

/* The function of the job: systems first .. first + rows - 1. Row k depends on k alone. */
static shoal_status solve(shoal_context *ctx, void *user, int64_t first, int64_t rows, void *result,
                          int64_t *counts) {
    const shoal_smallsym_opts shape = { .n = N, .count = rows, .nrhs = 1 };
    shoal_smallsym *plan;
    shoal_smallsym_info info = { 0 };
    answer *to = result;
    (void)user;
    for (int64_t k = 0; k < rows; k++) describe(first + k, host.A[k], host.b[k]);
    shoal_status status = shoal_copy(ctx, at, &host, sizeof host);
    if (!status) status = shoal_smallsym_create(ctx, &shape, &plan);
    if (status) return status;
    status = shoal_smallsym_outcome(plan, &(shoal_outcome){ .status = at->status });
    if (!status) status = shoal_smallsym_solve(plan, at->A[0][0], at->b[0], at->x[0]);
    if (!status) status = shoal_smallsym_last(plan, &info);
    if (!status) status = shoal_copy(ctx, &host, at, sizeof host);
    for (int64_t k = 0; k < rows; k++) {
        memcpy(to[k].x, host.x[k], sizeof to[k].x);
        to[k].status = host.status[k];
    }
    counts[0] += info.failed, counts[1] += info.warned;
    shoal_smallsym_free(plan);
    return status;
}

/* A context and the job, the same in every process. */
static shoal_status begin(int64_t count, shoal_context **ctx, shoal_units **units) {
    static const char inputs[] =
        "units.c, the first version of describe()"; /* all that rows depend on */
    const shoal_units_job job = {
        .kind = "systems", .rows = COUNT, .row_bytes = sizeof(answer), .counts = 2, .run = solve
    };
    const shoal_units_opts opts = { .units = count,
                                    .inputs = inputs,
                                    .input_bytes = sizeof inputs };
    shoal_status status = shoal_open(NULL, ctx);
    if (!status) status = shoal_alloc(*ctx, sizeof host, (void **)&at);
    if (!status) status = shoal_units_create(*ctx, &job, &opts, units);
    if (status) fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(*ctx));
    return status;
}

static void end(shoal_context *ctx, shoal_units *units) {
    shoal_units_free(units);
    shoal_free(ctx, at);
    shoal_close(ctx);
}

/* Every third unit, as bytes, into a pipe. Returns the exit code of the process. */
static int work(int process, FILE *to) {
    shoal_context *ctx;
    shoal_units *units = NULL;
    shoal_units_info info;
    shoal_status status = begin(UNITS, &ctx, &units);
    if (!status) status = shoal_units_describe(units, &info);
    void *bytes = status ? NULL : malloc(info.bytes);
    for (int64_t unit = process; unit < UNITS && bytes && !status; unit += PROCESSES) {
        size_t size;
        status = shoal_units_run(units, unit, 0, bytes, &size);
        if (status) break;
        fwrite(&size, sizeof size, 1, to);
        fwrite(bytes, 1, size, to);
    }
    free(bytes);
    end(ctx, units);
    return fclose(to) || status;
}

/* Adds all units that a pipe brings. */
static shoal_status gather(shoal_units *units, void *bytes, size_t room, FILE *from) {
    shoal_status status = SHOAL_OK;
    size_t size;
    while (!status && fread(&size, sizeof size, 1, from) == 1 && size <= room &&
           fread(bytes, 1, size, from) == size)
        status = shoal_units_add(units, bytes, size);
    fclose(from);
    return status;
}

int main(void) {
    FILE *from[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        int ends[2];
        if (pipe(ends)) return 1;
        const pid_t child = fork(); /* before any context is opened */
        if (child == 0) close(ends[0]), _exit(work(i, fdopen(ends[1], "w")));
        close(ends[1]);
        from[i] = fdopen(ends[0], "r");
    }

    shoal_context *ctx;
    shoal_units *units = NULL, *whole = NULL;
    shoal_units_info info;
    shoal_status status = begin(UNITS, &ctx, &units);
    if (!status) status = shoal_units_describe(units, &info);
    void *bytes = status ? NULL : malloc(info.bytes);
    for (int i = PROCESSES; i-- > 0 && !status;) /* any order */
        status = gather(units, bytes, info.bytes, from[i]);
    while (wait(NULL) > 0) {}
    free(bytes);
    const answer *x = shoal_units_rows(units);
    const int64_t *counts = shoal_units_counts(units);
    if (status || !x) {
        fprintf(stderr, "%lld units are missing; %s\n",
                (long long)(UNITS - (status ? 0 : info.done)), shoal_message(ctx));
        return 1;
    }
    printf("%d systems in %d units: %d failed, %d warned; system 7: %s, system 8: x[0] = %.4f\n",
           COUNT, UNITS, (int)counts[0], (int)counts[1], shoal_system_text((int)x[7].status),
           x[8].x[0]);

    /* the same in one unit, here */
    shoal_context *here;
    struct batch *of_first = at;
    status = begin(1, &here, &whole);
    if (!status) status = shoal_units_work(&whole, 1, NULL);
    const int same = !status && memcmp(x, shoal_units_rows(whole), COUNT * sizeof *x) == 0;
    printf("bit-identical to one unit: %s\n", same ? "yes" : "no");
    end(here, whole);
    at = of_first;
    end(ctx, units);
    return !same;
}
