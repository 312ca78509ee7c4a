/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "ftree/hang/hang.h"
#include "ftree/report/report.h"
#include "ftree/state/state.h"
#include "ftree/wire/wire.h"
#include "sim/pool.h"
#include "sim/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What surrounds one handle.  The network answers as a kernel does: a live process's port connects,
 * a stopped one's connects and stays silent, a dead one's is refused, a node without power is
 * silent.  Agent and deputy are processes beside the ranks.
 *
 * An agent is one thread: each message, in or out, keeps its CPU busy for a while, and what arrives
 * meanwhile waits its turn.  So an agent that has too much to do answers late, as it does in a job.
 */

static int32_t number(const struct sim_node *n)
{
    return (int32_t) (n - n->run->node);
}

/* ---- messages out ---------------------------------------------------------------------------- */

/* The kernel of the far node says whether somebody listens there. */
static void reach_kernel(struct sim_run *r, int32_t from, const struct ftree_route *to)
{
    struct sim_event e = {.kind = SIM_REACH,
                          .to = from,
                          .from = to->node,
                          .path = to->path,
                          .role = to->role,
                          .reach = FTREE_REACH_CONNECTED};

    if (r->node[to->node].gone) {
        e.reach = FTREE_REACH_REFUSED;
        e.error = ECONNREFUSED;
    }
    e.at = r->now + sim_network_takes(&r->network, from, to->node, to->path) +
           sim_network_takes(&r->network, to->node, from, to->path);
    sim_queue_push(&r->queue, &e);
}

/* ---- what is about the own suspects ---------------------------------------------------------- */

/* NULL: it is malformed. */
static const struct wire_message *decode(const struct sim_run *r, const uint8_t *bytes, size_t len)
{
    static struct wire_message m;

    return ftree_wire_decode(&r->job, r->now, bytes, len, &m) ? NULL : &m;
}

/* How many messages about the node's own suspects this one is, with its acknowledgment: a question,
 * what that brings, a symptom that is analysed here, a verdict that was found here. */
static uint32_t about_suspects(const struct sim_node *n, const uint8_t *bytes, size_t len)
{
    const struct wire_message *m;
    const struct ftree *ft;
    int32_t node;

    switch (len >= WIRE_HEADER ? bytes[2] : WIRE_ACK) {
        case WIRE_PROBE:
        case WIRE_ANSWER:
        case WIRE_STATE:
        case WIRE_LOG:
        case WIRE_INDIRECT_PROBE:
        case WIRE_INDIRECT_RESULT:
            return 1;
        case WIRE_SYMPTOM:
            m = decode(n->run, bytes, len);
            node = m ? m->u.symptom.about.node : FTREE_NONE;
            ft = sim_handle(n->run, number(n));
            return ftree_case_find(ft, node, FTREE_NONE) || ftree_has_failed(ft, node) ? 2 : 0;
        case WIRE_VERDICT_UP:
            m = decode(n->run, bytes, len);
            return m && m->u.verdict.fln == number(n) ? 2 : 0;
        default:
            return 0;
    }
}

/* The agent's CPU is busy with one message more; returns when it is done with it. */
static ftree_time work(struct sim_run *r, struct sim_node *n)
{
    if (n->busy_until < r->now)
        n->busy_until = r->now;
    n->busy_until += r->options->cost;
    return n->busy_until;
}

/* True: it is about who waits for whom; such a message is acknowledged. */
static bool is_of_waits(const uint8_t *bytes, size_t len)
{
    return len >= WIRE_HEADER && bytes[2] >= WIRE_WAITS_UP && bytes[2] <= WIRE_WAITS_SEEN;
}

static void carry(struct sim_node *n, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct sim_run *r = n->run;
    struct sim_event e = {.kind = SIM_MESSAGE,
                          .to = to->node,
                          .from = number(n),
                          .path = to->path,
                          .role = to->role,
                          .len = (uint16_t) len};
    ftree_time leaves = work(r, n), takes[2];

    n->messages++;
    n->beside += about_suspects(n, bytes, len);
    r->messages++;
    r->bytes += len;
    if (is_of_waits(bytes, len)) {
        n->beside += 2;
        r->waits_messages++;
        r->waits_bytes += len;
    }
    if (!sim_network_works(&r->network, e.from, e.to, to->path))
        return;
    if (to->conn == 0)
        reach_kernel(r, e.from, to);
    for (int i = sim_network_carry(&r->network, e.from, e.to, to->path, takes); i > 0; i--) {
        e.at = leaves + takes[i - 1];
        e.bytes = sim_pool_share(bytes, len);
        sim_queue_push(&r->queue, &e);
    }
}

static int send_message(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct sim_node *n = ctx;

    if (n->run->options->trace)
        sim_trace_send(n->run, number(n), to, bytes, len);
    carry(n, to, bytes, len);
    return 0;
}

/* ---- what it asks ---------------------------------------------------------------------------- */

