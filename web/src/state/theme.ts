/** Light or dark: as the system has it, or as the reader chose. */

import { computed, effect, signal } from '@preact/signals';
import type { Inks } from '../path/draw.ts';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'unruffled-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(system.matches);
system.addEventListener('change', (event) => {
  systemDark.value = event.matches;
});

export const theme = signal<Theme>(stored());
export const dark = computed(() =>
  theme.value === 'system' ? systemDark.value : theme.value === 'dark',
);

effect(() => {
  document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
});

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    if (value === 'light' || value === 'dark') return value;
  } catch {
    // As above.
  }
  return 'system';
}

/** Returns the colours of the style sheet, for what is drawn on a canvas. */
export const inks = computed<Inks>(() => {
  // Read again when the theme changes.
  void dark.value;
  const style = getComputedStyle(document.documentElement);
  const ink = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: ink('paper'),
    text: ink('text'),
    muted: ink('muted'),
    grid: ink('grid'),
    shade: ink('shade'),
    alert: ink('alert'),
    accent: ink('accent'),
    late: ink('late'),
    amber: ink('amber'),
    good: ink('good'),
  };
});

/** Whether the system asks for less motion. */
export const reducedMotion = signal(matchMedia('(prefers-reduced-motion: reduce)').matches);
matchMedia('(prefers-reduced-motion: reduce)').addEventListener('change', (event) => {
  reducedMotion.value = event.matches;
});
