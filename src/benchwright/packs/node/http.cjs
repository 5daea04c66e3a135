"use strict";
// The same for clients that are built on node:http (axios, node-fetch): the cell's token, and a note of the status.

const http = require("node:http");
const { syncBuiltinESMExports } = require("node:module");
const { noteStatus } = require("./trouble.cjs");

/** Wraps http.request and http.get; the relay speaks plain HTTP. */
function watchHttp(calls, relay) {
  const original = http.request;

  http.request = function request(...given) {
    const asking = original.apply(this, given);
    const cell = calls.getStore()?.cell;
    if (cell?.token && relay.serves(asking.getHeader?.("host"))) {
      if (!asking.headersSent) asking.setHeader("authorization", cell.authorized(asking.getHeader("authorization") ?? null));
      asking.prependOnceListener("response", (response) => {
        noteStatus(cell, response.statusCode);
        if (asking.listenerCount("response") === 0) response.resume(); // as Node does where nobody listens
      });
    }
    return asking;
  };
  http.get = function get(...given) {
    const asking = http.request(...given);
    asking.end();
    return asking;
  };
  syncBuiltinESMExports();
}

module.exports = { watchHttp };
