/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_WAITFOR_HANG_INT_H_INCLUDED
#define FTREE_WAITFOR_HANG_INT_H_INCLUDED

#include "ftree/waitfor/waitfor.h"

#pragma GCC visibility push(hidden)

/*
 * What waitfor_hang.c shares with those it calls:
 *
 *     waitfor_hang_late.c     ranks that are late while the rest of the job goes on
 *     waitfor_hang_hold.c     when the job may be ended because of them
 *     waitfor_hang_verdict.c  what the rule base says of the ranks of a sweep, and the
 *                             verdict with its evidence
 */

#define WAITFOR_HANG_PAUSE_MIN (1000 * FTREE_MS)
#define WAITFOR_HANG_PAUSE_MAX (60 * 1000 * FTREE_MS)
/* A shorter one before counts as that: two samples may miss it. */
#define WAITFOR_HANG_LEAST_STAY (1000 * FTREE_MS)

/* Looks closer together tell shorter stays apart, but not all are in time. */
#define WAITFOR_HANG_LEAST_OF_OWN(ft) ((ft)->cfg.sample / 8)
#define WAITFOR_HANG_OWN_SAMPLES 64 /* of a rank at least, for a test by its own stays alone */

/* What the test of a stay was made of. */
struct waitfor_tail {
    struct hang_stays stays; /* before the present one, */
    ftree_time stay; /* outside MPI, the shortest of the ranks that are there now */
};

struct waitfor_hang {
    bool of_all; /* nobody waits: all ranks are in disk sleep */
    bool asked;
    ftree_time next, pause;
    bool sweeping;
    struct hang_sweeps sweeps; /* of all ranks, */
    struct hang_sweeps late_sweeps; /* and of those alone that are late */
    bool is_improbable; /* a healthy job hardly ever shows the like: of the last test */
    uint64_t progress; /* calls that all ranks had ended by then */
    struct hang_result result; /* of it; */
    struct waitfor_tail all; /* likewise */
    struct {
        int32_t rank;
        ftree_time longest;
    } away[FTREE_WAITING_ENDS_MAX]; /* of the ranks most waited for those outside MPI, and how long each was
                                     * there at most before, as the last answer says */
    int32_t aways;
};

/* What the longest stay before counts as. Looks are up to one and a half mean distances apart. */
static inline ftree_time waitfor_hang_scale(const struct ftree *ft, ftree_time longest,
                                            int exponent)
{
    return ftree_max(longest, exponent == HANG_TAIL_COMPUTES ? ft->cfg.sample / 2 * 3
                                                             : WAITFOR_HANG_LEAST_STAY);
}

/* All stays of any rank before that one. */
static inline struct hang_stays waitfor_hang_of_any(const struct ftree *ft, ftree_time stay,
                                                    ftree_time longest, int exponent)
{
    int64_t samples = ftree_hang_history_before(ft->waitfor->history, stay / ft->cfg.sample);

    return (struct hang_stays){.before = (ftree_time) samples * ft->cfg.sample,
                               .longest = waitfor_hang_scale(ft, longest, exponent),
                               .ranks = 1,
                               .exponent = exponent};
}

/* Those of its own.  Looks see long stays rather than short ones, which takes one from the exponent. */
static inline struct hang_stays waitfor_hang_of_own(const struct ftree *ft,
                                                    const struct ftree_stay *s)
{
    return (struct hang_stays){.before = s->before,
                               .longest = ftree_max(s->longest, WAITFOR_HANG_LEAST_OF_OWN(ft)),
                               .apart = ft->cfg.sample / 2 * 3,
                               .ranks = ft->job->size,
                               .exponent = HANG_TAIL_COMPUTES};
}

/* From when on a stay is improbable; FTREE_NEVER: there is too little to compare it with. */
static inline ftree_time waitfor_hang_too_long(const struct ftree *ft, const struct hang_stays *s)
{
    int32_t least = s->apart ? WAITFOR_HANG_OWN_SAMPLES : HANG_WINDOW;

    return s->before < (ftree_time) least * ft->cfg.sample ? FTREE_NEVER
                                                           : ftree_hang_tail_of(s, ft->cfg.alpha);
}

/* The same for a rank of which it is enough that it is by one of the two. */
static inline ftree_time waitfor_hang_too_long_for(const struct ftree *ft,
                                                   const struct ftree_stay *s, ftree_time longest,
                                                   int exponent)
{
    struct hang_stays any = waitfor_hang_of_any(ft, s->stay, longest, exponent);
    struct hang_stays own = waitfor_hang_of_own(ft, s);

    return ftree_min(waitfor_hang_too_long(ft, &any), waitfor_hang_too_long(ft, &own));
}

static inline ftree_time waitfor_hang_time_of_sweeps(const struct ftree *ft)
{
    return (HANG_SWEEPS - 1) * ft->cfg.sample;
}

/* ---- waitfor_hang_verdict.c ------------------------------------------------------------------ */

/* HANG_TAIL_BLOCKED if all n are. */
int waitfor_hang_exponent(const struct ftree_stay *stay, int32_t n);

bool waitfor_hang_any_stopped(const struct hang_sweep *s);

/* One waits for a disk: only such ones may be accused, as the others may wait for it. */
bool waitfor_hang_is_of_disk(const struct hang_sweep *s);

/* In how much time sweeps can begin at whose end the rule base has a verdict, if all ranks stay as
 * they are; at most WAITFOR_HANG_PAUSE_MAX. */
ftree_time waitfor_hang_time_to_sign(const struct ftree *ft, const struct hang_sweep *s);

/* The verdict on them. False: the rule base has none. */
bool waitfor_hang_say(struct ftree *ft, ftree_time now, const struct waitfor_hang *h,
                      const struct hang_sweep *s);

/* ---- waitfor_hang_hold.c --------------------------------------------------------------------- */

#define WAITFOR_HANG_END_BLOCKED (60 * 1000 * FTREE_MS)
#define WAITFOR_HANG_END_ACTIVE (600 * 1000 * FTREE_MS)

/* Since when ranks must have been outside MPI before the action "abort" may end the job because of
 * the ranks of a sweep, one at least, and why, as a line of evidence; FTREE_HOLDS_FOR_EVER: it never
 * may.  Pure. */
ftree_time waitfor_hang_hold(const struct hang_sweep *s, char *line, size_t len);

/* ---- waitfor_hang_late.c --------------------------------------------------------------------- */

/* An answer has come, of which `all` is the sweep.  Asks for the next answer by h->next. */
void waitfor_hang_look_at_late(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                               const struct hang_answer *a, const struct hang_sweep *all);

#pragma GCC visibility pop

#endif /* FTREE_WAITFOR_HANG_INT_H_INCLUDED */
