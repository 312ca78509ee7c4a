/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_FRAME_H_INCLUDED
#define FAULTLOC_FRAME_H_INCLUDED

#include "faultloc/base/address.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What two agents say on a connection, byte by byte: pure functions, no socket, no allocation.
 * All numbers are big-endian.  "mac" is BLAKE2b keyed (libsodium's crypto_generichash).
 *
 *   server -> client   CHALLENGE   magic "FLTC", u16 version, u16 0, nonce[32]
 *   client -> server   HELLO       magic "FLTH", u16 version, u8 path, u8 role, u32 from, u32 to,
 *                                  nonce[32], mac[32] (job key; over CHALLENGE and HELLO so far)
 *   both ways          FRAME       u32 length, u64 sequence, body[length], mac[16] (session key;
 *                                  over side, length, sequence, body)
 *
 * The session key is the job key's hash of CHALLENGE and HELLO: both nonces, both node numbers,
 * path and role are in it, so that nothing recorded on another connection fits.  Each side counts
 * its own frames from 0; a frame out of order is refused.  An empty body is the channel's own: as
 * the server's first frame it is WELCOME, the proof that the server knows the key too; later it is
 * GOODBYE, the server's orderly end.  A client never sends one.
 *
 * Beside connections there are packets, each by itself (a burst):
 *
 *   both ways          PACKET      magic "FLTP", u16 version, u8 path, u8 0, u32 from, u32 to,
 *                                  u16 length, body[length], zeros, mac[16] (job key; over all of it)
 *
 * One that was recorded may be sent again: what it says is believed only while its burst goes on.
 *
 * Source: the challenge-response and keyed-session shape is ISO/IEC 9798-4's; what is MACed but
 * not encrypted is public to who listens on the wire: messages carry no secrets.
 */

#define FAULTLOC_CHALLENGE_SIZE 40
#define FAULTLOC_HELLO_SIZE 80
#define FAULTLOC_FRAME_HEAD 12
#define FAULTLOC_FRAME_MAC 16
#define FAULTLOC_FRAME_OVERHEAD (FAULTLOC_FRAME_HEAD + FAULTLOC_FRAME_MAC)
/* Longest body, bytes. */
#define FAULTLOC_BODY_MAX 8192
#define FAULTLOC_FRAME_MAX (FAULTLOC_FRAME_OVERHEAD + FAULTLOC_BODY_MAX)

enum faultloc_side {
    FAULTLOC_SIDE_CLIENT,
    FAULTLOC_SIDE_SERVER
};

/* One side's view of a connection whose HELLO was made or verified. */
struct faultloc_session {
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint64_t sent; /* sequence number of the next frame out */
    uint64_t received; /* sequence number the next frame in must have */
    uint8_t side; /* enum faultloc_side: who we are */
};

/* What a HELLO claims. */
struct faultloc_hello {
    uint32_t from;
    uint32_t to;
    uint8_t path;
    uint8_t role;
};

/* Purpose: server: makes a new CHALLENGE with a random nonce. */
void faultloc_frame_challenge(uint8_t challenge[FAULTLOC_CHALLENGE_SIZE]);

/* Purpose: client: makes the HELLO that answers `challenge`, and the session.
 * Errors: EPROTO when the challenge is not one of this version; nothing is written then. */
int faultloc_frame_hello(const uint8_t key[FAULTLOC_KEY_SIZE],
                         const uint8_t challenge[FAULTLOC_CHALLENGE_SIZE],
                         const struct faultloc_hello *who, uint8_t hello[FAULTLOC_HELLO_SIZE],
                         struct faultloc_session *session);

/* Purpose: server: verifies a HELLO against the challenge it gave.  *who and *session are written
 * only when the MAC fits.  What *who claims (node numbers in range, own path) is the caller's to
 * check.  Errors: EPROTO: not a HELLO of this version; EACCES: made without the job's key. */
int faultloc_frame_verify(const uint8_t key[FAULTLOC_KEY_SIZE],
                          const uint8_t challenge[FAULTLOC_CHALLENGE_SIZE],
                          const uint8_t hello[FAULTLOC_HELLO_SIZE], struct faultloc_hello *who,
                          struct faultloc_session *session);

/* Purpose: writes a frame's length, which must be known before the frame can be sealed.
 * `len` is at most FAULTLOC_BODY_MAX. */
void faultloc_frame_begin(uint8_t *frame, size_t len);

/* Purpose: size in bytes of the frame that faultloc_frame_begin() wrote, MAC included. */
size_t faultloc_frame_size(const uint8_t *frame);

/* Purpose: numbers and signs a frame in place; its length and body are there already. */
void faultloc_frame_seal(struct faultloc_session *session, uint8_t *frame);

/* Purpose: takes one frame from the front of `bytes`.  Refuses as soon as the bytes at hand show
 * that it cannot be right, so nobody can make the caller wait for, or hold, a huge body.
 * Returns the frame's size and sets *body (inside `bytes`) and *len; 0: more bytes are needed;
 * -1: not an acceptable frame (too long, out of order, wrong MAC). */
int faultloc_frame_open(struct faultloc_session *session, const uint8_t *bytes, size_t have,
                        const uint8_t **body, size_t *len);

#define FAULTLOC_PACKET_HEAD 18
#define FAULTLOC_PACKET_MIN (FAULTLOC_PACKET_HEAD + 1 + FAULTLOC_FRAME_MAC)
#define FAULTLOC_PACKET_MAX 9000 /* larger ones are not filled up to */

/* Where a packet comes from and goes to. */
struct faultloc_packet {
    uint32_t from;
    uint32_t to;
    uint8_t path;
};

/* Purpose: writes a packet of `size` bytes, at most FAULTLOC_PACKET_MAX, with that body, which fits
 * together with head and MAC. */
void faultloc_packet_seal(const uint8_t key[FAULTLOC_KEY_SIZE], const struct faultloc_packet *who,
                          const void *body, size_t len, uint8_t *packet, size_t size);

/* Purpose: verifies a packet; *who, *body (inside `packet`) and *len are written only when the MAC
 * fits.  What *who claims is the caller's to check.  Errors: EPROTO: not a packet of this version;
 * EACCES: made without the job's key. */
int faultloc_packet_open(const uint8_t key[FAULTLOC_KEY_SIZE], const uint8_t *packet, size_t size,
                         struct faultloc_packet *who, const uint8_t **body, size_t *len);

#endif /* FAULTLOC_FRAME_H_INCLUDED */
