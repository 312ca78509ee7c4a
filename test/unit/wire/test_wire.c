/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "ftree/ftree.h"
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
#define FULL_TOLD (FULL + 14)
#define FULL_PACKET (FULL + 16)
#define FULL_HEARD (FULL + 17)

static size_t encoded(int i, uint8_t buf[FTREE_MESSAGE_MAX])
{
    struct wire_message m;

    ck_assert(messages_make(i, NOW, &m));
    return ftree_wire_encode(&m, NOW, buf);
}

static int decoded(const void *bytes, size_t len, struct wire_message *m)
{
    /* a copy of the exact length, so that the sanitizers see a read behind it; what tells verdicts
     * is read from it again */
    static uint8_t *exact;

    free(exact);
    exact = malloc(len ? len : 1);
    memcpy(exact, bytes, len);
    return ftree_wire_decode(messages_job(), NOW, exact, len, m);
}

static void put(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t) (value >> (8 * i));
}

TEST_CASE(every_message_comes_back_as_it_was)
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

TEST_CASE(the_bytes_are_these)
{
    /* clang-format off */
    static const uint8_t expected[] = {
        0xf7, WIRE_VERSION, WIRE_SYMPTOM, 1, 4, 3, 2, 1, /* header: id 0x01020304 */
        FTREE_SYMPTOM_PEER_SILENT, FTREE_SEVERITY_WARNING,
        FTREE_KIND_NODE, 3, 0, 0, 0, /* the component: node, */
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* rank and switch: none */
        2, 5, 0, 0, 0, 6, 0, 0, 0, /* reporters */
        9, 0, 0, 0, /* count */
        113, 0, 0, 0, /* errno */
        0x00, 0xca, 0x9a, 0x3b, 0, 0, 0, 0, /* ages: 10^9 ns, */
        0x40, 0x42, 0x0f, 0x00, 0, 0, 0, 0, /* 10^6 ns */
        2, 'n', 'o',
    };
    /* clang-format on */
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    ck_assert(messages_make(FULL_SYMPTOM, NOW, &m));
    m.id = 0x01020304;
    m.u.symptom.reporters = 2;
    m.u.symptom.reporter[1] = 6;
    m.u.symptom.error = 113;
    strcpy(m.u.symptom.detail, "no");
    ck_assert_uint_eq(ftree_wire_encode(&m, NOW, buf), sizeof(expected));
    ck_assert_mem_eq(buf, expected, sizeof(expected));
}

TEST_CASE(fields_come_back_symptom_and_probe)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    ck_assert_int_eq(decoded(buf, encoded(FULL_SYMPTOM, buf), &m), FTREE_OK);
    ck_assert_int_eq(m.u.symptom.kind, FTREE_SYMPTOM_PEER_SILENT);
    ck_assert_int_eq(m.u.symptom.severity, FTREE_SEVERITY_WARNING);
    ck_assert_int_eq(m.u.symptom.about.kind, FTREE_KIND_NODE);
    ck_assert_int_eq(m.u.symptom.about.node, 3);
    ck_assert_int_eq(m.u.symptom.about.rank, FTREE_NONE);
    ck_assert_int_eq(m.u.symptom.about.switch_, FTREE_NONE);
    ck_assert_int_eq(m.u.symptom.reporters, FTREE_REPORTERS_MAX);
    ck_assert_int_eq(m.u.symptom.reporter[0], 5);
    ck_assert_uint_eq(m.u.symptom.count, 9);
    ck_assert_uint_eq(m.u.symptom.first, NOW - 1000 * FTREE_MS);
    ck_assert_uint_eq(m.u.symptom.last, NOW - FTREE_MS);
    ck_assert_uint_eq(strlen(m.u.symptom.detail), FTREE_DETAIL_MAX - 1);
    ck_assert_int_eq(decoded(buf, encoded(FULL_PROBE, buf), &m), FTREE_OK);
    ck_assert_uint_eq(m.u.probe.nonce, 12);
    ck_assert_uint_eq(m.u.probe.round, 3);
    ck_assert_int_eq(m.u.probe.rank, FTREE_NONE);
    ck_assert_int_eq(m.u.probe.ask, RULES_ASK_STATE);
    ck_assert_uint_eq(m.u.probe.first, NOW - 1000 * FTREE_MS);
}

