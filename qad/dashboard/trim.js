/*
 * The button that trims a process, where qad allows that over HTTP. It takes a token, which is asked for once and kept
 * in this variable: not in the browser's storage, and gone with the page.
 */
import { AnswerError, post } from "./api.js";
import { make, setHidden, setText } from "./dom.js";
import * as format from "./format.js";

let token = null;

function tell(result) {
	return `Returned ${format.bytes(result.returned_bytes)} in ${format.duration(result.duration_us)}; resident ` +
		`${format.bytes(result.rss_before_bytes)} → ${format.bytes(result.rss_after_bytes)}`;
}

export function createTrim({ pid, onDone }) {
	const button = make("button", { type: "button", class: "primary" }, "Trim");
	const said = make("span", { class: "trim-said", role: "status" });
	const input = make("input", { type: "password", id: "token", autocomplete: "off", required: true, spellcheck: "false" });
	const wrong = make("p", { class: "wrong", role: "alert", hidden: true });
	const cancel = make("button", { type: "button" }, "Cancel");
	const form = make("form", { method: "dialog" }, make("label", { for: "token" }, "Token"), input, wrong,
		make("div", { class: "buttons" }, cancel, make("button", { class: "primary" }, "Trim")));
	const dialog = make("dialog", { "aria-labelledby": "token-title" }, make("h2", { id: "token-title" }, "Trim this process"),
		make("p", {}, "qad wants the token for that, from the file of its --http-token-file. It is kept until this page is closed, and nowhere else."), form);
	const element = make("div", { class: "trim", hidden: true }, said, button, dialog);

	function askForToken(message) {
		setText(wrong, message);
		setHidden(wrong, message === "");
		input.value = "";
		if (!dialog.open)
			dialog.showModal();
		input.focus();
	}

	async function trim() {
		button.disabled = true;
		setText(said, "trimming");
		try {
			setText(said, tell(await post(`targets/${pid}/trim`, { Authorization: `Bearer ${token}` })));
			onDone();
		} catch (error) {
			setText(said, "");
			if (error instanceof AnswerError && error.status === 401) {
				token = null;
				askForToken("That was not the token.");
			} else {
				setText(said, `Not trimmed: ${error.message}`);
			}
		} finally {
			button.disabled = false;
		}
	}

	button.addEventListener("click", () => (token === null ? askForToken("") : trim()));
	cancel.addEventListener("click", () => dialog.close());
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		token = input.value;
		input.value = "";
		dialog.close();
		trim();
	});
	return {
		element,
		setAllowed: (isAllowed) => setHidden(element, !isAllowed),
		setGone: (isGone) => (button.disabled = isGone),
		destroy: () => dialog.close(),
	};
}
