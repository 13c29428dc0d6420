/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - the message about a word that does not exist.
 */
#include "words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

enum { LONGEST = 40 };

static int smaller(int a, int b) { return a < b ? a : b; }

/* Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other
 * (optimal string alignment); words longer than LONGEST are far from everything. */
static int distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1], na = (int)strlen(a), nb = (int)strlen(b);
    if (na > LONGEST || nb > LONGEST) return LONGEST;
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= nb; j++) last[j] = j;
    for (int i = 1; i <= na; i++) {
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            now[j] =
                smaller(last[j - 1] + (a[i - 1] != b[j - 1]), smaller(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

/* Other words for some names. */
static const char *const synonyms[][2] = {
    { "gpu", "cuda" },   { "nvidia", "cuda" }, { "float", "f32" },   { "float32", "f32" },
    { "single", "f32" }, { "double", "f64" },  { "float64", "f64" },
};

int io_nearest(const char *word, io_names *names, const void *of) {
    const char *name;
    int best = -1, best_distance = (int)strlen(word + strspn(word, "-")) / 3 + 2;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(word, synonyms[i][0]) == 0)
            for (int k = 0; (name = names(of, k)); k++)
                if (strcmp(name, synonyms[i][1]) == 0) return k;
    for (int i = 0; (name = names(of, i)); i++) {
        bool begins = word[0] && strncmp(name, word, strlen(word)) == 0;
        int d = begins ? 1 : distance(word, name);
        if (d < best_distance && d < (int)strlen(name)) best = i, best_distance = d;
    }
    return best;
}

char *io_unknown(char message[IO_MESSAGE], const char *where, const char *what, const char *word,
                 const char *have, io_names *names, const void *of) {
    enum { LISTED = 24 };
    char shown[IO_QUOTE_SIZE];
    const int meant = io_nearest(word, names, of);
    const char *name;
    int used = snprintf(message, IO_MESSAGE, "%s: unknown %s '%s'", where, what,
                        io_quote(word, strlen(word), shown));
    if (have) used += snprintf(message + used, (size_t)(IO_MESSAGE - used), "; %s", have);
    for (int i = 0; have && used < IO_MESSAGE && (name = names(of, i)); i++) {
        used += snprintf(message + used, (size_t)(IO_MESSAGE - used), "%s%s", i ? ", " : " ",
                         i < LISTED ? name : "and more");
        if (i == LISTED) break;
    }
    if (meant >= 0 && used < IO_MESSAGE)
        snprintf(message + used, (size_t)(IO_MESSAGE - used), ". Did you mean '%s'?",
                 names(of, meant));
    return message;
}