TEST_CASE(fields_come_back_answer)
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

TEST_CASE(fields_come_back_verdict)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    const struct ftree_verdict *v = &m.u.verdict;

    ck_assert_int_eq(decoded(buf, encoded(FULL_VERDICT_ON_RANK, buf), &m), FTREE_OK);
    ck_assert_int_eq(v->class_, FTREE_CLASS_PROCESS_STOPPED);
    ck_assert_int_eq(v->kind, FTREE_KIND_RANK);
    ck_assert_uint_eq(strlen(v->rule), FTREE_NAME_MAX - 1);
    ck_assert_uint_eq(strlen(v->because), FTREE_DETAIL_MAX - 1);
    ck_assert_uint_eq(strlen(v->raised_by), FTREE_NAME_MAX - 1);
    ck_assert_uint_eq(v->id, 12345);
    ck_assert_int_eq(v->confidence, 990);
    ck_assert_int_eq(v->node, 3);
    ck_assert_int_eq(v->rank, 7);
    ck_assert_int_eq(v->switch_, FTREE_NONE);
    ck_assert_int_eq(v->pid, 4711);
    ck_assert_int_eq(v->fln, 1);
    ck_assert_uint_eq(v->symptoms, 5);
    ck_assert_uint_eq(v->symptom_kinds, (uint64_t) 3 << (FTREE_SYMPTOM_COUNT - 2));
    ck_assert_uint_eq(v->first_symptom, NOW - 900 * FTREE_MS);
    ck_assert_uint_eq(v->located, NOW - FTREE_MS);
    ck_assert_uint_eq(v->withdrawn, NOW - FTREE_MS);
    ck_assert_uint_eq(v->holds_back, 60000 * FTREE_MS);
    ck_assert_int_eq(v->ticket, FTREE_TICKET_STORAGE);
    ck_assert(!v->local_only);
    ck_assert_int_eq(v->evidences, FTREE_EVIDENCE_MAX);
    ck_assert_int_eq(v->evidence[4].source, FTREE_EVIDENCE_SYMPTOM);
    ck_assert_uint_eq(strlen(v->evidence[4].detail), FTREE_DETAIL_MAX - 1);
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

TEST_CASE(outlines_come_back)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    char rule[FTREE_NAME_MAX] = "";
    struct wire_message m;
    struct summary o;
    int32_t n;

    ck_assert_int_eq(decoded(buf, encoded(FULL_TOLD, buf), &m), FTREE_OK);
    n = m.u.summaries.n;
    ck_assert_int_gt(n, 90); /* a hundred nodes may be lost at once */
    ck_assert(ftree_wire_get_summary(messages_job(), NOW, &m.u.summaries, &o, rule));
    ck_assert_int_eq(o.class_, FTREE_CLASS_PROCESS_STOPPED);
    ck_assert_int_eq(o.kind, FTREE_KIND_RANK);
    ck_assert_int_eq(o.confidence, 990);
    ck_assert_uint_eq(o.id, 12345);
    ck_assert_int_eq(o.node, 3);
    ck_assert_int_eq(o.rank, 7);
    ck_assert_int_eq(o.switch_, FTREE_NONE);
    ck_assert_int_eq(o.fln, 1);
    ck_assert_uint_eq(o.first_symptom, NOW - 900 * FTREE_MS);
    ck_assert_uint_eq(o.located, NOW - FTREE_MS);
    ck_assert_uint_eq(o.withdrawn, NOW - FTREE_MS);
    ck_assert_uint_eq(o.holds_back, 60000 * FTREE_MS);
    ck_assert_uint_eq(strlen(rule), FTREE_NAME_MAX - 1);
    for (uint32_t id = 1; ftree_wire_get_summary(messages_job(), NOW, &m.u.summaries, &o, rule);
         id++) {
        ck_assert_uint_eq(o.id, id);
        ck_assert_uint_eq(o.withdrawn, 0);
        ck_assert_uint_eq(o.holds_back, 0);
        ck_assert_str_eq(rule, "a/b"); /* written once */
        n--;
    }
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(m.u.summaries.n, 0);
}

