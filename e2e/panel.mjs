// A panel in a real browser: one address, two people, one of them on two devices, a full house, and who withdraws.
// Usage: node panel.mjs EQUIPOISE PICTURES
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { accessibility, SIZES, WIDTHS } from "./browser.mjs";
import { check, Failure, run } from "./runner.mjs";
import { go, has, mouse, walk } from "./walk.mjs";

const [equipoise, pictures] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });

const PANEL = `
[panel]
id = "PROLIFIC_PID"
keep = ["STUDY_ID"]
quota = 2

[panel.done]
code = "C0DONE"
url = "https://panel.example/done?cc={code}"

[panel.withdrew]
code = "C0LEFT"
url = "https://panel.example/left?cc={code}"

[panel.full]
url = "https://panel.example/full"
`;

async function servePanel() {
  const directory = join(mkdtempSync(join(tmpdir(), "equipoise-")), "study");
  execFileSync(equipoise, ["study", "new", directory, "--template", "binary-cancer"], { stdio: "ignore" });
  appendFileSync(join(directory, "study.toml"), PANEL);
  execFileSync(equipoise, ["study", "lock", directory], { stdio: "ignore" });
  const server = spawn(equipoise, ["study", "serve", directory, "--listen", "127.0.0.1:0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try {
      const { join: address } = JSON.parse(text);
      const stop = () => {
        server.kill("SIGTERM");
        rmSync(dirname(directory), { recursive: true, force: true });
      };
      return { address: (id) => address.replace("{{%PROLIFIC_PID%}}", id).replace("{{%STUDY_ID%}}", "s1"), stop };
    } catch { /* there is more to come */ }
  }
  throw new Failure(`the server did not start: ${text}`);
}

/** A page as it must be: sound, no wider than the screen, and without the name the panel has for somebody. */
async function sound(page, name, id, scripted) {
  // Where pages may run no script, axe may not either.
  const violations = scripted ? await accessibility(page) : [];
  check(violations.length === 0, `${name}: ${violations.join("; ")}`);
  for (const width of [...WIDTHS, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(sideways <= 0, `${name} scrolls sideways by ${sideways} px at ${width} px`);
  }
  await page.setViewportSize(SIZES.phone);
  check(!page.url().includes(id) && !(await page.content()).includes(id), `${name} tells who it is`);
  if (scripted) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

const tests = [];
const test = (name, run) => tests.push({ name, run });

for (const javaScriptEnabled of [true, false]) {
  test(`people of a panel come in by one address and take a code along, ${javaScriptEnabled ? "with" : "without"} a script`, async (browser) => {
    const study = await servePanel();
    const contexts = [];
    const somebody = async () => {
      const context = await browser.newContext({ viewport: SIZES.phone, javaScriptEnabled });
      contexts.push(context);
      const page = await context.newPage();
      // Where the panel's page is, nothing listens; what matters is what it is told.
      await context.route("https://panel.example/**", (route) => route.fulfill({ contentType: "text/html", body: "<title>the panel</title>" }));
      return page;
    };
    const enter = async (page, id, path = "/") => {
      await page.goto(study.address(id));
      await page.waitForURL((url) => url.pathname === path);
    };
    try {
      const [first, second, third] = [await somebody(), await somebody(), await somebody()];
      await enter(first, "person-one");
      await go(first, mouse);
      await go(first, mouse); // agreed
      await enter(second, "person-two");
      await enter(third, "person-three", "/join/full");
      check((await third.locator("h1").textContent()) === "All places are taken", "the third was let in");
      await sound(third, "full", "person-three", javaScriptEnabled);
      await third.click("text=Return to where you came from");
      check(third.url() === "https://panel.example/full", third.url());
      // The first goes on from another device, to the end.
      const other = await somebody();
      await enter(other, "person-one");
      check(await has(other, 'form[action="/lease"]'), "another device does not know where they were");
      await other.click("main form button");
      await walk(other, mouse, async () => {});
      await sound(other, "done", "person-one", javaScriptEnabled);
      check((await other.locator("code.receipt").allTextContents()).includes("C0DONE"), "no code");
      let referrer = "none asked";
      other.on("request", (request) => { if (request.url().startsWith("https://panel.example/")) referrer = request.headers().referer ?? ""; });
      await other.click("text=Return to where you came from");
      check(other.url() === "https://panel.example/done?cc=C0DONE", other.url());
      check(referrer === "", `the panel is told: ${referrer}`);
      const again = await somebody();
      await enter(again, "person-one");
      check((await again.locator("h1").textContent()) === "You have already taken part", await again.locator("h1").textContent());
      await sound(again, "again", "person-one", javaScriptEnabled);
      // The second withdraws, and the third has a place.
      await second.goto(new URL("/withdraw", second.url()).href);
      await Promise.all([second.waitForEvent("load"), second.locator('form[action="/withdraw"] button').click()]);
      check((await second.locator("code.receipt").allTextContents()).join() === "C0LEFT", "no code for who withdrew");
      await sound(second, "withdrew", "person-two", javaScriptEnabled);
      await enter(third, "person-three");
    } finally {
      for (const context of contexts) await context.close();
      study.stop();
    }
  });
}

await run(tests);
