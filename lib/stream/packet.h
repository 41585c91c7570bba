/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * packet.h - how a packet looks from outside, and the codes of what is inside. The manual is ctp-stream.5.
 */
#ifndef CTP_PACKET_H
#define CTP_PACKET_H

#include <stdint.h>

#define CTP_PACKET_MAGIC "\x8e" "cTP\r\n\x1a\n"

enum {
	/* offsets in the header, which is little-endian throughout */
	CTP_PACKET_HEADER_CRC = 8,   /* u32, of what follows it in the header */
	CTP_PACKET_PAYLOAD_CRC = 12, /* u32 */
	CTP_PACKET_PAYLOAD = 16,     /* u32, bytes */
	CTP_PACKET_RECORDS = 20,     /* u32 */
	CTP_PACKET_SECTION = 24,     /* u64 */
	CTP_PACKET_NUMBER = 32,      /* u64, from 0 in each section */
	CTP_PACKET_FIRST = 40,       /* u64, earliest time of a record; above the last if there is none */
	CTP_PACKET_LAST = 48,        /* u64 */
	CTP_PACKET_VERSION = 56,     /* u8 */
	CTP_PACKET_FLAGS = 57,       /* u8 */
	CTP_PACKET_HEADS = 58,       /* u24, bytes of the payload's first lane */
	CTP_PACKET_KEYS = 61,        /* u24, bytes of its second; the third is the rest */
	CTP_PACKET_HEADER = 64,      /* bytes */

	CTP_STREAM_VERSION = 2,
	CTP_PACKET_IS_LAST = 1,      /* flag: closes its section, in an orderly way */

	CTP_PAYLOAD_MAX = 4 << 20,   /* bytes; a reader need not take more */
	CTP_STRINGS_MAX = 65536,     /* interned in one packet */

	/*
	 * In the first lane, the two low bits of an item's head: a record of the packet's class 0 or 1, of a class that is named,
	 * or no record.
	 */
	CTP_HEAD_CLASS = 2,
	CTP_HEAD_CONTROL = 3,

	/* The rest of a control's head. All have a length, so that those not known can be skipped. */
	CTP_CONTROL_SECTION = 0,
	CTP_CONTROL_CLASS = 1,
	CTP_CONTROL_MARK = 2,

	/* The code in front of a string: a new one to remember, one not to be remembered, or 2 + a handle. */
	CTP_STRING_NEW = 0,
	CTP_STRING_LITERAL = 1,
	CTP_STRING_HANDLE = 2, /* handle 0 is the empty string, n + 1 the n-th that was remembered */
};

_Static_assert(CTP_PAYLOAD_MAX < 1 << 24, "the length of a lane has 24 bits");

#endif
