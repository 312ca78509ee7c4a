/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

/*
 * Verdicts travel.  Up: from the FLN that decided to the acting root, one ancestor at a time; a
 * verdict already known on the way stops there.  Down: from the acting root to every node, each
 * passing it to its children; children that have failed are replaced by their own.  Back up: the
 * ranks that wait, as a set that grows on its way.  The acting root tells people once the set is in
 * or `gather` is over.
 *
 * The acting root is the first of the root and its substitutes that no verdict says is lost.
 * Whoever cannot reach the root does not act for it on its own belief: the verdict waits until the
 * root, too, has been decided about.
 */

#define UP_AGAIN (2000 * FTREE_MS)
#define UP_TRIES_MAX 8

bool ftree_spread_is_root(const struct ftree *ft)
{
    int32_t n;

    for (int32_t k = 0; (n = ftree_topo_root_substitute(&ft->topo, k)) != FTREE_NONE; k++) {
        if (n == ft->self)
            return true;
        if (!ftree_has_failed(ft, n))
            return false;
    }
    return false;
}

void ftree_spread_children(struct ftree *ft, int32_t node,
                           void (*f)(struct ftree *, int32_t, void *), void *arg)
{
    int32_t first, n = ftree_topo_children(&ft->topo, node, &first);

    for (int32_t child = first; child < first + n; child++) {
        if (child == ft->self || ftree_has_failed(ft, child))
            ftree_spread_children(ft, child, f, arg);
        else
            f(ft, child, arg);
    }
}

/* ---- the victims ----------------------------------------------------------------------------- */

static bool is_component(const struct ftree *ft, const struct ftree_verdict *v, int32_t rank)
{
    return v->rank == FTREE_NONE ? ftree_node_of(ft, rank) == v->node : rank == v->rank;
}

/* Ranks that found no room in the set may be counted twice. */
static void bound_victims(const struct ftree *ft, struct ftree_verdict *v)
{
    if (v->victims.count > ft->job->size)
        v->victims.count = ft->job->size;
}

/* Who has waited for half the time since the first symptom, but half the stall limit is enough: a
 * crash is told before anybody has stalled. */
static void add_own_victims(struct ftree *ft, ftree_time now, struct ftree_verdict *v)
{
    ftree_time limit = ftree_min(ft->cfg.stall, now - v->first_symptom);
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (ftree_symptom_is_victim(&s, limit) && !is_component(ft, v, s.rank))
            ftree_verdict_ranks_add(&v->victims, s.rank, s.rank);
    }
    bound_victims(ft, v);
}

static void send_victims(struct ftree *ft, ftree_time now, int32_t to,
                         const struct ftree_verdict *v, bool with_ranks)
{
    struct wire_message m = {.type = WIRE_VICTIMS};

    m.u.victims.fln = v->fln;
    m.u.victims.id = v->id;
    if (with_ranks)
        m.u.victims.ranks = v->victims;
    ftree_outbox_put(ft, now, to, &m);
}

static void finish(struct ftree *ft, ftree_time now, struct known *k)
{
    char name[16];

    k->gathered = true;
    k->gather_until = FTREE_NEVER;
    if (k->asker != FTREE_NONE) {
        send_victims(ft, now, k->asker, &k->v, true);
        return;
    }
    k->reported = true;
    ftree_trace(ft, "reports %s of %s: %d victims", ftree_class_name(k->v.class_),
                ftree_name(ft, k->v.node, name), k->v.victims.count);
    if (ft->io->report)
        ft->io->report(ft->io_ctx, &k->v);
}

/* A message may come twice, so a reply counts only from someone who still owes one. */
static bool settle_reply(struct known *k, int32_t from)
{
    for (int32_t i = 0; i < k->due.n; i++)
        if (k->due.items[i] == from) {
            FTREE_DROP(k->due, i);
            return true;
        }
    return false;
}

void ftree_spread_victims(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_victims *w)
{
    struct known *k = ftree_verdict_by_id(ft, w->fln, w->id);

    if (!k || k->gathered || !k->told_down || !settle_reply(k, from))
        return;
    ftree_verdict_ranks_merge(&k->v.victims, &w->ranks);
    bound_victims(ft, &k->v);
    if (k->due.n == 0)
        finish(ft, now, k);
}

/* ---- down ------------------------------------------------------------------------------------ */

struct telling {
    ftree_time now;
    int32_t known; /* index: the array may move */
    int32_t from;
};

