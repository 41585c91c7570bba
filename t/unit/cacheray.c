/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray.c - Cacheray's traces: intact ones are reproduced byte for byte in each spelling; in damaged ones, the place where the
 * damage begins is named exactly.
 *
 * Threads that write field by field, as the usual runtime does, race here. The test knows what each of them writes, so it also
 * knows the first place where no thread's next record is.
 */

#include "cacheray/cacheray-judge.h"
#include "cacheray/cacheray.h"
#include "tap.h"
#include "textmem.h"

typedef struct ctp_cacheray_spelling spelling;
static const spelling spellings[] = {{CTP_CACHERAY_LITTLE, 8}, {CTP_CACHERAY_BIG, 8}, {CTP_CACHERAY_LITTLE, 4}, {CTP_CACHERAY_BIG, 4}};
static const spelling open_spelling;

static uint64_t seed = 1;
static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}
static uint64_t below(uint64_t n) { return next_random(&seed) % n; }

/* --- records, field by field ---------------------------------------------------------------------------------------------- */

struct record {
	uint8_t field[6][32];
	uint8_t bytes[6];
	unsigned n;
};

/* Bytes put after the fields so far are the next field. */
static void end_field(struct record *r, const uint8_t *end)
{
	r->bytes[r->n] = (uint8_t)(end - r->field[r->n]);
	r->n++;
}

static void field_u64(struct record *r, spelling sp, uint64_t v) { end_field(r, ctp_cacheray_put_u64(sp, r->field[r->n], v)); }
static void field_u32(struct record *r, spelling sp, uint32_t v) { end_field(r, ctp_cacheray_put_u32(sp, r->field[r->n], v)); }
static void field_address(struct record *r, spelling sp, uint64_t v) { end_field(r, ctp_cacheray_put_address(sp, r->field[r->n], v)); }
static void field_u8(struct record *r, uint8_t v) { *r->field[r->n] = v, r->bytes[r->n++] = 1; }

/* As the usual runtime writes them: addresses of a heap, usual sizes, names of structures. */
static struct record usual_record(spelling sp, uint64_t *state, uint64_t base, uint64_t thread)
{
	struct record r = {.n = 0};
	uint64_t pick = next_random(state) % 40, size = UINT64_C(1) << next_random(state) % 5;
	uint64_t address = base + next_random(state) % 256 * 256 + (1 + next_random(state) % 15) * 16;
	if (pick < 2) {
		field_u8(&r, (uint8_t)(pick ? 3 : 2));
		field_address(&r, sp, address);
		field_u64(&r, sp, thread);
		if (pick)
			return r;
		field_u32(&r, sp, 24);
		field_u32(&r, sp, 1 + (uint32_t)next_random(state) % 3);
		field_u32(&r, sp, 12);
		memcpy(r.field[r.n - 1] + 4, "struct.Basic", 12); /* with its length, by one write: room for no other */
		r.bytes[r.n - 1] = 16;
		return r;
	}
	field_u8(&r, (uint8_t)((pick & 1) | (pick < 6 ? 0x40 : 0)));
	field_address(&r, sp, address + (size < 16 ? next_random(state) % (16 / size) * size : 0));
	field_u8(&r, (uint8_t)size);
	field_u64(&r, sp, thread);
	return r;
}

static size_t put_record(uint8_t *to, const struct record *r)
{
	uint8_t *p = to;
	for (unsigned i = 0; i < r->n; i++) {
		memcpy(p, r->field[i], r->bytes[i]);
		p += r->bytes[i];
	}
	return (size_t)(p - to);
}

/* --- through the source and the sink --------------------------------------------------------------------------------------- */

struct said {
	unsigned n;
	unsigned long long offset, skipped; /* of the first */
	char first[600];
};

static void listen(void *arg, const char *text)
{
	struct said *said = arg;
	if (!said->n++) {
		snprintf(said->first, sizeof said->first, "%s", text);
		said->offset = strncmp(text, "byte ", 5) ? ~0ull : strtoull(text + 5, NULL, 10);
	}
}

