// Reads as much TOML as wrangler.toml is written in: tables, arrays of tables, strings, numbers, booleans, lists
// and inline tables, each value on one line.

import { readFileSync } from "node:fs";

function value(text) {
  let rest = text;
  const eat = (pattern) => {
    const found = pattern.exec(rest);
    if (!found) return undefined;
    rest = rest.slice(found[0].length).trimStart();
    return found[0];
  };
  const need = (pattern) => eat(pattern) ?? (() => { throw new SyntaxError(`cannot read ${text}`); })();
  const members = (end, each) => {
    while (eat(end) === undefined) {
      each();
      if (eat(/^,/) === undefined) {
        need(end);
        return;
      }
    }
  };
  const read = () => {
    if (eat(/^\[/)) {
      const list = [];
      members(/^\]/, () => list.push(read()));
      return list;
    }
    if (eat(/^\{/)) {
      const table = {};
      members(/^\}/, () => {
        const key = need(/^[\w-]+/);
        need(/^=/);
        table[key] = read();
      });
      return table;
    }
    return JSON.parse(need(/^("(?:[^"\\]|\\.)*"|true|false|-?\d+(\.\d+)?)/));
  };
  const result = read();
  if (rest !== "" && !rest.startsWith("#")) throw new SyntaxError(`cannot read ${text}`);
  return result;
}

/** What a TOML text says, as objects and lists. */
export function parseToml(text) {
  const root = {};
  let table = root;
  const open = (names) => names.reduce((at, name) => {
    const inner = (at[name] ??= {});
    return Array.isArray(inner) ? inner.at(-1) : inner;
  }, root);
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const heading = /^(\[\[?)([\w.-]+)\]\]?/.exec(line);
    if (heading) {
      const names = heading[2].split(".");
      if (heading[1] === "[") {
        table = open(names);
      } else {
        const owner = open(names.slice(0, -1));
        table = {};
        (owner[names.at(-1)] ??= []).push(table);
      }
      continue;
    }
    const [, key, rest] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? (() => { throw new SyntaxError(`cannot read ${line}`); })();
    table[key] = value(rest);
  }
  return root;
}

export const readToml = (file) => parseToml(readFileSync(file, "utf8"));
