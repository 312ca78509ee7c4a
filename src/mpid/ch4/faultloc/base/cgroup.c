/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/cgroup.h"

#include "faultloc/base/text_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX 4096 /* bytes of /proc/PID/cgroup */
#define EVENTS_MAX 128

struct visit {
    const char *sys, *controller;
    faultloc_cgroup_visitor *visitor;
    void *ctx;
};

/* "cpu" among "cpu,cpuacct". */
static bool is_among(const char *controller, const char *list)
{
    size_t len = strlen(controller), n;

    for (; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == len && !strncmp(list, controller, n))
            return true;
    }
    return false;
}

/* False: no hierarchy is mounted there. */
static bool visit_in(const struct visit *v, const char *mount, const char *path)
{
    char folder[FAULTLOC_CGROUP_PATH];
    int top = snprintf(folder, sizeof(folder), "%s/fs/cgroup%s", v->sys, mount), rest;

    if (top < 0 || (size_t) top >= sizeof(folder) || access(folder, F_OK))
        return false;
    rest = snprintf(folder + top, sizeof(folder) - (size_t) top, "%s", strcmp(path, "/") ? path : "");
    if (rest >= 0 && (size_t) rest < sizeof(folder) - (size_t) top)
        v->visitor(v->ctx, folder, (size_t) top);
    return true;
}

/* "4:cpu,cpuacct:/job/7"; or "0::/job/7" of version 2. */
static void visit_line(const struct visit *v, char *line)
{
    char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL, mount[64];

    if (!path || path[1] != '/')
        return;
    *path++ = '\0';
    list++;
    if (!*list) {
        visit_in(v, "", path);
        visit_in(v, "/unified", path);
    } else if (is_among(v->controller, list)) {
        snprintf(mount, sizeof(mount), "/%s", v->controller);
        if (!visit_in(v, mount, path)) {
            snprintf(mount, sizeof(mount), "/%s", list);
            visit_in(v, mount, path);
        }
    }
}

void faultloc_cgroup_visit(const char *proc_root, const char *sys_root, pid_t pid,
                           const char *controller, faultloc_cgroup_visitor *visit, void *ctx)
{
    struct visit v = {sys_root ? sys_root : "/sys", controller, visit, ctx};
    char text[GROUPS_MAX], *next;

    faultloc_text_read(proc_root ? proc_root : "/proc", text, sizeof(text), "%d/cgroup", (int) pid);
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        visit_line(&v, line);
    }
}

static void note_frozen(void *ctx, char folder[FAULTLOC_CGROUP_PATH], size_t top)
{
    char text[EVENTS_MAX];
    bool *frozen = ctx;

    (void) top;
    faultloc_text_read(folder, text, sizeof(text), "freezer.state");
    *frozen |= !strncmp(text, "FROZEN", 6);
    faultloc_text_read(folder, text, sizeof(text), "cgroup.events");
    *frozen |= strstr(text, "frozen 1") != NULL;
}

bool faultloc_cgroup_is_frozen(const char *proc_root, const char *sys_root, pid_t pid)
{
    bool frozen = false;

    faultloc_cgroup_visit(proc_root, sys_root, pid, "freezer", note_frozen, &frozen);
    return frozen;
}
