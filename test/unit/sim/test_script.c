/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/hang.h"
#include "sim/network.h"
#include "sim/script.h"
#include "suite.h"

static struct sim_topology topology;

static void begin(const char *string)
{
    ck_assert_int_eq(sim_topology_make(&topology, string, string ? 0 : 20, 32, 0, 1), FTREE_OK);
}

/* A script of one line. */
static struct sim_script read_line(const char *line)
{
    struct sim_script_error e;
    struct sim_script s = {0};
    int rc = sim_script_read(&s, line, &topology, &e);

    ck_assert_msg(!rc, "%s: %d:%d: %s", line, e.line, e.column, e.text);
    ck_assert_int_eq(s.n, 1);
    return s;
}

TEST_CASE(lines)
{
    static const struct {
        const char *line;
        int verb, kind, count, ranges, first, last;
        double at, lasts; /* seconds; lasts 0: for good */
        int paths;
    } rows[] = {
        {"lose node 17", SIM_LOSE, SIM_NODES, 0, 1, 17, 17, 1, 0, 3},
        {"t=5s lose node 17", SIM_LOSE, SIM_NODES, 0, 1, 17, 17, 5, 0, 3},
        {"lose node n3", SIM_LOSE, SIM_NODES, 0, 1, 3, 3, 1, 0, 3},
        {"lose nodes 1-4,9 # all of them", SIM_LOSE, SIM_NODES, 0, 2, 1, 4, 1, 0, 3},
        {"t=1.5s lose switch 3", SIM_LOSE, SIM_SWITCHES, 0, 1, 3, 3, 1.5, 0, 3},
        {"lose switch s1", SIM_LOSE, SIM_SWITCHES, 0, 1, 1, 1, 1, 0, 3},
        {"freeze node 4 for 2s", SIM_FREEZE, SIM_NODES, 0, 1, 4, 4, 1, 2, 3},
        {"partition switches 1-4", SIM_PARTITION, SIM_SWITCHES, 0, 1, 1, 4, 1, 0, 3},
        {"partition nodes 1-4 on data for 10s", SIM_PARTITION, SIM_NODES, 0, 1, 1, 4, 1, 10, 1},
        {"cut node 2 on mgmt", SIM_CUT, SIM_NODES, 0, 1, 2, 2, 1, 0, 2},
        {"storm: all wait for node 9", SIM_STORM, SIM_NODES, 0, 1, 9, 9, 1, 0, 3},
        {"  kill\trandom node\r", SIM_KILL, SIM_RANDOM_NODES, 1, 0, 0, 0, 1, 0, 3},
        {"lose 10 random nodes", SIM_LOSE, SIM_RANDOM_NODES, 10, 0, 0, 0, 1, 0, 3},
        {"lose random switch", SIM_LOSE, SIM_RANDOM_SWITCHES, 1, 0, 0, 0, 1, 0, 3},
        {"lose root", SIM_LOSE, SIM_ROOT, 0, 0, 0, 0, 1, 0, 3},
        {"lose root and 2 substitutes", SIM_LOSE, SIM_ROOT, 2, 0, 0, 0, 1, 0, 3},
        {"lose random fln and child", SIM_LOSE, SIM_RANDOM_FLN, 1, 0, 0, 0, 1, 0, 3},
        {"return node 17", SIM_RETURN, SIM_NODES, 0, 1, 17, 17, 1, 0, 3},
        {"heal", SIM_HEAL, SIM_NONE, 0, 0, 0, 0, 1, 0, 3},
        {"random waits every 1s of up to 5s for 2s", SIM_RANDOM_WAITS, SIM_NONE, 0, 0, 0, 0, 1, 2,
         3},
        {"stop rank 7 for 3s", SIM_STOP, SIM_NODES, 0, 1, 7, 7, 1, 3, 3},
        {"cut nodes 2,3 from node 4 on data", SIM_CUT, SIM_NODES, 0, 2, 2, 2, 1, 0, 1},
        {"down node 7 for 3s", SIM_DOWN, SIM_NODES, 0, 1, 7, 7, 1, 3, 1},
        {"finalize node 3", SIM_FINALIZE, SIM_NODES, 0, 1, 3, 3, 1, 0, 3},
        {"ring of 4 ranks for 2s", SIM_HANG, SIM_NONE, 0, 0, 0, 0, 1, 2, 3},
        {"chain of 4 ranks to node 3", SIM_HANG, SIM_NODES, 0, 1, 3, 3, 1, 0, 3},
        {"random phases every 1m of up to 5s", SIM_RANDOM_PHASES, SIM_NONE, 0, 0, 0, 0, 1, 0, 3},
        {"collective: node 3 sleeps for 2s", SIM_HANG, SIM_NODES, 0, 1, 3, 3, 1, 2, 3},
        {"collective: node 3 has another root", SIM_HANG, SIM_NODES, 0, 1, 3, 3, 1, 0, 3},
    };

    begin("switch:5 node:4");
    for (int i = 0; i < COUNT(rows); i++) {
        struct sim_script s = read_line(rows[i].line);
        const struct sim_fault *f = s.fault;
        ftree_time lasts = rows[i].lasts > 0 ? (ftree_time) (rows[i].lasts * 1e9) : FTREE_NEVER;
        ck_assert_msg(f->verb == rows[i].verb && f->target.kind == rows[i].kind, "%s",
                      rows[i].line);
        ck_assert_msg(f->target.count == rows[i].count && f->target.ranges == rows[i].ranges, "%s",
                      rows[i].line);
        ck_assert_msg(f->at == (ftree_time) (rows[i].at * 1e9) && f->lasts == lasts, "%s",
                      rows[i].line);
        ck_assert_msg(f->paths == rows[i].paths, "%s", rows[i].line);
        if (f->target.ranges)
            ck_assert_msg(f->target.range[0].first == rows[i].first &&
                              f->target.range[0].last == rows[i].last,
                          "%s", rows[i].line);
        sim_script_free(&s);
    }
    sim_topology_free(&topology);
}

