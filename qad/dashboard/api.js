/*
 * Questions to qad: /api/v1, same origin, JSON.
 */
const TIMEOUT_MS = 10000;

/** qad does not answer at all. */
export class GoneError extends Error {}

/** qad answered with an error; code and message are those of the protocol. */
export class AnswerError extends Error {
	constructor(status, code, message) {
		super(message);
		this.status = status;
		this.code = code;
	}
}

async function readError(response) {
	try {
		const { error } = await response.json();

		return new AnswerError(response.status, error.code, error.message);
	} catch {
		return new AnswerError(response.status, "failed", `qad answered ${response.status}`);
	}
}

async function ask(path, options, signal) {
	const signals = [AbortSignal.timeout(TIMEOUT_MS)];
	let response;

	if (signal)
		signals.push(signal);
	try {
		response = await fetch(`/api/v1/${path}`, {
			cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
			signal: AbortSignal.any(signals), ...options,
		});
	} catch (error) {
		if (signal?.aborted)
			throw error;
		throw new GoneError("qad does not answer");
	}
	if (!response.ok)
		throw await readError(response);
	try {
		return await response.json();
	} catch (error) {
		if (signal?.aborted)
			throw error;
		throw new GoneError("qad's answer broke off");
	}
}

export function get(path, signal) {
	return ask(path, {}, signal);
}

export function post(path, headers, body) {
	return ask(path, { method: "POST", headers, body });
}
