/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What an agent answers to `faultloc set`, and what it does with a setting that has come. */

#include "base.h"
#include "faultloc/agent/report/reporter.h"
#include "faultloc/agent/serve/serve_set.h"
#include "faultloc/agent/act/stop_job.h"
#include "faultloc/io/symptom_socket.h"
#include "program.h"
#include "suite.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)
#define UID 1000

static struct faultloc_program program;
static struct faultloc_reporter reporter;
static struct faultloc_stop_job stop;
static struct faultloc_sets sets;

static struct {
    int times, rc;
    char text[64];
} rules; /* as they were last to be used */

static int use_rules(void *ctx, ftree_time now, const char *text, size_t len)
{
    (void) ctx, (void) now;
    rules.times++;
    snprintf(rules.text, sizeof(rules.text), "%.*s", (int) len, text);
    return rules.rc;
}

/* A new agent of node h1. */
static void begin_sets(void)
{
    free(sets.bytes);
    memset(&rules, 0, sizeof(rules));
    reporter = (struct faultloc_reporter){.p = &program};
    stop = (struct faultloc_stop_job){.p = &program, .reporter = &reporter, .at = FTREE_NEVER};
    sets = (struct faultloc_sets){
        .p = &program, .use_rules = use_rules, .reporter = &reporter, .stop = &stop};
}

BEFORE_EACH
{
    program_open(&program, 1);
    begin_sets();
}

AFTER_EACH
{
    free(sets.bytes);
    program_close(&program);
}

static const char *take(const char *text, size_t len, int *reply)
{
    static char error[FAULTLOC_SYMPTOM_ERROR];

    return faultloc_sets_take(&sets, NOW, text, len, UID, reply, error);
}

/* ---- the request ----------------------------------------------------------------------------- */

static const struct {
    const char *text, *wrong;
} requests[] = {
    {"{\"set\": {\"action\": \"abort\"}}", ""},
    {"{\"set\": {\"action\": \"report\", \"stall_ms\": 100}}", ""},
    {"{\"set\": {\"stall_ms\": 3600000}}", ""},
    {"{\"set\": {\"rules\": 0}}", ""},
    {"{\"set\": {\"action\": \"perhaps\"}}", "action must be abort or report"},
    {"{\"set\": {\"action\": \"exec:/bin/true\"}}", "action must be abort or report"},
    {"{\"set\": {\"action\": \"abort,exec:/bin/true\"}}", "action must be abort or report"},
    {"{\"set\": {\"action\": 1}}", "action must be abort or report"},
    {"{\"set\": {\"stall_ms\": 99}}", "stall-ms must be a whole number from 100 to 3600000"},
    {"{\"set\": {\"stall_ms\": 3600001}}", "stall-ms must be a whole number from 100 to 3600000"},
    {"{\"set\": {\"stall_ms\": 500.5}}", "stall-ms must be a whole number from 100 to 3600000"},
    {"{\"set\": {\"stall_ms\": \"500\"}}", "stall-ms must be a whole number from 100 to 3600000"},
    {"{\"set\": {\"rules\": -1}}", "a rule base for all nodes can have up to 128 KiB"},
    {"{\"set\": {\"rules\": 131073}}", "a rule base for all nodes can have up to 128 KiB"},
    {"{\"set\": {\"rules\": 10}}", "the request has no rule base"},
    {"{\"set\": {\"patience_ms\": 1}}",
     "unknown member; the members are action, stall_ms and rules"},
    {"{\"set\": {}}", "nothing is to be set"},
    {"{\"set\": 1}", "not a request: {\"set\": {...}}"},
    {"{\"set\": {}, \"more\": 1}", "not a request: {\"set\": {...}}"},
    {"{\"set\": {\"action\": \"abort\"}} x", "not a request: {\"set\": {...}}"},
    {"{\"set\": ", "not a request: {\"set\": {...}}"},
    {"[]", "not a request: {\"set\": {...}}"},
};

