/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SOURCES_H_INCLUDED
#define FAULTLOC_SOURCES_H_INCLUDED

#include "faultloc/agent/serve/serve_ask.h"
#include "faultloc/agent/serve/serve_set.h"
#include "faultloc/agent/serve/serve_status.h"
#include "faultloc/io/loop.h"
#include "faultloc/io/socket_opener.h"
#include "faultloc/io/reader.h"

/* What the agent takes in from outside of the job: the rule base, symptoms of other middleware. */

struct faultloc_sources {
    struct faultloc_program *p;
    struct ftree_rules *rules; /* that are used */
    struct faultloc_reader *reader; /* of others; NULL: there is no file of them */
    bool set; /* a person has set the rules: the file is not followed */
    struct faultloc_socket_opener *opener; /* NULL: no symptom socket is to be open */
    struct faultloc_symptom_socket sock; /* the opener's, when it is open */
    struct faultloc_pause pause; /* of it */
    struct faultloc_statuses statuses; /* who asked for the status, */
    struct faultloc_asks asks; /* what it was asked, */
    struct faultloc_sets sets; /* and to set */
};

/* Purpose: begins, with the rules of the job's file, if it can be read soon, or the built-in ones.
 * Errors: an errno. */
int faultloc_sources_open(struct faultloc_sources *s, struct faultloc_program *p);

/* Purpose: opens the symptom socket. It is given a moment, so that a job begins with its symptom
 * socket open; a successor has no time to lose. */
void faultloc_sources_open_socket(struct faultloc_sources *s);

/* Purpose: tells the launcher which process the agent is, and the path of its symptom socket, if
 * it has one. */
void faultloc_sources_say_hello(const struct faultloc_sources *s);

/* Purpose: from now on these rules are used (len 0: the built-in ones), and the job's file is no
 * longer followed.  Errors: an errno; EINVAL: they are none. */
int faultloc_sources_set_rules(struct faultloc_sources *s, ftree_time now, const char *text,
                               size_t len);

/* Purpose: takes new rules, if there are any, and the symptoms that were received. */
void faultloc_sources_receive(struct faultloc_sources *s, ftree_time now);

#endif /* FAULTLOC_SOURCES_H_INCLUDED */
