/* Light, dark, or as the system has it. Loaded before the page is drawn, so that nothing flashes. */
"use strict";

(() => {
  const KEY = "spotter.theme";
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  // storage throws where it is not allowed: in a file, or with cookies blocked
  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function store(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      /* the choice holds for this page */
    }
  }

  function current() {
    return root.dataset.theme in NEXT ? root.dataset.theme : "auto";
  }

  // the palette of app.css goes by the shade, which "auto" takes from the system
  function announce() {
    const isDark = current() === "dark" || (current() === "auto" && system.matches);
    root.dataset.shade = isDark ? "dark" : "light";
    document.dispatchEvent(new Event("spotter:theme"));
  }

  function label(button) {
    button.textContent = `Theme: ${current()}`;
    button.title = `Change the theme to ${NEXT[current()]}`;
  }

  function change(button) {
    root.dataset.theme = NEXT[current()];
    store(current());
    label(button);
    announce();
  }

  function wire() {
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      label(button);
      button.hidden = false;
      button.addEventListener("click", () => change(button));
    }
  }

  const wanted = stored();
  root.dataset.theme = wanted in NEXT ? wanted : "auto";
  announce();
  document.addEventListener("DOMContentLoaded", wire);
  system.addEventListener("change", announce);
})();
