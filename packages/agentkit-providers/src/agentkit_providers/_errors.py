"""Failures as providers tell them: an HTTP answer or an error inside a stream, classified.

What a provider says in a code goes before its HTTP status, and words come last: a bad key is
400 at some, an empty account 429 at others. Pure, and the same for all protocols.

    said in                 decides
    code, type, reason      `_KIND_OF_WORD`, unless it only says "invalid request"
    message                 context overflow, empty account, content filter, key
    status                  `_KIND_OF_STATUS`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agentkit_core import FailureKind, JsonValue, ProviderFailure
from agentkit_providers._context_length import overflow_counts, says_context_overflow
from agentkit_providers._error_body import ErrorFacts, facts_of_body, facts_of_json
from agentkit_providers._retry_after import retry_after_s

RETRYABLE_KINDS: Final = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.STREAM_CUT,
    }
)
"""Kinds after which the same request may succeed."""

_KIND_OF_WORD: Final[Mapping[str, FailureKind]] = {
    word: kind
    for kind, words in {
        FailureKind.CONTEXT_LENGTH: (
            "contextlengthexceeded contextwindowexceeded modelcontextwindowexceeded "
            "requesttoolarge exceedcontextsizeerror exceededcontextsizeerror promptistoolong "
            "tokenslimitreached inputtoolong"
        ),
        FailureKind.BILLING: (
            "insufficientquota insufficientbalance insufficientcredits insufficientfunds "
            "insufficientuserquota billinghardlimitreached billingnotactive billingerror "
            "paymentrequired exceededcurrentquotaerror arrearage creditsexhausted "
            "monthlyusagelimitreached"
        ),
        FailureKind.RATE_LIMIT: (
            "ratelimitexceeded ratelimiterror ratelimitreached ratelimited ratelimit "
            "toomanyrequests resourceexhausted throttling throttlingexception "
            "throttlingratequota throttlingallocationquota limitrequests ratelimitreachederror "
            "tokensperminutelimitexceeded requestsperminutelimitexceeded tokensusageexceeded"
        ),
        FailureKind.OVERLOADED: (
            "overloadederror overloaded engineoverloaded engineoverloadederror serveroverloaded "
            "modeloverloaded serviceunavailable serviceunavailableerror unavailable slowdown "
            "capacityexceeded nocapacity modelnotready modelloading insufficientsystemresource"
        ),
        FailureKind.AUTH: (
            "invalidapikey incorrectapikey apikeyinvalid authenticationerror "
            "invalidauthentication invalidauthenticationerror unauthorized unauthenticated "
            "permissionerror permissiondenied permissiondeniederror accessdenied "
            "accessdeniedexception forbidden invalidtoken expiredtoken unrecognizedclientexception "
            "accountdeactivated autherror"
        ),
        FailureKind.NOT_FOUND: (
            "modelnotfound notfounderror notfound deploymentnotfound invalidmodel unknownmodel "
            "modelnotexist modelnotavailable resourcenotfound resourcenotfoundexception "
            "modelnotsupported nosuchmodel unknownurl"
        ),
        FailureKind.CONTENT_FILTER: (
            "contentfilter contentpolicyviolation contentpolicy responsibleaipolicyviolation "
            "datainspectionfailed moderationblocked contentmoderation safety prohibitedcontent "
            "contentfiltered sensitive inputmoderation"
        ),
        FailureKind.TIMEOUT: "timeout timeouterror requesttimeout deadlineexceeded gatewaytimeout",
        FailureKind.SERVER: (
            "servererror internalservererror internalerror internal apierror networkerror "
            "internalfailure internalserverexception backenderror upstreamerror providererror"
        ),
    }.items()
    for word in words.split()
}
"""Codes, types and reasons without case and punctuation; those that say little are left out."""

_KIND_OF_STATUS: Final[Mapping[int, FailureKind]] = {
    401: FailureKind.AUTH,
    402: FailureKind.BILLING,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    407: FailureKind.AUTH,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    410: FailureKind.NOT_FOUND,
    413: FailureKind.CONTEXT_LENGTH,
    425: FailureKind.OVERLOADED,
    429: FailureKind.RATE_LIMIT,
    451: FailureKind.CONTENT_FILTER,
    498: FailureKind.OVERLOADED,  # Groq: no flex capacity
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    522: FailureKind.TIMEOUT,
    524: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}

_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_KEY_WORDS: Final = re.compile(
    r"(?:incorrect|invalid|missing|no|wrong|expired|valid)\W+(?:api|auth\w*|access)\W*(?:key|token)"
    r"|api key not (?:valid|found)|unauthori[sz]ed",
    re.IGNORECASE,
)
_BILLING_WORDS: Final = re.compile(
    r"insufficient (?:quota|balance|credit|fund)|out of (?:credits?|budget)|credit balance"
    r"|(?:exceeded|check) your (?:current )?(?:quota|plan)|available balance|billing"
    r"|(?:monthly|weekly) (?:usage|spend\w*) limit|requires more credits|payment required"
    r"|quota exceeded",
    re.IGNORECASE,
)
_WAIT_WORDS: Final = re.compile(
    r"rate[- _]?limit|per[- ]?(?:minute|second|hour|day)|too many requests|try again (?:in|later)"
    r"|retry (?:in|after)",
    re.IGNORECASE,
)
_FILTER_WORDS: Final = re.compile(
    r"content (?:management )?(?:policy|filter)|flagged|moderation|safety (?:system|polic)",
    re.IGNORECASE,
)
_MODEL_WORDS: Final = re.compile(
    r"(?:not a valid|invalid|unknown|no such) model"
    r"|model\b[^.]{0,80}?\b(?:does not exist|not found)",
    re.IGNORECASE,
)
_OVERLOADED_WORDS: Final = re.compile(
    r"overloaded|at capacity|temporarily unavailable", re.IGNORECASE
)
_REQUEST_IDS: Final = (
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-amzn-requestid",
    "cf-ray",
)


def classify_http(
    status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
) -> ProviderFailure:
    """Say what an HTTP answer that is no success means.

    Args:
        status: The HTTP status.
        headers: The response's headers, names in any case.
        body: The body as far as it was read; may be empty, cut, or no JSON.
        now_s: Seconds since 1970, to read waits that are told as a moment; without it they
            are read by the response's own `date` header, if it has one.

    Returns:
        The failure. `retryable` follows `x-should-retry` where the provider sends it. Keys
        that the body repeats are still in it: see `scrubbed`.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    facts = facts_of_body(body)
    failure = _failure(facts, status, lower, now_s)
    request_id = next((lower[name] for name in _REQUEST_IDS if lower.get(name)), None)
    advised = lower.get("x-should-retry", "").strip().lower()
    return replace(
        failure,
        status=status,
        message=facts.message or f"the provider answered with HTTP status {status}",
        retryable=advised == "true" if advised in ("true", "false") else failure.retryable,
        request_id=request_id or facts.request_id,
    )


