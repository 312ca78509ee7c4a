/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/frame.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define VERSION 1
#define NONCE_SIZE 32
#define HELLO_MAC_SIZE 32
/* The part of a HELLO that its MAC covers. */
#define HELLO_CLAIM_SIZE (FAULTLOC_HELLO_SIZE - HELLO_MAC_SIZE)

static const uint8_t challenge_magic[4] = {'F', 'L', 'T', 'C'};
static const uint8_t hello_magic[4] = {'F', 'L', 'T', 'H'};
static const uint8_t packet_magic[4] = {'F', 'L', 'T', 'P'};

/* Two uses of one key must never hash the same bytes, so each has a label of its own. */
#define LABEL_SIZE 16
static const uint8_t hello_label[LABEL_SIZE] = "faultloc-hello";
static const uint8_t session_label[LABEL_SIZE] = "faultloc-conn";
static const uint8_t packet_label[LABEL_SIZE] = "faultloc-packet";

static void put_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    put_u16(p, (uint16_t) (v >> 16));
    put_u16(p + 2, (uint16_t) v);
}

static void put_u64(uint8_t *p, uint64_t v)
{
    put_u32(p, (uint32_t) (v >> 32));
    put_u32(p + 4, (uint32_t) v);
}

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static uint64_t get_u64(const uint8_t *p)
{
    return (uint64_t) get_u32(p) << 32 | get_u32(p + 4);
}

static void put_prologue(uint8_t *p, const uint8_t magic[4])
{
    memcpy(p, magic, 4);
    put_u16(p + 4, VERSION);
}

static int is_prologue(const uint8_t *p, const uint8_t magic[4])
{
    uint8_t expected[6];
    put_prologue(expected, magic);
    return memcmp(p, expected, sizeof(expected)) == 0;
}

/* 32 bytes that only who knows the key can make from the challenge and `len` bytes of hello. */
static void keyed_hash(const uint8_t key[FAULTLOC_KEY_SIZE], const uint8_t label[LABEL_SIZE],
                       const uint8_t *challenge, const uint8_t *hello, size_t len, uint8_t out[32])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, FAULTLOC_KEY_SIZE, 32);
    crypto_generichash_update(&state, label, LABEL_SIZE);
    crypto_generichash_update(&state, challenge, FAULTLOC_CHALLENGE_SIZE);
    crypto_generichash_update(&state, hello, len);
    crypto_generichash_final(&state, out, 32);
    sodium_memzero(&state, sizeof(state));
}

static void start_session(const uint8_t key[FAULTLOC_KEY_SIZE], const uint8_t *challenge,
                          const uint8_t *hello, enum faultloc_side side,
                          struct faultloc_session *session)
{
    keyed_hash(key, session_label, challenge, hello, FAULTLOC_HELLO_SIZE, session->key);
    session->sent = 0;
    session->received = 0;
    session->side = (uint8_t) side;
}

void faultloc_frame_challenge(uint8_t challenge[FAULTLOC_CHALLENGE_SIZE])
{
    put_prologue(challenge, challenge_magic);
    put_u16(challenge + 6, 0);
    randombytes_buf(challenge + 8, NONCE_SIZE);
}

int faultloc_frame_hello(const uint8_t key[FAULTLOC_KEY_SIZE],
                         const uint8_t challenge[FAULTLOC_CHALLENGE_SIZE],
                         const struct faultloc_hello *who, uint8_t hello[FAULTLOC_HELLO_SIZE],
                         struct faultloc_session *session)
{
    if (!is_prologue(challenge, challenge_magic) || challenge[6] || challenge[7])
        return EPROTO;
    put_prologue(hello, hello_magic);
    hello[6] = who->path;
    hello[7] = who->role;
    put_u32(hello + 8, who->from);
    put_u32(hello + 12, who->to);
    randombytes_buf(hello + 16, NONCE_SIZE);
    keyed_hash(key, hello_label, challenge, hello, HELLO_CLAIM_SIZE, hello + HELLO_CLAIM_SIZE);
    start_session(key, challenge, hello, FAULTLOC_SIDE_CLIENT, session);
    return 0;
}

int faultloc_frame_verify(const uint8_t key[FAULTLOC_KEY_SIZE],
                          const uint8_t challenge[FAULTLOC_CHALLENGE_SIZE],
                          const uint8_t hello[FAULTLOC_HELLO_SIZE], struct faultloc_hello *who,
                          struct faultloc_session *session)
{
    uint8_t mac[HELLO_MAC_SIZE];

    if (!is_prologue(hello, hello_magic))
        return EPROTO;
    keyed_hash(key, hello_label, challenge, hello, HELLO_CLAIM_SIZE, mac);
    if (sodium_memcmp(mac, hello + HELLO_CLAIM_SIZE, sizeof(mac)) != 0)
        return EACCES;
    who->path = hello[6];
    who->role = hello[7];
    who->from = get_u32(hello + 8);
    who->to = get_u32(hello + 12);
    start_session(key, challenge, hello, FAULTLOC_SIDE_SERVER, session);
    return 0;
}

