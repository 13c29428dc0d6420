/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h - one run of the bench: the contexts it uses, the rows it has measured.
 *
 * A place is a backend with an open context, its clock, and its copy bandwidth, measured once when
 * first asked for. A row is one solver on one problem: ours or a peer's. What a module's problems,
 * checks and columns are is in its bench_module (module.h).
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include <shoal/shoal.h>

#include "bench/problem.h"
#include "bench/timing.h"
#include "io/json.h"

typedef struct bench_place {
    shoal_context *ctx; /* NULL until it is used */
    shoal_machine machine;
    const bench_device *device;
    double copy_rate; /* bytes per second, read + written; -1: not measured yet */
    char software[96];
} bench_place;

typedef struct bench_check {
    int64_t systems; /* (numbers) looked at                                             */
    int64_t failed;  /* of the batch: status < 0                                        */
    int64_t warned;  /* of the batch: status > 0                                        */
    int64_t wrong;   /* looked at: a false answer, residual or status                   */
    double max_residual, tolerance; /* or the largest difference from the reference     */
    bool passed;   /* nothing wrong, nothing failed, no residual above tolerance          */
    char why[160]; /* "" if passed: the first thing found wrong, or how many failed       */
} bench_check;

typedef struct bench_row {
    char who[BENCH_WORD];     /* "Shoal", "LAPACK", "cuSPARSE", ...                   */
    char version[128];        /* of whose it is                                      */
    char method[48];          /* a method of ours, or the peer's function            */
    char variant[BENCH_WORD]; /* "" if there is none                                 */
    bench_problem problem;    /* what was solved                                     */
    const char *backend;      /* "cpu" or "cuda": where it ran                       */
    int threads, sets;        /* CPU threads; sets of input the calls went round     */
    size_t workspace;         /* bytes besides the arrays of the problem             */
    bench_check check;
    bool timed;
    bench_stats time;
    double bytes;   /* the fewest that must be moved                                */
    double share;   /* of the copy bandwidth, 0: unknown                            */
    double error;   /* standard error of a price, 0: none                           */
    double speedup; /* ours: best peer's median / this median; 0: no peer           */
    double kept;    /* ours: median of a kept run, 0: none                          */
    bool counts;    /* a peer is compared with although its check failed            */
    char note[200];
} bench_row;

typedef struct bench_session bench_session;
struct bench_session {
    shoal_options options;
    bench_rules rules;
    bench_place places[2]; /* cpu, cuda */
    bench_row *rows;       /* from malloc */
    int row_count;
    char message[512];                        /* of the last BENCH_ERROR  */
    shoal_status why;                         /* its status, or SHOAL_OK  */
    void (*note)(void *to, const char *text); /* remarks, progress: NULL or a sink */
    void *note_to;
};

/* Rules of `shoal bench`: 20 samples, 0.3 to 10 seconds. `options` are those of the program. */
void bench_session_begin(bench_session *s, const shoal_options *options);
void bench_session_end(bench_session *s);

/* The place of a backend ("auto": what the machine has). NULL with s->message. */
bench_place *bench_session_place(bench_session *s, const char *backend);

bool bench_on_cpu(const bench_place *place);
/* Sets of so many bytes for the calls to go round. */
int bench_sets(const bench_place *place, size_t bytes);
/* BENCH_OK if there is so much memory in the context and, all in all, on the host; else an error. */
int bench_room(bench_session *s, const bench_place *place, size_t inside, size_t on_host);

/* The arrays of a problem. Inputs have one copy on the host and `sets` copies in the context's memory. Outputs, bits of
 * `outputs`, have a place on the host for what one set contains after a call. Zeroed to begin. */
enum { BENCH_ARRAYS = 7 };
typedef struct bench_arrays {
    bench_problem problem;
    bench_place *place;
    int count; /* of arrays */
    unsigned outputs;
    void *host[BENCH_ARRAYS];                      /* of inputs on the CPU: the first set       */
    void *memory[BENCH_ARRAYS];                    /* `sets` blocks of step[i] bytes            */
    size_t step[BENCH_ARRAYS], size[BENCH_ARRAYS]; /* size: bytes of one array */
    int sets;
} bench_arrays;

