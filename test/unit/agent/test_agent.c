/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The agents of a job, as they are installed, without MPI: two nodes on this host, whose ranks are
 * children of the test.  What the agents find is read from the boards, which are the test's.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "faultloc/base/say.h"
#include "faultloc/board/board.h"
#include "faultloc/board/start.h"

#include "process.h"
#include "suite.h"

#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODES 2
#define PER_NODE 2
#define RANKS (NODES * PER_NODE)
#define RECEIVES ((1u << FAULTLOC_CALL_BITS) | 7) /* in a call, after one that has ended */

static struct node {
    struct faultloc_board *board;
    struct faultloc_start start;
} node[NODES];
static struct process rank[RANKS];
static char folder[64];

static struct faultloc_slot *slot_of(int32_t r)
{
    return faultloc_board_slot(node[r / PER_NODE].board, r % PER_NODE);
}

/* ---- the ranks ------------------------------------------------------------------------------- */

/* The loop of its wait turns; it ends with the code that it is told. */
static int be_rank(int in, int out, void *slot)
{
    struct pollfd told = {.fd = in, .events = POLLIN};

    (void) out;
    while (poll(&told, 1, 1) == 0)
        ((struct faultloc_slot *) slot)->spins += 256;
    return process_obey(in);
}

static void begin_rank(int32_t r)
{
    struct faultloc_slot *slot = slot_of(r);
    struct faultloc_proc proc;

    process_start(&rank[r], be_rank, slot);
    ck_assert_int_eq(faultloc_proc_read(NULL, rank[r].pid, &proc), 0);
    slot->rank = r;
    slot->pid = rank[r].pid;
    slot->start = proc.start;
    slot->state = FAULTLOC_SLOT_RUNNING;
    for (int n = 0; n < NODES; n++)
        faultloc_board_rank_pid(node[n].board)[r] = rank[r].pid;
}

static void wait_for(int32_t r, int32_t peer)
{
    struct faultloc_slot *slot = slot_of(r);

    slot->call = slot->wait_call = RECEIVES;
    slot->wait_peer = peer;
    slot->wait_since_ns = faultloc_now();
}

static void end_rank(int32_t r, char code)
{
    process_say(&rank[r], code);
    ck_assert_int_eq(process_end(&rank[r]), code);
}

/* ---- the nodes ------------------------------------------------------------------------------- */

static void make_node(int32_t n, enum faultloc_action action)
{
    struct faultloc_board *b;
    int fd;

    ck_assert_int_eq(faultloc_board_make(NODES, RANKS, PER_NODE, 0, &b, &fd), 0);
    b->self = n;
    b->fanout = 32;
    b->started_ms = 1;
    b->has_path[FTREE_PATH_DATA] = b->has_path[FTREE_PATH_MGMT] = true;
    snprintf(b->job_id, sizeof(b->job_id), "test-%d", (int) getpid());
    b->settings = (struct faultloc_settings){.stall = 300 * FTREE_MS,
                                             .sample = 50 * FTREE_MS,
                                             .silence = 900 * FTREE_MS,
                                             .patience = 100 * FTREE_MS,
                                             .alpha = 0.001,
                                             .action = action,
                                             .symptoms = true,
                                             .verbose = true};
    snprintf(b->settings.report, sizeof(b->settings.report), "%s/report.json", folder);
    snprintf(b->settings.trace, sizeof(b->settings.trace), "%s/trace", folder);
    for (int32_t r = 0; r < RANKS; r++)
        faultloc_board_rank_node(b)[r] = r / PER_NODE;
    for (int32_t i = 0; i <= NODES; i++)
        faultloc_board_node_first(b)[i] = i * PER_NODE;
    for (int32_t r = 0; r < RANKS; r++)
        faultloc_board_node_ranks(b)[r] = r;
    node[n] = (struct node){.board = b, .start = {.board_fd = fd}};
}

