/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_files.c - reads what `shoal recur` is given and makes it fit together.
 *
 * What reads as numbers with commas between them is numbers, everything else the name of a file. A
 * file decides n and count; where there is none, --n and --count do.
 */
#include "recur_files.h"

#include <stdlib.h>
#include <string.h>

#include "io/text.h"

enum { S, T, W0, INPUTS, MOST = 4 };

typedef struct input {
    const char *option, *text; /* "--s"; NULL: not given */
    double numbers[MOST];
    int count;  /* of numbers; 0: it is a file */
    int wanted; /* numbers a row               */
    cli_array *file;
} input;

/* 0 where the text is not a list of at most MOST numbers. */
static int read_numbers(const char *text, double *numbers) {
    int count = 0;
    for (const char *at = text;; count++) {
        const size_t size = strcspn(at, ",");
        if (count == MOST || !io_text_double(at, size, &numbers[count])) return 0;
        if (at[size] == 0) return count + 1;
        at += size + 1;
    }
}

static int open_input(input *in) {
    if (!in->text) return CLI_OK;
    in->count = read_numbers(in->text, in->numbers);
    if (in->count == 0) return cli_array_read(in->file, in->text);
    if (in->count == in->wanted) return CLI_OK;
    return cli_fail(CLI_USAGE, "%s has %d number%s, but a row has %d", in->option, in->count,
                    in->count == 1 ? "" : "s", in->wanted);
}

static bool is_file(const input *in) { return in->text && in->count == 0; }

/* The axes of a file without its last one, where rows have several numbers. */
static int row_axes(const input *in, int *ndim) {
    const io_array *a = &in->file->a;
    char text[96];
    *ndim = a->ndim - (in->wanted > 1);
    const bool last = in->wanted == 1 || (a->ndim > 0 && a->shape[a->ndim - 1] == in->wanted);
    if ((*ndim == 1 || *ndim == 2) && last) return CLI_OK;
    if (in->wanted > 1)
        return cli_fail(CLI_INPUT,
                        "%s has shape %s; it is (n, %d) or has one more axis for the segments",
                        in->text, io_shape_text(a->ndim, a->shape, text, sizeof text), in->wanted);
    return cli_fail(CLI_INPUT, "%s has shape %s; it is (n,) or has one more axis for the segments",
                    in->text, io_shape_text(a->ndim, a->shape, text, sizeof text));
}

/* n and count from s and t, or from the options. */
static int find_shape(const recur_given *in, const input *inputs, recur_batch *batch) {
    const input *first = is_file(&inputs[S]) ? &inputs[S] : is_file(&inputs[T]) ? &inputs[T] : NULL;
    const bool interleaved = in->layout == SHOAL_INTERLEAVED;
    if (!first) {
        if (in->n < 0) return cli_fail(CLI_USAGE, "--n is missing: neither --s nor --t is a file");
        batch->ndim = in->count >= 0 ? 2 : 1;
        const int64_t count = in->count >= 0 ? in->count : 1;
        batch->shape.n = in->n, batch->shape.count = count;
        batch->axes[0] = batch->ndim == 1 || interleaved ? in->n : count;
        batch->axes[1] = interleaved ? count : in->n;
        return CLI_OK;
    }
    if (in->n >= 0 || in->count >= 0)
        return cli_fail(CLI_USAGE, "--n and --count are for numbers; %s says how many there are",
                        first->text);
    for (int i = S; i <= T; i++) {
        int ndim;
        if (!is_file(&inputs[i])) continue;
        int code = row_axes(&inputs[i], &ndim);
        if (code != CLI_OK) return code;
        const io_array *a = &inputs[i].file->a;
        bool same = ndim == batch->ndim || &inputs[i] == first;
        for (int k = 0; k < ndim && same && &inputs[i] != first; k++)
            same = a->shape[k] == batch->axes[k];
        if (!same)
            return cli_array_misfit(inputs[i].file, first->file,
                                    "s and t have the same rows; s of order R > 1, or Moebius, has "
                                    "one more last axis");
        batch->ndim = ndim;
        for (int k = 0; k < ndim; k++) batch->axes[k] = a->shape[k];
    }
    const bool several = batch->ndim == 2;
    batch->shape.n = batch->axes[several && !interleaved];
    batch->shape.count = several ? batch->axes[interleaved] : 1;
    return CLI_OK;
}

