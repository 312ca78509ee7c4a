/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

/*
 * Neighbours: is it one node that is silent, or all behind a switch?  Who examines a suspect also
 * asks a few nodes behind each switch above it, and a few behind each switch above the own node,
 * and beyond.  From who of them is heard follows which switch lies between:
 *
 *   - Somebody is heard who is as far from here as the suspect.  Then the fault is on the suspect's
 *     side: the highest switch above it (and not above this node) behind which nobody is heard.
 *   - Nobody is, on any path.  Then this node is cut off, with all who are behind the highest of
 *     its own switches behind which anybody is heard.
 *   - Nobody is on the data path, while the management network works.  Then nodes far from here are
 *     asked to ask those near here: the highest of the own switches behind which they hear nobody.
 *
 * One silent node alone is never a switch: that takes two.
 */

#define NEIGHBOURS_MAX 64
#define EACH 4 /* of a switch */
#define DRAWS 16
#define LOOKS 256
#define LEVELS 64 /* of switches; the tree's bound */

enum over {
    ANY_PATH,
    DATA_PATH
};

/* The switches above a node, the lowest first. */
struct chain {
    int32_t n;
    int32_t switch_[LEVELS];
};

static void find_chain(const struct ftree *ft, int32_t node, struct chain *c)
{
    const struct ftree_tree *t = ft->job->tree;

    c->n = 0;
    for (int32_t s = t->node_switch[node]; s != FTREE_NONE && c->n < LEVELS;
         s = t->switch_parent[s])
        c->switch_[c->n++] = s;
}

/* How many of its switches are not above this node: those below the one where the two meet. */
static int32_t find_branch(const struct ftree *ft, int32_t node, struct chain *its)
{
    int32_t n = 0;

    find_chain(ft, node, its);
    while (n < its->n && !ftree_is_behind(ft, its->switch_[n], ft->self))
        n++;
    return n;
}

/* How far from here: the index of the lowest own switch that it is behind, own->n: none. */
static int32_t distance(const struct ftree *ft, const struct chain *own, int32_t node)
{
    int32_t d = 0;

    while (d < own->n && !ftree_is_behind(ft, own->switch_[d], node))
        d++;
    return d;
}

static struct neighbour *find_neighbour(const struct ftree *ft, int32_t node)
{
    return FTREE_FIND(struct neighbour, nb, ft->examine->neighbours, nb->node == node);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Nodes behind one switch (FTREE_NONE: anywhere) and not behind others. */
struct region {
    int32_t within, without[2];
};

struct choice {
    int32_t n;
    int32_t node[EACH];
};

static bool is_within(const struct ftree *ft, const struct region *r, int32_t node)
{
    return r->within == FTREE_NONE || ftree_is_behind(ft, r->within, node);
}

static void consider(const struct ftree *ft, const struct region *r, int32_t suspect, int32_t node,
                     struct choice *c)
{
    bool fits = node != ft->self && node != suspect && is_within(ft, r, node) &&
                !ftree_is_behind(ft, r->without[0], node) &&
                !ftree_is_behind(ft, r->without[1], node) && !ftree_has_failed(ft, node) &&
                !ftree_peer_has_left(ft, node);

    for (int32_t i = 0; i < c->n; i++)
        fits = fits && c->node[i] != node;
    if (fits)
        c->node[c->n++] = node;
}

/* Drawn, so that not all who ask choose the same, where that finds some; else those below the
 * switch's head, level by level. */
static void choose(const struct ftree *ft, const struct region *r, int32_t suspect,
                   struct choice *c)
{
    int32_t queue[LOOKS], n = 0, first;
    uint64_t seed = ftree_topo_mix((uint64_t) ft->self << 32 | (uint32_t) suspect);