/* Each has two addresses of the host's own network. */
static void address_node(int32_t n)
{
    struct faultloc_address a = {.path = {{AF_INET, {127, 0, 0, (uint8_t) (2 * n + 1)}},
                                          {AF_INET, {127, 0, 0, (uint8_t) (2 * n + 2)}}}};

    for (int role = 0; role < FTREE_ROLES; role++) {
        ck_assert_int_eq(faultloc_channel_pick_ports(a.path, &node[n].start.ports[role]), 0);
        a.port[role] = node[n].start.ports[role].port;
    }
    for (int32_t i = 0; i < NODES; i++) {
        faultloc_board_addresses(node[i].board)[n] = a;
        sprintf(faultloc_board_name(node[i].board, n), "n%d", (int) n);
    }
}

static int start_agent(int32_t n)
{
    const char *build = getenv("top_builddir");
    char path[512], why[128] = "";
    int sock;

    snprintf(path, sizeof(path), "%s/" FAULTLOC_PROGRAM_NAME, build ? build : ".");
    memcpy(node[n].start.key, node[0].start.key, sizeof(node[n].start.key));
    ck_assert_int_eq(faultloc_start_send(path, &node[n].start, &sock), 0);
    ck_assert_msg(faultloc_start_is_ready(sock, PROCESS_DEADLINE_MS, why, sizeof(why)), "%s", why);
    return sock;
}

static void begin_job(enum faultloc_action action)
{
    int sock[NODES];

    ck_assert_int_ge(sodium_init(), 0);
    strcpy(folder, "/tmp/test_agent.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_RUNTIME_DIR", folder, 1);
    for (int32_t n = 0; n < NODES; n++)
        make_node(n, action);
    for (int32_t n = 0; n < NODES; n++)
        address_node(n);
    randombytes_buf(node[0].start.key, sizeof(node[0].start.key));
    for (int32_t r = 0; r < RANKS; r++)
        begin_rank(r);
    for (int32_t n = 0; n < NODES; n++)
        sock[n] = start_agent(n);
    for (int32_t n = 0; n < NODES; n++)
        faultloc_start_end(sock[n], true);
}

static bool is_gone(int32_t pid)
{
    return pid <= 0 || faultloc_proc_fate(NULL, pid, 0) == FAULTLOC_PROC_GONE;
}

static void end_process(int32_t pid)
{
    if (!is_gone(pid))
        kill(pid, SIGKILL);
}

AFTER_EACH
{
    char command[128];

    for (int32_t n = 0; n < NODES; n++) {
        end_process(node[n].board->deputy_pid);
        end_process(node[n].board->agent_pid);
        for (int role = 0; role < FTREE_ROLES; role++)
            faultloc_ports_close(&node[n].start.ports[role]);
        close(node[n].start.board_fd);
    }
    for (int32_t r = 0; r < RANKS; r++)
        if (rank[r].pid)
            process_kill(&rank[r]);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* All ranks that are there call MPI_Finalize: the agents end, and with them their deputies. */
static void end_job(void)
{
    for (int32_t r = 0; r < RANKS; r++)
        if (rank[r].pid) {
            slot_of(r)->state = FAULTLOC_SLOT_LEFT;
            end_rank(r, 0);
        }
    for (int32_t n = 0; n < NODES; n++) {
        UNTIL(is_gone(node[n].board->agent_pid));
        UNTIL(is_gone(node[n].board->deputy_pid));
    }
}

/* ---- what they find -------------------------------------------------------------------------- */

/* Each node comes to know it. */
static struct ftree_verdict await_verdict(enum ftree_class class_, int32_t r)
{
    struct ftree_verdict v = {0};

    for (int32_t n = 0; n < NODES; n++) {
        UNTIL(faultloc_board_read(node[n].board, 0, &v));
        ck_assert_str_eq(ftree_class_name(v.class_), ftree_class_name(class_));
        ck_assert_int_eq(v.rank, r);
        ck_assert_int_eq(v.fln, 1); /* the node of the rank knows best */
    }
    return v;
}

static bool report_has(const char *text)
{
    char path[128], line[4096];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof(path), "%s/report.json", folder);
    f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof(line), f))
        found = strstr(line, text) != NULL;
    if (f)
        fclose(f);
    return found;
}

/* By its exit code it did not call MPI_Finalize; by a signal it may have been ended with all
 * others, and these are asked first. */
TEST_CASES(a_rank_that_ends_is_known_to_all_nodes, 2)
{
    begin_job(FAULTLOC_ACTION_REPORT);
    if (_i == 0)
        end_rank(3, 5);
    else
        process_kill(&rank[3]);
    await_verdict(FTREE_CLASS_PROCESS_CRASH, 3);
    end_job();
    ck_assert(report_has("\"process-crash\""));
}

