/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * kept.c - in a target of libFuzzer's, large blocks (base/pages.h) are kept from run to run: mapping them takes longer than most runs.
 *
 * A block that was freed is cleared, so that the next run finds zeros as in a new one, and a find is reproducible alone.
 */
#include <pthread.h>
#include <stdbool.h>

#include "base/pages.h"

enum { KEPT_MAX = 256 };

void *__real_ctp_pages_new(size_t bytes);
void __real_ctp_pages_free(void *block, size_t bytes);
void *__wrap_ctp_pages_new(size_t bytes);
void __wrap_ctp_pages_free(void *block, size_t bytes);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	void *block;
	size_t bytes;
} kept[KEPT_MAX];
static unsigned nkept;

void *__wrap_ctp_pages_new(size_t bytes)
{
	void *block = NULL;
	pthread_mutex_lock(&lock);
	for (unsigned i = nkept; i-- && !block;)
		if (kept[i].bytes == bytes) {
			block = kept[i].block;
			kept[i] = kept[--nkept];
		}
	pthread_mutex_unlock(&lock);
	return block ? block : __real_ctp_pages_new(bytes);
}

void __wrap_ctp_pages_free(void *block, size_t bytes)
{
	if (!block)
		return;
	ctp_pages_clear(block, bytes);
	pthread_mutex_lock(&lock);
	bool room = nkept < KEPT_MAX;
	if (room) {
		kept[nkept].block = block;
		kept[nkept++].bytes = bytes;
	}
	pthread_mutex_unlock(&lock);
	if (!room)
		__real_ctp_pages_free(block, bytes);
}
