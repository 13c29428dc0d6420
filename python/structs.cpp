/* SPDX-License-Identifier: Apache-2.0
 *
 * structs.cpp - the members of the C structs of include/shoal, to fill one from a dict or to turn one into a dict.
 */
#include "structs.h"

#include <limits>
#include <type_traits>

template <class T> static void assign(T &member, nb::handle value, Keep &keep) {
    if constexpr (std::is_same_v<T, const char *>) {
        member = keep.words.emplace_back(nb::cast<std::string>(value)).c_str();
    } else if constexpr (std::is_same_v<T, const double *>) {
        member = keep.numbers.emplace_back(nb::cast<std::vector<double>>(value)).data();
    } else if constexpr (std::is_same_v<T, const int64_t *>) {
        member = keep.integers.emplace_back(nb::cast<std::vector<int64_t>>(value)).data();
    } else if constexpr (std::is_same_v<T, char>) {
        member = nb::cast<std::string>(value)[0];
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, int>) {
        member = static_cast<T>(nb::cast<int>(value));
    } else {
        member = nb::cast<T>(value);
    }
}

/* What a value must be. */
template <class T> static std::string wanted() {
    if constexpr (std::is_same_v<T, const char *> || std::is_same_v<T, char>) return "a word";
    if constexpr (std::is_floating_point_v<T>) return "a number";
    if constexpr (std::is_integral_v<T>)
        return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
               std::to_string(std::numeric_limits<T>::max());
    return "a list of numbers";
}

template <class T> static nb::object value_of(const T &member) {
    if constexpr (std::is_array_v<T>) {
        nb::list list;
        for (const auto &entry : member) list.append(value_of(entry));
        return std::move(list);
    } else if constexpr (std::is_same_v<T, const char *>) {
        return nb::str(member ? member : "");
    } else if constexpr (std::is_pointer_v<T>) {
        return nb::none();
    } else if constexpr (std::is_enum_v<T>) {
        return nb::int_(static_cast<int64_t>(member));
    } else {
        return nb::cast(member);
    }
}

#define FIELD(member)                                                                              \
    Row {                                                                                          \
#member,                                                                                   \
            [](void *s, nb::handle v, Keep &k) {                                                   \
                if constexpr (!std::is_array_v<decltype(S::member)>)                               \
                    assign(static_cast<S *>(s)->member, v, k);                                     \
            },                                                                                     \
            [](const void *s) { return value_of(static_cast<const S *>(s)->member); },       \
            wanted<decltype(S::member)>       \
    }
template <class T> struct Members;
template <class T> const std::vector<Row> &rows() {
    static const std::vector<Row> table = Members<T>::make();
    return table;
}
#define ROWS(type, ...)                                                                            \
    template <> struct Members<type> {                                                             \
        using S = type;                                                                            \
        static std::vector<Row> make() { return { __VA_ARGS__ }; }                                 \
    };                                                                                             \
    template const std::vector<Row> &rows<type>();

ROWS(shoal_options, FIELD(backend), FIELD(isa), FIELD(device), FIELD(threads), FIELD(unchecked),
     FIELD(staging))
ROWS(shoal_machine, FIELD(backend), FIELD(device), FIELD(isa), FIELD(gpu), FIELD(threads),
     FIELD(multiprocessors), FIELD(memory))
ROWS(shoal_tridiag_opts, FIELD(n), FIELD(count), FIELD(nrhs), FIELD(type), FIELD(layout),
     FIELD(method), FIELD(variant), FIELD(tol), FIELD(periodic), FIELD(transposed), FIELD(cond),
     FIELD(delta), FIELD(no_split), FIELD(block), FIELD(waits), FIELD(replays))
ROWS(shoal_tridiag_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(warned), FIELD(redone),
     FIELD(max_residual), FIELD(tol), FIELD(delta), FIELD(cond), FIELD(bytes))
ROWS(shoal_band_opts, FIELD(n), FIELD(count), FIELD(nrhs), FIELD(width), FIELD(is_complex),
     FIELD(type), FIELD(layout), FIELD(method), FIELD(tol), FIELD(cond))
