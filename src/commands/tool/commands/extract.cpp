// ptxopt extract APP -o FOLDER: the PTX and the machine code of a built file as files; and back.
//
// Of a folder it is all built files and cubins below it, as diff takes them: what a file has goes to a folder of its name in the
// output, and what cannot be read is an error after the rest was written.
// Modules are read one at a time, so that memory does not grow with the files. Where the folder has files already, all are
// read once before the first is written: nothing is written if one of them is there with other contents.
#include "extract/extract.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "diff/collect.h"
#include "extract/replace.h"
#include "support/demangle.h"
#include "support/file_bytes.h"
#include "support/json.h"
#include "support/nearest.h"
#include "support/printable.h"
#include "tool/commands/extract_inputs.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/architecture_option.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/table.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

struct ExtractLine {
  std::string input, output, only, replace, format = "text";
  std::vector<std::string> kernels, architectures;
  bool split = false, list = false, overwrite = false;
};

struct Made {
  const ExtractInput& input;
  const container::Module& module;
  std::string file;  // its name; empty: of a listing
  std::string architecture, kernel, note;
  const std::vector<std::string>& kernels;
  std::string_view text;
};

class Extraction {
 public:
  Extraction(const ExtractLine& line, const std::vector<ExtractInput>& inputs) : line_(line), inputs_(inputs) {}

  // Calls visit(made) for each file in order, until it returns false.
  bool forEach(const std::function<bool(const Made&)>& visit) {
    known_.clear();
    found_.clear();
    return std::ranges::all_of(inputs_, [&](const ExtractInput& input) { return forEachOf(input, visit); });
  }

  // The kernel of --kernel that no module has; empty: all were found.
  std::string missing() const {
    for (const std::string& kernel : line_.kernels)
      if (!found_.contains(kernel)) {
        std::vector<std::string> names;
        for (const std::string& k : known_) names.push_back(readableName(k));
        return fmt::format("'{}' has no kernel '{}'{}", line_.input, kernel, orNearest(kernel, names));
      }
    return {};
  }

 private:
  bool forEachOf(const ExtractInput& input, const std::function<bool(const Made&)>& visit) {
    std::vector<std::string> taken;
    for (const container::Module& module : input.modules) {
      if (!line_.only.empty() && (line_.only == "ptx") != module.entry.isPtx()) continue;
      const extract::Contents contents = extract::readModule(module);
      if (!line_.architectures.empty() &&
          std::ranges::find(line_.architectures, contents.architecture) == line_.architectures.end())
        continue;
      const std::string name = (input.folder.empty() ? "" : input.folder + "/") +
                               extract::fileNameOf(module, contents.architecture, input.file, taken);
      std::vector<std::string> kernels = contents.kernels;
      if (!line_.kernels.empty()) {
        known_.insert(kernels.begin(), kernels.end());
        std::erase_if(kernels, [&](const std::string& k) { return !isWanted(k); });
        if (kernels.empty()) continue;
      }
      if (line_.list || (!line_.split && line_.kernels.empty()) || !contents.error.empty()) {
        if (!visit({input, module, name, contents.architecture, "", contents.error, kernels, contents.text}))
          return false;
        continue;
      }
      for (const extract::Piece& piece : extract::split(module, contents, kernels)) {
        const std::string file =
            name.substr(0, name.size() - tailOf(name)) + piece.suffix + name.substr(name.size() - tailOf(name));
        const std::vector<std::string> own = piece.kernel.empty() ? kernels : std::vector{piece.kernel};
        if (!visit({input, module, file, contents.architecture, piece.kernel, piece.whole, own, piece.text}))
          return false;
      }
    }
    return true;
  }

  bool isWanted(const std::string& kernel) {
    bool any = false;
    for (const std::string& name : line_.kernels)
      if (extract::isCalled(kernel, name)) {
        found_.insert(name);
        any = true;
      }
    return any;
  }

  // The length of ".sm_80.ptx", with the dots.
  static std::size_t tailOf(const std::string& name) { return name.size() - name.rfind('.', name.rfind('.') - 1); }

  const ExtractLine& line_;
  const std::vector<ExtractInput>& inputs_;
  std::set<std::string> found_, known_;
};

