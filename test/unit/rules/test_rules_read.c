/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules_reader.h"

#include "ftree/base/io.h"
#include "suite.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a small base, and changes to it --------------------------------------------------------- */

static const char small[] =
    "{ // a comment\n"
    "  \"schema\": \"faultloc-rules/1\", \"name\": \"small\",\n"
    "  \"strategies\": [\n"
    "    { \"name\": \"ask\", \"steps\": [ { \"ask\": \"response\", \"at_rto\": [3, 0] } ] },\n"
    "    { \"name\": \"look\", \"steps\": [ { \"ask\": \"state\", \"at_rto\": 1 } ] }\n"
    "  ],\n"
    "  \"rules\": [\n"
    "    { \"name\": \"one\", \"if\": [ { \"kind\": \"peer-stall\" } ],\n"
    "      \"then\": { \"candidates\": [ { \"model\": \"dead\", \"prior\": 0.5 },\n"
    "                                { \"model\": \"slow\", \"prior\": 0.25 } ],\n"
    "                \"derive\": \"flood-query\", \"probes\": \"look\" } },\n"
    "    { \"name\": \"two\", \"if\": [ { \"kind\": [\"flood-query\", \"io-slow\"] } ],\n"
    "      \"then\": { \"candidates\": [ { \"model\": \"dead\", \"prior\": 0.5 } ], \"probes\": "
    "\"ask\" } }\n"
    "  ],\n"
    "  \"models\": [\n"
    "    { \"name\": \"dead\", \"class\": \"node-outage\",\n"
    "      \"signs\": [ { \"name\": \"mute\", \"text\": \"says nothing\", \"confidence\": 0.9,\n"
    "                   \"when\": { \"agent\": \"silent\", \"others\": \"no\" } } ] },\n"
    "    { \"name\": \"slow\", \"class\": \"straggler\", \"thresholds\": { \"high\": 7 },\n"
    "      \"signs\": [ { \"name\": \"busy\", \"text\": \"does too much\", \"confidence\": 0.5,\n"
    "                   \"when\": { \"load-per-cpu\": { \"above\": \"high\" } } } ] }\n"
    "  ],\n"
    "  \"well\": [ { \"name\": \"fine\", \"text\": \"answers\", \"when\": {"
    " \"main\": \"answered\" } } ]\n"
    "}\n";

/* `small` with the first `old` in it replaced; static. */
static const char *changed(const char *old, const char *new)
{
    static char text[16384];
    const char *at = strstr(small, old);

    ck_assert_msg(at, "no %s", old);
    snprintf(text, sizeof(text), "%.*s%s%s", (int) (at - small), small, new, at + strlen(old));
    return text;
}

static struct ftree_rules *read_text(const char *text)
{
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    int rc = ftree_rules_read(text, strlen(text), &rules, &e);

