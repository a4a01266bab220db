// What is sent, how often, and what comes of it.

import { NumberField, SelectField, TextField, CheckField } from '../../parts/field';
import { Segmented } from '../../parts/segmented';
import { Slider } from '../../parts/slider';
import { Term } from '../../parts/term';
import { count, number } from '../../format';
import { Figures } from './figures';
import { FASTEST, MOST_IN_FLIGHT, MOST_SENT, SLOWEST } from './pacer';
import { Plots } from './plots';
import { examplePaths, identityInWords, limitInWords, onErrorInWords, scopeInWords, type Policy } from './policies';
import { clear, heldBack, isRunning, progress, sendAtOnce, sendAtRate, shown, stop, turn } from './sender';
import { cost, headerName, headerValue, key, keys, mode, path, peek, policies, policy, policyName, rate, target, token } from './state';
import type { Faults } from './target';
import { perSecond, progressInWords } from './words';

export function Desk() {
  return (
    <section class="live-section" aria-labelledby="live-send">
      <h2 id="live-send">Send requests, and watch</h2>
      <div class="live-desk">
        <div class="live-controls">
          <Segmented label="What is sent" options={[{ value: 'gateway', label: 'Requests' }, { value: 'check', label: 'Checks' }]} value={mode}
            help={mode.value === 'gateway'
              ? 'As any client sends them: the limiter’s rules decide, and what they let through goes on to your API, if the limiter has one behind it.'
              : 'The decision alone, as another program asks for it: POST /v1/check. Nothing goes on to your API.'} />
          {mode.value === 'gateway' ? <Request /> : token.value === null ? <p class="live-note">A check needs the token, which is asked for above.</p> : <Check />}
          <Sending />
        </div>
        <div class="live-view">
          <Figures />
          <Plots />
        </div>
      </div>
    </section>
  );
}

const faults = (): Faults => ('faults' in target.value ? target.value.faults : {});

function Request() {
  const wrong = faults();
  const known = examplePaths(policies.value?.rules ?? []);
  return (
    <div class="live-stack">
      <TextField label="Path" value={path.value} error={wrong.path} onChange={(value) => (path.value = value)} {...(known.length > 0 && { options: known })}
        help="GET, on this server." />
      <div class="live-pair">
        <TextField label="Header" value={headerName.value} placeholder="x-api-key" error={wrong.header} onChange={(value) => (headerName.value = value)} />
        <TextField label="Its value" value={headerValue.value} error={wrong.value} onChange={(value) => (headerValue.value = value)} />
      </div>
      <p class="help">
        A header is only needed where a policy counts by one. Its value is not put into the page’s address: it may be a secret.
      </p>
    </div>
  );
}

function Check() {
  const all = policies.value?.policies ?? [];
  const chosen = policy.value;
  if (!chosen) return <p class="live-note">This limiter has no policies.</p>;
  const setKey = (at: number, value: string) => {
    keys.value = { ...keys.peek(), [chosen.identity.join()]: key.peek().map((part, index) => (index === at ? value : part)) };
  };
  return (
    <div class="live-stack">
      <SelectField label="Policy" value={chosen.name} options={all.map(({ name }) => ({ value: name, label: name }))} onChange={(name) => (policyName.value = name)} help={<About policy={chosen} />} />
      {chosen.identity.map((part, at) => (
        <TextField key={`${chosen.name} ${part}`} label={at === 0 ? <>Key: {identityInWords(part)}</> : <>and {identityInWords(part)}</>} value={key.value[at] ?? ''} onChange={(value) => setKey(at, value)} />
      ))}
      <NumberField label={<Term means="How many units one request takes. 0 takes nothing and asks all the same.">Cost</Term>} value={cost.value} min={0} max={Number.MAX_SAFE_INTEGER} onChange={(value) => (cost.value = value)} />
      <CheckField label="Peek" checked={peek.value} onChange={(value) => (peek.value = value)} help="Asks and takes nothing; always answered 200." />
    </div>
  );
}

function About({ policy: of }: { policy: Policy }) {
  const more = [scopeInWords(of), onErrorInWords(of), of.isShadow ? 'a shadow policy: it only reports what it would refuse' : ''].filter(Boolean);
  return <span data-policy={of.name}>{limitInWords(of)}; {more.join('; ')}.</span>;
}

function Sending() {
  const isOn = isRunning() && progress.value?.perSecond !== null;
  const cannot = 'faults' in target.value;
  const now = progress.value;
  void shown.value;
  return (
    <div class="live-stack live-sending">
      <div class="buttons">
        <button type="button" class="button" disabled={cannot} onClick={() => sendAtOnce(1)} data-do="one">Send one</button>
        <button type="button" class="button" disabled={cannot} onClick={() => sendAtOnce(10)} data-do="ten">Ten at once</button>
      </div>
      <Slider label="Rate" value={rate.value} min={SLOWEST} max={FASTEST} step={0.5} text={perSecond}
        onInput={(value) => turn(value)} onChange={(value) => {
          rate.value = value;
          turn(value);
        }} />
      <div class="buttons">
        <button type="button" class="button main live-run" disabled={cannot} onClick={() => (isOn ? stop() : sendAtRate())} data-do="run">
          {isOn ? 'Stop' : `Send ${perSecond(rate.value)}`}
        </button>
        <button type="button" class="button" onClick={clear} data-do="clear">Clear</button>
      </div>
      <p class="live-progress" data-running={isRunning()} data-ended={now?.ended ?? ''} data-sent={now?.sent ?? 0} data-held={heldBack.value} data-in-flight={now?.inFlight ?? 0}>
        {now ? progressInWords(now) : 'Nothing is being sent.'}
      </p>
      <p class="help">
        A run ends by itself after {count(MOST_SENT, 'request')}, when you leave this place and when the tab is hidden. At most {number(MOST_IN_FLIGHT)} are on
        their way at a time; what cannot leave within a second is <Term means="Not sent at all, and counted here. A queue would only make each answer look slow.">held back</Term>.
      </p>
    </div>
  );
}
