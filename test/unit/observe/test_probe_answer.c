/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

/* ---- being asked ----------------------------------------------------------------------------- */

TEST_CASE(an_answer_names_who_waits_and_who_is_in_trouble)
{
    struct lone *l = lone_of(shape_star(4, 4), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 6}};
    const struct lone_sent *s;

    l->state[0].phase = l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->state[1].waiting = 700 * FTREE_MS;
    l->state[2].phase = FTREE_PHASE_INSIDE;
    l->state[3].proc_state = 'T';
    lone_hear(l, 0, FTREE_PATH_MGMT, &m);
    s = lone_last(l, WIRE_ANSWER);
    ck_assert_int_eq(s->to.node, 0);
    ck_assert_int_eq(s->to.path, FTREE_PATH_MGMT);
    ck_assert_uint_eq(s->to.conn, 1);
    ck_assert_uint_eq(s->m.u.answer.nonce, 9);
    ck_assert_int_eq(s->m.u.answer.asked_phase, FTREE_PHASE_INSIDE);
    ck_assert(!s->m.u.answer.leaving);
    ck_assert_int_eq(s->m.u.answer.waiting.count, 2);
    ck_assert_int_eq(s->m.u.answer.troubles, 1);
    ck_assert_int_eq(s->m.u.answer.trouble[0].rank, 7);
    lone_run(l, 150); /* and the one in trouble is now looked at */
    ck_assert_int_eq(l->verdicts, 1);
}

/* rows: it waits; it has ended, and waited */
TEST_CASES(whom_a_rank_waits_for_is_said_while_it_lives, 2)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 3}};

    l->state[1].phase = _i ? FTREE_PHASE_LEFT : FTREE_PHASE_WAITING;
    l->state[1].proc_state = _i ? 'X' : 'S';
    l->state[1].waiting = 500 * FTREE_MS;
    l->state[1].peer = 4;
    lone_hear(l, 0, FTREE_PATH_MGMT, &m);
    ck_assert_int_eq(lone_last(l, WIRE_ANSWER)->m.u.answer.asked_peer, _i ? FTREE_NONE : 4);
}

/* A rank that was perhaps stopped together with its agent, and that is asked about once: whether it is
 * named is decided when all have had time to go on. */
TEST_CASES(a_rank_stopped_with_its_agent_is_named_later, 2)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 3}};
    bool stays = _i == 0;

    l->state[1].proc_state = 'T';
    ftree_late(l->ft, l->now, l->cfg.stall);
    lone_hear(l, 0, FTREE_PATH_MGMT, &m);
    lone_run(l, 4000);
    ck_assert_int_eq(l->verdicts, 0);
    l->state[1].proc_state = stays ? 'T' : 'S';
    lone_run(l, 1300);
    ck_assert_int_eq(l->verdicts, stays);
}

TEST_CASE(what_ends_is_not_awaited)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 3}};

    l->state[1].proc_state = 'T';
    ftree_late(l->ft, l->now, l->cfg.stall);
    lone_hear(l, 0, FTREE_PATH_MGMT, &m);
    lone_run(l, 1000);
    l->state[1].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 3), FTREE_OK);
    lone_run(l, 150);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].class_, FTREE_CLASS_PROCESS_CRASH);
}

TEST_CASE(a_witness_does_not_look_at_itself)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.rank = FTREE_NONE}};

    l->state[1].proc_state = 'T';
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data answer\n");
    lone_run(l, 1000);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(more_troubles_than_fit_are_left_out)
{
    struct lone *l = lone_of(shape_star(2, 40), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.rank = FTREE_NONE}};

    for (int i = 0; i < 40; i++)
        l->state[i].proc_state = 'T';
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_last(l, WIRE_ANSWER)->m.u.answer.troubles, WIRE_TROUBLES_MAX);
}

