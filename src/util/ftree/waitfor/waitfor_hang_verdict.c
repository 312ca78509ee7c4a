/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor_hang_int.h"

#include "ftree/base/event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 24 /* samples in the evidence */
#define RANKS_SHOWN (FTREE_EVIDENCE_MAX - 3)
#define DOUBTFUL 600 /* in 1/1000, at most */

static const int outside_of[FTREE_OUTSIDE_COUNT] = {
    [FTREE_OUTSIDE_UNKNOWN] = RULES_OUTSIDE_UNKNOWN, [FTREE_OUTSIDE_RUNS] = RULES_OUTSIDE_BURNING,
    [FTREE_OUTSIDE_PAUSES] = RULES_OUTSIDE_PAUSING,  [FTREE_OUTSIDE_AWAITS] = RULES_OUTSIDE_AWAITING,
    [FTREE_OUTSIDE_SLEEPS] = RULES_OUTSIDE_BLOCKED,  [FTREE_OUTSIDE_DISK] = RULES_OUTSIDE_DISK_SLEEP,
    [FTREE_OUTSIDE_STOPPED] = RULES_OUTSIDE_UNKNOWN};

/* Each has a verdict of its own. */
enum group {
    IN_DISK_SLEEP,
    IN_MPI,
    IN_USER_CODE,
    GROUPS
};

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
        does[outside_of[s->stay[i].what]] = true;
    }
    if (!any)
        return RULES_OUTSIDE_NONE;
    if (group == IN_DISK_SLEEP)
        return RULES_OUTSIDE_DISK_SLEEP;
    for (int i = RULES_OUTSIDE_BURNING; i <= RULES_OUTSIDE_AWAITING; i++)
        if (does[i])
            return i;
    return does[RULES_OUTSIDE_UNKNOWN] ? RULES_OUTSIDE_UNKNOWN : RULES_OUTSIDE_BLOCKED;
}

static bool is_blocked(int outside)
{
    return outside == RULES_OUTSIDE_BLOCKED || outside == RULES_OUTSIDE_DISK_SLEEP;
}

int waitfor_hang_exponent(const struct ftree_stay *stay, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!is_blocked(outside_of[stay[i].what]))
            return HANG_TAIL_COMPUTES;
    return HANG_TAIL_BLOCKED;
}

bool waitfor_hang_is_of_disk(const struct hang_sweep *s)
{
    return what_they_do(s, IN_DISK_SLEEP) != RULES_OUTSIDE_NONE;
}

/* The groups that may be accused. */
static int groups_of(const struct hang_sweep *s)
{
    return waitfor_hang_is_of_disk(s) ? IN_DISK_SLEEP + 1 : GROUPS;
}

static double percent_of(ftree_time stay, ftree_time longest)
{
    return 100.0 * (double) stay / (double) ftree_max(longest, WAITFOR_HANG_LEAST_STAY);
}

static ftree_time shortest_stay(const struct hang_sweep *s, enum group group)
{
    ftree_time least = FTREE_NEVER;

    for (int32_t i = 0; i < s->count; i++)
        if (is_of_group(&s->stay[i], group))
            least = ftree_min(least, s->stay[i].stay);
    return least;
}

/* Of those that may be accused; FTREE_NEVER: there is none. */
static ftree_time least_stay(const struct hang_sweep *s)
{
    ftree_time least = FTREE_NEVER;

    for (int group = 0; group < groups_of(s); group++)
        least = ftree_min(least, shortest_stay(s, group));
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
        if (stay->transfers) /* it is in a phase of its own, whatever the others do */
            out->familiar_percent = 0;
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

/* A rank that works may be in a phase such as other ranks had: whatever S_out says, its stay itself
 * must be improbable, or so long that even the job may be ended. */
static bool is_long_enough(const struct ftree *ft, const struct hang_sweep *s, enum group group,
                           ftree_time later)
{
    ftree_time stay = shortest_stay(s, group);
    struct hang_stays any = waitfor_hang_of_any(ft, stay, s->longest, HANG_TAIL_COMPUTES);

    if (stay + later > ftree_min(waitfor_hang_too_long(ft, &any), WAITFOR_HANG_END_ACTIVE))
        return true;
    for (int32_t i = 0; i < s->count && s->others_go_on; i++)
        if (is_of_group(&s->stay[i], group) &&
            s->stay[i].stay + later <= waitfor_hang_too_long_for(ft, &s->stay[i], s->longest,
                                                                 HANG_TAIL_COMPUTES))
            return false;
    return s->others_go_on;
}

/* NULL: the rule base says nothing of them, or not yet. */
static const struct rules_sign *find_sign(const struct ftree *ft, const struct hang_sweep *s,
                                          enum group group, ftree_time later, int32_t *model)
{
    int outside = what_they_do(s, group);
    struct rules_stay stay;

    if (outside == RULES_OUTSIDE_NONE)
        return NULL;
    if (!is_blocked(outside) && !is_long_enough(ft, s, group, later))
        return NULL;
    find_stay(s, group, later, &stay);
    return ftree_rules_decide_outside(ft->rules, outside, &stay, model);
}

static void add_line(struct ftree *ft, ftree_time now, int32_t node, const char *line,
                     struct ftree_verdict *v)
{
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, node, v, "%s", line);
}

