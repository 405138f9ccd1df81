/** Numbers as a reader sees them. */

/** Returns a rate with its unit and three digits, as the tables of the command have it. */
export function rate(bps: number): string {
  const [unit, factor] =
    bps >= 1e9
      ? ['Gb/s', 1e9]
      : bps >= 1e6 || bps === 0
        ? ['Mb/s', 1e6]
        : bps >= 1e5
          ? ['Mb/s', 1e6]
          : ['kb/s', 1e3];
  return `${digits(bps / (factor as number))} ${unit}`;
}

/** Returns about three significant digits. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

/** Returns a share in per cent. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** Returns a number of octets with its unit. */
export function octets(value: number): string {
  if (value >= 1e9) return `${digits(value / 1e9)} GB`;
  if (value >= 1e6) return `${digits(value / 1e6)} MB`;
  if (value >= 1e3) return `${digits(value / 1e3)} kB`;
  return `${value} B`;
}

/** Returns a time with its unit. */
export function time(seconds: number): string {
  const size = Math.abs(seconds);
  if (size >= 1) return `${digits(seconds)} s`;
  if (size >= 1e-3) return `${digits(seconds * 1e3)} ms`;
  return `${digits(seconds * 1e6)} µs`;
}
