/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate_files.c - files of `shoal train` and `shoal predict`: tables of prices, models, weights.
 */
#include "surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/npy.h"

#define MODEL_LIMIT ((int64_t)64 << 20)
#define SIGMAS      8 /* standard errors that a price may lie outside of its bounds */

int surrogate_wrong(const surrogate_table *t, int64_t row, const char *column, double value,
                    const char *reason) {
    if (!t->path && t->nu2 > 0 && strcmp(column, "beta") == 0)
        return cli_fail(CLI_USAGE, "--nu2: %.6g makes beta %.6g, which %s", t->nu2, value, reason);
    if (!t->path) return cli_fail(CLI_USAGE, "--%s: %.6g %s", column, value, reason);
    return cli_fail(CLI_INPUT, "%s:%lld: column %s: %.6g %s", t->path,
                    (long long)io_csv_line(t->path, row), column, value, reason);
}

const char *surrogate_infeasible(const char *name, double value) {
    const bool above = strcmp(name, "strike") == 0 || strcmp(name, "maturity") == 0;
    const bool least = strcmp(name, "alpha") == 0 || strncmp(name, "nu2", 3) == 0;
    if (above && !(value > 0)) return "is not above 0";
    if (least && !(value >= 0)) return "is less than 0";
    if (strcmp(name, "rho") == 0 && !(fabs(value) <= 1)) return "is not from -1 to 1";
    return NULL;
}

int surrogate_input(const surrogate_table *t, const char *name) {
    for (int i = 0; i < t->inputs; i++)
        if (strcmp(t->names[i], name) == 0) return i;
    return -1;
}

static int check_price(const surrogate_table *t, int64_t row) {
    const double price = t->price[row], room = SIGMAS * t->error[row] + 1e-9;
    const int strike = surrogate_input(t, "strike");
    if (t->error[row] < 0)
        return surrogate_wrong(t, row, "stderr", t->error[row], "is less than 0");
    if (t->error[row] > 1)
        return surrogate_wrong(t, row, "stderr", t->error[row],
                               "is above 1, but prices are from 0 to 1");
    if (price > 1 + room)
        return surrogate_wrong(t, row, "price", price, "is above 1, the price of the asset");
    const double inner = strike < 0 ? 0 : 1 - t->x[row * t->inputs + strike];
    if (price < (inner > 0 ? inner : 0) - room)
        return surrogate_wrong(t, row, "price", price, "is below the payoff at today's price, 1");
    return CLI_OK;
}

static int check_rows(const surrogate_table *t) {
    int code = CLI_OK;
    for (int64_t row = 0; row < t->rows && code == CLI_OK; row++) {
        for (int i = 0; i < t->inputs && code == CLI_OK; i++) {
            const double value = t->x[row * t->inputs + i];
            const char *reason = surrogate_infeasible(t->names[i], value);
            if (reason) code = surrogate_wrong(t, row, t->names[i], value, reason);
        }
        if (code == CLI_OK && t->price) code = check_price(t, row);
    }
    return code;
}

static bool is_target(const char *name) {
    return strcmp(name, "price") == 0 || strcmp(name, "stderr") == 0;
}

int surrogate_name_is_free(const char *where, const char *name) {
    static const char taken[] =
        "price stderr dprice_dstrike dprice_dmaturity mc_price mc_stderr model params "
        "output export type rows seed outside target_se most_paths errors errors_by "
        "paths seconds arbitrage network_seconds command monte_carlo_seconds device "
        "version backend interrupted prices_per_second typical_error";
    if (!cli_among(taken, name)) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s %s: this name is taken by a result of shoal predict", where,
                    name);
}

/* A name that fits into a model file, on a terminal, and beside those of results. */
static int check_name(const char *path, const char *name) {
    if (strlen(name) >= SHOAL_SURROGATE_NAME)
        return cli_fail(CLI_INPUT, "%s:1: column %s: the name is longer than %d bytes", path, name,
                        SHOAL_SURROGATE_NAME - 1);
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127) {
            char quoted[IO_QUOTE_SIZE];
            return cli_fail(CLI_INPUT, "%s:1: column %s: the name has control characters", path,
                            io_quote(name, strlen(name), quoted));
        }
    char where[4096];
    snprintf(where, sizeof where, "%s:1: column", path);
    return surrogate_name_is_free(where, name);
}

/* Which columns become inputs: a column of row numbers would be one, too. */
static void note_inputs(const cli *c, const io_table *csv, const surrogate_table *t,
                        const int *column) {
    char text[SHOAL_SURROGATE_INPUTS * (SHOAL_SURROGATE_NAME + 2)] = "";
    for (int i = 0; i < t->inputs; i++) {
        if (i > 0) strcat(text, ", ");
        strcat(text, csv->names[column[i]]);
    }
    cli_note(c, "%s: inputs are %s", t->path, text);
}

