/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* cacheray-bytes.h - numbers and lengths of a Cacheray trace in a spelling, which is known. */
#ifndef CTP_CACHERAY_BYTES_H
#define CTP_CACHERAY_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cacheray/cacheray.h"
#include "stream/record.h"

enum {
	CTP_CACHERAY_READ, CTP_CACHERAY_WRITE, CTP_CACHERAY_RTTA_ADD, CTP_CACHERAY_RTTA_REMOVE,
	CTP_CACHERAY_SORT = 0x3f, CTP_CACHERAY_ATOMIC = 0x40, CTP_CACHERAY_UNALIGNED = 0x80, /* of a tag */
	CTP_CACHERAY_FIXED_MAX = 1 + 8 + 8 + 3 * 4, /* bytes of a record without its name */
	CTP_CACHERAY_NAME_MAX = CTP_STRING_MAX,     /* a longer one is no record */
};

static inline uint64_t ctp_cacheray_u64(struct ctp_cacheray_spelling sp, const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return sp.order == CTP_CACHERAY_BIG ? be64toh(v) : le64toh(v);
}

static inline uint32_t ctp_cacheray_u32(struct ctp_cacheray_spelling sp, const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return sp.order == CTP_CACHERAY_BIG ? be32toh(v) : le32toh(v);
}

static inline uint8_t *ctp_cacheray_put_u64(struct ctp_cacheray_spelling sp, uint8_t *p, uint64_t v)
{
	v = sp.order == CTP_CACHERAY_BIG ? htobe64(v) : htole64(v);
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

static inline uint8_t *ctp_cacheray_put_u32(struct ctp_cacheray_spelling sp, uint8_t *p, uint32_t v)
{
	v = sp.order == CTP_CACHERAY_BIG ? htobe32(v) : htole32(v);
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

/* Where the fields of a record begin, after its tag. */
static inline size_t ctp_cacheray_after_address(struct ctp_cacheray_spelling sp) { return 1 + (size_t)sp.address_bytes; }

static inline uint64_t ctp_cacheray_get_address(struct ctp_cacheray_spelling sp, const uint8_t *rec)
{
	return sp.address_bytes == 8 ? ctp_cacheray_u64(sp, rec + 1) : ctp_cacheray_u32(sp, rec + 1);
}

static inline uint8_t *ctp_cacheray_put_address(struct ctp_cacheray_spelling sp, uint8_t *p, uint64_t address)
{
	return sp.address_bytes == 8 ? ctp_cacheray_put_u64(sp, p, address) : ctp_cacheray_put_u32(sp, p, (uint32_t)address);
}

/* Bytes of an access, a remove, and an add without its name. */
static inline size_t ctp_cacheray_access_bytes(struct ctp_cacheray_spelling sp) { return ctp_cacheray_after_address(sp) + 1 + 8; }
static inline size_t ctp_cacheray_remove_bytes(struct ctp_cacheray_spelling sp) { return ctp_cacheray_after_address(sp) + 8; }
static inline size_t ctp_cacheray_add_bytes(struct ctp_cacheray_spelling sp) { return ctp_cacheray_remove_bytes(sp) + 3 * 4; }

static inline bool ctp_cacheray_usual_size(uint8_t size) { return size && size <= 16 && !(size & (size - 1)); }

#endif
