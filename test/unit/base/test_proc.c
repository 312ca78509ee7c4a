/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What /proc says: on files made up by the test, on this process, and on children that are stopped
 * and killed.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/proc.h"
#include "files.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What stands behind the state letter, up to field 22, the start time. */
#define FIELDS " 1 42 42 0 -1 4194560 96 0 0 0 11 22 0 0 20 0 5 0 "

/* ---- parsing ------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int error;
    char state;
    unsigned threads;
    uint64_t start;
    const char *comm;
} parse_table[] = {
    {"42 (app) S" FIELDS "777 1 2 3\n", 0, 'S', 5, 777, "app"},
    {"42 (app) T" FIELDS "0 1\n", 0, 'T', 5, 0, "app"},
    {"42 (a b) D" FIELDS "777 1\n", 0, 'D', 5, 777, "a b"},
    {"42 () Z" FIELDS "777 1\n", 0, 'Z', 5, 777, ""},
    {"42 (a) R 1 2) t" FIELDS "777 1\n", 0, 't', 5, 777, "a) R 1 2"},
    {"42 (\n) S" FIELDS "777 1\n", 0, 'S', 5, 777, "\n"},
    {"42 ((((()) R" FIELDS "18446744073709551615 1\n", 0, 'R', 5, UINT64_MAX, "(((()"},
    {"42 (%s%n\xff) R" FIELDS "777 1\n", 0, 'R', 5, 777, "%s%n\xff"},
    {"42 (0123456789012345678901234567890123456789012345678901234567890123456789) R" FIELDS
     "777 1\n",
     0, 'R', 5, 777, "012345678901234567890123456789012345678901234567890123456789012"},
    {"", EBADMSG, 0, 0, 0, NULL},
    {"42", EBADMSG, 0, 0, 0, NULL},
    {"42 ", EBADMSG, 0, 0, 0, NULL},
    {"42 (", EBADMSG, 0, 0, 0, NULL},
    {"42 (app", EBADMSG, 0, 0, 0, NULL},
    {"42 (app)", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) ", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S ", EBADMSG, 0, 0, 0, NULL},
    {"42 app) S" FIELDS "777 1\n", EBADMSG, 0, 0, 0, NULL},
    {"43 (app) S" FIELDS "777 1\n", EBADMSG, 0, 0, 0, NULL},
    {"-42 (app) S" FIELDS "777 1\n", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) SS" FIELDS "777 1\n", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) 7" FIELDS "777 1\n", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S" FIELDS, EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S" FIELDS "777", EBADMSG, 0, 0, 0, NULL}, /* cut off: may be 7770 */
    {"42 (app) S" FIELDS "x77 1\n", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S" FIELDS "-77 1\n", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S" FIELDS "18446744073709551616 1\n", EBADMSG, 0, 0, 0, NULL},
    {"42 (app) S 1 42 42 0 -1 4194560 96 0 0 0 11 22 0 0 20 0 4294967296 0 777 1\n", EBADMSG, 0, 0,
     0, NULL},
    {"42 (app) S 1 2 3\n", EBADMSG, 0, 0, 0, NULL},
};

TEST_CASES(parse, COUNT(parse_table))
{
    struct faultloc_proc proc = {.state = '?'};
    const char *text = parse_table[_i].text;
    /* In memory of just that size, so that a sanitizer sees a step too far. */
    char *bytes = malloc(strlen(text) + 1);

    memcpy(bytes, text, strlen(text));
    char *exact = realloc(bytes, strlen(text) ? strlen(text) : 1);
    ck_assert_int_eq(faultloc_proc_parse(exact, strlen(text), 42, &proc), parse_table[_i].error);
    if (parse_table[_i].error) {
        ck_assert_int_eq(proc.state, '?');
    } else {
        ck_assert_int_eq(proc.state, parse_table[_i].state);
        ck_assert_uint_eq(proc.threads, parse_table[_i].threads);
        ck_assert_uint_eq(proc.start, parse_table[_i].start);
        ck_assert_str_eq(proc.comm, parse_table[_i].comm);
    }
    free(exact);
}

