/* SPDX-License-Identifier: Apache-2.0
 *
 * train.c - `shoal train`.
 */
#include "surrogate.h"

#include <math.h>
#include <stdlib.h>

#include "io/svg.h"

enum { HELD_BACK = 10 }; /* one row of so many, the last ones, where there is no validation set */

typedef struct arguments {
    const char *train, *validation, *output, *plot, *export;
    shoal_surrogate_opts o;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { NULL,         OPT_INPUT,    AT(train),      "TRAIN", 0, "prices to learn", .needed = "the prices to learn" },
    { "validation", OPT_INPUT,    AT(validation), "V.csv", 1, "prices that decide when to stop", .usual = "the last tenth of TRAIN" },
    { "output",     OPT_OUTPUT,   AT(output),     "MODEL", 1, "the model file", .letter = 'o', .needed = "where to write the model" },
    { "target",     OPT_TEXT,     AT(o.target),   "T",     2, "what the network learns: volatility (Black-Scholes) or price", .usual = "volatility", .suggest = "volatility|price" },
    { "layers",     OPT_INT,      AT(o.layers),   "L",     2, "hidden layers", 1, SHOAL_SURROGATE_LAYERS, .usual = "3" },
    { "width",      OPT_INT,      AT(o.width),    "N",     2, "neurons per layer, a multiple of 8", 8, SHOAL_SURROGATE_WIDTH, .usual = "64" },
    { "epochs",     OPT_INT,      AT(o.epochs),   "N",     3, "passes through the data", 1, 1000000, .key = "most_epochs", .in = IN_JSON },
    { "batch",      OPT_INT,      AT(o.batch),    "N",     3, "rows per step", 1, 1 << 20, .in = IN_JSON },
    { "patience",   OPT_INT,      AT(o.patience), "N",     3, "stop after N epochs without a better validation error", 1, 1000000, .usual = "a quarter of the epochs", .in = IN_JSON },
    { "rate",       OPT_POSITIVE, AT(o.rate),     "R",     3, "initial learning rate; a cosine lowers it to a hundredth", .in = IN_JSON },
    { "floor",      OPT_POSITIVE, AT(o.floor),    "E",     3, "rows have weights proportional to 1/(stderr^2 + E^2)", .in = IN_JSON },
    { "type",       OPT_CHOICE,   AT(o.type),     "T",     3, "arithmetic: f32 or f64", .words = CLI_TYPES, .in = IN_JSON },
    { "gemm",       OPT_TEXT,     AT(o.gemm),     "G",     3, "matrix products on CUDA: fused (all layers in one kernel), own or cublas", .usual = "fused; own if the network is too large", .suggest = "fused|own|cublas", .in = IN_JSON,
      .more = "cuBLAS is opened at run time. If it does not open, or SHOAL_NO_CUBLAS=1 forbids it, the exit code is 69." },
    { "plot",       OPT_OUTPUT,   AT(plot),       "F.svg", 4, "plot the error of each epoch", .ends = "svg" },
    { "export",     OPT_OUTPUT,   AT(export),     "W.npz", 4, "write the weights for NumPy", .ends = "npz" },
    { 0 }
};

static const char doc[] =
    "Trains a network on prices of calls (of an asset at price 1, without interest) and writes it to a model file. TRAIN is a .csv "
    "file: columns price and stderr are learnt, all others are inputs.\vThe same seed gives the same network on one backend, for "
    "any number of threads. Ctrl-C ends the training; the best network so far is written. docs/surrogate-network.md describes the "
    "method.\n\n"
    "Example:\n"
    "  shoal train train.csv -o expou.net --plot loss.svg\n"
    "  shoal train train.csv --validation v.csv --epochs 100 -o expou.net\n"
    "  shoal train train.csv --batch 4096 --backend cuda -o expou.net";
/* clang-format on */

/* ---- progress of the passes ----------------------------------------------------------------- */

typedef struct history {
    int64_t count;
    double *epoch, *train, *validation;
    char label[96];
    cli_progress bar;
} history;

