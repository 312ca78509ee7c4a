/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WAITS_H_INCLUDED
#define WAITS_H_INCLUDED

#include "ftree/base/types.h"

#pragma GCC visibility push(hidden)

struct ftree;
struct ftree_job;

/*
 * Who waits for whom.  doc/waits.md has the whole; in short:
 *
 *     record      what one rank does, as its node's agent reads it; its bytes   record.c bytes.c
 *     match       does a message under way end a wait: what both sides say      match.c sums.c
 *     reduction   what is known of the ranks below a node of the tree, from     known.c reduce.c
 *                 their records, and from items: what children had to say       items.c
 *                 the conditions as a graph                                     graph.c
 *                 who can go on, and who never can                             fixpoint.c blocked.c
 *                 the core of the reason                                        cores.c order.c
 *                 who is to be asked about it                                   around.c
 *     mismatch    ranks of one communicator in different collectives            mismatch.c
 *     words       all of that for people                                        words.c
 *     classes     ranks by what they do (classes.h)                             classes.c
 *
 * All functions are pure: no clock, no message, nothing global.  Ranks are those of the world (the
 * job); communicators of other worlds are not followed.
 *
 * Sources: waits for all and waits for one, and messages along the edges, follow Chandy, Misra and
 * Haas (1983); that a message counts once it is sent follows Knapp's survey (1987).  The fixpoint
 * is that of Horn formulas (Dowling and Gallier, 1984), the components are Tarjan's (1972).
 */

/* ---- the record of one rank ------------------------------------------------------------------ */

/* Of more requests the first are listed, incomplete ones with different peers first. */
#define WAITS_REQUESTS_MAX 16
#define WAITS_COMMS_MAX 8
#define WAITS_THREADS_MAX 8
#define WAITS_RUNS_MAX 16
#define WAITS_NAME_MAX 32

#define WAITS_ANY (-3) /* any source, any tag */
#define WAITS_NO_BYTES UINT64_MAX /* of a collective in which sizes may differ */

#define WAITS_STATES(X) \
    X(WAITS_OUTSIDE, "outside MPI") \
    X(WAITS_INSIDE, "in MPI, not waiting") \
    X(WAITS_WAITING, "waiting") \
    X(WAITS_FINALIZING, "in MPI_Finalize") \
    X(WAITS_FINALIZED, "finalized") \
    X(WAITS_LOST, "lost")

enum waits_state { WAITS_STATES(FTREE_ENUM) WAITS_STATE_COUNT };

/* What a request is, and how it reads before a peer: "recv from 5", "send to 3". */
#define WAITS_KINDS(X) \
    X(WAITS_SEND, "send", "to") \
    X(WAITS_SSEND, "ssend", "to") \
    X(WAITS_RECV, "recv", "from") \
    X(WAITS_PROBE, "probe", "from") \
    X(WAITS_COLLECTIVE, "collective", "for") \
    X(WAITS_RMA, "rma", "for") \
    X(WAITS_IO, "io", "for") \
    X(WAITS_OTHER, "other", "for") \
    X(WAITS_TARGET, "target", "at") \
    X(WAITS_PSEND, "psend", "to") \
    X(WAITS_PRECV, "precv", "from") \
    X(WAITS_STORE, "store", "by")

enum waits_kind { WAITS_KINDS(FTREE_ENUM) WAITS_KIND_COUNT };

/*
 * WAITS_PSEND, WAITS_PRECV: partitioned.  As of one-sided operations nobody counts what of them is
 * under way.
 *
 * WAITS_STORE: of a rank that polls, and has a window of shared memory, or another one without an
 * epoch of active target communication.  It may look there between its calls for what any member
 * stores or puts, and nobody counts that.
 *
 * WAITS_TARGET: one-sided operations at a peer, which must turn its progress, as it does while it
 * waits itself.  The lock of a window, if that is what it waits for, is a request besides.
 *
 * A lock is a communicator of which nobody has done anything but those who hold the lock, or wait
 * for it; its key is that of the window's communicator with one of these added, and `begun` of
 * `last` is one of enum waits_lock.  Who waits for a lock waits, as in a collective, for all that
 * have begun less: MPI_Win_lock of an exclusive one for WAITS_LOCK_NONE of the target's and of all,
 * of a shared one for WAITS_LOCK_SHARED of the target's, MPI_Win_lock_all for WAITS_LOCK_SHARED of
 * any.  Each holder alone keeps it waiting, wherever its target is, and whatever is under way.
 */