TEST_CASE(ranks_that_wait_for_each_other)
{
    static const struct {
        const char *line;
        int shape, count, chains;
        bool scattered;
        int within_ms;
    } rows[] = {
        {"ring of 4 ranks", SIM_RING, 4, 0, false, 10},
        {"ring of 20 scattered ranks within 1s", SIM_RING, 20, 0, true, 1000},
        {"knot of 3 scattered ranks within 20ms for 5s", SIM_KNOT, 3, 0, true, 20},
        {"any source of 2 ranks", SIM_ANY_SOURCE, 2, 0, false, 10},
        {"chain of 1 rank to root", SIM_CHAIN, 1, 1, false, 10},
        {"3 chains of 5 scattered ranks to random node", SIM_CHAIN, 15, 3, true, 10},
        {"collective: all but node 7", SIM_ALL_BUT, 0, 0, false, 10},
        {"collective: root receives", SIM_ALL_BUT_RECEIVE, 0, 0, false, 10},
        {"collective: random node has another root", SIM_OTHER_ROOT, 0, 0, false, 10},
    };

    begin(NULL);
    for (int i = 0; i < COUNT(rows); i++) {
        struct sim_script s = read_line(rows[i].line);
        const struct sim_fault *f = s.fault;
        ck_assert_msg(f->verb == SIM_HANG && f->shape == rows[i].shape, "%s", rows[i].line);
        ck_assert_msg(f->count == rows[i].count && f->chains == rows[i].chains, "%s",
                      rows[i].line);
        ck_assert_msg(f->scattered == rows[i].scattered &&
                          f->within == (ftree_time) rows[i].within_ms * FTREE_MS,
                      "%s", rows[i].line);
        sim_script_free(&s);
    }
    sim_topology_free(&topology);
}

