/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctp.h - the cTP probe for C and C++: the code in a traced program. One header for Linux, which needs only libc.
 *
 *	struct ctp_coro co;                 // one for each coroutine, anywhere, for as long as it lives
 *	ctp_coro_new(&co, (uintptr_t)task); // it is spawned
 *	ctp_coro_suspend(&co, CTP_HERE);    // it is about to give up its thread, here
 *	ctp_coro_wake(&co);                 // it is ready to run
 *	ctp_coro_resume(&co);               // it runs again, on this thread
 *	ctp_coro_death(&co);                // it has ended
 *
 * There is nothing to start, and nothing that must be linked. A program that a collector started finds it through its environment
 * (CTP_SHM_PATH, CTP_SOCK_PATH, CTP_MAX_STATIONS). Any other program creates a memory file that a collector can find later
 * (/proc/PID/fd). If CTP_RECORD=1 is set, it records the last states of its coroutines there; otherwise each call costs a few loads
 * and does nothing.
 *
 * The probe never blocks, takes no lock, calls no malloc, raises no signal, prints nothing, is no cancellation point, does not
 * change errno, and does not depend on the collector, which may be slow, stopped or dead. (With ctp-collect --lossless it may
 * wait, but never longer than that option allows.)
 *
 * This header has three parts: the layout of the shared memory (define CTP_LAYOUT_ONLY to get only that); the calls; and the
 * implementation of the calls. Each file that includes the header compiles the implementation, which takes about a second of CPU time,
 * and the linker keeps one copy. To compile it once, define CTP_LIBRARY for all files, as pkg-config ctp-probe does, and link
 * libctp-probe.a, or define CTP_IMPLEMENTATION in one file before the include.
 *
 * ctp-protocol(5) describes the protocol. Names that end in _ are private.
 */
#if !defined CTP_LAYOUT_ONLY && (!defined CTP_LIBRARY || defined CTP_IMPLEMENTATION)
#define CTP_DEFINES_ 1
#endif
#if defined CTP_DEFINES_ && !defined _DEFAULT_SOURCE && !defined _GNU_SOURCE && !defined _FEATURES_H
#define _DEFAULT_SOURCE 1 /* a strict -std=c11 hides what the probe needs, unless this is defined before the first header */
#endif

#ifndef CTP_LAYOUT_H
#define CTP_LAYOUT_H

#define CTP_SDK_VERSION "0.1.0"
#define CTP_SDK_VERSION_NUMBER 100 /* 10000 * major + 100 * minor + patch */

#include <stddef.h>
#include <stdint.h>

/* A cast, in C and in C++. In C++ it is written as a function call, because -Wold-style-cast warns of the form that C has. */
#ifdef __cplusplus
extern "C++" {
template <class T> using ctp_type_ = T;
}
#define CTP_TO_(type, value) (ctp_type_<type>(value))
#else
#define CTP_TO_(type, value) ((type)(value))
#endif

/* --- the layout ----------------------------------------------------------------------------------------------------------- */

/*
 * Both sides read and write these fields only by relaxed (or stronger) atomics, because the other side is another process that
 * may do anything at the same time. The structs are plain, so that C and C++ agree on them, and __atomic builtins access them.
 *
 * Fields of version 1 of the protocol are marked. All others are in its padding, or in the annex after the stations: the places
 * where coroutines are spawned and suspended ("sites"), a ring of entries for each thread, and the last state of each object
 * that coroutines wait for.
 *
 *	header | max_stations stations | max_sites sites | max_rings ring descriptors | max_objects keys and as many objects |
 *	max_rings times 2^ring_bits entries
 */
#define CTP_SHM_MAGIC UINT64_C(0x434F524F54524352) /* "COROTRCR" */
#define CTP_SHM_VERSION UINT32_C(1)
#define CTP_SHM_SLOTS 8u
#define CTP_SHM_WAKES 4u
#define CTP_SHM_REASONS 4u
#define CTP_SHM_HOLDERS 51u
#define CTP_SHM_OBJECTS_FEW 2048u /* objects in the first part of their table */
#define CTP_SHM_OBJECT_KEYS 8u    /* places in each part where a key can be: one cache line */

struct ctp_shm_header {
	/* version 1 */
	uint64_t magic;
	uint32_t version;
	uint32_t max_stations;
	uint32_t allocated_count; /* of stations; exceeds max_stations by the coroutines that got none */
	uint32_t tracer_sleeping; /* 1: send a byte after the next event */
	uint8_t pad[40];

	/* Where the annex is: written once, before magic. */
	uint64_t annex;    /* CTP_ANNEX_MAGIC, or there is none */
	uint64_t bytes;    /* of the whole memory */
	uint64_t sites_at; /* from the beginning of the memory, as are the next two; multiples of a page of 64 KiB */
	uint64_t rings_at;
	uint64_t entries_at;
	uint32_t max_sites;
	uint32_t max_rings;
	uint32_t ring_bits; /* a ring holds 2^ring_bits entries */
	uint32_t clock;     /* CTP_CLOCK_RAW: times may be those of the processor's counter */
	uint64_t owner;     /* pid of the program that created this for itself; 0: a collector did */

	/* What a collector requests, and which one it is: changed only by collectors, or by the owner while there is none. */
	uint32_t mode;    /* CTP_MODE_...; 0: record nothing */
	uint32_t epoch;   /* changes when a collector attaches or leaves */
	uint32_t wait_us; /* with CTP_MODE_LOSSLESS: the longest wait */
	uint32_t gaps;    /* how often mode became 0; its low half is in the high half of each other mode */
	uint64_t made_raw, made_ns, raw_hz; /* the counter, CLOCK_MONOTONIC at the same moment, and its frequency (0: unknown) */
	uint64_t since_ns; /* CLOCK_MONOTONIC: slots are kept since then; older ones need not have the last event. 0: always */
	uint8_t pad_clock[16];

	/* Changed by each birth and death. */
	uint64_t free; /* stack of stations: low half: index + 1, 0 if empty; high half: changes with each change */
	uint32_t sites_used, rings_used; /* may exceed max_... */
	uint64_t lost_notes, lost_events; /* as in a ring, for threads that have none */
	uint64_t refused; /* coroutines without a station, because the system had no memory for it */
	uint8_t pad_free[24];

	char sock[108]; /* where the collector of this epoch listens */
	uint8_t pad_sock[20];

	/* The table of objects. */
	uint64_t objects_at;   /* as sites_at, and written with it; 0: there is none */
	uint32_t max_objects;  /* a multiple of 16 */
	uint32_t objects_used; /* parts of the table in use: 0: none, 1: its first CTP_SHM_OBJECTS_FEW, 2: all */
	uint64_t lost_objects; /* how often there was no place for an object */
	uint8_t reserved[616];
};

struct ctp_shm_slot {
	/* version 1 */
	uint64_t timestamp; /* CLOCK_MONOTONIC, ns; or of the counter, if the station says so */
	uint64_t tid;
	uint64_t addr; /* where it is suspended; 0 when it runs */
	uint64_t seq;
	uint8_t reserved[24];
	/* An extension, in the end of v1's reserved[31]: as in an entry of a ring. */
	__extension__ union {
		uint64_t what;
		__extension__ struct {
			uint8_t number_and_site[7];
			uint8_t is_active; /* version 1 */
		};
	};
};

/* The coroutine became ready to run. Best effort: concurrent wakers may tear it. */
struct ctp_shm_wake {
	uint64_t ts;
	uint64_t waker; /* CTP_REF, or 0 */
	uint32_t tid, marks; /* CTP_MARK_... */
	uint64_t generation; /* of the coroutine that was woken; 0: none */
};

struct ctp_shm_station {
	/* version 1 */
	uint64_t probe_id;
	uint64_t birth_ts;
	uint8_t is_dead; /* an extension: 2 once the station is on the stack of free stations */
	uint8_t pad[47];
	struct ctp_shm_slot slots[8];
	/* v1 calls the rest flexible[448] and gives it no meaning. */
	uint64_t announce;   /* CTP_ANNOUNCE(flags); with any other value, nothing is announced */
	__extension__ union {
		uint64_t tenure; /* both: CTP_TENURE. They change only together */
		__extension__ struct {
			uint32_t generation; /* how many coroutines have had this station; 0: its writer does not use the annex */
			uint32_t next_free;  /* index + 1 of the next one on the stack of free stations; or CTP_OWNED */
		};
	};
	uint64_t first;      /* number of this coroutine's first event: numbers continue from one generation to the next */
	uint64_t events;     /* number after the last event, once the coroutine has ended */
	uint64_t death_ts;
	uint64_t parent;     /* the coroutine that spawned it: CTP_REF, or 0 */
	uint32_t spawn_site;
	uint32_t pid;        /* of its writer */
	uint32_t nwakes;     /* of all coroutines of this station: the last is in wakes[(nwakes - 1) % CTP_SHM_WAKES] */
	uint8_t pad_wakes[28];
	uint32_t name_seq;   /* odd while the name is written */
	uint32_t name_bytes;
	char name[96];
	uint64_t awaits;      /* the coroutine that a suspension waits for, if recorded: CTP_REF */
	uint64_t await_event; /* the number of that suspension, */
	uint32_t await_generation; /* and of its coroutine */
	uint32_t await_marks; /* CTP_MARKS */
	uint8_t pad_await[40];
	struct ctp_shm_wake wakes[CTP_SHM_WAKES];
	uint64_t reasons[CTP_SHM_REASONS]; /* what a suspension waits for, if recorded: as the value of an entry, */
	uint32_t reason_whats[CTP_SHM_REASONS]; /* and as its number */
	uint64_t reason_event; /* the number of that suspension, */
	uint32_t reason_generation; /* of its coroutine, */
	uint32_t nreasons; /* and how many there are; more than CTP_SHM_REASONS: not all are kept */
};

struct ctp_shm_site {
	uint32_t ready; /* 1, stored last: the rest is complete and does not change */
	uint32_t line;
	uint16_t file_bytes, function_bytes; /* of text, one after the other; if both do not fit, the file loses its beginning */
	uint32_t code_bytes; /* 8: text ends with an address in the function, by which its line can be looked up; otherwise 0 */
	char text[240];
};

/*
 * The last state of an object that coroutines wait for. The object has the same index as its key, CTP_OBJECT_KEY of pid and
 * address. The key is in one of the CTP_SHM_OBJECT_KEYS places from CTP_OBJECT_PLACE on, in the first part of the table or in the
 * second. A key of 0 is a free place.
 *
 * Any thread may change the object at any time. A writer adds 1 to begun, makes its change, and adds 1 to done. A reader loads
 * done, copies the rest, and loads begun: if both are equal, the copy is whole, and contains that number of changes. The number of
 * a change is the value of begun after the addition; the site of a CTP_ENTRY_HOLDS is its low 24 bits. Where a coroutine got what it
 * holds is not kept here: see CTP_ENTRY_AT.
 */
struct ctp_shm_object {
	uint32_t begun, done;
	uint32_t pid;
	uint32_t what;     /* CTP_REASON with its kind and marks; CTP_OBJECT_RAW: its times are those of the counter */
	uint64_t object;   /* its address */
	uint64_t made_ts;  /* when it was new; 0: not known */
	uint32_t made, label; /* sites: where that was, and one whose function is the object's name; or 0 */
	uint32_t all;      /* how much was available then */
	int32_t others;    /* how much others than the holders below hold; negative: more was given back than was held */
	uint64_t available, available_ts; /* and since when it is 0, or not 0; 0: not known */
	uint64_t room, room_ts;           /* the same for the room in a queue with a limit */
	uint64_t closed_ts; /* when it was closed; 0: it is open */
	uint64_t held_ts;   /* when holders changed last */
	/*
	 * Holders after these are 0. It only grows until the object is new again. Relaxed: a coroutine gives back what it took before, so
	 * the thread that counts this runs after the one that stored its place here, by the order of the program itself.
	 */
	uint32_t holders_used;
	uint32_t holders_zero;
	uint64_t holders[CTP_SHM_HOLDERS]; /* CTP_HOLDER of the coroutine << 16 | how much it holds; or 0 */
};

struct ctp_shm_ring {
	/* the writer's */
	uint64_t head;  /* entries published in all: the next goes to head modulo size */
	uint64_t owner; /* pid << 32 | tid of the thread that writes; 0: none yet */
	uint64_t lost_events, lost_notes; /* transitions, and entries of other kinds, for which there was no room, in all */
	uint64_t clock; /* of this ring: CTP_CLOCK_RAW, or else CLOCK_MONOTONIC in ns */
	uint64_t said_events, said_notes, gap_ts; /* how many of these a CTP_ENTRY_GAP has reported; since when there are more */
	/* the collector's */
	uint64_t tail; /* entries that it has read */
	/* the writer's, seldom written: ranges of numbers without an entry, from the first to the one after the last */
	uint64_t back_from, back_to; /* the writer went back to the beginning of the ring */
	uint64_t over_from, over_to; /* then it skipped entries that were not yet read */
	uint8_t pad[24];
};

struct ctp_shm_entry {
	uint64_t ts;    /* by the ring's clock */
	uint64_t value; /* see below */
	uint64_t ref;   /* CTP_REF of the coroutine */
	uint64_t what;  /* CTP_ENTRY */
};

enum {
	/*                             value                                          number */
	CTP_ENTRY_SUSPEND = 0, /*      where: addr                                    of the event, its low 32 bits */
	CTP_ENTRY_RESUME = 1,  /*      0                                              the same */
	CTP_ENTRY_BIRTH = 3,   /*      probe_id                                       0 */
	CTP_ENTRY_DEATH = 4,   /*      number of the event after the last             its low 32 bits */
	CTP_ENTRY_WAKE = 5,    /*      the waker: CTP_REF, or 0                       CTP_MARK_... */
	CTP_ENTRY_NAME = 6,    /*      0                                              name_seq */
	CTP_ENTRY_THREAD = 7,  /*      owner of the ring from here on; ref 0          0 */
	CTP_ENTRY_GAP = 8,     /*      transitions lost from ts to the next; ref 0    other entries lost */
	CTP_ENTRY_AWAIT = 9,   /*      target of its next suspension: CTP_REF         CTP_MARK_... */
	CTP_ENTRY_REASON = 10, /*      what it waits for: deadline, descriptor, or    CTP_REASON */
	                       /*      address of an object */
	CTP_ENTRY_OBJECT = 11, /*      address; ref: how much of it is available      CTP_REASON */
	CTP_ENTRY_LABEL = 12,  /*      address; ref 0; the site's function is a name  0 */
	CTP_ENTRY_HOLDS = 13,  /*      address; site: the change's number, or 0       how much more it holds, or less: an int32_t */
	CTP_ENTRY_FOR = 14,    /*      address of the object of its wake, which is    0 */
	                       /*      the previous entry, with the same time */
	CTP_ENTRY_AT = 15,     /*      address; site: where the coroutine got that,   0 */
	                       /*      as the next entry says, with the same time */
};
/* In the number of an entry. Ignore bits that you do not know. */
#define CTP_MARK_LEAVING UINT32_C(1) /* wake: the waker is suspended, but the code of its suspension still runs on the thread */
#define CTP_MARK_YIELD UINT32_C(2)   /* wake: the coroutine yields; it is its own waker */
#define CTP_MARK_STAYED UINT32_C(4)  /* wake: the coroutine has not given up its thread; it is its own waker */
#define CTP_MARK_JOIN UINT32_C(1)    /* await: only the end of the target ends the wait */
/* What a suspension waits for, in the number of an entry: CTP_FOR_..., marks, and how much of it. */
enum {
	CTP_FOR_TIMER = 1, /* a time of CLOCK_MONOTONIC, in ns */
	CTP_FOR_FD,        /* a descriptor */
	CTP_FOR_LOCK,      /* an object, here and below; a lock has one holder at a time, or many that share it */
	CTP_FOR_PERMITS,   /* of a pool, such as a semaphore */
	CTP_FOR_ITEM,      /* something in a queue */
	CTP_FOR_ROOM,      /* room in a queue */
	CTP_FOR_EVENT,     /* a flag that is set, or a condition that is notified */
	CTP_FOR_BARRIER,   /* others that arrive */
	CTP_FOR_OTHER,
};
#define CTP_MARK_SHARED UINT32_C(1)      /* a lock that several may hold at the same time, as for reading */
#define CTP_MARK_TIMED UINT32_C(2)       /* the wait has a time-out */
#define CTP_MARK_CANCELLABLE UINT32_C(4) /* other code may end the wait without the object */
#define CTP_MARK_RESTS UINT32_C(8)       /* waiting for ever is in order: a worker without work, a subscriber */
#define CTP_MARK_OWNED UINT32_C(16)      /* an object: only its holder gives it back; other permits may be released by anybody */
#define CTP_MARK_CLOSED UINT32_C(32)     /* an object: it will never be available again; its waiters should be resumed */
#define CTP_MARK_GONE UINT32_C(64)       /* an object: it is destroyed, and its address may be reused */
#define CTP_MARK_MADE UINT32_C(128)      /* an object: it is new, and any older one at its address is gone */
#define CTP_REASON(what, marks, n) \
	((CTP_TO_(uint32_t, what) & 0xff) | (CTP_TO_(uint32_t, marks) & 0xff) << 8 | CTP_TO_(uint32_t, (n) < 0xffff ? (n) : 0xffff) << 16)
#define CTP_REASON_WHAT(number) ((number) & 0xff)
#define CTP_REASON_MARKS(number) ((number) >> 8 & 0xff)
#define CTP_REASON_COUNT(number) ((number) >> 16)
/* Marks in a station. The generation is part of the word, because a writer that does not know marks leaves the old ones there. */
#define CTP_MARKS(generation, marks) (CTP_TO_(uint32_t, generation) << 8 | ((marks) & 0xff))
#define CTP_MARKS_OF(word, generation) ((word) >> 8 == (CTP_TO_(uint32_t, generation) & 0xffffff) ? (word) & 0xff : 0)
#define CTP_ENTRY(kind, site, number) \
	(CTP_TO_(uint64_t, kind) << 56 | CTP_TO_(uint64_t, (site) & 0xffffff) << 32 | CTP_TO_(uint32_t, number))
/* Skip entries of a kind that you do not know, and entries with a ref of 0 unless the table above says ref 0. */
#define CTP_ENTRY_KIND(what) (CTP_TO_(unsigned, (what) >> 56))
#define CTP_ENTRY_SITE(what) (CTP_TO_(uint32_t, (what) >> 32) & 0xffffff)
#define CTP_ENTRY_NUMBER(what) (CTP_TO_(uint32_t, what))

/* Names one coroutine, although stations are reused. */
#define CTP_REF(generation, index) (CTP_TO_(uint64_t, generation) << 32 | (CTP_TO_(uint64_t, index) + 1))
#define CTP_REF_GENERATION(ref) (CTP_TO_(uint32_t, (ref) >> 32))
#define CTP_REF_INDEX(ref) (CTP_TO_(uint32_t, ref) - 1)

