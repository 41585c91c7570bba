/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sock-last.c - asks about one connection after the other, which the kernel answers at once.
 *
 * The kernel has the times of the last data sent, of the last data received, and of the last segment of the peer that confirmed
 * anything, in steps of some milliseconds. A question and its answer often have the same time. If the peer confirmed something
 * later, without data, that was a question: an answer confirms the question before it, and then there is nothing to confirm. Only
 * a peer that is probed by keep-alives confirms without that.
 *
 * Only connections of the program are asked about, so that the kernel locks no socket of others.
 */
#include "collect/sock-last.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "collect/end-signal.h"

enum { KEEPALIVE = 2 }; /* of idiag_timer */

/* The beginning of the kernel's struct tcp_info, of which older headers have less. Older kernels have no byte counts: all ones. */
struct info {
	struct tcp_info known;
	uint64_t confirmed_bytes, received_bytes; /* confirmed: the SYN counts as one */
};

enum { CONFIRMED_AT = 120, RECEIVED_AT = 128 };
_Static_assert(offsetof(struct tcp_info, tcpi_total_retrans) == 100, "as the kernel has it, so that the two follow where they do");

static enum ctp_descriptor_last last_of(const struct info *info, bool keepalive)
{
	uint32_t sent_ms = info->known.tcpi_last_data_sent, received_ms = info->known.tcpi_last_data_recv; /* so long ago */
	if (!info->received_bytes) /* the time is that of the connection */
		return info->confirmed_bytes > 1 ? CTP_LAST_SENT : CTP_LAST_UNKNOWN;
	if (sent_ms != received_ms)
		return sent_ms < received_ms ? CTP_LAST_SENT : CTP_LAST_RECEIVED;
	bool confirmed_later = info->known.tcpi_last_ack_recv < received_ms;
	return confirmed_later && !keepalive ? CTP_LAST_SENT : CTP_LAST_UNKNOWN;
}

static void read_info(struct info *info, const char *data, size_t len)
{
	*info = (struct info){.confirmed_bytes = UINT64_MAX, .received_bytes = UINT64_MAX};
	memcpy(&info->known, data, len < sizeof info->known ? len : sizeof info->known);
	if (len < RECEIVED_AT + sizeof info->received_bytes)
		return;
	memcpy(&info->confirmed_bytes, data + CONFIRMED_AT, sizeof info->confirmed_bytes);
	memcpy(&info->received_bytes, data + RECEIVED_AT, sizeof info->received_bytes);
}

enum ctp_descriptor_last ctp_sock_last_read(const void *answer, size_t len_bytes, uint32_t seq)
{
	const char *data = answer;
	struct nlmsghdr head;
	struct inet_diag_msg m;
	struct rtattr attr;
	struct info info;
	const size_t least = offsetof(struct tcp_info, tcpi_last_ack_recv) + sizeof(uint32_t);
	if (len_bytes < NLMSG_HDRLEN + sizeof m)
		return CTP_LAST_UNKNOWN;
	memcpy(&head, data, sizeof head);
	if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_seq != seq || head.nlmsg_len > len_bytes)
		return CTP_LAST_UNKNOWN;
	memcpy(&m, data + NLMSG_HDRLEN, sizeof m);
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof m);
	for (; at + sizeof attr <= head.nlmsg_len; at += RTA_ALIGN(attr.rta_len)) {
		memcpy(&attr, data + at, sizeof attr);
		if (attr.rta_len < sizeof attr || attr.rta_len > head.nlmsg_len - at)
			return CTP_LAST_UNKNOWN;
		size_t len = attr.rta_len - RTA_LENGTH(0);
		if (attr.rta_type != INET_DIAG_INFO || len < least)
			continue;
		read_info(&info, data + at + RTA_LENGTH(0), len);
		return last_of(&info, m.idiag_timer == KEEPALIVE);
	}
	return CTP_LAST_UNKNOWN;
}

static enum ctp_descriptor_last ask(int fd, const struct ctp_socket *s, uint32_t seq)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 inet;
	} q = {
		.head = {.nlmsg_len = NLMSG_LENGTH(sizeof q.inet), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST,
		         .nlmsg_seq = seq},
		.inet = {.sdiag_family = s->family, .sdiag_protocol = IPPROTO_TCP, .idiag_ext = 1u << (INET_DIAG_INFO - 1),
		         .idiag_states = ~0u, .id = s->id},
	};
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct sockaddr_nl from = {0};
	socklen_t from_len = sizeof from;
	char answer[4096];
	if (sendto(fd, &q, sizeof q, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&kernel, sizeof kernel) != (ssize_t)sizeof q)
		return CTP_LAST_UNKNOWN;
	ssize_t n = recvfrom(fd, answer, sizeof answer, MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);
	bool of_kernel = from_len == sizeof from && from.nl_family == AF_NETLINK && !from.nl_pid;
	return n > 0 && of_kernel ? ctp_sock_last_read(answer, (size_t)n, seq) : CTP_LAST_UNKNOWN;
}

/* Bytes that the peer has not confirmed were sent last, whatever the times are. */
static bool is_asked(struct ctp_socket *s)
{
	bool silent = s->found && s->side == CTP_SIDE_CONNECTED && !s->unread && !s->ended;
	if (silent && s->unsent)
		s->last = CTP_LAST_SENT;
	return silent && !s->unsent;
}

void ctp_sock_last_ask(struct ctp_socket *sockets, size_t n, uint64_t until_ns)
{
	int fd = -1;
	for (size_t i = 0; i < n && ctp_clock_ns() < until_ns && !ctp_end_signal(); i++) {
		if (!is_asked(&sockets[i]))
			continue;
		if (fd < 0)
			fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
		if (fd < 0)
			return;
		sockets[i].last = ask(fd, &sockets[i], (uint32_t)i + 1);
	}
	ctp_fd_close(fd);
}