TEST_CASE(outlines_have_room_for_days)
{
    struct wire_summaries w = {0};
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);
    struct summary o = messages_summary(&v);
    const ftree_time day = 24 * 3600 * 1000 * FTREE_MS, now = 100 * day;
    char rule[FTREE_NAME_MAX] = "";
    struct wire_summary_list told;

    o.first_symptom = now - 90 * day; /* more than can be said: it is the oldest that can */
    o.located = now - 12 * day - 1;
    ck_assert(ftree_wire_put_summary(&w, now, &o, v.rule));
    told = ftree_wire_summary_list(&w);
    ck_assert(ftree_wire_get_summary(messages_job(), now, &told, &o, rule));
    ck_assert_uint_eq(o.first_symptom, now - ((ftree_time) 1 << 40) * 1000 + 1000);
    ck_assert_uint_eq(o.located, now - 12 * day);
}

TEST_CASE(no_outlines_are_a_message_too)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .id = 1};
    size_t len = ftree_wire_encode(&m, NOW, buf);

    ck_assert_uint_eq(len, WIRE_HEADER + 2);
    ck_assert_int_eq(decoded(buf, len, &m), FTREE_OK);
    ck_assert_int_eq(m.u.summaries.n, 0);
}

/* A rule's name is as a job's rules have it: that the first has none does not borrow one. */
TEST_CASE(an_outline_may_have_no_rule)
{
    struct wire_summaries w = {0};
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);
    struct summary o = messages_summary(&v);
    const char *rules[] = {"", "", "a/b", "", "a/b"};
    char rule[FTREE_NAME_MAX] = "";
    struct wire_summary_list told;

    o.first_symptom = o.located = NOW;
    for (int i = 0; i < COUNT(rules); i++)
        ck_assert(ftree_wire_put_summary(&w, NOW, &o, rules[i]));
    told = ftree_wire_summary_list(&w);
    for (int i = 0; i < COUNT(rules); i++) {
        ck_assert(ftree_wire_get_summary(messages_job(), NOW, &told, &o, rule));
        ck_assert_str_eq(rule, rules[i]);
    }
    ck_assert(!ftree_wire_get_summary(messages_job(), NOW, &told, &o, rule));
    ck_assert_uint_eq(told.len, 0);
}

TEST_CASE(what_is_over_stays_so_however_long_ago)
{
    struct wire_summaries w = {0};
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);
    struct summary o = messages_summary(&v);
    char rule[FTREE_NAME_MAX] = "";
    struct wire_summary_list told;

    o.first_symptom = o.located = o.withdrawn = NOW;
    ck_assert(ftree_wire_put_summary(&w, 2 * NOW, &o, v.rule));
    told = ftree_wire_summary_list(&w); /* read where the clock has just begun */
    ck_assert(ftree_wire_get_summary(messages_job(), NOW / 2, &told, &o, rule));
    ck_assert_uint_eq(o.first_symptom, 0);
    ck_assert_uint_gt(o.withdrawn, 0); /* 0 is none */
}

/* Whatever is before it. */
TEST_CASE(a_name_that_finds_no_room_is_not_begun)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);
    struct summary o = messages_summary(&v);
    char rule[FTREE_NAME_MAX] = "", longest[FTREE_NAME_MAX];

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    o.first_symptom = o.located = o.withdrawn = NOW;
    for (int before = 0; before < 40; before++) {
        struct wire_summaries w = {0};
        struct wire_summary_list told;
        for (int i = 0; i < before; i++)
            ck_assert(ftree_wire_put_summary(&w, NOW, &o, "a/b"));
        do /* each has another name */
            longest[0] = (char) ('a' + w.n % 2);
        while (ftree_wire_put_summary(&w, NOW, &o, longest));
        REQUIRE(w.len <= sizeof(w.bytes));
        told = ftree_wire_summary_list(&w);
        while (ftree_wire_get_summary(messages_job(), NOW, &told, &o, rule))
            ;
        REQUIRE(told.n == 0);
        ck_assert_uint_eq(strlen(rule), FTREE_NAME_MAX - 1);
    }
}

/* Only an acknowledgment says that nobody waits, and only what goes up the tree looks for who
 * stands in; of verdicts on their way up several may belong together, one on its way down may be for
 * another, and one goodbye may be followed by another; what an answer says of a node is where data of its ranks may come through. */
