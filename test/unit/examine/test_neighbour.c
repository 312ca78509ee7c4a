/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "switches.h"

#define FLAT "switch:4 node:4"
#define UNDER_ONE "switch:1 switch:4 node:4" /* s0; below it s1 to s4 */
#define TWO_UNDER_ONE "switch:1 switch:2 node:4" /* s0; below it s1 and s2 */
#define NESTED "switch:2 switch:2 node:4" /* s0 and s1; below them s2, s3 and s4, s5 */
#define THREE "switch:3 switch:2 node:4" /* s0, s1, s2; below them s3, s4 and s5, s6 and s7, s8 */
#define DEEP "switch:1 switch:2 switch:2 node:4" /* s0; s1 and s2; s3, s4 and s5, s6 */

/* One under examination, of which nothing was heard so far. */
static struct suspect suspect(const struct lone *l, const char *node)
{
    return (struct suspect){.node = switches_node(l->job.tree, node, NULL),
                               .switch_ = FTREE_NONE,
                               .rank = FTREE_NONE,
                               .opened = l->now,
                               .deadline = l->now + 6 * ftree_rto(l->ft)};
}

/* It answers over the management network. */
static void answers(struct suspect *su)
{
    su->reach[FTREE_PATH_MGMT][FTREE_ROLE_AGENT] = FTREE_REACH_ANSWERED;
}

/* Who was sent a message of this type over this path, in order. */
static int32_t sent_to(const struct lone *l, enum wire_type type, enum ftree_path path,
                       int32_t node[LONE_SENT_MAX])
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        if (l->sent[i].m.type == type && l->sent[i].to.path == path)
            node[n++] = l->sent[i].to.node;
    return n;
}

/* ---- what there is to begin with ------------------------------------------------------------- */

/* These, and the cases above, are all that the tests here have of the insides of examine/. */

static struct neighbour *neighbour(const struct lone *l, int32_t i)
{
    return &l->ft->examine->neighbours.items[i];
}

static struct neighbour *put_neighbour(struct lone *l, int32_t node)
{
    struct neighbour *nb = FTREE_PUSH(l->ft, l->ft->examine->neighbours);

    ck_assert_ptr_nonnull(nb);
    nb->node = node;
    return nb;
}

static void put_suspect(struct lone *l, const struct suspect *su)
{
    struct ftree_case *g = ftree_case_add(l->ft, su->node, su->switch_);

    ck_assert_ptr_nonnull(g);
    ck_assert_ptr_nonnull(ftree_suspect_open(l->ft, l->now, g, 0));
    *g->suspect = *su;
}

static void add_helpers(struct lone *l, const char *text, int32_t far)
{
    struct ftree_examine *x = l->ft->examine;

    for (; *text; text += *text == ' ')
        x->helper[x->helpers++] = switches_node(l->job.tree, text, &text);
    x->helpers_far = far;
}

/* ---- who is chosen --------------------------------------------------------------------------- */

/* Where a node is, seen from one that examines another: behind which switch above the suspect, or
 * else above the own node, the lowest; FTREE_NONE: beyond. */
static int32_t region_of(const struct ftree_tree *t, int32_t self, int32_t suspect_, int32_t node)
{
    for (int32_t s = t->node_switch[suspect_]; s != FTREE_NONE; s = t->switch_parent[s])
        if (ftree_tree_is_behind(t, s, node) && !ftree_tree_is_behind(t, s, self))
            return s;
    for (int32_t s = t->node_switch[self]; s != FTREE_NONE; s = t->switch_parent[s])
        if (ftree_tree_is_behind(t, s, node))
            return s;
    return FTREE_NONE;
}

static const struct {
    const char *topology;
    const char *failed, *left; /* nodes */
} choices[] = {
    {FLAT, "", ""},
    {FLAT, "1.0 1.2", "2.0"},
    {FLAT, "0.0", "3.0 3.1 3.2 3.3"},
    {NESTED, "", ""},
    {NESTED, "2.0", "4.0 4.1 5.1"},
    {THREE, "", "7.0"},
    {TWO_UNDER_ONE, "", ""},
    {DEEP, "5.0 5.1 5.2", ""},
    {"switch:3 node:1", "", ""},
    {"switch:1 node:6", "", ""},
    {"switch:5 node:40", "1.0", "2.0"},
};

static bool is_one_of(const struct ftree_tree *t, const char *nodes, int32_t node)
{
    for (; *nodes; nodes += *nodes == ' ')
        if (switches_node(t, nodes, &nodes) == node)
            return true;
    return false;
}

static struct lone *choosing(int i, int32_t self)
{
    struct ftree_tree *t = shape_read(choices[i].topology);
    char name[24];
    struct lone *l = switches_new(choices[i].topology, switches_name(t, self, name));

    for (int32_t n = 0; n < t->nodes; n++) {
        if (n != self && is_one_of(t, choices[i].failed, n))
            switches_node_fails(l, n);
        if (n != self && is_one_of(t, choices[i].left, n))
            ck_assert(ftree_peer_leaves(l->ft, n, false));
    }
    ftree_tree_free(t);
    return l;
}

/* Up to four of each region, and as many as there are. */
static void check_choice(struct lone *l, int32_t suspect_)
{
    const struct ftree_tree *t = l->job.tree;
    int32_t there[64] = {0}, chosen[64] = {0}, node[LONE_SENT_MAX];
    int32_t n = sent_to(l, WIRE_PROBE, FTREE_PATH_DATA, node);

    for (int32_t m = 0; m < t->nodes; m++)
        if (m != l->self && m != suspect_ && !ftree_has_failed(l->ft, m) &&
            !ftree_peer_has_left(l->ft, m))
            there[1 + region_of(t, l->self, suspect_, m)]++;
    for (int32_t i = 0; i < n; i++) {
        REQUIRE(node[i] != l->self && node[i] != suspect_);
        REQUIRE(!ftree_has_failed(l->ft, node[i]) && !ftree_peer_has_left(l->ft, node[i]));
        for (int32_t j = 0; j < i; j++)
            REQUIRE(node[j] != node[i]);
        chosen[1 + region_of(t, l->self, suspect_, node[i])]++;
    }
    for (int32_t r = 0; r <= t->switches; r++)
        REQUIRE(chosen[r] == (there[r] < 4 ? there[r] : 4));
    REQUIRE(ftree_inspect_neighbours(l->ft) == n);
    REQUIRE(lone_count(l, WIRE_PROBE) == 2 * n); /* over both paths */
}