/* Objects in the memory. No memory has more stations than CTP_HOLDER has room for. */
#define CTP_OBJECT_RAW UINT32_C(0x10000)
#define CTP_OBJECT_KEY(pid, at) (CTP_TO_(uint64_t, at) ^ CTP_TO_(uint64_t, pid) * UINT64_C(0x9e3779b97f4a7c15))
#define CTP_OBJECT_PLACE(key, places) \
	(CTP_TO_(uint32_t, (key) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ((places) / CTP_SHM_OBJECT_KEYS) * CTP_SHM_OBJECT_KEYS)
#define CTP_HOLDER(ref) (((ref) & 0x3fffff) << 26 | ((ref) >> 32 & 0x3ffffff))
#define CTP_HOLDER_INDEX(holder) (CTP_TO_(uint32_t, (holder) >> 26) - 1)
#define CTP_HOLDER_GENERATION(holder) (CTP_TO_(uint32_t, holder) & 0x3ffffff) /* its low 26 bits */

#define CTP_ANNEX_MAGIC UINT64_C(0x3158454e4e415443) /* "CTANNEX1" in this order */
#define CTP_CLOCK_MONOTONIC 0u
#define CTP_CLOCK_RAW 1u

#define CTP_OWNED UINT32_MAX /* in next_free: a coroutine has the station, until whoever frees it exchanges tenure */
#define CTP_TENURE(generation, next_free) (CTP_TO_(uint64_t, generation) | CTP_TO_(uint64_t, next_free) << 32)

#define CTP_MODE_RECORD 1u     /* coroutines get stations; without rings these are freed when the coroutine ends */
#define CTP_MODE_RINGS 2u      /* a collector reads the rings, and frees the station of a coroutine when it has read its death */
#define CTP_MODE_MEMBARRIER 4u /* it calls membarrier(2) between setting tracer_sleeping and its last look */
#define CTP_MODE_LOSSLESS 8u   /* wait for room in a ring, at most for wait_us */
#define CTP_MODE_BARE 16u      /* rings only: nothing is written to the slots */
#define CTP_MODE_KEEP 32u      /* continue recording when the collector leaves */
#define CTP_MODE_SKIPS 64u     /* the collector supports numbers without an entry */
#define CTP_MODE_GAPS(gaps) (CTP_TO_(uint32_t, gaps) << 16) /* so that a thread notices that recording was off for some time */

/*
 * What a writer promises for a station, from its birth to its end. It is stored with release after probe_id and birth_ts and
 * before the first event: a reader that loads it with acquire, or finds an event, sees the header complete.
 */
#define CTP_ANNOUNCE_MAGIC UINT32_C(0x2b505443) /* "CTP+" */
#define CTP_ANNOUNCE_ORDERED UINT32_C(1)        /* seqlock dialect; a slot's odd mark is visible before any of its payload */
#define CTP_ANNOUNCE_ANNEX UINT32_C(2)          /* seqlock; the fields after announce are kept, and the rings have its events */
#define CTP_ANNOUNCE_BARRIER UINT32_C(4)        /* seqlock; slots are for readers that call membarrier(2) before and after a copy */
#define CTP_ANNOUNCE_RAW UINT32_C(8)            /* times in this station are those of the counter */
#define CTP_ANNOUNCE_HAND UINT32_C(16)          /* its events are written by hand; some, and its end, may be missing */
#define CTP_ANNOUNCE(flags) (CTP_TO_(uint64_t, CTP_ANNOUNCE_MAGIC) | CTP_TO_(uint64_t, flags) << 32)
#define CTP_ANNOUNCE_IS(word) (CTP_TO_(uint32_t, word) == CTP_ANNOUNCE_MAGIC)
#define CTP_ANNOUNCE_FLAGS(word) (CTP_TO_(uint32_t, (word) >> 32)) /* ignore flags that you do not know */

#ifdef __cplusplus
#define CTP_ASSERT_(what) static_assert(what, #what)
#else
#define CTP_ASSERT_(what) _Static_assert(what, #what)
#endif
#define CTP_AT_(type, field, at) CTP_ASSERT_(offsetof(struct type, field) == (at))
CTP_AT_(ctp_shm_header, magic, 0x00);
CTP_AT_(ctp_shm_header, version, 0x08);
CTP_AT_(ctp_shm_header, max_stations, 0x0c);
CTP_AT_(ctp_shm_header, allocated_count, 0x10);
CTP_AT_(ctp_shm_header, tracer_sleeping, 0x14);
CTP_AT_(ctp_shm_header, annex, 0x40);
CTP_AT_(ctp_shm_header, max_sites, 0x68);
CTP_AT_(ctp_shm_header, mode, 0x80);
CTP_AT_(ctp_shm_header, made_raw, 0x90);
CTP_AT_(ctp_shm_header, free, 0xc0);
CTP_AT_(ctp_shm_header, refused, 0xe0);
CTP_AT_(ctp_shm_header, sock, 0x100);
CTP_AT_(ctp_shm_header, objects_at, 0x180);
CTP_AT_(ctp_shm_header, reserved, 0x198);
CTP_ASSERT_(sizeof(struct ctp_shm_header) == 1024);
CTP_AT_(ctp_shm_slot, timestamp, 0x00);
CTP_AT_(ctp_shm_slot, tid, 0x08);
CTP_AT_(ctp_shm_slot, addr, 0x10);
CTP_AT_(ctp_shm_slot, seq, 0x18);
CTP_AT_(ctp_shm_slot, what, 0x38);
CTP_AT_(ctp_shm_slot, is_active, 0x3f);
CTP_ASSERT_(sizeof(struct ctp_shm_slot) == 64);
CTP_AT_(ctp_shm_station, probe_id, 0x000);
CTP_AT_(ctp_shm_station, birth_ts, 0x008);
CTP_AT_(ctp_shm_station, is_dead, 0x010);
CTP_AT_(ctp_shm_station, pad, 0x011);
CTP_AT_(ctp_shm_station, slots, 0x040);
CTP_AT_(ctp_shm_station, announce, 0x240);
CTP_AT_(ctp_shm_station, tenure, 0x248);
CTP_AT_(ctp_shm_station, generation, 0x248);
CTP_AT_(ctp_shm_station, next_free, 0x24c);
CTP_AT_(ctp_shm_station, first, 0x250);
CTP_AT_(ctp_shm_station, death_ts, 0x260);
CTP_AT_(ctp_shm_station, spawn_site, 0x270);
CTP_AT_(ctp_shm_station, nwakes, 0x278);
CTP_AT_(ctp_shm_station, name_seq, 0x298);
CTP_AT_(ctp_shm_station, name, 0x2a0);
CTP_AT_(ctp_shm_station, awaits, 0x300);
CTP_AT_(ctp_shm_station, await_marks, 0x314);
CTP_AT_(ctp_shm_station, wakes, 0x340);
CTP_AT_(ctp_shm_station, reasons, 0x3c0);
CTP_AT_(ctp_shm_station, reason_event, 0x3f0);
CTP_ASSERT_(sizeof(struct ctp_shm_station) == 1024);
CTP_ASSERT_(sizeof(struct ctp_shm_site) == 256);
CTP_AT_(ctp_shm_object, object, 0x10);
CTP_AT_(ctp_shm_object, available, 0x30);
CTP_AT_(ctp_shm_object, holders_used, 0x60);
CTP_AT_(ctp_shm_object, holders, 0x68);
CTP_ASSERT_(sizeof(struct ctp_shm_object) == 512); /* it divides CTP_RESERVE_: no object is in two pieces */
CTP_AT_(ctp_shm_ring, tail, 0x40);
CTP_AT_(ctp_shm_ring, back_from, 0x48);
CTP_AT_(ctp_shm_ring, over_from, 0x58);
CTP_ASSERT_(sizeof(struct ctp_shm_ring) == 128);
CTP_ASSERT_(sizeof(struct ctp_shm_entry) == 32);

#endif

#if !defined CTP_LAYOUT_ONLY && !defined CTP_PROBE_H
#define CTP_PROBE_H

/* --- the probe ------------------------------------------------------------------------------------------------------------ */

#if !defined __linux__ || !defined __GNUC__
#error "ctp.h is for Linux, with gcc or clang"
#endif
#if defined CTP_SETUID && defined CTP_LIBRARY && !defined CTP_IMPLEMENTATION
#error "CTP_SETUID has no effect on libctp-probe.a: define it with CTP_IMPLEMENTATION in one file, and link that file instead"
#endif
#if !defined __LP64__ || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ctp.h is for little-endian 64-bit systems"
#endif

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A coroutine. The caller owns the struct; one of zeros is valid and not traced. It may move between threads with the coroutine.
 * For one coroutine, each call must end before the next begins, except for ctp_coro_wake; whatever orders the steps of the
 * coroutine itself suffices. (So a signal handler must not trace the coroutine that it interrupts; it may trace others.)
 *
 * After a fork, calls for the child's copy do nothing, because a station has one writer, the parent. Coroutines that the child
 * spawns have stations of their own. (Between vfork and exec there is only the parent's memory: make no calls there.)
 */
struct ctp_coro {
	const uint32_t *mode_; /* what to record now; null: nothing, ever */
	struct ctp_probe_ *probe_;
	struct ctp_shm_station *station_; /* null: none yet */
	uint64_t events_; /* number of its next event; without a station, the CTP_ANNOUNCE_... that it will have */
	uint64_t ref_, id_;
	uint64_t before_; /* the coroutine that ran on this thread when it was resumed */
};

/* A place in the source. CTP_SITE makes one; it lives for ever. */
struct ctp_site {
	const char *file, *function;
	uint32_t line;
	uint64_t number_; /* low half; the high half names the memory for which it is valid */
};

/*
 * Attaches to a collector, or creates a memory that a collector can attach to, if that was not done yet. Returns whether anything
 * is recorded. The first ctp_coro_new does it too; a program that changes its environment or its root, or drops privileges, should
 * call this first.
 */
static inline bool ctp_init(void);

/* Keeps the last states of coroutines from now on, for a collector that attaches later, as CTP_RECORD=1 does. */
static inline bool ctp_record(void);

/* Whether events of this process are recorded now. */
static inline bool ctp_traced(void);

/*
 * The coroutine is spawned. id is the program's number for it (such as an address; it may be reused), or 0 for a number from the
 * probe. Its parent is the coroutine that runs on this thread. If nothing is recorded, or there is no station left, co is not
 * traced; in the first case it is traced from its first event after recording begins.
 */
#define ctp_coro_new(co, id) ctp_coro_new_at((co), (id), CTP_SITE)
static inline void ctp_coro_new_at(struct ctp_coro *co, uint64_t id, struct ctp_site *spawned);

/* Names it for people: up to 96 bytes of UTF-8, any number of times. */
static inline void ctp_coro_name(struct ctp_coro *co, const char *name);

/* Whether it has a station, and the id that it has there (0: none). */
static inline bool ctp_coro_traced(const struct ctp_coro *co);
static inline uint64_t ctp_coro_id(const struct ctp_coro *co);

/* addr says where: CTP_HERE, or another address such as that of the coroutine's frame. */
#define ctp_coro_suspend(co, addr) ctp_coro_suspend_at((co), (addr), CTP_SITE)
static inline void ctp_coro_suspend_at(struct ctp_coro *co, const void *addr, struct ctp_site *site);
static inline void ctp_coro_resume(struct ctp_coro *co);

/*
 * It yields: it is suspended, and ready to run again at once, without a ctp_coro_wake. Call this before it is in a run queue and
 * can be resumed. (A ctp_coro_wake for the running coroutine before its ctp_coro_suspend is recorded in the same way.)
 */
#define ctp_coro_yield(co, addr) ctp_coro_yield_at((co), (addr), CTP_SITE)
static inline void ctp_coro_yield_at(struct ctp_coro *co, const void *addr, struct ctp_site *site);

/*
 * The next suspension on this thread waits for target: for its end or its next result. If target may have ended, as the holder of a
 * lock may, keep its ref instead, as for a wake.
 */
static inline void ctp_coro_await(struct ctp_coro *co, const struct ctp_coro *target);
static inline void ctp_coro_await_ref(struct ctp_coro *co, uint64_t target);

/*
 * The same, with a promise: only the end of target ends the wait. No time-out, no cancellation and no other coroutine does.
 */
static inline void ctp_coro_join(struct ctp_coro *co, const struct ctp_coro *target);
static inline void ctp_coro_join_ref(struct ctp_coro *co, uint64_t target);

/*
 * The caller makes it ready to run. Call this before it can be resumed, from any thread, before it ends. If it may have ended, keep
 * its ref and wake that: a ref names this coroutine alone, even if its memory is reused.
 */
static inline void ctp_coro_wake(struct ctp_coro *co);
static inline uint64_t ctp_coro_ref(const struct ctp_coro *co);
static inline void ctp_ref_wake(uint64_t ref);

/*
 * What the next suspension on this thread waits for: a time of CLOCK_MONOTONIC, a descriptor (for events of poll(2): POLLIN,
 * POLLOUT), or n of an object. There may be several; the first that is fulfilled ends the wait. Four are kept. marks:
 * CTP_MARK_SHARED, _TIMED, _CANCELLABLE, _RESTS.
 *
 * A call without marks promises that nothing else ends the wait: the report calls a circle of such waits proved. A wait with any
 * of the four marks is no part of a proof.
 */
static inline void ctp_coro_waits_until(struct ctp_coro *co, uint64_t deadline_ns, uint32_t marks);
static inline void ctp_coro_waits_fd(struct ctp_coro *co, int fd, uint32_t events, uint32_t marks);
static inline void ctp_coro_waits_for(struct ctp_coro *co, const void *object, uint32_t what, uint32_t n, uint32_t marks);

/*
 * An object that coroutines wait for: a lock, a queue, a pool. It is identified by an address; `what` is CTP_FOR_LOCK and so on.
 *
 * ctp_object_new: it is new; name is a string that exists as long as the program, or null. marks: CTP_MARK_OWNED.
 * ctp_object: this much is available. Call it when that becomes 0 and when it stops being 0, and at each change if coroutines wait
 * for more than one and holders are not recorded. A queue with a limit has two counts, CTP_FOR_ITEM and CTP_FOR_ROOM.
 * ctp_object_close: coroutines that wait for it should be resumed without it.
 * ctp_object_end: it is destroyed, and its address may be reused.
 *
 * Call each before you wake a coroutine because of it.
 */
#define ctp_object_new(object, what, available, name, marks) \
	ctp_object_at((object), (what), (available), (name), (marks) | CTP_MARK_MADE, CTP_SITE)
#define ctp_object(object, what, available) ctp_object_at((object), (what), (available), NULL, 0, NULL)
static inline void ctp_object_at(const void *object, uint32_t what, uint64_t available, const char *name, uint32_t marks,
                                 struct ctp_site *made);
static inline void ctp_object_close(const void *object);
static inline void ctp_object_end(const void *object);

/*
 * The coroutine holds n more of the object, or fewer if n is negative. Call it after the coroutine got them, and before any
 * coroutine gives them back. Code that hands them to another coroutine calls it for both. Use the ref if the coroutine may have
 * ended. The site is where it got them: that of this call, or the one of your caller if your code is a lock or a pool.
 */
#define ctp_coro_holds(co, object, n) ctp_coro_holds_at((co), (object), (n), CTP_SITE)
#define ctp_ref_holds(ref, object, n) ctp_ref_holds_at((ref), (object), (n), CTP_SITE)
static inline void ctp_coro_holds_at(const struct ctp_coro *co, const void *object, int n, struct ctp_site *site);
static inline void ctp_ref_holds_at(uint64_t ref, const void *object, int n, struct ctp_site *site);

/* Like ctp_coro_wake and ctp_ref_wake, with the object that the wake is for. */
static inline void ctp_coro_wake_for(struct ctp_coro *co, const void *object);
static inline void ctp_ref_wake_for(uint64_t ref, const void *object);

/* The last call; further ones do nothing. */
static inline void ctp_coro_death(struct ctp_coro *co);

/*
 * What CTP_SITE makes. Hidden: otherwise the linker would merge the site in an inline C++ function across all objects, and an
 * object with a merged symbol is never unloaded.
 */
#ifdef __cplusplus
#define CTP_OWN_ __attribute__((visibility("hidden")))
#else
#define CTP_OWN_
#endif
struct CTP_OWN_ ctp_site_own_ {
	struct ctp_site site;
};

/* The address of the code at CTP_HERE; the site of CTP_SITE. */
#define CTP_HERE ctp_here_()
#define CTP_SITE                                                                                   \
	__extension__({                                                                            \
		static struct ctp_site_own_ ctp_site_ = { { __FILE__, __func__, CTP_TO_(uint32_t, __LINE__), 0 } }; \
		&ctp_site_.site;                                                                   \
	})

/*
 * The number of a site that is known only at run time, as in C++ and other languages. It is found by the address of its file and by
 * its line, so the strings must exist as long as the program. 0: nothing is recorded, or there are too many sites.
 */
static inline uint32_t ctp_site_number(const char *file, uint32_t line, const char *function);
static inline void ctp_object_in(const void *object, uint32_t what, uint64_t available, const char *name, uint32_t marks,
                                 uint32_t made);
static inline void ctp_ref_holds_in(uint64_t ref, const void *object, int n, uint32_t site);
static inline void ctp_coro_new_in(struct ctp_coro *co, uint64_t id, uint32_t spawned);
static inline void ctp_coro_suspend_in(struct ctp_coro *co, const void *addr, uint32_t site);
static inline void ctp_coro_yield_in(struct ctp_coro *co, const void *addr, uint32_t site);

/* --- what the calls know of the probe --------------------------------------------------------------------------------------- */

/*
 * The version of what files must agree on to be linked with each other: struct ctp_coro, all that follows it, and ctp.hpp and
 * ctp-asio.hpp. It is part of the symbols of C, of the namespaces of C++, and of CTP_LINK_KIND_.
 */
#define CTP_ABI_ 2

enum {
	CTP_FD_ = 960,          /* our descriptors are from here on, if possible, so that the program's own numbers do not change */
	CTP_FD_LAST_ = 1023,
	CTP_FRESH_ = 1024,      /* new stations that are taken although others are free */
	CTP_HELD_ = 4,          /* attachments of other objects that are released at unloading; further ones never are */
	CTP_LANES_ = 2,         /* rings of a thread: a signal handler that interrupts a probe call uses the second */
	CTP_PLACES_ = 2048,     /* in the table of ctp_site_number */
	CTP_RESERVE_ = 65536,   /* bytes of the memory that are allocated at once, aligned to that: the largest page size */
	CTP_RINGS_KNOWN_ = 8192,
	CTP_RINGS_MANY_ = 1024, /* from then on, rings of processes that have ended are searched before a new one is taken */
	CTP_STATIONS_ = 65536,  /* in a memory that we create */
	CTP_SITES_ = 16384,
	CTP_OBJECTS_ = 65536,
	CTP_RING_BITS_ = 20,
	CTP_WAIT_US_ = 1 << 24, /* no wait is longer, whatever wait_us says */
};

#ifndef CTP_TURN_BITS_
#define CTP_TURN_BITS_ 14 /* a writer goes back after a multiple of this many entries: 512 KiB, which fit into caches */
#endif

/* Bytes of an object in the memory, with its key; and the number of pieces of CTP_RESERVE_ bytes of the whole table, rounded up. */
#define CTP_OBJECT_BYTES_ (sizeof(uint64_t) + sizeof(struct ctp_shm_object))
#define CTP_OBJECT_PIECES_ ((CTP_OBJECTS_ * CTP_OBJECT_BYTES_ / CTP_RESERVE_ / 64 + 1) * 64)

#define CTP_BUSY_ UINT64_MAX /* no tag and mode, not even with the tag 0 of a child */

struct ctp_place_ {
	uint64_t key; /* 0: free */
	uint32_t number;
};

/*
 * An attachment. It has pages of its own, which the kernel zeroes in the child of a fork (MADV_WIPEONFORK). So in the child every
 * inherited handle finds mode null, and so does the next ctp_coro_new, which attaches again in new pages. This works for fork, and
 * for a clone without atfork handlers, and costs the hot path one load.
 *
 * Copies of the probe in different objects share it: see ctp_link_. An object that is unloaded releases it, and the last one frees
 * it. The thread-local variable of a copy refers only to attachments that this copy holds, so an address identifies one attachment
 * as long as it is used: see tag.
 */
struct ctp_probe_ {
	const uint32_t *mode; /* in the header, or version 1's, which is v1_mode */
	struct ctp_shm_header *shm;
	char *base; /* of all but the entries; null: only the header is mapped yet */
	uint64_t key; /* of this process and this memory */
	uint64_t tag; /* of this address, in the high half */
	uint32_t v1_mode, pid, serial;
	bool tried; /* if mode is null too: there is nothing to attach to */
	bool annex, raw;
	bool borrowed; /* the descriptor of the memory is another copy's */
	bool named; /* the memory is a file of a file system, which may be full */
	bool fenced; /* membarrier(2) does not reach this process: it needs fences of its own */

	/* The geometry, checked. */
	uint64_t sites_at, rings_at, objects_at, entries_at;
	uint32_t max_stations, max_sites, max_rings, max_objects, ring_bits;

	/* Descriptors. Low half: number + 1, high half: inode number; 0: none. The program may have closed or replaced them. */
	uint64_t mem, mem_dev, sock, sock_dev;
	uint32_t sock_epoch, ring_from, unserved;

	/* Offsets up to which the memory of each table is allocated: see ctp_reserved_. */
	uint64_t stations_to, sites_to, rings_to;
	uint64_t object_pieces[CTP_OBJECT_PIECES_ / 64]; /* of their table, a bit for each CTP_RESERVE_ bytes that are allocated */
	uint32_t refusals; /* in a row */

	struct ctp_link_ *link; /* null in the child of a fork, and where mode is */
	uint64_t link_fd, link_dev;
	uint32_t nonce;
	uint32_t asked; /* whether a connection was tried, once */
	bool again;     /* sites of the program may already be in the table */

	struct ctp_place_ places[CTP_PLACES_];
	uint64_t place_of[CTP_PLACES_]; /* the copy whose place it is, as ctp_copy_ has it; 0: none */
	uint64_t ring_of[CTP_RINGS_KNOWN_]; /* likewise */
	struct ctp_shm_entry *entries[CTP_RINGS_KNOWN_]; /* of each ring that was ever mapped here */
};

/*
 * How copies of the probe in one process find each other, although the linker hides their symbols: by a memory file with this
 * struct among our descriptors. Copies of the same kind that are attached to the same memory share the attachment at `probe`. A
 * copy joins by increasing holders, unless that is 0.
 *
 * In the child of a fork, or after an exec, the descriptor may still be there without the attachment. Then key belongs to another
 * process, or nonce differs from that in the attachment.
 */
struct ctp_link_ {
	uint64_t magic, kind; /* CTP_LINK_MAGIC_, CTP_LINK_KIND_ */
	uint64_t key, dev;    /* as in the probe: of the process and the memory */
	uint64_t probe;
	uint32_t nonce;
	uint32_t holders;     /* copies; once it is 0, nobody can join */
};

/* The kind changes with all that copies must agree on: struct ctp_probe_, and how it is used. */
#define CTP_LINK_MAGIC_ UINT64_C(0x316b6e696c707463) /* "ctplink1" in this order */
#define CTP_LINK_KIND_ (CTP_TO_(uint64_t, CTP_ABI_) << 32 | sizeof(struct ctp_probe_))

/* One ring, as its writer sees it. One of zeros has no ring and no room. */
struct ctp_lane_ {
	struct ctp_shm_ring *ring;
	struct ctp_shm_entry *entries;
	uint64_t head, limit, mask; /* limit: up to here there is certainly room */
	uint64_t back_from, back_to, over_to; /* as in the ring */
	uint64_t vain_tail; /* tail + 1 at the last wait that timed out */
	uint32_t tries;     /* for a ring */
};

struct ctp_call_ {
	uint64_t quick; /* as it was before */
	uint32_t depth; /* number of calls that this one has interrupted */
	uint32_t under; /* t->depth as it was before */
};

struct ctp_thread_ {
	const struct ctp_probe_ *probe; /* the attachment of all this, or another one with its key */
	uint64_t quick;        /* tag and mode for which ctp_event_quick_ works; CTP_BUSY_ during a call */
	uint64_t tid;
	uint64_t current;      /* the coroutine that runs */
	uint64_t leaving;      /* the suspended coroutine whose suspension code still runs here; 0: none */
	uint32_t depth;        /* other probe calls under way */
	uint32_t gaps;         /* of the mode at which current was set */
	struct ctp_lane_ lanes[CTP_LANES_];
};

/*
 * Weak and hidden: all files of one executable or shared object share one state, in C and C++, but not with other objects, whose
 * ctp.h may have another version. Objects with the same version share the attachment, which they find at run time. Two attachments
 * in one process do no harm.
 *
 * The thread-local variable has the compiler's default model: initial-exec would save a call in objects that dlopen loads, but the
 * C library has room for only about ten of these. No function that uses the variable, or errno, may be inlined into a function that
 * switches stacks: after the switch the coroutine may be on another thread, and the compiler may have kept the address of the first
 * thread's variable.
 */
#define CTP_SHARED_ __attribute__((visibility("hidden")))
#if defined __clang__ && defined CTP_DEFINES_ /* with it, clang's definitions in C++ would need the library of C++ */
#define CTP_NOTHROW_
#else
#define CTP_NOTHROW_ __attribute__((nothrow))
#endif
#define CTP_FN_ __attribute__((visibility("hidden"))) CTP_NOTHROW_
/*
 * Definitions are weak, and declarations are not, because a weak reference would not take a definition from an archive. A file may have
 * the declarations long before the definitions: -include ctp-asio.hpp comes before its CTP_IMPLEMENTATION.
 */
#define CTP_SHARED_HERE_ __attribute__((weak))
#define CTP_FN_HERE_ __attribute__((weak, noinline)) CTP_NOTHROW_

/* Files with different numbers are not linked with each other. */
#define CTP_QUOTED_(number) #number
#define CTP_QUOTED_AS_(number) CTP_QUOTED_(number)
#define CTP_AS_(name) __asm__(#name CTP_QUOTED_AS_(CTP_ABI_))

#ifdef __x86_64__ /* an emulator may run a handler on an unaligned stack: for functions with larger locals than words */
#define CTP_REALIGN_ __attribute__((force_align_arg_pointer))
#else
#define CTP_REALIGN_
#endif

CTP_SHARED_ extern struct ctp_probe_ *ctp_current_ CTP_AS_(ctp_current_); /* null: not tried yet */
CTP_SHARED_ extern struct ctp_probe_ *ctp_held_[CTP_HELD_] CTP_AS_(ctp_held_); /* other attachments that threads of this copy have used */
CTP_SHARED_ extern uint32_t ctp_stage_ CTP_AS_(ctp_stage_); /* of this object: CTP_STAGE_... */
CTP_SHARED_ extern __thread struct ctp_thread_ ctp_self_ CTP_AS_(ctp_self_);
CTP_FN_ void ctp_loaded_(void) CTP_AS_(ctp_loaded_) __attribute__((constructor));
CTP_FN_ void ctp_exits_(void *unused) CTP_AS_(ctp_exits_);
CTP_FN_ void ctp_unloads_(void) CTP_AS_(ctp_unloads_) __attribute__((destructor));
CTP_FN_ void ctp_unloaded_(void) CTP_AS_(ctp_unloaded_) __attribute__((destructor(101)));
CTP_FN_ void ctp_release_(struct ctp_probe_ *p) CTP_AS_(ctp_release_);
CTP_FN_ void ctp_hold_(struct ctp_probe_ *p) CTP_AS_(ctp_hold_);
CTP_FN_ void ctp_thread_new_(struct ctp_thread_ *t, struct ctp_probe_ *p) CTP_AS_(ctp_thread_new_);
CTP_FN_ struct ctp_probe_ *ctp_attach_(struct ctp_probe_ *old) CTP_AS_(ctp_attach_);
CTP_FN_ bool ctp_extend_(struct ctp_probe_ *p) CTP_AS_(ctp_extend_);
CTP_FN_ bool ctp_reserve_(struct ctp_probe_ *p, uint64_t *to, uint64_t end) CTP_AS_(ctp_reserve_);
CTP_FN_ void ctp_rouse_(struct ctp_probe_ *p) CTP_AS_(ctp_rouse_);
CTP_FN_ bool ctp_birth_(struct ctp_coro *co, uint32_t site, bool late) CTP_AS_(ctp_birth_);
CTP_FN_ void ctp_suspend_(struct ctp_coro *co, uint64_t addr, uint32_t site) CTP_AS_(ctp_suspend_);
CTP_FN_ void ctp_event_slow_(struct ctp_coro *co, uint64_t addr, uint64_t what) CTP_AS_(ctp_event_slow_);
CTP_FN_ void ctp_resume_(struct ctp_coro *co) CTP_AS_(ctp_resume_);
CTP_FN_ void ctp_depart_(struct ctp_coro *co, uint64_t addr, uint32_t site) CTP_AS_(ctp_depart_);
CTP_FN_ void ctp_leaving_(uint64_t ref) CTP_AS_(ctp_leaving_);
CTP_FN_ void ctp_death_(struct ctp_coro *co) CTP_AS_(ctp_death_);
CTP_FN_ void ctp_name_(struct ctp_coro *co, const char *name) CTP_AS_(ctp_name_);
CTP_FN_ void ctp_await_(struct ctp_coro *co, uint64_t target, uint32_t marks) CTP_AS_(ctp_await_);
CTP_FN_ void ctp_reason_(struct ctp_coro *co, uint64_t value, uint32_t number) CTP_AS_(ctp_reason_);
CTP_FN_ void ctp_holds_at_(struct ctp_probe_ *p, uint64_t ref, uint64_t object, int n, uint32_t site) CTP_AS_(ctp_holds_at_);
CTP_FN_ void ctp_object_tell_(struct ctp_probe_ *p, const void *object, uint32_t number, uint64_t available, const char *name,
                              uint32_t made) CTP_AS_(ctp_object_tell_);
CTP_FN_ void ctp_awake_for_(struct ctp_probe_ *p, uint64_t ref, uint64_t object) CTP_AS_(ctp_awake_for_);
CTP_FN_ void ctp_awake_(struct ctp_probe_ *p, uint64_t ref, uint32_t marks) CTP_AS_(ctp_awake_);
CTP_FN_ void ctp_awake_slow_(struct ctp_probe_ *p, uint64_t ref, uint32_t marks) CTP_AS_(ctp_awake_slow_);
CTP_FN_ CTP_REALIGN_ uint32_t ctp_site_add_(struct ctp_probe_ *p, const char *file, uint32_t line, const char *function,
                                            const void *code) CTP_AS_(ctp_site_add_);
CTP_FN_ uint32_t ctp_site_new_(struct ctp_probe_ *p, struct ctp_site *site) CTP_AS_(ctp_site_new_);
CTP_FN_ uint32_t ctp_place_new_(struct ctp_probe_ *p, const char *file, uint32_t line, const char *function) CTP_AS_(ctp_place_new_);
CTP_FN_ bool ctp_room_(struct ctp_probe_ *p, struct ctp_thread_ *t, struct ctp_lane_ *lane, uint32_t mode, uint64_t ts, bool note)
	CTP_AS_(ctp_room_);
CTP_FN_ uint64_t ctp_now_ns_(void) CTP_AS_(ctp_now_ns_);
CTP_FN_ uint64_t ctp_tid_(void) CTP_AS_(ctp_tid_);
CTP_FN_ uint64_t ctp_running_(struct ctp_probe_ *p) CTP_AS_(ctp_running_);
CTP_FN_ void ctp_record_(struct ctp_probe_ *p) CTP_AS_(ctp_record_);

#define CTP_GET_(at) __atomic_load_n((at), __ATOMIC_RELAXED)
#define CTP_PUT_(at, value) __atomic_store_n((at), (value), __ATOMIC_RELAXED)
#define CTP_COMPILER_FENCE_ __atomic_signal_fence(__ATOMIC_SEQ_CST)

static inline uint64_t ctp_copy_(void) { return CTP_TO_(uint64_t, CTP_TO_(uintptr_t, &ctp_current_)); }

static inline uint32_t ctp_site_get_(struct ctp_probe_ *p, struct ctp_site *site)
{
	uint64_t number = site ? CTP_GET_(&site->number_) : CTP_TO_(uint64_t, p->serial) << 32;
	if (__builtin_expect(number >> 32 == p->serial, 1))
		return CTP_TO_(uint32_t, number);
	return ctp_site_new_(p, site);
}

static inline uint64_t ctp_place_key_(const char *file, uint32_t line)
{
	return CTP_TO_(uint64_t, CTP_TO_(uintptr_t, file)) << 16 | (line & 0xffff);
}
static inline uint32_t ctp_place_at_(uint64_t key) { return CTP_TO_(uint32_t, key * UINT64_C(0x9e3779b97f4a7c15) >> 53); }

/*
 * Stores a key in a free place. Acquire: the number of the previous key is cleared; release: a thread that sees the key sees that,
 * too. Pairs with ctp_withdraw_, and with the acquire loads in ctp_place_find_.
 */
static inline bool ctp_place_take_(struct ctp_probe_ *p, uint32_t at, uint64_t key, uint64_t *none)
{
	if (!__atomic_compare_exchange_n(&p->places[at].key, none, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	CTP_PUT_(&p->place_of[at], ctp_copy_());
	return true;
}

/* Whether the site has a number, in the place where it is looked for first. */
static inline bool ctp_place_known_(const struct ctp_probe_ *p, const char *file, uint32_t line, uint32_t *number)
{
	uint64_t key = ctp_place_key_(file, line);
	const struct ctp_place_ *place = &p->places[ctp_place_at_(key)];
	if (__builtin_expect(__atomic_load_n(&place->key, __ATOMIC_ACQUIRE) != key, 0)) /* pairs with ctp_place_take_ */
		return false;
	*number = CTP_GET_(&place->number);
	return true;
}

static inline uint32_t ctp_place_find_(struct ctp_probe_ *p, const char *file, uint32_t line, const char *function)
{
	uint32_t number;
	return ctp_place_known_(p, file, line, &number) ? number : ctp_place_new_(p, file, line, function);
}

/* --- the calls ------------------------------------------------------------------------------------------------------------ */

static inline struct ctp_probe_ *ctp_probe_get_(void)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE); /* pairs with the exchange in ctp_attach_ */
	return p && p->tried ? p : ctp_attach_(p);
}

/* Whether anything is recorded. In the child of a fork p's pages are zeros. */
static inline bool ctp_on_(const struct ctp_probe_ *p)
{
	const uint32_t *mode = p ? p->mode : NULL;
	return mode && CTP_GET_(mode);
}

static inline bool ctp_init(void) { return ctp_on_(ctp_probe_get_()); }
static inline bool ctp_traced(void) { return ctp_on_(__atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE)); }

static inline bool ctp_record(void)
{
	struct ctp_probe_ *p = ctp_probe_get_();
	if (!p || !p->mode)
		return false;
	if (p->annex)
		ctp_record_(p);
	return true;
}

static inline uint32_t ctp_site_number(const char *file, uint32_t line, const char *function)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE);
	return ctp_on_(p) && p->annex ? ctp_place_find_(p, file, line, function) : 0;
}

