/* SPDX-License-Identifier: Apache-2.0
 *
 * test_units.c - one job in units: the bits of the whole for any number of units and any order; bytes that are refused;
 * folders of finished units, through kills, full disks and a second process; several devices, of which some fail.
 */
#include "core/crc32.h"
#include "cva_runs.h"
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Over the emulator alone (simt/faults.h). */
extern long simt_refuse_launch(long number) __attribute__((weak));

static shoal_context *context(const char *backend, int device) {
    shoal_context *ctx;
    const shoal_options o = { .backend = backend, .device = device, .threads = 1 };
    if (shoal_open(&o, &ctx) == SHOAL_OK) return ctx;
    shoal_close(ctx);
    return NULL;
}

static shoal_context *cpu;

/* ---- checksums ------------------------------------------------------------------------------------------ */

static uint32_t crc_of_bits(uint32_t crc, const unsigned char *at, size_t size) {
    for (crc = ~crc; size > 0; size--) {
        crc ^= *at++;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* All ways to compute one: by bits, by halves of bytes, by tables, by products. */
TEST(checksums_agree) {
    enum { ROOM = 40000 };
    unsigned char *bytes = new_array(ROOM, 1);
    for (int i = 0; i < ROOM; i++) bytes[i] = (unsigned char)((uint32_t)i * 2654435761u >> 13);
    CHECK(shoal_crc32(0, "123456789", 9) == 0xcbf43926);
    for (size_t i = 0; i < 300; i++) {
        const size_t size = i < 100 ? i : 16384 - 150 + 5 * i, from = i % 17;
        const uint32_t begin = (uint32_t)i * 2654435761u,
                       crc = crc_of_bits(begin, bytes + from, size);
        CHECK_MSG(shoal_crc32(begin, bytes + from, size) == crc, "%zu bytes", size);
        const size_t groups = size / 16;
        if (groups < 4 || size % 16) continue;
        CHECK(~shoal_crc32_eights(~begin, bytes + from, 2 * groups) == crc);
        CHECK(~shoal_crc32_large(~begin, bytes + from, groups) == crc);
    }
    for (size_t groups = 4; groups < 40; groups++) /* every remainder of 64 bytes */
        CHECK(~shoal_crc32_large(~7u, bytes + 1, groups) == crc_of_bits(7, bytes + 1, 16 * groups));
    free(bytes);
}

/* ---- a job without mathematics ---------------------------------------------------------------------- */

enum { ROWS = 1000, WIDTH = 3 };

typedef struct plain { /* fails at the calls from `at` on, in this way */
    long calls, at;
    shoal_status status;
    long pause; /* nanoseconds per unit */
} plain;

static shoal_status run_plain(shoal_context *ctx, void *user, int64_t first, int64_t rows,
                              void *result, int64_t *counts) {
    plain *p = user;
    double *x = result;
    (void)ctx;
    if (p->pause) nanosleep(&(struct timespec){ .tv_nsec = p->pause }, NULL);
    if (++p->calls >= p->at && p->at > 0) return p->status;
    for (int64_t i = 0; i < rows * WIDTH; i++) x[i] = sqrt((double)(first * WIDTH + i));
    counts[0] += rows, counts[1] += first;
    return SHOAL_OK;
}

static shoal_units *plain_units(shoal_context *ctx, plain *p, int64_t units, const char *inputs) {
    const shoal_units_job job = { .kind = "plain",
                                  .rows = ROWS,
                                  .row_bytes = WIDTH * sizeof(double),
                                  .counts = 2,
                                  .run = run_plain,
                                  .user = p };
    const shoal_units_opts o = { .units = units, .inputs = inputs, .input_bytes = strlen(inputs) };
    shoal_units *u;
    CHECK_MSG(shoal_units_create(ctx, &job, &o, &u) == SHOAL_OK, "%s", shoal_message(ctx));
    return u;
}

static shoal_units_info info_of(const shoal_units *u) {
    shoal_units_info info;
    CHECK(shoal_units_describe(u, &info) == SHOAL_OK);
    return info;
}

static void check_plain(const shoal_units *u) {
    const double *x = shoal_units_rows(u);
    CHECK(x != NULL);
    for (int64_t i = 0; x && i < ROWS * WIDTH; i++)
        if (x[i] != sqrt((double)i)) {
            CHECK_MSG(0, "row %lld", (long long)i / WIDTH);
            break;
        }
    CHECK(shoal_units_counts(u)[0] == ROWS);
}

typedef struct bytes { /* of a unit, on the heap */
    void *at;
    size_t size;
} bytes;

static bytes unit_of(shoal_units *u, int64_t unit, int with_inputs) {
    bytes b = { malloc(info_of(u).bytes), 0 };
    CHECK_MSG(shoal_units_run(u, unit, with_inputs, b.at, &b.size) == SHOAL_OK, "%s",
              shoal_message(cpu));
    CHECK(b.size <= info_of(u).bytes);
    return b;
}

TEST(any_number_in_any_order) {
    static const int64_t numbers[] = { 1, 2, 7, 256, ROWS, 3 * ROWS };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const int64_t n = numbers[k];
        plain p = { 0 };
        shoal_units *from = plain_units(cpu, &p, n, "x"), *to = plain_units(cpu, &p, n, "x");
        CHECK(strcmp(info_of(from).digest, info_of(to).digest) == 0 && info_of(to).units == n);
        for (int64_t i = 0; i < n; i++) {
            const int64_t unit = (i * 7919 + 13) % n;
            bytes b = unit_of(from, unit, i % 2 == 0);
            CHECK(shoal_units_rows(to) == NULL && info_of(to).done == i);
            CHECK(shoal_units_add(to, b.at, b.size) == SHOAL_OK);
            CHECK(shoal_units_add(to, b.at, b.size) == SHOAL_OK); /* twice is once */
            free(b.at);
        }
        CHECK(shoal_units_missing(to, 0) == n && shoal_units_missing(from, 0) == 0);
        check_plain(to);
        shoal_units_free(from);
        shoal_units_free(to);
    }
}

/* Rows as long as those of a CVA with 50 dates. */
static shoal_status run_wide(shoal_context *ctx, void *user, int64_t first, int64_t rows,
                             void *result, int64_t *counts) {
    double *x = result;
    (void)ctx, (void)counts;
    for (int64_t i = 0; i < rows * *(int64_t *)user; i++) x[i] = (double)(first + i);
    return SHOAL_OK;
}

TEST(ten_thousand_units_in_ten_seconds) {
    int64_t width = 303;
    enum { UNITS = 10000 };
    const shoal_units_job job = { .kind = "wide",
                                  .rows = 10 * UNITS,
                                  .row_bytes = (size_t)width * sizeof(double),
                                  .run = run_wide,
                                  .user = &width };
    const shoal_units_opts o = { .units = UNITS };
    shoal_units *from, *to;
    CHECK(shoal_units_create(cpu, &job, &o, &from) == SHOAL_OK);
    CHECK(shoal_units_create(cpu, &job, &o, &to) == SHOAL_OK);
    void *at = malloc(info_of(from).bytes);
    clock_t took = 0;
    for (int64_t i = 0; i < UNITS; i++) {
        size_t size;
        CHECK(shoal_units_run(from, (7919 * i + 13) % UNITS, 0, at, &size) == SHOAL_OK);
        const clock_t begin = clock();
        CHECK(shoal_units_add(to, at, size) == SHOAL_OK);
        took += clock() - begin;
    }
    const double seconds = (double)took / CLOCKS_PER_SEC;
    CHECK(shoal_units_rows(to) != NULL);
    CHECK_MSG(seconds <= 10, "%g s", seconds);
    printf("  10,000 units of %zu bytes merged in %.2f s\n", info_of(to).bytes, seconds);
    free(at);
    shoal_units_free(from), shoal_units_free(to);
}

/* Seals what was changed. */
static void seal(bytes b) {
    const uint32_t crc = shoal_crc32(0, b.at, b.size - 4);
    memcpy((char *)b.at + b.size - 4, &crc, sizeof crc);
}

static void refused(shoal_units *u, bytes b, const char *why) {
    CHECK(shoal_units_add(u, b.at, b.size) == SHOAL_E_ARG);
    CHECK_MSG(strstr(shoal_message(cpu), why), "'%s', not '%s'", shoal_message(cpu), why);
    CHECK(info_of(u).done == 0 && !shoal_units_rows(u));
}

/* ---- results that do not fit into memory ------------------------------------------------------------- */

typedef struct taken {
    double row[ROWS * WIDTH];
    int calls;
    shoal_status status;
} taken;

static shoal_status take_plain(shoal_context *ctx, void *user, const shoal_unit *unit) {
    taken *t = user;
    CHECK(ctx == cpu);
    t->calls++;
    memcpy(t->row + unit->first * WIDTH, unit->result, (size_t)unit->rows * unit->row_bytes);
    return t->status;
}

static shoal_units *taken_units(plain *p, taken *t) {
    const shoal_units_job job = { .kind = "plain",
                                  .rows = ROWS,
                                  .row_bytes = WIDTH * sizeof(double),
                                  .counts = 2,
                                  .run = run_plain,
                                  .user = p };
    const shoal_units_opts o = { .units = 7, .take = take_plain, .user = t };
    shoal_units *u;
    CHECK(shoal_units_create(cpu, &job, &o, &u) == SHOAL_OK);
    return u;
}

TEST(units_can_be_taken) {
    static taken whole;
    plain p = { 0 };
    shoal_units *u = taken_units(&p, &whole);
    CHECK(shoal_units_work(&u, 1, NULL) == SHOAL_OK);
    CHECK(whole.calls == 7 && !shoal_units_rows(u) && info_of(u).done == 7);
    CHECK(shoal_units_counts(u)[0] == ROWS);
    for (int i = 0; i < ROWS * WIDTH; i++) CHECK(whole.row[i] == sqrt((double)i));
    shoal_units_free(u);

    static taken refuses = { .status = SHOAL_E_FILE };
    u = taken_units(&p, &refuses);
    CHECK(shoal_units_work(&u, 1, NULL) == SHOAL_E_FILE && info_of(u).done == 0);
    shoal_units_free(u);
}

TEST(what_is_refused) {
    plain p = { 0 };
    shoal_units *u = plain_units(cpu, &p, 500, "x"), *other = plain_units(cpu, &p, 500, "y");
    bytes good = unit_of(u, 3, 1), bad = { malloc(good.size + 8), good.size };
    for (size_t i = 0; i < 8 * good.size; i++) { /* any bit */
        memcpy(bad.at, good.at, good.size);
        ((unsigned char *)bad.at)[i / 8] ^= (unsigned char)(1 << i % 8);
        CHECK_MSG(shoal_units_add(u, bad.at, bad.size) == SHOAL_E_ARG, "bit %zu", i);
    }
    memcpy(bad.at, good.at, good.size);
    for (bad.size = 0; bad.size < good.size; bad.size++)
        CHECK_MSG(shoal_units_add(u, bad.at, bad.size) == SHOAL_E_ARG, "%zu bytes", bad.size);
    bad.size = good.size - 1, refused(u, bad, "cut off");
    bad.size = good.size + 1, refused(u, bad, "too long");
    bad.size = good.size;
    refused(other, good, "of a job with other inputs");
    static const struct {
        size_t at;
        char value;
        const char *why;
    } changed[] = { { 0, 'X', "not a unit" },
                    { 8, 2, "format 2; this program reads format 1" },
                    { 12, 7, "do not fit together" },
                    { 24, 9, "do not fit together" },
                    { 64, '9', "written by version 9" },
                    { 80, 'q', "a unit of 'qlain'; this job is 'plain'" },
                    { 112, 4, "do not fit together" },
                    { 120, 1, "in 257 units; this one has 1000 in 500" },
                    { 136, 7, "do not fit together" },
                    { 152, 16, "do not fit together" },
                    { 160, 1, "do not fit together" } };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        memcpy(bad.at, good.at, good.size);
        ((char *)bad.at)[changed[i].at] = changed[i].value;
        seal(bad);
        refused(u, bad, changed[i].why);
    }
    shoal_unit about;
    CHECK(shoal_units_read(cpu, (char *)good.at + 1, good.size, &about) == SHOAL_E_ARG);
    CHECK(shoal_units_read(cpu, good.at, good.size, &about) == SHOAL_OK);
    CHECK(about.counts[1] == 6 && ((const double *)about.result)[1] == sqrt(19));
    CHECK(about.unit == 3 && about.units == 500 && about.first == 6 && about.rows == 2);
    CHECK(about.input_bytes == 1 && *(const char *)about.inputs == 'x' && about.all == ROWS);
    CHECK(strcmp(about.kind, "plain") == 0 && strcmp(about.digest, info_of(u).digest) == 0);
    CHECK(shoal_units_add(u, good.at, good.size) == SHOAL_OK);
    free(good.at), free(bad.at);
    shoal_units_free(u), shoal_units_free(other);
}

