/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* For test_undisturbed.sh: rank 1 has a thread in each of the calls in which one may wait, twice: first
 * while it comes to MPI, then while it does not, so that a verdict is made and stacks are taken, until
 * something is written into the fifo GO.  What the calls return must be the same.
 *
 * undisturbed GO */

#define BLOCKING_MS 45000
#include "../lib/blocking.c"

#include <mpi.h>

#define MOST 128

struct caller {
    const struct blocking *b;
    struct blocking_case *c;
    pthread_t thread;
};

static int rank;

static void *call(void *arg)
{
    struct caller *k = arg;

    blocking_call(k->b, k->c);
    return NULL;
}

static int start_all(struct caller *k)
{
    int n = 0;

    for (int i = 0; i < blocking_count && n < MOST; i++) {
        k[n].b = &blocking[i];
        if ((k[n].b->kind & ~BLOCKING_TIMED) || !(k[n].c = blocking_prepare(k[n].b)))
            continue;
        if (pthread_create(&k[n].thread, NULL, call, &k[n]))
            abort();
        n++;
    }
    return n;
}

static void end_all(struct caller *k, int n)
{
    for (int i = 0; i < n; i++) {
        blocking_await(k[i].b, k[i].c);
        blocking_release(k[i].b, k[i].c);
    }
    for (int i = 0; i < n; i++)
        pthread_join(k[i].thread, NULL);
}

static void come_to_mpi_for(double seconds)
{
    double begin = MPI_Wtime(), x = rank, sum;
    int goes_on = 1;

    while (goes_on) {
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        usleep(3000);
        goes_on = MPI_Wtime() - begin < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

/* Returns how many came out otherwise. */
static int compare(const struct caller *alone, const struct caller *seen, int n)
{
    int others = 0;

    for (int i = 0; i < n; i++)
        if (alone[i].c->n != seen[i].c->n ||
            memcmp(alone[i].c->said, seen[i].c->said, sizeof(alone[i].c->said))) {
            printf("%s: %lld, then %lld\n", alone[i].b->name, (long long) alone[i].c->said[0],
                   (long long) seen[i].c->said[0]);
            others++;
        }
    return others;
}

/* Blocked: as if it waited for a service that is not MPI's. */
static void wait_for(const char *go)
{
    char c;
    int fd = open(go, O_RDONLY);

    if (read(fd, &c, 1) != 1)
        abort();
    close(fd);
}

int main(int argc, char **argv)
{
    static struct caller alone[MOST], seen[MOST];
    int n = 0, others = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        return 2;
    if (rank == 1)
        n = start_all(alone);
    come_to_mpi_for(BLOCKING_MS / 1000 + 5);
    if (rank == 1) {
        end_all(alone, n);
        if (start_all(seen) != n)
            abort();
        wait_for(argv[1]);
        end_all(seen, n);
        others = compare(alone, seen, n);
        printf("%d calls, %d came out otherwise\n", n, others);
    }
    come_to_mpi_for(0.1);
    MPI_Finalize();
    return others > 0;
}
