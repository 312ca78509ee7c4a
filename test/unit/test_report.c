/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"
#include "report.h"
#include "suite.h"

#include <errno.h>
#include <json.h>
#include <stdio.h>
#include <string.h>

#define NOW (100000 * FTREE_MS)

/* Four nodes with two ranks each; the reporting clock stands at 2026-01-31T12:00:10.250Z. */
static const char *const names[] = {"h0", "h1", "h2", "h3"};
static const int32_t rank_node[] = {0, 0, 1, 1, 2, 2, 3, 3};
static const int32_t node_first[] = {0, 2, 4, 6, 8};
static const int32_t node_ranks[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const struct ftree_job job = {.nodes = 4,
                                     .size = 8,
                                     .fanout = 32,
                                     .has_path = {true, true},
                                     .node_name = names,
                                     .rank_node = rank_node,
                                     .node_first = node_first,
                                     .node_ranks = node_ranks};

static const char *address(void *ctx, int32_t node, enum ftree_path path, char *buf, size_t len)
{
    (void) ctx;
    if (path == FTREE_PATH_MGMT && node == 0)
        return NULL;
    snprintf(buf, len, "10.%d.0.%d", (int) path, (int) node + 1);
    return buf;
}

static struct report_job report_job(void)
{
    return (struct report_job){.job = &job,
                               .id = "4711",
                               .started_ms = 1769860800000,
                               .now = NOW,
                               .now_ms = 1769860810250,
                               .address = address};
}

static struct ftree_verdict verdict(enum ftree_rule rule, int32_t node, int32_t rank)
{
    struct ftree_verdict v;

    ftree_verdict_init(&v, rule, node, rank);
    v.fln = 0;
    v.symptoms = 3;
    v.first_symptom = NOW - 1900 * FTREE_MS;
    v.located = NOW - 489 * FTREE_MS;
    ftree_verdict_ranks_add(&v.victims, 0, 3);
    ftree_verdict_ranks_add(&v.victims, 6, 6);
    return v;
}

static void add_probe(struct ftree_verdict *v, enum ftree_path path, enum ftree_role role,
                      enum ftree_reach reach, int32_t target, int error, char state)
{
    struct ftree_evidence e = {.path = (uint8_t) path,
                               .role = (uint8_t) role,
                               .reach = (uint8_t) reach,
                               .proc_state = state,
                               .target = target,
                               .error = error,
                               .at = v->located};

    ftree_verdict_add_evidence(v, &e);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void expect_text(const struct ftree_verdict *v, const char *json_file, const char *expected)
{
    struct report_job rj = report_job();
    char *text = ftree_report_text(&rj, v, json_file);

    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(text_of_a_node_outage)
{
    struct ftree_verdict v = verdict(FTREE_RULE_BOTH_PATHS_SILENT, 2, FTREE_NONE);

    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 2, EHOSTUNREACH, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_SILENT, 2, 0, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_ANSWERED, 3, 0, 0);
    expect_text(&v, "faultloc-4711.json",
                "[faultloc] node-outage: node h2 (ranks 4-5) is down -- hardware, confidence 99%\n"
                "[faultloc]   located 1.4 s after the first symptom by node h0; "
                "rule node-outage/both-paths-silent\n"
                "[faultloc]   because silent on every path while other nodes answer on each of "
                "them\n"
                "[faultloc]   evidence: h2 on data 10.0.0.3: unreachable (EHOSTUNREACH)\n"
                "[faultloc]             h2 on mgmt 10.1.0.3: no answer\n"
                "[faultloc]             h3 on mgmt 10.1.0.4: answered\n"
                "[faultloc]   victims: 5 ranks wait, directly or in a chain, for ranks 4-5: "
                "0-3, 6\n"
                "[faultloc]   full report: faultloc-4711.json\n");
}
END_TEST

START_TEST(text_of_a_stopped_process)
{
    struct ftree_verdict v = verdict(FTREE_RULE_DEPUTY_SAYS_T, 2, 4);

    v.pid = 5004;
    v.victims = (struct ftree_ranks){.count = 1, .ranges = 1, .range = {{7, 7}}};
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_DEPUTY, FTREE_REACH_ANSWERED, 2, 0, 'T');
    expect_text(&v, NULL,
                "[faultloc] process-stopped: rank 4 (pid 5004 on node h2) is stopped -- software, "
                "confidence 99%\n"
                "[faultloc]   located 1.4 s after the first symptom by node h0; "
                "rule process-stopped/deputy-says-stopped\n"
                "[faultloc]   because the deputy on its node says the process is stopped\n"
                "[faultloc]   evidence: h2's deputy on data 10.0.0.3: answered, says state T\n"
                "[faultloc]   victims: 1 rank waits, directly or in a chain, for rank 4: 7\n");
}
END_TEST

START_TEST(text_of_a_crash_seen_in_proc)
{
    struct ftree_verdict v = verdict(FTREE_RULE_PID_GONE, 1, 3);

    v.pid = 5003;
    v.victims = (struct ftree_ranks){0};
    add_probe(&v, FTREE_PATHS, FTREE_ROLE_AGENT, FTREE_REACH_NOT_ASKED, 1, 0, 'X');
    expect_text(&v, "",
                "[faultloc] process-crash: rank 3 (pid 5003 on node h1) ended without "
                "MPI_Finalize -- software, confidence 99%\n"
                "[faultloc]   located 1.4 s after the first symptom by node h0; "
                "rule process-crash/pid-gone\n"
                "[faultloc]   because the process is gone without having called MPI_Finalize\n"
                "[faultloc]   evidence: the kernel of h1 says the process is gone\n"
                "[faultloc]   victims: 0 ranks wait, directly or in a chain, for rank 3\n");
}
END_TEST

START_TEST(text_names_what_is_not_ruled_out)
{
    struct ftree_verdict v = verdict(FTREE_RULE_ISOLATED, 0, FTREE_NONE);

    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 0, ENETUNREACH, 0);
    v.victims = (struct ftree_ranks){0};
    expect_text(&v, NULL,
                "[faultloc] unknown: node h0 (ranks 0-1): cause not found -- unknown, confidence "
                "50%\n"
                "[faultloc]   located 1.4 s after the first symptom by node h0; "
                "rule unknown/no-node-answers\n"
                "[faultloc]   because no other node answers this one on any path\n"
                "[faultloc]   evidence: h0 on mgmt: own side down (ENETUNREACH)\n"
                "[faultloc]   not ruled out: link-fault (40%), switch-fault (40%), "
                "node-outage (20%)\n"
                "[faultloc]   victims: 0 ranks wait, directly or in a chain, for ranks 0-1\n");
}
END_TEST

