/* SPDX-License-Identifier: Apache-2.0
 *
 * payoff.c - the table of payoffs: one row each, in the order of shoal_cva_payoff. CONTRIBUTING.md shows how to add
 * one.
 */
#include "cva/plan.h"

enum { ONE = SHOAL_CVA_ONE_ASSET, EARLY = SHOAL_CVA_EARLY };
enum { BARRIER = ONE | SHOAL_CVA_BARRIER, MEAN = ONE | SHOAL_CVA_FIXINGS };

static const struct {
    const char *name;
    int form;  /* payoff.h                                                         */
    int flags; /* SHOAL_CVA_WEIGHTS follows from the form: sums have weights       */
} payoffs[] = {
    { "put", CVA_DOWN, ONE | EARLY },
    { "call", 0, ONE | EARLY },
    { "max-call", 0, EARLY },
    { "basket-put", CVA_OF_SUM | CVA_DOWN, EARLY },
    { "basket-call", CVA_OF_SUM, EARLY },
    { "forward", CVA_OF_SUM | CVA_ANY_SIGN, 0 },
    { "digital-put", CVA_OF_SUM | CVA_DOWN | CVA_DIGITAL, 0 },
    { "digital-call", CVA_OF_SUM | CVA_DIGITAL, 0 },
    { "fx-forward", CVA_ANY_SIGN, ONE },
    { "fx-put", CVA_DOWN, ONE | EARLY },
    { "fx-call", 0, ONE | EARLY },
    { "down-out-put", CVA_KNOCK_OUT | CVA_DOWN, BARRIER },
    { "down-out-call", CVA_KNOCK_OUT, BARRIER },
    { "down-in-put", CVA_KNOCK_IN | CVA_DOWN, BARRIER },
    { "down-in-call", CVA_KNOCK_IN, BARRIER },
    { "up-out-put", CVA_KNOCK_OUT | CVA_ABOVE | CVA_DOWN, BARRIER },
    { "up-out-call", CVA_KNOCK_OUT | CVA_ABOVE, BARRIER },
    { "up-in-put", CVA_KNOCK_IN | CVA_ABOVE | CVA_DOWN, BARRIER },
    { "up-in-call", CVA_KNOCK_IN | CVA_ABOVE, BARRIER },
    { "asian-put", CVA_MEAN | CVA_DOWN, MEAN },
    { "asian-call", CVA_MEAN, MEAN },
};

enum { PAYOFFS = sizeof payoffs / sizeof *payoffs };

const char *shoal_cva_payoffs(int i) { return i >= 0 && i < PAYOFFS ? payoffs[i].name : NULL; }

int shoal_cva_payoff_flags(shoal_cva_payoff payoff) {
    const int i = (int)payoff;
    if (i < 0 || i >= PAYOFFS) return 0;
    return payoffs[i].flags | (payoffs[i].form & CVA_OF_SUM ? SHOAL_CVA_WEIGHTS : 0);
}

int shoal_cva_form(shoal_cva_payoff payoff) { return payoffs[payoff].form; }
