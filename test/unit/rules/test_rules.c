/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules.h"

#include "ftree/base/io.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The built-in base: what its signs decide, row by row; what must hold whatever is found; and that
 * each part of it is of use. */

static struct ftree_rules *builtin(void)
{
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    ck_assert_msg(ftree_rules_read(text, len, &rules, &e) == FTREE_OK, "line %d, column %d: %s",
                  e.line, e.column, e.text);
    return rules;
}

/* ---- findings, as a suspect has them --------------------------------------------------------- */

/* What asking came to, in short. */
enum {
    NOTH = FTREE_REACH_NOT_ASKED,
    SILE = FTREE_REACH_SILENT,
    DOWN = FTREE_REACH_LOCAL_DOWN,
    UNRE = FTREE_REACH_UNREACHABLE,
    CONN = FTREE_REACH_CONNECTED,
    REFU = FTREE_REACH_REFUSED,
    ANSW = FTREE_REACH_ANSWERED
};

/* Sets of paths. */
enum {
    NONE = 0,
    DATA = 1,
    MGMT = 2,
    BOTH = 3
};

struct findings {
    int paths; /* there are */
    int agent[FTREE_PATHS], deputy[FTREE_PATHS]; /* by data, by mgmt */
    int witness; /* paths on which another node is heard */
    int others; /* there are nodes that could be heard */
    char word; /* of the deputy */
};

static struct rules_facts no_facts(void)
{
    struct rules_facts facts = {.value = {0}};

    for (int i = 0; i < RULES_NUMBER_COUNT; i++)
        facts.number[i] = NAN;
    return facts;
}

static uint8_t best(const struct findings *f, const int *reach)
{
    int most = RULES_REACH_NO_PATH;

    for (int path = 0; path < FTREE_PATHS; path++)
        if ((f->paths >> path & 1) && (most == RULES_REACH_NO_PATH || reach[path] > most))
            most = reach[path];
    return (uint8_t) most;
}

static int process_of(char word)
{
    return word == 'T'   ? RULES_PROCESS_STOPPED
           : word == 't' ? RULES_PROCESS_TRACED
           : word == 'D' ? RULES_PROCESS_DISK_SLEEP
           : word == 'X' ? RULES_PROCESS_GONE
                         : RULES_PROCESS_NONE;
}

/* In the words of a rule base. */
static struct rules_facts facts_of(const struct findings *f)
{
    int down = 0, paths = 0, witnessed = 0;
    struct rules_facts facts = no_facts();
    uint8_t *v = facts.value;

    for (int path = 0; path < FTREE_PATHS; path++) {
        if (!(f->paths >> path & 1))
            continue;
        paths++;
        down += f->agent[path] == DOWN;
        witnessed += f->witness >> path & 1;
        if (f->deputy[path] == CONN)
            v[RULES_FACT_DEPUTY_CONNECTS] = RULES_YES;
    }
    v[RULES_FACT_AGENT] = best(f, f->agent);
    v[RULES_FACT_DEPUTY] = best(f, f->deputy);
    v[RULES_FACT_DATA] = (uint8_t) (f->paths & DATA ? f->agent[0] : RULES_REACH_NO_PATH);
    v[RULES_FACT_MGMT] = (uint8_t) (f->paths & MGMT ? f->agent[1] : RULES_REACH_NO_PATH);
    v[RULES_FACT_MAIN] = v[f->paths & DATA ? RULES_FACT_DATA : RULES_FACT_MGMT];
    v[RULES_FACT_WITNESSED] = (uint8_t) witnessed;
    v[RULES_FACT_DATA_WITNESSED] = f->paths & f->witness & DATA ? RULES_YES : RULES_NO;
    v[RULES_FACT_OTHERS] = f->others ? RULES_YES : RULES_NO;
    v[RULES_FACT_OWN_SIDE] = down == paths ? RULES_SIDE_DOWN : RULES_SIDE_UP;
    v[RULES_FACT_PROCESS] = (uint8_t) process_of(f->word);
    v[RULES_FACT_SEEN_BY] = f->word ? RULES_SEEN_BY_DEPUTY : RULES_SEEN_BY_NOBODY;
    return facts;
}

/* The candidates of a rule. */
static uint64_t models_of(const struct ftree_rules *rules, const char *rule)
{
    int32_t r = ftree_rules_rule(rules, rule);
    uint64_t models = 0;

    REQUIRE(r >= 0);
    for (int32_t i = 0; i < rules->rule[r].candidates; i++)
        models |= (uint64_t) 1 << rules->rule[r].candidate[i].model;
    return models;
}

/* ---- the decision, row by row ---------------------------------------------------------------- */

#define ALIVE(sign) "well/" sign
#define ANSWERS ALIVE("agent-answers")
#define TAKES_OVER ALIVE("deputy-answers")
#define LATE ALIVE("kernel-speaks-on-data")
#define ANOTHER ALIVE("agent-answers-another")
#define DATA_SILENT "unknown/data-path-silent"
#define HERE_ONLY "unknown/silent-from-here-only"
#define OWN_DATA "unknown/own-data-path-silent"
#define ISOLATED "unknown/no-node-answers"
#define DEPUTY_SAYS_T "process-stopped/deputy-says-stopped"
#define UNOBSERVED "unknown/unobserved"
#define ENDED_PORTS "process-crash/launcher-and-all-ports"
#define ENDED_SILENT "process-crash/launcher-and-silent-node"
#define RESET_PORTS "process-crash/reset-and-all-ports"
#define SILENT_NODE "node-frozen/agent-and-deputy-silent"
#define BOTH_SILENT "node-outage/both-paths-silent"
#define ONLY_SILENT "node-outage/only-path-silent"
#define UNWITNESSED "node-outage/silent-without-witness"

