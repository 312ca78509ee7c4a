/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "messages.h"
#include "suite.h"

#include <string.h>

#define NOW (5000 * FTREE_MS)

/* The first of the fullest messages: messages_make() begins with the smallest of each type. */
#define FULL WIRE_TYPE_COUNT
#define FULL_SYMPTOM (FULL + 1)
#define FULL_PROBE (FULL + 3)
#define FULL_ANSWER (FULL + 4)
#define FULL_VERDICT (FULL + 6)
#define FULL_VERDICT_ON_RANK (FULL + 7)
#define FULL_VICTIMS (FULL + 8)

static size_t encoded(int i, uint8_t buf[FTREE_MESSAGE_MAX])
{
    struct wire_message m;

    ck_assert(messages_make(i, NOW, &m));
    return ftree_wire_encode(&m, NOW, buf);
}

static int decoded(const void *bytes, size_t len, struct wire_message *m)
{
    /* a copy of the exact length, so that the sanitizers see a read behind it */
    uint8_t *exact = malloc(len ? len : 1);
    int rc;

    memcpy(exact, bytes, len);
    rc = ftree_wire_decode(messages_job(), NOW, exact, len, m);
    free(exact);
    return rc;
}

static void put(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t) (value >> (8 * i));
}

START_TEST(every_message_comes_back_as_it_was)
{
    uint8_t buf[FTREE_MESSAGE_MAX], again[FTREE_MESSAGE_MAX];
    struct wire_message m, back;
    int seen[WIRE_TYPE_COUNT] = {0};

    for (int i = 0; messages_make(i, NOW, &m); i++) {
        size_t len = ftree_wire_encode(&m, NOW, buf);
        ck_assert_int_eq(decoded(buf, len, &back), FTREE_OK);
        ck_assert_int_eq(back.type, m.type);
        ck_assert_int_eq(back.flags, m.flags);
        ck_assert_uint_eq(back.id, m.id);
        ck_assert_uint_eq(ftree_wire_encode(&back, NOW, again), len);
        ck_assert_mem_eq(again, buf, len);
        seen[m.type]++;
    }
    for (int type = 0; type < WIRE_TYPE_COUNT; type++)
        ck_assert_int_gt(seen[type], 0);
}
END_TEST

START_TEST(the_bytes_are_these)
{
    static const uint8_t expected[] = {
        0xf7, 1,    WIRE_SYMPTOM,
        1,    4,    3,
        2,    1, /* header: id 0x01020304 */
        1, /* kind */
        3,    0,    0,
        0,    0xff, 0xff,
        0xff, 0xff, 5,
        0,    0,    0, /* node, rank, reporter */
        9,    0,    0,
        0, /* count */
        0,    0xca, 0x9a,
        0x3b, 0,    0,
        0,    0, /* age: 10^9 ns */
    };
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    ck_assert(messages_make(FULL_SYMPTOM, NOW, &m));
    m.id = 0x01020304;
    ck_assert_uint_eq(ftree_wire_encode(&m, NOW, buf), sizeof(expected));
    ck_assert_mem_eq(buf, expected, sizeof(expected));
}
END_TEST

START_TEST(fields_come_back_symptom_and_probe)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    ck_assert_int_eq(decoded(buf, encoded(FULL_SYMPTOM, buf), &m), FTREE_OK);
    ck_assert_int_eq(m.u.symptom.kind, SYMPTOM_SILENT);
    ck_assert_int_eq(m.u.symptom.node, 3);
    ck_assert_int_eq(m.u.symptom.rank, FTREE_NONE);
    ck_assert_int_eq(m.u.symptom.reporter, 5);
    ck_assert_uint_eq(m.u.symptom.count, 9);
    ck_assert_uint_eq(m.u.symptom.age, 1000 * FTREE_MS);
    ck_assert_int_eq(decoded(buf, encoded(FULL_PROBE, buf), &m), FTREE_OK);
    ck_assert_uint_eq(m.u.probe.nonce, 12);
    ck_assert_uint_eq(m.u.probe.round, 3);
    ck_assert_int_eq(m.u.probe.rank, FTREE_NONE);
    ck_assert_uint_eq(m.u.probe.age, 1000 * FTREE_MS);
}
END_TEST

