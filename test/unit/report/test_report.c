/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "ftree_int.h"
#include "ftree/base/text.h"
#include "ftree/report/report_int.h"
#include "ftree/stacks/stacks.h"
#include "sample.h"
#include "suite.h"
#include "world.h"

#include <errno.h>
#include <json.h>
#include <stdio.h>
#include <string.h>

#define NOW (100000 * FTREE_MS)
#define OUTAGE "node-outage/both-paths-silent"

/* The reporting clock stands at 2026-01-31T12:00:10.250Z. */
static struct report_job report_job(void)
{
    return (struct report_job){.job = &sample_job,
                               .id = "4711",
                               .started_ms = 1769860800000,
                               .now = NOW,
                               .now_ms = 1769860810250,
                               .address = sample_address};
}

static struct ftree_verdict verdict(const char *sign, int32_t node, int32_t rank)
{
    struct ftree_verdict v = base_verdict(sign, node, rank);

    v.id = 7;
    v.fln = 0;
    v.symptoms = 3;
    v.first_symptom = NOW - 1900 * FTREE_MS;
    v.located = NOW - 489 * FTREE_MS;
    ftree_ranks_add(&v.victims, 0, 3);
    ftree_ranks_add(&v.victims, 6, 6);
    return v;
}

static struct ftree_verdict verdict_of_class(int class_, int32_t node)
{
    struct ftree_verdict v = verdict(OUTAGE, node, FTREE_NONE);

    v.class_ = (uint8_t) class_;
    v.kind = (uint8_t) ftree_class_kind(class_);
    v.candidates = 0;
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

static void add_proc(struct ftree_verdict *v, int32_t target, char state)
{
    struct ftree_evidence e = {.source = FTREE_EVIDENCE_PROC,
                               .path = FTREE_PATHS,
                               .proc_state = state,
                               .target = target,
                               .at = v->located};

    ftree_verdict_add_evidence(v, &e);
}

static void add_word(struct ftree_verdict *v, enum ftree_evidence_source source, int32_t target,
                     const char *detail)
{
    struct ftree_evidence e = {.source = (uint8_t) source,
                               .path = FTREE_PATHS,
                               .target = target,
                               .by = 3,
                               .at = v->located};

    snprintf(e.detail, sizeof(e.detail), "%s", detail);
    ftree_verdict_add_evidence(v, &e);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void expect_text(const struct ftree_verdict *v, const char *json_file, const char *expected)
{
    struct report_job rj = report_job();
    char *text = ftree_report_text(&rj, v, 1, json_file);

    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    free(text);
}

TEST_CASE(text_of_a_node_outage)
{
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);

    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 2, EHOSTUNREACH, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_SILENT, 2, 0, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_ANSWERED, 3, 0, 0);
    expect_text(&v, "faultloc-4711.json",
                "[faultloc] node-outage: node h2 (ranks 4-5) is down -- hardware, confidence high\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; "
                "rule node-outage/both-paths-silent\n"
                "[faultloc]   because silent on every path while other nodes answer on each of "
                "them\n"
                "[faultloc]   evidence: h2 on data 10.0.0.3: unreachable (EHOSTUNREACH)\n"
                "[faultloc]             h2 on mgmt 10.1.0.3: no answer\n"
                "[faultloc]             h3 on mgmt 10.1.0.4: answered\n"
                "[faultloc]   victims: 5 ranks are blocked on ranks 4-5, directly or "
                "indirectly: 0-3, 6\n"
                "[faultloc]   full report: faultloc-4711.json\n"
                "[faultloc]   conclusion: hardware fault in node h2; ticket: node\n");
}

static const char *interface(void *ctx, int32_t node, char *buf, size_t len)
{
    (void) ctx;
    if (node == 3)
        return NULL;
    snprintf(buf, len, "eth%d", (int) node);
    return buf;
}

static const char *port(void *ctx, int32_t node, char *buf, size_t len)
{
    (void) ctx;
    if (node != 0)
        return NULL;
    snprintf(buf, len, "mlx5_0:1 LID 17");
    return buf;
}

static const struct {
    int class_, fln;
    int candidate; /* FTREE_CLASS_COUNT: none */
    bool ruled_out, addresses;
    const char *line; /* NULL: none */
} link_rows[] = {
    {FTREE_CLASS_LINK_FAULT, 0, FTREE_CLASS_COUNT, false, true,
     "link: h2 eth2 10.0.0.3 (ranks 4-5), seen from h0 eth0 10.0.0.1, port mlx5_0:1 LID 17 (ranks 0-1)"},
    {FTREE_CLASS_NIC_FAULT, 2, FTREE_CLASS_COUNT, false, true, "link: h2 eth2 10.0.0.3 (ranks 4-5)"},
    {FTREE_CLASS_NETWORK_DEGRADED, 3, FTREE_CLASS_COUNT, false, true,
     "link: h2 eth2 10.0.0.3 (ranks 4-5), seen from h3 10.0.0.4 (ranks 6-7)"},
    {FTREE_CLASS_NETWORK_DEGRADED, 0, FTREE_CLASS_COUNT, false, false,
     "link: h2 (ranks 4-5), seen from h0 (ranks 0-1)"},
    {FTREE_CLASS_UNKNOWN, 0, FTREE_CLASS_LINK_FAULT, false, true,
     "link: h2 eth2 10.0.0.3 (ranks 4-5), seen from h0 eth0 10.0.0.1, port mlx5_0:1 LID 17 (ranks 0-1)"},
    {FTREE_CLASS_UNKNOWN, 2, FTREE_CLASS_COUNT, false, true, "link: h2 eth2 10.0.0.3 (ranks 4-5)"},
    {FTREE_CLASS_UNKNOWN, 0, FTREE_CLASS_PROCESS_STOPPED, false, true, NULL},
    {FTREE_CLASS_NODE_OUTAGE, 0, FTREE_CLASS_LINK_FAULT, false, true, NULL},
};

/* Of a fault that may be in a link both ends are named: where, which, and whose. */
TEST_CASES(ends_of_a_link, COUNT(link_rows))
{
    struct ftree_verdict v = verdict_of_class(link_rows[_i].class_, 2);
    struct report_job rj = report_job();
    char *text, line[200];

    v.fln = link_rows[_i].fln;
    if (link_rows[_i].candidate != FTREE_CLASS_COUNT)
        v.candidate[v.candidates++] = (struct ftree_candidate){
            (uint8_t) link_rows[_i].candidate, 300, link_rows[_i].ruled_out};
    rj.interface = link_rows[_i].addresses ? interface : NULL;
    rj.port = link_rows[_i].addresses ? port : NULL;
    rj.address = link_rows[_i].addresses ? rj.address : NULL;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(text);
    snprintf(line, sizeof(line), "[faultloc]   %s\n", link_rows[_i].line ? link_rows[_i].line : "");
    ck_assert_msg(link_rows[_i].line ? strstr(text, line) != NULL : !strstr(text, "  link: "), "%s", text);
    free(text);
}

static void add_cause(struct ftree_verdict *v, int before_ms, const char *detail)
{
    add_word(v, FTREE_EVIDENCE_CAUSE, v->node, detail);
    v->evidence[v->evidences - 1].at = v->first_symptom - (ftree_time) before_ms * FTREE_MS;
}

static struct ftree_verdict outage_with_causes(void)
{
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);

    v.first_symptom += 60000 * FTREE_MS;
    v.located += 60000 * FTREE_MS;
    add_cause(&v, 40000, "fan-failed: fan 2 has an alarm");
    add_cause(&v, 10000, "temperature-high: CPU 0 is at 98 degrees C");
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_SILENT, 2, 0, 0);
    add_word(&v, FTREE_EVIDENCE_UNKNOWN, 2, "power-supply");
    v.ticket = FTREE_TICKET_NODE;
    return v;
}

TEST_CASE(text_of_a_node_outage_with_its_causes)
{
    struct ftree_verdict v = outage_with_causes();

    expect_text(&v, NULL,
                "[faultloc] node-outage: node h2 (ranks 4-5) is down -- hardware, confidence high\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; "
                "rule node-outage/both-paths-silent\n"
                "[faultloc]   because silent on every path while other nodes answer on each of "
                "them\n"
                "[faultloc]   evidence: cause: fan-failed: fan 2 has an alarm, 40 s before (reported to h3)\n"
                "[faultloc]             cause: temperature-high: CPU 0 is at 98 degrees C, 10 s before "
                "(reported to h3)\n"
                "[faultloc]             h2 on data 10.0.0.3: no answer\n"
                "[faultloc]             not known: power-supply\n"
                "[faultloc]   victims: 5 ranks are blocked on ranks 4-5, directly or "
                "indirectly: 0-3, 6\n"
                "[faultloc]   conclusion: hardware fault in node h2, first cause: fan-failed 40 s before; "
                "ticket: node\n");
}

/* ---- many at once ---------------------------------------------------------------------------- */

static void outages(struct ftree_verdict v[4])
{
    for (int32_t i = 0; i < 4; i++) {
        v[i] = verdict(OUTAGE, i, FTREE_NONE);
        v[i].id = (uint32_t) i;
        v[i].located += (ftree_time) i * 100 * FTREE_MS;
        v[i].victims = (struct ftree_ranks){.count = 1, .ranges = 1, .range = {{7, 7}}};
        add_probe(&v[i], FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_SILENT, i, 0, 0);
    }
    v[3].victims.count = 5; /* four of them not listed */
}

TEST_CASE(nodes_that_are_lost_alike_are_told_as_one)
{
    struct report_job rj = report_job();
    struct ftree_verdict v[4];
    char *text;

    outages(v);
    for (int32_t i = 0; i < 4; i++)
        ck_assert(ftree_report_are_alike(&sample_job, &v[0], &v[i]));
    text = ftree_report_text(&rj, v, 4, "faultloc-4711.json");
    EXPECT_LINES(text,
                 "[faultloc] node-outage: 4 nodes h[0-3] (ranks 0-7) are down -- hardware, confidence high\n"
                 "[faultloc]   within 0.3 s; of h0, for example:\n"
                 "[faultloc]   located by h0, 1.4 s after the first symptom; "
                 "rule node-outage/both-paths-silent\n"
                 "[faultloc]   because silent on every path while other nodes answer on each of them\n"
                 "[faultloc]   evidence: h0 on data 10.0.0.1: no answer\n"
                 "[faultloc]   victims: 5 ranks are blocked on ranks 0-7, directly or indirectly: 7, ...\n"
                 "[faultloc]   full report: faultloc-4711.json\n"
                 "[faultloc]   conclusion: hardware fault in 4 nodes h[0-3]; ticket: node\n");
    free(text);
}

TEST_CASE(what_they_share_is_said)
{
    struct report_job rj = report_job();
    struct ftree_job job = sample_job;
    struct ftree_verdict v[4];
    char *text;

    job.tree = &sample_tree;
    rj.job = &job;
    outages(v);
    text = ftree_report_text(&rj, v, 2, NULL);
    ck_assert_ptr_nonnull(strstr(text, "  within 0.1 s, all behind switch leaf0; of h0, for example:\n"));
    free(text);
    text = ftree_report_text(&rj, v, 4, NULL);
    ck_assert_ptr_nonnull(strstr(text, "  within 0.3 s; of h0, for example:\n"));
    free(text);
}

/* Their names are as long as may be, and no two of them make a range. */
TEST_CASE(no_name_is_left_out)
{
    static char name[1000][64];
    static const char *names[1000];
    static struct ftree_verdict v[1000];
    struct ftree_job job = {.nodes = 1000, .size = 1000, .node_name = names};
    struct report_job rj = report_job();
    char *text, *line;

    rj.job = &job;
    for (int32_t i = 0; i < 1000; i++) {
        snprintf(name[i], sizeof(name[i]), "node%d-%.40s", 2 * i, "a-name-that-is-as-long-as-hosts-may-have-them");
        names[i] = name[i];
        v[i] = verdict(OUTAGE, i, FTREE_NONE);
    }
    text = ftree_report_text(&rj, v, 1000, NULL);
    ck_assert_ptr_nonnull(strstr(text, "node-outage: 1000 nodes (ranks 0-999) are down"));
    ck_assert_ptr_nonnull(strstr(text, "hardware fault in 1000 nodes; ticket: node"));
    line = strstr(text, "[faultloc]   node[0,2,4,6,");
    ck_assert_ptr_nonnull(line);
    for (int32_t i = 1; i < 1000; i++) {
        char number[16];
        snprintf(number, sizeof(number), ",%d", 2 * i);
        ck_assert_ptr_nonnull(strstr(line, number));
    }
    free(text);
}

