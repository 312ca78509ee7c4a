/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Small programs at random, run step by step in a random order by a model of MPI: eager, rendezvous
 * and synchronous sends, receives of any source and tag, requests (a persistent one is one, while it
 * is active), waits for all and for one, probes, barriers of all and of every other rank, one-sided
 * operations.  A message flies, arrives, is matched, and takes its time to complete.  At random
 * moments all ranks are looked at, and judged by what both sides say of each request, as
 * the ranks of a candidate are (waitfor_judge.c); or a tree reduces their requests with these fates.
 * Then the program runs on:
 *
 *   - who was said to be blocked must never get on: nothing false is claimed;
 *   - once nothing moves any more, everybody who is stuck must be said to be blocked: nothing is
 *     missed.
 */

#include "ftree/waitfor/waitfor.h"

#include "suite.h"
#include "waiters.h"

#define RANKS_MAX 6
#define OPS_MAX 40
#define REQUESTS_MAX 12
#define MESSAGES_MAX 200
#define PROGRAMS 1500
#define CASES 8

static uint64_t state;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int) ((state >> 33) % (uint64_t) below);
}

/* ---- the model ------------------------------------------------------------------------------- */

enum kind {
    SEND, /* eager */
    SSEND,
    ISSEND,
    RECV,
    IRECV,
    PROBE,
    WAITALL,
    WAITANY,
    BARRIER, /* tag 1: of the even ranks */
    LOCK, /* exclusive, of a target */
    UNLOCK,
    POST, /* to one origin, */
    START, /* which waits for it */
    FLUSH /* ends when its target is in MPI */
};

struct op {
    enum kind kind;
    int peer, tag;
};

struct request {
    bool is_send, done;
    int peer, tag;
    int message; /* that a receive has met; -1: none */
};

struct process {
    struct op op[OPS_MAX];
    int ops, at;
    bool inside; /* the op at `at` has begun */
    struct request request[REQUESTS_MAX]; /* in the order of their posting */
    int requests, waited; /* which of them a Recv or Ssend waits for */
    uint32_t barriers[2];
    int posts[RANKS_MAX]; /* of that rank, not used yet */
    int holder; /* of its lock; -1: nobody */
};

enum where {
    FLYING,
    ARRIVED,
    MATCHED,
    OVER
};

struct letter {
    enum where where;
    int from, to, tag;
    int number; /* the sender's request, by the count of them; -1: eager */
};

struct program {
    struct waiters k;
    struct process p[RANKS_MAX];
    struct letter m[MESSAGES_MAX];
    int messages, arrivals, arrived[MESSAGES_MAX];
    int sends[RANKS_MAX]; /* synchronous ones so far */
    bool by_tree; /* not judged at once, as waitfor_judge() does */
    int32_t rank_node[RANKS_MAX], parent[RANKS_MAX];
    struct waitfor_asked asked[RANKS_MAX];
    struct waitfor_answer answer[RANKS_MAX];
    struct waits_record record[RANKS_MAX];
    struct waits_exchange exchange[RANKS_MAX][RANKS_MAX];
    struct waits_flow post[RANKS_MAX][REQUESTS_MAX], sent[RANKS_MAX][WAITS_LAST_MAX];
};

static bool matches(const struct request *q, const struct letter *m)
{
    return !q->is_send && !q->done && q->message < 0 &&
           (q->peer == m->from || q->peer == WAITS_ANY) &&
           (q->tag == m->tag || q->tag == WAITS_ANY);
}

/* A message that has arrived meets the first receive that takes it. */
static void meet(struct program *g, int message)
{
    struct letter *m = &g->m[message];
    struct process *p = &g->p[m->to];

    for (int i = 0; i < p->requests; i++)
        if (matches(&p->request[i], m)) {
            p->request[i].message = message;
            m->where = MATCHED;
            return;
        }
}

static void arrive(struct program *g, int message)
{
    g->m[message].where = ARRIVED;
    g->arrived[g->arrivals++] = message;
    meet(g, message);
}

static void post(struct program *g, int rank, bool is_send, int peer, int tag)
{
    struct process *p = &g->p[rank];

    p->waited = p->requests;
    p->request[p->requests++] =
        (struct request){.is_send = is_send, .peer = peer, .tag = tag, .message = -1};
    for (int i = 0; !is_send && i < g->arrivals; i++)
        if (g->m[g->arrived[i]].to == rank && g->m[g->arrived[i]].where == ARRIVED)
            meet(g, g->arrived[i]);
}

