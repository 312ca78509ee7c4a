/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/launcher_notify.h"
#include "faultloc_hydra.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const names[] = {"h0", "h1"};
static const int32_t rank_node[] = {0, 0, 1, 1, 1}, node_first[] = {0, 2, 5},
                     node_ranks[] = {0, 1, 2, 3, 4};
static const struct ftree_job job = {.nodes = 2,
                                     .size = 5,
                                     .node_name = names,
                                     .rank_node = rank_node,
                                     .node_first = node_first,
                                     .node_ranks = node_ranks};

TEST_CASE(a_hello_names_the_symptom_socket)
{
    struct faultloc_launcher_message w;

    faultloc_launcher_hello("/run/user/7/faultloc/4711@h1.sock", &w);
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), job.size));
    ck_assert_uint_eq(w.kind, FAULTLOC_LAUNCHER_HELLO);
    ck_assert_str_eq(w.symptom_socket, "/run/user/7/faultloc/4711@h1.sock");
}

TEST_CASE(a_verdict_is_sent_with_its_ranks)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_PROCESS_CRASH,
                              .kind = FTREE_KIND_RANK,
                              .node = 1,
                              .rank = 3,
                              .switch_ = FTREE_NONE,
                              .pid = 4711,
                              .id = 9,
                              .fln = 1};
    struct faultloc_launcher_message w;

    v.victims.count = 2;
    v.victims.ranges = 1;
    v.victims.range[0].last = 1;
    faultloc_launcher_verdict(&job, &v, &w);
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), job.size));
    ck_assert_uint_eq(w.kind, FAULTLOC_LAUNCHER_VERDICT);
    ck_assert_uint_eq(w.id, 9);
    ck_assert_int_eq(w.fln, 1);
    ck_assert_str_eq(w.class_, "process-crash");
    ck_assert_str_eq(w.host, "h1");
    ck_assert_str_eq(w.line,
                     "process-crash: rank 3 (pid 4711 on node h1) ended without MPI_Finalize");
    ck_assert_uint_eq(w.ends_ranks, 1);
    ck_assert_int_eq(w.ranks.count, 1);
    ck_assert_int_eq(w.ranks.range[0].first, 3);
    ck_assert_int_eq(w.victims.count, 2);
    ck_assert_int_eq(w.victims.range[0].last, 1);
    v.withdrawn = 5;
    faultloc_launcher_verdict(&job, &v, &w);
    ck_assert_uint_eq(w.kind, FAULTLOC_LAUNCHER_WITHDRAWN);
    ck_assert_uint_eq(w.ends_ranks, 0);
}

TEST_CASE(an_ending_says_who_is_ended_and_why)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_PROCESS_STOPPED,
                              .kind = FTREE_KIND_RANK,
                              .node = 1,
                              .rank = 3,
                              .switch_ = FTREE_NONE,
                              .id = 9};
    struct faultloc_launcher_message w;

    faultloc_launcher_ending(&job, &v, 4, 4712, &w);
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), job.size));
    ck_assert_uint_eq(w.kind, FAULTLOC_LAUNCHER_ENDING);
    ck_assert_int_eq(w.ended_rank, 4);
    ck_assert_int_eq(w.ended_pid, 4712);
    ck_assert_str_eq(w.class_, "process-stopped");
    ck_assert_uint_eq(w.id, 9);
    ck_assert_int_eq(w.ranks.range[0].first, 3);
    faultloc_launcher_ending(&job, &v, FTREE_NONE, 0, &w);
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), job.size));
    ck_assert_int_eq(w.ended_rank, -1);
}

TEST_CASE(a_lost_node_is_all_of_its_ranks)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_NODE_OUTAGE,
                              .kind = FTREE_KIND_NODE,
                              .node = 1,
                              .rank = FTREE_NONE,
                              .switch_ = FTREE_NONE};
    struct faultloc_launcher_message w;

    faultloc_launcher_verdict(&job, &v, &w);
    ck_assert_int_eq(w.ranks.count, 3);
    ck_assert_int_eq(w.ranks.ranges, 1);
    ck_assert_int_eq(w.ranks.range[0].first, 2);
    ck_assert_int_eq(w.ranks.range[0].last, 4);
    ck_assert_uint_eq(w.ends_ranks, 1);
}

TEST_CASE(a_deadlock_is_all_ranks_that_wait_for_each_other)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_DEADLOCK,
                              .kind = FTREE_KIND_RANK,
                              .rank = FTREE_NONE,
                              .switch_ = FTREE_NONE,
                              .component = {3, 2, {{1, 1}, {3, 4}}}};
    struct faultloc_launcher_message w;

    faultloc_launcher_verdict(&job, &v, &w);
    ck_assert_str_eq(w.line, "deadlock: ranks 1, 3-4 (on 2 nodes) wait for each other");
    ck_assert_int_eq(w.ranks.count, 3);
    ck_assert_int_eq(w.ranks.ranges, 2);
    ck_assert_int_eq(w.ranks.range[0].first, 1);
    ck_assert_int_eq(w.ranks.range[1].last, 4);
    ck_assert_uint_eq(w.ends_ranks, 0);
}

