/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * A whole job in small, with the real program faultloc-agent: every rank is a process of its own,
 * of which the first of a node starts the agent, and which does as the test says. The test writes
 * their slots, for what a rank does in MPI is nothing but what stands there. Nodes are boards of
 * their own, on the loopback interface: path data is 127.0.0.1, path mgmt is 127.0.0.2.
 *
 * Agents and deputies become children of the test when who started them has ended: so it knows that
 * none of them is left.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/board/wakeup.h"
#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "faultloc/base/say.h"
#include "faultloc/agent/process/program.h"
#include "faultloc/base/sock.h"
#include "hang.h"
#include "process.h"
#include "ftree/rules/rules.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define NODES_MAX 2
#define RANKS_MAX 4
#define RECV 0xffu
#define AGENT FTREE_ROLE_AGENT
#define DEPUTY FTREE_ROLE_DEPUTY

struct rank {
    struct process process;
    struct faultloc_board *board;
    struct faultloc_slot *slot;
    const char *err; /* its standard error */
    int board_fd;
};

static int32_t nodes, ppn;
static struct faultloc_board *board[NODES_MAX];
static int board_fd[NODES_MAX];
static struct rank rank[NODES_MAX * RANKS_MAX];
static struct faultloc_settings settings;
static char folder[64], err_path[128], first_err_path[128], program[512];

/* ---- a rank's process ------------------------------------------------------------------------ */

static struct faultloc_start start = {.ports = {{.fd = {-1, -1}}, {.fd = {-1, -1}}}};
static int sock; /* to the agent */

/* The first rank's part at the start of a job. */
static char pick_ports(const struct rank *r)
{
    struct faultloc_address *own = &faultloc_board_addresses(r->board)[r->board->self];

    for (int role = 0; role < FTREE_ROLES; role++) {
        if (faultloc_channel_pick_ports(own->path, &start.ports[role]))
            return 'n';
        own->port[role] = start.ports[role].port;
    }
    return 'y';
}

/* What it says where it cannot is for the test to read. */
static char start_agent(const struct rank *r)
{
    char why[128] = "cannot be executed";

    faultloc_output_note(true);
    start.board_fd = r->board_fd;
    memset(start.key, 'k', sizeof(start.key));
    if (faultloc_start_send(program, &start, &sock) == 0 &&
        faultloc_start_is_ready(sock, PROCESS_DEADLINE_MS, why, sizeof(why)))
        return 'y';
    fprintf(stderr, "no agent: %s\n", why);
    return 'n';
}

static char let_go(bool go)
{
    faultloc_start_end(sock, go);
    for (int role = 0; role < FTREE_ROLES; role++)
        faultloc_ports_close(&start.ports[role]);
    return 'y';
}

/* Its transport has lost a peer, of another node where there is one; and the agent is told. */
static char lose_peer(const struct rank *r)
{
    struct faultloc_page *page = (void *) r->slot;

    return faultloc_peer_errors_add(&page->peer_errors, faultloc_now(), nodes > 1 ? ppn : 1,
                                    ECONNRESET) &&
                   faultloc_wakeup_send(r->board)
               ? 'y'
               : 'n';
}

/* A worker that outlives its parent, until the test ends; what is said is not for it. */
static char fork_worker(int in)
{
    struct pollfd end = {.fd = in};

    if (fork() > 0)
        return 'y';
    while (poll(&end, 1, -1) != 1)
        ;
    _exit(0);
}

/* It ends, and goes on in a child, as a program that becomes a daemon does.  late: the child does not
 * run for a while, until the next word. */
static char go_on_in_child(const struct rank *r, bool late, int in, int out)
{
    int32_t i = (int32_t) (r - rank) % ppn;
    struct faultloc_wait_area *area = faultloc_board_wait_area(r->board, i);

    area->forks++;
    if (fork() > 0)
        _exit(0);
    if (late) {
        process_tell(out, 'y');
        process_obey(in);
    }
    area->heir = (int32_t) getpid();
    area->born++;
    return 'y';
}

/* All that are not the test's way to it. */
static char close_descriptors(int in, int out)
{
    for (int fd = 0; fd < 1024; fd++)
        if (fd != in && fd != out)
            close(fd);
    return 'y';
}

/* What an agent that it starts would have to do with. */
static char limit_descriptors(void)
{
    struct rlimit few = {.rlim_cur = 6, .rlim_max = 6};

    return setrlimit(RLIMIT_NOFILE, &few) ? 'n' : 'y';
}

/* As a launcher binds it. */
static char bind_to_one_core(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    return sched_setaffinity(0, sizeof(set), &set) ? 'n' : 'y';
}

/* As by chrt(1), nice(1) and a site that protects jobs.  Where real time is not permitted it has none. */
static char become_urgent(void)
{
    const struct sched_param first = {.sched_priority = 1};
    FILE *f = fopen("/proc/self/oom_score_adj", "w");

    (void) sched_setscheduler(0, SCHED_RR, &first);
    if (f) {
        fprintf(f, "%d", 100);
        fclose(f);
    }
    return setpriority(PRIO_PROCESS, 0, 2) ? 'n' : 'y';
}

static char obey(const struct rank *r, char word, int in, int out)
{
    switch (word) {
        case 'p':
            return pick_ports(r);
        case 's':
            return start_agent(r);
        case 'g':
            return let_go(true);
        case 'q':
            return let_go(false);
        case 't':
            return lose_peer(r);
        case 'f':
            return fork_worker(in);
        case 'd':
        case 'D':
            return go_on_in_child(r, word == 'D', in, out);
        case 'c':
            return close_descriptors(in, out);
        case 'm':
            return limit_descriptors();
        case 'b':
            return bind_to_one_core();
        case 'u':
            return become_urgent();
    }
    return '?';
}

/* The word 'x' is its end. */
static int rank_main(int in, int out, void *arg)
{
    const struct rank *r = arg; /* its reports may go to standard output, too */

    dup2(open(r->err, O_WRONLY | O_APPEND), STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    signal(SIGTERM, SIG_DFL); /* Check's would end the test */
    for (char word; (word = process_obey(in)) != 'x';)
        process_tell(out, obey(r, word, in, out));
    return 3;
}

static char ask(const struct rank *r, char word)
{
    process_say(&r->process, word);
    return process_hear(&r->process);
}

/* ---- a job ----------------------------------------------------------------------------------- */

static void fill_board(int32_t node)
{
    struct faultloc_board *b = board[node];

    b->self = node;
    b->fanout = 32;
    b->seed = 7;
    b->settings = settings;
    b->has_path[0] = b->has_path[1] = true;
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

    *r = (struct rank){.board = board[i / ppn],
                       .board_fd = board_fd[i / ppn],
                       .err = i < ppn ? first_err_path : err_path};
    r->slot = faultloc_board_slot(r->board, i % ppn);
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
                   faultloc_board_addresses(board[n])[n].port, sizeof(uint16_t[FTREE_ROLES]));
    }
}

