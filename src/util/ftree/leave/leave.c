/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/leave/leave.h"

#include "ftree/base/event.h"

/*
 * The end of a job.  Ranks finish MPI_Finalize at different times, and one that still waits in it
 * must not find closed ports and report crashes.  So agents leave together: goodbye goes up the
 * tree once a node and all below it are done, release comes down once the root has heard all.  That
 * is two messages per node.  It is bounded by `linger`, and from its own goodbye on a node takes a
 * closed port for a node that has left.
 *
 * Not every netmod waits for the others in MPI_Finalize.  So a node that leaves before them, which
 * it says to those around it, remains for a while: they may wait for a collective that its ranks
 * never called, and only it can tell.
 */

#define REMAIN (60000 * FTREE_MS) /* mostly the others wait at once; no agent stays for hours */

static void count_missing(struct ftree *ft, int32_t child, void *arg)
{
    if (!ftree_peer_all_left(ft, child))
        ++*(int32_t *) arg;
}

static void release_child(struct ftree *ft, int32_t child, void *arg)
{
    struct wire_message m = {.type = WIRE_RELEASE};

    ftree_outbox_put(ft, *(ftree_time *) arg, child, &m);
}

/* Also of one that is about to go: those below it may remain. */
void ftree_leave_release(struct ftree *ft, ftree_time now)
{
    if (!ftree_is_leaving(ft) || ft->leave->released)
        return;
    ftree_trace(ft, "everyone has left");
    ft->leave->may_go = ft->leave->released = true;
    ftree_route_children(ft, ft->self, release_child, &now);
}

void ftree_leave_unreleased(struct ftree *ft, ftree_time now, int32_t node)
{
    ftree_route_children(ft, node, release_child, &now);
}

void ftree_leave_say_so(struct ftree *ft, ftree_time now, int32_t to)
{
    struct wire_message m = {.type = WIRE_GOODBYE};

    if (!ft->leave->goodbye_sent)
        m.flags = WIRE_FLAG_MORE;
    ftree_outbox_put(ft, now, to, &m);
}

/* A child that has left remains until it is released, which nobody but the root begins.  One that
 * does not acknowledge is not waited for. */
static void say_so_to_child(struct ftree *ft, int32_t child, void *arg)
{
    if (ft->leave->cut_short && ftree_route_is_root(ft) && ftree_peer_has_left(ft, child))
        release_child(ft, child, arg);
    else if (!ftree_peer_all_left(ft, child))
        ftree_leave_say_so(ft, *(ftree_time *) arg, child);
}

/* Nobody is known to be lost, so all have come to their end. */
static bool has_ended_well(const struct ftree *ft)
{
    return !ft->leave->cut_short && !ft->leave->remains &&
           !FTREE_ANY(const struct known, k, ft->state->known,
                      !k->v.withdrawn &&
                          ftree_class_says(k->v.class_, FTREE_ENDS_NODE | FTREE_ENDS_RANKS));
}

/* Whatever was found of ranks, or of what their data go by, is over: they have gone on, perhaps only just
 * now. */
static void withdraw_all(struct ftree *ft)
{
    FTREE_EACH(const struct known, k, ft->state->known)
        if (!k->v.withdrawn && (k->v.kind == FTREE_KIND_RANK ||
                                ftree_verdict_needs(ft, &k->v, RULES_FACT_FABRIC)))
            ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "the job has ended");
}

/* Where a substitute acts for the root, the agent of the root may still announce the end of its own
 * ranks: who is gone by then would seem to be silent.  And who is above and has left remains until
 * all below have.  *up: who is above; this node: nobody.  False: nobody will send a release. */
static bool say_so_upward(struct ftree *ft, ftree_time now, int32_t *up)
{
    bool substitute, remains;
    int32_t parent = ftree_topo_parent(ft->topo, ft->self), above = parent;

    while (above != FTREE_NONE && ftree_has_no_agent(ft, above))
        above = ftree_topo_parent(ft->topo, above);
    remains = above != FTREE_NONE && ftree_peer_has_left(ft, above);
    *up = ftree_route_upward(ft, now, FTREE_NONE, &substitute);
    if (*up != ft->self)
        ftree_leave_say_so(ft, now, *up);
    if (remains)
        ftree_leave_say_so(ft, now, above);
    if (substitute && parent != FTREE_NONE && ftree_verdict_ends_all(ft, parent) &&
        !ftree_peer_has_left(ft, parent))
        ftree_leave_say_so(ft, now, parent);
    return remains || (*up != ft->self && !substitute);
}

