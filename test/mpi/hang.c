/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A program that hangs, or seems to. Its ranks work together in one of the usual ways; then some
 * of them do what hang_kinds.h has under the name of the kind, and the others go on as before,
 * until they need one of those.
 *
 * hang --kind K [--pattern P] [--after S] [--tail S] [--ranks R,... | --seed N] [--apart-ms M]
 *      [--late S] [--poll-ms M] [--work-us N] [--threads N] [--limit S] [--pause-ms M]
 *      [--rest-us N]
 * hang --list
 *
 * --list      prints all kinds: name, class of the right verdict, how many ranks are its component,
 *             how many take part (1024: all); the fewest threads
 * --pattern   how the ranks work together: patterns.h (alltoall)
 * --after     for so many seconds before (2)
 * --tail      and so many seconds after, of a kind that does not hang (2)
 * --ranks     who takes part, the component first, in the order of the kind; others are drawn
 * --seed      of what is drawn: the order of the ranks, and when each of them begins (1)
 * --apart-ms  those who take part begin at random within so many milliseconds (500)
 * --late      how long a rank lets others wait in a kind that does not hang, in seconds (30 for
 *             late-send, 20 for compute, 5 for the others)
 * --poll-ms   other work between two polls (20), of rest-loop a sleep; of work-poll for so long it
 *             only polls (0)
 * --work-us   and works so long between, by turns (50)
 * --threads   each of the ranks that take part does it with so many threads at once, with
 *             MPI_THREAD_MULTIPLE, be it one (without: one, with MPI_THREAD_FUNNELED)
 * --limit     whoever is still there after so many seconds is ended by SIGALRM (300)
 *
 * Standard output gets two kinds of lines before any rank blocks for ever:
 *
 *     EXPECT deadlock 3,5
 *     BLOCKS rank 3 in MPI_Recv at 1763829234.123456
 *
 * the right verdict ("EXPECT none" for none) and, of each rank whose wait is a reason of it, the
 * last call that it makes, and when (with threads: the last of them). The harness's folder gets
 * blocked.R. */

#include "patterns.h"
#include "rest.h"

#include <pthread.h>

static void pattern_loops(void)
{
}

static void pattern_turn(void)
{
}

static int pattern_may_end(void)
{
    return 1;
}

#include "hang_kinds.h"

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
        printf("%-16s %-19s %d %d %d\n", kinds[i].name, kinds[i].class_ ? kinds[i].class_ : "none",
               kinds[i].core, kinds[i].takes, kinds[i].threads);
    return 0;
}

/* All ranks draw the same. */
static void draw_order(unsigned seed)
{
    for (int i = 0; i < me.size; i++)
        hang.order[i] = i;
    rand_r(&seed);
    for (int i = me.size - 1; i > 0; i--) {
        int j = rand_r(&seed) % (i + 1), rank = hang.order[i];

        hang.order[i] = hang.order[j];
        hang.order[j] = rank;
    }
}

/* Those that are named come first. */
static void take_order(const char *ranks)
{
    char *end;

    for (int i = 0; *ranks; i++) {
        int rank = (int) strtol(ranks, &end, 10), at = i;

        while (at < me.size && hang.order[at] != rank)
            at++;
        if (at >= me.size || end == ranks || (*end && *end != ','))
            fail("--ranks wants different ranks of this job, as 3,5");
        hang.order[at] = hang.order[i];
        hang.order[i] = rank;
        ranks = *end ? end + 1 : end;
    }
}

static void read_options(int argc, char **argv)
{
    const char *name = tu_string(argc, argv, "--kind", "");

    hang.kind = find_kind(name);
    if (!hang.kind)
        fail("--kind wants one of those of --list");
    if (me.size < 4 || me.size > MOST_RANKS)
        fail("4 to 1024 ranks, please");
    hang.seed = (unsigned) tu_number(argc, argv, "--seed", 1);
    draw_order(hang.seed);
    take_order(tu_string(argc, argv, "--ranks", ""));
    hang.apart_ms = tu_number(argc, argv, "--apart-ms", 500);
    hang.late = tu_number(argc, argv, "--late", hang.kind->late);
    hang.poll_ms = tu_number(argc, argv, "--poll-ms", hang.kind->run == work_poll ? 0 : 20);
    hang.work_us = tu_number(argc, argv, "--work-us", 50);
    hang.threads = (int) tu_number(argc, argv, "--threads", hang.kind->threads ? 1 : 0);
    if (hang.threads < hang.kind->threads || hang.threads > MOST_THREADS ||
        (hang.threads > 1 && !hang.kind->threads))
        fail("this kind is not for so many threads");
    me.pause_ms = tu_number(argc, argv, "--pause-ms", 5);
    alarm((unsigned) tu_number(argc, argv, "--limit", 300));
}

static int takes_part(void)
{
    return my_place() < hang.kind->takes;
}

/* The first of the component says what is right. */
static void say_expected(void)
{
    char line[64 + 8 * MOST_RANKS];
    int core = in_all(hang.kind->core), len;

    if (my_place() != 0)
        return;
    len = sprintf(line, "EXPECT %s", hang.kind->class_ ? hang.kind->class_ : "none");
    for (int rank = 0, n = 0; rank < me.size; rank++)
        if (place_of(rank) < core)
            len += sprintf(line + len, "%c%d", n++ ? ',' : ' ', rank);
    strcpy(line + len, "\n");
    tu_say(line);
}

static void *run_thread(void *arg)
{
    thread = (int) (intptr_t) arg;
    hang.kind->run(my_place());
    return NULL;
}

/* This thread is one of them. */
static void run_kind(void)
{
    pthread_t threads[MOST_THREADS];
    unsigned draws = hang.seed * 31 + (unsigned) me.rank;

    rand_r(&draws);
    if (hang.apart_ms >= 1)
        rest_ms(rand_r(&draws) % (unsigned) hang.apart_ms);
    for (intptr_t i = 1; i < hang.threads; i++)
        if (pthread_create(&threads[i], NULL, run_thread, (void *) i))
            fail("cannot start a thread");
    run_thread((void *) 0);
    for (int i = 1; i < hang.threads; i++)
        pthread_join(threads[i], NULL);
}

static int wants_threads(int argc, char **argv)
{
    return tu_number(argc, argv, "--threads", 0) > 0;
}

int main(int argc, char **argv)
{
    int provided;
    const char *pattern = tu_string(argc, argv, "--pattern", "alltoall");

    if (argc == 2 && !strcmp(argv[1], "--list"))
        return list_kinds();
    rest_while_idle(tu_number(argc, argv, "--rest-us", 200));
    MPI_Init_thread(&argc, &argv,
                    wants_threads(argc, argv) ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                    &provided);
    pattern_begin("hang");
    if (wants_threads(argc, argv) && provided < MPI_THREAD_MULTIPLE)
        fail("no MPI_THREAD_MULTIPLE");
    tu_hello(me.rank);
    read_options(argc, argv);
    if (hang.kind->prepare)
        hang.kind->prepare();
    me.end = tu_now() + tu_number(argc, argv, "--after", 2);
    talk(pattern);
    say_expected();
    MPI_Barrier(MPI_COMM_WORLD);
    if (takes_part())
        run_kind();
    /* where a core hangs the others are to go on until they need it, or for ever */
    me.end = tu_now() + (hang.kind->class_ ? 3600 : tu_number(argc, argv, "--tail", 2));
    talk(pattern);
    alarm(0);
    tu_meet(MPI_COMM_WORLD);
    if (hang.win != MPI_WIN_NULL)
        MPI_Win_free(&hang.win);
    MPI_Finalize();
    return 0;
}
