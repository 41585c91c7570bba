"""sqlite-views.py make SEED | check DATABASE - the views of ctp-sqlite against the same worked out here, row by row.

make prints a stream as JSON lines: coroutines that run, wait, die or never run, on a few threads, with ids that come back and
events that are missing; a section that is complete, one without wakes, one that is not complete, and one of coroTracer's, without
identities. check reads the
tables of the database that was made of it, says what a view has otherwise, and ends with status 1.
"""
import collections
import json
import random
import sqlite3
import sys


def schema(name, kind, *fields):
    print(json.dumps({"type": "@schema", "name": name, "kind": kind, "fields": [
        dict({"name": n, "type": t}, **({"role": r} if r else {})) for n, t, r in fields]}))


def put(kind, **fields):
    print(json.dumps(dict({"type": kind}, **fields)))


PLAIN = [("probe_id", "u64", "probe"), ("tid", "u64", "thread"), ("addr", "u64", "address"), ("seq", "u64", "sequence"),
         ("is_active", "bool", "state"), ("ts", "u64", "time")]
SITES = [{"file": "none.c", "line": 9, "function": "nowhere"}, {"file": "a.c", "line": 7, "function": "f"},
         {"file": "b.c", "line": 0, "function": "g"}, {"file": "c.c", "line": 3, "function": ""},
         {"file": "", "line": 0, "function": ""}]
WHO = [("ts", "u64", "time"), ("probe_id", "u64", "probe"), ("coro", "u64", "coroutine")]


def make(seed):
    rnd = random.Random(seed)
    for kind in "complete", "quiet", "cut", "plain":
        print(json.dumps({"type": "@section", "attrs": {"wall_offset_ns": "1700000000123456789"} if kind != "plain" else {}}))
        plain = kind == "plain"
        schema("transition", "transition", *PLAIN, *([] if plain else [("coro", "u64", "coroutine"), ("index", "u64", "sequence"), ("site", "u64", "site")]))
        if not plain:
            schema("birth", "birth", *WHO, ("parent", "u64", ""), ("site", "u64", "site"))
            schema("wake", "wake", *WHO, ("by", "u64", ""))
            schema("name", "name", *WHO, ("name", "string", "name"))
            schema("site", "site", ("ts", "u64", "time"), ("site", "u64", "site"), ("file", "string", ""), ("line", "u64", ""),
                   ("function", "string", "name"))
            schema("missed", "loss", ("ts", "u64", "time"), ("tid", "u64", "thread"), ("count", "u64", "count"))
            schema("death", "death", *WHO, ("after", "u64", "time"))
            schema("conflict", "conflict", *WHO)
            schema("lost", "loss", *WHO, ("index", "u64", "sequence"), ("count", "u64", "count"), ("after", "u64", "time"))
            schema("thread", "thread", ("ts", "u64", "time"), ("tid", "u64", "thread"), ("name", "string", "name"))
            for site, place in enumerate(SITES):
                put("site", ts=5, site=site, file="old.c", line=1, function="")
                put("site", ts=6, site=site, **place)
        ts, coros = 1000, {}
        for step in range(600):
            ts += rnd.randrange(50)
            coro = rnd.randrange(1, 31)
            probe = 100 + (coro % 7 if not plain else coro)
            c = coros.setdefault(coro, {"index": 0, "active": rnd.random() < 0.5, "last": ts, "dead": False})
            if c["dead"]:
                continue
            if not plain and c["index"] == 0 and rnd.random() < 0.7 and "born" not in c:
                c["born"] = put("birth", ts=ts, probe_id=probe, coro=coro, parent=rnd.randrange(3), site=rnd.randrange(6))
            if not plain and rnd.random() < 0.1:
                put("name", ts=ts, probe_id=probe, coro=coro, name="name %d" % ts)
            if not plain and kind != "quiet" and rnd.random() < 0.5:
                put("wake", ts=ts, probe_id=probe, coro=coro, by=rnd.randrange(4))
            if not plain and step == 570:
                put("missed", ts=ts, tid=1, count=3)
            if coro > 27:
                continue  # never runs
            if not plain and rnd.random() < 0.04:
                lost = rnd.randrange(1, 4)
                put("lost", ts=ts, probe_id=probe, coro=coro, index=c["index"], count=lost, after=c["last"])
                c["index"] += lost
                if rnd.random() < 0.3:
                    continue
            if not plain and rnd.random() < 0.03:
                put("death", ts=ts, probe_id=probe, coro=coro, after=rnd.choice([ts, ts - 20, c["last"] + 1, 0]))
                c["dead"] = True
                continue
            c["active"] = c["active"] if rnd.random() < 0.05 else not c["active"]
            more = {} if plain else {"coro": coro, "index": c["index"], "site": 0 if c["active"] else rnd.randrange(6)}
            put("transition", probe_id=probe, tid=rnd.randrange(1, 4), addr="0x%016x" % rnd.randrange(4096, 4100), seq=c["index"] // 8,
                is_active=c["active"], ts=ts, **more)
            c["index"] += 1
            c["last"] = ts
        if not plain:
            for tid in 1, 2:
                put("thread", ts=1, tid=tid, name="old")
                put("thread", ts=2, tid=tid, name="worker %d" % tid)
            put("conflict", ts=ts, probe_id=103, coro=3)
        print(json.dumps({"type": "@end", "complete": kind != "cut"}))


