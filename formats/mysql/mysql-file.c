/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql-file.c - the file that a server may ask for.
 *
 * The protocol lets a server answer any statement with a request for a file of the client's, and the library would send it. So each
 * connection has these functions from before it is made, and they open no file: the rows of one statement can be read, once, by the
 * name that the statement has, and whatever else a server asks for is refused.
 */
#include <errmsg.h>
#include <stdio.h>
#include <string.h>

#include "mysql/mysql-db.h"

static int begin_file(void **file, const char *name, void *arg)
{
	struct ctp_mysql *m = arg;
	bool wanted = m->file.asked && !strcmp(name, CTP_MYSQL_FILE);
	*file = m;
	m->file.asked = false;
	if (!wanted)
		snprintf(m->file.why, sizeof m->file.why, "the server asks for the file %.100s of this machine, and does not get it", name);
	return !wanted;
}

static int read_file(void *file, char *to, unsigned len)
{
	struct ctp_mysql *m = file;
	size_t part = m->file.left < len ? m->file.left : len;
	if (part)
		memcpy(to, m->file.rows, part);
	m->file.rows += part;
	m->file.left -= part;
	return (int)part;
}

static void end_file(void *file) { (void)file; }

static int fail_file(void *file, char *why, unsigned len)
{
	const struct ctp_mysql *m = file;
	snprintf(why, len, "%s", m->file.why);
	return CR_UNKNOWN_ERROR;
}

void ctp_mysql_file_guard(struct ctp_mysql *m)
{
	m->file = (struct ctp_mysql_file){0};
	mysql_set_local_infile_handler(m->conn, begin_file, read_file, end_file, fail_file, m);
}

int ctp_mysql_load(struct ctp_mysql *m, const char *sql, const char *rows, size_t len)
{
	m->file = (struct ctp_mysql_file){.asked = true, .rows = rows, .left = len};
	int failed = mysql_real_query(m->conn, sql, strlen(sql));
	m->file = (struct ctp_mysql_file){0};
	return failed;
}
