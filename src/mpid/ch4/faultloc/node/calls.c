/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/calls.h"

#include "faultloc/seam/faultloc_seam.h"

#include <stdbool.h>
#include <stddef.h>

static const struct {
    const char *name, *func;
} calls[] = {
#define FAULTLOC_CALL(name, func) {name, func},
#if defined(__has_include)
#if __has_include("faultloc/node/callnames.h")
#include "faultloc/node/callnames.h" /* from MPICH's own list of functions, by maint/apply.sh */
#endif
#endif
#undef FAULTLOC_CALL
    {NULL, NULL}};

uint32_t faultloc_call_id(const char *func)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    bool ended = false;

    for (int i = 0; i < 48; i++) {
        ended = ended || !func[i];
        h = (h ^ (ended ? 0 : (unsigned char) func[i])) * 16777619u;
    }
    return (h >> (32 - FAULTLOC_CALL_BITS)) | 1;
}

const char *faultloc_call_name(uint64_t call)
{
    uint32_t id = (uint32_t) (call & FAULTLOC_CALL_MASK);

    if (id == 0)
        return "user code";
    for (size_t i = 0; calls[i].func; i++)
        if (faultloc_call_id(calls[i].func) == id)
            return calls[i].name;
    return "MPI";
}
