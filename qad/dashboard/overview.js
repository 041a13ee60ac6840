/*
 * All processes: their sums, the sums over time, and a table of them.
 */
import { get } from "./api.js";
import { createChart } from "./chart.js";
import { make, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { createRangeChoice } from "./range.js";
import { createRecord } from "./record.js";
import { createBar, createTable, updateBar } from "./table.js";
import { createTiles } from "./tiles.js";

const FIGURES = ["held_bytes", "used_bytes", "cached_bytes", "rss_bytes"];
const ROWS_AT_FIRST = 250;

/* What is chosen here stays while the page is open. */
const chosen = { filter: "", range: "5m" };

function sumOf(targets) {
	const sum = { held_bytes: 0, used_bytes: 0, cached_bytes: 0, rss_bytes: 0 };

	for (const target of targets)
		for (const key of FIGURES)
			sum[key] += target[key] ?? 0;
	return sum;
}

/** The name that people know it by. */
export function titleOf(target) {
	return target.name === "" ? format.name(target.command) : `${format.name(target.name)} (${format.name(target.command)})`;
}

export function stateOf(target) {
	return target.silent ? "silent" : target.age_ms === undefined ? "no figures" : "ok";
}

function bytesColumn(id, title, rank, hint) {
	const key = `${id}_bytes`;

	return {
		id, title, rank, hint, sort: (row) => row[key] ?? -1,
		text: (row) => (row[key] === undefined ? "-" : format.bytes(row[key])),
		exact: (row) => (row[key] === undefined ? null : format.exactBytes(row[key])),
	};
}

function makeColumns(largest) {
	return [
		{
			id: "process", title: "Process", isText: true, isHeading: true, class: "process", sort: (row) => titleOf(row).toLowerCase(),
			create: () => make("a", {}), update(node, row) {
				setText(node, titleOf(row));
				setAttribute(node, "href", `#/process/${row.pid}`);
			},
			exact: (row) => format.name(row.exe ?? row.command),
		},
		{ id: "pid", title: "PID", rank: 2, sort: (row) => row.pid, text: (row) => String(row.pid) },
		{ id: "uid", title: "UID", rank: 4, sort: (row) => row.uid, text: (row) => String(row.uid) },
		{
			id: "bar", title: "Used | cached", rank: 2, class: "bar-cell", isText: true, create: createBar,
			update: (node, row) => updateBar(node, { used_bytes: row.used_bytes ?? 0, cached_bytes: row.cached_bytes ?? 0 }, largest.held_bytes),
		},
		bytesColumn("held", "Held", 3),
		bytesColumn("used", "Used", 1),
		bytesColumn("cached", "Cached", 1),
		{
			id: "percent", title: "Cached %", rank: 2, sort: (row) => (row.held_bytes ? row.cached_bytes / row.held_bytes : -1),
			text: (row) => (row.held_bytes === undefined ? "-" : format.percent(row.cached_bytes, row.held_bytes)),
		},
		bytesColumn("rss", "RSS", 3, "Resident memory of the whole process"),
		{ id: "threads", title: "Threads", rank: 4, hint: "Threads that have a cache", sort: (row) => row.threads ?? -1, text: (row) => (row.threads === undefined ? "-" : format.count(row.threads)) },
		{ id: "uptime", title: "Uptime", rank: 4, sort: (row) => row.uptime_s, text: (row) => format.uptime(row.uptime_s) },
		{ id: "state", title: "State", rank: 3, isText: true, sort: stateOf, text: stateOf, mark: stateOf, exact: (row) => (row.silent && row.age_ms !== undefined ? `figures are ${Math.round(row.age_ms / 1000)} s old` : null) },
	];
}

function isMatch(target, words) {
	const text = `${titleOf(target)} ${target.pid}`.toLowerCase();

	return words.every((word) => text.includes(word));
}

function moveInRows(event, body) {
	const links = [...body.querySelectorAll("a")], at = links.indexOf(document.activeElement);
	const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];

	if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey)
		return;
	event.preventDefault();
	links[Math.max(0, Math.min(links.length - 1, to))].focus();
}

