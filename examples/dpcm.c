/* SPDX-License-Identifier: Apache-2.0
 *
 * dpcm.c - a DPCM codec: 1080 lines of 1920 samples, encoded one after another, decoded all at
 * once by a linear recurrence on the GPU if there is one, else on the CPU.
 *
 *     cc dpcm.c $(pkg-config --cflags --libs shoal) -o dpcm
 *
 * The encoder predicts each sample from the decoded sample before it and keeps the rounded difference:
 * e[i] = round((x[i] - rho y[i-1]) / step). The decoder is y[i] = rho y[i-1] + step e[i]: a recurrence
 * with a constant s, one segment per line. Each y[i] is within step / 2 of x[i] for any length of the
 * line, because the encoder uses decoded samples.
 */
#include <shoal/shoal.h>
#include <stdio.h>

enum { WIDTH = 1920, LINES = 1080, ALL = WIDTH * LINES };
static const float rho = 0.9375f, step = 2; /* exact in binary, as is step e[i] */
static float image[ALL], difference[ALL], decoded[ALL], prediction[LINES];

static float distance(float a, float b) { return a > b ? a - b : b - a; }
static float nearest(float a) { return (float)(int)(a < 0 ? a - 0.5f : a + 0.5f); }

static float sample(int line, int i) { /* a picture of folded stripes, 0 to 255 */
    const int across = i % 510, down = (i + 3 * line) % 340;
    return 0.6f * distance(255, (float)across) + 0.6f * distance(170, (float)down);
}

static void encode(const float *x, float *scaled) {
    float y = 0;
    for (int i = 0; i < WIDTH; i++) {
        scaled[i] = step * nearest((x[i] - rho * y) / step);
        y = rho * y + scaled[i];
    }
}

int main(void) {
    for (int line = 0; line < LINES; line++) {
        prediction[line] = rho;
        for (int i = 0; i < WIDTH; i++) image[line * WIDTH + i] = sample(line, i);
        encode(image + line * WIDTH, difference + line * WIDTH);
    }

    shoal_context *ctx;
    shoal_recur_opts shape = { .n = WIDTH, .count = LINES, .type = SHOAL_F32, .constant_s = 1 };
    shoal_recur *plan = NULL;
    shoal_recur_info info = { 0 };
    float *s = NULL, *t = NULL;
    shoal_status status = shoal_open(NULL, &ctx);
    if (!status) status = shoal_alloc(ctx, sizeof prediction, (void **)&s);
    if (!status) status = shoal_alloc(ctx, sizeof difference, (void **)&t);
    if (!status) status = shoal_copy(ctx, s, prediction, sizeof prediction);
    if (!status) status = shoal_copy(ctx, t, difference, sizeof difference);
    if (!status) status = shoal_recur_create(ctx, &shape, &plan);
    if (!status) status = shoal_recur_solvef(plan, s, t, NULL, t); /* in place, from y[-1] = 0 */
    if (!status) status = shoal_recur_last(plan, &info);
    if (!status) status = shoal_copy(ctx, decoded, t, sizeof decoded);

    float worst = 0, largest = 0;
    for (int i = 0; i < ALL; i++) {
        const float error = distance(decoded[i], image[i]),
                    size = distance(difference[i], 0) / step;
        worst = error > worst ? error : worst;
        largest = size > largest ? size : largest;
    }
    if (status)
        fprintf(stderr, "%s: %s\n", shoal_status_text(status), shoal_message(ctx));
    else
        printf("%d lines by %s: differences to %.0f, errors to %.3f of %.3f allowed\n", LINES,
               info.method, largest, worst, step / 2);
    shoal_recur_free(plan);
    shoal_free(ctx, s);
    shoal_free(ctx, t);
    shoal_close(ctx);
    return status || info.failed || worst > step / 2 + 1e-3f;
}
