/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/ending.h"
#include "faultloc/base/proc.h"

#include <sys/syscall.h>
#include <time.h>

/*
 * Threads that wait are on a list while others have MPICH's global lock, and stay as they are until
 * they have it again.  So the one that holds it, at a turn of its own wait, can tell of all of them
 * at once.  A thread that polls tells for itself, and that holds as long as no call begins or ends
 * in any thread, but for those in vain, no message begins, and no receive ends.  Then it rests on
 * the list, for it would take the lock again before those that have not reported get it.  All other
 * threads of the process must sleep until one of these wakes them, or it is said that there is one
 * more; but for MPICH's own progress thread, which has nothing of the program's to do.
 *
 * The slot's word of the call has the sum of what the threads are in.  Under the lock all of them
 * are on the list but the one that holds it: what is left of the sum is its own call.
 *
 * Where MPICH has a lock for each VCI nobody is on the list.  A thread tells there as long as it is
 * in MPI alone, and all others sleep: else what it looks at might change under it.
 */

#define AGAIN_NS (5 * FTREE_MS) /* between two looks at all of them, */
#define REST_NS 1000000         /* and so long the others get the lock; */
#define RESTS_NS (100 * FTREE_MS)   /* those who poll rest so long after they were asked */
#define LASTS_TURNS 64          /* a wait that is over before is not worth the clock */
#define FRESH_NS (50 * FTREE_MS) /* a thread that waits has a turn that counts within this time */
#define LIBRARY_THREADS_MAX 8
#define KNOWN_MAX (LIBRARY_THREADS_MAX + WAITS_THREADS_MAX)

static struct MPIDI_faultloc_wait *waiting;
static uint32_t calls;          /* the sum of those on the list, */
static uint64_t ends;           /* and of what the ends of those in vain will add */

static struct {
    uint32_t asked;             /* the number of the question, */
    ftree_time since;           /* and when it was seen first */
    bool runs;                  /* a thread has gone on since */
    uint64_t moment;
    uint64_t switches;          /* of the threads that sleep, */
    bool handles;               /* one of which a handler may wake */
    ftree_time again;           /* when it is tried next */
    bool rests;                 /* others are to get the lock before */
    bool others;                /* there are threads that do not tell, and may do anything, */
    bool computes;              /* and one of them runs */
    bool varies;                /* one that polls does not always ask for the same */
    int n;
    /* Ascending, so that each is at the same place next time. */
    struct teller {
        pid_t thread;
        uint64_t poll;          /* what it asked for, if it polls, */
        bool twice;             /* and that more than once, with nothing else between */
        struct waits_record record;
    } by[WAITS_THREADS_MAX];
} reported;

/* The calling thread's wait.  The numbers of calls and messages are of all threads, but from where
 * it gets the lock back in a turn to the next turn no other can change them. */
static _Thread_local struct {
    uint64_t call;
    uint32_t messages;
    const MPIR_Request *req;
    int turns;
    ftree_time since;           /* 0: it has not lasted */
} own;

static pid_t noted;             /* the thread whose wait is in the slot, 0: none; */
static bool noted_runs;         /* it has got the lock back, and not come to its next turn */
static ftree_time noted_at;

/* Those that have nothing of the program's to do: MPICH's own, or 0, and in which a transport waits. */
static struct {
    pid_t thread[LIBRARY_THREADS_MAX];
    int n;
    bool alone;                 /* the process had one thread when OFI began */
} library = {.n = 1 };

static pid_t own_thread(void)
{
    static _Thread_local pid_t thread;

    if (!thread)
        thread = (pid_t) syscall(SYS_gettid);
    return thread;
}

static bool add_other(void *unused, pid_t thread)
{
    (void) unused;
    if (thread != own_thread() && library.n < LIBRARY_THREADS_MAX)
        library.thread[library.n++] = thread;
    return true;
}

static bool is_own(void *unused, pid_t thread)
{
    (void) unused;
    return thread == own_thread();
}

void MPIDI_faultloc_progress_thread(void)
{
    library.thread[0] = own_thread();
}

void MPIDI_faultloc_ofi_begins(void)
{
    library.alone = faultloc_proc_all_threads(NULL, getpid(), is_own, NULL);
}

