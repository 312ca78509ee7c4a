/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "lone.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

/* ---- making a handle ------------------------------------------------------------------------- */

static int send_nothing(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    (void) ctx;
    (void) to;
    (void) bytes;
    (void) len;
    return 0;
}

static void look_away(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    (void) ctx;
    (void) i;
    memset(state, 0, sizeof(*state));
}

static const struct ftree_io least = {.send = send_nothing, .look = look_away};

static int try_create(const struct ftree_job *job, int32_t self, const struct ftree_io *io)
{
    struct ftree *ft = (struct ftree *) 1;
    int rc = ftree_create(job, self, NULL, io, NULL, &ft);

    ck_assert_int_eq(rc == FTREE_OK, ft != NULL);
    ftree_destroy(ft);
    return rc;
}

TEST_CASE(a_job_out_of_range_is_refused)
{
    const int32_t table[4] = {0};
    struct ftree_job job = {
        .nodes = 4, .size = 4, .fanout = 2, .rules = base_rules(), .has_path = {true, true}};
    struct ftree_io io = least;

    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_OK);
    ck_assert_int_eq(try_create(&job, 3, &io), FTREE_OK);
    ck_assert_int_eq(try_create(&job, 4, &io), FTREE_ERR_INVALID);
    ck_assert_int_eq(try_create(&job, -1, &io), FTREE_ERR_INVALID);
    io.send = NULL;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    io = least;
    io.look = NULL;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    io = least;
    job.nodes = 0;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.nodes = 4;
    job.fanout = 0;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.fanout = 2;
    job.rules = NULL;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.rules = base_rules();
    job.size = 0;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.size = 5; /* without tables a rank a node */
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.size = 4;
    job.rank_node = table; /* the tables come together */
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.node_first = table;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_INVALID);
    job.node_ranks = table;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_OK);
}

static void *no_memory(void *ctx, void *ptr, size_t size)
{
    (void) ctx;
    (void) ptr;
    (void) size;
    return NULL;
}

TEST_CASE(without_memory_there_is_no_handle)
{
    const struct ftree_job job = {
        .nodes = 4, .size = 4, .fanout = 2, .rules = base_rules(), .has_path = {true, true}};
    struct ftree_io io = least;

    io.alloc = no_memory;
    ck_assert_int_eq(try_create(&job, 0, &io), FTREE_ERR_NOMEM);
    ftree_destroy(NULL);
}

TEST_CASE(the_least_of_callbacks_will_do)
{
    const struct ftree_job job = {
        .nodes = 4, .size = 4, .fanout = 32, .rules = base_rules(), .has_path = {true, true}};
    struct ftree *ft;
    struct ftree_verdict v;
    ftree_time now = 1000 * FTREE_MS;

    ck_assert_int_eq(ftree_create(&job, 0, NULL, &least, NULL, &ft), FTREE_OK);
    ck_assert_int_eq(ftree_stall(ft, now, 0, 2, now), FTREE_OK);
    for (; now < 20000 * FTREE_MS; now += 100 * FTREE_MS) {
        ftree_tick(ft, now);
        ck_assert_ptr_null(ftree_check(ft));
    }
    ck_assert(ftree_verdict_at(ft, 0, &v)); /* nobody answered: it is cut off */
    ck_assert(!ftree_verdict_at(ft, 1, &v));
    ck_assert(!ftree_verdict_at(ft, -1, &v));
    ftree_destroy(ft);
}

TEST_CASE(idle_it_is_small_and_wants_nothing)
{
    struct lone *l = lone_of(shape_tree(100000, 1, 32), 50000);

    ck_assert_uint_le(sizeof(struct ftree_whole), 1024);
    ck_assert_int_eq(l->live_allocations, 1);
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
    ck_assert(!ftree_may_go(l->ft));
    ck_assert_ptr_null(ftree_check(l->ft));
    ftree_tick(l->ft, l->now); /* harmless */
    ck_assert_str_eq(lone_log(l), "");
}

