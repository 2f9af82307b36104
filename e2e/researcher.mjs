// The researchers' side in a real browser: signing in by keyboard only, every page at two sizes in light and dark past
// axe-core, and answers that appear while one looks. Usage: node researcher.mjs EQUIPOISE PICTURES
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessibility, SIZES } from "./browser.mjs";
import { check, run, serve, serveDraft } from "./runner.mjs";
import { answered, go, mouse, tabTo, toFirstQuestion, walk } from "./walk.mjs";

const [equipoise, pictures] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });

const PAGES = {
  overview: "/", "overview-of-one": "/?person=2", participants: "/participants", sorted: "/participants?sort=answers&order=down&show=now",
  links: "/participants/links", person: "/participants/2", replay: "/participants/2?question=3", results: "/results", "what-if": "/results?at=130",
  report: "/results/report", "report-whole": "/results/report?appendix=yes", files: "/results/files", design: "/design", settings: "/settings", audit: "/settings/audit",
};
const PASSWORD = "three small boats";

/** Signs in by keyboard only. */
async function signIn(page, { link }, name, password) {
  await page.goto(link);
  check(new URL(page.url()).pathname === "/sign-in", `not asked to sign in: ${page.url()}`);
  await tabTo(page, "#name");
  await page.keyboard.type(name);
  await tabTo(page, "#password");
  await page.keyboard.type(password);
  await Promise.all([page.waitForURL((url) => url.pathname === "/"), page.keyboard.press("Enter")]);
}

/** Presses a button by keyboard only, and waits for the page that follows. */
async function press(page, selector) {
  await tabTo(page, selector);
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
}

/** What is wrong with a page as a whole. */
async function inspect(page, name) {
  const violations = await accessibility(page);
  check(violations.length === 0, `${name}: ${violations.join("; ")}`);
  const size = page.viewportSize();
  for (const width of new Set([size.width, 320, 768, 1920])) {
    await page.setViewportSize({ ...size, width });
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(sideways <= 0, `${name} scrolls sideways by ${sideways} px at ${width} px`);
  }
  await page.setViewportSize(size);
  const small = await page.evaluate(() => [...document.querySelectorAll("button, .button, nav a, summary, select, input:not([type=hidden], [type=checkbox])")]
    .filter((element) => element.getClientRects().length && element.getBoundingClientRect().height < 24).map((element) => element.outerHTML.slice(0, 80)));
  check(small.length === 0, `${name}: less than 24 px high: ${small.join(" ")}`);
}

/** Makes links on the page for them, by keyboard. */
async function makeLinks(page, origin, count) {
  await page.goto(`${origin}/participants/links`);
  await tabTo(page, "#count");
  await page.keyboard.press("Control+A");
  await page.keyboard.type(String(count));
  await press(page, 'button[value="page"]');
  return page.locator("code.link").allTextContents();
}

const tests = [];
const test = (name, run) => tests.push({ name, run });

test("researchers sign in by keyboard, and every page is sound in every light", async (browser) => {
  const study = await serve(equipoise);
  const origin = study.researchers.link;
  const desk = await browser.newContext({ viewport: SIZES.desktop });
  const complaints = [];
  const watched = async (context) => {
    const page = await context.newPage();
    page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
    page.on("request", (request) => { if (new URL(request.url()).origin !== origin) complaints.push(request.url()); });
    return page;
  };
  try {
    const page = await watched(desk);
    await page.goto(origin);
    await inspect(page, "sign-in");
    await signIn(page, study.researchers, study.researchers.name, study.researchers.password);
    const links = await makeLinks(page, origin, 5);
    check(links.length === 5, `${links.length} links`);
    await inspect(page, "new links");
    await page.screenshot({ path: join(pictures, "new-links.png"), fullPage: true });
    // Two go through the whole study, three stop after a few comparisons.
    for (const [place, link] of links.entries()) {
      const context = await browser.newContext({ viewport: SIZES.desktop, javaScriptEnabled: false });
      const person = await context.newPage();
      if (place < 2) {
        await person.goto(link);
        await person.waitForURL((url) => url.pathname === "/");
        await walk(person, mouse, async () => {});
      } else {
        await toFirstQuestion(person, link);
        for (let answers = 0; answers < 6; answers++) await go(person, mouse);
      }
      await context.close();
    }
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const colorScheme of ["light", "dark"]) {
        const context = await browser.newContext({ viewport, colorScheme, storageState: await desk.storageState() });
        const page = await watched(context);
        for (const [name, path] of Object.entries(PAGES)) {
          await page.goto(origin + path);
          // The page asks again by itself while it is being made.
          if (name.startsWith("report")) await page.waitForSelector(".report", { timeout: 120000 });
          await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: true });
          await inspect(page, `${name} on a ${size}, ${colorScheme}`);
          await page.evaluate(() => { for (const details of document.querySelectorAll("main details")) details.open = true; });
          await inspect(page, `${name} opened, on a ${size}, ${colorScheme}`);
        }
        await context.close();
      }
    }
    // What is printed is the report: neither what surrounds it nor what is folded.
    await page.goto(`${origin}/results/report`);
    await page.waitForSelector(".report");
    await page.emulateMedia({ media: "print" });
    for (const selector of [".top", ".pages", "main > .actions", ".appendix"]) {
      check(!(await page.locator(selector).first().isVisible()), `${selector} is printed`);
    }
    check(await page.locator(".report h1").isVisible(), "the report is not printed");
    const sheets = (await page.pdf({ format: "A4", path: join(pictures, "report.pdf") })).toString("latin1").match(/\/Type\s*\/Page\b/g).length;
    check(sheets <= 4, `${sheets} sheets`);
    console.log(`  the report of 5 people is printed on ${sheets} sheets`);
    // Pages that are not ready are answered with 503, which browsers tell as an error.
    const real = complaints.filter((complaint) => !complaint.includes("503"));
    check(real.length === 0, real.join("; "));
  } finally {
    await desk.close();
    study.stop();
  }
});

