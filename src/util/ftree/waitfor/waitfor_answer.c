/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/wire/codec.h"

#include <string.h>

/*
 * What one rank has said of itself, as the node that decides gets it: its records, and of its
 * messages those with the ranks that were asked about.  A page has 30 KiB, an answer as much as it
 * needs.
 */

/* ---- the print ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t print, uint64_t value)
{
    return ftree_topo_mix(print ^ value);
}

/* A rank that polls may ask for something else at each look; in any order. */
static uint64_t print_of_requests(const struct waits_record *r)
{
    uint64_t sum = 0;

    for (int32_t i = 0; i < r->requests; i++) {
        const struct waits_request *q = &r->request[i];
        uint64_t print = mix(q->comm >= 0 ? r->comm[q->comm].key.context : 0, q->kind);
        print = mix(print, (uint64_t) (uint32_t) q->peer << 32 | (uint32_t) q->tag);
        sum += mix(print, q->number);
    }
    return sum;
}

uint64_t waitfor_print(const struct waitfor_answer *a)
{
    uint64_t print = mix((uint64_t) a->rank + 1, a->seen);

    for (int32_t i = 0; i < a->records; i++) {
        const struct waits_record *r = &a->record[i];
        print = mix(print, (uint64_t) r->thread << 40 | (uint64_t) r->threads << 32 |
                               (uint64_t) r->state << 24 | (uint64_t) r->mode << 16);
        print = mix(mix(print, r->stamp), r->switches);
        print = mix(print, (uint64_t) ftree_waits_own_call(r) << 32 | (uint32_t) r->requests);
        print = mix(print, print_of_requests(r));
    }
    return print ? print : 1;
}

/* How many threads are recorded, and whether others may do more, depends on how often the rank gets
 * a CPU. */
