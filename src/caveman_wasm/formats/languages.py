"""The table of languages: what code.py has to know of each, and nothing else. A new language is a new row.

All patterns are for source text (one character a byte) and ASCII only. Patterns over lines see a line without its
indentation.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Literal

__all__ = ["LANGUAGES", "UNKNOWN", "Language", "guess"]

HEAD: Final = 20_000  # bytes from which a language is guessed
LINES: Final = 150  # of them that vote, from all over the head

# ---------------------------------------------------------------- comments and strings
# Every alternative begins with a plain character, so that the search skips what cannot begin one; what is never
# closed goes to the end of its line (strings) or of the text (blocks), so that none is looked at twice.

_SLASHES: Final = r"//[^\n]*+"
_BLOCK: Final = r"/\*[\s\S]*?(?:\*/|\Z)"
_HASH: Final = r"#(?<![^\s;]#)[^\n]*+"
_DASHES: Final = r"--[^\n]*+"
_DOUBLE: Final = r'"(?:[^"\\\n]|\\[\s\S])*+"?'
_SINGLE: Final = r"'(?:[^'\\\n]|\\[\s\S])*+'?"
_CHARACTER: Final = r"'(?:\\[^\n]{1,10}?|[^'\\\n]{1,4})'"
_TRIPLE: Final = r'"""[\s\S]*?(?:"""|\Z)'
_TRIPLE_SINGLE: Final = r"'''[\s\S]*?(?:'''|\Z)"
_BACKTICKS: Final = r"`(?:[^`\\]|\\[\s\S])*+`?"
_RAW_GO: Final = r"`[^`]*+`?"
_RAW_RUST: Final = r'r(?<!\wr)(?P<tag>#{0,9})"[\s\S]*?(?:"(?P=tag)|\Z)'
_RAW_CPP: Final = r'R"(?P<tag>\w{0,16})\([\s\S]*?(?:\)(?P=tag)"|\Z)'
_MACRO: Final = r"#[ \t]*define\b(?:[^\\\n]|\\[\s\S])*+"
_VERBATIM: Final = r'@"(?:[^"]|"")*+"?'
_REGEX: Final = (
    r"/(?:(?<=[=(,:;!&|?+~]/)|(?<=[=(,:;!&|?+~] /)|(?<=return /))(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])*+/"
)
_HEREDOC: Final = r"<<[-~]?(?P<q>[\"']?)(?P<tag>[A-Z_]\w*)(?P=q)[^\n]*\n(?:(?![ \t]*(?P=tag)[ \t\r]*\n)[^\n]*\n)*+"
_HEREDOC_PHP: Final = r"<<<(?P<q>[\"']?)(?P<tag>\w+)(?P=q)\n(?:(?![ \t]*(?P=tag)\b)[^\n]*\n)*+"
_SQL_STRING: Final = r"'(?:[^'\\]|''|\\[\s\S])*+'?"
_DOLLARS: Final = r"\$(?P<tag>\w{0,20})\$[\s\S]*?(?:\$(?P=tag)\$|\Z)"


def _skip(*alternatives: str) -> re.Pattern[str]:
    """One pattern for all that holds no structure: comments and strings."""
    return re.compile("|".join(alternatives), re.ASCII)


@dataclass(frozen=True, slots=True)
class Language:
    """``blocks``: what makes a block: brackets; indentation, where brackets hold a statement together; indentation
    alone. ``ends``: how long a statement goes on: "line", "semicolon" (of brackets' languages: deeper indentation
    continues it anyway), "never" (only at a semicolon).

    Of lines: ``tells`` are signs of the language; ``definition`` heads a function, a type or a declaration;
    ``container`` one whose block holds definitions or fields; ``decorator`` stands alone above what it belongs
    to; ``goes_on`` continues a statement whose block was closed. ``declares``: whatever stands outside of bodies
    is a declaration. ``doc_inside``: a string that begins a body is its documentation. ``comments``: how those of the
    matches of ``skip`` begin that are comments.
    """

    name: str
    tells: re.Pattern[str]
    skip: re.Pattern[str]
    blocks: Literal["brackets", "indentation", "lines"]
    ends: Literal["line", "semicolon", "never"]
    definition: re.Pattern[str]
    container: re.Pattern[str]
    imports: re.Pattern[str]
    constant: re.Pattern[str]
    decorator: re.Pattern[str]
    goes_on: re.Pattern[str]
    declares: bool = False
    doc_inside: bool = False
    comments: tuple[str, ...] = ("//", "/*", "#", "--", "=begin")


def _p(*alternatives: str, flags: re.RegexFlag = re.ASCII) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), flags)


_NEVER: Final = re.compile(r"(?!)")
_NO_CONTROL: Final = (
    r"(?!(?:if|else|for|foreach|while|switch|catch|return|do|with|try|using|lock|match|when|case"
    r"|throw|new|await|yield)\b)"
)
_ELSE: Final = _p(r"(?:else|catch|finally)\b")
_CAPITALS: Final = r"[A-Z_][A-Z0-9_]*\b[ \t]*(?::[^=\n]+)?="
_MODIFIERS: Final = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|sealed|open|data|virtual"
    r"|suspend|partial|async"
    r"|readonly|inline|operator|synchronized|native|default|strictfp|extern|unsafe|const|lateinit|inner|companion|enum"
    r"|annotation|value|tailrec|expect|actual|required|new|ref|var)\s+)*+"
)

LANGUAGES: Final[tuple[Language, ...]] = (
    Language(
        name="python",
        tells=_p(
            r"(?:async )?def \w+\(", r"class \w+.*:$", r"from [\w.]+ import ", r"import [\w.]+(?: as \w+)?$",
            r"(?:if|elif|for|while|with|try|except|else|finally)\b.*:$", r'"""', r"@\w[\w.]*(?:\(.*)?$",
            r"self\.\w+", r"raise \w+(?:\(|$)", r"(?:pass|yield .*|return [^;{]*[^;{,])$",
        ),
        skip=_skip(r"#[^\n]*+", _TRIPLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
        blocks="indentation",
        ends="line",
        definition=_p(r"(?:async\s+)?def\s", r"class\s", r"type\s+\w+\s*="),
        container=_p(r"class\s"),
        imports=_p(r"(?:from|import)\s", r"__all__\b", r"__future__"),
        constant=_p(rf"(?:__\w+__|{_CAPITALS[:-1]})\s*=", r"\w+\s*(?::[^=\n]+)?=\s*\S", r"\w+\s*:\s*\w"),
        decorator=_p(r"@"),
        goes_on=_p(r"(?:else|elif|except|finally)\b"),
        doc_inside=True,
    ),
    Language(
        name="javascript",
        tells=_p(
            r"(?:const|let|var) [\w{\[$]", r"module\.exports",
            r"export (?:default|const|function|class|interface|type|abstract|async|\{|\*)", r"import .*['\"];?$",
            r"['\"]use strict", r"\}\);?$",
            r"(?:export )?interface \w+", r"(?:public|private|protected|readonly) \w+\??[:(]", r".*\?: \w+[;,]$",
            r".*(?:\b(?:function\b *\*?\w*\((?!.*\$)|require\(['\"]|this\.\w|undefined\b)|[!=]==|\)\.then\("
            r"|[=(,:]\s*(?:async )?(?:\([^()]*\)|\w+) =>)",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _REGEX, _DOUBLE, _SINGLE, _BACKTICKS),
        blocks="brackets",
        ends="line",
        definition=_p(
            r"(?:export\s+|default\s+|declare\s+|abstract\s+|async\s+)*(?:function\b|class\b|interface\b"
            r"|enum\b|namespace\b"
            r"|module\b|type\s+\w+)",
            r"[^'\"]*\bfunction\b\s*\*?\s*\w*\s*\(", r".*=>\s*[{(]?$", r".*\bclass\b.*\{$",
            rf"(?:(?:public|private|protected|static|readonly|override|abstract|async|get|set)\s+|\*)*+{_NO_CONTROL}"
            r"[\w$#\[\]'\".]+\s*(?:<[^>]*>)?\((?:[^;]*\{)?$",
        ),
        container=_p(
            r"(?:export\s+|default\s+|declare\s+|abstract\s+|const\s+)*(?:class|interface|enum|namespace"
            r"|module|global)\b",
            r".*\bclass\b.*\{$", r"(?:export\s+)?(?:declare\s+)?type\s+\w+",
        ),
        imports=_p(r"import\b", r"export\s+(?:\*|\{[^}]*\}\s*from)", r"(?:const|let|var)\s.*\brequire\(", r"['\"]use "),
        constant=_p(
            r"(?:export\s+)?(?:declare\s+)?const\s", r"(?:module\.)?exports\b", r"export\b", r"(?:let|var)\s+[A-Z]",
        ),
        decorator=_p(r"@[\w.]+(?:\(.*)?$"),
        goes_on=_ELSE,
    ),
    Language(
        name="go",
        tells=_p(
            r"package \w+$", r"func[ (]", r"type \w+ (?:struct|interface|func|map|\[)", r".*\w := ", r"import \($",
            r"if err != nil", r"\"[\w./-]+\"$", r".*\bchan\b", r"defer ", r"(?:if|for|switch) [^(].*\{$",
            r"return .*\bnil\b",
            r"\w+ +\*?[\w.\[\]]+ +`",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _DOUBLE, _CHARACTER, _RAW_GO),
        blocks="brackets",
        ends="line",
        definition=_p(r"func\b", r"type\s"),
        container=_p(r"type\s", r"(?:const|var|type)\s*\("),
        imports=_p(r"import\b", r"package\b"),
        constant=_p(r"(?:const|var)\b"),
        decorator=_NEVER,
        goes_on=_NEVER,
        declares=True,
    ),
    Language(
        name="rust",
        tells=_p(
            r"(?:pub(?:\(\w+\))? )?(?:unsafe |async |const )*fn \w+", r"let (?:mut )?\w+",
            r"(?:pub )?use [\w:]+(?:::|;)",
            r"impl\b", r"(?:pub(?:\(\w+\))? (?:struct|enum|union)|(?:pub(?:\(\w+\))? )?(?:mod|trait)) \w+", r"#!?\[",
            r".*(?:::<|&(?:mut|self)\b|\.unwrap\(\)|\bmatch .*\{$|\bSome\(|macro_rules!|\) -> .*\{$)",
            r"//[/!]", r"[^=(]*\w(?:\([^()=]*\))? => .*[{,)]$",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _RAW_RUST, r'"(?:[^"\\]|\\[\s\S])*+"?', _CHARACTER),
        blocks="brackets",
        ends="semicolon",
        definition=_p(
            r"(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|unsafe\s+|async\s+|const\s+|extern\s+(?:\"\w*\"\s+)?)*+"
            r"(?:fn|struct|enum|trait|impl|mod|union|type)\b",
            r"macro_rules!", r"extern\b",
        ),
        container=_p(
            r"(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+|default\s+)*+(?:struct|enum|trait|impl|mod|union|extern)\b",
        ),
        imports=_p(r"(?:pub(?:\([^)]*\))?\s+)?(?:use|extern crate)\b", r"#!\["),
        constant=_p(r"(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\b"),
        decorator=_p(r"#\["),
        goes_on=_p(r"(?:else|where)\b"),
        declares=True,
    ),
    Language(
        name="java",
        tells=_p(
            r"package [\w.]+;", r"import (?:static )?[\w.]+(?:\.\*)?;", r"(?:public|private|protected) [^:]*[{;(,]$",
            r"@Override",
            r".*\b(?:(?:throws|final|extends|implements) \w|new \w+(?:<.*>)?\()",
            r"\* @(?:param|return|throws|since)\b",
            r"(?:int|boolean|String|long|double|void)(?:\[\])? \w+",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _TRIPLE, _DOUBLE, _CHARACTER),
        blocks="brackets",
        ends="semicolon",
        definition=_p(
            rf"{_MODIFIERS}(?:class|interface|enum|record|@interface)\b",
            rf"{_MODIFIERS}{_NO_CONTROL}(?:<[^>]*>+\s+)?[\w.<>\[\],? @]*\w\s*\([^;]*(?:\)[^;]*)?[;{{]?$",
        ),
        container=_p(rf"{_MODIFIERS}(?:class|interface|enum|record|@interface)\b"),
        imports=_p(r"(?:import|package)\b"),
        constant=_p(r"(?:(?:public|private|protected|static|final)\s+)+"),
        decorator=_p(r"@(?!interface)[\w.]+(?:\(.*)?$"),
        goes_on=_ELSE,
        declares=True,
    ),
    Language(
        name="kotlin",
        tells=_p(
            r"(?:(?:override|suspend|private|internal|public|inline|open|operator|protected|abstract) )*fun [\w<(]",
            r"(?:(?:private|internal|override|public|const|lateinit|protected) )*va[lr] \w+",
            r"import [\w.]+(?:\.\*)?(?: as \w+)?$",
            r"package [\w.]+$", r"(?:private )?companion object", r"(?:data|sealed|enum|open|inner) class",
            r".*\?\.\w", r".*\?:",
            r".*\bwhen\b.*\{$", r"(?:else|is [\w.]+|\w+) -> .*[^;]$", r"@\w+$",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _TRIPLE, _DOUBLE, _CHARACTER),
        blocks="brackets",
        ends="line",
        definition=_p(
            rf"{_MODIFIERS}(?:class|interface|object|fun|typealias|constructor|init)\b",
            r"(?:companion\s+)?object\b", r"(?:enum|annotation)\s+class\b", r"(?:get|set)\(",
        ),
        container=_p(rf"{_MODIFIERS}(?:class|interface|object)\b", r"(?:companion\s+)?object\b"),
        imports=_p(r"(?:import|package)\b", r"@file:"),
        constant=_p(rf"{_MODIFIERS}va[lr]\b"),
        decorator=_p(r"@[\w.]+(?:\(.*)?$"),
        goes_on=_ELSE,
        declares=True,
    ),
    Language(
        name="c#",
        tells=_p(
            r"(?:global )?using (?:static )?[\w.]+(?: = .*)?;", r"namespace [\w.]+;?(?: ?\{)?$", r".*\{ get;",
            r"(?:public|private|protected|internal) [^:]*$",
            r".*\b(?:(?:string|async Task|out var)\b|nameof\()", r"(?:var|await|foreach|lock) ?[\w(]", r"/// <",
            r"\[\w+(?:\(.*\))?\]$", r"#region",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _VERBATIM, _TRIPLE, _DOUBLE, _CHARACTER),
        blocks="brackets",
        ends="semicolon",
        definition=_p(
            rf"{_MODIFIERS}(?:class|interface|enum|record|struct|delegate|event|namespace)\b",
            rf"{_MODIFIERS}{_NO_CONTROL}[\w.<>\[\],? ~]*[\w>]\s*\([^;]*(?:\)[^;]*)?[;{{]?$",
            rf"{_MODIFIERS}{_NO_CONTROL}[\w.<>\[\],?]+\s+\w+\s*\{{?$(?<!;)",
        ),
        container=_p(rf"{_MODIFIERS}(?:class|interface|enum|record|struct|namespace)\b"),
        imports=_p(r"(?:global\s+)?using\s+[\w.= ]+;", r"namespace\s[^{]*;"),
        constant=_p(r"(?:(?:public|private|protected|internal|static|readonly|const)\s+)+"),
        decorator=_p(r"\[.*\]$"),
        goes_on=_p(r"(?:else|catch|finally|where)\b"),
        declares=True,
    ),
    Language(
        name="c",
        tells=_p(
            r"#[ \t]*(?:include\s*[<\"]|define\b|ifn?def\b|if\b|endif\b|undef\b|pragma\b)",
            r"(?:static |const |extern |unsigned |inline |struct )*(?:int|void|char|bool|float|double|long"
            r"|size_t|u?int\d+_t|struct \w+)"
            r"[ *&]+\w+",
            r".*(?:\b(?:(?:sizeof|NULL|nullptr)\b|std::)|\w->\w)", r"typedef\b", r"template\s*<",
            r"(?:struct|enum|union) \w+ \{$", r"\}.*;$", r"(?:static|const) .*[;{,]$",
            r"(?:public|private|protected):$",
            r"\w+::~?\w+", r"(?:virtual|extern)\b", r"namespace \w+ *\{?$", r"goto \w+;",
            r".*\)\s*const(?: override)?[;{ ]",
        ),
        skip=_skip(f"{_SLASHES}|{_BLOCK}", _MACRO, _RAW_CPP, _DOUBLE, _CHARACTER),
        blocks="brackets",
        ends="semicolon",
        definition=_p(
            r"(?:typedef|struct|union|enum|class|namespace|template|extern|using)\b", r"#\s*define\s+\w+\(",
            rf"{_NO_CONTROL}(?!#)[\w\s*&:<>,~\[\]]*[\w*&>]\s*\([^;]*(?:\)[^;]*)?;?\{{?$",
        ),
        container=_p(
            r"(?:typedef\s+|static\s+|const\s+)*(?:struct|union|enum|class|namespace)\b[^()=]*$",
            r"inline\s+namespace\b",
            r"extern\s+\"", r"template\s*<.*>\s*(?:struct|class|union)\b[^()]*$",
        ),
        imports=_p(r"#\s*(?:include|import)\b", r"using\s+namespace\b"),
        constant=_p(r"#\s*define\b"),
        decorator=_p(r"template\s*<[^;{(]*>$", r"\[\[.*\]\]$"),
        goes_on=_ELSE,
        declares=True,
        comments=("//", "/*"),  # a macro is none
    ),
    Language(
        name="php",
        tells=_p(
            r"<\?(?:php|=)", r".*(?:\$\w+(?:->|\[|\s*[.+-]?=)|\b(?:array\(|foreach \(\$)|::class\b)",
            r"(?:(?:public|private|protected|static|abstract|final) )*function &?\w+\(",
            r"use [\w\\]+(?: as \w+)?;", r"namespace [\w\\]+;", r"(?:echo|require_once|include) .*;$",
        ),
        skip=_skip(rf"{_SLASHES}|{_BLOCK}|#(?!\[)[^\n]*+", _HEREDOC_PHP, _DOUBLE, _SINGLE),
        blocks="brackets",
        ends="semicolon",
        definition=_p(
            r"(?:(?:public|private|protected|static|abstract|final|readonly)\s+)*+(?:function|class|interface"
            r"|trait|enum)\b",
            r".*\bfunction\s*\(.*\{$",
        ),
        container=_p(r"(?:(?:abstract|final|readonly)\s+)*+(?:class|interface|trait|enum)\b", r"namespace\b[^;]*$"),
        imports=_p(r"<\?php", r"namespace\b", r"use\b", r"(?:require|include)(?:_once)?\b", r"declare\("),
        constant=_p(r"(?:(?:public|private|protected|static|final|const|var|readonly)\s+)+", r"define\("),
        decorator=_p(r"#\["),
        goes_on=_p(r"(?:else|elseif|catch|finally)\b"),
    ),
    Language(
        name="ruby",
        tells=_p(
            r"def \w", r"end$", r"module [A-Z]\w*", r"class [A-Z]\w*(?:::\w+)*(?: < .*)?$",
            r"require(?:_relative)? ['\"]", r"attr_\w+ :",
            r"(?:include|extend) [A-Z]", r"(?:unless|elsif) ", r".*\bdo(?: \|.*\|)?$", r"@\w+ (?:\|\|)?= ",
            r".*\.each\b",
            r"puts ", r"rescue\b", r".*\.nil\?",
        ),
        skip=_skip(r"#(?!\{)[^\n]*+|=begin\b[\s\S]*?(?:\n=end\b|\Z)", _HEREDOC, _DOUBLE, _SINGLE),
        blocks="lines",
        ends="line",
        definition=_p(
            r"(?:private |protected |public )?def\s", r"(?:class|module)\s", r".*(?:Struct|Class|Module)\.new.*\bdo\b",
        ),
        container=_p(r"(?:class|module)\s", r".*(?:Struct|Class|Module)\.new.*\bdo\b"),
        imports=_p(r"(?:require|require_relative|load|autoload|include|extend)\b"),
        constant=_p(
            r"[A-Z]\w*(?:::\w+)*\s*=", r"(?:attr_\w+|private|protected|public|alias|alias_method|def_delegators?)\b",
        ),
        decorator=_p(r"sig \{"),
        goes_on=_p(r"(?:end|else|elsif|rescue|ensure|when|in)\b"),
    ),
    Language(
        name="shell",
        tells=_p(
            r"#!.*sh\b", r"(?:fi|done|esac|then|else|;;|do)$", r".*\bthen$", r".*; do$",
            r".*(?:^|[\s\"'=/:({])\$[{(]?[\w@#?*]+(?!.*(?:[^;];|\{)$)",
            r"(?:echo|export|local|set|exit|shift|unset|printf|eval|cd|source|\.) [-\"'$\w/]",
            r"[\w-]+\s*\(\)\s*\{?$", r".*\[\[? .* \]\]?",
            r"\w+=(?:\$|\"|'|`|[\w/-]+$)", r"[\w|*.\"?\[\]-]+\)$(?<!\(\))",
        ),
        skip=_skip(_HASH, _HEREDOC, r'"(?:[^"\\\n]|\\.)*+"?', r"'[^'\n]*+'?"),
        blocks="lines",
        ends="line",
        definition=_p(r"function\s+[\w:.-]+", r"[\w:.-]+\s*\(\)"),
        container=_NEVER,
        imports=_p(r"#!", r"(?:source|\.)\s", r"set\s+-"),
        constant=_p(r"(?:readonly|declare|export|typeset)\b", r"[A-Z_][A-Z0-9_]*="),
        decorator=_NEVER,
        goes_on=_p(r"(?:fi|done|esac|then|do|else|elif)\b", r"\{"),
    ),
    Language(
        name="sql",
        tells=_p(
            r"(?:create|insert into|alter (?:table|operator)|drop|update|delete from|grant|comment on|begin"
            r"|commit|values|where|left join|inner join"
            r"|primary key|constraint|foreign key|returns|group by|order by|truncate|copy|language"
            r"|on conflict|references|with)\b(?!.*[{=]$)",
            r"select\b(?!.*\bdo$)", r"from \w", r".*\b(?:varchar|not null|integer|bigint|serial|timestamptz?)\b",
            r"--", r"\(.*\)[,;]$",
            r"(?:and|or|as|set|on|join) ",
            flags=re.ASCII | re.IGNORECASE,
        ),
        skip=_skip(f"{_DASHES}|{_BLOCK}", _SQL_STRING, _DOLLARS),
        blocks="lines",
        ends="never",
        definition=_p(r"(?:create|alter|comment on|grant|drop)\b", flags=re.ASCII | re.IGNORECASE),
        container=_p(r"create\s+(?:\w+\s+){0,3}(?:table|type)\b", flags=re.ASCII | re.IGNORECASE),
        imports=_p(r"\\", r"(?:use|set)\s", flags=re.ASCII | re.IGNORECASE),
        constant=_NEVER,
        decorator=_NEVER,
        goes_on=_p(
            r"(?:end|begin|as|returns|language|values|select|from|where|declare)\b", flags=re.ASCII | re.IGNORECASE,
        ),
    ),
)  # fmt: skip

