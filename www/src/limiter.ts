// The limiter that serves this page, where one does.

import { signal } from '@preact/signals';

export interface Limiter {
  /** What its routes begin with; empty for most. */
  api: string;
  version: string;
  /** True when its configuration is wrong, so that it answers nothing. */
  broken: boolean;
}

/** Undefined until it is known, null where the page comes from a plain file server. */
export const limiter = signal<Limiter | null | undefined>(undefined);

async function find(): Promise<Limiter | null> {
  try {
    const response = await fetch(new URL('limiter.json', document.baseURI), { cache: 'no-store' });
    const told: unknown = await response.json();
    if (typeof told !== 'object' || told === null || !('api' in told) || typeof told.api !== 'string') return null;
    const version = 'version' in told && typeof told.version === 'string' ? told.version : '';
    return { api: told.api, version, broken: 'error' in told && told.error === true };
  } catch {
    return null;
  }
}

void find().then((found) => (limiter.value = found));
