/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum ftree_kind kind;
    enum ftree_origin origin;
} classes[] = {
#define CLASS_ROW(id, text, kind, origin) {text, FTREE_KIND_##kind, FTREE_ORIGIN_##origin},
    FTREE_CLASSES(CLASS_ROW)
#undef CLASS_ROW
};

static const struct {
    const char *name;
    enum ftree_class class_;
    uint16_t confidence;
    const char *text;
} rules[] = {
#define RULE_ROW(id, name, class, confidence, text) {name, FTREE_CLASS_##class, confidence, text},
    FTREE_RULES(RULE_ROW)
#undef RULE_ROW
};

const char *ftree_class_name(int class_)
{
    return class_ >= 0 && class_ < FTREE_CLASS_COUNT ? classes[class_].name : "?";
}

int ftree_class_origin(int class_)
{
    return class_ >= 0 && class_ < FTREE_CLASS_COUNT ? classes[class_].origin
                                                     : FTREE_ORIGIN_UNKNOWN;
}

const char *ftree_origin_name(int origin)
{
    static const char *const name[] = {"hardware", "software", "unknown"};
    return origin >= 0 && origin < FTREE_ORIGIN_COUNT ? name[origin] : "?";
}

const char *ftree_rule_name(int rule)
{
    return rule >= 0 && rule < FTREE_RULE_COUNT ? rules[rule].name : "?";
}

const char *ftree_rule_text(int rule)
{
    return rule >= 0 && rule < FTREE_RULE_COUNT ? rules[rule].text : "?";
}

/* ---- the decision ---------------------------------------------------------------------------- */

static bool any_reach(const struct verdict_findings *f, enum ftree_role role,
                      enum ftree_reach reach)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (f->has_path[path] && f->reach[path][role] == reach)
            return true;
    return false;
}

/* A kernel speaks for a process that does not. */
static bool kernel_spoke(uint8_t reach)
{
    return reach == FTREE_REACH_REFUSED || reach == FTREE_REACH_CONNECTED;
}

static bool any_kernel_spoke(const struct verdict_findings *f)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        for (int role = 0; role < FTREE_ROLES; role++)
            if (f->has_path[path] && kernel_spoke(f->reach[path][role]))
                return true;
    return false;
}

/* The node's kernel spoke for a process that did not. */
static enum ftree_rule decide_process(const struct verdict_findings *f)
{
    if (any_reach(f, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED)) {
        if (f->ranks == 1)
            return FTREE_RULE_PORT_REFUSED;
        return any_reach(f, FTREE_ROLE_DEPUTY, FTREE_REACH_CONNECTED) ? FTREE_RULE_MUTE_NODE
                                                                      : FTREE_RULE_ALL_REFUSED;
    }
    return f->ranks == 1 ? FTREE_RULE_NEVER_ANSWERS : FTREE_RULE_MUTE_NODE;
}

/* Nothing came back at all.  Silence is evidence only on a path that is seen to work: where no
 * other node is heard on any path, it is this node that may be cut off. */
static enum verdict_outcome decide_silence(const struct verdict_findings *f, enum ftree_rule *rule)
{
    int paths = 0, witnessed = 0, own_down = 0;

    for (int path = 0; path < FTREE_PATHS; path++) {
        paths += f->has_path[path];
        witnessed += f->has_path[path] && f->witness[path];
        own_down += f->has_path[path] && f->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_LOCAL_DOWN;
    }
    *rule = FTREE_RULE_ISOLATED;
    if (own_down == paths)
        return VERDICT_RULE_ON_SELF;
    if (witnessed == 0 && f->any_other_node)
        return VERDICT_RULE_ON_SELF;
    *rule = witnessed == 0             ? FTREE_RULE_SILENT_UNWITNESSED
            : witnessed == FTREE_PATHS ? FTREE_RULE_BOTH_PATHS_SILENT
                                       : FTREE_RULE_ONLY_PATH_SILENT;
    return VERDICT_RULE;
}

/* The agent answers by management only.  Where the kernel spoke on the data path that path works,
 * and the answer was late or lost; else whose data path it is shows in whether others use theirs. */
