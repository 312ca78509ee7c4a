/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"
#include "messages.h"
#include "suite.h"

/* What a rank says, in bytes and back; and what comes in parts. */

#define NOW (5000 * FTREE_MS)

static const struct ftree_io io;
static struct ftree ft = {.io = &io};

static struct waits_page page;
static const int32_t with[] = {1, 3};

static void fill_page(void)
{
    ft.job = messages_job();
    memset(&page, 0, sizeof(page));
    page.records = 2;
    for (int32_t i = 0; i < page.records; i++)
        page.record[i] = (struct waits_record){.rank = 2,
                                               .thread = (uint8_t) i,
                                               .threads = 2,
                                               .state = WAITS_WAITING,
                                               .mode = WAITS_FOR_ONE,
                                               .call = 7,
                                               .stamp = 1000 + (uint64_t) i};
    page.exchanges = 4;
    for (int32_t i = 0; i < page.exchanges; i++)
        page.exchange[i] = (struct waits_exchange){
            .peer = i, .sent = {1 + (uint32_t) i, UINT64_MAX}, .received = {UINT32_MAX, 4}};
    page.posted = 2;
    page.post[0] =
        (struct waits_flow){.peer = WAITS_ANY, .tag = WAITS_ANY, .context = 5, .count = 2};
    page.post[1] = (struct waits_flow){.peer = 0, .tag = 1, .context = 5, .count = 1};
    page.posted_more = true;
    page.last = 1;
    page.sent[0] = (struct waits_flow){.peer = 3, .tag = -7, .context = UINT32_MAX, .count = 1};
}

static struct waitfor_answer *back(const waitfor_bytes *b)
{
    size_t at = 0;
    struct waitfor_answer *a = waitfor_answer_get(&ft, NOW, b->items, (size_t) b->n, &at);

    ck_assert(!a || at == (size_t) b->n);
    return a;
}

TEST_CASE(an_answer_comes_back_as_it_was)
{
    waitfor_bytes b = {0};
    struct waitfor_answer *a;

    fill_page();
    ck_assert(waitfor_answer_put(&ft, NOW, &b, 2, WAITFOR_READY, NOW - 77, &page, with, 2));
    a = back(&b);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(a->rank, 2);
    ck_assert_int_eq(a->seen, WAITFOR_READY);
    ck_assert_uint_eq(a->since, NOW - 77);
    ck_assert_int_eq(a->records, 2);
    ck_assert_uint_eq(a->record[1].stamp, 1001);
    ck_assert_int_eq(a->exchanges, 2); /* those that are wanted */
    ck_assert_int_eq(a->exchange[1].peer, 3);
    ck_assert_uint_eq(a->exchange[1].sent.count, 4);
    ck_assert_uint_eq(a->exchange[1].sent.sum, UINT64_MAX);
    ck_assert_uint_eq(a->exchange[1].received.count, UINT32_MAX);
    ck_assert_int_eq(a->posted, 1); /* that of any source, too */
    ck_assert_int_eq(a->post[0].kind, WAITS_POSTED);
    ck_assert(a->posted_more);
    ck_assert_int_eq(a->last, 1);
    ck_assert_int_eq(a->sent[0].tag, -7);
    ftree_alloc(&ft, a, 0);
    ftree_alloc(&ft, b.items, 0);
}

TEST_CASE(an_answer_cut_anywhere_is_malformed)
{
    waitfor_bytes b = {0};

    fill_page();
    ck_assert(waitfor_answer_put(&ft, NOW, &b, 2, WAITFOR_READY, NOW - 77, &page, with, 2));
    for (int32_t n = 1; n < b.n; n++) {
        size_t at = 0;
        uint8_t *copy = malloc((size_t) n);
        memcpy(copy, b.items, (size_t) n);
        REQUIRE(!waitfor_answer_get(&ft, NOW, copy, (size_t) n, &at) && at == 0);
        free(copy);
    }
    ftree_alloc(&ft, b.items, 0);
}

TEST_CASES(a_page_out_of_bounds_says_nothing, 6)
{
    waitfor_bytes b = {0};
    struct waitfor_answer *a;

    fill_page();
    switch (_i) {
        case 0: page.records = 0; break;
        case 1: page.records = WAITS_THREADS_MAX + 1; break;
        case 2: page.record[0].rank = 3; break;
        case 3: page.exchanges = WAITS_PEERS_MAX + 1; break;
        case 4: page.posted = -1; break;
        default: page.record[1].requests = 100; break;
    }
    ck_assert(waitfor_answer_put(&ft, NOW, &b, 2, WAITFOR_READY, 0, &page, with, 2));
    a = back(&b);
    ck_assert_int_eq(a->seen, WAITFOR_UNABLE);
    ck_assert_int_eq(a->records, 0);
    ftree_alloc(&ft, a, 0);
    ftree_alloc(&ft, b.items, 0);
}

/* All that a print must tell apart. */
TEST_CASES(a_print_changes_with_the_wait, 12)
{
    struct waits_record r = {
        .rank = 2, .threads = 1, .state = WAITS_WAITING, .call = 7, .stamp = 9, .requests = 2,
        .request = {{.kind = WAITS_RECV, .comm = 0, .peer = 3, .tag = 5},
                    {.kind = WAITS_RECV, .comm = 0, .peer = 4, .tag = 5}}, .comms = 1};
    struct waitfor_answer a = {.rank = 2, .seen = WAITFOR_READY, .records = 1, .record = &r};
    uint64_t print = waitfor_print(&a);

    ck_assert_uint_eq(print, waitfor_print(&a));
    switch (_i) {
        case 0: r.stamp++; break;
        case 1: r.call++; break;
        case 2: r.state = WAITS_INSIDE; break;
        case 3: r.mode = WAITS_FOR_ONE; break;
        case 4: r.requests = 1; break;
        case 5: a.records = 0; break;
        case 6: r.request[1].peer = 5; break;
        case 7: r.request[1].tag = 6; break;
        case 8: r.request[1].kind = WAITS_PROBE; break;
        case 9: r.comm[0].key.context = 2; break;
        case 10: r.switches++; break;
        default: a.seen = WAITFOR_LEFT; break;
    }
    ck_assert_uint_ne(print, waitfor_print(&a));
}