    ck_assert_msg(rc == FTREE_OK, "line %d, column %d: %s", e.line, e.column, e.text);
    ck_assert_ptr_nonnull(rules);
    return rules;
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define SIGN "\"when\": { \"agent\": \"silent\", \"others\": \"no\" }"
#define LOAD "{ \"above\": \"high\" }"
#define STEP "{ \"ask\": \"state\", \"at_rto\": 1 }"
#define STALL "{ \"kind\": \"peer-stall\" }"
#define THEN "{ \"candidates\": [ { \"model\": \"dead\", \"prior\": 0.5 } ], \"probes\": \"ask\" }"

static const struct refused {
    const char *old, *new;
    const char *at; /* what stands where the message points */
    const char *text; /* NULL: that is no error */
} refused[] = {
    /* JSON */
    {"{ // a", "{ / a", "/ a comment", "a lone slash; comments begin with // or /*"},
    {"}\n", "}", NULL, NULL}, /* a needless line feed */
    {"\"name\": \"small\"", "\"name\": \"small\", \"name\": \"x\"", "\"name\": \"x\"",
     "this key is there twice"},

    /* the whole */
    {small, "[]", "[]", "the rule base: must be an object, is a list"},
    {small, "null", "null", "the rule base: must be an object, is null"},
    {small, "{}", "{}", "the rule base: has no \"schema\""},
    {"rules/1", "rules/2", "\"faultloc-ru",
     "schema: must be \"faultloc-rules/1\", is \"faultloc-rules/2\""},
    {"\"faultloc-rules/1\"", "1", "1, \"name\"", "schema: must be a string, is a number"},
    {"\"rules\":", "\"rulse\":", "\"rulse\": [",
     "rulse: there is no key \"rulse\"; did you mean \"rules\"?"},
    {"\"well\":", "\"$schema\": 1, \"x\":", "\"x\": [ { \"na",
     "x: there is no key \"x\"; it must be $schema, schema, name, strategies, rules, models or"
     " well"},
    {"\"name\": \"small\",", "", "{ // a comme", "the rule base: has no \"name\""},
    {"\"small\"", "\"Small\"", "\"Small\",",
     "name: must be of small letters, digits and hyphens and begin with a letter"},
    {"\"small\"", "\"\"", "\"\",",
     "name: must be of small letters, digits and hyphens and begin with a letter"},
    {"\"small\"", "\"1small\"", "\"1small\",",
     "name: must be of small letters, digits and hyphens and begin with a letter"},
    {"\"small\"", "\"-small\"", "\"-small\",",
     "name: must be of small letters, digits and hyphens and begin with a letter"},
    {"\"small\"", "\"sm{ll\"", "\"sm{ll\",",
     "name: must be of small letters, digits and hyphens and begin with a letter"},
    {"\"small\"", "\"sm\\u0000all\"", "\"sm\\u0000all",
     "name: must be of small letters, digits and hyphens and begin with a letter"},
    {"\"small\"", "\"s2345678901234567890123456789012345678901234567890123456789012345\"",
     "\"s2345678901", "name: is too long: 65 characters, at most 63"},
    {"\"small\"", "7", "7,", "name: must be a string, is a number"},

    /* strategies */
    {"\"look\"", "\"ask\"", "\"ask\", \"step",
     "strategies[1].name: strategies[0] has this name, too"},
    {"\"steps\": [ " STEP " ]", "\"steps\": []", "[] }", "strategies[1].steps: is an empty list"},
    {", \"steps\": [ " STEP " ]", "", "{ \"name\": \"l", "strategies[1]: has no \"steps\""},
    {STEP, "7", "7 ] }", "strategies[1].steps[0]: must be an object, is a number"},
    {STEP, "{}", "{} ] }", "strategies[1].steps[0]: has no \"ask\""},
    {"\"state\"", "\"stat\"", "\"stat\", \"at_",
     "strategies[1].steps[0].ask: there is no probe \"stat\"; did you mean \"state\"?"},
    {"\"state\"", "\"ring\"", "\"ring\", \"at_",
     "strategies[1].steps[0].ask: there is no probe \"ring\"; it must be response, state, log or burst"},
    {"\"at_rto\": 1", "\"at_rto\": 1, \"fresh\": 1", "1 } ] }",
     "strategies[1].steps[0].fresh: must be true or false, is a number"},
    {"\"at_rto\": 1", "\"at_rto\": 6", "6 } ] }",
     "strategies[1].steps[0].at_rto: is 6, must be from 0 to 5.9"},
    {"\"at_rto\": 1", "\"at_rto\": [1, -1]", "-1] } ] }",
     "strategies[1].steps[0].at_rto[1]: is -1, must be from 0 to 5.9"},
    {"\"at_rto\": 1", "\"at_rto\": []", "[] } ] }",
     "strategies[1].steps[0].at_rto: is an empty list"},
    {"\"at_rto\": 1", "\"at_rto\": \"soon\"", "\"soon\" } ] }",
     "strategies[1].steps[0].at_rto: must be a number, is a string"},
    {", \"at_rto\": 1", "", "{ \"ask\": \"st", "strategies[1].steps[0]: has no \"at_rto\""},
    {"\"state\",", "\"state\", \"of\": \"deputy\",", "{ \"ask\": \"st",
     "strategies[1].steps[0]: only an agent answers a state probe"},
    {"\"state\",", "\"log\", \"of\": \"witnesses\",", "{ \"ask\": \"lo",
     "strategies[1].steps[0]: only an agent answers a log probe"},
    {"\"state\",", "\"response\", \"of\": \"handlers\",", "{ \"ask\": \"re",
     "strategies[1].steps[0]: handlers are asked for the state alone"},
    {"\"state\",", "\"response\", \"over\": \"data\", \"from\": \"elsewhere\",", "{ \"ask\": \"re",
     "strategies[1].steps[0]: from elsewhere an agent is asked for a response over all paths"},
    {"\"state\",", "\"state\", \"from\": \"elsewhere\",", "{ \"ask\": \"st",
     "strategies[1].steps[0]: from elsewhere an agent is asked for a response over all paths"},
    {"\"state\",", "\"state\", \"from\": \"afar\",", "\"afar\", \"a",
     "strategies[1].steps[0].from: there is no place \"afar\"; it must be here or elsewhere"},
    {"\"state\",", "\"state\", \"of\": \"nobody\",", "\"nobody\", \"a",
     "strategies[1].steps[0].of: there is no role \"nobody\"; it must be agent, "
     "deputy, witnesses, neighbours or handlers"},
    {"\"state\",", "\"state\", \"over\": \"air\",", "\"air\", \"at_r",
     "strategies[1].steps[0].over: there is no path \"air\"; did you mean \"all\"?"},
    {"\"state\",", "\"state\", \"if\": \"kernel-spok\",", "\"kernel-spok",
     "strategies[1].steps[0].if: there is no condition \"kernel-spok\"; did you mean"
     " \"kernel-spoke\"?"},
    {"[3, 0]", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", "0] } ] },",
     "strategies[0].steps[0].at_rto[32]: more than 32 steps; each time of \"at_rto\" counts"},

    /* rules */
    {"\"two\"", "\"one\"", "\"one\", \"if\":", "rules[1].name: rules[0] has this name, too"},
    {"\"if\": [ " STALL " ],", "", "{ \"name\": \"o", "rules[0]: has no \"if\""},
    {"[ " STALL " ]", "[]", "[],", "rules[0].if: is an empty list"},
    {"[ " STALL " ]", "[{},{},{},{},{}]", "[{},{},{},{}",
     "rules[0].if: has 5 elements, at most 4 are possible"},
    {STALL, "{}", "{} ],", "rules[0].if[0]: has no \"kind\""},
    {"\"peer-stall\"", "\"peer-stahl\"", "\"peer-stahl\"",
     "rules[0].if[0].kind: there is no symptom \"peer-stahl\"; did you mean \"peer-stall\"?"},
    {"\"peer-stall\"", "\"weather\"", "\"weather\" }",
     "rules[0].if[0].kind: there is no symptom \"weather\""},
    {"\"peer-stall\"", "[]", "[] } ],", "rules[0].if[0].kind: is an empty list"},
    {"\"peer-stall\"", "[\"flood-query\", \"flood-query\"]", "\"flood-query\"] } ]",
     "rules[0].if[0].kind[1]: \"flood-query\" is there twice"},
    {"\"peer-stall\"", "[1]", "1] } ],", "rules[0].if[0].kind[0]: must be a string, is a number"},
    {"\"peer-stall\"", "1", "1 } ],",
     "rules[0].if[0].kind: must be a string or a list of strings, is a number"},
    {"\"peer-stall\"", "\"peer-stall\", \"count\": 0", "0 } ],",
     "rules[0].if[0].count: is 0, must be from 1 to 1000000"},
    {"\"peer-stall\"", "\"peer-stall\", \"count\": 1.5", "1.5 } ],",
     "rules[0].if[0].count: must be a whole number"},
    {"\"peer-stall\"", "\"peer-stall\", \"window_ms\": 1e99", "1e99 } ],",
     "rules[0].if[0].window_ms: is 1e+99, must be from 1 to 3600000"},
    {"\"peer-stall\"", "\"peer-stall\", \"relation\": \"same-swich\"", "\"same-swich\"",
     "rules[0].if[0].relation: there is no relation \"same-swich\"; did you mean \"same-switch\"?"},
    {"\"peer-stall\"", "\"peer-stall\", \"severity\": \"bad\"", "\"bad\" } ],",
     "rules[0].if[0].severity: there is no severity \"bad\"; it must be info, warning, error or"
     " fatal"},
    {"\"peer-stall\"", "\"peer-stall\", \"components\": 2", "{ \"kind\": \"p",
     "rules[0].if[0]: \"components\": only one has the relation \"same-node\""},
    {"\"peer-stall\"", "\"peer-stall\", \"errno\": \"EHOSTUNREACHED\"", "\"EHOSTUNREAC",
     "rules[0].if[0].errno: there is no errno \"EHOSTUNREACHED\"; did you mean \"EHOSTUNREACH\"?"},
    {"\"peer-stall\"", "\"peer-stall\", \"errno\": 0", "0 } ],",
     "rules[0].if[0].errno: is 0, must be from 1 to 4095"},
    {"\"peer-stall\"", "\"peer-stall\", \"errno\": []", "[] } ],",
     "rules[0].if[0].errno: must be the name of an errno or its number, is a list"},
    {THEN, "{}", "{} }",
     "rules[1].then: nothing follows: it has neither \"candidates\" nor \"derive\""},
    {THEN, "[]", "[] }", "rules[1].then: must be an object, is a list"},
    {",\n      \"then\": " THEN, "", "{ \"name\": \"t", "rules[1]: has no \"then\""},
    {"\"dead\", \"prior\": 0.5 },", "\"ded\", \"prior\": 0.5 },", "\"ded\", \"prio",
     "rules[0].then.candidates[0].model: there is no model \"ded\"; did you mean \"dead\"?"},
    {"\"prior\": 0.5 },", "\"prior\": 0 },", "0 },",
     "rules[0].then.candidates[0].prior: is 0, must be from 0.001 to 1"},
    {"\"prior\": 0.5 },", "\"prior\": 1 },",
     "[ { \"model\":", "rules[0].then.candidates: the priors add up to 1.250, more than 1"},
    {", \"prior\": 0.5 },", " },", "{ \"model\": \"",
     "rules[0].then.candidates[0]: has no \"prior\""},
    {"{ \"model\": \"dead\", ", "{ ", "{ \"prior\": 0",
     "rules[0].then.candidates[0]: has no \"model\""},
    {"{ \"model\": \"slow\"", "{ \"model\": \"dead\"", "{ \"model\": \"",
     "rules[0].then.candidates[1]: model \"dead\" is there twice"},
    {"\"derive\": \"flood-query\"", "\"derive\": \"flood-qury\"", "\"flood-qury\", \"pr",
     "rules[0].then.derive: there is no symptom \"flood-qury\"; did you mean \"flood-query\"?"},
    {"\"probes\": \"look\"", "\"probes\": \"lok\"", "\"lok\" } },",
     "rules[0].then.probes: there is no strategy \"lok\"; did you mean \"look\"?"},
    {"\"derive\": \"flood-query\"", "\"derive\": \"peer-stall\"", "\"peer-stall\"",
     "rules[0].then.derive: goes in a circle: from \"peer-stall\" follows again what the rule"
     " needs"},
    {THEN, "{ \"derive\": \"peer-stall\" }", "\"flood-query\", \"pr",
     "rules[0].then.derive: goes in a circle: from \"flood-query\" follows again what the rule"
     " needs"},
    {"\"look\" }", "\"ask\" }", "{ \"model\": \"",
     "rules[0].then.candidates[1]: no sign of \"slow\" can ever hold: strategy \"ask\" does not ask"
     " for it"},
    {", \"probes\": \"ask\"", "", "{ \"model\": \"",
     "rules[1].then.candidates[0]: no sign of \"dead\" can ever hold: the rule, without \"probes\","
     " does not ask for it"},

    {STALL, "1", "1 ]", "rules[0].if[0]: must be an object, is a number"},
    {STALL, "{ \"kid\": 1 }", "\"kid\"",
     "rules[0].if[0].kid: there is no key \"kid\"; did you mean \"kind\"?"},
    {STALL, "{ \"kind\": \"flood-query\", \"relation\": \"same-component\", \"components\": 2 }",
     "{ \"kind\"", "rules[0].if[0]: \"components\": only one has the relation \"same-component\""},
    {"{ \"model\": \"slow\", \"prior\": 0.25 }", "1", "1 ]",
     "rules[0].then.candidates[1]: must be an object, is a number"},
    {"{ \"model\": \"slow\"", "{ \"modl\": \"slow\"", "\"modl\"",
     "rules[0].then.candidates[1].modl: there is no key \"modl\"; did you mean \"model\"?"},
    {"\"derive\":", "\"drive\":", "\"drive\"",
     "rules[0].then.drive: there is no key \"drive\"; did you mean \"derive\"?"},
    {"\"two\", \"if\"", "\"two\", \"fi\": 1, \"if\"", "\"fi\"",
     "rules[1].fi: there is no key \"fi\"; did you mean \"if\"?"},
    {"\"rules\": [", "\"rules\": [ 1,", "1,", "rules[0]: must be an object, is a number"},
    {"\"models\": [", "\"models\": [ 1,", "1,", "models[0]: must be an object, is a number"},
    {"\"strategies\": [", "\"strategies\": [ 1,", "1,",
     "strategies[0]: must be an object, is a number"},
    {"\"steps\":", "\"stpes\":", "\"stpes\"",
     "strategies[0].stpes: there is no key \"stpes\"; did you mean \"steps\"?"},
    {"\"well\": [", "\"well\": [ [],", "[],", "well[0]: must be an object, is a list"},

    /* models */
    {"\"slow\", \"class\"", "\"dead\", \"class\"", "\"dead\", \"cla",
     "models[1].name: models[0] has this name, too"},
    {", \"class\": \"node-outage\"", "", "{ \"name\": \"d",
     "models[0]: has no \"class\", and its name is none"},
    {"\"node-outage\"", "\"node-outge\"", "\"node-outge\"",
     "models[0].class: there is no class \"node-outge\"; did you mean \"node-outage\"?"},
    {"\"node-outage\",", "\"node-outage\", \"component\": \"rank\",", "{ \"name\": \"d",
     "models[0]: \"component\": node-outage is a fault of a node"},
    {"\"node-outage\",", "\"node-outage\", \"origin\": \"software\",", "{ \"name\": \"d",
     "models[0]: \"origin\": of node-outage it is hardware"},
    {"\"node-outage\",", "\"node-outage\", \"component\": \"nod\",", "\"nod\",",
     "models[0].component: there is no kind of component \"nod\"; did you mean \"node\"?"},
    {"\"node-outage\",", "\"node-outage\", \"component\": \"building\",", "\"building\",",
     "models[0].component: there is no kind of component \"building\"; it must be node, rank, nic,"
     " link or switch"},
    {"\"node-outage\",", "\"node-outage\", \"origin\": \"heaven\",", "\"heaven\",",
     "models[0].origin: there is no origin \"heaven\"; it must be hardware, software or unknown"},
    {"\"node-outage\",", "\"node-outage\", \"masks\": \"dead\",", "{ \"name\": \"d",
     "models[0]: causes or masks itself"},
    {"\"node-outage\",", "\"node-outage\", \"causes\": [\"slow\", \"lost\"],", "\"lost\"],",
     "models[0].causes[1]: there is no model \"lost\"; it must be dead or slow"},
    {"\"node-outage\",", "\"node-outage\", \"leads_to\": \"lost\",", "\"lost\",",
     "models[0].leads_to: there is no model \"lost\"; it must be dead or slow"},
    {"\"node-outage\",", "\"node-outage\", \"leads_to\": \"dead\",", "\"dead\",",
     "models[0].leads_to: goes in a circle: in the end \"dead\" leads to itself"},
    {"\"node-outage\",", "\"node-outage\", \"before_s\": { \"above\": 5 },", "{ \"above\": 5",
     "models[0].before_s: without \"leads_to\""},
    {"\"node-outage\",", "\"node-outage\", \"leads_to\": \"slow\", \"before_s\": { \"above\": 5, \"below\": 4 },",
     "{ \"above\": 5", "models[0].before_s: nothing is above 5 and below 4"},
    {"\"node-outage\",", "\"node-outage\", \"limits\": {},", "{},",
     "models[0].limits: has neither \"high\" nor \"low\""},
    {"\"node-outage\",", "\"node-outage\", \"limits\": { \"higher\": 5 },", "\"higher\"",
     "models[0].limits.higher: there is no key \"higher\"; did you mean \"high\"?"},
    {"\"node-outage\",", "\"node-outage\", \"errno\": \"EIO\",", "\"EIO\",",
     "models[0].errno: must be a list, is a string"},
    {"\"node-outage\",", "\"node-outage\", \"listed_only\": true,", "{ \"name\": \"d",
     "models[0]: is \"listed_only\" and has signs"},
    {"\"signs\": [ { \"name\": \"mute\"", "\"sings\": [ { \"name\": \"mute\"", "\"sings\": [ {",
     "models[0].sings: there is no key \"sings\"; did you mean \"signs\"?"},
    {"{ \"high\": 7 }", "{ \"high\": 7, \"low\": 1 }", "\"low\": 1 },",
     "models[1].thresholds.low: no sign uses it"},
    {"{ \"high\": 7 }", "{ \"high\": \"7\" }", "\"7\" },",
     "models[1].thresholds.high: must be a number, is a string"},
    {"{ \"high\": 7 }", "{ \"high\": null, \"low\": [] }", "null, \"low\"",
     "models[1].thresholds.high: must be a number, is null"},
    {"{ \"high\": 7 }", "[]", "[],", "models[1].thresholds: must be an object, is a list"},
    {"\"thresholds\": { \"high\": 7 },", "", "\"high\" } } }",
     "models[1].signs[0].when.load-per-cpu.above: there is no threshold \"high\""},

    /* signs */
    {"\"mute\", \"text\"", "\"mute\", \"test\"", "\"test\": \"say",
     "models[0].signs[0].test: there is no key \"test\"; did you mean \"text\"?"},
    {"\"says nothing\"", "\"\"", "\"\", \"confide",
     "models[0].signs[0].text: must be of 1 to 127 characters, is of 0"},
    {"\"says nothing\"", "\"\\u00e4\"", "\"\\u00e4\", \"c",
     "models[0].signs[0].text: a character in it is not printable ASCII"},
    {"\"says nothing\"", "\"\\u0000\"", "\"\\u0000\", \"c",
     "models[0].signs[0].text: a character in it is not printable ASCII"},
    {"\"text\": \"says nothing\",", "", "{ \"name\": \"m", "models[0].signs[0]: has no \"text\""},
    {"\"confidence\": 0.9", "\"confidence\": 1.1", "1.1,",
     "models[0].signs[0].confidence: is 1.1, must be from 0.001 to 1"},
    {"\"mute\"", "\"s2345678901234567890123456789012345678901234567890123456789\"", "\"s2345678901",
     "models[0].signs[0].name: is too long: 64 characters, at most 63 together with its model's"
     " name and a slash"},
    {SIGN, "\"at_once\": true", "{ \"name\": \"m", "models[0].signs[0]: has no \"when\""},
    {SIGN, "\"when\": {}", "{} } ] },",
     "models[0].signs[0].when: has 0 conditions, must have 1 to 8"},
    {SIGN,
     "\"when\": { \"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1, \"e\": 1, \"f\": 1, \"g\": 1,"
     " \"h\": 1, \"i\": 1 }",
     "{ \"a\": 1,", "models[0].signs[0].when: has 9 conditions, must have 1 to 8"},
    {SIGN, "\"when\": []", "{ \"name\": \"m", "models[0].signs[0]: \"when\" is an empty list"},
    {SIGN, "\"when\": [ 1 ]", "1 ] } ] },",
     "models[0].signs[0].when[0]: must be an object, is a number"},
    {SIGN, "\"when\": 1", "1 } ] },", "models[0].signs[0].when: must be an object, is a number"},
    {SIGN, "\"when\": { \"agnt\": \"silent\" }", "\"agnt\": \"sil",
     "models[0].signs[0].when.agnt: there is no fact \"agnt\"; did you mean \"agent\"?"},
    {SIGN, "\"when\": { \"ranks\": \"one\" }", "\"ranks\": \"one",
     "models[0].signs[0].when.ranks: there is no fact \"ranks\": agent and deputy are no"
     " ranks, so their ports say nothing of one; leave the condition out, or the sign"},
    {SIGN, "\"when\": { \"agent\": \"mute\" }", "\"mute\" } } ]",
     "models[0].signs[0].when.agent: there is no value of \"agent\" \"mute\"; it must be not-asked,"
     " silent, local-down, unreachable, connected, refused, answered or no-path"},
    {SIGN, "\"when\": { \"others\": [\"no\", \"yes\"] }", "[\"no\", \"yes\"",
     "models[0].signs[0].when.others: holds always, and so says nothing"},
    {SIGN, "\"when\": { \"others\": { \"not\": [\"no\", \"yes\"] } }", "{ \"not\": [\"n",
     "models[0].signs[0].when.others: never holds"},
    {SIGN, "\"when\": { \"others\": {} }", "{} } } ] },",
     "models[0].signs[0].when.others: has no \"not\""},
    {SIGN, "\"when\": { \"others\": { \"above\": 1 } }", "\"above\": 1 }",
     "models[0].signs[0].when.others.above: there is no key \"above\"; it must be not"},
    {SIGN, "\"when\": { \"others\": null }", "null } } ] }",
     "models[0].signs[0].when.others: must be a string or a list of strings, is null"},
    {LOAD, "{ \"over\": 1 }", "\"over\": 1 }",
     "models[1].signs[0].when.load-per-cpu.over: there is no key \"over\"; it must be above or"
     " below"},
    {LOAD, "7", "7 } } ] }",
     "models[1].signs[0].when.load-per-cpu: must be an object, is a number"},
    {LOAD, "{}", "{} } } ] }",
     "models[1].signs[0].when.load-per-cpu: has neither \"above\" nor \"below\""},
    {LOAD, "{ \"above\": \"high\", \"below\": 7 }", "{ \"above\": \"",
     "models[1].signs[0].when.load-per-cpu: nothing is above 7 and below 7"},
    {LOAD, "{ \"above\": [] }", "[] } } } ] }",
     "models[1].signs[0].when.load-per-cpu.above: must be a number, is a list"},
    {LOAD, "{ \"above\": \"hihg\" }", "\"hihg\" } } }",
     "models[1].signs[0].when.load-per-cpu.above: there is no threshold \"hihg\"; did you mean"
     " \"high\"?"},
    {SIGN, SIGN ", \"about\": \"me\"", "\"me\" } ] },",
     "models[0].signs[0].about: must be \"suspect\" or \"asker\""},
    {SIGN, SIGN ", \"about\": \"suspect\"", NULL, NULL},
    {SIGN, SIGN ", \"leaves_open\": [ 1 ]", "1 ]",
     "models[0].signs[0].leaves_open[0]: must be an object, is a number"},
    {SIGN, SIGN ", \"leaves_open\": [ { \"clas\": 1 } ]", "\"clas\"",
     "models[0].signs[0].leaves_open[0].clas: there is no key \"clas\"; did you mean \"class\"?"},
    {SIGN, SIGN ", \"leaves_open\": [ { \"class\": \"unknown\" } ]", "{ \"class\": \"",
     "models[0].signs[0].leaves_open[0]: has no \"confidence\""},
    {SIGN, SIGN ", \"rules_out\": [ { \"confidence\": 0.1 } ]", "{ \"confidenc",
     "models[0].signs[0].rules_out[0]: has no \"class\""},
    {SIGN, SIGN ", \"rules_out\": [ {}, {}, {}, {} ]", "[ {}, {}, {}",
     "models[0].signs[0].rules_out: has 4 elements, at most 3 are possible"},
    {SIGN " }", SIGN " }, { \"name\": \"mute\", \"text\": \"x\", \"confidence\": 1, " SIGN " }",
     "\"mute\", \"tex", "models[0].signs[1].name: there is another sign of this name"},
    {SIGN, "\"when\": [{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]", "{ \"name\": \"m",
     "models[0].signs[0]: more than 16 signs; each alternative counts"},
    {"\"signs\": [ { \"name\": \"busy\"", "\"signs\": [ 1, { \"name\": \"busy\"",
     "1, { \"name\":", "models[1].signs[0]: must be an object, is a number"},
    {"\"text\": \"answers\"", "\"text\": \"answers\", \"confidence\": 1", "\"confidence\"",
     "well[0].confidence: there is no key \"confidence\"; it must be name, text, when or at_once"},
    {"\"fine\"", "\"fine!\"", "\"fine!\", \"te",
     "well[0].name: must be of small letters, digits and hyphens and begin with a letter"},
};

