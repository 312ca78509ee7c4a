/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/parts.h"

/*
 * Whom a wait of one-sided communication is for.  The window keeps it for its own purposes: targets
 * whose lock is not granted or whose operations are not complete, groups that have not been heard
 * of.  Of a group only the number of those heard of is known, so one of whom some were is unknown.
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

static void add_group(struct peers *p, const MPIR_Group * group, unsigned heard)
{
    if (!group || heard > 0)
        return;
    for (int i = 0; i < group->size; i++)
        if (group->lrank_to_lpid[i].lpid < (uint64_t) MPIR_Process.size)
            add(p, (int32_t) group->lrank_to_lpid[i].lpid);
}

static bool is_awaited(const MPIDIG_win_target_t * t, uint32_t call)
{
    if (call == ID("Win_lock"))
        return t->sync.lock.locked == 0 && t->sync.access_epoch_type != MPIDIG_EPOTYPE_LOCK;
    if (call == ID("Win_unlock") && t->sync.lock.locked)
        return true;
    return MPIR_cc_get(t->local_cmpl_cnts) != 0 || MPIR_cc_get(t->remote_cmpl_cnts) != 0;
}

static void add_targets(struct peers *p, MPIR_Win * win, uint32_t call)
{
    MPIDIG_win_target_t *t, *next;

    HASH_ITER(hash_handle, MPIDIG_WIN(win, targets), t, next) {
        if (is_awaited(t, call))
            add(p, MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(win->comm_ptr, t->rank)));
    }
}

int MPIDI_faultloc_rma_peers(uint32_t call, MPIR_Comm ** comm, int32_t * rank, int most)
{
    MPIR_Win *win = MPIDI_faultloc_rma.window;
    struct peers p = {.rank = rank,.most = most };

    *comm = NULL;
    if (!win || MPIDI_faultloc_call_kind(call) != WAITS_RMA)
        return 0;
    *comm = win->comm_ptr;
    if (call == ID("Win_start"))
        add_group(&p, MPIDI_faultloc_rma.group, MPIDIG_WIN(win, sync).pw.count);
    else if (call == ID("Win_wait"))
        add_group(&p, MPIDIG_WIN(win, sync).pw.group, MPIDIG_WIN(win, sync).sc.count);
    else
        add_targets(&p, win, call);
    return p.n;
}
