#include "report/page.h"

namespace ptxopt::report {

std::string_view pageStyle() {
  return R"css(
:root {
  color-scheme: light dark;
  --back: #ffffff; --panel: #f5f6f8; --line: #d5d9e0; --text: #1d2430; --dim: #5d6778;
  --accent: #1f5fbf; --data: #2f6fd0; --data-fill: rgba(47,111,208,.18); --pred: #b3541e; --uni: #2e7d4f;
  --step: #a33a3a; --mark: #ffe9a8; --loop: 31,95,191; --warn: #8a4b00; --chosen: #d9e7fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171c; --panel: #1d2229; --line: #363d48; --text: #e3e7ee; --dim: #9aa5b6;
    --accent: #82b1ff; --data: #6ea8ff; --data-fill: rgba(110,168,255,.20); --pred: #ffab70; --uni: #7fd6a2;
    --step: #ff8f8f; --mark: #5a4a12; --loop: 130,177,255; --warn: #ffc46b; --chosen: #24405f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
code, pre, .code, td.code, svg text { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
h1 { font-size: 17px; margin: 0; } h2 { font-size: 17px; margin: 0 0 2px; overflow-wrap: anywhere; }
h3 { font-size: 14px; margin: 0 0 6px; }
header { padding: 10px 16px; border-bottom: 1px solid var(--line); background: var(--panel); }
#where { overflow-wrap: anywhere; }
header p, .dim { color: var(--dim); margin: 2px 0 0; } .note { color: var(--warn); }
.page { display: grid; grid-template-columns: 250px minmax(0, 1fr); align-items: start; }
nav { padding: 10px; border-right: 1px solid var(--line); position: sticky; top: 0; max-height: 100vh; overflow: auto; }
nav input { width: 100%; margin-bottom: 8px; }
nav button { display: block; width: 100%; text-align: left; border: 0; background: none; color: inherit; font: inherit;
  padding: 5px 8px; border-radius: 5px; cursor: pointer; overflow-wrap: anywhere; }
nav button:hover { background: var(--panel); } nav button[aria-current=true] { background: var(--chosen); }
nav span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
nav small { display: block; color: var(--dim); }
main { padding: 12px 16px 40px; min-width: 0; }
section { margin-top: 16px; }
.cards { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px; min-width: 92px; }
.card b { display: block; font-size: 17px; font-weight: 600; } .card span { color: var(--dim); font-size: 12px; }
input, select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 4px;
  padding: 2px 5px; }
input[type=number] { width: 84px; }
.fields { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; margin-bottom: 6px; }
.chart { border: 1px solid var(--line); border-radius: 6px; background: var(--back); cursor: crosshair; display: block;
  width: 100%; height: 250px; outline-offset: 2px; }
.legend span { margin-right: 14px; } .legend i { display: inline-block; width: 12px; height: 3px; margin-right: 5px;
  vertical-align: middle; }
.split { display: grid; grid-template-columns: minmax(0, 1fr) 330px; gap: 12px; align-items: stretch; }
.listing { position: relative; height: 560px; overflow: auto; border: 1px solid var(--line); border-radius: 6px;
  font: 12px/18px ui-monospace, "DejaVu Sans Mono", Consolas, monospace; background: var(--back); }
.row { position: absolute; left: 0; min-width: 100%; height: 18px; white-space: pre; display: flex; cursor: pointer; }
.row:hover { outline: 1px solid var(--line); outline-offset: -1px; }
.row.at { background: var(--mark) !important; }
.row .no { flex: none; width: 62px; text-align: right; padding-right: 8px; color: var(--dim); user-select: none; }
.row .src { flex: none; width: 86px; color: var(--accent); overflow: hidden; text-overflow: ellipsis; user-select: none; }
.row .nest { flex: none; display: flex; width: var(--nest); user-select: none; }
.row .nest i { width: 7px; margin-right: 2px; border-left: 2px solid rgba(var(--loop), .75); }
.row .nest i.top { border-top: 2px solid rgba(var(--loop), .75); margin-top: 4px; }
.row .nest i.end { border-bottom: 2px solid rgba(var(--loop), .75); margin-bottom: 4px; }
.row .units { flex: none; width: 74px; display: flex; align-items: center; user-select: none; }
.row .units b { font-weight: 400; width: 30px; text-align: right; padding-right: 5px; color: var(--dim); }
.row .units i { height: 8px; background: var(--data); opacity: .65; border-radius: 1px; }
.row .text { flex: 1 0 auto; padding-right: 12px; tab-size: 4; }
.side { border: 1px solid var(--line); border-radius: 6px; padding: 10px; height: 560px; overflow: auto; background: var(--panel); }
.side pre { margin: 4px 0 10px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; } .side table { width: 100%; font-size: 12px; }
th, td { text-align: left; padding: 2px 10px 2px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td.num, th.num { text-align: right; } th { color: var(--dim); font-weight: 600; }
tr.go { cursor: pointer; } tr.go:hover { background: var(--chosen); } tr.now { background: var(--mark); }
.tables { display: flex; flex-wrap: wrap; gap: 20px 48px; align-items: flex-start; }
.tables > * { max-width: 100%; }
.scroll { max-height: 420px; overflow: auto; scrollbar-gutter: stable; }
button.more { font: inherit; color: var(--accent); background: none; border: 1px solid var(--line); border-radius: 4px;
  padding: 2px 8px; cursor: pointer; margin-top: 6px; }
@media (max-width: 900px) {
  .page, .split { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; max-height: 220px; border-right: 0; border-bottom: 1px solid var(--line); }
  .side { height: auto; max-height: 420px; }
}
)css";
}

std::string_view pageBody() {
  return R"html(
<header><h1 id="title"></h1><p id="about"></p><p id="notes" class="note"></p></header>
<noscript><p class="note">This page needs JavaScript; it loads nothing from the network.</p></noscript>
<div class="page">
<nav aria-label="Kernels"><input id="filter" type="search" placeholder="filter" aria-label="Filter kernels" hidden><div id="kernels"></div></nav>
<main hidden>
<h2 id="name"></h2><p id="where" class="dim"></p>
<div class="cards" id="cards"></div>
<section><h3>Occupancy</h3>
<div class="fields" id="occupancy-fields">
<label>threads a block <input id="threads" type="number" min="1" max="1024"></label>
<label>registers <input id="registers" type="number" min="1" max="255"></label><span id="registers-from" class="dim"></span>
<label>shared bytes a block <input id="shared" type="number" min="0"></label>
<label>architecture <select id="architecture"></select></label>
</div>
<p id="occupancy" aria-live="polite"></p></section>
<section><h3>Live 32-bit units along the code</h3>
<svg class="chart" id="chart" tabindex="0" role="img" aria-label="Live 32-bit units along the code"></svg>
<p class="legend dim"><span><i style="background:var(--data)"></i>data and uniform</span><span><i style="background:var(--uni)"></i>uniform alone</span><span><i style="background:var(--pred)"></i>predicates</span><span><i style="background:var(--step)"></i>occupancy steps (estimate: registers taken as live units)</span>Click for the values alive at a point; arrow keys move it; m goes to the maximum.</p></section>
<section class="split">
<div><h3>PTX</h3><div class="listing" id="listing" tabindex="0"></div></div>
<div><h3>At the point</h3><div class="side" id="side"></div></div>
</section>
<section class="tables">
<div><h3>Loops</h3><div class="wide scroll" id="loops"></div></div>
<div><h3>Instructions</h3><div class="wide scroll" id="opcodes"></div></div>
<div><h3>Basic blocks</h3><div class="wide scroll" id="blocks"></div></div>
</section>
</main></div>
)html";
}

}  // namespace ptxopt::report
