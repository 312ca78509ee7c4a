/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_BOARD_H_INCLUDED
#define FAULTLOC_BOARD_H_INCLUDED

#include "faultloc/base/address.h"
#include "faultloc/base/port.h"
#include "faultloc/board/launcher.h"
#include "faultloc/board/wait_area.h"
#include "faultloc/seam/faultloc_seam.h"
#include "ftree/report/report.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The board: memory that the ranks of one job on one node share.  A header with what all need to
 * know, the tables of the job, and one page per local rank, its slot.  It is an anonymous file
 * (memfd_create), so nothing is left behind whatever happens; the others open it as
 * /proc/<pid of the maker>/fd/<number>, which the kernel allows to the same user only.  Agent and
 * deputy are given its descriptor when they are started.
 */

#define FAULTLOC_NAME_SIZE 64
#define FAULTLOC_JOB_ID_SIZE 64
#define FAULTLOC_BOARD_VERDICTS 32
#define FAULTLOC_PATH_ROOM 1024
#define FAULTLOC_WAKEUP_SIZE 8
#define FAULTLOC_OVER_SIZE 128

enum faultloc_action {
    FAULTLOC_ACTION_REPORT,
    FAULTLOC_ACTION_ABORT
};

/* What the user set; for agent and deputy.  Some of it can be set while the job runs
 * (agent/serve/serve_set.h). */
struct faultloc_settings {
    ftree_time stall; /* ns */
    bool stall_is_set; /* by the user: nobody is asked sooner */
    ftree_time sample; /* ns, mean time between two looks at the board */
    ftree_time silence; /* ns, how long a node that is asked may be silent before it is accused */
    ftree_time patience; /* ns, how long a verdict must have stood before it ends job or ranks */
    ftree_time grace; /* ns, how long a dying job may wait for its verdict */
    double alpha; /* a verdict on a hang needs that it is less probable than this in a healthy job */
    enum faultloc_action action;
    char program[FAULTLOC_PATH_ROOM]; /* the site's, to be run for each verdict; "": none */
    struct report_walltime walltime; /* of the job */
    char report[FAULTLOC_PATH_ROOM]; /* where the JSON goes, %j expanded; "": nowhere */
    char trace[FAULTLOC_PATH_ROOM]; /* where the trace goes; "": nowhere */
    char rules[FAULTLOC_PATH_ROOM]; /* the rule base; "": the built-in one */
    char handlers[FAULTLOC_PATH_ROOM]; /* which programs are asked of silent nodes; "": none */
    char sysfs[FAULTLOC_PATH_ROOM]; /* its root; "": /sys */
    char launcher[FAULTLOC_LAUNCHER_PATH]; /* its socket (board/launcher.h); "": there is none */
    bool symptoms; /* of other middleware are taken in */
    bool verbose; /* reports have the table of nodes and the trace */
};

struct faultloc_board {
    uint32_t magic;
    uint32_t layout; /* sizeof(struct faultloc_board): both sides are the same build */
    int32_t nodes, size;
    int32_t self; /* this node */
    int32_t slots; /* ranks here */
    int32_t fanout;
    uint32_t page; /* bytes */
    uint64_t seed;
    ftree_time epoch; /* when the start exchange ended here: instants of samples count from then; 0: not said */
    struct faultloc_settings settings;
    char job_id[FAULTLOC_JOB_ID_SIZE];
    int64_t started_ms; /* Unix time */
    bool has_path[FTREE_PATHS];
    char iface[FTREE_PATHS][16];
    char port[FAULTLOC_PORT_SIZE]; /* of the adapter that the data pass; "": not known */
    char over[FAULTLOC_OVER_SIZE]; /* libfabric's choice for the data, "2/tcp;ofi_rxm/eth0": the format of
                                    * addresses, the provider, the domain; "": UCX */

    _Atomic int32_t agent_pid, deputy_pid; /* 0: nobody yet */
    _Atomic int32_t symptom_number; /* in the name of the symptom socket; 0: there has been none */
    char wakeup[FAULTLOC_WAKEUP_SIZE]; /* the agent's wakeup socket (board/wakeup.h); all 0: none */
    _Atomic int32_t abort_code; /* not 0: the job is to end with this code */
    _Atomic int32_t peer_lost; /* not 0: a verdict says that a rank is gone for good */

