/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/pool.h"

#include "sim/sim_memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_MAX ((size_t) 1 << 36)

struct shared {
    uint32_t by, len;
    uint8_t bytes[];
};

static struct shared *last; /* NULL: that is given back */

#if defined(__SANITIZE_ADDRESS__)

void *sim_pool_alloc(void *ptr, size_t size)
{
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

size_t sim_pool_size(const void *ptr)
{
    return ptr ? malloc_usable_size((void *) (uintptr_t) ptr) : 0;
}

size_t sim_pool_whole(size_t size)
{
    return size + 8;
}

bool sim_pool_drop(void)
{
    return false;
}

#else

/*
 * A block begins 8 bytes before a multiple of 16, with a word that says how large it is; behind
 * that is what is used, or, while it is free, the next free one.  Small blocks are multiples of 16
 * bytes; larger ones come in eight sizes between a power of two and the next.
 */

#define HUGE_PAGE ((size_t) 2 << 20)
#define CHUNK_MAX ((size_t) 128 << 20) /* but for a block that is larger */
#define CHUNKS_MAX 4096
#define SMALL_MAX 1040
#define CACHE_LINE ((size_t) 64)
#define FIRST (CACHE_LINE - 8) /* what is used of the first block of a chunk begins a line */
#define CLASSES (SMALL_MAX / 16 + 1 + 8 * 26)

static struct {
    char *begin;
    size_t size;
} chunk[CHUNKS_MAX];
static int chunks, current; /* of which blocks are being taken */
static size_t taken = FIRST; /* of the current chunk */
static void *free_block[CLASSES];

/* The class of a block of that size, head and all, and its true size. */
static int class_of(size_t size, size_t *whole)
{
    int shift;

    if (size <= SMALL_MAX) {
        *whole = (size + 15) & ~(size_t) 15;
        return (int) (*whole / 16);
    }
    shift = 60 - __builtin_clzll((unsigned long long) size - 1); /* an eighth of the power below */
    *whole = (((size - 1) >> shift) + 1) << shift;
    return SMALL_MAX / 16 + 1 + (shift - 7) * 8 + (int) (((size - 1) >> shift) & 7);
}

static uint64_t *head_of(const void *ptr)
{
    return (uint64_t *) (uintptr_t) ptr - 1;
}

/* Memory that begins at a huge page; NULL: there is none. */
static char *map(size_t size)
{
    char *p = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t before;

    if (p == MAP_FAILED)
        return NULL;
    before = (HUGE_PAGE - ((uintptr_t) p & (HUGE_PAGE - 1))) & (HUGE_PAGE - 1);
    if (before)
        munmap(p, before);
    munmap(p + before + size, HUGE_PAGE - before);
    madvise(p + before, size, MADV_HUGEPAGE);
    return p + before;
}

/* A new chunk, twice as large as the one before, that has room for a block. */
static bool add_chunk(size_t whole)
{
    size_t size = chunks ? 2 * chunk[chunks - 1].size : HUGE_PAGE;

    size = size < CHUNK_MAX ? size : CHUNK_MAX;
    while (size < whole + FIRST)
        size *= 2;
    if (chunks == CHUNKS_MAX || !(chunk[chunks].begin = map(size)))
        return false;
    chunk[chunks++].size = size;
    return true;
}

static void *get(size_t size)
{
    size_t whole;
    int c = class_of(size + 8, &whole);
    void *ptr = free_block[c];

    if (ptr) {
        memcpy(&free_block[c], ptr, sizeof(void *));
        return ptr;
    }
    if (whole > SMALL_MAX) /* an array: its elements may be lines of the cache */
        taken = ((taken - FIRST + CACHE_LINE - 1) & ~(CACHE_LINE - 1)) + FIRST;
    while (current == chunks || taken + whole > chunk[current].size) {
        if (current == chunks && !add_chunk(whole))
            return NULL;
        current += taken + whole > chunk[current].size;
        taken = FIRST;
    }
    ptr = chunk[current].begin + taken + 8;
    taken += whole;
    *head_of(ptr) = whole;
    return ptr;
}

static void put(void *ptr)
{
    size_t whole;
    int c = class_of(*head_of(ptr), &whole);

    memcpy(ptr, &free_block[c], sizeof(void *));
    free_block[c] = ptr;
}

size_t sim_pool_whole(size_t size)
{
    size_t whole;

    class_of(size + 8, &whole);
    return whole;
}

size_t sim_pool_size(const void *ptr)
{
    return ptr ? *head_of(ptr) - 8 : 0;
}

void *sim_pool_alloc(void *ptr, size_t size)
{
    size_t before = sim_pool_size(ptr);
    void *out = NULL;

    if (size && ptr && before >= size && before / 2 < size)
        return ptr;
    if (size && (size >= BLOCK_MAX || !(out = get(size))))
        return NULL;
    if (out && ptr)
        memcpy(out, ptr, before < size ? before : size);
    if (ptr)
        put(ptr);
    return out;
}

bool sim_pool_drop(void)
{
    memset(free_block, 0, sizeof(free_block));
    last = NULL;
    current = 0;
    taken = FIRST;
    return true;
}

#endif

void *sim_pool_array(void *ptr, size_t n, size_t size)
{
    void *array = n > BLOCK_MAX / size ? NULL : sim_pool_alloc(ptr, n ? n * size : 1);

    return array ? array : sim_copy(NULL, SIZE_MAX); /* which says so */
}

void *sim_pool_zeroed(size_t n, size_t size)
{
    return memset(sim_pool_array(NULL, n, size), 0, n * size);
}

void *sim_pool_share(const void *bytes, size_t len)
{
    if (!last || last->len != len || memcmp(last->bytes, bytes, len)) {
        last = sim_pool_array(NULL, sizeof(*last) + len, 1);
        *last = (struct shared){.len = (uint32_t) len};
        memcpy(last->bytes, bytes, len);
    }
    last->by++;
    return last->bytes;
}

void sim_pool_unshare(void *message)
{
    struct shared *s = message ? (struct shared *) message - 1 : NULL;

    if (!s || --s->by > 0)
        return;
    if (s == last)
        last = NULL;
    sim_pool_free(s);
}
