/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

/*
 * The last two collective operations of each communicator: what the bindings noted in it (the
 * seam's MPIDI_FAULTLOC_COLL), read when a record is written.  All communicators are in a list, so
 * that those used last are found; a new one begins at 0, whatever was noted of one with its
 * context.
 */

static MPIR_Comm *first;

/* ---- communicators --------------------------------------------------------------------------- */

static void put_in(MPIR_Comm * comm)
{
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    comm->dev.ch4.faultloc_colls.begun = INT64_MIN;
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

/* MPICH's own parts of a communicator are nobody's to wait on, nor is one of this rank alone. */
bool MPIDI_faultloc_is_programs(const MPIR_Comm * comm)
{
    return (comm->remote_size > 1 || comm->comm_kind == MPIR_COMM_KIND__INTERCOMM) &&
        !MPIDI_FAULTLOC_IS_PART_OF_COMM(comm);
}

bool MPIDI_faultloc_is_comm_noted(const MPIR_Comm * comm)
{
    return comm->dev.ch4.faultloc_colls.begun < 0;
}

void MPIDI_faultloc_comm_init(MPIR_Comm * comm)
{
    static const struct MPIDI_faultloc_colls none;

    comm->dev.ch4.faultloc_acked = comm->dev.ch4.faultloc_looked = 0;
    comm->dev.ch4.faultloc_lost = FTREE_NONE;
    comm->dev.ch4.faultloc_colls = none;
    if (MPIDI_faultloc_notes)
        put_in(comm);
}

void MPIDI_faultloc_forget_collectives(MPIR_Comm * comm)
{
    if (MPIDI_faultloc_is_comm_noted(comm))
        take_out(comm);
    comm->dev.ch4.faultloc_colls.begun = 0;
}

void MPIDI_faultloc_note_comm(MPIR_Comm * comm)
{
    if (comm && !MPIDI_faultloc_is_comm_noted(comm))
        put_in(comm);
}

void MPIDI_faultloc_begin_collectives(void)
{
    MPIDI_faultloc_note_comm(MPIR_Process.comm_world);
    MPIDI_faultloc_note_comm(MPIR_Process.comm_self);
}

/* ---- noting ---------------------------------------------------------------------------------- */

static int64_t elements_of(const struct MPIDI_faultloc_coll *coll)
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
    int64_t count = elements_of(coll);
    MPIR_Datatype *own = NULL;

    if (count <= 0)
        return count;
    MPIR_Datatype_get_ptr(coll->datatype, own);
    return own && MPIR_Object_get_ref(own) > 0 ? count * (int64_t) own->size : -1;
}

/* Of the n-th, which is the last or the one before. */
static struct MPIDI_faultloc_coll *place_of(MPIR_Comm * comm, uint32_t n)
{
    struct MPIDI_faultloc_coll *last = comm->dev.ch4.faultloc_colls.last;

    return &last[n % 2 * (FAULTLOC_COLL_STEP / sizeof(*last))];
}

static void keep_bytes(struct MPIDI_faultloc_coll *coll, const MPIR_Datatype * type)
{
    int64_t count = elements_of(coll);

    if (coll->datatype != type->handle)
        return;
    coll->size.large = count > 0 ? count * (int64_t) type->size : count;
    coll->datatype = 0;
}

/* Nothing refers to the datatype any more, and its handle may be another's soon. */
void MPIDI_faultloc_type_free(const MPIR_Datatype * type)
{
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    for (MPIR_Comm * c = first; c; c = c->dev.ch4.faultloc_next) {
        keep_bytes(place_of(c, 0), type);
        keep_bytes(place_of(c, 1), type);
    }
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
}

/* Persistent operations are made in the same order by all members, and may be started in any.  The
 * rank is that of what a persistent send keeps: of one to nobody nothing is started. */
void MPIDI_faultloc_coll_init(MPIR_Request * req, const struct MPIDI_faultloc_coll *made)
{
    struct MPIDI_faultloc_colls *colls;

    if (req->kind != MPIR_REQUEST_KIND__PREQUEST_COLL)
        return;
    MPIDI_PREQUEST(req, rank) = 0;
    colls = &req->comm->dev.ch4.faultloc_colls;
    colls->begun += FAULTLOC_COLL_STEP;
    if (colls->begun >= 0)
        return;
    *FAULTLOC_COLL_LAST(colls) = *made;
    FAULTLOC_COLL_LAST(colls)->stamp = MPIDI_faultloc_page.slot.call;
}