static struct ctp_source_stats read_trace(const uint8_t *data, size_t len, spelling sp, struct textmem *stream, struct said *said)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_source *source = ctp_cacheray_source("test", sp, &err);
	struct ctp_writer *w = ctp_writer_new(textmem_append, stream, &err);
	const struct ctp_notice notice = {listen, said};
	*said = (struct said){0};
	stream->len = 0;
	ctp_input_mem(&in, data, len);
	must(source && w && source->ops->read(source, &in, w, &notice, &err) == CTP_OK, "the source failed");
	struct ctp_source_stats stats = source->stats;
	source->ops->free(source);
	ctp_writer_free(w);
	return stats;
}

static struct ctp_sink *sink_as_it_was(struct ctp_output *out, struct ctp_err *err) { return ctp_cacheray_sink(out, open_spelling, err); }

static bool comes_back(const uint8_t *data, size_t len, spelling sp)
{
	static struct textmem stream, back;
	struct said said;
	struct ctp_source_stats stats = read_trace(data, len, sp, &stream, &said);
	if (stats.rejected || said.n) {
		printf("# %s\n", said.first);
		return false;
	}
	textmem_to(sink_as_it_was, &stream, &back);
	return back.len == len && !memcmp(back.data, data, len);
}

static const char *name_of(spelling sp)
{
	static char text[32];
	snprintf(text, sizeof text, "%s, %u", sp.order == CTP_CACHERAY_BIG ? "big" : "little", sp.address_bytes);
	return text;
}

/* --- sound traces ---------------------------------------------------------------------------------------------------------- */

static size_t usual_trace(uint8_t *to, spelling sp, unsigned records, unsigned threads, uint64_t first_thread)
{
	size_t len = 0;
	for (unsigned i = 0; i < records; i++) {
		struct record r = usual_record(sp, &seed, sp.address_bytes == 8 ? 0x7ffea8b20000 : 0x8b0000, first_thread + below(threads));
		len += put_record(to + len, &r);
	}
	return len;
}

static void test_sound(void)
{
	static uint8_t data[1 << 20];
	for (unsigned i = 0; i < 4; i++) {
		spelling sp = spellings[i];
		ok(comes_back(data, usual_trace(data, sp, 9000, 1, 0), open_spelling),
		   "%s: a trace of thread 0 is reproduced", name_of(sp));
		ok(comes_back(data, usual_trace(data, sp, 9000, 5, 31000), open_spelling), "a trace of five threads is reproduced");
		ok(comes_back(data, usual_trace(data, sp, 1, 1, 0), sp), "a trace of one record is reproduced");
		ok(comes_back(data, usual_trace(data, sp, 9000, 3, 0x7f00deadbeef00), open_spelling),
		   "a trace of threads with large numbers is reproduced");
		ok(comes_back(data, usual_trace(data, sp, 2000, 4, 0), open_spelling),
		   "a trace of threads numbered from 0 is reproduced");
	}
}

/* Any values of fields, once the spelling is known: only the lengths of names have a limit. */
static void test_any_values(void)
{
	static uint8_t data[3 << 20];
	static const uint8_t sizes[] = {0, 3, 24, 64, 255};
	for (unsigned s = 0; s < 4; s++) {
		spelling sp = spellings[s];
		size_t len = usual_trace(data, sp, 50, 1, 4000);
		for (unsigned i = 0; i < 3000; i++) {
			struct record r = {.n = 0};
			field_u8(&r, (uint8_t)(below(2) | below(4) << 6));
			field_address(&r, sp, next_random(&seed) << 33 ^ next_random(&seed));
			field_u8(&r, sizes[below(sizeof sizes)]);
			field_u64(&r, sp, 4000);
			len += put_record(data + len, &r);
		}
		for (unsigned i = 0; i < 300; i++) {
			struct record r = {.n = 0};
			uint32_t bytes = (uint32_t)below(i % 50 ? 40 : 5000);
			field_u8(&r, 2);
			field_address(&r, sp, next_random(&seed));
			field_u64(&r, sp, 4000);
			field_u32(&r, sp, (uint32_t)next_random(&seed));
			field_u32(&r, sp, UINT32_MAX);
			field_u32(&r, sp, bytes);
			len += put_record(data + len, &r);
			for (uint32_t k = 0; k < bytes; k++)
				data[len++] = (uint8_t)below(256);
		}
		struct record r = {.n = 0};
		field_u8(&r, 2);
		field_address(&r, sp, 16);
		field_u64(&r, sp, 4000);
		field_u32(&r, sp, 0);
		field_u32(&r, sp, 0);
		field_u32(&r, sp, CTP_STRING_MAX);
		len += put_record(data + len, &r);
		memset(data + len, 'x', CTP_STRING_MAX);
		len += CTP_STRING_MAX;
		for (unsigned i = 0; i < 500; i++) {
			r = usual_record(sp, &seed, 0x10000, next_random(&seed) << 33 ^ next_random(&seed));
			len += put_record(data + len, &r);
		}
		ok(comes_back(data, len, sp), "%s: any size, thread, flag and name is reproduced", name_of(sp));
	}
}

