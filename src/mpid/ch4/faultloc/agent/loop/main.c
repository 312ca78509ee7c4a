/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/process/program.h"

#include "faultloc/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The process in which the agent runs.  It is started in the middle of somebody else's, and keeps
 * nothing of it but what it was given: no terminal, no signals, no descriptors, no CPU mask.
 */

#define NICE 5 /* the ranks' own work goes first */
#define OOM "/proc/self/oom_score_adj" /* see proc(5) */
#define OOM_RAISED 1000 /* counts as the whole memory: above any that is not raised, too */

static const char usage[] =
    "Usage: " FAULTLOC_PROGRAM_NAME "\n"
    "\n"
    "The agent of a node. It monitors the ranks that an MPI job with MPIR_CVAR_FAULTLOC=1 has on\n"
    "this node. MPI_Init starts it; it cannot be started by hand.\n"
    "\n"
    "Exit code: 0 the job has ended, 1 it could not be set up, 2 not started by MPI_Init.\n";

static bool is_started_by_rank(void)
{
    struct stat st;

    return fstat(FAULTLOC_SPAWN_FD, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Standard input is not its own; standard output and error will be, for reports, once it is
 * ready. */
static void take_descriptors(void)
{
    const int kept[] = {FAULTLOC_SPAWN_FD};
    int null;

    faultloc_program_close_others(kept, 1);
    close(STDIN_FILENO);
    do /* each of the three that is closed is the lowest number that is free */
        null = open("/dev/null", O_RDWR);
    while (null >= 0 && null <= STDERR_FILENO);
    if (null >= 0)
        close(null);
    faultloc_start_keep_output();
}

/* SIGTERM is the agent's; all others are meant for the ranks, or for a terminal that it has not. */
static void take_signals(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
                                  SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGTERM, SIGXCPU, SIGXFSZ};
    sigset_t none;

    for (int signal_ = 1; signal_ < NSIG; signal_++)
        signal(signal_, SIG_DFL);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A rank may be bound to one core, where it computes. */
static void take_cpus(void)
{
    cpu_set_t all;

    memset(&all, 0xff, sizeof(all));
    sched_setaffinity(0, sizeof(all), &all); /* the kernel leaves out what the job may not use */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
}

/* Where memory is short the kernel is to end FaultLoc's processes before the job's, which have the
 * value that is inherited here.  The deputy has it by fork, what the agent starts as well. */
static void be_ended_first(void)
{
    FILE *f = fopen(OOM, "re+");
    int inherited = 0;

    if (!f)
        return;
    if (fscanf(f, "%d", &inherited) == 1 && inherited < OOM_RAISED) {
        rewind(f);
        fprintf(f, "%d", inherited < 0 ? inherited + OOM_RAISED : OOM_RAISED);
    }
    fclose(f);
}

static void raise_limits(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static void become_agent(void)
{
    setsid();
    take_descriptors();
    take_signals();
    take_cpus();
    raise_limits();
    be_ended_first(); /* only while it is dumpable */
    mallopt(M_ARENA_MAX, 1); /* a thread that writes needs no megabytes of its own */
    (void) !chdir("/");
    prctl(PR_SET_NAME, FAULTLOC_PROGRAM_NAME, 0, 0, 0);
    /* no core file and no debugger of the user's other processes: it has the job's key */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    static struct faultloc_program program;
    struct faultloc_start start;
    int rc;

    if (argc > 1 || !is_started_by_rank()) {
        fputs(usage, argc > 1 && !strcmp(argv[1], "--help") ? stdout : stderr);
        return argc > 1 && !strcmp(argv[1], "--help") ? 0 : 2;
    }
    become_agent();
    rc = sodium_init() < 0 ? ENOSYS : faultloc_start_take(FAULTLOC_SPAWN_FD, &start);
    if (!rc) {
        rc = faultloc_program_init(&program, &start);
        sodium_memzero(&start, sizeof(start));
        program.start = FAULTLOC_SPAWN_FD;
        if (rc)
            faultloc_start_answer(FAULTLOC_SPAWN_FD, rc);
    }
    while (!rc) { /* the child of an agent is its deputy, and the next agent after it */
        faultloc_agent_run(&program);
        faultloc_deputy_run(&program);
    }
    return 1;
}
