/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "faultloc/agent/serve/serve_ask.h"
#include "faultloc/agent/report/reporter.h"
#include "faultloc/agent/serve/serve_set.h"
#include "faultloc/agent/serve/serve_status.h"
#include "faultloc/agent/act/stop_job.h"
#include "faultloc/io/symptom_socket.h"
#include "nomem_json.h"
#include "program.h"
#include "sample.h"
#include "suite.h"

#include <unistd.h>

/* What an agent answers while it gets no memory: less, and nothing is lost. */

#define NOW (100000 * FTREE_MS)

static struct faultloc_program program;

static char *ask_json(void)
{
    static const struct ftree_inquiry q = {.node = 2,
                                           .rank = FTREE_NONE,
                                           .answered = true,
                                           .troubles = 1,
                                           .trouble = {{.rank = 5}},
                                           .has_state = true,
                                           .logs = 1,
                                           .log = {{.rank = 4, .entries = 1}}};

    return faultloc_ask_json(&program, NOW, &q, NULL, "");
}

static char *job_json(void)
{
    return faultloc_status_job_json(&program, &sample_status, 1);
}

static char *node_json(void)
{
    struct ftree_query_result r;
    char *text = NULL;

    if (ftree_query_own(program.ft, NOW, &r))
        text = faultloc_status_job_json(&program, &r, 1);
    ftree_query_own_free(program.ft, &r);
    return text;
}

static char *(*const answers[])(void) = {ask_json, job_json, node_json};

TEST_CASES(an_answer, COUNT(answers))
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);

    program_open(&program, 1);
    v.located = v.first_symptom = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    for (long n = 0;; n++) {
        long before = nomem_taken;
        bool none;
        char *text;
        nomem_begin(n);
        text = answers[_i]();
        none = nomem_end();
        ck_assert(!none || strstr(text, "node-outage: node h2"));
        free(text);
        ck_assert_int_eq(nomem_taken, before);
        if (none)
            break;
        ck_assert_int_lt(n, 1000);
    }
    program_close(&program);
}

static int use_rules(void *ctx, ftree_time now, const char *text, size_t len)
{
    (void) ctx, (void) now, (void) text, (void) len;
    return 0;
}

/* Who is not taken is told so, and can be taken the next time. */
TEST_CASE(a_request_is_refused)
{
    static const char text[] = "{\"set\": {\"stall_ms\": 500}}";
    static char error[FAULTLOC_SYMPTOM_ERROR];
    struct faultloc_sets sets = {.p = &program, .use_rules = use_rules};
    int reply, fd;

    program_open(&program, 1);
    fd = program_question(&reply);
    for (long n = 0;; n++) {
        const char *wrong;
        nomem_begin(n);
        wrong = faultloc_sets_take(&sets, NOW, text, strlen(text), 0, &reply, error);
        if (nomem_end())
            break;
        ck_assert_str_eq(wrong, "out of memory");
        ck_assert_int_ge(reply, 0);
        ck_assert_int_lt(n, 100);
    }
    ck_assert_int_eq(sets.n, 1);
    close(sets.set[0].reply);
    close(fd);
    program_close(&program);
}

/* A setting that could not be kept is not used; the board has the one before. */
TEST_CASE(a_setting_is_used_or_not)
{
    const struct ftree_setting s = {
        .version = 1, .changed = FTREE_SET_STALL, .has = FTREE_SET_STALL, .stall_ms = 500};
    struct faultloc_reporter reporter = {.p = &program};
    struct faultloc_stop_job stop = {.p = &program, .at = FTREE_NEVER};
    struct faultloc_sets sets = {
        .p = &program, .use_rules = use_rules, .reporter = &reporter, .stop = &stop};
    uint8_t bytes[FTREE_SETTING_BYTES];
    size_t len = ftree_setting_encode(&s, bytes);

    program_open(&program, 1);
    for (long n = 0;; n++) {
        bool none;
        nomem_begin(n);
        faultloc_sets_came(&sets, bytes, len, false);
        faultloc_sets_turn(&sets, NOW);
        none = nomem_end();
        ck_assert_int_eq(program.board->settings.stall == 500 * FTREE_MS, none);
        ck_assert_int_eq(program.board->setting_bytes > 0, none);
        if (none)
            break;
        ck_assert_int_lt(n, 100);
    }
    program_close(&program);
}
