/* SPDX-License-Identifier: Apache-2.0
 *
 * test_null.c - a plan or a context that is NULL: every public function says so and touches nothing, every _free() and
 * shoal_close() does nothing.
 */
#include "test.h"
#include <math.h>
#include <shoal/shoal.h>

static double x[4];
static float f[4];
static int32_t whole[4];

#define REFUSED(call) CHECK((call) == SHOAL_E_ARG)

TEST(contexts) {
    void *memory = x;
    shoal_machine machine;
    REFUSED(shoal_open(NULL, NULL));
    REFUSED(shoal_describe(NULL, &machine));
    REFUSED(shoal_set_stream(NULL, NULL));
    REFUSED(shoal_wait(NULL));
    REFUSED(shoal_set_progress(NULL, NULL, NULL));
    REFUSED(shoal_alloc(NULL, 8, &memory));
    REFUSED(shoal_copy(NULL, x, x, 8));
    CHECK(shoal_message(NULL) != NULL);
    shoal_free(NULL, NULL);
    shoal_close(NULL);
}

TEST(tridiag) {
    const shoal_tridiag_opts o = { .n = 1, .count = 1, .nrhs = 1 };
    shoal_tridiag *plan = (shoal_tridiag *)x;
    shoal_tridiag_info info;
    REFUSED(shoal_tridiag_create(NULL, &o, &plan));
    CHECK(plan == NULL);
    REFUSED(shoal_tridiag_solve(NULL, x, x, x, x, x));
    REFUSED(shoal_tridiag_solvef(NULL, f, f, f, f, f));
    REFUSED(shoal_tridiag_factor(NULL, x, x, x, x));
    REFUSED(shoal_tridiag_factorf(NULL, f, f, f, f));
    REFUSED(shoal_tridiag_resolve(NULL, x, x, x));
    REFUSED(shoal_tridiag_resolvef(NULL, x, f, f));
    REFUSED(shoal_tridiag_outcome(NULL, NULL));
    REFUSED(shoal_tridiag_last(NULL, &info));
    REFUSED(shoal_tridiag_generate(NULL, "dominant", 1, 0, &o, x, x, x, x));
    REFUSED(shoal_tridiag_generatef(NULL, "dominant", 1, 0, &o, f, f, f, f));
    REFUSED(shoal_tridiag_exact(NULL, "dominant", 1, 0, &o, x));
    REFUSED(shoal_tridiag_exactf(NULL, "dominant", 1, 0, &o, f));
    CHECK(shoal_tridiag_factor_bytes(NULL) == 0);
    shoal_tridiag_free(NULL);
}

TEST(smallsym) {
    const shoal_smallsym_opts o = { .n = 1, .count = 1, .nrhs = 1 };
    shoal_smallsym *plan = (shoal_smallsym *)x;
    shoal_smallsym_info info;
    REFUSED(shoal_smallsym_create(NULL, &o, &plan));
    CHECK(plan == NULL);
    REFUSED(shoal_smallsym_solve(NULL, x, x, x));
    REFUSED(shoal_smallsym_solvef(NULL, f, f, f));
    REFUSED(shoal_smallsym_eig(NULL, x, x, x));
    REFUSED(shoal_smallsym_eigf(NULL, f, f, f));
    REFUSED(shoal_smallsym_eigtridiag(NULL, x, x, x, x));
    REFUSED(shoal_smallsym_eigtridiagf(NULL, f, f, f, f));
    REFUSED(shoal_smallsym_factor(NULL, x, x));
    REFUSED(shoal_smallsym_factorf(NULL, f, f));
    REFUSED(shoal_smallsym_resolve(NULL, x, x, x));
    REFUSED(shoal_smallsym_resolvef(NULL, f, f, f));
    REFUSED(shoal_smallsym_gram(NULL, 1, x, x, x));
    REFUSED(shoal_smallsym_gramf(NULL, 1, f, f, f));
    REFUSED(shoal_smallsym_reduce(NULL, x, x, x, x));
    REFUSED(shoal_smallsym_reducef(NULL, f, f, f, f));
    REFUSED(shoal_smallsym_pcr(NULL, x, x, x, x, x));
    REFUSED(shoal_smallsym_pcrf(NULL, f, f, f, f, f));
    REFUSED(shoal_smallsym_learn(NULL));
    REFUSED(shoal_smallsym_outcome(NULL, NULL));
    REFUSED(shoal_smallsym_last(NULL, &info));
    REFUSED(shoal_smallsym_generate(NULL, "spd", 1, 1, 0, &o, x, x));
    REFUSED(shoal_smallsym_generatef(NULL, "spd", 1, 1, 0, &o, f, f));
    shoal_smallsym_free(NULL);
}

