/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * regions [RECORDS [REGIONS]] - a trace of memory accesses as a raw stream on stdout, as ctp-fromcacheray would write it: RECORDS
 * records, with REGIONS regions at a time, of ten types; one record in 30 replaces a region by another elsewhere. Four threads;
 * most accesses are near the last, one in 16 is in no region.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cacheray/cacheray-classes.h"
#include "io/output.h"
#include "stream/writer.h"

enum { TYPES = 10, TURNOVER = 30, MARK_EVERY = 4096, HEAP_BITS = 27 };

struct region {
	uint64_t address;
	uint32_t size, type;
};

static uint64_t state = 88172645463325252;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void put_add(struct ctp_writer *w, const struct ctp_class *cls, uint64_t ts, struct region *r)
{
	struct {
		uint32_t len;
		char data[16];
	} name;
	r->type = (uint32_t)(next_random() % TYPES);
	r->size = 16 + 24 * r->type;
	r->address = 0x7f0000000000 + next_random() % (1 << HEAP_BITS) / 16 * 16;
	name.len = (uint32_t)snprintf(name.data, sizeof name.data, "struct.T%u", (unsigned)r->type);
	ctp_writer_record(w, cls, (uint64_t[CTP_ADD_FIELDS]){ [CTP_ADD_TS] = ts, [CTP_ADD_ADDRESS] = r->address,
		[CTP_ADD_THREAD] = 1, [CTP_ADD_ELEMENT] = r->size, [CTP_ADD_COUNT] = 1 + r->address / 16 % 4,
		[CTP_ADD_TYPE] = ctp_val_str((struct ctp_str *)&name) });
}

static void put_access(struct ctp_writer *w, const struct ctp_class *cls, uint64_t ts, const struct region *r)
{
	uint64_t dice = next_random();
	uint64_t address = dice % 16 ? r->address + (dice >> 8) % r->size / 8 * 8 : 0x600000000000 + (dice >> 8) % (1 << 20) / 8 * 8;
	ctp_writer_record(w, cls, (uint64_t[CTP_ACCESS_FIELDS]){ [CTP_ACCESS_TS] = ts, [CTP_ACCESS_ADDRESS] = address,
		[CTP_ACCESS_SIZE] = 8, [CTP_ACCESS_THREAD] = 1 + ts / 1000 % 4, [CTP_ACCESS_OP] = (dice >> 40) % 4 == 0 });
}

int main(int argc, char **argv)
{
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 1200000;
	uint64_t nregions = argc > 2 ? strtoull(argv[2], NULL, 10) : 40000, at = 0, ts = 0;
	struct ctp_err err;
	struct ctp_output out;
	static struct ctp_section sec;
	struct region *regions = calloc(nregions, sizeof *regions);
	struct ctp_class *access = ctp_cacheray_class(CTP_CACHERAY_ACCESS), *add = ctp_cacheray_class(CTP_CACHERAY_ADD);
	struct ctp_class *remove = ctp_cacheray_class(CTP_CACHERAY_REMOVE);
	if (!nregions || !regions || !access || !add || !remove || ctp_output_open(&out, NULL, true, false, &err))
		return 1;
	struct ctp_writer *w = ctp_writer_to(&out, &err);
	if (!w)
		return 1;
	ctp_section_init(&sec);
	ctp_section_add(&sec, "clock", "ordinal");
	ctp_writer_begin(w, &sec);
	for (; ts < records && !ctp_writer_failed(w); ts++) {
		if (ts < nregions) {
			put_add(w, add, ts, &regions[ts]);
		} else if (ts % TURNOVER < 2) {
			at = ts % TURNOVER ? at : next_random() % nregions;
			if (ts % TURNOVER)
				put_add(w, add, ts, &regions[at]);
			else
				ctp_writer_record(w, remove, (uint64_t[CTP_REMOVE_FIELDS]){ [CTP_REMOVE_TS] = ts,
					[CTP_REMOVE_ADDRESS] = regions[at].address, [CTP_REMOVE_THREAD] = 1 });
		} else {
			at = next_random() % 8 ? at : next_random() % nregions;
			put_access(w, access, ts, &regions[at]);
		}
		if (ts % MARK_EVERY == MARK_EVERY - 1)
			ctp_writer_mark(w, ts);
	}
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	ctp_class_free(access);
	ctp_class_free(add);
	ctp_class_free(remove);
	ctp_section_fini(&sec);
	free(regions);
	return ctp_output_close(&out, &err) ? 1 : 0;
}