static const char *place_of(const char *text, int line, int column)
{
    ck_assert_int_gt(line, 0);
    ck_assert_int_gt(column, 0);
    while (--line > 0)
        text = strchr(text, '\n') + 1;
    return text + column - 1;
}

TEST_CASES(what_is_wrong_is_said, COUNT(refused))
{
    const char *place;
    const struct refused *row = &refused[_i];
    const char *text = changed(row->old, row->new);
    struct ftree_rules *rules;
    struct ftree_rules_error e;
    int rc = ftree_rules_read(text, strlen(text), &rules, &e);

    ck_assert_int_eq(rc, row->text ? FTREE_ERR_INVALID : FTREE_OK);
    if (row->text) {
        ck_assert_ptr_null(rules);
        ck_assert_str_eq(e.text, row->text);
        place = place_of(text, e.line, e.column);
        ck_assert_msg(!strncmp(place, row->at, strlen(row->at)), "at %.20s", place);
    }
    ftree_rules_free(rules);
}

/* Of long names as many are told as there is room for, and the message ends there. */
TEST_CASE(long_names_are_told_as_far_as_there_is_room)
{
    static const char model[] = "{ \"name\": \"%c%058d\", \"class\": \"unknown\", \"listed_only\":"
                                " true }, ";
    struct ftree_rules *rules;
    struct ftree_rules_error e;
    char models[1000] = "\"models\": [ ";
    const char *text;

    for (char c = 'a'; c <= 'c'; c++)
        snprintf(models + strlen(models), sizeof(models) - strlen(models), model, c, 0);
    snprintf(models + strlen(models), sizeof(models) - strlen(models),
             "{ \"name\": \"last\", \"class\": \"unknown\", \"listed_only\": true,"
             " \"causes\": \"q\" }, ");
    text = changed("\"models\": [", models);
    ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e), FTREE_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(e.text, "models[3].causes: there is no model \"q\"; it must be a0"));
    ck_assert_ptr_nonnull(strstr(e.text, ", b0"));
    ck_assert_ptr_null(strstr(e.text, "last"));
    ck_assert_uint_lt(strlen(e.text), sizeof(e.text));
}

