/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * What a wait of one-sided communication is for, and the locks that this rank holds, in its record.
 */

/* A lock, as waits.h has it; FTREE_NONE: there is no room.  Who holds it, or waits, is at
 * `begun`. */
static int8_t add_lock(struct waits_record *r, const struct MPIDI_faultloc_lock *lock,
                       uint32_t kind, uint32_t begun)
{
    MPIR_Comm *comm = lock->win->comm_ptr;
    struct waits_comm *c = &r->comm[r->comms];
    struct waits_key key = {.context = comm->recvcontext_id | kind };
    int8_t place;

    key.first = kind == WAITS_LOCK_OF_ONE ? lock->target : MPIDI_faultloc_world_rank(comm, 0);
    place = MPIDI_faultloc_place_of_comm(r, key.context, key.first);
    if (place != FTREE_NONE)
        return place;
    if (r->comms == WAITS_COMMS_MAX || key.first == FTREE_NONE)
        return FTREE_NONE;
    memset(c, 0, sizeof(*c));
    c->key = key;
    c->size = comm->remote_size;
    c->last.begun = begun;
    MPL_strncpy(c->name, lock->win->name, sizeof(c->name));
    return (int8_t) r->comms++;
}

static void need_lock(struct waits_record *r, const struct MPIDI_faultloc_lock *lock, uint32_t kind,
                      uint32_t number)
{
    int8_t at = add_lock(r, lock, kind, WAITS_LOCK_NONE);

    r->request[r->requests++] = (struct waits_request) {
        .kind = WAITS_COLLECTIVE,.comm = at,.peer = FTREE_NONE,
        .number = at == FTREE_NONE ? 0 : number};
}

/* All who hold a lock that excludes this one must give it back. */
static void add_lock_awaited(struct waits_record *r)
{
    struct MPIDI_faultloc_lock lock;

    if (!MPIDI_faultloc_lock_awaited(r->call, &lock))
        return;
    if (lock.target == FTREE_NONE) {
        need_lock(r, &lock, WAITS_LOCK_OF_ANY, WAITS_LOCK_SHARED);
        return;
    }
    need_lock(r, &lock, WAITS_LOCK_OF_ONE, lock.exclusive ? WAITS_LOCK_NONE : WAITS_LOCK_SHARED);
    if (lock.exclusive)
        need_lock(r, &lock, WAITS_LOCK_OF_ALL, WAITS_LOCK_NONE);
}

void MPIDI_faultloc_add_locks_held(struct waits_record *r)
{
    struct MPIDI_faultloc_lock lock[WAITS_COMMS_MAX];
    int n = MPIDI_faultloc_locks_held(r->call, lock, WAITS_COMMS_MAX);

    for (int i = 0; i < n; i++) {
        uint32_t begun = lock[i].exclusive ? WAITS_LOCK_EXCLUSIVE : WAITS_LOCK_SHARED;

        (void) add_lock(r, &lock[i], lock[i].target == FTREE_NONE ? WAITS_LOCK_OF_ALL :
                        WAITS_LOCK_OF_ONE, begun);
        if (lock[i].exclusive)
            (void) add_lock(r, &lock[i], WAITS_LOCK_OF_ANY, begun);
    }
}

void MPIDI_faultloc_add_onesided(struct waits_record *r)
{
    int32_t rank[WAITS_REQUESTS_MAX];
    bool must_act;
    MPIR_Comm *comm;
    enum waits_mode mode = WAITS_FOR_ALL;
    int n = MPIDI_faultloc_rma_peers(r->call, &comm, rank, WAITS_REQUESTS_MAX, &must_act, &mode);
    int8_t at = comm ? MPIDI_faultloc_add_comm(r, comm, comm->recvcontext_id) : FTREE_NONE;

    add_lock_awaited(r);
    r->more |= n > WAITS_REQUESTS_MAX - r->requests || n == WAITS_REQUESTS_MAX;
    for (int i = 0; i < n && r->requests < WAITS_REQUESTS_MAX; i++)
        r->request[r->requests++] = (struct waits_request) {
            .kind = must_act ? WAITS_RMA : WAITS_TARGET,.comm = at,.peer = rank[i]};
    if (n > 0 && mode == WAITS_FOR_ONE)
        r->mode = WAITS_FOR_ONE;
}

static bool has_store_of(const struct waits_record *r, const struct waits_comm *c)
{
    for (int32_t i = 0; i < r->requests; i++) {
        const struct waits_request *q = &r->request[i];

        if (q->kind == WAITS_STORE && r->comm[q->comm].size == c->size &&
            r->comm[q->comm].key.members == c->key.members)
            return true;
    }
    return false;
}

static void add_store(struct waits_record *r, MPIR_Comm * comm)
{
    int8_t at = MPIDI_faultloc_add_comm(r, comm, comm->recvcontext_id);

    r->mode = WAITS_FOR_ONE;
    if (at == FTREE_NONE || r->requests == WAITS_REQUESTS_MAX)
        r->more = true;
    else if (!has_store_of(r, &r->comm[at]))
        r->request[r->requests++] = (struct waits_request) {
            .kind = WAITS_STORE,.comm = at,.peer = WAITS_ANY};
}

void MPIDI_faultloc_add_stores(struct waits_record *r)
{
    MPIR_Comm *comm[WAITS_COMMS_MAX];
    int n = MPIDI_faultloc_shared_windows(comm, WAITS_COMMS_MAX);

    r->more |= n > WAITS_COMMS_MAX;
    for (int i = 0; i < n && i < WAITS_COMMS_MAX; i++)
        add_store(r, comm[i]);
}
