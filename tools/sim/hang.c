/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "sim/hang.h"
#include "sim/sim_memory.h"
#include "ftree/base/base.h"
#include "ftree/waits/waits.h"

#include <stdlib.h>
#include <string.h>

#define TAG 7
#define WORLD 0 /* context of MPI_COMM_WORLD */
#define NTH 9 /* collective */
#define BYTES 8

enum { CALL_NONE, CALL_RECV, CALL_WAITANY, CALL_ALLREDUCE, CALL_BCAST };

/* ---- whom a line is about -------------------------------------------------------------------- */

static int32_t node_of(const struct sim_run *r, int32_t rank)
{
    return rank / r->options->topology->ranks_per_node;
}

/* What hangs already, and the ranks of nodes that another line is about, are left out. */
static bool is_free(const struct sim_run *r, const uint8_t *taken, int32_t rank)
{
    return !taken[node_of(r, rank)] && !r->rank[rank].hang;
}

static uint8_t *nodes_before(const struct sim_run *r, const struct sim_hit *h)
{
    uint8_t *taken = sim_calloc((size_t) r->job.nodes, 1);

    for (const struct sim_hit *before = r->hit; before < h; before++)
        for (int32_t i = 0; i < before->nodes && !before->hang.n; i++)
            taken[before->node[i]] = 1;
    if (h->hang.end != FTREE_NONE)
        taken[node_of(r, h->hang.end)] = 1;
    return taken;
}

#define DRAWS_MAX 1000 /* for one that is free; then the next one is taken that is */

/* FTREE_NONE: no rank is left. */
static int32_t draw_rank(struct sim_run *r, const uint8_t *taken)
{
    int32_t rank = 0;

    for (int i = 0; i < DRAWS_MAX; i++) {
        rank = (int32_t) draw_below(&r->draw, (uint64_t) r->job.size);
        if (is_free(r, taken, rank))
            return rank;
    }
    for (int32_t i = 0; i < r->job.size; i++, rank = (rank + 1) % r->job.size)
        if (is_free(r, taken, rank))
            return rank;
    return FTREE_NONE;
}

static void add_rank(struct sim_run *r, int32_t line, int32_t rank)
{
    struct sim_hang *g = &r->hit[line].hang;

    r->rank[rank].hang = line + 1;
    r->rank[rank].place = g->n;
    g->rank[g->n++] = rank;
}

/* Scattered ones are drawn one by one, in the order in which they wait; neighbours follow one. */
static void draw_ranks(struct sim_run *r, int32_t line, int32_t n, bool scattered)
{
    struct sim_hang *g = &r->hit[line].hang;
    uint8_t *taken = nodes_before(r, &r->hit[line]);
    int32_t rank = draw_rank(r, taken);

    g->rank = sim_calloc((size_t) n, sizeof(*g->rank));
    while (g->n < n && rank != FTREE_NONE) {
        add_rank(r, line, rank);
        if (scattered) {
            rank = draw_rank(r, taken);
            continue;
        }
        for (int32_t i = 0; i < r->job.size && !is_free(r, taken, rank); i++)
            rank = (rank + 1) % r->job.size;
        if (!is_free(r, taken, rank))
            rank = FTREE_NONE;
    }
    free(taken);
}

static void note_nodes(struct sim_run *r, struct sim_hit *h)
{
    const struct sim_hang *g = &h->hang;
    uint8_t *seen = sim_calloc((size_t) r->job.nodes, 1);

    free(h->node);
    h->nodes = 0;
    h->node = sim_calloc((size_t) g->n, sizeof(*h->node));
    for (int32_t i = 0; i < g->n; i++) {
        int32_t node = node_of(r, g->rank[i]);
        if (!seen[node])
            h->node[h->nodes++] = node;
        seen[node] = 1;
    }
    free(seen);
}