/* rows: of_each_region_up_to_four_are_asked */
TEST_CASES(of_each_region_up_to_four_are_asked, COUNT(choices))
{
    struct ftree_tree *t = shape_read(choices[_i].topology);
    int32_t step = t->nodes > 32 ? 17 : 1;

    for (int32_t self = 0; self < t->nodes; self += step) {
        struct lone *l = choosing(_i, self);
        for (int32_t n = 0; n < t->nodes; n += step) {
            struct suspect su = {.node = n, .opened = l->now, .deadline = FTREE_NEVER};
            if (n == self)
                continue;
            lone_log(l);
            ftree_neighbour_forget(l->ft);
            ftree_neighbour_ask(l->ft, l->now, &su);
            check_choice(l, n);
        }
        lone_free(l);
    }
    ftree_tree_free(t);
}

static int32_t chosen_by(const char *self, const char *suspect_, int32_t node[LONE_SENT_MAX])
{
    struct lone *l = switches_new("switch:8 node:32", self);
    struct suspect su = suspect(l, suspect_);
    int32_t n;

    ftree_neighbour_ask(l->ft, l->now, &su);
    n = sent_to(l, WIRE_PROBE, FTREE_PATH_DATA, node);
    lone_free(l);
    return n;
}

TEST_CASE(who_asks_again_chooses_the_same_and_others_choose_others)
{
    int32_t one[LONE_SENT_MAX], same[LONE_SENT_MAX], other[LONE_SENT_MAX];
    int32_t n = chosen_by("0.3", "5.7", one);

    ck_assert_int_eq(n, 12);
    ck_assert_int_eq(chosen_by("0.3", "5.7", same), n);
    ck_assert_mem_eq(one, same, (size_t) n * sizeof(one[0]));
    ck_assert_int_eq(chosen_by("0.4", "5.7", other), n);
    ck_assert_mem_ne(one, other, (size_t) n * sizeof(one[0]));
    ck_assert_int_eq(chosen_by("0.3", "5.8", other), n);
    ck_assert_mem_ne(one, other, (size_t) n * sizeof(one[0]));
}

TEST_CASE(there_is_a_bound_for_all_together)
{
    struct lone *l = switches_new("switch:16 node:16", "0.0");
    int32_t node[LONE_SENT_MAX];

    for (int32_t n = 1; n < l->job.nodes; n++) {
        struct suspect su = {.node = n, .opened = l->now, .deadline = FTREE_NEVER};
        ftree_neighbour_ask(l->ft, l->now, &su);
    }
    ck_assert_int_eq(ftree_inspect_neighbours(l->ft), 64);
    ck_assert_int_eq(sent_to(l, WIRE_PROBE, FTREE_PATH_DATA, node), 64);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 2 * 64); /* each of them once */
    for (int32_t i = 0; i < 64; i++)
        for (int32_t j = 0; j < i; j++)
            ck_assert_int_ne(node[i], node[j]);
}

TEST_CASE(who_is_of_no_use_any_more_makes_room)
{
    struct lone *l = switches_new("switch:16 node:16", "0.0");
    struct suspect su = suspect(l, "15.15");
    int32_t node[LONE_SENT_MAX];
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_SILENT, su.node, FTREE_NONE, 0, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    for (int32_t n = 1; n < l->job.nodes; n++) {
        struct suspect other = {.node = n, .opened = l->now, .deadline = FTREE_NEVER};
        ftree_neighbour_ask(l->ft, l->now, &other);
    }
    sent_to(l, WIRE_PROBE, FTREE_PATH_DATA, node);
    switches_node_fails(l, node[20]);
    lone_log(l);
    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 2); /* one in the place of the one that failed */
    lone_run(l, 10);
    ftree_suspect(l->ft, su.node)->opened = l->now; /* it had waited until now */
    lone_log(l);
    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_gt(lone_count(l, WIRE_PROBE), 2);
    ck_assert_int_eq(ftree_inspect_neighbours(l->ft), 64);
}

/* Of 10,000 the last alone could be asked. */
TEST_CASE(nobody_looks_for_long)
{
    struct lone *l = switches_new("switch:2 node:5000", "0.0");
    struct suspect su = suspect(l, "1.0");
    int32_t last = l->job.nodes - 1;

    ck_assert_int_eq(l->job.tree->node_switch[last], 1);
    for (int32_t n = 1; n < last; n++)
        REQUIRE(ftree_peer_leaves(l->ft, n, false));
    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_eq(l->n_sent, 0);
}

/* ---- asking again, forgetting ---------------------------------------------------------------- */

TEST_CASE(who_was_not_heard_is_asked_again_after_a_while)
{
    struct lone *l = switches_new("switch:2 node:2", "0.0");
    struct suspect su = suspect(l, "1.0");
    int32_t n_0 = switches_node(l->job.tree, "0.1", NULL);
    int32_t n_1 = switches_node(l->job.tree, "1.1", NULL);
    struct ftree_inspect_neighbour nb;
    ftree_time rto = ftree_rto(l->ft), asked = l->now;

    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_eq(l->n_sent, 4);
    ck_assert(!l->sent[0].to.fresh);
    ftree_neighbour_ask(l->ft, l->now, &su); /* for another one: that is the same question */
    l->now += rto - 1;
    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_eq(l->n_sent, 4);
    ftree_neighbour_heard(l->ft, l->now, n_0, FTREE_PATH_DATA);
    ftree_neighbour_heard(l->ft, l->now, n_1, FTREE_PATH_MGMT); /* not over data */
    ftree_neighbour_heard(l->ft, l->now, su.node, FTREE_PATH_DATA); /* it is nobody's neighbour */
    l->now++;
    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_eq(l->n_sent, 6);
    ck_assert_int_eq(l->sent[4].to.node, n_1);
    ck_assert(l->sent[4].to.fresh);
    su.opened = l->now; /* for a new suspect what was heard before does not count */
    l->now += rto;
    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_eq(l->n_sent, 10);
    ck_assert_int_eq(ftree_inspect_neighbours(l->ft), 2);
    ck_assert(ftree_inspect_neighbour(l->ft, n_0, &nb));
    ck_assert_uint_eq(nb.asked, asked);
    ck_assert(ftree_inspect_neighbour(l->ft, n_1, &nb));
    ck_assert_uint_eq(nb.asked, asked);
}