/* Every shorter piece of a good file is refused, up to the one that holds the start time. */
TEST_CASE(parse_each_prefix)
{
    static const char text[] = "42 (app) S" FIELDS "777 1 2 3\n";
    const size_t enough = strlen(text) - strlen("1 2 3\n");
    struct faultloc_proc proc;

    for (size_t len = 0; len < sizeof(text); len++) {
        char *exact = malloc(len ? len : 1);
        memcpy(exact, text, len);
        ck_assert_int_eq(faultloc_proc_parse(exact, len, 42, &proc), len < enough ? EBADMSG : 0);
        free(exact);
    }
}

/* ---- files --------------------------------------------------------------------------------- */

BEFORE_EACH
{
    files_begin();
}

static void write_state(char state, unsigned threads, uint64_t start)
{
    char text[256];

    snprintf(text, sizeof(text),
             "42 (app) %c 1 42 42 0 -1 0 96 0 0 0 11 22 0 0 20 0 %u 0 %llu 1 2\n", state, threads,
             (unsigned long long) start);
    files_write("42/stat", text);
}

static const struct {
    char state;
    unsigned threads;
    uint64_t asked;
    enum faultloc_proc_fate fate;
} fate_table[] = {
    {'R', 1, 777, FAULTLOC_PROC_LIVES},   {'S', 1, 777, FAULTLOC_PROC_LIVES},
    {'S', 1, 0, FAULTLOC_PROC_LIVES},     {'I', 1, 777, FAULTLOC_PROC_LIVES},
    {'D', 1, 777, FAULTLOC_PROC_LIVES}, {'T', 1, 777, FAULTLOC_PROC_LIVES},
    {'t', 1, 777, FAULTLOC_PROC_LIVES}, {'Z', 1, 777, FAULTLOC_PROC_GONE},
    {'Z', 0, 777, FAULTLOC_PROC_GONE},    {'Z', 2, 777, FAULTLOC_PROC_LIVES},
    {'X', 1, 777, FAULTLOC_PROC_GONE},    {'x', 1, 777, FAULTLOC_PROC_GONE},
    {'S', 1, 778, FAULTLOC_PROC_GONE}, /* another's number now */
    {'T', 1, 778, FAULTLOC_PROC_GONE},
};

TEST_CASES(fate, COUNT(fate_table))
{

    write_state(fate_table[_i].state, fate_table[_i].threads, 777);
    ck_assert_int_eq(faultloc_proc_fate(files_root, 42, fate_table[_i].asked), fate_table[_i].fate);
}

/* Fields 23 to 30, and 32 to 38. */
#define TO_PENDING "1 2 3 4 5 6 7 8 "
#define TO_PROCESSOR "0 0 0 0 0 0 17 "

static const struct {
    const char *text;
    bool ending;
    int processor;
} ending_table[] = {
    {"42 (app) S" FIELDS "777 " TO_PENDING "0 " TO_PROCESSOR "3 0\n", false, 3},
    {"42 (app) S" FIELDS "777 " TO_PENDING "256 " TO_PROCESSOR "3 0\n", true, 3}, /* SIGKILL */
    {"42 (app) R" FIELDS "777 " TO_PENDING "16640 " TO_PROCESSOR "3 0\n", true,
     3}, /* and SIGTERM */
    {"42 (app) S" FIELDS "777 " TO_PENDING "16384 " TO_PROCESSOR "3 0\n", false, 3}, /* it alone */
    {"42 (app) R 1 42 42 0 -1 4194564 96 0 0 0 11 22 0 0 20 0 5 0 777 " TO_PENDING "0 " TO_PROCESSOR
     "3 0\n",
     true, 3}, /* PF_EXITING */
    {"42 (app) S" FIELDS "777 " TO_PENDING "256 0\n", true, -1},
    {"42 (app) S" FIELDS "777 " TO_PENDING "x " TO_PROCESSOR "3 0\n", false, -1},
    {"42 (app) S" FIELDS "777 " TO_PENDING "\n", false, -1},
};

