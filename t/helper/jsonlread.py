# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""jsonlread.py - what ctp-tojsonl -a printed, for judges of other forms of it."""
import json
import sys


def fail(*what):
    print(*what)
    sys.exit(1)


class Object(dict):
    """An object of JSON that remembers keys which come twice, as labels may."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.pairs = pairs


def parse(text):
    return json.loads(text, object_pairs_hook=Object, parse_int=lambda s: -0.0 if s == "-0" else int(s))
