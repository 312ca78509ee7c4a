/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_H_INCLUDED
#define FTREE_H_INCLUDED

#include "ftree/base/io.h"
#include "ftree/base/symptom.h"
#include "ftree/base/types.h"
#include "ftree/base/verdict.h"

/* These names are not seen outside libmpi. */
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
 *     base/types.h     times, errors, paths, sets of ranks
 *     base/symptom.h   what goes in
 *     base/io.h        the callbacks: messages and verdicts out, and what a handle looks at
 *     base/verdict.h   what comes out
 *     rules/rules.h    the rules, from ftree_rules_read(ftree_rules_builtin())
 *     survey/query.h   what people ask and set
 *     report/report.h  verdicts as text and JSON
 *
 * The loop of an agent; what is in angle brackets is its own:
 *
 *     struct ftree_job job = {
 *         .nodes = 3, .size = 3, .fanout = 2, .rules = <rules>, .has_path = {true}};
 *     const struct ftree_io io = {.send = <send>, .look = <look>, .verdict = <print>};
 *     struct ftree *ft;
 *
 *     if (ftree_create(&job, <own node>, NULL, &io, <ctx>, &ft))
 *         return;
 *     while (!ftree_may_go(ft)) {
 *         if (<a message arrives before> ftree_deadline(ft))
 *             ftree_receive(ft, <now>, <from>, FTREE_PATH_DATA, <connection>, <bytes>, <len>);
 *         if (<rank 1 has waited for rank 2 for a second>)
 *             ftree_stall(ft, <now>, 1, 2, 1000 * FTREE_MS);
 *         if (<the own ranks have called MPI_Finalize>)
 *             ftree_leave(ft, <now>);
 *         ftree_tick(ft, <now>);
 *     }
 *     ftree_destroy(ft);
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

/* Purpose: the name of a node; buf (>= 16 bytes) is used where the job gives no names. */
const char *ftree_node_name(const struct ftree_job *job, int32_t node, char *buf, size_t len);

/* ---- a handle -------------------------------------------------------------------------------- */

/* Times in ns.  ftree_config_default() sets the values in brackets. */
struct ftree_config {
    ftree_time stall; /* [1 s] how long a wait may stand still; also the base of the
                                 * interval at which an unexplained stall is noted again, doubled
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

/* Purpose: what becomes of the end of the fabric that the callback `fabric_listen` opened: its address
 * (of up to FTREE_FABRIC_BYTES), once; from time to time that it lives, and whether it was held up since; that it is
 * over, and why.  And what came of asking another one, of the `number` of callback fabric_ask: it passes
 * (in `us` there and back), is silent, or could not be asked. */
void ftree_fabric_listens(struct ftree *ft, ftree_time now, const uint8_t *address, size_t len);
void ftree_fabric_alive(struct ftree *ft, ftree_time now, bool held);
void ftree_fabric_closed(struct ftree *ft, ftree_time now, const char *why);
void ftree_fabric_said(struct ftree *ft, ftree_time now, uint32_t number, enum ftree_fabric says,
                       uint32_t us, const char *why);

/* Purpose: what a handler says of a node that the callback `handlers` was called with: a symptom of it
 * (enum ftree_symptom_kind; -1: none), and the same in words, "bmc: power-off: chassis power is off",
 * or why it says nothing.  `at`: when that was, now where it is so.  And that no more will come.
 * Nothing happens where the node is not examined any more. */
void ftree_handler_said(struct ftree *ft, ftree_time now, ftree_time at, int32_t node, int symptom,
                        const char *text);
void ftree_handlers_done(struct ftree *ft, ftree_time now, int32_t node);

/* Purpose: the limits that handlers are to know: ftree_rules_limits() of the rules in use. */
void ftree_limits(const struct ftree *ft, char *text, size_t room);

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

/* Purpose: a packet that the io's packet() of node `from` has sent came over `path`, without a
 * connection; `arrived`: when, as the kernel says.  Errors: as ftree_receive(). */
int ftree_packet(struct ftree *ft, ftree_time now, ftree_time arrived, int32_t from,
                 enum ftree_path path, const void *bytes, size_t len);

/* Purpose: what the channel learned of the way to `node`: connected, refused, unreachable,
 * own side down.  `error`: the errno.  Errors: FTREE_ERR_INVALID. */
int ftree_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                  enum ftree_role role, enum ftree_reach reach, int error);

/* Purpose: does what is due.  To be called at ftree_deadline(), harmless at any other time. */
void ftree_tick(struct ftree *ft, ftree_time now);

/* Purpose: a timer of the caller's own was late by so much: this agent gets too little CPU, or was
 * stopped.  Nobody is accused for what was not heard meanwhile, and after half a stall limit all
 * waits count from now.  Ticks measure that by themselves; this is for while none is due, and to be
 * called before anything else is called after the pause. */
void ftree_late(struct ftree *ft, ftree_time now, ftree_time late);

/* Purpose: the own data interface is lost, or is back, as the kernel says: what is lost or late on
 * that path meanwhile, and shortly after, is no fault of others. */
void ftree_own_link(struct ftree *ft, ftree_time now, bool up);

/* Purpose: when ftree_tick() is next due; FTREE_NEVER: nothing to do until an event. */
ftree_time ftree_deadline(const struct ftree *ft);

/* ---- the end of a job ------------------------------------------------------------------------ */

/* Purpose: all local ranks have finished MPI_Finalize's work; tells the tree and waits (by
 * ticks) until all nodes have said so.  From here on this node accuses nobody of having crashed: a
 * closed port is then a node that has left.  After `linger` the tree goes on without this node, but
 * where ranks wait for each other it answers for its own, for at most a minute more. */
void ftree_leave(struct ftree *ft, ftree_time now);

/* Purpose: as ftree_leave(), but for a node whose last rank ends in the middle of the job, by a
 * will of its own (MPI_Abort) or because it crashed, once that is announced (not
 * ftree_has_unannounced()): it waits for nobody, and sends a goodbye to the nodes around it, so
 * that they do not ask about its closed port. */
void ftree_leave_at_once(struct ftree *ft, ftree_time now);

/* Purpose: true once the node may go: everyone has left, or its time is over; and
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

/* Purpose: true while a verdict is being announced by this node, which is reported then. */
bool ftree_is_announcing(const struct ftree *ft);

/* ---- succession ------------------------------------------------------------------------------ */

/* Purpose: hands a verdict that is already known (from the agent before this one) to a new handle,
 * silently.  `now` and the verdict's times are of this handle's clock.  One that was found within
 * the last two seconds and is `unreported` is announced once more, as if it had been found here:
 * the agent before may have ended between the two.  A node that has heard of it knows it by its
 * number. Errors: FTREE_ERR_NOMEM, FTREE_ERR_INVALID. */
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
 * Errors: FTREE_ERR_INVALID (no such verdict), FTREE_ERR_NOMEM. */
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

/* Purpose: true if a verdict says that this node is lost, frozen or all its ranks ended, or one for
 * each of its ranks that it ended. */
bool ftree_has_failed(const struct ftree *ft, int32_t node);

/* Purpose: checks every invariant of the handle; returns NULL or the text of the first that
 * does not hold.  For tests; walks everything the handle has. */
const char *ftree_check(const struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_H_INCLUDED */
