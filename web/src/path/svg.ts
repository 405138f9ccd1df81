/** The animation of two lanes as one SVG file that moves by itself: CSS keyframes, no script. */

import { rate } from '../units.ts';
import type { Kind, Trace } from './trace.ts';

export interface SvgLane {
  sender: string;
  goodput: number;
  /** Light and dark. */
  colours: [string, string];
  trace: Trace;
}

const WIDTH = 840;
const LANE = 176;
const TOP = 58;
const BOX = 96;
/** For how long packets cross the path on the screen, in seconds. */
const CROSSING = 3;

/** A mark that moves: when it starts and ends as shares of the whole, and how. */
interface Moving {
  shape: string;
  start: number;
  length: number;
  detour: boolean;
}

/** Returns the file: `seconds` of simulated time from `from` on, again and again. */
export function animatedSvg(
  title: string,
  lanes: readonly SvgLane[],
  from: number,
  seconds: number,
  most: number,
): string {
  const transit = Math.max(Math.min(...lanes.map((lane) => lane.trace.transit)), 1e-6);
  const total = (seconds / transit) * CROSSING;
  const classes = new Map<string, string>();
  const body = lanes.map((lane, at) => {
    const y = TOP + at * LANE;
    return drawn(lane, y, from, seconds, total, most, classes);
  });
  const height = TOP + lanes.length * LANE + 34;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(`${title} ${lanes.map((lane) => `${lane.sender}: ${rate(lane.goodput)}`).join(', ')}`)}">`,
    `<style>${style(lanes, total, classes)}</style>`,
    '<defs><rect id="o" x="-4.5" y="-4.5" width="9" height="9"/><circle id="l" r="5.2"/><path id="r" d="M0-6 5.6 4.5H-5.6Z"/><path id="n" d="M0-7 7 0 0 7-7 0Z"/><path id="a" d="M0-4V4"/><circle id="d" r="3.3"/></defs>',
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="10"/>`,
    `<text x="20" y="34" class="title">${escaped(title)}</text>`,
    ...body,
    legend(height - 16),
    '</svg>',
    '',
  ].join('\n');
}

function drawn(
  lane: SvgLane,
  y: number,
  from: number,
  seconds: number,
  total: number,
  most: number,
  classes: Map<string, string>,
): string {
  const data = y + 112;
  const acks = y + 150;
  const width = Math.max(4, (lane.goodput / most) * 380);
  const marks = moving(lane.trace, from, seconds);
  const group = (wanted: (mark: Moving) => boolean, at: number) =>
    `<g transform="translate(0 ${at})">${marks
      .filter(wanted)
      .map((mark) => element(mark, total, classes))
      .join('')}</g>`;
  const isAck = (mark: Moving) => mark.shape === 'a' || mark.shape === 'd';
  const id = lane.sender.replace(/[^a-z0-9]/g, '');
  const cuts = lane.trace.cuts
    .filter((cut) => cut.time >= from && cut.time < from + seconds)
    .map((cut) => {
      const delay = ((cut.time - from) / seconds - 1) * total;
      return `<text x="16" y="${y + 70}" class="cut" style="animation-delay:${short(delay)}s">slows down</text>`;
    });
  return [
    `<text x="20" y="${y + 24}" class="name s-${id}">${escaped(lane.sender)}</text>`,
    `<rect class="track" x="200" y="${y + 11}" width="380" height="16" rx="4"/>`,
    `<rect class="bar-${id}" x="200" y="${y + 11}" width="${short(width)}" height="16" rx="4"/>`,
    `<text x="592" y="${y + 24}" class="value">${escaped(rate(lane.goodput))}</text>`,
    `<path class="road" d="M${BOX + 14} ${data}H${WIDTH - BOX - 14}"/>`,
    `<path class="back" d="M${BOX} ${acks}H${WIDTH - BOX}"/>`,
    group((mark) => isAck(mark), acks),
    group((mark) => !isAck(mark) && mark.shape === 'o', data),
    group((mark) => !isAck(mark) && mark.shape !== 'o', data),
    `<rect class="end" x="14" y="${y + 80}" width="${BOX - 14}" height="86" rx="8"/>`,
    `<rect class="end" x="${WIDTH - BOX}" y="${y + 80}" width="${BOX - 14}" height="86" rx="8"/>`,
    `<text x="${14 + (BOX - 14) / 2}" y="${y + 127}" class="at">sender</text>`,
    `<text x="${WIDTH - 14 - (BOX - 14) / 2}" y="${y + 127}" class="at">receiver</text>`,
    ...cuts,
  ].join('\n');
}

const SHAPES: Record<Kind, string> = {
  ordered: 'o',
  late: 'l',
  resent: 'r',
  spurious: 'n',
  lost: '',
};

function moving(trace: Trace, from: number, seconds: number): Moving[] {
  const result: Moving[] = [];
  const add = (shape: string, start: number, end: number, detour: boolean) => {
    if (shape === '' || start < from || start >= from + seconds) return;
    const length = Math.min((end - start) / seconds, 0.98);
    result.push({ shape, start: (start - from) / seconds, length, detour });
  };
  for (const packet of trace.packets) {
    if (packet.arrives === null) continue;
    add(SHAPES[packet.kind], packet.starts, packet.arrives, packet.kind === 'late');
  }
  for (const ack of trace.acks) add(ack.duplicate ? 'd' : 'a', ack.left, ack.arrives, false);
  return result;
}

/** Marks that take about as long share their keyframes. */
function element(mark: Moving, total: number, classes: Map<string, string>): string {
  const isAck = mark.shape === 'a' || mark.shape === 'd';
  const steps = Math.max(1, Math.round(mark.length * 200));
  const key = `${isAck ? 'b' : mark.detour ? 'v' : 'f'}${steps}`;
  if (!classes.has(key)) classes.set(key, keyframes(key, steps / 2, isAck, mark.detour));
  const delay = (mark.start - 1) * total;
  return `<use href="#${mark.shape}" class="${mark.shape} ${key}" style="animation-delay:${short(delay)}s"/>`;
}

function keyframes(name: string, percent: number, back: boolean, detour: boolean): string {
  const left = BOX - 20;
  const right = WIDTH - BOX + 20;
  const at = (share: number, y: number) => {
    const x = back ? right - share * (right - left) : left + share * (right - left);
    return `transform:translate(${short(x)}px,${short(y)}px)`;
  };
  const stops = detour ? [0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1] : [0, 1];
  const frames = stops.map((share) => {
    const y = detour ? -62 * Math.sin(Math.PI * share) : 0;
    return `${short(share * percent)}%{${at(share, y)}}`;
  });
  frames.push(`${short(Math.min(percent + 0.01, 100))}%,100%{${at(1, 0)};visibility:hidden}`);
  return `@keyframes ${name}{${frames.join('')}}.${name}{animation-name:${name}}`;
}

function style(lanes: readonly SvgLane[], total: number, classes: Map<string, string>): string {
  const seconds = short(total);
  const modes = (at: 0 | 1) =>
    lanes
      .map((lane) => {
        const id = lane.sender.replace(/[^a-z0-9]/g, '');
        return `.s-${id},.bar-${id}{fill:${lane.colours[at]}}`;
      })
      .join('');
  return [
    'text{font-family:system-ui,-apple-system,"Segoe UI","Liberation Sans",Arial,sans-serif;fill:#1b1f23}',
    '.paper{fill:#fff}.title{font-size:20px;font-weight:650}.name{font-size:16px;font-weight:650}',
    '.value{font-size:16px;font-weight:600}.at,.key{font-size:13px;fill:#5b636b}.at{text-anchor:middle}',
    '.road{stroke:#e3e6e9;stroke-width:14;stroke-linecap:round}.back{stroke:#c9ced3;stroke-dasharray:3 4}',
    '.end{fill:#eef1f4;stroke:#c9ced3}.track{fill:#eef1f4}',
    '.o{fill:#1a6faf}.l{fill:#e0a020;stroke:#1b1f23;stroke-width:1.6}.r{fill:#1b1f23}.n{fill:#c8102e}',
    '.a{stroke:#5b636b;stroke-width:1.6}.d{fill:none;stroke:#b57a00;stroke-width:1.7}',
    modes(0),
    `use{animation-duration:${seconds}s;animation-timing-function:linear;animation-iteration-count:infinite}`,
    `.cut{font-size:14px;font-weight:650;fill:#c8102e;opacity:0;animation:cut ${seconds}s linear infinite}`,
    '@keyframes cut{0%{opacity:1}4%{opacity:1}6%,100%{opacity:0}}',
    [...classes.values()].join(''),
    '@media (prefers-color-scheme:dark){text{fill:#e6e8ea}.paper{fill:#15181b}.at,.key{fill:#a4abb3}',
    '.road{stroke:#2d3237}.back{stroke:#444b52}.end{fill:#20262c;stroke:#444b52}.track{fill:#20262c}',
    '.o{fill:#5aa8e2}.l{fill:#e6ac2e;stroke:#15181b}.r{fill:#e6e8ea}.n,.cut{fill:#ff7a85}.a{stroke:#a4abb3}.d{stroke:#e6ac2e}',
    `${modes(1)}}`,
    '@media (prefers-reduced-motion:reduce){use,.cut{animation-play-state:paused}}',
  ].join('');
}

function legend(y: number): string {
  const entries: [string, string, number][] = [
    ['o', 'in order', 24],
    ['l', 'late: others overtake it', 118],
    ['n', 'resent although nothing was lost', 316],
    ['d', 'duplicate acknowledgement', 576],
  ];
  return entries
    .map(
      ([shape, text, x]) =>
        `<g class="${shape}" transform="translate(${x} ${y - 4})"><use href="#${shape}" style="animation:none"/></g><text x="${x + 13}" y="${y}" class="key">${text}</text>`,
    )
    .join('');
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
