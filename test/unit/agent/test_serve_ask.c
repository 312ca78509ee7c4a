/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What an agent answers to `faultloc ask`, and when. */

#include "base.h"
#include "faultloc/agent/serve/serve_ask.h"
#include "faultloc/io/symptom_socket.h"
#include "program.h"
#include "sample.h"
#include "schema.h"
#include "suite.h"

#include <unistd.h>

#define NOW (100000 * FTREE_MS)

static struct faultloc_program program;
static struct faultloc_asks asks;

/* Node h1 of the sample, with ranks 2 and 3. */
BEFORE_EACH
{
    program_open(&program, 1);
    asks = (struct faultloc_asks){.p = &program};
}

AFTER_EACH
{
    program_close(&program);
}

static const char *take(const char *text, int *reply)
{
    static char error[FAULTLOC_SYMPTOM_ERROR];

    return faultloc_asks_take(&asks, NOW, text, strlen(text), reply, error);
}

/* ---- who asks -------------------------------------------------------------------------------- */

/* What came of the query for its stack. */
static void say_stacks(struct ftree_stacks *s, const char *refused)
{
    struct ftree_query_result r = {
        .kind = FTREE_QUERY_STACKS, .number = asks.ask[0].stacks, .stacks = s};

    snprintf(r.refused, sizeof(r.refused), "%s", refused);
    faultloc_asks_answered(&asks, &r);
}

#define WELL(more) \
    "{\"schema\":\"faultloc-ask/1\",\"job\":\"4711\",\"by\":\"h1\",\"node\":\"h1\"," \
    "\"rank\":3,\"well\":true,\"answered\":true,\"took_ms\":0.00,\"paths\":[]," \
    "\"ranks\":[{\"rank\":3,\"state\":\"outside MPI\"}],\"messages\":[]," more \
    "\"verdicts\":[]}"
#define PROCESS \
    "{\"pid\":7,\"schema\":\"faultloc-handler/1\",\"threads\":[{\"tid\":7," \
    "\"frames\":[{\"function\":\"main\"}]"

static const struct {
    char *detail;
    const char *why, *refused, *more;
} stack_rows[] = {
    {PROCESS "}]}", "", "", "\"process\":" PROCESS ",\"stack\":\"main\"}]},"},
    {"garbage", "", "", "\"no_stack\":\"its node has not answered in time\","},
    {NULL, "handler died", "", "\"no_stack\":\"handler died\","},
    {NULL, "", "the acting root is busy", "\"no_stack\":\"the acting root is busy\","}};

TEST_CASES(a_rank_that_is_well_is_told_with_its_stack, COUNT(stack_rows))
{
    struct ftree_stacks s = {0};
    char expected[1024];
    int reply, fd;

    fd = program_question(&reply);
    ck_assert_str_eq(take("{\"ask\": \"rank 3\"}", &reply), "");
    ck_assert_int_eq(reply, -1);
    faultloc_asks_turn(&asks, NOW);
    ck_assert_str_eq(program_answer(fd), "");
    if (stack_rows[_i].detail)
        s.detail[s.details++] =
            (struct ftree_detail){.rank = 3,
                                  .text = stack_rows[_i].detail,
                                  .len = (int32_t) strlen(stack_rows[_i].detail)};
    strcpy(s.why, stack_rows[_i].why);
    say_stacks(&s, stack_rows[_i].refused);
    faultloc_asks_turn(&asks, NOW);
    snprintf(expected, sizeof(expected), WELL("%s"), stack_rows[_i].more);
    ck_assert_int_eq(schema_findings("ask", expected), 0);
    ck_assert_str_eq(program_answer(fd), expected);
    ck_assert_int_eq(asks.n, 0);
    ck_assert(faultloc_asks_deadline(&asks) == FTREE_NEVER);
    close(fd);
}

TEST_CASE(a_node_that_is_silent_is_told_when_the_time_is_over)
{
    int reply, fd;

    fd = program_question(&reply);
    ck_assert_str_eq(take("{\"ask\": \"node h3\"}", &reply), "");
    ck_assert(faultloc_asks_deadline(&asks) == NOW + FAULTLOC_ASK_PATIENCE);
    faultloc_asks_turn(&asks, NOW + FAULTLOC_ASK_PATIENCE - 1);
    ck_assert_str_eq(program_answer(fd), "");
    faultloc_asks_turn(&asks, NOW + FAULTLOC_ASK_PATIENCE);
    ck_assert_ptr_nonnull(strstr(program_answer(fd), "\"well\":false,\"answered\":false,"));
    ck_assert_int_eq(asks.n, 0);
    close(fd);
}