TEST_CASE(a_probe_with_a_round_makes_this_node_flood)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    struct wire_message m = {.type = WIRE_PROBE,
                             .u.probe = {.nonce = 9, .round = 3, .rank = FTREE_NONE}};

    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data answer\n"
                                  "0 flood query 3\n"
                                  "0 suspects n3: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n3 data probe\n"
                                  "0 suspects n4: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n4 data probe\n");
}

TEST_CASE(who_leaves_says_so_and_is_left_alone)
{
    struct lone *l = lone_of(shape_star(4, 1), 1), *asker;
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 1}};

    ftree_leave(l->ft, l->now);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    m = lone_last(l, WIRE_ANSWER)->m;
    ck_assert(m.u.answer.leaving);
    lone_free(l);
    asker = lone_of(shape_star(4, 1), 0);
    lone_stall(asker, 0, 1);
    m.u.answer.nonce = ftree_inspect_question(asker->ft, 1);
    lone_hear(asker, 1, FTREE_PATH_MGMT, &m); /* by whatever path */
    ck_assert_int_eq(ftree_inspect_suspects(asker->ft), 0);
    ck_assert(ftree_peer_has_left(asker->ft, 1));
    lone_log(asker);
    lone_run(asker, 5000);
    ck_assert_int_eq(lone_count(asker, WIRE_PROBE), 0);
}

/* ---- state and log probes -------------------------------------------------------------------- */

static const struct lone_sent *asked(struct lone *l, uint8_t ask, int32_t rank)
{
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .ask = ask, .rank = rank}};

    lone_log(l);
    lone_hear(l, 0, FTREE_PATH_MGMT, &m);
    ck_assert_int_le(l->n_sent, 1);
    return l->n_sent ? &l->sent[0] : NULL;
}

TEST_CASE(a_state_probe_brings_how_the_node_is)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    const struct lone_sent *s;

    l->own_state.cpus = 4;
    l->own_state.load_centi = 350;
    l->own_state.link = FTREE_LINK_NO_CARRIER;
    s = asked(l, RULES_ASK_STATE, FTREE_NONE);
    ck_assert_int_eq(s->m.type, WIRE_STATE);
    ck_assert_int_eq(s->to.node, 0);
    ck_assert_int_eq(s->to.path, FTREE_PATH_MGMT);
    ck_assert_uint_eq(s->to.conn, 1);
    ck_assert_uint_eq(s->m.u.state.nonce, 9);
    ck_assert_uint_eq(s->m.u.state.state.load_centi, 350);
    ck_assert_int_eq(s->m.u.state.state.link, FTREE_LINK_NO_CARRIER);
}

TEST_CASE(a_log_probe_brings_what_a_rank_said_last)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    const struct lone_sent *s;

    l->own_message = (struct ftree_log_entry){
        .type = FTREE_LOG_RECV, .at = l->now - FTREE_MS, .peer = 7, .tag = 3, .bytes = 100};
    s = asked(l, RULES_ASK_LOG, 3);
    ck_assert_int_eq(s->m.type, WIRE_LOG);
    ck_assert_uint_eq(s->m.u.log.nonce, 9);
    ck_assert_int_eq(s->m.u.log.log.rank, 3);
    ck_assert_int_eq(s->m.u.log.log.entries, 1);
    ck_assert_int_eq(s->m.u.log.log.entry[0].peer, 7);
    ck_assert_uint_eq(s->m.u.log.log.entry[0].at, l->now - FTREE_MS);
    ck_assert_ptr_null(asked(l, RULES_ASK_LOG, 4)); /* it is another node's */
    ck_assert_ptr_null(asked(l, RULES_ASK_LOG, FTREE_NONE));
}

static int send_counted(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    (void) to;
    (void) bytes;
    (void) len;
    ++*(int *) ctx;
    return 0;
}

static void look_away(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    (void) ctx;
    (void) i;
    memset(state, 0, sizeof(*state));
}

