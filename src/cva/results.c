/* SPDX-License-Identifier: Apache-2.0
 *
 * results.c - results of a CVA from the rows of a run or from their sums (sums.c), and by trade from its totals.
 *
 * The rows are read in their order, once for means and once for the deviations from them; quantiles are exact:
 * their ranks are selected among the exposures of a date. Exposures of a counterparty are sums over its netting sets.
 *
 * A contract's contribution to the effective EPE is that to the exposure at the date on which the effective exposure
 * was reached.
 */
#include "core/loops.h"
#include "cva/results.h"
#include <stdlib.h>
#include <string.h>

/* 95 %: of the error, and of a bias as large as it is estimated. */
static void make_interval(double value, double error, double bias, double *low, double *high) {
    const double half = 1.959964 * sqrt(error * error + bias * bias);
    *low = value - half, *high = value + half;
}

/* Moves x[i] to where it were if x ascended, smaller numbers before it and larger ones behind it (C. A. R. Hoare's
 * selection); numbers before `from` are no larger than those behind. */
static double select_from(double *x, int64_t from, int64_t count, int64_t i) {
    for (int64_t to = count - 1; from < to;) {
        const double middle = x[from + (to - from) / 2];
        int64_t a = from, b = to;
        while (a <= b) {
            while (x[a] < middle) a++;
            while (x[b] > middle) b--;
            if (a > b) break;
            const double swapped = x[a];
            x[a++] = x[b], x[b--] = swapped;
        }
        if (i <= b)
            to = b;
        else if (i >= a)
            from = a;
        else
            break;
    }
    return x[i];
}

/* The number of a rank, from 1. `done`, 0 at first, is the last one: ranks are best asked for in ascending order. */
static double ranked(double *x, int64_t count, int64_t rank, int64_t *done) {
    const int64_t i = rank < 1 ? 0 : rank > count ? count - 1 : rank - 1;
    const double found = select_from(x, i < *done ? 0 : *done, count, i);
    *done = i;
    return found;
}

/* Numbers of the paths in order: the numbers, or counts of bins. */
typedef struct ordered {
    double *x;
    int64_t count, done; /* done: the last rank */
    cva_bins bins;       /* x NULL */
} ordered;

static double number_of_rank(ordered *o, int64_t rank) {
    if (o->x) return ranked(o->x, o->count, rank, &o->done);
    int64_t i = 0;
    for (int64_t below = o->bins.bin[0]; i < o->bins.count - 1 && below < rank;)
        below += o->bins.bin[++i];
    return shoal_cva_bin_value(&o->bins, i);
}

/* The sum of all behind a rank, which has been asked for. */
static double sum_behind(const ordered *o, int64_t rank) {
    double sum = 0;
    for (int64_t i = rank; o->x && i < o->count; i++) sum += o->x[i];
    int64_t left = o->count - rank;
    for (int64_t i = o->bins.count - 1; !o->x && left > 0; i--) {
        const int64_t here = o->bins.bin[i] < left ? o->bins.bin[i] : left;
        if (here > 0) sum += (double)here * shoal_cva_bin_value(&o->bins, i);
        left -= here;
    }
    return sum;
}

/* The exposure of rank ceil(q paths); the ranks of its 95 % interval are those of a binomial law, and noise of inner
 * paths widens it by what half of them change. */
static void make_quantile(ordered *all, ordered *half, int64_t hundredths, double *value,
                          double *low, double *high) {
    const int64_t paths = all->count, rank = (paths * hundredths + 99) / 100;
    const double q = 0.01 * (double)hundredths;
    const int64_t off = (int64_t)ceil(1.959964 * sqrt((double)paths * q * (1 - q)));
    *low = number_of_rank(all, rank - off);
    *value = number_of_rank(all, rank);
    const double shift = fabs(number_of_rank(half, rank) - *value);
    *low = fmax(*low - shift, 0);
    *high = number_of_rank(all, rank + off) + shift;
}

