/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

#include "faultloc/base/clock.h"

/*
 * A thread that polls may ask for several things in turn, and go on with any of them, so all that
 * its turns ask for is put together: it waits for one of them.  That is all of it once each was
 * seen twice.
 *
 * A thread that works between its calls may do what others wait for when it comes to the end of
 * that, and another thread of the program, which calls nothing of MPI, may tell it to: then it is
 * not certain that it waits.  One that wants MPICH's lock gets it first; once it waits in MPI, too,
 * waits_threads.c tells of all of them.
 */

#define TURNS_NS (5 * FTREE_MS) /* so long its turns are looked at, at least */

static struct {
    uint32_t asked;             /* the number of the question, */
    ftree_time begun;           /* when the thread first came by with it, */
    ftree_time since;           /* since when nothing has ended or begun, */
    uint64_t stamp;
    uint64_t switches;          /* of the threads that sleep */
    bool works;                 /* it may do more than wait, */
    bool computes;              /* and another thread runs */
    int polls;                  /* how many different ones */
    uint64_t poll[WAITS_REQUESTS_MAX];
    bool twice[WAITS_REQUESTS_MAX];
    struct waits_record record; /* of more than one: all of them */
} measured;

static bool is_same_request(const struct waits_request *a, const struct waits_request *b)
{
    return a->kind == b->kind && a->comm == b->comm && a->peer == b->peer && a->tag == b->tag &&
        a->number == b->number;
}

/* The place of a communicator in the table of `r`; FTREE_NONE: no room, or there is none. */
static int8_t put_comm(struct waits_record *r, const struct waits_record *of, int8_t comm)
{
    int8_t place;

    if (comm == FTREE_NONE)
        return FTREE_NONE;
    place = MPIDI_faultloc_place_of_comm(r, of->comm[comm].key.context, of->comm[comm].key.first);
    if (place == FTREE_NONE && r->comms < WAITS_COMMS_MAX) {
        place = (int8_t) r->comms++;
        r->comm[place] = of->comm[comm];
    }
    return place;
}

static void put_request(struct waits_record *r, const struct waits_record *of,
                        struct waits_request q)
{
    int8_t comm = q.comm;

    q.comm = put_comm(r, of, comm);
    r->more |= q.comm == FTREE_NONE && comm != FTREE_NONE;
    for (int32_t i = 0; i < r->requests; i++)
        if (is_same_request(&r->request[i], &q))
            return;
    if (r->requests < WAITS_REQUESTS_MAX)
        r->request[r->requests++] = q;
    else
        r->more = true;
}

/* The name of the call is that of any of them, but always of the same. */
static void add_poll(const struct MPIDI_faultloc_wait *w)
{
    struct waits_record *r = &measured.record, one;

    MPIDI_faultloc_fill_requests(&one, w);
    if (measured.polls == 1) {
        *r = one;
        return;
    }
    r->mode = WAITS_FOR_ONE;
    r->call = one.call < r->call ? one.call : r->call;
    r->more |= one.more || one.requests == 0;
    for (int32_t i = 0; i < one.requests; i++)
        put_request(r, &one, one.request[i]);
}

static void note_poll(const struct MPIDI_faultloc_wait *w)
{
    uint64_t poll = MPIDI_faultloc_poll_of(w);
    int i = 0;

    while (i < measured.polls && measured.poll[i] != poll)
        i++;
    if (i < measured.polls) {
        measured.twice[i] = true;
    } else if (i == WAITS_REQUESTS_MAX) {
        measured.record.more = true;
    } else {
        measured.polls++;
        measured.poll[i] = poll;
        measured.twice[i] = false;
        add_poll(w);
    }
}

static bool all_twice(void)
{
    for (int i = 0; i < measured.polls; i++)
        if (!measured.twice[i])
            return false;
    return true;
}

bool MPIDI_faultloc_is_measured(struct MPIDI_faultloc_wait *w, uint32_t asked)
{
    ftree_time now = faultloc_now();
    bool known, others;

    if (measured.asked != asked)
        measured.begun = now;
    if (measured.asked != asked || measured.stamp != MPIDI_faultloc_stamp()) {
        measured.asked = asked;
        measured.since = now;
        measured.stamp = MPIDI_faultloc_stamp();
        measured.polls = 0;
    }
    note_poll(w);
    known = now - measured.since >= TURNS_NS && all_twice();
    if (!known && now - measured.begun < FAULTLOC_PATIENT_NS)
        return false;
    others = !MPIDI_faultloc_all_others_sleep(&measured.switches);
    if (others && MPIDI_faultloc_give_way(w, now - measured.begun))
        return false;
    measured.computes = others && MPIDI_faultloc_any_other_runs();
    measured.works = !known || others || MPIDI_faultloc_works_between();
    return true;
}

void MPIDI_faultloc_tell_polls(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    if (measured.polls > 1) {
        *r = measured.record;
        r->stamp = MPIDI_faultloc_stamp();
        MPIDI_faultloc_fill_rest(r);
    } else {
        MPIDI_faultloc_fill_record(r, w);
    }
    /* One thread more than there are records: nothing is claimed of a rank that may do more. */
    r->threads = measured.works ? 2 : 1;
    r->switches = measured.works ? 0 : measured.switches;
    r->computes = measured.computes;
}
