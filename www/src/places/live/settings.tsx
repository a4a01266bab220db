// Changes a tenant's limit and calendar, after a second thought.

import { useRef, useState } from 'preact/hooks';
import { CheckField, NumberField } from '../../parts/field';
import { announce } from '../../parts/announce';
import { number } from '../../format';
import { change, type Refusal, type Tenant } from './books';
import { bodyOf, changesInWords, draftOf, periodDraft, periodInWords, type Draft } from './draft';
import type { Entry, Settings } from './ledger';
import { Faults } from './parts';
import { PeriodFields } from './period';

export function SettingsForm({ whose, settings, log }: { whose: Tenant; settings: Settings; log: Entry[] }) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(settings, log));
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  /** What the question is about: a change, or the removal of all settings. */
  const [asks, setAsks] = useState<'change' | 'removal'>('change');
  const dialog = useRef<HTMLDialogElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const ask = (about: 'change' | 'removal') => {
    if (isBusy) return;
    setAsks(about);
    setRefusal(null);
    dialog.current?.showModal();
    leave.current?.focus();
  };
  const confirm = async () => {
    dialog.current?.close();
    setBusy(true);
    const no = await change(whose, asks === 'removal' ? null : bodyOf(whose.policy, draft));
    setBusy(false);
    setRefusal(no);
    if (no === null && asks === 'removal') setDraft({ limit: null, period: null });
    // The button that asked may be gone by now.
    opener.current?.focus();
    announce(no ? no.says : 'The settings were changed.');
  };
  const own = faultOf(refusal);
  return (
    <details class="live-details" data-settings={settings.isConfigured ? 'own' : 'policy'}>
      <summary>Settings: {number(settings.limit)} {periodInWords(periodDraft(settings.period))}; {settings.isConfigured ? 'its own' : 'the policy’s'}</summary>
      <div class="live-settings">
        <CheckField label="A limit of its own" checked={draft.limit !== null} onChange={(is) => setDraft({ ...draft, limit: is ? settings.limit : null })} />
        {draft.limit !== null && <NumberField label="Units per period" value={draft.limit} min={0} max={Number.MAX_SAFE_INTEGER} error={own('limit')} onChange={(limit) => setDraft({ ...draft, limit })} />}
        <CheckField label="A calendar of its own" checked={draft.period !== null} onChange={(is) => setDraft({ ...draft, period: is ? periodDraft(settings.period) : null })} />
        {draft.period && <PeriodFields period={draft.period} faultOf={own} onChange={(period) => setDraft({ ...draft, period })} />}
        {refusal && <div role="alert" data-refusal><p class="error">{refusal.says}</p><Faults faults={refusal.faults} /></div>}
        <div class="buttons">
          <button ref={opener} type="button" class="button" aria-disabled={isBusy} onClick={() => ask('change')} data-do="put">Change the settings…</button>
          {settings.isConfigured && <button type="button" class="button" aria-disabled={isBusy} onClick={() => ask('removal')} data-do="delete">Remove its own…</button>}
        </div>
      </div>
      <dialog ref={dialog} class="live-dialog" aria-labelledby="live-dialog-title">
        <h3 id="live-dialog-title">Change a running limiter?</h3>
        <p>This is about <strong>{whose.policy}</strong> of <code>{whose.id}</code>, for every request from now on.</p>
        <ul>
          {(asks === 'removal' ? changesInWords(settings, { limit: null, period: null }) : changesInWords(settings, draft)).map((line) => <li key={line}>{line}</li>)}
        </ul>
        <p class="quiet">A limit counts from the next ask of each PoP on, which comes within five seconds while it is in use; units that are out may still be spent. Another calendar counts from the end of the open period. What is used stays used.</p>
        <div class="buttons">
          <button type="button" class="button main" onClick={() => void confirm()} data-do="confirm">{asks === 'removal' ? 'Remove them' : 'Change them'}</button>
          <button type="button" class="button" ref={leave} onClick={() => dialog.current?.close()}>Leave them</button>
        </div>
      </dialog>
    </details>
  );
}

const faultOf = (refusal: Refusal | null) => (path: string): string | null => refusal?.faults.find((fault) => fault.path === path)?.detail ?? null;
