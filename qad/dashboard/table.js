/*
 * A table whose rows have keys. A refresh changes the text of cells, makes rows for new keys, takes away those that
 * ended, and moves only rows whose place changed. Column headings are buttons that sort.
 */
import { arrange, make, setAttribute, setHidden, setStyle, setText, share } from "./dom.js";

/*
 * A column: id and title; text(row), and if wanted exact(row) for the title attribute and mark(row) for data-mark, or, for
 * a cell of its own, create() and update(node, row); sort(row), a number or string; isText: left-aligned and sorted from
 * a to z; rank: 1 is shown on every screen, 4 only on a wide one.
 */
function makeHeading(column, onSort) {
	const hint = column.hint ? { title: column.hint } : {};
	const button = column.sort
		? make("button", { type: "button", ...hint }, column.title)
		: make("span", hint, column.title);
	const cell = make("th", { scope: "col", class: classOf(column) }, button);

	if (column.sort)
		button.addEventListener("click", () => onSort(column));
	return cell;
}

function classOf(column) {
	return `${column.isText ? "text" : "number"} rank${column.rank ?? 1}${column.class ? ` ${column.class}` : ""}`;
}

function makeRow(columns) {
	const cells = columns.map((column) =>
		make(column.isHeading ? "th" : "td",
			{ class: classOf(column), ...(column.isHeading ? { scope: "row" } : {}) },
			...(column.create ? [column.create()] : [])));

	return { node: make("tr", {}, ...cells), cells };
}

function updateRow(columns, row, data) {
	columns.forEach((column, i) => {
		const cell = row.cells[i];

		if (column.update)
			column.update(cell.firstChild, data);
		else
			setText(cell, column.text(data));
		if (column.mark)
			setAttribute(cell, "data-mark", column.mark(data));
		if (column.exact)
			setAttribute(cell, "title", column.exact(data));
	});
}

function compare(a, b) {
	if (typeof a === "string")
		return a < b ? -1 : a > b ? 1 : 0;
	return a - b;
}

/**
 * options: caption (for those who do not see it), columns, key(row), sort (the id of the column sorted by at first)
 * and isDown, nothing (what to say without a row), most (how many rows are shown before somebody asks for more).
 */
export function createTable(options) {
	const { columns, key, most = Infinity } = options;
	const headings = columns.map((column) => makeHeading(column, sortBy));
	const body = make("tbody");
	const nothing = make("p", { class: "empty", hidden: true });
	const more = make("button", { type: "button", class: "more", hidden: true });
	const scroller = make("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": options.caption },
		make("table", {}, make("caption", { class: "unseen" }, options.caption),
			make("thead", {}, make("tr", {}, ...headings)), body));
	const element = make("div", { class: "table" }, scroller, nothing, more);
	const rows = new Map();
	let sorted = columns.find((column) => column.id === options.sort), isDown = options.isDown ?? !sorted.isText;
	let shown = most, last = [];

	function sortBy(column) {
		isDown = column === sorted ? !isDown : !column.isText;
		sorted = column;
		update(last);
	}

	function showSort() {
		columns.forEach((column, i) =>
			setAttribute(headings[i], "aria-sort",
				column === sorted ? (isDown ? "descending" : "ascending") : null));
	}

	function inOrder(data) {
		const direction = isDown ? -1 : 1;

		return data.map((row) => ({ row, by: sorted.sort(row) }))
			.sort((a, b) => direction * compare(a.by, b.by) || compare(key(a.row), key(b.row)))
			.map((pair) => pair.row);
	}

	function rowOf(data) {
		let row = rows.get(key(data));

		if (row === undefined) {
			row = makeRow(columns);
			rows.set(key(data), row);
		}
		updateRow(columns, row, data);
		return row.node;
	}

	function update(data) {
		const ordered = inOrder(data).slice(0, shown);
		const keys = new Set(ordered.map(key));
		const left = data.length - ordered.length;

		last = data;
		for (const old of rows.keys())
			if (!keys.has(old))
				rows.delete(old);
		arrange(body, ordered.map(rowOf));
		showSort();
		setHidden(scroller, data.length === 0);
		setHidden(nothing, data.length > 0);
		setText(nothing, options.nothing());
		setHidden(more, left === 0);
		setText(more, `Show ${Math.min(left, most)} more of ${data.length}`);
	}

	more.addEventListener("click", () => {
		shown += most;
		update(last);
	});
	return { element, update, body };
}

/** A bar of used and cached beside each other, against the largest of its column; the numbers stand next to it. */
export function createBar() {
	return make("div", { class: "bar", "aria-hidden": "true" }, make("span", { class: "bar-used" }), make("span", { class: "bar-cached" }));
}

export function updateBar(bar, row, largest) {
	setStyle(bar.firstChild, "width", share(row.used_bytes, largest));
	setStyle(bar.lastChild, "width", share(row.cached_bytes, largest));
}
