/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.cpp - credit valuation adjustments.
 */
#include "arrays.h"
#include "plans.h"

static constexpr auto cva_destroy = destroy_plan<shoal_cva, shoal_cva_free>;

void bind_cva(nb::module_ &m) {
    m.def("cva", [](nb::object py, nb::dict market, nb::list contracts, nb::list counterparties,
                    nb::list agreements, nb::dict funding, nb::dict options) {
        Keep keep;
        auto assets = filled<shoal_cva_market>(market, keep);
        const auto cash = filled_list<shoal_cva_curve>(funding["cash"], keep); /* per asset */
        const auto book = filled_list<shoal_cva_contract>(contracts, keep);
        const auto others = filled_list<shoal_cva_counterparty>(counterparties, keep);
        const auto own = filled_list<shoal_cva_counterparty>(funding["own"], keep);
        const auto csa = filled_list<shoal_cva_csa>(agreements, keep);
        auto opts = filled<shoal_cva_opts>(options, keep);
        opts.csas = (int64_t)csa.size(), opts.csa = csa.data();
        opts.parties = (int64_t)others.size(), opts.own = own.empty() ? nullptr : own.data();
        const auto heston = filled_list<shoal_cva_heston>(funding["heston"], keep); /* the same */
        assets.cash = cash.empty() ? nullptr : cash.data();
        assets.heston = heston.empty() ? nullptr : heston.data();
        opts.borrowing = filled<shoal_cva_curve>(funding["borrowing"], keep);
        opts.lending = filled<shoal_cva_curve>(funding["lending"], keep);
        return new_plan<shoal_cva, shoal_cva_free>(py, [&](shoal_context *c, shoal_cva **p) {
            return shoal_cva_create(c, &assets, book.data(), (int64_t)book.size(), others.data(),
                                    &opts, p);
        });
    });
    m.def("cva_describe", [](Plan &plan) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        shoal_cva_info info = {};
        plan.run([&] { return shoal_cva_describe(handle, &info); });
        return dict_of(info);
    });
    m.def("cva_width",
          [](Plan &plan) { return shoal_cva_width(handle_of<shoal_cva>(plan, cva_destroy)); });
    /* totals: for cva_trades(), cva_totals() whole numbers that are 0 at first; or 0 */
    m.def("cva_run", [](Plan &plan, int64_t first, int64_t paths, Array samples, Array totals) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        auto *const rows = static_cast<double *>(samples.data);
        auto *const sums = static_cast<int64_t *>(totals.data);
        shoal_cva_counts counts = {};
        plan.run([&] {
            return sums ? shoal_cva_run_trades(handle, first, paths, rows, &counts, sums, nullptr)
                        : shoal_cva_run(handle, first, paths, rows, &counts);
        });
        return dict_of(counts);
    });
    m.def("cva_totals",
          [](Plan &plan) { return shoal_cva_totals(handle_of<shoal_cva>(plan, cva_destroy)); });
    /* from: samples; with sums, those of shoal_cva_add_sums() */
    m.def("cva_adjust",
          [](Plan &plan, Array from, bool sums, int64_t paths, int part, int64_t index) {
              auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
              const auto of = static_cast<shoal_cva_part>(part);
              shoal_cva_adjustments result = {};
              plan.run([&] {
                  return sums ? shoal_cva_adjust_of_sums(handle, static_cast<int64_t *>(from.data),
                                                         paths, of, index, &result, nullptr)
                              : shoal_cva_adjust(handle, static_cast<double *>(from.data), paths,
                                                 of, index, &result, nullptr);
              });
              return dict_of(result);
          });
    m.def("cva_trades", [](Plan &plan, Array totals, int64_t paths, int64_t count) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        std::vector<shoal_cva_trade> trades((size_t)count);
        plan.run([&] {
            return shoal_cva_trades(handle, static_cast<int64_t *>(totals.data), paths,
                                    trades.data(), nullptr);
        });
        return list_of(trades);
    });
    m.def("cva_sensitivities", [](Plan &plan, Array samples, int64_t paths) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        std::vector<shoal_cva_sensitivity> found((size_t)shoal_cva_parameters(handle));
        plan.run([&] {
            return shoal_cva_sensitivities(handle, static_cast<double *>(samples.data), paths,
                                           found.data());
        });
        return list_of(found);
    });
    m.def("cva_result", [](Plan &plan, Array from, bool sums, int64_t paths, int64_t dates) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        shoal_cva_value value = {};
        std::vector<shoal_cva_date> profile((size_t)dates);
        plan.run([&] {
            return sums ? shoal_cva_result_of_sums(handle, static_cast<int64_t *>(from.data), paths,
                                                   &value, profile.data())
                        : shoal_cva_result(handle, static_cast<double *>(from.data), paths, &value,
                                           profile.data());
        });
        return nb::make_tuple(dict_of(value), list_of(profile));
    });
    m.def("cva_validate", [](Plan &plan, Array samples, int64_t paths, Array checks) {
        auto *handle = handle_of<shoal_cva>(plan, cva_destroy);
        shoal_cva_validation result = {};
        plan.run([&] {
            return shoal_cva_validate(handle, static_cast<double *>(samples.data), paths, &result,
                                      static_cast<shoal_cva_check *>(checks.data));
        });
        return dict_of(result);
    });
    m.attr("cva_check_columns") = names_of<shoal_cva_check>();
    m.attr("cva_dates") = SHOAL_CVA_DATES;
    m.attr("cva_usual_dates") = SHOAL_CVA_USUAL_DATES;
    m.attr("cva_usual_outer") = SHOAL_CVA_USUAL_OUTER;
    m.attr("cva_usual_hazard") = SHOAL_CVA_USUAL_HAZARD;
    m.attr("cva_usual_recovery") = SHOAL_CVA_USUAL_RECOVERY;
    m.attr("cva_credit") = std::vector<int>{ SHOAL_CVA_HAZARD, SHOAL_CVA_RECOVERY };
    m.def("cva_payoffs", [] { return listed(shoal_cva_payoffs); });
}
