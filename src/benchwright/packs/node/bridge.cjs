"use strict";
// Runs one Bench Pack for the host that started this process: `node bridge.cjs READ WRITE`, two inherited pipes.
//
// What the host needs to trust is closed over here before any of the pack's code is loaded. A pack shares this
// process all the same: it can end it, block it or read its memory. It gains nothing by that which it could not
// say in a result of its own, and the host expects all of it.

const { AsyncLocalStorage } = require("node:async_hooks");
const calls = new AsyncLocalStorage();

const { openChannel } = require("./channel.cjs");
const { watchEnds } = require("./ends.cjs");
const { watchFetch } = require("./fetch.cjs");
const { watchHttp } = require("./http.cjs");
const { provideModules } = require("./modules.cjs");
const { createRelay } = require("./relay.cjs");
const { createRunner } = require("./runner.cjs");

const [read, write] = process.argv.splice(2).map(Number);

openChannel(read, write, (settings, channel) => {
  process.argv[1] = settings.entry;
  watchEnds(channel, calls);
  const relay = createRelay();
  watchFetch(calls, relay);
  watchHttp(calls, relay);
  provideModules();
  const runner = createRunner(settings, channel, calls, relay);
  forgetModules();
  return runner;
});

/** Keeps these modules out of the pack's sight: none of them holds a secret, but none is its business. */
function forgetModules() {
  for (const name of Object.keys(require.cache)) {
    if (name.startsWith(__dirname)) delete require.cache[name];
  }
  module.children.length = 0;
}