static const struct {
    const char *sign;
    int32_t rank;
    ftree_time later;
    uint8_t ticket;
    uint16_t confidence;
    const char *cause;
    bool withdrawn, local;
} others[] = {
    {"node-frozen/agent-and-deputy-silent", FTREE_NONE, 0, 0, 0, NULL, false, false},
    {"node-outage/power-off", FTREE_NONE, 0, 0, 0, NULL, false, false},
    {OUTAGE, FTREE_NONE, REPORT_ALIKE_S * 1000 * FTREE_MS, 0, 0, NULL, false, false},
    {OUTAGE, FTREE_NONE, 0, FTREE_TICKET_NETWORK, 0, NULL, false, false},
    {OUTAGE, FTREE_NONE, 0, 0, 500, NULL, false, false},
    {OUTAGE, FTREE_NONE, 0, 0, 0, "fan-failed: fan 2", false, false},
    {OUTAGE, FTREE_NONE, 0, 0, 0, NULL, true, false},
    {OUTAGE, FTREE_NONE, 0, 0, 0, NULL, false, true},
};

TEST_CASES(what_is_not_alike_is_told_by_itself, COUNT(others))
{
    struct ftree_verdict v = verdict(OUTAGE, 0, FTREE_NONE), w;

    w = verdict(others[_i].sign, 1, FTREE_NONE);
    w.located += others[_i].later;
    w.ticket = others[_i].ticket;
    w.confidence = others[_i].confidence ? others[_i].confidence : w.confidence;
    w.withdrawn = others[_i].withdrawn ? w.located : 0;
    w.local_only = others[_i].local;
    if (others[_i].cause)
        add_cause(&w, 1000, others[_i].cause);
    ck_assert(!ftree_report_are_alike(&sample_job, &v, &w));
    ck_assert(!ftree_report_are_alike(&sample_job, &w, &v));
}

static const struct {
    const char *sign;
    int32_t rank;
    bool joins;
} joining[] = {
    {OUTAGE, FTREE_NONE, true},
    {"link-fault/no-carrier", FTREE_NONE, true},
    {"unknown/unobserved", FTREE_NONE, true},
    {"unknown/connection-stuck", FTREE_NONE, false},
    {"process-crash/pid-gone", 2, false},
    {"network-degraded/lossy", FTREE_NONE, false},
};

TEST_CASES(what_can_be_told_with_others, COUNT(joining))
{
    struct ftree_verdict v = verdict(joining[_i].sign, 1, joining[_i].rank);

    ck_assert_int_eq(ftree_report_are_alike(&sample_job, &v, &v), joining[_i].joins);
}

/* Whoever is to be called for the first cause is to be called. */
TEST_CASE(a_ticket_is_for_the_first_cause)
{
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict("process-crash/pid-gone", 1, 3);
    char *text;

    v.ticket = FTREE_TICKET_NODE;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "software fault in rank 3 (node h1); ticket: node\n"));
    free(text);
}

TEST_CASE(text_of_a_stopped_process)
{
    struct ftree_verdict v = verdict("process-stopped/deputy-says-stopped", 2, 4);

    v.pid = 5004;
    v.victims = (struct ftree_ranks){.count = 1, .ranges = 1, .range = {{7, 7}}};
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_DEPUTY, FTREE_REACH_ANSWERED, 2, 0, 'T');
    expect_text(&v, NULL,
                "[faultloc] process-stopped: rank 4 (pid 5004 on node h2) is stopped -- software, "
                "confidence high\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; "
                "rule process-stopped/deputy-says-stopped\n"
                "[faultloc]   because the deputy on its node says the process is stopped\n"
                "[faultloc]   evidence: h2's deputy on data 10.0.0.3: answered, reports state T\n"
                "[faultloc]   victims: 1 rank is blocked on rank 4, directly or indirectly: 7\n"
                "[faultloc]   conclusion: software fault in rank 4 (node h2); ticket: application\n");
}

TEST_CASE(text_of_a_crash_seen_in_proc)
{
    struct ftree_verdict v = verdict("process-crash/pid-gone", 1, 3);

    v.pid = 5003;
    v.victims = (struct ftree_ranks){0};
    add_proc(&v, 1, 'X');
    expect_text(&v, "",
                "[faultloc] process-crash: rank 3 (pid 5003 on node h1) ended without "
                "MPI_Finalize -- software, confidence high\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; "
                "rule process-crash/pid-gone\n"
                "[faultloc]   because the process is gone without having called MPI_Finalize\n"
                "[faultloc]   evidence: the kernel of h1 says the process is gone\n"
                "[faultloc]   victims: 0 ranks are blocked on rank 3, directly or indirectly\n"
                "[faultloc]   conclusion: software fault in rank 3 (node h1); ticket: application\n");
}

/* Ranks 3, 5 and 7 of nodes h1, h2 and h3. */
static struct ftree_verdict deadlock(void)
{
    struct ftree_verdict v = verdict_of_class(FTREE_CLASS_DEADLOCK, 1);

    snprintf(v.rule, sizeof(v.rule), "deadlock/cycle");
    snprintf(v.because, sizeof(v.because), "each of them waits for the next one");
    for (int32_t r = 3; r < 8; r += 2)
        ftree_ranks_add(&v.component, r, r);
    v.victims = (struct ftree_ranks){.count = 1, .ranges = 1, .range = {{2, 2}}};
    return v;
}

TEST_CASE(text_of_a_deadlock)
{
    struct ftree_verdict v = deadlock();

    add_word(&v, FTREE_EVIDENCE_WAIT, 1,
             "rank 3 (h1) in MPI_Recv(from 5, tag 7, MPI_COMM_WORLD)");
    add_word(&v, FTREE_EVIDENCE_WAIT, 2,
             "<- rank 5 (h2) in MPI_Ssend(to 3, tag 9, MPI_COMM_WORLD)");
    add_word(&v, FTREE_EVIDENCE_WAIT, 2, "rank 5 has sent to rank 3, with tag 9");
    expect_text(&v, NULL,
                "[faultloc] deadlock: ranks 3, 5, 7 (on 3 nodes) wait for each other -- software, "
                "confidence high\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; rule deadlock/cycle\n"
                "[faultloc]   because each of them waits for the next one\n"
                "[faultloc]   evidence: rank 3 (h1) in MPI_Recv(from 5, tag 7, MPI_COMM_WORLD)\n"
                "[faultloc]             <- rank 5 (h2) in MPI_Ssend(to 3, tag 9, "
                "MPI_COMM_WORLD)\n"
                "[faultloc]             rank 5 has sent to rank 3, with tag 9\n"
                "[faultloc]   victims: 1 rank is blocked on ranks 3, 5, 7, directly or "
                "indirectly: 2\n"
                "[faultloc]   conclusion: software fault in ranks 3, 5, 7 (on 3 nodes); ticket: application\n");
    v.withdrawn = v.located + 1500 * FTREE_MS;
    expect_text(&v, NULL,
                "[faultloc] withdrawn: deadlock of ranks 3, 5, 7 (on 3 nodes): its ranks are no "
                "longer seen to wait for each other, 1.5 s after the verdict\n"
                "[faultloc]   conclusion: the software fault in ranks 3, 5, 7 (on 3 nodes) is "
                "over\n");
}

/* Stacks of one call or two, the outer one first, and who has them. */
static const struct {
    int32_t first, last;
    struct ftree_call call[2];
} place_rows[] = {{3, 3, {{.function = "exchange", .file = "src/halo.c", .line = 112}}},
                  {5, 5, {{.function = "main", .file = "app.c", .line = 12},
                          {.function = "H5Fclose", .module = "libhdf5.so.200"}}},
                  {7, 8, {{.function = "exchange", .file = "src/halo.c", .line = 130}}},
                  {9, 9, {{.function = "step", .module = "app"}}},
                  {11, 11, {{.function = "a line of Python code, which T 1 shows"}}},
                  {12, 12, {{.function = "a line of Python code, which T 2 shows"},
                            {.function = "VecNorm", .module = "libpetsc.so"}}},
                  {13, 13, {{.function = "a line of Python code, which T 3 shows"}}}};

static void add_places(struct ftree *ft, struct ftree_stacks *s)
{
    for (size_t i = 0; i < COUNT(place_rows); i++)
        for (int32_t r = place_rows[i].first; r <= place_rows[i].last; r++)
            ck_assert(ftree_stacks_add(ft, s, r, place_rows[i].call,
                                       place_rows[i].call[1].function ? 2 : 1));
}

static const struct {
    const char *line, *place;
} line_rows[] = {
    {"rank 3 (h1) in MPI_Recv(from 5)", "exchange(), halo.c:112"},
    {"<- rank 5 (h2) in MPI_Barrier(x)",
     "H5Fclose() in libhdf5.so.200, called from main(), app.c:12"},
    {"ranks 7-8 (2 of 4) in MPI_Bcast(x)", "exchange(), halo.c:130"},
    {"ranks 3, 7-8 (3 of 4) in MPI_Bcast(x)",
     "exchange(), halo.c:112 (rank 3); exchange(), halo.c:130 (ranks 7-8)"},
    {"ranks 7-8, 20-30 (13 of 14) in MPI_Bcast(x)", "exchange(), halo.c:130 (ranks 7-8)"},
    {"ranks 7, ...", "exchange(), halo.c:130"},
    {"rank 11 (h1) in MPI_Bcast(x)", "a line of Python code, which T 1 shows"},
    {"rank 12 (h1) in MPI_Bcast(x)",
     "VecNorm() in libpetsc.so, called from a line of Python code, which T 2 shows"},
    {"ranks 11, 13 (h1) in MPI_Bcast(x)", "a line of Python code, which T 1 shows (rank 11)"},
    {"rank 20 (h2) in MPI_Recv(from 5)", ""}, /* not known */
    {"rank 5 has sent to rank 3, with tag 9", ""}, /* that was before */
    {"rank 5 receives from rank 3, with tag 9", ""},
    {"and 2 more ranks", "exchange(), halo.c:130 (rank 7); step() in app (rank 9)"},
    {"the job is never ended because of it: rank 3 polls", ""},
};

TEST_CASES(evidence_has_the_place_of_its_ranks, COUNT(line_rows))
{
    struct ftree_verdict v = deadlock();
    struct report_job rj = report_job();
    struct report_stacks stacks = {.fln = v.fln, .id = v.id};
    struct ftree *ft = world_of((struct shape){.nodes = 1, .ranks = 32, .fanout = 2})->node[0].ft;
    char expected[300], *text;

    ftree_ranks_add(&v.component, 9, 9);
    add_word(&v, FTREE_EVIDENCE_WAIT, 1, line_rows[_i].line);
    if (!strncmp(line_rows[_i].line, "and", 3)) { /* those that have a line are not the rest */
        add_word(&v, FTREE_EVIDENCE_WAIT, 1, "rank 3 (h1) in MPI_Recv(from 5)");
        add_word(&v, FTREE_EVIDENCE_WAIT, 1, "rank 5 (h1) in MPI_Recv(from 3)");
    }
    add_places(ft, &stacks.places);
    rj.stacks = &stacks;
    rj.stacked = 1;
    text = ftree_report_text(&rj, &v, 1, NULL);
    snprintf(expected, sizeof(expected), "evidence: %s%s%s\n", line_rows[_i].line,
             *line_rows[_i].place ? " at " : "", line_rows[_i].place);
    ck_assert_msg(strstr(text, expected), "no %s in %s", expected, text);
    free(text);
    text = ftree_report_places_text(&rj, &v); /* of a verdict that was told before */
    ck_assert_int_eq(text != NULL, *line_rows[_i].place || v.evidences > 1);
    ck_assert(!text || !strncmp(text, "[faultloc] deadlock, where its ranks are in the code:\n", 54));
    free(text);
    ftree_stacks_clear(ft, &stacks.places);
}

