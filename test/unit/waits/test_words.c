/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Waits in words. */

#include "suite.h"
#include "waiters.h"

enum call {
    NONE,
    RECV,
    SSEND,
    WAITALL,
    WAITANY,
    ALLREDUCE,
    BCAST,
    WAIT,
    IBARRIER,
    PROBE,
    LOCK
};

static const char *name_of(uint32_t call)
{
    static const char *const names[] = {
        "user code", "MPI_Recv", "MPI_Ssend",    "MPI_Waitall", "MPI_Waitany", "MPI_Allreduce",
        "MPI_Bcast", "MPI_Wait", "MPI_Ibarrier", "MPI_Probe",   "MPI_Win_lock"};

    return names[call];
}

static const char *op_of(uint32_t op)
{
    return op == 3 ? "MPI_SUM" : "MPI_MAX";
}

static const char *const hosts[] = {"h0", "h1", "h2", "h3", "h4", "h5"};
static struct waiters k;
static struct waits_names names = {.job = &k.job, .call = name_of, .op = op_of};

static void setup(void)
{
    waiters_init(&k, 6, 6, 2);
    k.job.node_name = hosts;
}

static const char *line_of(const struct waits_record *r)
{
    static char line[256];

    ftree_waits_line(&names, r, line, sizeof(line));
    return line;
}

TEST_CASE(requests_say_their_kind_where_the_call_does_not)
{
    struct waits_record r;

    setup();
    waiters_begin(&k, &r, 2, WAITALL);
    waiters_add(&r, WAITS_RECV, WAITS_ANY, WAITS_ANY);
    waiters_add(&r, WAITS_SEND, 4, 0);
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) in MPI_Waitall(all of recv from any, any tag, "
                                  "MPI_COMM_WORLD; send to 4, tag 0, MPI_COMM_WORLD)");
    r.call = WAITANY;
    r.mode = WAITS_FOR_ONE;
    r.comm[0].name[0] = 0;
    r.requests = 1;
    r.more = true;
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) in MPI_Waitany(one of recv from any, any tag, "
                                  "a communicator of 6 ranks (context 4); others)");
    r.more = false;
    waiters_add(&r, WAITS_STORE, WAITS_ANY, 0);
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) in MPI_Waitany(one of recv from any, any tag, "
                                  "a communicator of 6 ranks (context 4); store by any, "
                                  "a communicator of 6 ranks (context 4))");
    waiters_begin(&k, &r, 2, LOCK);
    waiters_add(&r, WAITS_RMA, 1, 0)->comm = FTREE_NONE;
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) in MPI_Win_lock(for 1)");
    waiters_begin(&k, &r, 2, WAITALL);
    for (int32_t i = 0; i < 5; i++)
        waiters_add(&r, WAITS_RECV, i, 1)->comm = FTREE_NONE;
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) in MPI_Waitall(all of recv from 0, tag 1; "
                                  "recv from 1, tag 1; recv from 2, tag 1; 2 more)");
}

/* How it waits for its root is no other wait. */
TEST_CASE(who_waits_for_a_root_waits_for_nothing_else)
{
    struct waits_record r;
    struct waits_request *q;

    setup();
    waiters_begin(&k, &r, 2, BCAST);
    r.comm[0].last = (struct waits_collective){
        .begun = 5, .call = BCAST, .root = 1, .bytes = 8, .blocking = true};
    q = waiters_add(&r, WAITS_COLLECTIVE, 1, 0);
    q->number = 5;
    waiters_add(&r, WAITS_RECV, 4, 2);
    ck_assert_str_eq(line_of(&r),
                     "rank 2 (h2) in MPI_Bcast(MPI_COMM_WORLD, the 5th, root 1, 8 bytes)");
    r.call = WAITALL;
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) in MPI_Waitall(all of MPI_Bcast MPI_COMM_WORLD, the "
                                  "5th, root 1, 8 bytes; recv from 4, tag 2, MPI_COMM_WORLD)");
}

static struct waits_comm *add_lock(struct waits_record *r, uint32_t of, uint32_t begun)
{
    struct waits_comm *c = &r->comm[r->comms++];

    *c = (struct waits_comm){
        .key = {.context = 12 | of, .first = of == WAITS_LOCK_OF_ONE ? 5 : 0}, .size = 6};
    c->last.begun = begun;
    return c;
}

