// Keys, dialogs and live pages. Every page works without this file.
"use strict";

const typing = (target) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
const rows = () => [...document.querySelectorAll("[data-row]")];

function select(step) {
  const all = rows();
  if (!all.length) return false;
  const now = all.findIndex((row) => row.classList.contains("selected"));
  const next = Math.min(Math.max(now < 0 ? (step > 0 ? 0 : all.length - 1) : now + step, 0), all.length - 1);
  if (now >= 0) all[now].classList.remove("selected");
  all[next].classList.add("selected");
  all[next].scrollIntoView({ block: "nearest" });
  all[next].querySelector("a")?.focus({ preventScroll: true });
  return true;
}

function follow(relation) {
  const link = document.querySelector(`a[rel="${relation}"]`);
  if (link) link.click();
  return Boolean(link);
}

// Arrows scroll wide and long parts of a page, too: they move through a list only where nothing else wants them.
function scrolls(event) {
  const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
  if (!event.key.startsWith("Arrow")) return false;
  if (!sideways && !rows().length) return true;
  const part = event.target.closest?.("pre, .scroll, [role=region]");
  if (!part) return false;
  return sideways ? part.scrollWidth > part.clientWidth : !part.querySelector("[data-row]") && part.scrollHeight > part.clientHeight;
}

const keys = {
  "/": () => {
    const field = document.querySelector("[data-search]");
    if (field) { field.focus(); field.select(); }
  },
  j: () => select(1) || follow("next"),
  k: () => select(-1) || follow("prev"),
  ArrowDown: () => select(1),
  ArrowUp: () => select(-1),
  ArrowRight: () => follow("next"),
  ArrowLeft: () => follow("prev"),
  u: () => follow("up"),
  f: () => document.querySelector("[data-filter]")?.click(),
  "?": () => document.getElementById("keys")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
  if (typing(event.target) && !(event.target.type === "checkbox" && event.key in keys) || document.querySelector("dialog[open]")) return;
  const keyed = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key);
  const action = keyed ? () => keyed.click() : keys[event.key];
  if (action && !scrolls(event)) { event.preventDefault(); action(); }
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog)?.showModal();
  const copier = event.target.closest?.("[data-copy]");
  if (copier) {
    const source = document.getElementById(copier.dataset.copy);
    const texts = source.matches("pre, dd > *") ? [source] : [...source.querySelectorAll("pre")];
    navigator.clipboard?.writeText(texts.map((each) => each.textContent).join("\n\n")).then(() => {
      copier.textContent = "Copied";
    });
  }
});

// A page that shows something going on is fetched again, and its main part replaced, unless somebody is typing in it.
async function refresh() {
  const seconds = Number(document.body.dataset.live || 0);
  if (!seconds) return;
  await new Promise((done) => setTimeout(done, seconds * 1000));
  if (!typing(document.activeElement) && !document.hidden) {
    try {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("main").replaceChildren(...page.getElementById("main").childNodes);
      if (page.body.dataset.live) document.body.dataset.live = page.body.dataset.live;
      else delete document.body.dataset.live;
    } catch { /* the server is gone or busy: the next round tries again */ }
  }
  refresh();
}
refresh();
