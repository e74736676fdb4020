"use strict";

/* The page about the API is as dark as the admin in this browser, or as the system. Before the first paint. */

(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try {
      return JSON.parse(localStorage.getItem("adminTheme"));
    } catch {
      return null;
    }
  }

  function apply() {
    const theme = chosen();
    const isDark = theme === "dark" || (theme !== "light" && system.matches);
    document.documentElement.classList.toggle("dark-mode", isDark);
  }

  apply();
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
})();
