"""The figures that qactl and the JSON of qad show, checked: every sum must hold."""

from wire import PARTS


def assert_sums(figures):
    """held = used + cached and cached = its four parts, in every row and in total; totals are the rows' sums."""
    for row in [figures, *figures["classes"]]:
        assert row["held_bytes"] == row["used_bytes"] + row["cached_bytes"], row
        assert row["cached_bytes"] == sum(row[part] for part in PARTS), row
        assert all(value >= 0 for key, value in row.items() if key.endswith("_bytes")), row
    for row in figures["classes"]:
        if row["block_size"]:
            assert row["used_bytes"] == row["used_blocks"] * row["block_size"], row
            assert row["held_bytes"] <= row["pages"] * figures["page_size"], row  # less what was given back inside
    for key in ("held_bytes", "used_bytes", "cached_bytes", *PARTS):
        assert figures[key] == sum(row[key] for row in figures["classes"]), key
    return figures


def row_of(figures, block_size):
    """The row of a class; of zeros when it is not shown."""
    for row in figures["classes"]:
        if row["block_size"] == block_size:
            return row
    keys = ("pages", "held_bytes", "used_bytes", "cached_bytes", *PARTS, "used_blocks", "allocs", "frees")
    return {"block_size": block_size, **{key: 0 for key in keys}}
