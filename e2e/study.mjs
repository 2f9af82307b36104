// Whole studies in a real browser: by mouse, by keyboard only, and without a script, on a phone and on a desk. Every
// page on the way goes through axe-core. Usage: node study.mjs EQUIPOISE PICTURES
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { accessibility, largestPaint, offScreen, SIZES } from "./browser.mjs";
import { check, run, serve, serveTemplate } from "./runner.mjs";
import { answered, has, keyboard, mouse, opinion, toFirstQuestion, walk } from "./walk.mjs";

const [equipoise, pictures] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });

const tests = [];
const test = (name, run) => tests.push({ name, run });

/** On this computer the largest part of a page is there within a second. */
const SLOWEST_PAINT = 1000;

/** The last page tells a result, draws it, and has a picture of it to keep. */
async function keeps(page) {
  for (const part of [".answer", ".axis .track .dot.found", "code.receipt"]) check(await has(page, part), `no ${part} on the last page`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click('a[href="/result.svg"]')]);
  const drawn = readFileSync(await download.path(), "utf8");
  check(download.suggestedFilename() === "result.svg" && drawn.startsWith("<svg"), drawn.slice(0, 80));
  const sentence = (await page.textContent(".answer")).trim();
  const words = drawn.replace(/<style>.*?<\/style>/, "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  check(words.includes(sentence), `the picture does not say "${sentence}": ${words}`);
}

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const [how, act, options] of [
    ["mouse", mouse, {}],
    ["keyboard", keyboard, {}],
    ["no script", mouse, { javaScriptEnabled: false }],
  ]) {
    test(`a whole study by ${how} on a ${size}`, async (browser) => {
      const study = await serve(equipoise);
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
        const paints = [];
        await walk(page, act, async (page, step) => {
          const kind = await page.evaluate(() => document.querySelector("main form")?.getAttribute("action") ?? document.title);
          if (seen.has(kind) && kind === "/answer") return;
          seen.add(kind);
          const name = `${how.replace(" ", "-")}-${size}-${String(step).padStart(2, "0")}`;
          await page.screenshot({ path: join(pictures, `${name}.png`) });
          if (options.javaScriptEnabled === false) return; // axe-core is a script itself
          const painted = await largestPaint(page);
          if (painted !== null) paints.push(painted);
          check(painted === null || painted < SLOWEST_PAINT, `${kind}: the largest part is there after ${Math.round(painted)} ms`);
          const violations = await accessibility(page);
          check(violations.length === 0, `${page.url()} ${kind}: ${violations.join("; ")}`);
          const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          check(sideways <= 0, `${kind} scrolls sideways by ${sideways} px`);
        });
        await keeps(page);
        if (options.javaScriptEnabled !== false) {
          check(paints.length > 5, `only ${paints.length} pages told when they were painted`);
          console.log(`  largest part of ${paints.length} pages: ${Math.round(Math.max(...paints))} ms at most`);
        }
        check(seen.has("/answer") && seen.has("/practice") && seen.has("/learn"), [...seen].join(" "));
        check(complaints.length === 0, complaints.join("; "));
      } finally {
        await context.close();
        study.stop();
      }
    });
  }
}

