/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/ending.h"

#include "suite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What may end the sleep of a process, by real ones.  Each sleeps for as long as it is looked at. */

#define LONG 1000

static int out_pipe[2]; /* of which nobody writes anything */
static char byte[256];

static void handle(int number)
{
    (void) number;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void read_input(void) { (void) !read(0, byte, 1); }
static void read_line(void) { (void) !fgets(byte, 2, stdin); }

static void read_copy_of_input(void)
{
    int fd = dup(0);

    close(out_pipe[0]);
    (void) !read(fd, byte, 1);
}

static void read_terminal(void)
{
    int fd = posix_openpt(O_RDWR), other;

    if (fd < 0 || grantpt(fd) || unlockpt(fd) || (other = open(ptsname(fd), O_RDWR)) < 0)
        _exit(77);
    (void) !read(other, byte, 1);
}

static void poll_input(void)
{
    struct pollfd fds[] = {{.fd = out_pipe[0], .events = POLLIN}, {.fd = 0, .events = POLLIN}};

    (void) poll(fds, 2, -1);
}

static void select_input(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(0, &set);
    FD_SET(out_pipe[0], &set);
    (void) select(out_pipe[0] + 1, &set, NULL, NULL, NULL);
}

static void sleep_long(void) { sleep(LONG); }
static void usleep_long(void) { usleep(LONG * 1000000u); }
static void poll_nothing(void) { (void) poll(NULL, 0, LONG * 1000); }

static void poll_pipe_for_a_time(void)
{
    struct pollfd fds = {.fd = out_pipe[0], .events = POLLIN};

    (void) poll(&fds, 1, LONG * 1000);
}

static void poll_pipe(void)
{
    struct pollfd fds = {.fd = out_pipe[0], .events = POLLIN};

    (void) poll(&fds, 1, -1);
}

static void select_for_a_time(void)
{
    struct timeval t = {.tv_sec = LONG};

    (void) select(0, NULL, NULL, NULL, &t);
}

static void epoll_for(int ms)
{
    struct epoll_event event;

    (void) epoll_wait(epoll_create1(0), &event, 1, ms);
}

static void epoll_for_a_time(void) { epoll_for(LONG * 1000); }
static void epoll_for_ever(void) { epoll_for(-1); }

static void epoll_input(void)
{
    struct epoll_event of_pipe = {.events = EPOLLIN, .data.fd = out_pipe[0]},
                       of_input = {.events = EPOLLIN}, event;
    int fd = epoll_create1(0);

    epoll_ctl(fd, EPOLL_CTL_ADD, out_pipe[0], &of_pipe);
    epoll_ctl(fd, EPOLL_CTL_ADD, 0, &of_input);
    (void) epoll_wait(fd, &event, 1, -1);
}

static sem_t empty;

static void wait_for_semaphore_for_a_time(void)
{
    struct timespec t = {.tv_sec = time(NULL) + LONG};

    sem_init(&empty, 0, 0);
    (void) sem_timedwait(&empty, &t);
}

static void wait_for_semaphore(void)
{
    sem_init(&empty, 0, 0);
    (void) sem_wait(&empty);
}

static void wait_for_semaphore_with_handler(void)
{
    signal(SIGALRM, handle);
    wait_for_semaphore();
}

/* As UCX and MPICH do in each rank. */
static void wait_for_semaphore_with_handlers_of_mpi(void)
{
    signal(SIGHUP, handle);
    signal(SIGUSR1, handle);
    signal(SIGSEGV, handle);
    wait_for_semaphore();
}

/* Of gfortran's runtime library the mask is 418004fc; and Python's. */
static void wait_for_semaphore_with_handlers_of_languages(void)
{
    static const int numbers[] = {SIGINT, SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                  SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], handle);
    wait_for_semaphore();
}

static void read_pipe(void) { (void) !read(out_pipe[0], byte, 1); }

static void read_pipe_with_handler(void)
{
    signal(SIGTERM, handle);
    read_pipe();
}

static void read_timer(void)
{
    struct itimerspec t = {.it_value.tv_sec = LONG};
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);

    timerfd_settime(fd, 0, &t, NULL);
    (void) !read(fd, byte, sizeof(uint64_t));
}

static void read_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    (void) !read(signalfd(-1, &set, 0), byte, sizeof(byte));
}

