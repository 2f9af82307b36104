// Tests in a browser: how they are started, told apart, and counted.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { launch } from "./browser.mjs";

export class Failure extends Error {}
export const check = (holds, sentence) => { if (!holds) throw new Failure(sentence); };

/** The demo study on a server of its own: a link for a participant, and how a researcher comes in. */
export async function serve(equipoise) {
  const server = spawn(equipoise, ["demo", "--web", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try {
      return { ...JSON.parse(text), stop: () => server.kill("SIGTERM") };
    } catch { /* there is more to come */ }
  }
  throw new Failure(`the server did not start: ${text}`);
}

/** A study from a template on a server of its own: a link for a participant. */
export async function serveTemplate(equipoise, template) {
  const directory = join(mkdtempSync(join(tmpdir(), "equipoise-")), "study");
  execFileSync(equipoise, ["study", "new", directory, "--template", template], { stdio: "ignore" });
  execFileSync(equipoise, ["study", "lock", directory], { stdio: "ignore" });
  const server = spawn(equipoise, ["study", "serve", directory, "--listen", "127.0.0.1:0", "--invite", "1", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try {
      const { links: [link] } = JSON.parse(text);
      const stop = () => {
        server.kill("SIGTERM");
        rmSync(dirname(directory), { recursive: true, force: true });
      };
      return { link, stop };
    } catch { /* there is more to come */ }
  }
  throw new Failure(`the server did not start: ${text}`);
}

/** A study that is not locked on a server of its own: its directory, where participants come in, and how an owner does. */
export async function serveDraft(equipoise, template) {
  const directory = join(mkdtempSync(join(tmpdir(), "equipoise-")), "study");
  const [name, password] = ["ada", "three small boats"];
  execFileSync(equipoise, ["study", "new", directory, "--template", template], { stdio: "ignore" });
  execFileSync(equipoise, ["study", "account", "add", directory, name, "--role", "owner"], { input: `${password}\n` });
  const server = spawn(equipoise, ["study", "serve", directory, "--listen", "127.0.0.1:0", "--researchers", "127.0.0.1:0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of server.stdout) {
    text += chunk;
    try {
      const { researchers: link, draft } = JSON.parse(text);
      const stop = () => {
        server.kill("SIGTERM");
        rmSync(dirname(directory), { recursive: true, force: true });
      };
      return { directory, draft, researchers: { link, name, password }, stop };
    } catch { /* there is more to come */ }
  }
  throw new Failure(`the server did not start: ${text}`);
}

const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };

/** Files of a folder on a server of their own. */
export async function folder(directory) {
  const server = createServer((request, response) => {
    try {
      const path = new URL(request.url, "http://x").pathname;
      const file = readFileSync(join(directory, path));
      response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" }).end(file);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/** Runs tests one after the other; ONLY names the ones that are wanted. */
export async function run(tests) {
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
}
