#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# A short form of mysql.t, mysql-connect.t and mysql-life.t for MySQL's own server: MYSQLD, or the mysqld that is found.
PATH=$PATH:/usr/sbin
MYSQLD=${MYSQLD:-$(command -v mysqld)}
export MYSQLD
# Not under sanitizers: it waits for a server most of the time.
. t/helper/tap.sh
. t/helper/mysql.sh
case $("${MYSQLD:-false}" --version 2>&1) in
'') skip_all 'there is no mysqld of MySQL (package mysql-server-core)' ;;
*MariaDB*) skip_all "$MYSQLD is MariaDB's" ;;
esac
my_need
my_start
for copy in a b; do python3 t/helper/sqlite-views.py make 1 | "$from" -q >"$tmp/$copy.ctp"; done # with other ids
python3 t/helper/mysql.py make | "$from" -q >"$tmp/values.ctp"
"$BIN/ctp-sqlite" -q -o "$tmp/a.sqlite" "$tmp/a.ctp"
for local in 0 1; do
	sql -e "SET GLOBAL local_infile = $local"
	load -q -D "v$local" "$tmp/values.ctp"
	is "local_infile = $local: values are reproduced" "$(sql -D "v$local" -e "$(python3 t/helper/mysql.py query)" | cksum)" "$(python3 t/helper/mysql.py want | cksum)"
done
load -q -D a "$tmp/a.ctp"
same "tables and views are SQLite's, row by row" a "$tmp/a.sqlite"
load -q -D a --append "$tmp/b.ctp"
"$BIN/ctp-sqlite" -q --append -o "$tmp/a.sqlite" "$tmp/b.ctp"
same 'they are after appending' a "$tmp/a.sqlite"
is 'no temporary table is left' "$(left a)" 0
done_testing
