/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/loop/sources.h"

#include "faultloc/agent/serve/serve_status.h"
#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"
#include "faultloc/io/launcher_notify.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#include <string.h>

#define RULES_PATIENCE (500 * FTREE_MS) /* at start, for a file system to give the rules */
#define SOCKET_PATIENCE (500 * FTREE_MS) /* likewise, to take the symptom socket */

/* ---- rules ----------------------------------------------------------------------------------- */

static void use_rules(struct faultloc_sources *s, ftree_time now, struct ftree_rules *rules)
{
    struct ftree_rules *old = s->rules;

    s->rules = rules;
    s->p->job.job.rules = rules;
    if (s->p->ft)
        ftree_use_rules(s->p->ft, now, rules);
    ftree_rules_free(old);
}

/* True: there was news. */
static bool take_rules(struct faultloc_sources *s, ftree_time now)
{
    struct faultloc_rules_news news;

    if (!s->reader || !faultloc_reader_take(s->reader, &news))
        return false;
    if (s->set)
        ftree_rules_free(news.base);
    else if (news.base)
        use_rules(s, now, news.base);
    if (news.text[0] && !s->set)
        faultloc_say("%s", news.text);
    return true;
}

int faultloc_sources_set_rules(struct faultloc_sources *s, ftree_time now, const char *text,
                               size_t len)
{
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    int rc;

    rc = len > 0 ? ftree_rules_read(text, len, &rules, &e) : faultloc_rules_builtin(&rules);
    if (rc)
        return len > 0 && rc == FTREE_ERR_NOMEM ? ENOMEM : len > 0 ? EINVAL : rc;
    s->set = true;
    use_rules(s, now, rules);
    return 0;
}

/* The file is given a moment, so that a job begins with its own rules. */
static void open_reader(struct faultloc_sources *s)
{
    const char *node = s->p->job.names[s->p->self], *path = s->p->board->settings.rules;
    ftree_time until = faultloc_now() + RULES_PATIENCE;
    bool confirms = s->p->job.job.rank_node[0] == s->p->self, taken = false;
    int rc = faultloc_reader_start(path, node, confirms, &s->reader);
    uint64_t tags[4];

    if (!rc)
        rc = faultloc_loop_add(s->p->epoll, faultloc_reader_fd(s->reader), FAULTLOC_TAG_WAKE);
    while (!rc && !taken && faultloc_now() < until) {
        faultloc_loop_wait(s->p->epoll, until, tags, 4);
        taken = take_rules(s, faultloc_now());
    }
    if (!taken)
        faultloc_say("node %s: rules: %s: %s; using the built-in rules%s", node, path,
                     rc ? strerror(rc) : "the file system does not answer",
                     rc ? "" : " until it can be read");
}

static int open_rules(struct faultloc_sources *s)
{
    struct ftree_rules *builtin;
    int rc = 0;

    if (s->p->board->settings.rules[0])
        open_reader(s);
    if (!s->rules)
        rc = faultloc_rules_builtin(&builtin);
    if (!s->rules && !rc)
        use_rules(s, faultloc_now(), builtin);
    return rc;
}

int faultloc_sources_open(struct faultloc_sources *s, struct faultloc_program *p)
{
    s->p = p;
    faultloc_symptom_socket_init(&s->sock, &p->job.job, p->self);
    return open_rules(s);
}

/* ---- symptoms -------------------------------------------------------------------------------- */

void faultloc_sources_say_hello(const struct faultloc_sources *s)
{
    struct faultloc_launcher_message w;

    faultloc_launcher_hello(s->sock.fd >= 0 ? s->sock.path : "", &w);
    faultloc_launcher_send(s->p->board->settings.launcher, &w);
}

static const char *request(void *ctx, ftree_time now, const char *text, size_t len, uid_t uid,
                           int *reply, char *error)
{
    struct faultloc_sources *s = ctx;

    if (!strncmp(text, FAULTLOC_STATUS_REQUEST, strlen(FAULTLOC_STATUS_REQUEST)))
        return faultloc_statuses_take(&s->statuses, now, text, len, reply);
    if (!strncmp(text, FAULTLOC_SET_REQUEST, strlen(FAULTLOC_SET_REQUEST)))
        return faultloc_sets_take(&s->sets, now, text, len, uid, reply, error);
    return faultloc_asks_take(&s->asks, now, text, len, reply, error);
}

static void take_socket(struct faultloc_sources *s)
{
    if (!s->opener || !faultloc_socket_opener_take(s->opener, &s->sock))
        return;
    s->p->board->symptom_number = s->sock.number > 1 ? s->sock.number : 1;
    s->sock.request = request;
    s->sock.request_ctx = s;
    faultloc_loop_add(s->p->epoll, s->sock.fd, FAULTLOC_TAG_WAKE);
    faultloc_sources_say_hello(s);
}

void faultloc_sources_open_socket(struct faultloc_sources *s)
{
    const struct faultloc_program *p = s->p;
    ftree_time until = faultloc_now() + (p->start >= 0 ? SOCKET_PATIENCE : 0);
    uint64_t tags[4];
    int rc;

    if (!p->board->settings.symptoms)
        return;
    rc = faultloc_socket_opener_start(&p->job.job, p->self, p->board->job_id,
                                      p->board->symptom_number, &s->opener);
    if (rc)
        faultloc_say("node %s: cannot accept symptoms of other middleware: %s",
                     p->job.names[p->self], strerror(rc));
    if (rc || faultloc_loop_add(p->epoll, faultloc_socket_opener_fd(s->opener), FAULTLOC_TAG_WAKE))
        return;
    while (faultloc_socket_opener_is_busy(s->opener) && faultloc_now() < until)
        faultloc_loop_wait(p->epoll, until, tags, 4);
    take_socket(s);
}

void faultloc_sources_receive(struct faultloc_sources *s, ftree_time now)
{
    struct ftree_symptom symptom;
    uint32_t taken = s->sock.taken;
    int budget = 0;

    take_rules(s, now);
    take_socket(s);
    faultloc_pause_turn(&s->pause, now, s->p->epoll, s->sock.fd, FAULTLOC_TAG_WAKE);
    if (s->pause.until)
        return;
    while (faultloc_symptom_socket_next(&s->sock, now, &budget, &symptom)) {
        if (symptom.kind == FTREE_SYMPTOM_PROCESS_EXITED ||
            symptom.kind == FTREE_SYMPTOM_OUT_OF_MEMORY)
            faultloc_watch_ended(&s->p->watch, symptom.about.rank);
        ftree_symptom(s->p->ft, now, &symptom);
    }
    if (budget > 0 && s->sock.taken == taken)
        faultloc_pause_begin(&s->pause, now, s->p->epoll, s->sock.fd);
}