static enum verdict_outcome decide_data_path(const struct verdict_findings *f,
                                             enum ftree_rule *rule)
{
    uint8_t reach = f->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT];

    *rule = FTREE_RULE_DATA_SILENT;
    if (kernel_spoke(reach))
        return VERDICT_ALIVE;
    if (reach == FTREE_REACH_LOCAL_DOWN)
        return VERDICT_RULE_ON_SELF;
    return f->witness[FTREE_PATH_DATA] || !f->any_other_node ? VERDICT_RULE : VERDICT_RULE_ON_SELF;
}

/* Pure: what the findings mean.  Its table is in the tests, row by row. */
enum verdict_outcome ftree_verdict_decide(const struct verdict_findings *f, enum ftree_rule *rule)
{
    int main_path = f->has_path[FTREE_PATH_DATA] ? FTREE_PATH_DATA : FTREE_PATH_MGMT;

    if (f->reach[main_path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED)
        return VERDICT_ALIVE;
    if (any_reach(f, FTREE_ROLE_AGENT, FTREE_REACH_ANSWERED))
        return decide_data_path(f, rule);
    if (any_reach(f, FTREE_ROLE_DEPUTY, FTREE_REACH_ANSWERED)) {
        *rule = FTREE_RULE_DEPUTY_SAYS_T;
        return f->deputy_word == 'T' || f->deputy_word == 't' ? VERDICT_RULE : VERDICT_ALIVE;
    }
    if (any_kernel_spoke(f)) {
        *rule = decide_process(f);
        return VERDICT_RULE;
    }
    return decide_silence(f, rule);
}

/* What else each rule leaves open, or has ruled out, with weights that follow its confidence. */
static const struct {
    enum ftree_rule rule;
    struct ftree_candidate candidate;
} others[] = {
    {FTREE_RULE_BOTH_PATHS_SILENT, {FTREE_CLASS_NIC_FAULT, 5, true}},
    {FTREE_RULE_BOTH_PATHS_SILENT, {FTREE_CLASS_PROCESS_CRASH, 5, true}},
    {FTREE_RULE_ONLY_PATH_SILENT, {FTREE_CLASS_NIC_FAULT, 75, false}},
    {FTREE_RULE_ONLY_PATH_SILENT, {FTREE_CLASS_LINK_FAULT, 75, false}},
    {FTREE_RULE_SILENT_UNWITNESSED, {FTREE_CLASS_LINK_FAULT, 150, false}},
    {FTREE_RULE_SILENT_UNWITNESSED, {FTREE_CLASS_SWITCH_FAULT, 150, false}},
    {FTREE_RULE_MUTE_NODE, {FTREE_CLASS_PROCESS_STOPPED, 150, false}},
    {FTREE_RULE_NEVER_ANSWERS, {FTREE_CLASS_NODE_FROZEN, 100, false}},
    {FTREE_RULE_DATA_SILENT, {FTREE_CLASS_LINK_FAULT, 400, false}},
    {FTREE_RULE_DATA_SILENT, {FTREE_CLASS_NIC_FAULT, 400, false}},
    {FTREE_RULE_DATA_SILENT, {FTREE_CLASS_SWITCH_FAULT, 200, false}},
    {FTREE_RULE_ISOLATED, {FTREE_CLASS_LINK_FAULT, 400, false}},
    {FTREE_RULE_ISOLATED, {FTREE_CLASS_SWITCH_FAULT, 400, false}},
    {FTREE_RULE_ISOLATED, {FTREE_CLASS_NODE_OUTAGE, 200, false}},
};

void ftree_verdict_init(struct ftree_verdict *v, enum ftree_rule rule, int32_t node, int32_t rank)
{
    memset(v, 0, sizeof(*v));
    v->rule = (uint8_t) rule;
    v->class_ = (uint8_t) rules[rule].class_;
    v->kind = (uint8_t) classes[v->class_].kind;
    v->confidence = rules[rule].confidence;
    v->node = node;
    v->rank = rank;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].rule == rule && v->candidates < FTREE_CANDIDATE_MAX)
            v->candidate[v->candidates++] = others[i].candidate;
}

