/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * object-copy.h - a copy of an object in the memory, of which any thread of the target may change any word at any time.
 */
#ifndef CTP_OBJECT_COPY_H
#define CTP_OBJECT_COPY_H

#include <stdbool.h>

#include "shm/arena.h"

/* Copies it. False: it changed meanwhile, or is being changed, and its words need not belong together. */
bool ctp_object_copy(const struct ctp_shm_object *from, struct ctp_shm_object *to);

#endif
