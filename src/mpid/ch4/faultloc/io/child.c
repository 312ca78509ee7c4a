/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/child.h"

#include "faultloc/io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_AT_ONCE (256 * 1024) /* in one turn of the loop */
#define END_LOOK (5 * FTREE_MS) /* when it has said all */
#define LOOK (100 * FTREE_MS) /* it may end while another process has its output open */

/* ---- its end --------------------------------------------------------------------------------- */

/* Who ignores SIGCHLD, as the agent does, does not learn how a child ended, and its number may be
 * another's at once.  So it is not ignored as long as there is one. */
static void mind(struct faultloc_child *c)
{
    static int minded;
    static void (*before)(int);
    bool any = c->pid > 0 || c->lost > 0;

    if (any == c->minds)
        return;
    c->minds = any;
    if (any && minded++ == 0)
        before = signal(SIGCHLD, SIG_DFL);
    else if (!any && --minded == 0)
        signal(SIGCHLD, before);
}

/* Those that a file system holds in the kernel do not end when they are killed. */
static void reap_lost(struct faultloc_child *c)
{
    for (int i = c->lost - 1; i >= 0; i--)
        if (waitpid(c->lost_pid[i], NULL, WNOHANG | __WALL) != 0)
            c->lost_pid[i] = c->lost_pid[--c->lost];
    mind(c);
}

static bool has_ended(const struct faultloc_child *c)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t) c->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) ||
           info.si_pid != 0;
}

/* Its group may not be there yet, right after the start. */
static int end(struct faultloc_child *c)
{
    bool may_print = c->fd >= 0;
    int status = -1;

    if (may_print)
        close(c->fd);
    c->fd = -1;
    if (c->pid > 0) {
        bool ended = has_ended(c);
        if (!ended || (may_print && c->all_end))
            kill(-c->pid, SIGKILL);
        if (ended) {
            waitpid(c->pid, &status, WNOHANG | __WALL);
        } else {
            kill(c->pid, SIGKILL);
            c->lost_pid[c->lost++] = c->pid; /* until it is seen to have ended */
        }
    }
    c->pid = 0;
    mind(c);
    return status;
}

/* ---- its start ------------------------------------------------------------------------------- */

int faultloc_child_beside(const char *name, char path[FAULTLOC_SPAWN_PATH])
{
    size_t room = FAULTLOC_SPAWN_PATH - strlen(name) - 1;
    ssize_t n = readlink("/proc/self/exe", path, room);
    char *slash;

    if (n < 0 || n == (ssize_t) room)
        return n < 0 ? errno : ENAMETOOLONG;
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return ENOENT;
    strcpy(slash + 1, name);
    return 0;
}

int faultloc_child_start(struct faultloc_child *c, ftree_time now,
                         struct faultloc_spawn_child *child)
{
    int *prints = child->fd >= 0 ? &child->fd : &child->output;
    int fds[2], rc = c->lost == FAULTLOC_CHILD_LOST ? ECHILD : pipe2(fds, O_CLOEXEC) ? errno : 0;
    pid_t pid;

    if (rc)
        return rc;
    *prints = fds[1];
    c->pid = 1; /* there will be one */
    mind(c);
    rc = faultloc_spawn_child(child, &pid);
    c->pid = 0;
    close(fds[1]);
    if (!rc) {
        faultloc_child_watch(c, now, pid, fds[0]);
        return 0;
    }
    close(fds[0]);
    mind(c);
    return rc;
}

void faultloc_child_watch(struct faultloc_child *c, ftree_time now, pid_t pid, int fd)
{
    c->pid = pid;
    c->fd = fd;
    c->end_by = now + c->patience;
    c->until = now + LOOK;
    c->lingers = false;
    mind(c);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    if (c->epoll >= 0)
        faultloc_loop_add(c->epoll, fd, c->tag);
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* False: out of memory, or it has printed all that it may. */
static bool make_room(struct faultloc_child *c)
{
    size_t room = c->room ? 2 * c->room : 64 * 1024;
    char *text;

    if (c->len < c->room)
        return true;
    room = room < c->most ? room : c->most;
    if (room == c->room || !(text = realloc(c->text, room)))
        return false;
    c->text = text;
    c->room = room;
    return true;
}

/* False: it prints too much. */
static bool hear(struct faultloc_child *c)
{
    char dropped[4096];
    ssize_t n = 0;

    for (size_t all = 0; c->fd >= 0 && all < READ_AT_ONCE; all += (size_t) n) {
        bool fits = make_room(c);
        n = read(c->fd, fits ? c->text + c->len : dropped,
                 fits ? c->room - c->len : sizeof(dropped));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0) {
            close(c->fd);
            c->fd = -1;
        } else if (fits) {
            c->len += (size_t) n;
        } else if (!c->drops) {
            return false;
        }
    }
    return true;
}

/* Whether it had ended is asked before what it said is read: nothing comes after that. */
static enum faultloc_child_state look(struct faultloc_child *c, ftree_time now)
{
    bool ended = has_ended(c);

    if (!hear(c))
        return FAULTLOC_CHILD_FULL;
    if (ended)
        return FAULTLOC_CHILD_ENDED;
    if (c->fd < 0 && c->linger > 0 && !c->lingers) {
        c->lingers = true;
        c->end_by = now + c->linger;
    }
    c->until = now + (c->lingers ? END_LOOK : LOOK);
    if (now < c->end_by)
        return FAULTLOC_CHILD_RUNS;
    return c->lingers ? FAULTLOC_CHILD_ENDED : FAULTLOC_CHILD_LATE;
}

enum faultloc_child_state faultloc_child_turn(struct faultloc_child *c, ftree_time now, int *status)
{
    enum faultloc_child_state state = FAULTLOC_CHILD_RUNS;

    if (c->lost > 0)
        reap_lost(c);
    if (c->pid > 0)
        state = look(c, now);
    if (state != FAULTLOC_CHILD_RUNS)
        *status = end(c);
    return state;
}

ftree_time faultloc_child_deadline(const struct faultloc_child *c)
{
    return c->pid > 0 ? faultloc_loop_earlier(c->until, c->end_by) : FTREE_NEVER;
}

void faultloc_child_forget(struct faultloc_child *c)
{
    free(c->text);
    c->text = NULL;
    c->len = c->room = 0;
}

void faultloc_child_end(struct faultloc_child *c)
{
    end(c);
    faultloc_child_forget(c);
}
