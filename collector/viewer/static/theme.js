/* The theme: light, dark or that of the system. Loaded before the page is drawn, so that it does not flash. */
"use strict";

(() => {
  const KEY = "spotter.theme";
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  // storage throws an error where it is not allowed: in a local file, or with cookies blocked
  function storedTheme() {
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
      /* without storage, the choice applies to this page only */
    }
  }

  function currentTheme() {
    return root.dataset.theme in NEXT ? root.dataset.theme : "auto";
  }

  // app.css chooses its colours by the shade; "auto" takes the shade from the system
  function announce() {
    const isDark = currentTheme() === "dark" || (currentTheme() === "auto" && system.matches);
    root.dataset.shade = isDark ? "dark" : "light";
    document.dispatchEvent(new Event("spotter:theme"));
  }

  function label(button) {
    button.textContent = `Theme: ${currentTheme()}`;
    button.title = `Change the theme to ${NEXT[currentTheme()]}`;
  }

  function change(button) {
    root.dataset.theme = NEXT[currentTheme()];
    store(currentTheme());
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

  const saved = storedTheme();
  root.dataset.theme = saved in NEXT ? saved : "auto";
  announce();
  document.addEventListener("DOMContentLoaded", wire);
  system.addEventListener("change", announce);
})();
