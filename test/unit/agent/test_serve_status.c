/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What an agent answers to `faultloc status --here`. */

#include "base.h"
#include "faultloc/agent/serve/serve_status.h"
#include "faultloc/io/symptom_socket.h"
#include "program.h"
#include "suite.h"

#include <unistd.h>

static struct faultloc_program program;
static struct faultloc_statuses statuses;

/* Node h1 of the sample, with ranks 2 and 3. */
BEFORE_EACH
{
    program_open(&program, 1);
    statuses = (struct faultloc_statuses){.p = &program};
}

AFTER_EACH
{
    program_close(&program);
}

static const char *answer_to(const char *question)
{
    int reply, fd = program_question(&reply);
    const char *text;

    ck_assert_str_eq(
        faultloc_statuses_take(&statuses, PROGRAM_NOW, question, strlen(question), &reply), "");
    ck_assert_int_eq(reply, -1);
    text = program_answer(fd);
    close(fd);
    return text;
}

static void expect(const char *expected)
{
    ck_assert_str_eq(answer_to(FAULTLOC_STATUS_REQUEST "\"text-here\"}"), expected);
}

#define HEAD "job 4711: 8 ranks on 4 nodes, as of now (node h1 alone)\nnodes: 1 answered\n"
#define TABLE "   ranks  what they do                                         since  which\n"
#define OTHERS "       6  not known: their nodes were not asked\n"

TEST_CASE(what_ranks_do)
{
    struct faultloc_slot *slot;

    slot = faultloc_board_slot(program.board, 1);
    slot->call = slot->wait_call = 0x11;
    slot->wait_since_ns = PROGRAM_NOW - 12340 * FTREE_MS;
    slot->wait_peer = 5;
    expect(HEAD TABLE
           "       1  outside MPI                                              -  2\n"
           "       1  waiting in MPI                                      12.3 s  3, for 5\n" OTHERS
           "no verdict\n");
}

TEST_CASE(who_has_left_or_is_gone)
{
    faultloc_board_slot(program.board, 0)->state = FAULTLOC_SLOT_LEFT;
    program_rank_gone(&program, 1);
    expect(HEAD TABLE
           "       1  has left                                                 -  2\n"
           "       1  gone                                                     -  3\n" OTHERS
           "no verdict\n");
}

TEST_CASE(verdicts_so_far)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);

    v.located = v.first_symptom = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    program_rank_gone(&program, 0);
    program_rank_gone(&program, 1);
    expect(HEAD TABLE
           "       2  gone                                                     -  2-3\n" OTHERS
           "verdict: node-outage: node h2 (ranks 4-5) is down\n");
}

TEST_CASE(as_json)
{
    ck_assert_ptr_nonnull(strstr(answer_to(FAULTLOC_STATUS_REQUEST "\"json-here\"}"),
                                 "{\"schema\":\"faultloc-status/2\",\"job\":\"4711\","));
}

TEST_CASE(a_question_without_a_socket_or_sense_is_refused)
{
    static const char here[] = FAULTLOC_STATUS_REQUEST "\"text-here\"}";
    static const char odd[] = FAULTLOC_STATUS_REQUEST "true}";
    int none = -1, reply, fd = program_question(&reply);

    ck_assert_str_eq(faultloc_statuses_take(&statuses, PROGRAM_NOW, here, strlen(here), &none),
                     "a question needs a socket for its answer");
    ck_assert_str_eq(faultloc_statuses_take(&statuses, PROGRAM_NOW, odd, strlen(odd), &reply),
                     "no such question");
    close(reply);
    close(fd);
}
