// Draws the tables that a figure names as steps over time. The tables stay: they hold what is drawn.
(() => {
  const figure = document.querySelector("figure[data-steps]");
  if (!figure || !globalThis.uPlot) return;
  const plot = figure.querySelector(".plot");
  const until = Date.parse(figure.dataset.until) / 1000;
  const DURATIONS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
  const SCALES = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

  // A table as [times, values]; a record that nothing holds any more is a gap. The last value lasts until now.
  const read = (table) => {
    const rows = [...table.querySelectorAll("tr[data-time]")];
    const times = rows.map((row) => Date.parse(row.dataset.time) / 1000);
    const values = rows.map((row) => (row.dataset.value ? Number(row.dataset.value) : null));
    if (rows.length && until > times.at(-1)) {
      times.push(until);
      values.push(values.at(-1));
    }
    return [times, values];
  };

  const tables = figure.dataset.steps.split(" ").map((id) => document.getElementById(id))
    .filter((table) => table.querySelectorAll("tr[data-time]").length > 1); // one value is no steps
  const data = uPlot.join(tables.map(read), tables.map(() => [2, 2]));
  const unit = document.querySelector("tr[data-unit]")?.dataset.unit ?? "";
  const known = data.slice(1).flat().filter((value) => value != null);
  const [shownUnit, size] = unit in DURATIONS
    ? SCALES.find(([, scale]) => Math.max(...known) * DURATIONS[unit] >= scale) ?? SCALES.at(-1)
    : [unit, 1];
  const shown = (value) => (unit in DURATIONS ? (value * DURATIONS[unit]) / size : value);
  const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const format = (value) => (value == null ? "" : `${digits.format(shown(value))} ${shownUnit}`);
  const instant = (seconds, length) => new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, length);

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const [ink, line, mark, other] = ["--dim", "--line", "--mark", "--warn"].map((name) => style.getPropertyValue(name).trim());
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const series = tables.map((table, number) => ({
      label: table.dataset.series,
      stroke: [mark, other][number],
      width: 2,
      dash: number ? [6, 4] : [],
      paths: uPlot.paths.stepped({ align: 1 }),
      points: { show: false },
      spanGaps: true,
      value: (_, value) => format(value),
    }));
    plot.replaceChildren();
    return new uPlot({
      width: plot.clientWidth,
      height: 256,
      padding: [null, 44, null, null], // room for half of the last date
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      series: [{ label: "Time", value: (_, time) => (time == null ? "" : instant(time, 16)) }, ...series],
      axes: [{ ...axis, space: 110, values: (_, ticks, _axis, _space, step) => ticks.map((tick) => instant(tick, step < 86400 ? 16 : 10)) }, { ...axis, size: 80, values: (_, ticks) => ticks.map(format) }],
    }, data, plot);
  };

  figure.hidden = false;
  let chart = draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { chart = draw(); });
  new ResizeObserver(() => chart.setSize({ width: plot.clientWidth, height: 256 })).observe(plot);
})();
