/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include <string.h>

/* What nodes answer: which of them have, and the part of the kind. */

/* Parts of other kinds are empty. */
bool survey_answer_merge(struct ftree *ft, struct survey_answer *a,
                         const struct survey_answer *more)
{
    survey_victims_merge(ft, a, more);
    return ftree_spans_merge(ft, &a->answered, &more->answered) &&
           ftree_spans_merge(ft, &a->left, &more->left) && survey_status_merge(ft, a, more) &&
           ftree_hang_answer_merge(ft, &a->hang, &more->hang) &&
           ftree_stacks_merge(ft, &a->stacks, &more->stacks) && survey_lags_merge(ft, a, more);
}

void survey_answer_left(struct ftree *ft, struct survey_answer *a, int32_t node)
{
    int32_t first, n = ftree_topo_children(ft->topo, node, &first);

    ftree_spans_add(ft, &a->left, node, node);
    for (int32_t child = first; child < first + n; child++)
        survey_answer_left(ft, a, child);
}

static void wire(struct wire_codec *c, struct survey_answer *a, uint8_t kind)
{
    ftree_classes_wire_spans(c, &a->answered, c->job->nodes, 0);
    ftree_classes_wire_spans(c, &a->left, c->job->nodes, 0);
    if (survey_kinds[kind].wire)
        survey_kinds[kind].wire(c, a);
    if (survey_kinds[kind].has_causes)
        ftree_cause_wire(c);
}

bool survey_answer_put(struct ftree *ft, ftree_time now, struct survey_answer *a, uint8_t kind,
                       struct ftree_bytes *out)
{
    struct wire_codec c = ftree_wire_writer(ft, now, out);

    wire(&c, a, kind);
    return !c.nomem;
}

int survey_answer_get(struct ftree *ft, ftree_time now, uint8_t kind, const uint8_t *bytes,
                      size_t len, struct survey_answer *out)
{
    struct wire_codec c = ftree_wire_reader(ft, now, bytes, len);

    memset(out, 0, sizeof(*out));
    wire(&c, out, kind);
    if (c.nomem)
        return FTREE_ERR_NOMEM;
    return c.bad || c.at < len ? FTREE_ERR_MALFORMED : FTREE_OK;
}

void survey_answer_clear(struct ftree *ft, struct survey_answer *a)
{
    ftree_spans_clear(ft, &a->answered);
    ftree_spans_clear(ft, &a->left);
    ftree_classes_clear(ft, &a->classes);
    ftree_hang_answer_clear(ft, &a->hang);
    ftree_stacks_clear(ft, &a->stacks);
    ftree_alloc(ft, a->lags, 0);
    a->lags = NULL;
    a->suspicions = a->more_suspicions = 0;
}
