/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/parts.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"

#include <sys/syscall.h>
#include <time.h>

/*
 * What this rank waits for, when its agent asks (board/wait_area.h).  The rank says it at the next
 * turn of its wait, or when the next call that asks for something returns without it: there the
 * requests are at hand, and nothing of them need be noted before.
 *
 * A request's peer, tag and communicator were noted when it began (MPIDI_FAULTLOC_NOTE()).  The
 * messages of each pair of ranks are counted (faultloc_sums.h), those received where UCX says that
 * a receive has ended; other transports have no such place, so nothing is said of them.
 */

/* Turns of progress in which nobody has answered, after which the question is answered as well as
 * can be: the rank is in a loop that notes nothing. */
#define PATIENT_TURNS 256
/* Of many threads, of which one may run: less than the agent has (LOOK_TIME, ftree/waitfor/ask.c). */
#define PATIENT_NS (200 * FTREE_MS)
#define AGAIN_NS (5 * FTREE_MS) /* between two looks at all of them, */
#define REST_NS 1000000         /* and so long the others get the lock; */
#define RESTS_NS (100 * FTREE_MS)   /* those who poll rest so long after they were asked */
/* CPU time of a turn, on average over so long: a call that asks in vain and a sleep after it take
 * some ten microseconds together. */
#define WORK_NS (200 * 1000)
#define TURNS_NS (5 * FTREE_MS)

uint32_t MPIDI_faultloc_asked;

static int unanswered; /* turns */

/* ---- communicators --------------------------------------------------------------------------- */

static bool is_comm_of(const MPIR_Comm * comm, uint32_t context, bool of_sends)
{
    uint32_t id = of_sends ? comm->context_id : comm->recvcontext_id;

    return MPIR_Object_get_ref(comm) > 0 && id == (context & ~(uint32_t) MPIR_CONTEXT_SUFFIX_MASK);
}

/* Those that MPICH is making, in MPI_Comm_idup for example, have no context yet, but an old one or
 * 0: they are not noted either.  Nor are those that it has made of the world before faultloc
 * began. */
struct search {
    uint32_t context;
    bool of_sends;
    int found[2]; /* not noted, noted */
    MPIR_Comm *comm[2];
};

static void search_block(struct search *s, char *objects, int n, int size)
{
    for (int i = 0; i < n; i++) {
        MPIR_Comm *comm = (MPIR_Comm *) (void *) (objects + (size_t) i * (size_t) size);

        if (is_comm_of(comm, s->context, s->of_sends)) {
            bool is_noted = MPIDI_faultloc_is_comm_noted(comm);

            s->comm[is_noted] = comm;
            s->found[is_noted]++;
        }
    }
}

/* NULL: it is not known, or which of two it is. */
static MPIR_Comm *find_comm(uint32_t context, bool of_sends)
{
    struct search s = {.context = context,.of_sends = of_sends };

    search_block(&s, (char *) MPIR_Comm_builtin, MPIR_COMM_N_BUILTIN, sizeof(MPIR_Comm));
    if (MPIR_Comm_mem.initialized)
        search_block(&s, MPIR_Comm_mem.direct, MPIR_Comm_mem.direct_size, MPIR_Comm_mem.size);
    for (int i = 0; MPIR_Comm_mem.indirect && i < MPIR_Comm_mem.indirect_size; i++)
        search_block(&s, MPIR_Comm_mem.indirect[i], HANDLE_NUM_INDICES, MPIR_Comm_mem.size);
    if (s.found[true] > 0)
        return s.found[true] == 1 ? s.comm[true] : NULL;
    return s.found[false] == 1 ? s.comm[false] : NULL;
}

static int32_t world_rank(MPIR_Comm * comm, int rank)
{
    if (rank < 0 || rank >= comm->remote_size)
        return FTREE_NONE;
    if (MPIDI_is_self_comm(comm))
        return MPIR_Process.rank;
    return MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(comm, rank));
}

/* False: one of them is of another world. */
static bool list_members(MPIR_Comm * comm, struct waits_comm *c)
{
    for (int i = 0; i < comm->remote_size; i++) {
        int32_t rank = world_rank(comm, i);

        if (rank == FTREE_NONE)
            return false;
        if (!ftree_waits_add_member(c, rank))
            break;
    }
    ftree_waits_end_members(c);
    return true;
}

/* False: it is not of this world alone.  A context stands for messages of one kind: those of
 * collectives have another. */
static bool describe_comm(struct waits_comm *c, MPIR_Comm * comm, uint32_t context)
{
    memset(c, 0, sizeof(*c));
    c->key.context = context;
    c->key.first = world_rank(comm, 0);
    c->size = comm->remote_size;
    MPL_strncpy(c->name, MPIDI_faultloc_whole_of(comm)->name, sizeof(c->name));
    if (!list_members(comm, c))
        return false;
    if (context == comm->recvcontext_id) {
        MPIDI_faultloc_last_collective(comm, &c->last);
        MPIDI_faultloc_collective_before(comm, &c->before);
    }
    return true;
}

/* FTREE_NONE: it is not in the record. */
static int8_t place_of_comm(const struct waits_record *r, uint32_t context, int32_t first)
{
    for (int32_t i = 0; i < r->comms; i++)
        if (r->comm[i].key.context == context && r->comm[i].key.first == first)
            return (int8_t) i;
    return FTREE_NONE;
}

/* The communicator's place in the record; FTREE_NONE: there is none left, or it is not of this
 * world alone. */
static int8_t add_comm(struct waits_record *r, MPIR_Comm * comm, uint32_t context)
{
    int8_t place = place_of_comm(r, context, world_rank(comm, 0));

    if (place != FTREE_NONE)
        return place;
    if (r->comms == WAITS_COMMS_MAX || !describe_comm(&r->comm[r->comms], comm, context))
        return FTREE_NONE;
    return (int8_t) r->comms++;
}

