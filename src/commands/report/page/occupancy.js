const UNLIMITED = Infinity;
const roundUp = (value, unit) => Math.ceil(value / unit) * unit;

// `a`: an architecture of the data; `need`: {registers, threads, shared, barriers}. How many blocks each resource
// allows, how many in all, how many warps.
function occupancy(a, need) {
  const warps = Math.ceil(need.threads / 32);
  const by = {registers: UNLIMITED, 'shared memory': UNLIMITED, warps: 0, blocks: a.blocks, barriers: UNLIMITED};
  if (need.registers > a.mostRegisters) by.registers = 0;
  else if (need.registers > 0) {
    const ofWarp = roundUp(need.registers * 32, a.registerUnit);
    by.registers = ofWarp * roundUp(warps, a.parts) > a.registers ? 0
      : Math.floor(Math.floor(a.registers / a.parts / ofWarp) * a.parts / warps);
  }
  if (need.shared > a.shared - a.reserved) by['shared memory'] = 0;
  else {
    const taken = roundUp(need.shared + a.reserved, a.sharedUnit);
    if (taken > 0) by['shared memory'] = Math.floor(a.shared / taken);
  }
  by.warps = need.threads > 1024 || need.threads < 1 ? 0 : Math.floor(a.warps / warps);
  if (a.barriersLimit && need.barriers) by.barriers = Math.floor(a.barriers / need.barriers);
  const blocks = Math.min(...Object.values(by));
  return {blocks, warps: blocks * warps, mostWarps: a.warps, by};
}

// Runs of register counts with the same number of resident blocks: [{least, most, blocks, warps}], few first.
function occupancySteps(a, need) {
  const steps = [];
  for (let r = 1; r <= a.mostRegisters; ++r) {
    const o = occupancy(a, {...need, registers: r});
    if (!steps.length || steps[steps.length - 1].blocks !== o.blocks) steps.push({least: r, blocks: o.blocks, warps: o.warps});
    steps[steps.length - 1].most = r;
  }
  return steps;
}
