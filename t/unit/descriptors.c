/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * How the collector learns the state of descriptors: texts of /proc and lists of sock_diag(7), as kernels write them, truncated and
 * malformed; the table of descriptors that coroutines wait for; and which processes are asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/descriptors.h"
#include "collect/fd-text.h"
#include "collect/pipe-fill.h"
#include "collect/sock-diag.h"
#include "collect/sock-last.h"
#include "collect/waited-fds.h"
#include "must.h"
#include "tap.h"

/* A copy of exact size, so that a sanitizer sees a read past its end. */
static void *copy_of(const void *data, size_t len)
{
	void *copy = malloc(len + !len);
	if (len)
		memcpy(copy, data, len);
	return copy;
}

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

static enum ctp_fd_link link_of(const char *text, size_t len, uint32_t *ino)
{
	char *copy = copy_of(text, len);
	enum ctp_fd_link link = ctp_fd_text_link(copy, len, ino);
	free(copy);
	return link;
}

static void test_links(void)
{
	static const char *const good[] = {"socket:[4294967295]", "pipe:[4711]", "anon_inode:[eventfd]", "anon_inode:[timerfd]"};
	static const char *const bad[] = {
		"", "socket:[]", "socket:[0]", "socket:[4294967296]", "socket:[99999999999999999999]", "socket:[12", "socket:[12]]",
		"socket:[12] ", "socket:[-1]", "socket:[1a]", "socket:[ 1]", " socket:[1]", "/socket:[1]", "/tmp/pipe:[1]", "Socket:[1]", "pipe:[12] (deleted)",
		"anon_inode:[eventpoll]", "anon_inode:[eventfd]x", "anon_inode:eventfd", "/anon_inode:[eventfd]", "/memfd:pipe:[1] (deleted)",
	};
	uint32_t ino;
	unsigned wrong = 0;
	ok(link_of(good[0], strlen(good[0]), &ino) == CTP_FD_LINK_SOCKET && ino == UINT32_MAX, "a socket");
	ok(link_of(good[1], strlen(good[1]), &ino) == CTP_FD_LINK_PIPE && ino == 4711, "a pipe");
	ok(link_of(good[2], strlen(good[2]), &ino) == CTP_FD_LINK_EVENTFD, "the link of an eventfd is recognised");
	ok(link_of(good[3], strlen(good[3]), &ino) == CTP_FD_LINK_TIMERFD, "a timerfd");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		wrong += link_of(bad[i], strlen(bad[i]), &ino) != CTP_FD_LINK_OTHER;
	is_u64(wrong, 0, "no other link is taken for one of these");
	wrong = 0;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		for (size_t len = 0; len < strlen(good[i]); len++)
			wrong += link_of(good[i], len, &ino) != CTP_FD_LINK_OTHER;
	is_u64(wrong, 0, "a part of such a link is not taken for one");
}

static void test_counts(void)
{
	static const char event[] = "pos:\t0\nflags:\t02\nmnt_id:\t16\nino:\t1060\neventfd-count:             12af\neventfd-id: 3\n";
	static const char timer[] = "pos:\t0\nflags:\t02\nmnt_id:\t16\nclockid: 1\nticks: 18446744073709551615\nsettime flags: 00\n";
	static const char *const bad[] = {
		"", "eventfd-count: 1\n", "\neventfd-count:\n", "\neventfd-count: 1", "\neventfd-count: 1 \n", "\neventfd-count: 1G\n",
		"\neventfd-count: -1\n", "\neventfd-count: 10000000000000000\n", "\nticks: 18446744073709551616\n", "\nticks: 1a\n", "\nticks: \n",
	};
	uint64_t n;
	unsigned wrong = 0;
	ok(ctp_fd_text_eventfd(event, sizeof event - 1, &n) && n == 0x12af, "the count of an eventfd is hexadecimal");
	ok(ctp_fd_text_timerfd(timer, sizeof timer - 1, &n) && n == UINT64_MAX, "the count of a timer is decimal");
	ok(!ctp_fd_text_timerfd(event, sizeof event - 1, &n) && !ctp_fd_text_eventfd(timer, sizeof timer - 1, &n),
	   "a timer's text is no eventfd's, and the reverse");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		wrong += ctp_fd_text_eventfd(bad[i], strlen(bad[i]), &n) || ctp_fd_text_timerfd(bad[i], strlen(bad[i]), &n);
	is_u64(wrong, 0, "other texts have no count");
	for (size_t len = 0; len < sizeof event; len++) {
		char *copy = copy_of(event, len);
		if (ctp_fd_text_eventfd(copy, len, &n))
			wrong += n != 0x12af;
		free(copy);
	}
	is_u64(wrong, 0, "a truncated text has the right count or none");
}

