/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/recheck/recheck.h"

#include "ftree/base/event.h"
#include "ftree/hang/hang.h"

#include <string.h>

/*
 * Verdicts that are over.  A process that was stopped may run again, a node that was cut off may be
 * reached again, a path may work again.  The node that decided asks at growing intervals, and at
 * once when it hears from there.  Only an answer to that very question withdraws the verdict: a
 * message that was long on its way is no sign of life.
 *
 * It asks over the paths on which an answer would refute the verdict: those which the sign that
 * decided says did not bring one.  A verdict whose sign says nothing of the kind (a node that
 * answers and is slow) stays, and so does a crash.  Of a verdict about the asking node itself other
 * nodes are asked, a few each time: a node that answers shows that its path works.
 *
 * The acting root asks, too, where a node counts as lost, for then everybody keeps away from it;
 * and in the place of a node that decided and was lost since.  The ranks of the own node are looked
 * at instead.
 *
 * Before a job is ended because of a verdict it is asked about once more, by the node that ends it
 * (ftree_confirm): in the same way, but a rank of another node, too, and any path for any node.
 * And because of a stopped process nothing is done before a rank that runs was seen: a stop that
 * all have in common is a suspension.
 */

#define RECHECK_DOUBLINGS 7 /* of half the time */
#define OTHERS_ASKED 2

/* A crash is for ever. */
static bool may_be_over(const struct known *k)
{
    return !k->v.withdrawn && !ftree_class_says(k->v.class_, FTREE_FOR_EVER);
}

static uint32_t needs(const struct ftree *ft, const struct known *k, int fact)
{
    return ftree_rules_needs(ft->rules, ftree_verdict_rule(ft, &k->v), fact);
}

/* Of ranks outside MPI each node looks at its own. */
static bool has_own_rank_outside(const struct ftree *ft, const struct known *k)
{
    if (!ft->io->stay || k->v.kind != FTREE_KIND_RANK || k->v.rank == FTREE_NONE ||
        !needs(ft, k, RULES_FACT_OUTSIDE))
        return false;
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++)
        if (ftree_verdict_has_rank(&k->v, ftree_rank_at(ft->job, ft->self, i)))
            return true;
    return false;
}

/* The kernel of its node said so, and says when it is over. */
static bool is_of_stop(const struct ftree *ft, const struct known *k)
{
    return k->v.class_ == FTREE_CLASS_PROCESS_STOPPED ||
           needs(ft, k, RULES_FACT_PROCESS) == 1u << RULES_PROCESS_MEMORY;
}

/* This node's kernel said so. */
static bool is_of_own_connection(const struct ftree *ft, const struct known *k)
{
    return k->v.fln == ft->self && ft->io->connections &&
           needs(ft, k, RULES_FACT_CONNECTION);
}

