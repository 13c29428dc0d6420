/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_xva.c - DVA, FVA and effective EPE against closed forms; results by counterparty, netting set and trade:
 * contributions add up, two counterparties are two runs, and totals have the same bits in any pieces.
 */
#include "cva_runs.h"
#include <shoal/units.h>

static const double own_hazard = 0.02, other_hazard = 0.1;
static const shoal_cva_counterparty own = { .pieces = 1, .hazard = &own_hazard, .recovery = 0.3 };
static const double year = 1, cost = 0.01, gain = 0.004;

enum { PARTS = 4 }; /* counterparties, and sets, at most */

typedef struct xva_outcome {
    shoal_cva_adjustments book, party[PARTS], set[PARTS];
    shoal_cva_date set_profile[PARTS][MAX_DATES];
    shoal_cva_trade trade[4];
    double profile[4][2][MAX_DATES]; /* packed by dates */
    int64_t totals[4 * (4 * MAX_DATES + 4)], numbers;
    shoal_cva_info info;
} xva_outcome;

/* Of counterparties `of`, or that of the case; values, or NULL: of the contracts. */
static xva_outcome xva_of(shoal_context *ctx, const cva_case *c, const shoal_cva_counterparty *of,
                          int64_t piece, double *values) {
    xva_outcome out;
    cva_case k = *c;
    shoal_cva *plan = NULL;
    memset(&out, 0, sizeof out);
    k.opts.by_trade = 1;
    shoal_status s = shoal_cva_create(ctx, &k.market, k.contract, k.count,
                                      of ? of : &k.counterparty, &k.opts, &plan);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    if (s != SHOAL_OK) return out;
    const int64_t outer = k.opts.outer, width = shoal_cva_width(plan);
    double *samples = new_array((size_t)(outer * width), sizeof *samples);
    out.numbers = shoal_cva_totals(plan);
    CHECK(out.numbers <= (int64_t)(sizeof out.totals / sizeof *out.totals));
    CHECK(shoal_cva_describe(plan, &out.info) == SHOAL_OK && out.info.dates <= MAX_DATES);
    const int64_t each = k.count * out.info.dates;
    for (int64_t at = 0; at < outer && s == SHOAL_OK; at += piece)
        s = shoal_cva_run_trades(plan, at, outer - at < piece ? outer - at : piece,
                                 samples + at * width, NULL, out.totals,
                                 values ? values + at * each : NULL);
    if (s == SHOAL_OK)
        s = shoal_cva_adjust(plan, samples, outer, SHOAL_CVA_BOOK, 0, &out.book, NULL);
    for (int64_t i = 0; i < out.info.parties && s == SHOAL_OK; i++)
        s = shoal_cva_adjust(plan, samples, outer, SHOAL_CVA_COUNTERPARTY, i, &out.party[i], NULL);
    for (int64_t i = 0; i < out.info.sets && s == SHOAL_OK; i++)
        s = shoal_cva_adjust(plan, samples, outer, SHOAL_CVA_SET, i, &out.set[i],
                             out.set_profile[i]);
    if (s == SHOAL_OK)
        s = shoal_cva_trades(plan, out.totals, outer, out.trade, &out.profile[0][0][0]);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    free(samples);
    shoal_cva_free(plan);
    return out;
}

static void near_to(const char *what, double x, double want, double within) {
    CHECK_MSG(fabs(x - want) <= within, "%s: %.10g, not %.10g +- %.2g", what, x, want, within);
}

/* The mean of a call's value at t beyond the quantile q of its asset, by Simpson's rule. */
static double shortfall_of_call(double t, double z) {
    enum { STEPS = 4000 };
    const double end = 9, step = (end - z) / STEPS;
    double sum = 0, mass = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double x = z + i * step, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        const double spot = 100 * exp((0.1 - 0.02) * t + 0.2 * sqrt(t) * x), left = 1 - t;
        const double worth = left > 0 ? exp(-0.1 * left) * shoal_black(spot * exp(0.1 * left), 100,
                                                                       0.2 * sqrt(left), 0)
                                      : fmax(spot - 100, 0);
        sum += weight * exp(-0.5 * x * x) * worth, mass += weight * exp(-0.5 * x * x);
    }
    return sum / mass;
}

