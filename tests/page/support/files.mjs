// The built page on a plain file server: no header of ours, no limiter behind it.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BUILT = fileURLToPath(new URL('../../../build/www/', import.meta.url));

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8', '.wasm': 'application/wasm', '.woff2': 'font/woff2' };

/**
 * Serves the page below `base`. `types`: what the server knows of file types; without them all is
 * application/octet-stream but HTML, CSS and scripts, as on a server of long ago.
 */
export async function serveFiles({ base = '/', knowsWasm = true } = {}) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    if (!pathname.startsWith(base)) return response.writeHead(404).end();
    const path = normalize(decodeURIComponent(pathname.slice(base.length))) || '.';
    const file = join(BUILT, path === '.' ? 'index.html' : path);
    if (!file.startsWith(BUILT)) return response.writeHead(404).end();
    try {
      const body = await readFile(file);
      const ending = extname(file);
      const type = ending === '.wasm' && !knowsWasm ? 'application/octet-stream' : TYPES[ending];
      return response.setHeader('content-type', type ?? 'application/octet-stream').end(body);
    } catch {
      return response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${server.address().port}${base}`, close: () => server.close() };
}
