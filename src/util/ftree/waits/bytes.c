/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/* What records and items have in common, as it is written and read.  What is read is within the
 * bounds of waits.h, or the message is bad. */

void waits_wire_key(struct wire_codec *c, struct waits_key *key)
{
    WIRE_PACKED(c, key->context, UINT32_MAX);
    WIRE_WITHIN(c, key->first, 0, c->job->size - 1);
    WIRE_NUMBER(c, key->members, 4, 0);
}

void waits_wire_run(struct wire_codec *c, struct waits_run *run, int32_t most)
{
    WIRE_WITHIN(c, run->first, 0, most - 1);
    WIRE_WITHIN(c, run->count, 1, most);
    if (run->count > 1)
        WIRE_WITHIN(c, run->step, 1, most);
    else if (c->reads)
        run->step = 1;
    if (!c->reads || run->first + (int64_t) run->step * (run->count - 1) < most)
        return;
    c->bad = true;
    run->count = 1;
}

const char *waits_check_comm(const struct ftree_job *job, const struct waits_comm *c)
{
    int64_t members = 0;

    if (c->key.first < 0 || c->key.first >= job->size || c->size < 1 || c->size > job->size)
        return "a communicator's key or size";
    if (c->runs < 0 || c->runs > WAITS_RUNS_MAX || !memchr(c->name, 0, sizeof(c->name)))
        return "a communicator's name or members";
    for (int32_t i = 0; i < c->runs; i++) {
        const struct waits_run *run = &c->run[i];
        if (run->first < 0 || run->count < 1 || run->step < 1 ||
            run->first + (int64_t) run->step * (run->count - 1) >= job->size)
            return "a communicator's members";
        members += run->count;
    }
    if (c->before.begun > 0 && c->before.begun + 1 != c->last.begun)
        return "the number of the collective before the last";
    return c->runs > 0 && members != c->size ? "the number of a communicator's members" : NULL;
}

void waits_wire_members(struct wire_codec *c, struct waits_comm *comm)
{
    waits_wire_key(c, &comm->key);
    WIRE_WITHIN(c, comm->size, 1, c->job->size);
    ftree_wire_text(c, comm->name, sizeof(comm->name));
    WIRE_WITHIN(c, comm->runs, 0, WAITS_RUNS_MAX);
    for (int32_t i = 0; i < comm->runs && !c->bad; i++)
        waits_wire_run(c, &comm->run[i], c->job->size);
    if (!c->reads || (!c->bad && !waits_check_comm(c->job, comm)))
        return;
    c->bad = true;
    comm->runs = 0;
}

/* ---- collectives ----------------------------------------------------------------------------- */

int waits_compare_collectives(const struct waits_collective *a, const struct waits_collective *b)
{
    WAITS_ORDER(a->begun, b->begun);
    if (a->begun == 0)
        return 0; /* there was none */
    WAITS_ORDER(a->call, b->call);
    WAITS_ORDER(a->root, b->root);
    WAITS_ORDER(a->bytes, b->bytes);
    WAITS_ORDER(a->op, b->op);
    WAITS_ORDER(a->blocking, b->blocking);
    return 0;
}

static void wire_what(struct wire_codec *c, struct waits_collective *what)
{
    uint64_t bytes = what->bytes + 1; /* none is 0 */
    uint8_t flags = (uint8_t) (what->blocking | what->whole << 1);

    WIRE_NUMBER(c, what->call, 3, 0);
    WIRE_PACKED(c, what->op, UINT32_MAX);
    WIRE_WITHIN(c, what->root, INT32_MIN, INT32_MAX);
    WIRE_PACKED(c, bytes, UINT64_MAX);
    WIRE_NUMBER(c, flags, 1, 4);
    if (!c->reads)
        return;
    what->bytes = bytes - 1;
    what->blocking = flags & 1;
    what->whole = flags & 2;
}

/* The one before the last: in a loop it is the same again. */
enum before {
    BEFORE_NONE,
    BEFORE_SAME,
    BEFORE_OTHER,
    BEFORES
};

static uint8_t kind_of(const struct waits_collective *last,
                           const struct waits_collective *before)
{
    struct waits_collective same = *last;

    if (before->begun == 0)
        return BEFORE_NONE;
    same.begun = before->begun;
    return waits_compare_collectives(&same, before) == 0 ? BEFORE_SAME : BEFORE_OTHER;
}

void waits_wire_last(struct wire_codec *c, struct waits_collective *last,
                     struct waits_collective *before)
{
    uint8_t kind = c->reads ? BEFORE_NONE : kind_of(last, before);

    WIRE_PACKED(c, last->begun, UINT32_MAX);
    if (c->reads)
        *last = *before = (struct waits_collective){.begun = last->begun};
    if (last->begun == 0)
        return;
    wire_what(c, last);
    WIRE_NUMBER(c, kind, 1, BEFORES);
    if (kind == BEFORE_OTHER)
        wire_what(c, before);
    if (!c->reads)
        return;
    if (kind == BEFORE_SAME)
        *before = *last;
    before->begun = kind == BEFORE_NONE ? 0 : last->begun - 1;
}
