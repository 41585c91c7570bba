/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * descriptors.h - what the kernel has for descriptors of other processes: the bytes or connections that wait to be taken.
 *
 * From /proc/PID/fd, /proc/PID/fdinfo, sock_diag(7) and copies of pipes. No file is opened because a process has it open. A process
 * that does not have our memory mapped is not asked, whatever numbers were named. What is not permitted, is of another network
 * namespace or of another sort is not found, and nothing is said of it.
 */
#ifndef CTP_DESCRIPTORS_H
#define CTP_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/fd-text.h"
#include "collect/proc-maps.h"
#include "collect/waited-fds.h"
#include "stream/events.h"

struct ctp_descriptors {
	const struct ctp_map_file *shm; /* as mapped by the processes */
	unsigned absent;  /* see ctp_sock_diag_find */
	bool pipes_hang;  /* a child that asked them did not return: no more are asked */
};

struct ctp_descriptor_ask {
	pid_t pid;
	int32_t fd;
	bool found; /* and so the rest is known: see CTP_DESCRIPTOR */
	enum ctp_descriptor_type type;
	uint64_t unread, unsent;
	bool ended;
	enum ctp_descriptor_side side;
	enum ctp_descriptor_last last;

	/* descriptors.c's own */
	enum ctp_fd_link link;
	uint32_t ino;
};

/* At most CTP_ASKED_FDS of them. */
void ctp_descriptors_ask(struct ctp_descriptors *d, struct ctp_descriptor_ask *asks, size_t n);

#endif