void ftree_verdict_add_evidence(struct ftree_verdict *v, const struct ftree_evidence *e)
{
    if (v->evidences < FTREE_EVIDENCE_MAX)
        v->evidence[v->evidences++] = *e;
}

/* ---- the verdicts known ---------------------------------------------------------------------- */

struct known *ftree_verdict_find(const struct ftree *ft, int class_, int32_t node, int32_t rank)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        struct known *k = &ft->known.items[i];
        if (k->v.class_ == class_ && k->v.node == node && k->v.rank == rank)
            return k;
    }
    return NULL;
}

/* True if a verdict says that this rank has ended or is stopped. */
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank)
{
    return rank != FTREE_NONE && (ftree_verdict_find(ft, FTREE_CLASS_PROCESS_STOPPED, node, rank) ||
                                  ftree_verdict_find(ft, FTREE_CLASS_PROCESS_CRASH, node, rank));
}

/* True where no rank of the node can be heard of any more. */
bool ftree_verdict_takes_node(const struct ftree *ft, const struct ftree_verdict *v)
{
    switch (v->class_) {
        case FTREE_CLASS_NODE_OUTAGE:
        case FTREE_CLASS_NODE_FROZEN:
            return true;
        case FTREE_CLASS_PROCESS_CRASH:
        case FTREE_CLASS_PROCESS_STOPPED:
            return v->rank == FTREE_NONE || ftree_ranks_of(ft->job, v->node) == 1;
        default:
            return false;
    }
}

bool ftree_has_failed(const struct ftree *ft, int32_t node)
{
    for (int32_t i = 0; i < ft->known.n; i++)
        if (ft->known.items[i].v.node == node &&
            ftree_verdict_takes_node(ft, &ft->known.items[i].v))
            return true;
    return false;
}

/* How many nodes have failed, not counting `except` and the own one. */
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except)
{
    int32_t n = 0;

    for (int32_t i = 0; i < ft->known.n; i++) {
        int32_t node = ft->known.items[i].v.node;
        bool counted = node == except || node == ft->self || !ftree_has_failed(ft, node);
        for (int32_t j = 0; j < i && !counted; j++)
            counted = ft->known.items[j].v.node == node;
        n += !counted;
    }
    return n;
}

/* The verdict that says the same as v or more: an equal one, or one that takes v's node. */
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct ftree_verdict *v)
{
    struct known *k = ftree_verdict_find(ft, v->class_, v->node, v->rank);

    for (int32_t i = 0; i < ft->known.n && !k; i++)
        if (ft->known.items[i].v.node == v->node &&
            ftree_verdict_takes_node(ft, &ft->known.items[i].v))
            k = &ft->known.items[i];
    return k;
}

/* ---- sets of ranks --------------------------------------------------------------------------- */

static int32_t listed(const struct ftree_ranks *set)
{
    int32_t n = 0;

    for (int32_t i = 0; i < set->ranges; i++)
        n += set->range[i].last - set->range[i].first + 1;
    return n;
}

/* Ranges stay sorted and apart; one that finds no room is counted but not listed. */
void ftree_verdict_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last)
{
    int32_t from = 0, to, unlisted = set->count - listed(set);

    while (from < set->ranges && set->range[from].last + 1 < first)
        from++;
    for (to = from; to < set->ranges && set->range[to].first <= last + 1; to++) {
        first = set->range[to].first < first ? set->range[to].first : first;
        last = set->range[to].last > last ? set->range[to].last : last;
    }
    if (to == from && set->ranges == FTREE_RANGES_MAX) {
        set->count += last - first + 1;
        return;
    }
    memmove(&set->range[from + 1], &set->range[to],
            (size_t) (set->ranges - to) * sizeof(set->range[0]));
    set->ranges += 1 - (to - from);
    set->range[from].first = first;
    set->range[from].last = last;
    set->count = listed(set) + unlisted;
}

void ftree_verdict_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more)
{
    for (int32_t i = 0; i < more->ranges; i++)
        ftree_verdict_ranks_add(set, more->range[i].first, more->range[i].last);
    set->count += more->count - listed(more);
}
