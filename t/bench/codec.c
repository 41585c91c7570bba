/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec [EVENTS] - what it costs to encode and decode `mix`, beside the least that any 64-byte record would cost: a memcpy of
 * it and its CRC32C. Everything happens in memory; the events are made before the clock starts. Prints "name value" lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crc32c.h"
#include "io/input.h"
#include "mixrecord.h"
#include "stream/reader.h"
#include "stream/sink.h"
#include "stream/writer.h"

enum { BLOCK = 1 << 16, RECORD_BYTES = 64 };

struct stream {
	uint8_t *data;
	size_t len, room;
};

struct counter {
	struct ctp_sink sink;
	uint64_t n;
};

/* Of this thread's own time: others on the machine do not count. */
static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "codec: %s\n", what);
	exit(1);
}

static bool put(void *arg, const void *packet, size_t len_bytes)
{
	struct stream *s = arg;
	if (len_bytes > s->room - s->len)
		return false;
	memcpy(s->data + s->len, packet, len_bytes);
	s->len += len_bytes;
	return true;
}

static double encode(struct stream *s, uint64_t events)
{
	static struct mix m;
	static struct ctp_section sec;
	static uint64_t val[BLOCK][CTP_TRANSITION_FIELDS];
	static struct ctp_record rec[BLOCK];
	struct ctp_err err;
	struct ctp_class *cls = ctp_event_class(CTP_TRANSITION);
	struct ctp_writer *w = ctp_writer_new(put, s, &err);
	if (!cls || !w)
		die("out of memory");
	mix_init(&m);
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	double spent_ns = 0;
	for (uint64_t done = 0; done < events; done += BLOCK) {
		for (unsigned i = 0; i < BLOCK; i++) {
			struct mix_event e = mix_next(&m);
			mix_record(&e, val[i]);
			rec[i] = (struct ctp_record){ cls, val[i], e.ts };
		}
		double start_ns = now_ns();
		for (unsigned i = 0; i < BLOCK; i += CTP_BATCH_MAX) {
			ctp_writer_records(w, &(struct ctp_batch){ .rec = rec + i, .n = CTP_BATCH_MAX });
			ctp_writer_mark(w, rec[i + CTP_BATCH_MAX - 1].ts_ns);
		}
		spent_ns += now_ns() - start_ns;
	}
	if (!ctp_writer_end(w, true))
		die("the stream is larger than plain records");
	ctp_writer_free(w);
	ctp_class_free(cls);
	ctp_section_fini(&sec);
	return spent_ns / (double)events;
}

static double decode(const struct stream *s, uint64_t events)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	enum ctp_status st;
	uint64_t seen = 0, sum = 0;
	ctp_input_mem(&in, s->data, s->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	if (!r)
		die(err.text);
	double start_ns = now_ns();
	while ((st = ctp_reader_next(r, &item, &err)) == CTP_OK) {
		if (item.kind != CTP_ITEM_RECORDS)
			continue;
		for (uint32_t i = 0; i < item.batch.n; i++)
			sum += item.batch.rec[i].val[CTP_TRANSITION_TS];
		seen += item.batch.n;
	}
	double spent_ns = now_ns() - start_ns;
	if (st != CTP_EOF || seen != events || !sum)
		die("the records are not reproduced");
	ctp_reader_free(r);
	ctp_input_close(&in);
	return spent_ns / (double)events;
}

/* What a sink that does nothing costs: reading, ordering and delivering. */
static enum ctp_status take(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	(void)err;
	((struct counter *)sink)->n += batch->n;
	return CTP_OK;
}

static double deliver(const struct stream *s, uint64_t events)
{
	static const struct ctp_sink_ops ops = {.records = take};
	struct counter counter = {.sink.ops = &ops};
	struct ctp_convert_stats stats = {0};
	struct ctp_err err;
	struct ctp_input in;
	ctp_input_mem(&in, s->data, s->len);
	double start_ns = now_ns();
	if (ctp_convert(&in, &counter.sink, NULL, NULL, &stats, &err) || counter.n != events)
		die("the delivered records differ");
	double spent_ns = now_ns() - start_ns;
	ctp_input_close(&in);
	return spent_ns / (double)events;
}

/* Records are copied into a chunk that fits the first-level cache, and it is summed up in one go: as cheap as it gets. */
static double reference(uint64_t events)
{
	enum { CHUNK = 256 };
	static uint8_t from[BLOCK][RECORD_BYTES], to[CHUNK][RECORD_BYTES];
	for (size_t i = 0; i < sizeof from; i++)
		(&from[0][0])[i] = (uint8_t)(i * 131);
	uint32_t crc = 0;
	double start_ns = now_ns();
	for (uint64_t done = 0; done < events; done += CHUNK) {
		for (unsigned i = 0; i < CHUNK; i++)
			memcpy(to[i], from[(done + i) % BLOCK], RECORD_BYTES);
		crc = ctp_crc32c(crc, to, sizeof to);
	}
	double spent_ns = now_ns() - start_ns;
	printf("crc %u\n", crc); /* so that the compiler keeps it */
	return spent_ns / (double)events;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : MIX_EVENTS;
	events = (events + BLOCK - 1) / BLOCK * BLOCK;
	struct stream s = { .room = events * 16 + (1 << 20) };
	s.data = malloc(s.room);
	if (!s.data)
		die("out of memory");
	memset(s.data, 1, s.room); /* page faults are not the encoder's */
	printf("encode_ns %.2f\n", encode(&s, events));
	printf("decode_ns %.2f\n", decode(&s, events));
	printf("deliver_ns %.2f\n", deliver(&s, events));
	printf("copy_crc_ns %.2f\n", reference(events));
	printf("raw_bytes %.3f\n", (double)s.len / (double)events);
	free(s.data);
	return 0;
}
