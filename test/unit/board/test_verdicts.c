/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What a rank reads of the board: each verdict once, and once more when it is over; the report; and
 * nothing of what the agent is just writing, or was killed over.
 */

#include "faultloc/board/verdicts.h"
#include "sample.h"
#include "suite.h"

#include <arpa/inet.h>
#include <json.h>
#include <limits.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)
#define NOW_MS 1769860810250

/* The sample job's, as node h1 has it. */
static struct faultloc_board *make_board(void)
{
    struct faultloc_board *b = NULL;
    int fd;

    ck_assert_int_eq(faultloc_board_make(sample_job.nodes, sample_job.size, 2, 0, &b, &fd), 0);
    close(fd);
    b->started_ms = NOW_MS - 9000;
    snprintf(b->job_id, sizeof(b->job_id), "4711");
    for (int32_t n = 0; n < b->nodes; n++) {
        struct faultloc_inet *data = &faultloc_board_addresses(b)[n].path[FTREE_PATH_DATA];
        snprintf(faultloc_board_name(b, n), FAULTLOC_NAME_SIZE, "%s", sample_job.node_name[n]);
        data->family = AF_INET;
        data->bytes[0] = 10;
        data->bytes[3] = (uint8_t) (n + 1);
    }
    return b;
}

static struct ftree_verdict crash(uint32_t id, int32_t rank)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_PROCESS_CRASH,
                              .kind = FTREE_KIND_RANK,
                              .confidence = 990,
                              .id = id,
                              .fln = 2,
                              .node = sample_job.rank_node[rank],
                              .rank = rank,
                              .switch_ = FTREE_NONE,
                              .pid = 5000 + rank,
                              .symptoms = 1,
                              .first_symptom = NOW - 700 * FTREE_MS,
                              .located = NOW - 250 * FTREE_MS,
                              .victims = {.count = 3, .ranges = 1, .range = {{0, 2}}}};

    snprintf(v.rule, sizeof(v.rule), "process-crash/pid-gone");
    snprintf(v.because, sizeof(v.because), "the process is gone");
    return v;
}

static void remember(struct faultloc_board *b, uint32_t id, int32_t rank, ftree_time withdrawn)
{
    struct ftree_verdict v = crash(id, rank);

    v.withdrawn = withdrawn;
    faultloc_board_remember(b, &v);
}

/* ---- news ------------------------------------------------------------------------------------ */

/* All that is new, as text: "7 8- ", with a minus sign after what is over. */
static const char *news(struct faultloc_news *n, const struct faultloc_board *b)
{
    static char text[1024];
    struct ftree_verdict v;
    size_t len = 0;

    text[0] = '\0';
    while (faultloc_news_next(n, b, &v))
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%u%s ", v.id,
                                 v.withdrawn ? "-" : "");
    return text;
}

TEST_CASE(each_verdict_is_reported_once_and_once_more_when_it_is_over)
{
    struct faultloc_board *b = make_board();
    struct faultloc_news n = {0};

    ck_assert(!faultloc_news_may_be(&n, b));
    ck_assert_str_eq(news(&n, b), "");
    remember(b, 7, 4, 0);
    remember(b, 8, 5, 0);
    ck_assert(faultloc_news_may_be(&n, b));
    ck_assert_str_eq(news(&n, b), "7 8 ");
    ck_assert(!faultloc_news_may_be(&n, b));
    remember(b, 8, 5, NOW);
    ck_assert(faultloc_news_may_be(&n, b));
    ck_assert_str_eq(news(&n, b), "8- ");
    remember(b, 7, 4, 0); /* written once more, as it was */
    ck_assert_str_eq(news(&n, b), "");
    remember(b, 9, 6, 0);
    remember(b, 9, 6, NOW); /* over before anybody looked */
    ck_assert_str_eq(news(&n, b), "9- ");
    ck_assert(!faultloc_news_may_be(&n, b));
    faultloc_board_unmap(b);
}

/* A place that is given to another verdict brings news, and the others do not come again. */
TEST_CASE(a_full_board_tells_of_what_takes_a_place)
{
    struct faultloc_board *b = make_board();
    struct faultloc_news n = {0};
    struct ftree_verdict v;
    int reported = 0;

    for (uint32_t id = 1; id <= FAULTLOC_BOARD_VERDICTS; id++)
        remember(b, id, 3, 0);
    while (faultloc_news_next(&n, b, &v))
        reported++;
    ck_assert_int_eq(reported, FAULTLOC_BOARD_VERDICTS);
    remember(b, 5, 3, NOW);
    remember(b, 100, 4, 0);
    ck_assert_str_eq(news(&n, b), "100 ");
    ck_assert(!faultloc_news_may_be(&n, b));
    faultloc_board_unmap(b);
}