/* The test of the stay by which that group was judged. */
static struct waitfor_tail tail_of(const struct ftree *ft, const struct waitfor_hang *h,
                                   const struct hang_sweep *s, bool blocked)
{
    int exponent = blocked ? HANG_TAIL_BLOCKED : HANG_TAIL_COMPUTES;
    ftree_time stay = s->others_go_on ? least_stay(s) : h->all.stay;
    struct waitfor_tail t = {.stay = stay,
                             .stays = waitfor_hang_of_any(ft, stay, s->longest, exponent)};
    struct hang_stays own = waitfor_hang_of_own(ft, &s->stay[0]);

    if (s->others_go_on && s->count == 1 &&
        waitfor_hang_too_long(ft, &own) < waitfor_hang_too_long(ft, &t.stays))
        t.stays = own;
    return t;
}

static void set_statistics(const struct ftree *ft, const struct waitfor_hang *h,
                           const struct waitfor_tail *t, struct ftree_verdict *v)
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
    s->stay.longest = t->stays.longest;
    s->stay.before = t->stays.before;
    s->stay.exponent = t->stays.exponent;
    s->stay.ranks = t->stays.ranks;
    s->stay.significance = ftree_hang_tail(&t->stays, t->stay);
    s->samples = n < FTREE_STATISTICS_SAMPLES ? n : FTREE_STATISTICS_SAMPLES;
    memcpy(s->sample, sample + n - s->samples, (size_t) s->samples * sizeof(*sample));
}

/* Of ranks that work S_out alone is enough after WAITFOR_HANG_END_ACTIVE only. */
static bool is_by_s_out(const struct hang_result *r, const struct ftree_statistics *s)
{
    bool by_stay = s->stay.exponent == HANG_TAIL_COMPUTES && s->stay.significance < s->alpha;

    return r->state == HANG_LIKELY && !by_stay;
}

static void test_of_stay(const struct ftree_statistics *s, int32_t rank, char *line, size_t len)
{
    bool own = s->stay.ranks > 1;
    double longest = (double) s->stay.longest / 1e9, before = (double) s->stay.before / 1e9;

    if (own)
        snprintf(line, len, "rank %d was outside MPI for at most %.2f s in %.0f s there",
                 (int) rank, longest, before);
    else
        snprintf(line, len,
                 "no rank was outside MPI for more than %.1f s in %.0f s with ranks there", longest,
                 before);
    ftree_text_add(line, len, "; %.1f s have significance %.1e (tail 1/x%s",
                   (double) s->stay.stay / 1e9, s->stay.significance,
                   s->stay.exponent == HANG_TAIL_BLOCKED ? "^2" : "");
    if (own)
        ftree_text_add(line, len, ", %d ranks", (int) s->stay.ranks);
    ftree_text_add(line, len, ")");
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
        test_of_stay(s, v->rank, line, sizeof(line));
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

    for (; first > 0 && s->samples - first < SHOWN && sample_text(s->sample[first - 1], one) < room;
         first--)
        room -= strlen(one);
    for (int32_t i = first; i < s->samples; i++)
        len += sample_text(s->sample[i], line + len);
    add_line(ft, now, v->node, line, v);
}

static void add_rank(struct ftree *ft, ftree_time now, const struct ftree_stay *s,
                     struct ftree_verdict *v)
{
    static const char *const words[] = {FTREE_OUTSIDES(FTREE_SECOND)};
    char line[FTREE_DETAIL_MAX], place[40] = "outside MPI";
    char longest[32] = "no stay before", does[FTREE_WHOM_MAX + 2] = "";

