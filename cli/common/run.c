/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - what happens around a command: messages, the context, Ctrl-C, the JSON object, the progress bar.
 */
#include "cli.h"
#include "ranks.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* Ctrl-C, and what `kill`, `timeout` and batch systems send. A file that grows beyond `ulimit -f` is an error of the
 * write, with a message, not the end of the program. */
void cli_catch_interrupt(void) {
    signal(SIGXFSZ, SIG_IGN);
    static const int signals[] = { SIGINT, SIGTERM };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue; /* started with it switched off, as by nohup: that stays */
        memset(&action, 0, sizeof action);
        sigemptyset(&action.sa_mask);
        action.sa_handler = on_interrupt;
        action.sa_flags = SA_RESETHAND; /* a second one ends the program at once */
        sigaction(signals[i], &action, NULL);
    }
}

bool cli_interrupted(void) { return interrupted != 0; }

int cli_refuse_target(double target, double paths, const char *most, double seconds) {
    return cli_fail(CLI_USAGE,
                    "--target-se %g needs about %.2g paths, which would take %s; the limit is %s",
                    target, paths, CLI_TIME(seconds), most);
}

double cli_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static cli_progress *shown; /* the bar on the terminal; NULL: none */

static void clear_bar(void) {
    if (shown && shown->on && shown->shown > shown->start) fputs("\r\033[K", stderr);
}

/* A message may contain what a file contained: bytes that are not text are shown as '?', so that a terminal does not
 * execute them. "/dev/stdin" is what "-" has become. */
static void print_line(const char *format, va_list list) {
    static const char device[] = "/dev/stdin";
    const size_t size = sizeof device - 1;
    char text[4096];
    clear_bar();
    const int length = vsnprintf(text, sizeof text, format, list);
    const bool standard = strncmp(text, device, size) == 0;
    fputs("shoal: ", stderr);
    if (ranks_own() > 0) fprintf(stderr, "rank %d: ", ranks_own());
    if (standard) fputs("standard input", stderr);
    for (const char *at = text + (standard ? size : 0); *at;) {
        const int bytes = io_utf8_length(at, strlen(at));
        if (bytes > 0 && (unsigned char)*at >= ' ' && *at != 127)
            fwrite(at, 1, (size_t)bytes, stderr);
        else
            fputc('?', stderr);
        at += bytes > 0 ? bytes : 1;
    }
    fputs(length >= (int)sizeof text ? "...\n" : "\n", stderr);
}

int cli_fail(int code, const char *format, ...) {
    if (cli_interrupted()) return CLI_INTERRUPTED; /* a broken-off read is no fault of the file */
    va_list list;
    va_start(list, format);
    print_line(format, list);
    va_end(list);
    return code;
}

int cli_no_memory(void) { return cli_fail(CLI_UNAVAILABLE, "not enough memory"); }

void cli_note(const cli *c, const char *format, ...) {
    if (c->quiet) return;
    va_list list;
    va_start(list, format);
    print_line(format, list);
    va_end(list);
}

static int exit_code(shoal_status status) {
    switch (status) {
    case SHOAL_OK: return CLI_OK;
    case SHOAL_E_ARG:
    case SHOAL_E_METHOD: return CLI_USAGE;
    default: return CLI_UNAVAILABLE;
    }
}

int cli_status(cli *c, shoal_status status) {
    cli_progress_end(&c->stage);
    if (status == SHOAL_OK) return CLI_OK;
    if (status == SHOAL_E_CANCELLED) return CLI_INTERRUPTED;
    const char *message = c->ctx ? shoal_message(c->ctx) : "";
    if (!*message) message = shoal_status_text(status);
    return cli_fail(exit_code(status), "%s", message);
}

/* Has the driver made a file for a GPU? */
static bool gpu_is_there(void) {
    char path[32];
    for (int i = 0; i < 32; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (access(path, F_OK) == 0) return true;
    }
    return access("/usr/lib/wsl/lib/libcuda.so.1", F_OK) == 0; /* Windows's */
}

/* The backend is chosen automatically, and a GPU is there that cannot be used: why, and what to do. --quiet does not
 * hide it: nothing runs on the CPU instead without a word. */