/* Of a line before it: its first rank; else that of the node. */
static int32_t end_of(const struct sim_run *r, int32_t line)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    const struct sim_hit *h = &r->hit[line];

    if (f->target.kind == SIM_IT && r->hit[line - 1].hang.n > 0)
        return r->hit[line - 1].hang.rank[0];
    return h->nodes > 0 ? sim_first_rank(r->options->topology, h->node[0]) : FTREE_NONE;
}

void sim_hang_plan(struct sim_run *r, int32_t line)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    struct sim_hang *g = &r->hit[line].hang;

    g->shape = f->shape;
    g->chains = f->chains;
    g->end = end_of(r, line);
    if (f->shape > SIM_CHAIN) {
        do
            g->for_ = (int32_t) draw_below(&r->draw, (uint64_t) r->job.size);
        while (g->for_ == g->end && r->job.size > 1);
        return;
    }
    draw_ranks(r, line, f->count, f->scattered);
    note_nodes(r, &r->hit[line]);
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

static int32_t member(const struct sim_hang *g, int32_t place)
{
    return g->rank[(place % g->n + g->n) % g->n];
}

/* Whom the rank at that place waits for, or at least. */
static int32_t next_of(const struct sim_hang *g, int32_t place)
{
    int32_t length = g->chains > 0 ? g->n / g->chains : g->n;

    if (g->shape == SIM_CHAIN && ((place + 1) % length == 0 || place + 1 == g->n))
        return g->end;
    return member(g, place + 1);
}

/* The rank that it exchanges data with inside the collective, by recursive doubling: it waits for
 * the first one whose data have to come from the one that is missing. */
static int32_t partner_of(const struct sim_run *r, int32_t rank, int32_t missing)
{
    int32_t differ = rank ^ missing, bit = 1, partner;

    while (differ > 1) {
        differ >>= 1;
        bit <<= 1;
    }
    partner = rank ^ bit;
    return partner < r->job.size ? partner : missing;
}

static void all_wait(struct sim_run *r, int32_t line)
{
    const struct sim_hang *g = &r->hit[line].hang;
    ftree_time within = r->options->script->fault[line].within;

    for (int32_t rank = 0; rank < r->job.size; rank++) {
        if (r->rank[rank].hang)
            continue;
        r->rank[rank].hang = line + 1;
        if (rank != g->end)
            sim_handle_wait(r, rank, partner_of(r, rank, g->end), within);
        else if (g->shape == SIM_ALL_BUT_RECEIVE)
            sim_handle_wait(r, rank, g->for_, within);
        else if (g->shape == SIM_OTHER_ROOT)
            sim_handle_wait(r, rank, g->end == 0 ? r->job.size - 1 : 0, within);
    }
}

/* ---- what is to be found --------------------------------------------------------------------- */

/* When the last rank of the component has blocked; of a collective, of all. */
static ftree_time last_blocked(const struct sim_run *r, const struct sim_hang *g)
{
    ftree_time last = 0;

    for (int32_t i = 0; i < (g->n > 0 ? g->n : r->job.size); i++) {
        ftree_time since = r->rank[g->n > 0 ? g->rank[i] : i].since;
        last = since > last ? since : last;
    }
    return last;
}

#define WAITS_BOUND (2500 * FTREE_MS)
/* For the samples: the more they depend on each other, the longer. */
#define HANG_BOUND (60 * 1000 * FTREE_MS)

/* The stay that the rules demand, and that. */
static ftree_time hang_bound(const struct sim_run *r, int32_t rank)
{
    ftree_time before = ftree_max(sim_program_longest(r, rank), 1000 * FTREE_MS);

    if (r->rank[rank].letter == 'S')
        return 2 * before + HANG_BOUND;
    return ftree_max(10 * before, 12 * 1000 * FTREE_MS) + HANG_BOUND;
}

