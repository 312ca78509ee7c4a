/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A healthy program: the ranks work together in one of the usual ways, until they are told to end,
 * and every word that arrives is checked. Meanwhile one rank may do what is no fault of its node,
 * but may be hard on whoever shares its process or watches it.
 *
 * work [--pattern alltoall|halo|pipeline|master|phases|irregular] [--seconds S] [--until FILE]
 *      [--pause-ms M] [--rest-us N]
 *      [--harm H [--harm-rank R] [--harm-after S] [--harm-for S] [--harm-mb M] [--harm-seed N]]
 *      [--hang-rank R --hang-after S]
 *
 * --pattern   how they work together: patterns.h
 * --until     rank 0 ends the work when FILE exists, or after S seconds (10, with --until 3600)
 * --pause-ms  of every rank after every round (5)
 * --rest-us   as in alltoall.c (200)
 * --harm      fork          M megabytes are touched; children call _exit(0) at once
 *             fork-exec     the same; children run another program
 *             fork-exit     children call exit(0), with the handlers that the libraries left
 *             descriptors   /dev/null is opened until there are no more descriptors
 *             threads       as many threads as there can be, at most 2000
 *             memory        the address space is limited, and taken
 *             stderr        stderr is written to for as long as it takes something
 *             close         descriptors 3 to 1023 are closed, but for those that MPI and its
 *                           transport need; own files come in their places, which nobody else
 *                           may write to, or close
 *             calls         children make MPI calls that speak to nobody
 *             write send recv read
 *                           one transfer, whose partner is slow; the bytes are compared
 *             sleep poll    a call with a timeout
 *             filter        the same, under a filter of system calls
 *             input         a line of standard input ("go on") is read; of rank 0
 *             server        all ranks poll for a request that does not come
 *             service       a thread of each waits for one, the first one for a signal
 *             daemon        all ranks go on in a child; they end without MPI_Finalize, which UCX
 *                           allows none
 *
 * Rank R does it, for S seconds from S seconds after the loop began; it writes harm.R and harmed.R
 * to the harness's folder before and after. With --hang-rank that rank never comes back, in
 * stay_for_ever(), from S seconds after the loop began, and writes blocked.R before. */

#include "patterns.h"
#include "rest.h"
#include "testutil.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- harms ----------------------------------------------------------------------------------- */

static struct {
    const struct harm *what;
    double after, lasts, next;
    size_t mb;
    unsigned seed;
    enum { HARM_NONE, HARM_AHEAD, HARM_ON, HARM_OVER } phase;
    int is_daemon;
    int hangs; /* this rank does, */
    double hang_after;
} harm;

/* begin, again every quarter of a second, end.  Without the last two all ranks do it together,
 * between two patterns. */
struct harm {
    const char *name;
    void (*begin)(void), (*again)(void), (*end)(void);
};

#include "work_calls.h"

static void nothing(void)
{
}

static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static void reap_all(void)
{
    while (wait(NULL) > 0 || errno == EINTR)
        ;
}

/* Small pages: it is their table that takes long to copy. */
static void touch_memory(void)
{
    size_t len = harm.mb << 20;
    char *p;

    if (!len)
        return;
    p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        tu_fail("work", "no memory to touch");
    madvise(p, len, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < len; i += 4096)
        p[i] = 1;
}

static void make_child(void (*child)(void))
{
    pid_t pid;

    reap();
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        child();
    if (pid < 0)
        tu_fail("work", "cannot fork");
}

static void leave_quickly(void)
{
    _exit(0);
}
static void leave_orderly(void)
{
    exit(0);
}
static void leave_for_another(void)
{
    execlp("true", "true", (char *) NULL);
    _exit(1);
}

static void fork_again(void)
{
    make_child(leave_quickly);
}
static void fork_exec_again(void)
{
    make_child(leave_for_another);
}
static void fork_exit_again(void)
{
    make_child(leave_orderly);
}
static void call_again(void)
{
    make_child(call_and_leave);
}

static int *taken_fds;
static size_t taken;

static void take_descriptors(void)
{
    struct rlimit limit;
    int fd;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur > 20000) {
        limit.rlim_cur = 20000;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (!taken_fds)
        taken_fds = malloc(sizeof(int) * limit.rlim_cur);
    while (taken_fds && taken < limit.rlim_cur && (fd = open("/dev/null", O_RDONLY)) >= 0)
        taken_fds[taken++] = fd;
    if (errno != EMFILE)
        tu_fail("work", "descriptors do not run out");
}

static void give_descriptors(void)
{
    while (taken > 0)
        close(taken_fds[--taken]);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[2000];
static size_t thread_count;

static void *stand_at_gate(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return arg;
}

static void take_threads(void)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 20);
    pthread_mutex_lock(&gate);
    while (thread_count < sizeof(threads) / sizeof(*threads) &&
           !pthread_create(&threads[thread_count], &attr, stand_at_gate, NULL))
        thread_count++;
    pthread_attr_destroy(&attr);
}

static void give_threads(void)
{
    pthread_mutex_unlock(&gate);
    while (thread_count > 0)
        pthread_join(threads[--thread_count], NULL);
}

