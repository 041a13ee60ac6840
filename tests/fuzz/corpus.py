#!/usr/bin/python3
"""Writes the seeds of the fuzzers to corpus/, next to this file: one frame of each kind, and what a hostile peer sends."""

import json
import pathlib

import msgpack

TOTALS = (
    "page_size threads held_bytes used_bytes cached_bytes thread_bytes partial_bytes empty_bytes slack_bytes "
    "unreachable_bytes allocs frees"
).split()
CLASS = (
    "block_size pages held_bytes used_bytes cached_bytes thread_bytes partial_bytes empty_bytes slack_bytes "
    "used_blocks allocs frees"
).split()
TRIM = (
    "returned_bytes held_before_bytes held_after_bytes cached_before_bytes cached_after_bytes duration_us threads_skipped"
).split()


def figures(keys, start=1):
    return {key: start << (5 * i) for i, key in enumerate(keys)}


SEEDS = {
    "hello": [0, 0, "hello", {"protocol": 1, "role": "target", "version": "0.1.0", "name": "x", "pid": 7}],
    "ps": [0, 1, "ps", {}],
    "method-empty": [0, 1, "", []],
    "ps-array": [0, 1, "ps", []],
    "stats-request": [0, 2**32 - 1, "stats", [{"classes": True, "all_classes": False}]],
    "stats": [1, 2, None, {**figures(TOTALS), "classes": [{"name": "pool", **figures(CLASS)}, figures(CLASS, 3)]}],
    "trim": [1, 3, None, figures(TRIM)],
    "error": [1, 4, {"code": "timeout", "message": "The target did not answer.", "last": figures(TOTALS)}, None],
    "map-request": [0, 6, "map", {}],
    "trim-part": [0, 5, "trim", {"pid": 7, "block_size": 24, "keep_bytes": 4096}],
    "trim-pool": [0, 5, "trim", {"pid": 7, "pool": "nodes"}],
    "no-class": [1, 3, {"code": "no_class", "message": "?"}, None],
    "notification": [2, "tick", {}],
    "nested": [2, "m", {"a": [[[[[1]]]]]}],
    "types": [2, "m", {"a": [-1, -300, -70000, -(2**40), 300, 70000, 2**40, 1.5, b"bin", "s" * 40, None, True]}],
}

RAW = {
    "four-billion": b"\xdd\xff\xff\xff\xff",
    "half": b"\x94\x00\x01\xa5sta",
    "text": b"GET / HTTP/1.1\r\n",
}


TARGET = {"pid": 7, "uid": 0, "command": "fuzz", "name": "n\x1b[2J", "uptime_s": 5, "inner_pid": 1, "cgroup": "/a", "exe": "/b",
          "version": "1", "rss_bytes": 1 << 20, "silent": False, "age_ms": 3}

# What qad answers qactl.
ANSWERS = {
    "answer-ps": [1, 2, None, {"targets": [{**TARGET, **figures(TOTALS)}, TARGET]}],
    "answer-stats": [1, 2, None, {**TARGET, **figures(TOTALS), "classes": [{"name": "pool", **figures(CLASS)}]}],
    "answer-history": [1, 2, None, {"pid": 7, "points": 3, "first_age_s": 12, "used_bytes": [1, None, 3],
                                    "cached_bytes": [4, None, 6], "rss_bytes": [7, None, 9]}],
    "answer-trim": [1, 2, None, {"pid": 7, "command": "c", "name": "", **figures(TRIM), "rss_before_bytes": 9,
                                 "rss_after_bytes": 8}],
    "answer-map": [1, 2, None, {**TARGET, "page_size": 65536, "classes": [
        {"block_size": 24, "name": "p", "pages": 3, "empty_pages": 1, "tenth_pages": [3, *[0] * 9],
         "tenth_out_bytes": [24, *[0] * 9], "tenth_free_bytes": [1 << 40, *[0] * 9]}]}],
}

MAP = {"page_size": 65_536, "classes": [{"block_size": 24, "name": "", "pages": 3, "empty_pages": 1, "tenth_pages": [0] * 9 + [3],
                                         "tenth_out_bytes": [7] * 10, "tenth_free_bytes": [1] * 10}]}


def pieces(*parts):
    """The input of fuzz_session: who says what (0: the target, 1 and 2: clients, 3: before hello)."""
    data = b""
    for who, frame in parts:
        frame = msgpack.packb(frame, use_bin_type=True)
        for at in range(0, len(frame), 255):
            data += bytes([who, len(frame[at:at + 255])]) + frame[at:at + 255]
    return data


# qad takes only figures that can be: sums hold, and a trim returns no more than there was.
def that_hold(keys):
    parts = {f"{part}_bytes": 4096 << i for i, part in enumerate(("thread", "partial", "empty", "slack"))}
    sums = {**parts, "cached_bytes": 61_440, "used_bytes": 48_000, "held_bytes": 109_440}
    return {key: sums.get(key, 1000 + i) for i, key in enumerate(keys)}


