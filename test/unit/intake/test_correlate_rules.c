/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "lone.h"
#include "stories.h"
#include "suite.h"

/* A rule base for the tests: the rules given, one fault, one strategy. */
#define BASE(rules) \
    "{ 'schema': 'faultloc-rules/1', 'name': 'test'," \
    "  'strategies': [ { 'name': 'ask', 'steps': [" \
    "    { 'ask': 'response', 'of': 'agent', 'over': 'data', 'at_rto': [0, 2] } ] } ]," \
    "  'rules': [ " rules " ]," \
    "  'models': [ { 'name': 'unknown', 'signs': [ { 'name': 'silent', 'text': 'it is silent'," \
    "    'confidence': 0.5, 'when': { 'agent': 'silent' } } ] } ]," \
    "  'well': [ { 'name': 'answers', 'text': 'it answers', 'at_once': true," \
    "    'when': { 'agent': 'answered' } } ] }"

#define THEN "'then': { 'candidates': [ { 'model': 'unknown', 'prior': 0.4 } ], 'probes': 'ask' }"

/* A symptom of this kind about `node`, told just now by `by`, at once and here. */
static void add(struct lone *l, enum ftree_symptom_kind kind, int32_t node, int32_t by)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, kind, node, FTREE_NONE, by, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_ptr_null(ftree_check(l->ft));
}

/* Node 0 of 8 with these rules, which stay the caller's. */
static struct lone *lone_using(struct ftree_rules *rules)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    ftree_use_rules(l->ft, l->now, rules);
    return l;
}

/* ---- the time window ------------------------------------------------------------------------- */

static void add_after(struct lone *l, int ms)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_CPU_USAGE, 2, FTREE_NONE, 3, 0,
                       l->now - (ftree_time) ms * FTREE_MS);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ftree_case_drop(l->ft, 2, FTREE_NONE);
}

TEST_CASE(the_window_follows_the_delays)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    lone_sleep(l, 60000);
    ck_assert_uint_eq(ftree_correlate_window(l->ft), 500 * FTREE_MS);
    add_after(l, 0);
    ck_assert_uint_eq(ftree_correlate_window(l->ft), 500 * FTREE_MS);
    add_after(l, 800); /* mean 100, deviation 200 */
    ck_assert_uint_eq(ftree_correlate_window(l->ft), (500 + 100 + 4 * 200) * FTREE_MS);
    for (int i = 0; i < 100; i++) /* all are 800 late: that is no deviation any more */
        add_after(l, 800);
    ck_assert_uint_gt(ftree_correlate_window(l->ft), 1300 * FTREE_MS - FTREE_MS);
    ck_assert_uint_lt(ftree_correlate_window(l->ft), 1300 * FTREE_MS + FTREE_MS);
    for (int i = 0; i < 100; i++)
        add_after(l, 0);
    ck_assert_uint_lt(ftree_correlate_window(l->ft), 501 * FTREE_MS);
    for (int i = 0; i < 100; i++)
        add_after(l, 50000);
    ck_assert_uint_eq(ftree_correlate_window(l->ft), 10000 * FTREE_MS);
}

/* However late it comes, a symptom is within the window that it stretches itself. */
TEST_CASE(a_late_symptom_is_not_past_the_window)
{
    static const int late[] = {0, 400, 600, 1050, 3000, 9000};

    for (int i = 0; i < COUNT(late); i++)
        for (int32_t by = 0; by < 2; by++) { /* one of its own, which went round, too */
            struct lone *l = lone_of(shape_star(8, 1), 0);
            struct ftree_symptom s;
            lone_sleep(l, 60000);
            ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, 2, 2, by, 0,
                               l->now - (ftree_time) late[i] * FTREE_MS);
            LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
            ck_assert(ftree_inspect_is_suspect(l->ft, 2));
            lone_free(l);
        }
}

