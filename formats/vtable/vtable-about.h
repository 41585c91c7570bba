/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * vtable-about.h - the contents of a trace for SQL: the functions ctp_sections('t.ctp'), a row for each section, and
 * ctp_classes('t.ctp'), a row for each field of each class.
 */
#ifndef CTP_VTABLE_ABOUT_H
#define CTP_VTABLE_ABOUT_H

#include <sqlite3ext.h>

int ctp_vtable_about(sqlite3 *db); /* registers both */

#endif