static void find_program(const char *name)
{
    const char *top = getenv("top_builddir");

    snprintf(program, sizeof(program), "%s/%s", top ? top : ".", name);
    ck_assert_msg(access(program, X_OK) == 0, "%s: %s; set top_builddir", program, strerror(errno));
}

static void make_job(int32_t nodes_, int32_t ppn_)
{
    nodes = nodes_;
    ppn = ppn_;
    ck_assert_int_ge(sodium_init(), 0);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    find_program(FAULTLOC_PROGRAM_NAME);
    snprintf(folder, sizeof(folder), "/tmp/test_program.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(err_path, sizeof(err_path), "%s/err", folder);
    memcpy(first_err_path, err_path, sizeof(first_err_path));
    close(open(err_path, O_WRONLY | O_CREAT, 0600));
    settings = (struct faultloc_settings){.stall = 200 * FTREE_MS, .sample = 20 * FTREE_MS};
    snprintf(settings.report, sizeof(settings.report), "%s/report.json", folder);
    snprintf(settings.trace, sizeof(settings.trace), "%s/trace", folder);
    for (int32_t n = 0; n < nodes; n++)
        ck_assert_int_eq(
            faultloc_board_make(nodes, nodes * ppn, ppn, 0, &board[n], &board_fd[n]), 0);
}

static void make_job_with_sockets(int32_t nodes_, int32_t ppn_)
{
    make_job(nodes_, ppn_);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    settings.symptoms = true;
}

/* Forks all ranks before the first port is open, so that none inherits another's. */
static void start_ranks(void)
{
    for (int32_t n = 0; n < nodes; n++)
        fill_board(n);
    for (int32_t i = 0; i < nodes * ppn; i++)
        start_rank(i);
    if (nodes > 1)
        exchange_ports();
}

static pid_t agent_of(int32_t node)
{
    return board[node]->agent_pid;
}

static pid_t deputy_of(int32_t node)
{
    return board[node]->deputy_pid;
}

/* In order, as MPI_Init does: every node's agent is there before the first is let go. */
static void start_agents(void)
{
    for (int32_t n = 0; n < nodes; n++)
        ck_assert_int_eq(ask(&rank[n * ppn], 's'), 'y');
    for (int32_t n = 0; n < nodes; n++)
        ck_assert_int_eq(ask(&rank[n * ppn], 'g'), 'y');
    for (int32_t n = 0; n < nodes; n++)
        UNTIL(deputy_of(n));
}

static void start_all(void)
{
    start_ranks();
    start_agents();
}

static void start_job(int32_t nodes_, int32_t ppn_)
{
    make_job(nodes_, ppn_);
    start_all();
}

/* Only what has become this process's own child: its number is nobody else's. */
static void kill_child(pid_t pid)
{
    siginfo_t info;

    if (pid > 0 && waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        kill(pid, SIGKILL);
}

/* Buries who has ended; true: nobody of the job is left. */
static bool is_over(void)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid < 0 && errno == ECHILD;
}

static bool is_over_by_force(void)
{
    for (int32_t n = 0; n < nodes; n++) {
        kill_child(agent_of(n));
        kill_child(deputy_of(n));
    }
    return is_over();
}

static const char *socket_of(int32_t node)
{
    static char path[100];

    snprintf(path, sizeof(path), "%s/faultloc/4711@h%d.sock", folder, (int) node);
    return path;
}

/* Beside what is expected there may be the beginning of a report that a busy disk did not take in
 * time. */
static void remove_files(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    char path[512];

    ck_assert_ptr_nonnull(dir);
    while ((e = readdir(dir)))
        if (e->d_type != DT_DIR)
            unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    for (int32_t n = 0; n < nodes; n++)
        unlink(socket_of(n));
    snprintf(path, sizeof(path), "%s/faultloc", folder);
    rmdir(path); /* it is there if there were symptom sockets */
    ck_assert_int_eq(rmdir(folder), 0);
}

static void end_job(void)
{
    for (int32_t i = 0; i < nodes * ppn; i++)
        process_kill(&rank[i].process);
    UNTIL(is_over_by_force());
    remove_files();
    for (int32_t n = 0; n < nodes; n++) {
        faultloc_board_unmap(board[n]);
        close(board_fd[n]);
    }
}

AFTER_EACH
{
    end_job();
}

/* ---- looking on ------------------------------------------------------------------------------ */

static const char *read_text(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return suite_text_of(path);
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

static bool has_ended(pid_t pid)
{
    return faultloc_proc_fate(NULL, pid, 0) == FAULTLOC_PROC_GONE;
}

static bool is_called(pid_t pid, const char *name)
{
    struct faultloc_proc proc;

    return pid > 0 && faultloc_proc_read(NULL, pid, &proc) == 0 && !strcmp(proc.comm, name);
}

/* Whether somebody who is of FaultLoc serves that role's port at the node: sends a challenge. */
static bool serves(int32_t node, enum ftree_role role)
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

/* Sent to one that the test has found on the board just now. */
static void hit(pid_t pid, int signal_)
{
    ck_assert(is_called(pid, FAULTLOC_PROGRAM_NAME) || is_called(pid, FAULTLOC_PROGRAM_DEPUTY));
    ck_assert_int_eq(kill(pid, signal_), 0);
}

static void freeze(pid_t pid)
{
    struct faultloc_proc proc;

    hit(pid, SIGSTOP);
    UNTIL(faultloc_proc_read(NULL, pid, &proc) == 0 && proc.state == 'T');
}

struct pair {
    pid_t agent, deputy;
};

/* There are two at the node, and neither is one of these. */
static bool is_complete_without(int32_t node, struct pair was)
{
    return agent_of(node) != was.agent && deputy_of(node) != was.deputy &&
           agent_of(node) != deputy_of(node) && is_called(agent_of(node), FAULTLOC_PROGRAM_NAME) &&
           is_called(deputy_of(node), FAULTLOC_PROGRAM_DEPUTY) &&
           (nodes == 1 || (serves(node, AGENT) && serves(node, DEPUTY)));
}

static bool is_complete(int32_t node)
{
    return is_complete_without(node, (struct pair){0, 0});
}

/* Those of the node, once there are two. */
static struct pair pair_of(int32_t node)
{
    UNTIL(is_complete(node));
    return (struct pair){agent_of(node), deputy_of(node)};
}

/* The deputy succeeds the agent, and has a deputy of its own. */
static void replace_agent(int32_t node)
{
    struct pair was = pair_of(node);

    hit(was.agent, SIGKILL);
    UNTIL(agent_of(node) == was.deputy && is_complete_without(node, was));
}

/* ---- what ranks do --------------------------------------------------------------------------- */

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
           r->slot->state < FAULTLOC_SLOT_LEFT;
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

static void end_by(struct rank *r, int signal_)
{
    ck_assert_int_eq(kill(r->process.pid, signal_), 0);
    ck_assert_int_eq(process_end(&r->process), -signal_);
}

static void leave(struct rank *r)
{
    r->slot->state = FAULTLOC_SLOT_LEFT;
}

static void leave_all(void)
{
    for (int32_t i = 0; i < nodes * ppn; i++)
        leave(&rank[i]);
}

static bool has_node_ended(int32_t node)
{
    return has_ended(agent_of(node)) && has_ended(deputy_of(node));
}

/* ---- how it is started ----------------------------------------------------------------------- */

TEST_CASE(a_node_has_an_agent_and_then_a_deputy)
{
    make_job(2, 3);
    start_ranks();
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(ask(&rank[3 * n], 's'), 'y');
        /* when it is ready, and not some time later */
        ck_assert(is_called(agent_of(n), FAULTLOC_PROGRAM_NAME) && serves(n, AGENT));
        ck_assert_int_eq(deputy_of(n), 0);
    }
    for (int n = 0; n < 2; n++) {
        ck_assert_int_eq(ask(&rank[3 * n], 'g'), 'y');
        UNTIL(is_complete(n));
        UNTIL(count_in("trace", "listens on port") == 2);
    }
    ck_assert_str_eq(read_text("err"), "");
}

TEST_CASE(a_node_alone_listens_nowhere)
{
    start_job(1, 2);
    UNTIL(is_complete(0));
    ck_assert_int_eq(count_in("trace", "listens"), 0);
}

TEST_CASE(a_job_that_does_without_leaves_nothing)
{
    make_job(2, 1);
    start_ranks();
    ck_assert_int_eq(ask(&rank[0], 's'), 'y');
    ck_assert_int_eq(ask(&rank[0], 'q'), 'y');
    UNTIL(has_ended(agent_of(0)));
    ck_assert_int_eq(deputy_of(0), 0);
    ck_assert(!serves(0, AGENT));
    ck_assert_str_eq(read_text("err"), "");
}

TEST_CASE(a_rank_that_dies_at_the_start_is_reported)
{
    make_job(1, 2);
    start_ranks();
    ck_assert_int_eq(ask(&rank[0], 's'), 'y');
    process_kill(&rank[0].process);
    UNTIL(said("[faultloc] process-crash: rank 0") == 1);
    UNTIL(is_complete(0));
}

static void damage_board(void)
{
    board[0]->magic ^= 1;
}

/* As where the limits of the user leave no room. */
static void take_descriptors(void)
{
    ck_assert_int_eq(ask(&rank[0], 'm'), 'y');
}

static void take_program(void)
{
    snprintf(program, sizeof(program), "/nowhere/faultloc-agent");
}

static const struct {
    void (*make)(void);
    const char *why;
} obstacles[] = {{damage_board, "no agent: it is of another build\n"},
                 {take_descriptors, "no agent: "},
                 {take_program, "no agent: cannot be executed\n"}};

TEST_CASES(an_agent_that_cannot_start_is_an_error, COUNT(obstacles))
{
    make_job(2, 1);
    if (obstacles[_i].make == take_program)
        take_program(); /* before the rank is forked */
    start_ranks();
    if (obstacles[_i].make != take_program)
        obstacles[_i].make();
    ck_assert_int_eq(ask(&rank[0], 's'), 'n');
    UNTIL(said(obstacles[_i].why) == 1);
    process_kill(&rank[0].process);
    process_kill(&rank[1].process);
    UNTIL(is_over());
    board[0]->agent_pid = 0;
}

static int cpus_of(pid_t pid)
{
    cpu_set_t set;

    ck_assert_int_eq(sched_getaffinity(pid, sizeof(set), &set), 0);
    return CPU_COUNT(&set);
}

/* "" where that may not be known of a process that has a key. */
static const char *link_of(pid_t pid, const char *name)
{
    static char text[256];
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
    n = readlink(path, text, sizeof(text) - 1);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static void check_is_free_of_the_rank(pid_t pid)
{
    ck_assert_int_eq(cpus_of(pid), cpus_of(0));
    ck_assert_int_ne(getsid(pid), getsid(0));
    if (getpriority(PRIO_PROCESS, 0) < 19) /* there is nothing lower */
        ck_assert_int_gt(getpriority(PRIO_PROCESS, (id_t) pid), getpriority(PRIO_PROCESS, 0));
    if (!link_of(pid, "cwd")[0])
        return;
    ck_assert_str_eq(link_of(pid, "cwd"), "/");
    ck_assert_str_eq(link_of(pid, "fd/0"), "/dev/null");
    ck_assert_str_eq(link_of(pid, "fd/1"), err_path); /* for reports */
    ck_assert_str_eq(link_of(pid, "fd/2"), err_path);
}

/* A rank that is bound to one core, with open files. */
TEST_CASE(agent_and_deputy_keep_nothing_of_the_rank)
{
    make_job(2, 1);
    start_ranks();
    ck_assert_int_eq(ask(&rank[0], 'b'), 'y');
    start_agents();
    UNTIL(is_complete(0));
    check_is_free_of_the_rank(agent_of(0));
    check_is_free_of_the_rank(deputy_of(0));
}

static int tasks(pid_t pid)
{
    struct faultloc_proc proc;

    return faultloc_proc_read(NULL, pid, &proc) ? 0 : (int) proc.threads;
}

/* They count against the limit of the user's processes: one thread is for messages, so that they come
 * where the program has taken all that are left. */
TEST_CASE(while_the_job_is_healthy_agent_and_deputy_are_three_threads)
{
    make_job_with_sockets(2, 1);
    settings.trace[0] = '\0';
    start_all();
    UNTIL(is_complete(0) && access(socket_of(0), F_OK) == 0);
    UNTIL(tasks(agent_of(0)) == 2);
    ck_assert_int_eq(tasks(deputy_of(0)), 1);
}

static int oom_score_adj(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int) pid);
    return atoi(suite_text_of(path));
}