TEST_CASE(so_many_can_ask_at_the_same_time)
{
    int reply, fd[FAULTLOC_ASKS_MAX + 1];

    for (int i = 0; i < FAULTLOC_ASKS_MAX; i++) {
        fd[i] = program_question(&reply);
        ck_assert_str_eq(take("{\"ask\": \"node h3\"}", &reply), "");
    }
    fd[FAULTLOC_ASKS_MAX] = program_question(&reply);
    ck_assert_str_eq(take("{\"ask\": \"node h2\"}", &reply), "too many questions at once");
    ck_assert_int_ge(reply, 0);
    close(reply);
    faultloc_asks_turn(&asks, NOW + FAULTLOC_ASK_PATIENCE);
    for (int i = 0; i < FAULTLOC_ASKS_MAX; i++)
        ck_assert_str_ne(program_answer(fd[i]), "");
    for (int i = 0; i <= FAULTLOC_ASKS_MAX; i++)
        close(fd[i]);
}

static const struct {
    const char *text, *wrong;
} refused[] = {
    {"{\"ask\": \"h1\"", "not a question: {\"ask\": \"COMPONENT\"}"},
    {"{\"ask\": \"", "not a question: {\"ask\": \"COMPONENT\"}"},
    {"{\"ask\": \"h\\u0031\"}", "not a question: {\"ask\": \"COMPONENT\"}"},
    {"{\"ask\": \"node h9\"}", "the job has no node \"h9\""},
    {"{\"ask\": \"rank 8\"}", "the job has no rank \"8\": it has ranks 0 to 7"},
    {"{\"ask\": \"switch leaf1\"}", "only a node or a rank can be asked"},
};

TEST_CASES(what_cannot_be_asked, COUNT(refused))
{
    int reply, fd;

    program.job.job.tree = &sample_tree;
    fd = program_question(&reply);
    ck_assert_str_eq(take(refused[_i].text, &reply), refused[_i].wrong);
    ck_assert_int_ge(reply, 0);
    close(reply);
    close(fd);
    program.job.job.tree = NULL;
}

