/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * The communicators of a record: which one a context stands for, who is in it, and how far this
 * rank has come there.
 */

/* ---- found and described --------------------------------------------------------------------- */

bool MPIDI_faultloc_is_comm_of(const MPIR_Comm * comm, uint32_t context, bool of_sends)
{
    uint32_t id = of_sends ? comm->context_id : comm->recvcontext_id;

    return MPIR_Object_get_ref(comm) > 0 && id == (context & ~(uint32_t) MPIR_CONTEXT_SUFFIX_MASK);
}

/* Those that MPICH is making, in MPI_Comm_idup for example, have no context yet, but an old one or
 * 0: they are not noted either.  Nor are those that it has made of the world before faultloc
 * began. */
struct search {
    uint32_t context;
    bool of_sends;
    int found[2]; /* not noted, noted */
    MPIR_Comm *comm[2];
};

static void look_at(void *object, void *arg)
{
    struct search *s = arg;
    MPIR_Comm *comm = object;

    if (MPIDI_faultloc_is_comm_of(comm, s->context, s->of_sends)) {
        bool is_noted = MPIDI_faultloc_is_comm_noted(comm);

        s->comm[is_noted] = comm;
        s->found[is_noted]++;
    }
}

MPIR_Comm *MPIDI_faultloc_find_comm(uint32_t context, bool of_sends)
{
    struct search s = {.context = context,.of_sends = of_sends };

    for (int i = 0; i < MPIR_COMM_N_BUILTIN; i++)
        look_at(&MPIR_Comm_builtin[i], &s);
    MPIDI_faultloc_each_object(&MPIR_Comm_mem, HANDLE_NUM_INDICES, look_at, &s);
    if (s.found[true] > 0)
        return s.found[true] == 1 ? s.comm[true] : NULL;
    return s.found[false] == 1 ? s.comm[false] : NULL;
}

int32_t MPIDI_faultloc_world_rank(MPIR_Comm * comm, int rank)
{
    if (rank < 0 || rank >= comm->remote_size)
        return FTREE_NONE;
    if (MPIDI_is_self_comm(comm))
        return MPIR_Process.rank;
    return MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(comm, rank));
}

/* False: one of them is of another world. */
static bool list_members(MPIR_Comm * comm, struct waits_comm *c)
{
    for (int i = 0; i < comm->remote_size; i++) {
        int32_t rank = MPIDI_faultloc_world_rank(comm, i);

        if (rank == FTREE_NONE)
            return false;
        if (!ftree_waits_add_member(c, rank))
            break;
    }
    ftree_waits_end_members(c);
    return true;
}

/* False: it is not of this world alone.  A context stands for messages of one kind: those of
 * collectives have another. */
static bool describe_comm(struct waits_comm *c, MPIR_Comm * comm, uint32_t context)
{
    memset(c, 0, sizeof(*c));
    c->key.context = context;
    c->key.first = MPIDI_faultloc_world_rank(comm, 0);
    c->size = comm->remote_size;
    MPL_strncpy(c->name, MPIDI_faultloc_whole_of(comm)->name, sizeof(c->name));
    if (!list_members(comm, c))
        return false;
    if (context == comm->recvcontext_id) {
        MPIDI_faultloc_last_collective(comm, &c->last);
        MPIDI_faultloc_collective_before(comm, &c->before);
    }
    return true;
}

int8_t MPIDI_faultloc_place_of_comm(const struct waits_record *r, uint32_t context, int32_t first)
{
    for (int32_t i = 0; i < r->comms; i++)
        if (r->comm[i].key.context == context && r->comm[i].key.first == first)
            return (int8_t) i;
    return FTREE_NONE;
}

int8_t MPIDI_faultloc_add_comm(struct waits_record *r, MPIR_Comm * comm, uint32_t context)
{
    int8_t place = MPIDI_faultloc_place_of_comm(r, context, MPIDI_faultloc_world_rank(comm, 0));

    if (place != FTREE_NONE)
        return place;
    if (r->comms == WAITS_COMMS_MAX || !describe_comm(&r->comm[r->comms], comm, context))
        return FTREE_NONE;
    return (int8_t) r->comms++;
}

/* ---- of which nothing is waited for ---------------------------------------------------------- */

/* Communicators that this rank has freed, those of windows among them: others may still wait in
 * one. Of a larger one noting the members would cost more than a communicator may. */
#define FREED_MEMBERS_MAX 4096

static struct {
    uint32_t count;
    struct waits_comm comm[WAITS_COMMS_MAX];
} freed;

static void keep_comm(MPIR_Comm * comm)
{
    struct waits_comm *c = &freed.comm[freed.count % WAITS_COMMS_MAX];

    if (comm->remote_size > FREED_MEMBERS_MAX || !describe_comm(c, comm, comm->recvcontext_id))
        memset(c, 0, sizeof(*c));
    freed.count++;
}

void MPIDI_faultloc_comm_free(MPIR_Comm * comm)
{
    if (MPIDI_faultloc_is_comm_noted(comm) && MPIDI_faultloc_is_programs(comm) &&
        comm->comm_kind == MPIR_COMM_KIND__INTRACOMM &&
        MPIDI_faultloc_page.slot.state == FAULTLOC_SLOT_RUNNING)
        keep_comm(comm);
    MPIDI_faultloc_forget_collectives(comm);
}

/* The last one first: it may have had the context of one before. */
static void add_freed_comms(struct waits_record *r)
{
    for (uint32_t i = 1; i <= WAITS_COMMS_MAX && r->comms < WAITS_COMMS_MAX; i++) {
        const struct waits_comm *c = &freed.comm[(freed.count - i) % WAITS_COMMS_MAX];

        if (c->runs > 0 &&
            MPIDI_faultloc_place_of_comm(r, c->key.context, c->key.first) == FTREE_NONE)
            r->comm[r->comms++] = *c;
    }
}

/* Those freed are recorded where all others are, one of which may have the context of one freed. */
void MPIDI_faultloc_add_other_comms(struct waits_record *r)
{
    MPIR_Comm *comm[WAITS_COMMS_MAX];
    int n = MPIDI_faultloc_comms(comm, WAITS_COMMS_MAX);
    bool all = n < WAITS_COMMS_MAX;

    for (int i = 0; i < n; i++)
        if (MPIDI_faultloc_add_comm(r, comm[i], comm[i]->recvcontext_id) == FTREE_NONE)
            all = false;
    if (all)
        add_freed_comms(r);
}

static bool is_named(const struct waits_page *page, MPIR_Comm * comm)
{
    int32_t first = MPIDI_faultloc_world_rank(comm, 0);

    for (int32_t i = 0; i < page->records; i++)
        if (MPIDI_faultloc_place_of_comm(&page->record[i], comm->recvcontext_id, first) !=
            FTREE_NONE)
            return true;
    return false;
}

void MPIDI_faultloc_spread_other_comms(struct waits_page *page)
{
    MPIR_Comm *comm[WAITS_THREADS_MAX * WAITS_COMMS_MAX];
    int n = MPIDI_faultloc_comms(comm, WAITS_THREADS_MAX * WAITS_COMMS_MAX);
    struct waits_record *r = page->record, *end = r + page->records;

    for (int i = 0; i < n && r < end; i++) {
        if (!is_named(page, comm[i]))
            (void) MPIDI_faultloc_add_comm(r, comm[i], comm[i]->recvcontext_id);
        while (r < end && r->comms == WAITS_COMMS_MAX)
            r++;
    }
}
