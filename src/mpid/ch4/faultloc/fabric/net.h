/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_NET_H_INCLUDED
#define FAULTLOC_NET_H_INCLUDED

#include "faultloc/fabric/ping.h"

/*
 * The library that ranks' data go by, as main.c knows it: net_ucx.c or net_ofi.c, one of which is linked.
 * It knows messages of PING_BYTES alone, and none of what they say.
 */

/* "UCX". */
extern const char net_name[];

/* Purpose: sets the variables that the library is to have here, whatever the job has. */
void net_environment(void);

/* An answer goes over the connection by which the question came. */
extern const bool net_has_way_back;

/* Purpose: opens an end; `over`: what ranks use, "" if another library than libfabric (board.h); NULL: it
 * is a person who asks.  NULL: it is there, else why not. */
const char *net_open(const char *over);

/* Purpose: the address of the end; its length, 0: it is longer than `most`. */
size_t net_address(uint8_t *bytes, size_t most);

/* Purpose: an address to ask from now on; may block.  NULL, or why nothing can be sent there. */
const char *net_connect(const uint8_t *address, size_t len);

/* Purpose: sends a message there, which it may change; it stays the caller's. */
void net_ask(uint8_t message[PING_BYTES]);

/* Purpose: sends one to `back`, within net_heard() alone.  False: it will not be sent. */
bool net_reply(void *back, const uint8_t message[PING_BYTES]);

/* Purpose: lets the library go on; now: us. */
void net_turn(uint64_t now);

/* Purpose: true where no answer is to be hoped for any more. */
bool net_failed(void);

/* Purpose: why none came, "": not known.  *unsent: the library refused to send, which says nothing of the
 * network. */
const char *net_why(bool *unsent);

/* Purpose: ends the connection, called again until it returns true. */
bool net_close(void);

/* Purpose: main.c's: a message came, which is hostile, within net_turn().  back NULL: it cannot be
 * answered. */
void net_heard(const void *bytes, size_t len, void *back);

#endif /* FAULTLOC_NET_H_INCLUDED */
