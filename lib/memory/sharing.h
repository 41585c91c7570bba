/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sharing.h - lines of memory that more than one thread writes.
 *
 * Each write of a thread takes the line out of the caches of the others, and the next access of one of these is a handover. A
 * thread that gets the line again needs it if it touches bytes that others have written since it had the line, before it loses it
 * again; if not, nothing but the place of its bytes makes them meet: that is false sharing. The first time is neither, for there
 * is something to fetch wherever the bytes are. Of every line that is written it is known by which thread, and which bytes; from
 * the write of a second thread on, handovers are counted, and which thread reads and writes which bytes.
 */
#ifndef CTP_SHARING_H
#define CTP_SHARING_H

#include "memory/addrs.h"
#include "memory/caches.h"

enum {
	CTP_SHARING_LINES_MAX = 1 << 22,  /* of which the writer is known, in about 300 MiB */
	CTP_SHARING_SHARED_MAX = 1 << 16, /* whose accesses are counted by thread */
	CTP_SHARING_WRITERS = 16,         /* of a line, that are listed */
	CTP_SHARING_PLACES = 64,          /* of a line */
	CTP_SHARING_GUESTS = 64,          /* threads of a line whose handovers are told apart */
	CTP_SHARING_WORDS = CTP_CACHE_LINE_MAX / 64,
};

struct ctp_bytes_mask {
	uint64_t bits[CTP_SHARING_WORDS]; /* one for each byte of a line */
};

/* What a thread does at a place of the line. */
struct ctp_sharing_place {
	uint32_t thread, type, offset; /* numbers of the caller; offset in the type */
	uint32_t byte;                 /* of the line */
	uint64_t accesses[2];          /* reads, writes */
};

enum ctp_handover {
	CTP_HANDOVER_FIRST,
	CTP_HANDOVER_NEEDED,   /* the thread touches what others have written since it had the line */
	CTP_HANDOVER_NEEDLESS,
	CTP_HANDOVER_OTHER,    /* of threads for which there was no room, after the write of another */
	CTP_HANDOVERS,
};

/* A thread that accesses a line. */
struct ctp_sharing_guest {
	uint32_t thread;
	bool lost, needless; /* another has written since; this handover is needless as yet */
	struct ctp_bytes_mask coming, news; /* bytes that others have written: since it had the line, and before it got it this time */
	uint64_t needed_handovers, needless_handovers;
};

struct ctp_shared_line {
	uint64_t address;
	uint32_t section;      /* the caller's */
	uint32_t last;         /* the thread that wrote last */
	uint32_t at;           /* the thread that accessed last */
	uint64_t alternations; /* writes by another thread than the write before */
	uint64_t handovers[CTP_HANDOVERS];
	uint32_t nwriters, nplaces, nguests;
	size_t place_room, guest_room;
	uint32_t guest_at;     /* number of that thread, if there is one */
	bool more_writers;     /* than there was room for */
	uint64_t unplaced;     /* accesses at further places */
	struct ctp_bytes_mask dirty; /* what the last thread has written since the one before it */
	struct ctp_bytes_mask written, changed, shared; /* bytes: since the line is shared; that another wrote later; and so again */
	uint32_t byte_of[CTP_CACHE_LINE_MAX];  /* the thread that wrote a byte last, be it listed or not */
	uint32_t writer[CTP_SHARING_WRITERS];  /* threads */
	struct ctp_sharing_place *place;
	struct ctp_sharing_guest *guest;
};

struct ctp_sharing {
	uint32_t line;    /* bytes, a power of two */
	uint32_t section; /* for new lines */
	struct ctp_addrs lines; /* number of an owner; or, with the top bit set, of a shared line */
	struct ctp_sharing_owner {
		uint32_t thread;
		struct ctp_bytes_mask bytes;
	} *owner; /* from 1 on */
	uint32_t nowners;
	size_t owner_room, shared_room;
	uint64_t last_line; /* of the write before, and its owner; 0: not known */
	uint32_t last_owner;
	struct ctp_shared_line **shared;
	uint32_t nshared;
	uint32_t shared_here; /* in this section */
	uint64_t unknown; /* writes to lines that there was no room for */
	uint64_t unkept;  /* writes that would have made a line shared, and there was no room for its counts */
};

/* Of handovers to threads that came back, three quarters or more are needless, or needed, or neither are; or no thread did. */
enum ctp_sharing_verdict { CTP_SHARING_FALSE, CTP_SHARING_MIXED, CTP_SHARING_TRUE, CTP_SHARING_ONCE };

/* All zeros but line is empty. */
void ctp_sharing_fini(struct ctp_sharing *s);

/* Another section: memory is another. Lines that were found stay. */
void ctp_sharing_section(struct ctp_sharing *s, uint32_t section);

/* where: its thread, type and offset; the rest is not used. */
void ctp_sharing_access(struct ctp_sharing *s, const struct ctp_mem_access *a, const struct ctp_sharing_place *where);

enum ctp_sharing_verdict ctp_sharing_verdict(const struct ctp_shared_line *line);
/* Whether threads are in each other's way there for no reason: it is false, or mixed. */
bool ctp_sharing_is_false(const struct ctp_shared_line *line);
uint64_t ctp_sharing_handovers(const struct ctp_shared_line *line); /* all */
/* What is known of a thread there; null: there was no room. */
const struct ctp_sharing_guest *ctp_sharing_guest(const struct ctp_shared_line *line, uint32_t thread);
const char *ctp_sharing_verdict_name(enum ctp_sharing_verdict verdict);

/* The worst line first: by handovers, then by section and address; of its places those with the most writes, then reads. */
void ctp_sharing_sort(struct ctp_sharing *s);

#endif
