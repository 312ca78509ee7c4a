/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/announce/announce.h"

#include "ftree/base/event.h"

#include <string.h>

/*
 * Verdicts travel.  Up: from the FLN that decided to the acting root, whole, one ancestor at a
 * time; a verdict already known on the way stops there.  Down: from the acting root to every node,
 * in summary, each passing it to its children; children that have failed are replaced by their own.
 * Back up: the ranks that wait, as a set that grows on its way.  The acting root reports once
 * the set is in or the time for it is over.
 *
 * Where nobody waits, at a node and below it, it says so with the acknowledgment, which it keeps
 * back for that; so a verdict costs two messages a node.  The victims, where there are any,
 * acknowledge, too.  When many are found at once they are announced together: the first at once,
 * those that follow after a pause that grows while there are more.  And a lost node is announced
 * with those below it that are still being examined: the node that acts for it sends each to its
 * children, and theirs.  (In the simulator, 1,000 nodes: without the pause a hundred lost nodes
 * cost ten times the messages, without the holding a node that is lost with one below it twice.)
 *
 * The acting root is the first of the root and its substitutes that has not left, and that no
 * verdict says is lost or without agent and deputy.
 * A node that cannot reach the root does not act for it on its own belief: the verdict waits until
 * the root, too, has been decided about; if its node leaves before, at another.
 */

#define UP_AGAIN (2000 * FTREE_MS)
#define UP_TRIES_MAX 8

/* Between two announcements by the acting root; after this long a calm the pause is the shortest
 * again. */
#define ANNOUNCE_PAUSE_MIN (20 * FTREE_MS)
#define ANNOUNCE_PAUSE_MAX (320 * FTREE_MS)
#define ANNOUNCE_CALM (1000 * FTREE_MS)

/* How long the verdict on a lost node may wait for those on others below it.  Symptoms about these
 * were sent to the lost node first, so they come later by what the outbox is patient: 7/3 rto. */
#define HELD_MAX(ft) (3 * ftree_rto(ft))

/* What is over is kept, for a copy of the verdict may still be on its way and must not be believed
 * anew.  That takes a message's two tries and its author's 8 repetitions for each step of the tree:
 * seconds.  Of what is older, and sent to all below, so many are kept: for one that
 * was away and is back, and for the report.  A copy that comes later still (from a process that was
 * stopped for long) does no harm: its FLN and the acting root ask before people hear of it. */
#define OVER_AGE (60 * 1000 * FTREE_MS)
#define OVER_MAX 32

/* ---- what is known of each ------------------------------------------------------------------- */

/* Goes through the verdicts, where there is one that has something to send. */
#define EACH_UNSENT(k, ft) \
    FTREE_EACH_IF((ft)->announce->unsent > 0, struct known, k, (ft)->state->known)

/* They are counted, because among hundreds of verdicts there are few that have any. */
void ftree_announce_set_up(struct ftree *ft, struct known *k, enum up_state up)
{
    struct announcing *a = ftree_announcing(ft, k);

    ft->announce->unsent += (up != UP_NOTHING) - (a->up != UP_NOTHING);
    a->up = (uint8_t) up;
}

/* One that is known can be announced, so there is room for it in the batch. */
static bool reserve(struct ftree *ft, int32_t n)
{
    struct ftree_announce *an = ft->announce;

    return ftree_verdict_reserve(ft, n) && FTREE_RESERVE(ft, an->of, n) &&
           ftree_reserve(ft, &an->batch.items, an->of.room, &an->batch.room,
                         sizeof(an->batch.items[0]));
}

struct known *ftree_announce_add(struct ftree *ft, const struct summary *o)
{
    struct ftree_announce *an = ft->announce;
    bool has_room = an->of.n < an->of.room && an->of.n < an->batch.room;
    struct known *k = has_room || reserve(ft, 4) ? ftree_verdict_add(ft, o) : NULL;

    if (k)
        (void) FTREE_PUSH(ft, an->of);
    return k;
}

/* ---- down ------------------------------------------------------------------------------------ */

/* Writes as much of the batch as finds room, from place i on; returns the place after it. */
static int32_t write_summaries(struct ftree *ft, ftree_time now, int32_t i, struct survey_post *p)
{
    struct wire_summaries w = {0};
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .id = ++ft->next_id};

    for (; i < ft->announce->batch.n; i++) {
        const struct summary *o = &ft->state->known.items[ft->announce->batch.items[i]].v;
        if (!ftree_wire_put_summary(&w, now, o, ftree_verdict_rule(ft, o)))
            break;
    }
    m.u.summaries = ftree_wire_summary_list(&w);
    p->number = m.id;
    p->payload = ftree_outbox_payload(ft, now, &m);
    return i;
}

