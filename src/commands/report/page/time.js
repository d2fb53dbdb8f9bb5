// By line of the kernel's text: the machine code that was made of it. Code of functions that ptxas inlined is of other lines.
function placeTime(kernel) {
  const own = kernel.lineTime = new Array(kernel.text.length), time = kernel.time;
  for (const [line, instructions, issue, isHot, wait, waitsFor] of time ? time.lines : [])
    if (line >= kernel.first && line < kernel.first + own.length)
      own[line - kernel.first] = {instructions, issue, wait, waitsFor, isHot};
}

function lineTimeText(t) {
  return `${plural(t.instructions, 'machine instruction')}, ${plural(t.issue, 'cycle')} to issue in all iterations`
    + (t.wait ? `; waits ${plural(t.wait, 'cycle')} (L2)${t.waitsFor ? ` for line ${t.waitsFor}` : ''}` : '');
}

// What stands beside a line of PTX.
function addLineTime(row, t) {
  const made = make(row, 'span', {className: 'made'}, t ? String(t.instructions) : '');
  const wait = make(row, 'span', {className: 'wait'});
  if (!t) return;
  if (t.isHot) row.classList.add('hot');
  if (t.wait >= .5) wait.textContent = `${Math.round(t.wait)}` + (t.waitsFor ? ` for ${t.waitsFor}` : '');
  made.title = wait.title = lineTimeText(t);
}

function showTime() {
  const k = kernel, t = k.time;
  $('timed').hidden = !t;
  if (!t) return;
  const cycles = (scenarios, digits) => scenarios.map(([n, limit]) => [n.toFixed(digits), limit]);
  const rows = t.regions.map(([name, depth, first, , iterations, instructions, scenarios, from], n) => ({
    go: k.lineInstruction[first - k.first] ?? -1, isHot: n === t.hottest,
    cells: ['\u2003'.repeat(depth) + name, [iterations, from], instructions.toFixed(1), ...cycles(scenarios, 1)]}));
  rows.push({go: -1, cells: ['the whole, all iterations', '', '', ...cycles(t.whole, 0)]});
  table($('time'), [['cycles of a warp, an iteration'], ['iterations', 'num'], ['instructions', 'num'], ...['L1', 'L2', 'DRAM'].map(s => [s, 'num'])], rows);
  $('time-about').textContent = (t.threads ? `With ${t.warps} resident warps of ${t.threads} threads a block; ` : '')
    + `a loop whose trip count is not known is taken to run ${t.iterations} iterations. It ranks two versions of a kernel, it does not predict a time. `
    + 'Beside a line of PTX stand the machine instructions that were made of it and its longest wait (L2) in cycles, with the line that it is for.'
    + (t.hottest >= 0 ? ' The loop that takes the most cycles (L2) in all its iterations is marked in the table and at its lines.' : '');
}