test("an answer appears on the live page within two seconds, and what was open stays open", async (browser) => {
  const study = await serve(equipoise);
  const [desk, phone] = await Promise.all([SIZES.desktop, SIZES.phone].map((viewport) => browser.newContext({ viewport })));
  try {
    const [page, person] = [await desk.newPage(), await phone.newPage()];
    await signIn(page, study.researchers, study.researchers.name, study.researchers.password);
    await toFirstQuestion(person, study.link);
    await person.waitForTimeout(300);
    const answer = async () => {
      const before = await person.getAttribute("#answer", "data-query");
      await person.waitForTimeout(300);
      await person.click('#answer button[value="a"]');
      await answered(person, before);
    };
    await answer();
    await page.goto(`${study.researchers.link}/`);
    await page.click("#narrowing-table > summary").catch(() => {});
    const count = () => page.locator("#live dt:text-is('comparisons answered') + dd").textContent();
    let slowest = 0;
    for (let answers = 2; answers <= 8; answers++) {
      await answer();
      const at = Date.now();
      await page.waitForFunction((wanted) => {
        const terms = [...document.querySelectorAll("#live dt")];
        return terms.find((term) => term.textContent === "comparisons answered")?.nextElementSibling.textContent === wanted;
      }, String(answers), { timeout: 10000 });
      slowest = Math.max(slowest, Date.now() - at);
    }
    check(Number(await count()) === 8, `${await count()} answers on the page`);
    check(slowest <= 2000, `an answer appeared after ${slowest} ms`);
    console.log(`  the slowest of 7 answers appeared after ${slowest} ms`);
    // Whoever does not want the page to change under them says so.
    await page.uncheck("#refreshing");
    await answer();
    await page.waitForTimeout(2500);
    check(Number(await count()) === 8, "the page went on changing");
  } finally {
    await desk.close();
    await phone.close();
    study.stop();
  }
});

test("every role has the pages it may see, without a script too", async (browser) => {
  const study = await serve(equipoise);
  const { link: origin, name, password } = study.researchers;
  const desk = await browser.newContext({ viewport: SIZES.phone, javaScriptEnabled: false });
  try {
    const page = await desk.newPage();
    await signIn(page, study.researchers, name, password);
    const menu = () => page.locator('nav[aria-label="Places"] a').allTextContents();
    check((await menu()).join() === "Overview,Participants,Results,Design,Settings", (await menu()).join());
    for (const role of ["analyst", "viewer"]) {
      await page.goto(`${origin}/settings`);
      const form = page.locator('form[action="/accounts"]');
      await form.locator('[name="name"]').fill(role);
      await form.locator('[name="role"]').selectOption(role);
      await form.locator('[name="password"]').fill(PASSWORD);
      await form.locator("button").click();
      await page.waitForSelector("text=The account was made.");
    }
    for (const [role, expected] of [
      ["analyst", "Overview,Participants,Results,Design,Settings"],
      ["viewer", "Overview,Results,Design,Settings"],
    ]) {
      await page.click("text=Sign out");
      await signIn(page, study.researchers, role, PASSWORD);
      check((await menu()).join() === expected, `${role}: ${(await menu()).join()}`);
      for (const entry of await menu()) {
        await page.click(`nav[aria-label="Places"] >> text="${entry}"`);
        check((await page.locator("h1").textContent()) === entry, `${role} does not get to ${entry}`);
      }
      await page.goto(`${origin}/participants/links`);
      check((await page.locator("h1").textContent()) === "Not for your role", `${role} sees links`);
      await page.screenshot({ path: join(pictures, `not-for-${role}.png`) });
    }
  } finally {
    await desk.close();
    study.stop();
  }
});

