/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Starting a program beside a process that must not notice.  The program is this one, by another
 * name, and says what it was started with.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/proc.h"
#include "faultloc/base/spawn.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "spawned"

extern char **environ;

/* ---- the program ----------------------------------------------------------------------------- */

/* What a process can be asked about itself. */
struct about {
    pid_t pid, parent, group;
    int arguments;
    int higher; /* descriptors above FAULTLOC_SPAWN_FD */
    bool has_none, is_blocked; /* whether SIGUSR1 is */
    int policy, nice, io_class;
    char name[64];
    char environment[1024]; /* a line each */
};

static void list_environment(struct about *a)
{
    size_t len = 0;

    for (char **e = environ; *e && len < sizeof(a->environment); e++)
        len += (size_t) snprintf(a->environment + len, sizeof(a->environment) - len, "%s\n", *e);
}

static int count_from(int first)
{
    int n = 0;

    for (int fd = first; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static bool is_null(int fd)
{
    struct stat st, null;

    return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
}

static int spawned_main(int argc, char **argv)
{
    struct about a = {.pid = getpid(), .parent = getppid(), .group = getpgrp(), .arguments = argc};
    sigset_t now;
    char word;

    sigprocmask(SIG_BLOCK, NULL, &now);
    a.is_blocked = sigismember(&now, SIGUSR1);
    a.higher = count_from(FAULTLOC_SPAWN_FD + 1);
    a.has_none = is_null(STDIN_FILENO) && is_null(STDOUT_FILENO) && is_null(STDERR_FILENO);
    snprintf(a.name, sizeof(a.name), "%s", argv[0]);
    list_environment(&a);
    a.policy = sched_getscheduler(0);
    a.nice = getpriority(PRIO_PROCESS, 0);
    a.io_class = (int) syscall(SYS_ioprio_get, 1, 0) >> 13;
    if (send(FAULTLOC_SPAWN_FD, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
        return 1;
    return recv(FAULTLOC_SPAWN_FD, &word, 1, 0) < 0; /* until the test closes its end */
}

/* ---- starting it ----------------------------------------------------------------------------- */

static char folder[64], path[128];
static struct about about;

BEFORE_EACH
{
    char own[512] = "";

    snprintf(folder, sizeof(folder), "/tmp/test_spawn.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/" NAME, folder);
    ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
    ck_assert_int_eq(symlink(own, path), 0);
}

AFTER_EACH
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Returns the test's end of its socket. */
static int start(void)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(faultloc_spawn(path, pair[1]), 0);
    close(pair[1]);
    return pair[0];
}

static void hear(int sock)
{
    struct pollfd p = {.fd = sock, .events = POLLIN};

    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
    ck_assert_int_eq(recv(sock, &about, sizeof(about), 0), sizeof(about));
}

/* Closes the socket, and waits until the program has ended. */
static void end(int sock)
{

    close(sock);
    UNTIL(faultloc_proc_fate(NULL, about.pid, 0) == FAULTLOC_PROC_GONE);
}

/* ---- what the process that starts it notices ------------------------------------------------- */

static volatile sig_atomic_t signals;

static void count_signal(int signal_)
{
    (void) signal_;
    signals++;
}

/* Of a process that has children of its own, and one of them ends. */
TEST_CASE(it_is_no_child)
{
    struct sigaction count = {.sa_handler = count_signal};
    int sock;

    ck_assert_int_eq(sigaction(SIGCHLD, &count, NULL), 0);
    sock = start();
    hear(sock);
    ck_assert_int_ne(about.parent, getpid());
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1); /* nor is there a zombie */
    ck_assert_int_eq(errno, ECHILD);
    end(sock);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    ck_assert_int_eq(signals, 0);
}

static int sleep_on(int in, int out, void *arg)
{
    (void) out, (void) arg;
    process_obey(in);
    return 5;
}

TEST_CASE(other_children_stay_as_they_are)
{
    struct process running, ended;
    int sock;

    process_start(&running, sleep_on, NULL);
    process_start(&ended, sleep_on, NULL);
    process_say(&ended, '.');
    UNTIL(!process_is_alive(&ended));
    sock = start();
    hear(sock);
    ck_assert(process_is_alive(&running));
    ck_assert_int_eq(process_end(&ended), 5);
    process_kill(&running);
    end(sock);
}

/* Whatever the program has done about the ends of its children. */
static void (*const customs[])(int) = {SIG_DFL, SIG_IGN};

TEST_CASES(signals_are_the_callers, COUNT(customs))
{
    sigset_t before, after, one;
    int sock;

    signal(SIGCHLD, customs[_i]);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigprocmask(SIG_BLOCK, &one, NULL);
    sigprocmask(SIG_BLOCK, NULL, &before);
    sock = start();
    sigprocmask(SIG_BLOCK, NULL, &after);
    for (int s = 1; s < NSIG; s++)
        ck_assert_int_eq(sigismember(&before, s), sigismember(&after, s));
    ck_assert_ptr_eq(signal(SIGCHLD, SIG_DFL), customs[_i]);
    hear(sock);
    end(sock);
}

TEST_CASE(nothing_stays_open_or_mapped)
{
    int before, sock;

    end((sock = start(), hear(sock), sock)); /* what the first one needs is there then */
    before = process_descriptors();
    for (int i = 0; i < 5; i++) {
        sock = start();
        hear(sock);
        end(sock);
    }
    ck_assert_int_eq(process_descriptors(), before);
}

/* ---- what the program is started with -------------------------------------------------------- */

TEST_CASE(it_has_the_socket_alone)
{
    char name[] = "/tmp/test_spawn.XXXXXX";
    int file = mkstemp(name), high, sock;

    high = fcntl(file, F_DUPFD, 900); /* not closed on exec */
    ck_assert_int_ge(high, 900);
    sock = start();
    hear(sock);
    ck_assert_int_eq(about.higher, 0);
    ck_assert(about.has_none);
    ck_assert_int_eq(about.arguments, 1);
    ck_assert_str_eq(about.name, NAME);
    end(sock);
    close(high);
    close(file);
    unlink(name);
}

/* In a process of its own, for Check may use that number. */
static int start_as(int in, int out, void *arg)
{
    int number = *(int *) arg, pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return 1;
    pair[0] = fcntl(pair[0], F_DUPFD_CLOEXEC, 100);
    in = fcntl(in, F_DUPFD, 100);
    out = fcntl(out, F_DUPFD, 100);
    if (dup3(pair[1], number, O_CLOEXEC) != number)
        return 1;
    rc = faultloc_spawn(path, number);
    if (rc || !(fcntl(number, F_GETFD) & FD_CLOEXEC))
        return 1;
    close(number);
    process_tell(out, recv(pair[0], &about, sizeof(about), 0) == sizeof(about) ? 'y' : 'n');
    process_obey(in);
    return 0;
}

TEST_CASES(the_socket_gets_its_number, 3)
{
    static int numbers[] = {FAULTLOC_SPAWN_FD, FAULTLOC_SPAWN_FD + 1, 200};
    struct process starter;

    process_start(&starter, start_as, &numbers[_i]);
    ck_assert_int_eq(process_hear(&starter), 'y');
    process_say(&starter, '.');
    ck_assert_int_eq(process_end(&starter), 0);
}

TEST_CASE(of_the_environment_it_has_what_it_needs)
{
    int sock;

    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    setenv("XDG_RUNTIME_DIR", "/none", 1);
    setenv("LD_LIBRARY_PATH_OF_MINE", "/tmp", 1);
    setenv("SECRET", "x", 1);
    sock = start();
    hear(sock);
    ck_assert_str_eq(about.environment, "LD_LIBRARY_PATH=/nowhere\nXDG_RUNTIME_DIR=/none\n");
    end(sock);
    unsetenv("LD_LIBRARY_PATH");
    sock = start();
    hear(sock);
    ck_assert_str_eq(about.environment, "XDG_RUNTIME_DIR=/none\n");
    end(sock);
    clearenv();
    sock = start();
    hear(sock);
    ck_assert_str_eq(about.environment, "");
    end(sock);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void write_file(mode_t mode, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);

    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t) strlen(text));
    close(fd);
}