/* An agent that was killed in the middle leaves the count odd; the next sets it right. */
TEST_CASE(what_is_being_written_comes_another_time)
{
    struct faultloc_board *b = make_board();
    struct faultloc_news n = {0};

    remember(b, 7, 4, 0);
    remember(b, 8, 5, 0);
    b->writing[0]++;
    ck_assert_str_eq(news(&n, b), "8 ");
    ck_assert(faultloc_news_may_be(&n, b));
    remember(b, 7, 4, 0);
    ck_assert_uint_eq(b->writing[0] % 2, 0);
    ck_assert_str_eq(news(&n, b), "7 ");
    ck_assert(!faultloc_news_may_be(&n, b));
    faultloc_board_unmap(b);
}

/* What damage a program may do to a verdict on its board. */
static void bad_class(struct ftree_verdict *v)
{
    v->class_ = FTREE_CLASS_COUNT;
}

static void bad_kind(struct ftree_verdict *v)
{
    v->kind = 77;
}

static void bad_node(struct ftree_verdict *v)
{
    v->node = sample_job.nodes;
}

static void bad_fln(struct ftree_verdict *v)
{
    v->fln = -1;
}

static void bad_rank(struct ftree_verdict *v)
{
    v->rank = sample_job.size;
}

static void bad_evidences(struct ftree_verdict *v)
{
    v->evidences = FTREE_EVIDENCE_MAX + 1;
}

static void bad_candidates(struct ftree_verdict *v)
{
    v->candidates = -1;
}

static void bad_victims(struct ftree_verdict *v)
{
    v->victims = (struct ftree_ranks){1, 1, {{sample_job.size, sample_job.size}}};
}

static void bad_component(struct ftree_verdict *v)
{
    v->component = (struct ftree_ranks){1, 1, {{-1, 0}}};
}

static void bad_order(struct ftree_verdict *v)
{
    v->component = (struct ftree_ranks){2, 1, {{3, 2}}};
}

static void bad_ranges(struct ftree_verdict *v)
{
    v->component = (struct ftree_ranks){1, FTREE_RANGES_MAX + 1, {{0, 0}}};
}

static void bad_count(struct ftree_verdict *v)
{
    v->component = (struct ftree_ranks){-1, 0, {{0, 0}}};
}

static void (*const damages[])(struct ftree_verdict *) = {
    bad_class,      bad_kind,    bad_node,      bad_fln,   bad_rank,   bad_evidences,
    bad_candidates, bad_victims, bad_component, bad_order, bad_ranges, bad_count};

TEST_CASES(what_does_not_fit_the_job_is_not_read, COUNT(damages))
{
    struct faultloc_board *b = make_board();
    struct ftree_verdict v;

    remember(b, 7, 4, 0);
    ck_assert(faultloc_board_read(b, 0, &v));
    ck_assert_uint_eq(v.id, 7);
    damages[_i](&b->verdict[0]);
    ck_assert(!faultloc_board_read(b, 0, &v));
    ck_assert(!faultloc_board_read(b, 1, &v));
    ck_assert(!faultloc_board_read(b, -1, &v));
    b->verdicts = FAULTLOC_BOARD_VERDICTS + 1;
    ck_assert(!faultloc_board_read(b, FAULTLOC_BOARD_VERDICTS, &v));
    faultloc_board_unmap(b);
}

/* ---- the event ------------------------------------------------------------------------------- */

