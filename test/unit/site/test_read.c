/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What ipmitool prints and a switch says: the words that a verdict gets of it. */

#include "faultloc/site/site.h"
#include "suite.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static char *out;
static size_t len;
static FILE *f;

BEFORE_EACH
{
    f = open_memstream(&out, &len);
}

AFTER_EACH
{
    free(out);
}

static const char *said(void)
{
    fclose(f);
    return out;
}

#define ON "{\"symptom\":\"power-on\",\"text\":\"chassis power is on\"}\n"
#define OFF "{\"symptom\":\"power-off\",\"text\":\"chassis power is off\"}\n"

static const struct {
    const char *text, *said;
} powers[] = {
    {"Chassis Power is on\n", ON},
    {"Chassis Power is off\n", OFF},
    {"Chassis Power is off\r\n", OFF},
    {"Chassis Power is off", OFF},
    {"noise\nChassis Power is on\nmore\n", ON},
    {"", ""},
    {"\n\n\n", ""},
    {"Chassis Power is", ""},
    {"Chassis Power is offline\n", ""},
    {"Chassis Power is onChassis Power is off\n", ""},
    {"Chassis Power is on\nChassis Power is off\n", ""}, /* it does not know */
    {" Chassis Power is on\n", ""},
    {"chassis power is on\n", ""},
};

TEST_CASES(of_the_power, COUNT(powers))
{
    ck_assert_int_eq(site_ipmi_power(powers[_i].text, f), *powers[_i].said != 0);
    ck_assert_str_eq(said(), powers[_i].said);
}

/* As ipmitool 1.8.19 writes them. */
static const struct {
    const char *text, *why;
} reasons[] = {
    {"> RAKP 2 message indicates an error : unauthorized name\n"
     "Error: Unable to establish IPMI v2 / RMCP+ session\n",
     "the BMC refuses the user or password"},
    {"RAKP 2 HMAC is invalid\nError: Unable to establish IPMI v2 / RMCP+ session\n",
     "the BMC refuses the user or password"},
    {"Get Auth Capabilities error\nError issuing Get Channel Authentication Capabilities request\n"
     "Error: Unable to establish IPMI v2 / RMCP+ session\n",
     "the BMC does not answer"},
    {"Address lookup for nix failed\nError: Unable to establish IPMI v2 / RMCP+ session\n",
     "the BMC's address is not known"},
    {"Error: Unable to establish IPMI v2 / RMCP+ session\n", "the BMC makes no session"},
    {"user secret is wrong", "ipmitool does not say whether the power is on"},
    {"", "ipmitool does not say whether the power is on"},
};

TEST_CASES(why_a_bmc_says_nothing, COUNT(reasons))
{
    ck_assert_str_eq(site_ipmi_why(reasons[_i].text), reasons[_i].why);
}

static const struct {
    const char *text, *said;
} sensors[] = {
    {"CPU Temp,98,degrees C,ucr\n",
     "{\"symptom\":\"temperature-high\",\"text\":\"sensor CPU Temp is at 98 degrees C: beyond its "
     "critical threshold\"}\n"},
    {"CPU Temp,98,degrees C,cr\nFan 1,0,RPM,lcr\nFan 2,0,RPM,lcr\n",
     "{\"symptom\":\"temperature-high\",\"text\":\"sensor CPU Temp is at 98 degrees C: beyond its "
     "critical threshold\"}\n"
     "{\"symptom\":\"fan-failed\",\"text\":\"sensor Fan 1 is at 0 RPM: beyond its critical "
     "threshold\"}\n"},
    {"12V,9.1,Volts,lnr", "{\"text\":\"sensor 12V is at 9.1 Volts: beyond its critical threshold\"}\n"},
    {"CPU Temp,40,degrees C,ok\n", ""},
    {"CPU Temp,85,degrees C,unc\n", ""},
    {"CPU Temp,No Reading,,ns\n", ""},
    {"DIMM,,,ok\n", ""},
    {",,,ucr\n", ""},
    {"ucr\n", ""},
    {",,,,,,,,,,,,,\n\n\n,", ""},
    {"", ""},
};

TEST_CASES(of_sensors, COUNT(sensors))
{
    site_ipmi_sensors(sensors[_i].text, f);
    ck_assert_str_eq(said(), sensors[_i].said);
}

static const struct {
    const char *text, *said;
} events[] = {
    {"1, Pre-Init ,0000067962,Memory #0x04,Uncorrectable ECC,Asserted\n",
     "{\"symptom\":\"memory-uncorrected\",\"text\":\"event log: Memory #0x04, Uncorrectable ECC ( Pre-Init  "
     "0000067962)\"}\n"},
    {"1,01/31/26,12:00:00,Memory #0x04,Uncorrectable ECC,Asserted\n"
     "2,01/31/26,12:00:01,OS Stop #0x09,OS Critical Stop,Asserted\n",
     "{\"symptom\":\"kernel-error\",\"text\":\"event log: OS Stop #0x09, OS Critical Stop (01/31/26 "
     "12:00:01)\"}\n"},
    {"1,01/31/26,12:00:00,Power Unit #0x01,AC lost,Asserted",
     "{\"text\":\"event log: Power Unit #0x01, AC lost (01/31/26 12:00:00)\"}\n"},
    {"1,01/31/26,12:00:00,Memory #0x04,Uncorrectable ECC,Deasserted\n", ""}, /* it is over */
    {"1,01/31/26,12:00:00,Memory #0x04,Correctable ECC,Asserted\n", ""},
    {"1,01/31/26\n,,,,Uncorrectable ECC,\n,,,,,Asserted\n", ""},
    {"SEL has no entries\n", ""},
    {"", ""},
};

