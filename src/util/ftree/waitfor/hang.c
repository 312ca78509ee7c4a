/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A rank that never comes: hung or slow?  Where others wait for a rank outside MPI, or for one in
 * a call that makes no progress, which counts as outside from here on, the acting root asks all
 * nodes for their samples, puts the history of S_out together and tests it.  If a healthy job
 * hardly ever shows the like, or will have shown it by then, it looks at all ranks five times,
 * `sample` apart: if one of them has ended a call in between the job is only slow; else the ranks
 * that are outside MPI each time are what hangs.  It does the same where a healthy job hardly ever
 * shows so long a stay.
 *
 * Where the rest of the job goes on, for few wait for the rank yet, that says nothing of it.  So it
 * looks five times, too, at the ranks that are late: no other rank will do for one of those that
 * wait for it, and a healthy job hardly ever shows a stay as long as this one.  The rule base wants
 * more time of these.
 *
 * Where all ranks of the job hang nobody waits in MPI, and nothing stalls.  A file system that does
 * not answer does that, so the acting root looks at its own ranks when a block of samples is over:
 * if all of them are in disk sleep it asks all nodes, and goes on while it is so of all ranks.
 *
 * The next question comes when sweeps can begin that end with enough, so a program that
 * keeps ranks waiting for long is asked ever more seldom.
 */

#define PAUSE_MIN (1000 * FTREE_MS)
#define PAUSE_MAX (60 * 1000 * FTREE_MS)
#define PATIENCE (10 * 1000 * FTREE_MS) /* with an answer that does not come */
/* A shorter one before counts as that: two samples may miss it. */
#define LEAST_STAY (1000 * FTREE_MS)
#define HANG_AHEAD_MAX 64 /* instants that another node's clock may be ahead of the own one */
#define SHOWN 24 /* samples in the evidence */
#define RANKS_SHOWN (FTREE_EVIDENCE_MAX - 3)

/*
 * When the action "abort" may end the job because of it: nobody knows how long a healthy phase
 * takes that has never been seen, but the longest so far gives the scale, and of one that does
 * nothing at all there is less doubt than of one that works.  With L the longest stay outside MPI
 * of any rank before, from the time on at which each rank of the component has been outside for
 *
 *     max(10 L, 1 minute)     if it is blocked, and all wait
 *     max(10 L, 10 minutes)   else
 */
#define END_FACTOR 10
#define END_BLOCKED (60 * 1000 * FTREE_MS)
#define END_ACTIVE (600 * 1000 * FTREE_MS)

/* What the test of a stay was made of. */
struct tail {
    ftree_time longest; /* stay outside MPI of any rank before, */
    ftree_time before; /* and how much is known of the time before the present one */
    ftree_time stay; /* outside MPI, the shortest of the ranks that are there now */
};

struct waitfor_hang {
    bool of_all; /* nobody waits: all ranks are in disk sleep */
    bool asked;
    ftree_time next, pause;
    bool sweeping;
    struct hang_sweeps sweeps; /* of all ranks, */
    struct hang_sweeps late_sweeps; /* and of those alone that are late */
    bool is_improbable; /* a healthy job hardly ever shows the like: of the last test */
    uint64_t progress; /* calls that all ranks had ended by then */
    struct hang_result result; /* of it; */
    struct tail all; /* likewise, */
    struct tail late; /* and of those that are late */
};

/* ---- whether to ask -------------------------------------------------------------------------- */

/* A rank that others wait for, of which its agent says that it did not answer. */
static bool any_outside(const struct waitfor *w)
{
    FTREE_EACH(waitfor_answer_of_rank, a, w->end_answers)
        if ((*a)->seen == WAITFOR_UNABLE && (*a)->records == 0)
            return true;
    return false;
}

static bool is_wanted(const struct ftree *ft)
{
    const struct waitfor *w = ft->waitfor->work;

    return w->unexplained && ft->io->samples && ft->io->stay && any_outside(w);
}