ROWS(shoal_band_info, FIELD(method), FIELD(failed), FIELD(warned), FIELD(max_residual), FIELD(tol),
     FIELD(cond), FIELD(bytes))
ROWS(shoal_smallsym_opts, FIELD(n), FIELD(count), FIELD(nrhs), FIELD(type), FIELD(layout),
     FIELD(storage), FIELD(triangle), FIELD(method), FIELD(variant), FIELD(refine), FIELD(estimate),
     FIELD(tol), FIELD(cond), FIELD(gram), FIELD(waits), FIELD(replays), FIELD(rule))
ROWS(shoal_smallsym_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(warned),
     FIELD(redone), FIELD(max_residual), FIELD(tol), FIELD(cond), FIELD(bytes))
ROWS(shoal_recur_opts, FIELD(n), FIELD(count), FIELD(order), FIELD(form), FIELD(reverse),
     FIELD(constant_s), FIELD(constant_t), FIELD(type), FIELD(layout), FIELD(method),
     FIELD(variant))
ROWS(shoal_recur_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(bytes))
ROWS(shoal_sort_opts, FIELD(n), FIELD(count), FIELD(key), FIELD(value_bytes), FIELD(index),
     FIELD(descending), FIELD(method), FIELD(variant))
ROWS(shoal_merge_opts, FIELD(na), FIELD(nb), FIELD(count), FIELD(key), FIELD(value_bytes),
     FIELD(descending), FIELD(method), FIELD(variant))
ROWS(shoal_sort_info, FIELD(method), FIELD(variant), FIELD(bytes))
ROWS(shoal_symindef_opts, FIELD(n), FIELD(type), FIELD(triangle), FIELD(method), FIELD(variant),
     FIELD(alpha), FIELD(tol), FIELD(growth))
ROWS(shoal_symindef_info, FIELD(method), FIELD(variant), FIELD(status), FIELD(alpha),
     FIELD(epsilon), FIELD(eliminated), FIELD(rank), FIELD(inertia), FIELD(pivots_1x1),
     FIELD(pivots_2x2), FIELD(swaps_1x1), FIELD(swaps_2x2), FIELD(largest), FIELD(tol),
     FIELD(rounding), FIELD(growth), FIELD(max_multiplier), FIELD(log_abs_det), FIELD(sign_det),
     FIELD(bytes))
ROWS(shoal_rng_opts, FIELD(method), FIELD(variant), FIELD(type), FIELD(math), FIELD(seed),
     FIELD(step), FIELD(purpose), FIELD(draw), FIELD(alpha), FIELD(lambda), FIELD(df),
     FIELD(dimensions), FIELD(layout))
ROWS(shoal_rng_info, FIELD(method), FIELD(variant), FIELD(failed), FIELD(bytes))
ROWS(shoal_heston, FIELD(s0), FIELD(rate), FIELD(dividend), FIELD(v0), FIELD(kappa), FIELD(theta),
     FIELD(sigma), FIELD(rho))
ROWS(shoal_fit_opts, FIELD(starts), FIELD(iterations), FIELD(price_errors), FIELD(tol),
     FIELD(solver))
ROWS(shoal_heston_fit, FIELD(objective), FIELD(rms), FIELD(largest), FIELD(condition),
     FIELD(feller), FIELD(converged), FIELD(at_bound), FIELD(iterations), FIELD(evaluations),
     FIELD(agree))
ROWS(shoal_expou, FIELD(s0), FIELD(rate), FIELD(alpha), FIELD(m), FIELD(beta), FIELD(y0),
     FIELD(rho))
ROWS(shoal_bullet, FIELD(s0), FIELD(strike), FIELD(rate), FIELD(maturity), FIELD(sigma),
     FIELD(barrier), FIELD(dates), FIELD(p1), FIELD(p2), FIELD(count))
ROWS(shoal_bullet_point, FIELD(k), FIELD(j), FIELD(x))
ROWS(shoal_american, FIELD(payoff), FIELD(strike), FIELD(rate), FIELD(maturity), FIELD(s0),
     FIELD(sigma), FIELD(dividend), FIELD(weight), FIELD(correlation))
