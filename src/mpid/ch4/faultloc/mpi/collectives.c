/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/parts.h"

/*
 * The last collective operation of each communicator: what the bindings noted in it (the seam's
 * MPIDI_FAULTLOC_COLL), read when a record is written.  All communicators are in a list, so that
 * those used last are found; a new one begins at 0, whatever was noted of one with its context.
 */

static MPIR_Comm *first;

/* ---- communicators --------------------------------------------------------------------------- */

static void put_in(MPIR_Comm * comm)
{
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    comm->dev.ch4.faultloc_coll.begun = INT64_MIN;
    comm->dev.ch4.faultloc_prev = NULL;
    comm->dev.ch4.faultloc_next = first;
    if (first)
        first->dev.ch4.faultloc_prev = comm;
    first = comm;
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
}

static void take_out(MPIR_Comm * comm)
{
    MPIR_Comm *prev = comm->dev.ch4.faultloc_prev, *next = comm->dev.ch4.faultloc_next;

    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    if (prev)
        prev->dev.ch4.faultloc_next = next;
    else
        first = next;
    if (next)
        next->dev.ch4.faultloc_prev = prev;
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
}

bool MPIDI_faultloc_is_comm_noted(const MPIR_Comm * comm)
{
    return comm->dev.ch4.faultloc_coll.begun < 0;
}

void MPIDI_faultloc_comm_init(MPIR_Comm * comm)
{
    static const struct MPIDI_faultloc_coll none;

    comm->dev.ch4.faultloc_acked = 0;
    comm->dev.ch4.faultloc_coll = none;
    if (MPIDI_faultloc_notes)
        put_in(comm);
}

void MPIDI_faultloc_comm_free(MPIR_Comm * comm)
{
    if (MPIDI_faultloc_is_comm_noted(comm))
        take_out(comm);
    comm->dev.ch4.faultloc_coll.begun = 0;
}

void MPIDI_faultloc_begin_collectives(void)
{
    put_in(MPIR_Process.comm_world);
    if (MPIR_Process.comm_self && !MPIDI_faultloc_is_comm_noted(MPIR_Process.comm_self))
        put_in(MPIR_Process.comm_self);
}

/* ---- noting ---------------------------------------------------------------------------------- */

static int64_t count_of(const struct MPIDI_faultloc_coll *coll)
{
    return coll->call & FAULTLOC_COLL_LARGE || !coll->datatype ? coll->size.large :
        coll->size.count;
}

/* A handle that is negative is no builtin's. */
static bool has_own_type(const struct MPIDI_faultloc_coll *coll)
{
    return coll->datatype < 0;
}

/* Arguments that the operation does not look at may be anything, a datatype that was freed, too. */
static int64_t own_bytes(const struct MPIDI_faultloc_coll *coll)
{
    int64_t count = count_of(coll);
    MPIR_Datatype *own = NULL;

    if (count <= 0)
        return count;
    MPIR_Datatype_get_ptr(coll->datatype, own);
    return own && MPIR_Object_get_ref(own) > 0 ? count * (int64_t) own->size : -1;
}

/* Nothing refers to the datatype any more, and its handle may be another's soon. */
void MPIDI_faultloc_type_free(const MPIR_Datatype * type)
{
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    for (MPIR_Comm * c = first; c; c = c->dev.ch4.faultloc_next) {
        struct MPIDI_faultloc_coll *coll = &c->dev.ch4.faultloc_coll;
        int64_t count = count_of(coll);

        if (coll->datatype != type->handle)
            continue;
        coll->size.large = count > 0 ? count * (int64_t) type->size : count;
        coll->datatype = 0;
    }
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
}

/* The place of what a persistent send keeps; a rank there would be taken for that of one to
 * nobody. */
