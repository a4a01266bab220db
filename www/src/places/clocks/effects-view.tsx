import { effectOn, effectWords, happenedText } from './effects';
import { LOOKS, REAL } from './lanes';
import { stage } from './state';

/** What just happened to each limiter. */
export function Effects() {
  const { run } = stage.value;
  const { touched } = run;
  return (
    <section class="clocks-effects" aria-labelledby="clocks-effects">
      <h2 id="clocks-effects">{touched ? touched.events.map(happenedText).join(', then ').replace(/, then (.)/g, (_, letter: string) => `, then ${letter.toLowerCase()}`) : 'What just happened'}</h2>
      {touched ? (
        <dl>
          {REAL.map((lane) => {
            const effect = effectOn(run, touched, lane);
            return (
              <div key={lane} class={`is-${lane}`} data-effect={lane} data-excess={effect.excessMs} data-asked={effect.asked}>
                <dt>{LOOKS[lane].title}</dt>
                <dd>{effectWords(effect, touched.events).map((words) => <p key={words}>{words}</p>)}</dd>
              </div>
            );
          })}
        </dl>
      ) : <p class="quiet">Nothing yet: nobody has touched the clocks.</p>}
    </section>
  );
}
