/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_hydra.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

int HYD_faultloc_on = 0;

static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

const char *HYD_faultloc_how(const struct HYD_faultloc_end *end, char *out, size_t room)
{
    int number = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;
    const char *name = signal_name(number);

    if (end->inner && !end->finalized)
        snprintf(out, room, "its PMI connection closed before MPI_Finalize");
    else if (number)
        snprintf(out, room, "%ssignal %d%s%s%s%s%s", end->oom ? "killed for memory, " : "", number,
                 name ? " (" : "", name ? name : "", name ? ")" : "",
                 WCOREDUMP(end->status) ? ", core dumped" : "",
                 end->finalized ? ", after MPI_Finalize" : "");
    else
        snprintf(out, room, "exit code %d%s", WEXITSTATUS(end->status),
                 !end->inited     ? ""
                 : end->finalized ? " after MPI_Finalize"
                                  : " before MPI_Finalize");
    return out;
}

const char *HYD_faultloc_escape(const char *text, char *out, size_t room)
{
    size_t n = 0;

    for (; *text && n + 3 < room; text++) {
        if (*text == '"' || *text == '\\')
            out[n++] = '\\';
        out[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
    }
    out[n] = '\0';
    return out;
}

void HYD_faultloc_symptom(const struct HYD_faultloc_end *end, char *out, size_t room)
{
    char how[128], safe[256];

    HYD_faultloc_escape(HYD_faultloc_how(end, how, sizeof(how)), safe, sizeof(safe));
    snprintf(out, room,
             "{\"kind\": \"%s\", \"component\": \"rank %d\", \"severity\": \"fatal\", "
             "\"detail\": \"%s, pid %d, max RSS %lld MiB, CPU %lld.%lld s\"}",
             end->oom ? "out-of-memory" : "process-exited", (int) end->rank, safe, (int) end->pid,
             (long long) end->rss_kib / 1024, (long long) end->cpu_ms / 1000,
             (long long) end->cpu_ms % 1000 / 100);
}

bool HYD_faultloc_is_crash(const struct HYD_faultloc_end *end)
{
    return !end->killed && (WIFSIGNALED(end->status) || (end->inited && !end->finalized));
}
