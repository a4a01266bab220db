// Where things are: the repository, its build, the tools.

import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { readToml } from '../../../scripts/lib/toml.mjs';

export const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
/** Where the built worker is; $SLUICEGATE_BUILD names another one, such as a deliberately broken one. */
export const buildDirectory = process.env.SLUICEGATE_BUILD || path.join(repository, 'build');

/** The per-user folder for what is made once; the same as that of the set-up (scripts/lib/cache.mjs). */
export function cacheDirectory() {
  return process.env.SLUICEGATE_CACHE || path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'sluicegate');
}

const WORKERD_PACKAGES = {
  'linux x64': 'workerd-linux-64',
  'linux arm64': 'workerd-linux-arm64',
  'darwin x64': 'workerd-darwin-64',
  'darwin arm64': 'workerd-darwin-arm64',
};

/** workerd itself: $SLUICEGATE_WORKERD, or the one that the pinned wrangler brings along. */
export async function workerdBinary() {
  if (process.env.SLUICEGATE_WORKERD) return process.env.SLUICEGATE_WORKERD;
  const platform = `${process.platform} ${process.arch}`;
  const name = WORKERD_PACKAGES[platform];
  if (!name) throw new Error(`there is no workerd for ${platform}; name one in SLUICEGATE_WORKERD`);
  const wrangler = process.env.SLUICEGATE_WRANGLER ?? (await import('../../../scripts/lib/npm-tools.mjs')).wranglerScript();
  try {
    return createRequire(wrangler).resolve(`@cloudflare/${name}/bin/workerd`);
  } catch {
    throw new Error('workerd is not installed yet: "npm run setup" does that, and "npm test" and "npm run bench" do it themselves');
  }
}

/** wrangler.toml, as it is deployed with. */
export const shippedConfiguration = () => readToml(path.join(repository, 'wrangler.toml'));

/** The compatibility date and flags of wrangler.toml. */
export function compatibility() {
  const { compatibility_date: date, compatibility_flags: flags = [] } = shippedConfiguration();
  return { date, flags };
}
