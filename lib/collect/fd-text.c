/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* fd-text.c - parses, with nothing kept in between. */
#include "collect/fd-text.h"

#include <string.h>

#include "base/text.h"

static bool is_text(const char *text, size_t len, const char *want) { return len == strlen(want) && !memcmp(text, want, len); }

/* The number in brackets after a prefix; 0: the text is another. */
static uint32_t inode_after(const char *text, size_t len, const char *prefix)
{
	const char *end = text + len, *at = text + strlen(prefix);
	uint64_t ino;
	bool begins = len > strlen(prefix) && !memcmp(text, prefix, strlen(prefix));
	if (!begins || !ctp_take_number(&at, end, 10, &ino) || ino > UINT32_MAX)
		return 0;
	return is_text(at, (size_t)(end - at), "]") ? (uint32_t)ino : 0;
}

enum ctp_fd_link ctp_fd_text_link(const char *text, size_t len, uint32_t *ino)
{
	if ((*ino = inode_after(text, len, "socket:[")))
		return CTP_FD_LINK_SOCKET;
	if ((*ino = inode_after(text, len, "pipe:[")))
		return CTP_FD_LINK_PIPE;
	if (is_text(text, len, "anon_inode:[eventfd]"))
		return CTP_FD_LINK_EVENTFD;
	return is_text(text, len, "anon_inode:[timerfd]") ? CTP_FD_LINK_TIMERFD : CTP_FD_LINK_OTHER;
}

/* The number on the line that begins with a label, after blanks and up to the end of the line. */
static bool find_line(const char *text, size_t len, const char *label, unsigned base, uint64_t *value)
{
	const char *end = text + len, *at = len ? memmem(text, len, label, strlen(label)) : NULL;
	if (!at)
		return false;
	for (at += strlen(label); at < end && *at == ' '; at++)
		;
	return ctp_take_number(&at, end, base, value) && at < end && *at == '\n';
}

bool ctp_fd_text_eventfd(const char *text, size_t len, uint64_t *count)
{
	return find_line(text, len, "\neventfd-count:", 16, count);
}

bool ctp_fd_text_timerfd(const char *text, size_t len, uint64_t *ticks)
{
	return find_line(text, len, "\nticks:", 10, ticks);
}