TEST_CASE(more_victims_than_ranges_are_counted)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_PROCESS_STOPPED, .switch_ = FTREE_NONE};
    struct faultloc_launcher_message w;

    v.victims.count = v.victims.ranges = 40;
    for (int32_t i = 0; i < 40; i++)
        v.victims.range[i].first = v.victims.range[i].last = 2 * i;
    faultloc_launcher_verdict(&job, &v, &w);
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), 100));
    ck_assert_int_eq(w.victims.count, 40);
    ck_assert_int_eq(w.victims.ranges, FAULTLOC_LAUNCHER_RANGES);
}

TEST_CASE(ranks_in_mpi_finalize)
{
    struct faultloc_launcher_message w;

    faultloc_launcher_finalizing(&w);
    ck_assert_int_eq(w.ranks.count, 0);
    for (int32_t rank = 0; rank < 100; rank++)
        if (rank < 4 || rank % 2)
            faultloc_launcher_add_rank(&w.ranks, rank);
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), 100));
    ck_assert_uint_eq(w.kind, FAULTLOC_LAUNCHER_FINALIZING);
    ck_assert_int_eq(w.ranks.count, 52);
    ck_assert_int_eq(w.ranks.ranges, FAULTLOC_LAUNCHER_RANGES);
    ck_assert(w.ranks.range[0].first == 0 && w.ranks.range[0].last == 3);
    ck_assert(w.ranks.range[1].first == 5 && w.ranks.range[1].last == 5);
}

TEST_CASE(it_is_sent_or_not_but_never_waits)
{
    char folder[] = "/tmp/test-launcher-XXXXXX", path[FAULTLOC_LAUNCHER_PATH];
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct faultloc_launcher_message w, got;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0), rc = 0;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/launcher.sock", folder);
    memcpy(a.sun_path, path, sizeof(path));
    faultloc_launcher_hello("/x", &w);
    ck_assert_int_eq(faultloc_launcher_send("", &w), 0); /* there is no launcher */
    ck_assert_int_eq(faultloc_launcher_send(path, &w), ENOENT);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *) &a, sizeof(a)), 0);
    ck_assert_int_eq(faultloc_launcher_send(path, &w), 0);
    ck_assert_int_eq(recv(fd, &got, sizeof(got), 0), sizeof(got));
    ck_assert_int_eq(memcmp(&w, &got, sizeof(w)), 0);
    for (int i = 0; i < 100000 && !rc; i++) /* nobody reads it */
        rc = faultloc_launcher_send(path, &w);
    ck_assert_int_eq(rc, EAGAIN);
    close(fd);
    ck_assert_int_eq(faultloc_launcher_send(path, &w), ECONNREFUSED);
    unlink(path);
    rmdir(folder);
}

TEST_CASE(a_launcher_without_a_file_is_found_by_its_name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct faultloc_launcher_message w, got;
    char name[FAULTLOC_LAUNCHER_PATH];
    socklen_t len = sizeof(a);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    ck_assert_int_eq(bind(fd, (const struct sockaddr *) &a, sizeof(a.sun_family)), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *) &a, &len), 0);
    snprintf(name, sizeof(name), "@%.*s",
             (int) (len - offsetof(struct sockaddr_un, sun_path) - 1), a.sun_path + 1);
    faultloc_launcher_hello("/x", &w);
    ck_assert_int_eq(faultloc_launcher_send(name, &w), 0);
    ck_assert_int_eq(recv(fd, &got, sizeof(got), 0), sizeof(got));
    ck_assert_int_eq(memcmp(&w, &got, sizeof(w)), 0);
    close(fd);
    ck_assert_int_eq(faultloc_launcher_send(name, &w), ECONNREFUSED);
}

TEST_CASE(a_reason_is_sent_whole_or_cut)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char name[FAULTLOC_LAUNCHER_PATH], text[400];
    struct faultloc_launcher_message got;
    socklen_t len = sizeof(a);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    ck_assert_int_eq(bind(fd, (const struct sockaddr *) &a, sizeof(a.sun_family)), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *) &a, &len), 0);
    snprintf(name, sizeof(name), "@%.*s",
             (int) (len - offsetof(struct sockaddr_un, sun_path) - 1), a.sun_path + 1);
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    faultloc_launcher_send_reason(name, 3, 4703, FAULTLOC_REASON_MPI, text);
    ck_assert_int_eq(recv(fd, &got, sizeof(got), 0), sizeof(got));
    ck_assert_uint_eq(got.magic, FAULTLOC_LAUNCHER_MAGIC);
    ck_assert_uint_eq(got.bytes, sizeof(got));
    ck_assert_uint_eq(got.kind, FAULTLOC_LAUNCHER_REASON);
    ck_assert_int_eq(got.ended_rank, 3);
    ck_assert_int_eq(got.ended_pid, 4703);
    ck_assert_int_eq(got.reason, FAULTLOC_REASON_MPI);
    ck_assert_uint_eq(strlen(got.line), FAULTLOC_REASON_SIZE - 1);
    close(fd);
    faultloc_launcher_send_reason(name, 3, 4703, FAULTLOC_REASON_MPI, text); /* nobody is there */
}

TEST_CASE(a_path_that_is_too_long_is_an_error)
{
    char path[200];
    struct faultloc_launcher_message w;

    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    faultloc_launcher_hello("/x", &w);
    ck_assert_int_eq(faultloc_launcher_send(path, &w), ENAMETOOLONG);
}
