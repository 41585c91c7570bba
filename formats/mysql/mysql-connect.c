/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql-connect.c - a connection, as the family's own clients make it: option files, their variables, sockets and TLS.
 *
 * libmariadb finds what the options leave out; only the database has a default of ours, coroTracer's. No message contains a password.
 */
#include <errmsg.h>
#include <mysqld_error.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "mysql/mysql-db.h"
#include "sql/sql-answer.h"

static const char DATABASE[] = "coro_tracer";

/* Whether the answer to a statement is missing: it may have been carried out. */
static bool is_lost(unsigned number)
{
	return number == CR_SERVER_LOST || number == CR_SERVER_GONE_ERROR || number == CR_UNKNOWN_ERROR ||
	       number == ER_SERVER_SHUTDOWN || number == ER_CONNECTION_KILLED;
}

enum ctp_status ctp_mysql_error(struct ctp_mysql *m, struct ctp_err *err)
{
	const char *why = m->conn ? mysql_error(m->conn) : "out of memory";
	int len = (int)strcspn(why, "\n");
	uintmax_t rows = m->delivered;
	if (m->conn && mysql_errno(m->conn) == CR_PLUGIN_NOT_ALLOWED)
		return ctp_err_set(err, "%s: the server asks for the password in a form that it could read, and does not get it without TLS;"
		                        " ssl-verify-server-cert=1 in an option file, or a socket of this machine", m->name);
	if (m->committing && is_lost(mysql_errno(m->conn)))
		return ctp_err_set(err, "%s: %.*s; whether the %ju rows are kept is not known: --append adds them, or says that they are", m->name, len, why, rows);
	if (rows)
		return ctp_err_set(err, "%s: %.*s; %ju rows were sent, and none is kept", m->name, len, why, rows);
	return ctp_err_set(err, "%s: %.*s", m->name, len, why);
}

/* --- statements ---------------------------------------------------------------------------------------------------------- */

enum ctp_status ctp_mysql_exec(struct ctp_sql *db, const char *sql, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	int more = mysql_real_query(m->conn, sql, strlen(sql)) != 0; /* less than 0 is "no more" below, and a refused file here */
	for (; !more; more = mysql_next_result(m->conn)) {
		MYSQL_RES *result = mysql_use_result(m->conn);
		mysql_free_result(result); /* reads its rows */
		if ((!result && mysql_field_count(m->conn)) || mysql_errno(m->conn))
			return ctp_mysql_error(m, err);
	}
	return more > 0 ? ctp_mysql_error(m, err) : CTP_OK;
}

/* Rows are kept here, up to a limit, and not by the library, which has none. */
static enum ctp_status keep_rows(struct ctp_mysql *m, MYSQL_RES *result, struct ctp_sql_answer *answer, struct ctp_err *err)
{
	unsigned n = mysql_num_fields(result);
	for (MYSQL_ROW got; (got = mysql_fetch_row(result));) {
		const unsigned long *lengths = mysql_fetch_lengths(result);
		size_t len[CTP_SQL_COLUMNS_MAX];
		for (unsigned i = 0; i < n && i < CTP_SQL_COLUMNS_MAX; i++)
			len[i] = lengths[i];
		if (ctp_sql_answer_add(answer, n, (const char *const *)got, len, err))
			return CTP_FAILED;
	}
	return mysql_errno(m->conn) ? ctp_mysql_error(m, err) : CTP_OK;
}

enum ctp_status ctp_mysql_query(struct ctp_sql *db, const char *sql, const char *asked, ctp_sql_row *row, void *arg, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	struct ctp_sql_answer answer = {.db = db, .asked = asked};
	MYSQL_RES *result = mysql_real_query(m->conn, sql, strlen(sql)) ? NULL : mysql_use_result(m->conn);
	if (!result)
		return ctp_mysql_error(m, err);
	enum ctp_status status = keep_rows(m, result, &answer, err);
	if (status) /* the rest, which may have no end, is not read */
		shutdown((int)mysql_get_socket(m->conn), SHUT_RDWR);
	mysql_free_result(result);
	if (!status)
		ctp_sql_answer_each(&answer, row, arg);
	ctp_sql_answer_fini(&answer);
	return status;
}

/* --- connecting ---------------------------------------------------------------------------------------------------------- */

