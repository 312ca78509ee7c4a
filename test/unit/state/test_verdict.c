/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "lone.h"
#include "messages.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- making one ------------------------------------------------------------------------------ */

TEST_CASE(a_verdict_is_as_its_sign_says)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 1);
    int class_;
    const struct rules_sign *sign = base_sign("node-outage/both-paths-silent", &class_);
    struct ftree_verdict v, next;

    memset(&v, 0xff, sizeof(v));
    ftree_verdict_init(l->ft, l->now, &v, sign, class_, 3, FTREE_NONE);
    ck_assert_int_eq(v.class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_int_eq(v.kind, FTREE_KIND_NODE);
    ck_assert_int_eq(v.confidence, sign->confidence);
    ck_assert_str_eq(v.rule, "node-outage/both-paths-silent");
    ck_assert_str_eq(v.because, sign->text);
    ck_assert_str_eq(v.raised_by, "");
    ck_assert_int_eq(v.node, 3);
    ck_assert_int_eq(v.rank, FTREE_NONE);
    ck_assert_int_eq(v.switch_, FTREE_NONE);
    ck_assert_int_eq(v.fln, 1);
    ck_assert_int_eq(v.pid, 0);
    ck_assert_uint_eq(v.symptoms, 1);
    ck_assert_uint_eq(v.located, l->now);
    ck_assert_uint_eq(v.withdrawn, 0);
    ck_assert(!v.local_only);
    ck_assert_int_eq(v.evidences, 0);
    ck_assert_int_eq(v.victims.count, 0);
    ck_assert_int_eq(v.candidates, sign->candidates);
    ck_assert(v.candidate[0].ruled_out);
    ftree_verdict_init(l->ft, l->now, &next, sign, class_, 3, FTREE_NONE);
    ck_assert_uint_ne(next.id, v.id);
}

TEST_CASE(an_id_of_the_agent_before_is_not_used_again)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 1);
    int class_;
    const struct rules_sign *sign = base_sign("node-outage/both-paths-silent", &class_);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 2, 2, 1);

    v.id = 1; /* the first that a handle gives */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_verdict_init(l->ft, l->now, &v, sign, class_, 3, FTREE_NONE);
    ck_assert_uint_ne(v.id, lone_known(l, 0).id);
}

TEST_CASE(evidence_beyond_the_table_is_left_out)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);

    for (int32_t i = 0; i < 2 * FTREE_EVIDENCE_MAX; i++)
        ftree_verdict_add_evidence(&v, &(struct ftree_evidence){.target = i});
    ck_assert_int_eq(v.evidences, FTREE_EVIDENCE_MAX);
    ck_assert_int_eq(v.evidence[FTREE_EVIDENCE_MAX - 1].target, FTREE_EVIDENCE_MAX - 1);
}

/* ---- what speaks for it ---------------------------------------------------------------------- */

static void add(struct lone *l, enum ftree_symptom_kind kind, int32_t node, const char *detail)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, kind, node, FTREE_NONE, 1, l->now, l->now);
    strcpy(s.detail, detail);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_ptr_null(ftree_check(l->ft));
}

static const struct ftree_verdict *node_2_is_silent(struct lone *l)
{
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].class_, FTREE_CLASS_NODE_OUTAGE);
    return &l->verdict[0];
}

TEST_CASE(symptoms_that_the_fault_causes_speak_for_it)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    const struct ftree_verdict *v;

    add(l, FTREE_SYMPTOM_POWER_OFF, 2, "chassis power is off");
    add(l, FTREE_SYMPTOM_PEER_STALL, 2, ""); /* no word of anybody else's */
    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, "17 %"); /* nothing that it causes */
    add(l, FTREE_SYMPTOM_HEARTBEAT_LOST, 2, "");
    v = node_2_is_silent(l);
    ck_assert_int_eq(v->confidence, 997); /* of 990 twice half of the doubt */
    ck_assert_str_eq(v->raised_by, "power-is-off");
    ck_assert_uint_eq(v->symptoms, 4);
    ck_assert_int_eq(v->evidences, 6); /* both paths and their witnesses, and these: */
    ck_assert_int_eq(v->evidence[4].source, FTREE_EVIDENCE_SYMPTOM);
    ck_assert_int_eq(v->evidence[4].target, 2);
    ck_assert_int_eq(v->evidence[4].by, 1);
    ck_assert_int_eq(v->evidence[4].path, FTREE_PATHS);
    ck_assert_str_eq(v->evidence[4].detail, "power-off: chassis power is off");
    ck_assert_str_eq(v->evidence[5].detail, "heartbeat-lost");
}

/* ---- candidates that the sign does not tell apart --------------------------------------------- */

