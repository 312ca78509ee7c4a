/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/watch.h"

#include "faultloc/base/proc.h"
#include "ftree/hang/hang.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define STILL_NS (1000 * FTREE_MS)
#define VICTIM_NS (5000 * FTREE_MS) /* longer than any verdict takes that it may be a victim of */
/* Whom another's MPI_Abort has ended is that one's victim until then, and who may have been ended with
 * all others is taken for that: launchers end a job sooner, and what ranks have said of each other before
 * they ended is asked about for a second. */
#define ABORTED_NS (1500 * FTREE_MS)
#define STATUS_TRIES 20 /* each a tenth of a millisecond */
#define HELD_NS (500 * FTREE_MS) /* no loop that runs takes so long to turn */
#define SOON_NS (25 * FTREE_MS) /* most stays outside MPI are over by then */
#define LOOKS_APART 4 /* distances of samples; beyond, this process did not run itself */
#define TURNS_NS (100 * FTREE_MS) /* two looks may follow at once, and no turn be between them */

/* Counts of calls come to their end and begin at 0 again. */
static bool has_grown(uint64_t count, uint64_t before)
{
    return (int64_t) ((count - before) << (FAULTLOC_CALL_BITS + 1)) > 0;
}

/* A call that is about to end in vain counts as such already, so for a moment there is one less. */
static void update_polls(struct faultloc_seen *seen, const struct faultloc_slot *slot,
                         ftree_time now)
{
    uint64_t useful = (slot->call >> FAULTLOC_CALL_BITS) - slot->polls;

    if (has_grown(useful, seen->useful) || seen->useful_since == 0) {
        seen->useful = useful;
        seen->useful_since = now;
    }
    if (slot->polls != seen->polls && seen->looked)
        seen->polled = now;
    seen->polls = slot->polls;
}

/* Notes what changed since the last look. */
static void update(struct faultloc_seen *seen, const struct faultloc_slot *slot, ftree_time now)
{
    if (slot->call != seen->call || seen->call_since == 0) {
        seen->call = slot->call;
        seen->call_since = now;
    }
    if (slot->spins != seen->spins || seen->spins_since == 0) {
        if (seen->spins_since)
            seen->turned = now;
        if (seen->spins_since && seen->looked - seen->spins_since >= HELD_NS &&
            slot->wait_since_ns <= seen->spins_since && slot->polls == seen->polls)
            seen->held = now; /* in the wait that it is in; who polls turns only to answer */
        seen->spins = slot->spins;
        seen->spins_since = now;
    }
    update_polls(seen, slot, now);
    seen->looked = now;
}

/* What a rank waited before it was seen to run again does not count. */
static ftree_time waits_since(const struct faultloc_seen *seen, ftree_time since)
{
    return since > seen->held ? since : seen->held;
}

static int32_t core_peer(int32_t peer)
{
    return peer == FAULTLOC_PEER_LOCAL ? FTREE_LOCAL : peer < 0 ? FTREE_NONE : peer;
}

/* Whether the loop that noted a wait still turns. */
static bool is_turning(const struct faultloc_seen *seen, const struct faultloc_slot *slot,
                       ftree_time now)
{
    if (slot->many_threads)
        return seen->turned && now - seen->turned < TURNS_NS;
    return now - seen->spins_since < STILL_NS;
}

static void judge_wait(const struct faultloc_seen *seen, const struct faultloc_slot *slot,
                       ftree_time now, struct ftree_rank_state *state)
{
    bool noted = slot->wait_since_ns && slot->wait_since_ns <= now &&
                 (slot->many_threads || slot->wait_call == slot->call);
    ftree_time since;

    if (noted && is_turning(seen, slot, now)) {
        state->phase = FTREE_PHASE_WAITING;
        state->peer = core_peer(slot->wait_peer);
        state->waiting = now - waits_since(seen, slot->wait_since_ns);
        return;
    }
    if (slot->many_threads) /* which of their calls makes no progress is not known */
        return;
    since = seen->call_since > seen->spins_since ? seen->call_since : seen->spins_since;
    state->phase = FTREE_PHASE_INSIDE;
    state->waiting = now - waits_since(seen, since);
}