TEST(band) {
    const shoal_band_opts o = { .n = 1, .count = 1, .nrhs = 1 };
    shoal_band *plan = (shoal_band *)x;
    shoal_band_info info;
    REFUSED(shoal_band_create(NULL, &o, &plan));
    CHECK(plan == NULL);
    REFUSED(shoal_band_solve(NULL, x, x, x, x, x, x, x));
    REFUSED(shoal_band_solvef(NULL, f, f, f, f, f, f, f));
    REFUSED(shoal_band_outcome(NULL, NULL));
    REFUSED(shoal_band_last(NULL, &info));
    REFUSED(shoal_band_generate(NULL, "random", 1, 0, &o, x, x, x, x, x, x));
    REFUSED(shoal_band_generatef(NULL, "random", 1, 0, &o, f, f, f, f, f, f));
    shoal_band_free(NULL);
}

TEST(symindef) {
    const shoal_symindef_opts o = { .n = 1 };
    shoal_symindef *plan = (shoal_symindef *)x;
    shoal_symindef_info info;
    shoal_symindef_change change;
    REFUSED(shoal_symindef_create(NULL, &o, &plan));
    CHECK(plan == NULL);
    REFUSED(shoal_symindef_factor(NULL, x));
    REFUSED(shoal_symindef_factorf(NULL, f));
    REFUSED(shoal_symindef_solve(NULL, x, 1, x, x));
    REFUSED(shoal_symindef_solvef(NULL, f, 1, f, f));
    REFUSED(shoal_symindef_inverse(NULL, x, x));
    REFUSED(shoal_symindef_inversef(NULL, f, f));
    REFUSED(shoal_symindef_gjgt(NULL, x, 0, x, whole));
    REFUSED(shoal_symindef_gjgtf(NULL, f, 0, f, whole));
    REFUSED(shoal_symindef_eig(NULL, x, x, x, NULL));
    REFUSED(shoal_symindef_eigf(NULL, f, f, f, NULL));
    REFUSED(shoal_symindef_modify(NULL, x, 1, &change));
    REFUSED(shoal_symindef_modifyf(NULL, f, 1, &change));
    REFUSED(shoal_symindef_refine(NULL, x, x, 1, x, x, x, x));
    REFUSED(shoal_symindef_refinef(NULL, f, f, 1, f, f, x, x));
    REFUSED(shoal_symindef_rcond(NULL, x, x));
    REFUSED(shoal_symindef_rcondf(NULL, f, x));
    REFUSED(shoal_symindef_order(NULL, whole, whole, x));
    REFUSED(shoal_symindef_last(NULL, &info));
    REFUSED(shoal_symindef_generate(NULL, "random", 1, 1, x));
    REFUSED(shoal_symindef_generatef(NULL, "random", 1, 1, f));
    shoal_symindef_free(NULL);
}

