// Requests as a client can write them and no client library would: the target is sent as it is.

import net from 'node:net';

/** Sends a request target; `fields` are header fields, a list for one that is sent more than once. Resolves to {status, headers}. */
export function sendRaw(server, target, { method = 'GET', fields = {} } = {}) {
  const head = { host: 'x', 'cf-connecting-ip': '203.0.113.7', connection: 'close', ...fields };
  const lines = Object.entries(head).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect(server.port(), '127.0.0.1', () => socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`));
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no answer to ${target}`)));
    socket.on('data', (data) => (answer += data));
    socket.on('error', reject);
    socket.on('end', () => {
      const [first, ...rest] = answer.split('\r\n\r\n')[0].split('\r\n');
      resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(first)?.[1]), headers: new Headers(rest.map((line) => line.split(/:\s*(.*)/s, 2))) });
    });
  });
}
