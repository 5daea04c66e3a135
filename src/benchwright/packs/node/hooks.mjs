// The hook into `import` for Node versions where hooks have a thread of their own, or are a command line option.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import supplied from "./supplied.cjs";

const { CORE, LIBRARIES, SDK, isSupplied, missing } = supplied;

export async function resolve(specifier, context, next) {
  if (specifier === "@benchlocal/sdk") return ours(SDK);
  if (!isSupplied(specifier)) return next(specifier, context);
  try {
    return await next(specifier, context);
  } catch {
    if (specifier === "@benchlocal/core") return ours(CORE);
  }
  try {
    return await next(specifier, { ...context, parentURL: pathToFileURL(join(LIBRARIES, "index.js")).href });
  } catch {
    throw missing(specifier);
  }
}

function ours(path) {
  return { url: pathToFileURL(path).href, format: "commonjs", shortCircuit: true };
}
