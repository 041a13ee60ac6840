/*
 * The page is built once and then only changed where something differs: a refresh that brings the same figures changes
 * no node. Text goes in as text; nothing here, and nowhere else, takes markup.
 */

/** make("td", {class: "number"}, "text", node ...) */
export function make(tag, attributes = {}, ...children) {
	const node = document.createElement(tag);

	for (const [key, value] of Object.entries(attributes))
		if (value === true)
			node.setAttribute(key, "");
		else if (value !== false && value != null)
			node.setAttribute(key, value);
	node.append(...children);
	return node;
}

/** The text of a node that holds nothing else; its one text node stays the same. */
export function setText(node, text) {
	const inner = node.firstChild;

	if (inner === null)
		node.append(text);
	else if (inner.data !== text)
		inner.data = text;
}

/** null takes the attribute away. */
export function setAttribute(node, key, value) {
	if (value === null)
		node.removeAttribute(key);
	else if (node.getAttribute(key) !== value)
		node.setAttribute(key, value);
}

/** A custom property or a length of CSS, by script: the only styling that the page's policy leaves to scripts. */
export function setStyle(node, property, value) {
	if (node.style.getPropertyValue(property) !== value)
		node.style.setProperty(property, value);
}

/** For setStyle: written as the browser writes it, so that what did not change is seen to be the same. */
export function share(part, whole) {
	return `${whole > 0 ? Math.round((10000 * part) / whole) / 100 : 0}%`;
}

export function setHidden(node, isHidden) {
	if (node.hidden !== isHidden)
		node.hidden = isHidden;
}

/**
 * Makes parent's children just these, in this order, and leaves alone those that are in place. What has the focus
 * keeps it when it moves.
 */
export function arrange(parent, nodes) {
	const wanted = new Set(nodes);
	const focused = parent.contains(document.activeElement) ? document.activeElement : null;

	for (const child of [...parent.children])
		if (!wanted.has(child))
			child.remove();
	let next = parent.firstElementChild;
	for (const node of nodes) {
		/* One that went down is passed over here, and moved when its turn comes: not all that went up past it. */
		if (next !== null && node !== next && node === next.nextElementSibling)
			next = node;
		if (node === next)
			next = next.nextElementSibling;
		else
			parent.insertBefore(node, next);
	}
	if (focused !== null && focused !== document.activeElement && focused.isConnected)
		focused.focus({ preventScroll: true });
}