TEST_CASES(what_the_sign_leaves_open_alike_is_ordered, 4)
{
    static const struct {
        enum ftree_symptom_kind kind;
        int error; /* that was seen */
        enum ftree_class first, second;
    } rows[] = {
        {FTREE_SYMPTOM_CARRIER_LOST, 0, FTREE_CLASS_LINK_FAULT, FTREE_CLASS_NIC_FAULT},
        {FTREE_SYMPTOM_INTERFACE_DOWN, 0, FTREE_CLASS_NIC_FAULT, FTREE_CLASS_LINK_FAULT},
        {FTREE_SYMPTOM_CARRIER_LOST, ENETDOWN, FTREE_CLASS_NIC_FAULT, FTREE_CLASS_LINK_FAULT},
        {FTREE_SYMPTOM_CARRIER_LOST, EHOSTUNREACH, FTREE_CLASS_LINK_FAULT, FTREE_CLASS_NIC_FAULT}};
    struct ftree_verdict v = base_verdict("unknown/data-path-silent", 2, FTREE_NONE);
    struct lone *l = lone_of(shape_star(4, 1), 0);
    int class_;
    const struct rules_sign *sign = base_sign("unknown/data-path-silent", &class_);

    add(l, rows[_i].kind, 2, "");
    memcpy(v.candidate, sign->candidate, sizeof(v.candidate));
    v.candidates = sign->candidates;
    v.evidences = 1;
    v.evidence[0].error = (int16_t) rows[_i].error;
    ftree_verdict_order(l->ft, ftree_case_find(l->ft, 2, FTREE_NONE), &v);
    ck_assert_int_eq(v.candidates, 3);
    ck_assert_int_eq(v.candidate[0].class_, rows[_i].first);
    ck_assert_int_eq(v.candidate[1].class_, rows[_i].second);
    ck_assert_int_eq(v.candidate[2].class_, FTREE_CLASS_SWITCH_FAULT); /* less likely by the sign */
    ck_assert_int_eq(v.candidate[0].confidence, 400);
}

TEST_CASE(which_verdicts_end_the_job)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_PROCESS_STOPPED, .evidences = 1};

    v.evidence[0].proc_state = 'T';
    ck_assert(ftree_verdict_ends_job(&v));
    v.evidence[0].proc_state = 't'; /* a debugger holds it */
    ck_assert(!ftree_verdict_ends_job(&v));
    v = (struct ftree_verdict){.class_ = FTREE_CLASS_STRAGGLER};
    ck_assert(!ftree_verdict_ends_job(&v));
    v.class_ = FTREE_CLASS_NODE_OUTAGE;
    ck_assert(ftree_verdict_ends_job(&v));
    v.withdrawn = 1;
    ck_assert(!ftree_verdict_ends_job(&v));
}

TEST_CASE(nothing_is_certain)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);
    int32_t model = ftree_rules_model(base_rules(), "node-outage");
    struct ftree_symptom s;

    add(l, FTREE_SYMPTOM_POWER_OFF, 2, "");
    ck_assert(ftree_inspect_symptom(l->ft, 2, FTREE_SYMPTOM_POWER_OFF, &s));
    for (int i = 0; i < 20; i++)
        ftree_verdict_support(l->ft, l->now, &s, model, &v);
    ck_assert_int_eq(v.confidence, 999);
    ck_assert_int_eq(v.evidences, FTREE_EVIDENCE_MAX);
}

TEST_CASE(which_verdicts_end_ranks)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_PROCESS_CRASH};

    ck_assert(ftree_verdict_ends_ranks(&v));
    v.withdrawn = 1;
    ck_assert(!ftree_verdict_ends_ranks(&v));
    v = (struct ftree_verdict){.class_ = FTREE_CLASS_NODE_OUTAGE};
    ck_assert(ftree_verdict_ends_ranks(&v));
    v.class_ = FTREE_CLASS_PROCESS_STOPPED;
    ck_assert(!ftree_verdict_ends_ranks(&v));
}

TEST_CASE(a_long_word_is_cut)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    char longest[FTREE_DETAIL_MAX];

    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = 0;
    add(l, FTREE_SYMPTOM_POWER_OFF, 2, longest);
    ck_assert_uint_eq(strlen(node_2_is_silent(l)->evidence[4].detail), strlen("power-off: ") + 75);
}

/* ---- what hides it, and what it follows from ------------------------------------------------- */

static bool is_masked(const struct lone *l, const char *model, int32_t node)
{
    return ftree_verdict_is_masked(l->ft, ftree_rules_model(base_rules(), model), node);
}

static bool follows(const struct lone *l, const char *model, int32_t node)
{
    return ftree_verdict_is_consequence(l->ft, ftree_rules_model(base_rules(), model), node,
                                        FTREE_NONE);
}

