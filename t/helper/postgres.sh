# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# postgres.sh - a PostgreSQL server of a test's own: `. t/helper/postgres.sh`, after tap.sh. Gives pg_start, pg_stop, and PGHOST and PGUSER.
# shellcheck shell=sh
pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
PGHOST=$tmp/pg PGUSER=ctp
export PGHOST PGUSER
steps=${EVERY:+700} # of sqlite-views.py; SQLite's views are compared with a model of all of them, these with SQLite's
steps=${steps:-120}

# initdb refuses root; a name of a socket is short.
pg_as() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

pg_start() { # [OPTION]...: of the server
	if [ ! -d "$PGHOST" ]; then
		chmod 755 "$tmp"
		mkdir -m 700 "$PGHOST"
		[ "$(id -u)" != 0 ] || chown 65534:65534 "$PGHOST"
		(cd "$PGHOST" && pg_as "$pg_bin/initdb" -D "$PGHOST/data" -U ctp -A trust -N -E UTF8 --locale=C.UTF-8) >"$tmp/initdb.log" 2>&1 || return
	fi
	(cd "$PGHOST" && pg_as "$pg_bin/pg_ctl" -D "$PGHOST/data" -l "$PGHOST/log" -w -s -t 120 -o "-k $PGHOST -c listen_addresses='' -c fsync=off $*" start)
}

pg_stop() { # [MODE]
	(cd "$PGHOST" && pg_as "$pg_bin/pg_ctl" -D "$PGHOST/data" -w -s -m "${1:-immediate}" stop) 2>/dev/null
}

pg_manual() { # SECTION: removes it as ctp-postgres.1 says
	sed -n '/^\$ psql .*ON_ERROR_STOP/,/^\.Ed/p' doc/ctp-postgres.1 | sed '/^\.Ed/d; s/^\$ //; s/\\e/\\/g' | sed "s/= 3/= $1/g" | sh
}

pg_need() {
	[ -x "$pg_bin/initdb" ] || skip_all 'there is no PostgreSQL server (package postgresql)'
	command -v psql >/dev/null || skip_all 'there is no psql'
	trap 'pg_stop; rm -rf "$tmp"' EXIT
	pg_start || skip_all "PostgreSQL does not start: $(tail -n 1 "$tmp/initdb.log" "$PGHOST/log" 2>/dev/null | tail -n 1)"
}