/* The mean of the largest 1 - q, the last of them by a part; its rank has been selected. */
static double shortfall(ordered *all, int64_t hundredths, double value) {
    const int64_t paths = all->count, rank = (paths * hundredths + 99) / 100;
    const double size = (double)paths * (1 - 0.01 * (double)hundredths);
    return (sum_behind(all, rank) + (size - (double)(paths - rank)) * value) / size;
}

/* ---- exposures of a date ------------------------------------------------------------------------- */

/* The means of a number at some dates; room: one per path and date, for rows. */
static void means_at(const cva_source *s, int64_t k, int64_t dates, int what, double *room,
                     double *mean, double *error) {
    if (s->samples) shoal_cva_take(s, k, dates, what, room);
    for (int64_t e = 0; e < dates; e++)
        mean[e] = s->samples ? shoal_cva_mean(room + e * s->paths, NULL, 1, s->paths, &error[e])
                             : shoal_cva_sum_at_date(s, k + e, what, &error[e]);
}

static double mean_at(const cva_source *s, int64_t k, int what, double *room, double *error) {
    double mean;
    means_at(s, k, 1, what, room, &mean, error);
    return mean;
}

/* A netting set of a source. */
static cva_source one_set(const cva_source *s, const int64_t *set) {
    cva_source one = *s;
    one.set = set, one.sets = 1, one.number = 1 + s->p->job.parties + *set;
    return one;
}

/* What a date adds to the CVA, with the mean exposure `epe`. */
static double date_cva(const cva_source *s, int64_t k, double epe, double *room) {
    const cva_job *j = &s->p->job;
    const int64_t party = s->set && s->sets > 0 ? j->party_of[s->set[0]] : 0;
    if (j->parties == 1 || s->set) return s->p->share[party * j->exposures + k] * epe;
    double sum = 0, ignored;
    for (int64_t set = 0; set < j->sets; set++) {
        const cva_source one = one_set(s, &set);
        sum += s->p->share[j->party_of[set] * j->exposures + k] *
               mean_at(&one, k, CVA_AT_OURS, room, &ignored);
    }
    return sum;
}

enum {
    COLUMNS = 2,
    DATES = 8,
    ROOM = 1 << 25
}; /* DATES: a worker's at a time, if there is ROOM numbers */

/* The numbers of `room`, from rows, or the bins of a date. */
static ordered in_order(const cva_source *s, int64_t k, int what, double *room) {
    ordered o = { .count = s->paths };
    if (!s->samples) {
        o.bins = shoal_cva_bins(s, k, what);
        return o;
    }
    for (int64_t i = 0; i < s->paths; i++) room[i] = fmax(room[i], 0);
    o.x = room;
    return o;
}

/* What is not a number of the paths, and what follows from the means. */
static void complete_date(const cva_source *s, int64_t k, double *room, shoal_cva_date *to) {
    const shoal_cva *p = s->p;
    make_interval(to->epe, to->epe_error, to->epe_bias, &to->epe_low, &to->epe_high);
    make_interval(to->ene, to->ene_error, to->ene_bias, &to->ene_low, &to->ene_high);
    to->time = cva_time(&p->job, p->job.exposed[k]);
    to->discount = exp(-cva_rate(&p->job, cva_between(&p->job, 0, p->job.exposed[k])));
    const int64_t party = s->set && s->sets > 0 ? p->job.party_of[s->set[0]] : 0;
    to->default_probability =
        s->set || p->job.parties == 1 ? p->chance[party * p->job.exposures + k] : NAN;
    const double share =
        p->job.parties == 1 || s->set ? p->share[party * p->job.exposures + k] : NAN;
    to->epe_default = to->epe, to->epe_default_error = to->epe_error;
    to->cva = p->job.wrong_way ? 0 : date_cva(s, k, to->epe, room);
    if (p->job.wrong_way) {
        to->cva = mean_at(s, k, CVA_AT_LOSS, room, &to->epe_default_error);
        to->epe_default = share > 0 ? to->cva / share : NAN;
        to->epe_default_error /= share > 0 ? share : NAN;
    }
    to->inner = p->job.inner[k];
}

