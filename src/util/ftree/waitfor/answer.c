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

/* Whoever polls may ask for something else at each look; in any order. */
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

/* How many threads are told of, and whether others may do more, depends on how often the rank gets
 * a CPU. */
uint64_t waitfor_progress(const struct waits_record *r, int32_t n)
{
    uint64_t most = 0;

    for (int32_t i = 0; i < n; i++)
        most = r[i].stamp > most ? r[i].stamp : most;
    return most;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_wanted(int32_t peer, const int32_t *with, int32_t withs)
{
    for (int32_t i = 0; i < withs; i++)
        if (with[i] == peer)
            return true;
    return false;
}

#define EXCHANGE_BYTES (5 + 2 * (5 + 10))
#define FLOW_BYTES (4 * 5)
#define PAGE_BYTES (4096) /* of all that is not a record */
_Static_assert(4 * 5 + WAITS_PEERS_MAX * EXCHANGE_BYTES +
                       (WAITS_FLOWS_MAX + WAITS_LAST_MAX) * FLOW_BYTES + 1 <=
                   2 * PAGE_BYTES,
               "what a page has of messages finds room");

static void put_exchange(struct wire_codec *c, const struct waits_exchange *x)
{
    ftree_put_signed(c, x->peer);
    ftree_put_number(c, x->sent.count);
    ftree_put_number(c, x->sent.sum);
    ftree_put_number(c, x->received.count);
    ftree_put_number(c, x->received.sum);
}

static void put_exchanges(struct wire_codec *c, const struct waits_page *page, const int32_t *with,
                          int32_t withs)
{
    int32_t n = 0;

    for (int32_t i = 0; i < page->exchanges; i++)
        n += is_wanted(page->exchange[i].peer, with, withs);
    ftree_put_signed(c, n);
    for (int32_t i = 0; i < page->exchanges; i++)
        if (is_wanted(page->exchange[i].peer, with, withs))
            put_exchange(c, &page->exchange[i]);
}

static bool flow_is_wanted(const struct waits_flow *f, const int32_t *with, int32_t withs)
{
    return f->peer == WAITS_ANY || is_wanted(f->peer, with, withs);
}

static void put_flows(struct wire_codec *c, const struct waits_flow *flow, int32_t flows,
                      const int32_t *with, int32_t withs)
{
    int32_t n = 0;

    for (int32_t i = 0; i < flows; i++)
        n += flow_is_wanted(&flow[i], with, withs);
    ftree_put_signed(c, n);
    for (int32_t i = 0; i < flows; i++) {
        if (!flow_is_wanted(&flow[i], with, withs))
            continue;
        ftree_put_signed(c, flow[i].peer);
        ftree_put_signed(c, flow[i].tag);
        ftree_put_number(c, flow[i].context);
        ftree_put_number(c, flow[i].count);
    }
}

static int32_t bounded(int32_t n, int32_t most)
{
    return n < 0 ? 0 : n > most ? most : n;
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

static bool put_page(struct ftree *ft, waitfor_bytes *out, const struct waits_page *page,
                     const int32_t *with, int32_t withs)
{
    uint8_t buf[2 * PAGE_BYTES];
    struct wire_codec c = {.p = buf};
    size_t len;

    put_exchanges(&c, page, with, withs);
    ftree_wire_number(&c, page->posted_more, 1, 0);
    put_flows(&c, page->post, bounded(page->posted, WAITS_FLOWS_MAX), with, withs);
    put_flows(&c, page->sent, bounded(page->last, WAITS_LAST_MAX), with, withs);
    if (!ftree_bytes_append(ft, out, buf, c.at))
        return false;
    for (int32_t i = 0; i < page->records; i++) {
        len = ftree_waits_record_put(&page->record[i], buf, 0, sizeof(buf));
        if (!ftree_bytes_append(ft, out, buf, len))
            return false;
    }
    return true;
}

bool waitfor_answer_put(struct ftree *ft, ftree_time now, waitfor_bytes *out, int32_t rank,
                        enum waitfor_seen seen, ftree_time since, const struct waits_page *page,
                        const int32_t *with, int32_t withs)
{
    uint8_t head[32];
    struct wire_codec c = {.p = head, .now = now};

    if (page && !is_sound(ft, rank, page)) {
        page = NULL;
        seen = seen == WAITFOR_READY ? WAITFOR_UNABLE : seen;
    }
    ftree_put_signed(&c, rank);
    ftree_wire_number(&c, seen, 1, 0);
    ftree_wire_number(&c, since != 0, 1, 0);
    if (since)
        ftree_wire_age(&c, &since, 8, 1);
    ftree_put_signed(&c, page ? page->records : 0);
    return ftree_bytes_append(ft, out, head, c.at) &&
           (!page || put_page(ft, out, page, with, withs));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The tables while they are read: how long they are is known only behind them. */
struct tables {
    struct waits_exchange exchange[WAITS_PEERS_MAX];
    struct waits_flow post[WAITS_FLOWS_MAX];
    struct waits_flow sent[WAITS_LAST_MAX];
};

static int32_t get_exchanges(struct wire_codec *c, struct waits_exchange *x)
{
    int32_t n = (int32_t) ftree_get_within(c, 0, WAITS_PEERS_MAX);

    for (int32_t i = 0; i < n && !c->bad; i++) {
        x[i].peer = (int32_t) ftree_get_within(c, 0, c->job->size - 1);
        x[i].sent.count = ftree_get_u32(c);
        x[i].sent.sum = ftree_get_number(c);
        x[i].received.count = ftree_get_u32(c);
        x[i].received.sum = ftree_get_number(c);
    }
    return n;
}

static int32_t get_flows(struct wire_codec *c, struct waits_flow *f, int32_t most, uint8_t kind)
{
    int32_t n = (int32_t) ftree_get_within(c, 0, most);

    for (int32_t i = 0; i < n && !c->bad; i++) {
        f[i].kind = kind;
        f[i].peer = (int32_t) ftree_get_within(c, WAITS_ANY, c->job->size - 1);
        f[i].tag = (int32_t) ftree_get_within(c, INT32_MIN, INT32_MAX);
        f[i].context = ftree_get_u32(c);
        f[i].count = ftree_get_u32(c);
    }
    return n;
}

static void get_head(struct wire_codec *c, struct waitfor_answer *a)
{
    a->rank = (int32_t) ftree_get_within(c, 0, c->job->size - 1);
    a->seen = (uint8_t) ftree_wire_number(c, 0, 1, WAITFOR_SEEN_COUNT);
    if (ftree_wire_number(c, 0, 1, 2))
        ftree_wire_age(c, &a->since, 8, 1);
    a->records = (int32_t) ftree_get_within(c, 0, WAITS_THREADS_MAX);
    c->bad |= a->seen == WAITFOR_READY && a->records == 0;
}

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

static bool get_records(struct wire_codec *c, struct waitfor_answer *a)
{
    size_t used;

    for (int32_t i = 0; i < a->records; i++) {
        if (ftree_waits_record_get(c->job, c->p + c->at, c->len - c->at, &a->record[i], &used) ||
            a->record[i].rank != a->rank)
            return false;
        c->at += used;
    }
    return true;
}

struct waitfor_answer *waitfor_answer_get(struct ftree *ft, ftree_time now, const uint8_t *bytes,
                                          size_t len, size_t *at)
{
    struct wire_codec c = {.reads = true,
                           .p = (uint8_t *) (uintptr_t) bytes,
                           .at = *at,
                           .len = len,
                           .job = ft->job,
                           .now = now};
    struct waitfor_answer head = {0}, *a;
    struct tables t;

    if (*at >= len)
        return NULL;
    *at = 0;
    get_head(&c, &head);
    if (head.records > 0 && !c.bad) {
        head.exchanges = get_exchanges(&c, t.exchange);
        head.posted_more = ftree_wire_number(&c, 0, 1, 2) != 0;
        head.posted = get_flows(&c, t.post, WAITS_FLOWS_MAX, WAITS_POSTED);
        head.last = get_flows(&c, t.sent, WAITS_LAST_MAX, WAITS_SENT);
    }
    a = c.bad ? NULL : block(ft, &head, &t);
    if (!a)
        return NULL;
    if (!get_records(&c, a)) {
        ftree_alloc(ft, a, 0);
        return NULL;
    }
    *at = c.at;
    return a;
}
