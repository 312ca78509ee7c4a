/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Ranks get into waits of each kind, and one of them, the reader, checks what they say of them on
 * the board.  A thread of each rank asks it in the agent's place, when the reader wants it to: both
 * share a file.  So nothing else may ask: the stall limit is to be longer than the test.
 *
 *     waits FILE [--threads]    FILE: 4096 bytes of zeros that all ranks can write; on one host, 4
 *                               ranks.  --threads: instead, rank 1 has 8 threads in MPI
 *
 * Exit code: 0, or the job is aborted, and why is on stderr.
 */

#include "faultloc/board/board.h"
#include "testutil.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANKS 4
#define THREADS WAITS_THREADS_MAX
#define DEADLINE 60 /* s */

static int me;
static struct faultloc_board *board;
static struct faultloc_page *own; /* this rank's slot, to be written */
static struct shared {
    _Atomic uint32_t want[RANKS]; /* the number of the last look that is wanted of this rank */
    _Atomic int32_t with_n;
    _Atomic uint32_t polls; /* of rank 1's threads while a question was open */
} *shared;

static void fail(const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    tu_fail("waits", line);
}

/* ---- the board ------------------------------------------------------------------------------- */

/* The board begins at its offset 0; the own slot is mapped once more, elsewhere. */
static void find_board(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from, to, offset;
    char line[512], access[8];

    while (maps && fgets(line, sizeof(line), maps)) {
        if (!strstr(line, "memfd:faultloc") ||
            sscanf(line, "%lx-%lx %7s %lx", &from, &to, access, &offset) != 4)
            continue;
        if (offset == 0)
            board = (struct faultloc_board *) from;
        else if (!own && access[1] == 'w' && to - from == 4096)
            own = (struct faultloc_page *) from;
    }
    if (maps)
        fclose(maps);
    if (!board || !own || board->slots != RANKS)
        fail("rank %d finds no board with %d slots: it needs FaultLoc, and all ranks on one host", me,
             RANKS);
}

