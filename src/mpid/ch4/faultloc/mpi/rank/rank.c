/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/rank/rank.h"

#include "faultloc/seam/faultloc_sums.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/say.h"

#include <pthread.h>
#include <sys/prctl.h>

union MPIDI_faultloc_page MPIDI_faultloc_page __attribute__((aligned(FAULTLOC_SLOT_ALIGN))) = {
#ifdef MPIDI_FAULTLOC_OWN_CALL
    .slot = {.call = FAULTLOC_CALL_UNUSUAL,.call_of_all = FAULTLOC_CALL_UNUSUAL}
#else
    .slot = {.call = FAULTLOC_CALL_UNUSUAL}
#endif
};
#ifdef MPIDI_FAULTLOC_OWN_CALL
_Thread_local uint32_t MPIDI_faultloc_own_call;
#endif
uint32_t MPIDI_faultloc_notes;
struct MPIDI_faultloc_sums_table MPIDI_faultloc_sums = {
    .factor = FAULTLOC_MARK_FACTOR,.flips = FAULTLOC_MARK_FLIPS,
    .key = FAULTLOC_KEY(UINT16_MAX, UINT32_MAX)
};

static struct {
    struct faultloc_board *board; /* NULL: faultloc is off */
    bool is_on;                 /* from the end of MPI_Init until the rank leaves */
    bool is_child;              /* of fork(): not the rank, which has the slot */
    int32_t slot;               /* its place on the board */
    struct faultloc_job job;
} local;

/* ---- calls ----------------------------------------------------------------------------------- */

#ifdef MPIDI_FAULTLOC_OWN_CALL

/* One thread at a time: from here on the word alone is added to. */
static void settle_call(struct faultloc_slot *slot)
{
    slot->call = MPIDI_FAULTLOC_CALL;
    slot->call_of_all = 0;
}

void MPIDI_faultloc_enter_unusual(uint32_t id)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;

    if (!slot->call_of_all) {
        slot->call &= ~FAULTLOC_CALL_UNUSUAL;
        return;
    }
    MPIDI_FAULTLOC_ADD_FOR_ALL(id);
    slot->call = FAULTLOC_CALL_UNUSUAL; /* far from the end, whatever was added at once */
    if (!(slot->call_of_all & FAULTLOC_CALL_UNUSUAL))
        __atomic_fetch_or(&slot->call_of_all, FAULTLOC_CALL_UNUSUAL, __ATOMIC_RELAXED);
    if (MPL_atomic_load_int(&MPIR_Process.mpich_state) == MPICH_MPI_STATE__INITIALIZED &&
        MPIR_ThreadInfo.thread_provided != MPI_THREAD_MULTIPLE)
        settle_call(slot);
}

/* MPI ends: the next call asks whether it has begun again. */
static void unsettle_call(void)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;

    if (slot->call_of_all)
        return;
    MPIDI_faultloc_own_call = (uint32_t) slot->call;
    slot->call |= FAULTLOC_CALL_UNUSUAL;
    slot->call_of_all = slot->call;
}

#else

void MPIDI_faultloc_enter_unusual(uint32_t id)
{
    (void) id;
    if (MPL_atomic_load_int(&MPIR_Process.mpich_state) == MPICH_MPI_STATE__INITIALIZED)
        MPIDI_faultloc_page.slot.call &= ~FAULTLOC_CALL_UNUSUAL;
}

static void unsettle_call(void)
{
    MPIDI_faultloc_page.slot.call |= FAULTLOC_CALL_UNUSUAL;
}

#endif

/* ---- start ----------------------------------------------------------------------------------- */

void MPIDI_faultloc_take_board(struct faultloc_board *b)
{
    local.board = b;
}

static void fill_slot(void)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;
    struct faultloc_proc proc = { 0 };

    faultloc_proc_read(NULL, getpid(), &proc);
    slot->rank = MPIR_Process.rank;
    slot->pid = (int32_t) getpid();
    slot->start = proc.start;
    slot->many_threads = MPIR_ThreadInfo.thread_provided == MPI_THREAD_MULTIPLE;
    slot->state = FAULTLOC_SLOT_RUNNING;
}

/* Once there, they stay: a message may still come when the rank has left. */
static bool make_sums(void)
{
    size_t size = (size_t) MPIR_Process.size;

    MPIDI_faultloc_sums.row = MPL_calloc(size + 1, sizeof(*MPIDI_faultloc_sums.row), MPL_MEM_OTHER);
    MPIDI_faultloc_sums.first = MPIDI_global.avt_mgr.av_table0->table;
    MPIDI_faultloc_sums.ranks = size;
    if (!MPIDI_faultloc_sums.row)
        faultloc_say("rank %d: out of memory", MPIR_Process.rank);
    return MPIDI_faultloc_sums.row != NULL;
}

bool MPIDI_faultloc_map_slot(int fd, int32_t slot)
{
    int rc = faultloc_board_map_slot(local.board, fd, slot, &MPIDI_faultloc_page);

    if (rc) {
        faultloc_say("rank %d: cannot map its slot: %s", MPIR_Process.rank, strerror(rc));
        return false;
    }
    local.slot = slot;
    fill_slot();
    rc = faultloc_job_describe(local.board, &local.job);
    if (rc)
        faultloc_say("rank %d: cannot read the board: %s", MPIR_Process.rank, strerror(rc));
    return rc == 0 && make_sums();
}

