/* SPDX-License-Identifier: Apache-2.0
 *
 * layers.cu - networks of prices on the GPU, layer by layer, by matrix products over a batch:
 * for networks too large for surrogate.cu, and for products by cuBLAS. Numbers lie in global
 * memory as [row][neuron]; behind the neurons of a layer stands a 1, so that biases, which
 * follow the weights, are one more row of the matrix:
 *
 *     z_l = [a_(l-1) 1] [W_l; b_l],   [dW_l; db_l] = [a_(l-1) 1]^T e_l,   e_(l-1) = (e_l W_l^T) f'(z_(l-1)).
 *
 * `multiply` makes 64 x 64 numbers per block of 256 threads, 4 x 4 per thread, from pieces 16
 * deep in shared memory. Gradients are sums over rows: a block of threads takes 128 rows and has
 * a gradient of its own, and the step adds them in their order; cuBLAS makes one. At most 16384
 * rows are at work at a time, larger batches and tables come in pieces. Cost: the multiply-adds
 * of surrogate.c, and each layer's numbers written and read three times (prices: once).
 */
#include "surrogate/surrogate.cuh"

namespace {

enum { TILE = 64, DEPTH = 16, MAX_ROWS = 1 << 14, SPLIT = 128, GROUP = 32 };

struct layers { /* in the job's memory */
    real *in, *act, *slope, *back, *lane;
    int64_t in_row, act_row;    /* numbers from row to row      */
    int64_t act_all, slope_all; /* and from layer to layer  */
};

static layers layers_of(const surrogate_net *n, int64_t rows, real *memory) {
    layers l;
    l.in_row = (n->inputs + 4) / 4 * 4, l.act_row = n->width + 4; /* with the 1 */
    l.act_all = rows * l.act_row, l.slope_all = rows * n->width;
    l.in = memory;
    l.act = l.in + rows * l.in_row;
    l.slope = l.act + n->layers * l.act_all;
    l.back = l.slope + n->layers * l.slope_all;
    l.lane = l.back + l.slope_all;
    return l;
}

__global__ static void __launch_bounds__(THREADS)
    inputs(surrogate_net n, surrogate_rows r, real *in, int64_t row_length) {
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t row = at / (n.inputs + 1);
    const int k = (int)(at % (n.inputs + 1));
    if (row >= r.count) return;
    in[row * row_length + k] =
        k < n.inputs ? input_of(n, r.x + surrogate_row(&r, row) * n.inputs, k) : (real)1;
}

/* a and f'(z) out of z, in place of it; and the 1. */
__global__ static void __launch_bounds__(THREADS)
    activate(int64_t rows, int width, real *act, int64_t row_length, real *slope) {
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, row = at / (width + 1);
    const int k = (int)(at % (width + 1));
    if (row >= rows) return;
    real *to = act + row * row_length + k;
    if (k == width) {
        *to = 1;
        return;
    }
    const real z = *to, g = gate_of(z), a = z * g;
    *to = a;
    slope[row * width + k] = g * (1 + z - a);
}

__global__ static void __launch_bounds__(THREADS)
    times(int64_t count, const real *back, real *slope) {
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) slope[at] *= back[at];
}

/* The last layer, prices, and the errors of the layer before it: one warp per row for the sums,
 * one thread per row for the price. */
template <int WHAT>
__global__ void __launch_bounds__(THREADS)
    finish(surrogate_net n, surrogate_rows r, const real *last, const real *act, int64_t row_length,
           real *slope, real *lane, double *loss) {
    SHOAL_SHARED_ARRAY(real, kept, GROUP);
    const int id = (int)threadIdx.x, width = n.width;
    double lost = 0;
    for (int64_t from = (int64_t)blockIdx.x * GROUP; from < r.count;
         from += (int64_t)gridDim.x * GROUP) {
        const int here = r.count - from < GROUP ? (int)(r.count - from) : (int)GROUP;
        for (int s = id / 32; s < here; s += WARPS) {
            const real *a = act + (from + s) * row_length;
            real sum = 0;
            for (int k = id % 32; k <= width; k += 32) sum = real_fma(last[k], a[k], sum);
            for (int distance = 16; distance > 0; distance /= 2)
                sum += __shfl_down_sync(0xffffffffu, sum, distance);
            if (id % 32 == 0) kept[s] = sum;
        }
        __syncthreads();
        if (id < here) lane[from + id] = kept[id] = settle<WHAT>(n, r, from + id, kept[id], lost);
        __syncthreads();
        for (int i = id; WHAT != VALUES && i < here * width; i += THREADS)
            slope[from * width + i] *= last[i % width] * kept[i / width];
        __syncthreads();
    }
    if (WHAT == LEARN && id < 32) add_loss(lost, loss + blockIdx.x);
}

