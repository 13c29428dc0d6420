/* SPDX-License-Identifier: Apache-2.0
 *
 * texts.c - numbers, times and counts as people read them; endings of names; the message about an unknown word.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

bool cli_ends_in(const char *name, const char *ending) {
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

int cli_unknown_in(const char *path, int64_t line, const char *what, const char *word,
                   const char *have, io_names *names, const void *of) {
    char where[4096], text[IO_MESSAGE];
    snprintf(where, sizeof where, "%s:%lld", path, (long long)line);
    return cli_fail(CLI_INPUT, "%s", io_unknown(text, where, what, word, have, names, of));
}

/* The place of the first digit that counts: that of the second digit of the error. */
static int last_place(double error) { return (int)floor(log10(error) + 1e-9) - 1; }

char *cli_rounded(char text[32], double value, double error) {
    if (!(error > 0) || !isfinite(error) || !isfinite(value)) {
        snprintf(text, 32, "%.10g", value);
        return text;
    }
    const int place = last_place(error);
    const double unit = pow(10, place), size = fabs(value);
    if (place > 0) /* 12340 +- 120 */
        snprintf(text, 32, "%.0f", round(value / unit) * unit);
    else if (size >= 1e-4 || error >= 1e-4 || size == 0)
        snprintf(text, 32, "%.*f", place < -12 ? 12 : -place, value);
    else
        snprintf(text, 32, "%.*e", (int)fmax(floor(log10(size)) - place, 0), value);
    return text;
}

char *cli_measured(char text[CLI_NUMBER], double value, double error) {
    char both[2][32];
    snprintf(text, CLI_NUMBER, error > 0 ? "%s +- %s" : "%s", cli_rounded(both[0], value, error),
             cli_rounded(both[1], error, error));
    return text;
}

char *cli_time(char text[CLI_NUMBER], double s) {
    const double minute = 60, hour = 60 * minute, day = 24 * hour, year = 365.25 * day;
    if (!(s < 1e9 * year))
        snprintf(text, CLI_NUMBER, "more than a billion years");
    else if (s >= 1e6 * year)
        snprintf(text, CLI_NUMBER, "%.0f million years", s / (1e6 * year));
    else if (s >= 2 * year)
        snprintf(text, CLI_NUMBER, "%.0f years", s / year);
    else if (s >= 10 * day)
        snprintf(text, CLI_NUMBER, "%.0f days", s / day);
    else if (s >= 2 * day)
        snprintf(text, CLI_NUMBER, "%.0f days %.0f h", floor(s / day), fmod(s, day) / hour);
    else if (s >= hour)
        snprintf(text, CLI_NUMBER, "%.0f h %.0f min", floor(s / hour),
                 floor(fmod(s, hour) / minute));
    else if (s >= 2 * minute)
        snprintf(text, CLI_NUMBER, s < 10 * minute ? "%.0f min %.0f s" : "%.0f min",
                 floor(s / minute), floor(fmod(s, minute)));
    else
        snprintf(text, CLI_NUMBER, "%.3g %s",
                 s >= 1      ? s
                 : s >= 1e-3 ? 1e3 * s
                             : 1e6 * s,
                 s >= 1      ? "s"
                 : s >= 1e-3 ? "ms"
                             : "us");
    return text;
}

bool cli_is_months(double years) { return fabs(12 * years - round(12 * years)) < 1e-3; }

char *cli_days(char text[CLI_NUMBER], double years) {
    const double days = round(365 * years);
    snprintf(text, CLI_NUMBER, "%.*f day%s", days < 10 && fabs(365 * years - days) > 0.05,
             365 * years, days == 1 ? "" : "s");
    return text;
}

char *cli_years(char text[CLI_NUMBER], double years) {
    const double months = round(12 * years);
    const bool whole = years >= 1.5 && !cli_is_months(years);
    if (fabs(years - round(years)) < 1e-3 * years || whole || fabs(years) > 3 || !(years > 0))
        snprintf(text, CLI_NUMBER, "%.3g year%s", years, fabs(years - 1) < 5e-4 ? "" : "s");
    else if (cli_is_months(years) && months > 0) /* 13 weeks are 91 days */
        snprintf(text, CLI_NUMBER, "%.0f month%s", months, months == 1 ? "" : "s");
    else
        cli_days(text, years);
    return text;
}

char *cli_count(char text[CLI_NUMBER], int64_t n, const char *noun) {
    static const struct {
        char last;
        int less;
        const char *end;
    } plurals[] = { { 'x', 2, "ices" }, { 'y', 1, "ies" }, { 0, 0, "s" } }; /* matrix, party */
    const size_t length = strlen(noun);
    const int vowel = length > 1 && strchr("aeiou", noun[length - 2]) != NULL; /* key */
    int k = vowel && noun[length - 1] == 'y' ? 2 : 0;
    while (plurals[k].last && (!length || noun[length - 1] != plurals[k].last)) k++;
    if (n == 1 || n == -1)
        snprintf(text, CLI_NUMBER, "%lld %s", (long long)n, noun);
    else
        snprintf(text, CLI_NUMBER, "%lld %.*s%s", (long long)n, (int)length - plurals[k].less, noun,
                 plurals[k].end);
    return text;
}