static void send(struct program *g, int rank, const struct op *o)
{
    struct letter *m = &g->m[g->messages++];

    *m = (struct letter){.from = rank, .to = o->peer, .tag = o->tag, .number = -1};
    if (o->kind == SEND)
        return;
    post(g, rank, true, o->peer, o->tag);
    g->p[rank].request[g->p[rank].requests - 1].message = (int) (m - g->m);
    m->number = g->sends[rank]++;
}

/* The data are there, on both sides. */
static void complete(struct program *g, int message)
{
    struct letter *m = &g->m[message];
    struct process *sides[] = {&g->p[m->to], &g->p[m->from]};

    m->where = OVER;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < sides[side]->requests; i++)
            if (sides[side]->request[i].message == message &&
                sides[side]->request[i].is_send == (side == 1))
                sides[side]->request[i].done = true;
}

static void drop_request(struct process *p, int i)
{
    memmove(&p->request[i], &p->request[i + 1],
            (size_t) (p->requests - i - 1) * sizeof(p->request[0]));
    p->requests--;
}

/* ---- what a rank can do ---------------------------------------------------------------------- */

static bool is_over(const struct process *p)
{
    return p->at == p->ops;
}

static bool probe_sees(const struct program *g, int rank, const struct op *o)
{
    for (int i = 0; i < g->arrivals; i++) {
        const struct letter *m = &g->m[g->arrived[i]];
        if (m->where == ARRIVED && m->to == rank && (o->peer == m->from || o->peer == WAITS_ANY) &&
            (o->tag == m->tag || o->tag == WAITS_ANY))
            return true;
    }
    return false;
}

static bool barrier_is_full(const struct program *g, const struct process *p, int comm)
{
    for (int32_t r = 0; r < g->k.job.size; r += 1 + comm)
        if (g->p[r].barriers[comm] < p->barriers[comm])
            return false;
    return true;
}

static bool is_lock_free(const struct program *g, int rank, int target)
{
    return g->p[target].holder < 0 || g->p[target].holder == rank;
}

/* Whether the op that has begun can end. */
static bool can_end(const struct program *g, int rank)
{
    const struct process *p = &g->p[rank];
    const struct op *o = &p->op[p->at];
    int done = 0;

    for (int i = 0; i < p->requests; i++)
        done += p->request[i].done;
    switch (o->kind) {
        case RECV:
        case SSEND:
            return p->request[p->waited].done;
        case PROBE:
            return probe_sees(g, rank, o);
        case WAITALL:
            return done == p->requests;
        case WAITANY:
            return done > 0 || p->requests == 0;
        case BARRIER:
            return barrier_is_full(g, p, o->tag);
        case LOCK:
            return is_lock_free(g, rank, o->peer);
        case START:
            return p->posts[o->peer] > 0;
        case FLUSH:
            return g->p[o->peer].inside;
        default:
            return true;
    }
}

static void begin_op(struct program *g, int rank)
{
    struct process *p = &g->p[rank];
    const struct op *o = &p->op[p->at];

    p->inside = true;
    if (o->kind == BARRIER && rank % (1 + o->tag) == 0)
        p->barriers[o->tag]++;
    else if (o->kind == UNLOCK && g->p[o->peer].holder == rank)
        g->p[o->peer].holder = -1;
    else if (o->kind == POST)
        g->p[o->peer].posts[rank]++;
    else if (o->kind == SEND || o->kind == SSEND || o->kind == ISSEND)
        send(g, rank, o);
    else if (o->kind == RECV || o->kind == IRECV)
        post(g, rank, false, o->peer, o->tag);
}

static void end_op(struct program *g, int rank)
{
    struct process *p = &g->p[rank];
    enum kind kind = p->op[p->at].kind;
    bool one = false;

    if (kind == LOCK)
        g->p[p->op[p->at].peer].holder = rank;
    else if (kind == START)
        p->posts[p->op[p->at].peer]--;
    if (kind == RECV || kind == SSEND)
        drop_request(p, p->waited);
    for (int i = p->requests - 1; i >= 0 && (kind == WAITALL || kind == WAITANY); i--)
        if (p->request[i].done && !one) {
            drop_request(p, i);
            one = kind == WAITANY;
        }
    p->inside = false;
    p->at++;
}

static bool is_stuck(const struct program *g, int rank)
{
    return !is_over(&g->p[rank]) && g->p[rank].inside && !can_end(g, rank);
}

static bool flies_first(const struct program *g, int message)
{
    for (int i = 0; i < message; i++)
        if (g->m[i].where == FLYING && g->m[i].from == g->m[message].from &&
            g->m[i].to == g->m[message].to)
            return false;
    return g->m[message].where == FLYING;
}