TEST_CASE(flags_belong_to_their_types)
{
    static const uint8_t allowed[WIRE_TYPE_COUNT] = {[WIRE_ACK] = WIRE_FLAG_NOBODY_WAITS,
                                                     [WIRE_SYMPTOM] = WIRE_FLAG_SUBSTITUTE,
                                                     [WIRE_VERDICT_UP] =
                                                         WIRE_FLAG_SUBSTITUTE | WIRE_FLAG_MORE,
                                                     [WIRE_GOODBYE] = WIRE_FLAG_MORE,
                                                     [WIRE_RELAY] = WIRE_FLAG_PASSED_ON,
                                                     [WIRE_STATE] = WIRE_FLAG_DELIVERS,
                                                     [WIRE_INDIRECT_RESULT] = WIRE_FLAG_DELIVERS};
    uint8_t buf[FTREE_MESSAGE_MAX];

    for (int type = 0; type < WIRE_TYPE_COUNT; type++) {
        size_t len = encoded(type, buf);
        for (int bit = 0; bit < 8; bit++) {
            struct wire_message m;
            bool ok = allowed[type] >> bit & 1;
            buf[3] = (uint8_t) (1 << bit);
            ck_assert_int_eq(decoded(buf, len, &m), ok ? FTREE_OK : FTREE_ERR_MALFORMED);
        }
    }
}

/* ---- written anew ---------------------------------------------------------------------------- */

#define LATER (NOW + 5000 * FTREE_MS)

static const char *same_times(const struct wire_message *a, const struct wire_message *b)
{
    if (a->type == WIRE_SYMPTOM)
        return a->u.symptom.first == b->u.symptom.first && a->u.symptom.last == b->u.symptom.last
                   ? NULL
                   : "symptom";
    if (a->type == WIRE_VERDICT_UP)
        return a->u.verdict.first_symptom == b->u.verdict.first_symptom &&
                       a->u.verdict.located == b->u.verdict.located &&
                       a->u.verdict.evidence[0].at == b->u.verdict.evidence[0].at
                   ? NULL
                   : "verdict";
    return NULL;
}

/* Whatever its type: as long as before, and the same when it is read at the later time. */
TEST_CASE(what_is_written_anew_says_the_same)
{
    uint8_t buf[FTREE_MESSAGE_MAX], renewed[FTREE_MESSAGE_MAX], again[FTREE_MESSAGE_MAX];
    struct wire_message m, before;

    for (int i = 0; messages_make(i, NOW, &m); i++) {
        size_t len = ftree_wire_encode(&m, NOW, buf);
        ck_assert_int_eq(ftree_wire_renew(messages_job(), NOW, buf, len, LATER, renewed), FTREE_OK);
        ck_assert_int_eq(ftree_wire_decode(messages_job(), NOW, buf, len, &before), FTREE_OK);
        ck_assert_int_eq(ftree_wire_decode(messages_job(), LATER, renewed, len, &m), FTREE_OK);
        ck_assert_int_eq(m.type, before.type);
        ck_assert_int_eq(m.flags, before.flags);
        ck_assert_uint_eq(m.id, before.id);
        ck_assert_ptr_null(same_times(&m, &before));
        /* and back: not a bit was lost on the way */
        ck_assert_int_eq(ftree_wire_renew(messages_job(), LATER, renewed, len, NOW, again),
                         FTREE_OK);
        ck_assert_mem_eq(again, buf, len);
    }
}

TEST_CASE(outlines_are_written_anew)
{
    uint8_t buf[FTREE_MESSAGE_MAX], renewed[FTREE_MESSAGE_MAX];
    size_t len = encoded(FULL_TOLD, buf);
    char rule[2][FTREE_NAME_MAX] = {"", ""};
    struct wire_message m, before;
    struct summary o, old;

    ck_assert_int_eq(ftree_wire_renew(messages_job(), NOW, buf, len, LATER, renewed), FTREE_OK);
    ck_assert_int_eq(ftree_wire_decode(messages_job(), NOW, buf, len, &before), FTREE_OK);
    ck_assert_int_eq(ftree_wire_decode(messages_job(), LATER, renewed, len, &m), FTREE_OK);
    ck_assert_int_eq(m.u.summaries.n, before.u.summaries.n);
    while (ftree_wire_get_summary(messages_job(), NOW, &before.u.summaries, &old, rule[0])) {
        ck_assert(ftree_wire_get_summary(messages_job(), LATER, &m.u.summaries, &o, rule[1]));
        ck_assert_mem_eq(&o, &old, sizeof(o));
        ck_assert_str_eq(rule[0], rule[1]);
    }
    ck_assert_int_eq(m.u.summaries.n, 0);
}