TEST_CASE(forgotten_is_forgotten)
{
    struct lone *l = switches_new(FLAT, "0.0");
    struct suspect su = suspect(l, "1.0");
    struct ftree_inspect_neighbour nb;

    ftree_neighbour_ask(l->ft, l->now, &su);
    ck_assert_int_gt(ftree_inspect_neighbours(l->ft), 0);
    for (int32_t n = 1; n < l->job.nodes; n++)
        ftree_neighbour_heard(l->ft, l->now, n, FTREE_PATH_DATA);
    add_helpers(l, "1.1 2.0", 1);
    ftree_neighbour_forget(l->ft);
    ck_assert_int_eq(ftree_inspect_neighbours(l->ft), 0);
    ck_assert_int_eq(ftree_inspect_helpers(l->ft, 0, NULL, NULL), 0);
    lone_log(l);
    ftree_neighbour_ask(l->ft, l->now, &su); /* at once */
    ck_assert_int_eq(l->n_sent, 2 * ftree_inspect_neighbours(l->ft));
    for (int32_t n = 1; n < l->job.nodes; n++)
        ck_assert(!ftree_inspect_neighbour(l->ft, n, &nb) || !nb.was_heard);
}

TEST_CASE(without_memory_some_are_not_asked)
{
    struct lone *l = switches_new(FLAT, "0.0");
    struct suspect su = suspect(l, "1.0");
    int32_t all;

    ftree_neighbour_ask(l->ft, l->now, &su);
    all = ftree_inspect_neighbours(l->ft);
    for (int nth = 1; nth <= 2; nth++) {
        lone_renew(l);
        lone_log(l);
        l->fail_alloc_in = nth; /* it grows by and by */
        ftree_neighbour_ask(l->ft, l->now, &su);
        ck_assert_int_eq(l->fail_alloc_in, 0);
        ck_assert_int_eq(ftree_inspect_neighbours(l->ft), all - 1);
        ck_assert_int_eq(l->n_sent, 2 * (all - 1));
        ck_assert_ptr_null(ftree_check(l->ft));
    }
}

/* ---- the silence found ----------------------------------------------------------------------- */

static uint8_t seen_as(char c)
{
    return c == 'a' ? FTREE_REACH_ANSWERED : c == 's' ? FTREE_REACH_SILENT : FTREE_REACH_NOT_ASKED;
}

/* Adds neighbours: NODE and then
 *     + heard over data, m over management, o over data before the suspicion, - silent,
 *     l silent, but asked so late that it may not have had the time to answer;
 * and what each helper saw of it: a it answered, s silence, ? it was not asked. */
static void add_neighbours(struct lone *l, const struct suspect *su, const char *text)
{
    ftree_time rto = ftree_rto(l->ft);

    for (; *text; text += *text == ' ') {
        int32_t node = switches_node(l->job.tree, text, &text);
        struct neighbour *nb = put_neighbour(l, node);
        char how = *text++;
        ck_assert(strchr("+mo-l", how));
        nb->nonce = 1000 + (uint32_t) node;
        nb->asked = nb->last_asked = how == 'l' ? su->deadline - rto + 1 : su->deadline - rto;
        if (how == '+' || how == 'm')
            nb->heard[how == 'm' ? FTREE_PATH_MGMT : FTREE_PATH_DATA] = su->opened;
        if (how == 'o')
            nb->heard[FTREE_PATH_DATA] = nb->heard[FTREE_PATH_MGMT] = su->opened - 1;
        for (int k = 0; *text && *text != ' '; k++)
            nb->seen[k] = seen_as(*text++);
    }
}

/* Other suspects: NODE and then + heard over data, m over management, - silent, y silent, but not
 * for long enough.  The one itself is among them. */
static void add_suspects(struct lone *l, const struct suspect *su, const char *text)
{
    put_suspect(l, su);
    for (; *text; text += *text == ' ') {
        int32_t node = switches_node(l->job.tree, text, &text);
        char how = *text++;
        struct suspect s = {.node = node, .opened = su->deadline - 2 * ftree_rto(l->ft)};
        s.opened += how == 'y';
        if (how == '+' || how == 'm')
            s.reach[how == 'm' ? FTREE_PATH_MGMT : FTREE_PATH_DATA][FTREE_ROLE_AGENT] =
                FTREE_REACH_REFUSED; /* its kernel counts */
        put_suspect(l, &s);
    }
}

static const char *found(const struct ftree_silence *s, char buf[40])
{
    static const char *const names[] = {"none", "some", "silent", "cut-off"};

    if (s->switch_ == FTREE_NONE)
        snprintf(buf, 40, "%s", names[s->behind]);
    else
        snprintf(buf, 40, "%s s%d", names[s->behind], (int) s->switch_);
    return buf;
}

