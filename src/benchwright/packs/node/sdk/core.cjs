"use strict";
// `@benchlocal/core`: what it has at run time besides types, as of version 0.2.0 of the desktop's package. Plain
// assignments to `exports`, so that `import { name }` finds the names too.

const { readFile } = require("node:fs/promises");
const { join } = require("node:path");
const config = require("./config.cjs");
const workspaces = require("./workspaces.cjs");

exports.DEFAULT_BENCHLOCAL_REQUEST_TIMEOUT_SECONDS = 300;
exports.DEFAULT_BENCHLOCAL_GENERATION = { request_timeout_seconds: exports.DEFAULT_BENCHLOCAL_REQUEST_TIMEOUT_SECONDS };

exports.getBenchLocalHome = config.getBenchLocalHome;
exports.expandHomePath = config.expandHomePath;
exports.getConfigPath = config.getConfigPath;
exports.createDefaultConfig = config.createDefaultConfig;
exports.loadConfigFile = config.loadConfigFile;
exports.loadOrCreateConfig = config.loadOrCreateConfig;
exports.saveConfigFile = config.saveConfigFile;

exports.getWorkspaceStatePath = workspaces.getWorkspaceStatePath;
exports.createDefaultWorkspaceState = workspaces.createDefaultWorkspaceState;
exports.loadWorkspaceStateFile = workspaces.loadWorkspaceStateFile;
exports.loadOrCreateWorkspaceState = workspaces.loadOrCreateWorkspaceState;
exports.saveWorkspaceStateFile = workspaces.saveWorkspaceStateFile;

/** Where themes of the user's lie. */
exports.getThemeStorageDir = function getThemeStorageDir() {
  return join(config.getBenchLocalHome(), "themes");
};

/** A theme from its JSON file; throws where a part is missing. */
exports.loadThemeDefinitionFromFile = async function loadThemeDefinitionFromFile(path) {
  const { schemaVersion = 1, id, name, colorScheme, variables } = JSON.parse(await readFile(path, "utf8"));
  if (schemaVersion !== 1) throw new Error("schemaVersion must be 1.");
  if (!["light", "dark"].includes(colorScheme)) throw new Error('colorScheme must be "light" or "dark".');
  if (variables === null || typeof variables !== "object") throw new Error("variables must be an object.");
  const trimmed = Object.entries(variables).map(([key, value]) => [key, config.text(value, `variables.${key}`)]);
  return {
    schemaVersion,
    id: config.text(id, "id"),
    name: config.text(name, "name"),
    colorScheme,
    variables: Object.fromEntries(trimmed),
  };
};