TEST_CASE(locks_are_named_by_their_targets)
{
    struct waits_record r;

    setup();
    waiters_begin(&k, &r, 2, LOCK);
    waiters_add(&r, WAITS_COLLECTIVE, FTREE_NONE, 0)->comm = 1;
    waiters_add(&r, WAITS_COLLECTIVE, FTREE_NONE, 0)->comm = 2;
    waiters_add(&r, WAITS_TARGET, 5, 0);
    add_lock(&r, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    add_lock(&r, WAITS_LOCK_OF_ALL, WAITS_LOCK_NONE);
    r.request[0].number = WAITS_LOCK_NONE;
    r.request[1].number = WAITS_LOCK_NONE;
    ck_assert_str_eq(line_of(&r),
                     "rank 2 (h2) in MPI_Win_lock(exclusive lock of 5, a window (context 12))");
    waiters_begin(&k, &r, 3, RECV);
    waiters_add(&r, WAITS_RECV, 2, 7);
    strcpy(add_lock(&r, WAITS_LOCK_OF_ONE, WAITS_LOCK_SHARED)->name, "halo");
    add_lock(&r, WAITS_LOCK_OF_ONE, WAITS_LOCK_EXCLUSIVE);
    add_lock(&r, WAITS_LOCK_OF_ANY, WAITS_LOCK_EXCLUSIVE);
    add_lock(&r, WAITS_LOCK_OF_ALL, WAITS_LOCK_SHARED);
    ck_assert_str_eq(line_of(&r),
                     "rank 3 (h3) in MPI_Recv(from 2, tag 7, MPI_COMM_WORLD), holds shared lock of "
                     "5, halo, holds exclusive lock of 5, a window (context 12), holds all shared "
                     "locks, a window (context 12)");
}

TEST_CASE(what_does_not_fit_is_cut_after_a_word)
{
    static const struct {
        size_t room;
        const char *text;
    } rows[] = {{0, "-"},
                {1, ""},
                {5, "rank"},
                {9, "rank ..."},
                {54, "rank 3 (h3) in MPI_Recv(from 5, tag 7, ..."},
                {55, "rank 3 (h3) in MPI_Recv(from 5, tag 7, MPI_COMM_WORLD)"}};
    struct waits_record r;
    char line[64];

    setup();
    waiters_begin(&k, &r, 3, RECV);
    waiters_add(&r, WAITS_RECV, 5, 7);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(line, sizeof(line), "-");
        ftree_waits_line(&names, &r, line, rows[i].room);
        ck_assert_str_eq(line, rows[i].text);
    }
}

TEST_CASE(one_that_polls_says_so)
{
    struct waits_record r;

    setup();
    waiters_begin(&k, &r, 2, WAIT);
    waiters_add(&r, WAITS_RECV, 4, 7);
    r.polls = true;
    ck_assert_str_eq(line_of(&r), "rank 2 (h2) polls by MPI_Wait(recv from 4, tag 7, "
                                  "MPI_COMM_WORLD)");
}

TEST_CASE(a_collective_says_what_all_must_agree_on)
{
    struct waits_record r;
    struct waits_request *q;

    setup();
    waiters_begin(&k, &r, 1, ALLREDUCE);
    q = waiters_add(&r, WAITS_COLLECTIVE, FTREE_NONE, 0);
    q->number = 12;
    r.comm[0].last = (struct waits_collective){
        .begun = 12, .call = ALLREDUCE, .op = 3, .root = FTREE_NONE, .bytes = 8};
    ck_assert_str_eq(line_of(&r),
                     "rank 1 (h1) in MPI_Allreduce(MPI_COMM_WORLD, the 12th, 8 bytes, MPI_SUM)");
    r.call = WAIT;
    r.comm[0].last = (struct waits_collective){
        .begun = 3, .call = IBARRIER, .root = FTREE_NONE, .bytes = WAITS_NO_BYTES};
    q->number = 3;
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) in MPI_Wait(MPI_Ibarrier MPI_COMM_WORLD, the 3rd)");
    q->number = 2; /* another was begun since */
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) in MPI_Wait(a collective MPI_COMM_WORLD, the 2nd)");
    r.comm[0].before = (struct waits_collective){
        .begun = 2, .call = IBARRIER, .root = FTREE_NONE, .bytes = WAITS_NO_BYTES};
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) in MPI_Wait(MPI_Ibarrier MPI_COMM_WORLD, the 2nd)");
    q->number = 0; /* it is not known which */
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) in MPI_Wait(a collective MPI_COMM_WORLD)");
}

