/** Saves the animation as a file. */

import { colourOf } from '../plots/look.ts';
import { bars, facts } from '../state/store.ts';
import { animatedSvg, type SvgLane } from './svg.ts';
import type { Trace } from './trace.ts';

/** Saves the animation of what the page shows. */
export function saveSvg(
  traces: readonly [Trace, Trace],
  shown: readonly [string, string],
  from: number,
) {
  const goodput = (sender: string) =>
    bars.value.find((one) => one.sender === sender)?.goodput_bps ?? 0;
  const most = Math.max(...bars.value.map((one) => (one.goodput_bps ?? 0) / (one.share ?? 1)), 1);
  const lanes = traces.map((trace, at): SvgLane => {
    const sender = shown[at] as string;
    const colours: [string, string] = [colourOf(sender, false), colourOf(sender, true)];
    return { sender, goodput: goodput(sender), colours, trace };
  });
  const transit = Math.min(...traces.map((trace) => trace.transit));
  const [first] = traces;
  const seconds = Math.min(10 * transit, first.to - first.from);
  // A reduction of the window, if there is one, comes within the span.
  const cut = traces
    .flatMap((trace) => trace.cuts.map((one) => one.time))
    .find((time) => time > from + 4 * transit);
  const wanted = cut === undefined ? from : cut - 4 * transit;
  const begin = Math.min(Math.max(wanted, first.from), first.to - seconds);
  const title = facts.value?.title || 'The same path, two senders';
  const text = animatedSvg(title, lanes, begin, seconds, most);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  link.download = 'unruffled-path.svg';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
