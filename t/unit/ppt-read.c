/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-read.c - the record of which frame numbers were seen; and a file truncated at every byte.
 */
#include "ppt/ppt-seen.h"
#include "ppt/ppt.h"
#include "tap.h"
#include "textmem.h"

static struct ctp_ppt_seen seen;
static uint64_t now_ns;

static bool see(int32_t seqno)
{
	if (!ctp_ppt_seen_add(&seen, seqno))
		return false;
	ctp_ppt_seen_time(&seen, ++now_ns);
	return true;
}

static void forget(void)
{
	memset(&seen, 0, sizeof seen);
	now_ns = 0;
}

static void gap(int32_t seqno, uint64_t count, uint64_t unverified, uint64_t after_ns, uint64_t ts_ns, const char *name)
{
	struct ctp_ppt_loss l = {0};
	ok(ctp_ppt_seen_gap(&seen, &l) && l.seqno == seqno && l.count == count && l.unverified == unverified && l.after_ns == after_ns &&
	   l.ts_ns == ts_ns, "%s", name);
	if (l.seqno != seqno || l.count != count)
		diag("from %d on %llu", l.seqno, (unsigned long long)l.count);
}

static void no_gap(const char *name)
{
	struct ctp_ppt_loss l;
	ok(!ctp_ppt_seen_gap(&seen, &l), "%s", name);
}

static void test_gaps(void)
{
	forget();
	no_gap("before the first number there is no gap");
	ok(see(1) && see(2) && see(3) && !see(2), "a repeated number is recognised");
	no_gap("consecutive numbers have no gap");
	ok(see(7) && see(10) && !see(7), "a repeated number is recognised after gaps, too");
	ctp_ppt_seen_torn(&seen, 5);
	ctp_ppt_seen_torn(&seen, 5);
	ctp_ppt_seen_torn(&seen, 7);
	ok(see(8) && see(9), "a gap is filled by the missing numbers");
	ok(!see(8) && !see(9), "the numbers that filled it count as seen");
	gap(4, 3, 1, 3, 4, "the other gap is reported, with its torn frame and the times on both sides");
	no_gap("there is no other gap");
	ok(!see(5), "a number of a reported gap comes too late");

	forget();
	for (int i = 5; i > 0; i--)
		see(i);
	see(7);
	gap(6, 1, 0, 1, 6, "numbers in descending order leave the right gap");
}

static bool differs(int32_t seqno, const char *bytes) { return ctp_ppt_seen_differs(&seen, seqno, (const uint8_t *)bytes, strlen(bytes)); }
static void keep(int32_t seqno, const char *bytes) { ctp_ppt_seen_sum(&seen, seqno, (const uint8_t *)bytes, strlen(bytes)); }

static void test_sums(void)
{
	forget();
	ok(!differs(0, "a") && !differs(-1, "a") && !differs(1, "a"), "a frame whose bytes are not kept does not differ");
	for (int32_t i = -2; i < 3; i++) {
		see(i);
		keep(i, "a");
	}
	ok(!differs(0, "a") && !differs(-1, "a") && differs(0, "b") && differs(-1, "b") && differs(2, "b"),
	   "frames with the same number and other bytes differ");
	keep(0, "b");
	ok(differs(0, "a") && !differs(0, "b"), "the last of two frames with one number is kept");
	keep(2 + CTP_PPT_SUMS, "c");
	ok(!differs(2, "a") && !differs(2, "b") && differs(1, "b"), "old frames are forgotten");
	forget();
	ok(!differs(1, "b"), "frames of another file are forgotten");
}

static void test_wrap(void)
{
	forget();
	ok(see(INT32_MAX - 1) && see(INT32_MAX) && see(INT32_MIN) && !see(INT32_MAX), "after 2^31 - 1 comes -2^31");
	see(INT32_MIN + 3);
	gap(INT32_MIN + 1, 2, 0, 3, 4, "a gap after the wrap is reported");
	forget();
	see(-2);
	ok(!ctp_ppt_seen_next(&seen, 0) && see(-1) && ctp_ppt_seen_next(&seen, 0), "0 comes after -1 only");
	see(2);
	gap(0, 2, 0, 2, 3, "a gap that begins at 0 is reported");
}

static void test_full(void)
{
	struct ctp_ppt_loss l;
	uint64_t lost = 0;
	forget();
	for (int i = 0; i < 10 * CTP_PPT_RUNS_MAX; i++) {
		see(3 * i + 1);
		while (ctp_ppt_seen_full(&seen) && ctp_ppt_seen_gap(&seen, &l))
			lost += l.count;
	}
	while (ctp_ppt_seen_gap(&seen, &l))
		lost += l.count;
	is_u64(lost, 2 * (10 * CTP_PPT_RUNS_MAX - 1), "gaps beyond the limit are all counted");
}

static const char header[] =
	"{\"frJson\":{\"emit\":{\"_eBuffer\":{\"ebName\":\"B\"}},\"frames\":[{\"_flName\":\"f\",\"_flLayout\":["
	"{\"_lName\":\"a\",\"_lOffset\":0,\"_lSize\":4,\"_lType\":\"PIntegral\",\"_lKind\":\"LKSeqno\"},"
	"{\"_lName\":\"n\",\"_lOffset\":4,\"_lSize\":4,\"_lType\":\"PIntegral\",\"_lKind\":\"LKMember\"},"
	"{\"_lName\":\"z\",\"_lOffset\":8,\"_lSize\":4,\"_lType\":\"PIntegral\",\"_lKind\":\"LKSeqno\"}]}]}}";
enum { FRAME = 12, FRAMES = 3, HEAD = 8 + sizeof header - 1, FILE_BYTES = HEAD + FRAMES * FRAME };

