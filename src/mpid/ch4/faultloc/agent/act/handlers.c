/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/act/handlers.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/json_text.h"
#include "faultloc/io/loop.h"
#include "ftree/base/base.h"
#include "ftree/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096 /* of what it prints */
#define END_PATIENCE (200 * FTREE_MS) /* between its last word and its end */

void faultloc_handlers_init(struct faultloc_handlers *h, const struct faultloc_program *p)
{
    *h = (struct faultloc_handlers){.p = p};
    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        h->child[i] = (struct faultloc_child){.epoll = p->epoll,
                                              .tag = FAULTLOC_TAG_WAKE,
                                              .patience = FAULTLOC_HANDLERS_PATIENCE,
                                              .linger = END_PATIENCE,
                                              .most = FAULTLOC_HANDLERS_BYTES,
                                              .fd = -1};
}

/* ---- starting it ----------------------------------------------------------------------------- */

void faultloc_handlers_ranks(const struct faultloc_program *p, char *text, size_t room)
{
    const struct ftree_job *job = &p->job.job;
    size_t at = 0;

    *text = '\0';
    if (!job->rank_pid || !job->node_ranks)
        return;
    for (int32_t i = job->node_first[p->self]; i < job->node_first[p->self + 1]; i++)
        if (job->rank_pid[job->node_ranks[i]] > 1 && at + 16 < room)
            at += (size_t) snprintf(text + at, room - at, "%s%d", at ? "," : "",
                                    (int) job->rank_pid[job->node_ranks[i]]);
}

/* No password is among the arguments: the program reads the file itself. */
static int start(struct faultloc_handlers *h, struct faultloc_child *c, const char *node)
{
    char since[32], ranks[4096], limits[1024],
        *arguments[] = {(char *) (uintptr_t) FAULTLOC_HANDLERS_NAME,
                        (char *) (uintptr_t) "--fd",
                        (char *) (uintptr_t) "3",
                        (char *) (uintptr_t) "--file",
                        (char *) (uintptr_t) h->p->board->settings.handlers,
                        (char *) (uintptr_t) "--from",
                        (char *) (uintptr_t) h->p->job.names[h->p->self],
                        (char *) (uintptr_t) "--since",
                        since,
                        (char *) (uintptr_t) "--ranks",
                        ranks,
                        (char *) (uintptr_t) "--limits",
                        limits,
                        (char *) (uintptr_t) "--",
                        (char *) (uintptr_t) node,
                        NULL};
    struct faultloc_spawn_child child = {.path = h->path,
                                         .arguments = arguments,
                                         .fd = FAULTLOC_SPAWN_FD,
                                         .input = -1,
                                         .output = -1};
    int rc = 0;

    faultloc_handlers_ranks(h->p, ranks, sizeof(ranks));
    ftree_limits(h->p->ft, limits, sizeof(limits));
    snprintf(since, sizeof(since), "%lld", (long long) h->p->board->started_ms);
    if (!*h->path && (rc = faultloc_child_beside(FAULTLOC_HANDLERS_NAME, h->path)))
        *h->path = '\0';
    return rc ? rc : faultloc_child_start(c, faultloc_now(), &child);
}

/* ---- whose turn it is ------------------------------------------------------------------------ */

static void drop_waiting(struct faultloc_handlers *h, int i)
{
    h->waits--;
    memmove(&h->waiting[i], &h->waiting[i + 1], (size_t) (h->waits - i) * sizeof(h->waiting[0]));
}

/* What is still to come of an earlier question is about the node as it was then. */
static void forget_node(struct faultloc_handlers *h, int32_t node)
{
    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        if (h->node[i] == node)
            h->node[i] = FTREE_NONE;
    for (int i = h->waits - 1; i >= 0; i--)
        if (h->waiting[i].node == node)
            drop_waiting(h, i);
}

/* -1: all run. */
static int free_place(const struct faultloc_handlers *h)
{
    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        if (h->child[i].pid <= 0 && h->child[i].lost == 0)
            return i;
    return -1;
}

bool faultloc_handlers_ask(struct faultloc_handlers *h, ftree_time now, int32_t node)
{
    int i = free_place(h);

    forget_node(h, node);
    if (!*h->p->board->settings.handlers)
        return false;
    if (i >= 0) {
        h->node[i] = node;
        return start(h, &h->child[i], h->p->job.names[node]) == 0;
    }
    if (h->waits == FAULTLOC_HANDLERS_WAIT_MAX)
        return false;
    h->waiting[h->waits].node = node;
    h->waiting[h->waits++].since = now;
    return true;
}

static void say_not(struct faultloc_handlers *h, ftree_time now, int32_t node, const char *why)
{
    char line[FTREE_DETAIL_MAX + 32];

    snprintf(line, sizeof(line), "%s %s", FAULTLOC_HANDLERS_NAME, why);
    ftree_handler_said(h->p->ft, now, now, node, -1, line);
}

/* The first one that waits is asked, or gives up: a verdict does not wait for it any longer. */
static void next_turn(struct faultloc_handlers *h, ftree_time now)
{
    int32_t node = h->waiting[0].node;
    bool late = now >= h->waiting[0].since + FAULTLOC_HANDLERS_PATIENCE;

    drop_waiting(h, 0);
    if (!late && faultloc_handlers_ask(h, now, node))
        return;
    say_not(h, now, node, late ? "runs for too many nodes at once" : "cannot be started");
    ftree_handlers_done(h->p->ft, now, node);
}

static bool is_asked(const struct faultloc_handlers *h, int32_t node)
{
    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        if (h->child[i].pid > 0 && h->node[i] == node)
            return true;
    return false;
}

