/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_INT_H_INCLUDED
#define FTREE_INT_H_INCLUDED

#include "ftree/announce/announce.h"
#include "ftree/base/base.h"
#include "ftree/base/event.h"
#include "ftree/examine/examine.h"
#include "ftree/intake/intake.h"
#include "ftree/leave/leave.h"
#include "ftree/net/net.h"
#include "ftree/observe/observe.h"
#include "ftree/survey/survey.h"
#include "ftree/recheck/recheck.h"
#include "ftree/state/state.h"
#include "ftree/straggle/straggle.h"
#include "ftree/waitfor/waitfor.h"

/* All of a handle, for the file that puts it together, for the check of it, and for tests.  The
 * rooms do not include this. */

/* A handle and its parts, each as its room's header has it. */
struct ftree_whole {
    struct ftree ft;
    struct topo topo;
    struct ftree_state state;
    struct ftree_net net;
    struct ftree_observe observe;
    struct ftree_intake intake;
    struct ftree_examine examine;
    struct ftree_announce announce;
    struct ftree_leaving leave;
    struct ftree_waitfor waitfor;
    struct ftree_survey survey;
    struct ftree_straggle straggle;
};

/* After ftree_events_begin(): hands over the events that wait, and those that follow, to the end. */
void ftree_end(struct ftree *ft, ftree_time now) __attribute__((visibility("hidden")));

#endif /* FTREE_INT_H_INCLUDED */
