/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SEAM_H_INCLUDED
#define FAULTLOC_SEAM_H_INCLUDED

#include <stdint.h>

/*
 * All that the patches put into MPICH's own files: macros of this header, and of faultloc_pt2pt.h
 * for sends and receives, and nothing else.  Where faultloc is configured out they are empty, and
 * MPICH compiles to what it was.
 *
 * What a rank is doing is noted by one machine instruction when an MPI call begins and one when it
 * ends.  Both write to this process's slot, a page of its own in the data segment of libmpi.  With
 * faultloc on, the node's shared board is mapped over that page, so the same two instructions then
 * write where the agent reads: on and off cost the same, and off needs no test.
 */

/* The largest page size of an architecture that MPICH runs on; the page is mapped over. */
#if defined(__x86_64__) || defined(__i386__)
#define FAULTLOC_SLOT_ALIGN 4096
#else
#define FAULTLOC_SLOT_ALIGN 65536
#endif

#if defined(__GNUC__)
#define FAULTLOC_ALIGNED(n) __attribute__((aligned(n)))
#else
#define FAULTLOC_ALIGNED(n)
#endif

enum faultloc_slot_state {
    FAULTLOC_SLOT_EMPTY,
    FAULTLOC_SLOT_RUNNING,
    FAULTLOC_SLOT_FINALIZING, /* in MPI_Finalize */
    FAULTLOC_SLOT_LEFT,       /* MPI_Finalize's work is done, or it ends by its own decision */
    FAULTLOC_SLOT_VICTIM,     /* has left because of another's failure, and waited for that */
    FAULTLOC_SLOT_ABORTED     /* another's MPI_Abort on a part of the job has ended it */
};

/* Peers of a wait that are no rank of the world. */
#define FAULTLOC_PEER_UNKNOWN (-1)
#define FAULTLOC_PEER_LOCAL (-2) /* a rank of the own node */

/*
 * One rank, written by it and read by the agent without a lock.  A reader may see the fields of a
 * wait torn: `wait_call` tells whether they belong to the call that is going on, and what is
 * misread costs a probe, never an accusation.
 */
struct faultloc_slot {
    char spare[256];        /* UCX's shared queues begin at that of a page, and a store to the same
                             * bytes of another page holds up the next message: a rate between
                             * cores falls by a third */
    uint64_t call;          /* which call (low bits), how many ended (the others): see below */
    uint64_t call_of_all;   /* the same while `call` is worth nothing, with the highest bit set */
    uint64_t wait_call;     /* that when the wait below was noted */
    uint64_t wait_since_ns; /* CLOCK_MONOTONIC, 0: none */
    uint64_t wait_request;  /* which request is waited for, below its handle; never dereferenced */
    uint64_t spins;         /* turns of wait loops */
    int32_t wait_peer;      /* rank of the world, or FAULTLOC_PEER_... */
    uint32_t state;         /* enum faultloc_slot_state */
    int32_t rank, pid;
    uint64_t start;       /* of the process, clock ticks since boot: tells a reused pid */
    uint32_t many_threads; /* MPI_THREAD_MULTIPLE: the call is the sum of several threads' */
    uint32_t failures;    /* the agent's: ranks that are given up; if any, with the highest bit */
    uint32_t news;        /* the agent's, and taken back here: there is something to look at */
    uint64_t polls;       /* calls that ended among those of `call`, or are about to, in which
                           * nothing had come true that was asked for: Test and Iprobe, and the
                           * like */
    int32_t tracer;       /* the agent's: it cannot have this process traced (Yama) unless the
                           * process names it by PR_SET_PTRACER; 0: it can, or nothing is known */
    uint64_t longest_ns;  /* the agent's: stay outside MPI that is over; here the next agent has it,
                           * too */
    uint64_t failed_ns;   /* CLOCK_MONOTONIC: when an operation last failed because a rank is given
                           * up; 0: none did */
};

/*
 * Peers that the transport has lost: a connection to them has failed. Written by the rank, once for
 * each peer; read by the agent, which the wakeup socket wakes (board/wakeup.h). `count` counts all
 * of them; the last FAULTLOC_PEER_ERRORS are there.
 */
#define FAULTLOC_PEER_ERRORS 32

struct faultloc_peer_errors {
    uint32_t count, spare;
    struct {
        int32_t rank, error; /* of the world; errno */
        uint64_t at_ns;      /* CLOCK_MONOTONIC */
    } entry[FAULTLOC_PEER_ERRORS];
};

/*
 * The ring of a rank's last messages, in its page behind the slot; written when a send or receive
 * begins, read by the agent when somebody asks for it.
 *
 * `count` goes up by FAULTLOC_RING_STEP for each message.  A writer first counts, then fills in the
 * entry that the new count points to, at last the `mark` of the message's type: the new count.  So
 * an entry is whole if it has the mark that is expected, and if after reading it nobody had counted
 * on to it in the next turn; only what is just being written is left out.  Where several threads
 * write, one that is held up in the middle for a whole turn spoils an entry: a wrong line in a log.
 *
 * No clock is read for a message, because that takes longer than all the rest.  The agent notes how
 * far the count was at each of its looks, which says when a message was within one look's time.
 */
#define FAULTLOC_RING_ENTRIES 32
#define FAULTLOC_RING_STEP 32 /* sizeof(struct faultloc_message): the count is an offset, too */
#define FAULTLOC_RING_BYTES (FAULTLOC_RING_ENTRIES * FAULTLOC_RING_STEP)
#define FAULTLOC_RING_LOOKS 16
#define FAULTLOC_RING_SEND 0
#define FAULTLOC_RING_RECV 1

/*
 * What a message is known by on both of its sides: the context of its communicator, and its tag.
 * Both sides add up the marks of a pair's messages: the square of the key times the factor with the
 * flips (ftree_waits_mark() is the same).
 */
#define FAULTLOC_KEY(context, tag) ((uint64_t) (context) << 48 | (uint32_t) (tag))

#define FAULTLOC_MARK_FACTOR 0x9e3779b97f4a7c15u
#define FAULTLOC_MARK_FLIPS 0x5555555555555555u

