/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What a stranger, or a peer gone wrong, may put on the wire, for libFuzzer:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc/mpid/ch4 -Isrc/util -Itest/lib \
 *         test/unit/net/fuzz_channel.c src/mpid/ch4/faultloc/net/frame.c -lsodium -o fuzz_channel
 *     ./fuzz_channel -max_len=20000
 *
 * The first byte picks what the rest is: a HELLO, a challenge, frames as they are, or bodies that
 * are signed here, which must come out as they went in.
 */

#include "faultloc/net/frame.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const uint8_t key[FAULTLOC_KEY_SIZE] = "a key that the fuzzer cannot use";
static const uint8_t challenge[FAULTLOC_CHALLENGE_SIZE] = {'F', 'L', 'T', 'C', 0, 1};

static void require(int truth)
{
    if (!truth)
        abort();
}

/* The two sides of one connection. */
static void make_sessions(struct faultloc_session *client, struct faultloc_session *server)
{
    const struct faultloc_hello who = {.from = 1, .to = 2, .path = 0, .role = 1};
    struct faultloc_hello claimed;
    uint8_t hello[FAULTLOC_HELLO_SIZE];

    require(faultloc_frame_hello(key, challenge, &who, hello, client) == 0);
    require(faultloc_frame_verify(key, challenge, hello, &claimed, server) == 0);
    require(claimed.from == 1 && claimed.to == 2 && claimed.path == 0 && claimed.role == 1);
    require(memcmp(client->key, server->key, sizeof(client->key)) == 0);
}

/* No HELLO can be guessed. */
static void fuzz_hello(const uint8_t *bytes, size_t size)
{
    uint8_t hello[FAULTLOC_HELLO_SIZE] = {0};
    struct faultloc_session session;
    struct faultloc_hello who;

    memcpy(hello, bytes, size < sizeof(hello) ? size : sizeof(hello));
    int rc = faultloc_frame_verify(key, challenge, hello, &who, &session);
    require(rc == EACCES || rc == EPROTO);
}

static void fuzz_challenge(const uint8_t *bytes, size_t size)
{
    const struct faultloc_hello who = {0};
    uint8_t given[FAULTLOC_CHALLENGE_SIZE] = {0}, hello[FAULTLOC_HELLO_SIZE];
    struct faultloc_session session;

    memcpy(given, bytes, size < sizeof(given) ? size : sizeof(given));
    int rc = faultloc_frame_hello(key, given, &who, hello, &session);
    require(rc == 0 || rc == EPROTO);
}

/* No frame can be guessed, and none makes the reader wait for more than the longest. */
static void fuzz_frames(const uint8_t *bytes, size_t size)
{
    struct faultloc_session client, server;
    const uint8_t *body;
    size_t len;

    make_sessions(&client, &server);
    int rc = faultloc_frame_open(&server, bytes, size, &body, &len);
    require(rc == 0 || rc == -1);
    require(rc == -1 || size < FAULTLOC_FRAME_MAX);
}

/* Splits the bytes into bodies, the first byte of each times 33 being its length. */
static void fuzz_bodies(const uint8_t *bytes, size_t size)
{
    struct faultloc_session client, server;
    uint8_t frame[FAULTLOC_FRAME_MAX];
    const uint8_t *body;
    size_t got;

    make_sessions(&client, &server);
    while (size > 0) {
        size_t len = bytes[0] * 33u < size - 1 ? bytes[0] * 33u : size - 1;
        if (len > FAULTLOC_BODY_MAX)
            len = FAULTLOC_BODY_MAX;
        faultloc_frame_begin(frame, len);
        memcpy(frame + FAULTLOC_FRAME_HEAD, bytes + 1, len);
        faultloc_frame_seal(&client, frame);
        require(faultloc_frame_open(&server, frame, FAULTLOC_FRAME_OVERHEAD + len - 1, &body,
                                    &got) == 0);
        require(faultloc_frame_open(&server, frame, sizeof(frame), &body, &got) ==
                (int) (FAULTLOC_FRAME_OVERHEAD + len));
        require(got == len && memcmp(body, bytes + 1, len) == 0);
        bytes += 1 + len;
        size -= 1 + len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const targets[])(const uint8_t *, size_t) = {fuzz_hello, fuzz_challenge,
                                                               fuzz_frames, fuzz_bodies};

    if (sodium_init() < 0 || size == 0)
        return 0;
    targets[bytes[0] % 4](bytes + 1, size - 1);
    return 0;
}
