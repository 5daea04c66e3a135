// The host's side of bridge version 1 of web packs: answers requests of the framed page by postMessage.
import { asksOf } from "./chat.js";

const PACK = "benchlocal-web-pack";
const HOST = "benchlocal-host";

export function watchFrame() {
    const frame = document.querySelector("iframe[data-host]");
    if (!frame) return;
    const host = JSON.parse(frame.dataset.host);
    const shown = shownState(host, (event, payload) => tellPage(event, payload));
    const answers = { ...runAnswers(host, shown), ...asksOf() };
    let origin;

    const send = (message, target) => frame.contentWindow.postMessage({ source: HOST, bridgeVersion: 1, ...message }, target);
    const tellPage = (event, payload) => origin && send({ event, payload }, origin);

    window.addEventListener("message", async (event) => {
        if (event.source !== frame.contentWindow || !host.origins.includes(event.origin)) return;
        const asked = event.data;
        if (asked?.source !== PACK || asked.bridgeVersion !== 1 || typeof asked.requestId !== "string") return;
        origin = event.origin;
        const { requestId, streamId, payload } = asked;
        const stream = (streamed, done) => send({ streamId, event: streamed, done }, event.origin);
        try {
            const answer = Object.hasOwn(answers, asked.method) ? answers[asked.method] : undefined;
            if (!answer) throw new Error(`This host does not know ${asked.method}.`);
            if (answer.needs && !host.permissions.includes(answer.needs)) throw new Error(`The pack has no permission ${answer.needs}.`);
            send({ requestId, ok: true, result: await answer.give(payload, streamId, stream) }, event.origin);
        } catch (error) {
            send({ requestId, ok: false, error: { message: error.message } }, event.origin);
        }
    });
    frame.src = frame.dataset.entry; // set last, so that no request of the page is missed
}

// Shows the run state that the page reports, and the button that asks the page to stop.
function shownState(host, tellPage) {
    const [state, told, stop] = ["state", "told", "stop"].map((name) => document.querySelector(`[data-${name}]`));
    stop.addEventListener("click", () => {
        tellPage("runs.stopRequested", { requestedAt: new Date().toISOString(), reason: "user" });
        state.textContent = "stopping";
    });
    return (word, message) => {
        state.textContent = word;
        stop.hidden = word !== "running";
        if (typeof message === "string") told.textContent = message;
    };
}

function runAnswers(host, shown) {
    const models = () => ({ models: host.models });
    const save = async (payload) => {
        const { runId, summary } = await post("/bridge/history", payload);
        host.runId = runId;
        return { accepted: true, runId, summary };
    };
    return {
        capabilities: {
            give: () => ({
                bridgeVersion: host.bridgeVersion,
                permissions: host.permissions,
                pack: host.pack,
                history: { runId: host.runId ?? undefined, mode: host.mode, playback: host.playback },
            }),
        },
        "models.list": { needs: "models:list", give: models },
        "models.getSelected": { needs: "models:read", give: models },
        "runs.startState": {
            needs: "runs:write",
            give: (payload) => {
                shown("running", payload?.message);
                return { accepted: true };
            },
        },
        "runs.stopState": {
            needs: "runs:write",
            give: (payload) => {
                shown("idle", payload?.message);
                return { accepted: true };
            },
        },
        "runs.updateProgress": {
            needs: "runs:write",
            give: async (payload) => {
                const event = { type: "progress", createdAt: new Date().toISOString(), payload: payload ?? {} };
                const { runId } = await save({ status: payload?.status ?? "running", metadata: payload?.metadata, events: [event] });
                shown(document.querySelector("[data-state]").textContent, payload?.message);
                return { accepted: true, runId };
            },
        },
        "history.load": { needs: "history:read", give: () => asked("/bridge/history") },
        "history.save": { needs: "history:write", give: save },
        "history.writeArtifact": {
            needs: "artifacts:write",
            give: ({ content, ...named }) => {
                const plain = typeof content === "string" || content instanceof ArrayBuffer || ArrayBuffer.isView(content);
                const query = new URLSearchParams(Object.entries(named).filter(([, value]) => typeof value === "string"));
                return asked(`/bridge/artifact?${query}`, plain ? content : JSON.stringify(content ?? null));
            },
        },
    };
}

const post = (address, payload) => asked(address, JSON.stringify(payload ?? {}));

async function asked(address, body) {
    const response = await fetch(address, body === undefined ? {} : { method: "POST", body });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error ?? `The host answered ${response.status}.`);
    return answer;
}