static inline void ctp_coro_new_with_(struct ctp_coro *co, uint64_t id, uint32_t spawned, uint32_t flags)
{
	struct ctp_probe_ *p = ctp_probe_get_();
	__builtin_memset(co, 0, sizeof *co);
	co->id_ = id;
	co->events_ = flags;
	if (p && p->mode) {
		CTP_PUT_(&co->probe_, p);
		co->mode_ = p->mode;
		if (CTP_GET_(p->mode))
			ctp_birth_(co, spawned, false);
	}
}

static inline void ctp_coro_new_in(struct ctp_coro *co, uint64_t id, uint32_t spawned) { ctp_coro_new_with_(co, id, spawned, 0); }

static inline void ctp_coro_new_at(struct ctp_coro *co, uint64_t id, struct ctp_site *spawned)
{
	struct ctp_probe_ *p = ctp_probe_get_();
	ctp_coro_new_in(co, id, ctp_on_(p) ? ctp_site_get_(p, spawned) : 0);
}

static inline bool ctp_coro_traced(const struct ctp_coro *co)
{
	return co->probe_ && co->probe_->mode && co->station_;
}

static inline uint64_t ctp_coro_id(const struct ctp_coro *co)
{
	return ctp_coro_traced(co) ? CTP_GET_(&co->station_->probe_id) : 0;
}

/* Whether this coroutine is recorded. */
static inline bool ctp_coro_on_(const struct ctp_coro *co) { return __builtin_expect(co->mode_ && CTP_GET_(co->mode_), 0); }

static inline void ctp_coro_suspend_in(struct ctp_coro *co, const void *addr, uint32_t site)
{
	if (ctp_coro_on_(co))
		ctp_suspend_(co, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, addr)), site);
}

static inline void ctp_coro_suspend_at(struct ctp_coro *co, const void *addr, struct ctp_site *site)
{
	if (ctp_coro_on_(co))
		ctp_suspend_(co, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, addr)), ctp_site_get_(co->probe_, site));
}

/* The coroutine, which was just suspended, is ready to run by itself. */
static inline void ctp_coro_ready_(struct ctp_coro *co, uint32_t marks)
{
	if (ctp_coro_on_(co) && co->ref_)
		ctp_awake_(co->probe_, co->ref_, marks);
}

static inline void ctp_coro_yield_in(struct ctp_coro *co, const void *addr, uint32_t site)
{
	ctp_coro_suspend_in(co, addr, site);
	ctp_coro_ready_(co, CTP_MARK_YIELD);
}

static inline void ctp_coro_yield_at(struct ctp_coro *co, const void *addr, struct ctp_site *site)
{
	ctp_coro_suspend_at(co, addr, site);
	ctp_coro_ready_(co, CTP_MARK_YIELD);
}

static inline void ctp_coro_resume(struct ctp_coro *co)
{
	if (ctp_coro_on_(co))
		ctp_resume_(co);
}

static inline void ctp_coro_name(struct ctp_coro *co, const char *name)
{
	if (name && ctp_coro_on_(co))
		ctp_name_(co, name);
}

static inline uint64_t ctp_coro_ref(const struct ctp_coro *co)
{
	struct ctp_probe_ *p = CTP_GET_(&co->probe_);
	return p && p->mode ? CTP_GET_(&co->ref_) : 0;
}

static inline void ctp_coro_await_ref(struct ctp_coro *co, uint64_t target)
{
	if (target && ctp_coro_on_(co))
		ctp_await_(co, target, 0);
}

static inline void ctp_coro_await(struct ctp_coro *co, const struct ctp_coro *target)
{
	if (ctp_coro_on_(co))
		ctp_coro_await_ref(co, ctp_coro_ref(target));
}

static inline void ctp_coro_join_ref(struct ctp_coro *co, uint64_t target)
{
	if (target && ctp_coro_on_(co))
		ctp_await_(co, target, CTP_MARK_JOIN);
}

static inline void ctp_coro_join(struct ctp_coro *co, const struct ctp_coro *target)
{
	if (ctp_coro_on_(co))
		ctp_coro_join_ref(co, ctp_coro_ref(target));
}

static inline void ctp_ref_wake(uint64_t ref)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE);
	if (ref && ctp_on_(p))
		ctp_awake_(p, ref, 0);
}

static inline void ctp_coro_wake(struct ctp_coro *co)
{
	struct ctp_probe_ *p = CTP_GET_(&co->probe_);
	uint64_t ref = ctp_coro_ref(co);
	if (ref && ctp_on_(p))
		ctp_awake_(p, ref, 0);
}

static inline void ctp_coro_waits_until(struct ctp_coro *co, uint64_t deadline_ns, uint32_t marks)
{
	if (ctp_coro_on_(co))
		ctp_reason_(co, deadline_ns, CTP_REASON(CTP_FOR_TIMER, marks, 1));
}

static inline void ctp_coro_waits_fd(struct ctp_coro *co, int fd, uint32_t events, uint32_t marks)
{
	if (ctp_coro_on_(co))
		ctp_reason_(co, CTP_TO_(uint32_t, fd), CTP_REASON(CTP_FOR_FD, marks, events));
}

static inline void ctp_coro_waits_for(struct ctp_coro *co, const void *object, uint32_t what, uint32_t n, uint32_t marks)
{
	if (ctp_coro_on_(co))
		ctp_reason_(co, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)), CTP_REASON(what, marks, n));
}

static inline void ctp_object_in(const void *object, uint32_t what, uint64_t available, const char *name, uint32_t marks,
                                 uint32_t made)
{
	struct ctp_probe_ *p = ctp_probe_get_();
	if (ctp_on_(p))
		ctp_object_tell_(p, object, CTP_REASON(what, marks, 0), available, name, made);
}

static inline void ctp_object_at(const void *object, uint32_t what, uint64_t available, const char *name, uint32_t marks,
                                 struct ctp_site *made)
{
	struct ctp_probe_ *p = ctp_probe_get_();
	if (ctp_on_(p))
		ctp_object_in(object, what, available, name, marks, ctp_site_get_(p, made));
}

static inline void ctp_object_close(const void *object) { ctp_object_in(object, 0, 0, NULL, CTP_MARK_CLOSED, 0); }
static inline void ctp_object_end(const void *object) { ctp_object_in(object, 0, 0, NULL, CTP_MARK_GONE, 0); }

static inline void ctp_ref_holds_in(uint64_t ref, const void *object, int n, uint32_t site)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE);
	if (n && ref && ctp_on_(p))
		ctp_holds_at_(p, ref, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)), n, site);
}

static inline void ctp_ref_holds_at(uint64_t ref, const void *object, int n, struct ctp_site *site)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE);
	if (n && ref && ctp_on_(p))
		ctp_holds_at_(p, ref, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)), n, n > 0 ? ctp_site_get_(p, site) : 0);
}

static inline void ctp_coro_holds_at(const struct ctp_coro *co, const void *object, int n, struct ctp_site *site)
{
	struct ctp_probe_ *p = CTP_GET_(&co->probe_);
	uint64_t ref = ctp_coro_ref(co);
	if (n && ref && ctp_on_(p))
		ctp_holds_at_(p, ref, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)), n, n > 0 ? ctp_site_get_(p, site) : 0);
}

static inline void ctp_ref_wake_for(uint64_t ref, const void *object)
{
	struct ctp_probe_ *p = __atomic_load_n(&ctp_current_, __ATOMIC_ACQUIRE);
	if (ref && ctp_on_(p))
		ctp_awake_for_(p, ref, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)));
}

static inline void ctp_coro_wake_for(struct ctp_coro *co, const void *object)
{
	struct ctp_probe_ *p = CTP_GET_(&co->probe_);
	uint64_t ref = ctp_coro_ref(co);
	if (ref && ctp_on_(p))
		ctp_awake_for_(p, ref, CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)));
}

static inline void ctp_coro_death(struct ctp_coro *co)
{
	if (ctp_coro_traced(co))
		ctp_death_(co);
	CTP_PUT_(&co->probe_, CTP_TO_(struct ctp_probe_ *, NULL));
	co->mode_ = NULL;
}

static inline __attribute__((always_inline)) const void *ctp_here_(void)
{
	const void *pc;
#if defined __x86_64__
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(pc));
#elif defined __aarch64__
	__asm__ volatile("adr %0, ." : "=r"(pc));
#else
	pc = __extension__ ({ __label__ here; here: &&here; });
#endif
	return pc;
}

#ifdef __cplusplus
}
#endif
#endif

#if defined CTP_DEFINES_ && !defined CTP_DEFINED_
#define CTP_DEFINED_

/* --- the implementation of the calls ---------------------------------------------------------------------------------------- */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifndef MAP_ANONYMOUS
#error "include ctp.h before the system's headers, or compile with -std=gnu11 or with -D_DEFAULT_SOURCE"
#include "stop here" /* no such file: this ends the compilation before a page of further errors */
#endif