_BRACKETS: Final = Language(
    name="brackets",
    tells=_NEVER,
    skip=_skip(f"{_SLASHES}|{_BLOCK}|{_HASH}", _DOUBLE, _CHARACTER),
    blocks="brackets",
    ends="line",
    definition=_p(
        r"(?:(?:pub|public|private|local|export|static|async|extern)\s+)*+(?:def|defp|fn|fun|func"
        r"|function|sub|proc|class"
        r"|struct|enum|trait|interface|protocol|extension|module|defmodule|type|impl|package|namespace|resource)\b"
    ),
    container=_p(
        r"(?:(?:pub|public|private|export|static|final)\s+)*+(?:class|struct|enum|trait|interface|protocol|extension"
        r"|module|defmodule|impl|namespace)\b"
    ),
    imports=_p(r"(?:import|use|using|require|include|from|package|alias)\b"),
    constant=_p(r"(?:const|let|val|static|final)\b", _CAPITALS),
    decorator=_p(r"@[\w.]+(?:\(.*)?$"),
    goes_on=_p(r"(?:end|else|elsif|elif|catch|rescue|finally|except)\b"),
)
UNKNOWN: Final = (_BRACKETS, replace(_BRACKETS, name="lines", skip=_skip(_HASH, _DOUBLE), blocks="lines"))