/* The places of others that a line is about are worth knowing, those of all of them hardly. */
TEST_CASE(places_are_asked_of_whom_evidence_names)
{
    struct ftree_verdict v = deadlock();
    struct ftree_ranks ranks;

    ftree_report_ranks_of_places(&v, &ranks);
    ck_assert_mem_eq(&ranks, &v.component, sizeof(ranks));
    add_word(&v, FTREE_EVIDENCE_WAIT, 1, "ranks 100-199 (100 of 103) in MPI_Bcast(x)");
    add_word(&v, FTREE_EVIDENCE_WAIT, 1, "rank 8 (h2) in MPI_Recv(from 5)");
    ftree_report_ranks_of_places(&v, &ranks);
    ck_assert_int_eq(ranks.count, 3 + 16 + 1);
    v.component = (struct ftree_ranks){0};
    v.evidences = 0;
    ftree_report_ranks_of_places(&v, &ranks);
    ck_assert_int_eq(ranks.count, 1);
    ck_assert(ftree_ranks_has(&ranks, v.rank));
}

TEST_CASE(text_says_why_no_place_is_known)
{
    struct ftree_verdict v = deadlock();
    struct report_job rj = report_job();
    struct report_stacks stacks = {.fln = v.fln, .id = v.id};
    struct ftree *ft = world_of((struct shape){.nodes = 1, .ranks = 32, .fanout = 2})->node[0].ft;
    char *text;

    add_word(&v, FTREE_EVIDENCE_WAIT, 1, line_rows[0].line);
    ck_assert(ftree_spans_add(ft, &stacks.places.missing, 3, 7));
    snprintf(stacks.places.why, sizeof(stacks.places.why), "built without libdw");
    rj.stacks = &stacks;
    rj.stacked = 1;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "  where in the code they are is not known: built without libdw\n"));
    free(text);
    ftree_stacks_clear(ft, &stacks.places);
}

static const struct {
    struct ftree_ranks set;
    const char *words;
} set_rows[] = {
    {{2, 1, {{2, 3}}}, "ranks 2-3 (node h1) wait"},
    {{1, 1, {{5, 5}}}, "rank 5 (node h1) waits for itself"},
    {{4, 1, {{1, 4}}}, "ranks 1-4 (on 3 nodes) wait"},
    {{3, 2, {{0, 1}, {7, 7}}}, "ranks 0-1, 7 (on 2 nodes) wait"},
    {{7, 2, {{0, 1}, {7, 7}}}, "ranks 0-1, 7, ... (on several nodes) wait"},
};

TEST_CASES(a_component_may_be_a_set_of_ranks, COUNT(set_rows))
{
    struct ftree_verdict v = verdict_of_class(FTREE_CLASS_DEADLOCK, 1);
    struct ftree_ranks ranks;
    char line[256];

    v.component = set_rows[_i].set;
    v.rank = v.component.range[0].first; /* says less */
    ftree_report_line(&sample_job, &v, line, sizeof(line));
    ck_assert_msg(strstr(line, set_rows[_i].words), "%s", line);
    ftree_report_component_ranks(&sample_job, &v, &ranks);
    ck_assert_mem_eq(&ranks, &v.component, sizeof(ranks));
}

static const struct {
    int class_;
    const char *rule;
    int ranks;
    const char *words;
} rule_rows[] = {
    {FTREE_CLASS_DEADLOCK, "deadlock/missing-partner", 1,
     "rank 5 (node h1) has called MPI_Finalize, and others wait for it"},
    {FTREE_CLASS_DEADLOCK, "deadlock/self", 1, "rank 5 (node h1) waits for itself"},
    {FTREE_CLASS_COLLECTIVE_MISMATCH, "collective-mismatch/different", 1,
     "rank 5 (node h1) does not match the others in a collective"},
    {FTREE_CLASS_COLLECTIVE_MISMATCH, "collective-mismatch/different", 2,
     "ranks 5-6 (on 2 nodes) are in collectives that do not match"},
    {FTREE_CLASS_COLLECTIVE_MISMATCH, "collective-mismatch/behind", 1,
     "rank 5 (node h1) has called MPI_Finalize, and others wait for it in a collective"},
    {FTREE_CLASS_COLLECTIVE_MISMATCH, "collective-mismatch/ahead", 1,
     "rank 5 (node h1) has begun one more collective than the others, which have called "
     "MPI_Finalize"},
    {FTREE_CLASS_COLLECTIVE_MISMATCH, "collective-mismatch/uneven", 2,
     "ranks 5-6 (on 2 nodes) have begun different numbers of collectives, and some have called "
     "MPI_Finalize"},
    {FTREE_CLASS_DEADLOCK, "deadlock/absent", 1,
     "rank 5 (node h1) waits in a collective for ranks that need its messages"},
    {FTREE_CLASS_DEADLOCK, "deadlock/library", 2,
     "ranks 5-6 (on 2 nodes) wait for each other inside MPI, in a collective called with matching "
     "arguments"},
    {FTREE_CLASS_DEADLOCK, "deadlock/order", 1,
     "rank 5 (node h1) has begun collectives in another order than the ranks that wait for it"},
};

TEST_CASES(the_rule_may_say_more, COUNT(rule_rows))
{
    struct ftree_verdict v = verdict_of_class(rule_rows[_i].class_, 1);
    char line[256];

    v.component = (struct ftree_ranks){
        .count = rule_rows[_i].ranks, .ranges = 1, .range = {{5, 4 + rule_rows[_i].ranks}}};
    snprintf(v.rule, sizeof(v.rule), "%s", rule_rows[_i].rule);
    ftree_report_line(&sample_job, &v, line, sizeof(line));
    ck_assert_msg(strstr(line, rule_rows[_i].words), "%s", line);
}

/* One rank a node, as a job without tables has it. */
TEST_CASE(a_set_of_ranks_that_are_nodes)
{
    struct ftree_job plain = {.nodes = 9, .size = 9};
    struct ftree_verdict v = deadlock();
    char line[256];

    ftree_report_line(&plain, &v, line, sizeof(line));
    ck_assert_str_eq(line, "deadlock: ranks 3, 5, 7 (on 3 nodes) wait for each other");
}

TEST_CASE(text_of_connections_that_are_stuck)
{
    struct ftree_verdict v = verdict("unknown/connection-stuck", 2, FTREE_NONE);
    char line[256];

    add_word(&v, FTREE_EVIDENCE_CONNECTION, 0,
             "rank 0 on h0 to rank 4 on h2: 65570 bytes not acknowledged for 6.3 s, sent 6 times");
    add_word(&v, FTREE_EVIDENCE_CONNECTION, 2, "the agent of h2 answers that of h0 on the same network");
    v.victims = (struct ftree_ranks){0};
    expect_text(&v, NULL,
                "[faultloc] unknown: network fault between node h0 and node h2 (ranks 4-5)\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; "
                "rule unknown/connection-stuck\n"
                "[faultloc]   because data that the program sent to it are not acknowledged, though it "
                "answers on the same network\n"
                 "[faultloc]   link: h2 10.0.0.3 (ranks 4-5), seen from h0 10.0.0.1 (ranks 0-1)\n"
                "[faultloc]   evidence: rank 0 on h0 to rank 4 on h2: 65570 bytes not acknowledged for "
                "6.3 s, sent 6 times\n"
                "[faultloc]             the agent of h2 answers that of h0 on the same network\n"
                "[faultloc]   victims: 0 ranks are blocked on ranks 4-5, directly or indirectly\n"
                "[faultloc]   conclusion: cause not identified, hardware or software; ticket: network\n");
    v.node = v.fln; /* it is so of several others */
    ftree_report_line(&sample_job, &v, line, sizeof(line));
    ck_assert_ptr_nonnull(strstr(line, "network fault at node h0"));
}

TEST_CASE(text_names_what_is_not_ruled_out)
{
    struct ftree_verdict v = verdict("unknown/no-node-answers", 0, FTREE_NONE);

    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 0, ENETUNREACH, 0);
    v.victims = (struct ftree_ranks){0};
    expect_text(&v, NULL,
                "[faultloc] unknown: node h0 (ranks 0-1): cause not identified\n"
                "[faultloc]   located by h0, 1.4 s after the first symptom; "
                "rule unknown/no-node-answers\n"
                "[faultloc]   because no other node answers this one on any path\n"
                "[faultloc]   link: h0 10.0.0.1 (ranks 0-1)\n"
                "[faultloc]   evidence: h0 on mgmt: own side down (ENETUNREACH)\n"
                "[faultloc]   not ruled out: link-fault, switch-fault, node-outage\n"
                "[faultloc]   victims: 0 ranks are blocked on ranks 0-1, directly or indirectly\n"
                "[faultloc]   conclusion: cause not identified; most likely: 1. link-fault "
                "(hardware), 2. switch-fault (hardware), 3. node-outage (hardware); "
                "ticket: node or network\n");
}

TEST_CASE(text_of_each_state_in_proc)
{
    static const struct {
        char state;
        const char *words;
    } rows[] = {{'T', "the kernel of h1 says the process is stopped (state T)\n"},
                {'t', "the kernel of h1 says the process is held by a debugger (state t)\n"},
                {'F', "the kernel of h1 says the process is frozen by its control group\n"},
                {'M', "the kernel of h1 says the process is held by the memory limit of its control "
                      "group: 64.0 of 64.0 MiB used in /job\n"},
                {'X', "the kernel of h1 says the process is gone\n"},
                {'D', "the kernel of h1 says the process is in state D\n"}};

    for (int i = 0; i < COUNT(rows); i++) {
        struct ftree_verdict v = verdict("process-stopped/state-t", 1, 3);
        struct report_job rj = report_job();
        char *text;
        add_proc(&v, 1, rows[i].state);
        if (rows[i].state == 'M')
            strcpy(v.evidence[v.evidences - 1].detail, "64.0 of 64.0 MiB used in /job");
        rj.address = NULL;
        text = ftree_report_text(&rj, &v, 1, NULL);
        ck_assert_ptr_nonnull(strstr(text, rows[i].words));
        free(text);
    }
}

/* A frozen node, and classes that no rule of today gives but a newer peer may tell. */
TEST_CASE(text_of_every_class)
{
    for (int class_ = 0; class_ < FTREE_CLASS_COUNT; class_++) {
        struct ftree_verdict v = verdict("node-frozen/agent-and-deputy-silent", 1, FTREE_NONE);
        struct report_job rj = report_job();
        char *text, head[64];
        v.class_ = (uint8_t) class_;
        text = ftree_report_text(&rj, &v, 1, NULL);
        snprintf(head, sizeof(head), "[faultloc] %s: ", ftree_class_name(class_));
        ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
        ck_assert_ptr_nonnull(strstr(text, "h1"));
        if (ftree_class_origin(class_) != FTREE_ORIGIN_UNKNOWN)
            ck_assert_ptr_nonnull(strstr(text, ftree_origin_name(ftree_class_origin(class_))));
        free(text);
    }
}

/* ---- hostile names --------------------------------------------------------------------------- */

static const char *const hostile[] = {
    "\033]0;owned\007", "a\nb",      "\"quoted\\\"",  "\233[31m",           "caf\xc3\xa9",
    "%s%n%d",           "tab\there", "\xff\xfe",      "trailing newline\n", "{\"a\":[1]}",
    "[faultloc] node-", "\r\nnode",  "\033[31mh\xff",
};

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text != '\n' && (*text < ' ' || *text > '~'))
            return false;
    return true;
}

