/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "command.h"

#include <string.h>

/* With "replay" as its first word it is `faultloc replay`, else `faultloc simulate`. */
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "replay"))
        return sim_replay_command(argc - 1, argv + 1);
    return sim_command(argc, argv);
}
