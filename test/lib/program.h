/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef PROGRAM_H_INCLUDED
#define PROGRAM_H_INCLUDED

#include "faultloc/agent/process/program.h"

/* What the parts of an agent share, without its processes: node `self` of the sample job
 * (sample.h), whose two ranks are this process, with a board and with a core that sends nothing. */

#define PROGRAM_NOW (100000 * FTREE_MS) /* when the core looks at a rank */

void program_open(struct faultloc_program *p, int32_t self);
void program_close(struct faultloc_program *p);

/* Local rank i has ended. */
void program_rank_gone(struct faultloc_program *p, int32_t i);

/* A pair of sockets for a question: *reply is what the agent gets.  Returns that of who asks. */
int program_question(int *reply);

/* What the agent has answered, until the next call; "": nothing yet. */
const char *program_answer(int fd);

#endif /* PROGRAM_H_INCLUDED */
