/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "nomem_json.h"
#include "ftree_int.h"
#include "ftree/report/report.h"
#include "suite.h"

#include <errno.h>
#include <json.h>

/* What a report asks for is refused: it is the whole report or none. */

#define NOW (100000 * FTREE_MS)

static const char *address(void *ctx, int32_t node, enum ftree_path path, char *buf, size_t len)
{
    (void) ctx;
    snprintf(buf, len, "10.%d.0.%d", (int) path, (int) node + 1);
    return buf;
}

static const char *interface(void *ctx, int32_t node, char *buf, size_t len)
{
    (void) ctx;
    snprintf(buf, len, "eth%d", (int) node);
    return buf;
}

static const struct ftree_job job = {.nodes = 3, .size = 3, .fanout = 32, .has_path = {true, true}};
static const char *const trace[] = {"suspects n2: peer-stall", "asks n2"};
static struct ftree_verdict verdict;

static char *text_of(const struct report_job *rj)
{
    return ftree_report_text(rj, &verdict, 1, "faultloc-4711.json");
}

static const struct ftree_waiting note = {
    .count = 2, .ends = 1, .end = {{2, 2, "x"}}, .classes = 1, .class_ = {{"y", "z", 2, 0}}};

static char *text_of_note(const struct report_job *rj)
{
    return ftree_report_waiting_text(rj, "faultloc-4711.json");
}

static char *facts_of(const struct report_job *rj)
{
    char **facts = ftree_report_facts(rj, &verdict, NULL);
    char *text = facts ? strdup(facts[0]) : NULL;

    free(facts);
    return text;
}

static const struct {
    char *(*make)(const struct report_job *rj);
    const char *has; /* the whole */
} forms[] = {
    {text_of, "[faultloc]     asks n2\n[faultloc]   conclusion: "},
    {text_of_note, "[faultloc]   full report: faultloc-4711.json\n"},
    {ftree_report_json, "\"asks n2\""},
    {facts_of, "FAULTLOC_RANKS=2"},
};

/* A verdict with all that one can have. */
static void make_verdict(void)
{
    struct ftree_evidence e = {.path = FTREE_PATH_DATA,
                               .reach = FTREE_REACH_UNREACHABLE,
                               .target = 2,
                               .error = EHOSTUNREACH,
                               .at = NOW};

    verdict = base_verdict("unknown/no-node-answers", 2, FTREE_NONE);
    verdict.first_symptom = NOW - 2000 * FTREE_MS;
    verdict.located = NOW - 1000 * FTREE_MS;
    verdict.pid = 5004;
    snprintf(verdict.raised_by, sizeof(verdict.raised_by), "several-silent");
    verdict.symptom_kinds = 3;
    ftree_ranks_add(&verdict.victims, 0, 1);
    ftree_verdict_add_evidence(&verdict, &e);
    ck_assert_int_gt(verdict.candidates, 0);
}

TEST_CASES(an_allocation_fails, COUNT(forms))
{
    const struct ftree_verdict *list = &verdict;
    const struct report_job rj = {.job = &job,
                                  .id = "4711",
                                  .now = NOW,
                                  .address = address,
                                  .interface = interface,
                                  .port = interface,
                                  .verbose = true,
                                  .known = &list,
                                  .knowns = 1,
                                  .waiting = &note,
                                  .waiting_at = NOW,
                                  .trace = trace,
                                  .traces = COUNT(trace)};

    make_verdict();
    for (long n = 0;; n++) {
        long before = nomem_taken;
        char *text;
        bool none;
        nomem_begin(n);
        text = forms[_i].make(&rj);
        none = nomem_end();
        if (none) {
            REQUIRE(text != NULL && strstr(text, forms[_i].has) != NULL);
            free(text);
            ck_assert_int_eq(nomem_taken, before);
            ck_assert_int_gt(n, 0);
            break;
        }
        REQUIRE(text == NULL && nomem_taken == before && n < 1000);
    }
}
