/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A healthy program: the ranks work together in one of the usual ways, until they are told to end,
 * and every word that arrives is checked. Meanwhile one rank may do what is no fault of its node,
 * but may be hard on whoever shares its process or watches it.
 *
 * work [--pattern alltoall|halo|pipeline|master|phases] [--seconds S] [--until FILE]
 *      [--pause-ms M] [--rest-us N]
 *      [--harm H [--harm-rank R] [--harm-after S] [--harm-for S] [--harm-mb M] [--harm-seed N]]
 *
 * --pattern   MPI_Alltoall; neighbours on a ring with a sum over all; a chain of stages; a master
 *             that takes results from MPI_ANY_SOURCE; long phases outside MPI
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
 *
 * Rank R does it, for S seconds from S seconds after the loop began; it writes harm.R and harmed.R
 * to the harness's folder before and after. */

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

static struct {
    int rank, size;
    double end, pause_ms;
    const char *until;
} me;

/* ---- harms ----------------------------------------------------------------------------------- */

static struct {
    const struct harm *what;
    double after, lasts, next;
    size_t mb;
    unsigned seed;
    enum { HARM_NONE, HARM_AHEAD, HARM_ON, HARM_OVER } phase;
} harm;

/* begin, again every quarter of a second, end. */
struct harm {
    const char *name;
    void (*begin)(void), (*again)(void), (*end)(void);
};

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
};

static void read_harm(int argc, char **argv)
{
    const char *name = tu_string(argc, argv, "--harm", NULL);

    if (!name || me.rank != (int) tu_number(argc, argv, "--harm-rank", 0))
        return;
    for (size_t i = 0; i < sizeof(harms) / sizeof(*harms); i++)
        if (!strcmp(harms[i].name, name))
            harm.what = &harms[i];
    if (!harm.what)
        tu_fail("work", "there is no such harm");
    harm.after = tu_number(argc, argv, "--harm-after", 1);
    harm.lasts = tu_number(argc, argv, "--harm-for", 2);
    harm.mb = (size_t) tu_number(argc, argv, "--harm-mb", 0);
    harm.seed = (unsigned) tu_number(argc, argv, "--harm-seed", 1);
    harm.phase = HARM_AHEAD;
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
}

/* ---- work ------------------------------------------------------------------------------------ */

static void fail(const char *what)
{
    tu_fail("work", what);
}

static void rest_ms(double ms)
{
    struct timespec t = {.tv_sec = (time_t) (ms / 1e3) };

    t.tv_nsec = (long) ((ms - (double) t.tv_sec * 1e3) * 1e6);
    nanosleep(&t, NULL);
}

/* After each round. */
static void step(long round)
{
    if (round == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        tu_looping(me.rank);
        harm.after += tu_now();
    }
    harm_turn();
    rest_ms(me.pause_ms);
}

/* Rank 0 decides, and tells the others with what it sends. */
static int enough(void)
{
    return me.rank == 0 && harm.phase != HARM_ON &&
           (tu_now() > me.end || (*me.until && access(me.until, F_OK) == 0));
}

static int64_t word(int64_t from, int64_t to, int64_t round)
{
    return from * 1000003 + to * 7919 + round * 31;
}

static long talk_alltoall(void)
{
    int64_t out[2 * me.size], in[2 * me.size];
    long round = 0;

    for (int stop = 0; !stop; round++) {
        stop = enough();
        for (int to = 0; to < me.size; to++) {
            out[2 * to] = stop;
            out[2 * to + 1] = word(me.rank, to, round);
        }
        MPI_Alltoall(out, 2, MPI_INT64_T, in, 2, MPI_INT64_T, MPI_COMM_WORLD);
        for (int from = 0; from < me.size; from++)
            if (in[2 * from + 1] != word(from, me.rank, round))
                fail("a word arrived changed");
        stop = (int) in[0];
        step(round);
    }
    return round;
}

#define CELLS 256

/* Who flows from cell to cell is neither made nor lost: the sum over all ranks stays. */
static void flow(int64_t *u)
{
    int64_t flux[CELLS + 1];

    for (int i = 0; i <= CELLS; i++)
        flux[i] = (u[i] - u[i + 1]) / 4;
    for (int i = 1; i <= CELLS; i++)
        u[i] += flux[i - 1] - flux[i];
}

