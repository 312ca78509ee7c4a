/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What an agent answers to `faultloc status`. */

#include "base.h"
#include "faultloc/agent/status.h"
#include "faultloc/base/proc.h"
#include "sample.h"
#include "suite.h"

#include <json.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)

static struct faultloc_program program;
static struct faultloc_seen seen[2];
static struct ftree *ft;

static int no_send(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    (void) ctx, (void) to, (void) bytes, (void) len;
    return 0;
}

static void no_look(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    (void) ctx, (void) i;
    *state = (struct ftree_rank_state){.peer = FTREE_NONE};
}

static void no_verdict(void *ctx, const struct ftree_verdict *v)
{
    (void) ctx, (void) v;
}

static const struct ftree_io io = {
    .send = no_send, .look = no_look, .verdict = no_verdict, .report = no_verdict};

/* Node h1 of the sample, with ranks 2 and 3. */
static void setup(void)
{
    struct faultloc_proc own = {0};
    int fd;

    ck_assert_int_eq(faultloc_proc_read(NULL, getpid(), &own), 0);
    memset(seen, 0, sizeof(seen));
    program = (struct faultloc_program){.self = 1, .job = {.job = sample_job}};
    ck_assert_int_eq(faultloc_board_make(4, 8, 2, 0, &program.board, &fd), 0);
    close(fd);
    strcpy(program.board->job_id, "4711");
    program.job.job.rules = base_rules();
    program.watch = (struct faultloc_watch){.board = program.board, .seen = seen};
    for (int32_t i = 0; i < 2; i++) {
        faultloc_board_slot(program.board, i)->rank = 2 + i;
        faultloc_board_slot(program.board, i)->pid = getpid(); /* they live */
        faultloc_board_slot(program.board, i)->start = own.start;
        faultloc_board_slot(program.board, i)->state = FAULTLOC_SLOT_RUNNING;
    }
    ck_assert_int_eq(ftree_create(&program.job.job, 1, NULL, &io, NULL, &ft), FTREE_OK);
}

static void teardown(void)
{
    ftree_destroy(ft);
    faultloc_board_unmap(program.board);
}

/* All but the pids. */
static void expect(const char *expected)
{
    char *text = faultloc_status_json(&program, ft, NOW, 1769860810250), pid[32], *at;

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
    seen[1].gone = true;
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
    ck_assert_int_eq(ftree_restore(ft, 2, &v), FTREE_OK);
    seen[0].gone = seen[1].gone = true;
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