Json jsonOf(const Made& made) {
  const container::FatEntry& entry = made.module.entry;
  Json json = {{"file", made.file},
               {"from", made.input.folder.empty() ? Json(nullptr) : Json(made.input.folder)},
               {"member", made.module.member.empty() ? Json(nullptr) : Json(made.module.member)},
               {"number", made.module.number},
               {"kind", entry.isPtx() ? "ptx" : "machine-code"},
               {"architecture", made.architecture},
               {"relocatable", made.module.isRelocatable},
               {"compressed", entry.isPacked()},
               {"bytes", made.text.size()},
               {"kernels", made.kernels}};
  if (!made.note.empty()) json["note"] = made.note;
  return json;
}

// Tables of what there is, or of what was written.
class Listing {
 public:
  explicit Listing(const ExtractLine& line)
      : line_(line),
        table_({{"module"}, {"for"}, {"bytes", Table::Align::Right}, {"kernels", Table::Align::Left, true}}) {
    json_ = {{"format", "ptxopt-extract"}, {"version", 1}, {"input", line.input}, {"modules", Json::array()}};
  }
  void add(const Made& made) {
    if (line_.format == "json") {
      json_["modules"].push_back(jsonOf(made));
      return;
    }
    std::string kernels;
    for (const std::string& k : made.kernels) kernels += (kernels.empty() ? "" : ", ") + readableName(k);
    if (!made.note.empty()) kernels += fmt::format("{}({})", kernels.empty() ? "" : " ", made.note);
    table_.addRow({printable(made.file), made.architecture, std::to_string(made.text.size()), printable(kernels)});
  }
  void print() const {
    if (line_.format == "json") printResult(dumpJson(json_, 2) + "\n");
    if (line_.format == "text" && line_.list) printResult(table_.text({}));
  }

 private:
  const ExtractLine& line_;
  Json json_;
  Table table_;
};

// Why a file that is there stays; empty: there is none, or of these contents, as `isSame` says then.
std::string whyItStays(const fs::path& path, std::string_view text, bool& isSame) {
  std::error_code ignored;
  isSame = false;
  if (!fs::exists(fs::symlink_status(path, ignored))) return {};
  std::string error;
  const auto bytes = fs::is_regular_file(path, ignored) ? FileBytes::map(path, error) : nullptr;
  isSame = bytes != nullptr && bytes->view() == text;
  return isSame ? std::string() : fmt::format("'{}' is there already; --overwrite replaces it", path.string());
}

int writeModules(const ExtractLine& line, Extraction& extraction) {
  const fs::path folder = line.output;
  std::error_code code;
  std::string error;
  bool isSame = false;
  if (line.output == "-") return fail(Status::Usage, "-o - is standard output, and what is written are files");
  if (fs::exists(folder, code) && !fs::is_directory(folder, code))
    return fail(Status::Usage, fmt::format("'{}' is not a folder", line.output));
  if (fs::is_directory(folder, code) && !fs::is_empty(folder, code) && !line.overwrite)
    extraction.forEach([&](const Made& made) {
      error = whyItStays(folder / made.file, made.text, isSame);
      return error.empty();
    });
  if (!error.empty()) return fail(Status::Usage, error);

  Listing listing(line);
  std::size_t files = 0, kernels = 0, same = 0;
  std::vector<std::string> notes;
  extraction.forEach([&](const Made& made) {
    const fs::path path = folder / made.file;
    error = whyItStays(path, made.text, isSame);
    if (line.overwrite) error = isSame ? "" : whyNotReplaceable(path);
    if (error.empty()) {
      fs::create_directories(path.parent_path(), code);
      if (code) error = fmt::format("cannot make '{}': {}", path.parent_path().string(), code.message());
    }
    if (!error.empty() || (!isSame && !writeFiles({{path, made.text}}, error))) return false;
    listing.add(made);
    ++files;
    same += isSame ? 1 : 0;
    kernels += made.kernels.size();
    if (!made.note.empty()) notes.push_back(fmt::format("{}: {}", made.file, made.note));
    return true;
  });
  if (error.empty()) error = extraction.missing();
  if (error.empty() && files == 0) error = fmt::format("'{}' has nothing of what was asked for", line.input);
  if (!error.empty()) return fail(Status::Usage, error);
  listing.print();
  for (const std::string& note : notes) printAsked(fmt::format("ptxopt extract: note: {}\n", printable(note)));
  printAsked(fmt::format("ptxopt extract: {} file{} with {} kernel{} in '{}'{}\n", files, files == 1 ? "" : "s",
                         kernels, kernels == 1 ? "" : "s", line.output,
                         same == 0 ? "" : fmt::format("; {} of these were there as they are", same)));
  return 0;
}

