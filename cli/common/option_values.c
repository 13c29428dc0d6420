/* SPDX-License-Identifier: Apache-2.0
 *
 * option_values.c - the values of options: read from the command line into the members of rows, and written again.
 */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"

/* ---- reading ---------------------------------------------------------------------------------- */

/* Whole number, also as 1e5; false if it is anything else. */
static bool read_int(const char *text, int64_t *value) {
    size_t length = strlen(text);
    if (io_text_int(text, length, value)) return true;
    double number;
    if (!io_text_double(text, length, &number) || !(fabs(number) < 0x1p63)) return false;
    *value = (int64_t)number;
    return (double)*value == number;
}

/* Whether it is a number, but of more than 64 bits. */
static bool is_huge(const char *text) {
    double number;
    return io_text_double(text, strlen(text), &number) && fabs(number) >= 0x1p63;
}

int64_t cli_arg_int(struct argp_state *state, const char *option, const char *text, int64_t min,
                    int64_t max) {
    int64_t value = 0;
    if (!read_int(text, &value)) {
        argp_error(state, "%s: '%s' is %s", option, text,
                   is_huge(text) ? "too large" : "not a whole number");
    } else if (value < min || value > max) {
        if (max == INT64_MAX)
            argp_error(state, "%s: %s is less than %lld", option, text, (long long)min);
        else
            argp_error(state, "%s: %s is not between %lld and %lld", option, text, (long long)min,
                       (long long)max);
    }
    return value;
}