START_TEST(fields_come_back_answer)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    ck_assert_int_eq(decoded(buf, encoded(FULL_ANSWER, buf), &m), FTREE_OK);
    ck_assert_uint_eq(m.u.answer.nonce, 77);
    ck_assert_int_eq(m.u.answer.role, FTREE_ROLE_DEPUTY);
    ck_assert(m.u.answer.leaving);
    ck_assert_int_eq(m.u.answer.asked_phase, FTREE_PHASE_WAITING);
    ck_assert_int_eq(m.u.answer.troubles, WIRE_TROUBLES_MAX);
    ck_assert_int_eq(m.u.answer.trouble[5].rank, 5);
    ck_assert_int_eq(m.u.answer.trouble[5].pid, 4005);
    ck_assert_int_eq(m.u.answer.trouble[5].phase, FTREE_PHASE_OUTSIDE);
    ck_assert_int_eq(m.u.answer.trouble[3].proc_state, 'T');
    ck_assert_int_eq(m.u.answer.waiting.count, MESSAGES_SIZE);
    ck_assert_int_eq(m.u.answer.waiting.ranges, MESSAGES_SIZE / 2);
    ck_assert_int_eq(m.u.answer.waiting.range[1].first, 2);
    ck_assert_int_eq(m.u.answer.waiting.range[1].last, 2);
}
END_TEST

START_TEST(fields_come_back_verdict)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    const struct ftree_verdict *v = &m.u.verdict;

    ck_assert_int_eq(decoded(buf, encoded(FULL_VERDICT_ON_RANK, buf), &m), FTREE_OK);
    ck_assert_int_eq(v->class_, FTREE_CLASS_PROCESS_STOPPED);
    ck_assert_int_eq(v->kind, FTREE_KIND_RANK);
    ck_assert_int_eq(v->rule, FTREE_RULE_STATE_T);
    ck_assert_int_eq(v->confidence, 990);
    ck_assert_int_eq(v->node, 3);
    ck_assert_int_eq(v->rank, 7);
    ck_assert_int_eq(v->pid, 4711);
    ck_assert_int_eq(v->fln, 1);
    ck_assert_uint_eq(v->symptoms, 5);
    ck_assert_uint_eq(v->first_symptom, NOW - 900 * FTREE_MS);
    ck_assert_uint_eq(v->located, NOW - FTREE_MS);
    ck_assert_int_eq(v->evidences, FTREE_EVIDENCE_MAX);
    ck_assert_int_eq(v->evidence[4].path, FTREE_PATH_MGMT);
    ck_assert_int_eq(v->evidence[4].by, 4);
    ck_assert_int_eq(v->evidence[4].error, 44);
    ck_assert_uint_eq(v->evidence[4].at, NOW - 4 * FTREE_MS);
    ck_assert_int_eq(v->candidates, FTREE_CANDIDATE_MAX);
    ck_assert_int_eq(v->candidate[0].confidence, 100);
    ck_assert(v->candidate[0].ruled_out);
    ck_assert(!v->candidate[1].ruled_out);
    ck_assert_int_eq(v->victims.count, MESSAGES_SIZE);
}
END_TEST

START_TEST(times_travel_as_ages)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    size_t len = encoded(FULL_VERDICT, buf);

    /* a receiver whose clock stands elsewhere */
    ck_assert_int_eq(ftree_wire_decode(messages_job(), 77 * NOW, buf, len, &m), FTREE_OK);
    ck_assert_uint_eq(m.u.verdict.first_symptom, 77 * NOW - 900 * FTREE_MS);
    /* one whose clock began after it happened */
    ck_assert_int_eq(ftree_wire_decode(messages_job(), 10 * FTREE_MS, buf, len, &m), FTREE_OK);
    ck_assert_uint_eq(m.u.verdict.first_symptom, 0);
    ck_assert_uint_eq(m.u.verdict.located, 9 * FTREE_MS);
    /* what lies ahead of the sender's clock has no age */
    ck_assert(messages_make(FULL_VERDICT, NOW, &m));
    len = ftree_wire_encode(&m, NOW / 2, buf);
    ck_assert_int_eq(decoded(buf, len, &m), FTREE_OK);
    ck_assert_uint_eq(m.u.verdict.located, NOW);
}
END_TEST