/* Where Yama lets only ancestors trace (kernel.yama.ptrace_scope = 1), a process may name another
 * one that may, with the processes that it starts.  There is one such place: a transport that
 * copies between processes may have named all of them already (UCX does), which must stay; then the
 * agent does not ask for more. */
void MPIDI_faultloc_permit_tracer(void)
{
    static int32_t permitted;
    int32_t tracer = MPIDI_faultloc_page.slot.tracer;

    if (tracer <= 0 || tracer == permitted || tracer != local.board->agent_pid)
        return;
    permitted = tracer;
    (void) prctl(PR_SET_PTRACER, (unsigned long) tracer, 0, 0, 0);
}

/* ---- children of fork() ---------------------------------------------------------------------- */

/* Who has left goes on in nobody, as far as the agent is concerned. */
static bool has_left(void)
{
    return !local.board || MPIDI_faultloc_page.slot.state >= FAULTLOC_SLOT_LEFT;
}

/* For the agent, if the rank ends: the child may not run before that. */
static void before_fork(void)
{
    if (!has_left())
        faultloc_board_wait_area(local.board, local.slot)->forks++;
}

/* The child's calls are not the rank's: they would change the rank's words, and of two processes
 * that add to one at a time one addition is lost. */
static void in_child(void)
{
    struct faultloc_wait_area *area;

    if (has_left())
        return;
    area = faultloc_board_wait_area(local.board, local.slot);
    area->heir = (int32_t) getpid();
    area->born++;
    if (!local.is_child)
        local.is_child = faultloc_board_leave_slot(local.board, &MPIDI_faultloc_page) == 0;
}

static bool rank_has_ended(const struct faultloc_slot *slot)
{
    return slot->state < FAULTLOC_SLOT_LEFT &&
        (slot->pid == (int32_t) getpid() ||
         faultloc_proc_fate(NULL, slot->pid, slot->start) == FAULTLOC_PROC_GONE);
}

/* A program that becomes a daemon goes on in its child: that is the rank then, and has the slot. */
void MPIDI_faultloc_go_on(void)
{
    struct faultloc_slot *own = &MPIDI_faultloc_page.slot;
    struct faultloc_proc proc = { 0 };

    if (!local.is_child || !local.board ||
        !rank_has_ended(faultloc_board_slot(local.board, local.slot)))
        return;
    faultloc_proc_read(NULL, getpid(), &proc);
    own->pid = (int32_t) getpid();
    own->start = proc.start;
    local.is_child = faultloc_board_take_slot(local.board, local.slot, &MPIDI_faultloc_page) != 0;
}

void MPIDI_faultloc_begin(bool on)
{
    local.is_on = on;
    MPIDI_faultloc_notes = on;
    if (on) {
        (void) pthread_atfork(before_fork, NULL, in_child);
        MPIDI_faultloc_permit_tracer();
        (void) faultloc_board_protect(local.board, local.slot);
        return;
    }
    if (MPIR_Process.rank == 0)
        faultloc_say("disabled; the job continues without fault localization");
    if (MPIDI_faultloc_page.slot.state == FAULTLOC_SLOT_RUNNING)
        MPIDI_faultloc_page.slot.state = FAULTLOC_SLOT_LEFT;    /* to an agent that goes on */
    faultloc_job_free(&local.job);
    faultloc_board_unmap(local.board);
    local.board = NULL;
}

/* ---- what others ask ------------------------------------------------------------------------- */

struct faultloc_board *MPIDI_faultloc_mapped_board(void)
{
    return local.board;
}

struct faultloc_board *MPIDI_faultloc_board(void)
{
    return local.is_on ? local.board : NULL;
}

const struct ftree_job *MPIDI_faultloc_job(void)
{
    return local.is_on ? &local.job.job : NULL;
}

struct faultloc_wait_area *MPIDI_faultloc_wait_area(void)
{
    return local.board && !local.is_child ? faultloc_board_wait_area(local.board,
                                                                     local.slot) : NULL;
}

ftree_time MPIDI_faultloc_grace(void)
{
    return local.board ? local.board->settings.grace : 0;
}

/* True once a verdict says that a rank is gone for good: no use in waiting for it. */
int MPIDI_faultloc_peer_is_lost(void)
{
    return local.board && local.board->peer_lost;
}

/* ---- stop ------------------------------------------------------------------------------------ */

void MPIDI_faultloc_finalizing(void)
{
    MPIDI_faultloc_go_on();
    if (local.board)
        MPIDI_faultloc_page.slot.state = FAULTLOC_SLOT_FINALIZING;
}

/* The process ends the job or is ended by an error of MPI: no crash of its own. */
void MPIDI_faultloc_aborting(int state)
{
    MPIDI_faultloc_go_on();
    if (has_left())
        return;
    MPIDI_faultloc_page.slot.state = (uint32_t) state;
    local.is_on = false;
}

void MPIDI_faultloc_stop(void)
{
    unsettle_call();
    if (!local.board)
        return;
    MPIDI_faultloc_page.slot.state = FAULTLOC_SLOT_LEFT;
    local.is_on = false;
    MPIDI_faultloc_notes = 0;   /* MPI may begin again, at other addresses */
    if (local.board->settings.launcher[0])
        MPIDI_FAULTLOC_END_PMI();
    faultloc_job_free(&local.job);
}
