/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-layout.c - layouts of ppt buffers: which are accepted and which are refused; and frames are
 * converted to records and back, byte for byte.
 */
#include "ppt/ppt-frames.h"

#include <malloc.h>

#include "stream/reader.h"
#include "tap.h"

#define SEQ(where, off) \
	"{\"_lName\":\"__ppt_" where "\",\"_lOffset\":" #off ",\"_lSize\":4,\"_lType\":{\"tag\":\"PIntegral\",\"contents\":[\"PPInt\",null]}," \
	"\"_lKind\":{\"tag\":\"LKSeqno\",\"contents\":\"" where "\"}}"
#define TYPE(off) \
	"{\"_lName\":\"__ppt_type\",\"_lOffset\":" #off ",\"_lSize\":4,\"_lType\":{\"tag\":\"PIntegral\",\"contents\":[\"PPInt\",null]}," \
	"\"_lKind\":{\"contents\":2,\"tag\":\"LKTypeDescrim\"}}"
#define MEMBER(name, off, size, type, base, end) \
	"{\"_lKind\":{\"tag\":\"LKMember\",\"contents\":[{\"fmName\":\"" base "\"}," end "]},\"_lType\":" type ",\"_lSize\":" #size \
	",\"_lOffset\":" #off ",\"_lName\":\"" name "\",\"_lAlignment\":4}"
#define INT "{\"tag\":\"PIntegral\",\"contents\":[\"PPInt\",null]}"
#define BYTE "{\"tag\":\"PIntegral\",\"contents\":[\"PPByte\",null]}"
#define RATIONAL "{\"tag\":\"PRational\"}"
#define TIME "{\"tag\":\"PTime\"}"
#define COUNTER(n) "{\"tag\":\"PCounter\",\"contents\":[{\"tag\":\"Expanded\",\"contents\":" #n "},null]}"
#define BEGIN "{\"tag\":\"IntBegin\",\"contents\":[0,1]}"
#define END "{\"tag\":\"IntEnd\",\"contents\":[0,1]}"
#define PADDING(off, size) \
	"{\"_lName\":\"pad\",\"_lOffset\":" #off ",\"_lSize\":" #size ",\"_lType\":" BYTE ",\"_lKind\":{\"tag\":\"LKPadding\",\"contents\":1}}"
#define EMIT "\"emit\":{\"_eBuffer\":{\"ebName\":\"Buf\",\"ebMinElements\":64}," \
	"\"_eTimeRep\":{\"contents\":\"ETimeClockMonotonic\",\"tag\":\"ETimeSpec\"},\"_eRuntime\":{\"erMultithread\":true}}"

/* 112 bytes with everything in it, and one of 20 that is shorter. */
static const char full[] =
	"{\"frames\":[{\"_flLayout\":["
	SEQ("BackSeq", 108) "," TYPE(4) "," SEQ("FrontSeq", 0) ","
	MEMBER("d_start", 8, 16, TIME, "d", BEGIN) "," MEMBER("d_end", 24, 16, TIME, "d", END) ","
	MEMBER("ev_0_start", 40, 8, COUNTER(0), "ev", BEGIN) "," MEMBER("ev_0_end", 48, 8, COUNTER(0), "ev", END) ","
	MEMBER("ev_1_start", 56, 8, COUNTER(1), "ev", BEGIN) "," MEMBER("ev_1_end", 64, 8, COUNTER(1), "ev", END) ","
	MEMBER("x", 72, 8, RATIONAL, "x", "null") "," MEMBER("y", 80, 4, RATIONAL, "y", "null") ","
	MEMBER("n", 84, 4, INT, "n", "null") "," MEMBER("b", 88, 1, BYTE, "b", "null") "," PADDING(89, 3) ","
	MEMBER("text", 92, 5, BYTE, "text", "null") "," MEMBER("ppt_seqno", 100, 4, INT, "ppt_seqno", "null")
	"],\"_flName\":\"all\"},"
	"{\"_flName\":\"small\",\"_flLayout\":[" SEQ("FrontSeq", 0) "," TYPE(4) "," MEMBER("n", 8, 4, INT, "n", "null") ","
	SEQ("BackSeq", 16) "]}],\"abi\":\"1.0.0\"," EMIT ",\"tags\":[]}";

