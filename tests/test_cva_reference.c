/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_reference.c - the known numbers of cva_cases.txt by quadrature (cva_quadrature.h).
 *
 *     test_cva_reference [--small] FILE [WORD...]     checks them; --small on half the grid only
 *     test_cva_reference --write FILE                 prints the file with numbers that are computed now
 *
 * The quadrature itself is held to closed forms, to another quadrature (cva_exact.h), and to the martingale
 * that price and exposures make.
 */
#include "cva_cases.h"
#include "cva_exact.h"

/* By the number of assets of a netting set. Half the grid has to give the CVA to `promise`. */
static const struct {
    quad_fineness half, full;
    double promise;
} fineness[QUAD_ASSETS] = {
    { { 4, 4, 7 }, { 8, 8, 7.5 }, 1e-5 },    { { 4, 8, 6.5 }, { 8, 16, 7 }, 1e-4 },
    { { 3, 1.5, 6 }, { 6, 3, 6.5 }, 1e-4 },  { { 3, 1, 6 }, { 4, 1.5, 6.5 }, 1e-4 },
    { { 3, 1, 6 }, { 4, 1.25, 6.5 }, 1e-4 },
};

static const char *path;
static int small;

/* The assets of the largest netting set, less 1. */
static int size_of(const quad_book *b) {
    int most = 0;
    for (int set = 0; set < b->sets; set++) {
        int used[QUAD_ASSETS] = { 0 }, count = 0;
        for (int i = 0; i < b->contracts; i++)
            for (int n = 0; n < b->contract[i].assets && b->contract[i].set == set; n++)
                used[b->contract[i].asset[n]] = 1;
        for (int a = 0; a < QUAD_ASSETS; a++) count += used[a];
        if (count > most) most = count;
    }
    return most - 1;
}

static quad_result solve(const quad_book *b, int full) {
    const int size = size_of(b);
    return quad_solve(b, full ? &fineness[size].full : &fineness[size].half);
}

static FILE *open_cases(void) {
    FILE *file = fopen(path, "r");
    if (!file) case_refuse("cannot be opened:", path);
    return file;
}

/* ---- the quadrature ----------------------------------------------------------------------------- */

/* S = K = 100, rate 5 %, dividend 2 %, sigma 25 %, T = 1, one contract. */
static quad_book one_contract(quad_payoff payoff, int american, int dates) {
    return (quad_book){ .assets = 1,
                        .contracts = 1,
                        .dates = dates,
                        .sets = 1,
                        .pieces = 1,
                        .rate = 0.05,
                        .horizon = 1,
                        .recovery = 0.4,
                        .threshold = -1,
                        .s0 = { 100 },
                        .sigma = { 0.25 },
                        .dividend = { 0.02 },
                        .correlation = { { 1 } },
                        .hazard = { 0.05 },
                        .contract = { { .payoff = payoff,
                                        .american = american,
                                        .assets = 1,
                                        .weight = { 1 },
                                        .strike = 100,
                                        .maturity = 1,
                                        .quantity = 1 } } };
}

static double normal(double x) { return 0.5 * erfc(-x / sqrt(2)); }

static double black(double spot, double strike, double rate, double dividend, double sigma,
                    double t) {
    const double noise = sigma * sqrt(t);
    const double d = (log(spot / strike) + (rate - dividend) * t) / noise + 0.5 * noise;
    return spot * exp(-dividend * t) * normal(d) - strike * exp(-rate * t) * normal(d - noise);
}

static void near(double got, double want, double tolerance, const char *what) {
    CHECK_MSG(fabs(got - want) <= tolerance * fabs(want), "%s: %.12g, not %.12g", what, got, want);
}

/* A call: e^(-r t) EPE is its price at every date. A forward: its value at t above 0 is a call that matures at t on
 * e^(-q (T - t)) S with strike e^(-r (T - t)) K. */
