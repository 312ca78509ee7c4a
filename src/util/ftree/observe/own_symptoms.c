/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/base/text.h"
#include "ftree/observe/observe.h"
#include "ftree/state/state.h"

#include <stdio.h>
#include <string.h>

/*
 * Symptoms: their one form, and those of the own ranks.  A stall is reported when it begins and
 * again, at doubling intervals, while it lasts: by then the picture may have changed.  Before
 * anybody else is asked the own ranks are looked at, which costs no message: a stopped or vanished
 * one is a finding, and a verdict if it is still so after `settle`.  (A launcher that cleans up
 * kills all ranks within milliseconds: who is killed with the others must not be the one to report
 * it.)
 *
 * A stop that all ranks have in common is a suspension, but for one by their memory limit: nobody
 * else can have asked for that.  A stopped rank waits for nobody, and what
 * a resumed one waited before does not count; nor do stops and waits for a while after a
 * suspension, for ranks are resumed one after the other.  So a stop is a finding only where a rank
 * that runs has waited for as long as the stall limit, or another node asks because one of its own
 * has.
 */

/* ---- what others tell of them ---------------------------------------------------------------- */

static bool is_component(const struct ftree *ft, const struct ftree_component *c)
{
    int32_t switches = ft->job->tree ? ft->job->tree->switches : 0;

    if (c->kind >= FTREE_KIND_COUNT || c->node < 0 || c->node >= ft->job->nodes)
        return false;
    if (c->rank != FTREE_NONE &&
        (c->rank < 0 || c->rank >= ft->job->size || ftree_node_of(ft, c->rank) != c->node))
        return false;
    if (c->kind == FTREE_KIND_SWITCH)
        return c->switch_ >= 0 && c->switch_ < switches;
    return c->switch_ == FTREE_NONE;
}

static bool ends_own_rank(struct ftree *ft, ftree_time now, const struct ftree_symptom *s);

/* What the own kernel says of the own link, and nobody else can: true where a sign decides by it. */
static bool decides_own_link(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    const struct rules_sign *sign;
    struct rules_facts facts;
    struct ftree_verdict v;
    int32_t model = -1;

    if ((s->kind != FTREE_SYMPTOM_CARRIER_FLAPS && s->kind != FTREE_SYMPTOM_LINK_SLOW) ||
        s->about.node != ft->self)
        return false;
    ftree_rules_no_facts(&facts);
    facts.value[RULES_FACT_LINK] =
        s->kind == FTREE_SYMPTOM_LINK_SLOW ? FTREE_LINK_SLOW : FTREE_LINK_FLAPPING;
    sign = ftree_rules_decide_at_end(ft->rules, &facts, UINT64_MAX, &model);
    if (!sign || ftree_is_leaving(ft) || ftree_verdict_path_is_known(ft, ft->self))
        return sign != NULL;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_, ft->self, FTREE_NONE);
    v.first_symptom = s->first;
    v.symptoms = 1;
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_STATE, ft->self, &v, "%s", s->detail);
    ftree_verdict_add_own_losses(ft, now, &v);
    ftree_emit_verdict(ft, &v);
    return true;
}

int ftree_symptom_take(struct ftree *ft, ftree_time now, const struct ftree_symptom *seen)
{
    struct ftree_symptom s = *seen;

    if (s.kind >= FTREE_SYMPTOM_COUNT || s.severity >= FTREE_SEVERITY_COUNT || s.count == 0 ||
        s.first > s.last || s.last > now || s.error < 0 || s.error >= 4096 ||
        !is_component(ft, &s.about))
        return FTREE_ERR_INVALID;
    s.reporters = 1;
    s.reporter[0] = ft->self;
    s.detail[sizeof(s.detail) - 1] = 0;
    ftree_text_ascii(s.detail); /* it is sent, and shown on a terminal */
    if (!ends_own_rank(ft, now, &s) && !decides_own_link(ft, now, &s))
        ftree_emit_symptom(ft, FTREE_EVENT_SYMPTOM, &s);
    return FTREE_OK;
}

