/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pptfile.c - any bytes as a PPT1 file, and any bytes as frames after a valid header. Decoded data makes a file that is decoded
 * without new losses, and is reproduced byte for byte, also through JSONL.
 * Covers: formats/ppt
 */
#include "textmem.h"
#include "jsonl/jsonl.h"
#include "ppt/ppt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INT "\"_lType\":{\"tag\":\"PIntegral\",\"contents\":[\"PPInt\",null]}"
#define OWN(name, off, kind) "{\"_lName\":\"" name "\",\"_lOffset\":" off ",\"_lSize\":4," INT ",\"_lKind\":" kind "}"
#define FRONT OWN("f", "0", "{\"tag\":\"LKSeqno\",\"contents\":\"FrontSeq\"}")
#define TYPE OWN("t", "4", "{\"tag\":\"LKTypeDescrim\",\"contents\":2}")
#define BACK(off) OWN("z", off, "{\"tag\":\"LKSeqno\",\"contents\":\"BackSeq\"}")
#define MEMBER(name, off, size, type, end) \
	"{\"_lName\":\"" name "\",\"_lOffset\":" off ",\"_lSize\":" size ",\"_lType\":" type ",\"_lKind\":{\"tag\":\"LKMember\",\"contents\":[{}," end "]}}"
#define TIME "{\"tag\":\"PTime\"}"
#define COUNTER "{\"tag\":\"PCounter\",\"contents\":[{\"tag\":\"Expanded\",\"contents\":0},null]}"
#define HEADER(rep, frames) "{\"frJson\":{\"emit\":{\"_eBuffer\":{\"ebName\":\"B\"},\"_eTimeRep\":{\"tag\":\"" rep "\"}},\"frames\":[" frames "]}}"
#define FRAME(name, members) "{\"_flName\":\"" name "\",\"_flLayout\":[" members "]}"

static const char *const headers[] = {
	HEADER("ETimeSpec", FRAME("a", FRONT "," MEMBER("n", "4", "2", "\"PIntegral\"", "null") "," BACK("8"))), /* 12 bytes */
	HEADER("ETimeVal", FRAME("a", FRONT "," MEMBER("w", "4", "16", TIME, "null") "," BACK("20"))), /* 24 */
	HEADER("ETimeSpec", FRAME("a", FRONT "," TYPE "," MEMBER("d_start", "8", "16", TIME, "\"IntBegin\"") ","
	                                MEMBER("d_end", "24", "16", TIME, "\"IntEnd\"") "," BACK("40")) ","
	                    FRAME("b", FRONT "," TYPE "," MEMBER("c_0_start", "8", "8", COUNTER, "\"IntBegin\"") ","
	                                MEMBER("c_0_end", "16", "8", COUNTER, "\"IntEnd\"") "," MEMBER("x", "24", "8", "\"PRational\"", "null") ","
	                                MEMBER("y", "32", "4", "\"PRational\"", "null") "," BACK("40"))), /* 44 */
};

static struct ctp_sink *ppt(struct ctp_output *out, struct ctp_err *err) { return ctp_ppt_sink(out, NULL, NULL, false, NULL, err); }
static struct ctp_sink *jsonl(struct ctp_output *out, struct ctp_err *err) { return ctp_jsonl_sink(out, true, NULL, err); }

/* The input as it is, or as frames after one of the headers. */
static void make_file(const uint8_t *data, size_t size, struct textmem *file)
{
	file->len = 0;
	if (size >= 4 && !memcmp(data, CTP_PPT_MAGIC, 4)) {
		textmem_append(file, data, size);
		return;
	}
	const char *header = headers[size ? *data % (sizeof headers / sizeof *headers) : 0];
	size_t len = strlen(header);
	textmem_append(file, CTP_PPT_MAGIC, 4);
	textmem_append(file, (uint8_t[]){0, 0, (uint8_t)(len >> 8), (uint8_t)len}, 4);
	textmem_append(file, header, len);
	if (size)
		textmem_append(file, data + 1, size - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem file, stream, first, second, text;
	struct ctp_source_stats stats, again;
	struct ctp_err err;
	make_file(data, size, &file);
	if (!textmem_from(ctp_ppt_source("fuzz", true, false, &err), file.data, file.len, &stream, &stats, &err)) {
		must(*err.text, "an error without a text");
		return 0;
	}
	textmem_to(ppt, &stream, &first);
	must(first.len <= file.len, "a file has grown");
	must(textmem_from(ctp_ppt_source("fuzz", true, false, &err), first.data, first.len, &stream, &again, &err), err.text);
	must(again.accepted == stats.accepted && !again.rejected && again.lost == stats.lost, "a file is not what was decoded");
	textmem_to(ppt, &stream, &second);
	must(first.len == second.len && !memcmp(first.data, second.data, first.len), "the file is not reproduced");
	textmem_to(jsonl, &stream, &text);
	must(textmem_from(ctp_jsonl_source("fuzz", &err), text.data, text.len, &stream, &again, &err), err.text);
	must(!again.rejected, "a row is rejected");
	textmem_to(ppt, &stream, &second);
	must(first.len == second.len && !memcmp(first.data, second.data, first.len), "the file is not reproduced through JSONL");
	return 0;
}
