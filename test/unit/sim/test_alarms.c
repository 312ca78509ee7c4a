/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/alarms.h"
#include "suite.h"

/* Tables of the limits of a Poisson mean. */
TEST_CASES(limits_are_the_published_ones, 6)
{
    static const struct {
        uint64_t n;
        double low, high;
    } rows[] = {{0, 0, 3.689},       {1, 0.0253, 5.572},   {5, 1.623, 11.668},
                {10, 4.795, 18.390}, {100, 81.36, 121.63}, {100000, 99381, 100622}};
    double low, high;

    sim_alarms_limits(rows[_i].n, &low, &high);
    ck_assert_double_eq_tol(low, rows[_i].low, 1e-3 + rows[_i].low * 1e-4);
    ck_assert_double_eq_tol(high, rows[_i].high, 1e-3 + rows[_i].high * 1e-4);
}

static uint64_t calls, hours;

static void count(void *ctx, uint64_t now)
{
    ck_assert_ptr_eq(ctx, &calls);
    ck_assert_uint_ge(now, hours);
    hours = now;
    calls++;
}

/* Of twenty hours of each program: no more alarms than alpha allows, with 97.5 %. rows: the
 * programs */
TEST_CASES(a_healthy_program_is_hardly_ever_called_hung, SIM_PROGRAMS)
{
    struct sim_alarms a = {.program = &sim_programs[_i], .seed = 1, .hours = 20, .ranks = 64},
                      b = a;
    uint64_t tests = 0;
    double low, high;

    sim_alarms(&a, count, &calls);
    ck_assert_uint_eq(hours, 20);
    for (int i = 0; i < HANG_STATES; i++)
        tests += a.tests[i];
    ck_assert_uint_eq(tests, calls);
    ck_assert(tests > 200 && tests < 600); /* 436 samples each */
    ck_assert_uint_gt(a.tests[HANG_HEALTHY], tests / 10);
    ck_assert_uint_eq(a.alarms[0], a.tests[HANG_LIKELY]);
    for (int i = 0; i < ALARMS_LEVELS; i++) {
        sim_alarms_limits(a.alarms[i], &low, &high);
        ck_assert_double_le(low, sim_alphas[i] * (double) tests);
        ck_assert(i == 0 || a.alarms[i] <= a.alarms[i - 1]);
    }
    sim_alarms(&b, NULL, NULL);
    ck_assert_mem_eq(&a, &b, sizeof(a)); /* the same seed */
}

TEST_CASE(a_hang_is_found)
{
    struct sim_alarms a = {.program = &sim_programs[0], .seed = 1, .hours = 20, .ranks = 64};
    uint64_t found[ALARMS_LEVELS] = {0};

    sim_alarms(&a, NULL, NULL);
    ck_assert_uint_ge(a.hangs, 10);
    for (int i = 0; i < ALARMS_LEVELS; i++) {
        for (int k = 0; k < ALARMS_HANG_SAMPLES; k++)
            found[i] += a.after[i][k];
        ck_assert_uint_le(found[i], i > 0 ? found[i - 1] : a.hangs);
    }
    ck_assert_uint_ge(found[1], a.hangs / 2);
    ck_assert_uint_eq(a.after[1][0], 0); /* one sample never suffices */
}

TEST_CASE(a_table_and_json_have_what_was_counted)
{
    struct sim_alarms a = {.program = &sim_programs[0],
                           .hours = 9,
                           .ranks = 64,
                           .tests = {1, 2, 996, 4},
                           .alarms = {4, 2, 0},
                           .hangs = 4,
                           .after = {{[2] = 1, [6] = 1, [7] = 2}, {[8] = 1}}};
    struct json_object *o = sim_alarms_json(&a);
    char text[1024] = "";
    FILE *f = fmemopen(text, sizeof(text), "w");

    ck_assert_ptr_nonnull(f);
    sim_alarms_head(f);
    sim_alarms_rows(f, &a);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "4.00e-03")); /* of the 1000 that could say so */
    ck_assert_ptr_nonnull(strstr(text, "0.00e+00 to 3.69e-03"));
    ck_assert_ptr_nonnull(strstr(text, " 4      4      7\n")); /* hangs, found, half of them after */
    ck_assert_ptr_nonnull(strstr(text, " 4      1      0\n"));
    ck_assert_ptr_nonnull(strstr(json_object_to_json_string(o), "\"alarms\": 2"));
    json_object_put(o);
}