static void fill_state(struct sim_run *r, int32_t node, int32_t i, struct ftree_rank_state *s)
{
    int32_t rank = sim_first_rank(r->options->topology, node) + i;
    const struct sim_rank *k = &r->rank[rank];
    bool waits = k->since > 0 && k->since < r->now;

    *s = (struct ftree_rank_state){.rank = rank,
                                   .pid = 0,
                                   .phase = waits ? FTREE_PHASE_WAITING : FTREE_PHASE_OUTSIDE,
                                   .proc_state = k->letter ? k->letter : 'R',
                                   .peer = waits ? k->peer : FTREE_NONE,
                                   .waiting = waits ? r->now - k->since : 0};
    if (k->finalized)
        s->phase = FTREE_PHASE_LEFT;
    if (r->node[node].crashed) {
        s->phase = FTREE_PHASE_GONE;
        s->waiting = 0;
    } else if (k->stopped || r->node[node].asleep_until > r->now) {
        s->proc_state = 'T';
    }
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *s)
{
    struct sim_node *n = ctx;

    fill_state(n->run, number(n), i, s);
    if (n->run->options->trace)
        sim_trace_look(n->run, number(n), s);
}

static enum ftree_waits_look waits(void *ctx, int32_t i, uint32_t look, const int32_t *with,
                                   int32_t n, const struct waits_page **page)
{
    struct sim_node *node = ctx;
    int32_t rank = sim_first_rank(node->run->options->topology, number(node)) + i;
    enum ftree_waits_look said = sim_hang_look(node->run, rank, look, with, n, page);

    if (node->run->options->trace)
        sim_trace_waits(node->run, number(node), rank, look, said,
                        said == FTREE_WAITS_READY ? *page : NULL, with, n);
    return said;
}

/* Of the node's hardware only the data interface is known. */
static void state(void *ctx, struct ftree_node_state *s)
{
    struct sim_node *n = ctx;
    int32_t per = n->run->options->topology->ranks_per_node;
    struct ftree_rank_state rank;

    memset(s, 0xff, sizeof(*s)); /* all is "not known" */
    s->link = n->link ? n->link : FTREE_LINK_UP;
    s->ranks = per < FTREE_STATE_RANKS_MAX ? per : FTREE_STATE_RANKS_MAX;
    for (int32_t i = 0; i < s->ranks; i++) {
        fill_state(n->run, number(n), i, &rank);
        s->rank[i].rank = rank.rank;
        s->rank[i].pid = rank.pid;
        s->rank[i].phase = rank.phase;
        s->rank[i].proc_state = rank.proc_state;
    }
    if (n->run->options->trace)
        sim_trace_state(n->run, number(n), s);
}

static uint64_t samples(void *ctx, int32_t *out, int32_t n)
{
    const struct sim_node *node = ctx;

    return sim_program_samples(node->run, number(node), out, n);
}

static bool stay(void *ctx, int32_t i, struct ftree_stay *out)
{
    const struct sim_node *n = ctx;

    return sim_program_stay(n->run, sim_first_rank(n->run->options->topology, number(n)) + i, out);
}

static void note_test(void *ctx, const char *line)
{
    struct sim_node *n = ctx;

    sim_program_note(&n->run->tests, line);
}

static void learn(void *ctx, const struct ftree_verdict *v)
{
    struct sim_node *n = ctx;

    if (v->fln == number(n) && !v->withdrawn)
        sim_truth_raise(&n->run->truth, n->run->now, v);
}

static void report(void *ctx, const struct ftree_verdict *v)
{
    struct sim_node *n = ctx;

    sim_truth_report(&n->run->truth, n->run->now, number(n), v);
    sim_run_note(n->run, ((uint64_t) v->class_ << 32) + (uint64_t) v->node);
}

static void note_ends(void *ctx, const struct ftree_waiting *w)
{
    struct sim_node *n = ctx;

    sim_truth_note(&n->run->truth, n->run->now, w);
    sim_run_note(n->run, (uint64_t) w->count);
}

static void trace(void *ctx, const char *line)
{
    struct sim_node *n = ctx;

    sim_trace_line(n->run, number(n), line);
}

/* What a block really takes counts, for that is what a handle costs. */
static void *alloc(void *ctx, void *ptr, size_t size)
{
    struct sim_node *n = ctx;
    size_t before = sim_pool_size(ptr), after;
    void *out = n == n->run->on_stage ? sim_stage_alloc(ptr, size) : sim_pool_alloc(ptr, size);

    if (size && !out)
        return NULL;
    after = sim_pool_size(out);
    n->run->memory += after - before;
    if (n->run->memory > n->run->memory_most)
        n->run->memory_most = n->run->memory;
    return out;
}

static const struct ftree_io plain = {.send = send_message,
                                      .look = look,
                                      .state = state,
                                      .waits = waits,
                                      .call_name = sim_hang_call_name,
                                      .waiting = note_ends,
                                      .verdict = learn,
                                      .report = report,
                                      .alloc = alloc};

