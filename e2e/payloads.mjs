// Texts that try to run something, in every text of a study and in what people type, in a real browser: on participants' pages,
// researchers' pages and the report, nothing runs, nothing leaves, and the policy has nothing to complain of (S-08).
// Usage: node payloads.mjs EQUIPOISE
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, run } from "./runner.mjs";
import { mouse, typed, walk } from "./walk.mjs";

const [equipoise] = process.argv.slice(2);
// Whatever of these runs calls the beacon, moves the page, or asks a host that is not there.
const PAYLOADS = [
  "<script>beacon()</script>", "'><img src=x onerror=beacon()>", '"><img src=http://beacon.invalid/x.png onload=beacon()>', "<svg/onload=beacon()>",
  '" autofocus onfocus="beacon()', "' onmouseover='beacon()", "</title></textarea></main><script>beacon()</script>", "<ScRiPt>beacon()</ScRiPt>",
  "<iframe src=javascript:parent.beacon()></iframe>", "<iframe srcdoc='<script>parent.beacon()</script>'></iframe>", '<a href="javascript:beacon()">x</a>',
  "<style>@import url(http://beacon.invalid/x.css);*{background:url(http://beacon.invalid/b)}</style>", "<link rel=stylesheet href=http://beacon.invalid/l.css>",
  '<meta http-equiv=refresh content="0;url=http://beacon.invalid">', "<base href=http://beacon.invalid/>", "<details open ontoggle=beacon()>",
  "<object data=http://beacon.invalid/o></object>", "<form action=http://beacon.invalid><button>go</button></form>", "<!--><script>beacon()</script>-->",
  "]]><script>beacon()</script>", "{{beacon()}}", "${beacon()}", "[x](javascript:beacon())", "![x](http://beacon.invalid/m.png)",
  "<video src=http://beacon.invalid/v onerror=beacon()></video>", "<math><mtext></form><form><mglyph><style></math><img src onerror=beacon()>",
];
// One that is broken open may swallow those after it: they come in two orders.
const ORDERS = { "in order": PAYLOADS, "in reverse": PAYLOADS.toReversed() };

/** The cancer study with the payload in every text, and as few questions as can be. */
function poisoned(directory, payload) {
  execFileSync(equipoise, ["study", "new", directory], { stdio: "ignore" });
  const file = join(directory, "study.toml");
  // What JSON writes between quotes, TOML reads.
  // With a number, since options that read alike are refused.
  let texts = 0;
  const quoted = (old) => `en = ${JSON.stringify(`${payload}${old.includes("___") ? " ___ " : ""} ${(texts += 1)}`)}`;
  const text = readFileSync(file, "utf8")
    .replace(/en = """([\s\S]*?)"""/g, (_, old) => quoted(old))
    .replace(/en = "((?:[^"\\]|\\.)*)"/g, (_, old) => quoted(old))
    .replace(/^languages = .*$/m, 'languages = ["en"]')
    .replace(/^cap = \d+/m, "cap = 1").replace(/^evaluation = \d+/m, "evaluation = 1").replace(/^repeats = \d+/m, "repeats = 0");
  writeFileSync(file, text);
  execFileSync(equipoise, ["study", "lock", directory], { stdio: ["ignore", "ignore", "inherit"] });
  execFileSync(equipoise, ["study", "account", "add", directory, "ana", "--role", "owner"], { input: "three small boats\n", stdio: ["pipe", "ignore", "inherit"] });
}

async function started(directory) {
  const words = ["study", "serve", directory, "--listen", "127.0.0.1:0", "--researchers", "127.0.0.1:0", "--invite", "1", "--json"];
  const server = spawn(equipoise, words, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try { return { ...JSON.parse(text), stop: () => server.kill("SIGTERM") }; } catch { /* there is more to come */ }
  }
  throw new Error(`the server did not start: ${text}`);
}

let pages = 0, shown = 0;
const tests = Object.entries(ORDERS).map(([order, payloads]) => ({
  name: `${payloads.length} payloads ${order} run on no page`,
  run: async (browser) => {
    const payload = payloads.join(" ");
    const place = mkdtempSync(join(tmpdir(), "equipoise-"));
    const directory = join(place, "study");
    poisoned(directory, payload);
    const study = await started(directory);
    const context = await browser.newContext();
    try {
      const heard = [];
      await context.exposeFunction("beacon", () => { heard.push("a script ran"); });
      await context.exposeFunction("violated", (what) => { heard.push(`the policy was needed: ${what}`); });
      await context.addInitScript(() => addEventListener("securitypolicyviolation", (event) => window.violated(`${event.violatedDirective} ${event.blockedURI}`)));
      context.on("dialog", (dialog) => { heard.push("a dialog"); dialog.dismiss(); });
      context.on("request", (request) => { if (request.url().includes("beacon.invalid")) heard.push(request.url()); });
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      const look = async (name) => {
        pages++;
        // As a browser shows it: the text, in one piece.
        const body = await page.evaluate(() => document.documentElement.textContent.replace(/\s+/g, " "));
        shown += body.includes("beacon()");
        const made = await page.evaluate(() => document.querySelectorAll("iframe, object, base, video, [onerror], [onload], [onfocus], [ontoggle], [href^=javascript]").length);
        check(made === 0, `${name}: ${made} elements were made of a text`);
        check(heard.length === 0, `${name}: ${heard.join("; ")}`);
      };
      typed.text = payload.slice(0, 400);
      await page.goto(study.links[0]);
      await page.waitForURL((url) => url.pathname === "/");
      await walk(page, mouse, () => look("participants"));
      await page.goto(study.researchers);
      await page.fill("#name", "ana");
      await page.fill("#password", "three small boats");
      await Promise.all([page.waitForURL((url) => url.pathname === "/"), page.press("#password", "Enter")]);
      for (const path of ["/", "/participants", "/participants/1", "/participants/1?question=1", "/participants/links", "/results", "/results/files", "/design", "/settings", "/settings/audit", "/nowhere"]) {
        await page.goto(new URL(path, study.researchers).href);
        await look(path);
      }
      const report = join(place, "report.html");
      const written = spawnSync(equipoise, ["study", "report", directory, "--unblinded", "--html", report], { encoding: "utf8" });
      check(existsSync(report), `no report: ${written.stderr}`);
      await page.goto(`file://${report}`);
      await look("the report");
    } finally {
      await context.close();
      study.stop();
      rmSync(place, { recursive: true, force: true });
    }
  },
}));

await run(tests);
console.log(`${PAYLOADS.length} payloads in every text, ${pages} pages in a browser, ${shown} showed them as text, 0 ran, 0 reports of the policy`);
if (shown < 20) process.exitCode = 1;
