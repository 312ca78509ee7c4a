/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

/*
 * Symptoms of the own ranks.  A stall is told when it begins and again, at doubling intervals,
 * while it lasts: by then the picture may have changed.  Before anybody else is asked the own
 * ranks are looked at, which costs no message: a stopped or vanished one is a finding, and a
 * verdict if it is still so after `settle`.  (A launcher that cleans up kills all ranks within
 * milliseconds: who is killed with the others must not be the one to report it.)
 */

static struct stall *find_stall(const struct ftree *ft, int32_t rank)
{
    for (int32_t i = 0; i < ft->stalls.n; i++)
        if (ft->stalls.items[i].rank == rank)
            return &ft->stalls.items[i];
    return NULL;
}

int ftree_stall(struct ftree *ft, ftree_time now, int32_t rank, int32_t peer, ftree_time waiting)
{
    struct stall *s;

    if (rank < 0 || rank >= ft->job->size || ftree_node_of(ft, rank) != ft->self ||
        peer < FTREE_LOCAL || peer >= ft->job->size)
        return FTREE_ERR_INVALID;
    s = find_stall(ft, rank);
    if (ft->leaving || (s && s->peer == peer))
        return FTREE_OK;
    if (!s)
        s = FTREE_PUSH(ft, ft->stalls);
    if (!s)
        return FTREE_ERR_NOMEM;
    s->rank = rank;
    s->peer = peer;
    s->since = now > waiting ? now - waiting : 0;
    /* a rank that waits for this one and that one in turn is not asked about at every turn */
    s->again = s->told ? ftree_max(now, s->told + ft->cfg.stall / 2) : now;
    s->interval = ft->cfg.stall;
    ftree_symptom_tick(ft, now);
    return FTREE_OK;
}

void ftree_stall_over(struct ftree *ft, ftree_time now, int32_t rank)
{
    struct stall *s = find_stall(ft, rank);

    (void) now;
    if (s)
        FTREE_DROP(ft->stalls, (int32_t) (s - ft->stalls.items));
}

/* ---- findings on the own node ---------------------------------------------------------------- */

bool ftree_symptom_is_trouble(const struct ftree_rank_state *s)
{
    if (s->phase == FTREE_PHASE_LEFT)
        return false;
    return s->phase == FTREE_PHASE_GONE || s->proc_state == 'T' || s->proc_state == 't';
}

/* A rank that has waited for half the limit when it is asked waits for what is being asked about:
 * in a healthy job such waits are rare, and of those who wait for a fault most began at once. */
bool ftree_symptom_is_victim(const struct ftree_rank_state *s, ftree_time limit)
{
    return s->phase != FTREE_PHASE_LEFT && s->phase != FTREE_PHASE_GONE && s->waiting > 0 &&
           s->waiting >= limit / 2;
}

static int add_finding(struct ftree *ft, ftree_time now, int32_t rank, ftree_time first_symptom)
{
    struct finding *f;

    for (int32_t i = 0; i < ft->findings.n; i++)
        if (ft->findings.items[i].rank == rank)
            return FTREE_OK;
    f = FTREE_PUSH(ft, ft->findings);
    if (!f)
        return FTREE_ERR_NOMEM;
    f->rank = rank;
    f->first_symptom = first_symptom;
    f->confirm = now + ft->cfg.settle;
    return FTREE_OK;
}

void ftree_symptom_look(struct ftree *ft, ftree_time now, ftree_time first_symptom)
{
    struct ftree_rank_state s;

    /* many ranks may stall at once, and to look at each of them for each is a square */
    if (ft->leaving || ft->looked_at == now)
        return;
    ft->looked_at = now;
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (ftree_symptom_is_trouble(&s) && !ftree_verdict_on_rank(ft, ft->self, s.rank))
            add_finding(ft, now, s.rank, first_symptom);
    }
}

int ftree_rank_gone(struct ftree *ft, ftree_time now, int32_t rank)
{
    if (rank < 0 || rank >= ft->job->size || ftree_node_of(ft, rank) != ft->self)
        return FTREE_ERR_INVALID;
    return ft->leaving || ftree_verdict_on_rank(ft, ft->self, rank)
               ? FTREE_OK
               : add_finding(ft, now, rank, now);
}

static void confirm(struct ftree *ft, ftree_time now, const struct finding *f)
{
    struct ftree_evidence e = {.path = FTREE_PATHS, .target = ft->self, .by = ft->self, .at = now};
    struct ftree_rank_state s;
    struct ftree_verdict v;
    int32_t i = 0;

    while (ftree_rank_at(ft->job, ft->self, i) != f->rank)
        i++;
    ft->io->look(ft->io_ctx, i, &s);
    if (!ftree_symptom_is_trouble(&s) || ft->leaving) {
        ftree_trace(ft, "rank %d is well again", f->rank);
        return;
    }
    ftree_verdict_init(&v, s.phase == FTREE_PHASE_GONE ? FTREE_RULE_PID_GONE : FTREE_RULE_STATE_T,
                       ft->self, f->rank);
    e.proc_state = s.phase == FTREE_PHASE_GONE ? 'X' : s.proc_state;
    ftree_verdict_add_evidence(&v, &e);
    v.pid = s.pid;
    v.fln = ft->self;
    v.symptoms = 1;
    v.first_symptom = f->first_symptom;
    v.located = now;
    ftree_spread_raise(ft, now, &v);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void tell(struct ftree *ft, ftree_time now, const struct stall *s)
{
    struct wire_symptom w = {.kind = SYMPTOM_STALL,
                             .rank = s->peer,
                             .reporter = ft->self,
                             .count = 1,
                             .age = now - s->since};

    ftree_symptom_look(ft, now, s->since);
    if (s->peer == FTREE_NONE) {
        ftree_trace(ft, "rank %d stalls, peer not known", s->rank);
        ftree_sweep_start(ft, now);
        return;
    }
    w.node = s->peer == FTREE_LOCAL ? ft->self : ftree_node_of(ft, s->peer);
    if (w.node == ft->self) /* the own ranks were looked at just now */
        return;
    ftree_trace(ft, "rank %d stalls, waits for rank %d", s->rank, s->peer);
    ftree_correlate(ft, now, &w, false);
}

void ftree_symptom_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->stalls.n; i++) {
        struct stall s = ft->stalls.items[i];
        if (s.again > now)
            continue;
        ft->stalls.items[i].told = now;
        ft->stalls.items[i].again = now + s.interval;
        ft->stalls.items[i].interval = ftree_min(2 * s.interval, ft->cfg.stall_repeat_max);
        tell(ft, now, &s);
    }
    for (int32_t i = 0; i < ft->findings.n;) {
        struct finding f = ft->findings.items[i];
        if (f.confirm > now) {
            i++;
            continue;
        }
        FTREE_DROP(ft->findings, i);
        confirm(ft, now, &f);
    }
}

ftree_time ftree_symptom_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    for (int32_t i = 0; i < ft->stalls.n; i++)
        t = ftree_min(t, ft->stalls.items[i].again);
    for (int32_t i = 0; i < ft->findings.n; i++)
        t = ftree_min(t, ft->findings.items[i].confirm);
    return t;
}
