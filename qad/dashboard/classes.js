/*
 * The table of a process's size classes and named pools.
 */
import * as format from "./format.js";
import { createBar, createTable, updateBar } from "./table.js";

/** As qactl names it: a pool's name, a block size, or what is too large for a class. */
export function classLabel(row) {
	return row.name !== "" ? format.name(row.name) : row.block_size === 0 ? "large" : format.count(row.block_size);
}

/** Classes by size, then large blocks, then pools; the order of the protocol. */
export function classKey(row) {
	return `${row.name === "" ? 0 : 1} ${String(row.block_size === 0 ? 1e15 : row.block_size).padStart(16, "0")} ${row.name}`;
}

function bytesColumn(id, rank) {
	const key = `${id}_bytes`;

	return {
		id, title: id[0].toUpperCase() + id.slice(1), rank, sort: (row) => row[key],
		text: (row) => format.bytes(row[key]), exact: (row) => format.exactBytes(row[key]),
	};
}

function countColumn(id, title, rank, key = id) {
	return { id, title, rank, sort: (row) => row[key], text: (row) => format.count(row[key]) };
}

function makeColumns(largest) {
	return [
		{
			id: "class", title: "Block", isHeading: true, hint: "Block size in bytes, or the name of a pool", sort: classKey, isText: true,
			text: classLabel, exact: (row) => (row.name !== "" ? `blocks of ${format.exactBytes(row.block_size)}` : null),
		},
		{ ...countColumn("pages", "Pages", 3), text: (row) => (row.block_size === 0 ? "-" : format.count(row.pages)) },
		{
			id: "bar", title: "Used | cached", rank: 2, class: "bar-cell", isText: true, create: createBar,
			update: (node, row) => updateBar(node, row, largest.held_bytes),
		},
		bytesColumn("held", 2), bytesColumn("used", 1), bytesColumn("cached", 1),
		{
			id: "percent", title: "Cached %", rank: 2, sort: (row) => (row.held_bytes ? row.cached_bytes / row.held_bytes : -1),
			text: (row) => format.percent(row.cached_bytes, row.held_bytes),
		},
		bytesColumn("thread", 4), bytesColumn("partial", 3), bytesColumn("empty", 3), bytesColumn("slack", 4),
		countColumn("blocks", "Blocks used", 4, "used_blocks"),
	];
}

export function createClasses() {
	const largest = { held_bytes: 0 };
	const table = createTable({
		caption: "Size classes and named pools", columns: makeColumns(largest), key: classKey, sort: "cached",
		nothing: () => "No class holds a page.",
	});

	return {
		element: table.element,
		update(rows) {
			largest.held_bytes = Math.max(0, ...rows.map((row) => row.held_bytes));
			table.update(rows);
		},
	};
}