/* Clean lines of UTF-8.  json-c is asked, which does not know of control characters. */
static bool is_text(const char *text)
{
    struct json_tokener *tok = json_tokener_new();
    struct json_object *parsed;
    bool fine = true;
    size_t len = strlen(text);
    char *quoted = malloc(len + 3);

    quoted[0] = quoted[len + 1] = '"';
    quoted[len + 2] = '\0';
    for (size_t i = 0; i < len; i++) {
        fine = fine && (text[i] == '\n' || (unsigned char) text[i] >= ' ') && text[i] != 127 &&
               ((unsigned char) text[i] != 0xc2 || (unsigned char) text[i + 1] >= 0xa0);
        quoted[i + 1] = strchr("\"\\\n", text[i]) ? ' ' : text[i];
    }
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    parsed = json_tokener_parse_ex(tok, quoted, (int) len + 2);
    fine = fine && json_tokener_get_error(tok) == json_tokener_success;
    json_object_put(parsed);
    json_tokener_free(tok);
    free(quoted);
    return fine;
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

static const char *hostile_interface(void *ctx, int32_t node, char *buf, size_t len)
{
    return hostile_address(ctx, node, FTREE_PATH_DATA, buf, len);
}

TEST_CASES(a_hostile_name_is_only_text, COUNT(hostile))
{
    const char *const evil[] = {hostile[_i], hostile[_i], hostile[_i], hostile[_i]};
    struct ftree_job evil_job = sample_job;
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict("node-frozen/agent-and-deputy-silent", 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct json_object *parsed;
    char *text, *line, headline[1024];

    evil_job.node_name = evil;
    rj.job = &evil_job;
    rj.id = hostile[_i];
    rj.address = hostile_address;
    rj.address_ctx = (void *) hostile[_i];
    rj.verbose = true;
    rj.trace = evil;
    rj.traces = 3;
    rj.known = &list;
    rj.knowns = 1;
    snprintf(v.because, sizeof(v.because), "%s", hostile[_i]);
    snprintf(v.raised_by, sizeof(v.raised_by), "%s", hostile[_i]);
    add_word(&v, FTREE_EVIDENCE_SYMPTOM, 1, hostile[_i]);
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 2, 0, 0);
    add_proc(&v, 2, 'T');
    text = ftree_report_text(&rj, &v, 1, hostile[_i]);
    ck_assert_ptr_nonnull(text);
    ck_assert(is_text(text));
    ck_assert_int_eq(lines_of(text), 19);
    for (line = text; *line; line = strchr(line, '\n') + 1)
        ck_assert_int_eq(strncmp(line, "[faultloc] ", 11), 0);
    free(text);
    v.class_ = FTREE_CLASS_NIC_FAULT;
    rj.interface = rj.port = hostile_interface;
    text = ftree_report_text(&rj, &v, 1, hostile[_i]);
    ck_assert_ptr_nonnull(text);
    ck_assert(is_text(text));
    ck_assert_int_eq(lines_of(text), 20);
    free(text);
    text = ftree_report_json(&rj);
    ck_assert(is_plain(text));
    parsed = json_tokener_parse(text);
    ck_assert_ptr_nonnull(parsed);
    json_object_put(parsed);
    free(text);
    ftree_report_line(&evil_job, &v, headline, sizeof(headline));
    ck_assert(is_text(headline) && !strchr(headline, '\n'));
}

static const struct {
    const char *text, *clean;
} cleaned[] = {
    {"", ""},
    {"node h1: 100% ~", "node h1: 100% ~"},
    {"\033[31mh\xff", "?[31mh?"},
    {"a\nb\tc\rd\x7f", "a?b?c?d?"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\x9b[31m", "?[31m"},
    {"\xc2\x9b[31m \xc2\x80 \xc2\x9f \xc2\xa0", "??[31m ?? ?? \xc2\xa0"},
    {"\xc3", "?"},
    {"\xe2\x82", "??"},
    {"\xe2\x82x", "??x"},
    {"\xf0\x9f\x98", "???"},
    {"\xc3\xc3\xa9", "?\xc3\xa9"},
    {"\xc0\x9b \xc1\xbf", "?? ??"}, /* in more bytes than it takes */
    {"\xe0\x82\x9b \xf0\x82\x82\xac", "??? ????"},
    {"\xed\xa0\x80 \xed\x9f\xbf", "??? \xed\x9f\xbf"}, /* half of a pair */
    {"\xf4\x8f\xbf\xbf \xf4\x90\x80\x80 \xf5\x80\x80\x80", "\xf4\x8f\xbf\xbf ???? ????"},
    /* what breaks a line, or turns it around; and its neighbours */
    {"\xe2\x80\xa7 \xe2\x80\xa8 \xe2\x80\xae \xe2\x80\xaf", "\xe2\x80\xa7 ??? ??? \xe2\x80\xaf"},
    {"\xe2\x81\xa5 \xe2\x81\xa6 \xe2\x81\xa9 \xe2\x81\xaa", "\xe2\x81\xa5 ??? ??? \xe2\x81\xaa"},
};

TEST_CASES(text_is_cleaned, COUNT(cleaned))
{
    /* of its own size, so that the sanitizers see a step too far */
    size_t len = strlen(cleaned[_i].text);
    char *text = memcpy(malloc(len + 1), cleaned[_i].text, len);

    text = realloc(text, len ? len : 1);
    ftree_text_clean(text, len, '?');
    ck_assert_uint_eq(len, strlen(cleaned[_i].clean));
    ck_assert_mem_eq(text, cleaned[_i].clean, len);
    free(text);
}

/* What is printable stays as it is, all else is escaped; a program reads what it was. */
static const struct {
    const char *text, *json;
    bool same; /* read again, it is the text */
} escaped[] = {
    {"node h1", "node h1", true},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
     true},
    {"a\"b\\c\n\033[1m", "a\\\"b\\\\c\\n\\u001b[1m", true},
    {"\x7f", "\\u007f", true},
    {"\xc2\x80 \xc2\x85 \xc2\x9b[31m \xc2\x9f \xc2\xa0",
     "\\u0080 \\u0085 \\u009b[31m \\u009f \xc2\xa0", true},
    {"\xe2\x80\xa8 \xe2\x80\xae \xe2\x81\xa6", "\\u2028 \\u202e \\u2066", true},
    {"\x9b[31m \xff", "\\ufffd[31m \\ufffd", false},
    {"\xe2\x82", "\\ufffd\\ufffd", false},
    {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd", false},
};

TEST_CASES(json_is_escaped, COUNT(escaped))
{
    struct json_object *o = json_object_new_object(), *again;
    char expected[256], *text;

    json_object_object_add(o, escaped[_i].text, json_object_new_string(escaped[_i].text));
    text = ftree_report_json_text(o, JSON_C_TO_STRING_PLAIN);
    snprintf(expected, sizeof(expected), "{\"%s\":\"%s\"}", escaped[_i].json, escaped[_i].json);
    ck_assert_str_eq(text, expected);
    again = json_tokener_parse(text);
    ck_assert_int_eq(json_object_equal(o, again), escaped[_i].same);
    json_object_put(again);
    json_object_put(o);
    free(text);
    ck_assert_ptr_null(ftree_report_json_text(NULL, JSON_C_TO_STRING_PLAIN));
}

TEST_CASE(long_names_lose_no_line)
{
    char name[3000], file[5000];
    const char *const long_names[] = {name, name, name, name};
    struct ftree_job long_job = sample_job;
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict("node-frozen/agent-and-deputy-silent", 2, FTREE_NONE);
    char *text;

    memset(name, 'n', sizeof(name) - 1);
    memset(file, 'f', sizeof(file) - 1);
    name[sizeof(name) - 1] = file[sizeof(file) - 1] = '\0';
    long_job.node_name = long_names;
    rj.job = &long_job;
    text = ftree_report_text(&rj, &v, 1, file);
    ck_assert_int_eq(lines_of(text), 7);
    ck_assert_ptr_nonnull(strstr(text, file));
    free(text);
}

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
    {{5, 3, {{0, 0}, {2, 4}, {9, 9}}}, 64, "0, 2-4, 9"},
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

TEST_CASES(ranks_as_a_person_writes_them, COUNT(rank_rows))
{
    /* a buffer of its own size, so that the sanitizers see a write behind it */
    char *buf = malloc(rank_rows[_i].room);

    ftree_report_ranks(&rank_rows[_i].set, buf, rank_rows[_i].room);
    ck_assert_str_eq(buf, rank_rows[_i].text);
    free(buf);
}

TEST_CASE(errno_names)
{
    char buf[24];

    ck_assert_str_eq(ftree_report_errno(0, buf, sizeof(buf)), "");
    ck_assert_str_eq(ftree_report_errno(ECONNREFUSED, buf, sizeof(buf)), "ECONNREFUSED");
    ck_assert_str_eq(ftree_report_errno(EHOSTUNREACH, buf, sizeof(buf)), "EHOSTUNREACH");
    ck_assert_str_eq(ftree_report_errno(ENETUNREACH, buf, sizeof(buf)), "ENETUNREACH");
    ck_assert_str_eq(ftree_report_errno(ETIMEDOUT, buf, sizeof(buf)), "ETIMEDOUT");
    ck_assert_str_eq(ftree_report_errno(3999, buf, sizeof(buf)), "errno 3999");
}

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
    struct json_object *o;
    char *text;

    rj.known = list;
    rj.knowns = n;
    text = ftree_report_json(&rj);
    ck_assert_ptr_nonnull(text);
    o = json_tokener_parse(text);
    ck_assert_msg(o != NULL, "no JSON: %s", text);
    free(text);
    return o;
}

TEST_CASE(json_names_schema_and_job)
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

static void check_component(struct json_object *c, const struct ftree_verdict *v)
{
    const char *kind = string(c, "kind");
    struct json_object *ranks = member(c, "ranks", json_type_array);

    ck_assert_str_eq(kind, ftree_kind_name(v->kind));
    ck_assert_int_gt((int) strlen(string(c, "name")), 0);
    ck_assert_str_eq(string(c, "node"), sample_job.node_name[v->node]);
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
        ck_assert(!strcmp(source, "probe") || !strcmp(source, "proc") ||
                  !strcmp(source, "symptom"));
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
    ck_assert_str_eq(string(o, "rule"), v->rule);
    ck_assert_str_eq(string(o, "because"), v->because);
    ck_assert_int_eq(json_object_get_int(member(o, "id", json_type_int)), 7);
    ck_assert(!json_object_object_get_ex(o, "withdrawn", NULL));
    ck_assert(!json_object_object_get_ex(o, "raised_by", NULL));
    ck_assert(!json_object_object_get_ex(o, "symptom_kinds", NULL));
    ck_assert_str_eq(string(o, "fln"), "h0");
    check_evidence(member(o, "evidence", json_type_array), v->evidences);
    ck_assert_int_eq(json_object_get_int(member(victims, "count", json_type_int)), 5);
    ck_assert_uint_eq(json_object_array_length(member(victims, "ranks", json_type_array)), 5);
    check_candidates(member(o, "candidates", json_type_array), v);
}

static void expect_schema(const char *sign)
{
    struct ftree_verdict v = verdict(sign, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct json_object *o;

    if (v.kind == FTREE_KIND_RANK) {
        v.rank = 4;
        v.pid = 5004;
    }
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 2, EHOSTUNREACH, 0);
    add_probe(&v, FTREE_PATH_MGMT, FTREE_ROLE_DEPUTY, FTREE_REACH_ANSWERED, 0, 0, 'T');
    add_proc(&v, 2, 'X');
    add_word(&v, FTREE_EVIDENCE_SYMPTOM, 2, "power-off");
    o = parsed_report(&list, 1);
    check_verdict(json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), &v);
    json_object_put(o);
}

TEST_CASE(json_of_every_sign_has_the_schema)
{
    const struct ftree_rules *rules = base_rules();

    for (int32_t m = 0; m < rules->models; m++)
        for (int32_t i = 0; i < rules->model[m].signs; i++)
            expect_schema(rules->model[m].sign[i].name);
}

TEST_CASE(json_of_evidence)
{
    struct ftree_verdict v = verdict("process-stopped/deputy-says-stopped", 2, 4);
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

TEST_CASE(json_of_causes_and_of_whom_to_call)
{
    struct ftree_verdict v = outage_with_causes();
    const struct ftree_verdict *known = &v;
    struct json_object *o = parsed_report(&known, 1), *verdict, *list, *e;

    verdict = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
    list = member(verdict, "ticket", json_type_array);
    ck_assert_int_eq((int) json_object_array_length(list), 1);
    ck_assert_str_eq(json_object_get_string(json_object_array_get_idx(list, 0)), "node");
    e = json_object_array_get_idx(member(verdict, "evidence", json_type_array), 0);
    ck_assert_str_eq(string(e, "source"), "cause");
    ck_assert_str_eq(string(e, "detail"), "fan-failed: fan 2 has an alarm");
    ck_assert_str_eq(json_object_to_json_string(member(e, "before_s", json_type_double)), "40.0");
    json_object_put(o);
}

TEST_CASE(json_of_several_verdicts_keeps_their_order)
{
    struct ftree_verdict a = verdict(OUTAGE, 2, FTREE_NONE);
    struct ftree_verdict b = verdict("process-crash/pid-gone", 1, 3);
    const struct ftree_verdict *list[] = {&a, &b};
    struct json_object *o = parsed_report(list, 2), *v = member(o, "verdicts", json_type_array);

    ck_assert_uint_eq(json_object_array_length(v), 2);
    ck_assert_str_eq(string(json_object_array_get_idx(v, 0), "class"), "node-outage");
    ck_assert_str_eq(string(json_object_array_get_idx(v, 1), "class"), "process-crash");
    json_object_put(o);
}

/* Ranks dealt out round robin: more ranges on a node than a set can hold. */
TEST_CASE(scattered_ranks_are_all_in_the_json)
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
    struct ftree_verdict v = verdict(OUTAGE, 1, FTREE_NONE);
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
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    c = member(json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), "component",
               json_type_object);
    ck_assert_uint_eq(json_object_array_length(member(c, "ranks", json_type_array)), PPN);
    ck_assert_str_eq(string(c, "name"), "n1");
    json_object_put(o);
    free(text);
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "node n1 (ranks 1, 3, 5, 7,"));
    ck_assert_ptr_nonnull(strstr(text, ", ...) is down"));
    free(text);
}