TEST_CASE(agent_and_deputy_have_no_real_time_and_are_ended_first_for_memory)
{
    pid_t pid;

    make_job(2, 1);
    start_ranks();
    ck_assert_int_eq(ask(&rank[0], 'u'), 'y');
    start_agents();
    UNTIL(is_complete(0));
    for (int i = 0; i < 2; i++) {
        pid = i ? deputy_of(0) : agent_of(0);
        ck_assert_int_eq(sched_getscheduler(pid), SCHED_OTHER);
        ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t) pid), 2 + 5);
        ck_assert_int_eq(oom_score_adj(pid), 1000);
    }
    ck_assert_int_eq(oom_score_adj(rank[0].process.pid), 100);
}

static int run_by_hand(int in, int out, void *arg)
{
    close(in), close(out); /* and whatever has the socket's number */
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        close(fd);
    dup2(open(err_path, O_WRONLY | O_APPEND), STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl(program, FAULTLOC_PROGRAM_NAME, (char *) arg, (char *) NULL);
    return 127;
}

TEST_CASES(started_by_hand_it_says_what_it_is, 3)
{
    static const int code[] = {2, 0, 2};
    static char *const argument[] = {NULL, "--help", "--bell"};
    struct process p;

    make_job(1, 1);
    process_start(&p, run_by_hand, argument[_i]);
    ck_assert_int_eq(process_end(&p), code[_i]);
    ck_assert_int_eq(said("Usage: faultloc-agent\n"), 1);
}

/* ---- succession ------------------------------------------------------------------------------ */

/* Killed one after the other; the port stays the same. */
TEST_CASE(who_is_killed_is_succeeded)
{
    start_job(2, 2);
    for (int i = 0; i < 3; i++)
        replace_agent(0);
    ck_assert(is_complete(1));
    ck_assert_str_eq(read_text("err"), "");
    UNTIL(count_in("trace", "succeeds as agent") == 3);
}

TEST_CASE(a_killed_deputy_is_replaced)
{
    start_job(2, 2);
    UNTIL(is_complete(0));
    for (int i = 0; i < 2; i++) {
        struct pair was = pair_of(0);
        hit(was.deputy, SIGKILL);
        UNTIL(is_complete_without(0, (struct pair){0, was.deputy}));
        ck_assert_int_eq(agent_of(0), was.agent);
    }
    ck_assert_str_eq(read_text("err"), "");
}

/* Their node is monitored no longer, which is no fault of its ranks. */
TEST_CASES(agent_and_deputy_killed_at_once_are_no_fault, 2)
{
    start_job(2, _i ? 2 : 1);
    UNTIL(is_complete(0));
    struct pair was = pair_of(1);
    freeze(was.deputy); /* else it may succeed before it is killed */
    hit(was.agent, SIGKILL);
    hit(was.deputy, SIGKILL);
    UNTIL(has_ended(was.agent) && has_ended(was.deputy));
    ck_assert(!serves(1, AGENT) && !serves(1, DEPUTY));
    wait_for_rank(&rank[0], ppn);
    UNTIL_TURNING(count_in("trace", "rank 0 stalls, waits for") >= 2);
    ck_assert_int_eq(verdicts(), 0);
    ck_assert_int_eq(agent_of(1), was.agent);
    ck_assert(process_is_alive(&rank[ppn].process));
}

/* Nobody says a word of it.  rows: alone, where nobody asks; a rank waits for one of that node */
TEST_CASES(a_stopped_agent_is_ended_and_succeeded, 3)
{
    int32_t node = _i ? 1 : 0;

    start_job(_i ? 2 : 1, _i == 2 ? 2 : 1);
    struct pair was = pair_of(node);
    freeze(was.agent);
    if (_i)
        wait_for_rank(&rank[0], ppn);
    UNTIL_TURNING(is_complete_without(node, was));
    ck_assert_int_eq(agent_of(node), was.deputy);
    ck_assert(has_ended(was.agent));
    UNTIL_TURNING(_i == 0 || count_in("trace", "rank 0 stalls, waits for") >= 2);
    ck_assert_int_eq(verdicts(), 0);
    ck_assert_str_eq(read_text("err"), "");
}

TEST_CASE(a_stopped_deputy_is_ended_and_replaced)
{
    start_job(2, 1);
    struct pair was = pair_of(1);
    freeze(was.deputy);
    UNTIL(is_complete_without(1, (struct pair){0, was.deputy}));
    ck_assert_int_eq(agent_of(1), was.agent);
    ck_assert(has_ended(was.deputy));
    ck_assert_str_eq(read_text("err"), "");
}

/* ---- the end of the job ---------------------------------------------------------------------- */

/* Of the job nothing is left, though its ranks go on; and nothing was said. */
static void check_all_have_ended(void)
{
    for (int32_t n = 0; n < nodes; n++) {
        UNTIL(has_node_ended(n));
        ck_assert(!serves(n, AGENT) && !serves(n, DEPUTY));
        ck_assert(!faultloc_wakeup_send(board[n]));
        ck_assert_int_ne(access(socket_of(n), F_OK), 0);
    }
    ck_assert_str_eq(read_text("err"), "");
    for (int32_t i = 0; i < nodes * ppn; i++) {
        ck_assert(process_is_alive(&rank[i].process));
        process_kill(&rank[i].process);
    }
    UNTIL(is_over());
}

TEST_CASES(nothing_is_left_when_all_have_left, 3)
{
    static const int orders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}};

    make_job_with_sockets(1, 3);
    start_all();
    UNTIL(is_complete(0));
    for (int i = 0; i < 3; i++)
        leave(&rank[orders[_i][i]]);
    check_all_have_ended();
}