TEST_CASE(a_fault_hides_others_on_its_node_while_it_lasts)
{
    struct lone *l = lone_of(shape_star(4, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "nic-fault/interface-down", 2, FTREE_NONE, 0);

    ck_assert(!is_masked(l, "link-fault", 2));
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(is_masked(l, "link-fault", 2));
    ck_assert(!is_masked(l, "link-fault", 1));
    ck_assert(!is_masked(l, "node-outage", 2));
    add(l, FTREE_SYMPTOM_CARRIER_LOST, 2, "");
    ck_assert_int_gt(lone_case(l, 2).candidates, 0);
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 2, "link-fault"), 0);
    v.withdrawn = l->now;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(!is_masked(l, "link-fault", 2));
}

TEST_CASE(one_process_does_not_hide_another)
{
    struct ftree_rules *rules = base_read(
        "{ 'schema': 'faultloc-rules/1', 'name': 'test',"
        "  'strategies': [ { 'name': 'ask', 'steps': ["
        "    { 'ask': 'response', 'of': 'agent', 'over': 'data', 'at_rto': 0 } ] } ],"
        "  'rules': [ { 'name': 'r', 'if': [ { 'kind': 'peer-stall' } ], 'then': { 'candidates': ["
        "    { 'model': 'process-crash', 'prior': 0.4 },"
        "    { 'model': 'process-stopped', 'prior': 0.4 } ], 'probes': 'ask' } } ],"
        "  'models': ["
        "    { 'name': 'process-crash', 'masks': ['process-stopped'], 'signs': [ { 'name': 'gone',"
        "      'text': 'it is gone', 'confidence': 0.9, 'when': { 'process': 'gone' } } ] },"
        "    { 'name': 'process-stopped', 'signs': [ { 'name': 't',"
        "      'text': 'it is stopped', 'confidence': 0.9, 'when': { 'process': 'stopped' } } ] } ],"
        "  'well': [ { 'name': 'answers', 'text': 'it answers', 'at_once': true,"
        "    'when': { 'agent': 'answered' } } ] }");
    int32_t stopped = ftree_rules_model(rules, "process-stopped");
    struct lone *l = lone_of(shape_star(4, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 2, 4, 0);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_use_rules(l->ft, l->now, rules);
    ck_assert(!ftree_verdict_is_masked(l->ft, stopped, 2)); /* rank 5 may be */
    v = lone_verdict(l, "process-crash/launcher-and-all-ports", 3, FTREE_NONE, 0);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(ftree_verdict_is_masked(l->ft, stopped, 3));
    lone_free(l);
    ftree_rules_free(rules);
}

TEST_CASE(a_verdict_by_rules_that_are_gone_hides_nothing)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "nic-fault/interface-down", 2, FTREE_NONE, 0);

    strcpy(v.rule, "my-nic-fault/interface-down");
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(!is_masked(l, "link-fault", 2));
    strcpy(v.rule, "nic-fault"); /* not a sign's name, but who is meant is clear */
    v.id++;
    v.class_ = FTREE_CLASS_LINK_FAULT;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(is_masked(l, "link-fault", 2));
}

