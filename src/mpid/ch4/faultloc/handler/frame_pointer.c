/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include <string.h>

/*
 * Of a thread that waits the kernel tells two registers.  Call frame information finds the caller
 * of a function that keeps its frame by the stack pointer from these; of one that keeps it by the
 * frame pointer (code that is not optimized, and arrays of variable length) it needs that, too.
 * Then the stack has, from the frame pointer on,
 *
 *     the caller's frame pointer, the address to return to, which is behind a call of this function
 *
 * and begins at a multiple of 16.  Where the beginning of the function tells how large its frame is, its
 * place is known.  Else it is searched for.  The function's own variables may have what is left of
 * earlier calls, so a place counts only if its call is seen to be of this function, and if there is
 * no other: no frame is better than a wrong one.
 * Source: System V ABI, AMD64, 3.2.2; Intel's manual, volume 2, for the instructions.
 */

#define CODE_BYTES 64
#define SEARCH_BYTES 65536
#define WORD 8

struct search {
    handler_read *read;
    void *ctx;
    uint64_t start;
};

static bool read_word(const struct search *s, uint64_t at, uint64_t *word)
{
    return s->read(s->ctx, at, word, sizeof(*word)) == sizeof(*word);
}

/* ---- the beginning of a function ------------------------------------------------------------- */

static bool skip(const uint8_t **at, const uint8_t *end, const void *bytes, size_t len)
{
    if ((size_t) (end - *at) < len || memcmp(*at, bytes, len))
        return false;
    *at += len;
    return true;
}

/* push %rbx, or %r12 to %r15 */
static bool skip_push(const uint8_t **at, const uint8_t *end)
{
    if (skip(at, end, "\x53", 1))
        return true;
    if (end - *at < 2 || (*at)[0] != 0x41 || (*at)[1] < 0x54 || (*at)[1] > 0x57)
        return false;
    *at += 2;
    return true;
}

static uint32_t number(const uint8_t *at)
{
    uint32_t n;

    memcpy(&n, at, sizeof(n));
    return n;
}

/* sub $n,%rsp */
static bool skip_sub(const uint8_t **at, const uint8_t *end, int64_t *size)
{
    if (end - *at >= 4 && skip(at, end, "\x48\x83\xec", 3)) {
        *size += *(*at)++;
        return true;
    }
    if (end - *at < 7 || !skip(at, end, "\x48\x81\xec", 3))
        return false;
    *size += number(*at);
    *at += 4;
    return true;
}

/* gcc's -fstack-clash-protection touches each page of a large frame: lea -n(%rsp),%r11, and a loop of
 * sub $4096,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne; or without a loop the first two so often. */
static void skip_touches(const uint8_t **at, const uint8_t *end, int64_t *size)
{
    static const char loop[] = "\x48\x81\xec\x00\x10\x00\x00\x48\x83\x0c\x24\x00\x4c\x39\xdc\x75\xef";

    if (end - *at >= 8 && skip(at, end, "\x4c\x8d\x9c\x24", 4)) {
        *size -= (int32_t) number(*at);
        *at += 4;
        skip(at, end, loop, sizeof(loop) - 1);
    }
    while (skip_sub(at, end, size) && skip(at, end, "\x48\x83\x0c\x24\x00", 5))
        ;
}

/* endbr64; push %rbp; mov %rsp,%rbp; push of others; sub $n,%rsp.  How far the stack pointer is below the
 * frame pointer then; -1: it begins otherwise. */
static int64_t frame_size(const uint8_t *at, const uint8_t *end)
{
    int64_t size = 0;

    skip(&at, end, "\xf3\x0f\x1e\xfa", 4);
    if (!skip(&at, end, "\x55\x48\x89\xe5", 4))
        return -1;
    while (skip_push(&at, end))
        size += WORD;
    skip_touches(&at, end, &size);
    return size;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static uint64_t relative(uint64_t behind, const uint8_t *at)
{
    return behind + (uint64_t) (int64_t) (int32_t) number(at);
}

/* The function is where the word at `at` says: of a table of addresses of other modules. */
static bool is_in_table(const struct search *s, uint64_t at)
{
    uint64_t word;

    return read_word(s, at, &word) && word == s->start;
}

/* A stub of the procedure linkage table: endbr64; bnd; jmp *n(%rip), of which the first two may be
 * missing. */
static bool is_stub(const struct search *s, uint64_t at)
{
    uint8_t code[11] = {0};
    const uint8_t *p = code, *end = code + s->read(s->ctx, at, code, sizeof(code));

    skip(&p, end, "\xf3\x0f\x1e\xfa", 4);
    skip(&p, end, "\xf2", 1);
    return skip(&p, end, "\xff\x25", 2) && end - p >= 4 &&
           is_in_table(s, relative(at + (uint64_t) (p - code) + 4, p));
}

/* call *%reg, *n(%reg) and the like: ff, and a byte whose bits 3 to 5 are 2. */
static bool is_indirect(const uint8_t code[7])
{
    for (int len = 2; len <= 7; len++)
        if (code[7 - len] == 0xff && (code[8 - len] & 0x38) == 0x10)
            return true;
    return false;
}

/* The instruction before `to` calls the function; by a pointer: some function, which is enough where
 * the place is known. */
static bool is_behind_call(const struct search *s, uint64_t to, bool place_is_known)
{
    uint8_t code[7];
    uint64_t target;

    if (to < sizeof(code) || s->read(s->ctx, to - sizeof(code), code, sizeof(code)) != sizeof(code))
        return false;
    if (code[2] == 0xe8) {
        target = relative(to, code + 3);
        return target == s->start || is_stub(s, target);
    }
    if (code[1] == 0xff && code[2] == 0x15)
        return is_in_table(s, relative(to, code + 3));
    return place_is_known && is_indirect(code);
}

static bool is_frame(const struct search *s, uint64_t at, bool place_is_known)
{
    uint64_t to;

    return at % 16 == 0 && read_word(s, at + WORD, &to) && is_behind_call(s, to, place_is_known);
}

uint64_t handler_frame_pointer(handler_read *read, void *ctx, uint64_t start, uint64_t sp)
{
    const struct search s = {.read = read, .ctx = ctx, .start = start};
    uint8_t code[CODE_BYTES];
    int64_t size = frame_size(code, code + read(ctx, start, code, sizeof(code)));
    uint64_t found = 0;

    if (size >= 0 && is_frame(&s, sp + (uint64_t) size, true))
        return sp + (uint64_t) size;
    for (uint64_t at = (sp + 15) / 16 * 16; at < sp + SEARCH_BYTES; at += 16)
        if (is_frame(&s, at, false)) {
            if (found)
                return 0;
            found = at;
        }
    return found;
}