# --- the same by hand ----------------------------------------------------------------------------------------------------------

def check(path):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row

    def rows(sql):
        return [dict(r) for r in db.execute(sql)]

    sections = {s["id"]: s for s in rows("SELECT * FROM sections")}
    for s in sections.values():
        tables = "coro_trace_events", "births", "deaths", "losses", "thread_losses", "threads", "conflicts", "wakes", "names", "sites"
        latest = max(r["ts"] for t in tables for r in rows("SELECT ts FROM %s WHERE section = %d" % (t, s["id"])))
        if s["end_ns"] != latest:
            sys.exit("section %d ends at %d, not %d" % (s["id"], latest, s["end_ns"]))
    losses = rows("SELECT * FROM losses")
    deaths = {(d["section"], d["coro"]): d["ts"] for d in rows("SELECT * FROM deaths")}
    alive = {(d["section"], d["coro"]): d["after"] for d in rows("SELECT * FROM deaths")}
    births = rows("SELECT * FROM births")
    conflicts = {(c["section"], c["coro"]) for c in rows("SELECT * FROM conflicts")}
    names = {(t["section"], t["tid"]): t["name"] for t in rows("SELECT * FROM threads ORDER BY ts")}
    called = {(n["section"], n["coro"]): n["name"] for n in rows("SELECT * FROM names ORDER BY ts")}
    born = {(b["section"], b["coro"]): b for b in births}
    wakes = rows("SELECT * FROM wakes ORDER BY ts")
    missed = rows("SELECT * FROM thread_losses")
    places = {(s["section"], s["site"]): s["file"] + (":%d" % s["line"] if s["line"] else "") +
              (":" + s["function"] if s["function"] else "") for s in rows("SELECT * FROM sites ORDER BY ts") if s["site"]}

    def place(section, site):
        return places.get((section, site)) or None

    def more(state):
        """What is known of a coroutine beside its state."""
        section, coro = who = state["section"], state["coro"]
        suspended = state["state"] == "suspended"
        wake = ([w for w in wakes if suspended and (w["section"], w["coro"]) == who and w["ts"] >= state["since_ns"]] or [None])[-1]
        unknown = not state["certain"] or not any(w["section"] == section for w in wakes) or any(
            m["section"] == section and m["ts"] >= state["since_ns"] for m in missed)
        birth = born.get(who, {"parent": 0, "site": 0, "ts": None})
        return dict(state, name=called.get(who), site_text=place(section, state["site"]) if suspended else None,
                    woken=None if not suspended else 1 if wake else None if unknown else 0,
                    woken_ns=wake and wake["ts"], woken_by=(wake and wake["by"]) or None, parent=birth["parent"] or None,
                    spawn_site_text=place(section, birth["site"]), born_ns=birth["ts"])

    lives = collections.defaultdict(list)
    for e in rows("SELECT * FROM coro_trace_events ORDER BY id"):
        lives[e["section"], e["coro"] if e["coro"] is not None else "probe " + e["probe_id"]].append(e)

    intervals, states = [], []
    for (section, coro), events in lives.items():
        events.sort(key=lambda e: (e["index"] or 0, e["ts"], e["id"]))
        end, complete = sections[section]["end_ns"], sections[section]["complete"]
        for e, after in zip(events, events[1:] + [None]):
            death = None if after else deaths.get((section, e["coro"]))
            stop = after["ts"] if after else max(alive[section, e["coro"]], e["ts"]) if death is not None else end
            exact = death is None or alive[section, e["coro"]] >= death
            if e["index"] is None:
                certain = False
            elif after:
                certain = after["index"] == e["index"] + 1
            else:
                certain = complete and not any(l["section"] == section and l["coro"] == e["coro"] and l["index"] > e["index"]
                                               for l in losses)
            certain = certain and (section, e["coro"]) not in conflicts
            i = dict(e, start_ns=e["ts"], stop_ns=stop, duration_ns=stop - e["ts"], death_ns=death, certain=int(certain), exact=int(exact),
                     open=int(after is None and death is None), site_text=place(section, e["site"]))
            intervals.append(i)
        dead = death is not None
        states.append(dict(section=section, coro=e["coro"], probe_id=e["probe_id"], tid=e["tid"], addr=e["addr"], site=e["site"],
                           state="dead" if dead else "running" if e["is_active"] else "suspended",
                           since_ns=death if dead else e["ts"], for_ns=end - (death if dead else e["ts"]), certain=i["certain"]))
    for b in births:
        if (b["section"], b["coro"]) not in lives:
            death = deaths.get((b["section"], b["coro"]))
            since, s = b["ts"] if death is None else death, sections[b["section"]]
            lost = any(l["section"] == b["section"] and l["coro"] == b["coro"] for l in losses)
            states.append(dict(section=b["section"], coro=b["coro"], probe_id=b["probe_id"], tid=None, addr=None, site=None,
                               state="born" if death is None else "dead", since_ns=since, for_ns=s["end_ns"] - since,
                               certain=int((s["complete"] or death is not None) and not lost)))

    states = [more(s) for s in states]

    told = [dict(i, certain=i["certain"] and i["exact"]) for i in intervals]
    waits = [i for i in told if not i["is_active"]]
    runs = [dict(i, thread=names.get((i["section"], i["tid"]))) for i in told if i["is_active"]]
    addresses, sites = collections.defaultdict(list), collections.defaultdict(list)
    for w in waits:
        addresses[w["section"], w["addr"]].append(w)
        sites[w["section"], w["site"]].append(w)

    def total(w):
        return dict(waits=len(w), total_ns=sum(x["duration_ns"] for x in w), max_ns=max(x["duration_ns"] for x in w),
                    still_waiting=sum(x["open"] for x in w), uncertain=sum(not x["certain"] for x in w))

    wall = []
    for s in sections.values():
        for e in rows("SELECT * FROM coro_trace_events WHERE section = %d" % s["id"]):
            ns = None if s["wall_offset_ns"] is None else e["ts"] + s["wall_offset_ns"]
            if ns is not None and ns // 10**9 != 1700000000:
                sys.exit("a test of one second was meant")
            wall.append(dict(e, wall_ns=ns, wall=None if ns is None else "2023-11-14T22:13:20.%09dZ" % (ns % 10**9)))

    expected = {
        "intervals": intervals, "run_intervals": runs, "thread_runs": runs, "wait_intervals": waits, "longest_waits": waits,
        "coroutine_states": states, "wall_times": wall,
        "suspend_addresses": [dict(total(w), section=s, addr=a, addr_text=None) for (s, a), w in addresses.items()],
        "suspend_sites": [dict(total(w), section=s, site=n, site_text=place(s, n)) for (s, n), w in sites.items()],
    }
    wrong = False
    for view, want in expected.items():
        got = rows("SELECT * FROM " + view)
        key = lambda r: json.dumps(r, sort_keys=True)
        want = [{c: w[c] for c in got[0]} for w in want]
        for text, a, b in ("lacks", want, got), ("has too much:", got, want):
            there = {key(r) for r in b}
            for r in [r for r in a if key(r) not in there][:3]:
                print(view, text, r)
                wrong = True
        if len(got) != len(want):
            print(view, "has", len(got), "rows, not", len(want))
            wrong = True
    order = [r["duration_ns"] for r in rows("SELECT duration_ns FROM longest_waits")]
    seen = [{s["state"] for s in states}, {i["certain"] for i in intervals}, {i["open"] for i in intervals},
            {s["woken"] for s in states if s["state"] == "suspended"}]
    if order != sorted(order, reverse=True) or [len(s) for s in seen] != [4, 2, 2, 3]:
        print("the order, or what was tried:", seen)
        wrong = True
    sys.exit(wrong)


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    check(sys.argv[2])
