// The script of every page: keys, live parts, and forms that are sent while they are filled in.
import { watchFrame } from "./bridge.js";
import { watchKeys } from "./keys.js";
import { fill, watch } from "./live.js";
import { watchReplay } from "./replay.js";
import { watchTrial } from "./trial.js";

watchKeys();
watchTrial();
watchReplay();
watchFrame();

for (const part of document.querySelectorAll("[data-part][data-deferred]")) fill(part);

const main = document.querySelector("[data-live]");
if (main) watch(main);

// Forms are sent after each choice, and for search fields when typing stops.
for (const form of document.querySelectorAll("form[data-auto]")) {
    let waiting;
    form.addEventListener("change", () => send(form));
    form.addEventListener("input", (event) => {
        clearTimeout(waiting);
        if (event.target.type === "search") waiting = setTimeout(() => send(form), 350);
    });
}

const WORDS = "benchwright-words";
const search = document.querySelector("[data-search]");
if (search && sessionStorage.getItem(WORDS) === location.pathname) {
    search.focus();
    search.setSelectionRange(search.value.length, search.value.length);
}
sessionStorage.removeItem(WORDS);

function send(form) {
    const given = new FormData(form);
    for (const [name, value] of [...given]) if (value === "") given.delete(name);
    const query = new URLSearchParams(given).toString();
    if (document.activeElement === search) sessionStorage.setItem(WORDS, location.pathname);
    const address = form.getAttribute("action") + (query ? "?" + query : "") + location.hash;
    location.replace(address);
}

// Actions that cannot be undone ask for confirmation.
document.addEventListener("submit", (event) => {
    const question = event.submitter?.dataset.ask;
    if (question && !confirm(question)) event.preventDefault();
});
