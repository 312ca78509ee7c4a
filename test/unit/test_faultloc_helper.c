/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The helper threads of a whole job in small: every rank is a process of its own, which starts its
 * helper and then does as the test says; the test writes their slots, for what a rank does in MPI
 * is nothing but what stands there.  Nodes are boards of their own, on the loopback interface:
 * path data is 127.0.0.1, path mgmt is 127.0.0.2.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc_helper.h"
#include "faultloc_proc.h"
#include "faultloc_sock.h"
#include "hang.h"
#include "process.h"
#include "rules.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES_MAX 2
#define RANKS_MAX 4
#define RECV 0xffu
#define AGENT FAULTLOC_ROLE_AGENT
#define DEPUTY FAULTLOC_ROLE_DEPUTY

struct rank {
    struct process process;
    struct faultloc_board *board;
    struct faultloc_slot *slot;
    int32_t at; /* among those of its node */
};

static int32_t nodes, ppn;
static struct faultloc_board *board[NODES_MAX];
static struct rank rank[NODES_MAX * RANKS_MAX];
static struct faultloc_settings settings;
static char folder[64], err_path[128];
static struct faultloc_helper *helper; /* of a rank, in its process */
static int descriptors; /* that a rank had before its helper */

/* ---- a rank's process ---------------------------------------------------------------------- */

/* The leader's part at the start of a job. */
static int pick_ports(const struct rank *r, struct faultloc_ports *ports)
{
    struct faultloc_address *own = &faultloc_board_addresses(r->board)[r->board->self];
    struct faultloc_ports deputy;

    if (faultloc_channel_pick_ports(own->path, ports) ||
        faultloc_channel_pick_ports(own->path, &deputy))
        return 1;
    own->port[AGENT] = ports->port;
    own->port[DEPUTY] = deputy.port;
    faultloc_ports_close(&deputy);
    return 0;
}

static char start_helper(struct rank *r, struct faultloc_ports *ports)
{
    int rc = faultloc_helper_start(r->board, r->at, &settings, ports->port ? ports : NULL, &helper);

    return rc == 0 ? 'y' : rc == EMFILE ? 'm' : 'n';
}

static char stop_helper(struct rank *r)
{
    r->slot->state = FAULTLOC_SLOT_LEFT;
    faultloc_helper_stop(helper);
    return 'q';
}

/* A signal that this thread blocks stays pending if no other thread takes it. */
static char send_own_signal(void)
{
    sigset_t one, pending;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    kill(getpid(), SIGUSR1);
    sigpending(&pending);
    return sigismember(&pending, SIGUSR1) ? 'y' : 'n';
}

/* A worker that outlives its parent, until the test ends. */
static char fork_worker(int in)
{
    if (fork() > 0)
        return 'f';
    while (process_obey(in))
        ;
    return 0;
}

/* One more, and then there are none. */
static void few_descriptors(void)
{
    struct rlimit limit;
    int lowest = dup(STDIN_FILENO);

    close(lowest);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t) lowest + 1;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int rank_main(int in, int out, void *arg)
{
    struct rank *r = arg;
    struct faultloc_ports ports = {.fd = {-1, -1}};

    dup2(open(err_path, O_WRONLY | O_APPEND), STDERR_FILENO);
    descriptors = process_descriptors();
    for (;;) {
        char word = process_obey(in);
        switch (word) {
            case 'p':
                word = pick_ports(r, &ports) ? 'n' : 'y';
                break;
            case 's':
                word = start_helper(r, &ports);
                break;
            case 'q':
                word = stop_helper(r);
                break;
            case 'a':
                r->slot->state = FAULTLOC_SLOT_LEFT;
                faultloc_helper_quit(helper, 10000);
                process_tell(out, 'a');
                _exit(3);
            case 'u':
                word = send_own_signal();
                break;
            case 'f':
                word = fork_worker(in);
                break;
            case 'm':
                few_descriptors();
                break;
            case 'd':
                word = process_descriptors() == descriptors ? 'y' : 'n';
                break;
            case 'x':
                return 0;
        }
        process_tell(out, word);
    }
}

static char ask(const struct rank *r, char word)
{
    process_say(&r->process, word);
    return process_hear(&r->process);
}

/* ---- a job --------------------------------------------------------------------------------- */

static bool is_held(pthread_mutex_t *office)
{
    int rc = pthread_mutex_trylock(office);

    if (rc == EOWNERDEAD)
        pthread_mutex_consistent(office);
    if (rc == 0 || rc == EOWNERDEAD)
        pthread_mutex_unlock(office);
    return rc == EBUSY;
}

