// The report of a study with 13 people as it is printed: the answer on at most four pages, everybody on request.
// Usage: node report.mjs EQUIPOISE COHORT PICTURES
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { accessibility, SIZES, WIDTHS } from "./browser.mjs";
import { check, run } from "./runner.mjs";

const [equipoise, cohort, pictures] = process.argv.slice(2).map((path) => resolve(path));
mkdirSync(pictures, { recursive: true });
const PEOPLE = 13;
const MOST_PAGES = 4;

/** The report of a template that simulated people have answered, as a file. */
function written(template, place, ...words) {
  const study = join(place, "study");
  const file = join(place, `${["report", ...words].join("")}.html`);
  execFileSync(equipoise, ["study", "report", study, "--html", file, ...words], { stdio: "ignore" });
  return file;
}

/** How many pages a printed document has. */
const pages = (pdf) => (pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length;

const tests = ["binary-cancer", "multiclass-triage", "group-fair-hiring"].map((template) => ({
  name: `the report of ${template} with ${PEOPLE} people prints on at most ${MOST_PAGES} pages`,
  run: async (browser) => {
    const place = mkdtempSync(join(tmpdir(), "equipoise-report-"));
    const context = await browser.newContext({ viewport: SIZES.desktop });
    try {
      const study = join(place, "study");
      execFileSync(equipoise, ["study", "new", study, "--template", template], { stdio: "ignore" });
      execFileSync(equipoise, ["study", "lock", study], { stdio: "ignore" });
      execFileSync(cohort, [study, String(PEOPLE)], { stdio: "ignore" });
      const page = await context.newPage();
      await page.goto(`file://${written(template, place)}`);
      const text = await page.textContent("main");
      check(!/\byou(r|rs)?\b/i.test(text), `a researcher is addressed: ${text.match(/.{40}\byou(r|rs)?\b.{40}/i)?.[0]}`);
      check(/version 1, 13 people, answers (of|from) \d{4}-\d\d-\d\d/.test(text), "no version, people or dates");
      const broken = await page.evaluate(() => [...document.querySelectorAll(".contents a")].filter((a) => !document.querySelector(a.getAttribute("href"))).length);
      const listed = await page.locator(".contents a").count();
      check(broken === 0 && listed === (await page.locator("main h2").count()), `${listed} headings listed, ${broken} of them nowhere`);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const violations = await accessibility(page);
        check(violations.length === 0, violations.join("; "));
        await page.screenshot({ path: join(pictures, `${template}-${colorScheme}.png`), fullPage: true });
      }
      await page.emulateMedia({ colorScheme: "light" });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        check(sideways <= 0, `scrolls sideways by ${sideways} px at ${width} px`);
      }
      const plain = pages(await page.pdf({ format: "A4", path: join(pictures, `${template}.pdf`) }));
      check(plain >= 1 && plain <= MOST_PAGES, `${plain} pages`);
      console.log(`  ${plain} pages`);
      if (template !== "binary-cancer") return; // once is enough: what is unfolded is the same for all
      await page.goto(`file://${written(template, place, "--appendix")}`);
      const whole = pages(await page.pdf({ format: "A4", path: join(pictures, `${template}-appendix.pdf`) }));
      console.log(`  ${whole} pages with the appendix`);
      check(whole > MOST_PAGES, `the appendix is not printed: ${whole} pages`);
    } finally {
      await context.close();
      rmSync(place, { recursive: true, force: true });
    }
  },
}));

await run(tests);