static struct ctp_ppt_layout *parse(const char *json)
{
	struct ctp_err err;
	struct ctp_ppt_layout *l = ctp_ppt_layout_parse(json, strlen(json), &err);
	if (!l)
		diag("%s", err.text);
	return l;
}

static void refused(const char *json, const char *why, const char *name)
{
	struct ctp_err err = {0};
	struct ctp_ppt_layout *l = ctp_ppt_layout_parse(json, strlen(json), &err);
	ok(!l && strstr(err.text, why), "%s", name);
	if (l || !strstr(err.text, why))
		diag("%s", err.text);
	ctp_ppt_layout_free(l);
}

static void test_layout(void)
{
	struct ctp_ppt_layout *l = parse(full);
	ok(l, "a layout with all types is accepted");
	is(l->buffer, "Buf", "it has its buffer");
	is(l->abi, "1.0.0", "it has its abi");
	is(l->clock, "monotonic", "it has its clock");
	ok(l->multithread && l->min_elements == 64 && l->rep == CTP_PPT_TIMESPEC, "it has its threads, elements and kind of time");
	is_u64(l->nframes, 2, "it has two frames");
	is_u64(l->size, 112, "its size is that of the largest frame");
	const struct ctp_ppt_frame *f = l->frames;
	ok(f->size == 112 && f->align == 8 && f->stride == 112, "a frame has its size in a file and in a ring");
	ok(l->frames[1].size == 20 && l->frames[1].align == 4, "so has the other frame");
	const struct ctp_ppt_member *m = f->members;
	ok(m[0].kind == CTP_PPT_FRONT && m[1].kind == CTP_PPT_FRAME_TYPE && m[f->back].kind == CTP_PPT_BACK, "members are sorted");
	ok(m[2].end == CTP_PPT_BEGIN && m[2].other == 3 && m[3].end == CTP_PPT_END && m[3].other == 2,
	   "the two ends of an interval refer to each other");
	ok(m[4].counter == 0 && m[4].other == 5 && m[6].counter == 1 && m[6].other == 7,
	   "intervals of counters have their counter and their other end");
	ok(m[8].type == CTP_PPT_DOUBLE && m[9].type == CTP_PPT_FLOAT, "a rational is a double or a float by its size");
	ctp_ppt_layout_free(l);
}

static void test_spellings(void)
{
	struct ctp_ppt_layout *l = parse("{\"buffer\":{" EMIT ",\"frames\":[{\"_flName\":\"f\",\"_flLayout\":["
	                                 "{\"_lName\":\"a\",\"_lOffset\":0,\"_lSize\":4,\"_lType\":\"PIntegral\",\"_lKind\":\"LKSeqno\"},"
	                                 "{\"_lName\":\"t\",\"_lOffset\":8,\"_lSize\":16,\"_lType\":\"PTime\",\"_lKind\":{\"tag\":\"LKMember\"}},"
	                                 "{\"_lName\":\"z\",\"_lOffset\":24,\"_lSize\":4,\"_lType\":{\"tag\":\"PIntegral\"},\"_lKind\":{\"tag\":\"LKSeqno\"}}]}]},"
	                                 "\"frCounters\":[\"CYCLES\"]}");
	ok(l && l->nframes == 1 && l->frames->front == 0 && l->frames->back == 2 && l->frames->type < 0,
	   "a layout below \"buffer\", with kinds without contents, is accepted");
	ok(l && l->frames->size == 28 && l->frames->stride == 32, "28 bytes in a file are 32 in a ring");
	ok(l && l->ncounters == 1 && !strcmp(l->counters[0], "CYCLES"), "the counters of a file's header are read");
	ctp_ppt_layout_free(l);
}

#define ONE(members) "{" EMIT ",\"frames\":[{\"_flName\":\"f\",\"_flLayout\":[" members "]}]}"

