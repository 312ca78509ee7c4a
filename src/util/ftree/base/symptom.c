/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"

#include <string.h>

void ftree_symptom_init(struct ftree_symptom *s, enum ftree_symptom_kind kind, int32_t node,
                        int32_t rank, int32_t reporter, ftree_time first, ftree_time last)
{
    const struct ftree_symptom_info *info = ftree_symptom_info(kind);

    *s = (struct ftree_symptom){.kind = (uint8_t) kind,
                                .severity = info->severity,
                                .about = {.kind = rank == FTREE_NONE ? FTREE_KIND_NODE : info->kind,
                                          .node = node,
                                          .rank = rank,
                                          .switch_ = FTREE_NONE},
                                .reporters = 1,
                                .reporter = {reporter},
                                .count = 1,
                                .first = first,
                                .last = last};
}

static void add_reporter(struct ftree_symptom *s, int32_t node)
{
    for (int32_t i = 0; i < s->reporters; i++)
        if (s->reporter[i] == node)
            return;
    if (s->reporters < FTREE_REPORTERS_MAX)
        s->reporter[s->reporters++] = node;
}

/* `more` is of the same kind. */
void ftree_symptom_merge(struct ftree_symptom *s, const struct ftree_symptom *more)
{
    s->count = s->count > UINT32_MAX - more->count ? UINT32_MAX : s->count + more->count;
    s->first = ftree_min(s->first, more->first);
    s->last = ftree_max(s->last, more->last);
    s->severity = s->severity > more->severity ? s->severity : more->severity;
    if (s->about.rank == FTREE_NONE)
        s->about.rank = more->about.rank;
    if (!s->error)
        s->error = more->error;
    if (!s->detail[0])
        memcpy(s->detail, more->detail, sizeof(s->detail));
    for (int32_t i = 0; i < more->reporters; i++)
        add_reporter(s, more->reporter[i]);
}

bool ftree_symptom_is_trouble(const struct ftree_rank_state *s)
{
    if (s->phase == FTREE_PHASE_LEFT)
        return false;
    return s->phase == FTREE_PHASE_GONE || ftree_is_stopped(s->proc_state);
}

/* It goes on: not one that others end. */
bool ftree_symptom_is_well(const struct ftree_rank_state *s)
{
    return !ftree_symptom_is_trouble(s) && s->phase != FTREE_PHASE_LEFT && s->proc_state != 'X';
}

/* A rank that has waited for half the limit when it is asked waits for what is being asked about:
 * in a healthy job such waits are rare, and of those who wait for a fault most began at once.  One
 * that has left meanwhile because of the fault waited for it, too, as has one whose wait has failed. */
bool ftree_symptom_is_victim(const struct ftree_rank_state *s, ftree_time limit)
{
    return s->phase != FTREE_PHASE_GONE &&
           (s->failed || (s->waiting > 0 && s->waiting >= limit / 2));
}

/* The process manager said of it that it ended badly. */
bool ftree_symptom_is_end(const struct ftree_symptom *s)
{
    return s->kind == FTREE_SYMPTOM_PROCESS_EXITED || s->kind == FTREE_SYMPTOM_OUT_OF_MEMORY;
}

/* Somebody waits for it, and no more is known. */
bool ftree_symptom_is_stall(const struct ftree_symptom *s)
{
    return s->kind == FTREE_SYMPTOM_PEER_STALL || s->kind == FTREE_SYMPTOM_CHAINED;
}

bool ftree_symptom_may_be_path(const struct ftree_symptom *s)
{
    return ftree_symptom_is_stall(s) || s->kind == FTREE_SYMPTOM_PEER_UNREACHABLE;
}
