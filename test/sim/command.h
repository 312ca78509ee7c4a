/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef COMMAND_H_INCLUDED
#define COMMAND_H_INCLUDED

/* Purpose: the simulator with a command line (its first word is the program's name, as people call
 * it).  Returns the exit code: 0 every run is ok, 1 one is not, 2 wrong arguments. */
int sim_command(int argc, char **argv);

#endif /* COMMAND_H_INCLUDED */
