/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt.h - lets ctp-ppt(1), and ppt itself, attach to a program. One header for Linux and C11, which needs only libc. A program in
 * C++ declares buffers and saves frames, and has a file in C that defines the buffers.
 *
 *	PPT_BUFFER(Server, 512, monotonic,                              // a buffer, its least number of slots, its clock
 *	           (request, (int, status), (interval_time, busy)),     // a type of frames, and its fields
 *	           (tick, (time, at), (double, load)));
 *
 *	struct ppt_Server_request r = {0};
 *	ppt_Server_request_busy_start(&r);
 *	r.status = serve();
 *	ppt_Server_request_busy_end(&r);
 *	ppt_Server_request_save(&r);
 *
 * While no agent is attached, a call does nothing, at the cost of a load and a branch. A call never blocks, takes no lock, calls no
 * malloc, raises no signal, prints nothing, is no cancellation point, does not change errno, and does not depend on the agent,
 * which may be slow, stopped or dead. See ctp-ppt.h(3). Names that end in _ are private.
 *
 * An agent writes the id of a segment to _ppt_hmem_BUFFER, and 0 when it leaves. All other state is in one word, the gate:
 *
 *	number of the last frame (32 bits) | threads inside (16) | generation (12) | unused (1) | PPT_CLOSING_, PPT_BUSY_, PPT_OPEN_
 *
 * A save enters an open gate and takes its number by the same swap, so that no number is lost when an agent attaches or detaches. A
 * thread that finds hmem changed closes the gate. The last thread inside, or the closing one if there is none, makes it busy,
 * detaches the segment, attaches the next one if there is one, and opens the gate. No thread waits. Only the thread that made a gate
 * busy changes it then, by a store; any other gate is changed by atomic read-modify-write operations.
 *
 * A slot is idle if its numbers in front and at the back are the same. Its writer swaps the front number for its own, so that there
 * is never a second writer: one that finds the slot taken, or newer, gives up, and its frame is lost, which its missing number
 * shows. Then come the fence, the bytes as relaxed atomics, and the number at the back by a release store. A reader loads that with
 * acquire, copies the bytes, and after an acquire fence loads the front number: the same number in both means a complete frame.
 */
#if !defined _DEFAULT_SOURCE && !defined _GNU_SOURCE && !defined _FEATURES_H
#define _DEFAULT_SOURCE 1 /* a strict -std=c11 hides what is needed, unless this is defined before the first header */
#endif
#ifndef PPT_H
#define PPT_H

#define PPT_SDK_VERSION "0.1.0"
#define PPT_SDK_VERSION_NUMBER 100 /* 10000 * major + 100 * minor + patch */

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ != 8
#error "ppt.h is for 64 bits"
#endif
#ifndef MADV_DONTFORK
#error "include ppt.h before the system's headers, or compile with -D_DEFAULT_SOURCE"
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifdef __cplusplus
#define PPT_EXTERN_ extern "C"
extern "C++" {
template <class T> using ppt_type_ = T;
}
#define PPT_TO_(type, value) (ppt_type_<type>(value)) /* a cast, in the form that -Wold-style-cast does not warn of */
#else
#define PPT_EXTERN_ extern
#define PPT_TO_(type, value) ((type)(value))
#endif
#ifndef PPT_THREADS
#define PPT_THREADS 64 /* threads of a defined buffer that have counters at the same time; the counters of others are 0 */
#endif
#define PPT_FN_ __attribute__((unused)) static
#define PPT_GET_(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#define PPT_PUT_(at, value) __atomic_store_n(at, value, __ATOMIC_RELAXED)
#define PPT_SWAP_(at, old, value, order) __atomic_compare_exchange_n(at, old, value, false, order, __ATOMIC_RELAXED)

/* --- buffers --------------------------------------------------------------------------------------------------------------- */

struct ppt_time {
	int64_t sec, nsec;
};

/*
 * The symbol _ppt_hmem_BUFFER; its object's own name is PPT_WORD_. An agent writes the first half. A call does nothing while both
 * are 0.
 */
union ppt_word_ {
	uint64_t both;
	struct {
		int32_t hmem, attached; /* the segment that an agent requests; the one that is attached */
	} is;
};

struct ppt_control_ { /* as in generated clients; three counters follow */
	uint64_t control_blk_sz, data_block_hmem, data_block_hmem_attached, data_block, data_block_sz, client_flags;
	uint32_t nr_perf_ctrs, pad;
};

enum {
	PPT_OPEN_ = 1, PPT_BUSY_ = 2, PPT_CLOSING_ = 4,
	PPT_COUNTERS_ = 3,
	PPT_ATTR_ = 128,   /* bytes of a perf_event_attr, at most */
	PPT_CONTROL_MIN_ = 416, PPT_CONTROL_MAX_ = 464, /* bytes of a control block with room for three counters */
	PPT_PLACE_ = 392,  /* ppt's own agent reads the slots from the next multiple of a slot after this */
	PPT_FD_ = 960,     /* our descriptors have numbers from here on, if possible */
	PPT_STALE_ = -1,
	PPT_CROWDED_ = 1, PPT_UNOPENED_ = 2, /* in client_flags: a thread has no counters, because all are taken, or could not be opened */
};
#define PPT_GENERATION_ UINT64_C(0x10)
#define PPT_INSIDE_ UINT64_C(0x10000)
#define PPT_NUMBER_ (UINT64_C(1) << 32)
#define PPT_INSIDE_MASK_ (PPT_NUMBER_ - PPT_INSIDE_)
#define PPT_MARK_(gate) (1 + PPT_TO_(int32_t, (gate) >> 4 & 0xfff)) /* marks a frame with the attachment of its times */

/* Memory that is zeroed in any child: there, no agent is attached. */
struct ppt_page_ {
	uint64_t gate;
	/* Written by the thread that made the gate busy, and read by threads inside. */
	struct ppt_control_ *control;
	char *slots;
	uint32_t first, count; /* first: the number of the frame with index 0, which is in slot 0 */
	uint64_t last;         /* a recent index: numbers wrap around after 2^32, indexes do not */
	uint32_t crowded, looked; /* whether a thread found no free counters; where the last search ended */
	uint32_t ncounters;
	char attr[PPT_COUNTERS_][PPT_ATTR_];
};

struct ppt_counted_ {
	int32_t tid; /* 0: free; negative: its thread is opening them */
	int32_t fd[PPT_COUNTERS_]; /* descriptor + 1, so that 0 is none; the first is that of the group */
	uint64_t id[PPT_COUNTERS_]; /* the kernel's id: the number of our descriptor may belong to another file by now */
};

struct ppt_buffer {
	union ppt_word_ *word;
	int32_t *stat;
	const char **json;
	uint32_t slot_bytes;
	clockid_t clock;
	struct ppt_page_ *page;
	uint32_t threads;
	struct ppt_counted_ *counted;
};

/* --- counters -------------------------------------------------------------------------------------------------------------- */
/* By syscall(2), because read(2) and close(2) are cancellation points. */

PPT_FN_ bool ppt_is_ours_(int32_t fd, uint64_t id)
{
	uint64_t now = 0;
	return fd > 0 && !syscall(SYS_ioctl, fd - 1, PERF_EVENT_IOC_ID, &now) && now == id;
}

PPT_FN_ void ppt_counted_close_(struct ppt_counted_ *c)
{
	for (int i = PPT_COUNTERS_ - 1; i >= 0; i--) {
		if (ppt_is_ours_(c->fd[i], c->id[i]))
			syscall(SYS_close, c->fd[i] - 1);
		c->fd[i] = 0;
	}
}

PPT_FN_ void ppt_tell_(struct ppt_page_ *page, uint64_t flag)
{
	if (!(PPT_GET_(&page->control->client_flags) & flag))
		__atomic_fetch_or(&page->control->client_flags, flag, __ATOMIC_RELAXED);
}

/* Never 0, 1 or 2, and seldom a number that the program expects to get. */
PPT_FN_ int ppt_high_(int low)
{
	if (low < 0)
		return -1;
	int fd = PPT_TO_(int, syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, PPT_FD_));
	if (fd < 0)
		fd = PPT_TO_(int, syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, 3));
	syscall(SYS_close, low);
	return fd;
}

