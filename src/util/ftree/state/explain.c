/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

/* What the verdicts that are known explain: a symptom that one explains is no news. */

/* Until when a verdict explains that another rank waits for its rank, 0: it does not.  A stopped
 * process is reported by its own agent: if the node is lost later no other node notices.  So the
 * node is asked once more where a rank still waits; that it is as before is no news. */
static ftree_time explains_until(const struct ftree *ft, const struct summary *v)
{
    enum ftree_explains how_long = ftree_class_explains(v->class_);

    if (v->withdrawn || how_long == FTREE_EXPLAINS_NEVER)
        return 0;
    return how_long == FTREE_EXPLAINS_WHILE && v->fln == v->node ? v->located + ft->cfg.stall
                                                                 : FTREE_NEVER;
}

/* True if a verdict on its rank explains the symptom as it was last seen. */
static bool explains_rank(const struct ftree *ft, const struct ftree_symptom *s)
{
    FTREE_EACH_ABOUT(k, ft, s->about.node)
        if (s->about.rank != FTREE_NONE && k->v.rank == s->about.rank && s->last <= explains_until(ft, &k->v))
            return true;
    return false;
}

/* What the fabric alone has shown is asked for by nobody over TCP: it hides nothing. */
static bool path_is(const struct ftree *ft, int32_t node, bool cut)
{
    FTREE_EACH_STANDING(k, ft, node)
        if (!k->v.local_only && ftree_class_says(k->v.class_, FTREE_IS_PATH) &&
            !ftree_verdict_needs(ft, &k->v, RULES_FACT_FABRIC) &&
            !(cut && k->v.class_ == FTREE_CLASS_NETWORK_DEGRADED))
            return true;
    return ftree_verdict_by_switch(ft, node);
}

/* What is known of the node's data path explains that somebody waits for it; not that its agent is
 * silent, too. */
bool ftree_verdict_path_is_known(const struct ftree *ft, int32_t node)
{
    return path_is(ft, node, false);
}

bool ftree_verdict_between(const struct ftree *ft, int32_t a, int32_t b)
{
    FTREE_EACH_SWITCH(k, ft)
        if (k->v.class_ == FTREE_CLASS_NETWORK_DEGRADED &&
            ftree_is_behind(ft, k->v.switch_, a) != ftree_is_behind(ft, k->v.switch_, b))
            return true;
    return false;
}

/* A link that loses packets, or comes and goes, may be dead later, or its node. */
static bool path_is_cut(const struct ftree *ft, int32_t node)
{
    return path_is(ft, node, true);
}

/* True if what is known of a data path explains it: that of the node, or those of all who reported
 * it. */
bool ftree_verdict_explains_path(const struct ftree *ft, const struct ftree_symptom *s)
{
    if (!ftree_symptom_may_be_path(s))
        return false;
    if (path_is_cut(ft, s->about.node))
        return true;
    for (int32_t i = 0; i < s->reporters; i++)
        if (!path_is_cut(ft, s->reporter[i]))
            return false;
    return s->reporters > 0;
}

static bool any_reporter_lives(const struct ftree *ft, const struct ftree_symptom *s)
{
    for (int32_t i = 0; i < s->reporters; i++)
        if (!ftree_has_failed(ft, s->reporter[i]))
            return true;
    return false;
}

#define EXPLAINED_TRACED 100 /* a storm must not fill the trace */

/* True while that is worth a line of the trace. */
static bool count(struct ftree *ft, const struct ftree_symptom *s)
{
    FTREE_EACH_STANDING(k, ft, s->about.node) {
        ftree_verdict_count_symptoms(k, s->count);
        k->explained += k->explained <= EXPLAINED_TRACED;
        return k->explained <= EXPLAINED_TRACED;
    }
    return true;
}

bool ftree_verdict_explains(struct ftree *ft, const struct ftree_symptom *s)
{
    if (!ftree_has_failed(ft, s->about.node) && any_reporter_lives(ft, s) &&
        !ftree_verdict_explains_path(ft, s) && !explains_rank(ft, s))
        return false;
    if (count(ft, s))
        ftree_trace(ft, "symptom about %s explained by a verdict", ftree_name(ft, s->about.node));
    return true;
}
