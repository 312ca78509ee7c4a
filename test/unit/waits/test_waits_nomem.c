/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A reduction in which the n-th allocation fails, for each n: it says so, and nothing is lost or
 * leaks. */

#include "suite.h"
#include "waiters.h"

#define SIZE 12

struct memory {
    int64_t countdown, taken;
};

static void *allocate(void *ctx, void *ptr, size_t size)
{
    struct memory *m = ctx;

    if (size == 0) {
        m->taken -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (m->countdown-- == 0)
        return NULL;
    m->taken += ptr == NULL;
    return realloc(ptr, size);
}

/* A knot of any source, a cycle through a collective, one that is missing, and a chain. */
static void make(const struct waiters *k, int32_t rank, struct waits_record *r)
{
    waiters_begin(k, r, rank, 1);
    r->comm[0].last = (struct waits_collective){.begun = rank == 3 ? 4 : 5, .call = rank % 2};
    if (rank == 0)
        waiters_add(r, WAITS_RECV, WAITS_ANY, 7);
    else if (rank < 4)
        waiters_add(r, WAITS_RECV, rank - 1, 7);
    else if (rank < 8)
        waiters_add(r, WAITS_COLLECTIVE, rank % 2 ? FTREE_NONE : 3, 0)->number = 5;
    else if (rank == 8)
        waiters_add(r, WAITS_RECV, 11, 7)->fate = WAITS_NEVER;
    else
        waiters_add(r, WAITS_RECV, rank == 9 ? 10 : 2, 7)->fate =
            rank == 9 ? WAITS_OPEN : WAITS_COMES;
}

static int add_all(struct waits *w, const struct waiters *k)
{
    struct waits_record r;
    int rc = FTREE_OK;

    for (int32_t rank = 0; rank < SIZE - 1 && !rc; rank++) {
        make(k, rank, &r);
        rc = ftree_waits_add(w, &r);
    }
    return rc;
}

/* Own records first, then what they come to as items. */
static int run(struct waiters *k, struct ftree_bytes *items)
{
    struct waits *w = ftree_waits_create(&k->ft);
    int32_t order[SIZE];
    int rc = FTREE_ERR_NOMEM;

    if (!w)
        return rc;
    rc = items->n > 0 ? ftree_waits_merge(w, items->items, (size_t) items->n) : add_all(w, k);
    if (!rc)
        rc = ftree_waits_reduce(w, true);
    if (!rc && items->n == 0)
        rc = ftree_waits_items(w, items) && ftree_waits_order(w, 0, order) > 0 ? FTREE_OK
                                                                               : FTREE_ERR_NOMEM;
    ftree_waits_destroy(w);
    return rc;
}

TEST_CASES(each_allocation_may_fail, 2)
{
    struct memory m;
    const struct ftree_io io = {.alloc = allocate};
    struct ftree_bytes first = {0}, items = {0};
    struct waiters k;
    int64_t n = -1;
    int rc;

    waiters_init(&k, SIZE, SIZE, 2);
    k.ft.io = &io;
    k.ft.io_ctx = &m;
    m = (struct memory){.countdown = n};
    ck_assert_int_eq(run(&k, &first), FTREE_OK);
    do {
        m = (struct memory){.countdown = ++n};
        items = _i ? first : (struct ftree_bytes){0};
        rc = run(&k, &items);
        ck_assert(rc == FTREE_OK || rc == FTREE_ERR_NOMEM);
        if (!_i)
            ftree_alloc(&k.ft, items.items, 0);
        ck_assert_int_eq(m.taken, 0);
        ck_assert(rc == FTREE_ERR_NOMEM || m.countdown >= 0);
    } while (rc != FTREE_OK);
    ck_assert_int_gt(n, 10);
    free(first.items);
}
