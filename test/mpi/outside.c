/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A program of which a rank never comes back to MPI, or comes late.  Its ranks work together in one
 * of the usual ways; then one of them does what outside_kinds.h has under the name of the kind.
 *
 * outside --kind K [--pattern P] [--after S] [--rank R] [--seconds S] [--work-ms M] [--late S]
 *         [--file F] [--seed N] [--limit S] [--until F] [--computes P] [--multiple 1]
 * outside --list
 *
 * --list     prints all kinds: name, class of the right verdict, function in the stack
 * --pattern  how the ranks work together: patterns.h (alltoall)
 * --after    a rank hangs, or is late, after so many seconds (60)
 * --rank     which one (drawn)
 * --seconds  a kind that does not hang goes on for so long (120), each of its parts where a phase
 * is between
 * --work-ms  a rank works up to twice that between two rounds, at random (20)
 * --computes percent of its work for which the rank computes that hangs, or may get less of a CPU
 * than it wants (10)
 * --late     how long a checkpoint, a late rank or, at most, an answer takes, in seconds (10)
 * --file     what is read by the kinds io, io-first and io-all; of the kind memory the file
 * cgroup.procs of a control group
 * --seed     of what is drawn (1)
 * --multiple MPI_THREAD_MULTIPLE, though one thread alone calls MPI (0)
 * --until    a kind that does not hang ends when this file exists, at the latest after --seconds
 * --limit    ranks that are still there after so many seconds are ended by SIGALRM (3600)
 *
 * Standard output gets "EXPECT user-code-hang R", "EXPECT io-hang 0,1,..." or "EXPECT none"; when
 * the rank is about to hang, "STOPS rank R in FUNCTION at 1763829234.123456", and the harness's
 * folder blocked.R. */

#include "outside_kinds.h"

#include "rest.h"

#include <stdbool.h>

static double seconds_of_pattern(void)
{
    if (!outside.kind->stay)
        return outside.seconds;
    return outside.kind->hangs == IN_PATTERN ? 1e9 : outside.after;
}

static void pattern_loops(void)
{
    outside.began = tu_now();
    me.end = outside.began + seconds_of_pattern();
}

static int pattern_may_end(void)
{
    return 1;
}

static void stay_outside(void)
{
    char line[128];
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(line, sizeof(line), "STOPS rank %d in stay_%s at %.6f\n", me.rank, outside.kind->name,
             (double) t.tv_sec + (double) t.tv_nsec * 1e-9);
    tu_say(line);
    tu_note("blocked", me.rank);
    outside.kind->stay();
    fail("a rank does not hang");
}

static void pattern_turn(void)
{
    outside.turns++;
    (outside.kind->work ? outside.kind->work : work)(2 * outside.work_ms * any());
    if (outside.kind->turn)
        outside.kind->turn();
    else if (outside.kind->hangs == IN_PATTERN && me.rank == outside.victim &&
             tu_now() - outside.began > outside.after)
        stay_outside();
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static int list_kinds(void)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        printf("%-12s %-15s %s%s\n", kinds[i].name, kinds[i].class_ ? kinds[i].class_ : "none",
               kinds[i].stay ? "stay_" : "-", kinds[i].stay ? kinds[i].name : "");
    return 0;
}

static void expect(void)
{
    bool all = outside.kind->hangs == ALL_AFTER;
    char line[512] = "EXPECT none";

    if (outside.kind->class_)
        snprintf(line, sizeof(line), "EXPECT %s %d", outside.kind->class_,
                 all ? 0 : outside.victim);
    for (int i = 1; i < me.size && all; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), ",%d", i);
    snprintf(line + strlen(line), sizeof(line) - strlen(line), "\n");
    tu_say(line);
}

/* One rank works, or hangs, the others wait in a call that they were not in before; or all hang. */
static void phase_between(void)
{
    int word = me.rank;

    if (outside.kind->hangs == ALL_AFTER ||
        (outside.kind->hangs == ONE_AFTER && me.rank == outside.victim))
        stay_outside();
    if (me.rank == outside.victim)
        work(outside.kind->between * 1e3);
    MPI_Bcast(&word, 1, MPI_INT, outside.victim, MPI_COMM_WORLD);
    if (word != outside.victim)
        fail("a word arrived changed");
}

int main(int argc, char **argv)
{
    const char *pattern = tu_string(argc, argv, "--pattern", "alltoall");
    unsigned seed = (unsigned) tu_number(argc, argv, "--seed", 1);
    int level;

    if (argc == 2 && !strcmp(argv[1], "--list"))
        return list_kinds();
    outside.kind = find_kind(tu_string(argc, argv, "--kind", ""));
    if (!outside.kind) {
        fprintf(stderr, "outside: there is no such --kind; see --list\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv,
                    tu_number(argc, argv, "--multiple", 0) > 0 ? MPI_THREAD_MULTIPLE
                                                               : MPI_THREAD_SINGLE,
                    &level);
    alarm((unsigned) tu_number(argc, argv, "--limit", 3600));
    pattern_begin("outside");
    me.until = tu_string(argc, argv, "--until", "");
    me.end = tu_now() + 1e9; /* until all are in their loop */
    tu_hello(me.rank);
    rest_while_idle(fmax(2000, 125 * me.size)); /* all wake up 8,000 times a second at the most */
    srand(seed);
    outside.victim = (int) tu_number(argc, argv, "--rank", rand() % me.size);
    outside.draws = seed * 1000 + (unsigned) me.rank;
    outside.after = tu_number(argc, argv, "--after", 60);
    outside.seconds = tu_number(argc, argv, "--seconds", 120);
    outside.work_ms = tu_number(argc, argv, "--work-ms", 20);
    outside.computes = tu_number(argc, argv, "--computes", 10) / 100;
    outside.late = tu_number(argc, argv, "--late", 10);
    outside.serves = me.rank == 0 && me.size > 1 && !strcmp(pattern, "master") ? me.size - 1 : 1;
    outside.file = tu_string(argc, argv, "--file", "");
    if (me.rank == 0)
        expect();
    talk(pattern);
    if (outside.kind->between > 0 || outside.kind->hangs != IN_PATTERN) {
        phase_between();
        me.end = tu_now() + outside.seconds;
        talk(pattern);
    }
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
