/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray.h - Cacheray's traces of memory accesses: no header, no version, no time; records one after the other, in the byte order
 * and with the addresses of the host that wrote them.
 *
 *	access  tag 0 read or 1 write (+ 0x40 atomic, + 0x80 unaligned), address, u8 size, u64 thread
 *	add     tag 2, address, u64 thread, u32 element size, u32 count, u32 length, and that many bytes: a type's name
 *	remove  tag 3, address, u64 thread
 *
 * The source gives each trace a section, and each record the next number for its time. Bytes that are no record become a record of
 * their own, cacheray_damage: cacheray-judge.h says by what they are known. The sink writes what the source has read, byte for byte.
 */
#ifndef CTP_CACHERAY_H
#define CTP_CACHERAY_H

#include "io/output.h"
#include "stream/sink.h"

/* How a host spells numbers. */
struct ctp_cacheray_spelling {
	enum { CTP_CACHERAY_UNKNOWN, CTP_CACHERAY_LITTLE, CTP_CACHERAY_BIG } order;
	uint8_t address_bytes; /* 8 or 4; 0: not known */
};

/* What spelling leaves open is found out from the first records of each input. tool: the attribute of the sections. */
struct ctp_source *ctp_cacheray_source(const char *tool, struct ctp_cacheray_spelling spelling, struct ctp_err *err);

/* What spelling leaves open is as the sections say; little and 8 where they do not. Takes out over: finish closes it, free abandons it. */
struct ctp_sink *ctp_cacheray_sink(struct ctp_output *out, struct ctp_cacheray_spelling spelling, struct ctp_err *err);

/* Of an option's argument, "little" or "big", "8" or "4": false if it is none. */
bool ctp_cacheray_order(const char *text, struct ctp_cacheray_spelling *spelling);
bool ctp_cacheray_address(const char *text, struct ctp_cacheray_spelling *spelling);

#endif