static void note_idle_gpu(const cli *c) {
    const char *why = c->machine.gpu;
    if (strcmp(c->backend, "auto") != 0 || strncmp(why, "none: ", 6) != 0) return;
    const bool no_cuda = strstr(why, "this build has no CUDA") != NULL;
    const bool unseen = no_cuda || strstr(why, "no GPU answers") != NULL;
    if (unseen && !gpu_is_there()) return;
    cli_fail(CLI_OK, "the GPU is not used: %s%s", why + 6,
             no_cuda ? "; `make all CUDA=1`, or SHOAL_CUDA=ON in CMake, adds it" : "");
}

/* ---- progress ---------------------------------------------------------------------------------- */

enum { BAR = 30 };

void cli_progress_begin(cli_progress *bar, const cli *c, const char *label, int64_t total) {
    const char *terminal = getenv("TERM");
    *bar = (cli_progress){ .label = label, .total = total, .start = cli_now() };
    bar->shown = bar->start;
    bar->on = !c->quiet && total > 0 && isatty(STDERR_FILENO) && terminal &&
              strcmp(terminal, "dumb") != 0;
    shown = bar;
}

static void draw(cli_progress *bar, double part) {
    const double now = cli_now();
    if (!bar->on || now - bar->shown < 0.1) return; /* short runs show nothing at all */
    bar->shown = now;
    char filled[BAR + 1];
    for (int i = 0; i < BAR; i++) filled[i] = i < part * BAR ? '#' : '.';
    filled[BAR] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f %%", bar->label, filled, 100 * part);
    if (part > 0)
        fprintf(stderr, ", %s left ", CLI_TIME(ceil((now - bar->start) * (1 - part) / part)));
    fputs("\033[K", stderr);
    fflush(stderr);
}

void cli_progress_step(cli_progress *bar, int64_t done) {
    bar->done = done;
    draw(bar, (double)done / (double)bar->total);
}

void cli_progress_end(cli_progress *bar) {
    if (bar->on && bar->shown > bar->start) fputs("\r\033[K", stderr);
    bar->on = false;
    if (shown == bar) shown = NULL;
}

/* The library's stages have a bar of their own, or are a part of the command's. */
static int on_progress(void *user, const char *stage, double fraction) {
    cli *c = user;
    if (!shown || (shown == &c->stage && shown->label != stage))
        cli_progress_begin(&c->stage, c, stage, 1);
    if (shown == &c->stage)
        draw(shown, fraction);
    else
        draw(shown, ((double)shown->done + fraction * (double)shown->next) / (double)shown->total);
    if (shown == &c->stage && fraction >= 1) cli_progress_end(shown);
    return cli_interrupted() || (c->is_serving && ranks_heard(0));
}

void cli_watch_files(cli *c) { io_set_progress(on_progress, c); }

int cli_on_progress(cli *c, const char *stage, double fraction) {
    return on_progress(c, stage, fraction);
}

bool cli_wants_gpu(const cli *c) {
    return strcmp(c->backend, "cuda") == 0 || (strcmp(c->backend, "auto") == 0 && gpu_is_there());
}

/* ---- the context, the end ---------------------------------------------------------------------- */

static bool gpu_opens(int device) {
    shoal_context *ctx;
    const shoal_options options = { .backend = "cuda", .device = device, .threads = 1 };
    const bool opens = shoal_open(&options, &ctx) == SHOAL_OK;
    shoal_close(ctx);
    return opens;
}

/* The first of --devices, or the device of this process among those of its machine: in turn if there are fewer. */
static int choose_device(const cli *c) {
    const int local = ranks_local();
    const bool all = cli_all_devices(c) || (!c->devices && ranks_count() > 1);
    int count = 1;
    if (c->device_given || (!all && !c->devices)) return c->device;
    if (!all)
        while (cli_device_at(c, count) >= 0) count++;
    else if (strcmp(c->backend, "cpu") != 0)
        for (count = local + 1; count > 1 && !gpu_opens(count - 1);) count--;
    return all ? local % count : cli_device_at(c, local % count);
}

/* Processes on one machine share its cores; 0: as many threads as the library chooses. */
static int choose_threads(const cli *c) {
    if (c->threads || ranks_on_machine() == 1 || getenv("OMP_NUM_THREADS")) return c->threads;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN) / ranks_on_machine();