static const struct row {
    const char *what;
    struct findings f;
    const char *sign;
} rows[] = {
    /* its agent answers */
    {"on both paths", {BOTH, {ANSW, ANSW}, {NOTH, NOTH}, BOTH, 1, 0}, ANSWERS},
    {"by data", {BOTH, {ANSW, SILE}, {NOTH, NOTH}, BOTH, 1, 0}, ANSWERS},
    {"by data, mgmt refused", {BOTH, {ANSW, REFU}, {NOTH, NOTH}, BOTH, 1, 0}, ANSWERS},
    {"by the only path", {DATA, {ANSW, NOTH}, {NOTH, NOTH}, NONE, 1, 0}, ANSWERS},
    {"by the only path", {MGMT, {NOTH, ANSW}, {NOTH, NOTH}, NONE, 1, 0}, ANSWERS},
    {"unwitnessed", {BOTH, {ANSW, ANSW}, {NOTH, NOTH}, NONE, 0, 0}, ANSWERS},
    {"but deputy says T", {BOTH, {ANSW, ANSW}, {ANSW, ANSW}, BOTH, 1, 'T'}, ANSWERS},

    /* its agent answers by management only: its data path, or mine */
    {"data silent", {BOTH, {SILE, ANSW}, {NOTH, NOTH}, BOTH, 1, 0}, DATA_SILENT},
    {"unreachable", {BOTH, {UNRE, ANSW}, {NOTH, NOTH}, BOTH, 1, 0}, DATA_SILENT},
    {"two nodes", {BOTH, {SILE, ANSW}, {NOTH, NOTH}, NONE, 0, 0}, DATA_SILENT},
    {"all data silent", {BOTH, {SILE, ANSW}, {NOTH, NOTH}, MGMT, 1, 0}, OWN_DATA},
    {"my data down", {BOTH, {DOWN, ANSW}, {NOTH, NOTH}, MGMT, 1, 0}, OWN_DATA},
    {"same, two nodes", {BOTH, {DOWN, ANSW}, {NOTH, NOTH}, NONE, 0, 0}, OWN_DATA},
    {"data connects, answer lost", {BOTH, {CONN, ANSW}, {NOTH, NOTH}, BOTH, 1, 0}, LATE},
    {"data refused", {BOTH, {REFU, ANSW}, {NOTH, NOTH}, BOTH, 1, 0}, LATE},

    /* its deputy answers */
    {"says T", {BOTH, {CONN, CONN}, {ANSW, ANSW}, BOTH, 1, 'T'}, DEPUTY_SAYS_T},
    {"says t", {BOTH, {CONN, CONN}, {ANSW, ANSW}, BOTH, 1, 't'}, DEPUTY_SAYS_T},
    {"by mgmt only", {BOTH, {CONN, CONN}, {SILE, ANSW}, BOTH, 1, 'T'}, DEPUTY_SAYS_T},
    {"nobody else", {BOTH, {CONN, CONN}, {ANSW, SILE}, NONE, 0, 'T'}, DEPUTY_SAYS_T},
    {"sees no trouble", {BOTH, {CONN, CONN}, {ANSW, ANSW}, BOTH, 1, 0}, TAKES_OVER},
    {"says gone: it takes over", {BOTH, {REFU, REFU}, {ANSW, ANSW}, BOTH, 1, 'X'}, TAKES_OVER},
    {"says D", {BOTH, {CONN, CONN}, {ANSW, ANSW}, BOTH, 1, 'D'}, TAKES_OVER},

    /* its kernel speaks, nobody else does */
    {"all ports", {BOTH, {REFU, REFU}, {REFU, REFU}, BOTH, 1, 0}, UNOBSERVED},
    {"one path", {DATA, {REFU, NOTH}, {REFU, NOTH}, DATA, 1, 0}, UNOBSERVED},
    {"data silent", {BOTH, {SILE, REFU}, {SILE, REFU}, BOTH, 1, 0}, UNOBSERVED},
    {"connected before", {BOTH, {REFU, CONN}, {REFU, REFU}, BOTH, 1, 0}, UNOBSERVED},
    {"nobody else", {BOTH, {REFU, SILE}, {REFU, SILE}, NONE, 0, 0}, UNOBSERVED},
    {"deputy not asked", {BOTH, {REFU, REFU}, {NOTH, NOTH}, BOTH, 1, 0}, UNOBSERVED},
    {"deputy silent", {BOTH, {REFU, REFU}, {SILE, SILE}, BOTH, 1, 0}, UNOBSERVED},
    {"deputy connects, silent", {BOTH, {REFU, REFU}, {CONN, CONN}, BOTH, 1, 0}, SILENT_NODE},
    {"deputy connects, silent on data",
     {BOTH, {REFU, REFU}, {CONN, REFU}, BOTH, 1, 0},
     SILENT_NODE},
    {"connects", {BOTH, {CONN, CONN}, {NOTH, NOTH}, BOTH, 1, 0}, SILENT_NODE},
    {"data silent", {BOTH, {SILE, CONN}, {NOTH, NOTH}, BOTH, 1, 0}, SILENT_NODE},
    {"one path", {MGMT, {NOTH, CONN}, {NOTH, CONN}, NONE, 0, 0}, SILENT_NODE},
    {"both connect, silent", {BOTH, {CONN, CONN}, {CONN, CONN}, BOTH, 1, 0}, SILENT_NODE},
    {"deputy refused", {BOTH, {CONN, CONN}, {REFU, REFU}, BOTH, 1, 0}, SILENT_NODE},
    {"deputy silent", {BOTH, {CONN, SILE}, {SILE, SILE}, NONE, 1, 0}, SILENT_NODE},
    {"deputy's port only", {BOTH, {SILE, SILE}, {CONN, SILE}, BOTH, 1, 0}, SILENT_NODE},

    /* nothing at all */
    {"silent", {BOTH, {SILE, SILE}, {NOTH, NOTH}, BOTH, 1, 0}, BOTH_SILENT},
    {"unreachable", {BOTH, {UNRE, UNRE}, {NOTH, NOTH}, BOTH, 1, 0}, BOTH_SILENT},
    {"deputy too", {BOTH, {UNRE, SILE}, {UNRE, SILE}, BOTH, 1, 0}, BOTH_SILENT},
    {"data witnessed", {BOTH, {SILE, SILE}, {NOTH, NOTH}, DATA, 1, 0}, ONLY_SILENT},
    {"mgmt witnessed", {BOTH, {SILE, SILE}, {NOTH, NOTH}, MGMT, 1, 0}, ONLY_SILENT},
    {"my data down", {BOTH, {DOWN, SILE}, {NOTH, NOTH}, MGMT, 1, 0}, ONLY_SILENT},
    {"only path", {DATA, {SILE, NOTH}, {NOTH, NOTH}, DATA, 1, 0}, ONLY_SILENT},
    {"only path", {MGMT, {NOTH, SILE}, {NOTH, NOTH}, MGMT, 1, 0}, ONLY_SILENT},
    {"two nodes", {BOTH, {SILE, SILE}, {NOTH, NOTH}, NONE, 0, 0}, UNWITNESSED},
    {"and one path", {DATA, {SILE, NOTH}, {NOTH, NOTH}, NONE, 0, 0}, UNWITNESSED},
    {"all silent", {BOTH, {SILE, SILE}, {NOTH, NOTH}, NONE, 1, 0}, ISOLATED},
    {"and one path", {MGMT, {NOTH, SILE}, {NOTH, NOTH}, NONE, 1, 0}, ISOLATED},
    {"my sides down", {BOTH, {DOWN, DOWN}, {NOTH, NOTH}, NONE, 1, 0}, ISOLATED},
    {"and two nodes", {BOTH, {DOWN, DOWN}, {NOTH, NOTH}, NONE, 0, 0}, ISOLATED},
    {"my only side down", {DATA, {DOWN, NOTH}, {NOTH, NOTH}, NONE, 0, 0}, ISOLATED},
    {"no path at all", {NONE, {NOTH, NOTH}, {NOTH, NOTH}, NONE, 1, 0}, ISOLATED},
};

/* Whatever made the node a suspect. */
static const char *const raised_by[] = {"stalled-peer", "nobody-known-to-wait-for", "silent-agent",
                                        "netmod-cannot-reach", "netmod-was-reset"};

TEST_CASES(findings_mean, COUNT(rows))
{
    const struct row *row = &rows[_i];
    struct rules_facts facts = facts_of(&row->f);
    struct ftree_rules *rules = builtin();

    for (int i = 0; i < COUNT(raised_by); i++) {
        uint64_t models = models_of(rules, raised_by[i]);
        int32_t model;
        bool well;
        const struct rules_sign *sign =
            ftree_rules_decide(rules, &facts, models, true, &well, &model);
        ck_assert_msg(sign && !strcmp(sign->name, row->sign), "%s: %s", row->what,
                      sign ? sign->name : "nothing");
        ck_assert_int_eq(well, !strncmp(row->sign, "well/", 5));
        ck_assert_int_eq(sign->about_asker,
                         !strcmp(row->sign, OWN_DATA) || !strcmp(row->sign, ISOLATED));
        ck_assert_int_eq(model == -1, well);
    }
    ftree_rules_free(rules);
}

/* ---- signs that take more than reaching ------------------------------------------------------ */

struct setting {
    int fact, value;
};

struct number {
    int number;
    double value;
};