TEST_CASE(a_group_that_nobody_examines_lives_for_the_window)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 0);
    ck_assert_str_eq(lone_log(l), "0 cpu-usage of n2: no rule, only counted\n");
    lone_run(l, 499);
    ck_assert(ftree_inspect_case(l->ft, 2, FTREE_NONE, NULL));
    lone_run(l, 1);
    ck_assert(!ftree_inspect_case(l->ft, 2, FTREE_NONE, NULL));
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(past_the_window_a_group_starts_anew)
{
    struct ftree_rules *rules = base_read(BASE(
        "{ 'name': 'both', 'if': [ { 'kind': 'cpu-usage' }, { 'kind': 'io-slow' } ]," THEN "}"));
    struct lone *l = lone_using(rules);

    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 0);
    lone_sleep(l, 500); /* nothing ticks: it is still there, but past */
    add(l, FTREE_SYMPTOM_IO_SLOW, 2, 0);
    ck_assert_int_eq(lone_case(l, 2).symptoms, 1);
    ck_assert_uint_eq(lone_case(l, 2).count, 1);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    lone_sleep(l, 499);
    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    lone_free(l);
    ftree_rules_free(rules);
}

#define KEEPS \
    BASE("{ 'name': 'both', 'if': [ { 'kind': 'cpu-usage', 'window_ms': 60000 }," \
         "  { 'kind': 'io-slow' } ]," THEN "}")

/* For so long a pattern asks for it: alone it is not what another one looks for. */
TEST_CASE(a_symptom_is_kept_as_long_as_a_rule_may_ask_for_it)
{
    struct ftree_rules *rules = base_read(KEEPS);
    struct lone *l = lone_using(rules);

    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 0);
    add(l, FTREE_SYMPTOM_IO_ERROR, 2, 0);
    lone_run(l, 59999);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    add(l, FTREE_SYMPTOM_IO_SLOW, 2, 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    ck_assert_int_eq(lone_case(l, 2).symptoms, 2); /* but for io-error */
    lone_free(l);
    l = lone_using(rules);
    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 0);
    lone_run(l, 60000);
    ck_assert(!ftree_inspect_case(l->ft, 2, FTREE_NONE, NULL));
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
    lone_free(l);
    ftree_rules_free(rules);
}

/* What was examined is forgotten, but for that. */
TEST_CASE(what_is_kept_is_no_reason_to_ask_again)
{
    struct ftree_rules *rules = base_read(KEEPS);
    struct lone *l = lone_using(rules);

    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 1);
    add(l, FTREE_SYMPTOM_IO_SLOW, 2, 1);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_run(l, 10000);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    ck_assert_int_eq(lone_case(l, 2).symptoms, 1);
    ck_assert_int_eq(lone_case(l, 2).candidates, 0);
    lone_run(l, 51000);
    ck_assert(!ftree_inspect_case(l->ft, 2, FTREE_NONE, NULL));
    ck_assert_int_eq(l->verdicts, 0);
    lone_free(l);
    ftree_rules_free(rules);
}

/* ---- what belongs together ------------------------------------------------------------------- */

TEST_CASE(five_hundred_equal_symptoms_are_one_group_and_a_count)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);
    struct ftree_symptom s;

    for (int i = 0; i < 500; i++) {
        add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1 + i % 7);
        if (i % 100 == 99)
            lone_run(l, 100);
    }
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 1);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    ck_assert_int_eq(lone_case(l, 2).symptoms, 1);
    ck_assert_uint_eq(lone_case(l, 2).count, 500);
    ck_assert(ftree_inspect_symptom(l->ft, 2, FTREE_SYMPTOM_PEER_STALL, &s));
    ck_assert_uint_eq(s.count, 500);
    ck_assert_int_eq(s.reporters, FTREE_REPORTERS_MAX);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* it is a witness */
    lone_run(l, 500);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_uint_eq(l->verdict[0].symptoms, 500);
}

TEST_CASE(a_count_does_not_wrap)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_CPU_USAGE, 2, FTREE_NONE, 1, l->now, l->now);
    s.count = UINT32_MAX - 1;
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_uint_eq(lone_case(l, 2).count, UINT32_MAX);
    ck_assert(ftree_inspect_symptom(l->ft, 2, FTREE_SYMPTOM_CPU_USAGE, &s));
    ck_assert_uint_eq(s.count, UINT32_MAX);
}