TEST_CASE(two_nodes_leave_together)
{
    start_job(2, 3);
    UNTIL(is_complete(0) && is_complete(1));
    leave_all();
    check_all_have_ended();
    ck_assert_int_eq(count_in("trace", "everyone has left"), 2);
}

/* Before there is a deputy, or while one is being forked. */
TEST_CASE(a_short_job_leaves_nothing)
{
    make_job(2, 2);
    start_ranks();
    for (int32_t n = 0; n < 2; n++)
        ck_assert_int_eq(ask(&rank[2 * n], 's'), 'y');
    leave_all();
    for (int32_t n = 0; n < 2; n++)
        ck_assert_int_eq(ask(&rank[2 * n], 'g'), 'y');
    for (int32_t i = 0; i < 4; i++)
        process_kill(&rank[i].process);
    UNTIL(is_over());
    ck_assert_str_eq(read_text("err"), "");
}

/* Others may still wait for its ranks. */
TEST_CASE(a_node_that_leaves_first_remains_until_the_others_leave)
{
    start_job(2, 1);
    leave(&rank[0]);
    UNTIL(count_in("trace", "leaves without having heard of everyone") == 1);
    ck_assert(!has_node_ended(0));
    ck_assert(is_complete(1));
    leave(&rank[1]);
    check_all_have_ended();
    ck_assert_int_eq(verdicts(), 0);
}

