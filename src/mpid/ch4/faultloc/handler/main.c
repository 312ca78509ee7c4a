/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "ftree/base/text.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/*
 * What needs no file system but /proc is printed first, of all processes; then their stacks, one
 * process after the other.  So a deadline costs only what was not printed before it, and the
 * memory needed is that of one process.
 */

#define PROCESSES_MAX 1024
#define DEADLINE_MS 5000
/* More than debugging information of a program needs; AddressSanitizer takes terabytes. */
#ifdef __SANITIZE_ADDRESS__
#define DATA_BYTES RLIM_INFINITY
#else
#define DATA_BYTES (512 * 1024 * 1024)
#endif

static const char usage[] =
    "Usage: faultloc-handler [OPTION]... PID[:START[:SP:PC]]...\n"
    "\n"
    "Prints what processes of this user do, and the stack of each of their threads with function, file\n"
    "and line: JSON, schema faultloc-handler/1, one object a line. Of each process a line comes at once,\n"
    "which has no stacks, and a whole one when its stacks are known. No process is stopped for that.\n"
    "\n"
    "  PID              a process; with START (field 22 of /proc/PID/stat) only if it began then\n"
    "                   and, with --caller, where a wait returns to: numbers in base 16\n"
    "  --caller         of each process one frame alone, the program's own that is nearest to MPI, and\n"
    "                   what called that where its line is not known\n"
    "  --where ADDRESS  prints the function, file and line of that instruction of the process, a number in\n"
    "                   base 16, as a line of text, and nothing else\n"
    "  --deadline MS    the program ends after so long, with what it has (default: 5000)\n"
    "  --fd N           prints to this descriptor (default: 1)\n"
    "  --no-stacks      only the first lines\n"
    "  --version        what this program was built with\n"
    "  --help           this text\n"
    "\n"
    "Exit code: 0 every thread has a stack, 1 some have none, and \"why_not\" says why, 2 wrong usage;\n"
    "after the deadline the program ends by SIGALRM.\n";

struct options {
    long deadline_ms, fd;
    bool no_stacks, caller;
    uint64_t where; /* 0: not asked for */
    int n;
    struct handler_process process[PROCESSES_MAX];
};

static bool wrong(const char *what, const char *which)
{
    char text[101];

    ftree_text_copy(text, sizeof(text), which);
    warnx("%s%s; see faultloc-handler --help", what, text);
    return false;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool read_number(const char *text, long least, long most, long *out)
{
    char *end;

    errno = 0;
    *out = strtol(text, &end, 10);
    return *text && !*end && !errno && *out >= least && *out <= most;
}

static bool read_process(const char *text, struct options *o)
{
    struct handler_process *p = &o->process[o->n];
    char *end;
    long pid;

    errno = 0;
    pid = strtol(text, &end, 10);
    if (pid <= 0 || pid > INT32_MAX || errno || (*end && *end != ':'))
        return wrong("no process number: ", text);
    if (o->n == PROCESSES_MAX)
        return wrong("too many processes", "");
    p->pid = (pid_t) pid;
    if (*end)
        p->start = strtoull(end + 1, &end, 10);
    if (*end == ':')
        p->sp = strtoull(end + 1, &end, 16);
    if (*end == ':')
        p->pc = strtoull(end + 1, &end, 16);
    o->n++;
    return *end ? wrong("no start of a process: ", text) : true;
}

/* Where an option's number goes, and its largest; NULL: it has none. */
static long *number_of(const char *name, struct options *o, long *most)
{
    bool is_deadline = !strcmp(name, "--deadline"), is_fd = !strcmp(name, "--fd");

    *most = is_deadline ? 600000 : 1023;
    return is_deadline ? &o->deadline_ms : is_fd ? &o->fd : NULL;
}

static bool read_options(int n, char **arguments, struct options *o)
{
    long *number, most;

    for (int i = 1; i < n; i++) {
        if ((number = number_of(arguments[i], o, &most))) {
            if (i + 1 == n || !read_number(arguments[i + 1], 1, most, number))
                return wrong("missing or wrong number after ", arguments[i]);
            i++;
        } else if (!strcmp(arguments[i], "--where")) {
            if (i + 1 == n || (o->where = strtoull(arguments[++i], NULL, 16)) == 0)
                return wrong("missing or wrong address after ", "--where");
        } else if (!strcmp(arguments[i], "--no-stacks")) {
            o->no_stacks = true;
        } else if (!strcmp(arguments[i], "--caller")) {
            o->caller = true;
        } else if (arguments[i][0] == '-') {
            return wrong("no such option: ", arguments[i]);
        } else if (!read_process(arguments[i], o)) {
            return false;
        }
    }
    return o->n > 0 || wrong("missing PID", "");
}

/* ---- the work -------------------------------------------------------------------------------- */

/* The default action of SIGALRM ends the process wherever it is.  Who started it may be gone before
 * that: then nobody wants to know. */
static void set_limits(long ms)
{
    FILE *f = fopen("/proc/self/oom_score_adj", "we");
    struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    const struct rlimit data = {DATA_BYTES, DATA_BYTES};
    sigset_t none;

    signal(SIGALRM, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_DATA, &data); /* it is counted to the job's control group, */
    if (f && fputs("1000", f) >= 0) /* and goes first where that has none left */
        fflush(f);
    if (f)
        fclose(f);
}

static void print(const struct handler_process *p)
{
    struct json_object *o = handler_json(p);

    if (o)
        puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
                                                   JSON_C_TO_STRING_NOSLASHESCAPE));
    fflush(stdout);
    json_object_put(o);
}

