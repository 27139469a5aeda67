// One change in full, and the overview of all.

const AROUND = 3; // unchanged lines that are shown on either side of a change
const ROOM = 1_200; // characters of one piece of text that are shown at first
const IDS = 10;
const classTag = (name) => el(`span.class.is-${name}`, {}, name.replace("_", " "));

/** The whole of a change, as it is shown beside the list and on paper. */
function changeDetail(group, show) {
    const out = el("div.change", {}, el("header", {}, classTag(group.class), el("h2", {}, heading(group))));
    out.append(facts(group));
    if (group.reason) out.append(el("p.reason", {}, marked(group.reason)));
    if (group.edit?.length) {
        out.append(
            el(
                "section",
                { "aria-label": "The edit" },
                el("h3", {}, "The edit ", el("small", {}, editSize(group))),
                edit(group),
            ),
        );
    }
    for (const each of group.examples ?? []) out.append(example(each, show));
    out.append(taskList(group, show));
    const changed = DATA.records.filter(([task]) => task === group.example?.[0]);
    if (changed.length) out.append(recordChanges(changed));
    return out;
}

function heading(group) {
    const said = DATA.says[group.class];
    const parts = (group.parts ?? []).filter((part) => part !== "task" && part !== group.class);
    const where = parts.length ? `, in the ${parts.join(" and ")}` : "";
    return marked(`${said[0].toUpperCase()}${said.slice(1)}${where}`);
}

function facts(group) {
    const rows = [["Reach", group.reach]];
    if (group.cause) rows.push(["Cause", group.cause]);
    if (group.views) rows.push([group.views.length === 1 ? "View" : "Views", group.views.join(", ")]);
    if (group.comparable !== undefined) {
        rows.push([
            "Scores",
            group.comparable ? "can still be compared" : "before and after cannot be compared",
        ]);
    }
    return el(
        "dl.facts",
        {},
        ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, marked(value)))),
    );
}

function editSize(group) {
    return group.edit.every(([sign]) => sign === "=") ? "reads the same; what it names changed" : group.size;
}

/** The edit as two lines; as one where both sides read the same, and what they name is what changed. */
function edit(group) {
    const of = (sign) => group.edit.filter((piece) => piece[0] === "=" || piece[0] === sign);
    const line = (sign, name, shown) =>
        el(
            `div.line.${name}`,
            {},
            el("span.sign", { "aria-hidden": true }, shown),
            el(
                "code",
                {},
                marked(group.left, true),
                ...of(sign).map((piece) => signed(piece, true)),
                marked(group.right, true),
            ),
        );
    const row = (sign, name, shown, what) => {
        const whole = of(sign).every((piece) => piece.length === 2);
        const text = of(sign)
            .map((piece) => piece[1])
            .join("");
        return el(
            "div.row",
            {},
            line(sign, name, shown),
            whole ? copyButton(text, `Copy ${what} as a JSON string`) : null,
        );
    };
    const same = group.edit.every(([sign]) => sign === "=");
    const rows = same
        ? [row("=", "same", "=", "it")]
        : [row("-", "old", "−", "before"), row("+", "new", "+", "after")];
    const names = group.names.map((name) => el("li", {}, name));
    return el(
        "div.diff",
        {},
        ...rows,
        names.length ? el("ul.names", { "aria-label": "Characters that do not show" }, ...names) : null,
    );
}

function signed(piece, all) {
    const [sign] = piece;
    const nodes = pieceNodes(piece, all, ROOM);
    return sign === "=" ? nodes : el(sign === "-" ? "del" : "ins", {}, nodes);
}

/** A whole prompt with its changes, long stretches without any folded. */
function example({ of: [task, row, view], pieces }, show) {
    const whole = pieces.every((piece) => piece.length === 2);
    const side = (other) =>
        pieces
            .filter(([sign]) => sign !== other)
            .map((piece) => piece[1])
            .join("");
    const title = el(
        "h3",
        {},
        "For example ",
        el("small", {}, marked(task), row === null ? "" : `, row ${row}`, ", ", marked(view)),
    );
    const copies = whole
        ? el(
              "span.copies",
              {},
              copyButton(side("+"), "Copy the old prompt as a JSON string", "Copy old"),
              copyButton(side("-"), "Copy the new prompt as a JSON string", "Copy new", ".copy-new"),
          )
        : null;
    const rows = rowsOf(pieces);
    const near = (at) => rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((each) => !each.same);
    const table = el(`div.diff.prompt.${show.sides ? "sides" : "inline"}`, {});
    const draw = (at) => promptRow(rows[at], show);
    for (let at = 0; at < rows.length;) {
        let end = at;
        while (end < rows.length && !near(end)) end += 1;
        if (end - at > 1) {
            const from = at;
            const open = () => fold.replaceWith(...rows.slice(from, end).map((_, add) => draw(from + add)));
            const fold = el(
                "button.fold",
                { type: "button", onclick: open },
                `${counted(end - at, "line")} without a change`,
            );
            table.append(fold);
            at = end;
        } else {
            table.append(draw(at));
            at += 1;
        }
    }
    return el("section", { "aria-label": "An example" }, el("div.head", {}, title, copies), table);
}

