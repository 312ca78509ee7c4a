/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/rank/rank.h"

/*
 * MPICH's objects of one type: it keeps them in blocks, which it never gives back.
 */

struct each {
    int size;
    void (*f) (void *object, void *arg);
    void *arg;
};

static void each_in_block(const struct each *e, char *objects, int n)
{
    for (int i = 0; i < n; i++)
        e->f(objects + (size_t) i * (size_t) e->size, e->arg);
}

void MPIDI_faultloc_each_object(const MPIR_Object_alloc_t * pool, int per_block,
                                void (*f) (void *object, void *arg), void *arg)
{
    const struct each e = {.size = pool->size,.f = f,.arg = arg };

    if (pool->initialized && pool->direct)
        each_in_block(&e, pool->direct, pool->direct_size);
    for (int i = 0; pool->indirect && i < pool->indirect_size; i++)
        each_in_block(&e, pool->indirect[i], per_block);
}
