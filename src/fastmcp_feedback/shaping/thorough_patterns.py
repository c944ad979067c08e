"""How texts that are failures begin: the patterns of the text rules as data.

Alternatives of one rule stand in a tuple; `{NAME}` is filled in from `_WORDS`. Repetitions are bounded: a text is anything.
"""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final[dict[str, str]] = {
    "VERB": (
        "access|acquire|add|allocate|append|apply|attach|authenticate|authorize|bind|build|call|change|clone|close|commit|compile|complete"
        "|compute|configure|connect|continue|convert|copy|create|decode|decrypt|delete|deploy|deserialize|detect|determine|display|download"
        "|edit|encode|establish|evaluate|execute|export|extract|fetch|find|generate|get|handle|identify|import|init|initialize"
        "|insert|install"
        "|invoke|launch|list|load|locate|lock|log in|login|look up|lookup|make|merge|modify|mount|move|navigate|obtain|open|parse|perform"
        "|post|proceed|process|publish|pull|push|query|reach|read|recognize|reconnect|refresh|register|remove|rename|render"
        "|reopen|replace|resolve"
        "|restart|restore|retrieve|rollback|run|save|schedule|search|select|send|set|sign|spawn|start|stat|stop|store|submit"
        "|subscribe|switch"
        "|sync|truncate|understand|unlock|unmarshal|update|upload|use|validate|verify|write"
        "|be (?:[a-z]{2,20}ed|found|read|sent|set|run|built|made|written|bound)"
    ),
    "TOPIC": "(?!handling|logging|reporting|tracking|monitoring|checking|correcting|catching|tracing|detecting|budgeting)",
    "CODE": (
        r"(?!(?:[Nn]o|throw|raise|return|new|import|from|class|def|function|const|let|var|if|except|catch|public|private|try|print|log"
        r"|assert)\b|error [A-Z]{1,4}\d{3,5}:)"
    ),
    "OBJECTION": (
        "(?:argument|parameter|param|input|value|request|response|token|credential|api key|key|password|session|path|url|uri|json|query"
        "|command|option|syntax|format|id|name|date|type|field)"
    ),
    "REASON": (
        "(?:bad request|unauthori[sz]ed|payment required|forbidden|not found|method not allowed|not acceptable|request time-?out|conflict"
        "|gone|payload too large|unsupported media type|unprocessable (?:entity|content)|too many requests|internal server error"
        "|not implemented|bad gateway|service unavailable|gateway time-?out|client error|server error)"
    ),
    "SAID_NO": (
        "(?:access (?:is )?denied|permission denied|operation not permitted"
        "|not (?:authori[sz]ed|authenticated|allowed|permitted|logged in)"
        "|authentication (?:is )?(?:required|failed)|authori[sz]ation (?:is )?(?:required|failed)|login required|invalid credentials"
        "|(?:api )?rate.limit(?:ed| exceeded| reached| hit)|quota exceeded|too many requests"
        "|connection (?:refused|reset|timed out|closed (?:by|unexpectedly|before)|lost|aborted)|(?:browser|target|page"
        "|session)[\\w ,]{0,40} has been"
        " closed|insufficient (?:permissions?|privileges|rights|scopes?|access|funds|credits?|balance|quota|memory|space|disk space)"
        "|blocked command|cancell?ed(?=[.!]?$)|attempt to write a readonly database|file is not a database|merge conflict"
        "|conflict(?=: )|refused(?=: )"
        "|rejected(?=: )|(?:context length|max\\w{0,4} \\w{1,20}) exceeded"
        "|(?:request |operation |connection |command |query |execution )?timed? ?out|deadline exceeded|out of memory|disk full"
        "|no space left on device|command not found|service (?:temporarily )?unavailable|internal server error|internal error|bad gateway"
        "|gateway time-?out|bad request|unauthori[sz]ed|forbidden|not found|not implemented|read-?only mode|aborted|unexpected token"
        "|no such (?:file|table|column|key|index|bucket|user|host|container|image|object|entity|tool|method|function|directory|database"
        "|module)"
        "|(?:file|page|resource|record|object|user|tool|endpoint|route|path|key|item|entity|document|table) (?:was )?not found)"
    ),
    # What may follow such a phrase when it is the message and not the subject of a sentence.
    "AFTER": (
        r"(?!\s?:\s?(?:no|yes|true|false|none|\d))(?=[.!:;,\])]|\s{0,3}$| ?\n| [-\u2013\u2014(\"'`{]| (?:for|to|by|on|in|with"
        r"|from|at|when|because|due|while|after|during|waiting"
        r"|or|and|error|exception)\b)"
    ),
    "IDENTIFIER": (
        r"(?:(?:the )?(?:given |specified |provided )?(?:id|pid|name|key|address|uuid|index|number|selector|email|username|slug|title|path"
        r"|label|role|ref|uid|handle|symbol|code)\b|[\"'`#\d])"
    ),
    # One thing that is not there was asked for by name; several (`no files`) are an empty answer.
    "NO_ONE": (
        r"no (?:(?!found\b|for\b|with\b|match)[\w-]{1,20} ){0,2}(?!(?:found|for|with|at|by|matching|data|output|content|information|result"
        r"|match|change|news|text|history|activity)\b)[\w-]{0,20}[a-rt-z]"
    ),
    "NOUN": r"[\w .'\"`/\[\]-]{1,80}?",
    "INVALID": "(?:invalid|unsupported|unknown|unrecogni[sz]ed|unexpected|illegal|malformed|missing|duplicate|ambiguous)",
    "SECRET": r"(?:variable|key|token|password|secret|credentials?|config\w{0,8})",
}

