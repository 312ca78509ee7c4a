/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_INTAKE_H_INCLUDED
#define FTREE_INTAKE_H_INCLUDED

#include "ftree/state/state.h"

#pragma GCC visibility push(hidden)

/*
 * Symptoms of all nodes: where one is analysed (intake.c), what belongs together and which faults
 * the rules see behind it (correlate.c), and the search for a cause nobody can name (flood.c).
 */

/* A symptom that was passed on; equal ones stay here for a while and then follow as one. */
struct forward {
    int32_t node, switch_;
    uint8_t kind;
    int32_t rank; /* that it was about */
    ftree_time at;
    struct ftree_symptom held; /* count 0: none */
    ftree_time follows; /* when that does */
};

struct ftree_intake {
    FTREE_ARRAY(struct forward) forwards;
    ftree_time delay, delay_var; /* of symptoms on their way here, estimated like round trips */
    uint32_t flood_round;
    ftree_time flood_at;
};

void ftree_intake_clear(struct ftree *ft);
/* The job ends here: nothing more is to be done. */
void ftree_intake_stop(struct ftree *ft);

/* intake.c */
void ftree_intake(struct ftree *ft, ftree_time now, const struct ftree_symptom *s, bool substitute);
void ftree_intake_silent(struct ftree *ft, ftree_time now, int32_t node);
void ftree_intake_again(struct ftree *ft, ftree_time now, const struct ftree_symptom *s);
bool ftree_intake_is_overloaded(const struct ftree *ft, ftree_time now,
                                const struct ftree_symptom *s);
void ftree_intake_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_intake_deadline(const struct ftree *ft);

/* correlate.c */
void ftree_correlate(struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                     uint32_t round);
/* It is not asked any more: what waited for that is looked at. */
void ftree_correlate_closed(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_,
                            bool well);
/* The rules have changed; and all that they say is to be asked is. */
void ftree_correlate_anew(struct ftree *ft, ftree_time now);
void ftree_correlate_examine_all(struct ftree *ft, ftree_time now);
void ftree_correlate_again(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_);
ftree_time ftree_correlate_window(const struct ftree *ft);
void ftree_correlate_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_correlate_deadline(const struct ftree *ft);

/* flood.c */
void ftree_flood_upward(struct ftree *ft, ftree_time now, int32_t from);
void ftree_flood_start(struct ftree *ft, ftree_time now);
void ftree_flood_heard(struct ftree *ft, ftree_time now, uint32_t round, int32_t from);
void ftree_flood_join(struct ftree *ft, ftree_time now, uint32_t round, int32_t from);

#pragma GCC visibility pop

#endif /* FTREE_INTAKE_H_INCLUDED */
