#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# The same as faults.t for ctp-mysql: a database has all of a trace, or nothing of it.
# Not under sanitizers: a library that makes calls fail is preloaded.
. t/helper/tap.sh
. t/helper/mysql.sh
. t/helper/faults.sh
FAULTS=${FAULTS:-1} # a load takes a second
my_need
my_start
export socket="$dir/s.sock"
client="mariadb --no-defaults --ssl=0 -S $socket -u root -N -B"
cat >"$tmp/dump" <<END
for t in \$($client -D faults -e 'SHOW TABLES'); do
	case \$t in _ctp_*) continue ;; esac
	echo "\$t"
	$client -D faults -e "SELECT * FROM \\\`\$t\\\`"
done
END
faults -r "$client -e 'DROP DATABASE IF EXISTS faults; CREATE DATABASE faults'" -d "sh '$tmp/dump'" "$tmp" mysql
done_testing
