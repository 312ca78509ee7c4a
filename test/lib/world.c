/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "world.h"

#include "base.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>

enum event_kind {
    EVENT_MESSAGE,
    EVENT_PACKET,
    EVENT_REACH
};

struct world_event {
    ftree_time at, arrived; /* of a packet: when the kernel had it */
    enum event_kind kind;
    int32_t to, from; /* of a REACH: who learns it, about whom */
    uint8_t path, role, reach;
    int error;
    size_t len;
    uint8_t *bytes;
};

/* The handles' context: which node of which world. */
struct place {
    struct world *w;
    int32_t node;
};

static struct place places[WORLD_NODES_MAX];

static uint32_t draw(struct world *w)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (w->random >> 33);
}

static void push_event(struct world *w, const struct world_event *e, const void *bytes)
{
    struct world_event *slot;

    if (w->n_events == w->room_events) {
        w->room_events = w->room_events ? 2 * w->room_events : 64;
        w->events = realloc(w->events, (size_t) w->room_events * sizeof(*e));
        ck_assert_ptr_nonnull(w->events);
    }
    slot = &w->events[w->n_events++];
    *slot = *e;
    slot->bytes = NULL;
    if (e->len) {
        slot->bytes = malloc(e->len);
        ck_assert_ptr_nonnull(slot->bytes);
        memcpy(slot->bytes, bytes, e->len);
    }
}

/* ---- the network ----------------------------------------------------------------------------- */

static bool is_cut(const struct world *w, int32_t a, int32_t b, int path)
{
    return w->is_cut && (w->cut_path == path || w->cut_path == FTREE_PATHS) &&
           ((a == w->cut[0] && b == w->cut[1]) || (a == w->cut[1] && b == w->cut[0]));
}

static bool path_works(const struct world *w, int32_t a, int32_t b, int path)
{
    return !is_cut(w, a, b, path) && !w->node[a].off && !w->node[b].off &&
           !w->node[a].path_down[path] && !w->node[b].path_down[path];
}

static bool passes(const struct world *w, int32_t from, int32_t to, int path)
{
    return path_works(w, from, to, path) && !w->node[from].from[path].dead &&
           !w->node[to].to[path].dead;
}

/* TCP acknowledges. */
static bool connects(const struct world *w, int32_t a, int32_t b, int path)
{
    return passes(w, a, b, path) && passes(w, b, a, path);
}

static ftree_time arrival(struct world *w)
{
    return w->now + w->latency + (w->jitter ? draw(w) % w->jitter : 0);
}

static void tell_reach(struct world *w, int32_t to, const struct ftree_route *about,
                       enum ftree_reach reach, int error)
{
    struct world_event e = {.at = arrival(w),
                            .kind = EVENT_REACH,
                            .to = to,
                            .from = about->node,
                            .path = about->path,
                            .role = about->role,
                            .reach = (uint8_t) reach,
                            .error = error};

    push_event(w, &e, NULL);
}

static int send_message(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct place *p = ctx;
    struct world *w = p->w;
    const struct world_node *far = &w->node[to->node];
    struct world_event e = {.kind = EVENT_MESSAGE,
                            .to = to->node,
                            .from = p->node,
                            .path = to->path,
                            .role = to->role,
                            .len = len};

    REQUIRE(to->node >= 0 && to->node < w->job.nodes && to->node != p->node);
    w->node[p->node].sent++;
    if (!connects(w, p->node, to->node, to->path))
        return 0;
    if (to->conn == 0 && far->gone && (to->role == FTREE_ROLE_AGENT || far->no_deputy)) {
        tell_reach(w, p->node, to, FTREE_REACH_REFUSED, 111);
        return 0;
    }
    if (to->conn == 0)
        tell_reach(w, p->node, to, FTREE_REACH_CONNECTED, 0);
    if (w->loss_percent && (int) (draw(w) % 100) < w->loss_percent)
        return 0;
    e.at = arrival(w);
    push_event(w, &e, bytes);
    if (w->dup_percent && (int) (draw(w) % 100) < w->dup_percent) {
        e.at = arrival(w) + draw(w) % (1000 * FTREE_MS);
        push_event(w, &e, bytes);
    }
    return 0;
}

static bool loses(struct world *w, const struct world_way *way, bool large)
{
    return (way->no_large && large) ||
           (way->loss_percent && (int) (draw(w) % 100) < way->loss_percent);
}

