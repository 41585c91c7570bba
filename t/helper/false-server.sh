# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# false-server.sh - for tests in which ctp-mysql and ctp-postgres talk to a server that is none: $mysql, $postgres, a trace $tmp/a.ctp, and no
# settings of whoever runs the test.
unset MYSQL_PWD MYSQL_HOST MYSQL_TCP_PORT MYSQL_UNIX_PORT PGPASSWORD PGHOST PGPORT PGUSER PGDATABASE PGSERVICE PGSSLMODE
HOME=$tmp
export HOME
mysql=$BIN/ctp-mysql postgres=$BIN/ctp-postgres
[ -x "$mysql" ] || [ -x "$postgres" ] || skip_all 'neither ctp-mysql nor ctp-postgres was built'
command -v python3 >/dev/null || skip_all 'there is no python3'
printf '%s\n' '{"type":"@section","attrs":{"host":"a"}}' \
	'{"type":"transition","probe_id":1,"tid":7,"addr":"0x0000000000000001","seq":1,"is_active":true,"ts":5,"coro":1,"index":0,"site":0}' \
	'{"type":"@end","complete":true}' | "$BIN/ctp-fromjsonl" -q >"$tmp/a.ctp"
