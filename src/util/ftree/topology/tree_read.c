/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

#include <stdio.h>
#include <strings.h>

/*
 * Slurm's topology.conf(5):
 *
 *     # two switches and one above them
 *     SwitchName=leaf1 Nodes=c[01-16]
 *     SwitchName=leaf2 Nodes=c[17-32]
 *     SwitchName=spine Switches=leaf[1-2] LinkSpeed=100
 *
 * A statement is a logical line: a backslash at the end of a line joins the next one to it.
 */

enum key {
    KEY_SWITCH_NAME,
    KEY_NODES,
    KEY_SWITCHES,
    KEY_LINK_SPEED, /* Slurm itself ignores it, too */
    KEY_COUNT
};
static const char *const key_name[] = {"SwitchName", "Nodes", "Switches", "LinkSpeed"};

struct switch_ {
    bool is_described;
    size_t described, named; /* where in the text: in its own line, in that of the switch above */
    int32_t parent;
};

struct reader {
    const char *text;
    size_t len;
    struct ftree_tree_error *e;
    int64_t most; /* names that hostlists may still have */

    size_t next; /* where the next statement begins in text */
    char *line; /* the present one without comment and joints */
    size_t *place; /* [line_len + 1]: where its characters are in text */
    size_t line_len;

    struct names nodes, switches;
    int32_t *node_switch; /* [nodes.n] */
    struct switch_ *sw; /* [switches.n] */
    int32_t node_room, switch_room;
};