START_TEST(cut_at_any_length_is_malformed)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    for (int i = 0; messages_make(i, NOW, &m); i++) {
        size_t len = encoded(i, buf);
        for (size_t cut = 0; cut < len; cut++)
            ck_assert_int_eq(decoded(buf, cut, &m), FTREE_ERR_MALFORMED);
    }
}
END_TEST

START_TEST(bytes_left_over_are_malformed)
{
    uint8_t buf[FTREE_MESSAGE_MAX + 1] = {0};
    struct wire_message m;

    for (int i = 0; messages_make(i, NOW, &m); i++) {
        size_t len = encoded(i, buf);
        buf[len] = 0;
        ck_assert_int_eq(decoded(buf, len + 1, &m), FTREE_ERR_MALFORMED);
    }
    ck_assert_int_eq(decoded(buf, FTREE_MESSAGE_MAX + 1, &m), FTREE_ERR_MALFORMED);
}
END_TEST

START_TEST(magic_and_version)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len = encoded(FULL_SYMPTOM, buf);
    struct wire_message m;

    for (int version = 0; version < 256; version++) {
        buf[1] = (uint8_t) version;
        ck_assert_int_eq(decoded(buf, len, &m),
                         version == WIRE_VERSION ? FTREE_OK : FTREE_ERR_VERSION);
    }
    buf[1] = WIRE_VERSION + 1;
    buf[2] = 200; /* a later version may have types that this one does not know */
    ck_assert_int_eq(decoded(buf, len, &m), FTREE_ERR_VERSION);
    buf[0] = 0;
    ck_assert_int_eq(decoded(buf, len, &m), FTREE_ERR_MALFORMED);
}
END_TEST

/* Every field that has a range, at its first bad value, and a bad pair where two must agree. */
#define VERDICT_EVIDENCE 50
#define VERDICT_CANDIDATES (VERDICT_EVIDENCE + 24 * FTREE_EVIDENCE_MAX)
#define VERDICT_VICTIMS (VERDICT_CANDIDATES + 1 + 4 * FTREE_CANDIDATE_MAX)
#define ANSWER_WAITING (16 + 10 * WIRE_TROUBLES_MAX)