/* All are on one node, so the n-th slot is rank n's. */
static struct faultloc_wait_area *area_of(int rank)
{
    return (struct faultloc_wait_area *) ((char *) board + board->waits_at +
                                          (uint64_t) rank * board->wait_bytes);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask_if_wanted(void)
{
    struct faultloc_wait_area *area = area_of(me);
    uint32_t want = shared->want[me];

    if (want == area->asked)
        return;
    area->with_n = shared->with_n;
    for (int i = 0; i < area->with_n; i++)
        area->with[i] = i;
    area->asked = want;
    __atomic_store_n(&own->slot.news, 1, __ATOMIC_RELEASE);
}

_Noreturn static void *ask(void *arg)
{
    (void) arg;
    for (;;) {
        ask_if_wanted();
        usleep(200);
    }
}

static uint32_t id_of(const char *call)
{
    uint32_t h = 2166136261u;
    char func[64];
    bool ended = false;

    snprintf(func, sizeof(func), "internal_%s", call + strlen("MPI_"));
    for (int i = 0; i < 48; i++) {
        ended = ended || !func[i];
        h = (h ^ (ended ? 0 : (unsigned char) func[i])) * 16777619u;
    }
    return (h >> (32 - FAULTLOC_CALL_BITS)) | 1;
}

/* One look at a rank; false: it does not answer before the deadline. */
static bool look(int rank, struct waits_page *page, double deadline)
{
    struct faultloc_wait_area *area = area_of(rank);
    uint32_t number = shared->want[rank] + 1, before;

    shared->want[rank] = number;
    do {
        while (area->answered != number || (before = area->writing) % 2)
            if (tu_now() > deadline)
                return false;
        *page = area->page;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (area->writing != before);
    return true;
}

static const char *what; /* is being tested */
static struct waits_page page;
static const struct waits_record *record;
static const struct waits_request *request;

/* Looks at a rank until it is in that call. */
static void see(int rank, const char *call)
{
    double deadline = tu_now() + DEADLINE;

    do {
        if (!look(rank, &page, deadline))
            fail("%s: rank %d does not answer in %s", what, rank, call);
        if (tu_now() > deadline)
            fail("%s: rank %d is not in %s, but in %06x", what, rank, call,
                 (unsigned) page.record[0].call);
    } while (page.records != 1 || page.record[0].call != id_of(call));
    record = &page.record[0];
    request = &record->request[0];
    if (record->rank != rank)
        fail("%s: rank %d calls itself rank %d", what, rank, (int) record->rank);
}

#define EXPECT(left, right) \
    do { \
        long long left_ = (long long) (left), right_ = (long long) (right); \
        if (left_ != right_) \
            fail("%s, line %d: %s is %lld, and not %s, %lld", what, __LINE__, #left, left_, #right, \
                 right_); \
    } while (0)

static void expect_wait(enum waits_mode mode, int requests)
{
    EXPECT(record->state, WAITS_WAITING);
    EXPECT(record->mode, mode);
    EXPECT(record->requests, requests);
    EXPECT(record->more, 0);
    EXPECT(record->polls, 0);
}

static void expect_request(int i, enum waits_kind kind, int peer, int tag, const char *comm)
{
    const struct waits_request *q = &record->request[i];

    EXPECT(q->kind, kind);
    EXPECT(q->peer, peer);
    EXPECT(q->tag, tag);
    EXPECT(q->fate, WAITS_UNKNOWN);
    if (q->comm == FTREE_NONE)
        fail("%s: request %d has no communicator", what, i);
    if (strcmp(record->comm[q->comm].name, comm))
        fail("%s: request %d is in '%s', and not in '%s'", what, i, record->comm[q->comm].name, comm);
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Rank 0 reads, rank 1 waits; what ends the wait comes from rank 0 once it has seen it. */
static MPI_Comm odd; /* ranks 3, 1, 0 in this order; 2 is not in it */
static int buf[1 << 18];
static MPI_Status statuses[2 * RANKS];

static void begin(const char *name)
{
    what = name;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void expect_same_wait(int rank, const char *call)
{
    uint64_t stamp = record->stamp;

    for (int i = 0; i < 3; i++) {
        see(rank, call);
        EXPECT(record->stamp, stamp);
    }
}

static void test_recv(void)
{
    begin("MPI_Recv");
    if (me == 1)
        MPI_Recv(buf, 8, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0) {
        see(1, "MPI_Recv");
        expect_wait(WAITS_FOR_ALL, 1);
        expect_request(0, WAITS_RECV, 0, 7, "MPI_COMM_WORLD");
        EXPECT(request->bytes, 32);
        EXPECT(record->comm[0].size, RANKS);
        EXPECT(record->comm[0].runs, 1);
        EXPECT(record->comm[0].run[0].count, RANKS);
        EXPECT(page.posted, 1);
        EXPECT(page.post[0].peer, 0);
        EXPECT(page.post[0].tag, 7);
        EXPECT(page.post[0].context, record->comm[0].key.context);
        expect_same_wait(1, "MPI_Recv");
        MPI_Send(buf, 8, MPI_INT, 1, 7, MPI_COMM_WORLD);
    }
}

static void test_any(void)
{
    begin("MPI_Recv of any source and tag");
    if (me == 1)
        MPI_Recv(buf, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, odd, MPI_STATUS_IGNORE);
    if (me == 0) {
        see(1, "MPI_Recv");
        expect_wait(WAITS_FOR_ALL, 1);
        expect_request(0, WAITS_RECV, WAITS_ANY, WAITS_ANY, "odd");
        EXPECT(record->comm[0].size, 3);
        EXPECT(record->comm[0].key.first, 3);
        MPI_Send(buf, 1, MPI_INT, 1, 3, odd);
    }
}

static void test_send(void)
{
    begin("MPI_Ssend");
    if (me == 1) {
        MPI_Ssend(buf, 1, MPI_INT, 2, 9, odd);
        MPI_Send(buf, 1 << 18, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
    if (me == 0) {
        see(1, "MPI_Ssend");
        expect_wait(WAITS_FOR_ALL, 1);
        expect_request(0, WAITS_SSEND, 0, 9, "odd");
        EXPECT(request->bytes, 4);
        EXPECT(page.last >= 1, 1);
        EXPECT(page.sent[0].peer, 0);
        EXPECT(page.sent[0].tag, 9);
        EXPECT(page.sent[0].context, record->comm[0].key.context);
        MPI_Recv(buf, 1, MPI_INT, 1, 9, odd, MPI_STATUS_IGNORE);
        what = "MPI_Send";
        see(1, "MPI_Send");
        expect_wait(WAITS_FOR_ALL, 1);
        expect_request(0, WAITS_SEND, 0, 4, "MPI_COMM_WORLD");
        EXPECT(request->bytes, sizeof(buf));
        MPI_Recv(buf, 1 << 18, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Both of its requests are needed; one comes first. */
static void test_waitall(void)
{
    MPI_Request req[4];

    begin("MPI_Waitall");
    if (me == 1) {
        MPI_Irecv(buf, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(buf + 1, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &req[1]);
        req[2] = MPI_REQUEST_NULL;
        MPI_Issend(buf + 2, 1, MPI_INT, 3, 3, MPI_COMM_WORLD, &req[3]);
        MPI_Waitall(4, req, statuses);
    }
    if (me == 0) {
        uint64_t stamp;
        see(1, "MPI_Waitall");
        expect_wait(WAITS_FOR_ALL, 3);
        expect_request(0, WAITS_RECV, 0, 1, "MPI_COMM_WORLD");
        expect_request(1, WAITS_RECV, 2, 2, "MPI_COMM_WORLD");
        expect_request(2, WAITS_SSEND, 3, 3, "MPI_COMM_WORLD");
        EXPECT(page.posted, 2);
        expect_same_wait(1, "MPI_Waitall");
        stamp = record->stamp;
        MPI_Send(buf, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        do
            see(1, "MPI_Waitall");
        while (record->requests == 3);
        EXPECT(record->requests, 2);
        EXPECT(record->stamp > stamp, 1);
        expect_request(0, WAITS_RECV, 2, 2, "MPI_COMM_WORLD");
        MPI_Send(buf, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
        MPI_Send(buf, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
    } else if (me > 1) {
        MPI_Recv(buf, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 2)
            MPI_Send(buf, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        else
            MPI_Recv(buf, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* One request suffices, and a persistent one that was not started does not count. */
static void test_one_of(void)
{
    MPI_Request req[3];
    int index[3], n;

    begin("MPI_Waitany");
    if (me == 1) {
        MPI_Recv_init(buf, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &req[0]);
        MPI_Recv_init(buf + 1, 1, MPI_INT, 2, 2, odd == MPI_COMM_NULL ? MPI_COMM_WORLD : odd, &req[1]);
        MPI_Irecv(buf + 2, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &req[2]);
        MPI_Start(&req[1]);
        MPI_Waitany(3, req, &n, MPI_STATUS_IGNORE);
        MPI_Start(&req[1]);
        MPI_Waitsome(3, req, &n, index, statuses);
        MPI_Recv(buf, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Cancel(&req[2]);
        MPI_Wait(&req[2], MPI_STATUS_IGNORE);
        MPI_Request_free(&req[0]);
        MPI_Request_free(&req[1]);
    }
    if (me == 0) {
        for (int i = 0; i < 2; i++) {
            const char *call = i ? "MPI_Waitsome" : "MPI_Waitany";
            what = call;
            see(1, call);
            expect_wait(WAITS_FOR_ONE, 2);
            expect_request(0, WAITS_RECV, 0, 2, "odd");
            expect_request(1, WAITS_RECV, WAITS_ANY, 3, "MPI_COMM_WORLD");
            expect_same_wait(1, call);
            MPI_Send(buf, 1, MPI_INT, 1, 2, odd);
        }
        what = "MPI_Recv behind MPI_Irecv";
        see(1, "MPI_Recv");
        EXPECT(page.posted, 2);
        MPI_Send(buf, 1, MPI_INT, 1, 3, MPI_COMM_WORLD); /* meets the first */
        MPI_Send(buf, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
}

static void test_sendrecv(void)
{
    begin("MPI_Sendrecv");
    if (me == 1)
        MPI_Sendrecv(buf, 1 << 17, MPI_INT, 2, 5, buf + (1 << 17), 1, MPI_INT, 0, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (me == 0) {
        see(1, "MPI_Sendrecv");
        expect_wait(WAITS_FOR_ALL, 2);
        expect_request(0, WAITS_RECV, 0, 6, "MPI_COMM_WORLD");
        expect_request(1, WAITS_SEND, 2, 5, "MPI_COMM_WORLD");
        MPI_Send(buf, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
        MPI_Send(buf, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    }
    if (me == 2) {
        MPI_Recv(buf, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buf, 1 << 17, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void test_probe(void)
{
    static const char *const calls[] = {"MPI_Probe", "MPI_Mprobe"};
    MPI_Message message;
    MPI_Status status;

    for (int i = 0; i < 2; i++) {
        begin(calls[i]);
        if (me == 1 && i == 0) {
            MPI_Probe(2, 4, odd, &status);
            MPI_Recv(buf, 1, MPI_INT, 2, 4, odd, MPI_STATUS_IGNORE);
        } else if (me == 1) {
            MPI_Mprobe(2, 4, odd, &message, &status);
            if (status.MPI_SOURCE != 2 || status.MPI_TAG != 4)
                fail("MPI_Mprobe has found another message");
            MPI_Mrecv(buf, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        if (me == 0) {
            see(1, calls[i]);
            expect_wait(WAITS_FOR_ALL, 1);
            expect_request(0, WAITS_PROBE, 0, 4, "odd");
            expect_same_wait(1, calls[i]);
            MPI_Send(buf, 1, MPI_INT, 1, 4, odd);
        }
    }
}

/* A rank that asks again and again. */
static void poll_with(int how, MPI_Request *req)
{
    MPI_Message message;
    int flag = 0, n = 0, index[2];

    while (!flag) {
        switch (how) {
        case 0:
            MPI_Test(&req[0], &flag, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Testall(2, req, &flag, statuses);
            break;
        case 2:
            MPI_Testany(2, req, &n, &flag, MPI_STATUS_IGNORE);
            break;
        case 3:
            MPI_Testsome(2, req, &flag, index, statuses);
            break;
        case 4:
            MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            break;
        case 5:
            MPI_Improbe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
            if (flag)
                MPI_Imrecv(buf, 1, MPI_INT, &message, &req[0]);
            break;
        default:
            MPI_Request_get_status(req[0], &flag, MPI_STATUS_IGNORE);
        }
    }
}

static const struct {
    const char *call;
    enum waits_mode mode;
    int requests;
} polls[] = {{"MPI_Test", WAITS_FOR_ALL, 1},       {"MPI_Testall", WAITS_FOR_ALL, 2},
             {"MPI_Testany", WAITS_FOR_ONE, 2},    {"MPI_Testsome", WAITS_FOR_ONE, 2},
             {"MPI_Iprobe", WAITS_FOR_ALL, 1},     {"MPI_Improbe", WAITS_FOR_ALL, 1},
             {"MPI_Request_get_status", WAITS_FOR_ALL, 1}};

static void test_polls(int how)
{
    bool probes = how == 4 || how == 5;
    MPI_Request req[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    begin(polls[how].call);
    if (me == 1) {
        for (int i = 0; i < 2 && !probes; i++)
            MPI_Irecv(buf + i, 1, MPI_INT, i ? 2 : 0, 8, MPI_COMM_WORLD, &req[i]);
        poll_with(how, req);
        if (how == 4)
            MPI_Recv(buf, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, req, statuses);
    }
    if (me == 0) {
        see(1, polls[how].call);
        EXPECT(record->state, WAITS_WAITING);
        EXPECT(record->polls, 1);
        EXPECT(record->mode, polls[how].mode);
        EXPECT(record->requests, polls[how].requests);
        expect_request(0, probes ? WAITS_PROBE : WAITS_RECV, probes ? WAITS_ANY : 0, 8,
                       "MPI_COMM_WORLD");
        expect_same_wait(1, polls[how].call);
        MPI_Send(buf, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
        MPI_Send(buf, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    }
    if (me == 2) {
        MPI_Recv(buf, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!probes)
            MPI_Send(buf, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    }
}

static void test_self(void)
{
    MPI_Request req;
    int probe;

    begin("MPI_COMM_SELF");
    if (me == 1) {
        MPI_Irecv(buf, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &req);
        for (int flag = 0; !flag;) {
            MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
            MPI_Iprobe(0, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Recv(buf, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buf + 1, 1, MPI_INT, 0, 8, MPI_COMM_SELF);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    if (me == 0) { /* one of what it asks for in turn would do */
        see(1, id_of("MPI_Test") < id_of("MPI_Iprobe") ? "MPI_Test" : "MPI_Iprobe");
        EXPECT(record->mode, WAITS_FOR_ONE);
        EXPECT(record->requests, 2);
        probe = record->request[0].kind == WAITS_PROBE ? 0 : 1;
        expect_request(!probe, WAITS_RECV, 1, 8, "MPI_COMM_SELF");
        expect_request(probe, WAITS_PROBE, 0, 8, "MPI_COMM_WORLD");
        MPI_Send(buf, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Messages of all kinds between each two ranks, this one included, all of which are received. */
static void talk(void)
{
    static int out[RANKS][64], in[RANKS][64];
    MPI_Request req[2 * RANKS], started[2];
    MPI_Datatype column;
    MPI_Message message;
    MPI_Comm dup;
    int flag;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < RANKS; i++) {
            int tag = round % 3 ? round : MPI_ANY_TAG, from = round % 4 ? i : MPI_ANY_SOURCE;
            MPI_Irecv(in[i], 64, MPI_INT, from, tag, round % 2 ? dup : MPI_COMM_WORLD, &req[i]);
        }
        for (int i = 0; i < RANKS; i++)
            MPI_Isend(out[i], round % 5, MPI_INT, i, round, round % 2 ? dup : MPI_COMM_WORLD,
                      &req[RANKS + i]);
        MPI_Waitall(2 * RANKS, req, statuses);
        MPI_Barrier(dup); /* what comes of any source is of this round */
    }
    for (int i = 0; i < RANKS; i++) {
        int to = (me + i) % RANKS, from = (me + RANKS - i) % RANKS;
        MPI_Sendrecv(buf, 1 << 17, MPI_INT, to, 1, buf + (1 << 17), 1 << 17, MPI_INT, from, 1, dup,
                     MPI_STATUS_IGNORE);
        MPI_Isend(out, 1, column, to, 2, dup, &req[0]);
        MPI_Recv(in, 1, column, from, 2, dup, MPI_STATUS_IGNORE);
        MPI_Issend(out, 1, MPI_INT, to, 3, dup, &req[1]);
        MPI_Mprobe(from, MPI_ANY_TAG, dup, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Waitall(2, req, statuses);
        MPI_Isend(buf, 1 << 17, MPI_INT, to, 4, dup, &req[0]);
        do
            MPI_Improbe(MPI_ANY_SOURCE, 4, dup, &flag, &message, MPI_STATUS_IGNORE);
        while (!flag);
        MPI_Imrecv(buf + (1 << 17), 1 << 17, MPI_INT, &message, &req[1]);
        MPI_Waitall(2, req, statuses);
        MPI_Send_init(out, 1, MPI_INT, to, 5, dup, &started[0]);
        MPI_Recv_init(in, 1, MPI_INT, from, 5, dup, &started[1]);
        for (int k = 0; k < 3; k++) {
            MPI_Startall(2, started);
            MPI_Waitall(2, started, statuses);
        }
        MPI_Request_free(&started[0]);
        MPI_Request_free(&started[1]);
        MPI_Irecv(in, 1, MPI_INT, from, 77, dup, &req[0]); /* nobody sends that */
        MPI_Cancel(&req[0]);
        MPI_Wait(&req[0], MPI_STATUS_IGNORE);
        MPI_Barrier(dup);
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, dup);
    MPI_Allreduce(out, in, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ibcast(out, 8, MPI_INT, 2, dup, &req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Comm_free(&dup);
}

static struct waits_exchange with(int peer)
{
    for (int i = 0; i < page.exchanges; i++)
        if (page.exchange[i].peer == peer)
            return page.exchange[i];
    fail("%s: rank %d says nothing of rank %d", what, (int) record->rank, peer);
    return page.exchange[0];
}

/* Ranks 1 to 3 wait for the reader, and nothing else is under way between them. */
static void compare_sums(void)
{
    struct waits_exchange of[RANKS][RANKS];

    for (int i = 1; i < RANKS; i++) {
        see(i, "MPI_Recv");
        for (int k = 1; k < RANKS; k++)
            of[i][k] = with(k);
    }
    for (int i = 1; i < RANKS; i++)
        for (int k = 1; k < RANKS; k++) {
            if (of[i][k].sent.count < 50)
                fail("%s: rank %d has sent %u messages to rank %d", what, i, of[i][k].sent.count, k);
            EXPECT(of[i][k].sent.count, of[k][i].received.count);
            EXPECT(of[i][k].sent.sum, of[k][i].received.sum);
        }
}

static void test_sums(void)
{
    struct waits_exchange sent = { 0 }, received = { 0 };
    struct waits_flows out;
    uint64_t mark;

    begin("sums");
    talk();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 2)
        MPI_Send(buf, 1, MPI_INT, 3, 21, odd == MPI_COMM_NULL ? MPI_COMM_WORLD : odd);
    if (me > 0)
        MPI_Recv(buf, 1, MPI_INT, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0) {
        see(2, "MPI_Recv");
        sent = with(3);
        EXPECT(page.sent[0].peer, 3);
        EXPECT(page.sent[0].tag, 21);
        EXPECT(page.sent[0].kind, WAITS_SENT);
        out.flow[0] = page.sent[0];
        see(3, "MPI_Recv");
        received = with(2);
        EXPECT(sent.sent.count, received.received.count + 1);
        mark = (FAULTLOC_KEY(out.flow[0].context, 21) * FAULTLOC_MARK_FACTOR) ^ FAULTLOC_MARK_FLIPS;
        EXPECT(sent.sent.sum, received.received.sum + mark * mark);
        for (int i = 1; i < RANKS; i++)
            MPI_Send(buf, 1, MPI_INT, i, 22, MPI_COMM_WORLD);
    }
    if (me == 3)
        MPI_Recv(buf, 1, MPI_INT, 2, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me > 0)
        MPI_Recv(buf, 1, MPI_INT, 0, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 0) {
        see(3, "MPI_Recv");
        while (with(2).received.count != received.received.count + 1)
            see(3, "MPI_Recv");
        compare_sums();
        for (int i = 1; i < RANKS; i++)
            MPI_Send(buf, 1, MPI_INT, i, 23, MPI_COMM_WORLD);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

#define LOOKS 20
#define POLLS_MAX (2000 * LOOKS) /* some ten a look; where the lock is not let go, 5,000 and more */
#define OWN_COMMS (2 * WAITS_COMMS_MAX)

static int pollers; /* the first of rank 1's threads; the others wait */

/* One that ran beside them would be a reason to say nothing, so the first one asks. */
static void *wait_for_own(void *arg)
{
    int thread = (int) (intptr_t) arg, done = 0, x;
    const struct faultloc_wait_area *area = area_of(me);
    MPI_Request r;

    if (thread >= pollers) {
        MPI_Recv(&x, 1, MPI_INT, 0, 100 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return NULL;
    }
    MPI_Irecv(&x, 1, MPI_INT, 0, 100 + thread, MPI_COMM_WORLD, &r);
    while (!done) {
        if (thread == 0)
            ask_if_wanted();
        shared->polls += area->asked != area->answered;
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];

    for (intptr_t i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, wait_for_own, (void *) i))
            fail("cannot start a thread");
    wait_for_own((void *) 0);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static bool names_comm(const char *name)
{
    for (int i = 0; i < page.records; i++)
        for (int k = 0; k < page.record[i].comms; k++)
            if (!strcmp(page.record[i].comm[k].name, name))
                return true;
    return false;
}

/* Each thread has a record, and each communicator is in one of these. */
static void expect_threads(void)
{
    int polling = 0, tags = 0;
    char name[16];

    for (int i = 0; i < THREADS; i++) {
        record = &page.record[i];
        request = &record->request[0];
        EXPECT(record->state, WAITS_WAITING);
        EXPECT(record->requests, 1);
        EXPECT(request->kind, WAITS_RECV);
        polling += record->polls;
        tags |= 1 << (request->tag - 100);
    }
    EXPECT(polling, pollers);
    EXPECT(tags, (1 << THREADS) - 1);
    for (int i = 0; i < OWN_COMMS; i++) {
        snprintf(name, sizeof(name), "own %d", i);
        if (!names_comm(name))
            fail("%s: no thread tells of the communicator '%s'", what, name);
    }
}

/* On a busy machine a thread may not get its turn in time: then there is one more, who may do
 * anything, now and then. */
static void look_at_threads(void)
{
    double deadline = tu_now() + DEADLINE;
    int whole = 0;

    do
        if (!look(1, &page, deadline))
            fail("%s: rank 1 does not answer", what);
    while (page.records != THREADS); /* they are all there */
    shared->polls = 0;
    for (int i = 0; i < LOOKS; i++) {
        if (!look(1, &page, deadline))
            fail("%s: rank 1 does not answer", what);
        if (page.records != THREADS || page.record[0].threads != THREADS)
            continue;
        whole++;
        expect_threads();
    }
    if (whole < LOOKS / 4)
        fail("%s: of %d looks, %d were at all threads", what, LOOKS, whole);
    if (shared->polls > POLLS_MAX)
        fail("%s: %u calls in vain while they were asked: they do not let each other have the lock",
             what, (unsigned) shared->polls);
}

static void test_threads(const char *name, int n)
{
    pollers = n;
    begin(name);
    if (me == 1)
        run_threads();
    if (me == 0) {
        look_at_threads();
        for (int i = 0; i < THREADS; i++)
            MPI_Send(buf, 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD);
    }
}

static void test_all_threads(void)
{
    MPI_Comm comm[OWN_COMMS];
    char name[16];

    for (int i = 0; i < OWN_COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        snprintf(name, sizeof(name), "own %d", i);
        MPI_Comm_set_name(comm[i], name);
    }
    test_threads("threads of which one polls", 1);
    test_threads("threads that poll", THREADS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < OWN_COMMS; i++)
        MPI_Comm_free(&comm[i]);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Rank 1 is in MPI_Finalize, and says so at every look, with what it was asked for. */
static void test_finalize(void)
{
    uint32_t count;

    begin("MPI_Finalize");
    if (me == 1 || getenv("WAITS_LEAVE_AT_ONCE"))
        return;
    if (me == 0) {
        MPI_Recv(buf, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        see(1, "MPI_Finalize");
        EXPECT(record->state, WAITS_FINALIZING);
        count = with(0).sent.count;
        EXPECT(page.sent[0].peer, 0);
        EXPECT(page.sent[0].tag, 31);
        see(1, "MPI_Finalize");
        EXPECT(with(0).sent.count, count);
    }
}

static void test_one_thread(void)
{
    int members[] = {3, 1, 0};
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, members, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &odd);
    if (odd != MPI_COMM_NULL)
        MPI_Comm_set_name(odd, "odd");

    test_recv();
    test_any();
    test_send();
    test_waitall();
    test_one_of();
    test_sendrecv();
    test_probe();
    for (int how = 0; how < (int) (sizeof(polls) / sizeof(polls[0])); how++)
        test_polls(how);
    test_self();
    test_sums();

    if (odd != MPI_COMM_NULL)
        MPI_Comm_free(&odd);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    test_finalize();
}

int main(int argc, char **argv)
{
    bool threads = argc > 2 && !strcmp(argv[2], "--threads");
    int fd, provided;
    pthread_t asker;

    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    tu_hello(me);
    fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
    shared = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        tu_fail("waits", "the first argument is to be a file of 4096 bytes");
    find_board();
    if (!threads || me != 1)
        pthread_create(&asker, NULL, ask, NULL);
    if (threads)
        test_all_threads();
    else
        test_one_thread();
    if (me == 1 && !threads) {
        MPI_Send(buf, 1, MPI_INT, 0, 31, MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    if (me == 0)
        printf("all waits are told\n");
    MPI_Finalize();
    return 0;
}
