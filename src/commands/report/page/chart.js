const SVG = 'http://www.w3.org/2000/svg';  // a name, nothing to load
function svg(parent, tag, attributes, text) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}

// The pressure along the code. There are at most as many points drawn as pixels: of those that share one, the
// largest.
class Chart {
  constructor(element, choose) {
    this.svg = element;
    this.choose = choose;
    element.addEventListener('click', e => {
      const at = this.pointAt(e.clientX);
      if (at >= 0) choose(at);
    });
    new ResizeObserver(() => this.draw()).observe(element);
  }
  set(kernel, steps, at) {
    this.kernel = kernel;
    this.steps = steps;
    this.at = at;
    this.draw();
  }
  move(at) {
    this.at = at;
    this.drawCursor();
  }
  // The worst of the points below a pixel.
  pointAt(clientX) {
    const k = this.kernel, n = k ? k.count : 0;
    if (!n || !this.width) return -1;
    const x = clientX - this.svg.getBoundingClientRect().left - this.left;
    const per = n / this.width;
    let first = Math.max(0, Math.min(n - 1, Math.floor(x * per))), best = first;
    for (let i = first; i < n && i < (Math.floor(x) + 1) * per; ++i) if (k.total[i] > k.total[best]) best = i;
    return best;
  }
  x(i) { return this.left + (i + .5) * this.width / this.kernel.count; }
  y(v) { return this.bottom - v * (this.bottom - this.top) / this.most; }
  draw() {
    const k = this.kernel, s = this.svg;
    if (!k) return;
    s.replaceChildren();
    const width = s.clientWidth, height = s.clientHeight;
    this.left = 42; this.top = 12; this.bottom = height - 20; this.width = Math.max(1, width - this.left - 130);
    s.setAttribute('viewBox', `0 0 ${width} ${height}`);
    const max = Math.max(1, ...[k.total, k.pred].map(series => series.reduce((a, b) => Math.max(a, b), 0)));
    const above = this.steps.find(t => t.most >= max && t.most < 255);
    this.most = Math.max(max * 1.15, above && above.most <= Math.max(max * 2, 40) ? above.most * 1.08 : 0, 4);
    this.drawLoops();
    for (const v of this.ticks()) {
      svg(s, 'line', {x1: this.left, x2: this.left + this.width, y1: this.y(v), y2: this.y(v), stroke: 'var(--line)', 'stroke-width': .6});
      svg(s, 'text', {x: this.left - 6, y: this.y(v) + 4, 'text-anchor': 'end', 'font-size': 11, fill: 'var(--dim)'}, v);
    }
    this.drawSeries(k.total, 'var(--data)', 'var(--data-fill)');
    if (k.uniform.some(v => v)) this.drawSeries(k.uniform, 'var(--uni)', 'none');
    this.drawSeries(k.pred, 'var(--pred)', 'none');
    this.drawSteps(width);
    for (const [i, anchor] of [[0, 'start'], [k.count - 1, 'end']])
      svg(s, 'text', {x: anchor === 'start' ? this.left : this.left + this.width, y: height - 6, 'text-anchor': anchor, 'font-size': 11, fill: 'var(--dim)'}, 'line ' + k.line[i]);
    this.cursor = svg(s, 'g', {});
    this.drawCursor();
  }
  ticks() {
    const raw = this.most / 5, unit = 10 ** Math.floor(Math.log10(raw));
    const step = Math.max(1, [1, 2, 5, 10].map(m => m * unit).find(v => v >= raw));
    const out = [];
    for (let v = 0; v <= this.most; v += step) out.push(v);
    return out;
  }
  drawLoops() {
    const k = this.kernel, runs = [];
    for (const b of k.blocks) {
      const last = runs[runs.length - 1];
      if (last && last.depth === b.depth && last.end === b.first) last.end = b.end;
      else runs.push({first: b.first, end: b.end, depth: b.depth});
    }
    for (const b of runs) {
      if (!b.depth) continue;
      svg(this.svg, 'rect', {x: this.x(b.first - .5), width: Math.max(.5, (b.end - b.first) * this.width / k.count), y: this.top,
        height: this.bottom - this.top, fill: `rgba(var(--loop), ${Math.min(.32, .07 * b.depth)})`});
    }
  }
  drawSeries(values, stroke, fill) {
    const n = values.length, columns = Math.min(n, Math.floor(this.width)), points = [];
    for (let c = 0; c < columns; ++c) {
      let v = 0;
      const end = Math.floor((c + 1) * n / columns);
      for (let i = Math.floor(c * n / columns); i < end; ++i) v = Math.max(v, values[i]);
      const x0 = (this.left + c * this.width / columns).toFixed(1), x1 = (this.left + (c + 1) * this.width / columns).toFixed(1);
      points.push(`${x0},${this.y(v).toFixed(1)}`, `${x1},${this.y(v).toFixed(1)}`);
    }
    if (fill !== 'none')
      svg(this.svg, 'polygon', {points: `${this.left},${this.bottom} ${points.join(' ')} ${this.left + this.width},${this.bottom}`, fill, stroke: 'none'});
    svg(this.svg, 'polyline', {points: points.join(' '), fill: 'none', stroke, 'stroke-width': 1.4});
  }
  // A line above each run of register counts, and what the next one above the picture is; labels that would overlap
  // are left out, the lines stay. From the top down.
  drawSteps(width) {
    let free = Infinity;
    const above = this.steps.find(t => t.most > this.most && t.most < 255 && t.blocks);
    if (above) svg(this.svg, 'text', {x: width - 126, y: (free = this.top) + 4, 'font-size': 11, fill: 'var(--dim)'}, `\u2191 ${above.most}: ${above.warps} warps`);
    for (const t of [...this.steps].reverse()) {
      if (t.most >= 255 || t.most > this.most || !t.blocks) continue;
      const y = this.y(t.most);
      svg(this.svg, 'line', {class: 'step', x1: this.left, x2: this.left + this.width, y1: y, y2: y, stroke: 'var(--step)', 'stroke-dasharray': '5 4'});
      if (Math.abs(y - free) < 13) continue;
      free = y;
      svg(this.svg, 'text', {x: width - 126, y: y + 4, 'font-size': 11, fill: 'var(--step)'}, `\u2264 ${t.most}: ${t.warps} warps`);
    }
  }
  drawCursor() {
    if (!this.cursor) return;
    this.cursor.replaceChildren();
    if (this.at < 0 || this.at >= this.kernel.count) return;
    const x = this.x(this.at), v = this.kernel.total[this.at];
    svg(this.cursor, 'line', {x1: x, x2: x, y1: this.top, y2: this.bottom, stroke: 'var(--text)', 'stroke-width': 1});
    svg(this.cursor, 'circle', {cx: x, cy: this.y(v), r: 3.5, fill: 'var(--data)', stroke: 'var(--text)'});
    const right = x > this.left + this.width - 60;
    svg(this.cursor, 'text', {x: right ? x - 6 : x + 6, y: this.top + 10, 'text-anchor': right ? 'end' : 'start', 'font-size': 12, fill: 'var(--text)'}, v);
  }
}
