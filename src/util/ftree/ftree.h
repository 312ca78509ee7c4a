/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_H_INCLUDED
#define FTREE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ftree/fault_classes.h"

/* Inside libmpi these names are nobody else's business. */
#pragma GCC visibility push(hidden)

/*
 * The fault localization tree (FLT): one `struct ftree` is one node's view of it.
 *
 * The core is a state machine.  Time comes in as an argument, messages leave through callbacks,
 * and ftree_deadline() says when the next ftree_tick() is due.  It knows no MPI, clock, socket
 * or thread and keeps no global state, so the same code runs inside MPI, in a test that steps it
 * by hand, and in a simulator.
 *
 * Data flows one way:
 *
 *     observe -> symptom -> correlate -> probe -> verdict -> report
 *
 * Conventions, said once:
 *   - A time is in nanoseconds of any clock of the caller that never goes back; all times given
 *     to one handle are of the same clock.  Times never travel: messages carry ages.
 *   - Nodes are 0 .. nodes-1, ranks 0 .. size-1; FTREE_NONE stands for "no such" or "not known".
 *   - Functions return FTREE_OK or one of FTREE_ERRORS; ftree_strerror() names it.  An error
 *     leaves the handle valid: what could not be done is left out, nothing else is lost.
 *   - A handle is used by one thread at a time; handles share nothing but the job description,
 *     which is never written.
 *   - Pointers given to a function are the caller's and are not kept, except `job`, `io` and
 *     `io_ctx`, which must outlive the handle.  Callbacks must not call back into the handle.
 *
 * Sources: the tree, its substitutes and the three kinds of probe follow MPFL; a stall as the
 * symptom that needs no heartbeat follows the passive-heartbeat detector; the vocabulary of errno
 * and candidate faults follows the MPI library with cluster monitoring (doc/decisions.md has the
 * references).  Round-trip estimation is RFC 6298's.
 */

typedef uint64_t ftree_time;

#define FTREE_NEVER UINT64_MAX
#define FTREE_NONE (-1)
#define FTREE_LOCAL (-2) /* of a peer: a rank of the own node, not known which */
#define FTREE_MS ((ftree_time) 1000000)

/* One node never has to read or write a longer message, in bytes. */
#define FTREE_MESSAGE_MAX 4096

/* Names of rules and fault models, and the free text of a symptom or a finding, with their final
 * zero; both are printable ASCII. */
#define FTREE_NAME_MAX 64
#define FTREE_DETAIL_MAX 128

/* The numbers of a table of names, such as the next one. */
#define FTREE_ENUM(id, ...) id,
#define FTREE_SECOND(id, text, ...) text,

#define FTREE_ERRORS(X) \
    X(FTREE_OK, "success") \
    X(FTREE_ERR_NOMEM, "out of memory") \
    X(FTREE_ERR_INVALID, "an argument is outside its range") \
    X(FTREE_ERR_MALFORMED, "a message is malformed") \
    X(FTREE_ERR_VERSION, "a message is of another protocol version")

enum ftree_error { FTREE_ERRORS(FTREE_ENUM) };

/* Purpose: names an error.  Returns a constant string, also for a number that is none. */
const char *ftree_strerror(int error);

/* A path is one way to reach a node. */
enum ftree_path {
    FTREE_PATH_DATA,
    FTREE_PATH_MGMT,
    FTREE_PATHS
};

/* Who is asked on a node: its agent, or the deputy that answers when the agent does not. */
enum ftree_role {
    FTREE_ROLE_AGENT,
    FTREE_ROLE_DEPUTY,
    FTREE_ROLES
};

/* What asking over one path came to, from "nothing at all" to "an answer": of several results
 * the greatest is kept, because it says most about the far side. */
#define FTREE_REACHES(X) \
    X(FTREE_REACH_NOT_ASKED, "not asked") \
    X(FTREE_REACH_SILENT, "no answer") \
    X(FTREE_REACH_LOCAL_DOWN, "own side down") \
    X(FTREE_REACH_UNREACHABLE, "unreachable") \
    X(FTREE_REACH_CONNECTED, "connects, never answers") \
    X(FTREE_REACH_REFUSED, "refused") \
    X(FTREE_REACH_ANSWERED, "answered")

enum ftree_reach { FTREE_REACHES(FTREE_ENUM) FTREE_REACH_COUNT };

/* The classes of verdicts; their table is fault_classes.h. */
enum ftree_class { FTREE_CLASSES(FTREE_ENUM) FTREE_CLASS_COUNT };

/* Kinds of components, with the word that stands before a component's name. */
#define FTREE_KINDS(X) \
    X(FTREE_KIND_NODE, "node") \
    X(FTREE_KIND_RANK, "rank") \
    X(FTREE_KIND_NIC, "nic") \
    X(FTREE_KIND_LINK, "link") \
    X(FTREE_KIND_SWITCH, "switch")

enum ftree_kind { FTREE_KINDS(FTREE_ENUM) FTREE_KIND_COUNT };

enum ftree_origin {
    FTREE_ORIGIN_HARDWARE,
    FTREE_ORIGIN_SOFTWARE,
    FTREE_ORIGIN_UNKNOWN,
    FTREE_ORIGIN_COUNT
};

/* ---- symptoms -------------------------------------------------------------------------------- */

/* Who observes: the middleware that a symptom comes from. */
#define FTREE_SOURCES(X) \
    X(FTREE_SOURCE_MESSAGE_PASSING, "message-passing") \
    X(FTREE_SOURCE_OPERATING_SYSTEM, "operating-system") \
    X(FTREE_SOURCE_PROCESS_MANAGER, "process-manager") \
    X(FTREE_SOURCE_JOB_SCHEDULER, "job-scheduler") \
    X(FTREE_SOURCE_NETWORK_MANAGER, "network-manager") \
    X(FTREE_SOURCE_FILE_SYSTEM, "file-system") \
    X(FTREE_SOURCE_HARDWARE_MONITOR, "hardware-monitor") \
    X(FTREE_SOURCE_USER, "user")

enum ftree_source { FTREE_SOURCES(FTREE_ENUM) FTREE_SOURCE_COUNT };

#define FTREE_SEVERITIES(X) \
    X(FTREE_SEVERITY_INFO, "info") \
    X(FTREE_SEVERITY_WARNING, "warning") \
    X(FTREE_SEVERITY_ERROR, "error") \
    X(FTREE_SEVERITY_FATAL, "fatal")

enum ftree_severity { FTREE_SEVERITIES(FTREE_ENUM) FTREE_SEVERITY_COUNT };

/* The one table of symptoms: identifier, name in rules and reports, source, kind of component it
 * is about, severity where the reporter gives none, meaning.  At most 64: rules keep sets of them
 * in a word. */
