/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

/*
 * How long a suspect must be silent before its silence accuses it, and which silence counts.
 *
 * Silence is evidence only on a path that works.  A network may be silent for everybody (a switch
 * that restarts, a spanning tree that converges); when it comes back, one node is heard first, and
 * that is no reason to accuse the next one.  So silence on a path counts where another node was
 * heard there, the suspect was asked after that by a new connection, did not answer for a unit, and
 * another node was heard after that question, too.  A question by an old connection does not do:
 * TCP repeats what was lost in a silence only seconds later.
 *
 * All thresholds are here but the window (net/send.c).  The unit is max(rto, cfg.silence / 6), 150
 * ms by default; the steps of the rule base's strategies (when to ask whom) are multiples of it.
 */

/* In halves of a unit: what it is, what it survives, what it costs a real outage. */
enum {
    /* The window of a node of which no path brings anything, not even a word of its kernel, which
     * answers however busy the node is, 600 ms: eight questions on two paths. */
    MUTE = 8,
    /* So much longer where the agent answered over another path, 525 ms: nine questions.  A path
     * that loses every tenth message is not accused.  Costs verdicts about one path. */
    ONE_SIDED = 7,
    /* How long the suspect has to answer after it was asked anew, 150 ms; the window is prolonged
     * by as much where its last question is younger.  Costs an outage only where another node was
     * heard late. */
    ANEW = 2,
    /* Who is heard after nobody was heard on the path for so long (525 ms) is a first one again:
     * the network may have been silent in between.  New connections are made every 3 halves to 2
     * units, and so a shorter silence misses one or two of them. */
    PAUSE = 7,
    /* So much longer where data of ranks come through, 750 ms, as often as they do: time to ask all
     * once more, and to get what helpers have seen.  Costs no outage anything, for then none do. */
    SLOW = 10
};

/* So often it is asked anew at the end of its window; what is not proven then is not believed.
 * Bounds an examination to the window and four units more. */
#define ANEW_MOST 4

/* How much longer the window is for each ns of the own lag, at most three windows in all: on a
 * machine with far more busy processes than cores an agent's answer may take a second. */
#define PATIENCE 10

#define BEGINS (100 * FTREE_MS) /* of a wait: what was under way when it began has come */

static ftree_time halves(const struct ftree *ft, int n)
{
    return (ftree_time) n * ftree_silence_unit(ft) / 2;
}

/* The window of a suspect as things are now. */
ftree_time ftree_silence_window_of(const struct ftree *ft, ftree_time now, bool one_sided)
{
    ftree_time window = ftree_silence_window(ft);

    window += ftree_min(PATIENCE * ftree_own_lag(ft, now), 2 * window);
    return one_sided ? window + halves(ft, ONE_SIDED) : window;
}

/* ---- which silence counts -------------------------------------------------------------------- */

/* A node was heard on a path: all suspects but itself have a witness. */
static void note_works(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path)
{
    FTREE_EACH_SUSPECT(su, ft) {
        struct works *w = &su->works[path];
        if (su->node == node)
            continue;
        if (!w->heard || now > w->heard + halves(ft, PAUSE))
            *w = (struct works){.from = now};
        w->heard = now;
    }
}

/* A question goes to the suspect by a new connection. */
void ftree_silence_asked(struct suspect *su, ftree_time now, int path)
{
    struct works *w = &su->works[path];

    if (w->from && !w->asked)
        w->asked = now;
}

/* True if others were heard before and after the suspect was asked anew.  (That it had the time to
 * answer is seen to before anything is decided.) */
bool ftree_silence_counts(const struct suspect *su, int path)
{
    const struct works *w = &su->works[path];

    return w->asked && w->heard > w->asked;
}

/* True if a witness is to be asked.  Those who look from elsewhere are heard after the suspect was
 * asked anew, too; others are asked for that only where they were not. */
bool ftree_silence_needs_witness(const struct suspect *su, int path)
{
    const struct works *w = &su->works[path];

    return !w->from || (su->prolonged && w->heard <= w->asked);
}

