/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Which messages are under way, from a count and a sum on each side. */

#include "faultloc/seam/faultloc_seam.h"
#include "suite.h"
#include "ftree/waits/waits.h"

#define WORLD 4
#define LAST 32
#define STORIES 500

static uint64_t state = 1;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int) ((state >> 33) % (uint64_t) below);
}

static void add(struct waits_sum *s, uint32_t context, int32_t tag)
{
    s->count++;
    s->sum += ftree_waits_mark(context, tag);
}

static uint32_t count_of(const struct waits_flows *f, int32_t tag)
{
    uint32_t n = 0;

    for (int32_t i = 0; i < f->flows; i++)
        n += f->flow[i].tag == tag ? f->flow[i].count : 0;
    return n;
}

TEST_CASE(a_rank_computes_the_same_mark)
{
    for (int i = 0; i < 1000; i++) {
        uint32_t context = (uint32_t) draw(1 << 16);
        int32_t tag = draw(1 << 28);
        uint64_t x = (FAULTLOC_KEY(context, tag) * FAULTLOC_MARK_FACTOR) ^ FAULTLOC_MARK_FLIPS;
        ck_assert_uint_eq(ftree_waits_mark(context, tag), x * x);
    }
}

/* Tags of threads of which sums, squares and cubes are equal. */
static const int8_t equal[2][8] = {{0, 3, 5, 6, 9, 10, 12, 15}, {1, 2, 4, 7, 8, 11, 13, 14}};

/* 1 + 4 = 2 + 3, and 0 + 4 + 5 = 1 + 2 + 6 with the squares likewise: no sum of marks. */
TEST_CASE(tags_of_equal_sums_have_other_marks)
{
#define MARK(tag) ftree_waits_mark(WORLD, tag)
    for (int32_t t = 0; t < 10000; t++) {
        ck_assert_uint_ne(MARK(t + 1) + MARK(t + 4), MARK(t + 2) + MARK(t + 3));
        ck_assert_uint_ne(MARK(t) + MARK(t + 4) + MARK(t + 5),
                          MARK(t + 1) + MARK(t + 2) + MARK(t + 6));
        ck_assert_uint_ne(MARK(t) + MARK(t + 2), 2 * MARK(t + 1));
        for (int32_t step = 1; step <= 10; step++) {
            uint64_t sum[2] = {0, 0};
            for (int i = 0; i < 16; i++)
                sum[i / 8] += MARK(t + step * equal[i / 8][i % 8]);
            ck_assert_uint_ne(sum[0], sum[1]);
        }
    }
#undef MARK
}

TEST_CASE(equal_sums_are_nothing_under_way)
{
    struct waits_sum sent = {0}, received = {0};
    struct waits_flows out;

    for (int tag = 0; tag < 1000; tag++)
        add(&sent, WORLD, tag);
    for (int tag = 999; tag >= 0; tag--)
        add(&received, WORLD, tag);
    ck_assert(ftree_waits_unreceived(&sent, &received, NULL, 0, &out));
    ck_assert_int_eq(out.flows, 0);
    ck_assert(out.whole);
}

TEST_CASE(as_many_of_other_tags_are_not_equal)
{
    struct waits_sum sent = {0}, received = {0};
    struct waits_flows out;

    add(&sent, WORLD, 7);
    add(&received, WORLD, 9);
    ck_assert(!ftree_waits_unreceived(&sent, &received, NULL, 0, &out));
    ck_assert(!out.whole);
}

/* A tag is another one in another communicator. */
TEST_CASE(a_message_with_the_wrong_tag_is_known)
{
    static const struct waits_flow last[] = {{.peer = 3, .tag = 7, .context = 8},
                                             {.peer = 3, .tag = 9, .context = WORLD}};
    struct waits_sum sent = {UINT32_MAX, 5}, received = {UINT32_MAX, 5};
    struct waits_request q = {.kind = WAITS_RECV, .peer = 5, .tag = 7};
    struct waits_flows out = {.rank = 5};

    add(&sent, WORLD, 9);
    ck_assert(ftree_waits_unreceived(&sent, &received, last, 2, &out));
    ck_assert_int_eq(out.flows, 1);
    ck_assert_uint_eq(count_of(&out, 9), 1);
    ck_assert_int_eq(ftree_waits_match(&q, WORLD, 3, &out), WAITS_OPEN);
    q.tag = 9;
    ck_assert_int_eq(ftree_waits_match(&q, WORLD, 3, &out), WAITS_COMES);
    /* one that is not among the last is not known */
    add(&sent, WORLD, 11);
    ck_assert(!ftree_waits_unreceived(&sent, &received, last, 2, &out));
}