#define FTREE_SYMPTOMS(X) \
    X(FTREE_SYMPTOM_PEER_STALL, "peer-stall", MESSAGE_PASSING, RANK, WARNING, \
      "a rank waits for this one longer than the stall limit") \
    X(FTREE_SYMPTOM_PEER_SILENT, "peer-silent", MESSAGE_PASSING, NODE, WARNING, \
      "the node's agent does not acknowledge a control message") \
    X(FTREE_SYMPTOM_FLOOD_QUERY, "flood-query", MESSAGE_PASSING, NODE, INFO, \
      "a rank waits and nobody knows for whom: every node is asked") \
    X(FTREE_SYMPTOM_CHAINED, "chained-stall", MESSAGE_PASSING, RANK, WARNING, \
      "a rank that others wait for is well and waits for this one") \
    X(FTREE_SYMPTOM_PEER_UNREACHABLE, "peer-unreachable", MESSAGE_PASSING, NODE, ERROR, \
      "the netmod cannot reach the node (EHOSTUNREACH, ENETUNREACH, ETIMEDOUT)") \
    X(FTREE_SYMPTOM_PEER_RESET, "peer-reset", MESSAGE_PASSING, RANK, ERROR, \
      "the netmod's connection to the rank was reset or refused (ECONNRESET, ECONNREFUSED, EPIPE)") \
    X(FTREE_SYMPTOM_PROCESS_GONE, "process-gone", OPERATING_SYSTEM, RANK, FATAL, \
      "the process ended without having called MPI_Finalize") \
    X(FTREE_SYMPTOM_PROCESS_STOPPED, "process-stopped", OPERATING_SYSTEM, RANK, ERROR, \
      "the process is in state T, or frozen by its control group") \
    X(FTREE_SYMPTOM_OUT_OF_MEMORY, "out-of-memory", OPERATING_SYSTEM, RANK, FATAL, \
      "the kernel killed the process because memory ran out") \
    X(FTREE_SYMPTOM_MEMORY_PRESSURE, "memory-pressure", OPERATING_SYSTEM, NODE, WARNING, \
      "tasks of the node stall for memory (PSI)") \
    X(FTREE_SYMPTOM_CPU_PRESSURE, "cpu-pressure", OPERATING_SYSTEM, NODE, WARNING, \
      "tasks of the node wait for a CPU (PSI)") \
    X(FTREE_SYMPTOM_CPU_USAGE, "cpu-usage", OPERATING_SYSTEM, NODE, INFO, \
      "the CPU utilization, within its normal range") \
    X(FTREE_SYMPTOM_KERNEL_ERROR, "kernel-error", OPERATING_SYSTEM, NODE, ERROR, \
      "the node's kernel logged an oops, a lockup or a hung task") \
    X(FTREE_SYMPTOM_INTERFACE_DOWN, "interface-down", OPERATING_SYSTEM, NIC, ERROR, \
      "the data interface is down or gone on its own host") \
    X(FTREE_SYMPTOM_CARRIER_LOST, "carrier-lost", OPERATING_SYSTEM, LINK, ERROR, \
      "the data interface is up but has no carrier") \
    X(FTREE_SYMPTOM_PROCESS_EXITED, "process-exited", PROCESS_MANAGER, RANK, ERROR, \
      "the process ended before MPI_Finalize, with a status or a signal") \
    X(FTREE_SYMPTOM_PROXY_LOST, "proxy-lost", PROCESS_MANAGER, NODE, ERROR, \
      "the launcher lost the connection to its proxy on the node") \
    X(FTREE_SYMPTOM_HEARTBEAT_LOST, "heartbeat-lost", JOB_SCHEDULER, NODE, ERROR, \
      "the scheduler has had no heartbeat from the node") \
    X(FTREE_SYMPTOM_NODE_DOWN, "node-down", JOB_SCHEDULER, NODE, ERROR, \
      "the scheduler has marked the node down") \
    X(FTREE_SYMPTOM_NODE_DRAINED, "node-drained", JOB_SCHEDULER, NODE, INFO, \
      "the scheduler gives the node no new jobs") \
    X(FTREE_SYMPTOM_PORT_DOWN, "port-down", NETWORK_MANAGER, LINK, ERROR, \
      "the switch port that the node is on is down") \
    X(FTREE_SYMPTOM_LINK_ERRORS, "link-errors", NETWORK_MANAGER, LINK, WARNING, \
      "symbol errors, drops or retransmits on the node's link") \
    X(FTREE_SYMPTOM_SWITCH_DOWN, "switch-down", NETWORK_MANAGER, SWITCH, ERROR, \
      "the switch does not answer its manager") \
    X(FTREE_SYMPTOM_CONGESTION, "congestion", NETWORK_MANAGER, SWITCH, WARNING, \
      "the switch's buffers have been full for a long time") \
    X(FTREE_SYMPTOM_MOUNT_SILENT, "mount-silent", FILE_SYSTEM, NODE, ERROR, \
      "the server of a mounted file system does not answer the node") \
    X(FTREE_SYMPTOM_IO_ERROR, "io-error", FILE_SYSTEM, NODE, ERROR, \
      "a read or write failed with EIO") \
    X(FTREE_SYMPTOM_IO_SLOW, "io-slow", FILE_SYSTEM, NODE, WARNING, \
      "reads and writes of the node take far longer than usual") \
    X(FTREE_SYMPTOM_POWER_OFF, "power-off", HARDWARE_MONITOR, NODE, FATAL, \
      "the node's BMC says that its power is off") \
    X(FTREE_SYMPTOM_TEMPERATURE, "temperature-high", HARDWARE_MONITOR, NODE, WARNING, \
      "a sensor of the node is above its critical threshold") \
    X(FTREE_SYMPTOM_FAN_FAILED, "fan-failed", HARDWARE_MONITOR, NODE, WARNING, \
      "a fan of the node has stopped") \
    X(FTREE_SYMPTOM_MEMORY_CORRECTED, "memory-corrected", HARDWARE_MONITOR, NODE, INFO, \
      "memory errors that were corrected") \
    X(FTREE_SYMPTOM_MEMORY_UNCORRECTED, "memory-uncorrected", HARDWARE_MONITOR, NODE, FATAL, \
      "memory errors that could not be corrected") \
    X(FTREE_SYMPTOM_USER_SUSPECTS, "user-suspects", USER, NODE, INFO, \
      "a user or a program of theirs asks for an examination of the component")

enum ftree_symptom_kind { FTREE_SYMPTOMS(FTREE_ENUM) FTREE_SYMPTOM_COUNT };
_Static_assert(FTREE_SYMPTOM_COUNT <= 64, "a set of symptoms is a word");

/* What a symptom or a verdict is about.  Every component has a node, so that it has an FLN: a NIC
 * or a link (the node's end of it) its host, a switch the node at the head of its subtree. */
struct ftree_component {
    uint8_t kind; /* enum ftree_kind */
    int32_t node;
    int32_t rank; /* FTREE_NONE but for a rank; of a node: the rank someone waits for */
    int32_t switch_; /* FTREE_NONE but for a switch */
};

#define FTREE_REPORTERS_MAX 4

/* The one form of a symptom, whoever saw it.  Equal ones (kind and component) are merged on their
 * way: `count` adds up, first and last span them, of the reporters some are kept. */
struct ftree_symptom {
    uint8_t kind; /* enum ftree_symptom_kind, which also says the source */
    uint8_t severity; /* enum ftree_severity */
    struct ftree_component about;
    int32_t reporters;
    int32_t reporter[FTREE_REPORTERS_MAX]; /* nodes */
    uint32_t count;
    int32_t error; /* errno, 0: none */
    ftree_time first, last;
    char detail[FTREE_DETAIL_MAX];
};

/* ---- the job: shared by all handles of a process, never written ------------------------------ */

/* Shapes: node_name[nodes]; rank_node[size]; the ranks of node n are
 * node_ranks[node_first[n] .. node_first[n + 1] - 1] in ascending order; rank_pid[size].
 * node_name may be NULL (nodes are then called n0, n1, ...); rank_node, node_first and
 * node_ranks may be NULL together (rank r is then the only one of node r); rank_pid may be NULL
 * (pids are then 0, not known). */
struct ftree_tree;
struct ftree_rules;

struct ftree_job {
    int32_t nodes;
    int32_t size;
    int32_t fanout; /* children of a node in the FLT, at least 1 */
    const struct ftree_tree *tree; /* the FLT from outside (tree.h); NULL: complete, by fanout */
    const struct ftree_rules *rules; /* the rule base to begin with (rules.h) */
    uint64_t seed; /* the same on all nodes: draws the root's substitutes */
    bool has_path[FTREE_PATHS];
    const char *const *node_name;
    const int32_t *rank_node;
    const int32_t *node_first;
    const int32_t *node_ranks;
    const int32_t *rank_pid;
};

/* ---- what the caller tells of its own ranks -------------------------------------------------- */

