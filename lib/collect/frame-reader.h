/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * frame-reader.h - words of a process's memory, read by a thread of its own.
 *
 * A page of the target may be one that never comes: of userfaultfd(2), or of a file whose file system the target serves itself. A
 * thread that reads it waits until it is killed. So the reader's thread is waited for no longer than a moment; if it has no answer by
 * then, nothing is read until it has one. It blocks all signals, and ends with the program at the latest.
 */
#ifndef CTP_FRAME_READER_H
#define CTP_FRAME_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/frame-queue.h"

struct ctp_frame_reader;

struct ctp_frame_reader *ctp_frame_reader_new(void); /* null: out of memory */
void ctp_frame_reader_free(struct ctp_frame_reader *reader); /* null: nothing */

/*
 * The words at addrs, n of them, CTP_FRAME_QUEUE_AT_ONCE at most. Returns how many, from the first on, could be read; -1: none, and
 * errno is as process_vm_readv(2) has it, or ETIMEDOUT: the process does not answer, or another one did not.
 */
ssize_t ctp_frame_reader_read(struct ctp_frame_reader *reader, pid_t pid, const uint64_t *addrs, size_t n, uint64_t *words);

#endif
