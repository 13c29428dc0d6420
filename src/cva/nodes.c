/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c - one date of a run: what the contracts are worth at every node, an outer path at a date, and the
 * exposures there.
 *
 * A contract with early exercise that its rule exercises now pays; otherwise it is worth a mean over inner paths
 * that follow the rule (`rule`), what the regression of the rule says (`amc`), or what regressions at
 * the node say (`inner`; exercise.c).
 *
 * The positive part. The value V of a netting set is known with noise, and a positive part of it would be too large
 * in the mean. Sets that are never worth less than 0, or never more, have no such part: their exposure is V itself, or
 * 0. For the others a node draws a level l, from its address, and gets M 2^l inner paths. With f(m) the exposure of
 * a mean over m of them,
 *
 *     f(M) + (f(M 2^l) - (f of the first half + f of the second half) / 2) / P(level = l)   (l > 0)
 *
 * has the mean of f with infinitely many, up to the bias of M 2^CVA_TOP: the sum of the differences telescopes
 * (M. Giles; A. Haji-Ali, multilevel nested simulation; halves are antithetic: where they have the same sign the difference
 * is 0). f(M) is the mean over all groups of M. Variance falls like 2^(-3 l / 2) and cost grows like 2^l, hence
 * P(level >= l) = share 2^(-5 (l - 1) / 4); the share is measured (plan.c).
 */
#include "cva/plan.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SUMS = 1 << 22 }; /* items times contracts at a time */

/* What is not covered of a set's value to us; a set of one sign has no kink. */
static double uncovered(const shoal_cva *p, int sign, double value) {
    if (!p->collateral && sign) return sign > 0 ? value : 0;
    const double above = value > 0 ? value : 0;
    return p->collateral && above > p->threshold ? p->threshold : above;
}

/* Exposures of both sides, over the sets. */
typedef struct sides {
    double ours, theirs;
} sides;

static sides expose(const shoal_cva *p, const double *value, const double *more) {
    sides e = { 0, 0 };
    for (int64_t set = 0; set < p->job.sets; set++) {
        const double v = value[set] + (more ? more[set] : 0);
        e.ours += uncovered(p, p->sign[set], v);
        e.theirs += uncovered(p, -p->sign[set], -v);
    }
    return e;
}

/* ---- exercise ---------------------------------------------------------------------------------- */

/* What a decision makes of a contract on a path: whether it is held, else what it pays. */
static int settle(const shoal_cva *p, const cva_job *j, const cva_contract *c, int64_t path,
                  int now, char *exercised, double *pays) {
    *pays = 0;
    if (*exercised) return 0;
    if (!now) return 1;
    *pays = cva_pay(c, j->spot + path * j->assets);
    *exercised = !p->kept;
    return 0;
}

/* Decisions of a contract at date k by both rules. Values get what is known; `differ`, [path][set], what the other rule
 * would change, with what going on is worth by the regression of the first. */
static void decide(const shoal_cva *p, const cva_job *j, const cva_contract *c, int64_t k,
                   double *differ) {
    char *exercised = j->exercised + c->place * CVA_RULES * j->paths;
    char *holds = j->holds + c->place * j->paths, *now = j->now, *other = now + j->paths;
    const int amc = p->estimator == SHOAL_CVA_BY_AMC, last = k == c->last;
    const int may = !last && c->may[k - 1];
    if (!last) {
        p->wide->decide(&p->host, j, c, &c->rule[0], k, now, j->going_on);
        p->wide->decide(&p->host, j, c, &c->rule[1], k, other, NULL);
    }
    for (int64_t path = 0; path < j->paths; path++) {
        double pays, would;
        const int held = settle(p, j, c, path, last || (may && now[path]), &exercised[path], &pays);
        const int kept = settle(p, j, c, path, last || (may && other[path]),
                                &exercised[j->paths + path], &would);
        const double known = held ? j->going_on[path] : pays;
        differ[path * j->sets + c->set] +=
            c->quantity * ((kept ? j->going_on[path] : would) - known);
        holds[path] = (char)(held && !amc);
        if (pays > 0 || amc) cva_note(j, c, k, path, known, !held);
        for (int level = 0; level < CVA_LEVELS; level++)
            j->value[(path * CVA_LEVELS + level) * j->sets + c->set] +=
                c->quantity * (amc ? known : pays);
    }
}

