// A load generator on bare keep-alive sockets, in a thread of its own: node:http costs more per request than
// the server it would measure. Each connection has one request in flight (a closed loop).

import net from 'node:net';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';

const HEAD_END = Buffer.from('\r\n\r\n');

/** Sends load from a thread; see `drive` for the options and the result. One run at a time. */
export class Generator {
  #worker = new Worker(new URL(import.meta.url));
  #settle;

  constructor() {
    this.#worker.on('message', ({ error, ...result }) => (error ? this.#settle.reject(new Error(error)) : this.#settle.resolve(result)));
    this.#worker.on('error', (error) => this.#settle?.reject(error));
  }

  run(options) {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#worker.postMessage(options);
    });
  }

  close() {
    return this.#worker.terminate();
  }
}

/**
 * Sends requests over `connections` sockets for `seconds`, or until `requests` are answered. `variants` are whole
 * requests as text; they are sent in turn, from `first` on.
 * Resolves to {seconds, answered, statuses: {200: n}, latencies: sorted ms, next}.
 */
function drive({ port, connections, variants, first = 0, seconds, requests = Infinity }) {
  return new Promise((resolve, reject) => {
    const encoded = variants.map((variant) => Buffer.from(variant, 'latin1'));
    const statuses = new Map();
    const latencies = [];
    const started = performance.now();
    const ends = seconds === undefined ? Infinity : started + seconds * 1000;
    let next = first;
    let sent = 0;
    let answered = 0;
    let open = connections;
    let lastAnswer = started;
    let failed = false;

    const fail = (error) => {
      if (failed) return;
      failed = true;
      for (const socket of sockets) socket.destroy();
      reject(error);
    };
    const finish = () => {
      if (failed || open > 0) return;
      const taken = (lastAnswer - started) / 1000;
      const sorted = Float64Array.from(latencies).sort();
      resolve({ seconds: taken, answered, statuses: Object.fromEntries(statuses), latencies: sorted, next: next % encoded.length });
    };

    const sockets = Array.from({ length: connections }, () => {
      const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
      let at = 0;
      let pending = null;
      let done = false;

      const ask = () => {
        if (sent >= requests || performance.now() >= ends) {
          done = true;
          socket.end();
          open -= 1;
          finish();
          return;
        }
        sent += 1;
        at = performance.now();
        socket.write(encoded[next % encoded.length]);
        next += 1;
      };
      socket.on('connect', ask);
      socket.on('data', (chunk) => {
        const data = pending ? Buffer.concat([pending, chunk]) : chunk;
        const length = answerLength(data);
        if (length === undefined || data.length < length) {
          pending = data;
          return;
        }
        if (data.length > length) {
          fail(new Error('more bytes than the answer announced'));
          return;
        }
        pending = null;
        const status = data.toString('latin1', 9, 12);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        lastAnswer = performance.now();
        latencies.push(lastAnswer - at);
        answered += 1;
        ask();
      });
      socket.on('error', fail);
      socket.on('close', () => {
        if (!done) fail(new Error(`a connection was closed by the server after ${answered} answers`));
      });
      return socket;
    });
  });
}

/** The length of the whole answer in bytes, or undefined while that cannot be told. */
function answerLength(data) {
  const headEnd = data.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = data.toString('latin1', 0, headEnd).toLowerCase();
  const announced = /\r\ncontent-length: *(\d+)/.exec(head);
  if (announced) return headEnd + 4 + Number(announced[1]);
  if (!/\r\ntransfer-encoding: *chunked/.test(head)) throw new Error('an answer with neither a length nor chunks');
  let at = headEnd + 4;
  for (;;) {
    const lineEnd = data.indexOf('\r\n', at, 'latin1');
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(data.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (size === 0) return at;
    if (at > data.length) return undefined;
  }
}

if (!isMainThread) {
  parentPort.on('message', async (options) => {
    try {
      parentPort.postMessage(await drive(options));
    } catch (error) {
      parentPort.postMessage({ error: error.message });
    }
  });
}