/* Of many messages some are not received, of up to `kinds` tags. */
static bool lose(int kinds, int most, uint32_t *lost, struct waits_flows *out)
{
    struct waits_sum sent = {0}, received = {0};
    struct waits_flow last[LAST];

    for (int i = 0; i < LAST; i++) {
        last[i] = (struct waits_flow){.peer = 3, .tag = i % 20, .context = WORLD};
        add(&sent, WORLD, last[i].tag);
        add(&received, WORLD, last[i].tag);
    }
    memset(lost, 0, 20 * sizeof(*lost));
    for (int i = 0; i < kinds; i++)
        for (int n = 1 + draw(most), tag = draw(20); n > 0; n--) {
            add(&sent, WORLD, tag);
            lost[tag]++;
        }
    return ftree_waits_unreceived(&sent, &received, last, LAST, out);
}

TEST_CASE(some_of_many_are_found)
{
    struct waits_flows out;
    uint32_t lost[20];

    for (int i = 0; i < STORIES; i++) {
        REQUIRE(lose(1 + i % 3, i % 3 == 2 ? 12 : 200, lost, &out));
        for (int tag = 0; tag < 20; tag++)
            REQUIRE(count_of(&out, tag) == lost[tag]);
    }
}

/* Each of many threads has sent some messages with tags of its own, of which `lost` were not
 * received, among the last `newest`. */
static bool lose_single(int lost, int newest, bool *is_lost, struct waits_flows *out)
{
    struct waits_sum sent = {0}, received = {0};
    struct waits_flow last[LAST];

    memset(is_lost, 0, LAST * sizeof(*is_lost));
    for (int left = lost; left > 0;) {
        int i = draw(newest);
        left -= !is_lost[i];
        is_lost[i] = true;
    }
    for (int i = 0; i < LAST; i++) {
        last[i] = (struct waits_flow){.peer = 3, .tag = i, .context = WORLD, .count = 1};
        add(&sent, WORLD, i);
        if (!is_lost[i])
            add(&received, WORLD, i);
    }
    return ftree_waits_unreceived(&sent, &received, last, LAST, out);
}

static const struct {
    int lost, newest;
} singles[] = {{4, LAST}, {8, 8}, {8, 22}, {12, 20}, {16, 20}, {20, 20}, {28, LAST}, {LAST, LAST}};

TEST_CASES(one_message_of_each_of_many_tags_is_found, COUNT(singles))
{
    bool is_lost[LAST];
    struct waits_flows out;

    for (int i = 0; i < 20; i++) {
        REQUIRE(lose_single(singles[_i].lost, singles[_i].newest, is_lost, &out));
        ck_assert_int_eq(out.flows, singles[_i].lost);
        for (int tag = 0; tag < LAST; tag++)
            REQUIRE(count_of(&out, tag) == is_lost[tag]);
    }
}

/* Threads whose tags are the same. */
TEST_CASE(messages_of_one_tag_are_one_row)
{
    struct waits_flow last[LAST];
    struct waits_sum sent = {0}, none = {0};
    struct waits_flows out;

    for (int i = 0; i < LAST; i++) {
        last[i] = (struct waits_flow){.peer = 3, .tag = i / 4, .context = WORLD, .count = 1};
        add(&sent, WORLD, last[i].tag);
    }
    ck_assert(ftree_waits_unreceived(&sent, &none, last, LAST, &out));
    ck_assert_int_eq(out.flows, LAST / 4);
    for (int tag = 0; tag < LAST / 4; tag++)
        ck_assert_uint_eq(count_of(&out, tag), 4);
}

/* Of the last messages all were received. */
TEST_CASES(an_old_message_is_known_by_its_mark, 3)
{
    struct waits_sum sent = {0}, received = {0};
    struct waits_flow last[LAST];
    struct waits_flows out;

    for (int32_t tag = 0; tag < _i; tag++)
        add(&sent, WORLD, 70 + tag);
    for (int i = 0; i < LAST; i++) {
        last[i] = (struct waits_flow){.peer = 3, .tag = 1, .context = WORLD, .count = 1};
        add(&sent, WORLD, 1);
        add(&received, WORLD, 1);
    }
    ck_assert_int_eq(ftree_waits_unreceived(&sent, &received, last, LAST, &out), _i < 2);
    ck_assert_int_eq(out.flows, 0);
    ck_assert_uint_eq(out.lone, _i == 1 ? ftree_waits_mark(WORLD, 70) : 0);
}

TEST_CASE(too_many_are_not_guessed)
{
    struct waits_flows out;
    uint32_t lost[20];
    int found = 0;

    for (int i = 0; i < 20; i++)
        if (lose(8, 1000, lost, &out)) {
            found++;
            for (int tag = 0; tag < 20; tag++)
                REQUIRE(count_of(&out, tag) == lost[tag]);
        }
    ck_assert_int_lt(found, 20);
}
