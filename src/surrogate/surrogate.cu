/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.cu - networks of prices on the GPU, all layers in one kernel: a block of 256 threads
 * has 64 rows (32 in training, or if 64 are too many) in shared memory, number s of neuron r at
 * [r][s]. It takes them through all layers to the prices, and back for derivatives or gradients;
 * the formulas are in surrogate.c. Of global memory it reads rows and weights, and writes
 * prices, or the block's gradient.
 *
 *     forward   z[n][s] = b[n] + sum over k of w[k][n] a[k][s]    4 neurons x 4 (or 2) rows per thread
 *     back      e'[k][s] = sum over n of w[k][n] e[n][s]          the same; e' takes the place of f'(z)
 *     outer     dw[k][n] = sum over s of a[k][s] e[n][s]          4 x 4 numbers per thread
 *
 * In `back` and `outer` a thread's four neurons are a quarter of the layer apart, and rows of
 * matrices in shared memory 16 bytes longer than their numbers: what neighbouring threads read
 * lies in different banks. A thread has 16 multiply-adds for 2 loads of four numbers (of 32
 * rows: 8). The weights are all in shared memory, loaded once per block, or, if that is too much,
 * layer by layer. Batches of more than 256 x 32 rows give a block several groups of rows, one
 * after the other, always the same ones: sums have one order. What does not fit into shared
 * memory either way is for layers.cu.
 */
#include "surrogate/surrogate.cuh"

namespace {

enum { GROUPS = 16 };             /* of rows: a thread has one of them                           */
enum { PAD = 16 / sizeof(real) }; /* numbers                                                     */
enum { MANY_ROWS = 64, FEW_ROWS = 32 };

struct places { /* in shared memory, counted in numbers */
    int in, act, slope, lane, part, last, area, end;
    int layer; /* numbers of a layer's neurons */
};

SHOAL_HD static inline int padded(int numbers) { return (numbers + 3) / 4 * 4; }

SHOAL_HD static inline places places_of(const surrogate_net &n, int rows, int what, int whole) {
    places p;
    const int wide = n.width + PAD, fan_in = n.inputs > n.width ? n.inputs : n.width;
    p.layer = n.width * (rows + PAD);
    p.in = 0;
    p.act = n.inputs * (rows + PAD);
    p.slope = p.act + (what == LEARN ? n.layers : 2) * p.layer;
    p.lane = p.slope + (what == VALUES ? 0 : n.layers) * p.layer;
    p.part = p.lane + rows;
    p.last = p.part + THREADS;
    p.area = p.last + padded(n.width + 1);
    p.end = p.area + (whole ? n.inputs + 1 + (n.layers - 1) * (n.width + 1) : fan_in + 1) * wide;
    return p;
}

template <int COUNT> struct alignas(COUNT * sizeof(real) < 16 ? COUNT * sizeof(real) : 16) few {
    real v[COUNT];
};

/* One layer's weights and biases into shared memory. */
__device__ static void stage(const surrogate_net &n, const real *weights, int layer, real *to) {
    const int quads = n.width / 4, rows = (int)surrogate_fan_in(&n, layer) + 1;
    const real *from = weights + surrogate_offset(&n, layer);
    for (int i = (int)threadIdx.x; i < rows * quads; i += THREADS)
        *(quad *)(to + i / quads * (n.width + PAD) + i % quads * 4) = ((const quad *)from)[i];
}

struct block {
    const surrogate_net &n;
    const real *weights;
    int whole;
    real *area, *last; /* weights of layers; of the last one        */
    int group, column; /* this thread's: of rows, of four neurons   */
};

/* The weights of a layer in shared memory; everybody calls it. */
__device__ static const real *layer_of(const block &b, int layer) {
    if (b.whole) {
        const int before = layer > 0 ? b.n.inputs + 1 + (layer - 1) * (b.n.width + 1) : 0;
        return b.area + before * (b.n.width + PAD);
    }
    __syncthreads();
    stage(b.n, b.weights, layer, b.area);
    __syncthreads();
    return b.area;
}

template <int ROWS>
__device__ static void forward(const block &b, const real *w, const real *in, int inputs, real *act,
                               real *slope) {
    enum { SPAN = ROWS / GROUPS, STRIDE = ROWS + PAD };
    typedef few<SPAN> some;
    const int wide = b.n.width + PAD;
    for (int at = b.column * 4; at < b.n.width; at += 4 * (THREADS / GROUPS)) {
        const quad bias = *(const quad *)(w + inputs * wide + at);
        real sum[4][SPAN];
        for (int i = 0; i < 4; i++)
            for (int s = 0; s < SPAN; s++) sum[i][s] = bias.v[i];
#pragma unroll 4
        for (int k = 0; k < inputs; k++) {
            const quad factor = *(const quad *)(w + k * wide + at);
            const some v = *(const some *)(in + k * STRIDE + b.group * SPAN);
            for (int i = 0; i < 4; i++)
                for (int s = 0; s < SPAN; s++) sum[i][s] = real_fma(factor.v[i], v.v[s], sum[i][s]);
        }
        for (int i = 0; i < 4; i++) {
            some value, steep;
            for (int s = 0; s < SPAN; s++) {
                const real z = sum[i][s], g = gate_of(z);
                value.v[s] = z * g;
                steep.v[s] = g * (1 + z - value.v[s]);
            }
            const int to = (at + i) * STRIDE + b.group * SPAN;
            *(some *)(act + to) = value;
            if (slope) *(some *)(slope + to) = steep;
        }
    }
}

/* Turns the slopes of the layer before into its errors. */
template <int ROWS>
__device__ static void back(const block &b, const real *w, const real *error, real *slope) {
    enum { SPAN = ROWS / GROUPS, STRIDE = ROWS + PAD };
    typedef few<SPAN> some;
    const int wide = b.n.width + PAD, apart = b.n.width / 4;
    for (int at = b.column; at < apart; at += THREADS / GROUPS) {
        real sum[4][SPAN] = {};
        for (int k = 0; k < b.n.width; k += 4) {
            quad factor[4];
            for (int i = 0; i < 4; i++)
                factor[i] = *(const quad *)(w + (at + i * apart) * wide + k);
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const some v = *(const some *)(error + (k + q) * STRIDE + b.group * SPAN);
                for (int i = 0; i < 4; i++)
                    for (int s = 0; s < SPAN; s++)
                        sum[i][s] = real_fma(factor[i].v[q], v.v[s], sum[i][s]);
            }
        }
        for (int i = 0; i < 4; i++) {
            some *to = (some *)(slope + (at + i * apart) * STRIDE + b.group * SPAN);
            some value = *to;
            for (int s = 0; s < SPAN; s++) value.v[s] *= sum[i][s];
            *to = value;
        }
    }
}