static void make_ranks(ordered all, ordered half, shoal_cva_date *to) {
    make_quantile(&all, &half, 95, &to->pfe95, &to->pfe95_low, &to->pfe95_high);
    to->es95 = shortfall(&all, 95, to->pfe95);
    make_quantile(&all, &half, 99, &to->pfe99, &to->pfe99_low, &to->pfe99_high);
    to->es99 = shortfall(&all, 99, to->pfe99);
}

/* Dates of exposure from k on; room: COLUMNS numbers per path and date. */
static void make_dates(const cva_source *s, int64_t k, int64_t dates, double *room,
                       shoal_cva_date *to) {
    const int by_rule = !s->set && s->p->estimator != SHOAL_CVA_BY_INNER;
    const int64_t half = dates * s->paths;
    double mean[DATES], error[DATES];
    memset(to, 0, (size_t)dates * sizeof *to);
    means_at(s, k, dates, CVA_AT_OURS, room, mean, error);
    for (int64_t e = 0; e < dates; e++) to[e].epe = mean[e], to[e].epe_error = error[e];
    means_at(s, k, dates, CVA_AT_THEIRS, room, mean, error);
    for (int64_t e = 0; e < dates; e++) to[e].ene = mean[e], to[e].ene_error = error[e];
    if (!s->set) means_at(s, k, dates, CVA_AT_RULE, room, mean, error);
    for (int64_t e = 0; e < dates && !s->set; e++) to[e].epe_bias = fabs(mean[e]);
    if (by_rule) means_at(s, k, dates, CVA_AT_RULE_THEIRS, room, mean, error);
    for (int64_t e = 0; e < dates && by_rule; e++) to[e].ene_bias = fabs(mean[e]);
    for (int64_t e = 0; e < dates; e++) complete_date(s, k + e, room, &to[e]);
    if (s->samples) shoal_cva_take(s, k, dates, CVA_AT_WHOLE, room);
    if (s->samples) shoal_cva_take(s, k, dates, CVA_AT_HALF, room + half);
    for (int64_t e = 0; e < dates; e++) {
        double *mine = s->samples ? room + e * s->paths : room;
        make_ranks(in_order(s, k + e, CVA_AT_WHOLE, mine),
                   in_order(s, k + e, CVA_AT_HALF, mine + (s->samples ? half : 0)), &to[e]);
    }
}

static shoal_status make_profile(const cva_source *s, shoal_cva_date *profile) {
    const shoal_cva *p = s->p;
    const int64_t dates = p->job.exposures, each = s->samples ? COLUMNS * s->paths : 1;
    const int workers = dates < p->head.ctx->threads ? (int)dates : p->head.ctx->threads;
    int64_t at_once = workers > 0 ? (dates + workers - 1) / workers : 1;
    if (at_once > DATES) at_once = DATES;
    while (at_once > 1 && each * at_once * workers > ROOM) at_once--;
    double *room = malloc((size_t)(each * at_once * workers + 1) * sizeof *room);
    if (!room) return SHOAL_NO_MEMORY(p->head.ctx, "%lld exposures", (long long)s->paths);
#pragma omp parallel for num_threads(workers) schedule(static, 1)
    for (int worker = 0; worker < workers; worker++)
        for (int64_t k = worker * at_once; k < dates; k += workers * at_once)
            make_dates(s, k, dates - k < at_once ? dates - k : at_once,
                       room + each * at_once * worker, &profile[k]);
    free(room);
    return SHOAL_OK;
}