void MPIDI_faultloc_coll_init(MPIR_Request * req, const struct MPIDI_faultloc_coll *made)
{
    if (req->kind != MPIR_REQUEST_KIND__PREQUEST_COLL)
        return;
    MPIDI_PREQUEST(req, rank) = 0;
    MPIDI_PREQUEST(req, tag) = made->root;
    MPIDI_PREQUEST(req, context_id) = 0;
    MPIDI_PREQUEST(req, count) = (MPI_Aint) (has_own_type(made) ? own_bytes(made) : count_of(made));
    MPIDI_PREQUEST(req, datatype) = has_own_type(made) ? 0 : made->datatype;
    MPIDI_PREQUEST(req, buffer) = (void *) (uintptr_t) (uint32_t) made->op;
    MPIDI_REQUEST(req, faultloc_serial) = made->call;
}

void MPIDI_faultloc_coll_start(MPIR_Request * req)
{
    struct MPIDI_faultloc_coll *coll = &req->comm->dev.ch4.faultloc_coll;

    if (++coll->begun >= 0)
        return;
    coll->stamp = MPIDI_faultloc_page.slot.call;
    coll->call = MPIDI_REQUEST(req, faultloc_serial) | FAULTLOC_COLL_LARGE;
    coll->root = MPIDI_PREQUEST(req, tag);
    coll->op = (int32_t) (uintptr_t) MPIDI_PREQUEST(req, buffer);
    coll->size.large = MPIDI_PREQUEST(req, count);
    coll->datatype = MPIDI_PREQUEST(req, datatype);
}

/* ---- reading --------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct MPIDI_faultloc_coll *coll)
{
    int64_t count = has_own_type(coll) ? own_bytes(coll) : count_of(coll);

    if (count < 0)
        return WAITS_NO_BYTES;
    if (has_own_type(coll))
        return (uint64_t) count;
    if (count == 0 || !coll->datatype)
        return (uint64_t) count;
    if (!HANDLE_IS_BUILTIN((unsigned) coll->datatype))
        return WAITS_NO_BYTES;
    return (uint64_t) (count * MPIR_Datatype_get_basic_size(coll->datatype));
}

static uint32_t begun_on(const MPIR_Comm * comm)
{
    return MPIDI_faultloc_is_comm_noted(comm) ? (uint32_t) comm->dev.ch4.faultloc_coll.begun : 0;
}

void MPIDI_faultloc_last_collective(MPIR_Comm * comm, struct waits_collective *last)
{
    const struct MPIDI_faultloc_coll *coll = &comm->dev.ch4.faultloc_coll;

    last->begun = begun_on(comm);
    last->call = last->begun ? coll->call & FAULTLOC_CALL_MASK : 0;
    last->op = 0;
    last->root = FTREE_NONE;
    last->bytes = WAITS_NO_BYTES;
    last->blocking = last->begun && !(coll->call & FAULTLOC_COLL_REQUEST);
    /* both groups' roots, and those who only look on, give other arguments */
    if (!last->begun || comm->comm_kind != MPIR_COMM_KIND__INTRACOMM)
        return;
    if (coll->call & FAULTLOC_COLL_ROOT)
        last->root = coll->root;
    if (coll->call & FAULTLOC_COLL_OP && HANDLE_IS_BUILTIN((unsigned) coll->op))
        last->op = (uint32_t) coll->op;
    if (coll->call & FAULTLOC_COLL_SIZE)
        last->bytes = bytes_of(coll);
}

/* MPICH's own parts of a communicator are nobody's to wait on. */
static bool is_programs(const MPIR_Comm * comm)
{
    return comm->remote_size > 1 && comm->hierarchy_kind != MPIR_COMM_HIERARCHY_KIND__NODE &&
        comm->hierarchy_kind != MPIR_COMM_HIERARCHY_KIND__NODE_ROOTS;
}

int MPIDI_faultloc_comms(MPIR_Comm ** comms, int most)
{
    int n = 0, i;

    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    for (MPIR_Comm * c = first; c; c = c->dev.ch4.faultloc_next) {
        if (!begun_on(c) && !is_programs(c))
            continue;
        for (i = n; i > 0 && comms[i - 1]->dev.ch4.faultloc_coll.stamp <
             c->dev.ch4.faultloc_coll.stamp; i--)
            if (i < most)
                comms[i] = comms[i - 1];
        if (i < most)
            comms[i] = c;
        n += n < most;
    }
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    return n;
}

