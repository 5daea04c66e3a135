// The page of a trial: search, copy, open and close turns.

const MOST = 2000;

export function watchTrial() {
    watchCopies();
    watchTree();
    const find = document.querySelector("[data-find]");
    if (find && CSS.highlights) watchFind(find);
}

function watchCopies() {
    if (!navigator.clipboard) return; // browsers offer the clipboard only to trusted addresses
    for (const button of document.querySelectorAll("[data-copy]")) {
        button.hidden = false;
        button.addEventListener("click", async () => {
            await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
            button.textContent = "Copied";
            setTimeout(() => (button.textContent = "Copy"), 1500);
        });
    }
}

function watchTree() {
    for (const [name, open] of [["open", true], ["close", false]]) {
        for (const button of document.querySelectorAll(`[data-${name}-all]`)) {
            button.hidden = false;
            const turns = button.closest("section").querySelectorAll("details.turn");
            button.addEventListener("click", () => turns.forEach((turn) => (turn.open = open)));
        }
    }
}

// Matches are highlighted by the browser (CSS highlights), so the page's content stays unchanged.
function watchFind(find) {
    const words = find.querySelector("[data-find-words]");
    const count = find.querySelector("[data-find-count]");
    let found = [];
    let place = -1;
    find.hidden = false;
    words.addEventListener("input", () => {
        found = rangesOf(words.value.toLowerCase());
        place = -1;
        CSS.highlights.set("found", new Highlight(...found));
        CSS.highlights.delete("found-now");
        if (found.length) go(0);
        else count.textContent = words.value ? "not found" : "";
    });
    words.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !found.length) return;
        event.preventDefault();
        go((place + (event.shiftKey ? found.length - 1 : 1)) % found.length);
    });

    function go(to) {
        place = to;
        const range = found[place];
        for (let one = range.startContainer.parentElement; one; one = one.parentElement) {
            if (one.tagName === "DETAILS") one.open = true;
        }
        CSS.highlights.set("found-now", new Highlight(range));
        range.startContainer.parentElement.scrollIntoView({ block: "center" });
        const all = found.length === MOST ? `${MOST} or more` : found.length;
        count.textContent = `${place + 1} of ${all}`;
    }
}

function rangesOf(words) {
    const found = [];
    if (!words) return found;
    for (const part of document.querySelectorAll("[data-found-in]")) {
        const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
        while (texts.nextNode() && found.length < MOST) {
            const text = texts.currentNode.data.toLowerCase();
            if (text.length !== texts.currentNode.data.length) continue;
            for (let at = text.indexOf(words); at >= 0 && found.length < MOST; at = text.indexOf(words, at + words.length)) {
                const range = new Range();
                range.setStart(texts.currentNode, at);
                range.setEnd(texts.currentNode, at + words.length);
                found.push(range);
            }
        }
    }
    return found;
}