export function createOverview({ onChange }) {
	const largest = { held_bytes: 0 };
	const tiles = createTiles([
		{ id: "used", label: "Used" }, { id: "cached", label: "Cached" }, { id: "held", label: "Held" },
		{ id: "rss", label: "Resident" }, { id: "processes", label: "Processes" }]);
	const chart = createChart({
		label: "Used and cached, stacked, and resident memory, of all processes",
		parts: [{ key: "used_bytes", label: "used", color: "used" }, { key: "cached_bytes", label: "cached", color: "cached" }],
		line: { key: "rss_bytes", label: "resident", color: "rss" },
	});
	const range = createRangeChoice(chosen, onChange);
	const filter = make("input", { type: "search", id: "filter", placeholder: "name or pid", autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/" });
	const counted = make("span", { class: "counted", role: "status" });
	const table = createTable({
		caption: "Processes", columns: makeColumns(largest), key: (row) => row.pid, sort: "cached", most: ROWS_AT_FIRST,
		nothing: () => (targets.length === 0 ? "No process runs on libqa here. Start one: qactl run PROGRAM" : "No process matches."),
	});
	const record = createRecord();
	let targets = [];

	const heading = make("h1", { tabindex: "-1" }, "All processes");
	const element = make("div", { class: "view" }, heading, tiles.element,
		make("section", { class: "card", "aria-labelledby": "over-time" },
			make("div", { class: "card-head" }, make("h2", { id: "over-time" }, "Over time"), range), chart.element),
		make("section", { class: "card", "aria-labelledby": "processes" },
			make("div", { class: "card-head" }, make("h2", { id: "processes" }, "Processes"),
				make("label", { class: "filter" }, make("span", {}, "Filter"), filter), counted), table.element));

	function showTable() {
		const words = chosen.filter.toLowerCase().split(/\s+/).filter(Boolean);
		const matching = words.length === 0 ? targets : targets.filter((target) => isMatch(target, words));

		largest.held_bytes = Math.max(0, ...matching.map((target) => target.held_bytes ?? 0));
		table.update(matching);
		setText(counted, words.length === 0 ? "" : `${format.count(matching.length)} of ${format.count(targets.length)}`);
	}

	function showTiles() {
		const sum = sumOf(targets), silent = targets.filter((target) => target.silent).length;

		for (const id of ["used", "cached", "held", "rss"])
			tiles.set(id, format.bytes(sum[`${id}_bytes`]), format.exactBytes(sum[`${id}_bytes`]),
				id === "cached" ? `${format.percent(sum.cached_bytes, sum.held_bytes)} of held` : id === "rss" ? "the whole processes" : "");
		tiles.set("processes", format.count(targets.length), null, silent === 0 ? "" : `${format.count(silent)} silent`);
	}

	filter.value = chosen.filter;
	filter.addEventListener("input", () => {
		chosen.filter = filter.value;
		showTable();
	});
	table.body.addEventListener("keydown", (event) => moveInRows(event, table.body));

	return {
		element, heading, title: "qad: all processes",
		async refresh(signal) {
			const one = range.chosen;
			/* One after the other: what was just told is then the newest point of the history. */
			const answer = await get("targets", signal);
			const history = await get(`history?${record.query(one)}`, signal);

			targets = answer.targets;
			record.add(history);
			showTiles();
			showTable();
			chart.update(record.columns(one), []);
		},
		onBack: () => record.clear(),
		onKey(event) {
			if (event.key === "/") {
				filter.focus();
				filter.select();
			} else if (event.key === "Escape" && chosen.filter !== "") {
				filter.value = chosen.filter = "";
				showTable();
			} else if (event.key === "ArrowDown" && document.activeElement === filter) {
				table.body.querySelector("a")?.focus();
			} else {
				return false;
			}
			return true;
		},
		destroy: () => chart.destroy(),
	};
}