TEST_CASE(a_healthy_job_ends_without_a_word)
{
    begin_job(FAULTLOC_ACTION_REPORT);
    for (int32_t n = 0; n < NODES; n++)
        UNTIL(node[n].board->deputy_pid);
    end_job();
    for (int32_t n = 0; n < NODES; n++)
        ck_assert_int_eq(node[n].board->verdicts, 0);
    ck_assert(!report_has(""));
}

TEST_CASE(a_stopped_rank_is_found_and_forgiven)
{
    struct ftree_verdict v;

    begin_job(FAULTLOC_ACTION_REPORT);
    process_stop(&rank[3]);
    for (int32_t r = 0; r < 3; r++)
        wait_for(r, 3);
    await_verdict(FTREE_CLASS_PROCESS_STOPPED, 3);
    process_continue(&rank[3]);
    for (int32_t n = 0; n < NODES; n++)
        UNTIL(faultloc_board_read(node[n].board, 0, &v) && v.withdrawn);
    end_job();
}

/* One that is stopped is ended by its deputy. */
TEST_CASES(the_deputy_succeeds_its_agent, 2)
{
    int32_t agent, deputy;

    begin_job(FAULTLOC_ACTION_REPORT);
    UNTIL(node[1].board->deputy_pid);
    agent = node[1].board->agent_pid;
    deputy = node[1].board->deputy_pid;
    ck_assert_int_eq(kill(agent, _i == 0 ? SIGKILL : SIGSTOP), 0);
    UNTIL(node[1].board->agent_pid == deputy);
    UNTIL(node[1].board->deputy_pid != deputy);
    ck_assert(is_gone(agent));
    end_rank(3, 5);
    await_verdict(FTREE_CLASS_PROCESS_CRASH, 3);
    end_job();
}

/* -1: no agent has asked its ranks to end the job. */
static int32_t ending_node(void)
{
    for (int32_t n = 0; n < NODES; n++)
        if (node[n].board->abort_code)
            return n;
    return -1;
}

/* The node that reports it asks its ranks to end the job; where none of them sees that, one is
 * killed, which the launcher notices. */
TEST_CASE(a_job_is_ended_because_of_a_verdict)
{
    int32_t first;

    begin_job(FAULTLOC_ACTION_ABORT);
    end_rank(3, 5);
    await_verdict(FTREE_CLASS_PROCESS_CRASH, 3);
    UNTIL(ending_node() >= 0);
    first = ending_node() * PER_NODE;
    UNTIL(!process_is_alive(&rank[first]));
    ck_assert_int_eq(process_end(&rank[first]), -SIGKILL);
    ck_assert_int_eq(slot_of(first)->state, FAULTLOC_SLOT_VICTIM);
    end_job();
}

static const struct {
    const char *command, *arguments, *says;
} questions[] = {
    {"status", "", "nodes: 2 answered"},
    {"status", "--here --node n1 --json", "\"asked\":\"n1\""},
    {"status", "--stacks", "rank"},
    {"ask", "n1", "n1"},
    {"set", "stall-ms=500", "set on 2 of 2 nodes"},
    {"symptom", "--kind user-suspects --component 'rank 2'", "reported to the agent"},
};

/* By the program, which finds the agents by the job's name. */
TEST_CASES(people_are_answered, sizeof(questions) / sizeof(questions[0]))
{
    const char *build = getenv("top_builddir"), *command = questions[_i].command;
    char line[512], text[8192] = "";
    size_t len = 0, n;
    FILE *f;

    begin_job(FAULTLOC_ACTION_REPORT);
    snprintf(line, sizeof(line), "%s/tools/faultloc %s %s%s %s 2>&1", build ? build : ".", command,
             strcmp(command, "status") ? "--job " : "", node[0].board->job_id, questions[_i].arguments);
    f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    while ((n = fread(text + len, 1, sizeof(text) - 1 - len, f)) > 0)
        len += n;
    ck_assert_msg(pclose(f) == 0 && strstr(text, questions[_i].says), "%s: %s", line, text);
    end_job();
}
