/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"


/* Who waits because of what was announced. */

/* Ranks that found no room in the set may be counted twice. */
void ftree_survey_bound_victims(const struct ftree *ft, struct ftree_ranks *victims)
{
    if (victims->count > ft->job->size)
        victims->count = ft->job->size;
}

/* They are the acknowledgment of what asked for them, where that was not given before. */
static void send_up(struct ftree *ft, ftree_time now, const struct survey_round *r)
{
    struct wire_message m = {.type = WIRE_VICTIMS};

    m.u.victims.message = r->asked;
    m.u.victims.ranks = r->answer.victims;
    if (r->acknowledge == FTREE_NEVER)
        ftree_outbox_put(ft, now, r->asker.node, &m);
    else
        ftree_outbox_answer(ft, now, r->asker.node, (enum ftree_path) r->asker.path, &m);
}

/* By the way that it came: another may be what is broken. */
void survey_victims_acknowledge(struct ftree *ft, ftree_time now, struct survey_round *r,
                                uint8_t flags)
{
    ftree_acknowledge(ft, now, &r->asker, WIRE_ACK, flags, r->asked);
    r->acknowledge = FTREE_NEVER;
}

/* The victims of what was announced together are in. */
void survey_victims_over(struct ftree *ft, ftree_time now, struct survey_round *r)
{
    r->in(ft, r);
    if (r->asker.node == FTREE_NONE)
        return;
    if (r->answer.victims.count == 0 && r->acknowledge != FTREE_NEVER)
        survey_victims_acknowledge(ft, now, r, WIRE_FLAG_NOBODY_WAITS);
    else
        send_up(ft, now, r);
}

void survey_victims_merge(const struct ftree *ft, struct survey_answer *a,
                          const struct survey_answer *more)
{
    ftree_ranks_merge(&a->victims, &more->victims);
    ftree_survey_bound_victims(ft, &a->victims);
}
