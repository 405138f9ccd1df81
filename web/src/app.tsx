/** The frame of the page: its parts, and the choice of light and dark. */

import { useEffect } from 'preact/hooks';
import { broken, catalogue, play, route } from './state/store.ts';
import { type Theme, theme } from './state/theme.ts';
import { toHash } from './state/url.ts';
import { LESSONS } from './texts/lessons.ts';
import { Capture } from './views/Capture.tsx';
import { Lesson } from './views/Lesson.tsx';
import { Playground } from './views/Playground.tsx';

const THEMES: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' };

export function App() {
  const { page } = route.value;
  useEffect(() => {
    const names = { play: 'Playground', lesson: 'Lessons', capture: 'Your capture' };
    document.title = `${names[page]} · Unruffled`;
  }, [page]);
  const link = (target: typeof page, href: string, text: string) => (
    <a href={href} aria-current={page === target ? 'page' : undefined}>
      {text}
    </a>
  );
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the contents
      </button>
      <header class="top">
        <div class="inner">
          <span class="brand">
            <img src="./icon.svg" alt="" width="26" height="26" />
            Unruffled
          </span>
          <nav aria-label="Pages">
            {link('play', toHash({ page: 'play', play: play.value }), 'Playground')}
            {link('lesson', `#/lessons/${LESSONS[0]?.id}`, 'Lessons')}
            {link('capture', '#/capture', 'Your capture')}
          </nav>
          <label class="theme">
            <span class="hidden">Colours</span>
            <select
              value={theme.value}
              onChange={(event) => {
                theme.value = event.currentTarget.value as Theme;
              }}
            >
              {(Object.keys(THEMES) as Theme[]).map((one) => (
                <option key={one} value={one}>
                  {THEMES[one]}
                </option>
              ))}
            </select>
          </label>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {broken.value ? (
          <p class="problem" role="alert">
            The simulator does not start in this browser: {broken.value}
          </p>
        ) : page === 'capture' ? (
          <Capture />
        ) : page === 'lesson' ? (
          <Lesson />
        ) : (
          <Playground />
        )}
      </main>
      <footer>
        <p>
          Everything is computed in this browser, by the engine of the command{' '}
          <code>unruffled</code>
          {catalogue.value && ` ${catalogue.value.version}`}. The page opens no connection.
        </p>
      </footer>
    </>
  );
}

/** The address after # is the page's own, so that a link cannot move the focus. */
function skip() {
  document.getElementById('main')?.focus();
}
