/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "faultloc/agent/report/note.h"
#include "program.h"
#include "suite.h"

#include "ftree/base/base.h"
#include "ftree/stacks/stacks.h"

#include <json.h>

/* What a note says of the ranks that wait, and what is asked before a verdict is told. */

static struct ftree_rank_class classes[] = {
    {.state = FTREE_DOES_WAIT, .comm = "MPI_COMM_WORLD", .count = 40, .example = 2},
    {.state = FTREE_DOES_COMPUTE, .count = 9, .example = 1},
    {.state = FTREE_DOES_WAIT, .count = 5, .example = 7},
    {.state = FTREE_DOES_LEAVE, .count = 4, .example = 60},
    {.state = FTREE_DOES_WAIT, .comm = "x", .count = 3, .example = 8},
    {.state = FTREE_DOES_WAIT, .comm = "y", .count = 2, .example = 9},
    {.state = FTREE_DOES_WAIT, .comm = "z", .count = 1, .example = 10},
};

TEST_CASE(those_that_wait_are_told_as_far_as_there_is_room)
{
    struct ftree_rank_classes all = {.items = classes, .n = 7};
    struct ftree_waiting w = {.count = 51, .classes = 2};

    faultloc_note_classes(&w, &all);
    ck_assert_int_eq(w.classes, FTREE_WAITING_CLASSES_MAX);
    ck_assert_int_eq(w.class_[0].count, 40);
    ck_assert_str_eq(w.class_[0].comm, "MPI_COMM_WORLD");
    ck_assert_str_eq(w.class_[0].call, "MPI");
    ck_assert_int_eq(w.class_[1].count, 5);
    ck_assert_int_eq(w.class_[1].example, 7);
    ck_assert_int_eq(w.class_[3].count, 2);
}

TEST_CASE(nobody_waits_any_more)
{
    struct ftree_rank_classes none = {.items = classes + 1, .n = 1};
    struct ftree_waiting w = {.count = 51, .classes = 2};

    faultloc_note_classes(&w, &none);
    ck_assert_int_eq(w.classes, 0);
}

static struct ftree_span first = {0, 0}, second = {1, 1};
static struct ftree_rank_class asleep[] = {
    {.state = FTREE_DOES_SLEEP,
     .comm = "a pipe (pipe_read)",
     .on = "/tmp/fifo",
     .count = 1,
     .example = 1,
     .shortest = 9000 * FTREE_MS,
     .ranks = {.items = &second, .n = 1, .count = 1}},
    {.state = FTREE_DOES_SLEEP, .comm = "a sleep", .count = 1, .example = 0, .shortest = FTREE_MS,
     .ranks = {.items = &first, .n = 1, .count = 1}}, /* perhaps for a moment */
};

TEST_CASE(the_kernel_knows_what_a_rank_sleeps_in)
{
    struct ftree_rank_classes all = {.items = asleep, .n = 2};
    struct ftree_waiting w = {.count = 2, .ends = 2};

    for (int i = 0; i < 2; i++) {
        w.end[i].rank = i;
        snprintf(w.end[i].state, sizeof(w.end[i].state), "outside MPI");
    }
    faultloc_note_classes(&w, &all);
    ck_assert_str_eq(w.end[0].state, "outside MPI");
    ck_assert_uint_eq(w.end[0].still, 0);
    ck_assert_str_eq(w.end[1].state, "outside MPI, asleep in a pipe (pipe_read): /tmp/fifo");
    ck_assert_uint_eq(w.end[1].still, 9000 * FTREE_MS);
    ck_assert_int_eq(w.classes, 0);
    w.asleep = true;
    faultloc_note_classes(&w, &all);
    ck_assert_int_eq(w.classes, 2);
    ck_assert_str_eq(w.class_[0].call, "");
    ck_assert_str_eq(w.class_[0].comm, "a pipe (pipe_read)");
    ck_assert_str_eq(w.class_[0].on, "/tmp/fifo");
}

