# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# mysql.sh - a server of a test's own: `. t/helper/mysql.sh`, after tap.sh. MariaDB's, or MySQL's where MYSQLD names its mysqld.
#
#	my_need   my_start [OPTION...]   my_kill   sql [OPTION...]   load [OPTION...]   left DATABASE   same NAME DATABASE SQLITE
# shellcheck shell=sh disable=SC2034,SC2154 # tap.sh has $tmp, and the tests use $from
PATH=$PATH:/usr/sbin
unset MYSQL_PWD MYSQL_HOST MYSQL_TCP_PORT MYSQL_UNIX_PORT
export HOME="$tmp"
mysql=$BIN/ctp-mysql from=$BIN/ctp-fromjsonl
dir='' pid='' my_user=''
steps=${EVERY:+700} # of sqlite-views.py; SQLite's views are compared with a model of all of them, these with SQLite's
steps=${steps:-120}

sql() { MYSQL_PWD='' mariadb --no-defaults --ssl=0 -S "$dir/s.sock" -u root -N -B -r --default-character-set=utf8mb4 "$@"; }
load() { "$mysql" -S "$dir/s.sock" -u root "$@"; }
tables() { sql -D "$1" -e 'SHOW TABLES' | tr '\n' ' '; }
left() { sql -D "$1" -e 'SHOW TABLES' | grep -c '^_ctp_'; }
none() { is "$2: nothing is left" "$(tables "$1")" ''; }
same() { # NAME DATABASE SQLITE: all tables and views, row by row
	is "$1" "$(python3 t/helper/sql-same.py --once "$3" python3 t/helper/mysql.py csv "$dir/s.sock" "$2")" ''
}

my_make() { # the data of a new server
	if [ "$MYSQLD" ]; then
		"$MYSQLD" --no-defaults ${my_user:+"$my_user"} --datadir="$dir/data" --initialize-insecure
	else
		mariadb-install-db --no-defaults ${my_user:+"$my_user"} --datadir="$dir/data" --auth-root-authentication-method=normal --skip-test-db
	fi
}

my_start() { # returns when it answers
	set -- --no-defaults ${my_user:+"$my_user"} --datadir="$dir/data" --socket="$dir/s.sock" --pid-file="$dir/pid" --tmpdir="$dir" --skip-networking "$@"
	[ -z "$MYSQLD" ] || set -- "$@" --mysqlx=OFF --secure-file-priv=NULL
	"${MYSQLD:-mariadbd}" "$@" >>"$tmp/log" 2>&1 &
	pid=$!
	until sql -e 'SELECT 1' >/dev/null 2>&1; do
		kill -0 "$pid" 2>/dev/null || skip_all "${MYSQLD:-mariadbd}: $(tail -n 1 "$tmp/log")"
		sleep 0.1
	done
}

my_kill() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=''
}

my_need() {
	[ -x "$mysql" ] || skip_all 'ctp-mysql was not built'
	[ -x "$BIN/ctp-sqlite" ] || skip_all 'ctp-sqlite was not built'
	python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
	for my_tool in mariadb ${MYSQLD:-mariadbd mariadb-install-db}; do
		command -v "$my_tool" >/dev/null || skip_all "there is no $my_tool (package mariadb-server-core or mariadb-client-core)"
	done
	dir=$(mktemp -d /tmp/ctp-mysql.XXXXXX) # a socket's path is short
	trap '[ -z "$pid" ] || kill -9 "$pid"; my_end; rm -rf "$dir" "$tmp"' EXIT
	if [ "$(id -u)" = 0 ]; then
		my_user=--user=nobody
		chmod 755 "$dir"
		chown nobody "$dir"
	fi
	my_make >"$tmp/log" 2>&1 || skip_all "${MYSQLD:-mariadb-install-db}: $(tail -n 1 "$tmp/log")"
}

my_end() { :; } # a test's own, when it ends