/* A node whose ranks have all ended is nobody's child any more; but its agent waits until what it
 * said of them comes down.  Its children in the tree may hear of it there first, and say there that
 * they wait. */
static void send_to_authors(struct ftree *ft, struct survey_post *p)
{
    for (int32_t i = 0; i < ft->announce->batch.n; i++) {
        const struct summary *o = &ft->state->known.items[ft->announce->batch.items[i]].v;
        bool is_new = true;
        for (int32_t j = 0; j < i; j++)
            is_new = is_new &&
                     ft->state->known.items[ft->announce->batch.items[j]].v.node != o->node;
        if (is_new && o->fln == o->node && o->node != ft->self && !o->withdrawn &&
            ftree_verdict_ends_all(ft, o->node) && !ftree_peer_has_left(ft, o->node))
            ftree_survey_post(ft, o->node, p);
    }
}

/* Sends the batch to the children of `node`. */
static void send_to_children(struct ftree *ft, int32_t node, struct survey_post *p)
{
    int32_t first, children = ftree_topo_children(ft->topo, node, &first);

    for (int32_t i = 0; children > 0 && i < ft->announce->batch.n;) {
        i = write_summaries(ft, p->now, i, p);
        if (!p->payload)
            return;
        ftree_route_children(ft, node, ftree_survey_post, p);
        if (p->from == FTREE_NONE && p->r)
            send_to_authors(ft, p);
        ftree_outbox_release(ft, p->payload);
    }
}

/* Once more, to a node that seems to have missed it; nobody waits for its answer. */
static void send_again(struct ftree *ft, ftree_time now, int32_t node)
{
    struct survey_post p = {.now = now, .from = FTREE_NONE};

    for (int32_t i = 0; i < ft->announce->batch.n;) {
        i = write_summaries(ft, now, i, &p);
        if (!p.payload)
            return;
        ftree_survey_post(ft, node, &p);
        ftree_outbox_release(ft, p.payload);
    }
}

static void add_to_batch(struct ftree *ft, const struct known *k)
{
    (void) FTREE_ADD(ft, ft->announce->batch, (int32_t) (k - ft->state->known.items));
}

static void send_one_again(struct ftree *ft, ftree_time now, const struct known *k, int32_t node)
{
    if (k->v.local_only)
        return;
    ft->announce->batch.n = 0;
    add_to_batch(ft, k);
    send_again(ft, now, node);
}

/* What has been announced, but for what is over of the node itself; to a node on the other side of
 * a switch (FTREE_NONE: none), what this side knows of its own nodes. */
static void announce_again(struct ftree *ft, ftree_time now, int32_t switch_, int32_t node)
{
    bool behind = ftree_is_behind(ft, switch_, ft->self);

    ft->announce->batch.n = 0;
    FTREE_EACH(const struct known, k, ft->state->known) {
        bool is_its = switch_ == FTREE_NONE ? !k->v.withdrawn || k->v.node != node
                                            : ftree_is_behind(ft, switch_, k->v.node) == behind;
        if (ftree_announcing(ft, k)->announced && !k->v.local_only && is_its)
            add_to_batch(ft, k);
    }
    send_again(ft, now, node);
}

void ftree_announce_again(struct ftree *ft, ftree_time now, int32_t node)
{
    announce_again(ft, now, FTREE_NONE, node);
}

/* A switch is not lost any more: those on its other side who have nobody above them there tell it
 * to the others. */
static void announce_beyond(struct ftree *ft, ftree_time now, int32_t switch_)
{
    const struct ftree_tree *t = ft->job->tree;
    int32_t head = t->switch_head[switch_], first, n;

    if (!ftree_tree_is_behind(t, switch_, ft->self)) {
        announce_again(ft, now, switch_, head);
        return;
    }
    if (!ftree_tree_is_behind(t, switch_, 0)) {
        announce_again(ft, now, switch_, 0);
        return;
    }
    n = ftree_topo_children(ft->topo, head, &first);
    for (int32_t child = first; child < first + n; child++)
        if (!ftree_tree_is_behind(t, switch_, child))
            announce_again(ft, now, switch_, child);
}

