/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "sim/sim_memory.h"

#include <stdlib.h>
#include <string.h>

/*
 * Faults begin and end.  With each goes what a program would do then (some ranks wait for those
 * that are gone, all of them if the script says so), and what is to be found.
 */

/* Waits begin within this time after their cause. */
#define WAITS_WITHIN (10 * FTREE_MS)

/* ---- waits ----------------------------------------------------------------------------------- */

static void begin_wait(struct sim_run *r, int32_t rank, int32_t peer)
{
    sim_handle_wait(r, rank, peer, WAITS_WITHIN);
}

/* The waits for the nodes that are marked are over, and theirs for others. */
static void end_waits(struct sim_run *r, const uint8_t *mark)
{
    int32_t per = r->options->topology->ranks_per_node;

    for (int32_t rank = 0; rank < r->job.size; rank++)
        if (r->rank[rank].since && (mark[r->rank[rank].peer / per] || mark[rank / per]))
            sim_handle_goes_on(r, rank);
}

static int32_t any_rank(struct sim_run *r, int32_t node)
{
    int32_t per = r->options->topology->ranks_per_node;

    return node * per + (int32_t) draw_below(&r->draw, (uint64_t) per);
}

/* A node that is well and not marked; FTREE_NONE: none was found. */
static int32_t any_other(struct sim_run *r, const uint8_t *mark)
{
    for (int i = 0; i < 1000; i++) {
        int32_t n = (int32_t) draw_below(&r->draw, (uint64_t) r->job.nodes);
        if (!mark[n] && !r->node[n].crashed && sim_handle_runs(r, n))
            return n;
    }
    return FTREE_NONE;
}

/* Some others wait for a node; `both`: and it for them. */
static void partners_wait(struct sim_run *r, int32_t node, const uint8_t *mark, bool both)
{
    for (int32_t i = 0; i < r->options->partners; i++) {
        int32_t other = any_other(r, mark);
        if (other == FTREE_NONE)
            return;
        begin_wait(r, any_rank(r, other), any_rank(r, node));
        if (both)
            begin_wait(r, any_rank(r, node), any_rank(r, other));
    }
}

static void two_wait(struct sim_run *r, int32_t a, int32_t b)
{
    if (a == b)
        return;
    begin_wait(r, any_rank(r, a), any_rank(r, b));
    begin_wait(r, any_rank(r, b), any_rank(r, a));
}

/* Some ranks, wherever they are, wait for one. */
static void others_wait(struct sim_run *r, int32_t rank)
{
    for (int32_t i = 0; i < r->options->partners; i++)
        begin_wait(r, (int32_t) draw_below(&r->draw, (uint64_t) r->job.size), rank);
}

#define CHAIN_MAX 1000

/* True: that one waits for this rank, or may: ranks that wait in a circle do not go on. */
static bool waits_for(const struct sim_run *r, int32_t rank, int32_t other)
{
    int i;

    for (i = 0; i < CHAIN_MAX && rank != other && r->rank[rank].since; i++)
        rank = r->rank[rank].peer;
    return rank == other || i == CHAIN_MAX;
}

/* A healthy program's: the rank that was drawn waits for another, unless one of them is in trouble;
 * and so on. */
static void random_wait(struct sim_run *r, int32_t line)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    struct sim_event e = {.kind = SIM_FAULT, .to = line, .from = 2};
    int32_t rank = (int32_t) draw_below(&r->draw, (uint64_t) r->job.size);
    int32_t peer = (int32_t) draw_below(&r->draw, (uint64_t) r->job.size);
    int32_t per = r->options->topology->ranks_per_node;

    e.at = r->now + 1 + draw_below(&r->draw, 2 * f->every);
    if (f->lasts == FTREE_NEVER || e.at < SIM_BEGINS + f->at + f->lasts)
        sim_queue_push(&r->queue, &e);
    if (r->rank[rank].since || !sim_handle_runs(r, rank / per) || !sim_handle_runs(r, peer / per) ||
        waits_for(r, peer, rank))
        return;
    begin_wait(r, rank, peer);
    if (!r->rank[rank].since)
        return;
    r->rank[rank].until = r->rank[rank].since + 1 + draw_below(&r->draw, f->by);
    e = (struct sim_event){
        .kind = SIM_OVER, .at = r->rank[rank].until, .to = rank / per, .from = rank};
    sim_queue_push(&r->queue, &e);
}

void sim_fault_over(struct sim_run *r, const struct sim_event *e)
{
    if (r->rank[e->from].until == r->now)
        sim_handle_goes_on(r, e->from);
}

static void storm(struct sim_run *r, const struct sim_hit *h)
{
    int32_t per = r->options->topology->ranks_per_node;

    if (h->nodes == 0)
        return;
    for (int32_t rank = 0; rank < r->job.size; rank++)
        if (rank / per != h->node[0])
            begin_wait(r, rank, sim_first_rank(r->options->topology, h->node[0]));
}