#ifdef __cplusplus
extern "C" {
#endif

CTP_SHARED_HERE_ struct ctp_probe_ *ctp_current_;
CTP_SHARED_HERE_ struct ctp_probe_ *ctp_held_[CTP_HELD_];
CTP_SHARED_HERE_ uint32_t ctp_stage_;
CTP_SHARED_HERE_ __thread struct ctp_thread_ ctp_self_;

/* With -fsanitize=thread gcc warns that it does not model fences. That is harmless: everything that they order is atomic. */
#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

static inline uint64_t ctp_clock_(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return CTP_TO_(uint64_t, ts.tv_sec) * 1000000000u + CTP_TO_(uint64_t, ts.tv_nsec);
}

/* The processor's counter, without a barrier: it may be read a few instructions early. */
#if defined __x86_64__
#define CTP_CLOCKSOURCE_ "tsc"
static inline uint64_t ctp_raw_(void) { return __builtin_ia32_rdtsc(); }
static inline uint64_t ctp_raw_hz_(void) { return 0; }
#elif defined __aarch64__
#define CTP_CLOCKSOURCE_ "arch_sys_counter"
static inline uint64_t ctp_raw_(void)
{
	uint64_t raw;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(raw));
	return raw;
}
static inline uint64_t ctp_raw_hz_(void)
{
	uint64_t hz;
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}
#else
#define CTP_CLOCKSOURCE_ "none"
static inline uint64_t ctp_raw_(void) { return 0; }
static inline uint64_t ctp_raw_hz_(void) { return 0; }
#endif

static inline uint64_t ctp_now_(const struct ctp_probe_ *p) { return p->raw ? ctp_raw_() : ctp_clock_(); }

/*
 * All calls about descriptors go to the kernel directly: libc's functions are cancellation points, and coroutine libraries replace
 * them by functions that suspend. (On 64-bit systems the kernel's struct stat is that of libc.)
 */

/*
 * Maps a part of the memory. It is not readable at first, so that mlockall with MCL_FUTURE does not fill all the holes. It is left
 * out of core dumps because of its size.
 */
static inline void *ctp_map_(int fd, uint64_t at, uint64_t bytes)
{
	void *to = mmap(NULL, CTP_TO_(size_t, bytes), PROT_NONE, MAP_SHARED, fd, CTP_TO_(off_t, at));
	if (to == MAP_FAILED)
		return NULL;
	munlock(to, CTP_TO_(size_t, bytes));
	madvise(to, CTP_TO_(size_t, bytes), 16 /* MADV_DONTDUMP */);
	if (!mprotect(to, CTP_TO_(size_t, bytes), PROT_READ | PROT_WRITE))
		return to;
	munmap(to, CTP_TO_(size_t, bytes));
	return NULL;
}

/* Notes the file of a descriptor. Returns the previous note. */
static inline uint64_t ctp_fd_note_(int fd, const struct stat *st, uint64_t *at, uint64_t *dev)
{
	CTP_PUT_(dev, CTP_TO_(uint64_t, st->st_dev));
	/* Pairs with ctp_fd_ours_. */
	return __atomic_exchange_n(at, CTP_TO_(uint64_t, st->st_ino) << 32 | CTP_TO_(uint32_t, fd + 1), __ATOMIC_ACQ_REL);
}

/* Moves a descriptor out of the way, and notes it. */
static inline int ctp_fd_keep_(int low, uint64_t *at, uint64_t *dev, uint64_t *before)
{
	int fd = CTP_TO_(int, syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, CTP_FD_));
	if (fd < 0)
		fd = low;
	else
		syscall(SYS_close, low);
	struct stat st;
	if (syscall(SYS_fstat, fd, &st)) {
		syscall(SYS_close, fd);
		return -1;
	}
	uint64_t noted = ctp_fd_note_(fd, &st, at, dev);
	if (before)
		*before = noted;
	return fd;
}

/* Like ctp_fd_keep_, but reuses a descriptor of this memory that another copy of the probe, or the parent, already has. */
static inline int ctp_mem_keep_(struct ctp_probe_ *p, int low)
{
	struct stat mine, st;
	bool known = !syscall(SYS_fstat, low, &mine);
	for (int fd = CTP_FD_; known && fd <= CTP_FD_LAST_; fd++) {
		if (fd == low || syscall(SYS_fstat, fd, &st) || st.st_ino != mine.st_ino || st.st_dev != mine.st_dev)
			continue;
		syscall(SYS_close, low);
		p->borrowed = true;
		ctp_fd_note_(fd, &st, &p->mem, &p->mem_dev);
		return fd;
	}
	return ctp_fd_keep_(low, &p->mem, &p->mem_dev, NULL);
}

/* The descriptor, if it still is the file that was noted. */
static inline int ctp_fd_ours_(const uint64_t *at, const uint64_t *dev)
{
	uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE); /* pairs with ctp_fd_note_ */
	struct stat st;
	int fd = CTP_TO_(int, CTP_TO_(uint32_t, word) - 1);
	bool ours = word && !syscall(SYS_fstat, fd, &st) && CTP_TO_(uint32_t, st.st_ino) == word >> 32 &&
	            CTP_TO_(uint64_t, st.st_dev) == CTP_GET_(dev);
	return ours ? fd : -1;
}

/* The same for the memory. If it was closed and the environment still names it, it is opened again. */
static inline int ctp_mem_fd_(struct ctp_probe_ *p)
{
	int fd = ctp_fd_ours_(&p->mem, &p->mem_dev);
	const char *path = fd < 0 && p->mem && !CTP_GET_(&p->shm->owner) ? getenv("CTP_SHM_PATH") : NULL;
	int low = path ? CTP_TO_(int, syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)) : -1;
	struct stat st;
	if (low < 0)
		return fd;
	if (syscall(SYS_fstat, low, &st) || CTP_TO_(uint32_t, st.st_ino) != CTP_GET_(&p->mem) >> 32 ||
	    CTP_TO_(uint64_t, st.st_dev) != CTP_GET_(&p->mem_dev)) {
		syscall(SYS_close, low);
		return -1;
	}
	return ctp_fd_keep_(low, &p->mem, &p->mem_dev, NULL);
}

/* --- attaching ------------------------------------------------------------------------------------------------------------ */

/* Takes the geometry of the annex from the header, if it is consistent with the size of the file. */
static inline bool ctp_annex_take_(struct ctp_probe_ *p, uint64_t bytes)
{
	struct ctp_shm_header *h = p->shm;
	uint64_t stations_end = (CTP_TO_(uint64_t, p->max_stations) + 1) * sizeof(struct ctp_shm_station);
	if (CTP_GET_(&h->annex) != CTP_ANNEX_MAGIC || CTP_GET_(&h->bytes) > bytes)
		return false;
	p->sites_at = CTP_GET_(&h->sites_at);
	p->rings_at = CTP_GET_(&h->rings_at);
	p->entries_at = CTP_GET_(&h->entries_at);
	p->max_sites = CTP_GET_(&h->max_sites);
	p->max_rings = CTP_GET_(&h->max_rings);
	p->ring_bits = CTP_GET_(&h->ring_bits);
	if (p->max_sites >> 24 || p->max_rings >> 16 || p->ring_bits > 30 || (p->sites_at | p->rings_at | p->entries_at) % 65536)
		return false;
	p->objects_at = CTP_GET_(&h->objects_at);
	p->max_objects = CTP_GET_(&h->max_objects);
	bool objects = p->objects_at % CTP_RESERVE_ == 0 && p->objects_at <= p->entries_at && p->max_objects % 16 == 0 &&
	               p->objects_at >= p->rings_at + CTP_TO_(uint64_t, p->max_rings) * sizeof(struct ctp_shm_ring) &&
	               p->max_objects <= CTP_OBJECTS_ &&
	               p->max_objects * CTP_TO_(uint64_t, CTP_OBJECT_BYTES_) <= p->entries_at - p->objects_at;
	if (!objects || p->max_objects <= CTP_SHM_OBJECTS_FEW)
		p->max_objects = 0;
	uint64_t ring_bytes = sizeof(struct ctp_shm_entry) << p->ring_bits, room = bytes - p->entries_at;
	if (p->max_rings > CTP_RINGS_KNOWN_)
		p->max_rings = CTP_RINGS_KNOWN_;
	return p->sites_at >= stations_end && p->sites_at <= bytes &&
	       p->rings_at >= p->sites_at + CTP_TO_(uint64_t, p->max_sites) * sizeof(struct ctp_shm_site) && p->rings_at <= bytes &&
	       p->entries_at >= p->rings_at + CTP_TO_(uint64_t, p->max_rings) * sizeof(struct ctp_shm_ring) && p->entries_at <= bytes &&
	       ring_bytes % getauxval(AT_PAGESZ) == 0 && p->max_rings <= room / ring_bytes;
}

/* Whether our counter is that of the memory's creator: in an emulator it is not. */
static inline bool ctp_raw_agrees_(const struct ctp_shm_header *h, bool ours)
{
	uint64_t hz = CTP_GET_(&h->raw_hz);
	if (CTP_GET_(&h->clock) != CTP_CLOCK_RAW || !ctp_raw_())
		return false;
	if (ours)
		return true;
	double raw_s = hz ? CTP_TO_(double, ctp_raw_() - CTP_GET_(&h->made_raw)) / CTP_TO_(double, hz) : -1;
	double off_s = raw_s - CTP_TO_(double, ctp_clock_() - CTP_GET_(&h->made_ns)) * 1e-9;
	return raw_s >= 0 && off_s < 0.01 + raw_s * 0.001 && off_s > -0.01 - raw_s * 0.001;
}

/* Checks the file of fd, and uses it if possible. stations 0: as many as the header says. */
static inline bool ctp_take_(struct ctp_probe_ *p, int fd, uint64_t stations)
{
	struct stat st;
	uint64_t blocks = 0;
	if (!syscall(SYS_fstat, fd, &st) && S_ISREG(st.st_mode))
		blocks = CTP_TO_(uint64_t, st.st_size) / sizeof(struct ctp_shm_station);
	if (blocks < 2)
		return false;
	struct ctp_shm_header *h = p->shm = CTP_TO_(struct ctp_shm_header *, ctp_map_(fd, 0, sizeof *h));
	if (!h)
		return false;
	uint32_t theirs = CTP_GET_(&h->max_stations);
	if (!stations || stations > theirs)
		stations = theirs;
	if (stations >= blocks)
		stations = blocks - 1; /* touching a page after the end of the file raises SIGBUS */
	p->max_stations = CTP_TO_(uint32_t, stations);
	if (__atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) == CTP_SHM_MAGIC && CTP_GET_(&h->version) == CTP_SHM_VERSION && stations) {
		p->annex = ctp_annex_take_(p, CTP_TO_(uint64_t, st.st_size));
		p->named = st.st_nlink;
		p->key = CTP_TO_(uint64_t, p->pid) << 32 | CTP_TO_(uint32_t, st.st_ino);
		if (!p->annex)
			p->entries_at = (stations + 1) * sizeof(struct ctp_shm_station);
		p->serial = CTP_TO_(uint32_t, CTP_GET_(&h->made_ns) >> 8) | 1;
		return true;
	}
	munmap(h, sizeof *h);
	p->shm = NULL;
	return false;
}

/* The memory that the environment names, if it is valid. */
static inline int ctp_open_named_(struct ctp_probe_ *p)
{
	const char *path = getenv("CTP_SHM_PATH"), *max = getenv("CTP_MAX_STATIONS");
	if (!path || !max || *max < '0' || *max > '9')
		return -1;
	char *end;
	uint64_t stations = strtoul(max, &end, 10);
	int fd = *end || !stations ? -1 : CTP_TO_(int, syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0));
	if (fd >= 0 && !ctp_take_(p, fd, stations)) {
		syscall(SYS_close, fd);
		fd = -1;
	}
	return fd;
}

/* Whether a descriptor is a memory file with this name, which has less than 32 characters. */
static inline bool ctp_fd_is_(int fd, const char *name)
{
	char path[32] = "/proc/self/fd/", link[32];
	size_t bytes = strlen(name);
	path[14] = CTP_TO_(char, '0' + fd / 1000);
	path[15] = CTP_TO_(char, '0' + fd / 100 % 10);
	path[16] = CTP_TO_(char, '0' + fd / 10 % 10);
	path[17] = CTP_TO_(char, '0' + fd % 10);
	if (path[14] == '0')
		memmove(path + 14, path + 15, 4);
	return syscall(SYS_readlinkat, AT_FDCWD, path, link, sizeof link) == CTP_TO_(long, bytes) && !memcmp(link, name, bytes);
}

/* The memory that another copy of the probe created in this process, or this copy before it was unloaded. */
static inline int ctp_open_shared_(struct ctp_probe_ *p)
{
	for (int fd = CTP_FD_; fd <= CTP_FD_LAST_; fd++) {
		if (!ctp_fd_is_(fd, "/memfd:ctp (deleted)"))
			continue;
		int copy = CTP_TO_(int, syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, CTP_FD_));
		if (copy < 0)
			continue;
		if (ctp_take_(p, copy, 0)) {
			if (p->annex && CTP_GET_(&p->shm->owner) == p->pid)
				return copy;
			if (p->annex && CTP_GET_(&p->shm->owner))
				syscall(SYS_close, fd); /* inherited by a fork, and useless here */
			munmap(p->shm, sizeof *p->shm);
			p->shm = NULL;
		}
		syscall(SYS_close, copy);
	}
	return -1;
}

static inline bool ctp_clocksource_is_raw_(void)
{
	char name[32];
	int fd = CTP_TO_(int, syscall(SYS_openat, AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	                      O_RDONLY | O_CLOEXEC, 0));
	long n = fd < 0 ? 0 : syscall(SYS_read, fd, name, sizeof name);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return n == CTP_TO_(long, sizeof CTP_CLOCKSOURCE_) && !memcmp(name, CTP_CLOCKSOURCE_, sizeof CTP_CLOCKSOURCE_ - 1);
}

/* A memory of our own, for a collector that may attach later. Most of it is a hole. */
static inline int ctp_open_own_(struct ctp_probe_ *p)
{
	static const char name[] = "ctp";
	const uint64_t stations = CTP_STATIONS_, align = 65535;
	uint64_t sites_at = ((stations + 1) * sizeof(struct ctp_shm_station) + align) & ~align;
	uint64_t rings_at = sites_at + CTP_SITES_ * sizeof(struct ctp_shm_site);
	uint64_t objects_at = (rings_at + CTP_RINGS_KNOWN_ * sizeof(struct ctp_shm_ring) + align) & ~align;
	uint64_t entries_at = (objects_at + CTP_OBJECTS_ * CTP_OBJECT_BYTES_ + align) & ~align;
	uint64_t bytes = entries_at + CTP_RINGS_KNOWN_ * (sizeof(struct ctp_shm_entry) << CTP_RING_BITS_);
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < bytes)
		return -1; /* ftruncate would raise SIGXFSZ */
	int fd = CTP_TO_(int, syscall(SYS_memfd_create, name, 3u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */));
	if (fd < 0)
		return -1;
	bool sized = !syscall(SYS_ftruncate, fd, bytes) &&
	             !syscall(SYS_fcntl, fd, 1033 /* F_ADD_SEALS */, 7 /* SEAL, SHRINK, GROW */);
	struct ctp_shm_header *h = sized ? CTP_TO_(struct ctp_shm_header *, ctp_map_(fd, 0, sizeof *h)) : NULL;
	if (!h) {
		syscall(SYS_close, fd);
		return -1;
	}
	h->version = CTP_SHM_VERSION;
	h->max_stations = CTP_STATIONS_;
	h->annex = CTP_ANNEX_MAGIC;
	h->bytes = bytes;
	h->sites_at = sites_at;
	h->rings_at = rings_at;
	h->entries_at = entries_at;
	h->max_sites = CTP_SITES_;
	h->max_rings = CTP_RINGS_KNOWN_;
	h->objects_at = objects_at;
	h->max_objects = CTP_OBJECTS_;
	h->ring_bits = CTP_RING_BITS_;
	h->clock = ctp_clocksource_is_raw_() ? CTP_CLOCK_RAW : CTP_CLOCK_MONOTONIC;
	h->owner = p->pid;
	h->made_ns = ctp_clock_();
	h->made_raw = ctp_raw_();
	h->raw_hz = ctp_raw_hz_();
	const char *record = getenv("CTP_RECORD");
	h->mode = record && *record == '1' ? CTP_MODE_RECORD | CTP_MODE_KEEP : 0;
	__atomic_store_n(&h->magic, CTP_SHM_MAGIC, __ATOMIC_RELEASE); /* pairs with a reader's acquire load of magic */
	munmap(h, sizeof *h);
	if (ctp_take_(p, fd, 0))
		return fd;
	syscall(SYS_close, fd);
	return -1;
}

static inline bool ctp_secret_(void)
{
#ifdef CTP_SETUID /* the caller of a setuid program must not choose a file that it writes to, unless its author allows it */
	return false;
#else
	return getauxval(AT_SECURE);
#endif
}

/*
 * Neither socket nor connect can block: a non-blocking connect to a full backlog fails. Then there are no wake-ups, and the
 * collector finds events by its own timer.
 */
static inline void ctp_connect_(struct ctp_probe_ *p)
{
	struct sockaddr_un un;
	memset(&un, 0, sizeof un);
	un.sun_family = AF_UNIX;
	/* Acquire: sock is that of this epoch. Pairs with the collector's release when it has written it. */
	uint32_t epoch = p->annex ? __atomic_load_n(&p->shm->epoch, __ATOMIC_ACQUIRE) : 0;
	CTP_PUT_(&p->sock_epoch, epoch);
	const char *path = p->annex && CTP_GET_(p->shm->sock) ? p->shm->sock : getenv("CTP_SOCK_PATH");
	for (size_t i = 0; path && i < sizeof un.sun_path - 1 && (un.sun_path[i] = CTP_GET_(&path[i])); i++)
		;
	int low = un.sun_path[0] ? CTP_TO_(int, syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) : -1;
	if (low < 0)
		return;
	uint64_t before = 0;
	if (syscall(SYS_connect, low, &un, sizeof un) || CTP_GET_(&p->sock_epoch) != epoch) /* or another thread is ahead of us */
		syscall(SYS_close, low);
	else
		ctp_fd_keep_(low, &p->sock, &p->sock_dev, &before);
	low = ctp_fd_ours_(&before, &p->sock_dev);
	if (low >= 0) /* of another thread that connected at the same time */
		syscall(SYS_close, low);
}

static inline void ctp_mem_close_(struct ctp_probe_ *p)
{
	int fd = ctp_fd_ours_(&p->mem, &p->mem_dev);
	if (fd >= 0 && !p->borrowed)
		syscall(SYS_close, fd);
	p->mem = 0;
}

/* Fills p, or leaves p->mode null. */
static inline void ctp_fill_(struct ctp_probe_ *p)
{
	if (ctp_secret_())
		return;
	const char *record = getenv("CTP_RECORD");
	bool alone = record && *record == '0'; /* no memory of our own */
	p->pid = CTP_TO_(uint32_t, syscall(SYS_getpid));
	int fd = ctp_open_named_(p);
	if (fd < 0 && !alone)
		fd = ctp_open_shared_(p);
	if (fd < 0 && !alone)
		fd = ctp_open_own_(p);
	if (fd < 0)
		return;
	if (p->annex)
		ctp_mem_keep_(p, fd);
	else
		ctp_fd_keep_(fd, &p->mem, &p->mem_dev, NULL); /* do not reuse another descriptor: it would be closed below */
	p->raw = p->annex && ctp_raw_agrees_(p->shm, CTP_GET_(&p->shm->owner) == p->pid);
	p->fenced = true;
	p->v1_mode = CTP_MODE_RECORD;
	if ((!p->annex || CTP_GET_(&p->shm->mode)) && !ctp_extend_(p))
		ctp_mem_close_(p);
	else
		p->mode = p->annex ? &p->shm->mode : &p->v1_mode;
	if (!p->annex)
		ctp_mem_close_(p);
}

/* --- copies of the probe -------------------------------------------------------------------------------------------------- */

/* Identifies the copy in this object for other copies. */

static inline bool ctp_link_fits_(void)
{
	struct rlimit limit;
	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= sizeof(struct ctp_link_); /* else ftruncate raises SIGXFSZ */
}

/* A descriptor for a link, where other copies find it. Without one, the attachment is for this copy alone. */
static inline int ctp_link_fd_(struct ctp_probe_ *p)
{
	int low = ctp_link_fits_() ? CTP_TO_(int, syscall(SYS_memfd_create, "ctp-probe", 3u /* as above */)) : -1;
	if (low < 0)
		return -1;
	if (syscall(SYS_ftruncate, low, sizeof(struct ctp_link_)) || syscall(SYS_fcntl, low, 1033, 7) /* as above */) {
		syscall(SYS_close, low);
		return -1;
	}
	int fd = ctp_fd_keep_(low, &p->link_fd, &p->link_dev, NULL);
	if (fd >= CTP_FD_ && fd <= CTP_FD_LAST_)
		return fd;
	if (fd >= 0)
		syscall(SYS_close, fd);
	p->link_fd = 0;
	return -1;
}