TEST(closed_forms) {
    const double call = black(100, 100, 0.05, 0.02, 0.25, 1);
    quad_book b = one_contract(QUAD_CALL, 0, 5);
    quad_result r = solve(&b, 0);
    near(r.price, call, 1e-8, "call");
    near(r.cva, 0.6 * call * (1 - exp(-0.05)), 1e-5, "CVA of a call");
    for (int k = 1; k <= 5; k++) near(r.epe[k - 1], exp(0.01 * k) * call, 1e-5, "EPE of a call");
    b.contract[0].payoff = QUAD_FORWARD;
    r = solve(&b, 0);
    near(r.price, 100 * exp(-0.02) - 100 * exp(-0.05), 1e-7, "forward");
    for (int k = 1; k <= 5; k++) {
        const double t = 0.2 * k, left = 1 - t;
        const double above = exp(0.05 * t) * black(100 * exp(-0.02 * left), 100 * exp(-0.05 * left),
                                                   0.05, 0.02, 0.25, t);
        near(r.epe[k - 1], above, 1e-6, "EPE of a forward");
        near(r.epe[k - 1] - r.ene[k - 1], exp(0.05 * t) * r.price, 1e-5, "mean of a forward");
    }
    b.threshold = 7; /* min(V+, 7) is a call less a call whose strike is higher by 7 */
    r = solve(&b, 0);
    const double left = 0.6, spot = 100 * exp(-0.02 * left), strike = 100 * exp(-0.05 * left);
    near(r.epe[1],
         exp(0.02) * (black(spot, strike, 0.05, 0.02, 0.25, 0.4) -
                      black(spot, strike + 7, 0.05, 0.02, 0.25, 0.4)),
         1e-6, "EPE with collateral");
}

/* Stulz: the European max-call on two assets, from known values of the bivariate law by its own integral. */
static double stulz_leg(double a, double b, double rho) { /* P(X < a, Y < b) */
    double sum = 0;
    const int pieces = 40000;
    for (int i = 0; i < pieces; i++) {
        const double x = a - 9 + 9 * (i + 0.5) / pieces;
        sum += exp(-0.5 * x * x) / sqrt(2 * acos(-1.0)) *
               normal((b - rho * x) / sqrt(1 - rho * rho)) * 9 / pieces;
    }
    return sum;
}

TEST(max_call_of_stulz) {
    const double s1 = 105, s2 = 95, v1 = 0.2, v2 = 0.3, q1 = 0.03, q2 = 0.01, rho = 0.4, K = 100;
    const double rate = 0.05, T = 1, v = sqrt(v1 * v1 + v2 * v2 - 2 * rho * v1 * v2);
    quad_book b = one_contract(QUAD_MAX_CALL, 0, 2);
    b.assets = 2, b.contract[0].assets = 2, b.contract[0].asset[1] = 1;
    b.s0[0] = s1, b.s0[1] = s2, b.sigma[0] = v1, b.sigma[1] = v2;
    b.dividend[0] = q1, b.dividend[1] = q2;
    b.correlation[0][1] = b.correlation[1][0] = rho, b.correlation[1][1] = 1;
    const double d = (log(s1 / s2) + (q2 - q1 + 0.5 * v * v) * T) / v;
    const double y1 = (log(s1 / K) + (rate - q1 + 0.5 * v1 * v1) * T) / v1;
    const double y2 = (log(s2 / K) + (rate - q2 + 0.5 * v2 * v2) * T) / v2;
    const double first = s1 * exp(-q1 * T) * stulz_leg(y1, d, (v1 - rho * v2) / v);
    const double second = s2 * exp(-q2 * T) * stulz_leg(y2, v - d, (v2 - rho * v1) / v);
    const double want =
        first + second - K * exp(-rate * T) * (1 - stulz_leg(v1 - y1, v2 - y2, rho));
    const quad_result r = solve(&b, 0);
    near(r.price, want, 5e-6, "max-call");
    near(r.epe[0], exp(0.5 * rate) * want, 5e-6, "EPE of a max-call");
}

/* A basket of equal assets that move together is one of them; here they nearly do. */
TEST(many_assets_are_one) {
    for (int assets = 2; assets <= 3; assets++) {
        quad_book b = one_contract(QUAD_BASKET_PUT, 1, 3);
        const quad_result one = solve(&b, 0);
        b.assets = b.contract[0].assets = assets;
        for (int i = 0; i < assets; i++) {
            b.s0[i] = 100, b.sigma[i] = 0.25, b.dividend[i] = 0.02;
            b.contract[0].asset[i] = i, b.contract[0].weight[i] = 1.0 / assets;
            for (int j = 0; j < assets; j++) b.correlation[i][j] = i == j ? 1 : 1 - 1e-8;
        }
        const quad_result many = solve(&b, 0);
        near(many.price, one.price, 1e-5, "price of many");
        near(many.cva, one.cva, 1e-5, "CVA of many");
    }
}

