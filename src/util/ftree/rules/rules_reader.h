/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef RULES_READER_H_INCLUDED
#define RULES_READER_H_INCLUDED

#include "ftree/rules/rules.h"
#include "ftree/rules/rules_place.h"

#include <json.h>

#pragma GCC visibility push(hidden)

/*
 * What the files that read a rule base share.
 *
 *     rules_place.c        the text: is it JSON, and where is what
 *     rules_reader.c       one value: of the right type, in range, a name that exists
 *     rules_read.c         the document becomes tables: strategies, rules,
 *     rules_read_model.c   and models with their signs
 *     rules_check.c        do the tables fit together
 *
 * Only the first error is kept; after it the functions below do nothing, so that callers need not
 * ask after each step, only before they rely on what was read.
 */
struct rules_reader {
    const char *text; /* the file as it is, for places */
    size_t len;
    struct rules_path path; /* where the reader is */
    struct ftree_rules *rules;
    struct ftree_rules_error *e;
    bool failed;
    const char *const *keys; /* that the object being read may have */
    int fact; /* whose values RULES_WORD_VALUE names */
    struct json_object *thresholds; /* of the model being read, NULL: none */
    uint64_t thresholds_used; /* bit i: the i-th */
};

/* Purpose: the error, at the value that the path leads to, or with `at_key` at its key.  The text
 * is put behind the path. */
void rules_fail(struct rules_reader *r, bool at_key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Purpose: if the object has the key, steps down to it: *v, which may be NULL for null, and true;
 * the caller leaves it by rules_path_leave(). */
bool rules_enter(struct rules_reader *r, struct json_object *object, const char *key,
                 struct json_object **v);

/* Purpose: as rules_enter(), for a member that must be of the type. */
bool rules_enter_type(struct rules_reader *r, struct json_object *object, const char *key,
                      enum json_type type, bool required, struct json_object **v);

/* What follows is done if that was entered, which is then left. */
#define RULES_IN(r, entered) \
    for (bool in_ = (entered); in_; in_ = (rules_path_leave(&(r)->path), false))

/* Purpose: true if the value is of the type; an error if not. */
bool rules_is(struct rules_reader *r, struct json_object *v, enum json_type type);

/* Purpose: steps down to the list that a member must be, with at most `max` elements; NULL: there
 * is none, or an error (it is `required`, then also not empty).  rules_next() leaves it. */
struct json_object *rules_enter_list(struct rules_reader *r, struct json_object *object,
                                     const char *key, int max, bool required);

/* Purpose: goes through a list (NULL: none) that the path leads to: steps down to its i-th element,
 * *v, and before that leaves the one before; at last the list.  False: that was all, or an
 * error. */
bool rules_next(struct rules_reader *r, struct json_object *list, size_t i,
                struct json_object **v);

/* Purpose: an error if the object, which must be one, has a key that is not in the list, which ends
 * with NULL. */
bool rules_check_keys(struct rules_reader *r, struct json_object *object, const char *const *keys);

/* What names are of, in words, and the i-th of reader r; "?" or NULL: there is none. */
#define RULES_WORDS(X) \
    X(RULES_WORD_SYMPTOM, "symptom", ftree_symptom_info(i)->name) \
    X(RULES_WORD_CLASS, "class", ftree_class_name(i)) \
    X(RULES_WORD_KIND, "kind of component", ftree_kind_name(i)) \
    X(RULES_WORD_ORIGIN, "origin", ftree_origin_name(i)) \
    X(RULES_WORD_SEVERITY, "severity", ftree_severity_name(i)) \
    X(RULES_WORD_RELATION, "relation", ftree_rules_relation_name(i)) \
    X(RULES_WORD_ASK, "probe", ftree_rules_ask_name(i)) \
    X(RULES_WORD_WHOM, "role", ftree_rules_whom_name(i)) \
    X(RULES_WORD_OVER, "path", ftree_rules_over_name(i)) \
    X(RULES_WORD_FROM, "place", ftree_rules_from_name(i)) \
    X(RULES_WORD_IF, "condition", ftree_rules_if_name(i)) \
    X(RULES_WORD_FACT, "fact", \
      i < RULES_FACT_COUNT ? ftree_rules_fact_name(i) \
                           : ftree_rules_number_name(i - RULES_FACT_COUNT)) \
    X(RULES_WORD_VALUE, "value", ftree_rules_value_name(r->fact, i)) \
    X(RULES_WORD_MODEL, "model", i < r->rules->models ? r->rules->model[i].name : NULL) \
    X(RULES_WORD_STRATEGY, "strategy", \
      i < r->rules->strategies ? r->rules->strategy[i].name : NULL) \
    X(RULES_WORD_THRESHOLD, "threshold", threshold_at(r, i)) \
    X(RULES_WORD_ERRNO, "errno", ftree_errno_at(i, &(int){0})) \
    X(RULES_WORD_KEY, "key", r->keys[i])

enum rules_word { RULES_WORDS(FTREE_ENUM) };

/* Purpose: the number of a name, -1 and an error (with the nearest name there is) if it is none. */
int rules_number_of(struct rules_reader *r, const char *name, enum rules_word of, bool at_key);

/* Purpose: as rules_number_of(), of a member, which may be missing (`otherwise`). */
int rules_get_name_of(struct rules_reader *r, struct json_object *object, const char *key,
                      enum rules_word of, int otherwise);

/* Purpose: the set of the names in a value, which is one name or a list of them. */
uint64_t rules_set_in(struct rules_reader *r, struct json_object *v, enum rules_word of);
uint64_t rules_get_set(struct rules_reader *r, struct json_object *object, const char *key,
                       enum rules_word of);

/* Purpose: the errno that a value names, by name or number. */
int32_t rules_errno_in(struct rules_reader *r, struct json_object *v);

/* Purpose: members of other types.  A name is of small letters, digits and hyphens; it gets
 * `prefix` and a slash before it if that is not NULL.  A text is printable. */
void rules_get_name(struct rules_reader *r, struct json_object *object, const char *prefix,
                    char name[FTREE_NAME_MAX]);
void rules_get_text(struct rules_reader *r, struct json_object *object, const char *key,
                    char text[FTREE_DETAIL_MAX]);
bool rules_get_bool(struct rules_reader *r, struct json_object *object, const char *key);
uint32_t rules_get_count(struct rules_reader *r, struct json_object *object, const char *key,
                         uint32_t least, uint32_t most, uint32_t otherwise);
double rules_number_in(struct rules_reader *r, struct json_object *v, double least, double most);
uint16_t rules_get_permille(struct rules_reader *r, struct json_object *object, const char *key);

/* Purpose: how many signs a member that lists them has, alternatives counted; it may be missing. */
int32_t rules_count_signs(struct rules_reader *r, struct json_object *object, const char *key);

/* Purpose: reads them to where `signs` has room for so many; `model` is the name of theirs, NULL:
 * they say that all is well.  Returns how many. (rules_read_model.c) */
int32_t rules_read_signs(struct rules_reader *r, struct json_object *object, const char *key,
                         const char *model, struct rules_sign *signs);

/* Purpose: reads the m-th model but for its name, which is known; its `sign` is where its signs
 * go. (rules_read_model.c) */
void rules_read_model(struct rules_reader *r, struct json_object *v, int32_t m);

/* Purpose: do the tables that were read fit together? (rules_check.c) */
void rules_check(struct rules_reader *r);

#pragma GCC visibility pop

#endif /* RULES_READER_H_INCLUDED */
