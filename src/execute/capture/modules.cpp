// Handles map to a LoadedPtx that several may share; text is unpacked and parsed only when a launch is recorded. A
// kernel that was not looked up by name is sought through the libraries that hold its module.
#include "capture/modules.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "emulate/error.h"
#include "emulate/fat_binary.h"
#include "text/parse.h"

namespace ptxopt::capture {
namespace {

constexpr std::string_view kElf =
    "\x7f"
    "ELF";
constexpr std::string_view kContainer = "\x50\xed\x55\xba";

}  // namespace

void LoadedPtx::parse(unsigned architecture) {
  if (module != nullptr || !refusal.empty()) return;
  try {
    text = container != nullptr ? emulate::ptxOf(container, {}, architecture)
           : linked.size() == 1 ? linked.front()
           : !linked.empty()    ? emulate::linkedText(linked)
                                : bytes;
  } catch (const emulate::Failure& f) {
    refusal = f.why;
    return;
  }
  if (text.starts_with(kElf)) {
    refusal = "it was loaded as machine code";
    return;
  }
  auto parsed = text::parse(text, name);
  if (const auto* const wrong = std::get_if<text::ParseError>(&parsed))
    refusal = text::render(*wrong, name);
  else
    module = std::move(std::get<0>(parsed));
}

void Modules::add(const void* handle, const void* image) {
  if (image == nullptr) return;
  auto made = std::make_shared<LoadedPtx>();
  made->name = fmt::format("module-{}.ptx", ++made_);
  const std::string_view magic(static_cast<const char*>(image), 4);
  try {
    if (magic == kElf) {
      made->bytes = kElf;
      if (const LinkInputs* const inputs = links.find(image); inputs != nullptr) {
        made->refusal = inputs->refusal;
        made->linked = inputs->texts;
      }
    } else if (magic == kContainer) {
      // The program may free it once it is loaded.
      made->bytes.assign(static_cast<const char*>(image), emulate::fatSize(image));
      made->container = made->bytes.data();
    } else if (const void* const container = emulate::containerOf(image); container != nullptr) {
      made->container = container;  // a part of the program, which stays
    } else {
      made->bytes = static_cast<const char*>(image);
    }
  } catch (const emulate::Failure& f) {
    made->refusal = f.why;
  }
  modules_[handle] = std::move(made);
}

void Modules::addFile(const void* handle, const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (in) add(handle, std::move(text).str().c_str());
}

void Modules::addSame(const void* handle, const void* known) {
  if (const auto found = modules_.find(known); found != modules_.end()) modules_[handle] = found->second;
}

void Modules::remove(const void* handle) {
  modules_.erase(handle);
  libraries_.erase(handle);
}

void Modules::addKernel(const void* handle, const void* owner, bool isOfLibrary, const char* name) {
  if (name == nullptr) return;
  auto& module = modules_[owner];
  if (module == nullptr) {
    module = std::make_shared<LoadedPtx>();
    module->refusal = "its module was loaded in a way that is not followed";
  }
  kernels_[handle] = {module, owner, isOfLibrary, name};
}

void Modules::addSameKernel(const void* handle, const void* known) {
  if (const auto found = kernels_.find(known); found != kernels_.end()) kernels_[handle] = found->second;
}

const KnownKernel* Modules::kernel(const void* handle) const {
  const auto found = kernels_.find(handle);
  return found != kernels_.end() ? &found->second : nullptr;
}

const KnownKernel* Modules::addFound(const void* handle, const void* module, const std::string& name,
                                     bool (*isModuleOf)(const void* library, const void* module)) {
  if (!modules_.contains(module))
    for (const void* library : libraries_)
      if (isModuleOf(library, module)) addSame(module, library);
  if (!modules_.contains(module)) return nullptr;
  kernels_[handle] = {modules_.at(module), module, false, name};
  return &kernels_.at(handle);
}

}  // namespace ptxopt::capture