/* UCX's thread has a name, those of OFI have none. */
void MPIDI_faultloc_begin_waits(void)
{
    library.thread[library.n++] = faultloc_proc_thread(NULL, getpid(), "async");
    if (library.alone)
        faultloc_proc_all_threads(NULL, getpid(), add_other, NULL);
}

static int list_library(pid_t known[LIBRARY_THREADS_MAX])
{
    memcpy(known, library.thread, (size_t) library.n * sizeof(*known));
    return library.n;
}

bool MPIDI_faultloc_is_alone(void)
{
    static pid_t first;
    static bool others;

    if (!MPIDI_faultloc_has_many_threads())
        return true;
    if (!first)
        first = own_thread();
    others |= waiting || library.thread[0] || first != own_thread();
    return !others;
}

/* It only grows, but for calls that ask in vain. */
uint64_t MPIDI_faultloc_moment(void)
{
    const struct faultloc_page *page = &MPIDI_faultloc_page.page;

    return MPIDI_FAULTLOC_CALL - (page->slot.polls << FAULTLOC_CALL_BITS) +
        page->ring.count / FAULTLOC_RING_STEP + MPIDI_faultloc_sums.received + ends;
}

/* Calls in vain count as if they had ended. */
static uint64_t end_of(const struct MPIDI_faultloc_wait *w)
{
    return w->polls ? (1u << FAULTLOC_CALL_BITS) - (uint64_t) w->call : 0;
}

static void identify(struct MPIDI_faultloc_wait *w)
{
    w->thread = own_thread();
#ifdef MPIDI_FAULTLOC_OWN_CALL
    w->call = MPIDI_FAULTLOC_OWN_CALL;
#else
    w->call = (uint32_t) (MPIDI_FAULTLOC_CALL - calls) & FAULTLOC_CALL_MASK;
#endif
}

static void put_in(struct MPIDI_faultloc_wait *w)
{
    identify(w);
    calls += w->call;
    ends += end_of(w);
    w->next = waiting;
    w->at = &waiting;
    if (waiting)
        waiting->at = &w->next;
    waiting = w;
}

static void take_out(struct MPIDI_faultloc_wait *w)
{
    own.call = MPIDI_FAULTLOC_CALL;
    own.messages = MPIDI_faultloc_page.page.ring.count;
    noted_runs |= w->thread == noted;
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    calls -= w->call;
    ends -= end_of(w);
}

static bool is_same_wait(const MPIR_Request * req)
{
    return own.req == req && own.call == MPIDI_FAULTLOC_CALL &&
        own.messages == MPIDI_faultloc_page.page.ring.count;
}

/* The wait in the slot.  One that is not on a list notes its own again and again. */
static bool is_noted_over(bool same)
{
    if (noted == own_thread())
        return !same && (noted_runs || !FAULTLOC_ONE_LOCK);
    return noted_runs || (!FAULTLOC_ONE_LOCK && noted && faultloc_now() - noted_at > FRESH_NS);
}

void MPIDI_faultloc_begin_turn(MPIR_Request * req, struct MPIDI_faultloc_wait *wait)
{
    bool same = is_same_wait(req);

    if (is_noted_over(same)) {
        MPIDI_faultloc_page.slot.wait_since_ns = 0;
        noted = 0;
    }
    noted_runs = false;
    if (!same) {
        own.req = req;
        own.call = MPIDI_FAULTLOC_CALL;
        own.messages = MPIDI_faultloc_page.page.ring.count;
        own.turns = 0;
        own.since = 0;
    }
    if (own.turns <= LASTS_TURNS && ++own.turns > LASTS_TURNS)
        own.since = faultloc_now();
    wait->req = req;
    wait->since = own.since;
    wait->thread = own_thread();
}

/* The lock is not fair: one that has just let it go takes it again before a thread that waits for
 * it is awake, perhaps for seconds.  So one rests now and then as long as a question is open. */