#define WAITS_LOCK_OF_ONE 0x40000000u /* of one target, which is the key's `first` */
#define WAITS_LOCK_OF_ALL 0x80000000u /* MPI_Win_lock_all: shared ones of all targets */
#define WAITS_LOCK_OF_ANY 0xc0000000u /* exclusive ones of any target */

enum waits_lock {
    WAITS_LOCK_EXCLUSIVE,
    WAITS_LOCK_SHARED,
    WAITS_LOCK_NONE
};

enum waits_mode {
    WAITS_FOR_NONE,
    WAITS_FOR_ALL, /* Wait, Waitall, Recv, ...: AND */
    WAITS_FOR_ONE, /* Waitany, Waitsome, Testany, ...: OR */
    WAITS_MODE_COUNT
};

/* What the other side of a request says of it (match.c; the peer's state).  As long as nobody was
 * asked nothing is claimed. */
enum waits_fate {
    WAITS_UNKNOWN, /* it was not asked, or cannot tell */
    WAITS_OPEN, /* nothing is under way: it depends on the peer, which waits itself, or any may */
    WAITS_COMES, /* a message, or the receive for it, is under way */
    WAITS_PEER_LOST, /* the peer is stopped or lost: another verdict's business */
    WAITS_NEVER, /* the peer has called MPI_Finalize, and nothing is under way */
    WAITS_FATE_COUNT
};

/* Context ids are unique only within a process; with the world's rank of a communicator's rank 0
 * they are within the job, as long as it is there.  One that a rank has freed may have left both to
 * another one, which has other members if that rank is none of them: a hash of them tells these
 * apart.  Of an intercommunicator rank 0 and members are those of the remote group, so each side
 * has a key of its own. */
struct waits_key {
    uint32_t context;
    int32_t first;
    uint32_t members; /* ftree_waits_end_members(); of a lock 0 */
};

/* True: it may be one communicator, whatever its members. */
static inline bool ftree_waits_same_comm(struct waits_key a, struct waits_key b)
{
    return a.context == b.context && a.first == b.first;
}

/* Ranks first, first + step, ..., `count` of them; step is 1 where count is 1. */
struct waits_run {
    int32_t first, step, count;
};

/* True: what is sent to the one, as a rank or tag, may be received by the other. */
static inline bool ftree_waits_meet(int32_t a, int32_t b)
{
    return a == b || a == WAITS_ANY || b == WAITS_ANY;
}

/* True: the rank is one of these n. */
static inline bool ftree_waits_is_listed(const int32_t *rank, int32_t n, int32_t wanted)
{
    while (n > 0 && rank[n - 1] != wanted)
        n--;
    return n > 0;
}

static inline bool ftree_waits_is_lock(struct waits_key key)
{
    return key.context & WAITS_LOCK_OF_ANY;
}

/* A collective that a rank has begun on a communicator, in what all members must agree upon: the
 * caller leaves out (-1, 0, WAITS_NO_BYTES) what may differ in that operation. */
struct waits_collective {
    uint32_t begun; /* it is the n-th, from 1; 0: there was none */
    uint32_t call; /* identifier of the MPI function */
    uint32_t op; /* of a builtin reduction; 0: none, or the program's own */
    int32_t root; /* rank of the communicator */
    uint64_t bytes; /* count x size */
    bool blocking;
    bool whole; /* there is no more of it by which members may wait for each other in vain */
};

struct waits_comm {
    struct waits_key key;
    int32_t size;
    char name[WAITS_NAME_MAX]; /* "": it has none */
    int32_t runs; /* 0: the members do not fit, so nothing is claimed of a wait for any of them */
    struct waits_run run[WAITS_RUNS_MAX]; /* members, in any order */
    struct waits_collective last, before; /* before: the one before the last; begun 0: none */
};

