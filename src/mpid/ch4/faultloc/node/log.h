/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LOG_H_INCLUDED
#define FAULTLOC_LOG_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * What a log probe brings: the last messages of a rank, read from its ring while it goes on
 * writing.  Nothing here allocates, waits, or fails.
 *
 * When a message was is known from the agent's looks, which count: its time is the look that first
 * found it there, or the beginning of the wait that the rank is in, where that was earlier.  So it
 * is too late by one look's time at the most, and for the last messages before a wait by 50 us or
 * so; but for those older than all the looks that are kept.
 */

/* Purpose: notes, at a look, how many messages local rank i has begun; now: CLOCK_MONOTONIC, ns. */
void faultloc_log_tick(const struct faultloc_board *b, int32_t i, ftree_time now);

/* Purpose: the log of local rank i: the messages that its ring holds, as many as are whole, newest
 * first. */
void faultloc_log_look(const struct faultloc_board *b, int32_t i, ftree_time now,
                       struct ftree_log *log);

/* Purpose: the same of a page, wherever it is. */
void faultloc_log_read(const struct faultloc_page *page, ftree_time now, struct ftree_log *log);

/* Purpose: true if of the messages in local rank i's ring FAULTLOC_LOG_REPEATS at least, beside the last
 * one, are of its kind: of the same type, peer, tag and communicator. */
#define FAULTLOC_LOG_REPEATS 5
bool faultloc_log_repeats(const struct faultloc_board *b, int32_t i);

#endif /* FAULTLOC_LOG_H_INCLUDED */
