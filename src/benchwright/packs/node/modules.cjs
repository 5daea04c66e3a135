"use strict";
// Makes what the desktop host supplies importable from anywhere in a pack, by `require` and by `import`.
//
// Our SDK stands before one that the pack brought along, as the desktop host writes its own over it at install.
// Of `@benchlocal/core`, `zod` and `smol-toml`, a pack's own comes first.

const Module = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { CORE, LIBRARIES, SDK, isSupplied, missing } = require("./supplied.cjs");

/** Patches `require`, and hooks into `import` in the way that this Node has (see `node_command` on the host's side). */
function provideModules() {
  const original = Module._resolveFilename;
  Module._resolveFilename = function (request, ...rest) {
    if (request === "@benchlocal/sdk") return SDK;
    if (!isSupplied(request)) return original.call(this, request, ...rest);
    return ownOrSupplied(
      request,
      () => original.call(this, request, ...rest),
      () => CORE,
      () => original.call(this, request, null, false, { paths: [LIBRARIES] }),
    );
  };
  if (Module.registerHooks) Module.registerHooks({ resolve: resolveNow });
  else if (Module.register) Module.register("./hooks.mjs", pathToFileURL(__filename));
}

function resolveNow(specifier, context, next) {
  if (specifier === "@benchlocal/sdk") return ours(SDK);
  if (!isSupplied(specifier)) return next(specifier, context);
  const parentURL = pathToFileURL(join(LIBRARIES, "index.js")).href;
  return ownOrSupplied(
    specifier,
    () => next(specifier, context),
    () => ours(CORE),
    () => next(specifier, { ...context, parentURL }),
  );
}

function ownOrSupplied(request, own, core, library) {
  try {
    return own();
  } catch {
    if (request === "@benchlocal/core") return core();
  }
  try {
    return library();
  } catch {
    throw missing(request);
  }
}

function ours(path) {
  return { url: pathToFileURL(path).href, format: "commonjs", shortCircuit: true };
}

module.exports = { provideModules };