struct faultloc_message {
    uint64_t count;    /* of elements whose size the datatype says */
    int32_t tag;
    int32_t peer;      /* rank in the communicator; below 0: any source */
    uint16_t context;  /* of the communicator */
    uint16_t datatype; /* lower half of a builtin's handle, its second byte is the size; 0: bytes */
    uint32_t spare;
    uint32_t mark[2];  /* by type */
};

struct faultloc_ring {
    uint32_t count;
    uint32_t looks; /* so far; the agent's, as the table below */
    uint32_t spare[6];
    struct faultloc_message entry[FAULTLOC_RING_ENTRIES];
    struct {
        uint64_t at_ns; /* CLOCK_MONOTONIC */
        uint64_t count;
    } look[FAULTLOC_RING_LOOKS]; /* the last that found the count changed */
};

/* A rank's page; the same in its own memory and on the board. */
struct faultloc_page {
    struct faultloc_slot slot;
    struct faultloc_ring ring FAULTLOC_ALIGNED(FAULTLOC_RING_STEP); /* no entry in two lines */
    struct faultloc_peer_errors peer_errors;
};

/* Counts, and sets `now` to the new count.  Two threads write only where no lock is held when a
 * send begins. */
#if defined(__GNUC__) && defined(MPICH_THREAD_GRANULARITY) && \
    MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define FAULTLOC_RING_COUNT(ring, now) \
    ((now) = __atomic_add_fetch(&(ring)->count, FAULTLOC_RING_STEP, __ATOMIC_RELAXED))
#define FAULTLOC_STORES_SO_FAR(entry) __atomic_thread_fence(__ATOMIC_RELEASE)
#elif defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__)
#define FAULTLOC_RING_COUNT(ring, now) \
    __asm__ __volatile__("addl %2, %1; movl %1, %0" \
                         : "=r"(now), "+m"((ring)->count) : "i"(FAULTLOC_RING_STEP))
/* x86 stores in order; the compiler is kept from reordering those of the entry, no others */
#define FAULTLOC_STORES_SO_FAR(entry) __asm__ __volatile__("" : "+m"(*(entry)))
#else
#define FAULTLOC_RING_COUNT(ring, now) ((now) = (ring)->count += FAULTLOC_RING_STEP)
#if defined(__GNUC__)
#define FAULTLOC_STORES_SO_FAR(entry) __atomic_thread_fence(__ATOMIC_RELEASE)
#else
#define FAULTLOC_STORES_SO_FAR(entry) do { } while (0)
#endif
#endif

/* `amend` is a statement that may correct the entry `m_` before it counts. */
#define FAULTLOC_RING_WRITE(ring, type, count_, datatype_, tag_, context_, peer_, amend) \
    do { \
        uint32_t now_; \
        struct faultloc_message *m_; \
        FAULTLOC_RING_COUNT(ring, now_); \
        m_ = (struct faultloc_message *) (void *) \
            ((char *) (ring)->entry + now_ % FAULTLOC_RING_BYTES); \
        FAULTLOC_STORES_SO_FAR(m_); \
        m_->count = (uint64_t) (count_); \
        m_->tag = (tag_); \
        m_->context = (uint16_t) (context_); \
        m_->peer = (peer_); \
        *(volatile uint16_t *) &m_->datatype = (uint16_t) (datatype_); /* merging takes longer */ \
        amend; \
        FAULTLOC_STORES_SO_FAR(m_); \
        m_->mark[type] = now_; \
    } while (0)

/*
 * `call` holds the identifier of the current call in its low bits and the number of calls that
 * ended above them.  Entering adds the identifier, leaving adds 2^bits minus the identifier: one
 * instruction each, calls may nest, and no two calls leave the same word.  The identifier is a
 * hash of the function's name, so that no table needs to be kept in step with MPICH.  Only calls
 * that hold MPICH's lock are noted, so the word is exact with many threads, too: the sum of what
 * they are in.  The others (MPI_Comm_rank, MPI_Wtime) look something up, often in loops: a rank
 * that does nothing else has not come to MPI.
 *
 * The word has its highest bit set while it is unusual: before MPI_Init and after MPI_Finalize,
 * where several threads call at once without a lock, and when so many calls have ended that they
 * have come so far.  The addition's sign says so, for which MPICH's own question whether MPI is
 * initialized is not asked.  With threads the word is worth nothing, and what is added is added to
 * `call_of_all`, too, in one piece.
 */
#define FAULTLOC_CALL_BITS 24
#define FAULTLOC_CALL_MASK ((1u << FAULTLOC_CALL_BITS) - 1)
#define FAULTLOC_CALL_UNUSUAL ((uint64_t) 1 << 63)

static inline uint64_t faultloc_slot_call(const struct faultloc_slot *slot)
{
    uint64_t call = *(const volatile uint64_t *) &slot->call;
    uint64_t of_all = *(const volatile uint64_t *) &slot->call_of_all;

    return (of_all & FAULTLOC_CALL_UNUSUAL ? of_all : call) & ~FAULTLOC_CALL_UNUSUAL;
}

#if defined(ENABLE_FAULTLOC) && defined(MPICHCONF_H_INCLUDED)

#if defined(__GNUC__)
#define MPIDI_FAULTLOC_HIDDEN __attribute__((visibility("hidden")))
#else
#define MPIDI_FAULTLOC_HIDDEN
#endif

struct MPIR_Request;
struct MPIR_Comm;
struct MPIR_Datatype;
struct MPIDI_av_entry;
struct MPIR_Group;
struct MPIR_Win;

union MPIDI_faultloc_page {
    struct faultloc_slot slot;
    struct faultloc_page page;
    char room[FAULTLOC_SLOT_ALIGN];
};
extern union MPIDI_faultloc_page MPIDI_faultloc_page MPIDI_FAULTLOC_HIDDEN;

/* FNV-1a over the first 48 characters, with zeros after the end of a shorter name: an expression
 * of constants, which the compiler folds. */
#define MPIDI_FAULTLOC_HASH_1(h, s, i) \
    (((h) ^ (uint32_t) (unsigned char) ((i) < sizeof(s) ? (s)[(i) < sizeof(s) ? (i) : 0] : 0)) * \
     16777619u)
#define MPIDI_FAULTLOC_HASH_4(h, s, i) \
    MPIDI_FAULTLOC_HASH_1(MPIDI_FAULTLOC_HASH_1(MPIDI_FAULTLOC_HASH_1( \
        MPIDI_FAULTLOC_HASH_1(h, s, (i)), s, (i) + 1), s, (i) + 2), s, (i) + 3)
