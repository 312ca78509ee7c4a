/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LINK_WATCH_H_INCLUDED
#define FAULTLOC_LINK_WATCH_H_INCLUDED

#include "ftree/base/io.h"
#include "ftree/base/symptom.h"

/*
 * The data interface, as the kernel tells of its changes by itself (rtnetlink(7)): while there are
 * none nobody looks, and nothing is sent.  An interface that is down or without a carrier is a
 * symptom where a rank of this node waits meanwhile, and not before a flap would be over; one that
 * comes and goes is one whether a rank waits or not, and so is one that is slower than it should be,
 * of which the kernel tells only if it is asked.
 *
 * Of the adapter's port, which the data pass whatever the interface's state, the kernel tells nothing by
 * itself: it is looked at while a rank waits.  Where it is not active, the link has no carrier.
 */

struct faultloc_link_watch {
    const char *iface; /* "": not known */
    int fd; /* -1: none */
    const char *port; /* of the adapter; "": none, or not active as the job began */
    uint8_t link; /* enum ftree_link, of both */
    uint8_t iface_link, port_link; /* enum ftree_link */
    bool missed; /* messages of the kernel were lost */
    bool by_carrier; /* what was lost last is the carrier, and nothing else */
    ftree_time lost; /* since when it is not up; 0: it is */
    ftree_time reported; /* when that was a symptom last */
    ftree_time back[2]; /* when it came back last, and before */
    uint32_t changes; /* how often the interface's was lost, or came back */
    uint32_t flaps; /* how often it came back since the job began */
    bool flaps_told; /* of the last two */
    const char *sys_root; /* NULL: /sys */
    ftree_time port_seen; /* when it was looked at last */
    uint64_t downs; /* how often the port's link has been down; UINT64_MAX: not known */
    uint32_t due_mbps; /* the speed that it should have; 0: not known */
    ftree_time speed_seen; /* when it was read last; 0: never */
    uint32_t slow_reported; /* the speed that is reported as too low */
};

/* Purpose: begins; reads how interface and port are.  sys_root, port, due_mbps: as the fields.
 * Errors: an errno; then it is not watched. */
int faultloc_link_watch_open(struct faultloc_link_watch *w, const char *sys_root, const char *iface,
                             const char *port, uint32_t due_mbps);
void faultloc_link_watch_close(struct faultloc_link_watch *w);

/* Purpose: reads what the kernel has said, if its descriptor is ready. */
void faultloc_link_watch_hear(struct faultloc_link_watch *w, ftree_time now);

/* Purpose: the interface's link is `link` from `now` on. */
void faultloc_link_watch_note(struct faultloc_link_watch *w, ftree_time now, uint8_t link);

/* Purpose: true: there is a symptom of this node, `self`, one of whose ranks has waited for `waits`
 * ns; *s is it. */
bool faultloc_link_watch_symptom(struct faultloc_link_watch *w, ftree_time now, int32_t self,
                                 ftree_time waits, struct ftree_symptom *s);

/* Purpose: when the ranks are to be looked at because of it; FTREE_NEVER: not for that. */
ftree_time faultloc_link_watch_deadline(const struct faultloc_link_watch *w, ftree_time now);

#endif /* FAULTLOC_LINK_WATCH_H_INCLUDED */
