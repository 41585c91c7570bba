/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-byhand.h - a ppt client written by hand, for tests: a buffer as ppt's generated C++ has it, with its defects.
 *
 * It shares no code with formats/ppt or sdk/ppt, on purpose. The defects: the loop that closes the counters runs one index too far
 * and so closes descriptor 0; a change of hmem from one segment to another is not noticed; the data block begins at
 * S + (S mod stride); without PERF_FORMAT_GROUP counters are what was on the stack; errors are printed. One is left out: threads
 * exclude each other where they attach and detach, else a client with two threads would not live through a test.
 */
#ifndef PPT_BYHAND_H
#define PPT_BYHAND_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct byhand_time {
	int64_t s, ns;
};

/* The control block up to its counters, whose size is that of the perf_event_attr that the client was built with: 112 or 128. */
struct byhand_control {
	uint64_t control_blk_sz, data_block_hmem, data_block_hmem_attached, data_block, data_block_sz, client_flags;
	uint32_t nr_perf_ctrs, pad;
};
_Static_assert(sizeof(struct byhand_control) == 56, "the control block of ppt");

struct byhand {
	const char *name;
	int *hmem;
	size_t stride, size; /* C's sizeof the first frame; the JSON's size of it */
	size_t attr_bytes;
	pthread_rwlock_t lock;
	struct byhand_control *control;
	char *slots;
	int count, offset;
	int fd[4]; /* three, and the word after them */
	atomic_int next;
	atomic_ulong saved, attaches, detaches;
	int first;
	unsigned long half_at; /* kill -9 in the middle of this one */
};

static inline size_t byhand_control_bytes(const struct byhand *b)
{
	return sizeof(struct byhand_control) + 3 * (8 + b->attr_bytes);
}

static inline void *byhand_attr(const struct byhand *b, int i)
{
	return (char *)b->control + sizeof(struct byhand_control) + (size_t)i * (8 + b->attr_bytes) + 8;
}

static inline int byhand_at_most_3(uint32_t n)
{
	return (int)n < 3 ? (int)n : 3;
}

static inline void byhand_open_counters(struct byhand *b)
{
	for (int i = 0; i < byhand_at_most_3(b->control->nr_perf_ctrs); i++) {
		b->fd[i] = (int)syscall(SYS_perf_event_open, byhand_attr(b, i), 0, -1, i ? b->fd[0] : -1, 0);
		if (b->fd[i] < 0) {
			perror("perf_event_open");
			b->control->nr_perf_ctrs = 0;
			for (int j = i; j >= 0; j--) {
				close(b->fd[j]);
				b->fd[j] = 0;
			}
			return;
		}
	}
}

static inline void byhand_close_counters(struct byhand *b)
{
	for (int j = byhand_at_most_3(b->control->nr_perf_ctrs); j >= 0; j--) {
		close(b->fd[j]);
		b->fd[j] = 0;
	}
}

static inline void byhand_counters(struct byhand *b, uint64_t v[3])
{
	uint64_t got[4];
	pthread_rwlock_rdlock(&b->lock);
	uint32_t n = b->control ? b->control->nr_perf_ctrs : 0;
	if (n > 0 && n <= 3 && b->fd[0] > -1) {
		memset(got, 0xa5, sizeof got); /* the stack */
		ssize_t bytes = read(b->fd[0], got, (1 + n) * sizeof got[0]);
		(void)bytes;
		for (uint32_t i = 0; i < n; i++)
			v[i] = got[i + 1];
	}
	pthread_rwlock_unlock(&b->lock);
}

static inline void byhand_attach(struct byhand *b, int id)
{
	struct shmid_ds ds;
	if (shmctl(id, IPC_STAT, &ds)) {
		fprintf(stderr, "failed ppt attach of %s: shmctl\n", b->name);
		*b->hmem = 0;
		return;
	}
	void *at = shmat(id, NULL, 0);
	if (at == (void *)-1) {
		fprintf(stderr, "failed ppt attach of %s: shmat\n", b->name);
		*b->hmem = 0;
		return;
	}
	size_t s = byhand_control_bytes(b), begin = s + s % b->stride;
	b->control = at;
	b->slots = (char *)at + begin;
	b->control->data_block = (uintptr_t)b->slots;
	b->control->data_block_sz = (ds.shm_segsz - begin) / b->stride;
	b->count = (int)b->control->data_block_sz;
	b->first = atomic_load(&b->next);
	b->control->client_flags = 0;
	b->control->data_block_hmem_attached = (uint64_t)id;
	byhand_open_counters(b);
	atomic_fetch_add(&b->attaches, 1);
}