static bool crosses_trunk(const struct world *w, int32_t from, int32_t to)
{
    const struct ftree_tree *t = w->job.tree;

    return t && ftree_tree_is_behind(t, w->trunk_to, to) &&
           !ftree_tree_is_behind(t, w->trunk_to, from);
}

static bool waits_for(const struct world *w, int32_t node, int32_t other)
{
    for (int32_t i = w->node_first[node]; i < w->node_first[node + 1]; i++)
        if (w->rank[w->node_ranks[i]].peer != FTREE_NONE &&
            w->rank_node[w->rank[w->node_ranks[i]].peer] == other)
            return true;
    return false;
}

static bool is_unresolved(const struct world *w, int32_t from, int32_t to, int path)
{
    const struct world_node *a = &w->node[from], *b = &w->node[to];

    return w->strangers && !waits_for(w, from, to) && !waits_for(w, to, from) &&
           (a->to[path].dead || a->from[path].dead || b->to[path].dead || b->from[path].dead);
}

static int send_packet(void *ctx, const struct ftree_route *to, bool large, const void *bytes,
                       size_t len)
{
    struct place *p = ctx;
    struct world *w = p->w;
    const struct world_way *out = &w->node[p->node].from[to->path];
    const struct world_way *in = &w->node[to->node].to[to->path];
    struct world_event e = {.kind = EVENT_PACKET,
                            .to = to->node,
                            .from = p->node,
                            .path = to->path,
                            .role = FTREE_ROLE_AGENT,
                            .len = len};

    w->node[p->node].packets++;
    if (loses(w, out, large) || loses(w, in, large) || is_unresolved(w, p->node, to->node, to->path) ||
        (crosses_trunk(w, p->node, to->node) && loses(w, &w->trunk, large)))
        return 0;
    e.arrived = arrival(w) + out->late + in->late;
    e.at = e.arrived + w->node[to->node].busy;
    push_event(w, &e, bytes);
    return 0;
}

static void take_packets(void *ctx, bool take)
{
    (void) ctx, (void) take;
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    struct place *p = ctx;
    int32_t rank = p->w->node_ranks[p->w->node_first[p->node] + i];

    *state = p->w->rank[rank];
    state->waiting = p->w->wait_since[rank] ? p->w->now - p->w->wait_since[rank] : 0;
}

static void deputy_answers(struct world *w, const struct world_event *e)
{
    uint8_t out[FTREE_MESSAGE_MAX];
    struct ftree_rank_state states[64];
    struct ftree_route back = {.node = e->from, .path = e->path, .conn = 1};
    size_t len = sizeof(out);
    int32_t n = 0;

    for (int32_t i = w->node_first[e->to]; i < w->node_first[e->to + 1] && n < 64; i++)
        look(&places[e->to], i - w->node_first[e->to], &states[n++]);
    ck_assert_int_eq(
        ftree_deputy_answer(&w->job, w->cfg.stall, e->bytes, e->len, states, n, out, &len),
        FTREE_OK);
    if (len)
        send_message(&places[e->to], &back, out, len);
}

static void deliver(struct world *w, const struct world_event *e)
{
    struct world_node *to = &w->node[e->to];

    if (e->kind == EVENT_REACH) {
        if (!to->off && !to->gone && connects(w, e->from, e->to, e->path))
            ftree_reached(to->ft, w->now, e->from, e->path, e->role, e->reach, e->error);
        return;
    }
    if (to->off || !passes(w, e->from, e->to, e->path))
        return;
    if (e->kind == EVENT_PACKET) {
        if (!to->gone)
            REQUIRE(ftree_packet(to->ft, w->now, e->arrived, e->from, e->path, e->bytes, e->len) ==
                    FTREE_OK);
        return;
    }
    if (e->role == FTREE_ROLE_DEPUTY) {
        if (!to->no_deputy)
            deputy_answers(w, e);
        return;
    }
    if (to->gone)
        return;
    to->received++;
    REQUIRE(ftree_receive(to->ft, w->now, e->from, e->path, 1, e->bytes, e->len) == FTREE_OK);
}

/* ---- the other callbacks --------------------------------------------------------------------- */

static void learn(void *ctx, const struct ftree_verdict *v)
{
    struct place *p = ctx;

    if (v->withdrawn)
        p->w->withdrawals_on[p->node]++;
    else
        p->w->verdicts_on[p->node]++;
}

static void losses(void *ctx, char *text, size_t room)
{
    const struct place *p = ctx;

    snprintf(text, room, "%s", p->w->state[p->node].losses);
}

