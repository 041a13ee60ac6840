/*
 * Drives Chromium for tests/e2e/page.py: a command a line on standard input, its result a line on standard output, both
 * JSON. Ends with its input. A page notes all that it asks for, says and complains of.
 *
 *   node drive.mjs PROFILE-FOLDER    the folder is empty and the test's own
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const browser = await chromium.launchPersistentContext(process.argv[2], {
	executablePath: "/usr/bin/chromium", headless: true,
	args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
});
/* Before any script of the page: what its policy stopped, and which nodes came, went or changed their text. */
await browser.addInitScript(() => {
	window.violations = [];
	document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
	window.watchNodes = (selector) => {
		const seen = { added: 0, removed: 0, changed: 0 };

		new MutationObserver((records) => {
			for (const record of records) {
				seen.added += record.addedNodes.length;
				seen.removed += record.removedNodes.length;
				seen.changed += record.type !== "childList";
			}
		}).observe(document.querySelector(selector), { childList: true, characterData: true, attributes: true, subtree: true });
		window.seenNodes = seen;
	};
});
let page = null, log = null;

function watchPage() {
	log = { console: [], errors: [], requests: [] };
	page.on("console", (message) => ["error", "warning"].includes(message.type()) && log.console.push(message.text()));
	page.on("pageerror", (error) => log.errors.push(String(error)));
	page.on("dialog", (dialog) => {
		log.errors.push(`a dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => log.requests.push(`${request.method()} ${request.url()}`));
}

const commands = {
	async open({ url, width = 1200, height = 900, scheme = "light" }) {
		await page?.close();
		page = await browser.newPage();
		watchPage();
		await page.setViewportSize({ width, height });
		await page.emulateMedia({ colorScheme: scheme });
		const response = await page.goto(url);

		return response.status();
	},
	look: ({ width, height, scheme }) => Promise.all([width && page.setViewportSize({ width, height }), scheme && page.emulateMedia({ colorScheme: scheme })]).then(() => null),
	run: ({ script }) => page.evaluate(script),
	press: ({ key }) => page.keyboard.press(key).then(() => null),
	type: ({ text }) => page.keyboard.type(text).then(() => null),
	click: ({ selector }) => page.click(selector, { timeout: 10000 }).then(() => null),
	hover: ({ selector }) => page.hover(selector, { timeout: 10000 }).then(() => null),
	shot: ({ path }) => page.screenshot({ path, fullPage: false }).then(() => null),
	async axe() {
		await page.evaluate(axeSource);
		const { violations } = await page.evaluate(() => window.axe.run(document));

		return violations.filter((one) => ["serious", "critical"].includes(one.impact))
			.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target.join(" ")} ${node.failureSummary}`).join("; ")}`);
	},
	async log() {
		return { ...log, violations: await page.evaluate(() => window.violations) };
	},
};

console.log(JSON.stringify({ result: browser.browser()?.version() ?? "ready" }));
for await (const line of createInterface({ input: process.stdin })) {
	const { command, ...parameters } = JSON.parse(line);

	try {
		console.log(JSON.stringify({ result: (await commands[command](parameters)) ?? null }));
	} catch (error) {
		console.log(JSON.stringify({ error: String(error) }));
	}
}
await browser.close();