/* False: out of memory. */
static bool begin_history(struct ftree *ft)
{
    struct hang_history *h = ft->waitfor->history;

    if (!h && (h = ftree_alloc(ft, NULL, sizeof(*h))))
        memset(h, 0, sizeof(*h));
    ft->waitfor->history = h;
    return h != NULL;
}

/* NULL: out of memory. */
static struct waitfor_hang *begin(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;

    if (w->hang)
        return w->hang;
    if (!begin_history(ft))
        return NULL;
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
    struct waitfor_hang *h = ft->waitfor->work->hang;

    if (is_wanted(ft)) {
        h = begin(ft, now);
        if (h)
            h->of_all = false;
    } else if (h && !h->of_all) {
        waitfor_hang_clear(ft);
    }
}

static bool is_in_disk_sleep(const struct ftree *ft, int32_t i)
{
    uint8_t block;
    struct ftree_stay stay;

    return ft->io->blocks(ft->io_ctx, i, &block, 1) == 1 && block == FTREE_BLOCK_SAMPLES &&
           ft->io->stay(ft->io_ctx, i, &stay) && stay.what == FTREE_OUTSIDE_DISK;
}

/* And nothing is known that may be the reason. */
bool waitfor_hang_is_of_all(const struct ftree *ft)
{
    int32_t n = ftree_ranks_of(ft->job, ft->self);

    if (!ft->io->samples || !ft->io->stay || !ft->io->blocks || ftree_is_leaving(ft) ||
        !ftree_route_is_root(ft) || ftree_verdict_any_fault(ft))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (!is_in_disk_sleep(ft, i))
            return false;
    return n > 0;
}

void waitfor_hang_begin_of_all(struct ftree *ft, ftree_time now)
{
    struct waitfor_hang *h = ft->waitfor->work->hang ? NULL : begin(ft, now);

    if (!h)
        return;
    h->of_all = true;
    ftree_trace(ft, "own ranks are all in disk sleep");
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
    if (h->of_all && !waitfor_hang_is_of_all(ft)) {
        waitfor_hang_clear(ft);
        return;
    }
    h->asked = FTREE_EMIT(ft, ASK_ALL, .u.first = ft->waitfor->history->last + 1);
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
        case FTREE_OUTSIDE_AWAITS:
            return RULES_OUTSIDE_AWAITING;
        case FTREE_OUTSIDE_SLEEPS:
            return RULES_OUTSIDE_BLOCKED;
        case FTREE_OUTSIDE_DISK:
            return RULES_OUTSIDE_DISK_SLEEP;
        default:
            return RULES_OUTSIDE_UNKNOWN;
    }
}

/* Each has a verdict of its own. */
enum group { IN_DISK_SLEEP, IN_MPI, IN_USER_CODE, GROUPS };

static bool is_of_group(const struct ftree_stay *s, enum group group)
{
    if (s->what == FTREE_OUTSIDE_DISK)
        return group == IN_DISK_SLEEP;
    return group == (s->call ? IN_MPI : IN_USER_CODE);
}

/* Ranks may wait for each other in a way that is not MPI's, so where one is active, or may be
 * answered, nobody is blocked. */
static int what_they_do(const struct hang_sweep *s, enum group group)
{
    bool does[RULES_OUTSIDE_UNKNOWN + 1] = {false}, any = false;

    for (int32_t i = 0; i < s->count; i++) {
        any = any || is_of_group(&s->stay[i], group);
        does[outside_of(s->stay[i].what)] = true;
    }
    if (!any)
        return RULES_OUTSIDE_NONE;
    if (group == IN_DISK_SLEEP)
        return RULES_OUTSIDE_DISK_SLEEP;
    if (does[RULES_OUTSIDE_BURNING])
        return RULES_OUTSIDE_BURNING;
    if (does[RULES_OUTSIDE_AWAITING])
        return RULES_OUTSIDE_AWAITING;
    return does[RULES_OUTSIDE_UNKNOWN] ? RULES_OUTSIDE_UNKNOWN : RULES_OUTSIDE_BLOCKED;
}

