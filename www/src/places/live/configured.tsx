// What the limiter is configured with, as it says itself.

import { count } from '../../format';
import { identityInWords, limitInWords, onErrorInWords, scopeInWords, type Policies } from './policies';

export function Configured({ known: { policies, rules } }: { known: Policies }) {
  return (
    <details class="live-details live-configured">
      <summary>{count(policies.length, 'policy', 'policies')}, {count(rules.length, 'rule')}</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Policies">
        <table class="live-table">
          <thead><tr><th scope="col">Policy</th><th scope="col">Limit</th><th scope="col">Counted</th><th scope="col">By</th><th scope="col">Otherwise</th></tr></thead>
          <tbody>
            {policies.map((policy) => (
              <tr key={policy.name} data-policy-row={policy.name}>
                <th scope="row">{policy.name}</th><td>{limitInWords(policy)}</td><td>{scopeInWords(policy)}</td><td>{policy.identity.map(identityInWords).join(' and ')}</td>
                <td>{policy.isShadow ? 'a shadow policy: only reports' : onErrorInWords(policy)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">The first rule that matches a request decides; what none matches is passed on uncounted.</p>
      <ol class="live-rules">
        {rules.map(({ methods, path, policies: names, isAllow }, at) => (
          <li key={at}><code>{methods.join(', ') || 'any method'} {path ?? 'any path'}</code>: {isAllow ? 'let through uncounted' : names.join(', ')}</li>
        ))}
      </ol>
    </details>
  );
}