/* A piece of the present statement. */
struct span {
    size_t at, len; /* len 0: not there */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next character of a statement, FTREE_NONE at its end.  *at moves on. */
static int next_char(const struct reader *r, size_t *at)
{
    size_t p;

    while (*at < r->len && r->text[*at] == '\\') {
        for (p = *at + 1; p < r->len && is_blank(r->text[p]); p++)
            ;
        if (p < r->len && r->text[p] != '\n')
            break; /* no joint, and no part of a name either */
        *at = p < r->len ? p + 1 : p;
    }
    if (*at == r->len || r->text[*at] == '\n' || r->text[*at] == '#')
        return FTREE_NONE;
    return (unsigned char) r->text[(*at)++];
}

/* Looked up where something is wrong only: it takes the way through the whole text. */
static int line_of(const struct reader *r, size_t place, int *column)
{
    size_t begin = 0;
    int line = 1;

    for (size_t i = 0; i < place; i++)
        if (r->text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    *column = (int) (place - begin) + 1;
    return line;
}

static int wrong(const struct reader *r, size_t place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(const struct reader *r, size_t place, const char *format, ...)
{
    char text[sizeof(r->e->text)];
    va_list args;
    int column, line = line_of(r, place, &column);

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return ftree_tree_wrong(r->e, line, column, "%s", text);
}

/* Something is wrong with what begins at character i of the present statement. */
#define WRONG(r, i, ...) wrong(r, (r)->place[i], __VA_ARGS__)

static int load_line(struct reader *r)
{
    size_t at = r->next;
    int c;

    r->line_len = 0;
    while ((c = next_char(r, &at)) >= 0) {
        r->place[r->line_len] = at - 1;
        r->line[r->line_len++] = (char) c;
    }
    r->place[r->line_len] = at;
    while (at < r->len && r->text[at] != '\n')
        at++; /* the comment */
    r->next = at + (at < r->len);
    for (size_t i = 0; i < r->line_len; i++)
        if (!is_blank(r->line[i]) && (r->line[i] < ' ' || r->line[i] > '~'))
            return WRONG(r, i, "byte 0x%02x is not printable ASCII", (unsigned char) r->line[i]);
    return FTREE_OK;
}

/* ---- statements ------------------------------------------------------------------------------ */

static size_t skip_blanks(const struct reader *r, size_t i)
{
    while (i < r->line_len && is_blank(r->line[i]))
        i++;
    return i;
}

static int read_key(struct reader *r, size_t *i, enum key *key)
{
    size_t begin = *i;

    while (*i < r->line_len && !is_blank(r->line[*i]) && r->line[*i] != '=')
        (*i)++;
    for (*key = 0; *key < KEY_COUNT; (*key)++)
        if (strlen(key_name[*key]) == *i - begin &&
            !strncasecmp(key_name[*key], r->line + begin, *i - begin))
            return FTREE_OK;
    return WRONG(r, begin,
                 "'%.*s' is not known here; a line is SwitchName=NAME with Nodes=LIST or "
                 "Switches=LIST",
                 (int) (*i - begin < 40 ? *i - begin : 40), r->line + begin);
}

/* What stands after '=': in quotes, or up to the next blank. */
static int read_value(struct reader *r, size_t *i, enum key key, struct span *value)
{
    bool quoted = *i < r->line_len && r->line[*i] == '"';

    *i += quoted;
    value->at = *i;
    while (*i < r->line_len && (quoted ? r->line[*i] != '"' : !is_blank(r->line[*i])))
        (*i)++;
    value->len = *i - value->at;
    if (quoted && *i == r->line_len)
        return WRONG(r, value->at - 1, "a '\"' without a second one");
    *i += quoted;
    if (value->len == 0)
        return WRONG(r, value->at - quoted, "a value is expected after %s=", key_name[key]);
    for (size_t k = value->at; k < value->at + value->len; k++)
        if (is_blank(r->line[k]) || strchr("=\"\\", r->line[k]))
            return WRONG(r, k, "'%c' does not belong into a name", r->line[k]);
    return FTREE_OK;
}

static int read_pair(struct reader *r, size_t *i, struct span *value)
{
    size_t begin = *i;
    enum key key;
    int rc = read_key(r, i, &key);

    if (rc)
        return rc;
    *i = skip_blanks(r, *i);
    if (*i == r->line_len || r->line[*i] != '=')
        return WRONG(r, *i, "'=' is expected after %s", key_name[key]);
    *i = skip_blanks(r, *i + 1);
    if (value[key].len)
        return WRONG(r, begin, "%s= twice in one line", key_name[key]);
    if (key != KEY_SWITCH_NAME && value[KEY_SWITCH_NAME].len == 0)
        return WRONG(r, begin, "a line begins with SwitchName=");
    return read_value(r, i, key, &value[key]);
}

/* ---- what they say --------------------------------------------------------------------------- */

/* Room for one more of `size` bytes behind n of them. */
static bool make_room(void **items, int32_t n, int32_t *room, size_t size)
{
    int32_t more = *room ? 2 * *room : 64;
    void *p;

    if (n < *room)
        return true;
    p = realloc(*items, (size_t) more * size);
    if (!p)
        return false;
    *items = p;
    *room = more;
    return true;
}

/* The number of a switch, which is new here or was named before; FTREE_NONE: out of memory. */
static int32_t intern_switch(struct reader *r, const char *name, size_t len)
{
    int32_t i = names_find(&r->switches, name, len);

    if (i >= 0)
        return i;
    if (!make_room((void **) &r->sw, r->switches.n, &r->switch_room, sizeof(*r->sw)))
        return FTREE_NONE;
    i = names_add(&r->switches, name, len);
    if (i >= 0)
        r->sw[i] = (struct switch_){.parent = FTREE_NONE};
    return i;
}

/* The statement's list of names is being read. */
struct listing {
    struct reader *r;
    size_t at; /* of the list, in the statement */
    int32_t switch_;
};

static int add_node(void *ctx, const char *name, size_t len, size_t at)
{
    const struct listing *l = ctx;
    struct reader *r = l->r;
    int32_t i = names_find(&r->nodes, name, len);
    int column;

    if (i >= 0 && r->node_switch[i] == l->switch_)
        return WRONG(r, l->at + at, "node %.*s twice behind one switch", (int) len, name);
    if (i >= 0)
        return WRONG(r, l->at + at, "node %.*s is behind switch %.60s (line %d) already", (int) len,
                     name, names_text(&r->switches, r->node_switch[i]),
                     line_of(r, r->sw[r->node_switch[i]].described, &column));
    if (!make_room((void **) &r->node_switch, r->nodes.n, &r->node_room, sizeof(*r->node_switch)))
        return FTREE_ERR_NOMEM;
    i = names_add(&r->nodes, name, len);
    if (i < 0)
        return FTREE_ERR_NOMEM;
    r->node_switch[i] = l->switch_;
    return FTREE_OK;
}

static int add_switch(void *ctx, const char *name, size_t len, size_t at)
{
    const struct listing *l = ctx;
    struct reader *r = l->r;
    int32_t i = intern_switch(r, name, len);
    int column;

    if (i < 0)
        return FTREE_ERR_NOMEM;
    if (r->sw[i].parent == l->switch_)
        return WRONG(r, l->at + at, "switch %.*s twice below one switch", (int) len, name);
    if (r->sw[i].parent >= 0)
        return WRONG(r, l->at + at, "switch %.*s is below switch %.60s (line %d) already",
                     (int) len, name, names_text(&r->switches, r->sw[i].parent),
                     line_of(r, r->sw[i].named, &column));
    r->sw[i].parent = l->switch_;
    r->sw[i].named = r->place[l->at + at];
    return FTREE_OK;
}

static int read_list(struct reader *r, const struct span *value, int32_t switch_,
                     hostlist_each_fn each)
{
    struct listing l = {.r = r, .at = value->at, .switch_ = switch_};
    struct hostlist_error e = {0};
    int rc = ftree_hostlist_each(r->line + value->at, value->len, &r->most, each, &l, &e);

    if (rc == FTREE_ERR_INVALID && e.text[0])
        return WRONG(r, value->at + e.at, "%s", e.text);
    return rc;
}

static int describe_switch(struct reader *r, const struct span *value)
{
    const struct span *name = &value[KEY_SWITCH_NAME];
    const char *text = r->line + name->at;
    bool leaf = value[KEY_NODES].len != 0;
    int column;
    int32_t i;

    if (name->len > TREE_NAME_MAX)
        return WRONG(r, name->at, "a name of more than %d characters", TREE_NAME_MAX);
    for (size_t k = 0; k < name->len; k++)
        if (strchr("[],", text[k]))
            return WRONG(r, name->at + k, "'%c' in a SwitchName: a line describes one switch",
                         text[k]);
    if (leaf == (value[KEY_SWITCHES].len != 0))
        return WRONG(r, name->at, "switch %.*s has %s; one of them is needed", (int) name->len,
                     text, leaf ? "both Nodes= and Switches=" : "neither Nodes= nor Switches=");
    i = intern_switch(r, text, name->len);
    if (i < 0)
        return FTREE_ERR_NOMEM;
    if (r->sw[i].is_described)
        return WRONG(r, name->at, "switch %.*s is described in line %d already", (int) name->len,
                     text, line_of(r, r->sw[i].described, &column));
    r->sw[i].is_described = true;
    r->sw[i].described = r->place[name->at];
    return leaf ? read_list(r, &value[KEY_NODES], i, add_node)
                : read_list(r, &value[KEY_SWITCHES], i, add_switch);
}

static int read_statement(struct reader *r)
{
    struct span value[KEY_COUNT] = {{0}};
    size_t i = skip_blanks(r, 0);
    int rc = FTREE_OK;

    if (i == r->line_len)
        return FTREE_OK;
    while (!rc && i < r->line_len) {
        rc = read_pair(r, &i, value);
        i = skip_blanks(r, i);
    }
    return rc ? rc : describe_switch(r, value);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* About a switch that is below another. */
static int wrong_switch(const struct reader *r, int32_t i, const char *what)
{
    return wrong(r, r->sw[i].named, "switch %.100s %s", names_text(&r->switches, i), what);
}

/* Follows the switches upward from i: within the bound, or in a cycle? */
static int check_above(const struct reader *r, int32_t i)
{
    int32_t s = i;

    for (int n = 0; s >= 0 && n < TREE_DEPTH_MAX; n++)
        s = r->sw[s].parent;
    if (s < 0)
        return FTREE_OK;
    /* after as many steps as there are switches, who is still not at the top is in a cycle */
    for (int32_t n = 0; s >= 0 && n < r->switches.n; n++)
        s = r->sw[s].parent;
    if (s >= 0)
        return wrong_switch(r, s, "is below itself");
    return wrong_switch(r, i, "has more than 64 switches above it");
}
_Static_assert(TREE_DEPTH_MAX == 64, "said in words above");

static int check_switches(const struct reader *r)
{
    int rc = FTREE_OK;

    if (r->switches.n == 0)
        return ftree_tree_wrong(r->e, 0, 0, "no line SwitchName=... in it");
    for (int32_t i = 0; !rc && i < r->switches.n; i++)
        if (!r->sw[i].is_described)
            rc = wrong_switch(r, i, "is named here but described nowhere");
    for (int32_t i = 0; !rc && i < r->switches.n; i++)
        rc = check_above(r, i);
    return rc;
}

static int read_all(struct reader *r)
{
    int rc = FTREE_OK;

    while (!rc && r->next < r->len) {
        rc = load_line(r);
        if (!rc)
            rc = read_statement(r);
    }
    return rc ? rc : check_switches(r);
}

static int make_tree(const struct reader *r, const char *const *name, int32_t nodes, int32_t fanout,
                     struct ftree_tree **out, int32_t *order)
{
    struct tree_shape shape = {
        .nodes = nodes, .switches = r->switches.n, .switch_name = &r->switches};
    int rc = FTREE_ERR_NOMEM;

    shape.node_switch = malloc((size_t) nodes * sizeof(int32_t));
    shape.switch_parent = malloc((size_t) shape.switches * sizeof(int32_t));
    if (shape.node_switch && shape.switch_parent) {
        for (int32_t i = 0; i < shape.switches; i++)
            shape.switch_parent[i] = r->sw[i].parent;
        rc = ftree_tree_match(&r->nodes, r->node_switch, name, nodes, shape.node_switch, r->e);
        if (!rc)
            rc = ftree_tree_build(&shape, fanout, out, order);
    }
    free(shape.node_switch);
    free(shape.switch_parent);
    return rc;
}

int ftree_tree_read_most(const char *text, size_t len, int64_t most, const char *const *name,
                         int32_t nodes, int32_t fanout, struct ftree_tree **out, int32_t *order,
                         struct ftree_tree_error *e)
{
    struct reader r = {.text = text, .len = len, .e = e, .most = most};
    int rc = FTREE_ERR_NOMEM;

    *out = NULL;
    *e = (struct ftree_tree_error){0};
    if (nodes < 1 || fanout < 1)
        return ftree_tree_wrong(e, 0, 0, "a job of %d nodes, a fan-out of %d", (int) nodes,
                                (int) fanout);
    r.line = malloc(len + 1);
    r.place = malloc((len + 1) * sizeof(*r.place));
    if (r.line && r.place)
        rc = read_all(&r);
    if (!rc)
        rc = make_tree(&r, name, nodes, fanout, out, order);
    names_free(&r.nodes);
    names_free(&r.switches);
    free(r.node_switch);
    free(r.sw);
    free(r.line);
    free(r.place);
    return rc;
}

int ftree_tree_read(const char *text, size_t len, const char *const *name, int32_t nodes,
                    int32_t fanout, struct ftree_tree **out, int32_t *order,
                    struct ftree_tree_error *e)
{
    return ftree_tree_read_most(text, len, TREE_NAMES_MAX, name, nodes, fanout, out, order, e);
}