/* The groups that may be accused: the others may wait for one that waits for a disk. */
static int groups_of(const struct hang_sweep *s)
{
    return what_they_do(s, IN_DISK_SLEEP) ? IN_DISK_SLEEP + 1 : GROUPS;
}

static double percent_of(ftree_time stay, ftree_time longest)
{
    return 100.0 * (double) stay / (double) ftree_max(longest, LEAST_STAY);
}

static ftree_time shortest_stay(const struct hang_sweep *s, enum group group)
{
    ftree_time least = FTREE_NEVER;

    for (int32_t i = 0; i < s->count; i++)
        if (is_of_group(&s->stay[i], group))
            least = ftree_min(least, s->stay[i].stay);
    return least;
}

/* Of each number the least that any of the group has, or will have so much later. */
static void find_least(const struct hang_sweep *s, enum group group, ftree_time later,
                       struct rules_stay *out)
{
    ftree_time still = FTREE_NEVER;

    for (int32_t i = 0; i < s->count; i++) {
        const struct ftree_stay *stay = &s->stay[i];
        if (!is_of_group(stay, group))
            continue;
        still = ftree_min(still, stay->still + later);
        if (percent_of(stay->stay + later, stay->longest) < out->percent)
            out->percent = percent_of(stay->stay + later, stay->longest);
    }
    out->still_seconds = (double) still / 1e9;
}

/* Where nobody waits that it takes longer than anything before says nothing: all ranks may write a
 * checkpoint. */
static void find_stay(const struct hang_sweep *s, enum group group, ftree_time later,
                      struct rules_stay *out)
{
    ftree_time least = shortest_stay(s, group) + later;

    *out = (struct rules_stay){.in_mpi = group == IN_MPI,
                               .others_go_on = s->others_go_on,
                               .percent = percent_of(least, 0),
                               .of_any_percent = s->inside ? percent_of(least, s->longest) : NAN,
                               .seconds = (double) least / 1e9,
                               .familiar_percent = s->inside ? 100.0 * s->familiar / s->inside : 0};
    find_least(s, group, later, out);
}

/* NULL: the rule base says nothing of them, or not yet. */
static const struct rules_sign *find_sign(const struct ftree *ft, const struct hang_sweep *s,
                                          enum group group, ftree_time later, int32_t *model)
{
    int outside = what_they_do(s, group);
    struct rules_stay stay;

    if (outside == RULES_OUTSIDE_NONE)
        return NULL;
    find_stay(s, group, later, &stay);
    return ftree_rules_decide_outside(ft->rules, outside, &stay, model);
}

static double significance_of(const struct tail *t)
{
    return ftree_hang_tail(t->before, t->longest, t->stay);
}

static void add_line(struct ftree *ft, ftree_time now, int32_t node, const char *line,
                     struct ftree_verdict *v)
{
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, node, line, v);
}

static void set_statistics(const struct ftree *ft, const struct waitfor_hang *h,
                           const struct tail *t, struct ftree_verdict *v)
{
    int32_t sample[HANG_HISTORY_MAX], n = ftree_hang_history_of(ft->waitfor->history, sample);
    const struct hang_result *r = &h->result;
    struct ftree_statistics *s = &v->statistics;

    s->alpha = ft->cfg.alpha;
    s->s_out.known = r->state == HANG_HEALTHY || r->state == HANG_LIKELY;
    s->s_out.n = r->model.n;
    s->s_out.t = r->model.t;
    s->s_out.run = r->run;
    s->s_out.needed = r->needed;
    s->s_out.q = r->model.q;
    s->s_out.interval = ft->cfg.sample << r->doublings;
    s->s_out.significance = r->significance;
    s->stay.stay = t->stay;
    s->stay.longest = t->longest;
    s->stay.before = t->before;
    s->stay.significance = significance_of(t);
    s->samples = n < FTREE_STATISTICS_SAMPLES ? n : FTREE_STATISTICS_SAMPLES;
    memcpy(s->sample, sample + n - s->samples, (size_t) s->samples * sizeof(*sample));
}