static const struct {
    const char *field;
    int message, offset, bytes;
    uint64_t value;
} bad_fields[] = {
    {"type", FULL_PROBE, 2, 1, WIRE_TYPE_COUNT},
    {"flags", FULL_PROBE, 3, 1, 2},
    {"symptom.kind", FULL_SYMPTOM, 8, 1, 2},
    {"symptom.node", FULL_SYMPTOM, 9, 4, MESSAGES_NODES},
    {"symptom.node, none", FULL_SYMPTOM, 9, 4, UINT32_MAX},
    {"symptom.rank", FULL_SYMPTOM, 13, 4, MESSAGES_SIZE},
    {"symptom.rank, negative", FULL_SYMPTOM, 13, 4, 0xfffffffe},
    {"symptom.reporter", FULL_SYMPTOM, 17, 4, MESSAGES_NODES},
    {"probe.rank", FULL_PROBE, 16, 4, MESSAGES_SIZE},
    {"answer.role", FULL_ANSWER, 12, 1, FTREE_ROLES},
    {"answer.leaving", FULL_ANSWER, 13, 1, 2},
    {"answer.asked_phase", FULL_ANSWER, 14, 1, FTREE_PHASE_COUNT},
    {"answer.troubles", FULL_ANSWER, 15, 1, WIRE_TROUBLES_MAX + 1},
    {"answer.trouble.rank", FULL_ANSWER, 16, 4, MESSAGES_SIZE},
    {"answer.trouble.rank, none", FULL_ANSWER, 16, 4, UINT32_MAX},
    {"answer.trouble.pid", FULL_ANSWER, 20, 4, INT32_MAX},
    {"answer.trouble.phase", FULL_ANSWER, 24, 1, FTREE_PHASE_COUNT},
    {"answer.trouble.proc_state", FULL_ANSWER, 25, 1, 0x1b},
    {"answer.waiting.count", FULL_ANSWER, ANSWER_WAITING, 4, MESSAGES_SIZE + 1},
    {"answer.waiting.count, too few", FULL_ANSWER, ANSWER_WAITING, 4, MESSAGES_SIZE / 2 - 1},
    {"answer.waiting.ranges", FULL_ANSWER, ANSWER_WAITING + 4, 2, FTREE_RANGES_MAX + 1},
    {"answer.waiting.first", FULL_ANSWER, ANSWER_WAITING + 6, 4, MESSAGES_SIZE},
    {"answer.waiting.first > last", FULL_ANSWER, ANSWER_WAITING + 6, 4, 1},
    {"answer.waiting, not apart", FULL_ANSWER, ANSWER_WAITING + 10, 4, 1},
    {"answer.waiting, overlapping", FULL_ANSWER, ANSWER_WAITING + 10, 4, 2},
    {"answer.waiting, not ascending", FULL_ANSWER, ANSWER_WAITING + 14, 4, 0},
    {"verdict.class", FULL_VERDICT, 8, 1, FTREE_CLASS_COUNT},
    {"verdict.kind", FULL_VERDICT, 9, 1, FTREE_KIND_COUNT},
    {"verdict.rule", FULL_VERDICT, 10, 1, FTREE_RULE_COUNT},
    {"verdict.confidence", FULL_VERDICT, 11, 2, 1001},
    {"verdict.node", FULL_VERDICT, 13, 4, MESSAGES_NODES},
    {"verdict.rank", FULL_VERDICT, 17, 4, MESSAGES_SIZE},
    {"verdict.rank of another node", FULL_VERDICT_ON_RANK, 17, 4, 8},
    {"verdict.pid", FULL_VERDICT, 21, 4, INT32_MAX},
    {"verdict.fln", FULL_VERDICT, 25, 4, MESSAGES_NODES},
    {"verdict.located before its symptom", FULL_VERDICT, 41, 8, 901 * FTREE_MS},
    {"verdict.evidences", FULL_VERDICT, 49, 1, FTREE_EVIDENCE_MAX + 1},
    {"verdict.evidence.path", FULL_VERDICT, VERDICT_EVIDENCE, 1, FTREE_PATHS + 1},
    {"verdict.evidence.role", FULL_VERDICT, VERDICT_EVIDENCE + 1, 1, FTREE_ROLES},
    {"verdict.evidence.reach", FULL_VERDICT, VERDICT_EVIDENCE + 2, 1, FTREE_REACH_COUNT},
    {"verdict.evidence.proc_state", FULL_VERDICT, VERDICT_EVIDENCE + 3, 1, '\n'},
    {"verdict.evidence.target", FULL_VERDICT, VERDICT_EVIDENCE + 4, 4, MESSAGES_NODES},
    {"verdict.evidence.by", FULL_VERDICT, VERDICT_EVIDENCE + 8, 4, MESSAGES_NODES},
    {"verdict.evidence.error", FULL_VERDICT, VERDICT_EVIDENCE + 12, 4, 4096},
    {"verdict.candidates", FULL_VERDICT, VERDICT_CANDIDATES, 1, FTREE_CANDIDATE_MAX + 1},
    {"verdict.candidate.class", FULL_VERDICT, VERDICT_CANDIDATES + 1, 1, FTREE_CLASS_COUNT},
    {"verdict.candidate.confidence", FULL_VERDICT, VERDICT_CANDIDATES + 2, 2, 1001},
    {"verdict.candidate.ruled_out", FULL_VERDICT, VERDICT_CANDIDATES + 4, 1, 2},
    {"verdict.victims.count", FULL_VERDICT, VERDICT_VICTIMS, 4, MESSAGES_SIZE + 1},
    {"verdict.victims.ranges", FULL_VERDICT, VERDICT_VICTIMS + 4, 2, FTREE_RANGES_MAX + 1},
    {"verdict.victims.last", FULL_VERDICT, VERDICT_VICTIMS + 10, 4, MESSAGES_SIZE},
    {"victims.class", FULL_VICTIMS, 8, 1, FTREE_CLASS_COUNT},
    {"victims.node", FULL_VICTIMS, 9, 4, MESSAGES_NODES},
    {"victims.rank", FULL_VICTIMS, 13, 4, MESSAGES_SIZE},
    {"victims.ranks.count", FULL_VICTIMS, 17, 4, UINT32_MAX},
    {"victims.ranks.first", FULL_VICTIMS, 23, 4, UINT32_MAX},
};