TEST(recur_and_rng) {
    const shoal_recur_opts o = { .n = 1, .count = 1, .order = 1 };
    const shoal_rng_opts law = { .method = "normal" };
    shoal_recur *plan = (shoal_recur *)x;
    shoal_rng *numbers = (shoal_rng *)x;
    shoal_recur_info info;
    shoal_rng_info last;
    uint32_t words[4];
    REFUSED(shoal_recur_create(NULL, &o, &plan));
    CHECK(plan == NULL);
    REFUSED(shoal_recur_solve(NULL, x, x, x, x));
    REFUSED(shoal_recur_solvef(NULL, f, f, f, f));
    REFUSED(shoal_recur_outcome(NULL, NULL));
    REFUSED(shoal_recur_last(NULL, &info));
    REFUSED(shoal_recur_generate(NULL, "stable", 1, 0, &o, x, x, x));
    REFUSED(shoal_recur_generatef(NULL, "stable", 1, 0, &o, f, f, f));
    shoal_recur_free(NULL);
    REFUSED(shoal_rng_create(NULL, &law, &numbers));
    CHECK(numbers == NULL);
    REFUSED(shoal_rng_fill(NULL, 0, 1, x));
    REFUSED(shoal_rng_fillf(NULL, 0, 1, f));
    REFUSED(shoal_rng_fillu(NULL, 0, 1, words));
    REFUSED(shoal_rng_parameters(NULL, x));
    REFUSED(shoal_rng_last(NULL, &last));
    shoal_rng_free(NULL);
}

TEST(sort) {
    const shoal_sort_opts o = { .n = 1, .count = 1 };
    const shoal_merge_opts m = { .na = 1, .nb = 1, .count = 1 };
    shoal_sort *plan = (shoal_sort *)x;
    shoal_merge *merge = (shoal_merge *)x;
    shoal_sort_info info;
    REFUSED(shoal_sort_create(NULL, &o, &plan));
    REFUSED(shoal_merge_create(NULL, &m, &merge));
    CHECK(plan == NULL && merge == NULL);
    REFUSED(shoal_sort_run(NULL, x, NULL, x, NULL));
    REFUSED(shoal_sort_last(NULL, &info));
    REFUSED(shoal_merge_run(NULL, x, x, x, NULL, NULL, NULL));
    REFUSED(shoal_merge_last(NULL, &info));
    shoal_sort_free(NULL);
    shoal_merge_free(NULL);
}

TEST(prices) {
    const shoal_heston heston = shoal_heston_example();
    const shoal_expou expou = shoal_expou_example();
    const shoal_bullet bullet = shoal_bullet_example();
    const shoal_price_opts o = { .steps = 1 };
    const shoal_american american = { .strike = 1 };
    const shoal_american_opts paths = { .assets = 1, .dates = 1 };
    const shoal_pde_opts grid = { .nx = 100 };
    const shoal_bullet_point point = { 0 };
    shoal_price *plan[4] = { (shoal_price *)x, (shoal_price *)x, (shoal_price *)x,
                             (shoal_price *)x };
    shoal_pde *pde = (shoal_pde *)x;
    shoal_price_info info;
    shoal_price_value value;
    const shoal_price_goal goal = { .paths = 1 };
    shoal_american_fit fit;
    shoal_pde_shape shape;
    REFUSED(shoal_heston_prices(NULL, &heston, NULL, 1, x, NULL));
    REFUSED(shoal_heston_calibrate(NULL, &heston, NULL, 1, x, NULL, NULL, NULL, NULL));
    REFUSED(shoal_price_heston(NULL, &heston, &o, &plan[0]));
    REFUSED(shoal_price_expou(NULL, &expou, &o, &plan[1]));
    REFUSED(shoal_price_bullet(NULL, &bullet, &o, &point, 1, &plan[2]));
    REFUSED(shoal_price_american(NULL, &american, 1, &paths, &plan[3]));
    for (int i = 0; i < 4; i++) CHECK_MSG(plan[i] == NULL, "%d", i);
    REFUSED(shoal_price_run(NULL, 0, 1, x));
    REFUSED(shoal_price_add(NULL, x, 1, x));
    REFUSED(shoal_price_result(NULL, x, 1, &value));
    REFUSED(shoal_price_simulate(NULL, &goal, &value, NULL));
    REFUSED(shoal_heston_value(NULL, &heston, &o, &goal, &value));
    REFUSED(shoal_expou_value(NULL, &expou, &o, &goal, &value));
    REFUSED(shoal_bullet_value(NULL, &bullet, &o, &point, 1, &goal, &value));
    REFUSED(shoal_american_value(NULL, &american, 1, &paths, &goal, &value));
    REFUSED(shoal_price_describe(NULL, &info));
    REFUSED(shoal_american_fits(NULL, &fit));
    CHECK(shoal_price_width(NULL) == 0 && shoal_price_sums(NULL, 1) == 0);
    CHECK(shoal_price_points(NULL) == NULL);
    shoal_price_free(NULL);
    REFUSED(shoal_pde_create(NULL, &bullet, 1, &grid, &pde));
    CHECK(pde == NULL);
    REFUSED(shoal_pde_run(NULL, x, x));
    REFUSED(shoal_pde_runf(NULL, f, f));
    REFUSED(shoal_pde_value(NULL, 0, &point, x, &value));
    REFUSED(shoal_pde_describe(NULL, &shape));
    CHECK(isnan(shoal_pde_log(NULL, 0, 0)));
    shoal_pde_free(NULL);
}