/* How a module makes its arrays: sizes() sets count, outputs, size and, if it is not to be chosen, sets; fill() the inputs
 * on the host. */
typedef struct bench_filler {
    void (*sizes)(bench_arrays *data);
    shoal_status (*fill)(const bench_session *s, bench_arrays *data);
} bench_filler;

/* Makes the arrays, or keeps those of the same data. BENCH_OK, BENCH_STOPPED or BENCH_ERROR. */
int bench_arrays_make(bench_session *s, const bench_problem *p, bench_place *place,
                      const bench_filler *filler, bench_arrays *data);
/* Copies a host array to its sets, except onto itself. */
shoal_status bench_arrays_upload(const bench_arrays *data, int i);
void bench_arrays_free(void *data);
void *bench_arrays_at(const bench_arrays *data, int i, int set);
/* Fills the outputs of set 0 with a wrong number; copies them to the host. */
shoal_status bench_arrays_paint(const bench_arrays *data);
shoal_status bench_arrays_fetch(const bench_arrays *data);

/* What a solver reports about each system: in its memory, and on the host. */
typedef struct bench_outcome {
    shoal_outcome there;
    int32_t *status;
    float *residual, *rcond;
    int64_t count;
} bench_outcome;
enum { BENCH_STATUS = 1, BENCH_RESIDUAL = 2, BENCH_RCOND = 4 };

/* Room for those members. To be freed in either case. */
shoal_status bench_outcome_make(shoal_context *ctx, int64_t count, int members, bench_outcome *o);
shoal_status bench_outcome_fetch(shoal_context *ctx, bench_outcome *o);
void bench_outcome_free(shoal_context *ctx, bench_outcome *o);

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct bench_finding { /* about one system, or one of its right-hand sides                */
    double error;              /* NaN: a number is not finite                                     */
    bool all_nan;              /* the answer is NaN throughout                                    */
    bool truncated;            /* its error does not count                                        */
    const char *fault;         /* NULL, or what is wrong with it                                  */
} bench_finding;

typedef struct bench_sample { /* the systems that are checked: every stride-th, and the last      */
    int64_t count, checked, stride;
    int threads;
    bool (*stop)(void);    /* NULL, or whether the user ends the run: the check means nothing     */
    const int32_t *status; /* of all systems, NULL if there are none                              */
    double tolerance;
    const char *error_name; /* in messages: "residual"                                            */
    bench_finding (*look)(const void *of, int64_t k); /* at system k                              */
    const void *of;
} bench_sample;

/* Sets all members of *check. Returns the first system with a fault, -1: there is none. */
int64_t bench_check_sample(const bench_sample *sample, bench_check *check);
/* The worse of a check with outcomes, `check`, and one without; both are of the same problem. */
void bench_check_join(bench_check *check, const bench_check *plain);

/* A solver, ours or a peer's, as its row shows it. Texts may be NULL. */
typedef struct bench_solver {
    const char *who;                                 /* NULL: Shoal                         */
    const char *function, *variant, *version, *note; /* function: a method, or the peer's   */
    const char *found;                               /* ours: what the check found, a remark; or, as
                                        "max residual 1e-16 over 100 systems":      */
    const char *measure, *of_checked; /* "max residual", "systems"                  */
    size_t workspace;
    int threads;     /* 0: the place's                                                */
    double error;    /* standard error of a price                                     */
    double first;    /* seconds of a call: long ones are not repeated; 0: as any other */
    bool counts;     /* a peer is compared with although its check failed             */
    bool optional;   /* that it fails while it is timed is a remark, and no error     */
    bench_task task; /* a call computes one of task.calls sets                        */
} bench_solver;