START_TEST(text_of_each_state_in_proc)
{
    static const struct {
        char state;
        const char *words;
    } rows[] = {{'T', "is stopped (state T)"}, {'t', "is held by a debugger"}, {'X', "is gone"}};

    for (int i = 0; i < COUNT(rows); i++) {
        struct ftree_verdict v = verdict(FTREE_RULE_STATE_T, 1, 3);
        struct report_job rj = report_job();
        char *text;
        add_probe(&v, FTREE_PATHS, FTREE_ROLE_AGENT, FTREE_REACH_NOT_ASKED, 1, 0, rows[i].state);
        rj.address = NULL;
        text = ftree_report_text(&rj, &v, NULL);
        ck_assert_ptr_nonnull(strstr(text, rows[i].words));
        free(text);
    }
}
END_TEST

/* A frozen node, and classes that no rule of today gives but a newer peer may tell. */
START_TEST(text_of_every_class)
{
    for (int class_ = 0; class_ < FTREE_CLASS_COUNT; class_++) {
        struct ftree_verdict v = verdict(FTREE_RULE_MUTE_NODE, 1, FTREE_NONE);
        struct report_job rj = report_job();
        char *text, head[64];
        v.class_ = (uint8_t) class_;
        text = ftree_report_text(&rj, &v, NULL);
        snprintf(head, sizeof(head), "[faultloc] %s: ", ftree_class_name(class_));
        ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
        ck_assert_ptr_nonnull(strstr(text, "h1"));
        ck_assert_ptr_nonnull(strstr(text, ftree_origin_name(ftree_class_origin(class_))));
        free(text);
    }
}
END_TEST

/* ---- hostile names --------------------------------------------------------------------------- */

static const char *const hostile[] = {
    "\033]0;owned\007",   "a\nb",        "\"quoted\\\"",     "\233[31m",
    "caf\xc3\xa9",        "%s%n%d",      "tab\there",        "\xff\xfe",
    "trailing newline\n", "{\"a\":[1]}", "[faultloc] node-", "\r\nnode",
};

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text != '\n' && (*text < ' ' || *text > '~'))
            return false;
    return true;
}