test("both systems' mistakes, the difference and the answers fit on a phone", async (browser) => {
  const study = await serve(equipoise);
  const context = await browser.newContext({ viewport: SIZES.phone });
  try {
    const page = await context.newPage();
    await toFirstQuestion(page, study.link);
    for (const language of ["en", "de", "es", "fr"]) {
      await page.goto(new URL("/language", page.url()).href);
      await Promise.all([page.waitForURL((url) => url.pathname === "/"), page.click(`button[value="${language}"]`)]);
      await page.waitForSelector("#answer");
      for (let question = 0; question < 4; question++) {
        const { small, panels } = await page.evaluate(() => {
          const targets = [...document.querySelectorAll("button, .switch, .option, nav a")].map((element) => element.getBoundingClientRect());
          const small = targets.filter(({ height }) => height > 0 && height < 44).length;
          return { small, panels: [...document.querySelectorAll(".system")].map((system) => system.getBoundingClientRect()) };
        });
        await page.screenshot({ path: join(pictures, `fits-${language}-${question}.png`) });
        const hidden = await offScreen(page);
        check(hidden.length === 0, `not on the screen in ${language}: ${hidden.join("; ")}`);
        check(small === 0, `${small} targets are lower than 44 px`);
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

for (const template of ["multiclass-triage", "group-fair-hiring"]) {
  test(`a whole study of ${template} by keyboard, and what it asks about fits on a phone`, async (browser) => {
    const study = await serveTemplate(equipoise, template);
    const context = await browser.newContext({ viewport: SIZES.phone, colorScheme: "dark" });
    try {
      const page = await context.newPage();
      await page.goto(study.link);
      await page.waitForURL((url) => url.pathname === "/");
      let looked = 0;
      await walk(page, keyboard, async (page, step) => {
        if (!(await has(page, "#answer"))) {
          const violations = await accessibility(page);
          check(violations.length === 0, `${page.url()}: ${violations.join("; ")}`);
          return;
        }
        looked++;
        const hidden = await offScreen(page);
        if (looked < 8 || hidden.length) await page.screenshot({ path: join(pictures, `fits-${template}-${String(step).padStart(2, "0")}.png`) });
        check(hidden.length === 0, `not on the screen at step ${step}: ${hidden.join("; ")}`);
      });
      await keeps(page);
      check(looked > 16, `${looked} comparisons`);
    } finally {
      await context.close();
      study.stop();
    }
  });
}

test("rates take the place of counts without moving anything", async (browser) => {
  const study = await serve(equipoise);
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
  const study = await serve(equipoise);
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
  const study = await serve(equipoise);
  const context = await browser.newContext({ viewport: SIZES.phone });
  try {
    const page = await context.newPage();
    await toFirstQuestion(page, study.link);
    const before = await page.getAttribute("#answer", "data-query");
    await page.waitForTimeout(300);
    const places = () => page.evaluate(() => [...document.querySelectorAll("main h1, main .system, main .answers button, main progress")].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join(" ");
    }).join("\n"));
    const still = await places();
    await context.setOffline(true);
    await page.keyboard.press("a");
    await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("Offline"));
    check((await places()) === still, "something moved when the connection was lost");
    check((await page.locator(".answers .chosen").getAttribute("value")) === "a", "the answer that was given is not marked");
    await page.screenshot({ path: join(pictures, "offline-phone.png") });
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
  const study = await serve(equipoise);
  const [phone, laptop] = await Promise.all([SIZES.phone, SIZES.desktop].map((viewport) => browser.newContext({ viewport })));
  try {
    const [first, second] = [await phone.newPage(), await laptop.newPage()];
    await toFirstQuestion(first, study.link);
    await first.waitForTimeout(300);
    await first.click("#answer button[value=a]");
    await first.waitForFunction(() => document.querySelector("#status")?.textContent === "Saved");
    const numbers = await first.locator(".as-count").allTextContents();
    await second.goto(study.link);
    await second.click('form[action="/lease"] button');
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

test("a mistake of the server is shown after a few tries, not sent again for ever", async (browser) => {
  const study = await serve(equipoise);
  const context = await browser.newContext({ viewport: SIZES.phone });
  try {
    const page = await context.newPage();
    await toFirstQuestion(page, study.link);
    let sent = 0;
    await context.route("**/answer", (route) => {
      sent++;
      return route.fulfill({ status: 500, contentType: "text/html", body: '<title>x</title><main id="main"><h1>Something went wrong</h1><a href="/">Continue</a></main>' });
    });
    await page.waitForTimeout(400);
    await page.click('#answer button[value="a"]');
    await page.waitForSelector("text=Something went wrong", { timeout: 20000 });
    check(sent === 4, `sent ${sent} times`);
    await page.waitForTimeout(3000);
    check(sent === 4, "it goes on sending");
    // And the next page does not begin with it again.
    await context.unroute("**/answer");
    await Promise.all([page.waitForEvent("load"), page.click("text=Continue")]);
    if (await has(page, 'a[href="/?begin=yes"]')) await page.click('a[href="/?begin=yes"]');
    await page.waitForSelector("#answer");
    await page.waitForTimeout(1500);
    check(await has(page, "#answer"), "the question is not there again");
    check((await page.evaluate(() => localStorage.getItem("equipoise.outbox"))) === null, "the answer is still kept to be sent");
  } finally {
    await context.close();
    study.stop();
  }
});

await run(tests);
