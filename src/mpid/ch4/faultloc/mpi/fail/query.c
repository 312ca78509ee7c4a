/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/fail/fail.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "faultloc/board/verdicts.h"

/*
 * A global view of failures, for the program: MPIX_Comm_failure_ack and _get_acked, the event
 * faultloc_verdict of MPI_T, MPIX_Faultloc_verdicts.  All of it is read from the node's board,
 * which the agent keeps; nobody is asked, so that a rank learns the same whatever it is doing.
 */

/* ---- failures of a communicator -------------------------------------------------------------- */

int MPIDI_faultloc_failure_ack(MPIR_Comm * comm)
{
    struct faultloc_board *b = MPIDI_faultloc_board();

    if (b)
        MPIDI_faultloc_raise_events(b);
    MPIDI_COMM(comm, faultloc_acked) = b ? b->failures : 0;
    return MPI_SUCCESS;
}

/* Marks in `is_member`, by rank of the world, those of a group that are of this world. */
static void mark_members(const struct faultloc_board *b, MPIR_Group * group, char *is_member)
{
    for (int i = 0; i < group->size; i++)
        if ((uint64_t) MPIDI_FAULTLOC_LPID(group, i) < (uint64_t) b->size)
            is_member[MPIDI_FAULTLOC_LPID(group, i)] = 1;
}