static int lines_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static const char *hostile_address(void *ctx, int32_t node, enum ftree_path path, char *buf,
                                   size_t len)
{
    (void) node;
    (void) path;
    snprintf(buf, len, "%s", (const char *) ctx);
    return buf;
}

/* rows: a_hostile_name_is_only_text COUNT(hostile) */
START_TEST(a_hostile_name_is_only_text)
{
    const char *const evil[] = {hostile[_i], hostile[_i], hostile[_i], hostile[_i]};
    struct ftree_job evil_job = job;
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict(FTREE_RULE_NEVER_ANSWERS, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct json_object *parsed;
    char *text, *line;

    evil_job.node_name = evil;
    rj.job = &evil_job;
    rj.id = hostile[_i];
    rj.address = hostile_address;
    rj.address_ctx = (void *) hostile[_i];
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 2, 0, 0);
    add_probe(&v, FTREE_PATHS, FTREE_ROLE_AGENT, FTREE_REACH_NOT_ASKED, 2, 0, 'T');
    text = ftree_report_text(&rj, &v, hostile[_i]);
    ck_assert_ptr_nonnull(text);
    ck_assert(is_plain(text));
    ck_assert_int_eq(lines_of(text), 8);
    for (line = text; *line; line = strchr(line, '\n') + 1)
        ck_assert_int_eq(strncmp(line, "[faultloc] ", 11), 0);
    free(text);
    text = ftree_report_json(&rj, &list, 1);
    ck_assert(is_plain(text));
    parsed = json_tokener_parse(text);
    ck_assert_ptr_nonnull(parsed);
    json_object_put(parsed);
    free(text);
}
END_TEST

START_TEST(long_names_lose_no_line)
{
    char name[3000], file[5000];
    const char *const long_names[] = {name, name, name, name};
    struct ftree_job long_job = job;
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict(FTREE_RULE_NEVER_ANSWERS, 2, FTREE_NONE);
    char *text;

    memset(name, 'n', sizeof(name) - 1);
    memset(file, 'f', sizeof(file) - 1);
    name[sizeof(name) - 1] = file[sizeof(file) - 1] = '\0';
    long_job.node_name = long_names;
    rj.job = &long_job;
    text = ftree_report_text(&rj, &v, file);
    ck_assert_int_eq(lines_of(text), 6);
    ck_assert_ptr_nonnull(strstr(text, file));
    free(text);
}
END_TEST

/* ---- ranks, errno ---------------------------------------------------------------------------- */

static const struct {
    struct ftree_ranks set;
    size_t room;
    const char *text;
} rank_rows[] = {
    {{0}, 64, ""},
    {{1, 1, {{5, 5}}}, 64, "5"},
    {{2, 1, {{0, 1}}}, 64, "0-1"},
    {{3, 2, {{0, 1}, {3, 3}}}, 64, "0-1, 3"},
    {{2000000000, 1, {{0, 1999999999}}}, 64, "0-1999999999"},
    {{9, 1, {{0, 1}}}, 64, "0-1, ..."}, /* some found no room in the set */
    {{7, 0, {{0, 0}}}, 64, "..."},
    {{3, 2, {{0, 1}, {100, 100}}}, 15, "0-1, 100"},
    {{3, 2, {{0, 1}, {100, 100}}}, 13, "0-1, ..."}, /* or in the text */
    {{3, 2, {{0, 1}, {100, 100}}}, 9, "0-1, ..."},
    {{3, 2, {{0, 1}, {100, 100}}}, 8, "..."},
    {{1, 1, {{100, 100}}}, 4, "..."},
    {{1, 1, {{100, 100}}}, 2, "."},
    {{1, 1, {{100, 100}}}, 1, ""},
};

/* rows: ranks_as_a_person_writes_them COUNT(rank_rows) */
START_TEST(ranks_as_a_person_writes_them)
{
    /* a buffer of its own size, so that the sanitizers see a write behind it */
    char *buf = malloc(rank_rows[_i].room);

    ftree_report_ranks(&rank_rows[_i].set, buf, rank_rows[_i].room);
    ck_assert_str_eq(buf, rank_rows[_i].text);
    free(buf);
}
END_TEST