bool faultloc_handlers_ask_home(struct faultloc_handlers *h, ftree_time now)
{
    if (!*h->p->board->settings.handlers || now < h->home_at)
        return is_asked(h, h->p->self);
    h->home_pause = h->home_pause ? 2 * h->home_pause : FAULTLOC_HANDLERS_PAUSE;
    if (h->home_pause > FAULTLOC_HANDLERS_PAUSE_MAX)
        h->home_pause = FAULTLOC_HANDLERS_PAUSE_MAX;
    h->home_at = now + h->home_pause;
    return faultloc_handlers_ask(h, now, h->p->self);
}

/* ---- what it said ---------------------------------------------------------------------------- */

static double number_of(struct json_object *o, const char *key)
{
    struct json_object *v;

    return json_object_object_get_ex(o, key, &v) ? json_object_get_double(v) : 0;
}

/* "bmc: power-off: chassis power is off", or "bmc: no answer within 2.5 s". */
static bool say(struct json_object *o, int *symptom, ftree_time *age, char *text, size_t room)
{
    const char *handler = faultloc_text(o, "handler"), *name = faultloc_text(o, "symptom"),
               *words = faultloc_text(o, "text"), *why = faultloc_text(o, "why_not");
    double age_s = number_of(o, "age_s");

    *age = age_s > 0 && age_s < 1e9 ? (ftree_time) (age_s * 1e9) : 0;
    *symptom = name ? ftree_symptom_by_name(name) : -1;
    if (!handler || (!words && !why) || (name && *symptom < 0))
        return false;
    snprintf(text, room, "%.32s: %s%s%s", handler, name ? name : "", name ? ": " : "",
             words ? words : why);
    ftree_text_ascii(text);
    return true;
}

bool faultloc_handlers_read(const char *line, size_t len, int *symptom, ftree_time *age, char *text,
                            size_t room)
{
    struct json_object *o = len <= LINE_MAX_BYTES ? faultloc_json_object(line, len, 4) : NULL;
    bool good = o && say(o, symptom, age, text, room);

    json_object_put(o);
    return good;
}

/* "os: power-off: words" of the own node; what is no symptom is for those who ask by hand. */
static void hand_over_symptom(struct faultloc_handlers *h, ftree_time now, ftree_time at, int kind,
                              const char *text)
{
    const struct ftree_symptom_info *info = ftree_symptom_info(kind);
    const char *words = strstr(text, info->name);
    struct ftree_symptom s;

    if (info->kind != FTREE_KIND_NODE)
        return;
    ftree_symptom_init(&s, (enum ftree_symptom_kind) kind, h->p->self, FTREE_NONE, h->p->self, at,
                       now);
    snprintf(s.detail, sizeof(s.detail), "%s", words ? words + strlen(info->name) + 2 : text);
    ftree_symptom(h->p->ft, now, &s);
}

/* False: one line was none. */
static bool hand_over_lines(struct faultloc_handlers *h, ftree_time now, int i)
{
    const struct faultloc_child *c = &h->child[i];
    const char *at = c->text, *end;
    char text[FTREE_DETAIL_MAX];
    bool good = true;
    int symptom;
    ftree_time age;

    for (; at && (end = memchr(at, '\n', c->len - (size_t) (at - c->text))); at = end + 1) {
        if (!faultloc_handlers_read(at, (size_t) (end - at), &symptom, &age, text, sizeof(text)))
            good = false;
        else if (h->node[i] != h->p->self)
            ftree_handler_said(h->p->ft, now, now - faultloc_loop_earlier(age, now), h->node[i],
                               age < now ? symptom : -1, text);
        else if (symptom >= 0)
            hand_over_symptom(h, now, now - faultloc_loop_earlier(age, now), symptom, text);
    }
    return good && (!at || at == c->text + c->len);
}

static void finish(struct faultloc_handlers *h, ftree_time now, int i,
                   enum faultloc_child_state state, int status)
{
    bool good = hand_over_lines(h, now, i);
    char why[FTREE_DETAIL_MAX] = "";

    if (state == FAULTLOC_CHILD_FULL)
        snprintf(why, sizeof(why), "prints too much");
    else if (state == FAULTLOC_CHILD_LATE)
        snprintf(why, sizeof(why), "no answer in %d s",
                 (int) (FAULTLOC_HANDLERS_PATIENCE / (1000 * FTREE_MS)));
    else if (!faultloc_spawn_failed(status, 1, why, sizeof(why)) && !good)
        snprintf(why, sizeof(why), "printed no valid finding");
    if (*why)
        say_not(h, now, h->node[i], why);
    faultloc_child_forget(&h->child[i]);
    ftree_handlers_done(h->p->ft, now, h->node[i]);
}

void faultloc_handlers_turn(struct faultloc_handlers *h, ftree_time now)
{
    enum faultloc_child_state state;
    int status = 0;

    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++) {
        state = faultloc_child_turn(&h->child[i], now, &status);
        if (state != FAULTLOC_CHILD_RUNS)
            finish(h, now, i, state, status);
    }
    while (h->waits > 0 &&
           (free_place(h) >= 0 || now >= h->waiting[0].since + FAULTLOC_HANDLERS_PATIENCE))
        next_turn(h, now);
}

ftree_time faultloc_handlers_deadline(const struct faultloc_handlers *h)
{
    ftree_time t = FTREE_NEVER;

    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        t = faultloc_loop_earlier(t, faultloc_child_deadline(&h->child[i]));
    if (h->waits > 0)
        t = faultloc_loop_earlier(t, h->waiting[0].since + FAULTLOC_HANDLERS_PATIENCE);
    return t;
}

void faultloc_handlers_end(struct faultloc_handlers *h)
{
    for (int i = 0; i < FAULTLOC_HANDLERS_MAX; i++)
        faultloc_child_end(&h->child[i]);
}
