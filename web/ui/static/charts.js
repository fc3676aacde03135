// Draws the charts of a page: each from the JSON beside it, in the page's
// language and zone and in the colours of its style. All of it stands in a table
// as well, so nothing here can be focused.
(() => {
  'use strict';

  const page = document.documentElement;
  const locale = page.lang === 'en' ? 'en-GB' : page.lang;
  const drawn = new Map(); // holder → what undoes it

  function colours() {
    const style = getComputedStyle(page);
    return (name) => style.getPropertyValue(`--${name}`).trim();
  }

  // As the server writes numbers and durations, in Locale.Number and .Duration.
  function writer(unit) {
    const whole = new Intl.NumberFormat(page.lang);
    const plain = new Intl.NumberFormat(page.lang, { minimumFractionDigits: 0, maximumFractionDigits: 2, useGrouping: false });
    const short = new Intl.NumberFormat(page.lang, { notation: 'compact', maximumFractionDigits: 1 });
    const measure = (value, name) => new Intl.NumberFormat(page.lang, { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: 2 }).format(value);
    if (unit !== 'ms') return { full: (value) => whole.format(value), axis: (value) => (value < 10000 ? plain : short).format(value) };
    const duration = (value) => (value < 1000 ? measure(value, 'millisecond') : measure(value / 1000, 'second'));
    return { full: duration, axis: duration };
  }

  function clocks(zone) {
    const format = (options) => new Intl.DateTimeFormat(locale, { ...options, hourCycle: 'h23', timeZone: zone || undefined });
    const day = format({ day: 'numeric', month: 'short' });
    const time = format({ hour: '2-digit', minute: '2-digit' });
    const full = format({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
    const at = (seconds) => new Date(seconds * 1000);
    return {
      // Hours within a day, the date where a day begins.
      axis: (seconds, step) => {
        const hour = time.format(at(seconds));
        return step >= 86400 || hour === '00:00' ? day.format(at(seconds)) : hour;
      },
      span: (from, step) => (step >= 86400 ? day.format(at(from)) : `${full.format(at(from))} – ${time.format(at(from + step))}`),
    };
  }

  // The last bucket is crossed out by lines of the background while it fills.
  function hatch(data, colour) {
    return (u) => {
      const last = data.times.length - 1;
      const top = Math.max(...data.series.map((series) => series.drawn[last] ?? 0));
      if (!data.partial || data.kind !== 'bars' || !top) return;
      const left = u.valToPos(data.times[last], 'x', true);
      const right = u.valToPos(data.times[last] + data.step, 'x', true);
      const high = u.valToPos(top, 'y', true);
      const low = u.valToPos(0, 'y', true);
      const c = u.ctx;
      c.save();
      c.beginPath();
      c.rect(left, high, right - left, low - high);
      c.clip();
      c.strokeStyle = colour;
      c.lineWidth = 2 * devicePixelRatio;
      c.beginPath();
      for (let x = left - (low - high); x < right; x += 7 * devicePixelRatio) {
        c.moveTo(x, low);
        c.lineTo(x + (low - high), high);
      }
      c.stroke();
      c.restore();
    };
  }

  function limitLine(data, ink) {
    return (u) => {
      if (!data.limit) return;
      const y = Math.round(u.valToPos(data.limit.value, 'y', true));
      const c = u.ctx;
      c.save();
      c.strokeStyle = ink('failed');
      c.fillStyle = ink('failed');
      c.lineWidth = 2 * devicePixelRatio;
      c.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      c.beginPath();
      c.moveTo(u.bbox.left, y);
      c.lineTo(u.bbox.left + u.bbox.width, y);
      c.stroke();
      c.restore();
    };
  }

  // Each line is named at its end.
  function endNames(data, ink, font) {
    return (u) => {
      if (data.kind !== 'lines') return;
      const c = u.ctx;
      c.save();
      c.font = font;
      c.textAlign = 'left';
      c.textBaseline = 'middle';
      let above = -Infinity;
      const ends = data.series.map((series) => {
        const last = series.drawn.findLastIndex((value) => value !== null);
        return last < 0 ? null : { name: series.name, colour: ink(`chart-${series.colour}`), y: u.valToPos(series.drawn[last], 'y', true) };
      }).filter(Boolean).sort((a, b) => a.y - b.y);
      for (const end of ends) {
        above = Math.max(end.y, above + 14 * devicePixelRatio);
        c.fillStyle = end.colour;
        c.fillText(end.name, u.bbox.left + u.bbox.width + 6 * devicePixelRatio, above);
      }
      c.restore();
    };
  }

  function seriesOf(data, ink) {
    const bars = uPlot.paths.bars({ size: [0.86, 48], align: 1 });
    const views = data.series.map((series) => {
      const colour = ink(`chart-${series.colour}`);
      if (data.kind === 'bars') return { stroke: ink('surface'), fill: colour, width: 1, paths: bars, points: { show: false } };
      return { stroke: colour, width: 2, spanGaps: false, points: { show: data.times.length < 40, size: 5, fill: colour, stroke: colour } };
    });
    // The sums lie one before the other: the highest is drawn first.
    return data.kind === 'bars' ? views.reverse() : views;
  }

  function readout(data, text, write, clock) {
    return (u) => {
      const i = u.cursor.idx;
      text.textContent = i === null || i === undefined ? '' : [
        clock.span(data.times[i], data.step),
        ...data.series.map((series) => `${series.name}: ${series.values[i] === null ? '–' : write.full(series.values[i])}`),
      ].join(' · ');
    };
  }

  function options(holder, data, ink, text) {
    const write = writer(data.unit);
    const clock = clocks(data.zone);
    const font = `${12 * devicePixelRatio}px ${getComputedStyle(page).getPropertyValue('--sans')}`;
    const axis = { stroke: ink('muted'), grid: { stroke: ink('line'), width: 1 }, ticks: { show: false }, font: `12px ${ink('sans')}` };
    const lines = data.kind === 'lines';
    const names = Math.max(...data.series.map((series) => series.name.length));
    const top = Math.max(1, data.limit?.value ?? 0, ...data.series.flatMap((series) => series.drawn));
    const times = data.times;
    return {
      width: holder.clientWidth, height: holder.clientHeight,
      padding: [8, lines ? Math.min(12 + 7 * names, 90) : 20, 0, 0],
      tzDate: (seconds) => (data.zone ? uPlot.tzDate(new Date(seconds * 1000), data.zone) : new Date(seconds * 1000)),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: lines } },
      scales: {
        x: { range: [times[0], times[times.length - 1] + data.step] },
        y: { range: [0, top * 1.08] },
      },
      axes: [
        { ...axis, grid: { show: false }, space: 64, size: 28, values: (u, splits, _axis, _space, step) => splits.map((at) => clock.axis(at, step)) },
        { ...axis, size: (u, values) => 16 + 7 * Math.max(1, ...(values ?? []).map((value) => value.length)),
          incrs: data.unit === 'ms' ? undefined : [1, 2, 5].flatMap((n) => [0, 1, 2, 3, 4, 5, 6, 7].map((e) => n * 10 ** e)).sort((a, b) => a - b),
          values: (u, splits) => splits.map(write.axis) },
      ],
      series: [{}, ...seriesOf(data, ink)],
      hooks: { draw: [hatch(data, ink('surface')), limitLine(data, ink), endNames(data, ink, font)], setCursor: [readout(data, text, write, clock)] },
    };
  }

  function draw(holder) {
    const data = JSON.parse(document.getElementById(holder.dataset.chart).textContent);
    const text = holder.nextElementSibling.firstElementChild;
    holder.hidden = false;
    const values = data.series.map((series) => series.drawn);
    if (data.kind === 'bars') values.reverse();
    const chart = new uPlot(options(holder, data, colours(), text), [data.times, ...values], holder);
    const watcher = new ResizeObserver(() => {
      if (holder.clientWidth !== chart.width) chart.setSize({ width: holder.clientWidth, height: holder.clientHeight });
    });
    watcher.observe(holder);
    drawn.set(holder, () => { watcher.disconnect(); chart.destroy(); });
  }

  function undo(holder) {
    drawn.get(holder)?.();
    drawn.delete(holder);
  }

  function undoAll(gone) {
    for (const holder of [...drawn.keys()]) if (gone(holder)) undo(holder);
  }

  function redraw() {
    for (const holder of [...drawn.keys()]) {
      undo(holder);
      draw(holder);
    }
  }

  document.addEventListener('ui:enhance', (event) => {
    undoAll((holder) => !holder.isConnected);
    for (const holder of event.detail.querySelectorAll('[data-chart]')) if (!drawn.has(holder)) draw(holder);
  });
  document.addEventListener('htmx:beforeCleanupElement', (event) => undoAll((holder) => event.target.contains(holder)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  new MutationObserver(redraw).observe(page, { attributes: true, attributeFilter: ['data-theme'] });
})();
