/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The notes that an agent prints on stalls that nothing explains: on standard error and in the
 * report, beside the verdicts, and still there when a verdict follows.  And what it says where many
 * nodes are lost at once.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "base.h"
#include "faultloc/agent/report/reporter.h"
#include "faultloc/base/clock.h"
#include "program.h"
#include "suite.h"

#include <json.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LONG_MS 20000

static struct faultloc_program program;
static struct faultloc_reporter reporter;
static char folder[64], report[128], people[128];
static int stderr_before;

static void hear_people(void)
{
    FILE *f;

    stderr_before = dup(STDERR_FILENO);
    f = fopen(people, "w");
    dup2(fileno(f), STDERR_FILENO);
    fclose(f);
}

static void setup(bool with_file)
{
    snprintf(folder, sizeof(folder), "/tmp/test_reporter.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(report, sizeof(report), "%s/report.json", folder);
    snprintf(people, sizeof(people), "%s/stderr", folder);
    program_open(&program, 0);
    program.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (with_file)
        snprintf(program.board->settings.report, sizeof(program.board->settings.report), "%s",
                 report);
    hear_people();
    reporter = (struct faultloc_reporter){.p = NULL};
    ck_assert_int_eq(faultloc_reporter_open(&reporter, &program), 0);
}

/* All is written. */
static void finish(void)
{
    faultloc_reporter_turn(&reporter, PROGRAM_NOW, true);
    ck_assert(faultloc_writer_end(reporter.writer, LONG_MS));
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
}

AFTER_EACH
{
    unlink(report);
    unlink(people);
    ck_assert_int_eq(rmdir(folder), 0);
    close(program.epoll);
    program_close(&program);
}

static const struct ftree_waiting note = {.waiting = 10200 * FTREE_MS,
                                          .count = 5,
                                          .ends = 1,
                                          .end = {{3, 5, "outside MPI"}},
                                          .classes = 1,
                                          .class_ = {{"MPI_Recv", "MPI_COMM_WORLD", 5, 0}}};

#define TEXT \
    "[faultloc] waiting: 5 of 8 ranks have waited for 10 s for rank 3 (h1), which is outside " \
    "MPI; nothing is known to be wrong\n" \
    "[faultloc]   5 in MPI_Recv on MPI_COMM_WORLD, rank 0 (h0) for example\n" \
    "[faultloc]   what all ranks do: faultloc status; where rank 3 is: faultloc ask rank 3\n" \
    "[faultloc]   to have it examined: faultloc symptom --kind user-suspects --component " \
    "\"rank 3\"\n"

static struct json_object *read_report(void)
{
    struct json_object *o = json_tokener_parse(suite_text_of(report));

    ck_assert_ptr_nonnull(o);
    return o;
}

TEST_CASE(a_note_is_printed_and_in_the_report)
{
    struct json_object *o, *waiting;
    char expected[1024];

    setup(true);
    faultloc_reporter_waiting(&reporter, &note);
    finish();
    snprintf(expected, sizeof(expected), TEXT "[faultloc]   full report: %s\n", report);
    ck_assert_str_eq(suite_text_of(people), expected);
    o = read_report();
    waiting = json_object_object_get(o, "waiting");
    ck_assert_int_eq(json_object_get_int(json_object_object_get(waiting, "count")), 5);
    ck_assert_uint_eq(json_object_array_length(json_object_object_get(o, "verdicts")), 0);
    json_object_put(o);
    ck_assert(!reporter.reported);
    ck_assert_int_eq(program.board->verdicts, 0);
}

TEST_CASE(a_note_without_a_report_file)
{
    setup(false);
    faultloc_reporter_waiting(&reporter, &note);
    finish();
    ck_assert_str_eq(suite_text_of(people), TEXT);
}

TEST_CASE(a_verdict_after_a_note_has_both)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);
    struct json_object *o;

    setup(true);
    faultloc_reporter_waiting(&reporter, &note);
    v.located = v.first_symptom = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    faultloc_reporter_verdict(&reporter, &v);
    finish();
    o = read_report();
    ck_assert(json_object_object_get_ex(o, "waiting", NULL));
    ck_assert_uint_eq(json_object_array_length(json_object_object_get(o, "verdicts")), 1);
    json_object_put(o);
}