#define CHUNK (64 << 10)

static struct rlimit space;
static struct chunk {
    struct chunk *next;
} *chunks;

static size_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%lu", &pages) != 1)
        tu_fail("work", "cannot read /proc/self/statm");
    fclose(f);
    return pages * (size_t) sysconf(_SC_PAGESIZE);
}

static void take_all_chunks(void)
{
    struct chunk *c;

    while ((c = malloc(CHUNK))) {
        c->next = chunks;
        chunks = c;
    }
}

static void give_chunks(size_t n)
{
    for (struct chunk *c; n > 0 && (c = chunks); n--) {
        chunks = c->next;
        free(c);
    }
}

/* What MPI itself takes for a round stays within a megabyte; threads have none. */
static void take_memory(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_AS, &space);
    limit = space;
    limit.rlim_cur = mapped_bytes() + (64 << 20);
    setrlimit(RLIMIT_AS, &limit);
    take_all_chunks();
    give_chunks(16);
}

static void give_memory(void)
{
    setrlimit(RLIMIT_AS, &space);
    give_chunks(SIZE_MAX);
}

/* Never blocks: it is poll() that says whether a pipe takes a page. */
static void fill_stderr(void)
{
    static char line[1024];
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

    memset(line, '.', sizeof(line));
    memcpy(line, "work: ", 6);
    line[sizeof(line) - 1] = '\n';
    for (int i = 0; i < 4096 && poll(&p, 1, 0) == 1 && p.revents == POLLOUT; i++)
        if (write(STDERR_FILENO, line, sizeof(line)) < 0)
            return;
}

/* ---- descriptors of others ------------------------------------------------------------------- */

/* MPI and its transport could not go on without theirs: those that were there at the start (the
 * process manager's), and those that another library than libmpi opened. */
#define FDS 1024
#define FILES 64

static char kept[FDS];
static int files[FILES];
static char file_names[FILES][4096];
static int file_count;

static void keep(int fd)
{
    if (fd >= 0 && fd < FDS)
        __atomic_store_n(&kept[fd], 1, __ATOMIC_RELAXED);
}

static int keep_for(int fd, const void *caller)
{
    Dl_info info;

    if (fd >= 0 && fd < FDS && dladdr(caller, &info) && info.dli_fname)
        __atomic_store_n(&kept[fd], !strstr(info.dli_fname, "libmpi"), __ATOMIC_RELAXED);
    return fd;
}

#define NEXT(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))
#define CALLER __builtin_return_address(0)

int socket(int domain, int type, int protocol)
{
    return keep_for(NEXT(socket)(domain, type, protocol), CALLER);
}
int accept(int fd, struct sockaddr *address, socklen_t *len)
{
    return keep_for(NEXT(accept)(fd, address, len), CALLER);
}
int epoll_create(int size)
{
    return keep_for(NEXT(epoll_create)(size), CALLER);
}
int eventfd(unsigned count, int flags)
{
    return keep_for(NEXT(eventfd)(count, flags), CALLER);
}
int timerfd_create(int clock, int flags)
{
    return keep_for(NEXT(timerfd_create)(clock, flags), CALLER);
}
int pipe(int fds[2])
{
    int rc = NEXT(pipe)(fds);

    if (!rc) {
        keep_for(fds[0], CALLER);
        keep_for(fds[1], CALLER);
    }
    return rc;
}

