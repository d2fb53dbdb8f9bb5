const diff = JSON.parse($('data').textContent);
const CHANGES = ['regression', 'limit', 'worse', 'missing', 'better', 'new', 'other-code', 'same'];
let sorted = {column: -1, up: true}, shown = new Set(CHANGES.filter(c => c !== 'same'));

// ---- figures ----

const change = ([before, after]) => before === null || after === null || before === after ? 0 : after - before;
// > 0: worse.
const harm = (pair, figure) => Math.sign(change(pair)) * figure.sign;

function figureCell(tr, pair, figure) {
  const [before, after] = pair, td = make(tr, 'td', {className: 'num'});
  td.dataset.head = figure.name;
  if (before === null && after === null) return;
  if (!pair.isCompared || before === after) { td.append(String(after ?? before)); return; }
  make(td, 'span', {className: 'was'}, `${before ?? '?'} \u2192 `);
  const h = harm(pair, figure), by = change(pair);
  make(td, 'span', {className: h > 0 ? 'worse' : h < 0 ? 'better' : ''}, String(after ?? '?'));
  if (before !== null && after !== null)
    td.append(' ', make(null, 'small', {}, figure.isPercent && before ? `${by > 0 ? '+' : ''}${(100 * by / before).toFixed(1)}%` : `${by > 0 ? '+' : ''}${by}`));
}

// ---- what a row opens ----

function codeView(parent, text) {
  const [about, ...lines] = text.trimEnd().split('\n');
  make(parent, 'p', {}, about);
  const box = make(parent, 'div', {className: 'code'}), panes = ['before', 'after'].map(side => make(box, 'pre', {ariaLabel: `machine code ${side}`}));
  const line = (pane, text, name) => make(pane, 'div', {className: name}, text);
  let waiting = [];  // lines of the side before that have none beside them
  const flush = () => { waiting.forEach(l => { line(panes[0], l, 'changed'); line(panes[1], '', 'none'); }); waiting = []; };
  for (const l of lines) {
    const mark = l.slice(2, 3), rest = l.slice(4);
    if (mark === '-') waiting.push(rest);
    else if (mark === '+') {
      if (waiting.length) line(panes[0], waiting.shift(), 'changed'); else line(panes[0], '', 'none');
      line(panes[1], rest, 'changed');
    } else { flush(); panes.forEach(p => line(p, rest, '')); }
  }
  flush();
}

const SVG = 'http://www.w3.org/2000/svg';
function historyView(parent, row) {
  const box = make(parent, 'div', {className: 'history'});
  diff.figures.forEach((figure, n) => {
    const points = row.history.map((h, i) => [i, h ? h[n] : null]).filter(p => p[1] !== null);
    if (points.length < 2 || points.every(p => p[1] === points[0][1])) return;
    const least = Math.min(...points.map(p => p[1])), most = Math.max(...points.map(p => p[1])), last = diff.history.length - 1;
    make(box, 'div', {className: 'dim'}, `${figure.name}: ${points.map(p => `${diff.history[p[0]]} ${p[1]}`).join(', ')}`);
    const svg = document.createElementNS(SVG, 'svg'), x = i => 10 + 500 * i / last, y = v => 50 - 40 * (v - least) / (most - least);
    svg.setAttribute('viewBox', '0 0 520 60');
    const add = (tag, values) => { const e = document.createElementNS(SVG, tag); Object.entries(values).forEach(([k, v]) => e.setAttribute(k, v)); svg.append(e); };
    add('polyline', {points: points.map(p => `${x(p[0])},${y(p[1])}`).join(' ')});
    points.forEach(p => add('circle', {cx: x(p[0]), cy: y(p[1]), r: 3}));
    box.append(svg);
  });
  if (!box.childElementCount) make(box, 'p', {className: 'dim'}, `No figure changed in ${plural(diff.history.length, 'version')}.`);
}

function open(tr, row) {
  const isOpen = tr.getAttribute('aria-expanded') === 'true';
  tr.setAttribute('aria-expanded', String(!isOpen));
  if (isOpen) { tr.nextSibling.remove(); return; }
  const details = make(null, 'tr', {className: 'details'}), td = make(details, 'td', {colSpan: 2 + diff.figures.length});
  tr.after(details);
  make(td, 'p', {className: 'dim'}, make(null, 'code', {}, row.mangled));
  row.details.forEach(d => make(td, 'p', {}, d));
  if (row.history.length) historyView(td, row);
  if (row.code) codeView(td, row.code);
}

// ---- the table ----