TEST_CASE(an_event_says_what_and_where)
{
    struct faultloc_board *b = make_board();
    struct ftree_verdict v = crash(7, 5);
    struct faultloc_event e;

    faultloc_board_give_up(b, 5, FAULTLOC_GIVEN_UP_ENDED);
    faultloc_event_fill(b, &v, NOW, NOW_MS, &e);
    ck_assert_int_eq(e.located_ms, NOW_MS - 250);
    ck_assert_uint_eq(e.id, 7);
    ck_assert_int_eq(e.fln, 2);
    ck_assert_int_eq(e.class_, FTREE_CLASS_PROCESS_CRASH);
    ck_assert_int_eq(e.rank, 5);
    ck_assert_int_eq(e.node, 2);
    ck_assert_int_eq(e.pid, 5005);
    ck_assert_int_eq(e.confidence, 990);
    ck_assert_int_eq(e.withdrawn, 0);
    ck_assert_int_eq(e.victims, 3);
    ck_assert_int_eq(e.failures, 1);
    ck_assert_str_eq(e.class_name, "process-crash");
    ck_assert_str_eq(e.node_name, "h2");
    v.component = (struct ftree_ranks){2, 1, {{4, 5}}};
    faultloc_event_fill(b, &v, NOW, NOW_MS, &e);
    ck_assert_int_eq(e.rank, -1);
    v.component.count = 0;
    v.withdrawn = NOW;
    v.class_ = FTREE_CLASS_NODE_OUTAGE;
    v.kind = FTREE_KIND_NODE;
    faultloc_event_fill(b, &v, NOW, NOW_MS, &e);
    ck_assert_int_eq(e.withdrawn, 1);
    ck_assert_int_eq(e.rank, -1);
    faultloc_board_unmap(b);
}

/* The manual page documents these offsets. */
TEST_CASE(the_events_layout_is_what_is_documented)
{
    ck_assert_uint_eq(offsetof(struct faultloc_event, located_ms), 0);
    ck_assert_uint_eq(offsetof(struct faultloc_event, id), 8);
    ck_assert_uint_eq(offsetof(struct faultloc_event, fln), 12);
    ck_assert_uint_eq(offsetof(struct faultloc_event, failures), 44);
    ck_assert_uint_eq(offsetof(struct faultloc_event, class_name), 48);
    ck_assert_uint_eq(offsetof(struct faultloc_event, node_name), 72);
    ck_assert_uint_eq(sizeof(struct faultloc_event), 136);
    for (int i = 0; i < FTREE_CLASS_COUNT; i++)
        ck_assert_uint_lt(strlen(ftree_class_name(i)),
                          sizeof(((struct faultloc_event *) NULL)->class_name));
}

/* ---- the report ------------------------------------------------------------------------------ */

static struct json_object *read_json(char *text)
{
    struct json_object *o = json_tokener_parse(text);

    ck_assert_ptr_nonnull(o);
    free(text);
    return o;
}

static struct json_object *at(struct json_object *o, const char *key)
{
    struct json_object *v = NULL;

    ck_assert_msg(json_object_object_get_ex(o, key, &v), "no member %s", key);
    return v;
}

static const char *string_at(struct json_object *o, const char *key)
{
    return json_object_get_string(at(o, key));
}

TEST_CASE(the_report_is_that_of_the_board)
{
    struct faultloc_board *b = make_board();
    struct json_object *o, *list, *v;

    remember(b, 7, 4, 0);
    remember(b, 8, 5, 0);
    remember(b, 8, 5, NOW);
    o = read_json(faultloc_verdicts_json(b, &sample_job, NOW, NOW_MS));
    ck_assert_str_eq(string_at(o, "schema"), "faultloc-report/1");
    ck_assert_str_eq(string_at(at(o, "job"), "id"), "4711");
    ck_assert_str_eq(string_at(at(o, "job"), "started"), "2026-01-31T12:00:01.250Z");
    list = at(o, "verdicts");
    ck_assert_uint_eq(json_object_array_length(list), 2);
    v = json_object_array_get_idx(list, 0);
    ck_assert_str_eq(string_at(v, "class"), "process-crash");
    ck_assert_str_eq(string_at(v, "located"), "2026-01-31T12:00:10.000Z");
    ck_assert_str_eq(string_at(at(v, "component"), "node"), "h2");
    ck_assert_int_eq(json_object_get_int(at(at(v, "component"), "pid")), 5004);
    ck_assert(!json_object_object_get_ex(v, "withdrawn", NULL));
    v = json_object_array_get_idx(list, 1);
    ck_assert_str_eq(string_at(v, "withdrawn"), "2026-01-31T12:00:10.250Z");
    list = at(o, "node_table");
    ck_assert_uint_eq(json_object_array_length(list), 4);
    v = at(json_object_array_get_idx(list, 3), "address");
    ck_assert_str_eq(string_at(v, "data"), "10.0.0.4");
    ck_assert(!json_object_object_get_ex(v, "mgmt", NULL));
    json_object_put(o);
    faultloc_board_unmap(b);
}

