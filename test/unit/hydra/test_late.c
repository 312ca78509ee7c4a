/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_late.h"
#include "nomem.h"
#include "suite.h"

#define HOSTS 700
#define PPN 32

static struct HYD_faultloc_late late[HOSTS * 2];
static char name[HOSTS][16];
static struct HYD_faultloc_note note;
static char printed[65536];

static void begin(int come, int size)
{
    note = (struct HYD_faultloc_note){
        .call = "MPI_Init", .come = come, .size = size, .quiet_ms = 10012, .late = late};
}

/* Ranks of host hN, with `pid` where it is one. */
static void add(int host, int first, int last, int pid, const char *state)
{
    struct HYD_faultloc_late *l = &late[note.lates++];

    snprintf(name[host], sizeof(name[host]), "h%d", host);
    *l = (struct HYD_faultloc_late){.host = name[host], .ranks = last - first + 1};
    l->group.pid = pid;
    for (int r = first; r <= last; r++)
        faultloc_launcher_add_rank(&l->group.ranks, r);
    snprintf(l->group.state, sizeof(l->group.state), "%s", state);
}

static const char *print(void)
{
    FILE *f = fmemopen(printed, sizeof(printed), "w");

    ck_assert_ptr_nonnull(f);
    HYD_faultloc_late_print(&note, f);
    fclose(f);
    return printed;
}