static void fill_board(int32_t node)
{
    struct faultloc_board *b = board[node];

    b->self = node;
    b->fanout = 32;
    b->seed = 7;
    b->has_path[0] = b->has_path[1] = true;
    memset(b->key, 'k', sizeof(b->key));
    snprintf(b->job_id, sizeof(b->job_id), "4711");
    for (int32_t n = 0; n < nodes; n++) {
        snprintf(faultloc_board_name(b, n), FAULTLOC_NAME_SIZE, "h%d", (int) n);
        faultloc_board_addresses(b)[n].path[0] = (struct faultloc_inet){AF_INET, {127, 0, 0, 1}};
        faultloc_board_addresses(b)[n].path[1] = (struct faultloc_inet){AF_INET, {127, 0, 0, 2}};
        faultloc_board_node_first(b)[n] = n * ppn;
    }
    faultloc_board_node_first(b)[nodes] = nodes * ppn;
    for (int32_t i = 0; i < nodes * ppn; i++) {
        faultloc_board_rank_node(b)[i] = i / ppn;
        faultloc_board_node_ranks(b)[i] = i;
    }
}

static void start_rank(int32_t i)
{
    struct rank *r = &rank[i];
    struct faultloc_proc proc;

    *r = (struct rank){.board = board[i / ppn], .at = i % ppn};
    r->slot = faultloc_board_slot(r->board, r->at);
    process_start(&r->process, rank_main, r);
    ck_assert_int_eq(faultloc_proc_read(NULL, r->process.pid, &proc), 0);
    r->slot->rank = i;
    r->slot->pid = (int32_t) r->process.pid;
    r->slot->start = proc.start;
    r->slot->state = FAULTLOC_SLOT_RUNNING;
    for (int32_t n = 0; n < nodes; n++)
        faultloc_board_rank_pid(board[n])[i] = (int32_t) r->process.pid;
}

static void exchange_ports(void)
{
    for (int32_t n = 0; n < nodes; n++) {
        ck_assert_int_eq(ask(&rank[n * ppn], 'p'), 'y');
        for (int32_t to = 0; to < nodes; to++)
            memcpy(faultloc_board_addresses(board[to])[n].port,
                   faultloc_board_addresses(board[n])[n].port, sizeof(uint16_t[FAULTLOC_ROLES]));
    }
}

static void make_job(int32_t nodes_, int32_t ppn_)
{
    int fd;

    nodes = nodes_;
    ppn = ppn_;
    ck_assert_int_ge(sodium_init(), 0);
    snprintf(folder, sizeof(folder), "/tmp/test_faultloc_helper.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(err_path, sizeof(err_path), "%s/err", folder);
    close(open(err_path, O_WRONLY | O_CREAT, 0600));
    settings = (struct faultloc_settings){.stall = 200 * FTREE_MS, .sample = 20 * FTREE_MS};
    snprintf(settings.report, sizeof(settings.report), "%s/report.json", folder);
    snprintf(settings.trace, sizeof(settings.trace), "%s/trace", folder);
    for (int32_t n = 0; n < nodes; n++) {
        ck_assert_int_eq(faultloc_board_make(nodes, nodes * ppn, ppn, &board[n], &fd), 0);
        close(fd);
        fill_board(n);
    }
}

/* Forks all ranks before the first port is open, so that none inherits another's. */
static void start_ranks(void)
{
    for (int32_t i = 0; i < nodes * ppn; i++)
        start_rank(i);
    exchange_ports();
}

static void start_helpers(void)
{
    start_ranks();
    /* in order, as MPI_Init does: every node's agent first */
    for (int32_t at = 0; at < ppn; at++)
        for (int32_t n = 0; n < nodes; n++)
            ck_assert_int_eq(ask(&rank[n * ppn + at], 's'), 'y');
    for (int32_t n = 0; n < nodes && ppn > 1; n++)
        UNTIL(is_held(&board[n]->deputy));
}

static void start_job(int32_t nodes_, int32_t ppn_)
{
    make_job(nodes_, ppn_);
    start_helpers();
}

static const char *door_of(int32_t node)
{
    static char path[100];

    snprintf(path, sizeof(path), "%s/faultloc/4711@h%d.sock", folder, (int) node);
    return path;
}

static void end_job(void)
{
    static const char *const files[] = {"err", "report.json", "trace"};
    char path[256];

    for (int32_t i = 0; i < nodes * ppn; i++)
        process_kill(&rank[i].process);
    for (int i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        unlink(path);
    }
    for (int32_t n = 0; n < nodes; n++)
        unlink(door_of(n));
    snprintf(path, sizeof(path), "%s/faultloc", folder);
    rmdir(path); /* it is there if there were doors */
    ck_assert_int_eq(rmdir(folder), 0);
    for (int32_t n = 0; n < nodes; n++)
        faultloc_board_unmap(board[n]);
}

/* ---- looking on ---------------------------------------------------------------------------- */

static const char *read_text(const char *name)
{
    static char text[65536];
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "r");
    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return text;
}