/* ---- what is to be found --------------------------------------------------------------------- */

static uint32_t classes_of(const struct sim_fault *f)
{
    static const uint32_t classes[SIM_VERBS] = {
        [SIM_LOSE] = SIM_CLASS(FTREE_CLASS_NODE_OUTAGE),
        [SIM_KILL] = SIM_CLASS(FTREE_CLASS_PROCESS_CRASH),
        [SIM_STOP] = SIM_CLASS(FTREE_CLASS_PROCESS_STOPPED),
        [SIM_FREEZE] = SIM_CLASS(FTREE_CLASS_NODE_FROZEN),
        [SIM_CUT] = SIM_CLASS(FTREE_CLASS_UNKNOWN) | SIM_CLASS(FTREE_CLASS_LINK_FAULT) |
                    SIM_CLASS(FTREE_CLASS_NIC_FAULT),
        [SIM_DOWN] = SIM_CLASS(FTREE_CLASS_NIC_FAULT),
        [SIM_PARTITION] = SIM_CLASS(FTREE_CLASS_SWITCH_FAULT) | SIM_CLASS(FTREE_CLASS_LINK_FAULT),
    };

    /* a node that nobody reaches looks like one without power */
    return classes[f->verb == SIM_CUT && f->paths == SIM_BOTH_PATHS ? SIM_LOSE : f->verb];
}

/* What nobody misses over the management network nobody finds; and of two nodes that do not reach
 * each other nobody else knows but their FLN, where it is one of them. */
static bool is_unnoticed(const struct sim_fault *f)
{
    return f->verb == SIM_CUT && (f->other != FTREE_NONE || f->paths == 1 << FTREE_PATH_MGMT);
}

/* The only other switch, where these two have all nodes behind them: both sides of a cut between
 * them look the same. */
static int32_t only_sibling(const struct ftree_tree *t, int32_t switch_)
{
    int32_t sibling = FTREE_NONE, parent = t->switch_parent[switch_];

    if (parent != FTREE_NONE)
        for (int32_t n = 0; n < t->nodes; n++)
            if (!ftree_tree_is_behind(t, parent, n))
                return FTREE_NONE;

    for (int32_t s = 0; s < t->switches; s++) {
        if (s == switch_ || t->switch_parent[s] != t->switch_parent[switch_] ||
            t->switch_head[s] == FTREE_NONE)
            continue;
        if (sibling != FTREE_NONE)
            return FTREE_NONE;
        sibling = s;
    }
    return sibling;
}

/* The switch behind which are these nodes and no others; FTREE_NONE: none is. */
static int32_t switch_of_all(const struct sim_run *r, const struct sim_hit *h)
{
    const struct ftree_tree *t = r->job.tree;
    int32_t s = t && h->nodes > 0 ? t->node_switch[h->node[0]] : FTREE_NONE;

    for (; s != FTREE_NONE; s = t->switch_parent[s]) {
        int32_t behind = 0, hit = 0;
        for (int32_t n = 0; n < r->job.nodes; n++)
            behind += ftree_tree_is_behind(t, s, n);
        for (int32_t i = 0; i < h->nodes; i++)
            hit += ftree_tree_is_behind(t, s, h->node[i]);
        if (hit == h->nodes && behind == hit)
            return s;
    }
    return FTREE_NONE;
}

/* Each side names the switch that lies between, or where it is more than one, each of those that
 * it cannot reach; never a node. */
static void expect_partition(const struct sim_run *r, const struct sim_hit *h, uint8_t paths,
                             struct sim_expectation *e)
{
    e->switch_ = switch_of_all(r, h);
    e->sides = 2;
    if (e->switch_ != FTREE_NONE) {
        e->classes = SIM_CLASS(FTREE_CLASS_SWITCH_FAULT);
        e->sibling = only_sibling(r->job.tree, e->switch_);
    } else if (r->job.tree) {
        e->sides = r->job.tree->switches;
    }
    /* a node alone reaches nobody, and tells only its own people */
    e->reporters = h->nodes > 1 && h->nodes < r->job.nodes - 1 ? 2 : 1;
    if (paths != SIM_BOTH_PATHS) /* they can agree over the other one */
        e->sides = e->reporters = 1;
}

/* Nobody can tell how a switch is that another one is above which is lost, too. */
static bool is_hidden(const struct sim_run *r, const struct sim_hit *h, int32_t switch_)
{
    int32_t s = r->job.tree->switch_parent[switch_];

    for (; s != FTREE_NONE; s = r->job.tree->switch_parent[s])
        for (int32_t i = 0; i < h->switches; i++)
            if (h->switch_[i] == s)
                return true;
    return false;
}

