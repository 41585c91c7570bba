/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * fd-text.h - what /proc says of one descriptor: where its link leads (fd), and the count of an eventfd or a timerfd (fdinfo).
 *
 * A file may have any name, so a text is taken only if all of it reads as the kernel writes it. The name of a file begins with a
 * slash in such a link, the others do not.
 */
#ifndef CTP_FD_TEXT_H
#define CTP_FD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_FD_LINK_BYTES = 32, CTP_FD_INFO_BYTES = 1024 }; /* no text that is looked for is longer */

enum ctp_fd_link { CTP_FD_LINK_OTHER, CTP_FD_LINK_SOCKET, CTP_FD_LINK_PIPE, CTP_FD_LINK_EVENTFD, CTP_FD_LINK_TIMERFD };

/* "socket:[4711]", "pipe:[4711]", "anon_inode:[eventfd]", "anon_inode:[timerfd]". ino: of the first two, not 0. */
enum ctp_fd_link ctp_fd_text_link(const char *text, size_t len, uint32_t *ino);

/* "eventfd-count:" in hexadecimal, "ticks:" in decimal digits. False: there is no such line. */
bool ctp_fd_text_eventfd(const char *text, size_t len, uint64_t *count);
bool ctp_fd_text_timerfd(const char *text, size_t len, uint64_t *ticks);

#endif
