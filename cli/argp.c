/* SPDX-License-Identifier: Apache-2.0
 *
 * argp.c - the options of commands that have no table yet.
 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/text.h"

enum { KEY_BACKEND = 0x1000, KEY_DEVICE, KEY_THREADS, KEY_SEED, KEY_JSON, KEY_MATH };

/* clang-format off */
static const struct argp_option global_options[] = {
    { "backend", KEY_BACKEND, "B",    0, "auto (a GPU if one answers), cpu or cuda [auto]", 0 },
    { "device",  KEY_DEVICE,  "N",    0, "number of the GPU [0]", 0 },
    { "threads", KEY_THREADS, "N",    0, "CPU threads, at most 1024 [all]", 0 },
    { "seed",    KEY_SEED,    "S",    0, "seed of random numbers, 64 bits [1]", 0 },
    { "json",    KEY_JSON,    NULL,   0, "print one JSON object instead of a table", 0 },
    { "quiet",   'q',         NULL,   0, "no progress bar and no notes", 0 },
    { "math",    KEY_MATH,    "MODE", 0, "exact (the same bits everywhere) or fast [exact]", 0 },
    { 0 }
};
/* clang-format on */

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

static error_t parse_global(int key, char *arg, struct argp_state *state) {
    static const char *const backends[] = { "auto", "cpu", "cuda", NULL };
    cli *c = state->input;
    switch (key) {
    case KEY_BACKEND:
        if (!is_one_of(arg, backends))
            argp_error(state, "--backend: '%s' is none of auto, cpu, cuda", arg);
        c->backend = arg;
        return 0;
    case KEY_DEVICE:
        c->device = (int)cli_arg_int(state, "--device", arg, 0, INT_MAX);
        c->device_given = true;
        return 0;
    case KEY_THREADS: c->threads = (int)cli_arg_int(state, "--threads", arg, 1, 1024); return 0;
    case KEY_SEED:
        c->seed = cli_arg_seed(state, "--seed", arg);
        c->seed_given = true;
        return 0;
    case KEY_JSON: c->json = true; return 0;
    case 'q': c->quiet = true; return 0;
    case KEY_MATH:
        c->fast_math = strcmp(arg, "fast") == 0;
        if (!c->fast_math && strcmp(arg, "exact") != 0)
            argp_error(state, "--math: '%s' is neither exact nor fast", arg);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp global_argp = { .options = global_options, .parser = parse_global };

/* argp hands a child what its parent says: here, each of the two its own. */
static error_t parse_both(int key, char *arg, struct argp_state *state) {
    (void)arg;
    if (key != ARGP_KEY_INIT) return ARGP_ERR_UNKNOWN;
    void **inputs = state->input;
    state->child_inputs[0] = inputs[0];
    state->child_inputs[1] = inputs[1];
    return 0;
}

int cli_parse_argp(cli *c, const struct argp *own, int argc, char **argv, void *input) {
    struct argp bare = *own; /* its texts belong to the whole */
    bare.doc = bare.args_doc = NULL;
    const struct argp_child children[] = { { &bare, 0, NULL, 0 },
                                           { &global_argp, 0, "Global options:", 100 },
                                           { 0 } };
    const struct argp both = {
        .parser = parse_both, .args_doc = own->args_doc, .doc = own->doc, .children = children
    };
    void *inputs[] = { input, c };
    error_t error = argp_parse(&both, argc, argv, ARGP_IN_ORDER, NULL, inputs);
    if (error == 0) return CLI_OK;
    return cli_fail(error == ENOMEM ? CLI_UNAVAILABLE : CLI_USAGE, "%s", strerror(error));
}

/* Whole number, also as 1e5; false if it is anything else. */
static bool read_int(const char *text, int64_t *value) {
    size_t length = strlen(text);
    if (io_text_int(text, length, value)) return true;
    double number;
    if (!io_text_double(text, length, &number) || !(fabs(number) < 0x1p63)) return false;
    *value = (int64_t)number;
    return (double)*value == number;
}

uint64_t cli_arg_seed(struct argp_state *state, const char *option, const char *text) {
    int64_t small;
    double large;
    if (read_int(text, &small) && small >= 0) return (uint64_t)small;
    if (strpbrk(text, "eE") && io_text_double(text, strlen(text), &large) && large >= 0x1p63 &&
        large < 0x1p64)
        return (uint64_t)large; /* 1e19: a whole number, as all of this size are */
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9')
        argp_error(state, "%s: '%s' is not a whole number from 0 to 18446744073709551615", option,
                   text);
    return value;
}

shoal_type cli_arg_type(struct argp_state *state, const char *text) {
    if (strcmp(text, "f32") != 0 && strcmp(text, "f64") != 0)
        argp_error(state, "--type: '%s' is neither f32 nor f64", text);
    return strcmp(text, "f32") == 0 ? SHOAL_F32 : SHOAL_F64;
}

shoal_layout cli_arg_layout(struct argp_state *state, const char *text) {
    if (strcmp(text, "system") != 0 && strcmp(text, "interleaved") != 0)
        argp_error(state, "--layout: '%s' is neither system nor interleaved", text);
    return strcmp(text, "interleaved") == 0 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR;
}

void cli_arg_shard(struct argp_state *state, const char *text, int64_t *shard, int64_t *shards) {
    char first[32];
    const char *slash = strchr(text, '/');
    const size_t length = slash ? (size_t)(slash - text) : sizeof first;
    if (length < sizeof first) {
        memcpy(first, text, length);
        first[length] = 0;
        if (read_int(first, shard) && read_int(slash + 1, shards) && *shard >= 1 &&
            *shard <= *shards && *shards <= 1000000)
            return;
    }
    argp_error(state, "--shard: '%s' is not I/N with 1 <= I <= N <= 1000000", text);
}

shoal_triangle cli_arg_triangle(struct argp_state *state, const char *text) {
    if (strcmp(text, "lower") != 0 && strcmp(text, "upper") != 0)
        argp_error(state, "--triangle: '%s' is neither lower nor upper", text);
    return strcmp(text, "upper") == 0 ? SHOAL_UPPER : SHOAL_LOWER;
}