__device__ static inline void put(real *to, real value, int add) {
    *to = add ? *to + value : value;
}

/* The gradient of a layer: of its weights, then of its biases. */
__device__ static void outer(const real *in, int inputs, const real *error, int width, real *to,
                             int add) {
    enum { STRIDE = FEW_ROWS + PAD };
    const int apart = width / 4, down = (inputs + 3) / 4;
    for (int tile = (int)threadIdx.x; tile < apart * down; tile += THREADS) {
        const int o = tile % apart, i = tile / apart;
        real sum[4][4] = {};
        for (int s = 0; s < FEW_ROWS; s += 4) {
            quad u[4], v[4];
            for (int q = 0; q < 4; q++) {
                const int row = i + q * down < inputs ? i + q * down : inputs - 1;
                u[q] = *(const quad *)(in + row * STRIDE + s);
                v[q] = *(const quad *)(error + (o + q * apart) * STRIDE + s);
            }
#pragma unroll
            for (int l = 0; l < 4; l++)
                for (int q = 0; q < 4; q++)
                    for (int p = 0; p < 4; p++)
                        sum[q][p] = real_fma(u[q].v[l], v[p].v[l], sum[q][p]);
        }
        for (int q = 0; q < 4 && i + q * down < inputs; q++)
            for (int p = 0; p < 4; p++)
                put(to + (i + q * down) * width + o + p * apart, sum[q][p], add);
    }
    for (int o = (int)threadIdx.x; o < width; o += THREADS) {
        real sum = 0;
        for (int s = 0; s < FEW_ROWS; s++) sum += error[o * STRIDE + s];
        put(to + inputs * width + o, sum, add);
    }
}

/* sum over k of w[k] in[k][s] for every row s, in its thread s; everybody calls it. As many
 * parts for any number of rows: prices are the same with derivatives and without. */
template <int ROWS>
__device__ static real combine(const real *w, const real *in, int inputs, real *part) {
    enum { PARTS = THREADS / MANY_ROWS };
    const int s = (int)threadIdx.x % ROWS, first = (int)threadIdx.x / ROWS;
    real sum = 0;
    for (int k = first; first < PARTS && k < inputs; k += PARTS)
        sum = real_fma(w[k], in[k * (ROWS + PAD) + s], sum);
    __syncthreads(); /* the last sums have been read */
    part[threadIdx.x] = sum;
    __syncthreads();
    sum = part[s];
    for (int p = 1; p < PARTS; p++) sum += part[p * ROWS + s];
    return sum;
}

