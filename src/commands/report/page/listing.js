// What a loop is inside of, outermost first, itself included.
function loopChain(kernel, loop) {
  const chain = [];
  for (; loop >= 0; loop = kernel.loops[loop].parent) chain.unshift(loop);
  return chain;
}

// By line of the kernel's text: its loop, and the point after its first instruction, or the start of a block whose
// label stands there (-1: none).
function placeLines(kernel) {
  const n = kernel.text.length, loop = new Int32Array(n).fill(-2), instruction = new Int32Array(n).fill(-1);
  for (const b of kernel.blocks)
    for (let l = b.firstLine; l && l <= b.lastLine; ++l) loop[l - kernel.first] = b.loop;
  for (const starts of [true, false])
    for (let i = kernel.count - 1; i >= 0; --i)
      if (kernel.line[i] && kernel.starts.has(i) === starts) instruction[kernel.line[i] - kernel.first] = i;
  // Lines between blocks belong to the loops that both neighbours are in.
  for (let l = 0, before = -1; l < n; ++l) {
    if (loop[l] !== -2) { before = loop[l]; continue; }
    let end = l;
    while (end < n && loop[end] === -2) ++end;
    const a = loopChain(kernel, before), b = loopChain(kernel, end < n ? loop[end] : -1);
    let common = -1;
    for (let d = 0; d < a.length && a[d] === b[d]; ++d) common = a[d];
    loop.fill(common, l, end);
    l = end - 1;
  }
  kernel.lineLoop = loop;
  kernel.lineInstruction = instruction;
  kernel.deepest = kernel.loops.reduce((d, l) => Math.max(d, l.depth), 0);
}

// The text, of which only the rows in view are in the document.
class Listing {
  constructor(element, choose) {
    this.element = element;
    this.choose = choose;
    this.rows = make(element, 'div');
    element.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(element);
    element.addEventListener('click', e => {
      const row = e.target.closest('.row');
      if (row) this.chooseLine(+row.dataset.line);
    });
  }
  // The point of the line, or the next one after it, or the last.
  chooseLine(line) {
    const k = this.kernel;
    if (!k.count) return;
    let l = Math.max(0, line - k.first);
    while (l < k.text.length && k.lineInstruction[l] < 0) ++l;
    this.choose(l < k.text.length ? k.lineInstruction[l] : k.count - 1);
  }
  set(kernel) {
    this.kernel = kernel;
    this.at = -1;
    this.most = Math.max(1, kernel.maximum);
    this.rows.style.cssText = `position:relative;height:${kernel.text.length * 18}px;`;
    this.element.style.setProperty('--nest', `${kernel.deepest * 9 + 4}px`);
    this.hasSource = kernel.source.some(s => s >= 0);
    this.element.scrollTop = 0;
    this.draw();
  }
  // Marks a point and brings its line into view.
  move(at) {
    this.at = at;
    const y = (this.kernel.line[at] - this.kernel.first) * 18, e = this.element;
    if (y < e.scrollTop + 36 || y > e.scrollTop + e.clientHeight - 54) e.scrollTop = Math.max(0, y - e.clientHeight / 3);
    this.draw();
  }
  draw() {
    const k = this.kernel;
    if (!k) return;
    const first = Math.max(0, Math.floor(this.element.scrollTop / 18) - 12);
    const end = Math.min(k.text.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / 18) + 12);
    const rows = [];
    for (let l = first; l < end; ++l) rows.push(this.row(l));
    this.rows.replaceChildren(...rows);
  }
  row(l) {
    const k = this.kernel, i = k.lineInstruction[l];
    const row = make(null, 'div', {className: i >= 0 && i === this.at ? 'row at' : 'row'});
    row.dataset.line = l + k.first;
    row.style.top = `${l * 18}px`;
    const chain = loopChain(k, k.lineLoop[l]);
    if (chain.length) row.style.background = `rgba(var(--loop), ${Math.min(.3, .06 * chain.length)})`;
    make(row, 'span', {className: 'no'}, String(l + k.first));
    if (this.hasSource) {
      const now = i >= 0 ? k.source[i] : -1;
      let p = i - 1;
      while (p >= 0 && k.starts.has(p)) --p;
      const span = make(row, 'span', {className: 'src'}, now >= 0 && (p < 0 || now !== k.source[p]) ? sourceName(now) : '');
      if (now >= 0) span.title = sourceName(now, true);
    }
    const nest = make(row, 'span', {className: 'nest'});
    const inLine = at => at >= 0 && at < k.text.length ? loopChain(k, k.lineLoop[at]) : [];
    const before = inLine(l - 1), after = inLine(l + 1);
    chain.forEach((loop, d) => make(nest, 'i', {title: `loop L${loop}`,
      className: (before[d] !== loop ? 'top ' : '') + (after[d] !== loop ? 'end' : '')}));
    const units = make(row, 'span', {className: 'units'});
    if (i >= 0) {
      make(units, 'b', {}, String(k.total[i]));
      make(units, 'i').style.width = `${Math.round(36 * k.total[i] / this.most)}px`;
    }
    if (k.time) addLineTime(row, k.lineTime[l]);
    make(row, 'span', {className: 'text'}, k.text[l]);
    return row;
  }
}