/* It has no wait of its own, but asks again and again: of many threads one does at least, and the
 * rank says what the others do when it is asked. */
static void judge_polls(const struct faultloc_seen *seen, ftree_time now,
                        struct ftree_rank_state *state)
{
    if (state->phase == FTREE_PHASE_WAITING || !seen->polled || now - seen->polled >= TURNS_NS)
        return;
    state->phase = FTREE_PHASE_WAITING;
    state->waiting = now - waits_since(seen, seen->useful_since);
}

/* It may have gone on before its wait channel was read. */
static bool is_frozen(const struct faultloc_watch *w, int32_t pid, const char *wchan,
                      const struct faultloc_proc *proc)
{
    struct faultloc_proc again;

    return faultloc_proc_is_frozen(proc->state, wchan) &&
           faultloc_proc_read(w->proc_root, pid, &again) == 0 && again.state == proc->state &&
           again.done == proc->done;
}

/* Who looks after the group may give it memory, or the kernel end another process of it: only what
 * lasts is a fault. */
static bool is_held(struct faultloc_seen *seen, ftree_time now, const char *wchan,
                    const struct faultloc_proc *proc)
{
    bool held = proc->state == 'D' && !proc->ending && faultloc_proc_awaits_memory(wchan);

    if (!held)
        seen->lacks = 0;
    else if (!seen->lacks || seen->lacks_done != proc->done)
        seen->lacks = now;
    seen->lacks_done = proc->done;
    return held && now - seen->lacks >= STILL_NS;
}

/* One that was killed is no longer stopped, and does not run again.  Where it waits for a device on
 * its way out, that is what there is to know of it; and the first thread of several may end
 * alone. */
static char letter_of(const struct faultloc_watch *w, struct faultloc_seen *seen, ftree_time now,
                      int32_t pid, const struct faultloc_proc *proc)
{
    char wchan[FTREE_WCHAN_MAX] = "";

    if (proc->state == 'D' || proc->state == 'S')
        faultloc_proc_wchan(w->proc_root, pid, wchan, sizeof(wchan));
    if (is_held(seen, now, wchan, proc))
        return FTREE_PROC_MEMORY;
    if (proc->ending && proc->state != 'D' && proc->state != 'Z')
        return 'X';
    return is_frozen(w, pid, wchan, proc) ? FTREE_PROC_FROZEN : proc->state;
}

static void look_at_proc(struct faultloc_watch *w, struct faultloc_seen *seen,
                         const struct faultloc_slot *slot, struct ftree_rank_state *state)
{
    enum faultloc_proc_fate fate = faultloc_proc_fate(w->proc_root, slot->pid, slot->start);
    struct faultloc_proc proc;

    if (fate == FAULTLOC_PROC_GONE)
        seen->gone = true;
    else if (fate == FAULTLOC_PROC_LIVES &&
             faultloc_proc_read(w->proc_root, slot->pid, &proc) == 0)
        state->proc_state = letter_of(w, seen, seen->looked, slot->pid, &proc);
}

/* While its parent waits for it the kernel does not tell for a moment. */
static bool has_exited(const struct faultloc_watch *w, int32_t i, int32_t pid)
{
    const struct timespec moment = {.tv_nsec = 100000};
    int fd = w->pid_fd ? w->pid_fd[i] : -1, status;
    bool known = faultloc_proc_status(fd, pid, &status);

    for (int n = 0; !known && fd >= 0 && n < STATUS_TRIES; n++) {
        nanosleep(&moment, NULL);
        known = faultloc_proc_status(fd, pid, &status);
    }
    return known && WIFEXITED(status);
}

