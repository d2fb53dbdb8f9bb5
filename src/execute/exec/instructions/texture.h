// What the instructions on textures and on surfaces share: finding what a handle stands for, and geometries.
#pragma once

#include <fmt/format.h>

#include <memory>

#include "exec/block.h"
#include "exec/error.h"
#include "exec/instructions/memory_operand.h"
#include "exec/launch.h"
#include "exec/texture.h"
#include "exec/warp.h"

namespace ptxopt::exec {

struct Geometry {
  unsigned dimensions = 1;
  bool isArray = false, isCube = false;
};

// .1d, .2d, .3d, .a1d, .a2d, .cube, .acube. Multi-sample ones are refused.
inline Geometry takeGeometry(Binder& b) {
  const std::string_view name = b.takeOneOf({"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"});
  if (name == "1d") return {1, false, false};
  if (name == "2d") return {2, false, false};
  if (name == "3d") return {3, false, false};
  if (name == "a1d") return {1, true, false};
  if (name == "a2d") return {2, true, false};
  if (name == "cube") return {2, false, true};
  if (name == "acube") return {2, true, true};
  b.unsupported("this geometry");
}

// What is bound to a handle; throws when nothing is, or something of another kind.
inline const TextureBinding& bindingOf(Warp& w, unsigned lane, uint64_t handle, TextureBinding::Kind kind,
                                       const char* what) {
  const auto& all = w.block().launch().machine().textures;
  const auto found = all.find(handle);
  if (found == all.end())
    throw LaneFault{FaultKind::OutOfBounds, lane, fmt::format("no {} is bound to the handle {:#x}", what, handle)};
  const TextureBinding& binding = *found->second;
  if (binding.kind != kind)
    throw LaneFault{FaultKind::OutOfBounds, lane,
                    fmt::format("what is bound to the handle {:#x} is not a {}", handle, what)};
  return binding;
}

// Coordinates of an instruction: an index of a layer if it is an array, then as many as it has dimensions (three
// for cubes); more are padding.
inline unsigned coordinatesOf(const Geometry& g) { return (g.isArray ? 1 : 0) + (g.isCube ? 3 : g.dimensions); }

}  // namespace ptxopt::exec
