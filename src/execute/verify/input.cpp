#include "verify/input.h"

#include <algorithm>

namespace ptxopt::verify {

ShapeLimits shapeLimits(const Module& module, const Function& kernel) {
  ShapeLimits limits;
  for (const FunctionDirective& d : kernel.directives) {
    const std::string_view name = module.text(d.name);
    exec::Dim3 v{d.values[0], d.valueCount > 1 ? d.values[1] : 1, d.valueCount > 2 ? d.values[2] : 1};
    if (name == ".reqntid") limits.required = v;
    if (name == ".maxntid") limits.most = std::clamp<uint64_t>(v.count(), 1, 1024);
    if (name == ".reqnctapercluster" && v.count() <= 16) limits.cluster = v;
  }
  return limits;
}

std::vector<exec::Dim3> commonBlocks(const KernelUse& use, const ShapeLimits& limits) {
  if (limits.required.x != 0) return {limits.required};
  std::vector<exec::Dim3> blocks;
  if (use.shape.z)
    blocks = {{8, 8, 4}, {4, 4, 4}, {8, 4, 2}, {16, 4, 2}, {16, 8, 8}, {32, 4, 4}};
  else if (use.shape.y)
    blocks = {{16, 16, 1}, {8, 8, 1},  {32, 8, 1}, {32, 32, 1}, {16, 4, 1},
              {32, 4, 1},  {32, 2, 1}, {16, 8, 1}, {32, 16, 1}, {5, 7, 1}};
  else
    blocks = {{128, 1, 1}, {256, 1, 1}, {1024, 1, 1}, {64, 1, 1}, {512, 1, 1},
              {96, 1, 1},  {32, 1, 1},  {33, 1, 1},   {100, 1, 1}};
  if (limits.most < 1024 && !use.shape.y && !use.shape.z)
    blocks.push_back({static_cast<uint32_t>(limits.most), 1, 1});
  std::erase_if(blocks, [&](const exec::Dim3& b) { return b.count() > limits.most; });
  return blocks;
}

}  // namespace ptxopt::verify
