#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# How ctp-mysql connects: options, option files, MYSQL_PWD, TCP, TLS; and its messages when a connection is refused.
# Not under sanitizers: it waits for a server most of the time.
# Mostly waits.
. t/helper/tap.sh
. t/helper/mysql.sh
my_need
command -v openssl >/dev/null || skip_all 'there is no openssl'

# --- a server with a certificate ------------------------------------------------------------------------------------------------
cert() { # NAME
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=$1" -keyout "$dir/$1.key" -out "$dir/$1.pem" 2>/dev/null
}
cert ca
cert other
openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout "$dir/server.key" -out "$dir/server.csr" 2>/dev/null
printf 'subjectAltName=IP:127.0.0.1\n' >"$dir/ext"
openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -set_serial 1 -days 30 -extfile "$dir/ext" -out "$dir/server.pem" 2>/dev/null
chmod 644 "$dir"/*.key "$dir"/*.pem
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
my_start --skip-networking=0 --bind-address=127.0.0.1 --port="$port" --ssl-ca="$dir/ca.pem" --ssl-cert="$dir/server.pem" --ssl-key="$dir/server.key"
sql -e "CREATE DATABASE net; CREATE USER sure IDENTIFIED BY 'geheim' REQUIRE SSL; CREATE USER plain IDENTIFIED BY 'geheim';
	GRANT ALL ON *.* TO sure; GRANT ALL ON *.* TO plain"
printf '{"type":"@section","attrs":{"host":"h\\u00e4"}}\n{"type":"@schema","name":"\\u00e4b","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"},{"name":"\\u00fc","type":"string"}]}\n{"type":"\\u00e4b","ts":1,"\\u00fc":"\\u00df"}\n{"type":"@end","complete":true}\n' |
	"$from" -q >"$tmp/a.ctp"
client() { # LINE...: of the group client
	{ echo '[client]'; printf '%s\n' "$@"; } >"$tmp/.my.cnf"
}
try() { # [OPTION...]: prints the status, and what was said
	sql -e 'DROP DATABASE IF EXISTS net'
	"$mysql" -q -D net "$@" "$tmp/a.ctp" 2>"$tmp/err"
	echo "$? $(cat "$tmp/err")"
}
got() { sql -D net -e "SELECT concat(host, ' ', \`ü\`) FROM sections JOIN \`äb\` t ON t.section = sections.id"; }

client
is 'it connects with host, port and user, and the password of MYSQL_PWD' \
	"$(MYSQL_PWD=geheim try -h 127.0.0.1 -P "$port" -u plain)" '0 '
is 'a port alone means this machine' "$(MYSQL_PWD=geheim try -P "$port" -u plain)" '0 '
like 'a missing password is reported' "$(try -h 127.0.0.1 -P "$port" -u plain)" '^1 ctp-mysql: net: Access denied for user .plain.@.* \(using password: NO\)$'
client "user=plain" "password=falsch" "socket=$dir/s.sock"
like 'a wrong password of an option file is reported, without the password' "$(try)" '^1 ctp-mysql: net: Access denied for user .plain.@.* \(using password: YES\)$'
client "user=plain" "password=geheim" "host=127.0.0.1" "port=1"
is 'an option takes precedence over an option file' "$(try -P "$port")" '0 '
like 'a port without a server is reported' "$(try)" "^1 ctp-mysql: net: Can't connect to server on '127.0.0.1' \\([0-9]+\\)\$"

# --- settings that option files must not change -----------------------------------------------------------------------------------
client "user=root" "socket=$dir/s.sock" 'default-character-set=latin1' 'reconnect=1' 'local-infile=0' 'database=nosuch' 'init-command=SET sql_mode = 0'
is 'a load succeeds with a charset and a database of an option file' "$(try)" '0 '
is 'names and texts are unchanged' "$(got)" 'hä ß'
for set in 'sql_select_limit = 3' 'max_join_size = 1' 'sql_safe_updates = 1' "completion_type = 'RELEASE'" 'SESSION TRANSACTION READ ONLY' 'max_error_count = 0'; do
	client "user=root" "socket=$dir/s.sock" "init-command=SET $set"
	is "a load succeeds in a session with $set" "$(try) $(got) $(left net)" '0  hä ß 0'
done

# --- TLS --------------------------------------------------------------------------------------------------------------------------
server="host=127.0.0.1
port=$port"
client "$server" 'user=sure' 'password=geheim' 'skip-ssl'
like 'a user that requires TLS cannot connect without' "$(try)" '^1 ctp-mysql: net: Access denied for user .sure.@'
client "$server" 'user=sure' 'password=geheim' "ssl-ca=$dir/ca.pem" 'ssl-verify-server-cert=1'
is 'the right authority is accepted' "$(try)" '0 '
is 'the rows are loaded over TLS' "$(got)" 'hä ß'
client "$server" 'user=sure' 'password=geheim' "ssl-ca=$dir/other.pem" 'ssl-verify-server-cert=1'
like 'another authority is refused' "$(try)" '^1 ctp-mysql: net: (TLS|SSL)[^;]*$'
is 'the message is one line' "$(wc -l <"$tmp/err")" 1
client "$server" 'user=sure' 'password=geheim' "ssl-ca=$dir/nosuch.pem" 'ssl-verify-server-cert=1'
like 'a missing authority file is reported' "$(try)" '^1 ctp-mysql: net: (TLS|SSL)[^;]*$'

# --- rights -----------------------------------------------------------------------------------------------------------------------
client
sql -e "DROP DATABASE IF EXISTS net; CREATE DATABASE poor; CREATE USER poor; GRANT SELECT ON poor.* TO poor"
denied() { # NAME RIGHTS PATTERN
	sql -e "REVOKE ALL ON poor.* FROM poor; GRANT $2 ON poor.* TO poor"
	"$mysql" -q -S "$dir/s.sock" -u poor -D poor "$tmp/a.ctp" 2>"$tmp/err"
	like "$1" "$? $(cat "$tmp/err")" "^1 ctp-mysql: poor: $3 command denied to user 'poor'@'[a-z%]*' for table .*\$"
	is "$1: no table is left" "$(tables poor)" ''
}
denied 'without CREATE' 'SELECT' CREATE
denied 'without INSERT' 'SELECT, CREATE, DROP, ALTER, INDEX, CREATE VIEW' INSERT
"$mysql" -q -S "$dir/s.sock" -u poor -D none "$tmp/a.ctp" 2>"$tmp/err"
like 'a missing right to a database is reported' "$? $(cat "$tmp/err")" "^1 ctp-mysql: none: Access denied for user 'poor'@'[a-z%]*' to database 'none'\$"

# --- an ordinary user -------------------------------------------------------------------------------------------------------------
if root_part 'the option file of another user' && can setpriv --reuid 65534 --clear-groups true; then
	mkdir -m 755 "$dir/home" "$dir/bin"
	cp "$mysql" "$dir/bin"
	cp "$tmp/a.ctp" "$dir/home"
	printf '[client]\nuser=plain\npassword=geheim\nsocket=%s\n' "$dir/s.sock" >"$dir/home/.my.cnf"
	chmod 600 "$dir/home/.my.cnf"
	chown -R nobody "$dir/home"
	HOME=$dir/home setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$dir/bin/ctp-mysql" -q -D net "$dir/home/a.ctp" 2>"$tmp/err"
	is 'an ordinary user can use an own option file' "$? $(cat "$tmp/err") $(got)" '0  hä ß'
fi
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	sql -e 'DROP DATABASE IF EXISTS net'
	MYSQL_PWD=geheim strace -e trace=setsockopt -o "$tmp/trace" "$mysql" -q -D net -h 127.0.0.1 -P "$port" -u plain "$tmp/a.ctp"
	is 'the socket has the options by which a lost server is noticed' "$(grep -oE 'SO_KEEPALIVE, \[1\]|TCP_KEEPIDLE, \[30\]|TCP_USER_TIMEOUT, \[60000\]' "$tmp/trace" | sort -u | tr '\n' ' ')" \
		'SO_KEEPALIVE, [1] TCP_KEEPIDLE, [30] TCP_USER_TIMEOUT, [60000] '
fi
done_testing