TEST_CASES(one_that_is_killed_is_ending, COUNT(ending_table))
{
    struct faultloc_proc proc;
    const char *text = ending_table[_i].text;

    ck_assert_int_eq(faultloc_proc_parse(text, strlen(text), 42, &proc), 0);
    ck_assert_int_eq(proc.ending, ending_table[_i].ending);
    ck_assert_int_eq(proc.processor, ending_table[_i].processor);
}

TEST_CASE(no_such_process)
{
    struct faultloc_proc proc;

    ck_assert_int_eq(faultloc_proc_read(files_root, 43, &proc), ESRCH);
    ck_assert_int_eq(faultloc_proc_read(files_root, 0, &proc), ESRCH);
    ck_assert_int_eq(faultloc_proc_read(files_root, -1, &proc), ESRCH);
    ck_assert_int_eq(faultloc_proc_fate(files_root, 43, 777), FAULTLOC_PROC_GONE);
}

TEST_CASE(nonsense_instead_of_a_file)
{
    static char big[1 << 20], zeros[4096];
    struct faultloc_proc proc;
    FILE *f;

    memset(big, '(', sizeof(big) - 1);
    files_write("42/stat", big);
    ck_assert_int_eq(faultloc_proc_read(files_root, 42, &proc), EBADMSG);
    ck_assert_int_eq(faultloc_proc_fate(files_root, 42, 777), FAULTLOC_PROC_UNKNOWN);
    files_write("42/stat", "");
    ck_assert_int_eq(faultloc_proc_read(files_root, 42, &proc), EBADMSG);
    f = fopen(files_path("42/stat"), "w");
    ck_assert_uint_eq(fwrite(zeros, 1, sizeof(zeros), f), sizeof(zeros));
    fclose(f);
    ck_assert_int_eq(faultloc_proc_read(files_root, 42, &proc), EBADMSG);

    /* A pipe without a writer does not hold the reader up. */
    unlink(files_path("42/stat"));
    ck_assert_int_eq(mkfifo(files_path("42/stat"), 0600), 0);
    ck_assert_int_ne(faultloc_proc_read(files_root, 42, &proc), 0);
    memset(big, 'r', sizeof(big) - 1);
    ck_assert_int_eq(faultloc_proc_read(big, 42, &proc), ENAMETOOLONG);
}

/* ---- real processes ------------------------------------------------------------------------ */

TEST_CASE(this_process)
{
    struct faultloc_proc proc;

    ck_assert_int_eq(faultloc_proc_read(NULL, getpid(), &proc), 0);
    ck_assert_int_eq(proc.state, 'R');
    ck_assert_uint_eq(proc.threads, 1);
    ck_assert_uint_gt(proc.start, 0);
    /* A process may call itself what it likes. */
    ck_assert_int_eq(prctl(PR_SET_NAME, "x) Z (1 2\n3) T"), 0);
    ck_assert_int_eq(faultloc_proc_read(NULL, getpid(), &proc), 0);
    ck_assert_int_eq(proc.state, 'R');
    ck_assert_str_eq(proc.comm, "x) Z (1 2\n3) T");
}

static pid_t start_child(void)
{
    pid_t pid = check_fork();

    ck_assert_int_ge(pid, 0);
    while (pid == 0)
        pause();
    return pid;
}

