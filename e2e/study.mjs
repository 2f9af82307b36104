// Whole studies in a real browser: by mouse, by keyboard only, and without a script, on a phone and on a desk. Every
// page on the way goes through axe-core. Usage: node study.mjs EQUIPOISE PICTURES
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { accessibility, launch, SIZES } from "./browser.mjs";

const [equipoise, pictures] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });

/** The demo study on a server of its own; everybody gets a link. */
async function serve() {
  const server = spawn(equipoise, ["demo", "--web", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    if (text.trimEnd().endsWith("}")) break;
  }
  return { link: JSON.parse(text).link, stop: () => server.kill("SIGTERM") };
}

class Failure extends Error {}
const check = (holds, sentence) => { if (!holds) throw new Failure(sentence); };

/** Walks a study to its receipt; `act` does what a page asks for, `look` is called on every page. */
async function walk(page, act, look) {
  for (let step = 0; step < 150; step++) {
    await look(page, step);
    if (await page.locator("code.receipt").count()) return step;
    await go(page, act);
  }
  throw new Failure("the study did not end");
}

const has = async (page, selector) => (await page.locator(selector).count()) > 0;

/** Does what a page asks for, and waits for the page that follows: a new one, or with a script the next question. */
async function go(page, act) {
  const inPlace = await page.evaluate(() => document.documentElement.classList.contains("script") && !!document.querySelector("#answer"));
  if (inPlace) await act(page);
  else await Promise.all([page.waitForEvent("load"), act(page)]);
  await page.waitForLoadState();
}

/** Waits until the page has changed after an answer. */
async function answered(page, before) {
  await page.waitForFunction((old) => document.querySelector("#answer")?.dataset.query !== old, before);
}

/** What the difference sentence says somebody who holds a ratio of 6 would choose. */
async function opinion(page) {
  const numbers = await page.locator(".mistake .as-count").allTextContents();
  const [missedA, alarmsA, missedB, alarmsB] = numbers.map((text) => Number(text.replace(/[^0-9]/g, "")));
  return 6 * missedA + alarmsA <= 6 * missedB + alarmsB ? "a" : "b";
}

/** A mouse: clicks what a person would click. */
const mouse = async (page) => {
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
      else await field.locator("textarea").fill("Hard to say <b>in words</b>.");
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
    const undo = page.locator("#undo button");
    if (before.endsWith(".answered") && (await undo.isEnabled())) await undo.click();
    else await page.click(`#answer button[value="${await opinion(page)}"]`);
    return scripted ? answered(page, before) : undefined;
  }
  if (await has(page, 'a[href="/?begin=yes"]')) return page.click('a[href="/?begin=yes"]');
  return page.click("main form button");
};

/** A keyboard only: Tab until the wanted control has the focus, then a key. */
async function tabTo(page, selector) {
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

const keyboard = async (page) => {
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
  if (await has(page, 'a[href="/?begin=yes"]')) return press('a[href="/?begin=yes"]');
  return press("main form button");
};

const tests = [];
const test = (name, run) => tests.push({ name, run });

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const [how, act, options] of [
    ["mouse", mouse, {}],
    ["keyboard", keyboard, {}],
    ["no script", mouse, { javaScriptEnabled: false }],
  ]) {
    test(`a whole study by ${how} on a ${size}`, async (browser) => {
      const study = await serve();
      const colorScheme = how === "keyboard" ? "dark" : "light";
      const context = await browser.newContext({ viewport, colorScheme, ...options });
      try {
        const page = await context.newPage();
        const complaints = [];
        page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
        page.on("request", (request) => check(new URL(request.url()).origin === new URL(study.link).origin, request.url()));
        await page.goto(study.link);
        await page.waitForURL((url) => url.pathname === "/");
        const seen = new Set();
        await walk(page, act, async (page, step) => {
          const kind = await page.evaluate(() => document.querySelector("main form")?.getAttribute("action") ?? document.title);
          if (seen.has(kind) && kind === "/answer") return;
          seen.add(kind);
          const name = `${how.replace(" ", "-")}-${size}-${String(step).padStart(2, "0")}`;
          await page.screenshot({ path: join(pictures, `${name}.png`) });
          if (options.javaScriptEnabled === false) return; // axe-core is a script itself
          const violations = await accessibility(page);
          check(violations.length === 0, `${page.url()} ${kind}: ${violations.join("; ")}`);
          const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          check(sideways <= 0, `${kind} scrolls sideways by ${sideways} px`);
        });
        check(seen.has("/answer") && seen.has("/practice") && seen.has("/learn"), [...seen].join(" "));
        check(complaints.length === 0, complaints.join("; "));
      } finally {
        await context.close();
        study.stop();
      }
    });
  }
}

