/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * object-race.c - threads that change objects in the shared memory, and a reader that copies them meanwhile.
 *
 * A copy that is reported as whole has the words of one change. At the end, the held permits are those taken and not given back,
 * whichever threads did that. No two objects share a slot.
 */
#include "onemap.h"

#include <pthread.h>

#include "shm/object-copy.h"
#include "tap.h"

enum { ROUNDS = 200000, THREADS = 4, RENEWALS = 1000000, MANY = 5000 };

static struct ctp_coro coros[THREADS];
static char shared, changing;
static uint32_t enough;

static struct ctp_shm_object *object_at(const void *at)
{
	return ctp_object_find_(ctp_current_, (uint64_t)(uintptr_t)at, false);
}

/* --- one change, whole ---------------------------------------------------------------------------------------------------- */

/* Each change sets `all` and `available` to one number, from which the kind of the object follows. */
static void *renews(void *arg)
{
	for (uint32_t n = 0; n < RENEWALS; n++) {
		uint32_t value = n % 1000 + 1;
		ctp_object_new(&changing, value % 3 ? CTP_FOR_PERMITS : CTP_FOR_LOCK, value, NULL, 0);
	}
	__atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
	return arg;
}

static void copies(void)
{
	pthread_t writer;
	const struct ctp_shm_object *o;
	unsigned whole = 0, wrong = 0;
	struct ctp_shm_object copy;
	ctp_object_new(&changing, CTP_FOR_LOCK, 3, NULL, 0);
	o = object_at(&changing);
	if (!ok(o, "an object has a slot"))
		return;
	enough = 0;
	pthread_create(&writer, NULL, renews, NULL);
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		if (!ctp_object_copy(o, &copy))
			continue;
		whole++;
		wrong += copy.all != copy.available ||
		         CTP_REASON_WHAT(copy.what) != (copy.all % 3 ? CTP_FOR_PERMITS : CTP_FOR_LOCK) || copy.made_ts != copy.available_ts;
	}
	pthread_join(writer, NULL);
	ok(whole > 10, "some copies are whole");
	is_u64(wrong, 0, "each whole copy has the words of one change");
}

/* --- holders -------------------------------------------------------------------------------------------------------------- */

static void *holds(void *arg)
{
	struct ctp_coro *co = arg;
	uint64_t ref = ctp_coro_ref(co), next = ctp_coro_ref(&coros[(co - coros + 1) % THREADS]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		ctp_coro_holds(co, &shared, 1);
		if (i % 8 == 0) { /* for another coroutine, which also runs */
			ctp_ref_holds(next, &shared, 1);
			ctp_ref_holds(next, &shared, -1);
		}
		ctp_coro_holds(co, &shared, i % 5 ? -1 : 1);
		if (i % 5 == 0)
			ctp_ref_holds(ref, &shared, -2);
	}
	ctp_coro_holds(co, &shared, 3);
	return NULL;
}

static void held(void)
{
	pthread_t threads[THREADS];
	uint64_t of[THREADS] = {0}, sum = 0;
	struct ctp_shm_object copy;
	ctp_object_new(&shared, CTP_FOR_PERMITS, 100, NULL, 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, holds, &coros[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(ctp_object_copy(object_at(&shared), &copy), "no change is under way at the end");
	for (unsigned i = 0; i < CTP_SHM_HOLDERS; i++) {
		sum += copy.holders[i] & 0xffff;
		for (unsigned k = 0; k < THREADS; k++)
			if (copy.holders[i] >> 16 == CTP_HOLDER(ctp_coro_ref(&coros[k])))
				of[k] += copy.holders[i] & 0xffff;
	}
	is_u64(sum + (uint64_t)(int64_t)copy.others, 3 * THREADS, "the held permits are those taken and not given back");
	for (unsigned k = 0; k < THREADS; k++)
		ok(of[k] <= 3 || copy.others < 0, "no coroutine holds more than it took");
}

/* More coroutines than there are places. */
static void holders(void)
{
	enum { ALL = CTP_SHM_HOLDERS + 9 };
	static struct ctp_coro co[ALL];
	static char pool;
	struct ctp_shm_object copy;
	unsigned known = 0;
	ctp_object_new(&pool, CTP_FOR_PERMITS, ALL, NULL, 0);
	for (unsigned i = 0; i < ALL; i++) {
		ctp_coro_new(&co[i], 100 + i);
		ctp_coro_holds(&co[i], &pool, 1);
	}
	ok(ctp_object_copy(object_at(&pool), &copy), "an object that many hold can be copied");
	for (unsigned i = 0; i < CTP_SHM_HOLDERS; i++)
		known += copy.holders[i] == (CTP_HOLDER(ctp_coro_ref(&co[i])) << 16 | 1);
	is_u64(known, CTP_SHM_HOLDERS, "as many holders as there are places are known");
	is_u64((uint64_t)copy.others, 9, "the others are counted");
	for (unsigned i = 0; i < ALL; i++)
		ctp_coro_holds(&co[i], &pool, -1);
	ctp_object_copy(object_at(&pool), &copy);
	known = 0;
	for (unsigned i = 0; i < CTP_SHM_HOLDERS; i++)
		known += copy.holders[i] != 0;
	ok(!known && !copy.others && copy.holders_used == CTP_SHM_HOLDERS, "they all give back what they hold");
	ctp_object_new(&pool, CTP_FOR_PERMITS, ALL, NULL, 0);
	ctp_coro_holds(&co[3], &pool, 1);
	ctp_object_copy(object_at(&pool), &copy);
	is_u64(copy.holders_used, 1, "a new object at the address uses the places from the first on");
	for (unsigned i = 0; i < ALL; i++)
		ctp_coro_death(&co[i]);
}

/* --- many ----------------------------------------------------------------------------------------------------------------- */

static char many[THREADS][MANY];

static void *makes(void *arg)
{
	char *mine = arg;
	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < MANY; i++)
			ctp_object_new(&mine[i], CTP_FOR_ITEM, i, NULL, 0);
		for (unsigned i = 0; k < 2 && i < MANY; i += 2)
			ctp_object_end(&mine[i]);
	}
	return NULL;
}

static void placed(void)
{
	pthread_t threads[THREADS];
	unsigned found = 0, wrong = 0;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, makes, many[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < THREADS; i++)
		for (unsigned k = 0; k < MANY; k++) {
			const struct ctp_shm_object *o = object_at(&many[i][k]);
			found += o != NULL;
			wrong += o && (o->object != (uint64_t)(uintptr_t)&many[i][k] || o->available != k);
		}
	is_u64(wrong, 0, "each object has a slot of its own");
	ok(found == THREADS * MANY || ctp_current_->shm->lost_objects, "objects without a slot are counted");
	ok(found > THREADS * MANY * 99 / 100, "nearly all of 20,000 objects have a slot");
}

int main(void)
{
	onemap_open(128, CTP_MODE_RECORD | CTP_MODE_KEEP);
	for (unsigned i = 0; i < THREADS; i++)
		ctp_coro_new(&coros[i], i + 1);
	copies();
	held();
	holders();
	placed();
	return done_testing();
}