enum ftree_phase {
    FTREE_PHASE_OUTSIDE, /* in user code */
    FTREE_PHASE_INSIDE, /* in an MPI call */
    FTREE_PHASE_WAITING, /* in an MPI call, waiting */
    FTREE_PHASE_LEFT, /* has called MPI_Finalize, or ended because of another: that is no crash */
    FTREE_PHASE_GONE, /* its process no longer exists */
    FTREE_PHASE_COUNT
};

/* Beside the state letters of proc(5), which tell nothing of it: frozen by its control group, or held
 * by the memory limit of that. */
#define FTREE_PROC_FROZEN 'F'
#define FTREE_PROC_MEMORY 'M'
#define FTREE_PROC_STATES "RSDTtFMZXxKWPI" /* all of them */

struct ftree_rank_state {
    int32_t rank;
    int32_t pid;
    uint8_t phase; /* enum ftree_phase */
    /* state letter of proc(5), X of one that others end or ended, FTREE_PROC_FROZEN or _MEMORY; 0: not
     * known */
    char proc_state;
    int32_t peer; /* rank waited for, FTREE_NONE where not known */
    /* Identifier of the MPI function that it is in, 0: none, or not known.  Of one that has left, the
     * one in which it has ended the job, 0: it has come to its end. */
    uint32_t call;
    /* How long it has waited, in ns; 0: it does not wait.  Of one that has left, since it began the
     * wait for another that it left because of. */
    ftree_time waiting;
    bool failed; /* a moment ago an operation of it has failed because another rank is lost */
};

/* A connection of a local rank to another node, of which the kernel says that nothing has been
 * acknowledged for long, though it was sent again and again. */
struct ftree_connection {
    int32_t rank;
    int32_t node; /* at the other end */
    bool connecting; /* what is not acknowledged is the request for the connection */
    uint32_t bytes; /* that wait in it */
    uint32_t tries; /* how often they were sent again */
    uint32_t packet; /* bytes of a packet at most: the MTU of the path, as it is known here */
    ftree_time since, sent; /* for so long, at least; since they were sent last; ns */
};

#define FTREE_CONNECTIONS_MAX 16

/* ---- what state and log probes bring --------------------------------------------------------- */

#define FTREE_STATE_RANKS_MAX 16
#define FTREE_LOG_MAX 32

enum ftree_link {
    FTREE_LINK_UNKNOWN,
    FTREE_LINK_UP,
    FTREE_LINK_DOWN, /* administratively, or dormant */
    FTREE_LINK_NO_CARRIER, /* up, but nothing at the other end */
    FTREE_LINK_GONE, /* no such interface any more */
    FTREE_LINK_COUNT
};

/* How a node is.  UINT32_MAX or UINT64_MAX: not known. */
struct ftree_node_state {
    uint32_t cpus;
    uint32_t load_centi; /* load average over 1 minute, 1/100 */
    uint32_t cpu_pressure_centi; /* PSI "some" avg10, 1/100 of a percent; likewise the next two */
    uint32_t memory_pressure_centi;
    uint32_t io_pressure_centi;
    uint64_t memory_total, memory_available, swap_total, swap_free; /* bytes */
    uint32_t frequency_max_mhz; /* of all cores, now */
    uint32_t frequency_nominal_mhz;
    uint64_t throttles; /* since boot, all cores */
    uint8_t link; /* enum ftree_link, of the data interface; and its counters: */
    uint64_t rx_errors, tx_errors, rx_drops, tx_drops;
    int32_t ranks; /* of the node's ranks, the first FTREE_STATE_RANKS_MAX */
    struct {
        int32_t rank;
        int32_t pid;
        char proc_state; /* as of struct ftree_rank_state */
        uint8_t phase; /* enum ftree_phase */
    } rank[FTREE_STATE_RANKS_MAX];
};

enum ftree_log_type {
    FTREE_LOG_SEND,
    FTREE_LOG_RECV,
    FTREE_LOG_TYPES
};

/* One message of a rank, as its board's ring keeps it. */
struct ftree_log_entry {
    uint8_t type; /* enum ftree_log_type */
    ftree_time at;
    int32_t peer; /* rank of the communicator, FTREE_NONE: any source */
    int32_t tag;
    uint32_t context; /* the communicator's context id */
    uint64_t bytes;
};

/* The last messages of one rank, newest first. */
struct ftree_log {
    int32_t rank;
    int32_t entries;
    struct ftree_log_entry entry[FTREE_LOG_MAX];
};

/* ---- verdicts -------------------------------------------------------------------------------- */

#define FTREE_EVIDENCE_MAX 10
#define FTREE_CANDIDATE_MAX 3
#define FTREE_RANGES_MAX 64

enum ftree_evidence_source {
    FTREE_EVIDENCE_PROBE, /* a response probe: path, role, reach, error */
    FTREE_EVIDENCE_PROC, /* the node's own agent read /proc: proc_state, and of a limit detail */
    FTREE_EVIDENCE_STATE, /* a state probe: detail */
    FTREE_EVIDENCE_LOG, /* a log probe: detail */
    FTREE_EVIDENCE_SYMPTOM, /* a symptom of other middleware: detail */
    FTREE_EVIDENCE_INDIRECT, /* a response probe by another node: path, reach, by */
    FTREE_EVIDENCE_WAIT, /* what a rank waits for, or a hint: detail, as people read it; of a cycle
                          * each line after the first begins with "<- " */
    FTREE_EVIDENCE_CONNECTION, /* what a kernel says of ranks' own connections, or a hint: detail */
    FTREE_EVIDENCE_SAMPLE, /* what the job's samples say, or a rank's stay outside MPI: detail */
    FTREE_EVIDENCE_SOURCES
};

struct ftree_evidence {
    uint8_t source; /* enum ftree_evidence_source */
    uint8_t path; /* enum ftree_path; FTREE_PATHS: by none */
    uint8_t role; /* enum ftree_role */
    uint8_t reach; /* enum ftree_reach */
    char proc_state; /* what the target's node said of the process, 0: nothing */
    int32_t target; /* node asked about */
    int32_t by; /* node that asked */
    int32_t error; /* errno, 0: none */
    ftree_time at;
    char detail[FTREE_DETAIL_MAX]; /* what a probe brought, a symptom or a rank said; or "" */
};

struct ftree_candidate {
    uint8_t class_; /* enum ftree_class */
    uint16_t confidence; /* 1/1000 */
    bool ruled_out; /* else: could not be told apart */
};

/* Ranks as ranges [first, last]; `count` counts all of them, also those whose range found no
 * room in the table (then count is more than the ranges add up to). */
struct ftree_ranks {
    int32_t count;
    int32_t ranges;
    struct {
        int32_t first, last;
    } range[FTREE_RANGES_MAX];
};

/* Numbers (of nodes or ranks) as spans, ascending and apart, as many as it takes. */
struct ftree_spans {
    struct ftree_span {
        int32_t first, last;
    } *items;
    int32_t n, room;
    int32_t count; /* of all numbers, also of those that are not listed */
};

#define FTREE_STATISTICS_SAMPLES 128

/* By what a verdict on ranks that never come was found; doc/hangs.md has the formulas.  A
 * significance is the probability, at most, that a healthy job shows the like. */
struct ftree_statistics {
    double alpha; /* a smaller significance suffices; 0: the verdict was found otherwise */
    struct {
        bool known; /* false: there were too few samples, or they were not random */
        int32_t n; /* samples */
        int32_t t; /* one of up to that is suspicious */
        int32_t run; /* so many in a row were suspicious, up to the last one */
        int32_t needed; /* so many would have sufficed */
        double q; /* no less than the probability of a suspicious one */
        ftree_time interval; /* mean distance of the samples that were used, ns */
        double significance;
    } s_out;
    struct {
        ftree_time stay; /* outside MPI, the shortest of all ranks that are; of the component where
                          * others go on; ns */
        ftree_time longest; /* of any rank before, */
        ftree_time before; /* of all time for which ranks were there; ns */
        int32_t exponent; /* a: stays have a tail as heavy as 1 / x^a */
        int32_t ranks; /* of the job, where `longest` and `before` are of the rank alone; 1: of all ranks */
        double significance;
    } stay;
    int32_t samples; /* of S_out, the newest ones, in the order of time: */
    int32_t sample[FTREE_STATISTICS_SAMPLES]; /* -1: not known */
    struct { /* of the ranks that wait for slow ones; percent 0: the verdict is no straggler */
        int32_t percent; /* that they have lost of their time outside MPI, */
        int32_t before, now; /* share of the time, 1/1000 */
    } lost;
};

