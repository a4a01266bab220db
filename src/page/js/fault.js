/** An Error with a stable `code`, and the `path` of the field that it is about: empty for the whole value. */
export function fault(code, path, message) {
  return Object.assign(new Error(message), { code, path });
}