void ftree_leave_try(struct ftree *ft, ftree_time now)
{
    int32_t missing = 0, first, up;
    bool is_awaited;

    /* the plain count first, for with a wide tree the exact one for each goodbye is a cube */
    if (!ftree_is_leaving(ft) || ft->leave->goodbye_sent ||
        (ft->state->switches == 0 && ft->state->all_left + ft->state->known.n <
                                         ftree_topo_children(ft->topo, ft->self, &first)))
        return;
    ftree_route_children(ft, ft->self, count_missing, &missing);
    if (missing > 0)
        return;
    ft->leave->goodbye_sent = true;
    is_awaited = say_so_upward(ft, now, &up);
    if (up == ft->self && has_ended_well(ft))
        withdraw_all(ft);
    if (!is_awaited)
        ftree_leave_release(ft, now);
}

/* After `linger`, when it also says goodbye again. */
static bool may_remain(const struct ftree *ft)
{
    return ft->io->waits && !ft->leave->cut_short && !ft->leave->remains;
}

/* The goodbye goes past the node that is silent, so that the node that asks in its place knows; but
 * nobody else is waited for.  The silent one may only be late, and others may still wait for ranks of
 * this node.  Who does not leave with the others, but aborts, says so to a substitute of the root, too:
 * that goes on, and would miss it. */
void ftree_leave_undeliverable(struct ftree *ft, ftree_time now, int32_t to)
{
    bool substitute;
    int32_t up;

    if (!ftree_topo_is_above(ft->topo, to, ft->self)) {
        ftree_leave_goodbye(ft, now, to, false);
        return;
    }
    up = ftree_route_upward(ft, now, to, &substitute);
    if (ftree_peer_has_left(ft, to) && up != ft->self && !substitute)
        return; /* that one knows already, and releases this one, too */
    if (up != ft->self &&
        (!substitute || ft->leave->remains || ft->leave->leave_until <= now))
        ftree_leave_say_so(ft, now, up);
    if (ft->leave->goodbye_sent && !ft->leave->may_go && !may_remain(ft))
        ftree_leave_release(ft, now);
}

void ftree_leave_goodbye(struct ftree *ft, ftree_time now, int32_t from, bool more)
{
    if (ftree_peer_leaves(ft, from, more))
        ftree_leave_try(ft, now);
}

#define HEIRS 3 /* more may leave before the others */

/* Who acts for the root must know that it has left; a child does. */
static void say_so_to_heirs(struct ftree *ft, ftree_time now)
{
    int32_t heirs = 0, n;

    for (int32_t k = 1; heirs < HEIRS; k++) {
        n = ftree_topo_root_substitute(ft->topo, k);
        if (n == FTREE_NONE)
            return;
        if (n == ft->self || !ftree_peer_can_act(ft, n))
            continue;
        if (ftree_topo_parent(ft->topo, n) != ft->self)
            ftree_leave_say_so(ft, now, n);
        heirs++;
    }
}

/* Who has said goodbye says it again: the one above may have another agent since, or be gone. */
static void remain(struct ftree *ft, ftree_time now)
{
    int32_t up;

    ft->leave->remains = true;
    ft->leave->leave_until = now + REMAIN;
    say_so_upward(ft, now, &up);
}

static void go(struct ftree *ft, ftree_time now)
{
    int32_t up;

    ft->leave->may_go = true;
    if (ft->leave->goodbye_sent)
        return;
    ft->leave->goodbye_sent = true;
    say_so_upward(ft, now, &up);
}

/* Those around it still run: they must not take its closed port for a crash. */
static void leave_before_others(struct ftree *ft, ftree_time now)
{
    bool first = !ft->leave->remains;

    ftree_trace(ft, "leaves without having heard of everyone");
    if (may_remain(ft))
        remain(ft, now);
    else
        go(ft, now);
    if (!first)
        return;
    ftree_route_children(ft, ft->self, say_so_to_child, &now);
    if (ftree_route_is_root(ft))
        say_so_to_heirs(ft, now);
}

void ftree_leave_is_needed(struct ftree *ft, ftree_time now, int32_t from)
{
    if (ft->leave->remains || ft->leave->may_go || ft->leave->goodbye_sent)
        ftree_leave_say_so(ft, now, from);
    else
        leave_before_others(ft, now);
}

void ftree_leave_tick(struct ftree *ft, ftree_time now)
{
    ftree_leave_try(ft, now); /* who has failed since is not waited for */
    if (ftree_is_leaving(ft) && !ft->leave->may_go && now >= ft->leave->leave_until)
        leave_before_others(ft, now);
}

bool ftree_leave_begin(struct ftree *ft, ftree_time now, bool cut_short)
{
    if (!ftree_own_leaves(ft))
        return false;
    ft->leave->cut_short = cut_short;
    ft->leave->leave_until = now + ft->cfg.linger;
    return true;
}

void ftree_leave_hurry(struct ftree *ft, ftree_time now)
{
    ft->leave->leave_until = now;
    ftree_leave_tick(ft, now);
}

bool ftree_leave_is_over(const struct ftree *ft)
{
    return ft->leave->may_go;
}

ftree_time ftree_leave_deadline(const struct ftree *ft)
{
    return ftree_is_leaving(ft) && !ft->leave->may_go ? ft->leave->leave_until : FTREE_NEVER;
}
