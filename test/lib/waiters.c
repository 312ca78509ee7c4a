/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "waiters.h"

#include "ftree/wire/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What must hold for any story; the test that tells it fails. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

static const struct ftree_io no_io;

void waiters_init(struct waiters *k, int32_t size, int32_t nodes, int32_t fanout)
{
    memset(k, 0, sizeof(*k));
    k->job = (struct ftree_job){.nodes = nodes, .size = size, .fanout = fanout};
    k->ft.job = &k->job;
    k->ft.io = &no_io;
    k->nodes = nodes;
}

void waiters_begin(const struct waiters *k, struct waits_record *r, int32_t rank, uint32_t call)
{
    memset(r, 0, sizeof(*r));
    r->rank = rank;
    r->state = WAITS_WAITING;
    r->mode = WAITS_FOR_ALL;
    r->call = call;
    r->stamp = 1000 + (uint64_t) rank;
    r->comms = 1;
    r->comm[0] = (struct waits_comm){.key = {.context = WAITERS_CONTEXT},
                                     .size = k->job.size,
                                     .name = "MPI_COMM_WORLD",
                                     .runs = 1,
                                     .run = {{.step = 1, .count = k->job.size}}};
}

struct waits_request *waiters_add(struct waits_record *r, int kind, int32_t peer, int32_t tag)
{
    struct waits_request *q = &r->request[r->requests++];

    *q = (struct waits_request){
        .kind = (uint8_t) kind, .fate = WAITS_OPEN, .peer = peer, .tag = tag};
    return q;
}

size_t waiters_put(const struct ftree_job *job, const struct waits_record *r, uint8_t *bytes)
{
    struct wire_codec c = {.p = bytes, .job = job};
    struct waits_record copy = *r;

    ftree_waits_wire_record(&c, &copy);
    return c.at;
}

int waiters_get(const struct ftree_job *job, const uint8_t *bytes, size_t len,
                struct waits_record *r, size_t *used)
{
    struct wire_codec c = {
        .reads = true, .p = (uint8_t *) (uintptr_t) bytes, .len = len, .job = job};

    ftree_waits_wire_record(&c, r);
    *used = c.at;
    return c.bad ? FTREE_ERR_MALFORMED : FTREE_OK;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* What lies at a node: bytes of its children, one behind the other. */
struct inbox {
    uint8_t *bytes;
    size_t len;
};

static int32_t parent_of(const struct waiters *k, int32_t node)
{
    return k->parent ? k->parent[node] : (node - 1) / k->job.fanout;
}

static void send_up(struct waiters *k, const struct waits *w, struct inbox *to)
{
    struct ftree_bytes items = {0};
    size_t len;

    MUST(ftree_waits_items(w, &items));
    len = (size_t) items.n;
    to->bytes = realloc(to->bytes, to->len + len);
    if (len > 0)
        memcpy(to->bytes + to->len, items.items, len);
    to->len += len;
    k->messages += (items.n + WIRE_PART_BYTES - 1) / WIRE_PART_BYTES;
    k->bytes += items.n;
    free(items.items);
}

/* By way of its bytes, from a copy of the exact length. */
static void add_record(struct waits *w, const struct waiters *k, const struct waits_record *r)
{
    uint8_t bytes[FTREE_MESSAGE_MAX], *exact;
    struct waits_record again;
    size_t len = waiters_put(&k->job, r, bytes), used;

    MUST(len > 0);
    exact = malloc(len);
    memcpy(exact, bytes, len);
    MUST(waiters_get(&k->job, exact, len, &again, &used) == FTREE_OK && used == len);
    MUST(ftree_waits_unchanged(r, &again));
    MUST(ftree_waits_add(w, &again) == FTREE_OK);
    free(exact);
}

static struct waits *add_rank(struct waits *w, struct waiters *k, int32_t rank)
{
    struct waits_record r;
    int32_t threads = 1;

    for (int32_t thread = 0; thread < threads; thread++) {
        if (!k->record(k->ctx, rank, thread, &r))
            break;
        threads = r.threads > 1 ? r.threads : 1;
        w = w ? w : ftree_waits_create(&k->ft);
        add_record(w, k, &r);
    }
    return w;
}

static struct waits *reduce_node(struct waiters *k, int32_t node, const int32_t *rank, int32_t n,
                                 const struct inbox *in)
{
    struct waits *w = NULL;

    for (int32_t i = 0; i < n; i++)
        w = add_rank(w, k, rank[i]);
    if (in->len > 0 || node == 0)
        w = w ? w : ftree_waits_create(&k->ft);
    if (!w)
        return NULL;
    if (in->len > 0)
        MUST(ftree_waits_merge(w, in->bytes, in->len) == FTREE_OK);
    MUST(ftree_waits_reduce(w, node == 0) == FTREE_OK);
    k->most = k->most > (int64_t) in->len ? k->most : (int64_t) in->len;
    if (k->reduced)
        k->reduced(k->ctx, node, w);
    return w;
}

/* The ranks by node, as struct ftree_job has them. */
static void place(const struct waiters *k, int32_t *first, int32_t *rank)
{
    for (int32_t r = 0; r < k->job.size; r++)
        first[(k->rank_node ? k->rank_node[r] : r) + 1]++;
    for (int32_t v = 0; v < k->nodes; v++)
        first[v + 1] += first[v];
    for (int32_t r = k->job.size - 1; r >= 0; r--)
        rank[--first[(k->rank_node ? k->rank_node[r] : r) + 1]] = r;
    for (int32_t v = 0; v < k->nodes; v++)
        first[v] = first[v + 1];
    first[k->nodes] = k->job.size;
}

struct waits *waiters_reduce(struct waiters *k)
{
    struct inbox *box = calloc((size_t) k->nodes, sizeof(*box));
    int32_t *first = calloc((size_t) k->nodes + 1, sizeof(*first));
    int32_t *rank = calloc((size_t) k->job.size, sizeof(*rank));
    struct waits *w = NULL;

    place(k, first, rank);
    for (int32_t v = k->nodes - 1; v >= 0; v--) {
        w = reduce_node(k, v, rank + first[v], first[v + 1] - first[v], &box[v]);
        free(box[v].bytes);
        if (v > 0 && w)
            send_up(k, w, &box[parent_of(k, v)]);
        if (v > 0)
            ftree_waits_destroy(w);
    }
    free(rank);
    free(first);
    free(box);
    return w;
}
