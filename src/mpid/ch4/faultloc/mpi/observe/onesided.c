/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

/*
 * Whom a wait of one-sided communication is for, and which locks this rank holds.  The window keeps
 * it for its own purposes: targets whose operations are not complete, groups that have not been
 * heard of.  Of a group only the number of those heard of is known: where some were, it waits for
 * one of them all.
 */

struct MPIDI_faultloc_rma MPIDI_faultloc_rma;

#define ID(name) MPIDI_FAULTLOC_CALL_ID("internal_" name)

struct peers {
    int32_t *rank;
    int n, most;
};

static void add(struct peers *p, int32_t rank)
{
    if (rank != FTREE_NONE && p->n < p->most)
        p->rank[p->n++] = rank;
}

static void add_group(struct peers *p, MPIR_Group * group)
{
    for (int i = 0; group && i < group->size; i++)
        if ((uint64_t) MPIDI_FAULTLOC_LPID(group, i) < (uint64_t) MPIR_Process.size)
            add(p, (int32_t) MPIDI_FAULTLOC_LPID(group, i));
}

static int32_t rank_of(const MPIR_Win * win, int target)
{
    return MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(win->comm_ptr, target));
}

static bool is_awaited(const MPIDIG_win_target_t * t, uint32_t call)
{
    if (call == ID("Win_lock"))
        return t == MPIDI_faultloc_rma.target && t->sync.lock.locked == 0;
    if (call == ID("Win_unlock") && t->sync.lock.locked)
        return true;
    return MPIR_cc_get(t->local_cmpl_cnts) != 0 || MPIR_cc_get(t->remote_cmpl_cnts) != 0;
}

static void add_targets(struct peers *p, MPIR_Win * win, uint32_t call)
{
    MPIDIG_win_target_t *t, *next;

    HASH_ITER(hash_handle, MPIDIG_WIN(win, targets), t, next) {
        if (is_awaited(t, call))
            add(p, rank_of(win, t->rank));
    }
}

/* All of them must answer, and how many have is all that is known. */
static void add_members(struct peers *p, const MPIR_Win * win)
{
    const MPIR_Comm *comm = win->comm_ptr;

    for (int i = 0; comm->local_size <= p->most && i < comm->local_size; i++) {
        if (i != comm->rank)
            add(p, rank_of(win, i));
    }
}

int MPIDI_faultloc_rma_peers(uint32_t call, MPIR_Comm ** comm, int32_t * rank, int most,
                             bool * must_act, enum waits_mode *mode)
{
    MPIR_Win *win = MPIDI_faultloc_rma.window;
    struct peers p = {.rank = rank,.most = most };
    unsigned heard = 0;

    *comm = NULL;
    *must_act = call == ID("Win_start") || call == ID("Win_wait") || call == ID("Win_test");
    if (!win || MPIDI_faultloc_call_kind(call) != WAITS_RMA)
        return 0;
    *comm = win->comm_ptr;
    if (call == ID("Win_start")) {
        heard = MPIDIG_WIN(win, sync).pw.count;
        add_group(&p, MPIDI_faultloc_rma.group);
    } else if (*must_act) {
        heard = MPIDIG_WIN(win, sync).sc.count;
        add_group(&p, MPIDIG_WIN(win, sync).pw.group);
    } else {
        add_targets(&p, win, call);
    }
    if (p.n == 0 && (call == ID("Win_lock_all") || call == ID("Win_unlock_all")))
        add_members(&p, win);
    *mode = heard > 0 ? WAITS_FOR_ONE : WAITS_FOR_ALL;
    return p.n;
}

/* In a collective call of the window it waits for its own operations first. */
int32_t MPIDI_faultloc_rma_lost(void)
{
    uint32_t call = (uint32_t) (MPIDI_FAULTLOC_CALL & FAULTLOC_CALL_MASK);
    int32_t rank[WAITS_REQUESTS_MAX];
    struct peers p = {.rank = rank,.most = WAITS_REQUESTS_MAX };
    enum waits_mode mode;
    bool must_act;
    MPIR_Comm *comm;

    p.n = MPIDI_faultloc_rma_peers(call, &comm, rank, p.most, &must_act, &mode);
    if (p.n == 0 && MPIDI_faultloc_rma.window)
        add_targets(&p, MPIDI_faultloc_rma.window, call);
    for (int i = 0; i < p.n; i++)
        if (MPIDI_faultloc_is_given_up(rank[i]))
            return rank[i];
    return FTREE_NONE;
}

/* ---- windows --------------------------------------------------------------------------------- */

/* MPICH counts no references to windows; those that are whole are in its map. */
static bool is_whole(MPIR_Win * win)
{
    return MPIDIU_map_lookup(MPIDI_global.win_map, MPIDIG_WIN(win, win_id)) == win;
}

static void each_window(void (*f) (void *object, void *arg), void *arg)
{
    MPIDI_faultloc_each_object(&MPIR_Win_mem, HANDLE_NUM_INDICES, f, arg);
}

/* ---- targets of requests --------------------------------------------------------------------- */

