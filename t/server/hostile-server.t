#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A hostile server gets no file from ctp-mysql and ctp-postgres, and cannot make them crash, use unlimited memory, or hang.
# Mostly waits.
. t/helper/tap.sh
. t/helper/false-server.sh
server='' dir=$(mktemp -d /tmp/ctp-hostile.XXXXXX) # a socket's path is short
trap 'quit; rm -rf "$dir" "$tmp"' EXIT

quit() {
	[ -z "$server" ] || { kill -9 "$server"; wait "$server" 2>/dev/null; }
	server=''
}
serve() { # KIND SOCKET [PATTERN=ANSWER]...
	quit
	rm -f "$2"
	: >"$tmp/got"
	python3 t/helper/hostile-server.py "$@" >"$tmp/got" &
	server=$!
	until grep -q listens "$tmp/got" || ! kill -0 $server; do sleep 0.1; done
}
try() { # COMMAND...: its status, and its messages
	timeout -k 9 300 "$@" 2>"$tmp/err"
	echo "$? $(cat "$tmp/err")"
}
is_silent() { until grep -q silent "$tmp/got" || ! kill -0 $child 2>/dev/null; do sleep 0.1; done; } # it waits, or has ended
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# --- MySQL ----------------------------------------------------------------------------------------------------------------------
my() { serve mysql "$dir/s" "$@"; }
load() { exec "$mysql" -q -S "$dir/s" -u me -D db "$@" "$tmp/a.ctp"; }
try_load() { try "$mysql" -q -S "$dir/s" -u me -D db "$@" "$tmp/a.ctp"; }
of_mysql() {
my
is 'mysql: a load into a correct server succeeds' "$(try_load)" '0 '
is 'mysql: the correct server gets the row' "$(grep -c '^sent [1-9]' "$tmp/got")" 1

echo 'not for them' >"$tmp/secret"
ask_for() { # STATEMENT [NAME]: the server asks for a file
	my "$1=file:$tmp/secret"
	like "${2:-$1}: a request for a file is refused" "$(try_load)" "^1 ctp-mysql: db: the server asks for the file $tmp/secret of this machine, and does not get it"
	is "${2:-$1}: the server does not get its contents" "$(grep -c 'not for them' "$tmp/got")" 0
}
for statement in 'SET NAMES' 'sql_mode' 'max_statement_time' '@ctp_views' 'max_allowed_packet' 'get_lock' '^CREATE TABLE' 'INTO TABLE "_ctp_load_symbols"' 'INTO TABLE "_ctp_load_t"' '^ALTER'; do
	ask_for "$statement"
done
printf '[client]\ninit-command=LOAD DATA LOCAL INFILE "%s" INTO TABLE t\n' "$tmp/secret" >"$tmp/.my.cnf"
ask_for 'INTO TABLE t' 'an init-command'
rm "$tmp/.my.cnf"
my '^CREATE TABLE=silent' "KILL=file:$tmp/secret"
load &
child=$!
is_silent
kill -TERM $child
wait $child 2>/dev/null
is 'the connection made after a signal gives no file' "$(grep sent "$tmp/got")" 'sent 0 '
my 'INTO TABLE "_ctp_load_symbols"=file:ctp-mysql' 'SHOW WARNINGS=file:ctp-mysql' '^CREATE=file:ctp-mysql'
like 'the rows are for LOAD DATA alone' "$(try_load)" '^1 ctp-mysql: db: the server asks for the file ctp-mysql of this machine'
is 'no other statement gets them' "$(grep -c '^sent [1-9]' "$tmp/got")" 0

wrong() { # PATTERN ANSWER WHAT: as try_load says it
	my "$1=$2"
	like "mysql: $1 is answered with ${4:-$2}" "$(try_load)" "^1 ctp-mysql: db: the (answer of the )?database $3"
}
wrong '^SELECT id, table_name' 'rows:1' 'answered with 1 columns, and 2 were asked for'
wrong '^SELECT id, table_name' 'rows:1|t|x' 'answered with 3 columns, and 2 were asked for'
wrong '^SELECT id, table_name' 'rows:1|\N' 'answered with NULL where a value is expected'
wrong '^SELECT id, table_name' 'rows:x|t' 'answered with "x" where a number is expected'
wrong '^SELECT id, table_name' 'rows:1|a\0b' 'answered with a NUL in a text'
wrong '^SELECT id, table_name' many 'answered with 1 columns'
wrong '^SELECT k.table_name' 'rows:\N|x' 'answered with NULL where a value is expected'
wrong '^SELECT t.table_name, substr' 'rows:a' 'answered with 1 columns, and 2 were asked for'
wrong '^SELECT coalesce.max.id., 0. . 1' 'rows:9223372036854775807' 'answered with "9223372036854775807" where a number is expected'
wrong 'get_lock' 'rows:-1' 'answered with "-1" where a number is expected'
wrong 'get_lock' 'rows:1|1' 'answered with 2 columns, and 1 were asked for'
wrong 'max_allowed_packet' many 'is too long' '120 MB'
my '^SELECT k.table_name=rows:'
like 'mysql: a missing class is reported' "$(try_load)" '^1 ctp-mysql: db: the table classes has no class 1$'

at=$(port)
serve mysql "$at" LOGIN=clear
like 'mysql: a server that asks for the password in clear text is refused' "$(MYSQL_PWD=geheim try "$mysql" -q -h 127.0.0.1 -P "$at" -u me -D db "$tmp/a.ctp")" \
	'^1 ctp-mysql: db: the server asks for the password in a form that it could read, and does not get it without TLS; ssl-verify-server-cert=1 in an option file'
printf '[client]\nssl=1\nhost=127.0.0.1\n' >"$tmp/.my.cnf"
like 'it is refused if TLS is preferred, and the server has none' "$(MYSQL_PWD=geheim try "$mysql" -q -P "$at" -S "$dir/s" -u me -D db "$tmp/a.ctp")" '^1 ctp-mysql: db: the server asks for the password'
rm "$tmp/.my.cnf"
is 'mysql: it does not get the password over TCP' "$(grep -c geheim "$tmp/got")" 0
if command -v openssl >/dev/null; then
	# A verified server is the intended one; any other may be an attacker's.
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout "$tmp/key" -out "$tmp/cert" 2>/dev/null
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout "$tmp/key2" -out "$tmp/other" 2>/dev/null
	cat "$tmp/cert" "$tmp/key" >"$tmp/pem"
	by_tls() { # LINE...: of the option file; in $said the result, and what the server got
		serve mysql "$at" LOGIN=clear $offer
		printf '%s\n' '[client]' "$@" >"$tmp/.my.cnf"
		said=$(MYSQL_PWD=geheim try "$mysql" -q -h 127.0.0.1 -P "$at" -u me -D db "$tmp/a.ctp")
		rm "$tmp/.my.cnf"
		said="$said $(grep 'TLS\|geheim' "$tmp/got" | sort -u | tr '\n' ' ')"
	}
	offer=TLS=$tmp/pem
	by_tls "ssl-ca=$tmp/cert" ssl-verify-server-cert=1
	is 'mysql: with verified TLS it gets the password' "$said" '0  TLS password geheim '
	by_tls "ssl-ca=$tmp/cert" ssl-verify-server-cert=0
	like 'mysql: with unverified TLS it does not' "$said" '^1 ctp-mysql: db: the server asks for the password .* TLS $'
	by_tls "ssl-ca=$tmp/other" ssl-verify-server-cert=1
	like 'mysql: a certificate of another server is refused' "$said" '^1 ctp-mysql: db: (TLS|SSL)[^;]*$'
	is '  that server gets nothing' "$(grep -c geheim "$tmp/got")" 0
	offer=
	by_tls "ssl-ca=$tmp/cert" ssl-verify-server-cert=1
	like 'mysql: a server without TLS is refused if TLS must be verified' "$said" '^1 ctp-mysql: db: (TLS|SSL)[^;]*$'
	is '  that server gets nothing' "$(grep -c geheim "$tmp/got")" 0
else
	skip 'there is no openssl'
fi
my LOGIN=clear
is 'mysql: over a Unix socket it gets the password' "$(MYSQL_PWD=geheim try_load) $(grep geheim "$tmp/got" | sort -u)" '0  password geheim'

my '^CREATE TABLE=silent' 'LOGIN 2=silent'
load &
child=$!
is_silent
kill -TERM $child
wait $child 2>/dev/null
is 'mysql: one SIGTERM ends a load to a silent server' $? 143
for statement in LOGIN get_lock '^CREATE TABLE' 'INTO TABLE' '^ALTER'; do
	my "$statement=silent"
	load &
	child=$!
	is_silent
	kill -TERM $child
	until ! kill -0 $child 2>/dev/null; do
		sleep 0.1
		kill -TERM $child 2>/dev/null
	done
	wait $child 2>/dev/null
	is "mysql: a server that is silent at $statement: SIGTERM ends it" $? 143
done
}
[ ! -x "$mysql" ] || of_mysql