static int try(void)
{
    int pair[2], rc;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    rc = faultloc_spawn(path, pair[1]);
    close(pair[1]);
    if (rc) /* nobody has the other end */
        ck_assert_int_eq(recv(pair[0], &about, sizeof(about), 0), 0);
    close(pair[0]);
    return rc;
}

TEST_CASE(a_program_that_cannot_be_executed_is_an_error)
{
    struct sigaction count = {.sa_handler = count_signal};
    int before;

    before = process_descriptors();
    ck_assert_int_eq(sigaction(SIGCHLD, &count, NULL), 0);
    unlink(path);
    ck_assert_int_eq(try(), ENOENT);
    write_file(0600, "#!/bin/sh\n");
    ck_assert_int_eq(try(), EACCES);
    unlink(path);
    write_file(0700, "neither a script nor a program");
    ck_assert_int_eq(try(), ENOEXEC);
    ck_assert_int_eq(process_descriptors(), before);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(signals, 0);
}

TEST_CASE(a_descriptor_that_is_none_is_an_error)
{
    ck_assert_int_eq(faultloc_spawn(path, 999), EBADF);
}

/* An orphan becomes its child, whom it would see. */
TEST_CASE(a_process_that_takes_in_orphans_starts_none)
{
    int sock;

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    ck_assert_int_eq(try(), ECHILD);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
    sock = start();
    hear(sock);
    end(sock);
}

