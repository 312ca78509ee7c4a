/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/action.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the action ------------------------------------------------------------------------------ */

static bool is_word(const char *word, size_t len, const char *name)
{
    return len == strlen(name) && !memcmp(word, name, len);
}

static const char *read_program(const char *path, size_t len, char *program)
{
    if (len == 0 || path[0] != '/')
        return "needs the absolute path of a program, as in exec:/usr/local/sbin/PROGRAM";
    if (len >= FAULTLOC_PATH_ROOM)
        return "is too long";
    if (program[0])
        return "is a second program; one can be run";
    memcpy(program, path, len);
    program[len] = '\0';
    return NULL;
}

static const char *read_word(const char *word, size_t len, enum faultloc_action *action,
                             char *program)
{
    static const char exec[] = "exec:";

    if (is_word(word, len, "report"))
        return NULL;
    if (len >= strlen(exec) && !memcmp(word, exec, strlen(exec)))
        return read_program(word + strlen(exec), len - strlen(exec), program);
    if (!is_word(word, len, "abort"))
        return "must be report, abort or exec:/PROGRAM";
    *action = FAULTLOC_ACTION_ABORT;
    return NULL;
}

const char *faultloc_action_read(const char *value, enum faultloc_action *action, char *program,
                                 char word[FAULTLOC_ACTION_WORD])
{
    const char *wrong = NULL, *why;

    *action = FAULTLOC_ACTION_REPORT;
    program[0] = '\0';
    for (size_t len; value; value = value[len] ? value + len + 1 : NULL) {
        len = strcspn(value, ",");
        why = read_word(value, len, action, program);
        if (why && !wrong)
            snprintf(word, FAULTLOC_ACTION_WORD, "%.*s", (int) len, value);
        wrong = wrong ? wrong : why;
    }
    return wrong;
}

/* ---- the walltime ---------------------------------------------------------------------------- */

#define SECONDS_MAX 4000000000000 /* whatever is larger is no time */

/* 0: it is not set, or no whole number. */
static int64_t read_seconds(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long long n;

    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    n = strtoll(text, &end, 10);
    return errno || *end || n > SECONDS_MAX ? 0 : n;
}

/*
 * Slurm: when the job began and is to end, Unix times (https://slurm.schedmd.com/scrun.html,
 * SLURM_JOB_START_TIME and SLURM_JOB_END_TIME; 22.05 does not set them). Torque: the limit alone,
 * seconds (PBS_WALLTIME, in its resmom/start_exec.c; PBS Pro does not set it), so that it is known
 * when the job will have ended at the latest: it began before this program. LSF sets no such
 * variable (Environment variables set for job execution, in LSF's configuration reference).
 */
void faultloc_walltime_read(int64_t now_ms, struct report_walltime *w)
{
    int64_t begin = read_seconds("SLURM_JOB_START_TIME"), end = read_seconds("SLURM_JOB_END_TIME");
    int64_t limit = read_seconds("PBS_WALLTIME");

    *w = (struct report_walltime){0};
    if (end > 0) {
        w->end_ms = end * 1000;
        w->limit_s = begin > 0 && begin < end ? end - begin : 0;
    } else if (limit > 0) {
        w->end_ms = now_ms + limit * 1000;
        w->limit_s = limit;
        w->at_most = true;
    }
}
