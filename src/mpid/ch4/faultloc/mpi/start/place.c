/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/start/place.h"

#include "faultloc/base/proc.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ---- marks ----------------------------------------------------------------------------------- */

static uint64_t hash(uint64_t h, const void *bytes, size_t len)
{
    /* FNV-1a, 64 bits */
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* Two hosts may bear one name (localhost, containers): the boot, the network and the process
 * namespace tell them apart, and who shares all of them can share a board. */
static uint64_t node_mark(const char *name)
{
    static const char *const files[] = {"/proc/self/ns/net", "/proc/self/ns/pid"};
    uint64_t h = hash(14695981039346656037u, name, strlen(name));
    char boot[64] = "";
    struct stat st;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (f) {
        size_t n = fread(boot, 1, sizeof(boot), f);
        h = hash(h, boot, n);
        fclose(f);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (stat(files[i], &st) == 0)
            h = hash(h, &st.st_ino, sizeof(st.st_ino));
    return h;
}

/* ---- who shares memory ----------------------------------------------------------------------- */

#if MPIDI_FAULTLOC_HAS_INIT_SHM

/*
 * One line of the memory that MPI_Init has, for each rank of the group, written by that rank alone.
 * `step` counts what it has said.  Who waits for it sleeps: ranks that share a core would else take
 * turns of milliseconds at waiting.
 */
#define WORDS 8

struct line {
    uint32_t step;              /* STEP(n): n words are there */
    struct MPIDI_faultloc_mark mark;    /* the first word of a rank */
    int8_t word[WORDS];
    int32_t board_fd;
};

#define STEP(n) (0x464c5000u + (uint32_t) (n))  /* what was there before is no step */

_Static_assert(sizeof(struct line) <= MPIDU_INIT_SHM_BLOCK_SIZE, "a line holds it");

static struct line *line_of(int local_rank)
{
    void *line = NULL;

    MPIDU_Init_shm_query(local_rank, &line);
    return line;
}

static void send_step(struct line *own, int step)
{
    __atomic_store_n(&own->step, STEP(step), __ATOMIC_RELEASE);
    syscall(SYS_futex, &own->step, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A rank may be lost meanwhile, and says nothing more; `pid` is 0 where it is not known yet. */
static bool is_lost(int32_t pid)
{
    return pid > 0 && faultloc_proc_fate(NULL, pid, 0) == FAULTLOC_PROC_GONE;
}

/* NULL: it is lost. */
static const struct line *wait_for_step(int local_rank, int step)
{
    const struct timespec patience = {.tv_nsec = 200000000 };
    struct line *line = line_of(local_rank);
    uint32_t seen;

    while ((seen = __atomic_load_n(&line->step, __ATOMIC_ACQUIRE)) - STEP(step) > WORDS)
        if (syscall(SYS_futex, &line->step, FUTEX_WAIT, seen, &patience, NULL, 0) < 0 &&
            errno == ETIMEDOUT && step > 1 && is_lost(line->mark.pid) &&
            __atomic_load_n(&line->step, __ATOMIC_ACQUIRE) == seen)
            return NULL;
    return line;
}

static bool is_first(void)
{
    return MPIR_Process.local_rank == 0;
}

/* The first rank's word to its group; 0 where that rank is lost. */
static void receive_first(struct MPIDI_faultloc_place *p, int32_t * word)
{
    struct line *own = line_of(MPIR_Process.local_rank);
    const struct line *first;

    if (is_first()) {
        own->word[p->received] = (int8_t) * word;
        send_step(own, ++p->received);
    } else {
        p->received++;
        first = wait_for_step(0, p->received);
        *word = first ? first->word[p->received - 1] : 0;
    }
}

/* For the first: whether all of the group say yes; if_lost: what one says that is lost. */
static bool combine_all(struct MPIDI_faultloc_place *p, bool mine, bool if_lost)
{
    struct line *own = line_of(MPIR_Process.local_rank);
    const struct line *line;
    bool all = mine;

    p->sent++;
    if (!is_first()) {
        own->word[p->sent - 1] = mine;
        send_step(own, p->sent);
        return mine;
    }
    for (int i = 1; i < MPIR_Process.local_size; i++) {
        line = wait_for_step(i, p->sent);
        all = (line ? line->word[p->sent - 1] : if_lost) && all;
    }
    return all;
}

/* For the first: the marks of its group. */
static void receive_marks(struct MPIDI_faultloc_place *p, const struct MPIDI_faultloc_mark *mine,
                       struct MPIDI_faultloc_mark *marks)
{
    struct line *own = line_of(MPIR_Process.local_rank);

    own->mark = marks[0] = *mine;
    combine_all(p, true, false);
    for (int i = 1; is_first() && i < MPIR_Process.local_size; i++)
        marks[i] = line_of(i)->mark;
}

static bool is_one_node(const struct MPIDI_faultloc_mark *marks, int n)
{
    for (int i = 1; i < n; i++)
        if (marks[i].node != marks[0].node)
            return false;
    return true;
}

/* The communicator of the first ranks of all groups, in the order of their ranks in the world. */
static MPIR_Comm *first_ranks(void)
{
    MPIR_Comm *world = MPIR_Process.comm_world;

    if (MPIR_Process.num_nodes == 1)
        return MPIR_Process.comm_self;
    return world->node_roots_comm ? world->node_roots_comm : world;
}

/* Among the first ranks: all marks of the world, by rank. */
static int gather_groups(struct MPIDI_faultloc_place *p, const struct MPIDI_faultloc_mark *own)
{
    MPIR_Comm *comm = first_ranks();
    int32_t size = MPIR_Process.comm_world->local_size, groups = comm->local_size;
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint n = MPIR_Process.local_size * (MPI_Aint) sizeof(*own);
    MPI_Aint *counts = malloc(2 * (size_t) groups * sizeof(*counts)), *at = counts + groups;
    struct MPIDI_faultloc_mark *marks = malloc((size_t) size * sizeof(*marks));

    MPIR_ERR_CHKANDJUMP(!counts || !marks, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allgather, &n, sizeof(n), MPIR_BYTE_INTERNAL, counts, sizeof(n), MPIR_BYTE_INTERNAL, comm);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < groups; i++)
        at[i] = i == 0 ? 0 : at[i - 1] + counts[i - 1];
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allgatherv, own, n, MPIR_BYTE_INTERNAL, marks, counts, at, MPIR_BYTE_INTERNAL, comm);
    MPIR_ERR_CHECK(mpi_errno);
    for (int32_t i = 0; i < size; i++)
        p->marks[marks[i].rank] = marks[i];

  fn_exit:
    free(counts);
    free(marks);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#endif /* MPIDI_FAULTLOC_HAS_INIT_SHM */

/* ---- who is on one node ---------------------------------------------------------------------- */

struct sorted {
    uint64_t node;
    int32_t rank;
};

static int by_node_then_rank(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* By their first ranks, so that rank 0 is on node 0, the root of the tree. */
static bool number_nodes(struct MPIDI_faultloc_place *p, int32_t size)
{
    struct sorted *s = malloc((size_t) size * sizeof(*s));

    if (!s)
        return false;
    for (int32_t r = 0; r < size; r++)
        s[r] = (struct sorted){.node = p->marks[r].node, .rank = r};
    qsort(s, (size_t) size, sizeof(*s), by_node_then_rank);
    for (int32_t i = 0, first = 0; i < size; i++) {
        if (s[i].node != s[first].node)
            first = i;
        p->rank_node[s[i].rank] = s[first].rank;        /* for now: the leader */
    }
    free(s);
    p->nodes = 0;
    for (int32_t r = 0; r < size; r++) {
        int32_t leader = p->rank_node[r];
        if (leader == r)
            p->leader[p->nodes++] = r;
        /* a leader is numbered before its followers, which have greater ranks */
        p->rank_node[r] = leader == r ? p->nodes - 1 : p->rank_node[leader];
    }
    return true;
}

static void find_own_place(struct MPIDI_faultloc_place *p, int32_t size, int32_t rank)
{
    p->self = p->rank_node[rank];
    p->leader_pid = p->marks[p->leader[p->self]].pid;
    p->slots = p->slot = 0;
    for (int32_t r = 0; r < size; r++)
        if (p->rank_node[r] == p->self) {
            p->slot += r < rank;
            p->slots++;
        }
}

/* The others keep to the first numbers until they have a board. */
bool MPIDI_faultloc_place_renumber(struct MPIDI_faultloc_place *p, const int32_t *order)
{
    int32_t size = MPIR_Process.comm_world->local_size;
    int32_t *number = malloc((size_t) p->nodes * sizeof(*number));
    int32_t *leader = malloc((size_t) size * sizeof(*leader));

    if (!number || !leader) {
        free(number);
        free(leader);
        return false;
    }
    for (int32_t k = 0; k < p->nodes; k++) {
        number[order[k]] = k;
        leader[k] = p->leader[order[k]];
    }
    for (int32_t r = 0; r < size; r++)
        p->rank_node[r] = number[p->rank_node[r]];
    p->self = number[p->self];
    free(p->leader);
    p->leader = leader;
    free(number);
    return true;
}

static bool has_tables(struct MPIDI_faultloc_place *p)
{
    size_t size = (size_t) MPIR_Process.comm_world->local_size;

    p->marks = malloc(size * sizeof(*p->marks));
    p->rank_node = malloc(size * sizeof(*p->rank_node));
    p->leader = malloc(size * sizeof(*p->leader));
    return p->marks && p->rank_node && p->leader;
}

/* From the marks of all ranks. */
static int fill_tables(struct MPIDI_faultloc_place *p)
{
    MPIR_Comm *world = MPIR_Process.comm_world;
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!number_nodes(p, world->local_size), mpi_errno, MPI_ERR_OTHER, "**nomem");
    find_own_place(p, world->local_size, world->rank);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#if MPIDI_FAULTLOC_HAS_INIT_SHM
/* The first ranks' part: *by_groups is what they have in common. */
static int compare_groups(struct MPIDI_faultloc_place *p, struct MPIDI_faultloc_mark *own,
                          int32_t * by_groups)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!has_tables(p), mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (int i = 0; i < MPIR_Process.local_size; i++)
        own[i].is_group = is_one_node(own, MPIR_Process.local_size);
    mpi_errno = gather_groups(p, own);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = fill_tables(p);
    MPIR_ERR_CHECK(mpi_errno);
    *by_groups = p->nodes == MPIR_Process.num_nodes;
    for (int32_t r = 0; r < MPIR_Process.comm_world->local_size; r++)
        *by_groups = *by_groups && p->marks[r].is_group;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Collective over the world; nobody but the first ranks has tables then. */
static int find_by_groups(struct MPIDI_faultloc_place *p, const struct MPIDI_faultloc_mark *mine)
{
    struct MPIDI_faultloc_mark *own = malloc((size_t) MPIR_Process.local_size * sizeof(*own));
    int32_t by_groups = 0;
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!own, mpi_errno, MPI_ERR_OTHER, "**nomem");
    receive_marks(p, mine, own);
    if (is_first())
        mpi_errno = compare_groups(p, own, &by_groups);
    receive_first(p, &by_groups);
    MPIR_ERR_CHECK(mpi_errno);
    p->by_groups = by_groups;
    p->leaders = is_first() ? first_ranks() : NULL;
    p->slots = MPIR_Process.local_size;
    p->slot = MPIR_Process.local_rank;
    p->leader_pid = line_of(0)->mark.pid;

  fn_exit:
    free(own);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
#endif

/* Collective over the world. */
static int find_by_all(struct MPIDI_faultloc_place *p, const struct MPIDI_faultloc_mark *mine)
{
    MPIR_Comm *world = MPIR_Process.comm_world;
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!p->marks && !has_tables(p), mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allgather, mine, sizeof(*mine), MPIR_BYTE_INTERNAL, p->marks, sizeof(*mine), MPIR_BYTE_INTERNAL, world);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = fill_tables(p);
    MPIR_ERR_CHECK(mpi_errno);
    p->leaders = NULL;
    mpi_errno = MPIR_Comm_split_impl(world, p->slot == 0 ? 0 : MPI_UNDEFINED, 0, &p->leaders);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_faultloc_place_find(struct MPIDI_faultloc_place *p, const char *node_name)
{
    struct MPIDI_faultloc_mark mine = {.node = node_mark(node_name),
        .rank = MPIR_Process.comm_world->rank,.pid = (int32_t) getpid()
    };
    int mpi_errno;

    *p = (struct MPIDI_faultloc_place) {.leaders = NULL };
#if MPIDI_FAULTLOC_HAS_INIT_SHM
    mpi_errno = find_by_groups(p, &mine);
    if (mpi_errno || p->by_groups)
        return mpi_errno;
#endif
    mpi_errno = find_by_all(p, &mine);
    return mpi_errno;
}

void MPIDI_faultloc_place_free(struct MPIDI_faultloc_place *p)
{
    if (p->leaders && !p->by_groups)
        MPIR_Comm_free_impl(p->leaders);
    free(p->marks);
    free(p->rank_node);
    free(p->leader);
    free(p->order);
}

/* ---- what they send each other --------------------------------------------------------------- */

static int receive_from_all(struct MPIDI_faultloc_place *p, int32_t * fd)
{
    MPIR_Comm *world = MPIR_Process.comm_world;
    int32_t *words = malloc((size_t) world->local_size * sizeof(*words));
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!words, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allgather, fd, 1, MPIR_INT_INTERNAL, words, 1, MPIR_INT_INTERNAL, world);
    MPIR_ERR_CHECK(mpi_errno);
    *fd = words[p->leader[p->self]];

  fn_exit:
    free(words);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_faultloc_place_board(struct MPIDI_faultloc_place *p, int32_t * fd)
{
#if MPIDI_FAULTLOC_HAS_INIT_SHM
    int32_t there = 1;

    if (p->by_groups) {
        if (is_first())
            line_of(0)->board_fd = *fd;
        receive_first(p, &there);
        *fd = line_of(0)->board_fd;
        return MPI_SUCCESS;
    }
#endif
    return receive_from_all(p, fd);
}

static int agree_in(struct MPIDI_faultloc_place *p, MPIR_Comm * comm, bool mine, bool last, bool * all)
{
    int in = mine ? INT_MAX : comm->rank, out = -1, mpi_errno;

    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allreduce, &in, &out, 1, MPIR_INT_INTERNAL, MPI_MIN, comm);
    *all = mpi_errno == MPI_SUCCESS && out == INT_MAX;
    p->is_first_not = mpi_errno == MPI_SUCCESS && out == comm->rank;
    if (last && MPIR_ERR_GET_CLASS(mpi_errno) == MPIX_ERR_PROC_FAILED) {
        mpi_errno = MPI_SUCCESS;
        *all = mine;
    }
    return mpi_errno;
}

int MPIDI_faultloc_place_agree(struct MPIDI_faultloc_place *p, bool mine, bool last, bool * all)
{
#if MPIDI_FAULTLOC_HAS_INIT_SHM
    int mpi_errno = MPI_SUCCESS;
    int32_t word;

    if (p->by_groups) {
        *all = combine_all(p, mine, last);
        if (p->leaders)
            mpi_errno = agree_in(p, p->leaders, *all, last, all);
        word = *all;
        receive_first(p, &word);
        *all = word;
        return mpi_errno;
    }
#endif
    return agree_in(p, MPIR_Process.comm_world, mine, last, all);
}