/* dP/du du/dx of one input, added to its rows: one warp per row. */
__global__ static void __launch_bounds__(THREADS)
    through(surrogate_net n, surrogate_rows r, int input, const real *w, const real *error,
            double *to) {
    const int lane = (int)threadIdx.x % 32;
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= r.count) return;
    real sum = 0;
    for (int k = lane; k < n.width; k += 32)
        sum = real_fma(w[(int64_t)input * n.width + k], error[row * n.width + k], sum);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    const double x = r.x[surrogate_row(&r, row) * n.inputs + input];
    if (lane == 0) to[r.first + row] += (double)sum * inner_of(n, input, x);
}

/* A piece of a matrix, `along` x DEPTH, into shared memory as [depth][along]; zeros beyond its ends. */
__device__ static void bring(const real *from, int64_t along_step, int64_t depth_step, int first,
                             int most, int k, int end, real (*to)[TILE + 4]) {
    for (int i = (int)threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        /* neighbours read numbers that are next to each other */
        const int d = depth_step == 1 ? i % DEPTH : i / TILE;
        const int a = depth_step == 1 ? i / DEPTH : i % TILE;
        const bool there = first + a < most && k + d < end;
        to[d][a] = there ? from[(first + a) * along_step + (k + d) * depth_step] : (real)0;
    }
}

struct piece {
    real v[DEPTH][TILE + 4];
};

/* Blocks (x, y) make tiles; block z takes the z-th `split` of k, and its own c. */
__global__ static void __launch_bounds__(THREADS)
    multiply(surrogate_product p, int split, int64_t c_all) {
    SHOAL_SHARED(piece, pieces);
    const int id = (int)threadIdx.x, i = id / 16 * 4, j = id % 16 * 4;
    const int row = (int)blockIdx.y * TILE, column = (int)blockIdx.x * TILE;
    const int begin = (int)blockIdx.z * split, end = begin + split < p.k ? begin + split : p.k;
    real sum[4][4] = {};
    for (int k = begin; k < end; k += DEPTH) {
        bring((const real *)p.a, p.a_row, p.a_col, row, p.m, k, end, pieces[0].v);
        bring((const real *)p.b, p.b_col, p.b_row, column, p.n, k, end, pieces[1].v);
        __syncthreads();
#pragma unroll 4
        for (int d = 0; d < DEPTH; d++) {
            const quad u = *(const quad *)&pieces[0].v[d][i], v = *(const quad *)&pieces[1].v[d][j];
            for (int q = 0; q < 4; q++)
                for (int s = 0; s < 4; s++) sum[q][s] = real_fma(u.v[q], v.v[s], sum[q][s]);
        }
        __syncthreads();
    }
    real *c = (real *)p.c + blockIdx.z * c_all;
    for (int q = 0; q < 4 && row + i + q < p.m; q++)
        for (int s = 0; s < 4 && column + j + s < p.n; s++) {
            real *to = c + (int64_t)(row + i + q) * p.c_row + column + j + s;
            *to = p.add ? *to + sum[q][s] : sum[q][s];
        }
}

static unsigned pieces_of(int64_t count, int size) { return (unsigned)((count + size - 1) / size); }

struct matrix { /* number (i,k) at i * row + k * column */
    const real *at;
    int64_t row, column;
};

