// Making a text by recipes that were chosen before.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "support/parallel.h"
#include "tune/pieces.h"
#include "tune/tune.h"

namespace ptxopt::tune {

Applied applyRecipes(std::string_view text, const std::vector<AppliedRecipe>& recipes, const ApplyOptions& how) {
  Applied applied;
  const auto fail = [&](Status status, std::string error) {
    applied.status = status;
    applied.error = std::move(error);
    return applied;
  };
  Options asIs;
  asIs.level = 0;
  asIs.fileName = how.fileName;
  if (const Result read = optimize(text, asIs); read.status != Status::Ok) return fail(read.status, read.error);
  const std::optional<Pieces> input = cut(text);
  if (!input) return fail(Status::Internal, "the functions of the text cannot be distinguished\n");

  std::map<std::string_view, const Recipe*> byName;
  for (const AppliedRecipe& a : recipes) byName[a.function] = &a.recipe;
  std::map<Recipe, std::vector<std::size_t>> functionsOf;  // by the options of optimize()
  for (std::size_t f = 0; f < input->functions.size(); ++f)
    if (const auto it = byName.find(input->functions[f].name); it != byName.end())
      functionsOf[it->second->passesOnly()].push_back(f);
  functionsOf.erase(Recipe{});

  std::vector<std::string> texts;
  for (const FunctionPiece& piece : input->functions) texts.emplace_back(input->textOf(piece));
  const std::vector<std::pair<Recipe, std::vector<std::size_t>>> work(functionsOf.begin(), functionsOf.end());
  std::vector<std::pair<Status, std::string>> wrong(work.size());
  inParallel(how.jobs, work.size(), [&](std::size_t i) {
    const auto& [recipe, functions] = work[i];
    Options options;
    options.fileName = how.fileName;
    options.architecture = how.architecture;
    options.profile = how.profile;
    options.profileName = how.profileName;
    recipe.applyTo(options);
    for (std::size_t f = 0, next = 0; f < input->functions.size(); ++f)
      if (next < functions.size() && functions[next] == f)
        ++next;
      else
        options.leave.push_back(input->functions[f].name);
    const Result made = optimize(text, options);
    wrong[i] = {made.status, made.error};
    if (made.status != Status::Ok) return;
    const std::optional<Pieces> pieces = cut(made.output);
    if (!pieces || pieces->functions.size() != texts.size()) {
      wrong[i] = {Status::Internal, "what came out has other functions\n"};
      return;
    }
    for (const std::size_t f : functions) texts[f] = pieces->textOf(pieces->functions[f]);
  });
  for (auto& [status, error] : wrong)
    if (status != Status::Ok) return fail(status, std::move(error));

  for (std::size_t f = 0; f < texts.size(); ++f) {
    const FunctionPiece& piece = input->functions[f];
    const auto it = byName.find(piece.name);
    if (it == byName.end()) continue;
    if (const uint32_t limit = it->second->limit; limit != 0) {
      if (piece.whyNoLimit.empty())
        texts[f] = withLimit(texts[f], piece.brace - piece.source.begin, limit);
      else
        applied.missing.push_back(fmt::format("{} cannot have .maxnreg: {}", piece.name, piece.whyNoLimit));
    }
    byName.erase(it);
  }
  for (const auto& [name, recipe] : byName) applied.missing.push_back(fmt::format("there is no function {}", name));
  applied.output = compose(*input, std::vector<std::string_view>(texts.begin(), texts.end()));
  return applied;
}

}  // namespace ptxopt::tune