/* When what is silent there will count: 0: no other node was heard, and nothing is waited for;
 * FTREE_NEVER: not before it is asked anew. */
static ftree_time counts_at(const struct ftree *ft, const struct suspect *su, int path)
{
    const struct works *w = &su->works[path];

    if (!w->from || ftree_probe_reach(su, path, FTREE_ROLE_AGENT) == FTREE_REACH_LOCAL_DOWN)
        return 0;
    if (!ftree_silence_counts(su, path) || (su->neighbours && su->neighbours < w->from))
        return FTREE_NEVER;
    return ftree_max(w->asked, su->neighbours) + halves(ft, ANEW);
}

/* The same where its kernel spoke but nobody answers: to a connection that was made a unit ago, and
 * to the last one, for by now the network may be silent. */
static ftree_time kernel_counts_at(const struct ftree *ft, ftree_time now,
                                   const struct suspect *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (ftree_probe_reach(su, path, FTREE_ROLE_AGENT) == FTREE_REACH_CONNECTED &&
            su->kernel_connection[path][FTREE_ROLE_AGENT] ==
                su->connections[path][FTREE_ROLE_AGENT] &&
            su->connected + halves(ft, ANEW) <= now)
            return 0;
    return FTREE_NEVER;
}

/* When what is known of a suspect by its silence counts. */
static ftree_time all_counts_at(const struct ftree *ft, ftree_time now, const struct suspect *su)
{
    uint8_t best = 0, reach;
    ftree_time at = 0;

    for (int path = 0; path < FTREE_PATHS; path++) {
        reach = ftree_probe_reach(su, path, FTREE_ROLE_AGENT);
        best = reach > best ? reach : best;
        if (ft->job->has_path[path] && reach < FTREE_REACH_CONNECTED)
            at = ftree_max(at, counts_at(ft, su, path));
    }
    if (best == FTREE_REACH_CONNECTED)
        return kernel_counts_at(ft, now, su);
    return best == FTREE_REACH_REFUSED ? 0 : at;
}

/* ---- a path that is slow --------------------------------------------------------------------- */

/* From when on data show that somebody who waits for the node waits in vain for another reason: not
 * what came when the wait began, where it is young. */
static ftree_time waited_from(const struct ftree *ft, const struct suspect *su)
{
    const struct ftree_case *g = ftree_case_find(ft, su->node, FTREE_NONE);
    ftree_time first = FTREE_NEVER;

    for (int32_t i = 0; g && i < g->symptoms; i++)
        if (ftree_symptom_is_stall(&g->symptom[i]))
            first = ftree_min(first, g->symptom[i].first);
    return first == FTREE_NEVER ? 0 : first + BEGINS;
}

/* Questions and answers wait behind the data of the ranks, and new connections need several round
 * trips: a path that is slow may be silent for as long as there is much to send.  It is not lost
 * while data come through to here, or to a node that was not answered either, or where one of its
 * ends is slow, as the kernel there says of other connections. */
static bool is_slow(const struct ftree *ft, ftree_time now, const struct suspect *su, int path)
{
    uint8_t reach = ftree_probe_reach(su, path, FTREE_ROLE_AGENT);
    bool is_only = ftree_facts_answered(su) || ftree_all_paths(ft->job) == 1u << path;
    ftree_time from = waited_from(ft, su), said = su->delivers[path];

    if (!ft->job->has_path[path] || reach == FTREE_REACH_REFUSED || reach == FTREE_REACH_ANSWERED ||
        from >= now)
        return false;
    return ftree_own_delivers(ft, su->node, path, now - from, 0) ||
           (said >= from + ftree_own_data_age(ft) && said + ftree_own_data_holds(ft) > now) ||
           (is_only &&
            ftree_own_delivers(ft, FTREE_NONE, path, now - from, ftree_silence_unit(ft)));
}

