/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/stacks.h"

#include "faultloc/agent/program.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_AT_ONCE (256 * 1024) /* in one turn of the loop */
#define END_LOOK (5 * FTREE_MS)
#define END_PATIENCE (200 * FTREE_MS) /* between its last word and its end */

void faultloc_stacks_init(struct faultloc_stacks *s, const struct faultloc_board *board, int epoll)
{
    memset(s, 0, sizeof(*s));
    s->board = board;
    s->epoll = epoll;
    s->fd = -1;
}

/* The kernel asks the same before a process's memory is opened as before it is traced. */
static bool may_trace(pid_t pid)
{
    char path[48];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int) pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || (errno != EACCES && errno != EPERM);
}

/* Only with 1 can a process name who may trace it.  Else it is not tried: the kernel would log
 * it. */
static bool can_be_permitted(const char *scope)
{
    FILE *f = fopen(scope ? scope : "/proc/sys/kernel/yama/ptrace_scope", "re");
    int c = f ? getc(f) : EOF;

    if (f)
        fclose(f);
    return c == '1';
}

void faultloc_stacks_ask_leave(const struct faultloc_board *board, const char *scope)
{
    if (!can_be_permitted(scope))
        return;
    for (int32_t i = 0; i < board->slots; i++) {
        struct faultloc_slot *slot = faultloc_board_slot(board, i);
        if (slot->pid <= 0 || may_trace(slot->pid))
            continue;
        slot->tracer = (int32_t) getpid();
        __atomic_store_n(&slot->news, 1, __ATOMIC_RELEASE);
    }
}

/* ---- starting it ----------------------------------------------------------------------------- */

/* The handler is beside this program.  Nothing here asks the file system, which may not answer. */
static int find_handler(char path[FAULTLOC_SPAWN_PATH])
{
    size_t room = FAULTLOC_SPAWN_PATH - sizeof(FAULTLOC_HANDLER_NAME);
    ssize_t n = readlink("/proc/self/exe", path, room);
    char *slash;

    if (n < 0 || n == (ssize_t) room)
        return n < 0 ? errno : ENAMETOOLONG;
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return ENOENT;
    strcpy(slash + 1, FAULTLOC_HANDLER_NAME);
    return 0;
}

/* "PID:START" of each rank that runs; NULL: out of memory. */
static char **make_arguments(const struct faultloc_stacks *s, const struct faultloc_stacks_request *r)
{
    enum { HEAD = 5, BYTES = 40 };
    size_t n = (size_t) r->n + HEAD + 1, at = HEAD;
    char **arguments = calloc(1, n * sizeof(char *) + (size_t) r->n * BYTES);
    char *text = arguments ? (char *) (arguments + n) : NULL;

    if (!arguments)
        return NULL;
    arguments[0] = (char *) (uintptr_t) FAULTLOC_HANDLER_NAME;
    arguments[1] = (char *) (uintptr_t) "--fd";
    arguments[2] = (char *) (uintptr_t) "3";
    arguments[3] = (char *) (uintptr_t) "--deadline";
    arguments[4] = (char *) (uintptr_t) "4900";
    for (int32_t i = 0; i < r->n; i++, text += BYTES) {
        const struct faultloc_slot *slot = faultloc_board_slot(s->board, r->local[i]);
        snprintf(text, BYTES, "%d:%llu", (int) slot->pid, (unsigned long long) slot->start);
        if (slot->pid > 0)
            arguments[at++] = text;
    }
    return arguments;
}

/* Who ignores SIGCHLD, as the agent does, does not learn how a child ended, and its number may be
 * another's at once.  So it is not ignored as long as there is one. */
static void mind_children(struct faultloc_stacks *s)
{
    bool any = s->pid > 0 || s->lost > 0;

    if (any == s->minds)
        return;
    s->minds = any;
    if (any)
        s->before = signal(SIGCHLD, SIG_DFL);
    else
        signal(SIGCHLD, s->before);
}

