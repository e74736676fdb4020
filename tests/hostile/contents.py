"""Texts that would run, break out, pretend or hide, if a page showed them as anything but text.

Each has a marker, `zq`, a place, a number and `qz`: a tag or an attribute with one was made by a text.
"""

import re
from dataclasses import dataclass

MARKER = re.compile(r"zq[a-z]+\d+qz")
# What a script of theirs would call; a browser test defines it.
HOOK = "ran"
ELSEWHERE = "https://elsewhere.invalid"

# Named after the way out that each tries. `@@` becomes the marker.
TEMPLATES: dict[str, str] = {
    # Scripts
    "script": "<script>ran('@@')</script>",
    "script case": "<ScRiPt/@@>ran('@@')</sCrIpT >",
    "script in script": "<scr<script>ipt>ran('@@')</scr</script>ipt>",
    "script of another host": f"<script src={ELSEWHERE}/@@.js></script>",
    "script after title": "</title><script>ran('@@')</script>",
    "script after textarea": "</textarea><script>ran('@@')</script>",
    "script after option": "</option></select><script>ran('@@')</script>",
    "script after pre": "</pre></div></main><script>ran('@@')</script>",
    "script after style": "</style><script>ran('@@')</script>",
    "script after noscript": "<noscript><p title='</noscript><script>ran(`@@`)</script>'>",
    "end of a comment": "--><script>ran('@@')</script><!--",
    "cdata": "<![CDATA[<script>ran('@@')</script>]]>",
    "entities": "&lt;script&gt;ran('@@')&lt;/script&gt; &#60;script&#62;ran('@@')&#60;/script&#62;",
    "escaped twice": "%3Cscript%3Eran('@@')%3C/script%3E \\u003cscript\\u003eran('@@')\\u003c/script\\u003e",
    "UTF-7": "+ADw-script+AD4-ran('@@')+ADw-/script+AD4-",
    # Elements with handlers
    "image": "<img src=x onerror=ran('@@')>",
    "image without space": "<img/src=x/onerror=ran('@@')//@@",
    "unclosed image": "<img src=x onerror=ran('@@') @@",
    "broken quotes of an image": "<img \"\"\"><img src=x onerror=ran('@@')>\">",
    "details": "<details open ontoggle=ran('@@')><summary>@@</summary></details>",
    "focus": "<input autofocus onfocus=ran('@@') class=@@>",
    "animation": "<p onanimationstart=ran('@@') style=animation-name:@@>",
    "frame": "<iframe srcdoc=\"<script>parent.ran('@@')</script>\"></iframe>",
    "object": "<object data=\"data:text/html,<script>ran('@@')</script>\"></object><embed src=javascript:ran('@@')>",
    "form": f"<form action={ELSEWHERE}/@@><button formaction=javascript:ran('@@')>@@</button></form>",
    "base": f"<base href={ELSEWHERE}/@@/>",
    "refresh": f"<meta http-equiv=refresh content=\"0;url={ELSEWHERE}/@@\">",
    "style sheet": f"<link rel=stylesheet href={ELSEWHERE}/@@.css><style>@import '{ELSEWHERE}/@@';</style>",
    "cover of the page": "<div class=@@ style=\"position:fixed;inset:0;background:red\">@@</div>",
    # SVG and MathML
    "SVG": "<svg onload=ran('@@')></svg>",
    "SVG script": "<svg><script>ran('@@')</script><a xlink:href=javascript:ran('@@')><text>@@</text></a></svg>",
    "SVG animation": "<svg><animate onbegin=ran('@@') attributeName=x dur=1s></svg>",
    "SVG foreign object": "<svg><foreignObject><img src=x onerror=ran('@@')></foreignObject></svg>",
    "MathML": "<math><mtext><table><mglyph><style><img src=x onerror=ran('@@')></style></table></mtext></math>",
    # Out of attributes
    "double quotes": "\" onmouseover=\"ran('@@')\" autofocus onfocus=\"ran('@@')\" x=\"",
    "single quotes": "' onmouseover='ran(`@@`)' autofocus onfocus='ran(`@@`)' x='",
    "backquotes": "` onmouseover=ran('@@') x=`",
    "no quotes": "x onmouseover=ran('@@') class=@@",
    "end of an attribute": "\"><img src=x onerror=ran('@@')><p x=\"",
    "end of a tag": "/><img src=x onerror=ran('@@')><p",
    # Addresses
    "javascript": "javascript:ran('@@')",
    "javascript case": "  JaVaScRiPt:ran('@@')//",
    "javascript with control": "java\tscript:ran('@@')",
    "data": "data:text/html,<script>ran('@@')</script>",
    "data in base64": "data:text/html;base64,PHNjcmlwdD5yYW4oMSk8L3NjcmlwdD4= @@",
    "vbscript": "vbscript:ran('@@')",
    "host without scheme": "//elsewhere.invalid/@@",
    # Markdown
    "Markdown link": "[click here @@](javascript:ran('@@'))",
    "Markdown image": f"![@@]({ELSEWHERE}/@@.png)",
    "Markdown with HTML": "# @@\n\n<img src=x onerror=ran('@@')>\n\n> **<b onclick=ran('@@')>bold</b>**",
    "Markdown reference": "[@@][1]\n\n[1]: javascript:ran('@@') \"@@\"",
    "Markdown link out of quotes": f"<{ELSEWHERE}/\"onmouseover=ran('@@')>",
    # Templates and frameworks
    "Django template": "{{ request.user.password }}{% load static %}{% include 'admin/base.html' %}@@",
    "Jinja": "{{ ''.__class__.__mro__[1].__subclasses__() }} {{ 7*191 }} @@",
    "template literal": "${ran('@@')} `${ran('@@')}` #{ran('@@')} <%= ran('@@') %>",
    "Angular": "{{constructor.constructor('ran(`@@`)')()}}",
    "Alpine": "<div x-data=\"{ a: ran('@@') }\" x-init=\"ran('@@')\" x-html=\"'@@'\" x-text=\"ran('@@')\">@@</div>",
    "Alpine out of quotes": "\" x-data=\"@@\" x-init=\"ran('@@')\" @click=\"ran('@@')\" :class=\"'@@'\" x=\"",
    "Alpine event": "<button @click=\"ran('@@')\" x-on:click=\"ran('@@')\" x-data>@@</button>",
    "htmx": f"<div hx-get=\"{ELSEWHERE}/@@\" hx-trigger=load hx-on:load=\"ran('@@')\" hx-vals='js:{{a: ran(1)}}'>@@",
    "htmx out of quotes": "\" hx-get=\"/accounts/logout/?@@\" hx-trigger=\"load\" hx-on::load=\"ran('@@')\" x=\"",
    "htmx out of band": "<div id=\"mh-palette\" hx-swap-oob=\"true\" class=@@>@@</div>",
    # Scripts with data, styles
    "end of a script": "</script><script>ran('@@')</script>",
    "comment in a script": "<!--<script>ran('@@')",
    "JSON": "\"}];ran('@@');[{\"a\":\"",
    "JSON with line separators": "\u2028ran('@@')\u2029//",
    "backslashes": "\\\"; ran('@@'); //\\\\",
    "CSS": "red;background:url(//elsewhere.invalid/@@)}*{display:none}@@",
    "CSS expression": "</style><style>*{color:expression(ran('@@'))}",
    # Spreadsheets and headers
    "formula": "=HYPERLINK(\"https://elsewhere.invalid/@@\",\"@@\")",
    "formula with a command": "=cmd|' /C calc'!A0@@",
    "formula after spaces": "  \t=1+1@@",
    "formula with a plus": "+1+1@@",
    "formula with an at": "@SUM(1+1)@@",
    "formula in the next cell": "@@\",=1+1,\"\r\n=2+2",
    "header": "@@\r\nSet-Cookie: sessionid=@@\r\nX-@@: 1\r\n\r\n<script>ran('@@')</script>",
    "encoded header": "@@%0d%0aSet-Cookie:%20sessionid=@@",
    "line of a log": "@@\n2026-01-01T00:00:00Z INFO memoryhub all is well",
    # Unseen and moving characters
    "right-to-left override": "@@ \u202egnp.exe\u202c",
    "left-to-right override": "\u202d@@ \u05e9\u05dc\u05d5\u05dd",
    "embedding without end": "\u202b\u202a@@ (3 open)",
    "isolate without end": "\u2067@@ accepted by admin",
    "end of isolates": "\u2069\u2069\u202c\u202c@@",
    "marks of direction": "@@\u200e\u200f\u061c",
    "zero width": "z\u200bq\u200c \u2060@@\ufeff",
    "soft hyphen": "ad\u00admin @@",
    "joiners": "\u200d\u200d@@\u200d",
    "tags of Unicode": "@@" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all"),
    "variation selectors": "@@\ufe00\ufe0f\U000e0100",
    "fillers": "\u3164\u115f@@\uffa0\u2800",
    "annotation": "@@\ufff9a\ufffab\ufffb",
    "controls": "\x01\x02\x07\x08\x0b\x0c@@\x1b[31m\x1b]0;title\x07\x7f\x85\x9b",
    "unseen only, nearly": "\u200b" * 150 + "@@",
    "tower of marks": "@@" + "a" + "\u0301\u0316\u0334\u0489" * 40,
    "from right to left": "שלום 123 @@ مرحبا بكم",
    "emoji": "👩🏽‍🚀🏴‍☠️❤️‍🔥 @@ 🇩🇪",
    "homoglyphs": "аdmin pаypаl @@ Αna",
    "wide letters": "ａｄｍｉｎ @@ ＜script＞",
    "line separators": "@@\u2028\u2029\x85 next",
    "no characters": "@@\ufffe\uffff\U0001ffff",
    # Names
    "path": "../../../../etc/passwd@@",
    "path of Windows": "..\\..\\@@\\CON",
    "encoded path": "..%2f..%2f@@%00",
    "question mark": "@@?next=//elsewhere.invalid&user_id=ana#x",
    "percent": "%s %d %(name)s {0} {name} %@@ 100%",
    "spaces": "  @@   ana  ",
    "SQL": "'; DROP TABLE semantic_memory; --@@",
    "null": "null undefined NaN None True @@",
    "long word": "@@" + "W" * 180,
}  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """A text with a marker of its own. kind: the way out that it tries."""

    kind: str
    marker: str
    text: str


def contents_of(place: str) -> list[Hostile]:
    """Return all texts, with markers of a place: a short word of small letters."""
    return [
        Hostile(kind, marker, template.replace("@@", marker))
        for number, (kind, template) in enumerate(TEMPLATES.items())
        for marker in (f"zq{place}{number}qz",)
    ]


def long_line(place: str, characters: int = 1_000_000) -> str:
    """Return one line without a space, with markup in it."""
    marker = f"zq{place}999qz"
    return marker + (f"<img/src=x/onerror=ran('{marker}')>" * (characters // 20))[: characters - len(marker)]


# What no door takes, as JSON or as bytes: there is no text that it is.
UNSTORABLE_JSON = (r'"\u0000"', r'"a\ud800b"', r'"\udfff\ud800"')
UNDECODABLE = (b"\xff\xfe", b"\xc0\xae", b"\xed\xa0\x80", b"\xf5\x80\x80\x80")
