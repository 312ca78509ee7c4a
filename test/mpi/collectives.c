/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* All collective operations: blocking, nonblocking, persistent, of neighborhoods and of an
 * intercommunicator, on several communicators, one of which is freed and made anew.  After each of
 * them the rank asks the glue what it has noted of it, and of the one before.  With faultloc off
 * nothing may be noted. Needs an even number of ranks, and a libmpi that was not stripped: the
 * glue's functions are in no interface, so their addresses come from its table of symbols.  Exit
 * code 77: there is none. Prints how many operations were as expected. */

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testutil.h"

/* As in src/util/ftree/waits/waits.h. */
struct last {
    uint32_t begun, call, op;
    int32_t root;
    uint64_t bytes;
    bool blocking;
};
#define NO_BYTES UINT64_MAX
#define NONE (-1)

#define COUNT 3 /* elements */
#define MOST 64 /* ranks, communicators */

/* ---- the glue -------------------------------------------------------------------------------- */

static void (*last_collective)(void *comm, struct last *last);
static void (*collective_before)(void *comm, struct last *before);
static int (*all_comms)(void **comm, int most);
static void *(*collective_now)(void);
static void *(*collective_of)(void *req, uint32_t *number);
static char *requests; /* MPICH's first ones */
static size_t request_size;

static int find_libmpi(struct dl_phdr_info *info, size_t size, void *out)
{
    (void) size;
    if (!strstr(info->dlpi_name, "libmpi.so"))
        return 0;
    *(struct dl_phdr_info *) out = *info;
    return 1;
}

static void *map_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    void *file;

    if (fd < 0 || fstat(fd, &st))
        return MAP_FAILED;
    file = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return file;
}

static const ElfW(Shdr) *section(const char *file, unsigned type)
{
    const ElfW(Ehdr) *head = (const void *) file;
    const ElfW(Shdr) *s = (const void *) (file + head->e_shoff);

    for (int i = 0; i < head->e_shnum; i++)
        if (s[i].sh_type == type)
            return &s[i];
    return NULL;
}

/* The address of a symbol; *size: its size, unless NULL. */
static void *find(const char *file, uintptr_t base, const char *name, size_t *size)
{
    const ElfW(Ehdr) *head = (const void *) file;
    const ElfW(Shdr) *all = (const void *) (file + head->e_shoff);
    const ElfW(Shdr) *table = section(file, SHT_SYMTAB);
    const ElfW(Sym) *s;
    const char *names;

    if (!table)
        exit(77);
    s = (const void *) (file + table->sh_offset);
    names = file + all[table->sh_link].sh_offset;
    for (size_t i = 0; i < table->sh_size / sizeof(*s); i++) {
        if (strcmp(names + s[i].st_name, name) != 0 || s[i].st_value == 0)
            continue;
        if (size)
            *size = s[i].st_size;
        return (void *) (base + s[i].st_value);
    }
    tu_fail("collectives", name);
    return NULL;
}

static void find_all(void)
{
    struct dl_phdr_info mpi = { 0 };
    char *file;

    dl_iterate_phdr(find_libmpi, &mpi);
    file = mpi.dlpi_name ? map_file(mpi.dlpi_name) : MAP_FAILED;
    if (file == MAP_FAILED)
        exit(77);
    *(void **) &last_collective = find(file, mpi.dlpi_addr, "MPIDI_faultloc_last_collective", NULL);
    *(void **) &collective_before =
        find(file, mpi.dlpi_addr, "MPIDI_faultloc_collective_before", NULL);
    *(void **) &all_comms = find(file, mpi.dlpi_addr, "MPIDI_faultloc_comms", NULL);
    *(void **) &collective_now = find(file, mpi.dlpi_addr, "MPIDI_faultloc_collective_now", NULL);
    *(void **) &collective_of = find(file, mpi.dlpi_addr, "MPIDI_faultloc_collective_of", NULL);
    requests = find(file, mpi.dlpi_addr, "MPIR_Request_direct", &request_size);
    request_size /= 8;
}

static int handle_of(const void *object)
{
    return *(const int *) object;
}

static void *comm_of(MPI_Comm comm)
{
    void *all[MOST];
    int n = all_comms(all, MOST);

    for (int i = 0; i < n; i++)
        if (handle_of(all[i]) == (int) comm)
            return all[i];
    return NULL;
}

/* NULL: it is none of the first. */
static void *request_of(MPI_Request req)
{
    if (((unsigned) req >> 30) != 2)
        return NULL;
    return requests + ((unsigned) req & 0xfff) * request_size;
}

/* ---- what is expected ------------------------------------------------------------------------ */

static bool is_on;
static int me, size, done;
static struct did {
    MPI_Comm comm;
    struct last last;
} dids[MOST];

