/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/spawn.h"

#include "faultloc/base/syscalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (64 * 1024)

#ifndef FAULTLOC_LIBEXECDIR
#define FAULTLOC_LIBEXECDIR "/usr/local/libexec"
#endif

/* ---- where it is ----------------------------------------------------------------------------- */

static int find_in(const char *folder, const char *name, char out[FAULTLOC_SPAWN_PATH])
{
    int n = snprintf(out, FAULTLOC_SPAWN_PATH, "%s/%s", folder, name);

    if (n < 0 || n >= FAULTLOC_SPAWN_PATH)
        return ENAMETOOLONG;
    return access(out, X_OK) ? errno : 0;
}

/* .../lib/libmpi.so -> .../lib/../libexec; it may be loaded by a link that is elsewhere. */
static int find_beside(const char *name, char out[FAULTLOC_SPAWN_PATH])
{
    char library[PATH_MAX], folder[FAULTLOC_SPAWN_PATH];
    const char *slash;
    Dl_info info;
    int n;

    if (!dladdr((void *) (uintptr_t) &faultloc_spawn_find, &info) || !info.dli_fname ||
        !realpath(info.dli_fname, library) || !(slash = strrchr(library, '/')))
        return ENOENT;
    n = snprintf(folder, sizeof(folder), "%.*s/../libexec", (int) (slash - library), library);
    return n < 0 || n >= (int) sizeof(folder) ? ENAMETOOLONG : find_in(folder, name, out);
}

/* One that is there and may not be executed is the one that is meant. */
int faultloc_spawn_find(const char *name, char out[FAULTLOC_SPAWN_PATH])
{
    int rc = find_beside(name, out);

    return rc == ENOENT || rc == ENOTDIR ? find_in(FAULTLOC_LIBEXECDIR, name, out) : rc;
}

/* ---- starting it ----------------------------------------------------------------------------- */

/* On the caller's stack, and seen by both clones. */
struct launch {
    const char *path;
    char *const *arguments;
    char *const *environment;
    int fd, input, output; /* -1: none; /dev/null */
    bool background;
    bool child; /* of the caller, which it shares nothing with */
    char *stack; /* of the second, its upper end */
    volatile int error;
};

/* Both share the caller's memory: nothing here may allocate, or leave a trace in it.  Not _exit(3):
 * a sanitizer would look for the stack of the caller's thread. */
static int leave(int code)
{
    return (int) syscall(SYS_exit_group, code);
}

/* The caller's may be pipes that somebody reads to their end: one that hangs must not have them. */
static void set_standard_files(const struct launch *e)
{
    int null = open("/dev/null", O_RDWR);
    const int files[] = {e->input, e->output, e->output};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int from = files[fd] >= 0 ? files[fd] : null;
        if (from < 0 || dup2(from, fd) < 0)
            close(fd);
    }
}

#define IO_OF_PROCESS 1 /* as in linux/ioprio.h */
#define IO_CLASS(priority) ((priority) >> 13)
#define IO_CLASS_REAL_TIME 1

/* Real time is for the program: what runs beside it would keep it from its core. Its nice value
 * stays, and so does a policy that is below the usual one.  To give real time back needs no
 * privilege. */
static void leave_real_time(bool background)
{
    const struct sched_param none = {.sched_priority = 0};
    int policy = sched_getscheduler(0);
    long io = syscall(SYS_ioprio_get, IO_OF_PROCESS, 0);

    if (policy != SCHED_BATCH && policy != SCHED_IDLE && (policy != SCHED_OTHER || background))
        sched_setscheduler(0, background ? SCHED_BATCH : SCHED_OTHER, &none);
    if (io > 0 && IO_CLASS(io) == IO_CLASS_REAL_TIME)
        syscall(SYS_ioprio_set, IO_OF_PROCESS, 0, 0); /* none: by the nice value */
}

