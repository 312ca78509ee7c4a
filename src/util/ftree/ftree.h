/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_H_INCLUDED
#define FTREE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * and candidate faults follows the MPI library with cluster monitoring (doc/design.md has the
 * references).  Round-trip estimation is RFC 6298's.
 */

typedef uint64_t ftree_time;

#define FTREE_NEVER UINT64_MAX
#define FTREE_NONE (-1)
#define FTREE_LOCAL (-2) /* of a peer: a rank of the own node, not known which */
#define FTREE_MS ((ftree_time) 1000000)

/* One node never has to read or write a longer message, in bytes. */
#define FTREE_MESSAGE_MAX 4096

#define FTREE_ERRORS(X) \
    X(FTREE_OK, "success") \
    X(FTREE_ERR_NOMEM, "out of memory") \
    X(FTREE_ERR_INVALID, "an argument is outside its range") \
    X(FTREE_ERR_MALFORMED, "a message is malformed") \
    X(FTREE_ERR_VERSION, "a message is of another protocol version")

enum ftree_error {
#define FTREE_ERROR_ENUM(name, text) name,
    FTREE_ERRORS(FTREE_ERROR_ENUM)
#undef FTREE_ERROR_ENUM
};

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

enum ftree_reach {
#define FTREE_REACH_ENUM(name, text) name,
    FTREE_REACHES(FTREE_REACH_ENUM)
#undef FTREE_REACH_ENUM
    FTREE_REACH_COUNT
};

/* Verdict classes: name as users meet it, kind of component, origin. */
#define FTREE_CLASSES(X) \
    X(FTREE_CLASS_NODE_OUTAGE, "node-outage", NODE, HARDWARE) \
    X(FTREE_CLASS_NODE_FROZEN, "node-frozen", NODE, HARDWARE) \
    X(FTREE_CLASS_PROCESS_CRASH, "process-crash", RANK, SOFTWARE) \
    X(FTREE_CLASS_PROCESS_STOPPED, "process-stopped", RANK, SOFTWARE) \
    X(FTREE_CLASS_NIC_FAULT, "nic-fault", NODE, HARDWARE) \
    X(FTREE_CLASS_LINK_FAULT, "link-fault", NODE, HARDWARE) \
    X(FTREE_CLASS_SWITCH_FAULT, "switch-fault", NODE, HARDWARE) \
    X(FTREE_CLASS_UNKNOWN, "unknown", NODE, UNKNOWN)

enum ftree_class {
#define FTREE_CLASS_ENUM(name, text, kind, origin) name,
    FTREE_CLASSES(FTREE_CLASS_ENUM)
#undef FTREE_CLASS_ENUM
    FTREE_CLASS_COUNT
};

enum ftree_kind {
    FTREE_KIND_NODE,
    FTREE_KIND_RANK,
    FTREE_KIND_COUNT
};

enum ftree_origin {
    FTREE_ORIGIN_HARDWARE,
    FTREE_ORIGIN_SOFTWARE,
    FTREE_ORIGIN_UNKNOWN,
    FTREE_ORIGIN_COUNT
};

/* Rules of the decision: identifier, name as reports print it, class, confidence in 1/1000, and
 * the finding in words.  The confidences are ranks of trust, not measured frequencies: 990 for
 * what the kernel of the node itself said or two independent paths agree on, less where another
 * candidate could not be ruled out. */
#define FTREE_RULES(X) \
    X(FTREE_RULE_BOTH_PATHS_SILENT, "node-outage/both-paths-silent", NODE_OUTAGE, 990, \
      "silent on every path while other nodes answer on each of them") \
    X(FTREE_RULE_ONLY_PATH_SILENT, "node-outage/only-path-silent", NODE_OUTAGE, 850, \
      "silent on the one path on which other nodes answer") \
    X(FTREE_RULE_SILENT_UNWITNESSED, "node-outage/silent-without-witness", NODE_OUTAGE, 700, \
      "silent on every path, and no other node is there to show that the paths work") \
    X(FTREE_RULE_MUTE_NODE, "node-frozen/agent-and-deputy-mute", NODE_FROZEN, 850, \
      "its kernel accepts connections but neither agent nor deputy answers") \
    X(FTREE_RULE_PID_GONE, "process-crash/pid-gone", PROCESS_CRASH, 990, \
      "the process is gone without having called MPI_Finalize") \
    X(FTREE_RULE_PORT_REFUSED, "process-crash/port-refused", PROCESS_CRASH, 970, \
      "the node's kernel refuses the port of its only process") \
    X(FTREE_RULE_ALL_REFUSED, "process-crash/all-ports-refused", PROCESS_CRASH, 950, \
      "the node's kernel refuses the ports of its agent and its deputy") \
    X(FTREE_RULE_STATE_T, "process-stopped/state-t", PROCESS_STOPPED, 990, \
      "the kernel of its node says the process is stopped") \
    X(FTREE_RULE_DEPUTY_SAYS_T, "process-stopped/deputy-says-stopped", PROCESS_STOPPED, 990, \
      "the deputy on its node says the process is stopped") \
    X(FTREE_RULE_NEVER_ANSWERS, "process-stopped/connects-never-answers", PROCESS_STOPPED, 900, \
      "its node's kernel accepts connections but its only process never answers") \
    X(FTREE_RULE_DATA_SILENT, "unknown/data-path-silent", UNKNOWN, 500, \
      "its data path is silent while its management path answers") \
    X(FTREE_RULE_ISOLATED, "unknown/no-node-answers", UNKNOWN, 500, \
      "no other node answers this one on any path")