/* The own ranks are looked at, and nobody is asked. */
static bool is_own_rank(const struct ftree *ft, const struct known *k)
{
    if (has_own_rank_outside(ft, k) || is_of_own_connection(ft, k))
        return true;
    return k->v.node == ft->self && k->v.rank != FTREE_NONE && is_of_stop(ft, k);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool asks(const struct ftree *ft, const struct known *k, bool is_root)
{
    bool takes_node = ftree_verdict_takes_node(ft, &k->v) || k->cuts;

    if (!may_be_over(k) || !k->refuted_by || (takes_node && !k->cuts && k->v.node == ft->self))
        return false;
    return k->v.fln == ft->self ||
           (is_root && (takes_node || ftree_has_failed(ft, k->v.fln)));
}

/* NULL: out of memory, and nobody asks. */
static struct recheck *begin(struct ftree *ft, struct known *k)
{
    if (k->recheck)
        return k->recheck;
    k->recheck = ftree_alloc(ft, NULL, sizeof(*k->recheck));
    if (!k->recheck)
        return NULL;
    *k->recheck = (struct recheck){.again = FTREE_NEVER, .confirm = FTREE_NEVER};
    ft->state->rechecked++;
    return k->recheck;
}

static void watch(struct ftree *ft, ftree_time now, struct known *k, bool is_root)
{
    if (k->recheck)
        k->recheck->again = FTREE_NEVER;
    if (!may_be_over(k) || (!asks(ft, k, is_root) && !is_own_rank(ft, k)) || !begin(ft, k))
        return;
    k->recheck->doublings = 0;
    k->recheck->again = now + ft->cfg.gather / 2; /* before it is reported */
}

/* The node that asked about others may be lost by this verdict, and another be the acting root. */
void ftree_recheck_watch(struct ftree *ft, ftree_time now, struct known *k)
{
    bool is_root = ftree_route_is_root(ft);

    watch(ft, now, k, is_root);
    if (!is_root || (!k->cuts && !ftree_has_no_agent(ft, k->v.node)))
        return;
    FTREE_EACH(struct known, other, ft->state->known) {
        if (!other->recheck || other->recheck->again == FTREE_NEVER)
            watch(ft, now, other, is_root);
    }
}

/* What a rank did before nobody here has seen; that one makes no progress in a call takes a second
 * to be seen. */
#define SEEN_AGAIN (2000 * FTREE_MS)

void ftree_recheck_restored(struct ftree *ft, ftree_time now, struct known *k)
{
    if (!k->v.withdrawn && begin(ft, k))
        k->recheck->watched = now + SEEN_AGAIN;
    ftree_recheck_watch(ft, now, k);
}

static void ask_role(struct ftree *ft, ftree_time now, struct known *k, int32_t node,
                     enum ftree_role role, uint8_t paths)
{
    if (!k->recheck->check)
        k->recheck->check = ++ft->next_id;
    ftree_ask(ft, now, &(struct ftree_route){.node = node, .role = (uint8_t) role, .fresh = true},
              paths, k->recheck->check);
}

static void ask_agent(struct ftree *ft, ftree_time now, struct known *k, int32_t node)
{
    ask_role(ft, now, k, node, FTREE_ROLE_AGENT, k->refuted_by);
}

/* By turns the nodes from `first` on.  One that counts as lost is asked about that anyway. */
static void ask_by_turns(struct ftree *ft, ftree_time now, struct known *k, int64_t first,
                         uint8_t paths)
{
    for (int i = 0; i < OTHERS_ASKED; i++) {
        int32_t node = (int32_t) ((first + k->recheck->turn++) % ft->job->nodes);
        if (node != ft->self && !ftree_has_failed(ft, node))
            ask_role(ft, now, k, node, FTREE_ROLE_AGENT, paths);
    }
}

/* Of a verdict about the own node: the node that was silent then, and those after it. */
static void ask_others(struct ftree *ft, ftree_time now, struct known *k)
{
    int64_t first = ft->self + 1;

    for (int32_t i = k->full ? k->full->evidences - 1 : -1; i >= 0; i--)
        if (k->full->evidence[i].source == FTREE_EVIDENCE_PROBE)
            first = k->full->evidence[i].target;
    ask_by_turns(ft, now, k, first, k->refuted_by);
}

static bool is_beyond(const struct ftree *ft, const struct known *k, int32_t node)
{
    return ftree_is_behind(ft, k->v.switch_, node) != ftree_is_behind(ft, k->v.switch_, ft->self);
}

/* Of a switch: nodes on its other side. */
static void ask_beyond(struct ftree *ft, ftree_time now, struct known *k)
{
    for (int i = 0; i < OTHERS_ASKED; i++) {
        int32_t node = ftree_route_beyond(ft, k->v.switch_, k->recheck->turn++);
        if (node != FTREE_NONE)
            ask_agent(ft, now, k, node);
    }
}

/* Whom there is to ask about it; its own node over those paths. */
static void ask_about(struct ftree *ft, ftree_time now, struct known *k, uint8_t paths)
{
    if (k->v.kind == FTREE_KIND_SWITCH && ft->job->tree)
        ask_beyond(ft, now, k);
    else if (k->v.node == ft->self)
        ask_others(ft, now, k);
    else
        ask_role(ft, now, k, k->v.node, FTREE_ROLE_AGENT, paths);
}

/* A node that only others reach has to acknowledge, by way of them, that nothing is new: where it
 * does not it is examined again, for the verdict hides that it may be lost by now. */
static void ask_by_others(struct ftree *ft, ftree_time now, int32_t node)
{
    struct wire_message m = {.type = WIRE_VERDICT_DOWN};

    if (ftree_way(ft, now, node, FTREE_NONE) != FTREE_NONE)
        ftree_outbox_put(ft, now, node, &m);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* True if `from`, heard over this path, may refute the verdict: it was taken for lost, its path for
 * dead or, where this node asks about itself, the own path. */
static bool may_refute(const struct ftree *ft, const struct known *k, int32_t from,
                       enum ftree_path path)
{
    if (!may_be_over(k) || !(k->refuted_by >> path & 1))
        return false;
    if (ftree_verdict_takes_node(ft, &k->v))
        return k->v.node == from;
    if (k->v.kind == FTREE_KIND_SWITCH && ft->job->tree)
        return asks(ft, k, ftree_route_is_root(ft)) && is_beyond(ft, k, from);
    return (k->v.node == from || k->v.node == ft->self) && asks(ft, k, ftree_route_is_root(ft));
}

/* Its node says that the rank is as the verdict says. */
static bool names_rank(const struct known *k, const struct wire_answer *a)
{
    for (int32_t i = 0; i < a->troubles && k->v.kind == FTREE_KIND_RANK; i++)
        if (a->trouble[i].rank == k->v.rank || k->v.rank == FTREE_NONE)
            return true;
    return false;
}

static void ask_soon(struct ftree *ft, ftree_time now, struct known *k, int32_t from,
                     enum ftree_path path)
{
    if (!may_refute(ft, k, from, path) || !begin(ft, k) ||
        (k->recheck->check && k->recheck->again <= now + ft->cfg.recheck))
        return;
    k->recheck->doublings = 1;
    k->recheck->again = ftree_min(k->recheck->again, now + ft->cfg.recheck);
    ask_agent(ft, now, k, from);
}

static void ask_soon_about(struct ftree *ft, ftree_time now, int32_t node, int32_t from,
                           enum ftree_path path)
{
    FTREE_EACH_STANDING(k, ft, node)
        if (k->v.kind != FTREE_KIND_SWITCH)
            ask_soon(ft, now, k, from, path);
}

/* Is it over?  It is asked soon anyway, or now. */
void ftree_recheck_heard(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path)
{
    if (ft->state->known.n == 0)
        return;
    ask_soon_about(ft, now, from, from, path);
    ask_soon_about(ft, now, ft->self, from, path);
    FTREE_EACH_SWITCH(k, ft)
        ask_soon(ft, now, k, from, path);
}

static void withdraw(struct ftree *ft, const struct known *k, int32_t from, enum ftree_path path)
{
    if (ftree_verdict_takes_node(ft, &k->v))
        ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "its agent answers again");
    else
        ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "%.40s answers over %s",
                        ftree_name(ft, from), ftree_path_name(path));
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A process that is killed is neither stopped nor gone for a while. One that left by itself ran. */
static bool is_running(const struct ftree_rank_state *s)
{
    if (s->phase == FTREE_PHASE_LEFT)
        return s->proc_state != 'X';
    return s->phase != FTREE_PHASE_GONE && s->proc_state && strchr("RSI", s->proc_state);
}

/* One that was blocked is not any more. */
static bool works_again(const struct ftree *ft, const struct known *k,
                        const struct ftree_stay *stay)
{
    return stay->cpu >= FTREE_CPU_WORKS &&
           needs(ft, k, RULES_FACT_OUTSIDE) == 1u << RULES_OUTSIDE_BLOCKED;
}

/* The job may be ended because of the verdict, but not because of how the rank is now.  It is found
 * again, with what holds then. */
static bool may_end_by_itself(const struct known *k, const struct ftree_stay *stay)
{
    return k->v.holds_back < FTREE_HOLDS_FOR_EVER && ftree_hang_ends_by_itself(stay);
}

/* It has been in MPI since the verdict: it is there, or its stay is younger. */
static bool has_rank_come(struct ftree *ft, ftree_time now, const struct known *k, int32_t i)
{
    ftree_time since = ftree_max(k->v.located, k->recheck ? k->recheck->watched : 0);
    struct ftree_rank_state s;
    struct ftree_stay stay;

    if (now <= since)
        return false;
    if (ft->io->stay(ft->io_ctx, i, &stay))
        return now - stay.away > since || works_again(ft, k, &stay) ||
               may_end_by_itself(k, &stay);
    ft->io->look(ft->io_ctx, i, &s); /* or it was ended with its job */
    return is_running(&s);
}

static bool has_come(struct ftree *ft, ftree_time now, const struct known *k)
{
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++)
        if (ftree_verdict_has_rank(&k->v, ftree_rank_at(ft->job, ft->self, i)) &&
            has_rank_come(ft, now, k, i))
            return true;
    return false;
}

