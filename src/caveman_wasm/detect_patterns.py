"""The patterns that tell payloads apart, by what they are about; each is compiled when it is first asked.

All of them look at source text (one character a byte), so that letters outside of ASCII stand as their UTF-8 bytes.
None has two open-ended parts beside each other that match the same characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

__all__ = [
    "ARIA",
    "ASSIGNED",
    "BARE_CR",
    "BELOW",
    "BLOCK",
    "BLOCK_TEXT",
    "BOXED",
    "BOX_RULE",
    "BUILD",
    "CLOCK",
    "CODE_END",
    "COLUMN_NAME",
    "COLUMN_RULE",
    "COMMENT",
    "COMMIT",
    "DATUM",
    "DEVTOOLS",
    "DIFF_BEGINS",
    "DIFF_LINE",
    "DIRECTIVE",
    "DOCKER",
    "DUMP",
    "EXCHANGE",
    "FENCE",
    "FUNCTION",
    "GUTTER",
    "HEADING",
    "HIT",
    "HIT_BY_NAME",
    "HIT_OF_ONE",
    "HTML_BEGINS",
    "HTML_LINE",
    "JSON_BEGINS",
    "JUNIT",
    "LEVELLED",
    "LINE_END",
    "LISTED",
    "LITERAL_NEXT",
    "LOOSE_END",
    "NAME",
    "NAMED",
    "NO_CONFIG",
    "NO_HEADER",
    "NUMBER",
    "NUMBERED",
    "ONE_LINE_COMMIT",
    "ONE_RULE",
    "PATH",
    "PINNED",
    "PIPE_ROW",
    "PLAIN_DIFF",
    "PLAIN_DIFF_LINE",
    "PLAYWRIGHT",
    "PROSE",
    "RECORDS",
    "REDRAWING",
    "REMARK",
    "REMARKED",
    "ROW_COUNT",
    "ROW_OF_VALUES",
    "RULE",
    "RUNS",
    "SECTION",
    "SETTING",
    "SLASHED",
    "SPREAD",
    "STAMPED",
    "STATEMENT",
    "STRONG",
    "TAG",
    "TEMPLATE",
    "TIGHT",
    "TIMED",
    "TRACE",
    "WEB_ADDRESS",
    "WEB_HIT",
    "WORDS",
    "XML",
    "YAML",
    "YAML_ITEM",
    "Pattern",
]


class Pattern:
    """A regular expression, compiled when first asked: most payloads need few of them."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.fullmatch

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.search


def pattern(*alternatives: str, flags: int = re.ASCII) -> Pattern:
    """What any of the alternatives matches."""
    return Pattern("|".join(alternatives), flags)


