/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-agent.h - an agent for tests of sdk/ppt, within the same process: segments, attach and detach, and the reading rule.
 *
 * It shares no code with formats/ppt, on purpose. Nothing happens before the next save, so an agent here attaches and then saves.
 */
#ifndef PPT_AGENT_H
#define PPT_AGENT_H

#include "ppt.h"
#include <stdio.h>
#include <stdlib.h>

struct agent {
	struct ppt_buffer *b;
	int id;
	size_t bytes;
	char *base;
	struct ppt_control_ *control;
};

/*
 * The agent's segments are in a place of their own: where the client's were before, TSan would not know that these are gone, for it
 * does not see what orders them, the kernel's count of users.
 */
enum { AGENT_PLACES = 8, AGENT_PLACE = 1 << 20 };
static char *agent_places;
static bool agent_taken[AGENT_PLACES];

static inline void *agent_empty(void *at, size_t bytes)
{
	return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
}

/* A segment never has the id 0, which stands for none, and vanishes with its last user, as Linux has it. */
static inline char *segment(size_t bytes, int *id)
{
	int place = 0, zero = -1;
	for (*id = shmget(IPC_PRIVATE, bytes, 0600); *id == 0; *id = shmget(IPC_PRIVATE, bytes, 0600))
		zero = *id;
	if (zero >= 0)
		shmctl(zero, IPC_RMID, NULL);
	if (!agent_places)
		agent_places = agent_empty(NULL, (size_t)AGENT_PLACES * AGENT_PLACE);
	while (place < AGENT_PLACES - 1 && agent_taken[place])
		place++;
	agent_taken[place] = true;
	void *at = *id < 0 ? (void *)-1 : shmat(*id, agent_places + (size_t)place * AGENT_PLACE, SHM_REMAP);
	if (at == (void *)-1) {
		perror("a segment of shared memory");
		exit(1);
	}
	shmctl(*id, IPC_RMID, NULL);
	return at;
}

static inline void segment_free(void *at)
{
	agent_empty(at, AGENT_PLACE);
	agent_taken[((char *)at - agent_places) / AGENT_PLACE] = false;
}

static inline unsigned long segment_users(int id)
{
	struct shmid_ds ds;
	return shmctl(id, IPC_STAT, &ds) ? 0 : ds.shm_nattch;
}

static inline void agent_prepare(struct agent *a, struct ppt_buffer *b, size_t bytes, uint64_t control_bytes)
{
	a->b = b;
	a->bytes = bytes;
	a->base = segment(bytes, &a->id);
	a->control = (struct ppt_control_ *)a->base;
	a->control->control_blk_sz = control_bytes;
}

/* A counter of the kernel's own, in an entry with a perf_event_attr of that size. */
static inline void agent_counter(struct agent *a, uint32_t i, uint32_t attr_bytes, uint64_t config)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = 112, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
	memcpy(a->base + 56 + i * (attr_bytes + 8) + 8, &attr, 112); /* without PERF_FORMAT_GROUP, as ppt itself */
	a->control->nr_perf_ctrs = i + 1;
}

static inline void agent_ask(struct agent *a)
{
	__atomic_store_n(a->b->stat, getpid(), __ATOMIC_RELAXED);
	__atomic_store_n(&a->b->word->is.hmem, a->id, __ATOMIC_RELEASE);
}

static inline int agent_asked(const struct agent *a)
{
	return __atomic_load_n(&a->b->word->is.hmem, __ATOMIC_RELAXED);
}

static inline bool agent_attached(const struct agent *a)
{
	return __atomic_load_n(&a->control->data_block_hmem_attached, __ATOMIC_ACQUIRE) == (uint64_t)a->id;
}

static inline void agent_leave(struct agent *a)
{
	__atomic_store_n(&a->b->word->is.hmem, 0, __ATOMIC_RELEASE);
	__atomic_store_n(a->b->stat, 0, __ATOMIC_RELAXED);
}

static inline void agent_free(struct agent *a)
{
	segment_free(a->base);
}

/* Where the slots are in the agent's own mapping: as far from its beginning as in the client's. */
static inline char *agent_slots(const struct agent *a, const void *client_base)
{
	return a->base + (a->control->data_block - (uintptr_t)client_base);
}

/*
 * The rule: the number at the back, the bytes, the one in front. 1: a whole frame with this number; 0: an older one, or none yet;
 * -1: a newer one; 2: it is being written.
 */
static inline int slot_read(const char *slot, size_t bytes, uint32_t number, void *frame)
{
	const uint32_t *words = (const uint32_t *)(const void *)slot;
	uint32_t back = __atomic_load_n(&words[bytes / 4 - 1], __ATOMIC_ACQUIRE);
	for (size_t i = 0; i < bytes / 4; i++) {
		uint32_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
		memcpy((char *)frame + 4 * i, &word, 4);
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	uint32_t front = __atomic_load_n(&words[0], __ATOMIC_RELAXED);
	if (front == number && back == number)
		return 1;
	if ((front && (int32_t)(front - number) > 0) || (back && (int32_t)(back - number) > 0))
		return -1;
	return front == number ? 2 : 0;
}

#endif
