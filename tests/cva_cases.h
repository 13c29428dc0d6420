/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_cases.h - reads cva_cases.txt, whose head describes it: books for the quadrature, and what is known of them.
 */
#ifndef SHOAL_CVA_CASES_H
#define SHOAL_CVA_CASES_H

#include "cva_quadrature.h"
#include "test.h"

enum { CASE_TEXT = 2048, CASE_FIELDS = 16 };

typedef struct known_case {
    char name[64], use[16];
    double limit, error;
    quad_book book;
    quad_result known;
    int epe, ene, times; /* how many are known */
    /* while it is read: the headers of market and book, the names of the netting sets */
    char market[CASE_TEXT], contracts[CASE_TEXT], set[QUAD_CONTRACTS][CASE_FIELDS];
    char asset[QUAD_ASSETS][CASE_FIELDS];
} known_case;

static inline void case_refuse(const char *what, const char *text) {
    fprintf(stderr, "cva_cases.txt: %s '%s'\n", what, text);
    exit(TEST_USAGE);
}

/* The field of a CSV line under a name of its header; "" if there is none. */
static inline const char *case_field(const char *header, const char *line, const char *name,
                                     char *field) {
    const size_t length = strlen(name);
    for (;; header++, line++) {
        const size_t title = strcspn(header, ","), bytes = strcspn(line, ",");
        if (title == length && strncmp(header, name, length) == 0) {
            memcpy(field, line, bytes);
            field[bytes] = 0;
            return field;
        }
        header += title, line += bytes;
        if (!*header || !*line) return "";
    }
}

static inline double case_number(const char *header, const char *line, const char *name,
                                 double otherwise) {
    char field[CASE_TEXT];
    const char *text = case_field(header, line, name, field);
    return *text ? strtod(text, NULL) : otherwise;
}

/* The place of a name in a list, which is made longer if the name is new. */
static inline int case_place(char list[][CASE_FIELDS], int *count, int most, const char *name) {
    for (int i = 0; i < *count; i++)
        if (strcmp(list[i], name) == 0) return i;
    if (*count == most || strlen(name) >= CASE_FIELDS) case_refuse("too many, or too long:", name);
    strcpy(list[*count], name);
    return (*count)++;
}

static inline void case_market(known_case *c, const char *line) {
    char field[CASE_TEXT];
    quad_book *b = &c->book;
    if (!*c->market) {
        strcpy(c->market, line);
        return;
    }
    const char *name = case_field(c->market, line, "asset", field);
    const int a = case_place(c->asset, &b->assets, QUAD_ASSETS, name);
    b->s0[a] = case_number(c->market, line, "spot", 0);
    b->sigma[a] = case_number(c->market, line, "volatility", 0);
    b->dividend[a] = case_number(c->market, line, "dividend", 0);
    for (int i = 0; i <= a; i++)
        b->correlation[a][i] = b->correlation[i][a] =
            case_number(c->market, line, c->asset[i], i == a);
}

static inline void case_contract(known_case *c, const char *line) {
    static const char *const payoffs[] = { "put",        "call",        "max-call",
                                           "basket-put", "basket-call", "forward" };
    char field[CASE_TEXT], weights[CASE_TEXT];
    quad_book *b = &c->book;
    if (!*c->contracts) {
        strcpy(c->contracts, line);
        return;
    }
    if (b->contracts == QUAD_CONTRACTS) case_refuse("too many contracts:", line);
    quad_contract *o = &b->contract[b->contracts++];
    const char *payoff = case_field(c->contracts, line, "payoff", field);
    int kind = 0;
    while (kind <= QUAD_FORWARD && strcmp(payoffs[kind], payoff) != 0) kind++;
    if (kind > QUAD_FORWARD) case_refuse("no payoff:", line);
    o->payoff = (quad_payoff)kind;
    o->american = strcmp(case_field(c->contracts, line, "style", field), "american") == 0;
    o->strike = case_number(c->contracts, line, "strike", 0);
    o->maturity = case_number(c->contracts, line, "maturity", 0);
    o->quantity = case_number(c->contracts, line, "quantity", 1);
    o->set =
        case_place(c->set, &b->sets, QUAD_CONTRACTS, case_field(c->contracts, line, "set", field));
    case_field(c->contracts, line, "assets", field);
    for (char *name = strtok(field, " "); name; name = strtok(NULL, " ")) {
        const int known = b->assets, a = case_place(c->asset, &b->assets, QUAD_ASSETS, name);
        if (a == known || o->assets == QUAD_ASSETS) case_refuse("assets:", line);
        o->asset[o->assets++] = a;
    }
    const char *weight = case_field(c->contracts, line, "weights", weights);
    for (int i = 0; i < o->assets; i++) {
        char *end = NULL;
        o->weight[i] = *weight ? strtod(weight, &end) : 1.0 / o->assets;
        if (*weight) weight = end;
    }
    *field = 0;
    case_field(c->contracts, line, "exercise", field);
    for (char *time = strtok(field, " "); time; time = strtok(NULL, " "))
        if (o->exercises < QUAD_DATES) o->exercise[o->exercises++] = strtod(time, NULL);
    b->horizon = fmax(b->horizon, o->maturity);
}

