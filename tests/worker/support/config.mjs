// Writes a workerd configuration (Cap'n Proto text) and the modules it embeds into a directory.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The header that carries `request.cf` as JSON. */
export const CF_HEADER = 'x-harness-cf';

const ESCAPES = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function text(value) {
  const escaped = String(value).replace(/[\\"\u0000-\u001f\u007f]/g, (character) =>
    ESCAPES[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${escaped}"`;
}

const list = (items) => `[${items.join(', ')}]`;
const designator = ({ service, entrypoint }) =>
  entrypoint ? `(name = ${text(service)}, entrypoint = ${text(entrypoint)})` : `(name = ${text(service)})`;

/** A binding is a string (a text variable), {json}, {service, entrypoint?} or {namespace, script?}. */
function binding([name, value]) {
  if (typeof value === 'string') return `(name = ${text(name)}, text = ${text(value)})`;
  if ('json' in value) {
    const json = typeof value.json === 'string' ? value.json : JSON.stringify(value.json);
    return `(name = ${text(name)}, json = ${text(json)})`;
  }
  if ('service' in value) return `(name = ${text(name)}, service = ${designator(value)})`;
  if ('namespace' in value) {
    const service = value.script ? `, serviceName = ${text(value.script)}` : '';
    return `(name = ${text(name)}, durableObjectNamespace = (className = ${text(value.namespace)}${service}))`;
  }
  throw new TypeError(`binding ${name}: a string, {json}, {service} or {namespace}`);
}

function worker(name, options, directory) {
  const modules = options.modules.map((module) => {
    const file = path.join('modules', name, module.name);
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), module.content);
    return `(name = ${text(module.name)}, ${module.kind} = embed ${text(file)})`;
  });
  const objects = Object.entries(options.objects ?? {});
  const bindings = {
    ...Object.fromEntries(objects.map(([bindingName, className]) => [bindingName, { namespace: className }])),
    ...options.bindings,
  };
  const fields = [
    `modules = ${list(modules)}`,
    `compatibilityDate = ${text(options.compatibility.date)}`,
    `compatibilityFlags = ${list(options.compatibility.flags.map(text))}`,
    `bindings = ${list(Object.entries(bindings).map(binding))}`,
    `globalOutbound = "internet"`,
  ];
  if (objects.length > 0) {
    const namespaces = objects.map(([, className]) =>
      `(className = ${text(className)}, uniqueKey = ${text(`harness-${name}-${className}`)}, enableSql = true)`);
    fields.push(`durableObjectNamespaces = ${list(namespaces)}`, `durableObjectStorage = (localDisk = "disk")`);
  }
  return `(name = ${text(name)}, worker = (\n      ${fields.join(',\n      ')}))`;
}

/**
 * Writes `config.capnp` into `directory`. `workers` maps a name to {modules, bindings, objects, compatibility};
 * each gets a socket of its name on a free port. `disk` is where Durable Objects live.
 */
export function writeConfig({ directory, disk, workers }) {
  const names = Object.keys(workers);
  const services = names.map((name) => worker(name, workers[name], directory));
  services.push(
    `(name = "disk", disk = (path = ${text(disk)}, writable = true))`,
    // The origins of the tests are on this machine, which the default network would refuse.
    `(name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true)))`,
  );
  const sockets = names.map((name) =>
    `(name = ${text(name)}, address = "127.0.0.1:0", service = ${text(name)}, http = (cfBlobHeader = ${text(CF_HEADER)}))`);
  const file = path.join(directory, 'config.capnp');
  writeFileSync(file, [
    `using Workerd = import "/workerd/workerd.capnp";`,
    `const config :Workerd.Config = (`,
    `  services = [\n    ${services.join(',\n    ')}],`,
    `  sockets = [\n    ${sockets.join(',\n    ')}]`,
    `);\n`,
  ].join('\n'));
  return file;
}
