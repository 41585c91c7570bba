/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-elf.h - the symbols of ppt buffers in an ELF file, and where its segments go.
 *
 * The file is hostile: it is read with pread alone, a piece at a time, and every place and number in it is checked. Files of 64 bits
 * in this machine's byte order are understood, for ppt's control block has such pointers.
 */
#ifndef CTP_PPT_ELF_H
#define CTP_PPT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CTP_PPT_BUFFER_MAX = 100,      /* bytes of a buffer's name */
	CTP_PPT_ELF_SYMBOLS_MAX = 1536,
	CTP_PPT_ELF_SEGMENTS_MAX = 64,
};

enum ctp_ppt_part { CTP_PPT_STAT, CTP_PPT_HMEM, CTP_PPT_JSON, CTP_PPT_PARTS };

struct ctp_ppt_symbol {
	char buffer[CTP_PPT_BUFFER_MAX + 1];
	enum ctp_ppt_part part;
	bool by_document; /* __ppt_X_stat, as the document says; else _ppt_stat_X, as the generated code has it */
	uint64_t value;   /* its address before the file is loaded somewhere */
	uint64_t bytes;   /* 0: the file does not say */
};

struct ctp_ppt_segment {
	uint64_t offset, address, file_bytes, bytes;
	bool writable;
};

struct ctp_ppt_elf {
	bool fixed;  /* addresses are as the file has them */
	uint32_t nsegments, nsymbols;
	struct ctp_ppt_segment segments[CTP_PPT_ELF_SEGMENTS_MAX];
	struct ctp_ppt_symbol symbols[CTP_PPT_ELF_SYMBOLS_MAX];
};

/*
 * False: no ELF file, or one that makes no sense. Of one that has too many symbols, the first are taken. budget is bytes that may be
 * read, or looked through: what that took is taken off. Where it was too little, it is 0.
 */
bool ctp_ppt_elf_read(struct ctp_ppt_elf *elf, int fd, uint64_t *budget);

/* What a symbol is by its whole name, all but value and bytes. False: none of a buffer. */
bool ctp_ppt_elf_name(const char *name, struct ctp_ppt_symbol *symbol);

#endif
