// The syntax of PTX ISA 9.5: one rule for each context, none for an opcode.
//
// The grammar is LL(1): the generated parser looks one token ahead and never calls adaptivePredict (a test
// counts). Actions feed the module builder (src/core/text/builder.h); no parse tree is built. The driver
// (src/core/text/parse.cpp) calls `item` outside function bodies, `sectionItem` inside a `.section`, each for one
// item, and `statements` for a body; the builder matches the braces and ends it. So braces deepen nothing, and
// with contexts that end with their rules, memory held by the parser does not grow with the input.
// What occurs once a token (statements, operands, array elements) stands inline, and operands twice, as the first
// and as the following ones: each rule call costs as much as three tokens.
parser grammar PtxParser;
options { tokenVocab = PtxLexer; contextSuperClass = PooledContext; }

@parser::postinclude {
#include "text/builder.h"
#include "text/token_window.h"
}
@parser::members {
 public:
  ptxopt::text::Builder *b = nullptr;

  // Makes the tables behind getExpectedTokens(), once (cmake/parser_code.cmake).
  static void makeTables();

  // Hides ANTLR's, which keeps every rule's context until the parser is reset: here a context ends with its rule, so that
  // memory does not grow with the input. No rule's result is used.
  struct {
    template <typename T, typename... Arguments>
    T *createInstance(Arguments &&...arguments) { return new T(arguments...); }
  } _tracker;

  // What ANTLR's own do for every token and rule, without parse trees and listeners, which are off. All of it stands
  // inline: the class is final and knows its stream (cmake/parser_code.cmake).
  ptxopt::text::TokenWindow *_input = static_cast<ptxopt::text::TokenWindow *>(antlr4::Parser::_input);
  antlr4::Token *match(size_t type) override {
    antlr4::Token *token = _input->LT(1);
    if (_input->front().type != type) return antlr4::Parser::match(type);
    _input->consume();
    return token;
  }
  antlr4::Token *consume() override {
    antlr4::Token *token = _input->LT(1);
    _input->consume();
    return token;
  }
  size_t getState() const override { return state_; }
  void setState(size_t state) { state_ = state; }
  void enterRule(antlr4::ParserRuleContext *context, size_t state, size_t) {
    setState(state);
    _ctx = context;
  }
  void enterOuterAlt(antlr4::ParserRuleContext *context, size_t) { _ctx = context; }
  void exitRule() {
    const std::unique_ptr<antlr4::ParserRuleContext> done(_ctx);
    setState(done->invokingState);
    _ctx = static_cast<antlr4::ParserRuleContext *>(done->parent);
  }
  struct OnExit {
    PtxParser *parser;
    ~OnExit() { parser->exitRule(); }
  };

 private:
  size_t state_ = std::numeric_limits<size_t>::max();
  const ptxopt::text::Token &prev() { return static_cast<const ptxopt::text::Token &>(*_input->LT(-1)); }
  const ptxopt::text::Token &prev2() { return static_cast<const ptxopt::text::Token &>(*_input->LT(-2)); }
  const ptxopt::text::Token &next() { return static_cast<const ptxopt::text::Token &>(*_input->LT(1)); }

 public:
}

// ---- outside function bodies ----

item
  : VERSION FLOAT {b->version(prev());}
  | TARGET WORD {b->moduleTarget(prev());} (COMMA WORD {b->moduleTarget(prev());})*
  | ADDRESS INT {b->addressSize(prev());}
  | file
  | pragma
  | ALIAS (WORD | REG) {b->alias(prev());} COMMA (WORD | REG) {b->aliased(prev());} SEMI
  | SECTION DIRECTIVE LBRACE {b->openSection();}
  | INTERMEDIATE_SOURCES LBRACE (DIRECTIVE LBRACE (DIRECTIVE COLON (STRING | INT))* SOURCE_TEXT RBRACE)* RBRACE
  | (LINKAGE attribute* | attribute+) (function | declaration)
  | function
  | declaration
  ;