TEST_CASE(what_is_wrong_is_said_with_line_and_column)
{
    static const struct {
        const char *text;
        int line, column;
        const char *says;
    } rows[] = {
        {"loose node 1", 1, 1, "'loose' where lose, kill, "},
        {"lose", 1, 5, "the line ends where a target"},
        {"lose node", 1, 10, "the line ends where a list of nodes is expected"},
        {"lose node 20", 1, 11, "no such node: '20'; there are 20"},
        {"\n# c\nlose node 1,x", 3, 13, "no such node: 'x'"},
        {"lose node 4-2", 1, 11, "a range that ends before it begins"},
        {"lose node 1,,2", 1, 13, "no such node: ''"},
        {"lose switch 1", 1, 13, "there are no switches; --topology names them"},
        {"lose random switch", 1, 13, "there are no switches; --topology names them"},
        {"t=5 lose node 1", 1, 3, "'5' is not a time"},
        {"t= lose node 1", 1, 1, "'t=' where"},
        {"freeze node 4 for ever", 1, 19, "'ever' where a time such as"},
        {"freeze node 4 4", 1, 15, "'4' where the end of the line is expected"},
        {"storm: all wait node 9", 1, 17, "'node' where 'for' is expected"},
        {"cut node 1 on fire", 1, 15, "'fire' where data or mgmt"},
        {"lose one of it", 1, 1, "'it' needs a line with a target before it"},
        {"lose one", 1, 9, "the line ends where 'of' is expected"},
        {"ring of 1 ranks", 1, 9, "'1' where a number of ranks that the job has"},
        {"knot of 21 ranks", 1, 9, "'21' where a number of ranks that the job has"},
        {"3 chains of 7 ranks to root", 1, 13, "'7' where a number of ranks that the job has"},
        {"3 of 7 ranks", 1, 3, "'of' where 'chains' is expected"},
        {"chain of 7 ranks", 1, 17, "the line ends where 'to' and a target is expected"},
        {"any of 7 ranks", 1, 5, "'of' where 'source' is expected"},
        {"collective: root waits", 1, 18, "'waits' where sleeps, receives or has another root"},
        {"lose root within 1s", 1, 11, "'within' where the end of the line"},
        {"finalize root for 1s", 1, 15, "'for' where the end of the line"},
        {"lose it", 1, 1, "'it' needs a line with a target before it"},
        {"lose 0 random nodes", 1, 6, "'0' where a target"},
        {"lose 21 random nodes", 1, 6, "'21' where a target"},
        {"lose root and substitutes", 1, 15, "'substitutes' where a number"},
        {"random waits every 0s of up to 5s", 1, 20, "more waits than the time allows"},
        {"stop rank 20", 1, 11, "'20' where a rank of the job"},
        {"cut node 1 from switch 2", 1, 17, "'switch' where 'node'"},
        {"return node 1 for 2s", 1, 15, "'for' where the end of the line"},
        {"lose node 99999999999999999999", 1, 11, "no such node"},
    };

    begin(NULL);
    for (int i = 0; i < COUNT(rows); i++) {
        struct sim_script_error e = {0};
        struct sim_script s = {0};
        ck_assert_msg(sim_script_read(&s, rows[i].text, &topology, &e), "%s", rows[i].text);
        ck_assert_msg(e.line == rows[i].line && e.column == rows[i].column, "%s: %d:%d: %s",
                      rows[i].text, e.line, e.column, e.text);
        ck_assert_msg(strstr(e.text, rows[i].says) == e.text, "%s: %s", rows[i].text, e.text);
        sim_script_free(&s);
    }
    sim_topology_free(&topology);
}

TEST_CASE(a_script_has_many_lines_and_comments)
{
    struct sim_script_error e;
    struct sim_script s = {0};

    begin(NULL);
    ck_assert_int_eq(sim_script_read(&s,
                                     "# first\n\nt=1s lose node 1\n  \t\nt=2s storm: all wait for "
                                     "it\nt=3s heal",
                                     &topology, &e),
                     FTREE_OK);
    ck_assert_int_eq(s.n, 3);
    ck_assert_int_eq(s.fault[1].target.kind, SIM_IT);
    ck_assert_int_eq(sim_script_read(&s, "lose node 2", &topology, &e), FTREE_OK);
    ck_assert_int_eq(s.n, 4);
    sim_script_free(&s);
    sim_topology_free(&topology);
}