TEST(arguments) {
    shoal_units_job job = { .kind = "k", .rows = 1, .row_bytes = 8, .run = run_plain };
    shoal_units *u;
    size_t size;
    double x[64];
    CHECK(shoal_units_create(NULL, &job, NULL, &u) == SHOAL_E_ARG);
    CHECK(shoal_units_create(cpu, NULL, NULL, &u) == SHOAL_E_ARG && !u);
    CHECK(shoal_units_create(cpu, &job, NULL, NULL) == SHOAL_E_ARG);
    static const shoal_units_job bad[] = {
        { .rows = 1, .row_bytes = 8, .run = run_plain },
        { .kind = "", .rows = 1, .row_bytes = 8, .run = run_plain },
        { .kind = "a name of more than thirty-one letters",
          .rows = 1,
          .row_bytes = 8,
          .run = run_plain },
        { .kind = "k", .rows = -1, .row_bytes = 8, .run = run_plain },
        { .kind = "k", .rows = 1, .row_bytes = (1u << 30) + 1, .run = run_plain },
        { .kind = "k",
          .rows = 1,
          .row_bytes = 8,
          .counts = SHOAL_UNITS_COUNTS + 1,
          .run = run_plain },
        { .kind = "k", .rows = 1, .row_bytes = 8 }
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_MSG(shoal_units_create(cpu, &bad[i], NULL, &u) == SHOAL_E_ARG && !u, "job %zu", i);
    CHECK(shoal_units_create(cpu, &job, &(shoal_units_opts){ .units = -1 }, &u) == SHOAL_E_ARG);
    CHECK(shoal_units_create(cpu, &job, &(shoal_units_opts){ .input_bytes = 1 }, &u) ==
          SHOAL_E_ARG);
    job.rows = INT64_MAX;
    CHECK(shoal_units_create(cpu, &job, NULL, &u) == SHOAL_E_NOMEM);
    job.row_bytes = 0;
    CHECK(shoal_units_create(cpu, &job, NULL, &u) == SHOAL_E_NOMEM);
    job.rows = 0, job.row_bytes = 8; /* no rows are a job, too */
    CHECK(shoal_units_create(cpu, &job, NULL, &u) == SHOAL_OK && info_of(u).units == 1);
    CHECK(shoal_units_run(u, 1, 0, x, &size) == SHOAL_E_ARG);
    CHECK(shoal_units_run(u, 0, 0, NULL, &size) == SHOAL_E_ARG);
    CHECK(info_of(u).bytes <= sizeof x && shoal_units_run(u, 0, 0, x, &size) == SHOAL_OK);
    CHECK(shoal_units_add(u, x, size) == SHOAL_OK && info_of(u).done == 1 && !shoal_units_rows(u));
    shoal_cva_counts counts;
    CHECK(shoal_units_cva_counts(u, &counts) == SHOAL_E_ARG);
    shoal_units_free(u);
    shoal_units_free(NULL);
    CHECK(shoal_units_price(NULL, 1, NULL, &u) == SHOAL_E_ARG && !u);
    CHECK(shoal_units_cva(NULL, 1, NULL, &u) == SHOAL_E_ARG);
    CHECK(shoal_units_dataset(NULL, 1, NULL, &u) == SHOAL_E_ARG);
    CHECK(shoal_units_run(NULL, 0, 0, x, &size) == SHOAL_E_ARG);
    CHECK(shoal_units_add(NULL, x, 1) == SHOAL_E_ARG && shoal_units_keep(NULL, "x") == SHOAL_E_ARG);
    CHECK(shoal_units_work(NULL, 1, NULL) == SHOAL_E_ARG && !shoal_units_rows(NULL));
    CHECK(shoal_units_describe(NULL, NULL) == SHOAL_E_ARG && shoal_units_missing(NULL, 0) == 0);
}

/* ---- the library's jobs -------------------------------------------------------------------------------- */

/* Runs all units of a job in reverse order, and adds them to another one. */
static void pass_on(shoal_units *from, shoal_units *to) {
    for (int64_t i = info_of(from).units - 1; i >= 0; i--) {
        bytes b = unit_of(from, i, 0);
        CHECK_MSG(shoal_units_add(to, b.at, b.size) == SHOAL_OK, "%s", shoal_message(cpu));
        free(b.at);
    }
}

TEST(prices_have_the_same_bits) {
    const shoal_heston model = shoal_heston_example();
    const double strike[] = { 0.9, 1.1 }, maturity = 1;
    const shoal_price_opts o = { .method = "euler",
                                 .seed = 3,
                                 .steps = 1,
                                 .strikes = 2,
                                 .strike = strike,
                                 .maturities = 1,
                                 .maturity = &maturity };
    const shoal_price_goal goal = { .paths = 4 * SHOAL_PRICE_UNIT + 100 };
    shoal_price *plan;
    shoal_price_value whole[2], joined[2];
    CHECK(shoal_price_heston(cpu, &model, &o, &plan) == SHOAL_OK);
    CHECK(shoal_price_simulate(plan, &goal, whole, NULL) == SHOAL_OK);
    for (int64_t n = 1; n <= 7; n += 2) {
        shoal_units *from, *to;
        const shoal_units_opts opts = { .units = n };
        CHECK(shoal_units_price(plan, goal.paths, &opts, &from) == SHOAL_OK);
        CHECK(shoal_units_price(plan, goal.paths, &opts, &to) == SHOAL_OK);
        CHECK(info_of(to).rows == 5);
        pass_on(from, to);
        double *total = new_array((size_t)(2 * shoal_price_width(plan)), sizeof *total);
        CHECK(shoal_price_add(plan, shoal_units_rows(to), goal.paths, total) == SHOAL_OK);
        CHECK(shoal_price_result(plan, total, goal.paths, joined) == SHOAL_OK);
        CHECK(memcmp(whole, joined, sizeof whole) == 0);
        free(total);
        shoal_units_free(from), shoal_units_free(to);
    }
    shoal_price_free(plan);
    shoal_units *none; /* a formula has no paths */
    shoal_price_opts formula = o;
    formula.method = "analytic";
    CHECK(shoal_price_heston(cpu, &model, &formula, &plan) == SHOAL_OK);
    CHECK(shoal_units_price(plan, 1000, NULL, &none) == SHOAL_OK && info_of(none).rows == 0);
    shoal_units_free(none);
    shoal_price_free(plan);
}

/* Units of more paths than a CVA takes at a time are taken in pieces, the last of which is short. */
static void check_a_cva(int64_t outer, int64_t most) {
    const cva_case c = one_case(SHOAL_CVA_CALL, 4, outer);
    shoal_cva *plan;
    CHECK(shoal_cva_create(cpu, &c.market, c.contract, c.count, &c.counterparty, &c.opts, &plan) ==
          SHOAL_OK);
    const size_t size = (size_t)(outer * shoal_cva_width(plan)) * sizeof(double);
    double *samples = new_array(size, 1);
    shoal_cva_counts counts = { 0 }, joined;
    CHECK(shoal_cva_run(plan, 0, outer, samples, &counts) == SHOAL_OK);
    for (int64_t n = 1; n <= most; n += 4) {
        shoal_units *from, *to;
        CHECK(shoal_units_cva(plan, outer, &(shoal_units_opts){ .units = n }, &from) == SHOAL_OK);
        CHECK(shoal_units_cva(plan, outer, &(shoal_units_opts){ .units = n }, &to) == SHOAL_OK);
        pass_on(from, to);
        CHECK(info_of(to).row_bytes == size / (size_t)outer);
        CHECK(memcmp(shoal_units_rows(to), samples, size) == 0);
        CHECK(shoal_units_cva_counts(to, &joined) == SHOAL_OK);
        CHECK(joined.inner_paths == counts.inner_paths && joined.seconds[0] > 0);
        shoal_units_free(from), shoal_units_free(to);
    }
    free(samples);
    shoal_cva_free(plan);
}

TEST(a_cva_has_the_same_bits) {
    check_a_cva(50, 9);
    check_a_cva(1100, 1);
}

TEST(a_data_set_has_the_same_bits) {
    enum { SAMPLES = 20 };
    shoal_dataset_opts o = shoal_dataset_defaults();
    shoal_dataset *plan;
    double design[SAMPLES * SHOAL_DATASET_COLUMNS], values[SAMPLES * SHOAL_DATASET_VALUES];
    o.samples = SAMPLES, o.seed = 2, o.most_paths = 512;
    CHECK(shoal_dataset_create(cpu, &o, &plan) == SHOAL_OK);
    CHECK(shoal_dataset_design(plan, 0, SAMPLES, design) == SHOAL_OK);
    CHECK(shoal_dataset_run(plan, 0, SAMPLES, design, values) == SHOAL_OK);
    shoal_units *from, *to;
    CHECK(shoal_units_dataset(plan, SAMPLES, &(shoal_units_opts){ .units = 6 }, &from) == SHOAL_OK);
    CHECK(shoal_units_dataset(plan, SAMPLES, &(shoal_units_opts){ .units = 6 }, &to) == SHOAL_OK);
    pass_on(from, to);
    CHECK(memcmp(shoal_units_rows(to), values, sizeof values) == 0);
    shoal_units_free(from), shoal_units_free(to);
    shoal_dataset_free(plan);
}

/* ---- folders -------------------------------------------------------------------------------------------- */

static char folder[64];

static void new_folder(void) {
    strcpy(folder, "units-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

static char *file_name(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_folder(int64_t units) {
    char name[64];
    for (int64_t i = 0; i < units; i++) {
        snprintf(name, sizeof name, "unit-%06lld-of-%06lld", (long long)i, (long long)units);
        unlink(file_name(name));
    }
    unlink(file_name("lock"));
    CHECK_MSG(rmdir(folder) == 0, "%s is not empty", folder);
}

static int64_t kept(int64_t units, const char *inputs) {
    plain p = { 0 };
    shoal_units *u = plain_units(cpu, &p, units, inputs);
    const shoal_status s = shoal_units_keep(u, folder);
    const int64_t done = s == SHOAL_OK ? info_of(u).done : -1;
    shoal_units_free(u);
    return done;
}

TEST(a_folder_keeps_units) {
    plain p = { .at = 6, .status = SHOAL_E_ARG };
    new_folder();
    shoal_units *u = plain_units(cpu, &p, 10, "x");
    CHECK(shoal_units_keep(u, folder) == SHOAL_OK);
    CHECK(shoal_units_work(&u, 1, NULL) == SHOAL_E_ARG && info_of(u).done == 5);
    CHECK(kept(10, "x") == -1); /* u has it */
    CHECK_MSG(strstr(shoal_message(cpu), "another process uses this folder"), "%s",
              shoal_message(cpu));
    shoal_units_free(u);
    CHECK(kept(10, "x") == 5);
    CHECK(kept(10, "y") == -1 && strstr(shoal_message(cpu), "with other inputs; choose another"));
    CHECK(kept(11, "x") == -1 &&
          strstr(shoal_message(cpu), "in 10 units; this one has 1000 in 11"));
    CHECK(close(creat(file_name("unit-000007-of-000010.tmp"), 0666)) == 0);
    p = (plain){ 0 };
    u = plain_units(cpu, &p, 10, "x");
    CHECK(shoal_units_keep(u, folder) == SHOAL_OK && shoal_units_work(&u, 1, NULL) == SHOAL_OK);
    CHECK_MSG(p.calls == 5, "%ld units were done again", p.calls - 5);
    check_plain(u);
    CHECK(shoal_units_keep(u, folder) == SHOAL_E_ARG);
    shoal_units_free(u);
    CHECK(truncate(file_name("unit-000002-of-000010"), 100) == 0);
    CHECK(kept(10, "x") == -1 && strstr(shoal_message(cpu), "unit-000002-of-000010: cut off"));
    CHECK(unlink(file_name("unit-000002-of-000010")) == 0 && kept(10, "x") == 9);
    CHECK(chmod(file_name("unit-000003-of-000010"), 0) == 0);
    if (geteuid() != 0) CHECK(kept(10, "x") == -1 && strstr(shoal_message(cpu), "Permission"));
    CHECK(unlink(file_name("unit-000003-of-000010")) == 0);
    CHECK(mkdir(file_name("unit-000003-of-000010"), 0777) == 0);
    CHECK(kept(10, "x") == -1 && strstr(shoal_message(cpu), "not a file"));
    CHECK(rmdir(file_name("unit-000003-of-000010")) == 0);
    CHECK(mkfifo(file_name("unit-000003-of-000010"), 0666) == 0); /* nobody writes to it */
    CHECK(kept(10, "x") == -1 && strstr(shoal_message(cpu), "not a file"));
    CHECK(unlink(file_name("unit-000003-of-000010")) == 0 && kept(10, "x") == 8);
    remove_folder(10);
    u = plain_units(cpu, &p, 10, "x");
    CHECK(shoal_units_keep(u, "no/such/folder") == SHOAL_E_FILE);
    CHECK(shoal_units_keep(u, NULL) == SHOAL_E_ARG);
    shoal_units_free(u);
}

/* No file may be longer than half a unit: as on a full disk, the write fails on the way. */
TEST(a_full_disk_loses_nothing) {
    plain p = { .at = 4, .status = SHOAL_E_ARG };
    struct rlimit before, limit;
    new_folder();
    shoal_units *u = plain_units(cpu, &p, 10, "x");
    CHECK(shoal_units_traces(u) == NULL && shoal_units_traces(NULL) == NULL);
    CHECK(shoal_units_keep(u, folder) == SHOAL_OK && shoal_units_work(&u, 1, NULL) != SHOAL_OK);
    CHECK(shoal_units_traces(u)[0].worker == 0 && shoal_units_traces(u)[9].worker == -1);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before, limit.rlim_cur = 1000;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    p.at = 0;
    CHECK(shoal_units_work(&u, 1, NULL) == SHOAL_E_FILE && info_of(u).done == 3);
    CHECK_MSG(strstr(shoal_message(cpu), "File too large; the units that the folder"), "%s",
              shoal_message(cpu));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(shoal_units_work(&u, 1, NULL) == SHOAL_OK); /* there is room again */
    check_plain(u);
    shoal_units_free(u);
    CHECK(kept(10, "x") == 10);
    remove_folder(10);
}

/* A child that works in the folder, killed after so many nanoseconds; whether it was done before. */
static int killed_child(long after) {
    const pid_t child = fork();
    if (child == 0) {
        plain p = { .pause = 200000 };
        shoal_context *ctx = context("cpu", 0);
        shoal_units *u = ctx ? plain_units(ctx, &p, 250, "x") : NULL;
        if (!u || shoal_units_keep(u, folder) != SHOAL_OK) _exit(2);
        _exit(shoal_units_work(&u, 1, NULL) == SHOAL_OK ? 0 : 1);
    }
    int status;
    nanosleep(&(struct timespec){ .tv_nsec = after }, NULL);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_MSG(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "status %d", status);
    return !WIFSIGNALED(status);
}

TEST(kill_9_at_any_moment) {
    int64_t before = 0;
    new_folder();
    for (long i = 0; i < 40; i++) {
        const int done = killed_child(1000000 + i * 2717717 % 60000000);
        const int64_t now = kept(250, "x");
        CHECK_MSG(now >= before, "%lld units of %lld: %s", (long long)now, (long long)before,
                  shoal_message(cpu));
        before = now;
        if (done) break;
    }
    plain p = { 0 };
    shoal_units *u = plain_units(cpu, &p, 250, "x");
    CHECK(shoal_units_keep(u, folder) == SHOAL_OK && shoal_units_work(&u, 1, NULL) == SHOAL_OK);
    CHECK(p.calls == 250 - before);
    check_plain(u);
    shoal_units_free(u);
    remove_folder(250);
}

/* ---- devices -------------------------------------------------------------------------------------------- */

enum { DEVICES = 3 };

/* Workers on contexts of their own; worker i fails as how[i] says. Adds up the calls. */
static shoal_status work_together(const plain *how, shoal_units **first, int *lost, long *calls) {
    shoal_units *u[DEVICES];
    shoal_context *ctx[DEVICES];
    plain p[DEVICES];
    for (int i = 0; i < DEVICES; i++) {
        ctx[i] = i ? context("cpu", 0) : cpu;
        p[i] = how[i];
        if (!p[i].pause) p[i].pause = 300000;
        u[i] = plain_units(ctx[i], &p[i], 100, "x");
    }
    const shoal_status s = shoal_units_work(u, DEVICES, lost);
    *calls = 0;
    for (int i = 0; i < DEVICES; i++) {
        *calls += p[i].calls;
        if (i) shoal_units_free(u[i]), shoal_close(ctx[i]);
    }
    *first = u[0];
    return s;
}

/* One worker per unit, one unit per worker at a time, and none of a worker that fails at once. */
static void check_traces(const shoal_units *u, const plain *how) {
    const shoal_units_trace *t = shoal_units_traces(u);
    double busy[DEVICES] = { 0 }, last = 0;
    for (int64_t i = 0; i < info_of(u).units; i++) {
        CHECK(t[i].worker >= 0 && t[i].worker < DEVICES && t[i].begin >= 0);
        CHECK(t[i].end - t[i].begin >= 300000e-9);
        CHECK(how[t[i].worker].at != 1);
        busy[t[i].worker] += t[i].end - t[i].begin;
        if (t[i].end > last) last = t[i].end;
    }
    for (int k = 0; k < DEVICES; k++) CHECK_MSG(busy[k] <= last, "%g of %g s", busy[k], last);
}

TEST(devices_share_the_units) {
    static const struct {
        plain how[DEVICES];
        int lost;
        shoal_status status;
    } cases[] = { { { { 0 } }, 0, SHOAL_OK },
                  { { { 0 }, { .at = 3, .status = SHOAL_E_CUDA } }, 1, SHOAL_OK },
                  { { { .at = 1, .status = SHOAL_E_CUDA } }, 1, SHOAL_OK }, /* the caller's own */
                  { { { .at = 5, .status = SHOAL_E_CUDA }, { .at = 1, .status = SHOAL_E_NOMEM } },
                    2,
                    SHOAL_OK },
                  { { { .at = 5, .status = SHOAL_E_CUDA },
                      { .at = 1, .status = SHOAL_E_CUDA },
                      { .at = 2, .status = SHOAL_E_CUDA } },
                    2,
                    SHOAL_E_CUDA },
                  { { { 0 }, { .at = 3, .status = SHOAL_E_ARG } }, 0, SHOAL_E_ARG } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shoal_units *u;
        int lost;
        long calls;
        const shoal_status s = work_together(cases[i].how, &u, &lost, &calls);
        CHECK_MSG(s == cases[i].status && lost == cases[i].lost, "case %zu: status %d, %d lost", i,
                  (int)s, lost);
        if (s == SHOAL_OK) check_plain(u);
        if (s == SHOAL_OK) CHECK_MSG(calls == 100 + lost, "case %zu: %ld calls", i, calls);
        if (s == SHOAL_OK) check_traces(u, cases[i].how);
        shoal_units_free(u);
    }
}

/* The choice of the next unit takes as long for the last one as for the first: the search from unit 0 on that was here
 * took 5 minutes of a million. */
TEST(many_units_are_chosen_fast) {
    enum { MANY = 200000 };
    plain p = { 0 };
    shoal_units *u = plain_units(cpu, &p, MANY, "x");
    const clock_t begin = clock();
    CHECK(shoal_units_work(&u, 1, NULL) == SHOAL_OK);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CHECK_MSG(seconds < 2, "%g s", seconds);
    check_plain(u);
    shoal_units_free(u);
}

static int stop_at(void *user, const char *stage, double fraction) {
    return strcmp(stage, "units") != 0 || fraction > *(double *)user;
}

TEST(progress_ends_all_devices) {
    static const plain slow[DEVICES] = { { .pause = 10000000 },
                                         { .pause = 10000000 },
                                         { .pause = 10000000 } };
    double end = 0.3;
    shoal_units *u;
    int lost;
    long calls;
    CHECK(shoal_set_progress(cpu, stop_at, &end) == SHOAL_OK);
    CHECK(work_together(slow, &u, &lost, &calls) == SHOAL_E_CANCELLED && lost == 0);
    CHECK(shoal_set_progress(cpu, NULL, NULL) == SHOAL_OK);
    CHECK_MSG(calls < 100 && info_of(u).done > 0, "%ld calls", calls);
    shoal_units_free(u);
}

TEST(workers_are_of_one_job) {
    plain p = { 0 };
    shoal_context *other = context("cpu", 0);
    shoal_units *u[] = { plain_units(cpu, &p, 10, "x"), plain_units(other, &p, 10, "y") };
    CHECK(shoal_units_work(u, 2, NULL) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(cpu), "workers[1] is another job"));
    shoal_units *same[] = { u[0], u[0] };
    CHECK(shoal_units_work(same, 2, NULL) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(cpu), "has the context of workers[0]"));
    shoal_units_free(u[0]), shoal_units_free(u[1]);
    shoal_close(other);
}

/* The sums of two devices are those of the rows of one. */
static void sums_of_two(shoal_context *const *ctx, cva_case c, const double *samples) {
    shoal_cva *plan[2];
    shoal_units *u[2];
    c.opts.quantile_error = 0.01;
    for (int i = 0; i < 2; i++) {
        CHECK(shoal_cva_create(ctx[i], &c.market, c.contract, c.count, &c.counterparty, &c.opts,
                               &plan[i]) == SHOAL_OK);
        CHECK(shoal_units_cva(plan[i], 40, &(shoal_units_opts){ .units = 10 }, &u[i]) == SHOAL_OK);
    }
    int64_t *sums = new_array((size_t)shoal_cva_sums(plan[0]), sizeof *sums);
    shoal_cva_value one, two;
    CHECK(shoal_units_work(u, 2, NULL) == SHOAL_OK && !shoal_units_rows(u[0]));
    CHECK(shoal_cva_add_sums(plan[0], samples, 40, sums) == SHOAL_OK);
    CHECK(shoal_cva_result_of_sums(plan[0], sums, 40, &one, NULL) == SHOAL_OK);
    CHECK(shoal_cva_result_of_sums(plan[0], shoal_units_counts(u[0]) + SHOAL_UNITS_CVA_TOTALS, 40,
                                   &two, NULL) == SHOAL_OK);
    CHECK(memcmp(&one, &two, sizeof one) == 0 && one.cva > 0);
    free(sums);
    for (int i = 0; i < 2; i++) shoal_units_free(u[i]), shoal_cva_free(plan[i]);
}

/* Two devices that there are, or two contexts on one: the bits of one; and with launches that fail. */
TEST(two_gpus) {
    const cva_case c = one_case(SHOAL_CVA_CALL, 2, 40);
    enum { GPUS = 2 };
    shoal_context *ctx[GPUS] = { context("cuda", 0), context("cuda", 1) };
    if (ctx[0] && !ctx[1]) ctx[1] = context("cuda", 0);
    if (!ctx[0]) SKIP("no GPU answers");
    shoal_cva *plan[GPUS];
    shoal_units *u[GPUS];
    double *samples = NULL;
    size_t size = 0;
    for (int fails = 0; fails <= (simt_refuse_launch ? 12 : 0); fails += 3) {
        int lost;
        for (int i = 0; i < GPUS; i++) {
            CHECK(shoal_cva_create(ctx[i], &c.market, c.contract, c.count, &c.counterparty, &c.opts,
                                   &plan[i]) == SHOAL_OK);
            CHECK(shoal_units_cva(plan[i], 40, &(shoal_units_opts){ .units = 10 }, &u[i]) ==
                  SHOAL_OK);
        }
        if (!samples) {
            size = (size_t)(40 * shoal_cva_width(plan[0])) * sizeof *samples;
            samples = new_array(size, 1);
            CHECK(shoal_cva_run(plan[0], 0, 40, samples, NULL) == SHOAL_OK);
        }
        if (fails) simt_refuse_launch(fails);
        CHECK_MSG(shoal_units_work(u, GPUS, &lost) == SHOAL_OK, "%s", shoal_message(ctx[0]));
        if (fails) simt_refuse_launch(0);
        CHECK_MSG(lost == (fails > 0), "launch %d fails: %d lost", fails, lost);
        CHECK(memcmp(shoal_units_rows(u[0]), samples, size) == 0);
        for (int i = 0; i < GPUS; i++) shoal_units_free(u[i]), shoal_cva_free(plan[i]);
    }
    sums_of_two(ctx, c, samples);
    free(samples);
    for (int i = 0; i < GPUS; i++) shoal_close(ctx[i]);
}

TEST(two_contexts_add_sums) {
    const cva_case c = one_case(SHOAL_CVA_CALL, 2, 40);
    shoal_context *both[] = { cpu, context("cpu", 0) };
    shoal_cva *plan;
    CHECK(shoal_cva_create(cpu, &c.market, c.contract, c.count, &c.counterparty, &c.opts, &plan) ==
          SHOAL_OK);
    double *samples = new_array((size_t)(40 * shoal_cva_width(plan)), sizeof *samples);
    CHECK(shoal_cva_run(plan, 0, 40, samples, NULL) == SHOAL_OK);
    sums_of_two(both, c, samples);
    free(samples);
    shoal_cva_free(plan);
    shoal_close(both[1]);
}

int main(int argc, char **argv) {
    cpu = context("cpu", 0);
    TEST_BEGIN(argc, argv);
    RUN(checksums_agree);
    RUN(any_number_in_any_order);
    RUN(ten_thousand_units_in_ten_seconds);
    RUN(units_can_be_taken);
    RUN(what_is_refused);
    RUN(arguments);
    RUN(prices_have_the_same_bits);
    RUN(a_cva_has_the_same_bits);
    RUN(a_data_set_has_the_same_bits);
    RUN(a_folder_keeps_units);
    RUN(a_full_disk_loses_nothing);
    RUN(kill_9_at_any_moment);
    RUN(devices_share_the_units);
    RUN(many_units_are_chosen_fast);
    RUN(progress_ends_all_devices);
    RUN(workers_are_of_one_job);
    RUN(two_gpus);
    RUN(two_contexts_add_sums);
    shoal_close(cpu);
    return TEST_END();
}
