/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_hosts.h"
#include "suite.h"

#define NAMES 1000

/* Names in one text, separated by blanks, as they are folded into `room` bytes. */
static void are_folded(const char *names, size_t room, const char *want)
{
    char copy[512], out[512];
    const char *name[32];
    int n = 0;

    snprintf(copy, sizeof(copy), "%s", names);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        name[n++] = word;
    ck_assert_str_eq(HYD_faultloc_hosts(name, n, out, room), want);
}

static const struct {
    const char *names, *want;
} rows[] = {
    {"", ""},
    {"h3", "h3"},
    {"localhost", "localhost"},
    {"h3 h3", "h3"},
    {"h7 h2 h1 h3", "h[1-3,7]"},
    {"h9 h10 h11", "h[9-11]"},
    {"n009 n010 n099 n100", "n[009-010,099-100]"},
    {"n9 n09 n10", "n[9,09-10]"},
    {"login h1 h2 ha1 h", "h,h[1-2],ha1,login"},
    {"n1.c2.site n2.c2.site n3.c3.site", "n[1-2].c2.site,n3.c3.site"},
    {"n1-ib n2-ib n1-eth", "n1-eth,n[1-2]-ib"},
    {"10.0.0.9 10.0.0.10 10.0.1.1", "10.0.0.[9-10],10.0.1.1"},
    {"fe80::1 fe80::2", "fe80::1,fe80::2"},
    {"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
    {"h1234567890123456789 h1234567890123456790", "h1234567890123456789,h1234567890123456790"},
    {"h0 h1 h00", "h[0,00,1]"},
};

TEST_CASES(hosts, COUNT(rows))
{
    are_folded(rows[_i].names, 256, rows[_i].want);
}

/* A list that is too long says how long. */
TEST_CASE(what_does_not_fit_is_counted)
{
    are_folded("a1 a3 a5 a7 a9 a11 a13 a15 a17 a19 a21 a23 a25", HYD_FAULTLOC_HOSTS,
               "a[1,3,5,7,9,11,13,15,17,19,21],... (2 more)");
    are_folded("alpha beta gamma delta epsilon zeta eta theta", HYD_FAULTLOC_HOSTS,
               "alpha,beta,delta,epsilon,eta,... (3 more)");
    are_folded("this-is-the-name-of-a-host-that-is-too-long h1", HYD_FAULTLOC_HOSTS,
               "h1,... (1 more)");
    are_folded("h1.a-domain-whose-name-is-too-long.org h2.a-domain-whose-name-is-too-long.org",
               HYD_FAULTLOC_HOSTS, "... (2 more)");
}

/* Every room that is allowed, and no byte more is written. */
TEST_CASE(nothing_is_written_beyond_the_room)
{
    static char text[NAMES][32];
    const char *name[NAMES];
    char out[1024];

    for (size_t room = HYD_FAULTLOC_HOSTS; room < 512; room++) {
        for (int i = 0; i < NAMES; i++) {
            snprintf(text[i], sizeof(text[i]), "c%d.s%d.long", i % 7 ? i : i * 31, i / 300);
            name[i] = text[i];
        }
        memset(out, 'x', sizeof(out));
        HYD_faultloc_hosts(name, NAMES, out, room);
        ck_assert_uint_lt(strlen(out), room);
        ck_assert_int_eq(out[room], 'x');
        ck_assert_ptr_nonnull(strstr(out, " more)"));
    }
}

TEST_CASE(ranks)
{
    struct HYD_faultloc_range some[] = {{7, 7}, {0, 1}, {2, 2}, {9, 12}, {11, 20}};
    struct HYD_faultloc_range many[100];
    char out[HYD_FAULTLOC_HOSTS + 1] = "";

    ck_assert_str_eq(HYD_faultloc_ranks(some, 5, false, out, HYD_FAULTLOC_HOSTS), "0-2, 7, 9-20");
    ck_assert_str_eq(HYD_faultloc_ranks(some, 1, true, out, HYD_FAULTLOC_HOSTS), "0-1, ...");
    ck_assert_str_eq(HYD_faultloc_ranks(some, 0, true, out, HYD_FAULTLOC_HOSTS), "...");
    ck_assert_str_eq(HYD_faultloc_ranks(some, 0, false, out, HYD_FAULTLOC_HOSTS), "");
    for (int i = 0; i < 100; i++)
        many[i] = (struct HYD_faultloc_range){2000000000 + 2 * i, 2000000000 + 2 * i};
    out[HYD_FAULTLOC_HOSTS] = 'x';
    ck_assert_str_eq(HYD_faultloc_ranks(many, 100, false, out, HYD_FAULTLOC_HOSTS),
                     "2000000000, 2000000002, 2000000004, ...");
    ck_assert_int_eq(out[HYD_FAULTLOC_HOSTS], 'x');
}
