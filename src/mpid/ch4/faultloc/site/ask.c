/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Each handler is a process in a session of its own, which has no terminal.  It gets its request as
 * standard input, a file in memory, and prints to a pipe.  At its deadline it is killed with its process
 * group; the lines that came before it count.
 */

struct run {
    struct site_handler *h;
    pid_t pid; /* 0: it has ended, or was never started */
    int fd; /* what it prints; -1: all is read */
    ftree_time until;
    size_t len;
    bool late, full, stuck; /* stuck: it has said all, and does not end */
    int status;
    char text[SITE_OUTPUT_MAX];
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
    if (out)
        h->run(h->request, out);
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
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return errno;
    r->pid = fork();
    if (r->pid == 0)
        become_handler(r->h, input, fds[1]);
    close(fds[1]);
    r->fd = fds[0];
    return r->pid < 0 ? errno : 0;
}

static void start(struct run *r)
{
    int input = make_input(r->h->request), rc = input < 0 ? errno : spawn(r, input);

    if (input >= 0)
        close(input);
    if (rc)
        snprintf(r->h->why, sizeof(r->h->why), "cannot be started: %s", strerror(rc));
    if (rc && r->fd >= 0)
        close(r->fd);
    if (rc)
        *r = (struct run){.h = r->h, .fd = -1};
    r->until = faultloc_now() + r->h->deadline_ms * FTREE_MS;
}

/* ---- its end --------------------------------------------------------------------------------- */

static void end(struct run *r)
{
    kill(-r->pid, SIGKILL);
    kill(r->pid, SIGKILL);
    close(r->fd);
    r->fd = -1;
}

/* One that a file system holds does not end: it is nobody's to wait for. */
static void reap(struct run *r)
{
    if (r->pid > 0 && r->fd < 0 &&
        waitpid(r->pid, &r->status, r->late || r->full || r->stuck ? WNOHANG : 0) >= 0)
        r->pid = 0;
}

static void hear(struct run *r)
{
    size_t room = sizeof(r->text) - r->len;
    ssize_t n = read(r->fd, r->text + r->len, room);

    if (n < 0 && errno == EINTR)
        return;
    if (n > 0)
        r->len += (size_t) n;
    r->full = r->len == sizeof(r->text);
    if (r->full) {
        end(r);
    } else if (n <= 0) {
        close(r->fd);
        r->fd = -1;
        r->until = faultloc_now() + 200 * FTREE_MS; /* it has said all */
    }
}

static void look(struct run *r, ftree_time now, short events)
{
    siginfo_t info = {0};

    if (r->fd >= 0 && events)
        hear(r);
    if (r->fd >= 0 && now >= r->until) {
        r->late = true;
        end(r);
    } else if (r->fd < 0 && r->pid > 0 && now < r->until &&
               waitid(P_PID, (id_t) r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid == 0) {
        return; /* it closed its output, and may end by itself */
    } else if (r->fd < 0 && r->pid > 0 && now >= r->until) {
        r->stuck = true;
        kill(-r->pid, SIGKILL);
        kill(r->pid, SIGKILL);
    }
    reap(r);
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
    const char *at = r->text, *limit = r->text + r->len, *newline;
    int most = *n + (symptom ? SITE_SYMPTOMS_MAX : SITE_LINES_MAX);
    bool good = true;

    for (; at < limit && (newline = memchr(at, '\n', (size_t) (limit - at))); at = newline + 1) {
        struct json_object *o = site_line(r->h->name, at, (size_t) (newline - at));
        good = good && o;
        if (o && *n < most && symptom == (site_text(o, "symptom") != NULL))
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
    if (r->late)
        snprintf(why, SITE_WHY_MAX, "no answer in %d ms", r->h->deadline_ms);
    else if (r->full)
        snprintf(why, SITE_WHY_MAX, "prints too much");
    else if (WIFSIGNALED(r->status))
        snprintf(why, SITE_WHY_MAX, "was killed by signal %d", WTERMSIG(r->status));
    else if (WEXITSTATUS(r->status) == 127)
        snprintf(why, SITE_WHY_MAX, "its program cannot be executed");
    else if (WEXITSTATUS(r->status))
        snprintf(why, SITE_WHY_MAX, "ended with code %d", WEXITSTATUS(r->status));
    else if (!good)
        snprintf(why, SITE_WHY_MAX, "printed what is no finding");
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

static bool runs(const struct run *r)
{
    return r->fd >= 0 || (r->pid > 0 && !r->late && !r->full && !r->stuck);
}

/* Until something comes, or the next deadline, or one that has closed its output may have ended. */
static void await(struct run *run, int n, struct pollfd *fds)
{
    ftree_time now = faultloc_now(), next = 0;

    for (int i = 0; i < n; i++) {
        fds[i] = (struct pollfd){.fd = run[i].fd, .events = POLLIN};
        if (!runs(&run[i]))
            continue;
        if (!next || run[i].until < next)
            next = run[i].until;
        if (run[i].fd < 0 && now + 2 * FTREE_MS < next)
            next = now + 2 * FTREE_MS;
    }
    poll(fds, (nfds_t) n, next > now ? (int) ((next - now) / FTREE_MS) + 1 : 0);
}

static int go_through(struct run *run, int n, struct pollfd *fds, FILE *out)
{
    int running = 0, failed = 0;
    bool reported[SITE_HANDLERS_MAX] = {false};

    do {
        await(run, n, fds);
        running = 0;
        for (int i = 0; i < n; i++) {
            look(&run[i], faultloc_now(), fds[i].revents);
            running += runs(&run[i]);
            if (!reported[i] && !runs(&run[i])) {
                failed += report(&run[i], out);
                reported[i] = true;
            }
        }
    } while (running > 0);
    return failed;
}

int site_ask_all(struct site_config *c, FILE *out)
{
    struct run *run = calloc(SITE_HANDLERS_MAX, sizeof(*run));
    struct pollfd fds[SITE_HANDLERS_MAX];
    int failed;

    if (!run)
        return c->n;
    for (int i = 0; i < c->n; i++) {
        run[i].h = &c->handler[i];
        run[i].fd = -1;
        if (run[i].h->request)
            start(&run[i]);
    }
    failed = go_through(run, c->n, fds, out);
    free(run);
    return failed;
}
