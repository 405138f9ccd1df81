/** Goodput of each sender as a bar, which follows the settings. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { colourOf } from '../plots/look.ts';
import { bars, compared, facts, firstAnswer, play, problem, progress } from '../state/store.ts';
import { dark } from '../state/theme.ts';
import { percent, rate } from '../units.ts';

export function Bars() {
  const list = bars.value;
  const state = progress.value;
  const senders = play.value.senders;
  const undisturbed = undisturbedOf();
  const most = Math.max(...list.map((one) => one.goodput_bps ?? 0), undisturbed ?? 0, 1);
  return (
    <section class="bars" aria-labelledby="bars-title" data-answer={firstAnswer.value ?? ''}>
      <div class="head">
        <h2 id="bars-title">What each sender delivers</h2>
        <span class="note">{statusText()}</span>
      </div>
      <div
        class="progress"
        role="progressbar"
        aria-label="Simulated so far"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((state?.fraction ?? 0) * 100)}
      >
        <i style={{ width: `${(state?.done ? 0 : (state?.fraction ?? 0)) * 100}%` }} />
      </div>
      <ul>
        {senders.map((sender) => {
          const one = list.find((entry) => entry.sender === sender);
          const bps = one?.goodput_bps ?? null;
          return (
            <li
              key={sender}
              data-sender={sender}
              data-goodput={bps ?? ''}
              data-final={String(one?.final ?? false)}
            >
              <span class="name">{sender}</span>
              <span class="track" aria-hidden="true">
                <i
                  style={{
                    width: `${((bps ?? 0) / most) * 100}%`,
                    background: colourOf(sender, dark.value),
                  }}
                />
              </span>
              <span class="value">{bps === null ? '…' : rate(bps)}</span>
              <span class="share">
                {one?.share === null || one?.share === undefined ? '' : percent(one.share)}
              </span>
            </li>
          );
        })}
      </ul>
      {undisturbed !== null && (
        <p class="note">
          In order, with nothing lost, the path delivers {rate(undisturbed)}. Shares are of that.
        </p>
      )}
      <Announcement />
    </section>
  );
}

/** Returns what the path delivers undisturbed, once it is known. */
function undisturbedOf(): number | null {
  const result = compared.value?.result.undisturbed_bps;
  if (result) return result;
  const known = bars.value.find((one) => one.share && one.goodput_bps);
  return known?.share && known.goodput_bps ? known.goodput_bps / known.share : null;
}

function statusText(): string {
  const state = progress.value;
  if (problem.value) return '';
  if (!state) return 'simulating …';
  const seeds = facts.value?.seeds ?? 1;
  if (state.done) return seeds > 1 ? `mean of ${seeds} runs` : 'done';
  return `${Math.round(state.fraction * 100)} % simulated`;
}

/** Tells those who do not see the bars what came out, once a change has settled. */
function Announcement() {
  const text = useSignal('');
  const done = compared.value;
  useEffect(() => {
    if (!done) return;
    const wait = setTimeout(() => {
      text.value = `Results: ${done.progress.estimates
        .map((one) => `${one.sender} ${rate(one.goodput_bps ?? 0)}`)
        .join(', ')}.`;
    }, 600);
    return () => clearTimeout(wait);
  }, [done]);
  return (
    <p class="hidden" role="status" aria-live="polite">
      {text.value}
    </p>
  );
}

/** One sentence on the two senders that are drawn. */
export function Finding() {
  const [left, right] = play.value.shown;
  const of = (name: string) => bars.value.find((one) => one.sender === name);
  const [a, b] = [of(left), of(right)];
  if (problem.value) {
    return (
      <p class="finding problem" role="alert">
        {problem.value}
      </p>
    );
  }
  if (!a?.share || !b?.share) return <p class="finding"> </p>;
  return (
    <p class="finding">
      On this path <b>{left}</b> delivers <b>{percent(a.share)}</b> of what the network can carry,
      and <b>{right}</b> delivers <b>{percent(b.share)}</b>.
    </p>
  );
}