#define MPIDI_FAULTLOC_HASH_16(h, s, i) \
    MPIDI_FAULTLOC_HASH_4(MPIDI_FAULTLOC_HASH_4(MPIDI_FAULTLOC_HASH_4( \
        MPIDI_FAULTLOC_HASH_4(h, s, (i)), s, (i) + 4), s, (i) + 8), s, (i) + 12)
#define MPIDI_FAULTLOC_CALL_ID(s) \
    ((MPIDI_FAULTLOC_HASH_16(MPIDI_FAULTLOC_HASH_16(MPIDI_FAULTLOC_HASH_16( \
        2166136261u, s, 0u), s, 16u), s, 32u) >> (32 - FAULTLOC_CALL_BITS)) | 1)

#define MPIDI_FAULTLOC_CALL faultloc_slot_call(&MPIDI_faultloc_page.slot)

/* Adds, and says whether the word is unusual. */
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && defined(__OPTIMIZE__)
static inline int MPIDI_faultloc_add(int64_t n)
{
    int is_unusual;

    __asm__ __volatile__("addq %2, %1" : "=@ccs"(is_unusual), "+m"(MPIDI_faultloc_page.slot.call)
                         : "er"(n));
    return is_unusual;
}
#else
static inline int MPIDI_faultloc_add(int64_t n)
{
    return (int64_t) (MPIDI_faultloc_page.slot.call += (uint64_t) n) < 0;
}
#endif

/* A call has begun while the word is unusual; where it need not be any more, that ends. */
void MPIDI_faultloc_enter_unusual(uint32_t id) MPIDI_FAULTLOC_HIDDEN;

#if defined(__GNUC__) && MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
/* Here no lock is held when a call begins, and what the thread itself is in must be kept apart. */
extern _Thread_local uint32_t MPIDI_faultloc_own_call
    MPIDI_FAULTLOC_HIDDEN __attribute__((tls_model("initial-exec")));
#define MPIDI_FAULTLOC_OWN_CALL (MPIDI_faultloc_own_call & FAULTLOC_CALL_MASK)
#define MPIDI_FAULTLOC_ADD_FOR_ALL(n) \
    do { \
        MPIDI_faultloc_own_call += (uint32_t) (n); \
        (void) __atomic_fetch_add(&MPIDI_faultloc_page.slot.call_of_all, (uint64_t) (n), \
                                  __ATOMIC_RELAXED); \
    } while (0)
#define MPIDI_FAULTLOC_EXIT_UNUSUAL(n) \
    if (unlikely(MPIDI_faultloc_add(n)) && MPIDI_faultloc_page.slot.call_of_all) \
        MPIDI_FAULTLOC_ADD_FOR_ALL(n)
#else
#define MPIDI_FAULTLOC_EXIT_UNUSUAL(n) (void) MPIDI_faultloc_add(n)
#endif

#define MPIDI_FAULTLOC_INITIALIZED_ORDIE() do { } while (0)
#define MPIDI_FAULTLOC_ENTER(check) \
    do { \
        if (unlikely(MPIDI_faultloc_add(MPIDI_FAULTLOC_CALL_ID(__func__)))) { \
            check; \
            MPIDI_faultloc_enter_unusual(MPIDI_FAULTLOC_CALL_ID(__func__)); \
        } \
    } while (0)
#define MPIDI_FAULTLOC_CALL_ENTER MPIDI_FAULTLOC_ENTER(MPIR_ERRTEST_INITIALIZED_ORDIE())
#define MPIDI_FAULTLOC_CALL_ENTER_EARLY MPIDI_FAULTLOC_ENTER((void) 0)
#define MPIDI_FAULTLOC_CALL_EXIT \
    MPIDI_FAULTLOC_EXIT_UNUSUAL((1 << FAULTLOC_CALL_BITS) - (int) MPIDI_FAULTLOC_CALL_ID(__func__))

/* Is a word other than 0, as it hardly ever is?  Compilers would take a load more. */
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && defined(__OPTIMIZE__)
static inline int MPIDI_faultloc_is_set(const uint32_t *word)
{
    int is_set;

    __asm__("cmpl $0, %1" : "=@ccne"(is_set) : "m"(*word));
    return is_set;
}
#define MPIDI_FAULTLOC_IS_SET(word) unlikely(MPIDI_faultloc_is_set(&(word)))
#else
#define MPIDI_FAULTLOC_IS_SET(word) unlikely((word) != 0)
#endif

/* Whether requests note their peers by where their messages are counted: UCX needs no address of a
 * receive's source. */
#if defined(HAVE_CH4_NETMOD_UCX) && defined(MPIDI_CH4_DIRECT_NETMOD)
#define MPIDI_FAULTLOC_ROWS 1
#else
#define MPIDI_FAULTLOC_ROWS 0
#endif

/* Of a send or receive: its peer, by its address or by the place where its messages are counted
 * (faultloc_sums.h); its tag and context, as they are. */
#define MPIDI_FAULTLOC_REQUEST_DECL \
    void *faultloc_peer; int32_t faultloc_tag; \
    union { uint32_t faultloc_context, faultloc_serial; };
#define MPIDI_FAULTLOC_SSEND ((uint32_t) 1 << 16) /* in a request's context */
#define MPIDI_FAULTLOC_IS_DONE(req) MPIR_Request_is_complete(req)

/*
 * What is noted of sends, receives and probes, and what they fail of: in mpi/calls/pt2pt.c alone,
 * whose functions take the place of MPICH's where there is anything to note (faultloc_pt2pt.h).
 */
#if defined(MPIDI_FAULTLOC_PT2PT)

/* Which message a request is about: UCX and OFI do not keep that until completion.  Where there is
 * no error there is a request; the caller asks for the error, too: it is free here. */
#define MPIDI_FAULTLOC_NOTE(req, peer, tag, context) \
    do { \
        MPIDI_REQUEST(req, faultloc_peer) = (peer); \
        MPIDI_REQUEST(req, faultloc_tag) = (tag); \
        MPIDI_REQUEST(req, faultloc_context) = (context); \
    } while (0)