/* ---- levels ------------------------------------------------------------------------------------ */

typedef struct node {
    int64_t path, first; /* of its items */
    int level;
    double chance; /* of that level */
} node;

/* P(level >= l). */
static double at_least(const shoal_cva *p, int level) {
    return level < 1 ? 1 : p->share_of_level * exp2(-1.25 * (level - 1));
}

static void draw_level(const shoal_cva *p, const cva_job *j, int64_t k, node *n) {
    const int64_t inner = cva_inner(j, k);
    int top = p->top_level;
    while (top > 0 && inner << top > SHOAL_CVA_INNER) top--;
    const shoal_words w = shoal_philox_at(p->american.seed, j->first + (uint64_t)n->path,
                                          (uint32_t)k, PRICE_PURPOSE, PRICE_CVA_INNER, 4);
    const double u = shoal_uniform_of(shoal_half(&w, 0));
    n->level = 0;
    while (n->level < top && u < at_least(p, n->level + 1)) n->level++;
    n->chance = at_least(p, n->level) - (n->level < top ? at_least(p, n->level + 1) : 0);
}

/* Whether inner paths are needed at a node, and whether a kink is. */
static int needs_paths(const shoal_cva *p, const cva_job *j, int64_t k, int64_t path, int *kinked) {
    int needs = 0;
    *kinked = 0;
    for (int64_t i = 0; i < j->contracts; i++) {
        const cva_contract *c = &j->contract[i];
        const int here = c->kind == CVA_NESTED
                             ? cva_left(j, c, k) > 0
                             : c->kind == CVA_AMERICAN && j->holds[c->place * j->paths + path];
        needs |= here;
        *kinked |= here && (p->collateral || !p->sign[c->set]);
    }
    return needs;
}

/* ---- exposures --------------------------------------------------------------------------------- */

/* The sums of items first .. first + count - 1 by netting set, over `paths`, on top of `base`. */
static void add_items(const cva_job *j, int64_t first, int64_t count, double paths,
                      const double *base, double *to) {
    memcpy(to, base, (size_t)j->sets * sizeof *to);
    for (int64_t i = 0; i < j->contracts; i++) {
        const cva_contract *c = &j->contract[i];
        if (c->kind != CVA_NESTED && c->kind != CVA_AMERICAN) continue;
        double sum = 0;
        for (int64_t item = first; item < first + count; item++)
            sum += j->sums[item * j->places + c->place];
        to[c->set] += c->quantity * (sum / paths);
    }
}

static double paths_of(const cva_job *j, int64_t first, int64_t count) {
    int64_t paths = 0;
    for (int64_t item = first; item < first + count; item++) paths += j->item[item].lanes;
    return (double)paths;
}

/* room: 3 numbers per set. */
static void expose_node(const shoal_cva *p, const cva_job *j, int64_t k, const node *n,
                        const double *differ, double *room, double *row) {
    const int64_t each = (cva_inner(j, k) + CVA_LANES - 1) / CVA_LANES, groups = 1LL << n->level;
    const double *base = j->value + n->path * CVA_LEVELS * j->sets;
    const double inner = (double)cva_inner(j, k);
    double *all = room, *part = room + j->sets;
    sides plain = { 0, 0 }, half;
    const int none = n->first < 0;
    if (none) {
        memcpy(all, base, (size_t)j->sets * sizeof *all);
        plain = expose(p, all, NULL);
        half = expose(p, base + CVA_HALF * j->sets, NULL);
    } else {
        const int64_t items = groups * each, first_half = items > 1 ? items / 2 : 1;
        add_items(j, n->first, items, (double)groups * inner, base, all);
        for (int64_t group = 0; group < groups; group++) {
            add_items(j, n->first + group * each, each, inner, base, part);
            const sides here = expose(p, part, NULL);
            plain.ours += here.ours / (double)groups, plain.theirs += here.theirs / (double)groups;
        }
        add_items(j, n->first, first_half, paths_of(j, n->first, first_half),
                  base + CVA_HALF * j->sets, part);
        half = expose(p, part, NULL);
    }
    const sides whole = expose(p, all, NULL), other = expose(p, all, differ);
    sides best = plain;
    if (n->level > 0) {
        best.ours += whole.ours / n->chance, best.theirs += whole.theirs / n->chance;
        for (int64_t second = 0; second < 2; second++) {
            const int64_t items = groups / 2 * each;
            add_items(j, n->first + second * items, items, (double)(groups / 2) * inner, base,
                      part);
            const sides here = expose(p, part, NULL);
            best.ours -= 0.5 * here.ours / n->chance, best.theirs -= 0.5 * here.theirs / n->chance;
        }
    }
    const int64_t date = j->exposure[k - 1];
    const double share = p->share[date];
    const int inner_only = p->estimator == SHOAL_CVA_BY_INNER;
    row[CVA_ROW_CVA] += share * best.ours;
    row[CVA_ROW_PLAIN] += share * (inner_only ? half.ours : plain.ours);
    row[CVA_ROW_RULE] += share * (whole.ours - other.ours);
    double *list = row + CVA_ROW_HEAD + date;
    list[CVA_LIST_OURS * j->exposures] = best.ours;
    list[CVA_LIST_THEIRS * j->exposures] = best.theirs;
    list[CVA_LIST_WHOLE * j->exposures] = whole.ours;
    list[CVA_LIST_HALF * j->exposures] = half.ours;
    list[CVA_LIST_RULE * j->exposures] = whole.ours - other.ours;
    list[CVA_LIST_RULE_THEIRS * j->exposures] = whole.theirs - other.theirs;
}

