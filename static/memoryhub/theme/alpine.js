"use strict";

/* What the expressions of the theme's attributes name.

   The policy of contents lets no text become code, so Alpine is its build with a parser of its own
   (vendor/alpine-csp.min.js). That parser reads no globals: it knows what is registered here, and what an x-data holds. */

document.addEventListener("alpine:init", () => {
  const SIDEBAR = "sidebarDesktopOpen";

  /* The few properties of window that the theme's expressions read, and the one that they set. */
  const address = {
    get pathname() {
      return location.pathname;
    },
    get search() {
      return location.search;
    },
    get hash() {
      return location.hash;
    },
    set href(target) {
      location.href = target;
    },
  };

  Alpine.data("theme", (...settings) => Object.assign(theme(...settings), { window: { location: address } }));
  Alpine.data("searchForm", () => searchForm());

  Alpine.data("hubPage", () => ({
    activeTab: "",
    sidebarMobileOpen: false,
    sidebarDesktopOpen: (localStorage.getItem(SIDEBAR) ?? "1") === "1",
    init() {
      const first = this.$root.dataset.activeTab;
      if (first !== undefined) this.activeTab = getCurrentTab() || first;
      this.$watch(SIDEBAR, (isOpen) => localStorage.setItem(SIDEBAR, isOpen ? "1" : "0"));
    },
  }));
});