TEST_CASE(a_switch_takes_the_links_behind_it_along)
{
    struct lone *l = lone_of(shape_switches_of(4, 4), 4);
    struct ftree_verdict v = lone_verdict(l, "link-fault/no-carrier", 4, FTREE_NONE, 0);
    struct wire_message m = {.type = WIRE_STATE};
    struct ftree_symptom s;

    v.class_ = FTREE_CLASS_SWITCH_FAULT;
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = 1;
    strcpy(v.rule, "switch-fault/told-by-its-manager");
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(follows(l, "link-fault", 7));
    ck_assert(follows(l, "link-fault", 4));
    ck_assert(!follows(l, "link-fault", 10));
    ck_assert(!follows(l, "node-outage", 7));
    ck_assert(!ftree_has_failed(l->ft, 4)); /* the switch has, the node has not */
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_SILENT, 7, FTREE_NONE, 4, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    m.u.state.nonce = ftree_inspect_question(l->ft, 7);
    m.u.state.state.link = FTREE_LINK_NO_CARRIER;
    lone_answer(l, 7, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_log(l);
    lone_hear(l, 7, FTREE_PATH_MGMT, &m);
    ck_assert_str_eq(lone_log(l),
                     "0 link-fault/no-carrier is a consequence of a fault that is known\n");
    ck_assert_int_eq(l->verdicts, 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

/* ---- the two sides of a switch -------------------------------------------------------------- */

/* Node `self` of twelve behind three switches (0 is the head of s0, 4 of s1, 5 of s2) knows that s1
 * is lost, or that its data path is dead. */
static struct lone *behind_switches(int32_t self, const char *sign)
{
    struct lone *l = lone_of(shape_switches_of(3, 4), self);
    struct ftree_verdict v = lone_verdict(l, sign, 4, FTREE_NONE, 0);

    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = l->job.tree->node_switch[4];
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_ptr_null(ftree_check(l->ft));
    return l;
}

static void count_child(struct ftree *ft, int32_t child, void *arg)
{
    ck_assert(!ftree_has_failed(ft, child));
    ++*(int32_t *) arg;
}

TEST_CASE(outside_a_lost_switch_all_behind_it_have_failed)
{
    struct lone *l = behind_switches(0, "switch-fault/all-behind-silent");
    const struct ftree_tree *tree = l->job.tree;
    int32_t children = 0;

    for (int32_t n = 0; n < 12; n++)
        ck_assert_int_eq(ftree_has_failed(l->ft, n), tree->node_switch[n] == tree->node_switch[4]);
    ck_assert(ftree_route_is_root(l->ft));
    ftree_route_children(l->ft, 0, count_child, &children);
    ck_assert_int_eq(children, 4); /* three behind s0, and the head of s2 */
}

TEST_CASE(behind_a_lost_switch_all_others_have_failed_and_its_head_is_root)
{
    struct lone *l = behind_switches(4, "switch-fault/nobody-outside-answers");
    const struct ftree_tree *tree = l->job.tree;
    int32_t children = 0;

    for (int32_t n = 0; n < 12; n++)
        ck_assert_int_eq(ftree_has_failed(l->ft, n), tree->node_switch[n] != tree->node_switch[4]);
    ck_assert(ftree_route_is_root(l->ft));
    ftree_route_children(l->ft, ftree_partition_top(l->ft), count_child, &children);
    ck_assert_int_eq(children, 3);
}

TEST_CASE(behind_a_lost_switch_without_its_head_the_next_below_is_root)
{
    struct lone *l = behind_switches(6, "switch-fault/nobody-outside-answers");

    ck_assert_int_eq(l->job.tree->parent[6], 4);
    ck_assert(!ftree_route_is_root(l->ft));
    lone_knows(l, "node-outage/both-paths-silent", 4, FTREE_NONE, 0);
    ck_assert(ftree_route_is_root(l->ft));
}

TEST_CASE(a_switch_without_its_data_path_takes_no_node_but_explains_waits)
{
    struct lone *l = behind_switches(0, "switch-fault/data-behind-silent");

    for (int32_t n = 0; n < 12; n++)
        ck_assert(!ftree_has_failed(l->ft, n));
    l->steps = true;
    lone_stall(l, 0, 4);
    EXPECT_LINES(lone_log(l), "0 rank 0 stalls, waits for rank 4\n"
                              "0 symptom about n4 explained by a verdict\n");
    LONE_STEP(l, ftree_intake_silent(l->ft, l->now, 4)); /* its agent is another matter */
    ck_assert(ftree_inspect_is_suspect(l->ft, 4));
}

/* A verdict on a switch of which this node is to find out whether it is over. */
static void told_of_switch(struct lone *l, int32_t switch_, int32_t node)
{
    struct ftree_verdict v =
        lone_verdict(l, "switch-fault/all-behind-silent", node, FTREE_NONE, l->self);

    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = switch_;
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    ck_assert(lone_known(l, 0).is_rechecked);
}

TEST_CASE(about_a_switch_with_none_of_the_nodes_nobody_is_asked)
{
    static const char text[] = "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\n";
    static const char *const name[] = {"a", "b"};
    struct ftree_tree_error e;
    struct ftree_tree *tree;
    struct lone *l = lone_of(shape_star(2, 1), 0);
    int32_t order[2];

    ck_assert_int_eq(ftree_tree_read(text, sizeof(text) - 1, name, 2, 32, &tree, order, &e),
                     FTREE_OK);
    lone_use_tree(l, tree);
    ck_assert_int_eq(tree->switch_head[1], FTREE_NONE);
    told_of_switch(l, 1, 1);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 0);
}

TEST_CASE(about_a_switch_with_all_nodes_nobody_is_asked)
{
    struct lone *l = lone_of(shape_one_switch_of(4), 0);

    told_of_switch(l, 0, 0);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 0);
}

static bool was_reported(const struct lone *l, int32_t to, int32_t about)
{
    bool told = false;

    for (int32_t i = 0; i < l->n_sent; i++)
        for (int32_t j = 0; l->sent[i].to.node == to && j < l->sent[i].tolds; j++)
            told = told || l->sent[i].told[j].node == about;
    return told;
}

static const struct {
    const char *sign;
    int32_t self, lost, answers, told; /* what was decided meanwhile, who is heard from beyond */
} sides[] = {{"switch-fault/all-behind-silent", 0, 3, 6, 4},
             {"switch-fault/nobody-outside-answers", 4, 6, 5, 0}};

/* While the switch was lost neither side heard of what the other decided.
 * rows: those_on_the_other_side_are_told_what_they_have_missed COUNT(sides) */
TEST_CASES(those_on_the_other_side_are_told_what_they_have_missed, COUNT(sides))
{
    struct lone *l = behind_switches(sides[_i].self, sides[_i].sign);
    struct ftree_verdict v =
        lone_verdict(l, "process-crash/pid-gone", sides[_i].lost, sides[_i].lost, sides[_i].self);
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    for (int32_t n = 0; n < 12; n++)
        if (n != sides[_i].self)
            lone_acks(l, n);
    lone_run(l, 250);
    ck_assert(!was_reported(l, sides[_i].told, sides[_i].lost));
    m.u.answer.nonce = lone_known(l, 0).question;
    ck_assert_uint_ne(m.u.answer.nonce, 0);
    lone_hear(l, sides[_i].answers, FTREE_PATH_MGMT, &m);
    ck_assert_uint_ne(lone_known(l, 0).withdrawn, 0);
    ck_assert(was_reported(l, sides[_i].told, sides[_i].lost));
}

/* ---- the verdicts known ---------------------------------------------------------------------- */

static const struct known *explaining(const struct lone *l, const struct ftree_verdict *v)
{
    struct summary o = messages_summary(v);

    return ftree_verdict_explaining(l->ft, &o);
}

TEST_CASE(which_verdicts_take_a_node)
{
    struct lone *l = lone_of(shape_tree(12, 2, 4), 0);

    lone_knows(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 0);
    lone_knows(l, "node-frozen/agent-and-deputy-silent", 2, FTREE_NONE, 0);
    lone_knows(l, "process-crash/launcher-and-all-ports", 3, FTREE_NONE, 0);
    lone_knows(l, "process-crash/pid-gone", 4, 8, 0);
    lone_knows(l, "process-stopped/state-t", 5, 11, 0);
    lone_knows(l, "unknown/data-path-silent", 6, FTREE_NONE, 0);
    lone_knows(l, "unknown/no-node-answers", 7, FTREE_NONE, 0);
    ck_assert(ftree_has_failed(l->ft, 1));
    ck_assert(ftree_has_failed(l->ft, 2));
    ck_assert(ftree_has_failed(l->ft, 3));
    ck_assert(!ftree_has_failed(l->ft, 4)); /* its other rank lives */
    ck_assert(!ftree_has_failed(l->ft, 5));
    ck_assert(!ftree_has_failed(l->ft, 6));
    ck_assert(!ftree_has_failed(l->ft, 7));
    ck_assert(!ftree_has_failed(l->ft, 8));
    ck_assert(ftree_verdict_on_rank(l->ft, 4, 8));
    ck_assert(!ftree_verdict_on_rank(l->ft, 4, 9));
    ck_assert(ftree_verdict_on_rank(l->ft, 5, 11));
    ck_assert(!ftree_verdict_on_rank(l->ft, 5, FTREE_NONE));
    lone_withdraw(l, 0);
    lone_withdraw(l, 4);
    ck_assert(!ftree_has_failed(l->ft, 1));
    ck_assert(!ftree_verdict_on_rank(l->ft, 5, 11));
    ck_assert_ptr_null(ftree_verdict_find(l->ft, FTREE_CLASS_NODE_OUTAGE, 1, FTREE_NONE));
}

/* As many as a large job may lose at once; of what is over a part is forgotten. */
TEST_CASE(the_index_finds_each_of_hundreds)
{
    struct lone *l = lone_of(shape_tree(400, 1, 32), 0);
    int32_t n[400] = {0}, forgotten = 0;

    for (uint32_t i = 0; i < 300; i++) {
        struct ftree_verdict v = base_verdict("process-crash/pid-gone", 0, 0);
        v.node = v.rank = 1 + (int32_t) (i * 7919 % 150); /* two about each of them */
        v.fln = 0;
        v.id = 1 + i;
        v.first_symptom = v.located = l->now;
        v.withdrawn = i < 150 ? l->now : 0;
        ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    }
    ck_assert_ptr_null(ftree_check(l->ft));
    for (int32_t i = 299; i >= 0; i -= i % 3 ? 1 : 2) { /* some from anywhere */
        ftree_announce_forget_one(l->ft, i);
        forgotten++;
        ck_assert_ptr_null(ftree_check(l->ft));
    }
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 300 - forgotten);
    for (int32_t i = 0; i < ftree_inspect_verdicts(l->ft); i++) {
        struct ftree_inspect_verdict v = lone_known(l, i);
        struct summary o = {.node = v.node, .fln = v.fln, .id = v.id};
        const struct known *k = ftree_verdict_by_id(l->ft, &o);
        ck_assert(k && k->v.id == v.id);
        n[v.node]++;
    }
    for (int32_t node = 0; node < 400; node++) {
        const struct known *last = NULL;
        int32_t found = 0;
        FTREE_EACH_ABOUT(k, l->ft, node) {
            ck_assert(k->v.node == node && k > last); /* by age */
            last = k;
            found++;
        }
        ck_assert_int_eq(found, n[node]);
    }
}