START_TEST(errno_names)
{
    char buf[24];

    ck_assert_str_eq(ftree_report_errno(0, buf, sizeof(buf)), "");
    ck_assert_str_eq(ftree_report_errno(ECONNREFUSED, buf, sizeof(buf)), "ECONNREFUSED");
    ck_assert_str_eq(ftree_report_errno(EHOSTUNREACH, buf, sizeof(buf)), "EHOSTUNREACH");
    ck_assert_str_eq(ftree_report_errno(ENETUNREACH, buf, sizeof(buf)), "ENETUNREACH");
    ck_assert_str_eq(ftree_report_errno(ETIMEDOUT, buf, sizeof(buf)), "ETIMEDOUT");
    ck_assert_str_eq(ftree_report_errno(3999, buf, sizeof(buf)), "errno 3999");
}
END_TEST

/* ---- JSON ------------------------------------------------------------------------------------ */

static struct json_object *member(struct json_object *o, const char *key, enum json_type type)
{
    struct json_object *value;

    ck_assert_msg(json_object_object_get_ex(o, key, &value), "no member %s", key);
    ck_assert_msg(json_object_is_type(value, type), "%s is no %s", key, json_type_to_name(type));
    return value;
}

static const char *string(struct json_object *o, const char *key)
{
    return json_object_get_string(member(o, key, json_type_string));
}

static void expect_time(struct json_object *o, const char *key, const char *expected)
{
    int year, month, day, hour, minute, second, ms, end = 0;

    ck_assert_int_eq(sscanf(string(o, key), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day,
                            &hour, &minute, &second, &ms, &end),
                     7);
    ck_assert_int_eq(end, 24);
    if (expected)
        ck_assert_str_eq(string(o, key), expected);
}

/* The text of a report, parsed again. */
static struct json_object *parsed_report(const struct ftree_verdict *const *list, int32_t n)
{
    struct report_job rj = report_job();
    char *text = ftree_report_json(&rj, list, n);
    struct json_object *o;

    ck_assert_ptr_nonnull(text);
    o = json_tokener_parse(text);
    ck_assert_msg(o != NULL, "no JSON: %s", text);
    free(text);
    return o;
}

START_TEST(json_names_schema_and_job)
{
    struct json_object *o = parsed_report(NULL, 0), *j;

    ck_assert_str_eq(string(o, "schema"), "faultloc-report/1");
    j = member(o, "job", json_type_object);
    ck_assert_str_eq(string(j, "id"), "4711");
    ck_assert_int_eq(json_object_get_int(member(j, "size", json_type_int)), 8);
    ck_assert_int_eq(json_object_get_int(member(j, "nodes", json_type_int)), 4);
    expect_time(j, "started", "2026-01-31T12:00:00.000Z");
    ck_assert_uint_eq(json_object_array_length(member(o, "verdicts", json_type_array)), 0);
    json_object_put(o);
}
END_TEST

static void check_component(struct json_object *c, const struct ftree_verdict *v)
{
    const char *kind = string(c, "kind");
    struct json_object *ranks = member(c, "ranks", json_type_array);

    ck_assert(!strcmp(kind, "node") || !strcmp(kind, "rank"));
    ck_assert_int_gt((int) strlen(string(c, "name")), 0);
    ck_assert_str_eq(string(c, "node"), names[v->node]);
    ck_assert_uint_eq(json_object_array_length(ranks), v->rank == FTREE_NONE ? 2 : 1);
    ck_assert_int_eq(json_object_get_int(json_object_array_get_idx(ranks, 0)),
                     v->rank == FTREE_NONE ? 2 * v->node : v->rank);
}

static void check_evidence(struct json_object *list, int32_t n)
{
    ck_assert_int_eq((int) json_object_array_length(list), n);
    for (int32_t i = 0; i < n; i++) {
        struct json_object *e = json_object_array_get_idx(list, (size_t) i);
        const char *source = string(e, "source");
        ck_assert(!strcmp(source, "probe") || !strcmp(source, "proc"));
        string(e, "path");
        string(e, "target");
        string(e, "result");
        string(e, "by");
        expect_time(e, "at", "2026-01-31T12:00:09.761Z");
    }
}

static void check_candidates(struct json_object *list, const struct ftree_verdict *v)
{
    ck_assert_int_eq((int) json_object_array_length(list), v->candidates);
    for (int32_t i = 0; i < v->candidates; i++) {
        struct json_object *c = json_object_array_get_idx(list, (size_t) i), *by;
        ck_assert_str_eq(string(c, "class"), ftree_class_name(v->candidate[i].class_));
        string(member(c, "component", json_type_object), "kind");
        string(member(c, "component", json_type_object), "name");
        ck_assert_double_eq_tol(json_object_get_double(member(c, "confidence", json_type_double)),
                                v->candidate[i].confidence / 1000.0, 1e-9);
        ck_assert_int_eq(json_object_object_get_ex(c, "ruled_out_by", &by),
                         v->candidate[i].ruled_out);
    }
}

