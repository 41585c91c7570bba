/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sock-diag.c - asks for lists, and picks sockets out of them.
 *
 * The figures are the kernel's: of a TCP connection, the bytes that were not read yet and those that the peer has not confirmed; of
 * a listening socket, the connections to be accepted; of UDP, the memory that datagrams take, which is more than their bytes. A
 * stream has ended if the peer has, or if this side reads no more.
 *
 * A TCP connection was accepted if somebody listens on its local port: the kernel gives no port of a listener to a program that
 * connects. It was connected if nobody does, the port is one that the kernel gives to programs that connect, and the peer's port is
 * none of these, or somebody here listens on it. Else it may be of a listener that is closed, and so the side is not known.
 */
#include "collect/sock-diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "collect/end-signal.h"
#include "collect/sock-last.h"

enum {
	LISTS = 5,
	PART_BYTES = 32 << 10, /* the kernel makes no larger ones */
	LIMIT_MS = 200,        /* for all lists together */
};

static const uint64_t MS = 1000000;

/* Without those that no process has: handshakes under way, which a stranger can make many of, and what lingers after a close. */
#define TCP_STATES \
	(1u << TCP_ESTABLISHED | 1u << TCP_SYN_SENT | 1u << TCP_FIN_WAIT1 | 1u << TCP_FIN_WAIT2 | 1u << TCP_CLOSE_WAIT | \
	 1u << TCP_LAST_ACK | 1u << TCP_CLOSING | 1u << TCP_LISTEN)

static const struct {
	uint8_t family, protocol;
	uint32_t states;
} lists[LISTS] = {
	{AF_INET, IPPROTO_TCP, TCP_STATES},
	{AF_INET6, IPPROTO_TCP, TCP_STATES},
	{AF_UNIX, 0, ~0u},
	{AF_INET, IPPROTO_UDP, ~0u},
	{AF_INET6, IPPROTO_UDP, ~0u},
};

/* --- what is in a list ---------------------------------------------------------------------------------------------------- */

static struct ctp_socket *find_socket(const struct ctp_sock_diag_list *list, uint32_t ino)
{
	size_t i;
	CTP_ARRAY_FIRST(i, list->n, list->sockets[i].ino >= ino);
	return i < list->n && list->sockets[i].ino == ino && !list->sockets[i].found ? &list->sockets[i] : NULL;
}

static void found(struct ctp_sock_diag_list *list, struct ctp_socket *s, enum ctp_descriptor_type type, uint32_t unread,
                  uint32_t unsent)
{
	*s = (struct ctp_socket){.ino = s->ino, .found = true, .type = type, .unread = unread, .unsent = unsent};
	list->missing--;
}

static void note_listener(struct ctp_sock_ports *ports, unsigned port) { ports->listening[port / 8] |= (uint8_t)(1u << port % 8); }

static bool is_listening(const struct ctp_sock_ports *ports, unsigned port) { return ports->listening[port / 8] & 1u << port % 8; }

static bool is_given(const struct ctp_sock_ports *ports, unsigned port) { return port >= ports->first && port <= ports->last; }

static enum ctp_descriptor_side side_of(const struct ctp_sock_ports *ports, unsigned own, unsigned peer)
{
	if (is_listening(ports, own))
		return CTP_SIDE_ACCEPTED;
	bool peer_serves = is_listening(ports, peer) || !is_given(ports, peer);
	return is_given(ports, own) && peer_serves ? CTP_SIDE_CONNECTED : CTP_SIDE_UNKNOWN;
}

/* The end of a stream takes a number like a byte, and is none. */
static void found_tcp(struct ctp_sock_diag_list *list, struct ctp_socket *s, const struct inet_diag_msg *m)
{
	bool ended = m->idiag_state == TCP_CLOSE_WAIT || m->idiag_state == TCP_LAST_ACK || m->idiag_state == TCP_CLOSING;
	found(list, s, CTP_FD_TCP, m->idiag_rqueue - (ended && m->idiag_rqueue), m->idiag_wqueue);
	s->ended = ended;
	if (list->ports)
		s->side = side_of(list->ports, ntohs(m->id.idiag_sport), ntohs(m->id.idiag_dport));
	s->family = m->idiag_family;
	s->id = m->id;
}

static void take_inet(struct ctp_sock_diag_list *list, const char *data, size_t len)
{
	struct inet_diag_msg m;
	if (len < sizeof m)
		return;
	memcpy(&m, data, sizeof m);
	if (list->ports && list->protocol == IPPROTO_TCP && m.idiag_state == TCP_LISTEN)
		note_listener(list->ports, ntohs(m.id.idiag_sport));
	struct ctp_socket *s = m.idiag_family == list->family ? find_socket(list, m.idiag_inode) : NULL;
	if (!s)
		return;
	if (list->protocol == IPPROTO_UDP)
		found(list, s, CTP_FD_UDP, m.idiag_rqueue, m.idiag_wqueue);
	else if (m.idiag_state == TCP_LISTEN)
		found(list, s, CTP_FD_TCP_LISTENS, m.idiag_rqueue, 0); /* the other is the length of its queue */
	else
		found_tcp(list, s, &m);
}

