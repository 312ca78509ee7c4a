/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * What one wait is for: the record of this rank, or of one of its threads.
 */

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
                MPIDI_faultloc_describe_self(r, q, req);
            else
                MPIDI_faultloc_describe_message(r, q, req);
            break;
        case MPIR_REQUEST_KIND__COLL:
        case MPIR_REQUEST_KIND__PREQUEST_COLL:
            q->kind = WAITS_COLLECTIVE;
            comm = MPIDI_faultloc_collective_of(req, &number);
            if (comm)
                MPIDI_faultloc_describe_collective(r, q, comm, number);
            break;
        case MPIR_REQUEST_KIND__RMA:
            q->kind = WAITS_RMA;
            break;
        case MPIR_REQUEST_KIND__PART_SEND:
        case MPIR_REQUEST_KIND__PART_RECV:
            MPIDI_faultloc_describe_partitioned(r, q, req);
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
    uint32_t context = MPIDI_faultloc_context_of(req);

    if (!MPIDI_faultloc_is_message(req) || (context & MPIR_CONTEXT_SUFFIX_MASK) == 0)
        return false;
    for (int i = 0; i < 3; i++)
        if (part[i] &&
            MPIDI_faultloc_is_comm_of(part[i], context, req->kind == MPIR_REQUEST_KIND__SEND))
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
        MPIDI_faultloc_describe_message(in->r, &in->r->request[in->r->requests++], req);
    in->found++;
}

/* Where positions do not tell whom an operation needs, the messages that its schedule waits for do:
 * all of them must end.  They are distinguished from those of other operations only where there are
 * no others on the communicator.  The last request gives way to them. */
static void look_inside(struct waits_record *r, MPIR_Request * req)
{
    uint32_t number;
    struct inside in = {.r = r,.comm = MPIDI_faultloc_collective_of(req, &number) };
    struct waits_request whole = r->request[r->requests - 1];

    if (!in.comm || MPIDI_faultloc_has_many_threads())
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
    return a->kind == b->kind &&
        MPIDI_REQUEST(a, faultloc_peer) == MPIDI_REQUEST(b, faultloc_peer) &&
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
            MPIR_Request *req = MPIDI_faultloc_pending(w->reqs[i]);

            if (req && !is_among(req, chosen, n, again == 0))
                chosen[n++] = req;
        }
    return n;
}

int MPIDI_faultloc_count_pending(const struct MPIDI_faultloc_wait *w)
{
    int n = 0;

    for (int i = 0; i < w->n; i++)
        n += MPIDI_faultloc_pending(w->reqs[i]) != NULL;
    return n;
}

static void add_probe(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    struct waits_request *q = &r->request[r->requests++];

    *q = (struct waits_request) {.kind = WAITS_PROBE};
    q->comm = MPIDI_faultloc_add_comm(r, w->comm,
                                      w->comm->recvcontext_id + (uint32_t) w->context_offset);
    q->peer = w->source == MPI_ANY_SOURCE ? WAITS_ANY :
        MPIDI_faultloc_world_rank(w->comm, w->source);
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
    const struct waits_request *collective = MPIDI_faultloc_add_collective(r, w);
    MPIR_Request *chosen[WAITS_REQUESTS_MAX];
    int n = choose(w, chosen), i = 0;

    if (w->other)
        r->request[r->requests++] =
            (struct waits_request) {.kind = WAITS_OTHER,.comm = FTREE_NONE,.peer = FTREE_NONE };

    /* An operation that needs all members lacks those who have not begun it, and nobody else; whom
     * it happens to receive from is how it is done. */
    if (collective && collective->peer == FTREE_NONE && !MPIDI_faultloc_needs_more(r->call))
        return;
    for (; i < n && r->requests < WAITS_REQUESTS_MAX; i++)
        add_request(r, w, chosen[i]);
    r->more |= MPIDI_faultloc_count_pending(w) > i;
    if (w->comm)
        add_probe(r, w);
    if (r->requests == 0 && !MPIDI_faultloc_has_many_threads())
        MPIDI_faultloc_add_onesided(r);
}

uint64_t MPIDI_faultloc_poll_of(const struct MPIDI_faultloc_wait *w)
{
    uint64_t poll = (uint64_t) w->mode + 1;

    for (int i = 0; i < w->n; i++)
        poll = MPIDI_faultloc_mark(poll ^ (uintptr_t) MPIDI_faultloc_pending(w->reqs[i]));
    poll = MPIDI_faultloc_mark(poll ^ (uintptr_t) w->comm);
    if (w->comm)
        poll = MPIDI_faultloc_mark(poll ^ FAULTLOC_KEY(w->context_offset, w->tag) ^
                              (uint64_t) (uint32_t) w->source << 32);
    return MPIDI_faultloc_mark(poll ^ (uintptr_t) MPIDI_faultloc_rma.window);
}

uint64_t MPIDI_faultloc_stamp(void)
{
    const struct faultloc_page *page = &MPIDI_faultloc_page.page;

    return (MPIDI_FAULTLOC_CALL >> FAULTLOC_CALL_BITS) - page->slot.polls +
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

/* A thread that polls alone in MPI has not been identified: the slot's call is its own. */
void MPIDI_faultloc_fill_requests(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    memset(r, 0, sizeof(*r));
    r->rank = MPIR_Process.rank;
    r->call = MPIDI_faultloc_is_one_of_many() && w->thread ? w->call :
        (uint32_t) (MPIDI_FAULTLOC_CALL & FAULTLOC_CALL_MASK);
    r->mode = (uint8_t) w->mode;
    r->polls = w->polls;
    add_requests(r, w);
    if (r->mode == WAITS_FOR_NONE && r->requests > 0)
        r->mode = WAITS_FOR_ALL;
    if (w->polls && r->requests > 0)
        MPIDI_faultloc_add_stores(r);
}

void MPIDI_faultloc_fill_rest(struct waits_record *r)
{
    r->state = (uint8_t) state_of(r);
    if (!MPIDI_faultloc_has_many_threads())
        MPIDI_faultloc_add_locks_held(r);
    if (!MPIDI_faultloc_is_one_of_many())
        MPIDI_faultloc_add_other_comms(r);
}

void MPIDI_faultloc_fill_record(struct waits_record *r, const struct MPIDI_faultloc_wait *w)
{
    MPIDI_faultloc_fill_requests(r, w);
    r->sp = w->sp;
    r->pc = w->pc;
    r->stamp = MPIDI_faultloc_stamp() - (uint64_t) MPIDI_faultloc_count_pending(w);
    MPIDI_faultloc_fill_rest(r);
}
