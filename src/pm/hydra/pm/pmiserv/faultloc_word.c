/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The check of words is the agents' own; hydra's makefiles reach no further than hydra. */

#include "../../../../mpid/ch4/faultloc/board/launcher.c"
