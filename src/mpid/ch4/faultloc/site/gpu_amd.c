/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/text_file.h"

#include <stdlib.h>
#include <string.h>

/*
 * AMD's GPUs of the node that it runs on, by what their driver amdgpu has in sysfs: no library is needed.
 * Heat is the handler os's, as of any sensor.
 *
 * Source: Documentation/gpu/amdgpu of Linux (thermal.rst, ras.rst).
 */

#define CARDS 64
#define AMD 0x1002

/* Behind `word` of a file of the card; -1: it is not there, or no number. */
static long long number(const char *sys, int card, const char *file, const char *word)
{
    char text[256], *at, *end;
    long long n = -1;

    faultloc_text_read(sys, text, sizeof(text), "class/drm/card%d/device/%s", card, file);
    at = strstr(text, word);
    if (at)
        n = strtoll(at + strlen(word), &end, 0);
    return at && end != at + strlen(word) && n >= 0 ? n : -1;
}

static void look_at_memory(const char *sys, int card, FILE *out)
{
    long long errors = number(sys, card, "ras/umc_err_count", "ue: ");
    char text[100];

    snprintf(text, sizeof(text), "GPU card%d: %lld uncorrected errors of its memory since the driver was loaded",
             card, errors);
    if (errors > 0)
        site_say(out, NULL, text);
}

bool site_gpu_amd(const char *sys, FILE *out)
{
    char usage[200] = "";

    for (int card = 0; card < CARDS; card++) {
        long long busy = number(sys, card, "gpu_busy_percent", "");
        size_t at = strlen(usage);
        if (number(sys, card, "vendor", "") != AMD || busy < 0 || busy > 100)
            continue;
        look_at_memory(sys, card, out);
        snprintf(usage + at, sizeof(usage) - at, "%scard%d %lld %%", at ? ", " : "GPU ", card, busy);
    }
    if (*usage)
        site_say(out, "gpu-usage", usage);
    return *usage;
}