/* --- the table ------------------------------------------------------------------------------------------------------------ */

/* The same table as a plain list. */
struct model {
	size_t n;
	struct {
		uint64_t pid;
		int32_t fd;
	} list[CTP_WAITED_FDS + 1]; /* the newest first */
};

static void model_add(struct model *m, uint64_t pid, int32_t fd)
{
	size_t i = 0;
	while (i < m->n && (m->list[i].pid != pid || m->list[i].fd != fd))
		i++;
	m->n += i == m->n;
	memmove(&m->list[1], &m->list[0], i * sizeof m->list[0]);
	m->list[0].pid = pid;
	m->list[0].fd = fd;
	m->n = m->n < CTP_WAITED_FDS ? m->n : CTP_WAITED_FDS;
}

static bool is_same(const struct ctp_waited_fds *w, const struct model *m)
{
	size_t i = 0;
	for (uint16_t link = w->newest; link; link = w->list[link - 1].older, i++)
		if (i == m->n || w->list[link - 1].pid != m->list[i].pid || w->list[link - 1].fd != m->list[i].fd)
			return false;
	for (uint16_t link = w->oldest; link; link = w->list[link - 1].newer)
		i--;
	return !i && w->n == m->n;
}

static void test_table(void)
{
	static struct ctp_waited_fds w;
	static struct model m;
	unsigned wrong = 0;
	srandom(4711);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t pid = (uint64_t)(random() % 3) << (random() % 2 * 31);
		int32_t fd = (int32_t)(random() % (i < 10000 ? 90 : 4000)) * (random() % 2 ? 1 : CTP_WAITED_FDS); /* many of one bucket */
		ctp_waited_fds_add(&w, pid, fd, i);
		model_add(&m, pid, fd);
		wrong += !is_same(&w, &m);
	}
	is_u64(w.n, CTP_WAITED_FDS, "the table fills up");
	is_u64(wrong, 0, "it has the descriptors that were added last, in that order");
	w.list[w.oldest - 1].told = true;
	uint16_t oldest = w.oldest;
	ctp_waited_fds_add(&w, w.list[oldest - 1].pid, w.list[oldest - 1].fd, 20000);
	ok(w.newest == oldest && !w.list[oldest - 1].told, "a descriptor that is added again is to be reported again");
}

/* --- lists ---------------------------------------------------------------------------------------------------------------- */

static size_t put_message(char *at, uint16_t type, uint32_t seq, const void *data, size_t len)
{
	const struct nlmsghdr head = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(len), .nlmsg_type = type, .nlmsg_seq = seq};
	memcpy(at, &head, sizeof head);
	if (len)
		memcpy(at + NLMSG_HDRLEN, data, len);
	return NLMSG_ALIGN(head.nlmsg_len);
}

static size_t put_tcp(char *at, uint32_t ino, uint8_t state, uint32_t rqueue, uint32_t wqueue)
{
	const struct inet_diag_msg m = {.idiag_family = AF_INET, .idiag_state = state, .idiag_rqueue = rqueue, .idiag_wqueue = wqueue,
	                                .idiag_inode = ino};
	return put_message(at, SOCK_DIAG_BY_FAMILY, 1, &m, sizeof m);
}

