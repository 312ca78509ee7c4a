/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

const struct survey_kind survey_kinds[SURVEY_KINDS] = {
    [FTREE_QUERY_STATUS] = {.at_node = survey_status_at_node,
                            .wire = survey_status_wire,
                            .is_shared = true},
    [FTREE_QUERY_SET] = {.at_root = survey_set_at_root,
                         .at_node = survey_set_at_node,
                         .at_end = survey_set_at_end},
    [FTREE_QUERY_HANG] = {.at_node = survey_hang_at_node,
                          .wire = survey_hang_wire,
                          .has_causes = true},
    [FTREE_QUERY_STACKS] = {.at_node = survey_stacks_at_node,
                            .wire = survey_stacks_wire,
                            .is_shared = true,
                            .longer = FTREE_STACKS_TIME},
    [FTREE_QUERY_LAG] = {.at_node = survey_lags_at_node,
                         .wire = survey_lags_wire,
                         .at_end = survey_lags_at_end,
                         .has_causes = true,
                         .is_shared = true},
    [SURVEY_VICTIMS] = {.over = survey_victims_over}};
