/* ppt-shared.c - which frames of a ring a child may have saved: by hand, with both writing to the same slots. */
#include "ppt/ppt-ring.h"

#include "tap.h"

enum { WORDS = 4, SLOTS = 16 };

static uint32_t slots[SLOTS][WORDS];
static struct ctp_ppt_ring ring;
static struct ctp_ppt_shared shared;

static void begin(void)
{
	memset(slots, 0, sizeof slots);
	ring = (struct ctp_ppt_ring){.data = slots, .slots = SLOTS, .stride = sizeof slots[0], .size = sizeof slots[0],
	                             .back = (WORDS - 1) * sizeof(uint32_t)};
	if (!ctp_ppt_shared_begin(&shared, &ring))
		abort();
}

/* Numbers begin with 1. */
static void save(uint32_t first, uint32_t last, uint32_t by)
{
	for (uint32_t n = first; n <= last; n++) {
		uint32_t *slot = slots[(n - 1) % SLOTS];
		slot[0] = slot[WORDS - 1] = n;
		slot[1] = n * 10 + by;
	}
}

/* Takes what is there, then sees who else has the ring: frames that are not verified as "FROM+COUNT"; "": none. */
static const char *look(bool others)
{
	static char text[64];
	uint32_t frame[WORDS];
	struct ctp_ppt_missing missing;
	struct ctp_ppt_doubt doubt;
	for (enum ctp_ppt_found found; (found = ctp_ppt_ring_next(&ring, frame, &missing, 1));)
		if (found == CTP_PPT_FRAME)
			ctp_ppt_shared_took(&shared, &ring, frame);
	text[0] = '\0';
	if (ctp_ppt_shared_look(&shared, &ring, others, true, &doubt))
		snprintf(text, sizeof text, "%u+%" PRIu64, doubt.number, doubt.count);
	return text;
}

static const char *end(void)
{
	static char text[64];
	struct ctp_ppt_doubt doubt;
	text[0] = '\0';
	if (ctp_ppt_shared_end(&shared, &ring, &doubt))
		snprintf(text, sizeof text, "%u+%" PRIu64, doubt.number, doubt.count);
	return text;
}

enum { PARENT, CHILD };

static void test_ahead(void)
{
	begin();
	save(1, 3, PARENT);
	is(look(false), "", "alone");
	save(4, 8, CHILD);
	is(look(true), "", "a child is there: it is not known yet");
	is(look(false), "", "it has gone");
	is(look(false), "", "and all that it has saved is taken");
	save(4, 8, PARENT);
	is(look(false), "", "the process saves the same numbers");
	save(9, 9, PARENT);
	is(look(false), "4+5", "and then one more: those before are not its own");
	save(10, 12, PARENT);
	is(look(false), "", "the next ones are");
	is(end(), "", "also at the end");
}

static void test_idle(void)
{
	begin();
	save(1, 3, PARENT);
	look(false);
	save(4, 6, PARENT);
	look(true);
	look(false);
	look(false);
	save(7, 8, PARENT);
	is(look(false), "", "a child that saves nothing: all is as it was");
	is(end(), "", "also at the end");
}

static void test_late(void)
{
	begin();
	save(1, 2, PARENT);
	look(false);
	save(3, 5, CHILD);
	look(true);
	look(false);
	save(6, 7, CHILD); /* before it went, but nobody has looked */
	look(false);
	save(3, 7, PARENT);
	is(look(false), "", "a last one that is not taken yet is waited for");
	save(8, 8, PARENT);
	is(look(false), "3+5", "and is among them");
}

static void test_end(void)
{
	begin();
	save(1, 2, PARENT);
	look(false);
	save(3, 5, CHILD);
	look(true);
	look(false);
	look(false);
	is(end(), "3+3", "a process that saves no more: nobody knows");
	begin();
	save(1, 2, PARENT);
	look(false);
	look(true);
	is(end(), "", "without a frame since, nothing is to be known");
}

static void test_again(void)
{
	begin();
	save(1, 2, PARENT);
	look(false);
	save(3, 4, CHILD);
	look(true);
	look(false);
	look(false);
	look(true); /* another child, before the process has shown itself */
	save(3, 5, PARENT);
	look(false);
	look(false);
	save(6, 6, PARENT);
	is(look(false), "3+3", "two children, one after the other");
}

static void test_round(void)
{
	begin();
	save(1, 2, PARENT);
	look(false);
	for (uint32_t n = 3; n < 43; n++) {
		save(n, n, PARENT);
		look(true);
	}
	look(false);
	look(false);
	save(43, 43, PARENT);
	is(look(false), "3+40", "what the ring has no more cannot be verified");
}

int main(void)
{
	test_ahead();
	test_idle();
	test_late();
	test_end();
	test_again();
	test_round();
	ctp_ppt_shared_fini(&shared);
	return done_testing();
}
