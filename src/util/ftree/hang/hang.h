/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_HANG_H_INCLUDED
#define FTREE_HANG_H_INCLUDED

#include "ftree/base/types.h"

#pragma GCC visibility push(hidden)

/*
 * Hung or slow: the statistics.  S_out is how many ranks are outside MPI at an instant.  Of a
 * healthy program its values at random instants have a distribution that its own history shows.  If
 * all ranks wait for a few that never come, S_out is small from then on.  How improbable that is
 * for the healthy program is computed here, from the history alone; no function has a clock, memory
 * or state.
 *
 *     runs.c     are the samples random?  The runs test of Wald and Wolfowitz
 *     model.c    what is a suspicious sample, and how many of them in a row are too many?  And which
 *                stay is too long?
 *     history.c  both, applied to a history; with the interval doubled as long as it is not random
 *     sweeps.c   all ranks, looked at several times: does any of them still go on, and who is outside MPI?
 *
 * Sources: S_out, its test, the levels and the sweeps follow ParaStack (Li, Chen, Gupta, SC 2017);
 * the runs test is Wald and Wolfowitz 1940, its tables are Swed and Eisenhart 1943.
 */

#define HANG_HISTORY_MAX 2048 /* instants: 13 minutes at 400 ms */
#define HANG_DOUBLINGS_MAX 4 /* of the interval: 6.4 s at 400 ms, 128 samples of a whole history */
#define HANG_WINDOW 16 /* samples at least for the runs test */
#define HANG_UNKNOWN (-1) /* of a sample: nobody looked at that instant, or not everybody did */

/* ---- a stay outside MPI ---------------------------------------------------------------------- */

#define FTREE_OUTSIDES(X) \
    X(FTREE_OUTSIDE_UNKNOWN, "in an unknown state") \
    X(FTREE_OUTSIDE_RUNS, "active") \
    X(FTREE_OUTSIDE_PAUSES, "active now and then") \
    X(FTREE_OUTSIDE_AWAITS, "awaiting an answer") \
    X(FTREE_OUTSIDE_SLEEPS, "blocked") \
    X(FTREE_OUTSIDE_DISK, "in disk sleep") \
    X(FTREE_OUTSIDE_STOPPED, "stopped, or held by a debugger")

enum ftree_outside { FTREE_OUTSIDES(FTREE_ENUM) FTREE_OUTSIDE_COUNT };

/* What may wake a rank that sleeps. */
#define FTREE_ENDINGS(X) \
    X(FTREE_ENDING_THREAD, "can be woken only by its own threads") \
    X(FTREE_ENDING_UNKNOWN, "may be woken by something unknown") \
    X(FTREE_ENDING_SIGNAL, "may be woken by a signal that it handles") \
    X(FTREE_ENDING_TIMEOUT, "is in a call with a timeout of its own") \
    X(FTREE_ENDING_INPUT, "waits for standard input or a terminal")

enum ftree_ending { FTREE_ENDINGS(FTREE_ENUM) FTREE_ENDING_COUNT };

#define FTREE_WCHAN_MAX 32
#define FTREE_WAITS_IN_MAX 24
#define FTREE_WHOM_MAX 64

#define FTREE_CPU_UNKNOWN (-1)
#define FTREE_CPU_WORKS 10 /* percent: no stray interrupt, tracer or poll with pauses does that */

/* A rank's present stay outside MPI, or in a call of it that makes no progress.  It is blocked if it
 * sleeps, and has done nothing at all since it was last looked at: no thread of it has used the CPU,
 * had a page fault or a child that ended, and the first one has not run.  It is active now and then if it
 * sleeps, but has run, for less than a tenth of the time.  It awaits an answer if it is
 * blocked in a socket or a poll, or has a child process, or a process that is no rank has the other end
 * of its pipe or a lock of its file, or its output is not read: somebody who is no rank may end that.  It
 * is in disk sleep also if it waits for a file system and may be interrupted. */