TEST_CASE(what_is_malformed_is_not_written_anew)
{
    uint8_t buf[FTREE_MESSAGE_MAX], renewed[FTREE_MESSAGE_MAX] = {0};
    size_t len = encoded(FULL_TOLD, buf);

    ck_assert_int_eq(ftree_wire_renew(messages_job(), NOW, buf, len - 1, LATER, renewed),
                     FTREE_ERR_MALFORMED);
    buf[1]++;
    ck_assert_int_eq(ftree_wire_renew(messages_job(), NOW, buf, len, LATER, renewed),
                     FTREE_ERR_VERSION);
    ck_assert_uint_eq(renewed[0], 0);
}

TEST_CASE(times_travel_as_ages)
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

TEST_CASE(cut_at_any_length_is_malformed)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;

    for (int i = 0; messages_make(i, NOW, &m); i++) {
        size_t len = encoded(i, buf);
        for (size_t cut = 0; cut < len; cut++)
            ck_assert_int_eq(decoded(buf, cut, &m), FTREE_ERR_MALFORMED);
    }
}

TEST_CASE(bytes_left_over_are_malformed)
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

TEST_CASE(magic_and_version)
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

/* Every field that has a range, at its first bad value, and a bad pair where two must agree. */
#define NAMED (FTREE_NAME_MAX) /* a length byte and the longest name */
#define DETAILED (FTREE_DETAIL_MAX)
#define VERDICT_ID (11 + 2 * NAMED + DETAILED)
#define VERDICT_COMPONENT (VERDICT_ID + 4)
#define VERDICT_PID (VERDICT_COMPONENT + 13)
#define VERDICT_EVIDENCE (VERDICT_PID + 4 + 4 + 4 + 8 + 8 + 8 + 9 + 4 + 1 + 1)
#define EVIDENCE (25 + DETAILED)
#define VERDICT_CANDIDATES (VERDICT_EVIDENCE + EVIDENCE * FTREE_EVIDENCE_MAX)
#define VERDICT_VICTIMS (VERDICT_CANDIDATES + 1 + 4 * FTREE_CANDIDATE_MAX)
#define ANSWER_TROUBLE 21
#define ANSWER_WAITING (ANSWER_TROUBLE + 10 * WIRE_TROUBLES_MAX)
#define SYMPTOM_COUNT (24 + 4 * FTREE_REPORTERS_MAX)