TEST_CASE(a_question_without_a_socket)
{
    int nobody = -1;

    ck_assert_str_eq(take("{\"ask\": \"node h1\"}", &nobody),
                     "a question needs a socket for its answer");
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void expect_json(const struct ftree_inquiry *q, const char *expected)
{
    char *text = faultloc_ask_json(&program, NOW, q, NULL, "");

    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(schema_findings("ask", text), 0);
    free(text);
}

#define REACHED \
    {{FTREE_REACH_ANSWERED, FTREE_REACH_NOT_ASKED}, {FTREE_REACH_ANSWERED, FTREE_REACH_NOT_ASKED}}

#define HEAD "{\"schema\":\"faultloc-ask/1\",\"job\":\"4711\",\"by\":\"h1\",\"node\":\"h2\","
#define PATHS \
    "\"paths\":[{\"path\":\"data\",\"agent\":\"answered\"}," \
    "{\"path\":\"mgmt\",\"agent\":\"answered\"}],"

TEST_CASE(all_that_a_node_can_say)
{
    struct ftree_inquiry q = {.node = 2,
                              .rank = FTREE_NONE,
                              .over = true,
                              .answered = true,
                              .leaving = true,
                              .took = 1234567,
                              .reach = REACHED,
                              .peer = FTREE_NONE,
                              .has_state = true,
                              .logs = 1};

    q.state = (struct ftree_node_state){.cpus = 8,
                                        .load_centi = 150,
                                        .cpu_pressure_centi = UINT32_MAX,
                                        .memory_pressure_centi = 25,
                                        .io_pressure_centi = 0,
                                        .memory_total = 1000,
                                        .memory_available = UINT64_MAX,
                                        .link = FTREE_LINK_UP,
                                        .ranks = 2};
    q.state.rank[0].rank = 4;
    q.state.rank[0].pid = 77;
    q.state.rank[0].proc_state = 'R';
    q.state.rank[0].phase = FTREE_PHASE_WAITING;
    q.state.rank[1].rank = 5;
    q.state.rank[1].proc_state = 'T';
    q.log[0] = (struct ftree_log){.rank = 4, .entries = 2};
    q.log[0].entry[0] = (struct ftree_log_entry){
        .type = FTREE_LOG_SEND, .at = NOW - 1500 * FTREE_MS, .peer = 5, .tag = 3, .bytes = 64};
    q.log[0].entry[1] = (struct ftree_log_entry){
        .type = FTREE_LOG_RECV, .at = NOW + 1, .peer = FTREE_NONE, .tag = 4, .bytes = 0};
    expect_json(&q, HEAD
                "\"well\":true,\"answered\":true,\"took_ms\":1.23,\"leaving\":true," PATHS
                "\"ranks\":[{\"rank\":4,\"pid\":77,\"state\":\"waiting\",\"process\":\"R\"},"
                "{\"rank\":5,\"state\":\"stopped\",\"process\":\"T\"}],"
                "\"state\":{\"cpus\":8,\"load\":1.50,\"memory_pressure_percent\":0.25,"
                "\"io_pressure_percent\":0.00,\"memory_bytes\":1000,\"data_interface\":\"up\"},"
                "\"messages\":[{\"rank\":4,\"messages\":["
                "{\"type\":\"send\",\"age_s\":1.5,\"peer\":5,\"tag\":3,\"bytes\":64},"
                "{\"type\":\"receive\",\"age_s\":0.0,\"tag\":4,\"bytes\":0}]}],\"verdicts\":[]}");
}

/* Of the ranks in trouble only that which was asked about counts. */
static const struct {
    int32_t rank, trouble;
    const char *expected;
} troubles[] = {
    {FTREE_NONE, 5,
     HEAD "\"well\":false,\"answered\":true,\"took_ms\":0.00," PATHS
          "\"ranks\":[{\"rank\":5,\"pid\":9,\"state\":\"gone\",\"process\":\"X\"}],"
          "\"messages\":[],\"verdicts\":[]}"},
    {5, 5,
     HEAD "\"rank\":5,\"well\":false,\"answered\":true,\"took_ms\":0.00," PATHS
          "\"ranks\":[{\"rank\":5,\"pid\":9,\"state\":\"gone\",\"process\":\"X\"}],"
          "\"messages\":[],\"verdicts\":[]}"},
    {4, 5,
     HEAD "\"rank\":4,\"well\":true,\"answered\":true,\"took_ms\":0.00," PATHS
          "\"peer\":7,\"ranks\":[{\"rank\":4,\"state\":\"waiting\"}],"
          "\"messages\":[],\"verdicts\":[]}"},
};

TEST_CASES(ranks_in_trouble, COUNT(troubles))
{
    struct ftree_inquiry q = {.node = 2,
                              .rank = troubles[_i].rank,
                              .answered = true,
                              .reach = REACHED,
                              .phase = FTREE_PHASE_WAITING,
                              .peer = troubles[_i].rank == 4 ? 7 : FTREE_NONE,
                              .troubles = 1};

    q.trouble[0] = (struct ftree_rank_state){
        .rank = troubles[_i].trouble, .pid = 9, .phase = FTREE_PHASE_GONE, .proc_state = 'X'};
    expect_json(&q, troubles[_i].expected);
}

/* ---- which verdicts are about it ------------------------------------------------------------- */

static const struct {
    const char *sign; /* of the verdict */
    int32_t of, of_rank;
    bool withdrawn;
    int32_t node, rank; /* that are asked */
    bool listed;
} verdicts[] = {
    {"node-outage/both-paths-silent", 2, FTREE_NONE, false, 2, FTREE_NONE, true},
    {"node-outage/both-paths-silent", 2, FTREE_NONE, false, 2, 5, true},
    {"node-outage/both-paths-silent", 2, FTREE_NONE, false, 3, FTREE_NONE, false},
    {"node-outage/both-paths-silent", 2, FTREE_NONE, true, 2, FTREE_NONE, false},
    {"process-stopped/state-t", 2, 5, false, 2, FTREE_NONE, true},
    {"process-stopped/state-t", 2, 5, false, 2, 5, true},
    {"process-stopped/state-t", 2, 5, false, 2, 4, false},
    {"switch-fault/all-behind-silent", 2, FTREE_NONE, false, 3, FTREE_NONE, true},
    {"switch-fault/all-behind-silent", 2, FTREE_NONE, false, 0, FTREE_NONE, false},
};

TEST_CASES(a_verdict_is_told_of_what_it_is_about, COUNT(verdicts))
{
    struct ftree_verdict v = base_verdict(verdicts[_i].sign, verdicts[_i].of, verdicts[_i].of_rank);
    const struct ftree_inquiry q = {
        .node = verdicts[_i].node, .rank = verdicts[_i].rank, .peer = FTREE_NONE};
    char *text;

    program.job.job.tree = &sample_tree;
    v.located = v.first_symptom = 1;
    v.withdrawn = verdicts[_i].withdrawn;
    v.switch_ = v.kind == FTREE_KIND_SWITCH ? 1 : FTREE_NONE;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    text = faultloc_ask_json(&program, NOW, &q, NULL, "");
    ck_assert_int_eq(!strstr(text, "\"verdicts\":[]"), verdicts[_i].listed);
    ck_assert_int_eq(schema_findings("ask", text), 0);
    free(text);
    program.job.job.tree = NULL;
}
