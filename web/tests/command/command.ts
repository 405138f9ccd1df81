/** The command that the page is compared with. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export const command = resolve(
  import.meta.dirname,
  '../..',
  process.env.UNRUFFLED ?? `${process.env.CARGO_TARGET_DIR ?? '../target'}/debug/unruffled`,
);

export const isThere = existsSync(command);

/** Runs the command and returns what it prints. */
export function run(words: readonly string[], cwd?: string): string {
  return execFileSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd ? { cwd } : {}),
  });
}

interface Variant {
  variant: string;
  share_of_undisturbed: { mean: number };
}

/** Returns the share of the undisturbed path that each sender delivers, in per cent. */
export function shares(words: readonly string[]): Record<string, number> {
  const printed = JSON.parse(run(['compare', ...words, '--json', '--no-report']));
  const variants: Variant[] = printed.variants;
  return Object.fromEntries(
    variants.map((one) => [one.variant, one.share_of_undisturbed.mean * 100]),
  );
}
