/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t ftree_node_of(const struct ftree *ft, int32_t rank)
{
    return ft->job->rank_node ? ft->job->rank_node[rank] : rank;
}

int32_t ftree_ranks_of(const struct ftree_job *job, int32_t node)
{
    return job->node_first ? job->node_first[node + 1] - job->node_first[node] : 1;
}

int32_t ftree_rank_at(const struct ftree_job *job, int32_t node, int32_t i)
{
    return job->node_first ? job->node_ranks[job->node_first[node] + i] : node;
}

int32_t ftree_place_of(const struct ftree_job *job, int32_t node, int32_t rank)
{
    for (int32_t i = 0; i < ftree_ranks_of(job, node); i++)
        if (ftree_rank_at(job, node, i) == rank)
            return i;
    return FTREE_NONE;
}

int ftree_compare_numbers(const void *a, const void *b)
{
    int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

    return (x > y) - (x < y);
}

void *ftree_alloc(struct ftree *ft, void *ptr, size_t size)
{
    if (ft->io->alloc)
        return ft->io->alloc(ft->io_ctx, ptr, size);
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

void *ftree_alloc_zeroed(struct ftree *ft, size_t size)
{
    void *p = ftree_alloc(ft, NULL, size);

    return p ? memset(p, 0, size) : NULL;
}

void *ftree_alloc_copy(struct ftree *ft, const void *from, size_t size)
{
    void *p = ftree_alloc(ft, NULL, size);

    return p ? memcpy(p, from, size) : NULL;
}

bool ftree_reserve(struct ftree *ft, void *items, int32_t n, int32_t *room, size_t size)
{
    void *array;

    if (n <= *room)
        return true;
    /* `items` points to a pointer of another type: copied, for an assignment would be an alias */
    memcpy(&array, items, sizeof(array));
    array = ftree_alloc(ft, array, (size_t) n * size);
    if (!array)
        return false;
    memcpy(items, &array, sizeof(array));
    *room = n;
    return true;
}

void *ftree_push(struct ftree *ft, void *items, int32_t *n, int32_t *room, size_t size)
{
    uint8_t *array, *item;

    if (*n == *room && !ftree_reserve(ft, items, *room ? 2 * *room : 4, room, size))
        return NULL;
    memcpy(&array, items, sizeof(array));
    item = array + (size_t) *n * size;
    memset(item, 0, size);
    ++*n;
    return item;
}

bool ftree_bytes_append(struct ftree *ft, struct ftree_bytes *out, const uint8_t *bytes, size_t len)
{
    int32_t more = (int32_t) len > out->n ? (int32_t) len : out->n; /* it doubles */

    if (out->n + (int64_t) len > INT32_MAX / 4)
        return false;
    if (out->n + (int32_t) len > out->room && !FTREE_RESERVE(ft, *out, more))
        return false;
    if (len > 0)
        memcpy(out->items + out->n, bytes, len);
    out->n += (int32_t) len;
    return true;
}

void ftree_trace_line(struct ftree *ft, const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    ft->io->trace(ft->io_ctx, line);
}

void ftree_text_add(char *text, size_t room, const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + len, room - len, format, args);
    va_end(args);
}

uint8_t ftree_all_paths(const struct ftree_job *job)
{
    uint8_t paths = 0;

    for (int path = 0; path < FTREE_PATHS; path++)
        if (job->has_path[path])
            paths |= (uint8_t) (1u << path);
    return paths;
}