TEST(books_data_sets_and_networks) {
    const shoal_cva_market market = { .assets = 1 };
    const shoal_cva_contract contract = { .quantity = 1 };
    const shoal_cva_counterparty counterparty = { .pieces = 1 };
    const shoal_cva_opts o = { .dates = 1 };
    const shoal_dataset_opts design = { .samples = 1 };
    const shoal_surrogate_data data = { .rows = 1 };
    const shoal_surrogate_opts shape = { .layers = 1 };
    shoal_cva *plan = (shoal_cva *)x;
    shoal_dataset *set = (shoal_dataset *)x;
    shoal_surrogate *net[2] = { (shoal_surrogate *)x, (shoal_surrogate *)x };
    shoal_cva_info info;
    shoal_cva_value value;
    shoal_cva_date profile;
    shoal_cva_validation validation;
    shoal_cva_adjustments adjustments;
    shoal_surrogate_info about;
    const double *w, *b;
    int inputs, neurons;
    uint32_t outside;
    size_t size = sizeof x;
    REFUSED(shoal_cva_create(NULL, &market, &contract, 1, &counterparty, &o, &plan));
    CHECK(plan == NULL);
    REFUSED(shoal_cds_bootstrap(NULL, 0, NULL, 0.4, &(shoal_cds){ .maturity = 1 }, 1, x));
    REFUSED(shoal_cva_run(NULL, 0, 1, x, NULL));
    REFUSED(shoal_cva_result(NULL, x, 1, &value, &profile));
    REFUSED(shoal_cva_describe(NULL, &info));
    REFUSED(shoal_cva_validate(NULL, x, 2, &validation, NULL));
    REFUSED(shoal_cva_run_trades(NULL, 0, 1, x, NULL, NULL, NULL));
    REFUSED(shoal_cva_adjust(NULL, x, 1, SHOAL_CVA_BOOK, 0, &adjustments, NULL));
    REFUSED(shoal_cva_trades(NULL, NULL, 1, NULL, NULL));
    REFUSED(shoal_cva_add_sums(NULL, x, 1, NULL));
    REFUSED(shoal_cva_result_of_sums(NULL, NULL, 1, &value, &profile));
    REFUSED(shoal_cva_adjust_of_sums(NULL, NULL, 1, SHOAL_CVA_BOOK, 0, &adjustments, NULL));
    REFUSED(shoal_cva_sensitivities(NULL, x, 2, NULL));
    CHECK(shoal_cva_width(NULL) == 0 && shoal_cva_totals(NULL) == 0 && shoal_cva_sums(NULL) == 0);
    CHECK(shoal_cva_parameters(NULL) == 0);
    shoal_cva_free(NULL);
    REFUSED(shoal_dataset_create(NULL, &design, &set));
    CHECK(set == NULL);
    REFUSED(shoal_dataset_design(NULL, 0, 1, x));
    REFUSED(shoal_dataset_run(NULL, 0, 1, x, x));
    shoal_dataset_ranges(NULL);
    shoal_dataset_free(NULL);
    REFUSED(shoal_surrogate_train(NULL, &data, &data, &shape, NULL, NULL, &net[0], NULL));
    REFUSED(shoal_surrogate_load(NULL, x, sizeof x, &net[1]));
    CHECK(net[0] == NULL && net[1] == NULL);
    REFUSED(shoal_surrogate_predict(NULL, 1, x, SHOAL_F64, x, x, x));
    REFUSED(shoal_surrogate_outside(NULL, 1, x, &outside));
    REFUSED(shoal_surrogate_describe(NULL, &about));
    REFUSED(shoal_surrogate_layer(NULL, 0, &inputs, &neurons, &w, &b));
    REFUSED(shoal_surrogate_save(NULL, x, &size));
    shoal_surrogate_free(NULL);
}

