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
    site_ipmi_sensors(sensors[_i].text, true, NULL, f);
    ck_assert_str_eq(said(), sensors[_i].said);
}

/* A fan stands still because the node is off; heat is heat. */
TEST_CASE(of_sensors_without_power)
{
    site_ipmi_sensors("Fan 1,0,RPM,lcr\nFan 2,0,RPM,lnr\n12V,0,Volts,lcr\n", false, NULL, f);
    site_ipmi_sensors("CPU Temp,98,degrees C,ucr\n", false, NULL, f);
    ck_assert_str_eq(said(), "{\"symptom\":\"temperature-high\",\"text\":\"sensor CPU Temp is at 98 degrees "
                             "C: beyond its critical threshold\"}\n");
}

/* The rules have limits of the site's own: what a sensor itself holds for critical counts, too. */
TEST_CASE(of_sensors_with_limits)
{
    struct json_object *r = json_tokener_parse("{\"limits\": \"temperature-high>80,fan-failed<500\"}");

    site_ipmi_sensors("CPU Temp,80,degrees C,ok\nCPU 2 Temp,80.5,degrees C,ok\nFan 1,499,RPM,ok\n", true, r, f);
    json_object_put(r);
    ck_assert_str_eq(said(), "{\"symptom\":\"temperature-high\",\"text\":\"sensor CPU 2 Temp is at 80.5 degrees C: "
                             "beyond its limit in the rules\"}\n"
                             "{\"symptom\":\"fan-failed\",\"text\":\"sensor Fan 1 is at 499 RPM: beyond its limit in "
                             "the rules\"}\n");
}

static const struct {
    const char *limits;
    double value;
    bool beyond;
} limits[] = {
    {"fan-failed<500", 499, true},           {"fan-failed<500", 500, false},
    {"fan-failed>500", 501, true},           {"a>1,fan-failed<500", 499, true},
    {"fan-failed-too<500", 499, false},      {"fan-failed", 499, false},
    {"fan-failed<", -1, true},               {"fan-failed<1,fan-failed>9", 10, true},
    {"", 499, false},                        {",,,", 499, false},
};

TEST_CASES(a_value_beyond_a_limit, COUNT(limits))
{
    struct json_object *r = json_object_new_object();

    json_object_object_add(r, "limits", json_object_new_string(limits[_i].limits));
    ck_assert_int_eq(site_is_beyond(r, "fan-failed", limits[_i].value), limits[_i].beyond);
    ck_assert(!site_is_beyond(r, NULL, limits[_i].value));
    ck_assert(!site_is_beyond(NULL, "fan-failed", limits[_i].value));
    json_object_put(r);
    said();
}

#define CLOCK "01/31/26 12:00:40 UTC\n"
#define EVENT(of, words) "1,01/31/26,12:00:00," of " #0x01," words ",Asserted\n"
#define SAYS(symptom, of, words) \
    "{\"symptom\":\"" symptom "\",\"age_s\":40,\"text\":\"event log: " of " #0x01, " words \
    " (01/31/26 12:00:00)\"}\n"
#define ECC EVENT("Memory", "Uncorrectable ECC")
#define SAYS_ECC SAYS("memory-uncorrected", "Memory", "Uncorrectable ECC")
#define PRE_INIT "1, Pre-Init ,0000001856,Memory #0x04,Uncorrectable ECC,Asserted\n"
#define SAYS_PRE_INIT "{\"text\":\"event log: Memory #0x04, Uncorrectable ECC ( Pre-Init  0000001856"
#define WITHOUT_AGE "{\"text\":\"event log: Memory #0x01, Uncorrectable ECC (01/31/26 12:00:00)\"}\n"

