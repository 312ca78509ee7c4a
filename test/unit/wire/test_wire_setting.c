/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree.h"
#include "ftree/report/report.h"
#include "ftree/rules/rules.h"
#include "suite.h"

/* What a person sets, as it travels and as it is checked. */

static struct ftree_setting all(void)
{
    static const char rules[] = "{}";

    return (struct ftree_setting){.version = 7ull << 32 | 3,
                                  .uid = 1000,
                                  .changed = FTREE_SET_STALL,
                                  .has = FTREE_SET_ALL,
                                  .abort = true,
                                  .stall_ms = 500,
                                  .rules = rules,
                                  .rules_len = 2};
}

static uint8_t bytes[FTREE_SETTING_BYTES + 64];

TEST_CASE(what_is_written_is_read)
{
    struct ftree_setting s = all(), t;
    size_t len = ftree_setting_encode(&s, bytes);

    ck_assert_uint_le(len, FTREE_SETTING_BYTES + s.rules_len);
    ck_assert_int_eq(ftree_setting_decode(bytes, len, &t), FTREE_OK);
    ck_assert_uint_eq(t.version, s.version);
    ck_assert_uint_eq(t.uid, 1000);
    ck_assert_uint_eq(t.changed, FTREE_SET_STALL);
    ck_assert_uint_eq(t.has, FTREE_SET_ALL);
    ck_assert(t.abort);
    ck_assert_uint_eq(t.stall_ms, 500);
    ck_assert_uint_eq(t.rules_len, 2);
    ck_assert_mem_eq(t.rules, "{}", 2);
}

TEST_CASE(what_is_cut_off_or_longer_is_malformed)
{
    struct ftree_setting s = all(), t;
    size_t len = ftree_setting_encode(&s, bytes);

    for (size_t n = 0; n <= sizeof(bytes); n++)
        if (n != len)
            ck_assert_int_eq(ftree_setting_decode(bytes, n, &t), FTREE_ERR_MALFORMED);
}

static void expect_malformed(const struct ftree_setting *s)
{
    struct ftree_setting t;

    ck_assert_int_eq(ftree_setting_decode(bytes, ftree_setting_encode(s, bytes), &t),
                     FTREE_ERR_MALFORMED);
}

TEST_CASE(what_cannot_be_is_malformed)
{
    struct ftree_setting s = all();

    s.changed = 0; /* nothing */
    expect_malformed(&s);
    s = all();
    s.has = FTREE_SET_ACTION; /* it was changed, and is not there */
    expect_malformed(&s);
    s = all();
    s.stall_ms = FTREE_STALL_MS_MIN - 1;
    expect_malformed(&s);
    s.stall_ms = FTREE_STALL_MS_MAX + 1;
    expect_malformed(&s);
    s = all();
    s.has = FTREE_SET_STALL; /* and rules */
    expect_malformed(&s);
    s = all();
    s.has = FTREE_SET_ALL + 1;
    expect_malformed(&s);
}

TEST_CASE(rules_are_checked)
{
    struct ftree_setting s = all();
    char why[320] = "";

    ck_assert_int_eq(ftree_setting_check(&s, why, sizeof(why)), FTREE_ERR_INVALID);
    ck_assert(!strncmp(why, "rules: ", 7));
    s.rules = "{ \"name\": }";
    s.rules_len = strlen(s.rules);
    ck_assert_int_eq(ftree_setting_check(&s, why, sizeof(why)), FTREE_ERR_INVALID);
    ck_assert(!strncmp(why, "rules: line 1, column ", 22));
    s.rules = ftree_rules_builtin(&s.rules_len);
    ck_assert_uint_lt(s.rules_len, FTREE_SET_RULES_MAX);
    ck_assert_int_eq(ftree_setting_check(&s, why, sizeof(why)), FTREE_OK);
    s.rules_len = 0; /* the built-in ones */
    ck_assert_int_eq(ftree_setting_check(&s, why, sizeof(why)), FTREE_OK);
}

TEST_CASE(what_is_not_changed_is_as_before)
{
    struct ftree_setting before = all(), s = {.changed = FTREE_SET_ACTION};

    ftree_setting_merge(&s, &before);
    ck_assert(!s.abort);
    ck_assert_uint_eq(s.has, FTREE_SET_ALL);
    ck_assert_uint_eq(s.changed, FTREE_SET_ACTION);
    ck_assert_uint_eq(s.stall_ms, 500);
    ck_assert_uint_eq(s.rules_len, 2);
    before = (struct ftree_setting){0};
    s = (struct ftree_setting){.changed = FTREE_SET_STALL, .stall_ms = 200};
    ftree_setting_merge(&s, &before);
    ck_assert_uint_eq(s.has, FTREE_SET_STALL);
    ck_assert_uint_eq(s.stall_ms, 200);
}

TEST_CASE(in_words_it_is_what_was_changed)
{
    struct ftree_setting s = all();
    char text[160];

    ftree_report_setting(&s, text, sizeof(text));
    ck_assert_str_eq(text, "stall-ms=500");
    s.changed = FTREE_SET_ALL;
    ftree_report_setting(&s, text, sizeof(text));
    ck_assert_str_eq(text, "action=abort, stall-ms=500, rules of 2 bytes");
    s.changed = FTREE_SET_RULES;
    s.rules_len = 0;
    ftree_report_setting(&s, text, sizeof(text));
    ck_assert_str_eq(text, "rules=built-in");
}