test("a preview goes through the whole study and nobody has come, without a script too", async (browser) => {
  const study = await serve(equipoise);
  const { link: origin, name, password } = study.researchers;
  const desk = await browser.newContext({ viewport: SIZES.desktop, javaScriptEnabled: false });
  try {
    const page = await desk.newPage();
    await signIn(page, study.researchers, name, password);
    const places = () => page.locator("th:text-is('have a place') + td").textContent();
    const before = await places();
    await page.goto(`${origin}/design`);
    await Promise.all([page.waitForEvent("load"), page.click("text=Open a preview")]);
    const address = await page.getAttribute("text=Go through the study", "href");
    const person = await desk.newPage();
    await person.goto(address);
    await person.waitForURL((url) => url.pathname === "/");
    await walk(person, mouse, async (page) => {
      check((await page.locator(".preview-mark").count()) === 1, "a page of the preview does not say that it is one");
    });
    await person.screenshot({ path: join(pictures, "preview-end.png"), fullPage: true });
    await page.goto(origin);
    check((await places()) === before, `${await places()} places, ${before} before`);
    check((await page.locator("dt:text-is('comparisons answered') + dd").textContent()) === "0", "its answers are counted");
    // Simulated people fill the results, and are said to be simulated; the results themselves stay empty.
    await page.goto(`${origin}/design`);
    await page.click("text=with 20 simulated people");
    await page.waitForSelector("text=nothing on this page is a result", { timeout: 60000 });
    check((await page.locator("h2:text-is('In common')").count()) === 1, "simulated people have nothing in common");
    await page.screenshot({ path: join(pictures, "simulated.png"), fullPage: true });
    for (const [name, path] of [["overview", "/"], ["participants", "/participants"], ["person", "/participants/7"]]) {
      await page.goto(`${origin}${path}?people=simulated`);
      check((await page.locator("text=nothing on this page is a result").count()) === 1, `the ${name} does not say who is simulated`);
    }
    const scripted = await browser.newContext({ viewport: SIZES.phone, storageState: await desk.storageState() });
    const looked = await scripted.newPage();
    for (const [name, path] of [["overview", "/"], ["participants", "/participants"], ["person", "/participants/7"], ["results", "/results"]]) {
      await looked.goto(`${origin}${path}?people=simulated`);
      await looked.screenshot({ path: join(pictures, `simulated-${name}.png`), fullPage: true });
      await inspect(looked, `simulated ${name}`);
    }
    await scripted.close();
    await page.goto(`${origin}/results`);
    check((await page.locator("text=Fewer than two people").count()) === 1, "simulated people are among the results");
  } finally {
    await desk.close();
    study.stop();
  }
});

