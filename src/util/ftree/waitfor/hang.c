/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/event.h"

#include <stdio.h>
#include <string.h>

/*
 * A rank that never comes: hung or slow?  Where others wait for a rank outside MPI the acting root
 * asks all nodes for their samples, puts the history of S_out together and tests it.  If a healthy
 * job hardly ever shows the like it looks at all ranks five times, `sample` apart: if one of them
 * has ended a call in between the job is only slow; else the ranks that are outside MPI each time
 * are what hangs.  Each of these looks also brings the samples since, which are tested again.
 *
 * The next question comes when so many samples can be there as are still needed, so a program that
 * keeps ranks waiting for long is asked ever more seldom.
 */

#define PAUSE_MIN (1000 * FTREE_MS)
#define PAUSE_MAX (60 * 1000 * FTREE_MS)
#define PATIENCE (10 * 1000 * FTREE_MS) /* with an answer that does not come */
/* A shorter one before counts as that: two samples may miss it. */
#define LEAST_STAY (1000 * FTREE_MS)
#define SHOWN 24 /* samples in the evidence */
#define RANKS_SHOWN (FTREE_EVIDENCE_MAX - 3)

/*
 * When the action "abort" may end the job because of it: nobody knows how long a healthy phase
 * takes that has never been seen, but the longest so far gives the scale, and of one that does
 * nothing at all there is less doubt than of one that works.  With L the longest stay outside MPI
 * of any rank before, from the time on at which each rank of the component has been outside for
 *
 *     max(10 L, 1 minute)     if it is blocked
 *     max(10 L, 10 minutes)   else
 */
#define END_FACTOR 10
#define END_BLOCKED (60 * 1000 * FTREE_MS)
#define END_ACTIVE (600 * 1000 * FTREE_MS)

struct waitfor_hang {
    bool asked;
    ftree_time next, pause;
    bool sweeping;
    struct hang_sweeps sweeps;
    struct hang_result result;
    struct hang_history history;
};

/* ---- whether to ask -------------------------------------------------------------------------- */

/* A rank that others wait for, of which its agent says that it is not in MPI. */
static bool any_outside(const struct waitfor *w)
{
    FTREE_EACH(waitfor_answer_of_rank, a, w->end_answers)
        if ((*a)->seen == WAITFOR_UNABLE && !(*a)->since && (*a)->records == 0)
            return true;
    return false;
}

static bool is_wanted(const struct ftree *ft)
{
    const struct waitfor *w = ft->waitfor->work;

    return w->unexplained && ft->io->samples && ft->io->stay && any_outside(w);
}

/* NULL: out of memory. */
static struct waitfor_hang *begin(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;

    if (w->hang)
        return w->hang;
    w->hang = ftree_alloc(ft, NULL, sizeof(*w->hang));
    if (!w->hang)
        return NULL;
    memset(w->hang, 0, sizeof(*w->hang));
    w->hang->next = now;
    w->hang->pause = PAUSE_MIN;
    return w->hang;
}

void waitfor_hang_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->waitfor->work->hang, 0);
    ft->waitfor->work->hang = NULL;
}

/* A reduction has found who waits for whom. */
void waitfor_hang(struct ftree *ft, ftree_time now)
{
    if (is_wanted(ft))
        begin(ft, now);
    else
        waitfor_hang_clear(ft);
}

static void stop_sweeping(struct waitfor_hang *h)
{
    h->sweeping = false;
    memset(&h->sweeps, 0, sizeof(h->sweeps));
}

static void rest(struct waitfor_hang *h, ftree_time now)
{
    stop_sweeping(h);
    h->next = now + h->pause;
    h->pause = ftree_min(2 * h->pause, PAUSE_MAX);
}

void waitfor_hang_tick(struct ftree *ft, ftree_time now)
{
    struct waitfor_hang *h = ft->waitfor->work->hang;

    if (!h || h->next > now)
        return;
    if (h->asked) { /* no answer */
        h->asked = false;
        rest(h, now);
        return;
    }
    h->asked = FTREE_EMIT(ft, ASK_ALL, .u.first = h->history.last + 1);
    h->next = now + (h->asked ? PATIENCE : h->pause);
}

