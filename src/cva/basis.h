/* SPDX-License-Identifier: Apache-2.0
 *
 * basis.h - the functions of an exercise rule, from the payoff and the number of assets, for both compilers: the CPU
 * makes those of a fit, and kernels know those of a few assets when they are compiled.
 */
#ifndef SHOAL_CVA_BASIS_H
#define SHOAL_CVA_BASIS_H

#include "cva/plan.h"

#ifdef __cplusplus
#define CVA_CONSTANT SHOAL_HD constexpr static inline
#else
#define CVA_CONSTANT static inline
#endif

/* Monomials of degree <= `degree` of so many variables; more than the most once there are that many. */
CVA_CONSTANT int cva_monomials(int variables, int degree) {
    int count = 1;
    for (int i = 1; i <= degree && count <= CVA_FUNCTIONS; i++) count = count * (variables + i) / i;
    return count;
}

/* Those of a basis: the largest price is one of the others, so that its square and higher powers add nothing. */
CVA_CONSTANT int cva_functions_of(const cva_basis *b, int degree) {
    const int others = b->variables - 1;
    return b->kind == CVA_LARGEST
               ? cva_monomials(others, degree) + cva_monomials(others, degree - 1)
               : cva_monomials(b->variables, degree);
}

/* All monomials up to the highest degree up to `top` that leaves at most `most` functions, then powers of the first
 * variable. */
CVA_CONSTANT void cva_make_functions(cva_basis *b, int top, int powers, int most) {
    int degree = 1;
    const int once = b->kind == CVA_LARGEST; /* the first variable has no powers */
    while (degree < top && cva_functions_of(b, degree + 1) <= most) degree++;
    const int complete = cva_functions_of(b, degree);
    int made = 1 + b->variables, power = 1;
    for (int j = 1; j <= b->variables; j++) b->by[j] = (uint8_t)(j - 1);
    for (int from = 1; made < complete; from++)
        for (int a = b->by[from] > once ? b->by[from] : once; a < b->variables && made < complete;
             a++, made++)
            b->from[made] = (uint8_t)from, b->by[made] = (uint8_t)a;
    for (int n = 2; n < made; n++) /* the highest power of the first variable */
        if (b->by[n] == 0 && b->from[n] == power) power = n;
    for (; !once && degree < powers && made < most; degree++, made++)
        b->from[made] = (uint8_t)power, b->by[made] = 0, power = made;
    b->functions = made;
}

/* The function that is power `degree` of the first variable, or -1. */
CVA_CONSTANT int cva_power_of_first(const cva_basis *b, int degree) {
    int at = degree > 0;
    for (int step = 1; step < degree; step++) {
        int n = at + 1;
        while (n < b->functions && (n <= b->variables || b->from[n] != at || b->by[n] != 0)) n++;
        if (n == b->functions) return -1;
        at = n;
    }
    return at;
}

/* Of a rule of so many assets: 0, or 1 for the one to compare with; with at most so many functions. */
CVA_CONSTANT cva_basis cva_basis_of(int kind, int assets, int rule, int most) {
    cva_basis b = { kind, 0, 0, 0, 0, 0, { 0 }, { 0 }, { 0 } };
    const int sum = kind == CVA_BASKET;
    b.variables = assets;
    if (!sum) {
        if (b.variables > CVA_DIRECTIONS) b.variables = CVA_DIRECTIONS;
        b.directions = b.variables;
        b.variables += kind == CVA_LARGEST;
    } else {
        if (b.variables > CVA_VARIABLES) b.variables = 1;
        b.directions = 1;
    }
    if (most < 1 + b.variables) most = 1 + b.variables;
    /* shortly before maturity the value of going on has a bend where the basket is worth the strike */
    if (sum)
        cva_make_functions(&b, 4 - rule, 9 - 3 * rule, most);
    else
        cva_make_functions(&b, 5 - rule, 5 - rule, most);
    if (!sum) { /* constant and linear, and of few assets squares */
        const int squares = cva_monomials(b.variables, 2);
        const int list = squares <= CVA_HEDGES ? squares : 1 + b.variables;
        for (; b.hedges < list && b.hedges < b.functions && b.hedges < CVA_HEDGES; b.hedges++)
            b.hedge[b.hedges] = (uint8_t)b.hedges;
    } else {
        for (int at = 0; b.hedges < 4 && (at = cva_power_of_first(&b, b.hedges)) >= 0;)
            b.hedge[b.hedges++] = (uint8_t)at;
    }
    return b;
}

enum { CVA_FEW = 5 }; /* assets of rules that kernels are compiled for */

/* A basis that is linear but for powers of the first variable. */
CVA_CONSTANT int cva_is_linear(const cva_basis *b) {
    int linear = b->kind == CVA_BASKET;
    for (int n = 1 + b->variables; n < b->functions; n++)
        linear &= b->by[n] == 0 && b->from[n] == (n == 1 + b->variables ? 1 : n - 1);
    return linear;
}

CVA_CONSTANT int cva_rule_form(const cva_basis *b, int assets) {
    const cva_basis known = cva_basis_of(b->kind, assets, 0, CVA_FUNCTIONS);
    if (assets > 1 && assets <= CVA_FEW && b->functions == known.functions &&
        b->hedges == known.hedges)
        return CVA_KNOWN;
    return cva_is_linear(b) ? CVA_LINEAR : CVA_ANY;
}

#endif