# Signs that are sure wherever a text begins with them. Letter case counts unless a part says otherwise.
STRONG: Final[dict[str, tuple[str, ...]]] = {
    "text_traceback": (
        r"Traceback \(most recent call last\)",
        r"Exception in thread |Unhandled (?:exception|rejection|error)|Uncaught \w|panic: |thread '[^'\n]{1,60}' panicked",
        r"Segmentation fault|Stack trace:|npm ERR!|goroutine \d+ \[",
    ),
    "text_error": (
        (
            r"{CODE}(?:[\w.$]{0,120}(?:Error|Exception|Interrupt|Fault)|(?:[\w'/-]{1,30} ){0,3}(?i:error|exception)"
            r"|(?i:err|fatal|critical|severe|failure|fault))"
            r"(?: ?(?i:code|number|no\.?)?[ #]?[\w.-]{1,12}\d)?(?: ?\([^)\n]{1,80}\)| ?\[[^\]\n]{1,80}\])?[*_\]`]{0,3} {0,2}"
            r"(?::|!|$|\n|- |\u2013 |\u2014 )"
        ),
        r"(?:(?:Invalid|NoSuch|Missing)[A-Z]\w{2,60}|[A-Z][a-z]\w{2,60}(?:NotFound|Denied|Exceeded|Expired|Throttled|Unavailable)): ",
        r"CONFLICT \(|(?:[\w-]{1,20} ){0,4}returned an error\b",
        r"(?i:error [345]\d\d\b|error (?:response )?from (?:server|daemon))",
    ),
    "text_error_doing": (
        r"(?i:an? (?:\w{1,20} ){0,3}(?:error|exception|failure) (?:has )?(?:occurred|happened|was (?:raised|thrown|encountered)))",
        r"(?i:(?:\w{1,20} ){0,2}(?:error|exception) occurred\b)",
        r"(?i:(?:\w{1,20} ){0,2}(?:error|exception) (?:while|when|during|in|at|from|on line|{TOPIC}\w{2,20}ing)) [^\n]{1,200}",
        r"(?i:something went wrong|oops|sorry, (?:an error|something|i (?:could not|couldn't|cannot|can't|was unable|am unable)))\b",
    ),
    "text_failed": (
        r"(?:F|f)ailed (?:to|while|during) [a-z][^\n]|FAILED[:!]|(?i:failed):|(?i:failed (?:with|because|due to) )",
        (
            r"(?:[A-Z][\w'-]{0,30}|[a-z][\w-]{1,30})(?: [\w'/.-]{1,30}){0,4} (?i:has |have )?(?:failed|FAILED|Failed)"
            r"(?: (?:with|for(?! \d)|to|because|due|after|on|in|as)\b| ?[:(!\u2013\u2014-]|\.? *$|\. )"
        ),
    ),
    "text_unable": (
        (
            r"(?i:(?:we |i |sorry,? |the \w{1,20} )?(?:unable to|could not|couldn't|cannot|can't|can not|was not able to|were unable to"
            r"|not able to)) (?:{VERB})\b(?! \w{2,20}ing\b)[^\n]"
        ),
    ),
    "text_errno": (
        (
            r"E(?:NOENT|ACCES|PERM|EXIST|ISDIR|NOTDIR|NOTEMPTY|MFILE|NFILE|PIPE|INVAL|BUSY|CONN\w{3,10}|TIMEDOUT|ADDRINUSE|NOTFOUND"
            r"|AI_\w{3,10}|HOSTUNREACH|NETUNREACH|NOSPC|ROFS|LOOP|XDEV)\b"
        ),
        r"Errno -?\d{1,5}\]|ORA-\d{5}: |(?:WRONGTYPE|NOAUTH|NOPERM|MOVED|CLUSTERDOWN|READONLY|MISCONF|NOSCRIPT|OOM) \w",
    ),
    "text_http": (
        r"(?i:http)(?:/\d(?:\.\d)?)?(?i: error| status)?(?i: code)?[ :]{1,2}[45]\d\d\b",
        r"[45]\d\d[ :-]{1,3}(?i:{REASON})\b",
        r"(?i:(?:request|call|fetch|query) (?:failed|error) (?:with )?(?:status )?(?:code )?[45]\d\d|status(?: code)?:? 5\d\d)\b",
        r"(?i:(?:[\w-]{1,20} ){0,4}(?:returned|received|got)(?: an?)?(?: http)?(?: status)?(?: code)? [45]\d\d\b|status code [45]\d\d$)",
        r"(?i:(?:client|server) error '[45]\d\d|server error: 5\d\d)",
    ),
    "text_network": (
        r"(?:[\w.]{1,40}: )?(?:net::ERR_|NS_ERROR_)\w",
        (
            r"(?:getaddrinfo|connect|read|write|dial tcp|lookup) (?:E[A-Z_]{4,20}|[^\n]{1,80}: (?:i/o timeout|connection refused"
            r"|no such host))"
        ),
        (
            r"(?i:socket hang up|self.signed certificate|ssl: |certificate verify failed|(?:certificate"
            r"|unable to verify)[^\n]{0,40}(?:expired|verify))"
        ),
        r"(?i:max retries exceeded|https?connectionpool\(|request to [^\s]{1,300} failed|fetch failed)",
        r"(?i:(?:host|network|device|server) (?:is )?(?:unreachable|offline))(?=[.:!]|$)",
    ),
    "text_exit": (
        (
            r"(?i:[^\n]{0,120}?\b(?:exit(?:ed)?(?: with)?(?: non-zero)?(?: exit)? (?:code|status)|returned(?: non-zero)?(?: exit)?"
            r" (?:code|status)|return code)[:= ]{1,3}-?[1-9]\d{0,4})\b"
        ),
    ),
    "text_shell": (
        (
            r"[a-z/.][\w./-]{0,60}: (?:(?:line )?\d{1,6}: )?(?:[^\n:]{1,200}: )?(?:(?i:command not found|not found$"
            r"|no such file or directory"
            r"|permission denied|cannot \w|is a directory|not a directory|invalid option|unrecognized option|unknown command"
            r"|operation not permitted|connection refused|could not resolve|syntax error)|(?:fatal )?error: )"
        ),
        r"curl: \(\d{1,3}\) |E: \w",
    ),
    "text_markup": (
        r"(?i:(?:\?xml[^\n>]{0,80}>\s{0,4}<)?(?:(?:tool_use_)?error|fault|exception)>)",
        (
            r"(?i:(?:!doctype html[^>]{0,80}>\s{0,4}<)?html[^>]{0,80}>\s{0,4}(?:<head[^>]{0,40}>\s{0,4})?<title>\s{0,4}"
            r"(?:[45]\d\d\b|error\b))"
        ),
    ),
}