    /* Ranks that are given up: a verdict says that they are gone, and it has stood for long enough
     * not to be a passing trouble of the network.  It only grows, in the order of the verdicts; so
     * a reader needs no lock.  The ranks themselves are in faultloc_board_failed(). */
    _Atomic int32_t failures;

    /* For the next agent: what is known already. */
    _Atomic int32_t verdicts;
    _Atomic int32_t
        withdrawals; /* goes up when one of them is over, or gave its place to another */
    _Atomic uint32_t writing[FAULTLOC_BOARD_VERDICTS]; /* odd: this one is being written */
    struct ftree_verdict verdict[FAULTLOC_BOARD_VERDICTS];

    /* Offsets of the tables and of the first slot, bytes from the beginning. */
    uint64_t tree_at, tree_bytes; /* the FLT from outside (tree.h), packed; 0: there is none */
    uint64_t address_at, name_at, rank_node_at, node_first_at, node_ranks_at, rank_pid_at;
    uint64_t failed_at, has_failed_at;
    uint64_t slots_at, waits_at, bytes;
    uint32_t wait_bytes; /* from one wait area to the next: whole pages */

    _Atomic uint32_t setting_bytes; /* of what was set while the job ran, behind `bytes`; 0:
                                     * nothing */
};

/* Purpose: the root of sysfs for all that read it; NULL: /sys. */
static inline const char *faultloc_board_sys_root(const struct faultloc_board *b)
{
    return b->settings.sysfs[0] ? b->settings.sysfs : NULL;
}

/* Purpose: makes the board of a job of this shape, with so many bytes of room for a packed tree
 * from outside; *fd is the caller's, to be closed once the others have opened it.  The header's
 * shape fields and offsets are set, all else is 0.
 * Errors: an errno. */
int faultloc_board_make(int32_t nodes, int32_t size, int32_t slots, uint64_t tree_bytes,
                        struct faultloc_board **out, int *fd);

/* Purpose: maps the board that process `pid` made as its descriptor `their_fd`; *fd is the
 * caller's, to be closed once its slot is mapped.
 * Errors: an errno; EPROTO: what is there is no board of this build. */
int faultloc_board_open(int32_t pid, int their_fd, struct faultloc_board **out, int *fd);

/* Purpose: maps the board behind a descriptor, which stays the caller's.
 * Errors: an errno; EPROTO: what is there is no board of this build. */
int faultloc_board_map(int fd, struct faultloc_board **out);

/* Purpose: maps slot `i` over `page`, which must be aligned to the system's page size and at least
 * that long; its present content is carried over.
 * Errors: an errno; EINVAL: the page is not aligned. */
int faultloc_board_map_slot(const struct faultloc_board *b, int fd, int32_t i, void *page);

/* Purpose: puts memory of this process's own, with the same content, in the place of the slot that
 * is mapped over `page`; what it stores there from now on is seen by nobody.  For a child of fork():
 * takes no lock, allocates nothing, and uses little stack.
 * Errors: an errno; the slot is then still there. */
int faultloc_board_leave_slot(const struct faultloc_board *b, void *page);

/* Purpose: the reverse, without a descriptor: maps slot `i` over `page` again, and carries over what
 * is a rank's there.  No thread sees `page` missing.
 * Errors: an errno; the page is then what it was. */
int faultloc_board_take_slot(const struct faultloc_board *b, int32_t i, void *page);

/* Purpose: true if process `pid` has mapped the board behind this descriptor: it is a rank or its
 * fork child, and has executed no other program since.
 * Source: proc(5), /proc/PID/maps. */
bool faultloc_board_is_mapped_by(int fd, int32_t pid);

/* Purpose: from here on this process only reads the board, but for the wait area of slot `i`, and
 * for a slot that it has mapped: what its program writes by mistake does not become what the agent
 * believes.
 * Errors: an errno; parts of the board may then be writable. */
int faultloc_board_protect(const struct faultloc_board *b, int32_t i);

/* Purpose: unmaps the board. */
void faultloc_board_unmap(struct faultloc_board *b);

/* Purpose: where slot i's rank says what it waits for, in pages of its own. */
struct faultloc_wait_area *faultloc_board_wait_area(const struct faultloc_board *b, int32_t i);

