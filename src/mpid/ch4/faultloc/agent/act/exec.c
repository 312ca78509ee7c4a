/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/act/exec.h"

#include "faultloc/base/grow.h"
#include "faultloc/base/say.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The agent has kept no PATH of the program that started it. */
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

void faultloc_exec_init(struct faultloc_exec *e, const struct faultloc_program *p,
                        struct faultloc_reporter *reporter)
{
    const char *path = p->board->settings.program, *slash = strrchr(path, '/');

    *e = (struct faultloc_exec){.p = p, .reporter = reporter, .name = slash ? slash + 1 : path};
    for (int i = 0; i < FAULTLOC_EXEC_MAX; i++)
        e->child[i] = (struct faultloc_child){.epoll = p->epoll,
                                              .tag = FAULTLOC_TAG_WAKE,
                                              .patience = FAULTLOC_EXEC_PATIENCE,
                                              .most = FAULTLOC_EXEC_BYTES,
                                              .drops = true,
                                              .fd = -1};
}

/* ---- starting it ----------------------------------------------------------------------------- */

static void say_not_run(struct faultloc_exec *e, const char *why)
{
    if (!e->said_not_run)
        faultloc_say("node %s: exec %s cannot be run: %s; see exec in MPIR_CVAR_FAULTLOC_ACTION",
                     e->p->job.names[e->p->self], e->p->board->settings.program, why);
    e->said_not_run = true;
}

/* The last fact is followed by PATH.  Errors: an errno. */
static int start(struct faultloc_exec *e, ftree_time now, struct faultloc_child *c,
                 const char *json, char **facts)
{
    char *arguments[] = {(char *) (uintptr_t) e->p->board->settings.program, NULL};
    struct faultloc_spawn_child child = {
        .path = arguments[0], .arguments = arguments, .fd = -1, .output = -1};
    size_t n = 0;
    int rc;

    if (!json || !facts)
        return ENOMEM;
    while (facts[n])
        n++;
    char *environment[n + 2];
    memcpy(environment, facts, n * sizeof(*facts));
    environment[n] = (char *) (uintptr_t) PATH;
    environment[n + 1] = NULL;
    child.environment = environment;
    /* the whole text is there before the program is, so nobody has to write to it */
    child.input = faultloc_memory_file("faultloc-report", MFD_CLOEXEC, json);
    if (child.input < 0)
        return errno;
    rc = faultloc_child_start(c, now, &child);
    close(child.input);
    return rc;
}

/* Its place; -1: there is none. */
static int find_free(const struct faultloc_exec *e)
{
    for (int i = 0; i < FAULTLOC_EXEC_MAX; i++)
        if (e->child[i].pid == 0 && e->child[i].lost == 0)
            return i;
    return -1;
}

static void run(struct faultloc_exec *e, ftree_time now, struct faultloc_child *c,
                const struct ftree_verdict *v)
{
    char line[256], **facts = NULL, *json = NULL;
    int rc;

    faultloc_reporter_facts(e->reporter, v, &json, &facts);
    rc = start(e, now, c, json, facts);
    snprintf(line, sizeof(line), "runs %s for %s", e->name, ftree_class_name(v->class_));
    faultloc_reporter_trace(e->reporter, line);
    if (rc)
        say_not_run(e, strerror(rc));
    free(json);
    free(facts);
}

static void drop(struct faultloc_exec *e, int32_t i)
{
    memmove(&e->due[i], &e->due[i + 1], (size_t) (--e->n - i) * sizeof(*e->due));
}

static void run_due(struct faultloc_exec *e, ftree_time now)
{
    for (int32_t i = 0; i < e->n;) {
        int free_one = find_free(e);
        if (now >= e->due[i].at && free_one >= 0)
            run(e, now, &e->child[free_one], &e->due[i].v);
        else if (now >= e->due[i].at + FAULTLOC_EXEC_WAIT)
            say_not_run(e, "earlier ones have not ended");
        else {
            i++;
            continue;
        }
        drop(e, i);
    }
}