TEST_CASE(how_many_nodes_have_failed)
{
    struct lone *l = lone_of(shape_tree(12, 2, 4), 0);

    lone_knows(l, "process-crash/pid-gone", 4, 8, 0); /* its other rank lives */
    lone_knows(l, "node-outage/both-paths-silent", 7, FTREE_NONE, 0);
    lone_knows(l, "node-frozen/agent-and-deputy-silent", 7, FTREE_NONE, 0); /* counts once */
    lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 0); /* the own one */
    lone_knows(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 0);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, FTREE_NONE), 2);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 7), 1);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 4), 2);
}

TEST_CASE(the_only_rank_is_the_node)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 0);

    lone_knows(l, "process-crash/pid-gone", 1, 1, 0);
    lone_knows(l, "process-stopped/state-t", 2, 2, 0);
    ck_assert(ftree_has_failed(l->ft, 1));
    ck_assert(!ftree_has_failed(l->ft, 2)); /* its agent runs */
}

TEST_CASE(a_node_is_lost_with_the_last_of_its_ranks)
{
    struct lone *l = lone_of(shape_tree(4, 3, 4), 0);

    lone_knows(l, "process-crash/pid-gone", 2, 6, 0);
    lone_knows(l, "process-crash/pid-gone", 2, 8, 0);
    lone_knows(l, "process-stopped/state-t", 2, 7, 0);
    ck_assert(!ftree_has_failed(l->ft, 2));
    ck_assert_int_eq(ftree_verdict_failed(l->ft, FTREE_NONE), 0);
    lone_knows(l, "process-crash/pid-gone", 2, 7, 0);
    ck_assert(ftree_has_failed(l->ft, 2));
    ck_assert_int_eq(ftree_verdict_failed(l->ft, FTREE_NONE), 1);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 2), 0);
}

