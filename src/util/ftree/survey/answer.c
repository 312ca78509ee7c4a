/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/wire/codec.h"

#include <string.h>

/* What nodes answer: which of them have, and the part of the kind. */

bool survey_answer_merge(struct ftree *ft, uint8_t kind, struct survey_answer *a,
                         const struct survey_answer *more)
{
    return ftree_spans_merge(ft, &a->answered, &more->answered) &&
           ftree_spans_merge(ft, &a->left, &more->left) &&
           (!survey_kinds[kind].merge || survey_kinds[kind].merge(ft, a, more));
}

void survey_answer_left(struct ftree *ft, struct survey_answer *a, int32_t node)
{
    int32_t first, n = ftree_topo_children(ft->topo, node, &first);

    ftree_spans_add(ft, &a->left, node, node);
    for (int32_t child = first; child < first + n; child++)
        survey_answer_left(ft, a, child);
}

bool survey_answer_put(struct ftree *ft, struct survey_answer *a, uint8_t kind,
                       struct ftree_bytes *out)
{
    return ftree_classes_put_spans(ft, &a->answered, 0, out) &&
           ftree_classes_put_spans(ft, &a->left, 0, out) &&
           (!survey_kinds[kind].put || survey_kinds[kind].put(ft, a, out));
}

int survey_answer_get(struct ftree *ft, ftree_time now, uint8_t kind, const uint8_t *bytes,
                      size_t len, struct survey_answer *out)
{
    struct wire_codec c = {.reads = true,
                           .p = (uint8_t *) (uintptr_t) bytes,
                           .len = len,
                           .job = ft->job,
                           .now = now};

    memset(out, 0, sizeof(*out));
    if (!ftree_classes_get_spans(ft, &c, ft->job->nodes, &out->answered) ||
        !ftree_classes_get_spans(ft, &c, ft->job->nodes, &out->left) ||
        (survey_kinds[kind].get && !survey_kinds[kind].get(ft, &c, out)))
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