TEST_CASE(child_is_stopped_goes_on_and_is_killed)
{
    struct faultloc_proc proc;
    int status;
    pid_t pid = start_child();

    ck_assert_int_eq(faultloc_proc_read(NULL, pid, &proc), 0);
    kill(pid, SIGSTOP);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert_int_eq(faultloc_proc_fate(NULL, pid, proc.start), FAULTLOC_PROC_LIVES);
    kill(pid, SIGCONT);
    ck_assert_int_eq(waitpid(pid, &status, WCONTINUED), pid);
    ck_assert_int_eq(faultloc_proc_fate(NULL, pid, proc.start), FAULTLOC_PROC_LIVES);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t) pid, NULL, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(faultloc_proc_fate(NULL, pid, proc.start), FAULTLOC_PROC_GONE); /* not waited for yet */
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(faultloc_proc_fate(NULL, pid, proc.start), FAULTLOC_PROC_GONE);
}

TEST_CASE(descriptor_tells_the_end)
{
    pid_t pid = start_child();
    int fd = faultloc_proc_pidfd(pid);

    if (fd < 0) {
        ck_assert_int_eq(errno, ENOSYS);
    } else {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ck_assert_int_eq(poll(&p, 1, 0), 0);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        kill(pid, SIGKILL);
        ck_assert_int_eq(poll(&p, 1, 30000), 1);
        close(fd);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(faultloc_proc_pidfd(pid), -1);
    ck_assert(errno == ESRCH || errno == ENOSYS);
}

/* A child that has ended in one of these ways, and is not waited for. */
static const int ends[] = {0, 3, 255, -SIGKILL, -SIGUSR1};

static pid_t end_child(int how)
{
    pid_t pid = check_fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0 && how >= 0)
        _exit(how);
    while (pid == 0)
        pause();
    if (how < 0)
        kill(pid, -how);
    ck_assert_int_eq(waitid(P_PID, (id_t) pid, NULL, WEXITED | WNOWAIT), 0);
    return pid;
}

static bool is_end(int status, int how)
{
    return how >= 0 ? WIFEXITED(status) && WEXITSTATUS(status) == how
                    : WIFSIGNALED(status) && WTERMSIG(status) == -how;
}

TEST_CASES(how_a_process_has_ended_is_known_until_it_is_waited_for, COUNT(ends))
{
    int how = ends[_i], status = -1, fd;
    pid_t pid = end_child(how);

    fd = faultloc_proc_pidfd(pid);
    ck_assert(faultloc_proc_status(-1, pid, &status) && is_end(status, how));
    status = -1;
    ck_assert(faultloc_proc_status(fd, pid, &status) && is_end(status, how));
    waitpid(pid, NULL, 0);
    ck_assert(!faultloc_proc_status(-1, pid, &status));
    /* where the kernel keeps it, also afterwards */
    status = -1;
    if (faultloc_proc_status(fd, pid, &status))
        ck_assert(is_end(status, how));
    else
        ck_assert_int_eq(status, -1);
    if (fd >= 0)
        close(fd);
}