/* The MAC of a whole frame that `side` sent. */
static void frame_mac(const struct faultloc_session *session, enum faultloc_side side,
                      const uint8_t *frame, size_t len, uint8_t out[FAULTLOC_FRAME_MAC])
{
    const uint8_t sender = (uint8_t) side;
    crypto_generichash_state state;
    crypto_generichash_init(&state, session->key, FAULTLOC_KEY_SIZE, FAULTLOC_FRAME_MAC);
    crypto_generichash_update(&state, &sender, 1);
    crypto_generichash_update(&state, frame, FAULTLOC_FRAME_HEAD + len);
    crypto_generichash_final(&state, out, FAULTLOC_FRAME_MAC);
}

void faultloc_frame_begin(uint8_t *frame, size_t len)
{
    put_u32(frame, (uint32_t) len);
}

size_t faultloc_frame_size(const uint8_t *frame)
{
    return FAULTLOC_FRAME_OVERHEAD + (size_t) get_u32(frame);
}

void faultloc_frame_seal(struct faultloc_session *session, uint8_t *frame)
{
    size_t len = get_u32(frame);
    put_u64(frame + 4, session->sent++);
    frame_mac(session, session->side, frame, len, frame + FAULTLOC_FRAME_HEAD + len);
}

int faultloc_frame_open(struct faultloc_session *session, const uint8_t *bytes, size_t have,
                        const uint8_t **body, size_t *len)
{
    uint8_t mac[FAULTLOC_FRAME_MAC];
    enum faultloc_side sender =
        session->side == FAULTLOC_SIDE_CLIENT ? FAULTLOC_SIDE_SERVER : FAULTLOC_SIDE_CLIENT;

    if (have >= 4 && get_u32(bytes) > FAULTLOC_BODY_MAX)
        return -1;
    if (have >= FAULTLOC_FRAME_HEAD && get_u64(bytes + 4) != session->received)
        return -1;
    if (have < FAULTLOC_FRAME_HEAD || have < faultloc_frame_size(bytes))
        return 0;
    *len = get_u32(bytes);
    frame_mac(session, sender, bytes, *len, mac);
    if (sodium_memcmp(mac, bytes + FAULTLOC_FRAME_HEAD + *len, sizeof(mac)) != 0)
        return -1;
    *body = bytes + FAULTLOC_FRAME_HEAD;
    session->received++;
    return (int) faultloc_frame_size(bytes);
}

/* The MAC of the first `len` bytes of a packet. */
static void packet_mac(const uint8_t key[FAULTLOC_KEY_SIZE], const uint8_t *packet, size_t len,
                       uint8_t out[FAULTLOC_FRAME_MAC])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, FAULTLOC_KEY_SIZE, FAULTLOC_FRAME_MAC);
    crypto_generichash_update(&state, packet_label, LABEL_SIZE);
    crypto_generichash_update(&state, packet, len);
    crypto_generichash_final(&state, out, FAULTLOC_FRAME_MAC);
    sodium_memzero(&state, sizeof(state));
}

void faultloc_packet_seal(const uint8_t key[FAULTLOC_KEY_SIZE], const struct faultloc_packet *who,
                          const void *body, size_t len, uint8_t *packet, size_t size)
{
    memset(packet, 0, size);
    put_prologue(packet, packet_magic);
    packet[6] = who->path;
    put_u32(packet + 8, who->from);
    put_u32(packet + 12, who->to);
    put_u16(packet + 16, (uint16_t) len);
    memcpy(packet + FAULTLOC_PACKET_HEAD, body, len);
    packet_mac(key, packet, size - FAULTLOC_FRAME_MAC, packet + size - FAULTLOC_FRAME_MAC);
}

int faultloc_packet_open(const uint8_t key[FAULTLOC_KEY_SIZE], const uint8_t *packet, size_t size,
                         struct faultloc_packet *who, const uint8_t **body, size_t *len)
{
    uint8_t mac[FAULTLOC_FRAME_MAC];
    size_t n;

    if (size < FAULTLOC_PACKET_MIN || size > FAULTLOC_PACKET_MAX ||
        !is_prologue(packet, packet_magic) || packet[7])
        return EPROTO;
    n = (size_t) packet[16] << 8 | packet[17];
    if (n == 0 || n > size - FAULTLOC_PACKET_HEAD - FAULTLOC_FRAME_MAC)
        return EPROTO;
    packet_mac(key, packet, size - FAULTLOC_FRAME_MAC, mac);
    if (sodium_memcmp(mac, packet + size - FAULTLOC_FRAME_MAC, sizeof(mac)) != 0)
        return EACCES;
    who->path = packet[6];
    who->from = get_u32(packet + 8);
    who->to = get_u32(packet + 12);
    *body = packet + FAULTLOC_PACKET_HEAD;
    *len = n;
    return 0;
}