static const struct told {
    const char *what, *rule; /* rule NULL: all models are possible, as for what is found locally */
    bool at_end;
    struct setting set[7]; /* ends where all is 0, for "agent" is never "not-asked" here */
    struct number number[4];
    const char *sign; /* NULL: none yet */
} told[] = {
    /* the own processes */
    {"gone", NULL, true, {{RULES_FACT_PROCESS, RULES_PROCESS_GONE}, {RULES_FACT_SEEN_BY, 1}}, {{0}},
     "process-crash/pid-gone"},
    {"T", NULL, true, {{RULES_FACT_PROCESS, RULES_PROCESS_STOPPED}, {RULES_FACT_SEEN_BY, 1}}, {{0}},
     "process-stopped/state-t"},
    {"t", NULL, true, {{RULES_FACT_PROCESS, RULES_PROCESS_TRACED}, {RULES_FACT_SEEN_BY, 1}}, {{0}},
     "process-stopped/state-t"},
    {"M", NULL, true, {{RULES_FACT_PROCESS, RULES_PROCESS_MEMORY}, {RULES_FACT_SEEN_BY, 1}}, {{0}},
     "user-code-hang/memory-limit"},
    /* connections of the own ranks */
    {"stuck", NULL, true, {{RULES_FACT_CONNECTION, RULES_CONNECTION_STUCK}}, {{0}},
     "unknown/connection-stuck"},
    {"not made", NULL, true, {{RULES_FACT_CONNECTION, RULES_CONNECTION_NOT_MADE}}, {{0}},
     "unknown/connection-not-made"},
    {"silent", NULL, true, {{RULES_FACT_CONNECTION, RULES_CONNECTION_SILENT}}, {{0}},
     "unknown/connection-silent"},
    /* the fabric */
    {"fabric silent", NULL, true, {{RULES_FACT_FABRIC, RULES_FABRIC_SILENT}}, {{0}},
     "link-fault/fabric-silent"},
    {"fabric silent between two", NULL, true, {{RULES_FACT_FABRIC, RULES_FABRIC_BETWEEN}}, {{0}},
     "unknown/fabric-silent-between"},
    /* bursts of packets */
    {"nothing gets in", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_YES},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_SILENT}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "link-fault/nothing-gets-in"},
    {"nothing gets out", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_YES},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_WELL}, {RULES_FACT_WAY_IN, RULES_WAY_SILENT},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "link-fault/nothing-gets-out"},
    {"nothing gets out of here", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_NO},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_SILENT}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WORSE}}, {{0}},
     "link-fault/own-one-way"},
    {"nothing gets in here", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_NO},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_LOSSY}, {RULES_FACT_WAY_IN, RULES_WAY_SILENT},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WORSE}}, {{0}},
     "link-fault/own-one-way"},
    {"silent both ways", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_YES},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_SILENT}, {RULES_FACT_WAY_IN, RULES_WAY_SILENT},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "unknown/data-path-silent"},
    {"silent to new connections only", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_YES},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_WELL}, {RULES_FACT_WAY_IN, RULES_WAY_WELL}}, {{0}},
     NULL},
    {"the same, not elsewhere", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_YES},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_ELSEWHERE_DATA, ANSW},
      {RULES_FACT_WAY_OUT, RULES_WAY_WELL}, {RULES_FACT_WAY_IN, RULES_WAY_WELL}}, {{0}},
     NULL},
    {"the same, whoever is asked", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_NO},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_WELL}, {RULES_FACT_WAY_IN, RULES_WAY_WELL}}, {{0}},
     NULL},
    {"silent, and slow", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_DATA_WITNESSED, RULES_YES},
      {RULES_FACT_OTHERS, RULES_YES},
      {RULES_FACT_WAY_OUT, RULES_WAY_LATE}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "network-degraded/late"},
    {"lossy", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_WELL}, {RULES_FACT_WAY_IN, RULES_WAY_LOSSY},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "network-degraded/lossy"},
    {"late", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_LATE}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "network-degraded/late"},
    {"between switches", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_LATE}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_SWITCH}}, {{0}},
     "network-degraded/between-switches"},
    {"its carrier comes and goes", NULL, true,
     {{RULES_FACT_LINK, FTREE_LINK_FLAPPING}}, {{0}},
     "network-degraded/flapping"},
    {"a port that was trained low", NULL, true,
     {{RULES_FACT_LINK, FTREE_LINK_SLOW}}, {{0}},
     "network-degraded/low-speed"},
    {"small ones only", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_NO_LARGE}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     "network-degraded/large-lost"},
    {"of all", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_LOSSY}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WORSE}}, {{0}},
     "network-degraded/own"},
    {"slow is all of the network", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_LATE}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WORSE}}, {{0}},
     NULL},
    {"of two", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_LOSSY}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_UNKNOWN}}, {{0}},
     "network-degraded/either-end"},
    {"all is well", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_WELL}, {RULES_FACT_WAY_IN, RULES_WAY_WELL},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_UNKNOWN}}, {{0}},
     NULL},
    {"packets are filtered", NULL, true,
     {{RULES_FACT_WAY_OUT, RULES_WAY_SILENT}, {RULES_FACT_WAY_IN, RULES_WAY_SILENT},
      {RULES_FACT_WAYS_OF_OTHERS, RULES_WAYS_WELL}}, {{0}},
     NULL},
    {"gone, but not yet for long", NULL, false,
     {{RULES_FACT_PROCESS, RULES_PROCESS_GONE}, {RULES_FACT_SEEN_BY, 1}}, {{0}}, NULL},
    {"nothing", NULL, true, {{0}}, {{0}}, NULL},

    /* handlers, of one that is silent: BMC and switch port */
    {"no power", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_POWER, RULES_POWER_OFF}}, {{0}},
     "node-outage/power-off"},
    {"no power, port down", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_POWER, RULES_POWER_OFF},
      {RULES_FACT_PORT, RULES_PORT_DOWN}, {RULES_FACT_WITNESSED, 1}}, {{0}},
     "node-outage/power-off"},
    {"no power, and it answers", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_POWER, RULES_POWER_OFF}},
     {{0}}, "well/agent-answers"},
    {"power, port down", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_POWER, RULES_POWER_ON},
      {RULES_FACT_PORT, RULES_PORT_DOWN}, {RULES_FACT_WITNESSED, 1}}, {{0}},
     "link-fault/powered-port-down"},
    {"port switched off", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_PORT, RULES_PORT_DISABLED},
      {RULES_FACT_WITNESSED, 1}}, {{0}}, "link-fault/port-disabled"},
    {"power, port up", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_POWER, RULES_POWER_ON},
      {RULES_FACT_PORT, RULES_PORT_UP}, {RULES_FACT_WITNESSED, 1}}, {{0}},
     "node-frozen/powered-and-connected"},
    {"power, no switch asked", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_POWER, RULES_POWER_ON}, {RULES_FACT_WITNESSED, 1}},
     {{0}}, "unknown/powered-and-silent"},
    {"port down, no BMC asked", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_PORT, RULES_PORT_DOWN}, {RULES_FACT_WITNESSED, 1}},
     {{0}}, ONLY_SILENT},
    {"port up, no BMC asked", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_PORT, RULES_PORT_UP}, {RULES_FACT_WITNESSED, 1}},
     {{0}}, ONLY_SILENT},
    {"silent on both, with power and a port that is off", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_POWER, RULES_POWER_ON},
      {RULES_FACT_PORT, RULES_PORT_DISABLED}, {RULES_FACT_WITNESSED, 2}}, {{0}}, BOTH_SILENT},

    /* the launcher's word and the kernel's, where agent and deputy have ended */
    {"ended, all ports refused", "process-gone", false,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, REFU}}, {{0}}, ENDED_PORTS},
    {"daemon lost, all ports refused", "launcher-lost-proxy", false,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_LOST}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, REFU}}, {{0}}, ENDED_PORTS},
    {"ended, the deputy not asked yet", "process-gone", false,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, REFU}}, {{0}}, NULL},
    {"ended, not heard yet", "process-gone", false,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, CONN}}, {{0}}, NULL},
    {"daemon lost, deputy there", "launcher-lost-proxy", false,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_LOST}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES}}, {{0}}, NULL},
    {"daemon lost, deputy connects, silent", "launcher-lost-proxy", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_LOST}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES}}, {{0}}, SILENT_NODE},

    /* a transport's word and the kernel's */
    {"reset, all ports refused", "netmod-was-reset", true,
     {{RULES_FACT_TRANSPORT, RULES_TRANSPORT_RESET}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, REFU}}, {{0}}, RESET_PORTS},
    {"reset, and the agent has time", "netmod-was-reset", false,
     {{RULES_FACT_TRANSPORT, RULES_TRANSPORT_RESET}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, REFU}}, {{0}}, NULL},
    {"reset, the deputy is silent", "netmod-was-reset", true,
     {{RULES_FACT_TRANSPORT, RULES_TRANSPORT_RESET}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES}}, {{0}}, SILENT_NODE},
    {"reset, but the agent answers", "netmod-was-reset", true,
     {{RULES_FACT_TRANSPORT, RULES_TRANSPORT_RESET}, {RULES_FACT_AGENT, ANSW},
      {RULES_FACT_MAIN, ANSW}}, {{0}}, ANSWERS},
    {"reset, but the deputy answers", "netmod-was-reset", true,
     {{RULES_FACT_TRANSPORT, RULES_TRANSPORT_RESET}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, ANSW}}, {{0}}, TAKES_OVER},
    /* the agent answers another node: where a machine has too much to do answers are late */
    {"connects, answers another", "silent-agent", true,
     {{RULES_FACT_AGENT, CONN}, {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES},
      {RULES_FACT_ELSEWHERE, ANSW}}, {{0}}, ANOTHER},
    {"connects, deputy refused, answers another", "silent-agent", true,
     {{RULES_FACT_AGENT, CONN}, {RULES_FACT_DEPUTY, REFU}, {RULES_FACT_ELSEWHERE, ANSW}}, {{0}},
     ANOTHER},
    {"silent, deputy connects, answers another", "silent-agent", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES},
      {RULES_FACT_ELSEWHERE, ANSW}}, {{0}}, ANOTHER},
    {"answers another, not asked to the end", "silent-agent", false,
     {{RULES_FACT_AGENT, CONN}, {RULES_FACT_ELSEWHERE, ANSW}}, {{0}}, NULL},
    {"connects, and to another, too", "silent-agent", true,
     {{RULES_FACT_AGENT, CONN}, {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES},
      {RULES_FACT_ELSEWHERE, CONN}}, {{0}}, SILENT_NODE},
    {"reset, and the launcher says so, too", "netmod-was-reset", false,
     {{RULES_FACT_TRANSPORT, RULES_TRANSPORT_RESET},
      {RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, REFU}}, {{0}}, ENDED_PORTS},

    /* the launcher's word and the deputy's, or that of a kernel with nobody else to speak */
    {"both say ended", "process-gone", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, CONN},
      {RULES_FACT_DEPUTY, ANSW}, {RULES_FACT_PROCESS, RULES_PROCESS_GONE},
      {RULES_FACT_SEEN_BY, 2}}, {{0}}, "process-crash/launcher-and-deputy"},
    {"ended, no deputy left", "process-gone", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, CONN},
      {RULES_FACT_DEPUTY, REFU}}, {{0}}, ENDED_SILENT},
    {"ended, both are silent", "process-gone", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, CONN},
      {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES}}, {{0}}, ENDED_SILENT},
    {"ended, no agent left and the deputy silent", "process-gone", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, CONN}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES}}, {{0}}, ENDED_SILENT},
    {"ended, the deputy refused on one path", "process-gone", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, REFU}, {RULES_FACT_DEPUTY_CONNECTS, RULES_YES}}, {{0}}, ENDED_SILENT},
    {"ended, the deputy silent", "process-gone", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, REFU},
      {RULES_FACT_DEPUTY, SILE}}, {{0}}, ENDED_SILENT},
    {"both, but the agent has time", "process-gone", false,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_ENDED}, {RULES_FACT_AGENT, CONN},
      {RULES_FACT_DEPUTY, ANSW}, {RULES_FACT_PROCESS, RULES_PROCESS_GONE},
      {RULES_FACT_SEEN_BY, 2}}, {{0}}, NULL},
    {"the deputy alone", "process-gone", true,
     {{RULES_FACT_AGENT, CONN}, {RULES_FACT_DEPUTY, ANSW},
      {RULES_FACT_PROCESS, RULES_PROCESS_GONE}, {RULES_FACT_SEEN_BY, 2}}, {{0}}, TAKES_OVER},
    {"the daemon's end is no process's", "launcher-lost-proxy", true,
     {{RULES_FACT_LAUNCHER, RULES_LAUNCHER_LOST}, {RULES_FACT_AGENT, CONN},
      {RULES_FACT_DEPUTY, ANSW}, {RULES_FACT_PROCESS, RULES_PROCESS_GONE},
      {RULES_FACT_SEEN_BY, 2}}, {{0}}, TAKES_OVER},

    /* the data interface, told over management */
    {"down", "stalled-peer", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MAIN, SILE}, {RULES_FACT_LINK, FTREE_LINK_DOWN}}, {{0}},
     "nic-fault/interface-down"},
    {"gone", "stalled-peer", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA, UNRE},
      {RULES_FACT_MAIN, UNRE}, {RULES_FACT_LINK, FTREE_LINK_GONE}}, {{0}},
     "nic-fault/interface-gone"},
    {"no carrier", "silent-agent", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MGMT, ANSW}, {RULES_FACT_LINK, FTREE_LINK_NO_CARRIER}},
     {{0}}, "link-fault/no-carrier"},
    {"down, but data answers", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA, ANSW},
      {RULES_FACT_MAIN, ANSW}, {RULES_FACT_LINK, FTREE_LINK_DOWN}}, {{0}}, ANSWERS},
    {"up", "stalled-peer", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MAIN, SILE}, {RULES_FACT_LINK, FTREE_LINK_UP}}, {{0}}, NULL},
    {"up, at the end", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MAIN, SILE}, {RULES_FACT_LINK, FTREE_LINK_UP}}, {{0}}, DATA_SILENT},

    /* an answer is all that a stall asks for; who may be ill although it answers is asked more */
    {"answers", "stalled-peer", false, {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}}, {{0}},
     ANSWERS},
    {"answers, state not known", "short-of-memory", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}}, {{0}}, NULL},
    {"state never comes", "short-of-memory", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}}, {{0}}, ANSWERS},
    {"enough memory", "short-of-memory", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_MEMORY_AVAILABLE, 20}, {RULES_NUMBER_MEMORY_PRESSURE, 60}}, ANSWERS},
    {"no memory, no stalls", "short-of-memory", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_MEMORY_AVAILABLE, 1}, {RULES_NUMBER_MEMORY_PRESSURE, 40}}, ANSWERS},
    {"no memory", "short-of-memory", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_MEMORY_AVAILABLE, 1}, {RULES_NUMBER_MEMORY_PRESSURE, 60}},
     "straggler/memory-exhausted"},
    {"no memory, but a stall", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_MEMORY_AVAILABLE, 1}, {RULES_NUMBER_MEMORY_PRESSURE, 60}}, ANSWERS},
    {"slow clock", "too-hot", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_THROTTLES, 9}, {RULES_NUMBER_FREQUENCY, 40}, {RULES_NUMBER_LOAD, 1.1}},
     "straggler/throttled"},
    {"slow clock, idle", "too-hot", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_THROTTLES, 9}, {RULES_NUMBER_FREQUENCY, 40}, {RULES_NUMBER_LOAD, 0.1}},
     ANSWERS},
    {"a GPU failed, it answers", "failed-gpu", true, {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}},
     {{0}}, "gpu-fault/reported"},
    {"a part failed, it answers", "failing-part", true, {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}},
     {{0}}, "node-at-risk/reported"},
    {"a part failed, and its data path is silent", "failing-part", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_DATA, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_MGMT, ANSW}},
     {{0}}, NULL},
    {"a stall alone", "stalled-peer", false, {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}}, {{0}},
     ANSWERS},
    {"overload", "short-of-cpu", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_CPU_PRESSURE, 95}, {RULES_NUMBER_LOAD, 3}}, "straggler/cpu-pressure"},
    {"all CPUs busy", "short-of-cpu", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_CPU_PRESSURE, 95}, {RULES_NUMBER_LOAD, 1.5}}, ANSWERS},
    {"D, for a moment?", "file-system-in-trouble", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES},
      {RULES_FACT_PROCESS, RULES_PROCESS_DISK_SLEEP}, {RULES_FACT_SEEN_BY, 1}}, {{0}}, NULL},
    {"D", "file-system-in-trouble", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES},
      {RULES_FACT_PROCESS, RULES_PROCESS_DISK_SLEEP}, {RULES_FACT_SEEN_BY, 1}}, {{0}},
     "io-hang/disk-sleep"},

    /* what other nodes see that ask it, too */
    {"answers there", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, SILE}, {RULES_FACT_WITNESSED, 2}, {RULES_FACT_ELSEWHERE, ANSW}}, {{0}},
     HERE_ONLY},
    {"connects there", "stalled-peer", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_ELSEWHERE, CONN}}, {{0}},
     HERE_ONLY},
    {"silent there, too", "stalled-peer", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, SILE}, {RULES_FACT_WITNESSED, 2}, {RULES_FACT_ELSEWHERE, SILE}}, {{0}},
     BOTH_SILENT},
    {"answers there on data", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA_WITNESSED, 1}, {RULES_FACT_ELSEWHERE_DATA, ANSW}},
     {{0}}, HERE_ONLY},
    {"silent there on data", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA_WITNESSED, 1}, {RULES_FACT_ELSEWHERE_DATA, SILE}},
     {{0}}, DATA_SILENT},
    /* who is silent with it */
    {"all behind its switch", "user-suspects", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, SILE}, {RULES_FACT_WITNESSED, 2},
      {RULES_FACT_BEHIND, RULES_BEHIND_SILENT}}, {{0}}, "switch-fault/all-behind-silent"},
    {"all but those here", "user-suspects", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, SILE}, {RULES_FACT_WITNESSED, 2},
      {RULES_FACT_BEHIND, RULES_BEHIND_CUT_OFF}}, {{0}}, "switch-fault/nobody-outside-answers"},
    {"none of them", "user-suspects", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, SILE}, {RULES_FACT_WITNESSED, 2},
      {RULES_FACT_BEHIND, RULES_BEHIND_SOME}}, {{0}}, BOTH_SILENT},
    {"all behind, but it is heard elsewhere", "user-suspects", true,
     {{RULES_FACT_AGENT, SILE}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, SILE}, {RULES_FACT_WITNESSED, 2}, {RULES_FACT_ELSEWHERE, ANSW},
      {RULES_FACT_BEHIND, RULES_BEHIND_SILENT}}, {{0}}, HERE_ONLY},
    {"all behind, on data", "user-suspects", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA_WITNESSED, 1},
      {RULES_FACT_BEHIND_DATA, RULES_BEHIND_SILENT}}, {{0}}, "switch-fault/data-behind-silent"},
    {"not all, on data", "user-suspects", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, SILE}, {RULES_FACT_DATA, SILE},
      {RULES_FACT_MGMT, ANSW}, {RULES_FACT_DATA_WITNESSED, 1},
      {RULES_FACT_BEHIND_DATA, RULES_BEHIND_SOME}}, {{0}}, DATA_SILENT},
    /* "no route to host", as the paper has it in section 3.4: the candidates (1) to (6), in its order.
     * Of (6) power alone is told apart from outside; which of the six parts it was, its BMC and what was
     * reported before say: test_cause.c. */
    {"(1) its own NIC", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, DOWN}, {RULES_FACT_OTHERS, RULES_YES}, {RULES_FACT_OWN_SIDE, RULES_SIDE_DOWN}}, {{0}},
     ISOLATED},
    {"(2) its own cable, at the switch", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_OTHERS, RULES_YES}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP}}, {{0}},
     ISOLATED},
    {"(3) the switch", "stalls-behind-one-switch", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP},
      {RULES_FACT_BEHIND, RULES_BEHIND_SILENT}}, {{0}}, "switch-fault/all-behind-silent"},
    {"(4) its cable, at the switch, which is asked", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP},
      {RULES_FACT_POWER, RULES_POWER_ON}, {RULES_FACT_PORT, RULES_PORT_DOWN}}, {{0}},
     "link-fault/powered-port-down"},
    {"(4) and its port is switched off", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP},
      {RULES_FACT_PORT, RULES_PORT_DISABLED}}, {{0}}, "link-fault/port-disabled"},
    {"(5) its NIC, as it says itself", "netmod-cannot-reach", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, UNRE}, {RULES_FACT_DATA, UNRE}, {RULES_FACT_MGMT, ANSW},
      {RULES_FACT_LINK, FTREE_LINK_DOWN}}, {{0}}, "nic-fault/interface-down"},
    {"(6) its power", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP},
      {RULES_FACT_POWER, RULES_POWER_OFF}, {RULES_FACT_PORT, RULES_PORT_DOWN}}, {{0}}, "node-outage/power-off"},
    {"(6) its CPU, memory or disk, with power", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP},
      {RULES_FACT_POWER, RULES_POWER_ON}, {RULES_FACT_PORT, RULES_PORT_UP}}, {{0}},
     "node-frozen/powered-and-connected"},
    {"(6) its fan or temperature, while it answers", "too-hot", false,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW}, {RULES_FACT_STATE_KNOWN, RULES_YES}},
     {{RULES_NUMBER_THROTTLES, 9}, {RULES_NUMBER_FREQUENCY, 40}, {RULES_NUMBER_LOAD, 1.1}},
     "straggler/throttled"},
    {"(4), (5) or (6), nobody can be asked", "netmod-cannot-reach", true,
     {{RULES_FACT_AGENT, UNRE}, {RULES_FACT_WITNESSED, 1}, {RULES_FACT_OWN_SIDE, RULES_SIDE_UP}}, {{0}},
     "node-outage/only-path-silent"},
    {"D, no I/O in trouble", "stalled-peer", true,
     {{RULES_FACT_AGENT, ANSW}, {RULES_FACT_MAIN, ANSW},
      {RULES_FACT_PROCESS, RULES_PROCESS_DISK_SLEEP}, {RULES_FACT_SEEN_BY, 1}}, {{0}}, ANSWERS},
};