def classify_error(
    error: JsonValue, *, status: int | None = None, now_s: float | None = None
) -> ProviderFailure:
    """Say what an error inside a stream, or inside a body with a good status, means.

    Args:
        error: The error as JSON: the event that holds it, its error object, or a text.
        status: A status that is known from elsewhere; by default the error's own, if it names
            one. It helps to classify and is not kept, for the HTTP status was a good one.
        now_s: As for `classify_http`.
    """
    facts = facts_of_json(error, raw=error)
    failure = _failure(facts, facts.status if status is None else status, {}, now_s)
    if facts.message:
        return failure
    return replace(failure, message="the provider sent an error without a message")


def _failure(
    facts: ErrorFacts, status: int | None, headers: Mapping[str, str], now_s: float | None
) -> ProviderFailure:
    wait = retry_after_s(headers, facts.error, facts.message, now_s=now_s)
    kind = _kind(facts, status, told_to_wait=wait is not None)
    tokens, limit = facts.tokens, facts.token_limit
    if kind is FailureKind.CONTEXT_LENGTH:
        said_tokens, said_limit = overflow_counts(facts.message)
        tokens = said_tokens if tokens is None else tokens
        limit = said_limit if limit is None else limit
    return ProviderFailure(
        kind=kind,
        message=facts.message,
        retryable=kind in RETRYABLE_KINDS,
        retry_after_s=wait,
        code=facts.code,
        type=facts.type,
        param=facts.param,
        request_id=facts.request_id,
        tokens=tokens,
        token_limit=limit,
        raw=facts.raw,
    )