/* The same for people: every number of the test that was enough, so that anybody can do it again. */
static void add_test(struct ftree *ft, ftree_time now, bool by_s_out, struct ftree_verdict *v)
{
    const struct ftree_statistics *s = &v->statistics;
    char line[FTREE_DETAIL_MAX];

    if (by_s_out)
        snprintf(line, sizeof(line),
                 "S_out <= %d in the last %d samples, significance %.1e "
                 "(n %d, k %d, q %.3f, interval %.1f s)",
                 (int) s->s_out.t, (int) s->s_out.run, s->s_out.significance, (int) s->s_out.n,
                 (int) s->s_out.needed, s->s_out.q, (double) s->s_out.interval / 1e9);
    else
        snprintf(line, sizeof(line),
                 "no rank was outside MPI for more than %.1f s in %.0f s; "
                 "%.1f s have significance %.1e",
                 (double) s->stay.longest / 1e9, (double) s->stay.before / 1e9,
                 (double) s->stay.stay / 1e9, s->stay.significance);
    add_line(ft, now, v->node, line, v);
}

static size_t sample_text(int32_t sample, char buf[16])
{
    return (size_t) (sample == HANG_UNKNOWN ? snprintf(buf, 16, " ?")
                                            : snprintf(buf, 16, " %d", (int) sample));
}

/* The newest of those that there is room for. */
static void add_history(struct ftree *ft, ftree_time now, struct ftree_verdict *v)
{
    const struct ftree_statistics *s = &v->statistics;
    char line[FTREE_DETAIL_MAX] = "S_out before and now:", one[16];
    size_t len = strlen(line), room = sizeof(line) - len;
    int32_t first = s->samples;

    for (; first > 0 && s->samples - first < SHOWN &&
           sample_text(s->sample[first - 1], one) < room;
         first--)
        room -= strlen(one);
    for (int32_t i = first; i < s->samples; i++)
        len += sample_text(s->sample[i], line + len);
    add_line(ft, now, v->node, line, v);
}

/* "outside MPI", "stuck in MPI_File_read" */
static void place_of(const struct ftree *ft, const struct ftree_stay *s, char *buf, size_t len)
{
    if (s->call == 0)
        snprintf(buf, len, "outside MPI");
    else
        snprintf(buf, len, "stuck in %s",
                 ft->io->call_name ? ft->io->call_name(s->call) : "MPI");
}

static void add_rank(struct ftree *ft, ftree_time now, const struct ftree_stay *s,
                     struct ftree_verdict *v)
{
    static const char *const words[] = {FTREE_OUTSIDES(FTREE_SECOND)};
    char line[FTREE_DETAIL_MAX], place[40], longest[32] = "no stay before", does[64] = "";
    size_t len;

    place_of(ft, s, place, sizeof(place));
    if (s->longest > 0)
        snprintf(longest, sizeof(longest), "at most %.1f s before", (double) s->longest / 1e9);
    if (s->what == FTREE_OUTSIDE_RUNS && s->cpu != FTREE_CPU_UNKNOWN)
        snprintf(does, sizeof(does), " (%d %% of a CPU, %.1f s since first seen)", (int) s->cpu,
                 (double) s->used / 1e9);
    else if (*s->waits_in)
        snprintf(does, sizeof(does), " in %s (%s)", s->waits_in, s->wchan);
    else if (*s->wchan)
        snprintf(does, sizeof(does), " in %s", s->wchan);
    len = (size_t) snprintf(line, sizeof(line), "rank %d %s for %.1f s (%s), %s%s", (int) s->rank,
                            place, (double) s->stay / 1e9, longest, words[s->what], does);
    if (s->what == FTREE_OUTSIDE_DISK && len < sizeof(line))
        snprintf(line + len, sizeof(line) - len, ", nothing done for %.1f s",
                 (double) s->still / 1e9);
    add_line(ft, now, ftree_node_of(ft, s->rank), line, v);
}

