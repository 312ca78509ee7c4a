/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/mark.h"
#include "faultloc/board/wakeup.h"

#include <pthread.h>

/*
 * What the transport says of peers. That it has lost one is reported to the agent of the node,
 * which finds out why. An operation that the transport has ended with an error is held until then:
 * the program learns that the peer has failed, or, where nobody says so in time, that the transport
 * has.
 */

struct held {
    MPIR_Request *req;
    void *transport; /* its own request */
    void (*release) (void *transport);
    int32_t peer;
    int error; /* errno */
    int failures; /* so many ranks were given up before */
    uint64_t since_ns;
};

/* Where each VCI has a lock, none of them is for all.  A thread that has one may take this, never the
 * other way round.  One thread at a time settles (failed.c). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct held *items;
    int n, room;
} held;

/* Of the ranks whose addresses came. */
static struct {
    int seen, off;
    int first_on, first_off; /* of those that have, have not faultloc on */
} marks;

/* ---- whether it is on in all ranks ----------------------------------------------------------- */

void MPIDI_faultloc_read_mark(const void *address, size_t room, int rank)
{
    if (marks.seen == MPIR_Process.size)
        return;
    if (faultloc_mark_find(address, room, rank))
        marks.first_on = marks.seen == marks.off || rank < marks.first_on ? rank : marks.first_on;
    else if (marks.off++ == 0 || rank < marks.first_off)
        marks.first_off = rank;
    marks.seen++;
}

bool MPIDI_faultloc_is_on_in_all(int *first_on, int *first_off)
{
    *first_on = marks.first_on;
    *first_off = marks.first_off;
    return marks.off == 0;
}

/* ---- to the agent ---------------------------------------------------------------------------- */

void MPIDI_faultloc_report_lost(int32_t rank, int error)
{
    const struct faultloc_board *b = MPIDI_faultloc_board();
    struct faultloc_page *page = &MPIDI_faultloc_page.page;

    /* at the end of a job connections are closed, and that is no fault */
    if (!b || rank < 0 || rank >= b->size || page->slot.state != FAULTLOC_SLOT_RUNNING)
        return;
    if (faultloc_peer_errors_add(&page->peer_errors, faultloc_now(), rank, error))
        faultloc_wakeup_send(b);
}

bool MPIDI_faultloc_has_lost(void)
{
    return MPIDI_faultloc_page.page.peer_errors.count > 0 || MPIDI_faultloc_page.slot.failed_ns > 0;
}

int MPIDI_faultloc_rank_is_lost(int rank)
{
    const struct faultloc_peer_errors *errors = &MPIDI_faultloc_page.page.peer_errors;

    for (uint32_t i = 0; i < errors->count && i < FAULTLOC_PEER_ERRORS; i++)
        if (errors->entry[i].rank == rank)
            return 1;
    return MPIDI_faultloc_is_given_up(rank);
}

/* ---- held requests --------------------------------------------------------------------------- */

bool MPIDI_faultloc_is_held(const MPIR_Request * req)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < held.n && !found; i++)
        found = held.items[i].req == req;
    pthread_mutex_unlock(&lock);
    return found;
}

static bool add(const struct held *h)
{
    int room = held.n < held.room ? held.room : held.room ? 2 * held.room : 16;
    struct held *items = held.items;

    if (room > held.room)
        items = MPL_realloc(items, (size_t) room * sizeof(*items), MPL_MEM_OTHER);
    if (!items)
        return false;
    held.items = items;
    held.room = room;
    items[held.n++] = *h;
    return true;
}

bool MPIDI_faultloc_hold(MPIR_Request * req, int32_t peer, int error, void *transport,
                         void (*release) (void *transport))
{
    const struct faultloc_board *b = MPIDI_faultloc_board();
    const struct held h = {.req = req,.transport = transport,.release = release,.peer = peer,
        .error = error,.failures = b ? (int) b->failures : 0,.since_ns = faultloc_now()
    };
    bool added;

    pthread_mutex_lock(&lock);
    added = add(&h);
    pthread_mutex_unlock(&lock);
    if (added)
        MPIDI_FAULTLOC_SET_NEWS();
    return added;
}

int MPIDI_faultloc_transport_error(int32_t peer, int error)
{
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                MPI_ERR_OTHER, "**faultloc_transport", "**faultloc_transport %d %s",
                                (int) peer, strerror(error));
}

static void end_held(const struct held *h, bool given_up)
{
    MPIR_Request *req = h->req;
    int vci = MPIDI_Request_get_vci(req);

    MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_FAULTLOC_VCI_LOCK(vci));
    if (h->release)
        h->release(h->transport);
    MPIDI_faultloc_set_error(req, given_up ? MPIDI_faultloc_failed_error(h->peer)
                             : MPIDI_faultloc_transport_error(h->peer, h->error));
    MPIDI_faultloc_complete(req);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_FAULTLOC_VCI_LOCK(vci));
}

/* Where it is not known for whom a put or get was that has lost its peer, for the last that is given
 * up since. */
static int32_t lost_peer_of(const struct held *h)
{
    struct faultloc_board *b = MPIDI_faultloc_board();

    return h->peer == FTREE_NONE && h->req->kind == MPIR_REQUEST_KIND__RMA && b &&
        (int) b->failures > h->failures ? faultloc_board_failed(b)[b->failures - 1] : h->peer;
}

/* An error of the transport is final: a network that is silent for a few seconds causes none (UCX
 * asks again after 9 s of silence), and the patience with which a lost node is given up is no use
 * here. */
static bool take_due(struct held *out, bool *given_up)
{
    uint64_t now = held.n > 0 ? faultloc_now() : 0;

    for (int i = 0; i < held.n; i++) {
        struct held *h = &held.items[i];

        h->peer = lost_peer_of(h);
        *given_up = MPIDI_faultloc_is_given_up(h->peer);
        if (!*given_up && now - h->since_ns <= MPIDI_faultloc_grace())
            continue;
        *out = *h;
        *h = held.items[--held.n];
        return true;
    }
    return false;
}

bool MPIDI_faultloc_settle_held(void)
{
    struct held h;
    bool given_up, any;

    pthread_mutex_lock(&lock);
    while (take_due(&h, &given_up)) {
        pthread_mutex_unlock(&lock);
        end_held(&h, given_up);
        pthread_mutex_lock(&lock);
    }
    any = held.n > 0;
    pthread_mutex_unlock(&lock);
    return any;
}
