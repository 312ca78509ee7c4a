/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_process.h"
#include "faultloc_holders.h"

#include "util/ftree/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 32 /* of a program, or of a function of the kernel */
#define WORK_MS 60000 /* after MPI_Finalize */
#define CHILDREN 4 /* a script, the script that it starts, ... */

void HYD_faultloc_calls_note(struct HYD_faultloc_calls *calls, const char *cmd, int64_t now)
{
    if (!strcmp(cmd, "put"))
        calls->puts = true;
    if (strcmp(cmd, "barrier_in"))
        return;
    calls->barriers++;
    calls->came = now;
    calls->put = calls->puts;
    calls->puts = false;
}

/* ---- what the kernel says -------------------------------------------------------------------- */

void HYD_faultloc_read_line(const char *proc, int pid, const char *name, char *out, size_t room)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%d/%s", proc, pid, name);
    f = fopen(path, "re");
    if (!f || !fgets(out, (int) room, f))
        *out = '\0';
    if (f)
        fclose(f);
    out[strcspn(out, "\n")] = '\0';
    ftree_text_ascii(out);
}

/* Z, but only its main() has ended. */
#define OTHERS_LIVE 'z'

/* "PID (NAME) STATE ...": a name may have parentheses in it.  Returns the state; 0: there is no
 * such process. */
static char read_stat(const char *proc, int pid, char *name)
{
    char line[512], *begin, *end;
    int threads = 0;

    HYD_faultloc_read_line(proc, pid, "stat", line, sizeof(line));
    begin = strchr(line, '(');
    end = strrchr(line, ')');
    if (!begin || !end || end < begin || end[1] != ' ')
        return 0;
    *end = '\0';
    snprintf(name, NAME, "%s", begin + 1);
    if (end[2] == 'Z')
        sscanf(end + 3, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
               &threads);
    return end[2] == 'Z' && threads > 1 ? OTHERS_LIVE : end[2];
}

