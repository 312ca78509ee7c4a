/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Stacks of many ranks, merged into a prefix tree. */

#include "ftree/ftree_int.h"
#include "ftree/report/report.h"
#include "ftree/wire/codec.h"
#include "suite.h"
#include "world.h"

#include <json.h>

static const struct ftree_call in_recv[] = {{"main", "/home/u/app.c", "app", 40},
                                            {"solve", "/home/u/solver.c", "app", 120},
                                            {"MPI_Recv", NULL, "libmpi.so.12", 0}};
static const struct ftree_call computes[] = {{"main", "/home/u/app.c", "app", 40},
                                             {"compute", "solver.c", "app", 77}};
static const struct ftree_call elsewhere[] = {{"helper", NULL, "app", 0},
                                              {NULL, NULL, "lib.so", 0}};

static struct ftree *begin(int32_t ranks)
{
    return world_of((struct shape){.nodes = 2, .ranks = ranks / 2, .fanout = 2})->node[0].ft;
}

static void expect(const struct ftree_stacks *s, const char *text)
{
    char *is = ftree_report_stacks(s, "");

    ck_assert_str_eq(is, text);
    free(is);
}

TEST_CASE(ranks_that_do_the_same_are_one_line)
{
    struct ftree_stacks s = {0};
    struct ftree *ft = begin(8);

    for (int32_t rank = 0; rank < 8; rank++)
        ck_assert(rank == 3 || rank == 4 ? ftree_stacks_add(ft, &s, rank, computes, 2)
                                         : ftree_stacks_add(ft, &s, rank, in_recv, 3));
    expect(&s, "8 ranks (0-7)  main app.c:40\n"
               "  6 ranks (0-2, 5-7)  solve solver.c:120 > MPI_Recv\n"
               "  2 ranks (3-4)  compute solver.c:77\n");
    ftree_stacks_clear(ft, &s);
}

TEST_CASE(one_stack_is_one_line)
{
    struct ftree_stacks s = {0};
    struct ftree *ft = begin(8);

    expect(&s, "");
    ftree_stacks_add(ft, &s, 5, in_recv, 3);
    ftree_stacks_add(ft, &s, 5, in_recv, 3); /* of another thread */
    expect(&s, "1 rank (5)  main app.c:40 > solve solver.c:120 > MPI_Recv\n");
    ftree_stacks_clear(ft, &s);
}

/* A rank that ends where others go on, threads, and what is not known. */
TEST_CASE(ranks_part_where_their_stacks_do)
{
    struct ftree_stacks s = {0};
    struct ftree *ft = begin(8);

    ftree_stacks_add(ft, &s, 0, in_recv, 3);
    ftree_stacks_add(ft, &s, 1, in_recv, 2);
    ftree_stacks_add(ft, &s, 0, elsewhere, 2);
    ftree_spans_add(ft, &s.missing, 2, 3);
    strcpy(s.why, "no answer in 5 s");
    expect(&s, "2 ranks (0-1)  main app.c:40 > solve solver.c:120\n"
               "  1 rank (0)  MPI_Recv\n"
               "1 rank (0)  helper > ? in lib.so\n"
               "2 ranks (2-3)  no stack: no answer in 5 s\n");
    ftree_stacks_clear(ft, &s);
}

/* Returns what is read of it, in a buffer of exactly that length. */
static bool get(struct ftree *ft, const struct ftree_bytes *bytes, int32_t len,
                struct ftree_stacks *out)
{
    uint8_t *copy = malloc((size_t) len + 1);
    struct wire_codec c = ftree_wire_reader(ft, 0, copy, (size_t) len);
    bool good;

    memcpy(copy, bytes->items, (size_t) len);
    ftree_stacks_wire(&c, out);
    ck_assert(!c.nomem);
    good = !c.bad && c.at == c.len;
    free(copy);
    return good;
}

static void put(struct ftree *ft, struct ftree_stacks *s, struct ftree_bytes *out)
{
    struct wire_codec c = ftree_wire_writer(ft, 0, out);

    ftree_stacks_wire(&c, s);
    ck_assert(!c.nomem);
}

