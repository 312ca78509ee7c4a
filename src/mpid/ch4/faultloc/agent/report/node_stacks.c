/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/report/node_stacks.h"

#include "faultloc/agent/process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END_PATIENCE (200 * FTREE_MS) /* between its last word and its end */

void faultloc_stacks_init(struct faultloc_stacks *s, const struct faultloc_board *board, int epoll)
{
    memset(s, 0, sizeof(*s));
    s->board = board;
    s->child = (struct faultloc_child){.epoll = epoll,
                                       .tag = FAULTLOC_TAG_WAKE,
                                       .patience = FAULTLOC_STACKS_PATIENCE,
                                       .linger = END_PATIENCE,
                                       .most = FAULTLOC_STACKS_BYTES,
                                       .fd = -1};
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

/* Where the wait returns to that the rank has noted last, ":SP:PC", if it still is in that call. */
static void find_wait(const struct faultloc_stacks *s, int32_t local, uint64_t *call, char *text,
                      size_t room)
{
    const struct faultloc_wait_area *area = faultloc_board_wait_area(s->board, local);
    const struct waits_record *r = &area->page.record[0];
    uint32_t writing = area->writing;
    uint64_t sp = r->sp, pc = r->pc, then = area->call;

    *text = '\0';
    *call = __atomic_load_n(&faultloc_board_slot(s->board, local)->call, __ATOMIC_RELAXED);
    if (writing % 2 == 0 && area->page.records > 0 && sp && pc && then == *call &&
        *call & FAULTLOC_CALL_MASK && area->writing == writing)
        snprintf(text, room, ":%llx:%llx", (unsigned long long) sp, (unsigned long long) pc);
    else
        *call = 0;
}

/* "PID:START" of each rank that runs; NULL: out of memory. */
static char **make_arguments(const struct faultloc_stacks *s,
                             const struct faultloc_stacks_request *r)
{
    enum { HEAD = 6, BYTES = 80 };
    size_t n = (size_t) r->n + HEAD + 1, at = HEAD;
    char **arguments = calloc(1, n * sizeof(char *) + (size_t) r->n * BYTES), wait[40] = "";
    char *text = arguments ? (char *) (arguments + n) : NULL;

    if (!arguments)
        return NULL;
    arguments[0] = (char *) (uintptr_t) FAULTLOC_HANDLER_NAME;
    arguments[1] = (char *) (uintptr_t) "--fd";
    arguments[2] = (char *) (uintptr_t) "3";
    arguments[3] = (char *) (uintptr_t) "--deadline";
    arguments[4] = (char *) (uintptr_t) "4900";
    if (r->call)
        arguments[5] = (char *) (uintptr_t) "--caller";
    else
        at--;
    for (int32_t i = 0; i < r->n; i++, text += BYTES) {
        const struct faultloc_slot *slot = faultloc_board_slot(s->board, r->local[i]);
        if (r->call)
            find_wait(s, r->local[i], &r->call[i], wait, sizeof(wait));
        snprintf(text, BYTES, "%d:%llu%s", (int) slot->pid, (unsigned long long) slot->start, wait);
        if (slot->pid > 0)
            arguments[at++] = text;
    }
    return arguments;
}

/* Errors: an errno. */
static int start(struct faultloc_stacks *s, ftree_time now)
{
    struct faultloc_spawn_child child = {
        .path = s->path, .fd = FAULTLOC_SPAWN_FD, .input = -1, .output = -1,
        .background = !s->request[0].call};
    char **arguments = make_arguments(s, &s->request[0]);
    int rc = arguments ? 0 : ENOMEM;

    child.arguments = arguments;
    if (!rc && !*s->path && (rc = faultloc_child_beside(FAULTLOC_HANDLER_NAME, s->path)))
        *s->path = '\0';
    if (!rc)
        rc = faultloc_child_start(&s->child, now, &child);
    free(arguments);
    return rc;
}

/* ---- what it said ---------------------------------------------------------------------------- */

static int32_t find_process(const struct faultloc_stacks *s,
                            const struct faultloc_stacks_request *r, pid_t pid)
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
    const char *at = s->child.text, *end;
    bool good = true;

    for (; at && (end = memchr(at, '\n', s->child.len - (size_t) (at - s->child.text)));
         at = end + 1) {
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
    return good && at == s->child.text + s->child.len;
}

static const char *why_of(const struct faultloc_stack *stack)
{
    struct json_object *why;

    if (stack->process && json_object_object_get_ex(stack->process, "why_not", &why))
        return json_object_get_string(why);
    return NULL;
}

/* What was read while the rank went on may be of no moment at all. */
static bool has_gone_on(const struct faultloc_stacks *s, const struct faultloc_stacks_request *r,
                        int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(s->board, r->local[i]);

    return r->call && r->call[i] && faultloc_slot_call(slot) != r->call[i];
}

static const char *why_not(struct faultloc_stack *stack, const char *why, bool good)
{
    if (why_of(stack))
        return why_of(stack);
    if (stack->process && faultloc_stack_is_whole(stack->process))
        return NULL;
    return why     ? why
           : !good ? "faultloc-handler returned invalid output"
                   : "faultloc-handler said nothing of it";
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
        if (has_gone_on(s, &r, i)) {
            json_object_put(stack[i].process);
            stack[i].process = NULL;
            stack[i].why = "it has gone on";
        } else {
            stack[i].why = why_not(&stack[i], why, good);
        }
    }
    /* it may be followed by another request, made in the callback */
    memmove(&s->request[0], &s->request[1], (size_t) --s->n * sizeof(r));
    faultloc_child_forget(&s->child);
    r.taken(r.ctx, r.number, stack, stack ? r.n : 0);
    for (int32_t i = 0; stack && i < r.n; i++)
        json_object_put(stack[i].process);
    free(stack);
    free(r.local);
    free(r.call);
}