/* ---- stalls of the own ranks ----------------------------------------------------------------- */

static struct stall *find_stall(const struct ftree *ft, int32_t rank)
{
    return FTREE_FIND(struct stall, s, ft->observe->stalls, s->rank == rank);
}

bool ftree_symptom_is_reported(const struct ftree *ft, int32_t rank)
{
    const struct stall *s = find_stall(ft, rank);

    return s && s->reported;
}

bool ftree_symptom_waits_for(const struct ftree *ft, int32_t node, ftree_time since)
{
    return FTREE_ANY(struct stall, s, ft->observe->stalls,
                     s->peer >= 0 && ftree_node_of(ft, s->peer) == node && s->since <= since);
}

int ftree_symptom_stall(struct ftree *ft, ftree_time now, int32_t rank, int32_t peer,
                        ftree_time waiting)
{
    struct stall *s;

    if (rank < 0 || rank >= ft->job->size || ftree_node_of(ft, rank) != ft->self ||
        peer < FTREE_LOCAL || peer >= ft->job->size)
        return FTREE_ERR_INVALID;
    s = find_stall(ft, rank);
    if (ftree_is_leaving(ft) || (s && s->peer == peer))
        return FTREE_OK;
    if (!s)
        s = FTREE_PUSH(ft, ft->observe->stalls);
    if (!s)
        return FTREE_ERR_NOMEM;
    s->rank = rank;
    s->peer = peer;
    s->since = now > waiting ? now - waiting : 0;
    /* a rank that waits for this one and that one in turn is not asked about at every turn */
    s->again = s->reported ? ftree_max(now, s->reported + ft->cfg.stall / 2) : now;
    s->interval = ft->cfg.stall;
    ftree_symptom_tick(ft, now);
    return FTREE_OK;
}

void ftree_symptom_over(struct ftree *ft, int32_t rank)
{
    struct stall *s = find_stall(ft, rank);

    FTREE_EMIT(ft, RESUMED, .number = (uint32_t) rank);
    if (s)
        FTREE_DROP(ft->observe->stalls, (int32_t) (s - ft->observe->stalls.items));
}

/* ---- findings on the own node ---------------------------------------------------------------- */

/* It is looked at again when it has settled after `from`. */
static int add_finding(struct ftree *ft, ftree_time from, int32_t rank, ftree_time first_symptom)
{
    struct finding f = {rank, first_symptom, from + ft->cfg.settle};
    struct finding *old =
        FTREE_FIND(struct finding, other, ft->observe->findings, other->rank == rank);

    if (old)
        old->confirm = ftree_min(old->confirm, f.confirm);
    return old || FTREE_ADD(ft, ft->observe->findings, f) ? FTREE_OK : FTREE_ERR_NOMEM;
}

static struct halt *find_halt(const struct ftree *ft, int32_t rank)
{
    return FTREE_FIND(struct halt, h, ft->observe->halts, h->rank == rank);
}

/* True: it runs again, and did not before. */
static bool note_halt(struct ftree *ft, ftree_time now, const struct ftree_rank_state *s)
{
    bool halted = ftree_symptom_is_trouble(s) && s->phase != FTREE_PHASE_GONE;
    struct halt *h = find_halt(ft, s->rank);
    bool was_halted = h && h->now;

    if (!h && halted)
        h = FTREE_PUSH(ft, ft->observe->halts);
    if (!h)
        return false;
    h->rank = s->rank;
    h->now = halted;
    if (halted)
        h->last = now;
    return was_halted && !halted && s->phase != FTREE_PHASE_GONE;
}