#define FTREE_HOLDS_FOR_EVER (UINT32_MAX * FTREE_MS) /* as much as a message can say */

struct ftree_verdict {
    uint8_t class_; /* enum ftree_class */
    uint8_t kind; /* enum ftree_kind of the component */
    uint16_t confidence; /* 1/1000 */
    char rule[FTREE_NAME_MAX]; /* "model/sign" of the rule base that decided */
    char because[FTREE_DETAIL_MAX]; /* the sign in words */
    char raised_by[FTREE_NAME_MAX]; /* rule that made it a candidate; "": none was needed */
    uint32_t id; /* with `fln`: this verdict and no other */
    int32_t node;
    int32_t rank; /* FTREE_NONE where the component is the node, or all its ranks */
    int32_t switch_; /* FTREE_NONE where the component is no switch */
    int32_t pid; /* 0: not known */
    int32_t fln; /* node that decided */
    uint32_t symptoms; /* how many were merged into this finding */
    ftree_time first_symptom;
    ftree_time located;
    ftree_time withdrawn; /* 0: it stands; else when it turned out to be over or wrong */
    ftree_time holds_back; /* how long it must have stood before the action "abort" may end the job because of
                            * it, whole ms; 0: no longer than any; FTREE_HOLDS_FOR_EVER: it never may */
    bool local_only; /* this node reaches nobody: only its own readers learn it; never travels */
    bool unreported; /* people may not have heard of it: see ftree_restore(); never travels */
    struct ftree_statistics statistics; /* the deciding node's; never travels */
    int32_t evidences, candidates;
    struct ftree_evidence evidence[FTREE_EVIDENCE_MAX];
    struct ftree_candidate candidate[FTREE_CANDIDATE_MAX];
    struct ftree_ranks victims;
    struct ftree_ranks component; /* its ranks, ascending, where these are more than one, of
                                   * which `rank` is the lowest, on `node`; count 0: `rank`, or
                                   * what `kind` says of `node` */
};

/* ---- a stall that nothing explains ----------------------------------------------------------- */

#define FTREE_WAITING_ENDS_MAX 4
#define FTREE_WAITING_CLASSES_MAX 4
#define FTREE_WAITING_NAME_MAX 64
#define FTREE_WAITING_STATE_MAX 192
#define FTREE_ON_MAX 96

/* A note, no verdict: who waits for whom, where every rank and node is well.  Texts are printable
 * ASCII. */
struct ftree_waiting {
    ftree_time waiting; /* for how long, ns */
    int32_t count; /* ranks that wait */
    int32_t ends; /* the ranks that do not wait, those most waited for first: */
    struct {
        int32_t rank;
        int32_t count; /* of those that wait for it in the end; 0: not known */
        char state[FTREE_WAITING_STATE_MAX]; /* what it is: "outside MPI", "in MPI_Bcast" */
        ftree_time still; /* for so long it has used no CPU; 0: it has, or that is not known */
    } end[FTREE_WAITING_ENDS_MAX];
    int32_t classes; /* those that wait by what they are in, the largest first: */
    struct {
        char call[FTREE_WAITING_NAME_MAX]; /* "MPI_Recv"; "": they are outside MPI */
        char comm[FTREE_WAITING_NAME_MAX]; /* name of the communicator, "": it has none; of those
                                            * that are asleep: in what */
        int32_t count;
        int32_t example; /* a rank of them */
        char on[FTREE_ON_MAX]; /* the file or process for which that one sleeps, "": not known */
    } class_[FTREE_WAITING_CLASSES_MAX];
    bool asleep; /* no rank waits: all here are asleep, and have ended no call for so long */
};

/* ---- what ranks do --------------------------------------------------------------------------- */

#define FTREE_DOINGS(X) \
    X(FTREE_DOES_COMPUTE, "outside MPI") \
    X(FTREE_DOES_CALL, "in MPI") \
    X(FTREE_DOES_WAIT, "waiting") \
    X(FTREE_DOES_STOP, "stopped") \
    X(FTREE_DOES_LEAVE, "has left") \
    X(FTREE_DOES_END, "gone") \
    X(FTREE_DOES_SLEEP, "asleep")

enum ftree_doing { FTREE_DOINGS(FTREE_ENUM) FTREE_DOING_COUNT };

/* Ranks in the same state, in the same MPI function, on a communicator of the same name. */
struct ftree_rank_class {
    uint8_t state; /* enum ftree_doing */
    uint32_t call; /* identifier of the MPI function, 0: none, or not known */
    char comm[FTREE_WAITING_NAME_MAX]; /* printable ASCII; "": none, or it has no name; of ranks
                                        * that sleep: in what, "a pipe (pipe_read)" */
    char on[FTREE_ON_MAX]; /* of the example that sleeps: the file or process that it waits for */
    int32_t count;
    int32_t example; /* the lowest rank */
    ftree_time shortest, longest; /* of their waits, or of the time in which those that sleep have
                                   * used no CPU, ns */
    int32_t any; /* so many of them wait for a message of any source */
    struct ftree_spans ranks;
    struct ftree_spans peers; /* for whom they wait, as far as it is known */
};

/* The largest first. */
struct ftree_rank_classes {
    struct ftree_rank_class *items;
    int32_t n, room;
    int32_t dropped, dropped_ranks; /* further classes, and ranks in them */
};

/* ---- ranks outside MPI ----------------------------------------------------------------------- */

#define FTREE_OUTSIDES(X) \
    X(FTREE_OUTSIDE_UNKNOWN, "in an unknown state") \
    X(FTREE_OUTSIDE_RUNS, "active") \
    X(FTREE_OUTSIDE_PAUSES, "active now and then") \
    X(FTREE_OUTSIDE_AWAITS, "awaiting an answer") \
    X(FTREE_OUTSIDE_SLEEPS, "blocked") \
    X(FTREE_OUTSIDE_DISK, "in disk sleep") \
    X(FTREE_OUTSIDE_STOPPED, "stopped, or held by a debugger")

enum ftree_outside { FTREE_OUTSIDES(FTREE_ENUM) FTREE_OUTSIDE_COUNT };

/* What may wake a rank that sleeps. */
#define FTREE_ENDINGS(X) \
    X(FTREE_ENDING_THREAD, "can be woken only by its own threads") \
    X(FTREE_ENDING_UNKNOWN, "may be woken by something unknown") \
    X(FTREE_ENDING_SIGNAL, "may be woken by a signal that it handles") \
    X(FTREE_ENDING_TIMEOUT, "is in a call with a timeout of its own") \
    X(FTREE_ENDING_INPUT, "waits for standard input or a terminal")

enum ftree_ending { FTREE_ENDINGS(FTREE_ENUM) FTREE_ENDING_COUNT };

#define FTREE_WCHAN_MAX 32
#define FTREE_WAITS_IN_MAX 24
#define FTREE_WHOM_MAX 64

#define FTREE_CPU_UNKNOWN (-1)
#define FTREE_CPU_WORKS 10 /* percent: no stray interrupt, tracer or poll with pauses does that */