/* From here on what is in the batch has been announced.  True: some of it is not over, and belongs
 * to that announcement. */
static bool mark_announced(struct ftree *ft, int32_t from, uint32_t announcement)
{
    bool stands = false;

    for (int32_t i = 0; i < ft->announce->batch.n; i++) {
        struct known *k = &ft->state->known.items[ft->announce->batch.items[i]];
        struct announcing *a = ftree_announcing(ft, k);
        ftree_announce_set_up(ft, k, UP_NOTHING);
        if (k->v.withdrawn) {
            a->over_announced = true;
            continue;
        }
        a->announced = true;
        a->announcement = announcement;
        stands = true;
        if (from != FTREE_NONE && k->v.fln != ft->self)
            ftree_verdict_drop_full(ft, k); /* it was on its way here, and is there */
    }
    return stands;
}

/* Tells the batch to those below, and asks for the victims of what is not over. */
static enum announced announce_batch(struct ftree *ft, ftree_time now,
                                     const struct ftree_route *asker, uint32_t asked)
{
    struct survey_post p = {.now = now, .from = asker->node};
    uint32_t number = ++ft->next_id;
    bool stands = mark_announced(ft, asker->node, number);
    struct ftree_ranks own = {0};

    if (stands) {
        ftree_victims_own(ft, now, number, &own);
        p.r = ftree_survey_tell(ft, now, number, asker, asked, &own, ftree_victims_in);
    }
    send_to_children(ft, asker->node == FTREE_NONE ? ftree_partition_top(ft) : ft->self, &p);
    if (p.r)
        ftree_survey_finish_if_in(ft, now, p.r);
    return stands ? ANNOUNCED_ASKING : ANNOUNCED_NOBODY_WAITS;
}

/* The root is back before its heir has announced what it queued: that is sent to the root. */
static void hand_over_queued(struct ftree *ft, ftree_time now)
{
    ft->announce->queued = 0;
    FTREE_EACH(struct known, k, ft->state->known) {
        struct announcing *a = ftree_announcing(ft, k);
        if (a->queued && (!a->announced || k->v.withdrawn)) {
            ftree_announce_set_up(ft, k, UP_PENDING);
            a->up_again = now;
        }
        a->queued = false;
    }
}

/* The acting root tells what it has queued. */
static void announce_queued(struct ftree *ft, ftree_time now)
{
    ft->announce->pause = now < ft->announce->next_at + ANNOUNCE_CALM && ft->announce->pause
                              ? ftree_min(2 * ft->announce->pause, ANNOUNCE_PAUSE_MAX)
                              : ANNOUNCE_PAUSE_MIN;
    ft->announce->next_at = now + ft->announce->pause;
    ft->announce->queued = 0;
    ft->announce->batch.n = 0;
    FTREE_EACH(struct known, k, ft->state->known) {
        struct announcing *a = ftree_announcing(ft, k);
        if (a->queued)
            add_to_batch(ft, k);
        a->queued = false;
    }
    announce_batch(ft, now, &(struct ftree_route){.node = FTREE_NONE}, 0);
}

/* What was found within milliseconds waits for `settle`: until then few of its victims have begun
 * to wait for it, and would not be named. */
static void queue(struct ftree *ft, ftree_time now, struct known *k, bool more)
{
    ftree_time settled = k->v.withdrawn ? now : k->v.first_symptom + ft->cfg.settle;
    struct announcing *a = ftree_announcing(ft, k);

    ftree_announce_set_up(ft, k, UP_NOTHING);
    if (more && ft->announce->queued == 0) /* else what is due would be put off */
        settled = ftree_max(settled, now + ANNOUNCE_PAUSE_MIN);
    ft->announce->queued += !a->queued;
    a->queued = true;
    if (ft->announce->next_at + ANNOUNCE_CALM <= now)
        ft->announce->pause = 0; /* also where it is announced later than now */
    if (ft->announce->next_at <= now && settled > now)
        ft->announce->next_at = settled;
    if (ft->announce->next_at <= now)
        announce_queued(ft, now);
}

/* ---- learning -------------------------------------------------------------------------------- */