/** Up to the first comparison, by form posts and without looking. */
async function toFirstQuestion(page, link) {
  await page.goto(link);
  await page.waitForURL((url) => url.pathname === "/");
  for (let step = 0; step < 60; step++) {
    if (await has(page, 'form[action="/answer"]')) return;
    await go(page, mouse);
  }
  throw new Failure("no comparison came");
}

test("both systems' mistakes, the difference and the answers fit on a phone", async (browser) => {
  const study = await serve();
  const context = await browser.newContext({ viewport: SIZES.phone });
  try {
    const page = await context.newPage();
    await toFirstQuestion(page, study.link);
    for (const language of ["en", "de", "es", "fr"]) {
      await page.goto(new URL("/language", page.url()).href);
      await Promise.all([page.waitForURL((url) => url.pathname === "/"), page.click(`button[value="${language}"]`)]);
      await page.waitForSelector('#answer, a[href="/?begin=yes"]');
      if (await has(page, 'a[href="/?begin=yes"]')) await page.click('a[href="/?begin=yes"]');
      await page.waitForSelector("#answer");
      for (let question = 0; question < 4; question++) {
        const { needed, panels } = await page.evaluate(() => {
          const bar = document.querySelector(".answers").getBoundingClientRect();
          const needed = [...document.querySelectorAll(".end.mistake .number, .difference")].map((element) => {
            const { top, bottom } = element.getBoundingClientRect();
            return { text: element.textContent, fits: top >= 0 && bottom <= bar.top };
          });
          const small = [...document.querySelectorAll("button, .switch, .option, nav a")].map((element) => element.getBoundingClientRect());
          needed.push({ text: "targets of 44 px", fits: small.every(({ height }) => height === 0 || height >= 44) });
          needed.push({ text: "answers on the screen", fits: bar.bottom <= innerHeight });
          return { needed, panels: [...document.querySelectorAll(".system")].map((system) => system.getBoundingClientRect()) };
        });
        await page.screenshot({ path: join(pictures, `fits-${language}-${question}.png`) });
        for (const { text, fits } of needed) check(fits, `not on the screen in ${language}: ${text}`);
        const [a, b] = panels.map(({ width, height }) => width * height);
        check(Math.abs(a - b) / a <= 0.01, `panels of ${a} and ${b} square pixels`);
        const before = await page.getAttribute("#answer", "data-query");
        await page.waitForTimeout(300);
        await page.click(`#answer button[value=${await opinion(page)}]`);
        await answered(page, before);
      }
    }
  } finally {
    await context.close();
    study.stop();
  }
});

test("rates take the place of counts without moving anything", async (browser) => {
  const study = await serve();
  const context = await browser.newContext({ viewport: SIZES.desktop });
  try {
    const page = await context.newPage();
    await toFirstQuestion(page, study.link);
    const places = () => page.evaluate(() => [...document.querySelectorAll("main *")].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join(" ");
    }).join("\n"));
    const before = await places();
    await page.keyboard.press("r");
    check(await page.isChecked("#view-rates"), "r does not show rates");
    check((await places()) === before, "something moved");
    const visible = await page.locator(".as-rate").first().evaluate((element) => getComputedStyle(element).visibility);
    check(visible === "visible", "rates are not visible");
  } finally {
    await context.close();
    study.stop();
  }
});

