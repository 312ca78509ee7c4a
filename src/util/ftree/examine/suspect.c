/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

struct suspect *ftree_suspect_open(struct ftree *ft, ftree_time now, struct ftree_case *g,
                                   uint32_t round)
{
    struct suspect *su = g->suspect ? g->suspect : ftree_alloc(ft, NULL, sizeof(*su));

    if (!su)
        return NULL;
    *su = (struct suspect){.node = g->node,
                           .switch_ = g->switch_,
                           .rank = FTREE_NONE,
                           .nonce = ++ft->next_id,
                           .round = round,
                           .opened = now,
                           .base = now,
                           .deputy_word.rank = FTREE_NONE,
                           .deputy_next.rank = FTREE_NONE};
    g->suspect = su;
    g->state = CASE_EXAMINED;
    return su;
}

struct suspect *ftree_suspect(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_SUSPECT(su, ft)
        if (su->node == node)
            return su;
    return NULL;
}

/* So many questions that were asked since do not refute an answer: they may be lost. */
#define OPEN_QUESTIONS 3

bool ftree_suspect_is_old_answer(const struct suspect *su, int path)
{
    return su->questions[path][FTREE_ROLE_AGENT] > su->answered_question[path] + OPEN_QUESTIONS;
}

/* What was heard at first counts no more if more questions since were left open than a network
 * loses: what said it was lost meanwhile.  A kernel is asked by a new connection, which is not lost
 * so easily; one that there is it leaves as it is. */
uint8_t ftree_suspect_word_left(const struct suspect *su, int path, int role)
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
uint8_t ftree_probe_reach(const struct suspect *su, int path, int role)
{
    uint8_t left = ftree_suspect_word_left(su, path, role);

    return left != FTREE_REACH_NOT_ASKED ? left : su->since[path][role];
}

/* A kernel speaks for a process that does not. */
bool ftree_facts_kernel_spoke(const struct suspect *su)
{
    return FTREE_ANY_PATH(path, su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_REFUSED ||
                                    su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_CONNECTED);
}

bool ftree_facts_answered(const struct suspect *su)
{
    return FTREE_ANY_PATH(path, su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED);
}

/* ---- what is seldom asked ------------------------------------------------------------------------ */

struct rare *ftree_rare(const struct ftree *ft)
{
    static struct rare none;

    return ft->examine->rare ? ft->examine->rare : &none;
}

bool ftree_has_rare(struct ftree *ft)
{
    if (!ft->examine->rare)
        ft->examine->rare = ftree_alloc_zeroed(ft, sizeof(*ft->examine->rare));
    return ft->examine->rare;
}

void ftree_rare_clear(struct ftree *ft)
{
    struct rare *x = ft->examine->rare;

    if (!x)
        return;
    ftree_alloc(ft, x->inquiries.items, 0);
    ftree_alloc(ft, x->rounds.items, 0);
    ftree_alloc(ft, x->asks.items, 0);
    ftree_alloc(ft, x->listens.items, 0);
    ftree_alloc(ft, x->waits.items, 0);
    ftree_alloc(ft, x->address.items, 0);
    ftree_alloc(ft, x, 0);
    ft->examine->rare = NULL;
}
