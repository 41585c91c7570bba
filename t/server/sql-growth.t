#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# What an engine does for a view grows with the records, not with their square: of a coroutine's, of coroutines, and of what is lost.
# make check asks SQLite, make check-all, by EVERY, the servers, too.
# Under sanitizers only in check-all: the database takes most of the time.
. t/helper/tap.sh
sqlite=$BIN/ctp-sqlite
[ -x "$sqlite" ] || skip_all 'ctp-sqlite was not built'
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'there is no python3 with sqlite3'
for n in 500 2000; do
	python3 t/helper/sql-growth.py make $n | "$BIN/ctp-fromjsonl" -q >"$tmp/$n.ctp"
	"$sqlite" -q -o "$tmp/$n.sqlite" "$tmp/$n.ctp"
	is "ctp-sqlite, $n" $? 3 # records are lost
done
is 'SQLite' "$(python3 t/helper/sql-growth.py sqlite "$tmp/500.sqlite" "$tmp/2000.sqlite" 2>"$tmp/err" || cat "$tmp/err")" ''
[ "${EVERY:-}" ] || { skip 'PostgreSQL and MariaDB (only with EVERY=1)'; done_testing; }

. t/helper/postgres.sh
if [ -x "$BIN/ctp-postgres" ] && [ -x "$pg_bin/initdb" ] && command -v psql >/dev/null; then
	pg_need
	for n in 500 2000; do "$BIN/ctp-postgres" -q -d g$n "$tmp/$n.ctp"; done
	is 'PostgreSQL' "$(python3 t/helper/sql-growth.py postgres g500 g2000 2>"$tmp/err" || cat "$tmp/err")" ''
	is 'which has the same' "$(python3 t/helper/sql-same.py "$tmp/500.sqlite" psql -X --csv -P null='\N' -d g500)" ''
	pg_stop
else
	note 'PostgreSQL is not there'
fi

. t/helper/mysql.sh
if [ -x "$mysql" ] && command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null; then
	my_need
	my_start
	for n in 500 2000; do load -q -D g$n "$tmp/$n.ctp"; done
	is 'MariaDB' "$(SOCKET=$dir/s.sock python3 t/helper/sql-growth.py mariadb g500 g2000 2>"$tmp/err" || cat "$tmp/err")" ''
	same 'which has the same' g500 "$tmp/500.sqlite"
else
	note 'MariaDB is not there'
fi
done_testing
