// One request to the limiter that serves the page. It never throws: no answer is an answer too.

export interface Question {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the page's own origin. */
  path: string;
  token?: string | null | undefined;
  headers?: readonly (readonly [string, string])[];
  json?: unknown;
}

export interface Answer {
  status: number;
  fields: [string, string][];
  /** What is in the body, where it is JSON. */
  body: unknown;
  /** The origin sent the client elsewhere; where, a page cannot see. */
  redirects: boolean;
}

export interface Asked {
  /** Null when none came in time. */
  answer: Answer | null;
  /** Until the header fields were there. */
  latencyMs: number;
  /** When it was over, on a clock that never goes back. */
  endMs: number;
}

export const TIME_LIMIT_MS = 10_000;
/** Of a larger body nothing is made. */
const MOST_BYTES = 256 * 1024;

/** The time, as it was when the page was opened and what has passed since: no step of the clock moves it. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

export async function ask({ method, path, token, headers = [], json }: Question): Promise<Asked> {
  const startMs = performance.now();
  const done = (answer: Answer | null, atMs = performance.now()): Asked => ({ answer, latencyMs: atMs - startMs, endMs: nowMs() });
  try {
    const sent = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
    if (token) sent.set('authorization', `Bearer ${token}`);
    if (json !== undefined) sent.set('content-type', 'application/json');
    const response = await fetch(path, {
      method,
      headers: sent,
      body: json === undefined ? null : JSON.stringify(json),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'manual',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
    const atMs = performance.now();
    const redirects = response.type === 'opaqueredirect';
    return done({ status: response.status, fields: [...response.headers], body: await jsonOf(response), redirects }, atMs);
  } catch {
    return done(null);
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  try {
    const text = isJson ? await beginning(response) : null;
    if (text !== null) return JSON.parse(text);
    await response.body?.cancel();
  } catch {
    // Half a body says as much as none.
  }
  return null;
}

/** The whole of a body; null when it is too large, and then the rest is not read. */
async function beginning(response: Response): Promise<string | null> {
  const reader = response.body?.getReader();
  if (!reader) return null;
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MOST_BYTES) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

export const fieldOf = (answer: Answer, name: string): string | null => answer.fields.find(([given]) => given.toLowerCase() === name)?.[1] ?? null;