enum ftree_rule {
#define FTREE_RULE_ENUM(id, name, class, confidence, text) id,
    FTREE_RULES(FTREE_RULE_ENUM)
#undef FTREE_RULE_ENUM
    FTREE_RULE_COUNT
};

/* ---- the job: shared by all handles of a process, never written ------------------------------ */

/* Shapes: node_name[nodes]; rank_node[size]; the ranks of node n are
 * node_ranks[node_first[n] .. node_first[n + 1] - 1] in ascending order; rank_pid[size].
 * node_name may be NULL (nodes are then called n0, n1, ...); rank_node, node_first and
 * node_ranks may be NULL together (rank r is then the only one of node r); rank_pid may be NULL
 * (pids are then 0, not known). */
struct ftree_job {
    int32_t nodes;
    int32_t size;
    int32_t fanout; /* children of a node in the FLT, at least 1 */
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
    FTREE_PHASE_LEFT, /* has called MPI_Finalize */
    FTREE_PHASE_GONE, /* its process no longer exists */
    FTREE_PHASE_COUNT
};

struct ftree_rank_state {
    int32_t rank;
    int32_t pid;
    uint8_t phase; /* enum ftree_phase */
    char proc_state; /* state letter of proc(5), 0 where not known */
    int32_t peer; /* rank waited for, FTREE_NONE where not known */
    ftree_time waiting; /* how long it has waited, in ns; 0: it does not wait */
};

/* ---- verdicts -------------------------------------------------------------------------------- */

#define FTREE_EVIDENCE_MAX 10
#define FTREE_CANDIDATE_MAX 3
#define FTREE_RANGES_MAX 64

struct ftree_evidence {
    uint8_t path; /* enum ftree_path; FTREE_PATHS: not by a path but from /proc */
    uint8_t role; /* enum ftree_role */
    uint8_t reach; /* enum ftree_reach */
    char proc_state; /* what the target's node said of the process, 0: nothing */
    int32_t target; /* node asked about */
    int32_t by; /* node that asked */
    int32_t error; /* errno, 0: none */
    ftree_time at;
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

struct ftree_verdict {
    uint8_t class_; /* enum ftree_class */
    uint8_t kind; /* enum ftree_kind of the component */
    uint8_t rule; /* enum ftree_rule */
    uint16_t confidence; /* 1/1000 */
    int32_t node;
    int32_t rank; /* FTREE_NONE where the component is the node, or all its ranks */
    int32_t pid; /* 0: not known */
    int32_t fln; /* node that decided */
    uint32_t symptoms; /* how many were merged into this finding */
    ftree_time first_symptom;
    ftree_time located;
    int32_t evidences, candidates;
    struct ftree_evidence evidence[FTREE_EVIDENCE_MAX];
    struct ftree_candidate candidate[FTREE_CANDIDATE_MAX];
    struct ftree_ranks victims;
};

/* ---- callbacks ------------------------------------------------------------------------------- */

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
    /* A verdict became known to this node (called once per verdict, on every node). */
    void (*verdict)(void *ctx, const struct ftree_verdict *v);
    /* On the acting root only: the victims of verdict `v` are in, it is to be told to people. */
    void (*report)(void *ctx, const struct ftree_verdict *v);
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
    ftree_time rto_min; /* [150 ms] RFC 6298's timer is kept between these two */
    ftree_time rto_max; /* [1 s] */
    ftree_time window_min; /* [900 ms] how long a suspect is asked; grows with the rto:
                                 * max(window_min, 6 rto).  Shorter finds faster and forgives
                                 * less. */
    ftree_time settle; /* [150 ms] a local finding must still be true after this */
    ftree_time gather; /* [400 ms] how long the acting root waits for the victims */
    ftree_time late; /* [200 ms] an own tick later than this excuses all suspects */
    ftree_time linger; /* [2 s] how long a leaving node waits for the others */
};

