// The page: what is shown, which changes pass the filters, keys, and paper.

const HEIGHT = 76; // of a row of the list, as page.css has it
const ON_PAPER = 300; // changes that are printed at most
const byId = (id) => document.getElementById(id);
const show = { sides: false, white: false, paper: false, silent: new Set(DATA.silent) };
const classes = new Set(); // chosen ones; none is all
const list = new VirtualList(byId("list"), HEIGHT, listRow, showDetail);

function listRow(group) {
    const changed = (sign, tag) => {
        const texts = group.edit.filter((piece) => piece[0] === sign).map((piece) => piece[1]);
        return texts.length ? el(tag, {}, shortText(texts.join("…"))) : null;
    };
    const said = group.reason ?? (group.edit.length ? group.edit[0][1] : group.tasks[0]);
    const both = group.edit?.length ? [changed("-", "del"), changed("+", "ins")] : [];
    const shown = both.some((each) => each) ? both : [el("span", {}, marked(said.slice(0, 160)))];
    return el(
        "div.item",
        {},
        el("span.first", {}, classTag(group.class), el("span.reach", {}, group.reach)),
        el("span.edit", {}, ...shown),
        el("span.from", {}, marked(shortCause(group))),
    );
}

/** What was changed, and the end of where that is: paths differ at their ends. */
function shortCause({ detail, place }) {
    const end = place.length > 42 ? `…${place.slice(-41)}` : place;
    return [detail.slice(0, 40), end].filter((each) => each).join("  ");
}

/** The beginning of a text, in one line. */
function shortText(text) {
    const shown = marked(text.slice(0, 80), true);
    shown.querySelectorAll(".white").forEach((white) => white.replaceWith(white.dataset.mark));
    if (text.length > 80) shown.append("…");
    return shown;
}

function showDetail(group) {
    const detail = byId("detail");
    detail.replaceChildren(group ? changeDetail(group, show) : overview(choose, show));
    detail.scrollTop = 0;
}

/** Filter by one thing alone, from the overview. */
function choose({ class: name, search }) {
    byId("filters").reset();
    classes.clear();
    if (name) classes.add(name);
    if (search) byId("search").value = search;
    filter();
    list.select(0);
    list.root.focus();
}

const words = new Map(); // what is searched of a group, made when it is first needed
function wordsOf(group) {
    if (!words.has(group)) {
        const edit = ["-", "+"].map((other) =>
            (group.edit ?? [])
                .filter(([sign]) => sign !== other)
                .map((piece) => piece.slice(1).join(""))
                .join(""),
        );
        words.set(group, [group.cause, group.reason ?? "", ...group.tasks, ...edit].join("\n").toLowerCase());
    }
    return words.get(group);
}

function filter() {
    const search = byId("search").value.trim().toLowerCase();
    const [cause, view] = [byId("cause").value, byId("view").value];
    const passes = (group) =>
        (!classes.size || classes.has(group.class)) &&
        (!cause || (group.kind || "not known") === cause) &&
        (!view || !group.views || group.views.includes(view)) &&
        (!search || wordsOf(group).includes(search));
    const found = DATA.groups.filter(passes);
    const had = list.at >= 0;
    list.set(found);
    if (had && list.at < 0) list.select(-1);
    const all = found.length === DATA.groups.length;
    byId("count").textContent = all
        ? counted(found.length, "change")
        : `${number(found.length)} of ${counted(DATA.groups.length, "change")}`;
    byId("clear").hidden = all && !search && !classes.size && !cause && !view;
    for (const tile of byId("classes").children)
        tile.setAttribute("aria-pressed", classes.has(tile.dataset.name));
}

function redraw() {
    byId("inline").setAttribute("aria-pressed", !show.sides);
    byId("sides").setAttribute("aria-pressed", show.sides);
    byId("white").setAttribute("aria-pressed", show.white);
    showDetail(list.items[list.at]);
}

function toggle(name) {
    show[name] = !show[name];
    redraw();
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () =>
    (document.documentElement.dataset.theme ?? (systemDark.matches ? "dark" : "light")) === "dark";
function nameTheme() {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
}
function changeTheme() {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
}

function step(by) {
    if (list.items.length) list.select(Math.min(list.items.length - 1, Math.max(0, list.at + by)));
}

const KEYS = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => byId("search").select(),
    o: () => list.select(-1),
    s: () => toggle("sides"),
    w: () => toggle("white"),
    d: changeTheme,
    c: () => byId("detail").querySelector(".copy-new")?.click(),
    "?": () => byId("keys").showModal(),
    Escape: () => byId("filters").reset(),
};
const IN_LIST = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    PageDown: () => step(Math.floor(list.root.clientHeight / HEIGHT)),
    PageUp: () => step(-Math.floor(list.root.clientHeight / HEIGHT)),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    Enter: () => byId("detail").focus(),
};

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    const typing = event.target.closest("input, select");
    if (typing && event.key !== "Escape") return;
    const act = (event.target === list.root && IN_LIST[event.key]) || KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    if (typing) list.root.focus();
});

/** Every change that passes the filters, for paper. */
function printed() {
    const paper = { ...show, paper: true };
    const found = list.items.slice(0, ON_PAPER);
    byId("paper").replaceChildren(
        overview(choose, paper),
        ...found.map((group) => changeDetail(group, paper)),
    );
    if (list.items.length > found.length) {
        byId("paper").append(
            el(
                "p",
                {},
                `${number(list.items.length - found.length)} more changes are not printed: filter, or use the page.`,
            ),
        );
    }
}

function options(select, name, values) {
    select.append(
        el("option", { value: "" }, name),
        ...values.map(([value, count]) =>
            el("option", { value }, `${marked(value).textContent} (${number(count)})`),
        ),
    );
    select.hidden = values.length < 2;
}

function count(values) {
    const found = new Map();
    for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
    return [...found].sort((one, two) => two[1] - one[1]);
}

function start() {
    const { compared } = DATA;
    byId("compared").append(
        marked(compared.head),
        el("span.against", {}, " against "),
        marked(compared.base),
        el(
            "span.faint",
            {},
            " ",
            ["file", "task", "prompt"].map((word) => counted(compared[`${word}s`], word)).join(" · "),
        ),
    );
    for (const [name, tasks] of Object.entries(DATA.summary)) {
        const press = () => {
            if (!classes.delete(name)) classes.add(name);
            filter();
        };
        byId("classes").append(
            el(
                `button.tile.is-${name}`,
                {
                    type: "button",
                    title: `${counted(tasks, "task")}: ${DATA.says[name]}`,
                    "data-name": name,
                    "aria-pressed": false,
                    onclick: press,
                },
                el("b", {}, number(tasks)),
                name.replace("_", " "),
            ),
        );
    }
    options(byId("cause"), "every cause", count(DATA.groups.map((group) => group.kind || "not known")));
    options(byId("view"), "every view", count(DATA.groups.flatMap((group) => group.views ?? [])));
    byId("filters").addEventListener("input", filter);
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").addEventListener("reset", () => {
        classes.clear();
        setTimeout(filter);
    });
    const presses = {
        inline: () => show.sides && toggle("sides"),
        sides: () => show.sides || toggle("sides"),
        white: () => toggle("white"),
        theme: changeTheme,
        help: KEYS["?"],
    };
    for (const [id, press] of Object.entries(presses)) byId(id).addEventListener("click", press);
    systemDark.addEventListener("change", nameTheme);
    addEventListener("beforeprint", printed);
    addEventListener("afterprint", () => byId("paper").replaceChildren());
    nameTheme();
    filter();
    redraw();
}

start();