TEST_CASE(ranks_nic_and_link_belong_to_their_node_and_a_switch_does_not)
{
    struct lone *l = lone_of(shape_switches_of(4, 4), 0);
    struct ftree_symptom s;

    add(l, FTREE_SYMPTOM_CPU_USAGE, 4, 0);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_RESET, 4, 4, 1, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    s.about = (struct ftree_component){.kind = FTREE_KIND_LINK, 4, FTREE_NONE, FTREE_NONE};
    s.kind = FTREE_SYMPTOM_LINK_ERRORS;
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 1);
    ck_assert_int_eq(lone_case(l, 4).symptoms, 3);
    s.about = (struct ftree_component){.kind = FTREE_KIND_SWITCH, 4, FTREE_NONE, 1};
    s.kind = FTREE_SYMPTOM_CONGESTION;
    lone_log(l);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_str_eq(lone_log(l), "0 congestion of s1: no rule, only counted\n");
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 2);
    ck_assert(ftree_inspect_case(l->ft, 4, 1, NULL));
}

TEST_CASE(more_kinds_than_a_group_lists_are_counted)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    for (int kind = 0; kind < FTREE_SYMPTOM_COUNT; kind++)
        add(l, (enum ftree_symptom_kind) kind, 2, 0);
    ck_assert_int_eq(lone_case(l, 2).symptoms, CASE_SYMPTOMS_MAX);
    ck_assert_uint_eq(lone_case(l, 2).count, FTREE_SYMPTOM_COUNT);
}

/* ---- reasoning ------------------------------------------------------------------------------- */

TEST_CASE(each_rule_fires_once_and_what_it_derives_fires_others)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    l->steps = true;
    add(l, FTREE_SYMPTOM_OUT_OF_MEMORY, 2, 1);
    add(l, FTREE_SYMPTOM_OUT_OF_MEMORY, 2, 1);
    ck_assert_str_eq(lone_log(l),
                     "0   group n2: out-of-memory, 1 in all\n"
                     "0   rule killed-for-memory on n2:\n"
                     "0   rule killed-for-memory derives process-gone\n"
                     "0   rule process-gone on n2: process-crash 0.850 node-outage 0.050"
                     " node-frozen 0.020 process-stopped 0.020 unknown 0.020\n"
                     "0 suspects n2: process-gone, rule process-gone\n"
                     "0   asks n2: response of agent over all\n"
                     "0 -> n2 data+mgmt probe\n"
                     "0   group n2: out-of-memory, 2 in all\n");
    ck_assert_int_eq(lone_case(l, 2).symptoms, 2);
    ck_assert_uint_eq(lone_case(l, 2).count, 2); /* nobody saw what was derived */
}

TEST_CASE(whatever_their_order_all_that_follows_fires)
{
    struct ftree_rules *rules =
        base_read(BASE("{ 'name': 'last', 'if': [ { 'kind': 'io-slow' } ]," THEN "},"
                       "{ 'name': 'next', 'if': [ { 'kind': 'mount-silent' } ],"
                       "  'then': { 'derive': 'io-slow' } },"
                       "{ 'name': 'first', 'if': [ { 'kind': 'io-error' } ],"
                       "  'then': { 'derive': 'mount-silent' } }"));
    struct lone *l = lone_of(shape_star(8, 1), 0);

    ftree_use_rules(l->ft, l->now, rules);
    lone_log(l);
    l->steps = true;
    add(l, FTREE_SYMPTOM_IO_ERROR, 2, 1);
    ck_assert_str_eq(lone_log(l), "0   group n2: io-error, 1 in all\n"
                                  "0   rule first on n2:\n"
                                  "0   rule first derives mount-silent\n"
                                  "0   rule next on n2:\n"
                                  "0   rule next derives io-slow\n"
                                  "0   rule last on n2: unknown 0.400\n"
                                  "0 suspects n2: io-slow, rule last\n"
                                  "0   asks n2: response of agent over data\n"
                                  "0 -> n2 data probe\n");
    lone_free(l);
    ftree_rules_free(rules);
}

