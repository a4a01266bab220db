// The network between the points of presence and the ledger: a proxy in this process, with a link for each of them.

import http from 'node:http';

import { Link } from './link.mjs';

/** Carries the URL that the ledger is to see. */
export const URL_HEADER = 'x-pops-url';

const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'];

async function bodyOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const passedOn = (headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));

/** Ends an asker's request once, if it still waits. */
const answerOf = (response) => ({
  reply({ status, headers, body }) {
    if (response.destroyed) return;
    response.writeHead(status, { ...headers, 'content-length': body.length });
    response.end(body);
  },
  cut: () => response.destroy(),
});

export class Network {
  /** Every message, where `record` is set: {n, pop, ledger, method, url, headers, body, reply}. */
  messages = [];
  #server;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 256, timeout: 3_000 });
  #links = new Map();
  #ledgerPort;
  #seed;
  #sent = 0;

  /** `ledgerPort()`: where the ledger's router listens; throws while it does not. */
  constructor({ ledgerPort, seed, record = false }) {
    this.#ledgerPort = ledgerPort;
    this.#seed = seed;
    this.record = record;
  }

  async start() {
    this.#server = http.createServer((request, response) => void this.#take(request, response));
    // An idle connection that is closed here would be a fault that nobody has switched on.
    Object.assign(this.#server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 });
    await new Promise((resolve, reject) => {
      this.#server.on('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return this;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** The link of a point of presence. */
  link(pop) {
    let link = this.#links.get(pop);
    if (!link) this.#links.set(pop, (link = new Link(pop, this.#seed)));
    return link;
  }

  /** Switches faults on all links. */
  set(changes) {
    for (const link of this.#links.values()) link.set(changes);
  }

  heal() {
    for (const link of this.#links.values()) link.heal();
  }

  /** The counts of all links together. */
  totals() {
    const totals = {};
    for (const { counts } of this.#links.values()) for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
    return totals;
  }

  async #take(request, response) {
    response.on('error', () => {});
    const [, pop, ledger] = request.url.split('/');
    const { method, headers } = request;
    let body;
    try {
      body = await bodyOf(request);
    } catch {
      return; // The asker has gone before it had said all.
    }
    this.#sent += 1;
    const message = { n: this.#sent, pop, ledger: decodeURIComponent(ledger), method, url: headers[URL_HEADER], headers: passedOn(headers), body };
    if (this.record) this.messages.push(message);
    await this.link(pop).carry(message, (one) => this.#deliver(one), answerOf(response));
  }

  /** Sends a message to the ledger's router, whether or not anybody waits for the reply. */
  async #deliver(message) {
    const reply = await new Promise((resolve, reject) => {
      const { method, headers, body } = message;
      const path = `/${encodeURIComponent(message.ledger)}`;
      const options = { host: '127.0.0.1', port: this.#ledgerPort(), agent: this.#agent, method, path };
      const request = http.request({ ...options, headers: { ...headers, 'content-length': body.length } }, (response) => {
        bodyOf(response).then((content) => resolve({ status: response.statusCode, headers: passedOn(response.headers), body: content }), reject);
      });
      request.on('error', reject);
      request.end(body);
    });
    message.reply = reply;
    return reply;
  }

  /** Sends a message of the test's own to a Ledger, past all links. */
  send(ledger, { method = 'POST', url = 'https://ledger/', headers = {}, body = '' } = {}) {
    return this.#deliver({ ledger, method, url, headers: { ...headers, [URL_HEADER]: url }, body: Buffer.from(body) });
  }

  async close() {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