/* ran: how many of the own ranks go on, resumed: that some do that were stopped. */
static void note_suspension(struct ftree *ft, ftree_time now, int32_t stopped, int32_t ran,
                            bool resumed)
{
    if (stopped > 0 && ran == 0 && !ft->observe->suspended)
        ftree_trace(ft, "all ranks of this node are stopped: the job may be suspended");
    if (ft->observe->suspended && ran > 0)
        ftree_trace(ft, "ranks of this node run again");
    if (resumed && (ft->observe->suspended || now < ft->observe->aftermath))
        ft->observe->aftermath = now + FTREE_AFTERMATH * ft->cfg.stall;
    ft->observe->suspended = stopped > 0 && ran == 0;
}

/* By its memory limit, as a verdict says already. */
static bool is_named_held(const struct ftree *ft, int32_t rank)
{
    FTREE_EACH_STANDING(k, ft, ft->self)
        if (ftree_verdict_has_rank(&k->v, rank) &&
            ftree_rules_needs(ft->rules, ftree_verdict_rule(ft, &k->v), RULES_FACT_PROCESS) ==
                1u << RULES_PROCESS_MEMORY)
            return true;
    return false;
}

/* Looks at all own ranks; many may stall at once, and to do so for each of them is a square. */
static void look(struct ftree *ft, ftree_time now, ftree_time first_symptom)
{
    int32_t stopped = 0, ran = 0;
    struct ftree_rank_state s;
    bool resumed = false;

    if (ft->observe->looked_at == now)
        return;
    ft->observe->looked_at = now;
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        resumed |= note_halt(ft, now, &s);
        bool is_held = s.proc_state == FTREE_PROC_MEMORY;
        stopped += ftree_symptom_is_trouble(&s) && s.phase != FTREE_PHASE_GONE && !is_held;
        ran += ftree_symptom_is_well(&s) || is_held;
        if ((s.phase == FTREE_PHASE_GONE && !ftree_verdict_on_rank(ft, ft->self, s.rank)) ||
            (is_held && !is_named_held(ft, s.rank)))
            add_finding(ft, now, s.rank, first_symptom);
    }
    note_suspension(ft, now, stopped, ran, resumed);
}

void ftree_symptom_look(struct ftree *ft, ftree_time now, ftree_time first_symptom)
{
    if (ftree_is_leaving(ft))
        return;
    look(ft, now, first_symptom);
    FTREE_EACH(const struct halt, h, ft->observe->halts)
        if (h->now && !ftree_verdict_on_rank(ft, ft->self, h->rank))
            add_finding(ft, ftree_max(now, ft->observe->aftermath), h->rank, first_symptom);
}

void ftree_rank_stopped(struct ftree *ft, ftree_time now)
{
    if (!ftree_is_leaving(ft))
        look(ft, now, now);
}

/* Who is stopped now was stopped together with this agent. */
void ftree_symptom_woke(struct ftree *ft, ftree_time now)
{
    ft->observe->woke = now;
    if (ftree_is_leaving(ft))
        return;
    look(ft, now, now);
    FTREE_EACH(const struct halt, h, ft->observe->halts)
        if (h->now)
            ft->observe->aftermath = now + FTREE_AFTERMATH * ft->cfg.stall;
}

int ftree_rank_gone(struct ftree *ft, ftree_time now, int32_t rank)
{
    if (rank < 0 || rank >= ft->job->size || ftree_node_of(ft, rank) != ft->self)
        return FTREE_ERR_INVALID;
    return ftree_is_leaving(ft) || ftree_verdict_on_rank(ft, ft->self, rank)
               ? FTREE_OK
               : add_finding(ft, now, rank, now);
}

#define MESSAGES_TOLD 3

/* What the i-th own rank sent and received last. */
static void add_messages(struct ftree *ft, ftree_time now, int32_t i, struct ftree_verdict *v)
{
    struct ftree_log log = {.entries = 0};

    if (ft->io->log)
        ft->io->log(ft->io_ctx, i, &log);
    for (int32_t m = 0; m < log.entries && m < MESSAGES_TOLD; m++)
        ftree_verdict_add_message(ft, now, ft->self, &log.entry[m], m == 0, v);
}

