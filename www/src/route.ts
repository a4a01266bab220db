// Which place is open, and its state, both in the address: `#calendar?zone=Europe%2FParis`.

import { batch, computed, signal } from '@preact/signals';

export const PLACES = ['pops', 'clocks', 'calendar', 'live'] as const;
export type PlaceName = (typeof PLACES)[number];

const hash = signal(location.hash);

/** Grows each time the address is changed by hand or by a link; never by `remember`. */
export const visits = signal(0);

addEventListener('hashchange', () => {
  batch(() => {
    hash.value = location.hash;
    visits.value += 1;
  });
});

function parse(text: string): { place: PlaceName; query: string } {
  const [name = '', query = ''] = text.replace(/^#\/?/, '').split(/\?(.*)/s);
  return { place: PLACES.find((place) => place === name) ?? 'pops', query };
}

const route = computed(() => parse(hash.value));

/** The open place. */
export const place = computed(() => route.value.place);

/** What the address says of the place's state, read when it is opened and when the address is changed by hand. */
export const query = computed(() => route.value.query);

export const linkTo = (name: PlaceName, params?: URLSearchParams): string => {
  const text = params ? readable(params) : '';
  return `#${name}${text && `?${text}`}`;
};

/** Commas and colons need no escape in a fragment, and lists of numbers are easier to read without. */
const readable = (params: URLSearchParams): string =>
  params.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/');

/** Puts a place's state into the address, without a new entry in the history and without telling anybody. */
export function remember(name: PlaceName, params: URLSearchParams): void {
  if (parse(location.hash).place !== name) return;
  history.replaceState(null, '', linkTo(name, params));
}
