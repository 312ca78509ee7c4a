/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * sample_reports FOLDER: writes N.json and N.txt for every rule there is, and "all.json" with all of
 * them, as a job would, so that what reads reports can be compared with what writes them.
 */

#define NOW (100000 * FTREE_MS)

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

/* Evidence of every kind, so that every form of a line occurs. */
static void add_evidence(struct ftree_verdict *v)
{
    for (int i = 0; i < FTREE_EVIDENCE_MAX; i++) {
        struct ftree_evidence e = {.path = (uint8_t) (i % (FTREE_PATHS + 1)),
                                   .role = (uint8_t) (i % FTREE_ROLES),
                                   .reach = (uint8_t) ((v->rule + i) % FTREE_REACH_COUNT),
                                   .target = i % job.nodes,
                                   .by = v->fln,
                                   .error = i == 3 ? EHOSTUNREACH : i == 4 ? EDOM : 0,
                                   .at = v->located};
        e.proc_state = "T\0tX\0"[i % 5];
        if (e.path == FTREE_PATHS && !e.proc_state)
            e.proc_state = 'T';
        ftree_verdict_add_evidence(v, &e);
    }
}

static struct ftree_verdict verdict(int rule)
{
    struct ftree_verdict v;

    ftree_verdict_init(&v, (enum ftree_rule) rule, 2, FTREE_NONE);
    if (v.kind == FTREE_KIND_RANK && rule % 2 == 0) {
        v.rank = 4;
        v.pid = 5004;
    }
    v.symptoms = 3;
    v.first_symptom = NOW - (1900 + 100 * (ftree_time) rule) * FTREE_MS;
    v.located = NOW - 489 * FTREE_MS;
    add_evidence(&v);
    if (rule != 1)
        ftree_verdict_ranks_add(&v.victims, 0, 0);
    if (rule > 2)
        ftree_verdict_ranks_add(&v.victims, 6, 7);
    v.victims.count += rule == 5; /* counted, not listed */
    return v;
}

static void write_file(const char *folder, const char *name, const char *end, char *text)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s%s", folder, name, end);
    f = fopen(path, "w");
    if (!f || !text || fputs(text, f) < 0 || fclose(f)) {
        perror(path);
        exit(1);
    }
    free(text);
}

int main(int argc, char **argv)
{
    struct report_job rj = {.job = &job,
                            .id = "4711",
                            .started_ms = 1769860800000,
                            .now = NOW,
                            .now_ms = 1769860810250,
                            .address = address};
    const struct ftree_verdict *list[FTREE_RULE_COUNT];
    struct ftree_verdict all[FTREE_RULE_COUNT];
    char name[16], json[4096];

    if (argc != 2) {
        fprintf(stderr, "usage: sample_reports FOLDER\n");
        return 2;
    }
    for (int rule = 0; rule < FTREE_RULE_COUNT; rule++) {
        all[rule] = verdict(rule);
        list[rule] = &all[rule];
        snprintf(name, sizeof(name), "%d", rule);
        snprintf(json, sizeof(json), "%s/%d.json", argv[1], rule);
        write_file(argv[1], name, ".json", ftree_report_json(&rj, &list[rule], 1));
        write_file(argv[1], name, ".txt", ftree_report_text(&rj, list[rule], json));
    }
    write_file(argv[1], "all", ".json", ftree_report_json(&rj, list, FTREE_RULE_COUNT));
    return 0;
}