static struct rules_facts facts_told(const struct told *t)
{
    struct rules_facts facts = no_facts();

    for (int i = 0; i < COUNT(t->set) && (t->set[i].fact || t->set[i].value); i++)
        facts.value[t->set[i].fact] = (uint8_t) t->set[i].value;
    for (int i = 0; i < COUNT(t->number) && t->number[i].value > 0; i++)
        facts.number[t->number[i].number] = t->number[i].value;
    return facts;
}

TEST_CASES(what_is_told_means, COUNT(told))
{
    const struct told *t = &told[_i];
    struct rules_facts facts = facts_told(t);
    struct ftree_rules *rules = builtin();
    uint64_t models = t->rule ? models_of(rules, t->rule) : UINT64_MAX;
    int32_t model;
    bool well;
    const struct rules_sign *sign =
        ftree_rules_decide(rules, &facts, models, t->at_end, &well, &model);

    ck_assert_msg(sign ? t->sign && !strcmp(sign->name, t->sign) : !t->sign, "%s: %s", t->what,
                  sign ? sign->name : "nothing");
    ck_assert_int_eq(well, t->sign && !strncmp(t->sign, "well/", 5));
    ftree_rules_free(rules);
}

static const struct {
    uint8_t waits;
    const char *sign;
} waits[] = {
    {RULES_WAITS_NONE, NULL},
    {RULES_WAITS_SELF, "deadlock/self"},
    {RULES_WAITS_CYCLE, "deadlock/cycle"},
    {RULES_WAITS_KNOT, "deadlock/knot"},
    {RULES_WAITS_MISSING_PARTNER, "deadlock/missing-partner"},
    {RULES_WAITS_BEHIND, "collective-mismatch/behind"},
    {RULES_WAITS_DIFFERENT, "collective-mismatch/different"},
    {RULES_WAITS_AHEAD, "collective-mismatch/ahead"},
    {RULES_WAITS_UNEVEN, "collective-mismatch/uneven"},
    {RULES_WAITS_ORDER, "deadlock/order"},
    {RULES_WAITS_ABSENT, "deadlock/absent"},
    {RULES_WAITS_LIBRARY, "deadlock/library"},
};

