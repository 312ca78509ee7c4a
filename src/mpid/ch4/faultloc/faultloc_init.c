/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#include "faultloc_clock.h"
#include "faultloc_failed.h"
#include "faultloc_iface.h"
#include "faultloc_job.h"
#include "faultloc_place.h"
#include "faultloc_proc.h"
#include "faultloc_program.h"
#include "faultloc_pt2pt.h"
#include "faultloc_query.h"
#include "faultloc_report.h"
#include "faultloc_spawn.h"
#include "faultloc_topology.h"

#include <sodium.h>

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories:
    - name        : FAULTLOC
      description : cvars of the fault localization tree

cvars:
    - name        : MPIR_CVAR_FAULTLOC
      category    : FAULTLOC
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If 1, a fault of the job (a lost node, a stopped or vanished process) is located and
        reported while the job runs. Must be the same on all ranks.

    - name        : MPIR_CVAR_FAULTLOC_FANOUT
      category    : FAULTLOC
      type        : int
      default     : 32
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Children of a node in the fault localization tree, 1 to 1024; of a node that is the first
        of several switches (see MPIR_CVAR_FAULTLOC_TOPOLOGY), for each of them.

    - name        : MPIR_CVAR_FAULTLOC_TOPOLOGY
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        A file that says which nodes are behind which switch, in the syntax of Slurm's
        topology.conf; rank 0 reads it. Nodes behind one switch are then in one subtree of the
        fault localization tree. Also a string such as "switch:2 node:4": two switches of four
        nodes each, in the order of their first ranks. If empty or wrong, only
        MPIR_CVAR_FAULTLOC_FANOUT shapes the tree.

    - name        : MPIR_CVAR_FAULTLOC_DATA_IFACE
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The interface of the data path, by name (ib0) or subnet (10.0.0.0/16). If empty, the one
        that UCX_NET_DEVICES names, else the first with an address.

    - name        : MPIR_CVAR_FAULTLOC_MGMT_IFACE
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The interface of the management path, by name or subnet; none if there is none. If empty,
        the next interface on another subnet than the data path's.

    - name        : MPIR_CVAR_FAULTLOC_STALL_MS
      category    : FAULTLOC
      type        : int
      default     : 1000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a rank may wait, in milliseconds, before the node of the rank it waits for is
        asked; 100 to 3600000. Asking is cheap and accuses nobody.

    - name        : MPIR_CVAR_FAULTLOC_SAMPLE_MS
      category    : FAULTLOC
      type        : int
      default     : 400
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Mean time between two looks of a node's agent at its own ranks, in milliseconds; 10 to
        60000. Looking sends nothing.

    - name        : MPIR_CVAR_FAULTLOC_REPORT
      category    : FAULTLOC
      type        : string
      default     : "faultloc-%j.json"
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The file that the report is written to when there is one; %j is the job's id, %h the name
        of the reporting node. If empty, there is no file.

    - name        : MPIR_CVAR_FAULTLOC_ACTION
      category    : FAULTLOC
      type        : string
      default     : "report"
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        What happens once a fault is located: report tells it, abort then also ends the job
        (MPIR_CVAR_FAULTLOC_PATIENCE_MS), but not for a straggler, for a fault that was not
        identified, or for a process that a debugger holds.

    - name        : MPIR_CVAR_FAULTLOC_SILENCE_MS
      category    : FAULTLOC
      type        : int
      default     : 900
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a node that is asked must be silent before it is accused, in milliseconds, 300 to
        60000; longer where round trips take long. Longer survives longer silences of the network,
        and finds an outage as much later.

    - name        : MPIR_CVAR_FAULTLOC_PATIENCE_MS
      category    : FAULTLOC
      type        : int
      default     : 4000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a verdict must have stood, in milliseconds, 0 to 600000, before something is done
        because of it that cannot be undone: with MPIR_CVAR_FAULTLOC_ACTION=abort the job is ended,
        after its component was asked once more; and a lost node is given up: what waits for its
        ranks fails with MPIX_ERR_PROC_FAILED. A process that has ended without MPI_Finalize is
        waited for no longer.

    - name        : MPIR_CVAR_FAULTLOC_GRACE_MS
      category    : FAULTLOC
      type        : int
      default     : 3000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        How long a dying job may wait for its verdict, in milliseconds, 0 to 60000: mpiexec before
        it cleans up, and a rank before it aborts because of an error of the transport. It never
        takes longer than the verdict does.

    - name        : MPIR_CVAR_FAULTLOC_NODE_NAME
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        What this node is called in reports. Ranks of one host that are given different names are
        treated as on different nodes. If empty, the host's name.

    - name        : MPIR_CVAR_FAULTLOC_TRACE
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        A file to which every agent appends a line per decision; %j is the job's id, %h the node's
        name. If empty, there is no trace.

    - name        : MPIR_CVAR_FAULTLOC_RULES
      category    : FAULTLOC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The rule base, a file of JSON (faultloc rules print shows the built-in one); %j is the
        job's id, %h the node's name. It is read again when it changes while the job runs. If
        empty, the built-in base.

    - name        : MPIR_CVAR_FAULTLOC_SYMPTOMS
      category    : FAULTLOC
      type        : int
      default     : 1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If 1, the agent of each node listens on a Unix socket for symptoms that other middleware
        of the same user or of root tells it (faultloc symptom). If 0, it does not.

    - name        : MPIR_CVAR_FAULTLOC_VERBOSE
      category    : FAULTLOC
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If 1, a report on stderr has the table of nodes (name, addresses, alive or not) and the
        last decisions of the reporting node, and its JSON the whole table however large the job.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/*
 * Starting and stopping, the only code of faultloc that talks to MPICH.  The ranks agree on who is
 * on which node, the first rank of each node (its leader) makes the board, the leaders exchange
 * addresses, every rank maps its slot, and the leaders start the agents.
 *
 * Every step is taken by all ranks, whatever went wrong before: who has a problem says so and goes
 * on, and at the end faultloc is on in all ranks, or disabled in all.
 */

