// A list of any length: only the rows in sight are elements. All rows are of one height.

class VirtualList {
    /**
     * @param root the element that scrolls, a listbox
     * @param height of a row, in pixels
     * @param draw makes the row of an item
     * @param chosen is called with an item when another one is selected
     */
    constructor(root, height, draw, chosen) {
        Object.assign(this, { root, height, draw, chosen, items: [], at: -1, shown: new Map() });
        this.canvas = root.appendChild(el("div.canvas", { role: "presentation" }));
        root.addEventListener("scroll", () => this.later(), { passive: true });
        root.addEventListener("click", (event) => {
            const row = event.target.closest("[data-at]");
            if (row) this.select(Number(row.dataset.at));
        });
        new ResizeObserver(() => this.later()).observe(root);
    }

    later() {
        this.frame ??= requestAnimationFrame(() => {
            this.frame = undefined;
            this.render();
        });
    }

    /** Show other items; the selected one stays selected where it is among them. */
    set(items) {
        const item = this.items[this.at];
        this.items = items;
        this.at = items.indexOf(item);
        this.shown.forEach((row) => row.remove());
        this.shown.clear();
        this.canvas.style.height = `${items.length * this.height}px`;
        this.root.scrollTop = this.at < 0 ? 0 : this.at * this.height - this.root.clientHeight / 2;
        this.render();
    }

    /** Select an item by its place; outside of the list, none. */
    select(at) {
        this.mark(false);
        this.at = at >= 0 && at < this.items.length ? at : -1;
        const top = at * this.height;
        if (this.at >= 0) {
            if (top < this.root.scrollTop) this.root.scrollTop = top;
            const below = top + this.height - this.root.clientHeight;
            if (below > this.root.scrollTop) this.root.scrollTop = below;
        }
        this.render();
        this.mark(true);
        this.chosen(this.items[this.at]);
    }

    mark(selected) {
        const row = this.shown.get(this.at);
        row?.setAttribute("aria-selected", selected);
        if (row && selected) this.root.setAttribute("aria-activedescendant", row.id);
        else this.root.removeAttribute("aria-activedescendant");
    }

    render() {
        const first = Math.max(0, Math.floor(this.root.scrollTop / this.height) - 4);
        const last = Math.min(this.items.length, first + Math.ceil(this.root.clientHeight / this.height) + 8);
        for (const [at, row] of this.shown) {
            if (at >= first && at < last) continue;
            row.remove();
            this.shown.delete(at);
        }
        for (let at = first; at < last; at += 1) {
            if (this.shown.has(at)) continue;
            const row = this.draw(this.items[at]);
            row.style.transform = `translateY(${at * this.height}px)`;
            row.id = `row-${at}`;
            row.dataset.at = at;
            for (const [key, value] of [
                ["role", "option"],
                ["aria-selected", at === this.at],
                ["aria-posinset", at + 1],
                ["aria-setsize", this.items.length],
            ]) {
                row.setAttribute(key, value);
            }
            this.shown.set(at, row);
            this.canvas.append(row);
        }
    }
}