struct ftree_io sim_agent_io(const struct sim_options *options)
{
    struct ftree_io io = plain;

    if (options->trace)
        io.trace = trace;
    if (options->program) {
        io.samples = samples;
        io.stay = stay;
        io.trace = note_test;
    }
    return io;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void note(struct sim_run *r, const struct sim_event *e)
{
    uint64_t word, hash = e->len;

    sim_run_note(r, r->now);
    sim_run_note(r, ((uint64_t) (uint32_t) e->to << 32) | (uint32_t) e->from);
    sim_run_note(r, (uint64_t) e->kind << 24 | (uint64_t) e->path << 16 | (uint64_t) e->role << 8 |
                        e->reach);
    for (size_t i = 0; i < e->len; i += sizeof(word)) {
        word = 0;
        memcpy(&word, e->bytes + i, e->len - i < sizeof(word) ? e->len - i : sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    sim_run_note(r, hash);
}

/* True if it is for now; else it comes again when the node's processes run, or never. */
static bool is_awake(struct sim_run *r, struct sim_event *e)
{
    const struct sim_node *n = &r->node[e->to];

    if (n->off || n->gone || n->asleep_until == FTREE_NEVER) {
        sim_pool_unshare(e->bytes);
        return false;
    }
    if (n->asleep_until <= r->now)
        return true;
    e->at = n->asleep_until;
    sim_queue_push(&r->queue, e);
    return false;
}

/* True if the agent's CPU is free for it; else it waits its turn. */
static bool has_turn(struct sim_run *r, struct sim_event *e)
{
    struct sim_node *n = &r->node[e->to];
    ftree_time begins = n->busy_until > r->now ? n->busy_until : r->now;

    if (e->queued)
        return true;
    work(r, n);
    if (begins == r->now)
        return true;
    e->queued = true;
    e->at = begins;
    sim_queue_push(&r->queue, e);
    return false;
}

/* A deputy has a CPU of its own, and answers for an agent that does not. */
static void deputy_answers(struct sim_run *r, const struct sim_event *e)
{
    const struct sim_node *node = &r->node[e->to];
    struct ftree_rank_state states[64];
    int32_t n =
        r->options->topology->ranks_per_node < 64 ? r->options->topology->ranks_per_node : 64;
    struct ftree_route back = {.node = e->from, .path = e->path, .conn = 1};
    uint8_t out[FTREE_MESSAGE_MAX];
    size_t len = sizeof(out);

    if (node->off || node->gone || node->asleep_until > r->now)
        return;
    for (int32_t i = 0; i < n; i++)
        fill_state(r, e->to, i, &states[i]);
    if (!ftree_deputy_answer(&r->job, r->cfg.stall, e->bytes, e->len, states, n, out, &len) && len)
        carry(&r->node[e->to], &back, out, len);
}

void sim_agent_message(struct sim_run *r, struct sim_event *e)
{
    struct sim_node *n = &r->node[e->to];

    if (e->role == FTREE_ROLE_DEPUTY) {
        deputy_answers(r, e);
        sim_pool_unshare(e->bytes);
        return;
    }
    if (!is_awake(r, e) || !has_turn(r, e))
        return;
    note(r, e);
    n->messages++;
    n->beside += is_of_waits(e->bytes, e->len) ? 2 : 0;
    if (r->options->trace)
        sim_trace_message(r, e);
    ftree_receive(sim_handle(r, e->to), r->now, e->from, e->path, 1, e->bytes, e->len);
    n->beside += about_suspects(n, e->bytes, e->len);
    sim_pool_unshare(e->bytes);
    sim_handle_touch(r, e->to);
}

void sim_agent_reach(struct sim_run *r, struct sim_event *e)
{
    if (!is_awake(r, e))
        return;
    note(r, e);
    if (r->options->trace)
        sim_trace_reach(r, e);
    ftree_reached(sim_handle(r, e->to), r->now, e->from, e->path, e->role, e->reach, e->error);
    sim_handle_touch(r, e->to);
}

void sim_agent_stall(struct sim_run *r, struct sim_event *e)
{
    const struct sim_rank *k = &r->rank[e->from];

    if (k->since == 0 || k->since + r->cfg.stall > r->now || !is_awake(r, e))
        return; /* that wait is over */
    note(r, e);
    sim_truth_stall(&r->truth, r->now, k->peer / r->options->topology->ranks_per_node);
    if (r->options->trace)
        sim_trace_stall(r, e->to, e->from);
    ftree_stall(sim_handle(r, e->to), r->now, e->from, k->peer, r->now - k->since);
    sim_handle_touch(r, e->to);
}

void sim_agent_tick(struct sim_run *r, int32_t node)
{
    sim_run_note(r, r->now + (uint64_t) node);
    if (r->options->trace)
        sim_trace_in(r, node, "tick", FTREE_NONE);
    ftree_tick(sim_handle(r, node), r->now);
    if (node == 0)
        sim_truth_waits(&r->truth, r->now, sim_handle(r, node));
}