/* Errors: an errno. */
static int start(struct faultloc_stacks *s, ftree_time now)
{
    char **arguments = make_arguments(s, &s->request[0]);
    int fds[2], rc = 0;

    if (!arguments)
        return ENOMEM;
    if (!*s->path && (rc = find_handler(s->path)))
        *s->path = '\0';
    if (!rc && pipe2(fds, O_CLOEXEC))
        rc = errno;
    if (!rc) {
        s->pid = 1; /* there will be one */
        mind_children(s);
        rc = faultloc_spawn_child(s->path, arguments, fds[1], &s->pid);
        close(fds[1]);
        if (rc)
            close(fds[0]);
    }
    free(arguments);
    if (rc) {
        s->pid = 0;
        mind_children(s);
        return rc;
    }
    s->fd = fds[0];
    s->until = now + FAULTLOC_STACKS_PATIENCE;
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    if (s->epoll >= 0)
        faultloc_loop_add(s->epoll, s->fd, FAULTLOC_TAG_WAKE);
    return 0;
}

/* ---- ending it ------------------------------------------------------------------------------- */

/* Those that a file system holds in the kernel do not end when they are killed. */
static void reap_lost(struct faultloc_stacks *s)
{
    for (int i = s->lost - 1; i >= 0; i--)
        if (waitpid(s->lost_pid[i], NULL, WNOHANG | __WALL) != 0)
            s->lost_pid[i] = s->lost_pid[--s->lost];
    mind_children(s);
}

/* Returns its status, -1: it has not ended by itself. */
static int end_handler(struct faultloc_stacks *s)
{
    int status = -1;

    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    if (s->pid > 0 && waitpid(s->pid, &status, WNOHANG | __WALL) == 0) {
        kill(s->pid, SIGKILL);
        s->lost_pid[s->lost++] = s->pid; /* until it is seen to have ended */
        status = -1;
    }
    s->pid = 0;
    mind_children(s);
    return status;
}

/* ---- what it said ---------------------------------------------------------------------------- */

static int32_t find_process(const struct faultloc_stacks *s, const struct faultloc_stacks_request *r,
                            pid_t pid)
{
    for (int32_t i = 0; i < r->n; i++)
        if (faultloc_board_slot(s->board, r->local[i])->pid == pid)
            return i;
    return -1;
}

/* The last line about a process counts.  False: one line was none. */
static bool read_lines(const struct faultloc_stacks *s, const struct faultloc_stacks_request *r,
                       struct faultloc_stack *stack)
{
    const char *at = s->text, *end;
    bool good = true;

    for (; at && (end = memchr(at, '\n', s->len - (size_t) (at - s->text))); at = end + 1) {
        struct json_object *o = faultloc_stack_check(at, (size_t) (end - at));
        int32_t i = o ? find_process(s, r, faultloc_stack_pid(o)) : -1;
        good = good && i >= 0;
        if (i < 0) {
            json_object_put(o);
        } else {
            json_object_put(stack[i].process);
            stack[i].process = o;
        }
    }
    return good && at == s->text + s->len;
}

static const char *why_of(struct faultloc_stack *stack)
{
    struct json_object *why;

    if (json_object_object_get_ex(stack->process, "why_not", &why))
        return json_object_get_string(why);
    return NULL;
}

/* `why`: what is wrong with the handler. */
static void tell(struct faultloc_stacks *s, const char *why)
{
    struct faultloc_stacks_request r = s->request[0];
    struct faultloc_stack *stack = calloc((size_t) r.n, sizeof(*stack));
    bool good = true;

    if (stack)
        good = read_lines(s, &r, stack);
    for (int32_t i = 0; stack && i < r.n; i++) {
        stack[i].local = r.local[i];
        stack[i].why = stack[i].process ? why_of(&stack[i]) : NULL;
        if (!stack[i].why && !(stack[i].process && faultloc_stack_is_whole(stack[i].process)))
            stack[i].why = why     ? why
                           : !good ? "faultloc-handler printed what is no answer"
                                   : "faultloc-handler said nothing of it";
    }
    /* it may be followed by another request, made in the callback */
    memmove(&s->request[0], &s->request[1], (size_t) --s->n * sizeof(r));
    free(s->text);
    s->text = NULL;
    s->len = s->room = 0;
    r.taken(r.ctx, r.number, stack, stack ? r.n : 0);
    for (int32_t i = 0; stack && i < r.n; i++)
        json_object_put(stack[i].process);
    free(stack);
    free(r.local);
}