/* The book, from samples or from sums, the other of which is NULL. */
static shoal_status make_book(const shoal_cva *plan, const double *samples, const int64_t *sums,
                              int64_t paths, int from_sums, const void *result, const char *name,
                              cva_source *book) {
    const shoal_array given[] = { { from_sums ? "sums" : "samples",
                                    from_sums ? (const void *)sums : samples, 0 },
                                  { name, result, 0 } };
    shoal_status s = shoal_check_pointers(plan->head.ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_count(plan->head.ctx, "paths", paths, 1, SHOAL_CVA_OUTER);
    if (s == SHOAL_OK && from_sums) s = shoal_cva_has_sums(plan);
    *book = (cva_source){ .p = plan, .samples = samples, .sums = sums, .paths = paths };
    book->width = shoal_cva_width(plan);
    return s;
}

/* Of the book: the mean of a number of the path. */
static double mean_of_path(const cva_source *s, int what, double *error) {
    if (!s->samples) return shoal_cva_sum_of_path(s, what, error);
    const double *plain = what == CVA_OF_LEVELS ? s->samples + CVA_ROW_PLAIN : NULL;
    return shoal_cva_mean(s->samples + (what == CVA_OF_RULE ? CVA_ROW_RULE : CVA_ROW_CVA), plain,
                          s->width, s->paths, error);
}

static shoal_status make_result(const cva_source *s, shoal_cva_value *value,
                                shoal_cva_date *profile) {
    enum { ALL = 3 };
    const int what[ALL] = { CVA_OF_CVA, CVA_OF_LEVELS, CVA_OF_RULE },
              most = s->p->head.ctx->threads;
    double mean[ALL], error[ALL];
    ON_THREADS(most < ALL ? most : ALL, static, 1)
    for (int e = 0; e < ALL; e++) mean[e] = mean_of_path(s, what[e], &error[e]);
    *value = (shoal_cva_value){ .cva = mean[0], .error = error[0] };
    if (s->p->estimator == SHOAL_CVA_BY_INNER)
        value->inner_bias = -mean[1], value->inner_bias_error = error[1];
    else
        value->correction = mean[1], value->correction_error = error[1];
    value->rule_bias = mean[2], value->rule_bias_error = error[2];
    value->bias = fabs(value->inner_bias) + fabs(value->rule_bias);
    make_interval(value->cva, value->error, value->bias, &value->low, &value->high);
    return profile ? make_profile(s, profile) : SHOAL_OK;
}

shoal_status shoal_cva_result(const shoal_cva *plan, const double *samples, int64_t paths,
                              shoal_cva_value *value, shoal_cva_date *profile) {
    cva_source book;
    if (!plan) return SHOAL_E_ARG;
    const shoal_status s = make_book(plan, samples, NULL, paths, 0, value, "value", &book);
    return s == SHOAL_OK ? make_result(&book, value, profile) : s;
}

shoal_status shoal_cva_result_of_sums(const shoal_cva *plan, const int64_t *sums, int64_t paths,
                                      shoal_cva_value *value, shoal_cva_date *profile) {
    cva_source book;
    if (!plan) return SHOAL_E_ARG;
    const shoal_status s = make_book(plan, NULL, sums, paths, 1, value, "value", &book);
    return s == SHOAL_OK ? make_result(&book, value, profile) : s;
}

/* ---- adjustments --------------------------------------------------------------------------------- */

/* The years of the step to date of exposure k that are before `end`. */
static double step_before(const cva_job *j, int64_t k, double end) {
    const double from = k > 0 ? cva_time(j, j->exposed[k - 1]) : 0;
    return fmax(fmin(cva_time(j, j->exposed[k]), end) - from, 0);
}

static double time_mean(const cva_job *j, const double *x, int64_t stride) {
    double sum = 0;
    for (int64_t k = 0; k < j->exposures; k++) sum += step_before(j, k, INFINITY) * x[k * stride];
    return j->horizon > 0 ? sum / j->horizon : 0;
}

/* Effective EPE of a set with mean exposures x and an exposure `now` today; reached[k]: the date of the effective
 * exposure, -1 is today. */
static double effective(const cva_job *j, const double *x, double now, int64_t *reached) {
    double largest = now, sum = 0, years = 0;
    int64_t at = -1;
    for (int64_t k = 0; k < j->exposures; k++) {
        if (x[k] > largest) largest = x[k], at = k;
        const double step = step_before(j, k, 1);
        if (reached) reached[k] = at;
        sum += step * largest, years += step;
    }
    return years > 0 ? sum / years : 0;
}

/* What a set that is worth `pv` exposes us to today. */
static double exposure_now(const cva_job *j, int64_t set, double pv) {
    return cva_uncovered(j->csa ? &j->csa[set] : NULL, j->sign[set], 1, pv);
}

/* The effective EPE of all sets of a source; room: a number per path and date. */
static double effective_sum(const cva_source *s, const shoal_cva_date *profile, double *room) {
    const shoal_cva *p = s->p;
    const cva_job *j = &p->job;
    double sum = 0, ignored, *epe = room + (s->samples ? s->paths : 0);
    if (!j->list_by_set && j->sets != 1) return j->sets ? NAN : 0;
    for (int64_t n = 0; n < (s->set ? s->sets : j->sets); n++) {
        const int64_t set = s->set ? s->set[n] : n;
        const cva_source one = j->list_by_set ? one_set(s, &set) : *s;
        for (int64_t k = 0; k < j->exposures; k++)
            epe[k] =
                j->list_by_set ? mean_at(&one, k, CVA_AT_OURS, room, &ignored) : profile[k].epe;
        const double pv = p->present ? p->present[2 * (1 + j->parties + set)] : 0;
        sum += effective(j, epe, exposure_now(j, set, pv), NULL);
    }
    return sum;
}

static void make_adjustments(const cva_source *s, int64_t part, const shoal_cva_date *profile,
                             double *room, shoal_cva_adjustments *a) {
    const shoal_cva *p = s->p;
    const int64_t dates = p->job.exposures, stride = sizeof *profile / sizeof(double);
    struct {
        double *value, *error;
    } to[CVA_ADJUSTED] = { { &a->cva, &a->cva_error },
                           { &a->dva, &a->dva_error },
                           { &a->fca, &a->fca_error },
                           { &a->fba, &a->fba_error },
                           { &a->fva, &a->fva_error } };
    *a = (shoal_cva_adjustments){ .pv = NAN, .pv_error = NAN };
    if (p->present) a->pv = p->present[2 * part], a->pv_error = p->present[2 * part + 1];
    const int threads = p->head.ctx->threads;
    const int64_t rows = s->samples ? s->paths : 0;
    ON_THREADS(threads, static)
    for (int64_t i = 0; i < rows; i++)
        shoal_cva_of_path(s, s->samples + i * s->width, room + CVA_OF_PATH * i);
    ON_THREADS(threads < CVA_ADJUSTED ? threads : CVA_ADJUSTED, static, 1)
    for (int e = 0; e < CVA_ADJUSTED; e++)
        *to[e].value = s->samples
                           ? shoal_cva_mean(room + e, NULL, CVA_OF_PATH, s->paths, to[e].error)
                           : shoal_cva_sum_of_path(s, e, to[e].error);
    a->eepe = effective_sum(s, profile, room);
    for (int64_t k = 0; k < dates; k++) {
        const shoal_cva_date *d = &profile[k];
        a->pfe95 = fmax(a->pfe95, d->pfe95), a->pfe99 = fmax(a->pfe99, d->pfe99);
        a->es95 = fmax(a->es95, d->es95), a->es99 = fmax(a->es99, d->es99);
    }
    a->epe = time_mean(&p->job, &profile->epe, stride);
    a->ene = time_mean(&p->job, &profile->ene, stride);
}

/* `s` is the book, and becomes its part. */
static shoal_status adjust(cva_source *s, shoal_cva_part part, int64_t index,
                           shoal_cva_adjustments *result, shoal_cva_date *profile) {
    const shoal_cva *plan = s->p;
    shoal_context *ctx = plan->head.ctx;
    const cva_job *j = &plan->job;
    const int64_t most[] = { 1, j->parties, j->sets }, before[] = { 0, 1, 1 + j->parties };
    shoal_status status =
        shoal_check_count(ctx, "part", (int64_t)part, SHOAL_CVA_BOOK, SHOAL_CVA_SET);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "index", index, 0, most[part] - 1);
    if (status == SHOAL_OK && part != SHOAL_CVA_BOOK && !j->list_by_set)
        status = shoal_fail(ctx, SHOAL_E_ARG, "the plan was created without opts.by_set");
    if (status != SHOAL_OK) return status;
    int64_t *set = malloc((size_t)(j->sets + 1) * sizeof *set);
    const int64_t numbers = (s->samples ? CVA_OF_PATH * s->paths : 0) + j->exposures;
    double *room = malloc((size_t)numbers * sizeof *room);
    shoal_cva_date *dates =
        profile ? profile : malloc((size_t)(j->exposures + 1) * sizeof *profile);
    for (int64_t i = 0; set && part != SHOAL_CVA_BOOK && i < j->sets; i++)
        if (part == SHOAL_CVA_SET ? i == index : j->party_of[i] == index) set[s->sets++] = i;
    if (part != SHOAL_CVA_BOOK) s->set = set;
    s->number = before[part] + index;
    if (!set || !room || !dates) status = SHOAL_NO_MEMORY(ctx, "results");
    if (status == SHOAL_OK) status = make_profile(s, dates);
    if (status == SHOAL_OK) make_adjustments(s, s->number, dates, room, result);
    if (!profile) free(dates);
    free(room), free(set);
    return status;
}