union MPIDI_faultloc_page MPIDI_faultloc_page __attribute__((aligned(FAULTLOC_SLOT_ALIGN)));

static struct {
    struct faultloc_board *board; /* NULL: faultloc is off */
    bool is_on;                 /* from the end of MPI_Init until the rank leaves */
    struct faultloc_job job;
    uint64_t wait_seen_ns;      /* when the noted wait was last seen to go on */
} local;

/* What this leader could not do: told where it is the first of all that could not. */
static char problem[FAULTLOC_SPAWN_PATH + 256];

/* How long another thread's wait must not have turned to be taken for over, ns. */
#define WAIT_OVER_NS 100000000

/* What a leader tells the others. */
struct card {
    struct faultloc_address address;
    char name[FAULTLOC_NAME_SIZE];
    uint8_t public_key[crypto_box_PUBLICKEYBYTES];
};

/* ---- settings -------------------------------------------------------------------------------- */

static int in_range(const char *name, int value, int least, int most, int otherwise)
{
    if (value >= least && value <= most)
        return value;
    if (MPIR_Process.rank == 0)
        faultloc_say("%s=%d is out of range %d..%d; using %d", name, value, least, most, otherwise);
    return otherwise;
}

static enum faultloc_action read_action(void)
{
    if (!strcmp(MPIR_CVAR_FAULTLOC_ACTION, "abort"))
        return FAULTLOC_ACTION_ABORT;
    if (strcmp(MPIR_CVAR_FAULTLOC_ACTION, "report") && MPIR_Process.rank == 0)
        faultloc_say("MPIR_CVAR_FAULTLOC_ACTION=%s: must be \"report\" or \"abort\"; using \"report\"",
                     MPIR_CVAR_FAULTLOC_ACTION);
    return FAULTLOC_ACTION_REPORT;
}

/* A file name as given, but whole, because the program may change its directory. */
static void read_path(const char *cvar, const char *pattern, const char *job_id, const char *node,
                      char *out)
{
    char name[FAULTLOC_PATH_ROOM], cwd[FAULTLOC_PATH_ROOM];
    bool fits = faultloc_expand(pattern, job_id, node, name, sizeof(name));

    out[0] = '\0';
    if (!pattern[0])
        return;
    if (fits && name[0] != '/' && getcwd(cwd, sizeof(cwd)))
        fits = snprintf(out, FAULTLOC_PATH_ROOM, "%s/%s", cwd, name) < FAULTLOC_PATH_ROOM;
    else if (fits)
        memcpy(out, name, sizeof(name));
    if (fits)
        return;
    out[0] = '\0';
    if (MPIR_Process.rank == 0)
        faultloc_say("%s=%s is too long, or has a %% that is not %%j, %%h or %%%%; the file is not "
                     "used", cvar, pattern);
}