static void pause_for_ever(void) { pause(); }

static void wait_for_signal(void)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    (void) sigwait(&set, &number);
}

static void suspend(void)
{
    sigset_t set;

    sigemptyset(&set);
    (void) sigsuspend(&set);
}

static void wait_for_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        sleep(LONG);
        _exit(0);
    }
    (void) waitpid(pid, NULL, 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_twice(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}

static void lock_twice_with_handler(void)
{
    signal(SIGTERM, handle);
    lock_twice();
}

static void lock_again(pthread_mutexattr_t *kind)
{
    pthread_mutex_t mutex;

    pthread_mutex_init(&mutex, kind);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

static void lock_robust_twice(void)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    lock_again(&kind);
}

/* Twice by one thread is an error to the kernel. */
static pthread_mutex_t inheriting;

static void lock_inheriting(void) { pthread_mutex_lock(&inheriting); }

static void *in_thread(void *arg)
{
    (*(void (**)(void)) arg)();
    return NULL;
}

static void join(void (*call)(void))
{
    pthread_t thread;

    pthread_create(&thread, NULL, in_thread, &call);
    pthread_join(thread, NULL);
}

static void join_one_that_waits_for_an_inheriting_lock(void)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &kind);
    lock_inheriting();
    join(lock_inheriting);
}

static void join_one_that_sleeps(void) { join(sleep_long); }
static void join_one_that_reads_input(void) { join(read_input); }

static void join_one_that_sleeps_beside_one_that_reads_input(void)
{
    void (*call)(void) = join_one_that_reads_input;
    pthread_t thread;

    pthread_create(&thread, NULL, in_thread, &call);
    join_one_that_sleeps();
}

static void join_one_that_is_locked(void) { join(lock_twice); }
static void join_one_that_reads_a_pipe(void) { join(read_pipe); }

static const struct {
    void (*call)(void);
    const char *name;
    enum ftree_ending ending;
} rows[] = {
#define ROW(call, ending) {call, #call, FTREE_ENDING_##ending}
    ROW(read_input, INPUT),
    ROW(read_line, INPUT),
    ROW(read_copy_of_input, INPUT),
    ROW(read_terminal, INPUT),
    ROW(poll_input, INPUT),
    ROW(select_input, INPUT),
    ROW(epoll_input, INPUT),
    ROW(sleep_long, TIMEOUT),
    ROW(usleep_long, TIMEOUT),
    ROW(poll_nothing, TIMEOUT),
    ROW(poll_pipe_for_a_time, TIMEOUT),
    ROW(select_for_a_time, TIMEOUT),
    ROW(epoll_for_a_time, TIMEOUT),
    ROW(wait_for_semaphore_for_a_time, TIMEOUT),
    ROW(read_timer, TIMEOUT),
    ROW(read_signals, SIGNAL),
    ROW(pause_for_ever, SIGNAL),
    ROW(wait_for_signal, SIGNAL),
    ROW(suspend, SIGNAL),
    ROW(wait_for_semaphore_with_handler, SIGNAL),
    ROW(read_pipe_with_handler, SIGNAL),
    ROW(wait_for_semaphore, UNKNOWN),
    ROW(wait_for_semaphore_with_handlers_of_mpi, UNKNOWN),
    ROW(wait_for_semaphore_with_handlers_of_languages, UNKNOWN),
    ROW(read_pipe, UNKNOWN),
    ROW(poll_pipe, UNKNOWN),
    ROW(epoll_for_ever, UNKNOWN),
    ROW(wait_for_child, UNKNOWN),
    ROW(lock_twice, THREAD),
    ROW(lock_twice_with_handler, THREAD),
    ROW(lock_robust_twice, THREAD),
    ROW(join_one_that_waits_for_an_inheriting_lock, THREAD),
    ROW(join_one_that_sleeps, TIMEOUT),
    ROW(join_one_that_reads_input, INPUT),
    ROW(join_one_that_sleeps_beside_one_that_reads_input, INPUT),
    ROW(join_one_that_is_locked, THREAD),
    ROW(join_one_that_reads_a_pipe, UNKNOWN),
};

/* ---- a process ------------------------------------------------------------------------------- */