/* A discounted call is a martingale: EPE at t is C e^(r t), and its discount takes that off again. */
TEST(one_call) {
    const double call = exp(-0.1) * shoal_black(100 * exp(0.1), 100, 0.2, 0);
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 8, small ? 512 : 16384);
        c.opts.own = &own;
        c.opts.borrowing = (shoal_cva_curve){ 1, &year, &cost };
        c.opts.lending = (shoal_cva_curve){ 1, &year, &gain };
        const xva_outcome o = xva_of(targets[t].ctx, &c, NULL, c.opts.outer, NULL);
        double fca = 0, eepe = 0, epe = 0;
        for (int k = 1; k <= 8; k++) {
            fca += cost / 8 * exp(-(0.05 + own_hazard) * (k - 1) / 8.0) * call;
            eepe += call * exp(0.1 * k / 8.0) / 8, epe = eepe;
        }
        const shoal_cva_adjustments *a = &o.book;
        const double errors = 4 * a->cva_error / a->cva;
        near_to("pv", a->pv, call, 1e-12);
        near_to("cva", a->cva, 0.6 * -expm1(-0.05) * call, 4 * a->cva_error);
        near_to("fca", a->fca, fca, 4 * a->fca_error);
        near_to("fva", a->fva, a->fca, 0);
        near_to("epe", a->epe, epe, errors * epe);
        near_to("eepe", a->eepe, eepe, errors * eepe);
        CHECK(a->pv_error == 0 && a->dva == 0 && a->fba == 0 && a->ene == 0);
        CHECK(a->cva_error > 0 && fabs(a->fva_error - a->fca_error) < 1e-15);
        const shoal_cva_date *last = &o.set_profile[0][7];
        const double es95 = shortfall_of_call(1, 1.6448536269514722);
        const double es99 = shortfall_of_call(1, 2.3263478740408408);
        near_to("es95", last->es95, es95, small ? 0.4 * es95 : 0.06 * es95);
        near_to("es99", last->es99, es99, small ? 0.6 * es99 : 0.12 * es99);
        CHECK(last->es95 > last->pfe95 && last->es99 > last->pfe99 && last->es99 > last->es95);
        CHECK(a->es99 >= last->es99 && a->pfe95 >= last->pfe95);
    }
}

/* ENE of a forward is a put. */
TEST(one_forward) {
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_FORWARD, 10, small ? 512 : 16384);
        c.opts.own = &own;
        c.opts.lending = (shoal_cva_curve){ 1, &year, &gain };
        const xva_outcome o = xva_of(targets[t].ctx, &c, NULL, c.opts.outer, NULL);
        double dva = 0, fba = 0;
        for (int k = 1; k <= 10; k++) {
            const double at = 0.1 * k, strike = 100 * exp(-0.1 * (1 - at));
            const double ene = shoal_black(100 * exp(0.1 * at), strike, 0.2 * sqrt(at), 1);
            const double chance = exp(-own_hazard * (at - 0.1)) - exp(-own_hazard * at);
            dva += 0.7 * exp(-0.1 * at) * chance * ene;
            fba += gain * 0.1 * exp(-0.1 * at - (0.05 + own_hazard) * (at - 0.1)) * ene;
        }
        near_to("dva", o.book.dva, dva, 4 * o.book.dva_error);
        near_to("fba", o.book.fba, fba, 4 * o.book.fba_error);
        CHECK(o.book.fca == 0 && o.book.fva == -o.book.fba && o.book.dva_error > 0);
    }
}

/* The mixed book, with costs of funding. */
static cva_case funded_case(int64_t outer) {
    cva_case c = mixed_case(outer);
    c.opts.own = &own;
    c.opts.borrowing = (shoal_cva_curve){ 1, &year, &cost };
    c.opts.lending = (shoal_cva_curve){ 1, &year, &gain };
    return c;
}