ftree_time waitfor_hang_deadline(const struct ftree *ft)
{
    const struct waitfor_hang *h = ft->waitfor->work->hang;

    return h ? h->next : FTREE_NEVER;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static int outside_of(uint8_t what)
{
    switch (what) {
        case FTREE_OUTSIDE_RUNS:
            return RULES_OUTSIDE_BURNING;
        case FTREE_OUTSIDE_SLEEPS:
            return RULES_OUTSIDE_BLOCKED;
        case FTREE_OUTSIDE_DISK:
            return RULES_OUTSIDE_DISK_SLEEP;
        default:
            return RULES_OUTSIDE_UNKNOWN;
    }
}

/* Those in disk sleep are one group, the others another. */
static bool is_of_group(const struct ftree_stay *s, bool disk)
{
    return (s->what == FTREE_OUTSIDE_DISK) == disk;
}

/* What those of the group do who do most: where one is active the others may wait for it in a way
 * that is not MPI's, and nobody is blocked. */
static int what_they_do(const struct hang_sweep *s, bool disk)
{
    bool does[RULES_OUTSIDE_UNKNOWN + 1] = {false};

    for (int32_t i = 0; i < s->count; i++)
        if (is_of_group(&s->stay[i], disk))
            does[outside_of(s->stay[i].what)] = true;
    if (does[RULES_OUTSIDE_BURNING])
        return RULES_OUTSIDE_BURNING;
    if (does[RULES_OUTSIDE_UNKNOWN])
        return RULES_OUTSIDE_UNKNOWN;
    if (does[RULES_OUTSIDE_BLOCKED])
        return RULES_OUTSIDE_BLOCKED;
    return does[RULES_OUTSIDE_DISK_SLEEP] ? RULES_OUTSIDE_DISK_SLEEP : RULES_OUTSIDE_NONE;
}

static double percent_of(ftree_time stay, ftree_time longest)
{
    return 100.0 * (double) stay / (double) ftree_max(longest, LEAST_STAY);
}

static ftree_time shortest_stay(const struct hang_sweep *s, bool disk)
{
    ftree_time least = FTREE_NEVER;

    for (int32_t i = 0; i < s->count; i++)
        if (is_of_group(&s->stay[i], disk))
            least = ftree_min(least, s->stay[i].stay);
    return least;
}

/* Of each number the least that any of the group has, or will have so much later. */
static void find_stay(const struct hang_sweep *s, bool disk, ftree_time later,
                      struct rules_stay *out)
{
    ftree_time least = shortest_stay(s, disk) + later;

    *out = (struct rules_stay){.percent = percent_of(least, 0),
                               .of_any_percent = percent_of(least, s->longest),
                               .seconds = (double) least / 1e9,
                               .familiar_percent = s->inside ? 100.0 * s->familiar / s->inside : 0};
    for (int32_t i = 0; i < s->count; i++)
        if (is_of_group(&s->stay[i], disk) &&
            percent_of(s->stay[i].stay + later, s->stay[i].longest) < out->percent)
            out->percent = percent_of(s->stay[i].stay + later, s->stay[i].longest);
}

/* NULL: the rule base says nothing of them, or not yet. */
static const struct rules_sign *find_sign(const struct ftree *ft, const struct hang_sweep *s,
                                          bool disk, ftree_time later, int32_t *model)
{
    int outside = what_they_do(s, disk);
    struct rules_stay stay;

    if (outside == RULES_OUTSIDE_NONE)
        return NULL;
    find_stay(s, disk, later, &stay);
    return ftree_rules_decide_outside(ft->rules, outside, &stay, model);
}

static void add_line(struct ftree *ft, ftree_time now, int32_t node, const char *line,
                     struct ftree_verdict *v)
{
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, node, line, v);
}

/* Every number of the test, so that anybody can do it again. */
static void add_test(struct ftree *ft, ftree_time now, const struct hang_result *r,
                     struct ftree_verdict *v)
{
    char line[FTREE_DETAIL_MAX];

    snprintf(
        line, sizeof(line),
        "S_out <= %d in the last %d samples, significance %.1e (n %d, k %d, q %.3f, interval %.1f s)",
        (int) r->model.t, (int) r->run, r->significance, (int) r->model.n, (int) r->needed,
        r->model.q, (double) (ft->cfg.sample << r->doublings) / 1e9);
    add_line(ft, now, v->node, line, v);
}