static const struct {
    const char *field;
    int message, offset, bytes;
    uint64_t value;
} bad_fields[] = {
    {"type", FULL_PROBE, 2, 1, WIRE_TYPE_COUNT},
    {"flags", FULL_PROBE, 3, 1, 1},
    {"flags of a symptom", FULL_SYMPTOM, 3, 1, 2},
    {"symptom.kind", FULL_SYMPTOM, 8, 1, FTREE_SYMPTOM_COUNT},
    {"symptom.severity", FULL_SYMPTOM, 9, 1, FTREE_SEVERITY_COUNT},
    {"symptom.about.kind", FULL_SYMPTOM, 10, 1, FTREE_KIND_COUNT},
    {"symptom.about, switch without one", FULL_SYMPTOM, 10, 1, FTREE_KIND_SWITCH},
    {"symptom.about.node", FULL_SYMPTOM, 11, 4, MESSAGES_NODES},
    {"symptom.about.node, none", FULL_SYMPTOM, 11, 4, UINT32_MAX},
    {"symptom.about.rank", FULL_SYMPTOM, 15, 4, MESSAGES_SIZE},
    {"symptom.about.rank, negative", FULL_SYMPTOM, 15, 4, 0xfffffffe},
    {"symptom.about.rank of another node", FULL_SYMPTOM, 15, 4, 8},
    {"symptom.about.switch of a node", FULL_SYMPTOM, 19, 4, 0},
    {"symptom.reporters, none", FULL_SYMPTOM, 23, 1, 0},
    {"symptom.reporters", FULL_SYMPTOM, 23, 1, FTREE_REPORTERS_MAX + 1},
    {"symptom.reporter", FULL_SYMPTOM, 24, 4, MESSAGES_NODES},
    {"symptom.count, none", FULL_SYMPTOM, SYMPTOM_COUNT, 4, 0},
    {"symptom.error", FULL_SYMPTOM, SYMPTOM_COUNT + 4, 4, 4096},
    {"symptom.first after last", FULL_SYMPTOM, SYMPTOM_COUNT + 8, 8, 0},
    {"symptom.detail", FULL_SYMPTOM, SYMPTOM_COUNT + 24, 1, FTREE_DETAIL_MAX},
    {"symptom.detail, not printable", FULL_SYMPTOM, SYMPTOM_COUNT + 25, 1, 0x1b},
    {"probe.ask", FULL_PROBE, 16, 1, RULES_ASKS},
    {"probe.rank", FULL_PROBE, 17, 4, MESSAGES_SIZE},
    {"packet.number", FULL_PACKET, 12, 1, WIRE_BURST_PACKETS},
    {"packet.back", FULL_PACKET, 13, 1, 2},
    {"heard.over", FULL_HEARD, 12, 1, 2},
    {"heard.way.sent", FULL_HEARD, 20, 1, 1}, /* of the ninth group */
    {"heard.way.late, of one not heard", FULL_HEARD, 29, 1, 4},
    {"answer.role", FULL_ANSWER, 12, 1, FTREE_ROLES},
    {"answer.leaving", FULL_ANSWER, 13, 1, 2},
    {"answer.asked_phase", FULL_ANSWER, 14, 1, FTREE_PHASE_COUNT},
    {"answer.asked_peer", FULL_ANSWER, 15, 4, MESSAGES_SIZE},
    {"answer.asked_reported", FULL_ANSWER, 19, 1, 2},
    {"answer.troubles", FULL_ANSWER, 20, 1, WIRE_TROUBLES_MAX + 1},
    {"answer.trouble.rank", FULL_ANSWER, ANSWER_TROUBLE, 4, MESSAGES_SIZE},
    {"answer.trouble.rank, none", FULL_ANSWER, ANSWER_TROUBLE, 4, UINT32_MAX},
    {"answer.trouble.pid", FULL_ANSWER, ANSWER_TROUBLE + 4, 4, INT32_MAX},
    {"answer.trouble.phase", FULL_ANSWER, ANSWER_TROUBLE + 8, 1, FTREE_PHASE_COUNT},
    {"answer.trouble.proc_state", FULL_ANSWER, ANSWER_TROUBLE + 9, 1, 0x1b},
    {"answer.waiting.count", FULL_ANSWER, ANSWER_WAITING, 4, MESSAGES_SIZE + 1},
    {"answer.waiting.count, too few", FULL_ANSWER, ANSWER_WAITING, 4, MESSAGES_SIZE / 2 - 1},
    {"answer.waiting.ranges", FULL_ANSWER, ANSWER_WAITING + 4, 2, FTREE_RANGES_MAX + 1},
    {"answer.waiting.first", FULL_ANSWER, ANSWER_WAITING + 6, 4, MESSAGES_SIZE},
    {"answer.waiting.first > last", FULL_ANSWER, ANSWER_WAITING + 6, 4, 1},
    {"answer.waiting, not apart", FULL_ANSWER, ANSWER_WAITING + 10, 4, 1},
    {"answer.waiting, overlapping", FULL_ANSWER, ANSWER_WAITING + 10, 4, 2},
    {"answer.waiting, not ascending", FULL_ANSWER, ANSWER_WAITING + 14, 4, 0},
    {"verdict.class", FULL_VERDICT, 8, 1, FTREE_CLASS_COUNT},
    {"verdict.confidence", FULL_VERDICT, 9, 2, 1001},
    {"verdict.rule", FULL_VERDICT, 11, 1, FTREE_NAME_MAX},
    {"verdict.rule, not printable", FULL_VERDICT, 12, 1, 0x7f},
    {"verdict.because", FULL_VERDICT, 11 + NAMED, 1, FTREE_DETAIL_MAX},
    {"verdict.raised_by", FULL_VERDICT, 11 + NAMED + DETAILED, 1, FTREE_NAME_MAX},
    {"verdict.kind", FULL_VERDICT, VERDICT_COMPONENT, 1, FTREE_KIND_COUNT},
    {"verdict.kind, switch without one", FULL_VERDICT, VERDICT_COMPONENT, 1, FTREE_KIND_SWITCH},
    {"verdict.node", FULL_VERDICT, VERDICT_COMPONENT + 1, 4, MESSAGES_NODES},
    {"verdict.rank", FULL_VERDICT, VERDICT_COMPONENT + 5, 4, MESSAGES_SIZE},
    {"verdict.rank of another node", FULL_VERDICT_ON_RANK, VERDICT_COMPONENT + 5, 4, 8},
    {"verdict.switch", FULL_VERDICT, VERDICT_COMPONENT + 9, 4, 0},
    {"verdict.pid", FULL_VERDICT, VERDICT_PID, 4, INT32_MAX},
    {"verdict.fln", FULL_VERDICT, VERDICT_PID + 4, 4, MESSAGES_NODES},
    {"verdict.located before its symptom", FULL_VERDICT, VERDICT_PID + 28, 8, 901 * FTREE_MS},
    {"verdict.symptom_kinds", FULL_VERDICT, VERDICT_PID + 12, 8, (uint64_t) 1 << FTREE_SYMPTOM_COUNT},
    {"verdict.withdrawn", FULL_VERDICT, VERDICT_PID + 36, 1, 2},
    {"verdict.ticket", FULL_VERDICT, VERDICT_EVIDENCE - 2, 1, FTREE_TICKET_COUNT},
    {"verdict.evidences", FULL_VERDICT, VERDICT_EVIDENCE - 1, 1, FTREE_EVIDENCE_MAX + 1},
    {"verdict.evidence.source", FULL_VERDICT, VERDICT_EVIDENCE, 1, FTREE_EVIDENCE_SOURCES},
    {"verdict.evidence.path", FULL_VERDICT, VERDICT_EVIDENCE + 1, 1, FTREE_PATHS + 1},
    {"verdict.evidence.role", FULL_VERDICT, VERDICT_EVIDENCE + 2, 1, FTREE_ROLES},
    {"verdict.evidence.reach", FULL_VERDICT, VERDICT_EVIDENCE + 3, 1, FTREE_REACH_COUNT},
    {"verdict.evidence.proc_state", FULL_VERDICT, VERDICT_EVIDENCE + 4, 1, '\n'},
    {"verdict.evidence.target", FULL_VERDICT, VERDICT_EVIDENCE + 5, 4, MESSAGES_NODES},
    {"verdict.evidence.by", FULL_VERDICT, VERDICT_EVIDENCE + 9, 4, MESSAGES_NODES},
    {"verdict.evidence.error", FULL_VERDICT, VERDICT_EVIDENCE + 13, 4, 4096},
    {"verdict.evidence.detail", FULL_VERDICT, VERDICT_EVIDENCE + 25, 1, FTREE_DETAIL_MAX},
    {"verdict.evidence.detail, not printable", FULL_VERDICT, VERDICT_EVIDENCE + 26, 1, '\n'},
    {"verdict.candidates", FULL_VERDICT, VERDICT_CANDIDATES, 1, FTREE_CANDIDATE_MAX + 1},
    {"verdict.candidate.class", FULL_VERDICT, VERDICT_CANDIDATES + 1, 1, FTREE_CLASS_COUNT},
    {"verdict.candidate.confidence", FULL_VERDICT, VERDICT_CANDIDATES + 2, 2, 1001},
    {"verdict.candidate.ruled_out", FULL_VERDICT, VERDICT_CANDIDATES + 4, 1, 2},
    {"verdict.victims.count", FULL_VERDICT, VERDICT_VICTIMS, 4, MESSAGES_SIZE + 1},
    {"verdict.victims.ranges", FULL_VERDICT, VERDICT_VICTIMS + 4, 2, FTREE_RANGES_MAX + 1},
    {"verdict.victims.last", FULL_VERDICT, VERDICT_VICTIMS + 10, 4, MESSAGES_SIZE},
    {"victims.ranks.count", FULL_VICTIMS, 12, 4, UINT32_MAX},
    {"victims.ranks.first", FULL_VICTIMS, 18, 4, UINT32_MAX},
    {"told.n", FULL_TOLD, 8, 2, UINT16_MAX},
    {"told.class", FULL_TOLD, 10, 1, FTREE_CLASS_COUNT},
    {"told.confidence", FULL_TOLD, 11, 2, 1001},
    {"told.kind", FULL_TOLD, 17, 1, FTREE_KIND_COUNT},
    {"told.node", FULL_TOLD, 18, 4, MESSAGES_NODES},
    {"told.rank", FULL_TOLD, 22, 4, MESSAGES_SIZE},
    {"told.fln", FULL_TOLD, 30, 4, MESSAGES_NODES},
    {"told.flags", FULL_TOLD, 34, 1, 4},
    {"told.located before the first symptom", FULL_TOLD, 40, 5, 0xffffffffff},
};

