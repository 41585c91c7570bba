#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""Stands before a server's socket, and drops a connection when the server has answered the last of these statements.

usage: lost-answer.py SOCKET SERVER-SOCKET STATEMENT...    SOCKET is there when it listens; it says `lost` for each connection
"""
import os
import socket
import sys
import threading


def pass_on(client, server, statements):
    lost = threading.Event()

    def answers():
        while (data := server.recv(1 << 16)) and not lost.is_set():
            client.sendall(data)
        for end in client, server:
            end.shutdown(socket.SHUT_RDWR)

    thread = threading.Thread(target=quietly, args=(answers,))
    thread.start()
    while data := client.recv(1 << 16):
        if statements and data.rstrip(b"\0").endswith(statements[0]):
            statements = statements[1:]
            if not statements:
                lost.set()
                print("lost", flush=True)
        server.sendall(data)
    server.shutdown(socket.SHUT_WR)
    thread.join()


def quietly(what, *args):
    try:
        what(*args)
    except OSError:
        pass


def main(path, to, *statements):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    listener.listen()
    os.rename(path + ".new", path)
    while True:
        client, server = listener.accept()[0], socket.socket(socket.AF_UNIX)
        server.connect(to)
        threading.Thread(target=quietly, args=(pass_on, client, server, [s.encode() for s in statements]), daemon=True).start()


main(*sys.argv[1:])