static void expect(struct sim_run *r, int32_t line, int32_t node, int32_t switch_)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    struct sim_expectation e = {.classes = classes_of(f),
                                .node = node,
                                .switch_ = switch_,
                                .fault = line,
                                .must = f->lasts >= SIM_NOTICED,
                                .sides = 1,
                                .reporters = 1,
                                .sibling = FTREE_NONE,
                                .since = r->now};

    if (is_unnoticed(f))
        e.must = false;
    if (f->verb == SIM_PARTITION)
        expect_partition(r, &r->hit[line], f->paths, &e);
    if (f->verb == SIM_KILL) /* each of its ranks is reported */
        e.sides = e.reporters = r->options->topology->ranks_per_node;
    if (f->verb == SIM_CUT && f->other != FTREE_NONE)
        e.classes = SIM_CLASS(FTREE_CLASS_UNKNOWN);
    if (switch_ != FTREE_NONE && f->verb == SIM_LOSE && is_hidden(r, &r->hit[line], switch_))
        e.must = false;
    if (switch_ != FTREE_NONE && f->verb == SIM_LOSE)
        e.classes = SIM_CLASS(FTREE_CLASS_SWITCH_FAULT);
    if (e.classes)
        sim_truth_expect(&r->truth, &e);
}

/* Of a switch that is lost the nodes behind it are not changed themselves. */
static bool is_the_switch(const struct sim_fault *f, const struct sim_hit *h)
{
    return h->switches > 0 && f->verb == SIM_LOSE;
}

static void expect_all(struct sim_run *r, int32_t line)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    const struct sim_hit *h = &r->hit[line];

    if (f->verb == SIM_PARTITION) {
        expect(r, line, FTREE_NONE, FTREE_NONE);
        return;
    }
    for (int32_t i = 0; i < h->switches && is_the_switch(f, h); i++)
        expect(r, line, FTREE_NONE, h->switch_[i]);
    for (int32_t i = 0; i < h->nodes && !is_the_switch(f, h); i++)
        expect(r, line, h->node[i], FTREE_NONE);
    if (f->verb == SIM_CUT && f->other != FTREE_NONE)
        expect(r, line, f->other, FTREE_NONE);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static ftree_time wakes_at(const struct sim_run *r, const struct sim_fault *f, bool begins)
{
    if (!begins)
        return 0;
    return f->lasts == FTREE_NEVER ? FTREE_NEVER : r->now + f->lasts;
}

/* The kernel notifies its agent. */
static void end_ranks(struct sim_run *r, int32_t node)
{
    int32_t per = r->options->topology->ranks_per_node;

    r->node[node].crashed = true;
    for (int32_t i = node * per; i < (node + 1) * per; i++) {
        r->rank[i].since = 0;
        if (r->options->trace)
            sim_trace_in(r, node, "gone", i);
        ftree_rank_gone(sim_handle(r, node), r->now, i);
    }
}

static void finalize_ranks(struct sim_run *r, int32_t node)
{
    int32_t per = r->options->topology->ranks_per_node;

    for (int32_t i = node * per; i < (node + 1) * per; i++)
        r->rank[i].finalized = true;
}

/* What a fault does to a node, and no more. */
static void change_node(struct sim_run *r, const struct sim_fault *f, int32_t node, bool begins)
{
    struct sim_node *n = &r->node[node];
    uint8_t *down = &r->network.down[node];

    switch (f->verb) {
        case SIM_LOSE:
            n->off = begins;
            *down = begins ? 0xff : 0;
            break;
        case SIM_KILL:
            if (begins && !n->off && !n->gone)
                end_ranks(r, node);
            break;
        case SIM_STOP:
            r->rank[f->other].stopped = begins;
            break;
        case SIM_FINALIZE:
            finalize_ranks(r, node);
            break;
        case SIM_FREEZE:
            n->asleep_until = wakes_at(r, f, begins);
            break;
        case SIM_CUT:
            if (f->other != FTREE_NONE)
                sim_network_cut(&r->network, node, f->other, begins ? f->paths : 0);
            else
                *down = (uint8_t) (begins ? *down | f->paths : *down & ~f->paths);
            if (f->other == FTREE_NONE && f->paths & 1 << FTREE_PATH_DATA)
                n->link = begins ? FTREE_LINK_NO_CARRIER : 0;
            break;
        case SIM_DOWN:
            *down = (uint8_t) (begins ? *down | f->paths : *down & ~f->paths);
            n->link = begins ? FTREE_LINK_DOWN : 0;
            break;
        case SIM_PARTITION:
            r->network.side[node] = begins;
            break;
    }
}