/* A rank's present stay outside MPI, or in a call of it that makes no progress.  It is blocked if it
 * sleeps, and has done nothing at all since it was last looked at: no thread of it has used the CPU,
 * had a page fault or a child that ended, and the first one has not run.  It is active now and then if it
 * sleeps, but has run, for less than a tenth of the time.  It awaits an answer if it is
 * blocked in a socket or a poll, or has a child process, or a process that is no rank has the other end
 * of its pipe or a lock of its file, or its output is not read: somebody who is no rank may end that.  It
 * is in disk sleep also if it waits for a file system and may be interrupted. */
struct ftree_stay {
    int32_t rank;
    uint8_t what; /* enum ftree_outside, as the kernel says */
    uint8_t ending; /* enum ftree_ending, of one that sleeps */
    uint32_t call; /* that makes no progress; 0: it is outside MPI */
    bool familiar; /* of one that is in MPI: in a call in which ranks of its node have been seen often enough */
    bool transfers; /* it has read or written much since then, as of a checkpoint */
    int32_t cpu; /* percent of a CPU that it has used since it was last looked at; FTREE_CPU_UNKNOWN */
    uint64_t calls; /* that it has ended, but for those that asked in vain: tells one stay from others */
    ftree_time stay; /* since it was first seen outside after that call, or was interrupted (stopped), ns */
    ftree_time away; /* interruptions included; does not travel */
    ftree_time longest; /* the longest stay before, as far as samples have seen it, ns */
    ftree_time before; /* for so long it was outside MPI before this stay, as samples have seen it, ns */
    ftree_time still; /* for so long it has done nothing at all, as the kernel said when it was looked at, ns */
    ftree_time used; /* CPU time since it was first looked at in this stay, ns */
    char wchan[FTREE_WCHAN_MAX]; /* where in the kernel it sleeps, printable ASCII; "": not known */
    char waits_in[FTREE_WAITS_IN_MAX]; /* the same in words: "a lock"; "": there are none for it */
    char on[FTREE_ON_MAX]; /* the file or process that it sleeps for, printable; "": not known; does
                            * not travel */
    char whom[FTREE_WHOM_MAX]; /* of one that awaits an answer: "process 12 (driver) by a pipe", "standard
                                * output is not read"; "": not known */
};

/* ---- ranks that others wait for again and again ---------------------------------------------- */

#define FTREE_BLOCK_SAMPLES 8 /* that are known */
#define FTREE_BLOCKS_MAX 128

/* At how many samples of a block a rank was outside MPI, and at how many it went on: was outside MPI,
 * or had ended a call since the sample before. */
struct ftree_block {
    uint8_t outside, goes_on;
    uint8_t waits; /* percent of its time in which the rank waited for a CPU */
};

#define FTREE_LAG_FAULTS_MAX 1000000

/* What its kernel says that hinders a rank, since it was last asked.  Shares are in 1/1000; threads
 * but the first one are not known. */
struct ftree_lag {
    int32_t rank;
    uint16_t before, now; /* share of samples in which it was outside MPI; the core's, as are: */
    bool has_lost; /* time, than which it never lost as much */
    bool waits_more; /* for a CPU, than before: ftree_lag_waits_more() */
    bool measured; /* the kernel was asked twice, some seconds apart, and the rest is known: */
    uint16_t wants; /* share of time in which it ran, or waited for a CPU; */
    uint16_t gets; /* share of that in which it ran; 1000: it wanted none */
    uint16_t throttled; /* share of its cgroup's periods in which its quota was used up */
    uint16_t stolen; /* share of its CPU's time that another virtual machine had */
    uint16_t stall; /* share of time in which tasks of its node waited for memory */
    uint16_t clock; /* of its CPU, of the nominal one; 0: not known */
    uint32_t faults; /* pages a second that it waited for a disk for; FTREE_LAG_FAULTS_MAX at most */
    int32_t beside; /* another rank that is bound to the same one core, FTREE_NONE */
};

/* ---- stacks ---------------------------------------------------------------------------------- */

#define FTREE_CALL_FUNCTION_MAX 96
#define FTREE_CALL_FILE_MAX 48
#define FTREE_DETAILS_MAX 20 /* who is blamed, and one of each class of those that wait */
#define FTREE_DETAIL_BYTES (24 * 1024)

/* A call of a stack; NULL and 0: not known. */
struct ftree_call {
    const char *function, *file, *module;
    int32_t line;
};

/* A call that stacks of several ranks have in common, with all calls around it.  Texts are
 * printable ASCII, "" where they are not known; the file is without its folders. */
struct ftree_stack {
    int32_t parent; /* the call around it, which is before it; FTREE_NONE: none is */
    int32_t line; /* 0: not known */
    char function[FTREE_CALL_FUNCTION_MAX], file[FTREE_CALL_FILE_MAX], module[FTREE_CALL_FILE_MAX];
    struct ftree_spans ranks;
};

/* The stacks of ranks, merged. */
struct ftree_stacks {
    struct ftree_stack *items;
    int32_t n, room;
    int32_t dropped; /* further calls, of few ranks */
    struct ftree_spans missing; /* ranks whose stacks could not be had */
    char why[96]; /* of one of these; "": there is none */
    int32_t details;
    struct ftree_detail {
        int32_t rank;
        int32_t len;
        char *text; /* JSON of the glue (agent/report/stacks.h), to be checked */
    } detail[FTREE_DETAILS_MAX];
};

/* ---- queries: all nodes answer one ----------------------------------------------------------- */

enum ftree_query_kind {
    FTREE_QUERY_STATUS, /* how nodes are and what ranks do; the request is empty, or a byte of
                         * flags, 1: all classes and all of their ranks */
    FTREE_QUERY_SET, /* a value for all nodes */
    FTREE_QUERY_HANG, /* samples and ranks outside MPI; the acting root asks for itself alone */
    FTREE_QUERY_STACKS, /* where ranks are in their code: ftree_query_stacks() */
    FTREE_QUERY_LAG, /* who waits more than before, what slows ranks; the core asks for itself */
    FTREE_QUERY_COUNT
};

/* A node or switch that is examined. */
struct ftree_suspicion {
    int32_t node;
    int32_t switch_; /* FTREE_NONE: the node */
    int32_t by; /* the node that examines it */
    uint8_t kind; /* enum ftree_symptom_kind, of the first symptom */
    ftree_time age; /* of the first symptom, ns */
};

/* What came of a query.  All of it is the core's, until the callback returns. */
struct ftree_query_result {
    uint8_t kind; /* enum ftree_query_kind */
    uint32_t number;
    int32_t root; /* the node that acts as root; FTREE_NONE: none has answered */
    int32_t nodes; /* that were asked: each is in one of the next four, where `refused` is "" */
    char refused[FTREE_DETAIL_MAX]; /* printable ASCII; not "": nothing was asked, and why */
    struct ftree_spans answered;
    struct ftree_spans left; /* they have no ranks any more, and their agents have ended */
    struct ftree_spans failed; /* as verdicts say */
    struct ftree_spans silent; /* it is not known why they have not answered in time */
    struct ftree_rank_classes classes; /* of a status, as the next three: of nodes that have
                                        * answered */
    int32_t suspicions, more_suspicions; /* and so many further ones */
    const struct ftree_suspicion *suspicion;
    const struct ftree_stacks *stacks; /* of a query for them: of nodes that have answered */
};

/* ---- callbacks ------------------------------------------------------------------------------- */

struct waits_page;

enum ftree_waits_look {
    FTREE_WAITS_PENDING, /* asked, and not answered yet */
    FTREE_WAITS_READY, /* *page is of this look */
    FTREE_WAITS_UNABLE /* it will not answer: outside MPI, gone, or not enough is known */
};

/* Where a message goes.  `conn` is what ftree_receive() was given, for an answer on the same
 * connection, else 0.  `fresh` asks for a new connection, so that "connects" is a fact of now. */
struct ftree_route {
    int32_t node;
    uint8_t path; /* enum ftree_path */
    uint8_t role; /* enum ftree_role */
    bool fresh;
    uint64_t conn;
};