static int count_in(const char *name, const char *what)
{
    int n = 0;

    for (const char *at = strstr(read_text(name), what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static int said(const char *what)
{
    return count_in("err", what);
}

/* All verdicts on stderr are the "[faultloc] class:" lines; what follows them is indented. */
static int verdicts(void)
{
    return said("[faultloc] process-") + said("[faultloc] node-") + said("[faultloc] unknown");
}

static bool is_agent(const struct rank *r)
{
    return r->board->agent_pid == (int32_t) r->process.pid;
}

/* Whether somebody who is of FaultLoc serves that role's port at the node: sends a challenge. */
static bool serves(int32_t node, enum faultloc_role role)
{
    const struct faultloc_address *to = &faultloc_board_addresses(board[0])[node];
    char challenge[FAULTLOC_CHALLENGE_SIZE] = "";
    struct sockaddr_storage sa;
    socklen_t len = faultloc_sockaddr_make(&to->path[0], to->port[role], &sa);
    struct pollfd p = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .events = POLLIN};
    bool yes = connect(p.fd, (struct sockaddr *) &sa, len) == 0 && poll(&p, 1, 1000) == 1 &&
               recv(p.fd, challenge, sizeof(challenge), 0) == sizeof(challenge) &&
               memcmp(challenge, "FLTC", 4) == 0;

    close(p.fd);
    return yes;
}

/* ---- what ranks do ------------------------------------------------------------------------- */

static void wait_for_rank(struct rank *r, int32_t peer)
{
    struct faultloc_slot *s = r->slot;

    s->call = s->wait_call = (1u << FAULTLOC_CALL_BITS) | RECV;
    s->wait_peer = peer;
    s->wait_since_ns = faultloc_now();
}

static bool is_waiting(const struct rank *r)
{
    return r->slot && r->slot->wait_since_ns && r->process.pid &&
           r->slot->state != FAULTLOC_SLOT_LEFT;
}

/* A wait loop turns. */
static void turn_loops(void)
{
    for (int32_t i = 0; i < nodes * ppn; i++)
        if (is_waiting(&rank[i]))
            rank[i].slot->spins++;
}

/* Waits for the condition while the ranks that wait go on waiting. */
#define UNTIL_TURNING(condition) UNTIL((turn_loops(), (condition)))

/* ---- offices ------------------------------------------------------------------------------- */

START_TEST(the_first_is_agent_the_next_is_deputy)
{
    make_job(2, 3);
    start_ranks();
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(ask(&rank[3 * n], 's'), 'y');
        /* when its helper has been started, and not some time later */
        ck_assert(is_agent(&rank[3 * n]) && is_held(&board[n]->agent));
        ck_assert(!is_held(&board[n]->deputy));
    }
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(ask(&rank[3 * n + 2], 's'), 'y');
        UNTIL(is_held(&board[n]->deputy));
        ck_assert_int_eq(ask(&rank[3 * n + 1], 's'), 'y');
    }
    for (int32_t n = 0; n < 2; n++) {
        ck_assert(serves(n, AGENT));
        UNTIL(serves(n, DEPUTY));
    }
    ck_assert_str_eq(read_text("err"), "");
    end_job();
}
END_TEST

START_TEST(a_node_alone_listens_nowhere)
{
    start_job(1, 2);
    ck_assert(is_agent(&rank[0]));
    ck_assert(!serves(0, AGENT));
    end_job();
}
END_TEST

/* The agent of node 0, by its place there; -1: none of those who live. */
static int agent_at(void)
{
    for (int i = 0; i < ppn; i++)
        if (rank[i].process.pid && is_agent(&rank[i]))
            return i;
    return -1;
}

/* Killed one after the other; the port stays the same. */
START_TEST(who_is_killed_is_succeeded)
{
    start_job(2, RANKS_MAX);
    for (int left = RANKS_MAX - 1; left > 0; left--) {
        process_kill(&rank[agent_at()].process);
        UNTIL(agent_at() >= 0 && serves(0, AGENT));
        ck_assert(is_held(&board[0]->agent));
        if (left > 1)
            UNTIL(serves(0, DEPUTY));
    }
    ck_assert(serves(1, AGENT));
    end_job();
}
END_TEST