function promptRow(row, show) {
    const cell = (other) =>
        el(
            "code",
            {},
            ...row.pieces.filter(([sign]) => sign !== other).map((piece) => signed(piece, show.white)),
        );
    const name = `div.line${row.same ? "" : ".changed"}`;
    return show.sides ? el(name, {}, cell("+"), cell("-")) : el(name, {}, cell());
}

function taskList(group, show) {
    const item = (task) =>
        el(
            "li",
            {},
            marked(task),
            " ",
            show.silent.has(task)
                ? el("em", { title: "Its own version did not move" }, "same version")
                : null,
        );
    const first = show.paper ? 100 : IDS;
    const list = el("ul.tasks", {}, ...group.tasks.slice(0, first).map(item));
    const left = group.tasks.length - first;
    if (left > 0 && show.paper) list.append(el("li", {}, `and ${number(left)} more`));
    else if (left > 0) {
        const more = (event) => {
            event.target.parentNode.remove();
            list.append(...group.tasks.slice(first).map(item));
        };
        list.append(
            el("li", {}, el("button", { type: "button", onclick: more }, `and ${number(left)} more`)),
        );
    }
    return el(
        "section",
        { "aria-label": "Tasks" },
        el("h3", {}, "Tasks ", el("small", {}, number(group.tasks.length))),
        list,
    );
}

function recordChanges(records) {
    const value = (text) => el("code", {}, marked(text, true));
    const rows = records.flatMap(([, changes]) =>
        changes.map(([path, before, after]) =>
            el(
                "tr",
                {},
                el("td", {}, el("code", {}, marked(path))),
                el("td", {}, value(before)),
                el("td", {}, value(after)),
            ),
        ),
    );
    return el(
        "section",
        { "aria-label": "The record" },
        el("h3", {}, "The record ", el("small", {}, marked(records[0][0]))),
        el(
            "table",
            {},
            el(
                "thead",
                {},
                el("tr", {}, ...["field", "before", "after"].map((name) => el("th", { scope: "col" }, name))),
            ),
            el("tbody", {}, ...rows),
        ),
    );
}

function copyButton(text, label, shown = "Copy", extra = "") {
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(JSON.stringify(text));
            say("Copied as a JSON string");
        } catch {
            say("The browser does not let this page copy");
        }
    };
    return el(
        `button.copy${extra}`,
        { type: "button", title: label, "aria-label": label, onclick: copy },
        shown,
    );
}

/** Say something for a moment; screen readers read it out. */
function say(text) {
    const said = document.getElementById("said");
    said.textContent = text;
    clearTimeout(say.timer);
    say.timer = setTimeout(() => {
        said.textContent = "";
    }, 2_500);
}

/** What there is, by class and by cause, and what else a reviewer should know. */
function overview(choose, show) {
    const { compared, summary, groups } = DATA;
    const out = el("div.overview", {}, el("h2", {}, groups.length ? "Overview" : "No prompt changes"));
    out.append(el("p", {}, marked(compared.line), "."));
    for (const note of DATA.notes) out.append(el("p.note", {}, marked(note)));
    if (groups.length) {
        const classes = Object.entries(summary).map(([name, tasks]) => [
            name,
            tasks,
            groups.filter((group) => group.class === name).length,
            () => choose({ class: name }),
            DATA.says[name],
        ]);
        out.append(countTable("By class", classes, (name) => classTag(name)));
        const causes = Map.groupBy(groups, (group) => group.cause || "not known");
        const reached = [...causes].map(([cause, of]) => [
            cause,
            new Set(of.flatMap((group) => group.tasks)).size,
            of.length,
            () => choose({ search: cause }),
            "",
        ]);
        reached.sort((one, two) => two[1] - one[1]);
        out.append(countTable("By cause", reached.slice(0, 20), (cause) => marked(cause)));
        if (reached.length > 20)
            out.append(el("p.faint", {}, `and ${counted(reached.length - 20, "more cause")}`));
    }
    const lists = [
        ["Changed with the same version of their own", DATA.silent],
        ["Version moved", DATA.versioned],
        ["Moved or set otherwise, with the same prompts", DATA.moved.map(([task]) => task)],
    ];
    for (const [title, tasks] of lists) {
        if (!tasks.length) continue;
        const section = taskList({ tasks }, { ...show, silent: new Set() });
        section.querySelector("h3").firstChild.data = `${title} `;
        out.append(section);
    }
    return out;
}

function countTable(title, rows, label) {
    const most = Math.max(...rows.map(([, tasks]) => tasks));
    const body = rows.map(([name, tasks, groups, open, said]) => {
        const bar = el("span.bar");
        bar.style.setProperty("--share", tasks / most);
        return el(
            "tr",
            {},
            el(
                "th",
                { scope: "row" },
                el("button", { type: "button", onclick: open }, label(name)),
                " ",
                said ? el("small", {}, said) : null,
            ),
            el("td.count", {}, number(tasks)),
            el("td.count", {}, number(groups)),
            el("td.share", { "aria-hidden": true }, bar),
        );
    });
    const head = el(
        "tr",
        {},
        el("th", { scope: "col" }, title),
        el("th.count", { scope: "col" }, "tasks"),
        el("th.count", { scope: "col" }, "changes"),
        el("td"),
    );
    return el("table.counts", {}, el("thead", {}, head), el("tbody", {}, ...body));
}
