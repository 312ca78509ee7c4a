/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

#include <math.h>
#include <string.h>

/* Node 0 asks about node 2 of four. */
static struct lone *asking(int32_t ppn)
{
    struct lone *l = lone_of(shape_star(4, ppn), 0);

    lone_stall(l, 0, 2 * ppn);
    return l;
}

static const char *fact(struct lone *l, bool at_end, enum rules_fact f)
{
    struct rules_facts facts;

    ck_assert(ftree_inspect_facts(l->ft, l->job.nodes > 2 ? 2 : 1, at_end, &facts));
    return ftree_rules_value_name(f, facts.value[f]);
}

static void states(struct lone *l, const struct ftree_node_state *s)
{
    struct wire_message m = {.type = WIRE_STATE, .u.state = {.state = *s}};

    m.u.state.nonce = ftree_inspect_question(l->ft, 2);
    lone_hear(l, 2, FTREE_PATH_MGMT, &m);
}

#define IS(l, f, value) ck_assert_str_eq(fact((l), false, RULES_FACT_##f), value)
#define IS_AT_END(l, f, value) ck_assert_str_eq(fact((l), true, RULES_FACT_##f), value)

/* ---- what asking came to --------------------------------------------------------------------- */

TEST_CASE(nothing_is_known_at_first)
{
    struct lone *l = asking(1);

    IS(l, AGENT, "not-asked");
    IS(l, DEPUTY, "not-asked");
    IS(l, DATA, "not-asked");
    IS(l, WITNESSED, "none");
    IS(l, DATA_WITNESSED, "no");
    IS(l, OTHERS, "yes");
    IS(l, OWN_SIDE, "up");
    IS(l, LAUNCHER, "none");
    IS(l, TRANSPORT, "none");
    IS(l, PROCESS, "none");
    IS(l, SEEN_BY, "nobody");
    IS(l, LINK, "unknown");
    IS(l, STATE_KNOWN, "no");
    IS(l, DEPUTY_CONNECTS, "no");
}

TEST_CASE(who_was_asked_and_says_nothing_is_silent_at_the_end)
{
    struct lone *l = asking(2);

    IS(l, AGENT, "not-asked"); /* the answer is on its way */
    IS_AT_END(l, AGENT, "silent");
    IS_AT_END(l, DATA, "silent");
    IS_AT_END(l, MAIN, "silent");
    IS_AT_END(l, DEPUTY, "not-asked");
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 150); /* so the deputy is asked, too */
    IS_AT_END(l, DEPUTY, "silent");
}

TEST_CASE(the_best_over_all_paths_counts)
{
    struct lone *l = asking(2);

    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 113);
    IS(l, AGENT, "unreachable");
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    IS(l, AGENT, "connected");
    IS(l, DATA, "unreachable");
    IS(l, MAIN, "unreachable");
    IS(l, MGMT, "connected");
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_DEPUTY, FTREE_REACH_CONNECTED, 0);
    IS(l, DEPUTY, "connected");
    IS(l, DATA, "connected"); /* the agent's connection was lost there, as packets may be */
    IS(l, DEPUTY_CONNECTS, "yes");
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_DEPUTY, FTREE_REACH_REFUSED, 111);
    IS(l, DEPUTY, "refused");
    IS(l, DEPUTY_CONNECTS, "yes");
}

TEST_CASE(paths_that_there_are_not)
{
    struct lone *l = asking(1);

    l->job.has_path[FTREE_PATH_DATA] = false;
    IS_AT_END(l, DATA, "no-path");
    IS_AT_END(l, MAIN, "silent");
    l->job.has_path[FTREE_PATH_MGMT] = false;
    IS_AT_END(l, MGMT, "no-path");
    IS_AT_END(l, MAIN, "no-path");
    IS_AT_END(l, AGENT, "no-path");
    IS_AT_END(l, DEPUTY, "no-path");
    IS_AT_END(l, OWN_SIDE, "down");
}

TEST_CASE(the_own_side_is_down_where_every_path_says_so)
{
    struct lone *l = asking(1);

    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 101);
    IS(l, OWN_SIDE, "up");
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 101);
    IS(l, OWN_SIDE, "down");
}

/* ---- what is around it ----------------------------------------------------------------------- */

