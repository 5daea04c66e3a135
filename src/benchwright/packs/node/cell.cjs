"use strict";
// One scenario under way: its abort signal, its token, its progress events, and how its provider fared.

const { toJson } = require("./json.cjs");

const LARGEST_EVENT = 256 * 1024;

/** The cell of a "run" line of the host's; `context` says which addresses are its model's provider's. */
function createCell(given, context, channel, log) {
  const controller = new AbortController();
  const addresses = providerAddresses(context, given.input.model);
  const shared = new Set([...context.secrets.map((one) => one.value), ...context.inferenceEndpoints.map((one) => one.apiKey)]);
  let over = false;
  return {
    signal: controller.signal,
    token: given.token,
    /** The header with which a request reaches the relay: one that shows a key which is not the run's stays as it is. */
    authorized: (shown) => (shown === null || shared.has(shown.replace(/^bearer\s+/i, "")) ? `Bearer ${given.token}` : shown),
    trouble: null,
    isProvider: (url) => addresses.some((address) => url.startsWith(address)),
    abort: ({ name, message }) => controller.abort(new DOMException(message, name)),
    end() {
      over = true;
    },
    emit: async (event) => {
      if (over) {
        log.once("emit-late", "warn", "a progress event came after its scenario had ended; such events are ignored");
        return;
      }
      try {
        const { text } = toJson(event);
        if (text === undefined || text.length > LARGEST_EVENT) throw new Error("it is too large, or nothing");
        channel.send(given.id, "progress", text);
      } catch (error) {
        log.once("emit-odd", "warn", `a progress event is left out: ${error?.message}`);
      }
    },
  };
}

function providerAddresses(context, model) {
  const provider = context.providers.find((candidate) => candidate.id === model.provider);
  const endpoint = context.inferenceEndpoints.find((candidate) => candidate.modelId === model.id);
  return [provider?.baseUrl, endpoint?.baseUrl].filter((address) => typeof address === "string" && address !== "");
}

module.exports = { createCell };