static bool own_rank_runs(struct ftree *ft)
{
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (ftree_symptom_is_well(&s))
            return true;
    }
    return false;
}

/* False also where the ranks have ended, and their connections with them. */
static bool is_acknowledged(struct ftree *ft, const struct known *k)
{
    struct ftree_connection c[FTREE_CONNECTIONS_MAX];
    int32_t n = ft->io->connections(ft->io_ctx, c, FTREE_CONNECTIONS_MAX);

    for (int32_t i = 0; i < n; i++)
        if (c[i].node == k->v.node || k->v.node == ft->self)
            return false;
    return own_rank_runs(ft);
}

static bool runs_again(struct ftree *ft, ftree_time now, const struct known *k)
{
    int32_t i = ftree_place_of(ft->job, ft->self, k->v.rank);
    struct ftree_rank_state s;

    if (is_of_own_connection(ft, k))
        return is_acknowledged(ft, k);
    if (has_own_rank_outside(ft, k))
        return has_come(ft, now, k);
    if (i == FTREE_NONE)
        return false;
    ft->io->look(ft->io_ctx, i, &s);
    return is_running(&s);
}

/* False: none of the own ranks is such that it would be. */
static bool end_if_own_runs(struct ftree *ft, ftree_time now, struct known *k)
{
    if (!is_own_rank(ft, k) || !runs_again(ft, now, k))
        return false;
    ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "%s",
                    is_of_own_connection(ft, k)   ? "nothing waits to be acknowledged"
                    : has_own_rank_outside(ft, k) ? "it goes on"
                                                  : "it runs again");
    return true;
}