static const struct {
    const char *topology, *self, *suspect;
    const char *neighbours, *suspects;
    const char *found;
} silences[] = {
    {FLAT, "0.1", "1.1", "", "", "none"}, /* nobody was asked */
    {FLAT, "0.1", "1.1", "1.0- 1.2- 2.0+", "", "silent s1"},
    {FLAT, "0.1", "1.1", "1.0- 1.2- 2.0m", "", "silent s1"},
    {FLAT, "0.1", "1.1", "1.0+ 1.2- 2.0+", "", "some"},
    {FLAT, "0.1", "1.1", "1.0m", "", "some"},
    {FLAT, "0.1", "1.1", "2.0+ 0.2+", "", "none"}, /* one alone is no switch */
    {FLAT, "0.1", "1.1", "1.1- 2.0+", "", "none"}, /* nor does it count twice */
    {FLAT, "0.1", "1.1", "1.0o 2.0+", "", "silent s1"}, /* what was before does not count */
    {FLAT, "0.1", "1.1", "1.0l 2.0+", "", "none"}, /* nor who had no time to answer */
    {FLAT, "0.1", "1.1", "1.0- 2.0o 0.2+", "", "cut-off s0"},
    /* other suspects are neighbours, too */
    {FLAT, "0.1", "1.1", "2.0+", "1.2-", "silent s1"},
    {FLAT, "0.1", "1.1", "2.0+", "1.2+", "some"},
    {FLAT, "0.1", "1.1", "2.0+", "1.2m", "some"},
    {FLAT, "0.1", "1.1", "2.0+", "1.2y", "none"},
    {FLAT, "0.1", "1.1", "2.0+ 1.2-", "1.2+", "silent s1"}, /* once: as a neighbour */
    /* the own switch is no way between */
    {FLAT, "0.1", "0.2", "0.3+", "", "none"},
    {FLAT, "0.1", "0.2", "0.0- 0.3- 1.0+", "", "none"},
    {FLAT, "0.1", "0.2", "0.0- 1.0-", "", "none"},
    /* cut off with all who are behind the own switch */
    {FLAT, "0.1", "1.1", "1.0- 2.0- 0.2+", "", "cut-off s0"},
    {FLAT, "0.1", "1.1", "1.0- 0.2+", "", "cut-off s0"},
    {FLAT, "0.1", "1.1", "0.2+", "", "none"}, /* one alone is no switch */
    {FLAT, "0.1", "1.1", "1.0- 2.0-", "", "none"}, /* nobody at all: it may be the own cable */
    /* the highest behind which nobody is heard */
    {THREE, "3.1", "5.1", "5.0- 6.0- 7.0+", "", "silent s1"},
    {THREE, "3.1", "5.1", "6.0- 7.0+", "", "silent s1"},
    {THREE, "3.1", "5.1", "5.0- 6.0+ 7.0+", "", "silent s5"},
    {THREE, "3.1", "5.1", "5.0- 6.0+", "", "silent s5"},
    {THREE, "3.1", "5.1", "6.0+", "", "some"},
    {THREE, "3.1", "5.1", "5.0+ 6.0- 7.0+", "", "some"},
    {NESTED, "2.1", "5.1", "4.0+ 5.0-", "", "silent s5"},
    {NESTED, "2.1", "3.1", "3.0- 4.0+", "", "silent s3"},
    /* but none above this node */
    {THREE, "6.1", "5.1", "5.0- 6.0- 7.0+", "", "silent s5"},
    {THREE, "6.1", "5.1", "5.0- 6.0- 7.0- 6.2+", "", "cut-off s6"},
    /* the highest own one behind which anybody is heard */
    {THREE, "3.1", "5.1", "5.0- 6.0- 7.0- 4.0+ 3.0+", "", "cut-off s0"},
    {THREE, "3.1", "5.1", "5.0- 6.0- 7.0- 4.0- 3.0+", "", "cut-off s3"},
    {THREE, "3.1", "5.1", "5.0- 6.0- 7.0- 4.0-", "", "none"},
    /* of two switches both sides name the one that the root is not behind */
    {NESTED, "2.1", "5.1", "4.0- 5.0- 3.0+", "", "cut-off s1"},
    {NESTED, "5.1", "2.1", "2.0- 3.0- 4.0+", "", "cut-off s1"},
    {NESTED, "2.1", "5.1", "4.0- 5.0- 3.0- 2.0+", "", "cut-off s2"},
    {NESTED, "2.1", "3.1", "3.0- 2.0+", "", "cut-off s2"}, /* there are others */
    {TWO_UNDER_ONE, "1.1", "2.1", "2.0- 1.0+", "", "cut-off s2"},
    {TWO_UNDER_ONE, "2.1", "1.1", "1.0- 2.0+", "", "cut-off s2"},
    {UNDER_ONE, "1.1", "2.1", "2.0- 3.0- 1.0+", "", "cut-off s1"},
};

/* rows: what_is_silent_on_all_paths */
TEST_CASES(what_is_silent_on_all_paths, COUNT(silences))
{
    struct lone *l = switches_new(silences[_i].topology, silences[_i].self);
    struct suspect su = suspect(l, silences[_i].suspect);
    struct ftree_silence s;
    char buf[40];

    add_neighbours(l, &su, silences[_i].neighbours);
    add_suspects(l, &su, silences[_i].suspects);
    s = ftree_neighbour_silence(l->ft, &su, false);
    ck_assert_msg(!strcmp(found(&s, buf), silences[_i].found), "row %d: %s", _i, buf);
    s = ftree_neighbour_silence(l->ft, &su, true); /* of the data path alone nothing is known */
    ck_assert_str_eq(found(&s, buf), "none");
}

