// The pictures of README and docs: a question, a result, the researchers' desk, and two charts of a report, all of simulated
// people drawn with one seed. Usage: node pictures.mjs EQUIPOISE COHORT GALLERY OUT
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { launch } from "./browser.mjs";
import { folder, Failure } from "./runner.mjs";

const [equipoise, cohort, gallery, out] = process.argv.slice(2).map((path) => resolve(path));
const SEED = "7";
const PEOPLE = "13";
/** No picture of a README may be heavier. */
const HEAVIEST = 150_000;
mkdirSync(out, { recursive: true });

const place = mkdtempSync(join(tmpdir(), "equipoise-pictures-"));
const browser = await launch();
const files = [];
const shown = async (what, name, options = {}) => {
  const path = join(out, `${name}.png`);
  await what.screenshot({ path, ...options });
  files.push(path);
};

/** A page as wide as a README, sharp enough for a screen of today. */
const open = async (width, height) => (await browser.newContext({ viewport: { width, height }, deviceScaleFactor: 1.25, colorScheme: "light" })).newPage();

const pages = await folder(gallery);
let server;
try {
  const question = await open(1080, 900);
  await question.goto(`${pages.origin}/en-comparison.html`);
  const answers = await question.evaluate(() => document.querySelector(".answers").getBoundingClientRect().bottom);
  await shown(question, "question", { clip: { x: 0, y: 0, width: 1080, height: answers + 8 } });
  const result = await open(760, 900);
  await result.goto(`${pages.origin}/en-result.html`);
  // Up to the receipt, which is nobody else's business.
  const end = await result.evaluate(() => document.querySelector("code.receipt").closest("section").getBoundingClientRect().top);
  await shown(result, "result", { clip: { x: 0, y: 0, width: 760, height: end } });

  const study = join(place, "study");
  execFileSync(equipoise, ["study", "new", study, "--template", "binary-cancer"], { stdio: "ignore" });
  execFileSync(equipoise, ["study", "lock", study], { stdio: "ignore" });
  execFileSync(cohort, [study, PEOPLE, SEED], { stdio: "ignore" });
  execFileSync(equipoise, ["study", "report", study, "--html", join(place, "report.html")], { stdio: "ignore" });
  const report = await open(480, 900);
  await report.goto(`file://${join(place, "report.html")}`);
  await shown(report.locator("figure", { hasText: "Everybody's cost ratio" }), "people");
  // With the key above it.
  const curve = await report.evaluate(() => {
    const [key, figure] = [document.querySelector(".key"), [...document.querySelectorAll("figure")].find((figure) => figure.textContent.includes("Net benefit"))];
    const [above, below] = [key, figure].map((element) => element.getBoundingClientRect());
    return { x: below.left, y: above.top + scrollY, width: below.width, height: below.bottom - above.top };
  });
  await shown(report, "decision-curve", { clip: curve, fullPage: true });

  execFileSync(equipoise, ["study", "account", "add", study, "ana", "--role", "owner"], { input: "three small boats\n", stdio: ["pipe", "ignore", "inherit"] });
  server = spawn(equipoise, ["study", "serve", study, "--listen", "127.0.0.1:0", "--researchers", "127.0.0.1:0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const desk = await open(1080, 720);
  const { origin } = new URL(await researchers(server));
  await desk.goto(`${origin}/sign-in`);
  await desk.fill("#name", "ana");
  await desk.fill("#password", "three small boats");
  await Promise.all([desk.waitForURL((url) => url.pathname === "/"), desk.keyboard.press("Enter")]);
  // Where the study is at a glance.
  for (const path of ["/overview", "/live"]) {
    const reply = await desk.goto(origin + path);
    if (reply.ok()) break;
  }
  await desk.waitForLoadState();
  await shown(desk, "desk");
} finally {
  server?.kill("SIGTERM");
  pages.stop();
  await browser.close();
  rmSync(place, { recursive: true, force: true });
}
for (const file of files) {
  const { size } = statSync(file);
  console.log(`${file}: ${Math.ceil(size / 1000)} kB`);
  if (size > HEAVIEST) throw new Failure(`${file} is heavier than ${HEAVIEST / 1000} kB`);
}

/** Where researchers are served, as the server says when it has begun. */
async function researchers(server) {
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try {
      const told = JSON.parse(text);
      const link = typeof told.researchers === "string" ? told.researchers : told.researchers?.link;
      if (link) return link;
    } catch { /* there is more to come */ }
  }
  throw new Failure(`the server did not start: ${text}`);
}
