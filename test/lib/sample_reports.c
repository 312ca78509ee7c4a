/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "ftree_int.h"
#include "ftree/report/report.h"
#include "sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * sample_reports FOLDER: writes N.json and N.txt for every sign of the built-in rule base (the
 * first is node-outage/both-paths-silent) and some more, and "all.json" with all of them, as a job
 * would, so that what reads reports can be compared with what writes them.
 */

#define NOW (100000 * FTREE_MS)
#define VERDICTS_MAX 160

static struct ftree_job job; /* the sample with its switches */
static struct ftree_verdict all[VERDICTS_MAX];
static int32_t verdicts;

static const char *interface(void *ctx, int32_t node, char *buf, size_t len)
{
    (void) ctx;
    snprintf(buf, len, "eth%d", (int) node);
    return buf;
}

static const char *port(void *ctx, int32_t node, char *buf, size_t len)
{
    (void) ctx;
    snprintf(buf, len, "mlx5_0:1 LID 17 GUID 0x506b4b0300c3b1a2");
    return node ? NULL : buf;
}

/* Evidence of every kind, so that every form of a line occurs. */
static void add_evidence(struct ftree_verdict *v, int32_t number)
{
    for (int32_t i = 0; i < FTREE_EVIDENCE_MAX; i++) {
        struct ftree_evidence e = {.source = (uint8_t) (i < 5 ? i : (number + i) % 2),
                                   .path = (uint8_t) (i % FTREE_PATHS),
                                   .role = (uint8_t) (i / 2 % FTREE_ROLES),
                                   .reach = (uint8_t) ((number + i) % FTREE_REACH_COUNT),
                                   .target = i % job.nodes,
                                   .by = v->fln,
                                   .error = i == 4 ? EHOSTUNREACH : i == 6 ? EDOM : 0,
                                   .at = v->located};
        if (e.source == FTREE_EVIDENCE_PROC)
            e.proc_state = "TtXD"[(number + i) % 4];
        else if (e.source == FTREE_EVIDENCE_PROBE && number % 3 == 0)
            e.proc_state = 'T';
        if (i == 9) {
            e.source = FTREE_EVIDENCE_INDIRECT;
            e.by = (v->fln + 1) % job.nodes;
        } else if (e.source != FTREE_EVIDENCE_PROBE) {
            e.path = FTREE_PATHS;
        }
        if ((e.source > FTREE_EVIDENCE_PROC && i != 9) || i == 7)
            snprintf(e.detail, sizeof(e.detail), "power-off: chassis power is off");
        v->evidence[v->evidences++] = e;
    }
}

static void add_verdict(const char *sign)
{
    struct ftree_verdict *v = &all[verdicts];

    if (verdicts == VERDICTS_MAX)
        abort();
    *v = base_verdict(sign, 2, FTREE_NONE);
    v->id = (uint32_t) verdicts + 1;
    if (v->kind == FTREE_KIND_RANK && verdicts % 2 == 0) {
        v->rank = 4;
        v->pid = 5004;
    }
    if (v->kind == FTREE_KIND_SWITCH)
        v->switch_ = 1;
    if (verdicts % 2)
        snprintf(v->raised_by, sizeof(v->raised_by), "a-rule");
    v->symptoms = 3;
    v->first_symptom = NOW - (1900 + 100 * (ftree_time) verdicts) * FTREE_MS;
    v->located = NOW - 489 * FTREE_MS;
    add_evidence(v, verdicts);
    if (verdicts != 1)
        ftree_ranks_add(&v->victims, 0, 0);
    if (verdicts > 2)
        ftree_ranks_add(&v->victims, 6, 7);
    v->victims.count += verdicts == 5; /* counted, not listed */
    verdicts++;
}

/* A verdict of each class, whatever the base decides. */
static void add_class(int class_)
{
    struct ftree_verdict *v;

    add_verdict("node-outage/both-paths-silent");
    v = &all[verdicts - 1];
    v->class_ = (uint8_t) class_;
    v->kind = (uint8_t) ftree_class_kind(class_);
    v->switch_ = v->kind == FTREE_KIND_SWITCH ? 1 : FTREE_NONE;
    v->candidate[0] = (struct ftree_candidate){FTREE_CLASS_LINK_FAULT, 100, false};
    v->candidate[1] = (struct ftree_candidate){FTREE_CLASS_PROCESS_STOPPED, 300, false};
    v->candidates = class_ % 2 ? 0 : 2;
}

/* A deadlock of some ranks: on one node, on several, and of more than can be listed. */
static void add_deadlock(struct ftree_ranks ranks, ftree_time withdrawn)
{
    static const char *const lines[] = {"rank 3 (h1) in MPI_Recv(from 5, tag 7, MPI_COMM_WORLD)",
                                        "<- rank 5 (h2) in MPI_Ssend(to 3, tag 9, MPI_COMM_WORLD)",
                                        "rank 5 has sent to rank 3, with tag 9"};
    struct ftree_verdict *v = &all[verdicts];

    add_class(FTREE_CLASS_DEADLOCK);
    v->component = ranks;
    v->evidences = 0;
    v->withdrawn = withdrawn;
    for (int i = 0; i < 3; i++) {
        struct ftree_evidence *e = &v->evidence[v->evidences++];
        *e = (struct ftree_evidence){.source = FTREE_EVIDENCE_WAIT,
                                     .path = FTREE_PATHS,
                                     .target = i ? 2 : 1,
                                     .by = 2,
                                     .at = v->located};
        snprintf(e->detail, sizeof(e->detail), "%s", lines[i]);
    }
}