TEST_CASES(a_field_out_of_range_is_malformed, COUNT(bad_fields))
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len = encoded(bad_fields[_i].message, buf);
    struct wire_message m;

    ck_assert_int_eq(decoded(buf, len, &m), FTREE_OK);
    put(buf + bad_fields[_i].offset, bad_fields[_i].value, bad_fields[_i].bytes);
    ck_assert_msg(decoded(buf, len, &m) == FTREE_ERR_MALFORMED, "%s", bad_fields[_i].field);
}

TEST_CASE(a_job_without_tables_has_one_rank_a_node)
{
    const struct ftree_job job = {.nodes = 8, .size = 8, .fanout = 2};
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    size_t len;

    memset(&m, 0, sizeof(m));
    m.type = WIRE_VERDICT_UP;
    m.u.verdict.node = m.u.verdict.rank = 5;
    m.u.verdict.switch_ = FTREE_NONE;
    len = ftree_wire_encode(&m, NOW, buf);
    ck_assert_int_eq(ftree_wire_decode(&job, NOW, buf, len, &m), FTREE_OK);
    m.u.verdict.rank = 4;
    len = ftree_wire_encode(&m, NOW, buf);
    ck_assert_int_eq(ftree_wire_decode(&job, NOW, buf, len, &m), FTREE_ERR_MALFORMED);
}