/* What is ignored or blocked here would be there, too. */
static void become_child(void)
{
    sigset_t none;

    setsid();
    for (int signal_ = 1; signal_ < NSIG; signal_++)
        signal(signal_, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int run_second(void *arg)
{
    struct launch *e = arg;
    int first_closed = e->fd < 0 ? FAULTLOC_SPAWN_FD : FAULTLOC_SPAWN_FD + 1;

    if (e->fd >= 0 && (e->fd == FAULTLOC_SPAWN_FD ? fcntl(e->fd, F_SETFD, 0)
                                                  : dup2(e->fd, FAULTLOC_SPAWN_FD)) < 0) {
        e->error = errno;
        return leave(127);
    }
    set_standard_files(e);
    leave_real_time(e->background);
    /* an older kernel does not know it: the program closes the others, too */
    syscall(SYS_close_range, first_closed, INT_MAX, 0);
    if (e->child)
        become_child();
    execve(e->path, e->arguments, e->environment);
    e->error = errno;
    return leave(127);
}

static int run_first(void *arg)
{
    struct launch *e = arg;

    if (clone(run_second, e->stack, CLONE_VM | CLONE_VFORK, e) < 0)
        e->error = errno;
    return leave(0);
}

static int clone_twice(struct launch *e)
{
    char *stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    sigset_t all, before;
    pid_t first;

    if (stack == MAP_FAILED)
        return errno;
    e->stack = stack + 2 * STACK_BYTES;
    /* no handler of the program may run in a clone, on its memory */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    first = clone(run_first, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, e);
    if (first < 0)
        e->error = errno;
    while (first > 0 && waitpid(first, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, 2 * STACK_BYTES);
    return e->error;
}

/* Then an orphan becomes its child, after all. */
static bool takes_in_orphans(void)
{
    int is_reaper = 0;

    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &is_reaper) == 0 && is_reaper);
}

/* "NAME=..." as it stands in the environment; NULL: it is not set. */
static char *find_variable(const char *name)
{
    extern char **environ;
    size_t len = strlen(name);

    for (char **e = environ; e && *e; e++)
        if (!strncmp(*e, name, len) && (*e)[len] == '=')
            return *e;
    return NULL;
}

/* Of the environment a program gets these, where they are set. */
static const char *const kept[] = {"LD_LIBRARY_PATH", "XDG_RUNTIME_DIR"};
#define KEPT (sizeof(kept) / sizeof(kept[0]))

static size_t keep_environment(char *environment[KEPT + 1])
{
    size_t n = 0;

    for (size_t i = 0; i < KEPT; i++)
        if ((environment[n] = find_variable(kept[i])))
            n++;
    return n;
}

/* The kept ones and the child's own; to be freed.  NULL: out of memory. */
static char **make_environment(char *const *more)
{
    char **environment;
    size_t n = 0;

    while (more && more[n])
        n++;
    environment = calloc(KEPT + n + 1, sizeof(*environment));
    if (environment && n > 0)
        memcpy(environment + keep_environment(environment), more, n * sizeof(*environment));
    else if (environment)
        keep_environment(environment);
    return environment;
}

int faultloc_spawn(const char *path, int fd)
{
    char *environment[KEPT + 1] = {NULL};
    const char *slash = strrchr(path, '/');
    char name[64];
    char *arguments[] = {name, NULL};
    struct launch e = {.path = path,
                       .arguments = arguments,
                       .environment = environment,
                       .fd = fd,
                       .input = -1,
                       .output = -1};

    if (takes_in_orphans())
        return ECHILD;
    snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
    keep_environment(environment);
    return clone_twice(&e);
}

/* In memory of its own: the caller goes on while a file system is asked for the program. */
int faultloc_spawn_child(const struct faultloc_spawn_child *child, pid_t *pid)
{
    char **environment = make_environment(child->environment);
    struct launch e = {.path = child->path,
                       .arguments = child->arguments,
                       .environment = environment,
                       .fd = child->fd,
                       .input = child->input,
                       .output = child->output,
                       .background = child->background,
                       .child = true};
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int rc = !environment ? ENOMEM : stack == MAP_FAILED ? errno : 0;

    if (!rc) {
        *pid = clone(run_second, stack + STACK_BYTES, 0, &e);
        rc = *pid < 0 ? errno : 0;
    }
    if (stack != MAP_FAILED)
        munmap(stack, STACK_BYTES);
    free(environment);
    return rc;
}

bool faultloc_spawn_failed(int status, int most, char *why, size_t room)
{
    if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) <= most))
        return false;
    if (WIFSIGNALED(status))
        snprintf(why, room, "was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        snprintf(why, room, "cannot be executed, or is not installed");
    else
        snprintf(why, room, "ended with code %d", WEXITSTATUS(status));
    return true;
}