/** A file chosen on the page for tables, and what comes of it. */
async function upload(page, name, text) {
  await page.setInputFiles("#file", { name, mimeType: "text/csv", buffer: Buffer.from(text) });
  await Promise.all([page.waitForEvent("load"), page.click("text=Upload")]);
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? "with what the check says while typing" : "without a script";
  test(`a draft is edited, given a table, locked and taken part in, ${how}`, async (browser) => {
    const study = await serveDraft(equipoise, "binary-cancer");
    const { link: origin, name, password } = study.researchers;
    const desk = await browser.newContext({ viewport: SIZES.desktop, javaScriptEnabled });
    const file = join(study.directory, "study.toml");
    try {
      // axe needs a script itself.
      const inspected = async (page, name) => { if (javaScriptEnabled) await inspect(page, name); };
      check(study.draft === true, "a study that is not locked is not said to be a draft");
      const page = await desk.newPage();
      const complaints = [];
      page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
      await signIn(page, study.researchers, name, password);
      check((await page.locator("text=nobody can take part yet").count()) === 1, "the pages do not say that it is a draft");
      await page.goto(`${origin}/design`);
      await Promise.all([page.waitForEvent("load"), page.click("text=Edit the study")]);
      if (!javaScriptEnabled) {
        for (const [size, viewport] of Object.entries(SIZES)) {
          for (const colorScheme of ["light", "dark"]) {
            const context = await browser.newContext({ viewport, colorScheme, storageState: await desk.storageState() });
            const page = await context.newPage();
            for (const [name, path] of [["draft", "/design"], ["edit", "/design/edit"], ["lock", "/design/lock"], ["draft-links", "/participants/links"]]) {
              await page.goto(origin + path);
              await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: true });
              await inspect(page, `${name} on a ${size}, ${colorScheme}`);
            }
            await context.close();
          }
        }
      }
      // By keyboard only: a field, then the file with a mistake in it.
      await tabTo(page, "[name='field:stop.cap']");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("11");
      await press(page, "section[aria-labelledby='often'] button");
      check((await page.locator("text=Saved. A copy").count()) === 1, "saving is not said to be done");
      const saved = readFileSync(file, "utf8");
      check(saved.includes("cap = 11 "), "what was typed is not in the file");
      const wrong = saved.replace("cap = 11 ", 'cap = "some" ');
      const line = saved.split("\n").findIndex((line) => line.startsWith("cap = ")) + 1;
      await page.fill("#text", wrong);
      if (javaScriptEnabled) {
        await page.waitForSelector(`#findings >> text=error file, line ${line}`, { timeout: 10000 });
        await inspect(page, "an error while typing");
      } else {
        await Promise.all([page.waitForEvent("load"), page.click("text=Check, with its length")]);
        check((await page.locator(`#findings >> text=error file, line ${line}`).count()) === 1, "the button does not check");
      }
      await page.screenshot({ path: join(pictures, `edit-error-${javaScriptEnabled}.png`), fullPage: true });
      await Promise.all([page.waitForEvent("load"), page.click("text=Save the file")]);
      check((await page.locator(".problem >> text=Nothing was saved").count()) === 1, "what is wrong was saved");
      await inspected(page, "what was not saved");
      check((await page.inputValue("#text")) === wrong, "what was typed is gone");
      await page.fill("#text", saved.replace("Screening for cancer", "Screening, edited in a browser"));
      await Promise.all([page.waitForEvent("load"), page.click("text=Save the file")]);
      check((await page.locator("header >> text=Screening, edited in a browser").count()) === 1, "what was saved is not served");
      // A table that cannot be read changes nothing and gets its sentence.
      const table = readFileSync(join(study.directory, "cancer.csv"), "utf8");
      await upload(page, "../../broken.csv", "y,p\n1,0.5\n0,seven\n");
      check((await page.locator(".problem >> text=seven").count()) === 1, "a broken table has no sentence");
      await page.screenshot({ path: join(pictures, `edit-broken-table-${javaScriptEnabled}.png`) });
      check(readFileSync(join(study.directory, "cancer.csv"), "utf8") === table, "a broken table replaced the good one");
      const fewer = table.split("\n").filter((_, n) => n === 0 || n % 2).join("\n") + "\n";
      await upload(page, "mine.csv", fewer);
      check(readFileSync(join(study.directory, "cancer.csv"), "utf8") === fewer, "the table is not in its place");
      // Somebody else saves meanwhile.
      await page.goto(`${origin}/design/edit`);
      writeFileSync(file, readFileSync(file, "utf8").replace("edited in a browser", "edited beside it"));
      await Promise.all([page.waitForEvent("load"), page.click("text=Save the file")]);
      check((await page.locator("text=has changed on the disk").count()) === 1, "a file that changed was overwritten");
      // The lock, and somebody who takes part.
      await page.goto(`${origin}/design/lock`);
      const hash = await page.getAttribute("[name='hash']", "value");
      await press(page, "form[action='/design/lock'] button");
      check((await page.locator("text=The study is locked now").count()) === 1, "the lock is not said to be done");
      check(JSON.parse(readFileSync(join(study.directory, "study.lock"), "utf8")).hash === hash, "another hash was locked");
      await page.screenshot({ path: join(pictures, `locked-${javaScriptEnabled}.png`), fullPage: true });
      await inspected(page, "a study that was locked");
      const closed = await page.goto(`${origin}/design/edit`);
      check(closed.status() === 409, `editing a locked study is answered with ${closed.status()}`);
      await inspected(page, "a locked study that was to be edited");
      const [link] = await makeLinks(page, origin, 1);
      const person = await desk.newPage();
      await toFirstQuestion(person, link);
      check((await person.locator("text=edited beside it").count()) > 0, "people take part in another study");
      const real = complaints.filter((complaint) => !/ (409|422)/.test(complaint));
      check(real.length === 0, real.join("; "));
    } finally {
      await desk.close();
      study.stop();
    }
  });
}

await run(tests);
