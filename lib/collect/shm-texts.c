/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * shm-texts.c - copies texts out of shared memory, whole or not at all.
 */
#include "collect/shm-texts.h"

#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

enum { TRIES = 3 };

static void copy_text(char *to, const char *from, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

enum ctp_status ctp_shm_texts_init(struct ctp_shm_texts *texts, const struct ctp_arena *arena, struct ctp_rows *rows,
                                   struct ctp_err *err)
{
	*texts = (struct ctp_shm_texts){.arena = arena, .rows = rows, .written = calloc(arena->geo.max_sites + 1, 1)};
	return texts->written ? CTP_OK : ctp_err_memory(err);
}

void ctp_shm_texts_fini(struct ctp_shm_texts *texts) { free(texts->written); }

/* The address after the texts, if the site has one and they leave room for it. */
static uint64_t code_of(const struct ctp_shm_site *shm, uint32_t used)
{
	uint64_t code = 0;
	if (__atomic_load_n(&shm->code_bytes, __ATOMIC_RELAXED) == sizeof code && used + sizeof code <= sizeof shm->text)
		copy_text((char *)&code, shm->text + sizeof shm->text - sizeof code, sizeof code);
	return code;
}

/* Copies the file and the function of a site into text, one after the other. Null: there is no such site, or not yet. */
static const struct ctp_shm_site *copy_site(const struct ctp_shm_texts *texts, uint32_t site, char text[CTP_SHM_TEXT_MAX],
                                            uint32_t *file, uint32_t *function)
{
	if (!site || site > texts->arena->geo.max_sites)
		return NULL;
	const struct ctp_shm_site *shm = &texts->arena->sites[site - 1];
	if (__atomic_load_n(&shm->ready, __ATOMIC_ACQUIRE) != 1) /* pairs with the probe's release store: the rest is there */
		return NULL;
	*file = __atomic_load_n(&shm->file_bytes, __ATOMIC_RELAXED);
	*function = __atomic_load_n(&shm->function_bytes, __ATOMIC_RELAXED);
	*file = *file < CTP_SHM_TEXT_MAX ? *file : CTP_SHM_TEXT_MAX;
	*function = *function < CTP_SHM_TEXT_MAX - *file ? *function : CTP_SHM_TEXT_MAX - *file;
	copy_text(text, shm->text, *file + *function);
	return shm;
}

uint32_t ctp_shm_texts_function(const struct ctp_shm_texts *texts, uint32_t site, char text[CTP_SHM_TEXT_MAX])
{
	uint32_t file, function;
	if (!copy_site(texts, site, text, &file, &function))
		return 0;
	memmove(text, text + file, function);
	return function;
}

uint64_t ctp_shm_texts_site_new(struct ctp_shm_texts *texts, uint32_t site, uint64_t ts_ns)
{
	char text[CTP_SHM_TEXT_MAX];
	uint32_t file, function;
	const struct ctp_shm_site *shm = copy_site(texts, site, text, &file, &function);
	if (!shm)
		return 0;
	/*
	 * In this pass another ring may still give an earlier record that refers to this site. So the site's record gets the
	 * earliest time that any further record can have.
	 */
	uint64_t floor_ns = texts->rows->promise_ns > texts->rows->begin_ns ? texts->rows->promise_ns : texts->rows->begin_ns;
	ts_ns = ts_ns < floor_ns ? ts_ns : floor_ns;
	ctp_rows_reserve(texts->rows, file + function);
	uint64_t file_val = ctp_rows_string(texts->rows, text, file);
	uint64_t function_val = ctp_rows_string(texts->rows, text + file, function);
	CTP_ROWS_PUT(texts->rows, CTP_PLACE, ts_ns, [CTP_SITE_ID] = site, [CTP_SITE_FILE] = file_val,
	             [CTP_SITE_LINE] = __atomic_load_n(&shm->line, __ATOMIC_RELAXED),
	             [CTP_SITE_FUNCTION] = function_val, [CTP_SITE_CODE] = code_of(shm, file + function));
	texts->written[site - 1] = 1;
	return site;
}

uint32_t ctp_shm_texts_name(const struct ctp_shm_station *shm, char name[sizeof(((struct ctp_shm_station *)0)->name)],
                            uint16_t *seq)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t before = __atomic_load_n(&shm->name_seq, __ATOMIC_ACQUIRE); /* pairs with the store after the text */
		uint32_t len = __atomic_load_n(&shm->name_bytes, __ATOMIC_RELAXED);
		len = len < sizeof shm->name ? len : (uint32_t)sizeof shm->name;
		copy_text(name, shm->name, len);
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the fence after the odd mark */
		if (!(before & 1) && __atomic_load_n(&shm->name_seq, __ATOMIC_RELAXED) == before) {
			*seq = (uint16_t)(before | 1); /* 0 is none */
			return len;
		}
	}
	return 0;
}