/* Of `waiters` ranks that wait, and of which nobody is accused, a note is to say for whom. */
static void expect(struct sim_run *r, int32_t line, uint32_t classes, const int32_t *rank,
                   int32_t n, int32_t waiters)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    struct sim_expectation e = {.classes = classes,
                                .waiters = waiters,
                                .node = FTREE_NONE,
                                .switch_ = FTREE_NONE,
                                .fault = line,
                                .must = f->lasts >= SIM_NOTICED,
                                .sides = 1,
                                .reporters = 1,
                                .sibling = FTREE_NONE,
                                .ranks = n,
                                .bound = WAITS_BOUND,
                                .since = last_blocked(r, &r->hit[line].hang)};

    if (classes & (SIM_CLASS(FTREE_CLASS_USER_CODE_HANG) | SIM_CLASS(FTREE_CLASS_IO_HANG)))
        e.bound = hang_bound(r, rank[0]);
    e.rank = sim_copy(rank, (size_t) n * sizeof(*rank));
    sim_truth_expect(&r->truth, &e);
}

/* Other lines may say what else is wrong, and then no note need come.  A rank that comes after all
 * is only slow, and so no verdict is to name it. */
static void expect_end(struct sim_run *r, int32_t line, int class_)
{
    const struct sim_hang *g = &r->hit[line].hang;
    const struct sim_fault *f = &r->options->script->fault[line];

    if (r->rank[g->end].finalized)
        expect(r, line, SIM_CLASS(class_), &g->end, 1, 0);
    else if (r->options->program && f->verb == SIM_HANG && f->lasts == FTREE_NEVER)
        expect(r, line, SIM_CLASS(FTREE_CLASS_USER_CODE_HANG), &g->end, 1, 0);
    else if (r->options->program)
        return;
    else if (r->options->script->n == 1)
        expect(r, line, 0, &g->end, 1, g->n > 0 ? g->n : r->job.size - 1);
}

static void expect_all(struct sim_run *r, int32_t line)
{
    const struct sim_hang *g = &r->hit[line].hang;
    const int32_t both[2] = {g->end, g->for_};

    switch (g->shape) {
        case SIM_CHAIN:
            expect_end(r, line, FTREE_CLASS_DEADLOCK);
            break;
        case SIM_ALL_BUT:
            expect_end(r, line, FTREE_CLASS_COLLECTIVE_MISMATCH);
            break;
        case SIM_ALL_BUT_RECEIVE:
            expect(r, line, SIM_CLASS(FTREE_CLASS_DEADLOCK), both, 2, 0);
            break;
        case SIM_OTHER_ROOT:
            expect(r, line, SIM_CLASS(FTREE_CLASS_COLLECTIVE_MISMATCH), &g->end, 1, 0);
            break;
        default:
            expect(r, line, SIM_CLASS(FTREE_CLASS_DEADLOCK), g->rank, g->n, 0);
            break;
    }
}

void sim_hang_begin(struct sim_run *r, int32_t line)
{
    const struct sim_hang *g = &r->hit[line].hang;
    ftree_time within = r->options->script->fault[line].within;

    for (int32_t i = 0; i < g->n; i++)
        sim_handle_wait(r, g->rank[i], next_of(g, i), within);
    if (g->n == 0)
        all_wait(r, line);
    if (g->shape == SIM_ALL_BUT && r->options->program)
        sim_program_waits_for(r, g->end);
    if (r->options->script->fault[line].sleeps)
        r->rank[g->end].letter = 'S';
    expect_all(r, line);
}

void sim_hang_end(struct sim_run *r, int32_t line)
{
    if (r->hit[line].hang.shape == SIM_ALL_BUT && r->options->program)
        sim_program_goes_on(r);
    for (int32_t rank = 0; rank < r->job.size; rank++) {
        if (r->rank[rank].hang != line + 1)
            continue;
        r->rank[rank].hang = 0;
        if (r->rank[rank].since)
            sim_handle_goes_on(r, rank);
    }
    sim_truth_over(&r->truth, line);
}

#define PHASE_MIN (1000 * FTREE_MS)