static void add_history(struct ftree *ft, ftree_time now, const struct hang_history *h,
                        struct ftree_verdict *v)
{
    int32_t sample[HANG_HISTORY_MAX], n = ftree_hang_history_of(h, sample);
    char line[FTREE_DETAIL_MAX] = "S_out before and now:";

    for (int32_t i = n > SHOWN ? n - SHOWN : 0; i < n; i++) {
        size_t len = strlen(line);
        if (sample[i] == HANG_UNKNOWN)
            snprintf(line + len, sizeof(line) - len, " ?");
        else
            snprintf(line + len, sizeof(line) - len, " %d", (int) sample[i]);
    }
    add_line(ft, now, v->node, line, v);
}

static void add_rank(struct ftree *ft, ftree_time now, const struct ftree_stay *s,
                     struct ftree_verdict *v)
{
    static const char *const words[] = {FTREE_OUTSIDES(FTREE_SECOND)};
    char line[FTREE_DETAIL_MAX], longest[32] = "no stay before", cpu[32] = "";

    if (s->longest > 0)
        snprintf(longest, sizeof(longest), "at most %.1f s before", (double) s->longest / 1e9);
    if (s->what == FTREE_OUTSIDE_RUNS && s->cpu != FTREE_CPU_UNKNOWN)
        snprintf(cpu, sizeof(cpu), " (%d %% of a CPU)", (int) s->cpu);
    snprintf(line, sizeof(line), "rank %d outside MPI for %.1f s (%s), %s%s%s%s", (int) s->rank,
             (double) s->stay / 1e9, longest, words[s->what], cpu, *s->wchan ? " in " : "",
             s->wchan);
    add_line(ft, now, ftree_node_of(ft, s->rank), line, v);
}

/* One that is older than the stall limit began when the others' waits did, or before. */
static void set_time(const struct waitfor *w, const struct hang_sweep *s, struct ftree_verdict *v)
{
    v->first_symptom = w->unexplained < v->first_symptom ? w->unexplained : v->first_symptom;
    v->symptoms = (uint32_t) s->count;
}

static void hold_back(struct ftree *ft, ftree_time now, const struct hang_sweep *s, bool disk,
                      struct ftree_verdict *v)
{
    bool blocked = what_they_do(s, disk) == RULES_OUTSIDE_BLOCKED;
    ftree_time end = ftree_max(END_FACTOR * s->longest, blocked ? END_BLOCKED : END_ACTIVE);
    ftree_time stay = shortest_stay(s, disk);
    char line[FTREE_DETAIL_MAX];

    v->holds_back = end > stay ? end - stay : 0;
    snprintf(line, sizeof(line),
             "any rank outside MPI for at most %.1f s before; the job may be ended after %.0f s",
             (double) s->longest / 1e9, (double) end / 1e9);
    add_line(ft, now, v->node, line, v);
}

static bool say(struct ftree *ft, ftree_time now, const struct waitfor_hang *h, bool disk)
{
    const struct hang_sweep *s = &h->sweeps.last;
    int32_t model = -1, first = 0, shown = 0;
    const struct rules_sign *sign = find_sign(ft, s, disk, 0, &model);
    struct ftree_verdict v;

    if (!sign)
        return false;
    while (!is_of_group(&s->stay[first], disk))
        first++;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_,
                       ftree_node_of(ft, s->stay[first].rank), s->stay[first].rank);
    add_test(ft, now, &h->result, &v);
    add_history(ft, now, &h->history, &v);
    for (int32_t i = first; i < s->count; i++) {
        if (!is_of_group(&s->stay[i], disk))
            continue;
        ftree_ranks_add(&v.component, s->stay[i].rank, s->stay[i].rank);
        if (shown++ < RANKS_SHOWN)
            add_rank(ft, now, &s->stay[i], &v);
    }
    hold_back(ft, now, s, disk, &v);
    if (v.component.count == 1)
        v.component = (struct ftree_ranks){0};
    v.pid = shown == 1 && ft->job->rank_pid ? ft->job->rank_pid[v.rank] : 0;
    set_time(ft->waitfor->work, s, &v);
    ftree_emit_verdict(ft, &v);
    return true;
}

