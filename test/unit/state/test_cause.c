/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What led to a fault: which symptoms that were seen before are its causes, in which order, and who is
 * to be called because of the first one. */

#include "suite.h"

#include "ftree_inspect.h"
#include "ftree_int.h"
#include "lone.h"

#include <string.h>

#define SEEN_MAX 4
#define FAN FTREE_SYMPTOM_FAN_FAILED
#define HEAT FTREE_SYMPTOM_TEMPERATURE
#define SUPPLY FTREE_SYMPTOM_SUPPLY_FAILED
#define MEMORY FTREE_SYMPTOM_MEMORY_UNCORRECTED
#define DISK FTREE_SYMPTOM_DISK_FAILED
#define CPU FTREE_SYMPTOM_CPU_FAILED
#define KERNEL FTREE_SYMPTOM_KERNEL_ERROR

static void answers(struct lone *l, int32_t node)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    m.u.answer.nonce = ftree_inspect_question(l->ft, node);
    lone_hear(l, node, FTREE_PATH_DATA, &m);
}

static void seen(struct lone *l, int kind, int32_t node)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, (enum ftree_symptom_kind) kind, node, FTREE_NONE, 0, l->now, l->now);
    snprintf(s.detail, sizeof(s.detail), "of node %d", (int) node);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
}

/* Four nodes with one network. */
static struct lone *begin(bool handlers)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    l->job.has_path[FTREE_PATH_MGMT] = false;
    l->handlers = handlers;
    lone_renew(l);
    return l;
}

/* Where it was examined for a symptom it answers, and a warning may come. */
static void pass(struct lone *l, int ms)
{
    for (int at = 0; at < ms; at += 100) {
        lone_run(l, 100);
        for (int32_t node = 1; node < 4; node++)
            if (ftree_case_is_suspect(l->ft, node))
                answers(l, node);
    }
}

/* Rank 0 waits for rank 2, which is silent, and node 3 answers. */
static const struct ftree_verdict *outage(struct lone *l)
{
    int32_t before = l->verdicts;

    lone_stall(l, 0, 2);
    for (int at = 0; at < 15000 && l->verdicts == before; at += 100) {
        lone_run(l, 100);
        answers(l, 3);
    }
    ck_assert_int_gt(l->verdicts, before);
    ck_assert_str_eq(l->verdict[l->verdicts - 1].rule, "node-outage/only-path-silent");
    return &l->verdict[l->verdicts - 1];
}

/* "fan-failed,temperature-high": all that stand at the front. */
static const char *causes(const struct ftree_verdict *v)
{
    static char text[256];

    *text = '\0';
    for (int32_t i = 0; i < v->evidences && v->evidence[i].source == FTREE_EVIDENCE_CAUSE; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s", i ? "," : "",
                 (int) strcspn(v->evidence[i].detail, ":"), v->evidence[i].detail);
    return text;
}

static const struct {
    const char *what;
    struct {
        int kind, ms; /* before the stall; a descending order */
        int32_t node;
    } seen[SEEN_MAX];
    const char *causes;
} rows[] = {
    {"nothing", {{0}}, ""},
    {"a fan", {{FAN, 40000, 2}}, "fan-failed"},
    {"a fan of another node", {{FAN, 40000, 3}}, ""},
    {"a fan that stands still since it is off", {{FAN, 1000, 2}}, ""},
    {"two hours ago", {{FAN, 7200000, 2}}, ""},
    {"a fan, and so heat", {{FAN, 40000, 2}, {HEAT, 10000, 2}}, "fan-failed,temperature-high"},
    {"heat, and a fan after that", {{HEAT, 40000, 2}, {FAN, 20000, 2}}, "fan-failed"},
    {"heat", {{HEAT, 10000, 2}}, "temperature-high"},
    {"a power supply", {{SUPPLY, 2000, 2}}, "power-supply-failed"},
    {"a processor", {{CPU, 2000, 2}}, "cpu-failed"},
    {"memory", {{MEMORY, 2000, 2}}, "memory-uncorrected"},
    {"memory, and so the kernel", {{MEMORY, 3000, 2}, {KERNEL, 2000, 2}},
     "memory-uncorrected,kernel-error"},
    {"of two that have nothing to do with each other the later one",
     {{FAN, 400000, 2}, {SUPPLY, 2000, 2}}, "power-supply-failed"},
    {"a disk is none of an outage", {{DISK, 2000, 2}}, ""},
};

static void note(struct lone *l, int kind, int32_t node, int32_t rank, ftree_time at)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, (enum ftree_symptom_kind) kind, node, rank, 0, at, at);
    ftree_cause_note(l->ft, &s);
}