sectionItem
  : DIRECTIVE MINUS? (INT | FLOAT | HEXFLOAT | DIRECTIVE | (WORD | REG) {b->nameInSection(prev());})
    ((PLUS | MINUS) (INT | (WORD | REG) {b->nameInSection(prev());}))*
    ( COMMA MINUS? (INT | FLOAT | HEXFLOAT | DIRECTIVE | (WORD | REG) {b->nameInSection(prev());})
      ((PLUS | MINUS) (INT | (WORD | REG) {b->nameInSection(prev());}))* )*
  | (WORD | REG) COLON
  | RBRACE {b->closeSection();}
  ;

function
  : (ENTRY | FUNC) {b->function(prev());} attribute* parameters?
    (WORD | REG) {b->functionName(prev());} parameters? functionDirective*
    (SEMI | LBRACE {b->openBody(prev());})?   // old nvcc: no `;` after a prototype
  ;

parameters
  : LPAREN {b->openParameters();} (parameter (COMMA parameter)*)? RPAREN {b->closeParameters();}
  ;

parameter
  : {b->declaration(next());} HIDDEN_? modifier+ (WORD | REG) {b->declareName(prev());} suffix {b->declared(true);}
  ;

functionDirective
  : {b->functionDirective(next());}
    ( DIRECTIVE ( (INT {b->functionDirectiveValue(prev());} | STRING)
        (COMMA (INT {b->functionDirectiveValue(prev());} | STRING))* )?
    | PRAGMA STRING (COMMA STRING)* SEMI
    ) {b->functionDirectiveEnd(prev());}
  ;

// A module-level variable, or inside a function a register or variable. `.reg .b32 ;` declares nothing.
declaration
  : {b->declaration(next());}
    (SPACE (LBRACKET INT RBRACKET)? | ALIGN INT) modifier*
    ( (WORD | REG) {b->declareName(prev());} suffix (ASSIGN initializer)? {b->declared(false);}
      (COMMA (WORD | REG) {b->declareName(prev());} suffix (ASSIGN initializer)? {b->declared(false);})*
      SEMI
    | SEMI {b->declaredNothing(prev2(), prev());}
    )
  ;

modifier
  : SPACE (LBRACKET INT RBRACKET)?
  | ALIGN INT
  | DIRECTIVE
  | attribute
  ;

attribute
  : ATTRIBUTE LPAREN attributeValue (COMMA attributeValue)* RPAREN ;

attributeValue
  : DIRECTIVE (LPAREN INT (COMMA INT)* RPAREN)? ;

suffix
  : (LESS INT {b->rangeCount(prev());} GREATER)?
    (LBRACKET {b->openDimension(prev());} constant? RBRACKET {b->closeDimension(prev());})*
  ;

initializer
  : {b->openInitializer(next());}
    ( LBRACE {b->nest(prev());} elements? RBRACE {b->unnest();} | constant )
    {b->closeInitializer(prev());}
  ;

// Numbers inline: a table of millions of bytes is one context. `0xFF00(symbol)` is a byte of an address.
elements
  : ( (INT {b->number(prev());} | FLOAT) byteOf? constantTail?
    | MINUS ((INT {b->number(prev());} | FLOAT) constantTail? | negated) | HEXFLOAT | element )
    ( COMMA
      ( (INT {b->number(prev());} | FLOAT) byteOf? constantTail?
      | MINUS ((INT {b->number(prev());} | FLOAT) constantTail? | negated) | HEXFLOAT | element ) )*
  ;

element
  : LBRACE {b->nest(prev());} elements? RBRACE {b->unnest();}
  | constantNotNumber constantTail?
  ;

constant
  : (INT {b->number(prev());} | FLOAT) byteOf? constantTail?
  | MINUS ((INT {b->number(prev());} | FLOAT) constantTail? | negated)
  | HEXFLOAT
  | constantNotNumber constantTail?
  ;

// After a minus: `-(3)`, `- -3`, `-~3`.
negated
  : (constantNotNumber | MINUS constantOperand) constantTail? ;

byteOf
  : LPAREN {b->nest(prev());} constant RPAREN {b->unnest();} ;

constantTail
  : ((PLUS | MINUS | BINARY | LESS | GREATER | COLON) constantOperand)+ ;

