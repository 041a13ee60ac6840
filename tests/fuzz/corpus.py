#!/usr/bin/python3
"""Writes the seeds of the fuzzers to corpus/, next to this file: one frame of each kind, and what a hostile peer sends."""

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
    "notification": [2, "tick", {}],
    "nested": [2, "m", {"a": [[[[[1]]]]]}],
    "types": [2, "m", {"a": [-1, -300, -70000, -(2**40), 300, 70000, 2**40, 1.5, b"bin", "s" * 40, None, True]}],
}

RAW = {
    "four-billion": b"\xdd\xff\xff\xff\xff",
    "half": b"\x94\x00\x01\xa5sta",
    "text": b"GET / HTTP/1.1\r\n",
}


def main():
    for target in ("frame", "message"):
        directory = pathlib.Path(__file__).parent / "corpus" / target
        directory.mkdir(parents=True, exist_ok=True)
        for name, value in SEEDS.items():
            (directory / name).write_bytes(msgpack.packb(value, use_bin_type=True))
        for name, data in RAW.items():
            (directory / name).write_bytes(data)


if __name__ == "__main__":
    main()