def _kind(facts: ErrorFacts, status: int | None, *, told_to_wait: bool) -> FailureKind:
    said = facts.message
    if status == 413:
        return FailureKind.CONTEXT_LENGTH  # some add a rate limit's code, but waiting is no help
    for word in facts.words:
        known = _KIND_OF_WORD.get(_NOT_ALPHANUMERIC.sub("", word.lower()))
        if known is not None:
            # Several say "server error" or "forbidden" of what their message knows better.
            return _by_words(said, status) or known if known in _VAGUE else known
    if status == 429 and (told_to_wait or _WAIT_WORDS.search(said)):
        return FailureKind.RATE_LIMIT
    return _by_words(said, status) or _by_status(status)


_VAGUE: Final = frozenset({FailureKind.SERVER, FailureKind.AUTH})


def _by_words(said: str, status: int | None) -> FailureKind | None:
    if status != 429 and says_context_overflow(said):
        return FailureKind.CONTEXT_LENGTH
    if status in (None, 400, 402, 403, 429) and _BILLING_WORDS.search(said):
        return FailureKind.BILLING
    if status in (None, 400, 403, 422) and _FILTER_WORDS.search(said):
        return FailureKind.CONTENT_FILTER
    if status in (None, 400) and _KEY_WORDS.search(said):
        return FailureKind.AUTH
    if status in (None, 400, 422) and _MODEL_WORDS.search(said):
        return FailureKind.NOT_FOUND
    if status is None and _WAIT_WORDS.search(said):
        return FailureKind.RATE_LIMIT
    if (status is None or status >= 500) and _OVERLOADED_WORDS.search(said):
        return FailureKind.OVERLOADED
    return None


def _by_status(status: int | None) -> FailureKind:
    if status is None:
        return FailureKind.SERVER
    known = _KIND_OF_STATUS.get(status)
    if known is not None:
        return known
    return FailureKind.SERVER if status >= 500 else FailureKind.INVALID_REQUEST


def scrub(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text, as they are and as they stand in URLs.

    Args:
        text: Anything that people or logs will see.
        secrets: Keys and tokens; empty ones do nothing.
    """
    spellings = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""))}
    # The longest first: one secret may begin with another.
    for spelling in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelling, "[secret]")
    return text


def scrubbed(failure: ProviderFailure, secrets: Iterable[str]) -> ProviderFailure:
    """Take secrets out of everything that a failure says."""
    known = tuple(secrets)

    def clean(text: str | None) -> str | None:
        return None if text is None else scrub(text, known)

    return replace(
        failure,
        message=scrub(failure.message, known),
        code=clean(failure.code),
        type=clean(failure.type),
        param=clean(failure.param),
        request_id=clean(failure.request_id),
        raw=_scrubbed_json(failure.raw, known),
    )


def _scrubbed_json(value: JsonValue, secrets: tuple[str, ...]) -> JsonValue:
    match value:
        case str():
            return scrub(value, secrets)
        case list():
            return [_scrubbed_json(one, secrets) for one in value]
        case dict():
            return {
                scrub(name, secrets): _scrubbed_json(one, secrets) for name, one in value.items()
            }
        case _:
            return value