constantOperand
  : (MINUS | PLUS | BANG | TILDE)* (INT {b->number(prev());} | FLOAT | constantPrimary) ;

constantNotNumber
  : (PLUS | BANG | TILDE) constantOperand
  | constantPrimary
  ;

constantPrimary
  : (WORD | REG)
    ( (LPAREN | LBRACKET) {b->nest(prev());} constant (COMMA constant)* (RPAREN | RBRACKET) {b->unnest();}
    | ASSIGN {b->nest(prev());} constantOperand {b->unnest();}   // .texref t = { width = 5 }
    )?
  | LPAREN {b->nest(prev());} (DIRECTIVE RPAREN constantOperand | constant RPAREN) {b->unnest();}
  ;

// ---- inside function bodies ----

statements
  : ( {b->start(next());}
      ( GUARD {b->guard(prev());} (WORD | BACKSLASH WORD {b->escaped(prev());}) {b->opcode(prev());}
        opcodeSuffix* operands? SEMI
      | BACKSLASH WORD {b->escaped(prev()); b->opcode(prev());} opcodeSuffix* operands? SEMI
      | WORD (COLON {b->label(prev2());} | {b->opcode(prev());} opcodeSuffix* operands? SEMI)
      | REG COLON {b->label(prev2());}
      | LBRACE {b->openScope(prev());}
      | RBRACE {b->closeScope(prev());}
      | attribute* declaration
      | loc
      | pragma
      | TARGETS {b->targets(prev());} target (COMMA target)* SEMI
      | PROTOTYPE {b->prototype();} parameters? WORD parameters? functionDirective* SEMI
      )
      {b->finish(prev());}
    )+
  ;

// `add .s32`: blanks may stand before a dot.
opcodeSuffix
  : (DIRECTIVE | SPACE | LINKAGE | ALIGN) {b->opcodeSuffix(prev());} ;

target
  : (WORD | REG) {b->target(prev());} (LESS INT {b->targetCount(prev());} GREATER)? ;

operands
  : ((MINUS | PLUS | BANG | TILDE) {b->prefix(prev());})*
    (REG {b->reg(prev());} | INT {b->integer(prev());} | (FLOAT | HEXFLOAT) {b->floating(prev());}
    | WORD {b->name(prev());} indexed?
    | (LBRACKET | LBRACE) {b->open(prev());} operands? (RBRACKET | RBRACE) {b->close(prev());}
    | parenthesized)
    ( (COMMA {b->comma();} | (PLUS | MINUS | BINARY | LESS | GREATER | COLON) {b->binary(prev());})
      ((MINUS | PLUS | BANG | TILDE) {b->prefix(prev());})*
      (REG {b->reg(prev());} | INT {b->integer(prev());} | (FLOAT | HEXFLOAT) {b->floating(prev());}
      | WORD {b->name(prev());} indexed?
      | (LBRACKET | LBRACE) {b->open(prev());} operands? (RBRACKET | RBRACE) {b->close(prev());}
      | parenthesized)
    | DIRECTIVE {b->selector(prev());}
    )*
  ;

indexed
  : (LPAREN | LBRACKET) {b->open(prev());} operands? (RPAREN | RBRACKET) {b->close(prev());} ;

parenthesized
  : LPAREN
    ( DIRECTIVE {b->nest(prev()); b->cast(prev());} RPAREN ((MINUS | PLUS | BANG | TILDE) {b->prefix(prev());})*
      (INT {b->integer(prev());} | (FLOAT | HEXFLOAT) {b->floating(prev());} | WORD {b->name(prev());} | parenthesized)
      {b->unnest();}
    | {b->open(prev());} operands? RPAREN {b->close(prev());}
    )
  ;

loc
  : LOC {b->loc();} INT {b->locValue(prev());} INT {b->locValue(prev());} INT {b->locValue(prev());}
    (COMMA WORD (WORD (PLUS INT)? | INT+))*
  | LOC_INTERMEDIATE {b->locIntermediate(prev());} INT INT INT
  ;

file
  : FILE INT STRING (COMMA INT COMMA INT)? ;

pragma
  : PRAGMA STRING (COMMA STRING)* {b->pragma();} SEMI ;