static inline void byhand_detach(struct byhand *b)
{
	byhand_close_counters(b);
	if (shmdt(b->control))
		fprintf(stderr, "failed ppt detach of %s: shmdt\n", b->name);
	b->slots = NULL;
	b->control = NULL;
	*b->hmem = 0;
	atomic_fetch_add(&b->detaches, 1);
}

static inline bool byhand_ready(struct byhand *b)
{
	int id = __atomic_load_n(b->hmem, __ATOMIC_RELAXED);
	pthread_rwlock_rdlock(&b->lock);
	if (b->slots && id)
		return true; /* whichever it is by now */
	pthread_rwlock_unlock(&b->lock);
	pthread_rwlock_wrlock(&b->lock);
	id = __atomic_load_n(b->hmem, __ATOMIC_RELAXED);
	if (id && !b->slots)
		byhand_attach(b, id);
	else if (!id && b->slots)
		byhand_detach(b);
	bool ready = b->slots != NULL;
	pthread_rwlock_unlock(&b->lock);
	if (ready)
		pthread_rwlock_rdlock(&b->lock);
	if (ready && !b->slots) { /* another thread was quicker to detach */
		pthread_rwlock_unlock(&b->lock);
		return false;
	}
	return ready;
}

/*
 * Saves the bytes of a frame between its two numbers; false if no agent is attached. The reader's side of each fence is its own
 * acquire between back, the bytes and front.
 */