static void put_one(struct ftree *ft, struct ftree_stacks *s)
{
    for (int32_t rank = 0; rank < 8; rank++)
        ftree_stacks_add(ft, s, rank, rank % 3 ? in_recv : computes, rank % 3 ? 3 : 2);
    ftree_stacks_add_detail(ft, s, 6, "{\"pid\": 7}", 10);
    ftree_spans_add(ft, &s->missing, 7, 7);
    strcpy(s->why, "handler died");
}

TEST_CASE(what_is_read_is_what_was_written)
{
    struct ftree_stacks s = {0}, r = {0};
    struct ftree_bytes bytes = {0};
    struct ftree *ft = begin(8);
    char *text;

    put_one(ft, &s);
    put(ft, &s, &bytes);
    ck_assert(get(ft, &bytes, bytes.n, &r));
    text = ftree_report_stacks(&s, "  ");
    expect(&r, "8 ranks (0-7)  main app.c:40\n"
               "  5 ranks (1-2, 4-5, 7)  solve solver.c:120 > MPI_Recv\n"
               "  3 ranks (0-6:3)  compute solver.c:77\n"
               "1 rank (7)  no stack: handler died\n");
    ck_assert_int_eq(r.details, 1);
    ck_assert_int_eq(r.detail[0].rank, 6);
    ck_assert_str_eq(r.detail[0].text, "{\"pid\": 7}");
    free(text);
    ftree_stacks_clear(ft, &r);
    ftree_stacks_clear(ft, &s);
    ftree_alloc(ft, bytes.items, 0);
}

/* Each prefix, and each byte changed: nothing is read beyond, nothing is kept, no assertion
 * fails. */
TEST_CASE(what_is_malformed_is_refused_or_harmless)
{
    struct ftree_stacks s = {0}, r;
    struct ftree_bytes bytes = {0}, again = {0};
    struct ftree *ft = begin(8);

    put_one(ft, &s);
    put(ft, &s, &bytes);
    for (int32_t len = 0; len < bytes.n; len++) {
        r = (struct ftree_stacks){0};
        ck_assert_msg(!get(ft, &bytes, len, &r), "of %d bytes", (int) len);
        ftree_stacks_clear(ft, &r);
    }
    for (int32_t i = 0; i < bytes.n * 256; i++) {
        uint8_t was = bytes.items[i / 256];
        r = (struct ftree_stacks){0};
        bytes.items[i / 256] = (uint8_t) i;
        again.n = 0;
        if (get(ft, &bytes, bytes.n, &r)) {
            put(ft, &r, &again);
            ck_assert(ftree_stacks_merge(ft, &r, &s));
            free(ftree_report_stacks(&r, ""));
        }
        bytes.items[i / 256] = was;
        ftree_stacks_clear(ft, &r);
    }
    ftree_stacks_clear(ft, &s);
    ftree_alloc(ft, bytes.items, 0);
    ftree_alloc(ft, again.items, 0);
}

TEST_CASE(trees_of_nodes_are_merged)
{
    struct ftree_stacks a = {0}, b = {0};
    struct ftree *ft = begin(8);

    ftree_stacks_add(ft, &a, 0, in_recv, 3);
    ftree_stacks_add(ft, &b, 5, computes, 2);
    ftree_stacks_add(ft, &b, 4, in_recv, 3);
    ftree_stacks_add_detail(ft, &b, 4, "x", 1);
    ck_assert(ftree_stacks_merge(ft, &a, &b));
    expect(&a, "3 ranks (0, 4-5)  main app.c:40\n"
               "  2 ranks (0, 4)  solve solver.c:120 > MPI_Recv\n"
               "  1 rank (5)  compute solver.c:77\n");
    ck_assert_int_eq(a.details, 1);
    ftree_stacks_clear(ft, &a);
    ftree_stacks_clear(ft, &b);
}

