/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAITS_INT_H_INCLUDED
#define FAULTLOC_WAITS_INT_H_INCLUDED

#include "faultloc/mpi/waits/waits.h"

/*
 * What the files waits*.c ask of each other.  What others ask of them is in waits.h.  From the
 * ground up, each knows those before it:
 *
 *     waits_comms.c       the communicators of a record
 *     waits_requests.c    what a request says of itself
 *     waits_collective.c  whom a collective operation needs
 *     waits_onesided.c    what a wait of one-sided communication is for, and locks
 *     waits_record.c      what one wait is for
 *     waits_messages.c    the messages with other ranks
 *     waits_work.c        what a thread that polls does between its calls
 *     waits_threads.c     what each of many threads waits for
 *     waits_polls.c       what a thread that polls waits for
 *     waits.c             asked and answered
 */

/* Of many threads, of which one may run, or one that polls: less than the agent has (LOOK_TIME,
 * ftree/waitfor/waitfor_ask.c). */
#define FAULTLOC_PATIENT_NS (200 * FTREE_MS)

/* Whether a thread that is in MPI has a lock that no other has. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define FAULTLOC_ONE_LOCK false
#else
#define FAULTLOC_ONE_LOCK true
#endif

static inline bool MPIDI_faultloc_has_many_threads(void)
{
    return MPIDI_faultloc_page.slot.many_threads;
}

/* In MPI_Finalize there is one again. */
static inline bool MPIDI_faultloc_is_one_of_many(void)
{
    return MPIDI_faultloc_has_many_threads() &&
        MPIDI_faultloc_page.slot.state == FAULTLOC_SLOT_RUNNING;
}

/* ---- waits_comms.c --------------------------------------------------------------------------- */

/* Purpose: true if messages of that context are the communicator's; a send has another context than
 * a receive where the communicator joins two groups. */
bool MPIDI_faultloc_is_comm_of(const MPIR_Comm * comm, uint32_t context, bool of_sends);

/* Purpose: the communicator that messages of that context are of: of a message only the context is
 * noted.  NULL: it is not known, or which of two it is. */
MPIR_Comm *MPIDI_faultloc_find_comm(uint32_t context, bool of_sends);

/* Purpose: the place that a communicator has in the record; FTREE_NONE: it is not there. */
int8_t MPIDI_faultloc_place_of_comm(const struct waits_record *r, uint32_t context, int32_t first);

/* Purpose: the communicator's place in the record, where it is put if it is not there yet;
 * FTREE_NONE: there is none left, or it is not of this world alone. */
int8_t MPIDI_faultloc_add_comm(struct waits_record *r, MPIR_Comm * comm, uint32_t context);

/* Purpose: adds communicators of which nothing is waited for: how far this rank has come there,
 * perhaps not to the first collective, is what others wait for. */
void MPIDI_faultloc_add_other_comms(struct waits_record *r);

/* Purpose: the same for all threads: each communicator finds room in the record of any of them. */
void MPIDI_faultloc_spread_other_comms(struct waits_page *page);

/* ---- waits_requests.c ------------------------------------------------------------------------ */

/* Purpose: the request that does the work, if the program has begun it and it has not ended; else
 * NULL. */
MPIR_Request *MPIDI_faultloc_pending(MPIR_Request * req);

/* Purpose: the ring's i-th message from the end; NULL: it is not of that type, or not whole. */
const struct faultloc_message *MPIDI_faultloc_message_at(uint32_t i, int type);

/* Purpose: whom a send or receive is about, as it was noted when it began: a rank of the world,
 * WAITS_ANY, FTREE_NONE: not known. */
int32_t MPIDI_faultloc_peer_of(MPIR_Request * req);

/* Purpose: the context of a send or receive, noted likewise. */
uint32_t MPIDI_faultloc_context_of(MPIR_Request * req);

/* Purpose: what a request waits for, by what is known of its kind: a send or receive, one of a
 * communicator of this rank alone, which MPICH does in another way, a partitioned one. */
void MPIDI_faultloc_describe_message(struct waits_record *r, struct waits_request *q,
                                     MPIR_Request * req);
void MPIDI_faultloc_describe_self(struct waits_record *r, struct waits_request *q,
                                  MPIR_Request * req);
void MPIDI_faultloc_describe_partitioned(struct waits_record *r, struct waits_request *q,
                                         MPIR_Request * req);

/* ---- waits_collective.c ---------------------------------------------------------------------- */

/* Purpose: true if an operation needs somebody besides all members: whom, only the messages inside
 * say. */
bool MPIDI_faultloc_needs_more(uint32_t call);

/* Purpose: the n-th operation on a communicator, if it is one of the last two, of which all is
 * known: whether it is what this rank cannot go on without, and whose part. */
bool MPIDI_faultloc_describe_collective(struct waits_record *r, struct waits_request *q,
                                        MPIR_Comm * comm, uint32_t number);

/* Purpose: adds the blocking operation that this rank is in, if any, beside what it waits for
 * inside.  Returns its request; NULL: it is in none, or that does not say whom it needs. */
struct waits_request *MPIDI_faultloc_add_collective(struct waits_record *r,
                                                    const struct MPIDI_faultloc_wait *w);

