/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_JOB_H_INCLUDED
#define FAULTLOC_JOB_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * The job in words of the core, as the board describes it.
 */

struct faultloc_job {
    struct ftree_job job; /* its tables are the board's; its rules are the owner's to set */
    struct ftree_tree *tree; /* the FLT from outside; NULL: there is none */
    const char **names; /* [nodes] */
};

/* Purpose: describes the job of a board, which must outlive *out; to be ended by
 * faultloc_job_free(), also after an error.
 * Errors: ENOMEM; EPROTO: the packed tree is none. */
int faultloc_job_describe(const struct faultloc_board *b, struct faultloc_job *out);

/* Purpose: gives back what describing took; one that is all 0 is allowed. */
void faultloc_job_free(struct faultloc_job *j);

#endif /* FAULTLOC_JOB_H_INCLUDED */