test("a stray second press does not answer the next question, and times are right", async (browser) => {
  const study = await serve();
  const context = await browser.newContext({ viewport: SIZES.desktop });
  try {
    const page = await context.newPage();
    const sent = [];
    page.on("request", (request) => { if (request.url().endsWith("/answer")) sent.push(new URLSearchParams(request.postData())); });
    await toFirstQuestion(page, study.link);
    // A press the moment the next question appears. From inside the page: a busy machine would be late for it.
    await page.evaluate(() => {
      window.press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      // Before the question is painted, and right after.
      const stray = () => {
        window.press("b");
        requestAnimationFrame(() => requestAnimationFrame(() => window.press("b")));
      };
      new MutationObserver(stray).observe(document.body, { childList: true });
    });
    for (let trial = 0; trial < 5; trial++) {
      const before = await page.getAttribute("#answer", "data-query");
      const known = await page.evaluate(async () => {
        const frame = () => new Promise(requestAnimationFrame);
        await frame();
        await frame();
        const start = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 700));
        const elapsed = performance.now() - start;
        for (let presses = 0; presses < 3; presses++) window.press("a");
        return elapsed;
      });
      await answered(page, before);
      const measured = Number(sent.at(-1).get("response_ms"));
      check(measured >= known - 50, `measured ${measured} ms of at least ${known} ms`);
      check(sent.length === trial + 1, `${sent.length} answers after ${trial + 1} questions`);
    }
  } finally {
    await context.close();
    study.stop();
  }
});

test("an answer without a connection is kept and sent when it is back", async (browser) => {
  const study = await serve();
  const context = await browser.newContext({ viewport: SIZES.phone });
  try {
    const page = await context.newPage();
    await toFirstQuestion(page, study.link);
    const before = await page.getAttribute("#answer", "data-query");
    await page.waitForTimeout(300);
    await context.setOffline(true);
    await page.keyboard.press("a");
    await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("Waiting"));
    check((await page.getAttribute("#answer", "data-query")) === before, "the next question came without an acknowledgement");
    await context.setOffline(false);
    await answered(page, before);
    check((await page.textContent("#status")) === "Saved", "not said to be saved");
  } finally {
    await context.close();
    study.stop();
  }
});

test("the link goes on where it was on a second device, and the first can take it back", async (browser) => {
  const study = await serve();
  const [phone, laptop] = await Promise.all([SIZES.phone, SIZES.desktop].map((viewport) => browser.newContext({ viewport })));
  try {
    const [first, second] = [await phone.newPage(), await laptop.newPage()];
    await toFirstQuestion(first, study.link);
    await first.waitForTimeout(300);
    await first.click("#answer button[value=a]");
    await first.waitForFunction(() => document.querySelector("#status")?.textContent === "Saved");
    const numbers = await first.locator(".as-count").allTextContents();
    await second.goto(study.link);
    await second.waitForSelector("#answer");
    check(!second.url().includes("/s/"), `the token is still in the address: ${second.url()}`);
    check((await second.locator(".as-count").allTextContents()).join() === numbers.join(), "another question on the second device");
    await first.reload();
    await first.waitForSelector('form[action="/lease"]');
    const violations = await accessibility(first);
    check(violations.length === 0, violations.join("; "));
    await first.click('form[action="/lease"] button');
    await first.waitForSelector("#answer");
    check((await first.locator(".as-count").allTextContents()).join() === numbers.join(), "another question after taking it back");
  } finally {
    await phone.close();
    await laptop.close();
    study.stop();
  }
});

const wanted = process.env.ONLY ?? "";
const browser = await launch();
let passed = 0, failed = 0;
for (const { name, run } of tests.filter(({ name }) => name.includes(wanted))) {
  const started = Date.now();
  try {
    await run(browser);
    passed++;
    console.log(`test ${name} ... ok (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`test ${name} ... FAILED\n  ${error instanceof Failure ? error.message : error.stack}`);
  }
}
await browser.close();
console.log(`test result: ${failed ? "FAILED" : "ok"}. ${passed} passed; ${failed} failed; in the browser`);
process.exitCode = failed ? 1 : 0;
