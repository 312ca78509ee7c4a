/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_TYPES_H_INCLUDED
#define FTREE_TYPES_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What all rooms and all callers share: times, errors, ways to a node, components, sets of ranks. */

typedef uint64_t ftree_time;

#define FTREE_NEVER UINT64_MAX
#define FTREE_NONE (-1)
#define FTREE_LOCAL (-2) /* of a peer: a rank of the own node, not known which */
#define FTREE_MS ((ftree_time) 1000000)

/* One node never has to read or write a longer message, in bytes. */
#define FTREE_MESSAGE_MAX 4096

/* Names of rules and fault models, and the free text of a symptom or a finding, with their final
 * zero; both are printable ASCII. */
#define FTREE_NAME_MAX 64
#define FTREE_DETAIL_MAX 128

/* The name of a communicator, and of the file or process that a rank waits for. */
#define FTREE_WAITING_NAME_MAX 64
#define FTREE_ON_MAX 96

/* The numbers of a table of names, such as the next one. */
#define FTREE_ENUM(id, ...) id,
#define FTREE_SECOND(id, text, ...) text,

#define FTREE_ERRORS(X) \
    X(FTREE_OK, "success") \
    X(FTREE_ERR_NOMEM, "out of memory") \
    X(FTREE_ERR_INVALID, "an argument is outside its range") \
    X(FTREE_ERR_MALFORMED, "a message is malformed") \
    X(FTREE_ERR_VERSION, "a message is of another protocol version")

enum ftree_error { FTREE_ERRORS(FTREE_ENUM) };

/* Purpose: names an error.  Returns a constant string, also for a number that is none. */
const char *ftree_strerror(int error);

/* A path is one way to reach a node. */
enum ftree_path {
    FTREE_PATH_DATA,
    FTREE_PATH_MGMT,
    FTREE_PATHS
};

/* Who is asked on a node: its agent, or the deputy that answers when the agent does not. */
enum ftree_role {
    FTREE_ROLE_AGENT,
    FTREE_ROLE_DEPUTY,
    FTREE_ROLES
};

/* What asking over one path came to, from "nothing at all" to "an answer": of several results
 * the greatest is kept, because it says most about the far side. */
#define FTREE_REACHES(X) \
    X(FTREE_REACH_NOT_ASKED, "not asked") \
    X(FTREE_REACH_SILENT, "no answer") \
    X(FTREE_REACH_LOCAL_DOWN, "own side down") \
    X(FTREE_REACH_UNREACHABLE, "unreachable") \
    X(FTREE_REACH_CONNECTED, "connects, never answers") \
    X(FTREE_REACH_REFUSED, "refused") \
    X(FTREE_REACH_ANSWERED, "answered")

enum ftree_reach { FTREE_REACHES(FTREE_ENUM) FTREE_REACH_COUNT };

/* Kinds of components, with the word that stands before a component's name. */
#define FTREE_KINDS(X) \
    X(FTREE_KIND_NODE, "node") \
    X(FTREE_KIND_RANK, "rank") \
    X(FTREE_KIND_NIC, "nic") \
    X(FTREE_KIND_LINK, "link") \
    X(FTREE_KIND_SWITCH, "switch")

enum ftree_kind { FTREE_KINDS(FTREE_ENUM) FTREE_KIND_COUNT };

/* What a symptom or a verdict is about.  Every component has a node, so that it has an FLN: a NIC
 * or a link (the node's end of it) its host, a switch the node at the head of its subtree. */
struct ftree_component {
    uint8_t kind; /* enum ftree_kind */
    int32_t node;
    int32_t rank; /* FTREE_NONE but for a rank; of a node: the rank someone waits for */
    int32_t switch_; /* FTREE_NONE but for a switch */
};

#define FTREE_RANGES_MAX 64

/* Ranks as ranges [first, last]; `count` counts all of them, also those whose range found no
 * room in the table (then count is more than the ranges add up to). */
struct ftree_ranks {
    int32_t count;
    int32_t ranges;
    struct {
        int32_t first, last;
    } range[FTREE_RANGES_MAX];
};

/* Numbers (of nodes or ranks) as spans, ascending and apart, as many as it takes. */
struct ftree_spans {
    struct ftree_span {
        int32_t first, last;
    } *items;
    int32_t n, room;
    int32_t count; /* of all numbers, also of those that are not listed */
};

const char *ftree_path_name(int path);
const char *ftree_reach_name(int reach);
const char *ftree_kind_name(int kind);

/* Purpose: the number of a name, -1: there is no such. */
int ftree_kind_by_name(const char *name);

/* Purpose: goes through the errnos that networks and file systems cause: the name of the i-th, from
 * 0, and its number; NULL: there are no more. */
const char *ftree_errno_at(int i, int *error);

#pragma GCC visibility pop

#endif /* FTREE_TYPES_H_INCLUDED */