PID = {"pid": 7}
GIVEN = {"returned_bytes": 8192, "held_before_bytes": 65_536, "held_after_bytes": 57_344, "cached_before_bytes": 16_384,
         "cached_after_bytes": 8192, "duration_us": 70, "threads_skipped": 0}
ROWS = {**that_hold(TOTALS), "classes": [{"name": "pool", **that_hold(CLASS)}, {"name": "", **that_hold(CLASS), "block_size": 24}]}
SESSIONS = {
    "stats": pieces((1, [0, 2, "stats", PID]), (0, [1, 1, None, ROWS]), (0, [1, 1, None, ROWS])),
    "stats-twice": pieces((1, [0, 2, "stats", PID]), (2, [0, 2, "stats", PID]), (0, [1, 1, None, ROWS]),
                          (0, [1, 2, None, ROWS])),
    "late": pieces((0x81, [0, 2, "stats", PID]), *[(0x81, [0, 3 + i, "health", {}]) for i in range(12)],
                   (0, [1, 1, None, ROWS])),
    "ps": pieces((1, [0, 2, "ps", {}]), (0, [1, 1, None, that_hold(TOTALS)]), (1, [0, 3, "ps", [{"figures": False}]])),
    "trim": pieces((1, [0, 2, "trim", PID]), (2, [0, 2, "trim", {"all": True, "keep_bytes": 9}]),
                   (0, [1, 1, None, GIVEN]), (0, [1, 2, None, GIVEN]), (1, [0, 3, "history", PID])),
    "trim-pool": pieces((1, [0, 2, "trim", {**PID, "pool": "x"}]), (0, [1, 1, {"code": "no_class", "message": ""}, None])),
    "map": pieces((1, [0, 2, "map", PID]), (0, [1, 1, None, MAP]), (2, [0, 2, "map", PID]),
                  (0, [1, 2, {"code": "unknown_method", "message": ""}, None])),
    "watch": pieces((1, [0, 2, "watch", {**PID, "interval_ms": 10, "classes": True}]), (0, [1, 1, None, ROWS]),
                    *[(0xC1, [0, 3 + i, "history", {**PID, "step_s": 10}]) for i in range(12)],
                    (0, [1, 2, None, ROWS]), (1, [0, 50, "unwatch", {"watch": 1}])),
    "watch-all": pieces((1, [0, 2, "watch", {"interval_ms": 10}]), (2, [0, 2, "watch", {"interval_ms": 10}]),
                        (0x80, [1, 1, None, that_hold(TOTALS)]), (0xC1, [0, 3, "health", {}])),
    "hello": pieces((3, [0, 1, b"first", []]), (3, [0, 1, "hello", {"protocol": 1, "role": "client"}]),
                    (3, [0, 2, "ps", []])),
    "refused": pieces((3, [0, 1, "hello", {"protocol": 2, "role": "client"}]), (0, [0, 1, "what", {}]),
                      (1, [0, 1, "what", {}]), (2, [2, "tick", {}])),
    "same-pid": pieces((3, [0, 1, "hello", {"protocol": 1, "role": "target"}]), (1, [0, 2, "ps", {}])),
}


RECORD_TARGET = {**TARGET, **figures(TOTALS), "classes": [{"name": "pool", **figures(CLASS)}]}
RECORD_HEADER = {"format": "qactl-record", "version": 1, "qactl": "0.1.0", "host": "h", "created_ms": 1, "interval_ms": 1000,
                 "classes": True}


def lines(*objects):
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in objects)


RECORDS = {
    "whole": lines(RECORD_HEADER, {"time_ms": 1, "targets": [RECORD_TARGET]}, {"end_ms": 2, "records": 1}),
    "cut": lines(RECORD_HEADER, {"time_ms": 1, "targets": [RECORD_TARGET]})[:-9],
    "later": lines(RECORD_HEADER, {"mark": 1}, {"time_ms": 1, "targets": []}, [], {"end_ms": 2, "records": 9}),
    "other": lines({**RECORD_HEADER, "version": 2}),
}


HTTP = {
    "host": b"Metrics.example:9464",
    "host-six": b"[fe80::1]:80",
    "accept": b"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "path": b"/api/v1/targets/123/trim",
    "bearer": b"Bearer 0123456789abcdef",
    "origin": b"http://localhost:9464",
    "address": b"[::1]:9464",
    "label": b"a\"b\\c\nd\x1b[0m\xc2\x85\xff",
    "number": b"18446744073709551615",
}


def write(target, seeds):
    directory = pathlib.Path(__file__).parent / "corpus" / target
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in seeds.items():
        (directory / name).write_bytes(data if isinstance(data, bytes) else msgpack.packb(data, use_bin_type=True))


def main():
    for target in ("frame", "message", "agent"):
        write(target, {**SEEDS, **RAW})
    write("qactl", {**SEEDS, **ANSWERS})
    write("session", SESSIONS)
    write("record", RECORDS)
    write("http", HTTP)


if __name__ == "__main__":
    main()
