/** A worker that runs the engine. Long calls advance in steps, so that a message can cancel them. */

import * as engine from 'unruffled-engine';
import type { Capture, Comparison, Recording } from './api.ts';
import type { CaptureRead, Compared, FromWorker, Name, Recorded, ToWorker } from './protocol.ts';

/** A call that advances in steps. */
interface Job {
  id: number;
  /** Works for so many milliseconds; whether the job is over. */
  step(budget: number): boolean;
  free(): void;
}

/** The first steps are short: a first answer comes soon. */
const FIRST_BUDGET = 8;
const BUDGET = 25;

const jobs: { job: Job; budget: number }[] = [];
const yielding = new MessageChannel();
let scheduled = false;
let capture: Capture | null = null;

function post(message: FromWorker, transfer: Transferable[] = []) {
  self.postMessage(message, { transfer });
}

function schedule() {
  if (scheduled || jobs.length === 0) return;
  scheduled = true;
  yielding.port2.postMessage(null);
}

yielding.port1.onmessage = () => {
  scheduled = false;
  const next = jobs.shift();
  if (!next) return;
  const { job, budget } = next;
  try {
    if (job.step(budget)) job.free();
    else jobs.push({ job, budget: BUDGET });
  } catch (error) {
    post({ kind: 'error', id: job.id, error: line(error) });
  }
  schedule();
};

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case 'start':
      engine.initSync({ module: data.module });
      break;
    case 'cancel': {
      const at = jobs.findIndex(({ job }) => job.id === data.id);
      if (at >= 0) jobs.splice(at, 1)[0]?.job.free();
      break;
    }
    case 'call':
      try {
        call(data.id, data.name, data.sent);
      } catch (error) {
        post({ kind: 'error', id: data.id, error: line(error) });
      }
      schedule();
  }
};

function call(id: number, name: Name, sent: unknown) {
  const answer = (value: unknown) => post({ kind: 'result', id, value });
  switch (name) {
    case 'catalogue': {
      const { variants, parts } = engine.senders();
      return answer({
        version: engine.version(),
        senders: variants,
        parts,
        presets: engine.presets(),
      });
    }
    case 'checkSender':
      return answer(engine.check_sender(sent as string));
    case 'toml':
      return answer(engine.scenario_toml(sent as never));
    case 'settingsOf':
      return answer(engine.settings_of(sent as string));
    case 'check':
      return answer(engine.check(sent as never));
    case 'compare':
      return start(comparing(id, new engine.Comparison(sent as never)));
    case 'record':
      return start(recording(id, new engine.Recording(sent as never)));
    case 'capture': {
      const { name: file, bytes } = sent as { name: string; bytes: Uint8Array };
      capture?.free();
      capture = new engine.Capture(file, bytes);
      return start(reading(id, capture));
    }
    case 'price':
      opened().price();
      return answer(read(opened()));
    case 'capturePlots':
      return answer(opened().plots(sent as number) ?? null);
    case 'capturePath':
      return answer(opened().scenario(sent as number));
  }
}

function start(job: Job) {
  jobs.push({ job, budget: FIRST_BUDGET });
}

function comparing(id: number, comparison: Comparison): Job {
  const invalid = comparison.error();
  return {
    id,
    step(budget) {
      if (invalid !== undefined) return failed(id, invalid);
      const progress = comparison.step(budget);
      if (progress.error !== undefined) return failed(id, progress.error);
      if (!progress.done) {
        post({ kind: 'progress', id, value: progress });
        return false;
      }
      const value = {
        progress,
        json: comparison.json(),
        csv: comparison.csv(),
        result: comparison.result(),
        tables: comparison.tables() ?? [],
      } as Compared;
      post({ kind: 'result', id, value });
      return true;
    },
    free: () => comparison.free(),
  };
}

function recording(id: number, run: Recording): Job {
  const invalid = run.error();
  return {
    id,
    step(budget) {
      if (invalid !== undefined) return failed(id, invalid);
      const state = run.step(budget);
      if (state.error !== undefined) return failed(id, state.error);
      if (!state.done) {
        post({ kind: 'progress', id, value: state.fraction });
        return false;
      }
      const value: Recorded = {
        facts: run.facts(),
        curves: run.curves().map((curve) => ({ ...curve, points: run.curve(curve.name) })),
        events: run.events(),
        packets: run.packets(),
      };
      const buffers = [value.events, value.packets]
        .flatMap((columns) => Object.values(columns) as Float64Array[])
        .concat(value.curves.map((curve) => curve.points))
        .map((column) => column.buffer as ArrayBuffer);
      post({ kind: 'result', id, value }, [...new Set(buffers)]);
      return true;
    },
    free: () => run.free(),
  };
}

/** The capture stays open: its transfers are asked for later. */
function reading(id: number, file: Capture): Job {
  const invalid = file.error();
  return {
    id,
    step(budget) {
      if (invalid !== undefined) return failed(id, invalid);
      const state = file.step(budget);
      if (state.error !== undefined) return failed(id, state.error);
      if (!state.done) {
        post({ kind: 'progress', id, value: state.fraction });
        return false;
      }
      post({ kind: 'result', id, value: read(file) });
      return true;
    },
    free() {},
  };
}

function read(file: Capture): CaptureRead {
  return { result: file.result(), text: file.text(96), transfers: file.transfers() };
}

function opened(): Capture {
  if (!capture) throw new Error('no capture is open');
  return capture;
}

function failed(id: number, error: string): true {
  post({ kind: 'error', id, error });
  return true;
}

function line(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
