/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include "faultloc/base/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* faultloc handlers: has the program faultloc-handlers, which agents start, ask about a node now. */

#define PROGRAM "faultloc-handlers"

const char tool_handlers_usage[] =
    "Usage: faultloc handlers check [--file FILE] [--from NODE] NODE\n"
    "\n"
    "Asks all handlers about a node, as an agent does when the node is silent. For each it prints what a\n"
    "verdict would have as evidence, or why it says nothing.\n"
    "\n"
    "  --file FILE  what names the handlers (default: MPIR_CVAR_FAULTLOC_HANDLERS)\n"
    "  --from NODE  the node that asks (default: this host)\n"
    "  --help       this text\n"
    "\n"
    "Exit code: 0 all have answered, 1 one has not, or the file is refused, 2 wrong usage.\n";

/* In an installation, or in a build folder. */
static bool find_program(char path[FAULTLOC_SPAWN_PATH])
{
    ssize_t n;
    char *slash;

    if (faultloc_spawn_find(PROGRAM, path) == 0)
        return true;
    n = readlink("/proc/self/exe", path, FAULTLOC_SPAWN_PATH - sizeof("/../" PROGRAM));
    if (n <= 0)
        return false;
    path[n] = '\0';
    slash = strrchr(path, '/');
    strcpy(slash ? slash : path, "/../" PROGRAM);
    return access(path, X_OK) == 0;
}

static enum tool_exit run(const char *file, const char *from, const char *node)
{
    char path[FAULTLOC_SPAWN_PATH], host[256] = "";

    if (!from && gethostname(host, sizeof(host) - 1) == 0)
        host[strcspn(host, ".")] = '\0';
    if (!find_program(path)) {
        tool_say(stderr, "faultloc: %s is not installed", PROGRAM);
        return TOOL_TROUBLE;
    }
    execl(path, PROGRAM, "--check", "--file", file, "--from", from ? from : host, "--", node,
          (char *) NULL);
    tool_say(stderr, "faultloc: %s: %s", path, strerror(errno));
    return TOOL_TROUBLE;
}

enum tool_exit tool_handlers(int n, char **arguments)
{
    const char *file = getenv("MPIR_CVAR_FAULTLOC_HANDLERS"), *from = NULL;
    int i = 1;

    for (; i + 1 < n && arguments[i][0] == '-'; i += 2) {
        if (!strcmp(arguments[i], "--file"))
            file = arguments[i + 1];
        else if (!strcmp(arguments[i], "--from"))
            from = arguments[i + 1];
        else
            break;
    }
    if (n < 2 || strcmp(arguments[0], "check") || i != n - 1 || arguments[i][0] == '-') {
        tool_say(stderr, "faultloc: handlers check needs one node; see faultloc handlers --help");
        return TOOL_TROUBLE;
    }
    if (!file || !*file) {
        tool_say(stderr, "faultloc: no file: --file, or MPIR_CVAR_FAULTLOC_HANDLERS");
        return TOOL_TROUBLE;
    }
    return run(file, from, arguments[i]);
}
