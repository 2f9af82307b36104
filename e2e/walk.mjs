// What participants do in a browser: by mouse, or by keyboard only.
import { Failure, check } from "./runner.mjs";

/** Walks a study to its receipt; `act` does what a page asks for, `look` is called on every page. */
export async function walk(page, act, look) {
  for (let step = 0; step < 150; step++) {
    await look(page, step);
    if (await page.locator("code.receipt").count()) return step;
    await go(page, act);
  }
  throw new Failure("the study did not end");
}

/** What somebody writes who is asked for words. */
export const typed = { text: "Hard to say <b>in words</b>." };

export const has = async (page, selector) => (await page.locator(selector).count()) > 0;

/** Does what a page asks for, and waits for the page that follows: a new one, or with a script the next question. */
export async function go(page, act) {
  const inPlace = await page.evaluate(() => document.documentElement.classList.contains("script") && !!document.querySelector("#answer"));
  if (inPlace) await act(page);
  else await Promise.all([page.waitForEvent("load"), act(page)]);
  await page.waitForLoadState();
}

/** Waits until the page has changed after an answer. */
export async function answered(page, before) {
  await page.waitForFunction((old) => document.querySelector("#answer")?.dataset.query !== old, before);
}

/** What somebody would choose who holds a ratio of 6, or, of more kinds of mistake, wants fewest. */
export async function opinion(page) {
  const rows = await page.locator(".kinds tbody tr:has(.big)").all();
  if (rows.length) {
    const sums = [0, 0];
    for (const row of rows) {
      const cells = await row.locator(".big").all();
      // A cell has its count and its rate on top of each other.
      for (const [n, cell] of cells.entries()) sums[n] += parseFloat(await cell.evaluate((e) => (e.querySelector(".as-count") ?? e).textContent));
    }
    return sums[0] <= sums[1] ? "a" : "b";
  }
  const numbers = await page.locator(".mistake .as-count").allTextContents();
  const [missedA, alarmsA, missedB, alarmsB] = numbers.map((text) => Number(text.replace(/[^0-9]/g, "")));
  return 6 * missedA + alarmsA <= 6 * missedB + alarmsB ? "a" : "b";
}

/** A mouse: clicks what a person would click. */
export const mouse = async (page) => {
  if (await has(page, "form.languages")) return page.click('button[value="en"]');
  if (await has(page, 'form[action="/consent"]')) {
    await page.check('input[name="agree"]');
    return page.click('button[value="agree"]');
  }
  if (await has(page, 'form[action="/questionnaire"]')) {
    for (const field of await page.locator("main .field").all()) {
      const decline = field.locator('input[name^="decline."]');
      if (await decline.count()) await decline.check();
      else if (await field.locator('input[type="radio"]').count()) await field.locator('input[type="radio"]').nth(1).check();
      else if (await field.locator('input[type="checkbox"]').count()) await field.locator('input[type="checkbox"]').first().check();
      else if (await field.locator("input[inputmode]").count()) await field.locator("input[inputmode]").fill("30");
      else await field.locator("textarea").fill(typed.text);
    }
    return page.click("main button");
  }
  if (await has(page, 'form[action="/stated"]')) {
    await page.fill("#ratio", "10");
    return page.click('button[value="number"]');
  }
  if (await has(page, 'button[name="seen"]')) return page.click('button[name="seen"]');
  if (await has(page, 'form[action="/learn"]')) {
    await page.locator('input[name="option"]').first().check();
    return page.click("main button");
  }
  if (await has(page, "#answer")) {
    const before = await page.getAttribute("#answer", "data-query");
    const scripted = await page.evaluate(() => document.documentElement.classList.contains("script"));
    if (scripted) await page.waitForTimeout(300); // the guard against a second press
    const undo = page.locator('button[form="undo"]');
    if (before.endsWith(".answered") && (await undo.isEnabled())) await undo.click();
    else await page.click(`#answer button[value="${await opinion(page)}"]`);
    return scripted ? answered(page, before) : undefined;
  }
  return page.click("main form button");
};

/** A keyboard only: Tab until the wanted control has the focus, then a key. */
export async function tabTo(page, selector) {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
    const hidden = await page.evaluate(() => {
      const focus = document.activeElement;
      if (!focus || focus === document.body || focus.closest(".answers")) return null;
      const bar = document.querySelector(".answers")?.getBoundingClientRect();
      const own = focus.getBoundingClientRect();
      return bar && own.bottom > bar.top + 1 && own.top < bar.bottom - 1 && own.height < 100 ? focus.outerHTML.slice(0, 80) : null;
    });
    check(!hidden, `the focus is under the bar of answers: ${hidden}`);
  }
  throw new Failure(`cannot reach ${selector} by keyboard`);
}

export const keyboard = async (page) => {
  const press = async (selector, key = "Enter") => {
    await tabTo(page, selector);
    await page.keyboard.press(key);
  };
  if (await has(page, "form.languages")) return press('button[value="en"]');
  if (await has(page, 'form[action="/consent"]')) {
    await press('input[name="agree"]', "Space");
    return press('button[value="agree"]');
  }
  if (await has(page, 'form[action="/questionnaire"]')) {
    const names = await page.evaluate(() => [...document.querySelectorAll("main .field")].map((field) => {
      const decline = field.querySelector('input[name^="decline."]');
      const control = decline ?? field.querySelector("input, textarea");
      return { name: control.name, type: control.type };
    }));
    for (const { name, type } of names) {
      await tabTo(page, `[name="${name}"]`);
      if (type === "checkbox" || type === "radio") await page.keyboard.press("Space");
      else await page.keyboard.type("30");
    }
    return press("main button");
  }
  if (await has(page, 'form[action="/stated"]')) {
    await tabTo(page, "#ratio");
    await page.keyboard.type("7.5");
    return page.keyboard.press("Enter");
  }
  if (await has(page, 'button[name="seen"]')) return press('button[name="seen"]');
  if (await has(page, 'form[action="/learn"]')) {
    await press('input[name="option"]', "Space");
    return press("main button");
  }
  if (await has(page, "#answer")) {
    const before = await page.getAttribute("#answer", "data-query");
    await page.waitForTimeout(300);
    if (before.endsWith(".answered")) await page.keyboard.press("u");
    else await page.keyboard.press({ a: "ArrowLeft", b: "b" }[await opinion(page)]);
    return answered(page, before);
  }
  return press("main form button");
};

/** Up to the first comparison, by form posts and without looking. */
export async function toFirstQuestion(page, link) {
  await page.goto(link);
  await page.waitForURL((url) => url.pathname === "/");
  for (let step = 0; step < 60; step++) {
    if (await has(page, 'form[action="/answer"]')) return;
    await go(page, mouse);
  }
  throw new Failure("no comparison came");
}