/* Adds the row of a solver that was checked, and times it if `timed` and, ours, if it passed. As bench_measure;
 * BENCH_ERROR with s->message. */
int bench_add_row(bench_session *s, const bench_problem *p, bench_place *place,
                  const bench_solver *solver, const bench_check *check, bool timed);
/* The same for a method of ours whose check ended with `status`; BENCH_STOPPED after Ctrl-C. */
int bench_add_ours(bench_session *s, const bench_problem *p, bench_place *place,
                   const bench_solver *solver, shoal_status status, bench_check *check, bool timed);
/* The row of a peer whose task computes set i at its call i: checked after the first call, then timed. */
int bench_add_peer(bench_session *s, bench_arrays *data, const bench_solver *peer,
                   shoal_status (*check)(const bench_session *s, const bench_arrays *data,
                                         bench_check *check));
/* A remark that a peer does not take the problem; BENCH_OK. */
int bench_peer_left_out(bench_session *s, const bench_solver *peer);
/* As bench_measure, but a call whose first took long is that measurement. */
int bench_measure_long(bench_session *s, const bench_place *place, const bench_task *task,
                       double first, bench_stats *stats);

/* After a plan could not be made: BENCH_OK and a note if "all" stands for a method that the backend
 * lacks, else an error. */
int bench_no_plan(bench_session *s, const bench_problem *p, const bench_place *place,
                  shoal_status status);
/* The check of a method that broke down: it makes a row of its own and does not end the run. */
bench_check bench_broken(const bench_place *place, shoal_status status);

/* Sets s->message and s->why; returns BENCH_ERROR, or BENCH_STOPPED if Ctrl-C cancelled the call. */
int bench_error(bench_session *s, shoal_status why, const char *format, ...) IO_PRINTF(3, 4);
/* The context's message, or the text of the status. */
const char *bench_message(const bench_place *place, shoal_status status);
/* True after Ctrl-C. */
static inline bool bench_stopped(const bench_session *s) {
    return s->rules.stop && s->rules.stop();
}
/* A remark for the user, as it happens. */
void bench_note(bench_session *s, const char *format, ...) IO_PRINTF(2, 3);

enum { BENCH_TIME = 1, BENCH_PEERS = 2 }; /* without BENCH_TIME: verify only */

/* Runs every problem; peers once for each set of data. BENCH_OK, BENCH_STOPPED (rows hold what is
 * known) or BENCH_ERROR. A problem that does not pass its check makes a row, not an error. */
int bench_run(bench_session *s, const bench_problems *list, int flags);

/* True if every row of ours passed its check. */
bool bench_all_passed(const bench_session *s);

/* One word: "ok", "WRONG" (a false answer), "failed" (no answer, or one flagged as inaccurate), or
 * "error" (the solver could not run). */
const char *bench_verdict(const bench_check *check);

/* The members "machine" and "rows" of the JSON of `shoal bench`; bench/results/README.md. The first
 * alone: of the backends that were used. */
void bench_json(const bench_session *s, io_json *json);
void bench_json_machine(const bench_session *s, io_json *json);
/* The table of `shoal bench`, and the one of `shoal verify`. */
void bench_table(const bench_session *s, FILE *file);
void bench_check_table(const bench_session *s, FILE *file);

/* ---- the page of `shoal report` (report.c) ----------------------------------------------------- */

typedef struct bench_story { /* the text of the report besides its numbers */
    const char *sizes;       /* how many systems were solved, and why    */
    bool interrupted;
} bench_story;

/* One self-contained page: charts of systems per second against n, tables, the machine. */
int bench_report_html(const bench_session *s, const bench_story *story, const char *path,
                      io_error *err);

/* The same in about ten lines of text: million systems per second, n down, methods across, f64. */
void bench_report_text(const bench_session *s, FILE *file);

/* Makes the directories that a path needs; IO_E_WRITE if that fails. */
int bench_make_parents(const char *path, io_error *err);

#endif