/* UCX's are noted before they can end (faultloc_ucx.h). */
#if MPIDI_FAULTLOC_ROWS
#define MPIDI_FAULTLOC_REQUEST_PEER(req, av) do { } while (0)
#else
#define MPIDI_FAULTLOC_REQUEST_PEER(req, av) \
    do { \
        if (likely(mpi_errno == MPI_SUCCESS)) { \
            MPIDI_FAULTLOC_NOTE(req, av, tag, faultloc_context); \
            MPIDI_FAULTLOC_NOTE_LOCAL(req, av); \
        } \
    } while (0)
#endif
#define MPIDI_FAULTLOC_REQUEST_AV(req, av) \
    do { \
        if (mpi_errno == MPI_SUCCESS) \
            MPIDI_FAULTLOC_NOTE(req, av, tag, faultloc_context); \
    } while (0)

/* A send or receive begins: nothing is asked but whether the datatype is a builtin, whose handle is
 * below 2^31 and says its size; the bytes of others are counted here.  The same test tells whether
 * any rank is given up, which `failures` has its highest bit for. */
#define MPIDI_FAULTLOC_FAILURES (*(volatile uint32_t *) &MPIDI_faultloc_page.slot.failures)
#define MPIDI_FAULTLOC_LOG_UNUSUAL(count, datatype) \
    if (unlikely((int32_t) ((uint32_t) (datatype) | MPIDI_FAULTLOC_FAILURES) < 0)) { \
        faultloc_alarm = MPIDI_FAULTLOC_FAILURES != 0; /* read again, else it takes a register */ \
        if ((int32_t) (datatype) < 0) { \
            MPI_Aint bytes_; \
            MPIR_Datatype_get_size_macro(datatype, bytes_); \
            m_->count = (uint64_t) ((count) * bytes_); \
            m_->datatype = 0; \
        } \
    }
#define MPIDI_FAULTLOC_LOG(type, count, datatype, rank, tag) \
    int faultloc_alarm = 0; \
    FAULTLOC_RING_WRITE(&MPIDI_faultloc_page.page.ring, type, count, datatype, tag, \
                        faultloc_context, rank, MPIDI_FAULTLOC_LOG_UNUSUAL(count, datatype))
#define MPIDI_FAULTLOC_LOG_SEND(count, datatype, rank, tag, comm, offset) \
    const uint32_t faultloc_context = \
        (comm)->context_id + (uint32_t) MPIDI_FAULTLOC_OFFSET(offset); \
    MPIDI_FAULTLOC_LOG(FAULTLOC_RING_SEND, count, datatype, rank, tag)
#define MPIDI_FAULTLOC_LOG_RECV(count, datatype, rank, tag, comm, offset) \
    const uint32_t faultloc_context = \
        (comm)->recvcontext_id + (uint32_t) MPIDI_FAULTLOC_OFFSET(offset); \
    MPIDI_FAULTLOC_LOG(FAULTLOC_RING_RECV, count, datatype, rank, tag)

/* True, after the message was noted: the peer is given up, or the collective operation that it is of
 * fails, and *req is a request that has failed. */
#define MPIDI_FAULTLOC_REFUSED(kind, av, req) \
    (unlikely(faultloc_alarm) && \
     (*(req) = MPIDI_faultloc_refused(kind, av, comm, tag, faultloc_context)) != NULL)

#define MPIDI_FAULTLOC_REFUSED_COLL(av, req, errflag) \
    (MPIDI_FAULTLOC_REFUSED(MPIR_REQUEST_KIND__SEND, av, req) && \
     (*(errflag) = MPIR_ERR_PROC_FAILED, 1))

/* Where a probe begins: whether one of that source fails. */
#define MPIDI_FAULTLOC_PROBE_CHECK(comm, av) \
    do { \
        if (unlikely(MPIDI_faultloc_page.slot.failures)) { \
            mpi_errno = MPIDI_faultloc_probe_error(comm, av); \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)

/* What stands for the address of any source: the communicator, which UCX and OFI do not keep
 * either, one byte on. It is never used as an address, but noted with the request as peers are. */
#define MPIDI_FAULTLOC_ANY(comm) ((MPIDI_av_entry_t *) (void *) ((char *) (comm) + 1))

#endif /* MPIDI_FAULTLOC_PT2PT */

/* One turn of the wait loop that brought nothing, and will be followed by another.  255 of 256 cost
 * an increment; at the others (every 50 us or so) the wait is noted in the slot, with the request
 * where it is one that is waited for, and the rank looks whether the job is to end, and answers
 * what the agent asks (mpi/waits/waits.c).  `reqs` are those, `n` of them, that must all be complete;
 * NULL: there is no more than `req`.
 *
 * The macros for turns stand for MPICH's yield, too: where there may be other threads, these get
 * the global lock here, and can tell meanwhile what this one waits for. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
#define MPIDI_FAULTLOC_LETS_OTHERS MPIR_IS_THREADED
#define MPIDI_FAULTLOC_YIELD do { } while (0)
#else
#define MPIDI_FAULTLOC_LETS_OTHERS 0
#define MPIDI_FAULTLOC_YIELD MPIDI_PROGRESS_YIELD()
#endif
#define MPIDI_FAULTLOC_HAS_TURN \
    unlikely((++MPIDI_faultloc_page.slot.spins & 255) == 0 || MPIDI_FAULTLOC_LETS_OTHERS)
#define MPIDI_FAULTLOC_TURN(wait) \
    do { \
        if (MPIDI_FAULTLOC_HAS_TURN) { \
            mpi_errno = wait; \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)
#define MPIDI_FAULTLOC_WAIT_TURN(req, reqs, n) \
    do { \
        MPIDI_FAULTLOC_TURN(MPIDI_faultloc_wait(req, reqs, n)); \
        MPIDI_FAULTLOC_YIELD; \
    } while (0)

#define MPIDI_FAULTLOC_PROGRESS_WAIT(state, req) MPIDI_progress_wait(state, req, NULL, 0)
#define MPIDI_FAULTLOC_WAIT_ALL(state, reqs, i, count) \
    MPIDI_faultloc_wait_all(state, (reqs) + (i), (count) - (i))
#define MPIDI_FAULTLOC_WAIT_EITHER(state, one, other) \
    MPIDI_faultloc_wait_either(state, &(one), &(other))

/* The same where one of the requests suffices. */
#define MPIDI_FAULTLOC_WAIT_ANY_TURN(reqs, n) \
    MPIDI_FAULTLOC_TURN(MPIDI_faultloc_wait_one_of(reqs, n))

/* A call returns without what it asked for: all of the requests, or one of them.  Who asks again
 * and again waits, too. */
extern uint32_t MPIDI_faultloc_asked MPIDI_FAULTLOC_HIDDEN; /* the agent waits for an answer */
#define MPIDI_FAULTLOC_POLLED(mode, reqs, n) \
    do { \
        MPIDI_faultloc_page.slot.polls++; \
        if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_asked)) \
            MPIDI_faultloc_polled(MPIDI_FAULTLOC_FOR_##mode, reqs, n); \
    } while (0)