/* One that is older than the stall limit began when the others' waits did, or before. */
static void set_time(const struct waitfor *w, const struct waitfor_hang *h,
                     const struct hang_sweep *s, ftree_time now, struct ftree_verdict *v)
{
    v->first_symptom = ftree_min(v->first_symptom, h->of_all ? now - h->all.stay : w->unexplained);
    v->symptoms = (uint32_t) (s->count + s->more);
}

static void hold_back(struct ftree *ft, ftree_time now, const struct hang_sweep *s,
                      enum group group, struct ftree_verdict *v)
{
    bool blocked = what_they_do(s, group) == RULES_OUTSIDE_BLOCKED && !s->others_go_on;
    ftree_time end = ftree_max(END_FACTOR * s->longest, blocked ? END_BLOCKED : END_ACTIVE);
    ftree_time stay = shortest_stay(s, group);
    char line[FTREE_DETAIL_MAX];

    v->holds_back = end > stay ? end - stay : 0;
    snprintf(line, sizeof(line),
             "any rank outside MPI for at most %.1f s before; the job may be ended after %.0f s",
             (double) s->longest / 1e9, (double) end / 1e9);
    add_line(ft, now, v->node, line, v);
}

static bool say(struct ftree *ft, ftree_time now, const struct waitfor_hang *h,
                const struct hang_sweep *s, enum group group)
{
    int32_t model = -1, first = 0, shown = 0;
    const struct rules_sign *sign = find_sign(ft, s, group, 0, &model);
    struct ftree_verdict v;

    if (!sign)
        return false;
    while (!is_of_group(&s->stay[first], group))
        first++;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_,
                       ftree_node_of(ft, s->stay[first].rank), s->stay[first].rank);
    set_statistics(ft, h, s->others_go_on ? &h->late : &h->all, &v);
    add_test(ft, now, h->result.state == HANG_LIKELY && !s->others_go_on, &v);
    add_history(ft, now, &v);
    if (s->more > 0)
        ftree_ranks_add(&v.component, 0, ft->job->size - 1);
    for (int32_t i = first; i < s->count; i++) {
        if (!is_of_group(&s->stay[i], group))
            continue;
        if (s->more == 0)
            ftree_ranks_add(&v.component, s->stay[i].rank, s->stay[i].rank);
        if (shown++ < RANKS_SHOWN)
            add_rank(ft, now, &s->stay[i], &v);
    }
    hold_back(ft, now, s, group, &v);
    if (v.component.count == 1)
        v.component = (struct ftree_ranks){0};
    v.pid = shown == 1 && ft->job->rank_pid ? ft->job->rank_pid[v.rank] : 0;
    set_time(ft->waitfor->work, h, s, now, &v);
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

/* There is room for one verdict at a time; where ranks hang in several ways the first of the groups
 * that can be said is, for the others may wait for that. */
static bool say_any(struct ftree *ft, ftree_time now, const struct waitfor_hang *h,
                    const struct hang_sweep *s)
{
    for (int group = 0; group < groups_of(s); group++)
        if (say(ft, now, h, s, group))
            return true;
    return false;
}