/* c = a b, m x n, over k, or with `add` added to it; split 0: all of k at once. */
static shoal_status product(const surrogate_job *j, int64_t m, int64_t n, int64_t k, matrix a,
                            matrix b, real *c, int64_t c_row, int add = 0, int split = 0,
                            int64_t c_all = 0) {
    const surrogate_product p = { (int)m,        (int)n,     (int)k,        a.at,
                                  b.at,          (int)a.row, (int)a.column, (int)b.row,
                                  (int)b.column, c,          (int)c_row,    add };
    if (j->blas) return shoal_surrogate_multiply(j->ctx, j->blas, &p);
    const dim3 grid(pieces_of(p.n, TILE), pieces_of(p.m, TILE), split ? pieces_of(p.k, split) : 1);
    SHOAL_LAUNCH(multiply, grid, dim3(THREADS), 2 * sizeof(piece), j->ctx->stream, p,
                 split ? split : p.k, c_all);
    return shoal_launched(j->ctx, "multiply");
}

/* What enters layer k, with the 1 behind each row. */
static matrix input_of_layer(const layers &l, int k) {
    return k > 0 ? matrix{ l.act + (k - 1) * l.act_all, l.act_row, 1 }
                 : matrix{ l.in, l.in_row, 1 };
}

static shoal_status forward(const surrogate_job *j, const surrogate_rows &r, const layers &l) {
    const surrogate_net &n = *j->net;
    const real *w = (const real *)j->weights;
    SHOAL_LAUNCH(inputs, dim3(pieces_of(r.count * (n.inputs + 1), THREADS)), dim3(THREADS), 0,
                 j->ctx->stream, n, r, l.in, l.in_row);
    for (int k = 0; k < n.layers; k++) {
        real *act = l.act + k * l.act_all;
        const matrix weights = { w + surrogate_offset(&n, k), n.width, 1 };
        const shoal_status s = product(j, r.count, n.width, surrogate_fan_in(&n, k) + 1,
                                       input_of_layer(l, k), weights, act, l.act_row);
        if (s != SHOAL_OK) return s;
        SHOAL_LAUNCH(activate, dim3(pieces_of(r.count * (n.width + 1), THREADS)), dim3(THREADS), 0,
                     j->ctx->stream, r.count, n.width, act, l.act_row, l.slope + k * l.slope_all);
    }
    return shoal_launched(j->ctx, "activate");
}

/* The errors of layer - 1, in the place of its slopes. */
static shoal_status error_before(const surrogate_job *j, int64_t rows, int layer, const layers &l) {
    const int width = j->net->width;
    real *slope = l.slope + layer * l.slope_all;
    const matrix turned = { (const real *)j->weights + surrogate_offset(j->net, layer), 1, width };
    const shoal_status s =
        product(j, rows, width, width, { slope, width, 1 }, turned, l.back, width);
    if (s != SHOAL_OK) return s;
    SHOAL_LAUNCH(times, dim3(pieces_of(rows * width, THREADS)), dim3(THREADS), 0, j->ctx->stream,
                 rows * width, (const real *)l.back, slope - l.slope_all);
    return shoal_launched(j->ctx, "times");
}

/* The gradient of a layer, out of its errors. */
static shoal_status gradient_of(const surrogate_job *j, int64_t rows, int layer, const layers &l,
                                int add, real *gradient) {
    const surrogate_net &n = *j->net;
    const int64_t neurons = surrogate_neurons(&n, layer);
    const matrix in = input_of_layer(l, layer);
    const matrix errors = { layer < n.layers ? l.slope + layer * l.slope_all : l.lane, neurons, 1 };
    return product(j, surrogate_fan_in(&n, layer) + 1, neurons, rows, { in.at, 1, in.row }, errors,
                   gradient + surrogate_offset(&n, layer), neurons, add, SPLIT, room_of(&n));
}

template <int WHAT>
static shoal_status finish_all(const surrogate_job *j, const surrogate_rows &r, const layers &l,
                               double *loss) {
    const surrogate_net &n = *j->net;
    const int64_t top = n.layers - 1, groups = pieces_of(r.count, GROUP);
    const int64_t blocks = groups < SURROGATE_SUMS ? groups : (int64_t)SURROGATE_SUMS;
    SHOAL_LAUNCH(finish<WHAT>, dim3((unsigned)blocks), dim3(THREADS), 0, j->ctx->stream, n, r,
                 (const real *)j->weights + surrogate_offset(&n, n.layers),
                 (const real *)(l.act + top * l.act_all), l.act_row, l.slope + top * l.slope_all,
                 l.lane, loss);
    return shoal_launched(j->ctx, "finish");
}