/* ---- requests -------------------------------------------------------------------------------- */

static MPIR_Request *pending(MPIR_Request * req)
{
    if (!req || !MPIR_Request_is_active(req) || MPIR_Request_is_complete(req))
        return NULL;
    return MPIDI_faultloc_real(req);
}

static int8_t add_context(struct waits_record *r, uint32_t context, bool of_sends)
{
    MPIR_Comm *comm = find_comm(context, of_sends);

    return comm ? add_comm(r, comm, context) : FTREE_NONE;
}

/* The ring's i-th message from the end; NULL: it is not of that type, or not whole. */
static const struct faultloc_message *message_at(uint32_t i, int type)
{
    const struct faultloc_ring *ring = &MPIDI_faultloc_page.page.ring;
    uint32_t count = ring->count - i * FAULTLOC_RING_STEP;
    const struct faultloc_message *m =
        &ring->entry[count / FAULTLOC_RING_STEP % FAULTLOC_RING_ENTRIES];

    return m->mark[type] == count ? m : NULL;
}

/* Of the last message that is known by that, as long as it is in the ring: most ranks wait for what
 * they have begun last. */
static uint64_t bytes_of(uint32_t context, int32_t tag, int type)
{
    for (uint32_t i = 0; i < FAULTLOC_RING_ENTRIES; i++) {
        const struct faultloc_message *m = message_at(i, type);

        if (m && m->context == context && m->tag == tag)
            return m->datatype ? m->count * (m->datatype >> 8) : m->count;
    }
    return 0;
}

static void describe_self(struct waits_record *r, struct waits_request *q, MPIR_Request * req)
{
    int tag = MPIDI_SELF_REQUEST(req, tag);

    q->kind = req->kind == MPIR_REQUEST_KIND__SEND ? WAITS_SEND : WAITS_RECV;
    q->peer = MPIR_Process.rank;
    q->tag = tag == MPI_ANY_TAG ? WAITS_ANY : tag;
    q->comm = add_comm(r, req->comm, req->comm->recvcontext_id);
}

static int32_t peer_of(MPIR_Request * req)
{
    void *peer = MPIDI_REQUEST(req, faultloc_peer);

    return (uintptr_t) peer & 1 ? WAITS_ANY : MPIDI_faultloc_rank_at(peer);
}

static uint32_t context_of(MPIR_Request * req)
{
    return MPIDI_REQUEST(req, faultloc_context) & ~MPIDI_FAULTLOC_SSEND;
}

static void describe_message(struct waits_record *r, struct waits_request *q, MPIR_Request * req)
{
    bool is_send = req->kind == MPIR_REQUEST_KIND__SEND;
    bool is_ssend = MPIDI_REQUEST(req, faultloc_context) & MPIDI_FAULTLOC_SSEND;
    int32_t tag = MPIDI_REQUEST(req, faultloc_tag);

    q->kind = !is_send ? WAITS_RECV : is_ssend ? WAITS_SSEND : WAITS_SEND;
    q->peer = peer_of(req);
    q->tag = !is_send && tag == MPI_ANY_TAG ? WAITS_ANY : tag;
    q->comm = add_context(r, context_of(req), is_send);
    q->bytes = bytes_of(context_of(req), tag, is_send ? FAULTLOC_RING_SEND : FAULTLOC_RING_RECV);
}

/* Partitions that the program has not said to be ready, and one more as long as the receiver has not
 * begun: of two or more it is the sender itself that others wait for. */
static bool lacks_partitions(MPIR_Request * req)
{
    return MPIR_cc_get(MPIDIG_PART_REQUEST(req, u.send).ready_cntr) > 1;
}

static void describe_partitioned(struct waits_record *r, struct waits_request *q,
                                 MPIR_Request * req)
{
    bool is_send = req->kind == MPIR_REQUEST_KIND__PART_SEND;
    int peer = is_send ? MPIDI_PART_REQUEST(req, u.send.dest) :
        MPIDI_PART_REQUEST(req, u.recv.source);

    q->kind = is_send ? WAITS_PSEND : WAITS_PRECV;
    q->comm = add_comm(r, req->comm, req->comm->recvcontext_id);
    q->peer = world_rank(req->comm, peer);
    if (is_send && lacks_partitions(req))
        q->peer = MPIDI_faultloc_page.slot.many_threads ? FTREE_NONE : MPIR_Process.rank;
}

/* ---- collectives ----------------------------------------------------------------------------- */

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
 * MPI_Win_fence and MPI_Win_free have a barrier, whatever they are told.  In MPI_Scatterv a rank
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

/* The n-th operation on a communicator, if it is one of the last two, of which all is known:
 * whether it is what this rank cannot go on without, and whose part. */
static bool describe_collective(struct waits_record *r, struct waits_request *q, MPIR_Comm * comm,
                                uint32_t number)
{
    int8_t at = add_comm(r, comm, comm->recvcontext_id);
    const struct waits_collective *what =
        at == FTREE_NONE ? NULL : ftree_waits_collective(&r->comm[at], number);
    enum need need = what ? need_of(what->call) : NEEDS_UNKNOWN;
    bool is_root = what && what->root == comm->rank;

    *q = (struct waits_request) {.kind = WAITS_COLLECTIVE,.comm = at,.peer = FTREE_NONE };
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || need == NEEDS_UNKNOWN ||
        (need == NEEDS_ROOT && is_root) || (need == ROOT_NEEDS_ALL && !is_root))
        return false;
    if (need == NEEDS_ROOT)
        q->peer = world_rank(comm, what->root);
    q->number = need == NEEDS_ROOT && q->peer == FTREE_NONE ? 0 : number;
    return q->number > 0;
}

static bool has_many_threads(void)
{
    return MPIDI_faultloc_page.slot.many_threads;
}

/* In MPI_Finalize there is one again. */
static bool is_one_of_many(void)
{
    return has_many_threads() && MPIDI_faultloc_page.slot.state == FAULTLOC_SLOT_RUNNING;
}

