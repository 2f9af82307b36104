// Every page in every state from `cargo run -p equipoise-pages --example gallery -- DIR`: a picture of each, and
// axe-core on each: on a phone in light colours and on a desk in dark ones, in English also the other way round; none scrolls
// sideways, from 320 to 1920 px; and what has to be on a phone's screen at once is, in type that grows with its height.
// Usage: node gallery.mjs DIR PICTURES [NAME-PART]
import { readFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { accessibility, HIGH, launch, lettering, misplaced, offScreen, SIZES, WIDTHS } from "./browser.mjs";
import { folder } from "./runner.mjs";

const [directory, pictures, part = ""] = process.argv.slice(2);
// The made-up language is two fifths longer than any offered one, and bars and icons are drawn below the numbers.
const FITS = /^(en|de|es|fr)-(?!variant|prediction-first)/;
const files = await folder(directory);
const { origin } = files;
mkdirSync(pictures, { recursive: true });

const names = JSON.parse(readFileSync(join(directory, "pages.json"))).filter((name) => name.includes(part));
const browser = await launch();
let failed = 0;
const looks = [["phone", "light"], ["desktop", "dark"], ["phone", "dark"], ["desktop", "light"]];
// Words do not change colours: one language is enough for the other two.
const usual = new Set(["phonelight", "desktopdark"]);
let all = 0;
for (const [size, colorScheme] of looks) {
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme });
  const page = await context.newPage();
  for (const name of names.filter((name) => usual.has(size + colorScheme) || /^en-(?!XA)/.test(name))) {
    all++;
    await page.goto(`${origin}/${name}.html`);
    const violations = await accessibility(page);
    // Colours move nothing: widths are looked at once.
    for (const width of size === "phone" && colorScheme === "light" ? WIDTHS : []) {
      await page.setViewportSize({ ...SIZES[size], width });
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (sideways > 0) violations.push(`scrolls sideways by ${sideways} px at ${width} px`);
    }
    await page.setViewportSize(SIZES[size]);
    for (const letter of await misplaced(page)) violations.push(`answer ${letter} does not lie under its system`);
    if (size === "phone" && FITS.test(name)) {
      for (const hidden of await offScreen(page)) violations.push(`not on the screen: ${hidden}`);
      const low = await lettering(page);
      if (low.size && colorScheme === "light") {
        await page.setViewportSize(HIGH);
        const high = await lettering(page);
        for (const hidden of await offScreen(page)) violations.push(`not on the screen of a high phone: ${hidden}`);
        for (const letter of await misplaced(page)) violations.push(`answer ${letter} does not lie under its system on a high phone`);
        if (high.size <= low.size) violations.push(`numbers of ${high.size} px on a high phone, of ${low.size} px on a low one`);
        if (low.symbols || high.symbols === false) violations.push("symbols belong on a high phone, and only there");
        await page.screenshot({ path: join(pictures, `${name}-high-light.png`) });
        await page.setViewportSize(SIZES[size]);
      }
    }
    for (const violation of violations) console.log(`${name} ${size} ${colorScheme}: ${violation}`);
    failed += violations.length > 0;
    await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: true });
  }
  await context.close();
}
await browser.close();
files.stop();
console.log(`test result: ${failed ? "FAILED" : "ok"}. ${all - failed} passed; ${failed} failed; pages of the gallery`);
process.exitCode = failed ? 1 : 0;
