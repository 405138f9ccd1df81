/** A lesson: a paragraph, and a path on which it can be seen. */

import { useEffect } from 'preact/hooks';
import { PathView } from '../path/PathView.tsx';
import { open, play, route } from '../state/store.ts';
import { LESSONS } from '../texts/lessons.ts';
import { Bars, Finding } from './Bars.tsx';

export function Lesson() {
  const id = route.value.page === 'lesson' ? route.value.lesson : '';
  const at = Math.max(
    0,
    LESSONS.findIndex((one) => one.id === id),
  );
  const lesson = LESSONS[at] as (typeof LESSONS)[number];
  useEffect(() => {
    play.value = lesson.play;
    scrollTo(0, 0);
  }, [lesson]);
  const next = LESSONS[at + 1];
  const before = LESSONS[at - 1];
  return (
    <div class="lesson">
      <nav aria-label="Lessons">
        <ol>
          {LESSONS.map((one) => (
            <li key={one.id}>
              <a
                href={`#/lessons/${one.id}`}
                aria-current={one.id === lesson.id ? 'page' : undefined}
              >
                {one.title}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <article>
        <h1>{lesson.title}</h1>
        <p class="lead">{lesson.text}</p>
        <p class="caption">
          <b>The path below:</b> {lesson.watch}
        </p>
        <Finding />
        <PathView />
        <Bars />
        <p class="buttons">
          {before && <a href={`#/lessons/${before.id}`}>← {before.title}</a>}
          <button type="button" class="primary" onClick={() => open(play.value)}>
            Open in the playground
          </button>
          {next && <a href={`#/lessons/${next.id}`}>{next.title} →</a>}
        </p>
      </article>
    </div>
  );
}
