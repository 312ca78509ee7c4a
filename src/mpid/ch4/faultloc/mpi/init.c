/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/leader.h"
#include "faultloc/mpi/parts.h"

#include "faultloc/base/say.h"

#include <sodium.h>

/*
 * The start.  The ranks agree on who is on which node, the first rank of each node (its leader)
 * makes the board, the leaders exchange addresses, every rank maps its slot, and the leaders start
 * the agents.
 *
 * Every step is taken by all ranks, whatever went wrong before: who has a problem says so and goes
 * on, and at the end faultloc is on in all ranks, or disabled in all.
 */

/* Followers learn which descriptor of their leader is the board. */
static int join_node(struct MPIDI_faultloc_place *p, struct MPIDI_faultloc_leader *l, bool * fine)
{
    struct faultloc_board *b = MPIDI_faultloc_mapped_board();
    int32_t fd = l->board_fd;
    int mpi_errno, rc;

    mpi_errno = MPIDI_faultloc_place_board(p, &fd);
    MPIR_ERR_CHECK(mpi_errno);
    if (p->slot > 0 && *fine && fd >= 0) {
        rc = faultloc_board_open(p->leader_pid, fd, &b, &l->board_fd);
        MPIDI_faultloc_take_board(b);
        if (rc)
            faultloc_say("rank %d: cannot open the board of process %d: %s", MPIR_Process.rank,
                         (int) p->leader_pid, strerror(rc));
    }
    *fine = *fine && b && MPIDI_faultloc_map_slot(l->board_fd, p->slot);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static int start(const char *name, const char *job_id, bool fine)
{
    struct MPIDI_faultloc_leader l = {.board_fd = -1,.sock = -1,
        .ports = { {.fd = {-1, -1}}, {.fd = {-1, -1}} }
    };
    struct MPIDI_faultloc_place p = {.leaders = NULL };
    int mpi_errno = MPI_SUCCESS;
    bool all = false;

    if (MPIR_Process.comm_world->local_size == 1)
        return MPI_SUCCESS;     /* nobody to wait for */
    mpi_errno = MPIDI_faultloc_place_find(&p, name);
    MPIR_ERR_CHECK(mpi_errno);
    if (p.leaders) {
        mpi_errno = MPIDI_faultloc_leader_set_up(&l, &p, name, job_id, &fine);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = join_node(&p, &l, &fine);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_faultloc_place_agree(&p, fine, false, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (all) {
        fine = p.slot > 0 || MPIDI_faultloc_leader_start_agent(&l, name);
        mpi_errno = MPIDI_faultloc_place_agree(&p, fine, true, &all);
        MPIR_ERR_CHECK(mpi_errno);
    }
    MPIDI_faultloc_begin(all);

  fn_exit:
    MPIDI_faultloc_leader_end(&l, all);
    MPIDI_faultloc_place_free(&p);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_faultloc_start(void)
{
    char name[FAULTLOC_NAME_SIZE], job_id[FAULTLOC_JOB_ID_SIZE];

    if (!MPIR_CVAR_FAULTLOC)
        return MPI_SUCCESS;
    MPIDI_faultloc_read_node_name(name);
    MPIDI_faultloc_read_job_id(job_id, sizeof(job_id));
    return start(name, job_id, sodium_init() >= 0);
}
