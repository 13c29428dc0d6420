/* SPDX-License-Identifier: Apache-2.0
 *
 * test_method.c - from words to rows of a method table: what is chosen, and the sentence if there is no such row or
 * variant. The table is made up, and compiled as in a build without the papers' kernels, for a context with a device.
 */
#undef SHOAL_PAPER_KERNELS
#include "core/method.c"
#include "test.h"

static const int cell[4];

static const shoal_method methods[] = {
    { .name = "first",
      .variants = { { "one", SHOAL_ON_BOTH },
                    { "two", SHOAL_ON_CPU },
                    { "three", SHOAL_ON_CUDA },
                    { "print", SHOAL_ON_PAPER } },
      .cpu = { { &cell[0] }, { &cell[1] } },
      .cuda = { &cell[2], &cell[3] } },
    { .name = "second", .cpu = { { &cell[0] }, { &cell[1] } } },
    { .name = "third",
      .variants = { { "printed", SHOAL_ON_PAPER } },
      .cuda = { &cell[2], &cell[3] } },
};

/* A device is told by its functions. None is called. */
static shoal_context on_cpu = { .level = 0 }, on_cuda = { .ops = &(shoal_device_ops){ 0 } };

static void expect(shoal_context *ctx, const char *method, const char *variant, const char *says) {
    const shoal_module module = { "made", methods, 3, &shoal_auto_alone };
    shoal_choice choice;
    ctx->message[0] = '\0';
    const shoal_status s = shoal_choose(ctx, &module, method, variant, SHOAL_F64, &choice);
    CHECK_MSG(s == SHOAL_E_METHOD && strcmp(ctx->message, says) == 0, "%d: %s, expected %s", (int)s,
              ctx->message, says);
}

TEST(words_choose_rows_and_cells) {
    const shoal_module module = { "made", methods, 3, NULL };
    static const struct {
        shoal_context *ctx;
        const char *method, *variant, *name;
        int row, number, at; /* at: the cell for double, the next one is for float */
    } rows[] = { { &on_cpu, "first", NULL, "one", 0, 0, 0 },
                 { &on_cpu, "first", "", "one", 0, 0, 0 },
                 { &on_cpu, "first", "two", "two", 0, 1, 0 },
                 { &on_cuda, "first", "one", "one", 0, 0, 2 },
                 { &on_cuda, "first", "three", "three", 0, 2, 2 },
                 { &on_cpu, "second", NULL, "", 1, 0, 0 } };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int type = 0; type < SHOAL_TYPES; type++) {
            shoal_choice c;
            CHECK(shoal_choose(rows[r].ctx, &module, rows[r].method, rows[r].variant,
                               (shoal_type)type, &c) == SHOAL_OK);
            CHECK(c.row == rows[r].row && c.variant == rows[r].number);
            CHECK(!strcmp(c.name, rows[r].method) && !strcmp(c.variant_name, rows[r].name));
            CHECK(c.cell == &cell[rows[r].at + (type == SHOAL_F32)]);
        }
}

TEST(words_that_name_nothing) {
    static const char has[] = "; a build with -DSHOAL_PAPER_KERNELS=ON has it";
    char says[200];
    expect(&on_cpu, "fourth", NULL,
           "method: made has no method 'fourth' (auto, first, second, third)");
    expect(&on_cpu, "third", NULL, "method: 'third' of made is not on the cpu backend");
    expect(&on_cuda, "second", NULL, "method: 'second' of made is not on the cuda backend");
    expect(&on_cpu, "first", "three",
           "variant: first has no variant 'three' on the cpu backend (one, two)");
    expect(&on_cpu, "first", "print",
           "variant: first has no variant 'print' on the cpu backend (one, two)");
    expect(&on_cuda, "first", "four",
           "variant: first has no variant 'four' on the cuda backend (one, three)");
    snprintf(says, sizeof says, "%s%s",
             "variant: first has no variant 'print' on the cuda backend (one, three)", has);
    expect(&on_cuda, "first", "print", says);
    snprintf(says, sizeof says, "%s%s",
             "variant: third has no variant 'printed' on the cuda backend (it has none)", has);
    expect(&on_cuda, "third", "printed", says);
}

/* A list that is longer than a message holds is cut off, not written past its end. */
TEST(long_lists_are_cut_off) {
    enum { ROWS = 40 };
    static shoal_method many[ROWS];
    const shoal_module module = { "many", many, ROWS, NULL };
    shoal_choice choice;
    for (int i = 0; i < ROWS; i++) many[i].name = "a_long_name";
    CHECK(shoal_choose(&on_cpu, &module, "b", NULL, SHOAL_F64, &choice) == SHOAL_E_METHOD);
    const char *list = strchr(on_cpu.message, '(');
    CHECK_MSG(list && strncmp(list, "(a_long_name, a_long_name, ", 27) == 0, "%s", on_cpu.message);
    CHECK_MSG(list && strlen(list) == 253 + 2, "%zu", list ? strlen(list) : 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(words_choose_rows_and_cells);
    RUN(words_that_name_nothing);
    RUN(long_lists_are_cut_off);
    return TEST_END();
}
