/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"
#include "ftree/wire/codec.h"

#include <string.h>

/* All nodes are asked for their samples and for their ranks outside MPI.  The request is the number
 * of the first instant that is wanted.  The acting root asks for itself; the event ALL_SAID has the
 * answer. */

#define CALLS_MAX INT64_MAX
#define TIME_MAX (INT64_MAX / (int64_t) FTREE_MS / 16) /* ms; ten times that is a time, too */

bool survey_hang_at_node(struct ftree *ft, struct survey_round *r)
{
    struct wire_codec c = {
        .reads = true, .p = r->request.items, .len = (size_t) r->request.n, .at = 1, .job = ft->job};
    uint64_t first = ftree_get_number(&c);

    if (!c.bad && ftree_hang_answer_own(ft, &r->answer.hang, first))
        return false;
    /* a part of it would say that ranks do nothing of which nothing was said */
    ftree_hang_answer_clear(ft, &r->answer.hang);
    ftree_spans_clear(ft, &r->answer.answered);
    return false;
}

bool survey_hang_merge(struct ftree *ft, struct survey_answer *a, const struct survey_answer *more)
{
    return ftree_hang_answer_merge(ft, &a->hang, &more->hang);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

#define STAY_BYTES (1 + 1 + 1 + 9 * 10 + 1 + FTREE_WCHAN_MAX + 1 + FTREE_WAITS_IN_MAX + 1 + FTREE_WHOM_MAX)

static bool put_stay(struct ftree *ft, const struct ftree_stay *s, struct ftree_bytes *out)
{
    uint8_t buf[STAY_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_put_signed(&w, s->rank);
    ftree_wire_number(&w, s->what, 1, 0);
    ftree_wire_number(&w, s->ending, 1, 0);
    ftree_wire_number(&w, s->transfers, 1, 0);
    ftree_put_number(&w, s->call);
    ftree_put_signed(&w, s->cpu);
    ftree_put_signed(&w, (int64_t) (s->calls & CALLS_MAX));
    ftree_put_signed(&w, (int64_t) (s->stay / FTREE_MS));
    ftree_put_signed(&w, (int64_t) (s->longest / FTREE_MS));
    ftree_put_signed(&w, (int64_t) (s->before / FTREE_MS));
    ftree_put_signed(&w, (int64_t) (s->still / FTREE_MS));
    ftree_put_signed(&w, (int64_t) (s->used / FTREE_MS));
    ftree_wire_text(&w, (char *) (uintptr_t) s->wchan, sizeof(s->wchan));
    ftree_wire_text(&w, (char *) (uintptr_t) s->waits_in, sizeof(s->waits_in));
    ftree_wire_text(&w, (char *) (uintptr_t) s->whom, sizeof(s->whom));
    return ftree_bytes_append(ft, out, buf, w.at);
}

bool survey_hang_put(struct ftree *ft, struct survey_answer *answer, struct ftree_bytes *out)
{
    const struct hang_answer *a = &answer->hang;
    uint8_t buf[11 * 10];
    struct wire_codec w = {.p = buf};
    bool fits;

    ftree_put_signed(&w, (int64_t) a->last);
    ftree_put_signed(&w, a->ahead);
    ftree_put_signed(&w, a->nodes);
    ftree_put_signed(&w, a->sums.n);
    ftree_put_number(&w, a->progress);
    ftree_put_signed(&w, a->inside);
    ftree_put_signed(&w, a->familiar);
    ftree_put_signed(&w, (int64_t) (a->longest / FTREE_MS));
    ftree_put_signed(&w, a->outside);
    ftree_put_signed(&w, a->in_disk_sleep);
    ftree_put_signed(&w, a->stays.n);
    fits = ftree_bytes_append(ft, out, buf, w.at);
    for (int32_t i = 0; i < a->sums.n && fits; i++) {
        w.at = 0;
        ftree_put_signed(&w, a->sums.items[i].out);
        ftree_put_signed(&w, a->nodes - a->sums.items[i].told); /* 0 as a rule */
        fits = ftree_bytes_append(ft, out, buf, w.at);
    }
    for (int32_t i = 0; i < a->stays.n && fits; i++)
        fits = put_stay(ft, &a->stays.items[i], out);
    return fits;
}

static void get_stay(struct wire_codec *c, int32_t least, struct ftree_stay *s)
{
    s->rank = (int32_t) ftree_get_within(c, least, c->job->size - 1);
    s->what = (uint8_t) ftree_wire_number(c, 0, 1, FTREE_OUTSIDE_COUNT);
    s->ending = (uint8_t) ftree_wire_number(c, 0, 1, FTREE_ENDING_COUNT);
    s->transfers = ftree_wire_number(c, 0, 1, 2) != 0;
    s->call = ftree_get_u32(c);
    s->cpu = (int32_t) ftree_get_within(c, FTREE_CPU_UNKNOWN, INT32_MAX);
    s->calls = (uint64_t) ftree_get_within(c, 0, CALLS_MAX);
    s->stay = (ftree_time) ftree_get_within(c, 0, TIME_MAX) * FTREE_MS;
    s->longest = (ftree_time) ftree_get_within(c, 0, TIME_MAX) * FTREE_MS;
    s->before = (ftree_time) ftree_get_within(c, 0, TIME_MAX) * FTREE_MS;
    s->still = (ftree_time) ftree_get_within(c, 0, TIME_MAX) * FTREE_MS;
    s->used = (ftree_time) ftree_get_within(c, 0, TIME_MAX) * FTREE_MS;
    ftree_wire_text(c, s->wchan, sizeof(s->wchan));
    ftree_wire_text(c, s->waits_in, sizeof(s->waits_in));
    ftree_wire_text(c, s->whom, sizeof(s->whom));
}

static bool get_sums(struct ftree *ft, struct wire_codec *c, int32_t n, struct hang_answer *a)
{
    for (int32_t i = 0; i < n && !c->bad; i++) {
        struct hang_sum *s = FTREE_PUSH(ft, a->sums);
        if (!s)
            return false;
        s->out = (int32_t) ftree_get_within(c, 0, c->job->size);
        s->told = a->nodes - (int32_t) ftree_get_within(c, 0, a->nodes);
    }
    return true;
}

bool survey_hang_get(struct ftree *ft, struct wire_codec *c, struct survey_answer *answer)
{
    struct hang_answer *a = &answer->hang;
    int32_t sums, stays, least = 0;

    a->last = (uint64_t) ftree_get_within(c, 0, INT64_MAX - 1);
    a->ahead = (int32_t) ftree_get_within(c, 0, HANG_APART);
    a->nodes = (int32_t) ftree_get_within(c, 0, c->job->nodes);
    sums = (int32_t) ftree_get_within(c, 0, HANG_HISTORY_MAX);
    a->progress = ftree_get_number(c);
    a->inside = (int32_t) ftree_get_within(c, 0, c->job->size);
    a->familiar = (int32_t) ftree_get_within(c, 0, a->inside);
    a->longest = (ftree_time) ftree_get_within(c, 0, TIME_MAX) * FTREE_MS;
    a->outside = (int32_t) ftree_get_within(c, 0, c->job->size);
    a->in_disk_sleep = (int32_t) ftree_get_within(c, 0, a->outside);
    stays = (int32_t) ftree_get_within(c, 0, HANG_RANKS_MAX);
    if ((uint64_t) sums > a->last || (uint64_t) a->ahead > a->last || stays > a->outside)
        c->bad = true;
    if (!get_sums(ft, c, sums, a))
        return false;
    for (int32_t i = 0; i < stays && !c->bad; i++) {
        struct ftree_stay *s = FTREE_PUSH(ft, a->stays);
        if (!s)
            return false;
        get_stay(c, least, s);
        least = s->rank + 1;
    }
    return true;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The answer is the event's; one that not all nodes have a part in says nothing. */
void survey_hang_said(struct ftree *ft, const struct ftree_query_result *r, struct hang_answer *a)
{
    struct hang_answer *said = NULL;

    if (a && !r->refused[0] && r->silent.count == 0)
        said = ftree_alloc(ft, NULL, sizeof(*said));
    if (said) {
        memcpy(said, a, sizeof(*said));
        memset(a, 0, sizeof(*a));
    }
    if (!FTREE_EMIT(ft, ALL_SAID, .u.hang = said) && said) {
        ftree_hang_answer_clear(ft, said);
        ftree_alloc(ft, said, 0);
    }
}