static size_t put_unix(char *at, uint32_t ino, uint8_t state, uint16_t attr_len, uint32_t rqueue, uint32_t wqueue)
{
	struct {
		struct unix_diag_msg m;
		struct rtattr other, attr;
		struct unix_diag_rqlen queues;
	} u = {{.udiag_family = AF_UNIX, .udiag_state = state, .udiag_ino = ino}, {sizeof u.other, UNIX_DIAG_SHUTDOWN},
	       {attr_len, UNIX_DIAG_RQLEN}, {rqueue, wqueue}};
	return put_message(at, SOCK_DIAG_BY_FAMILY, 1, &u, sizeof u);
}

static bool take(struct ctp_sock_diag_list *list, const char *part, size_t len)
{
	void *copy = copy_of(part, len);
	bool more = ctp_sock_diag_part(list, copy, len);
	free(copy);
	return more;
}

static void test_tcp_list(void)
{
	char part[2048] = "";
	struct ctp_socket s[] = {{.ino = 5}, {.ino = 7}, {.ino = 9}, {.ino = 11}, {.ino = 4000000000}};
	struct ctp_sock_diag_list list = {.sockets = s, .n = 5, .missing = 5, .family = AF_INET, .protocol = IPPROTO_TCP, .seq = 1};
	size_t len = put_tcp(part, 5, TCP_ESTABLISHED, 100, 3);
	len += put_tcp(part + len, 6, TCP_ESTABLISHED, 1, 1);
	len += put_tcp(part + len, 0, TCP_ESTABLISHED, 1, 1);
	len += put_tcp(part + len, 7, TCP_LISTEN, 2, 128);
	len += put_tcp(part + len, 9, TCP_CLOSE_WAIT, 1, 0);
	len += put_tcp(part + len, 11, TCP_CLOSE_WAIT, 0, 0);
	len += put_tcp(part + len, 5, TCP_ESTABLISHED, 8, 8);
	ok(take(&list, part, len), "a part of a list is read, and more sockets are to be found");
	ok(s[0].found && s[0].type == CTP_FD_TCP && s[0].unread == 100 && s[0].unsent == 3 && !s[0].ended,
	   "a connection has the queues of its first entry in the list");
	ok(s[1].found && s[1].type == CTP_FD_TCP_LISTENS && s[1].unread == 2 && !s[1].unsent,
	   "a listener is found, without the limit of its queue");
	ok(s[2].found && !s[2].unread && s[2].ended, "the end of a stream counts as no byte");
	ok(s[3].found && !s[3].unread, "the end counts as no byte after it was read");
	ok(!s[4].found, "a socket that is not listed is not found");
	len = put_tcp(part, 4000000000, TCP_ESTABLISHED, 1, 1);
	ok(!take(&list, part, len) && s[4].found, "after the last socket the list is complete");
}

static size_t put_ports(char *at, uint32_t ino, uint8_t state, uint16_t own, uint16_t peer)
{
	struct inet_diag_msg m = {.idiag_family = AF_INET, .idiag_state = state, .idiag_inode = ino};
	m.id.idiag_sport = htons(own);
	m.id.idiag_dport = htons(peer);
	return put_message(at, SOCK_DIAG_BY_FAMILY, 1, &m, sizeof m);
}

