// A table in a real browser, from its file to the models in the order of a metric: by mouse, by keyboard only, without a
// script; on a phone and on a desk. Every state goes through axe-core. Usage: node open.mjs EQUIPOISE PICTURES
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { accessibility, SIZES, WIDTHS } from "./browser.mjs";
import { check, Failure, run } from "./runner.mjs";
import { opinion } from "./walk.mjs";

// By their full names: some of what is run, is run elsewhere.
const [equipoise, pictures] = process.argv.slice(2).map((path) => resolve(path));
mkdirSync(pictures, { recursive: true });
const tables = new URL("../examples/tables/", import.meta.url).pathname;
const screening = join(tables, "screening.csv");

const tests = [];
const test = (name, run) => tests.push({ name, run });

/** The command with its page; `words` go on after `equipoise open`. */
async function open(...words) {
  const server = spawn(equipoise, ["open", "--no-browser", "--json", ...words], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try {
      return { link: JSON.parse(text).link, stop: () => server.kill("SIGTERM") };
    } catch { /* there is more to come */ }
  }
  throw new Failure(`the page did not open: ${text}`);
}

/** A folder for a test, with a table and the predictions of two other models in it. */
function folder() {
  const place = mkdtempSync(join(tmpdir(), "equipoise-open-"));
  copyFileSync(screening, join(place, "screening.csv"));
  const [head, ...rows] = readFileSync(screening, "utf8").trim().split("\n");
  // Both know less than the table's own model: one is drawn to the middle, the other changes places with its neighbours.
  const scores = rows.map((row) => Number(row.split(",")[2]));
  const model = (name, score) => {
    const lines = rows.map((row, n) => {
      const [y, , , group] = row.split(",");
      return `${y},${(1 - score(n)).toFixed(4)},${score(n).toFixed(4)},${group}`;
    });
    writeFileSync(join(place, name), [head, ...lines].join("\n") + "\n");
  };
  model("forest.csv", (n) => 0.3 + 0.4 * scores[n]);
  model("boosting.csv", (n) => 0.7 * scores[n] + 0.3 * scores[(n + 1) % scores.length]);
  return { place, remove: () => rmSync(place, { recursive: true, force: true }) };
}

/** A page in a browser of its own, all of whose requests stay with us. */
async function visit(browser, link, options = {}) {
  const context = await browser.newContext({ viewport: SIZES.desktop, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => { if (message.type() === "error") page.complaints.push(message.text()); });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== "data:" && asked.origin !== new URL(link).origin) page.complaints.push(asked.href);
  });
  await page.goto(link);
  await page.waitForURL((url) => url.pathname === "/");
  return page;
}

/** What holds for every state: nothing wrong with it, no width at which it scrolls sideways; and pictures of it. */
async function look(page, name) {
  const violations = await accessibility(page);
  check(violations.length === 0, `${name}: ${violations.join("; ")}`);
  const before = page.viewportSize();
  for (const width of [...WIDTHS, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(sideways <= 0, `${name} scrolls sideways by ${sideways} px at ${width}`);
  }
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await accessibility(page);
    check(dark.length === 0, `${name} in the dark: ${dark.join("; ")}`);
    await page.emulateMedia({ colorScheme: "light" });
  }
  await page.setViewportSize(before);
}