/* Contributions of trades add up to their set, those of sets to the counterparty and the book. */
static void adds_up(const cva_case *c, const xva_outcome *o) {
    const size_t numbers = sizeof(shoal_cva_adjustments) / sizeof(double);
    const int64_t dates = o->info.dates;
    for (int64_t set = 0; set < o->info.sets; set++) {
        const shoal_cva_adjustments *a = &o->set[set];
        shoal_cva_trade sum = { 0 };
        for (int64_t i = 0; i < c->count; i++) {
            const shoal_cva_trade *t = &o->trade[i];
            if (c->contract[i].set != set) continue;
            sum.pv += t->pv, sum.cva += t->cva, sum.dva += t->dva, sum.fva += t->fva;
            sum.epe += t->epe, sum.ene += t->ene, sum.eepe += t->eepe;
        }
        const double size = 1e-12 * (fabs(a->pv) + a->epe + a->ene + 1);
        near_to("pv", sum.pv, a->pv, size), near_to("cva", sum.cva, a->cva, size);
        near_to("dva", sum.dva, a->dva, size), near_to("fva", sum.fva, a->fva, size);
        near_to("epe", sum.epe, a->epe, size), near_to("ene", sum.ene, a->ene, size);
        near_to("eepe", sum.eepe, a->eepe, size);
        for (int64_t k = 0; k < dates; k++) {
            const double *at = &o->profile[0][0][0];
            double epe = 0, ene = 0;
            for (int64_t i = 0; i < c->count; i++)
                if (c->contract[i].set == set)
                    epe += at[2 * i * dates + k], ene += at[(2 * i + 1) * dates + k];
            near_to("epe at a date", epe, o->set_profile[set][k].epe, size);
            near_to("ene at a date", ene, o->set_profile[set][k].ene, size);
        }
    }
    for (size_t e = 0; e < numbers; e++) { /* without errors and quantiles */
        const size_t at = e * sizeof(double), first = offsetof(shoal_cva_adjustments, pfe95);
        double sets = 0, book;
        if (at >= first || (at < offsetof(shoal_cva_adjustments, epe) && e % 2)) continue;
        memcpy(&book, (const char *)&o->book + at, sizeof book);
        for (int64_t set = 0; set < o->info.sets; set++) {
            double x;
            memcpy(&x, (const char *)&o->set[set] + at, sizeof x);
            sets += x;
        }
        near_to("the book", sets, book, 1e-12 * (1 + fabs(book)));
    }
}

TEST(contributions_add_up) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            cva_case c = funded_case(small ? 64 : 512);
            if (i == 1) c.counterparty.collateral = 1, c.counterparty.threshold = 4;
            if (i == 2) c.opts.estimator = SHOAL_CVA_BY_AMC;
            if (i == 3) c.opts.estimator = SHOAL_CVA_BY_INNER;
            const xva_outcome o = xva_of(targets[t].ctx, &c, NULL, c.opts.outer, NULL);
            CHECK(o.info.sets == 2 && o.book.cva > 0 && o.book.ene > 0);
            CHECK(o.trade[0].cva > 0 && o.trade[1].cva < 0 && o.trade[0].cva_error > 0);
            adds_up(&c, &o);
        }
}

/* A hazard rate that moves with the assets changes shares of the CVA. */
TEST(wrong_way) {
    static const double with_assets[] = { -0.5, 0.3 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = funded_case(small ? 64 : 256);
        c.opts.estimator = SHOAL_CVA_BY_AMC;
        const xva_outcome plain = xva_of(targets[t].ctx, &c, NULL, c.opts.outer, NULL);
        c.counterparty.volatility = 0.6, c.counterparty.correlation = with_assets;
        const xva_outcome o = xva_of(targets[t].ctx, &c, NULL, c.opts.outer, NULL);
        adds_up(&c, &o);
        CHECK(o.trade[0].cva != plain.trade[0].cva && o.trade[0].epe == plain.trade[0].epe);
    }
}

TEST(bits_are_the_same) {
    const cva_case c = funded_case(small ? 100 : 600);
    const int64_t values = c.opts.outer * 4 * 4;
    double *plain_values = new_array((size_t)values, sizeof(double));
    shoal_context *single;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
    const xva_outcome plain = xva_of(single, &c, NULL, c.opts.outer, plain_values);
    CHECK(plain.info.dates == 4);
    for (int t = 0; t < target_count; t++) {
        double *own_values = new_array((size_t)values, sizeof(double));
        const xva_outcome pieces = xva_of(targets[t].ctx, &c, NULL, 37, own_values);
        CHECK(memcmp(plain.trade, pieces.trade, sizeof plain.trade) == 0);
        CHECK(memcmp(&plain.book, &pieces.book, sizeof plain.book) == 0);
        CHECK(memcmp(plain.set, pieces.set, sizeof plain.set) == 0);
        CHECK(memcmp(plain_values, own_values, (size_t)values * sizeof(double)) == 0);
        free(own_values);
    }
    free(plain_values);
    shoal_close(single);
}

/* Values of the cube: a call's exposure is what it is worth. */
TEST(values) {
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 5, 64);
        double values[64 * 5];
        c.contract[0].quantity = 3;
        const xva_outcome o = xva_of(targets[t].ctx, &c, NULL, 20, values);
        for (int k = 0; k < 5; k++) {
            double sum = 0;
            for (int i = 0; i < 64; i++) sum += values[5 * i + k] / 64;
            near_to("epe", sum, o.set_profile[0][k].epe, 1e-12 * sum);
        }
    }
}