/* Which columns are inputs; a note on those that nobody reads. */
static int choose(const cli *c, const io_table *csv, const char *const *names, int count,
                  surrogate_table *t, int *column) {
    if (!names)
        for (int i = 0; i < csv->cols; i++) {
            if (is_target(csv->names[i])) continue;
            if (t->inputs == SHOAL_SURROGATE_INPUTS)
                return cli_fail(CLI_INPUT, "%s: more than %d inputs", t->path,
                                SHOAL_SURROGATE_INPUTS);
            const int code = check_name(t->path, csv->names[i]);
            if (code != CLI_OK) return code;
            column[t->inputs++] = i;
        }
    if (!names && t->inputs > 0) note_inputs(c, csv, t, column);
    for (int i = 0; names && i < count; i++) {
        column[i] = io_table_column(csv, names[i]);
        if (column[i] < 0)
            return cli_fail(CLI_INPUT, "%s:1: column %s is missing", t->path, names[i]);
        t->inputs++;
    }
    for (int i = 0; names && i < csv->cols; i++) {
        bool read = is_target(csv->names[i]);
        for (int k = 0; k < count; k++) read = read || column[k] == i;
        if (!read) cli_note(c, "%s: column %s is ignored", t->path, csv->names[i]);
    }
    return t->inputs > 0 ? CLI_OK : cli_fail(CLI_INPUT, "%s: no column is an input", t->path);
}

static double *column_of(const io_table *csv, int column) {
    double *values = malloc((size_t)(csv->rows + 1) * sizeof *values);
    for (int64_t row = 0; values && row < csv->rows; row++)
        values[row] = csv->data[row * csv->cols + column];
    return values;
}

static int fill(const io_table *csv, const int *column, int price, int error, surrogate_table *t) {
    bool good = true;
    t->rows = csv->rows;
    t->x = malloc((size_t)(csv->rows + 1) * (size_t)t->inputs * sizeof *t->x);
    for (int i = 0; i < t->inputs; i++) {
        t->names[i] = strdup(csv->names[column[i]]);
        good = good && t->names[i];
        for (int64_t row = 0; t->x && row < csv->rows; row++)
            t->x[row * t->inputs + i] = csv->data[row * csv->cols + column[i]];
    }
    if (price >= 0 && error >= 0) {
        t->price = column_of(csv, price), t->error = column_of(csv, error);
        good = good && t->price && t->error;
    }
    return good && t->x ? CLI_OK : cli_no_memory();
}

int surrogate_read(const cli *c, const char *path, const char *const *names, int count, bool priced,
                   surrogate_table *table) {
    io_table csv;
    io_error err;
    int column[SHOAL_SURROGATE_INPUTS];
    *table = (surrogate_table){ .path = path };
    int code = cli_io(io_csv_read(path, &csv, &err), &err);
    if (code != CLI_OK) return code;
    const int price = io_table_column(&csv, "price"), error = io_table_column(&csv, "stderr");
    if (priced && (price < 0 || error < 0))
        code =
            cli_fail(CLI_INPUT, "%s:1: column %s is missing", path, price < 0 ? "price" : "stderr");
    if (code == CLI_OK) code = choose(c, &csv, names, count, table, column);
    if (code == CLI_OK) code = fill(&csv, column, price, error, table);
    if (code == CLI_OK) code = check_rows(table);
    io_table_free(&csv);
    return code;
}

/* Squares of inputs are added. */
static int check_size(const surrogate_table *t) {
    for (int64_t i = 0; i < t->rows * t->inputs; i++)
        if (fabs(t->x[i]) > 1e100)
            return surrogate_wrong(t, i / t->inputs, t->names[i % t->inputs], t->x[i],
                                   "is beyond 1e100, too large for an input");
    return CLI_OK;
}

/* A network takes the logarithm of alpha where all that it is trained on are above 0: then the others have
 * to be. */
static int check_alpha(const surrogate_table *train, int64_t rows, const surrogate_table *held) {
    const int alpha = surrogate_input(train, "alpha");
    bool positive = alpha >= 0;
    for (int64_t row = 0; row < rows && positive; row++)
        positive = train->x[row * train->inputs + alpha] > 0;
    for (int64_t row = held == train ? rows : 0; positive && row < held->rows; row++) {
        const double value = held->x[row * held->inputs + alpha];
        if (!(value > 0))
            return surrogate_wrong(held, row, "alpha", value,
                                   "is not above 0, but all rows of the training set are");
    }
    return CLI_OK;
}

