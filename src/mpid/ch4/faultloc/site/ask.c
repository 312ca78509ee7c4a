/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"
#include "faultloc/io/child.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Each handler is a process in a session of its own, which has no terminal.  It gets its request as
 * standard input, a file in memory, and prints to a pipe.  At its deadline it is killed with its process
 * group; the lines that came before it count.
 */

#define END_PATIENCE (200 * FTREE_MS) /* between its last word and its end */

struct run {
    struct site_handler *h;
    struct faultloc_child child;
    enum faultloc_child_state state; /* in which it ended */
    int status;
    bool reported;
};

/* ---- in the handler's process ---------------------------------------------------------------- */

static void run_program(const char *path)
{
    char *arguments[] = {(char *) (uintptr_t) path, NULL};
    char *environment[] = {(char *) (uintptr_t) "PATH=" SITE_PATH, NULL};

    execve(path, arguments, environment);
    _exit(127);
}

static void become_handler(const struct site_handler *h, int input, int output)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FILE *out;

    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (null < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0)
        _exit(126);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    if (h->program)
        run_program(h->program);
    out = fdopen(STDOUT_FILENO, "w");
    if (out) {
        setlinebuf(out); /* what it has found counts, also where its deadline ends it */
        h->run(h->request, out);
    }
    _exit(out && fflush(out) == 0 ? 0 : 126);
}

/* ---- starting it ----------------------------------------------------------------------------- */

/* Where no other process can read it. */
static int make_input(struct json_object *request)
{
    const char *text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);

    return faultloc_memory_file("request", MFD_CLOEXEC, text);
}

static int spawn(struct run *r, int input)
{
    int fds[2], rc;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC))
        return errno;
    pid = fork();
    rc = pid < 0 ? errno : 0;
    if (pid == 0)
        become_handler(r->h, input, fds[1]);
    close(fds[1]);
    if (rc)
        close(fds[0]);
    else
        faultloc_child_watch(&r->child, faultloc_now(), pid, fds[0]);
    return rc;
}

static void start(struct run *r)
{
    int input = make_input(r->h->request), rc = input < 0 ? errno : spawn(r, input);

    if (input >= 0)
        close(input);
    if (rc)
        snprintf(r->h->why, sizeof(r->h->why), "cannot be started: %s", strerror(rc));
}

/* ---- what it said ---------------------------------------------------------------------------- */

static void print(FILE *out, struct json_object *o)
{
    fprintf(out, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    fflush(out);
    json_object_put(o);
}

/* Those with a symptom, or those without.  *n: how many were printed.  False: one line was none. */
static bool print_lines(const struct run *r, bool symptom, int *n, FILE *out)
{
    const char *at = r->child.text, *limit = at ? at + r->child.len : NULL, *newline;
    int most = *n + (symptom ? SITE_SYMPTOMS_MAX : SITE_LINES_MAX);
    bool good = true;

    for (; at < limit && (newline = memchr(at, '\n', (size_t) (limit - at))); at = newline + 1) {
        struct json_object *o = site_line(r->h->name, at, (size_t) (newline - at));
        good = good && o;
        if (o && *n < most && symptom == (faultloc_text(o, "symptom") != NULL))
            print(out, o), ++*n;
        else
            json_object_put(o);
    }
    return good && at == limit;
}

static void find_why(struct run *r, bool good, int n)
{
    char *why = r->h->why;

    if (*why)
        return;
    if (r->state == FAULTLOC_CHILD_LATE)
        snprintf(why, SITE_WHY_MAX, "no answer in %d ms", r->h->deadline_ms);
    else if (r->state == FAULTLOC_CHILD_FULL)
        snprintf(why, SITE_WHY_MAX, "prints too much");
    else if (faultloc_spawn_failed(r->status, 0, why, SITE_WHY_MAX))
        return;
    else if (!good)
        snprintf(why, SITE_WHY_MAX, "printed no valid finding");
    else if (n == 0)
        snprintf(why, SITE_WHY_MAX, "said nothing");
}

/* True: it has failed. */
static bool report(struct run *r, FILE *out)
{
    struct json_object *o;
    int n = 0;
    bool good = print_lines(r, true, &n, out);

    print_lines(r, false, &n, out);
    find_why(r, good, n);
    if (!*r->h->why)
        return false;
    o = site_failure(r->h->name, r->h->why);
    if (o)
        print(out, o);
    return true;
}

/* ---- all at once ----------------------------------------------------------------------------- */

/* Until something comes, or one is to be looked at. */
static void await(const struct run *run, int n)
{
    struct pollfd fds[SITE_HANDLERS_MAX];
    ftree_time next = FTREE_NEVER;

    for (int i = 0; i < n; i++) {
        fds[i] = (struct pollfd){.fd = run[i].child.fd, .events = POLLIN};
        next = faultloc_loop_earlier(next, faultloc_child_deadline(&run[i].child));
    }
    poll(fds, (nfds_t) n, faultloc_loop_ms(next));
}

static int go_through(struct run *run, int n, FILE *out)
{
    int running = n, failed = 0;

    while (running > 0) {
        running = 0;
        for (struct run *r = run; r < run + n; r++) {
            r->state = faultloc_child_turn(&r->child, faultloc_now(), &r->status);
            running += r->child.pid > 0;
            if (!r->reported && r->child.pid == 0) {
                failed += report(r, out);
                r->reported = true;
                faultloc_child_forget(&r->child);
            }
        }
        if (running > 0)
            await(run, n);
    }
    return failed;
}

int site_ask_all(struct site_config *c, FILE *out)
{
    struct run *run = calloc(SITE_HANDLERS_MAX, sizeof(*run));
    int failed;

    if (!run)
        return c->n;
    for (int i = 0; i < c->n; i++) {
        run[i].h = &c->handler[i];
        run[i].child = (struct faultloc_child){.epoll = -1,
                                               .patience = run[i].h->deadline_ms * FTREE_MS,
                                               .linger = END_PATIENCE,
                                               .most = SITE_OUTPUT_MAX,
                                               .all_end = true,
                                               .fd = -1};
        if (run[i].h->request)
            start(&run[i]);
    }
    failed = go_through(run, c->n, out);
    free(run);
    return failed;
}