static void test_sides(void)
{
	char part[2048] = "";
	struct ctp_sock_ports ports = {.first = 32768, .last = 60999};
	struct ctp_socket s[] = {{.ino = 2}, {.ino = 3}, {.ino = 4}, {.ino = 5}, {.ino = 6}, {.ino = 7}};
	struct ctp_sock_diag_list list = {.sockets = s, .n = 6, .missing = 6, .family = AF_INET, .protocol = IPPROTO_TCP, .seq = 1,
	                                  .ports = &ports};
	size_t len = put_ports(part, 1, TCP_LISTEN, 8080, 0); /* the socket need not be of the program */
	len += put_ports(part + len, 100, TCP_LISTEN, 40000, 0);
	len += put_ports(part + len, 2, TCP_ESTABLISHED, 8080, 50000);
	len += put_ports(part + len, 3, TCP_ESTABLISHED, 50000, 5432);
	len += put_ports(part + len, 4, TCP_ESTABLISHED, 50001, 40000);
	len += put_ports(part + len, 5, TCP_ESTABLISHED, 9090, 50000);
	len += put_ports(part + len, 6, TCP_ESTABLISHED, 50051, 50000);
	len += put_ports(part + len, 7, TCP_ESTABLISHED, 40000, 50001);
	take(&list, part, len);
	ok(s[0].side == CTP_SIDE_ACCEPTED, "a connection at the port of a listener was accepted");
	ok(s[1].side == CTP_SIDE_CONNECTED, "one from a port of the kernel's range, to another port, was begun here");
	ok(s[2].side == CTP_SIDE_CONNECTED, "so was one to a listener of this machine");
	ok(s[3].side == CTP_SIDE_UNKNOWN, "one at a port outside the range, without a listener, may have been accepted earlier");
	ok(s[4].side == CTP_SIDE_UNKNOWN, "so may one between two ports of the range");
	ok(s[5].side == CTP_SIDE_ACCEPTED, "a listener may have a port of the range");
}

/* The kernel's answer about one socket. The times are in ms before now: of the last data sent, of the last data received, and of the
 * last segment in which the peer confirmed data. */
static uint64_t bytes_received = 5; /* the kernel counts them at a place that older headers do not name */

static enum ctp_descriptor_last last(uint32_t sent_ms, uint32_t received_ms, uint32_t confirmed_ms, uint8_t timer, size_t cut)
{
	struct {
		struct inet_diag_msg m;
		struct rtattr other, attr;
		char info[136];
	} answer = {.m = {.idiag_family = AF_INET, .idiag_state = TCP_ESTABLISHED, .idiag_timer = timer},
	            .other = {sizeof answer.other, INET_DIAG_SHUTDOWN}, .attr = {RTA_LENGTH(sizeof answer.info), INET_DIAG_INFO}};
	const struct tcp_info info = {.tcpi_last_data_sent = sent_ms, .tcpi_last_data_recv = received_ms,
	                              .tcpi_last_ack_recv = confirmed_ms};
	memcpy(answer.info, &info, 104);
	memcpy(answer.info + 120, &(uint64_t){9}, 8);
	memcpy(answer.info + 128, &bytes_received, 8);
	char part[1024] = "";
	size_t len = put_message(part, SOCK_DIAG_BY_FAMILY, 3, &answer, sizeof answer);
	void *copy = copy_of(part, len < cut ? len : cut);
	enum ctp_descriptor_last said = ctp_sock_last_read(copy, len < cut ? len : cut, 3);
	free(copy);
	return said;
}

static void test_last(void)
{
	enum { KEEPALIVE = 2, ALL = 1024 };
	is_u64(last(100, 900, 60, 0, ALL), CTP_LAST_SENT, "data went after the last that came: sent");
	is_u64(last(900, 100, 100, 0, ALL), CTP_LAST_RECEIVED, "data came after the last that went: received");
	is_u64(last(100, 100, 100, 0, ALL), CTP_LAST_UNKNOWN, "both at one time: not known");
	is_u64(last(100, 100, 60, 0, ALL), CTP_LAST_SENT, "a later confirmation is of something that was sent after the data came");
	is_u64(last(100, 100, 60, KEEPALIVE, ALL), CTP_LAST_UNKNOWN, "it may be one of a keep-alive");
	bytes_received = 0;
	is_u64(last(100, 100, 100, 0, ALL), CTP_LAST_SENT, "nothing has come yet: sent");
	bytes_received = 5;
	unsigned wrong = 0;
	for (size_t cut = 0; cut < sizeof(struct nlmsghdr) + sizeof(struct inet_diag_msg) + 136; cut++)
		wrong += last(100, 900, 60, 0, cut) != CTP_LAST_UNKNOWN;
	is_u64(wrong, 0, "a truncated answer says nothing");
}

