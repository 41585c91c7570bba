/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * waited-fds.h - the descriptors that coroutines wait for: the CTP_WAITED_FDS that were waited for most recently.
 *
 * A reason costs a look into a hash table and a move to the front of a list. Process and number are the target's word: nothing is
 * believed of them here, and what they cost is bounded by the size of the table.
 */
#ifndef CTP_WAITED_FDS_H
#define CTP_WAITED_FDS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CTP_WAITED_FDS = 4096, /* of these, one that is stuck is the oldest of a busy server, and must not be forgotten soon */
	CTP_ASKED_FDS = 256,   /* descriptors that the kernel is asked about at a time */
};

struct ctp_waited_fd {
	uint64_t pid;
	int32_t fd;
	uint16_t chain;        /* the next of the same bucket; of this and the others: index + 1, 0: none */
	uint16_t newer, older; /* neighbours in the order of their last wait */
	uint64_t since_ns;     /* when a coroutine last began to wait for it */

	/* sampler-fds.c's: when the kernel was last asked since then, 0: not yet; and what was recorded of it */
	uint64_t asked_ns;
	bool told, ended, again; /* again: it was asked a second time, because there was something to read */
	uint8_t type, side, last;
	uint64_t unread, unsent;
};

/* All zeros: empty. */
struct ctp_waited_fds {
	uint16_t n;
	uint16_t newest, oldest;
	uint32_t adds; /* how often one was added: it changes when one is */
	uint16_t buckets[CTP_WAITED_FDS];
	struct ctp_waited_fd list[CTP_WAITED_FDS]; /* the first n are in use */
};

/* A coroutine is about to wait for it. It is the newest now; the oldest one is forgotten if there is no room. */
void ctp_waited_fds_add(struct ctp_waited_fds *w, uint64_t pid, int32_t fd, uint64_t ts_ns);

#endif
