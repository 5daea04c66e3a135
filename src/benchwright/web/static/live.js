// Live updates: one stream of server-sent events per page. The page's parts are requested again after an event.

const REST = 700; // milliseconds between two refreshes of a part; more if a refresh takes long
const asked = new WeakMap();

// Listens for changes while the page is visible: a browser opens only a few streams to one host.
export function watch(main) {
    const lost = document.querySelector("[data-lost]");
    let last = main.dataset.after;
    let source;
    const open = () => {
        if (source || document.hidden) return;
        const separator = main.dataset.live.includes("?") ? "&" : "?";
        source = new EventSource(main.dataset.live + separator + "after=" + encodeURIComponent(last));
        source.addEventListener("open", () => (lost.hidden = true));
        source.addEventListener("error", () => {
            lost.hidden = false;
            if (source.readyState === EventSource.CLOSED) {
                source = undefined;
                setTimeout(open, 2000);
            }
        });
        source.addEventListener("changed", (event) => {
            last = event.lastEventId;
            show(JSON.parse(event.data));
            refreshAll();
        });
    };
    document.addEventListener("visibilitychange", () => {
        if (document.hidden) {
            source?.close();
            source = undefined;
        } else open();
    });
    window.addEventListener("pagehide", () => source?.close());
    open();
}

// Updates single figures on the page.
function show(payload) {
    for (const [name, value] of Object.entries(payload)) {
        for (const place of document.querySelectorAll(`[data-figure="${CSS.escape(name)}"]`)) {
            if (place instanceof HTMLProgressElement) place.value = value;
            else if (place.textContent !== String(value)) place.textContent = value;
        }
    }
}

function refreshAll() {
    for (const part of document.querySelectorAll("[data-part]:not([data-still])")) refresh(part);
}

// Requests a part again, at most once per rest period, and once more after the last change.
function refresh(part) {
    const state = asked.get(part) ?? { busy: false, again: false };
    asked.set(part, state);
    if (state.busy) {
        state.again = true;
        return;
    }
    state.busy = true;
    const begun = performance.now();
    fill(part).finally(() => {
        const rest = Math.max(REST, 4 * (performance.now() - begun));
        setTimeout(() => {
            state.busy = false;
            if (state.again) {
                state.again = false;
                refresh(part);
            }
        }, rest);
    });
}

// Requests a part, and shows it if it has changed.
export async function fill(part) {
    let text;
    try {
        const response = await fetch(part.dataset.part, { headers: { "X-Part": "1" } });
        if (!response.ok) return;
        text = await response.text();
    } catch {
        return; // an event will arrive when the server is back
    }
    const seen = text.length + ":" + hash(text);
    if (part.dataset.seen !== seen) replace(part, text);
    part.dataset.seen = seen;
    delete part.dataset.deferred;
    // An incomplete part is marked, and requested again.
    if (part.querySelector("[data-reading]")) setTimeout(() => refresh(part), REST);
}

// Replaces the content of a part, and keeps the user's focus, ticks, unfolded details and scroll positions.
function replace(part, text) {
    const made = new DOMParser().parseFromString(text, "text/html").body;
    const focused = part.contains(document.activeElement) ? nameOf(document.activeElement) : null;
    const ticked = new Set([...part.querySelectorAll("input:checked")].map((one) => one.name + one.value));
    const unfolded = new Map([...part.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
    const scrolled = [...part.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    part.replaceChildren(...made.childNodes);
    for (const one of part.querySelectorAll("input[type=checkbox]")) one.checked = ticked.has(one.name + one.value);
    for (const one of part.querySelectorAll("details[id]")) one.open = unfolded.get(one.id) ?? one.open;
    part.querySelectorAll(".scroll").forEach((one, place) => (one.scrollLeft = scrolled[place] ?? 0));
    const again = [...part.querySelectorAll("a, button, input, summary")].find((one) => nameOf(one) === focused);
    again?.focus({ preventScroll: true });
}

function nameOf(element) {
    return element.tagName + (element.getAttribute("href") ?? element.name ?? "") + (element.value ?? "");
}

function hash(text) {
    let sum = 0;
    for (let place = 0; place < text.length; place++) sum = (sum * 31 + text.charCodeAt(place)) | 0;
    return sum;
}