/* Adds what goes through an input, dP/du du/dx, to its row; everybody calls it. */
template <int ROWS>
__device__ static void through(const block &b, const surrogate_rows &r, int64_t from, const real *w,
                               int input, const real *error, real *part, double *to) {
    const double sum = (double)combine<ROWS>(w + input * (b.n.width + PAD), error, b.n.width, part);
    const int64_t at = from + threadIdx.x;
    if ((int)threadIdx.x >= ROWS || at >= r.count) return;
    const double x = r.x[surrogate_row(&r, at) * b.n.inputs + input];
    to[r.first + at] += sum * inner_of(b.n, input, x);
}

template <int ROWS, int WHAT>
__global__ void __launch_bounds__(THREADS)
    fused(surrogate_net n, surrogate_rows r, const real *weights, real *gradient, double *loss,
          int whole) {
    enum { STRIDE = ROWS + PAD };
    SHOAL_SHARED(real, shared);
    const places p = places_of(n, ROWS, WHAT, whole);
    real *in = shared + p.in, *act = shared + p.act, *slope = shared + p.slope;
    real *lane = shared + p.lane, *part = shared + p.part, *last = shared + p.last;
    const int id = (int)threadIdx.x, width = n.width, top = n.layers - 1;
    const block b = {
        n, weights, whole, shared + p.area, last, id % 8 + id / 32 % 2 * 8, id / 8 % 4 + id / 64 * 4
    };
    double lost = 0;
    int add = 0; /* to the gradient of the rows before */
    if (WHAT == LEARN) gradient += blockIdx.x * surrogate_offset(&n, n.layers + 1);
    for (int64_t from = (int64_t)blockIdx.x * ROWS; from < r.count;
         from += (int64_t)gridDim.x * ROWS, add = 1) {
        for (int i = id; i < ROWS * n.inputs; i += THREADS) {
            const int64_t at = from + i / n.inputs < r.count ? from + i / n.inputs : r.count - 1;
            in[i % n.inputs * STRIDE + i / n.inputs] =
                input_of(n, r.x + surrogate_row(&r, at) * n.inputs, i % n.inputs);
        }
        /* Up to here nothing was read that a kernel writes: rows, and their order, are brought
         * by shoal_copy(), and those that a caller has on the device are waited for by the one
         * that brings the weights; it returns when the stream is empty. Weights are written by
         * the kernel before this one. */
        if (!add) {
            shoal_grid_dependency_wait();
            for (int l = 0; whole && l < n.layers; l++)
                stage(n, weights, l, shared + p.area + (layer_of(b, l) - b.area));
            for (int k = id; k <= width; k += THREADS)
                last[k] = weights[surrogate_offset(&n, n.layers) + k];
        }
        __syncthreads();
        const real *before = in;
        for (int l = 0; l < n.layers; l++) {
            real *here = act + (WHAT == LEARN ? l : l % 2) * p.layer;
            forward<ROWS>(b, layer_of(b, l), before, l > 0 ? width : n.inputs, here,
                          WHAT == VALUES ? NULL : slope + l * p.layer);
            __syncthreads();
            before = here;
        }
        const real u = combine<ROWS>(last, before, width, part) + last[width];
        if (id < ROWS)
            lane[id] = from + id < r.count ? settle<WHAT>(n, r, from + id, u, lost) : (real)0;
        __syncthreads();
        if (WHAT == VALUES) continue; /* the next rows' barriers part them from these */
        real *error = slope + top * p.layer;
        if (WHAT == LEARN) {
            real *to = gradient + surrogate_offset(&n, n.layers);
            for (int k = id; k <= width; k += THREADS) {
                real sum = 0;
                for (int s = 0; s < ROWS; s++)
                    sum = real_fma(k < width ? before[k * STRIDE + s] : (real)1, lane[s], sum);
                put(to + k, sum, add);
            }
        }
        for (int i = id; i < width * ROWS; i += THREADS) /* of the last layer */
            error[i / ROWS * STRIDE + i % ROWS] *= last[i / ROWS] * lane[i % ROWS];
        __syncthreads();
        for (int l = top; l >= 0; l--) {
            if (WHAT == LEARN)
                outer(l > 0 ? act + (l - 1) * p.layer : in, l > 0 ? width : n.inputs,
                      slope + l * p.layer, width, gradient + surrogate_offset(&n, l), add);
            if (l == 0) break;
            back<ROWS>(b, layer_of(b, l), slope + l * p.layer, slope + (l - 1) * p.layer);
            __syncthreads();
        }
        if (WHAT == DERIVATIVES) {
            const real *w = layer_of(b, 0);
            if (r.by_strike) through<ROWS>(b, r, from, w, n.strike, slope, part, r.by_strike);
            if (r.by_maturity) through<ROWS>(b, r, from, w, n.maturity, slope, part, r.by_maturity);
        }
        __syncthreads();
    }
    if (WHAT == LEARN && id < 32) add_loss(lost, loss + blockIdx.x);
}

