/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * What this rank waits for, when its agent asks (board/wait_area.h).  The rank says it at the next
 * turn of its wait, or when the next call that asks for something returns without it: there the
 * requests are at hand, and nothing of them need be noted before.
 */

/* Turns of progress in which nobody has answered, after which the question is answered as well as
 * can be: the rank is in a loop that notes nothing. */
#define PATIENT_TURNS 256

uint32_t MPIDI_faultloc_asked;

static int unanswered; /* turns */

static void begin_writing(struct faultloc_wait_area *area)
{
    area->writing++;
    atomic_thread_fence(memory_order_release);
}

static void end_writing(struct faultloc_wait_area *area, uint32_t asked)
{
    area->answered = asked;
    area->writing++;
}

static struct MPIDI_faultloc_wanted wanted_by(const struct faultloc_wait_area *area)
{
    int32_t n = area->with_n;

    return (struct MPIDI_faultloc_wanted) {
        area->with, n < 0 ? 0 : n < WAITS_PEERS_MAX ? n : WAITS_PEERS_MAX
    };
}

/* With MPI_THREAD_MULTIPLE, too, as long as no other thread waits in MPI. */
static bool polls_alone(const struct MPIDI_faultloc_wait *wait)
{
    return wait->polls && MPIDI_faultloc_is_alone();
}

/* At what other threads may have at hand, too. */
static void look_around(struct waits_page *page, const struct MPIDI_faultloc_wanted *with,
                        const struct MPIDI_faultloc_wait *wait)
{
    if (MPIDI_faultloc_is_one_of_many() && !polls_alone(wait))
        MPIDI_faultloc_spread_other_comms(page);
    MPIDI_faultloc_fill_posted(page, with);
    MPIDI_faultloc_fill_sent(page, with);
}

static void write_page(struct faultloc_wait_area *area, uint32_t asked,
                       const struct MPIDI_faultloc_wanted *with,
                       const struct MPIDI_faultloc_wait *wait)
{
    struct waits_page *page = &area->page;
    uint64_t switches;

    begin_writing(area);
    area->call = MPIDI_FAULTLOC_CALL;
    page->records = 1;
    if (polls_alone(wait)) {
        MPIDI_faultloc_tell_polls(&page->record[0], wait);
    } else if (MPIDI_faultloc_is_one_of_many()) {
        page->records = MPIDI_faultloc_copy_reported(page);
    } else {
        MPIDI_faultloc_fill_record(&page->record[0], wait);
    }
    MPIDI_faultloc_fill_exchanges(page, with);
    page->posted = page->last = 0;
    page->posted_more = true;
    if ((FAULTLOC_ONE_LOCK || page->records > 0) && MPIDI_faultloc_is_undisturbed(&switches))
        look_around(page, with, wait);
    end_writing(area, asked);
}

/* The next turn of a wait, in whichever thread, is one that answers. */
static void ask_next_turn(void)
{
    MPIDI_faultloc_asked = 1;
    MPIDI_faultloc_page.slot.spins |= 255;
}

/* True: not all threads have reported what they wait for, and they are given time. */
static bool waits_for_threads(struct MPIDI_faultloc_wait *wait, uint32_t asked)
{
    ftree_time since = MPIDI_faultloc_open_for(asked);

    if (!MPIDI_faultloc_lacks_threads(wait, since))
        return false;
    ask_next_turn();
    MPIDI_faultloc_give_way(wait, since);
    return true;
}

static void answer(struct MPIDI_faultloc_wait *wait)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();
    uint32_t asked = area ? area->asked : 0;
    bool open = area && asked != area->answered;
    struct MPIDI_faultloc_wanted with;

    if (open && polls_alone(wait) && !MPIDI_faultloc_is_measured(wait, asked)) {
        unanswered = 0;         /* this loop does note its wait */
        return;
    }
    if (open && MPIDI_faultloc_has_many_threads() && !polls_alone(wait) &&
        waits_for_threads(wait, asked))
        return;
    MPIDI_faultloc_asked = 0;
    unanswered = 0;
    if (!open)
        return;
    with = wanted_by(area);
    write_page(area, asked, &with, wait);
    MPIDI_faultloc_forget_reported();
}

/* Where each VCI has a lock two threads may come at once. */
void MPIDI_faultloc_answer(struct MPIDI_faultloc_wait *wait)
{
    static atomic_flag is_taken = ATOMIC_FLAG_INIT;

    if (FAULTLOC_ONE_LOCK) {
        answer(wait);
    } else if (!atomic_flag_test_and_set_explicit(&is_taken, memory_order_acquire)) {
        answer(wait);
        atomic_flag_clear_explicit(&is_taken, memory_order_release);
    }
}

/* Its turns are measured, also after the answer: the next question comes soon.  Of several threads
 * in MPI, waiting for MPICH's lock would look like work. */
void MPIDI_faultloc_answer_poll(struct MPIDI_faultloc_wait *wait)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();

    MPIDI_faultloc_answer(wait);
    if (area && MPIDI_faultloc_is_alone() && MPIDI_faultloc_turn_ends(area->answered)) {
        MPIDI_faultloc_asked = 1;
        MPIDI_FAULTLOC_SET_NEWS();
    }
}

static bool is_overdue(uint32_t asked)
{
    return MPIDI_faultloc_has_many_threads() ?
        MPIDI_faultloc_open_for(asked) > FAULTLOC_PATIENT_NS : ++unanswered > PATIENT_TURNS;
}

void MPIDI_faultloc_take_question(void)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();
    struct MPIDI_faultloc_wait nothing = {.mode = WAITS_FOR_NONE };

    MPIDI_faultloc_turn_begins();
    if (!area || area->asked == area->answered)
        return;
    if (is_overdue(area->asked)) {
        MPIDI_faultloc_answer(&nothing);
        return;
    }
    ask_next_turn();
    MPIDI_FAULTLOC_SET_NEWS();
}

/* The rank is in MPI_Finalize, its communicators are still there: from here on nothing changes. */
void MPIDI_faultloc_last_words(void)
{
    static const struct MPIDI_faultloc_wanted all;
    const struct MPIDI_faultloc_wait nothing = {.mode = WAITS_FOR_NONE };
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();

    if (area)
        write_page(area, area->asked, &all, &nothing);
}

/* But for the ranks that the agent asks about. */
void MPIDI_faultloc_answer_at_end(void)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();
    uint32_t asked = area ? area->asked : 0;
    struct MPIDI_faultloc_wanted with;

    if (!area || asked == area->answered)
        return;
    with = wanted_by(area);
    begin_writing(area);
    MPIDI_faultloc_fill_exchanges(&area->page, &with);
    end_writing(area, asked);
}
