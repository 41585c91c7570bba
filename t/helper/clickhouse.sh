# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# clickhouse.sh - ClickHouse servers of a test's own: `. t/helper/clickhouse.sh`, after tap.sh.
#
#	ch_need [N]      starts N servers (1), or skips the test; with two, each is a shard of the cluster `two`
#	ch [-N] ARG...   clickhouse-client of server N (1), without a password; ch_at N prints its command line
#	ch_kill N        kill -9       ch_start N     starts it again
#	ch_cpu           the CPU time of all servers so far, in ms
#	ch_own FIELD...  writes a stream with one row of a class `own` with these fields, of the host `own`
#	ch_quick N       prints a command line that does the same as clickhouse-client and takes a twentieth of the time (clickhouse-http.c)
#
# The users: default, without limits; writer, who may insert and read, and change no table; reader, who may only read.
# A server listens on free ports of 127.0.0.1, and all it has is in a folder of its own in $tmp. It needs no root.
# shellcheck shell=sh disable=SC2154 # tap.sh has $tmp
ch_servers='' ch_ports=''

ch_own() {
	{
		printf '{"type":"@section","attrs":{"host":"own"}}\n{"type":"@schema","name":"own","kind":"other","fields":[{"name":"ts","type":"u64","role":"time"}'
		for ch_field; do printf ',{"name":"%s","type":"u32"}' "$ch_field"; done
		printf ']}\n{"type":"own","ts":1'
		for ch_field; do printf ',"%s":7' "$ch_field"; done
		printf '}\n{"type":"@end","complete":true}\n'
	} | "$BIN/ctp-fromjsonl" -q
}

ch_config() { # N TCP HTTP INTERSERVER
	ch_dir=$tmp/ch$1
	mkdir -p "$ch_dir"
	cat >"$ch_dir/users.xml" <<-XML
		<yandex>
		<profiles>
		<default><max_memory_usage>4000000000</max_memory_usage>
		<max_bytes_before_external_group_by>1000000000</max_bytes_before_external_group_by><max_threads>${CH_THREADS:-2}</max_threads><log_queries>0</log_queries></default>
		<writer><allow_ddl>0</allow_ddl></writer>
		<reader><readonly>1</readonly></reader>
		</profiles>
		<users>
		$(for ch_user in default writer reader; do
			echo "<$ch_user><password></password><networks><ip>127.0.0.1</ip></networks><profile>$ch_user</profile><quota>default</quota></$ch_user>"
		done)
		</users>
		<quotas><default></default></quotas>
		</yandex>
	XML
	cat >"$ch_dir/config.xml" <<-XML
		<yandex>
		<logger><level>warning</level><log>$ch_dir/log</log><errorlog>$ch_dir/errors</errorlog></logger>
		<listen_host>127.0.0.1</listen_host>
		<tcp_port>$2</tcp_port><http_port>$3</http_port><interserver_http_port>$4</interserver_http_port>
		<path>$ch_dir/data/</path><tmp_path>$ch_dir/tmp/</tmp_path><users_config>$ch_dir/users.xml</users_config>
		<mark_cache_size>67108864</mark_cache_size><background_pool_size>2</background_pool_size>
		<default_profile>default</default_profile><default_database>default</default_database>
		<remote_servers><two>
		$(for ch_port in $ch_ports; do
			echo "<shard><internal_replication>false</internal_replication><replica><host>127.0.0.1</host><port>${ch_port%%:*}</port></replica></shard>"
		done)
		</two></remote_servers>
		</yandex>
	XML
}

ch_port() { echo "$ch_ports" | sed -n "$1s/:.*//p"; }
ch_http() { echo "$ch_ports" | sed -n "$1s/.*://p"; }

ch_at() { echo "clickhouse-client --host 127.0.0.1 --port $(ch_port "$1")"; }
ch_quick() { echo "$O/t/helper/clickhouse-http --port $(ch_http "$1")"; }

ch() {
	ch_n=1
	case $1 in -[0-9]) ch_n=${1#-} && shift ;; esac
	clickhouse-client --host 127.0.0.1 --port "$(ch_port "$ch_n")" "$@"
}

# A server that never started was not installed as it should be; one that does not start again is ours to explain.
ch_fails() {
	[ "$tap_run" -gt 0 ] || skip_all "$1"
	is 'the server starts again' "$1" ''
	done_testing
	exit 1
}

ch_start() { # N: returns when it answers
	clickhouse-server --config-file="$tmp/ch$1/config.xml" >>"$tmp/ch$1/out" 2>&1 &
	echo $! >"$tmp/ch$1/pid"
	ch_servers="$ch_servers $1"
	ch_tries=0
	until ch "-$1" -q 'SELECT 1' >/dev/null 2>&1; do
		ch_tries=$((ch_tries + 1))
		kill -0 "$(cat "$tmp/ch$1/pid")" 2>/dev/null && [ $ch_tries -lt 300 ] ||
			ch_fails "clickhouse-server does not start: $(cat "$tmp/ch$1/out" "$tmp/ch$1/errors" 2>/dev/null | tail -n 1)"
		sleep 0.1
	done
}

ch_kill() {
	kill -9 "$(cat "$tmp/ch$1/pid")" 2>/dev/null
	wait "$(cat "$tmp/ch$1/pid")" 2>/dev/null
	ch_servers=$(echo "$ch_servers" | sed "s/ $1//")
}

ch_end() { for ch_n in $ch_servers; do ch_kill "$ch_n"; done; }

ch_cpu() {
	for ch_n in $ch_servers; do cat "/proc/$(cat "$tmp/ch$ch_n/pid")/stat"; done |
		awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); sum += $12 + $13 } END { printf "%d\n", sum * 1000 / hz }'
}

ch_need() {
	for ch_tool in clickhouse-server clickhouse-client; do
		command -v $ch_tool >/dev/null || skip_all "there is no $ch_tool (packages clickhouse-server and clickhouse-client)"
	done
	command -v python3 >/dev/null || skip_all 'there is no python3, which finds free ports'
	ch_all=$(python3 -c '
import socket, sys
found = [socket.socket() for _ in range(3 * int(sys.argv[1]))]
for s in found: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in found])' "${1:-1}")
	# shellcheck disable=SC2086 # many numbers
	set -- $ch_all
	ch_ports=$(while [ $# -gt 0 ]; do echo "$1:$3:$2" && shift 3; done)
	trap 'ch_end; rm -rf "$tmp"' EXIT
	ch_next=0
	for ch_each in $ch_ports; do
		ch_next=$((ch_next + 1))
		# shellcheck disable=SC2046 # three numbers
		ch_config $ch_next $(echo "$ch_each" | awk -F: '{ print $1, $3, $2 }')
	done
	for ch_each in $(seq $ch_next); do ch_start "$ch_each"; done
}