TEST_CASE(two_reasons_for_a_fault_add_up)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1);
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 2, "node-outage"), 200);
    add(l, FTREE_SYMPTOM_PEER_SILENT, 2, 1);
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 2, "node-outage"), 200 + 300 - 60);
    add(l, FTREE_SYMPTOM_POWER_OFF, 2, 1);
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 2, "node-outage"), 440 + 950 - 418);
}

TEST_CASE(a_pattern_counts)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_LINK_ERRORS, 2, FTREE_NONE, 1, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_int_eq(lone_case(l, 2).candidates, 0);
    s.count = 2; /* merged on its way */
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 2, "link-fault"), 300);
}

/* A symptom that fits a pattern, or just does not. */
static const struct {
    const char *pattern;
    int32_t severity, error, age_ms;
    bool fits;
} fits[] = {
    {"{ 'kind': 'io-slow' }", FTREE_SEVERITY_INFO, 0, 0, true},
    {"{ 'kind': 'io-slow' }", FTREE_SEVERITY_INFO, 5, 0, true},
    {"{ 'kind': ['io-error', 'io-slow'] }", FTREE_SEVERITY_INFO, 0, 0, true},
    {"{ 'kind': 'io-error' }", FTREE_SEVERITY_INFO, 0, 0, false},
    {"{ 'kind': 'io-slow', 'severity': 'error' }", FTREE_SEVERITY_WARNING, 0, 0, false},
    {"{ 'kind': 'io-slow', 'severity': 'error' }", FTREE_SEVERITY_ERROR, 0, 0, true},
    {"{ 'kind': 'io-slow', 'severity': 'error' }", FTREE_SEVERITY_FATAL, 0, 0, true},
    {"{ 'kind': 'io-slow', 'errno': 'EIO' }", FTREE_SEVERITY_INFO, 5, 0, true},
    {"{ 'kind': 'io-slow', 'errno': 'EIO' }", FTREE_SEVERITY_INFO, 0, 0, false},
    {"{ 'kind': 'io-slow', 'window_ms': 100 }", FTREE_SEVERITY_INFO, 0, 100, true},
    {"{ 'kind': 'io-slow', 'window_ms': 100 }", FTREE_SEVERITY_INFO, 0, 101, false},
    {"{ 'kind': 'io-slow', 'relation': 'any', 'components': 2 }", FTREE_SEVERITY_INFO, 0, 0, false},
};

TEST_CASES(a_pattern_fits, COUNT(fits))
{
    struct lone *l = lone_of(shape_star(8, 1), 0);
    struct ftree_rules *rules;
    struct ftree_symptom s;
    char text[1024];

    snprintf(text, sizeof(text), BASE("{ 'name': 'r', 'if': [ %s ]," THEN "}"), fits[_i].pattern);
    rules = base_read(text);
    ftree_use_rules(l->ft, l->now, rules);
    ftree_symptom_init(&s, FTREE_SYMPTOM_IO_SLOW, 2, FTREE_NONE, 1, 0,
                       l->now - (ftree_time) fits[_i].age_ms * FTREE_MS);
    s.severity = (uint8_t) fits[_i].severity;
    s.error = fits[_i].error;
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    ck_assert_int_eq(lone_case(l, 2).candidates, fits[_i].fits);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), fits[_i].fits);
    lone_free(l);
    ftree_rules_free(rules);
}

/* ---- relations ------------------------------------------------------------------------------- */

/* 16 nodes behind 4 switches: node 0 is the root and the head of s0, whose other nodes are 1 to 3;
 * 4, 5 and 6 are the heads of s1, s2 and s3; below 4 are 7 to 9, below 5 are 10 to 12. */