/* For a validation: what each contract is worth at the node, and has paid before. */
static void note_node(const cva_job *j, int64_t k, const node *n, double *row) {
    const int64_t each = (cva_inner(j, k) + CVA_LANES - 1) / CVA_LANES;
    const int64_t items = n->first < 0 ? 0 : each << n->level;
    const double inner = (double)(cva_inner(j, k) << n->level);
    const double discount = exp(-j->rate * cva_time(j, k));
    double *to = row + CVA_ROW_HEAD + CVA_LISTS * j->exposures + j->exposure[k - 1];
    for (int64_t i = 0; i < j->contracts; i++, to += j->exposures) {
        double sum = 0;
        for (int64_t at = 0; at < items && j->contract[i].kind >= CVA_NESTED; at++)
            sum += j->sums[(n->first + at) * j->places + j->contract[i].place];
        const int64_t at = i * j->paths + n->path;
        *to = discount * (j->worth[at] + sum / inner) + j->paid[at];
    }
}

/* ---- a date ------------------------------------------------------------------------------------ */

typedef struct room {
    node *node;
    int64_t nodes, capacity; /* of items */
    cva_item *item;
    double *sums, *differ, *values;
} room;

/* The next node, with its items: of a group of inner paths, whole ones but for the last. */
static shoal_status add_node(const shoal_cva *p, cva_job *j, int64_t k, int64_t path, room *r) {
    const int64_t inner = cva_inner(j, k), each = (inner + CVA_LANES - 1) / CVA_LANES;
    node *n = &r->node[r->nodes++];
    int kinked;
    *n = (node){ .path = path, .first = -1, .chance = 1 };
    if (!needs_paths(p, j, k, path, &kinked)) return SHOAL_OK;
    if (kinked || p->is_pilot) draw_level(p, j, k, n);
    n->first = j->items;
    if (j->items + (each << n->level) > r->capacity) {
        const int64_t capacity = 2 * (j->items + (each << n->level));
        cva_item *item = realloc(r->item, (size_t)capacity * sizeof *item);
        if (item) r->item = item, r->capacity = capacity;
        double *sums =
            item ? realloc(r->sums, (size_t)(capacity * j->places) * sizeof *sums) : NULL;
        if (!sums) return shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for inner paths");
        r->sums = sums;
    }
    for (int64_t group = 0; group < 1LL << n->level; group++)
        for (int64_t at = 0; at < inner; at += CVA_LANES)
            r->item[j->items++] =
                (cva_item){ .path = path,
                            .from = (int32_t)(group * inner + at),
                            .lanes = (int32_t)(inner - at < CVA_LANES ? inner - at : CVA_LANES) };
    return SHOAL_OK;
}