/* What others were to be sent may be explained now, or have waited for this. */
static void look_at_others(struct ftree *ft, ftree_time now, const struct summary *o,
                           bool root_lost)
{
    bool takes_node = ftree_verdict_takes_node(ft, o);

    for (int32_t i = 0; i < ft->state->known.n - 1 && ft->announce->unsent > 0; i++) {
        struct known *other = &ft->state->known.items[i];
        struct announcing *a = ftree_announcing(ft, other);
        if (a->up == UP_NOTHING)
            continue;
        if ((other->v.node == o->node && !other->v.withdrawn && takes_node) ||
            ftree_verdict_is_mutual(&other->v, o))
            ftree_announce_set_up(ft, other, UP_NOTHING); /* nobody need hear what this explains */
        else if (a->up == UP_PENDING || (root_lost && a->up == UP_SENT))
            a->up_again = now; /* perhaps this was what it waited for, or on its way to */
    }
}

/* The acting root is lost, and with it what it knew of the verdicts found here.  Where that is this
 * node, which ends, it still tells people itself of what it is gathering the victims for. */
static void send_to_heir(struct ftree *ft, ftree_time now, bool was_root)
{
    struct wire_message m = {.type = WIRE_VERDICT_UP};
    int32_t heir = ftree_route_root(ft);

    FTREE_EACH_IF(heir != FTREE_NONE && heir != ft->self, const struct known, k, ft->state->known) {
        const struct announcing *a = ftree_announcing(ft, k);
        if (!k->full || k->v.fln != ft->self || !a->announced || k->v.withdrawn ||
            k->v.local_only || (was_root && a->announcement))
            continue;
        ftree_verdict_load(ft, k, &m.u.verdict);
        ftree_outbox_put(ft, now, heir, &m);
    }
}

/* v: room, as ftree_verdict_load() wants it. */
static void notify_glue(struct ftree *ft, const struct known *k, bool unreported,
                        struct ftree_verdict *v)
{
    if (!ft->io->verdict)
        return;
    ftree_verdict_load(ft, k, v);
    v->unreported = unreported;
    ft->io->verdict(ft->io_ctx, v);
}

static struct known *learn(struct ftree *ft, ftree_time now, const struct summary *o,
                           const struct ftree_verdict *whole, struct ftree_verdict *room)
{
    int32_t root = ftree_route_root(ft);
    bool root_lost;
    struct known *k = ftree_announce_add(ft, o);

    if (!k)
        return NULL;
    if (whole)
        ftree_verdict_keep(ft, k, whole);
    root_lost = ftree_route_root(ft) != root;
    look_at_others(ft, now, o, root_lost);
    if (root_lost)
        send_to_heir(ft, now, root == ft->self);
    FTREE_EMIT(ft, LEARNED, .node = o->node, .by = o->fln, .number = o->id);
    if (!o->withdrawn)
        notify_glue(ft, k, whole != NULL, room);
    return k;
}

/* ---- back ------------------------------------------------------------------------------------ */

/* What was found here need be sent after all: see look_at_others(). */
static void announce_what_it_explained(struct ftree *ft, ftree_time now, int32_t node)
{
    FTREE_EACH_STANDING(k, ft, node) {
        struct announcing *a = ftree_announcing(ft, k);
        if (k->v.fln != ft->self || a->announced || a->queued ||
            a->up != UP_NOTHING)
            continue;
        ftree_announce_set_up(ft, k, UP_PENDING); /* not at once: others are announced just now */
        a->up_again = now;
        a->up_tries = 0;
    }
}

static void end_known(struct ftree *ft, ftree_time now, struct known *k, ftree_time withdrawn)
{
    bool was_lost = ftree_verdict_takes_node(ft, &k->v);
    struct announcing *a = ftree_announcing(ft, k);
    struct ftree_verdict v = {0};

    ftree_verdict_withdraw(ft, k, withdrawn);
    a->announcement = 0;
    a->up_tries = 0;
    notify_glue(ft, k, false, &v);
    if (a->reported && ft->io->report) {
        ftree_verdict_load(ft, k, &v);
        ft->io->report(ft->io_ctx, &v);
    } else if (ftree_route_is_root(ft)) {
        ftree_trace(ft, "%s of %s is over before it was announced", ftree_class_name(k->v.class_),
                    ftree_name_of(ft, &k->v));
    }
    if (was_lost)
        announce_what_it_explained(ft, now, k->v.node);
}

static void push_up(struct ftree *ft, ftree_time now, struct known *k, bool more);

