/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

/* So many questions that were asked since do not refute an answer: they may be lost. */
#define OPEN_QUESTIONS 3

bool ftree_suspect_is_old_answer(const struct ftree_case *su, int path)
{
    return su->questions[path][FTREE_ROLE_AGENT] > su->answered_question[path] + OPEN_QUESTIONS;
}

/* What was heard at first counts no more if more questions since were left open than a network
 * loses: what said it was lost meanwhile.  A kernel is asked by a new connection, which is not lost
 * so easily; one that there is it leaves as it is. */
uint8_t ftree_suspect_word_left(const struct ftree_case *su, int path, int role)
{
    uint8_t reach = su->reach[path][role];
    bool kernel_is_old = su->connections[path][role] > su->kernel_connection[path][role] + 1;

    if (role == FTREE_ROLE_AGENT && reach == FTREE_REACH_ANSWERED &&
        ftree_suspect_is_old_answer(su, path))
        reach = su->kernel[path][role];
    if ((reach == FTREE_REACH_CONNECTED || reach == FTREE_REACH_REFUSED) && kernel_is_old)
        reach = FTREE_REACH_NOT_ASKED;
    return reach;
}

/* What counts: else what was heard since (the own side may be down by now). */
uint8_t ftree_probe_reach(const struct ftree_case *su, int path, int role)
{
    uint8_t left = ftree_suspect_word_left(su, path, role);

    return left != FTREE_REACH_NOT_ASKED ? left : su->since[path][role];
}

/* A kernel speaks for a process that does not. */
bool ftree_facts_kernel_spoke(const struct ftree_case *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_REFUSED ||
            su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_CONNECTED)
            return true;
    return false;
}

bool ftree_facts_answered(const struct ftree_case *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED)
            return true;
    return false;
}

void ftree_examine_clear(struct ftree *ft)
{
    ftree_inquiry_clear(ft);
    ftree_alloc(ft, ft->examine->indirect_probes.items, 0);
    ftree_alloc(ft, ft->examine->neighbours.items, 0);
}

void ftree_examine_stop(struct ftree *ft)
{
    ft->examine->indirect_probes.n = 0;
    ftree_inquiry_stop(ft);
}
