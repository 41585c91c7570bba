/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sock-diag.h - what the kernel has queued for sockets, by their inode numbers: sock_diag(7), of which ss(8) makes its list.
 *
 * It shows the sockets of our own network namespace, TCP, UDP and Unix, to everybody. There is no question for one inode number, so
 * all sockets of a sort are listed, until those that are looked for were found or the time is over. Nothing here blocks: the kernel
 * makes each part of a list when it is read.
 */
#ifndef CTP_SOCK_DIAG_H
#define CTP_SOCK_DIAG_H

#include <linux/inet_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/events.h"

struct ctp_socket {
	uint32_t ino;
	bool found;
	enum ctp_descriptor_type type;
	uint32_t unread, unsent; /* as in CTP_DESCRIPTOR */
	bool ended;
	enum ctp_descriptor_side side;
	enum ctp_descriptor_last last;
	uint8_t family;             /* of a TCP connection, */
	struct inet_diag_sockid id; /* and by what the kernel finds it */
};

/* The ports on which somebody listens, and the range from which the kernel takes those of programs that connect. */
struct ctp_sock_ports {
	uint8_t listening[65536 / 8];
	unsigned first, last;
};

/* Fills those that are found. sockets: in the order of their numbers, each once. *absent: bits of what this kernel cannot list. */
void ctp_sock_diag_find(struct ctp_socket *sockets, size_t n, unsigned *absent);

/* --- for sock-diag.c, and for its test ------------------------------------------------------------------------------------- */

struct ctp_sock_diag_list {
	struct ctp_socket *sockets;
	size_t n, missing; /* missing: not found yet */
	uint8_t family, protocol; /* protocol 0: of a Unix socket */
	uint32_t seq;
	bool absent; /* the kernel has no such list */
	struct ctp_sock_ports *ports; /* of TCP: filled as listeners are found, which the kernel lists first; null: no side is known */
};

/* A part of a list, as received: fills the sockets that are in it. False: it was the last, all are found, or it is malformed. */
bool ctp_sock_diag_part(struct ctp_sock_diag_list *list, const void *part, size_t len_bytes);

#endif
