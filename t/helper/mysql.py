# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""mysql.py make|query|want|odd|oddly - records with values that are hard to keep, the question for them, and what the answer is.

mysql.py csv SOCKET DATABASE is for sql-same.py --once: answers are CSV, with \\N for NULL, bytes in hexadecimal.
"""
import csv
import ctypes
import faulthandler
import json
import sys

TEXTS = ["", "it's", 'say "x"', "back\\slash \\N \\", "tab\tnew\nline\r", "\x00nul", "\u00e4\U0001f600", "x" * (1 << 20), "end "]
NUMBERS = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, 10**19, 7, 8, 9]
SIGNED = [0, -1, -(2**63), 2**63 - 1, 5, 6, 7, 8, 9]
REALS = [0.0, 1.5, -2.5e-300, 0.1, 1e300, "NaN", "Infinity", "-Infinity", 3.0]
FIELDS = [("ts", "u64", "time"), ("n", "u64", None), ("i", "i64", None), ("f", "f64", None), ("b", "bool", None), ("s", "string", None)]


def make():
	event = [("probe_id", "u64", "probe"), ("tid", "u64", "thread"), ("addr", "u64", "address"), ("seq", "u64", "sequence"), ("is_active", "bool", "state"), ("ts", "u64", "time")]
	for name, kind, fields in ("transition", "transition", event), ("hard", "other", FIELDS):
		print(json.dumps({"type": "@schema", "name": name, "kind": kind, "fields": [{"name": n, "type": t, **({"role": r} if r else {})} for n, t, r in fields]}))
	print(json.dumps({"type": "transition", "probe_id": 2**64 - 1, "tid": 1, "addr": "0xffffffffffffffff", "seq": 1, "is_active": True, "ts": 1}))
	for k, text in enumerate(TEXTS):
		print(json.dumps({"type": "hard", "ts": k, "n": NUMBERS[k], "i": SIGNED[k], "f": REALS[k], "b": k % 2 == 1, "s": text}))


def want():
	for k, text in enumerate(TEXTS):
		f = REALS[k]
		print(k, NUMBERS[k], SIGNED[k], "NULL" if isinstance(f, str) else 1, k % 2, text.replace("\x00", "\\x00").encode().hex().upper(), sep="\t")
	print("18446744073709551615", "0xffffffffffffffff", sep="\t")


def query():
	same = " ".join(f"WHEN {k} THEN f = {f!r}" for k, f in enumerate(REALS) if not isinstance(f, str))
	print(f"SELECT ts, n, i, CASE ts {same} ELSE f END, b, hex(s) FROM hard ORDER BY ts; SELECT probe_id, addr FROM coro_trace_events WHERE addr <> '0x1'")


LONG, WIDE = "x" * 54, "y" * 54


def odd():
	fields = [{"name": WIDE + "1", "type": "string"}, {"name": WIDE + "2", "type": "bytes"}]
	print(json.dumps({"type": "@section", "attrs": {"host": "h\udcff", "pid": str(2**64 - 1)}}))
	print(json.dumps({"type": "@schema", "name": LONG + "a", "kind": "other", "fields": fields}))
	print(json.dumps({"type": "@schema", "name": LONG + "b", "kind": "other", "fields": [{"name": "select", "type": "u64"}]}))
	print(json.dumps({"type": LONG + "a", WIDE + "1": "a\x00\udcff'", WIDE + "2": "00ff"}))
	print(json.dumps({"type": LONG + "b", "select": 2**64 - 1}))
	print(json.dumps({"type": "@end", "complete": True}))


def cut(name):
	"""As the manual says: 45 bytes, and eight digits of FNV-1a, whose halves are added without carry."""
	h = 0xcbf29ce484222325
	for b in name.encode():
		h = (h ^ b) * 0x100000001b3 % 2**64
	return f"{name[:45]}_{(h ^ h >> 32) % 2**32:08x}"


def oddly():
	print(f"SELECT length(table_name), length(name) FROM classes WHERE name LIKE 'xx%'; SELECT {cut(WIDE + '1')}, hex({cut(WIDE + '2')})"
		f" FROM {cut(LONG + 'a')}; SELECT `select` FROM {cut(LONG + 'b')}; SELECT host, pid, complete FROM sections")


class Field(ctypes.Structure):
	_fields_ = [(n, ctypes.c_char_p) for n in ("name", "org_name", "table", "org_table", "db", "catalog", "def_")] \
		+ [(n, ctypes.c_ulong) for n in ("length", "max_length")] \
		+ [(n, ctypes.c_uint) for n in ("name_length", "org_name_length", "table_length", "org_table_length", "db_length", "catalog_length",
			"def_length", "flags", "decimals", "charsetnr", "type")] + [("extension", ctypes.c_void_p)]


def spell(field, value):
	double, blob, binary = 5, 252, 63
	if value is None:
		return "\\N"
	if field.type == blob and field.charsetnr == binary:
		return value.hex()
	return repr(float(value)) if field.type == double else value.decode(errors="surrogateescape")


def answer(lib, conn):
	result = lib.mysql_store_result(conn)
	if not result:
		sys.exit(f"{lib.mysql_errno(conn)} {lib.mysql_error(conn).decode()}")
	fields = lib.mysql_fetch_fields(result)
	n = lib.mysql_num_fields(result)
	yield [fields[i].name.decode() for i in range(n)]
	while row := lib.mysql_fetch_row(result):
		lengths = lib.mysql_fetch_lengths(result)
		yield [spell(fields[i], ctypes.string_at(row[i], lengths[i]) if row[i] else None) for i in range(n)]
	lib.mysql_free_result(result)


def library():
	lib = ctypes.CDLL("libmariadb.so.3")
	for name in "mysql_init", "mysql_real_connect", "mysql_store_result":
		getattr(lib, name).restype = ctypes.c_void_p
	lib.mysql_error.restype = ctypes.c_char_p
	lib.mysql_fetch_fields.restype = ctypes.POINTER(Field)
	lib.mysql_fetch_row.restype = ctypes.POINTER(ctypes.c_void_p)
	lib.mysql_fetch_lengths.restype = ctypes.POINTER(ctypes.c_ulong)
	for name in "fetch_fields", "num_fields", "fetch_row", "fetch_lengths", "store_result", "free_result", "error", "errno":
		getattr(lib, "mysql_" + name).argtypes = [ctypes.c_void_p]
	lib.mysql_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
	lib.mysql_set_character_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
	lib.mysql_init.argtypes = [ctypes.c_void_p]
	lib.mysql_real_connect.argtypes = [ctypes.c_void_p, *[ctypes.c_char_p] * 4, ctypes.c_uint, ctypes.c_char_p, ctypes.c_ulong]
	return lib


def ask(socket, database):
	faulthandler.enable()
	lib = library()
	conn = lib.mysql_init(None)
	if not lib.mysql_real_connect(conn, None, b"root", None, database.encode(), 0, socket.encode(), 0) \
			or lib.mysql_set_character_set(conn, b"utf8mb4") or lib.mysql_query(conn, b"SET sql_mode = 'ANSI_QUOTES'"):
		sys.exit(f"{lib.mysql_errno(conn)} {lib.mysql_error(conn).decode()}")
	sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="")
	for text in sys.stdin.buffer.read().split(b"\0")[:-1]:
		if lib.mysql_query(conn, text):
			sys.exit(f"{text.decode()}: {lib.mysql_errno(conn)} {lib.mysql_error(conn).decode()}")
		csv.writer(sys.stdout).writerows(answer(lib, conn))
		sys.stdout.write("\0")


if sys.argv[1] == "csv":
	ask(*sys.argv[2:])
else:
	{"make": make, "want": want, "query": query, "odd": odd, "oddly": oddly}[sys.argv[1]]()
