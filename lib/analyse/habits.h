/*
 * habits.h - what coroutines that were made at one place do at another: how long they wait there, how that ends, and who ends it.
 *
 * One place for all suspensions, a park() say, has the waits of all sorts of coroutines; by where they were made these come apart.
 */
#ifndef CTP_HABITS_H
#define CTP_HABITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CTP_HABITS_MAX = 8192,   /* what is beyond counts as the first, which nothing is concluded from */
	CTP_HABIT_WAKERS = 8,    /* that are kept of each */
	CTP_HABIT_BACK = 16,     /* that came back last */
	CTP_HABIT_DIFFERENT = 3, /* coroutines that make a history */
};

struct ctp_habit {
	uint32_t spawn, place;
	uint64_t waits, total_ns, max_ns; /* that came to an end; max_ns but for those that count as late */
	uint64_t woken;  /* by a wake that was told */
	uint64_t inside; /* by another coroutine */
	uint64_t self;   /* waits that it ended itself, in none of the other numbers: it gave way */
	uint64_t nested; /* by no wake, but from within another coroutine that ran: as a generator is called */
	uint64_t who[CTP_HABIT_DIFFERENT]; /* that came back */
	uint64_t wakers[CTP_HABIT_WAKERS]; /* who woke them; */
	uint32_t from[CTP_HABIT_WAKERS];   /* and the habits of those, where they had waited before they ran and did so */
	uint8_t different, nwakers, nfrom;
	uint32_t asked, children;          /* wakes whose author was looked at; those by one that the woken has made */
	bool more_wakers, more_from;       /* than there is room for */
	struct {
		uint64_t id, from_ns;      /* who, and since when it had waited */
	} back[CTP_HABIT_BACK];
	uint32_t nback; /* where the next goes; from CTP_HABIT_BACK on there are so many, and it goes round */
	/* The judge's: of those who are there at the end */
	uint32_t here, stuck;              /* alive, that suspended there last; that nobody will wake */
	uint64_t longest_ns;
};

struct ctp_habits {
	struct ctp_habit *list; /* by number; 0: of nobody */
	uint32_t count;
	uint32_t *slots;
	uint64_t salt;
};

bool ctp_habits_init(struct ctp_habits *h); /* false: out of memory */
void ctp_habits_fini(struct ctp_habits *h);
void ctp_habits_clear(struct ctp_habits *h);
uint32_t ctp_habits_number(struct ctp_habits *h, uint32_t spawn, uint32_t place); /* 0: there are too many */

static inline bool ctp_habits_is(const struct ctp_habits *h, uint32_t number, uint32_t spawn, uint32_t place)
{
	return number && h->list[number].spawn == spawn && h->list[number].place == place;
}

/* One that came back, and may be another than those before; one that woke there, and may be another than those before. */
void ctp_habit_came_back(struct ctp_habit *habit, uint64_t id);
void ctp_habit_woken_by(struct ctp_habit *habit, uint64_t waker);

/* A wait that began then is over, after so long. waker: who woke it, 0: nobody that is known. */
static inline void ctp_habit_waited(struct ctp_habit *habit, uint64_t id, uint64_t from_ns, uint64_t ns, bool woken, uint64_t waker)
{
	habit->waits++;
	habit->total_ns += ns;
	habit->max_ns = ns > habit->max_ns ? ns : habit->max_ns;
	habit->woken += woken;
	if (waker) {
		habit->inside++;
		if (!habit->more_wakers)
			ctp_habit_woken_by(habit, waker);
	}
	if (__builtin_expect(habit->different < CTP_HABIT_DIFFERENT, 0))
		ctp_habit_came_back(habit, id);
	bool same = habit->nback && habit->back[(habit->nback - 1) % CTP_HABIT_BACK].id == id;
	uint32_t n = same ? habit->nback - 1 : habit->nback;
	habit->back[n % CTP_HABIT_BACK].id = id;
	habit->back[n % CTP_HABIT_BACK].from_ns = from_ns;
	habit->nback = n + 1 < 2 * CTP_HABIT_BACK ? n + 1 : n + 1 - CTP_HABIT_BACK;
}

void ctp_habit_woken_from(struct ctp_habit *habit, uint32_t from);

/* The last that came back had begun to wait later than that, and are several. partial: if few are known, some of them. */
bool ctp_habit_overtook(const struct ctp_habit *habit, uint64_t from_ns, bool partial);

#endif
