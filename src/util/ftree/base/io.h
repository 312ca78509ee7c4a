/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_IO_H_INCLUDED
#define FTREE_IO_H_INCLUDED

#include "ftree/base/types.h"

#pragma GCC visibility push(hidden)

/*
 * What a handle asks of its caller: to send messages, to look at the own node and its ranks, and to
 * hear of verdicts.
 */

/* ---- the own ranks --------------------------------------------------------------------------- */

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

/* Purpose: true if a process in this state (see struct ftree_rank_state) does not run until others let
 * it: stopped, held by a debugger, or frozen. */
bool ftree_is_stopped(char proc_state);

/* ---- the own node: what state and log probes bring ------------------------------------------- */

#define FTREE_STATE_RANKS_MAX 16
#define FTREE_LOG_MAX 32
#define FTREE_LOSSES_MAX 104

enum ftree_link {
    FTREE_LINK_UNKNOWN,
    FTREE_LINK_UP,
    FTREE_LINK_DOWN, /* administratively, or dormant */
    FTREE_LINK_NO_CARRIER, /* up, but nothing at the other end */
    FTREE_LINK_GONE, /* no such interface any more */
    FTREE_LINK_FLAPPING, /* up, and lost its carrier again and again */
    FTREE_LINK_SLOW, /* up, at a lower speed than it should be */
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
    uint8_t link; /* enum ftree_link, of the data interface; and what that has counted since the job began: */
    uint64_t link_errors, link_drops;
    char losses[FTREE_LOSSES_MAX]; /* "eth0: 41 rx_crc_errors_phy in 12 s"; "": nothing */
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

const char *ftree_link_name(int link);

/* ---- the fabric: the library that ranks' data go by ------------------------------------------- */

/* Whether it brings a message to another node and one back. */
enum ftree_fabric {
    FTREE_FABRIC_NONE, /* could not be asked */
    FTREE_FABRIC_PASSES,
    FTREE_FABRIC_SILENT,
    FTREE_FABRIC_IDLE, /* no rank waits for that node any more */
    FTREE_FABRIC_COUNT
};

#define FTREE_FABRIC_BYTES 3072 /* of an address there at most */
#define FTREE_FABRIC_WHY 64 /* of words about it */

const char *ftree_fabric_name(int says);

/* ---- callbacks ------------------------------------------------------------------------------- */

struct ftree_block;
struct ftree_lag;
struct ftree_query_result;
struct ftree_stay;
struct ftree_verdict;
struct ftree_waiting;
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
    /* Sends `len` bytes as one packet of its own, without a connection; `large`: filled up to what one
     * packet there may have.  Returns 0 or an errno; nobody hears what becomes of it.  ftree_packet()
     * takes what comes while such packets are taken: when packets() was last called with `take`
     * true.  May be NULL together: then no bursts are sent. */
    int (*packet)(void *ctx, const struct ftree_route *to, bool large, const void *bytes,
                  size_t len);
    void (*packets)(void *ctx, bool take);
    /* Fills in the state of the own node's i-th rank, in the order of the job description. */
    void (*look)(void *ctx, int32_t i, struct ftree_rank_state *state);
    /* How much memory the control group of the own node's i-th rank may use, and uses, in words; may
     * be NULL. */
    void (*memory)(void *ctx, int32_t i, char *text, size_t room);
    /* How this node is (state probe), and the last messages of the i-th local rank (log probe), as
     * many as find room.  May be NULL: then such a probe is answered without. */
    void (*state)(void *ctx, struct ftree_node_state *state);
    /* What the own data interface has lost, as struct ftree_node_state has it; may be NULL. */
    void (*losses)(void *ctx, char *text, size_t room);
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
     * those before; `reports`: this is the acting root, and reports to people.  May be NULL. */
    void (*setting)(void *ctx, const void *bytes, size_t len, bool reports);
    /* A query of this node is over, once for each that ftree_query() took; may be NULL. */
    void (*answered)(void *ctx, const struct ftree_query_result *r);
    /* Takes the stacks of n own ranks, local[i] in the order of the job description; `what` is of enum
     * ftree_stacks_what.  ftree_stacks_taken() with this number says what came of it, later.  False:
     * it will not.  May be NULL: none are taken. */
    bool (*stacks)(void *ctx, uint32_t number, const int32_t *local, int32_t n, int what);
    /* Has the handlers of the own node asked about `node`, which is silent: ftree_handler_said() has what
     * they say, ftree_handlers_done() that it is all, later.  False: none is.  Of the own node, for which
     * others wait: what those find that know only that comes as symptoms, if it comes; true while it may.
     * May be NULL: there are none. */
    bool (*handlers)(void *ctx, int32_t node);
    /* Has an end of the fabric opened on this node: ftree_fabric_listens() has its address,
     * ftree_fabric_alive() that it lives, ftree_fabric_closed() that it is over.  And has one at another
     * node asked, by the address that it has said: ftree_fabric_said() has what came of it.  False: it
     * cannot be.  May be NULL together: there is no such path. */
    bool (*fabric_listen)(void *ctx);
    bool (*fabric_ask)(void *ctx, uint32_t number, const uint8_t *address, size_t len);
    /* The name of that library, for people; it outlives the handle.  May be NULL: "UCX". */
    const char *(*fabric_name)(void *ctx);
    /* One line per decision; may be NULL. */
    void (*trace)(void *ctx, const char *line);
    /* As realloc(3), and as free(3) when size is 0; may be NULL for the C library's. */
    void *(*alloc)(void *ctx, void *ptr, size_t size);
};

#pragma GCC visibility pop

#endif /* FTREE_IO_H_INCLUDED */