/* The blocking operation that a thread waits in: the last of the communicator in whose context for
 * collectives its request is. */
static MPIR_Comm *collective_of_thread(const struct MPIDI_faultloc_wait *w)
{
    MPIR_Request *req = w->mode == WAITS_FOR_ALL && w->n > 0 ? pending(w->reqs[0]) : NULL;
    bool is_send = req && req->kind == MPIR_REQUEST_KIND__SEND;
    struct waits_collective last = { 0 };
    MPIR_Comm *comm = NULL;

    if (req && (is_send || req->kind == MPIR_REQUEST_KIND__RECV) &&
        (context_of(req) & MPIR_CONTEXT_INTRA_COLL))
        comm = find_comm(context_of(req), is_send);
    if (comm)
        MPIDI_faultloc_last_collective(comm, &last);
    return last.blocking ? comm : NULL;
}

/* The blocking operation that this rank is in, if any, beside what it waits for inside. */
static struct waits_request *add_collective(struct waits_record *r,
                                            const struct MPIDI_faultloc_wait *w)
{
    MPIR_Comm *comm = has_many_threads() ? collective_of_thread(w) : MPIDI_faultloc_collective_now();
    struct waits_request *q = &r->request[r->requests];
    struct waits_collective last;

    if (!comm)
        return NULL;
    MPIDI_faultloc_last_collective(comm, &last);
    r->call = last.call;
    if (!describe_collective(r, q, comm, last.begun))
        return NULL;
    r->requests++;
    return q;
}

/* ---- one-sided communication ----------------------------------------------------------------- */

/* A lock, as waits.h has it; FTREE_NONE: there is no room.  Who holds it, or waits, is at
 * `begun`. */