# --- PostgreSQL ------------------------------------------------------------------------------------------------------------------
pg() { serve postgres "$dir/.s.PGSQL.5432" "$@"; }
pg_try() { try "$postgres" -q -d "host=$dir user=me dbname=db" "$@" <"$tmp/a.ctp"; }
of_postgres() {
pg
is 'postgres: a load into a correct server succeeds' "$(pg_try)" '0 '
is 'postgres: a live load into a correct server succeeds' "$(pg_try --live)" '0 '
pg_wrong() { # PATTERN ANSWER WHAT [OPTION]
	pg "$1=$2"
	like "postgres: $1 is answered with $2" "$(pg_try $4)" "^1 ctp-postgres: db at $dir: the (answer of the )?database $3"
}
for option in '' --live; do
	pg_wrong '^SELECT id, table_name' 'rows:1' 'answered with 1 columns, and 2 were asked for' $option
	pg_wrong '^SELECT k.table_name' 'rows:t|a' 'answered with 2 columns, and 3 were asked for' $option
	pg_wrong '^SELECT k.table_name' 'rows:\N|a|b' 'answered with NULL where a value is expected' $option
	pg_wrong '^COPY' ok 'does not wait for rows' $option
	pg_wrong '^COPY' out 'answered with PGRES_COPY_OUT, which was not asked for' $option
	pg_wrong '^CREATE' copy 'waits for rows, which were not announced' $option
	pg_wrong '^CREATE' out 'answered with PGRES_COPY_OUT, which was not asked for' $option
	pg_wrong 'advisory' 'rows:-1' 'answered with "-1" where a number is expected' $option
	pg_wrong '^SELECT id, table_name' 'rows:1|a\0b' 'answered with a NUL in a text' $option
	pg_wrong '^SELECT id, table_name' ok 'answered without rows' $option
	pg 'COPIED=copy'
	like "postgres: COPY is answered with COPY $option" "$(pg_try $option)" "^1 ctp-postgres: db at $dir: "
	pg '^SELECT k.table_name=rows:t|\N|bigint'
	like "postgres: a column without a name $option" "$(pg_try $option)" "^1 ctp-postgres: db at $dir: table t lacks columns that the table fields lists; it was changed: load into a new database"
done
pg_wrong 'advisory' many 'is too long'

at=$(port)
serve postgres "$at" LOGIN=clear
to() { try "$postgres" $1 -d "host=$2 port=$at user=me dbname=db password=geheim $3" "$tmp/a.ctp"; }
like 'postgres: a password in clear text over the network is reported' "$(to '' 127.0.0.1)" \
	'^0 ctp-postgres: db at 127.0.0.1: the password went over the network without TLS, in clear if the server asked for that; sslmode=verify-full prevents it$'
is 'postgres: -q does not report it' "$(to -q 127.0.0.1)" '0 '
like 'postgres: with sslmode=verify-full the password is not sent' "$(: >"$tmp/got"; to '' 127.0.0.1 sslmode=verify-full) $(cat "$tmp/got")" '^1 ctp-postgres: .*server does not support SSL, but SSL was required $'
pg LOGIN=clear
is 'postgres: a Unix socket is no network' "$(to '' "$dir" port=5432)" '0 '

for statement in LOGIN BEGIN '^CREATE' '^COPY' COPIED COMMIT; do
	pg "$statement=silent"
	"$postgres" -q --live -d "host=$dir user=me dbname=db" <"$tmp/a.ctp" 2>"$tmp/err" &
	child=$!
	is_silent
	for nth in 1 2 3; do kill -TERM $child; done 2>/dev/null
	until ! kill -0 $child 2>/dev/null; do
		sleep 0.1
		kill -TERM $child 2>/dev/null
	done
	wait $child 2>/dev/null
	is "postgres --live: a server that is silent at $statement: SIGTERM ends it" $? 143
done
}
[ ! -x "$postgres" ] || of_postgres

done_testing