static void conclude(struct ftree *ft, ftree_time now, struct waitfor_hang *h)
{
    if (any_stopped(&h->sweeps.last) || !say_any(ft, now, h, &h->sweeps.last))
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

static bool any_sign(const struct ftree *ft, const struct hang_sweep *s, ftree_time later)
{
    int32_t model;

    for (int group = 0; group < groups_of(s); group++)
        if (find_sign(ft, s, group, later, &model))
            return true;
    return false;
}

/* Of any group. */
static ftree_time least_stay(const struct hang_sweep *s)
{
    ftree_time least = FTREE_NEVER;

    for (int group = 0; group < groups_of(s); group++)
        least = ftree_min(least, shortest_stay(s, group));
    return least;
}

static ftree_time time_of_sweeps(const struct ftree *ft)
{
    return (HANG_SWEEPS - 1) * ft->cfg.sample;
}

/* When sweeps can come to something: what a rank was seen to do may change in them, how long it has
 * been away grows. */
static ftree_time time_to_sweep(const struct ftree *ft, const struct hang_sweep *s)
{
    ftree_time pause = ftree_min(ftree_max(least_stay(s) / 8, PAUSE_MIN), PAUSE_MAX);
    ftree_time later = 0;

    while (later < pause && !any_sign(ft, s, later + time_of_sweeps(ft)))
        later += ft->cfg.sample;
    return ftree_min(later, pause);
}

static bool is_too_early(struct ftree *ft, struct waitfor_hang *h, const struct hang_sweep *s,
                         ftree_time now)
{
    ftree_time later;

    if (h->sweeping || s->count == 0 || s->count > HANG_RANKS_MAX || any_stopped(s))
        return false;
    later = time_to_sweep(ft, s);
    if (later == 0)
        return false;
    ftree_trace(ft, "  nobody has been outside MPI for long enough");
    h->next = now + later;
    return true;
}

/* How long it takes until enough samples can be there; FTREE_NEVER: that is not known. */
static ftree_time time_by_samples(const struct ftree *ft, const struct hang_result *r)
{
    int32_t more = r->needed > r->run ? r->needed - r->run : 1;

    if (r->state != HANG_HEALTHY || r->run == 0 || r->needed == INT32_MAX)
        return FTREE_NEVER;
    return (ft->cfg.sample << r->doublings) * (ftree_time) more;
}

/* The same for the stay to be too long. */
static ftree_time time_by_stay(const struct ftree *ft, const struct tail *t)
{
    ftree_time too_long = ftree_hang_tail_of(t->before, t->longest, ft->cfg.alpha);

    if (t->stay == 0 || t->before < HANG_WINDOW * ft->cfg.sample || too_long == FTREE_NEVER)
        return FTREE_NEVER;
    return too_long > t->stay ? too_long - t->stay : 1;
}

static ftree_time time_to_improbable(const struct ftree *ft, const struct waitfor_hang *h)
{
    if (h->is_improbable)
        return 0;
    return ftree_min(time_by_samples(ft, &h->result), time_by_stay(ft, &h->all));
}

/* Until the last sweep can find it improbable; where the first ones have found that ranks go on,
 * until the next first one can. */
static void wait_for_more(struct ftree *ft, ftree_time now, struct waitfor_hang *h)
{
    ftree_time time = time_to_improbable(ft, h), sweeps = time_of_sweeps(ft);

    if (h->is_improbable || time_by_samples(ft, &h->result) > PAUSE_MAX)
        rest(h, now);
    else
        h->next = FTREE_NEVER;
    stop_sweeping(h);
    if (!h->is_improbable && time != FTREE_NEVER)
        h->next = ftree_min(h->next, now + (time > sweeps ? time - sweeps : time));
}

static void sweep(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                  const struct hang_sweep *s)
{
    if (is_too_early(ft, h, s, now))
        return;
    h->sweeping = true;
    switch (ftree_hang_swept(&h->sweeps, s)) {
        case HANG_SWEEP_ON:
            look_again(ft, h, now);
            break;
        case HANG_NAMED:
            if (h->is_improbable)
                conclude(ft, now, h);
            else
                look_again(ft, h, now);
            break;
        case HANG_SLOW:
            ftree_trace(ft, "  a rank has ended a call: the job is slow");
            wait_for_more(ft, now, h);
            break;
        default:
            ftree_trace(ft, "  nobody is outside MPI each time, or too many are");
            wait_for_more(ft, now, h);
            break;
    }
}

/* Time before an instant that some node does not know counts for nobody. */
static ftree_time time_known(const struct ftree *ft, const int32_t *sample, int32_t n)
{
    int32_t since = n;

    while (since > 0 && sample[since - 1] != HANG_UNKNOWN)
        since--;
    return (ftree_time) (n - since) * ft->cfg.sample;
}

static ftree_time stay_of(const struct hang_answer *a, ftree_time known)
{
    ftree_time stay = a->stays.n > 0 ? known : 0;

    FTREE_EACH(const struct ftree_stay, s, a->stays)
        stay = ftree_min(stay, s->stay);
    return stay;
}

/* How much is known of the time before that stay. */
static ftree_time time_before(const struct ftree *ft, ftree_time stay)
{
    ftree_time known = (ftree_time) ft->waitfor->history->known * ft->cfg.sample;

    return known > stay ? known - stay : 0;
}

/* ---- who is late ----------------------------------------------------------------------------- */

static bool is_needed(const struct waitfor *w, int32_t rank)
{
    for (int32_t i = 0; i < w->ends; i++)
        if (w->end[i].rank == rank)
            return w->end[i].needed;
    return false;
}

static void one_of(const struct hang_sweep *all, const struct ftree_stay *stay,
                   struct hang_sweep *out)
{
    out->progress = 0; /* what others do says nothing of it */
    out->inside = all->inside;
    out->familiar = all->familiar;
    out->longest = all->longest;
    out->others_go_on = true;
    out->more = 0;
    out->count = 1;
    out->stay[0] = *stay;
}

/* Each is judged alone. *later: in how much time there may be one more. */
static bool is_late(const struct ftree *ft, const struct tail *t, const struct hang_sweep *one,
                    ftree_time *later)
{
    ftree_time too_long = ftree_hang_tail_of(t->before, t->longest, ft->cfg.alpha), sweeps;

    if (t->before < HANG_WINDOW * ft->cfg.sample || too_long == FTREE_NEVER)
        return false;
    sweeps = time_to_sweep(ft, one);
    if (t->stay > too_long && sweeps == 0)
        return true;
    *later = ftree_min(*later, ftree_max(t->stay > too_long ? sweeps : too_long - t->stay,
                                         ft->cfg.sample));
    return false;
}

/* While one is stopped nobody is late, and while one waits for a disk only such ones are.  `all` is
 * the sweep of that answer. */
static void find_late(const struct ftree *ft, const struct hang_answer *a,
                      const struct hang_sweep *all, ftree_time known, struct hang_sweep *out,
                      ftree_time *later)
{
    struct tail t = {.longest = ftree_max(a->longest, LEAST_STAY)};
    struct hang_sweep one;
    bool stopped, disk_only;

    *out = *all;
    out->count = a->stays.n; /* that of `all` says where there are more */
    stopped = any_stopped(out);
    disk_only = groups_of(out) < GROUPS;
    out->others_go_on = true;
    out->progress = out->more = out->count = 0;
    for (int32_t i = 0; i < a->stays.n && !stopped; i++) {
        const struct ftree_stay *stay = &a->stays.items[i];
        if (!is_needed(ft->waitfor->work, stay->rank) ||
            (disk_only && stay->what != FTREE_OUTSIDE_DISK))
            continue;
        one_of(all, stay, &one);
        t.stay = ftree_min(stay->stay, known);
        t.before = time_before(ft, stay->stay);
        if (is_late(ft, &t, &one, later))
            out->stay[out->count++] = *stay;
    }
}

static void name_late(struct ftree *ft, ftree_time now, struct waitfor_hang *h, ftree_time known)
{
    const struct hang_sweep *s = &h->late_sweeps.last;

    h->late.longest = ftree_max(s->longest, LEAST_STAY);
    h->late.stay = ftree_min(least_stay(s), known);
    h->late.before = time_before(ft, least_stay(s));
    say_any(ft, now, h, s);
}

static void look_at_late(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                         const struct hang_answer *a, const struct hang_sweep *all,
                         ftree_time known)
{
    ftree_time later = FTREE_NEVER;
    struct hang_sweep late;

    find_late(ft, a, all, known, &late, &later);
    if (later != FTREE_NEVER)
        h->next = ftree_min(h->next, now + later);
    if (late.count == 0) {
        memset(&h->late_sweeps, 0, sizeof(h->late_sweeps));
        return;
    }
    if (ftree_hang_swept(&h->late_sweeps, &late) == HANG_SWEEP_ON) {
        h->next = ftree_min(h->next, now + ft->cfg.sample);
        return;
    }
    if (h->late_sweeps.last.count > 0)
        name_late(ft, now, h, known);
    memset(&h->late_sweeps, 0, sizeof(h->late_sweeps));
    h->next = ftree_min(h->next, now + PAUSE_MIN);
}

/* ---- the judgement --------------------------------------------------------------------------- */

/* By either of two tests a healthy job hardly ever shows the like. */
static void test(struct ftree *ft, struct waitfor_hang *h, const struct hang_answer *a,
                 const int32_t *sample, int32_t n)
{
    ftree_hang_test(sample, n, ft->waitfor->history->last + 1 - (uint64_t) n, ft->cfg.alpha,
                    &h->result);
    h->all.longest = ftree_max(a->longest, LEAST_STAY);
    h->all.before = time_before(ft, h->all.stay);
    h->progress = a->progress;
    h->is_improbable =
        h->result.state == HANG_LIKELY ||
        (h->all.before >= HANG_WINDOW * ft->cfg.sample &&
         significance_of(&h->all) < ft->cfg.alpha);
    ftree_trace(ft,
                "  S_out of %d samples: %s, %d of %d suspicious ones, interval doubled %d times", n,
                ftree_hang_state_name(h->result.state), h->result.run, h->result.needed,
                h->result.doublings);
}

/* An answer may not take the place of what is to come. */
static bool is_of_now(struct ftree *ft, const struct hang_answer *a)
{
    uint64_t own = ft->io->samples(ft->io_ctx, NULL, 0);

    return a->last <= own || a->last - own <= HANG_AHEAD_MAX;
}

/* What was improbable once is so while no rank ends a call; later the samples of the stay itself
 * would take the place of those before it. */
static void judge(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                  const struct hang_answer *a)
{
    int32_t sample[HANG_HISTORY_MAX], n;
    struct hang_sweep all;
    ftree_time known;

    ftree_hang_history_add(ft->waitfor->history, a);
    n = ftree_hang_history_of(ft->waitfor->history, sample);
    known = time_known(ft, sample, n);
    h->all.stay = stay_of(a, known);
    if (!h->is_improbable || h->progress != a->progress)
        test(ft, h, a, sample, n);
    ftree_hang_sweep_of(a, &all);
    if (time_to_improbable(ft, h) <= time_of_sweeps(ft))
        sweep(ft, now, h, &all);
    else
        wait_for_more(ft, now, h);
    if (!h->of_all && !ftree_verdict_any_fault(ft))
        look_at_late(ft, now, h, a, &all, known);
}

/* The answer is this function's. */
void ftree_waitfor_said(struct ftree *ft, ftree_time now, struct hang_answer *a)
{
    struct waitfor_hang *h = ft->waitfor->work ? ft->waitfor->work->hang : NULL;

    if (h && h->asked) {
        h->asked = false;
        if (a && !is_of_now(ft, a))
            rest(h, now);
        else if (a && (h->of_all ? ftree_hang_is_disk_sleep_of_all(a) : is_wanted(ft)))
            judge(ft, now, h, a);
        else if (a && h->of_all)
            waitfor_hang_clear(ft);
        else
            rest(h, now);
    }
    if (a)
        ftree_hang_answer_clear(ft, a);
    ftree_alloc(ft, a, 0);
}
