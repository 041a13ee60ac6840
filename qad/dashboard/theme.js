/*
 * Light, dark, or as the system has it. A classic script in the head, so that the page is never painted in the wrong
 * one first. What was chosen is all that the page keeps in the browser.
 */
"use strict";
(() => {
	const KEY = "qad-theme";
	const CHOICES = ["auto", "light", "dark"];
	const root = document.documentElement;

	function read() {
		try {
			const kept = localStorage.getItem(KEY);
			return CHOICES.includes(kept) ? kept : "auto";
		} catch {
			return "auto"; /* storage is switched off */
		}
	}

	function write(choice) {
		try {
			localStorage.setItem(KEY, choice);
		} catch {
			/* then it lasts as long as the page */
		}
	}

	function apply(choice) {
		if (choice === "auto")
			root.removeAttribute("data-theme");
		else
			root.dataset.theme = choice;
		root.dispatchEvent(new CustomEvent("themechange"));
	}

	let choice = read();
	apply(choice);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(choice));
	document.addEventListener("DOMContentLoaded", () => {
		const button = document.querySelector("[data-theme-button]");

		button.textContent = `Theme: ${choice}`;
		button.addEventListener("click", () => {
			choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
			write(choice);
			apply(choice);
			button.textContent = `Theme: ${choice}`;
		});
	});
})();