static void test_refused(void)
{
	refused("", "object", "nothing");
	refused("[]", "object", "an array");
	refused("{}", "no name", "an empty object");
	refused("{" EMIT "}", "no frames", "no frames");
	refused("{" EMIT "} x", "follows", "something after it");
	refused("{\"abi\":\"2.0.0\"," EMIT "}", "abi is 2.0.0, and 1.0.0 is known", "another abi");
	refused("{\"abi\":\"10\"," EMIT "}", "abi is 10, ", "one that begins as the known one");
	refused("{\"abi\":1," EMIT "}", "text", "one that is no text");
	refused("{\"frFormat\":\"9.9\",\"frJson\":{" EMIT "}}", "frFormat is 9.9, and 1.0.0 is known", "another format of a file");
	refused(ONE(SEQ("FrontSeq", 0)), "lacks one", "no number at the back");
	refused(ONE(SEQ("FrontSeq", 0) "," SEQ("BackSeq", 2)), "overlap", "members that overlap");
	refused(ONE(SEQ("FrontSeq", 0) "," SEQ("FrontSeq", 8) "," SEQ("BackSeq", 12)), "twice", "two numbers in front");
	refused(ONE(SEQ("FrontSeq", 0) "," SEQ("BackSeq", 1048576)), "too large", "an offset beyond all frames");
	refused(ONE(SEQ("FrontSeq", 0) "," SEQ("BackSeq", 99999999999)), "_lOffset: a number is missing or too large", "an offset that is no u32");
	refused("{\"emit\":7}", "emit: an object", "a key is named");
	refused("{" EMIT ",\"frames\":[{\"_flName\":\"f\",\"_flLayout\":[{\"_lName\":\"n\",\"_lOffset\":0}]}]}", "n: lacks its _lType", "and what a member lacks");
	refused("{" EMIT ",\"frames\":[{\"_flName\":\"f\"}]}", "f: a frame without _flLayout", "and a frame");
	refused(ONE(SEQ("FrontSeq", 0) "," SEQ("BackSeq", -4)), "number", "a negative offset");
	refused(ONE(SEQ("FrontSeq", 0) "," MEMBER("t", 8, 8, TIME, "t", "null") "," SEQ("BackSeq", 16)), "size", "a time of 8 bytes");
	refused(ONE(SEQ("FrontSeq", 0) "," MEMBER("t", 8, 8, "{\"tag\":\"PNew\"}", "t", "null") "," SEQ("BackSeq", 16)), "type",
	        "a type that is not known");
	refused(ONE(SEQ("FrontSeq", 0) "," MEMBER("a\\u0000b", 8, 4, INT, "t", "null") "," SEQ("BackSeq", 16)), "name", "a NUL in a name");
	refused("{" EMIT ",\"frames\":[{\"_flName\":\"f\",\"_flLayout\":[" SEQ("FrontSeq", 0) "," SEQ("BackSeq", 4) "]},"
	        "{\"_flName\":\"g\",\"_flLayout\":[" SEQ("FrontSeq", 0) "," SEQ("BackSeq", 4) "]}]}", "no type", "two frames without a type");
	refused("{" EMIT ",\"frames\":[{\"_flName\":\"f\",\"_flLayout\":[" SEQ("FrontSeq", 0) "," TYPE(4) "," SEQ("BackSeq", 8) "]},"
	        "{\"_flName\":\"f\",\"_flLayout\":[" SEQ("FrontSeq", 0) "," TYPE(4) "," SEQ("BackSeq", 8) "]}]}", "same name", "a name twice");
	char *deep = malloc(200001);
	memset(deep, '[', 200000);
	deep[200000] = '\0';
	memcpy(deep, "{\"emit\":", 8);
	refused(deep, "no JSON", "deeply nested");
	memcpy(deep, "{\"xmit\":", 8);
	refused(deep, "no JSON", "deeply nested, in what is skipped");
	for (int i = 0; i < 20000; i++)
		memcpy(deep + 10 * i, "{\"buffer\":", 10);
	refused(deep, "no JSON", "buffers in buffers");
	free(deep);
	for (size_t n = 0; n < sizeof full - 1; n++) {
		struct ctp_err err;
		if (ctp_ppt_layout_parse(full, n, &err)) {
			ok(false, "cut at %zu", n);
			return;
		}
	}
	ok(true, "a text truncated at any byte is refused");
}

static void test_header(void)
{
	const char *counters[] = {"cpu\"cycles", "page-faults"};
	size_t len;
	char *text = ctp_ppt_header(full, sizeof full - 1, counters, 2, &len);
	struct ctp_err err;
	struct ctp_ppt_layout *l = ctp_ppt_layout_parse(text, len, &err);
	ok(l && l->nframes == 2 && l->ncounters == 2 && !strcmp(l->counters[0], counters[0]) && !strcmp(l->counters[1], counters[1]),
	   "a buffer without a header gets one");
	ctp_ppt_layout_free(l);
	free(text);
}

/* --- frames -------------------------------------------------------------------------------------------------------------- */