struct waits_request {
    uint8_t kind; /* enum waits_kind */
    uint8_t fate; /* enum waits_fate */
    int8_t comm; /* index into the record's table, FTREE_NONE */
    int32_t peer; /* WAITS_ANY; FTREE_NONE: not known or of another world; of a collective: all */
    int32_t tag; /* WAITS_ANY */
    uint64_t bytes;
    uint32_t number; /* of a collective: the n-th on its communicator */
};

/* Of a rank of which several threads are in MPI there is a record for each of them: the rank can go
 * on if any of them can.  Memory only: some 3 KiB.  On the wire it has as many bytes as it needs,
 * some 50 for a receive. */
struct waits_record {
    int32_t rank;
    uint8_t thread, threads; /* it is one of so many; 0 and 1 where there is one.  More than
                              * WAITS_THREADS_MAX are not recorded, and nothing is then claimed */
    uint8_t state; /* enum waits_state */
    uint8_t mode; /* enum waits_mode, of a rank that waits */
    bool more; /* it waits for more requests than are listed */
    bool polls; /* it does not wait inside MPI, but asks again and again: it may stop that */
    bool sleepers; /* threads sleep outside MPI, until another one wakes them, or a signal does: */
    bool handles; /* a handler of the program may do that */
    bool computes; /* another thread runs outside MPI; does not travel */
    uint32_t call; /* identifier of the outermost MPI function, 0: outside */
    uint64_t stamp; /* changes with each call, wait and request that ends */
    uint64_t switches; /* of the sleepers: changes when one of them has run; 0 where some thread
                        * does not sleep, or none is known */
    uint64_t sp, pc; /* where its wait returns to, in the rank's memory; 0: not known; never travels */
    int32_t requests, comms;
    struct waits_request request[WAITS_REQUESTS_MAX];
    struct waits_comm comm[WAITS_COMMS_MAX]; /* those of the requests, and those used last */
};

/* Purpose: the call, if it is certain that it is this one; else 0. */
uint32_t ftree_waits_own_call(const struct waits_record *r);

/* Purpose: true if two looks at a rank have found the same wait: it has waited in between. */
bool ftree_waits_unchanged(const struct waits_record *a, const struct waits_record *b);

/* Purpose: adds a member, in any order, to the runs of a communicator, of which the last may still
 * grow.  False: there is no room, and c->runs is -1 from then on. */
bool ftree_waits_add_member(struct waits_comm *c, int32_t rank);

/* Purpose: ends that: c->runs is 0 if they did not fit, and the key has the hash of what was added
 * (the same at all members, who add them in the same order). */
void ftree_waits_end_members(struct waits_comm *c);

/* Purpose: the n-th collective of a communicator, n from 1; NULL: it is none of the last two. */
const struct waits_collective *ftree_waits_collective(const struct waits_comm *c, uint32_t n);

/* Purpose: true if both ranks are in the same collective, which both have called alike, and wait for
 * nothing but messages inside: what is missing is not the program's. */
bool ftree_waits_alike(const struct waits_record *a, const struct waits_record *b);

/* Purpose: NULL, or the first thing that is out of its bounds: what decoding checks, and what
 * callers that fill in records of their own may. */
const char *ftree_waits_record_check(const struct ftree_job *job, const struct waits_record *r);

/* Purpose: a record in bytes, written or read; c->bad is set where what is read is malformed. */
struct wire_codec;
void ftree_waits_wire_record(struct wire_codec *c, struct waits_record *r);

/* ---- messages under way ---------------------------------------------------------------------- */

#define WAITS_FLOWS_MAX 64
#define WAITS_HINTS_MAX 4

enum waits_flow_kind {
    WAITS_SENT, /* messages to the peer that were begun, and that it has not received */
    WAITS_POSTED /* receives that are posted now and not complete */
};

/* What a rank has to do with the messages of one peer, tag and communicator. */
struct waits_flow {
    uint8_t kind; /* enum waits_flow_kind */
    int32_t peer; /* of posted receives also WAITS_ANY */
    int32_t tag; /* likewise */
    uint32_t context; /* odd: messages inside collectives, as MPICH has it */
    uint32_t count;
};