TEST_CASES(what_ranks_wait_for_means, COUNT(waits))
{
    struct ftree_rules *rules = builtin();
    const struct rules_sign *sign;
    int32_t model;

    sign = ftree_rules_decide_waits(rules, waits[_i].waits, &model);
    if (waits[_i].sign)
        ck_assert_str_eq(sign->name, waits[_i].sign);
    else
        ck_assert_ptr_null(sign);
    ftree_rules_free(rules);
}

static const struct {
    uint8_t outside;
    struct rules_stay stay;
    const char *sign;
} outside[] = {
    {RULES_OUTSIDE_NONE, {1e9, 1e9, 1e9, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_BURNING, {1001, 1, 13, 0, 51, false, false}, "user-code-hang/burns-cpu"},
    {RULES_OUTSIDE_BURNING, {1000, 1, 13, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_BURNING, {1001, 1, 12, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_BURNING, {1001, 1, 599, 0, 50, false, false}, NULL},
    {RULES_OUTSIDE_PAUSING, {1001, 1, 13, 0, 51, false, false}, "user-code-hang/pauses"},
    {RULES_OUTSIDE_PAUSING, {1000, 1, 13, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_PAUSING, {1001, 1, 12, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_PAUSING, {1001, 1, 13, 0, 51, false, true}, "mpi-hang/burns-cpu"},
    {RULES_OUTSIDE_PAUSING, {1001, 1, 13, 0, 51, true, false}, "user-code-hang/others-go-on"},
    {RULES_OUTSIDE_PAUSING, {100, 1001, 601, 0, 0, false, false}, "user-code-hang/first-time"},
    {RULES_OUTSIDE_UNKNOWN, {1001, 1, 13, 0, 100, false, false}, "user-code-hang/burns-cpu"},
    {RULES_OUTSIDE_UNKNOWN, {500, 1, 13, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_AWAITING, {1001, 1, 13, 0, 51, false, false}, "user-code-hang/awaits-answer"},
    {RULES_OUTSIDE_AWAITING, {1000, 1, 13, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_AWAITING, {1001, 1, 12, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_AWAITING, {1001, 1, 13, 0, 51, false, true}, "mpi-hang/awaits-answer"},
    {RULES_OUTSIDE_AWAITING, {100, 1001, 601, 0, 0, false, false}, "user-code-hang/first-time"},
    {RULES_OUTSIDE_BLOCKED, {501, 1, 6, 0, 51, true, false}, "user-code-hang/others-go-on"},
    {RULES_OUTSIDE_BLOCKED, {501, 1, 6, 0, 51, true, true}, "mpi-hang/others-go-on"},
    {RULES_OUTSIDE_AWAITING, {1001, 1, 13, 0, 51, true, false}, "user-code-hang/others-go-on"},
    {RULES_OUTSIDE_BURNING, {1001, 1, 13, 0, 51, true, true}, "mpi-hang/others-go-on"},
    {RULES_OUTSIDE_BURNING, {1001, 1, 12, 0, 100, true, false}, NULL},
    {RULES_OUTSIDE_AWAITING, {1001, 1, 12, 0, 100, true, true}, NULL},
    {RULES_OUTSIDE_BLOCKED, {500, 1, 31, 0, 100, true, false}, NULL},
    {RULES_OUTSIDE_BLOCKED, {1e6, 1e6, 1e6, 0, 50, true, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 13, 13, 51, true, false}, "io-hang/others-go-on"},
    {RULES_OUTSIDE_DISK_SLEEP, {1e6, 1e6, 1e6, 12, 100, true, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1e6, 1e6, 1e6, 30, 50, true, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 31, 31, 0, true, false}, "io-hang/stuck"},
    {RULES_OUTSIDE_BLOCKED, {201, 1, 2, 0, 51, false, false}, "user-code-hang/blocked"},
    {RULES_OUTSIDE_BLOCKED, {200, 1, 200, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_BLOCKED, {1e6, 1e6, 600, 0, 50, false, false}, NULL},
    {RULES_OUTSIDE_BLOCKED, {1e6, 1001, 601, 0, 0, false, false}, "user-code-hang/first-time"},
    {RULES_OUTSIDE_BLOCKED, {1e6, 1000, 601, 0, 0, false, false}, NULL},
    {RULES_OUTSIDE_BURNING, {100, 1001, 601, 0, 0, false, false}, "user-code-hang/first-time"},
    {RULES_OUTSIDE_BLOCKED, {201, 1, 2, 0, 51, false, true}, "mpi-hang/blocked"},
    {RULES_OUTSIDE_BLOCKED, {200, 1, 200, 0, 100, false, true}, NULL},
    {RULES_OUTSIDE_BURNING, {1001, 1, 13, 0, 51, false, true}, "mpi-hang/burns-cpu"},
    {RULES_OUTSIDE_BURNING, {1001, 1, 12, 0, 51, false, true}, NULL},
    {RULES_OUTSIDE_BLOCKED, {1e6, 1001, 601, 0, 0, false, true}, "mpi-hang/first-time"},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 13, 0, 100, false, false}, "io-hang/never-comes"},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 13, 0, 100, false, true}, "io-hang/never-comes"},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 12, 0, 100, false, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 31, 31, 0, false, false}, "io-hang/stuck"},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, NAN, 31, 31, 0, false, true}, "io-hang/stuck"},
    {RULES_OUTSIDE_DISK_SLEEP, {1000, 1, 31, 31, 0, false, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1001, 1, 31, 30, 0, false, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1e6, NAN, 1e6, 30, 0, false, false}, NULL},
    {RULES_OUTSIDE_BLOCKED, {1001, 1, 31, 31, 0, false, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1e6, 1001, 600, 0, 0, false, false}, NULL},
    {RULES_OUTSIDE_DISK_SLEEP, {1e6, 1001, 601, 0, 0, false, false}, "io-hang/first-time"},
};

TEST_CASES(what_ranks_do_outside_means, COUNT(outside))
{
    struct ftree_rules *rules = builtin();
    const struct rules_sign *sign;
    int32_t model;

    sign = ftree_rules_decide_outside(rules, outside[_i].outside, &outside[_i].stay, &model);
    if (outside[_i].sign)
        ck_assert_str_eq(sign->name, outside[_i].sign);
    else
        ck_assert_ptr_null(sign);
    ck_assert(!sign || ftree_rules_needs(rules, sign->name, RULES_FACT_OUTSIDE));
    ck_assert(!ftree_rules_needs(rules, "io-hang/disk-sleep", RULES_FACT_OUTSIDE));
    ftree_rules_free(rules);
}

static const struct {
    uint8_t slowed;
    double lost, percent;
    const char *sign;
} slowed[] = {
    {RULES_SLOWED_NONE, 90, 90, NULL},
    {RULES_SLOWED_QUOTA, 11, 45, "straggler/quota"},
    {RULES_SLOWED_QUOTA, 10, 99, NULL},
    {RULES_SLOWED_SHARED_CORE, 11, 45, "straggler/shared-core"},
    {RULES_SLOWED_PREEMPTED, 11, 45, "straggler/preempted"},
    {RULES_SLOWED_STOLEN, 11, 20, "straggler/stolen"},
    {RULES_SLOWED_PAGING, 11, 40, "straggler/paging"},
    {RULES_SLOWED_SLOW_CLOCK, 11, 45, "straggler/slow-clock"},
    {RULES_SLOWED_SLOW_CLOCK, 9, 45, NULL},
};

TEST_CASES(what_slows_ranks_means, COUNT(slowed))
{
    struct ftree_rules *rules = builtin();
    const struct rules_sign *sign;
    int32_t model;

    sign = ftree_rules_decide_slowed(rules, slowed[_i].slowed, slowed[_i].lost, slowed[_i].percent,
                                     &model);
    if (slowed[_i].sign)
        ck_assert_str_eq(sign->name, slowed[_i].sign);
    else
        ck_assert_ptr_null(sign);
    ck_assert(!sign || ftree_rules_needs(rules, sign->name, RULES_FACT_SLOWED));
    ck_assert(!sign || !ftree_rules_needs(rules, sign->name, RULES_FACT_OUTSIDE));
    ck_assert(!ftree_rules_needs(rules, "straggler/throttled", RULES_FACT_SLOWED));
    ftree_rules_free(rules);
}

static bool has_row(const char *sign)
{
    for (int i = 0; i < COUNT(slowed); i++)
        if (slowed[i].sign && !strcmp(slowed[i].sign, sign))
            return true;
    for (int i = 0; i < COUNT(outside); i++)
        if (outside[i].sign && !strcmp(outside[i].sign, sign))
            return true;
    for (int i = 1; i < COUNT(waits); i++)
        if (!strcmp(waits[i].sign, sign))
            return true;
    for (int i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].sign, sign))
            return true;
    for (int i = 0; i < COUNT(told); i++)
        if (told[i].sign && !strcmp(told[i].sign, sign))
            return true;
    return false;
}

