// Tokens of PTX ISA 9.5.
//
// Tokens are coarse on purpose: a whole opcode with its modifiers, a register with its lane selector, and a
// guard are one token each, so that the parser sees about four tokens an instruction. No opcode has a rule
// of its own; what an opcode means is declared in src/core/ir/opcodes.def.
//
// The token loop in src/core/text/lexer.cpp walks the automaton that ANTLR builds from this file, through a dense
// table. It supports what is used here: one mode, longest match, first rule wins, `-> skip`.
lexer grammar PtxLexer;

SKIPPED    : TRIVIA+ -> skip ;

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
BACKSLASH  : '\\' ;                                   // before an opcode: the word is one, which it is anyway
BINARY     : '|' | '*' | '/' | '%' | '&' | '^' | '||' | '&&' | '==' | '!=' | '<=' | '>=' | '<<' | '>>' | '?' ;

INT        : ( [0-9]+ | '0' [xX] [0-9a-fA-F]+ | '0' [bB] [01]+ ) 'U'? | 'WARP_SZ' ;   // a number wherever one may stand: .maxntid WARP_SZ
HEXFLOAT   : '0' [fF] HEX8 | '0' [dD] HEX8 HEX8 ;
FLOAT      : [0-9]+ '.' [0-9]* EXPONENT? | '.' [0-9]+ EXPONENT? | [0-9]+ EXPONENT ;
STRING     : '"' ~["]* '"' ;                           // no escapes: a backslash is itself; may span lines

GUARD      : '@' INSIDE* ( '!' INSIDE* )? '%'? [a-zA-Z0-9_$]+ ;
WORD       : [a-zA-Z_$] [a-zA-Z0-9_$]* SUFFIX* ;       // opcode, label, symbol, a register without %, _
REG        : '%' [a-zA-Z0-9_$]+ SUFFIX* ;              // %r1 %tid.x %v.y %r1.b0

VERSION    : '.version' ;
TARGET     : '.target' ;       // the token loop ends the names after it at a dot: `.target sm_90.address_size 64`
ADDRESS    : '.address_size' ;
FUNC       : '.func' ;
ENTRY      : '.entry' ;
FILE       : '.file' ;
LOC        : '.loc' ;
LOC_INTERMEDIATE     : '.loc_intermediate' ;
INTERMEDIATE_SOURCES : '.nv_intermediate_source_section' ;
SOURCE_TEXT          : '.source_begin' ;   // the token loop extends it to the line `.source_end`: what is between is no PTX
SECTION    : '.section' ;
PRAGMA     : '.pragma' ;
ALIAS      : '.alias' ;
LINKAGE    : '.visible' | '.extern' | '.weak' | '.common' ;
HIDDEN_    : '.hidden' ;
SPACE      : '.reg' | '.const' | '.global' | '.local' | '.shared' | '.param' | '.tex' ;
ALIGN      : '.align' ;
ATTRIBUTE  : '.attribute' ;
PROTOTYPE  : '.callprototype' ;
TARGETS    : '.calltargets' | '.branchtargets' ;
DIRECTIVE  : '.' [a-zA-Z0-9_$]+ ( '::' [a-zA-Z0-9_$]+ | SPARSITY )* ;   // .b32 .u64 .ptr .maxntid .shared::cta ...

ERROR      : . ;

fragment TRIVIA   : [ \t\r\n\f\u001A] | '//' ~[\n]* | '/*' ( ~'*' | '*'+ ~[*/] )* '*'+ '/' | LINEMARK ;
fragment INSIDE   : [ \t\r\n\f\u001A] | '//' ~[\n]* '\n' | '/*' ( ~'*' | '*'+ ~[*/] )* '*'+ '/' | LINEMARK ;   // inside a token a comment ends
// `# 12 "file.cu" 1`, `#line 5 "file.cu"`: a comment wherever one may stand.
fragment LINEMARK : '#' BLANK* ( 'line' BLANK* )? [0-9]+ BLANK+ '"' ~["]* '"' ( BLANK+ [0-9]+ )* BLANK* '\n' ;
fragment BLANK    : [ \t\r\f\u001A] ;
fragment EXPONENT : [eE] [+\-]? [0-9]+ ;
fragment SUFFIX   : ( '.' | '::' ) [a-zA-Z0-9_$]+ | SPARSITY | '.const[' [0-9]+ ']' ;   // ld.const[2].u32: PTX 1.x
fragment SPARSITY : '::' [0-9]+ ':' [0-9]+ ;   // .sp::2:4
fragment HEX8     : [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] ;