shoal_status shoal_cva_adjust(const shoal_cva *plan, const double *samples, int64_t paths,
                              shoal_cva_part part, int64_t index, shoal_cva_adjustments *result,
                              shoal_cva_date *profile) {
    cva_source s;
    if (!plan) return SHOAL_E_ARG;
    const shoal_status status = make_book(plan, samples, NULL, paths, 0, result, "result", &s);
    return status == SHOAL_OK ? adjust(&s, part, index, result, profile) : status;
}

shoal_status shoal_cva_adjust_of_sums(const shoal_cva *plan, const int64_t *sums, int64_t paths,
                                      shoal_cva_part part, int64_t index,
                                      shoal_cva_adjustments *result, shoal_cva_date *profile) {
    cva_source s;
    if (!plan) return SHOAL_E_ARG;
    const shoal_status status = make_book(plan, NULL, sums, paths, 1, result, "result", &s);
    return status == SHOAL_OK ? adjust(&s, part, index, result, profile) : status;
}

/* ---- by trade ------------------------------------------------------------------------------------ */

/* A sum of a contract's totals as a mean over paths. */
static double mean_of(const int64_t *sum, double unit, int64_t paths) {
    int64_t whole = sum[0], low = sum[1];
    const int64_t carry = low >> CVA_LOW_BITS; /* rounds down */
    whole += carry, low -= carry * (1LL << CVA_LOW_BITS);
    return ((double)whole + (double)low / (double)(1LL << CVA_LOW_BITS)) / unit / (double)paths;
}