struct waits_flows {
    int32_t rank; /* whose they are */
    int32_t flows;
    bool whole; /* false: some rows found no room, so a missing row says nothing */
    uint64_t lone; /* the mark of one message sent besides, of which no more is known; 0: none */
    struct waits_flow flow[WAITS_FLOWS_MAX];
};

/* Messages, or posted receives, that would end the wait if a tag or a communicator were another. */
struct waits_hints {
    int32_t hints;
    struct waits_flow hint[WAITS_HINTS_MAX]; /* the nearest first */
};

/* Purpose: whether the peer of request q of `rank` has something under way for it; `context` is
 * that of q's communicator.
 *   - a receive or probe comes true by a send that was begun and not received;
 *   - a send comes true by a receive that is posted, or that meets an earlier message: somebody
 *     moves.
 * Returns WAITS_COMES, WAITS_OPEN or WAITS_UNKNOWN. */
enum waits_fate ftree_waits_match(const struct waits_request *q, uint32_t context, int32_t rank,
                                  const struct waits_flows *peer);

/* Purpose: adds what the peer has that nearly matches q: another tag of the same communicator, or the
 * tag in another one.  The `peer` of a hint is whose it is. */
void ftree_waits_near(const struct waits_request *q, uint32_t context, int32_t rank,
                      const struct waits_flows *peer, struct waits_hints *hints);

/* All messages from one rank to another since MPI_Init, in two words that may wrap. */
struct waits_sum {
    uint32_t count;
    uint64_t sum; /* of their marks */
};

/* Purpose: the mark of a message; of the context 16 bits count. */
uint64_t ftree_waits_mark(uint32_t context, int32_t tag);

/* Purpose: which of the messages that a rank has sent to another were not received: the rows `out`
 * gets are of these alone.  `last` are those that were sent last, n of them, of which peer, tag and
 * context count.  A single one that is not among them is out->lone.  Returns out->whole: false if
 * that does not explain the sums. */
bool ftree_waits_unreceived(const struct waits_sum *sent, const struct waits_sum *received,
                            const struct waits_flow *last, int32_t n, struct waits_flows *out);

/* ---- what a rank writes ---------------------------------------------------------------------- */

#define WAITS_PEERS_MAX 64
#define WAITS_LAST_MAX 32

/* Messages between a rank and one other since MPI_Init, in all contexts. */
struct waits_exchange {
    int32_t peer;
    struct waits_sum sent; /* by this rank to the peer: sends that were begun */
    struct waits_sum received; /* by this rank of the peer's: receives that are complete */
};

/* All that one rank says of itself when it is asked: its records, one a thread, and its messages
 * with the ranks it was asked about.  Fates are WAITS_UNKNOWN. */
struct waits_page {
    int32_t records; /* 0: it is not known what it does, and nothing is to be claimed of it */
    struct waits_record record[WAITS_THREADS_MAX];
    int32_t exchanges;
    struct waits_exchange exchange[WAITS_PEERS_MAX];
    int32_t posted;
    bool posted_more; /* further receives are posted than are listed */
    struct waits_flow post[WAITS_FLOWS_MAX]; /* WAITS_POSTED */
    int32_t last;
    struct waits_flow sent[WAITS_LAST_MAX]; /* WAITS_SENT: the last messages sent, newest first,
                                             * each with count 1 */
};

/* ---- the reduction --------------------------------------------------------------------------- */

struct waits;

/* What is known of a rank. */
enum waits_what {
    WAITS_SILENT, /* nothing: it has not stalled, or belongs elsewhere */
    WAITS_UNDECIDED, /* it depends on a rank or communicator of which too little is known here */
    WAITS_FREE, /* it can go on: what it waits for ends in a rank that does not wait */
    WAITS_BLOCKED, /* it can never go on */
    WAITS_DONE /* it has called MPI_Finalize: waits for it are in vain */
};

