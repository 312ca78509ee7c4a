/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A three-dimensional FFT over all ranks, a kernel after the idea of NPB's FT and in its sizes: the
 * heat equation, solved in the space of frequencies. One forward transform, then for each step a
 * multiplication and an inverse transform. FFTW transforms what is on one rank; MPI_Alltoall turns
 * slabs of x into slabs of y and back.
 *
 * ft [--class S|W|A] [--seconds S] [--spoil 1]
 *
 * The number of ranks divides both x and y, the two longest sides. The field is the product of
 * three lines of random numbers, so that the solution is known: it is the product of the solutions
 * of the lines, which are transformed term by term. After each step a sum over 1,024 points is
 * compared with it, and at the end every point. Prints the seconds of a solution; with --seconds it
 * is repeated for that long, and the least counts. --spoil changes a point before all are compared.
 */

#include "bench.h"
#include "testutil.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6
#define ALPHA 1e-6
#define POINTS 1024
#define SIDE_MAX 256
#define TOLERANCE 1e-12 /* of values below 1 */

/* As published. */
static const int classes[][3] = {
    {64, 64, 64},    /* S */
    {128, 128, 32},  /* W */
    {256, 256, 128}, /* A */
};

static const double pi = 3.14159265358979323846;
static int rank, size, nx, ny, nz, my_nx, my_ny;
static size_t mine, block;          /* points of this rank; of those, for each rank */
static double complex *spectrum;    /* [x][my y][z] */
static double complex *field, *buf; /* field: [my x][y][z], and [x][my y][z] on the way */
static double *decay;               /* what a step multiplies the spectrum with */
static double complex sums[STEPS];
static double complex line[3][STEPS + 1][SIDE_MAX]; /* the solution of each, after each step */
static fftw_plan slabs_forward, slabs_back, lines_forward, lines_back;

/* ---- the solution that is known -------------------------------------------------------------- */

/* Frequencies above the half of a side are negative ones. */
static double decay_along(int k, int side)
{
    double f = k < side / 2 ? k : k - side;

    return exp(-4 * ALPHA * pi * pi * f * f);
}

static double complex turn(long k, int side)
{
    return cexp(2 * pi * I * (double) (k % side) / side);
}

static void make_line(double complex at[][SIDE_MAX], int side)
{
    for (int i = 0; i < side; i++)
        at[0][i] = rand() / (double) RAND_MAX - 0.5 + (rand() / (double) RAND_MAX - 0.5) * I;
    for (int k = 0; k < side; k++) {
        double complex part = 0;
        for (int i = 0; i < side; i++)
            part += at[0][i] * turn(-(long) k * i, side) / side;
        for (int step = 1; step <= STEPS; step++) {
            part *= decay_along(k, side);
            for (int i = 0; i < side; i++)
                at[step][i] += part * turn((long) k * i, side);
        }
    }
}

/* The same on all ranks. */
static void make_lines(void)
{
    srand(1);
    make_line(line[0], nx);
    make_line(line[1], ny);
    make_line(line[2], nz);
}

static double complex known(int step, int x, int y, int z)
{
    return line[0][step][x] * line[1][step][y] * line[2][step][z];
}

/* Strewn about, none in any regular order. */
static void place_of(int point, int *x, int *y, int *z)
{
    unsigned strewn = (unsigned) point * 2654435761u;

    *x = (int) (strewn >> 24) % nx;
    *y = (int) (strewn >> 16) % ny;
    *z = (int) (strewn >> 8) % nz;
}

static double complex known_sum(int step)
{
    double complex sum = 0;

    for (int p = 0; p < POINTS; p++) {
        int x, y, z;
        place_of(p, &x, &y, &z);
        sum += known(step, x, y, z);
    }
    return sum;
}

/* ---- the transform --------------------------------------------------------------------------- */

/* Estimated plans: measured ones differ from run to run, and with them the time. */
static void make_plans(void)
{
    const int slab[] = {ny, nz}, lines = my_ny * nz;

    slabs_forward = fftw_plan_many_dft(2, slab, my_nx, field, NULL, 1, ny * nz, field, NULL, 1,
                                       ny * nz, FFTW_FORWARD, FFTW_ESTIMATE);
    slabs_back = fftw_plan_many_dft(2, slab, my_nx, field, NULL, 1, ny * nz, field, NULL, 1,
                                    ny * nz, FFTW_BACKWARD, FFTW_ESTIMATE);
    lines_forward = fftw_plan_many_dft(1, &nx, lines, spectrum, NULL, lines, 1, spectrum, NULL,
                                       lines, 1, FFTW_FORWARD, FFTW_ESTIMATE);
    lines_back = fftw_plan_many_dft(1, &nx, lines, field, NULL, lines, 1, field, NULL, lines, 1,
                                    FFTW_BACKWARD, FFTW_ESTIMATE);
    if (!slabs_forward || !slabs_back || !lines_forward || !lines_back)
        tu_fail("ft", "FFTW has no plan");
}