/** Each answer lies under its system and is as wide; the two that are neither come after both, in a row. */
async function aligned(page) {
  for (const viewport of [SIZES.phone, SIZES.desktop, { width: 320, height: 640 }]) {
    await page.setViewportSize(viewport);
    const { systems, answers, others } = await page.evaluate(() => {
      const box = (element) => { const { left, right, top, bottom } = element.getBoundingClientRect(); return { left, right, top, bottom }; };
      const all = (selector) => [...document.querySelectorAll(selector)].map(box);
      return { systems: all(".system"), answers: all(".side > button"), others: all(".second button") };
    });
    check(systems.length === 2 && answers.length === 2 && others.length === 2, "two systems, two answers, two others");
    for (const [n, system] of systems.entries()) {
      const answer = answers[n];
      check(Math.abs(system.left - answer.left) < 1 && Math.abs(system.right - answer.right) < 1, `answer ${n} is not as wide as its system at ${viewport.width}`);
      check(answer.top >= system.bottom && answer.top - system.bottom < 24, `answer ${n} is not under its system at ${viewport.width}`);
    }
    check(systems[0].right < systems[1].left, "the systems are not side by side");
    check(others.every(({ top }) => top >= Math.max(...answers.map(({ bottom }) => bottom))), "the second row is not below");
    check(Math.abs(others[0].top - others[1].top) < 1, "the second row is not a row");
  }
  await page.setViewportSize(SIZES.desktop);
}

/** The threshold of the metric, as the page's table has it. */
const threshold = async (page) => Number(await page.locator("#threshold tbody tr", { hasText: "Bayes" }).locator("td").nth(1).textContent());

/** Which models the page ranks, best first. */
const ranked = (page) => page.locator("#ranking tbody tr").evaluateAll((rows) => rows.map((row) => row.cells[1].textContent));

/** Answers until the questions end; `answer` gives a choice to the page. Returns how many there were. */
async function answerAll(page, answer, each = async () => {}) {
  for (let question = 1; question < 60; question++) {
    if (!(await page.locator("#answer").count())) return question - 1;
    const said = await page.textContent(".question");
    check(said.includes(`Question ${question} of about`) || said.includes(`Question ${question} of at most`), said);
    await each(question);
    const choice = await opinion(page);
    await page.waitForTimeout(250);
    await Promise.all([page.waitForEvent("load"), answer(choice)]);
  }
  throw new Failure("the questions do not end");
}

test("a table chosen in the page: metric, threshold, ranking and files in at most 20 clicks", async (browser) => {
  const [{ place, remove }, opened] = [folder(), await open()];
  const page = await visit(browser, opened.link);
  try {
    let clicks = 0;
    check((await page.title()).startsWith("Open a table"), await page.title());
    await look(page, "start");
    clicks++;
    await Promise.all([page.waitForEvent("load"), page.setInputFiles("#file", screening)]);
    check((await page.textContent(".facts")).includes("400"), await page.textContent("main"));
    check(await page.locator(".plot img").evaluate((image) => image.complete && image.naturalWidth > 0), "no picture of what is achievable");
    await look(page, "table");
    clicks++;
    await Promise.all([page.waitForEvent("load"), page.click("#start button")]);
    await aligned(page);
    await look(page, "question");
    const questions = await answerAll(page, (choice) => { clicks++; return page.click(`button[value=${choice}]`); });
    check(questions <= 12, `${questions} questions`);
    check((await page.textContent(".answer")).includes("false alarms to avoid one missed malignant case"), await page.textContent("main"));
    const at = await threshold(page);
    check(at >= 0.10 && at <= 0.17, `a threshold of ${at}`);
    check(await page.locator("#threshold .plot img").evaluate((image) => image.complete && image.naturalWidth > 0), "no decision curve");
    await look(page, "outcome");
    // Two files dropped on the page.
    const files = ["forest.csv", "boosting.csv"].map((name) => [name, readFileSync(join(place, name), "utf8")]);
    const dropped = await page.evaluateHandle((files) => {
      const data = new DataTransfer();
      for (const [name, text] of files) data.items.add(new File([text], name, { type: "text/csv" }));
      return data;
    }, files);
    clicks++;
    await Promise.all([page.waitForEvent("load"), page.dispatchEvent("form.drop", "drop", { dataTransfer: dropped })]);
    const order = await ranked(page);
    check(order.length === 3 && order.includes("forest") && order.includes("boosting") && order.includes("screening"), order.join(" "));
    await look(page, "ranking");
    check(clicks <= 20, `${clicks} clicks`);
    for (const name of ["metric.json", "scorer.py", "report.html", "interview.json"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click(`a[href="/download/${name}"]`)]);
      await download.saveAs(join(place, "downloads", name));
    }
    const metric = JSON.parse(readFileSync(join(place, "downloads", "metric.json"), "utf8"));
    check(metric.kind === "linear" && metric.provenance.questions === questions, JSON.stringify(metric));
    // What was saved is what the terminal reads.
    const said = execFileSync(equipoise, ["threshold", screening, "--metric", join(place, "downloads", "metric.json"), "--no-svg", "--json"]);
    check(Math.abs(JSON.parse(said).bayes.threshold - at) < 0.001, "the terminal has another threshold");
    const kept = await page.textContent("#saved ~ .hint code");
    check(existsSync(join(kept, "metric.json")) && existsSync(join(kept, "screening.interview.json")), kept);
    check(page.complaints.length === 0, page.complaints.join("; "));
    console.log(`  ${questions} questions, ${clicks} clicks, a threshold of ${at}, ${order.join(" > ")}`);
  } finally {
    await page.context().close();
    opened.stop();
    remove();
  }
});

