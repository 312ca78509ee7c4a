/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

#include "faultloc/base/clock.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

/*
 * A thread that polls may work between its calls, and do what others wait for when it comes to the
 * end of that: it is not certain that it waits.  Its CPU time shows that, no matter what else runs
 * on that CPU: what it uses from where one call has asked in vain until the next one turns MPICH's
 * progress.  A loop that does nothing but ask uses the calls' own entry and exit there, less than a
 * microsecond.  A sleep takes 7, and 18 to 33 where many programs share the CPU, on the average;
 * the longer it is, the less of the caches is left, and some have an interrupt's besides.  So turns
 * make up for each other, but not for those that come later (CUSUM: Page, Biometrika 41, 1954).
 *
 * All turns from one answer to the next are measured, for work may be rare.  The clock of CPU time
 * takes ten times as long as that of the wall.  So it is asked where the wall's says that something
 * may have been done, and now and then before: what the calls have used since then is less than the
 * wall's time.
 */

#define ASKS_NS 5000            /* a turn's own: so much is no work, */
#define SLEEPS_NS 50000         /* and so much for falling asleep and waking up */
#define AGAIN_NS 100000         /* between two looks at the CPU time */

/* Interrupts are charged to the thread that runs, and one that delivers many packets takes long. */
#define CHANCE_NS (1000 * 1000)
#define CHANCE_SHARE 20         /* of all CPU time, the part of 1 in so many */

static struct {
    pthread_t thread;           /* whose turns they are */
    uint64_t stamp;             /* nothing has ended or begun since */
    uint32_t answered;          /* the number of the last question that was answered before */
    ftree_time begun;           /* the CPU time when it began */
    ftree_time left;            /* when the last call ended; 0: in the next one */
    ftree_time looked, cpu;     /* when the CPU time was looked at, what it was, */
    long sleeps;                /* and how often the thread had fallen asleep */
    bool pauses;                /* there was time for work in the turn before */
    ftree_time sum;             /* of what is beyond a turn's own, less what others lack to that */
    ftree_time work;            /* the most that it was */
} turns;

static ftree_time cpu_time(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (1000 * FTREE_MS) + t.tv_nsec;
}

static long count_sleeps(void)
{
    struct rusage usage = { 0 };

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static bool are_own(void)
{
    return pthread_equal(turns.thread, pthread_self());
}

void MPIDI_faultloc_turn_begins(void)
{
    ftree_time used, asked, own;

    if (!turns.left || !are_own())
        return;
    turns.pauses = faultloc_now() - turns.left > ASKS_NS;
    if (turns.pauses) {
        used = cpu_time() - turns.cpu;
        asked = turns.left - turns.looked;      /* more than it was, if others ran */
        own = ASKS_NS + (count_sleeps() - turns.sleeps) * (ftree_time) SLEEPS_NS;
        turns.sum += used > asked ? used - asked : 0;
        turns.sum = turns.sum > own ? turns.sum - own : 0;
        if (turns.work < turns.sum)
            turns.work = turns.sum;
    }
    turns.left = 0;
}

bool MPIDI_faultloc_turn_ends(uint32_t answered)
{
    uint64_t stamp = MPIDI_faultloc_stamp();
    bool same = turns.stamp == stamp && are_own(), anew = !same || turns.answered != answered;

    turns.left = faultloc_now();
    if (anew || turns.pauses || turns.left - turns.looked > AGAIN_NS) {
        turns.cpu = cpu_time();
        turns.sleeps = count_sleeps();
        turns.looked = turns.left;
    }
    if (anew) {
        turns.thread = pthread_self();
        turns.stamp = stamp;
        turns.answered = answered;
        turns.begun = turns.cpu;
        turns.sum = turns.work = 0;
    }
    return same;
}

bool MPIDI_faultloc_works_between(void)
{
    ftree_time chance = CHANCE_NS + (cpu_time() - turns.begun) / CHANCE_SHARE;

    return are_own() && turns.work > chance;
}
