/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * buildid.h - the build-id of an ELF file or image, which says later which debug information belongs to it.
 */
#ifndef CTP_BUILDID_H
#define CTP_BUILDID_H

#include <stddef.h>
#include <stdint.h>

enum { CTP_BUILD_ID_MAX = 64 }; /* bytes; SHA-1 has 20 */

/* Both return its length, 0 for none or for what is no ELF file. What is read is hostile. */
size_t ctp_buildid_file(int fd, uint8_t id[CTP_BUILD_ID_MAX]);
size_t ctp_buildid_image(const void *image, size_t len_bytes, uint8_t id[CTP_BUILD_ID_MAX]);

#endif
