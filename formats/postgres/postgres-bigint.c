/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* postgres-bigint.c - the same words as postgres-words.c, for a database whose numbers are BIGINT. */
#define BIGINT "BIGINT"
#include "postgres/postgres-words.c"
