/* SPDX-License-Identifier: Apache-2.0
 *
 * results.c - results of a CVA from the rows of a run, and by trade from its totals.
 *
 * The rows are read in their order, once for means and once for the deviations from them; quantiles are exact:
 * their ranks are selected among the exposures of a date. Exposures of a counterparty are sums over its netting sets.
 *
 * A contract's contribution to the effective EPE is that to the exposure at the date on which the effective exposure was
 * reached.
 */
#include "cva/values.h"
#include <stdlib.h>
#include <string.h>

double shoal_cva_mean(const double *at, const double *less, int64_t stride, int64_t paths,
                      double *error) {
    double mean = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        shoal_pair sum = { 0, 0 };
        for (int64_t i = 0; i < paths; i++) {
            const double x = at[i * stride] - (less ? less[i * stride] : 0);
            const shoal_pair next = shoal_two_sum(sum.hi, round ? (x - mean) * (x - mean) : x);
            sum.hi = next.hi, sum.lo += next.lo;
        }
        if (round)
            squares = sum.hi + sum.lo;
        else
            mean = (sum.hi + sum.lo) / (double)paths;
    }
    *error = paths > 1 ? sqrt(squares / (double)paths / (double)(paths - 1)) : NAN;
    return mean;
}

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

typedef struct
    quantiles { /* numbers of the paths, and with half of the inner paths; the last ranks of both */
    double *x, *half;
    int64_t done, half_done;
} quantiles;

/* The exposure of rank ceil(q paths); the ranks of its 95 % interval are those of a binomial law, and noise of inner
 * paths widens it by what half of them change. */
static void make_quantile(quantiles *of, int64_t paths, int64_t hundredths, double *value,
                          double *low, double *high) {
    const int64_t rank = (paths * hundredths + 99) / 100;
    const double q = 0.01 * (double)hundredths;
    const int64_t off = (int64_t)ceil(1.959964 * sqrt((double)paths * q * (1 - q)));
    *low = ranked(of->x, paths, rank - off, &of->done);
    *value = ranked(of->x, paths, rank, &of->done);
    const double shift = fabs(ranked(of->half, paths, rank, &of->half_done) - *value);
    *low = fmax(*low - shift, 0);
    *high = ranked(of->x, paths, rank + off, &of->done) + shift;
}

/* The mean of the largest 1 - q of x, the last of them by a part; its rank has been selected. */
static double shortfall(const double *x, int64_t paths, int64_t hundredths) {
    const double size = (double)paths * (1 - 0.01 * (double)hundredths);
    const int64_t rank = (paths * hundredths + 99) / 100;
    double sum = 0;
    for (int64_t i = rank; i < paths; i++) sum += x[i];
    return (sum + (size - (double)(paths - rank)) * x[rank - 1]) / size;
}

/* ---- exposures of a date ------------------------------------------------------------------------- */

/* What results are of: the book, by its own lists, or some netting sets. */
typedef struct source {
    const shoal_cva *p;
    const double *samples;
    int64_t paths, width;
    const int64_t *set; /* NULL: the book */
    int64_t sets;
} source;

/* A number per path at date k: from a list of the book, or the sum of a list of the sets. */
static void take(const source *s, int64_t k, int of_book, int of_set, double *to) {
    const cva_job *j = &s->p->job;
    for (int64_t i = 0; i < s->paths; i++) {
        const double *row = s->samples + i * s->width;
        to[i] = s->set ? 0 : row[CVA_ROW_HEAD + of_book * j->exposures + k];
        for (int64_t n = 0; s->set && n < s->sets; n++)
            to[i] += row[cva_set_list(j, s->set[n]) + of_set * j->exposures + k];
    }
}

/* What a date adds to the CVA, with the mean exposure `epe`. */
static double date_cva(const source *s, int64_t k, double epe) {
    const cva_job *j = &s->p->job;
    const int64_t party = s->set && s->sets > 0 ? j->party_of[s->set[0]] : 0;
    if (j->parties == 1 || s->set) return s->p->share[party * j->exposures + k] * epe;
    double sum = 0, ignored;
    for (int64_t set = 0; set < j->sets; set++)
        sum += s->p->share[j->party_of[set] * j->exposures + k] *
               shoal_cva_mean(s->samples + cva_set_list(j, set) + CVA_SET_OURS * j->exposures + k,
                              NULL, s->width, s->paths, &ignored);
    return sum;
}