static void one_trade(const shoal_cva *p, int64_t i, const int64_t *totals, int64_t paths,
                      const double *epe, shoal_cva_trade *t) {
    const cva_job *j = &p->job;
    const cva_contract *c = &j->contract[i];
    const int64_t dates = j->exposures, party = j->party_of[c->set];
    const int64_t *tail = totals + CVA_LIMBS * CVA_TOTAL_LISTS * dates;
    const double *ene = epe + dates, *price = p->price + CVA_PRICE_NUMBERS * i;
    *t = (shoal_cva_trade){ .pv = c->quantity * price[CVA_PRICE],
                            .pv_error = fabs(c->quantity) * price[CVA_PRICE_ERROR] };
    t->cva = mean_of(tail, c->unit, paths);
    const double square = mean_of(tail + CVA_LIMBS, c->unit * CVA_SQUARE_UNIT * c->unit, paths);
    t->cva_error = paths > 1 ? sqrt(fmax(square - t->cva * t->cva, 0) / (double)(paths - 1)) : NAN;
    for (int64_t k = 0; k < dates; k++) {
        t->dva += p->own[k] * ene[k];
        t->fca += p->borrowing[party * dates + k] * epe[k];
        t->fba += p->lending[party * dates + k] * ene[k];
    }
    t->fva = t->fca - t->fba;
    t->epe = time_mean(j, epe, 1), t->ene = time_mean(j, ene, 1);
}

