/** The scenario as a file, the link that holds it, and the results as files. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { compared, open, play, problem, toml } from '../state/store.ts';
import { toHash } from '../state/url.ts';

export function Scenario() {
  const text = useSignal(toml.value);
  const copied = useSignal('');
  useEffect(() => {
    text.value = toml.value;
  }, [toml.value]);
  const isEdited = text.value !== toml.value;
  const copy = async (what: string, content: string) => {
    try {
      await navigator.clipboard.writeText(content);
      copied.value = `${what} copied`;
    } catch {
      copied.value = 'The browser does not let the page copy; select the text and copy it.';
    }
  };
  const run = () => open({ ...play.value, source: { kind: 'toml', text: text.value } });
  return (
    <section class="scenario" aria-labelledby="scenario-title">
      <h2 id="scenario-title">The scenario</h2>
      <p class="caption">
        <code>unruffled compare FILE.toml</code> gives the same numbers. Any key may be changed here
        as well: press <em>Run this text</em>.
      </p>
      <textarea
        aria-label="Scenario as TOML"
        spellcheck={false}
        rows={Math.min(28, text.value.split('\n').length + 1)}
        value={text.value}
        aria-invalid={problem.value !== null}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <p class="buttons">
        <button type="button" class="primary" disabled={!isEdited} onClick={run}>
          Run this text
        </button>
        <button type="button" onClick={() => copy('Scenario', text.value)}>
          Copy the scenario
        </button>
        <button
          type="button"
          onClick={() =>
            copy(
              'Link',
              location.href.replace(/#.*$/s, '') + toHash({ page: 'play', play: play.value }),
            )
          }
        >
          Copy the link
        </button>
        <button
          type="button"
          disabled={!compared.value}
          onClick={() => save('unruffled.json', 'application/json', compared.value?.json)}
        >
          Results as JSON
        </button>
        <button
          type="button"
          disabled={!compared.value}
          onClick={() => save('unruffled.csv', 'text/csv', compared.value?.csv)}
        >
          as CSV
        </button>
        <span class="note" role="status">
          {copied.value}
        </span>
      </p>
    </section>
  );
}

function save(name: string, type: string, content: string | undefined) {
  if (content === undefined) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
