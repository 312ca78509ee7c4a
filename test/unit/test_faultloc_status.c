/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What an agent answers to `faultloc status`. */

#include "base.h"
#include "faultloc/agent/serve/status.h"
#include "program.h"
#include "suite.h"

#include <unistd.h>

#define NOW (100000 * FTREE_MS)

static struct faultloc_program program;

/* Node h1 of the sample, with ranks 2 and 3. */
static void setup(void)
{
    program_open(&program, 1);
}

static void teardown(void)
{
    program_close(&program);
}

/* All but the pids. */
static void expect(const char *expected)
{
    char *text = faultloc_status_json(&program, NOW, 1769860810250), pid[32], *at;

    snprintf(pid, sizeof(pid), "\"pid\":%d,", (int) getpid());
    while ((at = strstr(text, pid)))
        memmove(at, at + strlen(pid), strlen(at + strlen(pid)) + 1);
    ck_assert_str_eq(text, expected);
    free(text);
}

#define HEAD \
    "{\"schema\":\"faultloc-status/1\",\"job\":\"4711\",\"size\":8,\"nodes\":4,\"node\":\"h1\"," \
    "\"unix_ms\":1769860810250,\"ranks\":["

START_TEST(what_ranks_do)
{
    struct faultloc_slot *slot;

    setup();
    slot = faultloc_board_slot(program.board, 1);
    slot->call = slot->wait_call = 0x11;
    slot->wait_since_ns = NOW - 12340 * FTREE_MS;
    slot->wait_peer = 5;
    expect(HEAD "{\"rank\":2,\"state\":\"outside MPI\"},"
                "{\"rank\":3,\"state\":\"waiting\",\"call\":\"MPI\",\"peer\":5,"
                "\"waited_s\":12.3}],\"verdicts\":[]}");
    teardown();
}
END_TEST

START_TEST(who_has_left_or_is_gone)
{
    setup();
    faultloc_board_slot(program.board, 0)->state = FAULTLOC_SLOT_LEFT;
    program_rank_gone(&program, 1);
    expect(HEAD "{\"rank\":2,\"state\":\"has left\"},"
                "{\"rank\":3,\"state\":\"gone\"}],\"verdicts\":[]}");
    teardown();
}
END_TEST

START_TEST(verdicts_so_far)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);

    setup();
    v.located = v.first_symptom = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    program_rank_gone(&program, 0);
    program_rank_gone(&program, 1);
    expect(HEAD "{\"rank\":2,\"state\":\"gone\"},"
                "{\"rank\":3,\"state\":\"gone\"}],\"verdicts\":["
                "{\"class\":\"node-outage\",\"line\":\"node-outage: node h2 (ranks 4-5) is "
                "down\",\"withdrawn\":false}]}");
    teardown();
}
END_TEST

SUITE("faultloc_status")
{
    TEST(what_ranks_do);
    TEST(who_has_left_or_is_gone);
    TEST(verdicts_so_far);
}