TEST_CASE(the_tables_have_every_sign)
{
    struct ftree_rules *rules = builtin();

    for (int32_t s = 0; s < rules->wells; s++)
        ck_assert_msg(has_row(rules->well[s].name), "no row for %s", rules->well[s].name);
    for (int32_t m = 0; m < rules->models; m++)
        for (int32_t s = 0; s < rules->model[m].signs; s++)
            ck_assert_msg(has_row(rules->model[m].sign[s].name), "no row for %s",
                          rules->model[m].sign[s].name);
    ftree_rules_free(rules);
}

TEST_CASE(every_class_has_a_model_with_a_sign)
{
    struct ftree_rules *rules = builtin();

    for (int class_ = 0; class_ < FTREE_CLASS_COUNT; class_++) {
        bool decided = false;

        for (int32_t m = 0; m < rules->models; m++)
            decided = decided || (rules->model[m].class_ == class_ && rules->model[m].signs > 0);
        ck_assert_msg(decided, "no model decides for %s", ftree_class_name(class_));
    }
    ftree_rules_free(rules);
}

/* ---- what must hold whatever is found -------------------------------------------------------- */

static bool any_word_of_the_node(const struct findings *f)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if ((f->paths >> path & 1) && (f->agent[path] >= CONN || f->deputy[path] >= CONN))
            return true;
    return false;
}

