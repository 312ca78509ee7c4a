/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/launcher_notify.h"

#include "ftree/report/report.h"

#include <stdio.h>
#include <string.h>

static void begin(struct faultloc_launcher_message *w, enum faultloc_launcher_kind kind)
{
    memset(w, 0, sizeof(*w)); /* the padding, too: it leaves the process */
    w->magic = FAULTLOC_LAUNCHER_MAGIC;
    w->bytes = sizeof(*w);
    w->kind = kind;
}

void faultloc_launcher_hello(const char *symptom_socket, struct faultloc_launcher_message *w)
{
    begin(w, FAULTLOC_LAUNCHER_HELLO);
    snprintf(w->symptom_socket, sizeof(w->symptom_socket), "%s", symptom_socket);
}

static void copy_ranks(const struct ftree_ranks *from, struct faultloc_launcher_ranks *to)
{
    to->count = from->count;
    for (; to->ranges < from->ranges && to->ranges < FAULTLOC_LAUNCHER_RANGES; to->ranges++) {
        to->range[to->ranges].first = from->range[to->ranges].first;
        to->range[to->ranges].last = from->range[to->ranges].last;
    }
}

void faultloc_launcher_verdict(const struct ftree_job *job, const struct ftree_verdict *v,
                               struct faultloc_launcher_message *w)
{
    struct ftree_ranks ranks;
    char buf[16];

    begin(w, v->withdrawn ? FAULTLOC_LAUNCHER_WITHDRAWN : FAULTLOC_LAUNCHER_VERDICT);
    w->id = v->id;
    w->fln = v->fln;
    snprintf(w->class_, sizeof(w->class_), "%s", ftree_class_name(v->class_));
    snprintf(w->host, sizeof(w->host), "%s", ftree_node_name(job, v->node, buf, sizeof(buf)));
    ftree_report_line(job, v, w->line, sizeof(w->line));
    w->ends_ranks = ftree_verdict_ends_ranks(v);
    ftree_report_component_ranks(job, v, &ranks);
    copy_ranks(&ranks, &w->ranks);
    copy_ranks(&v->victims, &w->victims);
}

void faultloc_launcher_ending(const struct ftree_job *job, const struct ftree_verdict *v,
                              int32_t rank, int32_t pid, struct faultloc_launcher_message *w)
{
    faultloc_launcher_verdict(job, v, w);
    w->kind = FAULTLOC_LAUNCHER_ENDING;
    w->ended_rank = rank;
    w->ended_pid = pid;
}

void faultloc_launcher_finalizing(struct faultloc_launcher_message *w)
{
    begin(w, FAULTLOC_LAUNCHER_FINALIZING);
}
