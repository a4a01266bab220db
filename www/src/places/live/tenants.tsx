// The books of one tenant.

import { useEffect, useState } from 'preact/hooks';
import { CheckField, SelectField, TextField } from '../../parts/field';
import { Term } from '../../parts/term';
import { AuditView } from './audit';
import { books, idFault, isReading, isWatching, quota, quotaName, quotas, read, refusal, tenant, tenantId } from './books';
import { Faults } from './parts';
import { identityInWords, limitInWords } from './policies';
import { SettingsForm } from './settings';
import { token } from './state';
import { UsageView } from './usage';
import { localTime } from './words';

const EVERY_MS = 5_000;

export function Tenants() {
  return (
    <section class="live-section" aria-labelledby="live-tenants">
      <div class="prose">
        <h2 id="live-tenants">The books of a tenant</h2>
        <p>
          A <Term means="A limit for a day, a week, a month or a year of the calendar, over all points of presence. Never passed, whatever happens.">calendar quota</Term> is
          owned by one Ledger for each <Term means="Whoever has the quota: what the policy’s identity finds in a request, such as an API key.">tenant</Term>. It leases units to PoPs
          and books what becomes of each of them, so that what was granted can always be accounted for.
        </p>
      </div>
      {token.value === null ? <p class="live-note">The books are open to whoever has the token, which is asked for above.</p> : quotas.value.length === 0 ? <NoQuota /> : <Open />}
    </section>
  );
}

function NoQuota() {
  return <p class="live-note" data-quotas="0">This limiter has no policy with <code>algorithm = "calendar-quota"</code>, and only those have tenants with books.</p>;
}

function Open() {
  const chosen = quota.value;
  const [fault, setFault] = useState<string | null>(null);
  useWatch();
  if (!chosen) return null;
  const look = (event: Event) => {
    event.preventDefault();
    const wrong = idFault(tenantId.peek());
    setFault(wrong);
    if (wrong === null) void read({ id: tenantId.peek(), policy: chosen.name });
  };
  const isShown = tenant.value?.id === tenantId.value && tenant.value.policy === chosen.name;
  if (chosen.identity.length > 1) {
    return <><Choice name={chosen.name} /><p class="live-note">{chosen.name} counts by several things at once; such tenants have no books that can be asked for by one name.</p></>;
  }
  return (
    <>
      <form class="live-ask" onSubmit={look}>
        <Choice name={chosen.name} />
        <TextField label={tenantLabel(chosen.identity[0])} value={tenantId.value} error={fault}
          onChange={(value) => (tenantId.value = value)} onInput={(value) => (tenantId.value = value)} />
        <div class="buttons">
          <button type="submit" class="button main" data-do="read">{isShown ? 'Read again' : 'Read the books'}</button>
          {isShown && <CheckField label="Every 5 s" checked={isWatching.value} onChange={(is) => (isWatching.value = is)} />}
        </div>
      </form>
      <Shown />
    </>
  );
}

const tenantLabel = (part = 'tenant'): string => (part === 'tenant' ? 'Tenant' : `Tenant, by ${identityInWords(part)}`);

function Choice({ name }: { name: string }) {
  const chosen = quota.value;
  return <SelectField label="Quota" value={name} options={quotas.value.map((one) => ({ value: one.name, label: one.name }))} onChange={(value) => (quotaName.value = value)} help={chosen && limitInWords(chosen)} />;
}

/** Reads again while that is wanted; not while nobody sees it. */
function useWatch() {
  const isOn = isWatching.value;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => {
      const whose = tenant.peek();
      if (whose && !document.hidden && !isReading.peek()) void read(whose);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isOn]);
}

function Shown() {
  const [whose, open, wrong] = [tenant.value, books.value, refusal.value];
  return (
    <>
      {wrong && <div class="live-refusal" role="alert" data-refusal><p class="error">{wrong.says}</p><Faults faults={wrong.faults} /></div>}
      {whose && open && (
        <div class="live-books" data-tenant-shown aria-busy={isReading.value}>
          <div class="live-books-head">
            <h3><code>{whose.id}</code>, {whose.policy}</h3>
            <p class="quiet">Read at {localTime(open.atMs)}.</p>
          </div>
          <UsageView usage={open.usage} />
          <AuditView audit={open.audit} log={open.log} />
          <SettingsForm key={`${whose.policy} ${whose.id}`} whose={whose} settings={open.settings} log={open.log} />
        </div>
      )}
    </>
  );
}