static int count_lines(const char *text)
{
    int n = 0;

    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

TEST_CASE(one_rank)
{
    begin(3, 4);
    add(3, 2, 2, 4711, "MPI_Init not called; app stopped");
    ck_assert_str_eq(print(),
                     "[faultloc] MPI_Init: 3 of 4 ranks have arrived, last one 10 s ago; 1 rank on h3 has "
                     "not\n"
                     "[faultloc]   rank 2 on h3 (pid 4711): MPI_Init not called; app stopped\n");
}

TEST_CASE(nobody_is_late)
{
    begin(4, 4);
    ck_assert_str_eq(print(), "");
}

TEST_CASE(ranks_with_the_same_reason_share_a_line)
{
    begin(22270, 22400);
    add(17, 544, 575, 0, "hydra's proxy does not answer, the kernel of the host does");
    add(4, 97, 97, 11, "MPI_Init not called; app sleeping");
    add(3, 64, 64, 12, "MPI_Init not called; app sleeping");
    add(2, 40, 40, 13, "MPI_Init not called; app sleeping in nfs_wait");
    add(243, 7776, 7807, 0, "hydra's proxy does not answer, the kernel of the host does");
    note.pgid = 1;
    note.call = "MPI_Finalize";
    note.quiet_ms = 70700;
    ck_assert_str_eq(
        print(),
        "[faultloc] MPI_Finalize of spawned group 1: 22270 of 22400 ranks have arrived, last one 71 "
        "s ago; 67 ranks on h[2-4,17,243] have not\n"
        "[faultloc]   64 ranks (544-575, 7776-7807) on h[17,243]: hydra's proxy does not answer, "
        "the kernel of the host does\n"
        "[faultloc]   2 ranks (64, 97) on h[3-4]: MPI_Init not called; app sleeping\n"
        "[faultloc]   rank 40 on h2 (pid 13): MPI_Init not called; app sleeping in nfs_wait\n");
}

/* MPI_Finalize closes connections first, for which it may need the one that is not there. */
TEST_CASE(who_is_inside_has_come)
{
    begin(4, 10);
    add(1, 0, 1, 0, "inside MPI_Finalize; app running");
    late[0].group.inside = 1;
    add(2, 2, 2, 13, "app sleeping in nfs_wait");
    add(3, 4, 6, 0, "inside MPI_Finalize; app running");
    late[2].group.inside = 1;
    note.call = "MPI_Finalize";
    ck_assert_str_eq(
        print(), "[faultloc] MPI_Finalize: 9 of 10 ranks have arrived, last one 10 s ago; 1 rank on h2 "
                 "has not\n"
                 "[faultloc]   rank 2 on h2 (pid 13): app sleeping in nfs_wait\n");
    begin(5, 10);
    add(1, 0, 4, 0, "inside MPI_Finalize; app running");
    late[0].group.inside = 1;
    note.call = "MPI_Finalize";
    ck_assert_str_eq(print(),
                     "[faultloc] MPI_Finalize: 5 of 10 ranks have arrived, last one 10 s ago; 5 ranks on "
                     "h1 have not\n"
                     "[faultloc]   5 ranks (0-4) on h1: inside MPI_Finalize; app running\n");
}

static void add_many(void)
{
    char state[32];

    begin(0, HOSTS * PPN);
    for (int h = 0; h < HOSTS; h++) {
        snprintf(state, sizeof(state), "state %d", h % 7);
        add(h, h * PPN, h * PPN + PPN - 1, 0, state);
    }
}

/* What a person can read; with -verbose all there is. */
TEST_CASE(many_hosts_in_many_states)
{
    add_many();
    ck_assert_int_eq(count_lines(print()), 6);
    for (char *line = strtok(printed, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_uint_lt(strlen(line), 240);
    add_many();
    ck_assert_ptr_nonnull(strstr(print(), " 9600 ranks more in 3 other states: mpiexec -verbose"));
    ck_assert_ptr_nonnull(strstr(printed, "; 22400 ranks on h[0-699] have not\n"));
    ck_assert_ptr_nonnull(strstr(printed, "3200 ranks (0-31, 224-255, "));
    ck_assert_ptr_nonnull(strstr(printed, ", ...) on h[0,7,14,21,"));
    add_many();
    note.verbose = true;
    ck_assert_int_eq(count_lines(print()), 8);
    ck_assert_ptr_null(strstr(printed, "..."));
    ck_assert_ptr_nonnull(strstr(printed, ",686,693]: state 0\n"));
}

/* A proxy has room for some ranges only. */
TEST_CASE(ranks_without_a_range)
{
    begin(0, 100);
    add(1, 0, 0, 0, "state");
    late[0].ranks = late[0].group.ranks.count = 50;
    ck_assert_ptr_nonnull(strstr(print(), "  50 ranks (0, ...) on h1: state\n"));
}

/* A host's name is what the user typed, a state what a process of the host said. */
TEST_CASE(what_is_no_text_is_not_printed)
{
    begin(0, 4);
    add(1, 0, 1, 0, "in \033]0;x\a\xc2\x9b caf\xc3\xa9");
    late[0].host = "h\xc3\xa9\x9b\n1";
    ck_assert_str_eq(
        print(),
        "[faultloc] MPI_Init: 0 of 4 ranks have arrived after 10 s; 2 ranks on h\xc3\xa9??1 "
        "have not\n[faultloc]   2 ranks (0-1) on h\xc3\xa9??1: in ?]0;x??? caf\xc3\xa9\n");
}

TEST_CASE(all_have_come)
{
    FILE *f = fmemopen(printed, sizeof(printed), "w");

    begin(0, 4);
    HYD_faultloc_late_print_over(&note, 34400, f);
    fclose(f);
    ck_assert_str_eq(printed, "[faultloc] MPI_Init: all 4 ranks have arrived, after 34 s\n");
}

/* The victims of a verdict are late because of it; of others there is more to say. */
TEST_CASE(a_verdict_that_stands_explains_its_victims)
{
    struct faultloc_launcher_message verdict = {.line = "deadlock: rank 2 ..."};

    faultloc_launcher_add_rank(&verdict.ranks, 2);
    for (int r = 4; r < 8; r++)
        faultloc_launcher_add_rank(&verdict.victims, r);
    begin(3, 9);
    note.call = "MPI_Finalize";
    note.verdict = &verdict;
    add(0, 2, 2, 12, "app running");
    add(0, 4, 5, 0, "app running");
    add(1, 6, 7, 0, "app running");
    add(1, 8, 8, 4711, "app sleeping in futex_wait_queue");
    ck_assert_str_eq(
        print(),
        "[faultloc] MPI_Finalize: 3 of 9 ranks have arrived, last one 10 s ago; 6 ranks on h[0-1] have not\n"
        "[faultloc]   5 of them because of the verdict that stands: deadlock: rank 2 ...\n"
        "[faultloc]   rank 8 on h1 (pid 4711): app sleeping in futex_wait_queue\n");
    begin(0, 4);
    note.verdict = &verdict;
    add(3, 1, 1, 4711, "app stopped");
    ck_assert_ptr_null(strstr(print(), "because"));
}

TEST_CASE(what_processes_have_left)
{
    FILE *f = fmemopen(printed, sizeof(printed), "w");

    begin(4, 4);
    add(1, 0, 0, 4710, "ended, but its output is held open by process 4711 (sleep)");
    HYD_faultloc_late_print_left(&note, f);
    fclose(f);
    ck_assert_str_eq(
        printed,
        "[faultloc] the 4 ranks on h1 ended or left MPI 10 s ago; mpiexec waits because of 1 of them\n"
        "[faultloc]   rank 0 on h1 (pid 4710): ended, but its output is held open by process 4711 (sleep)\n");
}

TEST_CASE(who_asks_for_a_connection_in_vain)
{
    const struct HYD_faultloc_end who = {.rank = 3, .pid = 42, .age_ms = 5012};
    FILE *f = fmemopen(printed, sizeof(printed), "w");

    HYD_faultloc_late_print_connects("h1", &who, "10.0.0.2 (h2), port 41523", 5, f);
    fclose(f);
    ck_assert_str_eq(printed,
                     "[faultloc] MPI_Init: rank 3 on h1 (pid 42) cannot connect to 10.0.0.2 (h2), port "
                     "41523: no answer to 5 requests in 5 s; look for a firewall between these hosts\n");
}

TEST_CASE(without_memory)
{
    FILE *f = fmemopen(printed, sizeof(printed), "w");

    begin(0, 4);
    add(1, 0, 1, 0, "state");
    for (long n = 0, taken;; n++) {
        taken = nomem_taken;
        nomem_begin(n);
        HYD_faultloc_late_print(&note, f);
        bool none = nomem_end();
        ck_assert_int_eq(nomem_taken, taken);
        if (none)
            break;
        if (n < 2)
            ck_assert_ptr_nonnull(strstr(printed, "; 2 ranks on 1 host have not\n"));
        else if (n < 4)
            ck_assert_ptr_nonnull(strstr(printed, "  2 ranks (...) on h1: state\n"));
        else
            ck_assert_ptr_nonnull(strstr(printed, "  2 ranks (0-1) on 1 host: state\n"));
        rewind(f);
    }
    fclose(f);
}
