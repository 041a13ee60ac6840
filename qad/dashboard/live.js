/*
 * Once a second, while somebody looks: a hidden or paused page asks nothing, so that qad wakes no program for it. One
 * round at a time; a slow answer delays the next question, it does not pile up.
 */
import { AnswerError, GoneError } from "./api.js";

const INTERVAL_MS = 1000;

/**
 * round(signal) is awaited again and again; onState("live" | "gone" | "trouble" | "paused", error) tells how it went.
 */
export function createLive(round, onState) {
	let timer = null, current = null, isPaused = false;

	function mayRun() {
		return !isPaused && !document.hidden;
	}

	async function run() {
		const began = performance.now(), controller = new AbortController();

		timer = null;
		current = controller;
		try {
			await round(controller.signal);
			if (current === controller)
				onState("live");
		} catch (error) {
			if (current !== controller)
				return;
			if (!(error instanceof GoneError || error instanceof AnswerError))
				console.error(error);
			onState(error instanceof GoneError ? "gone" : "trouble", error);
		}
		if (current !== controller)
			return;
		current = null;
		if (mayRun())
			timer = setTimeout(run, Math.max(0, INTERVAL_MS - (performance.now() - began)));
	}

	function stop() {
		clearTimeout(timer);
		timer = null;
		current?.abort();
		current = null;
	}

	/** Ask now, whatever was on its way. */
	function restart() {
		stop();
		if (mayRun())
			run();
	}

	document.addEventListener("visibilitychange", () => (document.hidden ? stop() : restart()));
	return {
		restart,
		get isPaused() {
			return isPaused;
		},
		setPaused(paused) {
			isPaused = paused;
			if (paused) {
				stop();
				onState("paused");
			} else {
				restart();
			}
		},
	};
}
