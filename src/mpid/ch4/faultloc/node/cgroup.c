/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/cgroup.h"

#include "faultloc/base/text_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 4096 /* bytes of a file */
#define PATH_MAX_OF 512
#define NO_LIMIT ((uint64_t) 1 << 60) /* version 1 has the largest number of pages for that */

struct walk {
    const char *sys, *controller;
    void (*level)(void *ctx, const char *dir, const char *path);
    void *ctx;
    int levels;
};

/* A group and those above it; what is not there adds nothing. */
static void walk_up(struct walk *w, const char *mount, const char *path)
{
    char dir[PATH_MAX_OF], level[PATH_MAX_OF];
    char *slash;

    snprintf(dir, sizeof(dir), "%s/fs/cgroup%s", w->sys, mount);
    if (snprintf(level, sizeof(level), "%s", path) >= (int) sizeof(level) || access(dir, F_OK))
        return;
    if (!strcmp(level, "/"))
        level[0] = '\0';
    while (w->levels++ < FAULTLOC_CGROUP_LEVELS) {
        w->level(w->ctx, dir, level);
        slash = strrchr(level, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
}

/* "cpu" among "cpu,cpuacct". */
static bool has(const char *controllers, const char *controller)
{
    const char *at = controllers;

    while (*at) {
        size_t n = strcspn(at, ",");
        if (n == strlen(controller) && !strncmp(at, controller, n))
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

/* "4:cpu,cpuacct:/job/7", or "0::/job/7" where there is one hierarchy for all. */
static void walk_line(struct walk *w, char *line)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    char mount[PATH_MAX_OF];

    if (!path)
        return;
    *path++ = '\0';
    if (!*++controllers) {
        walk_up(w, "", path);
        walk_up(w, "/unified", path);
    } else if (has(controllers, w->controller)) {
        snprintf(mount, sizeof(mount), "/%s", w->controller);
        walk_up(w, mount, path);
        if (!strcmp(w->controller, "cpu"))
            walk_up(w, "/cpu,cpuacct", path); /* the same, or one of both is there */
    }
}

void faultloc_cgroups(const char *proc, const char *sys, int32_t pid, const char *controller,
                      void (*level)(void *ctx, const char *dir, const char *path), void *ctx)
{
    struct walk w = {
        .sys = sys ? sys : "/sys", .controller = controller, .level = level, .ctx = ctx};
    char text[TEXT_MAX], *next;

    faultloc_text_read(proc, text, sizeof(text), "%d/cgroup", (int) pid);
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        walk_line(&w, line);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct fullest {
    uint64_t limit, used;
    char path[PATH_MAX_OF];
};

static uint64_t number_in(const char *dir, const char *path, const char *name, uint64_t otherwise)
{
    uint64_t n = faultloc_text_number(dir, "%s/%s", path, name); /* "max" is none */

    return n == UINT64_MAX ? otherwise : n;
}

static void look_at_memory(void *ctx, const char *dir, const char *path)
{
    struct fullest *f = ctx;
    uint64_t limit = number_in(dir, path, "memory.max", UINT64_MAX);
    uint64_t used = number_in(dir, path, "memory.current", 0);

    if (limit == UINT64_MAX) {
        limit = number_in(dir, path, "memory.limit_in_bytes", UINT64_MAX);
        used = number_in(dir, path, "memory.usage_in_bytes", used);
    }
    if (limit >= NO_LIMIT || !limit ||
        (f->limit && (double) used / (double) limit <= (double) f->used / (double) f->limit))
        return;
    f->limit = limit;
    f->used = used;
    snprintf(f->path, sizeof(f->path), "%s", *path ? path : "/");
}

void faultloc_cgroup_memory(const char *proc, const char *sys, int32_t pid, char *text, size_t room)
{
    const double mib = 1 << 20;
    struct fullest f = {.limit = 0};

    faultloc_cgroups(proc, sys, pid, "memory", look_at_memory, &f);
    if (f.limit)
        snprintf(text, room, "%.1f of %.1f MiB used in %s", (double) f.used / mib,
                 (double) f.limit / mib, f.path);
    else if (room)
        text[0] = '\0';
}