/* The function of the kernel in which it waits; "": it does not, or the kernel does not say. */
static void read_wait(const char *proc, int pid, char *out)
{
    HYD_faultloc_read_line(proc, pid, "wchan", out, NAME);
    if (!strcmp(out, "0") || out[strspn(out, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_.")])
        out[0] = '\0';
}

int HYD_faultloc_child_of(const char *proc, int pid)
{
    char name[64], line[512], comm[NAME], *at = line;
    int child = 0, found = 0;

    snprintf(name, sizeof(name), "task/%d/children", pid);
    HYD_faultloc_read_line(proc, pid, name, line, sizeof(line));
    for (long n; (n = strtol(at, &at, 10)) > 0;)
        if (read_stat(proc, (int) n, comm) &&
            strncmp(comm, HYD_FAULTLOC_PROGRAM, strlen(HYD_FAULTLOC_PROGRAM))) {
            child = (int) n;
            found++;
        }
    return found == 1 ? child : 0;
}

/* faultloc_proc_is_frozen() of the agent knows more places. */
static bool is_frozen(char state, const char *wait)
{
    return (state == 'D' || state == 'S') &&
           (!strcmp(wait, "__refrigerator") || !strcmp(wait, "do_freezer_trap") ||
            (state == 'S' && !strcmp(wait, "get_signal")));
}

static void describe(char state, const char *name, const char *wait, char *out, size_t room)
{
    const char *in = wait[0] ? " in " : "";

    if (is_frozen(state, wait)) {
        snprintf(out, room, "%s frozen", name);
        return;
    }
    if (state == 'D' && !strncmp(wait, "mem_cgroup_", strlen("mem_cgroup_"))) {
        snprintf(out, room, "%s held by the memory limit of its control group", name);
        return;
    }
    switch (state) {
        case 'R':
            snprintf(out, room, "%s running", name);
            break;
        case 'D':
            snprintf(out, room, "%s in disk sleep%s%s", name, in, wait);
            break;
        case 'T':
            snprintf(out, room, "%s stopped", name);
            break;
        case 't':
            snprintf(out, room, "%s held by a debugger", name);
            break;
        case 'Z':
        case 'X':
            snprintf(out, room, "%s has ended", name);
            break;
        case OTHERS_LIVE:
            snprintf(out, room, "%s without its first thread, which has ended", name);
            break;
        default:
            snprintf(out, room, "%s sleeping%s%s", name, in, wait);
    }
}

/* Returns its state; 0: not known. */
static char describe_process(const char *proc, int pid, char *out, size_t room)
{
    char name[NAME], wait[NAME] = "", state = 0;

    for (int depth = 0; depth < CHILDREN && pid > 0; depth++) {
        char next = read_stat(proc, pid, name);
        if (!next)
            break;
        state = next;
        read_wait(proc, pid, wait);
        pid = state == 'S' && !strcmp(wait, "do_wait") ? HYD_faultloc_child_of(proc, pid) : 0;
    }
    if (state)
        describe(state, name, wait, out, room);
    else
        snprintf(out, room, "state not known");
    return state;
}

const char *HYD_faultloc_process_state(const char *proc, const struct HYD_faultloc_process *p,
                                       int barrier, char *out)
{
    const char *where = !p->inited      ? "MPI_Init not called"
                        : p->finalizing ? "inside MPI_Finalize"
                        : barrier == 1  ? "inside MPI_Init"
                                        : "";
    char how[HYD_FAULTLOC_STATE];
    int n = snprintf(out, HYD_FAULTLOC_STATE, "%s%s", where, *where ? "; " : "");

    if (p->end)
        snprintf(out + n, (size_t) (HYD_FAULTLOC_STATE - n), "ended, %s",
                 HYD_faultloc_how(p->end, how, sizeof(how)));
    else
        describe_process(proc, p->pid, out + n, (size_t) (HYD_FAULTLOC_STATE - n));
    return out;
}

/* ---- all of a proxy -------------------------------------------------------------------------- */

/* The last one takes what there is no room for. */
static struct HYD_faultloc_group *find_group(struct HYD_faultloc_arrivals *a, const char *state)
{
    struct HYD_faultloc_group *g = a->group;
    int last = HYD_FAULTLOC_GROUPS - 1;

    while (g < a->group + a->groups && strcmp(g->state, state))
        g++;
    if (g > a->group + last)
        g = a->group + last;
    if (g == a->group + a->groups) {
        a->groups++;
        snprintf(g->state, sizeof(g->state), "%s",
                 a->groups == HYD_FAULTLOC_GROUPS ? "in other states" : state);
    }
    return g;
}

static struct HYD_faultloc_group *add_to_group(struct HYD_faultloc_arrivals *a,
                                               const struct HYD_faultloc_process *p,
                                               const char *state)
{
    struct HYD_faultloc_group *g = find_group(a, state);

    g->pid = g->ranks.count ? 0 : p->pid;
    faultloc_launcher_add_rank(&g->ranks, p->rank);
    return g;
}

static void add_late(struct HYD_faultloc_arrivals *a, const struct HYD_faultloc_process *p)
{
    char state[HYD_FAULTLOC_STATE];

    HYD_faultloc_process_state("/proc", p, a->barrier, state);
    add_to_group(a, p, state)->inside = p->finalizing != 0;
}

void HYD_faultloc_arrivals_add_left(struct HYD_faultloc_arrivals *a,
                                    const struct HYD_faultloc_process *p, const char *holder)
{
    char state[HYD_FAULTLOC_STATE], how[HYD_FAULTLOC_STATE - 40], letter;

    if (*holder) {
        snprintf(state, sizeof(state), "ended, but its output is held open by %s", holder);
    } else {
        letter = describe_process("/proc", p->pid, how, sizeof(how));
        if (letter == 'R' && !p->finalizing && a->last_ms < WORK_MS)
            return;
        snprintf(state, sizeof(state), "%s; %s",
                 p->finalizing ? "still in MPI_Finalize" : "has not ended since MPI_Finalize", how);
    }
    add_to_group(a, p, state);
}

static void add_time(struct HYD_faultloc_arrivals *a, int64_t ms)
{
    a->first_ms = ms > a->first_ms ? (int32_t) ms : a->first_ms;
    a->last_ms = a->last_ms < 0 || ms < a->last_ms ? (int32_t) ms : a->last_ms;
}

void HYD_faultloc_arrivals_add(struct HYD_faultloc_arrivals *a,
                               const struct HYD_faultloc_process *p, int64_t now)
{
    bool has_come = p->calls.barriers >= a->barrier;

    a->come += has_come;
    a->put |= has_come && p->calls.put;
    if (!has_come)
        add_late(a, p);
    if (has_come || p->finalizing)
        add_time(a, now - (has_come ? p->calls.came : p->finalizing));
}
