/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "command.h"

int main(int argc, char **argv)
{
    return sim_command(argc, argv);
}