static int check_first_values(const input *w0, const recur_batch *batch) {
    char text[96];
    if (!is_file(w0)) return CLI_OK;
    const io_array *a = &w0->file->a;
    const int64_t numbers = batch->shape.count * w0->wanted;
    const bool last = w0->wanted == 1 || (a->ndim > 0 && a->shape[a->ndim - 1] == w0->wanted);
    if (io_array_count(a) == numbers && last) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s has shape %s; it holds %d number%s for each of %lld segments",
                    w0->text, io_shape_text(a->ndim, a->shape, text, sizeof text), w0->wanted,
                    w0->wanted == 1 ? "" : "s", (long long)batch->shape.count);
}

/* One type: that of the files, or the one asked for. */
static int find_type(const cli *c, const recur_given *in, const input *inputs, recur_batch *batch) {
    cli_array *files[INPUTS];
    int count = 0;
    for (int i = 0; i < INPUTS; i++)
        if (is_file(&inputs[i])) files[count++] = inputs[i].file;
    batch->shape.type = in->type;
    if (count == 0) return CLI_OK;
    int code = cli_array_unify(c, files, count, &batch->shape.type);
    if (code == CLI_OK && in->type_given && batch->shape.type != in->type)
        code = cli_fail(CLI_USAGE, "--type is for numbers; %s holds %s", files[0]->path,
                        cli_type_name(batch->shape.type));
    return code;
}

/* The array of an input: the file's own, or its numbers once for each segment. */
static int fill(const input *in, const recur_batch *batch, void **array, int64_t *numbers) {
    *numbers = 0;
    if (is_file(in)) {
        *array = in->file->a.data;
        *numbers = io_array_count(&in->file->a);
        return CLI_OK;
    }
    *numbers = batch->shape.count * in->wanted;
    *array = calloc((size_t)*numbers + 1, sizeof(double));
    if (!*array) return cli_no_memory();
    for (int64_t i = 0; i < *numbers && in->text; i++)
        if (batch->shape.type == SHOAL_F32)
            ((float *)*array)[i] = (float)in->numbers[i % in->wanted];
        else
            ((double *)*array)[i] = in->numbers[i % in->wanted];
    return CLI_OK;
}

int recur_read(const cli *c, const recur_given *in, recur_batch *batch) {
    const int width = in->moebius ? 4 : in->order;
    input inputs[INPUTS] = {
        { .option = "--s", .text = in->s, .wanted = width, .file = &batch->file[S] },
        { .option = "--t", .text = in->t, .wanted = 1, .file = &batch->file[T] },
        { .option = "--w0", .text = in->w0, .wanted = in->order, .file = &batch->file[W0] }
    };
    int code = CLI_OK;
    for (int i = 0; i < INPUTS && code == CLI_OK; i++) code = open_input(&inputs[i]);
    if (code == CLI_OK) code = find_shape(in, inputs, batch);
    if (code == CLI_OK) code = check_first_values(&inputs[W0], batch);
    if (code == CLI_OK) code = find_type(c, in, inputs, batch);
    if (code != CLI_OK) return code;
    batch->shape.order = in->order;
    batch->shape.form = in->moebius ? SHOAL_RECUR_MOEBIUS : SHOAL_RECUR_LINEAR;
    batch->shape.reverse = in->reverse;
    batch->shape.layout = in->layout;
    batch->shape.constant_s = !is_file(&inputs[S]);
    batch->shape.constant_t = !is_file(&inputs[T]) && !in->moebius;
    code = fill(&inputs[S], batch, &batch->s, &batch->s_numbers);
    if (code == CLI_OK) code = fill(&inputs[T], batch, &batch->t, &batch->t_numbers);
    if (code == CLI_OK) code = fill(&inputs[W0], batch, &batch->w0, &batch->w0_numbers);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

void recur_free(recur_batch *batch) {
    void *const arrays[] = { batch->s, batch->t, batch->w0 };
    for (int i = 0; i < INPUTS; i++) {
        if (arrays[i] != batch->file[i].a.data) free(arrays[i]);
        io_array_free(&batch->file[i].a);
    }
}