/* Its standard input is a pipe, as that of a rank under mpiexec.  It has no handlers any more. */
static pid_t begin(void (*call)(void))
{
    int in[2], ready[2];
    pid_t pid;

    ck_assert_int_eq(pipe(in), 0);
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(out_pipe), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        setpgid(0, 0);
        for (int number = 1; number < NSIG; number++)
            signal(number, SIG_DFL);
        dup2(in[0], 0);
        (void) !write(ready[1], "", 1);
        call();
        _exit(1);
    }
    setpgid(pid, pid);
    ck_assert_int_eq(read(ready[0], byte, 1), 1);
    return pid;
}

/* With a child of its own. */
static void end(pid_t pid)
{
    kill(-pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* True: it ends the test as skipped. */
static bool is_hidden(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/syscall", (int) pid);
    return *suite_text_of(path) == '\0';
}

/* Until it has come to its call. */
static enum ftree_ending ending_once(pid_t pid, enum ftree_ending expected)
{
    struct timespec pause = {.tv_nsec = 1000000};
    enum ftree_ending found = FTREE_ENDING_COUNT;

    for (int i = 0; i < 20000 && found != expected && !is_hidden(pid); i++) {
        nanosleep(&pause, NULL);
        found = faultloc_ending(NULL, pid, NULL, 0);
    }
    return is_hidden(pid) ? expected : found;
}

TEST_CASES(what_may_end_the_sleep_of_a_process, COUNT(rows))
{
    pid_t pid = begin(rows[_i].call);
    struct timespec pause = {.tv_nsec = 1000000};
    enum ftree_ending found = ending_once(pid, rows[_i].ending);

    for (int i = 0; i < 20 && found == rows[_i].ending; i++) { /* and it stays so */
        nanosleep(&pause, NULL);
        found = faultloc_ending(NULL, pid, NULL, 0);
    }
    if (found != rows[_i].ending && !is_hidden(pid))
        ck_abort_msg("%s: %d instead of %d", rows[_i].name, (int) found, (int) rows[_i].ending);
    end(pid);
}

static bool is_stopped(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    return strstr(suite_text_of(path), ") T ");
}

static const struct {
    void (*call)(void);
    enum ftree_ending ending;
} goes_on[] = {{poll_input, FTREE_ENDING_INPUT},
               {poll_pipe, FTREE_ENDING_UNKNOWN},
               {poll_pipe_for_a_time, FTREE_ENDING_TIMEOUT},
               {sleep_long, FTREE_ENDING_TIMEOUT}};

TEST_CASES(a_call_that_goes_on_after_a_stop_is_the_same, COUNT(goes_on))
{
    pid_t pid = begin(goes_on[_i].call);

    ck_assert_int_eq(ending_once(pid, goes_on[_i].ending), goes_on[_i].ending);
    kill(pid, SIGSTOP);
    while (!is_stopped(pid))
        usleep(1000);
    kill(pid, SIGCONT);
    while (is_stopped(pid))
        usleep(1000);
    ck_assert_int_eq(ending_once(pid, goes_on[_i].ending), goes_on[_i].ending);
    end(pid);
}

/* As UCX's own is, which waits for events. */
TEST_CASE(known_threads_do_not_count)
{
    pid_t pid = begin(read_pipe);

    ck_assert_int_eq(faultloc_ending(NULL, pid, &pid, 1), FTREE_ENDING_THREAD);
    end(pid);
}

TEST_CASE(of_no_process_nothing_is_known)
{
    ck_assert_int_eq(faultloc_ending("/nowhere", 1, NULL, 0), FTREE_ENDING_UNKNOWN);
}

/* ---- whom it awaits -------------------------------------------------------------------------- */

static int ends[2]; /* of what both processes have: the service has the first, the rank the second */
static char fifo[64], locked[64];

static void fill(int fd)
{
    static char block[4096];

    for (;;)
        if (write(fd, block, sizeof(block)) < 0)
            _exit(1);
}

static void make_nothing(void) { }

static void make_pipe(void)
{
    int both[2];

    ck_assert_int_eq(pipe(both), 0);
    ends[0] = both[1];
    ends[1] = both[0];
}

static void make_pair(void) { ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }

static void make_tcp(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(bind(listener, (struct sockaddr *) &a, len), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *) &a, &len);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(ends[1], (struct sockaddr *) &a, len), 0);
    ends[0] = accept(listener, NULL, NULL);
    close(listener);
}