/* A chain of two: x causes y, y causes z, z causes x. */
TEST_CASE(faults_do_not_cause_themselves)
{
    static const char models[] =
        "\"models\": [ { \"name\": \"x\", \"class\": \"unknown\", \"listed_only\": true, "
        "\"causes\": \"y\" },"
        " { \"name\": \"y\", \"class\": \"unknown\", \"listed_only\": true, \"causes\": \"z\" },"
        " { \"name\": \"z\", \"class\": \"unknown\", \"listed_only\": true, \"causes\": \"x\" },";
    const char *text = changed("\"models\": [", models);
    struct ftree_rules *rules;
    struct ftree_rules_error e;

    ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "models[0].causes: goes in a circle: in the end \"x\" causes itself");
}

TEST_CASE(models_without_signs_must_say_so)
{
    static const char model[] = "\"models\": [ { \"name\": \"unknown\" %s},";
    char models[200];
    const char *text;
    struct ftree_rules *rules;
    struct ftree_rules_error e;

    snprintf(models, sizeof(models), model, "");
    text = changed("\"models\": [", models);
    ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "models[0]: has no signs, so that nothing decides for it; if that is"
                             " meant, say \"listed_only\": true");
    snprintf(models, sizeof(models), model, ", \"listed_only\": true, \"even_if_well\": true ");
    text = changed("\"models\": [", models);
    ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "models[0]: is \"listed_only\" and \"even_if_well\"");
    snprintf(models, sizeof(models), model, ", \"listed_only\": true ");
    rules = read_text(changed("\"models\": [", models));
    ck_assert_int_eq(rules->model[0].class_, FTREE_CLASS_UNKNOWN);
    ck_assert(rules->model[0].listed_only);
    ftree_rules_free(rules);
}

