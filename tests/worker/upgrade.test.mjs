// A WebSocket through the gateway.

import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';

import { startSluicegate } from './harness.mjs';
import { limitsOf, policy } from './support/limits.mjs';

const ECHO = `export default { fetch() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener('message', ({ data }) => server.send('echo ' + data));
  return new Response(null, { status: 101, webSocket: client });
} };`;

/** Asks for an upgrade; resolves to the status, and to the socket where it is granted. */
function upgrade(port, path) {
  const headers = {
    connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'cf-connecting-ip': '203.0.113.7',
  };
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path, headers, agent: false });
    request.on('upgrade', ({ statusCode }, socket) => resolve({ status: statusCode, socket }));
    request.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode });
    });
    request.on('error', reject);
  });
}

/** A short text frame of a client, masked with zeros. */
const frame = (text) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

test('a WebSocket that is let through works, and one above the limit is refused', async (t) => {
  const server = await startSluicegate(t, { limits: limitsOf([policy('sockets', 1)]), origin: { service: 'echo' }, services: { echo: { script: ECHO } } });
  const { status, socket } = await upgrade(server.port(), '/sockets');
  assert.equal(status, 101);
  socket.write(frame('hello'));
  const answer = await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  assert.equal(answer.subarray(2).toString(), 'echo hello');
  assert.equal((await upgrade(server.port(), '/sockets')).status, 429);
});