    if (s->call)
        snprintf(place, sizeof(place), "stuck in %s",
                 ft->io->call_name ? ft->io->call_name(s->call) : "MPI");
    if (s->longest > 0)
        snprintf(longest, sizeof(longest), "at most %.*f s before",
                 s->longest < 1000 * FTREE_MS ? 2 : 1, (double) s->longest / 1e9);
    if ((s->what == FTREE_OUTSIDE_RUNS || s->what == FTREE_OUTSIDE_PAUSES) &&
        s->cpu != FTREE_CPU_UNKNOWN)
        snprintf(does, sizeof(does), " (%d %% of a CPU, %.1f s since first seen)", (int) s->cpu,
                 (double) s->used / 1e9);
    else if (*s->whom && (s->what == FTREE_OUTSIDE_AWAITS || s->what == FTREE_OUTSIDE_SLEEPS))
        snprintf(does, sizeof(does), ": %s", s->whom);
    else if (*s->waits_in)
        snprintf(does, sizeof(does), " in %s (%s)", s->waits_in, s->wchan);
    else if (*s->wchan)
        snprintf(does, sizeof(does), " in %s", s->wchan);
    snprintf(line, sizeof(line), "rank %d %s for %.1f s (%s), %s%s%s", (int) s->rank, place,
             (double) s->stay / 1e9, longest, words[s->what], does,
             s->transfers ? ", reads or writes" : "");
    if (s->what == FTREE_OUTSIDE_DISK)
        ftree_text_add(line, sizeof(line), ", nothing done for %.1f s", (double) s->still / 1e9);
    add_line(ft, now, ftree_node_of(ft, s->rank), line, v);
}

static void hold_back(struct ftree *ft, ftree_time now, const struct hang_sweep *s,
                      enum group group, struct ftree_verdict *v)
{
    ftree_time stay = shortest_stay(s, group), end;
    char line[FTREE_DETAIL_MAX];

    end = waitfor_hang_hold(s, line, sizeof(line));
    v->holds_back = end == FTREE_HOLDS_FOR_EVER ? end : end > stay ? end - stay : 0;
    add_line(ft, now, v->node, line, v);
}

/* Somebody else may end that, or it ends by itself: healthy programs do the like in a phase that has not
 * been seen before. */
static bool is_doubtful(const struct hang_sweep *s)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->stay[i].what == FTREE_OUTSIDE_AWAITS || ftree_hang_ends_by_itself(&s->stay[i]))
            return true;
    return false;
}

static bool say(struct ftree *ft, ftree_time now, const struct waitfor_hang *h,
                const struct hang_sweep *s, enum group group)
{
    int32_t model = -1, first = 0, shown = 0;
    const struct rules_sign *sign = find_sign(ft, s, group, 0, &model);
    struct waitfor_tail tail;
    struct ftree_verdict v;

    if (!sign)
        return false;
    while (!is_of_group(&s->stay[first], group))
        first++;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_,
                       ftree_node_of(ft, s->stay[first].rank), s->stay[first].rank);
    if (is_doubtful(s) && v.confidence > DOUBTFUL)
        v.confidence = DOUBTFUL;
    tail = tail_of(ft, h, s, is_blocked(what_they_do(s, group)));
    set_statistics(ft, h, &tail, &v);
    add_test(ft, now, !s->others_go_on && is_by_s_out(&h->result, &v.statistics), &v);
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
    ftree_cause_tell(ft, now, model, &v);
    if (v.component.count == 1)
        v.component = (struct ftree_ranks){0};
    v.pid = shown == 1 && ft->job->rank_pid ? ft->job->rank_pid[v.rank] : 0;
    /* one that is older than the stall limit began when the others' waits did, or before */
    v.first_symptom = ftree_min(v.first_symptom, h->of_all ? now - h->all.stay
                                                           : ft->waitfor->work->unexplained);
    v.symptoms = (uint32_t) (s->count + s->more);
    ftree_cause_add(ft, model, &v);
    ftree_emit_verdict(ft, &v);
    return true;
}

bool waitfor_hang_any_stopped(const struct hang_sweep *s)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->stay[i].what == FTREE_OUTSIDE_STOPPED)
            return true;
    return false;
}

/* There is room for one verdict at a time; where ranks hang in several ways the first of the groups
 * that can be said is, for the others may wait for that. */
bool waitfor_hang_say(struct ftree *ft, ftree_time now, const struct waitfor_hang *h,
                      const struct hang_sweep *s)
{
    for (int group = 0; group < groups_of(s); group++)
        if (say(ft, now, h, s, group))
            return true;
    return false;
}

static bool any_sign(const struct ftree *ft, const struct hang_sweep *s, ftree_time later)
{
    int32_t model;

    for (int group = 0; group < groups_of(s); group++)
        if (find_sign(ft, s, group, later, &model))
            return true;
    return false;
}

/* What a rank was seen to do may change in the sweeps, how long it has been away grows. */
ftree_time waitfor_hang_time_to_sign(const struct ftree *ft, const struct hang_sweep *s)
{
    ftree_time pause = ftree_min(ftree_max(least_stay(s) / 8, WAITFOR_HANG_PAUSE_MIN),
                                 WAITFOR_HANG_PAUSE_MAX);
    ftree_time later = 0;

    while (later < pause && !any_sign(ft, s, later + waitfor_hang_time_of_sweeps(ft)))
        later += ft->cfg.sample;
    return ftree_min(later, pause);
}