/* From that to 2^n times that; each doubling is as probable as another. */
static ftree_time draw_phase(struct sim_run *r, ftree_time up_to)
{
    ftree_time t = PHASE_MIN;
    int doublings = 0;

    while (t << (doublings + 1) <= up_to)
        doublings++;
    t <<= draw_below(&r->draw, (uint64_t) doublings + 1);
    return ftree_min(t + draw_below(&r->draw, t), up_to);
}

/* Half of them compute. */
static char draw_letter(struct sim_run *r)
{
    static const char letters[] = {0, 0, 'S', 'D'};

    return letters[draw_below(&r->draw, sizeof(letters))];
}

void sim_hang_phase(struct sim_run *r, const struct sim_event *e)
{
    const struct sim_fault *f = &r->options->script->fault[e->to];
    struct sim_hang *g = &r->hit[e->to].hang;
    struct sim_event next = {.kind = SIM_FAULT, .to = e->to};

    if (e->from == 3) {
        sim_hang_end(r, e->to);
        next.from = 2;
        next.at = r->now + 1 + draw_below(&r->draw, 2 * f->every);
        if (f->lasts == FTREE_NEVER || next.at < SIM_BEGINS + f->at + f->lasts)
            sim_queue_push(&r->queue, &next);
        return;
    }
    *g = (struct sim_hang){.shape = SIM_ALL_BUT};
    g->end = (int32_t) draw_below(&r->draw, (uint64_t) r->job.size);
    r->rank[g->end].letter = draw_letter(r);
    sim_hang_begin(r, e->to);
    next.from = 3;
    next.at = r->now + draw_phase(r, f->by);
    sim_queue_push(&r->queue, &next);
}

/* ---- what a rank says ------------------------------------------------------------------------ */

static struct waits_page page;

const char *sim_hang_call_name(uint32_t call)
{
    static const char *const names[] = {"?", "MPI_Recv", "MPI_Waitany", "MPI_Allreduce",
                                        "MPI_Bcast"};

    return call <= CALL_BCAST ? names[call] : "?";
}

static struct waits_comm *add_comm(const struct sim_run *r, struct waits_record *k)
{
    struct waits_comm *c = &k->comm[k->comms++];

    *c = (struct waits_comm){.key = {.context = WORLD},
                             .size = r->job.size,
                             .name = "MPI_COMM_WORLD",
                             .runs = 1,
                             .run = {{0, 1, r->job.size}}};
    return c;
}

static void add_receive(struct waits_record *k, int32_t peer, int8_t comm)
{
    k->request[k->requests++] = (struct waits_request){
        .kind = WAITS_RECV, .comm = comm, .peer = peer, .tag = TAG, .bytes = BYTES};
    page.post[page.posted++] = (struct waits_flow){.kind = WAITS_POSTED,
                                                   .peer = peer,
                                                   .tag = TAG,
                                                   .context = k->comm[comm].key.context,
                                                   .count = 1};
}

static void write_any_source(const struct sim_run *r, int32_t line, struct waits_record *k)
{
    const struct sim_hang *g = &r->hit[line].hang;
    struct waits_comm *c = add_comm(r, k);

    *c = (struct waits_comm){.key = {.context = (uint32_t) line + 1, .first = g->rank[0]},
                             .size = g->n};
    for (int32_t i = 0; i < g->n; i++)
        ftree_waits_add_member(c, g->rank[i]);
    c->runs = c->runs < 0 ? 0 : c->runs;
    add_receive(k, WAITS_ANY, 1);
}