static inline void case_hazard(quad_book *b, const char *text) {
    for (b->pieces = 0; b->pieces < QUAD_PIECES && *text; b->pieces++) {
        char *end;
        const double number = strtod(text, &end);
        b->until[b->pieces] = number;
        b->hazard[b->pieces] = *end == ':' ? strtod(end + 1, &end) : number;
        text = end + (*end == ',');
    }
}

static inline void case_times(quad_book *b, const char *text) {
    char *end;
    for (b->dates = 0; b->dates < QUAD_DATES && *text; text = end + (*end == ','))
        b->time[b->dates++] = strtod(text, &end);
}

static inline void case_options(known_case *c, char *options) {
    quad_book *b = &c->book;
    b->recovery = 0.4, b->dates = 10, b->threshold = -1;
    case_hazard(b, "0.05");
    for (char *name = strtok(options, " "); name; name = strtok(NULL, " ")) {
        const char *text = strtok(NULL, " ");
        const double value = text ? strtod(text, NULL) : 0;
        if (!text) case_refuse("no value:", name);
        if (strcmp(name, "--rate") == 0)
            b->rate = value;
        else if (strcmp(name, "--recovery") == 0)
            b->recovery = value;
        else if (strcmp(name, "--threshold") == 0)
            b->threshold = value;
        else if (strcmp(name, "--dates") == 0 && strchr(text, ','))
            case_times(b, text);
        else if (strcmp(name, "--dates") == 0 && value <= QUAD_DATES)
            b->dates = (int)value;
        else if (strcmp(name, "--hazard") == 0)
            case_hazard(b, text);
        else
            case_refuse("no option:", name);
    }
}

static inline int case_list(char *text, double *to) {
    int count = 0;
    for (char *number = strtok(text, " "); number && count < QUAD_DATES; number = strtok(NULL, " "))
        to[count++] = strtod(number, NULL);
    return count;
}

/* One line, of a case that "case" begins. */
static inline void case_line(known_case *c, const char *word, char *rest) {
    if (strcmp(word, "case") == 0) {
        if (sscanf(rest, "%63s %15s", c->name, c->use) != 2) case_refuse("case", rest);
    } else if (strcmp(word, "limit") == 0)
        c->limit = strtod(rest, NULL);
    else if (strcmp(word, "market") == 0)
        case_market(c, rest);
    else if (strcmp(word, "book") == 0)
        case_contract(c, rest);
    else if (strcmp(word, "run") == 0)
        case_options(c, rest);
    else if (strcmp(word, "price") == 0)
        c->known.price = strtod(rest, NULL);
    else if (strcmp(word, "cva") == 0)
        c->known.cva = strtod(rest, &rest), c->error = strtod(rest, NULL);
    else if (strcmp(word, "times") == 0)
        c->times = case_list(rest, c->known.time);
    else if (strcmp(word, "epe") == 0)
        c->epe = case_list(rest, c->known.epe);
    else if (strcmp(word, "ene") == 0)
        c->ene = case_list(rest, c->known.ene);
    else if (strcmp(word, "about") != 0)
        case_refuse("no word:", word);
}

/* The next case; 0 at the end. `copy`, if there is one, gets every line but those with known numbers. */
static inline int case_next(FILE *file, known_case *c, FILE *copy) {
    char line[CASE_TEXT];
    memset(c, 0, sizeof *c);
    while (fgets(line, sizeof line, file)) {
        char word[CASE_FIELDS] = "", *rest = line + strcspn(line, " \n");
        const int known = !strncmp(line, "price ", 6) || !strncmp(line, "cva ", 4) ||
                          !strncmp(line, "epe ", 4) || !strncmp(line, "ene ", 4) ||
                          !strncmp(line, "times ", 6);
        if (*line == '\n' && *c->name) return 1; /* the empty line behind a case */
        if (copy && !known) fputs(line, copy);
        if (*line == '#' || *line == '\n') continue;
        line[strcspn(line, "\n")] = 0;
        if ((size_t)(rest - line) >= sizeof word) case_refuse("no word:", line);
        memcpy(word, line, (size_t)(rest - line));
        case_line(c, word, rest + (*rest != 0));
    }
    return *c->name != 0;
}

#endif
