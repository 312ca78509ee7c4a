/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * The messages with other ranks, received and sent, and those that are to come.
 *
 * The messages of each pair of ranks are counted (faultloc_sums.h), those received where UCX, OFI or
 * MPICH's shared memory has ended a receive; others have no such place, so nothing is said of them.
 */

static void add_exchange(struct waits_page *page, int32_t peer)
{
    const struct MPIDI_faultloc_sums *row = &MPIDI_faultloc_sums.row[peer];

    page->exchange[page->exchanges++] = (struct waits_exchange) {
        .peer = peer,
        .sent = {.count = row->sent,.sum = row->sent_sum},
        .received = {.count = row->received,.sum = row->received_sum}
    };
}

static bool is_wanted(const struct MPIDI_faultloc_wanted *with, int32_t peer)
{
    for (int32_t i = 0; i < with->n; i++)
        if (with->rank[i] == peer)
            return true;
    return peer == WAITS_ANY || with->n == 0;
}

void MPIDI_faultloc_fill_exchanges(struct waits_page *page,
                                   const struct MPIDI_faultloc_wanted *with)
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
    const struct MPIDI_faultloc_wanted *with;
};

/* Receives that are the same are one row. */
static void add_posted(MPIR_Request * req, void *arg)
{
    struct posted *p = arg;
    struct waits_page *page = p->page;
    int32_t tag = MPIDI_REQUEST(req, faultloc_tag);
    struct waits_flow flow = {
        .kind = WAITS_POSTED,.context = MPIDI_faultloc_context_of(req),.count = 1
    };

    if (req->kind != MPIR_REQUEST_KIND__RECV || !MPIDI_faultloc_is_message(req))
        return;
    flow.peer = MPIDI_faultloc_peer_of(req);
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

void MPIDI_faultloc_fill_posted(struct waits_page *page, const struct MPIDI_faultloc_wanted *with)
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
    const struct faultloc_message *m = MPIDI_faultloc_message_at(i, FAULTLOC_RING_SEND);
    MPIR_Comm *comm = m ? MPIDI_faultloc_find_comm(m->context, true) : NULL;

    if (!comm)
        return false;
    *flow = (struct waits_flow) {
        .kind = WAITS_SENT,.peer = MPIDI_faultloc_world_rank(comm, m->peer),
        .tag = m->tag,.context = m->context,.count = 1
    };
    return flow->peer != FTREE_NONE;
}

void MPIDI_faultloc_fill_sent(struct waits_page *page, const struct MPIDI_faultloc_wanted *with)
{
    page->last = 0;
    for (uint32_t i = 0; i < FAULTLOC_RING_ENTRIES; i++)
        if (read_sent(i, &page->sent[page->last]) &&
            is_wanted(with, page->sent[page->last].peer))
            page->last++;
}