test("the same by keyboard only, saved beside the table", async (browser) => {
  const { place, remove } = folder();
  const opened = await open(join(place, "screening.csv"));
  const page = await visit(browser, opened.link, { colorScheme: "dark" });
  const focus = async (selector) => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((selector) => document.activeElement.matches(selector), selector)) return;
    }
    throw new Failure(`${selector} cannot be reached with keys`);
  };
  try {
    await focus("#start button");
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    // An answer and its undo: the first question is asked again.
    const first = await page.textContent("#difference");
    await page.waitForTimeout(250);
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("ArrowLeft")]);
    await page.waitForTimeout(250);
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("u")]);
    check((await page.textContent("#difference")) === first, "another first question after undo");
    const questions = await answerAll(page, (choice) => page.keyboard.press(choice === "a" ? "1" : "2"));
    check(questions <= 12, `${questions} questions`);
    const at = await threshold(page);
    check(at >= 0.10 && at <= 0.17, `a threshold of ${at}`);
    await focus("#path");
    await page.keyboard.type(join(place, "*o*s*t*.csv"));
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    const order = await ranked(page);
    check(order.length === 3 && order.includes("forest") && order.includes("boosting"), `${order.join(" ")} ${await page.textContent("main")}`);
    check(existsSync(join(place, "metric.json")) && existsSync(join(place, "screening.interview.json")), "not saved beside the table");
    // The terminal goes on with what the page saved.
    const again = spawnSync(equipoise, ["elicit", join(place, "screening.csv"), "--resume", join(place, "screening.interview.json"), "--out", join(place, "again.json")], { input: "\n" });
    check(existsSync(join(place, "again.json")), `${again.stderr}`);
    check(page.complaints.length === 0, page.complaints.join("; "));
  } finally {
    await page.context().close();
    opened.stop();
    remove();
  }
});

test("more questions narrow what the first dozen left open", async (browser) => {
  const { place, remove } = folder();
  const opened = await open(join(place, "screening.csv"));
  const page = await visit(browser, opened.link);
  try {
    await Promise.all([page.waitForEvent("load"), page.click("#start button")]);
    const before = await answerAll(page, (choice) => page.click(`button[value=${choice}]`));
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/more"] button')]);
    const number = Number((await page.textContent(".question strong")).replace(/\D/g, ""));
    check(number > 1 && number <= before + 1, `goes on with question ${number}`);
    for (let more = 0; more < 20 && (await page.locator("#answer").count()); more++) {
      const choice = await opinion(page);
      await Promise.all([page.waitForEvent("load"), page.click(`button[value=${choice}]`)]);
    }
    check((await page.textContent(".entries")).includes("good enough"), await page.textContent(".entries"));
    check((await page.locator('form[action="/more"]').count()) === 0, "nothing is missing, and more is offered");
  } finally {
    await page.context().close();
    opened.stop();
    remove();
  }
});