TEST_CASE(another_node_is_a_witness_for_its_path)
{
    struct lone *l = asking(1);

    lone_run(l, 10);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0); /* itself */
    IS(l, WITNESSED, "none");
    lone_reach(l, 1, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 113);
    IS(l, WITNESSED, "none");
    lone_reach(l, 1, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    IS(l, WITNESSED, "none"); /* before the suspect was asked anew */
    lone_run(l, 200);
    IS(l, WITNESSED, "one");
    IS(l, DATA_WITNESSED, "no");
    lone_reach(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 300);
    IS(l, WITNESSED, "both");
    IS(l, DATA_WITNESSED, "yes");
}

TEST_CASE(what_was_heard_before_it_was_suspected_is_no_witness)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_sleep(l, 1);
    lone_stall(l, 0, 2);
    IS(l, WITNESSED, "none");
}

TEST_CASE(whether_there_are_others_to_be_heard)
{
    struct lone *l = lone_of(shape_star(2, 1), 0);
    struct ftree_verdict v;

    lone_stall(l, 0, 1);
    IS(l, OTHERS, "no");
    lone_free(l);
    l = asking(1);
    for (int32_t n = 1; n < 4; n += 2) {
        IS(l, OTHERS, "yes");
        v = lone_verdict(l, "node-outage/both-paths-silent", n, FTREE_NONE, 0);
        ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    }
    IS(l, OTHERS, "no");
}

/* ---- its processes --------------------------------------------------------------------------- */

static const struct {
    uint8_t phase;
    char proc_state;
    const char *process;
} processes[] = {
    {FTREE_PHASE_OUTSIDE, 'R', "running"}, {FTREE_PHASE_OUTSIDE, 0, "running"},
    {FTREE_PHASE_WAITING, 'S', "running"}, {FTREE_PHASE_WAITING, 'T', "stopped"},
    {FTREE_PHASE_INSIDE, 't', "traced"},   {FTREE_PHASE_OUTSIDE, 'D', "disk-sleep"},
    {FTREE_PHASE_GONE, 0, "gone"},         {FTREE_PHASE_GONE, 'T', "gone"},
    {FTREE_PHASE_OUTSIDE, 'X', "gone"},    {FTREE_PHASE_OUTSIDE, 'x', "gone"},
    {FTREE_PHASE_OUTSIDE, 'Z', "gone"},    {FTREE_PHASE_INSIDE, 'F', "stopped"},
    {FTREE_PHASE_INSIDE, 'M', "memory-limit"},
};

TEST_CASES(a_process_is_what_its_kernel_says, COUNT(processes))
{
    struct rules_facts facts;

    ftree_rules_no_facts(&facts);
    ftree_rules_process(&facts, processes[_i].phase, processes[_i].proc_state,
                        RULES_SEEN_BY_DEPUTY);
    ck_assert_str_eq(ftree_rules_value_name(RULES_FACT_PROCESS, facts.value[RULES_FACT_PROCESS]),
                     processes[_i].process);
    ck_assert_int_eq(facts.value[RULES_FACT_SEEN_BY], RULES_SEEN_BY_DEPUTY);
}

TEST_CASE(the_deputys_word_counts_before_the_agents)
{
    struct lone *l = asking(2);
    struct ftree_node_state s = {.ranks = 2, .rank = {{.rank = 4, .proc_state = 'R'},
                                                      {.rank = 5, .proc_state = 'D'}}};
    struct wire_message m = {.type = WIRE_ANSWER,
                             .u.answer = {.role = FTREE_ROLE_DEPUTY,
                                          .nonce = ftree_inspect_question(l->ft, 2),
                                          .troubles = 1,
                                          .trouble = {{.rank = 4, .proc_state = 'T'}}}};

    states(l, &s);
    IS(l, PROCESS, "disk-sleep");
    IS(l, SEEN_BY, "agent");
    lone_hear(l, 2, FTREE_PATH_MGMT, &m);
    IS(l, PROCESS, "stopped");
    IS(l, SEEN_BY, "deputy");
}