static void state(void *ctx, struct ftree_node_state *out)
{
    const struct place *p = ctx;

    *out = p->w->state[p->node];
}

static void report(void *ctx, const struct ftree_verdict *v)
{
    struct place *p = ctx;
    struct world *w = p->w;

    if (v->withdrawn) {
        w->withdrawals++;
        return;
    }
    ck_assert_int_lt(w->reports, 64);
    w->report[w->reports] = *v;
    w->reporter[w->reports] = p->node;
    w->reported_at[w->reports++] = w->now;
}

static void trace(void *ctx, const char *line)
{
    struct place *p = ctx;
    struct world *w = p->w;
    size_t need = strlen(line) + 64;

    if (!w->steps && line[0] == ' ')
        return;
    if (w->trace_len + need > w->trace_room) {
        w->trace_room = 2 * w->trace_room + need;
        w->trace = realloc(w->trace, w->trace_room);
        ck_assert_ptr_nonnull(w->trace);
    }
    w->trace_len += (size_t) sprintf(w->trace + w->trace_len, "%d n%d: %s\n",
                                     (int) (w->now / FTREE_MS) - 1000, (int) p->node, line);
}

static void *alloc(void *ctx, void *ptr, size_t size)
{
    struct place *p = ctx;

    if (size == 0) {
        p->w->live_allocations -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (p->w->fail_alloc_in > 0 && --p->w->fail_alloc_in == 0) {
        p->w->fail_alloc_in = p->w->fail_on;
        return NULL;
    }
    p->w->live_allocations += ptr == NULL;
    return realloc(ptr, size);
}

static void note(void *ctx, const struct ftree_waiting *w)
{
    struct place *p = ctx;

    p->w->note = *w;
    p->w->notes++;
}

static const struct ftree_io io = {.send = send_message,
                                   .look = look,
                                   .verdict = learn,
                                   .report = report,
                                   .trace = trace,
                                   .alloc = alloc,
                                   .state = state,
                                   .losses = losses,
                                   .waiting = note};

/* ---- life ------------------------------------------------------------------------------------ */

struct world *world_new(int32_t nodes, int32_t ppn, int32_t fanout)
{
    return world_new_tree(NULL, nodes, ppn, fanout);
}

struct world *world_of(struct shape shape)
{
    ck_assert_str_eq(shape.topology, "");
    return world_new(shape.nodes, shape.ranks, shape.fanout);
}

void world_symptom(struct world *w, int32_t by, enum ftree_symptom_kind kind, int32_t node)
{
    struct ftree_symptom s = {.kind = (uint8_t) kind,
                              .severity = ftree_symptom_info(kind)->severity,
                              .about = {.node = node, .rank = FTREE_NONE, .switch_ = FTREE_NONE},
                              .count = 1,
                              .first = w->now,
                              .last = w->now};

    ck_assert_int_eq(ftree_symptom(w->node[by].ft, w->now, &s), FTREE_OK);
}

static void end(void *w)
{
    world_free(w);
}

struct world *world_new_tree(const struct ftree_tree *tree, int32_t nodes, int32_t ppn,
                             int32_t fanout)
{
    struct world *w = calloc(1, sizeof(*w));

    ck_assert_ptr_nonnull(w);
    ck_assert_int_le(nodes, WORLD_NODES_MAX);
    ck_assert_int_le(nodes * ppn, WORLD_RANKS_MAX);
    w->io = io;
    w->now = 1000 * FTREE_MS;
    w->latency = FTREE_MS;
    w->random = 1;
    ftree_config_default(&w->cfg);
    for (int32_t r = 0; r < nodes * ppn; r++) {
        w->rank_node[r] = r / ppn;
        w->node_ranks[r] = r;
        w->rank_pid[r] = 5000 + r;
        w->rank[r] = (struct ftree_rank_state){
            .rank = r, .pid = 5000 + r, .peer = FTREE_NONE, .proc_state = 'R'};
    }
    for (int32_t n = 0; n <= nodes; n++)
        w->node_first[n] = n * ppn;
    w->job = (struct ftree_job){.nodes = nodes,
                                .size = nodes * ppn,
                                .fanout = fanout,
                                .tree = tree,
                                .rules = base_rules(),
                                .seed = 7,
                                .has_path = {true, true},
                                .rank_node = w->rank_node,
                                .node_first = w->node_first,
                                .node_ranks = w->node_ranks,
                                .rank_pid = w->rank_pid};
    for (int32_t n = 0; n < nodes; n++) {
        places[n] = (struct place){.w = w, .node = n};
        ck_assert_int_eq(ftree_create(&w->job, n, &w->cfg, &w->io, &places[n], &w->node[n].ft),
                         FTREE_OK);
    }
    suite_keep(w, end);
    return w;
}

void world_packets(struct world *w)
{
    w->io.packet = send_packet;
    w->io.packets = take_packets;
}

struct world *world_at(void *ctx, int32_t i, int32_t *rank)
{
    const struct place *p = ctx;

    *rank = p->w->node_ranks[p->w->node_first[p->node] + i];
    return p->w;
}

void world_free(struct world *w)
{
    suite_forget(w);
    for (int32_t n = 0; n < w->job.nodes; n++)
        ftree_destroy(w->node[n].ft);
    ck_assert_int_eq(w->live_allocations, 0);
    for (int32_t i = 0; i < w->n_events; i++)
        free(w->events[i].bytes);
    free(w->events);
    free(w->trace);
    free(w->ranks);
    free(w);
}

void world_wait(struct world *w, int32_t rank, int32_t peer)
{
    w->rank[rank].phase = FTREE_PHASE_WAITING;
    w->rank[rank].peer = peer;
    w->wait_since[rank] = w->now;
}

void world_all_wait(struct world *w, int32_t but, int32_t peer)
{
    for (int32_t r = 0; r < w->job.size; r++)
        if (w->rank_node[r] != but && r != peer)
            world_wait(w, r, peer);
}

void world_go_on(struct world *w, int32_t rank)
{
    w->rank[rank].phase = FTREE_PHASE_OUTSIDE;
    w->wait_since[rank] = 0;
    ftree_stall_over(w->node[w->rank_node[rank]].ft, w->now, rank);
}

void world_count_reset(struct world *w)
{
    for (int32_t n = 0; n < w->job.nodes; n++)
        w->node[n].sent = w->node[n].received = 0;
}

int64_t world_busiest(const struct world *w)
{
    int64_t most = 0;

    for (int32_t n = 0; n < w->job.nodes; n++)
        if (w->node[n].sent + w->node[n].received > most)
            most = w->node[n].sent + w->node[n].received;
    return most;
}

const char *world_trace(struct world *w)
{
    static char *last;
    char *old = last;

    last = w->trace ? w->trace : calloc(1, 1);
    w->trace = NULL;
    w->trace_len = w->trace_room = 0;
    free(old);
    return last;
}

void world_succeed(struct world *w, int32_t node)
{
    struct ftree_verdict v;
    struct ftree *fresh;

    ck_assert_int_eq(ftree_create(&w->job, node, &w->cfg, &w->io, &places[node], &fresh), FTREE_OK);
    for (int32_t i = 0; ftree_verdict_at(w->node[node].ft, i, &v); i++)
        ck_assert_int_eq(ftree_restore(fresh, w->now, &v), FTREE_OK);
    ftree_destroy(w->node[node].ft);
    w->node[node].ft = fresh;
}

void world_take_over(struct world *w, int32_t node)
{
    int32_t left = 0;

    for (int32_t i = 0; i < w->n_events; i++)
        if (w->events[i].to == node && w->events[i].role == FTREE_ROLE_AGENT)
            free(w->events[i].bytes);
        else
            w->events[left++] = w->events[i];
    w->n_events = left;
    w->node[node].mute = w->node[node].gone = false;
    world_succeed(w, node);
}

void world_end_process(struct world *w, int32_t rank)
{
    w->rank[rank].phase = FTREE_PHASE_GONE;
    w->wait_since[rank] = 0;
    ck_assert_int_eq(ftree_rank_gone(w->node[w->rank_node[rank]].ft, w->now, rank), FTREE_OK);
}

void world_crash(struct world *w, int32_t node)
{
    for (int32_t i = w->node_first[node]; i < w->node_first[node + 1]; i++)
        world_end_process(w, w->node_ranks[i]);
    w->node[node].crashed = true;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool runs(const struct world *w, int32_t n)
{
    return !w->node[n].off && !w->node[n].mute && !w->node[n].gone &&
           w->node[n].asleep_until <= w->now;
}

/* When the agent of rank r's node would find it waiting too long. */
static ftree_time stall_at(const struct world *w, int32_t r)
{
    return w->wait_since[r] ? w->wait_since[r] + w->cfg.stall : FTREE_NEVER;
}

/* When an event is read: what comes for a process that does not run waits in its sockets. */
static ftree_time heard_at(const struct world *w, const struct world_event *e)
{
    const struct world_node *to = &w->node[e->to];

    if (e->kind == EVENT_MESSAGE && e->role == FTREE_ROLE_DEPUTY)
        return e->at;
    if (to->mute && !to->off && !to->gone)
        return FTREE_NEVER;
    return e->at > to->asleep_until ? e->at : to->asleep_until;
}

static ftree_time next_time(const struct world *w)
{
    ftree_time t = FTREE_NEVER, due;

    for (int32_t i = 0; i < w->n_events; i++) {
        due = heard_at(w, &w->events[i]);
        t = due < t ? due : t;
    }
    for (int32_t n = 0; n < w->job.nodes; n++) {
        if (w->node[n].off || w->node[n].mute || w->node[n].gone)
            continue;
        due = ftree_deadline(w->node[n].ft);
        if (due != FTREE_NEVER && due < w->node[n].asleep_until)
            due = w->node[n].asleep_until;
        t = due < t ? due : t;
    }
    for (int32_t r = 0; r < w->job.size; r++) {
        due = stall_at(w, r);
        if (due > w->now && due < t && runs(w, w->rank_node[r]))
            t = due;
    }
    return t;
}

/* Takes what is read now out of the events, which are in the order they were caused in. */
static int32_t take_due(struct world *w, struct world_event *due)
{
    int32_t n = 0, left = 0;

    for (int32_t i = 0; i < w->n_events; i++)
        if (heard_at(w, &w->events[i]) <= w->now)
            due[n++] = w->events[i];
        else
            w->events[left++] = w->events[i];
    w->n_events = left;
    return n;
}

static void check_handle(struct world *w, int32_t n)
{
    const char *broken = ftree_check(w->node[n].ft);

    if (broken)
        ck_abort_msg("invariant of node %d broken: %s", (int) n, broken);
    if (w->node[n].crashed && !ftree_has_unannounced(w->node[n].ft))
        ftree_leave_at_once(w->node[n].ft, w->now);
    if ((w->departs || w->node[n].crashed) && ftree_may_go(w->node[n].ft))
        w->node[n].gone = w->node[n].no_deputy = true;
}

static void deliver_due(struct world *w)
{
    struct world_event *due = malloc(((size_t) w->n_events + 1) * sizeof(*due));
    int32_t n = take_due(w, due);

    for (int32_t i = 0; i < n; i++) {
        deliver(w, &due[i]);
        free(due[i].bytes);
        check_handle(w, due[i].to);
    }
    free(due);
}

#define LOOKS (400 * FTREE_MS) /* how often an agent looks at its ranks */

/* Who has slept finds its next look late, before it does anything else. */
static void wake(struct world *w)
{
    for (int32_t n = 0; n < w->job.nodes; n++) {
        struct world_node *node = &w->node[n];
        if (node->asleep_until > w->now && !node->asleep_since)
            node->asleep_since = w->now;
        if (node->asleep_until > w->now || !node->asleep_since)
            continue;
        if (w->now > node->asleep_since + LOOKS && runs(w, n))
            ftree_late(node->ft, w->now, w->now - node->asleep_since - LOOKS);
        node->asleep_since = 0;
    }
}

static void step(struct world *w)
{
    wake(w);
    deliver_due(w);
    for (int32_t r = 0; r < w->job.size; r++)
        if (stall_at(w, r) <= w->now && runs(w, w->rank_node[r]))
            ftree_stall(w->node[w->rank_node[r]].ft, w->now, r, w->rank[r].peer,
                        w->now - w->wait_since[r]);
    for (int32_t n = 0; n < w->job.nodes; n++)
        if (runs(w, n) && ftree_deadline(w->node[n].ft) <= w->now) {
            ftree_tick(w->node[n].ft, w->now);
            check_handle(w, n);
        }
}

static void run_until(struct world *w, ftree_time end, int32_t reports)
{
    while (w->reports < reports) {
        ftree_time t = next_time(w);
        if (t > end) {
            w->now = end;
            return;
        }
        w->now = t > w->now ? t : w->now;
        step(w);
    }
}

void world_run(struct world *w, ftree_time duration)
{
    run_until(w, w->now + duration, INT32_MAX);
}

bool world_run_until_reports(struct world *w, int32_t n, ftree_time limit)
{
    run_until(w, w->now + limit, n);
    return w->reports >= n;
}