/* "Helpers" are those who were asked to look, and so far from here. */
static const struct {
    const char *topology, *self, *suspect;
    const char *neighbours, *suspects, *helpers;
    int32_t far;
    const char *found;
} data_silences[] = {
    /* somebody as far as the suspect is heard over data: no helper is needed */
    {FLAT, "0.1", "1.1", "1.0m 1.2m 2.0+", "", "", 0, "silent s1"},
    {FLAT, "0.1", "1.1", "1.0+ 2.0+", "", "", 0, "some"},
    {FLAT, "0.1", "1.1", "1.0m 2.0m", "1.2+", "", 0, "some"},
    {FLAT, "0.1", "1.1", "2.0+", "1.2m", "", 0, "silent s1"},
    {FLAT, "0.1", "1.1", "2.0+", "", "", 0, "none"},
    {FLAT, "0.1", "1.1", "1.0l 2.0+", "", "", 0, "none"},
    {THREE, "3.1", "5.1", "5.0m 6.0m 7.0+", "", "", 0, "silent s1"},
    /* nobody is, and nobody looked */
    {FLAT, "0.1", "1.1", "0.2+ 1.0m 2.0m", "", "", 0, "none"},
    {FLAT, "0.1", "1.1", "0.2+ 1.0m 2.0m", "", "1.0 2.0", 1, "none"}, /* or did not say so */
    {FLAT, "0.1", "1.1", "0.2mss 1.0mss", "", "1.2 2.0", 0, "none"}, /* they are not far */
    /* they hear each other, and nobody here */
    {FLAT, "0.1", "1.1", "0.2mss 1.0m?a 2.0ma?", "", "1.0 2.0", 1, "silent s0"},
    {FLAT, "0.1", "1.1", "0.2msa 1.0m?a 2.0ma?", "", "1.0 2.0", 1, "some"},
    {FLAT, "0.1", "1.1", "0.2m 1.0m?a 2.0ma?", "", "1.0 2.0", 1, "some"}, /* nobody was asked */
    {THREE, "3.1", "5.1", "3.0mss 4.0mss 5.0m?a 7.0ma?", "", "5.0 7.0", 2, "silent s0"},
    {THREE, "3.1", "5.1", "3.0mss 4.0mas 5.0m?a 7.0ma?", "", "5.0 7.0", 2, "silent s3"},
    {THREE, "3.1", "5.1", "3.0mas 4.0mas 5.0m?a 7.0ma?", "", "5.0 7.0", 2, "some"},
    /* of two branches only: they hear somebody nearer to this node */
    {NESTED, "2.1", "5.1", "2.0mss 3.0maa 4.0m?s", "", "4.0 5.0", 2, "silent s2"},
    {NESTED, "2.1", "5.1", "2.0maa 3.0maa 4.0m?s", "", "4.0 5.0", 2, "some"},
    /* nobody there hears anybody of another branch: it is what joins them */
    {UNDER_ONE, "1.1", "2.1", "1.2+ss 2.0m?s 3.0ms?", "", "2.0 3.0", 1, "silent s0"},
    {UNDER_ONE, "1.1", "2.1", "1.2mss 2.0m?s 3.0ms?", "", "2.0 3.0", 1, "none"}, /* but all of it
                                                                        * may be silent for a while */
    {FLAT, "0.1", "1.1", "0.2mss 1.0m?s 2.0ms?", "", "1.0 2.0", 1, "none"}, /* nothing does */
    /* two branches: nobody of the own branch is heard here either */
    {NESTED, "2.1", "5.1", "2.0+ss 3.0mss 4.0m?s", "", "4.0 5.0", 2, "silent s0"},
    /* else it is theirs, where they do not hear each other */
    {NESTED, "2.1", "5.1", "2.0mss 3.0+ss 4.0m?s", "", "4.0 5.0", 2, "silent s1"},
    {NESTED, "2.1", "5.1", "2.0mss 3.0+ss 4.0m?a", "", "4.0 5.0", 2, "none"},
    {NESTED, "2.1", "5.1", "2.0mss 3.0+ss 4.2ms?", "", "4.0", 2, "none"}, /* behind the same one */
    {DEEP, "3.1", "6.1", "3.0mss 4.0+ss 5.0m?a", "", "5.0 6.0", 2, "silent s0"},
};

/* rows: what_is_silent_on_the_data_path */
TEST_CASES(what_is_silent_on_the_data_path, COUNT(data_silences))
{
    struct lone *l = switches_new(data_silences[_i].topology, data_silences[_i].self);
    struct suspect su = suspect(l, data_silences[_i].suspect);
    struct ftree_silence s;
    char buf[40];

    answers(&su);
    add_neighbours(l, &su, data_silences[_i].neighbours);
    add_suspects(l, &su, data_silences[_i].suspects);
    add_helpers(l, data_silences[_i].helpers, data_silences[_i].far);
    s = ftree_neighbour_silence(l->ft, &su, true);
    ck_assert_msg(!strcmp(found(&s, buf), data_silences[_i].found), "row %d: %s", _i, buf);
    s = ftree_neighbour_silence(l->ft, &su, false); /* it does answer */
    ck_assert_str_eq(found(&s, buf), "none");
}

/* What was heard of the suspect itself, by path; all behind its switch are silent. */
static const struct {
    enum ftree_reach data, mgmt;
    uint8_t behind, behind_data;
} reaches[] = {
    {FTREE_REACH_NOT_ASKED, FTREE_REACH_NOT_ASKED, RULES_BEHIND_SILENT, RULES_BEHIND_NONE},
    {FTREE_REACH_SILENT, FTREE_REACH_SILENT, RULES_BEHIND_SILENT, RULES_BEHIND_NONE},
    {FTREE_REACH_UNREACHABLE, FTREE_REACH_LOCAL_DOWN, RULES_BEHIND_SILENT, RULES_BEHIND_NONE},
    {FTREE_REACH_CONNECTED, FTREE_REACH_SILENT, RULES_BEHIND_NONE, RULES_BEHIND_NONE},
    {FTREE_REACH_SILENT, FTREE_REACH_CONNECTED, RULES_BEHIND_NONE, RULES_BEHIND_NONE},
    {FTREE_REACH_SILENT, FTREE_REACH_REFUSED, RULES_BEHIND_NONE, RULES_BEHIND_NONE},
    {FTREE_REACH_SILENT, FTREE_REACH_ANSWERED, RULES_BEHIND_NONE, RULES_BEHIND_SILENT},
    {FTREE_REACH_UNREACHABLE, FTREE_REACH_ANSWERED, RULES_BEHIND_NONE, RULES_BEHIND_SILENT},
    {FTREE_REACH_CONNECTED, FTREE_REACH_ANSWERED, RULES_BEHIND_NONE, RULES_BEHIND_NONE},
    {FTREE_REACH_ANSWERED, FTREE_REACH_ANSWERED, RULES_BEHIND_NONE, RULES_BEHIND_NONE},
    {FTREE_REACH_ANSWERED, FTREE_REACH_SILENT, RULES_BEHIND_NONE, RULES_BEHIND_NONE},
};

