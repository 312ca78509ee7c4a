/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef DRAW_H_INCLUDED
#define DRAW_H_INCLUDED

#include <stdint.h>

/*
 * Random numbers by seed: the same on every machine, and as many independent streams as there are
 * states.  The generator is splitmix64 (Steele, Lea, Flood 2014).
 */
struct draw {
    uint64_t state;
};

static inline uint64_t draw_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t draw_next(struct draw *d)
{
    d->state += 0x9e3779b97f4a7c15u;
    return draw_mix(d->state);
}

/* 0 .. n - 1; n is small beside 2^64, so that the bias is nobody's business. */
static inline uint64_t draw_below(struct draw *d, uint64_t n)
{
    return n ? draw_next(d) % n : 0;
}

/* In [0, 1). */
static inline double draw_unit(struct draw *d)
{
    return (double) (draw_next(d) >> 11) * 0x1p-53;
}

/* A stream of its own for each purpose of a run. */
static inline struct draw draw_stream(uint64_t seed, uint64_t purpose)
{
    return (struct draw){draw_mix(seed * 0x9e3779b97f4a7c15u + 1) ^
                         draw_mix(purpose + 0x5851f42du)};
}

#endif /* DRAW_H_INCLUDED */