bool faultloc_watch_is_consequence(const struct faultloc_watch *w, ftree_time now, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(w->board, i);
    const struct faultloc_page *page = (const struct faultloc_page *) (const void *) slot;
    const struct faultloc_peer_errors *errors = &page->peer_errors;
    ftree_time at = slot->failed_ns;
    uint32_t n = errors->count;

    if (n > 0 && errors->entry[(n - 1) % FAULTLOC_PEER_ERRORS].at_ns > at)
        at = errors->entry[(n - 1) % FAULTLOC_PEER_ERRORS].at_ns;
    return at > 0 && (at > now || now - at < VICTIM_NS) && has_exited(w, i, slot->pid);
}

/* The rank's process is gone, and only because of another. */
static void judge_gone(struct faultloc_watch *w, ftree_time now, int32_t i,
                       struct faultloc_slot *slot)
{
    if (!w->seen[i].gone || !faultloc_watch_is_consequence(w, now, i))
        return;
    slot->state = FAULTLOC_SLOT_VICTIM;
    faultloc_board_slot(w->board, i)->state = FAULTLOC_SLOT_VICTIM;
}

/* It has left. For a while it is a victim of what it left because of: whose victims they are is
 * asked only when that is reported. */
static void judge_left(struct faultloc_seen *seen, const struct faultloc_slot *slot, ftree_time now,
                       struct ftree_rank_state *state)
{
    bool is_victim = slot->state == FAULTLOC_SLOT_VICTIM || slot->state == FAULTLOC_SLOT_ABORTED;

    if (!seen->left)
        seen->left = now;
    state->phase =
        slot->state == FAULTLOC_SLOT_ABORTED && seen->gone && now - seen->left > ABORTED_NS
            ? FTREE_PHASE_GONE
            : FTREE_PHASE_LEFT;
    if (strcmp(faultloc_call_name((uint32_t) slot->call), "MPI_Finalize") != 0)
        state->call = (uint32_t) (slot->call & FAULTLOC_CALL_MASK);
    state->proc_state = is_victim ? 'X' : 0;
    if (!is_victim || now - seen->left > VICTIM_NS || !slot->wait_since_ns ||
        slot->wait_since_ns > now)
        return;
    state->peer = core_peer(slot->wait_peer);
    state->waiting = now - slot->wait_since_ns;
}

/* A stop in between, as for its stacks, is no progress. */
static bool makes_no_progress(const struct faultloc_seen *seen)
{
    return seen->looked - seen->call_since >= STILL_NS &&
           seen->looked - seen->spins_since >= STILL_NS;
}

/* MPI_Finalize waits for all others without MPI's progress. */
bool faultloc_watch_is_outside(const struct faultloc_watch *w, int32_t i,
                               const struct ftree_rank_state *state)
{
    const struct faultloc_slot *slot = faultloc_board_slot(w->board, i);

    if (slot->state != FAULTLOC_SLOT_RUNNING)
        return false;
    return state->call == 0
               ? state->phase == FTREE_PHASE_OUTSIDE
               : state->phase == FTREE_PHASE_INSIDE && makes_no_progress(&w->seen[i]);
}

/* A stay lasts from the first look that has seen it to the one that sees that it is over, but no
 * longer behind the last look that has seen it than before: looks follow each other at doubling
 * distances (faultloc_watch_again()), and if one is late, nobody was away for that. That of two calls
 * between which nobody looked is one stay, or none.
 * Time in which the rank was stopped, or nobody looked for long, does not count, and of the present
 * stay not what was before it either.  `gap` ends at this look; 0: there was none. `looked`: the look
 * before. */
static ftree_time end_of_stay(const struct faultloc_seen *seen, ftree_time looked, ftree_time now)
{
    ftree_time seen_for = looked - seen->outside;
    ftree_time end = looked + (seen_for > SOON_NS ? seen_for : SOON_NS);

    return now < end ? now : end;
}

static void update_stay(struct faultloc_seen *seen, struct faultloc_slot *slot, bool outside,
                        ftree_time gap, ftree_time looked, ftree_time now)
{
    bool goes_on = outside && seen->outside && seen->outside_calls == seen->useful;
    ftree_time end = gap ? now : end_of_stay(seen, looked, now);

    seen->gaps += gap;
    if (!goes_on || gap)
        seen->counts = now;
    if (goes_on)
        return;
    if (seen->outside && end - seen->outside > seen->gaps + slot->longest_ns)
        slot->longest_ns = end - seen->outside - seen->gaps;
    seen->outside = outside ? now : 0;
    seen->gaps = 0;
    seen->outside_calls = seen->useful;
}