/* A sign must be able to hold with what is asked. */
static const struct {
    const char *when, *step;
    bool possible;
} askable[] = {
    {"{ \"agent\": \"silent\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", true},
    {"{ \"agent\": \"silent\" }", "{ \"ask\": \"state\", \"at_rto\": 0 }", true},
    {"{ \"agent\": [\"not-asked\", \"no-path\"] }",
     "{ \"ask\": \"response\", \"of\": \"deputy\", \"at_rto\": 0 }", true},
    {"{ \"mgmt\": \"answered\" }", "{ \"ask\": \"response\", \"of\": \"deputy\", \"at_rto\": 0 }",
     false},
    {"{ \"deputy\": \"answered\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", false},
    {"{ \"deputy\": { \"not\": \"answered\" } }", "{ \"ask\": \"response\", \"at_rto\": 0 }", true},
    {"{ \"deputy\": \"answered\" }", "{ \"ask\": \"response\", \"of\": \"deputy\", \"at_rto\": 0 }",
     true},
    {"{ \"deputy-connects\": \"yes\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", false},
    {"{ \"deputy-connects\": \"yes\" }",
     "{ \"ask\": \"response\", \"of\": \"deputy\", \"at_rto\": 0 }", true},
    {"{ \"seen-by\": \"deputy\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", false},
    {"{ \"seen-by\": \"deputy\" }", "{ \"ask\": \"response\", \"of\": \"deputy\", \"at_rto\": 0 }",
     true},
    {"{ \"witnessed\": \"both\" }", "{ \"ask\": \"response\", \"of\": \"deputy\", \"at_rto\": 0 }",
     false},
    {"{ \"data-witnessed\": \"yes\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", true},
    {"{ \"link\": \"down\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", false},
    {"{ \"link\": \"down\" }", "{ \"ask\": \"state\", \"at_rto\": 0 }", true},
    {"{ \"state-known\": \"yes\" }", "{ \"ask\": \"response\", \"at_rto\": 0 }", false},
    {"{ \"state-known\": \"yes\" }", "{ \"ask\": \"state\", \"at_rto\": 0 }", true},
    {"{ \"throttles\": { \"above\": 0 } }", "{ \"ask\": \"log\", \"at_rto\": 0 }", false},
    {"{ \"process\": \"gone\", \"seen-by\": \"agent\", \"own-side\": \"up\" }",
     "{ \"ask\": \"log\", \"at_rto\": 0 }", true},
    {"[ { \"link\": \"down\" }, { \"own-side\": \"up\" } ]",
     "{ \"ask\": \"response\", \"at_rto\": 0 }", true},
};

