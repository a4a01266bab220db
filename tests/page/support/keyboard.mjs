// The page by the Tab key alone.

/** In the page: what Tab should reach, and how a focused element looks. */
const TOOLS = () => {
  const isReached = (one) => (one.tabIndex >= 0 || one.matches('a[href], button, input, select, textarea, summary')) && !one.disabled && !one.closest('[inert]') && one.checkVisibility({ visibilityProperty: true });
  /** Of a group of radio buttons Tab reaches one: the chosen one. */
  const isItsGroup = (one) => {
    if (one.type !== 'radio') return true;
    const group = [...document.querySelectorAll(`input[type=radio][name="${CSS.escape(one.name)}"]`)];
    return one === (group.find((each) => each.checked) ?? group[0]);
  };
  const name = (one) => {
    const words = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent;
    return `${one.tagName.toLowerCase()} ${words.trim().replace(/\s+/g, ' ').slice(0, 60)}`;
  };
  const STYLES = ['outlineStyle', 'outlineWidth', 'outlineColor', 'boxShadow', 'borderTopColor', 'backgroundColor', 'textDecorationLine', 'clipPath', 'transform'];
  const look = (one) => {
    const near = [one, one.nextElementSibling, one.parentElement, one.closest('label')].filter(Boolean);
    return JSON.stringify(near.map((each) => STYLES.map((style) => getComputedStyle(each)[style])));
  };
  const isInView = (one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  };
  const all = () => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter((one) => isReached(one) && isItsGroup(one));
  globalThis.byTab = { all, name, look, isInView, seen: new Map(), last: null };
};

/** In the page: notes where the focus is now; false when it has left the page, or was there before. */
const NOTE = () => {
  const { byTab } = globalThis;
  const now = document.activeElement;
  const isNew = now !== null && now !== document.body && !byTab.seen.has(now);
  if (byTab.last) byTab.seen.get(byTab.last).after = byTab.look(byTab.last);
  byTab.last = isNew ? now : null;
  if (isNew) byTab.seen.set(now, { with: byTab.look(now), isInView: byTab.isInView(now) });
  return isNew;
};

async function fromTheTop(page) {
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
}

/**
 * Presses Tab from the top until the focus leaves the page. `missed`: what Tab did not reach; `unseen`: what does not
 * show that it has the focus; `reached`: how many it reached.
 */
export async function walk(page) {
  await page.evaluate(TOOLS);
  await fromTheTop(page);
  const most = (await page.evaluate(() => globalThis.byTab.all().length)) + 50;
  for (let presses = 0; presses < most; presses += 1) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate(NOTE))) break;
  }
  return page.evaluate(() => {
    const { all, name, seen } = globalThis.byTab;
    const unseen = [...seen].filter(([, looks]) => looks.with === looks.after || !looks.isInView);
    return { missed: all().filter((one) => !seen.has(one)).map(name), unseen: unseen.map(([one]) => name(one)), reached: seen.size };
  });
}

const isFocused = (locator) => locator.evaluate((one) => one === document.activeElement);

/** Presses Tab until a control has the focus; from where the focus is, and once around. */
export async function tabTo(page, locator, { key = 'Tab', most = 300 } = {}) {
  for (let presses = 0; presses < most; presses += 1) {
    if (await isFocused(locator)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${locator}`);
}

/** Reaches a control by Tab and presses a key there. */
export async function press(page, locator, key) {
  await tabTo(page, locator);
  await page.keyboard.press(key);
}
