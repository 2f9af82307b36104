// Dropped files, keys, and a word while something takes long. Without this script there are buttons for all of it.
(() => {
  "use strict";
  document.documentElement.classList.add("script");
  const status = document.getElementById("status");
  const say = (text) => { if (status) status.textContent = text; };
  const loaded = performance.now();
  const again = document.getElementById("main")?.dataset.again;
  if (again) setTimeout(() => location.reload(), Number(again));

  for (const form of document.querySelectorAll("form.drop")) {
    const input = form.querySelector('input[type="file"]');
    const send = () => {
      const size = [...input.files].reduce((sum, file) => sum + file.size, 0);
      if (!input.files.length) return;
      if (size > Number(form.dataset.most)) {
        input.value = "";
        say("That is more than 64 MB: give the path instead, files are then read where they are.");
        return;
      }
      form.requestSubmit();
    };
    input.addEventListener("change", send);
    // A file that misses the field would be opened by the browser in place of this page.
    for (const event of ["dragover", "dragleave", "drop"]) {
      document.addEventListener(event, (e) => {
        e.preventDefault();
        form.classList.toggle("over", event === "dragover");
        if (event !== "drop" || !e.dataTransfer.files.length) return;
        input.files = e.dataTransfer.files;
        send();
      });
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    // Enter held down, or a double click.
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    if (form.id !== "answer" && form.id !== "undo") say("Working on it …");
  });

  document.addEventListener("keydown", (event) => {
    const form = document.getElementById("answer");
    if (!form || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    // A second press meant for the last question does not answer this one.
    if (performance.now() - loaded < 200) return;
    const key = { ArrowLeft: "1", ArrowRight: "2", "?": "0", a: "1", b: "2" }[event.key] ?? event.key.toLowerCase();
    const button = document.querySelector(`button[data-key="${CSS.escape(key)}"]`);
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  });

  // A page that comes back from the browser's memory is out of date.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();
