// Replays the events of a pack's run: the list up to one event, and the matrix at that moment.

const STATES = new Set(["live", "pass", "partial", "fail", "error"]);
const IDLE = "not yet";

export function watchReplay() {
    const player = document.querySelector("[data-player]");
    if (!player) return;
    const steps = [...document.querySelectorAll("[data-events] > li")];
    const changes = steps.map((step) => JSON.parse(step.dataset.changes));
    const rows = [...document.querySelectorAll("[data-matrix] tbody tr")];
    const [play, slider, speed, at] = ["play", "slider", "speed", "at"].map((name) =>
        player.querySelector(`[data-${name}]`),
    );
    let place = 0;
    let timer;

    const goTo = (wanted) => {
        const target = Math.min(Math.max(wanted, 0), steps.length);
        if (target < place) {
            clear(rows);
            place = 0;
        }
        for (; place < target; place++) changes[place].forEach((change) => apply(rows, change));
        slider.value = place;
        at.textContent = place.toLocaleString("en");
        showPlace(steps, rows, place);
        if (place === steps.length) stop();
    };
    const stop = () => {
        clearTimeout(timer);
        timer = undefined;
        play.textContent = "Play";
    };
    const tick = () => {
        timer = setTimeout(tick, 1000 / Number(speed.value));
        goTo(place + 1);
    };

    play.addEventListener("click", () => {
        if (timer !== undefined) return stop();
        if (place === steps.length) goTo(0);
        play.textContent = "Pause";
        tick();
    });
    slider.addEventListener("input", () => {
        stop();
        goTo(Number(slider.value));
    });
    for (const button of player.querySelectorAll("[data-step]")) {
        button.addEventListener("click", () => {
            stop();
            goTo(place + Number(button.dataset.step));
        });
    }
    player.addEventListener("submit", (event) => event.preventDefault());
    player.hidden = false;
    goTo(0);
}

// Hides later events, and marks the row of the last event.
function showPlace(steps, rows, place) {
    steps.forEach((step, number) => (step.hidden = number >= place));
    const last = steps[place - 1];
    for (const row of rows) row.classList.remove("now");
    if (!last) return;
    const list = last.parentElement;
    list.scrollTop = list.scrollHeight;
    const row = rows[last.dataset.row];
    if (!row) return;
    row.classList.add("now");
    bringIntoSight(row);
}

// Scrolls the matrix, and nothing else, to the changed cell.
function bringIntoSight(row) {
    const stage = row.closest("[data-stage]");
    const above = row.offsetTop < stage.scrollTop;
    const below = row.offsetTop + row.offsetHeight > stage.scrollTop + stage.clientHeight;
    if (above || below) stage.scrollTop = row.offsetTop - stage.clientHeight / 2;
}

function clear(rows) {
    rows.forEach((row, number) => {
        for (let column = 1; column < row.cells.length; column++) apply(rows, [number, column - 1, "idle", ""]);
    });
}

function apply(rows, [row, column, state, word]) {
    const cell = rows[row].cells[column + 1];
    cell.querySelector(".dot").className = STATES.has(state) ? `dot ${state}` : "dot";
    cell.querySelector("[data-word]").textContent = word || (state === "live" ? "at work" : IDLE);
}