static void check_decision(const struct ftree_rules *rules, uint64_t models,
                           const struct findings *f)
{
    struct rules_facts facts = facts_of(f);
    int32_t model;
    bool well;
    const struct rules_sign *sign = ftree_rules_decide(rules, &facts, models, true, &well, &model);
    int class_;

    REQUIRE(sign);
    if (facts.value[RULES_FACT_MAIN] == ANSW)
        REQUIRE(well);
    if (well) {
        REQUIRE(any_word_of_the_node(f));
        return;
    }
    class_ = rules->model[model].class_;
    if (sign->about_asker)
        REQUIRE(class_ == FTREE_CLASS_UNKNOWN);
    if (class_ == FTREE_CLASS_NODE_OUTAGE)
        REQUIRE(!any_word_of_the_node(f) && (f->paths & f->witness || !f->others));
    if (ftree_class_kind(class_) == FTREE_KIND_RANK) /* what a port says is said of no rank */
        REQUIRE(facts.value[RULES_FACT_DEPUTY] == ANSW && f->word);
    /* and before the end nothing is decided that rests on silence */
    sign = ftree_rules_decide(rules, &facts, models, false, &well, &model);
    REQUIRE(!sign || facts.value[RULES_FACT_MAIN] == ANSW);
}

/* An agent is always asked, so that what is not known of it is silence. */
static void each_reach(const struct ftree_rules *rules, uint64_t models, struct findings *f)
{
    for (int code = 0; code < 6 * 6 * 7 * 7; code++) {
        f->agent[0] = f->paths & DATA ? 1 + code % 6 : NOTH;
        f->agent[1] = f->paths & MGMT ? 1 + code / 6 % 6 : NOTH;
        f->deputy[0] = f->paths & DATA ? code / 36 % 7 : NOTH;
        f->deputy[1] = f->paths & MGMT ? code / 252 : NOTH;
        check_decision(rules, models, f);
    }
}

TEST_CASES(no_findings_accuse_who_speaks, 3 * 4 * 2)
{
    static const char words[] = {0, 'T', 'X', 'D'};
    struct ftree_rules *rules = builtin();
    uint64_t models = models_of(rules, "stalled-peer");
    struct findings f = {.paths = 1 + _i % 3, .witness = _i / 3 % 4, .others = _i / 12};

    for (int word = 0; word < COUNT(words); word++) {
        f.word = words[word];
        each_reach(rules, models, &f);
    }
    ftree_rules_free(rules);
}

/* ---- the base as a whole --------------------------------------------------------------------- */

static void check_sign(const struct rules_model *model, const struct rules_sign *sign)
{
    int sum = 0;

    ck_assert_int_ge(sign->confidence, 500);
    ck_assert_int_lt(sign->confidence, 1000);
    ck_assert_int_gt((int) strlen(sign->text), 10);
    for (int32_t i = 0; i < sign->candidates; i++)
        sum += sign->candidate[i].confidence;
    /* what is left open adds up with the confidence, except where the class is not known */
    if (sign->candidates)
        ck_assert_int_eq(sum + (model->class_ == FTREE_CLASS_UNKNOWN ? 0 : sign->confidence), 1000);
}

TEST_CASE(signs_are_as_reports_need_them)
{
    struct ftree_rules *rules = builtin();

    for (int32_t m = 0; m < rules->models; m++) {
        const struct rules_model *model = &rules->model[m];
        /* a verdict's rule begins with its class */
        if (model->listed_only)
            continue;
        ck_assert_str_eq(model->name, ftree_class_name(model->class_));
        for (int32_t s = 0; s < model->signs; s++) {
            size_t len = strlen(model->name);
            check_sign(model, &model->sign[s]);
            ck_assert_int_eq(strncmp(model->sign[s].name, model->name, len), 0);
            ck_assert_int_eq(model->sign[s].name[len], '/');
        }
    }
    ftree_rules_free(rules);
}

TEST_CASE(every_part_is_of_use)
{
    struct ftree_rules *rules = builtin();
    uint64_t models = 0;
    uint32_t strategies = 0;

    for (int32_t r = 0; r < rules->rules; r++) {
        models |= models_of(rules, rules->rule[r].name);
        if (rules->rule[r].strategy >= 0)
            strategies |= 1u << rules->rule[r].strategy;
        /* faults that could be decided for need somebody to be asked */
        for (int32_t i = 0; i < rules->rule[r].candidates; i++)
            ck_assert(rules->rule[r].strategy >= 0 ||
                      rules->model[rules->rule[r].candidate[i].model].listed_only);
    }
    for (int32_t m = 0; m < rules->models; m++)
        ck_assert_msg((rules->model[m].listed_only && rules->model[m].leads_to) || /* a first cause */
                          ((models >> m & 1) != ftree_rules_by_waits(rules, m)) ||
                          !strcmp(rules->model[m].name, "io-hang") || /* in both ways */
                          !strcmp(rules->model[m].name, "straggler"),
                      "no rule leads to %s, or needlessly", rules->model[m].name);
    for (int32_t s = 0; s < rules->strategies; s++)
        ck_assert_msg(strategies >> s & 1, "no rule asks by %s", rules->strategy[s].name);
    ftree_rules_free(rules);
}

TEST_CASE(a_stall_alone_makes_nobody_a_straggler)
{
    struct ftree_rules *rules = builtin();
    uint64_t slow = (uint64_t) 1 << ftree_rules_model(rules, "straggler") |
                    (uint64_t) 1 << ftree_rules_model(rules, "io-hang");

    for (int i = 0; i < COUNT(raised_by); i++)
        ck_assert_msg(!(models_of(rules, raised_by[i]) & slow), "%s", raised_by[i]);
    ftree_rules_free(rules);
}

static bool takes(const struct rules_step *s, uint32_t at, int ask, int of, int over, int if_,
                  bool fresh)
{
    return s->at_milli_rto == at && s->ask == ask && s->of == of && s->over == over &&
           s->if_ == if_ && s->fresh == fresh;
}

/* At 0, 1, 3 and 4.5 rto; from the second try on by a new connection, and others are asked, too;
 * between these by the connection that is there. */