#define MPIDI_FAULTLOC_FOR_ALL 1
#define MPIDI_FAULTLOC_FOR_ONE 0

/* The same in the loops in which one-sided communication waits; they do not look for news.  Whom
 * the rank waits for is in the window; but for the group that MPI_Win_start waits for, and the
 * target of a lock.  Its type is kept where the target keeps what the program has asserted. */
#define MPIDI_FAULTLOC_RMA_TURN(win) \
    do { \
        (void) MPIDI_FAULTLOC_NEWS(); \
        MPIDI_faultloc_rma.window = (win); \
        MPIDI_FAULTLOC_TURN(MPIDI_faultloc_wait_rma()); \
    } while (0)
/* A one-sided operation begins. */
int MPIDI_faultloc_target_error(struct MPIR_Win *win, int target) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_RMA_TARGET(win, target) \
    do { \
        if (unlikely(MPIDI_faultloc_page.slot.failures)) { \
            mpi_errno = MPIDI_faultloc_target_error(win, target); \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)
#define MPIDI_FAULTLOC_RMA_POLLED(win) \
    do { \
        MPIDI_faultloc_rma.window = (win); \
        MPIDI_FAULTLOC_POLLED(ALL, NULL, 0); \
    } while (0)
#define MPIDI_FAULTLOC_RMA_GROUP(group_) (MPIDI_faultloc_rma.group = (group_))
#define MPIDI_FAULTLOC_EXCLUSIVE 0x40000000u /* far above MPI_MODE_... */
#define MPIDI_FAULTLOC_RMA_LOCK(target_, type) \
    do { \
        MPIDI_faultloc_rma.target = (target_); \
        if ((type) == MPI_LOCK_EXCLUSIVE) \
            (target_)->sync.assert_mode |= MPIDI_FAULTLOC_EXCLUSIVE; \
        else \
            (target_)->sync.assert_mode &= ~MPIDI_FAULTLOC_EXCLUSIVE; \
    } while (0)
struct MPIDI_faultloc_rma {
    struct MPIR_Win *window;
    struct MPIR_Group *group;
    struct MPIDIG_win_target *target; /* of the lock that was asked for last; it may be freed */
};
extern struct MPIDI_faultloc_rma MPIDI_faultloc_rma MPIDI_FAULTLOC_HIDDEN;

/*
 * The last two collective operations of a communicator, in the communicator itself
 * (mpi/observe/collectives.c).  The bindings note one once its arguments are checked, before anything of it
 * is done: one addition, of which the sign says whether there is more to note, and with faultloc on
 * six or seven stores.  The lowest byte of the count is where they go, so that finding it takes one
 * instruction.  A datatype is noted as it is; what it said is kept when it is freed, which is rare.
 */
struct MPIDI_faultloc_coll {
    uint64_t stamp;    /* the slot's `call` then: which communicator was used last */
    union {
        int32_t count;
        int64_t large; /* with FAULTLOC_COLL_LARGE; bytes, where there is no datatype */
    } size;
    int32_t datatype;  /* 0: of the program's own, and freed */
    uint32_t call;     /* identifier of the function, FAULTLOC_COLL_... above it: what is noted */
    int32_t root, op;
};
struct MPIDI_faultloc_colls {
    int64_t begun; /* how many steps; below 0: from INT64_MIN on, and all else is noted */
    struct MPIDI_faultloc_coll last[5]; /* those of even numbers at the first, of odd at the last */
};
#define FAULTLOC_COLL_STEP 128 /* the last is so far from the first; twice that is 0 in a byte */
#define FAULTLOC_COLL_LAST(colls) \
    ((struct MPIDI_faultloc_coll *) (void *) ((char *) (colls)->last + (uint8_t) (colls)->begun))
#define FAULTLOC_COLL_BEGUN(colls) ((uint32_t) ((uint64_t) (colls)->begun / FAULTLOC_COLL_STEP))
#define FAULTLOC_COLL_ROOT (1u << FAULTLOC_CALL_BITS)
#define FAULTLOC_COLL_OP (2u << FAULTLOC_CALL_BITS)
#define FAULTLOC_COLL_SIZE (4u << FAULTLOC_CALL_BITS)
#define FAULTLOC_COLL_LARGE (8u << FAULTLOC_CALL_BITS)
#define FAULTLOC_COLL_REQUEST (16u << FAULTLOC_CALL_BITS) /* nonblocking or persistent */

#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && defined(__OPTIMIZE__)
#define MPIDI_FAULTLOC_COLL_COUNT(begun, is_noted) \
    __asm__("addq %2, %1" : "=@ccs"(is_noted), "+m"(begun) : "i"(FAULTLOC_COLL_STEP))
#else
#define MPIDI_FAULTLOC_COLL_COUNT(begun, is_noted) \
    ((is_noted) = ((begun) += FAULTLOC_COLL_STEP) < 0)
#endif

/* A field of the record that is `at_` behind `first_`: of a communicator, with three addends, so
 * that the compiler is kept from adding them beforehand. */
#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__)
#define MPIDI_FAULTLOC_ANEW(at) __asm__("" : "+r"(at))
#else
#define MPIDI_FAULTLOC_ANEW(at) do { } while (0)
#endif
#define MPIDI_FAULTLOC_COLL_PUT(field, value) \
    do { \
        ((struct MPIDI_faultloc_coll *) (void *) ((char *) first_ + at_))->field = (value); \
        MPIDI_FAULTLOC_ANEW(at_); \
    } while (0)

/* `what` are those of the four below that the function has. */
#define MPIDI_FAULTLOC_COLL_NOTE(what) \
    do { \
        uint32_t call_ = MPIDI_FAULTLOC_CALL_ID(__func__); \
        what \
        MPIDI_FAULTLOC_COLL_PUT(call, call_); \
    } while (0)
#define MPIDI_FAULTLOC_HAS_REQUEST call_ |= FAULTLOC_COLL_REQUEST;
#define MPIDI_FAULTLOC_HAS_ROOT(root_) \
    call_ |= FAULTLOC_COLL_ROOT; MPIDI_FAULTLOC_COLL_PUT(root, root_);
#define MPIDI_FAULTLOC_HAS_OP(op_) call_ |= FAULTLOC_COLL_OP; MPIDI_FAULTLOC_COLL_PUT(op, op_);
#define MPIDI_FAULTLOC_HAS_SIZE(n_, type_) \
    call_ |= FAULTLOC_COLL_SIZE; \
    if (sizeof(n_) > sizeof(int32_t)) { \
        call_ |= FAULTLOC_COLL_LARGE; \
        MPIDI_FAULTLOC_COLL_PUT(size.large, (int64_t) (n_)); \
    } else { \
        MPIDI_FAULTLOC_COLL_PUT(size.count, (int32_t) (n_)); \
    } \
    MPIDI_FAULTLOC_COLL_PUT(datatype, type_);

#define MPIDI_FAULTLOC_COLL(comm, what) \
    do { \
        struct MPIDI_faultloc_colls *colls_ = &MPIDI_COMM(comm, faultloc_colls); \
        int is_noted_; \
        MPIDI_FAULTLOC_COLL_COUNT(colls_->begun, is_noted_); \
        if (is_noted_) { \
            struct MPIDI_faultloc_coll *first_ = colls_->last; \
            uintptr_t at_ = (uint8_t) colls_->begun; \
            MPIDI_FAULTLOC_COLL_PUT(stamp, MPIDI_faultloc_page.slot.call); \
            MPIDI_FAULTLOC_COLL_NOTE(what); \
        } \
    } while (0)

/* A persistent request is made. */
#define MPIDI_FAULTLOC_COLL_INIT(req, what) \
    do { \
        if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) { \
            struct MPIDI_faultloc_coll made_ = { 0 }, *first_ = &made_; \
            uintptr_t at_ = 0; \
            MPIDI_FAULTLOC_COLL_NOTE(what); \
            MPIDI_faultloc_coll_init(req, &made_); \
        } \
    } while (0)