function rowElement(row) {
  const tr = make(null, 'tr', {className: 'row-of', tabIndex: 0, row});
  tr.setAttribute('aria-expanded', 'false');
  const cell = make(tr, 'td', {className: 'change'});
  make(cell, 'span', {className: `badge ${row.change} ${['regression', 'limit'].includes(row.change) ? 'failed' : ''}`}, row.change);
  if (row.by) cell.append(' ', make(null, 'small', {}, `by ${row.by}`));
  const name = make(tr, 'td', {className: 'kernel'}, row.name);
  make(name, 'small', {}, row.place);
  diff.figures.forEach((figure, n) => figureCell(tr, Object.assign(row.figures[n], {isCompared: row.isCompared}), figure));
  tr.addEventListener('click', () => open(tr, row));
  tr.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); open(tr, row); } });
  return tr;
}

function sortKey(row) {
  if (sorted.column === 0) return CHANGES.indexOf(row.change);
  if (sorted.column === 1) return row.name;
  const pair = row.figures[sorted.column - 2], figure = diff.figures[sorted.column - 2];
  // What got worse most, or is most, first.
  return -(harm(pair, figure) * Math.abs(change(pair)) / (pair[0] || 1) * 1e9 + (pair[1] ?? pair[0] ?? 0));
}

function show() {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean), architecture = $('architecture').value;
  const rows = diff.rows.filter(r => shown.has(r.change) && (!architecture || r.architecture === architecture)
    && words.every(w => `${r.name} ${r.mangled} ${r.place}`.toLowerCase().includes(w)));
  if (sorted.column >= 0) {
    const keyed = rows.map(r => [sortKey(r), r]);
    keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (sorted.up ? 1 : -1));
    rows.splice(0, rows.length, ...keyed.map(k => k[1]));
  }
  $('rows').tBodies[0].replaceChildren(...rows.map(rowElement));
  $('count').textContent = `${rows.length} of ${plural(diff.rows.length, 'function')}`;
  [...$('rows').tHead.rows[0].cells].forEach((th, n) => n === sorted.column ? th.setAttribute('aria-sort', sorted.up ? 'ascending' : 'descending') : th.removeAttribute('aria-sort'));
}

function start() {
  document.title = `${diff.after} \u2013 ptxopt diff`;
  $('title').append(make(null, 'span', {className: `badge ${diff.verdict === 'ok' ? 'ok' : 'failed'}`}, diff.verdict), ` ${diff.headline}`);
  $('about').textContent = diff.about;
  diff.problems.forEach(p => make($('problems'), 'p', {}, p));
  const head = make($('rows').tHead, 'tr');
  ['', 'kernel', ...diff.figures.map(f => f.name)].forEach((name, n) => {
    const th = make(head, 'th', {className: n > 1 ? 'num' : '', scope: 'col', tabIndex: 0}, name || 'change');
    const sort = () => { sorted = {column: n, up: sorted.column === n ? !sorted.up : true}; show(); };
    th.addEventListener('click', sort);
    th.addEventListener('keydown', e => { if (e.key === 'Enter') sort(); });
  });
  const architectures = [...new Set(diff.rows.map(r => r.architecture))];
  $('architecture-field').hidden = architectures.length < 2;
  ['', ...architectures].forEach(a => make($('architecture'), 'option', {value: a}, a || 'all'));
  for (const c of CHANGES) {
    const count = diff.rows.filter(r => r.change === c).length;
    if (!count) continue;
    const label = make($('changes'), 'label'), box = make(label, 'input', {type: 'checkbox', checked: shown.has(c), name: c});
    label.append(` ${c} (${count})`);
    box.addEventListener('change', () => { shown[box.checked ? 'add' : 'delete'](c); show(); });
  }
  if (diff.rows.every(r => r.change === 'same')) { shown = new Set(CHANGES); document.querySelectorAll('#changes input').forEach(b => b.checked = true); }
  $('filter').addEventListener('input', show);
  $('architecture').addEventListener('change', show);
  diff.summary.forEach(s => make($('summary'), 'p', {}, s));
  show();
  showNamed();
  addEventListener('hashchange', showNamed);
}

// `#NAME`, as the PTX has it: that kernel is open, whatever is filtered.
function showNamed() {
  const name = decodeURIComponent(location.hash.slice(1)), found = diff.rows.find(r => r.mangled === name);
  if (!found) return;
  $('filter').value = '';
  $('architecture').value = '';
  if (!shown.has(found.change)) document.querySelector(`#changes [name="${found.change}"]`).click();
  show();
  const tr = [...$('rows').tBodies[0].rows].find(t => t.row === found);
  open(tr, found);
  tr.scrollIntoView();
}
start();