/* Where a queue drops what is too much each connection waits for its retransmission timeout, which
 * doubles each time (RFC 6298, 5.5): a path through which data came while its end was suspected, now
 * or a moment ago, may be silent for seconds, and is no more than slow: 6.4 s after five timeouts
 * from 0.2 s on. */
#define SLOW_HOLDS(ft) (8 * (ft)->cfg.stall)

static bool any_is_slow(struct ftree *ft, ftree_time now, struct suspect *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (is_slow(ft, now, su, path)) {
            ftree_trace(ft, "  data come through to %s over %s, which is slow: it is asked again",
                        ftree_name(ft, su->node), ftree_path_name(path));
            if (now > su->opened + ftree_own_data_holds(ft))
                ftree_peer_slow(ft, now + SLOW_HOLDS(ft), su->node);
            return true;
        }
    if (!ftree_peer_is_slow(ft, now, su->node))
        return false;
    ftree_trace(ft, "  data came through to %s over a path that is slow: it is asked again",
                ftree_name(ft, su->node));
    return true;
}

/* Until when a suspect whose window is over is examined further, so that what it says by its
 * silence counts, 0: no further.  *ask: it is to be asked anew. */
ftree_time ftree_silence_until(struct ftree *ft, ftree_time now, struct suspect *su, bool *ask)
{
    ftree_time at = all_counts_at(ft, now, su);

    *ask = true;
    if (any_is_slow(ft, now, su)) {
        su->helper = 0; /* the same who were asked to ask it are to say so again */
        return now + halves(ft, SLOW);
    }
    *ask = at == FTREE_NEVER;
    if (at <= now || (*ask && su->prolonged++ >= ANEW_MOST))
        return 0;
    return *ask ? now + halves(ft, ANEW) : at;
}

static bool is_heard(const struct suspect *su, int path)
{
    return su->reach[path][FTREE_ROLE_AGENT] >= FTREE_REACH_CONNECTED ||
           su->reach[path][FTREE_ROLE_DEPUTY] >= FTREE_REACH_CONNECTED ||
           su->elsewhere[path].reach >= FTREE_REACH_CONNECTED;
}

/* True if it is mute: nobody has heard it on any of two paths, on which others are heard.  Not where
 * that may be the fault of a switch, which takes the whole window to be found, nor where the network
 * was silent for so long before, and came back. */
bool ftree_silence_is_mute(const struct ftree *ft, ftree_time now, const struct suspect *su)
{
    uint8_t behind;

    if (now < su->base + halves(ft, MUTE) + PATIENCE * ftree_own_lag(ft, now) ||
        ft->state->outlived_silence || su->handled.asked || ftree_peer_is_slow(ft, now, su->node))
        return false;
    for (int path = 0; path < FTREE_PATHS; path++) {
        ftree_time at = counts_at(ft, su, path);
        if (!ft->job->has_path[path] || !at || at > now || is_heard(su, path) ||
            is_slow(ft, now, su, path))
            return false;
    }
    behind = ftree_neighbour_silence(ft, su, false).behind;
    return behind == RULES_BEHIND_NONE || behind == RULES_BEHIND_SOME;
}

/* It was silent on all paths for two units, and is heard now. */
static void note_outlived(struct ftree *ft, ftree_time now, const struct suspect *su)
{
    bool heard = FTREE_ANY_PATH(path, is_heard(su, path));

    ft->state->outlived_silence |= !heard && now >= su->opened + halves(ft, MUTE / 2);
}

/* Another node shows that a path works, if only by its kernel's refusal. */
void ftree_silence_heard(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_reach reach)
{
    struct witness *heard = ft->examine->heard[path];
    const struct suspect *su = ftree_suspect(ft, node);

    if (reach < FTREE_REACH_CONNECTED)
        return;
    if (su)
        note_outlived(ft, now, su);
    ftree_neighbour_heard(ft, now, node, path);
    note_works(ft, now, node, path);
    if (heard[0].at > 0 && heard[0].node != node)
        heard[1] = heard[0];
    heard[0] = (struct witness){.at = now, .node = node, .reach = (uint8_t) reach};
}