static void finish(struct faultloc_stacks *s, enum faultloc_child_state state, int status)
{
    char why[80] = "faultloc-handler ";
    size_t at = strlen(why);

    if (state == FAULTLOC_CHILD_FULL)
        tell(s, "faultloc-handler prints too much");
    else if (state == FAULTLOC_CHILD_LATE)
        tell(s, "no answer of faultloc-handler in 5 s");
    else
        tell(s, faultloc_spawn_failed(status, 1, why + at, sizeof(why) - at) ? why : NULL);
}

/* ---- one after the other --------------------------------------------------------------------- */

static void begin_next(struct faultloc_stacks *s, ftree_time now)
{
    char why[160];
    int rc = start(s, now);

    if (rc == ECHILD) {
        tell(s, "earlier ones of faultloc-handler do not end");
    } else if (rc) {
        snprintf(why, sizeof(why), "faultloc-handler cannot be started: %s", strerror(rc));
        tell(s, why);
    }
}

bool faultloc_stacks_take(struct faultloc_stacks *s, const int32_t *local, int32_t n, bool callers,
                          faultloc_stacks_taken *taken, void *ctx, uint32_t number)
{
    struct faultloc_stacks_request *r = &s->request[s->n];
    int32_t *copy = NULL;
    uint64_t *call = NULL;

    if (s->n < FAULTLOC_STACKS_REQUESTS && n > 0)
        copy = malloc((size_t) n * sizeof(*copy));
    if (copy && callers)
        call = calloc((size_t) n, sizeof(*call));
    if (!copy || (callers && !call)) {
        free(copy);
        return false;
    }
    memcpy(copy, local, (size_t) n * sizeof(*copy));
    *r = (struct faultloc_stacks_request){
        .local = copy, .n = n, .call = call, .taken = taken, .ctx = ctx, .number = number};
    s->n++; /* it is begun in the next turn: the caller is not called back at once */
    return true;
}

void faultloc_stacks_turn(struct faultloc_stacks *s, ftree_time now)
{
    int status;
    enum faultloc_child_state state = faultloc_child_turn(&s->child, now, &status);

    if (state != FAULTLOC_CHILD_RUNS)
        finish(s, state, status);
    if (s->n > 0 && s->child.pid == 0)
        begin_next(s, now);
}

ftree_time faultloc_stacks_deadline(const struct faultloc_stacks *s)
{
    return s->n == 0 ? FTREE_NEVER : s->child.pid > 0 ? faultloc_child_deadline(&s->child) : 0;
}

void faultloc_stacks_end(struct faultloc_stacks *s)
{
    faultloc_child_end(&s->child);
    while (s->n > 0) {
        free(s->request[--s->n].local);
        free(s->request[s->n].call);
    }
}
