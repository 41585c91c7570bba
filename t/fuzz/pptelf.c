/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * pptelf.c - any bytes as a file that a process has mapped, in search of the symbols of ppt buffers; and any bytes as a ring of frames.
 *
 * Covers: formats/ppt/ppt-elf.c formats/ppt/ppt-ring.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "must.h"
#include "ppt/ppt-elf.h"
#include "ppt/ppt-ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static struct ctp_ppt_elf elf;

static void read_elf(const uint8_t *data, size_t size)
{
	uint64_t budget = 1 << 24;
	if (file < 0)
		file = memfd_create("elf", MFD_CLOEXEC);
	must(file >= 0 && !ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size, "no file");
	bool good = ctp_ppt_elf_read(&elf, file, &budget);
	must(budget <= 1 << 24, "more was read than there was to be");
	must(!good || elf.nsegments, "a program without a segment");
	must(elf.nsegments <= CTP_PPT_ELF_SEGMENTS_MAX && elf.nsymbols <= CTP_PPT_ELF_SYMBOLS_MAX, "too many");
	for (uint32_t i = 0; i < elf.nsymbols; i++) {
		const struct ctp_ppt_symbol *s = &elf.symbols[i];
		must(s->part < CTP_PPT_PARTS && memchr(s->buffer, 0, sizeof s->buffer) && s->buffer[0], "a symbol without a name");
	}
}

/* The first bytes say how the ring is; each of the following is a byte of a slot, changed meanwhile. */
static void read_ring(const uint8_t *data, size_t size)
{
	static uint32_t memory[4096];
	uint32_t frame[64], words = 3 + data[0] % 62, looks = 0;
	struct ctp_ppt_ring r = {.data = memory, .slots = 1 + data[1] % (sizeof memory / sizeof *memory / words), .stride = 4 * words,
	                         .size = 4 * words, .back = 4 * (words - 1)};
	struct ctp_ppt_missing missing;
	uint64_t now_ns = 1, given = 0, lost = 0;
	memset(memory, 0, sizeof memory);
	for (size_t i = 4; i + 3 < size && looks < 4096; i += 4) {
		memory[(data[i] | data[i + 1] << 8) % (r.slots * words)] = data[i + 2] | (data[i + 3] & 0x80u) << 24;
		now_ns += 10000000;
		enum ctp_ppt_found found = ctp_ppt_ring_next(&r, frame, &missing, now_ns);
		for (looks++; found && looks < 4096; looks++) {
			must(found == CTP_PPT_GAP ? missing.count >= missing.torn && missing.count : frame[0] == frame[words - 1], "a torn frame");
			given += found == CTP_PPT_FRAME;
			lost += found == CTP_PPT_GAP ? missing.count : 0;
			found = ctp_ppt_ring_next(&r, frame, &missing, now_ns);
		}
		if (found)
			break;
	}
	must(looks >= 4096 || (given == r.frames && lost == r.lost), "another count");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	read_elf(data, size);
	read_ring(data, size);
	return 0;
}