void ftree_announce_withdraw(struct ftree *ft, ftree_time now, struct known *k, const char *why)
{
    bool was_lost = ftree_verdict_takes_node(ft, &k->v) || k->ends_agent;
    int32_t node = k->v.node, cut = k->cuts ? k->v.switch_ : FTREE_NONE;

    ftree_trace(ft, "withdraws %s of %s: %s", ftree_class_name(k->v.class_),
                ftree_name_of(ft, &k->v), why);
    end_known(ft, now, k, now);
    if (!k->v.local_only)
        push_up(ft, now, k, false);
    if (was_lost && node != ft->self)
        ftree_announce_again(ft, now, node);
    else if (cut != FTREE_NONE)
        announce_beyond(ft, now, cut);
}

/* A withdrawal that another node tells; *k NULL: the verdict never came this way, or was taken for
 * the same that another node found, so that it is noted lest it comes later.  True: it is news. */
static bool hear_withdrawn(struct ftree *ft, ftree_time now, const struct summary *o,
                           struct known **k)
{
    struct known *same = *k ? *k : ftree_verdict_same(ft, o);

    if (*k && (*k)->v.withdrawn)
        return false;
    if (same) {
        ftree_trace(ft, "learns that %s of %s is over", ftree_class_name(o->class_),
                    ftree_name_of(ft, o));
        end_known(ft, now, same, o->withdrawn);
    }
    if (!*k)
        *k = learn(ft, now, o, NULL, NULL);
    return *k != NULL;
}

/* One of several that come from above.  True: it is news that those below have not heard. */
static bool hear(struct ftree *ft, ftree_time now, const struct summary *o, struct known **k,
                 struct ftree_verdict *room)
{
    *k = ftree_verdict_by_id(ft, o);
    if (o->withdrawn) {
        hear_withdrawn(ft, now, o, k);
        /* it may have been heard already, on its way up */
        return *k && !ftree_announcing(ft, *k)->over_announced;
    }
    if (!*k) /* the same, found by another */
        *k = ftree_verdict_same(ft, o);
    if (*k)
        return !ftree_announcing(ft, *k)->announced && !(*k)->v.withdrawn;
    ftree_trace(ft, "learns %s of %s", ftree_class_name(o->class_), ftree_name_of(ft, o));
    *k = learn(ft, now, o, NULL, room);
    return *k != NULL;
}

enum announced ftree_announce_down(struct ftree *ft, ftree_time now,
                                   const struct ftree_route *back, const struct wire_message *m)
{
    struct wire_summary_list rest = m->u.summaries;
    struct ftree_verdict room = {0};
    char rule[FTREE_NAME_MAX] = "";
    enum announced again =
        ftree_survey_answered(ft, back->node, (enum ftree_path) back->path, m->id);
    struct summary o;
    struct known *k;

    if (again != ANNOUNCED_NOBODY_WAITS) /* it came twice */
        return again;
    ftree_announce_forget(ft, now);
    ft->announce->batch.n = 0;
    reserve(ft, rest.n);
    while (ftree_wire_get_summary(ft->job, now, &rest, &o, rule)) {
        ftree_verdict_name_rule(ft, &o, rule);
        if (hear(ft, now, &o, &k, &room))
            add_to_batch(ft, k);
    }
    return ft->announce->batch.n > 0 ? announce_batch(ft, now, back, m->id)
                                  : ANNOUNCED_NOBODY_WAITS;
}

/* ---- up -------------------------------------------------------------------------------------- */

/* Until when a verdict found here waits for those on others below its node; 0: it does not.  One on
 * the root never does: who acts for it depends on that.  (Without it a node that is lost together with a
 * child of its costs 1.9 times the messages in the simulator, at 1,000 and 10,000 nodes.) */
static ftree_time held_until(const struct ftree *ft, const struct known *k)
{
    if (k->v.fln != ft->self || k->v.node == 0 || k->v.kind != FTREE_KIND_NODE ||
        !ftree_verdict_takes_node(ft, &k->v))
        return 0;
    return ftree_case_any_below(ft, k->v.node) ? k->v.located + HELD_MAX(ft) : 0;
}

/* Those that are held no more go along; true: there are some. */
static bool push_held(struct ftree *ft, ftree_time now)
{
    bool any = false;

    EACH_UNSENT(k, ft) {
        const struct announcing *a = ftree_announcing(ft, k);
        if (a->up != UP_HELD || (a->up_again > now && held_until(ft, k) > now))
            continue;
        push_up(ft, now, k, true);
        any = true;
    }
    return any;
}

