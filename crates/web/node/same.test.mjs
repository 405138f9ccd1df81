// The engine beside the command: the same JSON, to the last digit.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";

import { finish, load } from "./engine.mjs";

const command = resolve(process.env.UNRUFFLED ?? "target/debug/unruffled");
const folder = mkdtempSync(join(tmpdir(), "unruffled-web-"));
let engine;

before(async () => {
  engine = await load();
});
after(() => rmSync(folder, { recursive: true }));

/** Runs the command, and returns its standard output. */
function run(...parameters) {
  return execFileSync(command, parameters, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
}

/** Returns the JSON of the command for a scenario in text. */
function native(toml, { senders, seeds, duration, set = [] }) {
  const file = join(folder, "scenario.toml");
  writeFileSync(file, toml);
  const flags = ["--no-report", "--json", "--variants", senders.join(","), "--seeds", String(seeds)];
  const sets = set.flatMap((of) => ["--set", of]);
  return run("compare", "scenario.toml", "--duration", duration, ...flags, ...sets);
}

/** Returns the JSON of the engine. */
function inWasm(toml, request, budgetMs) {
  const comparison = new engine.Comparison({ toml, ...request });
  assert.equal(comparison.error(), undefined);
  const last = finish(comparison, budgetMs);
  assert.equal(last.error, undefined);
  const json = comparison.json();
  comparison.free();
  return json;
}

// Ten settings: sliders of every kind, and senders whose windows and thresholds need cbrt, exp, ln and pow.
const settings = [
  ["late by a normal law", { late_share: 0.1, late_ms: 25, late_deviation_ms: 8, queue_packets: 50 }, ["unruffled", "linux", "sack"]],
  ["late by an exponential law", { late_share: 0.25, lateness: "exponential", late_ms: 40 }, ["rr-ta", "rr-fa", "dsack-r"]],
  ["late by Pareto's law", { late_share: 0.05, lateness: "pareto", late_ms: 30 }, ["tcp-pr-sack", "avg-dev+cubic", "td-fr"]],
  ["late by a uniform law, and lost", { late_share: 0.5, lateness: "uniform", late_ms: 12, loss_share: 0.003 }, ["rack+cubic", "dcr-timer", "ncr-careful"]],
  ["always as late", { late_share: 0.02, lateness: "constant", late_ms: 100 }, ["sack+westwood", "linux-reordering+cubic"]],
  ["lost", { loss_share: 0.01, rate_bps: 5e7, rtt_ms: 80, queue_packets: 200 }, ["linux", "rack+bbr", "unruffled+bbr3"]],
  ["two paths in turn", { alternate: { extra_ms: 30, every: 2 }, rtt_ms: 33.3 }, ["unruffled+cubic", "linux", "rr-ta"]],
  ["a replay window", { late_share: 0.1, late_ms: 9, replay_window: 64, rate_bps: 1e8 }, ["unruffled", "linux"]],
  ["a resequencer", { late_share: 0.1, late_ms: 9, resequence: { max_hold_ms: 20 } }, ["sack+cubic", "linux"]],
  ["a short transfer", { bytes: 300000, late_share: 0.05, lateness: "exponential", late_ms: 7.7 }, ["unruffled", "linux", "sack+cubic"]],
];

for (const [what, given, senders] of settings) {
  test(`the numbers are the command's: ${what}`, () => {
    const toml = engine.scenario_toml({ ...given, senders });
    assert.equal(toml.ok, true, toml.error);
    const request = { senders, seeds: 3, duration: "10 s" };
    assert.equal(inWasm(toml.value, request, 1000), native(toml.value, request));
  });
}

for (const id of ["bonded", "wi-fi", "radio", "satellite", "paper/dcr-18", "paper/wb-12", "paper/ad-3"]) {
  test(`the numbers are the command's: preset ${id}`, () => {
    const preset = engine.presets().find((of) => of.id === id);
    const request = { senders: preset.senders.slice(0, 3), seeds: 2, duration: id.startsWith("paper") ? "20 s" : "5 s", set: ["warmup=0"] };
    assert.equal(inWasm(preset.toml, request, 20), native(preset.toml, request));
  });
}

test("the list of senders is the command's", () => {
  const senders = engine.senders();
  for (const sender of senders.variants) {
    delete sender.known_as;
  }
  assert.deepEqual(senders, JSON.parse(run("variants", "--json")));
});

test("an error is the command's line", () => {
  const toml = 'duration = "1 s"\nvariants = ["sack"]\npath.hops = ["a"]\nlink.a.dealy = "1 ms"';
  writeFileSync(join(folder, "scenario.toml"), toml);
  const refused = spawnSync(command, ["compare", "scenario.toml"], { cwd: folder, encoding: "utf8" });
  const comparison = new engine.Comparison({ toml });
  assert.equal(`unruffled: ${comparison.error()}\n`, refused.stderr);
  assert.deepEqual(comparison.step(10).done, true);
  assert.equal(engine.check({ toml: 7 }).ok, false);
  assert.match(engine.scenario_toml({ late_share: 3 }).error, /^late_share: expected a number from 0 to 1, found 3$/);
});

test("the first step has an estimate of each sender", () => {
  const comparison = new engine.Comparison({ toml: "rr-3", senders: ["unruffled", "sack"], seeds: 1 });
  const begun = performance.now();
  const first = comparison.step(40);
  assert.ok(performance.now() - begun < 100, `${performance.now() - begun} ms`);
  assert.equal(first.done, false);
  assert.ok(first.estimates.every((of) => of.goodput_bps > 0), JSON.stringify(first));
  comparison.free();
});

test("a recording has its packets as typed arrays", () => {
  const recording = new engine.Recording({ toml: "half-late", sender: "sack", duration: "3 s", to_s: 1 });
  finish(recording);
  const packets = recording.packets();
  assert.ok(packets.left_at instanceof Float64Array && packets.answers instanceof Int32Array);
  assert.ok(packets.left_at.length > 40);
  for (const [name, column] of Object.entries(packets)) {
    const extra = { sack_first: 1, sacks: NaN }[name] ?? 0;
    assert.ok(Number.isNaN(extra) || column.length === packets.kind.length + extra, name);
  }
  const events = recording.events();
  assert.equal(events.time_s.length, events.kind.length);
  assert.ok(recording.curve("cwnd") instanceof Float64Array);
  const comparison = new engine.Comparison({ toml: "half-late", senders: ["sack"], seeds: 1, duration: "3 s" });
  finish(comparison);
  assert.deepEqual(recording.row(), comparison.result().rows[0]);
});

test("a capture's analysis is the command's", () => {
  const file = "transfer.pcapng";
  run("compare", "few-late", "--duration", "20 s", "--seeds", "1", "--variants", "sack", "--no-report", "--pcap", file);
  const capture = new engine.Capture(file, readFileSync(join(folder, file)));
  assert.equal(capture.error(), undefined);
  finish(capture, 20);
  capture.price();
  assert.equal(capture.json(), run("analyze", "--json", file));
  const path = capture.scenario(1);
  assert.equal(path.ok, true, path.error);
  run("analyze", file, "--scenario", "path.toml");
  assert.equal(path.value.toml, readFileSync(join(folder, "path.toml"), "utf8"));
  assert.ok(capture.plots(1).sequence.new.time_s instanceof Float64Array);
});

test("what is no capture is one line", () => {
  const capture = new engine.Capture("photo.jpg", new TextEncoder().encode("no capture at all"));
  assert.match(capture.error(), /^photo\.jpg: [^\n]+$/);
  assert.equal(capture.step(10).done, true);
});
