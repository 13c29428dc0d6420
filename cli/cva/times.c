/* SPDX-License-Identifier: Apache-2.0
 *
 * times.c - times and term structures of `shoal cva`.
 *
 * A time is a number of years, a tenor (1d, 1w, 1m, 1y: 1/365, 7/365, 1/12, 1 years) or a date (2027-06-30: days after the
 * valuation date over 365). A curve is a list of points, time:value, with blanks or commas between them, or a file with columns
 * tenor and rate.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- times ------------------------------------------------------------------------------------ */

static bool digits(const char *text, int count, int *number) {
    *number = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *number = 10 * *number + text[i] - '0';
    }
    return true;
}

static bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int cva_days_in(int year, int month) {
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && is_leap(year));
}

static int64_t days_before(int year) {
    return 365LL * (year - 1970) + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400;
}

int64_t cva_day_of(int year, int month, int day) {
    int64_t days = days_before(year) + day - 1;
    for (int m = 1; m < month; m++) days += cva_days_in(year, m);
    return days;
}

bool cva_read_day(const char *text, size_t length, int64_t *day) {
    int year, month, of_month;
    if (length != 10 || text[4] != '-' || text[7] != '-' || !digits(text, 4, &year) ||
        !digits(text + 5, 2, &month) || !digits(text + 8, 2, &of_month))
        return false;
    if (year < 1970 || month < 1 || month > 12 || of_month < 1 ||
        of_month > cva_days_in(year, month))
        return false;
    *day = cva_day_of(year, month, of_month);
    return true;
}

void cva_day_text(int64_t day, char text[CVA_DAY]) {
    int year = 1970, month = 1;
    while (days_before(year + 1) <= day) year++;
    day -= days_before(year);
    for (; day >= cva_days_in(year, month); month++) day -= cva_days_in(year, month);
    snprintf(text, CVA_DAY, "%04d-%02d-%02d", year % 10000, month % 100, (int)(day % 100) + 1);
}

bool cva_read_years(const char *text, size_t length, int64_t today, double *years) {
    static const char units[] = "dwmy";
    static const double year[] = { 1.0 / 365, 7.0 / 365, 1.0 / 12, 1 };
    const char *unit = length > 0 ? memchr(units, text[length - 1], sizeof units - 1) : NULL;
    int64_t day;
    if (cva_read_day(text, length, &day)) {
        *years = (double)(day - today) / 365;
        return today > 0;
    }
    if (!io_text_double(text, unit ? length - 1 : length, years)) return false;
    if (unit) *years *= year[unit - units];
    return isfinite(*years);
}

bool cva_read_time(const char *text, size_t length, int64_t today, double *years) {
    return cva_read_years(text, length, today, years) && *years > 0;
}

const char *cva_no_time(const char *text, size_t length, int64_t today) {
    int64_t day;
    return !today && cva_read_day(text, length, &day)
               ? "is a date; --valuation-date says which day is today"
               : "is not a time above 0: years, 1d, 1w, 1m, 1y, or a date (2027-06-30)";
}

double *cva_times_of(double step, double end, int64_t *count) {
    const double steps = ceil(end / step * (1 - 1e-9));
    *count = steps > 1 && steps <= SHOAL_CVA_DATES ? (int64_t)steps : 1;
    double *time = malloc((size_t)*count * sizeof *time);
    for (int64_t i = 0; time && i < *count; i++) time[i] = step * (double)(i + 1);
    if (time) time[*count - 1] = end;
    return time;
}

/* A table of 1 to `most` rows with these columns; `t` and `text` are to be freed in any case. */
static int read_rows(const cli *c, const char *path, const cva_column *columns,
                     const char *const *needed, const char *rows, int64_t most, char **text,
                     io_cells *t) {
    int code = cva_read_table(path, NULL, columns, text, t);
    if (code == CLI_OK) code = cva_check_columns(c, path, t, columns, NULL, 0);
    if (code == CLI_OK) code = cva_need_columns(path, t, needed);
    if (code == CLI_OK && (t->head.rows < 1 || t->head.rows > most))
        code = cli_fail(CLI_INPUT, "%s has %lld %s; there can be 1 to %lld", path,
                        (long long)t->head.rows, rows, (long long)most);
    return code;
}