/* Maps a link. Not in children, where it would be that of the parent. */
static inline struct ctp_link_ *ctp_link_map_(int fd)
{
	const size_t bytes = sizeof(struct ctp_link_);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, bytes, 10 /* MADV_DONTFORK */);
	return CTP_TO_(struct ctp_link_ *, at);
}

static inline bool ctp_link_make_(struct ctp_probe_ *p)
{
	struct ctp_link_ *link = p->link = ctp_link_map_(ctp_link_fd_(p));
	if (!link)
		return false;
	link->magic = CTP_LINK_MAGIC_;
	link->kind = CTP_LINK_KIND_;
	link->key = p->key;
	link->dev = p->mem_dev;
	link->probe = CTP_TO_(uint64_t, CTP_TO_(uintptr_t, p));
	link->nonce = CTP_TO_(uint32_t, ctp_clock_()) | 1;
	/*
	 * Release: the probe is complete. Pairs with the acquire of the nonce in ctp_join_, by a thread that has its address from
	 * link.
	 */
	__atomic_store_n(&p->nonce, link->nonce, __ATOMIC_RELEASE);
	/* Release: both are complete. Pairs with the acquire in ctp_join_. */
	__atomic_store_n(&link->holders, 1, __ATOMIC_RELEASE);
	return true;
}

/*
 * Whether a number is at an address that may not be mapped. FUTEX_WAIT with a time-out of 0 lets the kernel look: it times out only
 * if the number is there. (The descriptor that gave us the address may be another file by now, so it is not used.)
 */
static inline bool ctp_stands_(uint64_t at, uint32_t number)
{
	static const struct timespec no_time = { 0, 0 };
	return syscall(SYS_futex, at, 128 /* FUTEX_WAIT_PRIVATE */, number, &no_time, NULL, 0) == -1 && errno == ETIMEDOUT;
}

