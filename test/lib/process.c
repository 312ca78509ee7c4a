/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "process.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t process_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

void process_pause(void)
{
    poll(NULL, 0, 1);
}

static void on_tick(int number)
{
    (void) number;
}

void process_tick(int us)
{
    struct itimerval t = {.it_interval = {.tv_usec = us}, .it_value = {.tv_usec = us}};

    signal(SIGALRM, on_tick);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &t, NULL), 0);
}

void process_start(struct process *p, int (*body)(int in, int out, void *arg), void *arg)
{
    int to[2], from[2];
    pid_t test = getpid();

    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(pipe(from), 0);
    p->pid = fork();
    ck_assert_int_ge(p->pid, 0);
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != test)
            _exit(1);
        close(to[1]);
        close(from[0]);
        _exit(body(to[0], from[1], arg));
    }
    close(to[0]);
    close(from[1]);
    p->to = to[1];
    p->from = from[0];
}

void process_say(const struct process *p, char word)
{
    ck_assert_int_eq(write(p->to, &word, 1), 1);
}

char process_hear(const struct process *p)
{
    struct pollfd fd = {.fd = p->from, .events = POLLIN};
    char word;

    ck_assert_msg(poll(&fd, 1, PROCESS_DEADLINE_MS) == 1, "process %d says nothing", (int) p->pid);
    ck_assert_msg(read(p->from, &word, 1) == 1, "process %d has ended", (int) p->pid);
    return word;
}

char process_obey(int in)
{
    char word;
    ssize_t n;

    do
        n = read(in, &word, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(0);
    return word;
}

void process_tell(int out, char word)
{
    if (write(out, &word, 1) != 1)
        _exit(1);
}

void process_stop(const struct process *p)
{
    int status;

    ck_assert_int_eq(kill(p->pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(p->pid, &status, WUNTRACED), p->pid);
    ck_assert(WIFSTOPPED(status));
}

void process_continue(const struct process *p)
{
    int status;

    ck_assert_int_eq(kill(p->pid, SIGCONT), 0);
    ck_assert_int_eq(waitpid(p->pid, &status, WCONTINUED), p->pid);
}

static int bury(struct process *p)
{
    int status;

    ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
    p->pid = 0;
    close(p->to);
    close(p->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void process_kill(struct process *p)
{
    if (p->pid == 0)
        return;
    kill(p->pid, SIGKILL);
    bury(p);
}

bool process_is_alive(const struct process *p)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t) p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

static bool is_named(pid_t pid, const char *task, const char *name)
{
    char path[320], text[32] = "";
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int) pid, task);
    f = fopen(path, "r");
    if (f && fgets(text, sizeof(text), f))
        text[strcspn(text, "\n")] = '\0';
    if (f)
        fclose(f);
    return strcmp(text, name) == 0;
}

int process_threads(pid_t pid, const char *name)
{
    char path[64];
    struct dirent *e;
    int n = 0;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
    d = opendir(path);
    while (d && (e = readdir(d)))
        n += is_named(pid, e->d_name, name);
    if (d)
        closedir(d);
    return n;
}

int process_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static struct rlimit before;

void process_take_descriptors(void)
{
    struct rlimit none;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
}

void process_give_descriptors(void)
{
    setrlimit(RLIMIT_NOFILE, &before);
}

void process_forbid(int call, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned) call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = filter};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

void process_fill(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    char bytes[4096];

    memset(bytes, '#', sizeof(bytes));
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, bytes, sizeof(bytes)) > 0)
        ;
    fcntl(fd, F_SETFL, flags);
}

int process_end(struct process *p)
{
    UNTIL(!process_is_alive(p));
    return bury(p);
}