TEST_CASE(where_nothing_can_be_told_there_is_no_answer)
{
    const struct ftree_io io = {.send = send_counted, .look = look_away};
    struct lone *l = lone_of(shape_star(4, 1), 1);
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct ftree *ft;
    int sent = 0;

    ck_assert_int_eq(ftree_create(&l->job, 1, NULL, &io, &sent, &ft), FTREE_OK);
    for (uint8_t ask = 0; ask < RULES_ASKS; ask++) {
        struct wire_message m = {.type = WIRE_PROBE,
                                 .u.probe = {.nonce = 9, .ask = ask, .rank = 1}};
        size_t len = ftree_wire_encode(&m, l->now, buf);
        ck_assert_int_eq(ftree_receive(ft, l->now, 0, FTREE_PATH_DATA, 1, buf, len), FTREE_OK);
    }
    ck_assert_int_eq(sent, 1); /* the response */
    ftree_destroy(ft);
}

TEST_CASE(an_answer_says_for_whom_the_rank_waits)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    const struct lone_sent *s;

    l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[1].peer = 6;
    s = asked(l, RULES_ASK_RESPONSE, 3);
    ck_assert_int_eq(s->m.u.answer.asked_peer, FTREE_NONE); /* it has only just begun to */
    l->state[1].waiting = 1;
    s = asked(l, RULES_ASK_RESPONSE, 3);
    ck_assert_int_eq(s->m.u.answer.asked_peer, 6);
    ck_assert(!s->m.u.answer.asked_reported);
    ck_assert_int_eq(asked(l, RULES_ASK_RESPONSE, 2)->m.u.answer.asked_peer, FTREE_NONE);
    lone_stall(l, 3, 6);
    ck_assert(asked(l, RULES_ASK_RESPONSE, 3)->m.u.answer.asked_reported);
}

/* ---- the deputy ------------------------------------------------------------------------------ */

static int ask_deputy(const struct lone *l, const void *bytes, size_t bytes_len, size_t room,
                      struct wire_message *answer, size_t *len)
{
    uint8_t out[FTREE_MESSAGE_MAX];
    int rc;

    *len = room;
    rc = ftree_deputy_answer(&l->job, l->cfg.stall, bytes, bytes_len, l->state, 2, out, len);
    if (*len)
        ck_assert_int_eq(ftree_wire_decode(&l->job, l->now, out, *len, answer), FTREE_OK);
    return rc;
}

TEST_CASE(a_deputy_answers_probes_and_nothing_else)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 3}}, answer;
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len, out;

    l->state[0].proc_state = 'T';
    l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[1].waiting = l->cfg.stall;
    len = ftree_wire_encode(&m, l->now, buf);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_OK);
    ck_assert_int_eq(answer.type, WIRE_ANSWER);
    ck_assert_int_eq(answer.u.answer.role, FTREE_ROLE_DEPUTY);
    ck_assert_uint_eq(answer.u.answer.nonce, 9);
    ck_assert_int_eq(answer.u.answer.asked_phase, FTREE_PHASE_WAITING);
    ck_assert_int_eq(answer.u.answer.troubles, 1);
    ck_assert_int_eq(answer.u.answer.trouble[0].rank, 2);
    ck_assert_int_eq(answer.u.answer.waiting.count, 1);
    ck_assert_int_eq(ask_deputy(l, buf, len - 1, FTREE_MESSAGE_MAX, &answer, &out),
                     FTREE_ERR_MALFORMED);
    ck_assert_uint_eq(out, 0);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX - 1, &answer, &out),
                     FTREE_ERR_INVALID);
    ck_assert_uint_eq(out, 0);
    buf[1]++;
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_ERR_VERSION);
    m.u.probe.ask = RULES_ASK_STATE; /* its agent's business */
    len = ftree_wire_encode(&m, l->now, buf);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_OK);
    ck_assert_uint_eq(out, 0);
    m.type = WIRE_FLOOD_QUERY;
    len = ftree_wire_encode(&m, l->now, buf);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_OK);
    ck_assert_uint_eq(out, 0);
}