static bool has_all(const struct handler_process *p)
{
    for (int i = 0; i < p->threads; i++)
        if (p->thread[i].why)
            return false;
    return !p->why && p->threads == p->all_threads;
}

/* 0: nothing is missing. */
static int print_all(const struct options *o, bool stacks)
{
    int code = 0;

    for (int i = 0; i < o->n; i++) {
        struct handler_process p = o->process[i];
        handler_facts(NULL, &p);
        if (stacks && o->caller)
            handler_unwind_caller(&p);
        else if (stacks)
            handler_unwind(&p);
        print(&p);
        code = code || !has_all(&p);
        handler_free(&p);
    }
    return code || ferror(stdout);
}

/* 0: it is known. */
static int print_where(const struct options *o)
{
    struct handler_frame f = {.pc = o->where, .is_activation = true};
    const char *slash;

    handler_name_address(o->process[0].pid, &f);
    slash = strrchr(f.file, '/');
    if (f.line > 0)
        printf("%s(), %s:%d\n", f.function, slash ? slash + 1 : f.file, f.line);
    else if (*f.function) /* of a script's, the module is not named */
        printf("%s%s%s\n", f.function, *f.module ? "() in " : "", f.module);
    return !*f.function || fflush(stdout);
}

static int run(const struct options *o)
{
    int code = o->caller || o->where ? 0 : print_all(o, false);

    if (o->where)
        return print_where(o);
    return o->no_stacks ? code : print_all(o, true);
}

static int print_version(void)
{
    printf("faultloc-handler %s, %s\n", FAULTLOC_VERSION,
           handler_can_unwind() ? "with stacks (libdw)" : "without stacks: libdw was not found");
    return 0;
}

int main(int n, char **arguments)
{
    static struct options o = {.deadline_ms = DEADLINE_MS, .fd = 1};

    if (n == 2 && (!strcmp(arguments[1], "--help") || !strcmp(arguments[1], "-h")))
        return fputs(usage, stdout) < 0;
    if (n == 2 && !strcmp(arguments[1], "--version"))
        return print_version();
    if (!read_options(n, arguments, &o))
        return 2;
    set_limits(o.deadline_ms);
    if (o.fd != STDOUT_FILENO && dup2((int) o.fd, STDOUT_FILENO) < 0) {
        warn("descriptor %ld", o.fd);
        return 2;
    }
    return run(&o);
}
