"use strict";
// Text from files as elements. It only ever becomes text nodes: nothing here parses markup.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** An element with a class, attributes and children: `el("p.note", {title: "…"}, "text", element)`. */
function el(name, attributes = {}, ...children) {
    const [tag, ...classes] = name.split(".");
    const element = document.createElement(tag);
    if (classes.length) element.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child != null));
    return element;
}

const number = new Intl.NumberFormat("en").format;
const counted = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** One pattern for some characters, each with those like it that follow. */
function patternOf(characters) {
    if (!characters.length) return null;
    const escapes = characters.map((char) => `\\u{${char.codePointAt(0).toString(16)}}`);
    return new RegExp(`([${escapes.join("")}])\\1*`, "gu");
}
const MARKED = Object.keys(DATA.marks);
const EVERYWHERE = patternOf(MARKED.filter((char) => DATA.marks[char][2]));
const WHERE_IT_CHANGED = patternOf(MARKED);
const WHITE = new Set([" ", "\t", "\n", "\u00a0", "\u202f"]);

/** A text as nodes: what could hide or move other characters is marked; with `all`, every one that does not show. */
function marked(text, all = false) {
    const pattern = all ? WHERE_IT_CHANGED : EVERYWHERE;
    const out = document.createDocumentFragment();
    let done = 0;
    for (const found of pattern ? text.matchAll(pattern) : []) {
        if (found.index > done) out.append(text.slice(done, found.index));
        done = found.index + found[0].length;
        for (const char of WHITE.has(found[1]) ? found[0] : [found[0]]) out.append(mark(char, found[1]));
    }
    if (done < text.length) out.append(text.slice(done));
    return out;
}

/** What stands for characters of one kind. White space stays, with a mark drawn over it, so that a copy is right. */
function mark(text, char) {
    const [shown, name] = DATA.marks[char];
    if (WHITE.has(char)) return el("span.white", { "data-mark": shown }, text);
    const title = name || null;
    if (shown === char) return el("span.alike", { title }, text);
    return el("span.hidden", { title }, shown.repeat([...text].length));
}

/** A piece as nodes, the middle of a long one folded: `[sign, text]`, or with a middle that the page does not have
 * `[sign, head, count, tail]`. */
function pieceNodes([sign, head, count, tail], all, room) {
    const out = document.createDocumentFragment();
    const show = (text) => marked(text, all || sign !== "=");
    if (count === undefined && head.length <= room) {
        out.append(show(head));
        return out;
    }
    const half = Math.floor(room / 2);
    const end = tail ?? head;
    out.append(
        show(head.slice(0, half)),
        gap(head.slice(half, tail === undefined ? -half : undefined), count, tail?.slice(0, -half), show),
    );
    out.append(show(end.slice(-half)));
    return out;
}

/** A button in place of the middle of a text, that puts more of it in each time. */
function gap(rest, count, before, show) {
    const STEP = 20_000;
    const hidden = rest.length + (count ?? 0) + (before?.length ?? 0);
    if (!hidden) return document.createDocumentFragment();
    const label = `… ${counted(hidden, "character")} …`;
    if (!rest) return el("span.gap", { title: "not kept in this page" }, label);
    const more = () => {
        const next = document.createDocumentFragment();
        next.append(show(rest.slice(0, STEP)), gap(rest.slice(STEP), count, before, show));
        button.replaceWith(next);
    };
    const button = el("button.gap", { type: "button", title: "Show more", onclick: more }, label);
    return button;
}

/** Pieces in rows: a row ends where a line ends on both sides; `same` rows have no change. */
function rowsOf(pieces) {
    const rows = [];
    let row = [];
    const end = () => {
        if (row.length) rows.push({ pieces: row, same: row.every(([sign]) => sign === "=") });
        row = [];
    };
    for (const piece of pieces) {
        if (piece[0] !== "=" || piece.length > 2) {
            row.push(piece);
            continue;
        }
        for (const line of piece[1].split(/(?<=\n)/)) {
            row.push(["=", line]);
            if (line.endsWith("\n")) end();
        }
    }
    end();
    return rows;
}