TEST_CASE(one_that_does_not_wait_says_what_it_does)
{
    struct waits_record r;

    setup();
    waiters_begin(&k, &r, 1, NONE);
    r.state = WAITS_FINALIZING;
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) has called MPI_Finalize");
    r.state = WAITS_OUTSIDE;
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) is outside MPI");
    r.state = WAITS_INSIDE;
    r.call = PROBE;
    ck_assert_str_eq(line_of(&r), "rank 1 (h1) in MPI_Probe");
}

TEST_CASE(a_hint_says_what_would_have_matched)
{
    struct waits_request q = {.kind = WAITS_RECV, .peer = 5, .tag = 7};
    struct waits_flow hint = {.kind = WAITS_SENT, .peer = 3, .tag = 9, .context = 4, .count = 1};
    char line[128];

    ftree_waits_hint_line(&q, 4, 3, &hint, line, sizeof(line));
    ck_assert_str_eq(line, "rank 5 has sent to rank 3, with tag 9");
    hint.context = 8;
    hint.tag = 7;
    ftree_waits_hint_line(&q, 4, 3, &hint, line, sizeof(line));
    ck_assert_str_eq(line, "rank 5 has sent to rank 3, with another communicator (context 8)");
    hint = (struct waits_flow){.kind = WAITS_POSTED, .peer = 3, .tag = 9, .context = 4, .count = 1};
    q.kind = WAITS_SSEND;
    ftree_waits_hint_line(&q, 4, 3, &hint, line, sizeof(line));
    ck_assert_str_eq(line, "rank 5 receives from rank 3, with tag 9");
}

static bool tell(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    (void) ctx;
    (void) thread;
    waiters_begin(&k, r, rank, BCAST);
    waiters_add(r, WAITS_COLLECTIVE, FTREE_NONE, 0)->number = 1;
    r->comm[0].last =
        (struct waits_collective){.begun = 1, .call = BCAST, .root = rank == 4, .bytes = 8};
    return true;
}

TEST_CASE(both_sides_of_a_mismatch_are_quoted)
{
    struct waits_mismatch m;
    struct waits *w;
    char line[200];

    setup();
    k.record = tell;
    w = waiters_reduce(&k);
    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ftree_waits_class_line(&names, w, &m, 0, line, sizeof(line));
    ck_assert_str_eq(line, "ranks 0-3, 5 (5 of 6) in MPI_Bcast(MPI_COMM_WORLD, the 1st, root 0, "
                           "8 bytes)");
    ftree_waits_class_line(&names, w, &m, 1, line, sizeof(line));
    ck_assert_str_eq(line, "rank 4 (1 of 6) in MPI_Bcast(MPI_COMM_WORLD, the 1st, root 1, "
                           "8 bytes)");
    ftree_waits_destroy(w);
}

/* Some have begun the next one, rank 4 among them. */
static bool tell_gone(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    struct waits_collective did;

    tell(ctx, rank, thread, r);
    did = r->comm[0].last;
    if (rank > *(int32_t *) ctx && rank < 5) {
        r->comm[0].before = did;
        r->comm[0].last = (struct waits_collective){
            .begun = 2, .call = ALLREDUCE, .root = FTREE_NONE, .bytes = 8};
    }
    return true;
}

static const struct {
    int32_t stays; /* ranks up to this one are still there, and rank 5 */
    const char *line;
} gone[] = {
    {2, "ranks 0-3, 5 (5 of 6) in MPI_Bcast(MPI_COMM_WORLD, the 1st, root 0, 8 bytes), of which 1 "
        "has left it"},
    {1, "ranks 0-3, 5 (5 of 6) in MPI_Bcast(MPI_COMM_WORLD, the 1st, root 0, 8 bytes), of which 2 "
        "have left it"},
};

TEST_CASES(who_has_gone_on_since_is_said, COUNT(gone))
{
    int32_t stays = gone[_i].stays;
    struct waits_mismatch m;
    struct waits *w;
    char line[200];

    setup();
    k.record = tell_gone;
    k.ctx = &stays;
    w = waiters_reduce(&k);
    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ftree_waits_class_line(&names, w, &m, 0, line, sizeof(line));
    ck_assert_str_eq(line, gone[_i].line);
    ftree_waits_class_line(&names, w, &m, 1, line, sizeof(line));
    ck_assert_str_eq(line, "rank 4 called MPI_Bcast(MPI_COMM_WORLD, the 1st, root 1, 8 bytes), "
                           "1 of 6");
    ftree_waits_destroy(w);
}