enum { OURS, THEIRS, WHOLE, HALF, RULE, RULE_THEIRS, COLUMNS };

/* With regressions at nodes, what half of the inner paths would change; with rules, what another rule would. */
static double bias_of(const shoal_cva *p, const double *rule, const double *half,
                      const double *whole, int64_t paths) {
    double ignored;
    if (p->estimator == SHOAL_CVA_BY_INNER)
        return half ? fabs(shoal_cva_mean(half, whole, 1, paths, &ignored)) : 0;
    return fabs(shoal_cva_mean(rule, NULL, 1, paths, &ignored));
}

/* Date of exposure k; room: COLUMNS numbers per path. */
static void make_date(const source *s, int64_t k, double *room, shoal_cva_date *to) {
    static const int of_book[COLUMNS] = { CVA_LIST_OURS, CVA_LIST_THEIRS, CVA_LIST_WHOLE,
                                          CVA_LIST_HALF, CVA_LIST_RULE,   CVA_LIST_RULE_THEIRS };
    static const int of_set[COLUMNS] = { CVA_SET_OURS, CVA_SET_THEIRS, CVA_SET_WHOLE,
                                         CVA_SET_WHOLE };
    const shoal_cva *p = s->p;
    const int64_t paths = s->paths;
    double *x[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        x[i] = room + i * paths;
        if (i <= HALF || !s->set) take(s, k, of_book[i], of_set[i], x[i]);
    }
    *to = (shoal_cva_date){ .time = cva_time(&p->job, p->job.exposed[k]) };
    to->epe = shoal_cva_mean(x[OURS], NULL, 1, paths, &to->epe_error);
    to->ene = shoal_cva_mean(x[THEIRS], NULL, 1, paths, &to->ene_error);
    if (!s->set) {
        to->epe_bias = bias_of(p, x[RULE], x[HALF], x[WHOLE], paths);
        to->ene_bias = bias_of(p, x[RULE_THEIRS], NULL, NULL, paths);
    }
    make_interval(to->epe, to->epe_error, to->epe_bias, &to->epe_low, &to->epe_high);
    make_interval(to->ene, to->ene_error, to->ene_bias, &to->ene_low, &to->ene_high);
    for (int64_t i = 0; i < paths; i++)
        x[WHOLE][i] = fmax(x[WHOLE][i], 0), x[HALF][i] = fmax(x[HALF][i], 0);
    quantiles of = { x[WHOLE], x[HALF], 0, 0 };
    make_quantile(&of, paths, 95, &to->pfe95, &to->pfe95_low, &to->pfe95_high);
    to->es95 = shortfall(x[WHOLE], paths, 95);
    make_quantile(&of, paths, 99, &to->pfe99, &to->pfe99_low, &to->pfe99_high);
    to->es99 = shortfall(x[WHOLE], paths, 99);
    to->discount = exp(-cva_rate(&p->job, cva_between(&p->job, 0, p->job.exposed[k])));
    const int64_t party = s->set && s->sets > 0 ? p->job.party_of[s->set[0]] : 0;
    to->default_probability =
        s->set || p->job.parties == 1 ? p->chance[party * p->job.exposures + k] : NAN;
    const double share =
        p->job.parties == 1 || s->set ? p->share[party * p->job.exposures + k] : NAN;
    to->epe_default = to->epe, to->epe_default_error = to->epe_error;
    to->cva = p->job.wrong_way ? 0 : date_cva(s, k, to->epe);
    if (p->job.wrong_way) {
        take(s, k, CVA_LIST_LOSS, CVA_SET_LOSS, x[OURS]);
        to->cva = shoal_cva_mean(x[OURS], NULL, 1, paths, &to->epe_default_error);
        to->epe_default = share > 0 ? to->cva / share : NAN;
        to->epe_default_error /= share > 0 ? share : NAN;
    }
    to->inner = p->job.inner[k];
}

static shoal_status make_profile(const source *s, shoal_cva_date *profile) {
    const shoal_cva *p = s->p;
    const int64_t dates = p->job.exposures, each = COLUMNS * s->paths;
    const int workers = dates < p->head.ctx->threads ? (int)dates : p->head.ctx->threads;
    double *room = malloc((size_t)(each * workers) * sizeof *room);
    if (!room)
        return shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for %lld exposures",
                          (long long)s->paths);