/* rows: a_field_out_of_range_is_malformed COUNT(bad_fields) */
START_TEST(a_field_out_of_range_is_malformed)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len = encoded(bad_fields[_i].message, buf);
    struct wire_message m;

    ck_assert_int_eq(decoded(buf, len, &m), FTREE_OK);
    put(buf + bad_fields[_i].offset, bad_fields[_i].value, bad_fields[_i].bytes);
    ck_assert_msg(decoded(buf, len, &m) == FTREE_ERR_MALFORMED, "%s", bad_fields[_i].field);
}
END_TEST

START_TEST(a_job_without_tables_has_one_rank_a_node)
{
    const struct ftree_job job = {.nodes = 8, .size = 8, .fanout = 2};
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    size_t len;

    memset(&m, 0, sizeof(m));
    m.type = WIRE_VERDICT_UP;
    m.u.verdict.node = m.u.verdict.rank = 5;
    len = ftree_wire_encode(&m, NOW, buf);
    ck_assert_int_eq(ftree_wire_decode(&job, NOW, buf, len, &m), FTREE_OK);
    m.u.verdict.rank = 4;
    len = ftree_wire_encode(&m, NOW, buf);
    ck_assert_int_eq(ftree_wire_decode(&job, NOW, buf, len, &m), FTREE_ERR_MALFORMED);
}
END_TEST

START_TEST(the_longest_message_fits)
{
    struct ftree_job job = {.nodes = 4096, .size = 4096, .fanout = 32};
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    size_t len;

    ck_assert(messages_make(FULL_VERDICT, NOW, &m));
    memset(&m.u.verdict.victims, 0, sizeof(m.u.verdict.victims));
    for (int32_t i = 0; i < 2 * FTREE_RANGES_MAX; i++)
        ftree_verdict_ranks_add(&m.u.verdict.victims, 10 * i, 10 * i + 5);
    ck_assert_int_eq(m.u.verdict.victims.ranges, FTREE_RANGES_MAX);
    len = ftree_wire_encode(&m, NOW, buf);
    ck_assert_uint_le(len, FTREE_MESSAGE_MAX);
    ck_assert_int_eq(ftree_wire_decode(&job, NOW, buf, len, &m), FTREE_OK);
    ck_assert_int_eq(m.u.verdict.victims.count, 2 * FTREE_RANGES_MAX * 6);
}
END_TEST

START_TEST(an_unknown_type_has_no_body_to_write)
{
    struct wire_message m = {.type = WIRE_TYPE_COUNT}, back;
    uint8_t buf[FTREE_MESSAGE_MAX];

    ck_assert_uint_eq(ftree_wire_encode(&m, NOW, buf), WIRE_HEADER);
    ck_assert_int_eq(decoded(buf, WIRE_HEADER, &back), FTREE_ERR_MALFORMED);
}
END_TEST

START_TEST(types_have_names)
{
    ck_assert_str_eq(ftree_wire_type_name(WIRE_ACK), "ack");
    ck_assert_str_eq(ftree_wire_type_name(WIRE_VERDICT_DOWN), "verdict-down");
    ck_assert_str_eq(ftree_wire_type_name(WIRE_TYPE_COUNT), "?");
    ck_assert_str_eq(ftree_wire_type_name(-1), "?");
}
END_TEST

SUITE("wire")
{
    TEST(every_message_comes_back_as_it_was);
    TEST(the_bytes_are_these);
    TEST(fields_come_back_symptom_and_probe);
    TEST(fields_come_back_answer);
    TEST(fields_come_back_verdict);
    TEST(times_travel_as_ages);
    TEST(cut_at_any_length_is_malformed);
    TEST(bytes_left_over_are_malformed);
    TEST(magic_and_version);
    TEST_ROWS(a_field_out_of_range_is_malformed, COUNT(bad_fields));
    TEST(a_job_without_tables_has_one_rank_a_node);
    TEST(the_longest_message_fits);
    TEST(an_unknown_type_has_no_body_to_write);
    TEST(types_have_names);
}
