/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sock-last.h - whether a connection that the program began may have an answer due: what came last on it, data for the peer or data
 * of the peer.
 */
#ifndef CTP_SOCK_LAST_H
#define CTP_SOCK_LAST_H

#include "collect/sock-diag.h"

/* Sets last of the connected ones that have nothing to read, as long as there is time. */
void ctp_sock_last_ask(struct ctp_socket *sockets, size_t n, uint64_t until_ns);

/* --- for sock-last.c, and for its test ------------------------------------------------------------------------------------- */

/* The kernel's answer about one socket, as received. */
enum ctp_descriptor_last ctp_sock_last_read(const void *answer, size_t len_bytes, uint32_t seq);

#endif
