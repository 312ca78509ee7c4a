/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_inspect.h"
#include "suite.h"
#include "world.h"

/* What a person sets gets to all nodes. */

#define MS(n) ((ftree_time) (n) *FTREE_MS)

static struct {
    int answered, nodes, refused, times;
    char why[FTREE_DETAIL_MAX];
} got;

/* What each node has, and how often it was told something new. */
static struct {
    struct ftree_setting s;
    uint8_t bytes[64];
    size_t len;
    int times, reports;
    size_t rules_len;
} on[WORLD_NODES_MAX];

static void answered(void *ctx, const struct ftree_query_result *r)
{
    (void) ctx;
    got.times++;
    got.answered = r->answered.count;
    got.nodes = r->nodes;
    got.refused = r->refused[0] != '\0';
    memcpy(got.why, r->refused, sizeof(got.why));
}

static void setting(void *ctx, const void *bytes, size_t len, bool reports)
{
    struct ftree_setting s;
    int32_t rank, node;
    struct world *w = world_at(ctx, 0, &rank);

    node = w->rank_node[rank];
    ck_assert_int_eq(ftree_setting_decode(bytes, len, &s), FTREE_OK);
    on[node].s = s;
    on[node].rules_len = s.rules_len;
    on[node].len = len;
    if (len <= sizeof(on[node].bytes))
        memcpy(on[node].bytes, bytes, len);
    on[node].times++;
    on[node].reports += reports;
}

static struct world *nodes_of(struct shape shape)
{
    struct world *w = world_of(shape);

    memset(&got, 0, sizeof(got));
    memset(on, 0, sizeof(on));
    w->io.answered = answered;
    w->io.setting = setting;
    return w;
}

static void set(struct world *w, int32_t node, const struct ftree_setting *s)
{
    uint8_t *bytes = malloc(FTREE_SETTING_BYTES + s->rules_len);
    struct ftree_setting request = *s;
    uint32_t number;

    request.version = on[node].s.version;
    ck_assert_int_eq(ftree_query(w->node[node].ft, w->now, FTREE_QUERY_SET, bytes,
                                 ftree_setting_encode(&request, bytes), &number),
                     FTREE_OK);
    free(bytes);
}

static const struct ftree_setting abort_job = {
    .uid = 7, .changed = FTREE_SET_ACTION, .has = FTREE_SET_ACTION, .abort = true};
static const struct ftree_setting stall = {
    .uid = 8, .changed = FTREE_SET_STALL, .has = FTREE_SET_STALL, .stall_ms = 300};

static int count_with(const struct world *w, uint64_t number)
{
    int n = 0;

    for (int32_t i = 0; i < w->job.nodes; i++)
        n += on[i].s.version >> 32 == number;
    return n;
}

static const struct {
    int32_t nodes, by;
} jobs[] = {{1, 0}, {2, 1}, {7, 0}, {7, 6}, {40, 17}};

TEST_CASES(all_nodes_have_it, 5)
{
    struct world *w = nodes_of(shape_binary(jobs[_i].nodes, 1));

    set(w, jobs[_i].by, &abort_job);
    world_run(w, MS(200));
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_eq(got.refused, 0);
    ck_assert_int_eq(got.answered, jobs[_i].nodes);
    ck_assert_int_eq(got.nodes, jobs[_i].nodes);
    ck_assert_int_eq(count_with(w, 1), jobs[_i].nodes);
    for (int32_t i = 0; i < jobs[_i].nodes; i++) {
        ck_assert_int_eq(on[i].times, 1);
        ck_assert_int_eq(on[i].reports, i == 0);
        ck_assert_uint_eq(on[i].s.uid, 7);
        ck_assert(on[i].s.abort);
    }
    world_run(w, MS(100000));
    for (int32_t i = 0; i < jobs[_i].nodes; i++)
        ck_assert_uint_eq(ftree_deadline(w->node[i].ft), FTREE_NEVER);
}

TEST_CASE(a_second_one_adds_to_the_first)
{
    struct world *w = nodes_of(shape_binary(7, 1));

    set(w, 3, &abort_job);
    world_run(w, MS(200));
    set(w, 5, &stall);
    world_run(w, MS(200));
    ck_assert_int_eq(count_with(w, 2), 7);
    for (int32_t i = 0; i < 7; i++) {
        ck_assert_uint_eq(on[i].s.changed, FTREE_SET_STALL);
        ck_assert_uint_eq(on[i].s.has, FTREE_SET_ACTION | FTREE_SET_STALL);
        ck_assert(on[i].s.abort);
        ck_assert_uint_eq(on[i].s.uid, 8);
    }
}

/* The stall limit is the core's own business. */
TEST_CASE(the_stall_limit_counts_from_then_on)
{
    struct world *w = nodes_of(shape_star(4, 1));

    set(w, 1, &(struct ftree_setting){
                  .changed = FTREE_SET_STALL, .has = FTREE_SET_STALL, .stall_ms = 5000});
    world_run(w, MS(200));
    w->node[2].off = true;
    world_wait(w, 3, 2);
    ck_assert_int_eq(ftree_stall(w->node[3].ft, w->now, 3, 2, MS(5000)), FTREE_OK);
    world_run(w, MS(3000));
    ck_assert(got.answered == 4);
}

