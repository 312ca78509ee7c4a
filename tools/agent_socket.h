/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef AGENT_SOCKET_H_INCLUDED
#define AGENT_SOCKET_H_INCLUDED

#include "tool.h"

#include "faultloc/io/symptom_socket.h"

/*
 * How a command finds the agents of jobs on this host, by their symptom sockets, and asks one.
 *
 * Root looks into folders of other users.  It makes nothing there, follows no link there, and
 * takes a folder's jobs for those of the user whose folder it is: io/symptom_socket.h.
 */

struct agent_socket {
    char folder[FAULTLOC_SYMPTOM_PATH], name[FAULTLOC_SYMPTOM_PATH];
    char job[FAULTLOC_SYMPTOM_PATH], node[FAULTLOC_SYMPTOM_PATH];
    uid_t uid;
};

/* Which one is meant. */
struct agent_choice {
    const char *command; /* for messages */
    const char *job, *user, *node; /* NULL: any */
    const char *no_value; /* the option behind which its value is missing */
    uid_t uid; /* of `user`: tool_agent_check() */
    bool numbered; /* jobs of that name with a number, too */
    bool any_node; /* any agent of the job will do */
    bool component; /* the command has an option --component, by which any will do */
};

enum agent_answer {
    NOT_ASKED, /* errno says why */
    NO_ANSWER_YET,
    NO_ANSWER,
    WRONG_USER,
    ANSWERED
};

/* Purpose: takes argument *i if it is --job, --user or --node, and its value behind it; *i is then
 * the last that was taken. */
bool tool_agent_option(int n, char **arguments, int *i, struct agent_choice *c);

/* Purpose: whether such options were right; finds the number of c->user.  Returns an exit code; a
 * message has said what is wrong. */
enum tool_exit tool_agent_check(struct agent_choice *c);

/* Purpose: the only agent that fits.  NULL: a message has said what is missing. */
const struct agent_socket *tool_agent_pick(struct agent_choice *c);

/* Purpose: sends the text, and waits for the answer, `ms` at the most; `len` bytes lie in the socket
 * for the agent to read, as one packet.  *answer is to be freed, and NULL where there is none. */
enum agent_answer tool_agent_ask(const struct agent_socket *d, const char *text, const char *bytes,
                                 size_t len, int ms, char **answer);

/* Purpose: says that there is no answer, why, and what there may be of it besides.  Returns
 * TOOL_TROUBLE. */
enum tool_exit tool_agent_silent(const char *command, const struct agent_socket *d,
                                 enum agent_answer answer, const char *perhaps);

#endif /* AGENT_SOCKET_H_INCLUDED */
