/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/* What records and items have in common, as it is written and read.  What is read is within the
 * bounds of waits.h, or the message is bad. */

void waits_put_key(struct wire_codec *w, struct waits_key key)
{
    ftree_put_number(w, key.context);
    ftree_put_signed(w, key.first);
    ftree_wire_number(w, key.members, 4, 0);
}

struct waits_key waits_get_key(struct wire_codec *r)
{
    struct waits_key key = {.context = ftree_get_u32(r)};

    key.first = (int32_t) ftree_get_within(r, 0, r->job->size - 1);
    key.members = (uint32_t) ftree_wire_number(r, 0, 4, 0);
    return key;
}

void waits_put_run(struct wire_codec *w, const struct waits_run *run)
{
    ftree_put_signed(w, run->first);
    ftree_put_signed(w, run->count);
    if (run->count > 1)
        ftree_put_signed(w, run->step);
}

/* All of its ranks are in the job. */
void waits_get_run(struct wire_codec *r, struct waits_run *run)
{
    int64_t last;

    run->first = (int32_t) ftree_get_within(r, 0, r->job->size - 1);
    run->count = (int32_t) ftree_get_within(r, 1, r->job->size);
    run->step = run->count > 1 ? (int32_t) ftree_get_within(r, 1, r->job->size) : 1;
    last = run->first + (int64_t) run->step * (run->count - 1);
    if (last >= r->job->size) {
        r->bad = true;
        run->count = 1;
    }
}

void waits_put_members(struct wire_codec *w, const struct waits_comm *c)
{
    waits_put_key(w, c->key);
    ftree_put_signed(w, c->size);
    ftree_wire_text(w, (char *) (uintptr_t) c->name, 256);
    ftree_put_signed(w, c->runs);
    for (int32_t i = 0; i < c->runs; i++)
        waits_put_run(w, &c->run[i]);
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

void waits_get_members(struct wire_codec *r, struct waits_comm *c)
{
    c->key = waits_get_key(r);
    c->size = (int32_t) ftree_get_within(r, 1, r->job->size);
    ftree_wire_text(r, c->name, sizeof(c->name));
    c->runs = (int32_t) ftree_get_within(r, 0, WAITS_RUNS_MAX);
    for (int32_t i = 0; i < c->runs && !r->bad; i++)
        waits_get_run(r, &c->run[i]);
    if (r->bad || waits_check_comm(r->job, c)) {
        r->bad = true;
        c->runs = 0;
    }
}

/* ---- collectives ----------------------------------------------------------------------------- */

#define ORDER(a, b) \
    do { \
        if ((a) != (b)) \
            return (a) < (b) ? -1 : 1; \
    } while (0)

int waits_compare_collectives(const struct waits_collective *a, const struct waits_collective *b)
{
    ORDER(a->begun, b->begun);
    if (a->begun == 0)
        return 0; /* there was none */
    ORDER(a->call, b->call);
    ORDER(a->root, b->root);
    ORDER(a->bytes, b->bytes);
    ORDER(a->op, b->op);
    ORDER(a->blocking, b->blocking);
    return 0;
}

static void put_what(struct wire_codec *w, const struct waits_collective *what)
{
    ftree_wire_number(w, what->call, 3, 0);
    ftree_put_number(w, what->op);
    ftree_put_signed(w, what->root);
    ftree_put_number(w, what->bytes + 1); /* none is 0 */
    ftree_wire_number(w, what->blocking | (what->whole ? 2u : 0), 1, 0);
}

static void get_what(struct wire_codec *r, struct waits_collective *what)
{
    uint64_t flags;

    what->call = (uint32_t) ftree_wire_number(r, 0, 3, 0);
    what->op = ftree_get_u32(r);
    what->root = (int32_t) ftree_get_within(r, INT32_MIN, INT32_MAX);
    what->bytes = ftree_get_number(r) - 1;
    flags = ftree_wire_number(r, 0, 1, 4);
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

static enum before kind_of(const struct waits_collective *last,
                           const struct waits_collective *before)
{
    struct waits_collective same = *last;

    if (before->begun == 0)
        return BEFORE_NONE;
    same.begun = before->begun;
    return waits_compare_collectives(&same, before) == 0 ? BEFORE_SAME : BEFORE_OTHER;
}

void waits_put_last(struct wire_codec *w, const struct waits_collective *last,
                    const struct waits_collective *before)
{
    ftree_put_number(w, last->begun);
    if (last->begun == 0)
        return;
    put_what(w, last);
    ftree_wire_number(w, kind_of(last, before), 1, 0);
    if (kind_of(last, before) == BEFORE_OTHER)
        put_what(w, before);
}

void waits_get_last(struct wire_codec *r, struct waits_collective *last,
                    struct waits_collective *before)
{
    enum before kind;

    *last = *before = (struct waits_collective){.begun = ftree_get_u32(r)};
    if (last->begun == 0)
        return;
    get_what(r, last);
    kind = (enum before) ftree_wire_number(r, 0, 1, BEFORES);
    if (kind == BEFORE_SAME)
        *before = *last;
    else if (kind == BEFORE_OTHER)
        get_what(r, before);
    before->begun = kind == BEFORE_NONE ? 0 : last->begun - 1;
}