TEST_CASES(a_request_is_taken_or_refused, COUNT(requests))
{
    bool fine = !*requests[_i].wrong;
    int reply, fd;

    fd = program_question(&reply);
    ck_assert_str_eq(take(requests[_i].text, strlen(requests[_i].text), &reply),
                     requests[_i].wrong);
    ck_assert_int_eq(reply == -1, fine);
    ck_assert_int_eq(sets.n, fine);
    close(fine ? sets.set[0].reply : reply);
    close(fd);
}

TEST_CASE(a_zero_byte_is_no_end_of_a_request)
{
    static const char text[] = "{\"set\": {\"action\": \"abort\"}}\0";
    int reply, fd;

    fd = program_question(&reply);
    ck_assert_str_eq(take(text, sizeof(text) - 1, &reply), "not a request: {\"set\": {...}}");
    close(reply);
    close(fd);
}

TEST_CASE(rules_that_are_none_are_refused_with_the_place)
{
    static const char request[] = "{\"set\": {\"rules\": 9}}";
    int reply, fd;

    fd = program_question(&reply);
    ck_assert_int_eq(send(fd, "{\n \"a\" 1}", 9, 0), 9);
    ck_assert_ptr_nonnull(strstr(take(request, strlen(request), &reply), "rules: line 2, "));
    ck_assert_int_ge(reply, 0);
    close(reply);
    close(fd);
}

TEST_CASE(so_many_can_ask_at_the_same_time)
{
    int reply, fd[FAULTLOC_SETS_MAX + 1];

    for (int i = 0; i <= FAULTLOC_SETS_MAX; i++) {
        fd[i] = program_question(&reply);
        ck_assert_str_eq(take(requests[0].text, strlen(requests[0].text), &reply),
                         i < FAULTLOC_SETS_MAX ? "" : "too many requests at once");
    }
    close(reply);
    for (int i = 0; i <= FAULTLOC_SETS_MAX; i++)
        close(fd[i]);
    for (int i = 0; i < FAULTLOC_SETS_MAX; i++)
        close(sets.set[i].reply);
}

TEST_CASE(a_request_without_a_socket)
{
    int nobody = -1;

    ck_assert_str_eq(take(requests[0].text, strlen(requests[0].text), &nobody),
                     "a request needs a socket for its answer");
}

/* ---- what came of it ------------------------------------------------------------------------- */

static const struct {
    const char *refused, *expected;
} outcomes[] = {
    {"", "{\"schema\":\"faultloc-set/1\",\"answered\":2,\"nodes\":3}"},
    {"no node acts as root", "no node acts as root"},
};

TEST_CASES(who_asked_learns_what_came_of_it, COUNT(outcomes))
{
    struct ftree_query_result r = {
        .kind = FTREE_QUERY_SET, .nodes = 4, .answered = {.count = 2}, .left = {.count = 1}};
    int reply, fd, other;

    fd = program_question(&reply);
    take(requests[0].text, strlen(requests[0].text), &reply);
    other = program_question(&reply);
    take(requests[0].text, strlen(requests[0].text), &reply);
    snprintf(r.refused, sizeof(r.refused), "%s", outcomes[_i].refused);
    r.number = sets.set[0].number + sets.set[1].number; /* of neither */
    faultloc_sets_answered(&sets, &r);
    ck_assert_int_eq(sets.n, 2);
    r.number = sets.set[0].number;
    faultloc_sets_answered(&sets, &r);
    ck_assert_int_eq(sets.n, 1);
    ck_assert_str_eq(program_answer(fd), outcomes[_i].expected);
    ck_assert_str_eq(program_answer(other), "");
    close(sets.set[0].reply);
    close(other);
    close(fd);
}

/* ---- a setting ------------------------------------------------------------------------------- */

static void come(const struct ftree_setting *s)
{
    uint8_t bytes[FTREE_SETTING_BYTES + 64];

    faultloc_sets_came(&sets, bytes, ftree_setting_encode(s, bytes), false);
}

static const struct ftree_setting all = {.version = 7,
                                         .uid = UID,
                                         .changed = FTREE_SET_STALL,
                                         .has = FTREE_SET_ALL,
                                         .abort = true,
                                         .stall_ms = 700,
                                         .rules = "{}",
                                         .rules_len = 2};