TEST(agrees_with_another_quadrature) {
    const exact_case cases[] = { { 36, 40, 0.06, 0, 0.2, 1, 0.05, 0.4, 1, 10, 0 },
                                 { 100, 105, 0.02, 0.01, 0.3, 1, 0.08, 0.3, 1, 6, 0 },
                                 { 100, 100, 0.03, 0.07, 0.25, 1, 0.05, 0.4, 0, 8, 0 } };
    for (int i = 0; i < 3; i++) {
        const exact_case *e = &cases[i];
        quad_book b = one_contract(e->put ? QUAD_PUT : QUAD_CALL, 1, e->dates);
        b.s0[0] = e->spot, b.contract[0].strike = e->strike, b.rate = e->rate;
        b.dividend[0] = e->dividend, b.sigma[0] = e->sigma;
        b.hazard[0] = e->hazard, b.recovery = e->recovery;
        near(solve(&b, 0).cva, exact_cva(e, 64), 1e-4,
             "CVA"); /* which is what that one is good for */
    }
}

/* A European call beside a put on other dates: exposures are the price wherever they are measured. Exercise at all dates of the
 * book is exercise at a list of them, and a date between them that nothing happens at changes no other one. */
TEST(unequal_dates) {
    quad_book b = one_contract(QUAD_CALL, 0, 3);
    const double call = black(100, 100, 0.05, 0.02, 0.25, 1);
    b.time[0] = 0.1, b.time[1] = 0.45, b.time[2] = 1.2;
    quad_result r = solve(&b, 0);
    CHECK(r.exposures == 4 && r.time[2] == 1 && r.time[3] == 1.2 && r.epe[3] == 0);
    for (int k = 0; k < 3; k++) near(r.epe[k], exp(0.05 * r.time[k]) * call, 1e-5, "EPE of a call");
    near(r.cva, 0.6 * call * (1 - exp(-0.05)), 1e-5, "CVA of a call");
    b = one_contract(QUAD_PUT, 1, 4);
    const quad_result all = solve(&b, 0);
    for (int i = 0; i < 3; i++) b.contract[0].exercise[i] = 0.25 * (i + 1);
    b.contract[0].exercises = 3;
    near(solve(&b, 0).cva, all.cva, 1e-12, "a list of exercise dates");
    b.dates = 5, b.time[0] = 0.25, b.time[1] = 0.4, b.time[2] = 0.5, b.time[3] = 0.75,
    b.time[4] = 1;
    r = solve(&b, 0);
    near(r.price, all.price, 1e-6, "price with another date");
    near(r.epe[0], all.epe[0], 1e-6, "EPE with another date");
    near(r.epe[2], all.epe[1], 1e-6, "EPE with another date");
    near(r.epe[1], exp(0.05 * 0.15) * (r.epe[0] - r.cash[0]), 1e-5, "EPE between");
}

/* What is long and short is worth nothing, in every state. */
TEST(what_cancels) {
    quad_book b = one_contract(QUAD_PUT, 1, 6);
    b.contracts = 2, b.contract[1] = b.contract[0], b.contract[1].quantity = -1;
    const quad_result r = solve(&b, 0);
    CHECK_MSG(fabs(r.price) < 1e-12 && fabs(r.cva) < 1e-8, "%g, %g", r.price, r.cva);
}

/* e^(-r t) (EPE - ENE), and what has been paid before, is the price at every date: the backward and the
 * forward half of the quadrature agree. */
TEST(martingale) {
    quad_book b = one_contract(QUAD_PUT, 1, 8);
    b.contracts = 3, b.contract[1] = b.contract[2] = b.contract[0];
    b.contract[1].quantity = -2, b.contract[1].strike = 95, b.contract[1].maturity = 0.5;
    b.contract[2].payoff = QUAD_CALL, b.contract[2].american = 0;
    for (int assets = 1; assets <= 2; assets++) {
        b.assets = b.contract[0].assets = assets;
        if (assets == 2) {
            b.contract[0].payoff = QUAD_BASKET_PUT, b.contract[0].asset[1] = 1;
            b.contract[0].weight[0] = b.contract[0].weight[1] = 0.5;
            b.s0[1] = 100, b.sigma[1] = 0.3, b.correlation[1][1] = 1;
            b.correlation[0][1] = b.correlation[1][0] = -0.2, b.dates = 4;
        }
        const quad_result r = solve(&b, 0);
        double paid = 0;
        for (int k = 1; k <= b.dates; k++) {
            const double discount = exp(-b.rate * k / b.dates);
            near(paid + discount * (r.epe[k - 1] - r.ene[k - 1]), r.price, 1e-5, "the martingale");
            paid += discount * r.cash[k - 1];
        }
        near(paid, r.price, 1e-5, "all that is paid");
    }
}