static void check_verdict(struct json_object *o, const struct ftree_verdict *v)
{
    struct json_object *victims = member(o, "victims", json_type_object);

    ck_assert_str_eq(string(o, "class"), ftree_class_name(v->class_));
    ck_assert_str_eq(string(o, "origin"), ftree_origin_name(ftree_class_origin(v->class_)));
    ck_assert_double_eq_tol(json_object_get_double(member(o, "confidence", json_type_double)),
                            v->confidence / 1000.0, 1e-9);
    check_component(member(o, "component", json_type_object), v);
    expect_time(o, "first_symptom", "2026-01-31T12:00:08.350Z");
    expect_time(o, "located", "2026-01-31T12:00:09.761Z");
    ck_assert_double_eq_tol(json_object_get_double(member(o, "latency_s", json_type_double)), 1.411,
                            1e-9);
    ck_assert_str_eq(string(o, "rule"), ftree_rule_name(v->rule));
    ck_assert_str_eq(string(o, "fln"), "h0");
    check_evidence(member(o, "evidence", json_type_array), v->evidences);
    ck_assert_int_eq(json_object_get_int(member(victims, "count", json_type_int)), 5);
    ck_assert_uint_eq(json_object_array_length(member(victims, "ranks", json_type_array)), 5);
    check_candidates(member(o, "candidates", json_type_array), v);
}

/* rows: json_of_every_rule_has_the_schema FTREE_RULE_COUNT */
START_TEST(json_of_every_rule_has_the_schema)
{
    struct ftree_verdict v = verdict((enum ftree_rule) _i, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct json_object *o;

    if (v.kind == FTREE_KIND_RANK) {
        v.rank = 4;
        v.pid = 5004;
    }
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 2, EHOSTUNREACH, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_DEPUTY, FTREE_REACH_ANSWERED, 0, 0, 'T');
    add_probe(&v, FTREE_PATHS, FTREE_ROLE_AGENT, FTREE_REACH_NOT_ASKED, 2, 0, 'X');
    o = parsed_report(&list, 1);
    check_verdict(json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), &v);
    json_object_put(o);
}
END_TEST

START_TEST(json_of_evidence)
{
    struct ftree_verdict v = verdict(FTREE_RULE_DEPUTY_SAYS_T, 2, 4);
    const struct ftree_verdict *list = &v;
    struct json_object *o, *e, *list_of_evidence, *none;

    v.pid = 5004;
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 2, EHOSTUNREACH, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_DEPUTY, FTREE_REACH_ANSWERED, 0, 0, 'T');
    o = parsed_report(&list, 1);
    e = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
    ck_assert_int_eq(
        json_object_get_int(member(member(e, "component", json_type_object), "pid", json_type_int)),
        5004);
    ck_assert_str_eq(string(member(e, "component", json_type_object), "name"), "4");
    list_of_evidence = member(e, "evidence", json_type_array);
    e = json_object_array_get_idx(list_of_evidence, 0);
    ck_assert_str_eq(string(e, "path"), "data");
    ck_assert_str_eq(string(e, "role"), "agent");
    ck_assert_str_eq(string(e, "target"), "h2");
    ck_assert_str_eq(string(e, "address"), "10.0.0.3");
    ck_assert_str_eq(string(e, "result"), "unreachable");
    ck_assert_str_eq(string(e, "errno"), "EHOSTUNREACH");
    ck_assert(!json_object_object_get_ex(e, "process_state", &none));
    e = json_object_array_get_idx(list_of_evidence, 1);
    ck_assert_str_eq(string(e, "role"), "deputy");
    ck_assert_str_eq(string(e, "process_state"), "T");
    ck_assert(!json_object_object_get_ex(e, "errno", &none));
    ck_assert(!json_object_object_get_ex(e, "address", &none)); /* node 0 has none there */
    json_object_put(o);
}
END_TEST

START_TEST(json_of_several_verdicts_keeps_their_order)
{
    struct ftree_verdict a = verdict(FTREE_RULE_BOTH_PATHS_SILENT, 2, FTREE_NONE);
    struct ftree_verdict b = verdict(FTREE_RULE_PID_GONE, 1, 3);
    const struct ftree_verdict *list[] = {&a, &b};
    struct json_object *o = parsed_report(list, 2), *v = member(o, "verdicts", json_type_array);

    ck_assert_uint_eq(json_object_array_length(v), 2);
    ck_assert_str_eq(string(json_object_array_get_idx(v, 0), "class"), "node-outage");
    ck_assert_str_eq(string(json_object_array_get_idx(v, 1), "class"), "process-crash");
    json_object_put(o);
}
END_TEST

