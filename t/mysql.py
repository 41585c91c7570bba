"""mysql.py make|query|want - records with values that are hard to keep, the question for them, and what the answer is."""
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


{"make": make, "want": want, "query": query}[sys.argv[1]]()
