/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/serve/serve_status.h"

#include "ftree/base/base.h"
#include "ftree/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The status of a job as lines for people.  A short one fits a screen however large the job is: one
 * line for each class of ranks, of which the core tells the largest.
 */

#define WHICH_MAX 28 /* characters of a list of ranks in a short one */
#define NODES_MAX 6 /* runs of nodes in a list of them */
#define VERDICTS_MAX 12 /* the last ones, in a short one */

/* "0-99, 200-298:2"; what does not fit into `most` characters (0: all does) ends in "..." */
static void put_set(FILE *f, const struct ftree_spans *s, long most)
{
    long begin = ftell(f);
    int32_t i = 0, first, step, count, listed = 0;

    while (i < s->n && (most == 0 || ftell(f) - begin < most - 8)) {
        fputs(i > 0 ? ", " : "", f);
        first = ftree_spans_run(s, &i, &step, &count);
        ftree_report_run(f, first, step, count);
        listed += count;
    }
    if (listed < s->count)
        fputs(listed > 0 ? ", ..." : "?", f);
}

static void put_nodes(FILE *f, const struct ftree_job *job, const struct ftree_spans *s,
                      const char *what)
{
    char first[16], last[16];

    if (s->count == 0)
        return;
    fprintf(f, "; %d %s", (int) s->count, what);
    for (int32_t i = 0; i < s->n && i < NODES_MAX; i++) {
        fprintf(f, "%s%s", i ? ", " : " (",
                ftree_node_name(job, s->items[i].first, first, sizeof(first)));
        if (s->items[i].last > s->items[i].first)
            fprintf(f, " to %s", ftree_node_name(job, s->items[i].last, last, sizeof(last)));
    }
    fputs(s->n > NODES_MAX ? ", ...)" : ")", f);
}

/* "waiting in MPI_Recv (rows)", "outside MPI, asleep in a pipe (pipe_read)" */
static void what_of(const struct ftree_rank_class *k, char *buf, size_t len)
{
    bool in_mpi = k->state == FTREE_DOES_CALL || k->state == FTREE_DOES_WAIT;

    if (k->state == FTREE_DOES_SLEEP) {
        snprintf(buf, len, "%s%s, asleep%s%s", k->call ? "in " : "outside MPI",
                 k->call ? faultloc_call_name(k->call) : "", *k->comm ? " in " : "", k->comm);
        return;
    }
    snprintf(buf, len, "%s%s%s%s%s%s",
             k->state == FTREE_DOES_CALL && k->call ? "in" : ftree_doing_name(k->state),
             !in_mpi || !k->call          ? ""
             : k->state == FTREE_DOES_CALL ? " "
                                           : " in ",
             in_mpi && k->call ? faultloc_call_name(k->call) : "", *k->comm ? " (" : "", k->comm,
             *k->comm ? ")" : "");
}

static void since_of(const struct ftree_rank_class *k, char *buf, size_t len)
{
    double least = (double) k->shortest / 1e9, most = (double) k->longest / 1e9;

    if (k->longest == 0)
        snprintf(buf, len, "-");
    else if (most - least < 0.1)
        snprintf(buf, len, "%.1f s", most);
    else
        snprintf(buf, len, "%.1f-%.1f s", least, most);
}

static void put_class(FILE *f, const struct ftree_rank_class *k, bool full)
{
    char what[128], since[32];

    what_of(k, what, sizeof(what));
    since_of(k, since, sizeof(since));
    fprintf(f, "%8d  %-42s  %14s  ", (int) k->count, what, since);
    put_set(f, &k->ranks, full ? 0 : WHICH_MAX);
    if (k->peers.count > 0) {
        fputs(", for ", f);
        put_set(f, &k->peers, full ? 0 : WHICH_MAX);
    }
    if (k->any > 0)
        fprintf(f, ", %s any", k->any < k->count ? "some for" : "for");
    if (*k->on)
        fprintf(f, ", rank %d for %s", (int) k->example, k->on);
    fputc('\n', f);
}

static const char *why_not_known(const struct ftree_query_result *r, int32_t nodes)
{
    if (r->nodes < nodes)
        return "their nodes were not asked";
    return r->answered.count + r->left.count < nodes ? "their nodes have not answered"
                                                     : "their agents were out of memory or time";
}