struct ftree_io {
    /* Sends `len` bytes; returns 0 or an errno.  Never delivers in line. */
    int (*send)(void *ctx, const struct ftree_route *to, const void *bytes, size_t len);
    /* Fills in the state of the own node's i-th rank, in the order of the job description. */
    void (*look)(void *ctx, int32_t i, struct ftree_rank_state *state);
    /* How much memory the control group of the own node's i-th rank may use, and uses, in words; may
     * be NULL. */
    void (*memory)(void *ctx, int32_t i, char *text, size_t room);
    /* How this node is (state probe), and the last messages of the i-th local rank (log probe), as
     * many as find room.  May be NULL: then such a probe is answered without. */
    void (*state)(void *ctx, struct ftree_node_state *state);
    void (*log)(void *ctx, int32_t i, struct ftree_log *log);
    /* Why the i-th local rank has ended, as it has said itself, as of a sentence that begins with its
     * name: "called MPI_Abort(7) on MPI_COMM_SELF"; "" where it has not.  May be NULL. */
    void (*reason)(void *ctx, int32_t i, char *text, size_t room);
    /* True if data of the ranks came through between this node and `node` (FTREE_NONE: any other)
     * over this path, to or fro, in the last `within` ns, and there and back takes `rtt` ns at
     * least.  May be NULL: nothing is known of that. */
    bool (*delivers)(void *ctx, int32_t node, enum ftree_path path, ftree_time within,
                     ftree_time rtt);
    /* Such connections of the local ranks, over the data path or, where there is none, the management
     * path; returns how many there are, n at the most.  May be NULL: none are known. */
    int32_t (*connections)(void *ctx, struct ftree_connection *c, int32_t n);
    /* What the i-th local rank waits for, as it says itself at look number `look` (they only grow;
     * the first call with a number asks the rank, which answers when its wait turns, within a
     * millisecond or never).  `with`, n ranks: those whose messages with it are wanted.  *page
     * stays valid until the next call.  May be NULL: nothing is known of waits then. */
    enum ftree_waits_look (*waits)(void *ctx, int32_t i, uint32_t look, const int32_t *with,
                                   int32_t n, const struct waits_page **page);
    /* How many of this node's ranks were outside MPI at the last n instants, oldest first, -1 where
     * that is not known.  Returns the number of the instant that the last one is of; all nodes have
     * the same instants. And the i-th local rank's stay outside MPI: true, it is outside; else only
     * `rank`, `calls`, `longest` and `familiar` are filled in.  May be NULL together: then nobody
     * is said to hang outside MPI. */
    uint64_t (*samples)(void *ctx, int32_t *out, int32_t n);
    bool (*stay)(void *ctx, int32_t i, struct ftree_stay *stay);
    /* The last n blocks of the i-th local rank, FTREE_BLOCKS_MAX at most, newest first; returns how
     * many there are.  And what slows it, but for the shares `before` and `now`.  May be NULL
     * together: then nobody is found to be slow. */
    int32_t (*blocks)(void *ctx, int32_t i, struct ftree_block *block, int32_t n);
    void (*lag)(void *ctx, int32_t i, struct ftree_lag *lag);
    /* What `call` and `op` of a record are called, "MPI_Recv" and "MPI_SUM"; may be NULL. */
    const char *(*call_name)(uint32_t call);
    const char *(*op_name)(uint32_t op);
    /* A verdict became known to this node (called once per verdict, on every node; v->unreported is
     * set unless the acting root announced it), or was withdrawn (v->withdrawn is set; once
     * more). */
    void (*verdict)(void *ctx, const struct ftree_verdict *v);
    /* On the acting root only: the victims of verdict `v` are in, it is to be reported; or,
     * where it has been reported before, v->withdrawn is set. */
    void (*report)(void *ctx, const struct ftree_verdict *v);
    /* On the acting root only, of a stall that nothing explains, after ten stall limits and then at
     * doubling intervals up to ten minutes; may be NULL. */
    void (*waiting)(void *ctx, const struct ftree_waiting *w);
    /* A setting has come (struct ftree_setting, as ftree_setting_decode() reads it), newer than
     * those before; `reports`: this is the acting root, and people are told.  May be NULL. */
    void (*setting)(void *ctx, const void *bytes, size_t len, bool reports);
    /* A query of this node is over, once for each that ftree_query() took; may be NULL. */
    void (*answered)(void *ctx, const struct ftree_query_result *r);
    /* Takes the stacks of n own ranks, local[i] in the order of the job description; `what` is of enum
     * ftree_stacks_what.  ftree_stacks_taken() with this number says what came of it, later.  False:
     * it will not.  May be NULL: none are taken. */
    bool (*stacks)(void *ctx, uint32_t number, const int32_t *local, int32_t n, int what);
    /* One line per decision; may be NULL. */
    void (*trace)(void *ctx, const char *line);
    /* As realloc(3), and as free(3) when size is 0; may be NULL for the C library's. */
    void *(*alloc)(void *ctx, void *ptr, size_t size);
};

/* Times in ns.  ftree_config_default() sets the values in brackets. */
struct ftree_config {
    ftree_time stall; /* [1 s] how long a wait may stand still; also the base of the
                                 * interval at which an unexplained stall is told again, doubled
                                 * each time up to stall_repeat_max */
    ftree_time stall_repeat_max; /* [10 s] */
    ftree_time sample; /* [400 ms] mean time between two instants of samples */
    double alpha; /* [0.001] significance of a verdict that a rank hangs outside MPI, or of waiting
                   * longer than before */
    ftree_time rto_min; /* [150 ms] RFC 6298's timer is kept between these two */
    ftree_time rto_max; /* [1 s] */
    ftree_time silence; /* [900 ms] how long a suspect must be silent before that accuses it; grows
                                 * with the rto: max(silence, 6 rto).  Longer survives longer
                                 * silences of a network, and finds an outage that much later
                                 * (silence.c) */
    ftree_time settle; /* [150 ms] a local finding must still be true after this */
    ftree_time gather; /* [400 ms] how long a node waits for the victims, for each level below it */
    ftree_time late; /* [200 ms] an own tick later than this excuses all suspects */
    ftree_time linger; /* [2 s] how long a leaving node waits for the others */
    ftree_time group_min; /* [500 ms] bounds of the time window T in which symptoms belong */
    ftree_time group_max; /* [10 s]   together; T follows the delays that are measured */
    ftree_time recheck; /* [1 s] who was silent is asked again after this, doubled each time up to
                                 * 64 times: a verdict that is over is withdrawn */
    ftree_time expire; /* [10 s] a symptom last seen so long ago is no news */
    int32_t pending_max; /* [256] more cases than that under way: this agent is overloaded; so many
                          * stalls, each of another node, are passed on in half a stall limit */
};

struct ftree;

/* Purpose: sets every field of cfg to its default. */
void ftree_config_default(struct ftree_config *cfg);

/* Purpose: makes the handle of node `self`; *out is the caller's, who ends it with
 * ftree_destroy().  cfg NULL: defaults.  Idle memory is one allocation of under 1 KiB.
 * Errors: FTREE_ERR_INVALID (job or self out of range), FTREE_ERR_NOMEM; *out is then NULL. */
int ftree_create(const struct ftree_job *job, int32_t self, const struct ftree_config *cfg,
                 const struct ftree_io *io, void *io_ctx, struct ftree **out);

/* Purpose: frees the handle and all it holds; NULL is allowed.  Sends nothing. */
void ftree_destroy(struct ftree *ft);

/* ---- events in ------------------------------------------------------------------------------- */

/* Purpose: local rank `rank` waits longer than the stall limit, for `peer` (a rank of the job;
 * FTREE_LOCAL: one of the own node; FTREE_NONE: not known, a flood query of the tree looks for the
 * cause).  `waiting`: for how long, ns.  May be called as often as the caller likes; the core paces
 * what it sends.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM. */
int ftree_stall(struct ftree *ft, ftree_time now, int32_t rank, int32_t peer, ftree_time waiting);

