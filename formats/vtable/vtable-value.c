/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* vtable-value.c - the SQLite that has loaded the extension, and the values of sqlite-value.h as that one makes them. */
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1

#include "sqlite/sqlite-value.c"
