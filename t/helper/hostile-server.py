#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""A server with MySQL's or PostgreSQL's protocol and scripted answers, for tests of clients.

usage: hostile-server.py mysql|postgres SOCKET [PATTERN=ANSWER]...    a SOCKET that is a number is a TCP port of 127.0.0.1

The first PATTERN that is found in a statement says how it is answered; `LOGIN 1` is the first client's that logs in. An ANSWER:

  ok           done, no rows            rows:a|b;c|d  two rows of two columns; `rows:`, none; \\N is NULL, \\0 a NUL
  file:PATH    asks for a file          silent        nothing, for ever
  clear        asks for the password    copy, out     asks for rows; sends some
  many         rows without an end
  PATH         of `TLS`, for MySQL: a certificate and its key, with which it offers TLS

It prints `listens`, and a line for each thing that it got: `sent N` bytes of a file, and their text, or `password TEXT`.
"""
import os
import re
import socket
import ssl
import struct
import sys
import threading

logins = 0
LOADABLE = "probe_id tid addr seq is_active ts coro index site".split()

# What lets a load go on: the rest is done.
USUAL = [
    (r"get_lock|advisory|SELECT count.*concat\('_ctp_load_', 't'\)", "rows:1"),
    (r"max_allowed_packet", "rows:16777216"), (r"SELECT count\(", "rows:0"), (r"SELECT coalesce\(max", "rows:1"),
    (r"^SELECT id FROM .* WHERE declaration", "rows:1"), (r"^SELECT k\.table_name.*format_type", "rows:" + ";".join(f"t|{c}|bigint" for c in LOADABLE)),
    (r"^SELECT k\.table_name", "rows:" + ";".join("t|" + c for c in LOADABLE)),
    (r"^SELECT column_name FROM information_schema.columns .*ordinal_position = 1|^SELECT attname", "rows:_row"),
    (r"FROM pg_database", "rows:"), (r"^SELECT id, table_name", "rows:1|t"), (r"^COPY", "copy"),
    (r"^LOAD DATA LOCAL INFILE", "file:ctp-mysql"), (r"^SELECT", "rows:"),
]


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def answer_to(statement, told):
    return next((a for p, a in told + USUAL if re.search(p, statement)), "ok")


def login():
    global logins
    logins += 1
    return f"LOGIN {logins}"


def rows_of(text):
    return [[None if v == "\\N" else v.replace("\\0", "\0").encode() for v in row.split("|")] for row in text.split(";")] if text else []


class MySQL:
    def __init__(self, sock):
        self.sock, self.seq = sock, 0

    def send(self, *payloads):
        for p in payloads:
            self.sock.sendall(struct.pack("<I", len(p))[:3] + bytes([self.seq & 255]) + p)
            self.seq += 1

    def read(self):
        head = self.exactly(4)
        self.seq = head[3] + 1
        return self.exactly(int.from_bytes(head[:3], "little"))

    def exactly(self, n):
        data = b""
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise OSError("gone")
            data += part
        return data

    def done(self, rows=0):
        self.send(b"\0" + bytes([rows]) + b"\0\2\0\0\0")

    def rows(self, rows):
        def text(v):
            return b"\xfb" if v is None else (bytes([len(v)]) if len(v) < 251 else b"\xfc" + struct.pack("<H", len(v))) + v

        n = len(rows[0]) if rows else 1
        column = text(b"def") + text(b"") * 3 + text(b"c") + text(b"") + b"\x0c" + struct.pack("<HIBHBH", 45, 255, 253, 0, 0, 0)
        self.send(bytes([n]), *[column] * n, b"\xfe\0\0\2\0", *[b"".join(map(text, r)) for r in rows], b"\xfe\0\0\2\0")

    def file(self, path):
        self.send(b"\xfb" + path.encode())
        got = b""
        while part := self.read():
            got += part
        say("sent", len(got), got.decode(errors="replace").split("\n")[0])
        self.done(got.count(b"\n") & 127)

    def log_in(self, told):
        pem = answer_to("TLS", told)
        caps = 0x8a28b | 0x30000 | (0 if pem == "ok" else 0x800)
        self.send(b"\x0a5.5.5-10.11.0-MariaDB\0" + struct.pack("<I", 7) + b"12345678\0" + struct.pack("<HBHH", caps & 0xffff, 45, 2, caps >> 16) +
            bytes([21]) + b"\0" * 10 + b"123456789012\0mysql_native_password\0")
        if int.from_bytes(self.read()[:4], "little") & caps & 0x800:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            self.sock = context.wrap_socket(self.sock, server_side=True)
            say("TLS")
            self.read()
        how = answer_to(login(), told)
        if how == "silent":
            say("silent")
            threading.Event().wait()
        if how == "clear":
            self.send(b"\xfemysql_clear_password\0")
            say("password", self.read().rstrip(b"\0").decode())
        self.done()

    def serve(self, told):
        self.log_in(told)
        while (packet := self.read())[:1] != b"\1":
            how = answer_to(packet[1:].decode(errors="replace"), told)
            kind, _, what = how.partition(":")
            if how == "silent":
                say("silent")
                threading.Event().wait()
            elif kind == "rows":
                self.rows(rows_of(what))
            elif kind == "file":
                self.file(what)
            elif how == "many":
                self.rows([[b"x" * 60000]] * 2000)
            else:
                self.done()


class Postgres:
    def __init__(self, sock):
        self.sock = sock
        self.exactly = MySQL.exactly.__get__(self)

    def send(self, *messages):
        self.sock.sendall(b"".join(m[:1] + struct.pack(">I", len(m) + 3) + m[1:] for m in messages))

    def read(self):
        head = self.exactly(5)
        return head[:1] + self.exactly(int.from_bytes(head[1:], "big") - 4)

    def done(self, *before):
        self.send(*before, b"CDONE\0", b"ZT")

    def rows(self, rows):
        n = len(rows[0]) if rows else 1
        column = b"c\0" + struct.pack(">IHIhih", 0, 0, 25, -1, -1, 0)
        self.done(b"T" + struct.pack(">H", n) + column * n, *[b"D" + struct.pack(">H", len(r)) +
            b"".join(struct.pack(">i", -1) if v is None else struct.pack(">I", len(v)) + v for v in r) for r in rows])

    def log_in(self, told):
        while True:
            start = self.exactly(int.from_bytes(self.exactly(4), "big") - 4)
            if int.from_bytes(start[:4], "big") >> 16 == 3:
                break
            self.sock.sendall(b"N")
        how = answer_to(login(), told)
        if how == "silent":
            say("silent")
            threading.Event().wait()
        if how == "clear":
            self.send(b"R" + struct.pack(">I", 3))
            say("password", self.read()[1:].rstrip(b"\0").decode())
        self.send(b"R" + struct.pack(">I", 0), b"Sserver_encoding\0UTF8\0", b"Sclient_encoding\0UTF8\0", b"K" + struct.pack(">II", 1, 2), b"ZI")

    def serve(self, told):
        self.log_in(told)
        while (m := self.read())[:1] != b"X":
            if m[:1] == b"d":
                continue
            statement = "COPIED" if m[:1] in b"cf" else m[1:-1].decode(errors="replace")
            how = answer_to(statement, told)
            kind, _, what = how.partition(":")
            if how == "silent":
                say("silent")
                threading.Event().wait()
            elif kind == "rows":
                self.rows(rows_of(what))
            elif how == "copy":
                self.send(b"G\0" + struct.pack(">H", 0))
            elif how == "out":
                self.send(b"H\0" + struct.pack(">H", 0), b"dx")
            elif how == "many":
                self.rows([[b"x" * 60000]] * 2000)
            else:
                self.done()


def serve(kind, sock, told):
    try:
        kind(sock).serve(told)
    except OSError:
        pass
    sock.close()


def main(kind, path, *told):
    listener = socket.socket(socket.AF_INET if path.isdigit() else socket.AF_UNIX)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(path)) if path.isdigit() else path)
    listener.listen()
    say("listens")
    told = [tuple(t.split("=", 1)) for t in told]
    while True:
        sock = listener.accept()[0]
        threading.Thread(target=serve, args=({"mysql": MySQL, "postgres": Postgres}[kind], sock, told), daemon=True).start()


main(*sys.argv[1:])
