// The list of sections marks the one in view.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const read = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const link = links.get(target.getAttribute("aria-labelledby"));
      if (!link) continue;
      if (!isIntersecting) {
        link.removeAttribute("aria-current");
        continue;
      }
      link.setAttribute("aria-current", "location");
      // In a narrow window the list scrolls sideways.
      const list = link.closest("ul");
      list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
    }
  },
  // A line at a third of the window's height.
  { rootMargin: "-33% 0px -66% 0px" },
);
document.querySelectorAll("main > section").forEach((section) => read.observe(section));
// A link to a table that is folded unfolds it.
const unfold = () => {
  const fold = document.getElementById(location.hash.slice(1))?.querySelector(":scope > details:first-child");
  if (fold) fold.open = true;
};
addEventListener("hashchange", unfold);
unfold();