TEST_CASE(a_rank_that_does_not_leave_keeps_the_agent)
{
    start_job(1, 2);
    UNTIL(is_complete(0));
    leave(&rank[0]);
    process_kill(&rank[0].process);
    end_by(&rank[1], SIGUSR1);
    UNTIL(said("[faultloc] process-crash: rank 1") == 1);
    UNTIL(is_over());
    ck_assert_int_eq(verdicts(), 1);
}

/* A launcher waits until nobody has the other end of its ranks' standard output and error: not for
 * an agent that waits for another node. */
TEST_CASE(the_ranks_output_is_let_go_of_when_they_have_left)
{
    struct pollfd p = {.events = POLLIN};
    int64_t begin, let_go;
    pid_t agent;
    char byte;

    make_job(2, 1);
    snprintf(first_err_path, sizeof(first_err_path), "%s/err1", folder);
    ck_assert_int_eq(mkfifo(first_err_path, 0600), 0);
    p.fd = open(first_err_path, O_RDONLY | O_NONBLOCK);
    start_all();
    UNTIL(is_complete(0));
    agent = agent_of(0);
    freeze(deputy_of(1)); /* the other node does not leave before the test has looked */
    freeze(agent_of(1));
    begin = process_now_ms();
    leave(&rank[0]);
    process_kill(&rank[0].process);
    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
    ck_assert_int_eq(read(p.fd, &byte, 1), 0);
    let_go = process_now_ms();
    UNTIL(has_ended(agent)); /* two seconds later */
    ck_assert_int_lt(2 * (let_go - begin), process_now_ms() - begin);
    close(p.fd);
}

/* Nobody reads stderr any more: the report goes to the file, and the agent lives. */
TEST_CASE(a_closed_stderr_is_survived)
{
    int ends[2];

    make_job(1, 3);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    snprintf(first_err_path, sizeof(first_err_path), "/proc/self/fd/%d", ends[1]);
    start_all();
    process_kill(&rank[2].process);
    UNTIL(count_in("report.json", "process-crash") > 0);
    ck_assert(!has_ended(agent_of(0)));
    leave_all();
    UNTIL(has_node_ended(0));
    close(ends[1]);
}

/* ... and one that a rank's end leaves behind ends with the job. */
TEST_CASE(a_node_that_has_lost_a_rank_leaves_with_the_others)
{
    start_job(2, 2);
    UNTIL(is_complete(0) && is_complete(1));
    wait_for_rank(&rank[0], 3);
    process_kill(&rank[3].process);
    UNTIL_TURNING(verdicts() == 1);
    leave(&rank[0]);
    leave(&rank[1]);
    leave(&rank[2]);
    UNTIL(has_node_ended(0) && has_node_ended(1));
    ck_assert_int_eq(count_in("trace", "h1: leaves without"), 0);
}

/* As a launcher does before it kills the ranks, and a scheduler to all processes. */
TEST_CASES(a_job_that_is_being_ended_has_no_fault, 2)
{
    start_job(1, 3);
    UNTIL(is_complete(0));
    hit(agent_of(0), SIGTERM);
    if (_i)
        hit(deputy_of(0), SIGTERM);
    for (int i = 0; i < 3; i++)
        process_kill(&rank[i].process);
    UNTIL(is_over());
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(rank[i].slot->state, FAULTLOC_SLOT_VICTIM);
    ck_assert_str_eq(read_text("err"), "");
}


/* As Slurm does it, which knows no agents. */
TEST_CASES(who_is_ended_with_all_others_has_not_crashed, 2)
{
    start_job(2, 2);
    UNTIL(is_complete(0) && is_complete(1));
    wait_for_rank(&rank[0], 2);
    for (int i = 0; i < 4; i++)
        end_by(&rank[i], _i ? SIGKILL : SIGTERM);
    UNTIL(is_over());
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(rank[i].slot->state, FAULTLOC_SLOT_ABORTED);
    ck_assert_str_eq(read_text("err"), "");
}

/* rows: a rank of another node lives on; one of its own */
TEST_CASES(who_is_ended_alone_has_crashed, 2)
{
    start_job(2, 1 + _i);
    UNTIL(is_complete(0) && is_complete(1));
    end_by(&rank[1 + _i], SIGTERM);
    UNTIL_TURNING(said("[faultloc] process-crash: rank ") == 1);
    ck_assert_int_eq(said(_i ? "process-crash: rank 2" : "process-crash: rank 1"), 1);
    ck_assert_int_eq(verdicts(), 1);
}

/* A launcher that does not know the agent yet cannot tell it. */
static void start_with_launcher(void)
{
    make_job(1, 3);
    snprintf(settings.launcher, sizeof(settings.launcher), "@faultloc-test-%d", (int) getpid());
    start_ranks();
    ck_assert_int_eq(ask(&rank[0], 's'), 'y');
}

TEST_CASES(a_job_that_ends_before_it_has_begun_has_no_fault, 2)
{
    start_with_launcher();
    for (int i = 0; i < 3; i++)
        process_kill(&rank[(i + _i) % 3].process);
    UNTIL(is_over());
    ck_assert_str_eq(read_text("err"), "");
    ck_assert_int_eq(board[0]->verdicts, 0);
}

/* ... and where it goes on, that is one. */
TEST_CASE(a_rank_that_ends_before_the_job_begins_is_found_then)
{
    start_with_launcher();
    process_kill(&rank[2].process);
    ck_assert_int_eq(ask(&rank[0], 'g'), 'y');
    UNTIL(count_in("report.json", "process-crash") > 0);
    leave_all();
    UNTIL(has_node_ended(0));
}

