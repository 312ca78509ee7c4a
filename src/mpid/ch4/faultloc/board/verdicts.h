/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_VERDICTS_H_INCLUDED
#define FAULTLOC_VERDICTS_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * What a rank learns of the verdicts, read from its node's board by its own thread: the report as
 * JSON, and what is new since it looked last.  Nothing here asks anybody, or waits.
 */

/* What an MPI_T event says of a verdict.  The layout is documented (MPIX_Faultloc_verdicts.3): new
 * members go to the end. */
struct faultloc_event {
    int64_t located_ms; /* Unix time */
    uint32_t id; /* with `fln`: this verdict and no other */
    int32_t fln; /* number of the node that decided */
    int32_t class_; /* enum ftree_class */
    int32_t rank; /* -1: the component is no single rank */
    int32_t node;
    int32_t pid; /* 0: not known */
    int32_t confidence; /* 1/1000 */
    int32_t withdrawn; /* 1: it is over */
    int32_t victims; /* how many ranks wait, as far as this node knows */
    int32_t failures; /* ranks that were given up by then */
    char class_name[24];
    char node_name[FAULTLOC_NAME_SIZE];
};

/* What a rank was notified of already. */
struct faultloc_news {
    int32_t verdicts, withdrawals; /* of the board, when it was up to date */
    struct {
        uint32_t written; /* the board's count when it was read; 0: it never was */
        uint32_t id;
        int32_t fln;
        bool withdrawn;
    } notified[FAULTLOC_BOARD_VERDICTS];
};

/* Purpose: whether faultloc_news_next() need be asked: two loads. */
static inline bool faultloc_news_may_be(const struct faultloc_news *n,
                                        const struct faultloc_board *b)
{
    return n->verdicts != b->verdicts || n->withdrawals != b->withdrawals;
}

/* Purpose: the next verdict that is new, or newly over, which then counts as known.  `room` is for
 * the verdict, and undefined where there is none.
 * Returns false where there is no more; what is just being written comes another time. */
bool faultloc_news_next(struct faultloc_news *n, const struct faultloc_board *b,
                        struct ftree_verdict *room);

/* Purpose: the event of a verdict; now_ns is CLOCK_MONOTONIC, now_ms the Unix time of it. */
void faultloc_event_fill(const struct faultloc_board *b, const struct ftree_verdict *v,
                         uint64_t now_ns, int64_t now_ms, struct faultloc_event *out);

/* Purpose: the report of all verdicts on the board, schema faultloc-report/1; `job` as
 * faultloc_job_describe() gives it. Returns a string to be freed by free(3); NULL: out of
 * memory. */
char *faultloc_verdicts_json(const struct faultloc_board *b, const struct ftree_job *job,
                             uint64_t now_ns, int64_t now_ms);

/* Purpose: the report of a job without a board: no verdicts.  Likewise. */
char *faultloc_verdicts_none(const char *job_id, int32_t size, int32_t nodes, int64_t started_ms);

/* Purpose: copies `text` into `buf` as far as it goes, with a final zero, and says in *len how many
 * bytes all of it takes, the zero included.  *len in: room of buf, 0: none (buf may be NULL). */
void faultloc_verdicts_copy(const char *text, char *buf, int *len);

/* Purpose: a node's data interface, the adapter's port that its data pass, and its address on a path,
 * as text, for struct report_job; ctx is the board. */
const char *faultloc_board_interface(void *ctx, int32_t node, char *buf, size_t len);
const char *faultloc_board_port(void *ctx, int32_t node, char *buf, size_t len);
const char *faultloc_board_address(void *ctx, int32_t node, enum ftree_path path, char *buf,
                                   size_t len);

#endif /* FAULTLOC_VERDICTS_H_INCLUDED */