__global__ static void __launch_bounds__(THREADS)
    outside_ranges(surrogate_ranges range, int inputs, int64_t rows, const double *x,
                   uint32_t *outside) {
    SHOAL_GRID_STRIDE(i, rows)
    outside[i] = surrogate_outside(&range, inputs, x + i * inputs);
}

} // namespace

static shoal_status outside(shoal_context *ctx, const surrogate_ranges *range, int inputs,
                            int64_t rows, const double *x, uint32_t *to) {
    SHOAL_LAUNCH(outside_ranges, dim3(shoal_blocks(rows, THREADS)), dim3(THREADS), 0, ctx->stream,
                 *range, inputs, rows, x, to);
    return shoal_launched(ctx, "outside_ranges");
}

static size_t bytes_of(const surrogate_net *n, int rows, int what, int whole) {
    return (size_t)places_of(*n, rows, what, whole).end * sizeof(real);
}

static int fits(const shoal_context *ctx, const surrogate_net *n) {
    return bytes_of(n, FEW_ROWS, LEARN, 0) <= shoal_max_shared(ctx) &&
           bytes_of(n, FEW_ROWS, DERIVATIVES, 0) <= shoal_max_shared(ctx);
}

static int64_t blocks_of(const surrogate_job *, int64_t rows) {
    const int64_t blocks = (rows + FEW_ROWS - 1) / FEW_ROWS;
    return blocks < SURROGATE_SUMS ? blocks : (int64_t)SURROGATE_SUMS;
}

static size_t scratch(const surrogate_job *, int64_t) { return 0; }

/* All weights at once, unless a multiprocessor has two blocks only without. blocks 0: as many as
 * are at work together, so that each loads weights once for many rows. */
template <int ROWS, int WHAT>
static shoal_status launch(const surrogate_job *j, const surrogate_rows *r, int64_t blocks,
                           void *gradient, double *loss) {
    const size_t most = shoal_max_shared(j->ctx), all = bytes_of(j->net, ROWS, WHAT, 1);
    const size_t one = bytes_of(j->net, ROWS, WHAT, 0);
    const int whole = 2 * all <= most || (all <= most && 2 * one > most);
    const size_t bytes = whole ? all : one;
    shoal_allow_shared(j->ctx, fused<ROWS, WHAT>);
    if (blocks == 0) {
        const int64_t needed = (r->count + ROWS - 1) / ROWS;
        int each = 1;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, fused<ROWS, WHAT>, THREADS, bytes);
        blocks = (int64_t)(each > 0 ? each : 1) * j->ctx->multiprocessors;
        blocks = needed < blocks ? needed : blocks;
    }
    SHOAL_LAUNCH_EARLY((fused<ROWS, WHAT>), dim3((unsigned)blocks), dim3(THREADS), bytes,
                       j->ctx->stream, *j->net, *r, (const real *)j->weights, (real *)gradient,
                       loss, whole);
    return shoal_launched(j->ctx, "surrogate");
}

template <int WHAT>
static shoal_status any_values(const surrogate_job *j, const surrogate_rows *r) {
    return bytes_of(j->net, MANY_ROWS, WHAT, 0) <= shoal_max_shared(j->ctx)
               ? launch<MANY_ROWS, WHAT>(j, r, 0, NULL, NULL)
               : launch<FEW_ROWS, WHAT>(j, r, 0, NULL, NULL);
}

static shoal_status values(const surrogate_job *j, const surrogate_rows *r) {
    return r->by_strike || r->by_maturity ? any_values<DERIVATIVES>(j, r)
                                          : any_values<VALUES>(j, r);
}

static shoal_status learn(const surrogate_job *j, const surrogate_rows *r, void *gradient,
                          double *loss) {
    return launch<FEW_ROWS, LEARN>(j, r, blocks_of(j, r->count), gradient, loss);
}

extern "C" const surrogate_method R(surrogate) = { sizeof(real), fits, room_of, blocks_of,
                                                   scratch,      NULL, values,  outside,
                                                   learn,        step, NULL,    NULL };
