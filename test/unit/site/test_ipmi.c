/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What is asked of a BMC, in which order, and with which arguments: a program stands for ipmitool. */

#include "faultloc/site/site.h"
#include "suite.h"

#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define ON "{\"symptom\":\"power-on\",\"text\":\"chassis power is on\"}\n"
#define OFF "{\"symptom\":\"power-off\",\"text\":\"chassis power is off\"}\n"
#define FAN "{\"symptom\":\"fan-failed\",\"text\":\"sensor Fan 1 is at 0 RPM: beyond its critical threshold\"}\n"
#define POWER "*'power status') echo Chassis Power is on;;\n"
#define INFO "*'sdr info') echo 'Record Count : 1';;\n"
#define EVENTS \
    "*'sel list last 16') echo '1,01/31/26,12:00:00,Fan #0x01,Lower Critical going low,Asserted';;\n"
#define SENSORS "*'-c sdr') echo 'Fan 1,0,RPM,lcr';;\n"

static char folder[] = "/tmp/faultloc-ipmi-XXXXXX", script[80];

/* A login with all of them, but for `without`. */
static struct json_object *request(const char *without)
{
    static const char *const member[][2] = {
        {"address", "10.0.0.17"}, {"user", "reader"}, {"password", "not in sight"}, {"port", "6230"}};
    struct json_object *r = json_object_new_object();

    for (int i = 0; i < COUNT(member); i++)
        if (!without || strcmp(without, member[i][0]))
            json_object_object_add(r, member[i][0], json_object_new_string(member[i][1]));
    return r;
}

/* By what it does: exec does what the lines of a file say, and goes on where one fails. */
static char *ask(const char *cases, const char *without)
{
    struct json_object *r = request(without);
    char *out = NULL, path[120];
    size_t len = 0;
    FILE *f;

    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/ipmitool", folder);
    if (cases) {
        f = fopen(script, "w");
        fprintf(f,
                "#!/bin/sh\ncase \"$*\" in\n"
                "*'-c exec /proc/self/fd/4') while read -r l; do \"$0\" -c $l; done <&4;;\n"
                "%s*) exit 1;;\nesac\n",
                cases);
        fclose(f);
        ck_assert_int_eq(chmod(script, 0700), 0);
    }
    snprintf(path, sizeof(path), cases ? "%s:/bin:/usr/bin" : "%s", folder);
    setenv("PATH", path, 1);
    f = open_memstream(&out, &len);
    site_ipmi(r, f);
    fclose(f);
    json_object_put(r);
    unlink(script);
    rmdir(folder);
    return out;
}

static const struct {
    const char *cases, *said;
} answers[] = {
    {POWER "*) exit 1;;\n", ON},
    {"*'power status') echo Chassis Power is off;;\n", OFF},
    {POWER INFO SENSORS, ON FAN},
    {POWER SENSORS, ON}, /* sensors are not asked for where nobody said that there are any */
    {POWER "*'sdr info') echo 'Record Count : 0';;\n" SENSORS, ON},
    {POWER "*'sdr info') exit 1;;\n" SENSORS, ON},
    {POWER INFO "*'-c sdr') echo 'Fan 1,0,RPM,lcr'; exit 1;;\n", ON}, /* not all came */
    {"*'power status') echo Chassis Power is off;;\n" INFO SENSORS, OFF}, /* without power it stands */
    {POWER EVENTS, ON "{\"text\":\"event log: Fan #0x01, Lower Critical going low (01/31/26 12:00:00)\"}\n"},
    {POWER "*' -v '*) echo no table;;\n" EVENTS INFO SENSORS, /* but of power */
     ON "{\"text\":\"event log: Fan #0x01, Lower Critical going low (01/31/26 12:00:00)\"}\n" FAN},
    {POWER EVENTS "*'sel time get') echo 01/31/2026 12:00:40;;\n",
     ON "{\"symptom\":\"fan-failed\",\"age_s\":40,"
        "\"text\":\"event log: Fan #0x01, Lower Critical going low (01/31/26 12:00:00)\"}\n"},
    {"*) echo 'nonsense';;\n", "{\"why_not\":\"ipmitool does not say whether the power is on\"}\n"},
    {"*) echo Chassis Power is on; exit 1;;\n", "{\"why_not\":\"ipmitool does not say whether the power is on\"}\n"},
    {"*) head -c 10000000 /dev/zero;;\n", "{\"why_not\":\"ipmitool does not say whether the power is on\"}\n"},
    {"*) kill -9 $$;;\n", "{\"why_not\":\"ipmitool does not say whether the power is on\"}\n"},
    {NULL, "{\"why_not\":\"ipmitool is not installed\"}\n"},
};

TEST_CASES(of_a_bmc, COUNT(answers))
{
    char *out = ask(answers[_i].cases, NULL);

    ck_assert_str_eq(out, answers[_i].said);
    free(out);
}

/* Only who reads, at the port that is named; and the password by a descriptor, where nobody sees it. */
TEST_CASE(the_arguments)
{
    char *out = ask("'-I lanplus -C 3 -N 1 -R 1 -L USER -H 10.0.0.17 -p 6230 -U reader -f "
                    "/proc/self/fd/3 -v chassis power status')\n"
                    "    [ \"$(cat <&3)\" = 'not in sight' ] && ! env | grep -q 'in sight' &&\n"
                    "        echo Chassis Power is on;;\n",
                    NULL);

    ck_assert_str_eq(out, ON);
    free(out);
    out = ask("*' -p 623 '*'power status') echo Chassis Power is on;;\n", "port");
    ck_assert_str_eq(out, ON);
    free(out);
}

TEST_CASE(a_login_in_part)
{
    static const char *const without[] = {"address", "user", "password"};

    for (int i = 0; i < COUNT(without); i++) {
        char *out = ask("*) echo Chassis Power is on;;\n", without[i]);
        ck_assert_str_eq(out, "{\"why_not\":\"it needs address, user and password, as strings\"}\n");
        free(out);
    }
}
