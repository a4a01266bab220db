import { duration, number, offset } from '../../format';
import { stage, tell } from './state';
import { GROUPS, holds, STORIES, type Claim, type Story } from './stories';

function Choice({ story, isTold }: { story: Story; isTold: boolean }) {
  return (
    <li>
      <button type="button" class="clocks-story" data-story={story.id} aria-pressed={isTold} onClick={() => tell(story)}>{story.title}</button>
    </li>
  );
}

export function Stories() {
  const told = stage.value.told?.story.id;
  return (
    <section class="clocks-stories" aria-labelledby="clocks-stories">
      <h2 id="clocks-stories">Stories</h2>
      {GROUPS.map((group) => (
        <div key={group}>
          <h3>{group}</h3>
          <ul>{STORIES.filter((story) => story.group === group).map((story) => <Choice key={story.id} story={story} isTold={story.id === told} />)}</ul>
        </div>
      ))}
    </section>
  );
}

const shown = (value: Claim['actual'], { unit }: Claim): string => {
  if (typeof value === 'string') return value;
  if (unit === 'ms') return duration(value);
  return unit === 'signed ms' ? offset(value) : number(value);
};

function Row({ claim }: { claim: Claim }) {
  const isTrue = holds(claim);
  const kind = typeof claim.expected === 'string' ? 'num word' : 'num';
  return (
    <tr data-claim={claim.name} data-expected={claim.expected} data-actual={claim.actual} data-holds={String(isTrue)}>
      <th scope="row">{claim.says}</th>
      <td class={kind}>{shown(claim.expected, claim)}</td>
      <td class={kind}><strong>{shown(claim.actual, claim)}</strong></td>
      <td class={isTrue ? 'mark is-exact' : 'mark is-wrong'}><span aria-hidden="true">{isTrue ? '✓' : '≠'}</span><span class="unseen">{isTrue ? 'holds' : 'differs'}</span></td>
    </tr>
  );
}

function note(isChanged: boolean, isPast: boolean): string | null {
  if (isChanged) return 'Measured under the options you chose, and not under the story’s own: what it claims need not hold.';
  return isPast ? 'Measured at the end of the story. You have gone on since.' : null;
}

/** The story that is on show, and its numbers. */
export function Telling() {
  const { told } = stage.value;
  if (!told) {
    return (
      <section class="clocks-telling untold" aria-label="What is on show">
        <p class="prose">Time goes by, and the two clocks agree. Touch them with the buttons below, or take a story: it is played at once, and its numbers are measured here.</p>
      </section>
    );
  }
  const said = note(told.isChanged, told.isPast);
  return (
    <section class="clocks-telling" aria-labelledby="clocks-telling" data-told={told.story.id}>
      <h2 id="clocks-telling">{told.story.title}</h2>
      <p class="text">{told.story.text}</p>
      <table class="clocks-claims">
        <thead><tr><th scope="col">Claim</th><th scope="col" class="num">Claimed</th><th scope="col" class="num">Measured</th><th scope="col"><span class="unseen">Result</span></th></tr></thead>
        <tbody>{told.claims.map((claim) => <Row key={claim.name} claim={claim} />)}</tbody>
      </table>
      {said && <p class="help">{said}</p>}
    </section>
  );
}
