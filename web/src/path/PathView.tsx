/** The path, animated: two senders over the same path, with the same random numbers. */

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Recorded } from '../engine/protocol.ts';
import { colourOf } from '../plots/look.ts';
import { bars, lookFrom, play, recorded, show } from '../state/store.ts';
import { dark, inks, reducedMotion } from '../state/theme.ts';

import { rate } from '../units.ts';
import { drawLane, frameOf } from './draw.ts';
import { Legend } from './Legend.tsx';
import { saveSvg } from './save.ts';
import { describe, nextEvent, type Scene, sceneAt } from './scene.ts';
import { derive, type Trace } from './trace.ts';

const SPEEDS = [4, 2, 1, 0.5, 0.25];
/** How long a packet takes to cross the path on the screen, in seconds, at the usual speed. */
const CROSSING = 2.6;

function traceOf(value: Recorded | null): Trace | null {
  if (!value) return null;
  const cwnd = value.curves.find((curve) => curve.name === 'cwnd')?.points;
  return derive(value.packets, value.events, value.facts, cwnd);
}

export function PathView() {
  const [first, second] = recorded.value;
  const left = useMemo(() => traceOf(first ?? null), [first?.packets, first?.curves]);
  const right = useMemo(() => traceOf(second ?? null), [second?.packets, second?.curves]);
  const traces = [left, right];
  const span = left ?? right;
  const playing = useSignal(!reducedMotion.value);
  const speed = useSignal(1);
  const now = useSignal(0);
  const announced = useSignal('');
  const canvases = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const from = span?.from ?? 0;
  const to = span?.to ?? 1;
  // One speed for both lanes, by the path and not by the sender.
  const transit = Math.max(Math.min(left?.transit ?? 9, right?.transit ?? 9), 1e-6);
  const pace = (transit / CROSSING) * speed.value;
  // Steps differ in the last digit.
  const decimals = Math.min(9, Math.max(3, Math.ceil(-Math.log10(transit / 500))));

  useEffect(() => {
    if (now.value < from || now.value > to)
      now.value = from + Math.min(2 * transit, (to - from) / 4);
  }, [from, to]);

  const sceneOf = (trace: Trace | null): Scene | null =>
    trace ? sceneAt(trace, Math.min(Math.max(now.value, trace.from), trace.to)) : null;

  useEffect(() => {
    let last = 0;
    let frame = 0;
    const paint = () => {
      for (const lane of [0, 1] as const) {
        const canvas = canvases[lane]?.current;
        if (canvas) paintLane(canvas, sceneOf(traces[lane] ?? null), play.value.shown[lane]);
      }
    };
    const tick = (at: number) => {
      const passed = Math.min((at - last) / 1000, 0.1);
      last = at;
      if (playing.value && span) {
        const next = now.value + passed * pace;
        now.value = next > to ? from : next;
      }
      paint();
      if (playing.value) frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame((at) => {
      last = at;
      tick(at);
    });
    const resized = new ResizeObserver(paint);
    for (const canvas of canvases) if (canvas.current) resized.observe(canvas.current);
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
    };
  }, [left, right, playing.value, pace, playing.value ? 0 : now.value, dark.value]);

  const describeBoth = () =>
    traces
      .map((trace, lane) => {
        const scene = sceneOf(trace);
        return scene ? describe(play.value.shown[lane] as string, scene) : '';
      })
      .join(' ');
  const pause = () => {
    playing.value = false;
    announced.value = describeBoth();
  };
  const step = (backwards: boolean) => {
    playing.value = false;
    const times = traces.flatMap((trace) =>
      trace ? [nextEvent(trace, now.value, backwards)] : [],
    );
    if (times.length === 0) return;
    now.value = backwards ? Math.max(...times) : Math.min(...times);
    announced.value = describeBoth();
  };

  return (
    <section class="path" aria-labelledby="path-title">
      <h2 id="path-title" class="hidden">
        The packets on the path
      </h2>
      {[0, 1].map((lane) => (
        <Lane
          key={lane}
          lane={lane as 0 | 1}
          canvas={canvases[lane] as preact.RefObject<HTMLCanvasElement>}
          label={describe(play.value.shown[lane] as string, sceneOf(traces[lane] ?? null) ?? EMPTY)}
          live={!playing.value}
          ready={traces[lane] !== null}
        />
      ))}
      <Legend />
      <div class="transport">
        <button
          type="button"
          class="round"
          onClick={() => {
            if (playing.value) pause();
            else playing.value = true;
          }}
          aria-label={playing.value ? 'Pause' : 'Play'}
        >
          <Icon name={playing.value ? 'pause' : 'play'} />
        </button>
        <button type="button" class="round" onClick={() => step(true)} aria-label="One step back">
          <Icon name="back" />
        </button>
        <button type="button" class="round" onClick={() => step(false)} aria-label="One step on">
          <Icon name="step" />
        </button>
        <label class="grow">
          <span class="hidden">Time</span>
          <input
            type="range"
            min={from}
            max={to}
            step={(to - from) / 2000 || 0.001}
            value={now.value}
            aria-valuetext={`${now.value.toFixed(decimals)} s`}
            onInput={(event) => {
              playing.value = false;
              now.value = Number(event.currentTarget.value);
              announced.value = describeBoth();
            }}
          />
        </label>
        <output class="clock" data-at={now.value}>
          {now.value.toFixed(decimals)} s
        </output>
        <label class="inline">
          Speed
          <select
            value={String(speed.value)}
            onChange={(event) => {
              speed.value = Number(event.currentTarget.value);
            }}
          >
            {SPEEDS.map((factor) => (
              <option key={factor} value={String(factor)}>
                {slower((transit / CROSSING) * factor)}
              </option>
            ))}
          </select>
        </label>
        <label class="inline">
          From
          <input
            type="number"
            class="short"
            min={0}
            step={1}
            value={lookFrom.value ?? Number(from.toFixed(2))}
            aria-label="Second of the run from which packets are drawn"
            onChange={(event) => {
              const value = Number(event.currentTarget.value);
              lookFrom.value = Number.isFinite(value) && value >= 0 ? value : null;
            }}
          />
          s
        </label>
        <button
          type="button"
          class="quiet"
          disabled={!left || !right}
          onClick={() => {
            if (left && right) saveSvg([left, right], play.value.shown, now.value);
          }}
        >
          Save as SVG
        </button>
      </div>
      <p class="hidden" role="status">
        {announced.value}
      </p>
    </section>
  );
}

