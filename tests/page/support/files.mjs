// The built page on a plain file server: no header of ours, no limiter behind it.

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** $SLUICEGATE_PAGE names another build, such as a deliberately broken one. */
export const BUILT = resolve(process.env.SLUICEGATE_PAGE || fileURLToPath(new URL('../../../build/www', import.meta.url)));

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8', '.wasm': 'application/wasm', '.woff2': 'font/woff2' };

/** A file of the page; null where there is none, or where the path leads elsewhere. */
async function read(path) {
  const file = join(BUILT, normalize(path) === '.' ? 'index.html' : normalize(path));
  if (!file.startsWith(BUILT + sep)) return null;
  const body = await readFile(file).catch(() => null);
  return body && { body, ending: extname(file) };
}

/** Serves the page below `base`. Without `knowsWasm` that is bytes like any other, as on a server of long ago. */
export async function serveFiles({ base = '/', knowsWasm = true } = {}) {
  if (!existsSync(join(BUILT, 'index.html'))) throw new Error(`the page is not built: there is no ${join(BUILT, 'index.html')}`);
  const asked = [];
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    asked.push(pathname);
    const found = pathname.startsWith(base) ? await read(decodeURIComponent(pathname.slice(base.length))) : null;
    if (!found) return response.writeHead(404).end();
    const type = found.ending === '.wasm' && !knowsWasm ? 'application/octet-stream' : TYPES[found.ending];
    return response.setHeader('content-type', type ?? 'application/octet-stream').end(found.body);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}${base}`, asked, close };
}