ROWS(shoal_american_opts, FIELD(assets), FIELD(dates), FIELD(degree), FIELD(raw), FIELD(fit_paths),
     FIELD(solver), FIELD(cond), FIELD(type), FIELD(seed), FIELD(control), FIELD(inner))
ROWS(shoal_vanilla_opts, FIELD(nodes), FIELD(european))
ROWS(shoal_vanilla_pde_opts, FIELD(dates), FIELD(exercises), FIELD(exercise), FIELD(nodes),
     FIELD(steps))
ROWS(shoal_american_fit, FIELD(price), FIELD(error), FIELD(systems), FIELD(empty), FIELD(warned),
     FIELD(truncated), FIELD(refined), FIELD(failed))
ROWS(shoal_price_opts, FIELD(method), FIELD(variant), FIELD(type), FIELD(math), FIELD(seed),
     FIELD(steps), FIELD(put), FIELD(antithetic), FIELD(control), FIELD(greeks), FIELD(bump),
     FIELD(probability), FIELD(nx), FIELD(steps_per_date), FIELD(strikes), FIELD(maturities),
     FIELD(strike), FIELD(maturity))
ROWS(shoal_price_info, FIELD(method), FIELD(variant), FIELD(deterministic), FIELD(control),
     FIELD(parity), FIELD(contracts), FIELD(steps), FIELD(paths_each), FIELD(walks), FIELD(bytes))
ROWS(shoal_price_value, FIELD(price), FIELD(error), FIELD(implied_vol), FIELD(delta),
     FIELD(delta_error), FIELD(gamma), FIELD(gamma_error), FIELD(vega), FIELD(vega_error),
     FIELD(bias), FIELD(bound))
ROWS(shoal_price_goal, FIELD(paths), FIELD(target))
ROWS(shoal_price_progress, FIELD(first), FIELD(samples), FIELD(expected), FIELD(unpaid),
     FIELD(seconds))
ROWS(shoal_cva_market, FIELD(assets), FIELD(rate), FIELD(s0), FIELD(sigma), FIELD(dividend),
     FIELD(correlation))
ROWS(shoal_cva_contract, FIELD(payoff), FIELD(american), FIELD(strike), FIELD(maturity),
     FIELD(exercises), FIELD(exercise), FIELD(quantity), FIELD(assets), FIELD(asset), FIELD(weight),
     FIELD(set), FIELD(barrier), FIELD(fixings), FIELD(fixing))
ROWS(shoal_cva_counterparty, FIELD(pieces), FIELD(hazard), FIELD(until), FIELD(recovery),
     FIELD(collateral), FIELD(threshold), FIELD(volatility), FIELD(reversion), FIELD(correlation),
     FIELD(jump))
ROWS(shoal_cva_csa, FIELD(collateral), FIELD(threshold), FIELD(transfer), FIELD(independent),
     FIELD(period), FIELD(one_way))
ROWS(shoal_cva_opts, FIELD(dates), FIELD(time), FIELD(horizon), FIELD(outer), FIELD(inner_count),
     FIELD(inner), FIELD(nested), FIELD(kept), FIELD(estimator), FIELD(rule_paths), FIELD(degree),
     FIELD(raw), FIELD(solver), FIELD(cond), FIELD(type), FIELD(seed), FIELD(control),
     FIELD(validate), FIELD(by_set), FIELD(by_trade), FIELD(greeks), FIELD(gammas),
     FIELD(quantile_error), FIELD(party), FIELD(target))
ROWS(shoal_cva_info, FIELD(horizon), FIELD(dates), FIELD(sets), FIELD(parties), FIELD(expired),
     FIELD(closed), FIELD(nested), FIELD(american), FIELD(outer), FIELD(inner), FIELD(level_share))
ROWS(shoal_cva_counts, FIELD(inner_paths), FIELD(seconds), FIELD(systems), FIELD(empty),
     FIELD(warned), FIELD(truncated), FIELD(refined), FIELD(failed), FIELD(method), FIELD(decade))
