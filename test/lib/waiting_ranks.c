/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "waiting_ranks.h"

#include "suite.h"

static const char *name_of(uint32_t call)
{
    static const char *const names[] = {
#define CALL_NAME(id, text) text,
        CALLS(CALL_NAME)
#undef CALL_NAME
    };

    return call < (uint32_t) COUNT(names) ? names[call] : "?";
}

/* ---- what a rank says ------------------------------------------------------------------------ */

static void fill_in(struct ranks *r, int32_t rank, const int32_t *with, int32_t n,
                    struct waits_page *page)
{
    const struct rank_model *m = &r->rank[rank];

    page->records = 1;
    page->record[0] = m->record;
    for (int32_t i = 0; i < n; i++)
        page->exchange[page->exchanges++] = (struct waits_exchange){
            .peer = with[i], .sent = m->sent[with[i]], .received = m->received[with[i]]};
    page->posted = m->posts;
    memcpy(page->post, m->post, sizeof(page->post));
    page->last = m->lasts;
    memcpy(page->sent, m->last, sizeof(page->sent));
}

static enum ftree_waits_look look(void *ctx, int32_t i, uint32_t number, const int32_t *with,
                                  int32_t n, const struct waits_page **out)
{
    static struct waits_page page;
    static uint32_t last[RANKS_MAX];
    static ftree_time since[RANKS_MAX];
    int32_t rank;
    struct world *w = world_at(ctx, i, &rank);
    struct ranks *r = w->ranks;

    if (number != last[rank])
        since[rank] = w->now;
    last[rank] = number;
    if (r->rank[rank].outside)
        return FTREE_WAITS_UNABLE;
    if (r->answers_after[rank] == FTREE_NEVER || w->now < since[rank] + r->answers_after[rank])
        return FTREE_WAITS_PENDING;
    r->asked[rank]++;
    if (r->moves_at[rank] == r->asked[rank] || r->moves_at[rank] == RANKS_MOVE_ALWAYS)
        r->rank[rank].record.stamp++;
    r->looks++;
    memset(&page, 0, sizeof(page));
    fill_in(r, rank, with, n, &page);
    *out = &page;
    return FTREE_WAITS_READY;
}

struct ranks *ranks_of(struct world *w)
{
    struct ranks *r = calloc(1, sizeof(*r));

    ck_assert_ptr_nonnull(r);
    ck_assert_int_le(w->job.size, RANKS_MAX);
    r->w = w;
    w->ranks = r;
    w->io.waits = look;
    w->io.call_name = name_of;
    for (int32_t i = 0; i < RANKS_MAX; i++)
        r->rank[i].outside = true;
    return r;
}

/* ---- waits ----------------------------------------------------------------------------------- */

void ranks_wait(struct ranks *r, int32_t rank, enum call call, enum waits_mode mode)
{
    struct rank_model *m = &r->rank[rank];

    m->outside = false;
    m->record = (struct waits_record){.rank = rank,
                                      .threads = 1,
                                      .state = WAITS_WAITING,
                                      .mode = (uint8_t) mode,
                                      .call = call,
                                      .stamp = m->record.stamp + 1};
    world_wait(r->w, rank, FTREE_NONE);
}

static struct waits_comm *comm_of(struct ranks *r, int32_t rank, uint32_t context, int8_t *index)
{
    struct waits_record *record = &r->rank[rank].record;
    struct waits_comm *c;
    int32_t i = 0;

    while (i < record->comms && record->comm[i].key.context != context)
        i++;
    *index = (int8_t) i;
    c = &record->comm[i];
    if (i < record->comms)
        return c;
    record->comms++;
    *c = (struct waits_comm){.key = {.context = context},
                             .size = r->w->job.size,
                             .runs = 1,
                             .run = {{0, 1, r->w->job.size}},
                             .last = {.root = -1, .bytes = WAITS_NO_BYTES}};
    snprintf(c->name, sizeof(c->name), context == WORLD_CONTEXT ? "MPI_COMM_WORLD" : "comm %u",
             (unsigned) context);
    return c;
}

static struct waits_request *add_request(struct ranks *r, int32_t rank, enum waits_kind kind,
                                         int32_t peer, int32_t tag, uint32_t context)
{
    struct waits_record *record = &r->rank[rank].record;
    struct waits_request *q = &record->request[record->requests++];

    *q = (struct waits_request){.kind = (uint8_t) kind, .peer = peer, .tag = tag};
    comm_of(r, rank, context, &q->comm);
    return q;
}