MPIR_Comm *MPIDI_faultloc_collective_now(void)
{
    uint32_t call = (uint32_t) (MPIDI_faultloc_page.slot.call & FAULTLOC_CALL_MASK);
    struct waits_collective last;
    MPIR_Comm *comm;

    if (MPIDI_faultloc_comms(&comm, 1) == 0)
        return NULL;
    MPIDI_faultloc_last_collective(comm, &last);
    return last.blocking && last.call == call ? comm : NULL;
}

MPIR_Comm *MPIDI_faultloc_collective_of(MPIR_Request * req, uint32_t * number)
{
    MPIR_Comm *comm;

    if (req->kind == MPIR_REQUEST_KIND__PREQUEST_COLL)
        req = req->u.persist_coll.real_request;
    if (!req || req->kind != MPIR_REQUEST_KIND__COLL || HANDLE_IS_BUILTIN(req->handle))
        return NULL;
    comm = MPIDI_REQUEST(req, faultloc_peer);
    *number = MPIDI_REQUEST(req, faultloc_serial);
    return *number ? comm : NULL;
}

/* ---- kinds of calls -------------------------------------------------------------------------- */

int MPIDI_faultloc_call_kind(uint32_t call)
{
#define ID(name) MPIDI_FAULTLOC_CALL_ID("internal_" name)
    static const struct {
        uint32_t call;
        int kind;
    } calls[] = {
        {ID("Win_lock"), WAITS_RMA}, {ID("Win_lock_all"), WAITS_RMA},
        {ID("Win_unlock"), WAITS_RMA}, {ID("Win_unlock_all"), WAITS_RMA},
        {ID("Win_flush"), WAITS_RMA}, {ID("Win_flush_all"), WAITS_RMA},
        {ID("Win_flush_local"), WAITS_RMA}, {ID("Win_flush_local_all"), WAITS_RMA},
        {ID("Win_start"), WAITS_RMA}, {ID("Win_complete"), WAITS_RMA},
        {ID("Win_post"), WAITS_RMA}, {ID("Win_wait"), WAITS_RMA}, {ID("Win_test"), WAITS_RMA},
        {ID("Put"), WAITS_RMA}, {ID("Put_c"), WAITS_RMA},
        {ID("Get"), WAITS_RMA}, {ID("Get_c"), WAITS_RMA},
        {ID("Accumulate"), WAITS_RMA}, {ID("Accumulate_c"), WAITS_RMA},
        {ID("Get_accumulate"), WAITS_RMA}, {ID("Get_accumulate_c"), WAITS_RMA},
        {ID("Fetch_and_op"), WAITS_RMA}, {ID("Compare_and_swap"), WAITS_RMA},
        {ID("Comm_join"), WAITS_OTHER}, {ID("Open_port"), WAITS_OTHER},
        {ID("Close_port"), WAITS_OTHER}, {ID("Publish_name"), WAITS_OTHER},
        {ID("Unpublish_name"), WAITS_OTHER}, {ID("Lookup_name"), WAITS_OTHER},
        {ID("Comm_spawn"), WAITS_OTHER}, {ID("Comm_spawn_multiple"), WAITS_OTHER},
        {ID("Comm_accept"), WAITS_OTHER}, {ID("Comm_connect"), WAITS_OTHER},
        {ID("Comm_disconnect"), WAITS_OTHER}, {ID("Intercomm_create"), WAITS_OTHER},
        {ID("Intercomm_create_from_groups"), WAITS_OTHER},
        {ID("Comm_create_group"), WAITS_OTHER}, {ID("Comm_create_from_group"), WAITS_OTHER},
    };
#undef ID

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i].call == call)
            return calls[i].kind;
    return MPIDI_faultloc_collective_now() ? WAITS_COLLECTIVE : FTREE_NONE;
}
