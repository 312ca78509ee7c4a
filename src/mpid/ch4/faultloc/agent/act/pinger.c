/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/act/pinger.h"

#include "faultloc/agent/act/handlers.h"
#include "faultloc/base/json_text.h"
#include "faultloc/base/say.h"
#include "faultloc/fabric/ping.h"
#include "faultloc/io/loop.h"
#include "ftree/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_BYTES (2 * FTREE_FABRIC_BYTES + 64)
#define BYTES_MOST (16 * 1024) /* that it may print */
#define END_PATIENCE (200 * FTREE_MS) /* between its last word and its end */
#define NO_PROGRAM 127 /* as spawn.h says */

static void init_child(struct faultloc_child *c, int epoll, ftree_time patience)
{
    *c = (struct faultloc_child){.epoll = epoll,
                                 .tag = FAULTLOC_TAG_WAKE,
                                 .patience = patience,
                                 .linger = END_PATIENCE,
                                 .most = BYTES_MOST,
                                 .fd = -1};
}

void faultloc_pinger_init(struct faultloc_pinger *f, const struct faultloc_program *p)
{
    *f = (struct faultloc_pinger){.p = p};
    init_child(&f->listener, p->epoll,
               FAULTLOC_PINGER_PATIENCE + FAULTLOC_PINGER_LISTEN_MS * FTREE_MS);
    for (int i = 0; i < FAULTLOC_PINGER_ASKS; i++)
        init_child(&f->child[i], p->epoll, FAULTLOC_PINGER_PATIENCE);
}

void faultloc_pinger_library(const char *over, char *name, size_t room)
{
    const char *provider = strchr(over, '/');

    if (provider)
        snprintf(name, room, "libfabric %.*s", (int) strcspn(provider + 1, "/"), provider + 1);
    else
        ftree_text_copy(name, room, "UCX");
}

/* ---- what it prints -------------------------------------------------------------------------- */

static bool read_word(struct json_object *o, struct faultloc_pinger_line *out)
{
    static const struct {
        const char *name;
        enum faultloc_pinger_word word;
        enum ftree_fabric says;
    } words[] = {{"listens", FAULTLOC_PINGER_LISTENS, FTREE_FABRIC_NONE},
                 {"held", FAULTLOC_PINGER_HELD, FTREE_FABRIC_NONE},
                 {"over", FAULTLOC_PINGER_OVER, FTREE_FABRIC_NONE},
                 {"none", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_NONE},
                 {"passes", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_PASSES},
                 {"silent", FAULTLOC_PINGER_RESULT, FTREE_FABRIC_SILENT}};
    const char *name = faultloc_text(o, "fabric"), *why = faultloc_text(o, "why");
    struct json_object *us;

    if (json_object_object_get_ex(o, "us", &us)) {
        int64_t n = json_object_get_int64(us);
        out->us = n > 0 && n < INT32_MAX ? (uint32_t) n : 0;
    }
    ftree_text_copy(out->why, sizeof(out->why), why ? why : "");
    for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(words[i].name, name)) {
            out->word = words[i].word;
            out->says = words[i].says;
            return true;
        }
    return false;
}

void faultloc_pinger_read(const char *line, size_t len, struct faultloc_pinger_line *out)
{
    struct json_object *o = len <= LINE_MAX_BYTES ? faultloc_json_object(line, len, 3) : NULL;
    const char *address = faultloc_text(o, "address");

    out->word = FAULTLOC_PINGER_GARBAGE;
    out->len = out->us = 0;
    out->says = FTREE_FABRIC_NONE;
    *out->why = '\0';
    if (address && (out->len = ping_unhex(address, out->bytes, sizeof(out->bytes))) > 0)
        out->word = FAULTLOC_PINGER_ADDRESS;
    else if (o && !address)
        read_word(o, out);
    json_object_put(o);
}

/* ---- starting it ----------------------------------------------------------------------------- */