/* What was set before and did not come here is used as well, the rules once. */
TEST_CASE(all_that_was_set_is_used)
{
    come(&all);
    ck_assert_int_eq(rules.times, 0);
    faultloc_sets_turn(&sets, NOW);
    ck_assert_int_eq(program.board->settings.action, FAULTLOC_ACTION_ABORT);
    ck_assert(program.board->settings.stall == 700 * FTREE_MS);
    ck_assert_str_eq(rules.text, "{}");
    ck_assert_uint_eq(sets.version, 7);
    ck_assert(stop.set == NOW);
    ck_assert_uint_eq(reporter.changes, 1);
    ck_assert_str_eq(reporter.change[0].what, "stall-ms=700");
    come(&all);
    faultloc_sets_turn(&sets, NOW + 1);
    ck_assert_int_eq(rules.times, 1);
    ck_assert(stop.set == NOW);
    faultloc_sets_turn(&sets, NOW + 2);
    ck_assert_uint_eq(reporter.changes, 2);
}

TEST_CASE(what_is_malformed_changes_nothing)
{
    faultloc_sets_came(&sets, "x", 1, false);
    faultloc_sets_turn(&sets, NOW);
    ck_assert_int_eq(rules.times, 0);
    ck_assert_uint_eq(reporter.changes, 0);
    ck_assert_uint_eq(program.board->setting_bytes, 0);
}

TEST_CASE(only_the_last_of_two_that_came_is_used)
{
    struct ftree_setting later = all;

    later.version = 8;
    later.stall_ms = 900;
    come(&all);
    come(&later);
    faultloc_sets_turn(&sets, NOW);
    ck_assert(program.board->settings.stall == 900 * FTREE_MS);
    ck_assert_uint_eq(reporter.changes, 1);
}

TEST_CASE(the_next_agent_of_the_node_begins_with_it)
{
    come(&all);
    faultloc_sets_turn(&sets, NOW);
    begin_sets();
    ck_assert_int_eq(faultloc_sets_restore(&sets, NOW), 0);
    ck_assert_uint_eq(sets.version, 7);
    ck_assert_str_eq(rules.text, "{}");
    ck_assert_uint_eq(reporter.changes, 0);
}

/* One that may be wrong for long must have stood for longer than the patience. */
TEST_CASE(a_verdict_may_hold_back)
{
    struct ftree_verdict v = base_verdict("user-code-hang/blocked", 1, 2);

    program.board->settings.action = FAULTLOC_ACTION_ABORT;
    program.board->settings.patience = 4000 * FTREE_MS;
    v.located = v.first_symptom = NOW;
    v.holds_back = 55000 * FTREE_MS;
    ck_assert_int_eq(ftree_restore(program.ft, NOW, &v), FTREE_OK);
    faultloc_stop_job_consider(&stop, &v, NOW);
    ck_assert(stop.at == NOW + 55000 * FTREE_MS);
    ck_assert(!faultloc_stop_job_is_due(&stop, NOW + 54000 * FTREE_MS));
    ck_assert(faultloc_stop_job_is_due(&stop, NOW + 55000 * FTREE_MS));
    v.id++;
    v.holds_back = FTREE_HOLDS_FOR_EVER; /* as of a rank that waits for a person */
    ck_assert_int_eq(ftree_restore(program.ft, NOW, &v), FTREE_OK);
    stop.at = FTREE_NEVER;
    faultloc_stop_job_consider(&stop, &v, NOW);
    ck_assert(stop.at == FTREE_NEVER);
    v = base_verdict("process-stopped/state-t", 1, 3); /* another one is sooner */
    faultloc_stop_job_consider(&stop, &v, NOW);
    ck_assert(stop.at == NOW + 4000 * FTREE_MS);
}

/* They are tried again with the next setting. */
TEST_CASE(rules_that_cannot_be_used)
{
    rules.rc = ENOMEM;
    come(&all);
    faultloc_sets_turn(&sets, NOW);
    ck_assert(!sets.has_rules);
    rules.rc = 0;
    come(&all);
    faultloc_sets_turn(&sets, NOW + 1);
    ck_assert_int_eq(rules.times, 2);
    ck_assert(sets.has_rules);
}
