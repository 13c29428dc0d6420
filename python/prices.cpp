/* SPDX-License-Identifier: Apache-2.0
 *
 * prices.cpp - prices and calibration.
 */
#include "arrays.h"
#include "plans.h"

static constexpr auto price_destroy = destroy_plan<shoal_price, shoal_price_free>;

static std::unique_ptr<Plan> price_plan(nb::object py, const std::string &model,
                                        nb::dict parameters, nb::dict options, nb::list points) {
    Keep keep;
    auto make = [&](auto create) { return new_plan<shoal_price, shoal_price_free>(py, create); };
    const auto opts = filled<shoal_price_opts>(options, keep);
    if (model == "heston") {
        const auto m = filled(parameters, keep, shoal_heston_example());
        return make(
            [&](shoal_context *c, shoal_price **p) { return shoal_price_heston(c, &m, &opts, p); });
    }
    if (model == "expou") {
        const auto m = filled(parameters, keep, shoal_expou_example());
        return make(
            [&](shoal_context *c, shoal_price **p) { return shoal_price_expou(c, &m, &opts, p); });
    }
    const auto m = filled(parameters, keep, shoal_bullet_example());
    const auto at = filled_list<shoal_bullet_point>(points, keep);
    return make([&](shoal_context *c, shoal_price **p) {
        return shoal_price_bullet(c, &m, &opts, at.empty() ? nullptr : at.data(),
                                  at.empty() ? 1 : (int64_t)at.size(), p);
    });
}

static std::unique_ptr<Plan> american_plan(nb::object py, nb::list options, nb::dict settings) {
    Keep keep;
    const auto all = filled_list<shoal_american>(options, keep);
    const auto opts = filled<shoal_american_opts>(settings, keep);
    return new_plan<shoal_price, shoal_price_free>(py, [&](shoal_context *c, shoal_price **p) {
        return shoal_price_american(c, all.data(), (int64_t)all.size(), &opts, p);
    });
}

static nb::dict price_simulate(Plan &plan, nb::dict goal, Array values) {
    auto *handle = handle_of<shoal_price>(plan, price_destroy);
    Keep keep;
    const auto wanted = filled<shoal_price_goal>(goal, keep);
    shoal_price_progress done = {};
    plan.run([&] {
        return shoal_price_simulate(handle, &wanted, static_cast<shoal_price_value *>(values.data),
                                    &done);
    });
    return dict_of(done);
}

/* The values of `samples` samples from the sums of their blocks, as shoal_price_simulate() has them. */
static void price_values(Plan &plan, Array sums, int64_t samples, Array values) {
    auto *handle = handle_of<shoal_price>(plan, price_destroy);
    std::vector<double> total(2 * (size_t)shoal_price_width(handle));
    plan.run([&] {
        const shoal_status status =
            shoal_price_add(handle, static_cast<double *>(sums.data), samples, total.data());
        return status == SHOAL_OK
                   ? shoal_price_result(handle, total.data(), samples,
                                        static_cast<shoal_price_value *>(values.data))
                   : status;
    });
}

