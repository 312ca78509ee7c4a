/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"

#include <string.h>

/* All nodes are asked for their samples and for their ranks outside MPI.  The request is the number
 * of the first instant that is wanted.  The acting root asks for itself; the event ALL_SAID has the
 * answer. */

#define CALLS_MAX INT64_MAX
#define TIME_MAX (INT64_MAX / (int64_t) FTREE_MS / 16) /* ms; ten times that is a time, too */

bool survey_hang_at_node(struct ftree *ft, struct survey_round *r)
{
    struct wire_codec c = survey_request(ft, r);
    uint64_t first = ftree_wire_packed(&c, 0, UINT64_MAX);

    if (!c.bad && ftree_hang_answer_own(ft, &r->answer.hang, first))
        return false;
    /* a part of it would say that ranks do nothing of which nothing was said */
    ftree_hang_answer_clear(ft, &r->answer.hang);
    ftree_spans_clear(ft, &r->answer.answered);
    return false;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void wire_ms(struct wire_codec *c, ftree_time *t)
{
    int64_t ms = ftree_wire_within(c, (int64_t) (*t / FTREE_MS), 0, TIME_MAX);

    if (c->reads)
        *t = (ftree_time) ms * FTREE_MS;
}

static void wire_stay(struct wire_codec *c, int32_t least, struct ftree_stay *s)
{
    int64_t calls = (int64_t) (s->calls & CALLS_MAX);

    WIRE_WITHIN(c, s->rank, least, c->job->size - 1);
    WIRE_NUMBER(c, s->what, 1, FTREE_OUTSIDE_COUNT);
    WIRE_NUMBER(c, s->ending, 1, FTREE_ENDING_COUNT);
    WIRE_NUMBER(c, s->transfers, 1, 2);
    WIRE_PACKED(c, s->call, UINT32_MAX);
    WIRE_WITHIN(c, s->cpu, FTREE_CPU_UNKNOWN, INT32_MAX);
    WIRE_WITHIN(c, calls, 0, CALLS_MAX);
    if (c->reads)
        s->calls = (uint64_t) calls;
    wire_ms(c, &s->stay);
    wire_ms(c, &s->longest);
    wire_ms(c, &s->before);
    wire_ms(c, &s->still);
    wire_ms(c, &s->used);
    ftree_wire_text(c, s->wchan, sizeof(s->wchan));
    ftree_wire_text(c, s->waits_in, sizeof(s->waits_in));
    ftree_wire_text(c, s->whom, sizeof(s->whom));
}

static void wire_sum(struct wire_codec *c, int32_t nodes, struct hang_sum *s)
{
    int32_t unknown = nodes - s->known; /* 0 as a rule */

    WIRE_WITHIN(c, s->out, 0, c->job->size);
    WIRE_WITHIN(c, unknown, 0, nodes);
    if (c->reads)
        s->known = nodes - unknown;
}

void survey_hang_wire(struct wire_codec *c, struct survey_answer *answer)
{
    struct hang_answer *a = &answer->hang;
    int32_t sums = a->sums.n, stays = a->stays.n, least = 0;
    struct ftree_stay *stay;
    struct hang_sum *sum;

    WIRE_WITHIN(c, a->last, 0, INT64_MAX - 1);
    WIRE_WITHIN(c, a->ahead, 0, HANG_APART);
    WIRE_WITHIN(c, a->nodes, 0, c->job->nodes);
    WIRE_WITHIN(c, sums, 0, HANG_HISTORY_MAX);
    WIRE_PACKED(c, a->progress, UINT64_MAX);
    WIRE_WITHIN(c, a->inside, 0, c->job->size);
    WIRE_WITHIN(c, a->familiar, 0, a->inside);
    wire_ms(c, &a->longest);
    WIRE_WITHIN(c, a->outside, 0, c->job->size);
    WIRE_WITHIN(c, a->in_disk_sleep, 0, a->outside);
    WIRE_WITHIN(c, stays, 0, HANG_RANKS_MAX);
    c->bad |= c->reads && ((uint64_t) sums > a->last || (uint64_t) a->ahead > a->last ||
                           stays > a->outside);
    for (int32_t i = 0; i < sums && (sum = WIRE_ITEM(c, a->sums, i)); i++)
        wire_sum(c, a->nodes, sum);
    for (int32_t i = 0; i < stays && (stay = WIRE_ITEM(c, a->stays, i)); i++) {
        wire_stay(c, least, stay);
        least = stay->rank + 1;
    }
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The answer is the event's; one that not all nodes have a part in says nothing. */
void survey_hang_said(struct ftree *ft, const struct ftree_query_result *r, struct hang_answer *a)
{
    struct hang_answer *said = NULL;

    if (a && !r->refused[0] && r->silent.count == 0)
        said = ftree_alloc_copy(ft, a, sizeof(*said));
    if (said)
        memset(a, 0, sizeof(*a));
    if (!FTREE_EMIT(ft, ALL_SAID, .u.hang = said) && said) {
        ftree_hang_answer_clear(ft, said);
        ftree_alloc(ft, said, 0);
    }
}