static void tell_child(struct ftree *ft, int32_t child, void *arg)
{
    const struct telling *t = arg;
    struct known *k = &ft->known.items[t->known];
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .u.verdict = k->v};

    int32_t *due;

    if (child == t->from)
        return;
    /* one that is mute is told, too, but nobody waits for its answer */
    due = ftree_correlate_usable(ft, t->now, child) ? FTREE_PUSH(ft, k->due) : NULL;
    if (due)
        *due = child;
    m.u.verdict.victims = (struct ftree_ranks){0};
    ftree_outbox_put(ft, t->now, child, &m);
}

/* The time for answers shrinks level by level, so that each node has answered before the one above
 * stops waiting:  gather * height / height of the root. */
static ftree_time gather_time(const struct ftree *ft, int32_t from)
{
    int32_t all = ftree_topo_height(&ft->topo, 0);

    if (from == FTREE_NONE || all == 0)
        return ft->cfg.gather;
    return ft->cfg.gather * (ftree_time) ftree_topo_height(&ft->topo, ft->self) / (ftree_time) all;
}

static void tell_down(struct ftree *ft, ftree_time now, struct known *k, int32_t from)
{
    struct telling t = {.now = now, .known = (int32_t) (k - ft->known.items), .from = from};

    k->told_down = true;
    k->asker = from;
    k->up = UP_NOTHING;
    add_own_victims(ft, now, &k->v);
    ftree_spread_children(ft, from == FTREE_NONE ? 0 : ft->self, tell_child, &t);
    k = &ft->known.items[t.known];
    k->gather_until = now + gather_time(ft, from);
    if (k->due.n == 0)
        finish(ft, now, k);
}

void ftree_spread_clear(struct ftree *ft)
{
    for (int32_t i = 0; i < ft->known.n; i++)
        ftree_alloc(ft, ft->known.items[i].due.items, 0);
    ftree_alloc(ft, ft->known.items, 0);
}

/* Once more, to a node that seems to have missed it; nobody waits for its answer. */
static void tell_again(struct ftree *ft, ftree_time now, const struct known *k, int32_t node)
{
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .u.verdict = k->v};

    if (k->v.own_only)
        return;
    m.u.verdict.victims = (struct ftree_ranks){0};
    ftree_outbox_put(ft, now, node, &m);
}

void ftree_spread_retell(struct ftree *ft, ftree_time now, int32_t node)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        const struct known *k = &ft->known.items[i];
        if (k->told_down && (!k->v.withdrawn || k->v.node != node))
            tell_again(ft, now, k, node);
    }
}

bool ftree_spread_is_gathering(const struct ftree *ft)
{
    for (int32_t i = 0; i < ft->known.n; i++)
        if (ft->known.items[i].told_down && !ft->known.items[i].gathered)
            return true;
    return false;
}

/* Who has failed is asked no more. */
static void end_suspicions(struct ftree *ft, ftree_time now)
{
    bool any = false;

    for (int32_t i = 0; i < ft->suspects.n;) {
        struct suspect su = ft->suspects.items[i];
        if (!ftree_has_failed(ft, su.node)) {
            i++;
            continue;
        }
        FTREE_DROP(ft->suspects, i);
        ftree_group_drop(ft, su.node, su.switch_);
        any = true;
    }
    if (any)
        ftree_group_recheck(ft, now);
}

static struct known *learn(struct ftree *ft, ftree_time now, const struct ftree_verdict *v)
{
    struct known *k;

    ftree_withdraw_forget(ft, now);
    k = FTREE_PUSH(ft, ft->known);
    if (!k)
        return NULL;
    k->v = *v;
    k->gather_until = FTREE_NEVER;
    k->recheck = FTREE_NEVER;
    k->asker = FTREE_NONE;
    end_suspicions(ft, now);
    for (int32_t i = 0; i < ft->known.n - 1; i++) {
        struct known *other = &ft->known.items[i];
        if (other->v.node == v->node && !other->v.withdrawn && ftree_verdict_takes_node(ft, v))
            other->up = UP_NOTHING; /* nobody need hear what this explains */
        else if (other->up == UP_PENDING)
            other->up_again = now; /* perhaps this was what it waited for */
    }
    ftree_withdraw_watch(ft, now, k);
    if (ft->io->verdict && !v->withdrawn)
        ft->io->verdict(ft->io_ctx, v);
    return k;
}

/* ---- back ------------------------------------------------------------------------------------ */

static void tell_withdrawn(struct ftree *ft, int32_t child, void *arg)
{
    const struct telling *t = arg;

    if (child != t->from)
        tell_again(ft, t->now, &ft->known.items[t->known], child);
}

/* Whoever was told is told that it is over; who told people tells them. */
static void withdraw_down(struct ftree *ft, ftree_time now, struct known *k, int32_t from)
{
    struct telling t = {.now = now, .known = (int32_t) (k - ft->known.items), .from = from};

    k->up = UP_NOTHING;
    k->over_told_down = true;
    ftree_spread_children(ft, from == FTREE_NONE ? 0 : ft->self, tell_withdrawn, &t);
}

