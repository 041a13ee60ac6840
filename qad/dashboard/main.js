/*
 * The frame around the pages: which one the address names (#/ or #/process/PID), the round of questions once a second,
 * and whether qad is there.
 */
import { get } from "./api.js";
import { make, setAttribute, setHidden, setText } from "./dom.js";
import * as format from "./format.js";
import { createLive } from "./live.js";
import { createOverview } from "./overview.js";
import { createProcess } from "./process.js";

const HEALTH_INTERVAL_MS = 10000;

const find = (name) => document.querySelector(`[data-${name}]`);
const main = document.querySelector("main"), banner = find("banner"), keys = find("keys"), pause = find("pause");
let view = null, health = { http_allows_trim: false }, healthAt = -Infinity, answeredAt = null, isGone = false;

const live = createLive(async (signal) => {
	const shown = view;

	if (performance.now() - healthAt > HEALTH_INTERVAL_MS) {
		health = await get("health", signal);
		healthAt = performance.now();
		setText(find("version"), `qad ${health.version}, up ${format.uptime(health.uptime_s)}`);
	}
	await shown.refresh(signal);
}, showState);

function showState(state, error) {
	const texts = { live: "live", gone: "qad is gone", trouble: "trouble", paused: "paused" };

	setText(find("state-text"), texts[state]);
	setAttribute(find("state"), "data-is", state);
	if (state === "live") {
		answeredAt = Date.now() / 1000;
	} else if (state === "gone") {
		healthAt = -Infinity;
		isGone = true;
		setText(banner, `qad is gone: ${answeredAt === null ? "it does not answer" : `no answer since ${format.clock(answeredAt)}`}. ` +
			"This page asks again every second, and goes on when qad is back.");
	} else if (state === "trouble") {
		setText(banner, `qad can not tell: ${error.message}`);
	}
	if (state !== "paused")
		setHidden(banner, state === "live");
	document.body.classList.toggle("is-gone", state === "gone");
	if (state === "live" && isGone) {
		/* It may be another qad, with another past. */
		isGone = false;
		view.onBack();
		live.restart();
	}
}

function createUnknown() {
	const heading = make("h1", { tabindex: "-1" }, "There is no such page");

	return {
		heading, title: "qad", refresh: async () => {}, onBack() {}, onKey: () => false, destroy() {},
		element: make("div", { class: "view" }, heading, make("p", {}, make("a", { href: "#/" }, "All processes"))),
	};
}

function createView() {
	const onChange = () => live.restart();
	const process = /^#\/process\/([1-9][0-9]{0,9})$/.exec(location.hash);

	if (process !== null)
		return createProcess({ pid: Number(process[1]), onChange, health: () => health });
	return ["", "#", "#/"].includes(location.hash) ? createOverview({ onChange }) : createUnknown();
}

function show() {
	const isFirst = view === null;

	view?.destroy();
	view = createView();
	document.title = view.title;
	main.replaceChildren(view.element);
	if (!isFirst) {
		scrollTo(0, 0);
		view.heading.focus({ preventScroll: true });
	}
	if (live.isPaused)
		setPaused(false);
	else
		live.restart();
}

function setPaused(isPaused) {
	setAttribute(pause, "aria-pressed", String(isPaused));
	setText(pause, isPaused ? "Go on" : "Pause");
	live.setPaused(isPaused);
}

function isTyping(event) {
	return event.target.matches("input, textarea, select") && event.target.type !== "radio";
}

document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") !== null)
		return;
	if (isTyping(event) && event.key !== "Escape" && event.key !== "ArrowDown")
		return;
	if (event.key === "?")
		keys.showModal();
	else if (event.key === "p")
		setPaused(!live.isPaused);
	else if (!view.onKey(event))
		return;
	event.preventDefault();
});
pause.addEventListener("click", () => setPaused(!live.isPaused));
find("help").addEventListener("click", () => keys.showModal());
find("skip").addEventListener("click", (event) => {
	event.preventDefault();
	main.focus();
});
window.addEventListener("hashchange", show);
show();