static void make_unopened(void)
{
    snprintf(fifo, sizeof(fifo), "/tmp/faultloc-fifo-%d", (int) getpid());
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
}

static void make_fifo(void)
{
    make_unopened();
    ends[0] = open(fifo, O_RDWR);
    ends[1] = open(fifo, O_RDONLY | O_NONBLOCK);
    fcntl(ends[1], F_SETFL, 0);
}

static void make_lock(void)
{
    snprintf(locked, sizeof(locked), "/tmp/faultloc-lock-%d", (int) getpid());
    ends[0] = open(locked, O_CREAT | O_RDWR, 0600);
    ends[1] = open(locked, O_RDWR);
}

static void print_much(void) { fill(1); }
static void print_errors_to_copy(void) { dup2(1, 2); fill(dup(2)); }

static void *print_in_thread(void *arg)
{
    fill(1);
    return arg;
}

static void wait_for_printer(void)
{
    pthread_t t;

    pthread_create(&t, NULL, print_in_thread, NULL);
    pthread_join(t, NULL);
}

static void read_other(void) { (void) !read(ends[1], byte, 1); }
static void write_other(void) { fill(ends[1]); }

static void poll_other(void)
{
    struct pollfd p = {.fd = ends[1], .events = POLLIN};

    poll(&p, 1, -1);
}

static void lock_other(void) { flock(ends[1], LOCK_EX); }
static void open_fifo(void) { (void) !open(fifo, O_WRONLY); }

static void wait_for_any_child(void)
{
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(LONG);
        _exit(0);
    }
    waitpid(-1, NULL, 0);
}

static void read_own(void)
{
    int own[2];

    if (pipe(own) == 0)
        (void) !read(own[0], byte, 1);
}

enum other { NOBODY, SERVICE, RANK };

static const struct {
    const char *name;
    void (*make)(void);
    void (*wait)(void);
    enum other other; /* has the other end */
    const char *whom; /* %s: "process PID (NAME)" of the service; NULL: nobody outside the job */
} await_rows[] = {
    {"output", make_nothing, print_much, NOBODY, "standard output is not read"},
    {"a copy", make_nothing, print_errors_to_copy, NOBODY, "standard output is not read"},
    {"thread", make_nothing, wait_for_printer, NOBODY, "standard output is not read"},
    {"pipe", make_pipe, read_other, SERVICE, "%s by a pipe"},
    {"pipe of a rank", make_pipe, read_other, RANK, NULL},
    {"own pipe", make_nothing, read_own, NOBODY, NULL},
    {"FIFO", make_fifo, read_other, SERVICE, "%s by a pipe"},
    {"FIFO", make_unopened, open_fifo, NOBODY, "nobody has opened the other end of a FIFO"},
    {"socket", make_pair, read_other, SERVICE, "%s by a socket"},
    {"full socket", make_pair, write_other, SERVICE, "%s by a socket"},
    {"poll", make_pair, poll_other, SERVICE, "%s by a socket"},
    {"TCP", make_tcp, read_other, SERVICE, "%s by a socket"},
    {"lock", make_lock, lock_other, SERVICE, "%s has locked the file"},
    {"lock of a rank", make_lock, lock_other, RANK, NULL},
    {"child", make_nothing, wait_for_any_child, NOBODY, "is its child"},
    {"lock of a thread", make_nothing, wait_for_semaphore, NOBODY, NULL},
    {"sleep", make_nothing, sleep_long, NOBODY, NULL},
};

static pid_t begin_other(enum other other)
{
    pid_t pid = other == NOBODY ? 0 : fork();

    if (pid == 0 && other != NOBODY) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "service");
        close(ends[1]);
        if (*locked)
            flock(ends[0], LOCK_EX);
        for (;;)
            pause();
    }
    return pid;
}

static pid_t begin_rank(void (*wait)(void))
{
    int out[2], null = open("/dev/null", O_RDONLY); /* it is not read, and the test has the other end */
    pid_t pid;

    ck_assert_int_eq(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(null, 0);
        dup2(out[1], 1);
        close(out[0]);
        close(out[1]);
        close(ends[0]);
        wait();
        _exit(0);
    }
    close(out[1]);
    return pid;
}

/* ---- stuck with a child ---------------------------------------------------------------------- */

static int own[2]; /* a pipe of the rank's: to read from, to write to */

