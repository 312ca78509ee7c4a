/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE 1 /* sigtimedwait */
#include "faultloc_hydra.h"

#include "util/ftree/base/text.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int HYD_faultloc_on = 0;

size_t HYD_faultloc_msg_size(int what)
{
    switch (what) {
        case HYD_FAULTLOC_END:
        case HYD_FAULTLOC_ABORT:
        case HYD_FAULTLOC_REPLY:
        case HYD_FAULTLOC_ALL_CAME:
            return offsetof(struct HYD_faultloc_msg, arrivals);
        default:
            return sizeof(struct HYD_faultloc_msg);
    }
}

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

/* That nobody reads what FaultLoc says is no reason to end. */
static void print(FILE *out, const char *text)
{
    const struct timespec at_once = {.tv_sec = 0};
    sigset_t sigpipe, before, pending;

    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &sigpipe, &before);
    if ((fputs(text, out) < 0 || fflush(out)) && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&sigpipe, NULL, &at_once);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void HYD_faultloc_say(FILE *out, const char *format, ...)
{
    char line[1024], *text = line;
    va_list args, again;
    int n;
    size_t len;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(line, sizeof(line), format, args);
    if (n >= (int) sizeof(line) && (text = malloc((size_t) n + 1)))
        vsnprintf(text, (size_t) n + 1, format, again);
    va_end(again);
    va_end(args);
    text = text ? text : line; /* cut, where memory is out */
    len = n < 0 ? 0 : strlen(text);
    ftree_text_clean(text, len - (len > 0 && text[len - 1] == '\n'), '?');
    print(out, text);
    if (text != line)
        free(text);
}

const char *HYD_faultloc_escape(const char *text, char *out, size_t room)
{
    size_t n = 0;

    for (; *text && n + 3 < room; text++) {
        if (*text == '"' || *text == '\\')
            out[n++] = '\\';
        out[n++] = *text;
    }
    out[n] = '\0';
    ftree_text_clean(out, n, '?');
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