/* Purpose: slot i, node n's address and name, and the tables of struct ftree_job. */
struct faultloc_slot *faultloc_board_slot(const struct faultloc_board *b, int32_t i);
struct faultloc_address *faultloc_board_addresses(const struct faultloc_board *b);
char *faultloc_board_name(const struct faultloc_board *b, int32_t node);
int32_t *faultloc_board_rank_node(const struct faultloc_board *b);
int32_t *faultloc_board_node_first(const struct faultloc_board *b);
int32_t *faultloc_board_node_ranks(const struct faultloc_board *b);
int32_t *faultloc_board_rank_pid(const struct faultloc_board *b);

/* Purpose: the ranks that are given up, b->failures of them, in the order in which they were; and
 * for each rank of the job whether it is, and how (0: it is not). */
int32_t *faultloc_board_failed(const struct faultloc_board *b);
_Atomic uint8_t *faultloc_board_has_failed(const struct faultloc_board *b);

/* Whether a rank that is given up may still send: its node is out of reach, or the process is gone. */
enum { FAULTLOC_GIVEN_UP_SILENT = 1, FAULTLOC_GIVEN_UP_ENDED };

/* Purpose: gives a rank up, unless it is already, and lets the ranks of the node know. To be called
 * by the agent alone. */
void faultloc_board_give_up(struct faultloc_board *b, int32_t rank, uint8_t how);

/* Purpose: gives up all ranks of the verdict's component (a rank, or a node). */
void faultloc_board_give_up_of(struct faultloc_board *b, const struct ftree_verdict *v);

/* Purpose: by how much sooner verdict `v` was found than by the stall limit, at most by the patience; and how
 * long it must have stood before it ends job or ranks: what cannot be undone is not done sooner for that. */
ftree_time faultloc_board_early(const struct faultloc_board *b, const struct ftree_verdict *v);
ftree_time faultloc_board_patience(const struct faultloc_board *b, const struct ftree_verdict *v);

/* Purpose: gives up the ranks of all verdicts on the board that end ranks and have stood for that
 * long: until then a lost node may turn out to have been out of reach only. */
void faultloc_board_settle(struct faultloc_board *b, ftree_time now);

/* Purpose: the packed tree, b->tree_bytes of it. */
void *faultloc_board_tree(const struct faultloc_board *b);

/* Purpose: writes a verdict down for the next agent; one that is withdrawn takes the place of
 * itself, for a successor must know that it is over, until the place is needed. Where there is none
 * left the verdict is not written down. To be called by the agent alone. */
void faultloc_board_remember(struct faultloc_board *b, const struct ftree_verdict *v);

/* Purpose: reads verdict i, for any rank of the node, while the agent may be writing.
 * Returns false where there is none, it is just being written, or it does not fit the job. */
bool faultloc_board_read(const struct faultloc_board *b, int32_t i, struct ftree_verdict *out);

/* Purpose: writes down for the next agent what was set while the job runs, as it travels; the file
 * of the board, which is `fd`, grows for it: all have mapped it by then, and no process that has
 * not can. To be called by the agent alone.  Errors: an errno. */
int faultloc_board_keep_setting(struct faultloc_board *b, int fd, const void *bytes, size_t len);

/* Purpose: reads that; to be freed by free(3).  NULL: there is nothing, or it cannot be read. */
void *faultloc_board_setting(const struct faultloc_board *b, int fd, size_t *len);

/* The job in words of the core, as the board describes it. */
struct faultloc_job {
    struct ftree_job job; /* its tables are the board's; its rules are the owner's to set */
    struct ftree_tree *tree; /* the FLT from outside; NULL: there is none */
    const char **names; /* [nodes] */
};

/* Purpose: describes the job of a board, which must outlive *out; to be ended by
 * faultloc_job_free(), also after an error.
 * Errors: ENOMEM; EPROTO: the packed tree is none. */
int faultloc_job_describe(const struct faultloc_board *b, struct faultloc_job *out);

/* Purpose: gives back what describing took; one that is all 0 is allowed. */
void faultloc_job_free(struct faultloc_job *j);

#endif /* FAULTLOC_BOARD_H_INCLUDED */
