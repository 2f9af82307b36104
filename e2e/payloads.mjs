// Texts that try to run something, in every field of a study, in a real browser: on participants' pages, researchers' pages
// and the report, nothing runs, nothing leaves, and the policy has nothing to complain of (S-08). Usage: node payloads.mjs EQUIPOISE
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, run } from "./runner.mjs";
import { mouse, walk } from "./walk.mjs";

const [equipoise] = process.argv.slice(2);
// Whatever of this runs calls the beacon, or asks a host that is not there. No apostrophes: it stands between them.
const BEACON = "window.beacon=1;fetch(\"http://beacon.invalid\")";
const PAYLOADS = [
  `<script>${BEACON}</script>`, `"><img src=x onerror=${BEACON.replace(/"/g, "`")}>`, "<svg onload=beacon()>", "\" autofocus onfocus=\"beacon()",
  "</title></textarea></main><script>beacon()</script>", "<iframe src=javascript:parent.beacon()></iframe>", "<a href=\"javascript:beacon()\">x</a>",
  "<style>@import url(http://beacon.invalid/x.css);</style>", "<meta http-equiv=refresh content=\"0;url=http://beacon.invalid\">",
  "<base href=http://beacon.invalid/>", "<details open ontoggle=beacon()>", "[x](javascript:beacon())", "![x](http://beacon.invalid/x.png)",
];

/** The cancer study with the payload in every English text. */
function poisoned(directory, payload) {
  execFileSync(equipoise, ["new", directory], { stdio: "ignore" });
  const file = join(directory, "study.toml");
  const text = readFileSync(file, "utf8")
    .replace(/en = """[\s\S]*?"""/g, `en = '${payload}'`)
    .replace(/en = "((?:[^"\\]|\\.)*)"/g, (_, old) => `en = '${payload}${old.includes("___") ? " ___ " : ""}'`)
    .replace(/^languages = .*$/m, 'languages = ["en"]')
    .replace("cap = 40", "cap = 1").replace("evaluation = 15", "evaluation = 9").replace("repeats = 4", "repeats = 0");
  writeFileSync(file, text);
  execFileSync(equipoise, ["lock", "--study", directory], { stdio: "ignore" });
  execFileSync(equipoise, ["account", "add", directory, "ana", "--role", "owner"], { input: "three small boats\n", stdio: ["pipe", "ignore", "ignore"] });
}

async function started(directory) {
  const words = ["serve", directory, "--listen", "127.0.0.1:0", "--researchers", "127.0.0.1:0", "--invite", "1", "--json"];
  const server = spawn(equipoise, words, { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try { return { ...JSON.parse(text), stop: () => server.kill("SIGTERM") }; } catch { /* there is more to come */ }
  }
  throw new Error(`the server did not start: ${text}`);
}

let pages = 0;
const tests = PAYLOADS.map((payload, number) => ({
  name: `payload ${number + 1} runs on no page`,
  run: async (browser) => {
    const place = mkdtempSync(join(tmpdir(), "equipoise-"));
    const directory = join(place, "study");
    poisoned(directory, payload);
    const study = await started(directory);
    const context = await browser.newContext();
    try {
      const heard = [];
      await context.exposeFunction("beacon", () => heard.push("the beacon was called"));
      await context.addInitScript(() => addEventListener("securitypolicyviolation", (event) => { window.violated = event.blockedURI || event.violatedDirective; }));
      context.on("dialog", (dialog) => { heard.push("a dialog"); dialog.dismiss(); });
      context.on("request", (request) => { if (request.url().includes("beacon.invalid")) heard.push(request.url()); });
      const page = await context.newPage();
      const look = async (name) => {
        pages++;
        const found = await page.evaluate(() => window.violated ?? (window.beacon === 1 ? "a script ran" : ""));
        check(!found && heard.length === 0, `${name}: ${found} ${heard.join("; ")}`);
      };
      await page.goto(study.links[0]);
      await page.waitForURL((url) => url.pathname === "/");
      await walk(page, mouse, () => look("participants"));
      await page.goto(study.researchers);
      await page.fill("#name", "ana");
      await page.fill("#password", "three small boats");
      await Promise.all([page.waitForURL((url) => url.pathname === "/"), page.press("#password", "Enter")]);
      for (const path of ["/", "/design", "/links", "/live", "/people", "/people/1", "/group", "/models", "/export", "/audit", "/settings"]) {
        await page.goto(new URL(path, study.researchers).href);
        await look(path);
      }
      const reply = await context.request.get(new URL("/export/report.html", study.researchers).href);
      writeFileSync(join(place, "report.html"), await reply.body());
      await page.goto(`file://${join(place, "report.html")}`);
      await look("the report");
    } finally {
      await context.close();
      study.stop();
      rmSync(place, { recursive: true, force: true });
    }
  },
}));

await run(tests);
console.log(`${PAYLOADS.length} payloads on ${pages} pages in a browser`);
