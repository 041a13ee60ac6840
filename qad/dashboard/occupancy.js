/*
 * How full the pages are: all of them by tenths, then each class, a cell per tenth that is the darker the more pages
 * it has. It shows why memory can not come back: blocks that are few, in pages that are many.
 */
import { classKey, classLabel } from "./classes.js";
import { make, setAttribute, setHidden, setStyle, setText, share } from "./dom.js";
import * as format from "./format.js";
import { createTable } from "./table.js";

const TENTHS = Array.from({ length: 10 }, (_, i) => i);

function labelOf(tenth) {
	return `${tenth * 10}–${(tenth + 1) * 10} %`;
}

function tell(pages, out, free) {
	return `${format.count(pages)} ${pages === 1 ? "page" : "pages"}: ${format.bytes(out)} in use or in thread caches, ${format.bytes(free)} free`;
}

function sum(values) {
	return values.reduce((total, value) => total + value, 0);
}

function createBars() {
	const bars = TENTHS.map((tenth) => {
		const used = make("span", { class: "tenth-out" }), free = make("span", { class: "tenth-free" });
		const value = make("span", { class: "tenth-value" });

		return { used, free, value, node: make("li", { class: "tenth" },
			make("span", { class: "tenth-bar", "aria-hidden": "true" }, free, used),
			value, make("span", { class: "tenth-label" }, labelOf(tenth))) };
	});

	return {
		element: make("ol", { class: "tenths" }, ...bars.map((bar) => bar.node)),
		update(classes) {
			const of = (key) => TENTHS.map((tenth) => sum(classes.map((row) => row[key][tenth])));
			const pages = of("tenth_pages"), out = of("tenth_out_bytes"), free = of("tenth_free_bytes");
			const most = Math.max(1, ...TENTHS.map((tenth) => out[tenth] + free[tenth]));

			bars.forEach((bar, tenth) => {
				setStyle(bar.used, "height", share(out[tenth], most));
				setStyle(bar.free, "height", share(free[tenth], most));
				setText(bar.value, format.count(pages[tenth]));
				setAttribute(bar.node, "title", tell(pages[tenth], out[tenth], free[tenth]));
			});
		},
	};
}

function makeCell() {
	return make("span", { class: "heat" });
}

/* Few pages must be seen beside many: the root of the share. */
function updateCell(node, row, tenth, most) {
	const pages = row.tenth_pages[tenth];

	setText(node, pages === 0 ? "·" : format.count(pages));
	setStyle(node, "--heat", `${pages === 0 ? 0 : Math.round(12 + 58 * Math.sqrt(pages / most))}%`);
	setAttribute(node, "title", `${labelOf(tenth)} full, ${tell(pages, row.tenth_out_bytes[tenth], row.tenth_free_bytes[tenth])}`);
}

function makeColumns(most) {
	const free = (row) => sum(row.tenth_free_bytes);

	return [
		{ id: "class", title: "Block", isHeading: true, isText: true, sort: classKey, text: classLabel },
		...TENTHS.map((tenth) => ({
			id: `tenth${tenth}`, title: `${(tenth + 1) * 10} %`, class: "heat-cell", hint: `Pages that are ${labelOf(tenth)} full`,
			sort: (row) => row.tenth_pages[tenth], create: makeCell, update: (node, row) => updateCell(node, row, tenth, most.pages),
		})),
		{ id: "empty", title: "Empty", hint: "Pages without a block", sort: (row) => row.empty_pages, text: (row) => format.count(row.empty_pages) },
		{ id: "free", title: "Pinned", hint: "Free bytes in pages that have a block out: the blocks pin them", sort: free, text: (row) => format.bytes(free(row)), exact: (row) => format.exactBytes(free(row)) },
	];
}

export function createOccupancy() {
	const most = { pages: 1 };
	const bars = createBars(), failed = make("p", { class: "empty", hidden: true });
	const table = createTable({
		caption: "Pages of each class by how full they are", columns: makeColumns(most), key: classKey, sort: "free",
		nothing: () => "No class holds a page.",
	});
	const content = make("div", { class: "occupancy" },
		make("p", { class: "explain" }, "Pages that have a block out, by how full they are, with the bytes ",
			make("span", { class: "key color-used" }), " in use or in thread caches and ", make("span", { class: "key color-partial" }),
			" free: what few blocks pin stands on the left."), bars.element, table.element);

	return {
		element: make("div", {}, failed, content),
		update(map) {
			most.pages = Math.max(1, ...map.classes.flatMap((row) => row.tenth_pages));
			bars.update(map.classes);
			table.update(map.classes);
			setHidden(failed, true);
			setHidden(content, false);
		},
		fail(error) {
			setText(failed, `No figures of the pages: ${error.message}`);
			setHidden(failed, false);
			setHidden(content, true);
		},
	};
}