TEST_CASE(a_job_without_tables)
{
    const struct ftree_job plain = {.nodes = 4, .size = 4, .fanout = 2};
    struct ftree_verdict v = verdict(OUTAGE, 3, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    char *text;

    v.victims = (struct ftree_ranks){.count = 3, .ranges = 1, .range = {{0, 2}}};
    rj.job = &plain;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "node n3 (rank 3) is down"));
    free(text);
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_json(&rj);
    ck_assert_ptr_nonnull(strstr(text, "\"name\": \"n3\""));
    free(text);
}

/* A symptom that is weeks old, and a verdict from the future of the reporting clock. */
TEST_CASE(odd_times_stay_numbers)
{
    struct ftree_verdict v = verdict(OUTAGE, 3, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    struct json_object *o, *first;
    char *text;

    v.first_symptom = 0;
    v.located = 60 * 24 * 3600 * (1000 * FTREE_MS);
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    first = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
    ck_assert_double_eq_tol(json_object_get_double(member(first, "latency_s", json_type_double)),
                            60.0 * 24 * 3600, 1e-3);
    expect_time(first, "first_symptom", "2026-01-31T11:58:30.250Z");
    expect_time(first, "located", "2026-04-01T11:58:30.250Z");
    json_object_put(o);
    free(text);
}

/* ---- components ------------------------------------------------------------------------------ */

static const struct {
    int class_;
    bool has_tree;
    int32_t which; /* of a switch: which; of ranks: the one, FTREE_NONE: all of h2 */
    const char *headline, *conclusion;
} component_rows[] = {
    {FTREE_CLASS_NIC_FAULT, true, FTREE_NONE,
     "nic-fault: nic h2 (ranks 4-5) has failed -- hardware",
     "hardware fault in nic h2"},
    {FTREE_CLASS_LINK_FAULT, true, FTREE_NONE,
     "link-fault: link h2 (ranks 4-5) has failed -- hardware",
     "hardware fault in link h2"},
    {FTREE_CLASS_SWITCH_FAULT, true, 1, "switch-fault: switch leaf1 (ranks 4-7) has failed",
     "hardware fault in switch leaf1"},
    {FTREE_CLASS_SWITCH_FAULT, false, 1, "switch-fault: switch 1 (ranks 4-5) has failed",
     "hardware fault in switch 1"},
    {FTREE_CLASS_SWITCH_FAULT, true, FTREE_NONE, "switch-fault: switch -1 (ranks 4-5) has failed",
     "hardware fault in switch -1"},
    {FTREE_CLASS_DEADLOCK, true, FTREE_NONE,
     "deadlock: ranks 4-5 (node h2) wait for each other -- software",
     "software fault in ranks 4-5 (node h2)"},
    {FTREE_CLASS_IO_HANG, true, FTREE_NONE,
     "io-hang: ranks 4-5 (node h2) hang in input or output -- hardware",
     "hardware fault in what ranks 4-5 (node h2) wait for"},
    {FTREE_CLASS_IO_HANG, true, 5, "io-hang: rank 5 (node h2) hangs in input or output -- hardware",
     "hardware fault in what rank 5 (node h2) waits for"},
    {FTREE_CLASS_STRAGGLER, true, FTREE_NONE,
     "straggler: node h2 (ranks 4-5) is slow, others wait for it -- hardware or software, ",
     "fault in node h2; hardware or software is not known"},
    {FTREE_CLASS_UNKNOWN, true, FTREE_NONE,
     "unknown: node h2 (ranks 4-5): cause not identified",
     "cause not identified, hardware or software"},
};

TEST_CASES(component_in_words, COUNT(component_rows))
{
    struct ftree_verdict v = verdict_of_class(component_rows[_i].class_, 2);
    struct report_job rj = report_job();
    struct ftree_job with_tree = sample_job;
    char *text, *last;

    with_tree.tree = component_rows[_i].has_tree ? &sample_tree : NULL;
    rj.job = &with_tree;
    v.switch_ = v.kind == FTREE_KIND_SWITCH ? component_rows[_i].which : FTREE_NONE;
    v.rank = v.kind == FTREE_KIND_RANK ? component_rows[_i].which : FTREE_NONE;
    text = ftree_report_text(&rj, &v, 1, "x.json");
    ck_assert_msg(strstr(text, component_rows[_i].headline) == text + strlen("[faultloc] "), "%s",
                  text);
    last = strstr(text, "[faultloc]   conclusion: ");
    ck_assert_msg(last && strstr(last, component_rows[_i].conclusion), "%s", text);
    ck_assert_str_eq(strchr(last, '\n'), "\n");
    free(text);
}

/* What a rank has said of its own end; other classes and signs have headlines of their own. */
static const struct {
    int class_;
    const char *because, *headline;
} own_words[] = {
    {FTREE_CLASS_PROCESS_CRASH, "it called MPI_Abort(7) on a communicator of ranks 4-5",
     "process-crash: rank 5 (node h2) called MPI_Abort(7) on a communicator of ranks 4-5 -- "},
    {FTREE_CLASS_PROCESS_CRASH, "the process is gone without having called MPI_Finalize",
     "process-crash: rank 5 (node h2) ended without MPI_Finalize -- "},
    {FTREE_CLASS_PROCESS_STOPPED, "it sleeps", "process-stopped: rank 5 (node h2) is stopped -- "},
};

TEST_CASES(an_end_in_the_words_of_the_rank, COUNT(own_words))
{
    struct ftree_verdict v = verdict_of_class(own_words[_i].class_, 2);
    struct report_job rj = report_job();
    char *text;

    v.rank = 5;
    snprintf(v.because, sizeof(v.because), "%s", own_words[_i].because);
    text = ftree_report_text(&rj, &v, 1, "x.json");
    ck_assert_msg(strstr(text, own_words[_i].headline) == text + strlen("[faultloc] "), "%s", text);
    free(text);
}

TEST_CASE(json_of_a_set_of_ranks)
{
    struct ftree_verdict v = deadlock();
    const struct ftree_verdict *list = &v;
    struct json_object *o, *c, *e;

    add_word(&v, FTREE_EVIDENCE_WAIT, 2, "rank 5 has sent to rank 3, with tag 9");
    o = parsed_report(&list, 1);
    c = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
    e = json_object_array_get_idx(member(c, "evidence", json_type_array), 0);
    ck_assert_str_eq(string(e, "source"), "wait");
    ck_assert_str_eq(string(e, "path"), "local");
    ck_assert_str_eq(string(e, "target"), "h2");
    ck_assert_str_eq(string(e, "detail"), "rank 5 has sent to rank 3, with tag 9");
    c = member(c, "component", json_type_object);
    ck_assert_str_eq(string(c, "kind"), "rank");
    ck_assert_str_eq(string(c, "name"), "3, 5, 7");
    ck_assert_str_eq(string(c, "node"), "h1");
    ck_assert_str_eq(json_object_to_json_string_ext(member(c, "ranks", json_type_array),
                                                    JSON_C_TO_STRING_PLAIN),
                     "[3,5,7]");
    ck_assert_int_eq(json_object_get_int(member(c, "count", json_type_int)), 3);
    ck_assert_int_eq(json_object_get_int(member(c, "nodes", json_type_int)), 3);
    json_object_put(o);
}

TEST_CASE(json_of_a_switch)
{
    struct ftree_verdict v = verdict_of_class(FTREE_CLASS_SWITCH_FAULT, 2);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    struct ftree_job with_tree = sample_job;
    struct json_object *o, *c;
    char *text;

    with_tree.tree = &sample_tree;
    v.switch_ = 1;
    rj.job = &with_tree;
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    c = member(json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), "component",
               json_type_object);
    ck_assert_str_eq(string(c, "kind"), "switch");
    ck_assert_str_eq(string(c, "name"), "leaf1");
    ck_assert_str_eq(string(c, "node"), "h2");
    ck_assert_uint_eq(json_object_array_length(member(c, "ranks", json_type_array)), 4);
    json_object_put(o);
    free(text);
}

/* A switch is told by its name, and one that the tree does not have by its number. */
TEST_CASE(switches_that_are_not_in_the_tree)
{
    static const struct {
        int32_t switch_;
        const char *name;
    } rows[] = {
        {0, "leaf0"}, {1, "leaf1"}, {2, "2"}, {FTREE_NONE, "-1"}, {INT32_MIN, "-2147483648"}};

    for (int i = 0; i < COUNT(rows); i++) {
        struct ftree_verdict v = verdict_of_class(FTREE_CLASS_SWITCH_FAULT, 2);
        struct ftree_job with_tree = sample_job;
        struct report_about about;
        struct report_room room;
        char text[100];
        with_tree.tree = &sample_tree;
        v.switch_ = rows[i].switch_;
        report_about(&with_tree, &v, &room, &about);
        ftree_report_component(&about, text, sizeof(text));
        ck_assert_int_eq(strncmp(text, "switch ", 7), 0);
        ck_assert_str_eq(text + 7, rows[i].name);
    }
}

/* What a candidate would be about: the nearest component that has a name. */
TEST_CASE(json_of_candidates)
{
    static const struct {
        int class_;
        bool has_tree;
        int32_t rank; /* of the verdict */
        const char *kind, *name;
    } rows[] = {
        {FTREE_CLASS_NIC_FAULT, true, FTREE_NONE, "nic", "h2"},
        {FTREE_CLASS_SWITCH_FAULT, true, FTREE_NONE, "switch", "leaf1"},
        {FTREE_CLASS_SWITCH_FAULT, false, FTREE_NONE, "node", "h2"},
        {FTREE_CLASS_PROCESS_STOPPED, true, FTREE_NONE, "node", "h2"},
        {FTREE_CLASS_PROCESS_STOPPED, true, 5, "rank", "5"},
        {FTREE_CLASS_NODE_OUTAGE, true, 5, "node", "h2"},
    };

    for (int i = 0; i < COUNT(rows); i++) {
        struct ftree_verdict v = verdict_of_class(FTREE_CLASS_UNKNOWN, 2);
        const struct ftree_verdict *list = &v;
        struct report_job rj = report_job();
        struct ftree_job with_tree = sample_job;
        struct json_object *o, *c;
        char *text;
        with_tree.tree = rows[i].has_tree ? &sample_tree : NULL;
        v.rank = rows[i].rank;
        v.candidates = 1;
        v.candidate[0] = (struct ftree_candidate){(uint8_t) rows[i].class_, 300, false};
        rj.job = &with_tree;
        rj.known = &list;
        rj.knowns = 1;
        text = ftree_report_json(&rj);
        o = json_tokener_parse(text);
        c = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
        c = json_object_array_get_idx(member(c, "candidates", json_type_array), 0);
        c = member(c, "component", json_type_object);
        ck_assert_str_eq(string(c, "kind"), rows[i].kind);
        ck_assert_str_eq(string(c, "name"), rows[i].name);
        json_object_put(o);
        free(text);
    }
}