struct ftree_stay {
    int32_t rank;
    uint8_t what; /* enum ftree_outside, as the kernel says */
    uint8_t ending; /* enum ftree_ending, of one that sleeps */
    uint32_t call; /* that makes no progress; 0: it is outside MPI */
    bool familiar; /* of one that is in MPI: in a call in which ranks of its node have been seen often enough */
    bool transfers; /* it has read or written much since then, as of a checkpoint */
    int32_t cpu; /* percent of a CPU that it has used since it was last looked at; FTREE_CPU_UNKNOWN */
    uint64_t calls; /* that it has ended, but for those that asked in vain: tells one stay from others */
    ftree_time stay; /* since it was first seen outside after that call, or was interrupted (stopped), ns */
    ftree_time away; /* interruptions included; does not travel */
    ftree_time longest; /* the longest stay before, as far as samples have seen it, ns */
    ftree_time before; /* for so long it was outside MPI before this stay, as samples have seen it, ns */
    ftree_time still; /* for so long it has done nothing at all, as the kernel said when it was looked at, ns */
    ftree_time used; /* CPU time since it was first looked at in this stay, ns */
    char wchan[FTREE_WCHAN_MAX]; /* where in the kernel it sleeps, printable ASCII; "": not known */
    char waits_in[FTREE_WAITS_IN_MAX]; /* the same in words: "a lock"; "": there are none for it */
    char on[FTREE_ON_MAX]; /* the file or process that it sleeps for, printable; "": not known; does
                            * not travel */
    char whom[FTREE_WHOM_MAX]; /* of one that awaits an answer: "process 12 (driver) by a pipe", "standard
                                * output is not read"; "": not known */
};

/* ---- the runs test --------------------------------------------------------------------------- */

/* Random if low < runs < high. */
struct hang_region {
    int32_t low; /* 0: no number of runs is too small */
    int32_t high; /* INT32_MAX: none is too large */
};

/* Purpose: the region in which 95 % of all random sequences of so many values of two kinds lie:
 * exact up to 20 of the rarer kind, by the normal approximation above.  Pure. */
struct hang_region ftree_hang_region(int32_t some, int32_t others);

/* Purpose: true if n samples, in the order of time, are above and below their mean in random order;
 * false also where less than two are on one side, which says nothing.  Pure. */
bool ftree_hang_is_random(const int32_t *sample, int32_t n);

/* ---- the model ------------------------------------------------------------------------------- */

struct hang_level {
    int32_t n; /* samples, at least */
    double p, d; /* with so many samples a share of up to p is known within d, at 95 % */
};

/* Purpose: the finest level for n samples; NULL: there are too few for any.  Pure. */
const struct hang_level *ftree_hang_level(int32_t n);

/* Purpose: how many suspicious samples in a row a healthy program shows with a probability of less
 * than alpha, if one of them has q: the smallest k with q^k < alpha; INT32_MAX: no number suffices.
 * Pure. */
int32_t ftree_hang_needed(double q, double alpha);

struct hang_model {
    int32_t n; /* samples that are known */
    int32_t t; /* a sample of up to t is suspicious */
    double d; /* error of f, at least that of the level */
    double f; /* share of the samples up to t */
    double q; /* f + d: no less than the probability of a suspicious sample, at 97.5 % */
};

/* Purpose: the model of n samples, of which some may be HANG_UNKNOWN; n <= HANG_HISTORY_MAX.  t is
 * the smallest value with a share of p up to it; where that is the largest value of all, the next
 * smaller one, for a share below p is known within d all the more.  If `least` is larger, t is the
 * largest value up to that: where ranks hang, S_out is their number, and a healthy program may be
 * below it often. False: too few are known, or all are equal.  Pure. */
bool ftree_hang_model(const int32_t *sample, int32_t n, int32_t least, struct hang_model *out);

/* ---- the longest stay ------------------------------------------------------------------------ */

/* What is known of stays before. */
struct hang_stays {
    ftree_time before; /* ranks were outside MPI for so long in all, */
    ftree_time longest; /* and none for longer than that, which is > 0 */
    ftree_time apart; /* looks that tell one stay from the next were up to so far apart; 0: all were seen */
    int32_t ranks; /* so many are tested so, each by its own stays; 1: by those of all ranks together */
    int exponent; /* HANG_TAIL_ */
};

/* Purpose: the probability, at most, that a rank of a healthy program stays outside MPI for `stay`;
 * 1 unless that is longer than any stay before.
 * Of m + 1 independent values each is as likely the largest, whatever their distribution, so one
 * beyond the m others has the probability 1 / (m + 1).  m is before / longest at least: all may have
 * been of that length, and those of several ranks the same; and where all were shorter than looks are
 * apart, each look has seen one.  That it is c times as long has c^-exponent of that, with a tail as
 * heavy as x^-exponent: HANG_TAIL_.  Of several ranks, each tested by its own stays, one is found so
 * by chance that many times as often.  It says something where
 * S_out does not: of few ranks that are hardly ever outside MPI one that hangs there changes little.
 * Pure, and never more for a longer stay. */