struct waits_core {
    int32_t id; /* the lowest rank */
    bool missing; /* it is one rank that has called MPI_Finalize; else a cycle or a knot */
    bool polls; /* some of them poll, so that it is not certain */
    bool is_open; /* some of them wait besides for what is not known: they never go on, but there may
                   * be more of them */
    bool collective; /* a collective that some of them, or those behind, are in, lacks the others */
    struct waits_key comm; /* then: of which communicator */
    int32_t ranks;
    const int32_t *rank; /* ascending; the reduction's */
};

/* A rank of which nothing is known, and how many wait for it themselves. */
struct waits_end {
    int32_t rank;
    int32_t count;
    bool needed; /* no other rank will do for one of those that wait for it */
};

/* Purpose: an empty reduction, to be ended by ftree_waits_destroy(); memory comes from ft, which is
 * not used for anything else.  NULL: out of memory. */
struct waits *ftree_waits_create(struct ftree *ft);
void ftree_waits_destroy(struct waits *w);

/* Purpose: adds that a rank has called MPI_Finalize.  Errors: as below. */
int ftree_waits_add_done(struct waits *w, int32_t rank);

/* Purpose: adds what a rank of the own node does, with the fates of its requests; of one that
 * does not wait, only which collectives it has begun.  Errors: FTREE_ERR_NOMEM, FTREE_ERR_INVALID
 * (the record is out of bounds). */
int ftree_waits_add(struct waits *w, const struct waits_record *r);

/* Purpose: adds items of a reduction below, from a message; in any order, in any parts.
 * Errors: FTREE_ERR_MALFORMED, FTREE_ERR_NOMEM: a part of the items may then be in. */
int ftree_waits_merge(struct waits *w, const uint8_t *bytes, size_t len);

/* Purpose: decides what can be decided, once all is added.  Time and memory are linear in ranks and
 * requests, but for sorting them.  is_top: nobody above knows more, so that open cores are cores.
 * Errors: FTREE_ERR_NOMEM: nothing is decided then. */
int ftree_waits_reduce(struct waits *w, bool is_top);

/* Purpose: the same, where adding came to rc.  Returns w, or ends it and returns NULL. */
struct waits *ftree_waits_reduced(struct waits *w, bool is_top, int rc);

/* Purpose: what goes up, after reducing: appends it to bytes.  False: out of memory. */
struct ftree_bytes;
bool ftree_waits_items(const struct waits *w, struct ftree_bytes *out);

/* Purpose: what was decided of a rank.  *of: the id of a blocked one's core. */
enum waits_what ftree_waits_of(const struct waits *w, int32_t rank, int32_t *of);

/* Purpose: the i-th core that was found here (not below); false: there are no more. */
bool ftree_waits_core_at(const struct waits *w, int32_t i, struct waits_core *core);

/* Purpose: the ranks of the i-th core in the order of a report, core.ranks of them: first a
 * shortest cycle through its lowest rank, each followed by one that it waits for, then the others.
 * Returns the length of the cycle.  0: out of memory. */
int32_t ftree_waits_order(const struct waits *w, int32_t i, int32_t *rank);

/* Purpose: the ranks whose messages decide about the wait of a rank: of a wait for all those in
 * `set`, n ranks; of a wait for one, or for any member, all.  Returns how many there are, of which
 * the first `most` are in `peer`. */
int32_t ftree_waits_peers(const struct waits *w, int32_t rank, const int32_t *set, int32_t n,
                          int32_t *peer, int32_t most);

/* Purpose: some of those who are blocked and wait for that rank themselves, which has called
 * MPI_Finalize.  Returns how many are in `waiter`. */
int32_t ftree_waits_waiters(const struct waits *w, int32_t rank, int32_t *waiter, int32_t most);

/* Purpose: those who have called MPI_Finalize, and of whom a rank needs a message or a lock, if they
 * are cores that were found here.  They are added to the n in `rank`, each once, up to `most`.  Returns how many there are then. */
int32_t ftree_waits_missing(const struct waits *w, int32_t waiter, int32_t *rank, int32_t n,
                            int32_t most);

/* Purpose: ranks of which nothing is known, and that others wait for; those most waited for first.
 * Returns how many are in `end`. */
int32_t ftree_waits_silent(const struct waits *w, struct waits_end *end, int32_t most);

