/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sums.c - checksums of overlapping ranges are right, and hardly a byte is summed more than once, also by the reader. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"

static uint64_t summed;
static uint32_t counted(uint32_t crc, const void *data, size_t len)
{
	summed += len;
	return ctp_crc32c(crc, data, len);
}
#define ctp_crc32c counted
#include "stream/sums.c"
#include "stream/reader.c"
#undef ctp_crc32c

#include "tap.h"

enum { BYTES = 16 << 20 };

static uint64_t state = 88172645463325252;
static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void test_shift(const uint8_t *data)
{
	bool right = true;
	for (int i = 0; i < 1000 && right; i++) {
		size_t a = random64() % 5000, b = i < 20 ? (size_t)i : random64() % 5000;
		right = (ctp_crc32c_shift(ctp_crc32c(0, data, a), b) ^ ctp_crc32c(0, data + a, b)) == ctp_crc32c(0, data, a + b);
	}
	ok(right, "the CRC of two parts is computed from theirs");
}

static void test_ranges(const uint8_t *data)
{
	static struct ctp_sums s;
	bool right = true;
	unsigned ranges = 0;
	summed = 0;
	for (uint64_t at = 3; right && at < BYTES; at += 1 + random64() % 20000, ranges++) {
		size_t most = BYTES - at < CTP_PAYLOAD_MAX ? BYTES - at : CTP_PAYLOAD_MAX;
		size_t len = random64() % 3 ? random64() % (most + 1) : random64() % (most < 3000 ? most + 1 : 3000);
		right = ctp_sums_range(&s, at, data + at, len) == ctp_crc32c(0, data + at, len);
	}
	ok(right && ranges > 500, "random ranges have the right CRC");
	ok(summed <= BYTES + (uint64_t)ranges * 3 * CTP_SUMS_BLOCK, "each byte is summed once, except at the ends of ranges");
	uint64_t far = UINT64_C(1) << 40;
	is_u64(ctp_sums_range(&s, far + 5, data, 100000), ctp_crc32c(0, data, 100000),
	       "a range far after all summed ones has the right CRC");
}

/* Consecutive valid headers, each with the longest possible, invalid payload. */
static void test_reader(uint8_t *data)
{
	enum { LEN = 6 << 20 };
	struct ctp_input in;
	struct ctp_err err;
	struct ctp_item item;
	memset(data, 0, LEN);
	for (uint8_t *h = data; h < data + LEN; h += CTP_PACKET_HEADER) {
		memcpy(h, CTP_PACKET_MAGIC, 8);
		h[CTP_PACKET_VERSION] = CTP_STREAM_VERSION;
		ctp_store_u32(h + CTP_PACKET_PAYLOAD, CTP_PAYLOAD_MAX);
		ctp_store_u32(h + CTP_PACKET_PAYLOAD_CRC, 12345);
		ctp_store_u32(h + CTP_PACKET_HEADER_CRC,
		              ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
	}
	char path[] = "/tmp/ctp-sums-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, data, LEN) != LEN || ctp_input_open(&in, path, &err))
		abort();
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	summed = 0;
	while (r && ctp_reader_next(r, &item, &err) == CTP_OK)
		;
	is_u64(ctp_reader_stats(r)->damaged_packets, LEN / CTP_PACKET_HEADER, "the reader looks at each header");
	ok(summed < 64 * (uint64_t)LEN, "and sums %llu bytes for each that it reads", (unsigned long long)summed / LEN);
	ctp_reader_free(r);
	ctp_input_close(&in);
	close(fd);
	unlink(path);
}

int main(void)
{
	uint8_t *data = malloc(BYTES);
	if (!data)
		abort();
	for (size_t i = 0; i < BYTES; i += 8)
		memcpy(data + i, &(uint64_t){random64()}, 8);
	test_shift(data);
	test_ranges(data);
	test_reader(data);
	free(data);
	return done_testing();
}
