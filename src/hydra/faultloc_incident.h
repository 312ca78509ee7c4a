/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_INCIDENT_H_INCLUDED
#define FAULTLOC_INCIDENT_H_INCLUDED

#include "faultloc_hydra.h"

#include <stdio.h>

/*
 * An incident: what mpiexec knows of a job that goes wrong, that is ends of processes, in the order
 * in which they were reported, and verdicts.  From it follows how long cleaning up waits, which
 * process was the first, and mpiexec's exit code.  No hydra, no clock, no socket: times are
 * milliseconds of mpiexec's clock.
 *
 * The effects of a verdict are derived from the verdicts in force, each time; no message switches
 * anything.  So a withdrawal undoes all of it, whatever else was reported meanwhile:
 *
 *     effect of a verdict in force                    derived by           after its withdrawal
 *     connection of a proxy is watched, if one of incident_ends options are as before, if
 *       its ranks is gone for good no other verdict is in force
 *     a proxy all of whose ranks are gone has less    incident_ends        it has the whole time
 *       time to clean up
 *     an end that is unsure, a silent proxy, counts   counts               it does not count
 *     a symptom is not repeated                       incident_is_located  repeated at the next end
 *     cleaning up begins before the grace time ends incident_deadline the whole grace time passes
 *     first process, consequences, text, exit code    incident_first,      as if there had been no
 *                                                     incident_print         verdict
 *
 * Cleaning up that has begun is not undone: the processes are gone.  Proxies keep nothing of a
 * verdict: they forward messages.
 */

enum HYD_faultloc_event_kind {
    HYD_FAULTLOC_EVENT_END, /* a process ended */
    HYD_FAULTLOC_EVENT_ABORT, /* it called MPI_Abort */
    HYD_FAULTLOC_EVENT_ENDING, /* its agent kills it, to end the job: action abort */
    HYD_FAULTLOC_EVENT_LOST /* its proxy was lost, and with it all that is known of it */
};

struct HYD_faultloc_reason {
    int pgid, rank;
    int kind; /* enum faultloc_launcher_reason */
    char text[FAULTLOC_REASON_SIZE];
};

struct HYD_faultloc_event {
    int kind; /* enum HYD_faultloc_event_kind */
    int pgid; /* which process group: ranks are counted in each */
    char host[64];
    int64_t ms; /* when it was reported */
    int64_t ended; /* when it happened, as far as is known; 0: that is not known */
    struct HYD_faultloc_end end; /* of the lost: rank, pid, agent and unsure alone */
    char class_[24]; /* that of the verdict because of which FaultLoc ends the job, or "" */
    struct HYD_faultloc_reason reason; /* its own; FAULTLOC_REASON_NONE: it gave none */
};

struct HYD_faultloc_verdict {
    int pgid;
    int64_t ms;
    bool withdrawn;
    struct faultloc_launcher_message message;
};

struct HYD_faultloc_incident {
    int64_t grace_ms;
    struct HYD_faultloc_event *event;
    struct HYD_faultloc_verdict *verdict;
    struct HYD_faultloc_reason *reason; /* of ranks whose ends are not known yet */
    int events, verdicts, reasons;
};

#define HYD_FAULTLOC_GRACE_MS 3000
#define HYD_FAULTLOC_NEVER INT64_MAX

/* Purpose: the grace time that a text asks for; NULL: nobody asked.  Returns false where it is no
 * number from 0 to 60000, and then takes HYD_FAULTLOC_GRACE_MS. */
bool HYD_faultloc_incident_grace(struct HYD_faultloc_incident *s, const char *text);

/* Purpose: adds a copy of an event.  If the same process is reported again, what was unsure is
 * replaced.  Returns false where there is no memory. */
bool HYD_faultloc_incident_add(struct HYD_faultloc_incident *s,
                               const struct HYD_faultloc_event *event);

/* Purpose: a verdict was reported or withdrawn.  Returns false where there is no memory. */
bool HYD_faultloc_incident_verdict(struct HYD_faultloc_incident *s, int pgid, int64_t ms,
                                   const struct faultloc_launcher_message *message);

/* Purpose: a rank, or its agent, said why it ends; before or after its end is known.  Returns false
 * where there is no memory. */
bool HYD_faultloc_incident_reason(struct HYD_faultloc_incident *s, int pgid,
                                  const struct faultloc_launcher_message *message);

/* Purpose: when all others are to be ended; HYD_FAULTLOC_NEVER: there is no reason to.  `listening`
 * says that there is somebody left who could report a verdict. */
int64_t HYD_faultloc_incident_deadline(const struct HYD_faultloc_incident *s, bool listening);

/* Purpose: the place in `event` of who was the first; -1: nobody ended badly. */
int HYD_faultloc_incident_first(const struct HYD_faultloc_incident *s);

/* Purpose: true if this event may be the first as well as the one that
 * HYD_faultloc_incident_first() names: on two hosts, so soon after each other that their order is
 * not known. */
bool HYD_faultloc_incident_may_be_first(const struct HYD_faultloc_incident *s, int event);

/* Purpose: the first verdict about this group that stands; NULL: there is none. */
const struct faultloc_launcher_message *
HYD_faultloc_incident_standing(const struct HYD_faultloc_incident *s, int pgid);

/* Purpose: true if a verdict that stands says that this rank is at fault. */
bool HYD_faultloc_incident_is_located(const struct HYD_faultloc_incident *s, int pgid, int rank);

/* Purpose: true if a verdict that stands says that this rank is gone for good. */
bool HYD_faultloc_incident_ends(const struct HYD_faultloc_incident *s, int pgid, int rank);

/* Purpose: true if it is known how this rank ended. */
bool HYD_faultloc_incident_has_end(const struct HYD_faultloc_incident *s, int pgid, int rank);

/* Purpose: all others wait for the lost of this group: what was unsure of them is so no more. */
void HYD_faultloc_incident_confirm_lost(struct HYD_faultloc_incident *s, int pgid, int64_t ms);

/* Purpose: true if the job is ended by one of its own processes, by MPI_Abort or by an agent. */
bool HYD_faultloc_incident_has_abort(const struct HYD_faultloc_incident *s);

/* Purpose: true if this one is a victim of a fault that was located. */
bool HYD_faultloc_incident_is_consequence(const struct HYD_faultloc_incident *s, int event);

/* Purpose: mpiexec's exit code, that of the first: 128 + signal, or its code, or 1 where that
 * would be 0; -1: nobody ended badly. */
int HYD_faultloc_incident_exit_code(const struct HYD_faultloc_incident *s);

/* Purpose: for people: who was the first, what followed, the verdicts.  Nothing where nobody ended
 * badly. */
void HYD_faultloc_incident_print(const struct HYD_faultloc_incident *s, FILE *out);

#endif /* FAULTLOC_INCIDENT_H_INCLUDED */