test("the whole way without a script, on a phone", async (browser) => {
  const { place, remove } = folder();
  const opened = await open();
  const page = await visit(browser, opened.link, { javaScriptEnabled: false, viewport: SIZES.phone });
  try {
    await page.setInputFiles("#file", join(place, "screening.csv"));
    await Promise.all([page.waitForEvent("load"), page.click("form.drop button")]);
    await page.selectOption("#group", "-");
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/columns"] button')]);
    check(!(await page.textContent(".facts")).includes("Groups"), "groups are still there");
    await Promise.all([page.waitForEvent("load"), page.click("#start button")]);
    const numbers = async () => (await page.locator(".mistake .as-count").allTextContents()).map((text) => Number(text.replace(/\D/g, "")));
    let questions = 0;
    for (; await page.locator("#answer").count(); questions++) {
      const [missedA, alarmsA, missedB, alarmsB] = await numbers();
      await Promise.all([page.waitForEvent("load"), page.click(`button[value=${6 * missedA + alarmsA <= 6 * missedB + alarmsB ? "a" : "b"}]`)]);
    }
    check(questions <= 12, `${questions} questions`);
    await page.setInputFiles("#file", ["forest.csv", "boosting.csv"].map((name) => join(place, name)));
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/models"] button')]);
    // The other models have groups, which this table was told to leave alone; they are read like it.
    check((await page.locator("#ranking tbody tr").count()) === 3, await page.textContent("main"));
  } finally {
    await page.context().close();
    opened.stop();
    remove();
  }
});

test("three classes: two rows differ, all else is the same", async (browser) => {
  const opened = await open();
  const page = await visit(browser, opened.link);
  try {
    await Promise.all([page.waitForEvent("load"), page.setInputFiles("#file", join(tables, "triage.csv"))]);
    await look(page, "triage-table");
    await Promise.all([page.waitForEvent("load"), page.click("#start button")]);
    await aligned(page);
    check((await page.locator(".side:first-child .traded > div").count()) === 2, "not two rows");
    check((await page.locator(".same-in-both tbody tr").count()) === 4, "not four rows that are the same");
    await look(page, "triage-question");
    // Somebody for whom one of the intensive cases is worth five others.
    const cost = () => page.locator(".side").evaluateAll((sides) => sides.map((side) => [...side.querySelectorAll(".traded > div")].reduce((sum, row) => {
      const weight = row.querySelector("dt").textContent.startsWith("intensive") ? 5 : 1;
      return sum + weight * Number(row.querySelector(".number").textContent.replace(/\D/g, ""));
    }, 0)));
    let questions = 0;
    for (; (await page.locator("#answer").count()) && questions < 40; questions++) {
      const [a, b] = await cost();
      await Promise.all([page.waitForEvent("load"), page.click(`button[value=${a <= b ? "a" : "b"}]`)]);
    }
    check(questions <= 30, `${questions} questions`);
    check((await page.textContent(".answer")).includes("is as bad to you as"), await page.textContent("main"));
    check((await page.textContent(".answer")).includes("intensive"), await page.textContent(".answer"));
    await look(page, "triage-outcome");
  } finally {
    await page.context().close();
    opened.stop();
  }
});