static void read_settings(struct faultloc_settings *s, const char *job_id, const char *node)
{
    const char *launcher;

    memset(s, 0, sizeof(*s));
    s->stall = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_STALL_MS",
                                                MPIR_CVAR_FAULTLOC_STALL_MS, 100, 3600000, 1000);
    s->sample = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_SAMPLE_MS",
                                                 MPIR_CVAR_FAULTLOC_SAMPLE_MS, 10, 60000, 400);
    s->grace = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_GRACE_MS",
                                                MPIR_CVAR_FAULTLOC_GRACE_MS, 0, 60000, 3000);
    s->silence = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_SILENCE_MS",
                                                  MPIR_CVAR_FAULTLOC_SILENCE_MS, 300, 60000, 900);
    s->patience = FTREE_MS * (ftree_time) in_range("MPIR_CVAR_FAULTLOC_PATIENCE_MS",
                                                   MPIR_CVAR_FAULTLOC_PATIENCE_MS, 0, 600000,
                                                   4000);
    s->action = read_action();
    launcher = getenv(FAULTLOC_LAUNCHER_ENV);
    if (launcher && (launcher[0] == '/' || launcher[0] == '@') && strlen(launcher) < sizeof(s->launcher))
        MPL_strncpy(s->launcher, launcher, sizeof(s->launcher));
    read_path("MPIR_CVAR_FAULTLOC_REPORT", MPIR_CVAR_FAULTLOC_REPORT, job_id, node, s->report);
    read_path("MPIR_CVAR_FAULTLOC_TRACE", MPIR_CVAR_FAULTLOC_TRACE, job_id, node, s->trace);
    read_path("MPIR_CVAR_FAULTLOC_RULES", MPIR_CVAR_FAULTLOC_RULES, job_id, node, s->rules);
    s->symptoms = MPIR_CVAR_FAULTLOC_SYMPTOMS;
    s->verbose = MPIR_CVAR_FAULTLOC_VERBOSE;
}

/* The scheduler's number for the job where there is one, and for its step; else PMI's name for it,
 * of which hydra's, kvs_PID_..., is told by the process id of mpiexec alone. */
void MPIDI_faultloc_read_job_id(char *out, size_t room)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
    const char *id = MPIR_pmi_job_id(), *step = getenv("SLURM_STEP_ID"), *number;
    int pid, world;

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        number = getenv(variables[i]);
        if (!number || !number[0])
            continue;
        snprintf(out, room, "%s%s%s", number, i == 0 && step ? "." : "",
                 i == 0 && step ? step : "");
        return;
    }
    if (id && sscanf(id, "kvs_%d_%d_", &pid, &world) == 2) {
        if (world == 0)
            snprintf(out, room, "%d", pid);
        else
            snprintf(out, room, "%d-%d", pid, world);
        return;
    }
    MPL_strncpy(out, id && id[0] ? id : "job", room);
}

/* ---- who is where ------------------------------------------------------------------------------ */

static void read_node_name(char *name)
{
    size_t n;

    memset(name, 0, FAULTLOC_NAME_SIZE);
    if (MPIR_CVAR_FAULTLOC_NODE_NAME && MPIR_CVAR_FAULTLOC_NODE_NAME[0])
        MPL_strncpy(name, MPIR_CVAR_FAULTLOC_NODE_NAME, FAULTLOC_NAME_SIZE);
    else if (gethostname(name, FAULTLOC_NAME_SIZE - 1))
        MPL_strncpy(name, "?", FAULTLOC_NAME_SIZE);
    n = strcspn(name, ".");
    if (n > 0 && !(name[0] >= '0' && name[0] <= '9'))
        name[n] = '\0';         /* the short name, unless it is an address */
    faultloc_clean_name(name);
}

/* ---- the tree from outside --------------------------------------------------------------------- */