START_TEST(agent_and_deputy_killed_at_once_are_succeeded)
{
    start_job(2, RANKS_MAX);
    for (int i = 0; i < 3; i++)
        process_stop(&rank[i].process); /* else one may succeed before it is killed */
    for (int i = 0; i < 3; i++)
        process_kill(&rank[i].process);
    UNTIL(agent_at() == 3 && serves(0, AGENT));
    end_job();
}
END_TEST

/* The agent's process has workers that were forked and live on: they must not sit on its port. */
START_TEST(a_forked_worker_does_not_keep_the_port)
{
    start_job(2, 2);
    ck_assert_int_eq(ask(&rank[0], 'f'), 'f');
    process_kill(&rank[0].process);
    UNTIL(is_agent(&rank[1]));
    UNTIL(serves(0, AGENT));
    end_job();
}
END_TEST

/* ---- stopping ------------------------------------------------------------------------------ */

static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* Who has another office than the agent's leaves at once; the agent once the others have left. */
static void stop_node(int32_t node, const int *order)
{
    for (int i = 0; i < ppn; i++) {
        process_say(&rank[node * ppn + order[i]].process, 'q');
        if (order[i] != 0)
            ck_assert_int_eq(process_hear(&rank[node * ppn + order[i]].process), 'q');
    }
}

/* Nobody holds an office or a descriptor any more, also who slept; and nothing was said. */
static void check_all_have_ended(void)
{
    for (int32_t i = 0; i < nodes * ppn; i++)
        UNTIL(ask(&rank[i], 'd') == 'y');
    for (int32_t n = 0; n < nodes; n++)
        ck_assert(!is_held(&board[n]->agent) && !is_held(&board[n]->deputy));
    ck_assert_str_eq(read_text("err"), "");
}

START_TEST(stop_in_any_order)
{
    start_job(1, 3);
    stop_node(0, orders[_i]);
    ck_assert_int_eq(process_hear(&rank[0].process), 'q');
    check_all_have_ended();
    end_job();
}
END_TEST

START_TEST(two_nodes_leave_together)
{
    start_job(2, 3);
    stop_node(0, orders[_i]);
    stop_node(1, orders[COUNT(orders) - 1 - _i]);
    ck_assert_int_eq(process_hear(&rank[0].process), 'q');
    ck_assert_int_eq(process_hear(&rank[3].process), 'q');
    check_all_have_ended();
    ck_assert_int_eq(count_in("trace", "everyone has left"), 2);
    end_job();
}
END_TEST

START_TEST(nobody_waits_for_ever_for_a_rank_that_does_not_leave)
{
    start_job(1, 2);
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    end_job();
}
END_TEST

START_TEST(nor_for_a_node_that_does_not)
{
    start_job(2, 1);
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    ck_assert_int_eq(count_in("trace", "leaves without having heard of everyone"), 1);
    end_job();
}
END_TEST

/* It has left, and its helper still sleeps; when it wakes, in a process that goes on, it ends. */
START_TEST(a_sleeper_is_left_behind)
{
    start_job(1, RANKS_MAX);
    for (int i = RANKS_MAX - 1; i > 0; i--)
        ck_assert_int_eq(ask(&rank[i], 'q'), 'q');
    /* one of them was the deputy, and its leaving woke the others, one by one */
    UNTIL(!is_held(&board[0]->deputy));
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    check_all_have_ended();
    for (int i = 0; i < RANKS_MAX; i++) {
        process_say(&rank[i].process, 'x');
        ck_assert_int_eq(process_end(&rank[i].process), 0);
    }
    end_job();
}
END_TEST

START_TEST(a_sleeper_that_has_left_does_not_succeed)
{
    start_job(2, 3);
    ck_assert_int_eq(ask(&rank[2], 'q'), 'q');
    process_kill(&rank[0].process);
    UNTIL(is_agent(&rank[1]) && serves(0, AGENT));
    UNTIL(ask(&rank[2], 'd') == 'y');
    ck_assert(!is_held(&board[0]->deputy));
    end_job();
}
END_TEST

/* ---- harm ---------------------------------------------------------------------------------- */

START_TEST(signals_are_the_programs)
{
    start_job(1, 2);
    ck_assert_int_eq(ask(&rank[0], 'u'), 'y');
    ck_assert_int_eq(ask(&rank[1], 'u'), 'y');
    end_job();
}
END_TEST

START_TEST(an_agent_that_cannot_start_is_an_error)
{
    make_job(2, 1);
    start_ranks();
    ck_assert_int_eq(ask(&rank[0], 'm'), 'm');
    ck_assert_int_eq(ask(&rank[0], 's'), 'm');
    ck_assert(!is_held(&board[0]->agent));
    ck_assert_int_eq(ask(&rank[0], '.'), '.');
    end_job();
}
END_TEST