TEST_CASES(what_is_not_asked_cannot_be_decided, COUNT(askable))
{
    static const char tiny[] =
        "{\"schema\":\"faultloc-rules/1\",\"name\":\"tiny\","
        "\"strategies\":[{\"name\":\"s\",\"steps\":[%s]}],"
        "\"models\":[{\"name\":\"unknown\",\"signs\":[{\"name\":\"s\",\"text\":\"t\","
        "\"confidence\":1,\"when\":%s}]}],"
        "\"rules\":[{\"name\":\"r\",\"if\":[{\"kind\":\"flood-query\"}],\"then\":{\"candidates\":"
        "[{\"model\":\"unknown\",\"prior\":1}],\"probes\":\"s\"}}]}";
    struct ftree_rules *rules;
    struct ftree_rules_error e;
    char text[1000];

    snprintf(text, sizeof(text), tiny, askable[_i].step, askable[_i].when);
    ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e) == FTREE_OK,
                     askable[_i].possible);
    if (!rules)
        ck_assert_str_eq(e.text, "rules[0].then.candidates[0]: no sign of \"unknown\" can ever"
                                 " hold: strategy \"s\" does not ask for it");
    ftree_rules_free(rules);
}

TEST_CASE(files_have_a_limit)
{
    char *text = malloc(RULES_FILE_MAX + 1);
    struct ftree_rules *rules;
    struct ftree_rules_error e;

    memset(text, ' ', RULES_FILE_MAX + 1);
    memcpy(text, small, strlen(small));
    ck_assert_int_eq(ftree_rules_read(text, RULES_FILE_MAX, &rules, &e), FTREE_OK);
    ftree_rules_free(rules);
    ck_assert_int_eq(ftree_rules_read(text, RULES_FILE_MAX + 1, &rules, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "larger than 1 MiB, which no rule base is");
    free(text);
}

TEST_CASE(lists_have_limits)
{
    static const char one[] =
        "{ \"name\": \"m%d\", \"class\": \"unknown\", \"listed_only\": true },";
    struct ftree_rules *rules;
    struct ftree_rules_error e;
    char models[8000];
    const char *text;

    for (int n = RULES_MODELS_MAX - 2; n <= RULES_MODELS_MAX - 1; n++) {
        int len = sprintf(models, "\"models\": [");
        for (int i = 0; i < n; i++)
            len += sprintf(models + len, one, i);
        text = changed("\"models\": [", models);
        ck_assert_int_eq(ftree_rules_read(text, strlen(text), &rules, &e) == FTREE_OK,
                         n + 2 == RULES_MODELS_MAX);
        ftree_rules_free(rules);
    }
    ck_assert_str_eq(e.text, "models: has 65 elements, at most 64 are possible");
    ck_assert_int_eq(e.line, 15);
}

/* ---- what is read ---------------------------------------------------------------------------- */

TEST_CASE(defaults)
{
    struct ftree_rules *rules = read_text(small);
    const struct rules_rule *one = &rules->rule[0];

    ck_assert_str_eq(rules->name, "small");
    ck_assert_int_eq(rules->rules, 2);
    ck_assert_int_eq(rules->models, 2);
    ck_assert_int_eq(rules->strategies, 2);
    ck_assert_int_eq(rules->wells, 1);
    ck_assert_int_eq(one->patterns, 1);
    ck_assert_uint_eq(one->pattern[0].kinds, (uint64_t) 1 << FTREE_SYMPTOM_PEER_STALL);
    ck_assert_uint_eq(one->pattern[0].count, 1);
    ck_assert_uint_eq(one->pattern[0].components, 1);
    ck_assert_uint_eq(one->pattern[0].window, 0);
    ck_assert_int_eq(one->pattern[0].relation, RULES_SAME_NODE);
    ck_assert_int_eq(one->pattern[0].severity, FTREE_SEVERITY_INFO);
    ck_assert_int_eq(one->pattern[0].error, 0);
    ck_assert_int_eq(one->candidates, 2);
    ck_assert_int_eq(one->candidate[1].model, 1);
    ck_assert_int_eq(one->candidate[1].prior, 250);
    ck_assert_int_eq(one->derives, FTREE_SYMPTOM_FLOOD_QUERY);
    ck_assert_int_eq(one->strategy, 1);
    ck_assert_int_eq(rules->rule[1].derives, -1);
    ck_assert_str_eq(rules->well[0].name, "well/fine");
    ck_assert(!rules->well[0].at_once);
    ftree_rules_free(rules);
}

TEST_CASE(steps_are_in_the_order_of_time)
{
    struct ftree_rules *rules =
        read_text(changed(STEP, "{ \"ask\": \"log\", \"at_rto\": [4.5, 1] }, { \"ask\": \"state\","
                                " \"of\": \"agent\", \"over\": \"mgmt\", \"at_rto\": 1,"
                                " \"fresh\": true, \"if\": \"answered\" }"));
    const struct rules_strategy *s = &rules->strategy[0];

    ck_assert_int_eq(s->steps, 2);
    ck_assert_uint_eq(s->step[0].at_milli_rto, 0);
    ck_assert_uint_eq(s->step[1].at_milli_rto, 3000);
    ck_assert_int_eq(s->step[0].ask, RULES_ASK_RESPONSE);
    ck_assert_int_eq(s->step[0].of, RULES_OF_AGENT);
    ck_assert_int_eq(s->step[0].over, RULES_OVER_ALL);
    ck_assert_int_eq(s->step[0].if_, RULES_IF_ALWAYS);
    ck_assert(!s->step[0].fresh);
    s = &rules->strategy[1];
    ck_assert_int_eq(s->steps, 3);
    ck_assert_int_eq(s->step[0].ask, RULES_ASK_LOG);
    ck_assert_int_eq(s->step[1].ask, RULES_ASK_STATE); /* at the same time, but later in the file */
    ck_assert_int_eq(s->step[1].over, RULES_OVER_MGMT);
    ck_assert_int_eq(s->step[1].if_, RULES_IF_ANSWERED);
    ck_assert(s->step[1].fresh);
    ck_assert_uint_eq(s->step[2].at_milli_rto, 4500);
    ftree_rules_free(rules);
}

TEST_CASE(patterns)
{
    struct ftree_rules *rules = read_text(changed(
        STALL, "{ \"kind\": [\"peer-stall\", \"user-suspects\"], \"relation\": \"same-switch\","
               " \"count\": 7, \"components\": 2, \"window_ms\": 1500, \"severity\": \"error\","
               " \"errno\": \"EHOSTUNREACH\" }, { \"kind\": \"io-error\", \"errno\": 5 }"));
    const struct rules_pattern *p = rules->rule[0].pattern;

    ck_assert_int_eq(rules->rule[0].patterns, 2);
    ck_assert_uint_eq(p[0].kinds, (uint64_t) 1 << FTREE_SYMPTOM_PEER_STALL |
                                      (uint64_t) 1 << FTREE_SYMPTOM_USER_SUSPECTS);
    ck_assert_int_eq(p[0].relation, RULES_SAME_SWITCH);
    ck_assert_uint_eq(p[0].count, 7);
    ck_assert_uint_eq(p[0].components, 2);
    ck_assert_uint_eq(p[0].window, 1500 * FTREE_MS);
    ck_assert_int_eq(p[0].severity, FTREE_SEVERITY_ERROR);
    ck_assert_int_eq(p[0].error, EHOSTUNREACH);
    ck_assert_int_eq(p[1].error, 5);
    ftree_rules_free(rules);
}

TEST_CASE(models_and_their_relatives)
{
    struct ftree_rules *rules = read_text(
        changed("\"node-outage\",", "\"node-outage\", \"component\": \"node\", \"origin\":"
                                    " \"hardware\", \"symptoms\": [\"power-off\"], \"errno\":"
                                    " [\"EIO\", 110], \"causes\": \"slow\", \"masks\": [\"slow\"],"
                                    " \"even_if_well\": true,"));
    const struct rules_model *m = &rules->model[0];

    ck_assert_int_eq(m->class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_uint_eq(m->symptoms, (uint64_t) 1 << FTREE_SYMPTOM_POWER_OFF);
    ck_assert_uint_eq(m->causes, 2);
    ck_assert_uint_eq(m->masks, 2);
    ck_assert_int_eq(m->errors, 2);
    ck_assert_int_eq(m->error[0], EIO);
    ck_assert_int_eq(m->error[1], 110);
    ck_assert(m->even_if_well);
    ck_assert(!m->listed_only);
    ck_assert_int_eq(rules->model[1].signs, 1);
    ck_assert_str_eq(rules->model[1].sign[0].name, "slow/busy");
    ck_assert(rules->model[1].sign[0].condition[0].is_number);
    ck_assert_double_eq(rules->model[1].sign[0].condition[0].above, 7);
    ck_assert(isinf(rules->model[1].sign[0].condition[0].below));
    ftree_rules_free(rules);
}

TEST_CASE(alternatives_are_signs_of_one_name)
{
    struct ftree_rules *rules = read_text(
        changed(SIGN, "\"when\": [ { \"agent\": { \"not\": [\"answered\", \"refused\"] } },"
                      " { \"link\": \"gone\", \"link-errors\": { \"above\": 1, \"below\": 9 } } ],"
                      " \"about\": \"asker\", \"at_once\": true,"
                      " \"leaves_open\": [ { \"class\": \"nic-fault\", \"confidence\": 0.0754 } ],"
                      " \"rules_out\": [ { \"class\": \"unknown\", \"confidence\": 1 } ]"));
    const struct rules_sign *s = rules->model[0].sign;

    ck_assert_int_eq(rules->model[0].signs, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(s[i].name, "dead/mute");
        ck_assert_str_eq(s[i].text, "says nothing");
        ck_assert_int_eq(s[i].confidence, 900);
        ck_assert(s[i].about_asker && s[i].at_once);
        ck_assert_int_eq(s[i].candidates, 2);
        ck_assert_int_eq(s[i].candidate[0].class_, FTREE_CLASS_NIC_FAULT);
        ck_assert_int_eq(s[i].candidate[0].confidence, 75);
        ck_assert(!s[i].candidate[0].ruled_out && s[i].candidate[1].ruled_out);
    }
    ck_assert_int_eq(s[0].conditions, 1);
    ck_assert_int_eq(s[0].condition[0].fact, RULES_FACT_AGENT);
    ck_assert_uint_eq(s[0].condition[0].values,
                      0xff & ~(1u << FTREE_REACH_ANSWERED | 1u << FTREE_REACH_REFUSED));
    ck_assert_int_eq(s[1].conditions, 2);
    ck_assert_uint_eq(s[1].condition[0].values, 1u << FTREE_LINK_GONE);
    ck_assert_int_eq(s[1].condition[1].fact, RULES_NUMBER_LINK_ERRORS);
    ck_assert_double_eq(s[1].condition[1].below, 9);
    ftree_rules_free(rules);
}

/* What is only listed needs nobody to be asked, and a base nothing that is well. */
TEST_CASE(a_tiny_base)
{
    struct ftree_rules *rules =
        read_text("{\"schema\":\"faultloc-rules/1\",\"name\":\"tiny\","
                  "\"strategies\":[{\"name\":\"s\",\"steps\":[{\"ask\":\"log\",\"at_rto\":0}]}],"
                  "\"models\":[{\"name\":\"switch-fault\",\"listed_only\":true}],"
                  "\"rules\":[{\"name\":\"r\",\"if\":[{\"kind\":\"switch-down\"}],"
                  "\"then\":{\"candidates\":[{\"model\":\"switch-fault\",\"prior\":1}]}}]}");

    ck_assert_int_eq(rules->wells, 0);
    ck_assert_int_eq(rules->model[0].signs, 0);
    ck_assert_int_eq(rules->rule[0].strategy, -1);
    ftree_rules_free(rules);
}
