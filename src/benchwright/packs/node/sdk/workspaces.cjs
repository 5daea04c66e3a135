"use strict";
// The desktop host's state.json (its workspaces and tabs), as `@benchlocal/core` reads and writes it.

const { randomUUID } = require("node:crypto");
const { readFile } = require("node:fs/promises");
const { join } = require("node:path");
const { getBenchLocalHome, writeWhole } = require("./config.cjs");

const MODES = ["serial", "serial_by_model", "parallel_by_model", "parallel_by_test_case", "full_parallel"];
const FORMER_MODES = { parallel_models: "parallel_by_model", parallel_scenarios: "parallel_by_test_case" };
const REPEATS = [1, 3, 5, 7, 9];

const getWorkspaceStatePath = () => join(getBenchLocalHome(), "state.json");

function createDefaultWorkspaceState(defaultBenchPack = "") {
  const now = new Date().toISOString();
  const [id, tab] = [`workspace-${randomUUID()}`, `tab-${randomUUID()}`];
  const pack = defaultBenchPack.trim() ? defaultBenchPack : null;
  const times = { createdAt: now, updatedAt: now };
  return {
    schema_version: 1,
    activeWorkspaceId: id,
    workspaceOrder: [id],
    workspaces: { [id]: { id, name: "My Workspace", tabIds: [tab], activeTabId: tab, ...times } },
    tabs: { [tab]: normalizedTab({ id: tab, title: pack ?? "New Tab", benchPackId: pack, ...times }) },
  };
}

async function loadWorkspaceStateFile(path = getWorkspaceStatePath(), defaultBenchPack = "") {
  return normalized(JSON.parse(await readFile(path, "utf8")), defaultBenchPack);
}

async function saveWorkspaceStateFile(state, path = getWorkspaceStatePath(), defaultBenchPack = "") {
  const saved = normalized(state, defaultBenchPack);
  await writeWhole(path, JSON.stringify(saved, null, 2));
  return saved;
}

async function loadOrCreateWorkspaceState(path = getWorkspaceStatePath(), defaultBenchPack = "") {
  try {
    return { path, created: false, state: await loadWorkspaceStateFile(path, defaultBenchPack) };
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    const state = createDefaultWorkspaceState(defaultBenchPack);
    return { path, created: true, state: await saveWorkspaceStateFile(state, path, defaultBenchPack) };
  }
}

/** A state in which every reference leads somewhere; the default one where no workspace is left. */
function normalized(raw, defaultBenchPack) {
  const tabs = Object.fromEntries(Object.entries(raw?.tabs ?? {}).map(([id, tab]) => [id, normalizedTab(tab)]));
  const workspaces = {};
  for (const [id, workspace] of Object.entries(raw?.workspaces ?? {})) {
    const tabIds = (workspace.tabIds ?? []).filter((tab) => tabs[tab]);
    const activeTabId = tabIds.includes(workspace.activeTabId) ? workspace.activeTabId : tabIds[0] ?? null;
    workspaces[id] = { ...workspace, tabIds, activeTabId };
  }
  const listed = (raw?.workspaceOrder ?? []).filter((id) => workspaces[id]);
  const workspaceOrder = listed.length > 0 ? listed : Object.keys(workspaces);
  if (workspaceOrder.length === 0) return createDefaultWorkspaceState(defaultBenchPack);
  const activeWorkspaceId = workspaces[raw.activeWorkspaceId] ? raw.activeWorkspaceId : workspaceOrder[0];
  return { schema_version: 1, activeWorkspaceId, workspaceOrder, workspaces, tabs };
}

function normalizedTab(tab) {
  const mode = FORMER_MODES[tab.executionMode] ?? tab.executionMode;
  const sampling = Object.entries(tab.samplingOverrides ?? {}).filter(([, value]) => Number.isFinite(value));
  return {
    ...tab,
    benchPackId: tab.benchPackId ?? tab.pluginId ?? null,
    loadedRunId: tab.loadedRunId ?? null,
    focusedScenarioId: tab.focusedScenarioId ?? null,
    modelSelections: (tab.modelSelections ?? []).filter((selection) => selection.modelId),
    samplingOverrides: Object.fromEntries(sampling),
    executionMode: MODES.includes(mode) ? mode : "parallel_by_test_case",
    runsPerTest: REPEATS.includes(tab.runsPerTest) ? tab.runsPerTest : 1,
  };
}

module.exports = {
  createDefaultWorkspaceState,
  getWorkspaceStatePath,
  loadOrCreateWorkspaceState,
  loadWorkspaceStateFile,
  saveWorkspaceStateFile,
};
