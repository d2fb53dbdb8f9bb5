// The pressure at each point, the blocks, the loops and the live spans of registers become arrays of numbers, which the
// page's script draws. Spans of several values of one register that touch are joined.
#include "report/kernel_data.h"

#include <algorithm>
#include <map>

#include "analysis/machine/kernel_needs.h"
#include "report/time_data.h"
#include "support/demangle.h"

namespace ptxopt::report {
namespace {

// The .loc that holds at each instruction, by InstrId; none before the first.
std::vector<const Loc*> locations(const Function& f) {
  std::vector<const Loc*> all(f.instructions.size());
  const Loc* now = nullptr;
  for (const InstrId id : f) {
    if (const Loc* loc = f.lineOf(f[id])) now = loc;
    all[id.value] = now;
  }
  return all;
}

void addPoints(Json& data, dump::FunctionView& view, Sources& sources) {
  const RegisterPressure& pressure = view.analyses.registerPressure();
  const PressurePoints& points = pressure.points();
  const std::vector<const Loc*> locs = locations(view.function);
  std::vector<std::size_t> line, starts;
  std::vector<uint32_t> whole, predicate, uniform;
  std::vector<int> source;
  uint32_t maximum = 0;
  std::size_t worst = 0, now = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const PressurePoints::Point& point = points[p];
    const RegisterPressure::Units& units = pressure.at(p);
    const bool isInstruction = point.instruction.valid();
    if (!isInstruction) starts.push_back(p);
    const std::size_t at = isInstruction ? view.line(point.instruction) : view.firstLine(point.block);
    now = at != 0 ? at : now;
    line.push_back(now);
    whole.push_back(units.data);
    predicate.push_back(units.predicate);
    uniform.push_back(units.uniform);
    const Loc* const loc = isInstruction ? locs[point.instruction.value] : nullptr;
    source.push_back(loc == nullptr || loc->line == 0 ? -1 : sources.number(*loc));
    if (const uint32_t sum = units.data + units.uniform; sum > maximum) {
      maximum = sum;
      worst = p;
    }
  }
  data["line"] = line;
  data["data"] = whole;
  data["pred"] = predicate;
  data["uniform"] = uniform;
  data["source"] = source;
  data["isStart"] = starts;
  data["maximum"] = maximum;
  data["worst"] = worst;
}

void addShape(Json& data, dump::FunctionView& view) {
  const Cfg& cfg = view.analyses.cfg();
  const Loops& loops = view.analyses.loops();
  const RegisterPressure& pressure = view.analyses.registerPressure();
  Json& blocks = data["blocks"] = Json::array();
  for (uint32_t n = 0; n < cfg.size(); ++n) {
    const BlockId b(n);
    Json to = Json::array();
    for (const BlockId s : cfg.successors(b)) to.push_back(s.value);
    if (cfg[b].leaves) to.push_back(-1);
    const LoopId loop = loops.of(b);
    blocks.push_back({pressure.points().firstOf(b), pressure.points().firstOf(BlockId(n + 1)), view.firstLine(b),
                      view.lastLine(b), loop.valid() ? static_cast<int64_t>(loop.value) : -1,
                      cfg[b].reachable ? 1 : 0, std::move(to)});
  }
  Json& nest = data["loops"] = Json::array();
  for (uint32_t n = 0; n < loops.size(); ++n) {
    const Loop& loop = loops[LoopId(n)];
    uint32_t most = 0;
    for (const BlockId b : loops.blocks(LoopId(n)))
      for (std::size_t p = pressure.points().firstOf(b); p < pressure.points().firstOf(BlockId(b.value + 1)); ++p)
        most = std::max(most, pressure.at(p).data + pressure.at(p).uniform);
    nest.push_back({loop.header.value, loop.parent.valid() ? static_cast<int64_t>(loop.parent.value) : -1,
                    loop.depth, loop.irreducible ? 1 : 0, loop.blockCount, most});
  }
}

void addRegisters(Json& data, dump::FunctionView& view) {
  const RegisterPressure& pressure = view.analyses.registerPressure();
  Json& registers = data["registers"] = Json::array();
  RegId last;
  for (const RegisterPressure::Span& span : pressure.spans()) {
    if (span.reg != last) {
      const Register& reg = view.function.registers[span.reg.value];
      const RegisterSize size = pressure.sizeOf(span.reg);
      std::string type = reg.lanes > 1 ? "v" + std::to_string(reg.lanes) + "." : "";
      type += info(reg.type).name;
      registers.push_back({view.registerName(span.reg), std::move(type), size.isHalf ? 1 : 2 * size.units,
                           static_cast<int>(pressure.fileOf(span.reg)), Json::array()});
      last = span.reg;
    }
    // Spans of several values that touch are one for the reader.
    Json& segments = registers.back().back();
    if (!segments.empty() && segments.back() == span.first)
      segments.back() = span.last + 1;
    else
      segments.insert(segments.end(), {span.first, span.last + 1});
  }
}

void addOpcodes(Json& data, const dump::FunctionView& view) {
  std::map<std::string_view, uint64_t> counts;
  for (const InstrId id : view.function)
    if (const Instruction& i = view.function[id]; i.isInstruction()) ++counts[view.module.printedOpcode(i)];
  std::vector<std::pair<std::string_view, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  data["opcodes"] = sorted;
}

Json counts(const ptxas::FunctionMeasures& f) {
  return {{"registers", f.registers != 0 ? Json(f.registers) : Json()},
          {"barriers", f.barriers},
          {"stack", f.stack},
          {"spillStores", f.spillStores.value_or(0)},
          {"spillLoads", f.spillLoads.value_or(0)},
          {"shared", f.shared},
          {"instructions", f.instructions},
          {"inner", f.inner}};
}

}  // namespace

