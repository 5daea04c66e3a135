// Model requests of a framed page: whole and streamed responses, in the formats of bridge version 1.

const DEFAULT_SECONDS = 300;

export function asksOf() {
    return {
        "inference.chat": { needs: "inference:chat", give: async (request) => whole(request.modelId, await answerOf(request)) },
        "inference.streamChat": {
            needs: "inference:stream",
            give: (request, streamId, stream) => {
                if (!streamId) throw new Error("A streamed request needs a streamId.");
                streamed(request, stream).catch((error) =>
                    stream({ type: "error", modelId: request.modelId, message: error.message, retryable: false }, true),
                );
                return { accepted: true };
            },
        },
    };
}

function ask(request, stream) {
    const seconds = Number(request?.generation?.request_timeout_seconds) || DEFAULT_SECONDS;
    const address = stream ? "/bridge/chat?stream=1" : "/bridge/chat";
    return fetch(address, { method: "POST", body: JSON.stringify(request ?? {}), signal: AbortSignal.timeout(seconds * 1000) });
}

async function answerOf(request) {
    const response = await ask(request, false);
    if (!response.ok) throw new Error(`Provider request failed with ${response.status}.`);
    return response.json();
}

function whole(modelId, raw) {
    const choice = raw.choices?.[0] ?? {};
    const content = choice.message?.content ?? "";
    const calls = toolCalls(choice.message?.tool_calls);
    const message = { role: choice.message?.role ?? "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) };
    return { id: raw.id, modelId, message, content, finishReason: choice.finish_reason ?? undefined, usage: raw.usage, raw };
}

function toolCalls(calls) {
    return (calls ?? []).flatMap((call, number) => {
        const name = call.function?.name ?? call.name;
        const rawArguments = call.function?.arguments ?? call.arguments ?? "";
        return name ? [{ id: call.id || `tool-${number}`, name, rawArguments }] : [];
    });
}

async function streamed(request, stream) {
    const modelId = request.modelId;
    const response = await ask(request, true);
    if (!response.ok) {
        const retryable = [408, 409, 425, 429].includes(response.status) || response.status >= 500;
        stream({ type: "error", modelId, message: `Provider request failed with ${response.status}.`, retryable }, true);
        return;
    }
    stream({ type: "start", modelId });
    let content = "";
    let id;
    for await (const raw of piecesOf(response.body)) {
        id = raw.id ?? id;
        for (const choice of raw.choices ?? []) {
            const text = choice.delta?.content;
            if (text) {
                content += text;
                stream({ type: "delta", id, modelId, content: text, raw });
            }
            for (const toolCall of toolCalls(choice.delta?.tool_calls)) stream({ type: "tool_call", id, modelId, toolCall, raw });
        }
    }
    stream({ type: "done", id, modelId, message: { role: "assistant", content }, content }, true);
}

// Yields the JSON objects in a stream of server-sent events.
async function* piecesOf(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const { done, value } = await reader.read();
        const lines = (rest + (value ?? "")).split(/\r?\n/);
        rest = done ? "" : lines.pop();
        for (const line of lines) {
            const data = line.startsWith("data:") ? line.slice(5).trim() : "";
            if (data && data !== "[DONE]") yield JSON.parse(data);
        }
        if (done) return;
    }
}