/* An ascending column of times. */
static int read_times(const char *path, const io_cells *t, const char *column, int64_t today,
                      double *time) {
    int code = CLI_OK;
    for (int64_t i = 0; code == CLI_OK && i < t->head.rows; i++) {
        const cva_field f = cva_field_of(path, t, i, column);
        if (!cva_read_time(f.text, strlen(f.text), today, &time[i]))
            code = cva_wrong(&f, cva_no_time(f.text, strlen(f.text), today));
        else if (i > 0 && time[i] <= time[i - 1])
            code = cva_wrong(&f, "is not after the time before it");
    }
    return code;
}

int cva_read_dates(const cli *c, const char *path, int64_t today, int64_t *count, double **time) {
    static const char *const needed[] = { "time", NULL };
    static const cva_column columns[] = { { .name = "time", .alias = { "date", "tenor" } },
                                          { .name = NULL } };
    char *text = NULL;
    io_cells t;
    int code = read_rows(c, path, columns, needed, "dates", SHOAL_CVA_DATES, &text, &t);
    if (code == CLI_OK) *count = t.head.rows, *time = malloc((size_t)*count * sizeof **time);
    if (code == CLI_OK && !*time) code = cli_no_memory();
    if (code == CLI_OK) code = read_times(path, &t, "time", today, *time);
    io_cells_free(&t);
    free(text);
    return code;
}

/* ---- curves ----------------------------------------------------------------------------------- */

enum { MAX_POINTS = 1 << 16 };

void cva_curve_free(shoal_cva_curve *curve) {
    free((double *)(uintptr_t)curve->time);
    *curve = (shoal_cva_curve){ .count = 0 };
}

/* Room for so many points. */
static bool make_curve(int64_t count, shoal_cva_curve *curve) {
    double *time = malloc((size_t)(2 * count + 1) * sizeof *time);
    if (time) *curve = (shoal_cva_curve){ count, time, time + count };
    return time != NULL;
}

int cva_curve_file(const cli *c, const char *path, int64_t today, shoal_cva_curve *curve) {
    static const char *const needed[] = { "tenor", "rate", NULL };
    static const cva_column columns[] = {
        { .name = "tenor", .alias = { "time", "date", "maturity", "term" } },
        { .name = "rate",
          .alias = { "value", "zero", "hazard", "spread", "dividend", "yield", "volatility", "vol",
                     "sigma" } },
        { .name = NULL }
    };
    char *text = NULL;
    io_cells t;
    int code = read_rows(c, path, columns, needed, "points", MAX_POINTS, &text, &t);
    if (code == CLI_OK && !make_curve(t.head.rows, curve)) code = cli_no_memory();
    if (code == CLI_OK) code = read_times(path, &t, "tenor", today, (double *)curve->time);
    for (int64_t i = 0; code == CLI_OK && i < t.head.rows; i++)
        code = cva_number(cva_field_of(path, &t, i, "rate"), NAN, (double *)&curve->value[i]);
    io_cells_free(&t);
    free(text);
    return code;
}

int cva_curve_points(const char *text, int64_t today, shoal_cva_curve *curve) {
    static const char between[] = " \t,";
    int64_t count = 0;
    for (const char *c = text; *c; c++) count += *c == ':';
    if (!make_curve(count, curve)) return cli_no_memory();
    double *time = (double *)curve->time, *value = (double *)curve->value;
    const char *at = text + strspn(text, between);
    for (int64_t i = 0; i < count || *at; i++) {
        const size_t length = strcspn(at, between), colon = strcspn(at, ":");
        if (colon >= length || !cva_read_time(at, colon, today, &time[i]) ||
            !io_text_double(at + colon + 1, length - colon - 1, &value[i]) || !isfinite(value[i]) ||
            (i > 0 && !(time[i] > time[i - 1])))
            return CLI_INPUT;
        at += length, at += strspn(at, between);
    }
    return CLI_OK;
}

char *cva_curve_text(const shoal_cva_curve *curve, char between) {
    char *text = malloc((size_t)curve->count * 64 + 1);
    size_t used = 0;
    if (text) text[0] = 0;
    for (int64_t i = 0; text && i < curve->count; i++) {
        if (i > 0) text[used++] = between;
        used += (size_t)io_real_text(curve->time[i], text + used);
        text[used++] = ':';
        used += (size_t)io_real_text(curve->value[i], text + used);
    }
    return text;
}
