/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/query.h"
#include "ftree/wire/codec.h"

#include <stdio.h>
#include <string.h>

/* What a person has set while the job runs, as it travels: see struct ftree_setting. */

static void code_setting(struct wire_codec *c, struct ftree_setting *s)
{
    WIRE_NUMBER(c, s->version, 8, 0);
    WIRE_NUMBER(c, s->uid, 4, 0);
    WIRE_NUMBER(c, s->changed, 1, FTREE_SET_ALL + 1);
    WIRE_NUMBER(c, s->has, 1, FTREE_SET_ALL + 1);
    WIRE_NUMBER(c, s->abort, 1, 2);
    WIRE_NUMBER(c, s->stall_ms, 4, FTREE_STALL_MS_MAX + 1);
    WIRE_NUMBER(c, s->rules_len, 4, FTREE_SET_RULES_MAX + 1);
}

size_t ftree_setting_encode(const struct ftree_setting *s, void *buf)
{
    struct wire_codec c = {.p = buf};
    struct ftree_setting copy = *s;

    code_setting(&c, &copy);
    if (s->rules_len > 0)
        memcpy(c.p + c.at, s->rules, s->rules_len);
    return c.at + s->rules_len;
}

int ftree_setting_decode(const void *bytes, size_t len, struct ftree_setting *s)
{
    struct wire_codec c = {.reads = true, .p = (uint8_t *) bytes, .len = len};

    memset(s, 0, sizeof(*s));
    code_setting(&c, s);
    if (c.bad || len - c.at != s->rules_len || (s->changed & ~s->has) || !s->changed ||
        ((s->has & FTREE_SET_STALL) && s->stall_ms < FTREE_STALL_MS_MIN) ||
        (!(s->has & FTREE_SET_RULES) && s->rules_len > 0))
        return FTREE_ERR_MALFORMED;
    s->rules = s->rules_len > 0 ? (const char *) bytes + c.at : NULL;
    return FTREE_OK;
}

int ftree_setting_check(const struct ftree_setting *s, char *why, size_t room)
{
    struct ftree_rules_error e;
    struct ftree_rules *base = NULL;
    int rc = FTREE_OK;

    if (s->rules_len > 0)
        rc = ftree_rules_read(s->rules, s->rules_len, &base, &e);
    ftree_rules_free(base);
    if (rc == FTREE_ERR_INVALID && e.line > 0)
        snprintf(why, room, "rules: line %d, column %d: %s", e.line, e.column, e.text);
    else if (rc == FTREE_ERR_INVALID)
        snprintf(why, room, "rules: %s", e.text);
    else if (rc)
        snprintf(why, room, "rules: %s", ftree_strerror(rc));
    return rc;
}

void ftree_setting_merge(struct ftree_setting *s, const struct ftree_setting *before)
{
    uint8_t kept = before->has & (uint8_t) ~s->changed;

    s->has = s->changed | before->has;
    if (kept & FTREE_SET_ACTION)
        s->abort = before->abort;
    if (kept & FTREE_SET_STALL)
        s->stall_ms = before->stall_ms;
    if (kept & FTREE_SET_RULES) {
        s->rules = before->rules;
        s->rules_len = before->rules_len;
    }
}
