/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef STORIES_H_INCLUDED
#define STORIES_H_INCLUDED

/*
 * Traces of many lines that tests expect are stories in data files: those of
 * test/unit/ROOM/test_x.c are in test/unit/stories/x.txt, each below a line with the name of its test,
 *
 *     === a_leaf_is_lost
 *     1000 n0: rank 0 stalls, waits for rank 2
 *     1000 n0: suspects n2: peer-stall, rule stalled-peer
 *
 * and, where a test has several, ": " and which.  maint/update-stories.sh writes the files: with
 * UPDATE_STORIES=FOLDER in the environment nothing is compared, and what the tests say is written
 * to FOLDER/x.txt.
 */

/* Fails if what was said is not the story of the test that calls it, with the difference on stderr
 * and the command that accepts it. */
#define EXPECT_STORY(got) stories_expect((got), "", __FILE__, __LINE__, __func__)

/* The same with which of the test's stories it is, which several of its rows may tell. */
#define EXPECT_STORY_OF(got, which) stories_expect((got), (which), __FILE__, __LINE__, __func__)

/* `file`, `line` and `function` are those of the test. */
void stories_expect(const char *got, const char *which, const char *file, int line,
                    const char *function);

#endif /* STORIES_H_INCLUDED */