static struct ftree_setting with_rules(const char *text, size_t len)
{
    return (struct ftree_setting){
        .changed = FTREE_SET_RULES, .has = FTREE_SET_RULES, .rules = text, .rules_len = len};
}

extern const char *ftree_rules_builtin(size_t *len);

TEST_CASE(rules_come_in_parts)
{
    struct world *w = nodes_of(shape_binary(7, 1));
    struct ftree_setting s = {0};
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    s = with_rules(text, len);
    set(w, 6, &s);
    world_run(w, MS(1000));
    ck_assert_int_eq(got.answered, 7);
    for (int32_t i = 0; i < 7; i++)
        ck_assert_uint_eq(on[i].rules_len, len);
}

TEST_CASE(rules_of_the_greatest_length_do_too)
{
    struct world *w = nodes_of(shape_star(3, 1));
    char *text = malloc(FTREE_SET_RULES_MAX);
    struct ftree_setting s;
    size_t len;

    const char *builtin = ftree_rules_builtin(&len);

    memset(text, ' ', FTREE_SET_RULES_MAX);
    memcpy(text, builtin, len);
    s = with_rules(text, FTREE_SET_RULES_MAX);
    set(w, 1, &s);
    world_run(w, MS(1000));
    ck_assert_int_eq(got.answered, 3);
    ck_assert_uint_eq(on[2].rules_len, FTREE_SET_RULES_MAX);
    free(text);
}

TEST_CASE(the_root_refuses_what_it_cannot_use)
{
    struct world *w = nodes_of(shape_star(4, 1));
    struct ftree_setting s = with_rules("{\"x\":", 5);
    uint32_t number;

    set(w, 2, &s);
    world_run(w, MS(500));
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_eq(got.refused, 1);
    ck_assert(!strncmp(got.why, "rules: ", 7));
    ck_assert_int_eq(ftree_query(w->node[2].ft, w->now, FTREE_QUERY_SET, "what", 4, &number),
                     FTREE_OK);
    world_run(w, MS(500));
    ck_assert_str_eq(got.why, "the request is malformed");
    ck_assert_int_eq(count_with(w, 0), 4);
}

TEST_CASE(a_node_that_comes_back_has_it)
{
    struct world *w = nodes_of(shape_binary(7, 1));

    w->node[2].mute = true; /* and its deputy answers, so that it is not lost */
    set(w, 3, &abort_job);
    world_run(w, MS(8000));
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_lt(got.answered, 7);
    ck_assert_int_eq(on[2].times, 0);
    ck_assert_int_eq(on[5].times + on[6].times, 2); /* those below it do */
    w->node[2].mute = false;
    world_run(w, MS(140000));
    ck_assert_int_eq(on[2].times, 1);
    ck_assert_int_eq(count_with(w, 1), 7);
}

TEST_CASE(a_lost_node_that_comes_back_has_it)
{
    struct world *w = nodes_of(shape_binary(7, 1));

    w->node[4].path_down[0] = w->node[4].path_down[1] = true;
    world_all_wait(w, 4, 4);
    ck_assert(world_run_until_reports(w, 1, MS(20000)));
    set(w, 3, &abort_job);
    world_run(w, MS(3000));
    ck_assert_int_eq(got.answered, 6);
    w->node[4].path_down[0] = w->node[4].path_down[1] = false;
    world_run(w, MS(200000));
    ck_assert_int_eq(on[4].times, 1);
}

TEST_CASE(who_acts_for_the_root_goes_on_from_it)
{
    struct world *w = nodes_of(shape_binary(7, 1));

    set(w, 3, &abort_job);
    world_run(w, MS(200));
    w->node[0].off = true;
    world_all_wait(w, 0, 0);
    ck_assert(world_run_until_reports(w, 1, MS(20000)));
    set(w, 3, &stall);
    world_run(w, MS(8000));
    ck_assert_int_eq(got.times, 2);
    ck_assert_int_eq(got.answered, 6);
    ck_assert_int_eq(count_with(w, 2), 6);
    for (int32_t i = 1; i < 7; i++)
        ck_assert_uint_eq(on[i].s.has, FTREE_SET_ACTION | FTREE_SET_STALL);
}

TEST_CASE(the_agent_that_follows_is_given_it)
{
    struct world *w = nodes_of(shape_star(4, 1));

    set(w, 3, &abort_job);
    world_run(w, MS(200));
    world_succeed(w, 0);
    ck_assert_int_eq(ftree_restore_setting(w->node[0].ft, on[0].bytes, on[0].len), FTREE_OK);
    ck_assert_int_eq(on[0].times, 1); /* silently */
    set(w, 1, &stall);
    world_run(w, MS(200));
    ck_assert_int_eq(count_with(w, 2), 4);
    ck_assert(on[0].s.abort);
    ck_assert_int_eq(ftree_restore_setting(w->node[0].ft, "x", 1), FTREE_ERR_INVALID);
}

TEST_CASE(a_root_that_has_forgotten_all_goes_on_from_what_the_asker_knows)
{
    struct world *w = nodes_of(shape_star(4, 1));

    set(w, 3, &abort_job);
    world_run(w, MS(200));
    world_succeed(w, 0);
    set(w, 1, &stall);
    world_run(w, MS(200));
    ck_assert_int_eq(count_with(w, 2), 4);
}
