"use strict";
// The pack itself: loads it, and does what the host asks of it, any number of scenarios at once.

const { pathToFileURL } = require("node:url");
const { createCell } = require("./cell.cjs");
const { cut, describeError, kindOf, toJson } = require("./json.cjs");
const { createLogger } = require("./logger.cjs");

const { stringify } = JSON;
const MOST_DEFAULTS = 10;
const PARTS = ["listScenarios", "prepare", "scoreModelResults"];

/** Handles the host's lines: {id, call, ...} is answered by one frame of kind "ok" or "error" for that id. */
function createRunner(settings, channel, calls, relay) {
  const log = createLogger(channel, calls);
  const cells = new Map();
  let context, prepared, runtime;

  const asked = {
    async load() {
      runtime = unwrap(await import(pathToFileURL(settings.entry).href));
      for (const name of PARTS) {
        if (typeof runtime[name] !== "function") throw new Error(`the entry module exports no ${name}()`);
      }
      const scenarios = await runtime.listScenarios();
      return { manifest: runtime.manifest, scenarios, runtime: `Node ${process.version}` };
    },
    async prepare(given) {
      relay.at(given.relay);
      Object.assign(process.env, given.environment);
      context = { ...given.context, sidecars: given.context.verifiers, logger: log.forPack };
      prepared = await runtime.prepare(context);
      if (typeof prepared?.runScenario !== "function") throw new Error("prepare() returned no runScenario()");
      return null;
    },
    async run(given, call) {
      const cell = createCell(given, context, channel, log);
      cells.set(given.id, cell);
      call.cell = cell;
      channel.send(given.id, "entered", "null");
      const running = prepared.runScenario({ ...given.input, abortSignal: cell.signal }, cell.emit);
      channel.send(given.id, "left", "null");
      return running;
    },
    score: (given) => runtime.scoreModelResults(given.results),
    async dispose() {
      await prepared?.dispose?.();
      return null;
    },
    async ping() {
      return null;
    },
  };

  const told = {
    abort(given) {
      const cell = cells.get(given.of);
      if (cell) calls.run({ id: given.of, cell }, () => cell.abort(given.reason));
    },
    forget: (given) => end(given.of),
  };

  function end(id) {
    cells.get(id)?.end();
    cells.delete(id);
  }

  async function answer(given) {
    const call = { id: given.id, cell: null };
    const started = Date.now();
    let kind = "ok", value;
    try {
      value = await calls.run(call, () => asked[given.call](given, call));
    } catch (error) {
      kind = "error";
      value = error;
    }
    const measured = { startedAt: new Date(started).toISOString(), durationMs: Date.now() - started };
    const trouble = call.cell?.trouble ?? null;
    end(given.id);
    const about = stringify({ trouble, ...measured });
    if (kind === "ok") writeValue(given, value, about);
    else channel.send(given.id, "error", `{"error":${stringify(describeError(value))},"about":${about}}`);
  }

  function writeValue(given, value, about) {
    try {
      const { text, odd } = calls.run({ id: given.id, cell: null }, () => toJson(value));
      if (text === undefined) throw new Error(`it returned ${kindOf(value)}`);
      const json = `{"value":${text},"odd":${stringify(odd)},"about":${about}}`;
      if (channel.send(given.id, "ok", json)) return;
      const megabytes = (size) => `${Math.round(size / 2 ** 20)} MiB`;
      throw new Error(
        `what it returned is ${megabytes(json.length)} of JSON, more than the ${megabytes(settings.messageBytes)} allowed`,
      );
    } catch (error) {
      const message = cut(firstLine(describeError(error).message));
      channel.send(given.id, "error", `{"error":${stringify({ message, unusable: true })},"about":${about}}`);
    }
  }

  return (given) => {
    if (told[given.call]) told[given.call](given);
    else void answer(given);
  };
}

function firstLine(text) {
  return text.split("\n", 1)[0];
}

/**
 * The object with the pack's functions: CommonJS built from ESM has it behind one `default` or two, and of CommonJS
 * written by hand, Node may show some of the functions on the outermost level and all of them behind `default`.
 */
function unwrap(module) {
  let found = module;
  for (let i = 0; i < MOST_DEFAULTS; i += 1) {
    if (PARTS.every((name) => typeof found[name] === "function")) return found;
    if (found.default === null || typeof found.default !== "object") return found;
    found = found.default;
  }
  return found;
}

module.exports = { createRunner };
