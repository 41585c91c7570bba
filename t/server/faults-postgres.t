#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The same as faults.t for ctp-postgres: a database has all of a trace, or nothing of it.
# Not under sanitizers: a library that makes calls fail is preloaded.
. t/helper/tap.sh
. t/helper/postgres.sh
. t/helper/faults.sh
FAULTS=${FAULTS:-1} # a load takes a second
[ -x "$BIN/ctp-postgres" ] || skip_all 'ctp-postgres was not built'
pg_need
cat >"$tmp/dump" <<'END'
tables="SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1"
for t in $(psql -XAtq -d faults -c "$tables"); do
	echo "$t"
	psql -XAtq -d faults -c "COPY $t TO STDOUT"
done
END
faults -r 'dropdb --if-exists faults 2>/dev/null; createdb faults' -d "sh '$tmp/dump'" "$tmp" postgres
done_testing