/* The walker's job: what a date has, copied to the context's memory, and its sums back. */
static shoal_status follow(shoal_cva *p, const cva_job *j, int64_t k) {
    if (!p->head.ctx->ops) return p->walker->follow(p->head.ctx, j, k);
    cva_job *to = &p->device;
    const size_t sums = (size_t)(j->items * j->places) * sizeof *j->sums;
    const struct {
        const void *from;
        size_t bytes;
        void *to;
    } lists[] = { { j->spot, (size_t)(j->paths * j->assets) * sizeof *j->spot, &to->spot },
                  { j->holds, (size_t)(j->places * j->paths), &to->holds },
                  { j->item, (size_t)j->items * sizeof *j->item, &to->item },
                  { j->sums, sums, &to->sums } };
    shoal_status s = SHOAL_OK;
    to->first = j->first, to->paths = j->paths, to->items = j->items;
    to->walk_normals = j->walk_normals, to->ahead = j->ahead;
    for (int e = 0; e < 4 && s == SHOAL_OK; e++)
        s = shoal_plan_copy(&p->head, lists[e].from, lists[e].bytes, lists[e].to);
    if (s == SHOAL_OK) s = p->walker->follow(p->head.ctx, to, k);
    return s == SHOAL_OK ? shoal_copy(p->head.ctx, j->sums, to->sums, sums) : s;
}

static shoal_status value_items(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    const double start = shoal_price_seconds();
    shoal_status s = SHOAL_OK;
    if (j->items == 0) return SHOAL_OK;
    memset(j->sums, 0, (size_t)(j->items * j->places) * sizeof *j->sums);
    if (j->kinds[CVA_NESTED] > 0) p->cell->nest(&p->host, j, k);
    const double half = shoal_price_seconds();
    if (j->kinds[CVA_AMERICAN] > 0 && p->estimator == SHOAL_CVA_BY_RULE) s = follow(p, j, k);
    counts->seconds[1] += half - start, counts->seconds[2] += shoal_price_seconds() - half;
    for (int64_t i = 0; i < j->items; i++) counts->inner_paths += j->item[i].lanes;
    return s;
}

/* All paths, as many at a time as MOST_SUMS has room for. */
static shoal_status all_nodes(shoal_cva *p, cva_job *j, int64_t k, room *r, double *samples,
                              shoal_cva_counts *counts) {
    const int64_t width = shoal_cva_width(p);
    shoal_status s = SHOAL_OK;
    for (int64_t path = 0; path < j->paths && s == SHOAL_OK;) {
        j->items = r->nodes = 0;
        while (path < j->paths && s == SHOAL_OK && j->items * j->places < MOST_SUMS)
            s = add_node(p, j, k, path++, r);
        j->item = r->item, j->sums = r->sums;
        if (s == SHOAL_OK) s = value_items(p, j, k, counts);
        for (int64_t i = 0; i < r->nodes && s == SHOAL_OK && j->worth; i++)
            note_node(j, k, &r->node[i], samples + r->node[i].path * width);
        for (int64_t i = 0; i < r->nodes && s == SHOAL_OK; i++)
            expose_node(p, j, k, &r->node[i], r->differ + r->node[i].path * j->sets, r->values,
                        samples + r->node[i].path * width);
    }
    return s;
}

shoal_status shoal_cva_nodes(shoal_cva *p, cva_job *j, int64_t k, double *samples,
                             shoal_cva_counts *counts) {
    room r = { .node = malloc((size_t)j->paths * sizeof(node)),
               .differ = calloc((size_t)(j->paths * j->sets + 1), sizeof(double)),
               .values = malloc((size_t)(2 * j->sets + 1) * sizeof(double)) };
    shoal_status s = r.node && r.differ && r.values
                         ? SHOAL_OK
                         : shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for exposures");
    const double start = shoal_price_seconds();
    if (p->estimator == SHOAL_CVA_BY_INNER && s == SHOAL_OK)
        s = shoal_cva_exercise(p, j, k, counts);
    for (int64_t i = 0; i < j->contracts && p->estimator != SHOAL_CVA_BY_INNER && s == SHOAL_OK;
         i++) {
        const cva_contract *c = &j->contract[i];
        if (c->kind == CVA_AMERICAN && k <= c->last) decide(p, j, c, k, r.differ);
        if (c->kind == CVA_AMERICAN && k > c->last)
            memset(j->holds + c->place * j->paths, 0, (size_t)j->paths);
    }
    counts->seconds[2] += shoal_price_seconds() - start;
    if (s == SHOAL_OK && j->exposure[k - 1] >= 0) s = all_nodes(p, j, k, &r, samples, counts);
    free(r.node), free(r.item), free(r.sums), free(r.differ), free(r.values);
    return s;
}