#define MPIDI_FAULTLOC_TYPE_FREE(type) MPIDI_faultloc_type_free(type)
/* The request of a collective operation: of which communicator, and the n-th there. */
#define MPIDI_FAULTLOC_COLL_REQUEST(req, comm) \
    do { \
        MPIDI_REQUEST(req, faultloc_peer) = (comm); \
        MPIDI_REQUEST(req, faultloc_serial) = \
            FAULTLOC_COLL_BEGUN(&MPIDI_COMM(comm, faultloc_colls)); \
    } while (0)

extern uint32_t MPIDI_faultloc_notes MPIDI_FAULTLOC_HIDDEN; /* faultloc is on, MPI_Init is over */

/* A receive has ended well, and its status says of what: the message counts.  Where UCX counts there
 * is no shared memory of MPICH's, and it says so by a callback (faultloc_ucx.h). */
#if defined(HAVE_CH4_NETMOD_OFI)
#define MPIDI_FAULTLOC_RECEIVED(req, context) \
    do { \
        if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) \
            MPIDI_faultloc_received(req, context); \
    } while (0)
/* The same where MPICH has other things in place of the context by then (5.0): it is kept when the
 * message comes. */
#define MPIDI_FAULTLOC_MATCHED(req, context) \
    (MPIDI_REQUEST(req, faultloc_context) = (uint32_t) (context))
#define MPIDI_FAULTLOC_RECEIVED_MATCHED(req) \
    MPIDI_FAULTLOC_RECEIVED(req, MPIDI_REQUEST(req, faultloc_context))
void MPIDI_faultloc_received(struct MPIR_Request *req, uint32_t context) MPIDI_FAULTLOC_HIDDEN;
#else
#define MPIDI_FAULTLOC_RECEIVED(req, context) do { } while (0)
#define MPIDI_FAULTLOC_MATCHED(req, context) do { } while (0)
#define MPIDI_FAULTLOC_RECEIVED_MATCHED(req) do { } while (0)
#endif
void MPIDI_faultloc_type_free(const struct MPIR_Datatype *type) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_coll_init(struct MPIR_Request *req, const struct MPIDI_faultloc_coll *made)
    MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_comm_init(struct MPIR_Comm *comm) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_comm_free(struct MPIR_Comm *comm) MPIDI_FAULTLOC_HIDDEN;

/* Of a communicator also, how many of the job's failures the program has acknowledged for it, in how
 * many a member of it was looked for, and the first that was found; and with faultloc on all
 * communicators are in a list. */
#define MPIDI_FAULTLOC_COMM_DECL \
    int faultloc_acked, faultloc_looked; \
    int32_t faultloc_lost; \
    struct MPIDI_faultloc_colls faultloc_colls; \
    struct MPIR_Comm *faultloc_prev, *faultloc_next;
#define MPIDI_FAULTLOC_COMM_INIT(comm) MPIDI_faultloc_comm_init(comm)
#define MPIDI_FAULTLOC_COMM_FREE(comm) MPIDI_faultloc_comm_free(comm)

/* MPI_T keeps the event of faultloc, also where MPICH was configured to keep none of its own. */
#if defined(HAVE_MPIT_EVENTS)
#define MPIDI_FAULTLOC_KEEPS_EVENT(name) 1
#else
#define MPIDI_FAULTLOC_KEEPS_EVENT(name) (!strcmp(name, "FAULTLOC"))
#endif

/*
 * Ranks that are given up (mpi/fail/failed.c).  The agent sets two words in every slot of its node:
 * `failures`, which is asked when an operation begins, and `news`, when MPICH turns its progress.
 * In a healthy job both are tests of a word in memory, and never true.
 */
