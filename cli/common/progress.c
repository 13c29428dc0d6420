/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.c - a progress bar for people: on stderr, only if that is a terminal, never with
 * --quiet.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 30 };

void cli_progress_begin(cli_progress *bar, const cli *c, const char *label, int64_t total) {
    const char *terminal = getenv("TERM");
    bar->label = label;
    bar->total = total;
    bar->start = bar->shown = cli_now();
    bar->on = !c->quiet && total > 0 && isatty(STDERR_FILENO) && terminal &&
              strcmp(terminal, "dumb") != 0;
}

void cli_progress_step(cli_progress *bar, int64_t done) {
    double now = cli_now();
    if (!bar->on || now - bar->shown < 0.1) return; /* short runs show nothing at all */
    bar->shown = now;
    double part = (double)done / (double)bar->total;
    char filled[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) filled[i] = i < part * WIDTH ? '#' : '.';
    filled[WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f %%", bar->label, filled, 100 * part);
    if (part > 0) fprintf(stderr, ", %.0f s left ", (now - bar->start) * (1 - part) / part);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void cli_progress_end(cli_progress *bar) {
    if (bar->on && bar->shown > bar->start) fputs("\r\033[K", stderr);
    bar->on = false;
}
