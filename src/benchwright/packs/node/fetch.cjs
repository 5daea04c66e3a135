"use strict";
// Global fetch, with the cell's own token for the relay, and a note of what the model's provider answered.

const { noteFailure, noteStatus } = require("./trouble.cjs");
const { liftFetchLimits } = require("./undici.cjs");

/** Wraps global fetch; calls outside a cell, and to other addresses than a provider's, go through untouched. */
function watchFetch(calls, relay) {
  const { URL, fetch: original } = globalThis;
  let Headers, Request; // looking at them loads all of fetch, which takes its time

  const wrapped = { // as a method, so that it has fetch's name
    async fetch(input, init) {
      if (!Headers) {
        ({ Headers, Request } = globalThis);
        liftFetchLimits();
      }
      const cell = calls.getStore()?.cell;
      const url = cell ? addressOf(input) : null;
      if (url === null) return original(input, init);
      const toRelay = relay.lies(url);
      const given = toRelay && cell.token ? { ...init, headers: withToken(input, init, cell) } : init;
      if (!toRelay && !cell.isProvider(url.href)) return original(input, given);
      let response;
      try {
        response = await original(input, given);
      } catch (error) {
        noteFailure(cell, error);
        throw error;
      }
      return noteStatus(cell, response.status) ? sayingWhenBlank(cell, response) : response;
    },
  };
  const value = wrapped.fetch;
  Object.defineProperty(globalThis, "fetch", { value, writable: true, enumerable: true, configurable: true });

  function addressOf(input) {
    try {
      return new URL(input instanceof Request ? input.url : input);
    } catch {
      return null;
    }
  }

  function withToken(input, init, cell) {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    headers.set("authorization", cell.authorized(headers.get("authorization")));
    return headers;
  }
}

/** An answer whose status says "try again" often has no body: reading it as text or JSON then says so. */
function sayingWhenBlank(cell, response) {
  const read = response.text.bind(response);
  response.text = async () => {
    const body = await read();
    if (body.trim() !== "") return body;
    if (cell.trouble) cell.trouble.blank = true;
    throw new Error(`The provider answered with HTTP ${response.status} and an empty body.`);
  };
  response.json = async () => JSON.parse(await response.text());
  return response;
}

module.exports = { watchFetch };
