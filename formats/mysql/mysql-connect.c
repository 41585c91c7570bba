/*
 * mysql-connect.c - a connection, as the family's own clients make it: option files, their variables, sockets and TLS.
 *
 * What is not told is libmariadb's to find; the database alone is coroTracer's. No message has a password: the library's have none.
 */
#include <errmsg.h>
#include <mysqld_error.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "mysql/mysql-db.h"

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
	int more = mysql_real_query(m->conn, sql, strlen(sql));
	for (; !more; more = mysql_next_result(m->conn)) {
		MYSQL_RES *result = mysql_store_result(m->conn);
		mysql_free_result(result);
		if (!result && mysql_field_count(m->conn))
			return ctp_mysql_error(m, err);
	}
	return more > 0 ? ctp_mysql_error(m, err) : CTP_OK;
}

enum ctp_status ctp_mysql_query(struct ctp_sql *db, const char *sql, void (*row)(void *arg, const char *const *columns), void *arg,
                                struct ctp_err *err)
{
	enum { COLUMNS_MAX = 8 };
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	MYSQL_RES *result = mysql_real_query(m->conn, sql, strlen(sql)) ? NULL : mysql_store_result(m->conn);
	if (!result)
		return ctp_mysql_error(m, err);
	unsigned n = mysql_num_fields(result);
	for (MYSQL_ROW got; (got = mysql_fetch_row(result));) {
		const char *columns[COLUMNS_MAX] = {0};
		for (unsigned i = 0; i < n && i < COLUMNS_MAX; i++)
			columns[i] = got[i];
		row(arg, columns);
	}
	mysql_free_result(result);
	return CTP_OK;
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
 * What option files say must not change: names and texts are UTF-8, and a connection that is lost stays so, with its lock, its
 * transaction and its settings.
 */
static bool insist(MYSQL *conn)
{
	const my_bool off = 0;
	mysql_options(conn, MYSQL_OPT_RECONNECT, &off);
	return !mysql_set_character_set(conn, "utf8mb4");
}

/* m->conn is there, connected or with its error. */
static bool connect_to(struct ctp_mysql *m, const char *database)
{
	const struct ctp_mysql_options *o = &m->options;
	const unsigned on = 1, tcp = MYSQL_PROTOCOL_TCP;
	if (m->conn)
		mysql_close(m->conn);
	if (!(m->conn = mysql_init(NULL)))
		return false;
	mysql_options(m->conn, MYSQL_READ_DEFAULT_GROUP, "client");
	mysql_options(m->conn, MYSQL_OPT_LOCAL_INFILE, &on);
	if (o->port && !o->host && !o->socket)
		mysql_options(m->conn, MYSQL_OPT_PROTOCOL, &tcp);
	if (!mysql_real_connect(m->conn, o->host, o->user, NULL, database, o->port, o->socket, CLIENT_MULTI_STATEMENTS))
		return false;
	keep_alive(m->conn);
	return insist(m->conn);
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
		return ctp_err_set(err, "%s: out of memory", m->name);
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
	mysql_real_query(m->conn, limit, sizeof limit - 1);
	const struct ctp_sql_views *v = m->sql.words->views;
	char *names = ctp_sql_text(&m->sql, "");
	for (size_t i = 0; names && i < v->nkinds + v->nviews; i++) {
		char *more = ctp_sql_text(&m->sql, "%s%s%s", names, i ? "," : "", i < v->nkinds ? v->kinds[i].view : v->views[i - v->nkinds].name);
		free(names);
		names = more;
	}
	enum ctp_status status = names ? ctp_sql_exec(&m->sql, err, "SET @ctp_views = %L", names) : ctp_err_set(err, "%s: out of memory", m->name);
	free(names);
	int64_t packet = status ? -1 : ctp_sql_look_up(&m->sql, err, "SELECT @@max_allowed_packet");
	m->packet = packet > 0 ? (size_t)packet : 0;
	return packet < 0 ? CTP_FAILED : CTP_OK;
}

/* --- the lock ------------------------------------------------------------------------------------------------------------ */

#define LOCK "concat('ctp-mysql ', left(sha2(database(), 256), 40))"

enum ctp_status ctp_mysql_lock(struct ctp_mysql *m, int64_t wait_s, struct ctp_err *err)
{
	int64_t got = ctp_sql_look_up(&m->sql, err, "SELECT get_lock(" LOCK ", 0)");
	if (!got && wait_s) {
		int64_t whose = ctp_sql_look_up(&m->sql, err, "SELECT is_used_lock(" LOCK ")");
		ctp_notice_say(m->options.notice, "%s: waits for another ctp-mysql, connection %jd", m->name, (intmax_t)whose);
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
