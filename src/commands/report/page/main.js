const report = JSON.parse($('data').textContent);
const FILES = ['data', 'predicate', 'uniform'];

// ---- the data ----

// Columns become objects; what can be computed is.
function unpack(k) {
  if (k.count !== undefined) return k;
  k.text = k.text.split('\n');
  k.count = k.line.length;
  k.total = k.data.map((v, i) => v + k.uniform[i]);
  k.starts = new Set(k.isStart);
  k.instructions = k.count - k.isStart.length;
  k.loops = k.loops.map(([header, parent, depth, irreducible, blocks, maximum]) => ({header, parent, depth, irreducible, blocks, maximum}));
  k.blocks = k.blocks.map(([first, end, firstLine, lastLine, loop, reachable, to]) =>
    ({first, end, firstLine, lastLine, loop, reachable, to, depth: loop < 0 ? 0 : k.loops[loop].depth}));
  k.registers = k.registers.map(([name, type, units, file, segments]) => ({name, type, units: units / 2, file: FILES[file], segments}));
  placeLines(k);
  placeTime(k);
  return k;
}

function sourceName(index, long) {
  const [file, line] = report.sources[index], path = report.files[file] ?? `file ${file}`;
  return `${long ? path : path.replace(/^.*[\/\\]/, '')}:${line}`;
}

// The registers that are live at a point: those that make k.data, k.uniform and k.pred there.
function aliveAt(k, at) {
  const alive = [];
  for (const r of k.registers) {
    const s = r.segments;
    let low = 0, high = s.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (s[2 * middle + 1] <= at) low = middle + 1; else high = middle;
    }
    if (2 * low < s.length && s[2 * low] <= at) alive.push({...r, from: s[2 * low], to: s[2 * low + 1] - 1});
  }
  const rank = {data: 0, uniform: 1, predicate: 2};
  return alive.sort((a, b) => rank[a.file] - rank[b.file] || b.units - a.units || (b.to - b.from) - (a.to - a.from));
}

function blockAt(k, point) {
  return k.blocks.findIndex(b => b.first <= point && point < b.end);
}

// ---- the state, which the address keeps: #kernel=NAME&line=N&threads=N&registers=N&shared=N ----

let kernel = null, at = -1;
const chart = new Chart($('chart'), choose), listing = new Listing($('listing'), choose);

function readHash() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const wanted = report.kernels.find(k => k.name === hash.get('kernel')) ?? kernel ?? report.kernels[0];
  if (!wanted) return;
  if (wanted !== kernel) show(wanted);
  for (const field of ['threads', 'registers', 'shared']) if (/^\d+$/.test(hash.get(field) ?? '')) $(field).value = hash.get(field);
  if (report.architectures.some(a => a.name === hash.get('architecture'))) $('architecture').value = hash.get('architecture');
  showOccupancy();
  const line = +(hash.get('line') ?? 0);
  if (line > 0) listing.chooseLine(line); else if (at < 0 && kernel.count) choose(kernel.worst);
}

function writeHash() {
  const hash = new URLSearchParams({kernel: kernel.name, line: at >= 0 ? kernel.line[at] : 0});
  for (const field of ['threads', 'registers', 'shared', 'architecture'])
    if ($(field).value !== $(field).dataset.given) hash.set(field, $(field).value);
  try { history.replaceState(null, '', '#' + hash); } catch { /* some file:// viewers forbid it */ }
}

// ---- one kernel ----

function card(value, label, title = '') {
  const c = make($('cards'), 'div', {className: 'card', title});
  make(c, 'b', {}, String(value));
  make(c, 'span', {}, label);
}

function show(k) {
  kernel = unpack(k);
  at = -1;
  document.querySelectorAll('#kernels button').forEach(b => b.setAttribute('aria-current', b.dataset.name === k.name));
  document.querySelector('main').hidden = false;
  $('name').textContent = k.name;
  $('where').textContent = (k.demangled ? k.demangled + ': ' : '') + `${k.entry ? 'kernel' : 'function'}, lines ${k.first}\u2013${k.first + k.text.length - 1}`
    + (k.threadsGiven ? `, launch bounds ${k.threads} threads` : '') + (k.usable ? '' : '; its control-flow graph is too large to be analysed');
  $('cards').replaceChildren();
  card(k.instructions.toLocaleString('en'), 'instructions');
  card(k.blocks.length.toLocaleString('en'), 'blocks');
  card(k.loops.length, `loops${k.deepest ? `, ${k.deepest} deep` : ''}`);
  card(k.maximum, k.count ? `live units at most, line ${k.line[k.worst]}` : 'live units at most');
  for (const [name, value] of k.estimates) card(value, `registers, estimate: ${name}`);
  if (k.ptxas) {
    if (k.ptxas.registers !== null) card(k.ptxas.registers, 'registers, ptxas');
    card(`${k.ptxas.spillStores} + ${k.ptxas.spillLoads}`, 'bytes spilled: stores + loads, ptxas');
    card(k.ptxas.stack, 'bytes of stack, ptxas');
    card(k.ptxas.shared, 'bytes of shared memory, ptxas');
  }
  give('threads', k.threads);
  const real = k.ptxas && k.ptxas.registers !== null;
  give('registers', real ? k.ptxas.registers : k.estimates.length ? k.estimates[k.estimates.length - 1][1] : Math.max(16, k.maximum));
  $('registers').dataset.from = real ? "ptxas's count" : 'an estimate';
  give('shared', k.shared);
  give('architecture', report.architecture);
  listing.set(kernel);
  showOccupancy();
  showTime();
  showLoops();
  showOpcodes();
  showBlocks();
  $('side').replaceChildren();
}