function Lane(props: {
  lane: 0 | 1;
  canvas: preact.RefObject<HTMLCanvasElement>;
  label: string;
  live: boolean;
  ready: boolean;
}) {
  const { lane } = props;
  const { senders, shown } = play.value;
  return (
    <div class="lane">
      <div class="lane-head">
        <span class="swatch" style={{ background: colourOf(shown[lane], dark.value) }} />
        <select
          value={shown[lane]}
          aria-label={`Sender of the ${lane === 0 ? 'first' : 'second'} lane`}
          onChange={(event) => show(lane, event.currentTarget.value)}
        >
          {senders.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <output class="lane-rate">{rateOf(shown[lane])}</output>
        {!props.ready && <span class="note">simulating …</span>}
      </div>
      <canvas
        ref={props.canvas}
        role="img"
        aria-label={props.live ? props.label : `Packets of ${shown[lane]} on the path, moving`}
      />
    </div>
  );
}

function rateOf(sender: string): string {
  const bps = bars.value.find((one) => one.sender === sender)?.goodput_bps ?? null;
  return bps === null ? '' : rate(bps);
}

const EMPTY: Scene = {
  time: 0,
  queued: [],
  data: [],
  acks: [],
  gate: [],
  held: [],
  gone: [],
  cwnd: null,
  cut: null,
  counts: { sent: 0, delivered: 0, late: 0, lost: 0, resent: 0, spurious: 0 },
};

function paintLane(canvas: HTMLCanvasElement, scene: Scene | null, sender: string) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawLane(
    context,
    frameOf(width, height),
    scene ?? EMPTY,
    inks.value,
    colourOf(sender, dark.value),
  );
}

/** Returns how much slower than in reality something moves. */
function slower(pace: number): string {
  if (pace >= 1) return `${Number(pace.toPrecision(2))}× faster`;
  const factor = 1 / pace;
  return `${factor >= 10 ? Number(factor.toPrecision(2)) : factor.toFixed(1)}× slower`;
}

function Icon({ name }: { name: 'play' | 'pause' | 'back' | 'step' }) {
  const paths = {
    play: 'M5 3l9 5-9 5z',
    pause: 'M4 3h3v10H4zM9 3h3v10H9z',
    step: 'M3 3l7 5-7 5zM11 3h2.4v10H11z',
    back: 'M13 3L6 8l7 5zM2.6 3H5v10H2.6z',
  };
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} fill="currentColor" />
    </svg>
  );
}