static const struct {
    const char *relation;
    int32_t node, other; /* the group's; another that was reported before */
    bool fits, fits_without_switches; /* the same with a fan-out of 2 and no tree from outside */
} relations[] = {
    {"same-component", 7, 7, true, true}, {"same-component", 7, 8, false, false},
    {"same-node", 7, 7, true, true},      {"same-node", 7, 4, false, false},
    {"same-switch", 7, 8, true, false},   {"same-switch", 7, 4, true, false},
    {"same-switch", 4, 9, true, false},   {"same-switch", 7, 10, false, false},
    {"same-switch", 7, 1, false, false},  {"same-subtree", 7, 8, true, true},
    {"same-subtree", 7, 4, true, true},   {"same-subtree", 7, 10, false, true},
    {"same-subtree", 7, 7, true, true},   {"same-subtree", 1, 2, false, false},
    {"same-subtree", 7, 3, false, true},  {"parent-of", 7, 4, true, false},
    {"parent-of", 4, 7, false, false},    {"parent-of", 7, 3, false, true},
    {"child-of", 4, 7, true, false},      {"child-of", 7, 4, false, false},
    {"child-of", 3, 7, false, true},      {"any", 7, 1, true, true},
    {"same-chain", 7, 8, false, false},
};

static bool fires(struct shape shape, const char *relation, int32_t node, int32_t other)
{
    struct lone *l = lone_of(shape, 0);
    struct ftree_rules *rules;
    char text[1024];
    bool fired;

    snprintf(text, sizeof(text),
             BASE("{ 'name': 'r', 'if': [ { 'kind': 'user-suspects' },"
                  "{ 'kind': 'io-slow', 'relation': '%s' } ]," THEN "}"),
             relation);
    rules = base_read(text);
    l->job.rules = rules;
    lone_renew(l);
    add(l, FTREE_SYMPTOM_IO_SLOW, other, 0);
    add(l, FTREE_SYMPTOM_USER_SUSPECTS, node, 0);
    fired = lone_case(l, node).candidates > 0;
    lone_free(l);
    ftree_rules_free(rules);
    return fired;
}

TEST_CASES(a_relation_is_by_the_tree, COUNT(relations))
{
    ck_assert_int_eq(fires(shape_switches_of(4, 4), relations[_i].relation, relations[_i].node,
                           relations[_i].other),
                     relations[_i].fits);
    ck_assert_int_eq(fires(shape_binary(16, 1), relations[_i].relation, relations[_i].node,
                           relations[_i].other),
                     relations[_i].fits_without_switches);
}

TEST_CASE(who_waits_for_whom_is_a_chain)
{
    struct ftree_rules *rules = base_read(
        BASE("{ 'name': 'stall', 'if': [ { 'kind': 'peer-stall' } ]," THEN "},"
             "{ 'name': 'chain', 'if': [ { 'kind': 'chained-stall' },"
             "  { 'kind': 'peer-stall', 'relation': 'same-chain' } ],"
             "  'then': { 'derive': 'user-suspects' } },"
             "{ 'name': 'end-of-chain', 'if': [ { 'kind': 'user-suspects' } ]," THEN "}"));
    struct lone *l = lone_of(shape_star(8, 1), 0);
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer = {.asked_peer = 3}};

    l->job.rules = rules;
    lone_renew(l);
    lone_stall(l, 0, 2);
    m.u.answer.nonce = ftree_inspect_question(l->ft, 2);
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* it is well, and waits for rank 3 */
    ck_assert_int_eq(lone_case(l, 2).chain, 3);
    ck_assert_str_eq(lone_log(l), "0 rank 0 stalls, waits for rank 2\n"
                                  "0 suspects n2: peer-stall, rule stall\n"
                                  "0 -> n2 data probe\n"
                                  "0 n2 is well: it answers\n"
                                  "0 suspects n3: user-suspects, rule end-of-chain\n"
                                  "0 -> n3 data probe\n");
    lone_free(l);
    ftree_rules_free(rules);
}

