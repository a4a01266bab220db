// Who serves the page and whether it answers; and the token.

import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from '../../parts/field';
import { isRunning, stop } from './sender';
import { forget, lastAnswerMs, opening, policies, silentSinceMs, token, tokenFault, useToken } from './state';
import { forgetTenant } from './books';
import { Configured } from './configured';
import { localTime } from './words';

export function Access({ version, api }: { version: string; api: string }) {
  return (
    <section class="live-access" aria-label="The limiter, and its token">
      <div class="live-who">
        <h2>sluicegate {version}</h2>
        <p class="quiet">serves this page{api && <>, its own routes below <code>{api}</code></>}.</p>
        <Contact />
      </div>
      <div class="live-token">{token.value === null ? <Ask /> : <Given />}</div>
      {policies.value && <Configured known={policies.value} />}
    </section>
  );
}

function Contact() {
  const [silent, last] = [silentSinceMs.value, lastAnswerMs.value];
  const state = silent !== null ? 'silent' : last === null ? 'unasked' : 'answers';
  return (
    <p class="live-contact" data-contact={state}>
      <svg class="live-mark" viewBox="0 0 12 12" aria-hidden="true">
        {state === 'silent' ? <path d="M2.2 2.2l7.6 7.6M9.8 2.2L2.2 9.8" stroke="currentColor" stroke-width="1.8" /> : <circle cx="6" cy="6" r="3.8" fill={state === 'answers' ? 'currentColor' : 'none'} stroke="currentColor" stroke-width="1.4" />}
      </svg>
      {silent !== null ? `No answer since ${localTime(silent)}.${isRunning() ? ' One request at a time goes out until there is one, ever more rarely.' : ''}` : last === null ? 'Nothing was asked yet.' : `It answers; the last time at ${localTime(last)}.`}
    </p>
  );
}

/** So that the keyboard is where it was when one control takes another's place. */
let moveFocus = false;

function Ask() {
  const [typed, setTyped] = useState('');
  const box = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (moveFocus) box.current?.querySelector('input')?.focus();
    moveFocus = false;
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (opening.peek()) return;
    moveFocus = true;
    await useToken(typed);
    if (token.peek() === null) moveFocus = false;
  };
  return (
    <form ref={box} class="live-token-form" onSubmit={(event) => void submit(event)}>
      <TextField label="Token" type="password" value={typed} error={tokenFault.value} onChange={setTyped} onInput={setTyped}
        help={<>The secret <code>SLUICEGATE_TOKEN</code>; locally it stands in <code>.dev.vars</code>. It opens checks and tenants, and is kept in this page’s memory only.</>} />
      <button type="submit" class="button" aria-disabled={opening.value}>{opening.value ? 'Asking…' : 'Use it'}</button>
    </form>
  );
}

function Given() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (moveFocus) button.current?.focus();
    moveFocus = false;
  }, []);
  return (
    <div class="live-token-given" data-token="given">
      <p><strong>The token was taken.</strong> It is in this page’s memory only; a reload forgets it.</p>
      <button ref={button} type="button" class="button" onClick={() => {
        moveFocus = true;
        stop();
        forgetTenant();
        forget();
      }}>Forget it</button>
    </div>
  );
}
