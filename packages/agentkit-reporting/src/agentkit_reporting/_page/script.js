"use strict";
// Search and folding. The page can be read without this; nothing here makes markup from text.
(() => {
  const tools = document.querySelector(".tools");
  const field = document.getElementById("search");
  const found = document.getElementById("found");
  const conversation = document.querySelectorAll(".session");
  const MOST_MARKS = 1000;

  // Entries of inner agents are part of the entry with their call: that is what is shown or hidden.
  let entries = null;
  const load = () => {
    if (entries !== null) return;
    entries = [];
    for (const session of conversation) {
      for (const entry of session.querySelectorAll(":scope > .turn > .entry")) {
        entries.push({ entry, text: entry.textContent.toLowerCase() });
      }
    }
  };

  const marks = typeof Highlight === "function" && CSS.highlights ? new Highlight() : null;
  if (marks) CSS.highlights.set("found", marks);

  // What is found in folded content is unfolded, and folded again by the next search.
  let marked = 0;
  const unfolded = new Set();
  const show = (node) => {
    let fold = node.parentElement.closest("details:not([open])");
    while (fold) {
      fold.open = true;
      unfolded.add(fold);
      fold = fold.parentElement.closest("details:not([open])");
    }
  };

  const mark = (entry, words) => {
    const walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue; // positions would differ
      for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
        if (marked >= MOST_MARKS) return;
        marked += 1;
        show(node);
        if (!marks) continue;
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + words.length);
        marks.add(range);
      }
    }
  };

  const count = (number) => number.toLocaleString("en") + (number === 1 ? " entry" : " entries");

  const search = () => {
    load();
    const words = field.value.trim().toLowerCase();
    let matches = 0;
    marked = 0;
    if (marks) marks.clear();
    for (const details of unfolded) details.open = false;
    unfolded.clear();
    for (const { entry, text } of entries) {
      const matched = words === "" || text.includes(words);
      if (entry.hidden === matched) entry.hidden = !matched;
      if (!matched) continue;
      matches += 1;
      if (words !== "" && marked < MOST_MARKS) mark(entry, words);
    }
    for (const session of conversation) {
      for (const turn of session.children) {
        if (!turn.classList.contains("turn")) continue;
        turn.hidden = words !== "" && !turn.querySelector(":scope > .entry:not([hidden])");
      }
    }
    found.textContent =
      words === "" ? count(matches) : `${count(matches)} of ${entries.length.toLocaleString("en")}`;
  };

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 120);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      clearTimeout(waiting);
      search();
      for (const { entry } of entries) {
        if (entry.hidden) continue;
        entry.scrollIntoView({ block: "start" });
        break;
      }
    } else if (event.key === "Escape" && field.value !== "") {
      event.preventDefault();
      field.value = "";
      search();
    }
  });
  const fold = (open) => {
    unfolded.clear();
    for (const session of conversation) {
      for (const details of session.querySelectorAll("details:not(.more)")) details.open = open;
    }
  };
  document.getElementById("unfold").addEventListener("click", () => fold(true));
  document.getElementById("fold").addEventListener("click", () => fold(false));

  // On a wide screen, the list of turns is beside the conversation.
  const turns = document.querySelector("nav details");
  if (turns && matchMedia("(min-width: 70rem)").matches) turns.open = true;
  tools.hidden = false;
})();