/* In the test's own process, where the leak detector looks. */
START_TEST(nothing_leaks)
{
    struct faultloc_helper *agent, *deputy, *sleeper;
    int before;

    make_job(1, 3);
    for (int i = 0; i < 3; i++)
        faultloc_board_slot(board[0], i)->state = FAULTLOC_SLOT_RUNNING;
    before = process_descriptors();
    ck_assert_int_eq(faultloc_helper_start(board[0], 0, &settings, NULL, &agent), 0);
    ck_assert_int_eq(faultloc_helper_start(board[0], 1, &settings, NULL, &deputy), 0);
    UNTIL(is_held(&board[0]->deputy));
    ck_assert_int_eq(faultloc_helper_start(board[0], 2, &settings, NULL, &sleeper), 0);
    for (int i = 0; i < 3; i++)
        faultloc_board_slot(board[0], i)->state = FAULTLOC_SLOT_LEFT;
    faultloc_helper_stop(sleeper);
    faultloc_helper_stop(deputy);
    faultloc_helper_stop(agent);
    UNTIL(process_descriptors() == before);
    nodes = 0; /* no processes to end */
    unlink(err_path);
    snprintf(err_path, sizeof(err_path), "%s/trace", folder);
    unlink(err_path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* Nobody reads stderr any more: the report goes to the file, and the agent lives. */
START_TEST(a_closed_stderr_is_survived)
{
    int ends[2];

    make_job(1, 3);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    snprintf(err_path, sizeof(err_path), "/proc/self/fd/%d", ends[1]);
    start_ranks();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ask(&rank[i], 's'), 'y');
    process_kill(&rank[2].process);
    UNTIL(count_in("report.json", "process-crash") > 0);
    ck_assert_int_eq(ask(&rank[1], 'q'), 'q');
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    close(ends[1]);
    end_job();
}
END_TEST

/* ---- faults on the own node ---------------------------------------------------------------- */

START_TEST(a_vanished_rank_is_told)
{
    start_job(1, 3);
    process_kill(&rank[2].process);
    UNTIL(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_eq(said("process-crash: rank 2"), 1);
    ck_assert_int_eq(count_in("report.json", "\"process-crash\""), 1);
    ck_assert_int_eq(ask(&rank[1], 'q'), 'q');
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    ck_assert_int_eq(verdicts(), 1);
    end_job();
}
END_TEST

START_TEST(a_stopped_rank_is_told_when_another_waits)
{
    start_job(1, 3);
    process_stop(&rank[2].process);
    wait_for_rank(&rank[1], _i ? FAULTLOC_PEER_LOCAL : 2);
    UNTIL_TURNING(said("[faultloc] process-stopped: ") == 1);
    ck_assert_int_ge(said("rank 2"), 1);
    UNTIL_TURNING(count_in("report.json", "\"process-stopped\"") == 1);
    ck_assert_int_eq(verdicts(), 1);
    end_job();
}
END_TEST

START_TEST(who_has_left_may_end)
{
    start_job(1, 3);
    rank[2].slot->state = FAULTLOC_SLOT_LEFT;
    process_kill(&rank[2].process);
    process_kill(&rank[1].process); /* and this one not: it is told, and then it alone was */
    UNTIL(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    ck_assert_int_eq(verdicts(), 1);
    ck_assert_int_eq(said("process-crash: rank 1"), 1);
    end_job();
}
END_TEST

START_TEST(abort_ends_the_job_where_no_rank_looks)
{
    make_job(1, 3);
    settings.action = FAULTLOC_ACTION_ABORT;
    start_ranks();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ask(&rank[i], 's'), 'y');
    process_kill(&rank[2].process);
    ck_assert_int_eq(process_end(&rank[0].process), 1);
    ck_assert_int_eq(board[0]->abort_code, 1);
    ck_assert_int_eq(said("[faultloc] process-crash: "), 1);
    ck_assert_int_eq(count_in("report.json", "\"process-crash\""), 1);
    end_job();
}
END_TEST

/* ---- faults elsewhere ---------------------------------------------------------------------- */

START_TEST(a_lost_process_alone_on_its_node_is_told)
{
    start_job(2, 1);
    process_kill(&rank[1].process);
    wait_for_rank(&rank[0], 1);
    UNTIL_TURNING(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_ge(said("rank 1"), 1);
    ck_assert_int_ge(said("h1"), 1);
    UNTIL_TURNING(count_in("report.json", "\"rule\": \"process-crash/port-refused\"") == 1);
    end_job();
}
END_TEST

/* It ends by a will of its own, and says so: who waits for it asks in vain, but accuses nobody. */
START_TEST(who_quits_in_the_middle_of_the_job_has_not_crashed)
{
    start_job(2, 1);
    ck_assert_int_eq(ask(&rank[1], 'a'), 'a');
    ck_assert_int_eq(count_in("trace", "leaves without having heard of everyone"), 1);
    process_end(&rank[1].process);
    rank[1].process.pid = 0;
    wait_for_rank(&rank[0], 1);
    /* told again and again, and each time who is asked says that it has left */
    UNTIL_TURNING(count_in("trace", "rank 0 stalls, waits for rank 1") == 2);
    ck_assert_int_eq(verdicts(), 0);
    end_job();
}
END_TEST

START_TEST(who_quits_leaves_the_office_to_who_stays)
{
    start_job(2, 2);
    ck_assert_int_eq(ask(&rank[0], 'a'), 'a');
    process_end(&rank[0].process);
    rank[0].process.pid = 0;
    UNTIL(is_agent(&rank[1]));
    ck_assert_int_eq(verdicts(), 0);
    end_job();
}
END_TEST

/* As a process that aborts, and waits for the launcher to end it. */
START_TEST(who_quits_and_stays_leaves_the_office_all_the_same)
{
    start_job(2, 2);
    ck_assert_int_eq(ask(&rank[0], 'a'), 'a');
    UNTIL(is_agent(&rank[1]));
    ck_assert_int_eq(kill(rank[0].process.pid, 0), 0);
    ck_assert_int_eq(verdicts(), 0);
    end_job();
}
END_TEST

START_TEST(a_stopped_process_alone_on_its_node_is_told)
{
    start_job(2, 1);
    process_stop(&rank[1].process);
    wait_for_rank(&rank[0], 1);
    UNTIL_TURNING(said("[faultloc] process-stopped: ") == 1);
    ck_assert_int_ge(said("rank 1"), 1);
    UNTIL_TURNING(count_in("report.json", "\"rule\": \"process-stopped/connects-never-answers\"") ==
                  1);
    end_job();
}
END_TEST

/* It is the agent that is stopped: the deputy says so, for another node and with its name. */
START_TEST(a_stopped_agent_is_told_by_its_deputy)
{
    start_job(2, 2);
    UNTIL(serves(1, DEPUTY));
    process_stop(&rank[2].process);
    wait_for_rank(&rank[0], 2);
    UNTIL_TURNING(said("[faultloc] process-stopped: ") == 1);
    ck_assert_int_ge(said("rank 2"), 1);
    UNTIL_TURNING(count_in("report.json", "\"rule\": \"process-stopped/deputy-says-stopped\"") ==
                  1);
    end_job();
}
END_TEST

/* A node that waits for a node that is well accuses nobody. */
START_TEST(a_long_wait_is_no_fault)
{
    start_job(2, 2);
    wait_for_rank(&rank[0], 2);
    UNTIL_TURNING(count_in("trace", "is well") >= 2);
    ck_assert_int_eq(verdicts(), 0);
    end_job();
}
END_TEST

/* ---- succession and what is known ---------------------------------------------------------- */

START_TEST(a_verdict_is_told_once_whoever_is_agent)
{
    start_job(1, RANKS_MAX);
    process_kill(&rank[3].process);
    UNTIL(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_eq(board[0]->verdicts, 1);
    process_kill(&rank[0].process);
    /* the agent that was is told by its successor, who knows of the one before */
    UNTIL(said("[faultloc] process-crash: ") == 2);
    UNTIL(count_in("report.json", "\"process-crash\"") == 2);
    ck_assert_int_eq(ask(&rank[3 - agent_at()], 'q'), 'q');
    ck_assert_int_eq(ask(&rank[agent_at()], 'q'), 'q');
    ck_assert_int_eq(verdicts(), 2);
    ck_assert_int_eq(said("process-crash: rank 3"), 1);
    ck_assert_int_eq(said("process-crash: rank 0"), 1);
    end_job();
}
END_TEST

/* The agent of a job of one node is stopped, so its deputy tells; and when it goes on it knows. */
START_TEST(a_stopped_agent_learns_what_was_told_meanwhile)
{
    start_job(1, 3);
    process_stop(&rank[0].process);
    wait_for_rank(&rank[1], FAULTLOC_PEER_LOCAL);
    UNTIL_TURNING(said("[faultloc] process-stopped: rank 0") == 1);
    UNTIL_TURNING(count_in("report.json", "\"process-stopped\"") == 1);
    process_continue(&rank[0].process);
    process_kill(&rank[2].process);
    UNTIL_TURNING(said("[faultloc] process-crash: rank 2") == 1);
    UNTIL_TURNING(count_in("report.json", "\"process-crash\"") == 1);
    ck_assert_int_eq(count_in("report.json", "\"process-stopped\""), 1);
    ck_assert_int_eq(verdicts(), 2);
    end_job();
}
END_TEST

/* ---- other middleware ---------------------------------------------------------------------- */

static void start_job_with_doors(int32_t nodes_, int32_t ppn_)
{
    make_job(nodes_, ppn_);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    settings.symptoms = true;
    start_helpers();
}

static bool tell(int32_t node, const char *text)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool told;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", door_of(node));
    told = sendto(fd, text, strlen(text), MSG_DONTWAIT, (struct sockaddr *) &a, sizeof(a)) >= 0;
    close(fd);
    return told;
}

/* What is told to the agent of one node about another one is looked into. */
START_TEST(a_symptom_that_is_told_is_looked_into)
{
    start_job_with_doors(2, 2);
    ck_assert(tell(0, "{\"kind\":\"user-suspects\",\"component\":\"rank 3\"}"));
    UNTIL(count_in("trace", "user-suspects") > 0);
    UNTIL(count_in("trace", "h1 is well") > 0);
    ck_assert(tell(1, "{\"kind\":\"power-off\",\"component\":\"node h7\"}"));
    UNTIL(said("node h1: a symptom was not understood: the job has no node \"h7\"") == 1);
    ck_assert_int_eq(verdicts(), 0);
    end_job();
}
END_TEST

/* Also where a worker that the agent's process has forked lives on. */
START_TEST(a_successor_opens_the_door_anew)
{
    start_job_with_doors(1, 3);
    ck_assert(tell(0, "nonsense"));
    UNTIL(said("a symptom was not understood") == 1);
    ck_assert_int_eq(ask(&rank[0], 'f'), 'f');
    process_kill(&rank[0].process);
    /* what is told while the one is buried is lost */
    UNTIL((tell(0, "nonsense"), said("a symptom was not understood") >= 2));
    ck_assert_int_eq(ask(&rank[3 - agent_at()], 'q'), 'q');
    ck_assert_int_eq(ask(&rank[agent_at()], 'q'), 'q');
    ck_assert_int_ne(access(door_of(0), F_OK), 0);
    end_job();
}
END_TEST

/* One that is stopped keeps its door, and who stands in for it has none. */
START_TEST(a_stand_in_leaves_the_door_alone)
{
    start_job_with_doors(1, 3);
    process_stop(&rank[0].process);
    wait_for_rank(&rank[1], FAULTLOC_PEER_LOCAL);
    UNTIL_TURNING(said("[faultloc] process-stopped: rank 0") == 1);
    ck_assert(tell(0, "nonsense"));
    process_continue(&rank[0].process);
    UNTIL_TURNING(said("a symptom was not understood") == 1);
    UNTIL_TURNING(said("[faultloc] withdrawn: process-stopped of rank 0") == 1);
    end_job();
}
END_TEST

static void write_rules(const char *text, size_t len)
{
    char temporary[FAULTLOC_PATH_ROOM + 8];
    FILE *f;

    snprintf(temporary, sizeof(temporary), "%s.new", settings.rules);
    f = fopen(temporary, "w");
    ck_assert_uint_eq(fwrite(text, 1, len, f), len);
    fclose(f);
    ck_assert_int_eq(rename(temporary, settings.rules), 0);
}

/* The threads of a rank that read rules. */
static int readers(const struct rank *r)
{
    return process_threads(r->process.pid, "faultloc-rules");
}

static int all_readers(void)
{
    int n = 0;

    for (int32_t i = 0; i < nodes * ppn; i++)
        n += rank[i].process.pid ? readers(&rank[i]) : 0;
    return n;
}

static void make_job_with_rules(int32_t nodes_, int32_t ppn_)
{
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    make_job(nodes_, ppn_);
    snprintf(settings.rules, sizeof(settings.rules), "%s/rules", folder);
    write_rules(text, len);
}

/* Both nodes read them; one says so.  A bad file is refused by both. */
START_TEST(rules_are_read_anew_when_they_change)
{
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    make_job_with_rules(2, 2);
    start_helpers();
    UNTIL(said(" is in use now (") == 1);
    write_rules("{\n", 2);
    UNTIL(said("; the rules read before stay in use\n") == 2);
    write_rules(text, len);
    UNTIL(said(" is in use now (") == 2);
    process_kill(&rank[3].process);
    UNTIL(said("[faultloc] process-crash: ") == 1);
    unlink(settings.rules);
    end_job();
}
END_TEST

/* And none where there is no file to read. */
START_TEST(one_thread_of_a_node_reads_the_rules)
{
    start_job(1, 3);
    ck_assert_int_eq(all_readers(), 0);
    end_job();
    make_job_with_rules(2, 3);
    start_helpers();
    UNTIL(all_readers() == 2);
    ck_assert_int_eq(readers(&rank[0]), 1);
    process_kill(&rank[0].process);
    UNTIL(agent_at() > 0 && readers(&rank[agent_at()]) == 1);
    ck_assert_int_eq(all_readers(), 2);
    unlink(settings.rules);
    end_job();
}
END_TEST

/* The rules' file system does not answer: faults are found all the same, agents are succeeded, and
 * when it does answer its rules are used. */
START_TEST(a_file_system_that_hangs_holds_up_nobody)
{
    make_job_with_rules(2, 3);
    hang_begin(settings.rules);
    start_helpers();
    ck_assert_int_eq(said(": no answer of its file system yet; the built-in rules are used"), 2);
    UNTIL(*hang_held == 2);
    ck_assert(serves(0, AGENT) && serves(1, AGENT));
    process_kill(&rank[5].process);
    UNTIL(said("[faultloc] process-crash: rank 5") == 1);
    process_kill(&rank[0].process);
    UNTIL(agent_at() > 0 && serves(0, AGENT));
    UNTIL(said("[faultloc] process-crash: rank 0") == 1);
    ck_assert_int_eq(count_in("trace", "uses the rules"), 0);
    hang_end();
    UNTIL(count_in("trace", "uses the rules") == 2);
    UNTIL(said(" is in use now (") == 1);
    unlink(settings.rules);
    end_job();
}
END_TEST

/* Nor does the end of the job wait for it, or that of the process. */
START_TEST(who_hangs_does_not_keep_the_job_from_its_end)
{
    make_job_with_rules(1, 2);
    hang_begin(settings.rules);
    start_helpers();
    UNTIL(*hang_held == 1);
    ck_assert_int_eq(ask(&rank[1], 'q'), 'q');
    ck_assert_int_eq(ask(&rank[0], 'q'), 'q');
    ck_assert_int_eq(readers(&rank[0]), 1);
    if (_i)
        hang_end(); /* in a process that goes on */
    if (_i)
        UNTIL(ask(&rank[0], 'd') == 'y');
    for (int i = 0; i < 2; i++) {
        process_say(&rank[i].process, 'x');
        ck_assert_int_eq(process_end(&rank[i].process), 0);
    }
    ck_assert_int_eq(verdicts(), 0);
    unlink(settings.rules);
    end_job();
}
END_TEST

SUITE("faultloc_helper")
{
    TEST(the_first_is_agent_the_next_is_deputy);
    TEST(a_node_alone_listens_nowhere);
    TEST(who_is_killed_is_succeeded);
    TEST(agent_and_deputy_killed_at_once_are_succeeded);
    TEST(a_forked_worker_does_not_keep_the_port);
    TEST_ROWS(stop_in_any_order, COUNT(orders));
    TEST_ROWS(two_nodes_leave_together, COUNT(orders));
    TEST(nobody_waits_for_ever_for_a_rank_that_does_not_leave);
    TEST(nor_for_a_node_that_does_not);
    TEST(a_sleeper_is_left_behind);
    TEST(a_sleeper_that_has_left_does_not_succeed);
    TEST(signals_are_the_programs);
    TEST(an_agent_that_cannot_start_is_an_error);
    TEST(nothing_leaks);
    TEST(a_closed_stderr_is_survived);
    TEST(a_vanished_rank_is_told);
    TEST_ROWS(a_stopped_rank_is_told_when_another_waits, 2);
    TEST(who_has_left_may_end);
    TEST(abort_ends_the_job_where_no_rank_looks);
    TEST(a_lost_process_alone_on_its_node_is_told);
    TEST(who_quits_in_the_middle_of_the_job_has_not_crashed);
    TEST(who_quits_leaves_the_office_to_who_stays);
    TEST(who_quits_and_stays_leaves_the_office_all_the_same);
    TEST(a_stopped_process_alone_on_its_node_is_told);
    TEST(a_stopped_agent_is_told_by_its_deputy);
    TEST(a_long_wait_is_no_fault);
    TEST(a_verdict_is_told_once_whoever_is_agent);
    TEST(a_stopped_agent_learns_what_was_told_meanwhile);
    TEST(a_symptom_that_is_told_is_looked_into);
    TEST(a_successor_opens_the_door_anew);
    TEST(a_stand_in_leaves_the_door_alone);
    TEST(rules_are_read_anew_when_they_change);
    TEST(one_thread_of_a_node_reads_the_rules);
    TEST(a_file_system_that_hangs_holds_up_nobody);
    TEST_ROWS(who_hangs_does_not_keep_the_job_from_its_end, 2);
}