static void end_known(struct ftree *ft, ftree_time now, struct known *k, ftree_time withdrawn)
{
    char name[16];

    k->v.withdrawn = withdrawn;
    k->up_tries = 0;
    k->recheck = FTREE_NEVER;
    k->check = 0;
    k->gathered = true; /* nobody need wait for victims any more */
    k->gather_until = FTREE_NEVER;
    if (ft->io->verdict)
        ft->io->verdict(ft->io_ctx, &k->v);
    if (k->reported && ft->io->report)
        ft->io->report(ft->io_ctx, &k->v);
    else if (ftree_spread_is_root(ft))
        ftree_trace(ft, "%s of %s is over before it was told", ftree_class_name(k->v.class_),
                    ftree_name(ft, k->v.node, name));
    (void) now;
}

static void push_up(struct ftree *ft, ftree_time now, struct known *k);

void ftree_spread_withdraw(struct ftree *ft, ftree_time now, struct known *k, const char *why)
{
    bool was_lost = ftree_verdict_takes_node(ft, &k->v);
    int32_t node = k->v.node;
    char name[16];

    ftree_trace(ft, "withdraws %s of %s: %s", ftree_class_name(k->v.class_),
                ftree_name(ft, node, name), why);
    end_known(ft, now, k, now);
    if (!k->v.own_only)
        push_up(ft, now, k);
    if (was_lost && node != ft->self)
        ftree_spread_retell(ft, now, node);
}

/* A withdrawal that another node tells; *k NULL: the verdict never came this way, or was taken for
 * the same that another node found, so that it is noted lest it comes later.  True: it is news. */
static bool hear_withdrawn(struct ftree *ft, ftree_time now, const struct ftree_verdict *v,
                           struct known **k)
{
    struct known *same = *k ? *k : ftree_verdict_find(ft, v->class_, v->node, v->rank);
    char name[16];

    if (*k && (*k)->v.withdrawn)
        return false;
    if (same) {
        ftree_trace(ft, "learns that %s of %s is over", ftree_class_name(v->class_),
                    ftree_name(ft, v->node, name));
        end_known(ft, now, same, v->withdrawn);
    }
    if (!*k)
        *k = learn(ft, now, v);
    return *k != NULL;
}

void ftree_spread_down(struct ftree *ft, ftree_time now, int32_t from,
                       const struct ftree_verdict *v)
{
    struct known *k = ftree_verdict_by_id(ft, v->fln, v->id);
    char name[16];

    if (v->withdrawn) {
        hear_withdrawn(ft, now, v, &k);
        if (k && !k->over_told_down) /* it may have been heard already, on its way up */
            withdraw_down(ft, now, k, from);
        return;
    }
    if (!k) /* the same, found by another */
        k = ftree_verdict_find(ft, v->class_, v->node, v->rank);
    if (k && (k->told_down || k->v.withdrawn)) {
        send_victims(ft, now, from, v, false);
        return;
    }
    if (!k) {
        ftree_trace(ft, "learns %s of %s", ftree_class_name(v->class_),
                    ftree_name(ft, v->node, name));
        k = learn(ft, now, v);
    }
    if (k)
        tell_down(ft, now, k, from);
}

/* ---- up -------------------------------------------------------------------------------------- */

static void push_up(struct ftree *ft, ftree_time now, struct known *k)
{
    struct wire_message m = {.type = WIRE_VERDICT_UP, .u.verdict = k->v};
    bool substitute;
    int32_t hop;
    char name[16];

    if (ftree_spread_is_root(ft)) {
        if (k->v.withdrawn)
            withdraw_down(ft, now, k, FTREE_NONE);
        else
            tell_down(ft, now, k, FTREE_NONE);
        return;
    }
    hop = ftree_correlate_upward(ft, now, FTREE_NONE, &substitute);
    if (hop == ft->self || (substitute && !ftree_has_failed(ft, 0))) {
        k->up = UP_PENDING; /* the root is being asked; its verdict or answer decides */
        k->up_again = now + ft->rto;
        return;
    }
    ftree_trace(ft, "tells %s%s", substitute ? "substitute " : "", ftree_name(ft, hop, name));
    k->up = UP_SENT;
    k->up_again = now + UP_AGAIN;
    m.flags = substitute ? WIRE_FLAG_SUBSTITUTE : 0;
    ftree_outbox_put(ft, now, hop, &m);
}

/* A node that reaches nobody can tell only whoever reads its own output. */
static void tell_own(struct ftree *ft, ftree_time now, struct known *k)
{
    k->told_down = true;
    add_own_victims(ft, now, &k->v);
    finish(ft, now, k);
}