LINE_END: Final = pattern(r"\r\n?|\n")
GUTTER: Final = pattern(r" *\d+(?:\t|\xe2\x86\x92|:| ?(?:\||\xe2\x94\x82))")  # perhaps
FENCE: Final = pattern(r" {0,3}(?:```|~~~)")
LITERAL_NEXT: Final = pattern(r"(?:[^#;/{}<>(]*[\w*)`] ?)?::$")
JSON_BEGINS: Final = pattern(
    r'\{\s*["}]|\[\s*(?:[\[{"\]]|-?\d[\d.eE+-]*+\s*[,\]]|(?:true|false|null|NaN|-?Infinity)\s*[,\]])|"'
)
PATH: Final = pattern(r"(?:\d{6} \w+ [0-9a-f]{40,64}\t)?(?![\s:])[^\x00-\x1f\x7f<>|\"*?]{1,255}")
PLAYWRIGHT: Final = pattern(r"\s*- ['\"]?[a-z]+\b.*\[ref=\w+\]")
ARIA: Final = pattern(
    r"\s*- '?(?:/url|/placeholder|text|link|button|heading|navigation|img|list|listitem|paragraph|textbox|main|banner"
    r"|group|checkbox|combobox|option|row|rowgroup|rowheader|columnheader|cell|gridcell|table|tab|tablist|tabpanel|dialog"
    r"|document|region|generic|contentinfo|complementary|menuitem|menu|menubar|term|definition|code|strong|emphasis"
    r"|article|form|search|searchbox|alert|status|separator|switch|radio|slider|time|figure|blockquote)"
    r"(?: \"|: | \[|:$|$)"
)
NAMED: Final = pattern(r"\s*- '?(?:link|button|heading|img|textbox|navigation|checkbox|tab|option) \"")
DEVTOOLS: Final = pattern(r"\s*uid=\d+_\d+ \S")
JUNIT: Final = pattern(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<testsuites?\b")
RUNS: Final = tuple(
    pattern(*alternatives)
    for alternatives in (
        # pytest, and its -v lines
        (r"=+ (?:test session starts|FAILURES|ERRORS|short test summary info|.*\d (?:passed|failed|error).*) =+$",),
        (r"(?:FAIL|ERROR): \w+ \([\w.]+\)$", r"Ran \d+ tests? in [\d.]+s$"),  # unittest
        (r" +Failure/Error: ", r"\d+ examples?, \d+ failures?", r"rspec \./\S+:\d"),  # RSpec
        (r"PHPUnit \d", r"Tests: \d+, Assertions: \d", r"There (?:was|were) \d+ (?:failure|error)"),
        (r"\S+\.py::\S+ (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)", r"(?:FAILED|ERROR) \S+\.py(?:::\S+)?(?: - |$)"),
        # jest, vitest
        (
            r"(?:PASS|FAIL) +\S+\.[cm]?[jt]sx?\b",
            r" *Tests: +\d.* total",
            r" *(?:Test Files|Tests) +\d+ (?:passed|failed)",
        ),
        # googletest, ctest
        (r"\[ +(?:RUN|OK|FAILED|PASSED|SKIPPED) +\] |\[[-=]{10}\] ", r" *\d+/\d+ Test +#\d+: "),
        # go test, cargo test
        (r"=== (?:RUN|PAUSE|CONT) ", r" *--- (?:PASS|FAIL|SKIP): ", r"(?:ok|FAIL) +\t?\S+\t\d+\.\d+s"),
        (r"test \S.* \.\.\. (?:ok|FAILED|ignored)", r"test result: ", r"running \d+ tests?$"),
        # unittest, TAP, mocha
        (r"\w+ \([\w.]+\) \.\.\. (?:ok|FAIL|ERROR|skipped)",),
        (
            r" *(?:not )?ok \d+\b",
            r" *1\.\.\d+$",
            r"TAP version \d+$",
            r" *# Subtest: ",
            r"# (?:tests|pass|fail|duration_ms) \d",
        ),
        (r"  +\d+ (?:passing|failing|pending)\b", r" +\xe2\x9c[\x93\x94] |\xe2\x9c[\x93-\x98] .*\(\d[\d.]*m?s\)$"),
        (r"\s+(?:Passed|Failed|Skipped) \S.* \[[< \d]+m?s\]$", r"(?:Passed|Failed)!  - Failed: "),  # dotnet test
        # Maven's surefire
        (r"(?:\[(?:INFO|ERROR|WARNING)\] )?(?:Running [\w.$]+$|Tests run: \d+, Failures: \d+|T E S T S$)",),
    )
)
REDRAWING: Final = pattern(r"\d ?%|\[[#=>.\- ]{4,}\]")
BARE_CR: Final = pattern(r"\r+(?![\r\n])")
DIFF_BEGINS: Final = pattern(
    r"^(?:diff --git |diff -\w|Index: \S|--- \S.*\r?\n\+\+\+ \S|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)",
    flags=re.ASCII | re.MULTILINE,
)
DIFF_LINE: Final = pattern(
    r"[-+ @\\\t]",
    r"(?:diff|index|commit|Author|AuthorDate|Commit|CommitDate|Date|Merge|From|Subject|Index|Only in|Binary files)\b",
    r"(?:new file|deleted file|old|new) mode|(?:similarity|dissimilarity) index|(?:rename|copy) (?:from|to)|={50,}",
)
MAILED: Final = pattern(r"\s*(?:From [0-9a-f]{40} |(?:From|Subject|Description|Author|Origin|Forwarded|Bug[\w-]*): )")
PLAIN_DIFF: Final = pattern(r"\d+(?:,\d+)?[acd]\d+(?:,\d+)?$")
PLAIN_DIFF_LINE: Final = pattern(r"[<>] |[<>]$|---$|\d+(?:,\d+)?[acd]\d+|diff |Only in |\\ ")
HTML_BEGINS: Final = pattern(r"\s*(?:<!doctype html|<html\b|<head\b|<body\b)", flags=re.ASCII | re.IGNORECASE)
HTML_LINE: Final = pattern(
    r"(?i:\s*</?(?:div|p|span|a|ul|ol|li|table|thead|tbody|tr|t[dh]|h[1-6]|section|article|nav|main"
    r"|header|footer|form"
    r"|input|button|img|br|hr|pre|script|style|link|meta|title|label|select|option|strong|em|blockquote",
    r"figure)\b[^<>]*>)",
)
TEMPLATE: Final = pattern(r"\s*\{[%{#].*[%}#]\}\s*$")
HEADING: Final = pattern(r"#{1,6} \S")
RULE: Final = pattern(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*")  # under a Markdown table's head
BOX_RULE: Final = pattern(r"\+(?:[-=]+\+)+|-+(?:\+-+)+")  # mysql's, psql's
RECORDS: Final = pattern(  # of a database shell, with a line a column
    r"(?:[^\n]*\n){0,9}?(?:\*{20,} 1\. row \*{20,}|-\[ RECORD 1 \])| {0,60}\S[^=\n]{0,60} = "
)
ONE_RULE: Final = pattern(r"-{4,}\s*")  # under the only column of a database shell's table …
ROW_COUNT: Final = pattern(r"\n\(\d+ rows?\)\s*\Z")  # … that ends so
BOXED: Final = pattern(r" *\xe2(?:\x94[\x80-\xbf]|\x95[\x90-\xb0])")  # drawn with lines, light, heavy or double
STAMPED: Final = pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* \S")  # a time and what was said then
PIPE_ROW: Final = pattern(r"\s*\|.*\|\s*$")
NUMBER: Final = pattern(r"[-+]?[$€£]?\d[\d.,:/%eE+-]*")
COLUMN_RULE: Final = pattern(r"(?:[-=]|[+|/]+[-=]+)[-=+|/]+(?: +[-=]{2,})+|[-=+|/]*\+[-=+]+")
NO_HEADER: Final = pattern(r"\d\d|[=;{]")
COLUMN_NAME: Final = pattern(r"[A-Z%#][\w%#/().@-]*")
COMMENT: Final = pattern(
    r"\s*(?://|/\*|\*|#(?!\s*(?:include|define|if|ifn?def|endif|pragma|undef|else|elif)\b)|--\s|;;)"
)
CODE_END: Final = pattern(
    r".*(?:[;{]|[;{}]\s*(?://.*|/\*.*)?)$", r"\s*[)}\]]+[;,)]*$", r".*=>\s*$", r".*\)\s*(?:->.*)?:$"
)
SLASHED: Final = pattern(r"\s*(?://|/\*|\* |\*/)")
DATUM: Final = pattern(
    r"\s*(?:[\w$-]+|[bru]?\"[^\"]*\"|[bru]?'[^']*'|-?[\dA-Fx.]+)(?:: | => | +=> )?[^;]*,(?:\s*(?://|#|/\*).*)?$",
    r"\s*[bru]{0,2}(?:\"[^\"]*\"|'[^']*')(?:\s*#.*)?$",
    r"\s*(?:\w+|\"[^\"]*\"|'[^']*')(?::| =>| =) [\[{(]+$",
)
ROW_OF_VALUES: Final = pattern(r"\s*(?:\(|(?i:insert into )).*\)[,;]?\s*$|\s*[\[{].*[\]}],?$")
DUMP: Final = pattern(r"^COPY \S+ (?:\([^)\n]*\) )?FROM stdin;$", flags=re.ASCII | re.MULTILINE)
FUNCTION: Final = pattern(r"\bfunction\b *\w*\(|\)?=>[{(\w]|\bvar \w+=|^(?:window|globalThis|self)\.\w+ ?=")
LOOSE_END: Final = pattern(CODE_END.pattern, r"\s+\S.*[,(\[+|&\\]$", r"\s*['\"}\])]+[,;)]*$")
STATEMENT: Final = pattern(
    # Python
    r"\s*(?:async )?def \w+\(",
    r"\s*class \w+[^\n]*:$",
    r"\s*(?:from [\w.]+ )?import [\w.*(]+(?: as \w+)?(?:, ?[\w.]+(?: as \w+)?)*(?:,| \(|\\)?(?:\s*#.*)?$",
    r"\s*(?:if|elif|for|while|with|except|try|else|finally)\b[^\n]*:$",
    r"\s*(?:return|raise|yield|assert|del|pass|continue|break)\b(?:$|;|.*[()\[\]{};=.\"'])",
    r"\s*@\w[\w.]*(?:\(.*)?$",
    r"\s*(?:self|this|cls)\.\w+",
    # JavaScript, TypeScript
    r"\s*(?:export |declare )*(?:default )?(?:async )?(?:const|let|var|function\*?|class|interface|enum"
    r"|type|namespace) [\w${\[]",
    r"\s*(?:import|export) .*(?:from )?['\"].*['\"];?$|\s*export [*{]",
    r"\s*(?:module\.)?exports\b.*=|.*\brequire\(['\"]",
    r"\s*(?:if|for|while|switch|catch|else if|foreach)\s*\(.*|\s*\}\s*(?:else|catch|finally|while)\b",
    r"\s*(?:else|do|try)\s*\{",
    r"\s*case .*:$|\s*default:$",
    # Go, Rust, Swift-like
    r"\s*(?:package \w+$|import \($|func [\w(]|type \w+ (?:struct|interface|func)\b|(?:if|for"
    r"|switch) .*\{$|\w[\w, ]* := )",
    r"\s*(?:pub(?:\(\w+\))? |unsafe |async |const )*(?:fn|impl|struct|trait|mod|use|match|let|enum"
    r"|macro_rules!)(?:\b|(?<=!)).*[;{(,<]",
    r"\s*\w+!(?: ?\w+)? ?[({\[]",
    r"\s*#!?\[\w",
    # Java, Kotlin, C#, PHP
    r"\s*(?:package|import|using|namespace) (?:static )?[\w.:\\*]+(?: = .*)?[;{]?$",
    r"\s*(?:public|private|protected|internal|static|final|abstract|override|sealed|open|data|virtual"
    r"|suspend|partial)\s+\w",
    r"\s*(?:fun|val|object|companion) [\w<]",
    r"<\?php|\s*\$\w+(?:->\w+|\[.*\])?(?:\(| [.+-]?= )|\s*(?:echo|print) .*;$",
    # C, C++
    r"\s*#\s*(?:include|define|ifn?def|if|endif|pragma|undef|else|elif)\b",
    r"\s*(?:typedef|struct|union|enum|extern|template|static|const|unsigned|signed|inline)\b.*[\w;{(,>*]$",
    r"(?:[\w:<>]+[ *&]+){1,5}\w[\w:~]*\s*\(.*[;{,)]$",
    r"\s*(?:int|void|char|bool|float|double|long|short|auto|size_t|u?int\d+_t|string|String)\b[ *&]+\w+.*[;,{(]$",
    r"\s*[A-Z_]+\(.*\)?[;,]?$",
    # Ruby, shell
    r"\s*(?:end|fi|done|esac|then|do|else|begin|ensure|rescue.*)$|\s*def [\w.?!]+",
    r"\s*(?:module|class) [A-Z]\w*|\s*require(?:_relative)? ['\"]",
    r"#!\s*/|\s*(?:if|elif|while) (?:\[|test |!|\w+ -)|\s*for \w+ in |\s*case .* in$|\s*\w+\(\)\s*\{?$",
    r"\s*.*\bdo \|.*\|$",
    r"\s*(?:ifn?eq|ifn?def|endif|include|define|endef|\.PHONY:)\b|\t(?:@|\$[({])|\s*\$\(\w+ ",
    r"\s*(?:local|export|echo|set|shift|exit|cd|source|readonly|unset|trap|eval|printf|attr_\w+|puts) [-\"'$\w:]",
    # SQL
    r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER TABLE|DROP|FROM|WHERE|(?:LEFT "
    r"|INNER )?JOIN|GROUP BY|ORDER BY|VALUES|BEGIN|COMMIT|PRIMARY KEY|ON|AND|SET)\b",
    r"\s*(?:select|insert into|update|delete from|create (?:table|index|view|or replace)|alter table"
    r"|drop table)\b .*[,;(\w]$",
    r"\s*\(.*\)[,;]$|(?:RETURNS|AS|LANGUAGE|REVOKE|GRANT|COMMENT ON|COPY)\b|\\echo ",
    # any: an assignment or a call that stands alone
    r"\s*[\w.\[\]'\"$>-]+ +(?:[-+*/|&.:?]?=) .*[;,({\[)\]'\"\w]$",
    r"\s*[\w.$:>-]+[.:>]\w+\(.*[;,({\[)]$|\s*\w+\(.*[;,({\[)]$",
)  # fmt: skip
STRONG: Final = pattern(
    r"\s*(?:async )?def \w+\(|from [\w.]+ import |import [\w.]+(?: as \w+)?$|\s*class \w+(?:\(.*\))?:$",
    r"\s*(?:export |async |default )*(?:function\b|const \w+ =|const [{\[]|let \w+|class \w+ .*\{"
    r"|interface \w+|type \w+ =|\{ .* from ['\"]|\* from)|import .* from ['\"]",
    r"\s*module\.exports|.*\brequire\(['\"]|['\"]use strict['\"]|.*\bfunction ?\w*\(.*\{$|\s*return\b.*;$",
    r"\s*(?:\} )?(?:else )?(?:if|for|while|switch|catch) ?\(.*\)\s*\{$|\s*\}\s*else\b|\s*(?:var|let"
    r"|const) \w+.*[;,{(]$",
    r"package [\w.]+;?$|func [\w(]|type \w+ (?:struct|interface|func)\b|\s*(?:if|for) .*:= .*\{$",
    r"\s*(?:pub(?:\(\w+\))? |unsafe |async )*(?:fn \w+|impl\b.*\{|struct \w+|trait \w+|mod \w+[;{ ]"
    r"|use [\w:]+(?:::|;)|enum \w+ \{|macro_rules! )|\s*#!?\[\w|\w+!\(.*\);?$|\w+! ?[({\[]$",
    r"import [\w.*]+;$|using [\w.]+;$|namespace [\w.\\:]+\s*[;{]?$",
    r"\s*(?:public|private|protected|internal) (?! *=)[\w<>\[\], ]+[({;=]",
    r"\s*(?:override |suspend |private |internal |data |open )*(?:fun [\w<.]+.*\(|class \w+)",
    r"<\?php|\s*\$this->|#!\s*/\S*(?:sh|python|perl|ruby|node|env)\b",
    r"\s*#\s*(?:include\s*[<\"]|define \w|ifn?def \w|endif)|\s*typedef\b",
    r"\s*(?:struct|enum|union) \w+\s*\{?;?$|extern \"C\"",
    r"(?:static |inline |const |unsigned |struct )*\w+[ *]+\w+\s*\(.*\)\s*[{;]?$",
    r"\s*(?:fi|done|esac)\b|\s*\w+\(\)\s*\{|\s*if \[.*(?:then)?$|\s*for \w+ in .*(?:do)?$|set -[eux]",
    r"\s*(?:module|class) [A-Z]\w*(?: < [\w:]+)?$|\s*require(?:_relative)? ['\"]|\s*attr_\w+ :|\s*end$",
    r"\s*def [\w.?!]+",
    r"\s*(?:SELECT\b.*|INSERT INTO \S+|(?:CREATE|ALTER|DROP) (?:OR REPLACE |UNIQUE |TEMP )*(?:TABLE|INDEX"
    r"|VIEW|FUNCTION|TRIGGER|OPERATOR|TYPE|AGGREGATE|EXTENSION)|DELETE FROM"
    r"|(?:REVOKE|GRANT) .* ON |COMMENT ON)\b|\\echo Use ",
    r"(?i:\s*(?:insert into \S+|create (?:or replace |unique |temp )*(?:table|index|view|function"
    r"|trigger)|alter table|drop table)\b)",
)  # fmt: skip
CLOCK: Final = r"\d\d:\d\d:\d\d"
TIMED: Final = pattern(
    rf"[^\w\n]{{0,3}}(?:(?:[A-Z]{{4,8}}:|[\w-]{{1,24}}[ |]|[a-z][\w-]*\d:)\s?)?"
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d[T ,]?\s?\[?{CLOCK}",
    rf"[^\w\n]{{0,3}}\d\d[-/.](?:\d\d|[A-Z][a-z]{{2}})[-/.]\d{{2,4}}[T :,]\s?{CLOCK}",
    rf"[^\w\n]{{0,2}}(?:<\d+>\d? ?)?(?:[A-Z][a-z]{{2}},? )?(?:[A-Z][a-z]{{2}} [ \d]\d"
    rf"|\d\d [A-Z][a-z]{{2}}),?(?: \d{{4}})? {CLOCK}",
    rf"[^\w\n]{{0,2}}{CLOCK}(?:[.,]\d+)?\b",
    rf"(?:[\w.-]{{1,40}} +\| +)?(?:\S+ ){{3,4}}\[\d+/\w+/\d{{4}}:{CLOCK}|\d\d-\d\d {CLOCK}\.\d",
    rf"[IWEF]\d{{4}} {CLOCK}|\[ *\d+[.,]\d{{3,6}}(?:s?\]\[[a-z]|\] )|[12]\d{{9}}(?:\.\d+|\d{{3}})?[ :\t]",
    r"(?:\S+ )?(?:time|ts|timestamp|t)=\"?\d{4}-\d\d-\d\dT|\{.*\"(?:time|timestamp|ts|@timestamp)\": ?[\"\d]",
    rf"<\d+>\d? ?\d{{4}}-|[^\t\n]*\t[^\t\n]*\t\d{{4}}-\d\d-\d\dT{CLOCK}",
    r"Started [A-Z]+ \"[^\"]*\" for \S+ at \d{4}|(?:Start|End)-Date: \d|"
    rf"\S+ +\| +\[?\d{{4}}-\d\d-\d\d[T ]{CLOCK}|(?:start|end)ed at \d{{4}}",
)
LEVELLED: Final = pattern(
    r"\W{0,2}(?i:trace|debug|info|notice|warn|warning|error|err|fatal|critical|severe)\W{0,2}(?:[:\s|\]]|$)",
    r"(?:.{0,60}[\s\[|(])?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)[\s:\]|),]",
    r".*\b(?:level|lvl|severity)=\"?\w+",
)
TRACE: Final = pattern(
    r"\s+at [\w.$<>/@ ]+[(\[]|\s+at \S+:\d+|Caused by: |\s+\.\.\. \d+ more|Traceback \(most recent",
    r"  File \".*\", line \d+",
    r"(?:[\w$]+\.)*\w*(?:Exception|Error)\b(?::|$)|goroutine \d+ \[|panic: |thread '.*' panicked",
    r" +\d+: 0x[0-9a-f]+ - ",
)
BUILD: Final = pattern(
    r"(?:\[[^\]]{2,40}\] )?(?:g?make(?:\[\d+\])?: |libtool: |checking (?:for|whether|if) "
    r"|config\.status: |/bin/(?:ba)?sh )",
    r"\[(?:INFO|WARNING|ERROR|WARN|DEBUG)\]|\s+\[[a-z]\w*\] |npm (?:WARN|ERR!|warn|error|notice)|yarn \w+ v",
    r"> Task :|BUILD (?:SUCCESS|FAIL)",
    r"(?:\w*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|ar|cl|rustc|javac|tsc) -",
    r"\s+(?:CC|LD|AR|CXX|GEN|HOSTCC) +\S|\[ *\d+%\] |\[\d+/\d+\] ",
    r"(?:Get|Hit|Ign|Err|Fetched):?\d* ",
    r"(?:Setting up|Unpacking|Selecting previously|Preparing to unpack|Processing triggers|Reading) ",
    r"\s*(?:Compiling|Downloading|Downloaded|Building|Checking|Finished|Collecting|Installing"
    r"|Requirement already|Using cached|Fetching|Resolving|Linking|Generating) ",
    r"(?:TASK|PLAY|RUNNING HANDLER) \[|PLAY RECAP |(?:ok|changed|skipping|fatal|failed|included): \[",  # Ansible
    r"\d+ bytes from \S+: |(?:Step \d+/\d+ :| ---> |#\d+ (?:\[|\d|DONE|CACHED|sha256))",
    r" *(?:\xc3\x97 |\xe2\x95\xb0\xe2\x94\x80>|\xe2\x94\x82 exit code|\[end of output\]|(?:error|note|hint): )",  # pip
    r"\S+:\d+(?::\d+)?: (?:fatal )?(?:warning|error|note|info)\b|\S+: In (?:member )?function ",
    r" +\d* \| +\S| +--> \S+:\d+|(?:error|warning)(?:\[\w+\])?: \S|\S+\.\w{1,8}\(\d+(?:,\d+)?\): +\S",
    r"(?:add|remove|change|update)d? @?[\w./-]+ \d+\.\S*$|(?:added|removed|changed|audited) \d+ packages",
    r"\s*(?:Looking in (?:indexes|links)|Preparing metadata|Getting requirements|Successfully \w+|Attempting uninstall"
    r"|Created wheel|Stored in directory|Running (?:setup|command)|Using legacy)\b",
    r"(?:copying|creating|adding|running|removing|writing|hard linking|byte-compiling|reading) \S|[+] \w",
    r"[\w.\[\]\"-]+: (?:Creating|Creation|Refreshing|Reading|Read complete|Destr|Modif|Still )",
)  # fmt: skip
TAG: Final = pattern(r"\[[^\]]{2,60}\] ", r"[\w.-]{2,40} +\| ")
HIT: Final = pattern(
    r"(?!\d\d:\d\d"
    r"|https?:)(?:[A-Za-z]:)?[^\s:()\[\]{}=\"'][^:\n=(){}\"']{0,200}:\d+(?::\d+)?[:]",
    r"[^\s:()=\"',]*[./][^\s:()=\"',]*-\d+-",
)
HIT_BY_NAME: Final = pattern(r"((?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.\w{1,8}|(?:[\w@.+-]*/)+[\w@.+-]+):")
HIT_OF_ONE: Final = pattern(r"(\d{1,7})[:-](?!\d\d:)")
NUMBERED: Final = pattern(r"\d+[:-]")
NAME: Final = pattern(r"(?:\.{0,2}/)?(?:[\w@.+~%#()\[\]&$-]+(?: [\w@.+~%#()&-]+){0,3}/)*[\w@.+~%#()\[\]&$-]*[*/@|]?$")
LISTED: Final = pattern(
    r"\s*(?:\d+ +)?(?:[\d.]+[KMGT]? +)?[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+|total \d|[-dlbcps][-rwxsStT]{9} \w+/\w+ ",
    r"(?:\xe2\x94[\x80-\xbf]|\xc2\xa0|[|`\\ ])+(?:\xe2\x94\x80|--)[\xe2\x94\x80-]*\s?\S",
    r"\d{6} (?:blob|tree|commit|\d+) +[0-9a-f]{7,64}\b|[ MADRCU?!]{2} [\w./\"]\S*$|[MADTU]\t\S+$",
    r"[0-9.]+[KMGT]?\t\S.*$|\S+/?:$|[0-9a-f]{32,128} [ *]\S",
    r"\s*\d[\d.,]*[KMGTB]?(?: +\d+){0,3} +(?:\S*[./]\S*|total)$|\d{4}-\d\d-\d\d(?: [\d:.]+)? \S*[./]\S*$",
    r"\d\d[/.]\d\d[/.]\d{4}\s+\d\d:\d\d(?: [AP]M)?\s+(?:<DIR>|[\d,.]+)\s+\S",
    r"[* ] (?:remotes|origin|upstream|feature|feat|fix|bugfix|hotfix|release|dependabot)/\S+$",
    r"[\w.-]+ \((?:default: )?\d[\w., :-]*\)$",
    r"[a-z0-9][\w.+:-]*/[\w,.-]+ \d\S* [a-z0-9-]+(?: \[.*\])?$|[A-Za-z0-9][\w.+@/-]* (?:\(\w+\) +)?- \S",
    r"[\w.+-]+(?::\w+)?(?:, [\w.+-]+(?::\w+)?)*: /\S+$|diversion by |Only in \S+: |Files .* and .* differ$",
)  # fmt: skip
SIZED: Final = pattern(r"[0-9.]+[KMGT]?\t\.{0,2}/|[0-9.]+[KMGT]\t\S|[MADRCTU]\d*\t\S")  # du, git's --name-status
BLOCKS: Final = pattern(r"\s*[\d.]+[KMGT]? \S+$|total ")  # ls -s
FOLDER: Final = pattern(r"(?:\.|\S*/\S*):$")
WEB_HIT: Final = pattern(r"\s*(?:\[?\d{1,3}[.)\]]|Title:|#+ \d+[.)]|- ) ?\S")
WEB_ADDRESS: Final = pattern(r"\s*(?:\W?(?:URL|Link|Source|url|link)\W{1,3}|[<(\[-]?\s?)?https?://\S+$")
REMARK: Final = pattern(r"\s*(?:#|;|//|/\*|\*|--\s)")
YAML: Final = pattern(r"\s*(?:- +)*(?:[\w.$/@*<-][\w./$@ *<>()-]{0,80}|\"[^\"]+\"|'[^']+')\t*:(?:\s+\S.*)?\s*$")
YAML_ITEM: Final = pattern(r"\s*- \S|---$|\.\.\.$")
ASSIGNED: Final = pattern(r"\s*(?:export )?[\w.\"'@/*:-]+(?:\[[\w@.-]+\]| \w+)?\s*[+:?]?=(?!=)")
SECTION: Final = pattern(r"\s*\[\[?[^\]\[]{1,100}\]\]?\s*(?:[#;].*)?$")
BLOCK: Final = pattern(r"\s*[\w.-]+(?: +\"[^\"]*\"| +[\w./*~^$-]+)* [{(]$|\s*[}\])],?$")
DIRECTIVE: Final = pattern(
    r"\s*(?:[\w-]+ .*;|\"?[@\w][^\s:]*@\S+:|\"?[\w@/.-]+\"?,? \"[^\"]+\"|\s+[\w-]+ \S+|\s+[\w./-]+ v\d\S*)$"
)
REMARKED: Final = pattern(r"[#;]+ ?[\w.-]+ ?=|#[A-Za-z][\w-]*[: ] ?[\w/.\"-]+$")
SETTING: Final = pattern(r"\s*[\w.-]+ ?= ?\S*$")
XML: Final = pattern(
    r"\s*<(?:\?xml\b|!DOCTYPE (?!html)|[A-Za-z][\w:.-]*(?:\s+[\w:.-]+\s*=\s*[\"'][^\"'<>]*[\"'])*\s*/?>)"
)
PINNED: Final = pattern(  # what is installed in which version
    r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])? ?(?:[=~><!]=|===) ?\S+.*$|\S+ v\S+ h1:\S+$"
)
TIGHT: Final = pattern(r"[A-Za-z][\w.-]*:\S*$")
DOCKER: Final = pattern(
    r"(?:FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|EXPOSE|CMD|ENTRYPOINT|LABEL|USER|VOLUME|HEALTHCHECK|SHELL|ONBUILD) \S"
)
COMMIT: Final = pattern(r"commit [0-9a-f]{40}\b")
ONE_LINE_COMMIT: Final = pattern(r"(?=[0-9a-f]*[0-9])[0-9a-f]{7,12} \S")
EXCHANGE: Final = pattern(r"[*<>{}] |[*<>{}]$")  # curl -v
WORDS: Final = pattern(
    r"[\w/*.@:=-]+[ \t]+[^\s.,;:(){}]\S*(?:[ \t]+[^\s(){};]+){0,7}[ \t]*(?:#.*)?$"
)  # sshd_config, fstab
BELOW: Final = pattern(r"\s+\S+$|\s+\S+ \(.*\)$|\s+\S+ +https?://\S+ .*|\s+\S+ \d+$")
NO_CONFIG: Final = pattern(r"\s*(?:usage: |commit [0-9a-f]{40}\b)", flags=re.ASCII | re.IGNORECASE)
PROSE: Final = pattern(r"\s*(?:[^\s:=]+ ){7,}\S+")
SEVERAL: Final = pattern(r"\s*\w[\w ]*:[^\n]*(?: {2}|\t)\w+: ")
SPREAD: Final = pattern(r"\s*\d+: \w|\s*\S+:\s+(?:\S+ {2,}){2,}\S")
BLOCK_TEXT: Final = pattern(r".*[:-] +[|>][-+]?\d?$")