/* A server that is gone is noticed, also where no packet says so. On a socket of the machine's own this is nothing. */
static void keep_alive(MYSQL *conn)
{
	static const struct {
		int option, value;
	} set[] = {{TCP_KEEPIDLE, 30}, {TCP_KEEPINTVL, 10}, {TCP_KEEPCNT, 3}, {TCP_USER_TIMEOUT, 60000}};
	int fd = (int)mysql_get_socket(conn), on = 1;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	for (size_t i = 0; i < sizeof set / sizeof *set; i++)
		setsockopt(fd, IPPROTO_TCP, set[i].option, &set[i].value, sizeof set[i].value);
}

/*
 * The server chooses the authentication method. The hashed methods reveal nothing of a password; the others do,
 * caching_sha2_password too, where it sends the key by which the password is encrypted.
 */
static const char hashed_auth[] = "mysql_native_password,client_ed25519";
static const char any_auth[] = "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password,mysql_clear_password,dialog,"
                          "auth_gssapi_client,unix_socket,parsec";

/* Whether the connection is verified TLS or a local socket, by the rule by which the library chooses between socket and TCP. */
static bool is_trusted(struct ctp_mysql *m)
{
	const char *host = m->options.host && *m->options.host ? m->options.host : m->conn->options.host;
	unsigned protocol = 0;
	my_bool verified = 0;
	mysql_get_option(m->conn, MYSQL_OPT_PROTOCOL, &protocol);
	mysql_get_option(m->conn, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified);
	return verified || ((!host || !strcmp(host, "localhost")) && protocol != MYSQL_PROTOCOL_TCP);
}

static bool connect_by(struct ctp_mysql *m, const char *methods, const char *database)
{
	const struct ctp_mysql_options *o = &m->options;
	mysql_options(m->conn, MARIADB_OPT_RESTRICTED_AUTH, methods);
	return mysql_real_connect(m->conn, o->host, o->user, NULL, database, o->port, o->socket, CLIENT_MULTI_STATEMENTS | CLIENT_REMEMBER_OPTIONS);
}

