/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/fabric/ping.h"

#include <string.h>

#define HALF (PING_KEY / 2)
#define ADDRESS_AT 64 /* behind the head: its length, and it */

/* The first bytes of a message; the rest is filled up. */
struct head {
    char magic[7];
    uint8_t kind;
    uint64_t nonce; /* both ends of a job have the same byte order */
    uint8_t key[HALF];
};

static const char magic[7] = {'F', 'L', 'p', 'i', 'n', 'g', '1'};

static const uint8_t *half_of(enum ping_kind kind, const uint8_t key[PING_KEY])
{
    return kind == PING_ASK ? key : key + HALF;
}

void ping_write(enum ping_kind kind, const uint8_t key[PING_KEY], uint64_t nonce,
                uint8_t out[PING_BYTES])
{
    struct head h = {.kind = (uint8_t) kind, .nonce = nonce};

    memcpy(h.magic, magic, sizeof(magic));
    if (kind != PING_STRANGER)
        memcpy(h.key, half_of(kind, key), HALF);
    memset(out, 0x55, PING_BYTES);
    memcpy(out, &h, sizeof(h));
}

bool ping_read(enum ping_kind kind, const uint8_t key[PING_KEY], const void *bytes, size_t len,
               uint64_t *nonce)
{
    struct head h;

    *nonce = 0;
    if (len != PING_BYTES)
        return false;
    memcpy(&h, bytes, sizeof(h));
    if (memcmp(h.magic, magic, sizeof(magic)))
        return false;
    *nonce = h.nonce;
    return h.kind == kind && (kind == PING_STRANGER || !memcmp(h.key, half_of(kind, key), HALF));
}

void ping_put_address(uint8_t out[PING_BYTES], const void *address, size_t len)
{
    out[ADDRESS_AT] = (uint8_t) len;
    memcpy(out + ADDRESS_AT + 1, address, len);
}

size_t ping_address(const uint8_t bytes[PING_BYTES], uint8_t out[PING_ADDRESS])
{
    size_t len = bytes[ADDRESS_AT];

    memcpy(out, bytes + ADDRESS_AT + 1, len);
    return len;
}

void ping_hex(const uint8_t *bytes, size_t len, char *text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    *text = '\0';
}

/* -1: it is none. */
static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t ping_unhex(const char *text, uint8_t *bytes, size_t most)
{
    size_t len = strlen(text) / 2;

    if (strlen(text) % 2 || len > most)
        return 0;
    for (size_t i = 0; i < len; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return 0;
        bytes[i] = (uint8_t) (high << 4 | low);
    }
    return len;
}

char *ping_variable(char *text, size_t len, char *at)
{
    static const char *const of_library[] = {"UCX_", "FI_", "PSM2_", "PSM3_", "HFI_", "HOME="};

    for (; at < text + len; at += strlen(at) + 1)
        for (size_t i = 0; i < sizeof(of_library) / sizeof(of_library[0]); i++)
            if (!strncmp(at, of_library[i], strlen(of_library[i])) && strchr(at, '='))
                return at;
    return NULL;
}