static void set_peer(struct ranks *r, int32_t rank, int32_t peer)
{
    r->w->rank[rank].peer = peer >= 0 ? peer : FTREE_NONE;
}

void ranks_recv(struct ranks *r, int32_t rank, int32_t from, int32_t tag, uint32_t context)
{
    struct rank_model *m = &r->rank[rank];

    add_request(r, rank, WAITS_RECV, from, tag, context);
    m->post[m->posts++] = (struct waits_flow){
        .kind = WAITS_POSTED, .peer = from, .tag = tag, .context = context, .count = 1};
    set_peer(r, rank, from);
}

void ranks_ssend(struct ranks *r, int32_t rank, int32_t to, int32_t tag, uint32_t context)
{
    add_request(r, rank, WAITS_SSEND, to, tag, context);
    ranks_sent(r, rank, to, tag, context);
    set_peer(r, rank, to);
}

void ranks_rma(struct ranks *r, int32_t rank, int32_t peer)
{
    add_request(r, rank, WAITS_RMA, peer, 0, WORLD_CONTEXT);
    set_peer(r, rank, peer);
}

static void set_last(struct waits_comm *c, struct waits_collective last)
{
    c->before = c->last.begun && c->last.begun + 1 == last.begun ? c->last
                                                                 : (struct waits_collective){0};
    c->last = last;
}

void ranks_collective(struct ranks *r, int32_t rank, uint32_t number, enum call call, int32_t root,
                      uint64_t bytes, uint32_t context)
{
    struct waits_request *q = add_request(r, rank, WAITS_COLLECTIVE, FTREE_NONE, 0, context);

    q->number = number;
    set_last(&r->rank[rank].record.comm[q->comm],
             (struct waits_collective){
                 .begun = number, .call = call, .root = root, .bytes = bytes, .blocking = true});
}

void ranks_begun(struct ranks *r, int32_t rank, uint32_t number, enum call call, uint32_t context)
{
    int8_t index;

    set_last(comm_of(r, rank, context, &index),
             (struct waits_collective){
                 .begun = number, .call = call, .root = -1, .bytes = WAITS_NO_BYTES,
                 .blocking = true});
}

void ranks_poll(struct ranks *r, int32_t rank)
{
    r->rank[rank].record.polls = true;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void count(struct waits_sum *s, int32_t tag, uint32_t context)
{
    s->count++;
    s->sum += ftree_waits_mark(context, tag);
}

void ranks_sent(struct ranks *r, int32_t from, int32_t to, int32_t tag, uint32_t context)
{
    struct rank_model *m = &r->rank[from];

    count(&m->sent[to], tag, context);
    if (m->lasts == WAITS_LAST_MAX)
        m->lasts--;
    memmove(m->last + 1, m->last, (size_t) m->lasts * sizeof(m->last[0]));
    m->lasts++;
    m->last[0] = (struct waits_flow){
        .kind = WAITS_SENT, .peer = to, .tag = tag, .context = context, .count = 1};
}

void ranks_received(struct ranks *r, int32_t from, int32_t to, int32_t tag, uint32_t context)
{
    ranks_sent(r, from, to, tag, context);
    count(&r->rank[to].received[from], tag, context);
}

void ranks_members(struct ranks *r, int32_t rank, uint32_t context, int32_t first, int32_t step,
                   int32_t n)
{
    int8_t index;
    struct waits_comm *c = comm_of(r, rank, context, &index);

    c->key.first = first;
    c->size = n;
    c->run[0] = (struct waits_run){first, step, n};
}

/* ---- the end of a wait ----------------------------------------------------------------------- */

void ranks_finalize(struct ranks *r, int32_t rank)
{
    r->w->rank[rank].phase = FTREE_PHASE_LEFT;
    r->w->wait_since[rank] = 0;
}

void ranks_last_word(struct ranks *r, int32_t rank)
{
    ranks_finalize(r, rank);
    r->rank[rank].outside = false;
    r->rank[rank].record =
        (struct waits_record){.rank = rank, .threads = 1, .state = WAITS_FINALIZING};
}

void ranks_go_on(struct ranks *r, int32_t rank)
{
    r->rank[rank].record.stamp++;
    r->rank[rank].outside = true;
    r->rank[rank].posts = 0;
    world_go_on(r->w, rank);
}