/* m->conn is there, connected or with its error. */
static bool connect_to(struct ctp_mysql *m, const char *database)
{
	const struct ctp_mysql_options *o = &m->options;
	const unsigned on = 1, tcp = MYSQL_PROTOCOL_TCP, connect_s = CTP_MYSQL_CONNECT_S, answer_s = CTP_MYSQL_ANSWER_S;
	if (m->conn)
		mysql_close(m->conn);
	if (!(m->conn = mysql_init(NULL)))
		return false;
	mysql_options(m->conn, MYSQL_READ_DEFAULT_GROUP, "client");
	mysql_options(m->conn, MYSQL_OPT_LOCAL_INFILE, &on);
	ctp_mysql_file_guard(m);
	if (m->ending) {
		mysql_options(m->conn, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
		mysql_options(m->conn, MYSQL_OPT_READ_TIMEOUT, &answer_s);
	}
	if (o->port && !o->host && !o->socket)
		mysql_options(m->conn, MYSQL_OPT_PROTOCOL, &tcp);
	if (!connect_by(m, hashed_auth, database) &&
	    (mysql_errno(m->conn) != CR_PLUGIN_NOT_ALLOWED || !is_trusted(m) || !connect_by(m, any_auth, database)))
		return false;
	keep_alive(m->conn);
	/*
	 * What option files say must not change: names and texts are UTF-8, and a connection that is lost stays so, with its lock,
	 * its transaction and its settings.
	 */
	mysql_options(m->conn, MYSQL_OPT_RECONNECT, &(const my_bool){0});
	return !mysql_set_character_set(m->conn, "utf8mb4");
}

/*
 * Whatever an init-command or the server's own settings say: answers are whole, statements are carried out, warnings are counted, and
 * the session waits for a slow input as long as it takes.
 */
#define SESSION \
	"SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'," \
	" sql_select_limit = 18446744073709551615, max_join_size = 18446744073709551615, sql_big_selects = 1, sql_safe_updates = 0," \
	" sql_auto_is_null = 0, sql_notes = 1, max_error_count = 64, completion_type = 0, autocommit = 0, wait_timeout = 2147483," \
	" foreign_key_checks = 0; SET SESSION TRANSACTION READ WRITE"

static enum ctp_status make_database(struct ctp_mysql *m, struct ctp_err *err)
{
	if (!connect_to(m, "information_schema")) /* with none it is that of the option files, if these name one */
		return ctp_mysql_error(m, err);
	if (ctp_mysql_exec(&m->sql, SESSION, err))
		return CTP_FAILED;
	char *sql = ctp_sql_text(&m->sql, "CREATE DATABASE IF NOT EXISTS %I CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", m->name);
	if (!sql)
		return ctp_sql_no_memory(&m->sql, err);
	bool made = !mysql_real_query(m->conn, sql, strlen(sql)) && !mysql_select_db(m->conn, m->name);
	free(sql);
	return made ? CTP_OK : ctp_err_set(err, "%s: there is no such database, and it cannot be made: %s", m->name, mysql_error(m->conn));
}

/* MySQL knows no max_statement_time. */
static enum ctp_status set_session(struct ctp_mysql *m, struct ctp_err *err)
{
	static const char limit[] = "SET SESSION max_statement_time = 0";
	if (ctp_mysql_exec(&m->sql, SESSION, err))
		return CTP_FAILED;
	if (mysql_real_query(m->conn, limit, sizeof limit - 1) && mysql_errno(m->conn) != ER_UNKNOWN_SYSTEM_VARIABLE)
		return ctp_mysql_error(m, err);
	struct ctp_bytes views = {0};
	const char *view;
	for (size_t i = 0; (view = ctp_sql_view_name(m->sql.words->views, i)); i++)
		ctp_sql_put(&m->sql, &views, i ? ",%s" : "%s", view);
	const char *names = ctp_bytes_str(&views);
	enum ctp_status status = names ? ctp_sql_exec(&m->sql, err, "SET @ctp_views = %L", names) : ctp_sql_no_memory(&m->sql, err);
	ctp_bytes_fini(&views);
	int64_t packet = status ? -1 : ctp_sql_look_up(&m->sql, err, "SELECT @@max_allowed_packet");
	m->packet = packet > 0 ? (size_t)packet : 0;
	return packet < 0 ? CTP_FAILED : CTP_OK;
}

/* --- the lock ------------------------------------------------------------------------------------------------------------ */

#define LOCK "concat('ctp-mysql ', left(sha2(database(), 256), 40))"

/*
 * A server goes on with the statement of a client that was killed, and takes all back then, before it lets the lock go: with many
 * rows these are minutes. So the notice says what it does.
 */
static void say_lock_holder(struct ctp_mysql *m)
{
	struct ctp_err ignored;
	enum ctp_status status;
	int64_t holder = ctp_sql_look_up(&m->sql, &ignored, "SELECT is_used_lock(" LOCK ")");
	char *what = holder > 0 ? ctp_sql_find(&m->sql, &status, &ignored, "SELECT concat(', which runs ', left(info, 40), ' ... since ', time, ' s')"
	                                      " FROM information_schema.processlist WHERE id = %d AND info IS NOT NULL", holder) : NULL;
	ctp_notice_say(m->options.notice, "%s: waits for another ctp-mysql, connection %jd%s", m->name, (intmax_t)holder, what ? what : "");
	free(what);
}

enum ctp_status ctp_mysql_lock(struct ctp_mysql *m, int64_t wait_s, struct ctp_err *err)
{
	int64_t got = ctp_sql_look_up(&m->sql, err, "SELECT get_lock(" LOCK ", 0)");
	if (!got && wait_s) {
		say_lock_holder(m);
		got = ctp_sql_look_up(&m->sql, err, "SELECT get_lock(" LOCK ", %d)", wait_s);
	}
	if (got < 0)
		return CTP_FAILED;
	return got ? CTP_OK : ctp_err_set(err, "%s: another ctp-mysql loads into it", m->name);
}

enum ctp_status ctp_mysql_open(struct ctp_mysql *m, struct ctp_err *err)
{
	m->name = m->sql.name = m->options.database ? m->options.database : DATABASE;
	if (!connect_to(m, m->name)) {
		if (!m->conn || mysql_errno(m->conn) != ER_BAD_DB_ERROR)
			return ctp_mysql_error(m, err);
		if (make_database(m, err))
			return CTP_FAILED;
	}
	return set_session(m, err);
}
