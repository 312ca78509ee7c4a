/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "sim/units.h"

TEST_CASE(times)
{
    static const struct {
        const char *text;
        double ns; /* -1: it is no time */
    } rows[] = {{"5s", 5e9},        {"150ms", 150e6}, {"1.5s", 1.5e9},
                {"25us", 25e3},     {"7ns", 7},       {"2m", 120e9},
                {"1000h", 3600e12}, {".5s", 0.5e9},   {"0s", 0},
                {"5", -1},          {"s", -1},        {"", -1},
                {"5 s", -1},        {"-1s", -1},      {"1e3s", -1},
                {"5sec", -1},       {"1.2.3s", -1},   {"0x5s", -1},
                {"99999999h", -1},  {"inf", -1},      {"88888888888888888888888s", -1}};

    for (int i = 0; i < COUNT(rows); i++) {
        ftree_time t = 0;
        bool good = sim_read_time(rows[i].text, strlen(rows[i].text), &t);
        ck_assert_msg(good == (rows[i].ns >= 0), "%s", rows[i].text);
        ck_assert_msg(!good || t == (ftree_time) rows[i].ns, "%s", rows[i].text);
    }
}

TEST_CASE(shares)
{
    double share;

    ck_assert(sim_read_share("5%", 2, &share) && share == 0.05);
    ck_assert(sim_read_share("0.25", 4, &share) && share == 0.25);
    ck_assert(sim_read_share("100%", 4, &share) && share == 1);
    ck_assert(!sim_read_share("101%", 4, &share));
    ck_assert(!sim_read_share("2", 1, &share));
    ck_assert(!sim_read_share("%", 1, &share));
    ck_assert(!sim_read_share("5%%", 3, &share));
}

TEST_CASE(numbers)
{
    int64_t n;

    ck_assert(sim_read_number("17", 2, 0, 17, &n) && n == 17);
    ck_assert(!sim_read_number("18", 2, 0, 17, &n));
    ck_assert(!sim_read_number("", 0, 0, 17, &n));
    ck_assert(!sim_read_number("1a", 2, 0, 17, &n));
    ck_assert(!sim_read_number("-1", 2, -5, 17, &n));
    ck_assert(!sim_read_number("1111111111111111111", 19, 0, INT64_MAX, &n));
}
