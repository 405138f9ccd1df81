/** The choice of the senders that are compared. */

import { useSignal } from '@preact/signals';
import type { Sender } from '../engine/api.ts';
import { colourOf } from '../plots/look.ts';
import { catalogue, checkSender, choose, play } from '../state/store.ts';
import { dark } from '../state/theme.ts';

export function Senders() {
  const list = catalogue.value?.senders ?? [];
  const { senders } = play.value;
  const added = senders.filter((name) => !list.some((one) => one.name === name));
  const toggle = (name: string, on: boolean) =>
    choose(on ? [...senders, name] : senders.filter((one) => one !== name));
  return (
    <details class="senders">
      <summary>
        Choose senders{' '}
        <span class="note">
          {senders.length} of {list.length + added.length}
        </span>
      </summary>
      <fieldset>
        <legend class="hidden">Senders</legend>
        <div class="grid">
          {[...list, ...added.map(plain)].map((one) => {
            const on = senders.includes(one.name);
            return (
              <label key={one.name} class="check" title={one.about}>
                <input
                  type="checkbox"
                  checked={on}
                  disabled={on && senders.length === 1}
                  onChange={(event) => toggle(one.name, event.currentTarget.checked)}
                />
                <i class="swatch" style={{ background: colourOf(one.name, dark.value) }} />
                <span>
                  <b>{one.name}</b>
                  <small>{one.about}</small>
                </span>
              </label>
            );
          })}
        </div>
      </fieldset>
      <Add />
    </details>
  );
}

function plain(name: string): Pick<Sender, 'name' | 'about'> {
  return { name, about: 'with added parts' };
}

/** Adds a sender by its name, such as `rr-ta+cubic`. */
function Add() {
  const error = useSignal('');
  const parts = catalogue.value?.parts ?? [];
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get('name') ?? '').trim();
    if (name === '') return;
    const answer = await checkSender(name);
    error.value = answer.ok ? '' : answer.error;
    if (!answer.ok) return;
    if (!play.value.senders.includes(name)) choose([...play.value.senders, name]);
    form.reset();
  };
  return (
    <form class="add" onSubmit={add}>
      <label>
        Add one with other parts
        <input name="name" placeholder="rr-ta+cubic" autocomplete="off" spellcheck={false} />
      </label>
      <button type="submit">Add</button>
      <p class="note">Parts: {parts.map((part) => `+${part.name}`).join(', ')}</p>
      <p class="problem" role="alert">
        {error.value}
      </p>
    </form>
  );
}