uint64_t waitfor_progress(const struct waits_record *r, int32_t n)
{
    uint64_t most = 0;

    for (int32_t i = 0; i < n; i++)
        most = r[i].stamp > most ? r[i].stamp : most;
    return most;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void wire_exchanges(struct wire_codec *c, struct waits_exchange *x, int32_t *n)
{
    WIRE_WITHIN(c, *n, 0, WAITS_PEERS_MAX);
    for (int32_t i = 0; i < *n && !c->bad; i++, x++) {
        WIRE_WITHIN(c, x->peer, 0, c->job->size - 1);
        WIRE_PACKED(c, x->sent.count, UINT32_MAX);
        WIRE_PACKED(c, x->sent.sum, UINT64_MAX);
        WIRE_PACKED(c, x->received.count, UINT32_MAX);
        WIRE_PACKED(c, x->received.sum, UINT64_MAX);
    }
}

static void wire_flows(struct wire_codec *c, struct waits_flow *f, int32_t *n, int32_t most,
                       uint8_t kind)
{
    WIRE_WITHIN(c, *n, 0, most);
    for (int32_t i = 0; i < *n && !c->bad; i++) {
        f[i].kind = kind;
        WIRE_WITHIN(c, f[i].peer, WAITS_ANY, c->job->size - 1);
        WIRE_WITHIN(c, f[i].tag, INT32_MIN, INT32_MAX);
        WIRE_PACKED(c, f[i].context, UINT32_MAX);
        WIRE_PACKED(c, f[i].count, UINT32_MAX);
    }
}

/* How long they are is known only behind them. */
struct tables {
    struct waits_exchange exchange[WAITS_PEERS_MAX];
    struct waits_flow post[WAITS_FLOWS_MAX];
    struct waits_flow sent[WAITS_LAST_MAX];
};

static void wire_head(struct wire_codec *c, struct waitfor_answer *a, struct tables *t)
{
    bool since = a->since != 0;

    WIRE_WITHIN(c, a->rank, 0, c->job->size - 1);
    WIRE_NUMBER(c, a->seen, 1, WAITFOR_SEEN_COUNT);
    WIRE_NUMBER(c, since, 1, 2);
    if (since)
        ftree_wire_age(c, &a->since, 8, 1);
    WIRE_WITHIN(c, a->records, 0, WAITS_THREADS_MAX);
    c->bad |= a->seen == WAITFOR_READY && a->records == 0;
    if (a->records == 0 || c->bad)
        return;
    wire_exchanges(c, t->exchange, &a->exchanges);
    WIRE_NUMBER(c, a->posted_more, 1, 2);
    wire_flows(c, t->post, &a->posted, WAITS_FLOWS_MAX, WAITS_POSTED);
    wire_flows(c, t->sent, &a->last, WAITS_LAST_MAX, WAITS_SENT);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int32_t choose_flows(const struct waits_flow *flow, int32_t flows, const int32_t *with,
                            int32_t withs, struct waits_flow *out)
{
    int32_t n = 0;

    for (int32_t i = 0; i < flows; i++)
        if (flow[i].peer == WAITS_ANY || ftree_waits_is_listed(with, withs, flow[i].peer))
            out[n++] = flow[i];
    return n;
}

/* What was asked for. */
static void choose(const struct waits_page *page, const int32_t *with, int32_t withs,
                   struct waitfor_answer *a, struct tables *t)
{
    for (int32_t i = 0; i < page->exchanges; i++)
        if (ftree_waits_is_listed(with, withs, page->exchange[i].peer))
            t->exchange[a->exchanges++] = page->exchange[i];
    a->records = page->records;
    a->posted_more = page->posted_more;
    a->posted = choose_flows(page->post, page->posted, with, withs, t->post);
    a->last = choose_flows(page->sent, page->last, with, withs, t->sent);
}

bool waitfor_has_records(const struct ftree *ft, int32_t rank, const struct waits_page *page)
{
    if (page->records < 1 || page->records > WAITS_THREADS_MAX)
        return false;
    for (int32_t i = 0; i < page->records; i++)
        if (page->record[i].rank != rank || ftree_waits_record_check(ft->job, &page->record[i]))
            return false;
    return true;
}

bool waitfor_is_last_word(const struct ftree *ft, int32_t rank, const struct waits_page *page)
{
    return page && waitfor_has_records(ft, rank, page) &&
           (page->record[0].state == WAITS_FINALIZING || page->record[0].state == WAITS_FINALIZED);
}

/* What a rank wrote is its own business; what is sent is checked by the receiver. */
static bool is_sound(const struct ftree *ft, int32_t rank, const struct waits_page *page)
{
    return page->exchanges >= 0 && page->exchanges <= WAITS_PEERS_MAX && page->posted >= 0 &&
           page->posted <= WAITS_FLOWS_MAX && page->last >= 0 && page->last <= WAITS_LAST_MAX &&
           waitfor_has_records(ft, rank, page);
}

bool waitfor_answer_put(struct ftree *ft, ftree_time now, waitfor_bytes *out, int32_t rank,
                        enum waitfor_seen seen, ftree_time since, const struct waits_page *page,
                        const int32_t *with, int32_t withs)
{
    struct wire_codec c = ftree_wire_writer(ft, now, out);
    struct waitfor_answer a = {.rank = rank, .seen = (uint8_t) seen, .since = since};
    struct tables t;

    if (page && is_sound(ft, rank, page))
        choose(page, with, withs, &a, &t);
    else if (page && seen == WAITFOR_READY)
        a.seen = WAITFOR_UNABLE;
    wire_head(&c, &a, &t);
    for (int32_t i = 0; i < a.records; i++)
        ftree_waits_wire_record(&c, (struct waits_record *) (uintptr_t) &page->record[i]);
    return !c.nomem;
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct waitfor_answer *block(struct ftree *ft, const struct waitfor_answer *head,
                                    const struct tables *t)
{
    size_t record = (size_t) head->records * sizeof(*head->record),
           exchange = (size_t) head->exchanges * sizeof(*head->exchange),
           post = (size_t) head->posted * sizeof(*head->post),
           sent = (size_t) head->last * sizeof(*head->sent);
    struct waitfor_answer *a = ftree_alloc(ft, NULL, sizeof(*a) + record + exchange + post + sent);

    if (!a)
        return NULL;
    *a = *head;
    a->record = (struct waits_record *) (a + 1);
    a->exchange = (struct waits_exchange *) (a->record + a->records);
    a->post = (struct waits_flow *) (a->exchange + a->exchanges);
    a->sent = a->post + a->posted;
    memcpy(a->exchange, t->exchange, exchange);
    memcpy(a->post, t->post, post);
    memcpy(a->sent, t->sent, sent);
    return a;
}
_Static_assert(sizeof(struct waitfor_answer) % 8 == 0 && sizeof(struct waits_record) % 8 == 0 &&
                   sizeof(struct waits_exchange) % 8 == 0,
               "each table of a block is aligned");

struct waitfor_answer *waitfor_answer_get(struct ftree *ft, ftree_time now, const uint8_t *bytes,
                                          size_t len, size_t *at)
{
    struct wire_codec c = ftree_wire_reader(ft, now, bytes, len);
    struct waitfor_answer head = {0}, *a;
    struct tables t = {.exchange = {{.peer = 0}}};

    if (*at >= len)
        return NULL;
    c.at = *at;
    *at = 0;
    wire_head(&c, &head, &t);
    a = c.bad ? NULL : block(ft, &head, &t);
    for (int32_t i = 0; a && i < a->records; i++) {
        ftree_waits_wire_record(&c, &a->record[i]);
        c.bad |= a->record[i].rank != a->rank;
    }
    if (!c.bad && a)
        *at = c.at;
    else
        ftree_alloc(ft, a, 0);
    return c.bad ? NULL : a;
}
