/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PING_H_INCLUDED
#define FAULTLOC_PING_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What two programs faultloc-fabric say to each other over the fabric.  A library may deliver to a
 * stranger at the address of one that has ended.  So each that listens has a key of its own, which its
 * agent hands to that of the asking node beside the address: only who has it is answered, and only an
 * answer with the other half of it counts.
 */

#define PING_KEY 32 /* the first half of it is in a ping, the second in its echo */
#define PING_ADDRESS 255 /* of the asker at most, where the library does not say whom to answer */
#define PING_BYTES 8192 /* of a message: what passes it passes full frames */

enum ping_kind {
    PING_ASK,
    PING_ECHO,
    PING_STRANGER /* who listens there has another key */
};

/* Purpose: writes the message of PING_BYTES of that kind. */
void ping_write(enum ping_kind kind, const uint8_t key[PING_KEY], uint64_t nonce,
                uint8_t out[PING_BYTES]);

/* Purpose: reads one, which is hostile: true if it is of that kind, and has the key, for which a
 * PING_STRANGER is not asked.  *nonce is set if it is a message at all, else 0. */
bool ping_read(enum ping_kind kind, const uint8_t key[PING_KEY], const void *bytes, size_t len,
               uint64_t *nonce);

/* Purpose: puts the address of the asker into a message, and reads it from one, which is hostile; its
 * length. */
void ping_put_address(uint8_t out[PING_BYTES], const void *address, size_t len);
size_t ping_address(const uint8_t bytes[PING_BYTES], uint8_t out[PING_ADDRESS]);

/* Purpose: bytes as a text of 2 * len + 1 characters, in base 16, and back; the number of bytes, 0: it
 * is no such text, or longer than `most`. */
void ping_hex(const uint8_t *bytes, size_t len, char *text);
size_t ping_unhex(const char *text, uint8_t *bytes, size_t most);

/* Purpose: the next variable that UCX or libfabric reads of an environment as /proc has it, of `len`
 * bytes, ended by a 0, from `at` on: UCX_..., FI_..., those of providers for Omni-Path, and HOME, where
 * the file ucx.conf may be; NULL: there are no more. */
char *ping_variable(char *text, size_t len, char *at);

#endif /* FAULTLOC_PING_H_INCLUDED */