#pragma omp parallel for num_threads(workers) schedule(static, 1)
    for (int worker = 0; worker < workers; worker++)
        for (int64_t k = worker; k < dates; k += workers)
            make_date(s, k, room + each * worker, &profile[k]);
    free(room);
    return SHOAL_OK;
}

static shoal_status check_samples(const shoal_cva *plan, const double *samples, int64_t paths,
                                  const void *result, const char *name) {
    const shoal_array given[] = { { "samples", samples, 0 }, { name, result, 0 } };
    const shoal_status s = shoal_check_pointers(plan->head.ctx, given, 2);
    return s == SHOAL_OK ? shoal_check_count(plan->head.ctx, "paths", paths, 1, SHOAL_CVA_OUTER)
                         : s;
}

shoal_status shoal_cva_result(const shoal_cva *plan, const double *samples, int64_t paths,
                              shoal_cva_value *value, shoal_cva_date *profile) {
    if (!plan) return SHOAL_E_ARG;
    const shoal_status s = check_samples(plan, samples, paths, value, "value");
    if (s != SHOAL_OK) return s;
    const int64_t width = shoal_cva_width(plan);
    const double *plain = samples + CVA_ROW_PLAIN, *rule = samples + CVA_ROW_RULE;
    const int inner = plan->estimator == SHOAL_CVA_BY_INNER;
    *value = (shoal_cva_value){ 0 };
    value->cva = shoal_cva_mean(samples, NULL, width, paths, &value->error);
    if (inner)
        value->inner_bias = shoal_cva_mean(plain, samples, width, paths, &value->inner_bias_error);
    else
        value->correction = shoal_cva_mean(samples, plain, width, paths, &value->correction_error);
    value->rule_bias = shoal_cva_mean(rule, NULL, width, paths, &value->rule_bias_error);
    value->bias = fabs(value->inner_bias) + fabs(value->rule_bias);
    make_interval(value->cva, value->error, value->bias, &value->low, &value->high);
    const source book = { plan, samples, paths, width, NULL, 0 };
    return profile ? make_profile(&book, profile) : SHOAL_OK;
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

/* Effective EPE of a set with mean exposures x and an exposure `now` today; reached[k]: the date of the effective exposure, -1 is
 * today. */
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

/* The mean of a column of rows. */
static double column_mean(const source *s, int64_t at) {
    double sum = 0;
    for (int64_t i = 0; i < s->paths; i++) sum += s->samples[i * s->width + at];
    return sum / (double)s->paths;
}

/* The effective EPE of all sets of a source; room: a number per date. */
static double effective_sum(const source *s, double *room) {
    const shoal_cva *p = s->p;
    const cva_job *j = &p->job;
    double sum = 0;
    if (!j->list_by_set && j->sets != 1) return j->sets ? NAN : 0;
    for (int64_t n = 0; n < (s->set ? s->sets : j->sets); n++) {
        const int64_t set = s->set ? s->set[n] : n;
        const int64_t list = j->list_by_set ? cva_set_list(j, set) : CVA_ROW_HEAD;
        for (int64_t k = 0; k < j->exposures; k++) room[k] = column_mean(s, list + k);
        const double pv = p->present ? p->present[2 * (1 + j->parties + set)] : 0;
        sum += effective(j, room, exposure_now(j, set, pv), NULL);
    }
    return sum;
}

enum { CVA, DVA, FCA, FBA, FVA, KINDS };

/* The adjustments of a path: shares of sums over dates, and over the sets of the source. */
static void adjust_path(const source *s, const double *row, double x[KINDS]) {
    const shoal_cva *p = s->p;
    const cva_job *j = &p->job;
    const int64_t dates = j->exposures, count = s->set ? s->sets : j->list_by_set ? j->sets : 1;
    memset(x, 0, KINDS * sizeof *x);
    if (!s->set) x[CVA] = row[CVA_ROW_CVA];
    for (int64_t n = 0; n < count; n++) {
        const int64_t set = s->set ? s->set[n] : n;
        const int64_t party = j->sets > 0 ? j->party_of[set] : 0;
        const double *ours = row + (j->list_by_set ? cva_set_list(j, set) : CVA_ROW_HEAD);
        const double *theirs = ours + dates, *borrow = p->borrow + party * dates;
        const double *lend = p->lend + party * dates;
        if (s->set) x[CVA] += row[cva_set_share(j, set)];
        for (int64_t k = 0; k < dates; k++) {
            x[DVA] += p->own[k] * theirs[k];
            x[FCA] += borrow[k] * ours[k], x[FBA] += lend[k] * theirs[k];
        }
    }
    x[FVA] = x[FCA] - x[FBA];
}

static void make_adjustments(const source *s, int64_t part, const shoal_cva_date *profile,
                             double *room, shoal_cva_adjustments *a) {
    const shoal_cva *p = s->p;
    const int64_t dates = p->job.exposures, stride = sizeof *profile / sizeof(double);
    struct {
        double *value, *error;
    } to[KINDS] = { { &a->cva, &a->cva_error },
                    { &a->dva, &a->dva_error },
                    { &a->fca, &a->fca_error },
                    { &a->fba, &a->fba_error },
                    { &a->fva, &a->fva_error } };
    *a = (shoal_cva_adjustments){ .pv = NAN, .pv_error = NAN };
    if (p->present) a->pv = p->present[2 * part], a->pv_error = p->present[2 * part + 1];
    for (int64_t i = 0; i < s->paths; i++)
        adjust_path(s, s->samples + i * s->width, room + KINDS * i);
    for (int e = 0; e < KINDS; e++)
        *to[e].value = shoal_cva_mean(room + e, NULL, KINDS, s->paths, to[e].error);
    a->eepe = effective_sum(s, room);
    for (int64_t k = 0; k < dates; k++) {
        const shoal_cva_date *d = &profile[k];
        a->pfe95 = fmax(a->pfe95, d->pfe95), a->pfe99 = fmax(a->pfe99, d->pfe99);
        a->es95 = fmax(a->es95, d->es95), a->es99 = fmax(a->es99, d->es99);
    }
    a->epe = time_mean(&p->job, &profile->epe, stride);
    a->ene = time_mean(&p->job, &profile->ene, stride);
}

shoal_status shoal_cva_adjust(const shoal_cva *plan, const double *samples, int64_t paths,
                              shoal_cva_part part, int64_t index, shoal_cva_adjustments *result,
                              shoal_cva_date *profile) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const cva_job *j = &plan->job;
    const int64_t most[] = { 1, j->parties, j->sets };
    shoal_status status = check_samples(plan, samples, paths, result, "result");
    if (status == SHOAL_OK)
        status = shoal_check_count(ctx, "part", (int64_t)part, SHOAL_CVA_BOOK, SHOAL_CVA_SET);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "index", index, 0, most[part] - 1);
    if (status == SHOAL_OK && part != SHOAL_CVA_BOOK && !j->list_by_set)
        status = shoal_fail(ctx, SHOAL_E_ARG, "the plan was created without opts.by_set");
    if (status != SHOAL_OK) return status;
    int64_t *set = malloc((size_t)(j->sets + 1) * sizeof *set);
    const int64_t numbers = KINDS * paths + j->exposures;
    double *room = malloc((size_t)numbers * sizeof *room);
    shoal_cva_date *dates =
        profile ? profile : malloc((size_t)(j->exposures + 1) * sizeof *profile);
    source s = { plan, samples, paths, shoal_cva_width(plan), NULL, 0 };
    for (int64_t i = 0; set && part != SHOAL_CVA_BOOK && i < j->sets; i++)
        if (part == SHOAL_CVA_SET ? i == index : j->party_of[i] == index) set[s.sets++] = i;
    if (part != SHOAL_CVA_BOOK) s.set = set;
    if (!set || !room || !dates) status = shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for results");
    if (status == SHOAL_OK) status = make_profile(&s, dates);
    const int64_t before[] = { 0, 1, 1 + j->parties };
    if (status == SHOAL_OK) make_adjustments(&s, before[part] + index, dates, room, result);
    if (!profile) free(dates);
    free(room), free(set);
    return status;
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
        t->fca += p->borrow[party * dates + k] * epe[k];
        t->fba += p->lend[party * dates + k] * ene[k];
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
        s = shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for results by trade");
    free(own), free(room), free(reached);
    return s;
}
