#!/usr/bin/env python3
"""Writes the C file with the files of the page: embed.py OUTPUT [NAME=]FILE...

NAME is what it is called in /page/NAME; by default the file's own name. Without a file the table is empty.
"""

import hashlib
import pathlib
import sys

TYPES = {".html": "HTML", ".css": "CSS", ".js": "JS", ".svg": "SVG", ".txt": "TEXT"}
LINE_BYTES = 24

HEAD = """/* Made by dashboard/embed.py. */
#include "http_page.h"
"""


def array_of(number, data):
    lines = [", ".join(map(str, data[start:start + LINE_BYTES])) for start in range(0, len(data), LINE_BYTES)]
    return f"\nstatic const unsigned char file_{number}[] = {{\n" + ",\n".join(lines) + "\n};\n"


def main(output, *arguments):
    text, rows = HEAD, []
    for number, argument in enumerate(arguments):
        name, _, path = argument.rpartition("=")
        name = name or pathlib.Path(path).name
        data = pathlib.Path(path).read_bytes()
        kind = TYPES[pathlib.Path(name).suffix]
        etag = hashlib.sha256(data).hexdigest()[:32]
        text += array_of(number, data)
        rows.append(f'\t{{"{name}", HTTP_TYPE_{kind}, file_{number}, sizeof(file_{number}), "\\"{etag}\\""}},\n')
    text += "\nconst struct http_page_file http_page_files[] = {\n" + "".join(rows) + "\t{0},\n};\n"
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