/* ---- the cases ---------------------------------------------------------------------------------- */

static double apart(const double *a, const double *b, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Half the grid keeps the promise; all of it gives the known numbers. */
TEST(known_numbers) {
    known_case c;
    FILE *file = open_cases();
    int cases = 0, kept_apart = 0;
    while (case_next(file, &c, NULL)) {
        const int size = size_of(&c.book);
        const double promise = fineness[size].promise, scale = fabs(c.known.cva);
        cases++, kept_apart += strcmp(c.use, "apart") == 0;
        const int dates = quad_calendar_of(&c.book).exposures;
        CHECK_MSG(c.epe == dates && c.ene == dates && c.limit > 0, "%s", c.name);
        CHECK_MSG(c.times == (c.book.time[0] > 0 || dates > c.book.dates ? dates : 0), "%s",
                  c.name);
        CHECK_MSG(c.error <= promise * scale, "%s: error %g of %g", c.name, c.error, c.known.cva);
        double largest = 0;
        for (int k = 0; k < c.epe; k++) largest = fmax(largest, c.known.epe[k] + c.known.ene[k]);
        for (int full = 0; full < (small ? 1 : 2); full++) {
            if (small && size > 1) continue; /* more than two assets take long */
            const quad_result r = solve(&c.book, full);
            const double room = full ? 1e-9 : promise;
            CHECK_MSG(fabs(r.cva - c.known.cva) <= room * scale, "%s: CVA %.10g, not %.10g", c.name,
                      r.cva, c.known.cva);
            CHECK_MSG(fabs(r.price - c.known.price) <= room * largest, "%s: price %.10g, not %.10g",
                      c.name, r.price, c.known.price);
            const double off =
                fmax(apart(r.epe, c.known.epe, c.epe), apart(r.ene, c.known.ene, c.ene));
            CHECK_MSG(off <= 10 * room * largest, "%s: exposures differ by %g", c.name, off);
            CHECK(!c.times || apart(r.time, c.known.time, c.times) < 1e-8);
        }
    }
    fclose(file);
    CHECK_MSG(cases >= 30 && kept_apart >= 10 && cases - kept_apart >= 10, "%d, %d", cases,
              kept_apart);
}

static void write_list(const char *word, const double *numbers, int count) {
    printf("%s", word);
    for (int i = 0; i < count; i++) printf(" %.10g", numbers[i] < 1e-12 ? 0 : numbers[i]);
    putchar('\n');
}

static int write_cases(void) {
    known_case c;
    FILE *file = open_cases();
    for (int more = 1; more;) {
        more = case_next(file, &c, stdout);
        if (!*c.name) break;
        const quad_result half = solve(&c.book, 0), full = solve(&c.book, 1);
        printf("price %.10g\ncva %.10g %.1e\n", full.price, full.cva, fabs(full.cva - half.cva));
        if (c.book.time[0] > 0 || full.exposures > c.book.dates)
            write_list("times", full.time, full.exposures);
        write_list("epe", full.epe, full.exposures);
        write_list("ene", full.ene, full.exposures);
        if (more) putchar('\n');
        fflush(stdout);
    }
    fclose(file);
    return 0;
}

int main(int argc, char **argv) {
    int kept = 1, write = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0)
            small = 1;
        else if (strcmp(argv[i], "--write") == 0)
            write = 1;
        else if (!path && argv[i][0] != '-')
            path = argv[i];
        else
            argv[kept++] = argv[i];
    }
    if (!path) {
        fprintf(stderr, "usage: %s [--small | --write] cva_cases.txt [WORD...]\n", argv[0]);
        return TEST_USAGE;
    }
    if (write) return write_cases();
    TEST_BEGIN(kept, argv);
    RUN(closed_forms);
    RUN(max_call_of_stulz);
    RUN(many_assets_are_one);
    RUN(agrees_with_another_quadrature);
    RUN(unequal_dates);
    RUN(what_cancels);
    RUN(martingale);
    RUN(known_numbers);
    return TEST_END();
}