/* ---- the end of a report --------------------------------------------------------------------- */

TEST_CASE(candidates_are_named_in_order)
{
    struct ftree_verdict v = verdict_of_class(FTREE_CLASS_UNKNOWN, 2);
    struct report_job rj = report_job();
    char *text;

    v.candidates = 3;
    v.candidate[0] = (struct ftree_candidate){FTREE_CLASS_STRAGGLER, 100, false};
    v.candidate[1] = (struct ftree_candidate){FTREE_CLASS_NIC_FAULT, 800, true};
    v.candidate[2] = (struct ftree_candidate){FTREE_CLASS_DEADLOCK, 400, false};
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "most likely: 1. deadlock (software), 2. straggler "
                                       "(unknown); ticket: node or application\n"));
    free(text);
}

TEST_CASE(who_waits_for_a_slow_rank_is_no_victim)
{
    struct ftree_verdict v = verdict_of_class(FTREE_CLASS_STRAGGLER, 2);
    struct report_job rj = report_job();
    char *text;

    v.victims = (struct ftree_ranks){0};
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_null(strstr(text, "victims"));
    free(text);
}

TEST_CASES(a_network_fault_whose_part_is_not_known_says_so, 3)
{
    static const char *const rows[] = {
        "unknown: network fault at node h2 (ranks 4-5), part not identified: link\n",
        "unknown: network fault at node h2 (ranks 4-5), part not identified: link or NIC\n",
        "unknown: network fault at node h2 (ranks 4-5), part not identified: link, NIC or switch\n"};
    struct ftree_verdict v = verdict_of_class(FTREE_CLASS_UNKNOWN, 2);
    struct report_job rj = report_job();
    char *text;

    v.candidates = _i + 1;
    v.candidate[0] = (struct ftree_candidate){FTREE_CLASS_LINK_FAULT, 400, false};
    v.candidate[1] = (struct ftree_candidate){FTREE_CLASS_NIC_FAULT, 400, false};
    v.candidate[2] = (struct ftree_candidate){FTREE_CLASS_SWITCH_FAULT, 200, false};
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_msg(strstr(text, rows[_i]) != NULL, "%s", text);
    free(text);
}

TEST_CASES(confidence_is_a_rank, 4)
{
    static const struct {
        uint16_t confidence;
        const char *word;
    } rows[] = {{999, "high\n"}, {895, "high\n"}, {894, "medium\n"}, {600, "low\n"}};
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    struct report_job rj = report_job();
    char *text, *at;

    v.confidence = rows[_i].confidence;
    text = ftree_report_text(&rj, &v, 1, NULL);
    at = strstr(text, "-- hardware, confidence ");
    ck_assert_ptr_nonnull(at);
    at += strlen("-- hardware, confidence ");
    ck_assert_msg(!strncmp(at, rows[_i].word, strlen(rows[_i].word)), "%s", text);
    free(text);
}

TEST_CASE(only_the_most_likely_stay)
{
    struct report_open open = {0};

    for (int i = 0; i < 3 * REPORT_OPEN_MAX; i++)
        ftree_report_open_add(&open, "deadlock", 7 * i % 24);
    ck_assert_int_eq(open.n, REPORT_OPEN_MAX);
    for (int i = 0; i < REPORT_OPEN_MAX; i++)
        ck_assert_int_eq(open.candidate[i].percent, 23 - i);
}

TEST_CASE(text_of_a_withdrawn_verdict)
{
    struct ftree_verdict v = verdict("process-stopped/deputy-says-stopped", 2, 4);

    v.pid = 5004;
    v.withdrawn = v.located + 2100 * FTREE_MS;
    expect_text(
        &v, "faultloc-4711.json",
        "[faultloc] withdrawn: process-stopped of rank 4 (node h2): the process runs again, "
        "2.1 s after the verdict\n"
        "[faultloc]   full report: faultloc-4711.json\n"
        "[faultloc]   conclusion: the software fault in rank 4 (node h2) is over\n");
    v = verdict(OUTAGE, 2, FTREE_NONE);
    v.withdrawn = v.located - 1; /* by another node's clock */
    expect_text(&v, NULL,
                "[faultloc] withdrawn: node-outage of node h2: the node answers again, 0.0 s "
                "after the verdict\n"
                "[faultloc]   conclusion: the hardware fault in node h2 is over\n");
    v = verdict_of_class(FTREE_CLASS_NODE_FROZEN, 2);
    v.withdrawn = v.located + 60 * 1000 * FTREE_MS;
    expect_text(&v, NULL,
                "[faultloc] withdrawn: node-frozen of node h2: the node answers again, 60.0 s "
                "after the verdict\n"
                "[faultloc]   conclusion: the hardware fault in node h2 is over\n");
    v = verdict_of_class(FTREE_CLASS_UNKNOWN, 2);
    v.withdrawn = v.located;
    expect_text(&v, NULL,
                "[faultloc] withdrawn: unknown of node h2: the fault is over, 0.0 s after the "
                "verdict\n"
                "[faultloc]   conclusion: the fault is over\n");
}

TEST_CASE(json_of_a_withdrawn_verdict)
{
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct json_object *o, *first;

    v.withdrawn = NOW - 89 * FTREE_MS;
    snprintf(v.raised_by, sizeof(v.raised_by), "several-silent");
    v.symptom_kinds =
        (uint64_t) 1 << FTREE_SYMPTOM_PEER_SILENT | (uint64_t) 1 << FTREE_SYMPTOM_USER_SUSPECTS;
    o = parsed_report(&list, 1);
    first = json_object_array_get_idx(member(o, "verdicts", json_type_array), 0);
    expect_time(first, "withdrawn", "2026-01-31T12:00:10.161Z");
    ck_assert_str_eq(string(first, "raised_by"), "several-silent");
    ck_assert_str_eq(json_object_to_json_string_ext(member(first, "symptom_kinds", json_type_array),
                                                    JSON_C_TO_STRING_PLAIN),
                     "[\"peer-silent\",\"user-suspects\"]");
    first = json_object_array_get_idx(member(o, "node_table", json_type_array), 2);
    ck_assert_str_eq(string(first, "state"), "alive");
    json_object_put(o);
}

TEST_CASE(text_of_words_as_evidence)
{
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    struct report_job rj = report_job();
    char *text;

    add_word(&v, FTREE_EVIDENCE_STATE, 2, "link down");
    add_word(&v, FTREE_EVIDENCE_LOG, 2, "send to 3");
    add_word(&v, FTREE_EVIDENCE_SYMPTOM, 2, "power-off: chassis");
    v.evidence[2].error = EHOSTUNREACH;
    snprintf(v.raised_by, sizeof(v.raised_by), "told-by-bmc");
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "rule " OUTAGE ", raised by told-by-bmc\n"));
    ck_assert_ptr_nonnull(strstr(text, "evidence: the state of h2: link down\n"));
    ck_assert_ptr_nonnull(strstr(text, "          messages of h2: send to 3\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "          reported to h3 about h2: power-off: chassis (EHOSTUNREACH)\n"));
    free(text);
}

/* The words of a piece of evidence, as the JSON has it: `faultloc` says them again from a file. */
static const struct {
    struct {
        const char *text[11]; /* evidence_keys */
        double before_s;
    } e;
    const char *text;
} evidence_rows[] = {
    {{{"probe", "data", "agent", "h2", "10.0.0.3", "unreachable", "EHOSTUNREACH", "", "h0", "", ""}, 0},
     "h2 on data 10.0.0.3: unreachable (EHOSTUNREACH)"},
    {{{"probe", "data", "agent", "h2", "", "no answer", "", "", "h0", "twice", ""}, 0},
     "h2 on data: no answer, twice"},
    {{{"probe", "mgmt", "deputy", "h2", "", "answered", "EIO", "D", "h0", "late", ""}, 0},
     "h2's deputy on mgmt: answered (EIO), reports state D, late"},
    {{{"visit", "data", "agent", "h2", "10.0.0.3", "answered", "", "", "h3", "", ""}, 0},
     "h2 on data 10.0.0.3, asked by h3: answered"},
    {{{"weather", "mgmt", "", "h2", "", "answered", "", "", "h0", "", ""}, 0}, "h2 on mgmt: answered"},
    {{{"proc", "", "", "h2", "", "", "", "X", "h0", "", ""}, 0},
     "the kernel of h2 says the process is gone"},
    {{{"proc", "", "", "h2", "", "", "", "", "h0", "", ""}, 0},
     "the kernel of h2 says the process is in state "},
    {{{"state", "", "", "h2", "", "", "", "", "h0", "load 9", ""}, 0}, "the state of h2: load 9"},
    {{{"log", "", "", "h2", "", "", "", "", "h0", "send to 3", ""}, 0},
     "messages of h2: send to 3"},
    {{{"symptom", "", "", "h2", "", "", "", "", "h3", "power-off", ""}, 0},
     "reported to h3 about h2: power-off"},
    {{{"wait", "", "", "h2", "", "", "", "", "h3", "rank 1 (h2) in MPI_Recv(from 2)", "halo(), a.c:3"}, 0},
     "rank 1 (h2) in MPI_Recv(from 2) at halo(), a.c:3"},
    {{{"symptom", "", "", "h2", "", "", "EIO", "", "h3", "io-error", ""}, 0},
     "reported to h3 about h2: io-error (EIO)"},
    {{{"handler", "", "", "h2", "", "", "", "", "h3", "bmc: power-off: chassis power is off", ""}, 0},
     "reported to h3 about h2: bmc: power-off: chassis power is off"},
    {{{"cause", "", "", "h2", "", "", "", "", "h3", "fan-failed: fan 2", ""}, 40.2},
     "cause: fan-failed: fan 2, 40 s before (reported to h3)"},
    {{{"cause", "", "", "h2", "", "", "", "", "h3", "fan-failed", ""}, 600},
     "cause: fan-failed, 10 min before (reported to h3)"},
    {{{"cause", "", "", "h2", "", "", "", "", "h3", "out-of-memory", ""}, -0.5},
     "cause: out-of-memory, just before (reported to h3)"},
    {{{"cause", "", "", "h2", "", "", "", "", "h3", "mount-silent: /home", ""}, -20},
     "cause: mount-silent: /home, seen 20 s after the first symptom (reported to h3)"},
    {{{"unknown", "", "", "h2", "", "", "", "", "h3", "fan, cpu", ""}, 0},
     "not known: fan, cpu"},
};

static const char *const evidence_keys[] = {"source", "path",          "role", "target", "address", "result",
                                            "errno",  "process_state", "by",   "detail", "place"};

TEST_CASES(evidence_in_words, COUNT(evidence_rows))
{
    struct json_object *e = json_object_new_object();
    char text[200];

    for (size_t i = 0; i < COUNT(evidence_keys); i++)
        json_object_object_add(e, evidence_keys[i],
                               json_object_new_string(evidence_rows[_i].e.text[i]));
    json_object_object_add(e, "before_s", json_object_new_double(evidence_rows[_i].e.before_s));
    ftree_report_evidence(e, text, sizeof(text));
    ck_assert_str_eq(text, evidence_rows[_i].text);
    json_object_put(e);
}

static const struct {
    const char *data, *mgmt, *text;
} node_rows[] = {
    {"10.0.0.1", "10.1.0.1", "h0: data 10.0.0.1, mgmt 10.1.0.1: alive"},
    {"10.0.0.1", "", "h0: data 10.0.0.1: alive"},
    {"", "10.1.0.1", "h0: mgmt 10.1.0.1: alive"},
    {"", "", "h0: alive"},
};

TEST_CASES(nodes_with_the_addresses_they_have, COUNT(node_rows))
{
    char text[100];

    ftree_report_node("h0", node_rows[_i].data, node_rows[_i].mgmt, "alive", text, sizeof(text));
    ck_assert_str_eq(text, node_rows[_i].text);
}

/* No addresses, and no decision was taken yet: neither is spoken of. */
TEST_CASE(verbose_text_of_a_job_that_knows_little)
{
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    char *text;

    rj.verbose = true;
    rj.address = NULL;
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "[faultloc]   nodes:\n"
                                       "[faultloc]     h0: alive\n"
                                       "[faultloc]     h1: alive\n"
                                       "[faultloc]     h2: dead\n"
                                       "[faultloc]     h3: alive\n"
                                       "[faultloc]   conclusion: hardware"));
    ck_assert_ptr_null(strstr(text, "trace:"));
    free(text);
}