/* ... and the agent is not the first to go. */
TEST_CASE(a_deputy_notified_of_the_end_knows_it_as_agent)
{
    start_job(1, 2);
    struct pair was = pair_of(0);
    hit(was.deputy, SIGTERM);
    hit(was.agent, SIGKILL);
    UNTIL(is_complete_without(0, was));
    for (int i = 0; i < 2; i++)
        process_kill(&rank[i].process);
    UNTIL(is_over());
    ck_assert_str_eq(read_text("err"), "");
}

/* ... and the launcher does not know the new agent yet.  rows: one rank lives on; none does */
TEST_CASES(ranks_that_end_with_their_agent_have_not_crashed, 2)
{
    start_with_launcher();
    ck_assert_int_eq(ask(&rank[0], 'g'), 'y');
    UNTIL(is_complete(0));
    hit(agent_of(0), SIGKILL);
    for (int i = 0; i < 2 + _i; i++)
        process_kill(&rank[i].process);
    if (_i) {
        UNTIL(is_over());
        ck_assert_str_eq(read_text("err"), "");
    } else {
        UNTIL(count_in("report.json", "process-crash") > 0);
        leave(&rank[2]);
        UNTIL(has_node_ended(0));
    }
}

/* ---- what ranks do that is nobody's business ------------------------------------------------- */

/* It forks, closes what it has, and its children live on. */
TEST_CASE(what_a_rank_does_with_its_process_does_not_matter)
{
    start_job(2, 2);
    struct pair was = pair_of(0);
    ck_assert_int_eq(ask(&rank[0], 'f'), 'y');
    ck_assert_int_eq(ask(&rank[0], 'c'), 'y');
    ck_assert_int_eq(ask(&rank[0], 'f'), 'y');
    wait_for_rank(&rank[0], 2);
    UNTIL_TURNING(count_in("trace", "is well") >= 2);
    ck_assert_int_eq(agent_of(0), was.agent);
    ck_assert_int_eq(deputy_of(0), was.deputy);
    ck_assert_str_eq(read_text("err"), "");
    leave_all();
    process_kill(&rank[0].process); /* its children have it no more than it had it */
    UNTIL(has_node_ended(0) && !serves(0, AGENT));
}

/* ---- faults on the own node ------------------------------------------------------------------ */

/* The agent is no part of it, and says so to the others; also to one that is away for longer than an
 * agent waits whose ranks have left. */
