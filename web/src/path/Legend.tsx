/** What the shapes on the path mean. */

const ENTRIES = [
  ['in order', <rect key="s" x="4" y="4" width="8" height="8" fill="var(--accent)" />],
  [
    'late: others overtake it',
    <circle
      key="s"
      cx="8"
      cy="8"
      r="4.6"
      fill="var(--amber)"
      stroke="var(--text)"
      stroke-width="1.6"
    />,
  ],
  [
    'resent although nothing was lost',
    <path key="s" d="M8 1.6 14.4 8 8 14.4 1.6 8Z" fill="var(--alert)" />,
  ],
  ['resent after a loss', <path key="s" d="M8 2 14 13H2Z" fill="var(--text)" />],
  ['lost', <path key="s" d="M4 4 12 12M12 4 4 12" stroke="var(--alert)" stroke-width="2" />],
  [
    'arrived, waits for one before it',
    <rect
      key="s"
      x="4.5"
      y="4.5"
      width="7"
      height="7"
      fill="none"
      stroke="var(--accent)"
      stroke-width="1.5"
    />,
  ],
  ['acknowledgement', <path key="s" d="M8 3V13" stroke="var(--muted)" stroke-width="1.8" />],
  [
    'duplicate acknowledgement',
    <circle key="s" cx="8" cy="8" r="3.6" fill="none" stroke="var(--late)" stroke-width="1.8" />,
  ],
] as const;

export function Legend() {
  return (
    <ul class="legend" aria-label="Shapes">
      {ENTRIES.map(([text, shape]) => (
        <li key={text}>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            {shape}
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