PPT_FN_ void ppt_counted_open_(struct ppt_page_ *page, struct ppt_counted_ *c)
{
	for (uint32_t i = 0; i < page->ncounters; i++) {
		int leader = i ? c->fd[0] - 1 : -1;
		int fd = ppt_high_(PPT_TO_(int, syscall(SYS_perf_event_open, page->attr[i], 0, -1, leader, PERF_FLAG_FD_CLOEXEC)));
		if (fd < 0 || syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &c->id[i])) {
			if (fd >= 0)
				syscall(SYS_close, fd);
			ppt_counted_close_(c); /* this thread has no counters, and does not try again */
			ppt_tell_(page, PPT_UNOPENED_);
			return;
		}
		c->fd[i] = fd + 1;
	}
}

/* A signal handler that runs meanwhile has no counters. */
PPT_FN_ bool ppt_counted_take_(struct ppt_page_ *page, struct ppt_counted_ *c, int32_t owner, int32_t tid)
{
	if (!PPT_SWAP_(&c->tid, &owner, -tid, __ATOMIC_ACQUIRE)) /* pairs with the release below, by the previous owner */
		return false;
	ppt_counted_close_(c);
	ppt_counted_open_(page, c);
	__atomic_store_n(&c->tid, tid, __ATOMIC_RELEASE); /* pairs with the acquire above, of the next owner */
	return true;
}

/*
 * All are taken: searches those of a thread that has ended. A check is a system call; after a full search without success, one each
 * time.
 */
PPT_FN_ struct ppt_counted_ *ppt_counted_inherit_(struct ppt_buffer *b, struct ppt_page_ *page, int32_t tid)
{
	uint32_t looks = PPT_GET_(&page->crowded) ? 1 : b->threads, at = __atomic_fetch_add(&page->looked, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < looks; i++) {
		struct ppt_counted_ *c = &b->counted[(at + i) % b->threads];
		int32_t owner = PPT_GET_(&c->tid);
		if (owner > 0 && syscall(SYS_tgkill, getpid(), owner, 0) && errno == ESRCH && ppt_counted_take_(page, c, owner, tid))
			return c;
	}
	PPT_PUT_(&page->crowded, 1);
	ppt_tell_(page, PPT_CROWDED_);
	return NULL;
}

/* The counters of the calling thread, which is inside. Null: it has none. */
PPT_FN_ struct ppt_counted_ *ppt_counted_find_(struct ppt_buffer *b, struct ppt_page_ *page)
{
	int32_t tid = PPT_TO_(int32_t, syscall(SYS_gettid));
	for (uint32_t i = 0; i < b->threads; i++) {
		struct ppt_counted_ *c = &b->counted[(PPT_TO_(uint32_t, tid) + i) % b->threads];
		int32_t owner = PPT_GET_(&c->tid);
		if (owner == tid || (!owner && ppt_counted_take_(page, c, 0, tid)))
			return c;
		if (owner == -tid)
			return NULL;
	}
	return ppt_counted_inherit_(b, page, tid);
}

/* Bytes of a counter in the control block: the agent's perf_event_attr and 8 more; its size follows from control_blk_sz. */
PPT_FN_ uint64_t ppt_entry_(uint64_t control_bytes)
{
	return (control_bytes - sizeof(struct ppt_control_)) % 136 ? 120 : 136;
}

/* The request of an agent, read once. */
PPT_FN_ void ppt_counters_ask_(struct ppt_page_ *page, uint64_t control_bytes)
{
	const struct ppt_control_ *control = page->control;
	uint32_t n = PPT_GET_(&control->nr_perf_ctrs);
	uint64_t entries = control_bytes - sizeof *control, entry = ppt_entry_(control_bytes);
	page->ncounters = 0;
	if (n > PPT_COUNTERS_ || n * entry > entries)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct perf_event_attr attr;
		memset(page->attr[i], 0, sizeof page->attr[i]);
		memcpy(page->attr[i], PPT_TO_(const char *, control + 1) + i * entry + 8, entry - 8);
		memcpy(&attr, page->attr[i], offsetof(struct perf_event_attr, bp_type));
		if (attr.size > entry - 8)
			return;
		attr.read_format = PERF_FORMAT_GROUP; /* whatever was requested: a read returns the whole group */
		memcpy(page->attr[i], &attr, offsetof(struct perf_event_attr, bp_type));
	}
	page->ncounters = n;
}

/* --- segments -------------------------------------------------------------------------------------------------------------- */

/* Not in children: after a fork they must not keep a segment, nor write to it. */
PPT_FN_ char *ppt_map_(int id, uint64_t *bytes)
{
	struct shmid_ds ds;
	if (shmctl(id, IPC_STAT, &ds))
		return NULL;
	void *at = shmat(id, NULL, 0);
	if (at == PPT_TO_(void *, -1))
		return NULL;
	if (madvise(at, ds.shm_segsz, MADV_DONTFORK)) {
		shmdt(at);
		return NULL;
	}
	*bytes = ds.shm_segsz;
	return PPT_TO_(char *, at);
}

PPT_FN_ bool ppt_take_slots_(struct ppt_buffer *b, struct ppt_page_ *page, char *slots, uint64_t bytes, int id)
{
	uint64_t count = bytes / b->slot_bytes;
	if (!count || count > INT32_MAX)
		return false;
	page->slots = slots;
	page->count = PPT_TO_(uint32_t, count);
	PPT_PUT_(&page->control->data_block, PPT_TO_(uint64_t, PPT_TO_(uintptr_t, slots)));
	PPT_PUT_(&page->control->data_block_sz, count);
	/* Pairs with the agent's acquire of it. */
	__atomic_store_n(&page->control->data_block_hmem_attached, PPT_TO_(uint64_t, id), __ATOMIC_RELEASE);
	return true;
}