TEST_CASES(the_only_rank_of_a_node_that_vanishes_is_reported, 2)
{
    pid_t agent;

    start_job(2, 1);
    UNTIL(is_called(agent_of(0), FAULTLOC_PROGRAM_NAME));
    agent = agent_of(0);
    kill(agent, _i ? SIGSTOP : SIGCONT);
    end_by(&rank[1], SIGUSR1);
    poll(NULL, 0, _i ? 3000 : 0);
    kill(agent, SIGCONT);
    UNTIL(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_ge(said("rank 1"), 1);
    ck_assert_int_ge(said("h1"), 1);
    leave(&rank[0]);
    process_kill(&rank[0].process);
    UNTIL(is_over());
    ck_assert_int_eq(verdicts(), 1);
}

TEST_CASES(a_stopped_rank_is_reported_when_another_waits, 2)
{
    start_job(1, 3);
    process_stop(&rank[2].process);
    wait_for_rank(&rank[1], _i ? FAULTLOC_PEER_LOCAL : 2);
    UNTIL_TURNING(said("[faultloc] process-stopped: ") == 1);
    ck_assert_int_ge(said("rank 2"), 1);
    UNTIL_TURNING(count_in("report.json", "\"process-stopped\"") == 1);
    ck_assert_int_eq(verdicts(), 1);
}

/* The first rank, also where it is the only one of its node: its agent lives and says so. */
TEST_CASES(a_stopped_first_rank_is_reported, 2)
{
    start_job(2, _i ? 2 : 1);
    process_stop(&rank[ppn].process);
    wait_for_rank(&rank[0], ppn);
    UNTIL_TURNING(said("[faultloc] process-stopped: ") == 1);
    ck_assert_int_ge(said(_i ? "rank 2" : "rank 1"), 1);
    ck_assert_int_eq(verdicts(), 1);
}

TEST_CASE(who_has_left_may_end)
{
    start_job(1, 3);
    leave(&rank[2]);
    process_kill(&rank[2].process);
    process_kill(&rank[1].process); /* and this one not: it is told, and then it alone was */
    UNTIL(said("[faultloc] process-crash: ") == 1);
    leave(&rank[0]);
    UNTIL(has_node_ended(0));
    ck_assert_int_eq(verdicts(), 1);
    ck_assert_int_eq(said("process-crash: rank 1"), 1);
}

TEST_CASE(abort_ends_the_job_where_no_rank_looks)
{
    make_job(1, 3);
    settings.action = FAULTLOC_ACTION_ABORT;
    start_all();
    process_kill(&rank[2].process);
    ck_assert_int_eq(process_end(&rank[0].process), -SIGKILL);
    ck_assert_int_eq(board[0]->abort_code, 1);
    ck_assert_int_eq(said("[faultloc] process-crash: rank 2"), 1);
    UNTIL(count_in("report.json", "\"process-crash\"") == 1);
}

/* The first fault is over before the job is ended because of it; the second is not. */
TEST_CASE(abort_ends_the_job_because_of_the_fault_that_stands)
{
    make_job(1, 4);
    settings.action = FAULTLOC_ACTION_ABORT;
    settings.patience = 5000 * FTREE_MS;
    start_all();
    process_stop(&rank[2].process);
    wait_for_rank(&rank[1], 2);
    UNTIL_TURNING(said("[faultloc] process-stopped: rank 2") == 1);
    process_stop(&rank[3].process);
    UNTIL_TURNING(said("[faultloc] process-stopped: rank 3") == 1);
    ck_assert_int_eq(board[0]->abort_code, 0);
    process_continue(&rank[2].process);
    UNTIL_TURNING(said("[faultloc] withdrawn: process-stopped of rank 2") == 1);
    UNTIL_TURNING(board[0]->abort_code == 1);
}

/* A launcher may kill the other ranks then without a word to their agents. */
TEST_CASE(who_is_killed_while_the_job_is_aborted_has_not_crashed)
{
    make_job(2, 2);
    settings.action = FAULTLOC_ACTION_ABORT;
    start_all();
    UNTIL(is_complete(0) && is_complete(1));
    process_kill(&rank[0].process);
    UNTIL(board[0]->abort_code == 1 && board[1]->verdicts == 1);
    process_kill(&rank[3].process);
    UNTIL(rank[3].slot->state == FAULTLOC_SLOT_VICTIM);
    ck_assert_int_eq(said("process-crash: rank 3"), 0);
}

/* ---- ranks whose transport has lost a peer --------------------------------------------------- */

/* It gives up because of that, so it is a victim: whom it has lost is looked into. */
TEST_CASE(who_exits_because_of_a_lost_peer_has_not_crashed)
{
    start_job(1, 3);
    UNTIL(is_complete(0));
    ck_assert_int_eq(ask(&rank[2], 't'), 'y');
    process_say(&rank[2].process, 'x');
    UNTIL(!process_is_alive(&rank[2].process));
    UNTIL(rank[2].slot->state == FAULTLOC_SLOT_VICTIM);
    ck_assert_int_eq(process_end(&rank[2].process), 3);
    process_kill(&rank[1].process);
    UNTIL(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_eq(said("process-crash: rank 1"), 1);
    leave(&rank[0]);
    UNTIL(has_node_ended(0));
    ck_assert_int_eq(verdicts(), 1);
}

/* Its process is another then, also for who asks, and its end is the rank's. */
TEST_CASES(who_goes_on_in_a_child_has_not_crashed, 2)
{
    int32_t before, heir;
    bool late = _i;

    start_job(1, 3);
    UNTIL(is_complete(0));
    before = rank[2].slot->pid;
    ck_assert_int_eq(ask(&rank[2], late ? 'D' : 'd'), 'y');
    UNTIL(!process_is_alive(&rank[2].process));
    if (late) {
        wait_for_rank(&rank[0], 2); /* so that the core asks */
        UNTIL_TURNING(count_in("trace", "rank 0 waits in") > 0);
        ck_assert_int_eq(ask(&rank[2], '.'), 'y');
    }
    UNTIL(rank[2].slot->pid != before);
    heir = rank[2].slot->pid;
    ck_assert_int_eq(faultloc_board_rank_pid(board[0])[2], heir);
    process_kill(&rank[1].process);
    UNTIL_TURNING(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_eq(said("process-crash: rank 1"), 1);
    process_say(&rank[2].process, 'x');
    UNTIL_TURNING(said("[faultloc] process-crash: rank 2") == 1);
    ck_assert_int_eq(verdicts(), 2);
}

static const struct {
    char before; /* what it does */
    bool exits; /* with a code other than 0; else it is killed */
} crashes[] = {{'.', true}, {'t', false}, {'f', false}, {'f', true}};

/* rows: without a reason; after it has lost a peer; and leaves a child */
TEST_CASES(who_ends_otherwise_has_crashed, COUNT(crashes))
{
    start_job(1, 3);
    UNTIL(is_complete(0));
    ask(&rank[2], crashes[_i].before);
    if (crashes[_i].before == 'f') /* any that lives and has the board */
        faultloc_board_wait_area(board[0], 2)->heir = (int32_t) rank[0].process.pid;
    if (crashes[_i].exits)
        process_say(&rank[2].process, 'x');
    else
        process_kill(&rank[2].process);
    if (crashes[_i].before == '.') /* it is waited for; else it stays there as a zombie */
        ck_assert_int_eq(process_end(&rank[2].process), 3);
    UNTIL(said("[faultloc] process-crash: rank 2") == 1);
}

/* An agent that would not look for minutes is woken; so is its successor. */
TEST_CASES(a_wakeup_wakes_the_agent, 2)
{
    make_job(2, 2);
    settings.sample = 300000 * FTREE_MS;
    start_all();
    UNTIL(is_complete(0));
    if (_i)
        replace_agent(0);
    ck_assert_int_eq(ask(&rank[0], 't'), 'y');
    UNTIL(count_in("trace", "peer-reset") > 0);
}

/* ---- faults elsewhere ------------------------------------------------------------------------ */

/* A node that waits for a node that is well accuses nobody. */
TEST_CASES(a_long_wait_is_no_fault, 2)
{
    start_job(2, _i ? 2 : 1);
    wait_for_rank(&rank[0], ppn);
    UNTIL_TURNING(count_in("trace", "is well") >= 2);
    ck_assert_int_eq(verdicts(), 0);
}

/* ---- what is known --------------------------------------------------------------------------- */

TEST_CASE(a_verdict_is_reported_once_whoever_is_agent)
{
    start_job(1, RANKS_MAX);
    process_kill(&rank[3].process);
    UNTIL(said("[faultloc] process-crash: ") == 1);
    ck_assert_int_eq(board[0]->verdicts, 1);
    replace_agent(0);
    process_kill(&rank[2].process);
    UNTIL(said("[faultloc] process-crash: ") == 2);
    UNTIL(count_in("report.json", "\"process-crash\"") == 2); /* who succeeds knows of both */
    leave_all();
    UNTIL(has_node_ended(0));
    ck_assert_int_eq(verdicts(), 2);
    ck_assert_int_eq(said("process-crash: rank 3"), 1);
    ck_assert_int_eq(said("process-crash: rank 2"), 1);
}

/* While nobody looked, for the agent was killed and its deputy stopped. */
TEST_CASE(what_happens_during_succession_is_reported_later)
{
    start_job(1, 3);
    struct pair was = pair_of(0);
    freeze(was.deputy);
    hit(was.agent, SIGKILL);
    UNTIL(has_ended(was.agent));
    process_kill(&rank[2].process);
    ck_assert_int_eq(kill(was.deputy, SIGCONT), 0);
    UNTIL(said("[faultloc] process-crash: rank 2") == 1);
    ck_assert_int_eq(agent_of(0), was.deputy);
}

/* ---- other middleware ------------------------------------------------------------------------ */

static bool tell(int32_t node, const char *text)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool sent;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", socket_of(node));
    sent = sendto(fd, text, strlen(text), MSG_DONTWAIT, (struct sockaddr *) &a, sizeof(a)) >= 0;
    close(fd);
    return sent;
}

/* What is told to the agent of one node about another one is looked into. */
TEST_CASE(a_symptom_that_is_sent_is_examined)
{
    make_job_with_sockets(2, 2);
    start_all();
    ck_assert(tell(0, "{\"kind\":\"user-suspects\",\"component\":\"rank 3\"}"));
    UNTIL(count_in("trace", "user-suspects") > 0);
    UNTIL(count_in("trace", "h1 is well") > 0);
    ck_assert(tell(1, "{\"kind\":\"power-off\",\"component\":\"node h7\"}"));
    UNTIL(said("node h1: invalid symptom: the job has no node \"h7\"") == 1);
    ck_assert_int_eq(verdicts(), 0);
}

TEST_CASE(a_successor_reopens_the_symptom_socket)
{
    make_job_with_sockets(1, 3);
    start_all();
    struct pair was = pair_of(0);
    ck_assert(tell(0, "nonsense"));
    UNTIL(said("invalid symptom: ") == 1);
    hit(was.agent, SIGKILL);
    /* what is told before the next one is there is lost */
    UNTIL((tell(0, "nonsense"), said("invalid symptom: ") >= 2));
    UNTIL(is_complete_without(0, was));
    leave_all();
    UNTIL(has_node_ended(0));
    ck_assert_int_ne(access(socket_of(0), F_OK), 0);
}

static void start_job_with_hung_sockets(int32_t nodes_, int32_t ppn_)
{
    make_job_with_sockets(nodes_, ppn_);
    find_program("hung-agent");
    hang_begin(folder);
    start_all();
}

/* The file system of the symptom sockets does not answer: the job begins, faults are found, and
 * when it does answer symptoms are heard. */
TEST_CASE(a_symptom_socket_that_hangs_delays_nobody)
{
    start_job_with_hung_sockets(2, 2);
    UNTIL(*hang_held == 2);
    UNTIL(is_complete(0) && is_complete(1));
    process_kill(&rank[3].process);
    UNTIL(said("[faultloc] process-crash: rank 3") == 1);
    hang_end();
    UNTIL((tell(0, "nonsense"), said("invalid symptom") >= 1));
}

/* ---- a flood -------------------------------------------------------------------------------- */

static long switches_of(pid_t pid)
{
    static const char key[] = "voluntary_ctxt_switches:";
    char name[64], line[128];
    long n = -1;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/status", (int) pid);
    f = fopen(name, "r");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)))
            n = strtol(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return n;
}

