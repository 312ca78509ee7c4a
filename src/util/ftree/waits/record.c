/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/* The record and the flows of one rank: bounds, bytes. */

/* Of several threads the name may be another one's (mpi/waits/waits_threads.c), and the rank itself
 * reads the stamp. */
uint32_t ftree_waits_own_call(const struct waits_record *r)
{
    return r->threads > 1 ? 0 : r->call;
}

/* The stamp counts all that ends, so nothing else need be compared; state and call are for a stamp
 * that was read torn. */
bool ftree_waits_unchanged(const struct waits_record *a, const struct waits_record *b)
{
    return a->rank == b->rank && a->thread == b->thread && a->threads == b->threads &&
           a->stamp == b->stamp && a->switches == b->switches && a->state == b->state &&
           ftree_waits_own_call(a) == ftree_waits_own_call(b) && a->mode == b->mode &&
           a->requests == b->requests;
}

const struct waits_collective *ftree_waits_collective(const struct waits_comm *c, uint32_t n)
{
    if (n == 0)
        return NULL;
    return n == c->last.begun ? &c->last : n == c->before.begun ? &c->before : NULL;
}

/* A run that goes down is read from its other end. */
bool ftree_waits_add_member(struct waits_comm *c, int32_t rank)
{
    struct waits_run *run = c->runs > 0 ? &c->run[c->runs - 1] : NULL;

    if (c->runs < 0)
        return false;
    if (run && run->count == 1 && rank != run->first) {
        run->step = rank > run->first ? rank - run->first : run->first - rank;
        run->first = rank < run->first ? rank : run->first;
        run->count = 2;
        return true;
    }
    if (run && (rank == run->first + run->step * run->count || rank == run->first - run->step)) {
        run->first = rank < run->first ? rank : run->first;
        run->count++;
        return true;
    }
    if (c->runs == WAITS_RUNS_MAX) {
        c->runs = -1;
        return false;
    }
    c->run[c->runs++] = (struct waits_run){rank, 1, 1};
    return true;
}

static uint32_t hash(uint32_t h, int32_t value)
{
    for (int shift = 0; shift < 32; shift += 8)
        h = (h ^ ((uint32_t) value >> shift & 0xff)) * 16777619u; /* FNV-1a */
    return h;
}

void ftree_waits_end_members(struct waits_comm *c)
{
    int32_t runs = c->runs < 0 ? WAITS_RUNS_MAX : c->runs;
    uint32_t h = hash(hash(2166136261u, c->size), c->runs);

    for (int32_t i = 0; i < runs; i++)
        h = hash(hash(hash(h, c->run[i].first), c->run[i].step), c->run[i].count);
    c->key.members = h;
    if (c->runs < 0)
        c->runs = 0;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static const char *check_request(const struct ftree_job *job, const struct waits_record *r,
                                 const struct waits_request *q)
{
    if (q->kind >= WAITS_KIND_COUNT || q->fate >= WAITS_FATE_COUNT)
        return "kind or fate of a request";
    if (q->comm < FTREE_NONE || q->comm >= r->comms)
        return "a request's communicator";
    if (q->peer >= job->size || (q->peer < 0 && q->peer != FTREE_NONE && q->peer != WAITS_ANY))
        return "a request's peer";
    return NULL;
}

const char *ftree_waits_record_check(const struct ftree_job *job, const struct waits_record *r)
{
    const char *broken = NULL;

    if (r->rank < 0 || r->rank >= job->size)
        return "the rank";
    if (r->thread >= WAITS_THREADS_MAX || (r->thread > 0 && r->thread >= r->threads))
        return "the thread";
    if (r->state >= WAITS_STATE_COUNT || r->mode >= WAITS_MODE_COUNT || r->call >> 24)
        return "state, mode or call";
    if (r->requests < 0 || r->requests > WAITS_REQUESTS_MAX || r->comms < 0 ||
        r->comms > WAITS_COMMS_MAX)
        return "the number of requests or communicators";
    for (int32_t i = 0; i < r->requests && !broken; i++)
        broken = check_request(job, r, &r->request[i]);
    for (int32_t i = 0; i < r->comms && !broken; i++)
        broken = waits_check_comm(job, &r->comm[i]);
    return broken;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

_Static_assert(WAITS_STATE_COUNT <= 8 && WAITS_MODE_COUNT <= 4, "state and mode are one byte");
_Static_assert(WAITS_KIND_COUNT <= 16 && WAITS_FATE_COUNT <= 16, "kind and fate are one byte");

static void wire_request(struct wire_codec *c, struct waits_request *q)
{
    uint8_t byte = (uint8_t) (q->kind | q->fate << 4);

    WIRE_NUMBER(c, byte, 1, 0);
    if (c->reads) {
        q->kind = byte & 15;
        q->fate = byte >> 4;
    }
    WIRE_WITHIN(c, q->comm, FTREE_NONE, WAITS_COMMS_MAX - 1);
    WIRE_WITHIN(c, q->peer, WAITS_ANY, c->job->size - 1);
    if (q->kind == WAITS_COLLECTIVE) {
        WIRE_PACKED(c, q->number, UINT32_MAX);
        return;
    }
    WIRE_WITHIN(c, q->tag, INT32_MIN, INT32_MAX);
    WIRE_PACKED(c, q->bytes, UINT64_MAX);
}

static void wire_flags(struct wire_codec *c, struct waits_record *r)
{
    uint16_t bits = (uint16_t) (r->state | r->mode << 3 | r->more << 5 | r->polls << 6 |
                                r->sleepers << 7 | r->handles << 8);

    WIRE_NUMBER(c, bits, 2, 0);
    if (!c->reads)
        return;
    r->state = bits & 7;
    r->mode = bits >> 3 & 3;
    r->more = bits >> 5 & 1;
    r->polls = bits >> 6 & 1;
    r->sleepers = bits >> 7 & 1;
    r->handles = bits >> 8 & 1;
}

void ftree_waits_wire_record(struct wire_codec *c, struct waits_record *r)
{
    if (c->reads)
        memset(r, 0, sizeof(*r));
    WIRE_WITHIN(c, r->rank, 0, c->job->size - 1);
    WIRE_NUMBER(c, r->thread, 1, 0);
    WIRE_NUMBER(c, r->threads, 1, 0);
    wire_flags(c, r);
    WIRE_NUMBER(c, r->call, 3, 0);
    WIRE_PACKED(c, r->stamp, UINT64_MAX);
    WIRE_PACKED(c, r->switches, UINT64_MAX);
    WIRE_WITHIN(c, r->requests, 0, WAITS_REQUESTS_MAX);
    WIRE_WITHIN(c, r->comms, 0, WAITS_COMMS_MAX);
    for (int32_t i = 0; i < r->requests && !c->bad; i++)
        wire_request(c, &r->request[i]);
    for (int32_t i = 0; i < r->comms && !c->bad; i++) {
        waits_wire_members(c, &r->comm[i]);
        waits_wire_last(c, &r->comm[i].last, &r->comm[i].before);
    }
    c->bad = c->bad || (c->reads && ftree_waits_record_check(c->job, r));
}