/* Purpose: a symptom from any source; first and last are of this handle's clock, reporters are
 * ignored (it is this node).  It is merged, sent to its FLN or examined here.
 * Errors: FTREE_ERR_INVALID (kind, severity or component out of range), FTREE_ERR_NOMEM. */
int ftree_symptom(struct ftree *ft, ftree_time now, const struct ftree_symptom *s);

/* Purpose: from now on `rules` are used, for what is already being examined, too.  They must
 * outlive the handle or the next call.  The caller may free the rules used before. */
void ftree_use_rules(struct ftree *ft, ftree_time now, const struct ftree_rules *rules);

/* Purpose: the wait of that rank is over. */
void ftree_stall_over(struct ftree *ft, ftree_time now, int32_t rank);

/* Purpose: one of the local ranks was seen stopped; all of them are looked at.  Where all are it is
 * taken for a suspension, of which nobody is accused, nor for a while after it.  May be called as
 * often as the caller likes. */
void ftree_rank_stopped(struct ftree *ft, ftree_time now);

/* Purpose: a block of samples is over.  Some nodes of the job, some eight, look whether their ranks
 * wait longer than ever before; the acting root, whether all of its own are in disk sleep. */
void ftree_block_over(struct ftree *ft, ftree_time now);

/* Purpose: a local rank's process ended; if it is still missing after `settle` and had not left,
 * that is a verdict.  Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM. */
int ftree_rank_gone(struct ftree *ft, ftree_time now, int32_t rank);

/* Purpose: a message came from node `from` (proven by the channel) over `path`; `conn` is handed
 * back in the route of an answer.  bytes may be anything: they are checked.
 * Errors: FTREE_ERR_MALFORMED, FTREE_ERR_VERSION (nothing was done), FTREE_ERR_NOMEM. */
int ftree_receive(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                  uint64_t conn, const void *bytes, size_t len);

/* Purpose: what the channel learned of the way to `node`: connected, refused, unreachable,
 * own side down.  `error`: the errno.  Errors: FTREE_ERR_INVALID. */
int ftree_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                  enum ftree_role role, enum ftree_reach reach, int error);

/* Purpose: does what is due.  To be called at ftree_deadline(), harmless at any other time. */
void ftree_tick(struct ftree *ft, ftree_time now);

/* Purpose: a timer of the caller's own was late by so much: this agent gets too little CPU, or was
 * stopped.  Nobody is accused for what was not heard meanwhile, and after half a stall limit all
 * waits count from now.  Ticks measure that by themselves; this is for while none is due, and to be
 * called before anything else is told after the pause. */
void ftree_late(struct ftree *ft, ftree_time now, ftree_time late);

/* Purpose: when ftree_tick() is next due; FTREE_NEVER: nothing to do until an event. */
ftree_time ftree_deadline(const struct ftree *ft);

/* ---- the end of a job ------------------------------------------------------------------------ */

/* Purpose: all local ranks have finished MPI_Finalize's work; tells the tree and waits (by
 * ticks) until all nodes have said so, at most `linger`.  From here on this node accuses nobody
 * of having crashed: a closed port is then a node that has left. */
void ftree_leave(struct ftree *ft, ftree_time now);

/* Purpose: as ftree_leave(), but for a node whose last rank ends in the middle of the job, by a
 * will of its own (MPI_Abort) or because it crashed, once that is announced (not
 * ftree_has_unannounced()): it waits for nobody, and sends a goodbye to the nodes around it, so
 * that they do not ask about its closed port. */
void ftree_leave_at_once(struct ftree *ft, ftree_time now);

/* Purpose: true once the node may go: everyone has left, or `linger` is over; and
 * nothing is pending (messages are acknowledged or given up, a verdict is reported). */
bool ftree_may_go(const struct ftree *ft);

/* Purpose: true while a message of this node is not acknowledged yet, or it asks for the victims of
 * a verdict: if it ends now that may be lost with it. */
bool ftree_has_unacknowledged(const struct ftree *ft);

/* Purpose: true while something that was found of an own rank waits to be confirmed or to come down
 * from the root, or a verdict waits here to be sent upward, because its receiver is silent and just
 * being asked: if this node ends now that may be lost with it, and others may ask why it did. */
bool ftree_has_unannounced(const struct ftree *ft);

/* Purpose: true while this node asks whether another is well. */
bool ftree_is_asking(const struct ftree *ft);

/* ---- queries --------------------------------------------------------------------------------- */

/* Purpose: asks all nodes of the job, by way of the acting root; the answer comes by the callback
 * `answered`, some milliseconds later where all are well, after some seconds in any case.  *number
 * tells it from others.  Who asks the acting root for the status while it finds that out gets the
 * same answer.
 * Errors: FTREE_ERR_INVALID (or this node leaves), FTREE_ERR_NOMEM (or too many queries of this
 * node are under way). */
int ftree_query(struct ftree *ft, ftree_time now, enum ftree_query_kind kind, const void *bytes,
                size_t len, uint32_t *number);

/* Purpose: what the own ranks do, as a status of this node alone: nobody is asked, and *r is complete
 * at once.  It is ended by ftree_query_own_free(), also if this returns false: out of memory. */
bool ftree_query_own(struct ftree *ft, ftree_time now, struct ftree_query_result *r);
void ftree_query_own_free(struct ftree *ft, struct ftree_query_result *r);

enum ftree_stacks_what {
    FTREE_STACKS_ALL, /* calls from the program's first to the innermost */
    FTREE_STACKS_DETAILS, /* the same, and a text about each of the first FTREE_DETAILS_MAX ranks */
    FTREE_STACKS_CALLERS, /* the program's call of MPI alone, which is to be had at once */
    FTREE_STACKS_WHATS
};

/* Purpose: asks for the stacks of these ranks (count 0: of all), likewise.  The answer takes as long as
 * the slowest node that has one of them, at most FTREE_STACKS_TIME longer than that to another query.
 * Errors: as ftree_query(). */
int ftree_query_stacks(struct ftree *ft, ftree_time now, const struct ftree_ranks *ranks, int what,
                       uint32_t *number);
#define FTREE_STACKS_TIME (6000 * FTREE_MS)

/* Purpose: the stacks that the callback `stacks` was to take; what they have is then the core's,
 * and *s is empty. */
void ftree_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number, struct ftree_stacks *s);

/* ---- succession ------------------------------------------------------------------------------ */

/* Purpose: hands a verdict that is already known (from the agent before this one) to a new
 * handle, silently.  `now` and the verdict's times are of this handle's clock.  One that was found
 * within the last two seconds and is `unreported` is announced once more, as if it had been found
 * here: the agent before may have ended between the two.  Whoever has heard of it knows it by its
 * number.
 * Errors: FTREE_ERR_NOMEM, FTREE_ERR_INVALID. */
int ftree_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);

/* Purpose: what a deputy answers: composes the answer to a probe it received.  Everything else
 * in the message is left alone.  `states` are those of all local ranks, `limit` is the stall limit
 * in ns.  *len in: room of `out`, at least FTREE_MESSAGE_MAX; out: bytes to send back on the same
 * connection, 0: none.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_MALFORMED, FTREE_ERR_VERSION. */
int ftree_deputy_answer(const struct ftree_job *job, ftree_time limit, const void *bytes,
                        size_t bytes_len, const struct ftree_rank_state *states, int32_t n,
                        void *out, size_t *len);

/* Purpose: hands what was set before (what the callback `setting` got) to a new handle, silently.
 * Errors: FTREE_ERR_NOMEM, FTREE_ERR_INVALID. */
int ftree_restore_setting(struct ftree *ft, const void *bytes, size_t len);

/* ---- asking a handle ------------------------------------------------------------------------- */

/* Purpose: the i-th verdict known to this node, oldest first, as far as it is: evidence, candidates
 * and victims are kept by the node that decided and by the acting root.  False: there are no more.
 * Of those that were withdrawn more than a minute ago the last 32 are known. */