/* No place for what is made. */
TEST(plans_that_nobody_gets) {
    const shoal_heston heston = shoal_heston_example();
    const shoal_expou expou = shoal_expou_example();
    const shoal_bullet bullet = shoal_bullet_example();
    const double hundred = 100, fifth = 0.2, hazard = 0.05;
    const int64_t first = 0;
    const shoal_american put = { .strike = 100, .maturity = 1, .s0 = &hundred, .sigma = &fifth };
    const shoal_cva_market market = { .assets = 1, .s0 = &hundred, .sigma = &fifth };
    const shoal_cva_contract contract = {
        .strike = 100, .maturity = 1, .quantity = 1, .assets = 1, .asset = &first
    };
    const shoal_cva_counterparty counterparty = { .pieces = 1, .hazard = &hazard };
    const shoal_cva_opts nested = { .dates = 1, .outer = 4 };
    const shoal_american_opts paths = { .assets = 1, .dates = 1, .fit_paths = 100 };
    const shoal_price_opts steps = { .steps = 1 };
    const shoal_surrogate_data data = { .rows = 1 };
    shoal_dataset_opts design = { .samples = 1 };
    shoal_context *ctx = NULL;
    shoal_dataset_ranges(&design);
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_OK);
    REFUSED(
        shoal_tridiag_create(ctx, &(shoal_tridiag_opts){ .n = 1, .count = 1, .nrhs = 1 }, NULL));
    REFUSED(
        shoal_smallsym_create(ctx, &(shoal_smallsym_opts){ .n = 1, .count = 1, .nrhs = 1 }, NULL));
    REFUSED(shoal_band_create(ctx, &(shoal_band_opts){ .n = 1, .count = 1, .nrhs = 1 }, NULL));
    REFUSED(shoal_symindef_create(ctx, &(shoal_symindef_opts){ .n = 1 }, NULL));
    REFUSED(shoal_recur_create(ctx, &(shoal_recur_opts){ .n = 1, .count = 1, .order = 1 }, NULL));
    REFUSED(shoal_rng_create(ctx, &(shoal_rng_opts){ .method = "normal" }, NULL));
    REFUSED(shoal_sort_create(ctx, &(shoal_sort_opts){ .n = 1, .count = 1 }, NULL));
    REFUSED(shoal_merge_create(ctx, &(shoal_merge_opts){ .na = 1, .nb = 1, .count = 1 }, NULL));
    REFUSED(shoal_price_heston(ctx, &heston, &steps, NULL));
    REFUSED(shoal_price_expou(ctx, &expou, &steps, NULL));
    REFUSED(shoal_price_bullet(ctx, &bullet, &steps, NULL, 1, NULL));
    REFUSED(shoal_price_american(ctx, &put, 1, &paths, NULL));
    REFUSED(shoal_pde_create(ctx, &bullet, 1, &(shoal_pde_opts){ .nx = 64 }, NULL));
    REFUSED(shoal_cva_create(ctx, &market, &contract, 1, &counterparty, &nested, NULL));
    REFUSED(shoal_dataset_create(ctx, &design, NULL));
    REFUSED(shoal_surrogate_train(ctx, &data, &data, &(shoal_surrogate_opts){ .layers = 1 }, NULL,
                                  NULL, NULL, NULL));
    REFUSED(shoal_surrogate_load(ctx, x, sizeof x, NULL));
    CHECK(strstr(shoal_message(ctx), "net is NULL") != NULL);
    shoal_close(ctx);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(contexts);
    RUN(tridiag);
    RUN(smallsym);
    RUN(band);
    RUN(symindef);
    RUN(recur_and_rng);
    RUN(sort);
    RUN(prices);
    RUN(books_data_sets_and_networks);
    RUN(plans_that_nobody_gets);
    return TEST_END();
}
