// Tokens of PTX ISA 9.0.
//
// Tokens are coarse on purpose: a whole opcode with its modifiers, a register with its lane selector, and a
// guard are one token each, so that the parser sees about four tokens an instruction. No opcode has a rule
// of its own; what an opcode means is declared in src/ir/opcodes.def.
//
// The token loop in src/text/lexer.cpp walks the automaton that ANTLR builds from this file, through a dense
// table. It supports what is used here: one mode, longest match, first rule wins, `-> skip`.
lexer grammar PtxLexer;

SKIPPED    : TRIVIA+ -> skip ;
LINE_MARK  : '#' ~[\n]* ;                              // `# 12 "file.cu"`, `#line`: the token loop drops it at a line's start

SEMI       : ';' ;
COMMA      : ',' ;
LBRACKET   : '[' ;
RBRACKET   : ']' ;
LBRACE     : '{' ;
RBRACE     : '}' ;
LPAREN     : '(' ;
RPAREN     : ')' ;
ASSIGN     : '=' ;
LESS       : '<' ;
GREATER    : '>' ;
COLON      : ':' ;
PLUS       : '+' ;
MINUS      : '-' ;
BANG       : '!' ;
TILDE      : '~' ;
BINARY     : '|' | '*' | '/' | '%' | '&' | '^' | '||' | '&&' | '==' | '!=' | '<=' | '>=' | '<<' | '>>' | '?' ;

INT        : ( [0-9]+ | '0' [xX] [0-9a-fA-F]+ | '0' [bB] [01]+ ) 'U'? ;
FLOAT      : '0' [fF] HEX8 | '0' [dD] HEX8 HEX8
           | [0-9]+ '.' [0-9]* EXPONENT? | '.' [0-9]+ EXPONENT? | [0-9]+ EXPONENT ;
STRING     : '"' ~["]* '"' ;                           // no escapes: a backslash is itself; may span lines

GUARD      : '@' TRIVIA* ( '!' TRIVIA* )? '%'? [a-zA-Z0-9_$]+ ;
WORD       : [a-zA-Z_$] [a-zA-Z0-9_$]* SUFFIX* ;       // opcode, label, symbol, a register without %, _
REG        : '%' [a-zA-Z0-9_$]+ SUFFIX* ;              // %r1 %tid.x %v.y %r1.b0
DWARF_LINE : '@@' [dD] [wW] [aA] [rR] [fF] ~[\n]* ;     // `@@DWARF .byte 0x01`, PTX 1.x and 2.x

VERSION    : '.version' ;
TARGET     : '.target' ;
ADDRESS    : '.address_size' ;
FUNC       : '.func' ;
ENTRY      : '.entry' ;
FILE       : '.file' ;
LOC        : '.loc' ;
SECTION    : '.section' ;
PRAGMA     : '.pragma' ;
ALIAS      : '.alias' ;
LINKAGE    : '.visible' | '.extern' | '.weak' | '.common' | '.hidden' ;
SPACE      : '.reg' | '.sreg' | '.const' | '.global' | '.local' | '.shared' | '.param' | '.tex' ;
ALIGN      : '.align' ;
ATTRIBUTE  : '.attribute' ;
PROTOTYPE  : '.callprototype' ;
TARGETS    : '.calltargets' | '.branchtargets' ;
DIRECTIVE  : '.' [a-zA-Z0-9_$]+ ( '::' [a-zA-Z0-9_$]+ )* ;   // .b32 .u64 .ptr .maxntid .shared::cta ...

ERROR      : . ;

fragment TRIVIA   : [ \t\r\n\f\u000B] | '//' ~[\n]* | '/*' ( ~'*' | '*'+ ~[*/] )* '*'+ '/' ;
fragment EXPONENT : [eE] [+\-]? [0-9]+ ;
fragment SUFFIX   : ( '.' | '::' ) [a-zA-Z0-9_$]+ ;
fragment HEX8     : [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] ;
