/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * postgres-connect.c - a connection, as psql makes it: libpq's variables, its files of passwords and services.
 *
 * libpq finds what the connection string leaves out; only the database has a default of ours, coroTracer's. A message never has a
 * password: libpq's message about a connection string that it cannot read would show a part of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/postgres-db.h"

static const char DATABASE[] = "coro_tracer";
enum { PARAMETERS = 16 };

struct parameters {
	const char *key[PARAMETERS], *value[PARAMETERS];
	int n;
};

static void set(struct parameters *to, const char *key, const char *value)
{
	if (value) {
		to->key[to->n] = key;
		to->value[to->n++] = value;
	}
}

static const char *find(const PQconninfoOption *options, const char *key)
{
	for (; options && options->keyword; options++)
		if (!strcmp(options->keyword, key))
			return options->val;
	return NULL;
}

enum ctp_status ctp_postgres_error(struct ctp_postgres *p, const PGresult *result, struct ctp_err *err)
{
	const char *why = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	if (!why)
		why = PQerrorMessage(p->conn);
	if (!*why)
		why = "the connection is lost";
	int len = (int)strcspn(why, "\n"); /* further lines are hints */
	uintmax_t kept = p->committed, sent = p->delivered - p->committed;
	if (p->options.live && p->committing)
		return ctp_err_set(err, "%s: %.*s; %ju rows are committed, and of %ju more it is not known", p->name, len, why, kept, sent);
	if (p->options.live)
		return ctp_err_set(err, "%s: %.*s; %ju rows are committed", p->name, len, why, kept);
	if (p->committing && PQstatus(p->conn) == CONNECTION_BAD)
		return ctp_err_set(err, "%s: %.*s; whether the %ju rows are kept is not known: --append adds them, or says that they are", p->name, len, why, sent);
	if (!p->delivered)
		return ctp_err_set(err, "%s: %.*s", p->name, len, why);
	return ctp_err_set(err, "%s: %.*s; %ju rows were sent, and none is kept", p->name, len, why, (uintmax_t)p->delivered);
}

/* database: before what the connection string says; null: as that says. */
static PGconn *connect_to(const char *conninfo, const char *database)
{
	struct parameters to = {0};
	set(&to, "keepalives_idle", "30"); /* a server that is gone is noticed, also where no packet says so */
	set(&to, "keepalives_interval", "10");
	set(&to, "tcp_user_timeout", "60000");
	set(&to, "fallback_application_name", "ctp-postgres");
	set(&to, "dbname", conninfo ? conninfo : "");
	set(&to, "dbname", database);
	set(&to, "client_encoding", "UTF8");
	return PQconnectdbParams(to.key, to.value, 1);
}

/* The database that the user has named, null if none; "": a service names it, or libpq's variable. */
static const char *named_database(const PQconninfoOption *options)
{
	const char *name = find(options, "dbname");
	if (name && *name)
		return name;
	return find(options, "service") || getenv("PGSERVICE") || getenv("PGDATABASE") ? "" : NULL;
}

/* Whether the server, asked in its own database, has none of that name, and now has. */
static bool make_database(struct ctp_postgres *p, const char *name, struct ctp_err *err)
{
	static const char there[] = "SELECT 1 FROM pg_database WHERE datname = %L";
	struct ctp_postgres own = {.sql = p->sql, .conn = connect_to(p->options.conninfo, "postgres")};
	struct ctp_err ignored;
	bool made = false;
	snprintf(own.name, sizeof own.name, "%.200s: there is no such database, and it cannot be made", p->name);
	if (PQstatus(own.conn) == CONNECTION_OK && !ctp_sql_look_up(&own.sql, &ignored, there, name)) {
		made = !ctp_sql_exec(&own.sql, err, "CREATE DATABASE %I ENCODING 'UTF8' TEMPLATE template0", name) ||
		       ctp_sql_look_up(&own.sql, &ignored, there, name) > 0; /* another was quicker */
		/* The views' plans are long and quick: to compile one takes a hundred times as long as to run it. */
		if (made)
			*err = (struct ctp_err){0};
		if (made)
			ctp_sql_exec(&own.sql, &ignored, "ALTER DATABASE %I SET jit = off", name);
	}
	PQfinish(own.conn);
	return made;
}

static void name_it(struct ctp_postgres *p, const char *database)
{
	const char *host = p->conn ? PQhost(p->conn) : NULL;
	const char *name = p->conn && PQdb(p->conn) && *PQdb(p->conn) ? PQdb(p->conn) : database;
	snprintf(p->name, sizeof p->name, "%.100s%s%.100s", name, host && *host ? " at " : "", host ? host : "");
	p->sql.name = p->name;
}

/* libpq does not tell whether the server asked for the password itself, or for a proof of it. */
static void warn_of_clear_password(const struct ctp_postgres *p)
{
	const char *host = PQhost(p->conn);
	if (PQconnectionUsedPassword(p->conn) && !PQsslInUse(p->conn) && !PQgssEncInUse(p->conn) && host && *host && *host != '/' && *host != '@')
		ctp_notice_say(p->options.notice, "%s: the password went over the network without TLS, in clear if the server asked for that;"
		                                  " sslmode=verify-full prevents it", p->name);
}

/* "relation sections already exists, skipping", and such. */
static void ignore_notice(void *arg, const char *text) { (void)arg, (void)text; }

enum ctp_status ctp_postgres_connect(struct ctp_postgres *p, struct ctp_err *err)
{
	char *why = NULL;
	const char *conninfo = p->options.conninfo ? p->options.conninfo : "";
	PQconninfoOption *options = PQconninfoParse(conninfo, &why);
	PQfreemem(why);
	if (!options && (strchr(conninfo, '=') || strstr(conninfo, "://")))
		return ctp_err_set(err, "-d: is no connection string; try \"host=... dbname=... user=...\" or postgresql://user@host/database");
	const char *database = options ? named_database(options) : conninfo, *wanted = database ? database : DATABASE;
	p->conn = connect_to(p->options.conninfo, database && options ? NULL : wanted);
	name_it(p, wanted);
	*err = (struct ctp_err){0};
	if (PQstatus(p->conn) != CONNECTION_OK && make_database(p, p->conn && *PQdb(p->conn) ? PQdb(p->conn) : wanted, err)) {
		PQfinish(p->conn);
		p->conn = connect_to(p->options.conninfo, database && options ? NULL : wanted);
	}
	PQconninfoFree(options);
	if (PQstatus(p->conn) != CONNECTION_OK)
		return *err->text ? CTP_FAILED : ctp_postgres_error(p, NULL, err);
	warn_of_clear_password(p);
	const char *encoding = PQparameterStatus(p->conn, "server_encoding");
	p->escapes = encoding && strcmp(encoding, "UTF8") && strcmp(encoding, "SQL_ASCII");
	PQsetNoticeProcessor(p->conn, ignore_notice, NULL);
	return CTP_OK;
}