TEST_CASE(defaults)
{
    struct ftree_config cfg;

    memset(&cfg, 0xff, sizeof(cfg));
    ftree_config_default(&cfg);
    ck_assert_uint_eq(cfg.stall, 1000 * FTREE_MS);
    ck_assert_uint_eq(cfg.stall_repeat_max, 10000 * FTREE_MS);
    ck_assert_uint_eq(cfg.rto_min, 150 * FTREE_MS);
    ck_assert_uint_eq(cfg.rto_max, 1000 * FTREE_MS);
    ck_assert_uint_eq(cfg.silence, 900 * FTREE_MS);
    ck_assert_uint_eq(cfg.settle, 150 * FTREE_MS);
    ck_assert_uint_eq(cfg.gather, 400 * FTREE_MS);
    ck_assert_uint_eq(cfg.late, 200 * FTREE_MS);
    ck_assert_uint_eq(cfg.linger, 2000 * FTREE_MS);
    ck_assert_uint_eq(cfg.group_min, 500 * FTREE_MS);
    ck_assert_uint_eq(cfg.group_max, 10000 * FTREE_MS);
    ck_assert_uint_eq(cfg.recheck, 1000 * FTREE_MS);
    ck_assert_uint_eq(cfg.expire, 10000 * FTREE_MS);
    ck_assert_int_eq(cfg.pending_max, 256);
}

/* ---- messages -------------------------------------------------------------------------------- */

TEST_CASE(what_must_arrive_is_acknowledged_on_its_connection)
{
    static const bool acknowledged[WIRE_TYPE_COUNT] = {
        [WIRE_SYMPTOM] = true,      [WIRE_FLOOD_QUERY] = true,   [WIRE_VERDICT_UP] = true,
        [WIRE_VERDICT_DOWN] = true, [WIRE_VICTIMS] = true, [WIRE_GOODBYE] = true,
        [WIRE_RELEASE] = true,      [WIRE_WAITS_UP] = true, [WIRE_WAITS_LOOK] = true,
        [WIRE_WAITS_SEEN] = true,   [WIRE_QUERY_UP] = true, [WIRE_QUERY_DOWN] = true,
        [WIRE_QUERY_ANSWER] = true, [WIRE_QUERY_RESULT] = true,
    };

    for (int type = 0; type < WIRE_TYPE_COUNT; type++) {
        struct lone *l = lone_of(shape_binary(7, 1), 1);
        struct wire_message m = {.type = (uint8_t) type, .id = 4711};
        const struct lone_sent *s;
        if (type == WIRE_SYMPTOM)
            ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_SILENT, 4, FTREE_NONE, 3, l->now,
                               l->now);
        else if (type == WIRE_VERDICT_UP)
            m.u.verdict = lone_verdict(l, "process-crash/pid-gone", 4, 4, 4);
        else if (type >= WIRE_WAITS_UP && type <= WIRE_QUERY_RESULT)
            m.u.part.parts = 1;
        lone_hear(l, 3, FTREE_PATH_MGMT, &m);
        s = lone_last(l, WIRE_ACK);
        ck_assert_int_eq(s != NULL, acknowledged[type]);
        if (s) {
            ck_assert_int_eq(s->to.node, 3);
            ck_assert_int_eq(s->to.path, FTREE_PATH_MGMT);
            ck_assert_uint_eq(s->to.conn, 1);
            ck_assert_uint_eq(s->m.u.ack, 4711);
        }
        lone_free(l);
    }
}

TEST_CASE(a_bad_message_does_nothing)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    struct wire_message m = {.type = WIRE_SYMPTOM};
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len;

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_SILENT, 3, FTREE_NONE, 0, l->now, l->now);
    len = ftree_wire_encode(&m, l->now, buf);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 0, FTREE_PATH_DATA, 1, buf, len - 1),
                     FTREE_ERR_MALFORMED);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 0, FTREE_PATH_DATA, 1, buf, 0),
                     FTREE_ERR_MALFORMED);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, -1, FTREE_PATH_DATA, 1, buf, len),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 7, FTREE_PATH_DATA, 1, buf, len),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 1, FTREE_PATH_DATA, 1, buf, len),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 0, FTREE_PATHS, 1, buf, len), FTREE_ERR_INVALID);
    buf[1] = 99;
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 0, FTREE_PATH_DATA, 1, buf, len),
                     FTREE_ERR_VERSION);
    ck_assert(!ftree_inspect_was_heard(l->ft, FTREE_PATH_DATA));
    ck_assert_str_eq(lone_log(l), "");
}

