/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * Whom this rank needs where it waits for a collective operation.
 */

enum need {
    NEEDS_UNKNOWN,
    NEEDS_ALL,
    NEEDS_ALL_AND_MORE,         /* and somebody else besides: what is received inside says whom */
    NEEDS_ROOT,
    ROOT_NEEDS_ALL
};

/* Whom an operation cannot end without.  Those in which a member may have nothing to give (v and
 * w), scans, and those of neighborhoods are not among them: of these the receives inside say more.
 * All that makes a communicator or a window agrees upon a context with all members, and
 * MPI_Win_fence and MPI_Win_free have a barrier, whatever their arguments.  In MPI_Scatterv a rank
 * waits for the root or not at all. */
static enum need need_of(uint32_t call)
{
#define ID(name) MPIDI_FAULTLOC_CALL_ID("internal_" name)
#define OPERATION(Name, name, need) \
        {ID(#Name), need}, {ID(#Name "_c"), need}, {ID("I" #name), need}, {ID("I" #name "_c"), need}
    static const struct {
        uint32_t call;
        enum need need;
    } needs[] = {
        OPERATION(Barrier, barrier, NEEDS_ALL),
        OPERATION(Allreduce, allreduce, NEEDS_ALL),
        OPERATION(Allgather, allgather, NEEDS_ALL),
        OPERATION(Alltoall, alltoall, NEEDS_ALL),
        OPERATION(Reduce_scatter_block, reduce_scatter_block, NEEDS_ALL),
        OPERATION(Bcast, bcast, NEEDS_ROOT),
        OPERATION(Scatter, scatter, NEEDS_ROOT),
        OPERATION(Scatterv, scatterv, NEEDS_ROOT),
        OPERATION(Reduce, reduce, ROOT_NEEDS_ALL),
        OPERATION(Gather, gather, ROOT_NEEDS_ALL),
        {ID("Comm_dup"), NEEDS_ALL}, {ID("Comm_dup_with_info"), NEEDS_ALL},
        {ID("Comm_idup"), NEEDS_ALL}, {ID("Comm_idup_with_info"), NEEDS_ALL},
        {ID("Comm_create"), NEEDS_ALL}, {ID("Comm_split"), NEEDS_ALL},
        {ID("Comm_split_type"), NEEDS_ALL}, {ID("Cart_create"), NEEDS_ALL},
        {ID("Cart_sub"), NEEDS_ALL}, {ID("Graph_create"), NEEDS_ALL},
        {ID("Dist_graph_create"), NEEDS_ALL}, {ID("Dist_graph_create_adjacent"), NEEDS_ALL},
        {ID("Intercomm_create"), NEEDS_ALL_AND_MORE},
        {ID("Win_create"), NEEDS_ALL}, {ID("Win_create_dynamic"), NEEDS_ALL},
        {ID("Win_allocate"), NEEDS_ALL}, {ID("Win_allocate_shared"), NEEDS_ALL},
        {ID("Win_fence"), NEEDS_ALL}, {ID("Win_free"), NEEDS_ALL},
    };
#undef OPERATION
#undef ID

    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        if (needs[i].call == call)
            return needs[i].need;
    return NEEDS_UNKNOWN;
}

bool MPIDI_faultloc_needs_more(uint32_t call)
{
    return need_of(call) == NEEDS_ALL_AND_MORE;
}

bool MPIDI_faultloc_describe_collective(struct waits_record *r, struct waits_request *q,
                                        MPIR_Comm * comm, uint32_t number)
{
    int8_t at = MPIDI_faultloc_add_comm(r, comm, comm->recvcontext_id);
    const struct waits_collective *what =
        at == FTREE_NONE ? NULL : ftree_waits_collective(&r->comm[at], number);
    enum need need = what ? need_of(what->call) : NEEDS_UNKNOWN;
    bool is_root = what && what->root == comm->rank;

    *q = (struct waits_request) {.kind = WAITS_COLLECTIVE,.comm = at,.peer = FTREE_NONE };
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || need == NEEDS_UNKNOWN ||
        (need == NEEDS_ROOT && is_root) || (need == ROOT_NEEDS_ALL && !is_root))
        return false;
    if (need == NEEDS_ROOT)
        q->peer = MPIDI_faultloc_world_rank(comm, what->root);
    q->number = need == NEEDS_ROOT && q->peer == FTREE_NONE ? 0 : number;
    return q->number > 0;
}

MPIR_Comm *MPIDI_faultloc_collective_comm(MPIR_Request * req)
{
    bool is_send = req->kind == MPIR_REQUEST_KIND__SEND;

    if ((is_send || req->kind == MPIR_REQUEST_KIND__RECV) &&
        (MPIDI_faultloc_context_of(req) & MPIR_CONTEXT_INTRA_COLL))
        return MPIDI_faultloc_find_comm(MPIDI_faultloc_context_of(req), is_send);
    return NULL;
}

/* The blocking operation that a thread waits in: the last of the communicator in whose context for
 * collectives its request is. */
static MPIR_Comm *collective_of_thread(const struct MPIDI_faultloc_wait *w)
{
    MPIR_Request *req =
        w->mode == WAITS_FOR_ALL && w->n > 0 ? MPIDI_faultloc_pending(w->reqs[0]) : NULL;
    struct waits_collective last = { 0 };
    MPIR_Comm *comm = req ? MPIDI_faultloc_collective_comm(req) : NULL;

    if (comm)
        MPIDI_faultloc_last_collective(comm, &last);
    return last.blocking ? comm : NULL;
}

struct waits_request *MPIDI_faultloc_add_collective(struct waits_record *r,
                                                    const struct MPIDI_faultloc_wait *w)
{
    MPIR_Comm *comm = MPIDI_faultloc_has_many_threads() ? collective_of_thread(w) :
        MPIDI_faultloc_collective_now();
    struct waits_request *q = &r->request[r->requests];
    struct waits_collective last;

    if (!comm)
        return NULL;
    MPIDI_faultloc_last_collective(comm, &last);
    r->call = last.call;
    if (!MPIDI_faultloc_describe_collective(r, q, comm, last.begun))
        return NULL;
    r->requests++;
    return q;
}