static void swap_halo(int64_t *u, long round)
{
    int left = (me.rank + me.size - 1) % me.size, right = (me.rank + 1) % me.size;
    int64_t out[2][2] = {{round, u[1]}, {round, u[CELLS]}}, in[2][2];
    MPI_Request r[4];
    MPI_Status s[4];

    MPI_Irecv(in[0], 2, MPI_INT64_T, left, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], 2, MPI_INT64_T, right, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(out[0], 2, MPI_INT64_T, left, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(out[1], 2, MPI_INT64_T, right, 1, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, s);
    if (in[0][0] != round || in[1][0] != round)
        fail("a neighbour is in another round");
    u[0] = in[0][1];
    u[CELLS + 1] = in[1][1];
}

static long talk_halo(void)
{
    int64_t u[CELLS + 2], now[2], all[2], first = 0;
    long round = 0;

    for (int i = 1; i <= CELLS; i++)
        u[i] = ((int64_t) me.rank * CELLS + i) * 7919 % 10007 * 1000000;
    for (all[1] = 0; !all[1]; round++) {
        swap_halo(u, round);
        flow(u);
        if (round % 8 == 0) {
            now[0] = 0;
            for (int i = 1; i <= CELLS; i++)
                now[0] += u[i];
            now[1] = enough();
            MPI_Allreduce(now, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
            if (round == 0)
                first = all[0];
            if (all[0] != first)
                fail("the sum over all cells has changed");
        }
        step(round);
    }
    return round;
}

static int64_t stage(int64_t x, int rank)
{
    return (x * 31 + rank) % 1000000007;
}

static int64_t through(int64_t n)
{
    for (int rank = 0; rank < me.size - 1; rank++)
        n = stage(n, rank);
    return n;
}

/* Items go from rank to rank; the last one acknowledges every 16th, lest the first run ahead. */
static long talk_pipeline(void)
{
    int last = me.size - 1;
    int64_t x[2] = {0, 0};
    long n = 0;

    for (; x[0] >= 0; n++) {
        if (me.rank > 0)
            MPI_Recv(x, 2, MPI_INT64_T, me.rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            x[0] = enough() ? -1 : n, x[1] = n;
        if (me.rank == last && x[0] >= 0 && (x[0] != n || x[1] != through(n)))
            fail("an item arrived wrong at the end of the pipeline");
        x[1] = stage(x[1], me.rank);
        if (me.rank < last)
            MPI_Send(x, 2, MPI_INT64_T, me.rank + 1, 1, MPI_COMM_WORLD);
        if (n % 16 == 15 && me.rank == last)
            MPI_Send(x, 1, MPI_INT64_T, 0, 2, MPI_COMM_WORLD);
        if (n % 16 == 15 && me.rank == 0)
            MPI_Recv(&(int64_t){0}, 1, MPI_INT64_T, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        step(n);
    }
    return n;
}

static int64_t task(int64_t n)
{
    return n * n % 10007;
}

static long be_master(void)
{
    int64_t sent = 0, sum = 0, want = 0, got;
    long round = 0;
    MPI_Status s;

    for (int to = 1; to < me.size; to++, sent++)
        MPI_Send(&sent, 1, MPI_INT64_T, to, 1, MPI_COMM_WORLD);
    for (int at_work = me.size - 1; at_work > 0; round++) {
        MPI_Recv(&got, 1, MPI_INT64_T, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
        sum += got;
        if (!enough()) {
            MPI_Send(&sent, 1, MPI_INT64_T, s.MPI_SOURCE, 1, MPI_COMM_WORLD);
            sent++;
        } else {
            MPI_Send(&(int64_t){-1}, 1, MPI_INT64_T, s.MPI_SOURCE, 1, MPI_COMM_WORLD);
            at_work--;
        }
        if (round == 0)
            step(0);
        harm_turn();
    }
    for (int64_t n = 0; n < sent; n++)
        want += task(n);
    if (sum != want)
        fail("the results do not add up");
    return round;
}

static long talk_master(void)
{
    int64_t n, result;
    long round = 0;

    if (me.rank == 0)
        return be_master();
    for (;; round++) {
        MPI_Recv(&n, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (n < 0)
            return round;
        result = task(n);
        MPI_Send(&result, 1, MPI_INT64_T, 0, 2, MPI_COMM_WORLD);
        step(round);
    }
}

/* Outside MPI for two seconds, in turn; where it is only that nobody else gets the processor that
 * would be lost, it sleeps. */
static long talk_phases(void)
{
    int64_t now[2], all[2] = {0, 0};
    long round = 0;

    for (; !all[1]; round++) {
        double end = tu_now() + (round > 0 && round % me.size == me.rank ? 2.0 : 0.1);

        while (tu_now() < end) {
            tu_compute(0.001);
            rest_ms(10);
            harm_turn();
        }
        now[0] = word(me.rank, 0, round);
        now[1] = enough();
        MPI_Allreduce(now, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int rank = 0; rank < me.size; rank++)
            all[0] -= word(rank, 0, round);
        if (all[0])
            fail("the sum over all ranks is wrong");
        step(round);
    }
    return round;
}

static const struct {
    const char *name;
    long (*talk)(void);
} patterns[] = {
    {"alltoall", talk_alltoall}, {"halo", talk_halo},     {"pipeline", talk_pipeline},
    {"master", talk_master},     {"phases", talk_phases},
};

static void talk(const char *name)
{
    long rounds = -1;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        if (!strcmp(patterns[i].name, name))
            rounds = patterns[i].talk();
    if (rounds < 0)
        fail("there is no such pattern");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me.rank == 0)
        printf("work: %s, %d ranks, %ld rounds, all right\n", name, me.size, rounds);
    fflush(stdout);
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
    keep_those_open();
    rest_while_idle(tu_number(argc, argv, "--rest-us", 200));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me.size);
    tu_hello(me.rank);
    use_thread_local();
    me.until = tu_string(argc, argv, "--until", "");
    me.end = tu_now() + tu_number(argc, argv, "--seconds", *me.until ? 3600 : 10);
    me.pause_ms = tu_number(argc, argv, "--pause-ms", 5);
    read_harm(argc, argv);
    talk(tu_string(argc, argv, "--pattern", "alltoall"));
    check_files();
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    check_files();
    return 0;
}