/* That a node's agent and deputy have ended ends no rank of it; but nobody passes anything on
 * there. */
/* For how long each verdict on a rank explains that somebody waits for it. */
static const struct {
    const char *sign;
    int32_t fln; /* of a verdict on rank 8 of node 4 */
    int now, later, long_after;
} waits[] = {{"process-stopped/state-t", 4, 1, 1, 0}, /* its own agent may be lost since */
             {"process-stopped/deputy-says-stopped", 0, 1, 1, 1},
             {"process-crash/pid-gone", 4, 1, 1, 1},
             {"io-hang/disk-sleep", 0, 0, 0, 0}};

TEST_CASES(for_how_long_a_wait_is_explained, COUNT(waits))
{
    struct lone *l = lone_of(shape_tree(12, 2, 4), 0);
    struct ftree_symptom s;

    lone_knows(l, waits[_i].sign, 4, 8, waits[_i].fln);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, 4, 8, 2, l->now, l->now);
    ck_assert_int_eq(ftree_verdict_explains(l->ft, &s), waits[_i].now);
    s.last = l->now + 1000 * FTREE_MS;
    ck_assert_int_eq(ftree_verdict_explains(l->ft, &s), waits[_i].later);
    s.last += FTREE_MS;
    ck_assert_int_eq(ftree_verdict_explains(l->ft, &s), waits[_i].long_after);
    s.about.rank = 9;
    ck_assert(!ftree_verdict_explains(l->ft, &s));
    s.about.rank = FTREE_NONE;
    ck_assert(!ftree_verdict_explains(l->ft, &s));
}

TEST_CASE(a_node_that_nobody_observes_passes_nothing_on)
{
    struct lone *l = lone_of(shape_tree(4, 2, 4), 1);

    lone_knows(l, "unknown/data-path-silent", 2, FTREE_NONE, 0);
    ck_assert(!ftree_has_no_agent(l->ft, 2));
    lone_knows(l, "unknown/unobserved", 3, FTREE_NONE, 0);
    ck_assert(ftree_has_no_agent(l->ft, 3));
    ck_assert(!ftree_has_failed(l->ft, 3));
    ck_assert(!ftree_peer_usable(l->ft, l->now, 3));
    lone_withdraw(l, 1);
    ck_assert(!ftree_has_no_agent(l->ft, 3));
}

TEST_CASE(what_explains_a_verdict)
{
    struct lone *l = lone_of(shape_tree(12, 2, 4), 0);
    struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 4, 8, 0);
    struct ftree_verdict other = lone_verdict(l, "process-crash/pid-gone", 4, 9, 0);
    struct ftree_verdict outage =
        lone_verdict(l, "node-outage/both-paths-silent", 4, FTREE_NONE, 0);

    ck_assert_ptr_null(explaining(l, &crash));
    lone_knows(l, "process-crash/pid-gone", 4, 8, 0);
    ck_assert_ptr_nonnull(explaining(l, &crash));
    ck_assert_ptr_null(explaining(l, &other));
    ck_assert_ptr_null(explaining(l, &outage));
    lone_knows(l, "node-outage/both-paths-silent", 4, FTREE_NONE, 0);
    ck_assert_ptr_nonnull(explaining(l, &other));
    ck_assert_ptr_eq(explaining(l, &crash),
                     ftree_verdict_find(l->ft, FTREE_CLASS_PROCESS_CRASH, 4, 8));
}

