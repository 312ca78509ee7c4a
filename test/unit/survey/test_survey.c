/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Queries that all nodes of a job answer. */

#include "ftree/ftree_int.h"
#include "ftree/wire/codec.h"
#include "suite.h"
#include "waiting_ranks.h"
#include "world.h"

#define SPANS_MAX 40

/* What came of the last query. */
static struct {
    int times;
    uint32_t number;
    int32_t root;
    char refused[FTREE_DETAIL_MAX], text[4096];
    int32_t answered, left, failed, silent, classes, ranks, dropped;
} got;

static void append(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void append(const char *format, ...)
{
    size_t at = strlen(got.text);
    va_list args;

    va_start(args, format);
    vsnprintf(got.text + at, sizeof(got.text) - at, format, args);
    va_end(args);
}

static void append_spans(const char *before, const struct ftree_spans *s)
{
    int32_t first, step, n;

    if (s->count > 0)
        append("%s", before);
    for (int32_t i = 0, k = 0; i < s->n && k < SPANS_MAX; k++) {
        first = ftree_spans_run(s, &i, &step, &n);
        append(k ? ", %d" : " %d", first);
        if (n > 1)
            append(step > 1 ? "-%d/%d" : "-%d", first + step * (n - 1), step);
    }
}

static void answered(void *ctx, const struct ftree_query_result *r)
{
    (void) ctx;
    memset(got.text, 0, sizeof(got.text));
    got.times++;
    got.number = r->number;
    got.root = r->root;
    memcpy(got.refused, r->refused, sizeof(got.refused));
    got.answered = r->answered.count;
    got.left = r->left.count;
    got.failed = r->failed.count;
    got.silent = r->silent.count;
    got.classes = r->classes.n;
    got.dropped = r->classes.dropped;
    got.ranks = r->classes.dropped_ranks;
    for (int32_t i = 0; i < r->classes.n; i++) {
        const struct ftree_rank_class *k = &r->classes.items[i];
        got.ranks += k->count;
        append("%d %s", k->count, ftree_doing_name(k->state));
        if (k->call)
            append(" in %u", k->call);
        append("%s%s", *k->comm ? " on " : "", k->comm);
        append_spans(":", &k->ranks);
        append_spans(", for", &k->peers);
        append("%s\n", k->any ? ", for any" : "");
    }
    for (int32_t i = 0; i < r->suspicions; i++)
        append("n%d suspected by n%d\n", r->suspicion[i].node, r->suspicion[i].by);
    append_spans("failed", &r->failed);
    append_spans("silent", &r->silent);
}

static struct world *begin(struct shape shape)
{
    struct world *w = world_of(shape);

    memset(&got, 0, sizeof(got));
    w->io.answered = answered;
    return w;
}

static uint32_t ask_with(struct world *w, int32_t node, const char *flags, size_t len)
{
    uint32_t number = 0;

    ck_assert_int_eq(ftree_query(w->node[node].ft, w->now, FTREE_QUERY_STATUS, flags, len, &number),
                     FTREE_OK);
    return number;
}

static uint32_t ask(struct world *w, int32_t node)
{
    return ask_with(w, node, NULL, 0);
}

static void expect_idle(struct world *w)
{
    for (int32_t n = 0; n < w->job.nodes; n++)
        ck_assert_ptr_null(w->node[n].ft->survey->work);
}

/* ---- all is well ----------------------------------------------------------------------------- */

static const struct shape shapes[] = {
    {.nodes = 1, .ranks = 2, .fanout = 2}, {.nodes = 2, .ranks = 1, .fanout = 32},
    {.nodes = 15, .ranks = 2, .fanout = 2}, {.nodes = 40, .ranks = 1, .fanout = 3},
    {.nodes = 6, .ranks = 4, .fanout = 1}};

TEST_CASES(every_node_answers_whoever_asks, COUNT(shapes))
{
    struct world *w = begin(shapes[_i]);

    for (int32_t n = 0; n < w->job.nodes; n += 1 + w->job.nodes / 4) {
        uint32_t number = ask(w, n);
        world_run(w, 500 * FTREE_MS);
        ck_assert_int_eq(got.times, 1);
        ck_assert_uint_eq(got.number, number);
        ck_assert_str_eq(got.refused, "");
        ck_assert_int_eq(got.root, 0);
        ck_assert_int_eq(got.answered, w->job.nodes);
        ck_assert_int_eq(got.ranks, w->job.size);
        ck_assert_int_eq(got.classes, 1);
        got.times = 0;
    }
    expect_idle(w);
    ck_assert_int_eq(w->reports, 0);
}

TEST_CASE(what_ranks_do_is_merged)
{
    struct world *w = begin(shape_binary(6, 2));
    struct ranks *r = ranks_of(w);

    for (int32_t i = 2; i < 12; i += 2) {
        ranks_wait(r, i, CALL_RECV, WAITS_FOR_ALL);
        ranks_recv(r, i, 1, 7, WORLD_CONTEXT);
    }
    ranks_wait(r, 5, CALL_BARRIER, WAITS_FOR_ALL);
    ranks_collective(r, 5, 3, CALL_BARRIER, 0, 0, WORLD_CONTEXT);
    world_run(w, 100 * FTREE_MS);
    ask(w, 4);
    world_run(w, 300 * FTREE_MS);
    ck_assert_str_eq(got.text, "6 outside MPI: 0-1, 3, 7-11/2\n"
                               "5 waiting in 1 on MPI_COMM_WORLD: 2-10/2, for 1\n"
                               "1 waiting in 7 on MPI_COMM_WORLD: 5\n");
}

/* A rank that does not turn its progress is in a class by what its agent sees. */
TEST_CASE(a_rank_that_says_nothing_is_not_waited_for)
{
    struct world *w = begin(shape_star(2, 1));
    struct ranks *r = ranks_of(w);

    ranks_wait(r, 1, CALL_RECV, WAITS_FOR_ALL);
    r->answers_after[1] = FTREE_NEVER;
    w->rank[1].call = CALL_RECV;
    w->rank[1].peer = 0;
    world_run(w, 100 * FTREE_MS);
    ask(w, 0);
    world_run(w, 60 * FTREE_MS);
    ck_assert_str_eq(got.text, "1 outside MPI: 0\n1 waiting in 1: 1, for 0\n");
}

TEST_CASE(many_ask_at_once)
{
    struct world *w = begin(shape_binary(7, 1));
    int64_t sent = 0;

    for (int i = 0; i < 20; i++)
        for (int32_t n = 0; n < 7; n++)
            ask(w, n);
    world_run(w, 400 * FTREE_MS);
    ck_assert_int_eq(got.times, 140);
    for (int32_t n = 0; n < 7; n++)
        sent += w->node[n].sent;
    /* asked, acknowledged, answered, acknowledged: for each of the others' queries, and two
     * rounds */
    ck_assert_int_le(sent, 4 * 120 + 2 * 4 * 6);
    expect_idle(w);
}

/* ---- who does not answer --------------------------------------------------------------------- */

TEST_CASE(a_lost_branch_is_stated)
{
    struct world *w = begin(shape_binary(15, 1));

    w->node[5].off = true; /* with 11 and 12 below it */
    ask(w, 3);
    world_run(w, 1600 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_eq(got.answered, 14);
    ck_assert_str_eq(got.text, "14 outside MPI: 0-4, 6-14\nsilent 5");
    expect_idle(w);
}

TEST_CASE(a_node_that_is_known_to_be_lost_costs_no_time)
{
    struct world *w = begin(shape_binary(15, 1));

    w->node[5].off = true;
    world_all_wait(w, 5, 5);
    ck_assert(world_run_until_reports(w, 1, 10000 * FTREE_MS));
    world_run(w, 1000 * FTREE_MS);
    ask(w, 12);
    world_run(w, 60 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_eq(got.answered, 14);
    ck_assert_int_eq(got.failed, 1);
    ck_assert_int_eq(got.silent, 0);
}

/* Nobody knows of it yet: the substitute answers as soon as it does. */
TEST_CASE(the_root_is_lost)
{
    struct world *w = begin(shape_binary(7, 1));

    w->node[0].off = true;
    ask(w, 4);
    world_run(w, 8000 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_str_eq(got.refused, "");
    ck_assert_int_eq(got.answered, 6);
    ck_assert_int_ne(got.root, 0);
    expect_idle(w);
}

TEST_CASE(an_agent_that_stops_in_between_costs_a_deadline)
{
    struct world *w = begin(shape_binary(7, 1));

    w->node[2].mute = true;
    ask(w, 3);
    world_run(w, 8000 * FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_ge(got.answered, 6);
    expect_idle(w);
}

TEST_CASE(while_a_job_ends)
{
    struct world *w = begin(shape_binary(7, 1));
    uint32_t number;

    w->departs = true;
    for (int32_t n = 0; n < 7; n++) {
        w->rank[n].phase = FTREE_PHASE_LEFT;
        ask(w, n);
        ftree_leave(w->node[n].ft, w->now);
    }
    ck_assert_int_eq(ftree_query(w->node[3].ft, w->now, FTREE_QUERY_STATUS, NULL, 0, &number),
                     FTREE_ERR_INVALID);
    world_run(w, 10000 * FTREE_MS);
    ck_assert_int_eq(w->reports, 0);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static int32_t many_classes(struct world *w)
{
    struct ranks *r = ranks_of(w);

    for (int32_t i = 0; i < w->job.size; i++) {
        ranks_wait(r, i, CALL_RECV, WAITS_FOR_ALL);
        r->rank[i].record.call = 100 + (uint32_t) i;
    }
    return w->job.size;
}

TEST_CASE(of_many_classes_the_largest_are_told)
{
    struct world *w = begin(shape_binary(3, 20));

    many_classes(w);
    ask(w, 0);
    world_run(w, 300 * FTREE_MS);
    ck_assert_int_eq(got.classes, SURVEY_CLASSES);
    ck_assert_int_eq(got.dropped, 60 - SURVEY_CLASSES);
    ck_assert_int_eq(got.ranks, 60);
    ask_with(w, 0, "\001", 1);
    world_run(w, 300 * FTREE_MS);
    ck_assert_int_eq(got.classes, 60);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t samples(void *ctx, int32_t *out, int32_t n)
{
    (void) ctx;
    for (int32_t i = 0; i < n; i++)
        out[i] = 1;
    return 100;
}

static bool stay(void *ctx, int32_t i, struct ftree_stay *s)
{
    (void) ctx;
    *s = (struct ftree_stay){.rank = i, .calls = 5};
    return true;
}

/* A node that cannot say all about its ranks outside MPI is one that does not answer. */
TEST_CASE(a_part_of_an_answer_is_none)
{
    struct world *w = begin(shape_binary(1, 3));
    struct ftree *ft = w->node[0].ft;
    uint8_t request[] = {FTREE_QUERY_HANG, 1};
    bool whole = false;

    w->io.samples = samples;
    w->io.stay = stay;
    for (int32_t n = 0; !whole; n++) { /* 0: a request that cannot be read */
        struct survey_round r = {.request = {.items = request, .n = 1 + (n > 0)}};
        ftree_spans_add(ft, &r.answer.answered, ft->self, ft->self);
        w->fail_alloc_in = n;
        ck_assert(!survey_hang_at_node(ft, &r));
        whole = w->fail_alloc_in > 0;
        w->fail_alloc_in = 0;
        ck_assert_int_eq(r.answer.answered.count, whole);
        ck_assert_int_eq(r.answer.hang.nodes, whole);
        ck_assert_int_eq(r.answer.hang.sums.n, whole ? 100 : 0);
        ck_assert_int_eq(r.answer.hang.outside, whole ? 3 : 0);
        ck_assert_int_eq(r.answer.hang.stays.n, whole ? 3 : 0);
        ck_assert_int_le(n, 100);
        survey_answer_clear(ft, &r.answer);
    }
}

/* ---- hostile bytes --------------------------------------------------------------------------- */

static void add_hang(struct ftree *ft, struct hang_answer *a)
{
    *a = (struct hang_answer){.last = 900,
                              .ahead = 3,
                              .nodes = 4,
                              .progress = 1ull << 63,
                              .inside = 5,
                              .familiar = 3,
                              .longest = 8000 * FTREE_MS,
                              .outside = 7,
                              .in_disk_sleep = 6};
    for (int i = 0; i < 5; i++) {
        struct hang_sum *s = FTREE_PUSH(ft, a->sums);
        *s = (struct hang_sum){.out = i, .known = i == 2 ? 3 : 4};
    }
    for (int i = 0; i < 3; i++) {
        struct ftree_stay *s = FTREE_PUSH(ft, a->stays);
        *s = (struct ftree_stay){.rank = 2 * i, .what = (uint8_t) i, .ending = (uint8_t) (i + 2), .call = (uint32_t) i << 30, .calls = 77,
                                 .cpu = i - 1, .stay = FTREE_MS, .before = 7 * FTREE_MS,
                                 .transfers = i % 2 == 1, .still = 9 * FTREE_MS};
        s->used = i == 2 ? 5 * FTREE_MS : 0;
        strcpy(s->wchan, i == 1 ? "pipe_read" : "");
        strcpy(s->waits_in, i == 1 ? "a pipe" : "");
        strcpy(s->whom, i == 1 ? "process 12 (driver) by a pipe" : "");
    }
}

static void add_lags(struct ftree *ft, struct survey_answer *a)
{
    struct lag_answer some = {0};

    for (int32_t i = 0; i < 14; i++) {
        struct ftree_lag l = {.rank = i,
                              .before = 600,
                              .now = (uint16_t) (60 * i),
                              .measured = i > 2,
                              .wants = 900,
                              .gets = (uint16_t) (70 * i),
                              .throttled = 3,
                              .stolen = 4,
                              .stall = 5,
                              .clock = 800,
                              .faults = 70000,
                              .beside = i - 3};
        ftree_lag_add(&some, &l);
    }
    ck_assert(survey_lags_merge(ft, a, &(struct survey_answer){.lags = &some}));
}

static const uint8_t kinds[] = {FTREE_QUERY_STATUS, FTREE_QUERY_HANG, FTREE_QUERY_LAG};

static struct ftree_bytes sample(struct world *w, uint8_t kind)
{
    struct ftree *ft = w->node[0].ft;
    struct ftree_bytes bytes = {0};
    struct survey_answer a = {.is_full = true};
    struct ftree_symptom s;
    struct ftree_rank_class what = {.state = FTREE_DOES_WAIT, .call = 7, .comm = "rows"};

    for (int32_t i = 0; i < w->job.size; i += 2)
        ck_assert(ftree_classes_add(ft, &a.classes, &what, i, NULL, 0, i / 2));
    what.call = 8;
    ck_assert(ftree_classes_add(ft, &a.classes, &what, 1, NULL, 0, FTREE_NONE));
    ck_assert(ftree_spans_add(ft, &a.answered, 0, 3));
    ck_assert(ftree_spans_add(ft, &a.left, 5, 5));
    a.suspicions = 1;
    a.suspicion[0] = (struct ftree_suspicion){.node = 4, .switch_ = FTREE_NONE, .by = 1};
    add_hang(ft, &a.hang);
    add_lags(ft, &a);
    for (int32_t node = 3; node < 6; node++) {
        ftree_symptom_init(&s, FTREE_SYMPTOM_FAN_FAILED, node, FTREE_NONE, 2, 0, 0);
        strcpy(s.detail, "fan 7");
        ftree_cause_note(ft, &s);
    }
    ck_assert(survey_answer_put(ft, 0, &a, kind, &bytes));
    survey_answer_clear(ft, &a);
    return bytes;
}

TEST_CASES(an_answer_comes_back_as_it_was, COUNT(kinds))
{
    struct world *w = begin(shape_binary(7, 2));
    struct ftree *ft = w->node[0].ft;
    struct ftree_bytes bytes = sample(w, kinds[_i]), again = {0};
    struct survey_answer a;

    ck_assert_int_eq(survey_answer_get(ft, 0, kinds[_i], bytes.items, (size_t) bytes.n, &a),
                     FTREE_OK);
    a.is_full = true;
    ck_assert(survey_answer_put(ft, 0, &a, kinds[_i], &again));
    ck_assert_int_eq(again.n, bytes.n);
    ck_assert_int_eq(memcmp(again.items, bytes.items, (size_t) bytes.n), 0);
    survey_answer_clear(ft, &a);
    for (int32_t n = 0; n < bytes.n; n++) { /* cut anywhere */
        ck_assert_int_eq(survey_answer_get(ft, 0, kinds[_i], bytes.items, (size_t) n, &a),
                         FTREE_ERR_MALFORMED);
        survey_answer_clear(ft, &a);
    }
    ftree_alloc(ft, bytes.items, 0);
    ftree_alloc(ft, again.items, 0);
}

/* What is above a node hears from it of those below it alone, and from then on knows that itself. */
TEST_CASES(with_an_answer_goes_what_is_known_of_nodes, COUNT(kinds))
{
    struct world *w = begin(shape_binary(7, 2));
    const ftree_time then = w->now, now = then + 40000 * FTREE_MS;
    struct ftree *from = w->node[1].ft, *to = w->node[0].ft;
    struct ftree_bytes bytes = {0};
    struct survey_answer a = {0};
    struct ftree_symptom s;

    for (int32_t node = 4; node < 6; node++) {
        ftree_symptom_init(&s, FTREE_SYMPTOM_FAN_FAILED, node, FTREE_NONE, node, then, then);
        ftree_cause_note(from, &s);
    }
    ck_assert(survey_answer_put(from, now, &a, kinds[_i], &bytes));
    ck_assert_int_eq(survey_answer_get(to, now, kinds[_i], bytes.items, (size_t) bytes.n, &a), FTREE_OK);
    ck_assert_int_eq(to->state->past.n, kinds[_i] == FTREE_QUERY_STATUS ? 0 : 1);
    FTREE_EACH(const struct ftree_symptom, p, to->state->past) {
        ck_assert_int_eq(p->about.node, 4);
        ck_assert_uint_eq(p->first, then);
    }
    survey_answer_clear(to, &a);
    ftree_alloc(from, bytes.items, 0);
}

static bool is_within(const struct ftree_spans *s, int32_t most)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->items[i].first < (i ? s->items[i - 1].last + 2 : 0) ||
            s->items[i].last < s->items[i].first || s->items[i].last >= most)
            return false;
    return ftree_spans_listed(s) <= s->count && s->count <= most;
}

static void judge(struct world *w, const struct lag_answer *a)
{
    struct lag_finding f;

    ftree_lag_judge(a, &f);
    REQUIRE(f.n <= LAG_RANKS_MAX && f.before <= 1000000 && f.lost <= 100);
    for (int32_t i = 0; i < f.n; i++)
        REQUIRE(f.found[i].lag.rank >= 0 && f.found[i].lag.rank < w->job.size);
}

TEST_CASES(spoilt_bytes_stay_within_bounds, COUNT(kinds))
{
    struct world *w = begin(shape_binary(7, 2));
    struct ftree *ft = w->node[0].ft;
    struct ftree_bytes bytes = sample(w, kinds[_i]);
    struct survey_answer a;
    uint64_t random = 1;

    for (int turn = 0; turn < 20000; turn++) {
        uint8_t copy[1024];
        REQUIRE(bytes.n <= (int32_t) sizeof(copy));
        memcpy(copy, bytes.items, (size_t) bytes.n);
        for (int k = 0; k <= turn % 3; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            copy[(random >> 33) % (uint64_t) bytes.n] = (uint8_t) (random >> 20);
        }
        if (survey_answer_get(ft, 0, kinds[_i], copy, (size_t) bytes.n, &a) == FTREE_OK) {
            if (a.lags)
                judge(w, a.lags);
            REQUIRE(a.hang.ahead <= HANG_APART && (uint64_t) a.hang.ahead <= a.hang.last);
            REQUIRE(a.hang.stays.n <= HANG_RANKS_MAX && a.hang.nodes <= w->job.nodes);
            for (int32_t i = 0; i < a.hang.stays.n; i++)
                REQUIRE(a.hang.stays.items[i].rank >= i &&
                        a.hang.stays.items[i].rank < w->job.size);
            FTREE_EACH(const struct ftree_symptom, p, ft->state->past)
                REQUIRE(p->about.node >= 0 && p->about.node < w->job.nodes && p->first <= p->last);
            REQUIRE(is_within(&a.answered, w->job.nodes) && is_within(&a.left, w->job.nodes));
            for (int32_t i = 0; i < a.classes.n; i++)
                REQUIRE(is_within(&a.classes.items[i].ranks, w->job.size) &&
                        is_within(&a.classes.items[i].peers, w->job.size));
        }
        survey_answer_clear(ft, &a);
    }
    ftree_alloc(ft, bytes.items, 0);
}

/* Queries, answers and results that nobody asked for, of any content. */
TEST_CASE(messages_of_any_content_do_no_harm)
{
    static const uint8_t types[] = {WIRE_QUERY_UP, WIRE_QUERY_DOWN, WIRE_QUERY_ANSWER,
                                    WIRE_QUERY_RESULT};
    struct world *w = begin(shape_binary(7, 1));
    uint8_t buf[FTREE_MESSAGE_MAX], content[64];
    uint64_t random = 1;

    for (int turn = 0; turn < 2000; turn++) {
        struct wire_message m = {.type = types[turn % 4], .id = (uint32_t) turn + 1};
        for (size_t i = 0; i < sizeof(content); i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            content[i] = (uint8_t) (random >> 40) % (i == 0 ? FTREE_QUERY_COUNT + 1 : 255);
        }
        m.u.part = (struct wire_part){.number = (uint32_t) (turn % 7),
                                      .parts = 1,
                                      .len = (size_t) (turn % (int) sizeof(content)),
                                      .bytes = content};
        ftree_receive(w->node[turn % 3].ft, w->now, 3 + turn % 4, FTREE_PATH_DATA, 1, buf,
                      ftree_wire_encode(&m, w->now, buf));
        if (turn % 50 == 0)
            world_run(w, 20 * FTREE_MS);
    }
    world_run(w, 20000 * FTREE_MS);
    expect_idle(w);
    ck_assert_int_eq(w->reports, 0);
}

/* ---- out of memory --------------------------------------------------------------------------- */

TEST_CASE(out_of_memory_ends_in_time)
{
    for (int32_t n = 1; n < 120; n++) {
        struct world *w = begin(shape_binary(4, 2));
        struct ranks *r = ranks_of(w);
        uint32_t number;
        int rc;

        ranks_wait(r, 3, CALL_RECV, WAITS_FOR_ALL);
        ranks_recv(r, 3, 1, 7, WORLD_CONTEXT);
        w->fail_alloc_in = n;
        rc = ftree_query(w->node[3].ft, w->now, FTREE_QUERY_STATUS, NULL, 0, &number);
        world_run(w, 900 * FTREE_MS);
        world_go_on(w, 3);
        ranks_go_on(r, 3);
        world_run(w, 9000 * FTREE_MS);
        ck_assert_int_eq(got.times, rc == FTREE_OK);
        expect_idle(w);
        world_free(w);
    }
}
