/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the global options, which every command takes, and values of options.
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

int cli_parse(cli *c, const struct argp *own, int argc, char **argv, void *input) {
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

bool cli_ends_in(const char *name, const char *ending) {
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

bool cli_same_file(const char *a, const char *b) {
    struct stat x, y;
    return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* The folder of a file that need not exist, without links, with a place for the file's name: from malloc. NULL: it
 * is not there. */
static char *folder_of(const char *path, const char **name) {
    const char *slash = strrchr(path, '/');
    char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *folder = copy ? realpath(copy, NULL) : NULL;
    const int reason = errno;
    *name = slash ? slash + 1 : path;
    free(copy);
    errno = reason;
    return folder;
}

/* Whether two outputs would be one file: under two spellings, or by a link. Devices and pipes may be given twice. */
static bool one_output(const char *a, const char *b) {
    struct stat file;
    if (stat(a, &file) == 0) return S_ISREG(file.st_mode) && cli_same_file(a, b);
    if (strcmp(a, b) == 0) return true;
    const char *name, *other;
    char *folder = folder_of(a, &name), *another = folder_of(b, &other);
    const bool same = folder && another && strcmp(folder, another) == 0 && strcmp(name, other) == 0;
    free(folder);
    free(another);
    return same;
}

/* 0, or the errno that writing this file would end with. A new file is made beside the old one and renamed. */
static int refusal(const char *path) {
    struct stat file;
    const bool there = stat(path, &file) == 0;
    if (!*path) return ENOENT;
    if (there && S_ISDIR(file.st_mode)) return EISDIR;
    if (there && !S_ISREG(file.st_mode)) return 0; /* a device, a pipe: it says so itself */
    if (there && access(path, W_OK) != 0) return errno;
    const char *name;
    char *target = there ? realpath(path, NULL) : NULL;
    char *folder = folder_of(target ? target : path, &name);
    int reason = folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    free(target);
    return reason;
}

int cli_check_writable(const char *path) {
    const int reason = path ? refusal(path) : 0;
    return reason ? cli_fail(CLI_OUTPUT, "%s: cannot write: %s", path, strerror(reason)) : CLI_OK;
}

int cli_check_made(const char *path) {
    char *folder = path ? strdup(path) : NULL, *slash = folder ? strrchr(folder, '/') : NULL;
    bool made = false;
    while (slash && slash != folder) {
        *slash = '\0';
        if (access(folder, F_OK) == 0 || errno != ENOENT) break;
        made = true;
        slash = strrchr(folder, '/');
    }
    const char *parent = !slash ? "." : slash == folder ? "/" : folder;
    const int reason = made && access(parent, W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    if (!made) return cli_check_writable(path);
    return reason ? cli_fail(CLI_OUTPUT, "%s: cannot write: %s", path, strerror(reason)) : CLI_OK;
}

void cli_check_distinct(struct argp_state *state, const char *const *outputs,
                        const char *const *inputs) {
    for (int i = 0; i < CLI_OUTPUTS; i++) {
        for (int j = 0; j < i; j++) {
            if (!outputs[i] || !outputs[j] || !one_output(outputs[i], outputs[j])) continue;
            if (strcmp(outputs[i], outputs[j]) == 0)
                argp_error(state, "two outputs are called '%s'", outputs[i]);
            argp_error(state, "two outputs are one file: '%s' and '%s'", outputs[j], outputs[i]);
        }
        for (int j = 0; j < CLI_INPUTS && inputs; j++)
            if (cli_same_file(outputs[i], inputs[j]))
                argp_error(state, "'%s' is an input: it would be overwritten", outputs[i]);
    }
}

void cli_check_outputs(struct argp_state *state, const char *const *outputs,
                       const char *const *inputs) {
    cli_check_distinct(state, outputs, inputs);
    for (int i = 0; i < CLI_OUTPUTS; i++) {
        const int code = cli_check_writable(outputs[i]);
        if (code != CLI_OK) exit(code); /* as argp_error does */
    }
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

int64_t cli_arg_int(struct argp_state *state, const char *option, const char *text, int64_t least,
                    int64_t most) {
    int64_t value = 0;
    if (!read_int(text, &value)) {
        argp_error(state, "%s: '%s' is not a whole number", option, text);
    } else if (value < least || value > most) {
        if (most == INT64_MAX)
            argp_error(state, "%s: %s is less than %lld", option, text, (long long)least);
        else
            argp_error(state, "%s: %s is not between %lld and %lld", option, text, (long long)least,
                       (long long)most);
    }
    return value;
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

double cli_arg_double(struct argp_state *state, const char *option, const char *text) {
    double value = 0;
    if (!io_text_double(text, strlen(text), &value) || !isfinite(value))
        argp_error(state, "%s: '%s' is not a finite number", option, text);
    return value;
}

double cli_arg_positive(struct argp_state *state, const char *option, const char *text) {
    const double value = cli_arg_double(state, option, text);
    if (value <= 0) argp_error(state, "%s: %s is not above 0", option, text);
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

const char *cli_type_name(shoal_type type) { return type == SHOAL_F32 ? "f32" : "f64"; }

const char *cli_layout_name(shoal_layout layout) {
    return layout == SHOAL_INTERLEAVED ? "interleaved" : "system";
}

const char *cli_triangle_name(shoal_triangle triangle) {
    return triangle == SHOAL_UPPER ? "upper" : "lower";
}