/* The first leader reads what is to be read; *t is then the same on all of them. */
static int share_topology(MPIR_Comm * leaders, struct faultloc_topology *t, int32_t fanout)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    uint64_t head[2] = { 0, 0 };        /* bytes, with the final zero; is it a string */
    char error[512];
    int mpi_errno;

    if (leaders->rank == 0 &&
        faultloc_topology_load(MPIR_CVAR_FAULTLOC_TOPOLOGY, t, error, sizeof(error)))
        faultloc_say("%s; using a tree of fan-out %d", error, fanout);
    if (leaders->rank == 0 && t->text) {
        head[0] = t->len + 1;
        head[1] = t->is_string;
    }
    mpi_errno = MPIR_Bcast(head, sizeof(head), MPI_BYTE, 0, leaders, &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (head[0] == 0)
        goto fn_exit;
    if (leaders->rank > 0) {
        *t = (struct faultloc_topology) {
        .text = malloc(head[0]),.len = head[0] - 1,.is_string = head[1] != 0};
        MPIR_ERR_CHKANDJUMP(!t->text, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    mpi_errno = MPIR_Bcast(t->text, (MPI_Aint) head[0], MPI_BYTE, 0, leaders, &errflag);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* All leaders come to the same: a tree, or, where the file is wrong, none. */
static bool make_tree(struct MPIDI_faultloc_place *p, const struct faultloc_topology *t,
                      char (*names)[FAULTLOC_NAME_SIZE], int32_t fanout, struct ftree_tree **tree)
{
    const char **name = malloc((size_t) p->nodes * sizeof(*name));
    int32_t *order = malloc((size_t) p->nodes * sizeof(*order));
    char error[1024] = "out of memory";
    int rc = FTREE_ERR_NOMEM;

    for (int32_t n = 0; name && n < p->nodes; n++) {
        names[n][FAULTLOC_NAME_SIZE - 1] = '\0';
        name[n] = names[n];
    }
    if (name && order)
        rc = faultloc_topology_tree(t, MPIR_CVAR_FAULTLOC_TOPOLOGY, name, p->nodes, fanout, tree,
                                    order, error, sizeof(error));
    free(name);
    if (rc == FTREE_OK && !MPIDI_faultloc_place_renumber(p, order))
        rc = FTREE_ERR_NOMEM;
    if (rc == FTREE_OK)
        p->order = order;
    else
        free(order);
    if (rc == FTREE_ERR_NOMEM)
        faultloc_say("node %s: cannot make the tree: %s", names[p->self], error);
    else if (rc && MPIR_Process.rank == 0)
        faultloc_say("%s; using a tree of fan-out %d", error, fanout);
    return rc != FTREE_ERR_NOMEM;
}

/* Collective over the leaders, whose ranks are the nodes' numbers so far.  *tree NULL: there is
 * none from outside. */
static int take_topology(struct MPIDI_faultloc_place *p, const char *name, int32_t fanout,
                         struct ftree_tree **tree, bool * fine)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    struct faultloc_topology t = { 0 };
    char (*names)[FAULTLOC_NAME_SIZE] = NULL;
    int mpi_errno = share_topology(p->leaders, &t, fanout);

    MPIR_ERR_CHECK(mpi_errno);
    if (!t.text)
        goto fn_exit;
    names = malloc((size_t) p->nodes * sizeof(*names));
    MPIR_ERR_CHKANDJUMP(!names, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIR_Allgather(name, FAULTLOC_NAME_SIZE, MPI_BYTE, names, FAULTLOC_NAME_SIZE,
                               MPI_BYTE, p->leaders, &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *fine = make_tree(p, &t, names, fanout, tree) && *fine;

  fn_exit:
    free(names);
    free(t.text);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the board ------------------------------------------------------------------------------------ */

static void fill_tables(struct faultloc_board *b, const struct MPIDI_faultloc_place *p)
{
    int32_t *rank_node = faultloc_board_rank_node(b), *first = faultloc_board_node_first(b);
    int32_t *ranks = faultloc_board_node_ranks(b), *pid = faultloc_board_rank_pid(b);

    /* counting sort of the ranks by node */
    for (int32_t r = 0; r < b->size; r++) {
        rank_node[r] = p->rank_node[r];
        pid[r] = p->marks[r].pid;
        first[rank_node[r] + 1]++;
    }
    for (int32_t n = 0; n < b->nodes; n++)
        first[n + 1] += first[n];
    for (int32_t r = 0; r < b->size; r++)
        ranks[first[rank_node[r]]++] = r;
    for (int32_t n = b->nodes; n > 0; n--)
        first[n] = first[n - 1];
    first[0] = 0;
}

static bool make_board(const struct MPIDI_faultloc_place *p, const char *job_id, int32_t fanout,
                       const struct ftree_tree *tree, struct faultloc_board **out, int *fd)
{
    struct faultloc_board *b;
    int rc = faultloc_board_make_with_tree(p->nodes, MPIR_Process.comm_world->local_size, p->slots,
                                           tree ? ftree_tree_packed_size(tree) : 0, &b, fd);

    if (rc) {
        snprintf(problem, sizeof(problem), "cannot make the shared board: %s", strerror(rc));
        return false;
    }
    b->self = p->self;
    b->fanout = fanout;
    if (tree)
        ftree_tree_pack(tree, faultloc_board_tree(b));
    MPL_strncpy(b->job_id, job_id, sizeof(b->job_id));
    b->started_ms = faultloc_unix_ms();
    fill_tables(b, p);
    *out = b;
    return true;
}

/* The own addresses, and a port each for agent and deputy. */
static bool make_card(struct card *card, const char *name, struct faultloc_board *b,
                      struct faultloc_ports ports[FAULTLOC_ROLES])
{
    struct faultloc_iface_wish wish = {.data = MPIR_CVAR_FAULTLOC_DATA_IFACE,
        .mgmt = MPIR_CVAR_FAULTLOC_MGMT_IFACE, .ucx_net_devices = getenv("UCX_NET_DEVICES")};
    struct faultloc_iface found[FAULTLOC_PATHS];
    char error[512];
    int rc = faultloc_iface_find(&wish, found, error, sizeof(error));

    MPL_strncpy(card->name, name, sizeof(card->name));
    if (rc) {
        snprintf(problem, sizeof(problem), "node %s: %s", name, error);
        return false;
    }
    for (int path = 0; path < FAULTLOC_PATHS; path++) {
        card->address.path[path] = found[path].inet;
        if (found[path].inet.family)
            MPL_strncpy(b->iface[path], found[path].name, sizeof(b->iface[path]));
    }
    for (int role = 0; role < FAULTLOC_ROLES; role++) {
        rc = faultloc_channel_pick_ports(card->address.path, &ports[role]);
        if (rc) {
            snprintf(problem, sizeof(problem), "node %s: cannot open a port: %s", name,
                     strerror(rc));
            return false;
        }
        card->address.port[role] = ports[role].port;
    }
    return true;
}

/* A path counts where every node has it. */
static void take_cards(struct faultloc_board *b, const struct MPIDI_faultloc_place *p, const struct card *cards)
{
    b->has_path[FTREE_PATH_DATA] = b->has_path[FTREE_PATH_MGMT] = true;
    for (int32_t n = 0; n < b->nodes; n++) {
        const struct card *card = &cards[p->order ? p->order[n] : n];
        faultloc_board_addresses(b)[n] = card->address;
        memcpy(faultloc_board_name(b, n), card->name, FAULTLOC_NAME_SIZE);
        faultloc_board_name(b, n)[FAULTLOC_NAME_SIZE - 1] = '\0';
        for (int path = 0; path < FAULTLOC_PATHS; path++)
            b->has_path[path] &= card->address.path[path].family != 0;
    }
}

/* ---- the job's key --------------------------------------------------------------------------- */

/* What only the leaders know, for a moment: each hands the key on to its agent.  The process manager
 * would tell it to everybody who asks, and what MPI sends stays in memory of the network library, which
 * the ranks of a node share and which core files contain.  So it is sealed for each leader; what has
 * been sent, and a listener, have public keys alone. */
struct secret {
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint64_t seed;
};

struct sealed {
    uint8_t bytes[sizeof(struct secret) + crypto_box_MACBYTES];
};

static const uint8_t nonce[crypto_box_NONCEBYTES];      /* two leaders' keys seal one secret alone */

static void seal_all(struct sealed *all, int n, const struct card *cards, const uint8_t * own,
                     const struct secret *secret)
{
    for (int i = 0; i < n; i++)
        if (crypto_box_easy(all[i].bytes, (const uint8_t *) secret, sizeof(*secret), nonce,
                            cards[i].public_key, own))
            memset(&all[i], 0, sizeof(all[i]));
}

/* Collective over the leaders; `own` is this one's private key.  *fine is false where what came is not
 * whole. */
static int share_secret(MPIR_Comm * leaders, const struct card *cards, const uint8_t * own,
                        struct secret *secret, bool * fine)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    struct sealed *all = NULL, mine;
    int n = leaders->local_size, mpi_errno = MPI_SUCCESS;

    if (leaders->rank == 0)
        randombytes_buf(secret, sizeof(*secret));
    if (n == 1)
        return MPI_SUCCESS;
    if (leaders->rank == 0) {
        all = malloc((size_t) n * sizeof(*all));
        MPIR_ERR_CHKANDJUMP(!all, mpi_errno, MPI_ERR_OTHER, "**nomem");
        seal_all(all, n, cards, own, secret);
    }
    mpi_errno = MPIR_Scatter(all, sizeof(mine), MPI_BYTE, &mine, sizeof(mine), MPI_BYTE, 0, leaders,
                             &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (leaders->rank > 0 &&
        crypto_box_open_easy((uint8_t *) secret, mine.bytes, sizeof(mine.bytes), nonce,
                             cards[0].public_key, own)) {
        snprintf(problem, sizeof(problem), "the job's key has not arrived whole");
        *fine = false;
    }

  fn_exit:
    free(all);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Settings that must be the same in all nodes: those of the first leader, whatever the others'. */
static int share_settings(MPIR_Comm * leaders, struct faultloc_settings *s, int32_t * fanout)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    int64_t first[] = { s->stall, s->sample, s->silence, s->patience, s->grace, s->action,
        s->symptoms, s->verbose, *fanout
    };
    int mpi_errno = MPIR_Bcast(first, sizeof(first), MPI_BYTE, 0, leaders, &errflag);

    s->stall = (ftree_time) first[0];
    s->sample = (ftree_time) first[1];
    s->silence = (ftree_time) first[2];
    s->patience = (ftree_time) first[3];
    s->grace = (ftree_time) first[4];
    s->action = (enum faultloc_action) first[5];
    s->symptoms = first[6] != 0;
    s->verbose = first[7] != 0;
    *fanout = (int32_t) first[8];
    return mpi_errno;
}

/* Collective over the leaders; one that could not make its board has no card worth having, but
 * says so later on, and faultloc is disabled in all. */
static int exchange_cards(const struct MPIDI_faultloc_place *p, const struct card *card,
                          const uint8_t * own, struct secret *secret, bool * fine)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    struct card *cards = malloc((size_t) p->nodes * sizeof(*cards));
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!cards, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIR_Allgather(card, sizeof(*card), MPI_BYTE, cards, sizeof(*card), MPI_BYTE,
                               p->leaders, &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = share_secret(p->leaders, cards, own, secret, fine);
    MPIR_ERR_CHECK(mpi_errno);
    if (local.board) {
        take_cards(local.board, p, cards);
        local.board->seed = secret->seed;
    }

  fn_exit:
    free(cards);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- start ------------------------------------------------------------------------------------------ */

static bool map_slot(const struct MPIDI_faultloc_place *p, int fd)
{
    struct faultloc_proc proc = { 0 };
    struct faultloc_slot *slot;
    int rc = faultloc_board_map_slot(local.board, fd, p->slot, &MPIDI_faultloc_page);

    if (rc) {
        faultloc_say("rank %d: cannot map its slot: %s", MPIR_Process.rank, strerror(rc));
        return false;
    }
    faultloc_proc_read(NULL, getpid(), &proc);
    slot = &MPIDI_faultloc_page.slot;
    slot->rank = MPIR_Process.rank;
    slot->pid = (int32_t) getpid();
    slot->start = proc.start;
    slot->many_threads = MPIR_ThreadInfo.thread_provided == MPI_THREAD_MULTIPLE;
    slot->state = FAULTLOC_SLOT_RUNNING;
    return true;
}

static void disable(void)
{
    if (MPIR_Process.rank == 0)
        faultloc_say("disabled; the job continues without fault localization");
    if (MPIDI_faultloc_page.slot.state == FAULTLOC_SLOT_RUNNING)
        MPIDI_faultloc_page.slot.state = FAULTLOC_SLOT_LEFT;    /* to an agent that goes on */
    faultloc_board_unmap(local.board);
    local.board = NULL;
}

/* What a leader has until its agent has it. */
struct leader {
    int board_fd, sock;         /* -1: none */
    struct faultloc_ports ports[FAULTLOC_ROLES];
    struct secret secret;
};

/* The leaders' part: agrees on the tree, makes the board, exchanges what the others need to reach
 * this node. */
static int set_up_node(struct MPIDI_faultloc_place *p, const char *name, const char *job_id, struct leader *l,
                       bool * fine)
{
    int32_t fanout = in_range("MPIR_CVAR_FAULTLOC_FANOUT", MPIR_CVAR_FAULTLOC_FANOUT, 1, 1024, 32);
    struct faultloc_settings settings;
    uint8_t own[crypto_box_SECRETKEYBYTES] = { 0 };
    struct ftree_tree *tree = NULL;
    struct card card;
    int mpi_errno;

    memset(&card, 0, sizeof(card));
    read_settings(&settings, job_id, name);
    mpi_errno = share_settings(p->leaders, &settings, &fanout);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = take_topology(p, name, fanout, &tree, fine);
    MPIR_ERR_CHECK(mpi_errno);
    if (*fine)
        *fine = make_board(p, job_id, fanout, tree, &local.board, &l->board_fd);
    if (local.board)
        local.board->settings = settings;
    if (local.board && p->nodes > 1)
        *fine = make_card(&card, name, local.board, l->ports);
    else if (local.board)
        MPL_strncpy(card.name, name, sizeof(card.name));
    crypto_box_keypair(card.public_key, own);
    mpi_errno = exchange_cards(p, &card, own, &l->secret, fine);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    sodium_memzero(own, sizeof(own));
    ftree_tree_free(tree);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Followers learn which descriptor of their leader is the board. */
static int join_node(struct MPIDI_faultloc_place *p, struct leader *l, bool * fine)
{
    int32_t fd = l->board_fd;
    int mpi_errno, rc;

    mpi_errno = MPIDI_faultloc_place_board(p, &fd);
    MPIR_ERR_CHECK(mpi_errno);
    if (p->slot > 0 && *fine && fd >= 0) {
        rc = faultloc_board_open(p->leader_pid, fd, &local.board, &l->board_fd);
        if (rc)
            faultloc_say("rank %d: cannot open the board of process %d: %s", MPIR_Process.rank,
                         (int) p->leader_pid, strerror(rc));
    }
    *fine = *fine && local.board && map_slot(p, l->board_fd);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static bool describe_job(void)
{
    int rc = faultloc_job_describe(local.board, &local.job);

    if (rc)
        faultloc_say("rank %d: cannot read the board: %s", MPIR_Process.rank, strerror(rc));
    return rc == 0;
}

/* How long an agent may take to begin: it reads the rules, and the machine may be busy, ms. */
#define READY_MS 20000

static bool start_agent(struct leader *l, const char *name)
{
    struct faultloc_start start = {.board_fd = l->board_fd };
    char path[FAULTLOC_SPAWN_PATH], error[128];
    int rc = faultloc_spawn_find(FAULTLOC_PROGRAM_NAME, path);

    memcpy(start.key, l->secret.key, sizeof(start.key));
    memcpy(start.ports, l->ports, sizeof(start.ports));
    if (!rc)
        rc = faultloc_start_send(path, &start, &l->sock);
    sodium_memzero(&start, sizeof(start));
    if (rc)
        snprintf(error, sizeof(error), "%s",
                 rc == ECHILD ? "it would be a child of this rank, which is the first process of its "
                 "PID namespace or a subreaper" : strerror(rc));
    if (!rc && faultloc_start_is_ready(l->sock, READY_MS, error, sizeof(error)))
        return true;
    snprintf(problem, sizeof(problem), "node %s: cannot start its agent, %s: %s", name, path, error);
    return false;
}

/* Nothing that a leader had for its agent stays in a rank. */
static void end_leader(struct leader *l, bool go)
{
    if (l->sock >= 0)
        faultloc_start_end(l->sock, go);
    for (int role = 0; role < FAULTLOC_ROLES; role++)
        faultloc_ports_close(&l->ports[role]);
    if (l->board_fd >= 0)
        close(l->board_fd);
    sodium_memzero(&l->secret, sizeof(l->secret));
}

static int start(const char *name, const char *job_id, bool fine)
{
    struct leader l = {.board_fd = -1,.sock = -1,.ports = { {.fd = {-1, -1}}, {.fd = {-1, -1}} } };
    struct MPIDI_faultloc_place p = {.leaders = NULL };
    int mpi_errno = MPI_SUCCESS;
    bool all = false;

    if (MPIR_Process.comm_world->local_size == 1)
        return MPI_SUCCESS;     /* nobody to wait for */
    mpi_errno = MPIDI_faultloc_place_find(&p, name);
    MPIR_ERR_CHECK(mpi_errno);
    if (p.leaders) {
        mpi_errno = set_up_node(&p, name, job_id, &l, &fine);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = join_node(&p, &l, &fine);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_faultloc_place_agree(&p, fine && describe_job(), false, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (all) {
        fine = p.slot > 0 || start_agent(&l, name);
        mpi_errno = MPIDI_faultloc_place_agree(&p, fine, true, &all);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (p.is_first_not && problem[0])
        faultloc_say("%s", problem);
    local.is_on = all;
    MPIDI_faultloc_notes = all;
    if (all)
        (void) faultloc_board_protect(local.board);
    else
        disable();

  fn_exit:
    end_leader(&l, all);
    MPIDI_faultloc_place_free(&p);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The dynamic linker saves the vector registers on the stack when a function is called for the first
 * time, and with them what was just copied: the key.  All that a leader does with it needs less, bytes. */
#define USED_STACK 32768

int MPIDI_faultloc_start(void)
{
    char name[FAULTLOC_NAME_SIZE], job_id[FAULTLOC_JOB_ID_SIZE];
    int first_on, first_off, mpi_errno;

    if (!MPIR_CVAR_FAULTLOC)
        return MPI_SUCCESS;
    if (!MPIDI_faultloc_is_on_in_all(&first_on, &first_off)) {
        if (MPIR_Process.rank == first_on)
            faultloc_say("disabled: MPIR_CVAR_FAULTLOC is not set on all ranks, e.g. not on rank %d; "
                         "the job continues without fault localization", first_off);
        return MPI_SUCCESS;
    }
    read_node_name(name);
    MPIDI_faultloc_read_job_id(job_id, sizeof(job_id));
    mpi_errno = start(name, job_id, sodium_init() >= 0);
    sodium_stackzero(USED_STACK);
    return mpi_errno;
}

struct faultloc_board *MPIDI_faultloc_board(void)
{
    return local.is_on ? local.board : NULL;
}

const struct ftree_job *MPIDI_faultloc_job(void)
{
    return local.is_on ? &local.job.job : NULL;
}

ftree_time MPIDI_faultloc_grace(void)
{
    return local.board ? local.board->settings.grace : 0;
}

/* ---- while the job runs ------------------------------------------------------------------------------ */

MPIR_Request *MPIDI_faultloc_real(MPIR_Request * req)
{
    if (req && MPIR_Request_is_persistent(req) && req->kind != MPIR_REQUEST_KIND__PREQUEST_COLL)
        return req->u.persist.real_request;
    return req;
}

/* The rank of the world that a request is about. */
static int32_t peer_of(MPIR_Request * req)
{
    MPIDI_av_entry_t *first = MPIDI_global.avt_mgr.av_table0->table;
    MPIDI_av_entry_t *av;

    if (!req || (req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV))
        return FAULTLOC_PEER_UNKNOWN;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (MPIDI_REQUEST_ANYSOURCE_PARTNER(req))
        return FAULTLOC_PEER_UNKNOWN;
    if (MPIDI_REQUEST(req, is_local))
        return FAULTLOC_PEER_LOCAL;
#endif
    av = MPIDI_REQUEST(req, faultloc_av);
    if (!av || av < first || av >= first + MPIR_Process.size)
        return FAULTLOC_PEER_UNKNOWN;
    return (int32_t) (av - first);
}

static void note_wait(MPIR_Request * req)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;
    uint64_t request, now;
    int32_t peer;

    request = req ? (uint64_t) (uint32_t) req->handle : 0;
    peer = peer_of(req);
    /* a handle is used again soon, the serial number never; who has no peer has none */
    if (peer >= 0)
        request |= (uint64_t) MPIDI_REQUEST(req, faultloc_serial) << 32;
    if (!slot->many_threads && slot->wait_since_ns && slot->wait_request == request &&
        slot->wait_peer == peer && slot->wait_call == slot->call)
        return;
    now = faultloc_now();
    if (slot->many_threads && slot->wait_since_ns && now - local.wait_seen_ns < WAIT_OVER_NS) {
        /* of several threads that wait, the one that began first keeps the note */
        if (slot->wait_request == request && slot->wait_peer == peer)
            local.wait_seen_ns = now;
        return;
    }
    local.wait_seen_ns = now;
    slot->wait_since_ns = 0;    /* a reader meets either no wait or a whole one */
    slot->wait_peer = peer;
    slot->wait_request = request;
    slot->wait_call = slot->call;
    slot->wait_since_ns = now;
}

int MPIDI_faultloc_wait(MPIR_Request * req)
{
    if (!local.board)
        return MPI_SUCCESS;
    if (local.board->abort_code) {
        int code = local.board->abort_code;
        MPIR_pmi_abort(code, "faultloc has located the fault that stops this job");
        MPL_exit(code);
    }
    MPIDI_faultloc_raise_events(local.board);
    req = MPIDI_faultloc_real(req);
    note_wait(req);
    return local.board->failures ? MPIDI_faultloc_wait_any(req) : MPI_SUCCESS;
}

/* ---- stop ----------------------------------------------------------------------------------------------- */

void MPIDI_faultloc_finalizing(void)
{
    if (local.board)
        MPIDI_faultloc_page.slot.state = FAULTLOC_SLOT_FINALIZING;
}

/* True once a verdict says that a rank is gone for good: no use in waiting for it. */
int MPIDI_faultloc_peer_is_lost(void)
{
    return local.board && local.board->peer_lost;
}

/* The process ends the job or is ended by an error of MPI: no crash of its own. */
void MPIDI_faultloc_aborting(bool is_victim)
{
    if (!local.board || MPIDI_faultloc_page.slot.state >= FAULTLOC_SLOT_LEFT)
        return;
    MPIDI_faultloc_page.slot.state = is_victim ? FAULTLOC_SLOT_VICTIM : FAULTLOC_SLOT_LEFT;
    local.is_on = false;
}

void MPIDI_faultloc_stop(void)
{
    if (!local.board)
        return;
    MPIDI_faultloc_page.slot.state = FAULTLOC_SLOT_LEFT;
    local.is_on = false;
    faultloc_job_free(&local.job);
}