/* The words of the rank itself say more than those of the sign. */
static void add_reason(struct ftree *ft, int32_t i, struct ftree_verdict *v)
{
    char text[sizeof(v->because) - sizeof("it ") + 1] = "";

    if (ft->io->reason)
        ft->io->reason(ft->io_ctx, i, text, sizeof(text));
    if (!text[0])
        return;
    ftree_text_ascii(text);
    snprintf(v->because, sizeof(v->because), "it %s", text);
}

/* Others may be held with it, for ranks of a node often share a group: one verdict names all that
 * none does yet. */
static void add_held(struct ftree *ft, struct ftree_verdict *v)
{
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (s.proc_state == FTREE_PROC_MEMORY && !is_named_held(ft, s.rank))
            ftree_ranks_add(&v->component, s.rank, s.rank);
    }
    if (v->component.count < 2)
        v->component = (struct ftree_ranks){0};
    else
        v->rank = v->component.range[0].first;
    v->pid = v->component.count ? 0 : v->pid;
}

/* launcher: what it said of it, NULL: nothing.  True: it is a verdict. */
static bool confirm(struct ftree *ft, ftree_time now, const struct finding *f,
                    const struct ftree_symptom *launcher)
{
    struct ftree_evidence e = {.source = FTREE_EVIDENCE_PROC,
                               .path = FTREE_PATHS,
                               .target = ft->self,
                               .by = ft->self,
                               .at = now};
    const struct rules_sign *sign;
    struct ftree_rank_state s;
    struct rules_facts facts;
    struct ftree_verdict v;
    int32_t i = ftree_place_of(ft->job, ft->self, f->rank), model = -1;

    ft->io->look(ft->io_ctx, i, &s);
    if (!ftree_symptom_is_trouble(&s) || ftree_is_leaving(ft)) {
        ftree_trace(ft, "rank %d is well again", f->rank);
        return false;
    }
    if (s.proc_state == FTREE_PROC_MEMORY && is_named_held(ft, f->rank))
        return false;
    if (s.phase != FTREE_PHASE_GONE && now < ft->observe->aftermath) {
        add_finding(ft, ft->observe->aftermath, f->rank, f->first_symptom);
        return false;
    }
    ftree_rules_no_facts(&facts);
    ftree_rules_process(&facts, s.phase, s.proc_state, RULES_SEEN_BY_AGENT);
    sign = ftree_rules_decide_at_end(ft->rules, &facts, UINT64_MAX, &model);
    if (!sign) {
        ftree_trace(ft, "rank %d: no sign of the rules decides", f->rank);
        return false;
    }
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_, ft->self, f->rank);
    e.proc_state = s.phase == FTREE_PHASE_GONE ? 'X' : s.proc_state;
    if (e.proc_state == FTREE_PROC_MEMORY && ft->io->memory)
        ft->io->memory(ft->io_ctx, i, e.detail, sizeof(e.detail));
    ftree_verdict_add_evidence(&v, &e);
    v.pid = s.pid;
    if (s.phase == FTREE_PHASE_GONE)
        add_reason(ft, i, &v);
    v.symptoms = 1;
    v.first_symptom = f->first_symptom;
    if (e.proc_state == FTREE_PROC_MEMORY)
        add_held(ft, &v);
    if (launcher) {
        ftree_cause_note(ft, launcher);
        ftree_verdict_support(ft, now, launcher, model, &v);
    }
    add_messages(ft, now, i, &v);
    ftree_cause_add(ft, model, &v);
    ftree_emit_verdict(ft, &v);
    return true;
}

/* The launcher waited for this process itself, and does not tell of those that it killed: where the
 * process is gone indeed there is nothing to wait for, and nobody else to ask. */