/* What a transport reports of a rank: news until a verdict says that it ended. */
TEST_CASE(a_reset_counts_until_the_ranks_end_is_known)
{
    struct lone *l = asking(2);
    struct ftree_symptom s;

    ck_assert_int_eq(ftree_facts_reset(l->ft, 2), FTREE_NONE);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_RESET, 2, 5, 0, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    IS(l, TRANSPORT, "reset");
    IS(l, LAUNCHER, "none");
    ck_assert_int_eq(ftree_facts_reset(l->ft, 2), 5);
    ck_assert_int_eq(ftree_facts_ended(l->ft, 2), FTREE_NONE);
    lone_knows(l, "process-crash/pid-gone", 2, 5, 2);
    IS(l, TRANSPORT, "none");
    ck_assert_int_eq(ftree_facts_reset(l->ft, 2), FTREE_NONE);
}

/* ---- its state ------------------------------------------------------------------------------- */

static double number(struct lone *l, enum rules_number n)
{
    struct rules_facts facts;

    ck_assert(ftree_inspect_facts(l->ft, 2, false, &facts));
    return facts.number[n];
}

#define NEAR(a, b) ck_assert_msg(fabs((a) - (b)) < 1e-9, "%s is %g, not %g", #a, (a), (b))

static const struct ftree_node_state busy = {
    .cpus = 4,
    .load_centi = 1000,
    .cpu_pressure_centi = 2550,
    .memory_pressure_centi = 100,
    .io_pressure_centi = 0,
    .memory_total = 1000,
    .memory_available = 250,
    .swap_total = 200,
    .swap_free = 50,
    .frequency_max_mhz = 1200,
    .frequency_nominal_mhz = 2400,
    .throttles = 7,
    .link = FTREE_LINK_UP,
    .link_errors = 3,
    .link_drops = 70,
    .losses = "eth0: 41 rx_crc_errors_phy in 12 s",
};

TEST_CASE(a_state_is_numbers)
{
    struct lone *l = asking(1);

    for (int i = 0; i < RULES_NUMBER_COUNT; i++)
        ck_assert(isnan(number(l, (enum rules_number) i)));
    states(l, &busy);
    NEAR(number(l, RULES_NUMBER_LOAD), 2.5);
    NEAR(number(l, RULES_NUMBER_CPU_PRESSURE), 25.5);
    NEAR(number(l, RULES_NUMBER_MEMORY_PRESSURE), 1.0);
    NEAR(number(l, RULES_NUMBER_IO_PRESSURE), 0.0);
    NEAR(number(l, RULES_NUMBER_MEMORY_AVAILABLE), 25.0);
    NEAR(number(l, RULES_NUMBER_SWAP_USED), 75.0);
    NEAR(number(l, RULES_NUMBER_FREQUENCY), 50.0);
    NEAR(number(l, RULES_NUMBER_THROTTLES), 7.0);
    NEAR(number(l, RULES_NUMBER_LINK_ERRORS), 3.0);
    NEAR(number(l, RULES_NUMBER_LINK_DROPS), 70.0);
    IS(l, LINK, "up");
    IS(l, STATE_KNOWN, "yes");
}

TEST_CASE(what_is_not_known_is_no_number)
{
    struct lone *l = asking(1);
    struct ftree_node_state s;

    memset(&s, 0xff, sizeof(s));
    s.link = FTREE_LINK_UNKNOWN;
    s.ranks = 0;
    s.losses[0] = '\0';
    states(l, &s);
    IS(l, STATE_KNOWN, "yes");
    for (int i = 0; i < RULES_NUMBER_COUNT; i++)
        ck_assert_msg(isnan(number(l, (enum rules_number) i)), "%s", ftree_rules_number_name(i));
    s = busy;
    s.cpus = 0; /* nothing is divided by 0 */
    s.memory_total = s.swap_total = 0;
    s.frequency_nominal_mhz = 0;
    states(l, &s);
    IS(l, LINK, "up");
    ck_assert(isnan(number(l, RULES_NUMBER_LOAD)));
    ck_assert(isnan(number(l, RULES_NUMBER_MEMORY_AVAILABLE)));
    ck_assert(isnan(number(l, RULES_NUMBER_SWAP_USED)));
    ck_assert(isnan(number(l, RULES_NUMBER_FREQUENCY)));
}

TEST_CASE(a_state_of_another_question_does_not_count)
{
    struct lone *l = asking(1);
    struct wire_message m = {.type = WIRE_STATE, .u.state = {.state = busy}};

    m.u.state.nonce = ftree_inspect_question(l->ft, 2) + 1;
    lone_hear(l, 2, FTREE_PATH_MGMT, &m);
    m.id = 0;
    m.u.state.nonce--;
    lone_hear(l, 3, FTREE_PATH_MGMT, &m);
    IS(l, STATE_KNOWN, "no");
}

