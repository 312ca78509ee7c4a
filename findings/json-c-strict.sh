#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# json-c 0.16 (Debian 0.16-2): JSON_TOKENER_STRICT passes NaN, Infinity and a line feed within a string, and a whole number
# of more than 64 bits becomes another number.
#
# json_tokener.h says of the flag "Be strict when parsing JSON input".  A guess: what passes is JSON by RFC 8259; and a
# number that fits no type of C's is an error (there is json_tokener_error_parse_number), or a double, as in other
# languages, or keeps its text, as a double does here ("1e400" is written as it was read).
# Seen: a trailing comma, a leading zero and "nan" are refused.  NaN, Infinity and a line feed or tab within a string
# pass.  A whole number above 2^64 - 1 is 2^64 - 1, one below -2^63 is -2^63, also in what
# json_object_to_json_string() writes, with json_tokener_success; the only trace is ERANGE in errno, which 1e400 leaves as
# well.  A key that is there twice passes; the last one holds.  So: identifiers of 128 bits are strings, and a reader that
# promises JSON looks for the rest by itself.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no compiler.
. "$(dirname "$0")/lib/packages.sh"
command -v gcc >/dev/null || { echo "SKIP: no compiler"; exit 77; }
unpack 'json-c 0.16-2' libjson-c5=0.16-2 libjson-c-dev=0.16-2
export LD_LIBRARY_PATH=$libraries
cat >strict.c <<'END'
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static void parse(const char *name, const char *text)
{
    struct json_tokener *tok = json_tokener_new();
    struct json_object *o;
    int error;

    json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
    errno = 0;
    o = json_tokener_parse_ex(tok, text, strlen(text) + 1);
    error = errno;
    printf("%s: ", name);
    if (json_tokener_get_error(tok) == json_tokener_success)
        printf("%s, %s, errno %d\n", json_type_to_name(json_object_get_type(o)), json_object_to_json_string(o), error);
    else
        printf("refused\n");
    json_object_put(o);
    json_tokener_free(tok);
}

int main(void)
{
    parse("NaN", "NaN");
    parse("nan", "nan");
    parse("[1,]", "[1,]");
    parse("01", "01");
    parse("Infinity", "Infinity");
    parse("-Infinity", "-Infinity");
    parse("a line feed in a string", "\"a\nb\"");
    parse("a tab in a string", "\"a\tb\"");
    parse("a key twice", "{\"a\":1,\"a\":2}");
    parse("2^64 - 1", "18446744073709551615");
    parse("2^64", "18446744073709551616");
    parse("2^127", "170141183460469231731687303715884105728");
    parse("-2^63 - 1", "-9223372036854775809");
    parse("1e400", "1e400");
    return 0;
}
END
gcc -w -I"$PWD/usr/include" -o strict strict.c -L"$libraries" -l:libjson-c.so.5
./strict | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
NaN: double, NaN, errno 0
nan: refused
[1,]: refused
01: refused
Infinity: double, Infinity, errno 0
-Infinity: double, -Infinity, errno 0
a line feed in a string: string, "a\nb", errno 0
a tab in a string: string, "a\tb", errno 0
a key twice: object, { "a": 2 }, errno 0
2^64 - 1: int, 18446744073709551615, errno 0
2^64: int, 18446744073709551615, errno 34
2^127: int, 18446744073709551615, errno 34
-2^63 - 1: int, -9223372036854775808, errno 34
1e400: double, 1e400, errno 34
END
echo "as seen with json-c 0.16"
