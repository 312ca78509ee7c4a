/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/fail/fail.h"
#include "faultloc/mpi/start/place.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/iface.h"
#include "faultloc/base/say.h"
#include "faultloc/base/spawn.h"
#include "faultloc/board/start.h"
#include "faultloc/board/topology_text.h"

#include <sodium.h>

/*
 * The start.  The ranks agree on who is on which node, the first rank of each node (its leader)
 * makes the board, the leaders exchange addresses, every rank maps its slot, and the leaders start
 * the agents.
 *
 * Every step is taken by all ranks, whatever went wrong before: who has a problem says so and goes
 * on, and at the end faultloc is on in all ranks, or disabled in all.
 */

/* What this leader could not do: reported by the first of all leaders with a problem. */
static char problem[FAULTLOC_SPAWN_PATH + 256];

/* ---- the tree from outside ------------------------------------------------------------------- */

/* The first leader reads what is to be read; *t is then the same on all of them. */
static int share_topology(MPIR_Comm * leaders, struct faultloc_topology *t, int32_t fanout)
{
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
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Bcast, head, sizeof(head), MPIR_BYTE_INTERNAL, 0, leaders);
    MPIR_ERR_CHECK(mpi_errno);
    if (head[0] == 0)
        goto fn_exit;
    if (leaders->rank > 0) {
        *t = (struct faultloc_topology) {
        .text = malloc(head[0]),.len = head[0] - 1,.is_string = head[1] != 0};
        MPIR_ERR_CHKANDJUMP(!t->text, mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Bcast, t->text, (MPI_Aint) head[0], MPIR_BYTE_INTERNAL, 0, leaders);
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
    struct faultloc_topology t = { 0 };
    char (*names)[FAULTLOC_NAME_SIZE] = NULL;
    int mpi_errno = share_topology(p->leaders, &t, fanout);

    MPIR_ERR_CHECK(mpi_errno);
    if (!t.text)
        goto fn_exit;
    names = malloc((size_t) p->nodes * sizeof(*names));
    MPIR_ERR_CHKANDJUMP(!names, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allgather, name, FAULTLOC_NAME_SIZE, MPIR_BYTE_INTERNAL, names, FAULTLOC_NAME_SIZE, MPIR_BYTE_INTERNAL, p->leaders);
    MPIR_ERR_CHECK(mpi_errno);
    *fine = make_tree(p, &t, names, fanout, tree) && *fine;

  fn_exit:
    free(names);
    free(t.text);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the board ------------------------------------------------------------------------------- */

/* What a leader sends to the others. */
struct card {
    struct faultloc_address address;
    char name[FAULTLOC_NAME_SIZE];
    uint8_t public_key[crypto_box_PUBLICKEYBYTES];
};

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
    int rc = faultloc_board_make(p->nodes, MPIR_Process.comm_world->local_size, p->slots,
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
    fill_tables(b, p);
    *out = b;
    return true;
}

/* The own addresses, and a port each for agent and deputy. */
static bool make_card(struct card *card, const char *name, struct faultloc_board *b,
                      struct faultloc_ports ports[FTREE_ROLES])
{
    char taken[512] = "", error[512];
    struct faultloc_iface_wish wish = {.data = MPIR_CVAR_FAULTLOC_DATA_IFACE,
        .mgmt = MPIR_CVAR_FAULTLOC_MGMT_IFACE, .taken = taken,
        .ucx_net_devices = getenv("UCX_NET_DEVICES"), .sys_root = faultloc_board_sys_root(b)};
    struct faultloc_iface found[FTREE_PATHS];
    int rc;

    MPIDI_faultloc_ucx_devices(taken, sizeof(taken));
    MPIDI_faultloc_ofi_devices(taken, sizeof(taken));
    rc = faultloc_iface_find(&wish, found, error, sizeof(error));
    MPL_strncpy(card->name, name, sizeof(card->name));
    if (rc) {
        snprintf(problem, sizeof(problem), "node %s: %s", name, error);
        return false;
    }
    for (int path = 0; path < FTREE_PATHS; path++) {
        card->address.path[path] = found[path].inet;
        if (found[path].inet.family)
            MPL_strncpy(b->iface[path], found[path].name, sizeof(b->iface[path]));
    }
    MPL_strncpy(b->port, found[FTREE_PATH_DATA].port, sizeof(b->port));
    MPL_strncpy(card->address.iface, b->iface[FTREE_PATH_DATA], sizeof(card->address.iface));
    MPL_strncpy(card->address.adapter, b->port, sizeof(card->address.adapter));
    card->address.lid = faultloc_port_lid(wish.sys_root, b->port);
    card->address.guid = faultloc_port_guid(wish.sys_root, b->port);
    MPIDI_faultloc_ofi_over(b->over, sizeof(b->over));
    card->address.mbps = b->port[0] ? faultloc_port_speed(wish.sys_root, b->port)
                                    : faultloc_iface_speed(wish.sys_root, b->iface[FTREE_PATH_DATA]);
    for (int role = 0; role < FTREE_ROLES; role++) {
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
static void take_cards(struct faultloc_board *b, const struct MPIDI_faultloc_place *p,
                       const struct card *cards)
{
    b->has_path[FTREE_PATH_DATA] = b->has_path[FTREE_PATH_MGMT] = true;
    for (int32_t n = 0; n < b->nodes; n++) {
        const struct card *card = &cards[p->order ? p->order[n] : n];
        faultloc_board_addresses(b)[n] = card->address;
        memcpy(faultloc_board_name(b, n), card->name, FAULTLOC_NAME_SIZE);
        faultloc_board_name(b, n)[FAULTLOC_NAME_SIZE - 1] = '\0';
        for (int path = 0; path < FTREE_PATHS; path++)
            b->has_path[path] &= card->address.path[path].family != 0;
    }
}

/* ---- the job's key --------------------------------------------------------------------------- */

/* What only the leaders know, for a moment: each hands the key on to its agent. The process manager
 * would tell it to everybody who asks, and what MPI sends stays in memory of the network library,
 * which the ranks of a node share and which core files contain. So it is sealed for each leader;
 * what has been sent, and a listener, have public keys alone. */
struct secret {
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint64_t seed;
};

struct sealed {
    uint8_t bytes[sizeof(struct secret) + crypto_box_MACBYTES];
};

static const uint8_t nonce[crypto_box_NONCEBYTES];      /* two leaders' keys seal one secret
                                                         * alone */

static void seal_all(struct sealed *all, int n, const struct card *cards, const uint8_t * own,
                     const struct secret *secret)
{
    for (int i = 0; i < n; i++)
        if (crypto_box_easy(all[i].bytes, (const uint8_t *) secret, sizeof(*secret), nonce,
                            cards[i].public_key, own))
            memset(&all[i], 0, sizeof(all[i]));
}

/* Collective over the leaders; `own` is this one's private key. *fine is false where what came is
 * not whole. */
static int share_secret(MPIR_Comm * leaders, const struct card *cards, const uint8_t * own,
                        struct secret *secret, bool * fine)
{
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
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Scatter, all, sizeof(mine), MPIR_BYTE_INTERNAL, &mine, sizeof(mine), MPIR_BYTE_INTERNAL, 0, leaders);
    MPIR_ERR_CHECK(mpi_errno);
    if (leaders->rank > 0 &&
        crypto_box_open_easy((uint8_t *) secret, mine.bytes, sizeof(mine.bytes), nonce,
                             cards[0].public_key, own)) {
        snprintf(problem, sizeof(problem), "rank %d: received a corrupt job key",
                 MPIR_Process.rank);
        *fine = false;
    }

  fn_exit:
    free(all);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Settings that must be the same in all nodes: those of the first leader, whatever the others'; and
 * when the job was started, by which reports of one start differ from those of others. */
static int share_settings(MPIR_Comm * leaders, struct faultloc_settings *s, int32_t * fanout,
                          int64_t * started_ms)
{
    int64_t first[] = { s->stall, s->sample, s->silence, s->patience, s->grace, s->action,
        s->symptoms, s->verbose, *fanout, 0, s->program[0], s->walltime.end_ms,
        s->walltime.limit_s, s->walltime.at_most, faultloc_unix_ms()
    };
    int mpi_errno;

    memcpy(&first[9], &s->alpha, sizeof(s->alpha));
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Bcast, first, sizeof(first), MPIR_BYTE_INTERNAL, 0, leaders);
    s->stall = (ftree_time) first[0];
    s->sample = (ftree_time) first[1];
    s->silence = (ftree_time) first[2];
    s->patience = (ftree_time) first[3];
    s->grace = (ftree_time) first[4];
    s->action = (enum faultloc_action) first[5];
    s->symptoms = first[6] != 0;
    s->verbose = first[7] != 0;
    *fanout = (int32_t) first[8];
    memcpy(&s->alpha, &first[9], sizeof(s->alpha));
    if (!first[10])
        s->program[0] = '\0';
    s->walltime = (struct report_walltime) {
        .end_ms = first[11], .limit_s = first[12], .at_most = first[13] != 0
    };
    *started_ms = first[14];
    return mpi_errno;
}

/* Collective over the leaders; one that could not make its board has no card worth having, but
 * says so later on, and faultloc is disabled in all. */
static int exchange_cards(const struct MPIDI_faultloc_place *p, const struct card *card,
                          struct faultloc_board *b, const uint8_t * own, struct secret *secret,
                          bool * fine)
{
    struct card *cards = malloc((size_t) p->nodes * sizeof(*cards));
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!cards, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_FAULTLOC_CALL_COLL(MPIR_Allgather, card, sizeof(*card), MPIR_BYTE_INTERNAL, cards, sizeof(*card), MPIR_BYTE_INTERNAL, p->leaders);
    MPIR_ERR_CHECK(mpi_errno);
    if (b)
        b->epoch = faultloc_now();      /* nobody has all cards before the last has sent its own */
    mpi_errno = share_secret(p->leaders, cards, own, secret, fine);
    MPIR_ERR_CHECK(mpi_errno);
    if (b) {
        take_cards(b, p, cards);
        b->seed = secret->seed;
    }

  fn_exit:
    free(cards);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the leaders ----------------------------------------------------------------------------- */

/* What a leader has until its agent has it. */
struct leader {
    int board_fd, sock;         /* -1: none */
    struct faultloc_ports ports[FTREE_ROLES];
    struct secret secret;
};

/* The leaders' part: agrees on the tree, makes the board, exchanges what the others need to reach
 * this node. */
static int set_up_node(struct leader *l, struct MPIDI_faultloc_place *p, const char *name,
                       const char *job_id, bool * fine)
{
    int32_t fanout = MPIDI_faultloc_read_fanout();
    struct faultloc_board *b = NULL;
    struct faultloc_settings settings;
    int64_t started_ms;
    uint8_t own[crypto_box_SECRETKEYBYTES] = { 0 };
    struct ftree_tree *tree = NULL;
    struct card card;
    int mpi_errno;

    memset(&card, 0, sizeof(card));
    MPIDI_faultloc_read_settings(&settings, job_id, name);
    mpi_errno = share_settings(p->leaders, &settings, &fanout, &started_ms);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = take_topology(p, name, fanout, &tree, fine);
    MPIR_ERR_CHECK(mpi_errno);
    if (*fine)
        *fine = make_board(p, job_id, fanout, tree, &b, &l->board_fd);
    MPIDI_faultloc_take_board(b);
    if (b) {
        b->settings = settings;
        b->started_ms = started_ms;
    }
    if (b && p->nodes > 1)
        *fine = make_card(&card, name, b, l->ports);
    else if (b)
        MPL_strncpy(card.name, name, sizeof(card.name));
    crypto_box_keypair(card.public_key, own);
    mpi_errno = exchange_cards(p, &card, b, own, &l->secret, fine);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    sodium_memzero(own, sizeof(own));
    ftree_tree_free(tree);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the agent ------------------------------------------------------------------------------- */

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

/* Lets the agent go on, or quit; nothing that a leader had for it stays in a rank. */
static void end_leader(struct leader *l, bool go)
{
    if (l->sock >= 0)
        faultloc_start_end(l->sock, go);
    for (int role = 0; role < FTREE_ROLES; role++)
        faultloc_ports_close(&l->ports[role]);
    if (l->board_fd >= 0)
        close(l->board_fd);
    sodium_memzero(&l->secret, sizeof(l->secret));
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Followers learn which descriptor of their leader is the board. */
static int join_node(struct MPIDI_faultloc_place *p, struct leader *l, bool * fine)
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
    struct leader l = {.board_fd = -1,.sock = -1,
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
        mpi_errno = set_up_node(&l, &p, name, job_id, &fine);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = join_node(&p, &l, &fine);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_faultloc_place_agree(&p, fine, false, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (all) {
        fine = p.slot > 0 || start_agent(&l, name);
        MPIDI_faultloc_begin(true);     /* one may be lost from here on */
        mpi_errno = MPIDI_faultloc_place_agree(&p, fine, true, &all);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (p.is_first_not && problem[0])
        faultloc_say("%s", problem);
    if (all) {
        MPIDI_faultloc_begin_collectives();
        MPIDI_faultloc_begin_waits();
    } else {
        MPIDI_faultloc_begin(false);
    }

  fn_exit:
    end_leader(&l, all);
    MPIDI_faultloc_place_free(&p);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The dynamic linker saves the vector registers on the stack when a function is called for the
 * first time, and with them what was just copied: the key. All that a leader does with it needs
 * less, bytes. */
#define USED_STACK 32768

/* ---- output ---------------------------------------------------------------------------------- */

static bool say_on_given(const char *line)
{
    if (faultloc_output_is_given(STDERR_FILENO))
        faultloc_write(STDERR_FILENO, line);
    return true;
}

/* glibc calls the constructors of what a program is linked with right above the kernel's block of
 * arguments: between them are the linker's frames alone, some 150 bytes. Below main and dlopen(3)
 * it is further down, 1800 bytes at least. */
#define LINKER_STACK 1024

static void __attribute__((constructor)) note_output(int argc, char **argv)
{
    uintptr_t below = (uintptr_t) argv - (uintptr_t) __builtin_frame_address(0);

    (void) argc;
    faultloc_output_note(below < LINKER_STACK);
    faultloc_say_by(say_on_given);
}

/* ---- when ------------------------------------------------------------------------------------ */

/* Once in a process; who comes later finds it on, or off. */
static bool is_first(void)
{
    static bool begun;
    bool is_first = !begun;

    begun = true;
    if (!is_first && MPIR_CVAR_FAULTLOC && MPIR_Process.rank == 0 &&
        MPIDI_faultloc_page.slot.state >= FAULTLOC_SLOT_LEFT)
        faultloc_say("disabled: MPI has ended in this process before");
    return is_first;
}

static bool is_on(void)
{
    int first_on, first_off;

    if (!MPIR_CVAR_FAULTLOC)
        return false;
    if (MPIDI_faultloc_is_on_in_all(&first_on, &first_off))
        return true;
    if (MPIR_Process.rank == first_on)
        faultloc_say("disabled: MPIR_CVAR_FAULTLOC is not set on all ranks, e.g. not on rank %d; "
                     "the job continues without fault localization", first_off);
    return false;
}

static int begin(void)
{
    char name[FAULTLOC_NAME_SIZE], job_id[FAULTLOC_JOB_ID_SIZE];
    int mpi_errno;

    MPIDI_faultloc_read_node_name(name);
    MPIDI_faultloc_read_job_id(job_id, sizeof(job_id));
    mpi_errno = start(name, job_id, sodium_init() >= 0);
    sodium_stackzero(USED_STACK);
    return mpi_errno;
}

int MPIDI_faultloc_start(void)
{
    MPIDI_faultloc_register_event();
    if (!is_first())
        return MPI_SUCCESS;
    MPIDI_faultloc_say_unread();
    return is_on() ? begin() : MPI_SUCCESS;
}

static bool is_world(MPIR_Comm * comm)
{
    bool is_world = comm->comm_kind == MPIR_COMM_KIND__INTRACOMM &&
        comm->remote_size == MPIR_Process.size;

    for (int i = 0; is_world && i < comm->remote_size; i++)
        is_world = MPIDI_faultloc_world_rank(comm, i) != FTREE_NONE;
    return is_world;
}

/* What begins faultloc needs all ranks, and MPI_Session_init is nothing that all do together: the first
 * thing that they do is a communicator of all.  Theirs is not the world's, which is made now; nobody
 * may hold MPICH's lock who waits for that of MPI_Init. */
static int make_world(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPL_initlock_lock(&MPIR_init_lock);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (!MPIR_Process.comm_world)
        mpi_errno = MPIR_init_comm_world();
    MPL_initlock_unlock(&MPIR_init_lock);
    return mpi_errno;
}

static void say_not_yet(const MPIR_Comm * comm)
{
    static bool said;

    if (!said && comm->rank == 0 && comm->remote_size > 1)
        faultloc_say("not on yet: it begins with MPI_Init or with a communicator of all ranks");
    said = true;
}

int MPIDI_faultloc_start_by(MPIR_Comm * comm)
{
    int mpi_errno;

    if (!MPIR_CVAR_FAULTLOC || MPIDI_faultloc_notes)
        return MPI_SUCCESS;
    if (!is_world(comm)) {
        say_not_yet(comm);
        return MPI_SUCCESS;
    }
    MPIDI_faultloc_register_event();
    if (!is_first())
        return MPI_SUCCESS;
    MPIDI_faultloc_say_unread();
    if (!is_on())
        return MPI_SUCCESS;
    mpi_errno = make_world();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = begin();
    MPIR_ERR_CHECK(mpi_errno);
    if (MPIDI_faultloc_notes)
        MPIDI_faultloc_note_comm(comm);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
