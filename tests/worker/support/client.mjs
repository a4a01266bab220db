// An HTTP client that leaves every header to the test, and does not hide a connection's end.

import http from 'node:http';
import { Readable } from 'node:stream';

/** Sends one request; `body` may be a web stream. The answer has {status, headers, rawHeaders, body, text(), json()}, or is a stream if asked. */
export function send({ port, agent, method = 'GET', path = '/', headers = {}, body, timeout = 30_000, stream = false }) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
      const head = { status: response.statusCode, headers: toHeaders(response.rawHeaders), rawHeaders: response.rawHeaders };
      if (stream) {
        resolve({ ...head, stream: response });
        return;
      }
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const content = Buffer.concat(chunks);
        resolve({ ...head, body: content, text: () => content.toString('utf8'), json: () => parse(content, response, method, path) });
      });
    });
    request.setTimeout(timeout, () => request.destroy(new Error(`${method} ${path}: no answer within ${timeout} ms`)));
    request.on('error', reject);
    if (body instanceof ReadableStream) Readable.fromWeb(body).on('error', () => {}).pipe(request);
    else request.end(body);
  });
}

function toHeaders(raw) {
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at], raw[at + 1]);
  return headers;
}

function parse(content, response, method, path) {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch {
    throw new Error(`${method} ${path}: ${response.statusCode} with a body that is not JSON: ${content.toString('utf8').slice(0, 300)}`);
  }
}