static void test_lists_end(void)
{
	char part[2048] = "";
	struct ctp_socket s[] = {{.ino = 5}, {.ino = 7}};
	struct ctp_sock_diag_list list = {.sockets = s, .n = 2, .missing = 2, .family = AF_INET, .protocol = IPPROTO_TCP, .seq = 1};
	struct nlmsgerr e = {.error = -ENOENT};
	ok(!take(&list, part, put_message(part, NLMSG_DONE, 1, NULL, 0)) && !list.absent, "an end message ends the list");
	ok(!take(&list, part, put_message(part, NLMSG_ERROR, 1, &e, sizeof e)) && list.absent,
	   "ENOENT says that the kernel has no such list");
	e.error = -ENOMEM;
	ok(!take(&list, part, put_message(part, NLMSG_ERROR, 1, &e, sizeof e)) && !list.absent, "another error does not say so");
	size_t len = put_message(part, SOCK_DIAG_BY_FAMILY, 2, &e, sizeof e);
	len += put_tcp(part + len, 5, TCP_ESTABLISHED, 1, 1);
	ok(!take(&list, part, len) && !s[0].found, "an answer to another request is ignored");
	uint32_t huge = UINT32_MAX;
	len = put_tcp(part, 6, TCP_ESTABLISHED, 1, 1);
	len += put_tcp(part + len, 5, TCP_ESTABLISHED, 1, 1);
	memcpy(part, &huge, sizeof huge);
	ok(!take(&list, part, len) && !s[0].found, "a message that is longer than its part ends the part");
}

static void test_unix_list(void)
{
	char part[2048] = "";
	struct ctp_socket s[] = {{.ino = 5}, {.ino = 7}, {.ino = 9}};
	struct ctp_sock_diag_list list = {.sockets = s, .n = 3, .missing = 3, .family = AF_UNIX, .seq = 1};
	size_t len = put_unix(part, 5, TCP_ESTABLISHED, RTA_LENGTH(8), 7, 2);
	len += put_unix(part + len, 7, TCP_LISTEN, RTA_LENGTH(8), 3, 10);
	len += put_unix(part + len, 9, TCP_ESTABLISHED, 3, 7, 2);
	len += put_unix(part + len, 9, TCP_ESTABLISHED, 500, 7, 2);
	len += put_unix(part + len, 9, TCP_ESTABLISHED, RTA_LENGTH(4), 7, 2);
	unsigned wrong = 0;
	for (size_t cut = 0; cut <= len; cut++) {
		for (size_t i = 0; i < 3; i++)
			s[i] = (struct ctp_socket){.ino = 5 + 2 * (uint32_t)i};
		list.missing = 3;
		take(&list, part, cut);
		wrong += list.missing + s[0].found + s[1].found + s[2].found != 3 || (s[0].found && s[0].unread != 7);
	}
	is_u64(wrong, 0, "a truncated part gives a socket correctly or not at all");
	ok(s[0].found && s[0].type == CTP_FD_UNIX && s[0].unread == 7 && s[0].unsent == 2,
	   "a Unix socket is found, with its queues");
	ok(s[1].found && s[1].type == CTP_FD_UNIX_LISTENS && s[1].unread == 3 && !s[1].unsent, "a listening Unix socket is found");
	ok(!s[2].found && list.missing == 1, "a socket without queue lengths counts as missing");
}

/* --- processes ------------------------------------------------------------------------------------------------------------ */

struct world {
	void *shm;
	struct ctp_map_file file;
	int event, pipe[2], pair[2];
};