/* ---- waits_onesided.c ------------------------------------------------------------------------ */

/* Purpose: adds the locks that this rank holds: others may wait for one. */
void MPIDI_faultloc_add_locks_held(struct waits_record *r);

/* Purpose: adds the lock, or the ranks, that a call of one-sided communication waits for: it has no
 * request. */
void MPIDI_faultloc_add_onesided(struct waits_record *r);

/* Purpose: a rank that polls may look into a window's memory between its calls: it waits, besides,
 * for what any member of such a window stores or puts there. */
void MPIDI_faultloc_add_stores(struct waits_record *r);

/* ---- waits_record.c -------------------------------------------------------------------------- */

/* Purpose: how many of its requests a wait is still for. */
int MPIDI_faultloc_count_pending(const struct MPIDI_faultloc_wait *w);

/* Purpose: what a turn asks for, as a number: the same as long as nothing ends or begins. */
uint64_t MPIDI_faultloc_poll_of(const struct MPIDI_faultloc_wait *w);

/* Purpose: shows that this rank has gone on: what ends adds to it, and so does what begins; a call
 * that asked in vain does not. */
uint64_t MPIDI_faultloc_stamp(void);

/* Purpose: the whole record of a wait, or in parts, where several are put together: what it waits
 * for, and no more; then what is said of the rank besides, but for the stamp. */
void MPIDI_faultloc_fill_record(struct waits_record *r, const struct MPIDI_faultloc_wait *w);
void MPIDI_faultloc_fill_requests(struct waits_record *r, const struct MPIDI_faultloc_wait *w);
void MPIDI_faultloc_fill_rest(struct waits_record *r);

/* ---- waits_messages.c ------------------------------------------------------------------------ */

/* The ranks whose messages are wanted; none: those of all. */
struct MPIDI_faultloc_wanted {
    const int32_t *rank;
    int32_t n;
};

/* Purpose: how many messages were exchanged with each of them; of all, with those there were any
 * with. */
void MPIDI_faultloc_fill_exchanges(struct waits_page *page,
                                   const struct MPIDI_faultloc_wanted *with);

/* Purpose: the receives from them that are posted. */
void MPIDI_faultloc_fill_posted(struct waits_page *page, const struct MPIDI_faultloc_wanted *with);

/* Purpose: the messages that this rank has sent to them last. */
void MPIDI_faultloc_fill_sent(struct waits_page *page, const struct MPIDI_faultloc_wanted *with);

/* ---- waits_work.c ---------------------------------------------------------------------------- */

/* Purpose: the call turns progress, and it returns in vain; `answered`: the number of the last
 * question that was answered.  True: nothing has ended or begun since the turn before. */
void MPIDI_faultloc_turn_begins(void);
bool MPIDI_faultloc_turn_ends(uint32_t answered);

/* Purpose: true if the calling thread has done more than ask since the last answer; false if
 * another one has asked since, too. */
bool MPIDI_faultloc_works_between(void);

/* ---- waits_threads.c ------------------------------------------------------------------------- */

/* Purpose: true as long as no other thread has waited, or asked in vain, in MPI, as far as is
 * known.  To be called by one that asks in vain. */
bool MPIDI_faultloc_is_alone(void);

/* Purpose: true if no other thread can change what is MPICH's: one lock is for all, or all others
 * are outside MPI, and sleep; then *switches is as below. */
bool MPIDI_faultloc_is_undisturbed(uint64_t *switches);

/* Purpose: how long the question has been open. */
ftree_time MPIDI_faultloc_open_for(uint32_t asked);

/* Purpose: the calling thread tells what it waits for, and what those wait for that have let it
 * have the lock.  True: others have not reported, and they are given time; `since`: so long the
 * question has been open. */
bool MPIDI_faultloc_lacks_threads(struct MPIDI_faultloc_wait *wait, ftree_time since);

/* Purpose: a thread that polls lets those that have not reported have the lock, for a while after
 * the question.  True: it has done so. */
bool MPIDI_faultloc_give_way(struct MPIDI_faultloc_wait *wait, ftree_time since);

/* Purpose: the records of all threads that have reported.  Returns how many. */
int32_t MPIDI_faultloc_copy_reported(struct waits_page *page);

/* Purpose: the question is answered: a thread that polls may do anything until the next look. */
void MPIDI_faultloc_forget_reported(void);

/* Purpose: true if all other threads of the process, but those of MPICH and UCX, sleep until one of
 * these wakes them; *switches is the same as long as they have not woken (base/proc.h). */
bool MPIDI_faultloc_all_others_sleep(uint64_t *switches);

/* Purpose: true if any of them runs. */
bool MPIDI_faultloc_any_other_runs(void);

/* ---- waits_polls.c --------------------------------------------------------------------------- */

/* Purpose: takes notice of a turn of a rank that polls.  True: it is known what the turns ask for,
 * or will not be. */
bool MPIDI_faultloc_is_measured(struct MPIDI_faultloc_wait *w, uint32_t asked);

/* Purpose: the record of a rank that polls, once that is so. */
void MPIDI_faultloc_tell_polls(struct waits_record *r, const struct MPIDI_faultloc_wait *w);

#endif /* FAULTLOC_WAITS_INT_H_INCLUDED */