static int8_t add_lock(struct waits_record *r, const struct MPIDI_faultloc_lock *lock, uint32_t kind,
                       uint32_t begun)
{
    MPIR_Comm *comm = lock->win->comm_ptr;
    struct waits_comm *c = &r->comm[r->comms];
    struct waits_key key = {.context = comm->recvcontext_id | kind };
    int8_t place;

    key.first = kind == WAITS_LOCK_OF_ONE ? lock->target : world_rank(comm, 0);
    place = place_of_comm(r, key.context, key.first);
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

static void add_locks_held(struct waits_record *r)
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

static void add_onesided(struct waits_record *r)
{
    int32_t rank[WAITS_REQUESTS_MAX];
    bool must_act;
    MPIR_Comm *comm;
    enum waits_mode mode = WAITS_FOR_ALL;
    int n = MPIDI_faultloc_rma_peers(r->call, &comm, rank, WAITS_REQUESTS_MAX, &must_act, &mode);
    int8_t at = comm ? add_comm(r, comm, comm->recvcontext_id) : FTREE_NONE;

    add_lock_awaited(r);
    r->more |= n > WAITS_REQUESTS_MAX - r->requests || n == WAITS_REQUESTS_MAX;
    for (int i = 0; i < n && r->requests < WAITS_REQUESTS_MAX; i++)
        r->request[r->requests++] = (struct waits_request) {
            .kind = must_act ? WAITS_RMA : WAITS_TARGET,.comm = at,.peer = rank[i]};
    if (n > 0 && mode == WAITS_FOR_ONE)
        r->mode = WAITS_FOR_ONE;
}

/* ---- requests of any kind -------------------------------------------------------------------- */

static void describe(struct waits_record *r, struct waits_request *q, MPIR_Request * req)
{
    MPIR_Comm *comm;
    uint32_t number;

    *q = (struct waits_request) {.kind = WAITS_OTHER,.comm = FTREE_NONE,.peer = FTREE_NONE };
    switch (req->kind) {
        case MPIR_REQUEST_KIND__SEND:
        case MPIR_REQUEST_KIND__RECV:
            if (req->comm && MPIDI_is_self_comm(req->comm))
                describe_self(r, q, req);
            else
                describe_message(r, q, req);
            break;
        case MPIR_REQUEST_KIND__COLL:
        case MPIR_REQUEST_KIND__PREQUEST_COLL:
            q->kind = WAITS_COLLECTIVE;
            comm = MPIDI_faultloc_collective_of(req, &number);
            if (comm)
                describe_collective(r, q, comm, number);
            break;
        case MPIR_REQUEST_KIND__RMA:
            q->kind = WAITS_RMA;
            break;
        case MPIR_REQUEST_KIND__PART_SEND:
        case MPIR_REQUEST_KIND__PART_RECV:
            describe_partitioned(r, q, req);
            break;
        default:
            break;
    }
}

/* ---- inside a schedule ----------------------------------------------------------------------- */

/* The schedules of a communicator that are under way, and the messages that they wait for. */
struct inside {
    struct waits_record *r;
    MPIR_Comm *comm;
    int schedules;
    int32_t found;
};

static void count_schedules(MPIR_Request * req, void *arg)
{
    struct inside *in = arg;

    in->schedules += req->kind == MPIR_REQUEST_KIND__COLL &&
        MPIDI_REQUEST(req, faultloc_peer) == (void *) in->comm;
}

/* The operation may be done in parts, among the ranks of a node and among the nodes. */
static bool is_inside(const MPIR_Comm * comm, MPIR_Request * req)
{
    const MPIR_Comm *part[] = { comm, comm->node_comm, comm->node_roots_comm };
    uint32_t context = context_of(req);

    if ((req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV) ||
        (req->comm && MPIDI_is_self_comm(req->comm)) || MPIDI_faultloc_is_am(req) ||
        (context & MPIR_CONTEXT_SUFFIX_MASK) == 0)
        return false;
    for (int i = 0; i < 3; i++)
        if (part[i] && is_comm_of(part[i], context, req->kind == MPIR_REQUEST_KIND__SEND))
            return true;
    return false;
}

static void add_inside(MPIR_Request * req, void *arg)
{
    struct inside *in = arg;

    if (!is_inside(in->comm, req))
        return;
    if (in->r->requests == WAITS_REQUESTS_MAX)
        in->r->more = true;
    else
        describe_message(in->r, &in->r->request[in->r->requests++], req);
    in->found++;
}

/* Where positions do not tell whom an operation needs, the messages that its schedule waits for do:
 * all of them must end.  They are told apart from those of other operations only where there are no
 * others on the communicator.  The last request gives way to them. */
static void look_inside(struct waits_record *r, MPIR_Request * req)
{
    uint32_t number;
    struct inside in = {.r = r,.comm = MPIDI_faultloc_collective_of(req, &number) };
    struct waits_request whole = r->request[r->requests - 1];

    if (!in.comm || MPIDI_faultloc_page.slot.many_threads)
        return;
    MPIDI_faultloc_each_pending(count_schedules, &in);
    if (in.schedules != 1)
        return;
    r->requests--;
    MPIDI_faultloc_each_pending(add_inside, &in);
    if (in.found == 0)
        r->request[r->requests++] = whole;
}

/* ---- the wait -------------------------------------------------------------------------------- */

/* Two messages of the same kind with the same peer. */
static bool are_alike(const MPIR_Request * a, const MPIR_Request * b)
{
    return a->kind == b->kind && MPIDI_REQUEST(a, faultloc_peer) == MPIDI_REQUEST(b, faultloc_peer) &&
        (a->kind == MPIR_REQUEST_KIND__SEND || a->kind == MPIR_REQUEST_KIND__RECV);
}

static bool is_among(MPIR_Request * req, MPIR_Request ** chosen, int n, bool or_alike)
{
    for (int i = 0; i < n; i++)
        if (chosen[i] == req || (or_alike && are_alike(chosen[i], req)))
            return true;
    return false;
}

/* Of more requests than there is room for, those with different peers. */
static int choose(const struct MPIDI_faultloc_wait *w, MPIR_Request ** chosen)
{
    int n = 0;

    for (int again = 0; again < 2; again++)
        for (int i = 0; i < w->n && n < WAITS_REQUESTS_MAX; i++) {
            MPIR_Request *req = pending(w->reqs[i]);

            if (req && !is_among(req, chosen, n, again == 0))
                chosen[n++] = req;
        }
    return n;
}

static int count_pending(const struct MPIDI_faultloc_wait *w)
{
    int n = 0;

    for (int i = 0; i < w->n; i++)
        n += pending(w->reqs[i]) != NULL;
    return n;
}

static void add_probe(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    struct waits_request *q = &r->request[r->requests++];

    *q = (struct waits_request) {.kind = WAITS_PROBE};
    q->comm = add_comm(r, w->comm, w->comm->recvcontext_id + (uint32_t) w->context_offset);
    q->peer = w->source == MPI_ANY_SOURCE ? WAITS_ANY : world_rank(w->comm, w->source);
    q->tag = w->tag == MPI_ANY_TAG ? WAITS_ANY : w->tag;
}

static void add_request(struct waits_record *r, const struct MPIDI_faultloc_wait *w,
                        MPIR_Request * req)
{
    struct waits_request *q = &r->request[r->requests++];

    describe(r, q, req);
    if (q->kind == WAITS_COLLECTIVE && q->number == 0 && w->mode == WAITS_FOR_ALL)
        look_inside(r, req);
}

static void add_requests(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    const struct waits_request *collective = add_collective(r, w);
    MPIR_Request *chosen[WAITS_REQUESTS_MAX];
    int n = choose(w, chosen), told = 0;

    /* An operation that needs all members lacks those who have not begun it, and nobody else; whom
     * it happens to receive from is how it is done. */
    if (collective && collective->peer == FTREE_NONE && need_of(r->call) != NEEDS_ALL_AND_MORE)
        return;
    for (; told < n && r->requests < WAITS_REQUESTS_MAX; told++)
        add_request(r, w, chosen[told]);
    r->more |= count_pending(w) > told;
    if (w->comm)
        add_probe(r, w);
    if (r->requests == 0 && !has_many_threads())
        add_onesided(r);
}

/* Communicators that this rank has freed, those of windows among them: others may still wait in
 * one. Of a larger one noting the members would cost more than a communicator may. */
#define FREED_MEMBERS_MAX 4096

static struct {
    uint32_t count;
    struct waits_comm comm[WAITS_COMMS_MAX];
} freed;

void MPIDI_faultloc_keep_comm(MPIR_Comm * comm)
{
    struct waits_comm *c = &freed.comm[freed.count % WAITS_COMMS_MAX];

    if (comm->remote_size > FREED_MEMBERS_MAX || !describe_comm(c, comm, comm->recvcontext_id))
        memset(c, 0, sizeof(*c));
    freed.count++;
}

/* The last one first: it may have had the context of one before. */
static void add_freed_comms(struct waits_record *r)
{
    for (uint32_t i = 1; i <= WAITS_COMMS_MAX && r->comms < WAITS_COMMS_MAX; i++) {
        const struct waits_comm *c = &freed.comm[(freed.count - i) % WAITS_COMMS_MAX];

        if (c->runs > 0 && place_of_comm(r, c->key.context, c->key.first) == FTREE_NONE)
            r->comm[r->comms++] = *c;
    }
}

/* Communicators of which nothing is waited for: how far this rank has come there, perhaps not to
 * the first collective, is what others wait for.  Those freed are told where all others are, one of
 * which may have the context of one freed. */
static void add_other_comms(struct waits_record *r)
{
    MPIR_Comm *comm[WAITS_COMMS_MAX];
    int n = MPIDI_faultloc_comms(comm, WAITS_COMMS_MAX);
    bool all = n < WAITS_COMMS_MAX;

    for (int i = 0; i < n; i++)
        if (add_comm(r, comm[i], comm[i]->recvcontext_id) == FTREE_NONE)
            all = false;
    if (all)
        add_freed_comms(r);
}

/* What ends adds to it, and so does what begins; a call that asked in vain does not. */
static uint64_t stamp(void)
{
    const struct faultloc_page *page = &MPIDI_faultloc_page.page;

    return (page->slot.call >> FAULTLOC_CALL_BITS) - page->slot.polls +
        page->ring.count / FAULTLOC_RING_STEP;
}

static enum waits_state state_of(const struct waits_record *r)
{
    switch (MPIDI_faultloc_page.slot.state) {
        case FAULTLOC_SLOT_FINALIZING:
            return WAITS_FINALIZING;
        case FAULTLOC_SLOT_LEFT:
        case FAULTLOC_SLOT_VICTIM:
            return WAITS_FINALIZED;
        default:
            if (r->mode != WAITS_FOR_NONE)
                return WAITS_WAITING;
            return r->call ? WAITS_INSIDE : WAITS_OUTSIDE;
    }
}

/* What it waits for, and no more. */
static void fill_requests(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    memset(r, 0, sizeof(*r));
    r->rank = MPIR_Process.rank;
    r->call = is_one_of_many() ? w->call :
        (uint32_t) (MPIDI_faultloc_page.slot.call & FAULTLOC_CALL_MASK);
    r->mode = (uint8_t) w->mode;
    r->polls = w->polls;
    add_requests(r, w);
    if (r->mode == WAITS_FOR_NONE && r->requests > 0)
        r->mode = WAITS_FOR_ALL;
}

static void fill_rest(struct waits_record *r)
{
    r->state = (uint8_t) state_of(r);
    if (!has_many_threads())
        add_locks_held(r);
    if (!is_one_of_many())
        add_other_comms(r);
}

static void fill_record(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    fill_requests(r, w);
    r->stamp = stamp() - (uint64_t) count_pending(w);
    fill_rest(r);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void add_exchange(struct waits_page *page, int32_t peer)
{
    const struct MPIDI_faultloc_sums *row = &MPIDI_faultloc_sums.row[peer];

    page->exchange[page->exchanges++] = (struct waits_exchange) {
        .peer = peer,
        .sent = {.count = row->sent,.sum = row->sent_sum},
        .received = {.count = row->received,.sum = row->received_sum}
    };
}

/* The ranks whose messages are wanted; none: those of all. */
struct wanted {
    const int32_t *rank;
    int32_t n;
};

static bool is_wanted(const struct wanted *with, int32_t peer)
{
    for (int32_t i = 0; i < with->n; i++)
        if (with->rank[i] == peer)
            return true;
    return peer == WAITS_ANY || with->n == 0;
}

/* Of all, those there were any with. */
static void fill_exchanges(struct waits_page *page, const struct wanted *with)
{
    page->exchanges = 0;
    if (!MPIDI_FAULTLOC_COUNTS)
        return;
    for (int32_t i = 0; i < with->n; i++)
        if (with->rank[i] >= 0 && with->rank[i] < MPIR_Process.size)
            add_exchange(page, with->rank[i]);
    for (int32_t i = 0; !with->n && i < MPIR_Process.size && page->exchanges < WAITS_PEERS_MAX; i++)
        if (MPIR_Process.size <= WAITS_PEERS_MAX || MPIDI_faultloc_sums.row[i].sent ||
            MPIDI_faultloc_sums.row[i].received)
            add_exchange(page, i);
}

struct posted {
    struct waits_page *page;
    const struct wanted *with;
};

/* Receives that are the same are one row. */
static void add_posted(MPIR_Request * req, void *arg)
{
    struct posted *p = arg;
    struct waits_page *page = p->page;
    int32_t tag = MPIDI_REQUEST(req, faultloc_tag);
    struct waits_flow flow = {.kind = WAITS_POSTED,.context = context_of(req),.count = 1 };

    if (req->kind != MPIR_REQUEST_KIND__RECV || (req->comm && MPIDI_is_self_comm(req->comm)))
        return;
    flow.peer = peer_of(req);
    flow.tag = tag == MPI_ANY_TAG ? WAITS_ANY : tag;
    if (flow.peer == FTREE_NONE || !is_wanted(p->with, flow.peer))
        return;
    for (int32_t i = 0; i < page->posted; i++)
        if (page->post[i].peer == flow.peer && page->post[i].tag == flow.tag &&
            page->post[i].context == flow.context) {
            page->post[i].count++;
            return;
        }
    if (page->posted < WAITS_FLOWS_MAX)
        page->post[page->posted++] = flow;
    else
        page->posted_more = true;
}

static void fill_posted(struct waits_page *page, const struct wanted *with)
{
    struct posted p = {.page = page,.with = with };

    page->posted = 0;
    page->posted_more = !MPIDI_FAULTLOC_COUNTS;
    if (MPIDI_FAULTLOC_COUNTS)
        MPIDI_faultloc_each_pending(add_posted, &p);
}

/* The ring's i-th message from the end, if it was sent to a rank of the world. */
static bool read_sent(uint32_t i, struct waits_flow *flow)
{
    const struct faultloc_message *m = message_at(i, FAULTLOC_RING_SEND);
    MPIR_Comm *comm = m ? find_comm(m->context, true) : NULL;

    if (!comm)
        return false;
    *flow = (struct waits_flow) {.kind = WAITS_SENT,.peer = world_rank(comm, m->peer),
        .tag = m->tag,.context = m->context,.count = 1
    };
    return flow->peer != FTREE_NONE;
}

static void fill_sent(struct waits_page *page, const struct wanted *with)
{
    page->last = 0;
    for (uint32_t i = 0; i < FAULTLOC_RING_ENTRIES; i++)
        if (read_sent(i, &page->sent[page->last]) &&
            is_wanted(with, page->sent[page->last].peer))
            page->last++;
}

/* ---- threads --------------------------------------------------------------------------------- */

/*
 * Threads that wait are on a list while others have MPICH's global lock, and stay as they are until
 * they have it again.  So the one that holds it, at a turn of its own wait, can tell of all of them
 * at once.  A thread that polls tells for itself, and that holds as long as no call begins or ends
 * in any thread, but for those in vain, no message begins, and no receive ends.  Then it rests on
 * the list, for it would take the lock again before those that have not told get it.  All other
 * threads of the process must sleep until one of these wakes them, or it is said that there is one
 * more; but for MPICH's own progress thread, which has nothing of the program's to do.
 *
 * The slot's word of the call has the sum of what the threads are in.  Under the lock all of them
 * are on the list but the one that holds it: what is left of the sum is its own call.
 */
static struct MPIDI_faultloc_wait *waiting;
static uint32_t calls;          /* the sum of those on the list, */
static uint64_t ends;           /* and of what the ends of those in vain will add */

static struct {
    uint32_t asked;             /* the number of the question, */
    ftree_time since;           /* and when it was seen first */
    bool runs;                  /* a thread has gone on since */
    uint64_t moment;
    uint64_t switches;          /* of the threads that sleep */
    ftree_time again;           /* when it is tried next */
    bool rests;                 /* others are to get the lock before */
    bool others;                /* there are threads that do not tell, and may do anything */
    bool varies;                /* one that polls does not always ask for the same */
    int n;
    /* Ascending, so that each is at the same place next time. */
    struct teller {
        pid_t thread;
        uint64_t poll;          /* what it asked for, if it polls, */
        bool twice;             /* and that more than once, with nothing else between */
        struct waits_record record;
    } by[WAITS_THREADS_MAX];
} told;

static pid_t progress_thread;   /* MPICH's own, which has nothing of the program's to do; 0: none */
static pid_t ucx_thread;        /* in which UCX waits for events, likewise */

static pid_t own_thread(void)
{
    static _Thread_local pid_t thread;

    if (!thread)
        thread = (pid_t) syscall(SYS_gettid);
    return thread;
}

void MPIDI_faultloc_progress_thread(void)
{
    progress_thread = own_thread();
}

void MPIDI_faultloc_begin_waits(void)
{
    ucx_thread = faultloc_proc_thread(NULL, getpid(), "async");
}

/* What a turn asks for, as long as nothing ends or begins. */
static uint64_t poll_of(const struct MPIDI_faultloc_wait *w)
{
    uint64_t poll = (uint64_t) w->mode + 1;

    for (int i = 0; i < w->n; i++)
        poll = MPIDI_faultloc_mark(poll ^ (uintptr_t) pending(w->reqs[i]));
    poll = MPIDI_faultloc_mark(poll ^ (uintptr_t) w->comm);
    if (w->comm)
        poll = MPIDI_faultloc_mark(poll ^ FAULTLOC_KEY(w->context_offset, w->tag) ^
                              (uint64_t) (uint32_t) w->source << 32);
    return MPIDI_faultloc_mark(poll ^ (uintptr_t) MPIDI_faultloc_rma.window);
}

/* It only grows, but for calls that ask in vain. */
uint64_t MPIDI_faultloc_moment(void)
{
    const struct faultloc_page *page = &MPIDI_faultloc_page.page;

    return page->slot.call - (page->slot.polls << FAULTLOC_CALL_BITS) +
        page->ring.count / FAULTLOC_RING_STEP + MPIDI_faultloc_sums.received + ends;
}

/* Calls in vain count as if they had ended. */
static uint64_t end_of(const struct MPIDI_faultloc_wait *w)
{
    return w->polls ? (1u << FAULTLOC_CALL_BITS) - (uint64_t) w->call : 0;
}

static void identify(struct MPIDI_faultloc_wait *w)
{
    w->thread = own_thread();
    w->call = (uint32_t) (MPIDI_faultloc_page.slot.call - calls) & FAULTLOC_CALL_MASK;
}

static void put_in(struct MPIDI_faultloc_wait *w)
{
    identify(w);
    calls += w->call;
    ends += end_of(w);
    w->next = waiting;
    w->at = &waiting;
    if (waiting)
        waiting->at = &w->next;
    waiting = w;
}

static void take_out(struct MPIDI_faultloc_wait *w)
{
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    calls -= w->call;
    ends -= end_of(w);
}

/* The lock is not fair: one that has just let it go takes it again before a thread that waits for
 * it is awake, perhaps for seconds.  So one rests now and then as long as a question is open. */
void MPIDI_faultloc_yield(struct MPIDI_faultloc_wait *wait)
{
    static const struct timespec rest = {.tv_nsec = REST_NS };

    if (!MPIDI_FAULTLOC_LETS_OTHERS)
        return;
    put_in(wait);
    if (told.rests) {
        told.rests = false;
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        nanosleep(&rest, NULL);
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    } else {
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
    take_out(wait);
}

/* The calling thread's place; FTREE_NONE: there are too many. */
static int place_of_thread(pid_t thread)
{
    int i = 0;

    while (i < told.n && told.by[i].thread < thread)
        i++;
    if (i < told.n && told.by[i].thread == thread)
        return i;
    if (told.n == WAITS_THREADS_MAX)
        return FTREE_NONE;
    memmove(&told.by[i + 1], &told.by[i], (size_t) (told.n - i) * sizeof(told.by[0]));
    told.n++;
    told.by[i].thread = thread;
    told.by[i].poll = 0;
    told.by[i].twice = false;
    return i;
}

/* Another thread's progress may have ended what a thread on the list waits for. */
static bool goes_on(const struct MPIDI_faultloc_wait *w)
{
    int active = 0, left = count_pending(w);

    for (int i = 0; i < w->n; i++)
        active += w->reqs[i] && MPIR_Request_is_active(w->reqs[i]);
    return !w->comm && (left == 0 || (w->mode == WAITS_FOR_ONE && left < active));
}

/* False: it is not known what it waits for, or it goes on. */
static bool tell_thread(const struct MPIDI_faultloc_wait *w)
{
    int i = w->mode == WAITS_FOR_NONE || goes_on(w) ? FTREE_NONE : place_of_thread(w->thread);

    if (i == FTREE_NONE)
        return false;
    fill_record(&told.by[i].record, w);
    told.by[i].record.stamp = told.moment - (uint64_t) count_pending(w);
    return true;
}

/* What was told at another moment, and of those that wait in any case. */
static void forget_old(uint64_t moment)
{
    int n = 0;

    told.runs |= told.n > 0 && told.moment != moment;
    for (int i = 0; i < told.n && told.moment == moment; i++)
        if (told.by[i].record.polls)
            told.by[n++] = told.by[i];
    told.varies = told.varies && told.moment == moment;
    told.n = n;
    told.moment = moment;
}

static int count_certain(void)
{
    int n = 0;

    for (int i = 0; i < told.n; i++)
        n += !told.by[i].record.polls || told.by[i].twice;
    return n;
}

static bool tell_waiting(const struct MPIDI_faultloc_wait *own)
{
    bool all = own->polls || tell_thread(own);

    for (const struct MPIDI_faultloc_wait *w = waiting; w; w = w->next)
        all = tell_thread(w) && all;
    return all;
}

/* True: it is known now what it asks for again and again, and was not before, at this moment. */
static bool tell_poll(const struct MPIDI_faultloc_wait *w)
{
    uint64_t poll = poll_of(w);
    struct teller *t;
    bool before;

    if (!w->polls || !tell_thread(w))
        return false;
    t = &told.by[place_of_thread(w->thread)];
    before = t->twice;
    told.varies |= t->poll && t->poll != poll;
    t->twice = t->poll == poll;
    t->poll = poll;
    return t->twice && !before;
}

/* Those that have told, and those of MPICH and UCX, need not. */
static bool others_sleep(void)
{
    pid_t known[WAITS_THREADS_MAX + 2] = { progress_thread, ucx_thread };

    for (int i = 0; i < told.n; i++)
        known[2 + i] = told.by[i].thread;
    return faultloc_proc_others_sleep(NULL, getpid(), known, told.n + 2,
                                      &MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX,
                                      sizeof(MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX), &told.switches);
}

/* All is looked at when another thread that polls has told, and now and then: one that is about to
 * sleep, or to begin a call, runs for a while. */
static bool all_have_told(struct MPIDI_faultloc_wait *wait)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
    ftree_time now = faultloc_now();

    identify(wait);
    forget_old(MPIDI_faultloc_moment() + end_of(wait));
    if (!tell_poll(wait) && now < told.again)
        return false;
    told.again = now + AGAIN_NS;
    told.rests = !tell_waiting(wait) || told.n == 0 || count_certain() < told.n || told.varies ||
        !others_sleep();
    return !told.rests;
#else
    return false;
#endif
}

/* One that polls may do anything until the next look. */
static void forget_told(void)
{
    told.n = 0;
    told.again = 0;
    told.varies = false;
}

static bool is_named(const struct waits_page *page, MPIR_Comm * comm)
{
    int32_t first = world_rank(comm, 0);

    for (int32_t i = 0; i < page->records; i++)
        if (place_of_comm(&page->record[i], comm->recvcontext_id, first) != FTREE_NONE)
            return true;
    return false;
}

/* As add_other_comms(): each finds room in the record of any thread. */
static void spread_other_comms(struct waits_page *page)
{
    MPIR_Comm *comm[WAITS_THREADS_MAX * WAITS_COMMS_MAX];
    int n = MPIDI_faultloc_comms(comm, WAITS_THREADS_MAX * WAITS_COMMS_MAX);
    struct waits_record *r = page->record, *end = r + page->records;

    for (int i = 0; i < n && r < end; i++) {
        if (!is_named(page, comm[i]))
            (void) add_comm(r, comm[i], comm[i]->recvcontext_id);
        while (r < end && r->comms == WAITS_COMMS_MAX)
            r++;
    }
}

static int32_t copy_told(struct waits_page *page)
{
    for (int i = 0; i < told.n; i++) {
        page->record[i] = told.by[i].record;
        page->record[i].thread = (uint8_t) i;
        page->record[i].threads = (uint8_t) (told.n + told.others);
        page->record[i].stamp += told.others ? 0 : told.switches;
        page->record[i].sleepers = !told.others && told.switches > 0;
    }
    return told.n;
}

/* ---- polls ----------------------------------------------------------------------------------- */

/*
 * A thread that polls may ask for several things in turn, and go on with any of them, so all that
 * its turns ask for is put together: it waits for one of them.  That is all of it once each was
 * seen twice.
 *
 * A thread that computes between its calls may come to the end of that, and then do what others
 * wait for: it is not certain that it waits.  The CPU time of its turns shows it, whoever else runs
 * on that CPU; that of a loop that does nothing but ask is the call's own.  Another thread of the
 * program, which calls nothing of MPI, may tell it to.  Where there may be several threads in MPI,
 * those that poll give way to each other instead (waits_for_threads()).
 */
static struct {
    uint32_t asked;             /* the number of the question, */
    ftree_time begun;           /* when the thread first came by with it, */
    ftree_time since;           /* since when nothing has ended or begun, */
    uint64_t stamp;
    ftree_time cpu;             /* the CPU time that the thread had used by then, */
    uint32_t turns;             /* and its turns since */
    uint64_t switches;          /* of the threads that sleep */
    bool works;                 /* it may do more than wait */
    int polls;                  /* how many different ones */
    uint64_t poll[WAITS_REQUESTS_MAX];
    bool twice[WAITS_REQUESTS_MAX];
    struct waits_record record; /* of more than one: all of them */
} measured;

static ftree_time cpu_time(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (1000 * FTREE_MS) + t.tv_nsec;
}

static bool only_asks(void)
{
    const pid_t known[] = { own_thread(), progress_thread, ucx_thread };

    return cpu_time() - measured.cpu <= measured.turns * (ftree_time) WORK_NS &&
        faultloc_proc_others_sleep(NULL, getpid(), known, 3, NULL, 0, &measured.switches);
}

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
    place = place_of_comm(r, of->comm[comm].key.context, of->comm[comm].key.first);
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

    fill_requests(&one, w);
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
    uint64_t poll = poll_of(w);
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

/* True: it is known what the turns ask for, or will not be. */
static bool is_measured(const struct MPIDI_faultloc_wait *w, uint32_t asked)
{
    ftree_time now = faultloc_now();
    bool known;

    if (measured.asked != asked)
        measured.begun = now;
    if (measured.asked != asked || measured.stamp != stamp()) {
        measured.asked = asked;
        measured.since = now;
        measured.cpu = cpu_time();
        measured.stamp = stamp();
        measured.turns = 0;
        measured.polls = 0;
    } else {
        measured.turns++;
    }
    note_poll(w);
    known = now - measured.since >= TURNS_NS && all_twice();
    if (!known && now - measured.begun < PATIENT_NS)
        return false;
    measured.works = !known || !only_asks();
    return true;
}

/* One thread more than there are records: nothing is claimed of a rank that may do more. */
static void tell_polls(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    if (measured.polls > 1) {
        *r = measured.record;
        r->stamp = stamp();
        fill_rest(r);
    } else {
        fill_record(r, w);
    }
    r->threads = measured.works ? 2 : 1;
    r->stamp += measured.works ? 0 : measured.switches;
}

/* ---- asked and answered ---------------------------------------------------------------------- */

static void begin_writing(struct faultloc_wait_area *area)
{
    area->writing++;
    atomic_thread_fence(memory_order_release);
}

static void end_writing(struct faultloc_wait_area *area, uint32_t asked)
{
    area->answered = asked;
    area->writing++;
}

static struct wanted wanted_by(const struct faultloc_wait_area *area)
{
    int32_t n = area->with_n;

    return (struct wanted) {area->with, n < 0 ? 0 : n < WAITS_PEERS_MAX ? n : WAITS_PEERS_MAX};
}

static void write_page(struct faultloc_wait_area *area, uint32_t asked, const struct wanted *with,
                       const struct MPIDI_faultloc_wait *wait)
{
    struct waits_page *page = &area->page;

    begin_writing(area);
    page->records = 1;
    if (is_one_of_many()) {
        page->records = copy_told(page);
        spread_other_comms(page);
    } else if (wait->polls && !has_many_threads()) {
        tell_polls(&page->record[0], wait);
    } else {
        fill_record(&page->record[0], wait);
    }
    fill_exchanges(page, with);
    fill_posted(page, with);
    fill_sent(page, with);
    end_writing(area, asked);
}

/* The next turn of a wait, in whichever thread, is one that answers. */
static void ask_next_turn(void)
{
    MPIDI_faultloc_asked = 1;
    MPIDI_faultloc_page.slot.spins |= 255;
}

/* How long the question has been open. */
static ftree_time open_for(uint32_t asked)
{
    ftree_time now = faultloc_now();

    if (told.asked != asked) {
        told.asked = asked;
        told.since = now;
        told.runs = false;
    }
    return now - told.since;
}

/* True: not all threads have told what they wait for, and they are given time. */
static bool waits_for_threads(struct MPIDI_faultloc_wait *wait, uint32_t asked)
{
    ftree_time since = open_for(asked);

    told.others = !all_have_told(wait);
    if (!told.others)
        return false;
    if (since > PATIENT_NS) {
        tell_waiting(wait);
        return false;
    }
    ask_next_turn();
    if (wait->polls && !told.runs && since <= RESTS_NS) {
        told.rests = true;
        MPIDI_faultloc_yield(wait);
    }
    return true;
}

void MPIDI_faultloc_answer(struct MPIDI_faultloc_wait *wait)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();
    uint32_t asked = area ? area->asked : 0;
    bool open = area && asked != area->answered;
    struct wanted with;

    if (open && wait->polls && !has_many_threads() && !is_measured(wait, asked)) {
        unanswered = 0;         /* this loop does note its wait */
        return;
    }
    if (open && has_many_threads() && waits_for_threads(wait, asked))
        return;
    MPIDI_faultloc_asked = 0;
    unanswered = 0;
    if (!open)
        return;
    with = wanted_by(area);
    write_page(area, asked, &with, wait);
    forget_told();
}

static bool is_overdue(uint32_t asked)
{
    return has_many_threads() ? open_for(asked) > PATIENT_NS : ++unanswered > PATIENT_TURNS;
}

void MPIDI_faultloc_take_question(void)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();
    struct MPIDI_faultloc_wait nothing = {.mode = WAITS_FOR_NONE };

    if (!area || area->asked == area->answered)
        return;
    if (is_overdue(area->asked)) {
        MPIDI_faultloc_answer(&nothing);
        return;
    }
    ask_next_turn();
    MPIDI_FAULTLOC_SET_NEWS();
}

/* The rank is in MPI_Finalize, its communicators are still there: from here on nothing changes. */
void MPIDI_faultloc_last_words(void)
{
    static const struct wanted all;
    const struct MPIDI_faultloc_wait nothing = {.mode = WAITS_FOR_NONE };
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();

    if (area)
        write_page(area, area->asked, &all, &nothing);
}

/* But for the ranks that the agent asks about. */
void MPIDI_faultloc_answer_at_end(void)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();
    uint32_t asked = area ? area->asked : 0;
    struct wanted with;

    if (!area || asked == area->answered)
        return;
    with = wanted_by(area);
    begin_writing(area);
    fill_exchanges(&area->page, &with);
    end_writing(area, asked);
}