/* Of an intercommunicator both groups. */
static int find_members(const struct faultloc_board *b, MPIR_Comm * comm, char *is_member)
{
    MPIR_Group *group = NULL;
    int mpi_errno;

    mpi_errno = MPIR_Comm_group_impl(comm, &group);
    MPIR_ERR_CHECK(mpi_errno);
    mark_members(b, group, is_member);
    MPIR_Group_release(group);
    if (comm->comm_kind == MPIR_COMM_KIND__INTERCOMM) {
        mpi_errno = MPIR_Comm_remote_group_impl(comm, &group);
        MPIR_ERR_CHECK(mpi_errno);
        mark_members(b, group, is_member);
        MPIR_Group_release(group);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The members among the first `acked` failures, in their order. */
static int make_group(const struct faultloc_board *b, int acked, const char *is_member,
                      MPIR_Group ** group)
{
    int32_t *failed = malloc((size_t) acked * sizeof(*failed));
    int mpi_errno = MPI_SUCCESS, n = 0;

    MPIR_ERR_CHKANDJUMP(!failed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (int i = 0; i < acked; i++)
        if (is_member[faultloc_board_failed(b)[i]])
            failed[n++] = faultloc_board_failed(b)[i];
    if (n > 0)
        mpi_errno = MPIDI_faultloc_group_of(failed, n, group);

  fn_exit:
    free(failed);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_faultloc_failure_get_acked(MPIR_Comm * comm, MPIR_Group ** group)
{
    struct faultloc_board *b = MPIDI_faultloc_board();
    int mpi_errno = MPI_SUCCESS, acked = MPIDI_COMM(comm, faultloc_acked);
    char *is_member = NULL;

    *group = MPIR_Group_empty;
    if (b)
        MPIDI_faultloc_raise_events(b);
    if (!b || acked == 0)
        goto fn_exit;
    is_member = calloc((size_t) b->size, 1);
    MPIR_ERR_CHKANDJUMP(!is_member, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = find_members(b, comm, is_member);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = make_group(b, acked, is_member, group);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    free(is_member);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* The job's start where no board knows it: that of this process. */
static int64_t process_started_ms(void)
{
    struct faultloc_proc proc = { 0 };
    struct timespec t;
    int64_t up_ms;

    if (faultloc_proc_read(NULL, getpid(), &proc))
        return faultloc_unix_ms();
    clock_gettime(CLOCK_BOOTTIME, &t);
    up_ms = (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
    return faultloc_unix_ms() - up_ms + (int64_t) (proc.start * 1000 / (uint64_t) sysconf(_SC_CLK_TCK));
}

static char *report(void)
{
    struct faultloc_board *b = MPIDI_faultloc_board();
    const struct ftree_job *job = MPIDI_faultloc_job();
    char job_id[FAULTLOC_JOB_ID_SIZE];

    if (b && job) {
        MPIDI_faultloc_raise_events(b);
        return faultloc_verdicts_json(b, job, faultloc_now(), faultloc_unix_ms());
    }
    MPIDI_faultloc_read_job_id(job_id, sizeof(job_id));
    return faultloc_verdicts_none(job_id, MPIR_Process.size,
                                  MPIR_Process.num_nodes > 0 ? MPIR_Process.num_nodes : 1,
                                  process_started_ms());
}

int MPIDI_faultloc_verdicts(char *json, int *len)
{
    int mpi_errno = MPI_SUCCESS;
    char *text = NULL;

    MPIR_ERR_CHKANDJUMP1(*len > 0 && !json, mpi_errno, MPI_ERR_ARG, "**nullptr", "**nullptr %s",
                         "json");
    text = report();
    MPIR_ERR_CHKANDJUMP(!text, mpi_errno, MPI_ERR_OTHER, "**nomem");
    faultloc_verdicts_copy(text, json, len);

  fn_exit:
    free(text);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the event ------------------------------------------------------------------------------- */

static struct {
    int index;
    bool is_registered;
    atomic_flag raising; /* by one thread at a time, and not by what is called back */
    struct faultloc_news news;
} event = {.raising = ATOMIC_FLAG_INIT};

#define EVENT "faultloc_verdict"
#define INTS ((int) (offsetof(struct faultloc_event, class_name) - \
                     offsetof(struct faultloc_event, fln)) / (int) sizeof(int32_t))
#define CHARS ((int) (sizeof(((struct faultloc_event *) NULL)->class_name) + \
                      sizeof(((struct faultloc_event *) NULL)->node_name)))
#define ELEMENTS (2 + INTS + CHARS)

/* MPI_T knows single elements only: a name is as many of them as it has room for. */
static void list_elements(MPI_Datatype * type, MPI_Aint * at)
{
    int n = 0;

    type[n] = MPI_INT64_T;
    at[n++] = offsetof(struct faultloc_event, located_ms);
    type[n] = MPI_UINT32_T;
    at[n++] = offsetof(struct faultloc_event, id);
    for (int i = 0; i < INTS; i++, n++) {
        type[n] = MPI_INT32_T;
        at[n] = (MPI_Aint) (offsetof(struct faultloc_event, fln) + (size_t) i * sizeof(int32_t));
    }
    for (int i = 0; i < CHARS; i++, n++) {
        type[n] = MPI_CHAR;
        at[n] = (MPI_Aint) offsetof(struct faultloc_event, class_name) + i;
    }
}

/* At MPI_Init.  MPI_T forgets its events when it ends, and MPI may begin again after that. */
void MPIDI_faultloc_register_event(void)
{
    MPI_Datatype type[ELEMENTS];
    MPI_Aint at[ELEMENTS];
    int source;

    if (MPIR_T_event_get_index_impl(EVENT, &event.index) != MPI_SUCCESS) {
        list_elements(type, at);
        MPIR_T_register_source("FAULTLOC", "verdicts of the fault localization tree",
                               MPI_T_SOURCE_ORDERED, NULL, -1, -1, &source);
        MPIR_T_register_event(source, EVENT, MPI_T_VERBOSITY_USER_BASIC, type, at, ELEMENTS,
                              "a fault of the job was located, or is over: located_ms id fln class "
                              "rank node pid confidence withdrawn victims failures class_name[24] "
                              "node_name[64]", MPI_T_BIND_NO_OBJECT, "FAULTLOC", &event.index);
    }
    event.is_registered = true;
}

static void raise_event(const struct faultloc_board *b, const struct ftree_verdict *v)
{
    struct faultloc_event data;

    faultloc_event_fill(b, v, faultloc_now(), faultloc_unix_ms(), &data);
    MPIR_T_event_instance(event.index, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &data);
}

void MPIDI_faultloc_raise_events(const struct faultloc_board *b)
{
    struct ftree_verdict *room;

    if (likely(!faultloc_news_may_be(&event.news, b)) || !event.is_registered ||
        atomic_flag_test_and_set(&event.raising))
        return;
    /* on the stack of a rank there may be no room for it */
    room = malloc(sizeof(*room));
    while (room && faultloc_news_next(&event.news, b, room))
        raise_event(b, room);
    free(room);
    atomic_flag_clear(&event.raising);
}