static struct faultloc_visit *find_visit(struct faultloc_watch *w, uint32_t call)
{
    struct faultloc_visit *least = &w->visit[0];

    for (int i = 0; i < FAULTLOC_VISITS; i++) {
        if (w->visit[i].times > 0 && w->visit[i].call == call)
            return &w->visit[i];
        if (w->visit[i].times < least->times)
            least = &w->visit[i];
    }
    *least = (struct faultloc_visit){.call = call};
    return least;
}

/* Where many threads may call MPI a short wait is not noted, but the call is known if one thread alone
 * is in MPI. */
static void update_visit(struct faultloc_watch *w, struct faultloc_seen *seen,
                         const struct ftree_rank_state *state)
{
    struct faultloc_visit *v;

    if (seen->visits && seen->visited_calls != seen->useful) {
        v = find_visit(w, seen->visited);
        v->times += v->times < UINT32_MAX;
    }
    seen->visits = state->call || state->phase == FTREE_PHASE_WAITING;
    seen->visited = state->call;
    seen->visited_calls = seen->useful;
}

bool faultloc_watch_is_familiar(const struct faultloc_watch *w, uint32_t call)
{
    for (int i = 0; i < FAULTLOC_VISITS; i++)
        if (w->visit[i].call == call && w->visit[i].times >= FAULTLOC_FAMILIAR)
            return true;
    return false;
}

void faultloc_watch_look(struct faultloc_watch *w, ftree_time now, int32_t i, bool with_proc,
                         struct ftree_rank_state *state)
{
    ftree_time looked = w->seen[i].looked, gap;
    /* one copy: the rank goes on writing */
    struct faultloc_slot slot = *(volatile struct faultloc_slot *) faultloc_board_slot(w->board, i);
    struct faultloc_seen *seen = &w->seen[i];

    slot.call = faultloc_slot_call(&slot);
    if (now < seen->looked)
        now = seen->looked; /* another look of the same turn took a later time */
    *state = (struct ftree_rank_state){
        .rank = slot.rank, .pid = slot.pid, .peer = FTREE_NONE, .phase = FTREE_PHASE_OUTSIDE};
    update(seen, &slot, now);
    state->failed = slot.failed_ns && (slot.failed_ns > now || now - slot.failed_ns < VICTIM_NS);
    if (slot.state < FAULTLOC_SLOT_LEFT && (with_proc || seen->stopped || seen->lacks) &&
        !seen->gone && !seen->unborn) {
        look_at_proc(w, seen, &slot, state);
        judge_gone(w, now, i, &slot);
    }
    if (slot.state >= FAULTLOC_SLOT_LEFT) {
        seen->stopped = false;
        judge_left(seen, &slot, now, state);
        return;
    }
    state->call = (uint32_t) (slot.call & FAULTLOC_CALL_MASK);
    if (seen->gone) {
        state->phase = FTREE_PHASE_GONE;
    } else {
        if (slot.call & FAULTLOC_CALL_MASK)
            judge_wait(seen, &slot, now, state);
        judge_polls(seen, now, state);
    }
    seen->stopped = ftree_is_stopped(state->proc_state);
    if (seen->stopped)
        seen->held = now;
    gap = seen->held == now || now - looked > LOOKS_APART * w->board->settings.sample ? now - looked
                                                                                      : 0;
    update_stay(seen, faultloc_board_slot(w->board, i), faultloc_watch_is_outside(w, i, state), gap,
                looked, now);
    update_visit(w, seen, state);
}