TEST_CASE(verbose_text_has_nodes_and_trace)
{
    static const char *const trace[] = {"suspects h2: peer-stall", "  asks h2"};
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE), w, over;
    const struct ftree_verdict *list[] = {&v, &w, &over};
    struct report_job rj = report_job();
    char *text;

    w = verdict_of_class(FTREE_CLASS_NIC_FAULT, 3);
    over = verdict(OUTAGE, 1, FTREE_NONE);
    over.withdrawn = NOW;
    rj.verbose = true;
    rj.known = list;
    rj.knowns = 3;
    rj.trace = trace;
    rj.traces = 2;
    text = ftree_report_text(&rj, &v, 1, "x.json");
    ck_assert_ptr_nonnull(strstr(text,
                                 "[faultloc]   full report: x.json\n"
                                 "[faultloc]   nodes:\n"
                                 "[faultloc]     h0: data 10.0.0.1: alive\n"
                                 "[faultloc]     h1: data 10.0.0.2, mgmt 10.1.0.2: alive\n"
                                 "[faultloc]     h2: data 10.0.0.3, mgmt 10.1.0.3: dead\n"
                                 "[faultloc]     h3: data 10.0.0.4, mgmt 10.1.0.4: unreachable\n"
                                 "[faultloc]   trace:\n"
                                 "[faultloc]     suspects h2: peer-stall\n"
                                 "[faultloc]       asks h2\n"
                                 "[faultloc]   conclusion: hardware"));
    free(text);
}

/* ---- the table of nodes ---------------------------------------------------------------------- */

/* What was heard of h2 on the management network, in so far as it matters. */
enum heard {
    NOTHING,
    ANSWER,
    SILENCE,
    NO_WAY_TO_IT,
    OWN_SIDE_DOWN,
    SILENCE_OF_ANOTHER,
    GONE_IN_PROC
};

static void add_heard(struct ftree_verdict *v, enum heard heard)
{
    static const uint8_t reach[] = {[ANSWER] = FTREE_REACH_ANSWERED,
                                    [SILENCE] = FTREE_REACH_SILENT,
                                    [NO_WAY_TO_IT] = FTREE_REACH_UNREACHABLE,
                                    [OWN_SIDE_DOWN] = FTREE_REACH_LOCAL_DOWN,
                                    [SILENCE_OF_ANOTHER] = FTREE_REACH_SILENT};

    if (heard == GONE_IN_PROC)
        add_proc(v, 2, 'X');
    else if (heard != NOTHING)
        add_probe(v, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, (enum ftree_reach) reach[heard],
                  heard == SILENCE_OF_ANOTHER ? 1 : 2, 0, 0);
}