static inline bool byhand_save(struct byhand *b, const void *frame)
{
	if (!__atomic_load_n(b->hmem, __ATOMIC_RELAXED) && !__atomic_load_n(&b->slots, __ATOMIC_RELAXED))
		return false;
	if (!byhand_ready(b))
		return false;
	int seq = atomic_fetch_add_explicit(&b->next, 1, memory_order_release);
	char *slot = b->slots + (size_t)((uint32_t)seq - (uint32_t)b->first) % (size_t)b->count * b->stride;
	int *front = (int *)slot, *back = (int *)(slot + b->size - 4);
	__atomic_store_n(front, 0, __ATOMIC_RELAXED);
	__atomic_store_n(back, 0, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(front, seq, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	unsigned long nth = atomic_fetch_add(&b->saved, 1) + 1;
	if (nth == b->half_at) {
		memcpy(slot + 4, (const char *)frame + 4, (b->size - 8) / 2);
		kill(getpid(), SIGKILL);
	}
	memcpy(slot + 4, (const char *)frame + 4, b->size - 8);
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(back, seq, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	pthread_rwlock_unlock(&b->lock);
	return true;
}

static inline struct byhand_time byhand_now(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (struct byhand_time){ ts.tv_sec, ts.tv_nsec };
}

/* --- the _json, as text ---------------------------------------------------------------------------------------------------- */

#define BYHAND_INT "{\"contents\":[\"PPInt\",null],\"tag\":\"PIntegral\"}"
#define BYHAND_BYTE "{\"contents\":[\"PPByte\",null],\"tag\":\"PIntegral\"}"
#define BYHAND_DOUBLE "{\"contents\":[\"PPDouble\",null],\"tag\":\"PRational\"}"
#define BYHAND_FLOAT "{\"contents\":[\"PPFloat\",null],\"tag\":\"PRational\"}"
#define BYHAND_TIME "{\"contents\":null,\"tag\":\"PTime\"}"
#define BYHAND_COUNTER "{\"contents\":[{\"tag\":\"NotExpanded\"},null],\"tag\":\"PCounter\"}"
#define BYHAND_COUNTER_NR(i) "{\"contents\":[{\"contents\":" #i ",\"tag\":\"Expanded\"},null],\"tag\":\"PCounter\"}"

#define BYHAND_OF(name, differential, type) "{\"fmDifferential\":" differential ",\"fmName\":\"" name "\",\"fmType\":" type "}"
#define BYHAND_ELEMENT(name, differential, type) "{\"contents\":" BYHAND_OF(name, differential, type) ",\"tag\":\"FMemberElem\"}"
#define BYHAND_LAID(name, offset, size, align, kind, type)                                                                            \
	"{\"_lAlignment\":" #align ",\"_lKind\":" kind ",\"_lName\":\"" name "\",\"_lOffset\":" #offset ",\"_lSize\":" #size              \
	",\"_lType\":" type "}"
#define BYHAND_FRONT BYHAND_LAID("__ppt_seqno", 0, 4, 4, "{\"contents\":\"FrontSeq\",\"tag\":\"LKSeqno\"}", BYHAND_INT) ","
#define BYHAND_BACK(offset) BYHAND_LAID("__ppt_seqno_back", offset, 4, 4, "{\"contents\":\"BackSeq\",\"tag\":\"LKSeqno\"}", BYHAND_INT)
#define BYHAND_TYPE BYHAND_LAID("__ppt_type", 4, 4, 4, "{\"contents\":2,\"tag\":\"LKTypeDescrim\"}", BYHAND_INT) ","
#define BYHAND_PAD(offset, size)                                                                                                       \
	BYHAND_LAID("__ppt_endpad_" #size, offset, size, 1, "{\"contents\":" #size ",\"tag\":\"LKPadding\"}", BYHAND_BYTE) ","
#define BYHAND_MEMBER(name, offset, size, align, type)                                                                                 \
	BYHAND_LAID(name, offset, size, align, "{\"contents\":[" BYHAND_OF(name, "false", type) ",null],\"tag\":\"LKMember\"}", type) ","
#define BYHAND_END(name, end, tag, at, of, offset, size, align, laid)                                                                  \
	BYHAND_LAID(name end, offset, size, align, "{\"contents\":[" of ",{\"contents\":" at ",\"tag\":\"" tag "\"}],\"tag\":\"LKMember\"}", laid) ","
#define BYHAND_INTERVAL_TIME(name, start, end)                                                                                         \
	BYHAND_END(name, "_start", "IntBegin", "[0,1]", BYHAND_OF(name, "true", BYHAND_TIME), start, 16, 16, BYHAND_TIME)      \
	BYHAND_END(name, "_end", "IntEnd", "[0,1]", BYHAND_OF(name, "true", BYHAND_TIME), end, 16, 16, BYHAND_TIME)
#define BYHAND_INTERVAL_COUNTER(name, i, start, end)                                                                                   \
	BYHAND_END(name "_" #i, "_start", "IntBegin", "[" #i ",2]", BYHAND_OF(name, "true", BYHAND_COUNTER), start, 8, 8, BYHAND_COUNTER_NR(i)) \
	BYHAND_END(name "_" #i, "_end", "IntEnd", "[" #i ",2]", BYHAND_OF(name, "true", BYHAND_COUNTER), end, 8, 8, BYHAND_COUNTER_NR(i))

#define BYHAND_FRAME(name, elements, layout)                                                                                           \
	"{\"_flFrame\":{\"_frameElements\":[" elements "],\"_frameName\":\"" name "\"},\"_flLayout\":[" layout "],\"_flName\":\"" name "\"}"
#define BYHAND_JSON(name, elements, options, clock, tags, frames)                                                                      \
	"{\"abi\":\"1.0.0\",\"emit\":{\"_eBuffer\":{\"ebMinElements\":" #elements ",\"ebName\":\"" name "\"},\"_eLanguage\":\"ELangCpp\","  \
	"\"_eOptions\":[" options "],\"_eRuntime\":{\"erMultithread\":true},\"_eTags\":[" tags "],\"_eTimeRep\":{\"contents\":\"" clock      \
	"\",\"tag\":\"ETimeSpec\"}},\"frames\":[" frames "],\"metadata\":[],\"tags\":[],\"target\":{\"tCounter\":8,\"tCounterCount\":3,"    \
	"\"tDouble\":8,\"tFloat\":4,\"tInt\":4,\"tPadTo\":4,\"tTime\":16}}"

/* A frame, alone in its buffer. */
struct byhand_mark {
	int front, n;
	double x;
	struct byhand_time at;
	int back;
};
_Static_assert(offsetof(struct byhand_mark, back) == 32 && sizeof(struct byhand_mark) == 40, "where the JSON has it");
#define BYHAND_MARK \
	BYHAND_FRAME("mark", \
		BYHAND_ELEMENT("n", "false", BYHAND_INT) "," BYHAND_ELEMENT("x", "false", BYHAND_DOUBLE) "," \
		BYHAND_ELEMENT("at", "false", BYHAND_TIME), \
		BYHAND_FRONT \
		BYHAND_MEMBER("n", 4, 4, 4, BYHAND_INT) \
		BYHAND_MEMBER("x", 8, 8, 8, BYHAND_DOUBLE) \
		BYHAND_MEMBER("at", 16, 16, 16, BYHAND_TIME) \
		BYHAND_BACK(32))

#endif