/* rows: who_is_heard_is_not_behind_a_silent_switch */
TEST_CASES(who_is_heard_is_not_behind_a_silent_switch, COUNT(reaches))
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");

    add_neighbours(l, &su, "1.0- 1.2- 2.0+");
    su.reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT] = (uint8_t) reaches[_i].data;
    su.reach[FTREE_PATH_MGMT][FTREE_ROLE_AGENT] = (uint8_t) reaches[_i].mgmt;
    ck_assert_int_eq(ftree_neighbour_silence(l->ft, &su, false).behind, reaches[_i].behind);
    ck_assert_int_eq(ftree_neighbour_silence(l->ft, &su, true).behind, reaches[_i].behind_data);
}

TEST_CASE(who_is_known_to_have_failed_bears_no_witness)
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");
    struct ftree_silence s;

    add_neighbours(l, &su, "1.0- 2.0+");
    s = ftree_neighbour_silence(l->ft, &su, false);
    ck_assert_int_eq(s.behind, RULES_BEHIND_SILENT);
    switches_node_fails(l, switches_node(l->job.tree, "1.0", NULL));
    s = ftree_neighbour_silence(l->ft, &su, false);
    ck_assert_int_eq(s.behind, RULES_BEHIND_NONE);
}

/* Nobody has asked it since: that it is not heard says nothing. */
TEST_CASE(who_was_asked_for_an_earlier_suspect_bears_no_witness)
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");

    add_neighbours(l, &su, "1.0- 2.0+");
    neighbour(l, 0)->last_asked = su.opened - 1;
    ck_assert_int_eq(ftree_neighbour_silence(l->ft, &su, false).behind, RULES_BEHIND_NONE);
    neighbour(l, 0)->last_asked = su.opened;
    ck_assert_int_eq(ftree_neighbour_silence(l->ft, &su, false).behind, RULES_BEHIND_SILENT);
}

/* As many as there can be: all neighbours, and suspects for what is left. */
TEST_CASE(a_view_of_very_many_is_bounded)
{
    struct lone *l = switches_new("switch:4 node:100", "0.0");
    struct suspect su = suspect(l, "1.0");
    struct ftree_silence s;
    char node[24];

    add_neighbours(l, &su, "2.0+");
    for (int32_t k = 1; k < 64; k++) {
        snprintf(node, sizeof(node), "1.%d-", (int) k);
        add_neighbours(l, &su, node);
    }
    add_suspects(l, &su, "");
    for (int32_t k = 0; k < 100; k++) {
        struct suspect other;
        snprintf(node, sizeof(node), "3.%d", (int) k);
        other = suspect(l, node);
        put_suspect(l, &other);
    }
    s = ftree_neighbour_silence(l->ft, &su, false);
    ck_assert_int_eq(s.behind, RULES_BEHIND_SILENT);
    ck_assert_int_eq(s.switch_, 1);
}

TEST_CASE(without_switches_nothing_is_found)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct suspect su = {.node = 1, .deadline = FTREE_NEVER};
    struct ftree_silence s;

    put_neighbour(l, 2);
    s = ftree_neighbour_silence(l->ft, &su, false);
    ck_assert_int_eq(s.behind, RULES_BEHIND_NONE);
    ck_assert_int_eq(s.switch_, FTREE_NONE);
}

/* ---- helpers -------------------------------------------------------------------------------- */

static const struct {
    const char *topology, *self, *suspect, *neighbours;
    const char *helpers;
    int32_t far;
} helper_rows[] = {
    {FLAT, "0.1", "1.1", "0.2+ 1.0m 2.0m 3.0m", "1.0 2.0", 1},
    {FLAT, "0.1", "1.1", "1.0m 1.2m 2.0m", "1.0 2.0", 1}, /* of two branches */
    {FLAT, "0.1", "1.1", "1.0m 1.2m", "1.0 1.2", 1},
    {FLAT, "0.1", "1.1", "1.0m 1.2m 1.3m", "1.0 1.3", 1},
    {FLAT, "0.1", "1.1", "1.0- 2.0m", "2.0", 1},
    {FLAT, "0.1", "1.1", "0.2m", "", 0}, /* nobody from next door */
    {FLAT, "0.1", "1.1", "1.0- 2.0o", "", 0},
    {FLAT, "0.1", "1.1", "1.0+ 2.0m", "", 0}, /* who is far is heard: nobody need look */
    {NESTED, "2.1", "5.1", "3.0m 4.0m", "4.0", 2}, /* the farthest */
    {NESTED, "2.1", "5.1", "4.0m 3.0m", "4.0", 2},
    {NESTED, "2.1", "5.1", "3.0m 3.2m 4.0m 4.2m", "4.0 4.2", 2},
    {NESTED, "2.1", "5.1", "3.0+ 2.0+", "3.0", 1}, /* there is none farther */
};