void MPIDI_faultloc_yield(struct MPIDI_faultloc_wait *wait)
{
    static const struct timespec rest = {.tv_nsec = REST_NS };

    if (!MPIDI_FAULTLOC_LETS_OTHERS)
        return;
    put_in(wait);
    if (reported.rests) {
        reported.rests = false;
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        nanosleep(&rest, NULL);
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    } else {
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
    take_out(wait);
}

/* The calling thread's place; FTREE_NONE: there are too many. */
static int place_of_thread(pid_t thread)
{
    int i = 0;

    while (i < reported.n && reported.by[i].thread < thread)
        i++;
    if (i < reported.n && reported.by[i].thread == thread)
        return i;
    if (reported.n == WAITS_THREADS_MAX)
        return FTREE_NONE;
    memmove(&reported.by[i + 1], &reported.by[i],
            (size_t) (reported.n - i) * sizeof(reported.by[0]));
    reported.n++;
    reported.by[i].thread = thread;
    reported.by[i].poll = 0;
    reported.by[i].twice = false;
    return i;
}

/* Another thread's progress may have ended what a thread on the list waits for. */
static bool goes_on(const struct MPIDI_faultloc_wait *w)
{
    int active = 0, left = MPIDI_faultloc_count_pending(w);

    for (int i = 0; i < w->n; i++)
        active += w->reqs[i] && MPIR_Request_is_active(w->reqs[i]);
    return !w->comm && (left == 0 || (w->mode == WAITS_FOR_ONE && left < active));
}

const struct MPIDI_faultloc_wait *MPIDI_faultloc_first_wait(const struct MPIDI_faultloc_wait *wait)
{
    const struct MPIDI_faultloc_wait *first = wait->since ? wait : NULL;

    for (const struct MPIDI_faultloc_wait *w = waiting; w; w = w->next)
        if (w->since && (!first || w->since < first->since) && !(w->n > 0 && goes_on(w)))
            first = w;
    if (!FAULTLOC_ONE_LOCK && noted && noted != wait->thread)
        return NULL;
    noted = first ? first->thread : noted;
    noted_at = FAULTLOC_ONE_LOCK || !first ? 0 : faultloc_now();
    return first;
}

/* False: it is not known what it waits for, or it goes on. */
static bool tell_thread(const struct MPIDI_faultloc_wait *w)
{
    int i = w->mode == WAITS_FOR_NONE || goes_on(w) ? FTREE_NONE : place_of_thread(w->thread);

    if (i == FTREE_NONE)
        return false;
    MPIDI_faultloc_fill_record(&reported.by[i].record, w);
    reported.by[i].record.stamp = reported.moment - (uint64_t) MPIDI_faultloc_count_pending(w);
    return true;
}

/* What was reported at another moment, and of those that wait in any case. */
static void forget_old(uint64_t moment)
{
    int n = 0;

    reported.runs |= reported.n > 0 && reported.moment != moment;
    for (int i = 0; i < reported.n && reported.moment == moment; i++)
        if (reported.by[i].record.polls)
            reported.by[n++] = reported.by[i];
    reported.varies = reported.varies && reported.moment == moment;
    reported.n = n;
    reported.moment = moment;
}

static int count_certain(void)
{
    int n = 0;

    for (int i = 0; i < reported.n; i++)
        n += !reported.by[i].record.polls || reported.by[i].twice;
    return n;
}

static bool tell_waiting(const struct MPIDI_faultloc_wait *own)
{
    bool all = own->polls || tell_thread(own);

    for (const struct MPIDI_faultloc_wait *w = waiting; w; w = w->next)
        all = tell_thread(w) && all;
    return all;
}

/* True: it is known now what it asks for again and again, and was not before, at this moment. */
static bool tell_poll(const struct MPIDI_faultloc_wait *w)
{
    uint64_t poll = MPIDI_faultloc_poll_of(w);
    struct teller *t;
    bool before;

    if (!w->polls || !tell_thread(w))
        return false;
    t = &reported.by[place_of_thread(w->thread)];
    before = t->twice;
    reported.varies |= t->poll && t->poll != poll;
    t->twice = t->poll == poll;
    t->poll = poll;
    return t->twice && !before;
}

/* One that sleeps until it gets MPICH's lock does not sleep until another thread wakes it. */
static bool all_but_these_sleep(const pid_t *known, int n, uint64_t *switches)
{
    return faultloc_proc_others_sleep(NULL, getpid(), known, n, &MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX,
                                      sizeof(MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX), switches);
}

bool MPIDI_faultloc_all_others_sleep(uint64_t *switches)
{
    pid_t known[LIBRARY_THREADS_MAX + 1];
    int n = list_library(known);

    known[n++] = own_thread();
    return all_but_these_sleep(known, n, switches);
}

bool MPIDI_faultloc_any_other_runs(void)
{
    pid_t known[LIBRARY_THREADS_MAX + 1];
    int n = list_library(known);

    known[n++] = own_thread();
    return faultloc_proc_any_runs(NULL, getpid(), known, n);
}

/* And those that have reported. */
static int list_known(pid_t known[KNOWN_MAX])
{
    int n = list_library(known);

    for (int i = 0; i < reported.n; i++)
        known[n++] = reported.by[i].thread;
    return n;
}

static bool others_sleep(void)
{
    pid_t known[KNOWN_MAX];
    int n = list_known(known);

    if (!all_but_these_sleep(known, n, &reported.switches))
        return false;
    reported.handles = reported.switches > 0 &&
        faultloc_ending(NULL, getpid(), known, n) == FTREE_ENDING_SIGNAL;
    return true;
}

bool MPIDI_faultloc_is_undisturbed(uint64_t *switches)
{
    uint32_t in_mpi = (uint32_t) MPIDI_FAULTLOC_CALL & FAULTLOC_CALL_MASK;
    struct MPIDI_faultloc_wait own;

    if (FAULTLOC_ONE_LOCK || !MPIDI_faultloc_is_one_of_many())
        return true;
    identify(&own);
    return in_mpi == own.call && MPIDI_faultloc_all_others_sleep(switches);
}

/* The calling thread's wait, where each VCI has a lock. */
static bool tell_alone(const struct MPIDI_faultloc_wait *wait, ftree_time now)
{
    uint64_t call = MPIDI_FAULTLOC_CALL, switches;

    if (wait->polls || now < reported.again)
        return false;
    reported.again = now + AGAIN_NS;
    reported.n = 0;
    reported.moment = MPIDI_faultloc_moment();
    return MPIDI_faultloc_is_undisturbed(&switches) && tell_thread(wait) &&
        others_sleep() && reported.switches == switches && MPIDI_FAULTLOC_CALL == call;
}

/* All is looked at when another thread that polls has reported, and now and then: one that is about
 * to sleep, or to begin a call, runs for a while. */
static bool all_have_reported(struct MPIDI_faultloc_wait *wait)
{
    ftree_time now = faultloc_now();

    identify(wait);
    if (!FAULTLOC_ONE_LOCK)
        return tell_alone(wait, now);
    forget_old(MPIDI_faultloc_moment() + end_of(wait));
    if (!tell_poll(wait) && now < reported.again)
        return false;
    reported.again = now + AGAIN_NS;
    reported.rests = !tell_waiting(wait) || reported.n == 0 || count_certain() < reported.n ||
        reported.varies || !others_sleep();
    return !reported.rests;
}

void MPIDI_faultloc_forget_reported(void)
{
    reported.n = 0;
    reported.again = 0;
    reported.varies = false;
}

int32_t MPIDI_faultloc_copy_reported(struct waits_page *page)
{
    for (int i = 0; i < reported.n; i++) {
        page->record[i] = reported.by[i].record;
        page->record[i].thread = (uint8_t) i;
        page->record[i].threads = (uint8_t) (reported.n + reported.others);
        page->record[i].switches = reported.others ? 0 : reported.switches;
        page->record[i].sleepers = !reported.others && reported.switches > 0;
        page->record[i].handles = page->record[i].sleepers && reported.handles;
        page->record[i].computes = reported.others && reported.computes;
    }
    return reported.n;
}

ftree_time MPIDI_faultloc_open_for(uint32_t asked)
{
    ftree_time now = faultloc_now();

    if (reported.asked != asked) {
        reported.asked = asked;
        reported.since = now;
        reported.runs = false;
    }
    return now - reported.since;
}

bool MPIDI_faultloc_lacks_threads(struct MPIDI_faultloc_wait *wait, ftree_time since)
{
    pid_t known[KNOWN_MAX];

    reported.others = !all_have_reported(wait);
    if (!reported.others)
        return false;
    if (since > FAULTLOC_PATIENT_NS) {
        if (FAULTLOC_ONE_LOCK)
            tell_waiting(wait);
        else
            reported.n = 0;
        reported.computes = faultloc_proc_any_runs(NULL, getpid(), known, list_known(known));
        return false;
    }
    return true;
}

bool MPIDI_faultloc_give_way(struct MPIDI_faultloc_wait *wait, ftree_time since)
{
    if (!MPIDI_faultloc_has_many_threads() || !wait->polls || reported.runs || since > RESTS_NS)
        return false;
    reported.rests = true;
    MPIDI_faultloc_yield(wait);
    return true;
}