/* ---- what is kept of one --------------------------------------------------------------------- */

TEST_CASE(verdicts_share_the_names_of_their_rules)
{
    struct lone *l = lone_of(shape_tree(12, 2, 4), 0);

    lone_knows(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 0);
    lone_knows(l, "process-crash/pid-gone", 4, 8, 0);
    lone_knows(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 0);
    ck_assert_int_eq(ftree_inspect_rule_names(l->ft), 2);
    ck_assert_str_eq(lone_verdict_at(l, 0).rule, "node-outage/both-paths-silent");
    ck_assert_str_eq(lone_verdict_at(l, 1).rule, "process-crash/pid-gone");
    ck_assert_str_eq(lone_verdict_at(l, 2).rule, "node-outage/both-paths-silent");
}

TEST_CASE(of_too_many_rules_some_have_no_name)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 0);
    struct summary o = {0};
    char name[FTREE_NAME_MAX];

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "model/sign-%d", i);
        ftree_verdict_name_rule(l->ft, &o, name);
        ck_assert_str_eq(ftree_verdict_rule(l->ft, &o), i < UINT8_MAX ? name : "");
    }
    ftree_verdict_name_rule(l->ft, &o, "model/sign-254");
    ck_assert_str_eq(ftree_verdict_rule(l->ft, &o), "model/sign-254");
}

TEST_CASE(without_memory_a_rule_has_no_name)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 0);
    struct summary o = {0};

    l->fail_alloc_in = 1;
    ftree_verdict_name_rule(l->ft, &o, "model/sign");
    ck_assert_str_eq(ftree_verdict_rule(l->ft, &o), "");
    ftree_verdict_name_rule(l->ft, &o, "model/sign");
    ck_assert_str_eq(ftree_verdict_rule(l->ft, &o), "model/sign");
}

static struct ftree_verdict with_evidence(const struct lone *l)
{
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 2, 5, 1);

    ftree_verdict_add_evidence(&v, &(struct ftree_evidence){.target = 2, .by = 1});
    ftree_ranks_add(&v.victims, 0, 3);
    v.symptoms = 7;
    v.pid = 4711;
    return v;
}

TEST_CASE(of_what_is_kept_whole_all_comes_back)
{
    struct lone *l = lone_of(shape_tree(4, 2, 4), 0);
    struct ftree_verdict v = with_evidence(l), loaded;
    struct summary o = ftree_verdict_summary(l->ft, &v);
    struct known *k = ftree_announce_add(l->ft, &o);

    ftree_verdict_keep(l->ft, k, &v);
    memset(&loaded, 0, sizeof(loaded));
    ftree_verdict_load(l->ft, k, &loaded);
    ck_assert_mem_eq(&loaded, &v, sizeof(v));
    ftree_verdict_count_symptoms(k, 3);
    k->v.withdrawn = l->now; /* the summary is what counts */
    ftree_verdict_load(l->ft, k, &loaded);
    ck_assert_uint_eq(loaded.symptoms, 10);
    ck_assert_uint_eq(loaded.withdrawn, l->now);
    ftree_verdict_count_symptoms(k, UINT32_MAX);
    ck_assert_uint_eq(k->full->symptoms, UINT32_MAX);
}

TEST_CASE(of_what_is_kept_in_outline_the_rest_is_empty)
{
    struct lone *l = lone_of(shape_tree(4, 2, 4), 0);
    struct ftree_verdict v = with_evidence(l), loaded;
    struct summary o = ftree_verdict_summary(l->ft, &v);
    struct known *k = ftree_announce_add(l->ft, &o);

    l->fail_alloc_in = 1; /* no memory for the whole */
    ftree_verdict_keep(l->ft, k, &v);
    ck_assert_ptr_null(k->full);
    ftree_verdict_keep(l->ft, k, &v);
    ck_assert_ptr_nonnull(k->full);
    ftree_verdict_drop_full(l->ft, k);
    ftree_verdict_count_symptoms(k, 3); /* nobody counts here */
    memset(&loaded, 0, sizeof(loaded));
    ftree_verdict_load(l->ft, k, &loaded);
    ck_assert_str_eq(loaded.rule, "process-crash/pid-gone");
    ck_assert_int_eq(loaded.class_, v.class_);
    ck_assert_int_eq(loaded.kind, v.kind);
    ck_assert_int_eq(loaded.confidence, v.confidence);
    ck_assert_uint_eq(loaded.id, v.id);
    ck_assert_int_eq(loaded.node, 2);
    ck_assert_int_eq(loaded.rank, 5);
    ck_assert_int_eq(loaded.switch_, FTREE_NONE);
    ck_assert_int_eq(loaded.fln, 1);
    ck_assert_uint_eq(loaded.first_symptom, v.first_symptom);
    ck_assert_uint_eq(loaded.located, v.located);
    ck_assert_uint_eq(loaded.symptoms, 1);
    ck_assert_int_eq(loaded.pid, 5005); /* as the job's table says */
    ck_assert_int_eq(loaded.evidences, 0);
    ck_assert_int_eq(loaded.victims.count, 0);
    ck_assert_str_eq(loaded.because, "");
}