/* A verdict found here. */
void ftree_spread_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v)
{
    struct known *k = ftree_verdict_explaining(ft, v);
    char name[16];

    if (k) {
        k->v.symptoms += v->symptoms;
        return;
    }
    ftree_trace(ft, "verdict %s of %s by %s", ftree_class_name(v->class_),
                ftree_name(ft, v->node, name), v->rule);
    k = learn(ft, now, v);
    if (k && v->own_only)
        tell_own(ft, now, k);
    else if (k)
        push_up(ft, now, k);
}

/* A verdict found below, on its way to the root.  Who is root is decided by verdicts alone, so
 * whether the sender took this node for a substitute does not matter. */
void ftree_spread_up(struct ftree *ft, ftree_time now, int32_t from, const struct ftree_verdict *v)
{
    struct known *k = ftree_verdict_by_id(ft, v->fln, v->id);

    if (v->withdrawn) {
        if (hear_withdrawn(ft, now, v, &k))
            push_up(ft, now, k);
        else if (k)
            tell_again(ft, now, k, from);
        return;
    }
    if (!k)
        k = ftree_verdict_explaining(ft, v);
    if (k && (k->told_down || k->v.withdrawn)) {
        tell_again(ft, now, k, from); /* who still tells it has not heard it coming down */
        return;
    }
    if (k) {
        k->v.symptoms += v->symptoms;
        return;
    }
    k = learn(ft, now, v);
    if (k)
        push_up(ft, now, k);
}

/* ---- trouble and time ------------------------------------------------------------------------ */

/* The verdict that a letter carries: others about the same node have letters of their own. */
static struct known *carried(struct ftree *ft, ftree_time now, const struct letter *l)
{
    struct wire_message m;

    if (ftree_wire_decode(ft->job, now, l->bytes, l->len, &m))
        return NULL;
    return ftree_verdict_by_id(ft, m.u.verdict.fln, m.u.verdict.id);
}

/* True while a letter with this verdict may still have to be sent again, or by another way. */
bool ftree_spread_is_under_way(struct ftree *ft, ftree_time now, const struct known *k)
{
    for (int32_t i = 0; i < ft->outbox.n; i++) {
        const struct letter *l = &ft->outbox.items[i];
        if ((l->type == WIRE_VERDICT_UP || l->type == WIRE_VERDICT_DOWN) &&
            carried(ft, now, l) == k)
            return true;
    }
    return false;
}

/* Tells the children of a child that does not answer. */
static void adopt(struct ftree *ft, ftree_time now, int32_t child, struct known *k)
{
    struct telling t = {.now = now, .known = (int32_t) (k - ft->known.items), .from = FTREE_NONE};
    struct suspect *su = ftree_probe_find(ft, child);

    if (su)
        su->untold = true;
    ftree_spread_children(ft, child, k->v.withdrawn ? tell_withdrawn : tell_child, &t);
    if (k->gathered)
        return;
    /* those below it hear of the verdict only now */
    k->gather_until = ftree_max(k->gather_until, now + ft->cfg.gather / 2);
    if (settle_reply(k, child) && k->due.n == 0)
        finish(ft, now, k);
}

void ftree_spread_undeliverable(struct ftree *ft, ftree_time now, const struct letter *l)
{
    struct known *k;

    switch (l->type) {
        case WIRE_VERDICT_UP:
            k = carried(ft, now, l);
            if (k && k->up == UP_SENT)
                push_up(ft, now, k);
            break;
        case WIRE_VERDICT_DOWN:
            k = carried(ft, now, l);
            if (k && (k->told_down || k->v.withdrawn))
                adopt(ft, now, l->to, k);
            break;
        case WIRE_SWEEP:
            ftree_sweep_upward(ft, now, FTREE_NONE); /* past the node that is silent */
            break;
        case WIRE_GOODBYE:
            ftree_leave_undeliverable(ft, now, l->to);
            break;
        default:
            break;
    }
}

void ftree_spread_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        struct known *k = &ft->known.items[i];
        if (k->gather_until <= now && !k->gathered)
            finish(ft, now, k);
        if (k->up != UP_NOTHING && k->up_again <= now) {
            if (k->up == UP_SENT && ++k->up_tries >= UP_TRIES_MAX)
                k->up = UP_NOTHING;
            else
                push_up(ft, now, k);
        }
    }
}

ftree_time ftree_spread_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    for (int32_t i = 0; i < ft->known.n; i++) {
        const struct known *k = &ft->known.items[i];
        if (!k->gathered)
            t = ftree_min(t, k->gather_until);
        if (k->up != UP_NOTHING)
            t = ftree_min(t, k->up_again);
    }
    return t;
}