/* 4000 functions, of which one has many ranks: it stays, and what is sent is bounded. */
TEST_CASE(what_few_ranks_have_is_dropped_first)
{
    struct ftree_call call[2] = {{"main", "app.c", "app", 1}, {NULL, NULL, "app", 0}};
    struct ftree_stacks s = {0}, r = {0};
    struct ftree_bytes bytes = {0};
    struct ftree *ft = begin(8);
    char name[120];

    call[1].function = name;
    memset(name, 'x', sizeof(name));
    for (int32_t i = 0; i < 4000; i++) {
        snprintf(name + 100, sizeof(name) - 100, "%d", (int) i);
        call[1].line = i + 1;
        ftree_stacks_add(ft, &s, i % 8, call, 2);
    }
    ftree_stacks_add(ft, &s, 0, in_recv, 3);
    ftree_stacks_add(ft, &s, 3, in_recv, 3);
    put(ft, &s, &bytes);
    ck_assert_int_le(bytes.n, FTREE_STACKS_BYTES);
    ck_assert(get(ft, &bytes, bytes.n, &r));
    ck_assert_int_le(r.n, FTREE_STACKS_MAX);
    ck_assert_int_eq(r.n + r.dropped, s.n);
    ck_assert_str_eq(r.items[1].function, "main"); /* 40, of two ranks */
    ck_assert_int_eq(r.items[3].ranks.count, 2);
    ftree_stacks_clear(ft, &r);
    ftree_stacks_clear(ft, &s);
    ftree_alloc(ft, bytes.items, 0);
}

TEST_CASE(texts_are_cut_and_printable)
{
    char name[300];
    struct ftree_call call = {name, "/a/b\x1b/c\nd.c", "m", 3};
    struct ftree_stacks s = {0};
    struct ftree *ft = begin(8);

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    name[1] = '\x80';
    ftree_stacks_add(ft, &s, 1, &call, 1);
    ck_assert_int_eq((int) strlen(s.items[0].function), FTREE_CALL_FUNCTION_MAX - 1);
    ck_assert_int_eq(s.items[0].function[1], '?');
    ck_assert_str_eq(s.items[0].file, "c?d.c");
    ftree_stacks_clear(ft, &s);
}

TEST_CASE(json_names_the_call_around)
{
    struct ftree_stacks s = {0};
    struct ftree *ft = begin(8);
    struct json_object *o;

    ftree_stacks_add(ft, &s, 6, computes, 2);
    o = ftree_report_stacks_json(&s, false);
    ck_assert_str_eq(
        json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
        "{\"calls\":[{\"parent\":-1,\"function\":\"main\",\"file\":\"app.c\",\"line\":40,"
        "\"module\":\"app\",\"ranks\":{\"count\":1,\"runs\":[[6,1]]}},"
        "{\"parent\":0,\"function\":\"compute\",\"file\":\"solver.c\",\"line\":77,"
        "\"module\":\"app\",\"ranks\":{\"count\":1,\"runs\":[[6,1]]}}],"
        "\"further_calls\":0,\"missing\":{\"count\":0,\"runs\":[]}}");
    json_object_put(o);
    o = ftree_report_stacks_json(&s, true);
    ck_assert_str_eq(json_object_to_json_string_ext(json_object_object_get(o, "text"),
                                                    JSON_C_TO_STRING_PLAIN),
                     "[\"1 rank (6)  main app.c:40 > compute solver.c:77\"]");
    json_object_put(o);
    ftree_stacks_clear(ft, &s);
}

/* ---- the query ------------------------------------------------------------------------------- */

static struct {
    int times, details;
    char text[2048], refused[FTREE_DETAIL_MAX];
} got;

static void answered(void *ctx, const struct ftree_query_result *r)
{
    char *text = ftree_report_stacks(r->stacks ? r->stacks : &(struct ftree_stacks){0}, "");

    (void) ctx;
    got.times++;
    got.details = r->stacks ? r->stacks->details : 0;
    snprintf(got.text, sizeof(got.text), "%s", text);
    memcpy(got.refused, r->refused, sizeof(got.refused));
    free(text);
}

/* Own ranks that were asked for, until the test says what their stacks are. */
static struct {
    struct ftree *ft;
    uint32_t number;
    int32_t rank[4], n;
    bool details;
} asked[8];
static int asks;
static bool refuses;