static const struct {
    int class_;
    enum heard heard;
    bool has_tree;
    int32_t switch_;
    const char *state[4];
} state_rows[] = {
    {FTREE_CLASS_NODE_OUTAGE, NOTHING, true, FTREE_NONE, {"alive", "alive", "dead", "alive"}},
    {FTREE_CLASS_NODE_FROZEN, NOTHING, true, FTREE_NONE, {"alive", "alive", "dead", "alive"}},
    {FTREE_CLASS_NIC_FAULT, NOTHING, true, FTREE_NONE, {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_LINK_FAULT, NOTHING, true, FTREE_NONE, {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_SWITCH_FAULT, NOTHING, true, 1, {"alive", "alive", "unreachable", "unreachable"}},
    {FTREE_CLASS_SWITCH_FAULT, NOTHING, true, 0, {"unreachable", "unreachable", "alive", "alive"}},
    /* which switch, or what is behind it, is not known: the node that was asked for */
    {FTREE_CLASS_SWITCH_FAULT,
     NOTHING,
     true,
     FTREE_NONE,
     {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_SWITCH_FAULT, NOTHING, false, 1, {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_UNKNOWN, NOTHING, true, FTREE_NONE, {"alive", "alive", "alive", "alive"}},
    {FTREE_CLASS_UNKNOWN, ANSWER, true, FTREE_NONE, {"alive", "alive", "alive", "alive"}},
    {FTREE_CLASS_UNKNOWN, SILENCE, true, FTREE_NONE, {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_UNKNOWN,
     NO_WAY_TO_IT,
     true,
     FTREE_NONE,
     {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_UNKNOWN,
     OWN_SIDE_DOWN,
     true,
     FTREE_NONE,
     {"alive", "alive", "unreachable", "alive"}},
    {FTREE_CLASS_UNKNOWN,
     SILENCE_OF_ANOTHER,
     true,
     FTREE_NONE,
     {"alive", "alive", "alive", "alive"}},
    {FTREE_CLASS_UNKNOWN, GONE_IN_PROC, true, FTREE_NONE, {"alive", "alive", "alive", "alive"}},
    {FTREE_CLASS_PROCESS_CRASH, SILENCE, true, FTREE_NONE, {"alive", "alive", "alive", "alive"}},
    {FTREE_CLASS_STRAGGLER, SILENCE, true, FTREE_NONE, {"alive", "alive", "alive", "alive"}},
};

TEST_CASES(json_has_the_state_of_nodes, COUNT(state_rows))
{
    struct ftree_verdict v = verdict_of_class(state_rows[_i].class_, 2);
    const struct ftree_verdict *list = &v;
    struct report_job rj = report_job();
    struct ftree_job with_tree = sample_job;
    struct json_object *o, *table;
    char *text;

    with_tree.tree = state_rows[_i].has_tree ? &sample_tree : NULL;
    rj.job = &with_tree;
    rj.known = &list;
    rj.knowns = 1;
    v.switch_ = state_rows[_i].switch_;
    add_probe(&v, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_ANSWERED, 2, 0, 0);
    add_heard(&v, state_rows[_i].heard);
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    table = member(o, "node_table", json_type_array);
    for (size_t i = 0; i < 4; i++) {
        struct json_object *n = json_object_array_get_idx(table, i);
        ck_assert_str_eq(string(n, "name"), sample_job.node_name[i]);
        ck_assert_str_eq(string(n, "state"), state_rows[_i].state[i]);
        string(member(n, "address", json_type_object), "data");
    }
    json_object_put(o);
    free(text);
}

TEST_CASE(a_large_job_has_its_table_only_when_asked)
{
    const struct ftree_job large = {
        .nodes = REPORT_NODES_MAX + 1, .size = REPORT_NODES_MAX + 1, .fanout = 2};
    struct report_job rj = report_job();
    char *text;

    rj.job = &large;
    rj.address = NULL;
    text = ftree_report_json(&rj);
    ck_assert_ptr_null(strstr(text, "node_table"));
    free(text);
    rj.verbose = true;
    text = ftree_report_json(&rj);
    ck_assert_ptr_nonnull(strstr(text, "\"n1024\""));
    free(text);
}

TEST_CASE(errno_numbers)
{
    char buf[24];

    for (int error = 1; error < 200; error++) {
        const char *name = ftree_report_errno(error, buf, sizeof(buf));
        if (name != buf)
            ck_assert_int_eq(ftree_report_errno_number(name), error);
    }
    ck_assert_int_eq(ftree_report_errno_number("113"), 113);
    ck_assert_int_eq(ftree_report_errno_number("4095"), 4095);
    ck_assert_int_eq(ftree_report_errno_number("4096"), 0);
    ck_assert_int_eq(ftree_report_errno_number("99999999999999999999"), 0);
    ck_assert_int_eq(ftree_report_errno_number("0"), 0);
    ck_assert_int_eq(ftree_report_errno_number("-5"), 0);
    ck_assert_int_eq(ftree_report_errno_number("5x"), 0);
    ck_assert_int_eq(ftree_report_errno_number(""), 0);
    ck_assert_int_eq(ftree_report_errno_number("EBAD"), 0);
}

/* ---- notes ----------------------------------------------------------------------------------- */

#define FOR "have waited for 30 s"
#define WRONG "; nothing is known to be wrong\n"
#define STATUS "[faultloc]   what all ranks do: faultloc status"
#define ASK(rank, node) \
    STATUS "; where rank " rank " is: faultloc ask rank " rank "\n" \
    "[faultloc]   to have it examined: faultloc symptom --kind user-suspects --component " \
    "\"rank " rank "\"\n"

static const struct {
    struct ftree_waiting note;
    const char *text;
} note_rows[] = {
    {{.count = 7, .ends = 1, .end = {{3, 7, "outside MPI"}}},
     "[faultloc] waiting: 7 of 8 ranks " FOR
     " for rank 3 (h1), which is outside MPI" WRONG ASK("3", "h1")},
    {{.count = 1,
      .ends = 1,
      .end = {{3, 1, "in MPI_Allreduce"}},
      .classes = 1,
      .class_ = {{"MPI_Recv", "", 1, 2}}},
     "[faultloc] waiting: 1 of 8 ranks has waited for 30 s for rank 3 (h1), which is in "
     "MPI_Allreduce" WRONG "[faultloc]   1 in MPI_Recv, rank 2 (h1) alone\n" ASK("3", "h1")},
    {{.count = 6,
      .ends = 2,
      .end = {{7, 4, "outside MPI"}, {0, 2, "in MPI_Recv"}},
      .classes = 2,
      .class_ = {{"MPI_Allreduce", "MPI_COMM_WORLD", 4, 1}, {"MPI_Recv", "pairs", 2, 4}}},
     "[faultloc] waiting: 6 of 8 ranks " FOR ", 4 of them for rank 7 (h3), which is outside "
     "MPI" WRONG "[faultloc]   2 for rank 0 (h0), which is in MPI_Recv\n"
     "[faultloc]   4 in MPI_Allreduce on MPI_COMM_WORLD, rank 1 (h0) for example\n"
     "[faultloc]   2 in MPI_Recv on pairs, rank 4 (h2) for example\n" ASK("7", "h3")},
    {{.count = 2, .classes = 1, .class_ = {{"MPI", "", 2, 6}}},
     "[faultloc] waiting: 2 of 8 ranks " FOR WRONG
     "[faultloc]   2 in MPI, rank 6 (h3) for example\n" STATUS "\n"},
    {{.count = 8, .classes = 1, .class_ = {{"MPI_Wait", "", 8, 0}}},
     "[faultloc] waiting: 8 of 8 ranks " FOR "; that may be a deadlock, but none is proven\n"
     "[faultloc]   8 in MPI_Wait, rank 0 (h0) for example\n" STATUS "\n"},
    {{.count = 5, .ends = 2, .end = {{7, 0, "outside MPI"}, {1, 0, "in MPI_Recv"}}},
     "[faultloc] waiting: 5 of 8 ranks " FOR " for rank 7 (h3), which is outside MPI" WRONG
     "[faultloc]   others for rank 1 (h0), which is in MPI_Recv\n" ASK("7", "h3")},
    {{.count = 7,
      .ends = 1,
      .end = {{3, 7, "outside MPI, asleep in a pipe (pipe_read): /tmp/fifo", 8200 * FTREE_MS}}},
     "[faultloc] waiting: 7 of 8 ranks " FOR " for rank 3 (h1), which is outside MPI, asleep in a "
     "pipe (pipe_read): /tmp/fifo; it has used no CPU time for 8 s\n" ASK("3", "h1")},
    {{.classes = 2,
      .class_ = {{"", "a file lock (flock_lock)", 7, 0, "/tmp/lock"}, {"MPI_Finalize", "a lock", 1, 7, ""}},
      .asleep = true},
     "[faultloc] waiting: all 8 ranks are asleep, none in a wait of MPI, and have ended no call for 30 s; "
     "they may wait for each other, or for something outside the job\n"
     "[faultloc]   7 outside MPI asleep in a file lock (flock_lock), rank 0 (h0) for example: /tmp/lock\n"
     "[faultloc]   1 in MPI_Finalize asleep in a lock, rank 7 (h3) alone\n" STATUS
     "; where they are: faultloc status --stacks\n"},
};

static struct report_job job_of_note(const struct ftree_waiting *note)
{
    struct report_job rj = report_job();

    rj.waiting = note;
    rj.waiting_at = NOW - 250 * FTREE_MS;
    return rj;
}

TEST_CASES(a_note_in_words, COUNT(note_rows))
{
    struct ftree_waiting note = note_rows[_i].note;
    struct report_job rj = job_of_note(&note);
    char *text;

    note.waiting = 30900 * FTREE_MS;
    text = ftree_report_waiting_text(&rj, NULL);
    ck_assert_str_eq(text, note_rows[_i].text);
    free(text);
    text = ftree_report_waiting_text(&rj, "x.json");
    ck_assert_ptr_nonnull(strstr(text, "[faultloc]   full report: x.json\n"));
    free(text);
}

TEST_CASE(json_of_what_was_set)
{
    struct report_job rj = report_job();
    const struct report_change changes[] = {
        {.at = NOW - 250 * FTREE_MS, .uid = 1000, .what = "stall-ms=500"},
        {.at = NOW, .uid = 0, .what = "action=abort"}};
    struct json_object *o, *list, *c;
    char *text;

    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    ck_assert(!json_object_object_get_ex(o, "settings", NULL));
    json_object_put(o);
    free(text);
    rj.change[0] = &changes[0];
    rj.change[1] = &changes[1];
    rj.changes = 2;
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    list = member(o, "settings", json_type_array);
    ck_assert_uint_eq(json_object_array_length(list), 2);
    c = json_object_array_get_idx(list, 0);
    expect_time(c, "at", "2026-01-31T12:00:10.000Z");
    ck_assert_int_eq(json_object_get_int(member(c, "uid", json_type_int)), 1000);
    ck_assert_str_eq(json_object_get_string(member(c, "what", json_type_string)), "stall-ms=500");
    json_object_put(o);
    free(text);
}

/* ---- what a site is told --------------------------------------------------------------------- */

/* The verdict was located at 12:00:09.761; the job ends at 12:47:10.250, for the most part. */
static const struct {
    const char *sign;
    bool abort;
    struct report_walltime walltime;
    const char *text; /* NULL: nothing */
    int64_t left_s, limit_s;
} walltime_rows[] = {
    {OUTAGE, true, {1769863630250, 3600, false}, "47 min of 60 min walltime were left", 2820, 3600},
    {OUTAGE, true, {1769863630250, 0, false}, "47 min walltime were left", 2820, 0},
    {OUTAGE,
     true,
     {1769863630250, 3600, true},
     "at most 47 min of 60 min walltime were left",
     2820,
     3600},
    {OUTAGE, true, {1769860810000, 60, false}, "0 min of 1 min walltime were left", 0, 60},
    {OUTAGE, true, {1769860000000, 60, false}, "0 min of 1 min walltime were left", 0, 60},
    {OUTAGE, true, {0, 0, false}, NULL, 0, 0},
    {OUTAGE, false, {1769863630250, 3600, false}, NULL, 0, 0},
    {"unknown/no-node-answers", true, {1769863630250, 3600, false}, NULL, 0, 0},
};

TEST_CASES(the_end_of_a_job_says_what_was_left, COUNT(walltime_rows))
{
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict(walltime_rows[_i].sign, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    struct json_object *o, *w = NULL, *limit = NULL;
    char line[128], *text;

    rj.abort = walltime_rows[_i].abort;
    rj.walltime = walltime_rows[_i].walltime;
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_text(&rj, &v, 1, NULL);
    snprintf(line, sizeof(line), "[faultloc]   action abort: %s\n", walltime_rows[_i].text);
    ck_assert_int_eq(strstr(text, line) != NULL, walltime_rows[_i].text != NULL);
    ck_assert_int_eq(strstr(text, "walltime") != NULL, walltime_rows[_i].text != NULL);
    free(text);
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    free(text);
    json_object_object_get_ex(
        json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), "walltime", &w);
    ck_assert_int_eq(w != NULL, walltime_rows[_i].text != NULL);
    if (w) {
        json_object_object_get_ex(w, "limit_s", &limit);
        ck_assert_int_eq(json_object_get_int64(member(w, "left_s", json_type_int)),
                         walltime_rows[_i].left_s);
        ck_assert_int_eq(json_object_get_int64(limit), walltime_rows[_i].limit_s);
        ck_assert_int_eq(json_object_object_get_ex(w, "at_most", NULL), rj.walltime.at_most);
    }
    json_object_put(o);
}

TEST_CASES(json_has_the_statistics, 3)
{
    struct ftree_verdict v = verdict("user-code-hang/blocked", 2, 4);
    const struct ftree_verdict *list = &v;
    struct json_object *o, *s = NULL, *s_out = NULL;

    v.statistics = (struct ftree_statistics){
        .alpha = _i > 0 ? 0.001 : 0,
        .s_out = {_i > 1, 120, 1, 5, 4, 0.11, 800 * FTREE_MS, 1.61051e-5},
        .stay = {9000 * FTREE_MS, 1500 * FTREE_MS, 60000 * FTREE_MS, 2, 1, 6.775e-4},
        .samples = 3,
        .sample = {4, -1, 1}};
    o = parsed_report(&list, 1);
    json_object_object_get_ex(
        json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), "statistics", &s);
    ck_assert_int_eq(s != NULL, _i > 0);
    ck_assert_int_eq(json_object_object_get_ex(s, "s_out", &s_out), _i > 1);
    if (s_out)
        ck_assert_str_eq(json_object_to_json_string_ext(s_out, JSON_C_TO_STRING_PLAIN),
                         "{\"samples\":120,\"threshold\":1,\"run\":5,\"needed\":4,\"q\":0.11,"
                         "\"interval_s\":0.800,\"significance\":1.61e-05}");
    if (s) {
        json_object_object_del(s, "s_out");
        ck_assert_str_eq(json_object_to_json_string_ext(s, JSON_C_TO_STRING_PLAIN),
                         "{\"alpha\":0.001,\"stay\":{\"stay_s\":9.000,\"longest_before_s\":1.500,"
                         "\"history_s\":60.000,\"tail_exponent\":2,\"ranks_tested\":1,\"significance\":0.000678},"
                         "\"s_out_history\":[4,-1,1]}");
    }
    json_object_put(o);
}

TEST_CASES(json_has_the_lost_time, 2)
{
    struct ftree_verdict v = verdict("straggler/quota", 2, 4);
    const struct ftree_verdict *list = &v;
    struct json_object *o, *lost = NULL;

    v.statistics.lost.percent = _i ? 71 : 0;
    v.statistics.lost.before = 625;
    v.statistics.lost.now = 187;
    o = parsed_report(&list, 1);
    json_object_object_get_ex(
        json_object_array_get_idx(member(o, "verdicts", json_type_array), 0), "lost_time", &lost);
    ck_assert_int_eq(lost != NULL, _i);
    if (lost)
        ck_assert_str_eq(
            json_object_to_json_string_ext(lost, JSON_C_TO_STRING_PLAIN),
            "{\"percent\":71,\"outside_mpi_before\":0.625,\"outside_mpi_now\":0.187}");
    json_object_put(o);
}

/* The job goes on for as long as the verdict is held back. */
TEST_CASE(what_was_left_is_less_if_the_job_goes_on)
{
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    const struct ftree_verdict *list = &v;
    char *text;

    v.holds_back = 600 * 1000 * FTREE_MS;
    rj.abort = true;
    rj.walltime = (struct report_walltime){1769863630250, 3600, false};
    rj.known = &list;
    rj.knowns = 1;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_nonnull(strstr(text, "37 min of 60 min walltime were left"));
    free(text);
}

/* A withdrawn verdict ends no job. */
TEST_CASE(what_was_left_is_not_said_of_a_withdrawn_verdict)
{
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    char *text;

    rj.abort = true;
    rj.walltime = (struct report_walltime){.end_ms = 1769863630250};
    v.withdrawn = NOW;
    text = ftree_report_text(&rj, &v, 1, NULL);
    ck_assert_ptr_null(strstr(text, "walltime"));
    free(text);
}

static char *facts_of(const struct report_job *rj, const struct ftree_verdict *v)
{
    char **facts = ftree_report_facts(rj, v, "/tmp/r.json"), *all = NULL;
    size_t len;
    FILE *f = open_memstream(&all, &len);

    ck_assert_ptr_nonnull(facts);
    for (int i = 0; facts[i]; i++)
        fprintf(f, "%s\n", facts[i]);
    fclose(f);
    free(facts);
    return all;
}

TEST_CASE(facts_of_a_verdict)
{
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict(OUTAGE, 2, FTREE_NONE);
    char *all;

    rj.abort = true;
    all = facts_of(&rj, &v);
    EXPECT_LINES(all, "FAULTLOC_RANKS=4-5\n"
                      "FAULTLOC_TEXT=node h2 (ranks 4-5) is down\n"
                      "FAULTLOC_JOB=4711\n"
                      "FAULTLOC_ACTION=abort\n"
                      "FAULTLOC_ID=7\n"
                      "FAULTLOC_FLN=h0\n"
                      "FAULTLOC_CLASS=node-outage\n"
                      "FAULTLOC_ORIGIN=hardware\n"
                      "FAULTLOC_TICKET=node\n"
                      "FAULTLOC_CONFIDENCE=0.990\n"
                      "FAULTLOC_KIND=node\n"
                      "FAULTLOC_COMPONENT=h2\n"
                      "FAULTLOC_HOST=h2\n"
                      "FAULTLOC_RULE=" OUTAGE "\n"
                      "FAULTLOC_REPORT=/tmp/r.json\n");
    free(all);
}

/* A name is no second variable, and no line of a script's log. */
TEST_CASE(facts_are_one_line_each)
{
    struct report_job rj = report_job();
    struct ftree_verdict v = verdict("unknown/no-node-answers", 2, FTREE_NONE);
    char *all;

    rj.id = "1\nLD_PRELOAD=/tmp/x";
    rj.abort = true;
    all = facts_of(&rj, &v);
    ck_assert_ptr_nonnull(
        strstr(all, "\nFAULTLOC_JOB=1?LD_PRELOAD=/tmp/x\nFAULTLOC_ACTION=report\n"));
    free(all);
}

TEST_CASE(json_of_a_note)
{
    struct ftree_waiting note = note_rows[2].note;
    struct report_job rj = job_of_note(&note);
    struct json_object *o, *w, *end;
    char *text;

    note.waiting = 30900 * FTREE_MS;
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    w = member(o, "waiting", json_type_object);
    expect_time(w, "at", "2026-01-31T12:00:10.000Z");
    ck_assert_int_eq(json_object_get_int(member(w, "waited_s", json_type_int)), 30);
    ck_assert_int_eq(json_object_get_int(member(w, "count", json_type_int)), 6);
    end = member(w, "ends", json_type_array);
    ck_assert_str_eq(
        json_object_to_json_string_ext(end, JSON_C_TO_STRING_PLAIN),
        "[{\"rank\":7,\"node\":\"h3\",\"state\":\"outside MPI\",\"count\":4},"
        "{\"rank\":0,\"node\":\"h0\",\"state\":\"in MPI_Recv\",\"count\":2}]");
    ck_assert_str_eq(
        json_object_to_json_string_ext(
            json_object_array_get_idx(member(w, "classes", json_type_array), 1),
            JSON_C_TO_STRING_PLAIN),
        "{\"call\":\"MPI_Recv\",\"communicator\":\"pairs\",\"count\":2,\"example\":4,"
        "\"node\":\"h2\"}");
    json_object_put(o);
    free(text);
}
