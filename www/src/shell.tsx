// What surrounds the places: head, navigation, theme, foot.

import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { loadEngine } from './engine';
import { limiter } from './limiter';
import { once, styleSheet } from './load';
import { Segmented } from './parts/segmented';
import { loadSimulator } from './simulator';
import { linkTo, place, PLACES, type PlaceName } from './route';
import { theme, THEMES } from './theme';
import { Pops } from './places/pops/pops';

const TITLES: Record<PlaceName, string> = { pops: 'Many PoPs', clocks: 'Two clocks', calendar: 'Calendar', live: 'Live' };

const styleOf = { clocks: once(() => styleSheet('clocks.css')), calendar: once(() => styleSheet('calendar.css')), live: once(() => styleSheet('live.css')) };

/** The first view comes with the page, the others when they are opened; each with the wasm that it needs. */
const OPEN: Record<PlaceName, () => Promise<ComponentType>> = {
  pops: () => loadSimulator().then(() => Pops),
  clocks: () => Promise.all([import('./places/clocks/clocks'), loadEngine(), styleOf.clocks()]).then(([{ Clocks }]) => Clocks),
  calendar: () => Promise.all([import('./places/calendar/calendar'), loadEngine(), styleOf.calendar()]).then(([{ Calendar }]) => Calendar),
  live: () => Promise.all([import('./places/live/live'), styleOf.live()]).then(([{ Live }]) => Live),
};

const places = signal<Partial<Record<PlaceName, ComponentType>>>({});
const failure = signal<string | null>(null);

const fail = (error: unknown) => (failure.value = error instanceof Error ? error.message : String(error));

async function open(name: PlaceName) {
  // What failed was another place, or is tried again.
  failure.value = null;
  if (places.peek()[name]) return;
  try {
    const component = await OPEN[name]();
    places.value = { ...places.peek(), [name]: component };
  } catch (error) {
    fail(error);
  }
}

function Open() {
  const name = place.value;
  useEffect(() => {
    document.title = `${TITLES[name]} – sluicegate`;
    void open(name);
  }, [name]);
  const Place = places.value[name];
  if (failure.value) return <p class="notice" role="alert">The page could not be loaded whole: {failure.value}. Reload it to try again.</p>;
  return Place ? <Place /> : <p class="notice" role="status">Loading the limiter…</p>;
}

function Served() {
  const served = limiter.value;
  if (!served) return <span>Served as plain files. </span>;
  return <span>Served by sluicegate {served.version}. </span>;
}

export function Shell() {
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById('main')?.focus();
      }}>Skip to the content</a>
      <header class="head">
        <a class="wordmark" href={linkTo('pops')}>
          <svg viewBox="0 0 32 32" aria-hidden="true"><path d="M4 6v20M28 6v20M10 6v12M16 6v12M22 6v12M4 24h24" /></svg>
          sluicegate
        </a>
        <nav aria-label="Places">
          {PLACES.map((name) => (
            <a key={name} href={linkTo(name)} aria-current={place.value === name ? 'page' : undefined}>{TITLES[name]}</a>
          ))}
        </nav>
        <Segmented label="Colours" hideLabel options={THEMES.map((value) => ({ value, label: value }))} value={theme} small />
      </header>
      <main id="main" tabIndex={-1}>
        <Open />
      </main>
      <footer class="foot">
        <p><Served />Everything on this page is computed in your browser or by that server; nothing comes from anywhere else.
          Dual licence MIT and Apache-2.0; <a href="licenses.txt">licences of what is bundled</a>.</p>
      </footer>
    </>
  );
}