    c->n = 0;
    for (uint64_t i = 0; i < DRAWS && c->n < EACH; i++)
        consider(ft, r, suspect, (int32_t) (ftree_topo_mix(seed + i) % (uint64_t) ft->job->nodes),
                 c);
    queue[n++] = r->within == FTREE_NONE ? 0 : ft->job->tree->switch_head[r->within];
    for (int32_t i = 0; i < n && c->n < EACH; i++) {
        int32_t node = queue[i], children = ftree_topo_children(ft->topo, node, &first);
        consider(ft, r, suspect, node, c);
        /* from both ends: a head's own nodes come first, the heads of other switches last */
        for (int32_t k = 0; k < children && n < LOOKS; k++) {
            int32_t child = first + (k % 2 ? children - 1 - k / 2 : k / 2);
            if (is_within(ft, r, child))
                queue[n++] = child;
        }
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool was_heard(const struct suspect *su, const struct neighbour *nb, enum over over)
{
    bool data = nb->heard[FTREE_PATH_DATA] && nb->heard[FTREE_PATH_DATA] >= su->opened;
    bool mgmt = nb->heard[FTREE_PATH_MGMT] && nb->heard[FTREE_PATH_MGMT] >= su->opened;

    return data || (over == ANY_PATH && mgmt);
}

/* One that no suspect needs any more: it has failed, or was asked before any of them was opened. */
static struct neighbour *find_useless(const struct ftree *ft)
{
    ftree_time oldest = FTREE_NEVER;

    FTREE_EACH_SUSPECT(su, ft)
        oldest = ftree_min(oldest, su->waits ? FTREE_NEVER : su->opened);
    FTREE_EACH(struct neighbour, nb, ft->examine->neighbours) {
        bool is_past = oldest != FTREE_NEVER && nb->last_asked && nb->last_asked < oldest;
        if (is_past || ftree_has_failed(ft, nb->node))
            return nb;
    }
    return NULL;
}

static struct neighbour *add(struct ftree *ft, ftree_time now, int32_t node)
{
    struct neighbour *nb = find_neighbour(ft, node);

    if (nb)
        return nb;
    nb = ft->examine->neighbours.n < NEIGHBOURS_MAX ? FTREE_PUSH(ft, ft->examine->neighbours)
                                                    : find_useless(ft);
    if (!nb)
        return NULL;
    *nb = (struct neighbour){0};
    nb->node = node;
    nb->asked = now;
    nb->nonce = ++ft->next_id;
    return nb;
}

static void ask_region(struct ftree *ft, ftree_time now, const struct suspect *su,
                       const struct region *region)
{
    struct choice c;

    choose(ft, region, su->node, &c);
    for (int32_t i = 0; i < c.n; i++) {
        struct neighbour *nb = add(ft, now, c.node[i]);
        struct ftree_route to = {.node = c.node[i], .fresh = nb && nb->asked < now};
        if (nb && !was_heard(su, nb, DATA_PATH) &&
            (!nb->last_asked || nb->last_asked + ftree_rto(ft) <= now)) {
            nb->last_asked = now;
            ftree_ask(ft, now, &to, ftree_all_paths(ft->job), 0);
        }
    }
}

void ftree_neighbour_ask(struct ftree *ft, ftree_time now, const struct suspect *su)
{
    struct chain own, its;
    struct region r;
    int32_t above = find_branch(ft, su->node, &its);

    find_chain(ft, ft->self, &own);
    for (int32_t k = 0; k < above; k++) {
        r = (struct region){its.switch_[k], {k ? its.switch_[k - 1] : FTREE_NONE, FTREE_NONE}};
        ask_region(ft, now, su, &r);
    }
    for (int32_t d = 0; d <= own.n; d++) {
        r = (struct region){
            d < own.n ? own.switch_[d] : FTREE_NONE,
            {d ? own.switch_[d - 1] : FTREE_NONE, above ? its.switch_[above - 1] : FTREE_NONE}};
        ask_region(ft, now, su, &r);
    }
}

/* Who examines nobody has no use for what it heard of their neighbours. */
void ftree_neighbour_forget(struct ftree *ft)
{
    ft->examine->neighbours.n = 0;
    ft->examine->helpers = 0;
}

void ftree_neighbour_heard(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path)
{
    struct neighbour *nb = find_neighbour(ft, node);

    if (nb)
        nb->heard[path] = now;
}

/* ---- who was heard --------------------------------------------------------------------------- */

struct member {
    int32_t node;
    bool heard;
};

#define MEMBERS_MAX (2 * NEIGHBOURS_MAX)

struct view {
    const struct ftree *ft;
    struct chain own, its;
    int32_t above; /* so many of its switches are not above this node */
    int32_t far; /* how far from here the suspect is */
    int32_t members;
    struct member member[MEMBERS_MAX]; /* the suspect is the first */
};

/* It was asked for another suspect, before this one was one, or while all may have been silent:
 * that it was not heard since says nothing. */
static bool is_old(const struct suspect *su, const struct neighbour *nb, enum over over)
{
    ftree_time works = su->works[FTREE_PATH_DATA].from;

    if (over == ANY_PATH)
        works = ftree_max(works, su->works[FTREE_PATH_MGMT].from);
    return nb->last_asked && ((nb->last_asked < su->opened && !was_heard(su, nb, ANY_PATH)) ||
                              (nb->last_asked < works && !was_heard(su, nb, over)));
}

static void add_suspects(const struct ftree *ft, const struct suspect *su, enum over over,
                         struct view *v)
{
    FTREE_EACH_SUSPECT(other, ft) {
        struct member m = {.node = other->node};
        if (other->node == su->node || other->waits || v->members == MEMBERS_MAX ||
            other->opened + 2 * ftree_rto(ft) > su->deadline || find_neighbour(ft, other->node))
            continue;
        for (int path = 0; path < FTREE_PATHS; path++)
            m.heard |= (over == ANY_PATH || path == FTREE_PATH_DATA) &&
                       other->reach[path][FTREE_ROLE_AGENT] >= FTREE_REACH_CONNECTED;
        v->member[v->members++] = m;
    }
}

static void find_view(const struct ftree *ft, const struct suspect *su, enum over over,
                      struct view *v)
{
    v->ft = ft;
    find_chain(ft, ft->self, &v->own);
    v->above = find_branch(ft, su->node, &v->its);
    v->far = distance(ft, &v->own, su->node);
    v->member[0] = (struct member){.node = su->node};
    v->members = 1;
    FTREE_EACH(const struct neighbour, nb, ft->examine->neighbours) {
        if (nb->node != su->node && nb->asked + ftree_rto(ft) <= su->deadline &&
            !is_old(su, nb, over) && !ftree_has_failed(ft, nb->node))
            v->member[v->members++] =
                (struct member){.node = nb->node, .heard = was_heard(su, nb, over)};
    }
    add_suspects(ft, su, over, v);
}

/* How far from here the farthest is that was heard; -1: nobody was. */
static int32_t farthest(const struct view *v)
{
    int32_t far = -1;

    for (int32_t i = 0; i < v->members; i++) {
        int32_t d = v->member[i].heard ? distance(v->ft, &v->own, v->member[i].node) : -1;
        far = d > far ? d : far;
    }
    return far;
}

/* How many other switches the one has that these two are behind. */
static int32_t branches(const struct ftree *ft, int32_t parent)
{
    int32_t n = 0;

    for (int32_t s = 0; s < ft->job->tree->switches; s++)
        n += ft->job->tree->switch_parent[s] == parent && ft->job->tree->switch_head[s] >= 0;
    return n;
}

/* ---- what follows ---------------------------------------------------------------------------- */

static struct ftree_silence look_there(const struct view *v)
{
    struct ftree_silence found = {RULES_BEHIND_NONE, FTREE_NONE};

    for (int32_t k = v->above - 1; k >= 0; k--) {
        int32_t silent = 0, heard = 0;
        for (int32_t i = 0; i < v->members; i++) {
            bool there = ftree_is_behind(v->ft, v->its.switch_[k], v->member[i].node);
            heard += there && v->member[i].heard;
            silent += there && !v->member[i].heard;
        }
        if (!heard && silent > 1)
            return (struct ftree_silence){RULES_BEHIND_SILENT, v->its.switch_[k]};
        if (heard)
            found.behind = RULES_BEHIND_SOME;
    }
    return found;
}

/* True if all nodes are behind it. */
static bool has_all(const struct ftree *ft, int32_t switch_)
{
    return switch_ == FTREE_NONE ||
           (ft->job->tree->switch_parent[switch_] == FTREE_NONE && branches(ft, FTREE_NONE) == 1);
}

/* Where there are but two switches in all, either may be named: both sides name the one that the
 * root is not behind. */
static int32_t of_two(const struct view *v, int32_t near)
{
    int32_t own = v->own.switch_[near], parent = v->ft->job->tree->switch_parent[own];

    if (v->above == 0 || v->far != near + 1 || branches(v->ft, parent) != 2 ||
        !has_all(v->ft, parent))
        return own;
    return ftree_is_behind(v->ft, own, 0) ? v->its.switch_[v->above - 1] : own;
}

static struct ftree_silence look_around(const struct view *v, int32_t near)
{
    int32_t outside = 0;

    for (int32_t i = 0; near >= 0 && i < v->members; i++)
        outside += !ftree_is_behind(v->ft, v->own.switch_[near], v->member[i].node);
    if (outside < 2)
        return (struct ftree_silence){RULES_BEHIND_NONE, FTREE_NONE};
    return (struct ftree_silence){RULES_BEHIND_CUT_OFF, of_two(v, near)};
}

static struct ftree_silence silent_behind(int32_t switch_)
{
    return (struct ftree_silence){switch_ == FTREE_NONE ? RULES_BEHIND_NONE : RULES_BEHIND_SILENT,
                                  switch_};
}

/* The highest switch above a helper and not above this node, and the next below that; FTREE_NONE:
 * none is. */
static int32_t branch_of(const struct ftree *ft, int32_t helper, int32_t *below)
{
    struct chain its;
    int32_t n = find_branch(ft, helper, &its);

    *below = n > 1 ? its.switch_[n - 2] : FTREE_NONE;
    return n > 0 ? its.switch_[n - 1] : FTREE_NONE;
}

/* What helpers came to. */
struct sights {
    int32_t far; /* how far from here they are */
    int32_t branch; /* of one of them */
    int32_t asked, heard; /* nodes beyond the helper's own branch, as far from here as it is */
    int32_t asked_in, heard_in; /* within it, but not behind the same switch below */
    int32_t heard_near; /* nearer to this node than they are */
    int32_t heard_any;
};

static void add_sight(const struct view *v, int32_t helper, int32_t node, uint8_t seen,
                      struct sights *s)
{
    bool heard = seen >= FTREE_REACH_CONNECTED;
    int32_t below;

    if (seen == FTREE_REACH_NOT_ASKED)
        return;
    s->branch = branch_of(v->ft, helper, &below);
    s->heard_any += heard;
    if (ftree_is_behind(v->ft, s->branch, node)) {
        s->asked_in += !ftree_is_behind(v->ft, below, node);
        s->heard_in += heard && !ftree_is_behind(v->ft, below, node);
    } else if (distance(v->ft, &v->own, node) < s->far) {
        s->heard_near += heard;
    } else {
        s->asked++;
        s->heard += heard;
    }
}

static struct sights find_sights(const struct view *v)
{
    struct sights s = {.far = v->ft->examine->helpers_far, .branch = FTREE_NONE};

    FTREE_EACH(const struct neighbour, nb, v->ft->examine->neighbours)
        for (int k = 0; k < FTREE_HELPERS; k++)
            add_sight(v, v->ft->examine->helper[k], nb->node, nb->seen[k], &s);
    return s;
}

/* The helpers' data path works: the highest own switch behind which they hear nobody. */
static struct ftree_silence look_back(const struct view *v, const struct sights *s)
{
    for (int32_t d = s->far - 1; d >= 0; d--) {
        int32_t asked = 0, heard = 0;
        FTREE_EACH(const struct neighbour, nb, v->ft->examine->neighbours) {
            if (!ftree_is_behind(v->ft, v->own.switch_[d], nb->node))
                continue;
            for (int k = 0; k < FTREE_HELPERS; k++) {
                asked += nb->seen[k] != FTREE_REACH_NOT_ASKED;
                heard += nb->seen[k] >= FTREE_REACH_CONNECTED;
            }
        }
        if (asked && !heard) /* and this node */
            return silent_behind(v->own.switch_[d]);
    }
    return (struct ftree_silence){RULES_BEHIND_SOME, FTREE_NONE};
}

/* What helpers saw, far from here, on the data path. */
static struct ftree_silence look_through(const struct view *v, int32_t near)
{
    struct sights s = find_sights(v);
    int32_t common = s.far < v->own.n ? v->own.switch_[s.far] : FTREE_NONE;

    if (s.branch == FTREE_NONE || s.far < 1)
        return silent_behind(FTREE_NONE);
    /* nowhere is it seen to work: all of it may be back in a moment */
    if (near < 0 && !s.heard_any)
        return silent_behind(FTREE_NONE);
    if (s.heard || s.heard_near)
        return look_back(v, &s);
    if (s.asked) /* nobody there hears anybody of another branch */
        return silent_behind(common);
    /* two branches only: which of them is it, or what joins them? */
    if (near < s.far - 1)
        return silent_behind(v->own.switch_[s.far - 1]);
    if (s.asked_in && !s.heard_in)
        return silent_behind(s.branch);
    return silent_behind(common);
}

static struct ftree_silence look(const struct ftree *ft, const struct suspect *su,
                                 enum over over)
{
    struct view v;
    int32_t near;

    find_view(ft, su, over, &v);
    near = farthest(&v);
    if (near >= v.far)
        return look_there(&v);
    return over == DATA_PATH ? look_through(&v, near) : look_around(&v, near);
}

struct ftree_silence ftree_neighbour_silence(const struct ftree *ft, const struct suspect *su,
                                             bool data)
{
    uint8_t reach = su->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT];
    bool silent = data ? reach < FTREE_REACH_CONNECTED && ftree_facts_answered(su)
                       : !ftree_facts_answered(su) && !ftree_facts_kernel_spoke(su);

    if (!ft->job->tree || ft->examine->neighbours.n == 0 || !silent)
        return (struct ftree_silence){RULES_BEHIND_NONE, FTREE_NONE};
    return look(ft, su, data ? DATA_PATH : ANY_PATH);
}

/* Of a suspect that answers over management only: nobody behind its switch has been heard on the data
 * path since it is one, so that may be the switch.  Not where it is the own one, and has power. */
bool ftree_neighbour_may_be_switch(const struct ftree *ft, const struct suspect *su)
{
    int32_t leaf = ftree_topo_switch_of(ft->topo, su->node), silent = 0;

    if (leaf == FTREE_NONE ||
        (leaf == ftree_topo_switch_of(ft->topo, ft->self) && !ft->state->own_link_down))
        return false;
    FTREE_EACH(const struct neighbour, nb, ft->examine->neighbours) {
        if (nb->node == su->node || ftree_topo_switch_of(ft->topo, nb->node) != leaf)
            continue;
        if (was_heard(su, nb, DATA_PATH))
            return false;
        silent++;
    }
    return silent > 0;
}

/* ---- helpers -------------------------------------------------------------------------------- */

/* What they were asked for another suspect a moment ago will do for this one. */
static bool is_due(const struct ftree *ft, ftree_time now, const struct neighbour *nb)
{
    return !nb->helpers_asked || nb->helpers_asked + 2 * ftree_rto(ft) <= now;
}

/* All helpers are to probe it. */
static void send_indirect_probes(struct ftree *ft, ftree_time now, struct neighbour *nb)
{
    struct wire_message m = {.type = WIRE_INDIRECT_PROBE};
    struct ftree_route to = {.path = FTREE_PATH_MGMT, .role = FTREE_ROLE_AGENT};

    nb->helpers_asked = now;
    m.u.indirect_probe.nonce = nb->nonce;
    m.u.indirect_probe.target = nb->node;
    for (int32_t i = 0; i < ft->examine->helpers; i++) {
        to.node = ft->examine->helper[i];
        if (nb->node != to.node)
            ftree_send(ft, now, &to, &m);
    }
}

/* Those farthest from here who answer, though not over data; of two branches where there are. */
static void choose_helpers(struct ftree *ft, const struct suspect *su, const struct view *v)
{
    int32_t far = 0, n = 0, below;

    FTREE_EACH(const struct neighbour, nb, ft->examine->neighbours) {
        int32_t d = distance(ft, &v->own, nb->node);
        if (!was_heard(su, nb, ANY_PATH) || d < far || d == 0)
            continue;
        if (d > far)
            n = 0;
        far = d;
        if (n == FTREE_HELPERS && branch_of(ft, ft->examine->helper[0], &below) ==
                                       branch_of(ft, ft->examine->helper[1], &below))
            n--;
        if (n < FTREE_HELPERS)
            ft->examine->helper[n++] = nb->node;
    }
    ft->examine->helpers = n;
    ft->examine->helpers_far = far;
}

/* Asks them to ask all the others. */
void ftree_neighbour_indirect_probe(struct ftree *ft, ftree_time now, const struct suspect *su)
{
    struct view v;

    if (!ftree_facts_answered(su) ||
        su->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT] >= FTREE_REACH_CONNECTED)
        return;
    find_view(ft, su, DATA_PATH, &v);
    if (farthest(&v) >= v.far)
        return;
    add(ft, now, su->node);
    if (ft->examine->helpers == 0)
        choose_helpers(ft, su, &v);
    FTREE_EACH_IF(ft->examine->helpers > 0, struct neighbour, nb, ft->examine->neighbours)
        if (is_due(ft, now, nb))
            send_indirect_probes(ft, now, nb);
}

void ftree_neighbour_indirect_result(struct ftree *ft, int32_t from,
                                     const struct wire_indirect_result *s)
{
    struct neighbour *nb = find_neighbour(ft, s->target);

    if (!nb || nb->nonce != s->nonce || s->path != FTREE_PATH_DATA)
        return;
    for (int32_t i = 0; i < ft->examine->helpers; i++)
        if (ft->examine->helper[i] == from && s->reach > nb->seen[i])
            nb->seen[i] = s->reach;
}

/* ---- evidence -------------------------------------------------------------------------------- */

#define ANNOUNCED 3

/* Some who are silent with the suspect. */
void ftree_neighbour_add_evidence(const struct ftree *ft, ftree_time now,
                                  const struct suspect *su, struct ftree_verdict *v)
{
    bool there = ftree_is_behind(ft, v->switch_, su->node);
    bool data = ftree_facts_answered(su);
    int32_t shown = 0;

    for (int32_t i = 0; i < ft->examine->neighbours.n && shown < ANNOUNCED; i++) {
        const struct neighbour *nb = &ft->examine->neighbours.items[i];
        struct ftree_evidence e = {.source = FTREE_EVIDENCE_PROBE,
                                   .path = data ? FTREE_PATH_DATA : FTREE_PATHS,
                                   .target = nb->node,
                                   .by = ft->self,
                                   .reach = FTREE_REACH_SILENT,
                                   .at = now};
        if (was_heard(su, nb, data ? DATA_PATH : ANY_PATH) ||
            ftree_is_behind(ft, v->switch_, nb->node) != there)
            continue;
        ftree_verdict_add_evidence(v, &e);
        shown++;
    }
}
