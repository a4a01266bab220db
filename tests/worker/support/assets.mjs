// A worker in the place of the ASSETS binding: the files of a small page, answered as Cloudflare answers for static
// assets (page.test.mjs asks the real ones the same), and a memory of what it was asked.

export const FILES = {
  '/index.html': ['text/html; charset=utf-8', '<!doctype html><title>a page</title>'],
  '/app.js': ['text/javascript; charset=utf-8', 'export {};'],
  '/chunks/live-5F2K.js': ['text/javascript; charset=utf-8', 'export const live = 1;'],
  '/limiter.json': ['application/json', '{"api": null}'],
};

const script = `
  const files = ${JSON.stringify(FILES)};
  const asked = [];
  export default { fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (pathname === '/asked') return Response.json(asked.splice(0));
    asked.push({ method: request.method, path: pathname + search, headers: Object.fromEntries(request.headers) });
    if (pathname === '/chunks/throws.js') throw new Error('a fault for the test');
    if (pathname === '/chunks/fails.js') return new Response('an odd page', { status: 500 });
    if (!files[pathname]) return new Response(null, { status: 404 });
    const [type, content] = files[pathname];
    const etag = '"' + pathname.length + content.length + '"';
    const headers = { etag, 'cache-control': 'public, max-age=0, must-revalidate' };
    if ([etag, 'W/' + etag].includes(request.headers.get('if-none-match'))) return new Response(null, { status: 304, headers });
    return new Response(request.method === 'HEAD' ? null : content, { headers: { ...headers, 'content-type': type } });
  } };
`;

/** What makes a server have the page. */
export const withPage = { vars: { ASSETS: { service: 'assets' } }, services: { assets: { script } } };

/** What the binding was asked since this was called last: {method, path, headers} each. */
export const askedOf = async (server) => (await server.fetch('/asked', { worker: 'assets' })).json();