TEST_CASES(of_events, COUNT(events))
{
    site_ipmi_events(events[_i].text, f);
    ck_assert_str_eq(said(), events[_i].said);
}

TEST_CASE(of_a_repository_of_sensors)
{
    ck_assert(site_ipmi_has_sensors("SDR Version  : 0x51\nRecord Count                        : 12\n"));
    ck_assert(!site_ipmi_has_sensors("Record Count                        : 0\n"));
    ck_assert(!site_ipmi_has_sensors("Record Count"));
    ck_assert(!site_ipmi_has_sensors("Record Count : unknown"));
    ck_assert(!site_ipmi_has_sensors(""));
    said();
}

/* Any cut of anything is read without harm. */
TEST_CASE(what_is_cut_short_is_read_without_harm)
{
    static const char all[] = "Chassis Power is on\nCPU Temp,98,degrees C,ucr\n,,,\nFan,0,RPM,lcr";
    char *text;

    for (size_t n = 0; n < sizeof(all); n++) {
        text = strndup(all, n); /* on the heap, where valgrind and the sanitizer see its end */
        site_ipmi_power(text, f);
        site_ipmi_sensors(text, f);
        site_ipmi_events(text, f);
        site_ipmi_has_sensors(text);
        site_ipmi_why(text);
        free(text);
    }
    said();
}

static const struct {
    struct site_port port;
    const char *said;
} ports[] = {
    {{1, 1, 0, 0, -1}, "{\"symptom\":\"port-up\",\"text\":\"port swp2 is up\"}\n"},
    {{1, 2, 0, 0, 3}, "{\"symptom\":\"port-down\",\"text\":\"port swp2 is down since 3 s\"}\n"},
    {{1, 7, -1, -1, -1}, "{\"symptom\":\"port-down\",\"text\":\"port swp2 is down\"}\n"},
    {{2, 2, 0, 0, 10},
     "{\"symptom\":\"port-disabled\",\"text\":\"port swp2 is switched off since 10 s\"}\n"},
    {{2, 1, 0, 0, -1}, "{\"symptom\":\"port-disabled\",\"text\":\"port swp2 is switched off\"}\n"},
    {{1, 1, 5, 7, -1},
     "{\"symptom\":\"port-up\",\"text\":\"port swp2 is up, 5 errors, 7 discards\"}\n"},
    {{1, 1, -1, 7, -1},
     "{\"symptom\":\"port-up\",\"text\":\"port swp2 is up, 0 errors, 7 discards\"}\n"},
#define NEITHER "{\"why_not\":\"the switch says neither that the port is up nor that it is down\"}\n"
    {{1, 4, 0, 0, -1}, NEITHER},
    {{3, 3, 0, 0, -1}, NEITHER},
    {{-1, -1, -1, -1, -1}, NEITHER},
    {{1, -1, 0, 0, 0}, NEITHER},
    {{1L << 40, -(1L << 40), 0, 0, 1e300}, NEITHER},
};

TEST_CASES(of_a_port, COUNT(ports))
{
    site_snmp_port("swp2", &ports[_i].port, f);
    ck_assert_str_eq(said(), ports[_i].said);
}

/* ---- a handler's line ------------------------------------------------------------------------ */

static const struct {
    const char *line, *said;
} lines[] = {
    {"{\"symptom\": \"port-up\", \"text\": \"up\", \"value\": 1}",
     "{\"handler\":\"h\",\"symptom\":\"port-up\",\"text\":\"up\"}"},
    {"{\"why_not\": \"busy\"}", "{\"handler\":\"h\",\"why_not\":\"busy\"}"},
    {"{\"text\": \"a\", \"handler\": \"another\"}", "{\"handler\":\"h\",\"text\":\"a\"}"},
    {"{\"symptom\": \"port-up\"}", NULL},
    {"{\"symptom\": 7, \"text\": \"a\"}", NULL},
    {"{\"symptom\": null, \"text\": \"a\"}", NULL},
    {"{\"symptom\": \"?\", \"text\": \"a\"}", NULL},
    {"{\"text\": 7}", NULL},
    {"{}", NULL},
    {"[]", NULL},
    {"null", NULL},
    {"\"text\"", NULL},
    {"", NULL},
    {"{\"text\": \"a\"", NULL},
    {"{\"text\": {\"a\": {\"b\": {\"c\": {\"d\": 1}}}}}", NULL},
};

TEST_CASES(a_line, COUNT(lines))
{
    struct json_object *o = site_line("h", lines[_i].line, strlen(lines[_i].line));

    if (lines[_i].said)
        ck_assert_str_eq(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), lines[_i].said);
    else
        ck_assert_ptr_null(o);
    json_object_put(o);
    said();
}

TEST_CASE(a_line_that_is_too_long_is_none)
{
    char line[SITE_LINE_MAX + 2];

    memset(line, ' ', sizeof(line));
    memcpy(line, "{\"text\": \"a\"}", 13);
    ck_assert_ptr_null(site_line("h", line, sizeof(line)));
    json_object_put(site_line("h", line, SITE_LINE_MAX));
    said();
}

TEST_CASE(a_long_text_is_cut)
{
    char line[SITE_LINE_MAX] = "{\"text\": \"";
    struct json_object *o;

    memset(line + 10, 'x', 900);
    strcpy(line + 910, "\"}");
    o = site_line("h", line, strlen(line));
    ck_assert_ptr_nonnull(o);
    ck_assert_int_lt((int) strlen(faultloc_text(o, "text")), 128);
    json_object_put(o);
    said();
}
