/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/verdicts.h"

#include "ftree/base/base.h"
#include "ftree/base/text.h"
#include "ftree/report/report.h"
#include "ftree/topology/tree.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is new ----------------------------------------------------------------------------- */

/* A verdict that is written again as it was is no news. */
static bool note(struct faultloc_news *n, int32_t i, uint32_t written,
                 const struct ftree_verdict *v)
{
    bool known = n->notified[i].written && n->notified[i].fln == v->fln &&
                 n->notified[i].id == v->id && n->notified[i].withdrawn == (v->withdrawn != 0);

    n->notified[i].written = written;
    n->notified[i].fln = v->fln;
    n->notified[i].id = v->id;
    n->notified[i].withdrawn = v->withdrawn != 0;
    return !known;
}

bool faultloc_news_next(struct faultloc_news *n, const struct faultloc_board *b,
                        struct ftree_verdict *room)
{
    int32_t verdicts = b->verdicts, withdrawals = b->withdrawals;
    bool all = true;
    uint32_t written;

    for (int32_t i = 0; i < verdicts && i < FAULTLOC_BOARD_VERDICTS; i++) {
        written = b->writing[i];
        if (written == n->notified[i].written)
            continue;
        if (!faultloc_board_read(b, i, room))
            all = false;
        else if (note(n, i, written, room))
            return true;
    }
    /* as they were before the look: what came since is seen the next time */
    if (all) {
        n->verdicts = verdicts;
        n->withdrawals = withdrawals;
    }
    return false;
}

static int64_t unix_ms(uint64_t at_ns, uint64_t now_ns, int64_t now_ms)
{
    return now_ms - (int64_t) (now_ns - at_ns) / (int64_t) FTREE_MS;
}

void faultloc_event_fill(const struct faultloc_board *b, const struct ftree_verdict *v,
                         uint64_t now_ns, int64_t now_ms, struct faultloc_event *out)
{
    *out = (struct faultloc_event){.located_ms = unix_ms(v->located, now_ns, now_ms),
                                   .id = v->id,
                                   .fln = v->fln,
                                   .class_ = v->class_,
                                   .rank = v->kind == FTREE_KIND_RANK && v->component.count == 0
                                               ? v->rank
                                               : FTREE_NONE,
                                   .node = v->node,
                                   .pid = v->pid,
                                   .confidence = v->confidence,
                                   .withdrawn = v->withdrawn != 0,
                                   .victims = v->victims.count,
                                   .failures = b->failures};
    snprintf(out->class_name, sizeof(out->class_name), "%s", ftree_class_name(v->class_));
    snprintf(out->node_name, sizeof(out->node_name), "%s", faultloc_board_name(b, v->node));
}

/* ---- the report ------------------------------------------------------------------------------ */

const char *faultloc_board_address(void *ctx, int32_t node, enum ftree_path path, char *buf,
                                   size_t len)
{
    const struct faultloc_board *b = ctx;
    const struct faultloc_inet *inet;

    if (path >= FTREE_PATHS || node < 0 || node >= b->nodes)
        return NULL;
    inet = &faultloc_board_addresses(b)[node].path[path];
    return inet->family ? inet_ntop(inet->family, inet->bytes, buf, (socklen_t) len) : NULL;
}

static const struct faultloc_address *card_of(const struct faultloc_board *b, int32_t node)
{
    return node >= 0 && node < b->nodes ? &faultloc_board_addresses(b)[node] : NULL;
}

const char *faultloc_board_interface(void *ctx, int32_t node, char *buf, size_t len)
{
    const struct faultloc_address *a = card_of(ctx, node);

    ftree_text_copy(buf, len, a ? a->iface : NULL);
    return *buf ? buf : NULL;
}

/* "mlx5_0:1 LID 17 GUID 0x506b4b0300c3b1a2" */
const char *faultloc_board_port(void *ctx, int32_t node, char *buf, size_t len)
{
    const struct faultloc_address *a = card_of(ctx, node);

    ftree_text_copy(buf, len, a ? a->adapter : NULL);
    if (*buf && a->lid)
        ftree_text_add(buf, len, " LID %u", (unsigned) a->lid);
    if (*buf && a->guid)
        ftree_text_add(buf, len, " GUID 0x%016" PRIx64, a->guid);
    return *buf ? buf : NULL;
}

/* A verdict about a switch that the tree does not have would be looked up beyond its table. */
static bool fits_tree(const struct ftree_job *job, const struct ftree_verdict *v)
{
    if (v->kind != FTREE_KIND_SWITCH)
        return true;
    return job->tree && v->switch_ >= 0 && v->switch_ < job->tree->switches;
}

char *faultloc_verdicts_json(const struct faultloc_board *b, const struct ftree_job *job,
                             uint64_t now_ns, int64_t now_ms)
{
    const struct ftree_verdict *known[FAULTLOC_BOARD_VERDICTS];
    struct ftree_verdict *verdict = malloc(FAULTLOC_BOARD_VERDICTS * sizeof(*verdict));
    struct report_job rj = {.job = job,
                            .id = b->job_id,
                            .started_ms = b->started_ms,
                            .now = now_ns,
                            .now_ms = now_ms,
                            .address = faultloc_board_address,
                            .interface = faultloc_board_interface,
                            .port = faultloc_board_port,
                            .address_ctx = (void *) (uintptr_t) b,
                            .known = known};
    char *text;

    if (!verdict)
        return NULL;
    for (int32_t i = 0; i < FAULTLOC_BOARD_VERDICTS; i++)
        if (faultloc_board_read(b, i, &verdict[rj.knowns]) && fits_tree(job, &verdict[rj.knowns])) {
            known[rj.knowns] = &verdict[rj.knowns];
            rj.knowns++;
        }
    text = ftree_report_json(&rj);
    free(verdict);
    return text;
}

char *faultloc_verdicts_none(const char *job_id, int32_t size, int32_t nodes, int64_t started_ms)
{
    struct ftree_job job = {.nodes = nodes, .size = size};
    struct report_job rj = {.job = &job, .id = job_id, .started_ms = started_ms};

    return ftree_report_json(&rj);
}

void faultloc_verdicts_copy(const char *text, char *buf, int *len)
{
    size_t bytes = strlen(text) + 1;

    if (*len > 0)
        snprintf(buf, (size_t) *len, "%s", text);
    *len = bytes < INT_MAX ? (int) bytes : INT_MAX;
}