/* One of all that may happen next; messages are slow at times.  False: nothing can. */
static bool step(struct program *g, bool slow)
{
    int choice[RANKS_MAX + MESSAGES_MAX], n = 0, size = g->k.job.size;

    for (int r = 0; r < size; r++)
        if (!is_over(&g->p[r]) && !is_stuck(g, r))
            choice[n++] = r;
    for (int i = 0; i < g->messages && (!slow || n == 0); i++)
        if (flies_first(g, i) || g->m[i].where == MATCHED)
            choice[n++] = size + i;
    if (n == 0)
        return false;
    n = choice[draw(n)];
    if (n >= size && g->m[n - size].where == MATCHED)
        complete(g, n - size);
    else if (n >= size)
        arrive(g, n - size);
    else if (g->p[n].inside)
        end_op(g, n);
    else
        begin_op(g, n);
    return true;
}

/* ---- looking at it --------------------------------------------------------------------------- */

static struct waits_flow flow_of(int kind, int peer, int tag)
{
    return (struct waits_flow){.kind = (uint8_t) kind,
                               .peer = peer,
                               .tag = tag,
                               .context = WAITERS_CONTEXT,
                               .count = 1};
}

/* Both words of each pair, and the last messages, newest first. */
static void tell_messages(struct program *g, int rank)
{
    struct waitfor_answer *a = &g->answer[rank];

    for (int r = 0; r < g->k.job.size; r++)
        g->exchange[rank][a->exchanges++] = (struct waits_exchange){.peer = r};
    for (int i = g->messages - 1; i >= 0; i--) {
        const struct letter *m = &g->m[i];
        uint64_t mark = ftree_waits_mark(WAITERS_CONTEXT, m->tag);
        if (m->from == rank) {
            g->exchange[rank][m->to].sent.count++;
            g->exchange[rank][m->to].sent.sum += mark;
            if (a->last < WAITS_LAST_MAX)
                g->sent[rank][a->last++] = flow_of(WAITS_SENT, m->to, m->tag);
        }
        if (m->to == rank && m->where == OVER) {
            g->exchange[rank][m->from].received.count++;
            g->exchange[rank][m->from].received.sum += mark;
        }
    }
}

static void tell_posted(struct program *g, int rank)
{
    struct waitfor_answer *a = &g->answer[rank];

    for (int i = 0; i < g->p[rank].requests; i++) {
        const struct request *q = &g->p[rank].request[i];
        if (!q->is_send && !q->done)
            g->post[rank][a->posted++] = flow_of(WAITS_POSTED, q->peer, q->tag);
    }
}

static void make_answer(struct program *g, int rank)
{
    g->answer[rank] = (struct waitfor_answer){.rank = rank,
                                              .seen = WAITFOR_READY,
                                              .records = 1,
                                              .record = &g->record[rank],
                                              .exchange = g->exchange[rank],
                                              .post = g->post[rank],
                                              .sent = g->sent[rank]};
    g->asked[rank] = (struct waitfor_asked){.rank = rank, .answer = &g->answer[rank]};
    tell_messages(g, rank);
    tell_posted(g, rank);
}

static void add_request(struct program *g, int rank, int kind, int peer, int tag)
{
    waiters_add(&g->record[rank], kind, peer, tag)->fate = WAITS_UNKNOWN;
}

static void add_posted(struct program *g, int rank, const struct request *q)
{
    int send = rank % 2 ? WAITS_SEND : WAITS_SSEND;

    if (!q->done)
        add_request(g, rank, q->is_send ? send : WAITS_RECV, q->peer, q->tag);
}

static void wait_for_others_of(struct waits_record *r, int comm, uint32_t number)
{
    struct waits_request *q = waiters_add(r, WAITS_COLLECTIVE, FTREE_NONE, 0);

    q->comm = (int8_t) comm;
    q->number = number;
}

static void add_lock(const struct program *g, struct waits_record *r, int target, uint32_t begun)
{
    r->comm[r->comms++] = (struct waits_comm){
        .key = {.context = WAITERS_CONTEXT | WAITS_LOCK_OF_ONE, .first = target},
        .size = g->k.job.size,
        .last = {.begun = begun}};
}

static void add_comms(const struct program *g, struct waits_record *r, int rank)
{
    int even = (g->k.job.size + 1) / 2;

    r->comm[0].last.begun = g->p[rank].barriers[0];
    if (rank % 2 == 0)
        r->comm[r->comms++] = (struct waits_comm){.key = {.context = WAITERS_CONTEXT + 4},
                                                  .size = even,
                                                  .runs = 1,
                                                  .run = {{0, even > 1 ? 2 : 1, even}},
                                                  .last = {.begun = g->p[rank].barriers[1]}};
    for (int t = 0; t < g->k.job.size; t++)
        if (g->p[t].holder == rank)
            add_lock(g, r, t, WAITS_LOCK_EXCLUSIVE);
}

