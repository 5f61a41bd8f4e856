"""The patterns that tell payloads apart, by what they are about; each is compiled when it is first asked.

All of them look at source text (one character a byte), so that letters outside of ASCII stand as their UTF-8 bytes.
None has two open-ended parts beside each other that match the same characters.
"""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.detect_pattern import BLANK, DIGITS, bare, either, flush, pattern

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
]


LINE_END: Final = pattern(r"\r\n?|\n")
GUTTER: Final = pattern(r" *\d+(?:\t|\xe2\x86\x92|:| ?(?:\||\xe2\x94\x82))")  # perhaps
FENCE: Final = pattern(r" {0,3}(?:```|~~~)", starts="`~")
LITERAL_NEXT: Final = pattern(r"(?:[^#;/{}<>(]*[\w*)`] ?)?::$")
JSON_BEGINS: Final = pattern(
    r'\{\s*["}]|\[\s*(?:[\[{"\]]|-?\d[\d.eE+-]*+\s*[,\]]|(?:true|false|null|NaN|-?Infinity)\s*[,\]])|"'
)
PATH: Final = pattern(r"(?:\d{6} \w+ [0-9a-f]{40,64}\t)?(?![\s:])[^\x00-\x1f\x7f<>|\"*?]{1,255}")
PLAYWRIGHT: Final = pattern(r"\s*- ['\"]?[a-z]+\b.*\[ref=\w+\]", starts="-", needs=("[ref=",))
ARIA: Final = pattern(
    r"\s*- '?(?:/url|/placeholder|text|link|button|heading|navigation|img|list|listitem|paragraph|textbox|main|banner"
    r"|group|checkbox|combobox|option|row|rowgroup|rowheader|columnheader|cell|gridcell|table|tab|tablist|tabpanel|dialog"
    r"|document|region|generic|contentinfo|complementary|menuitem|menu|menubar|term|definition|code|strong|emphasis"
    r"|article|form|search|searchbox|alert|status|separator|switch|radio|slider|time|figure|blockquote)"
    r"(?: \"|: | \[|:$|$)",
    starts="-",
)
NAMED: Final = pattern(r"\s*- '?(?:link|button|heading|img|textbox|navigation|checkbox|tab|option) \"", starts="-")
DEVTOOLS: Final = pattern(r"\s*uid=\d+_\d+ \S", starts="u", needs=("uid=",))
JUNIT: Final = pattern(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<testsuites?\b")
RUNS: Final = (
    pattern(  # pytest, and its -v lines
        r"=+ (?:test session starts|FAILURES|ERRORS|short test summary info|.*\d (?:passed|failed|error).*) =+$",
        starts="=",
    ),
    pattern(r"(?:FAIL|ERROR): \w+ \([\w.]+\)$", r"Ran \d+ tests? in [\d.]+s$", starts="EFR"),  # unittest
    pattern(r" +Failure/Error: ", r"\d+ examples?, \d+ failures?", r"rspec \./\S+:\d", starts="Fr" + DIGITS),  # RSpec
    pattern(r"PHPUnit \d", r"Tests: \d+, Assertions: \d", r"There (?:was|were) \d+ (?:failure|error)", starts="PT"),
    pattern(
        r"\S+\.py::\S+ (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)",
        r"(?:FAILED|ERROR) \S+\.py(?:::\S+)?(?: - |$)",
        needs=(".py",),
    ),
    pattern(  # jest, vitest
        r"(?:PASS|FAIL) +\S+\.[cm]?[jt]sx?\b",
        r" *Tests: +\d.* total",
        r" *(?:Test Files|Tests) +\d+ (?:passed|failed)",
        starts="FPT",
    ),
    pattern(  # googletest, ctest
        r"\[ +(?:RUN|OK|FAILED|PASSED|SKIPPED) +\] |\[[-=]{10}\] ",
        r" *\d+/\d+ Test +#\d+: ",
        starts="[" + DIGITS,
    ),
    pattern(  # go test, cargo test
        r"=== (?:RUN|PAUSE|CONT) ", r" *--- (?:PASS|FAIL|SKIP): ", r"(?:ok|FAIL) +\t?\S+\t\d+\.\d+s", starts="=-oF"
    ),
    pattern(r"test \S.* \.\.\. (?:ok|FAILED|ignored)", r"test result: ", r"running \d+ tests?$", starts="tr"),
    pattern(r"\w+ \([\w.]+\) \.\.\. (?:ok|FAIL|ERROR|skipped)", needs=(") ... ",)),  # unittest, TAP, mocha
    pattern(
        r" *(?:not )?ok \d+\b",
        r" *1\.\.\d+$",
        r"TAP version \d+$",
        r" *# Subtest: ",
        r"# (?:tests|pass|fail|duration_ms) \d",
        starts="no1T#",
    ),
    pattern(
        r"  +\d+ (?:passing|failing|pending)\b",
        r" +\xe2\x9c[\x93\x94] |\xe2\x9c[\x93-\x98] .*\(\d[\d.]*m?s\)$",
        starts="\xe2" + DIGITS,
    ),
    pattern(  # dotnet test
        r"\s+(?:Passed|Failed|Skipped) \S.* \[[< \d]+m?s\]$", r"(?:Passed|Failed)!  - Failed: ", starts="PFS"
    ),
    pattern(  # Maven's surefire
        r"(?:\[(?:INFO|ERROR|WARNING)\] )?(?:Running [\w.$]+$|Tests run: \d+, Failures: \d+|T E S T S$)", starts="[RT"
    ),
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
PLAIN_DIFF: Final = pattern(r"\d+(?:,\d+)?[acd]\d+(?:,\d+)?$", starts=DIGITS)
PLAIN_DIFF_LINE: Final = pattern(r"[<>] |[<>]$|---$|\d+(?:,\d+)?[acd]\d+|diff |Only in |\\ ")
HTML_BEGINS: Final = pattern(r"\s*(?:<!doctype html|<html\b|<head\b|<body\b)", flags=re.ASCII | re.IGNORECASE)
HTML_LINE: Final = pattern(
    r"(?i:\s*</?(?:div|p|span|a|ul|ol|li|table|thead|tbody|tr|t[dh]|h[1-6]|section|article|nav|main"
    r"|header|footer|form"
    r"|input|button|img|br|hr|pre|script|style|link|meta|title|label|select|option|strong|em|blockquote",
    r"figure)\b[^<>]*>)",
    starts="<",
)
TEMPLATE: Final = pattern(r"\s*\{[%{#].*[%}#]\}\s*$", starts="{")
HEADING: Final = pattern(r"#{1,6} \S", starts="#")
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
COMMENT: Final = pattern(
    r"\s*(?://|/\*|\*|#(?!\s*(?:include|define|if|ifn?def|endif|pragma|undef|else|elif)\b)|--\s|;;)", starts="/*#-;"
)
CODE_END: Final = either(
    bare(r"[^;{}]*+(?:[;{}](?!\s*(?:$|//|/\*))[^;{}]*+)*+[;{}]", r"[)}\]]+[;,)]*$"),
    bare(r".*=>\s*$", needs=("=>",)),
    bare(r".*\)\s*(?:->.*)?:$", ends=":"),
)
SLASHED: Final = pattern(r"\s*(?://|/\*|\* |\*/)", starts="/*")
DATUM: Final = either(
    bare(
        r"(?:[\w$-]+|[bru]?\"[^\"]*\"|[bru]?'[^']*'|-?[\dA-Fx.]+)(?:: | => | +=> )?[^;]*,(?:\s*(?://|#|/\*).*)?$",
        needs=(",",),
    ),
    bare(r"[bru]{0,2}(?:\"[^\"]*\"|'[^']*')(?:\s*#.*)?$", r"(?:\w+|\"[^\"]*\"|'[^']*')(?::| =>| =) [\[{(]+$"),
)
ROW_OF_VALUES: Final = pattern(r"\s*(?:\(|(?i:insert into )).*\)[,;]?\s*$|\s*[\[{].*[\]}],?$")
DUMP: Final = pattern(r"^COPY \S+ (?:\([^)\n]*\) )?FROM stdin;$", flags=re.ASCII | re.MULTILINE)
FUNCTION: Final = pattern(r"\bfunction\b *\w*\(|\)?=>[{(\w]|\bvar \w+=|^(?:window|globalThis|self)\.\w+ ?=")
LOOSE_END: Final = either(
    CODE_END, flush(r"\s+\S.*[,(\[+|&\\]$", ends=",([+|&\\"), bare(r"['\"}\])]+[,;)]*$", ends="'\"}]),;")
)
STATEMENT: Final = either(
    bare(
        # Python
        r"(?=[acdf])(?:(?:async )?def \w+\(|class \w+[^\n]*:$)",
        r"(?=[fi])(?:from [\w.]+ )?import [\w.*(]+(?: as \w+)?(?:, ?[\w.]+(?: as \w+)?)*(?:,| \(|\\)?(?:\s*#.*)?$",
        r"(?:if|elif|for|while|with|except|try|else|finally)\b[^\n]*:$",
        r"(?:return|raise|yield|assert|del|pass|continue|break)\b(?:$|;|.*[()\[\]{};=.\"'])",
        r"@\w[\w.]*(?:\(.*)?$",
        r"(?:self|this|cls)\.\w+",
        # JavaScript, TypeScript
        r"(?=[acdefilntv])(?:export |declare )*(?:default )?(?:async )?(?:const|let|var|function\*?|class|interface"
        r"|enum|type|namespace) [\w${\[]",
        r"(?:import|export) .*(?:from )?['\"].*['\"];?$|export [*{]",
        r"(?=[em])(?:module\.)?exports\b.*=",
        r"(?:if|for|while|switch|catch|else if|foreach)\s*\(.*|\}\s*(?:else|catch|finally|while)\b",
        r"(?:else|do|try)\s*\{",
        r"case .*:$|default:$",
        # Go, Rust, Swift-like
        r"(?:package \w+$|import \($|func [\w(]|type \w+ (?:struct|interface|func)\b|(?:if|for|switch) .*\{$)",
        r"(?=[acefilmstpu])(?:pub(?:\(\w+\))? |unsafe |async |const )*(?:fn|impl|struct|trait|mod|use|match|let|enum"
        r"|macro_rules!)(?:\b|(?<=!)).*[;{(,<]",
        r"#!?\[\w",
        # Java, Kotlin, C#, PHP
        r"(?:package|import|using|namespace) (?:static )?[\w.:\\*]+(?: = .*)?[;{]?$",
        r"(?:public|private|protected|internal|static|final|abstract|override|sealed|open|data|virtual"
        r"|suspend|partial)\s+\w",
        r"(?:fun|val|object|companion) [\w<]",
        r"\$\w+(?:->\w+|\[.*\])?(?:\(| [.+-]?= )|(?:echo|print) .*;$",
        # C, C++
        r"#\s*(?:include|define|ifn?def|if|endif|pragma|undef|else|elif)\b",
        r"(?:typedef|struct|union|enum|extern|template|static|const|unsigned|signed|inline)\b.*[\w;{(,>*]$",
        r"[A-Z_]+\(.*\)?[;,]?$",
        # Ruby, shell
        r"(?:end|fi|done|esac|then|do|else|begin|ensure|rescue.*)$|def [\w.?!]+",
        r"(?:module|class) [A-Z]\w*|require(?:_relative)? ['\"]",
        r"(?:if|elif|while) (?:\[|test |!|\w+ -)|for \w+ in |case .* in$",
        r"(?:ifn?eq|ifn?def|endif|include|define|endef|\.PHONY:)\b|\$\(\w+ ",
        r"(?:local|export|echo|set|shift|exit|cd|source|readonly|unset|trap|eval|printf|attr_\w+|puts) [-\"'$\w:]",
        # SQL
        r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER TABLE|DROP|FROM|WHERE|LEFT JOIN|INNER JOIN|JOIN"
        r"|GROUP BY|ORDER BY|VALUES|BEGIN|COMMIT|PRIMARY KEY|ON|AND|SET)\b",
        r"(?:select|insert into|update|delete from|create (?:table|index|view|or replace)|alter table"
        r"|drop table)\b .*[,;(\w]$",
        r"\(.*\)[,;]$",
    ),
    flush(r"<\?php|#!\s*/|\t(?:@|\$[({])|(?:RETURNS|AS|LANGUAGE|REVOKE|GRANT|COMMENT ON|COPY)\b|\\echo "),
    # any: an assignment or a call that stands alone
    bare(r"[\w.$:>-]+[.:>]\w+\(.*[;,({\[)]$|\w+\(.*[;,({\[)]$", ends=";,({[)"),
    bare(r"[\w.\[\]'\"$>-]+ +(?:[-+*/|&.:?]?=) .*[;,({\[)\]'\"\w]$", needs=("= ",)),
    flush(r"(?:[\w:<>]+[ *&]+){1,5}\w[\w:~]*\s*\(.*[;{,)]$", ends=";{,)"),
    bare(
        r"(?:int|void|char|bool|float|double|long|short|auto|size_t|u?int\d+_t|string|String)\b[ *&]+\w+.*[;,{(]$",
        ends=";,{(",
    ),
    bare(r"\w[\w, ]* := ", needs=(" := ",)),
    bare(r"\w+!(?: ?\w+)? ?[({\[]", needs=("!",)),
    bare(r".*\brequire\(['\"]", needs=("require(",)),
    bare(r".*\bdo \|.*\|$", needs=("do |",)),
    bare(r"\w+\(\)\s*\{?$", needs=("()",)),
)  # fmt: skip
STRONG: Final = either(
    bare(
        r"(?=[ad])(?:async )?def \w+\(|class \w+(?:\(.*\))?:$|def [\w.?!]+",
        r"(?=[*acdefilt{])(?:export |async |default )*(?:function\b|const \w+ =|const [{\[]|let \w+|class \w+ .*\{"
        r"|interface \w+|type \w+ =|\{ .* from ['\"]|\* from)",
        r"module\.exports|return\b.*;$",
        r"(?=[}efiwsc])(?:\} )?(?:else )?(?:if|for|while|switch|catch) ?\(.*\)\s*\{$|\}\s*else\b|(?:var|let"
        r"|const) \w+.*[;,{(]$",
        r"(?:if|for) .*:= .*\{$",
        r"(?=[acefimpstu])(?:pub(?:\(\w+\))? |unsafe |async )*(?:fn \w+|impl\b.*\{|struct \w+|trait \w+|mod \w+[;{ ]"
        r"|use [\w:]+(?:::|;)|enum \w+ \{|macro_rules! )|#!?\[\w",
        r"(?:public|private|protected|internal) (?! *=)[\w<>\[\], ]+[({;=]",
        r"(?=[cdfiops])(?:override |suspend |private |internal |data |open )*(?:fun [\w<.]+.*\(|class \w+)",
        r"\$this->",
        r"#\s*(?:include\s*[<\"]|define \w|ifn?def \w|endif)|typedef\b",
        r"(?:struct|enum|union) \w+\s*\{?;?$",
        r"(?:fi|done|esac)\b|if \[.*(?:then)?$|for \w+ in .*(?:do)?$",
        r"(?:module|class) [A-Z]\w*(?: < [\w:]+)?$|require(?:_relative)? ['\"]|attr_\w+ :|end$",
        r"(?:SELECT\b.*|INSERT INTO \S+|(?:CREATE|ALTER|DROP) (?:OR REPLACE |UNIQUE |TEMP )*(?:TABLE|INDEX"
        r"|VIEW|FUNCTION|TRIGGER|OPERATOR|TYPE|AGGREGATE|EXTENSION)|DELETE FROM"
        r"|(?:REVOKE|GRANT) .* ON |COMMENT ON)\b",
        r"(?=[acdiACDI])(?i:insert into \S+|create (?:or replace |unique |temp )*(?:table|index|view|function"
        r"|trigger)|alter table|drop table)\b",
        r"\w+\(\)\s*\{",
    ),
    flush(
        r"from [\w.]+ import |import [\w.]+(?: as \w+)?$|import .* from ['\"]|import [\w.*]+;$",
        r"package [\w.]+;?$|func [\w(]|type \w+ (?:struct|interface|func)\b|using [\w.]+;$",
        r"namespace [\w.\\:]+\s*[;{]?$|\w+!\(.*\);?$|\w+! ?[({\[]$",
        r"['\"]use strict['\"]|<\?php|#!\s*/\S*(?:sh|python|perl|ruby|node|env)\b|extern \"C\"|set -[eux]|\\echo Use ",
    ),
    flush(r"(?:static |inline |const |unsigned |struct )*\w+[ *]+\w+\s*\(.*\)\s*[{;]?$", ends=");{" + BLANK),
    bare(r".*\brequire\(['\"]", needs=("require(",)),
    flush(r".*\bfunction ?\w*\(.*\{$", needs=("function",)),
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
    shapes=("0:00:00", "0000000000", "0000-", "at 0000", "0.000", "0,000", 'me":', 'stamp":', 'ts":', "-Aate: 0"),
)
LEVELLED: Final = either(
    flush(
        r"\W{0,2}+(?:[Tt](?i:race)|[Dd](?i:ebug)|[Ii](?i:nfo)|[Nn](?i:otice)|[Ww](?i:arn(?:ing)?)|[Ee](?i:rr(?:or)?)"
        r"|[Ff](?i:atal)|[Cc](?i:ritical)|[Ss](?i:evere))\W{0,2}(?:[:\s|\]]|$)"
    ),
    flush(
        r"(?:.{0,60}[\s\[|(])?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)[\s:\]|),]",
        shapes=("AAAA",),
    ),
    flush(r".*\b(?:level|lvl|severity)=\"?\w+", needs=("level=", "lvl=", "severity=")),
)
TRACE: Final = either(
    flush(
        r"\s+at [\w.$<>/@ ]+[(\[]|\s+at \S+:\d+|Caused by: |\s+\.\.\. \d+ more|Traceback \(most recent",
        r"  File \".*\", line \d+|goroutine \d+ \[|panic: |thread '.*' panicked| +\d+: 0x[0-9a-f]+ - ",
    ),
    flush(r"(?:[\w$]+\.)*\w*Exception\b(?::|$)", needs=("Exception",)),
    flush(r"(?:[\w$]+\.)*\w*Error\b(?::|$)", needs=("Error",)),
)
BUILD: Final = either(
    flush(
        r"(?=[\[gmlc/])(?:\[[^\]]{2,40}\] )?(?:g?make(?:\[\d+\])?: |libtool: |checking (?:for|whether|if) "
        r"|config\.status: |/bin/(?:ba)?sh )",
        r"\[(?:INFO|WARNING|ERROR|WARN|DEBUG)\]|\s+\[[a-z]\w*\] |npm (?:WARN|ERR!|warn|error|notice)|yarn \w+ v",
        r"> Task :|BUILD (?:SUCCESS|FAIL)",
        r"\s+(?:CC|LD|AR|CXX|GEN|HOSTCC) +\S|\[ *\d+%\] |\[\d+/\d+\] ",
        r"(?:Get|Hit|Ign|Err|Fetched):?\d* ",
        r"(?:Setting up|Unpacking|Selecting previously|Preparing to unpack|Processing triggers|Reading) ",
        r"(?:TASK|PLAY|RUNNING HANDLER) \[|PLAY RECAP |(?:ok|changed|skipping|fatal|failed|included): \[",  # Ansible
        r"\d+ bytes from \S+: |(?:Step \d+/\d+ :| ---> |#\d+ (?:\[|\d|DONE|CACHED|sha256))",
        r" +\d* \| +\S| +--> \S+:\d+|(?:error|warning)(?:\[\w+\])?: \S",
        r"(?=[aruc])(?:add|remove|change|update)d? @?[\w./-]+ \d+\.\S*$|(?:added|removed|changed|audited) \d+ packages",
        r"(?:copying|creating|adding|running|removing|writing|hard linking|byte-compiling|reading) \S|[+] \w",
        r"\s*(?:(?:Compiling|Downloading|Downloaded|Building|Checking|Finished|Collecting|Installing"
        r"|Requirement already|Using cached|Fetching|Resolving|Linking|Generating) "
        r"|(?:Looking in (?:indexes|links)|Preparing metadata|Getting requirements|Successfully \w+"
        r"|Attempting uninstall|Created wheel|Stored in directory|Running (?:setup|command)|Using legacy)\b)",
        # pip
        r" *(?:\xc3\x97 |\xe2\x95\xb0\xe2\x94\x80>|\xe2\x94\x82 exit code|\[end of output\]|(?:error|note|hint): )",
        r"(?:\w*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|ar|cl|rustc|javac|tsc) -",
        r"\S+(?::\d+(?::\d+)?: (?:fatal )?(?:warning|error|note|info)\b|: In (?:member )?function )",
        r"[\w.\[\]\"-]++: (?:Creating|Creation|Refreshing|Reading|Read complete|Destr|Modif|Still )",
    ),
    flush(r"\S+\.\w{1,8}\(\d+(?:,\d+)?\): +\S", needs=("): ",)),
)  # fmt: skip
TAG: Final = pattern(r"\[[^\]]{2,60}\] ", r"[\w.-]{2,40} +\| ")
HIT: Final = pattern(
    r"(?!\d\d:\d\d"
    r"|https?:)(?:[A-Za-z]:)?[^\s:()\[\]{}=\"'][^:\n=(){}\"']{0,200}:\d+(?::\d+)?[:]",
    r"[^\s:()=\"',]*[./][^\s:()=\"',]*-\d+-",
    shapes=(":0", "-0"),
)
HIT_BY_NAME: Final = pattern(r"((?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.\w{1,8}|(?:[\w@.+-]*/)+[\w@.+-]+):")
HIT_OF_ONE: Final = pattern(r"(\d{1,7})[:-](?!\d\d:)")
NUMBERED: Final = pattern(r"\d+[:-]", starts=DIGITS)
NAME: Final = pattern(
    r"(?=[\w@.+~%#()\[\]&$ /*|-]*+$)"  # nothing else: looked at once
    r"(?:\.{0,2}/)?(?:[\w@.+~%#()\[\]&$-]+(?: [\w@.+~%#()&-]+){0,3}/)*[\w@.+~%#()\[\]&$-]*[*/@|]?$"
)
LISTED: Final = either(
    bare(
        r"(?=[\d.dlbcps-])(?:\d+ +)?(?:[\d.]+[KMGT]? +)?[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+",
        r"\d[\d.,]*[KMGTB]?(?: +\d+){0,3} +(?:\S*[./]\S*|total)$",
    ),
    flush(
        r"total \d|[-dlbcps][-rwxsStT]{9} \w+/\w+ ",
        r"(?:\xe2\x94[\x80-\xbf]|\xc2\xa0|[|`\\ ])+(?:\xe2\x94\x80|--)[\xe2\x94\x80-]*\s?\S",
        r"\d{6} (?:blob|tree|commit|\d+) +[0-9a-f]{7,64}\b|[ MADRCU?!]{2} [\w./\"]\S*$|[MADTU]\t\S+$",
        r"[0-9.]+[KMGT]?\t\S.*$|[0-9a-f]{32,128} [ *]\S|\d{4}-\d\d-\d\d(?: [\d:.]+)? \S*[./]\S*$",
        r"\d\d[/.]\d\d[/.]\d{4}\s+\d\d:\d\d(?: [AP]M)?\s+(?:<DIR>|[\d,.]+)\s+\S",
        r"[* ] (?:remotes|origin|upstream|feature|feat|fix|bugfix|hotfix|release|dependabot)/\S+$",
        r"diversion by |Only in \S+: |Files .* and .* differ$",
    ),
    flush(r"\S+/?:$", ends=":"),
    flush(r"[\w.-]+ \((?:default: )?\d[\w., :-]*\)$", ends=")"),
    flush(r"[a-z0-9][\w.+:-]*/[\w,.-]+ \d\S* [a-z0-9-]+(?: \[.*\])?$", needs=("/",)),
    flush(r"[A-Za-z0-9][\w.+@/-]* (?:\(\w+\) +)?- \S", needs=(" - ", )),
    flush(r"[\w.+-]+(?::\w+)?(?:, [\w.+-]+(?::\w+)?)*: /\S+$", needs=(": /",)),
)  # fmt: skip
SIZED: Final = pattern(r"[0-9.]+[KMGT]?\t\.{0,2}/|[0-9.]+[KMGT]\t\S|[MADRCTU]\d*\t\S")  # du, git's --name-status
BLOCKS: Final = pattern(r"\s*[\d.]+[KMGT]? \S+$|total ")  # ls -s
FOLDER: Final = either(flush(r"(?:\.|\S*/\S*):$", ends=":"))
WEB_HIT: Final = pattern(r"\s*(?:\[?\d{1,3}[.)\]]|Title:|#+ \d+[.)]|- ) ?\S")
WEB_ADDRESS: Final = pattern(r"\s*(?:\W?(?:URL|Link|Source|url|link)\W{1,3}|[<(\[-]?\s?)?https?://\S+$", needs=("://",))
REMARK: Final = pattern(r"\s*(?:#|;|//|/\*|\*|--\s)", starts="#;/*-")
YAML: Final = pattern(r"\s*(?:- +)*(?:[\w.$/@*<-][\w./$@ *<>()-]{0,80}|\"[^\"]+\"|'[^']+')\t*:(?:\s+\S.*)?\s*$")
YAML_ITEM: Final = pattern(r"\s*- \S|---$|\.\.\.$")
ASSIGNED: Final = pattern(r"\s*(?:export )?[\w.\"'@/*:-]+(?:\[[\w@.-]+\]| \w+)?\s*[+:?]?=(?!=)", needs=("=",))
SECTION: Final = pattern(r"\s*\[\[?[^\]\[]{1,100}\]\]?\s*(?:[#;].*)?$", starts="[")
BLOCK: Final = pattern(r"\s*[\w.-]+(?: +\"[^\"]*\"| +[\w./*~^$-]+)* [{(]$|\s*[}\])],?$")
DIRECTIVE: Final = pattern(
    r"\s*(?:[\w-]+ .*;|\"?[@\w][^\s:]*@\S+:|\"?[\w@/.-]+\"?,? \"[^\"]+\"|\s+[\w-]+ \S+|\s+[\w./-]+ v\d\S*)$"
)
REMARKED: Final = pattern(r"[#;]+ ?[\w.-]+ ?=|#[A-Za-z][\w-]*[: ] ?[\w/.\"-]+$", starts="#;")
SETTING: Final = pattern(r"\s*[\w.-]+ ?= ?\S*$", needs=("=",))
XML: Final = pattern(
    r"\s*<(?:\?xml\b|!DOCTYPE (?!html)|[A-Za-z][\w:.-]*(?:\s+[\w:.-]+\s*=\s*[\"'][^\"'<>]*[\"'])*\s*/?>)"
)
PINNED: Final = pattern(  # what is installed in which version
    r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])? ?(?:[=~><!]=|===) ?\S+.*$|\S+ v\S+ h1:\S+$"
)
TIGHT: Final = pattern(r"[A-Za-z][\w.-]*:\S*$")
DOCKER: Final = pattern(
    r"(?:FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|EXPOSE|CMD|ENTRYPOINT|LABEL|USER|VOLUME|HEALTHCHECK|SHELL|ONBUILD) \S",
    starts="ACEFHLORSUVW",
)
COMMIT: Final = pattern(r"commit [0-9a-f]{40}\b", starts="c")
ONE_LINE_COMMIT: Final = pattern(r"(?=[0-9a-f]*[0-9])[0-9a-f]{7,12} \S")
EXCHANGE: Final = pattern(r"[*<>{}] |[*<>{}]$", starts="*<>{}")  # curl -v
WORDS: Final = pattern(
    r"[\w/*.@:=-]+[ \t]+[^\s.,;:(){}]\S*(?:[ \t]+[^\s(){};]+){0,7}[ \t]*(?:#.*)?$"
)  # sshd_config, fstab
BELOW: Final = pattern(r"\s+\S+$|\s+\S+ \(.*\)$|\s+\S+ +https?://\S+ .*|\s+\S+ \d+$")
NO_CONFIG: Final = pattern(r"\s*(?:usage: |commit [0-9a-f]{40}\b)", flags=re.ASCII | re.IGNORECASE)
PROSE: Final = pattern(r"\s*(?:[^\s:=]+ ){7,}\S+")
SEVERAL: Final = either(
    bare(r"\w[\w ]*:[^\n]* {2}\w+: ", needs=("  ",)), bare(r"\w[\w ]*:[^\n]*\t\w+: ", needs=("\t",))
)
SPREAD: Final = either(bare(r"\d+: \w"), bare(r"\S+:\s+(?:\S+ {2,}){2,}\S", needs=("  ",)))
BLOCK_TEXT: Final = pattern(r".*[:-] +[|>][-+]?\d?$")