static uint64_t arg_seed(struct argp_state *state, const char *option, const char *text) {
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

/* A number of an option: in its range, or NaN of one that may be that. */
static double arg_real(struct argp_state *state, const cli_option *o, const char *option,
                       const char *text) {
    double value = 0;
    if (o->kind == OPT_POSITIVE) {
        value = cli_arg_positive(state, option, text);
        if (value < o->min) argp_error(state, "%s: %s is less than %g", option, text, o->min);
        if (o->max > 0 && value >= o->max)
            argp_error(state, "%s: %s is not below %g", option, text, o->max);
        return value;
    }
    if (o->kind != OPT_ANY_REAL)
        value = cli_arg_double(state, option, text);
    else if (!io_text_double(text, strlen(text), &value))
        argp_error(state, "%s: '%s' is not a number", option, text);
    if (o->min < o->max && o->max >= 1e300 && value < o->min)
        argp_error(state, "%s: %s is less than %g", option, text, o->min);
    if (o->min < o->max && !(value >= o->min && value <= o->max))
        argp_error(state, "%s: %s is not between %g and %g", option, text, o->min, o->max);
    return value;
}

/* Word i of o->words. An io_names. */
static const char *word_name(const void *of, int i) {
    static char word[CLI_NAME];
    int length;
    const char *at = cli_option_word(((const cli_option *)of)->words, i, &length);
    snprintf(word, sizeof word, "%.*s", length, at ? at : "");
    return at ? word : NULL;
}

/* The place of a word, or the end of the program. */
static int arg_word(struct argp_state *state, const cli_option *o, const char *option,
                    const char *text) {
    char message[IO_MESSAGE];
    const char *word;
    for (int i = 0; (word = word_name(o, i)); i++)
        if (strcmp(word, text) == 0) return i;
    argp_error(state, "%s", io_unknown(message, option, "value", text, "there are", word_name, o));
    return 0;
}

/* I/N, 1 <= I <= N <= 1000000. */
static void arg_shard(struct argp_state *state, const char *option, const char *text,
                      int64_t shard[2]) {
    char first[32];
    const char *slash = strchr(text, '/');
    const size_t length = slash ? (size_t)(slash - text) : sizeof first;
    if (length < sizeof first) {
        memcpy(first, text, length);
        first[length] = 0;
        if (read_int(first, &shard[0]) && read_int(slash + 1, &shard[1]) && shard[0] >= 1 &&
            shard[0] <= shard[1] && shard[1] <= 1000000)
            return;
    }
    argp_error(state, "%s: '%s' is not I/N with 1 <= I <= N <= 1000000", option, text);
}

typedef struct list { /* OPT_REALS and OPT_INTS */
    int64_t count;
    void *values;
} list;

static void arg_list(struct argp_state *state, const cli_option *o, const char *option,
                     const char *text, list *to) {
    int64_t count = 1;
    for (const char *at = text; *at; at++) count += *at == ',';
    free(to->values);
    to->count = count;
    to->values = calloc((size_t)count, 8);
    if (!to->values) argp_failure(state, CLI_UNAVAILABLE, 0, "not enough memory");
    for (int64_t i = 0; to->values && i < count; i++, text += strcspn(text, ",") + 1) {
        char *word = strndup(text, strcspn(text, ","));
        if (!word) argp_failure(state, CLI_UNAVAILABLE, 0, "not enough memory");
        if (o->kind == OPT_REALS)
            ((double *)to->values)[i] = cli_arg_double(state, option, word);
        else
            ((int64_t *)to->values)[i] =
                cli_arg_int(state, option, word, (int64_t)o->min, (int64_t)o->max);
        free(word);
    }
}

/* The members of rows. A whole number has 8, 4 or 1 bytes; bool is 0 and 1 alone. */
static bool is_real(cli_kind kind) { return kind >= OPT_REAL && kind <= OPT_POSITIVE; }
static double real_at(const cli_row *row) {
    return *(double *)(void *)(row->base + row->option->at);
}
static const char **name_at(const cli_row *row) { return (void *)(row->base + row->option->at); }
static list *list_at(const cli_row *row) { return (void *)(row->base + row->option->at); }

static void set_int(const cli_row *row, int64_t value) {
    void *at = row->base + row->option->at;
    if (row->option->size == sizeof(int64_t))
        *(int64_t *)at = value;
    else if (row->option->size == sizeof(int))
        *(int *)at = (int)value;
    else
        *(char *)at = (char)value;
}

static int64_t int_at(const cli_row *row) {
    const void *at = row->base + row->option->at;
    if (row->option->size == sizeof(int64_t)) return *(const int64_t *)at;
    return row->option->size == sizeof(int) ? *(const int *)at : *(const char *)at;
}

static int64_t max_of(const cli_option *o) {
    return o->max == 0 && o->min >= 0 ? INT64_MAX : (int64_t)o->max;
}

static int flag_of(const cli_option *o) { return o->value ? o->value : 1; }

void cli_option_take(struct argp_state *state, const cli_row *row, char *text) {
    const cli_option *o = row->option;
    char name[CLI_NAME];
    void *at = row->base + o->at;
    cli_option_name(o, name);
    if (o->given) *(bool *)(row->base + o->given) = true;
    if (o->kind == OPT_FLAG) set_int(row, flag_of(o));
    if (o->kind == OPT_INT)
        set_int(row, cli_arg_int(state, name, text, (int64_t)o->min, max_of(o)));
    if (o->kind == OPT_SEED) *(uint64_t *)at = arg_seed(state, name, text);
    if (is_real(o->kind)) *(double *)at = arg_real(state, o, name, text);
    if (o->kind == OPT_CHOICE) set_int(row, o->value + arg_word(state, o, name, text));
    if (cli_kind_is_name(o->kind) && o->words) arg_word(state, o, name, text);
    if (cli_kind_is_name(o->kind)) *name_at(row) = text;
    if (o->kind == OPT_REALS || o->kind == OPT_INTS) arg_list(state, o, name, text, at);
    if (o->kind == OPT_SHARD) arg_shard(state, name, text, at);
    if (o->kind == OPT_OTHER) o->parse(state, o, text, row->base);
}

/* ---- what the members contain ------------------------------------------------------------------ */

bool cli_option_set(const cli_row *row) {
    const cli_option *o = row->option;
    const char *at = row->base + o->at;
    int length;
    if (o->kind == OPT_POSITIVE) return real_at(row) > 0;
    if (is_real(o->kind))
        return isfinite(real_at(row)) &&
               (!(o->min < o->max) || (real_at(row) >= o->min && real_at(row) <= o->max));
    if (cli_kind_is_name(o->kind)) return *name_at(row) != NULL;
    switch (o->kind) {
    case OPT_FLAG: return int_at(row) == flag_of(o);
    case OPT_INT: return int_at(row) >= (int64_t)o->min && int_at(row) <= max_of(o);
    case OPT_CHOICE:
        return int_at(row) >= o->value &&
               cli_option_word(o->words, (int)int_at(row) - o->value, &length);
    case OPT_REALS:
    case OPT_INTS: return list_at(row)->count > 0;
    case OPT_SHARD: return ((const int64_t *)(const void *)at)[1] > 0;
    case OPT_HEADING: return false;
    case OPT_SEED: return true;
    default: /* OPT_OTHER, OPT_WORDS, OPT_REST: not zero */
        for (size_t i = 0; i < o->size; i++)
            if (at[i]) return true;
        return false;
    }
}

static char *list_text(const cli_option *o, const list *l) {
    char *text = malloc((size_t)l->count * 32 + 1);
    int used = 0;
    for (int64_t i = 0; text && i < l->count; i++) {
        if (i > 0) text[used++] = ',';
        used += o->kind == OPT_REALS
                    ? io_real_text(((const double *)l->values)[i], text + used)
                    : sprintf(text + used, "%lld", (long long)((const int64_t *)l->values)[i]);
    }
    return text;
}

char *cli_option_text(const cli_row *row) {
    const cli_option *o = row->option;
    char text[64] = "";
    int length;
    if (o->kind == OPT_OTHER) return o->text ? o->text(row->base) : NULL;
    if (!cli_option_set(row)) return NULL;
    if (cli_kind_is_name(o->kind)) return strdup(*name_at(row));
    if (o->kind == OPT_REALS || o->kind == OPT_INTS) return list_text(o, list_at(row));
    if (o->kind == OPT_CHOICE) {
        const char *word = cli_option_word(o->words, (int)int_at(row) - o->value, &length);
        return strndup(word, (size_t)length);
    }
    if (o->kind == OPT_INT) snprintf(text, sizeof text, "%lld", (long long)int_at(row));
    if (o->kind == OPT_SEED) snprintf(text, sizeof text, "%llu", (unsigned long long)int_at(row));
    if (is_real(o->kind)) io_real_text(real_at(row), text);
    return *text ? strdup(text) : NULL;
}

/* "raw_basis" out of "raw-basis". */
static void key_of(const cli_option *o, char key[CLI_NAME]) {
    const char letter[] = { o->letter, 0 };
    snprintf(key, CLI_NAME, "%s",
             o->key      ? o->key
             : o->name   ? o->name
             : o->letter ? letter
                         : o->arg);
    for (char *at = key; !o->key && *at; at++)
        if (*at == '-') *at = '_';
}

void cli_option_json(io_json *j, const cli_row *row) {
    const cli_option *o = row->option;
    const list *l = list_at(row);
    char name[CLI_NAME];
    key_of(o, name);
    const bool inverted = name[0] == '!';
    const char *key = name + inverted;
    if (o->kind == OPT_FLAG) {
        io_json_bool(j, key, cli_option_set(row) != inverted);
    } else if (o->kind == OPT_INT && o->size > sizeof(int64_t)) {
        io_json_ints(j, key, (const void *)(row->base + o->at),
                     (int64_t)(o->size / sizeof(int64_t)));
    } else if (o->kind == OPT_INT) {
        io_json_int(j, key, int_at(row));
    } else if (o->kind == OPT_SEED) {
        io_json_uint(j, key, (uint64_t)int_at(row));
    } else if (is_real(o->kind) && o->size == sizeof(float)) {
        io_json_float(j, key, *(const float *)(const void *)(row->base + o->at));
    } else if (is_real(o->kind) && o->size > sizeof(double)) {
        io_json_doubles(j, key, (const void *)(row->base + o->at),
                        (int64_t)(o->size / sizeof(double)));
    } else if (is_real(o->kind)) {
        io_json_double(j, key, real_at(row));
    } else if (o->kind == OPT_REALS) {
        io_json_doubles(j, key, l->values, l->count);
    } else {
        char *text = cli_option_text(row);
        cli_json_word(j, key, text);
        free(text);
    }
}

void cli_json_word(io_json *j, const char *key, const char *word) {
    io_json_string(j, key, word && *word ? word : NULL);
}

void cli_json_results(io_json *j, const cli_option *rows, const void *of) {
    for (; rows->kind != OPT_END; rows++) {
        const cli_row row = { rows, (char *)(uintptr_t)of };
        if (of)
            cli_option_json(j, &row);
        else
            io_json_null(j, rows->name);
    }
}

bool cli_enough_rows(int64_t *rows) {
    enum { ROWS = 10000 }; /* a tenth of a second */
    return cli_interrupted() && ++*rows > ROWS;
}

void cli_json_result_list(io_json *j, const char *key, const cli_option *rows, const void *of,
                          size_t size, int64_t count) {
    int64_t late = 0;
    io_json_array(j, key);
    for (int64_t i = 0; i < count && !cli_enough_rows(&late); i++) {
        io_json_object_line(j, NULL);
        cli_json_results(j, rows, (const char *)of + (size_t)i * size);
        io_json_close(j);
    }
    io_json_close(j);
}

double cli_result_number(const cli_option *rows, int i, const void *of) {
    const cli_row row = { &rows[i], (char *)(uintptr_t)of };
    return is_real(row.option->kind) ? real_at(&row) : (double)int_at(&row);
}

int cli_csv_result_list(const char *path, const cli_option *rows, const void *of, size_t size,
                        int64_t count) {
    io_out *out;
    io_error err;
    const int status = io_out_open(path, &out, &err);
    if (status != IO_OK) return cli_io(status, &err);
    FILE *file = io_out_file(out);
    char text[32];
    int64_t late = 0;
    for (int k = 0; rows[k].kind != OPT_END; k++) fprintf(file, "%s%s", k ? "," : "", rows[k].name);
    putc('\n', file);
    for (int64_t i = 0; i < count; i++) {
        const void *at = (const char *)of + (size_t)i * size;
        if (cli_enough_rows(&late)) {
            io_out_abandon(out);
            return CLI_INTERRUPTED;
        }
        for (int k = 0; rows[k].kind != OPT_END; k++) {
            const cli_row row = { &rows[k], (char *)(uintptr_t)at };
            char *word =
                is_real(rows[k].kind) || rows[k].kind == OPT_INT ? NULL : cli_option_text(&row);
            if (k) putc(',', file);
            if (!word) io_real_text(cli_result_number(rows, k, at), text);
            io_csv_text(file, word ? word : text);
            free(word);
        }
        putc('\n', file);
    }
    return cli_io(io_out_commit(out, &err), &err);
}

/* ---- names ------------------------------------------------------------------------------------ */

const char *cli_type_name(shoal_type type) { return type == SHOAL_F32 ? "f32" : "f64"; }

const char *cli_triangle_name(shoal_triangle triangle) {
    return triangle == SHOAL_UPPER ? "upper" : "lower";
}