ROWS(shoal_cva_value, FIELD(cva), FIELD(error), FIELD(rule_bias), FIELD(rule_bias_error),
     FIELD(inner_bias), FIELD(inner_bias_error), FIELD(bias), FIELD(low), FIELD(high),
     FIELD(correction), FIELD(correction_error))
ROWS(shoal_cva_date, FIELD(time), FIELD(epe), FIELD(epe_error), FIELD(epe_bias), FIELD(epe_low),
     FIELD(epe_high), FIELD(ene), FIELD(ene_error), FIELD(ene_bias), FIELD(ene_low),
     FIELD(ene_high), FIELD(pfe95), FIELD(pfe95_low), FIELD(pfe95_high), FIELD(pfe99),
     FIELD(pfe99_low), FIELD(pfe99_high), FIELD(es95), FIELD(es99), FIELD(epe_default),
     FIELD(epe_default_error), FIELD(discount), FIELD(default_probability), FIELD(cva),
     FIELD(inner))
ROWS(shoal_cva_heston, FIELD(v0), FIELD(kappa), FIELD(theta), FIELD(sigma), FIELD(rho))
ROWS(shoal_cva_curve, FIELD(count), FIELD(time), FIELD(value))
ROWS(shoal_cva_adjustments, FIELD(pv), FIELD(pv_error), FIELD(cva), FIELD(cva_error), FIELD(dva),
     FIELD(dva_error), FIELD(fca), FIELD(fca_error), FIELD(fba), FIELD(fba_error), FIELD(fva),
     FIELD(fva_error), FIELD(epe), FIELD(ene), FIELD(eepe), FIELD(pfe95), FIELD(pfe99), FIELD(es95),
     FIELD(es99))
ROWS(shoal_cva_trade, FIELD(pv), FIELD(pv_error), FIELD(cva), FIELD(cva_error), FIELD(dva),
     FIELD(fca), FIELD(fba), FIELD(fva), FIELD(epe), FIELD(ene), FIELD(eepe))
ROWS(shoal_cva_sensitivity, FIELD(parameter), FIELD(name), FIELD(index), FIELD(other), FIELD(point),
     FIELD(time), FIELD(at), FIELD(move), FIELD(value), FIELD(error))
ROWS(shoal_cva_check, FIELD(price), FIELD(price_error), FIELD(upper), FIELD(upper_error),
     FIELD(mean), FIELD(error), FIELD(z))
ROWS(shoal_cva_validation, FIELD(passed), FIELD(z), FIELD(limit), FIELD(contract), FIELD(date),
     FIELD(scores))
ROWS(shoal_dataset_opts, FIELD(design), FIELD(samples), FIELD(seed), FIELD(nu2), FIELD(target),
     FIELD(most_paths), FIELD(refine))
ROWS(shoal_range, FIELD(low), FIELD(high), FIELD(log))
ROWS(shoal_units_info, FIELD(kind), FIELD(units), FIELD(done), FIELD(rows), FIELD(counts),
     FIELD(row_bytes), FIELD(bytes), FIELD(seconds))
ROWS(shoal_surrogate_info, FIELD(inputs), FIELD(layers), FIELD(width), FIELD(target), FIELD(names),
     FIELD(map), FIELD(least), FIELD(most), FIELD(weights), FIELD(rows), FIELD(seed), FIELD(epochs),
     FIELD(validation))

void fill(const std::vector<Row> &rows, nb::dict values, Keep &keep, void *to) {
    for (auto [key, value] : values) {
        const std::string name = nb::cast<std::string>(key);
        const Row *found = nullptr;
        for (const Row &row : rows)
            if (name == row.name) found = &row;
        if (!found) throw nb::type_error(("unknown option '" + name + "'").c_str());
        if (value.is_none()) continue;
        try {
            found->set(to, value, keep);
        } catch (const nb::cast_error &) {
            throw nb::type_error((name + " is " + nb::cast<std::string>(nb::repr(value)) +
                                  "; it must be " + found->wanted())
                                     .c_str());
        }
    }
}

nb::dict dict_from(const std::vector<Row> &rows, const void *from) {
    nb::dict result;
    for (const Row &row : rows) result[row.name] = row.get(from);
    return result;
}