/* Purpose: the i-th of the ranks of which anything is known, in ascending order; false: there are
 * no more. */
bool ftree_waits_rank_at(const struct waits *w, int32_t i, int32_t *rank);

/* Purpose: how many ranks wait, as far as is known. */
int32_t ftree_waits_count(const struct waits *w);

/* ---- collectives ----------------------------------------------------------------------------- */

#define WAITS_CLASSES_MAX 4

/* How ranks differ. */
enum waits_differ {
    WAITS_DIFFER, /* their n-th collectives of one communicator are not the same */
    WAITS_DIFFER_COUNT, /* some have begun one that others lack, who have called MPI_Finalize */
    WAITS_DIFFER_ORDER /* each is in one that others of a cycle have not come to */
};

/* Ranks that differ in collectives, as classes; class 0 is the many.  Where all are of one
 * communicator, at least one rank has begun no other since; what those did that have begun the next
 * one is known, too. */
struct waits_mismatch {
    uint8_t how; /* enum waits_differ */
    struct waits_key comm;
    int32_t size; /* of the communicator; 0: not known */
    int32_t reported; /* members whose records are known, also at other positions */
    int32_t silent; /* ranks that have not spoken and may make others the odd ones, */
    bool is_settled; /* though they will not by their number alone */
    bool is_tie; /* nobody is odd by number: who is is known where all ranks of the job have spoken */
    struct ftree_ranks odd; /* who is: all of them where nobody can tell */
    int32_t classes; /* of which the largest are there: */
    struct {
        struct waits_key comm;
        struct waits_collective did;
        int32_t count, example;
        int32_t gone; /* so many have left it */
        bool done; /* they have called MPI_Finalize behind it */
        struct ftree_ranks ranks;
    } class_[WAITS_CLASSES_MAX];
};

/* Purpose: the i-th mismatch of one communicator, after reducing; each has at most one, that of the
 * lowest position.  Where `reported` is less than `size` the few may yet turn out to be the many:
 * the node above knows more, and the root decides all the same.  False: there are no more. */
bool ftree_waits_mismatch_at(const struct waits *w, int32_t i, struct waits_mismatch *m);

/* Purpose: the class of a rank; FTREE_NONE: it is in none of those that are there. */
int32_t ftree_waits_class_of(const struct waits_mismatch *m, int32_t rank);

/* Purpose: the i-th core as a difference in order: each of its ranks is in a collective, of two or
 * more communicators, and of all ranks that are in these more than half have begun the same one
 * first.  False: it is not such a core, or nobody can tell who is odd; *m has classes all the
 * same, or none. */
bool ftree_waits_odd_order(const struct waits *w, int32_t i, struct waits_mismatch *m);

/* Purpose: a communicator by its key; NULL: it is not known. */
const struct waits_comm *ftree_waits_comm(const struct waits *w, struct waits_key key);

/* ---- words ----------------------------------------------------------------------------------- */

/* What the core does not know; functions may be NULL. */
struct waits_names {
    const struct ftree_job *job;
    const char *(*call)(uint32_t call); /* "MPI_Recv" */
    const char *(*op)(uint32_t op); /* "MPI_SUM" */
};

/* Purpose: "rank 3 (h1) in MPI_Recv(from 5, tag 7, MPI_COMM_WORLD)". */
void ftree_waits_line(const struct waits_names *names, const struct waits_record *r, char *buf,
                      size_t len);

/* Purpose: "rank 5 has sent to rank 3, with tag 9", of a hint for request q of `rank`. */
void ftree_waits_hint_line(const struct waits_request *q, uint32_t context, int32_t rank,
                           const struct waits_flow *hint, char *buf, size_t len);

/* Purpose: one class: "ranks 0-2 (3 of 4) in MPI_Bcast(MPI_COMM_WORLD, the 5th, root 0, 8
 * bytes)"; one that has left it: "ranks 0-2 called MPI_Bcast(...), 3 of 4". */
void ftree_waits_class_line(const struct waits_names *names, const struct waits *w,
                            const struct waits_mismatch *m, int32_t class_, char *buf, size_t len);

#pragma GCC visibility pop

#endif /* WAITS_H_INCLUDED */
