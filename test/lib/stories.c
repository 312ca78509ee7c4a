/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "stories.h"

#include "suite.h"

#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD "=== "

extern char **environ;

/* "x" of "any/folder/test_x.c". */
static void find_suite(const char *file, char suite[64])
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

    name += strncmp(name, "test_", 5) == 0 ? 5 : 0;
    snprintf(suite, 64, "%.*s", (int) strcspn(name, "."), name);
}

/* Where the stories of that source file are: in the sources, wherever it was built. */
static void find_path(const char *file, const char *suite, char path[PATH_MAX])
{
    const char *top = getenv("top_srcdir"), *slash = strrchr(file, '/');

    if (top)
        snprintf(path, PATH_MAX, "%s/test/unit/stories/%s.txt", top, suite);
    else
        snprintf(path, PATH_MAX, "%.*s/../stories/%s.txt", slash ? (int) (slash - file) : 1,
                 slash ? file : ".", suite);
}

/* "test" or "test: which"; TEST_CASE() calls the function of a test test_body. */
static void find_name(const char *function, const char *which, char name[256])
{
    size_t len = strlen(function);

    if (len > 5 && strcmp(function + len - 5, "_body") == 0)
        len -= 5;
    snprintf(name, 256, "%.*s%s%s", (int) len, function, which[0] ? ": " : "", which);
}

/* The whole file, to be freed; empty where there is none. */
static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t len = 0;

    if (f && getdelim(&text, &len, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text ? text : calloc(1, 1);
}

/* The story of that name in a file's text, which is cut off behind it; NULL: there is none. */
static const char *find_story(char *text, const char *name)
{
    size_t len = strlen(name);
    char *head = text, *story, *next;

    while (head && (strncmp(head, HEAD, strlen(HEAD)) != 0 ||
                    strncmp(head + strlen(HEAD), name, len) != 0 ||
                    head[strlen(HEAD) + len] != '\n')) {
        head = strchr(head, '\n');
        head = head ? head + 1 : NULL;
    }
    if (!head)
        return NULL;
    story = head + strlen(HEAD) + len + 1;
    next = strncmp(story, HEAD, strlen(HEAD)) == 0 ? story : strstr(story, "\n" HEAD);
    if (next)
        *next = '\0'; /* the empty line before the next one goes with it */
    return story;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f))
        ck_abort_msg("%s cannot be written", path);
}

/* What diff -u says of the two, on stderr. */
static void show_difference(const char *expected, const char *got, const char *path,
                            const char *name)
{
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_MAX / 2], a[PATH_MAX], b[PATH_MAX], label[2 * PATH_MAX];
    char *arguments[] = {"diff", "-u", "--label", label, "--label", "this build", a, b, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;

    snprintf(folder, sizeof(folder), "%s/faultloc-story.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        ck_abort_msg("%s cannot be made", folder);
    snprintf(a, sizeof(a), "%s/expected", folder);
    snprintf(b, sizeof(b), "%s/got", folder);
    snprintf(label, sizeof(label), "%s: %s", path, name);
    write_file(a, expected);
    write_file(b, got);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (posix_spawnp(&pid, "diff", &actions, NULL, arguments, environ) != 0)
        fprintf(stderr, "no program diff; %s: %s is now\n%s", path, name, got);
    else
        waitpid(pid, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
    unlink(a);
    unlink(b);
    rmdir(folder);
}

/* Adds the story to the new file of its suite, where it may be told twice. */
static void update(const char *folder, const char *suite, const char *name, const char *got)
{
    char path[PATH_MAX], *text;
    const char *told;
    bool is_there;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.txt", folder, suite);
    text = read_all(path);
    told = find_story(text, name);
    is_there = told && strcmp(told, got) == 0;
    ck_assert_msg(!told || is_there, "%s has two stories %s: use EXPECT_STORY_OF()", suite, name);
    free(text);
    if (is_there)
        return;
    f = fopen(path, "a");
    if (!f)
        ck_abort_msg("%s cannot be written", path);
    if (ftell(f) == 0)
        fprintf(f, "What test_%s.c expects; maint/update-stories.sh writes this file.\n",
                suite);
    fprintf(f, "\n%s%s\n%s", HEAD, name, got);
    if (fclose(f))
        ck_abort_msg("%s cannot be written", path);
}

void stories_expect(const char *got, const char *which, const char *file, int line,
                    const char *function)
{
    const char *folder = getenv("UPDATE_STORIES"), *unit = strstr(file, "test/unit/"), *story, *end;
    char suite[64], path[PATH_MAX], name[256], here[PATH_MAX], *text;
    bool same;

    find_suite(file, suite);
    find_path(file, suite, path);
    find_name(function, which, name);
    if (folder && folder[0]) {
        update(folder, suite, name, got);
        return;
    }
    text = read_all(path);
    story = find_story(text, name);
    same = story && strcmp(story, got) == 0;
    if (!same)
        show_difference(story ? story : "", got, path, name);
    free(text);
    if (same)
        return;
    end = strstr(path, "/test/unit/stories/");
    ck_abort_msg("%s:%d: the trace differs from the story %s, as shown above. To accept it:\n"
                 "    %.*s%smaint/update-stories.sh --update --build '%s' %.*s",
                 file, line, name, end ? (int) (end - path) : 0, path, end ? "/" : "",
                 getcwd(here, sizeof(here)) ? here : ".",
                 unit ? (int) strlen(unit) - 2 : 0, unit ? unit : "");
}