static bool take(void *ctx, uint32_t number, const int32_t *local, int32_t n, int what)
{
    struct world *w = NULL;

    if (refuses)
        return false;
    for (int32_t i = 0; i < n; i++)
        w = world_at(ctx, local[i], &asked[asks].rank[i]);
    asked[asks].ft = w->node[w->rank_node[asked[asks].rank[0]]].ft;
    asked[asks].number = number;
    asked[asks].n = n;
    asked[asks++].details = what == FTREE_STACKS_DETAILS;
    return true;
}

static void say_all(struct world *w)
{
    for (int i = 0; i < asks; i++) {
        struct ftree_stacks s = {0};
        for (int32_t k = 0; k < asked[i].n; k++) {
            ftree_stacks_add(asked[i].ft, &s, asked[i].rank[k], in_recv, 3);
            if (asked[i].details)
                ftree_stacks_add_detail(asked[i].ft, &s, asked[i].rank[k], "{}", 2);
        }
        ftree_stacks_taken(asked[i].ft, w->now, asked[i].number, &s);
        ck_assert_int_eq(s.n, 0);
    }
    asks = 0;
}

static struct world *begin_query(void)
{
    struct world *w = world_of((struct shape){.nodes = 7, .ranks = 2, .fanout = 2});

    memset(&got, 0, sizeof(got));
    asks = 0;
    refuses = false;
    w->io.answered = answered;
    w->io.stacks = take;
    return w;
}

static const struct ftree_ranks some = {2, 2, {{1, 1}, {12, 12}}};

TEST_CASE(those_asked_for_are_taken_and_no_others)
{
    struct world *w = begin_query();
    uint32_t number;

    ck_assert_int_eq(ftree_query_stacks(w->node[3].ft, w->now, &some, true, &number), FTREE_OK);
    world_run(w, 500 * FTREE_MS);
    ck_assert_int_eq(asks, 2);
    ck_assert_int_eq(got.times, 0);
    say_all(w);
    world_run(w, 500 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_str_eq(got.text,
                     "2 ranks (1, 12)  main app.c:40 > solve solver.c:120 > MPI_Recv\n");
    ck_assert_int_eq(got.details, 2);
}

TEST_CASE(all_are_taken_without_a_choice)
{
    const struct ftree_ranks all = {0};
    struct world *w = begin_query();
    uint32_t number;

    ck_assert_int_eq(ftree_query_stacks(w->node[0].ft, w->now, &all, false, &number), FTREE_OK);
    world_run(w, 500 * FTREE_MS);
    ck_assert_int_eq(asks, 7);
    say_all(w);
    world_run(w, 500 * FTREE_MS);
    ck_assert_str_eq(got.text,
                     "14 ranks (0-13)  main app.c:40 > solve solver.c:120 > MPI_Recv\n");
    ck_assert_int_eq(got.details, 0);
}

/* Who says nothing costs only its own stacks, and time. */
TEST_CASE(what_is_not_said_in_time_is_left_out)
{
    struct world *w = begin_query();
    uint32_t number;

    ck_assert_int_eq(ftree_query_stacks(w->node[0].ft, w->now, &some, false, &number), FTREE_OK);
    world_run(w, 500 * FTREE_MS);
    asks = asked[0].rank[0] == 1 ? 1 : 0;
    ck_assert_int_eq(asks, 1);
    say_all(w);
    world_run(w, 5000 * FTREE_MS);
    ck_assert_int_eq(got.times, 0);
    world_run(w, 4000 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_str_eq(got.text, "1 rank (1)  main app.c:40 > solve solver.c:120 > MPI_Recv\n");
}

TEST_CASE(an_agent_that_takes_none_says_so)
{
    struct world *w = begin_query();
    uint32_t number;

    refuses = true;
    ck_assert_int_eq(ftree_query_stacks(w->node[0].ft, w->now, &some, false, &number), FTREE_OK);
    world_run(w, 1000 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert(!strncmp(got.text, "2 ranks (1, 12)  no stack: the agent of ", 40));
}

/* They are said when nobody asks any more. */
TEST_CASE(what_comes_too_late_is_dropped)
{
    struct world *w = begin_query();
    uint32_t number;

    ck_assert_int_eq(ftree_query_stacks(w->node[0].ft, w->now, &some, false, &number), FTREE_OK);
    world_run(w, 20000 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    say_all(w);
    ck_assert_int_eq(got.times, 1);
}