TEST_CASES(what_led_to_an_outage, COUNT(rows))
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/only-path-silent", 2, FTREE_NONE, 0);

    l->now = v.first_symptom = v.located = 10000000 * FTREE_MS;
    for (int i = 0; i < SEEN_MAX && rows[_i].seen[i].ms; i++)
        note(l, rows[_i].seen[i].kind, rows[_i].seen[i].node, FTREE_NONE,
             l->now - (ftree_time) rows[_i].seen[i].ms * FTREE_MS);
    ftree_cause_add(l->ft, ftree_rules_model(l->ft->rules, "node-outage"), &v);
    ck_assert_msg(!strcmp(causes(&v), rows[_i].causes), "%s: %s", rows[_i].what, causes(&v));
    ck_assert_int_eq(v.ticket, *rows[_i].causes ? FTREE_TICKET_NODE : FTREE_TICKET_OF_CLASS);
}

/* "No route to host", section 3.4 of the paper, (6): the six parts of the remote node, in its order; what
 * its BMC has of each, and for which fault it is the first cause. */
static const struct {
    const char *part;
    int kind;
    const char *fault;
} parts[] = {
    {"CPU", CPU, "node-outage"},
    {"CPU fan", FAN, "node-outage"},
    {"memory", MEMORY, "node-frozen"},
    {"temperature", HEAT, "node-outage"},
    {"disk", DISK, "node-frozen"},
    {"power", SUPPLY, "node-outage"},
};

TEST_CASES(the_six_parts_of_a_node, COUNT(parts))
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/only-path-silent", 2, FTREE_NONE, 0);

    l->now = v.first_symptom = v.located = 10000000 * FTREE_MS;
    note(l, parts[_i].kind, 2, FTREE_NONE, l->now - 20000 * FTREE_MS);
    ftree_cause_add(l->ft, ftree_rules_model(l->ft->rules, parts[_i].fault), &v);
    ck_assert_msg(!strcmp(causes(&v), ftree_symptom_info(parts[_i].kind)->name), "%s", parts[_i].part);
    ck_assert_int_eq(v.ticket, FTREE_TICKET_NODE);
}

TEST_CASE(a_cause_has_its_time_and_its_words)
{
    struct lone *l = begin(false);
    const struct ftree_evidence *e;
    ftree_time then = l->now;

    seen(l, FAN, 2);
    pass(l, 40000);
    e = outage(l)->evidence;
    ck_assert_str_eq(e->detail, "fan-failed: of node 2");
    ck_assert_uint_eq(e->at, then);
    ck_assert_int_eq(e->target, 2);
}

/* That it is asked for when the node is silent makes no difference. */
TEST_CASE(what_a_handler_knows_of_the_past_is_a_cause)
{
    struct lone *l = begin(true);
    const struct ftree_verdict *v;
    int handler = 0;

    lone_run(l, 60000);
    lone_stall(l, 0, 2);
    lone_run(l, 160);
    answers(l, 3);
    lone_run(l, 340);
    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off: off");
    ftree_handler_said(l->ft, l->now, l->now - 40000 * FTREE_MS, 2, FAN, "bmc: fan-failed: fan 2");
    ftree_handler_said(l->ft, l->now, l->now, 2, FAN, "bmc: fan-failed: fan 3");
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 600);
    ck_assert_int_eq(l->verdicts, 1);
    v = &l->verdict[0];
    ck_assert_str_eq(causes(v), "fan-failed");
    ck_assert_str_eq(v->evidence[0].detail, "fan-failed: fan 2");
    for (int32_t i = 0; i < v->evidences; i++)
        handler += v->evidence[i].source == FTREE_EVIDENCE_HANDLER;
    ck_assert_int_eq(handler, 1); /* the power: what is a cause is not there twice */
}

/* Nothing waits: it is told, and nothing is lost. */
TEST_CASE(a_part_that_fails_is_a_warning)
{
    struct lone *l = begin(false);

    seen(l, SUPPLY, 2);
    pass(l, 6000);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-at-risk/reported");
    ck_assert(!ftree_verdict_ends_job(&l->verdict[0]));
    ck_assert(!ftree_verdict_any_fault(l->ft));
    ck_assert(!ftree_has_failed(l->ft, 2));
    seen(l, FAN, 2);
    pass(l, 6000);
    ck_assert_int_eq(l->verdicts, 1); /* the same node's */
    ck_assert_str_eq(causes(outage(l)), "power-supply-failed");
}

/* What is not kept is the oldest of what was seen. */
TEST_CASE(a_flood_of_symptoms_is_bounded)
{
    struct lone *l = lone_new(200, 1, 250, 0);

    for (int32_t node = 1; node < 200; node++)
        for (int kind = 0; kind < FTREE_SYMPTOM_COUNT; kind++)
            note(l, kind, node, FTREE_NONE, l->now);
    ck_assert_int_eq(l->ft->state->past.n, 64);
    FTREE_EACH(const struct ftree_symptom, p, l->ft->state->past)
        ck_assert_int_ne(p->kind, FTREE_SYMPTOM_PEER_STALL);
}