TEST_CASE(carriers_lost_behind_one_switch_point_at_it)
{
    struct lone *l = lone_of(shape_switches_of(4, 4), 4);

    add(l, FTREE_SYMPTOM_CARRIER_LOST, 7, 7);
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 7, "switch-fault"), 0);
    add(l, FTREE_SYMPTOM_PORT_DOWN, 8, 8); /* which derives carrier-lost */
    ck_assert_int_eq(ftree_inspect_prior(l->ft, 8, "switch-fault"), 900); /* .5 and .8 */
}

/* ---- when it is examined --------------------------------------------------------------------- */

static void answers(struct lone *l, int32_t node)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    m.u.answer.nonce = ftree_inspect_question(l->ft, node);
    lone_hear(l, node, FTREE_PATH_DATA, &m);
}

TEST_CASE(what_a_suspect_says_waits_until_it_is_cleared)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    l->steps = true;
    add(l, FTREE_SYMPTOM_PEER_STALL, 1, 0);
    lone_log(l);
    add(l, FTREE_SYMPTOM_MOUNT_SILENT, 2, 1); /* says 1, which is suspected */
    ck_assert(lone_case(l, 2).doubtful);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    lone_run(l, 800); /* longer than the window: it is not forgotten */
    add(l, FTREE_SYMPTOM_MOUNT_SILENT, 2, 1);
    ck_assert(lone_case(l, 2).doubtful);
    lone_log(l);
    answers(l, 1);
    ck_assert(!lone_case(l, 2).doubtful);
    ck_assert_str_eq(lone_log(l), "800 n1 is well: its agent answers\n"
                                  "800 suspects n2: mount-silent, rule file-system-in-trouble\n"
                                  "800   asks n2: response of agent over all\n"
                                  "800 -> n2 data+mgmt probe\n");
}

TEST_CASE(who_is_not_suspected_vouches_for_who_is)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_PEER_STALL, 1, 0);
    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1);
    ck_assert(lone_case(l, 2).doubtful);
    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 3);
    ck_assert(!lone_case(l, 2).doubtful);
    ck_assert(ftree_inspect_is_suspect(l->ft, 2));
}

TEST_CASE(a_verdict_on_the_reporter_ends_the_waiting)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);
    struct ftree_verdict v;

    add(l, FTREE_SYMPTOM_PEER_STALL, 1, 0);
    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1);
    v = lone_verdict(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 3);
    lone_told(l, 3, WIRE_VERDICT_UP, &v); /* decided by another */
    ck_assert(!ftree_inspect_is_suspect(l->ft, 1));
    ck_assert(ftree_inspect_is_suspect(l->ft, 2));
}

TEST_CASE(found_well_it_has_a_moment_of_quiet)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1);
    lone_run(l, 10);
    answers(l, 2);
    lone_log(l);
    for (int i = 0; i < 4; i++) {
        lone_run(l, 100);
        add(l, FTREE_SYMPTOM_PEER_STALL, 2, 3);
        ck_assert(lone_case(l, 2).again);
    }
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 99);
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 1); /* half a stall limit is over */
    ck_assert_str_eq(lone_log(l), "510 suspects n2: peer-stall, rule stalled-peer\n"
                                  "510 -> n2 data+mgmt probe\n");
    ck_assert_uint_eq(lone_case(l, 2).count, 5);
    answers(l, 2);
    lone_run(l, 5000);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
}

/* A launcher does not say again that it has lost a node: an answer from the node's last moment is
 * not all that is heard of it. */
TEST_CASE(what_is_said_once_is_asked_about_twice)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_PROXY_LOST, 2, 1);
    answers(l, 2);
    lone_log(l);
    lone_run(l, 499);
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "500 suspects n2: proxy-lost, rule launcher-lost-proxy\n"
                                  "500 -> n2 data+mgmt probe\n");
    answers(l, 2);
    lone_log(l);
    lone_run(l, 5000);
    ck_assert_str_eq(lone_log(l), "");
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
}

TEST_CASE(the_own_node_is_not_asked)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_TEMPERATURE, 0, 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    lone_run(l, 5000);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
}

TEST_CASE(without_memory_a_group_is_left_out)
{
    struct lone *l = lone_of(shape_star(8, 1), 0);

    l->fail_alloc_in = 1;
    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
    add(l, FTREE_SYMPTOM_PEER_STALL, 2, 1);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
}

