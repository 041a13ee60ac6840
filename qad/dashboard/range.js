/*
 * How much of the past a chart shows.
 */
import { make } from "./dom.js";
import { RANGES } from "./record.js";

/** Radio buttons; .chosen is the range, kept as kept.range; onChange() when another one was taken. */
export function createRangeChoice(kept, onChange) {
	const inputs = RANGES.map((range) => make("input", { type: "radio", name: "range", value: range.id }));
	const element = make("fieldset", { class: "ranges" }, make("legend", { class: "unseen" }, "How much of the past"),
		...RANGES.map((range, i) => make("label", {}, inputs[i], make("span", {}, range.label))));

	inputs.forEach((input) => {
		input.checked = input.value === kept.range;
		input.addEventListener("change", () => {
			kept.range = input.value;
			onChange();
		});
	});
	Object.defineProperty(element, "chosen", { get: () => RANGES.find((range) => range.id === kept.range) });
	return element;
}
