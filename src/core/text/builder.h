// Makes the module out of what the parser sees. The actions of grammar/PtxParser.g4 call it, one call a token that
// matters; the driver brackets each item and statement with start and finish.
//
// What is resolved here and needs no second look: scopes, registers and their roles, labels, symbols, numbers.
// Errors are thrown as SyntaxError.
#pragma once

#include <vector>

#include "ir/module.h"
#include "text/names.h"
#include "text/pooled_context.h"
#include "text/syntax_error.h"
#include "text/token_window.h"

namespace ptxopt::text {

class Builder {
 public:
  explicit Builder(Module& module);

  // ---- the driver ----
  enum class Context { Module, Section, Body };
  Context context() const { return context_; }
  void pauseAtEndOfBody(TokenWindow& tokens) { tokens_ = &tokens; }
  void start(const Token& first);
  void finish(const Token& last);
  void endOfFile(const Token& end);
  // Undefined names become entries of `errors`, each once a function, instead of ending the parse.
  void collectUndefined(std::vector<SyntaxError>& errors) { undefined_ = &errors; }
  // Forgets what was begun of a statement or item that is not to be read on.
  void abandon();
  // Vectors `{..}` of the statement that are open.
  uint32_t openVectors() const;
  // Functions of these names that nobody declares are called, and nothing is known of them.
  void allowExternals(bool (*isExternal)(std::string_view)) { isExternal_ = isExternal; }

  // ---- a text that is read in parts (builder_parts.cpp) ----
  // Reads a part that is not the first: names that it does not declare are left to append().
  void readPart(const Builder& first);
  // Adds what `part` read, the text after what this one has. False: one builder has to read all, and this one is spoilt.
  [[nodiscard]] bool append(Builder& part);
  // Gives the functions of an appended part the ids of this one's module. For several parts at a time.
  void renumber(const Builder& part);

  // ---- module level ----
  void version(const Token& t);
  void moduleTarget(const Token& t);
  void addressSize(const Token& t);
  void alias(const Token& t);
  void aliased(const Token& t);
  void openSection();
  void closeSection();
  void nameInSection(const Token& t);
  void function(const Token& keyword);
  void functionName(const Token& t);
  void openParameters() { inParameters_ = true; }
  void closeParameters() { inParameters_ = false; }
  void functionDirective(const Token& first);
  void functionDirectiveValue(const Token& t);
  void functionDirectiveEnd(const Token& last);
  void openBody(const Token& brace);

  // ---- declarations ----
  void declaration(const Token& first);
  void declareName(const Token& t);
  void rangeCount(const Token& t);
  void openDimension(const Token& bracket);
  void closeDimension(const Token& bracket);
  void openInitializer(const Token& first);
  void closeInitializer(const Token& last);
  void number(const Token& t);
  void nest(const Token& t);
  void unnest() { --nesting_; }
  void declared(bool isParameter);
  void declaredNothing(const Token& last, const Token& semicolon);

  // ---- statements ----
  void guard(const Token& t);
  void escaped(const Token& t);
  void opcode(const Token& t);
  void opcodeSuffix(const Token& t);
  void label(const Token& t);
  void openScope(const Token& t);
  void closeScope(const Token& t);
  void loc();
  void locIntermediate(const Token& t);
  void locValue(const Token& t);
  void pragma() { kind_ = InstrKind::Pragma; }
  void prototype();
  void targets(const Token& t);
  void target(const Token& t);
  void targetCount(const Token& t);

  // ---- operands ----
  void prefix(const Token& t);
  void comma() { join_ = Join::Comma; }
  void binary(const Token& t);
  void reg(const Token& t);
  void name(const Token& t);
  void integer(const Token& t);
  void floating(const Token& t);
  void cast(const Token& t);
  void selector(const Token& t);
  void open(const Token& t);
  void close(const Token& t);

 private:
  static constexpr uint32_t kMostNesting = 256;
  static constexpr uint32_t kMostScopes = 10000;  // looking a name up may cost a step for each
  static constexpr uint32_t kMostVariablesInRange = 65536;
  static constexpr uint32_t kMostFromRanges = 1u << 18;  // variables and targets, in a module

  // A name that was not known where it stood: a label further down, or a symbol.
  struct Pending {
    uint32_t operand;
    NameId name;
    uint32_t scope;
    uint32_t offset;
    bool wantsLabel;
    bool isCallee = false;
  };

  // A name of a part that an earlier one may declare.
  struct Undeclared {
    uint32_t function, operand;
    NameId name;
    bool isCallee;
    SymbolId symbol = {};  // of the module
  };
  // What the ids of a part are in the module.
  struct Renumbering {
    std::vector<NameId> names;
    std::vector<uint32_t> forms, opcodes, symbols;
    std::size_t firstFunction = 0, functions = 0;
  };

