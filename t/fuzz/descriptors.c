/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as the kernel's data on descriptors: links and fdinfo of /proc, and lists of sockets. That must not crash or read past
 * their end, and only requested sockets may be found.
 * Covers: lib/collect/fd-text.c lib/collect/sock-diag.c lib/collect/sock-last.c
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "collect/fd-text.h"
#include "collect/sock-diag.h"
#include "collect/sock-last.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_list(const char *part, size_t len, uint8_t family, uint8_t protocol)
{
	struct ctp_socket sockets[] = {{.ino = 1}, {.ino = 77}, {.ino = 4711}, {.ino = 0x01010101}};
	struct ctp_sock_ports ports = {.first = 32768, .last = 60999};
	struct ctp_sock_diag_list list = {.sockets = sockets, .n = 4, .missing = 4, .family = family, .protocol = protocol, .seq = 1,
	                                  .ports = &ports};
	size_t found = 0;
	ctp_sock_diag_part(&list, part, len);
	for (size_t i = 0; i < list.n; i++)
		found += sockets[i].found;
	if (found + list.missing != list.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + !size); /* of exact size, so that an access past its end is seen */
	uint64_t count;
	uint32_t ino;
	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	enum ctp_fd_link link = ctp_fd_text_link(text, size, &ino);
	if ((link == CTP_FD_LINK_SOCKET || link == CTP_FD_LINK_PIPE) != !!ino)
		abort();
	ctp_fd_text_eventfd(text, size, &count);
	ctp_fd_text_timerfd(text, size, &count);
	read_list(text, size, AF_INET, IPPROTO_TCP);
	read_list(text, size, AF_INET6, IPPROTO_UDP);
	read_list(text, size, AF_UNIX, 0);
	ctp_sock_last_read(text, size, 1);
	free(text);
	return 0;
}
