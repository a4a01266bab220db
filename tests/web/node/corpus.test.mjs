// All cases of the corpus through the public names of the package for Node.

import { test } from 'node:test';
import { readFile } from 'node:fs/promises';
import * as api from '../../../pkg/nodejs/sluicegate.js';
import { runCorpus } from '../shared/corpus.mjs';
import { judge } from '../shared/judge.mjs';

test(`every case of the corpus, in Node ${process.versions.node} with tz data ${process.versions.tz}`, async (t) => {
  judge(t, await runCorpus(api, (name) => readFile(new URL(`../../corpus/${name}`, import.meta.url), 'utf8')));
});