_SHEBANG: Final = re.compile(r"#![^\n]*?\b(python|node|ruby|php|sh|bash|zsh|dash|ksh|perl)", re.ASCII)
_SAID: Final = re.compile(r"//(?!/ <|[/!] )|/\*|\*(?:[ /]|$)|--(?! )")  # comments have words of any language
_RUNS: Final = {"python": "python", "node": "javascript", "ruby": "ruby", "php": "php", "perl": ""}


def guess(text: str) -> Language:
    """The language of which most lines are a sign; one of `UNKNOWN` where hardly any line is."""
    head = text[:HEAD].replace("\r\n", "\n").replace("\r", "\n")
    shebang = _SHEBANG.match(head)
    if shebang or head.startswith("<?php"):
        name = _RUNS.get(shebang[1], "shell") if shebang else "php"
        found = next((language for language in LANGUAGES if language.name == name), None)
        if found:
            return found
    lines = [line[:300] for line in [line.strip() for line in head.split("\n")] if line and not _SAID.match(line)]
    lines = lines[:: len(lines) // LINES + 1]
    best, language = _most_told(lines)
    if shebang or best < max(1, 0.04 * len(lines)):
        return UNKNOWN[0] if 12 * sum(line[-1] in "{};" for line in lines) > len(lines) else UNKNOWN[1]
    return language


def _most_told(lines: list[str]) -> tuple[int, Language]:
    """How many lines are signs of the language of which most are, the first among equals, and that language.

    The likeliest by every eighth line goes first; what cannot reach it any more is asked no further.
    """
    few, rest = lines[::8], Counter([line for i, line in enumerate(lines) if i % 8])
    votes = [sum([language.tells.match(line) is not None for line in few]) for language in LANGUAGES]
    left = [*accumulate([-n for n in rest.values()], initial=rest.total())]  # lines from each distinct one on
    best, first = 0, 0
    for i in sorted(range(len(votes)), key=votes.__getitem__, reverse=True):
        for (line, n), after in zip(rest.items(), left, strict=False):
            if votes[i] + after < best:
                break
            votes[i] += n * (LANGUAGES[i].tells.match(line) is not None)
        if votes[i] > best or (votes[i] == best and i < first):
            best, first = votes[i], i
    return best, LANGUAGES[first]