TEST_CASE(a_process_that_lives_has_no_end)
{
    pid_t pid = start_child();
    int fd = faultloc_proc_pidfd(pid), status = -1;

    ck_assert(!faultloc_proc_status(fd, pid, &status));
    ck_assert(!faultloc_proc_status(-1, pid, &status));
    ck_assert(!faultloc_proc_status(-1, 1 << 30, &status)); /* nobody has this number */
    ck_assert_int_eq(status, -1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (fd >= 0)
        close(fd);
}

/* In a child, where /proc is an empty folder: what became of itself, and of a number that nobody
 * has.  Exit code 2: cannot be made so here. */
static int fate_without_proc(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", "/proc", "tmpfs", 0, NULL))
        return 2;
    return faultloc_proc_fate(NULL, getpid(), 0) == FAULTLOC_PROC_UNKNOWN &&
                   faultloc_proc_fate(NULL, 1 << 30, 0) == FAULTLOC_PROC_GONE
               ? 0
               : 1;
}

/* A process that the kernel knows is not gone because /proc does not show it. */
TEST_CASE(what_proc_hides_is_not_gone)
{
    int status;
    pid_t pid = check_fork();

    if (pid == 0)
        _exit(fate_without_proc());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_ne(WEXITSTATUS(status), 1);
}

static const struct {
    const char *line;
    long number;
} call_rows[] = {{"0 0x3 0x7ffd 0x1 0x0 0x0 0x0 0x7fff10 0x7f1234", 0},
                 {"running", -2},
                 {"-1 0x7fff10 0x7f1234", -1}, /* waits in no call: stopped, or for a page */
                 {"0 0x3 0x7ffd", -2},
                 {"-1 0x7fff10", -2},
                 {"", -2}};

TEST_CASES(a_line_of_syscall_is_read, COUNT(call_rows))
{
    struct faultloc_proc_call c = {.number = -2};
    bool is = faultloc_proc_call_parse(call_rows[_i].line, &c);

    ck_assert_int_eq(is, call_rows[_i].number >= -1);
    if (!is)
        return;
    ck_assert_int_eq(c.number, call_rows[_i].number);
    ck_assert_uint_eq(c.sp, 0x7fff10);
    ck_assert_uint_eq(c.pc, 0x7f1234);
    if (c.number >= 0)
        ck_assert_int_eq(c.arg[0], 3);
}

/* ---- threads ------------------------------------------------------------------------------- */

#define LOCK 0x1000

/* What the second thread of process 42, number 44, is in; the first is known. */
static const struct {
    const char *syscall; /* its arguments; the call is futex, unless there is a number before */
    const char *comm;
    bool sleeps;
} thread_table[] = {
    {" 0x5000 0x80 0x2 0x0 0x0 0x0 0x1 0x2\n", "app\n", true}, /* a lock, or a condition */
    {" 0x5000 0x189 0x0 0x0 0x0 0xffffffff 0x1 0x2\n", "app\n", true},
    {" 0x5000 0x189 0x0 0x7ffe 0x0 0xffffffff 0x1 0x2\n", "app\n", false}, /* a timeout */
    {" 0x5000 0x109 0x2b 0x0 0x0 0xffffffff 0x1 0x2\n", "app\n", true}, /* joins thread 43 */
    {" 0x5000 0x109 0x2d 0x0 0x0 0xffffffff 0x1 0x2\n", "app\n", false}, /* of another process */
    {" 0x1008 0x80 0x2 0x0 0x0 0x0 0x1 0x2\n", "app\n", false}, /* for MPI's lock */
    {" 0x1010 0x80 0x2 0x0 0x0 0x0 0x1 0x2\n", "app\n", true}, /* behind it */
    {" 0x5000 0x81 0x1 0x0 0x0 0x0 0x1 0x2\n", "app\n", false}, /* wakes others */
    {"running\n", "app\n", false},
    {"-1 0x1 0x2\n", "app\n", false},
    {"", "app\n", false},
    {"35 0x5000 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n", "app\n", false}, /* another call */
    {"running\n", "async\n", false}, /* any thread may have that name */
};

static void make_threads(const char *text, const char *comm)
{
    char line[256];

    snprintf(line, sizeof(line), "%.0ld%s", text[0] == ' ' ? (long) SYS_futex : 0L, text);
    files_write("42/task/43/comm", "app\n");
    files_write("42/task/44/comm", comm);
    files_write("42/task/44/syscall", line);
    files_write("42/task/44/status", "Name:\tapp\nvoluntary_ctxt_switches:\t17\nnon:\t3\n");
}

static void make_child(const char *list, char state, int threads)
{
    char text[256];

    files_write("42/task/44/children", list);
    snprintf(text, sizeof(text),
             "45 (sh) %c 42 45 45 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 777 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
             "0 17 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             state, threads);
    files_write("45/stat", text);
}

TEST_CASE(thread_by_name)
{
    make_threads("running\n", "async\n");
    ck_assert_int_eq(faultloc_proc_thread(files_root, 42, "async"), 44);
    ck_assert_int_eq(faultloc_proc_thread(files_root, 42, "asyn"), 0);
    ck_assert_int_eq(faultloc_proc_thread(files_root, 41, "async"), 0);
    files_write("42/task/43/comm", "async\n");
    ck_assert_int_eq(faultloc_proc_thread(files_root, 42, "async"), 0);
}

TEST_CASES(threads_that_others_wake, COUNT(thread_table))
{
    const pid_t known = 43, both[] = {43, 44};
    uint64_t switches;

    make_threads(thread_table[_i].syscall, thread_table[_i].comm);
    ck_assert(thread_table[_i].sleeps ==
              faultloc_proc_others_sleep(files_root, 42, &known, 1, (void *) LOCK, 16, &switches));
    if (thread_table[_i].sleeps)
        ck_assert_uint_eq(switches, 17);
    ck_assert(faultloc_proc_others_sleep(files_root, 42, both, 2, (void *) LOCK, 16, &switches));
    ck_assert(!faultloc_proc_others_sleep(files_root, 42, both, 0, (void *) LOCK, 16, &switches));
    ck_assert(!faultloc_proc_others_sleep(files_root, 41, both, 2, (void *) LOCK, 16, &switches));
}

TEST_CASES(a_thread_that_runs, COUNT(thread_table))
{
    const pid_t known = 43, both[] = {43, 44};

    make_threads(thread_table[_i].syscall, thread_table[_i].comm);
    ck_assert(faultloc_proc_any_runs(files_root, 42, &known, 1) ==
              !strcmp(thread_table[_i].syscall, "running\n"));
    ck_assert(!faultloc_proc_any_runs(files_root, 42, both, 2));
    ck_assert(!faultloc_proc_any_runs(files_root, 41, &known, 1));
}

/* The first thread is in a call of descriptor 3, "TARGET". */
static const struct {
    long call;
    const char *target, *wchan, *words;
} sleeps[] = {
    {SYS_flock, "/tmp/lock", "locks_lock_inode_wait", "/tmp/lock"},
    {SYS_read, "/tmp/fi\tfo", "pipe_read", "/tmp/fi?fo"},
    {SYS_read, "socket:[17]", "sk_wait_data", ""},
    {SYS_futex, "/tmp/lock", "futex_wait_queue", ""}, /* its first argument is no descriptor */
    {SYS_read, "pipe:[17]", "pipe_read", "child 45 (sh), asleep in a pipe (pipe_write)"},
    {SYS_wait4, "/tmp/lock", "do_wait", "child 45 (sh), asleep in a pipe (pipe_write)"}, /* no file */
};

TEST_CASES(what_it_sleeps_for, COUNT(sleeps))
{
    char line[64], words[96];

    make_threads("running\n", "app\n");
    ck_assert_int_eq(symlink(sleeps[_i].target, files_path("42/fd/3")), 0);
    snprintf(line, sizeof(line), "%ld 0x3 0x2 0x0 0x0 0x0 0x0 0x1 0x2\n", sleeps[_i].call);
    files_write("42/task/42/syscall", line);
    make_child("45 ", 'S', 1);
    files_write("42/task/42/children", "45 ");
    files_write("45/wchan", "pipe_write");
    faultloc_proc_sleeps_on(files_root, 42, sleeps[_i].wchan, words, sizeof(words));
    ck_assert_str_eq(words, sleeps[_i].words);
    faultloc_proc_sleeps_on(files_root, 41, sleeps[_i].wchan, words, sizeof(words));
    ck_assert_str_eq(words, "");
}

static const struct {
    const char *list;
    char state;
    int threads;
    bool lives;
} children[] = {
    {"45 ", 'S', 1, true},
    {"46 45 ", 'R', 1, true},
    {"45 ", 'Z', 1, false},
    {"45 ", 'Z', 2, true}, /* its main() has called pthread_exit() */
    {"46 ", 'S', 1, false},
    {"", 'S', 1, false},
    {"x", 'S', 1, false},
};

TEST_CASES(a_child_that_lives, COUNT(children))
{
    make_threads("running\n", "app\n");
    ck_assert(!faultloc_proc_has_child(files_root, 42));
    make_child(children[_i].list, children[_i].state, children[_i].threads);
    ck_assert(faultloc_proc_has_child(files_root, 42) == children[_i].lives);
    ck_assert(!faultloc_proc_has_child(files_root, 41));
}

/* A group that is over its soft limit only slows its processes. */
TEST_CASE(who_waits_for_memory)
{
    ck_assert(faultloc_proc_awaits_memory("mem_cgroup_oom_synchronize"));
    ck_assert(!faultloc_proc_awaits_memory("mem_cgroup_handle_over_high"));
    ck_assert(!faultloc_proc_awaits_memory("folio_wait_bit_common"));
    ck_assert(!faultloc_proc_awaits_memory(""));
}

static const struct {
    const char *wchan, *word;
} places[] = {{"futex_wait_queue", "a lock"},
              {"futex_wait_queue_me", "a lock"},
              {"hrtimer_nanosleep", "a sleep"},
              {"anon_pipe_read", "a pipe"},
              {"pipe_read", "a pipe"},
              {"pipe_wait", "a pipe"},
              {"unix_stream_read_generic", "a socket"},
              {"sk_wait_data", "a socket"},
              {"poll_schedule_timeout.constprop.0", "a poll"},
              {"locks_lock_inode_wait", "a file lock"},
              {"fcntl_setlk", "a file lock"},
              {"do_wait", "a wait for a child"},
              {"do_sigtimedwait", "a signal"},
              {"wait_for_vfork_done", "vfork"},
              {"mem_cgroup_oom_synchronize", "a memory limit"},
              {"mem_cgroup_handle_over_high", "a memory limit"},
              {"folio_wait_bit_common", "files"},
              {"blk_mq_get_tag", "files"},
              {"jbd2_log_wait_commit", "files"},
              {"request_wait_answer", "FUSE"},
              {"fuse_dev_do_read", "FUSE"},
              {"nfs_wait_bit_killable", "NFS"},
              {"rpc_wait_bit_killable", "NFS"},
              {"ptlrpc_set_wait", "Lustre"},
              {"swap_readpage", "swap"},
              {"nvidia_ioctl", "a driver"},
              {"mlx5_cmd_exec", "a driver"},
              {"nvme_submit_sync_cmd", ""},
              {"fuse", ""},
              {"", ""}};

TEST_CASES(what_it_waits_in, COUNT(places))
{
    ck_assert_str_eq(faultloc_proc_place_name(faultloc_proc_waits_in(places[_i].wchan)),
                     places[_i].word);
}

static const struct {
    char state;
    const char *wchan;
    bool frozen;
} frozen[] = {{'D', "__refrigerator", true},
              {'D', "futex_do_wait", true},
              {'D', "hrtimer_nanosleep", true},
              {'D', "ep_poll", true},
              {'D', "do_epoll_wait", true},
              {'D', "do_sigtimedwait", true},
              {'D', "anon_pipe_read", false},
              {'D', "do_epoll_ctl", false},
              {'D', "request_wait_answer", false},
              {'D', "folio_wait_bit_common", false},
              {'D', "", false},
              {'D', "get_signal", false},
              {'S', "get_signal", true},
              {'S', "do_freezer_trap", true},
              {'S', "futex_do_wait", false},
              {'S', "", false},
              {'R', "get_signal", false},
              {'T', "do_signal_stop", false}};

TEST_CASES(who_is_frozen, COUNT(frozen))
{
    ck_assert(faultloc_proc_is_frozen(frozen[_i].state, frozen[_i].wchan) == frozen[_i].frozen);
}
