// The browser of the system, and the accessibility check.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** A phone and a desk. */
export const SIZES = { phone: { width: 360, height: 640 }, desktop: { width: 1280, height: 800 } };
/** A phone of today. */
export const HIGH = { width: 390, height: 844 };
/** Between the two, and the width that 400 % of zoom leave of a desk (WCAG 1.4.10). */
export const WIDTHS = [320, SIZES.phone.width, 768, SIZES.desktop.width, 1920];

/** What of a comparison is not on the screen at once (UX-27): mistakes of both systems, the difference, the answers. */
export async function offScreen(page) {
  return page.evaluate(() => {
    const bar = document.querySelector(".answers")?.getBoundingClientRect();
    if (!bar) return [];
    scrollTo(0, 0);
    // What is folded away is there for whoever asks.
    const numbers = [...document.querySelectorAll(".end.mistake .number, .kinds .big, .difference")]
      .filter((element) => !element.closest("details:not([open])"));
    const hidden = numbers.filter((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top < 0 || bottom > bar.top;
    }).map((element) => `${element.closest("tr")?.querySelector("th")?.textContent ?? ""} ${element.textContent}`.trim());
    const undo = document.querySelector('button[form="undo"]').getBoundingClientRect();
    if (bar.bottom > innerHeight || undo.bottom > innerHeight) hidden.push("the answers");
    return hidden;
  });
}

/** Answers that do not lie under their system: below it, and within its column. */
export async function misplaced(page) {
  return page.evaluate(() => {
    const form = document.querySelector("#answer:has(.answers)");
    if (!form) return [];
    const drawn = [...form.querySelectorAll(".systems > .system")];
    const columns = drawn.length ? drawn : [...form.querySelectorAll(".kinds thead th")].slice(1, 3);
    return ["a", "b"].filter((letter, n) => {
      const button = form.querySelector(`[name="choice"][value="${letter}"]`).getBoundingClientRect();
      const column = columns[n].getBoundingClientRect();
      return button.left < column.left - 2 || button.right > column.right + 2 || button.top < column.bottom;
    });
  });
}

/** How large the numbers of mistakes are, and whether people are drawn as symbols: both depend on how high a phone is. */
export async function lettering(page) {
  return page.evaluate(() => {
    const number = document.querySelector("#answer .end.mistake .number, #answer .kinds tr:not(.same) .big");
    const drawn = document.querySelector("#answer .pictogram");
    return {
      size: number ? parseFloat(getComputedStyle(number).fontSize) : 0,
      symbols: drawn ? getComputedStyle(drawn).display !== "none" : null,
    };
  });
}

/** When the largest part of the page was there, in milliseconds from asking for it; nothing where the browser does not tell. */
export async function largestPaint(page) {
  return page.evaluate(() => new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime));
    observer.observe({ type: "largest-contentful-paint", buffered: true });
    setTimeout(() => resolve(null), 500);
  }));
}

/** Starts the system's Chromium; CHROMIUM names another one. */
export async function launch() {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = places.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error("no Chromium: set CHROMIUM to its path");
  // The sandbox of Chromium refuses to run as root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

/** What axe-core finds wrong with a page, a line each. */
export async function accessibility(page) {
  // Not by a script element: the pages' own policy forbids those, as it should.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(async () => {
    // At the end of the page the bar of answers is in its own place; elsewhere it covers half of what one scrolls past.
    scrollTo(0, document.documentElement.scrollHeight);
    const found = await window.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    scrollTo(0, 0);
    return found;
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
}
