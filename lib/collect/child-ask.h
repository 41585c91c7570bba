/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * child-ask.h - asks a child process for answers that may never come, because a file or a descriptor of another process may hang.
 *
 * The child writes its answers into a pipe, each in one write, and the caller waits for them for half a second at most. The child has
 * no other descriptor, and its parent has gone: where it hangs for ever, it holds nothing, and nobody waits for it.
 */
#ifndef CTP_CHILD_ASK_H
#define CTP_CHILD_ASK_H

#include <stddef.h>

struct ctp_child_ask {
	void (*work)(void *arg, int out);               /* in the child: writes answers to out */
	void (*answer)(void *arg, const void *answer);  /* in the caller: one answer has come */
	void *arg;
	size_t n, answer_bytes; /* answers to wait for, and the size of each: 4096 at most */
	int keep;               /* another descriptor that the child needs; -1: none */
};

enum ctp_child_asked {
	CTP_CHILD_ALL,  /* all answers have come */
	CTP_CHILD_LATE, /* some have not come in time */
	CTP_CHILD_NONE, /* the child could not be started */
};

/* In a child that may hang: closes all descriptors but these two, so that it keeps no lock, pipe or connection open. */
void ctp_child_close_others(int a, int b);

enum ctp_child_asked ctp_child_ask(const struct ctp_child_ask *ask);

#endif