static void finish(struct faultloc_stacks *s, const char *why)
{
    int status = end_handler(s);
    char died[80];

    if (!why && WIFSIGNALED(status) && status != -1) {
        snprintf(died, sizeof(died), "faultloc-handler died of signal %d", WTERMSIG(status));
        why = died;
    } else if (!why && status != -1 && WEXITSTATUS(status) == 127) {
        why = "faultloc-handler cannot be executed, or is not installed";
    } else if (!why && status != -1 && WEXITSTATUS(status) > 1) {
        snprintf(died, sizeof(died), "faultloc-handler ended with code %d", WEXITSTATUS(status));
        why = died;
    }
    tell(s, why);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* False: out of memory, or it prints too much. */
static bool make_room(struct faultloc_stacks *s)
{
    size_t room = s->room ? 2 * s->room : 64 * 1024;
    char *text;

    if (s->len < s->room)
        return true;
    if (room > FAULTLOC_STACKS_BYTES || !(text = realloc(s->text, room)))
        return false;
    s->text = text;
    s->room = room;
    return true;
}

/* It has printed all, and is ending: how, says its status, in a moment. */
static void await_end(struct faultloc_stacks *s, ftree_time now)
{
    siginfo_t info = {0};

    if (waitid(P_PID, (id_t) s->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) ||
        info.si_pid != 0 || now >= s->end_by)
        finish(s, NULL);
    else
        s->until = now + END_LOOK;
}

static void hear(struct faultloc_stacks *s, ftree_time now)
{
    ssize_t n = 0;

    if (s->fd < 0) {
        await_end(s, now);
        return;
    }
    for (size_t most = s->len + READ_AT_ONCE; s->len < most; s->len += (size_t) n) {
        if (!make_room(s)) {
            finish(s, "faultloc-handler prints too much");
            return;
        }
        n = read(s->fd, s->text + s->len, s->room - s->len);
        if (n <= 0)
            break;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close(s->fd);
        s->fd = -1;
        s->end_by = now + END_PATIENCE;
        await_end(s, now);
    } else if (now >= s->until)
        finish(s, "no answer of faultloc-handler in 5 s");
}

static void begin_next(struct faultloc_stacks *s, ftree_time now)
{
    char why[160];
    int rc;

    if (s->lost == FAULTLOC_STACKS_LOST) {
        tell(s, "earlier ones of faultloc-handler do not end");
        return;
    }
    rc = start(s, now);
    if (rc) {
        snprintf(why, sizeof(why), "faultloc-handler cannot be started: %s", strerror(rc));
        tell(s, why);
    }
}

bool faultloc_stacks_take(struct faultloc_stacks *s, ftree_time now, const int32_t *local, int32_t n,
                          void (*taken)(void *ctx, uint32_t number, const struct faultloc_stack *stack,
                                        int32_t n),
                          void *ctx, uint32_t number)
{
    struct faultloc_stacks_request *r = &s->request[s->n];
    int32_t *copy;

    if (s->n == FAULTLOC_STACKS_REQUESTS || n <= 0 ||
        !(copy = malloc((size_t) n * sizeof(*copy))))
        return false;
    memcpy(copy, local, (size_t) n * sizeof(*copy));
    *r = (struct faultloc_stacks_request){
        .local = copy, .n = n, .taken = taken, .ctx = ctx, .number = number};
    if (s->n++ == 0)
        s->until = now; /* it is begun in the next turn: whoever asks is not called back at once */
    return true;
}

void faultloc_stacks_turn(struct faultloc_stacks *s, ftree_time now)
{
    if (s->lost > 0)
        reap_lost(s);
    if (s->pid > 0)
        hear(s, now);
    if (s->n > 0 && s->pid == 0)
        begin_next(s, now);
}

ftree_time faultloc_stacks_deadline(const struct faultloc_stacks *s)
{
    return s->n == 0 ? FTREE_NEVER : s->pid > 0 ? s->until : 0;
}

void faultloc_stacks_end(struct faultloc_stacks *s)
{
    end_handler(s);
    while (s->n > 0)
        free(s->request[--s->n].local);
    free(s->text);
    s->text = NULL;
}