# The same for texts that are short enough to be one message; letter case does not count.
SHORT: Final[dict[str, tuple[str, ...]]] = {
    "text_refused": (
        "{SAID_NO}{AFTER}",
        (
            r"(?:you (?:do not|don't) have (?:permission|access|the)|please (?:authenticate|connect|log ?in|sign in)|refusing to"
            r"|(?:denied|blocked) by)\b"
        ),
        (
            r"(?:the )?(?:operation|request|action|call|command) (?:was |has been )?"
            r"(?:cancell?ed|aborted|denied|rejected|declined|interrupted|blocked)\b"
        ),
        r"(?:declined|rejected|refused|denied|cancell?ed|blocked|timeout)\]",
        r"only [\w /'\"-]{1,60} (?:is|are) (?:allowed|supported|permitted|accepted)\b",
        r"(?:[\w.]{1,40}: )?timeout (?:(?:of )?\d{1,9} ?m?s )?exceeded",
        r"[\w .'\"`/-]{1,60} (?:could not|cannot|can't) be (?:[a-z]{2,20}ed|found|read|sent|set|run|built|made|written)(?:[.!:]|$)",
        r"(?:[\w-]{1,20} ){0,5}not available(?: (?:in|on|for) (?:this|your|the)\b|[.!]?$)",
    ),
    "text_invalid": (
        (
            r"(?:{INVALID}|bad|incorrect|wrong|empty|expired) (?:or \w{1,20} )?(?:required )?(?:[\w'/.-]{1,30} ){0,3}?{OBJECTION}s?\b"
            r"(?! (?:is|are|was|were) (?:an?\b|\w{3,20}ed\b))(?! rate|s?: \d+$)(?:[^\n]|$)"
        ),
        (
            r"{INVALID}(?! [^\n]{0,40}\b(?:is|are|was|were|has|have)\b) (?:[\w'/.-]{1,30} ){0,3}?[\w'/.-]{1,30}"
            r"(?::(?! ?\d+\W{0,2}$)|!| [\"'`{]| for | - |; )"
        ),
        r"(?:invalid|unsupported|unrecogni[sz]ed|unexpected|illegal|malformed|unknown) [\w'/.-]{1,30}(?:\.|, )",
        r"(?:invalid|unsupported|unrecogni[sz]ed|malformed|unexpected) (?:[\w'/-]{1,30} ){0,2}[\w'/-]{1,30}\.?$",
        r"(?:near [\"'`]?[^\n]{0,80}: )?(?:syntax|parse) error\b|(?:please )?(?:provide|specify) (?:either|a|an|at least|the) \w",
        r"\d{1,4} validation errors? for \w|expected [^\n]{1,80}(?:,| but) (?:got|received|found)\b",
        r"duplicate key value|[^\n]{0,100}\bviolates [\w -]{1,30} constraint\b",
    ),
    "text_required": (
        (
            r"(?!(?:you|we|they|he|she|i)\b){NOUN} must (?:be (?:greater|less|at least|at most|between|one of|positive|non-|unique"
            r"|specified|provided|set to|either|under"
            r"|inside|within|relative|absolute|>|<|=|\d|in (?:the )?(?:format|range)|an? (?:valid|positive|non|number|string|list|dict|json"
            r"|array|integer|object|float|boolean|path|url|date|file|directory|uuid|multiple))"
            r"|not (?:be (?:empty|null|none|negative|blank|zero|greater|less|larger)|contain|exceed|start)"
            r"|match|start with|end with|contain|include|have (?:a|an|at)\b)"
        ),
        (
            r"[\"'`]?[\w.\[\]-]{1,40}[\"'`]?(?: (?:argument|parameter|param|field|property|key|value|id|name|path|url))? (?:is|are)"
            r" (?:required|mandatory)(?:[.!,;]|$| when\b| if\b| for (?:this|the|action|operation)\b)"
        ),
        (
            r"[\w .'\"`-]{0,60}\b(?:key|token|arguments?|parameters?|fields?|id|name|query|url|path|input|credentials?|configuration)"
            r" (?:is|are) required\b(?!:)"
        ),
        (
            r"{NOUN} (?:cannot|can't|may not|must not|should not) be (?:empty|null|none|blank|negative|zero|less|greater|used|larger|both"
            r"|the same|longer)\b"
        ),
        (
            r"{NOUN} should be (?:an?|one of|between|at|greater|less|in)\b [^\n]{0,60}"
            r"(?:number|string|list|integer|format|range|characters|\d|,)"
        ),
        r"{NOUN} (?:is|are) (?:not valid|not a valid|out of range|too (?:long|large|short|big|small|many))\b",
        (
            r"[\w.'\"`-]{1,40} (?:is|are) (?:invalid|missing)(?:[.!:]|$)|(?:the |your )?(?:api )?(?:key"
            r"|token) (?:is )?(?:invalid|missing|expired)\b"
        ),
        r"(?:field required|value error, |too few arguments|not enough arguments|path (?:is outside|traversal))",
        r"(?![a-z]{1,3}\d)[\w.'\"`-]{1,30}(?: [\w.'\"`-]{1,30})? too (?:large|long|big|many|short)(?:[.!:(]|$| \()",
        r"{NOUN} exceeds? (?:the )?(?:max|limit|allowed|size)",
    ),
    "text_not_ready": (
        (
            r"(?!no\b)[\w .'\"`/-]{1,80}? (?:(?:is|are|was|were|has|have) )?not (?:yet )?(?:been )?(?:initiali[sz]ed|connected|configured"
            r"|installed|loaded|supported|authenticated|authori[sz]ed|logged in|allowed|permitted|implemented|recogni[sz]ed|registered"
            r"|reachable|accessible|enough|attached|writable|readable|mounted)\b(?! by )"
        ),
        r"not (?:initiali[sz]ed|connected|configured|installed|supported|implemented|logged in)\b",
        r"[\w .'\"`/-]{0,80}?\b{SECRET} (?:is |are )?not (?:set|provided|found|given|specified)\b",
    ),
    "text_absent": (
        (
            r"(?!no\b|0 |skip)(?![^\n]{0,200}\bskip)[\w .'\"`/@#()\\-]{1,160}? (?:(?:was|is|were|could|can|does|did|do) )?"
            r"(?:not (?:be )?found|does ?n[o']t exist|not exist|no longer exists?|is (?:gone|closed|locked|disabled|unavailable|offline)"
            r"|already exists|(?:has |is )?expired|timed out)(?:[.!:,;)]|$| in | at | for | with | on | \()"
        ),
        (
            r"no (?:active|open|current|valid|existing|such|suitable|running|connected|available) (?:(?!found\b)[\w-]{1,20} ){0,2}"
            r"(?!found\b)[\w-]{0,20}[a-rt-z](?: found| available| selected| exists?|[.!:]|$| for | with | to | at )"
        ),
        r"{NO_ONE} (?:found |exists |exist |available )?(?:for|with|at|named|called|by|matching) {IDENTIFIER}",
        (
            r"{NO_ONE} (?:is |was |has been )?(?:open|opened|selected|loaded|active|connected|configured|set|initialized|attached"
            r"|registered)(?:[.!:,]|$)"
        ),
        r"no (?:api keys?|credentials|access token|token|configuration|config|project|workspace) found\b(?! (?:matching|in))",
        r"no [\w-]{1,30} (?:named|called) \w",
        r"no (?:(?!found\b)[\w-]{1,20} ){1,4}(?:was |were )?(?:provided|specified|given|supplied)(?:[.!:,]|$)",
    ),
    "text_python": (
        r"[^'\n]{1,80}' object (?:has no attribute|is not)\b|\w{1,20} object has no attribute",
        r"(?:float |integer )?division (?:or modulo )?by zero|\w{1,10} (?:index|assignment index) out of range",
        (
            r"name '[^'\n]{1,60}' is not defined|invalid literal for|could not convert|not enough values to unpack"
            r"|too many values to unpack|unhashable type"
        ),
        r"maximum recursion depth|unsupported operand|[\w.]{1,60}\(\) (?:missing|takes|got an unexpected)\b",
        r"cannot read propert(?:y|ies) of|undefined is not|\w{1,40} is not a function$",
    ),
}


def compiled(patterns: dict[str, tuple[str, ...]], flags: re.RegexFlag) -> dict[str, re.Pattern[str]]:
    """One expression for each rule."""
    return {rule: re.compile("|".join(_filled(part) for part in parts), flags) for rule, parts in patterns.items()}


def _filled(part: str) -> str:
    for name, words in _WORDS.items():
        part = part.replace("{" + name + "}", words)
    return part
