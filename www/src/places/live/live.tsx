import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { limiter } from '../../limiter';
import { Announcer } from '../../parts/announce';
import { Term } from '../../parts/term';
import { query } from '../../route';
import { Absent, Broken } from './absent';
import { Access } from './access';
import { Answers } from './answers';
import { Explained } from './explained';
import { speak } from './listening';
import { watchTab } from './sender';
import { readAddress, writeAddress } from './state';
import { Desk } from './desk';
import { Tenants } from './tenants';

function Present({ version, api }: { version: string; api: string }) {
  useEffect(() => {
    const ends = [
      effect(() => {
        void query.value;
        readAddress();
      }),
      effect(writeAddress),
      speak(),
      watchTab(),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <>
      <Access version={version} api={api} />
      <Desk />
      <Answers />
      <Explained />
      <Tenants />
    </>
  );
}

function Found() {
  const found = limiter.value;
  if (found === undefined) return <p class="notice" role="status" data-limiter="looking">Looking for a limiter that serves this page…</p>;
  if (found === null) return <Absent />;
  return found.broken ? <Broken api={found.api} version={found.version} /> : <Present version={found.version} api={found.api} />;
}

/** Look into the limiter that serves this page. */
export function Live() {
  return (
    <div class="place live">
      <header>
        <h1>Look into your own limiter</h1>
        <p class="lead">
          The other places compute in your browser. This one asks the limiter that serves the page: send it requests, see what it decides
          and what it tells its clients, and check the books that its <Term means="The one object that owns a limit over all points of presence. It leases units to them and keeps the books.">Ledgers</Term> keep.
        </p>
      </header>
      <Found />
      <Announcer />
    </div>
  );
}