/* rows: those_far_from_here_are_asked_to_look */
TEST_CASES(those_far_from_here_are_asked_to_look, COUNT(helper_rows))
{
    struct lone *l = switches_new(helper_rows[_i].topology, helper_rows[_i].self);
    struct suspect su = suspect(l, helper_rows[_i].suspect);
    const struct ftree_tree *t = l->job.tree;
    char name[24], all[100] = "";
    int32_t node[LONE_SENT_MAX], helper[2], helpers, far;
    struct ftree_inspect_neighbour nb;

    answers(&su);
    add_neighbours(l, &su, helper_rows[_i].neighbours);
    ftree_neighbour_indirect_probe(l->ft, su.deadline, &su);
    helpers = ftree_inspect_helpers(l->ft, 2, helper, &far);
    for (int32_t i = 0; i < helpers; i++)
        sprintf(all + strlen(all), "%s%s", i ? " " : "", switches_name(t, helper[i], name));
    ck_assert_msg(!strcmp(all, helper_rows[_i].helpers), "row %d: %s", _i, all);
    if (helpers)
        ck_assert_int_eq(far, helper_rows[_i].far);
    /* each is asked about all others, and the suspect */
    ck_assert_int_eq(lone_count(l, WIRE_INDIRECT_PROBE),
                     sent_to(l, WIRE_INDIRECT_PROBE, FTREE_PATH_MGMT, node));
    ck_assert_int_eq(lone_count(l, WIRE_INDIRECT_PROBE),
                     helpers * (ftree_inspect_neighbours(l->ft) - 1));
    for (int32_t i = 0; i < l->n_sent; i++) {
        const struct wire_indirect_probe *w = &l->sent[i].m.u.indirect_probe;
        ck_assert(ftree_inspect_neighbour(l->ft, w->target, &nb));
        ck_assert_uint_eq(w->nonce, nb.question);
        ck_assert_int_ne(w->target, l->sent[i].to.node);
    }
}

TEST_CASE(nobody_looks_where_the_suspect_is_lost_or_heard)
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");

    add_neighbours(l, &su, "1.0m 2.0m");
    ftree_neighbour_indirect_probe(l->ft, su.deadline, &su); /* it answers nowhere */
    answers(&su);
    su.reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT] = FTREE_REACH_CONNECTED;
    ftree_neighbour_indirect_probe(l->ft, su.deadline, &su);
    ck_assert_int_eq(l->n_sent, 0);
    ck_assert_int_eq(ftree_inspect_helpers(l->ft, 0, NULL, NULL), 0);
}

TEST_CASE(what_was_just_looked_at_is_not_looked_at_again)
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");
    ftree_time at = su.deadline;

    answers(&su);
    add_neighbours(l, &su, "1.0m 2.0m 0.2-");
    ftree_neighbour_indirect_probe(l->ft, at, &su);
    ck_assert_int_eq(l->n_sent, 6);
    ftree_neighbour_indirect_probe(l->ft, at + 1, &su);
    ftree_neighbour_indirect_probe(l->ft, at + 2 * ftree_rto(l->ft) - 1, &su);
    ck_assert_int_eq(l->n_sent, 6);
    add_neighbours(l, &su, "3.0-"); /* a new one */
    ftree_neighbour_indirect_probe(l->ft, at + 2, &su);
    ck_assert_int_eq(l->n_sent, 8); /* that both look at */
    ftree_neighbour_indirect_probe(l->ft, at + 2 * ftree_rto(l->ft), &su);
    ck_assert_int_eq(l->n_sent, 14); /* all but the new one, again */
}

TEST_CASE(without_memory_others_look_at_others)
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");

    answers(&su);
    add_neighbours(l, &su, "1.0m 2.0m 0.2- 3.0-"); /* it has room for four */
    l->fail_alloc_in = 1;
    ftree_neighbour_indirect_probe(l->ft, su.deadline, &su);
    ck_assert_int_eq(l->fail_alloc_in, 0);
    ck_assert_int_eq(ftree_inspect_neighbours(l->ft), 4);
    ck_assert_int_eq(l->n_sent, 6); /* not at the suspect */
}

/* What a helper (or somebody) says of the first neighbour, in this order. */
TEST_CASE(what_helpers_saw_counts_if_they_were_asked)
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");
    int32_t first = switches_node(l->job.tree, "0.2", NULL);
    struct ftree_inspect_neighbour nb;
    int32_t one, two, other, helper[2];

    add_neighbours(l, &su, "0.2-");
    add_helpers(l, "1.0 2.0", 1);
    ck_assert_int_eq(ftree_inspect_helpers(l->ft, 2, helper, NULL), 2);
    one = helper[0];
    two = helper[1];
    other = switches_node(l->job.tree, "3.0", NULL);
    ck_assert(ftree_inspect_neighbour(l->ft, first, &nb));
    const struct {
        int32_t from, target;
        uint32_t nonce;
        enum ftree_path path;
        enum ftree_reach reach;
        enum ftree_reach then[2];
    } steps[] = {
        {one, other, nb.question, FTREE_PATH_DATA, FTREE_REACH_ANSWERED, {0, 0}}, /* not asked of */
        {one, first, nb.question + 1, FTREE_PATH_DATA, FTREE_REACH_ANSWERED, {0, 0}},
        {one, first, nb.question, FTREE_PATH_MGMT, FTREE_REACH_ANSWERED, {0, 0}},
        {other, first, nb.question, FTREE_PATH_DATA, FTREE_REACH_ANSWERED, {0, 0}},
        {two, first, nb.question, FTREE_PATH_DATA, FTREE_REACH_SILENT, {0, FTREE_REACH_SILENT}},
        {one,
         first,
         nb.question,
         FTREE_PATH_DATA,
         FTREE_REACH_REFUSED,
         {FTREE_REACH_REFUSED, FTREE_REACH_SILENT}},
        {one, /* the best counts */
         first,
         nb.question,
         FTREE_PATH_DATA,
         FTREE_REACH_SILENT,
         {FTREE_REACH_REFUSED, FTREE_REACH_SILENT}},
    };
    for (int i = 0; i < COUNT(steps); i++) {
        struct wire_indirect_result s = {.nonce = steps[i].nonce,
                              .target = steps[i].target,
                              .path = (uint8_t) steps[i].path,
                              .reach = (uint8_t) steps[i].reach};
        ftree_neighbour_indirect_result(l->ft, steps[i].from, &s);
        ck_assert(ftree_inspect_neighbour(l->ft, first, &nb));
        ck_assert_msg(nb.seen[0] == steps[i].then[0] && nb.seen[1] == steps[i].then[1], "row %d",
                      i);
    }
}

