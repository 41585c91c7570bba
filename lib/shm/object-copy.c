/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * object-copy.c - see object-copy.h.
 *
 * A writer counts a change in begun, makes it, and counts it in done. We load done first and begun last. A writer that is counted in done has made
 * its change, and we see it. Of a change that we see in part we see begun, too: then that is more than done.
 */
#include "shm/object-copy.h"

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#define READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

bool ctp_object_copy(const struct ctp_shm_object *from, struct ctp_shm_object *to)
{
	to->done = __atomic_load_n(&from->done, __ATOMIC_ACQUIRE); /* pairs with ctp_object_done_ */
	to->pid = READ(from->pid);
	to->what = READ(from->what);
	to->object = READ(from->object);
	to->made_ts = READ(from->made_ts);
	to->made = READ(from->made);
	to->label = READ(from->label);
	to->all = READ(from->all);
	to->others = READ(from->others);
	to->available = READ(from->available);
	to->available_ts = READ(from->available_ts);
	to->room = READ(from->room);
	to->room_ts = READ(from->room_ts);
	to->closed_ts = READ(from->closed_ts);
	to->held_ts = READ(from->held_ts);
	uint32_t used = READ(from->holders_used);
	to->holders_used = used < CTP_SHM_HOLDERS ? used : CTP_SHM_HOLDERS;
	for (unsigned i = 0; i < CTP_SHM_HOLDERS; i++)
		to->holders[i] = i < to->holders_used ? READ(from->holders[i]) : 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the fence in ctp_object_begin_ */
	to->begun = READ(from->begun);
	return to->begun == to->done;
}
