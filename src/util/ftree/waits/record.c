/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/* The record and the flows of one rank: names, bounds, bytes. */

static const char *const states[] = {
#define WAITS_STATE_TEXT(id, text) text,
    WAITS_STATES(WAITS_STATE_TEXT)
#undef WAITS_STATE_TEXT
};

static const char *const kinds[] = {
#define WAITS_KIND_TEXT(id, text, before) text,
    WAITS_KINDS(WAITS_KIND_TEXT)
#undef WAITS_KIND_TEXT
};

const char *ftree_waits_state_name(int state)
{
    return state >= 0 && state < WAITS_STATE_COUNT ? states[state] : "?";
}

const char *ftree_waits_kind_name(int kind)
{
    return kind >= 0 && kind < WAITS_KIND_COUNT ? kinds[kind] : "?";
}

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

/* A run that goes down is told from its other end. */
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

#define NUMBER_BYTES 5 /* of 32 bits, and 10 of 64 */
#define REQUEST_BYTES (3 + 2 * NUMBER_BYTES + 10)
#define COMM_BYTES \
    (4 * NUMBER_BYTES + WAITS_NAME_MAX + 3 * NUMBER_BYTES * WAITS_RUNS_MAX + 3 * NUMBER_BYTES + \
     10 + 3 + 1 + 1 + 3 + 2 * NUMBER_BYTES + 10 + 1)
#define HEAD_BYTES (NUMBER_BYTES + 4 + 3 + 2 * 10 + 2)
_Static_assert(HEAD_BYTES + WAITS_REQUESTS_MAX * REQUEST_BYTES + WAITS_COMMS_MAX * COMM_BYTES <=
                   WAITS_RECORD_BYTES,
               "the largest record is as long as waits.h says");
_Static_assert(WAITS_RECORD_BYTES <= FTREE_MESSAGE_MAX - 64, "and fits into a message");
_Static_assert(WAITS_STATE_COUNT <= 8 && WAITS_MODE_COUNT <= 4, "state and mode are one byte");
_Static_assert(WAITS_KIND_COUNT <= 16 && WAITS_FATE_COUNT <= 16, "kind and fate are one byte");

static void put_request(struct wire_codec *w, const struct waits_request *q)
{
    ftree_wire_number(w, (uint8_t) (q->kind | q->fate << 4), 1, 0);
    ftree_put_signed(w, q->comm);
    ftree_put_signed(w, q->peer);
    if (q->kind == WAITS_COLLECTIVE) {
        ftree_put_number(w, q->number);
        return;
    }
    ftree_put_signed(w, q->tag);
    ftree_put_number(w, q->bytes);
}

static void get_request(struct wire_codec *r, struct waits_request *q)
{
    uint8_t byte = (uint8_t) ftree_wire_number(r, 0, 1, 0);

    q->kind = byte & 15;
    q->fate = byte >> 4;
    q->comm = (int8_t) ftree_get_within(r, FTREE_NONE, WAITS_COMMS_MAX - 1);
    q->peer = (int32_t) ftree_get_within(r, WAITS_ANY, r->job->size - 1);
    if (q->kind == WAITS_COLLECTIVE) {
        q->number = ftree_get_u32(r);
        return;
    }
    q->tag = (int32_t) ftree_get_within(r, INT32_MIN, INT32_MAX);
    q->bytes = ftree_get_number(r);
}

static void put_record(struct wire_codec *w, const struct waits_record *r)
{
    ftree_put_signed(w, r->rank);
    ftree_wire_number(w, r->thread, 1, 0);
    ftree_wire_number(w, r->threads, 1, 0);
    ftree_wire_number(w, (uint16_t) (r->state | r->mode << 3 | r->more << 5 | r->polls << 6 |
                                    r->sleepers << 7 | r->handles << 8),
                      2, 0);
    ftree_wire_number(w, r->call, 3, 0);
    ftree_put_number(w, r->stamp);
    ftree_put_number(w, r->switches);
    ftree_put_signed(w, r->requests);
    ftree_put_signed(w, r->comms);
    for (int32_t i = 0; i < r->requests; i++)
        put_request(w, &r->request[i]);
    for (int32_t i = 0; i < r->comms; i++) {
        waits_put_members(w, &r->comm[i]);
        waits_put_last(w, &r->comm[i].last, &r->comm[i].before);
    }
}

size_t ftree_waits_record_put(const struct waits_record *r, uint8_t *buf, size_t len, size_t room)
{
    uint8_t bytes[WAITS_RECORD_BYTES];
    struct wire_codec w = {.p = bytes};

    put_record(&w, r);
    if (w.at > room - len)
        return 0;
    memcpy(buf + len, bytes, w.at);
    return len + w.at;
}

static void get_record(struct wire_codec *in, struct waits_record *r)
{
    uint16_t bits;

    r->rank = (int32_t) ftree_get_within(in, 0, in->job->size - 1);
    r->thread = (uint8_t) ftree_wire_number(in, 0, 1, 0);
    r->threads = (uint8_t) ftree_wire_number(in, 0, 1, 0);
    bits = (uint16_t) ftree_wire_number(in, 0, 2, 0);
    r->state = bits & 7;
    r->mode = bits >> 3 & 3;
    r->more = bits >> 5 & 1;
    r->polls = bits >> 6 & 1;
    r->sleepers = bits >> 7 & 1;
    r->handles = bits >> 8 & 1;
    r->call = (uint32_t) ftree_wire_number(in, 0, 3, 0);
    r->stamp = ftree_get_number(in);
    r->switches = ftree_get_number(in);
    r->requests = (int32_t) ftree_get_within(in, 0, WAITS_REQUESTS_MAX);
    r->comms = (int32_t) ftree_get_within(in, 0, WAITS_COMMS_MAX);
    for (int32_t i = 0; i < r->requests && !in->bad; i++)
        get_request(in, &r->request[i]);
    for (int32_t i = 0; i < r->comms && !in->bad; i++) {
        waits_get_members(in, &r->comm[i]);
        waits_get_last(in, &r->comm[i].last, &r->comm[i].before);
    }
}

int ftree_waits_record_get(const struct ftree_job *job, const uint8_t *bytes, size_t len,
                           struct waits_record *r, size_t *used)
{
    struct wire_codec in = {
        .reads = true, .p = (uint8_t *) (uintptr_t) bytes, .len = len, .job = job};

    memset(r, 0, sizeof(*r));
    get_record(&in, r);
    if (in.bad || ftree_waits_record_check(job, r))
        return FTREE_ERR_MALFORMED;
    *used = in.at;
    return FTREE_OK;
}