/* One that has been as long before tells nothing by when it ends. */
ftree_time faultloc_watch_again(const struct faultloc_watch *w, ftree_time now, int32_t i,
                                ftree_time sampled)
{
    const struct faultloc_seen *seen = &w->seen[i];
    ftree_time stay = now - seen->outside, most = w->board->settings.sample / 2 * 3;

    if (!seen->outside || seen->outside > sampled || stay > most ||
        faultloc_board_slot(w->board, i)->longest_ns > most)
        return FTREE_NEVER;
    return now + (stay > SOON_NS ? stay : SOON_NS);
}

bool faultloc_watch_is_stopped(struct faultloc_watch *w, ftree_time now)
{
    struct ftree_rank_state state;

    if (w->board->slots == 0)
        return false;
    w->turn = (w->turn + 1) % w->board->slots;
    faultloc_watch_look(w, now, w->turn, true, &state);
    return ftree_is_stopped(state.proc_state);
}

bool faultloc_watch_any_stopped(const struct faultloc_watch *w)
{
    for (int32_t i = 0; i < w->board->slots; i++)
        if (w->seen[i].stopped)
            return true;
    return false;
}

void faultloc_watch_gone(struct faultloc_watch *w, int32_t i)
{
    w->seen[i].gone = true;
    w->seen[i].decided = true;
}

void faultloc_watch_await(struct faultloc_watch *w, int32_t i, ftree_time until)
{
    w->seen[i].gone = false;
    w->seen[i].unborn = until;
}

void faultloc_watch_goes_on(struct faultloc_watch *w, int32_t i, bool presumed)
{
    w->seen[i].gone = false;
    w->seen[i].unborn = 0;
    w->seen[i].presumed = presumed;
}

void faultloc_watch_ended(struct faultloc_watch *w, int32_t rank)
{
    for (int32_t i = 0; i < w->board->slots; i++)
        if (w->seen[i].presumed && faultloc_board_slot(w->board, i)->rank == rank)
            faultloc_watch_gone(w, i);
}

void faultloc_watch_take_over(struct faultloc_watch *w)
{
    memset(w->seen, 0, (size_t) w->board->slots * sizeof(*w->seen));
}

bool faultloc_watch_all_left(struct faultloc_watch *w)
{
    for (int32_t i = 0; i < w->board->slots; i++)
        if (!w->seen[i].gone && faultloc_board_slot(w->board, i)->state < FAULTLOC_SLOT_LEFT)
            return false;
    return true;
}

/* ---- names of calls -------------------------------------------------------------------------- */

static const struct {
    const char *name, *func;
} calls[] = {
#define FAULTLOC_CALL(name, func) {name, func},
#if defined(__has_include)
#if __has_include("faultloc/node/callnames.h")
#include "faultloc/node/callnames.h" /* from MPICH's own list of functions, by maint/apply.sh */
#endif
#endif
#undef FAULTLOC_CALL
    {NULL, NULL}};

/* The same hash as the seam's macro, for names that come at run time. */
static uint32_t id_of(const char *func)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    bool ended = false;

    for (int i = 0; i < 48; i++) {
        ended = ended || !func[i];
        h = (h ^ (ended ? 0 : (unsigned char) func[i])) * 16777619u;
    }
    return (h >> (32 - FAULTLOC_CALL_BITS)) | 1;
}

const char *faultloc_call_name(uint32_t call)
{
    uint32_t id = call & FAULTLOC_CALL_MASK;

    if (id == 0)
        return "user code";
    for (size_t i = 0; calls[i].func; i++)
        if (id_of(calls[i].func) == id)
            return calls[i].name;
    return "MPI";
}

/* MPICH's handles of builtin operators count from here; its ABI keeps them. */
#define FIRST_OP 0x58000001u

const char *faultloc_op_name(uint32_t op)
{
    static const char *const names[] = {
        "MPI_MAX", "MPI_MIN", "MPI_SUM", "MPI_PROD", "MPI_LAND", "MPI_BAND", "MPI_LOR", "MPI_BOR",
        "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};

    return op - FIRST_OP < sizeof(names) / sizeof(names[0]) ? names[op - FIRST_OP] : "an operator";
}