/* The attachment of a link, held, if it is attached to the memory of p. */
static inline struct ctp_probe_ *ctp_link_join_(struct ctp_link_ *link, const struct ctp_probe_ *p)
{
	uint32_t holders = CTP_GET_(&link->holders);
	const uint64_t at = link->probe;
	if (!holders || link->kind != CTP_LINK_KIND_ || link->key != p->key || link->dev != p->mem_dev)
		return NULL;
	if (!ctp_stands_(at + offsetof(struct ctp_probe_, nonce), link->nonce))
		return NULL;
	do {
		if (!holders)
			return NULL;
	} while (!__atomic_compare_exchange_n(&link->holders, &holders, holders + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return CTP_TO_(struct ctp_probe_ *, CTP_TO_(uintptr_t, at));
}

/* Maps a link from a descriptor that looks like one, but may become another file at any time. */
#define CTP_LINK_NAME_ "/memfd:ctp-probe (deleted)"
static inline struct ctp_link_ *ctp_link_open_(int fd)
{
	struct stat st;
	int copy = CTP_TO_(int, syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, CTP_FD_));
	if (copy < 0)
		return NULL;
	bool is_link = copy <= 9999 && ctp_fd_is_(copy, CTP_LINK_NAME_) && !syscall(SYS_fstat, copy, &st) &&
	               st.st_size == CTP_TO_(off_t, sizeof(struct ctp_link_));
	struct ctp_link_ *link = is_link ? ctp_link_map_(copy) : NULL;
	syscall(SYS_close, copy);
	return link;
}

static inline struct ctp_probe_ *ctp_join_(const struct ctp_probe_ *p)
{
	struct ctp_probe_ *theirs = NULL;
	for (int fd = CTP_FD_; fd <= CTP_FD_LAST_ && !theirs; fd++) {
		struct ctp_link_ *link = ctp_fd_is_(fd, CTP_LINK_NAME_) ? ctp_link_open_(fd) : NULL;
		if (!link)
			continue;
		/* Acquire: if there is a holder, the rest is complete. Pairs with the release in ctp_link_make_. */
		bool known = __atomic_load_n(&link->holders, __ATOMIC_ACQUIRE) && link->magic == CTP_LINK_MAGIC_;
		if (known && link->key >> 32 == p->pid)
			theirs = ctp_link_join_(link, p);
		else if (known)
			syscall(SYS_close, fd); /* inherited by a fork, and useless here */
		munmap(link, sizeof *link);
	}
	if (theirs)
		(void)__atomic_load_n(&theirs->nonce, __ATOMIC_ACQUIRE); /* pairs with its release in ctp_link_make_ */
	return theirs;
}

/* Whether a part of this file is mapped in this process: a line of its maps has the device and the number of the file. */
static inline bool ctp_mapped_(const struct stat *st)
{
	char text[1024];
	int fd = CTP_TO_(int, syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0)), field = 0;
	bool found = false;
	uint64_t number = 0, major = 0, minor = 0, dev = CTP_TO_(uint64_t, st->st_dev);
	for (long n = 1; fd >= 0 && n > 0 && !found;) {
		n = syscall(SYS_read, fd, text, sizeof text);
		for (long i = 0; i < n && !found; i++) {
			char c = text[i];
			if (c == '\n') {
				field = 0;
			} else if (c == ' ') { /* after the fourth field, which is the device, and the fifth, which is the number */
				minor = field == 3 ? number : minor;
				found = field == 4 && number == CTP_TO_(uint64_t, st->st_ino) && major == (dev >> 8 & 0xfff) &&
				        minor == ((dev & 0xff) | (dev >> 12 & 0xfff00));
				field++;
			} else if (c == ':' && field == 3) {
				major = number;
			}
			uint64_t digit = CTP_TO_(uint64_t, c >= 'a' ? c - 'a' + 10 : c - '0');
			number = c == ' ' || c == ':' || c == '\n' ? 0 : field == 3 ? number * 16 + digit : number * 10 + digit;
		}
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

/* Closes the descriptor of the memory, unless another version of the probe in this process uses it. */
static inline void ctp_mem_leave_(int fd)
{
	struct stat st;
	if (fd >= 0 && !syscall(SYS_fstat, fd, &st) && !ctp_mapped_(&st))
		syscall(SYS_close, fd);
}

/* Frees an attachment. A memory of our own that a collector is reading stays where the next attachment will find it. */
static inline void ctp_destroy_(struct ctp_probe_ *p)
{
	int mem = ctp_fd_ours_(&p->mem, &p->mem_dev), sock = ctp_fd_ours_(&p->sock, &p->sock_dev);
	int link_fd = ctp_fd_ours_(&p->link_fd, &p->link_dev);
	bool watched = p->annex && CTP_GET_(&p->shm->owner) == p->pid && CTP_GET_(&p->shm->mode) & CTP_MODE_RINGS;
	for (uint32_t i = 0; i < CTP_RINGS_KNOWN_; i++)
		if (p->entries[i])
			munmap(p->entries[i], sizeof(struct ctp_shm_entry) << p->ring_bits);
	if (p->base)
		munmap(p->base, CTP_TO_(size_t, p->entries_at));
	if (p->shm)
		munmap(p->shm, sizeof *p->shm);
	if (sock >= 0)
		syscall(SYS_close, sock);
	if (link_fd >= 0)
		syscall(SYS_close, link_fd);
	if (!watched)
		ctp_mem_leave_(mem);
	if (p->link)
		munmap(p->link, sizeof *p->link);
	munmap(p, sizeof *p);
}

/* Releases what this copy has in an attachment, which others may continue to use. No thread is in its code any more. */
static inline void ctp_withdraw_(struct ctp_probe_ *p)
{
	for (uint32_t i = 0; i < CTP_RINGS_KNOWN_; i++) {
		if (CTP_GET_(&p->ring_of[i]) != ctp_copy_())
			continue;
		struct ctp_shm_ring *ring = CTP_TO_(struct ctp_shm_ring *, CTP_GET_(&p->base) + p->rings_at) + i;
		CTP_PUT_(&p->ring_of[i], 0);
		/* Release: its last entry is there, and its owner's head. Pairs with the exchange in ctp_ring_take_. */
		__atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE);
	}
	for (uint32_t i = 0; i < CTP_PLACES_; i++) {
		if (CTP_GET_(&p->place_of[i]) != ctp_copy_())
			continue;
		CTP_PUT_(&p->place_of[i], 0);
		CTP_PUT_(&p->places[i].number, 0);
		/* Release: a thread that finds another key here does not find the old number. Pairs with ctp_place_take_. */
		__atomic_store_n(&p->places[i].key, 0, __ATOMIC_RELEASE);
	}
	CTP_PUT_(&p->again, true);
}

CTP_FN_HERE_ void ctp_release_(struct ctp_probe_ *p)
{
	struct ctp_link_ *link = p->link;
	/* Release: our accesses are done. Acquire: so are those of the others, before it is freed. Pairs with itself. */
	if (__atomic_fetch_sub(&link->holders, 1, __ATOMIC_ACQ_REL) == 1)
		ctp_destroy_(p);
}

/* A thread of this copy is about to use p: hold it until this copy is unloaded. Its coroutine is in use, so it is held now. */
CTP_FN_HERE_ void ctp_hold_(struct ctp_probe_ *p)
{
	struct ctp_probe_ *known;
	if (CTP_GET_(&ctp_current_) == p || !p->link)
		return;
	for (int i = 0; i < CTP_HELD_; i++)
		if (CTP_GET_(&ctp_held_[i]) == p)
			return;
	/* Relaxed: p was found through one of its holders. */
	__atomic_fetch_add(&p->link->holders, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < CTP_HELD_; i++) {
		known = CTP_GET_(&ctp_held_[i]);
		if (known && known->link)
			continue; /* otherwise the slot was empty, or from the parent process */
		if (__atomic_compare_exchange_n(&ctp_held_[i], &known, p, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

/*
 * An object's destructors run when it is unloaded, and at exit, when other threads may still be in its code and the attachment must
 * stay. The exit handler runs first at exit, but after the destructors without a priority when the object is unloaded. Destructors
 * of static C++ objects run together with it, and may trace. So a destructor with a priority, which runs last, does the work.
 */
enum { CTP_STAGE_LOADED_ = 1, CTP_STAGE_EXITS_, CTP_STAGE_UNLOADS_ };
/* What atexit(3) does for an object. atexit itself is in a static part of the C library that is not always linked. */
extern int ctp_at_exit_(void (*fn)(void *arg), void *arg, void *object) __asm__("__cxa_atexit");
extern __attribute__((visibility("hidden"))) char ctp_object_ __asm__("__dso_handle");
CTP_FN_HERE_ void ctp_loaded_(void)
{
	if (!ctp_stage_ && !ctp_at_exit_(ctp_exits_, NULL, &ctp_object_))
		ctp_stage_ = CTP_STAGE_LOADED_;
}
CTP_FN_HERE_ void ctp_exits_(void *unused)
{
	(void)unused;
	if (ctp_stage_ == CTP_STAGE_LOADED_)
		ctp_stage_ = CTP_STAGE_EXITS_;
}
CTP_FN_HERE_ void ctp_unloads_(void)
{
	if (ctp_stage_ == CTP_STAGE_LOADED_)
		ctp_stage_ = CTP_STAGE_UNLOADS_;
}
CTP_FN_HERE_ void ctp_unloaded_(void)
{
	if (ctp_stage_ != CTP_STAGE_UNLOADS_)
		return;
	int err = errno;
	struct ctp_probe_ *p = ctp_current_;
	ctp_current_ = NULL;
	if (p && p->tried && !p->link) { /* there was nothing to attach to */
		munmap(p, sizeof *p);
		p = NULL;
	}
	for (int i = -1; i < CTP_HELD_; i++) {
		if (i >= 0) {
			p = ctp_held_[i];
			ctp_held_[i] = NULL;
		}
		if (p && p->link) { /* otherwise it is the parent's */
			ctp_withdraw_(p);
			ctp_release_(p);
		}
	}
	errno = err;
}

/* An attachment, held: that of another copy, or a new one. Null: there is no memory for it. */
static inline struct ctp_probe_ *ctp_probe_make_(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct ctp_probe_ *p = CTP_TO_(struct ctp_probe_ *, mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, flags, -1, 0));
	if (p == MAP_FAILED)
		return NULL;
	if (!madvise(p, sizeof *p, 18 /* MADV_WIPEONFORK; not traced before Linux 4.14, which lacks it */))
		ctp_fill_(p);
	p->tried = true;
	p->tag = CTP_TO_(uint64_t, CTP_TO_(uintptr_t, p)) >> 12 << 32;
	p->again = p->annex && CTP_GET_(&p->shm->sites_used);
	struct ctp_probe_ *theirs = p->mode ? ctp_join_(p) : NULL;
	if (theirs) {
		if (CTP_TO_(uint32_t, p->mem) <= CTP_FD_)
			ctp_mem_close_(p); /* otherwise it is theirs, or that of another thread that is attaching */
		p->mem = 0;
		ctp_destroy_(p);
		return theirs;
	}
	if (p->mode && !ctp_link_make_(p))
		p->mode = NULL;
	return p;
}

/* No thread waits: of several threads that attach at once the first to finish wins, and a fork finds no lock held. */
CTP_FN_HERE_ struct ctp_probe_ *ctp_attach_(struct ctp_probe_ *old)
{
	int err = errno;
	struct ctp_probe_ *p = ctp_probe_make_();
	if (!p) {
		errno = err;
		return NULL;
	}
	/* Release: the pages are filled. Pairs with the acquire load in ctp_probe_get_. */
	if (!__atomic_compare_exchange_n(&ctp_current_, &old, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (p->link)
			ctp_release_(p);
		else
			ctp_destroy_(p);
		p = old;
	}
	if (p->mode && (!p->annex || CTP_GET_(&p->shm->mode) & CTP_MODE_RINGS) && !__atomic_exchange_n(&p->asked, 1, __ATOMIC_RELAXED))
		ctp_connect_(p);
	errno = err;
	return p;
}

/*
 * Maps all but the entries: at once in a collector's memory, and in one of our own when something is recorded. Also registers for
 * membarrier(2), so that events need no fence.
 */
CTP_FN_HERE_ bool ctp_extend_(struct ctp_probe_ *p)
{
	if (__atomic_load_n(&p->base, __ATOMIC_ACQUIRE)) /* pairs with the exchange below */
		return true;
	int err = errno, fd = ctp_fd_ours_(&p->mem, &p->mem_dev);
	char *none = NULL, *base = fd < 0 ? NULL : CTP_TO_(char *, ctp_map_(fd, 0, p->entries_at));
	if (base) {
		if (p->annex && !syscall(SYS_membarrier, 4 /* MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED */, 0, 0))
			CTP_PUT_(&p->fenced, false);
		if (!__atomic_compare_exchange_n(&p->base, &none, base, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			munmap(base, CTP_TO_(size_t, p->entries_at));
	}
	errno = err;
	return base;
}

/*
 * Allocates holes of the memory. Returns false if that is not possible; touching one then would raise SIGBUS. For a file with a
 * name, fallocate is used. A file without a name has only the limits of the system, and the program may have closed its descriptor:
 * for it, and for file systems without fallocate, the pages are populated. (Not possible before Linux 5.14: then they are assumed
 * to exist.)
 */
static inline bool ctp_populate_(struct ctp_probe_ *p, uint64_t at, uint64_t bytes)
{
	int fd = p->named ? ctp_mem_fd_(p) : -1;
	long failed = -1;
	for (int tries = 0; fd >= 0 && failed && tries < 16 && (!tries || errno == EINTR); tries++)
		failed = syscall(SYS_fallocate, fd, 0, at, bytes);
	if (failed && (fd < 0 || errno == EOPNOTSUPP))
		failed = madvise(CTP_GET_(&p->base) + at, CTP_TO_(size_t, bytes), 23 /* MADV_POPULATE_WRITE */) && errno != EINVAL;
	return !failed;
}

CTP_FN_HERE_ bool ctp_reserve_(struct ctp_probe_ *p, uint64_t *to, uint64_t end)
{
	uint64_t at = (end - 1) / CTP_RESERVE_ * CTP_RESERVE_, upto = at + CTP_RESERVE_;
	if (upto > p->entries_at)
		upto = p->entries_at;
	int err = errno;
	bool there = ctp_populate_(p, at, upto - at);
	if (there) /* If another thread was further, this is lowered and allocated again. Pairs with ctp_reserved_. */
		__atomic_store_n(to, upto, __ATOMIC_RELEASE);
	errno = err;
	return there;
}

/*
 * Whether the memory up to end is allocated, for an element that begins less than CTP_RESERVE_ before. Elements are taken in order,
 * and readers look only at counted ones: so an element is allocated first, and counted after that.
 */
static inline bool ctp_reserved_(struct ctp_probe_ *p, uint64_t *to, uint64_t end)
{
	return __builtin_expect(end <= __atomic_load_n(to, __ATOMIC_ACQUIRE), 1) || ctp_reserve_(p, to, end); /* pairs with that */
}

/* The index of the next element of a table whose count is in the header; max: there is none, or no memory for it. */
static inline uint32_t ctp_take_next_(struct ctp_probe_ *p, uint32_t *count, uint32_t max, uint64_t *to, uint64_t at, uint64_t bytes)
{
	uint32_t index = CTP_GET_(count);
	while (index < max && ctp_reserved_(p, to, at + (index + UINT64_C(1)) * bytes))
		if (__atomic_compare_exchange_n(count, &index, index + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return index;
	return max;
}

/*
 * Wakes the collector. The program may have closed our descriptor and reused its number, so check first whether it is still the
 * socket that we opened. If not, connect again, once each time that this happens and once for each collector; a new connection
 * wakes the collector by itself. A process without a socket leaves the flag to one that has a socket.
 */
CTP_FN_HERE_ void ctp_rouse_(struct ctp_probe_ *p)
{
	uint64_t sock = __atomic_load_n(&p->sock, __ATOMIC_ACQUIRE); /* pairs with ctp_fd_note_ */
	int err = errno, fd = ctp_fd_ours_(&sock, &p->sock_dev); /* of this copy, because another one may be noted meanwhile */
	uint32_t epoch = p->annex ? CTP_GET_(&p->shm->epoch) : 0, known = CTP_GET_(&p->sock_epoch);
	if (epoch != known) {
		if (__atomic_compare_exchange_n(&p->sock_epoch, &known, epoch, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			/* Cleared before it is closed: otherwise another thread finds it closed and connects, too. */
			sock = __atomic_exchange_n(&p->sock, 0, __ATOMIC_ACQUIRE);
			fd = ctp_fd_ours_(&sock, &p->sock_dev);
			if (fd >= 0)
				syscall(SYS_close, fd);
			ctp_connect_(p);
		}
	} else if (fd < 0) {
		if (sock && __atomic_compare_exchange_n(&p->sock, &sock, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			ctp_connect_(p);
	} else if (__atomic_exchange_n(&p->shm->tracer_sleeping, 0, __ATOMIC_RELAXED) == 1) {
		syscall(SYS_sendto, fd, "1", 1, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
	}
	errno = err;
}

/*
 * Called after something was published. Either we see the collector's flag here, or it sees what we wrote. Pairs with what it does
 * between its store of tracer_sleeping and its last look before it blocks: a fence, and for processes without a fence here a
 * membarrier(2), which is a fence in each of their threads. Proved in t/proof: no_lost_wakeup, with ctp_rouse_ and ctp_extend_, for
 * any order of the exchange there.
 */
static inline void ctp_tell_(struct ctp_probe_ *p, uint32_t mode)
{
	if (p->annex && !(mode & CTP_MODE_RINGS))
		return; /* there is no collector */
	if (mode & CTP_MODE_MEMBARRIER && !CTP_GET_(&p->fenced))
		CTP_COMPILER_FENCE_;
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (CTP_GET_(&p->shm->tracer_sleeping) == 1)
		ctp_rouse_(p);
}

/* --- sites ---------------------------------------------------------------------------------------------------------------- */

/* Fills a site, except for ready. */
static inline struct ctp_shm_site ctp_site_of_(const char *file, uint32_t line, const char *function, const void *code)
{
	struct ctp_shm_site s;
	size_t nfile = strlen(file), nfunction = strlen(function), room = sizeof s.text;
	memset(&s, 0, sizeof s);
	if (nfunction > room / 2)
		nfunction = room / 2;
	if (nfile > room - nfunction) {
		file += nfile - (room - nfunction);
		nfile = room - nfunction;
	}
	s.line = line;
	s.file_bytes = CTP_TO_(uint16_t, nfile);
	s.function_bytes = CTP_TO_(uint16_t, nfunction);
	memcpy(s.text, file, nfile);
	memcpy(s.text + nfile, function, nfunction);
	if (code && nfile + nfunction + sizeof code <= room) {
		memcpy(s.text + room - sizeof code, &code, sizeof code);
		s.code_bytes = CTP_TO_(uint32_t, sizeof code);
	}
	return s;
}

/* The number of a site that already exists, because an object was unloaded and loaded again; 0: there is none. */
static inline uint32_t ctp_site_same_(const struct ctp_probe_ *p, const struct ctp_shm_site *mine)
{
	const struct ctp_shm_site *s = CTP_TO_(const struct ctp_shm_site *, CTP_GET_(&p->base) + p->sites_at);
	uint32_t used = CTP_GET_(&p->shm->sites_used);
	for (uint32_t i = 0; i < used && i < p->max_sites; i++, s++)
		if (__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE) == 1 && /* pairs with the store in ctp_site_add_ */
		    !memcmp(&s->line, &mine->line, sizeof *s - offsetof(struct ctp_shm_site, line)))
			return i + 1;
	return 0;
}

CTP_FN_HERE_ uint32_t ctp_site_add_(struct ctp_probe_ *p, const char *file, uint32_t line, const char *function, const void *code)
{
	if (!p->annex || !ctp_extend_(p))
		return 0;
	const struct ctp_shm_site mine = ctp_site_of_(file, line, function, code);
	uint32_t same = CTP_GET_(&p->again) ? ctp_site_same_(p, &mine) : 0;
	if (same)
		return same;
	uint32_t index = ctp_take_next_(p, &p->shm->sites_used, p->max_sites, &p->sites_to, p->sites_at, sizeof mine);
	if (index >= p->max_sites)
		return 0;
	struct ctp_shm_site *s = CTP_TO_(struct ctp_shm_site *, CTP_GET_(&p->base) + p->sites_at) + index;
	memcpy(&s->line, &mine.line, sizeof mine - offsetof(struct ctp_shm_site, line));
	__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE); /* pairs with the collector's acquire load */
	return index + 1;
}

/* If two threads add the same site at once, it has two numbers, which is harmless. */
CTP_FN_HERE_ uint32_t ctp_site_new_(struct ctp_probe_ *p, struct ctp_site *site)
{
	if (!p->serial)
		return 0; /* the child of a fork with a coroutine of its parent: do not cache a number */
	uint32_t added = ctp_site_add_(p, site->file, site->line, site->function, NULL);
	CTP_PUT_(&site->number_, CTP_TO_(uint64_t, p->serial) << 32 | added);
	return added;
}

/* The slow path: the key is not in its first place. */
CTP_FN_HERE_ uint32_t ctp_place_new_(struct ctp_probe_ *p, const char *file, uint32_t line, const char *function)
{
	uint64_t key = ctp_place_key_(file, line), none = 0;
	uint32_t at = ctp_place_at_(key);
	for (int i = 0; i < 8; i++, at = (at + 1) % CTP_PLACES_) {
		struct ctp_place_ *place = &p->places[at];
		uint64_t found = __atomic_load_n(&place->key, __ATOMIC_ACQUIRE); /* as in ctp_place_find_ */
		if (found == key)
			return CTP_GET_(&place->number);
		if (found)
			continue;
		if (ctp_place_take_(p, at, key, &none))
			CTP_PUT_(&place->number, ctp_site_add_(p, file, line, function, NULL));
		return none && none != key ? 0 : CTP_GET_(&place->number); /* 0: another thread is just adding it */
	}
	return 0;
}

/* --- rings ---------------------------------------------------------------------------------------------------------------- */

/*
 * The child of a fork has its parent's lanes. Until they are cleared, a signal handler finds none, and its events are lost. A
 * handler that runs before the depth is set does all of this itself, and ends it. So the depth is set once more after that, and
 * quick, which does not check the depth, is reset.
 */
static inline void ctp_thread_renew_(struct ctp_thread_ *t, const struct ctp_probe_ *p)
{
	CTP_PUT_(&t->depth, CTP_LANES_);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->probe, p);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->depth, CTP_LANES_);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->quick, 0);
	CTP_COMPILER_FENCE_;
	t->current = t->leaving = 0;
	memset(t->lanes, 0, sizeof t->lanes);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->depth, 0);
}

CTP_FN_HERE_ void ctp_thread_new_(struct ctp_thread_ *t, struct ctp_probe_ *p)
{
	t->tid = CTP_TO_(uint64_t, syscall(SYS_gettid));
	ctp_hold_(p);
	if (CTP_GET_(&t->probe))
		ctp_thread_renew_(t, p);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->probe, p);
}

/*
 * The state of this thread, reset after a fork: in the child the pages of its probe are zeros, so there is no key. (Comparing with
 * the previous key proves nothing: the child can have its parent's pid, which is 1 in a namespace of its own.) Another attachment
 * of this process to the same memory shares the state, because one object may handle coroutines of another.
 */
static inline struct ctp_thread_ *ctp_thread_get_(struct ctp_probe_ *p)
{
	struct ctp_thread_ *t = &ctp_self_;
	__asm__("" : "+r"(t)); /* otherwise gcc computes the address at each use */
	const struct ctp_probe_ *known = CTP_GET_(&t->probe);
	if (__builtin_expect(!known || known->key != p->key, 0))
		ctp_thread_new_(t, p);
	uint32_t gaps = p->annex ? CTP_GET_(p->mode) & CTP_MODE_GAPS(-1) : 0;
	if (t->gaps != gaps) { /* another coroutine may run now */
		t->current = t->leaving = 0;
		t->gaps = gaps;
	}
	return t;
}

/*
 * Plain stores: the collector reads an entry only after it is published, and it is not overwritten before it was read. Proved in
 * t/proof: ring_race_free.
 */
static inline void ctp_publish_(struct ctp_lane_ *lane, uint64_t ts, uint64_t value, uint64_t ref, uint64_t what)
{
	struct ctp_shm_entry *e = &lane->entries[lane->head & lane->mask];
	e->ts = ts;
	e->value = value;
	e->ref = ref;
	e->what = what;
	lane->head++;
	/* A reader that sees this head sees the entry, and everything before it. Pairs with the collector's acquire load. */
	__atomic_store_n(&lane->ring->head, lane->head, __ATOMIC_RELEASE);
}

/*
 * The number of an entry determines its place. Going through all of a large ring costs a page fault for each page, and later a
 * cache miss for each line. So a writer whose ring has few unread entries goes back to the beginning, and the numbers of the rest
 * of the ring have no entries. If the collector then does not progress, and the writer reaches the oldest unread entries, it skips
 * them and continues after them: the whole ring is available, except for these.
 *
 * Relaxed: the next published head is after these numbers, and a reader that sees it sees these words. Neither pair changes before
 * the collector's tail is after it. So a collector can recognise a pair that is only half updated: see rings.c. Proved in t/proof
 * (ring.v): ring_fifo, of all that a writer does with its lane.
 */
static inline void ctp_skip_(uint64_t *from_at, uint64_t *to_at, uint64_t from, uint64_t to)
{
	CTP_PUT_(from_at, from);
	CTP_PUT_(to_at, to);
}

static inline bool ctp_turns_(const struct ctp_lane_ *lane, uint32_t mode)
{
	return mode & CTP_MODE_SKIPS && (lane->mask + 1) >> CTP_TURN_BITS_ >= 8;
}

/* All skips end at a multiple of turn: a tail that is this close is after them. */
static inline void ctp_go_back_(struct ctp_lane_ *lane, uint64_t tail)
{
	const uint64_t turn = UINT64_C(1) << CTP_TURN_BITS_, at = lane->head & lane->mask;
	if (!at || at % turn || lane->head - tail > turn / 2)
		return;
	lane->back_from = lane->head;
	lane->head = lane->back_to = lane->head - at + lane->mask + 1;
	ctp_skip_(&lane->ring->back_from, &lane->ring->back_to, lane->back_from, lane->back_to);
}

static inline void ctp_go_over_(struct ctp_lane_ *lane)
{
	uint64_t from = lane->head;
	lane->head = lane->over_to = lane->back_to + (lane->back_from & lane->mask);
	ctp_skip_(&lane->ring->over_from, &lane->ring->over_to, from, lane->over_to);
}

/* The first number for which there is no room while the collector is at tail. */
static inline uint64_t ctp_end_(struct ctp_lane_ *lane, uint32_t mode, uint64_t tail, uint64_t need)
{
	const uint64_t size = lane->mask + 1;
	if (ctp_turns_(lane, mode))
		ctp_go_back_(lane, tail);
	if (tail >= lane->back_to)
		return tail + size;
	if (lane->over_to < lane->back_to && lane->head + need <= tail + size)
		return tail + size;
	if (lane->over_to < lane->back_to)
		ctp_go_over_(lane);
	return lane->back_to + size;
}

static inline bool ctp_gone_(const struct ctp_probe_ *p, uint64_t owner, bool others)
{
	uint32_t pid = CTP_TO_(uint32_t, owner >> 32);
	if (pid == p->pid)
		return syscall(SYS_tgkill, pid, CTP_TO_(uint32_t, owner), 0) && errno == ESRCH;
	return others && syscall(SYS_kill, pid, 0) && errno == ESRCH;
}

/* Whether the collector has read enough of a ring for it to have another owner: half of it, and all that is before a skip. */
static inline bool ctp_ring_read_(const struct ctp_probe_ *p, const struct ctp_shm_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = CTP_GET_(&ring->tail);
	uint64_t back_to = CTP_GET_(&ring->back_to), over_to = CTP_GET_(&ring->over_to);
	bool skips = (back_to <= head && back_to > tail) || (over_to <= head && over_to > tail);
	return !skips && head - tail <= (UINT64_C(1) << p->ring_bits) / 2;
}

/*
 * Takes ring i for this thread, if it has no owner, or its thread has ended. Until the exchange another thread may take the ring,
 * fill it, and give it back: only what is found after the exchange is certain.
 */
static inline bool ctp_ring_take_(struct ctp_probe_ *p, struct ctp_thread_ *t, uint32_t i, bool others)
{
	struct ctp_shm_ring *ring = CTP_TO_(struct ctp_shm_ring *, CTP_GET_(&p->base) + p->rings_at) + i;
	uint64_t me = CTP_TO_(uint64_t, p->pid) << 32 | t->tid, owner = CTP_GET_(&ring->owner);
	if (CTP_TO_(uint32_t, owner >> 32) == p->pid && !CTP_GET_(&p->entries[i]))
		return false; /* it has our own ids, from another namespace or from before an exec: not certain */
	if (owner && (owner == me || !ctp_gone_(p, owner, others)))
		return false;
	/* Acquire: what the last owner stored is there, if it gave the ring back. Pairs with the release stores of 0. */
	if (!ctp_ring_read_(p, ring) || !__atomic_compare_exchange_n(&ring->owner, &owner, me, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	if (ctp_ring_read_(p, ring))
		return true;
	__atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE); /* as in ctp_withdraw_, for what the owner before us stored */
	return false;
}

/* A ring for this lane: one without an owner, if there is one among a few, or a new one. */
static inline bool ctp_claim_(struct ctp_probe_ *p, struct ctp_thread_ *t, struct ctp_lane_ *lane, uint64_t ts)
{
	uint32_t max = p->max_rings;
	uint32_t used = CTP_GET_(&p->shm->rings_used), i = 0, looked, few = 32;
	bool exhausted = used >= max, others = exhausted || used >= CTP_RINGS_MANY_, found = false;
	if (lane->tries++ % 4096) /* not at each event */
		return false;
	used = exhausted ? max : used;
	few = exhausted || used < few ? used : few;
	uint32_t from = used ? __atomic_fetch_add(&p->ring_from, few, __ATOMIC_RELAXED) : 0;
	for (looked = 0; looked < few && !found; looked++) {
		i = (from + looked) % used;
		found = ctp_ring_take_(p, t, i, others);
	}
	while (!found && !exhausted) {
		i = ctp_take_next_(p, &p->shm->rings_used, max, &p->rings_to, p->rings_at, sizeof(struct ctp_shm_ring));
		exhausted = i >= max;
		found = !exhausted && ctp_ring_take_(p, t, i, false);
	}
	if (!found)
		return false;

	struct ctp_shm_ring *ring = CTP_TO_(struct ctp_shm_ring *, CTP_GET_(&p->base) + p->rings_at) + i;
	uint64_t size = UINT64_C(1) << p->ring_bits, bytes = size * sizeof(struct ctp_shm_entry);
	struct ctp_shm_entry *entries = __atomic_load_n(&p->entries[i], __ATOMIC_ACQUIRE); /* pairs with the store below */
	if (!entries) {
		int fd = ctp_mem_fd_(p);
		if (fd >= 0 && p->named && syscall(SYS_fallocate, fd, 0, p->entries_at + i * bytes, bytes))
			fd = -1; /* writing to memory that is not allocated would raise SIGBUS */
		entries = fd < 0 ? NULL : CTP_TO_(struct ctp_shm_entry *, ctp_map_(fd, p->entries_at + i * bytes, bytes));
		__atomic_store_n(&p->entries[i], entries, __ATOMIC_RELEASE);
	}
	if (!entries) { /* Release: as in ctp_ring_take_. */
		__atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE);
		return false;
	}
	CTP_PUT_(&p->ring_of[i], ctp_copy_());
	lane->ring = ring;
	lane->entries = entries;
	lane->mask = size - 1;
	lane->head = CTP_GET_(&ring->head);
	lane->limit = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) + size; /* as in ctp_room_ */
	lane->back_from = lane->back_to = lane->over_to = 0;
	ctp_skip_(&ring->back_from, &ring->back_to, 0, 0); /* the previous owner may have died before it published them */
	ctp_skip_(&ring->over_from, &ring->over_to, 0, 0);
	CTP_PUT_(&ring->clock, p->raw ? CTP_CLOCK_RAW : CTP_CLOCK_MONOTONIC);
	ctp_publish_(lane, ts, CTP_TO_(uint64_t, p->pid) << 32 | t->tid, 0, CTP_ENTRY(CTP_ENTRY_THREAD, 0, 0));
	return true;
}

/* With --lossless: waits a moment. False: it waited long enough, the collector has left, or the last wait was useless. */
static inline bool ctp_wait_(struct ctp_probe_ *p, struct ctp_lane_ *lane, uint64_t tail, uint64_t *until_ns)
{
	static const struct timespec moment = { 0, 50000 };
	const uint32_t wanted = CTP_MODE_RINGS | CTP_MODE_LOSSLESS;
	if ((CTP_GET_(p->mode) & wanted) != wanted || lane->vain_tail == tail + 1)
		return false;
	uint64_t now_ns = ctp_clock_();
	if (!*until_ns) {
		const uint64_t wait_us = CTP_GET_(&p->shm->wait_us), most_us = CTP_WAIT_US_;
		*until_ns = now_ns + (wait_us < most_us ? wait_us : most_us) * 1000;
	}
	if (now_ns >= *until_ns) {
		lane->vain_tail = tail + 1;
		return false;
	}
	if (CTP_GET_(&p->shm->tracer_sleeping) == 1)
		ctp_rouse_(p);
	syscall(SYS_nanosleep, &moment, NULL);
	return true;
}

/* No known room is left. Finds some, or counts a loss. The next entry after a loss is preceded by one that reports it. */
CTP_FN_HERE_ bool ctp_room_(struct ctp_probe_ *p, struct ctp_thread_ *t, struct ctp_lane_ *lane, uint32_t mode, uint64_t ts, bool note)
{
	int err = errno;
	if (!lane->ring && !ctp_claim_(p, t, lane, ts)) {
		__atomic_fetch_add(note ? &p->shm->lost_notes : &p->shm->lost_events, 1, __ATOMIC_RELAXED);
		errno = err;
		return false;
	}
	struct ctp_shm_ring *ring = lane->ring;
	uint64_t events = CTP_GET_(&ring->lost_events) - CTP_GET_(&ring->said_events);
	uint64_t notes = CTP_GET_(&ring->lost_notes) - CTP_GET_(&ring->said_notes);
	uint64_t tail, end, need = events || notes ? 2 : 1, until_ns = 0;
	bool room;
	do {
		/* Entries that the collector has read may be overwritten. Pairs with its release store after its copy. */
		tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		end = ctp_end_(lane, mode, tail, need);
		room = lane->head + need <= end;
	} while (!room && mode & CTP_MODE_LOSSLESS && ctp_wait_(p, lane, tail, &until_ns));
	if (!room) {
		if (need == 1)
			CTP_PUT_(&ring->gap_ts, ts);
		__atomic_fetch_add(note ? &ring->lost_notes : &ring->lost_events, 1, __ATOMIC_RELAXED);
	} else {
		const uint64_t turn = ((lane->head + need - 1) | ((UINT64_C(1) << CTP_TURN_BITS_) - 1)) + 1;
		lane->limit = ctp_turns_(lane, mode) && turn < end ? turn : end;
		if (need == 2) {
			CTP_PUT_(&ring->said_events, CTP_GET_(&ring->said_events) + events);
			CTP_PUT_(&ring->said_notes, CTP_GET_(&ring->said_notes) + notes);
			ctp_publish_(lane, CTP_GET_(&ring->gap_ts), events, 0, CTP_ENTRY(CTP_ENTRY_GAP, 0, notes));
		}
	}
	errno = err;
	return room;
}

/* To be called between ctp_enter_ and ctp_leave_. */
static inline void ctp_push_(struct ctp_probe_ *p, struct ctp_thread_ *t, uint32_t depth, uint32_t mode, uint64_t ts,
                             uint64_t value, uint64_t ref, uint64_t what)
{
	bool note = CTP_ENTRY_KIND(what) > CTP_ENTRY_RESUME;
	struct ctp_lane_ *lane = &t->lanes[depth < CTP_LANES_ ? depth : CTP_LANES_ - 1];
	if (__builtin_expect(depth >= CTP_LANES_, 0)) {
		uint64_t *events = lane->ring ? &lane->ring->lost_events : &p->shm->lost_events;
		uint64_t *notes = lane->ring ? &lane->ring->lost_notes : &p->shm->lost_notes;
		__atomic_fetch_add(note ? notes : events, 1, __ATOMIC_RELAXED);
		return;
	}
	if (__builtin_expect(lane->head != lane->limit, 1) || ctp_room_(p, t, lane, mode, ts, note))
		ctp_publish_(lane, ts, value, ref, what);
}

/*
 * A signal handler between these two uses the next lane, and leaves everything as it was: a call that interrupts any of the changes
 * below undoes its own changes before it returns.
 */
static inline struct ctp_call_ ctp_enter_(struct ctp_thread_ *t)
{
	uint64_t quick = CTP_GET_(&t->quick);
	uint32_t under = CTP_GET_(&t->depth);
	struct ctp_call_ call = { quick, under + (quick == CTP_BUSY_), under };
	CTP_PUT_(&t->depth, under + 1);
	if (quick != CTP_BUSY_)
		CTP_PUT_(&t->quick, 0);
	CTP_COMPILER_FENCE_;
	return call;
}

static inline void ctp_leave_(struct ctp_thread_ *t, struct ctp_call_ call)
{
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->depth, call.under);
	CTP_PUT_(&t->quick, call.quick);
}

/* Writes an entry that is not a transition. */
static inline void ctp_note_(struct ctp_probe_ *p, struct ctp_thread_ *t, uint32_t mode, uint64_t ts, uint64_t value, uint64_t ref,
                             uint64_t what)
{
	if (!(mode & CTP_MODE_RINGS))
		return;
	struct ctp_call_ call = ctp_enter_(t);
	ctp_push_(p, t, call.depth, mode, ts, value, ref, what);
	ctp_leave_(t, call);
	ctp_tell_(p, mode);
}

/* --- coroutines ----------------------------------------------------------------------------------------------------------- */

static inline struct ctp_shm_station *ctp_station_at_(const struct ctp_probe_ *p, uint32_t index)
{
	return CTP_TO_(struct ctp_shm_station *, CTP_GET_(&p->base) + sizeof(struct ctp_shm_header)) + index;
}

/*
 * Frees the station of the coroutine of this generation, which has ended. Of several threads that try, one succeeds; and none does if
 * another coroutine has the station by now. Proved in t/proof: reuse_unique_owner, with ctp_unfree_, ctp_birth_ and ctp_death_.
 */
static inline void ctp_free_(struct ctp_probe_ *p, struct ctp_shm_station *st, uint32_t generation)
{
	uint64_t owned = CTP_TENURE(generation, CTP_OWNED);
	if (!__atomic_compare_exchange_n(&st->tenure, &owned, CTP_TENURE(generation, 0), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	CTP_PUT_(&st->is_dead, CTP_TO_(uint8_t, 2));
	uint32_t index = CTP_TO_(uint32_t, st - ctp_station_at_(p, 0));
	uint64_t top = CTP_GET_(&p->shm->free), mine;
	do {
		/* Release: as at birth, for a reader that sees the generation only here. Pairs with its acquire load. */
		__atomic_store_n(&st->tenure, CTP_TENURE(generation, CTP_TO_(uint32_t, top)), __ATOMIC_RELEASE);
		mine = ((top >> 32) + 1) << 32 | (index + 1);
		/* Release: the data of the old coroutine and the link are stored. Pairs with the acquire of the pop. */
	} while (!__atomic_compare_exchange_n(&p->shm->free, &top, mine, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/*
 * The tag in the high half makes the exchange fail if another thread has taken the station since its link was read. t/proof:
 * reuse_unique_owner.
 */
static inline struct ctp_shm_station *ctp_unfree_(struct ctp_probe_ *p)
{
	uint64_t top = __atomic_load_n(&p->shm->free, __ATOMIC_ACQUIRE), below; /* pairs with the release of the push */
	do {
		if (!CTP_TO_(uint32_t, top) || CTP_TO_(uint32_t, top) > p->max_stations)
			return NULL;
		uint32_t next = CTP_GET_(&ctp_station_at_(p, CTP_TO_(uint32_t, top) - 1)->next_free);
		below = ((top >> 32) + 1) << 32 | next;
	} while (!__atomic_compare_exchange_n(&p->shm->free, &top, below, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return ctp_station_at_(p, CTP_TO_(uint32_t, top) - 1);
}

/* Does what a killed collector left undone: leaving, and freeing the stations of coroutines that have ended. */
static inline void ctp_retire_(struct ctp_probe_ *p, uint32_t mode, uint32_t next)
{
	if (!next)
		__atomic_fetch_add(&p->shm->gaps, 1, __ATOMIC_RELAXED);
	if (mode & CTP_MODE_BARE)
		CTP_PUT_(&p->shm->since_ns, ctp_clock_());
	if (!__atomic_compare_exchange_n(&p->shm->mode, &mode, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	/*
	 * Either we see its death below, or the dying coroutine sees the mode above. Pairs with ctp_death_, where membarrier is the
	 * fence.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	syscall(SYS_membarrier, 2 /* MEMBARRIER_CMD_GLOBAL_EXPEDITED */, 0, 0);
	uint32_t used = CTP_GET_(&p->shm->allocated_count);
	for (uint32_t i = 0; i < used && i < p->max_stations; i++) { /* only stations that have memory */
		struct ctp_shm_station *st = ctp_station_at_(p, i);
		/* Acquire: the 1 below is not of a coroutine before this one. Pairs with the release store of tenure. */
		uint32_t generation = __atomic_load_n(&st->generation, __ATOMIC_ACQUIRE);
		if (generation && __atomic_load_n(&st->is_dead, __ATOMIC_ACQUIRE) == 1)
			ctp_free_(p, st, generation);
	}
}

/*
 * There is no station left, and the collector that should free some may be dead. If we get its lock on the memory, it is, and we do
 * what it left undone.
 */
static inline void ctp_recover_(struct ctp_probe_ *p)
{
	uint32_t mode = CTP_GET_(&p->shm->mode);
	uint32_t next = mode & CTP_MODE_KEEP ? CTP_MODE_RECORD | CTP_MODE_KEEP | (mode & CTP_MODE_GAPS(-1)) : 0;
	if (!(mode & CTP_MODE_RINGS) || __atomic_fetch_add(&p->unserved, 1, __ATOMIC_RELAXED) % 1024)
		return;
	struct flock lock;
	memset(&lock, 0, sizeof lock);
	lock.l_type = F_WRLCK;
	int err = errno, fd = ctp_fd_ours_(&p->mem, &p->mem_dev);
	bool gone = fd >= 0 && !syscall(SYS_fcntl, fd, 37 /* F_OFD_SETLK */, &lock);
	if (gone)
		ctp_retire_(p, mode, next);
	lock.l_type = F_UNLCK;
	if (gone)
		syscall(SYS_fcntl, fd, 37, &lock);
	errno = err;
}

/* A station that was never used. After a failure, memory is requested again from time to time: there may be room again. */
static inline struct ctp_shm_station *ctp_station_new_(struct ctp_probe_ *p)
{
	const uint32_t max = p->max_stations;
	uint32_t refusals = CTP_GET_(&p->refusals), index = max;
	if (refusals % 64 == 0)
		index = ctp_take_next_(p, &p->shm->allocated_count, max, &p->stations_to, sizeof(struct ctp_shm_header),
		                       sizeof(struct ctp_shm_station));
	if (__builtin_expect(index < max, 1)) {
		if (__builtin_expect(refusals, 0))
			CTP_PUT_(&p->refusals, 0);
		return ctp_station_at_(p, index);
	}
	struct ctp_shm_station *st = p->annex ? ctp_unfree_(p) : NULL;
	if (st)
		return st;
	if (CTP_GET_(&p->shm->allocated_count) < max) {
		__atomic_fetch_add(&p->refusals, 1, __ATOMIC_RELAXED);
		if (p->annex)
			__atomic_fetch_add(&p->shm->refused, 1, __ATOMIC_RELAXED);
	} else {
		__atomic_fetch_add(&p->shm->allocated_count, 1, __ATOMIC_RELAXED); /* other threads took the last ones meanwhile */
	}
	return NULL;
}

/* New stations first, up to a number, so that a collector that attaches later finds coroutines that have ended. */
static inline struct ctp_shm_station *ctp_station_get_(struct ctp_probe_ *p)
{
	uint32_t index = CTP_GET_(&p->shm->allocated_count);
	bool fresh = index < CTP_FRESH_ && index < p->max_stations / 2;
	struct ctp_shm_station *st = p->annex && !fresh ? ctp_unfree_(p) : NULL;
	if (st)
		return st;
	if (index < p->max_stations)
		return ctp_station_new_(p);
	if (p->annex) {
		ctp_recover_(p);
		st = ctp_unfree_(p); /* it may also have been freed meanwhile */
	}
	/* The count continues beyond max_stations to show how many coroutines got none, but it must not wrap around to 0. */
	if (!st && !(index >> 31))
		__atomic_fetch_add(&p->shm->allocated_count, 1, __ATOMIC_RELAXED);
	return st;
}

/* Fills the fields of the annex. */
static inline void ctp_birth_more_(struct ctp_coro *co, struct ctp_thread_ *t, uint32_t site, bool late)
{
	struct ctp_shm_station *st = co->station_;
	co->events_ = CTP_GET_(&st->events);
	CTP_PUT_(&st->first, co->events_);
	CTP_PUT_(&st->parent, late ? 0 : t->leaving ? t->leaving : t->current);
	CTP_PUT_(&st->spawn_site, site);
	CTP_PUT_(&st->pid, co->probe_->pid);
	CTP_PUT_(&st->name_bytes, 0);
}

/*
 * False: it is not traced, because there is no station or no memory. late: it was spawned before this. t/proof: reuse_unique_owner, and
 * header_is_its_own, of the orders here and in ctp_death_.
 */
CTP_FN_HERE_ bool ctp_birth_(struct ctp_coro *co, uint32_t site, bool late)
{
	struct ctp_probe_ *p = co->probe_;
	struct ctp_shm_station *st = ctp_extend_(p) ? ctp_station_get_(p) : NULL;
	if (!st) {
		CTP_PUT_(&co->probe_, CTP_TO_(struct ctp_probe_ *, NULL));
		co->mode_ = NULL;
		return false;
	}
	struct ctp_thread_ *t = ctp_thread_get_(p);
	uint32_t index = CTP_TO_(uint32_t, st - ctp_station_at_(p, 0)), generation = CTP_GET_(&st->generation) + 1;
	uint32_t flags = (CTP_GET_(&p->fenced) ? CTP_ANNOUNCE_ORDERED : CTP_ANNOUNCE_BARRIER) | CTP_TO_(uint32_t, co->events_);
	uint64_t ts = ctp_now_(p);
	co->station_ = st;
	co->events_ = 0;
	if (p->annex) {
		flags |= CTP_ANNOUNCE_ANNEX | (p->raw ? CTP_ANNOUNCE_RAW : 0);
		generation += !generation;
		/* Release: a reader that sees it sees the end of the previous coroutine. Pairs with the reader's acquire load. */
		__atomic_store_n(&st->tenure, CTP_TENURE(generation, CTP_OWNED), __ATOMIC_RELEASE);
		/* A reader that sees any of the new fields sees the new generation. Pairs with the reader's acquire fence. */
		__atomic_thread_fence(__ATOMIC_RELEASE);
		ctp_birth_more_(co, t, site, late);
	}
	CTP_PUT_(&st->probe_id, co->id_ ? co->id_ : CTP_REF(generation - 1, index));
	CTP_PUT_(&st->birth_ts, late ? 0 : ts);
	/* Release: the header is complete. Pairs with the reader's acquire load of announce, and of is_dead. */
	__atomic_store_n(&st->announce, CTP_ANNOUNCE(flags), __ATOMIC_RELEASE);
	if (!p->annex)
		return true;
	__atomic_store_n(&st->is_dead, 0, __ATOMIC_RELEASE);
	CTP_PUT_(&co->ref_, CTP_REF(generation, index));
	ctp_note_(p, t, CTP_GET_(p->mode), ts, CTP_GET_(&st->probe_id), co->ref_, CTP_ENTRY(CTP_ENTRY_BIRTH, site, co->events_));
	return true;
}

/*
 * Event k of a station goes to slot k % 8, whose seq is odd while it is written and 2 * (k / 8 + 1) when it is complete.
 *
 * If the collector's membarrier(2) reaches us, only the compiler keeps this order. The collector calls membarrier before it reads
 * the payload, and then sees everything before the even seq here; and again after that, and then sees the odd seq of anything it
 * saw.
 *
 * Proved in t/proof: accepted_is_written, of a fenced writer; barrier_accepted, of one that membarrier reaches.
 */
static inline void ctp_slot_write_(struct ctp_shm_station *st, uint64_t k, uint64_t ts, const struct ctp_thread_ *t, uint64_t addr,
                                   uint64_t what, bool fenced)
{
	uint64_t seq = k / (CTP_SHM_SLOTS / 2) | 1;
	struct ctp_shm_slot *slot = &st->slots[k % CTP_SHM_SLOTS];
	CTP_PUT_(&slot->seq, seq);
	/*
	 * A reader that sees any of the payload below sees the odd seq above. Pairs with the reader's acquire fence between its
	 * copy of the payload and its second load of seq.
	 */
	if (fenced)
		__atomic_thread_fence(__ATOMIC_RELEASE);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&slot->timestamp, ts);
	CTP_PUT_(&slot->tid, t->tid);
	CTP_PUT_(&slot->addr, addr);
	CTP_PUT_(&slot->what, what);
	CTP_COMPILER_FENCE_;
	if (fenced) /* A reader that sees this seq sees the payload above. Pairs with its acquire load, the first of seq. */
		__atomic_store_n(&slot->seq, seq + 1, __ATOMIC_RELEASE);
	else
		CTP_PUT_(&slot->seq, seq + 1);
}

/* leaves: it is suspended, but is the waker for its thread until ctp_leaving_(0), or until another coroutine is resumed there. */
static inline void ctp_current_set_(struct ctp_coro *co, struct ctp_thread_ *t, uint64_t what, bool leaves)
{
	if (CTP_ENTRY_KIND(what) == CTP_ENTRY_RESUME) {
		co->before_ = t->current;
		t->current = co->ref_;
		t->leaving = 0;
	} else {
		if (__builtin_expect(t->current == co->ref_, 1))
			t->current = co->before_;
		if (leaves)
			t->leaving = co->ref_;
	}
}

/* An event, the slow path. what is CTP_ENTRY; its number is 1 if the coroutine is leaving. */
CTP_FN_HERE_ void ctp_event_slow_(struct ctp_coro *co, uint64_t addr, uint64_t what)
{
	struct ctp_probe_ *p = co->probe_;
	uint32_t mode = p->mode ? CTP_GET_(p->mode) : 0;
	if (!mode || (!co->station_ && !ctp_birth_(co, 0, true)))
		return; /* the parent's coroutine, or the collector just left */
	struct ctp_thread_ *t = ctp_thread_get_(p);
	struct ctp_call_ call = ctp_enter_(t);
	uint64_t ts = ctp_now_(p), k = co->events_++;
	bool leaves = what & 1;
	what = (what & ~UINT64_C(1)) | CTP_TO_(uint32_t, k);
	bool fenced = CTP_GET_(&p->fenced);
	if (!(mode & CTP_MODE_BARE))
		ctp_slot_write_(co->station_, k, ts, t, addr, what, fenced);
	if (mode & CTP_MODE_RINGS)
		ctp_push_(p, t, call.depth, mode, ts, addr, co->ref_, what);
	ctp_current_set_(co, t, what, leaves);
	const uint32_t followed = CTP_MODE_RINGS | CTP_MODE_MEMBARRIER;
	/* Keep no pointer to an attachment that this copy does not hold. */
	bool usual = CTP_GET_(&t->probe) == p && p->raw && !fenced && (!(mode & CTP_MODE_RINGS) || (mode & followed) == followed);
	if (!call.depth)
		call.quick = usual ? p->tag | mode : 0;
	ctp_leave_(t, call);
	ctp_tell_(p, mode);
}

/* The flag beside a mode that has CTP_MODE_RINGS, and so is in the header. */
static inline const uint32_t *ctp_sleeping_(const uint32_t *mode)
{
	uintptr_t header = CTP_TO_(uintptr_t, mode) - offsetof(struct ctp_shm_header, mode);
	return &CTP_TO_(const struct ctp_shm_header *, header)->tracer_sleeping;
}

/*
 * The fast path of an event: it has a station, its thread is known, there is room, no other call is under way on this thread, and
 * neither the clock nor the order needs the system. It makes no call but the last one (and in a shared object the one that finds
 * the thread-local variable), and keeps few values across its parts, so that few or no registers are saved: the mode is in quick,
 * and the flag is found from the mode. In the child of a fork the tag is 0.
 */
static inline __attribute__((always_inline)) void ctp_event_quick_(struct ctp_coro *co, uint64_t addr, uint64_t what, bool leaves)
{
	struct ctp_thread_ *t = &ctp_self_;
	__asm__("" : "+r"(t)); /* as above */
	const uint64_t quick = co->probe_->tag | CTP_GET_(co->mode_);
	if (__builtin_expect(CTP_GET_(&t->quick) != quick || !co->station_, 0)) {
		ctp_event_slow_(co, addr, what | leaves);
		return;
	}
	CTP_PUT_(&t->quick, CTP_BUSY_);
	CTP_COMPILER_FENCE_;
	struct ctp_lane_ *lane = t->lanes;
	if (__builtin_expect(lane->head == lane->limit && CTP_TO_(uint32_t, quick) & CTP_MODE_RINGS, 0)) {
		CTP_PUT_(&t->quick, 0);
		ctp_event_slow_(co, addr, what | leaves);
		return;
	}
	const uint64_t ts = ctp_raw_(), k = co->events_;
	co->events_ = k + 1;
	what |= CTP_TO_(uint32_t, k);
	if (__builtin_expect(!(quick & CTP_MODE_BARE), 1))
		ctp_slot_write_(co->station_, k, ts, t, addr, what, false);
	ctp_current_set_(co, t, what, leaves);
	if (__builtin_expect(quick & CTP_MODE_RINGS, CTP_MODE_RINGS))
		ctp_publish_(lane, ts, addr, co->ref_, what);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->quick, quick);
	if (quick & CTP_MODE_RINGS && CTP_GET_(ctp_sleeping_(co->mode_)) == 1) /* as in ctp_tell_ */
		ctp_rouse_(co->probe_);
}

CTP_FN_HERE_ void ctp_suspend_(struct ctp_coro *co, uint64_t addr, uint32_t site)
{
	ctp_event_quick_(co, addr, CTP_ENTRY(CTP_ENTRY_SUSPEND, site, 0), false);
}
CTP_FN_HERE_ void ctp_resume_(struct ctp_coro *co) { ctp_event_quick_(co, 0, CTP_ENTRY(CTP_ENTRY_RESUME, 0, 0), false); }
CTP_FN_HERE_ void ctp_depart_(struct ctp_coro *co, uint64_t addr, uint32_t site)
{
	ctp_event_quick_(co, addr, CTP_ENTRY(CTP_ENTRY_SUSPEND, site, 0), true);
}

/* The suspension is recorded, but its code still runs on this thread; 0: that has ended. */
CTP_FN_HERE_ void ctp_leaving_(uint64_t ref) { ctp_self_.leaving = ref; }

CTP_FN_HERE_ void ctp_death_(struct ctp_coro *co)
{
	struct ctp_probe_ *p = co->probe_;
	struct ctp_shm_station *st = co->station_;
	if (!p->annex) { /* Release: its events came before. Pairs with the reader's acquire load. */
		__atomic_store_n(&st->is_dead, 1, __ATOMIC_RELEASE);
		return;
	}
	struct ctp_thread_ *t = ctp_thread_get_(p);
	uint64_t ts = ctp_now_(p);
	/*
	 * Release: a reader that sees one of these sees the generation, even if the coroutine was spawned on another thread, whose
	 * fence orders nothing here. Pairs with the reader's acquire fence before its second look at the generation.
	 */
	__atomic_store_n(&st->events, co->events_, __ATOMIC_RELEASE);
	__atomic_store_n(&st->death_ts, ts, __ATOMIC_RELEASE);
	__atomic_store_n(&st->is_dead, 1, __ATOMIC_RELEASE); /* as above */
	if (t->current == co->ref_)
		t->current = co->before_;
	/*
	 * Either a collector that leaves sees the death and frees the station, or we see that it left. Pairs with its fence and its
	 * membarrier, and if it was killed, with those in ctp_retire_.
	 */
	if (CTP_GET_(&p->fenced))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	CTP_COMPILER_FENCE_;
	uint32_t mode = CTP_GET_(p->mode);
	if (mode & CTP_MODE_RINGS)
		ctp_note_(p, t, mode, ts, co->events_, co->ref_, CTP_ENTRY(CTP_ENTRY_DEATH, 0, co->events_));
	else
		ctp_free_(p, st, CTP_REF_GENERATION(co->ref_));
}

/* The mode for an entry about a coroutine; 0: record nothing, because it has no station with the annex. */
static inline uint32_t ctp_annexed_(struct ctp_coro *co)
{
	struct ctp_probe_ *p = co->probe_;
	uint32_t mode = p->mode && p->annex ? CTP_GET_(p->mode) : 0;
	return mode && (co->station_ || ctp_birth_(co, 0, true)) ? mode : 0;
}

CTP_FN_HERE_ void ctp_name_(struct ctp_coro *co, const char *name)
{
	struct ctp_probe_ *p = co->probe_;
	uint32_t mode = ctp_annexed_(co);
	if (!mode)
		return;
	struct ctp_shm_station *st = co->station_;
	uint64_t words[sizeof st->name / 8] = { 0 };
	size_t bytes = strlen(name);
	if (bytes > sizeof words)
		for (bytes = sizeof words; bytes && (name[bytes] & 0xc0) == 0x80; bytes--) /* not in the middle of a character */
			;
	memcpy(words, name, bytes);
	uint32_t seq = (CTP_GET_(&st->name_seq) | 1) + 1;
	CTP_PUT_(&st->name_seq, seq - 1);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with the reader's acquire fence before its second load of name_seq */
	for (size_t i = 0; i < (bytes + 7) / 8; i++)
		CTP_PUT_(CTP_TO_(uint64_t *, CTP_TO_(void *, st->name + i * 8)), words[i]);
	CTP_PUT_(&st->name_bytes, CTP_TO_(uint32_t, bytes));
	__atomic_store_n(&st->name_seq, seq, __ATOMIC_RELEASE); /* pairs with its acquire load, the first of name_seq */
	ctp_note_(p, ctp_thread_get_(p), mode, ctp_now_(p), 0, co->ref_, CTP_ENTRY(CTP_ENTRY_NAME, 0, seq));
}

/*
 * The stores to the station need no order of their own: they are between the previous event and the suspension, whose slots order
 * them. A reader that has seen the suspension sees them; one that sees those of a later suspension sees a later event in the slots.
 */
CTP_FN_HERE_ void ctp_await_(struct ctp_coro *co, uint64_t target, uint32_t marks)
{
	struct ctp_probe_ *p = co->probe_;
	uint32_t mode = ctp_annexed_(co);
	if (!mode)
		return;
	struct ctp_shm_station *st = co->station_;
	if (!(mode & CTP_MODE_BARE)) {
		CTP_COMPILER_FENCE_;
		CTP_PUT_(&st->awaits, target);
		CTP_PUT_(&st->await_event, co->events_);
		CTP_PUT_(&st->await_generation, CTP_REF_GENERATION(co->ref_));
		CTP_PUT_(&st->await_marks, CTP_MARKS(CTP_REF_GENERATION(co->ref_), marks));
		CTP_COMPILER_FENCE_;
	}
	ctp_note_(p, ctp_thread_get_(p), mode, ctp_now_(p), target, co->ref_, CTP_ENTRY(CTP_ENTRY_AWAIT, 0, marks));
}

/* Stores the waker and the marks in the station, if it still belongs to the coroutine. Returns the waker. */
static inline uint64_t ctp_wake_write_(struct ctp_probe_ *p, const struct ctp_thread_ *t, uint32_t mode, uint64_t ts, uint64_t ref,
                                       uint32_t *marks)
{
	struct ctp_shm_station *st = ctp_station_at_(p, CTP_REF_INDEX(ref));
	uint32_t generation = CTP_REF_GENERATION(ref);
	uint64_t by = t->current;
	if (__builtin_expect(*marks || t->leaving, 0)) {
		by = *marks ? ref : t->leaving;
		*marks |= t->leaving ? CTP_MARK_LEAVING : 0;
	}
	if (!(mode & CTP_MODE_BARE) && CTP_GET_(&st->generation) == generation) {
		uint32_t n = CTP_GET_(&st->nwakes);
		struct ctp_shm_wake *wake = &st->wakes[n % CTP_SHM_WAKES];
		CTP_PUT_(&st->nwakes, n + 1);
		/* Release: as in ctp_death_. */
		__atomic_store_n(&wake->ts, ts, __ATOMIC_RELEASE);
		__atomic_store_n(&wake->waker, by, __ATOMIC_RELEASE);
		/* And marks after it. */
		uint64_t both = CTP_TO_(uint64_t, *marks) << 32 | CTP_TO_(uint32_t, t->tid);
		__atomic_store_n(CTP_TO_(uint64_t *, CTP_TO_(void *, &wake->tid)), both, __ATOMIC_RELEASE);
		/* Release: the above is not of a previous coroutine. Pairs with the reader's acquire load. */
		__atomic_store_n(&wake->generation, generation, __ATOMIC_RELEASE);
	}
	return by;
}

/* A wake, the slow path. */
CTP_FN_HERE_ void ctp_awake_slow_(struct ctp_probe_ *p, uint64_t ref, uint32_t marks)
{
	uint32_t mode = CTP_GET_(p->mode);
	if (!p->annex || CTP_REF_INDEX(ref) >= p->max_stations || !__atomic_load_n(&p->base, __ATOMIC_ACQUIRE))
		return;
	struct ctp_thread_ *t = ctp_thread_get_(p);
	uint64_t ts = ctp_now_(p), by = ctp_wake_write_(p, t, mode, ts, ref, &marks);
	ctp_note_(p, t, mode, ts, by, ref, CTP_ENTRY(CTP_ENTRY_WAKE, 0, marks));
}

/* The fast path of a wake: see ctp_event_quick_. If quick is set, this thread has used a station of this probe. */
CTP_FN_HERE_ void ctp_awake_(struct ctp_probe_ *p, uint64_t ref, uint32_t marks)
{
	struct ctp_thread_ *t = &ctp_self_;
	__asm__("" : "+r"(t)); /* as above */
	uint32_t mode = CTP_GET_(p->mode);
	uint64_t quick = p->tag | mode;
	bool usual = CTP_GET_(&t->quick) == quick && mode & CTP_MODE_RINGS && CTP_REF_INDEX(ref) < p->max_stations;
	if (__builtin_expect(!usual, 0)) {
		ctp_awake_slow_(p, ref, marks);
		return;
	}
	CTP_PUT_(&t->quick, CTP_BUSY_);
	CTP_COMPILER_FENCE_;
	struct ctp_lane_ *lane = t->lanes;
	if (__builtin_expect(lane->head == lane->limit, 0)) {
		CTP_PUT_(&t->quick, quick);
		ctp_awake_slow_(p, ref, marks);
		return;
	}
	uint64_t ts = ctp_raw_(), by = ctp_wake_write_(p, t, mode, ts, ref, &marks);
	ctp_publish_(lane, ts, by, ref, CTP_ENTRY(CTP_ENTRY_WAKE, 0, marks));
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->quick, quick);
	if (CTP_GET_(&p->shm->tracer_sleeping) == 1) /* as in ctp_tell_ */
		ctp_rouse_(p);
}

/* --- objects and their holders ---------------------------------------------------------------------------------------------- */

/*
 * The fast path of an entry: see ctp_event_quick_. first: the entry before it, with the same time; 0: there is none. False: use the
 * slow path; nothing was written.
 */
static inline __attribute__((always_inline)) bool ctp_note_quick_(struct ctp_probe_ *p, uint64_t value, uint64_t ref, uint64_t first,
                                                                  uint64_t what)
{
	struct ctp_thread_ *t = &ctp_self_;
	__asm__("" : "+r"(t)); /* as above */
	uint32_t mode = CTP_GET_(p->mode);
	uint64_t quick = p->tag | mode;
	if (__builtin_expect(CTP_GET_(&t->quick) != quick || !(mode & CTP_MODE_RINGS), 0))
		return false;
	CTP_PUT_(&t->quick, CTP_BUSY_);
	CTP_COMPILER_FENCE_;
	struct ctp_lane_ *lane = t->lanes;
	bool room = __builtin_expect(lane->limit - lane->head > !!first, 1);
	uint64_t ts = room ? ctp_raw_() : 0;
	if (room && first)
		ctp_publish_(lane, ts, value, ref, first);
	if (room)
		ctp_publish_(lane, ts, value, ref, what);
	CTP_COMPILER_FENCE_;
	CTP_PUT_(&t->quick, quick);
	if (room && CTP_GET_(&p->shm->tracer_sleeping) == 1) /* as in ctp_tell_ */
		ctp_rouse_(p);
	return room;
}

/* The stores to the station are ordered as in ctp_await_. */
CTP_FN_HERE_ void ctp_reason_(struct ctp_coro *co, uint64_t value, uint32_t number)
{
	struct ctp_probe_ *p = co->probe_;
	uint32_t mode = ctp_annexed_(co);
	if (!mode)
		return;
	struct ctp_shm_station *st = co->station_;
	if (!(mode & CTP_MODE_BARE)) {
		uint32_t generation = CTP_REF_GENERATION(co->ref_), n = CTP_GET_(&st->nreasons);
		if (CTP_GET_(&st->reason_event) != co->events_ || CTP_GET_(&st->reason_generation) != generation)
			n = 0;
		CTP_COMPILER_FENCE_;
		if (n < CTP_SHM_REASONS) {
			CTP_PUT_(&st->reasons[n], value);
			CTP_PUT_(&st->reason_whats[n], number);
		}
		CTP_PUT_(&st->reason_event, co->events_);
		CTP_PUT_(&st->reason_generation, generation);
		CTP_PUT_(&st->nreasons, n < CTP_SHM_REASONS ? n + 1 : CTP_SHM_REASONS + 1);
		CTP_COMPILER_FENCE_;
	}
	uint64_t what = CTP_ENTRY(CTP_ENTRY_REASON, 0, number);
	if (!ctp_note_quick_(p, value, co->ref_, 0, what))
		ctp_note_(p, ctp_thread_get_(p), mode, ctp_now_(p), value, co->ref_, what);
}

/*
 * Whether a part of the table of objects is allocated. It is used in no particular order, so each piece is allocated when it is
 * first needed. Acquire: it is allocated. Pairs with the release below.
 */
static inline bool ctp_object_there_(struct ctp_probe_ *p, uint64_t at)
{
	uint64_t piece = at / CTP_RESERVE_, to, bit = UINT64_C(1) << piece % 64, *word = &p->object_pieces[piece / 64];
	if (__builtin_expect(!!(__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit), 1))
		return true;
	if (!ctp_reserve_(p, &to, p->objects_at + at + 1))
		return false;
	__atomic_fetch_or(word, bit, __ATOMIC_RELEASE);
	return true;
}

/*
 * The index of the object's key, or of a free place for it; max_objects: there is none. (If two threads add the same object at the
 * same time, it may have two places, of which only one is found later: a reader that finds both must ignore them.)
 */
static inline uint32_t ctp_object_search_(struct ctp_probe_ *p, const uint64_t *keys, uint64_t key, bool make)
{
	uint32_t used = CTP_GET_(&p->shm->objects_used), free = p->max_objects;
	for (uint32_t part = 0; part < 2; part++) {
		uint32_t from = part ? CTP_SHM_OBJECTS_FEW : 0, to = part ? p->max_objects : CTP_SHM_OBJECTS_FEW;
		uint32_t at = from + CTP_OBJECT_PLACE(key, to - from), end = at + CTP_SHM_OBJECT_KEYS;
		bool needed = part < used || (make && free == p->max_objects);
		if (!needed || !ctp_object_there_(p, at * sizeof *keys))
			break;
		for (; at < end; at++) {
			uint64_t found = CTP_GET_(&keys[at]);
			if (found == key)
				return at;
			if (!found && make && free == p->max_objects)
				free = at;
		}
	}
	return free;
}

/* The object in the memory, or a place for it; null: there is none. */
static inline struct ctp_shm_object *ctp_object_find_(struct ctp_probe_ *p, uint64_t object, bool make)
{
	char *base = CTP_GET_(&p->base);
	uint64_t *keys = CTP_TO_(uint64_t *, CTP_TO_(void *, base + p->objects_at)), key = CTP_OBJECT_KEY(p->pid, object);
	const uint64_t objects = p->max_objects * CTP_TO_(uint64_t, sizeof *keys); /* from the first key on */
	for (int tries = 0; p->max_objects && key && tries < 4; tries++) {
		uint64_t none = 0;
		uint32_t at = ctp_object_search_(p, keys, key, make), used = CTP_GET_(&p->shm->objects_used);
		if (at == p->max_objects || !ctp_object_there_(p, objects + at * sizeof(struct ctp_shm_object)))
			break;
		struct ctp_shm_object *o = CTP_TO_(struct ctp_shm_object *, CTP_TO_(void *, base + p->objects_at + objects)) + at;
		if (__atomic_load_n(&keys[at], __ATOMIC_ACQUIRE) == key) /* as below; it may be another thread's since the search */
			return o;
		for (uint32_t part = at < CTP_SHM_OBJECTS_FEW ? 1 : 2; used < part;)
			if (__atomic_compare_exchange_n(&p->shm->objects_used, &used, part, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				used = part;
		/* Acquire: the previous object has been cleared. Pairs with ctp_object_leave_. */
		if (__atomic_compare_exchange_n(&keys[at], &none, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || none == key) {
			CTP_PUT_(&o->pid, p->pid);
			CTP_PUT_(&o->object, object);
			return o;
		}
	}
	if (make)
		__atomic_fetch_add(&p->shm->lost_objects, 1, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Begins a change; returns its number. Either a collector that attaches sees this, or we see its mode: pairs with its fence and its
 * membarrier after it has stored the mode. So load the mode after this.
 */
static inline uint32_t ctp_object_begin_(const struct ctp_probe_ *p, struct ctp_shm_object *o)
{
	uint32_t number = __atomic_add_fetch(&o->begun, 1, __ATOMIC_RELAXED);
	/* A reader that sees a part of the change sees that it has begun. Pairs with its acquire fence before it loads begun. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (CTP_GET_(&p->fenced))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	CTP_COMPILER_FENCE_;
	return number;
}

/* Pairs with the reader's acquire load of done: a reader that sees the number sees the change. */
static inline void ctp_object_done_(struct ctp_shm_object *o) { __atomic_fetch_add(&o->done, 1, __ATOMIC_RELEASE); }

static inline uint32_t ctp_holders_used_(const struct ctp_shm_object *o)
{
	uint32_t used = CTP_GET_(&o->holders_used);
	return used < CTP_SHM_HOLDERS ? used : CTP_SHM_HOLDERS;
}

/* Forgets the object. This also completes a change that was never finished. */
static inline void ctp_object_clear_(struct ctp_shm_object *o, uint32_t number)
{
	CTP_PUT_(&o->what, 0u);
	CTP_PUT_(&o->made_ts, CTP_TO_(uint64_t, 0));
	CTP_PUT_(&o->made, 0u);
	CTP_PUT_(&o->label, 0u);
	CTP_PUT_(&o->others, 0);
	CTP_PUT_(&o->available_ts, CTP_TO_(uint64_t, 0));
	CTP_PUT_(&o->room_ts, CTP_TO_(uint64_t, 0));
	CTP_PUT_(&o->closed_ts, CTP_TO_(uint64_t, 0));
	CTP_PUT_(&o->held_ts, CTP_TO_(uint64_t, 0));
	uint32_t used = ctp_holders_used_(o);
	for (uint32_t i = 0; i < used; i++)
		CTP_PUT_(&o->holders[i], CTP_TO_(uint64_t, 0));
	CTP_PUT_(&o->holders_used, 0u);
	CTP_PUT_(&o->done, number - 1);
}

/* Stores how much is available, and since when it is 0, or not 0. */
static inline void ctp_object_stock_(uint64_t *available, uint64_t *since, uint64_t now, uint64_t ts)
{
	uint64_t before = CTP_GET_(available);
	CTP_PUT_(available, now);
	if (!CTP_GET_(since) || !before != !now)
		CTP_PUT_(since, ts);
}

static inline void ctp_object_write_(struct ctp_probe_ *p, struct ctp_shm_object *o, uint32_t number, uint64_t available, uint64_t ts)
{
	uint32_t what = CTP_REASON_WHAT(number), marks = CTP_REASON_MARKS(number), known = CTP_GET_(&o->what);
	if (marks & CTP_MARK_MADE) {
		CTP_PUT_(&o->made_ts, ts);
		CTP_PUT_(&o->all, available < UINT32_MAX ? CTP_TO_(uint32_t, available) : UINT32_MAX);
	}
	CTP_PUT_(&o->what, (CTP_REASON_WHAT(known) ? known : known | what) | CTP_REASON(0, marks & CTP_MARK_OWNED, 0) |
	                           (p->raw ? CTP_OBJECT_RAW : 0));
	if (what == CTP_FOR_ROOM)
		ctp_object_stock_(&o->room, &o->room_ts, available, ts);
	else if (what)
		ctp_object_stock_(&o->available, &o->available_ts, available, ts);
	if (marks & CTP_MARK_CLOSED && !CTP_GET_(&o->closed_ts))
		CTP_PUT_(&o->closed_ts, ts);
}

/* Frees its place. Release: the object is cleared. Pairs with the acquire in ctp_object_find_. */
static inline void ctp_object_leave_(struct ctp_probe_ *p, const struct ctp_shm_object *o)
{
	uint64_t *keys = CTP_TO_(uint64_t *, CTP_TO_(void *, CTP_GET_(&p->base) + p->objects_at));
	const struct ctp_shm_object *first = CTP_TO_(const struct ctp_shm_object *, CTP_TO_(const void *, keys + p->max_objects));
	__atomic_store_n(&keys[o - first], 0, __ATOMIC_RELEASE);
}

/* Whether objects are kept in the memory now. */
static inline bool ctp_objects_kept_(struct ctp_probe_ *p)
{
	return !(CTP_GET_(p->mode) & CTP_MODE_BARE) && ctp_extend_(p);
}

/* The place after those in use, which is in use from now on; CTP_SHM_HOLDERS: there is none. Another thread may take it first. */
static inline uint32_t ctp_holder_next_(struct ctp_shm_object *o, uint32_t used)
{
	uint32_t seen = used;
	while (used < CTP_SHM_HOLDERS && seen <= used)
		if (__atomic_compare_exchange_n(&o->holders_used, &seen, used + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
	return used;
}

/* Adds n to what a coroutine holds. If it has no place in holders, or n does not fit, the rest is counted in others. */
static inline void ctp_hold_write_(struct ctp_shm_object *o, uint64_t ref, int64_t n)
{
	uint64_t holder = CTP_HOLDER(ref), word, next;
	for (int tries = 0; tries < 16; tries++) {
		uint32_t at = CTP_SHM_HOLDERS, used = ctp_holders_used_(o);
		for (uint32_t i = 0; i < used; i++) {
			uint64_t found = CTP_GET_(&o->holders[i]);
			if (found >> 16 != holder && (found || n < 0 || at < CTP_SHM_HOLDERS))
				continue;
			at = i;
			if (found)
				break;
		}
		if (at == CTP_SHM_HOLDERS && n > 0)
			at = ctp_holder_next_(o, used);
		if (at == CTP_SHM_HOLDERS)
			break;
		word = CTP_GET_(&o->holders[at]);
		if (word && word >> 16 != holder)
			continue;
		int64_t sum = CTP_TO_(int64_t, word & 0xffff) + n, kept = sum > 0xffff ? 0xffff : sum > 0 ? sum : 0;
		next = kept ? holder << 16 | CTP_TO_(uint64_t, kept) : 0;
		if (__atomic_compare_exchange_n(&o->holders[at], &word, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			n = sum - kept;
			break;
		}
	}
	if (n)
		__atomic_fetch_add(&o->others, CTP_TO_(int32_t, n), __ATOMIC_RELAXED);
}

/* The site is in an entry of its own, because that of CTP_ENTRY_HOLDS has the number of the change. */
CTP_FN_HERE_ void ctp_holds_at_(struct ctp_probe_ *p, uint64_t ref, uint64_t object, int n, uint32_t site)
{
	uint32_t number = 0;
	if (!p->annex)
		return;
	struct ctp_shm_object *o = ctp_objects_kept_(p) ? ctp_object_find_(p, object, true) : NULL;
	if (o) {
		number = ctp_object_begin_(p, o);
		ctp_hold_write_(o, ref, n);
		CTP_PUT_(&o->held_ts, ctp_now_(p));
		ctp_object_done_(o);
	}
	uint64_t at = site ? CTP_ENTRY(CTP_ENTRY_AT, site, 0) : 0, what = CTP_ENTRY(CTP_ENTRY_HOLDS, number, CTP_TO_(uint32_t, n));
	if (ctp_note_quick_(p, object, ref, at, what))
		return;
	struct ctp_thread_ *t = ctp_thread_get_(p);
	uint64_t ts = ctp_now_(p);
	uint32_t mode = CTP_GET_(p->mode);
	if (at)
		ctp_note_(p, t, mode, ts, object, ref, at);
	ctp_note_(p, t, mode, ts, object, ref, what);
}

CTP_FN_HERE_ void ctp_object_tell_(struct ctp_probe_ *p, const void *object, uint32_t number, uint64_t available, const char *name,
                                   uint32_t made)
{
	uint64_t at = CTP_TO_(uint64_t, CTP_TO_(uintptr_t, object)), ts = ctp_now_(p);
	uint32_t marks = CTP_REASON_MARKS(number);
	if (!p->annex || !ctp_extend_(p))
		return;
	uint32_t label = name ? ctp_place_find_(p, name, 0, name) : 0; /* by its address, as a file is */
	struct ctp_shm_object *o = ctp_objects_kept_(p) ? ctp_object_find_(p, at, !(marks & CTP_MARK_GONE)) : NULL;
	if (o) {
		uint32_t change = ctp_object_begin_(p, o);
		if (marks & (CTP_MARK_MADE | CTP_MARK_GONE))
			ctp_object_clear_(o, change);
		if (!(marks & CTP_MARK_GONE))
			ctp_object_write_(p, o, number, available, ts);
		if (made)
			CTP_PUT_(&o->made, made);
		if (label)
			CTP_PUT_(&o->label, label);
		ctp_object_done_(o);
		if (marks & CTP_MARK_GONE)
			ctp_object_leave_(p, o);
	}
	struct ctp_thread_ *t = ctp_thread_get_(p);
	uint32_t mode = CTP_GET_(p->mode);
	ctp_note_(p, t, mode, ts, at, available, CTP_ENTRY(CTP_ENTRY_OBJECT, made, number));
	if (label)
		ctp_note_(p, t, mode, ts, at, 0, CTP_ENTRY(CTP_ENTRY_LABEL, label, 0));
}

/* A wake, followed by its object with the same time. */
CTP_FN_HERE_ void ctp_awake_for_(struct ctp_probe_ *p, uint64_t ref, uint64_t object)
{
	uint32_t mode = CTP_GET_(p->mode), marks = 0;
	if (!p->annex || CTP_REF_INDEX(ref) >= p->max_stations || !__atomic_load_n(&p->base, __ATOMIC_ACQUIRE))
		return;
	struct ctp_thread_ *t = ctp_thread_get_(p);
	uint64_t ts = ctp_now_(p), by = ctp_wake_write_(p, t, mode, ts, ref, &marks);
	ctp_note_(p, t, mode, ts, by, ref, CTP_ENTRY(CTP_ENTRY_WAKE, 0, marks));
	ctp_note_(p, t, mode, ts, object, ref, CTP_ENTRY(CTP_ENTRY_FOR, 0, 0));
}

/* --- for the calls and for ctp.hpp ---------------------------------------------------------------------------------------- */

CTP_FN_HERE_ uint64_t ctp_now_ns_(void) { return ctp_clock_(); }
CTP_FN_HERE_ uint64_t ctp_tid_(void) { return CTP_TO_(uint64_t, syscall(SYS_gettid)); }

/* The coroutine that runs on this thread, or is being suspended on it; 0: none. */
CTP_FN_HERE_ uint64_t ctp_running_(struct ctp_probe_ *p)
{
	const struct ctp_thread_ *t = ctp_thread_get_(p);
	return t->leaving ? t->leaving : t->current;
}

CTP_FN_HERE_ void ctp_record_(struct ctp_probe_ *p)
{
	if (!(CTP_GET_(p->mode) & CTP_MODE_RECORD))
		CTP_PUT_(&p->shm->since_ns, ctp_clock_());
	__atomic_fetch_or(&p->shm->mode, CTP_MODE_RECORD | CTP_MODE_KEEP | CTP_MODE_GAPS(CTP_GET_(&p->shm->gaps)), __ATOMIC_RELAXED);
}

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic pop
#endif
#ifdef __cplusplus
}
#endif
#endif