/* ---- a verdict ------------------------------------------------------------------------------- */

#define SECOND (1000 * FTREE_MS)

static struct faultloc_program program;
static struct faultloc_reporter reporter;
static struct faultloc_note note;
static struct ftree_verdict told;
static int times;

static void tell(void *ctx, const struct ftree_verdict *v)
{
    ck_assert_ptr_eq(ctx, &note);
    told = *v;
    times++;
}

static void end(void *ctx)
{
    suite_forget(ctx);
    for (uint32_t i = 0; i < FAULTLOC_REPORTER_STACKS; i++) {
        json_object_put(reporter.stacks[i].json);
        ftree_stacks_clear(program.ft, &reporter.stacks[i].places);
    }
    program_close(&program);
}

static struct ftree_verdict begin(void)
{
    struct ftree_verdict v = base_verdict("user-code-hang/blocked", 2, 4);

    program_open(&program, 0);
    suite_keep(&program, end);
    reporter = (struct faultloc_reporter){.p = &program};
    note = (struct faultloc_note){.reporter = &reporter, .tell = tell, .ctx = &note};
    times = 0;
    v.id = 7;
    v.evidences = 1;
    v.evidence[0].source = FTREE_EVIDENCE_SAMPLE;
    return v;
}

/* The classes are rank 1's and rank 6's; and the stacks are asked for. */
static void until_stacks(const struct ftree_verdict *v)
{
    static struct ftree_rank_class waits[] = {{.state = FTREE_DOES_WAIT, .count = 5, .example = 1},
                                              {.state = FTREE_DOES_WAIT, .count = 2, .example = 6}};
    struct ftree_query_result r = {.kind = FTREE_QUERY_STATUS, .classes = {.items = waits, .n = 2}};

    ck_assert(faultloc_note_verdict(&note, SECOND, v));
    ck_assert_uint_eq(faultloc_note_deadline(&note), 0);
    faultloc_note_turn(&note, SECOND);
    ck_assert_uint_eq(faultloc_note_deadline(&note), SECOND + FAULTLOC_FINDING_PATIENCE);
    r.number = note.finding.number + 1;
    faultloc_note_answered(&note, &r); /* somebody else's */
    ck_assert_uint_ne(faultloc_note_deadline(&note), 0);
    r.number = note.finding.number;
    faultloc_note_answered(&note, &r);
    faultloc_note_turn(&note, SECOND);
    ck_assert_int_eq(note.finding.ranks.count, 3);
    ck_assert(ftree_ranks_has(&note.finding.ranks, 1) && ftree_ranks_has(&note.finding.ranks, 4) &&
              ftree_ranks_has(&note.finding.ranks, 6));
    ck_assert_int_eq(times, 0);
}

TEST_CASE(a_verdict_by_samples_is_told_with_stacks)
{
    struct ftree_verdict v = begin();
    struct ftree_query_result r = {.kind = FTREE_QUERY_STACKS};
    const struct ftree_call call = {.function = "stay_spin", .file = "app.c", .line = 7};
    struct ftree_stacks s = {0};

    until_stacks(&v);
    ck_assert(ftree_stacks_add(program.ft, &s, 4, &call, 1));
    r.number = note.finding.number;
    r.stacks = &s;
    faultloc_note_answered(&note, &r);
    ck_assert_int_eq(times, 0); /* not from within the core */
    faultloc_note_turn(&note, 2 * SECOND);
    ck_assert_int_eq(times, 1);
    ck_assert_uint_eq(told.id, 7);
    ck_assert_uint_eq(faultloc_note_deadline(&note), FTREE_NEVER);
    ck_assert_uint_eq(reporter.stacks[0].id, 7);
    ck_assert_ptr_nonnull(strstr(json_object_to_json_string(reporter.stacks[0].json),
                                 "1 rank (4)  stay_spin app.c:7"));
    ftree_stacks_clear(program.ft, &s);
}