static const struct {
    const char *text, *clock, *said;
} events[] = {
    {ECC, CLOCK, SAYS_ECC},
    {ECC, "01/31/2026 12:00:40\n", SAYS_ECC},
    {"1,01/31/26,12:00:00 UTC,Memory #0x01,Uncorrectable ECC,Asserted\n", CLOCK,
     "{\"symptom\":\"memory-uncorrected\",\"age_s\":40,\"text\":\"event log: Memory #0x01, "
     "Uncorrectable ECC (01/31/26 12:00:00 UTC)\"}\n"},
    {ECC, "Set Session Privilege Level\n" CLOCK, SAYS_ECC},
    /* how long ago is not known: it proves nothing */
    {ECC, "", WITHOUT_AGE},
    {ECC, "nonsense", WITHOUT_AGE},
    {ECC, "01/31/2026 11:59:59", WITHOUT_AGE},
    /* a BMC without a date */
    {PRE_INIT, CLOCK, SAYS_PRE_INIT ")\"}\n"},
    {PRE_INIT, "S+ 00:31:36\n",
     "{\"symptom\":\"memory-uncorrected\",\"age_s\":40,\"text\":\"event log: Memory #0x04, Uncorrectable "
     "ECC ( Pre-Init  0000001856)\"}\n"},
    {PRE_INIT, "S+ 01/02", SAYS_PRE_INIT ")\"}\n"},
    {"1, Pre-Init ,0000087445,Fan #0x31,Lower Critical going low,Asserted\n", "S+ 70/002 00:18:05\n",
     "{\"symptom\":\"fan-failed\",\"age_s\":40,\"text\":\"event log: Fan #0x31, Lower Critical going low "
     "( Pre-Init  0000087445)\"}\n"},
    {"1, Pre-Init ,0040000000,Fan #0x31,Lower Critical going low,Asserted\n", "S+ 71/098 23:07:20\n",
     "{\"symptom\":\"fan-failed\",\"age_s\":40,\"text\":\"event log: Fan #0x31, Lower Critical going low "
     "( Pre-Init  0040000000)\"}\n"},
    {ECC, "S+ 00:31:36\n", WITHOUT_AGE},
    {EVENT("Fan", "Lower Critical going low "), CLOCK,
     SAYS("fan-failed", "Fan", "Lower Critical going low ")},
    {EVENT("Temperature", "Upper Critical going high"), CLOCK,
     SAYS("temperature-high", "Temperature", "Upper Critical going high")},
    {EVENT("Power Supply", "Failure detected"), CLOCK,
     SAYS("power-supply-failed", "Power Supply", "Failure detected")},
    {EVENT("Drive Slot / Bay", "Drive Fault"), CLOCK,
     SAYS("disk-failed", "Drive Slot / Bay", "Drive Fault")},
    {EVENT("Processor", "IERR"), CLOCK, SAYS("cpu-failed", "Processor", "IERR")},
    {EVENT("Processor", "Thermal Trip"), CLOCK, SAYS("temperature-high", "Processor", "Thermal Trip")},
    /* of a kind the newest one; all kinds */
    {"1,01/31/26,11:00:00,Fan #0x01,Lower Critical going low,Asserted\n" EVENT(
         "Fan", "Lower Critical going low") EVENT("OS Stop", "OS Critical Stop"),
     CLOCK,
     SAYS("fan-failed", "Fan", "Lower Critical going low")
         SAYS("kernel-error", "OS Stop", "OS Critical Stop")},
    {EVENT("Power Unit", "AC lost"), CLOCK,
     "{\"age_s\":40,\"text\":\"event log: Power Unit #0x01, AC lost (01/31/26 12:00:00)\"}\n"},
    {"1,01/31/26,12:00:00,Memory #0x04,Uncorrectable ECC,Deasserted\n", CLOCK, ""}, /* it is over */
    {EVENT("Memory", "Correctable ECC"), CLOCK, ""},
    {EVENT("Voltage", "Lower Critical going low"), CLOCK, ""},
    {"1,01/31/26\n,,,,Uncorrectable ECC,\n,,,,,Asserted\n", CLOCK, ""},
    {"SEL has no entries\n", CLOCK, ""},
    {"", "", ""},
};

TEST_CASES(of_events, COUNT(events))
{
    char text[2048];

    snprintf(text, sizeof(text), "%s%s", events[_i].text, events[_i].clock);
    site_ipmi_events(text, f);
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
    static const char all[] = "1,01/31/26,12:00:00,Fan #1,Lower Critical going low,Asserted\n"
                              "Chassis Power is on\nCPU Temp,98,degrees C,ucr\n,,,\nFan,0,RPM,lcr";
    char *text;

    for (size_t n = 0; n < sizeof(all); n++) {
        text = strndup(all, n); /* on the heap, where valgrind and the sanitizer see its end */
        site_ipmi_power(text, f);
        site_ipmi_sensors(text, true, NULL, f);
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
    {"{\"symptom\": \"fan-failed\", \"age_s\": 40.9, \"text\": \"a\"}",
     "{\"handler\":\"h\",\"symptom\":\"fan-failed\",\"age_s\":40,\"text\":\"a\"}"},
    {"{\"text\": \"a\", \"age_s\": -1}", "{\"handler\":\"h\",\"text\":\"a\"}"},
    {"{\"text\": \"a\", \"age_s\": 1e300}", "{\"handler\":\"h\",\"text\":\"a\"}"},
    {"{\"text\": \"a\", \"age_s\": \"40\"}", "{\"handler\":\"h\",\"text\":\"a\"}"},
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
