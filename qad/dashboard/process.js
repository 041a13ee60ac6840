/*
 * One process: its figures, their history with its trims, its classes, and how full its pages are.
 */
import { AnswerError, get } from "./api.js";
import { createChart } from "./chart.js";
import { createClasses } from "./classes.js";
import { make, setAttribute, setHidden, setText } from "./dom.js";
import * as format from "./format.js";
import { createOccupancy } from "./occupancy.js";
import { titleOf } from "./overview.js";
import { createRangeChoice } from "./range.js";
import { createRecord } from "./record.js";
import { createTiles } from "./tiles.js";
import { createTrim } from "./trim.js";
import { createTrims } from "./trims.js";

/* Pages fill and empty slowly, and to count them is more work for the program than its totals. */
const MAP_INTERVAL_MS = 5000, MAP_FAULT_INTERVAL_MS = 60000;
/* How often to look whether a process that went is there again: when it executes another program, say. */
const GONE_INTERVAL_MS = 5000;

const chosen = { range: "5m" };

const TILES = [
	{ id: "used", label: "Used", hint: "Block size × blocks that the program has now" },
	{ id: "cached", label: "Cached", hint: "Held, less used" },
	{ id: "held", label: "Held", hint: "Pages that libqa has from the system" },
	{ id: "rss", label: "Resident", hint: "Resident memory of the whole process" },
	{ id: "threads", label: "Threads", hint: "Threads that have a cache" },
	{ id: "allocs", label: "Allocations", hint: "Since the figures before" },
];

const PARTS = [
	{ key: "used_bytes", label: "used", color: "used" }, { key: "thread_bytes", label: "thread", color: "thread" },
	{ key: "partial_bytes", label: "partial", color: "partial" }, { key: "empty_bytes", label: "empty", color: "empty" },
	{ key: "slack_bytes", label: "slack", color: "slack" },
];

/* A rate needs two answers; one that is older than the last (a process that began anew) gives none. */
function createRate() {
	let last = null;

	return (figures) => {
		const now = { at: performance.now() - figures.age_ms, allocs: figures.allocs, frees: figures.frees };
		const before = last, seconds = before === null ? 0 : (now.at - before.at) / 1000;

		if (before !== null && seconds < 0.5)
			return before.rates;
		last = now;
		now.rates = before === null || now.allocs < before.allocs || now.frees < before.frees ? null
			: { allocs: (now.allocs - before.allocs) / seconds, frees: (now.frees - before.frees) / seconds };
		return now.rates;
	};
}

function detailsOf(stats) {
	return [
		["PID", stats.inner_pid !== stats.pid ? `${stats.pid}, in its container ${stats.inner_pid}` : String(stats.pid)],
		["UID", String(stats.uid)], ["Up", format.uptime(stats.uptime_s)], ["libqa", format.name(stats.version)],
		["Pages of", stats.page_size === undefined ? "-" : format.bytes(stats.page_size)],
		["Program", format.name(stats.exe ?? "") || "-"], ["Control group", format.name(stats.cgroup ?? "") || "-"],
	];
}

function createDetails() {
	const values = new Map();
	const element = make("dl", { class: "details" });

	return { element, update(stats) {
		for (const [label, text] of detailsOf(stats)) {
			if (!values.has(label)) {
				values.set(label, make("dd"));
				element.append(make("div", {}, make("dt", {}, label), values.get(label)));
			}
			setText(values.get(label), text);
		}
	} };
}

function showTiles(tiles, stats, rates) {
	if (stats.held_bytes === undefined)
		return;
	for (const id of ["used", "cached", "held", "rss"])
		tiles.set(id, format.bytes(stats[`${id}_bytes`]), format.exactBytes(stats[`${id}_bytes`]),
			id === "cached" ? `${format.percent(stats.cached_bytes, stats.held_bytes)} of held` : id === "rss" ? "the whole process" : "");
	tiles.set("threads", format.count(stats.threads), null, stats.unreachable_bytes === 0 ? "" : `${format.bytes(stats.unreachable_bytes)} out of reach`);
	tiles.set("allocs", rates === null ? "-" : format.rate(rates.allocs), `${format.count(stats.allocs)} in all`,
		rates === null ? "" : `${format.rate(rates.frees)} freed`);
}

function card(id, title, extra, ...content) {
	return make("section", { class: "card", "aria-labelledby": id },
		make("div", { class: "card-head" }, make("h2", { id }, title), ...extra), ...content);
}

