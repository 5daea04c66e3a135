"use strict";
// The modules that the desktop host puts beside every pack: ours, and two libraries in the folder that the host names.

const LIBRARIES = process.env.BENCHWRIGHT_PACK_LIBRARIES ?? "";
const SUPPLIED = /^(@benchlocal\/core|(zod|smol-toml)(\/.*)?)$/;

exports.SDK = require.resolve("./sdk/index.cjs");
exports.CORE = require.resolve("./sdk/core.cjs");
exports.LIBRARIES = LIBRARIES;

/** Whether a module is supplied where the pack has none of its own. */
exports.isSupplied = (request) => SUPPLIED.test(request);

/** Why a library cannot be had. */
exports.missing = (request) =>
  new Error(`the pack needs ${request.split("/")[0]}, which the desktop host supplies; run: benchwright pack runtime install`);