/* ---- real time ------------------------------------------------------------------------------- */

/* As an agent starts its child. */
static int start_child(bool background, pid_t *pid)
{
    char *arguments[] = {(char *) (uintptr_t) NAME, NULL};
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(faultloc_spawn_child(&(struct faultloc_spawn_child){.path = path,
                                                                         .arguments = arguments,
                                                                         .fd = pair[1],
                                                                         .input = -1,
                                                                         .output = -1,
                                                                         .background = background},
                                          pid),
                     0);
    close(pair[1]);
    return pair[0];
}

static const struct {
    int policy, priority, as_program, as_background;
} policies[] = {{SCHED_OTHER, 0, SCHED_OTHER, SCHED_BATCH},
                {SCHED_FIFO, 1, SCHED_OTHER, SCHED_BATCH},
                {SCHED_RR, 1, SCHED_OTHER, SCHED_BATCH},
                {SCHED_BATCH, 0, SCHED_BATCH, SCHED_BATCH},
                {SCHED_IDLE, 0, SCHED_IDLE, SCHED_IDLE}};

/* Who may not have real time has nothing to give back. */
TEST_CASES(real_time_is_given_back_and_all_else_stays, COUNT(policies))
{
    struct sched_param param = {.sched_priority = policies[_i].priority};
    pid_t pid;
    int sock;

    syscall(SYS_ioprio_set, 1, 0, 1 << 13 | 4); /* real time; else it is what it was */
    ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, 3), 0);
    if (sched_setscheduler(0, policies[_i].policy, &param) == 0) {
        sock = start();
        hear(sock);
        ck_assert_int_eq(about.policy, policies[_i].as_program);
        ck_assert_int_eq(about.nice, 3);
        ck_assert_int_ne(about.io_class, 1);
        end(sock);
        for (int background = 0; background < 2; background++) {
            sock = start_child(background, &pid);
            hear(sock);
            ck_assert_int_eq(about.policy, background ? policies[_i].as_background
                                                      : policies[_i].as_program);
            ck_assert_int_eq(about.nice, 3);
            ck_assert_int_ne(about.io_class, 1);
            close(sock);
            ck_assert_int_eq(waitpid(pid, NULL, __WALL), pid);
        }
        ck_assert_int_eq(sched_getscheduler(0), policies[_i].policy); /* its own stays */
    }
}

/* ---- where it is ----------------------------------------------------------------------------- */

/* Beside the file that this program is: ../libexec/NAME.  One that is there and may not be executed
 * is told, not the place where there is none. */
