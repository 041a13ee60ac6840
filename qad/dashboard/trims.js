/*
 * The last trims of a process, the newest first: what the marks on its chart are.
 */
import { make, setHidden } from "./dom.js";
import * as format from "./format.js";
import { createTable } from "./table.js";

function whatOf(trim) {
	const of = trim.pool !== "" ? `pool ${format.name(trim.pool)}` : trim.block_size !== 0 ? `blocks of ${format.count(trim.block_size)}` : "all";

	return trim.keep_bytes === 0 ? of : `${of}, but ${format.bytes(trim.keep_bytes)}`;
}

function whoOf(trim) {
	const others = trim.asked_by - 1;

	return `uid ${trim.uid}, pid ${trim.client_pid}${others > 0 ? ` and ${others} more` : ""}`;
}

const COLUMNS = [
	{ id: "time", title: "Trim at", isHeading: true, isText: true, text: (trim) => format.clock(trim.time_s), sort: (trim) => trim.time_s },
	{ id: "what", title: "Of", isText: true, rank: 2, text: whatOf },
	{ id: "returned", title: "Returned", text: (trim) => format.bytes(trim.returned_bytes), exact: (trim) => format.exactBytes(trim.returned_bytes) },
	{ id: "rss", title: "Resident", text: (trim) => `${format.bytes(trim.rss_before_bytes)} → ${format.bytes(trim.rss_after_bytes)}` },
	{ id: "took", title: "Took", rank: 2, text: (trim) => format.duration(trim.duration_us) },
	{ id: "who", title: "Asked by", isText: true, rank: 3, text: whoOf },
];

export function createTrims() {
	/* Its age is all that names a trim; the moment that gives may differ by a little each time. */
	const known = [];
	const table = createTable({ caption: "Trims", columns: COLUMNS, key: (trim) => trim.key, sort: "time", isDown: true, nothing: () => "" });
	const element = make("div", { class: "trims", hidden: true }, table.element);
	let lastKey = 0;

	function keep(trim, time_s) {
		const same = known.find((old) => Math.abs(old.time_s - time_s) < 2 && old.duration_us === trim.duration_us &&
			old.returned_bytes === trim.returned_bytes && old.client_pid === trim.client_pid);

		if (same !== undefined)
			return same;
		const added = { ...trim, time_s, key: ++lastKey };
		known.push(added);
		return added;
	}

	return {
		element,
		update(trims, now_s) {
			const rows = trims.map((trim) => keep(trim, now_s - trim.age_ms / 1000));

			known.splice(0, known.length, ...rows);
			setHidden(element, rows.length === 0);
			table.update(rows);
		},
	};
}