void ftree_recheck_own(struct ftree *ft, ftree_time now)
{
    FTREE_EACH(struct known, k, ft->state->known)
        if (may_be_over(k) && !ftree_is_leaving(ft))
            end_if_own_runs(ft, now, k);
}

static void recheck(struct ftree *ft, ftree_time now, struct known *k)
{
    struct recheck *r = k->recheck;

    if (is_own_rank(ft, k)) {
        r->again = now + ft->cfg.recheck;
        end_if_own_runs(ft, now, k);
        return;
    }
    r->doublings += r->doublings < RECHECK_DOUBLINGS;
    r->again = now + (ft->cfg.recheck << r->doublings) / 2;
    ask_about(ft, now, k, k->refuted_by);
    ask_by_others(ft, now, k->v.node);
}

/* ---- once more, before it is acted upon ------------------------------------------------------ */

#define CONFIRM_ASKS 2 /* a network may lose the first */

/* True if a kernel or the launcher said that a process has ended, which is for ever. */
static bool is_certain(const struct ftree *ft, const struct known *k)
{
    return k->v.class_ == FTREE_CLASS_PROCESS_CRASH &&
           (needs(ft, k, RULES_FACT_PROCESS) || needs(ft, k, RULES_FACT_LAUNCHER));
}

/* Over which paths its component is asked once more; 0: there is nobody to ask. */
static uint8_t confirming_paths(const struct ftree *ft, const struct known *k)
{
    if (is_certain(ft, k))
        return 0;
    if (is_of_stop(ft, k))
        return ftree_all_paths(ft->job);
    if (k->v.class_ == FTREE_CLASS_PROCESS_CRASH)
        return ftree_verdict_paths_of_sign(ft, ftree_verdict_rule(ft, &k->v));
    return k->refuted_by;
}

