/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/alarms.h"
#include "sim/run.h"
#include "suite.h"

#define SECOND (1000 * FTREE_MS)
#define SAMPLE (400 * FTREE_MS)

TEST_CASE(programs_have_names)
{
    for (int i = 0; i < SIM_PROGRAMS; i++)
        ck_assert_ptr_eq(sim_program_find(sim_programs[i].name, strlen(sim_programs[i].name)),
                         &sim_programs[i]);
    ck_assert_ptr_null(sim_program_find("b", 1));
    ck_assert_ptr_null(sim_program_find("btx", 3));
}

TEST_CASE(instants_are_as_far_apart_as_those_of_agents)
{
    ftree_time sum = 0, step;

    for (uint64_t k = 1; k <= 1000; k++) {
        step = sim_program_step(7, SAMPLE, k);
        ck_assert_uint_ge(step, SAMPLE / 2);
        ck_assert_uint_le(step, 3 * SAMPLE / 2);
        sum += step;
    }
    ck_assert_uint_ge(sum, 980 * SAMPLE);
    ck_assert_uint_le(sum, 1020 * SAMPLE);
    ck_assert_uint_ne(sim_program_step(8, SAMPLE, 5), sim_program_step(7, SAMPLE, 5));
}

TEST_CASES(ranks_are_outside_mpi_for_their_share, SIM_PROGRAMS)
{
    const struct sim_program *p = &sim_programs[_i];
    double sum = 0;
    ftree_time t = 0;
    int32_t same, parts = 0;

    for (uint64_t k = 1; k <= 9000; k++) {
        t += sim_program_step(3, SAMPLE, k);
        sum += sim_program_outside(p, 3, 0, 64, t);
    }
    ck_assert_double_eq_tol(sum / 9000 / 64, p->out, 0.02);
    same = sim_program_outside(p, 3, 0, 64, t);
    for (int32_t i = 0; i < 4; i++) /* ranks of several nodes add up */
        parts += sim_program_outside(p, 3, 16 * i, 16, t);
    ck_assert_int_eq(parts, same);
}

/* ---- in a run -------------------------------------------------------------------------------- */

static struct sim_topology topology;
static struct sim_options options;
static struct sim_rank ranks[8];
static struct sim_run run;
static int32_t out[HANG_HISTORY_MAX];

static void begin(void)
{
    ck_assert_int_eq(sim_topology_make(&topology, NULL, 2, 32, 4, 1), FTREE_OK);
    options = (struct sim_options){
        .topology = &topology, .program = sim_program_find("bt", 2), .ran = 100 * SECOND};
    run = (struct sim_run){.options = &options, .rank = ranks, .seed = 5, .now = SIM_BEGINS};
    ftree_config_default(&run.cfg);
}

static void finish(void)
{
    free(run.phase);
    sim_topology_free(&topology);
}

TEST_CASE(samples_begin_with_the_program)
{
    uint64_t last;
    int32_t n = 0;

    begin();
    last = sim_program_samples(&run, 1, out, HANG_HISTORY_MAX);
    ck_assert_uint_ge(last, 235);
    ck_assert_uint_le(last, 265);
    while (n < HANG_HISTORY_MAX && out[n] == -1)
        n++;
    ck_assert_int_eq(n, HANG_HISTORY_MAX - (int32_t) last);
    for (; n < HANG_HISTORY_MAX; n++)
        ck_assert(out[n] >= 0 && out[n] <= 4);
    finish();
}

TEST_CASE(all_wait_for_one_and_that_stays_in_the_history)
{
    struct ftree_stay stay;
    uint64_t last, before, calls;

    begin();
    sim_program_waits_for(&run, 6);
    before = sim_program_samples(&run, 1, out, 1);
    run.now += 20 * SECOND;
    last = sim_program_samples(&run, 1, out, 40);
    ck_assert_uint_ge(last, before + 42);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(out[i], 1);
    sim_program_samples(&run, 0, out, 40);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(out[i], 0);
    ck_assert(!sim_program_stay(&run, 5, &stay) && stay.familiar);
    ck_assert(sim_program_stay(&run, 6, &stay));
    ck_assert_uint_eq(stay.stay, 20 * SECOND);
    ck_assert_uint_lt(stay.longest, SECOND);
    calls = stay.calls;
    run.now += SECOND;
    sim_program_stay(&run, 6, &stay);
    ck_assert_uint_eq(stay.calls, calls);
    sim_program_goes_on(&run);
    run.now += 8 * SECOND;
    sim_program_stay(&run, 6, &stay);
    ck_assert_uint_gt(stay.calls, calls);
    ck_assert_uint_eq(stay.longest, 21 * SECOND);
    last = sim_program_samples(&run, 1, out, HANG_HISTORY_MAX);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(out[HANG_HISTORY_MAX - 1 - (last - before) + 5 + (uint64_t) i], 1);
    finish();
}

TEST_CASE(lines_of_the_core_are_counted)
{
    struct sim_program_tests t = {0};

    sim_program_note(&t, "  S_out of 99 samples: healthy, 1 of 4 suspicious ones, ...");
    sim_program_note(&t, "  S_out of 99 samples: hang, 4 of 4 suspicious ones, ...");
    sim_program_note(&t, "  nobody has been outside MPI for long enough");
    sim_program_note(&t, "  a rank has ended a call: the job is slow");
    sim_program_note(&t, "something else");
    ck_assert(t.tests == 2 && t.likely == 1 && t.early == 1 && t.slow == 1);
}
