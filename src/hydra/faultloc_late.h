/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LATE_H_INCLUDED
#define FAULTLOC_LATE_H_INCLUDED

#include "faultloc_hydra.h"

#include <stdio.h>

/*
 * What mpiexec says of a barrier for which ranks wait too long: how many have come, who has not,
 * and why.  Ranks of any hosts with the same reason share a line.  Pure.
 */

/* Some ranks of one host that have not come, and what is known of them. */
struct HYD_faultloc_late {
    const char *host;
    int ranks; /* how many */
    struct HYD_faultloc_group group;
};

struct HYD_faultloc_note {
    const char *call; /* in which the barrier is: "MPI_Init" */
    int pgid; /* which process group */
    int come, size; /* ranks that have come, of so many */
    int64_t quiet_ms; /* since the last one came */
    bool verbose; /* every line and every host, instead of the most important ones */
    struct HYD_faultloc_late *late; /* in any order */
    int lates;
    const struct faultloc_launcher_message *verdict; /* that stands; NULL: none does */
};

/* Purpose: the note.  Nothing where nobody is late.  Changes `come` and the list. */
void HYD_faultloc_late_print(struct HYD_faultloc_note *note, FILE *out);

/* Purpose: the note on what processes have left that are through with MPI. */
void HYD_faultloc_late_print_left(struct HYD_faultloc_note *note, FILE *out);

/* Purpose: the note that all have come, `took_ms` after the first. */
void HYD_faultloc_late_print_over(const struct HYD_faultloc_note *note, int64_t took_ms, FILE *out);

/* Purpose: the note that process `who` on that host has asked for a connection `tries` times in
 * who->age_ms, and nobody has answered. */
void HYD_faultloc_late_print_connects(const char *host, const struct HYD_faultloc_end *who,
                                      const char *to, int tries, FILE *out);

#endif /* FAULTLOC_LATE_H_INCLUDED */
