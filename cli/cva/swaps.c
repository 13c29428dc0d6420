/* SPDX-License-Identifier: Apache-2.0
 *
 * swaps.c - `shoal cva --cds`: the premiums of credit default swaps, and the hazard rates of their spreads.
 *
 * With a valuation date a tenor is the standard one: it ends on the 20th of June or December after the last roll in March or
 * September, and premiums are due on the 20th of March, June, September and December, or the Monday after. Without, premiums
 * are due every quarter of a year, back from maturity.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MONTHS = 12, QUARTER = 3, ROLL = 20 }; /* day of the month */

typedef struct date {
    int year, month, day;
} date;

static int64_t day_of(date d) {
    const int most = cva_days_in(d.year, d.month);
    return cva_day_of(d.year, d.month, d.day < most ? d.day : most);
}

static date plus_months(date d, int months) {
    const int all = MONTHS * d.year + d.month - 1 + months;
    return (date){ all / MONTHS, all % MONTHS + 1, d.day };
}

static date date_of(int64_t day) {
    char text[CVA_DAY];
    date d = { 0 };
    cva_day_text(day, text);
    sscanf(text, "%d-%d-%d", &d.year, &d.month, &d.day);
    return d;
}

static bool is_weekend(int64_t day) { return (day + 3) % 7 >= 5; } /* day 0 is a Thursday */

static int64_t following(int64_t day) {
    while (is_weekend(day)) day++;
    return day;
}

/* So many years from today: whole months are a tenor. */
static date maturity_of(int64_t today, double years) {
    const double months = round(MONTHS * years);
    const date now = date_of(today);
    if (fabs(MONTHS * years - months) > 1e-9) return date_of(today + llround(365 * years));
    const int at = 100 * now.month + now.day;
    const bool summer = at >= 300 + ROLL && at < 900 + ROLL;
    const date last = { now.year - (at < 300 + ROLL), summer ? 6 : 12, ROLL };
    return plus_months(last, (int)months);
}

/* Premiums until maturity, from malloc. */
static double *payments_of(int64_t today, date end, shoal_cds *swap) {
    int64_t count = 1;
    while (following(day_of(plus_months(end, -QUARTER * (int)count))) > today) count++;
    double *payment = malloc((size_t)count * sizeof *payment);
    for (int64_t i = 0; payment && i < count; i++)
        payment[i] =
            (double)(following(day_of(plus_months(end, -QUARTER * (int)(count - 1 - i)))) - today) /
            365;
    swap->start =
        (double)(following(day_of(plus_months(end, -QUARTER * (int)count))) - today) / 365;
    swap->maturity = (double)(day_of(end) - today) / 365;
    swap->payments = count, swap->payment = payment;
    return payment;
}

int cva_bootstrap(cli *c, const cva_options *o, const shoal_cva_curve *swaps,
                  shoal_cva_counterparty *party, double **made) {
    const int64_t count = swaps->count;
    shoal_cds *swap = calloc((size_t)count, sizeof *swap);
    double *hazard = malloc((size_t)(2 * count) * sizeof *hazard);
    int64_t settles = o->today;
    int code = swap && hazard ? CLI_OK : cli_no_memory();
    for (int days = 0; days < 3; days++) settles = following(settles + 1);
    for (int64_t i = 0; i < count && code == CLI_OK; i++) {
        swap[i] = (shoal_cds){ .maturity = swaps->time[i], .spread = swaps->value[i] };
        if (!o->today) continue;
        swap[i].settlement = (double)(settles - o->today) / 365;
        if (!payments_of(o->today, maturity_of(o->today, swaps->time[i]), &swap[i]))
            code = cli_no_memory();
    }
    if (code == CLI_OK &&
        shoal_cds_bootstrap(c->ctx, o->rate, &o->rates, party->recovery, swap, count, hazard))
        code = cli_fail(CLI_INPUT, "--cds: %s", shoal_message(c->ctx));
    if (code == CLI_OK) {
        for (int64_t i = 0; i < count; i++) hazard[count + i] = swap[i].maturity;
        free(*made);
        *made = hazard, party->pieces = count, party->hazard = hazard;
        party->until = count > 1 ? hazard + count : NULL;
    } else
        free(hazard);
    for (int64_t i = 0; swap && i < count; i++) free((double *)(uintptr_t)swap[i].payment);
    free(swap);
    return code;
}