#define MPIDI_FAULTLOC_NEWS() \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_page.slot.news) && (MPIDI_faultloc_news(), 1))
#define MPIDI_FAULTLOC_SET_NEWS() (MPIDI_faultloc_page.slot.news = 1)

/* A receive from any source that cannot come true until the program has acknowledged a failure, and
 * the error of what waits for it. */
#define MPIDI_FAULTLOC_ANY_FAILS(req) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_page.slot.failures) && MPIDI_faultloc_any_fails(req))
#define MPIDI_FAULTLOC_ANY_ERROR(req) MPIDI_faultloc_any_error(req)
#define MPIDI_FAULTLOC_ANY_MISMATCHED(req) MPIDI_FAULTLOC_ANY_FAILS(req)

/* A send that is complete has failed. */
#define MPIDI_FAULTLOC_SEND_FAILED(req) \
    ((req) && (req)->kind == MPIR_REQUEST_KIND__SEND && \
     unlikely((req)->status.MPI_ERROR != MPI_SUCCESS))

/* A part of a collective operation is complete: whether its status says how it went.  What another
 * member tells of a lost rank is a class alone. */
void MPIDI_faultloc_told_lost(struct MPIR_Request *req) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_STATUS_COUNTS(req) \
    (unlikely((req)->status.MPI_ERROR == MPIX_ERR_PROC_FAILED) ? \
     MPIDI_faultloc_told_lost(req), 1 : \
     (req)->kind == MPIR_REQUEST_KIND__RECV || MPIDI_FAULTLOC_SEND_FAILED(req))

/* The error of a send that MPI_Bsend has begun, which nobody asks later; the request is freed. */
#define MPIDI_FAULTLOC_BSEND_ERROR(req) \
    (MPIDI_FAULTLOC_SEND_FAILED(req) ? MPIDI_faultloc_bsend_error(req) : MPI_SUCCESS)

/* Leaves a collective operation in shared memory which a lost rank will not go on with. */
#define MPIDI_FAULTLOC_MEMBER_CHECK(comm) \
    if (unlikely(MPIDI_faultloc_page.slot.failures)) { \
        MPIDI_FAULTLOC_LEAVE_COLL(MPIDI_faultloc_member_error(comm)); \
    }

int MPIDI_faultloc_failure_ack(struct MPIR_Comm *comm) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_failure_get_acked(struct MPIR_Comm *comm, struct MPIR_Group **group)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_verdicts(char *json, int *len) MPIDI_FAULTLOC_HIDDEN;
/* Both are all that the function does. */
#define MPIDI_FAULTLOC_FAILURE_ACK(comm) return MPIDI_faultloc_failure_ack(comm)
#define MPIDI_FAULTLOC_FAILURE_GET_ACKED(comm, group) \
    return MPIDI_faultloc_failure_get_acked(comm, group)
#define MPIDI_FAULTLOC_VERDICTS(json, len) MPIDI_faultloc_verdicts(json, len)
void MPIDI_faultloc_news(void) MPIDI_FAULTLOC_HIDDEN;
struct MPIR_Request *MPIDI_faultloc_refused(int kind, struct MPIDI_av_entry *av,
                                            struct MPIR_Comm *comm, int tag, uint32_t context)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_probe_error(struct MPIR_Comm *comm, struct MPIDI_av_entry *av)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_any_fails(struct MPIR_Request *req) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_any_error(struct MPIR_Request *req) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_member_error(struct MPIR_Comm *comm) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_bsend_error(struct MPIR_Request *req) MPIDI_FAULTLOC_HIDDEN;
/* A rank of the world that is given up, or that the transport has lost. */
int MPIDI_faultloc_rank_is_lost(int rank) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_before_abort(struct MPIR_Comm *comm, int mpi_errno, int code,
                                 const char *text) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_BEFORE_ABORT(comm, mpi_errno, code, text) \
    MPIDI_faultloc_before_abort(comm, mpi_errno, code, text)
/* The program is about to learn of an error, or is ended by it. */
#define MPIDI_FAULTLOC_ERROR(error_class) \
    do { \
        if ((error_class) == MPIX_ERR_PROC_FAILED) \
            MPIDI_faultloc_note_failure(); \
    } while (0)
void MPIDI_faultloc_note_failure(void) MPIDI_FAULTLOC_HIDDEN;
/* MPI_Abort on a part of the job: the message that ends the others says whose it is. */
#define MPIDI_FAULTLOC_ABORT_DECL int faultloc_rank;
#define MPIDI_FAULTLOC_ABORT_BY(comm, hdr) ((hdr).faultloc_rank = MPIDI_faultloc_abort_by(comm))
#define MPIDI_FAULTLOC_ABORTED(hdr) \
    MPIDI_faultloc_aborted((hdr)->faultloc_rank, (hdr)->exit_code)
int MPIDI_faultloc_abort_by(struct MPIR_Comm *comm) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_aborted(int rank, int code) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_wait(struct MPIR_Request *req, struct MPIR_Request **reqs, int n)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_wait_rma(void) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_wait_one_of(struct MPIR_Request **reqs, int n) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_wait_probe(struct MPIR_Comm *comm, int offset, int source, int tag)
    MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_probed(struct MPIR_Comm *comm, int offset, int source, int tag)
    MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_polled(int for_all, struct MPIR_Request **reqs, int n) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_register_event(void) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_start(void) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_start_by(struct MPIR_Comm *comm) MPIDI_FAULTLOC_HIDDEN;
/* MPICH ends the job where a control variable is no number; where it is one of faultloc's, that is
 * said and the default is used.  In parentheses the name means MPICH's function. */
int MPIDI_faultloc_env2int(const char *name, int *value) MPIDI_FAULTLOC_HIDDEN;
#define MPL_env2int(name, value) MPIDI_faultloc_env2int(name, value)
int MPIDI_faultloc_peer_is_lost(void) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_progress_thread(void) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_finalizing(void) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_last_words(void) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_answer_at_end(void) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_stop(void) MPIDI_FAULTLOC_HIDDEN;
void MPIDI_faultloc_aborting(int state) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_START() MPIDI_faultloc_start()
/* A session has made a communicator. */
#define MPIDI_FAULTLOC_START_BY(comm) MPIDI_faultloc_start_by(comm)
#define MPIDI_FAULTLOC_PROGRESS_THREAD() MPIDI_faultloc_progress_thread()
#define MPIDI_FAULTLOC_FINALIZING() (MPIDI_faultloc_finalizing(), MPIDI_faultloc_last_words())
#define MPIDI_FAULTLOC_STOP() MPIDI_faultloc_stop()
#define MPIDI_FAULTLOC_PEER_IS_LOST() MPIDI_faultloc_peer_is_lost()
/* The process manager's barrier in MPI_Finalize, which is left where a peer is lost. */
int MPIDI_faultloc_finalize_barrier(void) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_FINALIZE_BARRIER() MPIDI_faultloc_finalize_barrier()