/* Contributions to the effective EPE of a set; room: two numbers per date. */
static void allot_effective(const shoal_cva *p, int64_t set, const double *profile, double *room,
                            int64_t *reached, shoal_cva_trade *trades) {
    const cva_job *j = &p->job;
    const int64_t dates = j->exposures;
    const double pv = p->present[2 * (1 + j->parties + set)], now = exposure_now(j, set, pv);
    double years = 0;
    memset(room, 0, (size_t)dates * sizeof *room);
    for (int64_t i = 0; i < j->contracts; i++)
        for (int64_t k = 0; k < dates && j->contract[i].set == set; k++)
            room[k] += profile[2 * dates * i + k];
    effective(j, room, now, reached);
    for (int64_t k = 0; k < dates; k++) years += step_before(j, k, 1);
    for (int64_t i = 0; i < j->contracts; i++) {
        if (j->contract[i].set != set) continue;
        const double today = pv != 0 ? now / pv * trades[i].pv : 0;
        for (int64_t k = 0; k < dates && years > 0; k++)
            trades[i].eepe += step_before(j, k, 1) / years *
                              (reached[k] < 0 ? today : profile[2 * dates * i + reached[k]]);
    }
}

shoal_status shoal_cva_trades(const shoal_cva *plan, const int64_t *totals, int64_t paths,
                              shoal_cva_trade *trades, double *profile) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const cva_job *j = &plan->job;
    const int64_t dates = j->exposures, numbers = cva_total_numbers(j);
    const shoal_array given[] = { { "totals", totals, j->contracts == 0 },
                                  { "trades", trades, j->contracts == 0 } };
    shoal_status s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "paths", paths, 1, SHOAL_CVA_OUTER);
    if (s == SHOAL_OK && !plan->by_trade)
        s = shoal_fail(ctx, SHOAL_E_ARG, "the plan was created without opts.by_trade");
    if (s != SHOAL_OK) return s;
    double *own = profile ? NULL : malloc((size_t)(2 * dates * j->contracts + 1) * sizeof *own);
    double *all = profile ? profile : own, *room = malloc((size_t)dates * sizeof *room);
    int64_t *reached = malloc((size_t)dates * sizeof *reached);
    if (all && room && reached) {
        for (int64_t i = 0; i < j->contracts; i++) {
            const int64_t *sums = totals + i * numbers;
            double *to = all + 2 * dates * i;
            for (int64_t k = 0; k < dates; k++)
                for (int side = 0; side < CVA_TOTAL_LISTS; side++)
                    to[side * dates + k] = mean_of(sums + CVA_LIMBS * (CVA_TOTAL_LISTS * k + side),
                                                   j->contract[i].unit, paths);
            one_trade(plan, i, sums, paths, to, &trades[i]);
        }
        for (int64_t set = 0; set < j->sets; set++)
            allot_effective(plan, set, all, room, reached, trades);
    } else
        s = SHOAL_NO_MEMORY(ctx, "results by trade");
    free(own), free(room), free(reached);
    return s;
}
