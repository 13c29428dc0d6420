/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - the row of a path: its length, the numbers in it that results are made of, and means over rows.
 */
#include "cva/results.h"
#include <string.h>

/* ---- length ------------------------------------------------------------------------------------- */

int64_t shoal_cva_lists(const shoal_cva *p) {
    return cva_lists(&p->job) + (p->validates ? p->job.contracts : 0);
}

int64_t shoal_cva_greeks_at(const shoal_cva *p) {
    const cva_job *j = &p->job;
    return j->list_by_set ? cva_set_share(j, j->sets)
                          : CVA_ROW_HEAD + shoal_cva_lists(p) * j->exposures;
}

int64_t shoal_cva_width(const shoal_cva *plan) {
    return plan ? shoal_cva_greeks_at(plan) + plan->greeks.parameters : 0;
}

/* ---- means -------------------------------------------------------------------------------------- */

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

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Lists of rows that have it; -1: none. */
static const struct {
    int book, set;
} lists[] = { { CVA_LIST_OURS, CVA_SET_OURS }, { CVA_LIST_THEIRS, CVA_SET_THEIRS },
              { CVA_LIST_RULE, -1 },           { CVA_LIST_RULE_THEIRS, -1 },
              { CVA_LIST_LOSS, CVA_SET_LOSS }, { CVA_LIST_WHOLE, CVA_SET_WHOLE },
              { CVA_LIST_HALF, CVA_SET_WHOLE } };

double shoal_cva_at_date(const cva_source *s, const double *row, int64_t k, int what) {
    const cva_job *j = &s->p->job;
    const double *at = row + CVA_ROW_HEAD + k;
    if (what == CVA_AT_LOSS && !j->wrong_way) return 0;
    if (what == CVA_AT_RULE && !s->set && s->p->estimator == SHOAL_CVA_BY_INNER)
        return at[CVA_LIST_HALF * j->exposures] - at[CVA_LIST_WHOLE * j->exposures];
    if (!s->set) return at[lists[what].book * j->exposures];
    double sum = 0;
    for (int64_t n = 0; n < s->sets && lists[what].set >= 0; n++)
        sum += row[cva_set_list(j, s->set[n]) + lists[what].set * j->exposures + k];
    return sum;
}

/* Whether it is a list of the rows. */
static int is_list(const cva_source *s, int what) {
    const int differs = what == CVA_AT_RULE && s->p->estimator == SHOAL_CVA_BY_INNER;
    return !s->set && !differs && (what != CVA_AT_LOSS || s->p->job.wrong_way);
}

/* Rows are long, and their parts that memory hands out have several dates. */
void shoal_cva_take(const cva_source *s, int64_t k, int64_t dates, int what, double *to) {
    if (is_list(s, what)) {
        const double *at = s->samples + CVA_ROW_HEAD + lists[what].book * s->p->job.exposures + k;
        for (int64_t i = 0; i < s->paths; i++, at += s->width)
            for (int64_t e = 0; e < dates; e++) to[e * s->paths + i] = at[e];
        return;
    }
    for (int64_t i = 0; i < s->paths; i++)
        for (int64_t e = 0; e < dates; e++)
            to[e * s->paths + i] = shoal_cva_at_date(s, s->samples + i * s->width, k + e, what);
}

/* The adjustments of a path: shares of sums over dates, and over the sets of the source. */
void shoal_cva_of_path(const cva_source *s, const double *row, double *x) {
    const shoal_cva *p = s->p;
    const cva_job *j = &p->job;
    const int64_t dates = j->exposures, count = s->set ? s->sets : j->list_by_set ? j->sets : 1;
    memset(x, 0, CVA_OF_PATH * sizeof *x);
    x[CVA_OF_LEVELS] = row[CVA_ROW_CVA] - row[CVA_ROW_PLAIN], x[CVA_OF_RULE] = row[CVA_ROW_RULE];
    if (!s->set) x[CVA_OF_CVA] = row[CVA_ROW_CVA];
    for (int64_t n = 0; n < count; n++) {
        const int64_t set = s->set ? s->set[n] : n;
        const int64_t party = j->sets > 0 ? j->party_of[set] : 0;
        const double *ours = row + (j->list_by_set ? cva_set_list(j, set) : CVA_ROW_HEAD);
        const double *theirs = ours + dates, *borrow = p->borrowing + party * dates;
        const double *lend = p->lending + party * dates;
        if (s->set) x[CVA_OF_CVA] += row[cva_set_share(j, set)];
        for (int64_t k = 0; k < dates; k++) {
            x[CVA_OF_DVA] += p->own[k] * theirs[k];
            x[CVA_OF_FCA] += borrow[k] * ours[k], x[CVA_OF_FBA] += lend[k] * theirs[k];
        }
    }
    x[CVA_OF_FVA] = x[CVA_OF_FCA] - x[CVA_OF_FBA];
}
