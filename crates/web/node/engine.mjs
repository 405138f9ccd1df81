// Loads the engine in Node, from the folder that UNRUFFLED_WEB names.

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export async function load() {
  const folder = resolve(process.env.UNRUFFLED_WEB ?? "target/web-pkg");
  const engine = await import(pathToFileURL(join(folder, "unruffled_web.js")));
  await engine.default({ module_or_path: await readFile(join(folder, "unruffled_web_bg.wasm")) });
  return engine;
}

/** Makes all steps of a comparison, and returns its last state. */
export function finish(work, budgetMs = 1000) {
  for (;;) {
    const state = work.step(budgetMs);
    if (state.done) {
      return state;
    }
  }
}
