/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/serve/status.h"

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
    bool json, full, stacks;
} questions[] = {{FAULTLOC_STATUS_REQUEST "\"text\"}", false, false, false},
                 {FAULTLOC_STATUS_REQUEST "\"json\"}", true, false, false},
                 {FAULTLOC_STATUS_REQUEST "\"text-ranks\"}", false, true, false},
                 {FAULTLOC_STATUS_REQUEST "\"json-ranks\"}", true, true, false},
                 {FAULTLOC_STATUS_REQUEST "\"text-stacks\"}", false, false, true},
                 {FAULTLOC_STATUS_REQUEST "\"json-stacks\"}", true, false, true}};

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
        rc = stacks ? ftree_query_stacks(s->p->ft, now, &all, false, &number)
                    : ftree_query(s->p->ft, now, FTREE_QUERY_STATUS, &flags, full, &number);
    if (rc)
        return rc == FTREE_ERR_INVALID ? "the job has ended" : ftree_strerror(rc);
    s->asker[s->n++] = (struct faultloc_status_asker){
        .reply = *reply, .full = full, .json = json, .stacks = stacks, .number = number};
    *reply = -1;
    return "";
}

const char *faultloc_statuses_take(struct faultloc_statuses *s, ftree_time now, const char *text,
                                   size_t len, int *reply)
{
    const char *wrong;
    int nobody = -1;

    if (len == strlen(print_it) && !memcmp(text, print_it, len)) {
        wrong = add(s, now, false, false, false, &nobody);
        return *wrong ? wrong : "ok";
    }
    if (*reply < 0)
        return "a question needs a socket for its answer";
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        if (len == strlen(questions[i].text) && !memcmp(text, questions[i].text, len))
            return add(s, now, questions[i].json, questions[i].full, questions[i].stacks, reply);
    return "no such question";
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

/* ---- the own node ---------------------------------------------------------------------------- */

static struct json_object *json_rank(struct faultloc_program *p, ftree_time now, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(p->board, i);
    struct json_object *o = json_object_new_object();
    struct ftree_rank_state s;

    faultloc_watch_look(&p->watch, now, i, true, &s);
    faultloc_json_number(o, "rank", p->job.job.node_ranks[p->job.job.node_first[p->self] + i]);
    faultloc_json_number(o, "pid", s.pid);
    faultloc_json_string(o, "state", faultloc_json_state_of(&s));
    if (s.phase == FTREE_PHASE_INSIDE || s.phase == FTREE_PHASE_WAITING)
        faultloc_json_string(o, "call", faultloc_call_name((uint32_t) slot->call));
    if (s.phase == FTREE_PHASE_WAITING && s.peer >= 0)
        faultloc_json_number(o, "peer", s.peer);
    if (s.waiting > 0)
        faultloc_json_seconds(o, "waited_s", s.waiting);
    return o;
}

char *faultloc_status_json(struct faultloc_program *p, ftree_time now, int64_t now_ms)
{
    struct json_object *o = json_object_new_object();
    struct json_object *ranks = json_object_new_array();
    char name[16];

    faultloc_json_string(o, "schema", "faultloc-status/1");
    faultloc_json_string(o, "job", p->board->job_id);
    faultloc_json_number(o, "size", p->board->size);
    faultloc_json_number(o, "nodes", p->board->nodes);
    faultloc_json_string(o, "node", ftree_node_name(&p->job.job, p->self, name, sizeof(name)));
    faultloc_json_number(o, "unix_ms", now_ms);
    for (int32_t i = 0; i < p->board->slots; i++)
        faultloc_json_append(ranks, json_rank(p, now, i));
    faultloc_json_set(o, "ranks", ranks);
    faultloc_json_set(o, "verdicts", faultloc_json_verdicts(&p->job.job, p->ft));
    return faultloc_json_text(o);
}