static void stand(struct ftree *ft, struct known *k, const char *why)
{
    k->recheck->confirm = FTREE_NEVER;
    ftree_trace(ft, "%s of %s stands: %s", ftree_class_name(k->v.class_), ftree_name_of(ft, &k->v),
                why);
}

/* True: the answer was to the question asked once more. */
static bool is_confirmed(struct ftree *ft, struct known *k, int32_t from, enum ftree_path path,
                         const struct wire_answer *a)
{
    bool rank = k->v.kind == FTREE_KIND_RANK && a->troubles < WIRE_TROUBLES_MAX;

    if (k->recheck->confirm == FTREE_NEVER)
        return false;
    if (names_rank(k, a))
        stand(ft, k, "its node says so once more");
    else if ((k->v.kind == FTREE_KIND_RANK ? rank : a->role == FTREE_ROLE_AGENT) &&
             confirming_paths(ft, k) >> path & 1 &&
             (k->v.kind != FTREE_KIND_SWITCH || is_beyond(ft, k, from)))
        withdraw(ft, k, from, path);
    return true;
}

/* True: the answer was to the question who runs, or from a node that knows nothing of the rank.  A
 * rank that is in no trouble runs. */
static bool tells_of_suspension(struct ftree *ft, struct known *k, int32_t from,
                                const struct wire_answer *a)
{
    struct recheck *r = k->recheck;

    if (r->confirm == FTREE_NEVER || k->v.class_ != FTREE_CLASS_PROCESS_STOPPED ||
        (!r->suspended && from == k->v.node))
        return false;
    if (r->suspended && a->role == FTREE_ROLE_AGENT && a->troubles < WIRE_TROUBLES_MAX &&
        a->troubles < ftree_ranks_of(ft->job, from)) {
        r->suspended = false;
        r->check = 0; /* what else is answered to it says nothing of the rank */
        r->confirm = 1; /* the time is past: at the next tick */
    }
    return true;
}

void ftree_recheck_answer(struct ftree *ft, int32_t from, enum ftree_path path,
                          const struct wire_answer *a)
{
    FTREE_EACH(struct known, k, ft->state->known) {
        if (!k->recheck || !k->recheck->check || k->recheck->check != a->nonce ||
            tells_of_suspension(ft, k, from, a) ||
            (k->v.node != from && k->v.node != ft->self && k->v.kind != FTREE_KIND_SWITCH) ||
            is_confirmed(ft, k, from, path, a))
            continue;
        if (a->role == FTREE_ROLE_AGENT && may_refute(ft, k, from, path) && !names_rank(k, a))
            withdraw(ft, k, from, path);
    }
}

static void ask_once_more(struct ftree *ft, ftree_time now, struct known *k)
{
    uint8_t paths = confirming_paths(ft, k);

    k->recheck->confirm_asks--;
    k->recheck->confirm = now + ftree_silence_unit(ft);
    ask_about(ft, now, k, paths);
    if (k->v.kind == FTREE_KIND_RANK && k->v.node != ft->self)
        ask_role(ft, now, k, k->v.node, FTREE_ROLE_DEPUTY, paths);
}

static void confirm(struct ftree *ft, ftree_time now, struct known *k)
{
    if (end_if_own_runs(ft, now, k))
        return;
    if (is_own_rank(ft, k) || confirming_paths(ft, k) == 0 || ftree_is_leaving(ft))
        stand(ft, k, "there is nobody to be asked once more");
    else
        ask_once_more(ft, now, k);
}

/* ---- a suspension ---------------------------------------------------------------------------- */