TEST_CASE(a_verdict_alone_has_no_note)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);
    struct json_object *o;

    setup(true);
    v.located = v.first_symptom = 1;
    faultloc_reporter_verdict(&reporter, &v);
    finish();
    o = read_report();
    ck_assert(!json_object_object_get_ex(o, "waiting", NULL));
    json_object_put(o);
    ck_assert_int_eq(program.board->verdicts, 1);
}

/* ---- many nodes at once ---------------------------------------------------------------------- */

#define RACK 1000

static const char *names[RACK];

static void make_rack(void)
{
    static char name[RACK][8];

    for (int i = 0; i < RACK; i++) {
        snprintf(name[i], sizeof(name[i]), "c%04d", i + 1);
        names[i] = name[i];
    }
    program.job.job = (struct ftree_job){.nodes = RACK, .size = RACK, .node_name = names};
}

static void lose(int32_t node)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", node, FTREE_NONE);

    v.located = v.first_symptom = 1;
    v.id = (uint32_t) node + 1;
    faultloc_reporter_verdict(&reporter, &v);
}

static void turn(void)
{
    faultloc_reporter_turn(&reporter, faultloc_now(), false);
}

/* How often people are told of nodes that are down. */
static int told(void)
{
    const char *text = suite_text_of(people);
    int n = 0;

    for (; (text = strstr(text, "[faultloc] node-outage: ")); text++)
        n++;
    return n;
}

/* Of one alone they hear at once. */
TEST_CASE(one_node_does_not_wait_for_others)
{
    setup(false);
    make_rack();
    lose(4);
    ck_assert_uint_le(faultloc_reporter_deadline(&reporter), faultloc_now());
    turn();
    ck_assert_uint_eq(faultloc_reporter_deadline(&reporter), FTREE_NEVER);
    ck_assert_int_eq(program.board->verdicts, 1);
    finish();
    ck_assert_int_eq(told(), 1);
}

TEST_CASES(a_few_are_told_one_by_one_many_as_one, 2)
{
    setup(false);
    make_rack();
    for (int32_t i = 0; i < REPORT_ALIKE_MIN - 1 + _i; i++)
        lose(i);
    turn();
    finish();
    ck_assert_int_eq(told(), _i ? 1 : REPORT_ALIKE_MIN - 1);
}

/* Those that were told before count, too. */
TEST_CASES(what_follows_is_of_the_same_happening, 2)
{
    setup(false);
    make_rack();
    lose(0);
    turn();
    for (int32_t i = 1; i < REPORT_ALIKE_MIN - 1 + _i; i++)
        lose(i);
    faultloc_reporter_turn(&reporter, faultloc_reporter_deadline(&reporter), false);
    ck_assert_int_eq(reporter.gathered.n, 0);
    finish();
    ck_assert_int_eq(told(), _i ? 2 : REPORT_ALIKE_MIN - 1);
}

/* In the order in which the core reports a rack: one, and nearly all a second later. */
TEST_CASE(a_rack_is_told_as_one)
{
    setup(false);
    make_rack();
    lose(0);
    turn();
    for (int32_t i = 1; i < RACK; i++)
        lose(i);
    turn();
    ck_assert_int_eq(reporter.gathered.n, RACK - 1); /* perhaps more follow */
    ck_assert_uint_gt(faultloc_reporter_deadline(&reporter), reporter.gathered.last);
    faultloc_reporter_turn(&reporter, faultloc_reporter_deadline(&reporter), false);
    finish();
    ck_assert_int_eq(told(), 2);
    ck_assert_ptr_nonnull(strstr(suite_text_of(people), "node-outage: node c0001 (rank 0) is down"));
    ck_assert_ptr_nonnull(
        strstr(suite_text_of(people), "node-outage: 999 nodes c[0002-1000] (ranks 1-999) are down"));
}

/* What is of another kind is told after what came before it. */
TEST_CASE(others_are_told_in_their_order)
{
    struct ftree_verdict v = base_verdict("process-crash/pid-gone", 3, 3);

    setup(false);
    make_rack();
    lose(0);
    lose(1);
    faultloc_reporter_verdict(&reporter, &v);
    ck_assert_int_eq(reporter.gathered.n, 0);
    finish();
    ck_assert_int_eq(told(), 2);
    ck_assert_ptr_nonnull(
        strstr(strstr(suite_text_of(people), "node-outage: node c0002 "), "process-crash: "));
}