/* It is to have the library's variables of a rank of this node.  It reads them itself, for that may take as
 * long as the rank is held in the kernel. */
static int start(struct faultloc_pinger *f, struct faultloc_child *c, ftree_time now,
                 const char *what, const char *last, int input)
{
    char ms[16], pids[4096], over[FAULTLOC_OVER_SIZE], *arguments[] = {(char *) (uintptr_t) FAULTLOC_PINGER_NAME,
                                             (char *) (uintptr_t) what,
                                             (char *) (uintptr_t) "--fd",
                                             (char *) (uintptr_t) "3",
                                             (char *) (uintptr_t) "--deadline",
                                             ms,
                                             (char *) (uintptr_t) "--like",
                                             pids,
                                             (char *) (uintptr_t) "--over",
                                             over,
                                             (char *) (uintptr_t) last,
                                             NULL};
    struct faultloc_spawn_child child = {.path = f->path,
                                         .arguments = arguments,
                                         .fd = FAULTLOC_SPAWN_FD,
                                         .input = input,
                                         .output = -1};
    int rc = 0;

    snprintf(ms, sizeof(ms), "%d", last ? FAULTLOC_PINGER_ASK_MS : FAULTLOC_PINGER_LISTEN_MS);
    faultloc_handlers_ranks(f->p, pids, sizeof(pids));
    ftree_text_copy(over, sizeof(over), f->p->board->over);
    if (!*f->path && (rc = faultloc_child_beside(FAULTLOC_PINGER_NAME, f->path)))
        *f->path = '\0';
    return rc ? rc : faultloc_child_start(c, now, &child);
}

bool faultloc_pinger_listen(struct faultloc_pinger *f, ftree_time now)
{
    if (f->absent || f->listener.pid > 0)
        return false;
    f->read = 0;
    return start(f, &f->listener, now, "listen", NULL, -1) == 0;
}

/* In a file: everybody on the host sees arguments, and the address has the key. */
static int start_ask(struct faultloc_pinger *f, struct faultloc_child *c, ftree_time now,
                     const char *address)
{
    int file = faultloc_memory_file("faultloc-address", MFD_CLOEXEC, address), input, rc;

    if (file < 0)
        return errno;
    input = fcntl(file, F_DUPFD_CLOEXEC, FAULTLOC_SPAWN_FD + 1); /* the child has another one there */
    close(file);
    if (input < 0)
        return errno;
    rc = start(f, c, now, "ping", "-", input);
    close(input);
    return rc;
}