TEST_CASE(reach_out_of_range_is_refused)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    ck_assert_int_eq(ftree_reached(l->ft, l->now, -1, 0, 0, FTREE_REACH_REFUSED, 0),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_reached(l->ft, l->now, 7, 0, 0, FTREE_REACH_REFUSED, 0),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_reached(l->ft, l->now, 0, FTREE_PATHS, 0, FTREE_REACH_REFUSED, 0),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_reached(l->ft, l->now, 0, 0, FTREE_ROLES, FTREE_REACH_REFUSED, 0),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_reached(l->ft, l->now, 0, 0, 0, FTREE_REACH_COUNT, 0),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_reached(l->ft, l->now, 0, 0, 0, FTREE_REACH_SILENT, 0), FTREE_OK);
    ck_assert(!ftree_inspect_was_heard(l->ft, FTREE_PATH_DATA));
}

TEST_CASE(ids_differ)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    uint32_t last = 0;

    lone_stall(l, 1, 3);
    lone_stall(l, 1, 6);
    lone_run(l, 3000);
    for (int32_t i = 0; i < l->n_sent; i++) {
        if (l->sent[i].to.fresh && l->sent[i].m.type == WIRE_SYMPTOM)
            continue; /* the same message again */
        if (l->sent[i].m.id <= last)
            ck_assert_int_eq(l->sent[i].m.type, WIRE_SYMPTOM);
        else
            last = l->sent[i].m.id;
    }
    ck_assert_uint_gt(last, 3);
}

/* ---- round trips: RFC 6298 ------------------------------------------------------------------- */

TEST_CASE(the_timer_follows_the_round_trips)
{
    struct lone *l = lone_of(shape_binary(2, 1), 0);

    ftree_rtt(l->ft, 0); /* below the clock's resolution: still nothing known */
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 150 * FTREE_MS);
    ftree_rtt(l->ft, 80 * FTREE_MS); /* srtt 80, var 40 */
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 240 * FTREE_MS);
    ftree_rtt(l->ft, 80 * FTREE_MS); /* var 30 */
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 200 * FTREE_MS);
    ftree_rtt(l->ft, 160 * FTREE_MS); /* srtt 90, var 42.5 */
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 260 * FTREE_MS);
    ftree_rtt(l->ft, 10 * FTREE_MS); /* srtt 80, var 51.875 */
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 287500000);
    for (int i = 0; i < 200; i++)
        ftree_rtt(l->ft, FTREE_MS / 10);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 150 * FTREE_MS);
    for (int i = 0; i < 200; i++)
        ftree_rtt(l->ft, FTREE_NEVER);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 1000 * FTREE_MS);
}

/* ---- succession ------------------------------------------------------------------------------ */

TEST_CASE(a_restored_verdict_is_known_and_silent)
{
    struct lone *l = lone_of(shape_binary(7, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    lone_knows(l, "process-crash/pid-gone", 4, 8, 4);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK); /* twice */
    ck_assert_ptr_null(ftree_check(l->ft));
    ck_assert(ftree_has_failed(l->ft, 3));
    ck_assert(ftree_verdict_at(l->ft, 0, &v));
    ck_assert_int_eq(v.node, 3);
    ck_assert(ftree_verdict_at(l->ft, 1, &v));
    ck_assert_int_eq(v.node, 4);
    ck_assert(!ftree_verdict_at(l->ft, 2, &v));
    lone_run(l, 1000); /* the root asks whether it is over, and nobody else is told */
    ck_assert_str_eq(lone_log(l), "200 -> n3 data+mgmt probe fresh\n");
    lone_run(l, 9000);
    ck_assert_int_eq(l->n_sent, lone_count(l, WIRE_PROBE));
    ck_assert_int_eq(l->verdicts + l->reports, 0);
}

static struct ftree_verdict unreported_crash(struct lone *l, int32_t node)
{
    struct ftree_verdict v =
        lone_verdict(l, "process-crash/pid-gone", node, ftree_rank_at(&l->job, node, 0), node);

    v.unreported = true;
    v.located = v.first_symptom = l->now;
    return v;
}

TEST_CASE(what_the_agent_before_did_not_tell_is_told_upward)
{
    struct lone *l = lone_of(shape_binary(7, 2), 4);
    struct ftree_verdict v = unreported_crash(l, 4);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK); /* the board is read again */
    ck_assert_int_eq(l->n_sent, 0);
    ck_assert(ftree_has_unannounced(l->ft));
    lone_run(l, 100);
    ck_assert(ftree_has_unannounced(l->ft)); /* until it comes down */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ck_assert_uint_eq(l->sent[0].m.u.verdict.id, v.id);
    ck_assert_int_eq(l->verdicts, 0); /* the glue has it */
    ck_assert_ptr_null(ftree_check(l->ft));
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    ck_assert(!ftree_has_unannounced(l->ft));
}