static bool any_stopped(const struct hang_sweep *s)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->stay[i].what == FTREE_OUTSIDE_STOPPED)
            return true;
    return false;
}

/* The others may wait for the one that waits for a disk. */
static bool any_on_disk(const struct hang_sweep *s)
{
    return what_they_do(s, true) != RULES_OUTSIDE_NONE;
}

static void conclude(struct ftree *ft, ftree_time now, struct waitfor_hang *h)
{
    if (any_stopped(&h->sweeps.last) || !say(ft, now, h, any_on_disk(&h->sweeps.last)))
        ftree_trace(
            ft,
            "  nobody is accused: a rank is stopped, or has not been outside MPI for long enough");
    stop_sweeping(h);
    h->next = now + PAUSE_MIN;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void look_again(struct ftree *ft, struct waitfor_hang *h, ftree_time now)
{
    h->next = now + ft->cfg.sample;
}

/* Sweeps are made once they can come to something: what a rank was seen to do may change in them,
 * how long it has been away grows.  Until then all are asked again after an eighth of that time. */
static bool is_too_early(struct ftree *ft, struct waitfor_hang *h, const struct hang_sweep *s,
                         ftree_time now)
{
    ftree_time later = (HANG_SWEEPS - 1) * ft->cfg.sample; /* when the sweeps are over */
    bool disk = any_on_disk(s);
    int32_t model;

    if (h->sweeping || s->count == 0 || s->count > HANG_RANKS_MAX || any_stopped(s) ||
        find_sign(ft, s, disk, later, &model))
        return false;
    ftree_trace(ft, "  nobody has been outside MPI for long enough");
    h->next = now + ftree_min(ftree_max(shortest_stay(s, disk) / 8, PAUSE_MIN), PAUSE_MAX);
    return true;
}

static void sweep(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                  const struct hang_answer *a)
{
    struct hang_sweep s;

    ftree_hang_sweep_of(a, &s);
    if (is_too_early(ft, h, &s, now))
        return;
    h->sweeping = true;
    switch (ftree_hang_swept(&h->sweeps, &s)) {
        case HANG_SWEEP_ON:
            look_again(ft, h, now);
            break;
        case HANG_NAMED:
            conclude(ft, now, h);
            break;
        case HANG_SLOW:
            ftree_trace(ft, "  a rank has ended a call: the job is slow");
            rest(h, now);
            break;
        default:
            ftree_trace(ft, "  nobody is outside MPI each time, or too many are");
            rest(h, now);
            break;
    }
}

/* When enough samples can be there. */
static void wait_for_more(struct ftree *ft, ftree_time now, struct waitfor_hang *h)
{
    int32_t more = h->result.needed - h->result.run;
    ftree_time time = (ft->cfg.sample << h->result.doublings) * (ftree_time) (more > 0 ? more : 1);

    if (h->result.state == HANG_HEALTHY && h->result.run > 0 && time <= PAUSE_MAX &&
        h->result.needed != INT32_MAX) {
        stop_sweeping(h);
        h->next = now + time;
    } else {
        rest(h, now);
    }
}

static void judge(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                  const struct hang_answer *a)
{
    int32_t sample[HANG_HISTORY_MAX], n;

    ftree_hang_history_add(&h->history, a);
    n = ftree_hang_history_of(&h->history, sample);
    ftree_hang_test(sample, n, h->history.last + 1 - (uint64_t) n, ft->cfg.alpha, &h->result);
    ftree_trace(ft,
                "  S_out of %d samples: %s, %d of %d suspicious ones, interval doubled %d times", n,
                ftree_hang_state_name(h->result.state), h->result.run, h->result.needed,
                h->result.doublings);
    if (h->result.state == HANG_LIKELY)
        sweep(ft, now, h, a);
    else
        wait_for_more(ft, now, h);
}

/* The answer is this function's. */
void ftree_waitfor_said(struct ftree *ft, ftree_time now, struct hang_answer *a)
{
    struct waitfor_hang *h = ft->waitfor->work ? ft->waitfor->work->hang : NULL;

    if (h && h->asked) {
        h->asked = false;
        if (a && is_wanted(ft))
            judge(ft, now, h, a);
        else
            rest(h, now);
    }
    if (a)
        ftree_hang_answer_clear(ft, a);
    ftree_alloc(ft, a, 0);
}