  uint32_t offsetOf(const Token& t) const { return static_cast<uint32_t>(t.begin - module_.source.data()); }
  uint32_t endOf(const Token& t) const { return offsetOf(t) + t.length; }
  [[noreturn]] void fail(const Token& t, const std::string& message) const;
  NameId intern(const Token& t) { return module_.names.intern(t.view()); }

  Operand& push(OperandKind kind, uint32_t payload);
  void markCompound();
  uint32_t elementBytes(const Token& t, const Operand& o) const;
  bool isNumber(const Operand& o) const;
  bool openIndex(const Token& t);
  void closeIndex(const Token& t);
  bool pushDeclared(const Token& t, NameId name);
  void pushPending(const Token& t, NameId name);
  void wantLabel(std::size_t operand);
  void applyPrefix(const Token& t);
  void applyPrefixes(const Token& t);
  void endOperand();
  void closeGroup();
  void checkName(const Token& t) const;
  void noteSpecialName(std::string_view name, bool isRange);
  void checkJoin(const Token& t, OperandKind kind) const;

  void finishStatement(const Token& last);
  void finishInstruction();
  void assignRoles(const OpcodeForm& form);
  void assignCallRoles(std::size_t first);
  void addImplicitOperands(const OpcodeForm& form);
  void closeBody(const Token& brace);
  void undefined(std::size_t offset, NameId name, std::string_view what);
  void resolvePending();
  void findHiddenSymbols();
  void addForms(const Builder& part, Renumbering& to);
  void addOpcodes(const Builder& part, Renumbering& to);
  void addSymbols(const Builder& part, Renumbering& to);
  SymbolId symbol(NameId name) const;
  SymbolId declareSymbol(NameId name, SymbolKind kind, uint32_t index);
  uint32_t declarationForm(SourceRange text);
  bool declareVariable(NameId name, bool isParameter);
  void countFromRange(const Token& t, uint64_t count);

  Module& module_;
  TokenWindow* tokens_ = nullptr;
  Names names_;
  Context context_ = Context::Module;
  Function* function_ = nullptr;  // the one whose header or body is being read
  uint32_t itemBegin_ = 0;
  ItemKind itemKind_ = ItemKind::Directive;
  uint32_t itemIndex_ = 0;
  bool opened_ = false;
  bool inParameters_ = false;
  bool inPrototype_ = false;  // .callprototype: its names declare nothing
  uint32_t nesting_ = 0;
  uint64_t fromRanges_ = 0;

  // The declaration being read.
  uint32_t declarationBegin_ = 0;
  uint32_t declarationForm_ = 0;
  bool formKnown_ = false;
  Declarator declarator_;
  Token declaratorToken_;
  uint32_t dimensionBegin_ = 0;
  uint32_t firstDeclarator_ = 0;

  // The statement being read.
  uint32_t statementBegin_ = 0;
  InstrKind kind_ = InstrKind::Verbatim;
  uint32_t payload_ = 0;
  bool guarded_ = false;
  bool isEscaped_ = false;
  uint32_t firstOperand_ = 0;
  std::size_t firstPending_ = 0;
  Token opcodeToken_;
  std::string opcodeText_;  // when it was written in pieces
  Join join_ = Join::None;
  uint8_t prefixes_ = 0;
  std::string prefixesWritten_;
  std::vector<uint32_t> groups_;  // open groups: their operand indices
  std::vector<uint32_t> around_;  // those of them that stand for all but the last of several prefixes
  uint32_t indexGroup_ = 0;       // and the one that is an index, symbol[..], of elements of
  uint32_t indexBytes_ = 0;       // that many bytes; 0: there is none
  std::size_t locValues_ = 0;
  NameId targetName_;

  std::vector<uint32_t> opcodeOf_;  // OpcodeId by NameId
  std::vector<uint32_t> symbolOf_;  // SymbolId by NameId
  std::size_t alias_ = 0;           // in Module::symbols, of the .alias that is being read
  std::vector<bool> isDefined_;     // functions with a body, by NameId
  std::vector<uint32_t> formOf_;    // declaration form by NameId of its raw text
  std::vector<bool>
      alignsPointee_;  // by declaration form: `.align` after the type, which only parameters of kernels have
  std::vector<Pending> pending_;

  std::vector<SyntaxError>* undefined_ = nullptr;
  std::vector<NameId> reportedUndefined_;  // of the function
  bool (*isExternal_)(std::string_view) = nullptr;

  bool isPart_ = false;
  std::vector<Undeclared> undeclared_;
  Renumbering renumbering_;
};

}  // namespace ptxopt::text
