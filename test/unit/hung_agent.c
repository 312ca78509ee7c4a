/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The agent's program, linked with a file system that may hang: for test_program.c.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "hang.h"