TEST_CASE(the_program_that_is_there_is_reported)
{
    char own[512] = "", libexec[600], expected[700], found[FAULTLOC_SPAWN_PATH];
    bool made;
    int fd;

    ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
    *strrchr(own, '/') = '\0';
    snprintf(libexec, sizeof(libexec), "%s/../libexec", own);
    snprintf(expected, sizeof(expected), "%s/faultloc-test-%d", libexec, (int) getpid());
    ck_assert_int_eq(faultloc_spawn_find(strrchr(expected, '/') + 1, found), ENOENT);
    made = mkdir(libexec, 0700) == 0;
    fd = open(expected, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(faultloc_spawn_find(strrchr(expected, '/') + 1, found), EACCES);
    ck_assert_ptr_nonnull(strstr(found, "/../libexec/faultloc-test-"));
    ck_assert_int_eq(fchmod(fd, 0700), 0);
    ck_assert_int_eq(faultloc_spawn_find(strrchr(expected, '/') + 1, found), 0);
    close(fd);
    unlink(expected);
    if (made)
        rmdir(libexec);
}

/* ---- costs ----------------------------------------------------------------------------------- */

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* The shortest of some, and of `best`: the time of the call alone. */
static int64_t shortest(int64_t best)
{
    int64_t took;
    int sock;

    for (int i = 0; i < 10; i++) {
        took = -now_us();
        sock = start();
        took += now_us();
        best = took < best ? took : best;
        hear(sock);
        end(sock);
    }
    return best;
}

/* fork(2) copies the page tables of 500 MB, which takes milliseconds. */
TEST_CASE(a_large_process_starts_it_as_quickly)
{
    const size_t size = (size_t) 500 << 20;
    int64_t small, large;
    char *memory;

    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(madvise(memory, size, MADV_NOHUGEPAGE), 0);
    small = shortest(INT64_MAX);
    for (size_t at = 0; at < size; at += 4096)
        ((volatile char *) memory)[at] = 1;
    large = shortest(INT64_MAX);
    for (int i = 0; i < 20 && large >= 3 * small; i++) /* on a busy machine */
        large = shortest(large);
    munmap(memory, size);
    ck_assert_msg(large < 3 * small, "%lld us, and %lld us with 500 MB", (long long) small,
                  (long long) large);
}

/* ---- where it is ----------------------------------------------------------------------------- */

TEST_CASE(what_is_installed_nowhere_is_not_found)
{
    char out[FAULTLOC_SPAWN_PATH] = "", name[5000];

    ck_assert_int_eq(faultloc_spawn_find("faultloc-no-such-program", out), ENOENT);
    ck_assert_ptr_nonnull(strstr(out, "/libexec/faultloc-no-such-program"));
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ck_assert_int_eq(faultloc_spawn_find(name, out), ENAMETOOLONG);
}

int main(int argc, char **argv)
{
    if (!strcmp(argv[0], NAME))
        _exit(spawned_main(argc, argv)); /* without looking for leaks, which takes long */
    return suite_run();
}

/* ---- how a child ended ----------------------------------------------------------------------- */

static const struct {
    int status, most;
    const char *why; /* NULL: it has not failed */
} ends[] = {{W_EXITCODE(0, 0), 0, NULL},
            {W_EXITCODE(1, 0), 1, NULL},
            {W_EXITCODE(1, 0), 0, "ended with code 1"},
            {W_EXITCODE(255, 0), 1, "ended with code 255"},
            {W_EXITCODE(127, 0), 1, "cannot be executed, or is not installed"},
            {W_EXITCODE(0, SIGKILL), 1, "was killed by signal 9"},
            {W_EXITCODE(0, SIGSEGV) | WCOREFLAG, 0, "was killed by signal 11"},
            {-1, 0, NULL}};

TEST_CASES(its_end_has_words, COUNT(ends))
{
    char why[64] = "";

    ck_assert_int_eq(faultloc_spawn_failed(ends[_i].status, ends[_i].most, why, sizeof(why)),
                     ends[_i].why != NULL);
    ck_assert_str_eq(why, ends[_i].why ? ends[_i].why : "");
}