/* A trim as the chart marks it. */
function eventOf(trim, now_s) {
	return { time: now_s - trim.age_ms / 1000, text: `trim, ${format.bytes(trim.returned_bytes)} returned` };
}

export function createProcess({ pid, onChange, health }) {
	const path = `targets/${pid}`;
	const tiles = createTiles(TILES), details = createDetails(), record = createRecord(), rateOf = createRate();
	const chart = createChart({
		label: "Used, thread, partial, empty and slack, stacked, and resident memory", parts: PARTS,
		line: { key: "rss_bytes", label: "resident", color: "rss" },
	});
	const range = createRangeChoice(chosen, onChange);
	const classes = createClasses(), occupancy = createOccupancy(), trims = createTrims();
	const trim = createTrim({ pid, onDone: onChange });
	const heading = make("h1", { tabindex: "-1" }, `Process ${pid}`);
	const badge = make("span", { class: "badge", hidden: true });
	const gone = make("p", { class: "notice", role: "status", hidden: true });
	const body = make("div", { class: "view-body" }, tiles.element,
		card("history", "Over time", [range], chart.element, trims.element),
		card("classes", "Size classes and pools", [], classes.element),
		card("occupancy", "How full the pages are", [], occupancy.element), details.element);
	const element = make("div", { class: "view" },
		make("nav", { class: "crumbs", "aria-label": "Back" }, make("a", { href: "#/" }, "← All processes")),
		make("div", { class: "title" }, heading, badge, make("span", { class: "grow" }), trim.element), gone, body);
	let mapDue = 0, isGone = false, goneDue = 0, isKnown = false;

	async function askMap(signal) {
		if (performance.now() < mapDue)
			return;
		mapDue = performance.now() + MAP_INTERVAL_MS;
		try {
			occupancy.update(await get(`${path}/map`, signal));
		} catch (error) {
			if (!(error instanceof AnswerError))
				throw error;
			occupancy.fail(error);
			mapDue = performance.now() + MAP_FAULT_INTERVAL_MS;
		}
	}

	function show(stats, history) {
		setText(heading, titleOf(stats));
		setText(badge, stats.silent ? "silent" : "");
		setAttribute(badge, "title", stats.silent ? "It does not answer; these are the last figures." : null);
		setHidden(badge, !stats.silent);
		showTiles(tiles, stats, stats.held_bytes === undefined || stats.silent ? null : rateOf(stats));
		details.update(stats);
		classes.update(stats.classes ?? []);
		record.add(history);
		const columns = record.columns(range.chosen), now_s = history.first_time_s + history.first_age_s;
		chart.update(columns, record.trims.map((one) => eventOf(one, now_s)));
		trims.update(record.trims, now_s);
		trim.setAllowed(health().http_allows_trim === true);
		document.title = `qad: ${titleOf(stats)}`;
	}

	function setGone(value) {
		isGone = value;
		setHidden(gone, !value);
		setText(gone, !value ? "" : isKnown
			? `Process ${pid} has ended, or its connection to qad has. What stands here is the last that was known.`
			: `There is no process ${pid} that runs on libqa and that qad knows.`);
		setHidden(body, value && !isKnown);
		body.classList.toggle("stale", value);
		trim.setGone(value);
	}

	/* By a question that is no error when it is not. */
	async function isBack(signal) {
		if (performance.now() < goneDue)
			return false;
		goneDue = performance.now() + GONE_INTERVAL_MS;
		return (await get("targets", signal)).targets.some((target) => target.pid === pid);
	}

	async function ask(signal) {
		/* One after the other: what was just told is then the newest point of the history. */
		const stats = await get(path, signal);
		const history = await get(`${path}/history?${record.query(range.chosen)}`, signal);

		if (isGone)
			setGone(false);
		isKnown = true;
		show(stats, history);
		await askMap(signal);
	}

	return {
		element, heading, title: `qad: process ${pid}`,
		async refresh(signal) {
			if (isGone && !(await isBack(signal)))
				return;
			try {
				await ask(signal);
			} catch (error) {
				if (!(error instanceof AnswerError && error.status === 404))
					throw error;
				record.clear();
				setGone(true);
			}
		},
		onBack() {
			record.clear();
			mapDue = goneDue = 0;
		},
		onKey(event) {
			if (event.key !== "Escape")
				return false;
			location.hash = "#/";
			return true;
		},
		destroy() {
			trim.destroy();
			chart.destroy();
		},
	};
}