/* Between the whole slabs of x, [my x][y][z], and the same by ranks, [rank][my x][its y][z]. */
static void sort_by_rank(double complex *whole, double complex *by_rank, int back)
{
    size_t row = (size_t) my_ny * nz;

    for (int r = 0; r < size; r++)
        for (int x = 0; x < my_nx; x++) {
            double complex *a = whole + ((size_t) x * ny + (size_t) r * my_ny) * nz;
            double complex *b = by_rank + r * block + x * row;
            memcpy(back ? a : b, back ? b : a, row * sizeof(*a));
        }
}

static void transpose(double complex *from, double complex *to)
{
    MPI_Alltoall(from, (int) block, MPI_C_DOUBLE_COMPLEX, to, (int) block, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
}

static void forward(void)
{
    fftw_execute(slabs_forward);
    sort_by_rank(field, buf, 0);
    transpose(buf, spectrum);
    fftw_execute(lines_forward);
}

static void back(void)
{
    memcpy(field, spectrum, mine * sizeof(*field));
    fftw_execute(lines_back);
    transpose(field, buf);
    sort_by_rank(field, buf, 1);
    fftw_execute(slabs_back);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void make_decay(void)
{
    for (int x = 0; x < nx; x++)
        for (int y = 0; y < my_ny; y++)
            for (int z = 0; z < nz; z++)
                decay[((size_t) x * my_ny + y) * nz + z] =
                    decay_along(x, nx) * decay_along(rank * my_ny + y, ny) * decay_along(z, nz);
}

static size_t index_of(int x, int y, int z)
{
    return ((size_t) x * ny + y) * nz + z;
}

static void begin(void)
{
    for (int x = 0; x < my_nx; x++)
        for (int y = 0; y < ny; y++)
            for (int z = 0; z < nz; z++)
                field[index_of(x, y, z)] = known(0, rank * my_nx + x, y, z);
}

/* FFTW's inverse is one without the division. */
static double complex sum_points(void)
{
    double complex sum = 0, all;

    for (int p = 0; p < POINTS; p++) {
        int x, y, z;
        place_of(p, &x, &y, &z);
        if (x / my_nx == rank)
            sum += field[index_of(x % my_nx, y, z)];
    }
    MPI_Allreduce(&sum, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    return all / ((double) mine * size);
}

static void solve(void)
{
    forward();
    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < mine; i++)
            spectrum[i] *= decay[i];
        back();
        sums[step] = sum_points();
    }
}

/* The largest difference of a point from what is known; the same on all ranks. */
static double worst_point(void)
{
    double worst = 0, all, points = (double) mine * size;

    for (int x = 0; x < my_nx; x++)
        for (int y = 0; y < ny; y++)
            for (int z = 0; z < nz; z++)
                worst = fmax(worst, cabs(field[index_of(x, y, z)] / points -
                                         known(STEPS, rank * my_nx + x, y, z)));
    MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static int is_right(void)
{
    int good = worst_point() <= TOLERANCE;

    for (int step = 0; step < STEPS; step++)
        good &= cabs(sums[step] - known_sum(step + 1)) <= TOLERANCE * POINTS;
    return good;
}

static void make_memory(int class_)
{
    nx = classes[class_][0], ny = classes[class_][1], nz = classes[class_][2];
    if (nx % size || ny % size)
        tu_fail("ft", "the number of ranks must divide the sides of the class");
    my_nx = nx / size;
    my_ny = ny / size;
    block = (size_t) my_nx * my_ny * nz;
    mine = block * (size_t) size;
    field = bench_memory(mine, sizeof(*field));
    buf = bench_memory(mine, sizeof(*buf));
    spectrum = bench_memory(mine, sizeof(*spectrum));
    decay = bench_memory(mine, sizeof(*decay));
}

int main(int argc, char **argv)
{
    char text[80];
    double seconds;
    int class_, good;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    class_ = bench_class(argc, argv, "SWA");
    make_memory(class_);
    make_plans();
    make_lines();
    make_decay();
    seconds = bench_repeat(begin, solve, tu_number(argc, argv, "--seconds", 0));
    if (rank == 0 && tu_number(argc, argv, "--spoil", 0) > 0)
        field[0] = 0;
    good = is_right();
    snprintf(text, sizeof(text), "%.9f %.9f", creal(sums[STEPS - 1]), cimag(sums[STEPS - 1]));
    bench_end("ft", "SWA"[class_], good, text, seconds);
    MPI_Finalize();
    return 0;
}