test("a broken table gets the sentence of the terminal, and columns can be corrected", async (browser) => {
  const { place, remove } = folder();
  writeFileSync(join(place, "broken.csv"), "y,p\nill,0.4\nwell,1.7\nill,0.9\n");
  writeFileSync(join(place, "other.csv"), readFileSync(screening, "utf8").replace("y,p_benign,p_malignant", "finding,not_risk,risk"));
  const opened = await open();
  const page = await visit(browser, opened.link);
  const told = (file) => spawnSync(equipoise, ["inspect", file, "--no-svg"], { cwd: place, encoding: "utf8" }).stderr.trim().split("\n").at(-1).replace("error: ", "");
  try {
    await Promise.all([page.waitForEvent("load"), page.setInputFiles("#file", join(place, "broken.csv"))]);
    const sentence = (await page.textContent(".problem")).trim();
    check(sentence.startsWith("broken.csv, row 2") && sentence === told("broken.csv"), `${sentence} / ${told("broken.csv")}`);
    await look(page, "broken");
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/close"] button')]);
    await Promise.all([page.waitForEvent("load"), page.setInputFiles("#file", { name: "noise.parquet", mimeType: "x/y", buffer: Buffer.from("PAR1 nothing PAR1") })]);
    check((await page.textContent(".problem")).includes("noise.parquet") && (await page.locator("form.drop").count()) === 1, await page.textContent("main"));
    await look(page, "no-table");
    await page.fill("#path", join(place, "not-there.csv"));
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/path"] button')]);
    check((await page.textContent(".problem")).includes("not-there.csv"), await page.textContent(".problem"));
    await page.fill("#path", join(place, "other.csv"));
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/path"] button')]);
    check((await page.textContent("h1")) === "It could not be read as it is", await page.textContent("main"));
    await page.selectOption("#truth", "finding");
    await page.check('input[name="scores"][value="risk"]');
    await Promise.all([page.waitForEvent("load"), page.click('form[action="/columns"] button')]);
    check((await page.textContent("h1")) === "What was read", await page.textContent("main"));
  } finally {
    await page.context().close();
    opened.stop();
    remove();
  }
});

test("the expert beside you sees the questions and nothing else", async (browser) => {
  const { place, remove } = folder();
  const opened = await open(join(place, "screening.csv"));
  const page = await visit(browser, opened.link);
  let expert;
  try {
    expert = await visit(browser, await page.textContent("code.receipt"));
    check((await expert.textContent("h1")) === "The questions have not begun", await expert.textContent("main"));
    await look(expert, "expert-waits");
    await Promise.all([page.waitForEvent("load"), page.click("#start button")]);
    await expert.waitForSelector("#answer");
    await answerAll(expert, (choice) => expert.click(`button[value=${choice}]`));
    check((await expert.textContent("h1")) === "That was all, thank you", await expert.textContent("main"));
    await look(expert, "expert-done");
    const refused = await expert.goto(new URL("/download/metric.json", opened.link).href);
    check(refused.status() === 403, `${refused.status()}`);
    await page.reload();
    check((await page.textContent(".answer")).includes("false alarms"), await page.textContent("main"));
  } finally {
    await expert?.context().close();
    await page.context().close();
    opened.stop();
    remove();
  }
});

test("other hosts, other pages and large files are refused", async (browser) => {
  const opened = await open();
  const { hostname, port, pathname } = new URL(opened.link);
  const ask = (path, { headers = {}, method = "GET", bytes = 0 } = {}) => new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers }, (reply) => {
      let text = "";
      reply.on("data", (chunk) => { text += chunk; });
      reply.on("end", () => resolve({ status: reply.statusCode, headers: reply.headers, text }));
    });
    asked.on("error", reject);
    if (bytes) asked.write(Buffer.alloc(bytes, 97));
    asked.end();
  });
  try {
    check((await ask("/")).status === 403, "a page without its link");
    check((await ask(pathname, { headers: { host: `evil.example:${port}` } })).status === 421, "another host");
    check((await ask("/k/" + "0".repeat(32))).status === 403, "another key");
    const joined = await ask(pathname);
    const cookie = joined.headers["set-cookie"][0].split(";")[0];
    check(/HttpOnly; SameSite=Strict/.test(joined.headers["set-cookie"][0]), joined.headers["set-cookie"][0]);
    check((await ask("/", { headers: { cookie } })).status === 200, "the cookie does not open it");
    const post = { method: "POST", headers: { cookie, "content-type": "application/x-www-form-urlencoded" } };
    check((await ask("/close", post)).status === 403, "a form that is not ours");
    const large = { method: "POST", headers: { cookie, "content-type": "multipart/form-data; boundary=x" }, bytes: 65 << 20 };
    const told = await ask("/file", large);
    check(told.status === 413 && told.text.includes("give its path instead"), `${told.status} ${told.text}`);
  } finally {
    opened.stop();
  }
});

await run(tests);
