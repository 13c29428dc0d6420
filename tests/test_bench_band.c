/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_band.c - pentadiagonal and complex systems on the bench: problem strings, the check that judges answers,
 * small runs with their peers, their JSON.
 */
#include "test_bench.h"

#include <string.h>

#include "bench/band.h"

TEST(problems_of_band) {
    io_error err;
    char text[BENCH_TEXT];
    bench_problems list = parse("band::cpu:f32:form=penta+cpenta,n=32,rows=2^10", &err);
    CHECK(list.count == 2 && list.items[0].count == 32 && list.items[1].form == BENCH_CPENTA);
    bench_problems again = parse(bench_problem_text(&list.items[1], text), &err);
    CHECK_MSG(again.count == 1 && again.items[0].form == BENCH_CPENTA, "%s", text);
    bench_problems_free(&list), bench_problems_free(&again);
    list = parse("band:::form=wide", &err);
    CHECK(list.count == 0 && strstr(err.text, "form"));
    list = parse("band:thomas", &err);
    CHECK(list.count == 0 && strstr(err.text, "thomas"));
}

/* A number of x that is off, one that is NaN; a status that owns up to it. */
TEST(check_sees_wrong_answers) {
    for (int form = BENCH_PENTA; form <= BENCH_CPENTA; form++) {
        bench_session s;
        io_error err;
        char text[80];
        snprintf(text, sizeof text, "band::cpu:f64:n=9,count=3,form=%s",
                 form == BENCH_PENTA      ? "penta"
                 : form == BENCH_CTRIDIAG ? "ctridiag"
                                          : "cpenta");
        bench_problems list = parse(text, &err);
        bench_session_begin(&s, &(shoal_options){ .backend = "cpu", .threads = 2 });
        bench_arrays d = { .problem = list.items[0] };
        d.place = bench_session_place(&s, "cpu");
        const int parts = bench_band_parts(&d.problem);
        double a[5][54], b[54], x[54];
        int32_t status[3] = { 0 };
        bench_check check;
        for (int e = 0; e < 5; e++) d.host[e] = a[e];
        d.host[BENCH_BAND_B] = b;
        for (int i = 0; i < 27 * parts; i++) { /* A = 2, or 2 i */
            for (int e = 0; e < 5; e++) a[e][i] = e == 2 && i % parts == parts - 1 ? 2 : 0;
            x[i] = 1 + i % 7;
        }
        for (int i = 0; i < 27; i++) { /* (2 i) (u + i v) = -2 v + 2 i u */
            b[i * parts] = parts == 1 ? 2 * x[i] : -2 * x[2 * i + 1];
            if (parts == 2) b[2 * i + 1] = 2 * x[2 * i];
        }
        bench_band_check(&s, &d, x, NULL, NULL, &check);
        CHECK_MSG(check.passed && check.max_residual == 0, "%s", check.why);
        x[10] *= 1 + 1e-12;
        bench_band_check(&s, &d, x, NULL, NULL, &check);
        CHECK(!check.passed && check.wrong == 1);
        status[10 / (9 * parts)] = SHOAL_SYSTEM_ILL;
        bench_band_check(&s, &d, x, status, NULL, &check);
        CHECK(!check.passed && check.wrong == 0);
        x[10] = NAN;
        bench_band_check(&s, &d, x, NULL, NULL, &check);
        CHECK(!check.passed && strstr(check.why, "finite"));
        bench_session_end(&s);
        bench_problems_free(&list);
    }
}

TEST(every_form_verifies) {
    static const char *const problems[] = {
        "band:lupp::f32+f64:form=penta+ctridiag+cpenta,n=0+1+2+70,count=5,layout=all",
        "band:::f64:form=penta+ctridiag,n=20,count=9,nrhs=3,kind=random",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        bench_session s;
        CHECK(run(&s, problems[i], 0) == BENCH_OK);
        CHECK_MSG(bench_all_passed(&s) && s.row_count > 0, "%s", problems[i]);
        bench_session_end(&s);
    }
}

TEST(rows_are_timed_beside_peers) {
    bench_session s;
    CHECK(run(&s, "band::cpu:f64+f32:form=penta+ctridiag+cpenta,n=30,count=40,nrhs=2,layout=all",
              BENCH_TIME | BENCH_PEERS) == BENCH_OK);
    int ours = 0;
    for (int i = 0; i < s.row_count; i++) {
        ours += strcmp(s.rows[i].who, "Shoal") == 0;
        CHECK_MSG(s.rows[i].check.passed, "%s: %s", s.rows[i].method, s.rows[i].check.why);
    }
    CHECK(ours == 12 && s.rows[0].bytes == 8.0 * (5 + 2 * 2) * 30 * 40);
    io_json_value *root = json_of(&s);
    const io_json_value *row = io_json_at(io_json_get(root, "rows"), 0);
    CHECK(io_json_get(row, "systems_per_second")->number > 0);
    CHECK(strcmp(io_json_get(row, "form")->string, "penta") == 0);
    io_json_free(root);
    bench_session_end(&s);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problems_of_band);
    RUN(check_sees_wrong_answers);
    RUN(every_form_verifies);
    RUN(rows_are_timed_beside_peers);
    return TEST_END();
}
