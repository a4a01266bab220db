// The stories, and whether their claims hold.

import type { Frame } from '../../simulator';
import { number } from '../../format';
import { STORIES, holds, type Claim, type Story } from './stories';
import type { Store } from './store';

function ClaimLine({ claim, frame, over }: { claim: Claim; frame: Frame; over: boolean }) {
  const value = claim.value(frame);
  const kept = holds(claim, value);
  const [before, after = ''] = claim.says.split('{}');
  const state = over ? (kept ? 'seen' : 'not seen') : 'so far';
  return (
    <li data-claim={claim.name} data-claimed={`${claim.is} ${claim.claimed}`} data-actual={value} data-holds={over ? String(kept) : 'open'}>
      <span class={`tick ${over ? (kept ? 'is-exact' : 'is-wrong') : 'quiet'}`} aria-hidden="true">{over ? (kept ? '✓' : '✗') : '·'}</span>
      <span>{before}<strong>{Number.isNaN(value) ? '–' : number(value)}</strong>{after} <span class="help">({claim.is} {number(claim.claimed)} claimed, {state})</span></span>
    </li>
  );
}

function Claims({ story, frame, over }: { story: Story; frame: Frame; over: boolean }) {
  return (
    <ul class="claims" aria-label="What the run shows">
      {story.claims.map((claim) => <ClaimLine key={claim.name} claim={claim} frame={frame} over={over} />)}
    </ul>
  );
}

export function Stories({ store }: { store: Store }) {
  const story = store.story.value;
  const frame = store.player.frame.value;
  const over = (frame?.now_ms ?? 0) >= store.player.end;
  return (
    <section class="stories" aria-labelledby="stories-title">
      <h2 id="stories-title" class="unseen">Stories</h2>
      <div class="tabs">
        {STORIES.map((one) => (
          <button key={one.name} type="button" class="tab" data-story={one.name} aria-pressed={one === story} onClick={() => {
            store.tell(one);
            store.player.play();
          }}>{one.title}</button>
        ))}
        <span class="tab own" aria-hidden={story ? 'true' : undefined}>{story ? '' : 'Your own run'}</span>
      </div>
      {story && frame && (
        <div class="told">
          <div class="prose">{story.text.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}</div>
          <Claims story={story} frame={frame} over={over} />
        </div>
      )}
    </section>
  );
}
