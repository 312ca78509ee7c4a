/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WORK_CALLS_H_INCLUDED
#define WORK_CALLS_H_INCLUDED

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

/* What a healthy rank does outside MPI for long, the harms of work.c that are one call of
 * harm.lasts seconds each, and what they have for a result.  To be included by work.c. */

/* ---- transfers ------------------------------------------------------------------------------- */

#define TRANSFER (5u << 20)
#define PIECE (64u << 10)
#define LATE 4096u /* what comes at once, and late */

static unsigned char byte_at(size_t i)
{
    return (unsigned char) ((i * 2654435761u) >> 16);
}

static void fill_bytes(unsigned char *data, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = byte_at(from + i);
}

static int are_bytes(const unsigned char *data, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (data[i] != byte_at(from + i))
            return 0;
    return 1;
}

static void rest_for(size_t n, size_t of)
{
    rest_ms(harm.lasts * 1e3 * (double) n / (double) of);
}

static void take_slowly(int fd)
{
    unsigned char piece[PIECE];
    size_t at = 0;
    ssize_t n;

    for (; (n = read(fd, piece, sizeof(piece))) > 0; at += (size_t) n) {
        if (!are_bytes(piece, at, (size_t) n))
            _exit(1);
        rest_for((size_t) n, TRANSFER);
    }
    _exit(at != TRANSFER);
}

static void give_slowly(int fd)
{
    unsigned char piece[PIECE];

    for (size_t at = 0; at < TRANSFER; at += sizeof(piece)) {
        fill_bytes(piece, at, sizeof(piece));
        rest_for(sizeof(piece), TRANSFER);
        if (write(fd, piece, sizeof(piece)) != sizeof(piece))
            _exit(1);
    }
    _exit(0);
}

static void give_late(int fd)
{
    unsigned char piece[LATE];

    fill_bytes(piece, 0, sizeof(piece));
    rest_for(1, 1);
    _exit(write(fd, piece, sizeof(piece)) != sizeof(piece));
}

static ssize_t call_write(int fd, void *data, size_t n)
{
    return write(fd, data, n);
}
static ssize_t call_send(int fd, void *data, size_t n)
{
    return send(fd, data, n, 0);
}
static ssize_t call_recv(int fd, void *data, size_t n)
{
    return recv(fd, data, n, MSG_WAITALL);
}
static ssize_t call_read(int fd, void *data, size_t n)
{
    return read(fd, data, n);
}

/* `own` is the rank's end of the two: a pipe is written to at 1, and read at 0. */
static const struct transfer {
    const char *name;
    int is_socket, own;
    size_t bytes;
    ssize_t (*call)(int fd, void *data, size_t n);
    void (*partner)(int fd);
} transfers[] = {
    {"write", 0, 1, TRANSFER, call_write, take_slowly},
    {"send", 1, 1, TRANSFER, call_send, take_slowly},
    {"recv", 1, 0, TRANSFER, call_recv, give_slowly},
    {"read", 0, 0, LATE, call_read, give_late},
};

/* One call, to or from a process that is no rank. */
static void make_transfer(const struct transfer *t)
{
    unsigned char *data = calloc(t->bytes, 1);
    int fd[2], status = -1;
    char text[80];
    ssize_t n;
    pid_t pid;

    if (!data || (t->is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fd) : pipe(fd)))
        fail("there is nothing to transfer by");
    pid = fork();
    if (pid == 0) {
        close(fd[t->own]);
        t->partner(fd[!t->own]);
    }
    close(fd[!t->own]);
    if (t->partner == take_slowly)
        fill_bytes(data, 0, t->bytes);
    n = t->call(fd[t->own], data, t->bytes);
    close(fd[t->own]);
    snprintf(text, sizeof(text), "one %s of %zu bytes returned %zd", t->name, t->bytes, n);
    if (n != (ssize_t) t->bytes)
        fail(text);
    if (waitpid(pid, &status, 0) != pid || status || !are_bytes(data, 0, t->bytes))
        fail("bytes have changed on their way");
    free(data);
}