/* more: another one goes with it. */
static void push_up(struct ftree *ft, ftree_time now, struct known *k, bool more)
{
    struct wire_message m = {.type = WIRE_VERDICT_UP};
    struct announcing *a = ftree_announcing(ft, k);
    ftree_time held = held_until(ft, k);
    bool substitute;
    int32_t hop;

    if (held > now) {
        ftree_announce_set_up(ft, k, UP_HELD);
        a->up_again = held;
        return;
    }
    ftree_announce_set_up(ft, k, UP_PENDING); /* held, it would go along with itself */
    more = push_held(ft, now) || more;
    if (ftree_route_is_root(ft)) {
        queue(ft, now, k, more);
        return;
    }
    hop = ftree_route_upward(ft, now, FTREE_NONE, &substitute);
    if (hop == ft->self || (substitute && ftree_peer_can_act(ft, 0) && !ftree_is_leaving(ft))) {
        /* the root is being asked; its verdict or answer decides */
        a->up_again = now + ftree_rto(ft);
        return;
    }
    ftree_trace(ft, "sends verdict to %s%s", substitute ? "substitute " : "", ftree_name(ft, hop));
    ftree_announce_set_up(ft, k, UP_SENT);
    a->up_again = now + UP_AGAIN;
    m.flags = (uint8_t) ((substitute ? WIRE_FLAG_SUBSTITUTE : 0) | (more ? WIRE_FLAG_MORE : 0));
    ftree_verdict_load(ft, k, &m.u.verdict);
    if (ftree_is_leaving(ft)) { /* it will not be there when it is asked for them */
        ft->announce->batch.n = 0;
        add_to_batch(ft, k);
        ftree_victims_own(ft, now, 0, &m.u.verdict.victims);
    }
    ftree_outbox_put(ft, now, hop, &m);
}

/* A node that reaches nobody reports to its own output alone. */
static void report_locally(struct ftree *ft, ftree_time now, struct known *k)
{
    struct announcing *a = ftree_announcing(ft, k);
    struct ftree_ranks victims = {0};

    ft->announce->batch.n = 0;
    add_to_batch(ft, k);
    mark_announced(ft, FTREE_NONE, ++ft->next_id);
    ftree_victims_own(ft, now, a->announcement, &victims);
    a->announcement = 0;
    ftree_victims_report(ft, k, &victims);
}

/* Who acted for this agent has reported what was still to be reported here. */
static void was_reported(struct ftree *ft, const struct known *k)
{
    struct announcing *a = ftree_announcing(ft, k);

    if (!a->queued && !a->announcement)
        return;
    ft->announce->queued -= a->queued;
    a->queued = false;
    a->announcement = 0;
    a->announced = a->reported = true;
}

/* What was found longer ago has been announced: until then it is sent again every two seconds. */
#define RESUME_AGE UP_AGAIN

struct known *ftree_announce_restore(struct ftree *ft, ftree_time now,
                                     const struct ftree_verdict *v)
{
    struct summary o = ftree_verdict_summary(ft, v);
    struct known *k = ftree_verdict_by_id(ft, &o);
    struct announcing *a;

    if (k && v->withdrawn && !k->v.withdrawn) {
        ftree_verdict_withdraw(ft, k, v->withdrawn);
        ftree_announcing(ft, k)->announcement = 0;
    } else if (k && !v->unreported) {
        was_reported(ft, k);
    }
    if (k)
        return k;
    k = ftree_announce_add(ft, &o);
    if (!k)
        return NULL;
    a = ftree_announcing(ft, k);
    a->announced = a->reported = true;
    if (v->evidences > 0)
        ftree_verdict_keep(ft, k, v);
    if (v->fln == ft->self && v->id > ft->next_id)
        ft->next_id = v->id; /* nobody may take a new verdict for one that is over */
    if (v->unreported && !v->withdrawn && !v->local_only && now < v->located + RESUME_AGE) {
        a->announced = a->reported = false;
        ftree_announce_set_up(ft, k, UP_PENDING); /* not at once: others, of the root, may follow */
        a->up_again = now;
    }
    return k;
}

/* A verdict found here. */
void ftree_announce_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v)
{
    struct summary o = ftree_verdict_summary(ft, v);
    struct known *k = ftree_verdict_explaining(ft, &o);
    struct ftree_verdict room = {0};

    if (k) {
        ftree_verdict_count_symptoms(k, v->symptoms);
        return;
    }
    ftree_announce_forget(ft, now);
    ftree_trace(ft, "verdict %s of %s by %s", ftree_class_name(v->class_), ftree_name_of(ft, &o),
                v->rule);
    k = learn(ft, now, &o, v, &room);
    if (k && v->local_only)
        report_locally(ft, now, k);
    else if (k)
        push_up(ft, now, k, false);
}