/* A rank that polls for several things comes by with any of them first. */
TEST_CASE(the_order_of_requests_does_not_count)
{
    struct waits_record r = {.rank = 2, .threads = 1, .state = WAITS_WAITING, .requests = 2,
                             .request = {{.comm = FTREE_NONE, .peer = 3, .tag = 5},
                                         {.comm = FTREE_NONE, .peer = 4, .tag = 6}}};
    struct waits_request first = r.request[0];
    struct waitfor_answer a = {.rank = 2, .seen = WAITFOR_READY, .records = 1, .record = &r};
    uint64_t print = waitfor_print(&a);

    r.request[0] = r.request[1];
    r.request[1] = first;
    ck_assert_uint_eq(print, waitfor_print(&a));
}

/* Whose call it is is not certain then. */
TEST_CASE(of_several_threads_the_call_does_not_count)
{
    struct waits_record r = {
        .rank = 2, .threads = 2, .state = WAITS_WAITING, .call = 7, .stamp = 9};
    struct waitfor_answer a = {.rank = 2, .seen = WAITFOR_READY, .records = 1, .record = &r};
    uint64_t print = waitfor_print(&a);

    r.call++;
    ck_assert_uint_eq(print, waitfor_print(&a));
}

/* ---- parcels --------------------------------------------------------------------------------- */

static struct ftree_net net;

static void begin_parcels(void)
{
    ft.job = messages_job();
    ft.net = &net;
    memset(&net, 0, sizeof(net));
}

static bool take(uint32_t number, uint16_t part, uint16_t parts, const char *text,
                 enum wire_type type, waitfor_bytes *out)
{
    struct wire_part p = {.number = number,
                          .part = part,
                          .parts = parts,
                          .len = strlen(text),
                          .bytes = (const uint8_t *) text};

    return ftree_parcel_take(&ft, NOW, 3, type, &p, out);
}

TEST_CASE(parts_come_in_any_order_and_twice)
{
    waitfor_bytes out = {0};

    begin_parcels();
    ck_assert(!take(7, 2, 3, "c", WIRE_WAITS_UP, &out));
    ck_assert(!take(7, 0, 3, "a", WIRE_WAITS_UP, &out));
    ck_assert(!take(7, 0, 3, "x", WIRE_WAITS_UP, &out));
    ck_assert(!take(7, 1, 4, "x", WIRE_WAITS_UP, &out));
    ck_assert(take(7, 1, 3, "b", WIRE_WAITS_UP, &out));
    ck_assert_int_eq(out.n, 3);
    ck_assert_int_eq(memcmp(out.items, "abc", 3), 0);
    ck_assert_int_eq(net.parcels.n, 0);
    ftree_alloc(&ft, out.items, 0);
    ftree_parcel_clear(&ft);
}

TEST_CASE(newer_items_end_older_ones)
{
    waitfor_bytes out = {0};

    begin_parcels();
    ck_assert(!take(7, 0, 2, "a", WIRE_WAITS_UP, &out));
    ck_assert(!take(8, 0, 2, "c", WIRE_WAITS_UP, &out));
    ck_assert_int_eq(net.parcels.n, 1);
    ck_assert(!take(7, 1, 2, "b", WIRE_WAITS_UP, &out));
    ck_assert(take(8, 1, 2, "d", WIRE_WAITS_UP, &out));
    ck_assert_int_eq(memcmp(out.items, "cd", 2), 0);
    ftree_alloc(&ft, out.items, 0);
    ftree_parcel_clear(&ft);
}

TEST_CASE(answers_of_several_looks_come_at_once)
{
    waitfor_bytes out = {0};

    begin_parcels();
    ck_assert(!take(7, 0, 2, "a", WIRE_WAITS_SEEN, &out));
    ck_assert(!take(8, 0, 2, "c", WIRE_WAITS_SEEN, &out));
    ck_assert(take(7, 1, 2, "b", WIRE_WAITS_SEEN, &out));
    ck_assert_int_eq(memcmp(out.items, "ab", 2), 0);
    ck_assert_int_eq(net.parcels.n, 1);
    ftree_parcel_tick(&ft, NOW + 60 * 1000 * FTREE_MS);
    ck_assert_int_eq(net.parcels.n, 0);
    ftree_alloc(&ft, out.items, 0);
    ftree_parcel_clear(&ft);
}

TEST_CASE(a_parcel_is_bounded)
{
    waitfor_bytes out = {0};

    begin_parcels();
    ck_assert(!take(7, 0, UINT16_MAX, "a", WIRE_WAITS_SEEN, &out));
    ck_assert_int_eq(net.parcels.n, 0);
    for (uint32_t i = 0; i < 1000; i++)
        take(i + 1, 0, 2, "a", WIRE_WAITS_SEEN, &out);
    ck_assert_int_le(net.parcels.n, 256);
    ftree_parcel_clear(&ft);
}