/* Each node may have a GPU that does something; what leads to a fault is kept before that. */
TEST_CASE(what_gpus_do_takes_the_place_of_no_cause)
{
    struct lone *l = lone_new(200, 1, 250, 0);
    int32_t fans = 0;

    for (int32_t node = 1; node < 200; node++) {
        note(l, FTREE_SYMPTOM_GPU_USAGE, node, FTREE_NONE, l->now + (ftree_time) node);
        if (node % 10 == 0)
            note(l, FAN, node, FTREE_NONE, l->now + (ftree_time) node);
    }
    FTREE_EACH(const struct ftree_symptom, p, l->ft->state->past) {
        fans += p->kind == FAN;
        ck_assert(p->kind == FAN || p->about.node > 199 - 45);
    }
    ck_assert_int_eq(l->ft->state->past.n, 64);
    ck_assert_int_eq(fans, 19);
}

static const struct {
    int ms; /* after the first time */
    const char *told;
} usages[] = {{0, "gpu-usage: at 0 ms"}, {9000, "gpu-usage: at 9000 ms"}, {-9000, "gpu-usage: at 0 ms"}};

/* Of what a GPU does it is told what was seen last, for ten minutes. */
TEST_CASES(what_a_gpu_does_is_told_as_it_is_now, COUNT(usages))
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct ftree_verdict v = lone_verdict(l, "user-code-hang/blocked", 2, 2, 0), late = v;
    int32_t model = ftree_rules_model(l->ft->rules, "user-code-hang");
    struct ftree_symptom s;

    l->now += 60000 * FTREE_MS;
    for (int i = 0; i < 2; i++) {
        ftree_time at = l->now + (ftree_time) (i * usages[_i].ms) * FTREE_MS;
        ftree_symptom_init(&s, FTREE_SYMPTOM_GPU_USAGE, 2, FTREE_NONE, 2, at, at);
        snprintf(s.detail, sizeof(s.detail), "at %d ms", i * usages[_i].ms);
        ftree_cause_note(l->ft, &s);
    }
    v.evidences = late.evidences = 0;
    ftree_cause_tell(l->ft, l->now + 10000 * FTREE_MS, model, &v);
    ck_assert_int_eq(v.evidences, 1);
    ck_assert_str_eq(v.evidence[0].detail, usages[_i].told);
    ftree_cause_tell(l->ft, l->now + 610000 * FTREE_MS, model, &late);
    ck_assert_int_eq(late.evidences, 0);
}

/* A symptom of one process is no cause of another's end. */
TEST_CASE(of_a_process_it_is_its_own)
{
    struct lone *l = lone_new(2, 4, 32, 0);
    int32_t model = ftree_rules_model(l->ft->rules, "process-crash");

    for (int32_t rank = 4; rank < 6; rank++) {
        struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 1, rank, 0);
        v.first_symptom = v.located = l->now;
        note(l, FTREE_SYMPTOM_OUT_OF_MEMORY, 1, 4, l->now);
        ftree_cause_add(l->ft, model, &v);
        ck_assert_str_eq(causes(&v), rank == 4 ? "out-of-memory" : "");
        ck_assert_int_eq(v.ticket, rank == 4 ? FTREE_TICKET_APPLICATION : FTREE_TICKET_OF_CLASS);
    }
}

static const struct {
    bool power; /* the BMC has answered */
    const char *unknown;
} asked[] = {
    {false, "temperature, memory, kernel, fan, cpu, power-supply"},
    {true, ""},
};

/* In one line, and only what nobody could be asked for. */
TEST_CASES(what_could_not_be_asked_is_said, COUNT(asked))
{
    struct lone *l = begin(true);
    const struct ftree_verdict *v = NULL;
    const char *unknown = "";

    lone_stall(l, 0, 2);
    lone_run(l, 160);
    answers(l, 3);
    lone_run(l, 340);
    if (asked[_i].power)
        ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off: off");
    else
        ftree_handler_said(l->ft, l->now, l->now, 2, -1, "bmc: the BMC does not answer");
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 600);
    ck_assert_int_eq(l->verdicts, 1);
    v = &l->verdict[0];
    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].source == FTREE_EVIDENCE_UNKNOWN)
            unknown = v->evidence[i].detail;
    for (const char *at = asked[_i].unknown; *at;) {
        char name[32];
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", (int) n, at);
        ck_assert_msg(strstr(unknown, name) != NULL, "%s is not in: %s", name, unknown);
        at += n + (at[n] ? 2 : 0);
    }
    ck_assert_msg((strstr(unknown, "fan") != NULL) == !asked[_i].power, "%s", unknown);
}