double ftree_hang_tail(const struct hang_stays *s, ftree_time stay);

/* Purpose: the stay from which on that is less than alpha.  Pure. */
ftree_time ftree_hang_tail_of(const struct hang_stays *s, double alpha);

/* Of the time that something computes the tail is 1 / x, without a mean: measured of Unix processes
 * by Harchol-Balter and Downey, Exploiting process lifetime distributions for dynamic load
 * balancing, ACM TOCS 15 (1997).  Of other stays it is taken to be 1 / x^2, without a variance. */
#define HANG_TAIL_COMPUTES 1
#define HANG_TAIL_BLOCKED 2

/* ---- the test of a history ------------------------------------------------------------------- */

enum hang_state {
    HANG_LEARNING, /* too few samples, or they say nothing: nothing can be claimed */
    HANG_NOT_RANDOM, /* nor here: at no interval are they random */
    HANG_HEALTHY, /* a healthy program shows the like often enough */
    HANG_LIKELY, /* hardly ever */
    HANG_STATES
};

struct hang_result {
    uint8_t state; /* enum hang_state */
    int32_t doublings; /* of the interval */
    struct hang_model model; /* unless it is learning; and the next ones */
    int32_t run; /* suspicious samples in a row, up to the last one */
    int32_t needed; /* so many are too many */
    double significance; /* q^k, k being the samples of the run when that was least: the probability of these if
                          * the program is healthy, at most */
};

/* Purpose: tests n samples at consecutive instants, the last one being of now; n <=
 * HANG_HISTORY_MAX. `first` is the number of the first instant, which the choice of instants at a
 * doubled interval depends on.  Samples before a HANG_UNKNOWN are in no run with those behind it.
 * Pure. */
void ftree_hang_test(const int32_t *sample, int32_t n, uint64_t first, double alpha,
                     struct hang_result *out);

const char *ftree_hang_state_name(int state);

/* ---- sweeps ---------------------------------------------------------------------------------- */

#define HANG_SWEEPS 5 /* name the faulty ranks; from the second one on each may tell that a rank goes on */
#define HANG_RANKS_MAX 256 /* outside MPI; with more nobody is named */

/* A person, a timeout or a signal may end this stay at any time: no job is ended because of it.  One
 * that waits for a disk, or is stopped, is in no call that ends so. */
static inline bool ftree_hang_ends_by_itself(const struct ftree_stay *s)
{
    return s->ending >= FTREE_ENDING_SIGNAL && s->what != FTREE_OUTSIDE_DISK &&
           s->what != FTREE_OUTSIDE_STOPPED;
}

/* It does nothing at all, for a disk or anything else. */
static inline bool ftree_hang_sleeps(const struct ftree_stay *s)
{
    return s->what == FTREE_OUTSIDE_SLEEPS || s->what == FTREE_OUTSIDE_AWAITS ||
           s->what == FTREE_OUTSIDE_DISK;
}

/* All ranks, looked at once: those outside MPI, ascending. */
struct hang_sweep {
    uint64_t progress; /* sum of the calls that all ranks have ended, but for those that asked in vain */
    int32_t inside, familiar; /* ranks in MPI, and those of them in a call that is known on their node */
    ftree_time longest; /* stay outside MPI before, of any rank */
    bool others_go_on; /* these are not all, but those that others wait for; `progress` is 0 */
    int32_t more; /* further ranks of which the same is true as of these: all of the job, then */
    int32_t count; /* ranks outside MPI, of which up to HANG_RANKS_MAX are here: */
    struct ftree_stay stay[HANG_RANKS_MAX];
};

enum hang_swept {
    HANG_SWEEP_ON, /* look once more */
    HANG_SLOW, /* a rank went on: nothing hangs */
    HANG_NAMED, /* `last` has those that were outside MPI each time: one at least */
    HANG_NOBODY /* there was none, or there were too many */
};

struct hang_sweeps {
    int32_t done;
    struct hang_sweep last; /* of its ranks those that were outside each time */
};

/* Purpose: takes one more sweep; s is zeroed before the first one.  A rank counts as outside each
 * time if it has ended no call in between.  Pure. */
enum hang_swept ftree_hang_swept(struct hang_sweeps *s, const struct hang_sweep *now);

#pragma GCC visibility pop

#endif /* FTREE_HANG_H_INCLUDED */