int surrogate_suits(const surrogate_table *train, int64_t rows, const surrogate_table *held,
                    const char *target) {
    static const char *const needed[] = { "strike", "maturity" };
    const bool volatility = !target || strcmp(target, "volatility") == 0;
    for (int i = 0; i < 2 && volatility; i++)
        if (surrogate_input(train, needed[i]) < 0)
            return cli_fail(CLI_INPUT, "%s:1: column %s is missing; the target volatility needs it",
                            train->path, needed[i]);
    if (rows < 2)
        return cli_fail(CLI_INPUT, "%s: too few rows for training: %lld; at least 2 are needed",
                        train->path, (long long)rows);
    int code = check_size(train);
    if (code == CLI_OK && held != train) code = check_size(held);
    if (code != CLI_OK) return code;
    bool same = true;
    for (int64_t i = train->inputs; i < rows * train->inputs && same; i++)
        same = train->x[i] == train->x[i % train->inputs];
    if (same)
        return cli_fail(CLI_INPUT, "%s: all rows have the same inputs: there is nothing to learn",
                        train->path);
    return check_alpha(train, rows, held);
}

void surrogate_table_free(surrogate_table *t) {
    for (int i = 0; i < t->inputs; i++) free(t->names[i]);
    free(t->x);
    free(t->price);
    free(t->error);
    *t = (surrogate_table){ 0 };
}

/* ---- outputs, models ---------------------------------------------------------------------------- */

int surrogate_load(cli *c, const char *path, shoal_surrogate **net) {
    char *bytes;
    size_t size;
    io_error err;
    *net = NULL;
    const int code = cli_io(io_file_read(path, MODEL_LIMIT, &bytes, &size, &err), &err);
    if (code != CLI_OK) return code;
    const shoal_status status = shoal_surrogate_load(c->ctx, bytes, size, net);
    free(bytes);
    if (status == SHOAL_E_ARG) return cli_fail(CLI_INPUT, "%s: %s", path, shoal_message(c->ctx));
    return cli_status(c, status);
}

int surrogate_save(cli *c, const char *path, const shoal_surrogate *net) {
    size_t size = 0;
    io_out *out;
    io_error err;
    int code = cli_status(c, shoal_surrogate_save(net, NULL, &size));
    void *bytes = code == CLI_OK ? malloc(size) : NULL;
    if (code == CLI_OK && !bytes) code = cli_no_memory();
    if (code == CLI_OK) code = cli_status(c, shoal_surrogate_save(net, bytes, &size));
    if (code == CLI_OK) code = cli_io(io_out_open(path, &out, &err), &err);
    if (code == CLI_OK) {
        fwrite(bytes, 1, size, io_out_file(out));
        code = cli_io(io_out_commit(out, &err), &err);
    }
    free(bytes);
    return code;
}

static void export_list(io_npz *z, const char *name, const double *values, int64_t count) {
    const io_array array = {
        .type = IO_F8, .ndim = 1, .shape = { count }, .data = (void *)(uintptr_t)values
    };
    io_npz_array(z, name, &array);
}

/* As torch.nn.Linear has them: weights (neurons, inputs). */
static bool export_layer(io_npz *z, const shoal_surrogate *net, int layer) {
    int inputs, neurons;
    const double *w, *b;
    char name[32];
    if (shoal_surrogate_layer(net, layer, &inputs, &neurons, &w, &b) != SHOAL_OK) return false;
    double *turned = malloc((size_t)inputs * (size_t)neurons * sizeof *turned);
    if (!turned) return false;
    for (int o = 0; o < neurons; o++)
        for (int i = 0; i < inputs; i++) turned[o * inputs + i] = w[i * neurons + o];
    const io_array array = {
        .type = IO_F8, .ndim = 2, .shape = { neurons, inputs }, .data = turned
    };
    snprintf(name, sizeof name, "layer%d.weight", layer);
    io_npz_array(z, name, &array);
    snprintf(name, sizeof name, "layer%d.bias", layer);
    export_list(z, name, b, neurons);
    free(turned);
    return true;
}

int surrogate_export(cli *c, const char *path, const shoal_surrogate *net) {
    shoal_surrogate_info info;
    io_npz *z;
    io_error err;
    int code = cli_status(c, shoal_surrogate_describe(net, &info));
    if (code == CLI_OK) code = cli_io(io_npz_open(path, &z, &err), &err);
    if (code != CLI_OK) return code;
    const double output[] = { info.out_shift, info.out_scale };
    io_npz_strings(z, "names", info.names, info.inputs, SHOAL_SURROGATE_NAME);
    io_npz_strings(z, "maps", info.map, info.inputs, 8);
    io_npz_strings(z, "target", &info.target, 1, 16);
    export_list(z, "shift", info.shift, info.inputs);
    export_list(z, "scale", info.scale, info.inputs);
    export_list(z, "least", info.least, info.inputs);
    export_list(z, "most", info.most, info.inputs);
    export_list(z, "output", output, 2);
    bool good = true;
    for (int layer = 0; layer <= info.layers; layer++) good = good && export_layer(z, net, layer);
    code = cli_io(io_npz_close(z, &err), &err);
    return good || code != CLI_OK ? code : cli_no_memory();
}