/* Ranks dealt out round robin: more ranges on a node than a set can hold. */
START_TEST(scattered_ranks_are_all_in_the_json)
{
    enum {
        NODES = 2,
        PPN = 200
    };
    int32_t node_of[NODES * PPN], first[NODES + 1] = {0, PPN, NODES * PPN}, ranks[NODES * PPN];
    struct ftree_job scattered = {.nodes = NODES,
                                  .size = NODES * PPN,
                                  .fanout = 32,
                                  .rank_node = node_of,
                                  .node_first = first,
                                  .node_ranks = ranks};
    struct ftree_verdict v = verdict(FTREE_RULE_BOTH_PATHS_SILENT, 1, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    struct json_object *o, *c;
    char *text;

    for (int32_t r = 0; r < NODES * PPN; r++) {
        node_of[r] = r % NODES;
        ranks[first[r % NODES] + r / NODES] = r;
    }
    rj.job = &scattered;
    rj.address = NULL;
    text = ftree_report_json(&rj, &list, 1);
    o = json_tokener_parse(text);
    c = member(json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), "component",
               json_type_object);
    ck_assert_uint_eq(json_object_array_length(member(c, "ranks", json_type_array)), PPN);
    ck_assert_str_eq(string(c, "name"), "n1");
    json_object_put(o);
    free(text);
    text = ftree_report_text(&rj, &v, NULL);
    ck_assert_ptr_nonnull(strstr(text, "node n1 (ranks 1, 3, 5, 7,"));
    ck_assert_ptr_nonnull(strstr(text, ", ...) is down"));
    free(text);
}
END_TEST

START_TEST(a_job_without_tables)
{
    const struct ftree_job plain = {.nodes = 4, .size = 4, .fanout = 2};
    struct ftree_verdict v = verdict(FTREE_RULE_BOTH_PATHS_SILENT, 3, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    char *text;

    v.victims = (struct ftree_ranks){.count = 3, .ranges = 1, .range = {{0, 2}}};
    rj.job = &plain;
    text = ftree_report_text(&rj, &v, NULL);
    ck_assert_ptr_nonnull(strstr(text, "node n3 (rank 3) is down"));
    free(text);
    text = ftree_report_json(&rj, &list, 1);
    ck_assert_ptr_nonnull(strstr(text, "\"name\": \"n3\""));
    free(text);
}
END_TEST

/* A symptom that is weeks old, and a verdict from the future of the reporting clock. */
START_TEST(odd_times_stay_numbers)
{
    struct ftree_verdict v = verdict(FTREE_RULE_BOTH_PATHS_SILENT, 3, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    struct json_object *o, *first;
    char *text;

    v.first_symptom = 0;
    v.located = 60 * 24 * 3600 * (1000 * FTREE_MS);
    text = ftree_report_json(&rj, &list, 1);
    o = json_tokener_parse(text);
    first = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
    ck_assert_double_eq_tol(json_object_get_double(member(first, "latency_s", json_type_double)),
                            60.0 * 24 * 3600, 1e-3);
    expect_time(first, "first_symptom", "2026-01-31T11:58:30.250Z");
    expect_time(first, "located", "2026-04-01T11:58:30.250Z");
    json_object_put(o);
    free(text);
}
END_TEST

SUITE("report")
{
    TEST(text_of_a_node_outage);
    TEST(text_of_a_stopped_process);
    TEST(text_of_a_crash_seen_in_proc);
    TEST(text_names_what_is_not_ruled_out);
    TEST(text_of_each_state_in_proc);
    TEST(text_of_every_class);
    TEST_ROWS(a_hostile_name_is_only_text, COUNT(hostile));
    TEST(long_names_lose_no_line);
    TEST_ROWS(ranks_as_a_person_writes_them, COUNT(rank_rows));
    TEST(errno_names);
    TEST(json_names_schema_and_job);
    TEST_ROWS(json_of_every_rule_has_the_schema, FTREE_RULE_COUNT);
    TEST(json_of_evidence);
    TEST(json_of_several_verdicts_keeps_their_order);
    TEST(scattered_ranks_are_all_in_the_json);
    TEST(a_job_without_tables);
    TEST(odd_times_stay_numbers);
}