/* A process that has ended has ended; other troubles may pass. */
static ftree_time due_at(const struct faultloc_exec *e, ftree_time now, const struct ftree_verdict *v)
{
    if (v->class_ == FTREE_CLASS_PROCESS_CRASH)
        return now;
    return now + faultloc_board_early(e->p->board, v);
}

static void put(struct faultloc_exec *e, ftree_time now, const struct ftree_verdict *v)
{
    struct faultloc_exec_due *due = faultloc_one_more(e->due, e->n, sizeof(*due));

    if (!due) {
        say_not_run(e, strerror(ENOMEM));
        return;
    }
    e->due = due;
    due[e->n++] = (struct faultloc_exec_due){*v, due_at(e, now, v)};
}

void faultloc_exec_verdict(struct faultloc_exec *e, ftree_time now, const struct ftree_verdict *v)
{
    if (!*e->p->board->settings.program || v->local_only)
        return;
    for (int32_t i = e->n - 1; i >= 0; i--)
        if (e->due[i].v.fln == v->fln && e->due[i].v.id == v->id && v->withdrawn)
            drop(e, i);
    if (!v->withdrawn)
        put(e, now, v);
    run_due(e, now);
}

/* ---- what came of it ------------------------------------------------------------------------- */

static void say_lines(const struct faultloc_exec *e, const struct faultloc_child *c)
{
    const char *at = c->text, *end = at ? at + c->len : NULL;

    for (size_t n; at < end; at += n + 1) {
        const char *newline = memchr(at, '\n', (size_t) (end - at));
        n = (size_t) ((newline ? newline : end) - at);
        faultloc_say("%s: %.*s", e->name, (int) n, at);
    }
    if (c->len == FAULTLOC_EXEC_BYTES)
        faultloc_say("%s: what it printed beyond %d bytes is not shown", e->name,
                     FAULTLOC_EXEC_BYTES);
}

static void finish(struct faultloc_exec *e, struct faultloc_child *c,
                   enum faultloc_child_state state, int status)
{
    const char *node = e->p->job.names[e->p->self], *path = e->p->board->settings.program;
    char why[64];

    say_lines(e, c);
    faultloc_child_forget(c);
    if (state == FAULTLOC_CHILD_LATE && !e->said_late)
        faultloc_say(
            "node %s: exec %s was killed, with its process group: it had not ended after %d s",
            node, path, (int) (FAULTLOC_EXEC_PATIENCE / (1000 * FTREE_MS)));
    e->said_late |= state == FAULTLOC_CHILD_LATE;
    if (state == FAULTLOC_CHILD_LATE)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        say_not_run(e, "it is not a program, or it ended with code 127");
    else if (faultloc_spawn_failed(status, 0, why, sizeof(why)))
        faultloc_say("node %s: exec %s %s", node, path, why);
}

void faultloc_exec_turn(struct faultloc_exec *e, ftree_time now)
{
    enum faultloc_child_state state;
    int status = 0;

    for (int i = 0; i < FAULTLOC_EXEC_MAX; i++) {
        state = faultloc_child_turn(&e->child[i], now, &status);
        if (state != FAULTLOC_CHILD_RUNS)
            finish(e, &e->child[i], state, status);
    }
    run_due(e, now);
}

ftree_time faultloc_exec_deadline(const struct faultloc_exec *e)
{
    ftree_time t = FTREE_NEVER;

    for (int i = 0; i < FAULTLOC_EXEC_MAX; i++)
        t = faultloc_loop_earlier(t, faultloc_child_deadline(&e->child[i]));
    for (int32_t i = 0; i < e->n && find_free(e) >= 0; i++)
        t = faultloc_loop_earlier(t, e->due[i].at);
    return t;
}

bool faultloc_exec_runs(const struct faultloc_exec *e)
{
    return faultloc_exec_deadline(e) != FTREE_NEVER;
}

void faultloc_exec_end(struct faultloc_exec *e)
{
    for (int i = 0; i < FAULTLOC_EXEC_MAX; i++)
        faultloc_child_end(&e->child[i]);
    free(e->due);
    e->due = NULL;
    e->n = 0;
}