/* --- damage ---------------------------------------------------------------------------------------------------------------- */

static void test_cut(void)
{
	static uint8_t data[4096];
	static struct textmem stream;
	struct said said;
	spelling sp = spellings[0];
	size_t ends[41] = {0}, len = 0;
	for (unsigned i = 0; i < 40; i++) {
		struct record r = usual_record(sp, &seed, 0x7ffea8b20000, 0);
		ends[i + 1] = len += put_record(data + len, &r);
	}
	unsigned wrong = 0, i = 0;
	for (size_t upto = 1; upto < len; upto++) {
		while (ends[i + 1] <= upto)
			i++;
		struct ctp_source_stats stats = read_trace(data, upto, open_spelling, &stream, &said);
		bool at_end = ends[i] == upto;
		wrong += stats.harmed == at_end || (!at_end && (said.offset != ends[i] || said.n != 1)) || stats.accepted != i;
	}
	is_u64(wrong, 0, "a trace cut at any byte gives all complete records and says where the incomplete one begins");
	is_u64(read_trace(data, 0, open_spelling, &stream, &said).harmed, true, "an empty trace counts as damaged");
	is(said.first, "the input is empty", "the message says that it is empty");
}

/* Makes one tag detectably wrong. */
static void test_spot(void)
{
	static uint8_t data[1 << 16], bad[1 << 16];
	static struct textmem stream;
	struct said said;
	unsigned misplaced = 0, unresumed = 0, rounds = 400;
	for (unsigned round = 0; round < rounds; round++) {
		spelling sp = spellings[round % 4];
		size_t at[1000], len = 0;
		for (unsigned i = 0; i < 1000; i++) {
			struct record r = usual_record(sp, &seed, sp.address_bytes == 8 ? 0x7ffea8b20000 : 0x8b0000, round & 4 ? 30000 + below(3) : 0);
			at[i] = len;
			len += put_record(data + len, &r);
		}
		size_t spot = at[100 + below(700)];
		memcpy(bad, data, len);
		bad[spot] = (uint8_t)(round & 8 ? 0x42 : 0x04 + below(0x3c));
		struct ctp_source_stats stats = read_trace(bad, len, sp, &stream, &said);
		misplaced += said.offset != spot;
		unresumed += stats.rejected != 1 || stats.accepted < 998 || stats.accepted > 999;
	}
	is_u64(misplaced, 0, "a wrong tag is named by its offset");
	is_u64(unresumed, 0, "a wrong tag costs one record, or two if a remove follows it");
}

/* --- threads that write field by field ------------------------------------------------------------------------------------- */

#ifndef ROUNDS
#define ROUNDS 160
#endif
enum { THREADS_MAX = 4, RECORDS = 4000 };

struct writer {
	spelling sp;
	uint64_t state, base, thread;
};