/* An interface is one thing, the port that the data pass another. */
TEST_CASE(the_ends_of_a_link_are_those_of_the_board)
{
    struct faultloc_board *b = make_board();
    struct faultloc_address *a = &faultloc_board_addresses(b)[2];
    struct ftree_verdict v = crash(7, 4);
    struct json_object *o, *end;

    v.class_ = FTREE_CLASS_LINK_FAULT;
    snprintf(a->iface, sizeof(a->iface), "eth0");
    snprintf(a->adapter, sizeof(a->adapter), "a_driver_of_any_name_0:1");
    a->lid = 17;
    a->guid = 0x506b4b0300c3b1a2;
    faultloc_board_remember(b, &v);
    o = read_json(faultloc_verdicts_json(b, &sample_job, NOW, NOW_MS));
    end = json_object_array_get_idx(at(json_object_array_get_idx(at(o, "verdicts"), 0), "link"), 0);
    ck_assert_str_eq(string_at(end, "node"), "h2");
    ck_assert_str_eq(string_at(end, "interface"), "eth0");
    ck_assert_str_eq(string_at(end, "address"), "10.0.0.3");
    ck_assert_str_eq(string_at(end, "port"), "a_driver_of_any_name_0:1 LID 17 GUID 0x506b4b0300c3b1a2");
    json_object_put(o);
    faultloc_board_unmap(b);
}

static size_t verdicts_in_report(const struct faultloc_board *b, const struct ftree_job *job)
{
    struct json_object *o = read_json(faultloc_verdicts_json(b, job, NOW, NOW_MS));
    size_t n = json_object_array_length(at(o, "verdicts"));

    json_object_put(o);
    return n;
}

TEST_CASE(a_switch_is_reported_where_the_tree_has_it)
{
    struct faultloc_board *b = make_board();
    struct ftree_job job = sample_job;
    struct ftree_verdict v = crash(7, 4);

    v.class_ = FTREE_CLASS_SWITCH_FAULT;
    v.kind = FTREE_KIND_SWITCH;
    v.rank = FTREE_NONE;
    v.switch_ = 1;
    faultloc_board_remember(b, &v);
    ck_assert_uint_eq(verdicts_in_report(b, &job), 0);
    job.tree = &sample_tree;
    ck_assert_uint_eq(verdicts_in_report(b, &job), 1);
    b->verdict[0].switch_ = 2;
    ck_assert_uint_eq(verdicts_in_report(b, &job), 0);
    b->verdict[0].switch_ = FTREE_NONE;
    ck_assert_uint_eq(verdicts_in_report(b, &job), 0);
    faultloc_board_unmap(b);
}

TEST_CASE(a_healthy_job_has_no_verdicts)
{
    struct faultloc_board *b = make_board();
    struct json_object *o;

    ck_assert_uint_eq(verdicts_in_report(b, &sample_job), 0);
    o = read_json(faultloc_verdicts_none("a \"job\"", 8, 4, NOW_MS));
    ck_assert_str_eq(string_at(o, "schema"), "faultloc-report/1");
    ck_assert_str_eq(string_at(at(o, "job"), "id"), "a \"job\"");
    ck_assert_int_eq(json_object_get_int(at(at(o, "job"), "size")), 8);
    ck_assert_int_eq(json_object_get_int(at(at(o, "job"), "nodes")), 4);
    ck_assert_uint_eq(json_object_array_length(at(o, "verdicts")), 0);
    ck_assert(!json_object_object_get_ex(o, "node_table", NULL)); /* nobody knows their names */
    json_object_put(o);
    faultloc_board_unmap(b);
}

TEST_CASES(a_copy_says_what_all_of_it_takes, 5)
{
    static const struct {
        int room, needed;
        const char *copy;
    } rows[] = {{100, 6, "hello"}, {6, 6, "hello"}, {5, 6, "hell"}, {1, 6, ""}, {0, 6, "###"}};
    char buf[100] = "###";
    int len = rows[_i].room;

    faultloc_verdicts_copy("hello", len ? buf : NULL, &len);
    ck_assert_int_eq(len, rows[_i].needed);
    ck_assert_str_eq(buf, rows[_i].copy);
}
