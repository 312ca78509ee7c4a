/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/text.h"

#include <string.h>

/* What came of a query of the own agent. */

static struct survey_own *find_own(const struct ftree *ft, uint32_t number)
{
    return ft->survey->work
               ? FTREE_FIND(struct survey_own, o, ft->survey->work->own, o->number == number)
               : NULL;
}

/* hang: of that kind; NULL: there is none. */
static void hand_over(struct ftree *ft, struct survey_own *own, struct ftree_query_result *r,
                      struct hang_answer *hang)
{
    struct survey_work *w = ft->survey->work;

    r->kind = own->kind;
    r->number = own->number;
    r->nodes = ft->job->nodes;
    ftree_alloc(ft, own->request.items, 0);
    FTREE_DROP(w->own, (int32_t) (own - w->own.items));
    if (r->kind == FTREE_QUERY_HANG)
        survey_hang_said(ft, r, hang);
    else if (r->kind != FTREE_QUERY_LAG && ft->io->answered)
        ft->io->answered(ft->io_ctx, r);
}

/* Who has not answered: lost, as a verdict says, or not known why. */
static bool sort_out(struct ftree *ft, const struct survey_answer *a, struct ftree_spans *failed,
                     struct ftree_spans *silent)
{
    int32_t node = 0;

    for (int32_t i = 0; i <= a->answered.n; i++) {
        int32_t end = i < a->answered.n ? a->answered.items[i].first : ft->job->nodes;
        for (; node < end; node++) {
            if (ftree_spans_has(&a->left, node))
                continue;
            if (!ftree_spans_add(ft, ftree_has_failed(ft, node) ? failed : silent, node, node))
                return false;
        }
        if (i < a->answered.n)
            node = a->answered.items[i].last + 1;
    }
    return true;
}

bool survey_answer_is_whole(struct ftree *ft, const struct survey_answer *a)
{
    struct ftree_spans failed = {0}, silent = {0};
    bool whole = sort_out(ft, a, &failed, &silent) && silent.count == 0;

    ftree_spans_clear(ft, &failed);
    ftree_spans_clear(ft, &silent);
    return whole;
}

static bool tell(struct ftree *ft, int32_t root, struct survey_own *own, struct survey_answer *a)
{
    struct ftree_query_result r = {.root = root,
                                   .answered = a->answered,
                                   .left = a->left,
                                   .classes = a->classes,
                                   .suspicions = a->suspicions,
                                   .more_suspicions = a->more_suspicions,
                                   .suspicion = a->suspicion,
                                   .stacks = &a->stacks};
    bool whole = sort_out(ft, a, &r.failed, &r.silent);

    if (whole)
        hand_over(ft, own, &r, &a->hang);
    ftree_spans_clear(ft, &r.failed);
    ftree_spans_clear(ft, &r.silent);
    return whole;
}

static void refuse(struct ftree *ft, int32_t root, struct survey_own *own, const char *why,
                   size_t len)
{
    struct ftree_query_result r = {.root = root};

    memcpy(r.refused, why, len < sizeof(r.refused) ? len : sizeof(r.refused) - 1);
    ftree_text_ascii(r.refused);
    if (!r.refused[0])
        strcpy(r.refused, "refused");
    hand_over(ft, own, &r, NULL);
}

void survey_result_none(struct ftree *ft, uint32_t number)
{
    static const char why[] = "the acting root does not answer";
    struct survey_own *own = find_own(ft, number);

    if (own)
        refuse(ft, FTREE_NONE, own, why, sizeof(why) - 1);
}

void survey_result(struct ftree *ft, ftree_time now, int32_t root, uint32_t number,
                  const uint8_t *bytes, size_t len)
{
    struct survey_own *own = find_own(ft, number);
    struct survey_answer a;

    if (!own || len == 0)
        return;
    if (bytes[0] == SURVEY_ELSEWHERE) {
        own->again = now + ft->cfg.gather / 2; /* there may be a verdict about the root by then */
    } else if (bytes[0] == SURVEY_REFUSED) {
        refuse(ft, root, own, (const char *) bytes + 1, len - 1);
    } else if (bytes[0] == SURVEY_DONE) {
        if (survey_answer_get(ft, now, own->kind, bytes + 1, len - 1, &a) ||
            !tell(ft, root, own, &a))
            ftree_trace(ft, "  an answer of %s cannot be read", ftree_name(ft, root));
        survey_answer_clear(ft, &a);
    }
}
