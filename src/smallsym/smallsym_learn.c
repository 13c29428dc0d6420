/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_learn.c - what a plan of method "auto" remembers of a family, if it is told to: the
 * paper's introduction keeps to whichever method the last time called for.
 *
 * With s the share of systems that were redone, auto costs first + s rescue. The rescue costs ten
 * times the first method and more, so that it alone is cheaper only where nearly all are redone;
 * where none is, the first alone saves the look at each residual.
 */
#include "smallsym/plan.h"

static const double NEARLY_ALL = 0.9;

/* From now on `choice` alone. */
static void fix(shoal_smallsym *plan, shoal_choice choice) {
    plan->first = choice;
    plan->rescue.cell = NULL;
    plan->method_name = choice.name, plan->variant_name = choice.variant_name;
    plan->head.called = 0; /* what the last call did was done by another method */
    for (int64_t g = 0; g < plan->job_count; g++) {
        plan->jobs[g].first_row = choice.row;
        plan->jobs[g].rescue_row = -1, plan->jobs[g].iterate = 0;
    }
}

shoal_status shoal_smallsym_learn(shoal_smallsym *plan) {
    if (!plan) return SHOAL_E_ARG;
    if (!plan->rescue.cell) return SHOAL_OK;
    if (!plan->head.called || !plan->solved)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "plan: nothing was solved by it yet");
    shoal_smallsym_info info;
    shoal_status status = shoal_smallsym_last(plan, &info);
    if (status != SHOAL_OK) return status;
    /* which eigdc is not on a GPU: its systems go on being redone */
    const int careful = plan->head.ctx->ops && (plan->jobs[0].refine || plan->jobs[0].estimate);
    if (info.redone == 0)
        fix(plan, plan->first);
    else if ((double)info.redone > NEARLY_ALL * (double)plan->systems && !careful)
        fix(plan, plan->rescue);
    return SHOAL_OK;
}
