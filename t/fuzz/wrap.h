/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * wrap.h - payloads as a stream, for a fuzzer: packets whose checksums hold, since no fuzzer would get past those.
 */
#ifndef CTP_T_WRAP_H
#define CTP_T_WRAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/crc32c.h"
#include "stream/codec.h"
#include "stream/packet.h"

/*
 * Payloads of at most 255 x 16 bytes, each after a byte for its length, one for its count of records and two for each of its first
 * lanes, become packets.
 * The room for them is the caller's.
 */
static inline size_t wrap_room(size_t size) { return size + (size / 2 + 1) * CTP_PACKET_HEADER; }
static inline size_t wrap(const uint8_t *data, size_t size, uint8_t *out)
{
	size_t n = 0;
	for (uint64_t number = 0; size >= 6; number++) {
		size_t len = (size_t)data[0] * 16, records = data[1];
		len = len < size - 6 ? len : size - 6;
		size_t heads = data[2] | (size_t)data[3] << 8, keys = data[4] | (size_t)data[5] << 8;
		heads = heads < len ? heads : len;
		keys = keys < len - heads ? keys : len - heads;
		data += 6, size -= 6;
		uint8_t *h = out + n;
		memset(h, 0, CTP_PACKET_HEADER);
		memcpy(h, CTP_PACKET_MAGIC, 8);
		memcpy(h + CTP_PACKET_HEADER, data, len);
		ctp_store_u32(h + CTP_PACKET_PAYLOAD_CRC, ctp_crc32c(0, data, len));
		ctp_store_u32(h + CTP_PACKET_PAYLOAD, (uint32_t)len);
		ctp_store_u32(h + CTP_PACKET_RECORDS, (uint32_t)records);
		ctp_store_u24(h + CTP_PACKET_HEADS, (uint32_t)heads);
		ctp_store_u24(h + CTP_PACKET_KEYS, (uint32_t)keys);
		ctp_store_u64(h + CTP_PACKET_NUMBER, number);
		h[CTP_PACKET_VERSION] = CTP_STREAM_VERSION;
		ctp_store_u32(h + CTP_PACKET_HEADER_CRC,
		              ctp_crc32c(0, h + CTP_PACKET_PAYLOAD_CRC, CTP_PACKET_HEADER - CTP_PACKET_PAYLOAD_CRC));
		n += CTP_PACKET_HEADER + len;
		data += len, size -= len;
	}
	return n;
}

#endif
