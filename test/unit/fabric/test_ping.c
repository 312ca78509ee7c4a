/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/fabric/ping.h"
#include "suite.h"

#include <string.h>

/* Messages over the fabric: a stranger's are told from those of the job. */

static uint8_t own[PING_KEY], other[PING_KEY], message[PING_BYTES];
static uint64_t nonce;

BEFORE_EACH
{
    for (int i = 0; i < PING_KEY; i++) {
        own[i] = (uint8_t) i;
        other[i] = (uint8_t) (i + 1);
    }
}

TEST_CASES(who_has_the_key_is_known, 3)
{
    enum ping_kind kind = (enum ping_kind) _i;

    ping_write(kind, own, 4711, message);
    ck_assert(ping_read(kind, own, message, PING_BYTES, &nonce));
    ck_assert_uint_eq(nonce, 4711);
    for (int k = 0; k < 3; k++)
        ck_assert(k == _i || !ping_read((enum ping_kind) k, own, message, PING_BYTES, &nonce));
}

/* It is told so, by its nonce. */
TEST_CASE(a_stranger_is_not)
{
    ping_write(PING_ASK, other, 4711, message);
    ck_assert(!ping_read(PING_ASK, own, message, PING_BYTES, &nonce));
    ck_assert_uint_eq(nonce, 4711);
    ping_write(PING_ECHO, other, 4711, message);
    ck_assert(!ping_read(PING_ECHO, own, message, PING_BYTES, &nonce));
}

/* What was asked with is not what is answered with. */
TEST_CASE(a_question_that_comes_back_is_no_answer)
{
    ping_write(PING_ASK, own, 4711, message);
    message[7] = PING_ECHO;
    ck_assert(!ping_read(PING_ECHO, own, message, PING_BYTES, &nonce));
}

TEST_CASE(what_is_no_message_has_no_nonce)
{
    ping_write(PING_ASK, own, 4711, message);
    ck_assert(!ping_read(PING_ASK, own, message, PING_BYTES - 1, &nonce));
    ck_assert_uint_eq(nonce, 0);
    ck_assert(!ping_read(PING_ASK, own, message, 0, &nonce));
    message[0] ^= 1;
    ck_assert(!ping_read(PING_ASK, own, message, PING_BYTES, &nonce));
    ck_assert_uint_eq(nonce, 0);
}

TEST_CASE(bytes_are_the_same_after_their_text)
{
    uint8_t back[PING_KEY];
    char text[2 * PING_KEY + 1];

    ping_hex(own, PING_KEY, text);
    ck_assert_uint_eq(ping_unhex(text, back, sizeof(back)), PING_KEY);
    ck_assert_mem_eq(own, back, PING_KEY);
}

/* Of any length. */
TEST_CASES(a_message_has_the_address_of_the_asker, PING_ADDRESS + 1)
{
    uint8_t address[PING_ADDRESS], back[PING_ADDRESS];

    memset(address, _i ^ 0x33, sizeof(address));
    ping_write(PING_ASK, own, 7, message);
    ping_put_address(message, address, (size_t) _i);
    ck_assert(ping_read(PING_ASK, own, message, PING_BYTES, &nonce));
    ck_assert_uint_eq(ping_address(message, back), (size_t) _i);
    ck_assert_mem_eq(address, back, (size_t) _i);
}

static const char *const texts[] = {"", "0", "0g", "0G", "g0", "001", "00 1", "0011223344"};

TEST_CASES(a_text_that_is_none_has_no_bytes, (int) (sizeof(texts) / sizeof(texts[0])))
{
    uint8_t back[4];

    ck_assert_uint_eq(ping_unhex(texts[_i], back, sizeof(back)), 0);
}

TEST_CASE(of_an_environment_it_gets_what_the_libraries_read)
{
    char text[] = "PATH=/bin\0UCX_TLS=tcp\0SECRET=UCX_x\0\0UCX_NONE\0HOMER=x\0HOME=/home/u\0UCX_A=\0FI_X=y\0XFI_=1", *at;

    at = ping_variable(text, sizeof(text) - 1, text);
    ck_assert_str_eq(at, "UCX_TLS=tcp");
    at = ping_variable(text, sizeof(text) - 1, at + strlen(at) + 1);
    ck_assert_str_eq(at, "HOME=/home/u");
    at = ping_variable(text, sizeof(text) - 1, at + strlen(at) + 1);
    ck_assert_str_eq(at, "UCX_A=");
    at = ping_variable(text, sizeof(text) - 1, at + strlen(at) + 1);
    ck_assert_str_eq(at, "FI_X=y");
    ck_assert_ptr_null(ping_variable(text, sizeof(text) - 1, at + strlen(at) + 1));
    ck_assert_ptr_null(ping_variable(text, 0, text));
}