/* What the threads write concurrently: each writes its fields in order, in turns of about stop_every fields. */
static void write_mixed(FILE *file, const struct writer *given, unsigned threads, unsigned stop_every)
{
	struct writer w[THREADS_MAX];
	struct record r[THREADS_MAX];
	unsigned left[THREADS_MAX], k[THREADS_MAX] = {0}, busy = threads, t = 0;
	memcpy(w, given, threads * sizeof *w);
	for (unsigned i = 0; i < threads; i++) {
		r[i] = usual_record(w[i].sp, &w[i].state, w[i].base, w[i].thread);
		left[i] = RECORDS;
	}
	while (busy) {
		if (!left[t] || next_random(&seed) % stop_every == 0) {
			t = (unsigned)(next_random(&seed) % threads);
			continue;
		}
		fwrite(r[t].field[k[t]], r[t].bytes[k[t]], 1, file);
		if (++k[t] < r[t].n)
			continue;
		k[t] = 0;
		busy -= !--left[t];
		r[t] = usual_record(w[t].sp, &w[t].state, w[t].base, w[t].thread);
	}
}

/* Offset of the first record that is no thread's next one; len if there is none. */
static size_t first_damage(const uint8_t *data, size_t len, const struct writer *given, unsigned threads)
{
	struct writer w[THREADS_MAX];
	struct record next[THREADS_MAX];
	unsigned left[THREADS_MAX];
	uint8_t bytes[256];
	size_t at = 0;
	memcpy(w, given, threads * sizeof *w);
	for (unsigned t = 0; t < threads; t++) {
		next[t] = usual_record(w[t].sp, &w[t].state, w[t].base, w[t].thread);
		left[t] = RECORDS;
	}
	while (at < len) {
		unsigned t = 0;
		size_t n = 0;
		for (; t < threads; t++) {
			n = put_record(bytes, &next[t]);
			if (left[t] && n <= len - at && !memcmp(bytes, data + at, n))
				break;
		}
		if (t == threads)
			return at;
		at += n;
		next[t] = usual_record(w[t].sp, &w[t].state, w[t].base, w[t].thread);
		left[t]--;
	}
	return at;
}

/* True if the first notice names the place where the damage begins. */
static bool mixed_trace(spelling sp, unsigned threads, bool real_ids, unsigned stop_every, unsigned *damaged)
{
	static struct textmem stream;
	struct writer given[THREADS_MAX];
	struct said said;
	char *data = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&data, &len);
	must(file, "no memory");
	for (unsigned t = 0; t < threads; t++) {
		uint64_t base = (sp.address_bytes == 8 ? 0x7f3a00000000 : 0x8000000) + (uint64_t)t * 0x100000;
		given[t] = (struct writer){sp, next_random(&seed), base, real_ids ? 31415 + t : 0};
	}
	write_mixed(file, given, threads, stop_every);
	fclose(file);
	size_t want = first_damage((const uint8_t *)data, len, given, threads);
	struct ctp_source_stats stats = read_trace((const uint8_t *)data, len, sp, &stream, &said);
	size_t got = said.n ? said.offset : len;
	if (got != want)
		printf("# %s, %u threads%s: damage begins at %zu, and %s\n", name_of(sp), threads, real_ids ? " with ids" : "", want,
		       said.n ? said.first : "nothing was said");
	*damaged += stats.rejected > 0;
	free(data);
	return got == want;
}

static void test_mixed(void)
{
	unsigned wrong[2] = {0}, damaged = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		spelling sp = spellings[round % 4];
		wrong[sp.address_bytes == 4] += !mixed_trace(sp, 2 + round / 4 % 3, round & 16, round & 32 ? 3 : 100, &damaged);
	}
	note("%u of %u traces were damaged", damaged, ROUNDS);
	ok(damaged > ROUNDS / 4, "threads that write field by field damage their trace");
	is_u64(wrong[0], 0, "the place where the damage begins is named exactly");
	ok(wrong[1] <= ROUNDS / 50, "it is nearly always exact with short addresses, which can be mistaken for sizes");
}

int main(void)
{
	test_sound();
	test_any_values();
	test_cut();
	test_spot();
	test_mixed();
	return done_testing();
}