/* rows: of the first thread; of another */
TEST_CASES(the_file_of_a_call_is_told, 2)
{
    static const char *const processes[] = {
        "{\"schema\": \"faultloc-handler/1\", \"pid\": 44, \"threads\": [{\"tid\": 44, \"state\": "
        "\"D\", \"frames\": [{\"function\": \"main\"}], \"open_file\": "
        "{\"path\": \"/data/in\", \"mount_point\": \"/data\", \"type\": \"nfs4\", \"server\": \"fs1\"}}]}",
        "{\"schema\": \"faultloc-handler/1\", \"pid\": 44, \"threads\": [{\"tid\": 43, "
        "\"open_file\": {\"path\": \"/dev/log\"}}, {\"tid\": 44}]}"};
    static const char *const lines[] = {
        "\"rank 4 is in a call on /data/in, on /data (nfs4 of fs1)\"",
        "\"a further thread of rank 4 is in a call on /dev/log\""};
    static const char *const kept[] = {
        "\"threads\":[{\"tid\":44,\"state\":\"D\",\"open_file\":{", "\"threads\":[{\"tid\":43,"};
    const char *process = processes[_i];
    struct ftree_verdict v = begin();
    struct ftree_query_result r = {.kind = FTREE_QUERY_STACKS};
    const struct ftree_call call = {.function = "main"};
    struct ftree_stacks s = {0};
    const char *text;

    until_stacks(&v);
    ck_assert(ftree_stacks_add(program.ft, &s, 1, &call, 1));
    ck_assert(ftree_stacks_add_detail(program.ft, &s, 1, process, strlen(process))); /* it waits */
    ck_assert(ftree_stacks_add_detail(program.ft, &s, 4, process, strlen(process)));
    r.number = note.finding.number;
    r.stacks = &s;
    faultloc_note_answered(&note, &r);
    text = json_object_to_json_string_ext(reporter.stacks[0].json,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    ck_assert_ptr_nonnull(strstr(text, lines[_i]));
    ck_assert_ptr_null(strstr(text, "rank 1 is in a call"));
    ck_assert_ptr_nonnull(strstr(text, kept[_i]));
    ck_assert_ptr_nonnull(strstr(text, "\"rank\":4}"));
    ck_assert_ptr_null(strstr(text, "\"rank\":1}"));
    ck_assert_ptr_null(strstr(text, "\"frames\""));
    ftree_stacks_clear(program.ft, &s);
}

TEST_CASE(without_an_answer_it_says_so)
{
    struct ftree_verdict v = begin();

    until_stacks(&v);
    faultloc_note_turn(&note, SECOND + FAULTLOC_FINDING_PATIENCE - 1);
    ck_assert_int_eq(times, 0);
    faultloc_note_turn(&note, SECOND + FAULTLOC_FINDING_PATIENCE);
    ck_assert_int_eq(times, 1);
    ck_assert_ptr_null(reporter.stacks[0].json);
    ck_assert_str_eq(reporter.stacks[0].why, "not all nodes have answered in time");
}

TEST_CASE(without_a_stack_it_says_why)
{
    struct ftree_verdict v = begin();
    struct ftree_stacks s = {.why = "built without libdw"};
    struct ftree_query_result r = {.kind = FTREE_QUERY_STACKS, .stacks = &s};

    until_stacks(&v);
    r.number = note.finding.number;
    faultloc_note_answered(&note, &r);
    faultloc_note_turn(&note, 2 * SECOND);
    ck_assert_int_eq(times, 1);
    ck_assert_str_eq(reporter.stacks[0].why, "built without libdw");
}

TEST_CASE(one_that_is_over_meanwhile_is_not_told)
{
    struct ftree_verdict v = begin(), other = v;

    until_stacks(&v);
    other.id = 8;
    ck_assert(!faultloc_note_verdict(&note, SECOND, &other)); /* one at a time */
    ck_assert_int_eq(times, 0);
    ck_assert_uint_eq(reporter.stacks[0].id, 8);
    ck_assert_str_eq(reporter.stacks[0].why, "those of another verdict were being taken");
    v.withdrawn = SECOND;
    ck_assert(faultloc_note_verdict(&note, SECOND, &v)); /* its withdrawal neither */
    ck_assert_uint_eq(faultloc_note_deadline(&note), FTREE_NEVER);
    faultloc_note_turn(&note, 2 * FAULTLOC_FINDING_PATIENCE);
    ck_assert_int_eq(times, 0);
    ck_assert(!faultloc_note_verdict(&note, SECOND, &v)); /* that of one that was told is */
}

/* Its rank went on, which its node says before it answers what its ranks do. */
TEST_CASE(of_one_that_is_over_no_stacks_are_asked_for)
{
    struct ftree_verdict v = begin();
    struct ftree_query_result r = {.kind = FTREE_QUERY_STATUS};

    ck_assert(faultloc_note_verdict(&note, SECOND, &v));
    faultloc_note_turn(&note, SECOND);
    r.number = note.finding.number;
    v.withdrawn = SECOND;
    ck_assert(faultloc_note_verdict(&note, SECOND, &v));
    faultloc_note_answered(&note, &r);
    faultloc_note_turn(&note, 2 * SECOND);
    ck_assert_int_eq(note.finding.step, FAULTLOC_FINDING_NONE);
    ck_assert_uint_eq(note.finding.number, r.number); /* nothing was asked after that */
    ck_assert_int_eq(times, 0);
}

TEST_CASE(the_end_of_the_job_does_not_wait_for_stacks)
{
    struct ftree_verdict v = begin();

    faultloc_note_end(&note);
    ck_assert_int_eq(times, 0);
    until_stacks(&v);
    faultloc_note_end(&note);
    ck_assert_int_eq(times, 1);
    ck_assert_uint_eq(told.id, 7);
    ck_assert_str_eq(reporter.stacks[0].why, "ranks have ended before they were taken");
    faultloc_note_end(&note);
    ck_assert_int_eq(times, 1);
}

TEST_CASE(other_verdicts_are_told_at_once)
{
    struct ftree_verdict v = begin();

    v.evidence[0].source = FTREE_EVIDENCE_PROC;
    ck_assert(!faultloc_note_verdict(&note, SECOND, &v));
}

/* ---- ranks that wait for each other ---------------------------------------------------------- */

static struct ftree_verdict begin_deadlock(void)
{
    struct ftree_verdict v = begin();

    v.class_ = FTREE_CLASS_DEADLOCK;
    v.evidence[0].source = FTREE_EVIDENCE_WAIT;
    snprintf(v.evidence[0].detail, sizeof(v.evidence[0].detail), "rank 4 (h2) in MPI_Recv(from 5)");
    ftree_ranks_add(&v.component, 4, 5);
    ftree_ranks_add(&v.victims, 1, 1);
    ck_assert(faultloc_note_verdict(&note, SECOND, &v));
    ck_assert_uint_eq(faultloc_note_deadline(&note), 0);
    faultloc_note_turn(&note, SECOND);
    ck_assert_uint_ne(note.places.item[0].number, 0);
    ck_assert_uint_eq(faultloc_note_deadline(&note), SECOND + FAULTLOC_PLACES_PATIENCE);
    ck_assert_int_eq(times, 0);
    return v;
}

static void answer_places(ftree_time now)
{
    const struct ftree_call call = {.function = "exchange", .file = "halo.c", .line = 112};
    struct ftree_query_result r = {.kind = FTREE_QUERY_STACKS, .number = note.places.item[0].number};
    struct ftree_stacks s = {0};

    ck_assert(ftree_stacks_add(program.ft, &s, 4, &call, 1));
    r.stacks = &s;
    faultloc_note_answered(&note, &r);
    ftree_stacks_clear(program.ft, &s);
    faultloc_note_turn(&note, now);
}

TEST_CASE(a_deadlock_is_told_with_its_places)
{
    begin_deadlock();
    answer_places(SECOND + FTREE_MS);
    ck_assert_int_eq(times, 1);
    ck_assert_int_eq(reporter.stacks[0].places.n, 1);
    ck_assert_str_eq(reporter.stacks[0].places.items[0].function, "exchange");
    ck_assert_int_eq(note.places.n, 0);
}

TEST_CASE(a_deadlock_does_not_wait_for_its_places)
{
    begin_deadlock();
    faultloc_note_turn(&note, SECOND + FAULTLOC_PLACES_PATIENCE - 1);
    ck_assert_int_eq(times, 0);
    faultloc_note_turn(&note, SECOND + FAULTLOC_PLACES_PATIENCE);
    ck_assert_int_eq(times, 1);
    ck_assert_uint_ne(faultloc_note_deadline(&note), FTREE_NEVER);
    ck_assert_int_eq(faultloc_writer_start("", "", false, &reporter.writer), 0);
    answer_places(3 * SECOND); /* they are told when they come */
    ck_assert_int_eq(times, 1);
    ck_assert_int_eq(reporter.stacks[0].places.n, 1);
    ck_assert_uint_eq(faultloc_note_deadline(&note), FTREE_NEVER);
    faultloc_writer_end(reporter.writer, 1000);
}

/* Those that come while one is asked about are asked about together, and so many wait. */
TEST_CASE(several_deadlocks_have_their_places)
{
    struct ftree_verdict v = begin_deadlock();
    uint32_t first = note.places.item[0].number;

    for (v.id = 8; v.id < 7 + FAULTLOC_PLACES_MAX; v.id++)
        ck_assert(faultloc_note_verdict(&note, SECOND, &v));
    ck_assert(!faultloc_note_verdict(&note, SECOND, &v));
    faultloc_note_turn(&note, SECOND);
    ck_assert_uint_eq(note.places.item[1].number, 0);
    answer_places(SECOND); /* of the first */
    ck_assert_int_eq(times, 1);
    faultloc_note_turn(&note, SECOND);
    ck_assert_uint_ne(note.places.item[0].number, first);
    ck_assert_uint_eq(note.places.item[0].number,
                      note.places.item[FAULTLOC_PLACES_MAX - 2].number);
    answer_places(SECOND);
    ck_assert_int_eq(times, FAULTLOC_PLACES_MAX);
    ck_assert_int_eq(note.places.n, 0);
}

TEST_CASE(places_that_never_come_are_forgotten)
{
    begin_deadlock();
    faultloc_note_turn(&note, SECOND + FAULTLOC_PLACES_PATIENCE);
    faultloc_note_turn(&note, SECOND + FAULTLOC_PLACES_PATIENCE + FAULTLOC_FINDING_PATIENCE);
    ck_assert_int_eq(note.places.n, 0);
    ck_assert_int_eq(times, 1);
}

/* The withdrawal of one that was told is told. */
TEST_CASES(a_deadlock_that_is_over_needs_no_places, 2)
{
    struct ftree_verdict v = begin_deadlock();

    v.withdrawn = 2 * SECOND;
    if (_i)
        faultloc_note_turn(&note, SECOND + FAULTLOC_PLACES_PATIENCE);
    ck_assert_int_eq(faultloc_note_verdict(&note, 2 * SECOND, &v), !_i);
    ck_assert_int_eq(note.places.n, 0);
    ck_assert_int_eq(times, _i);
}

TEST_CASES(the_end_of_the_job_does_not_wait_for_places, 2)
{
    begin_deadlock();
    if (_i)
        faultloc_note_turn(&note, SECOND + FAULTLOC_PLACES_PATIENCE);
    faultloc_note_end(&note);
    ck_assert_int_eq(times, 1);
    ck_assert_int_eq(note.places.n, 0);
}
