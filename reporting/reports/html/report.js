// Builds the page from the JSON in #data. Everything of the campaign gets in as text, never as HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const summary = data.summary;
  const main = document.getElementById("main");

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) {
        made.addEventListener(key.slice(2), value);
      } else {
        made.setAttribute(key, value);
      }
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  function drawing(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function section(title, ...children) {
    const made = element("section", {}, element("h2", {}, title), ...children);
    main.append(made);
    return made;
  }

  const plural = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

  const order = ["crash", "corruption", "nondeterminism", "disagreement", "detail", "hang", "reference", "harness"];

  // "2 corruption, 19 disagreement"
  function tally() {
    return order.map((severity) => [severity, data.buckets.filter((one) => one.severity === severity).length])
      .filter(([, count]) => count > 0).map(([severity, count]) => `${count} ${severity}`).join(", ");
  }

  // Verdict, theme.
  const verdict = document.getElementById("verdict");
  verdict.className = summary.verdict.exit === 0 ? "clean" : summary.verdict.exit === 1 ? "found" : "unsure";
  const theme = element("button", {
    id: "theme", type: "button", title: "light or dark",
    onclick: () => {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    },
  }, "◐");
  document.querySelector("header").append(theme);

  function facts(pairs) {
    const list = element("dl", { class: "facts" });
    for (const [name, value] of pairs) list.append(element("dt", {}, name), element("dd", {}, value));
    return list;
  }

  function bullets(lines) {
    return lines.length === 0 ? null : element("ul", {}, ...lines.map((line) => element("li", {}, line)));
  }

  section("Campaign",
    facts([
      ["subject", summary.subject.version],
      ["reference", summary.reference.version],
      ["seed", String(summary.seed)],
      ["buckets", tally() || "none"],
      ["outcomes", Object.entries(summary.books).map(([name, count]) => `${name} ${count}`).join(", ")],
      ["by", `difffuzz ${data.version}, generator ${summary.generator}`],
    ]),
    bullets(summary.verdict.reasons));
  section("Controls",
    bullets(summary.controls.map((control) =>
      `${control.passed ? "passed" : "FAILED"}: ${control.name} (${control.line})`)) ??
      element("p", {}, "None was run."),
    bullets([
      ...data.gaps.map((gap) => `containment: ${gap}`),
      ...summary.determinism.reference_varies.map((name) => `the reference does not repeat itself: ${name}`),
      ...summary.not_done.map((line) => `not done: ${line}`),
      ...summary.unavailable.map((one) => `not available: ${one.operation} (${one.tool}: ${one.outcome})`),
      ...summary.hangs.map((hang) => `suspected hang: case ${hang.index} of the ${hang.side}`),
    ]));

  const masked = Object.entries(summary.normalisers);
  const idle = masked.filter(([, count]) => count.comparisons === 0).map(([name]) => name);
  section("Normalisers",
    element("p", {}, "Comparisons of the two tools that agree only because of each, and the first such case."),
    facts(masked.filter(([, count]) => count.comparisons > 0).map(([name, count]) =>
      [name, `${count.comparisons} in ${count.cases} cases, such as case ${count.sample}`])),
    idle.length === 0 ? null : element("p", {}, `Never mattered: ${idle.join(", ")}.`));

  // Differences of two texts, line by line.
  function lineDiff(reference, subject) {
    const most = 400;
    const a = reference.split("\n").slice(0, most);
    const b = subject.split("\n").slice(0, most);
    const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; --i) {
      for (let j = b.length - 1; j >= 0; --j) {
        common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1
          : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    const lines = [];
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && j < b.length && a[i] === b[j]) {
        lines.push(["same", "  " + a[i]]);
        ++i; ++j;
      } else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
        lines.push(["del", "- " + a[i++]]);
      } else {
        lines.push(["add", "+ " + b[j++]]);
      }
    }
    return lines;
  }

  function sideText(side) {
    return [side.ending, ...(side.stdout ? ["stdout:", side.stdout] : []),
      ...(side.stderr ? ["stderr:", side.stderr] : [])].join("\n").replace(/\n$/, "");
  }

  function copyButton(text) {
    const button = element("button", {
      type: "button", class: "copy",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = "copied";
        } catch {
          button.textContent = "copy it by hand";
        }
      },
    }, "copy");
    return button;
  }

  function block(title, text, copy = false) {
    return text ? [element("div", { class: "head" }, element("h3", {}, title), copy ? copyButton(text) : null),
      element("pre", {}, text)] : [];
  }

  function inside(bucket) {
    const made = element("div", { class: "inside" });
    made.append(...block("Which side seems wrong", bucket.attribution));
    if (bucket.what) {
      made.append(element("p", {}, bucket.what), element("p", {}, `Expected: ${bucket.expected}`));
    }
    made.append(facts([
      ["seems wrong", bucket.suspicion ?? "difffuzz or the machine"],
      ["record", bucket.directory],
      ["first case", String(bucket.index)],
      ["status", bucket.status],
    ]));
    made.append(...block("Commands", bucket.commands, true));
    made.append(...block("What the shrunk case could not lose", bucket.features));
    if (bucket.subject) {
      const pre = element("pre", { class: "diff" });
      for (const [kind, line] of lineDiff(sideText(bucket.reference), sideText(bucket.subject))) {
        pre.append(element("span", { class: kind }, line), kind === "same" ? "\n" : "");
      }
      made.append(element("h3", {}, "Outputs: - reference, + subject"), pre);
    }
    made.append(...block("What was compared", bucket.details));
    made.append(...block("Script: SUBJECT=... bash reproduce.sh", bucket.script, true));
    return made;
  }

  // Buckets and their filters.
  const buckets = data.buckets.map((bucket) => {
    const card = element("details", {
      class: "bucket",
      ontoggle: () => {
        if (card.open && card.childElementCount === 1) card.append(inside(bucket));
      },
    }, element("summary", {},
      element("span", { class: `badge ${order.includes(bucket.severity) ? bucket.severity : ""}` }, bucket.severity),
      element("span", { class: "title" }, bucket.title),
      element("span", { class: "soft" }, `${plural(bucket.cases, "case")}, ${bucket.status}`)));
    const words = [bucket.title, bucket.type, bucket.fingerprint, bucket.commands, bucket.subject?.stderr,
      bucket.reference?.stderr].join(" ").toLowerCase();
    return { bucket, card, words };
  });

  function choice(id, label, values) {
    return element("select", { id, "aria-label": label, onchange: filter },
      element("option", { value: "" }, label),
      ...values.map((value) => element("option", { value }, value)));
  }
  const different = (field) => [...new Set(data.buckets.map((bucket) => bucket[field]))].sort();
  const search = element("input", { id: "search", type: "search", placeholder: "search", "aria-label": "search", oninput: filter });
  const severity = choice("severity", "any severity", order.filter((one) => different("severity").includes(one)));
  const operation = choice("operation", "any operation", different("operation"));
  const status = choice("status", "any status", different("status"));
  const shown = element("span", { id: "shown", class: "soft", role: "status" });
  function filter() {
    const text = search.value.trim().toLowerCase();
    let count = 0;
    for (const { bucket, card, words } of buckets) {
      card.hidden = !((!severity.value || bucket.severity === severity.value) &&
        (!operation.value || bucket.operation === operation.value) &&
        (!status.value || bucket.status === status.value) && words.includes(text));
      count += card.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${plural(buckets.length, "bucket")}`;
  }
  if (buckets.length > 0) {
    main.append(element("h2", {}, "Buckets, worst first"),
      element("div", { class: "row", id: "filters" }, search, severity, operation, status, shown),
      ...buckets.map(({ card }) => card));
    filter();
  }

  // Buckets and comparisons over the cases.
  function plot() {
    const width = 720;
    const height = 240;
    const left = 64;
    const right = 64;
    const bottom = 24;
    const last = data.series.at(-1);
    const x = (index) => left + (width - left - right) * index / Math.max(1, last[0]);
    const y = (value, most) => (height - bottom) - (height - bottom - 12) * value / Math.max(1, most);
    const line = (column) => data.series.map((point, i) => {
      const at = `${x(point[0]).toFixed(1)} ${y(point[column], last[column]).toFixed(1)}`;
      const step = i > 0 ? `L${x(point[0]).toFixed(1)} ${y(data.series[i - 1][column], last[column]).toFixed(1)}` : "";
      return i === 0 ? `M${at}` : column === 2 ? `${step}L${at}` : `L${at}`;
    }).join("");
    const label = (text, at, down, anchor) => drawing("text", { x: at, y: down, "text-anchor": anchor }, text);
    return drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": "buckets and comparisons over the cases" },
      drawing("path", { class: "axis", d: `M${left} 12V${height - bottom}H${width - right}` }),
      label("0", left, height - 6, "middle"), label(String(last[0]), width - right, height - 6, "middle"),
      label("case", width / 2, height - 6, "middle"),
      label(String(last[1]), left - 6, 18, "end"), label(String(last[2]), width - right + 6, 18, "start"),
      drawing("path", { class: "compared", d: line(1) }), drawing("path", { class: "buckets", d: line(2) }));
  }
  const progress = section("How the search went on", element("p", {}, data.progress));
  if (data.series.length > 1) {
    progress.append(plot(), element("p", { class: "soft" },
      element("span", { class: "key-compared" }, "— compared cases (left)"), "  ",
      element("span", { class: "key-buckets" }, "— buckets of new divergences (right)")));
  }

  // Operations.
  const share = (part, whole) => whole ? `${(100 * part / whole).toFixed(1)} %` : "–";
  section("Operations", element("div", { class: "scroll" }, element("table", {},
    element("tr", {}, ...["operation", "cases", "compared", "diverged"].map((name) => element("th", {}, name))),
    ...Object.entries(summary.operations).map(([name, one]) => {
      const cases = Object.values(one.books).reduce((sum, count) => sum + count, 0);
      return element("tr", {}, ...[name, cases, share(one.compared, cases), one.books.diverged ?? 0]
        .map((value) => element("td", {}, String(value))));
    }))));

  // The ledger of pairs as a heat map.
  function heat(pairs) {
    const down = Object.keys(pairs);
    const across = [...new Set(down.flatMap((first) => Object.keys(pairs[first])))];
    const most = Math.max(1, ...down.flatMap((first) => Object.values(pairs[first]).map((counts) => counts[1])));
    const table = element("table", { class: "heat" }, element("tr", {}, element("td"),
      ...across.map((name) => element("th", { class: "across", scope: "col" }, element("span", {}, name)))));
    for (const first of down) {
      const row = element("tr", {}, element("th", { class: "down", scope: "row" }, first));
      for (const second of across) {
        const counts = pairs[first][second];
        const cell = element("td");
        if (counts) {
          const [drawn, compared, refused] = counts;
          cell.title = `${first} with ${second}: drawn ${drawn}, compared ${compared}, refused by both ${refused}`;
          if (compared > 0) {
            cell.style.background = `rgba(var(--heat), ${(0.25 + 0.75 * Math.log1p(compared) / Math.log1p(most)).toFixed(2)})`;
          } else {
            cell.className = drawn > 0 ? "drawn" : "empty";
          }
        }
        row.append(cell);
      }
      table.append(row);
    }
    return table;
  }
  const ledger = summary.reach.operations;
  const place = element("div", { class: "scroll", id: "heat" });
  const pick = element("select", { id: "ledger", "aria-label": "operation", onchange: () => place.replaceChildren(heat(ledger[pick.value].pairs)) },
    ...Object.keys(ledger).map((name) => element("option", { value: name }, name)));
  const pairs = summary.reach.pairs;
  section("What was compared with what",
    element("p", {}, `${pairs.compared} of ${pairs.declared} pairs of option, format and feature were compared, ${pairs.drawn} drawn.`),
    element("div", { class: "row" }, pick, element("span", { class: "soft" },
      "filled: compared, stronger is more often; yellow edge: drawn only; red edge: never drawn; blank: no such pair")),
    place);
  if (pick.value) place.replaceChildren(heat(ledger[pick.value].pairs));
})();