static int record_epoch(void *of, const shoal_surrogate_epoch *e) {
    history *h = of;
    h->epoch[h->count] = (double)e->epoch;
    h->train[h->count] = e->train, h->validation[h->count++] = e->validation;
    snprintf(h->label, sizeof h->label, "error %.3g, validation %.3g, best %.3g", e->train,
             e->validation, e->best);
    return cli_interrupted();
}

static int plot(const char *path, const history *h) {
    const io_series series[] = { { "training", h->count, h->epoch, h->train, .no_markers = true },
                                 { "validation", h->count, h->epoch, h->validation,
                                   .no_markers = true } };
    const io_chart chart = { "Training",        "weighted root mean square of price errors",
                             "epoch",           "error",
                             IO_LINEAR,         IO_LOG10,
                             .series_count = 2, .series = series };
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
}

/* ---- the result ------------------------------------------------------------------------------------ */

static const char *const ends[] = { "done", "early", "stopped", "diverged" };

static int print(cli *c, const arguments *a, const surrogate_table *t, int64_t held,
                 const history *h, const shoal_surrogate_info *n, const shoal_surrogate_result *r,
                 double seconds) {
    const bool diverged = r->end == SHOAL_SURROGATE_DIVERGED; /* there is an object, no table */
    const double speed = (double)(t->rows * r->epochs) / seconds;
    if (c->json) {
        io_json *j = cli_json_begin(c, "train");
        io_json_uint(j, "seed", c->seed);
        io_json_string(j, "train", a->train);
        io_json_string(j, "validation_set", a->validation);
        io_json_string(j, "model", diverged ? NULL : a->output);
        io_json_string(j, "plot", h->count > 0 ? a->plot : NULL);
        io_json_string(j, "export", diverged ? NULL : a->export);
        io_json_int(j, "rows", t->rows);
        io_json_int(j, "validation_rows", held);
        io_json_array_line(j, "inputs");
        for (int i = 0; i < n->inputs; i++) io_json_string(j, NULL, n->names[i]);
        io_json_close(j);
        io_json_string(j, "target", n->target);
        io_json_int(j, "layers", n->layers);
        io_json_int(j, "width", n->width);
        io_json_int(j, "weights", n->weights);
        cli_json_options(j, c, &train_command, a);
        io_json_string(j, "end", ends[r->end]);
        io_json_int(j, "epochs", r->epochs);
        io_json_int(j, "best_epoch", r->best_epoch);
        io_json_double(j, "validation", r->validation);
        io_json_double(j, "training_seconds", seconds);
        io_json_double(j, "rows_per_second", speed);
        io_json_doubles(j, "training_error", h->train, h->count);
        io_json_doubles(j, "validation_error", h->validation, h->count);
        return cli_json_end(c, diverged ? CLI_FAILED : CLI_OK);
    }
    if (diverged) return CLI_FAILED;
    printf("network      %s, %d x %d neurons, %lld weights, target %s\n",
           CLI_COUNT(n->inputs, "input"), n->layers, n->width, (long long)n->weights, n->target);
    printf("data         %s for training, %lld for validation\n", CLI_COUNT(t->rows, "row"),
           (long long)held);
    printf("epochs       %lld, %s, best epoch %lld\n", (long long)r->epochs, ends[r->end],
           (long long)r->best_epoch);
    printf("error        %.3g on the validation set (weighted root mean square of prices)\n",
           r->validation);
    printf("time         %s, %.3g rows per second\n", CLI_TIME(seconds), speed);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

static shoal_surrogate_data data_of(const surrogate_table *t, int64_t first, int64_t rows) {
    return (shoal_surrogate_data){ .rows = rows,
                                   .inputs = t->inputs,
                                   .names = (const char *const *)t->names,
                                   .x = t->x + first * t->inputs,
                                   .price = t->price + first,
                                   .error = t->error + first };
}

/* Of training that diverged the picture alone. */
static int write_all(cli *c, const arguments *a, const history *h, const shoal_surrogate *net,
                     const shoal_surrogate_result *r) {
    const bool diverged = r->end == SHOAL_SURROGATE_DIVERGED;
    int code = CLI_OK;
    if (diverged)
        cli_fail(CLI_FAILED,
                 "training diverged in epoch %lld, no model is written: try a --rate below %g",
                 (long long)r->epochs, a->o.rate);
    else
        code = surrogate_save(c, a->output, net);
    const int drawn = a->plot && h->count > 0 ? plot(a->plot, h) : CLI_OK;
    if (code == CLI_OK && a->export && !diverged) code = surrogate_export(c, a->export, net);
    return code == CLI_OK ? drawn : code;
}

/* A message of the library, or one about the row that makes the network overflow. */
static int trained(cli *c, shoal_status status, const shoal_surrogate_result *r,
                   const surrogate_table *t, int64_t rows, const surrogate_table *held) {
    const bool validation = r->validation_row >= 0;
    const surrogate_table *of = validation ? held : t;
    const int64_t row = validation ? r->validation_row + (held == t ? rows : 0) : r->train_row;
    if (status != SHOAL_E_ARG || row < 0) return cli_status(c, status);
    return surrogate_wrong(of, row, of->names[r->input], of->x[row * of->inputs + r->input],
                           "is too far from the training rows: the network overflows");
}

static int run(cli *c, const arguments *a, surrogate_table *t, const surrogate_table *v) {
    const int64_t held = a->validation ? v->rows : t->rows / HELD_BACK;
    const int64_t rows = a->validation ? t->rows : t->rows - held;
    int code = surrogate_suits(t, rows, a->validation ? v : t, a->o.target);
    if (code != CLI_OK) return code;
    if (held < 2)
        return cli_fail(CLI_INPUT, "%s: too few rows for validation: %lld; at least 2 are needed",
                        a->validation ? a->validation : a->train, (long long)held);
    const shoal_surrogate_data train = data_of(t, 0, rows);
    const shoal_surrogate_data validation =
        a->validation ? data_of(v, 0, held) : data_of(t, rows, held);
    const size_t room = (size_t)a->o.epochs * sizeof(double);
    history h = { .label = "training",
                  .epoch = malloc(room),
                  .train = malloc(room),
                  .validation = malloc(room) };
    shoal_surrogate *net = NULL;
    shoal_surrogate_result r;
    shoal_surrogate_info info;
    if (!h.epoch || !h.train || !h.validation) code = cli_no_memory();
    cli_catch_interrupt();
    const double start = cli_now();
    cli_progress_begin(&h.bar, c, h.label, 1);
    h.bar.next = 1; /* all of it is one stage of the library */
    if (code == CLI_OK) {
        const shoal_status status =
            shoal_surrogate_train(c->ctx, &train, &validation, &a->o, record_epoch, &h, &net, &r);
        const bool kept = status == SHOAL_E_CANCELLED && net; /* the best epoch before Ctrl-C */
        code = trained(c, kept ? SHOAL_OK : status, &r, t, rows, a->validation ? v : t);
    }
    const double seconds = cli_now() - start;
    cli_progress_end(&h.bar);
    if (code == CLI_OK) code = write_all(c, a, &h, net, &r);
    if (code == CLI_OK) code = cli_status(c, shoal_surrogate_describe(net, &info));
    if (code == CLI_OK) {
        t->rows = rows;
        code = print(c, a, t, held, &h, &info, &r, seconds);
    }
    shoal_surrogate_free(net);
    free(h.epoch);
    free(h.train);
    free(h.validation);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = {
        .o = { .type = SHOAL_F32, .epochs = 300, .batch = 256, .rate = 4e-3, .floor = 1e-4 }
    };
    surrogate_table t = { 0 }, v = { 0 };
    int code = cli_parse(c, &train_command, argc, argv, &a);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = surrogate_read(c, a.train, NULL, 0, true, &t);
    if (code == CLI_OK && a.validation)
        code = surrogate_read(c, a.validation, (const char *const *)t.names, t.inputs, true, &v);
    a.o.seed = c->seed;
    if (!a.o.patience) a.o.patience = (a.o.epochs + 3) / 4;
    if (code == CLI_OK) code = run(c, &a, &t, &v);
    surrogate_table_free(&t);
    surrogate_table_free(&v);
    return code;
}

const cli_command train_command = {
    "train",        "train a network on simulated prices", .args = "TRAIN -o MODEL", .doc = doc,
    .run = command, .tables = { { options, 0 } }
};
