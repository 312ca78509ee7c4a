/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef COMMAND_H_INCLUDED
#define COMMAND_H_INCLUDED

#include <stdbool.h>

/* Purpose: the simulator with a command line (its first word is the program's name, as people call
 * it).  Returns the exit code: 0 every run is ok, 1 one is not, 2 wrong arguments. */
int sim_command(int argc, char **argv);

/* Purpose: runs a trace again.  Returns the exit code: 0 the same, 1 it differs, 2 wrong arguments
 * or a bad file. */
int sim_replay_command(int argc, char **argv);

#endif /* COMMAND_H_INCLUDED */
