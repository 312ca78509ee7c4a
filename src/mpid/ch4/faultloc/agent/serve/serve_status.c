/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/serve/serve_status.h"

#include "faultloc/agent/report/json.h"
#include "faultloc/agent/report/reporter.h"
#include "faultloc/base/clock.h"
#include "faultloc/io/symptom_socket.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- who asks -------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    bool json, full, stacks, here;
} questions[] = {{.text = FAULTLOC_STATUS_REQUEST "\"text\"}"},
                 {.text = FAULTLOC_STATUS_REQUEST "\"json\"}", .json = true},
                 {.text = FAULTLOC_STATUS_REQUEST "\"text-ranks\"}", .full = true},
                 {.text = FAULTLOC_STATUS_REQUEST "\"json-ranks\"}", .json = true, .full = true},
                 {.text = FAULTLOC_STATUS_REQUEST "\"text-stacks\"}", .stacks = true},
                 {.text = FAULTLOC_STATUS_REQUEST "\"json-stacks\"}", .json = true, .stacks = true},
                 {.text = FAULTLOC_STATUS_REQUEST "\"text-here\"}", .here = true},
                 {.text = FAULTLOC_STATUS_REQUEST "\"json-here\"}", .json = true, .here = true}};

static const char print_it[] = FAULTLOC_STATUS_REQUEST "\"print\"}";

/* The number of the query that is under way for all who ask the same; 0: there is none. */
static uint32_t under_way(const struct faultloc_statuses *s, bool full, bool stacks)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->asker[i].full == full && s->asker[i].stacks == stacks)
            return s->asker[i].number;
    return 0;
}

static const char *add(struct faultloc_statuses *s, ftree_time now, bool json, bool full,
                       bool stacks, int *reply)
{
    static const uint8_t flags = 1; /* all classes, and all of their ranks */
    static const struct ftree_ranks all = {0};
    uint32_t number = under_way(s, full, stacks);
    int rc = FTREE_OK;

    if (s->n == FAULTLOC_STATUSES_MAX)
        return "too many questions at once";
    if (!number)
        rc = stacks ? ftree_query_stacks(s->p->ft, now, &all, FTREE_STACKS_ALL, &number)
                    : ftree_query(s->p->ft, now, FTREE_QUERY_STATUS, &flags, full, &number);
    if (rc)
        return rc == FTREE_ERR_INVALID ? "the job has ended" : ftree_strerror(rc);
    s->asker[s->n++] = (struct faultloc_status_asker){
        .reply = *reply, .full = full, .json = json, .stacks = stacks, .number = number};
    *reply = -1;
    return "";
}

static void answer(const struct faultloc_statuses *s, const struct faultloc_status_asker *a,
                   const char *text)
{
    if (a->reply < 0) {
        faultloc_reporter_status(s->reporter, text);
        return;
    }
    faultloc_symptom_socket_reply(a->reply, text);
    close(a->reply);
}

static char *compose(struct faultloc_statuses *s, const struct faultloc_status_asker *a,
                     const struct ftree_query_result *r)
{
    if (a->stacks)
        return a->json ? faultloc_status_stacks_json(s->p, r, faultloc_unix_ms())
                       : faultloc_status_stacks_text(s->p, r);
    return a->json ? faultloc_status_job_json(s->p, r, faultloc_unix_ms())
                   : faultloc_status_job_text(s->p, r, a->full);
}

/* Nobody else is asked. */
static const char *answer_here(struct faultloc_statuses *s, ftree_time now, bool json, int *reply)
{
    struct faultloc_status_asker a = {.reply = *reply, .full = true, .json = json};
    struct ftree_query_result r;
    char *text = ftree_query_own(s->p->ft, now, &r) ? compose(s, &a, &r) : NULL;

    answer(s, &a, text ? text : "out of memory");
    *reply = -1;
    free(text);
    ftree_query_own_free(s->p->ft, &r);
    return "";
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && !memcmp(text, word, len);
}

const char *faultloc_statuses_take(struct faultloc_statuses *s, ftree_time now, const char *text,
                                   size_t len, int *reply)
{
    const char *wrong;
    int nobody = -1;

    if (is_word(text, len, print_it)) {
        wrong = add(s, now, false, false, false, &nobody);
        return *wrong ? wrong : "ok";
    }
    if (*reply < 0)
        return "a question needs a socket for its answer";
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        if (is_word(text, len, questions[i].text) && questions[i].here)
            return answer_here(s, now, questions[i].json, reply);
        else if (is_word(text, len, questions[i].text))
            return add(s, now, questions[i].json, questions[i].full, questions[i].stacks, reply);
    return "no such question";
}

void faultloc_statuses_answered(struct faultloc_statuses *s, const struct ftree_query_result *r)
{
    char *text[2][2] = {{NULL}}; /* [json][full] */

    for (int32_t i = s->n - 1; i >= 0; i--) {
        struct faultloc_status_asker *a = &s->asker[i];
        char **t = &text[a->json][a->full];
        if (a->number != r->number)
            continue;
        if (!*t && !r->refused[0])
            *t = compose(s, a, r);
        answer(s, a, r->refused[0] ? r->refused : *t ? *t : "out of memory");
        *a = s->asker[--s->n];
    }
    for (int i = 0; i < 4; i++)
        free(text[i / 2][i % 2]);
}
