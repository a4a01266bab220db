// One tenant's quota: what was asked about it, and what came.

import { computed, signal } from '@preact/signals';
import { fieldOf, nowMs, type Answer, type Question } from './ask';
import type { Members } from './json';
import { readAudit, readLog, readSettings, readUsage, type Audit, type Entry, type Settings, type Usage } from './ledger';
import { inOneLine, readProblem, type Fault } from './problem';
import { api, askLimiter, policies, token } from './state';

export interface Tenant {
  id: string;
  policy: string;
}

export interface Books {
  usage: Usage;
  audit: Audit;
  log: Entry[];
  settings: Settings;
  atMs: number;
}

export interface Refusal {
  says: string;
  faults: Fault[];
}

export const quotas = computed(() => (policies.value?.policies ?? []).filter(({ algorithm }) => algorithm === 'calendar-quota'));
export const tenantId = signal('');
export const quotaName = signal('');
export const quota = computed(() => quotas.value.find(({ name }) => name === quotaName.value) ?? quotas.value[0] ?? null);

/** Whose books are shown; null while none are. */
export const tenant = signal<Tenant | null>(null);
export const books = signal<Books | null>(null);
export const refusal = signal<Refusal | null>(null);
export const isReading = signal(false);
export const isWatching = signal(false);

const TOO_LONG = 1_024;

/** What is wrong with a tenant's id, before anybody is asked. */
export function idFault(id: string): string | null {
  if (id.trim() === '') return 'which tenant?';
  if (new TextEncoder().encode(id).length > TOO_LONG) return `1,024 bytes is the most`;
  // A URL takes these for steps in a path, however they are written.
  return id === '.' || id === '..' ? 'a browser cannot ask for this one' : null;
}

const route = ({ id, policy }: Tenant, place = ''): string => `${api()}/v1/tenants/${encodeURIComponent(id)}${place}?policy=${encodeURIComponent(policy)}`;

async function tell(question: Question): Promise<Answer | null> {
  const { answer } = await askLimiter({ ...question, token: token.peek() });
  return answer;
}

export function refused(answer: Answer | null): Refusal {
  if (!answer) return { says: 'The limiter did not answer.', faults: [] };
  const problem = readProblem(answer.body);
  const retry = fieldOf(answer, 'retry-after');
  return { says: inOneLine(problem, answer.status) + (retry === null ? '' : ` Again in ${retry} s.`), faults: problem?.faults ?? [] };
}

let asking = 0;

/** Reads everything about the tenant, or says why not. What was shown before stays until then. */
export async function read(whose: Tenant): Promise<void> {
  const own = ++asking;
  isReading.value = true;
  const places = ['/usage', '/audit', '/log', ''] as const;
  const answers = await Promise.all(places.map((place) => tell({ method: 'GET', path: route(whose, place) })));
  // Another tenant was asked for, or the token forgotten.
  if (own !== asking) return;
  isReading.value = false;
  const [usage, audit, log, settings] = answers;
  const read = { usage: readUsage(usage?.body), audit: readAudit(audit?.body), settings: readSettings(settings?.body) };
  if (read.usage && read.audit && read.settings) {
    tenant.value = whose;
    books.value = { usage: read.usage, audit: read.audit, settings: read.settings, log: readLog(log?.body, whose.policy), atMs: nowMs() };
    refusal.value = null;
    return;
  }
  refusal.value = refused(answers.find((answer) => answer?.status !== 200) ?? null);
  const isSame = tenant.peek()?.id === whose.id && tenant.peek()?.policy === whose.policy;
  if (!isSame) close();
}

/** Puts settings, or removes them; null when that was done. */
export async function change(whose: Tenant, body: Members | null): Promise<Refusal | null> {
  const answer = await tell(body ? { method: 'PUT', path: route(whose), json: body } : { method: 'DELETE', path: route(whose) });
  if (answer?.status !== 200 && answer?.status !== 204) return refused(answer);
  await read(whose);
  return null;
}

function close(): void {
  tenant.value = null;
  books.value = null;
  isWatching.value = false;
}

export function forgetTenant(): void {
  asking += 1;
  isReading.value = false;
  close();
  refusal.value = null;
  tenantId.value = '';
}