/* Other nodes are asked how their ranks are. */
static void look_for_runner(struct ftree *ft, ftree_time now, struct known *k)
{
    k->recheck->confirm = now + ft->cfg.recheck;
    ask_by_turns(ft, now, k, ft->self + 1, ftree_all_paths(ft->job));
}

static void await_others(const struct ftree *ft, ftree_time now, struct recheck *r)
{
    r->resumes = false;
    r->check = 0;
    r->confirm = now + FTREE_AFTERMATH * ft->cfg.stall;
}

static void confirm_suspended(struct ftree *ft, ftree_time now, struct known *k)
{
    struct recheck *r = k->recheck;

    r->resumes = r->suspended; /* for a while already */
    r->suspended = !own_rank_runs(ft);
    if (r->suspended)
        look_for_runner(ft, now, k);
    else if (r->resumes)
        await_others(ft, now, r);
    else
        confirm(ft, now, k);
}

int ftree_recheck_confirm(struct ftree *ft, ftree_time now, int32_t fln, uint32_t id)
{
    struct known *k = ftree_verdict_by_number(ft, fln, id);
    struct recheck *r;

    if (!k)
        return FTREE_ERR_INVALID;
    if (k->v.withdrawn)
        return FTREE_OK;
    r = begin(ft, k);
    if (!r)
        return FTREE_ERR_NOMEM;
    r->confirm_asks = CONFIRM_ASKS;
    r->confirm_excused = r->suspended = r->resumes = false;
    r->confirm = FTREE_NEVER;
    if (k->v.class_ == FTREE_CLASS_PROCESS_STOPPED && !ftree_is_leaving(ft))
        confirm_suspended(ft, now, k);
    else
        confirm(ft, now, k);
    if (r->suspended)
        ftree_trace(ft, "nothing is done because of %s: the job may be suspended",
                    ftree_class_name(k->v.class_));
    return FTREE_OK;
}

enum ftree_confirmed ftree_confirmed(const struct ftree *ft, int32_t fln, uint32_t id)
{
    const struct known *k = ftree_verdict_by_number(ft, fln, id);

    if (!k || k->v.withdrawn)
        return FTREE_CONFIRMED_OVER;
    return !k->recheck || k->recheck->confirm == FTREE_NEVER ? FTREE_CONFIRMED_STANDS
                                                             : FTREE_CONFIRMED_PENDING;
}

static void confirm_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->state->known.n && ft->state->rechecked > 0; i++) {
        struct known *k = &ft->state->known.items[i];
        struct recheck *r = k->recheck;
        if (!r || r->confirm > now)
            continue;
        if (now > r->confirm + ft->cfg.late && !r->confirm_excused) { /* answers may wait */
            r->confirm_excused = true;
            r->confirm_asks = CONFIRM_ASKS;
        }
        if (r->suspended && !ftree_is_leaving(ft))
            confirm_suspended(ft, now, k);
        else if (r->resumes && !ftree_is_leaving(ft))
            await_others(ft, now, r);
        else if (r->confirm_asks > 0 && !ftree_is_leaving(ft))
            confirm(ft, now, k);
        else
            stand(ft, k, "nobody says otherwise");
    }
}

void ftree_recheck_tick(struct ftree *ft, ftree_time now)
{
    confirm_tick(ft, now);
    for (int32_t i = 0; i < ft->state->known.n && ft->state->rechecked > 0; i++) {
        struct known *k = &ft->state->known.items[i];
        if (!k->recheck || k->recheck->again > now)
            continue;
        if (may_be_over(k) && !ftree_is_leaving(ft))
            recheck(ft, now, k);
        else
            k->recheck->again = FTREE_NEVER;
    }
}

ftree_time ftree_recheck_deadline(const struct ftree *ft)
{
    if (ft->state->rechecked == 0)
        return FTREE_NEVER;
    return FTREE_EARLIEST(struct known, k, ft->state->known,
                          k->recheck ? ftree_min(k->recheck->again, k->recheck->confirm)
                                     : FTREE_NEVER);
}
