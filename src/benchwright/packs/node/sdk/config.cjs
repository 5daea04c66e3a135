"use strict";
// The desktop host's config.toml, as `@benchlocal/core` reads and writes it. A pack's home is its own folder, so that
// it finds no configuration of the user's here, nor any key.

const { mkdir, readFile, rename, writeFile } = require("node:fs/promises");
const { homedir } = require("node:os");
const { dirname, join } = require("node:path");

const REGISTRY = "https://raw.githubusercontent.com/stevibe/benchlocal-registry/main/registry.json";
const KIND_NAMES = {
  openrouter: "OpenRouter",
  huggingface: "Hugging Face",
  ollama: "Ollama",
  llamacpp: "llama.cpp",
  mlx: "MLX",
  lmstudio: "LM Studio",
  pico: "Pico",
};
const FOLDERS = ["run_storage_dir", "benchpack_storage_dir", "log_storage_dir", "cache_dir"];
const FORMER = {
  default_benchpack: ["default_bench_pack", "default_plugin"],
  benchpack_storage_dir: ["bench_pack_storage_dir", "plugin_storage_dir"],
  benchpacks: ["bench_packs", "plugins"],
};
const PLACE_OF_SOURCE = { github: "repo", local: "path", archive: "url" };

const getBenchLocalHome = () => join(homedir(), ".benchlocal");
const getConfigPath = () => join(getBenchLocalHome(), "config.toml");

/** A path with "~" in front written out. */
function expandHomePath(path) {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

function createDefaultConfig() {
  const home = getBenchLocalHome();
  return {
    schema_version: 1,
    default_benchpack: "",
    run_storage_dir: join(home, "runs"),
    benchpack_storage_dir: join(home, "benchpacks"),
    log_storage_dir: join(home, "logs"),
    cache_dir: join(home, "cache"),
    registry: { official_url: REGISTRY },
    ui: { theme: "system" },
    agent: { enabled: false, access: "localhost" },
    providers: {},
    models: [],
    benchpacks: {},
  };
}

async function loadConfigFile(path = getConfigPath()) {
  const { parse } = require("smol-toml");
  return withFolders(normalized(parse(await readFile(path, "utf8"))));
}

async function saveConfigFile(config, path = getConfigPath()) {
  const { stringify } = require("smol-toml");
  const saved = await withFolders(normalized(config));
  await writeWhole(path, stringify(saved));
  return saved;
}

async function loadOrCreateConfig(path = getConfigPath()) {
  try {
    return { path, created: false, config: await loadConfigFile(path) };
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return { path, created: true, config: await saveConfigFile(createDefaultConfig(), path) };
  }
}

/** A configuration with defaults filled in; throws where it is not as it should be. */
function normalized(given) {
  const raw = { ...given };
  for (const [name, former] of Object.entries(FORMER)) raw[name] ??= former.map((old) => given?.[old]).find(Boolean);
  const defaults = createDefaultConfig();
  const { agent, registry, ui } = defaults;
  const present = Object.entries(raw).filter(([name, value]) => value !== undefined && name in defaults);
  const config = {
    ...defaults,
    ...Object.fromEntries(present),
    registry: { ...registry, ...raw.registry },
    ui: { ...ui, ...raw.ui },
    agent: { ...agent, ...raw.agent },
    providers: mapped(raw.providers, provider),
    models: (raw.models ?? []).map(model),
    benchpacks: mapped(raw.benchpacks, benchPack),
  };
  if (config.schema_version !== 1) throw new Error("schema_version must be 1.");
  for (const name of FOLDERS) config[name] = text(config[name], name);
  const seen = new Set();
  for (const { id, label, provider: owner } of config.models) {
    if (seen.has(id)) throw new Error(`Duplicate model "${label}" found in models.`);
    if (!config.providers[owner]) throw new Error(`Model "${label}" references unknown provider "${owner}".`);
    seen.add(id);
  }
  return config;
}

function provider(raw, id) {
  const kind = raw.kind ?? (id in KIND_NAMES ? id : "openai_compatible");
  const name = raw.name ?? KIND_NAMES[kind] ?? (titled(id) || "OpenAI Compatible");
  return { ...raw, kind, name, enabled: raw.enabled ?? true, base_url: address(raw.base_url, `providers.${id}.base_url`) };
}

function model(raw, at) {
  const given = ["id", "provider", "model", "label"].map((name) => [name, text(raw[name], `models.${at}.${name}`)]);
  return { ...Object.fromEntries(given), group: raw.group ?? "primary", enabled: raw.enabled ?? true };
}

function benchPack(raw, id) {
  const source = raw.source ?? "registry";
  const place = PLACE_OF_SOURCE[source];
  if (place && !raw[place]) throw new Error(`benchpacks.${id}: a ${source} pack requires a ${place} value.`);
  const own = raw.verifiers ?? raw.sidecars;
  const verifiers = own && mapped(own, (one, name) => verifier(one, `benchpacks.${id}.verifiers.${name}`));
  return { ...raw, source, enabled: raw.enabled ?? true, ...(verifiers && { verifiers }) };
}

function verifier(raw, where) {
  for (const name of ["custom_url", "cloud_url"]) if (raw[name]) address(raw[name], `${where}.${name}`);
  return { ...raw, mode: raw.mode ?? "docker", auto_start: raw.auto_start ?? true };
}

function mapped(table, make) {
  return Object.fromEntries(Object.entries(table ?? {}).map(([id, raw]) => [id, make(raw, id)]));
}

function text(value, field) {
  if (typeof value !== "string" || value.trim() === "") throw new Error(`${field} must be a text that is not empty.`);
  return value.trim();
}

function address(value, field) {
  const given = text(value, field);
  if (!/^https?:\/\/[^\s/]/i.test(given)) throw new Error(`${field} must be a valid http:// or https:// URL.`);
  return given;
}

function titled(id) {
  return id.replace(/[_-]+/g, " ").trim().replace(/\b\w/g, (letter) => letter.toUpperCase());
}

async function withFolders(config) {
  const folders = [getBenchLocalHome(), ...FOLDERS.map((name) => expandHomePath(config[name]))];
  await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true })));
  return config;
}

/** Writes a file next to its place and renames it, so that nobody sees half of it. */
async function writeWhole(path, content) {
  await mkdir(dirname(path), { recursive: true });
  const next = `${path}.${process.pid}.${Date.now()}.tmp`;
  await writeFile(next, content, "utf8");
  await rename(next, path);
}

module.exports = {
  createDefaultConfig,
  expandHomePath,
  getBenchLocalHome,
  getConfigPath,
  loadConfigFile,
  loadOrCreateConfig,
  saveConfigFile,
  text,
  writeWhole,
};