function give(field, value) {
  $(field).value = $(field).dataset.given = value;
}

function choose(i) {
  at = i;
  chart.move(i);
  listing.move(i);
  showPoint();
  writeHash();
}

// ---- the parts ----

function showOccupancy() {
  const a = report.architectures.find(x => x.name === $('architecture').value);
  const need = {registers: +$('registers').value, threads: +$('threads').value, shared: +$('shared').value, barriers: kernel.barriers};
  const p = $('occupancy');
  $('registers-from').textContent = $('registers').value === $('registers').dataset.given ? $('registers').dataset.from : '';
  if (!a || !(need.threads >= 1) || !(need.registers >= 1)) {
    p.textContent = a ? 'Needs a block size and a register count.' : 'The architecture is not known.';
    chart.set(kernel, [], at);
    return;
  }
  const o = occupancy(a, need), steps = occupancySteps(a, need);
  const mine = steps.findIndex(s => s.least <= need.registers && need.registers <= s.most);
  const limits = Object.keys(o.by).filter(r => o.by[r] === o.blocks).join(' and ');
  const up = steps.slice(0, Math.max(mine, 0)).reverse().find(s => s.blocks > o.blocks);
  const down = mine < 0 ? undefined : steps.slice(mine + 1).find(s => s.blocks < o.blocks);
  p.textContent = o.blocks === 0 ? `Such a block cannot run on ${a.name}: too much ${limits}.`
    : `${a.name}: ${plural(o.blocks, 'block')}, ${o.warps} of ${o.mostWarps} warps (${Math.round(100 * o.warps / o.mostWarps)} %) resident on an SM, limited by ${limits}.`
      + (up ? ` Next step up: ${up.most} registers give ${up.warps} warps.` : '')
      + (down ? ` Next cliff: ${down.least} registers leave ${down.warps} warps.` : '');
  chart.set(kernel, steps, at);
}


// A table whose rows go to an instruction; beyond `most` rows a button shows the rest.
function table(parent, head, rows, most = 200) {
  parent.replaceChildren();
  const t = make(parent, 'table'), top = make(make(t, 'thead'), 'tr');
  head.forEach(h => make(top, 'th', {className: h[1] ?? ''}, h[0]));
  const body = make(t, 'tbody');
  const add = list => list.forEach(r => {
    const tr = make(body, 'tr', {className: (r.go >= 0 ? 'go' : '') + (r.isHot ? ' hot' : '')});
    if (r.go >= 0) tr.addEventListener('click', () => choose(r.go));
    r.cells.forEach((c, n) => {
      const [figure, about] = [c].flat(), td = make(tr, 'td', {className: head[n][1] ?? ''}, String(figure));
      if (about) td.append(' ', make(null, 'small', {className: 'dim'}, about));
    });
  });
  add(rows.slice(0, most));
  if (rows.length > most) {
    const more = make(parent, 'button', {className: 'more', type: 'button'}, `show all ${rows.length}`);
    more.addEventListener('click', () => { add(rows.slice(most)); more.remove(); });
  }
}