bool ftree_verdict_at(const struct ftree *ft, int32_t i, struct ftree_verdict *v);

/* Purpose: asks once more about a verdict that is known here, whatever its class: to be called
 * immediately before something is done because of it that cannot be undone.  Its component is asked
 * by new connections; of a rank its node's agent (and deputy) is asked; the own node's ranks are
 * looked at. A verdict that turns out to be over is withdrawn, as at any other time.
 * Errors: FTREE_ERR_INVALID (no such verdict). */
int ftree_confirm(struct ftree *ft, ftree_time now, int32_t fln, uint32_t id);

enum ftree_confirmed {
    FTREE_CONFIRMED_PENDING, /* asked; for two probe timeouts, at the most twice that after a tick
                              * that came late */
    FTREE_CONFIRMED_STANDS, /* it was seen to be still so, or nobody answered otherwise */
    FTREE_CONFIRMED_OVER /* it is withdrawn, or no longer known */
};

/* Purpose: what came of the last ftree_confirm() of that verdict; STANDS where it was never called.
 * It changes in ftree_receive(), ftree_reached() and ftree_tick(). */
enum ftree_confirmed ftree_confirmed(const struct ftree *ft, int32_t fln, uint32_t id);

/* Purpose: true if the verdict says that the ranks of its component are gone for good; not of one
 * that is withdrawn. */
bool ftree_verdict_ends_ranks(const struct ftree_verdict *v);

/* Purpose: true if the action "abort" ends the job because of the verdict: its class says so, it is
 * not withdrawn, and no evidence has a process that a debugger holds. */
bool ftree_verdict_ends_job(const struct ftree_verdict *v);

/* Purpose: true if a verdict says that this node is lost, frozen or all its ranks ended, or one for
 * each of its ranks that it ended. */
bool ftree_has_failed(const struct ftree *ft, int32_t node);

/* Purpose: checks every invariant of the handle; returns NULL or the text of the first that
 * does not hold.  For tests; walks everything the handle has. */
const char *ftree_check(const struct ftree *ft);

/* ---- a person sets something while the job runs ---------------------------------------------- */

#define FTREE_SET_ACTION 1
#define FTREE_SET_STALL 2
#define FTREE_SET_RULES 4
#define FTREE_SET_ALL 7

#define FTREE_STALL_MS_MIN 100
#define FTREE_STALL_MS_MAX 3600000
#define FTREE_SET_RULES_MAX (128 * 1024) /* bytes of a rule base that is sent to all nodes */
#define FTREE_SETTING_BYTES 32 /* of one as it travels, with its rules so many more; at most */

/* All that was set so far: the newest one is all that a node needs to know. */
struct ftree_setting {
    uint64_t version; /* they grow; the newest counts: a number, and the acting root that gave
                       * it; of a request, the newest that is known there */
    uint32_t uid; /* of the user who asked for the last change, */
    uint8_t changed; /* FTREE_SET_ACTION and so on, and what that was */
    uint8_t has; /* what was ever set: */
    bool abort; /* the action */
    uint32_t stall_ms;
    const char *rules; /* the rule base, rules_len bytes; 0: the built-in one */
    size_t rules_len;
};

/* Purpose: writes it to buf, which has room for FTREE_SETTING_BYTES and its rules.  Returns how
 * many bytes that are. */
size_t ftree_setting_encode(const struct ftree_setting *s, void *buf);

/* Purpose: reads it; s->rules is part of `bytes`.  Errors: FTREE_ERR_MALFORMED. */
int ftree_setting_decode(const void *bytes, size_t len, struct ftree_setting *s);

/* Purpose: reads its rules to see whether they can be used; where they cannot, `why` says where and
 * why.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM. */
int ftree_setting_check(const struct ftree_setting *s, char *why, size_t room);

/* Purpose: what s does not change is as it was before. */
void ftree_setting_merge(struct ftree_setting *s, const struct ftree_setting *before);

/* ---- a person asks --------------------------------------------------------------------------- */

/* How a node is, as it said, and its ranks, or the one that was asked about. */
struct ftree_inquiry {
    uint32_t number;
    int32_t node, rank; /* FTREE_NONE: all its ranks */
    bool over; /* all is here, or there was no more */
    bool answered; /* its agent did, and says what follows; else the deputy, if anybody */
    bool is_own; /* it is the node that was asked to ask: no path is needed */
    bool leaving; /* its ranks have called MPI_Finalize */
    ftree_time asked, took; /* when, and how long the answer took, ns */
    uint8_t reach[FTREE_PATHS][FTREE_ROLES]; /* enum ftree_reach */
    uint8_t phase; /* enum ftree_phase of `rank` */
    int32_t peer; /* that `rank` waits for, FTREE_NONE */
    int32_t troubles; /* ranks that are stopped or gone */
    struct ftree_rank_state trouble[FTREE_STATE_RANKS_MAX];
    bool has_state;
    struct ftree_node_state state;
    int32_t logs; /* the last messages of `rank`, or of the first ranks of the node */
    struct ftree_log log[FTREE_STATE_RANKS_MAX];
};

/* Purpose: asks a node now how it and its ranks are (rank FTREE_NONE: all of them); nothing becomes
 * a verdict by that alone.  *number: by which the answer is known.
 * Errors: FTREE_ERR_INVALID (no such node, or the rank is not there), FTREE_ERR_NOMEM (or too many
 * at once). */
int ftree_inquire(struct ftree *ft, ftree_time now, int32_t node, int32_t rank, uint32_t *number);

/* Purpose: what has come of it so far; it is the handle's, until the next call of that.  NULL: no
 * such number. */
const struct ftree_inquiry *ftree_inquired(const struct ftree *ft, uint32_t number);

/* Purpose: forgets it; any number is allowed. */
void ftree_inquire_no_more(struct ftree *ft, uint32_t number);

/* ---- names ----------------------------------------------------------------------------------- */

const char *ftree_class_name(int class_);
const char *ftree_origin_name(int origin);
int ftree_class_origin(int class_);
int ftree_class_kind(int class_);
bool ftree_class_says(int class_, unsigned what); /* any of FTREE_ENDS_NODE and so on */
enum ftree_explains ftree_class_explains(int class_);
bool ftree_class_ends_job(int class_);
const char *ftree_class_headline(int class_, bool several); /* after the component */
const char *ftree_class_over(int class_); /* that the fault is over */

/* Purpose: true if a process in this state (see struct ftree_rank_state) does not run until others let
 * it: stopped, held by a debugger, or frozen. */
bool ftree_is_stopped(char proc_state);
const char *ftree_kind_name(int kind);
const char *ftree_reach_name(int reach);
const char *ftree_path_name(int path);
const char *ftree_source_name(int source);
const char *ftree_severity_name(int severity);
const char *ftree_link_name(int link);
const char *ftree_doing_name(int doing);

/* Purpose: the row of a symptom in the table; for a number that is none: "?" and zeros. */
struct ftree_symptom_info {
    const char *name;
    uint8_t source, kind, severity;
    const char *meaning;
};
const struct ftree_symptom_info *ftree_symptom_info(int kind);

/* Purpose: goes through the errnos that networks and file systems cause: the name of the i-th, from
 * 0, and its number; NULL: there are no more. */
const char *ftree_errno_at(int i, int *error);

/* Purpose: the number of a name, -1: there is no such. */
int ftree_class_by_name(const char *name);
int ftree_kind_by_name(const char *name);
int ftree_symptom_by_name(const char *name);
int ftree_severity_by_name(const char *name);

/* Purpose: the name of a node; buf (>= 16 bytes) is used where the job gives no names. */
const char *ftree_node_name(const struct ftree_job *job, int32_t node, char *buf, size_t len);

#pragma GCC visibility pop

#endif /* FTREE_H_INCLUDED */