static struct ctp_sink *sink(struct ctp_output *out, struct ctp_err *err) { return ctp_ppt_sink(out, NULL, NULL, false, NULL, err); }

static void test_cut(void)
{
	static uint8_t file[FILE_BYTES];
	struct textmem stream = {0}, back = {0};
	struct ctp_source_stats stats;
	struct ctp_err err;
	memcpy(file, CTP_PPT_MAGIC, 4);
	file[6] = (sizeof header - 1) >> 8;
	file[7] = (uint8_t)(sizeof header - 1);
	memcpy(file + 8, header, sizeof header - 1);
	for (int i = 0; i < FRAMES; i++) {
		int32_t frame[] = {i + 1, -i, i + 1};
		memcpy(file + HEAD + i * FRAME, frame, FRAME);
	}
	size_t wrong = 0;
	for (size_t n = 0; n <= FILE_BYTES; n++) {
		uint8_t *cut = malloc(n + !n); /* of exactly that size, for sanitizers */
		memcpy(cut, file, n);
		bool done = textmem_from(ctp_ppt_source("test", true, false, &err), cut, n, &stream, &stats, &err);
		size_t frames = n < HEAD ? 0 : (n - HEAD) / FRAME;
		wrong += done != (n >= HEAD) || stats.accepted != frames || stats.harmed != (done && (n - HEAD) % FRAME);
		if (done) {
			textmem_to(sink, &stream, &back);
			wrong += back.len != HEAD + frames * FRAME || memcmp(back.data, file, back.len);
		}
		free(cut);
	}
	is_u64(wrong, 0, "truncation: in the header it is an error, in a frame it is damage, and whole frames are reproduced");
	free(stream.data);
	free(back.data);
}

#define NUMBER(name, off, kind) "{\"_lName\":\"" name "\",\"_lOffset\":" #off ",\"_lSize\":4,\"_lType\":\"PIntegral\",\"_lKind\":\"" kind "\"}"

/* The shorter of two frames has its number at another offset, and the slot still has bytes of an earlier frame after it. */
static void test_begun(void)
{
	static const char two[] = "{\"emit\":{\"_eBuffer\":{\"ebName\":\"B\"}},\"frames\":["
		"{\"_flName\":\"f\",\"_flLayout\":[" NUMBER("a", 0, "LKSeqno") "," NUMBER("t", 4, "LKTypeDescrim") "," NUMBER("n", 8, "LKMember") ","
		NUMBER("z", 12, "LKSeqno") "]},"
		"{\"_flName\":\"g\",\"_flLayout\":[" NUMBER("a", 0, "LKSeqno") "," NUMBER("t", 4, "LKTypeDescrim") "," NUMBER("z", 8, "LKSeqno") "]}]}";
	static const int32_t frames[][4] = {{7, 1, 5, 7}, {8, 2, 8, 1}, {0, 2, 0, 2}};
	uint8_t file[8 + sizeof two - 1 + sizeof frames] = {'P', 'P', 'T', '1', 0, 0, (sizeof two - 1) >> 8, (uint8_t)(sizeof two - 1)};
	struct textmem stream = {0};
	struct ctp_source_stats stats;
	struct ctp_err err;
	memcpy(file + 8, two, sizeof two - 1);
	memcpy(file + 8 + sizeof two - 1, frames, sizeof frames);
	must(textmem_from(ctp_ppt_source("test", true, false, &err), file, sizeof file, &stream, &stats, &err), err.text);
	ok(stats.accepted == 2 && !stats.lost && !stats.harmed, "a slot that is being written is not taken for frame 0");
	free(stream.data);
}

/* As an attach does it: `_json` of a process, and frames as they arrive. */
static void test_live(void)
{
	static const char *const counters[] = {"cycles"};
	const char *json = header + sizeof "{\"frJson\":" - 1;
	size_t json_len = sizeof header - 1 - (sizeof "{\"frJson\":" - 1) - 1, len;
	struct textmem stream = {0}, file = {0};
	struct ctp_section sec;
	struct ctp_source_stats stats;
	struct ctp_err err;
	struct ctp_ppt_layout *l = ctp_ppt_layout_parse(json, json_len, &err);
	must(l, err.text);
	struct ctp_ppt_frames *f = ctp_ppt_frames_new(l, counters, 1, true, &err);
	struct ctp_writer *w = ctp_writer_new(textmem_append, &stream, &err);
	char *text = ctp_ppt_header(json, json_len, counters, 1, &len);
	must(f && w && text, "no memory");
	ctp_section_init(&sec);
	ctp_ppt_frames_section(f, &sec);
	ctp_writer_begin(w, &sec);
	ctp_ppt_frames_header(f, w, 5, text, len);
	for (int32_t i = 10; i < 20; i++)
		ctp_ppt_frames_put(f, w, (const uint8_t *)(int32_t[]){i, -i, i});
	ctp_writer_end(w, true);
	textmem_to(sink, &stream, &file);
	ok(file.len == 8 + len + 10 * FRAME && !memcmp(file.data + 8, text, len), "data taken from a process is a valid file");
	ok(textmem_from(ctp_ppt_source("test", true, false, &err), file.data, file.len, &stream, &stats, &err) && stats.accepted == 10 && !stats.harmed,
	   "that file is decoded");
	ctp_section_fini(&sec);
	ctp_writer_free(w);
	ctp_ppt_frames_free(f);
	ctp_ppt_layout_free(l);
	free(text);
	free(stream.data);
	free(file.data);
}

int main(void)
{
	test_gaps();
	test_sums();
	test_wrap();
	test_full();
	test_cut();
	test_begun();
	test_live();
	done_testing();
}