static bool ends_own_rank(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    struct finding f = {.rank = s->about.rank, .first_symptom = s->first};

    if (!ftree_symptom_is_end(s) || f.rank == FTREE_NONE || s->about.node != ft->self)
        return false;
    if (ftree_verdict_on_rank(ft, ft->self, f.rank))
        return true;
    if (!confirm(ft, now, &f, s))
        return false;
    for (int32_t i = ft->observe->findings.n - 1; i >= 0; i--)
        if (ft->observe->findings.items[i].rank == f.rank)
            FTREE_DROP(ft->observe->findings, i);
    return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Before the limit it is unusual and no more: one node is asked, and not who waits for whom. */
static void tell(struct ftree *ft, ftree_time now, const struct stall *stall, bool early)
{
    struct ftree_symptom s;
    int32_t node;

    ftree_symptom_look(ft, now, stall->since);
    ftree_connections_look(ft, now, stall->since);
    if (ft->io->waits && !early)
        FTREE_EMIT(ft, STALLED, .number = (uint32_t) stall->rank);
    if (stall->peer == FTREE_NONE) {
        ftree_trace(ft, "rank %d stalls, peer not known", stall->rank);
        FTREE_EMIT(ft, SEARCH, .by = FTREE_NONE);
        return;
    }
    node = stall->peer == FTREE_LOCAL ? ft->self : ftree_node_of(ft, stall->peer);
    if (node == ft->self) /* the own ranks were looked at just now */
        return;
    ftree_trace(ft, "rank %d stalls, waits for rank %d", stall->rank, stall->peer);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, node, stall->peer, ft->self, stall->since,
                       now);
    ftree_emit_symptom(ft, FTREE_EVENT_SYMPTOM, &s);
}

/* True: it has not waited for long since it runs, or may do so because others do not yet. */
static bool is_void(struct ftree *ft, ftree_time now, struct stall *s)
{
    const struct halt *h = find_halt(ft, s->rank);
    ftree_time since = ftree_max(ft->observe->woke, h ? h->last : 0), due = 0;

    if (since > s->since) {
        s->since = since;
        due = since + ft->cfg.stall;
    }
    due = ftree_max(due, now < ft->observe->aftermath ? ft->observe->aftermath : 0);
    if (h && h->now)
        due = now + ft->cfg.stall;
    if (due > now)
        s->again = due;
    return due > now;
}

/* When it is reported again.  True: it is reported before the limit. */
static bool pace(const struct ftree *ft, ftree_time now, struct stall *s)
{
    bool early = s->peer != FTREE_NONE && now < s->since + ft->cfg.stall;

    s->again = early ? s->since + ft->cfg.stall : now + s->interval;
    if (!early)
        s->interval = ftree_min(2 * s->interval, ft->cfg.stall_repeat_max);
    return early;
}

void ftree_symptom_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->observe->stalls.n && !ftree_events_wait(ft); i++) {
        struct stall *s = &ft->observe->stalls.items[i];
        if (s->again > now)
            continue;
        if (!ftree_is_leaving(ft))
            look(ft, now, s->since);
        if (is_void(ft, now, s))
            continue;
        s->reported = now;
        tell(ft, now, s, pace(ft, now, s));
    }
    for (int32_t i = 0; i < ft->observe->findings.n && !ftree_events_wait(ft);) {
        struct finding f = ft->observe->findings.items[i];
        if (f.confirm > now) {
            i++;
            continue;
        }
        FTREE_DROP(ft->observe->findings, i);
        confirm(ft, now, &f, NULL);
    }
}

ftree_time ftree_symptom_deadline(const struct ftree *ft)
{
    return ftree_min(FTREE_EARLIEST(struct stall, s, ft->observe->stalls, s->again),
                     FTREE_EARLIEST(struct finding, f, ft->observe->findings, f->confirm));
}

void ftree_observe_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->observe->stalls.items, 0);
    ftree_alloc(ft, ft->observe->findings.items, 0);
    ftree_alloc(ft, ft->observe->halts.items, 0);
    ftree_alloc(ft, ft->observe->checked.items, 0);
}

void ftree_observe_stop(struct ftree *ft)
{
    ft->observe->stalls.n = ft->observe->findings.n = 0;
    ft->observe->again_ms = 0;
}

bool ftree_symptom_any_finding(const struct ftree *ft)
{
    return ft->observe->findings.n > 0;
}
