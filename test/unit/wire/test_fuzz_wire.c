/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "corpus.h"
#include "suite.h"

#include "fuzz_wire.c"


/*
 * The harness of fuzz_wire.c without a fuzzer: 1,000,000 messages, each valid at first and then
 * changed at random, from a fixed seed, in stories of 40.  In ten cases, so that one that fails
 * is near.
 */

#define CASES 10
#define STORIES 2500
#define RECORDS 40
#define STORY_MAX (1 + RECORDS * (3 + FTREE_MESSAGE_MAX))

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) ((state >> 33) % below);
}

static size_t some_message(uint8_t buf[FTREE_MESSAGE_MAX])
{
    static int messages;
    struct wire_message m;

    while (messages_make(messages, 0, &m))
        messages++;
    messages_make((int) draw((uint32_t) messages), 1000 * FTREE_MS, &m);
    return ftree_wire_encode(&m, 1000 * FTREE_MS, buf);
}

/* Values on both sides of every limit there is. */
static void odd_value(uint8_t *buf, size_t len)
{
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      MESSAGES_NODES - 1,
                                      MESSAGES_NODES,
                                      MESSAGES_SIZE - 1,
                                      MESSAGES_SIZE,
                                      FTREE_RANGES_MAX,
                                      FTREE_RANGES_MAX + 1,
                                      1000,
                                      1001,
                                      4095,
                                      4096,
                                      INT32_MAX,
                                      0x80000000,
                                      UINT32_MAX,
                                      UINT32_MAX - 1,
                                      UINT64_MAX};
    size_t bytes = (size_t) 1 << draw(4), at = WIRE_HEADER + draw((uint32_t) len);
    uint64_t value = values[draw(COUNT(values))];

    for (size_t i = 0; i < bytes && at + i < len; i++)
        buf[at + i] = (uint8_t) (value >> (8 * i));
}

static size_t change(uint8_t buf[FTREE_MESSAGE_MAX], size_t len)
{
    uint8_t other[FTREE_MESSAGE_MAX];
    size_t cut, other_len;

    switch (draw(8)) {
        case 0:
        case 1: /* as it is */
            return len;
        case 2:
        case 3: /* some bytes */
            for (uint32_t n = 1 + draw(4); n > 0; n--)
                buf[draw((uint32_t) len)] = (uint8_t) draw(256);
            return len;
        case 4: /* a field */
        case 5:
            odd_value(buf, len);
            return len;
        case 6: /* shorter or longer */
            cut = draw(FTREE_MESSAGE_MAX);
            return draw(2) && cut > len ? cut : draw((uint32_t) len + 1);
        default: /* the head of one, the rest of another */
            other_len = some_message(other);
            cut = draw((uint32_t) (len < other_len ? len : other_len));
            memcpy(buf + cut, other + cut, other_len - cut);
            return other_len;
    }
}

static size_t put_record(uint8_t *p, uint8_t control, const uint8_t *bytes, size_t len)
{
    p[0] = control;
    p[1] = (uint8_t) len;
    p[2] = (uint8_t) (len >> 8);
    memcpy(p + 3, bytes, len);
    return 3 + len;
}

static size_t some_record(uint8_t *p)
{
    uint8_t buf[FTREE_MESSAGE_MAX] = {0};
    uint8_t control = (uint8_t) draw(256);

    if ((control & 0x80) && draw(4)) /* mostly messages */
        control &= 0x7f;
    if (draw(3)) /* mostly soon */
        control &= 0x8f;
    if (control & 0x80) {
        buf[0] = (uint8_t) draw(256);
        buf[1] = (uint8_t) draw(256);
        return put_record(p, control, buf, 2);
    }
    return put_record(p, control, buf, change(buf, some_message(buf)));
}

TEST_CASES(changed_messages_do_no_harm, CASES)
{
    static uint8_t story[STORY_MAX];

    state = 20260131u + (uint64_t) _i;
    for (int n = 0; n < STORIES; n++) {
        size_t len = 1;
        story[0] = (uint8_t) draw(256);
        for (int i = 0; i < RECORDS; i++)
            len += some_record(story + len);
        LLVMFuzzerTestOneInput(story, len);
    }
}

TEST_CASE(odd_stories_do_no_harm)
{
    static const uint8_t bytes[] = {3, 0, 0, 0, 0x81, 2, 0, 4, 77, 0x7f, 0xff, 0xff, 1, 2};

    LLVMFuzzerTestOneInput(NULL, 0);
    for (size_t len = 1; len <= sizeof(bytes); len++)
        LLVMFuzzerTestOneInput(bytes, len);
}

/* ---- seeds for a fuzzer ---------------------------------------------------------------------- */

/* One file for each message that messages_make() knows. */
static bool write_corpus(const char *dir)
{
    uint8_t story[STORY_MAX] = {1}, buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    char name[32];
    bool ok = true;

    for (int i = 0; ok && messages_make(i, 1000 * FTREE_MS, &m); i++) {
        size_t len = ftree_wire_encode(&m, 1000 * FTREE_MS, buf);
        snprintf(name, sizeof(name), "message-%02d", i);
        ok = corpus_put(dir, name, story, 1 + put_record(story + 1, 0, buf, len));
    }
    return ok;
}

int main(int argc, char **argv)
{
    return corpus_main(argc, argv, write_corpus);
}
