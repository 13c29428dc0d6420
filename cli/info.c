/* SPDX-License-Identifier: Apache-2.0
 *
 * info.c - `shoal info`: what this build holds and what this machine offers.
 */
#include "cli/common/cli.h"

#include <string.h>

#include "build_features.h"

/* clang-format off */
static const char doc[] =
    "Prints the version, the backends, the device in use, the methods of each module, and the optional features of this build: on, "
    "or off with the reason.\vExample:\n"
    "  shoal info --json";
/* clang-format on */

typedef struct feature {
    const char *name, *state, *reason;
} feature;

static const feature features[] = { SHOAL_FEATURE_LIST{ NULL, NULL, NULL } };

/* The library's line on the GPU begins with "none: " and the reason where there is none. */
static bool gpu_answers(const shoal_machine *m) { return strncmp(m->gpu, "none", 4) != 0; }

static const char *gpu_text(const shoal_machine *m) {
    return strncmp(m->gpu, "none: ", 6) == 0 ? m->gpu + 6 : m->gpu;
}

static void print_methods(const char *module) {
    const char *method, *variant;
    for (int i = 0; (method = shoal_methods(module, i)); i++) {
        printf("%-10s %s", i == 0 ? module : "", method);
        for (int k = 0; (variant = shoal_variants(module, method, k)); k++)
            printf("%s%s", k == 0 ? " (" : ", ", variant);
        puts(shoal_variants(module, method, 0) ? ")" : "");
    }
}

/* "90" of "..., compute capability 9.0, ...", also of a GPU that this build cannot use; "" if none answers. */
static void gpu_architecture(const shoal_machine *m, char text[16]) {
    int major, minor;
    const char *at = strstr(m->gpu, "compute capability ");
    text[0] = 0;
    if (at && sscanf(at, "compute capability %d.%d", &major, &minor) == 2)
        snprintf(text, 16, "%d%d", major, minor);
}

static void json_list(io_json *j, const char *key, char *list) {
    io_json_array_line(j, key);
    for (char *next = NULL, *one = strtok_r(list, ", ", &next); one;
         one = strtok_r(NULL, ", ", &next))
        io_json_string(j, NULL, one);
    io_json_close(j);
}

static int print_table(const shoal_machine *m) {
    printf("shoal      %s\n", shoal_version());
    printf("backend    %s\n", m->backend);
    printf("device     %s", m->device);
    if (m->memory > 0)
        printf(", %d multiprocessors, %.1f GiB", m->multiprocessors, (double)m->memory / 0x1p30);
    printf("\ncuda       %s (%s)\n", gpu_answers(m) ? "on" : "off", gpu_text(m));
    char gpu[16];
    gpu_architecture(m, gpu);
    if (*SHOAL_CUDA_HOLDS)
        printf("code       for architectures %s; %s%s\n", SHOAL_CUDA_HOLDS,
               *gpu ? "the GPU's is " : "no GPU answers", gpu);
    printf("cpu        on (%s; level %s of", CLI_COUNT(m->threads, "thread"), m->isa);
    const char *level;
    for (int i = 0; (level = shoal_isa(i)); i++) printf("%s %s", i > 0 ? "," : "", level);
    puts(")");
    puts("\nmethods (variants; the first is the default)");
    const char *module;
    for (int i = 0; (module = shoal_modules(i)); i++) print_methods(module);
    puts("\nfeatures of this build");
    for (const feature *f = features; f->name; f++)
        printf("%-10s %s (%s)\n", f->name, f->state, f->reason);
    return CLI_OK;
}

static void json_methods(io_json *j) {
    const char *module, *method, *variant;
    io_json_object(j, "modules");
    for (int m = 0; (module = shoal_modules(m)); m++) {
        io_json_object(j, module);
        for (int i = 0; (method = shoal_methods(module, i)); i++) {
            io_json_array_line(j, method);
            for (int k = 0; (variant = shoal_variants(module, method, k)); k++)
                io_json_string(j, NULL, variant);
            io_json_close(j);
        }
        io_json_close(j);
    }
    io_json_close(j);
}

static void json_backend(io_json *j, const char *name, bool on, const char *reason) {
    io_json_object_line(j, name);
    io_json_bool(j, "available", on);
    io_json_string(j, "reason", reason);
    io_json_close(j);
}

static int print_json(cli *c, const shoal_machine *m) {
    const char *level;
    io_json *j = cli_json_begin(c, "info");
    io_json_int(j, "threads", m->threads);
    io_json_string(j, "isa", m->isa);
    io_json_array_line(j, "isa_available");
    for (int i = 0; (level = shoal_isa(i)); i++) io_json_string(j, NULL, level);
    io_json_close(j);
    io_json_int(j, "multiprocessors", m->multiprocessors);
    io_json_uint(j, "device_memory", m->memory);
    io_json_object(j, "backends");
    json_backend(j, "cpu", true, NULL);
    json_backend(j, "cuda", gpu_answers(m), gpu_text(m));
    io_json_close(j);
    char text[16], code[] = SHOAL_CUDA_CODE, ptx[] = SHOAL_CUDA_PTX;
    gpu_architecture(m, text);
    io_json_string(j, "gpu_architecture", *text ? text : NULL);
    json_list(j, "cuda_architectures", code);
    json_list(j, "cuda_ptx", ptx);
    json_methods(j);
    io_json_object(j, "features");
    for (const feature *f = features; f->name; f++) {
        io_json_object_line(j, f->name);
        io_json_bool(j, "on", strcmp(f->state, "on") == 0);
        io_json_string(j, "reason", f->reason);
        io_json_close(j);
    }
    io_json_close(j);
    return cli_json_end(c, CLI_OK);
}

static int command(cli *c, int argc, char **argv) {
    int code = cli_parse(c, &info_command, argc, argv, NULL);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    return c->json ? print_json(c, &c->machine) : print_table(&c->machine);
}

const cli_command info_command = { "info",
                                   "show this build and this machine: backends, methods, features",
                                   .doc = doc, .run = command, .task = "This program" };
