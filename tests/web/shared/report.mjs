// Runs cases and keeps the account: what ran, what failed and why, and what was left out and why. Nothing is
// left out in silence.

/** Runs `check(one)` for each case; it throws an Error that says what is wrong, or a LeftOut. */
export function runAll(name, cases, check) {
  const failed = [];
  const leftOut = [];
  for (const one of cases) {
    try {
      check(one);
    } catch (error) {
      (error instanceof LeftOut ? leftOut : failed).push(`${one.id}: ${error.message}`);
    }
  }
  return { name, cases: cases.length, passed: cases.length - failed.length - leftOut.length, failed, leftOut };
}

/** Thrown for a case that cannot be asserted here. */
export class LeftOut extends Error {}

const show = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value));

export function same(what, found, wanted) {
  if (!Object.is(found, wanted)) throw new Error(`${what} is ${show(found)}, should be ${show(wanted)}`);
}

export function check(condition, what) {
  if (!condition) throw new Error(what);
}

/** Calls `work`, which has to throw a real Error; returns it. */
export function thrownBy(work) {
  let answer;
  try {
    answer = work();
  } catch (error) {
    check(error instanceof Error, `${show(error)} is thrown, which is no Error`);
    return error;
  }
  throw new Error(`nothing is thrown; the answer is ${show(answer)}`);
}

/** Asserts a refusal: code, the end of the path, and a message to read. */
export function refused(work, code, pathEnd = undefined) {
  const error = thrownBy(work);
  same('the code', error.code, code);
  if (pathEnd !== undefined) check(error.path?.endsWith(pathEnd), `the path is ${show(error.path)}, should end with ${pathEnd}`);
  check(error.message.length > 10, `the message is ${show(error.message)}`);
  return error;
}

/** JSON has no words for these. */
export const NOT_IN_JSON = { NaN, nan: NaN, Infinity, inf: Infinity, '-Infinity': -Infinity, '-inf': -Infinity, null: null };
