// How fast the engine is in Node, beside the native engine in the same run.

import { execFileSync } from "node:child_process";

import { finish, load } from "./engine.mjs";

const native = process.env.UNRUFFLED_NATIVE ?? "target/release/examples/native";
const TIMES = 9;
const cases = [
  ["rr-3", "60 s", "unruffled,sack,rr-ta"],
  ["few-late", "60 s", "unruffled,linux,sack"],
  ["vpn", "2 s", "unruffled,rack,sack"],
];

const median = (of) => of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)];
const engine = await load();

function inWasm([toml, duration, senders]) {
  const begun = performance.now();
  const comparison = new engine.Comparison({ toml, senders: senders.split(","), seeds: 1, duration });
  const first = comparison.step(50);
  const answered = performance.now() - begun;
  if (!first.done) {
    finish(comparison, 50);
  }
  const took = performance.now() - begun;
  comparison.free();
  return [took, answered];
}

console.log("| scenario | time | senders | native ms | WebAssembly ms | ratio | first answer ms | first run ms |");
console.log("|---|---|---|---|---|---|---|---|");
for (const of of cases) {
  const [cold] = inWasm(of);
  const took = [];
  const natively = [];
  // In turn, so that a machine that is busy for a while slows both.
  for (let time = 0; time < TIMES; time += 1) {
    natively.push(Number(execFileSync(native, of, { encoding: "utf8" })));
    took.push(inWasm(of));
  }
  const wasm = median(took.map(([all]) => all));
  const answer = median(took.map(([, first]) => first));
  const ratio = wasm / median(natively);
  const numbers = [median(natively), wasm, ratio * 10, answer, cold].map((ms) => ms.toFixed(0));
  numbers[2] = ratio.toFixed(2);
  console.log(`| ${[...of, ...numbers].join(" | ")} |`);
}