#ifdef _OPENMP
    const int own = omp_get_max_threads(); /* fewer, if mpirun binds processes to cores */
    if (own < cores) return own;
#endif
    return cores > 1 ? (int)cores : 1;
}

int cli_open(cli *c) {
    if (c->ctx) return CLI_OK;
    const double begun = cli_now();
    c->device = choose_device(c), c->threads = choose_threads(c);
    const shoal_options options = { .backend = c->backend,
                                    .device = c->device,
                                    .threads = c->threads };
    shoal_status status = shoal_open(&options, &c->ctx);
    c->opened = cli_now() - begun;
    if (status != SHOAL_OK && status != SHOAL_E_ARG && c->ctx && strcmp(c->backend, "cuda") == 0)
        return cli_fail(CLI_UNAVAILABLE, "backend cuda is not available: %s",
                        shoal_message(c->ctx));
    if (status == SHOAL_OK) status = shoal_set_progress(c->ctx, on_progress, c);
    if (status == SHOAL_OK) status = shoal_describe(c->ctx, &c->machine);
    if (status == SHOAL_OK) note_idle_gpu(c);
    if (status == SHOAL_OK && c->device_given && strcmp(c->machine.backend, "cpu") == 0)
        cli_note(c, "--device has no effect: this runs on the CPU");
    return cli_status(c, status);
}

void cli_note_systems(const cli *c, const char *noun, const int32_t *status, int64_t count) {
    static const char *const what[] = { "without an answer", "answered with a warning" };
    int64_t number[2] = { 0, 0 }, first[2] = { 0, 0 };
    for (int64_t k = count - 1; k >= 0; k--) {
        const int warned = status[k] == SHOAL_SYSTEM_ILL || status[k] == SHOAL_SYSTEM_TRUNCATED;
        if (status[k] < 0 || warned) number[warned]++, first[warned] = k;
    }
    fflush(stdout); /* the table first, also where both go to one file */
    for (int i = 0; i < 2; i++)
        if (number[i] > 0)
            cli_note(c, "%s %s; the first is number %lld, counted from 0: %s",
                     CLI_COUNT(number[i], noun), what[i], (long long)first[i],
                     shoal_system_text(status[first[i]]));
}

void cli_note_no_seed(const cli *c) {
    if (c->seed_given) cli_note(c, "--seed has no effect: this command uses no random numbers");
}

void cli_note_no_fast_math(const cli *c) {
    if (c->fast_math)
        cli_note(c, "--math fast has no effect: this command uses no elementary functions");
}

int cli_io(int status, const io_error *err) {
    if (status == IO_OK) return CLI_OK;
    return cli_fail(status == IO_E_WRITE    ? CLI_OUTPUT
                    : status == IO_E_MEMORY ? CLI_UNAVAILABLE
                                            : CLI_INPUT,
                    "%s", err->text);
}

void cli_report_lost_output(const char *reason) {
    static bool reported;
    if (!reported) fprintf(stderr, "shoal: standard output: %s\n", reason);
    reported = true;
}

void cli_json_head(io_json *j, const cli *c, const char *command) {
    io_json_string(j, "command", command);
    io_json_string(j, "version", shoal_version());
    io_json_string(j, "backend", c->machine.backend);
    io_json_string(j, "device", c->machine.device);
}

io_json *cli_json_begin(cli *c, const char *command) {
    c->out_begun = true;
    io_json_begin(&c->out, stdout, 2);
    io_json_object(&c->out, NULL);
    cli_json_head(&c->out, c, command);
    return &c->out;
}

int cli_json_end(cli *c, int code) {
    io_error err;
    io_json_double(&c->out, "seconds", cli_now() - c->start);
    if (cli_interrupted()) {
        io_json_bool(&c->out, "interrupted", true);
        code = CLI_INTERRUPTED;
    }
    io_json_close(&c->out);
    if (io_json_end(&c->out, &err) != IO_OK) {
        cli_report_lost_output(err.text);
        return CLI_OUTPUT;
    }
    return code;
}

void cli_report_interrupted(cli *c) {
    if (c->json && !c->out_begun) {
        cli_json_begin(c, c->command);
        cli_json_end(c, CLI_INTERRUPTED);
    }
    fputs("shoal: interrupted\n", stderr);
}
