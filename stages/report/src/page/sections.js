// The list of sections says which of them is being read.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const read = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const link = links.get(target.getAttribute("aria-labelledby"));
      if (isIntersecting) link?.setAttribute("aria-current", "location");
      else link?.removeAttribute("aria-current");
    }
  },
  // A line at a third of the window's height.
  { rootMargin: "-33% 0px -66% 0px" },
);
document.querySelectorAll("main > section").forEach((section) => read.observe(section));