Json kernelData(dump::FunctionView& view, const ModuleCalledNeeds& called, Sources& sources,
                const ptxas::FunctionMeasures* ptxas, const ptxas::TimedFunction* time) {
  const Function& f = view.function;
  const std::size_t first = view.view.line(f.source.begin), last = view.view.line(f.source.end - 1);
  const std::size_t from = view.view.lineStart(first);
  const std::size_t to = view.view.lineStart(last) + view.view.lineText(last).size();
  const KernelNeeds needs = kernelNeeds(view.module, f, &called);
  Json data = {{"name", view.name()},
               {"demangled", demangled(view.name())},
               {"entry", f.isEntry},
               {"first", first},
               {"text", view.module.source.substr(from, to - from)},
               {"usable", view.usable()}};
  if (view.usable()) {
    addPoints(data, view, sources);
    addShape(data, view);
    addRegisters(data, view);
  } else {
    for (const char* const column :
         {"line", "data", "pred", "uniform", "source", "isStart", "blocks", "loops", "registers"})
      data[column] = Json::array();
    data["maximum"] = data["worst"] = 0;
  }
  addOpcodes(data, view);
  data["threads"] = needs.threads.value_or(ptxas::kThreadsWhenUnknown);
  data["threadsGiven"] = needs.threads.has_value();
  data["shared"] = ptxas != nullptr && ptxas->isKernel ? ptxas->shared : needs.sharedBytes;
  data["barriers"] = ptxas != nullptr ? ptxas->barriers : needs.barriers;
  data["estimates"] = Json::array();
  if (view.usable()) {
    const RegisterEstimate& estimate = view.analyses.registerEstimate();
    data["estimates"].push_back(Json::array({"plain maximum", estimate.plain}));
    data["estimates"].push_back(Json::array({"fat-point model", estimate.fatPoint}));
  }
  data["ptxas"] = ptxas != nullptr ? counts(*ptxas) : Json();
  if (time != nullptr) data["time"] = timeData(*time);
  return data;
}

}  // namespace ptxopt::report