static void write_collective(const struct sim_hang *g, int32_t rank, struct waits_record *k)
{
    bool bcast = g->shape == SIM_OTHER_ROOT, is_in = rank != g->end || bcast;
    int32_t root = bcast ? rank == g->end : -1;

    k->comm[0].last = (struct waits_collective){.begun = is_in ? NTH : NTH - 1,
                                                .call = bcast ? CALL_BCAST : CALL_ALLREDUCE,
                                                .root = root,
                                                .bytes = BYTES,
                                                .blocking = true};
    if (!is_in && k->state == WAITS_WAITING)
        add_receive(k, g->for_, 0);
    if (!is_in)
        return;
    k->call = bcast ? CALL_BCAST : CALL_ALLREDUCE;
    /* a broadcast needs its root alone, which in turn needs nobody: the last of them may wait for
     * it */
    k->request[k->requests++] = (struct waits_request){.kind = WAITS_COLLECTIVE,
                                                       .comm = 0,
                                                       .peer = bcast ? root : FTREE_NONE,
                                                       .number = NTH};
}

static void write_hang(const struct sim_run *r, int32_t rank, struct waits_record *k)
{
    int32_t line = r->rank[rank].hang - 1, place = r->rank[rank].place;
    const struct sim_hang *g = &r->hit[line].hang;

    if (g->shape > SIM_CHAIN) {
        write_collective(g, rank, k);
    } else if (g->shape == SIM_ANY_SOURCE) {
        write_any_source(r, line, k);
    } else {
        add_receive(k, next_of(g, place), 0);
        if (g->shape != SIM_KNOT)
            return;
        k->call = CALL_WAITANY;
        k->mode = WAITS_FOR_ONE;
        add_receive(k, member(g, place - 1), 0);
    }
}

static bool waits(const struct sim_run *r, int32_t rank)
{
    return r->rank[rank].since > 0 && r->rank[rank].since < r->now;
}

/* Ranks that wait for each other because the network between them is cut have both sent: that is
 * under way, and they do not hang. */
static bool has_sent(const struct sim_run *r, int32_t from, int32_t to)
{
    const struct sim_rank *a = &r->rank[from], *b = &r->rank[to];

    return waits(r, from) && waits(r, to) && !a->hang && !b->hang && a->peer == to &&
           b->peer == from;
}

static void add_exchange(const struct sim_run *r, int32_t rank, int32_t peer)
{
    struct waits_exchange *x = &page.exchange[page.exchanges++];

    *x = (struct waits_exchange){.peer = peer};
    if (!has_sent(r, rank, peer))
        return;
    x->sent = (struct waits_sum){1, ftree_waits_mark(WORLD, TAG)};
    page.sent[page.last++] = (struct waits_flow){
        .kind = WAITS_SENT, .peer = peer, .tag = TAG, .context = WORLD, .count = 1};
}

static void write_page(const struct sim_run *r, int32_t rank, const int32_t *with, int32_t n)
{
    const struct sim_rank *s = &r->rank[rank];
    struct waits_record *k = &page.record[0];

    page.records = 1;
    page.exchanges = page.posted = page.last = 0;
    *k = (struct waits_record){.rank = rank,
                               .threads = 1,
                               .state = s->finalized ? WAITS_FINALIZING : WAITS_WAITING,
                               .mode = s->finalized ? WAITS_FOR_NONE : WAITS_FOR_ALL,
                               .call = s->finalized ? CALL_NONE : CALL_RECV,
                               .stamp = s->stamp};
    add_comm(r, k);
    if (s->hang)
        write_hang(r, rank, k);
    else if (!s->finalized)
        add_receive(k, s->peer, 0);
    for (int32_t i = 0; i < n; i++)
        add_exchange(r, rank, with[i]);
}

enum ftree_waits_look sim_hang_look(struct sim_run *r, int32_t rank, uint32_t look,
                                    const int32_t *with, int32_t n,
                                    const struct waits_page **out)
{
    struct sim_rank *s = &r->rank[rank];
    bool is_asked = s->look == look;

    if (!s->finalized && !waits(r, rank))
        return FTREE_WAITS_UNABLE;
    s->look = look;
    if (!s->finalized && !is_asked) /* it answers before it is looked at again */
        return FTREE_WAITS_PENDING;
    write_page(r, rank, with, n);
    *out = &page;
    return FTREE_WAITS_READY;
}