int listModules(const ExtractLine& line, Extraction& extraction) {
  Listing listing(line);
  std::size_t modules = 0;
  extraction.forEach([&](const Made& made) {
    listing.add(made);
    ++modules;
    return true;
  });
  std::string error = extraction.missing();
  if (error.empty() && modules == 0) error = fmt::format("'{}' has nothing of what was asked for", line.input);
  if (!error.empty()) return fail(Status::Usage, error);
  listing.print();
  return 0;
}

// The modules, by name, that the file or folder has in another version.
bool readReplacements(const ExtractLine& line, const std::vector<container::Module>& modules,
                      std::vector<extract::Replacement>& found, std::string& error) {
  std::error_code code;
  std::set<fs::path> files;
  if (fs::is_directory(line.replace, code)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(line.replace, code))
      if (entry.path().extension() == ".ptx" || entry.path().extension() == ".cubin") files.insert(entry.path());
  } else {
    files.insert(line.replace);
  }
  std::vector<std::string> taken;
  for (std::size_t n = 0; n < modules.size(); ++n) {
    const extract::Contents contents = extract::readModule(modules[n]);
    const std::string name = extract::fileNameOf(modules[n], contents.architecture, line.input, taken);
    const auto file = std::ranges::find(files, name, [](const fs::path& p) { return p.filename().string(); });
    if (file == files.end()) continue;
    std::string text;
    if (!diff::readBytes(*file, text, error)) return false;
    if (text != contents.text) found.push_back({n, std::move(text), file->string()});
    files.erase(file);
  }
  if (files.empty()) return true;
  error = fmt::format("'{}' is called like no module of '{}'{}; --list names them", files.begin()->string(),
                      line.input, orNearest(files.begin()->filename().string(), taken));
  return false;
}

int replaceModules(const ExtractLine& line, std::string_view bytes, const std::vector<container::Module>& modules) {
  std::string error = whyOneFile({{"input", line.input}, {"input", line.replace}}, {{"output", line.output}});
  std::vector<extract::Replacement> replacements;
  if (!error.empty() || !readReplacements(line, modules, replacements, error)) return fail(Status::Usage, error);
  const auto made = extract::replaced(bytes, modules, replacements);
  if (const auto* wrong = std::get_if<container::Broken>(&made)) return fail(Status::CheckFailed, wrong->message);
  std::error_code code;
  const bool isNew = !fs::exists(line.output, code);
  if (!isNew && !line.overwrite)
    return fail(Status::Usage, fmt::format("'{}' is there already; --overwrite replaces it", line.output));
  if (!writeFiles({{line.output, std::get<std::string>(made)}}, error)) return fail(Status::Usage, error);
  if (isNew) fs::permissions(line.output, fs::status(line.input, code).permissions(), code);
  for (const extract::Replacement& r : replacements) {
    const container::Module& m = modules[r.module];
    const bool hasCode = m.entry.isPtx() && std::ranges::any_of(modules, [&](const container::Module& other) {
                           return !other.entry.isPtx() && other.number == m.number &&
                                  other.entry.architecture == m.entry.architecture;
                         });
    if (hasCode)
      printAsked(
          fmt::format("ptxopt extract: note: a GPU of sm_{} runs the machine code beside '{}', not this PTX; "
                      "CUDA_FORCE_PTX_JIT=1 has it compiled\n",
                      m.entry.architecture, printable(r.file)));
  }
  printAsked(fmt::format("ptxopt extract: {} of {} modules replaced in '{}'\n", replacements.size(), modules.size(),
                         line.output));
  return 0;
}

int listOrWrite(const ExtractLine& line, const std::vector<ExtractInput>& inputs) {
  Extraction extraction(line, inputs);
  return line.list ? listModules(line, extraction) : writeModules(line, extraction);
}