TEST_CASE(the_root_reports_what_the_agent_before_did_not)
{
    struct lone *l = lone_of(shape_binary(1, 2), 0);
    struct ftree_verdict v = unreported_crash(l, 0);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1000);
    ck_assert_int_eq(l->reports, 1);
    ck_assert(!l->report[0].unreported);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    lone_run(l, 3000);
    ck_assert_int_eq(l->reports, 1);
}

TEST_CASE(what_was_found_long_ago_has_been_told)
{
    struct lone *l = lone_of(shape_binary(7, 2), 4);
    struct ftree_verdict v = unreported_crash(l, 4);

    lone_run(l, 2000);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    lone_run(l, 1000);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
}

TEST_CASE(what_is_over_or_for_own_readers_is_not_told_again)
{
    struct lone *l = lone_of(shape_binary(7, 2), 4);
    struct ftree_verdict v = unreported_crash(l, 4), w = v;

    v.withdrawn = l->now;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    w.id++;
    w.local_only = true;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &w), FTREE_OK);
    lone_run(l, 1000);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
}

/* The agent was stopped with a verdict that it was about to tell; its deputy has told it. */
TEST_CASE(what_a_stand_in_told_is_not_told_twice)
{
    struct lone *l = lone_of(shape_binary(1, 2), 0);
    struct ftree_verdict v = unreported_crash(l, 0);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_eq(ftree_inspect_queued(l->ft), 1);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v),
                     FTREE_OK); /* as the board has it until then */
    ck_assert_int_eq(ftree_inspect_queued(l->ft), 1);
    v.unreported = false;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_ptr_null(ftree_check(l->ft));
    lone_run(l, 1000);
    ck_assert_int_eq(l->reports, 0);
}

TEST_CASE(what_cannot_be_restored)
{
    struct lone *l = lone_of(shape_binary(7, 2), 0);
    const struct ftree_verdict good =
        lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct ftree_verdict v = good;

    v.class_ = FTREE_CLASS_COUNT;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    v = good;
    v.node = 7;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    v.node = -1;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    v = good;
    v.rank = 14;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    v.rank = -2;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    v = good;
    v.kind = FTREE_KIND_COUNT;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = 0; /* the job has no switches */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_ERR_INVALID);
    l->fail_alloc_in = 2; /* the first is for the name of its rule, which it can do without */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &good), FTREE_ERR_NOMEM);
    ck_assert(!ftree_verdict_at(l->ft, 0, &v));
}

/* ---- names ----------------------------------------------------------------------------------- */

TEST_CASE(a_long_name_is_cut_in_a_trace_line)
{
    static char name[2000];
    const char *hosts[4] = {name, name, name, name};
    struct lone *l = lone_of(shape_star(4, 1), 0);

    memset(name, 'x', sizeof(name) - 1);
    l->job.node_name = hosts;
    lone_stall(l, 0, 2);
    ck_assert_ptr_nonnull(strstr(lone_log(l), "suspects xxxx"));
}

TEST_CASE(without_tables_a_rank_is_its_node)
{
    struct ftree_job job = {
        .nodes = 4, .size = 4, .fanout = 32, .rules = base_rules(), .has_path = {true, true}};
    struct ftree *ft;

    ck_assert_int_eq(ftree_create(&job, 1, NULL, &least, NULL, &ft), FTREE_OK);
    ck_assert_int_eq(ftree_node_of(ft, 3), 3);
    ck_assert_int_eq(ftree_ranks_of(&job, 3), 1);
    ck_assert_int_eq(ftree_rank_at(&job, 3, 0), 3);
    ck_assert_int_eq(ftree_rank_gone(ft, FTREE_MS, 1), FTREE_OK);
    ck_assert_int_eq(ftree_rank_gone(ft, FTREE_MS, 2), FTREE_ERR_INVALID);
    ftree_destroy(ft);
}