static void put_classes(FILE *f, const struct ftree_job *job, const struct ftree_query_result *r,
                        bool full)
{
    const struct ftree_rank_classes *c = &r->classes;
    int64_t known = c->dropped_ranks;

    if (c->n > 0)
        fprintf(f, "%8s  %-42s  %14s  %s\n", "ranks", "what they do", "since", "which");
    for (int32_t i = 0; i < c->n; i++) {
        put_class(f, &c->items[i], full);
        known += c->items[i].count;
    }
    if (c->dropped > 0)
        fprintf(f, "%8d  in %d further classes\n", (int) c->dropped_ranks, (int) c->dropped);
    if (known < job->size)
        fprintf(f, "%8d  not known: %s\n", (int) (job->size - known),
                why_not_known(r, job->nodes));
}

static void put_suspicions(FILE *f, const struct ftree_job *job,
                           const struct ftree_query_result *r)
{
    char node[16], by[16];

    for (int32_t i = 0; i < r->suspicions; i++) {
        const struct ftree_suspicion *s = &r->suspicion[i];
        fprintf(f, "suspected: %snode %s, examined by %s for %.1f s (%s)\n",
                s->switch_ != FTREE_NONE ? "a switch above " : "",
                ftree_node_name(job, s->node, node, sizeof(node)),
                ftree_node_name(job, s->by, by, sizeof(by)), (double) s->age / 1e9,
                ftree_symptom_info(s->kind)->name);
    }
    if (r->more_suspicions > 0)
        fprintf(f, "suspected: %d more\n", (int) r->more_suspicions);
}

static void put_verdicts(FILE *f, const struct ftree_job *job, const struct ftree *ft, bool full)
{
    struct ftree_verdict v;
    char line[512];
    int32_t n = 0, first = 0;

    while (ftree_verdict_at(ft, n, &v))
        n++;
    if (!full && n > VERDICTS_MAX)
        first = n - VERDICTS_MAX;
    if (n == 0)
        fputs("no verdict\n", f);
    if (first > 0)
        fprintf(f, "verdict: %d earlier ones\n", (int) first);
    for (int32_t i = first; i < n && ftree_verdict_at(ft, i, &v); i++) {
        ftree_report_line(job, &v, line, sizeof(line));
        fprintf(f, "%s: %s\n", v.withdrawn ? "withdrawn" : "verdict", line);
    }
}

static void put_head(FILE *f, const struct faultloc_program *p, const struct ftree_query_result *r)
{
    const struct ftree_job *job = &p->job.job;
    bool alone = r->nodes < job->nodes;
    int32_t node = alone ? p->self : r->root;
    char name[16];

    fprintf(f, "job %s: %d %s on %d %s, as of now (%s%s%s)\n", p->board->job_id, (int) job->size,
            job->size == 1 ? "rank" : "ranks", (int) job->nodes,
            job->nodes == 1 ? "node" : "nodes", alone ? "node " : "acting root: ",
            node == FTREE_NONE ? "?" : ftree_node_name(job, node, name, sizeof(name)),
            alone ? " alone" : "");
    fprintf(f, "nodes: %d answered", (int) r->answered.count);
    put_nodes(f, job, &r->left, "left");
    put_nodes(f, job, &r->failed, "lost");
    put_nodes(f, job, &r->silent, "silent");
    fputc('\n', f);
}

char *faultloc_status_stacks_text(const struct faultloc_program *p,
                                  const struct ftree_query_result *r)
{
    char *text = NULL, *stacks = r->stacks ? ftree_report_stacks(r->stacks, "") : NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (f) {
        put_head(f, p, r);
        fputs(stacks ? stacks : "", f);
        put_verdicts(f, &p->job.job, p->ft, false);
    }
    free(stacks);
    if (f && fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

char *faultloc_status_job_text(const struct faultloc_program *p,
                               const struct ftree_query_result *r, bool full)
{
    const struct ftree_job *job = &p->job.job;
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    put_head(f, p, r);
    put_classes(f, job, r, full);
    put_suspicions(f, job, r);
    put_verdicts(f, job, p->ft, full);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}
