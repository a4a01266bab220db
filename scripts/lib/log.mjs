// What the scripts say: headings, steps with a duration, and one live progress line.
// On a terminal the progress line is redrawn in place; elsewhere (CI, a pipe) a line is printed every
// few seconds, so that a long step is never silent and never a flood.

const tty = Boolean(process.stdout.isTTY);
const coloured = tty && !process.env.NO_COLOR && process.env.TERM !== "dumb";
const paint = (code) => (text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : String(text));

export const bold = paint("1");
export const dim = paint("2");
export const red = paint("31");
export const green = paint("32");
export const yellow = paint("33");

export const isTerminal = tty;

/** An error whose text is meant for the person at the keyboard: printed without a stack. */
export class Told extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.name = "Told";
    this.exitCode = exitCode;
  }
}

export function say(text = "") {
  process.stdout.write(`${text}\n`);
}

export function step(text) {
  say(`${bold("·")} ${text}`);
}

export function done(text) {
  say(`${green("✓")} ${text}`);
}

export function warn(text) {
  say(`${yellow("!")} ${text}`);
}

export function fail(text) {
  process.stderr.write(`${red("✗")} ${text}\n`);
}

export function heading(text) {
  const rule = "─".repeat(Math.max(4, 76 - text.length));
  say(`\n${bold(`── ${text} ${rule}`)}`);
}

/** 850 -> "0.9 s", 61_000 -> "1 min 01 s". */
export function duration(ms) {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

/** Takes terminal escape sequences out of a text, so that it can be searched. */
export function plain(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "");
}

/** A live line "title … 42 s, 120 of 260 crates (serde, syn)". */
export class Progress {
  constructor(title, { every = 15_000 } = {}) {
    this.title = title;
    this.detail = "";
    this.started = Date.now();
    this.lastPrinted = this.started;
    this.every = every;
    this.drawn = false;
    if (tty) this.timer = setInterval(() => this.#draw(), 250);
    else {
      say(`${bold("·")} ${title} …`);
      this.timer = setInterval(() => this.#maybePrint(), 1_000);
    }
    this.timer.unref();
  }

  set(detail) {
    this.detail = detail;
  }

  /** Prints a line of output above the progress line. */
  print(line) {
    this.#clear();
    say(line);
  }

  end(ok, text) {
    clearInterval(this.timer);
    this.#clear();
    const took = dim(`(${duration(Date.now() - this.started)})`);
    if (ok) done(`${text ?? this.title} ${took}`);
    else fail(`${text ?? this.title} ${took}`);
  }

  #line() {
    const seconds = Math.round((Date.now() - this.started) / 1000);
    return `${this.title} … ${seconds} s${this.detail ? `, ${this.detail}` : ""}`;
  }

  #maybePrint() {
    if (Date.now() - this.lastPrinted < this.every) return;
    this.lastPrinted = Date.now();
    say(dim(`  ${this.#line()}`));
  }

  #draw() {
    const width = (process.stdout.columns || 80) - 3;
    process.stdout.write(`\r\u001b[2K${bold("·")} ${this.#line().slice(0, width)}`);
    this.drawn = true;
  }

  #clear() {
    if (this.drawn) process.stdout.write("\r\u001b[2K");
    this.drawn = false;
  }
}