/* A number of a process says nothing of several ranks. */
TEST_CASE(several_ranks_have_no_process_number)
{
    struct lone *l = lone_of(shape_tree(4, 2, 4), 0);
    struct ftree_verdict v = with_evidence(l), loaded = {0};
    struct summary o;

    ftree_ranks_add(&v.component, 5, 6);
    o = ftree_verdict_summary(l->ft, &v);
    ftree_verdict_load(l->ft, ftree_announce_add(l->ft, &o), &loaded);
    ck_assert_int_eq(loaded.component.count, 2);
    ck_assert_int_eq(loaded.pid, 0);
}

TEST_CASE(without_memory_a_verdict_is_not_known)
{
    struct lone *l = lone_of(shape_tree(4, 2, 4), 0);
    struct summary o = {.node = 2, .rank = FTREE_NONE, .switch_ = FTREE_NONE, .id = 7};

    for (int nth = 1; nth <= 3; nth++) {
        l->fail_alloc_in = nth;
        ck_assert_ptr_null(ftree_announce_add(l->ft, &o));
        ck_assert_ptr_null(ftree_check(l->ft));
        lone_renew(l);
    }
    ck_assert_ptr_nonnull(ftree_announce_add(l->ft, &o));
    ck_assert_ptr_null(ftree_check(l->ft));
}

/* ---- sets of ranks --------------------------------------------------------------------------- */

static const char *ranks(const struct ftree_ranks *set, char *buf)
{
    int len = sprintf(buf, "%d:", (int) set->count);

    for (int32_t i = 0; i < set->ranges; i++)
        len += sprintf(buf + len, " %d-%d", (int) set->range[i].first, (int) set->range[i].last);
    return buf;
}

TEST_CASE(ranges_stay_sorted_and_apart)
{
    static const struct {
        int32_t first, last;
        const char *then;
    } steps[] = {
        {5, 5, "1: 5-5"},
        {7, 7, "2: 5-5 7-7"},
        {1, 2, "4: 1-2 5-5 7-7"},
        {5, 5, "4: 1-2 5-5 7-7"}, /* again */
        {6, 6, "5: 1-2 5-7"}, /* joins two */
        {3, 3, "6: 1-3 5-7"}, /* touches one */
        {0, 0, "7: 0-3 5-7"},
        {20, 30, "18: 0-3 5-7 20-30"},
        {22, 25, "18: 0-3 5-7 20-30"}, /* inside */
        {10, 20, "28: 0-3 5-7 10-30"}, /* overlaps */
        {0, 40, "41: 0-40"},
    };
    struct ftree_ranks set = {0};
    char buf[256];

    for (int i = 0; i < COUNT(steps); i++) {
        ftree_ranks_add(&set, steps[i].first, steps[i].last);
        ck_assert_str_eq(ranks(&set, buf), steps[i].then);
    }
}

TEST_CASE(a_full_set_goes_on_counting)
{
    struct ftree_ranks set = {0};

    for (int32_t i = 0; i < FTREE_RANGES_MAX; i++)
        ftree_ranks_add(&set, 10 * i, 10 * i);
    ck_assert_int_eq(set.ranges, FTREE_RANGES_MAX);
    ftree_ranks_add(&set, 5000, 5003);
    ck_assert_int_eq(set.ranges, FTREE_RANGES_MAX);
    ck_assert_int_eq(set.count, FTREE_RANGES_MAX + 4);
    ftree_ranks_add(&set, 11, 19); /* joins 10 and 20: there is room again */
    ck_assert_int_eq(set.ranges, FTREE_RANGES_MAX - 1);
    ck_assert_int_eq(set.count, FTREE_RANGES_MAX + 4 + 9);
    ftree_ranks_add(&set, 6000, 6000);
    ck_assert_int_eq(set.ranges, FTREE_RANGES_MAX);
    ck_assert_int_eq(set.count, FTREE_RANGES_MAX + 4 + 9 + 1);
}

TEST_CASE(sets_merge)
{
    struct ftree_ranks a = {0}, b = {0};
    char buf[256];

    ftree_ranks_add(&a, 0, 3);
    ftree_ranks_add(&b, 2, 6);
    ftree_ranks_add(&b, 9, 9);
    b.count += 5; /* found no room */
    ftree_ranks_merge(&a, &b);
    ck_assert_str_eq(ranks(&a, buf), "13: 0-6 9-9");
}
