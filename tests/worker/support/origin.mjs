// An origin that records what it is asked.

import http from 'node:http';

/**
 * Starts an HTTP server on a free port. `handler(request, response, body)` answers; by default it says 200 "origin".
 * `seen` holds {method, url, headers, rawHeaders, body} of each request.
 */
export async function startOrigin(t, handler = (request, response) => response.end('origin')) {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, url, headers, rawHeaders } = request;
    seen.push({ method, url, headers, rawHeaders, body });
    try {
      await handler(request, response, body);
    } catch (error) {
      response.destroy(error);
    }
  });
  await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  t?.after(close);
  return { url: `http://127.0.0.1:${server.address().port}`, seen, close };
}