/* Rubbish, for a second or so. */
static void flood_with(bool wakeups)
{
    ftree_time begin = faultloc_now();

    while (faultloc_now() - begin < 1000 * FTREE_MS) {
        for (int i = 0; i < 20; i++)
            if (wakeups)
                faultloc_wakeup_send(board[0]);
            else
                tell(0, "rubbish");
        process_pause();
    }
}

/* It costs its sender's time; and what is real is seen nevertheless. */
TEST_CASES(a_flood_keeps_no_agent_busy, 2)
{
    ftree_time begin;
    long before;

    make_job_with_sockets(2, 1);
    settings.sample = 300000 * FTREE_MS;
    start_all();
    UNTIL(is_complete(0) && is_complete(1));
    before = switches_of(agent_of(0));
    begin = faultloc_now();
    flood_with(_i == 0);
    ck_assert_int_le(switches_of(agent_of(0)) - before,
                     20 + (long) ((faultloc_now() - begin) / FTREE_MS / 10));
    if (_i == 0) {
        ck_assert_int_eq(ask(&rank[0], 't'), 'y');
        UNTIL(count_in("trace", "peer-reset") > 0);
    } else {
        UNTIL(tell(0, "{\"kind\": \"power-off\", \"component\": \"node h1\"}"));
        UNTIL(count_in("trace", "power-off") > 0);
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

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

static int readers(pid_t pid)
{
    return process_threads(pid, "faultloc-rules");
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
TEST_CASE(rules_are_read_anew_when_they_change)
{
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    make_job_with_rules(2, 2);
    start_all();
    UNTIL(said(" is in use now (") == 1);
    write_rules("{\n", 2);
    UNTIL(said("; keeping the previous rules\n") == 2);
    write_rules(text, len);
    UNTIL(said(" is in use now (") == 2);
    process_kill(&rank[3].process);
    UNTIL(said("[faultloc] process-crash: ") == 1);
}

/* And none where there is no file to read. */
TEST_CASE(the_agent_alone_reads_the_rules)
{
    start_job(1, 2);
    UNTIL(is_complete(0));
    ck_assert_int_eq(readers(agent_of(0)) + readers(deputy_of(0)), 0);
    end_job();
    make_job_with_rules(1, 2);
    start_all();
    struct pair was = pair_of(0);
    ck_assert_int_eq(readers(was.agent), 1);
    ck_assert_int_eq(readers(was.deputy), 0);
    hit(was.agent, SIGKILL);
    UNTIL(is_complete_without(0, was));
    UNTIL(readers(agent_of(0)) == 1);
    ck_assert_int_eq(readers(deputy_of(0)), 0);
}

static void start_job_with_hung_rules(int32_t nodes_, int32_t ppn_)
{
    make_job_with_rules(nodes_, ppn_);
    find_program("hung-agent");
    hang_begin(settings.rules);
    start_all();
}

/* The rules' file system does not answer: faults are found all the same, agents are succeeded, and
 * when it does answer its rules are used. */
TEST_CASE(a_file_system_that_hangs_holds_up_nobody)
{
    start_job_with_hung_rules(2, 2);
    ck_assert_int_eq(said(": the file system does not answer; using the built-in rules"), 2);
    UNTIL(*hang_held == 2);
    UNTIL(is_complete(0) && is_complete(1));
    process_kill(&rank[3].process);
    UNTIL(said("[faultloc] process-crash: rank 3") == 1);
    replace_agent(0);
    process_kill(&rank[1].process);
    UNTIL(said("[faultloc] process-crash: rank 1") == 1);
    ck_assert_int_eq(count_in("trace", "uses the rules"), 0);
    hang_end();
    UNTIL(count_in("trace", "uses the rules") == 2);
    UNTIL(said(" is in use now (") == 1);
}

/* Nor does the end of the job wait for it.  rows: it has the rules; the symptom sockets */
TEST_CASES(who_hangs_does_not_keep_the_job_from_its_end, 2)
{
    (_i ? start_job_with_hung_sockets : start_job_with_hung_rules)(1, 2);
    UNTIL(*hang_held == 1);
    leave_all();
    UNTIL(has_node_ended(0));
    ck_assert_int_eq(verdicts(), 0);
    hang_end();
}
