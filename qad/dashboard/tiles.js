/*
 * The large figures on top of a page.
 */
import { make, setAttribute, setText } from "./dom.js";

/** tiles: [{id, label, hint}]. set(id, text, exact, below) changes one. */
export function createTiles(tiles) {
	const byId = new Map();
	const element = make("dl", { class: "tiles" }, ...tiles.map(({ id, label, hint }) => {
		const value = make("dd", { class: "tile-value" }), below = make("dd", { class: "tile-below" });

		byId.set(id, { value, below });
		return make("div", { class: `tile tile-${id}`, "data-tile": id, ...(hint ? { title: hint } : {}) },
			make("dt", {}, label), value, below);
	}));

	return {
		element,
		set(id, text, exact = null, below = "") {
			const tile = byId.get(id);

			setText(tile.value, text);
			setAttribute(tile.value, "title", exact);
			setText(tile.below, below);
		},
	};
}
