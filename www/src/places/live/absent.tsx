// What there is where no limiter serves the page, and where one does that cannot work.

import { useState } from 'preact/hooks';
import { TextField } from '../../parts/field';
import { ask, type Asked } from './ask';
import { fieldName, readFields } from './fields';
import { Fields, ProblemWords } from './parts';
import { readProblem } from './problem';

/** No request is made from here. */
export function Absent() {
  return (
    <>
      <section class="live-section prose" data-limiter="absent">
        <h2>No limiter serves this page</h2>
        <p>It came from a plain file server, so there is nobody to ask, and this place asks nobody. The other places need no server.</p>
        <p>To get one, start it from a clone of the project:</p>
        <pre class="live-shell"><code>npm start</code></pre>
        <p>
          It serves the limiter on <code>http://127.0.0.1:8787</code>, and this page with it: open <code>http://127.0.0.1:8787/page/#live</code>.
          A limiter that is deployed serves the page at <code>/page/</code> too, below its <code>prefix</code> if it has one.
        </p>
        <p>There you can send requests at a rate of your own, see each decision with the numbers that it rests on, and with the token look into the books of every tenant.</p>
      </section>
      <ByHand />
    </>
  );
}

const EXAMPLES = {
  'ratelimit-policy': '"per-ip";q=60;w=60, "monthly";q=1000;sluicegate-period="month"',
  ratelimit: '"per-ip";r=59;t=20, "monthly";r=0;t=86400',
  'retry-after': '86400',
};

/** Header fields that were copied from somewhere, in words: this needs no server. */
function ByHand() {
  const [typed, setTyped] = useState<Record<string, string>>(EXAMPLES);
  const names = Object.keys(EXAMPLES);
  const given = names.flatMap((name): [string, string][] => (typed[name]?.trim() ? [[name, typed[name].trim()]] : []));
  return (
    <section class="live-section" aria-labelledby="live-by-hand">
      <div class="prose">
        <h2 id="live-by-hand">Read an answer by hand</h2>
        <p>What a limited API tells its clients stands in three header fields. Paste those of an answer that you have got.</p>
      </div>
      <div class="live-by-hand">
        <div class="live-stack">
          {names.map((name) => (
            <TextField key={name} label={fieldName(name)} value={typed[name] ?? ''} onChange={(value) => setTyped({ ...typed, [name]: value })} onInput={(value) => setTyped({ ...typed, [name]: value })} />
          ))}
        </div>
        <Fields readings={readFields(given).known} />
      </div>
    </section>
  );
}

export function Broken({ api, version }: { api: string; version: string }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isAsking, setAsking] = useState(false);
  const look = async () => {
    setAsking(true);
    setAsked(await ask({ method: 'GET', path: `${api}/healthz` }));
    setAsking(false);
  };
  return (
    <section class="live-section" data-limiter="broken">
      <div class="prose">
        <h2>The configuration of this limiter is wrong</h2>
        <p>
          sluicegate {version} serves this page, and answers every request with 503 until its configuration is right: a wrong rule never means “no limit”.
          So there is nothing to look into yet. <code>GET {api}/healthz</code> says what is wrong.
        </p>
        <p><button type="button" class="button main" disabled={isAsking} onClick={() => void look()}>{asked ? 'Ask again' : 'Ask what is wrong'}</button></p>
      </div>
      <div role="status">{asked && <Health asked={asked} />}</div>
    </section>
  );
}

function Health({ asked: { answer } }: { asked: Asked }) {
  if (!answer) return <p class="error">It did not answer.</p>;
  const problem = readProblem(answer.body);
  if (problem) return <ProblemWords problem={problem} status={answer.status} />;
  return answer.status === 200
    ? <p>It is right now: HTTP 200. Reload the page.</p>
    : <p class="error">It answered HTTP {answer.status}, without a word why.</p>;
}