static struct did *did_on(MPI_Comm comm)
{
    int i = 0;

    while (dids[i].comm && dids[i].comm != comm)
        i++;
    dids[i].comm = comm;
    return &dids[i];
}

static uint32_t id_of(const char *func)
{
    uint32_t h = 2166136261u;
    size_t len = strlen(func);

    for (size_t i = 0; i < 48; i++)
        h = (h ^ (i < len ? (unsigned char) func[i] : 0)) * 16777619u;
    return (h >> 8) | 1;
}

static void wrong(const char *func, const char *what, unsigned long long is,
                  unsigned long long expected)
{
    char text[200];

    snprintf(text, sizeof(text), "rank %d, %s: %s is %lld, not %lld", me, func, what,
             (long long) is, (long long) expected);
    tu_fail("collectives", text);
}

#define SAME(field) \
    if (is->field != expected->field) \
        wrong(func, #field, is->field, expected->field)

static void same(const char *func, const struct last *is, const struct last *expected)
{
    SAME(begun);
    if (expected->begun == 0)
        return;
    SAME(call);
    SAME(root);
    SAME(op);
    SAME(bytes);
    SAME(blocking);
}

/* One more collective was begun on a communicator: that function. */
static void did(MPI_Comm comm, const char *func, int root, MPI_Op op, uint64_t bytes, bool blocking)
{
    struct last last, before, *expected = &did_on(comm)->last;
    void *all[2], *at = comm_of(comm);

    done++;
    if (!is_on) {
        if (all_comms(all, 2))
            wrong(func, "noted", 1, 0);
        return;
    }
    if (!at)
        wrong(func, "communicator noted", 0, 1);
    if (all_comms(all, 1) != 1 || all[0] != at)
        wrong(func, "used last", 0, 1);
    if (collective_now())
        wrong(func, "in a collective", 1, 0);
    collective_before(at, &before);
    same(func, &before, expected);
    *expected = (struct last){.begun = expected->begun + 1, .call = id_of(func), .root = root,
                              .op = op == MPI_OP_NULL ? 0 : (uint32_t) op, .bytes = bytes,
                              .blocking = blocking};
    last_collective(at, &last);
    same(func, &last, expected);
}

/* A request of the collective that was begun last there; a persistent one has no number. */
static void is_of(MPI_Request req, MPI_Comm comm, bool is_persistent)
{
    uint32_t expected = is_persistent ? 0 : did_on(comm)->last.begun;
    uint32_t number = 0;
    void *r = request_of(req), *at;

    if (!is_on || !r)
        return;
    at = collective_of(r, &number);
    if (at != comm_of(comm) || number != expected)
        wrong("request", "number", number, expected);
}

/* ---- operations ------------------------------------------------------------------------------ */

static int in[MOST * COUNT], out[MOST * COUNT], counted[MOST], at[MOST], bytes_at[MOST];
static MPI_Aint places[MOST];
static MPI_Datatype types[MOST];

#define INTS ((uint64_t) (COUNT * sizeof(int)))
#define B(name) "internal_" name

/* The arguments that the blocking, nonblocking and persistent one have in common. */
#define ALL_OPERATIONS(X, c, root) \
    X(c, Bcast, bcast, root, MPI_OP_NULL, INTS, in, COUNT, MPI_INT, root) \
    X(c, Gather, gather, root, MPI_OP_NULL, INTS, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root) \
    X(c, Gatherv, gatherv, root, MPI_OP_NULL, NO_BYTES, in, COUNT, MPI_INT, out, counted, at, \
      MPI_INT, root) \
    X(c, Scatter, scatter, root, MPI_OP_NULL, INTS, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root) \
    X(c, Scatterv, scatterv, root, MPI_OP_NULL, NO_BYTES, in, counted, at, MPI_INT, out, COUNT, \
      MPI_INT, root) \
    X(c, Allgather, allgather, NONE, MPI_OP_NULL, INTS, in, COUNT, MPI_INT, out, COUNT, MPI_INT) \
    X(c, Allgatherv, allgatherv, NONE, MPI_OP_NULL, NO_BYTES, in, COUNT, MPI_INT, out, counted, \
      at, MPI_INT) \
    X(c, Alltoall, alltoall, NONE, MPI_OP_NULL, INTS, in, COUNT, MPI_INT, out, COUNT, MPI_INT) \
    X(c, Alltoallv, alltoallv, NONE, MPI_OP_NULL, NO_BYTES, in, counted, at, MPI_INT, out, \
      counted, at, MPI_INT) \
    X(c, Alltoallw, alltoallw, NONE, MPI_OP_NULL, NO_BYTES, in, counted, bytes_at, types, out, \
      counted, bytes_at, types) \
    X(c, Reduce, reduce, root, MPI_SUM, INTS, in, out, COUNT, MPI_INT, MPI_SUM, root) \
    X(c, Allreduce, allreduce, NONE, MPI_MAX, INTS, in, out, COUNT, MPI_INT, MPI_MAX) \
    X(c, Reduce_scatter, reduce_scatter, NONE, MPI_SUM, NO_BYTES, in, out, counted, MPI_INT, \
      MPI_SUM) \
    X(c, Reduce_scatter_block, reduce_scatter_block, NONE, MPI_MIN, INTS, in, out, COUNT, MPI_INT, \
      MPI_MIN) \
    X(c, Scan, scan, NONE, MPI_SUM, INTS, in, out, COUNT, MPI_INT, MPI_SUM) \
    X(c, Exscan, exscan, NONE, MPI_SUM, INTS, in, out, COUNT, MPI_INT, MPI_SUM)
#define NEIGHBORHOOD(X, c) \
    X(c, Neighbor_allgather, neighbor_allgather, NONE, MPI_OP_NULL, NO_BYTES, in, COUNT, MPI_INT, \
      out, COUNT, MPI_INT) \
    X(c, Neighbor_allgatherv, neighbor_allgatherv, NONE, MPI_OP_NULL, NO_BYTES, in, COUNT, \
      MPI_INT, out, counted, at, MPI_INT) \
    X(c, Neighbor_alltoall, neighbor_alltoall, NONE, MPI_OP_NULL, NO_BYTES, in, COUNT, MPI_INT, \
      out, COUNT, MPI_INT) \
    X(c, Neighbor_alltoallv, neighbor_alltoallv, NONE, MPI_OP_NULL, NO_BYTES, in, counted, at, \
      MPI_INT, out, counted, at, MPI_INT) \
    X(c, Neighbor_alltoallw, neighbor_alltoallw, NONE, MPI_OP_NULL, NO_BYTES, in, counted, places, \
      types, out, counted, places, types)

#define BLOCKING(c, Name, name, root, op, bytes, ...) \
    MPI_##Name(__VA_ARGS__, c); \
    did(c, "internal_" #Name, root, op, bytes, true);
#define NONBLOCKING(c, Name, name, root, op, bytes, ...) \
    MPI_I##name(__VA_ARGS__, c, &req); \
    did(c, "internal_I" #name, root, op, bytes, false); \
    is_of(req, c, false); \
    MPI_Wait(&req, MPI_STATUS_IGNORE);
/* MPICH 4.0.2's persistent scatter sends wrong counts when it is started again among more than two
 * ranks (iscatter_intra_sched_binomial.c), so it is started once. */
#define PERSISTENT(c, Name, name, root, op, bytes, ...) \
    MPI_##Name##_init(__VA_ARGS__, c, MPI_INFO_NULL, &req); \
    did(c, "internal_" #Name "_init", root, op, bytes, false); \
    for (int i_ = 0; i_ < (strcmp(#Name, "Scatter") ? 2 : 1); i_++) { \
        MPI_Start(&req); \
        is_of(req, c, true); \
        MPI_Wait(&req, MPI_STATUS_IGNORE); \
    } \
    MPI_Request_free(&req);

static void blocking(MPI_Comm c, int root)
{
    MPI_Barrier(c);
    did(c, B("Barrier"), NONE, MPI_OP_NULL, NO_BYTES, true);
    ALL_OPERATIONS(BLOCKING, c, root)
}

static void nonblocking(MPI_Comm c, int root)
{
    MPI_Request req;

    MPI_Ibarrier(c, &req);
    did(c, B("Ibarrier"), NONE, MPI_OP_NULL, NO_BYTES, false);
    is_of(req, c, false);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    ALL_OPERATIONS(NONBLOCKING, c, root)
}

static void persistent(MPI_Comm c, int root)
{
    MPI_Request req;

    MPI_Barrier_init(c, MPI_INFO_NULL, &req);
    did(c, B("Barrier_init"), NONE, MPI_OP_NULL, NO_BYTES, false);
    MPI_Startall(1, &req);
    is_of(req, c, true);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Request_free(&req);
    ALL_OPERATIONS(PERSISTENT, c, root)
}

static void neighbors(MPI_Comm c)
{
    MPI_Request req;

    NEIGHBORHOOD(BLOCKING, c)
    NEIGHBORHOOD(NONBLOCKING, c)
    NEIGHBORHOOD(PERSISTENT, c)
}

static void sum(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *n; i++)
        ((int *) b)[i] += ((int *) a)[i];
}

/* Datatypes and operators of the program's own; many elements; nothing at all. */
static void unusual(MPI_Comm c)
{
    MPI_Datatype pair;
    MPI_Request req;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(sum, 1, &op);
    MPI_Bcast(in, COUNT, pair, 0, c);
    did(c, B("Bcast"), 0, MPI_OP_NULL, 2 * INTS, true);
    MPI_Bcast_c(in, COUNT, MPI_DOUBLE_INT, 0, c);
    did(c, B("Bcast_c"), 0, MPI_OP_NULL, 12 * COUNT, true);
    MPI_Ibcast(in, COUNT, pair, 0, c, &req);
    MPI_Type_free(&pair);
    did(c, B("Ibcast"), 0, MPI_OP_NULL, 2 * INTS, false);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Bcast(in, 0, MPI_INT, 0, c);
    did(c, B("Bcast"), 0, MPI_OP_NULL, 0, true);
    MPI_Allreduce_c(in, out, COUNT, MPI_INT, MPI_SUM, c);
    did(c, B("Allreduce_c"), NONE, MPI_SUM, INTS, true);
    MPI_Allreduce(in, out, COUNT, MPI_INT, op, c);
    did(c, B("Allreduce"), NONE, MPI_OP_NULL, INTS, true);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, COUNT, MPI_INT, c);
    did(c, B("Allgather"), NONE, MPI_OP_NULL, INTS, true);
    MPI_Op_free(&op);
}

/* A new communicator begins at 0, whatever was in its place. */
static void is_new(MPI_Comm c)
{
    struct last last = { 0 };

    did_on(c)->last = last;
    if (is_on && comm_of(c))
        last_collective(comm_of(c), &last);
    if (last.begun > 0)
        wrong("a new communicator", "begun", last.begun, 0);
}

/* What is collective besides; returns a communicator in which each rank has neighbors. */
static MPI_Comm make(MPI_Comm c)
{
    MPI_Comm half, other, ring;
    MPI_Request req;
    MPI_Win win;
    int periodic = 1;

    MPI_Comm_split(c, me % 2, me, &half);
    did(c, B("Comm_split"), NONE, MPI_OP_NULL, NO_BYTES, true);
    is_new(half);
    MPI_Barrier(half);
    did(half, B("Barrier"), NONE, MPI_OP_NULL, NO_BYTES, true);
    MPI_Comm_idup(c, &other, &req);
    did(c, B("Comm_idup"), NONE, MPI_OP_NULL, NO_BYTES, false);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    MPI_Intercomm_create(half, 0, c, 1 - me % 2, 5, &other);
    did(half, B("Intercomm_create"), NONE, MPI_OP_NULL, NO_BYTES, true);
    is_new(other);
    MPI_Bcast(in, COUNT, MPI_INT, me % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    did(other, B("Bcast"), NONE, MPI_OP_NULL, NO_BYTES, true);
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, other);
    did(other, B("Allreduce"), NONE, MPI_OP_NULL, NO_BYTES, true);
    MPI_Comm_free(&other);
    MPI_Win_create(in, sizeof(in), 1, MPI_INFO_NULL, c, &win);
    did(c, B("Win_create"), NONE, MPI_OP_NULL, NO_BYTES, true);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Cart_create(c, 1, &size, &periodic, 0, &ring);
    did(c, B("Cart_create"), NONE, MPI_OP_NULL, NO_BYTES, true);
    is_new(ring);
    MPI_Comm_free(&half);
    return ring;
}

static void anew(void)
{
    MPI_Comm c;

    for (int i = 0; i < 10; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        did(MPI_COMM_WORLD, B("Comm_dup"), NONE, MPI_OP_NULL, NO_BYTES, true);
        is_new(c);
        for (int k = 0; k <= i; k++) {
            MPI_Reduce(in, out, COUNT, MPI_INT, MPI_PROD, 0, c);
            did(c, B("Reduce"), 0, MPI_PROD, INTS, true);
        }
        MPI_Comm_free(&c);
    }
}

int main(int argc, char **argv)
{
    const char *on = getenv("MPIR_CVAR_FAULTLOC");
    MPI_Comm ring;

    is_on = on && atoi(on);
    find_all();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < MOST; i++) {
        counted[i] = COUNT;
        at[i] = COUNT * i;
        bytes_at[i] = (int) INTS * i;
        places[i] = bytes_at[i];
        types[i] = MPI_INT;
    }
    blocking(MPI_COMM_WORLD, size - 1);
    nonblocking(MPI_COMM_WORLD, 0);
    persistent(MPI_COMM_WORLD, size - 1);
    blocking(MPI_COMM_SELF, 0);
    nonblocking(MPI_COMM_SELF, 0);
    unusual(MPI_COMM_WORLD);
    ring = make(MPI_COMM_WORLD);
    neighbors(ring);
    blocking(ring, 0);
    MPI_Comm_free(&ring);
    anew();
    printf("rank %d: %d as expected\n", me, done);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