void bind_prices(nb::module_ &m) {
    m.def("price", price_plan);
    m.def("american", american_plan);
    m.attr("price_paths") = SHOAL_PRICE_PATHS;
    m.attr("american_dates") = SHOAL_AMERICAN_DATES;
    m.def("american_method", [](int payoff, int64_t assets, bool simulated, bool dated) {
        return shoal_american_method((shoal_payoff)payoff, assets, simulated, dated);
    });
    m.def("price_simulate", price_simulate);
    m.def("price_describe", [](Plan &plan) {
        shoal_price_info info = {};
        auto *handle = handle_of<shoal_price>(plan, price_destroy);
        plan.run([&] { return shoal_price_describe(handle, &info); });
        return dict_of(info);
    });
    m.def("american_fits", [](Plan &plan, int64_t count) {
        std::vector<shoal_american_fit> fits((size_t)count);
        auto *handle = handle_of<shoal_price>(plan, price_destroy);
        plan.run([&] { return shoal_american_fits(handle, fits.data()); });
        return list_of(fits);
    });
    /* arrays of doubles, one number per option; call and status: int32 */
    m.def("vanilla", [](Context &context, nb::dict settings, int64_t count, Array s0, Array strike,
                        Array rate, Array sigma, Array maturity, Array dividend, Array call,
                        Array prices, nb::list results, Array status) {
        Keep keep;
        auto doubles = [](const Array &array) { return static_cast<double *>(array.data); };
        const auto opts = filled<shoal_vanilla_opts>(settings, keep);
        const shoal_vanilla options = { doubles(s0),
                                        doubles(strike),
                                        doubles(rate),
                                        doubles(sigma),
                                        doubles(maturity),
                                        doubles(dividend),
                                        static_cast<int32_t *>(call.data) };
        double *to[7] = {};
        for (size_t i = 0; i < results.size(); i++) to[i] = doubles(nb::cast<Array>(results[i]));
        const shoal_vanilla_values values = { to[0], to[1], to[2], to[3], to[4], to[5], to[6] };
        auto *const flags = static_cast<int32_t *>(status.data);
        context.run([&] {
            return prices.data ? shoal_vanilla_implied(context.handle, &options, count, &opts,
                                                       doubles(prices), to[0], flags)
                               : shoal_vanilla_value(context.handle, &options, count, &opts,
                                                     &values, flags);
        });
    });
    /* the same by finite differences; curves: of rates, dividends, volatilities and cash */
    m.def("vanilla_pde", [](Context &context, nb::dict settings, nb::dict curves, int64_t count,
                            Array s0, Array strike, Array rate, Array sigma, Array maturity,
                            Array dividend, Array call, nb::list results, Array status) {
        Keep keep;
        auto doubles = [](const Array &array) { return static_cast<double *>(array.data); };
        auto opts = filled<shoal_vanilla_pde_opts>(settings, keep);
        opts.rates = filled<shoal_curve>(curves["rates"], keep);
        opts.dividends = filled<shoal_curve>(curves["dividends"], keep);
        opts.sigmas = filled<shoal_curve>(curves["sigmas"], keep);
        opts.cash = filled<shoal_curve>(curves["cash"], keep);
        const shoal_vanilla options = { doubles(s0),
                                        doubles(strike),
                                        doubles(rate),
                                        doubles(sigma),
                                        doubles(maturity),
                                        doubles(dividend),
                                        static_cast<int32_t *>(call.data) };
        double *to[8] = {}; /* the values without the boundary, and the error */
        for (size_t i = 0; i < results.size(); i++) to[i] = doubles(nb::cast<Array>(results[i]));
        const shoal_vanilla_values values = { to[0], to[1], to[2], to[3], to[4], to[5], to[6] };
        auto *const flags = static_cast<int32_t *>(status.data);
        context.run([&] {
            return shoal_vanilla_pde(context.handle, &options, count, &opts, &values, to[7], flags);
        });
    });
    /* arrays of doubles, one number per option, puts int32; a gradient has the members of the model in their order */
    m.def("heston_prices", [](Context &context, nb::dict model, int64_t count, Array strike,
                              Array maturity, Array put, Array price, Array gradient) {
        Keep keep;
        const auto at = filled<shoal_heston>(model, keep);
        const shoal_heston_options options = { static_cast<double *>(strike.data),
                                               static_cast<double *>(maturity.data), nullptr,
                                               nullptr, static_cast<int32_t *>(put.data) };
        context.run([&] {
            return shoal_heston_prices(context.handle, &at, &options, count,
                                       static_cast<double *>(price.data),
                                       static_cast<shoal_heston *>(gradient.data));
        });
    });
    m.attr("heston_parameters") = names_of<shoal_heston>();
    /* The model, its standard errors, and the rest of a fit; start, low and high as dicts of the model. */
    m.def("heston_calibrate", [](Context &context, nb::dict model, int64_t count, Array strike,
                                 Array maturity, Array rate, Array dividend, Array put, Array price,
                                 Array weight, nb::dict settings, nb::list limits, Array fitted) {
        Keep keep;
        auto doubles = [](const Array &array) { return static_cast<double *>(array.data); };
        const auto at = filled<shoal_heston>(model, keep);
        const auto given = filled_list<shoal_heston>(limits, keep);
        auto opts = filled<shoal_fit_opts>(settings, keep);
        opts.start = &given.at(0), opts.low = &given.at(1), opts.high = &given.at(2);
        const shoal_heston_options quotes = { doubles(strike), doubles(maturity), doubles(rate),
                                              doubles(dividend), static_cast<int32_t *>(put.data) };
        shoal_heston_fit fit = {};
        context.run([&] {
            return shoal_heston_calibrate(context.handle, &at, &quotes, count, doubles(price),
                                          doubles(weight), &opts, &fit, doubles(fitted));
        });
        return nb::make_tuple(dict_of(fit.model), dict_of(fit.error), dict_of(fit));
    });
    m.attr("price_columns") = names_of<shoal_price_value>();

    m.def("price_values", price_values);
}