static void add_all(void)
{
    const struct ftree_rules *rules = base_rules();

    add_verdict("node-outage/both-paths-silent");
    for (int32_t m = 0; m < rules->models; m++)
        for (int32_t i = 0; i < rules->model[m].signs; i++)
            add_verdict(rules->model[m].sign[i].name);
    for (int class_ = 0; class_ < FTREE_CLASS_COUNT; class_++)
        add_class(class_);
    for (int class_ = 0; class_ < FTREE_CLASS_COUNT; class_++) {
        add_class(class_);
        all[verdicts - 1].withdrawn = NOW;
    }
    add_deadlock((struct ftree_ranks){2, 1, {{2, 3}}}, 0);
    add_deadlock((struct ftree_ranks){2, 2, {{3, 3}, {5, 5}}}, 0);
    add_deadlock((struct ftree_ranks){3, 2, {{3, 3}, {5, 5}}}, NOW);
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

/* What the job said: the verdict, and later, where it is so, that it is withdrawn. */
static char *said(const struct report_job *rj, struct ftree_verdict v, const char *json)
{
    struct report_job brief = *rj;
    ftree_time withdrawn = v.withdrawn;
    char *text, *more = NULL;
    size_t len;

    v.withdrawn = 0;
    brief.verbose = rj->verbose && !withdrawn;
    text = ftree_report_text(&brief, &v, 1, json);
    v.withdrawn = withdrawn;
    if (text && withdrawn)
        more = ftree_report_text(rj, &v, 1, json);
    if (!more)
        return text;
    len = strlen(text);
    text = realloc(text, len + strlen(more) + 1);
    if (!text)
        abort();
    strcpy(text + len, more);
    free(more);
    return text;
}

/* A report of a note alone. */
static void write_note(const char *folder, struct report_job rj)
{
    static const struct ftree_waiting note = {
        .waiting = 40500 * FTREE_MS,
        .count = 6,
        .ends = 3,
        .end = {{7, 4, "outside MPI"}, {0, 2, "in MPI_Recv"}, {5, 0, "outside MPI"}},
        .classes = 2,
        .class_ = {{"MPI_Allreduce", "MPI_COMM_WORLD", 4, 1}, {"MPI_Recv", "", 1, 4}}};
    char json[4096];

    rj.knowns = 0;
    rj.waiting = &note;
    rj.waiting_at = NOW;
    snprintf(json, sizeof(json), "%s/note.json", folder);
    write_file(folder, "note", ".json", ftree_report_json(&rj));
    write_file(folder, "note", ".txt", ftree_report_waiting_text(&rj, json));
    write_file(folder, "note", ".verbose", ftree_report_waiting_text(&rj, json));
}

/* All nodes are lost at once: told as one. */
static void write_alike(const char *folder, struct report_job rj)
{
    static struct ftree_verdict v[4];
    const struct ftree_verdict *list[4];
    char json[4096];

    for (int32_t i = 0; i < 4; i++) {
        v[i] = all[0];
        v[i].id = (uint32_t) i + 1;
        v[i].node = i;
        v[i].located += (ftree_time) i * 100 * FTREE_MS;
        list[i] = &v[i];
    }
    rj.known = list;
    rj.knowns = 4;
    rj.verbose = false;
    snprintf(json, sizeof(json), "%s/alike.json", folder);
    write_file(folder, "alike", ".json", ftree_report_json(&rj));
    write_file(folder, "alike", ".txt", ftree_report_text(&rj, v, 4, json));
    rj.verbose = true;
    write_file(folder, "alike", ".verbose", ftree_report_text(&rj, v, 4, json));
}

int main(int argc, char **argv)
{
    static const char *const trace[] = {"suspects h2: peer-stall", "  asks h2 on data", ""};
    struct report_job rj = {.job = &job,
                            .id = "4711",
                            .started_ms = 1769860800000,
                            .now = NOW,
                            .now_ms = 1769860810250,
                            .address = sample_address,
                            .interface = interface,
                            .port = port,
                            .knowns = 1,
                            .trace = trace,
                            .traces = 3,
                            .abort = true,
                            .walltime = {.end_ms = 1769860810250 + 2820999, .limit_s = 3600}};
    const struct ftree_verdict *list[VERDICTS_MAX];
    char name[16], json[4096];

    if (argc != 2) {
        fprintf(stderr, "usage: sample_reports FOLDER\n");
        return 2;
    }
    job = sample_job;
    job.tree = &sample_tree;
    add_all();
    for (int32_t i = 0; i < verdicts; i++) {
        list[i] = &all[i];
        rj.known = &list[i];
        snprintf(name, sizeof(name), "%d", (int) i);
        snprintf(json, sizeof(json), "%s/%d.json", argv[1], (int) i);
        rj.verbose = false;
        write_file(argv[1], name, ".json", ftree_report_json(&rj));
        write_file(argv[1], name, ".txt", said(&rj, all[i], json));
        rj.verbose = true;
        write_file(argv[1], name, ".verbose", said(&rj, all[i], json));
    }
    write_note(argv[1], rj);
    write_alike(argv[1], rj);
    rj.known = list;
    rj.knowns = verdicts;
    write_file(argv[1], "all", ".json", ftree_report_json(&rj));
    return 0;
}
