// Keyboard control: rows, the filter, the page above, and the list of keys.

export function watchKeys() {
    const dialog = document.querySelector("[data-help-dialog]");
    const button = document.querySelector("[data-help]");
    if (button && dialog) {
        button.hidden = false;
        button.addEventListener("click", () => dialog.showModal());
    }
    const actions = {
        j: () => move(1),
        k: () => move(-1),
        "/": focusSearch,
        f: () => follow("next-failing"),
        F: () => follow("previous-failing"),
        c: () => follow("next-changed"),
        C: () => follow("previous-changed"),
        u: () => document.querySelector("[data-up]")?.click(),
        "?": () => dialog?.showModal(),
    };
    document.addEventListener("keydown", (event) => {
        const typing = event.target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]");
        if (typing && event.key === "Escape") event.target.blur();
        if (typing || event.ctrlKey || event.metaKey || event.altKey || dialog?.open) return;
        const act = actions[event.key];
        if (act) {
            event.preventDefault();
            act();
        }
    });
}

function move(step) {
    const neighbour = document.querySelector(step > 0 ? "[data-next]" : "[data-previous]");
    if (document.querySelector("[data-next], [data-previous]")) {
        neighbour?.click();
        return;
    }
    const rows = [...document.querySelectorAll("a[data-row]")];
    if (!rows.length) return;
    const place = rows.indexOf(document.activeElement);
    const next = place < 0 ? (step > 0 ? 0 : rows.length - 1) : place + step;
    const row = rows[Math.min(rows.length - 1, Math.max(0, next))];
    row.focus();
    row.scrollIntoView({ block: "nearest" });
}

function follow(name) {
    document.querySelector(`[data-${name}]`)?.click();
}

function focusSearch() {
    const search = document.querySelector("[data-search]");
    search?.focus();
    search?.select();
}