int extractFolder(const ExtractLine& line) {
  if (!line.replace.empty()) return fail(Status::Usage, "--replace is of one built file, not of a folder");
  ExtractInputs below;
  std::string error;
  if (!collectBuiltFiles(line.input, line.output, below, error)) return fail(Status::Usage, error);
  if (below.inputs.empty() && below.broken.empty())
    return fail(Status::Usage, fmt::format("there is no device code in the built files of '{}'", line.input));
  const int status = below.inputs.empty() ? 0 : listOrWrite(line, below.inputs);
  for (const std::string& what : below.broken)
    printError(fmt::format("ptxopt extract: error: {}\n", printable(what)));
  return below.broken.empty() ? status : static_cast<int>(Status::Usage);
}

}  // namespace

int extractCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt extract INPUT -o FOLDER [OPTIONS]\n"
      "ptxopt extract INPUT --list\n"
      "ptxopt extract INPUT --replace FOLDER -o OUTPUT\n"
      "Writes the device code of a program, a library, an object or a fat binary as files: PTX and cubins, one for "
      "each "
      "module, called NAME.NUMBER.sm_XX.ptx or .cubin. PTX and machine code of one source have one number.\n"
      "--split and --kernel write a file for each kernel with all that it reaches; machine code is written whole.\n"
      "From a folder all built files below it are taken, the modules of each in a folder of its name.\n"
      "--replace puts modules back that were changed, where they fit.\n"
      "Exit codes: 0 ok, 1 a module cannot be replaced, 2 usage, I/O, or there is no such device code, 4 internal "
      "error.",
      "ptxopt extract");
  app.get_formatter()->column_width(30);
  app.footer(
      "Examples:\n"
      "  ptxopt extract libops.so --list\n"
      "  ptxopt extract libops.so -o modules --only ptx\n"
      "  ptxopt extract build -o modules\n"
      "  ptxopt extract libops.so -o kernels --kernel 'gemm<float>' --arch sm_90\n"
      "  ptxopt extract libops.so --replace modules -o new/libops.so");
  ExtractLine line;
  app.add_option("INPUT", line.input,
                 "a program, library, archive, object, fat binary or cubin, or a folder of these")
      ->required();
  app.add_option("-o,--output", line.output, "where the files go; with --replace the new file")
      ->type_name("FOLDER");
  auto* const list = app.add_flag("--list", line.list, "show the modules and write nothing");
  auto* const split = app.add_flag("--split", line.split, "a file for each kernel");
  auto* const kernel = app.add_option("--kernel", line.kernels,
                                      "only this one, mangled or as the source has it; several times for several")
                           ->type_name("NAME")
                           ->allow_extra_args(false);
  auto* const only = app.add_option("--only", line.only, "ptx or machine-code [both]")
                         ->check(CLI::IsMember({"ptx", "machine-code"}))
                         ->type_name("KIND");
  addArchitectures(app, line.architectures, "only modules for these");
  app.add_option("--format", line.format, "text or json: of the list of modules, or of files written [text]")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  app.add_flag("--overwrite", line.overwrite, "replace files that are there with other contents");
  app.add_option("--replace", line.replace,
                 "the folder of the changed modules, or one of them, called as they were")
      ->type_name("FOLDER")
      ->excludes(list)
      ->excludes(split)
      ->excludes(kernel)
      ->excludes(only);
  int exitCode = 0;
  if (!parseArguments(app, argc, argv, exitCode)) return exitCode;

  std::string error;
  if (line.list != line.output.empty())
    return fail(Status::Usage,
                line.list ? "--list writes no files: -o is not for it" : "-o says where the files go");
  if (std::error_code ignored; fs::is_directory(line.input, ignored)) return extractFolder(line);
  const auto bytes = FileBytes::map(line.input, error);
  if (bytes == nullptr) return fail(Status::Usage, error);
  if (!container::isBuilt(bytes->view()))
    return fail(Status::Usage,
                fmt::format("'{}' is not a program, library, object, fat binary or cubin", line.input));
  const auto read = container::modulesOf(bytes->view());
  if (const auto* wrong = std::get_if<container::Broken>(&read))
    return fail(Status::Usage, fmt::format("'{}': {}", line.input, wrong->message));
  std::vector<ExtractInput> inputs{{line.input, "", bytes, std::get<std::vector<container::Module>>(read)}};
  const auto& modules = inputs.front().modules;
  if (modules.empty()) return fail(Status::Usage, fmt::format("there is no device code in '{}'", line.input));
  if (!line.replace.empty()) return replaceModules(line, bytes->view(), modules);
  return listOrWrite(line, inputs);
}

}  // namespace ptxopt::tool