bool faultloc_pinger_ask(struct faultloc_pinger *f, ftree_time now, uint32_t number,
                         const uint8_t *address, size_t len)
{
    char text[2 * FTREE_FABRIC_BYTES + 1];

    if (f->absent || len > FTREE_FABRIC_BYTES)
        return false;
    ping_hex(address, len, text);
    for (int i = 0; i < FAULTLOC_PINGER_ASKS; i++)
        if (f->child[i].pid <= 0 && f->child[i].lost == 0) {
            f->number[i] = number;
            return start_ask(f, &f->child[i], now, text) == 0;
        }
    return false;
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

/* "" where it has ended well. */
static void why_over(struct faultloc_pinger *f, enum faultloc_child_state state, int status,
                     char why[FTREE_FABRIC_WHY])
{
    *why = '\0';
    f->absent |= status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM;
    if (f->absent)
        snprintf(why, FTREE_FABRIC_WHY, "no program %s", FAULTLOC_PINGER_NAME);
    else if (state != FAULTLOC_CHILD_ENDED)
        snprintf(why, FTREE_FABRIC_WHY, "%s %s", FAULTLOC_PINGER_NAME,
                 state == FAULTLOC_CHILD_FULL ? "prints too much" : "does not end");
    else
        faultloc_spawn_failed(status, 0, why, FTREE_FABRIC_WHY);
}

/* The next whole line; false: there is none. */
static bool next_line(const struct faultloc_child *c, size_t *read, struct faultloc_pinger_line *line)
{
    const char *at = c->text + *read,
               *end = c->len > *read ? memchr(at, '\n', c->len - *read) : NULL;

    if (!end)
        return false;
    faultloc_pinger_read(at, (size_t) (end - at), line);
    *read += (size_t) (end - at) + 1;
    return true;
}

/* An address comes first, and once.  What is read at once is one sign of life, the first of which may be
 * older than the question: the next one is not. */
static void hear_listener(struct faultloc_pinger *f, ftree_time now)
{
    struct faultloc_pinger_line line;
    bool lives = false, held = false;

    while (next_line(&f->listener, &f->read, &line)) {
        if (line.word == FAULTLOC_PINGER_ADDRESS)
            ftree_fabric_listens(f->p->ft, now, line.bytes, line.len);
        else if (line.word == FAULTLOC_PINGER_LISTENS)
            lives = true;
        else if (line.word == FAULTLOC_PINGER_HELD)
            lives = held = true;
        else if (line.word == FAULTLOC_PINGER_RESULT)
            ftree_fabric_closed(f->p->ft, now, line.why);
        else if (line.word == FAULTLOC_PINGER_GARBAGE)
            ftree_fabric_closed(f->p->ft, now, "printed what is no result");
    }
    if (lives)
        ftree_fabric_alive(f->p->ft, now, held);
}

static void turn_listener(struct faultloc_pinger *f, ftree_time now)
{
    char why[FTREE_FABRIC_WHY];
    int status = 0;
    enum faultloc_child_state state = faultloc_child_turn(&f->listener, now, &status);

    if (f->listener.text)
        hear_listener(f, now);
    if (state == FAULTLOC_CHILD_RUNS)
        return;
    faultloc_child_forget(&f->listener);
    why_over(f, state, status, why);
    ftree_fabric_closed(f->p->ft, now, *why ? why : "its end has ended");
}

static void end_ask(struct faultloc_pinger *f, ftree_time now, int i,
                    enum faultloc_child_state state, int status)
{
    struct faultloc_pinger_line line = {.word = FAULTLOC_PINGER_GARBAGE};
    char why[FTREE_FABRIC_WHY];
    size_t read = 0;

    why_over(f, state, status, why);
    if (!*why && next_line(&f->child[i], &read, &line) && line.word != FAULTLOC_PINGER_RESULT)
        line.word = FAULTLOC_PINGER_GARBAGE;
    faultloc_child_forget(&f->child[i]);
    if (line.word == FAULTLOC_PINGER_RESULT)
        ftree_fabric_said(f->p->ft, now, f->number[i], line.says, line.us, line.why);
    else
        ftree_fabric_said(f->p->ft, now, f->number[i], FTREE_FABRIC_NONE, 0,
                          *why ? why : "printed what is no result");
}

void faultloc_pinger_turn(struct faultloc_pinger *f, ftree_time now)
{
    enum faultloc_child_state state;
    int status = 0;

    turn_listener(f, now);
    for (int i = 0; i < FAULTLOC_PINGER_ASKS; i++) {
        state = faultloc_child_turn(&f->child[i], now, &status);
        if (state != FAULTLOC_CHILD_RUNS)
            end_ask(f, now, i, state, status);
    }
}

ftree_time faultloc_pinger_deadline(const struct faultloc_pinger *f)
{
    ftree_time t = faultloc_child_deadline(&f->listener);

    for (int i = 0; i < FAULTLOC_PINGER_ASKS; i++)
        t = faultloc_loop_earlier(t, faultloc_child_deadline(&f->child[i]));
    return t;
}

void faultloc_pinger_end(struct faultloc_pinger *f)
{
    faultloc_child_end(&f->listener);
    for (int i = 0; i < FAULTLOC_PINGER_ASKS; i++)
        faultloc_child_end(&f->child[i]);
}