static void change(struct sim_run *r, int32_t line, bool begins)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    const struct sim_hit *h = &r->hit[line];

    if (f->verb == SIM_PARTITION)
        r->network.parted = begins ? f->paths : 0;
    for (int32_t i = 0; i < h->switches && is_the_switch(f, h); i++) {
        r->network.any_switch = true;
        r->network.switch_lost[h->switch_[i]] = begins;
    }
    for (int32_t i = 0; i < h->nodes && !is_the_switch(f, h); i++) {
        change_node(r, f, h->node[i], begins);
        sim_handle_touch(r, h->node[i]);
    }
}

/* A byte for each node: 1 for those of the line. */
static uint8_t *mark_hit(const struct sim_run *r, const struct sim_hit *h)
{
    uint8_t *mark = sim_calloc((size_t) r->job.nodes, 1);

    for (int32_t i = 0; i < h->nodes; i++)
        mark[h->node[i]] = 1;
    return mark;
}

static void begin(struct sim_run *r, int32_t line)
{
    const struct sim_fault *f = &r->options->script->fault[line];
    const struct sim_hit *h = &r->hit[line];
    bool both =
        f->verb == SIM_CUT || f->verb == SIM_DOWN || f->verb == SIM_PARTITION || h->switches > 0;
    uint8_t *mark;

    change(r, line, true);
    expect_all(r, line);
    if (f->verb == SIM_CUT && f->other != FTREE_NONE)
        for (int32_t i = 0; i < h->nodes; i++)
            two_wait(r, h->node[i], f->other);
    if (f->verb == SIM_STOP)
        others_wait(r, f->other);
    if (is_unnoticed(f) || f->verb == SIM_STOP || f->verb == SIM_FINALIZE)
        return;
    mark = mark_hit(r, h);
    for (int32_t i = 0; i < h->nodes; i++)
        partners_wait(r, h->node[i], mark, both);
    free(mark);
}

static void end(struct sim_run *r, int32_t line)
{
    uint8_t *mark = mark_hit(r, &r->hit[line]);

    change(r, line, false);
    sim_truth_over(&r->truth, line);
    end_waits(r, mark);
    free(mark);
}

/* Its ranks that are stopped run again. */
static void go_on(struct sim_run *r, int32_t node)
{
    int32_t per = r->options->topology->ranks_per_node;

    for (int32_t i = node * per; i < (node + 1) * per; i++)
        r->rank[i].stopped = false;
}

/* Everything is over for the nodes and switches of the line. */
static void give_back(struct sim_run *r, const struct sim_hit *h)
{
    uint8_t *mark = mark_hit(r, h);

    for (int32_t i = 0; i < h->switches; i++) {
        r->network.switch_lost[h->switch_[i]] = 0;
        sim_truth_well(&r->truth, FTREE_NONE, h->switch_[i]);
    }
    for (int32_t i = 0; i < h->nodes; i++) {
        struct sim_node *n = &r->node[h->node[i]];
        n->off = n->gone = n->crashed = false;
        n->asleep_until = 0;
        n->link = 0;
        go_on(r, h->node[i]);
        r->network.down[h->node[i]] = r->network.side[h->node[i]] = 0;
        sim_truth_well(&r->truth, h->node[i], FTREE_NONE);
        sim_handle_touch(r, h->node[i]);
    }
    end_waits(r, mark);
    free(mark);
}

static void heal(struct sim_run *r)
{
    for (int32_t i = 0; i < r->options->script->n; i++)
        if (r->options->script->fault[i].verb == SIM_PARTITION)
            end(r, i);
}

void sim_fault_event(struct sim_run *r, const struct sim_event *e)
{
    const struct sim_fault *f = &r->options->script->fault[e->to];
    const struct sim_hit *h = &r->hit[e->to];

    if (e->from < 2) {
        r->faults_left--;
        r->last_fault = r->now;
    }
    if (f->verb == SIM_RANDOM_WAITS && e->from != 1)
        random_wait(r, e->to);
    else if (f->verb == SIM_RANDOM_PHASES && e->from != 1)
        sim_hang_phase(r, e);
    else if (f->verb == SIM_RANDOM_WAITS || f->verb == SIM_RANDOM_PHASES)
        return;
    else if (f->verb == SIM_HANG && e->from)
        sim_hang_end(r, e->to);
    else if (f->verb == SIM_HANG)
        sim_hang_begin(r, e->to);
    else if (e->from)
        end(r, e->to);
    else if (f->verb == SIM_STORM)
        storm(r, h);
    else if (f->verb == SIM_RETURN)
        give_back(r, h);
    else if (f->verb == SIM_HEAL)
        heal(r);
    else
        begin(r, e->to);
}

void sim_fault_free(struct sim_run *r)
{
    for (int32_t i = 0; i < r->options->script->n; i++) {
        free(r->hit[i].node);
        free(r->hit[i].switch_);
        free(r->hit[i].hang.rank);
    }
    free(r->hit);
}