static uint8_t frame[112];

static void put(unsigned at, const void *v, size_t n) { memcpy(frame + at, v, n); }
#define PUT(at, type, v) put(at, &(type){v}, sizeof(type))

static void fill(int32_t seqno)
{
	memset(frame, 0, sizeof frame);
	PUT(0, int32_t, seqno);
	PUT(4, int32_t, 1);
	PUT(8, int64_t, 5);
	PUT(16, int64_t, 999999999);
	PUT(24, int64_t, 7);
	PUT(32, int64_t, 1);
	PUT(40, uint64_t, 100);
	PUT(48, uint64_t, 130);
	PUT(56, uint64_t, UINT64_MAX);
	PUT(64, uint64_t, 1);
	PUT(72, double, -1.5);
	PUT(80, float, 0.1f);
	PUT(84, int32_t, -7);
	PUT(88, uint8_t, 200);
	put(92, "a\0bcd", 5);
	PUT(100, int32_t, 11);
	PUT(108, int32_t, seqno);
}

static char *stream;
static size_t stream_len;

static bool take(void *arg, const void *packet, size_t len)
{
	(void)arg;
	stream = realloc(stream, stream_len + len);
	memcpy(stream + stream_len, packet, len);
	stream_len += len;
	return true;
}

/* Puts one frame through a stream and back; *val is the value of the field in the stream. */
static bool through(struct ctp_ppt_frames *f, const char *field, uint64_t *val, int64_t *place)
{
	struct ctp_err err;
	struct ctp_section sec;
	struct ctp_writer *w = ctp_writer_new(take, NULL, &err);
	stream_len = 0;
	ctp_section_init(&sec);
	ctp_writer_begin(w, &sec);
	ctp_ppt_frames_put(f, w, frame);
	ctp_writer_end(w, true);
	ctp_writer_free(w);
	ctp_section_fini(&sec);
	struct ctp_input in;
	struct ctp_item item;
	ctp_input_mem(&in, stream, stream_len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	bool same = false;
	while (ctp_reader_next(r, &item, &err) == CTP_OK) {
		if (item.kind != CTP_ITEM_RECORDS)
			continue;
		uint8_t back[sizeof frame];
		const struct ctp_record *rec = item.batch.rec;
		struct ctp_ppt_binding *b = ctp_ppt_frames_bind(f, rec->cls, &err);
		*place = ctp_ppt_frames_back(f, b, rec->val, back);
		free(b);
		same = item.batch.n == 1 && !memcmp(frame, back, sizeof frame);
		int at = ctp_class_field(rec->cls, field);
		*val = at < 0 ? 0xdead : ctp_type_is_text(rec->cls->fields[at].type) ? ctp_str_val(rec->val[at])->len : rec->val[at];
	}
	ctp_reader_free(r);
	ctp_input_close(&in);
	return same;
}

static void test_frames(void)
{
	const char *counters[] = {"PAGE-FAULTS"};
	struct ctp_err err;
	struct ctp_ppt_layout *l = parse(full);
	struct ctp_ppt_frames *f = ctp_ppt_frames_new(l, counters, 1, true, &err);
	uint64_t v;
	int64_t place;
	struct {
		const char *field;
		uint64_t want;
	} fields[] = {
		{"ppt_seqno", -5}, {"d_start", 5999999999}, {"d_end", 7000000001}, {"d_duration", 1000000002}, {"ev_page_faults", 30}, {"ev_0_start", 100},
		{"ev_1", 2}, {"n", -7}, {"b", 200}, {"text", 5}, {"ppt_seqno_2", 11}, {"ppt_padding", 0}, {"ppt_raw", 0},
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		fill(-5);
		ok(through(f, fields[i].field, &v, &place) && place == (int64_t)i && v == fields[i].want, "%s", fields[i].field);
	}
	fill(1);
	frame[90] = 9;
	ok(through(f, "ppt_padding", &v, &place) && v == 10, "padding and the bytes between members are kept");
	fill(1);
	PUT(16, int64_t, 1000000000);
	ok(through(f, "ppt_raw", &v, &place) && v == 112, "a time with a billion nanoseconds is kept as raw bytes");
	ok(through(f, "d_start", &v, &place) && v == 6000000000, "it still has its time");
	PUT(16, int64_t, -1);
	ok(through(f, "d_start", &v, &place) && v == 4999999999, "negative nanoseconds are subtracted");
	fill(1);
	PUT(8, int64_t, -3);
	ok(through(f, "d_start", &v, &place) && v == 0 && ctp_ppt_frames_cut(f) == 1,
	   "a time before the clock's zero becomes 0 and is counted");
	PUT(24, int64_t, -3);
	ok(through(f, "d_end", &v, &place) && v == (uint64_t)-2999999999, "a further time can be negative");
	PUT(8, int64_t, INT64_MIN);
	ok(through(f, "d_start", &v, &place) && v == 0, "seconds too small for nanoseconds become 0");
	PUT(8, int64_t, INT64_MAX);
	ok(through(f, "d_start", &v, &place) && v == INT64_MAX, "seconds too large for nanoseconds become the largest time");
	fill(1);
	PUT(72, uint64_t, 0x7ff8000000001234);
	ok(through(f, "ppt_raw", &v, &place) && v == 112, "a NaN with a payload is kept as raw bytes");
	fill(1);
	PUT(80, uint32_t, 0xffc00001);
	ok(through(f, "ppt_raw", &v, &place) && v == 112, "a NaN with a payload in a float is kept as raw bytes");
	fill(1);
	PUT(4, int32_t, 3);
	ok(ctp_ppt_frames_type(f, frame) == -1 && !ctp_ppt_frames_whole(f, frame), "a frame of an unknown type is not whole");
	PUT(4, int32_t, 2);
	ok(!ctp_ppt_frames_whole(f, frame), "a smaller frame with its number in the wrong place is not whole");
	PUT(16, int32_t, 1);
	ok(ctp_ppt_frames_whole(f, frame) && through(f, "ppt_padding", &v, &place) && v == 96, "the smaller frame is reproduced");
	ctp_ppt_frames_free(f);
	ctp_ppt_layout_free(l);
}

/* A duplicate key: if the interval's start were also padding, its end would be in no field. */
static void test_twice(void)
{
	struct ctp_err err;
	struct ctp_ppt_layout *l = parse(ONE(SEQ("FrontSeq", 0) ",{\"_lKind\":{\"tag\":\"LKMember\",\"contents\":[{\"fmName\":\"ev\"}," BEGIN "]},"
	                                     "\"_lKind\":\"LKPadding\",\"_lName\":\"s\",\"_lOffset\":40,\"_lSize\":8,\"_lType\":" COUNTER(0) "},"
	                                     MEMBER("e", 48, 8, COUNTER(0), "ev", END) "," SEQ("BackSeq", 108)));
	struct ctp_ppt_frames *f = l ? ctp_ppt_frames_new(l, NULL, 0, true, &err) : NULL;
	uint64_t v;
	int64_t place;
	fill(1);
	ok(f && through(f, "e", &v, &place) && v == 130, "an interval whose start became padding still has its end");
	ctp_ppt_frames_free(f);
	ctp_ppt_layout_free(l);
}

static size_t held(void)
{
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 m = mallinfo2(); /* all 0 under a sanitizer */
	return m.uordblks + m.hblkhd;
#endif
#endif
	return 0;
}

/* The maximum number of frames of the maximum size; one frame's padding covers everything but the numbers. */
static void test_many(void)
{
	struct ctp_err err;
	char *json = malloc(CTP_PPT_JSON_MAX), *p = json + sprintf(json, "{" EMIT ",\"frames\":[");
	for (int i = 0; i < CTP_PPT_FRAMES_MAX; i++)
		p += sprintf(p, "%s{\"_flName\":\"f%d\",\"_flLayout\":[" SEQ("FrontSeq", 0) "," TYPE(4) "," MEMBER("t", 8, 16, TIME, "t", "null") ","
		             SEQ("BackSeq", 1048572) "]}", i ? "," : "", i);
	strcpy(p, "]}");
	struct ctp_ppt_layout *l = parse(json);
	size_t before = held();
	struct ctp_ppt_frames *f = l ? ctp_ppt_frames_new(l, NULL, 0, true, &err) : NULL;
	ok(f && held() - before < 16 << 20, "many large frames take little memory: %zu bytes", held() - before);
	ctp_ppt_frames_free(f);
	ctp_ppt_layout_free(l);
	free(json);
}

int main(void)
{
	test_layout();
	test_spellings();
	test_refused();
	test_header();
	test_frames();
	test_twice();
	test_many();
	free(stream);
	done_testing();
}