/* False where the one explains the other. */
static bool says_the_same(const struct summary *a, const struct summary *b)
{
    return a->class_ == b->class_ && a->rank == b->rank && a->switch_ == b->switch_ &&
           a->node == b->node;
}

/* A verdict found below, on its way to the root.  Who is root is decided by verdicts alone, so
 * whether the sender took this node for a substitute does not matter. */
void ftree_announce_up(struct ftree *ft, ftree_time now, int32_t from,
                       const struct ftree_verdict *v, bool more)
{
    struct summary o = ftree_verdict_summary(ft, v);
    struct ftree_verdict room = {0};
    struct known *k;

    ftree_announce_forget(ft, now);
    k = ftree_verdict_by_id(ft, &o);
    if (o.withdrawn) {
        if (hear_withdrawn(ft, now, &o, &k))
            push_up(ft, now, k, more);
        else if (k)
            send_one_again(ft, now, k, from);
        return;
    }
    if (!k)
        k = ftree_verdict_explaining(ft, &o);
    if (k && ftree_announcing(ft, k)->announced && !k->full && says_the_same(&k->v, &o))
        ftree_verdict_keep(ft, k, v); /* this node is the root now, or will soon know that it is */
    if (k && (ftree_announcing(ft, k)->announced || k->v.withdrawn)) {
        send_one_again(ft, now, k, from); /* who still tells it has not heard it coming down */
        return;
    }
    if (k) {
        ftree_verdict_count_symptoms(k, v->symptoms);
        return;
    }
    k = learn(ft, now, &o, v, &room);
    if (k)
        push_up(ft, now, k, more);
}

/* ---- trouble and time ------------------------------------------------------------------------ */

/* The verdict that a message carries: others about the same node have messages of their own. */
static struct known *carried_up(struct ftree *ft, ftree_time now, const struct message *l)
{
    struct wire_message m;
    struct summary o;

    if (ftree_wire_decode(ft->job, now, l->payload->bytes, l->payload->len, &m))
        return NULL;
    o = (struct summary){.node = m.u.verdict.node, .fln = m.u.verdict.fln, .id = m.u.verdict.id};
    return ftree_verdict_by_id(ft, &o);
}

/* Goes through the verdicts that a message tells and that are known: rest->n as it was decoded. */
static struct known *next_carried(struct ftree *ft, ftree_time now, struct wire_summary_list *rest)
{
    struct known *k = NULL;
    struct summary o;
    char rule[FTREE_NAME_MAX] = "";

    while (!k && ftree_wire_get_summary(ft->job, now, rest, &o, rule)) {
        k = ftree_verdict_by_id(ft, &o);
        if (!k)
            k = ftree_verdict_same(ft, &o);
    }
    return k;
}

static struct wire_summary_list told_by(struct ftree *ft, ftree_time now, const struct message *l)
{
    struct wire_message m;

    if (ftree_wire_decode(ft->job, now, l->payload->bytes, l->payload->len, &m))
        return (struct wire_summary_list){0};
    return m.u.summaries;
}

/* Tells the children of a child that does not answer. */
static void adopt(struct ftree *ft, ftree_time now, const struct message *l)
{
    struct wire_summary_list rest = told_by(ft, now, l);
    struct survey_post p = {.now = now,
                            .from = FTREE_NONE,
                            .r = ftree_survey_settle_late(ft, now, l->to, l->id)};
    const struct known *k;

    ft->announce->batch.n = 0;
    while ((k = next_carried(ft, now, &rest)))
        if (ftree_announcing(ft, k)->announced || k->v.withdrawn)
            add_to_batch(ft, k);
    send_to_children(ft, l->to, &p);
    if (p.r)
        ftree_survey_finish_if_in(ft, now, p.r);
}

void ftree_announce_undeliverable(struct ftree *ft, ftree_time now, const struct message *l)
{
    struct known *k;

    switch (l->type) {
        case WIRE_VERDICT_UP:
            k = carried_up(ft, now, l);
            if (k && ftree_announcing(ft, k)->up == UP_SENT)
                push_up(ft, now, k, false);
            break;
        case WIRE_VERDICT_DOWN:
            adopt(ft, now, l);
            break;
        default:
            break;
    }
}