static void keep_those_open(void)
{
    for (int fd = 0; fd < FDS; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            keep(fd);
}

/* An own file, full of its own name. */
static void open_file(int i)
{
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");

    snprintf(file_names[i], sizeof(file_names[i]), "%s/mine.%d.%d", folder ? folder : "/tmp",
             me.rank, i);
    files[i] = open(file_names[i], O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (files[i] < 0 ||
        write(files[i], file_names[i], strlen(file_names[i])) != (ssize_t) strlen(file_names[i]))
        tu_fail("work", "cannot write a file of its own");
    keep(files[i]);
}

/* At most half of all files at once: descriptors that come later are to find their match, too. */
static void close_others(void)
{
    int closed = 0;

    for (int fd = 3; fd < FDS; fd++)
        if (!kept[fd] && fcntl(fd, F_GETFD) >= 0 && rand_r(&harm.seed) % 2 && !close(fd))
            closed++;
    for (int n = 0; n <= closed && file_count < FILES; n++)
        open_file(file_count++);
}

static const char *check_file(int i)
{
    char text[4096 + 1];
    ssize_t len = -1;
    int fd = open(file_names[i], O_RDONLY);

    if (fd >= 0) {
        len = read(fd, text, sizeof(text));
        close(fd);
    }
    if (len != (ssize_t) strlen(file_names[i]) || memcmp(text, file_names[i], (size_t) len))
        return "somebody else wrote to a file of its own";
    if (pread(files[i], text, sizeof(text), 0) != len || memcmp(text, file_names[i], (size_t) len))
        return "somebody else closed a file of its own";
    return NULL;
}

static void check_files(void)
{
    for (int i = 0; i < file_count; i++) {
        const char *why = check_file(i);

        if (why) {
            fprintf(stderr, "work: rank %d: %s: descriptor %d\n", me.rank, why, files[i]);
            exit(1);
        }
    }
}

/* ---- when ------------------------------------------------------------------------------------ */

static const struct harm harms[] = {
    {"fork", nothing, fork_again, reap_all},
    {"fork-exec", nothing, fork_exec_again, reap_all},
    {"fork-exit", nothing, fork_exit_again, reap_all},
    {"descriptors", take_descriptors, take_descriptors, give_descriptors},
    {"threads", take_threads, nothing, give_threads},
    {"memory", take_memory, nothing, give_memory},
    {"stderr", nothing, fill_stderr, nothing},
    {"close", nothing, close_others, nothing},
    {"calls", nothing, call_again, reap_all},
    {"write", transfer, nothing, nothing},
    {"send", transfer, nothing, nothing},
    {"recv", transfer, nothing, nothing},
    {"read", transfer, nothing, nothing},
    {"sleep", sleep_long, nothing, nothing},
    {"poll", poll_long, nothing, nothing},
    {"filter", sleep_under_filter, nothing, nothing},
    {"input", read_input, nothing, nothing},
    {"server", serve_nobody, NULL, NULL},
    {"service", wait_for_signal, NULL, NULL},
    {"daemon", become_daemon, NULL, NULL},
};

static const struct harm *find_harm(const char *name)
{
    for (size_t i = 0; i < sizeof(harms) / sizeof(*harms); i++)
        if (!strcmp(harms[i].name, name))
            return &harms[i];
    return NULL;
}

static void read_harm(int argc, char **argv)
{
    const char *name = tu_string(argc, argv, "--harm", NULL);

    harm.hangs = me.rank == (int) tu_number(argc, argv, "--hang-rank", -1);
    harm.hang_after = tu_number(argc, argv, "--hang-after", 1);
    harm.what = name ? find_harm(name) : NULL;
    if (name && !harm.what)
        tu_fail("work", "there is no such harm");
    if (harm.what && harm.what->again &&
        me.rank != (int) tu_number(argc, argv, "--harm-rank", 0))
        harm.what = NULL;
    if (!harm.what)
        return;
    harm.after = tu_number(argc, argv, "--harm-after", 1);
    harm.lasts = tu_number(argc, argv, "--harm-for", 2);
    harm.mb = (size_t) tu_number(argc, argv, "--harm-mb", 0);
    harm.seed = (unsigned) tu_number(argc, argv, "--harm-seed", 1);
    harm.phase = harm.what->again ? HARM_AHEAD : HARM_NONE;
    touch_memory();
}

static void harm_turn(void)
{
    double now = tu_now();

    if (harm.phase == HARM_AHEAD && now > harm.after) {
        tu_note("harm", me.rank);
        harm.what->begin();
        harm.phase = HARM_ON;
    }
    if (harm.phase == HARM_ON && now > harm.next) {
        harm.what->again();
        harm.next = now + 0.25;
    }
    if (harm.phase == HARM_ON && now > harm.after + harm.lasts) {
        harm.what->end();
        tu_note("harmed", me.rank);
        harm.phase = HARM_OVER;
    }
    if (harm.hangs && now > harm.hang_after)
        stay_for_ever();
}

/* ---- work ------------------------------------------------------------------------------------ */

static void pattern_loops(void)
{
    harm.after += tu_now();
    harm.hang_after += tu_now();
}

static void pattern_turn(void)
{
    harm_turn();
}

static int pattern_may_end(void)
{
    return harm.phase != HARM_ON;
}

static void harm_together(const char *pattern)
{
    double end = me.end;
    const char *until = me.until;

    me.until = "";
    me.end = tu_now() + harm.after;
    talk(pattern);
    tu_note("harm", me.rank);
    harm.what->begin();
    tu_note("harmed", me.rank);
    me.until = until;
    me.end = end;
}

#ifdef THREAD_LOCAL_BYTES
static __thread volatile char thread_local_bytes[THREAD_LOCAL_BYTES];

static void use_thread_local(void)
{
    thread_local_bytes[me.rank] = 1;
}
#else
static void use_thread_local(void)
{
}
#endif

int main(int argc, char **argv)
{
    const char *pattern = tu_string(argc, argv, "--pattern", "alltoall");
    int is_service = !strcmp(tu_string(argc, argv, "--harm", ""), "service"), level;

    keep_those_open();
    rest_while_idle(tu_number(argc, argv, "--rest-us", 200));
    MPI_Init_thread(&argc, &argv, is_service ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    pattern_begin("work");
    tu_hello(me.rank);
    use_thread_local();
    me.until = tu_string(argc, argv, "--until", "");
    me.end = tu_now() + tu_number(argc, argv, "--seconds", *me.until ? 3600 : 10);
    me.pause_ms = tu_number(argc, argv, "--pause-ms", 5);
    read_harm(argc, argv);
    if (harm.what && !harm.what->again)
        harm_together(pattern);
    talk(pattern);
    check_files();
    tu_meet(MPI_COMM_WORLD);
    if (harm.is_daemon)
        _exit(0);
    MPI_Finalize();
    check_files();
    return 0;
}