/* ---- evidence -------------------------------------------------------------------------------- */

TEST_CASE(evidence_tells_what_the_probes_brought)
{
    struct lone *l = asking(1);
    struct wire_message m = {.type = WIRE_LOG};
    struct ftree_verdict v = {0};

    lone_run(l, 10);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 113);
    lone_reach(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 200);
    states(l, &busy);
    m.u.log.nonce = ftree_inspect_question(l->ft, 2);
    m.u.log.log = (struct ftree_log){.rank = 2, .entries = 1};
    m.u.log.log.entry[0] = (struct ftree_log_entry){
        .type = FTREE_LOG_SEND, .at = l->now - 500 * FTREE_MS, .peer = 3, .tag = 3, .bytes = 100};
    lone_hear(l, 2, FTREE_PATH_MGMT, &m);
    lone_sleep(l, 1000);
    ck_assert(ftree_inspect_evidence(l->ft, l->now, 2, &v));
    ck_assert_int_eq(v.evidences, 4);
    ck_assert_int_eq(v.evidence[0].source, FTREE_EVIDENCE_PROBE);
    ck_assert_int_eq(v.evidence[0].target, 2);
    ck_assert_int_eq(v.evidence[0].reach, FTREE_REACH_UNREACHABLE);
    ck_assert_int_eq(v.evidence[0].error, 113);
    ck_assert_int_eq(v.evidence[1].target, 3);
    ck_assert_int_eq(v.evidence[1].reach, FTREE_REACH_CONNECTED);
    ck_assert_int_eq(v.evidence[1].error, 0);
    ck_assert_int_eq(v.evidence[2].source, FTREE_EVIDENCE_STATE);
    ck_assert_int_eq(v.evidence[2].path, FTREE_PATHS);
    ck_assert_str_eq(v.evidence[2].detail,
                     "data interface up, load/CPU 2.5, memory free % 25, memory pressure % 1");
    ck_assert_int_eq(v.evidence[3].source, FTREE_EVIDENCE_LOG);
    ck_assert_str_eq(v.evidence[3].detail,
                     "last message 1.5 s ago: send of 100 bytes, peer 3, tag 3");
}

/* A verdict about the link has what its two ends count; what others have is no matter of it. */
TEST_CASE(what_an_interface_has_lost_is_evidence)
{
    struct lone *l = asking(1);
    struct ftree_verdict v = {.class_ = FTREE_CLASS_LINK_FAULT}, other = {.class_ = FTREE_CLASS_NODE_OUTAGE};
    int32_t i = 0;

    snprintf(l->own_state.losses, sizeof(l->own_state.losses), "eth0: 3 rx_discards in 9 s");
    states(l, &busy);
    ck_assert(ftree_inspect_evidence(l->ft, l->now, 2, &v));
    while (i < v.evidences && v.evidence[i].source != FTREE_EVIDENCE_STATE)
        i++;
    ck_assert_int_eq(v.evidence[i].target, 2);
    ck_assert_str_eq(v.evidence[i].detail, "n2 eth0: 41 rx_crc_errors_phy in 12 s");
    ck_assert_int_eq(v.evidence[i + 1].target, 0);
    ck_assert_str_eq(v.evidence[i + 1].detail, "n0 eth0: 3 rx_discards in 9 s");
    ck_assert(ftree_inspect_evidence(l->ft, l->now, 2, &other));
    for (i = 0; i < other.evidences; i++)
        ck_assert_ptr_null(strstr(other.evidence[i].detail, "rx_"));
}

TEST_CASE(evidence_of_a_state_that_says_little)
{
    struct lone *l = asking(1);
    struct ftree_verdict v = {0};
    struct ftree_node_state s;

    memset(&s, 0xff, sizeof(s));
    s.link = FTREE_LINK_GONE;
    s.ranks = 0;
    s.losses[0] = '\0';
    states(l, &s);
    ck_assert(ftree_inspect_evidence(l->ft, l->now, 2, &v));
    ck_assert_str_eq(v.evidence[v.evidences - 1].detail, "data interface gone");
}
