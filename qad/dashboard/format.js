/*
 * Figures as qactl prints them (qactl/size.c), and names made harmless as there (qactl/text.c).
 */
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const grouped = new Intl.NumberFormat("en-US");

function split(value) {
	let unit = 0;

	/* 1023.95 would be shown as 1024.0. */
	while (value >= (unit ? 1023.95 : 1024) && unit + 1 < UNITS.length) {
		value /= 1024;
		unit++;
	}
	return [value, unit];
}

/** 1,234,567 as "1.2 MiB". Rounding never shows a number that its unit can not hold. */
export function bytes(value) {
	const [number, unit] = split(value);

	return `${number.toFixed(unit ? 1 : 0)} ${UNITS[unit]}`;
}

/** For an axis, whose numbers are round: 1.25 GiB, 512 MiB. */
export function roundBytes(value) {
	const [number, unit] = split(value);

	return value === 0 ? "0" : `${Number(number.toFixed(3))} ${UNITS[unit]}`;
}

export function count(value) {
	return grouped.format(value);
}

/** For the title of what bytes() gave. */
export function exactBytes(value) {
	return `${count(value)} ${value === 1 ? "byte" : "bytes"}`;
}

/** "99.9 %", never 100 while a part is missing, never 0 while there is one. */
export function percent(part, whole) {
	if (whole === 0)
		return "-";
	let value = (100 * part) / whole;
	if (part < whole && value > 99.9)
		value = 99.9;
	if (part > 0 && value < 0.1)
		value = 0.1;
	return `${value.toFixed(1)} %`;
}

function two(value) {
	return String(value).padStart(2, "0");
}

export function uptime(seconds) {
	const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);

	if (days)
		return `${days}d${two(hours % 24)}h`;
	if (hours)
		return `${hours}h${two(minutes % 60)}m`;
	if (minutes)
		return `${minutes}m${two(seconds % 60)}s`;
	return `${seconds}s`;
}

export function duration(microseconds) {
	if (microseconds < 1000)
		return `${microseconds} us`;
	if (microseconds < 999950)
		return `${(microseconds / 1e3).toFixed(1)} ms`;
	return `${(microseconds / 1e6).toFixed(1)} s`;
}

/** Per second; small numbers with a decimal, so that a slow rate is not 0. */
export function rate(perSecond) {
	return `${perSecond > 0 && perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond))} /s`;
}

export function clock(seconds) {
	const date = new Date(seconds * 1000);

	return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/* Control characters, a backslash, what is invisible, and what turns the text that follows it. */
const UNSAFE = /[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/gu;
const KNOWN = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\" };

/** A program chooses its own name, so a name may hold anything. */
export function name(text) {
	return text.replace(UNSAFE, (character) => {
		const code = character.codePointAt(0);

		if (KNOWN[character])
			return KNOWN[character];
		return code < 0x80 ? `\\x${two(code.toString(16))}` : `\\u{${code.toString(16)}}`;
	});
}