#else

#define MPIDI_FAULTLOC_INITIALIZED_ORDIE() MPIR_ERRTEST_INITIALIZED_ORDIE()
#define MPIDI_FAULTLOC_CALL_ENTER
#define MPIDI_FAULTLOC_CALL_ENTER_EARLY
#define MPIDI_FAULTLOC_CALL_EXIT
#define MPIDI_FAULTLOC_REQUEST_DECL
#define MPIDI_FAULTLOC_MATCHED(req, context) do { } while (0)
#define MPIDI_FAULTLOC_RECEIVED_MATCHED(req) do { } while (0)
#define MPIDI_FAULTLOC_RECEIVED(req, context) do { } while (0)
#define MPIDI_FAULTLOC_IS_DONE(req) 0
#define MPIDI_FAULTLOC_WAIT_TURN(req, reqs, n) MPIDI_PROGRESS_YIELD()
#define MPIDI_FAULTLOC_WAIT_ANY_TURN(reqs, n) \
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX)
#define MPIDI_FAULTLOC_POLLED(mode, reqs, n) do { } while (0)
#define MPIDI_FAULTLOC_PROGRESS_WAIT(state, req) MPID_Progress_wait(state)
#define MPIDI_FAULTLOC_WAIT_ALL(state, reqs, i, count) MPID_Progress_wait(state)
#define MPIDI_FAULTLOC_WAIT_EITHER(state, one, other) MPID_Progress_wait(state)
#define MPIDI_FAULTLOC_NEWS() 1
#define MPIDI_FAULTLOC_SET_NEWS() do { } while (0)
#define MPIDI_FAULTLOC_ANY_FAILS(req) 0
#define MPIDI_FAULTLOC_ANY_ERROR(req) MPI_SUCCESS
#define MPIDI_FAULTLOC_SEND_FAILED(req) 0
#define MPIDI_FAULTLOC_STATUS_COUNTS(req) ((req)->kind == MPIR_REQUEST_KIND__RECV)
#define MPIDI_FAULTLOC_MEMBER_CHECK(comm) do { } while (0)
#define MPIDI_FAULTLOC_BSEND_ERROR(req) MPI_SUCCESS
#define MPIDI_FAULTLOC_BEFORE_ABORT(comm, mpi_errno, code, text) do { } while (0)
#define MPIDI_FAULTLOC_ERROR(error_class) do { } while (0)
#define MPIDI_FAULTLOC_ABORT_DECL
#define MPIDI_FAULTLOC_ABORT_BY(comm, hdr) do { } while (0)
#define MPIDI_FAULTLOC_ABORTED(hdr) do { } while (0)
#define MPIDI_FAULTLOC_START() MPI_SUCCESS
#define MPIDI_FAULTLOC_START_BY(comm) MPI_SUCCESS
#define MPIDI_FAULTLOC_PROGRESS_THREAD() do { } while (0)
#define MPIDI_FAULTLOC_FINALIZING() do { } while (0)
#define MPIDI_FAULTLOC_STOP() do { } while (0)
#define MPIDI_FAULTLOC_PEER_IS_LOST() 0
#define MPIDI_FAULTLOC_FINALIZE_BARRIER() MPIR_pmi_barrier()
#define MPIDI_FAULTLOC_COMM_DECL
#define MPIDI_FAULTLOC_COMM_INIT(comm) do { } while (0)
#define MPIDI_FAULTLOC_COMM_FREE(comm) do { } while (0)
#define MPIDI_FAULTLOC_COLL(comm, what) do { } while (0)
#define MPIDI_FAULTLOC_COLL_INIT(req, what) do { } while (0)
#define MPIDI_FAULTLOC_TYPE_FREE(type) do { } while (0)
#define MPIDI_FAULTLOC_COLL_REQUEST(req, comm) do { } while (0)
#define MPIDI_FAULTLOC_RMA_TURN(win) \
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX)
#define MPIDI_FAULTLOC_RMA_TARGET(win, target) do { } while (0)
#define MPIDI_FAULTLOC_RMA_POLLED(win) do { } while (0)
#define MPIDI_FAULTLOC_RMA_GROUP(group) do { } while (0)
#define MPIDI_FAULTLOC_RMA_LOCK(target, type) do { } while (0)
#if defined(HAVE_MPIT_EVENTS)
#define MPIDI_FAULTLOC_KEEPS_EVENT(name) 1
#else
#define MPIDI_FAULTLOC_KEEPS_EVENT(name) 0
#endif
#define MPIDI_FAULTLOC_FAILURE_ACK(comm) do { } while (0)
#define MPIDI_FAULTLOC_FAILURE_GET_ACKED(comm, group) do { } while (0)
#define MPIDI_FAULTLOC_VERDICTS(json, len) MPI_ERR_UNSUPPORTED_OPERATION

#endif /* ENABLE_FAULTLOC */

#if !defined(MPIDI_FAULTLOC_PT2PT)
#define MPIDI_FAULTLOC_LOG_SEND(count, datatype, rank, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_LOG_RECV(count, datatype, rank, tag, comm, offset) do { } while (0)
#define MPIDI_FAULTLOC_REQUEST_PEER(req, av) do { } while (0)
#define MPIDI_FAULTLOC_REQUEST_AV(req, av) do { } while (0)
#define MPIDI_FAULTLOC_REFUSED(kind, av, req) 0
#define MPIDI_FAULTLOC_REFUSED_COLL(av, req, errflag) 0
#define MPIDI_FAULTLOC_PROBE_CHECK(comm, av) do { } while (0)
#define MPIDI_FAULTLOC_ANY(comm) NULL
#endif

#endif /* FAULTLOC_SEAM_H_INCLUDED */