function showPoint() {
  const side = $('side'), k = kernel, alive = aliveAt(k, at);
  side.replaceChildren();
  // Halves fill a unit by two.
  const units = ['data', 'uniform'].reduce((n, file) => n + Math.ceil(alive.reduce((u, r) => u + (r.file === file ? r.units : 0), 0)), 0);
  const predicates = alive.filter(r => r.file === 'predicate').length;
  make(side, 'div', {id: 'point'}, `${k.starts.has(at) ? `Start of B${blockAt(k, at)}, line` : 'After line'} ${k.line[at]}: ${plural(units, 'live unit')}, ${plural(predicates, 'predicate')}`);
  make(side, 'pre', {}, k.line[at] ? k.text[k.line[at] - k.first].trim() : '');
  const made = k.lineTime[k.line[at] - k.first];
  if (made) make(side, 'p', {id: 'made', className: 'dim'}, lineTimeText(made));
  if (k.source[at] >= 0) {
    make(side, 'div', {className: 'dim'}, sourceName(k.source[at], true));
    const text = report.sources[k.source[at]][2];
    make(side, 'pre', {id: 'source'}, text ?? '(the source file was not found)');
  }
  const list = make(side, 'div', {id: 'alive'});
  table(list, [['value'], ['type'], ['units', 'num'], ['lines', 'num']],
    alive.map(r => ({go: r.from, cells: [r.name, r.type, r.file === 'predicate' ? 'predicate' : r.units + (r.file === 'uniform' ? ' uniform' : ''), `${k.line[r.from]}\u2013${k.line[r.to]}`]})), 300);
  make(side, 'p', {className: 'dim'}, 'Lines: from where to where in the text the value is live around this point. A row goes to its beginning.');
}

function showLoops() {
  const k = kernel, first = b => k.blocks[b].first;
  table($('loops'), [['loop'], ['header'], ['blocks', 'num'], ['live units', 'num']], k.loops.map((l, n) => ({go: k.count ? Math.min(first(l.header), k.count - 1) : -1, cells:
    ['\u2003'.repeat(l.depth - 1) + `L${n}` + (l.irreducible ? ' irreducible' : ''), `B${l.header}, line ${k.blocks[l.header].firstLine}`, l.blocks, l.maximum]})));
  if (!k.loops.length) $('loops').textContent = 'There are none.';
}

function showOpcodes() {
  const all = kernel.opcodes;
  table($('opcodes'), [['opcode'], ['instructions', 'num'], ['share', 'num']],
    all.map(([name, n]) => ({go: -1, cells: [name, n, `${(100 * n / kernel.instructions).toFixed(1)} %`]})));
}

function showBlocks() {
  const k = kernel;
  table($('blocks'), [['block'], ['lines'], ['instructions', 'num'], ['depth', 'num'], ['live units', 'num'], ['goes to']], k.blocks.map((b, n) => {
    let most = 0;
    for (let i = b.first; i < b.end; ++i) most = Math.max(most, k.total[i]);
    return {go: b.first < b.end ? b.first : -1, cells: [`B${n}` + (b.reachable ? '' : ' unreachable'), `${b.firstLine}\u2013${b.lastLine}`, b.end - b.first - 1, b.depth, most,
      b.to.map(t => t < 0 ? 'end' : `B${t}`).join(' ')]};
  }));
}

// ---- the page ----

// A function in C++ without its result and the namespaces that it is in.
function shortName(name) {
  return name.replace(/^void /, '').replace(/^(?:\w+::)*(?=\w+[<(])/, '');
}

function start() {
  document.title = `${report.file} \u2013 ptxopt report`;
  $('title').textContent = report.file;
  $('about').textContent = [report.target && `.target ${report.target}`, plural(report.kernels.length, 'function'),
    `ptxopt ${report.version}`, report.ptxas && `ptxas ${report.ptxas}`].filter(Boolean).join(' \u00b7 ');
  $('notes').textContent = report.notes.join(' ');
  for (const a of report.architectures) make($('architecture'), 'option', {value: a.name}, a.name);
  for (const k of report.kernels) {
    const b = make($('kernels'), 'button', {type: 'button', title: k.demangled || k.name});
    make(b, 'span', {}, shortName(k.demangled) || k.name);
    b.dataset.name = k.name;
    make(b, 'small', {}, `${k.maximum} live units${k.ptxas && k.ptxas.registers !== null ? `, ${k.ptxas.registers} registers` : ''}${k.entry ? '' : ', function'}`);
    b.addEventListener('click', () => { show(k); if (k.count) choose(k.worst); writeHash(); });
  }
  if (!report.kernels.length) $('kernels').textContent = 'The file has no function with a body.';
  $('filter').hidden = report.kernels.length < 8;
  $('filter').addEventListener('input', () => document.querySelectorAll('#kernels button').forEach(b =>
    { b.hidden = !(b.dataset.name + b.title).includes($('filter').value); }));
  for (const field of ['threads', 'registers', 'shared', 'architecture'])
    $(field).addEventListener('input', () => {
      showOccupancy();
      writeHash();
    });
  for (const element of [$('chart'), $('listing')])
    element.addEventListener('keydown', e => {
      const step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[e.key];
      if (step && kernel.count) choose(Math.max(0, Math.min(kernel.count - 1, at + step)));
      else if (e.key === 'm' && kernel.count) choose(kernel.worst);
      else return;
      e.preventDefault();
    });
  addEventListener('hashchange', readHash);
  readHash();
}
start();