TEST_CASE(the_longest_message_fits)
{
    struct ftree_job job = {.nodes = 4096, .size = 4096, .fanout = 32};
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    size_t len;

    ck_assert(messages_make(FULL_VERDICT, NOW, &m));
    memset(&m.u.verdict.victims, 0, sizeof(m.u.verdict.victims));
    for (int32_t i = 0; i < 2 * FTREE_RANGES_MAX; i++)
        ftree_ranks_add(&m.u.verdict.victims, 10 * i, 10 * i + 5);
    ck_assert_int_eq(m.u.verdict.victims.ranges, FTREE_RANGES_MAX);
    len = ftree_wire_encode(&m, NOW, buf);
    ck_assert_uint_le(len, FTREE_MESSAGE_MAX);
    ck_assert_int_eq(ftree_wire_decode(&job, NOW, buf, len, &m), FTREE_OK);
    ck_assert_int_eq(m.u.verdict.victims.count, 2 * FTREE_RANGES_MAX * 6);
}

TEST_CASE(an_unknown_type_has_no_body_to_write)
{
    struct wire_message m = {.type = WIRE_TYPE_COUNT}, back;
    uint8_t buf[FTREE_MESSAGE_MAX];

    ck_assert_uint_eq(ftree_wire_encode(&m, NOW, buf), WIRE_HEADER);
    ck_assert_int_eq(decoded(buf, WIRE_HEADER, &back), FTREE_ERR_MALFORMED);
}

TEST_CASE(types_have_names)
{
    ck_assert_str_eq(ftree_wire_type_name(WIRE_ACK), "ack");
    ck_assert_str_eq(ftree_wire_type_name(WIRE_VERDICT_DOWN), "verdict-down");
    ck_assert_str_eq(ftree_wire_type_name(WIRE_TYPE_COUNT), "?");
    ck_assert_str_eq(ftree_wire_type_name(-1), "?");
}