static void take_unix(struct ctp_sock_diag_list *list, const char *data, size_t len)
{
	struct unix_diag_msg m;
	struct unix_diag_rqlen queues;
	struct rtattr attr;
	if (len < sizeof m)
		return;
	memcpy(&m, data, sizeof m);
	struct ctp_socket *s = m.udiag_family == AF_UNIX ? find_socket(list, m.udiag_ino) : NULL;
	for (size_t at = NLMSG_ALIGN(sizeof m); s && at + sizeof attr <= len; at += RTA_ALIGN(attr.rta_len)) {
		memcpy(&attr, data + at, sizeof attr);
		if (attr.rta_len < sizeof attr || attr.rta_len > len - at)
			return;
		const char *value = data + at + RTA_LENGTH(0);
		if (attr.rta_type == UNIX_DIAG_SHUTDOWN && attr.rta_len == RTA_LENGTH(1) && s->found) /* follows the other */
			s->ended = *value & 1 << SHUT_RD && s->type == CTP_FD_UNIX;
		if (attr.rta_type != UNIX_DIAG_RQLEN || attr.rta_len != RTA_LENGTH(sizeof queues) || s->found)
			continue;
		memcpy(&queues, value, sizeof queues);
		if (m.udiag_state == TCP_LISTEN)
			found(list, s, CTP_FD_UNIX_LISTENS, queues.udiag_rqueue, 0);
		else
			found(list, s, CTP_FD_UNIX, queues.udiag_rqueue, queues.udiag_wqueue);
	}
}

/* The kernel was built without this list, or its module is not there. Other errors may pass. */
static bool is_absent(const char *message, size_t len)
{
	struct nlmsgerr e;
	if (len < NLMSG_LENGTH(sizeof e))
		return false;
	memcpy(&e, message + NLMSG_HDRLEN, sizeof e);
	return e.error == -ENOENT;
}

bool ctp_sock_diag_part(struct ctp_sock_diag_list *list, const void *part, size_t len_bytes)
{
	const char *data = part;
	struct nlmsghdr head;
	for (size_t at = 0; at < len_bytes && len_bytes - at >= sizeof head; at += NLMSG_ALIGN(head.nlmsg_len)) {
		memcpy(&head, data + at, sizeof head);
		if (head.nlmsg_len < sizeof head || head.nlmsg_len > len_bytes - at || head.nlmsg_seq != list->seq)
			return false;
		if (head.nlmsg_type == NLMSG_ERROR)
			list->absent = is_absent(data + at, head.nlmsg_len);
		if (head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR)
			return false;
		if (head.nlmsg_type == SOCK_DIAG_BY_FAMILY)
			(list->family == AF_UNIX ? take_unix : take_inet)(list, data + at + sizeof head, head.nlmsg_len - sizeof head);
	}
	return list->missing;
}

/* --- asking --------------------------------------------------------------------------------------------------------------- */

static bool ask(int fd, const struct ctp_sock_diag_list *list, uint32_t states)
{
	struct {
		struct nlmsghdr head;
		union {
			struct inet_diag_req_v2 inet;
			struct unix_diag_req local;
		};
	} q = {.head = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = list->seq}};
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	if (list->family == AF_UNIX) {
		q.local = (struct unix_diag_req){.sdiag_family = AF_UNIX, .udiag_states = states, .udiag_show = UDIAG_SHOW_RQLEN};
		q.head.nlmsg_len = NLMSG_LENGTH(sizeof q.local);
	} else {
		q.inet = (struct inet_diag_req_v2){.sdiag_family = list->family, .sdiag_protocol = list->protocol,
		                                   .idiag_states = states};
		q.head.nlmsg_len = NLMSG_LENGTH(sizeof q.inet);
	}
	return sendto(fd, &q, q.head.nlmsg_len, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&kernel, sizeof kernel) ==
	       (ssize_t)q.head.nlmsg_len;
}

/* Only the kernel is listened to. */
static ssize_t receive(int fd, void *part)
{
	struct sockaddr_nl from = {0};
	socklen_t from_len = sizeof from;
	ssize_t n;
	do
		n = recvfrom(fd, part, PART_BYTES, MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);
	while (n < 0 && errno == EINTR);
	return from_len == sizeof from && from.nl_family == AF_NETLINK && !from.nl_pid ? n : -1;
}

/* The range that Linux has by default, unless this system has another one. */
static void read_range(struct ctp_sock_ports *ports)
{
	char text[32];
	unsigned first, last;
	ports->first = 32768;
	ports->last = 60999;
	ctp_fd_read_file(AT_FDCWD, "/proc/sys/net/ipv4/ip_local_port_range", text, sizeof text);
	if (sscanf(text, "%5u %5u", &first, &last) != 2)
		return;
	ports->first = first;
	ports->last = last;
}

/* A socket for each list: to close it ends one that is not read to its end. False: the time is over. */
static bool read_list(struct ctp_sock_diag_list *list, uint32_t states, uint64_t until_ns)
{
	char part[PART_BYTES];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	bool more = fd >= 0 && ask(fd, list, states), late = false;
	while (more && !late) {
		ssize_t n = receive(fd, part);
		more = n > 0 && ctp_sock_diag_part(list, part, (size_t)n);
		late = ctp_clock_ns() >= until_ns || ctp_end_signal();
	}
	ctp_fd_close(fd);
	return !late;
}

void ctp_sock_diag_find(struct ctp_socket *sockets, size_t n, unsigned *absent)
{
	struct ctp_sock_ports ports = {.listening = {0}};
	struct ctp_sock_diag_list list = {.sockets = sockets, .n = n, .missing = n, .ports = &ports};
	uint64_t until_ns = ctp_clock_ns() + LIMIT_MS * MS;
	bool goes_on = true;
	read_range(&ports);
	for (unsigned i = 0; i < LISTS && list.missing && goes_on; i++) {
		if (*absent & 1u << i)
			continue;
		list.family = lists[i].family;
		list.protocol = lists[i].protocol;
		list.seq = i + 1;
		list.absent = false;
		goes_on = read_list(&list, lists[i].states, until_ns);
		*absent |= list.absent ? 1u << i : 0;
	}
	if (goes_on)
		ctp_sock_last_ask(sockets, n, until_ns);
}