/* ---- evidence -------------------------------------------------------------------------------- */

static const struct {
    const char *neighbours;
    int32_t switch_;
    bool answers;
    const char *told;
} evidences[] = {
    {"1.0- 1.2- 2.0-", 1, false, "1.0 1.2"}, /* those who are where the suspect is */
    {"1.0- 1.2m 1.3+ 2.0+", 1, false, "1.0"},
    {"1.0- 1.2m 1.3+ 2.0+", 1, true, "1.0 1.2"}, /* over data */
    {"1.0- 0.2+ 2.0- 3.0- 3.1-", 0, false, "1.0 2.0 3.0"}, /* outside; three are enough */
    {"0.2- 1.0o", 0, false, "1.0"},
    {"1.0- 2.0-", FTREE_NONE, false, "1.0 2.0"},
    {"", 1, false, ""},
};

/* rows: some_who_are_silent_with_the_suspect_are_told */
TEST_CASES(some_who_are_silent_with_the_suspect_are_told, COUNT(evidences))
{
    struct lone *l = switches_new(FLAT, "0.1");
    struct suspect su = suspect(l, "1.1");
    struct ftree_verdict v = base_verdict("switch-fault/all-behind-silent", su.node, FTREE_NONE);
    char name[24], told[100] = "";

    if (evidences[_i].answers)
        answers(&su);
    add_neighbours(l, &su, evidences[_i].neighbours);
    v.switch_ = evidences[_i].switch_;
    ftree_neighbour_add_evidence(l->ft, l->now + 7, &su, &v);
    for (int32_t i = 0; i < v.evidences; i++) {
        const struct ftree_evidence *e = &v.evidence[i];
        ck_assert_int_eq(e->source, FTREE_EVIDENCE_PROBE);
        ck_assert_int_eq(e->path, evidences[_i].answers ? FTREE_PATH_DATA : FTREE_PATHS);
        ck_assert_int_eq(e->by, l->self);
        ck_assert_int_eq(e->reach, FTREE_REACH_SILENT);
        ck_assert_uint_eq(e->at, l->now + 7);
        sprintf(told + strlen(told), "%s%s", i ? " " : "",
                switches_name(l->job.tree, e->target, name));
    }
    ck_assert_msg(!strcmp(told, evidences[_i].told), "row %d: %s", _i, told);
}

/* ---- is it over? ----------------------------------------------------------------------------- */

static const struct {
    const char *topology, *self;
    int32_t switch_;
    int32_t others; /* different ones, of 50 turns, at least */
} turns[] = {
    {FLAT, "0.1", 1, 4}, /* from outside: all of them */
    {FLAT, "1.1", 1, 10},
    {FLAT, "0.1", 0, 10},
    {NESTED, "2.1", 1, 8},
    {NESTED, "5.1", 1, 8},
    {"switch:20 node:50", "0.1", 7, 20},
    {"switch:20 node:50", "7.1", 7, 40},
    {"switch:400 node:4", "0.1", 7, 3}, /* seldom drawn: those next below the head */
    {"switch:400 node:1", "0.0", 7, 1}, /* the head alone */
};

/* rows: another_one_of_the_other_side_at_each_turn */
TEST_CASES(another_one_of_the_other_side_at_each_turn, COUNT(turns))
{
    struct lone *l = switches_new(turns[_i].topology, turns[_i].self);
    const struct ftree_tree *t = l->job.tree;
    bool inside = ftree_tree_is_behind(t, turns[_i].switch_, l->self);
    bool *asked = calloc((size_t) t->nodes, sizeof(*asked));
    int32_t others = 0;

    for (int32_t turn = 0; turn < 50; turn++) {
        int32_t node = ftree_route_beyond(l->ft, turns[_i].switch_, turn);
        REQUIRE(ftree_tree_is_behind(t, turns[_i].switch_, node) != inside);
        REQUIRE(ftree_route_beyond(l->ft, turns[_i].switch_, turn) == node);
        others += !asked[node];
        asked[node] = true;
    }
    ck_assert_msg(others >= turns[_i].others, "row %d: %d", _i, (int) others);
    free(asked);
}

/* All nodes are behind s0. */
TEST_CASE(behind_all_there_is_nobody_beyond)
{
    static const char *const selves[] = {"0.0", "0.3"};

    for (int i = 0; i < COUNT(selves); i++) {
        struct lone *l = switches_new("switch:1 node:40", selves[i]);
        for (int32_t turn = 0; turn < 50; turn++)
            ck_assert_int_eq(ftree_route_beyond(l->ft, 0, turn), FTREE_NONE);
        lone_log(l);
        switches_lose(l, 0, "switch-fault/all-behind-silent");
        lone_run(l, 100000);
        ck_assert_int_eq(lone_count(l, WIRE_PROBE), 0); /* nor asks this node itself */
        lone_free(l);
    }
}

/* The file has a switch with none of the job's nodes, and another node says that it is lost. */
TEST_CASE(behind_a_switch_without_nodes_nobody_is_asked)
{
    static const char text[] = "SwitchName=a Nodes=h0,h1\nSwitchName=b Nodes=other\n";
    static const char *const names[] = {"h0", "h1"};
    struct lone *l = lone_of(shape_star(2, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "switch-fault/all-behind-silent", 1, FTREE_NONE, 1);
    struct ftree_tree_error e;
    struct ftree_tree *tree;
    int32_t order[2];

    ck_assert_int_eq(ftree_tree_read(text, sizeof(text) - 1, names, 2, 32, &tree, order, &e),
                     FTREE_OK);
    lone_use_tree(l, tree);
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = 1;
    ck_assert_int_eq(tree->switch_head[1], FTREE_NONE);
    ck_assert_int_eq(ftree_route_beyond(l->ft, 1, 0), FTREE_NONE);
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_run(l, 100000);
    ck_assert_int_eq(lone_known(l, 0).switch_, 1);
    ck_assert_uint_eq(lone_known(l, 0).question, 0);
}