/* Each counterparty has what a run with it alone has; the sets of the other are not there. */
TEST(two_counterparties) {
    static const int64_t party[] = { 1, 0 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = funded_case(small ? 64 : 512);
        const shoal_cva_counterparty of[] = {
            { .pieces = 1, .hazard = &hazard, .recovery = 0.4 },
            { .pieces = 1, .hazard = &other_hazard, .collateral = 1, .threshold = 7 }
        };
        c.opts.parties = 2, c.opts.party = party;
        c.opts.estimator = SHOAL_CVA_BY_AMC;
        for (int i = 0; i < 4; i++) c.contract[i].maturity = 1;
        c.contract[1].payoff = SHOAL_CVA_FORWARD; /* levels would be drawn for both */
        const xva_outcome o = xva_of(targets[t].ctx, &c, of, c.opts.outer, NULL);
        CHECK(o.info.parties == 2 && o.info.sets == 2);
        double sum = 0;
        for (int i = 0; i < 2; i++) {
            cva_case alone = c;
            alone.count = 2;
            for (int k = 0; k < 2; k++)
                alone.contract[k] = c.contract[i == 0 ? k + 2 : k], alone.contract[k].set = 0;
            alone.counterparty = of[i], alone.opts.parties = 0, alone.opts.party = NULL;
            const xva_outcome one = xva_of(targets[t].ctx, &alone, NULL, c.opts.outer, NULL);
            CHECK(one.book.cva == o.party[i].cva && one.book.cva_error == o.party[i].cva_error);
            CHECK(one.book.dva == o.party[i].dva && one.book.eepe == o.party[i].eepe);
            CHECK(one.book.pfe95 == o.party[i].pfe95 && one.book.es99 == o.party[i].es99);
            CHECK(one.book.pv == o.party[i].pv && one.book.fca == o.party[i].fca);
            CHECK(one.trade[0].cva == o.trade[i == 0 ? 2 : 0].cva);
            sum += one.book.cva;
        }
        near_to("cva", o.book.cva, sum, 1e-13 * sum);
        adds_up(&c, &o);
    }
}

/* A contract of quantity 0 changes nothing. */
TEST(increments) {
    for (int t = 0; t < target_count; t++) {
        cva_case c = funded_case(64), less = c;
        for (int i = 0; i < 4; i++) c.contract[i].maturity = less.contract[i].maturity = 1;
        less.contract[3].quantity = 0;
        c.contract[2].set = c.contract[3].set = less.contract[2].set = less.contract[3].set = 0;
        c.opts.estimator = less.opts.estimator = SHOAL_CVA_BY_AMC;
        cva_case without = less;
        without.count = 3;
        const xva_outcome a = xva_of(targets[t].ctx, &less, NULL, 64, NULL);
        const xva_outcome b = xva_of(targets[t].ctx, &without, NULL, 64, NULL);
        const xva_outcome with = xva_of(targets[t].ctx, &c, NULL, 64, NULL);
        CHECK(a.book.cva == b.book.cva && a.book.eepe == b.book.eepe && a.book.pv == b.book.pv);
        CHECK(a.trade[3].cva == 0 && with.book.cva != a.book.cva);
    }
}

TEST(units_have_totals) {
    shoal_context *ctx = targets[0].ctx;
    cva_case c = funded_case(300);
    const xva_outcome o = xva_of(ctx, &c, NULL, 300, NULL);
    c.opts.by_trade = 1;
    shoal_cva *plan;
    shoal_units *units, *to;
    CHECK(shoal_cva_create(ctx, &c.market, c.contract, c.count, &c.counterparty, &c.opts, &plan) ==
          SHOAL_OK);
    const shoal_units_opts five = { .units = 5 };
    shoal_units_info info;
    CHECK(shoal_units_cva(plan, 300, &five, &units) == SHOAL_OK);
    CHECK(shoal_units_cva(plan, 300, &five, &to) == SHOAL_OK);
    CHECK(shoal_units_describe(units, &info) == SHOAL_OK);
    CHECK(info.counts == SHOAL_UNITS_CVA_TOTALS + o.numbers);
    void *bytes = new_array(info.bytes, 1);
    for (int64_t i = 4; i >= 0; i--) {
        size_t size;
        CHECK(shoal_units_run(units, i, 0, bytes, &size) == SHOAL_OK);
        CHECK(shoal_units_add(to, bytes, size) == SHOAL_OK);
    }
    shoal_cva_trade trade[4];
    CHECK(shoal_cva_trades(plan, shoal_units_counts(to) + SHOAL_UNITS_CVA_TOTALS, 300, trade,
                           NULL) == SHOAL_OK);
    CHECK(memcmp(trade, o.trade, sizeof trade) == 0);
    shoal_cva_adjustments book;
    CHECK(shoal_cva_adjust(plan, shoal_units_rows(to), 300, SHOAL_CVA_BOOK, 0, &book, NULL) ==
          SHOAL_OK);
    CHECK(memcmp(&book, &o.book, sizeof book) == 0);
    free(bytes);
    shoal_units_free(units);
    shoal_units_free(to);
    shoal_cva_free(plan);
}

