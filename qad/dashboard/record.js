/*
 * What was recorded, in columns, and joined with what comes later. qad numbers its points, time / step, so that answers
 * that overlap join exactly whatever its clock does.
 */
const COLUMNS = ["held_bytes", "used_bytes", "cached_bytes", "thread_bytes", "partial_bytes", "empty_bytes", "slack_bytes", "rss_bytes"];

/* The last points again: some of them were not complete when they were asked for the last time. */
const OVERLAP_POINTS = 10;

const LEAST_POINTS = 60;

export const RANGES = [
	{ id: "5m", label: "5 min", step_s: 1, window_s: 300 },
	{ id: "15m", label: "15 min", step_s: 1, window_s: 900 },
	{ id: "6h", label: "6 h", step_s: 10, window_s: 21600 },
];

/* Who asks once a second meets a second twice now and then, and another not at all: that is no gap. */
const BRIDGED_POINTS = 2;

function bridge(points) {
	const whole = [...points];
	let missing = BRIDGED_POINTS + 1;

	for (let i = 0; i < whole.length; i++) {
		const isMissing = whole[i][0] === null;

		if (!isMissing && missing <= BRIDGED_POINTS)
			whole.fill(whole[i - missing - 1], i - missing, i);
		missing = isMissing ? missing + 1 : 0;
	}
	return whole;
}

export function createRecord() {
	let step = 1, first = 0, epoch = 0, points = [], trims = [], askedAt = null;

	function join(answer) {
		const offset = answer.first_point - first;

		for (let i = 0; i < answer.points; i++)
			points[offset + i] = COLUMNS.map((column) => answer[column][i]);
		for (let i = 0; i < points.length; i++)
			points[i] ??= COLUMNS.map(() => null);
	}

	return {
		clear() {
			points = [];
			trims = [];
			askedAt = null;
		},
		/** What to ask: all, or from where the last answer ended. */
		query(range) {
			if (range.step_s !== step)
				this.clear();
			step = range.step_s;
			const missed_s = askedAt === null ? Infinity : (performance.now() - askedAt) / 1000;

			return missed_s < (OVERLAP_POINTS * step) / 2 && points.length > 0
				? `step_s=${step}&from_s=${OVERLAP_POINTS * step}` : `step_s=${step}`;
		},
		add(answer) {
			askedAt = performance.now();
			trims = answer.trims ?? [];
			if (answer.points === 0)
				return;
			if (points.length === 0 || answer.first_point < first) {
				points = [];
				first = answer.first_point;
			}
			epoch = answer.first_time_s - answer.first_point * step;
			join(answer);
		},
		/** The columns of the last window_s seconds, as a chart wants them. */
		columns(range) {
			const kept = Math.ceil(range.window_s / range.step_s) + 1;

			if (points.length > kept) {
				first += points.length - kept;
				points = points.slice(-kept);
			}
			/* A past that is short is not drawn at the edge of an empty chart. */
			const span_s = Math.min(range.window_s, Math.max(points.length, LEAST_POINTS) * step);
			const to = points.length > 0 ? epoch + (first + points.length - 1) * step : Date.now() / 1000;
			const columns = { step, to, from: to - span_s, times: points.map((_, i) => epoch + (first + i) * step) };

			const whole = bridge(points);
			COLUMNS.forEach((column, c) => (columns[column] = whole.map((point) => point[c])));
			return columns;
		},
		get trims() {
			return trims;
		},
	};
}

