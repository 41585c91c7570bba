/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * simulator STREAM TIMES - the accesses of a stream, kept in memory, through two levels of cache TIMES times; the time of one on
 * stdout, as "access_ns N", and how many missed the first level.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "io/input.h"
#include "memory/caches.h"
#include "stream/sink.h"

enum { ACCESSES_MAX = 1 << 24 };

struct access {
	uint64_t address;
	uint32_t size;
	bool write;
};

struct keeper {
	struct ctp_sink sink;
	struct access *list;
	uint32_t n;
	size_t room;
};

static enum ctp_status keep(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct keeper *k = (struct keeper *)sink;
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct ctp_record *rec = &batch->rec[i];
		int address = ctp_class_field(rec->cls, "address"), size = ctp_class_field(rec->cls, "size");
		int op = ctp_class_field(rec->cls, "op");
		if (address < 0 || size < 0 || op < 0)
			continue;
		if (!CTP_ARRAY_RESERVE(k->list, k->room, k->n + 1, ACCESSES_MAX))
			return ctp_err_set(err, "too many accesses");
		k->list[k->n++] = (struct access){rec->val[address], (uint32_t)rec->val[size], rec->val[op] == 1};
	}
	return CTP_OK;
}

static void release(struct ctp_sink *sink) { (void)sink; }

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const struct ctp_sink_ops ops = {.records = keep, .free = release};
	static const struct ctp_cache_shape shapes[] = {{32 << 10, 8, 64}, {8 << 20, 16, 64}};
	struct keeper k = {.sink.ops = &ops};
	struct ctp_convert_stats stats = {.lost = 0};
	struct ctp_input in;
	struct ctp_err err;
	struct ctp_caches *c = ctp_caches_new(shapes, 2, false, &err);
	if (argc < 3 || !c || ctp_input_open(&in, argv[1], &err) || ctp_convert(&in, &k.sink, NULL, NULL, &stats, &err) == CTP_FAILED)
		return 1;
	ctp_input_close(&in);
	long times = atol(argv[2]);
	double began = now_s();
	for (long i = 0; i < times; i++)
		for (uint32_t n = 0; n < k.n; n++)
			ctp_caches_access(c, 0, k.list[n].address, k.list[n].size, k.list[n].write);
	printf("access_ns %.3f\n", (now_s() - began) * 1e9 / ((double)times * k.n));
	printf("missed %ju\n", ctp_caches_counts(c, 0)->misses[0] + ctp_caches_counts(c, 0)->misses[1]);
	ctp_caches_free(c);
	free(k.list);
	return 0;
}