static inline uint64_t ppt_whole_(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/*
 * The slots are where a generated client has them, with a control block of S bytes: at S + (S mod slot). ppt's own agent, whose
 * block has room only for the counters it requests, reads them elsewhere, and uses as many as fit after its block. The segment is
 * too short for these then, but its last page is not.
 */
PPT_FN_ void ppt_find_slots_(struct ppt_buffer *b, uint64_t control_bytes, uint64_t *at, uint64_t *end)
{
	uint64_t slot = b->slot_bytes, first = ppt_whole_(control_bytes, slot);
	uint64_t pages = ppt_whole_(*end, PPT_TO_(uint64_t, sysconf(_SC_PAGESIZE)));
	*at = sizeof(struct ppt_control_) + PPT_COUNTERS_ * ppt_entry_(control_bytes);
	*at += *at % slot;
	if (control_bytes >= PPT_CONTROL_MIN_)
		return;
	*at = ppt_whole_(PPT_PLACE_, slot);
	*end = first < *end ? *at + (*end - first) / slot * slot : 0;
	*end = *end < pages ? *end : pages;
}

/* A segment that an agent has not created is not used: the id may be from another namespace. */
PPT_FN_ bool ppt_take_(struct ppt_buffer *b, struct ppt_page_ *page, int id)
{
	uint64_t bytes = 0, control_bytes, at;
	char *base = ppt_map_(id, &bytes);
	if (!base)
		return false;
	page->control = PPT_TO_(struct ppt_control_ *, base);
	page->crowded = page->looked = 0;
	control_bytes = bytes > sizeof *page->control ? PPT_GET_(&page->control->control_blk_sz) : 0;
	if (control_bytes >= sizeof *page->control && control_bytes <= PPT_CONTROL_MAX_ && control_bytes <= bytes) {
		ppt_counters_ask_(page, control_bytes);
		ppt_find_slots_(b, control_bytes, &at, &bytes);
		if (at < bytes && ppt_take_slots_(b, page, base + at, bytes - at, id))
			return true;
	}
	page->control = NULL;
	shmdt(base);
	return false;
}

PPT_FN_ void ppt_let_go_(struct ppt_buffer *b, struct ppt_page_ *page)
{
	for (uint32_t i = 0; i < b->threads; i++) {
		ppt_counted_close_(&b->counted[i]);
		PPT_PUT_(&b->counted[i].tid, 0);
	}
	if (page->control) {
		shmdt(page->control);
		page->control = NULL;
	}
	PPT_PUT_(&b->word->is.attached, 0);
}

/* --- the gate -------------------------------------------------------------------------------------------------------------- */

/* The swap's release pairs with each acquire of b->page: the page is empty for whoever finds it, and wiped in a child. */
PPT_FN_ struct ppt_page_ *ppt_page_find_(struct ppt_buffer *b)
{
	struct ppt_page_ *page = __atomic_load_n(&b->page, __ATOMIC_ACQUIRE), *none = NULL;
	if (page)
		return page;
	void *at = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	page = PPT_TO_(struct ppt_page_ *, at);
	if (madvise(at, sizeof *page, MADV_WIPEONFORK) || !PPT_SWAP_(&b->page, &none, page, __ATOMIC_ACQ_REL)) {
		munmap(at, sizeof *page);
		page = __atomic_load_n(&b->page, __ATOMIC_ACQUIRE);
	}
	return page;
}

/* From busy to open, or to closed. No other thread changes a busy gate, so a store is enough. */
PPT_FN_ void ppt_open_(struct ppt_page_ *page, bool open)
{
	uint64_t gate = PPT_GET_(&page->gate) & ~PPT_TO_(uint64_t, PPT_BUSY_);
	if (open) {
		page->last = 0;
		page->first = PPT_TO_(uint32_t, gate >> 32) + 1;
		gate = (gate & ~UINT64_C(0xfff0)) | ((gate + PPT_GENERATION_) & UINT64_C(0xfff0)) | PPT_OPEN_;
	}
	__atomic_store_n(&page->gate, gate, __ATOMIC_RELEASE); /* pairs with the acquires of ppt_enter_ and ppt_turn_ */
}

/* The thread that made the gate busy detaches, attaches and opens. In the child of a fork a busy gate has no control block. */
PPT_FN_ void ppt_busy_(struct ppt_buffer *b, struct ppt_page_ *page)
{
	union ppt_word_ w;
	w.both = PPT_GET_(&b->word->both);
	if (w.is.attached) {
		int32_t inherited = page->control ? 0 : w.is.attached;
		ppt_let_go_(b, page);
		if (inherited)
			PPT_SWAP_(&b->word->is.hmem, &inherited, 0, __ATOMIC_RELAXED);
	}
	int32_t id = __atomic_load_n(&b->word->is.hmem, __ATOMIC_ACQUIRE); /* pairs with the agent's release, after its block */
	bool open = id && ppt_take_(b, page, id);
	if (open)
		PPT_PUT_(&b->word->is.attached, id);
	else if (id)
		PPT_SWAP_(&b->word->is.hmem, &id, 0, __ATOMIC_RELAXED); /* refused */
	ppt_open_(page, open);
}

/*
 * hmem has changed, unless another thread has handled that meanwhile. The word is read after the gate, and the swap succeeds only for
 * this gate, so that both belong together.
 */
PPT_FN_ __attribute__((noinline, cold)) void ppt_turn_(struct ppt_buffer *b)
{
	int err = errno;
	struct ppt_page_ *page = ppt_page_find_(b);
	uint64_t gate, to;
	union ppt_word_ w;
	if (!page)
		PPT_PUT_(&b->word->is.hmem, 0); /* refused */
	while (page) {
		gate = __atomic_load_n(&page->gate, __ATOMIC_ACQUIRE); /* pairs with ppt_open_, after the word was changed */
		w.both = PPT_GET_(&b->word->both);
		if (gate & (PPT_BUSY_ | PPT_CLOSING_) || (gate & PPT_OPEN_ && w.is.hmem == w.is.attached))
			break;
		to = (gate & ~PPT_TO_(uint64_t, PPT_OPEN_)) | (gate & PPT_INSIDE_MASK_ ? PPT_CLOSING_ : PPT_BUSY_);
		if (PPT_SWAP_(&page->gate, &gate, to, __ATOMIC_ACQUIRE)) { /* pairs with ppt_leave_ and ppt_open_ */
			if (to & PPT_BUSY_)
				ppt_busy_(b, page);
			break;
		}
	}
	errno = err;
}

/* The page, after changes were handled. Both acquires of it pair with the swap in ppt_page_find_. */
static inline struct ppt_page_ *ppt_ready_(struct ppt_buffer *b)
{
	union ppt_word_ w;
	struct ppt_page_ *page = __atomic_load_n(&b->page, __ATOMIC_ACQUIRE);
	w.both = PPT_GET_(&b->word->both);
	if (page && w.is.hmem == w.is.attached && PPT_GET_(&page->gate) & (PPT_OPEN_ | PPT_BUSY_ | PPT_CLOSING_))
		return page;
	ppt_turn_(b);
	return __atomic_load_n(&b->page, __ATOMIC_ACQUIRE);
}

/* Enters the gate, and takes a number if add has one. mark: the attachment that the frame must belong to, or 0. */
static inline bool ppt_enter_(struct ppt_page_ *page, uint64_t add, int32_t mark, uint32_t *number)
{
	uint64_t gate = PPT_GET_(&page->gate), to;
	do {
		if (!(gate & PPT_OPEN_) || (mark && mark != PPT_MARK_(gate)))
			return false;
		to = gate + add;
	} while (!PPT_SWAP_(&page->gate, &gate, to, __ATOMIC_ACQUIRE)); /* pairs with ppt_open_ */
	*number = PPT_TO_(uint32_t, to >> 32);
	return true;
}

static inline void ppt_leave_(struct ppt_buffer *b, struct ppt_page_ *page)
{
	/* Pairs with the acquire of the swap to busy, below and in ppt_turn_. */
	uint64_t gate = __atomic_sub_fetch(&page->gate, PPT_INSIDE_, __ATOMIC_RELEASE);
	while (gate & PPT_CLOSING_ && !(gate & PPT_INSIDE_MASK_)) {
		/* Pairs with the release above, of the threads that left before. */
		if (PPT_SWAP_(&page->gate, &gate, (gate & ~PPT_TO_(uint64_t, PPT_CLOSING_)) | PPT_BUSY_, __ATOMIC_ACQUIRE)) {
			int err = errno;
			ppt_busy_(b, page);
			errno = err;
			return;
		}
	}
}

/* --- frames ---------------------------------------------------------------------------------------------------------------- */

static inline void ppt_copy_4_(char *slot, const char *frame)
{
	uint32_t word;
	memcpy(&word, frame, 4);
	PPT_PUT_(PPT_TO_(uint32_t *, PPT_TO_(void *, slot)), word);
}

static inline void ppt_copy_8_(char *slot, const char *frame)
{
	uint64_t word;
	memcpy(&word, frame, 8);
	PPT_PUT_(PPT_TO_(uint64_t *, PPT_TO_(void *, slot)), word);
}

/* Copies from the second word of a frame up to its back number; the back number of a slot is at the slot's end. */
static inline void ppt_copy_(char *slot, const char *frame, size_t bytes)
{
	size_t at = 8;
	ppt_copy_4_(slot + 4, frame + 4);
	for (; at + 32 <= bytes; at += 32) {
		ppt_copy_8_(slot + at, frame + at);
		ppt_copy_8_(slot + at + 8, frame + at + 8);
		ppt_copy_8_(slot + at + 16, frame + at + 16);
		ppt_copy_8_(slot + at + 24, frame + at + 24);
	}
	for (; at + 8 <= bytes; at += 8)
		ppt_copy_8_(slot + at, frame + at);
	if (at < bytes)
		ppt_copy_4_(slot + at, frame + at);
}

static inline void ppt_write_(struct ppt_buffer *b, struct ppt_page_ *page, uint32_t number, const void *frame, size_t bytes)
{
	uint64_t last = PPT_GET_(&page->last);
	int64_t more = PPT_TO_(int32_t, number - page->first - PPT_TO_(uint32_t, last));
	uint64_t index = last + PPT_TO_(uint64_t, more);
	if (PPT_TO_(int64_t, index - last) > 1 << 20)
		PPT_PUT_(&page->last, index);
	char *slot = page->slots + index % page->count * b->slot_bytes;
	uint32_t *front = PPT_TO_(uint32_t *, PPT_TO_(void *, slot));
	uint32_t *back = PPT_TO_(uint32_t *, PPT_TO_(void *, slot + b->slot_bytes - 4));
	uint32_t then = PPT_GET_(front);
	/* The acquire pairs with the release below, by the previous writer. No frame has number 0. */
	if (then != __atomic_load_n(back, __ATOMIC_ACQUIRE) || (then && PPT_TO_(int32_t, number - then) <= 0) || !number ||
	    !PPT_SWAP_(front, &then, number, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with the reader's acquire fence between the bytes and the front */
	ppt_copy_(slot, PPT_TO_(const char *, frame), bytes);
	__atomic_store_n(back, number, __ATOMIC_RELEASE); /* pairs with the reader's acquire of it */
}

PPT_FN_ __attribute__((noinline)) void ppt_save_(struct ppt_buffer *b, const void *frame, size_t bytes, int32_t *mark)
{
	struct ppt_page_ *page = ppt_ready_(b);
	uint32_t number;
	if (page && ppt_enter_(page, PPT_NUMBER_ + PPT_INSIDE_, *mark, &number)) {
		ppt_write_(b, page, number, frame, bytes);
		ppt_leave_(b, page);
	}
	*mark = 0;
}

/* A frame with a time or a counter from before this attachment is not saved. */
static inline struct ppt_page_ *ppt_mark_(struct ppt_buffer *b, int32_t *mark)
{
	struct ppt_page_ *page = ppt_ready_(b);
	uint64_t gate = page ? PPT_GET_(&page->gate) : 0;
	int32_t now = gate & PPT_OPEN_ ? PPT_MARK_(gate) : PPT_STALE_;
	*mark = !*mark || *mark == now ? now : PPT_STALE_;
	return page;
}

PPT_FN_ __attribute__((noinline)) void ppt_time_(struct ppt_buffer *b, struct ppt_time *to, int32_t *mark)
{
	struct timespec ts = {0, 0};
	ppt_mark_(b, mark);
	clock_gettime(b->clock, &ts);
	to->sec = ts.tv_sec;
	to->nsec = ts.tv_nsec;
}

PPT_FN_ __attribute__((noinline)) void ppt_counters_(struct ppt_buffer *b, uint64_t *v0, uint64_t *v1, uint64_t *v2, int32_t *mark)
{
	uint64_t got[1 + PPT_COUNTERS_] = {0};
	uint32_t number;
	struct ppt_page_ *page = ppt_mark_(b, mark);
	if (page && ppt_enter_(page, PPT_INSIDE_, *mark, &number)) {
		int err = errno;
		struct ppt_counted_ *c = page->ncounters ? ppt_counted_find_(b, page) : NULL;
		size_t bytes = (1 + page->ncounters) * sizeof got[0];
		if (!c || !ppt_is_ours_(c->fd[0], c->id[0]) || syscall(SYS_read, c->fd[0] - 1, got, bytes) != PPT_TO_(long, bytes))
			memset(got, 0, sizeof got);
		errno = err;
		ppt_leave_(b, page);
	}
	*v0 = got[1];
	*v1 = got[2];
	*v2 = got[3];
}

/*
 * In the child of a fork no agent is attached, and none has requested it. A child that was created without the C library finds at
 * its first call what it inherited of an attachment.
 */
PPT_FN_ void ppt_forked_(struct ppt_buffer *b)
{
	PPT_PUT_(b->stat, 0);
	PPT_PUT_(&b->word->is.hmem, 0);
	if (PPT_GET_(&b->word->both))
		ppt_turn_(b);
}

/* For a library that will be unloaded: the agent sees the end. */
PPT_FN_ void ppt_close_(struct ppt_buffer *b)
{
	PPT_PUT_(&b->word->is.hmem, 0);
	if (PPT_GET_(&b->word->both))
		ppt_turn_(b);
}

/* --- lists of frames and of fields ----------------------------------------------------------------------------------------- */
/*
 * PPT_FRAMES_(each, last, buffer, n, frames...) and PPT_FIELDS_(each, last, buffer, frame, fields...): each(buffer, n, (frame,
 * ...)).
 */

#define PPT_ARGS_(...) __VA_ARGS__
#define PPT_STR_(x) PPT_STR2_(x)
#define PPT_STR2_(x) #x
#define PPT_COUNT_(...)                                                                                                        \
	PPT_COUNT2_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PPT_COUNT2_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a1, b1, c1, d1, e1, f1, count, ...) count

#define PPT_CALL_FRAME_(macro, ...) macro(__VA_ARGS__)
#define PPT_FRAMES_(e, l, b, n, ...) PPT_FRAMES2_(n, e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES2_(count, ...) PPT_FRAMES_##count##_(__VA_ARGS__)
#define PPT_FRAMES_1_(e, l, b, n, x) l(b, n, x)
#define PPT_FRAMES_2_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_1_(e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES_3_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_2_(e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES_4_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_3_(e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES_5_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_4_(e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES_6_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_5_(e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES_7_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_6_(e, l, b, n, __VA_ARGS__)
#define PPT_FRAMES_8_(e, l, b, n, x, ...) e(b, n, x) PPT_FRAMES_7_(e, l, b, n, __VA_ARGS__)
#define PPT_TYPED_1_(...)
#define PPT_TYPED_2_(...) __VA_ARGS__
#define PPT_TYPED_3_(...) __VA_ARGS__
#define PPT_TYPED_4_(...) __VA_ARGS__
#define PPT_TYPED_5_(...) __VA_ARGS__
#define PPT_TYPED_6_(...) __VA_ARGS__
#define PPT_TYPED_7_(...) __VA_ARGS__
#define PPT_TYPED_8_(...) __VA_ARGS__

#define PPT_CALL_FIELD_(macro, ...) macro(__VA_ARGS__)
#define PPT_FIELDS_(e, l, b, f, ...) PPT_FIELDS2_(PPT_COUNT_(__VA_ARGS__), e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS2_(count, ...) PPT_FIELDS3_(count, __VA_ARGS__)
#define PPT_FIELDS3_(count, ...) PPT_FIELDS_##count##_(__VA_ARGS__)
#define PPT_FIELDS_1_(e, l, b, f, x) l(b, f, x)
#define PPT_FIELDS_2_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_1_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_3_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_2_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_4_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_3_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_5_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_4_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_6_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_5_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_7_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_6_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_8_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_7_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_9_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_8_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_10_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_9_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_11_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_10_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_12_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_11_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_13_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_12_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_14_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_13_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_15_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_14_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_16_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_15_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_17_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_16_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_18_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_17_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_19_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_18_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_20_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_19_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_21_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_20_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_22_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_21_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_23_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_22_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_24_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_23_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_25_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_24_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_26_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_25_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_27_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_26_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_28_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_27_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_29_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_28_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_30_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_29_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_31_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_30_(e, l, b, f, __VA_ARGS__)
#define PPT_FIELDS_32_(e, l, b, f, x, ...) e(b, f, x) PPT_FIELDS_31_(e, l, b, f, __VA_ARGS__)

/*
 * The name of a buffer's word contains its whole declaration, so that the linker refuses a declaration that differs from the
 * definition: ppt_Server_defined_as_request_int_status_and_tick_time_at_double_load.
 */
#define PPT_WORD_(b, n, ...) PPT_GLUE_(ppt_##b##_defined_as, PPT_FRAMES_(PPT_WORD_FRAME_, PPT_WORD_LAST_, b, n, __VA_ARGS__))
#define PPT_WORD_FRAME_(b, n, x) PPT_WORD_LAST_(b, n, x), _and,
#define PPT_WORD_LAST_(b, n, x) PPT_CALL_FRAME_(PPT_WORD_LAST2_, b, n, PPT_ARGS_ x)
#define PPT_WORD_LAST2_(b, n, f, ...) PPT_GLUE_(_##f, PPT_FIELDS_(PPT_WORD_FIELD_, PPT_WORD_FIELD_LAST_, b, f, __VA_ARGS__))
#define PPT_WORD_FIELD_(b, f, x) PPT_WORD_FIELD_LAST_(b, f, x),
#define PPT_WORD_FIELD_LAST_(b, f, x) PPT_CALL_FIELD_(PPT_WORD_FIELD2_, PPT_ARGS_ x)
#define PPT_WORD_FIELD2_(type, n) _##type##_##n
#define PPT_GLUE_(...) PPT_GLUE2_(__VA_ARGS__, , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , )
#define PPT_GLUE2_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a1, b1, c1, d1, e1, f1, g1, ...)  \
	a##b##c##d##e##f##g##h##i##j##k##l##m##n##o##p##q##r##s##t##u##v##w##x##y##z##a1##b1##c1##d1##e1##f1##g1

/* --- declarations ---------------------------------------------------------------------------------------------------------- */

#define PPT_MEMBER_(b, f, x) PPT_CALL_FIELD_(PPT_MEMBER2_, PPT_ARGS_ x)
#define PPT_MEMBER2_(type, n) PPT_MEMBER_##type##_(n)
#define PPT_MEMBER_int_(n) int32_t n;
#define PPT_MEMBER_byte_(n) uint8_t n;
#define PPT_MEMBER_double_(n) double n;
#define PPT_MEMBER_float_(n) float n;
#define PPT_MEMBER_time_(n) struct ppt_time n;
#define PPT_MEMBER_counter_(n) uint64_t n##_0, n##_1, n##_2;
#define PPT_MEMBER_interval_time_(n) struct ppt_time n##_start, n##_end;
#define PPT_MEMBER_interval_counter_(n) uint64_t n##_0_start, n##_0_end, n##_1_start, n##_1_end, n##_2_start, n##_2_end;

/* Functions that take a time, or counters. */
#define PPT_TAKE_FN_(b, f, n, how)                                                                                             \
	PPT_FN_ inline void ppt_##b##_##f##_##n(struct ppt_##b##_##f *ppt_frame_)                                              \
	{                                                                                                                      \
		if (ppt_##b##_on_())                                                                                           \
			how;                                                                                                   \
		else                                                                                                           \
			ppt_frame_->ppt_back_ = PPT_STALE_;                                                                    \
	}
#define PPT_TAKE_TIME_(b, f, n, m) PPT_TAKE_FN_(b, f, n, ppt_time_(&ppt_buffer_##b##_, &ppt_frame_->m, &ppt_frame_->ppt_back_))
#define PPT_TAKE_COUNTERS_(b, f, n, m0, m1, m2)                                                                                \
	PPT_TAKE_FN_(b, f, n, ppt_counters_(&ppt_buffer_##b##_, &ppt_frame_->m0, &ppt_frame_->m1, &ppt_frame_->m2, &ppt_frame_->ppt_back_))
#define PPT_TAKE_(b, f, x) PPT_CALL_FIELD_(PPT_TAKE2_, b, f, PPT_ARGS_ x)
#define PPT_TAKE2_(b, f, type, n) PPT_TAKE_##type##_(b, f, n)
#define PPT_TAKE_int_(b, f, n)
#define PPT_TAKE_byte_(b, f, n)
#define PPT_TAKE_double_(b, f, n)
#define PPT_TAKE_float_(b, f, n)
#define PPT_TAKE_time_(b, f, n) PPT_TAKE_TIME_(b, f, n##_now, n)
#define PPT_TAKE_interval_time_(b, f, n) PPT_TAKE_TIME_(b, f, n##_start, n##_start) PPT_TAKE_TIME_(b, f, n##_end, n##_end)
#define PPT_TAKE_counter_(b, f, n) PPT_TAKE_COUNTERS_(b, f, n##_now, n##_0, n##_1, n##_2)
#define PPT_TAKE_interval_counter_(b, f, n)                                                                                    \
	PPT_TAKE_COUNTERS_(b, f, n##_start, n##_0_start, n##_1_start, n##_2_start)                                             \
	PPT_TAKE_COUNTERS_(b, f, n##_end, n##_0_end, n##_1_end, n##_2_end)

#define PPT_NUMBER_OF_(b, n, x) PPT_CALL_FRAME_(PPT_NUMBER_OF2_, b, n, PPT_ARGS_ x)
#define PPT_NUMBER_OF2_(b, n, f, ...) ppt_##b##_##f##_type_,
#define PPT_ANY_(b, n, x) PPT_CALL_FRAME_(PPT_ANY2_, b, n, PPT_ARGS_ x)
#define PPT_ANY2_(b, n, f, ...) struct ppt_##b##_##f f;
#define PPT_FRAME_(b, n, x) PPT_CALL_FRAME_(PPT_FRAME2_, b, n, PPT_ARGS_ x)
#define PPT_FRAME2_(b, n, f, ...)                                                                                              \
	struct ppt_##b##_##f {                                                                                                 \
		int32_t ppt_front_;                                                                                            \
		PPT_TYPED_##n##_(int32_t ppt_type_;)                                                                           \
		PPT_FIELDS_(PPT_MEMBER_, PPT_MEMBER_, b, f, __VA_ARGS__)                                                       \
		int32_t ppt_back_; /* in the program's own copy: the mark */                                                   \
	};                                                                                                                     \
	PPT_FIELDS_(PPT_TAKE_, PPT_TAKE_, b, f, __VA_ARGS__)                                                                   \
	PPT_FN_ inline void ppt_##b##_##f##_save(struct ppt_##b##_##f *ppt_frame_)                                             \
	{                                                                                                                      \
		if (ppt_##b##_on_()) {                                                                                         \
			PPT_TYPED_##n##_(ppt_frame_->ppt_type_ = ppt_##b##_##f##_type_;)                                       \
			ppt_save_(&ppt_buffer_##b##_, ppt_frame_, offsetof(struct ppt_##b##_##f, ppt_back_), &ppt_frame_->ppt_back_); \
		} else {                                                                                                       \
			ppt_frame_->ppt_back_ = 0; /* its times are used up, too */                                               \
		}                                                                                                              \
	}

#define PPT_DECLARE(buffer, ...) PPT_DECLARE_(buffer, PPT_COUNT_(__VA_ARGS__), __VA_ARGS__)
#define PPT_DECLARE_(b, n, ...) PPT_DECLARE2_(b, n, __VA_ARGS__)
#define PPT_DECLARE2_(b, n, ...)                                                                                               \
	PPT_EXTERN_ union ppt_word_ PPT_WORD_(b, n, __VA_ARGS__) __attribute__((visibility("hidden")));                        \
	PPT_EXTERN_ struct ppt_buffer ppt_buffer_##b##_ __attribute__((visibility("hidden")));                                 \
	PPT_FN_ inline __attribute__((always_inline)) bool ppt_##b##_on_(void)                                                 \
	{                                                                                                                      \
		return __builtin_expect(PPT_GET_(&PPT_WORD_(b, n, __VA_ARGS__).both) != 0, 0);                                 \
	}                                                                                                                      \
	enum { ppt_##b##_none_, PPT_FRAMES_(PPT_NUMBER_OF_, PPT_NUMBER_OF_, b, n, __VA_ARGS__) ppt_##b##_end_ };               \
	PPT_FRAMES_(PPT_FRAME_, PPT_FRAME_, b, n, __VA_ARGS__)                                                                 \
	union ppt_##b##_any_ {                                                                                                 \
		PPT_FRAMES_(PPT_ANY_, PPT_ANY_, b, n, __VA_ARGS__)                                                             \
		uint64_t ppt_words_;                                                                                           \
	};                                                                                                                     \
	PPT_FN_ inline void ppt_##b##_close(void)                                                                              \
	{                                                                                                                      \
		ppt_close_(&ppt_buffer_##b##_);                                                                                \
	}                                                                                                                      \
	struct ppt_buffer

/* --- definitions, in one file in C: the symbols and the JSON ----------------------------------------------------------------- */
/*
 * The text is a struct of arrays without a NUL, whose offsets are the compiler's own; numbers are padded with leading spaces. A
 * comma follows each element but the last.
 */
#ifndef __cplusplus

#define PPT_DIGIT_(v, unit) PPT_TO_(char, (v) >= (unit) ? '0' + (v) / (unit) % 10 : ' ')
#define PPT_DIGITS_(v) PPT_DIGITS_IF_(1, v)
#define PPT_TEXT_(name, text) char name[sizeof(text) - 1];
/* Spaces if there is none. */
#define PPT_IF_(is, text) _Generic((char (*)[(is) ? 2 : 1])0, char (*)[2]: text, default: " ")
#define PPT_TEXT_IF_(is, name, text) char name[(is) ? sizeof(text) - 1 : 1];
#define PPT_DIGITS_IF_(is, v)                                                                                                  \
	{ PPT_DIGIT_(v, 1000000), PPT_DIGIT_(v, 100000), PPT_DIGIT_(v, 10000), PPT_DIGIT_(v, 1000), PPT_DIGIT_(v, 100), PPT_DIGIT_(v, 10), \
	  PPT_TO_(char, (is) ? '0' + (v) % 10 : ' ') }
/* The number that a name ends with, of at most 5 digits, the quotation mark, and spaces. */
#define PPT_LEFT_(is, v)                                                                                                       \
	{ PPT_LEFT2_(is, v, 0), PPT_LEFT2_(is, v, 1), PPT_LEFT2_(is, v, 2), PPT_LEFT2_(is, v, 3), PPT_LEFT2_(is, v, 4), PPT_LEFT2_(is, v, 5) }
#define PPT_LEFT2_(is, v, i)                                                                                                   \
	PPT_TO_(char, !(is) || (i) > PPT_LONG_(v) ? ' ' : (i) == PPT_LONG_(v) ? '"' : '0' + (v) / PPT_TENS_(PPT_LONG_(v) - 1 - (i)) % 10)
#define PPT_LONG_(v) (1 + ((v) > 9) + ((v) > 99) + ((v) > 999) + ((v) > 9999))
#define PPT_TENS_(n) ((n) > 3 ? 10000 : (n) > 2 ? 1000 : (n) > 1 ? 100 : (n) > 0 ? 10 : 1)

#define PPT_JSON_int_ "{\"contents\":[\"PPInt\",null],\"tag\":\"PIntegral\"}"
#define PPT_JSON_byte_ "{\"contents\":[\"PPByte\",null],\"tag\":\"PIntegral\"}"
#define PPT_JSON_double_ "{\"contents\":[\"PPDouble\",null],\"tag\":\"PRational\"}"
#define PPT_JSON_float_ "{\"contents\":[\"PPFloat\",null],\"tag\":\"PRational\"}"
#define PPT_JSON_time_ "{\"contents\":null,\"tag\":\"PTime\"}"
#define PPT_JSON_counter_ "{\"contents\":[{\"tag\":\"NotExpanded\"},null],\"tag\":\"PCounter\"}"
#define PPT_JSON_counter_nr_(i) "{\"contents\":[{\"contents\":" i ",\"tag\":\"Expanded\"},null],\"tag\":\"PCounter\"}"

#define PPT_OF_(n, differential, type) "{\"fmDifferential\":" differential ",\"fmName\":\"" n "\",\"fmType\":" type "}"
#define PPT_OF_int_(n) PPT_OF_(#n, "false", PPT_JSON_int_)
#define PPT_OF_byte_(n) PPT_OF_(#n, "false", PPT_JSON_byte_)
#define PPT_OF_double_(n) PPT_OF_(#n, "false", PPT_JSON_double_)
#define PPT_OF_float_(n) PPT_OF_(#n, "false", PPT_JSON_float_)
#define PPT_OF_time_(n) PPT_OF_(#n, "false", PPT_JSON_time_)
#define PPT_OF_counter_(n) PPT_OF_(#n, "false", PPT_JSON_counter_)
#define PPT_OF_interval_time_(n) PPT_OF_(#n, "true", PPT_JSON_time_)
#define PPT_OF_interval_counter_(n) PPT_OF_(#n, "true", PPT_JSON_counter_)
#define PPT_ELEMENT_(of, comma) "{\"contents\":" of ",\"tag\":\"FMemberElem\"}" comma

/* laid(struct, member, text after its offset) for each member of a field, and the padding before it. */
#define PPT_AT_ "{\"_lOffset\":"
#define PPT_LAID_TYPE_(s, m, text)                                                                                             \
	struct {                                                                                                               \
		PPT_PAD_TYPE_(s##_0_##m##_pad_, "__pad_")                                                                      \
		PPT_TEXT_(at, PPT_AT_)                                                                                         \
		char offset[7];                                                                                                \
		PPT_TEXT_(rest, text)                                                                                          \
	} m;
#define PPT_LAID_INIT_(s, m, text)                                                                                             \
	{ PPT_PAD_INIT_(s##_0_##m##_from_, s##_0_##m##_pad_, "__pad_", s##_0_##m##_from_) PPT_AT_, PPT_DIGITS_(offsetof(struct s, m)), text },
/*
 * Members of padding, so that the sizes of the members add up to that of a frame, which ppt's decoder relies on. An enumerator
 * without a value, which is one more than the last byte of the previous member, is the beginning of the padding.
 */
#define PPT_LAID_ENDS_(s, m, text)                                                                                             \
	s##_0_##m##_from_, s##_0_##m##_pad_ = PPT_TO_(int, offsetof(struct s, m)) - s##_0_##m##_from_,                                  \
	s##_0_##m##_last_ = PPT_TO_(int, offsetof(struct s, m) + sizeof((PPT_TO_(struct s *, 0))->m)) - 1,
#define PPT_PAD_NAME_(name) ",\"_lName\":\"" name
#define PPT_PAD_KIND_ ",\"_lAlignment\":1,\"_lType\":" PPT_JSON_byte_ ",\"_lKind\":{\"tag\":\"LKPadding\",\"contents\":"
#define PPT_PAD_TYPE_(bytes, name)                                                                                             \
	struct {                                                                                                               \
		PPT_TEXT_IF_(bytes, at, PPT_AT_)                                                                               \
		char offset[7];                                                                                                \
		PPT_TEXT_IF_(bytes, called, PPT_PAD_NAME_(name))                                                               \
		char number[6];                                                                                                \
		PPT_TEXT_IF_(bytes, sized, ",\"_lSize\":")                                                                     \
		char size[7];                                                                                                  \
		PPT_TEXT_IF_(bytes, kind, PPT_PAD_KIND_)                                                                       \
		char contents[7];                                                                                              \
		PPT_TEXT_IF_(bytes, end, "}},")                                                                                \
	} pad;
#define PPT_PAD_INIT_(at, bytes, name, number)                                                                                 \
	{ PPT_IF_(bytes, PPT_AT_), PPT_DIGITS_IF_(bytes, ((bytes) ? (at) : 0)), PPT_IF_(bytes, PPT_PAD_NAME_(name)), PPT_LEFT_(bytes, number), \
	  PPT_IF_(bytes, ",\"_lSize\":"), PPT_DIGITS_IF_(bytes, bytes), PPT_IF_(bytes, PPT_PAD_KIND_), PPT_DIGITS_IF_(bytes, bytes), \
	  PPT_IF_(bytes, "}},") },
#define PPT_REST_(name, size, align, type, kind)                                                                               \
	",\"_lName\":\"" name "\",\"_lSize\":" size ",\"_lAlignment\":" align ",\"_lType\":" type ",\"_lKind\":" kind "}"
#define PPT_REST_OF_(name, size, align, type, of, end)                                                                         \
	PPT_REST_(name, size, align, type, "{\"contents\":[" of "," end "],\"tag\":\"LKMember\"}") ","
#define PPT_END_(tag, i, n) "{\"contents\":[" i "," n "],\"tag\":\"" tag "\"}"
#define PPT_LAID_int_(l, s, n) l(s, n, PPT_REST_OF_(#n, "4", "4", PPT_JSON_int_, PPT_OF_int_(n), "null"))
#define PPT_LAID_byte_(l, s, n) l(s, n, PPT_REST_OF_(#n, "1", "1", PPT_JSON_byte_, PPT_OF_byte_(n), "null"))
#define PPT_LAID_double_(l, s, n) l(s, n, PPT_REST_OF_(#n, "8", "8", PPT_JSON_double_, PPT_OF_double_(n), "null"))
#define PPT_LAID_float_(l, s, n) l(s, n, PPT_REST_OF_(#n, "4", "4", PPT_JSON_float_, PPT_OF_float_(n), "null"))
#define PPT_LAID_time_(l, s, n) l(s, n, PPT_REST_OF_(#n, "16", "8", PPT_JSON_time_, PPT_OF_time_(n), "null"))
#define PPT_LAID_counter_(l, s, n)                                                                                             \
	PPT_LAID_COUNTER_(l, s, n##_0, #n "_0", PPT_OF_counter_(n), "0", "null")                                               \
	PPT_LAID_COUNTER_(l, s, n##_1, #n "_1", PPT_OF_counter_(n), "1", "null")                                               \
	PPT_LAID_COUNTER_(l, s, n##_2, #n "_2", PPT_OF_counter_(n), "2", "null")
#define PPT_LAID_COUNTER_(l, s, m, name, of, i, end) l(s, m, PPT_REST_OF_(name, "8", "8", PPT_JSON_counter_nr_(i), of, end))
#define PPT_LAID_interval_time_(l, s, n)                                                                                       \
	l(s, n##_start, PPT_REST_OF_(#n "_start", "16", "8", PPT_JSON_time_, PPT_OF_interval_time_(n), PPT_END_("IntBegin", "0", "1"))) \
	l(s, n##_end, PPT_REST_OF_(#n "_end", "16", "8", PPT_JSON_time_, PPT_OF_interval_time_(n), PPT_END_("IntEnd", "0", "1")))
#define PPT_LAID_BOTH_(l, s, m, name, of, i)                                                                                   \
	PPT_LAID_COUNTER_(l, s, m##_start, name "_start", of, i, PPT_END_("IntBegin", i, "2"))                                 \
	PPT_LAID_COUNTER_(l, s, m##_end, name "_end", of, i, PPT_END_("IntEnd", i, "2"))
#define PPT_LAID_interval_counter_(l, s, n)                                                                                    \
	PPT_LAID_BOTH_(l, s, n##_0, #n "_0", PPT_OF_interval_counter_(n), "0")                                                 \
	PPT_LAID_BOTH_(l, s, n##_1, #n "_1", PPT_OF_interval_counter_(n), "1")                                                 \
	PPT_LAID_BOTH_(l, s, n##_2, #n "_2", PPT_OF_interval_counter_(n), "2")

#define PPT_JSON_FRAME_(f) "{\"_flName\":\"" f "\",\"_flFrame\":{\"_frameName\":\"" f "\",\"_frameElements\":["
#define PPT_JSON_SEQ_(side) "{\"contents\":\"" side "\",\"tag\":\"LKSeqno\"}"
#define PPT_JSON_FRONT_                                                                                                        \
	"]},\"_flLayout\":[{\"_lOffset\":0" PPT_REST_("__ppt_seqno", "4", "4", PPT_JSON_int_, PPT_JSON_SEQ_("FrontSeq")) ","
#define PPT_JSON_TYPE_(n)                                                                                                      \
	"{\"_lOffset\":4" PPT_REST_("__ppt_type", "4", "4", PPT_JSON_int_, "{\"contents\":" #n ",\"tag\":\"LKTypeDescrim\"}") ","
#define PPT_JSON_BACK_(comma) PPT_REST_("__ppt_seqno_back", "4", "4", PPT_JSON_int_, PPT_JSON_SEQ_("BackSeq")) "]}" comma

#define PPT_OF_TYPE_(b, f, x) PPT_CALL_FIELD_(PPT_OF_TYPE2_, ",", PPT_ARGS_ x)
#define PPT_OF_TYPE_LAST_(b, f, x) PPT_CALL_FIELD_(PPT_OF_TYPE2_, "", PPT_ARGS_ x)
#define PPT_OF_TYPE2_(comma, type, n) PPT_TEXT_(n, PPT_ELEMENT_(PPT_OF_##type##_(n), comma))
#define PPT_OF_INIT_(b, f, x) PPT_CALL_FIELD_(PPT_OF_INIT2_, ",", PPT_ARGS_ x)
#define PPT_OF_INIT_LAST_(b, f, x) PPT_CALL_FIELD_(PPT_OF_INIT2_, "", PPT_ARGS_ x)
#define PPT_OF_INIT2_(comma, type, n) PPT_ELEMENT_(PPT_OF_##type##_(n), comma),
#define PPT_LAYOUT_TYPE_(b, f, x) PPT_CALL_FIELD_(PPT_LAYOUT2_, PPT_LAID_TYPE_, ppt_##b##_##f, PPT_ARGS_ x)
#define PPT_LAYOUT_INIT_(b, f, x) PPT_CALL_FIELD_(PPT_LAYOUT2_, PPT_LAID_INIT_, ppt_##b##_##f, PPT_ARGS_ x)
#define PPT_LAYOUT_ENDS_(b, f, x) PPT_CALL_FIELD_(PPT_LAYOUT2_, PPT_LAID_ENDS_, ppt_##b##_##f, PPT_ARGS_ x)
#define PPT_LAYOUT2_(l, s, type, n) PPT_LAID_##type##_(l, s, n)

#define PPT_FRAME_ENDS_(b, n, x) PPT_CALL_FRAME_(PPT_FRAME_ENDS2_, b, n, PPT_ARGS_ x)
#define PPT_FRAME_ENDS2_(b, n, f, ...)                                                                                         \
	ppt_##b##_##f##_0_ = 3 PPT_TYPED_##n##_(+4), PPT_FIELDS_(PPT_LAYOUT_ENDS_, PPT_LAYOUT_ENDS_, b, f, __VA_ARGS__)        \
	ppt_##b##_##f##_0_from_, ppt_##b##_##f##_0_pad_ = PPT_TO_(int, sizeof(union ppt_##b##_any_)) - 4 - ppt_##b##_##f##_0_from_,

#define PPT_FRAME_TYPE_(b, n, x) PPT_CALL_FRAME_(PPT_FRAME_TYPE2_, ",", b, n, PPT_ARGS_ x)
#define PPT_FRAME_TYPE_LAST_(b, n, x) PPT_CALL_FRAME_(PPT_FRAME_TYPE2_, "", b, n, PPT_ARGS_ x)
#define PPT_FRAME_TYPE2_(comma, b, n, f, ...)                                                                                  \
	struct {                                                                                                               \
		PPT_TEXT_(head, PPT_JSON_FRAME_(#f))                                                                           \
		struct { PPT_FIELDS_(PPT_OF_TYPE_, PPT_OF_TYPE_LAST_, b, f, __VA_ARGS__) } of;                                 \
		PPT_TEXT_(front, PPT_JSON_FRONT_ PPT_TYPED_##n##_(PPT_JSON_TYPE_(n)))                                          \
		struct { PPT_FIELDS_(PPT_LAYOUT_TYPE_, PPT_LAYOUT_TYPE_, b, f, __VA_ARGS__) } laid;                            \
		PPT_PAD_TYPE_(ppt_##b##_##f##_0_pad_, "__ppt_endpad_")                                                         \
		PPT_TEXT_(at, PPT_AT_)                                                                                         \
		char offset[7];                                                                                                \
		PPT_TEXT_(back, PPT_JSON_BACK_(comma))                                                                         \
	} f;
#define PPT_FRAME_INIT_(b, n, x) PPT_CALL_FRAME_(PPT_FRAME_INIT2_, ",", b, n, PPT_ARGS_ x)
#define PPT_FRAME_INIT_LAST_(b, n, x) PPT_CALL_FRAME_(PPT_FRAME_INIT2_, "", b, n, PPT_ARGS_ x)
#define PPT_FRAME_INIT2_(comma, b, n, f, ...)                                                                                  \
	{                                                                                                                      \
		PPT_JSON_FRAME_(#f),                                                                                           \
		{ PPT_FIELDS_(PPT_OF_INIT_, PPT_OF_INIT_LAST_, b, f, __VA_ARGS__) },                                           \
		PPT_JSON_FRONT_ PPT_TYPED_##n##_(PPT_JSON_TYPE_(n)),                                                           \
		{ PPT_FIELDS_(PPT_LAYOUT_INIT_, PPT_LAYOUT_INIT_, b, f, __VA_ARGS__) },                                        \
		PPT_PAD_INIT_(ppt_##b##_##f##_0_from_, ppt_##b##_##f##_0_pad_, "__ppt_endpad_", ppt_##b##_##f##_0_pad_)        \
		PPT_AT_, PPT_DIGITS_(sizeof(union ppt_##b##_any_) - 4), PPT_JSON_BACK_(comma),                                 \
	},

#define PPT_CLOCK_realtime_(is) is(CLOCK_REALTIME, "Realtime")
#define PPT_CLOCK_realtime_coarse_(is) is(CLOCK_REALTIME_COARSE, "RealtimeCoarse")
#define PPT_CLOCK_monotonic_(is) is(CLOCK_MONOTONIC, "Monotonic")
#define PPT_CLOCK_monotonic_coarse_(is) is(CLOCK_MONOTONIC_COARSE, "MonotonicCoarse")
#define PPT_CLOCK_monotonic_raw_(is) is(CLOCK_MONOTONIC_RAW, "MonotonicRaw")
#define PPT_CLOCK_boottime_(is) is(CLOCK_BOOTTIME, "Boottime")
#define PPT_CLOCK_process_cputime_id_(is) is(CLOCK_PROCESS_CPUTIME_ID, "ProcessCputimeId")
#define PPT_CLOCK_thread_cputime_id_(is) is(CLOCK_THREAD_CPUTIME_ID, "ThreadCputimeId")
#define PPT_CLOCK_ID_(id, name) id
#define PPT_CLOCK_NAME_(id, name) name

#define PPT_JSON_HEAD_(b) "{\"abi\":\"1.0.0\",\"emit\":{\"_eBuffer\":{\"ebName\":\"" b "\",\"ebMinElements\":"
#define PPT_JSON_EMIT_(clock)                                                                                                  \
	"},\"_eLanguage\":\"ELangC\",\"_eOptions\":[],\"_eRuntime\":{\"erMultithread\":true},\"_eTags\":[],"                     \
	"\"_eTimeRep\":{\"contents\":\"ETimeClock" clock "\",\"tag\":\"ETimeSpec\"}},\"frames\":["
#define PPT_JSON_TAIL_                                                                                                         \
	"],\"metadata\":[],\"tags\":[],\"target\":{\"tCounter\":8,\"tCounterCount\":3,\"tDouble\":8,\"tFloat\":4,\"tInt\":4,\"tPadTo\":4," \
	"\"tTime\":16}}"

/* gcc 15 and clang 21 warn about an array without room for the NUL, which is intended here. */
#if (defined __clang__ && __clang_major__ >= 21) || (!defined __clang__ && __GNUC__ >= 15)
#define PPT_QUIET_ _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunterminated-string-initialization\"")
#define PPT_LOUD_ _Pragma("GCC diagnostic pop")
#else
#define PPT_QUIET_
#define PPT_LOUD_
#endif
#define PPT_SYMBOL_ __attribute__((used, visibility("default")))

/* Names of frames, and of members with all that the JSON appends to them. */
#define PPT_SHORT_(b, n, x) PPT_CALL_FRAME_(PPT_SHORT2_, b, n, PPT_ARGS_ x)
#define PPT_SHORT2_(b, n, f, ...)                                                                                              \
	_Static_assert(sizeof(#f) <= 101, "ppt: the name of the frame " #f " is longer than 100 bytes");                       \
	PPT_FIELDS_(PPT_SHORT_FIELD_, PPT_SHORT_FIELD_, b, f, __VA_ARGS__)
#define PPT_SHORT_FIELD_(b, f, x) PPT_CALL_FIELD_(PPT_SHORT_FIELD2_, PPT_ARGS_ x)
#define PPT_SHORT_FIELD2_(type, n) _Static_assert(sizeof(#n PPT_BEHIND_##type##_) <= 101, "ppt: " #n PPT_BEHIND_##type##_ " is longer than 100 bytes");
#define PPT_BEHIND_int_
#define PPT_BEHIND_byte_
#define PPT_BEHIND_double_
#define PPT_BEHIND_float_
#define PPT_BEHIND_time_
#define PPT_BEHIND_counter_ "_0"
#define PPT_BEHIND_interval_time_ "_start"
#define PPT_BEHIND_interval_counter_ "_0_start"

#define PPT_DEFINE_(b, elements, clk, n, ...)                                                                                  \
	_Static_assert(sizeof(PPT_WORD_(b, n, __VA_ARGS__)) == 8, "ppt: " #b " is declared before, with the same frames");     \
	_Static_assert(sizeof(#b) <= 101, "ppt: the name of " #b " is longer than 100 bytes");                                 \
	PPT_FRAMES_(PPT_SHORT_, PPT_SHORT_, b, n, __VA_ARGS__)                                                                 \
	_Static_assert((unsigned long long)(elements) <= 9999999, "ppt: the elements of " #b " are not from 0 to 9999999");    \
	enum { PPT_FRAMES_(PPT_FRAME_ENDS_, PPT_FRAME_ENDS_, b, n, __VA_ARGS__) ppt_##b##_0_none_ };                           \
	PPT_QUIET_                                                                                                             \
	static const struct {                                                                                                  \
		PPT_TEXT_(head, PPT_JSON_HEAD_(#b))                                                                            \
		char least[7];                                                                                                 \
		PPT_TEXT_(emit, PPT_JSON_EMIT_(PPT_CLOCK_##clk##_(PPT_CLOCK_NAME_)))                                           \
		struct { PPT_FRAMES_(PPT_FRAME_TYPE_, PPT_FRAME_TYPE_LAST_, b, n, __VA_ARGS__) } frames;                       \
		char tail[sizeof(PPT_JSON_TAIL_)];                                                                             \
	} ppt_json_##b##_ = {                                                                                                  \
		PPT_JSON_HEAD_(#b), PPT_DIGITS_(elements), PPT_JSON_EMIT_(PPT_CLOCK_##clk##_(PPT_CLOCK_NAME_)),                \
		{ PPT_FRAMES_(PPT_FRAME_INIT_, PPT_FRAME_INIT_LAST_, b, n, __VA_ARGS__) }, PPT_JSON_TAIL_                      \
	};                                                                                                                     \
	PPT_LOUD_                                                                                                              \
	_Static_assert(sizeof(union ppt_##b##_any_) <= 65536 && sizeof(struct ppt_time) == 16, "ppt: the frames of " #b " are too large"); \
	extern int32_t _ppt_stat_##b;                                                                                          \
	extern const char *_ppt_json_##b;                                                                                      \
	PPT_SYMBOL_ int32_t _ppt_stat_##b;                                                                                     \
	PPT_SYMBOL_ const char *_ppt_json_##b = PPT_TO_(const char *, &ppt_json_##b##_);                                                \
	extern union ppt_word_ _ppt_hmem_##b;                                                                                  \
	PPT_SYMBOL_ union ppt_word_ _ppt_hmem_##b;                                                                             \
	extern __attribute__((alias("_ppt_hmem_" #b), visibility("hidden"))) union ppt_word_ PPT_WORD_(b, n, __VA_ARGS__);     \
	static struct ppt_counted_ ppt_counted_##b##_[PPT_THREADS];                                                            \
	struct ppt_buffer ppt_buffer_##b##_ = {                                                                                \
		.word = &PPT_WORD_(b, n, __VA_ARGS__), .stat = &_ppt_stat_##b, .json = &_ppt_json_##b, .slot_bytes = sizeof(union ppt_##b##_any_), \
		.clock = PPT_CLOCK_##clk##_(PPT_CLOCK_ID_),                                                                    \
		.threads = PPT_THREADS, .counted = ppt_counted_##b##_,                                                         \
	};                                                                                                                     \
	static void ppt_forked_##b##_(void)                                                                                    \
	{                                                                                                                      \
		ppt_forked_(&ppt_buffer_##b##_);                                                                               \
	}                                                                                                                      \
	__attribute__((constructor)) static void ppt_loaded_##b##_(void)                                                       \
	{                                                                                                                      \
		pthread_atfork(NULL, NULL, ppt_forked_##b##_);                                                                 \
	}                                                                                                                      \
	struct ppt_buffer
#define PPT_DEFINE(buffer, elements, clock, ...) PPT_DEFINE_(buffer, elements, clock, PPT_COUNT_(__VA_ARGS__), __VA_ARGS__)
#define PPT_BUFFER(buffer, elements, clock, ...)                                                                               \
	PPT_DECLARE(buffer, __VA_ARGS__);                                                                                      \
	PPT_DEFINE(buffer, elements, clock, __VA_ARGS__)

#else
/* The initialisers are not valid in C++. */
#define PPT_IN_C_(macro, buffer)                                                                                               \
	static_assert(false, "ppt: " macro " of " #buffer " is for a file in C. C++ has PPT_DECLARE(" #buffer ", frames) alone; "  \
	                     "link a C file that has the same PPT_DECLARE, and PPT_DEFINE(" #buffer ", elements, clock, frames)")
#define PPT_DEFINE(buffer, elements, clock, ...) PPT_IN_C_("PPT_DEFINE", buffer)
#define PPT_BUFFER(buffer, elements, clock, ...)                                                                               \
	PPT_DECLARE(buffer, __VA_ARGS__);                                                                                      \
	PPT_IN_C_("PPT_BUFFER", buffer)
#endif
#endif