static void transfer(void)
{
    for (size_t i = 0; i < sizeof(transfers) / sizeof(*transfers); i++)
        if (!strcmp(transfers[i].name, harm.what->name))
            make_transfer(&transfers[i]);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static void sleep_long(void)
{
    double end = tu_now() + floor(harm.lasts);

    if (sleep((unsigned) harm.lasts) != 0 || tu_now() < end)
        fail("sleep() has ended early");
}

static void poll_long(void)
{
    double end = tu_now() + harm.lasts;
    int fd[2];

    if (pipe(fd))
        fail("there is no pipe");
    if (poll(&(struct pollfd){.fd = fd[0], .events = POLLIN}, 1, (int) (harm.lasts * 1e3)) != 0 ||
        tu_now() < end)
        fail("poll() has ended early");
    close(fd[0]);
    close(fd[1]);
}

/* The process is killed if the kernel is to restart a call by restart_syscall. */
static void sleep_under_filter(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof(program) / sizeof(*program), program};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        fail("no filter of system calls can be set");
    sleep_long();
}

static void read_input(void)
{
    char line[32];

    if (!fgets(line, sizeof(line), stdin) || strcmp(line, "go on\n"))
        fail("standard input is not what was written");
}

/* ---- all ranks, in the same phase ------------------------------------------------------------ */

#define REQUEST 99

/* A server that nobody asks.  A rank that began sooner ends sooner, and goes on with its pattern. */
static void serve_nobody(void)
{
    double end = tu_now() + harm.lasts;
    int has = 0;

    for (; tu_now() < end && !has; rest_ms(1))
        MPI_Iprobe(MPI_ANY_SOURCE, REQUEST, MPI_COMM_WORLD, &has, MPI_STATUS_IGNORE);
    if (has)
        fail("a message has come that nobody sent");
}

static sem_t is_over;

static void end_service(int number)
{
    (void) number;
    sem_post(&is_over);
}

static void *serve_requests(void *arg)
{
    int word = 0;

    while (word >= 0)
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, REQUEST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arg;
}

/* A thread waits for requests, the first one for the signal that says that there will be none. */
static void wait_for_signal(void)
{
    struct itimerval timer = {.it_value.tv_sec = (time_t) harm.lasts};
    pthread_t thread;
    int end = -1;

    timer.it_value.tv_usec = (suseconds_t) ((harm.lasts - floor(harm.lasts)) * 1e6) + 1;
    sem_init(&is_over, 0, 0);
    signal(SIGALRM, end_service);
    pthread_create(&thread, NULL, serve_requests, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (sem_wait(&is_over) && errno == EINTR)
        ;
    MPI_Send(&end, 1, MPI_INT, me.rank, REQUEST, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

/* ---- children -------------------------------------------------------------------------------- */

/* What MPI allows no child, and what works all the same: calls that speak to nobody. */
static void call_and_leave(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Datatype type;
    int n;

    for (int i = 0; i < 500; i++) {
        MPI_Initialized(&n);
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        MPI_Get_processor_name(name, &n);
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_free(&type);
        rest_ms(0.3);
    }
    _exit(0);
}

/* The rank is its child from now on, which is no child of the process manager's. */
static void become_daemon(void)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid > 0)
        _exit(0);
    if (pid < 0 || setsid() < 0)
        fail("cannot go on in a child");
    harm.is_daemon = 1;
}

/* ---- and a hang ------------------------------------------------------------------------------ */

#pragma GCC push_options
#pragma GCC optimize("no-optimize-sibling-calls")

/* For a lock that it has. */
__attribute__((noinline)) static void stay_for_ever(void)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

    tu_note("blocked", me.rank);
    pthread_mutex_lock(&own);
    pthread_mutex_lock(&own);
    fail("a lock was given twice");
}

#pragma GCC pop_options

#endif /* WORK_CALLS_H_INCLUDED */
