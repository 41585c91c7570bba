/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as a Cacheray trace, to a stream and back: the output is the input without the bytes that damage records
 * name, and is a valid trace. The first byte gives the spelling.
 * Covers: formats/cacheray
 */
#include "textmem.h"
#include "cacheray/cacheray-classes.h"
#include "cacheray/cacheray.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctp_sink *sink(struct ctp_output *out, struct ctp_err *err)
{
	return ctp_cacheray_sink(out, (struct ctp_cacheray_spelling){0}, err);
}

/* The trace without its damage, by the records of the stream. */
static void take_damage_out(const struct textmem *stream, const uint8_t *data, size_t size, struct textmem *sound)
{
	struct ctp_input in;
	struct ctp_err err;
	struct ctp_item item;
	uint64_t upto = 0;
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	must(r, "no memory");
	sound->len = 0;
	textmem_append(sound, "", 1);
	sound->len = 0;
	while (ctp_reader_next(r, &item, &err) == CTP_OK) {
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++) {
			const struct ctp_record *rec = &item.batch.rec[i];
			if (rec->cls->kind != CTP_KIND_LOSS)
				continue;
			uint64_t at = rec->val[CTP_DAMAGE_OFFSET], bytes = rec->val[CTP_DAMAGE_BYTES];
			must(at >= upto && bytes && bytes <= size - at, "damage is where the trace is");
			textmem_append(sound, data + upto, at - upto);
			upto = at + bytes;
		}
	}
	textmem_append(sound, data + upto, size - upto);
	ctp_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem stream, sound, back;
	struct ctp_source_stats stats;
	struct ctp_err err;
	if (!size)
		return 0;
	struct ctp_cacheray_spelling sp = {.order = *data % 3, .address_bytes = (uint8_t)(*data / 3 % 3 * 4)};
	must(textmem_from(ctp_cacheray_source("fuzz", sp, &err), data + 1, size - 1, &stream, &stats, &err), err.text);
	take_damage_out(&stream, data + 1, size - 1, &sound);
	textmem_to(sink, &stream, &back);
	must(back.len <= sound.len && !memcmp(back.data, sound.data, back.len), "accepted records are not reproduced");
	for (size_t i = back.len; i < sound.len; i++)
		must(!sound.data[i], "only zeros at the end are left out");
	return 0;
}