static void check_strategy(const struct rules_strategy *s, int first_over)
{
    static const uint32_t at[] = {1000, 3000, 4500}, between[] = {2000, 4000, 5250};
    const struct rules_step *step = s->step;

    ck_assert_int_eq(s->steps, 22);
    ck_assert(takes(step++, 0, RULES_ASK_RESPONSE, RULES_OF_AGENT, first_over, 0, false));
    for (int i = 0; i < COUNT(at); i++) {
        ck_assert(takes(step++, at[i], RULES_ASK_RESPONSE, RULES_OF_AGENT, RULES_OVER_ALL,
                        RULES_IF_ALWAYS, true));
        ck_assert(takes(step++, at[i], RULES_ASK_RESPONSE, RULES_OF_DEPUTY, RULES_OVER_ALL,
                        RULES_IF_KERNEL_SPOKE, true));
        ck_assert(takes(step++, at[i], RULES_ASK_RESPONSE, RULES_OF_WITNESSES, RULES_OVER_ALL,
                        RULES_IF_UNWITNESSED, false));
        if (i < 2) {
            ck_assert_int_eq(step->from, RULES_FROM_ELSEWHERE);
            ck_assert(takes(step++, at[i], RULES_ASK_RESPONSE, RULES_OF_AGENT, RULES_OVER_ALL,
                            RULES_IF_SILENT, false));
        }
        if (i == 0)
            ck_assert(takes(step++, 1000, RULES_ASK_RESPONSE, RULES_OF_NEIGHBOURS, RULES_OVER_ALL,
                            RULES_IF_SILENT, false));
        if (i == 0)
            ck_assert(takes(step++, 1000, RULES_ASK_BURST, RULES_OF_AGENT, RULES_OVER_ALL,
                            RULES_IF_ONE_SIDED, false));
        if (i == 1) {
            ck_assert_int_eq(step->from, RULES_FROM_ELSEWHERE);
            ck_assert(takes(step++, at[i], RULES_ASK_RESPONSE, RULES_OF_NEIGHBOURS, RULES_OVER_ALL,
                            RULES_IF_SILENT, false));
            ck_assert(takes(step++, at[i], RULES_ASK_BURST, RULES_OF_AGENT, RULES_OVER_ALL,
                            RULES_IF_ONE_SIDED, false));
            ck_assert(takes(step++, at[i], RULES_ASK_STATE, RULES_OF_HANDLERS, RULES_OVER_ALL,
                            RULES_IF_SILENT, false));
        }
        if (i == 1)
            ck_assert(takes(step++, at[i], RULES_ASK_STATE, RULES_OF_AGENT, RULES_OVER_ANSWERED,
                            RULES_IF_ANSWERED, false));
        ck_assert(takes(step++, between[i], RULES_ASK_RESPONSE, RULES_OF_AGENT, RULES_OVER_ALL,
                        RULES_IF_ALWAYS, false));
        if (i == 0)
            ck_assert(takes(step++, 2500, RULES_ASK_RESPONSE, RULES_OF_NEIGHBOURS, RULES_OVER_ALL,
                            RULES_IF_SILENT, false));
    }
}

TEST_CASE(how_suspects_are_asked)
{
    struct ftree_rules *rules = builtin();

    ck_assert_str_eq(rules->strategy[0].name, "reach");
    ck_assert_str_eq(rules->strategy[1].name, "flood-query");
    check_strategy(&rules->strategy[0], RULES_OVER_ALL);
    check_strategy(&rules->strategy[1], RULES_OVER_MAIN);
    ftree_rules_free(rules);
}

/* ---- names ----------------------------------------------------------------------------------- */

TEST_CASE(look_up)
{
    struct ftree_rules *rules = builtin();
    int32_t m = ftree_rules_model(rules, "node-outage");

    ck_assert_int_ge(m, 0);
    ck_assert_str_eq(rules->model[m].name, "node-outage");
    ck_assert_int_eq(ftree_rules_model(rules, "node-outge"), -1);
    ck_assert_int_eq(ftree_rules_rule(rules, "stalled-peer"), 0);
    ck_assert_int_eq(ftree_rules_rule(rules, ""), -1);
    ftree_rules_free(rules);
    ftree_rules_free(NULL);
}

TEST_CASE(names)
{
    ck_assert_str_eq(ftree_rules_fact_name(RULES_FACT_OWN_SIDE), "own-side");
    ck_assert_str_eq(ftree_rules_fact_name(RULES_FACT_COUNT), "?");
    ck_assert_str_eq(ftree_rules_fact_name(-1), "?");
    ck_assert_str_eq(ftree_rules_number_name(RULES_NUMBER_THROTTLES), "throttles");
    ck_assert_str_eq(ftree_rules_number_name(RULES_NUMBER_COUNT), "?");
    ck_assert_str_eq(ftree_rules_value_name(RULES_FACT_MAIN, RULES_REACH_NO_PATH), "no-path");
    ck_assert_str_eq(ftree_rules_value_name(RULES_FACT_LINK, FTREE_LINK_NO_CARRIER), "no-carrier");
    ck_assert_str_eq(ftree_rules_value_name(RULES_FACT_LINK, FTREE_LINK_COUNT), "?");
    ck_assert_str_eq(ftree_rules_value_name(RULES_FACT_COUNT, 0), "?");
    ck_assert_str_eq(ftree_rules_value_name(-1, 0), "?");
    ck_assert_int_eq(ftree_rules_values(RULES_FACT_WITNESSED), 3);
    ck_assert_int_eq(ftree_rules_values(RULES_FACT_COUNT), 0);
    ck_assert_int_eq(ftree_rules_values(-1), 0);
    ck_assert_str_eq(ftree_rules_relation_name(RULES_PARENT_OF), "parent-of");
    ck_assert_str_eq(ftree_rules_relation_name(RULES_RELATION_COUNT), "?");
    ck_assert_str_eq(ftree_rules_ask_name(RULES_ASK_LOG), "log");
    ck_assert_str_eq(ftree_rules_ask_name(-1), "?");
    ck_assert_str_eq(ftree_rules_whom_name(RULES_OF_WITNESSES), "witnesses");
    ck_assert_str_eq(ftree_rules_whom_name(RULES_WHOMS), "?");
    ck_assert_str_eq(ftree_rules_over_name(RULES_OVER_ANSWERED), "answered");
    ck_assert_str_eq(ftree_rules_over_name(RULES_OVERS), "?");
    ck_assert_str_eq(ftree_rules_if_name(RULES_IF_KERNEL_SPOKE), "kernel-spoke");
    ck_assert_str_eq(ftree_rules_if_name(RULES_IFS), "?");
    for (int link = 0; link < FTREE_LINK_COUNT; link++)
        ck_assert_str_eq(ftree_rules_value_name(RULES_FACT_LINK, link), ftree_link_name(link));
}

TEST_CASE(the_built_in_text_ends_with_a_zero)
{
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    ck_assert_ptr_eq(ftree_rules_builtin(NULL), text);
    ck_assert_uint_eq(strlen(text), len);
    ck_assert_int_eq(text[len - 1], '\n');
}

/* ---- what leads to what ---------------------------------------------------------------------- */

static bool leads(const struct ftree_rules *rules, const char *from, const char *to)
{
    return ftree_rules_follow(rules, ftree_rules_model(rules, from), false) >>
               ftree_rules_model(rules, to) & 1;
}

TEST_CASE(a_chain_is_followed_to_its_end)
{
    struct ftree_rules *rules = builtin();
    uint64_t outage = ftree_rules_leading_to(rules, ftree_rules_model(rules, "node-outage"));

    ck_assert(leads(rules, "fan", "temperature") && leads(rules, "fan", "node-outage") &&
              leads(rules, "fan", "straggler"));
    ck_assert(!leads(rules, "temperature", "fan") && !leads(rules, "disk", "node-outage"));
    ck_assert(outage >> ftree_rules_model(rules, "fan") & 1);
    ck_assert(!(outage >> ftree_rules_model(rules, "node-outage") & 1));
    ck_assert(ftree_rules_leading_by(rules, FTREE_SYMPTOM_FAN_FAILED) ==
              (uint64_t) 1 << ftree_rules_model(rules, "fan"));
    ck_assert(!ftree_rules_leading_by(rules, FTREE_SYMPTOM_PEER_STALL));
    ftree_rules_free(rules);
}

TEST_CASE(limits_are_handed_to_handlers)
{
    static const char with[] = "\"symptoms\": \"fan-failed\",", at[] = "\"limits\": {\"low\": 500, \"high\": 1e4},";
    const char *base = ftree_rules_builtin(NULL), *place = strstr(base, with) + strlen(with);
    size_t len = strlen(base) + strlen(at);
    char *text = malloc(len + 1), limits[64];
    struct ftree_rules_error e;
    struct ftree_rules *rules;

    snprintf(text, len + 1, "%.*s%s%s", (int) (place - base), base, at, place);
    ck_assert_msg(ftree_rules_read(text, len, &rules, &e) == FTREE_OK, "%s", e.text);
    ftree_rules_limits(rules, limits, sizeof(limits));
    ck_assert_str_eq(limits, "fan-failed>10000,fan-failed<500");
    ftree_rules_limits(rules, limits, 20);
    ck_assert_str_eq(limits, "fan-failed>10000");
    ftree_rules_free(rules);
    free(text);
    rules = builtin();
    ftree_rules_limits(rules, limits, sizeof(limits));
    ck_assert_str_eq(limits, "");
    ftree_rules_free(rules);
}