struct ftree;

/* Purpose: sets every field of cfg to its default. */
void ftree_config_default(struct ftree_config *cfg);

/* Purpose: makes the handle of node `self`; *out is the caller's, who ends it with
 * ftree_destroy().  cfg NULL: defaults.  Idle memory is sizeof(struct ftree), under 1 KiB.
 * Errors: FTREE_ERR_INVALID (job or self out of range), FTREE_ERR_NOMEM; *out is then NULL. */
int ftree_create(const struct ftree_job *job, int32_t self, const struct ftree_config *cfg,
                 const struct ftree_io *io, void *io_ctx, struct ftree **out);

/* Purpose: frees the handle and all it holds; NULL is allowed.  Sends nothing. */
void ftree_destroy(struct ftree *ft);

/* ---- events in ------------------------------------------------------------------------------- */

/* Purpose: local rank `rank` waits longer than the stall limit, for `peer` (a rank of the job;
 * FTREE_LOCAL: one of the own node; FTREE_NONE: not known, a sweep of the tree looks for the
 * cause).  `waiting`: for how long, ns.  May be called as often as the caller likes; the core paces
 * what it sends.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM. */
int ftree_stall(struct ftree *ft, ftree_time now, int32_t rank, int32_t peer, ftree_time waiting);

/* Purpose: the wait of that rank is over. */
void ftree_stall_over(struct ftree *ft, ftree_time now, int32_t rank);

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

/* Purpose: when ftree_tick() is next due; FTREE_NEVER: nothing to do until an event. */
ftree_time ftree_deadline(const struct ftree *ft);

/* ---- the end of a job ------------------------------------------------------------------------ */

/* Purpose: all local ranks have finished MPI_Finalize's work; tells the tree and waits (by
 * ticks) until all nodes have said so, at most `linger`.  From here on this node accuses nobody
 * of having crashed: a closed port is then a node that has left. */
void ftree_leave(struct ftree *ft, ftree_time now);

/* Purpose: true once the node may go: everyone has left, or `linger` is over; and what it had still
 * to say is said (messages are acknowledged or given up, a verdict is told to people). */
bool ftree_may_go(const struct ftree *ft);

/* ---- succession ------------------------------------------------------------------------------ */

/* Purpose: hands a verdict that is already known (from the agent before this one) to a new
 * handle, silently.  `now` and the verdict's times are of this handle's clock.
 * Errors: FTREE_ERR_NOMEM, FTREE_ERR_INVALID. */
int ftree_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);

/* Purpose: the deputy's only duty: composes the answer to a probe it received.  Everything else
 * in the message is left alone.  `states` are those of all local ranks, `limit` is the stall limit in
 * ns.  *len in: room of `out`, at least FTREE_MESSAGE_MAX; out: bytes to send back on the same
 * connection, 0: none.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_MALFORMED, FTREE_ERR_VERSION. */
int ftree_deputy_answer(const struct ftree_job *job, ftree_time limit, const void *bytes,
                        size_t bytes_len, const struct ftree_rank_state *states, int32_t n,
                        void *out, size_t *len);

/* ---- asking a handle ------------------------------------------------------------------------- */

/* Purpose: the i-th verdict known to this node, oldest first; NULL: there are no more.  It is the
 * handle's and valid until its next event. */
const struct ftree_verdict *ftree_verdict_at(const struct ftree *ft, int32_t i);

/* Purpose: true if a verdict says that this node is lost, frozen or all its ranks ended. */
bool ftree_has_failed(const struct ftree *ft, int32_t node);

/* Purpose: checks every invariant of the handle; returns NULL or the text of the first that
 * does not hold.  For tests; walks everything the handle has. */
const char *ftree_check(const struct ftree *ft);

/* ---- names ----------------------------------------------------------------------------------- */

const char *ftree_class_name(int class_);
const char *ftree_origin_name(int origin);
int ftree_class_origin(int class_);
const char *ftree_rule_name(int rule);
const char *ftree_rule_text(int rule);
const char *ftree_reach_name(int reach);
const char *ftree_path_name(int path);

/* Purpose: the name of a node; buf (>= 16 bytes) is used where the job gives no names. */
const char *ftree_node_name(const struct ftree_job *job, int32_t node, char *buf, size_t len);

#pragma GCC visibility pop

#endif /* FTREE_H_INCLUDED */
