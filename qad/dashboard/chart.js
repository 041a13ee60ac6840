/*
 * A chart of parts stacked on each other, a line over them, and events: uPlot with a legend of our own, which tells the
 * figures at the cursor or, without one, the newest. Arrow keys move the cursor; what it finds is then said as text.
 */
import * as format from "./format.js";
import { make, setText, setAttribute } from "./dom.js";

const HEIGHT_PX = 280, NARROW_HEIGHT_PX = 220, NARROW_PX = 600;
/* Steps of the axis that are round numbers of a unit: 1, 2, 4 ... 512 of each. */
const STEPS = Array.from({ length: 60 }, (_, i) => 2 ** i);

function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The sums that are drawn, the uppermost first: it is painted first, and the others over it. */
function stackUp(columns, keys) {
	const sums = [];
	let below = null;

	for (const key of keys) {
		below = columns[key].map((value, i) => (value === null ? null : value + (below?.[i] ?? 0)));
		sums.unshift(below);
	}
	return sums;
}

function makeLegend(parts, line) {
	const items = [...parts, line].map((one) => {
		const value = make("span", { class: "legend-value" });

		return { key: one.key, value, node: make("div", { class: "legend-item" },
			make("span", { class: `swatch ${one === line ? "swatch-line" : ""} color-${one.color}`, "aria-hidden": "true" }),
			make("span", { class: "legend-label" }, one.label), value) };
	});
	const when = make("span", { class: "legend-when" });

	return { element: make("div", { class: "legend" }, ...items.map((item) => item.node), when), items, when };
}

/* A line from top to bottom with a flag for each event that is in sight. */
function drawEvents(plot, events) {
	const { ctx, bbox } = plot, ratio = devicePixelRatio;

	ctx.save();
	ctx.strokeStyle = ctx.fillStyle = color("--event");
	ctx.lineWidth = ratio;
	for (const event of events) {
		const x = Math.round(plot.valToPos(event.time, "x", true));

		if (x < bbox.left || x > bbox.left + bbox.width)
			continue;
		ctx.setLineDash([4 * ratio, 3 * ratio]);
		ctx.beginPath();
		ctx.moveTo(x, bbox.top);
		ctx.lineTo(x, bbox.top + bbox.height);
		ctx.stroke();
		ctx.setLineDash([]);
		ctx.beginPath();
		ctx.moveTo(x - 5 * ratio, bbox.top);
		ctx.lineTo(x + 5 * ratio, bbox.top);
		ctx.lineTo(x, bbox.top + 8 * ratio);
		ctx.fill();
	}
	ctx.restore();
}

function clockOf(time, step) {
	return step < 60 ? format.clock(time) : format.clock(time).slice(0, 5);
}

function axes() {
	const common = {
		stroke: () => color("--muted"), font: "12px system-ui, sans-serif",
		grid: { stroke: () => color("--grid"), width: 1 }, ticks: { show: false },
	};

	return [
		{ ...common, space: 80, size: 28, gap: 6, values: (plot, splits, axis, space, step) => splits.map((split) => clockOf(split, step)) },
		{ ...common, size: 76, space: 36, incrs: STEPS, values: (plot, splits) => splits.map(format.roundBytes) },
	];
}

/** options: label (what the chart shows), parts ([{key, label, color}], from below), line (one more). */
export function createChart({ label, parts, line }) {
	const keys = parts.map((part) => part.key);
	const legend = makeLegend(parts, line);
	const said = make("div", { class: "unseen", "aria-live": "polite" });
	const frame = make("div", { class: "chart-frame", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-label": label });
	const element = make("div", { class: "chart" }, legend.element, frame, said);
	let columns = { times: [] }, events = [], isRead = false;

	const plot = new window.uPlot({
		width: 600, height: HEIGHT_PX, legend: { show: false }, drawOrder: ["series", "axes"], padding: [8, 30, 0, 0],
		cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
		scales: {
			x: { time: true, range: () => window_() },
			y: { range: (self, low, high) => [0, (high || 1 << 20) * 1.06] },
		},
		series: [{},
			...parts.toReversed().map((part) => ({ stroke: () => color(`--${part.color}`), fill: () => color(`--${part.color}`), width: 0, points: { show: false } })),
			{ stroke: () => color(`--${line.color}`), width: 2, points: { show: false } }],
		axes: axes(),
		hooks: { draw: [(self) => drawEvents(self, events)], setCursor: [showLegend] },
	}, [[], ...keys.map(() => []), []], frame);

	function window_() {
		return [columns.from ?? 0, columns.to ?? 1];
	}

	function eventAt(time) {
		const reach = (columns.to - columns.from) / 100;

		return events.find((event) => Math.abs(event.time - time) <= Math.max(reach, columns.step));
	}

	function showLegend() {
		const index = plot?.cursor.idx ?? null, at = index ?? columns.times.length - 1;
		const time = columns.times[at];
		const event = index !== null && time !== undefined ? eventAt(time) : undefined;

		for (const item of legend.items) {
			const value = time === undefined ? null : columns[item.key][at];

			setText(item.value, value === null ? "-" : format.bytes(value));
			setAttribute(item.value, "title", value === null ? null : format.exactBytes(value));
		}
		setText(legend.when, time === undefined ? "nothing recorded yet"
			: `${index === null ? "now" : format.clock(time)}${event ? `: ${event.text}` : ""}`);
		if (isRead && index !== null)
			setText(said, `${legend.when.textContent}: ${legend.items.map((item) => `${item.node.children[1].textContent} ${item.value.textContent}`).join(", ")}`);
	}

	function moveCursor(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
		const last = columns.times.length - 1;

		if (last < 0 || (step === undefined && event.key !== "Home" && event.key !== "End"))
			return;
		event.preventDefault();
		const from = plot.cursor.idx ?? last;
		const to = event.key === "Home" ? 0 : event.key === "End" ? last : Math.min(last, Math.max(0, from + step));
		isRead = true;
		plot.setCursor({ left: plot.valToPos(columns.times[to], "x"), top: 0 });
		isRead = false;
	}

	frame.addEventListener("keydown", moveCursor);
	frame.addEventListener("blur", () => plot.setCursor({ left: -10, top: -10 }));
	const observer = new ResizeObserver(() => {
		const width = Math.floor(frame.clientWidth);

		if (width > 0)
			plot.setSize({ width, height: width < NARROW_PX ? NARROW_HEIGHT_PX : HEIGHT_PX });
	});
	observer.observe(frame);
	const repaint = () => plot.redraw(false, true);
	document.documentElement.addEventListener("themechange", repaint);

	return {
		element,
		/** columns: times (seconds since 1970), step, from and to (what is in sight), and an array for each key; null: no figure. */
		update(newColumns, newEvents) {
			columns = newColumns;
			events = newEvents;
			plot.setData([columns.times, ...stackUp(columns, keys), columns[line.key]]);
			showLegend();
		},
		destroy() {
			observer.disconnect();
			document.documentElement.removeEventListener("themechange", repaint);
			plot.destroy();
		},
	};
}
