// Header fields and problems, part by part: the text as it stands there, and what it says.

import type { ComponentChildren } from 'preact';
import type { FieldReading, Part } from './fields';
import { refusalInWords, typeInWords, type Fault, type Problem } from './problem';

export function Parts({ parts }: { parts: readonly Part[] }) {
  return (
    <dl class="live-parts">
      {parts.map((part, at) => (
        <div key={`${at} ${part.text}`} data-part={part.text}>
          <dt><code>{part.text}</code></dt>
          <dd>{part.says}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Fields({ readings }: { readings: readonly FieldReading[] }) {
  return (
    <ul class="live-fields">
      {readings.map((reading) => <Field key={reading.name} reading={reading} />)}
    </ul>
  );
}

function Field({ reading: { name, value, items, isStructured, fault } }: { reading: FieldReading }) {
  return (
    <li data-field={name}>
      <p class="live-raw"><code><b>{name}:</b> {value}</code></p>
      {fault && <p class="error">A client cannot read this: {fault}.</p>}
      {isStructured ? items.map((parts, at) => <Parts key={at} parts={parts} />) : <p class="live-says">{items[0]?.[0]?.says}</p>}
    </li>
  );
}

export function ProblemWords({ problem, status }: { problem: Problem; status: number }) {
  const said = (text: string, says: ComponentChildren) => (
    <div data-part={text}>
      <dt><code>{text}</code></dt>
      <dd>{says}</dd>
    </div>
  );
  return (
    <div class="live-problem" data-problem={problem.refusal ?? ''}>
      {problem.detail && <p><strong>{problem.title ?? `HTTP ${status}`}.</strong> {problem.detail}</p>}
      <dl class="live-parts">
        {said(`"type":"${problem.type}"`, typeInWords(problem.type))}
        {said(`"status":${problem.status ?? status}`, 'the status again, for whoever has only the body')}
        {problem.violated.length > 0 && said(`"violated-policies":${JSON.stringify(problem.violated)}`, problem.violated.length === 1 ? 'the policy that refuses' : 'the policies that refuse')}
        {problem.refusal && said(`"refusal":"${problem.refusal}"`, refusalInWords(problem.refusal))}
      </dl>
      <Faults faults={problem.faults} />
    </div>
  );
}

/** Everything that is wrong with what was sent, each with its path. */
export function Faults({ faults }: { faults: readonly Fault[] }) {
  if (faults.length === 0) return null;
  return (
    <ul class="live-faults">
      {faults.map(({ path, detail }, at) => <li key={at} data-path={path ?? ''}>{path && <code>{path}</code>} {detail}</li>)}
    </ul>
  );
}