/* ---- reading --------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct MPIDI_faultloc_coll *coll)
{
    int64_t count = has_own_type(coll) ? own_bytes(coll) : elements_of(coll);

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
    return MPIDI_faultloc_is_comm_noted(comm) ?
        FAULTLOC_COLL_BEGUN(&comm->dev.ch4.faultloc_colls) : 0;
}

/* Operations that take nothing by which members could come to wait for each other. */
static bool has_no_arguments(uint32_t call)
{
#define ID(name) MPIDI_FAULTLOC_CALL_ID("internal_" name)
    static const uint32_t calls[] = {
        ID("Barrier"), ID("Ibarrier"), ID("Comm_dup"), ID("Comm_dup_with_info"), ID("Comm_idup"),
        ID("Comm_idup_with_info"), ID("Comm_split"), ID("Intercomm_merge")
    };
#undef ID

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i] == call)
            return true;
    return false;
}

static void read_collective(MPIR_Comm * comm, uint32_t n, struct waits_collective *what)
{
    const struct MPIDI_faultloc_coll *coll = place_of(comm, n);

    *what = (struct waits_collective) {.begun = n,.root = FTREE_NONE,.bytes = WAITS_NO_BYTES };
    if (n == 0)
        return;
    what->call = coll->call & FAULTLOC_CALL_MASK;
    what->blocking = !(coll->call & FAULTLOC_COLL_REQUEST);
    what->whole = has_no_arguments(what->call);
    /* both groups' roots, and those who only look on, give other arguments */
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM)
        return;
    if (coll->call & FAULTLOC_COLL_ROOT)
        what->root = coll->root;
    if (coll->call & FAULTLOC_COLL_OP && HANDLE_IS_BUILTIN((unsigned) coll->op))
        what->op = (uint32_t) coll->op;
    if (coll->call & FAULTLOC_COLL_SIZE)
        what->bytes = bytes_of(coll);
    what->whole |= what->bytes != WAITS_NO_BYTES;
}

void MPIDI_faultloc_last_collective(MPIR_Comm * comm, struct waits_collective *last)
{
    read_collective(comm, begun_on(comm), last);
}

void MPIDI_faultloc_collective_before(MPIR_Comm * comm, struct waits_collective *before)
{
    uint32_t n = begun_on(comm);

    read_collective(comm, n > 0 ? n - 1 : 0, before);
}

MPIR_Comm *MPIDI_faultloc_whole_of(MPIR_Comm * comm)
{
    MPIR_Comm *whole = comm;

    if (!MPIDI_FAULTLOC_IS_PART_OF_COMM(comm))
        return comm;
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    for (MPIR_Comm * c = first; c; c = c->dev.ch4.faultloc_next)
        if (c->node_comm == comm || c->node_roots_comm == comm)
            whole = c;
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    return whole;
}

static uint64_t stamp_of(MPIR_Comm * comm)
{
    return place_of(comm, begun_on(comm))->stamp;
}

int MPIDI_faultloc_comms(MPIR_Comm ** comms, int most)
{
    int n = 0, i;

    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    for (MPIR_Comm * c = first; c; c = c->dev.ch4.faultloc_next) {
        if (!begun_on(c) && !MPIDI_faultloc_is_programs(c))
            continue;
        for (i = n; i > 0 && stamp_of(comms[i - 1]) < stamp_of(c); i--)
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
    uint32_t call = (uint32_t) (MPIDI_FAULTLOC_CALL & FAULTLOC_CALL_MASK);
    struct waits_collective last;
    MPIR_Comm *comm;

    if (MPIDI_faultloc_comms(&comm, 1) == 0)
        return NULL;
    MPIDI_faultloc_last_collective(comm, &last);
    return last.blocking && last.call == call ? comm : NULL;
}

MPIR_Comm *MPIDI_faultloc_collective_of(MPIR_Request * req, uint32_t * number)
{
    bool is_persistent = req->kind == MPIR_REQUEST_KIND__PREQUEST_COLL;

    if (is_persistent)
        req = req->u.persist_coll.real_request;
    if (!req || req->kind != MPIR_REQUEST_KIND__COLL || HANDLE_IS_BUILTIN(req->handle))
        return NULL;
    *number = is_persistent ? 0 : MPIDI_REQUEST(req, faultloc_serial);
    return MPIDI_REQUEST(req, faultloc_serial) ? MPIDI_REQUEST(req, faultloc_peer) : NULL;
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
