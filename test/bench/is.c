/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Sorts integer keys by buckets, a kernel after the idea of NPB's IS and in its sizes: ten times
 * the ranks count their keys by buckets (MPI_Allreduce), cut the buckets into one range for each
 * rank, say how many keys go where (MPI_Alltoall), send them there (MPI_Alltoallv), and count them.
 *
 * is [--class S|W|A] [--seconds S] [--spoil 1]
 *
 * The keys are the same for any number of ranks: the sum of four random numbers, so the middle
 * buckets are the fullest. The result is verified: each rank's keys ascend, none is less than the
 * last one of the ranks before, and number and sum of all keys' hashes are what they were. Prints
 * the seconds of ten rounds; with --seconds they are repeated for that long, and the least counts.
 * --spoil changes a key before the result is verified. */

#include "bench.h"
#include "testutil.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 10

/* As published: powers of two of keys, of values, of buckets. */
static const struct {
    int keys, values, buckets;
} classes[] = {
    {16, 11, 9},  /* S */
    {20, 16, 10}, /* W */
    {23, 19, 10}, /* A */
};

static int rank, size, shift, buckets;
static size_t n;         /* of this rank's keys, before */
static uint32_t *key, *to_send;
static int *count, *total, *first_rank, *send_count, *send_at, *recv_count, *recv_at;
static size_t got;       /* of this rank's keys, sorted */
static uint32_t *received, *sorted;
static size_t capacity;

/* Counter-based (splitmix64's finalizer), so that each rank makes its own part. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void make_keys(int class_)
{
    uint64_t all = UINT64_C(1) << classes[class_].keys;
    uint64_t from = all * (uint64_t) rank / (uint64_t) size;
    uint64_t to = all * ((uint64_t) rank + 1) / (uint64_t) size;

    n = (size_t) (to - from);
    key = bench_memory(n, sizeof(*key));
    to_send = bench_memory(n, sizeof(*to_send));
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0, random = mix(from + i);

        for (int k = 0; k < 4; k++)
            sum += (random >> (16 * k)) & 0xffff;
        key[i] = (uint32_t) ((sum << classes[class_].values) >> 18);
    }
}

static void make_tables(int class_)
{
    size_t ranks = (size_t) size;

    shift = classes[class_].values - classes[class_].buckets;
    buckets = 1 << classes[class_].buckets;
    count = bench_memory((size_t) buckets, sizeof(*count));
    total = bench_memory((size_t) buckets, sizeof(*total));
    first_rank = bench_memory((size_t) buckets, sizeof(*first_rank));
    send_count = bench_memory(ranks, sizeof(int));
    send_at = bench_memory(ranks, sizeof(int));
    recv_count = bench_memory(ranks, sizeof(int));
    recv_at = bench_memory(ranks, sizeof(int));
}

static void count_keys(void)
{
    memset(count, 0, (size_t) buckets * sizeof(*count));
    for (size_t i = 0; i < n; i++)
        count[key[i] >> shift]++;
    MPI_Allreduce(count, total, buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* A bucket belongs to the rank in whose equal share of all keys its first key is. */
static void cut_ranges(void)
{
    int64_t before = 0, all = 0;

    for (int b = 0; b < buckets; b++)
        all += total[b];
    memset(send_count, 0, (size_t) size * sizeof(int));
    for (int b = 0; b < buckets; b++) {
        first_rank[b] = before < all ? (int) (before * size / all) : size - 1;
        before += total[b];
        send_count[first_rank[b]] += count[b];
    }
}

/* Fills to_send in the order of the buckets, which is that of the ranks. */
static void order_keys(void)
{
    int at = 0;

    for (int b = 0; b < buckets; b++) {
        int here = count[b];

        count[b] = at;
        at += here;
    }
    for (size_t i = 0; i < n; i++)
        to_send[count[key[i] >> shift]++] = key[i];
}

static int offsets(const int *counts, int *at)
{
    int sum = 0;

    for (int r = 0; r < size; r++) {
        at[r] = sum;
        sum += counts[r];
    }
    return sum;
}

static void exchange(void)
{
    MPI_Alltoall(send_count, 1, MPI_INT, recv_count, 1, MPI_INT, MPI_COMM_WORLD);
    offsets(send_count, send_at);
    got = (size_t) offsets(recv_count, recv_at);
    if (got > capacity) {
        capacity = got;
        free(received);
        free(sorted);
        received = bench_memory(capacity, sizeof(*received));
        sorted = bench_memory(capacity, sizeof(*sorted));
    }
    MPI_Alltoallv(to_send, send_count, send_at, MPI_UINT32_T, received, recv_count, recv_at,
                  MPI_UINT32_T, MPI_COMM_WORLD);
}

/* By counting: the values of this rank's buckets are one range. */
static void sort_received(void)
{
    static int *of_value;
    int first = buckets, last = -1;
    size_t values, at = 0;

    for (int b = 0; b < buckets; b++)
        if (first_rank[b] == rank) {
            first = b < first ? b : first;
            last = b;
        }
    if (!of_value)
        of_value = bench_memory((size_t) buckets << shift, sizeof(*of_value));
    values = last < first ? 0 : (size_t) (last - first + 1) << shift;
    memset(of_value, 0, values * sizeof(*of_value));
    for (size_t i = 0; i < got; i++)
        of_value[received[i] - ((uint32_t) first << shift)]++;
    for (size_t v = 0; v < values; v++)
        for (int i = of_value[v]; i > 0; i--)
            sorted[at++] = ((uint32_t) first << shift) + (uint32_t) v;
}

static void sort_keys(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        count_keys();
        cut_ranges();
        order_keys();
        exchange();
        sort_received();
    }
}

static uint64_t sum_of_hashes(const uint32_t *keys, size_t keys_count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < keys_count; i++)
        sum += mix(keys[i]);
    return sum;
}

/* The same on all ranks; the checksum is that of all keys. */
static int is_sorted(uint64_t *checksum)
{
    uint64_t mine[4] = {n, got, sum_of_hashes(key, n), sum_of_hashes(sorted, got)}, all[4];
    int64_t last = got ? (int64_t) sorted[got - 1] : -1, before = -1;
    int good = 1, all_good;

    MPI_Exscan(&last, &before, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        before = -1; /* nothing is there that MPI_Exscan wrote */
    for (size_t i = 0; i < got; i++)
        good &= (int64_t) sorted[i] >= (i ? (int64_t) sorted[i - 1] : before);
    MPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    *checksum = all[2];
    return all_good && all[0] == all[1] && all[2] == all[3];
}

int main(int argc, char **argv)
{
    char text[32];
    uint64_t checksum;
    double seconds;
    int class_, good;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    class_ = bench_class(argc, argv, "SWA");
    make_keys(class_);
    make_tables(class_);
    seconds = bench_repeat(NULL, sort_keys, tu_number(argc, argv, "--seconds", 0));
    if (got > 0 && tu_number(argc, argv, "--spoil", 0) > 0)
        sorted[0]++;
    good = is_sorted(&checksum);
    snprintf(text, sizeof(text), "%016" PRIx64, checksum);
    bench_end("is", "SWA"[class_], good, text, seconds);
    MPI_Finalize();
    return 0;
}
