// The way of one point of presence to the ledger and back, and what goes wrong on it.

import { setTimeout as delay } from 'node:timers/promises';

import { randomOf } from './random.mjs';

/** No faults. Chances are from 0 to 1, times are ms or [least, most]. */
const FAULTLESS = {
  /** How long an ask takes to the ledger, and a reply back. */
  askMs: 0,
  replyMs: 0,
  /** Chances that one is lost. What is lost is never answered: the asker's own time limit has to end it. */
  dropAsk: 0,
  dropReply: 0,
  /** The chance that the ledger gets an ask twice, the second time `repeatMs` later; either reply is returned. */
  repeat: 0,
  repeatMs: 0,
  /** The chance that an ask or a reply is overtaken by those that come in the `reorderMs` after it. */
  reorder: 0,
  reorderMs: 100,
  /** 'refuse': connections fail at once; 'hang': nothing is answered, and what is on its way is lost; null: none. */
  partition: null,
  /** Only messages for which this is true meet faults: (message) => boolean. Others pass at once. */
  only: null,
};

const NO_COUNTS = {
  asks: 0, ask_bytes: 0, replies: 0, reply_bytes: 0,
  dropped_asks: 0, dropped_replies: 0, repeated: 0, reordered: 0, refused: 0, hung: 0, unreachable: 0,
};

/** Messages that were stopped on purpose, until they are let go. */
class Hold {
  messages = [];
  #open = [];
  #watchers = new Set();

  constructor(link, { way, count, when }) {
    Object.assign(this, { link, way, left: count, when });
  }

  wants(way, message) {
    return this.left > 0 && way === this.way && this.when(message);
  }

  /** Stops a message. Resolves to whether it goes on. */
  stop(message) {
    this.left -= 1;
    this.messages.push(message);
    for (const look of this.#watchers) look();
    return new Promise((go) => this.#open.push(go));
  }

  /** Waits until `count` messages have been stopped. */
  async arrived(count = 1, timeout = 10_000) {
    if (this.messages.length >= count) return this.messages;
    let look;
    const cancel = new AbortController();
    const enough = new Promise((resolve) => {
      look = () => this.messages.length >= count && resolve(this.messages);
      this.#watchers.add(look);
    });
    const late = delay(timeout, undefined, { signal: cancel.signal }).then(() => {
      throw new Error(`${this.messages.length} of ${count} messages were held within ${timeout} ms`);
    });
    late.catch(() => {});
    try {
      return await Promise.race([enough, late]);
    } finally {
      cancel.abort();
      this.#watchers.delete(look);
    }
  }

  /** Lets what was stopped go on, and stops no more. */
  release() {
    this.#settle(true);
  }

  /** Loses what was stopped, and stops no more. */
  drop() {
    this.#settle(false);
  }

  #settle(goes) {
    this.left = 0;
    for (const go of this.#open.splice(0)) go(goes);
  }
}

export class Link {
  counts = { ...NO_COUNTS };
  #settings = { ...FAULTLESS };
  #holds = [];
  #random;
  /** Ends the waits of replies that will never be given. */
  #healed = new Set();

  constructor(name, seed) {
    this.name = name;
    this.#random = randomOf(`${seed}/${name}`);
  }

  /** Switches faults, at once and also for what is on its way; what is not named stays as it is. */
  set(changes) {
    for (const name of Object.keys(changes)) if (!(name in FAULTLESS)) throw new TypeError(`a link has no fault ${name}`);
    Object.assign(this.#settings, changes);
  }

  /** No faults from now on. What is held stays held, and what was lost stays lost. */
  heal() {
    this.#settings = { ...FAULTLESS };
    for (const cut of this.#healed) cut();
    this.#healed.clear();
  }

  /** Stops the next `count` asks (way: 'ask') or replies ('reply') for which `when(message)` is true. */
  hold({ way = 'ask', count = 1, when = () => true } = {}) {
    const hold = new Hold(this, { way, count, when });
    this.#holds.push(hold);
    return hold;
  }

  resetCounts() {
    this.counts = { ...NO_COUNTS };
  }

  /**
   * Takes a message to the ledger and its reply back. `deliver(message)` gives the ledger's reply; `answer` ends the
   * asker's request: reply(reply) or cut(). Neither is called for what is lost, before the link is healed.
   */
  async carry(message, deliver, answer) {
    this.counts.asks += 1;
    this.counts.ask_bytes += message.body.length;
    try {
      if (this.#settings.partition === 'refuse' && this.#affects(message)) {
        this.counts.refused += 1;
        return answer.cut();
      }
      if (!(await this.#pass('ask', message))) return this.#lose(answer);
      const reply = await this.#deliver(message, deliver);
      if (!(await this.#pass('reply', message))) return this.#lose(answer);
      this.counts.replies += 1;
      this.counts.reply_bytes += reply.body.length;
      answer.reply(reply);
    } catch {
      this.counts.unreachable += 1;
      answer.cut();
    }
  }

  #affects(message) {
    return this.#settings.only === null || this.#settings.only(message);
  }

  #chance(name, message) {
    return this.#affects(message) && this.#random() < this.#settings[name];
  }

  #ms(name) {
    const value = this.#settings[name];
    return Array.isArray(value) ? value[0] + this.#random() * (value[1] - value[0]) : value;
  }

  #lose(answer) {
    this.#healed.add(() => answer.cut());
  }

  /** One way. False: the message is lost. */
  async #pass(way, message) {
    const [drop, dropped, ms] = way === 'ask' ? ['dropAsk', 'dropped_asks', 'askMs'] : ['dropReply', 'dropped_replies', 'replyMs'];
    if (this.#chance(drop, message)) {
      this.counts[dropped] += 1;
      return false;
    }
    let wait = this.#affects(message) ? this.#ms(ms) : 0;
    if (this.#chance('reorder', message)) {
      this.counts.reordered += 1;
      wait += this.#ms('reorderMs');
    }
    if (wait > 0) await delay(wait);
    const hold = this.#holds.find((one) => one.wants(way, message));
    if (hold && !(await hold.stop(message))) {
      this.counts[dropped] += 1;
      return false;
    }
    if (this.#settings.partition !== null && this.#affects(message)) {
      this.counts.hung += 1;
      return false;
    }
    return true;
  }

  async #deliver(message, deliver) {
    if (!this.#chance('repeat', message)) return deliver(message);
    this.counts.repeated += 1;
    const last = this.#random() < 0.5;
    const first = deliver(message);
    const again = delay(this.#ms('repeatMs')).then(() => deliver(message));
    again.catch(() => {});
    if (!last) return first;
    first.catch(() => {});
    return again;
  }
}