/* A child that has the descriptors, with or without the probe's memory. */
static pid_t start_child(const struct world *w, bool maps)
{
	int ready[2];
	char c;
	must(!pipe(ready), "a pipe");
	pid_t pid = fork();
	if (!pid) {
		if (!maps)
			munmap(w->shm, 4096);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	must(pid > 0 && read(ready[0], &c, 1) == 1, "a child");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static unsigned ask(const struct world *w, pid_t pid, struct ctp_descriptor_ask asks[3])
{
	struct ctp_descriptors d = {.shm = &w->file};
	const int fds[] = {w->event, w->pipe[0], w->pair[0]};
	for (unsigned i = 0; i < 3; i++)
		asks[i] = (struct ctp_descriptor_ask){.pid = pid, .fd = fds[i], .found = true};
	ctp_descriptors_ask(&d, asks, 3);
	return asks[0].found + asks[1].found + asks[2].found;
}

static void test_processes(void)
{
	struct world w = {.event = eventfd(42, 0)};
	struct ctp_descriptor_ask asks[3];
	int memory = memfd_create("descriptors", 0);
	must(memory >= 0 && !ftruncate(memory, 4096) && !pipe(w.pipe) && !socketpair(AF_UNIX, SOCK_STREAM, 0, w.pair),
	     "descriptors");
	w.shm = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	must(w.shm != MAP_FAILED && ctp_proc_maps_file_at(w.shm, &w.file), "memory");
	must(write(w.pipe[1], "abc", 3) == 3 && write(w.pair[1], "abcd", 4) == 4, "writing");
	pid_t with = start_child(&w, true), without = start_child(&w, false);
	is_u64(ask(&w, with, asks), 3, "a process that has the memory is asked");
	ok(asks[0].type == CTP_FD_EVENTFD && asks[0].unread == 42, "its eventfd has its count");
	ok(asks[1].type == CTP_FD_PIPE && asks[1].unread == 3, "its pipe has its bytes");
	ok(asks[2].type == CTP_FD_UNIX && asks[2].unread == 4, "its socket has its bytes");
	ok(!asks[0].ended && !asks[1].ended && !asks[2].ended, "none of them has ended");
	must(!shutdown(w.pair[1], SHUT_WR), "shutdown");
	ok(ask(&w, with, asks) == 3 && asks[2].ended && asks[2].unread == 4, "a socket whose peer has shut down writing has ended");
	is_u64(ask(&w, without, asks), 0, "a process without the memory is not asked, whatever is known of its descriptors");
	is_u64(ask(&w, 1 << 30, asks), 0, "a process that does not exist is not asked");

	struct ctp_pipe pipes[2] = {{.pid = with, .fd = w.pipe[0], .ino = 1}, {.pid = with, .fd = w.pair[0], .ino = 1}};
	ok(ctp_pipe_fill(pipes, 2) && !pipes[0].found && !pipes[1].found,
	   "a descriptor that is now another pipe, or none, is not read");
	kill(with, SIGKILL);
	kill(without, SIGKILL);
	waitpid(with, NULL, 0);
	waitpid(without, NULL, 0);
	is_u64(ask(&w, with, asks), 0, "a process that has ended is not asked");
}

/*
 * For t/pipe/descriptors.t: a file whose close does not return, because its file system stops answering after a line on stdin, is
 * taken for a pipe. Prints whether the read was given up in time.
 */
static int hang(const char *path)
{
	enum { FD = 100 };
	char c;
	int ready[2];
	must(!pipe(ready), "a pipe");
	struct ctp_pipe file = {.pid = fork(), .fd = FD, .ino = 1};
	if (!file.pid) {
		int fd = open(path, O_RDONLY);
		must(fd >= 0 && dup2(fd, FD) == FD && write(ready[1], "", 1) == 1, "the file");
		pause();
		_exit(0);
	}
	must(file.pid > 0 && read(ready[0], &c, 1) == 1, "a child");
	puts("open");
	fflush(stdout);
	getchar();
	uint64_t began_ns = ctp_clock_ns();
	bool whole = ctp_pipe_fill(&file, 1);
	printf("%s, %s, %s\n", whole ? "whole" : "given up", file.found ? "found" : "not found",
	       ctp_clock_ns() - began_ns < UINT64_C(20000000000) ? "in time" : "late");
	fflush(stdout);
	kill(file.pid, SIGKILL);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return hang(argv[1]);
	test_links();
	test_counts();
	test_table();
	test_tcp_list();
	test_sides();
	test_last();
	test_lists_end();
	test_unix_list();
	test_processes();
	done_testing();
}