static void start_child(void (*run)(void))
{
    if (pipe(own) == 0 && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(own[0]);
        run();
        _exit(0);
    }
}

static void fill_own(void) { fill(own[1]); }

static void wait_and_read_later(void)
{
    start_child(fill_own);
    waitpid(-1, NULL, 0);
}

static void run_shell(void)
{
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fill_own();
    }
    waitpid(-1, NULL, 0);
}

static void wait_for_shell(void)
{
    start_child(run_shell);
    waitpid(-1, NULL, 0);
}

/* Of two pipes it reads the other one. */
static void read_another(void)
{
    int another[2];

    if (pipe(another))
        _exit(1);
    start_child(fill_own);
    close(another[1]);
    (void) !read(another[0], byte, 1);
}

static void read_of_service(void)
{
    start_child(fill_own);
    (void) !read(ends[1], byte, 1);
}

static void sleep_and_read_later(void)
{
    start_child(fill_own);
    sleep(LONG);
}

static void run_reader(void)
{
    start_child(fill_own);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(LONG); /* and could read */
    }
    waitpid(-1, NULL, 0);
}

static void wait_for_locked_child(void)
{
    start_child(lock_twice);
    waitpid(-1, NULL, 0);
}

static void wait_for_child_with_semaphore(void)
{
    start_child(wait_for_semaphore);
    waitpid(-1, NULL, 0);
}

static const struct {
    const char *name;
    void (*wait)(void);
    bool is_stuck;
} stuck_rows[] = {
    {"its output is read after its end", wait_and_read_later, true},
    {"by a shell", wait_for_shell, true},
    {"it is to write to another pipe", read_another, true},
    {"it waits for a lock of its own", wait_for_locked_child, true},
    {"it waits for a semaphore of its own", wait_for_child_with_semaphore, true},
    {"another process may write", read_of_service, false},
    {"it is read later", sleep_and_read_later, false},
    {"another child could read", run_reader, false},
    {"a child that sleeps", wait_for_any_child, false},
};

TEST_CASES(who_is_stuck_with_a_child, COUNT(stuck_rows))
{
    char whom[FTREE_WHOM_MAX];
    bool is_stuck = false;
    pid_t pid;

    make_pipe(); /* to which this process could write */
    pid = begin_rank(stuck_rows[_i].wait);
    for (int i = 0; i < (stuck_rows[_i].is_stuck ? 5000 : 100) && !is_stuck; i++) {
        is_stuck = faultloc_is_stuck_with_child(NULL, pid, &pid, 1, whom, sizeof(whom));
        usleep(1000);
    }
    ck_assert_msg(is_stuck == stuck_rows[_i].is_stuck && is_stuck == (strstr(whom, "its child") != NULL),
                  "%s: '%s'", stuck_rows[_i].name, whom);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST_CASES(whom_it_awaits, COUNT(await_rows))
{
    char whom[FTREE_WHOM_MAX] = "", name[40], expected[FTREE_WHOM_MAX];
    pid_t other, pid, ranks[2];
    bool awaits = false;

    await_rows[_i].make();
    other = begin_other(await_rows[_i].other);
    if (*locked)
        while (flock(ends[1], LOCK_SH | LOCK_NB) == 0) /* until it has it */
            flock(ends[1], LOCK_UN);
    pid = begin_rank(await_rows[_i].wait);
    close(ends[0]);
    if (ends[1] > 0)
        close(ends[1]);
    ranks[0] = pid;
    ranks[1] = await_rows[_i].other == RANK ? other : pid;
    snprintf(name, sizeof(name), "process %d (service)", (int) other);
    snprintf(expected, sizeof(expected), await_rows[_i].whom ? await_rows[_i].whom : "", name);
    for (int i = 0; i < 2000 && !(awaits && strstr(whom, expected)); i++) {
        awaits = faultloc_awaits(NULL, pid, ranks, 2, whom, sizeof(whom));
        if (!await_rows[_i].whom && i > 100)
            break; /* it sleeps by now */
        usleep(1000);
    }
    ck_assert_msg(awaits == (await_rows[_i].whom != NULL) && strstr(whom, expected),
                  "%s: '%s' instead of '%s'", await_rows[_i].name, whom, expected);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (other) {
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
    }
    unlink(fifo);
    unlink(locked);
}