static void make_record(struct program *g, int rank)
{
    const struct process *p = &g->p[rank];
    const struct op *o = &p->op[p->at];
    struct waits_record *r = &g->record[rank];

    waiters_begin(&g->k, r, rank, 1);
    r->threads = 1;
    add_comms(g, r, rank);
    r->state = is_over(p) ? WAITS_FINALIZED : is_stuck(g, rank) ? WAITS_WAITING : WAITS_OUTSIDE;
    if (r->state != WAITS_WAITING)
        return;
    r->mode = o->kind == WAITANY ? WAITS_FOR_ONE : WAITS_FOR_ALL;
    if (o->kind == RECV || o->kind == SSEND)
        add_posted(g, rank, &p->request[p->waited]);
    else if (o->kind == PROBE)
        add_request(g, rank, WAITS_PROBE, o->peer, o->tag);
    else if (o->kind == BARRIER)
        wait_for_others_of(r, o->tag, p->barriers[o->tag]);
    else if (o->kind == START || o->kind == FLUSH)
        add_request(g, rank, o->kind == START ? WAITS_RMA : WAITS_TARGET, o->peer, 0);
    else if (o->kind == LOCK) {
        wait_for_others_of(r, r->comms, WAITS_LOCK_NONE);
        add_lock(g, r, o->peer, WAITS_LOCK_NONE);
    }
    for (int i = 0; i < p->requests && (o->kind == WAITALL || o->kind == WAITANY); i++)
        add_posted(g, rank, &p->request[i]);
}

static bool tell(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct program *g = ctx;

    (void) thread;
    *r = g->record[rank];
    return r->state != WAITS_OUTSIDE;
}

static struct waits *reduce_by_tree(struct program *g)
{
    struct waitfor_candidate all = {.ranks = {g->asked, g->k.job.size, RANKS_MAX}};
    bool unsure = false;

    for (int r = 0; r < g->k.job.size; r++)
        for (int i = 0; i < g->record[r].requests; i++) {
            struct waits_request *q = &g->record[r].request[i];
            q->fate = (uint8_t) waitfor_fate(&all, &g->answer[r], &g->record[r], q, &unsure);
        }
    g->k.record = tell;
    g->k.ctx = g;
    g->k.rank_node = g->rank_node;
    g->k.parent = g->parent;
    return waiters_reduce(&g->k);
}

static struct waits *look(struct program *g)
{
    struct waitfor_candidate all = {.ranks = {g->asked, g->k.job.size, RANKS_MAX}};
    struct waits *w;
    bool unsure;