static shoal_status value_piece(const surrogate_job *j, const surrogate_rows &r, const layers &l) {
    const surrogate_net &n = *j->net;
    const real *w = (const real *)j->weights;
    shoal_status s = forward(j, r, l);
    if (!r.by_strike && !r.by_maturity)
        return s == SHOAL_OK ? finish_all<VALUES>(j, r, l, NULL) : s;
    if (s == SHOAL_OK) s = finish_all<DERIVATIVES>(j, r, l, NULL);
    for (int k = n.layers - 1; s == SHOAL_OK && k > 0; k--) s = error_before(j, r.count, k, l);
    if (s != SHOAL_OK) return s;
    const dim3 grid(pieces_of(r.count, WARPS));
    if (r.by_strike)
        SHOAL_LAUNCH(through, grid, dim3(THREADS), 0, j->ctx->stream, n, r, n.strike, w,
                     (const real *)l.slope, r.by_strike);
    if (r.by_maturity)
        SHOAL_LAUNCH(through, grid, dim3(THREADS), 0, j->ctx->stream, n, r, n.maturity, w,
                     (const real *)l.slope, r.by_maturity);
    return shoal_launched(j->ctx, "through");
}

static shoal_status learn_piece(const surrogate_job *j, const surrogate_rows &r, const layers &l,
                                int add, real *gradient, double *loss) {
    shoal_status s = forward(j, r, l);
    if (s == SHOAL_OK) s = finish_all<LEARN>(j, r, l, loss);
    for (int k = j->net->layers; s == SHOAL_OK && k >= 0; k--) {
        s = gradient_of(j, r.count, k, l, add, gradient);
        if (s == SHOAL_OK && k > 0 && k < j->net->layers) s = error_before(j, r.count, k, l);
    }
    return s;
}

static int64_t piece_rows(int64_t rows) { return rows < MAX_ROWS ? rows : (int64_t)MAX_ROWS; }

static surrogate_rows piece_at(const surrogate_rows *all, int64_t from) {
    surrogate_rows r = *all;
    r.first += from, r.count = piece_rows(all->count - from);
    return r;
}

} // namespace

static int64_t blocks_of(const surrogate_job *j, int64_t rows) {
    return j->blas ? 1 : (piece_rows(rows) + SPLIT - 1) / SPLIT;
}

static size_t scratch(const surrogate_job *j, int64_t rows) {
    const surrogate_net *n = j->net;
    const int a_row = (n->inputs + 4) / 4 * 4 + n->layers * (2 * n->width + 4) + n->width + 1;
    return (size_t)(piece_rows(rows) * a_row) * sizeof(real);
}

static shoal_status values(const surrogate_job *j, const surrogate_rows *all) {
    const layers l = layers_of(j->net, piece_rows(all->count), (real *)j->memory);
    shoal_status s = SHOAL_OK;
    for (int64_t from = 0; s == SHOAL_OK && from < all->count; from += MAX_ROWS)
        s = value_piece(j, piece_at(all, from), l);
    return s;
}

static shoal_status learn(const surrogate_job *j, const surrogate_rows *all, void *gradient,
                          double *loss) {
    const layers l = layers_of(j->net, piece_rows(all->count), (real *)j->memory);
    shoal_status s = SHOAL_OK;
    for (int64_t from = 0; s == SHOAL_OK && from < all->count; from += MAX_ROWS)
        s = learn_piece(j, piece_at(all, from), l, from > 0, (real *)gradient, loss);
    return s;
}

static shoal_status open_blas(shoal_context *ctx, const surrogate_blas **blas) {
    return shoal_surrogate_open_blas(ctx, sizeof(real), blas);
}

extern "C" const surrogate_method R(surrogate_layers) = {
    sizeof(real), NULL, room_of, blocks_of, scratch,   NULL,
    values,       NULL, learn,   step,      open_blas, shoal_surrogate_close_blas
};