struct counted {
    const MPIR_cc_t *by;
    int32_t target;
};

static void find_target(void *object, void *arg)
{
    MPIR_Win *win = object;
    struct counted *c = arg;
    MPIDIG_win_target_t *t, *next;

    if (!is_whole(win))
        return;
    HASH_ITER(hash_handle, MPIDIG_WIN(win, targets), t, next) {
        if (&t->local_cmpl_cnts == c->by)
            c->target = rank_of(win, t->rank);
    }
}

/* An active message is counted for its target.  The answer to it may still come from a rank that is
 * only silent, to a request that must be there.  OFI's own requests do not tell their target. */
int32_t MPIDI_faultloc_rma_lost_target(MPIR_Request * req)
{
    struct counted c = {.by = MPIDI_FAULTLOC_NOTIFICATION(req),.target = FTREE_NONE };

    if (c.by) {
        each_window(find_target, &c);
        return MPIDI_faultloc_has_ended(c.target) ? c.target : FTREE_NONE;
    }
#ifdef HAVE_CH4_NETMOD_UCX
    c.target = MPIDI_faultloc_rank_at(MPIDI_REQUEST(req, faultloc_peer));
#endif
    return MPIDI_faultloc_is_given_up(c.target) ? c.target : FTREE_NONE;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static bool is_exclusive(const MPIDIG_win_target_t * t)
{
    return t->sync.assert_mode & MPIDI_FAULTLOC_EXCLUSIVE;
}

bool MPIDI_faultloc_lock_awaited(uint32_t call, struct MPIDI_faultloc_lock * lock)
{
    MPIR_Win *win = MPIDI_faultloc_rma.window;
    MPIDIG_win_target_t *t, *next;

    *lock = (struct MPIDI_faultloc_lock) {.win = win,.target = FTREE_NONE };
    if (call == ID("Win_lock_all"))
        return win != NULL;
    if (!win || call != ID("Win_lock"))
        return false;
    HASH_ITER(hash_handle, MPIDIG_WIN(win, targets), t, next) {
        if (!is_awaited(t, call))
            continue;
        lock->target = rank_of(win, t->rank);
        lock->exclusive = is_exclusive(t);
    }
    return lock->target != FTREE_NONE;
}

struct held {
    struct MPIDI_faultloc_lock *lock;
    int n, most;
};

static void hold(struct held *h, MPIR_Win * win, int32_t target, bool exclusive)
{
    if (h->n < h->most)
        h->lock[h->n++] = (struct MPIDI_faultloc_lock) {win, target, exclusive};
}

/* With MPI_MODE_NOCHECK nobody is kept out. */
static void add_held(void *object, void *arg)
{
    MPIR_Win *win = object;
    struct held *h = arg;
    MPIDIG_win_target_t *t, *next;

    if (!is_whole(win))
        return;
    if (MPIDIG_WIN(win, sync).access_epoch_type == MPIDIG_EPOTYPE_LOCK_ALL &&
        !(MPIDIG_WIN(win, sync).assert_mode & MPI_MODE_NOCHECK))
        hold(h, win, FTREE_NONE, false);
    HASH_ITER(hash_handle, MPIDIG_WIN(win, targets), t, next) {
        if (t->sync.lock.locked && !(t->sync.assert_mode & MPI_MODE_NOCHECK) &&
            rank_of(win, t->rank) != FTREE_NONE)
            hold(h, win, rank_of(win, t->rank), is_exclusive(t));
    }
}

int MPIDI_faultloc_locks_held(uint32_t call, struct MPIDI_faultloc_lock *lock, int most)
{
    struct held h = {.lock = lock,.most = most };

    if (call != 0 && call != ID("Win_unlock") && call != ID("Win_unlock_all"))
        each_window(add_held, &h);
    return h.n;
}

/* ---- what others store ----------------------------------------------------------------------- */

struct shared {
    MPIR_Comm **comm;
    int n, most;
};

/* In an epoch of active target communication nobody sees what others put without a call that ends
 * it. */
static bool may_be_looked_at(MPIR_Win * win)
{
    int access = MPIDIG_WIN(win, sync).access_epoch_type;

    return win->create_flavor == MPI_WIN_FLAVOR_SHARED || access == MPIDIG_EPOTYPE_LOCK_ALL ||
        access == MPIDIG_EPOTYPE_LOCK || (access == MPIDIG_EPOTYPE_NONE &&
                                          MPIDIG_WIN(win, sync).exposure_epoch_type ==
                                          MPIDIG_EPOTYPE_NONE);
}

static void add_shared(void *object, void *arg)
{
    MPIR_Win *win = object;
    struct shared *s = arg;

    if (!is_whole(win) || !may_be_looked_at(win) || win->comm_ptr->local_size == 1)
        return;
    if (s->n < s->most)
        s->comm[s->n] = win->comm_ptr;
    s->n++;
}

int MPIDI_faultloc_shared_windows(MPIR_Comm ** comm, int most)
{
    struct shared s = {.comm = comm,.most = most };

    each_window(add_shared, &s);
    return s.n;
}