void ftree_announce_release(struct ftree *ft, ftree_time now)
{
    EACH_UNSENT(k, ft) {
        struct announcing *a = ftree_announcing(ft, k);
        if (a->up == UP_HELD && held_until(ft, k) <= now)
            a->up_again = ftree_min(a->up_again, now);
    }
}

void ftree_announce_tick(struct ftree *ft, ftree_time now)
{
    if (ft->announce->queued > 0 && ft->announce->next_at <= now) {
        if (ftree_route_is_root(ft))
            announce_queued(ft, now);
        else
            hand_over_queued(ft, now);
    }
    EACH_UNSENT(k, ft) {
        struct announcing *a = ftree_announcing(ft, k);
        if (a->up == UP_NOTHING || a->up_again > now)
            continue;
        if (a->up == UP_SENT && ++a->up_tries >= UP_TRIES_MAX)
            ftree_announce_set_up(ft, k, UP_NOTHING);
        else
            push_up(ft, now, k, false);
    }
}

ftree_time ftree_announce_deadline(const struct ftree *ft)
{
    ftree_time t = ft->announce->queued > 0 ? ft->announce->next_at : FTREE_NEVER;

    EACH_UNSENT(k, ft) {
        const struct announcing *a = ftree_announcing(ft, k);
        if (a->up != UP_NOTHING)
            t = ftree_min(t, a->up_again);
    }
    return t;
}

bool ftree_announce_has_pending(const struct ftree *ft)
{
    EACH_UNSENT(k, ft) {
        bool is_own = k->v.node == ft->self && k->v.fln == ft->self;
        uint8_t up = ftree_announcing(ft, k)->up;
        if (up == UP_PENDING || up == UP_HELD || (up == UP_SENT && is_own))
            return true;
    }
    return false;
}

/* Victims are awaited here, or the acting root has something to tell soon. */
bool ftree_is_announcing(const struct ftree *ft)
{
    SURVEY_EACH(r, ft, SURVEY_VICTIMS)
        return true;
    return ft->announce->queued > 0;
}

/* ---- an end to remembering ------------------------------------------------------------------- */

/* True while a message with this verdict may still have to be sent again, or by another way. */
static bool is_under_way(struct ftree *ft, ftree_time now, const struct known *k)
{
    FTREE_EACH(const struct message, l, ft->net->outbox) {
        struct wire_summary_list rest;
        const struct known *other;
        if (l->type == WIRE_VERDICT_UP && carried_up(ft, now, l) == k)
            return true;
        if (l->type != WIRE_VERDICT_DOWN)
            continue;
        rest = told_by(ft, now, l);
        while ((other = next_carried(ft, now, &rest)))
            if (other == k)
                return true;
    }
    return false;
}

static bool is_settled(struct ftree *ft, ftree_time now, const struct known *k)
{
    const struct announcing *a = ftree_announcing(ft, k);

    return k->v.withdrawn && k->v.withdrawn + OVER_AGE <= now && a->up == UP_NOTHING &&
           !a->queued && !is_under_way(ft, now, k);
}

/* The one that has been over for longest; -1: none can be forgotten. */
static int32_t oldest(struct ftree *ft, ftree_time now)
{
    int32_t found = -1;

    for (int32_t i = 0; i < ft->state->known.n; i++) {
        const struct known *k = &ft->state->known.items[i];
        if (is_settled(ft, now, k) &&
            (found < 0 || k->v.withdrawn < ft->state->known.items[found].v.withdrawn))
            found = i;
    }
    return found;
}

void ftree_announce_forget_one(struct ftree *ft, int32_t i)
{
    struct ftree_announce *an = ft->announce;

    an->of.n--;
    memmove(&an->of.items[i], &an->of.items[i + 1],
            (size_t) (an->of.n - i) * sizeof(an->of.items[0]));
    ftree_verdict_forget(ft, i);
}

void ftree_announce_forget(struct ftree *ft, ftree_time now)
{
    int32_t over = 0, i;

    for (i = 0; i < ft->state->known.n; i++)
        over += ft->state->known.items[i].v.withdrawn != 0;
    for (; over > OVER_MAX && (i = oldest(ft, now)) >= 0; over--)
        ftree_announce_forget_one(ft, i);
}

void ftree_announce_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->announce->of.items, 0);
    ftree_alloc(ft, ft->announce->batch.items, 0);
}