static void fails(shoal_context *ctx, shoal_status s, const char *words) {
    CHECK_MSG(s == SHOAL_E_ARG && strstr(shoal_message(ctx), words), "%d: '%s' lacks '%s'", s,
              shoal_message(ctx), words);
}

TEST(what_is_refused) {
    static const int64_t far[] = { 0, 2 };
    static const double negative = -1;
    const shoal_cva_counterparty bad[] = { { .pieces = 1, .hazard = &hazard },
                                           { .pieces = 1, .hazard = &negative } };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        cva_case c = funded_case(8);
        shoal_cva *plan;
        shoal_cva_adjustments a;
        shoal_cva_trade trade[4];
        double samples[8 * 128];
        int64_t totals[512] = { 0 };
#define CREATED(of) shoal_cva_create(ctx, &c.market, c.contract, c.count, of, &c.opts, &plan)
        c.opts.parties = 2;
        fails(ctx, CREATED(bad), "counterparty[1]: hazard[0] is -1");
        c.opts.party = far;
        const shoal_cva_counterparty good[] = { bad[0], bad[0] };
        fails(ctx, CREATED(good), "party is 2; it must be");
        c.opts.parties = -1;
        fails(ctx, CREATED(good), "parties is -1");
        c.opts.parties = 0, c.opts.party = NULL, c.opts.own = &bad[1];
        fails(ctx, CREATED(good), "own: hazard[0] is -1");
        c.opts.own = NULL, c.opts.borrowing.count = -1;
        fails(ctx, CREATED(good), "borrowing: count is -1");
        c.opts.borrowing.count = 0, c.opts.lending.time = NULL, c.opts.lending.count = 1;
        fails(ctx, CREATED(good), "lending: time is NULL");
        c.opts.lending.count = 0, c.opts.by_trade = 2;
        fails(ctx, CREATED(good), "by_trade is 2");
        c.opts.by_trade = 0;
        CHECK(CREATED(good) == SHOAL_OK && shoal_cva_totals(plan) == 0);
        CHECK(shoal_cva_width(plan) <= 128 && shoal_cva_totals(NULL) == 0);
        CHECK(shoal_cva_run(plan, 0, 8, samples, NULL) == SHOAL_OK);
        fails(ctx, shoal_cva_run_trades(plan, 0, 8, samples, NULL, totals, NULL), "by_trade");
        fails(ctx, shoal_cva_trades(plan, totals, 8, trade, NULL), "by_trade");
        fails(ctx, shoal_cva_adjust(plan, samples, 8, SHOAL_CVA_SET, 0, &a, NULL), "by_set");
        fails(ctx, shoal_cva_adjust(plan, samples, 8, SHOAL_CVA_SET, 2, &a, NULL), "index is 2");
        fails(ctx, shoal_cva_adjust(plan, samples, 8, (shoal_cva_part)3, 0, &a, NULL), "part is 3");
        fails(ctx, shoal_cva_adjust(plan, samples, 8, SHOAL_CVA_BOOK, 0, NULL, NULL),
              "result is NULL");
        CHECK(shoal_cva_adjust(plan, samples, 8, SHOAL_CVA_BOOK, 0, &a, NULL) == SHOAL_OK);
        CHECK(isnan(a.pv) && isnan(a.eepe) && a.cva > 0); /* two sets, and no lists of them */
        shoal_cva_free(plan);
        c.opts.by_trade = 1;
        CHECK(CREATED(good) == SHOAL_OK);
        fails(ctx, shoal_cva_run_trades(plan, 0, 8, samples, NULL, NULL, NULL), "totals is NULL");
        fails(ctx, shoal_cva_trades(plan, NULL, 8, trade, NULL), "totals is NULL");
        fails(ctx, shoal_cva_trades(plan, totals, 0, trade, NULL), "paths is 0");
        shoal_cva_free(plan);
    }
    CHECK(shoal_cva_adjust(NULL, NULL, 1, SHOAL_CVA_BOOK, 0, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_cva_trades(NULL, NULL, 1, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_cva_run_trades(NULL, 0, 1, NULL, NULL, NULL, NULL) == SHOAL_E_ARG);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(one_call);
    RUN(one_forward);
    RUN(contributions_add_up);
    RUN(wrong_way);
    RUN(bits_are_the_same);
    RUN(values);
    RUN(two_counterparties);
    RUN(increments);
    RUN(units_have_totals);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
