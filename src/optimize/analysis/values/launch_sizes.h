// Special registers that tell the sizes of a launch, and where in it a thread is.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ptxopt {

struct LaunchSize {
  bool isGrid = false;   // %ctaid and %nctaid; else %tid and %ntid
  bool isPlace = false;  // %tid and %ctaid: at least 0 and below the size
  std::size_t component = 0;
};

// "%ntid.x"; none for all others.
inline std::optional<LaunchSize> launchSizeOf(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || name.size() != dot + 2) return std::nullopt;
  const char component = name[dot + 1];
  if (component < 'x' || component > 'z') return std::nullopt;
  LaunchSize size{.component = static_cast<std::size_t>(component - 'x')};
  const std::string_view base = name.substr(0, dot);
  size.isGrid = base == "ctaid" || base == "nctaid";
  size.isPlace = base == "tid" || base == "ctaid";
  return size.isGrid || base == "tid" || base == "ntid" ? std::optional(size) : std::nullopt;
}

}  // namespace ptxopt