/* ---- other rules ----------------------------------------------------------------------------- */

TEST_CASE(other_rules_ask_otherwise)
{
    struct ftree_rules *rules =
        base_read(BASE("{ 'name': 'mine', 'if': [ { 'kind': 'peer-stall' } ]," THEN "}"));
    struct lone *l = lone_of(shape_star(8, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 100);
    lone_log(l);
    ftree_use_rules(l->ft, l->now, rules);
    ftree_use_rules(l->ft, l->now, rules); /* the same are no others */
    ck_assert_ptr_null(ftree_check(l->ft));
    lone_run(l, 799);
    ck_assert_int_eq(l->verdicts, 0);
    lone_run(l, 1);
    EXPECT_STORY(lone_log(l));
    ck_assert_str_eq(l->verdict[0].raised_by, "mine");
    lone_free(l);
    ftree_rules_free(rules);
}

TEST_CASE(rules_that_do_not_ask_end_the_asking)
{
    struct ftree_rules *rules =
        base_read(BASE("{ 'name': 'other', 'if': [ { 'kind': 'io-slow' } ]," THEN "}"));
    struct lone *l = lone_of(shape_star(8, 1), 0);

    lone_stall(l, 0, 2);
    add(l, FTREE_SYMPTOM_PEER_SILENT, 3, 1);
    add(l, FTREE_SYMPTOM_IO_SLOW, 3, 1);
    lone_log(l);
    ftree_use_rules(l->ft, l->now, rules);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l), "0 uses the rules test\n"
                                  "0 n2 is well: no rule asks about it any more\n"
                                  "0 -> n3 data probe\n");
    ck_assert(!ftree_inspect_is_suspect(l->ft, 2));
    ck_assert(ftree_inspect_is_suspect(l->ft, 3));
    ftree_use_rules(l->ft, l->now, base_rules()); /* and back: it has a moment of quiet */
    lone_run(l, 600);
    ck_assert(ftree_inspect_is_suspect(l->ft, 2));
    lone_free(l);
    ftree_rules_free(rules);
}

TEST_CASE(a_rule_that_was_missing_examines_what_was_only_counted)
{
    struct ftree_rules *rules =
        base_read(BASE("{ 'name': 'busy', 'if': [ { 'kind': 'cpu-usage' } ]," THEN "}"));
    struct lone *l = lone_of(shape_star(8, 1), 0);

    add(l, FTREE_SYMPTOM_CPU_USAGE, 2, 1);
    lone_run(l, 100);
    lone_log(l);
    ftree_use_rules(l->ft, l->now, rules);
    ck_assert_str_eq(lone_log(l), "100 uses the rules test\n"
                                  "100 suspects n2: cpu-usage, rule busy\n"
                                  "100 -> n2 data probe\n");
    lone_free(l);
    ftree_rules_free(rules);
}

/* Whatever a group is doing when the rules change. */
TEST_CASE(rules_may_change_at_any_time)
{
    struct ftree_rules *none =
        base_read(BASE("{ 'name': 'other', 'if': [ { 'kind': 'io-slow' } ]," THEN "}"));
    struct lone *l = lone_of(shape_star(8, 1), 0);

    for (int i = 0; i < 200; i++) {
        if (i % 5 == 0)
            add(l, FTREE_SYMPTOM_PEER_STALL, 1 + i % 7, i % 8);
        if (i % 3 == 0)
            add(l, FTREE_SYMPTOM_IO_SLOW, 1 + i % 4, i % 8);
        for (int32_t node = 1; node < 8 && i % 8 == 0; node++)
            if (ftree_inspect_is_suspect(l->ft, node)) {
                answers(l, node);
                break;
            }
        ftree_use_rules(l->ft, l->now, i % 2 ? none : base_rules());
        ck_assert_ptr_null(ftree_check(l->ft));
        lone_run(l, i * 37 % 200);
        l->n_sent = 0;
    }
    lone_free(l);
    ftree_rules_free(none);
}