    for (int r = 0; r < g->k.job.size; r++) {
        make_record(g, r);
        make_answer(g, r);
    }
    if (g->by_tree)
        return reduce_by_tree(g);
    w = waitfor_judge(&g->k.ft, &all, &unsure);
    ck_assert_ptr_nonnull(w);
    return w;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void append(struct program *g, int rank, enum kind kind, int peer, int tag)
{
    struct process *p = &g->p[rank];

    if (p->ops < OPS_MAX)
        p->op[p->ops++] = (struct op){.kind = kind, .peer = peer, .tag = tag};
}

/* A message of two ranks. */
static void append_message(struct program *g, int from, int to)
{
    static const enum kind sends[] = {SEND, SEND, SSEND, SSEND, ISSEND};
    static const enum kind receives[] = {RECV, RECV, IRECV, IRECV, IRECV, PROBE};
    enum kind receive = receives[draw(COUNT(receives))];
    int tag = draw(2);

    append(g, from, sends[draw(COUNT(sends))], to, tag);
    from = draw(4) ? from : WAITS_ANY;
    tag = draw(4) ? tag : WAITS_ANY;
    append(g, to, receive, from, tag);
    if (receive == PROBE)
        append(g, to, RECV, from, tag);
}

/* Either of two is to send, and only one does; who waits for both in the end waits in vain. */
static void append_choice(struct program *g, int one, int other, int to)
{
    append(g, to, IRECV, one, 0);
    append(g, to, IRECV, other, 0);
    append(g, to, WAITANY, 0, 0);
    append(g, other, SEND, to, 0);
}

static void append_one_sided(struct program *g, int from, int to)
{
    int luck = draw(3);

    if (luck == 0) {
        append(g, from, FLUSH, to, 0);
    } else if (luck == 1) {
        append(g, from, POST, to, 0);
        append(g, to, START, from, 0);
    } else {
        append(g, from, LOCK, to, 0);
        append_message(g, to, from);
        append(g, from, UNLOCK, to, 0);
    }
}

static void append_some(struct program *g)
{
    int size = g->k.job.size, from = draw(size), to = (from + 1 + draw(size - 1)) % size;
    int luck = draw(32);

    for (int r = 0; r < size && luck < 2; r++)
        append(g, r, BARRIER, 0, 0);
    if (luck >= 2 && luck < 8)
        append(g, from, luck < 4 ? WAITALL : WAITANY, 0, 0);
    else if (luck == 8 && size > 2)
        append_choice(g, (to + 1) % size, from, to);
    else if (luck > 8 && luck < 24)
        append_message(g, from, to);
    else if (luck >= 26)
        append_one_sided(g, from, to);
    for (int r = 0; r < size && luck >= 24 && luck < 26; r += 2)
        append(g, r, BARRIER, 0, 1);
}

/* A mistake of the programmer. */
static void spoil(struct program *g)
{
    struct process *p = &g->p[draw(g->k.job.size)];
    int at = p->ops ? draw(p->ops) : 0, other = p->ops ? draw(p->ops) : 0;
    struct op o = p->op[at];

    if (p->ops == 0)
        return;
    switch (draw(4)) {
        case 0:
            p->op[at] = p->op[other];
            p->op[other] = o;
            break;
        case 1:
            p->op[at].tag = 1 - (o.tag > 0);
            break;
        case 2:
            p->op[at].peer = draw(g->k.job.size);
            break;
        default:
            memmove(&p->op[at], &p->op[at + 1], (size_t) (p->ops - at - 1) * sizeof(o));
            p->ops--;
            break;
    }
}

static void write_program(struct program *g)
{
    int size = 2 + draw(RANKS_MAX - 1), nodes = 1 + draw(size);

    memset(g, 0, sizeof(*g));
    waiters_init(&g->k, size, nodes, 2);
    g->by_tree = draw(2);
    for (int r = 0; r < size; r++) {
        g->rank_node[r] = draw(nodes);
        g->p[r].holder = -1;
    }
    for (int v = 1; v < nodes; v++)
        g->parent[v] = draw(v);
    for (int n = 2 + draw(12); n > 0; n--)
        append_some(g);
    for (int n = draw(3); n > 0; n--)
        spoil(g);
    for (int r = 0; r < size; r++)
        append(g, r, WAITALL, 0, 0);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Where those stood who were said to be blocked; -1: the others. */
static void note_blocked(const struct program *g, const struct waits *w, int *stood)
{
    int32_t of;

    for (int r = 0; r < g->k.job.size; r++)
        if (ftree_waits_of(w, r, &of) == WAITS_BLOCKED && stood[r] < 0)
            stood[r] = g->p[r].at;
}

static void check_end(struct program *g, int *stuck)
{
    struct waits *w = look(g);
    int32_t of;

    for (int r = 0; r < g->k.job.size; r++) {
        *stuck += is_stuck(g, r);
        REQUIRE(is_stuck(g, r) == (ftree_waits_of(w, r, &of) == WAITS_BLOCKED));
    }
    ftree_waits_destroy(w);
}

static int run(struct program *g, int *claims)
{
    int stood[RANKS_MAX], stuck = 0;
    bool slow = draw(2);
    struct waits *w;

    memset(stood, -1, sizeof(stood));
    while (step(g, slow)) {
        if (draw(10))
            continue;
        w = look(g);
        note_blocked(g, w, stood);
        ftree_waits_destroy(w);
    }
    for (int r = 0; r < g->k.job.size; r++) {
        REQUIRE(stood[r] < 0 || g->p[r].at == stood[r]);
        *claims += stood[r] >= 0;
    }
    check_end(g, &stuck);
    return stuck;
}

TEST_CASES(who_is_blocked_stays_so_and_who_stays_is_blocked, CASES)
{
    int with_stuck = 0, claims = 0;
    struct program g;

    state = 1000 + (uint64_t) _i;
    for (int i = 0; i < PROGRAMS; i++) {
        write_program(&g);
        with_stuck += run(&g, &claims) > 0;
    }
    /* some programs end, some do not, and that was seen before the end, too */
    ck_assert_int_gt(with_stuck, PROGRAMS / 10);
    ck_assert_int_lt(with_stuck, PROGRAMS * 9 / 10);
    ck_assert_int_gt(claims, PROGRAMS / 50);
}
