"""Security: checks of every request before the application sees it, and headers of every response."""

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .config import ViewerConfig

log = logging.getLogger(__name__)

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Middleware that checks Host, Origin and the token, limits the body, adds headers, and hides tracebacks.

    The Host check stops DNS rebinding: pages of another site whose name was made to point to this server. The Origin
    check stops requests that pages of other sites send from a visitor's browser. The token, which the printed address
    has and a cookie keeps, stops other users of the machine or the network.
    """

    def __init__(self, app: ASGIApp, config: ViewerConfig):
        self.app, self.config, self.max_bytes = app, config, config.max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message["headers"], *_encoded(HEADERS)]
            await send(message)

        refusal, body = self._refusal(scope), None
        if refusal is None and self._enters(scope):
            await self._admit(send_guarded)
            return
        if refusal is None:
            refusal = self._too_large()
            try:
                async with asyncio.timeout(self.config.read_seconds):
                    body = await _read_body(receive, self.max_bytes)
            except TimeoutError:
                refusal = 408, "A request must arrive as a whole in a short time. Send it again."
        if body is None:
            await _refuse(send_guarded, *(refusal or self._too_large()), as_page=_wants_page(scope))
            return
        try:
            await self.app(scope, _replay(body, receive), send_guarded)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await _refuse(send_guarded, 500, "Something went wrong on the server; its log says what.")

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and message if the headers of a request are a reason to refuse it."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if _hostname(f"//{host}") not in self.config.hosts:
            return 421, "This server does not answer to that host name. Start it with --name to add one."
        if origin is not None and _address(origin) != host.lower():
            return 403, "Requests from other sites are not answered."
        if self.config.token and not self._enters(scope) and not self._is_known(headers):
            return 401, "Open the address that the server has printed: its token lets you in."
        length = headers.get(b"content-length", "0")
        if length.isdigit() and int(length) > self.max_bytes:
            return self._too_large()
        return None

    def _is_known(self, headers: Mapping[bytes, str]) -> bool:
        """True if a request brings the token, in the cookie or as `Authorization: Bearer`."""
        cookies = SimpleCookie()
        with suppress(CookieError):
            cookies.load(headers.get(b"cookie", ""))
        kept = cookies.get(self.config.key_cookie)
        given = headers.get(b"authorization", "").removeprefix("Bearer ")
        return any(_same(one, self.config.token) for one in (given, kept.value if kept else ""))

    def _enters(self, scope: Scope) -> bool:
        """True if a request opens the page with the token in its address."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        is_page = scope["path"] == "/" and scope["method"] == "GET"
        return bool(self.config.token) and is_page and _same(given, self.config.token)

    async def _admit(self, send: Send) -> None:
        """Set the cookie, and lead to the page without the token in its address."""
        cookie = f"{self.config.key_cookie}={self.config.token}; HttpOnly; Path=/; SameSite=Lax"
        headers = _encoded({"location": "/", "set-cookie": cookie, "cache-control": "no-store", "content-length": "0"})
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _too_large(self) -> tuple[int, str]:
        return 413, f"A request must have at most {self.max_bytes} bytes. Send a smaller file, or a part."


_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><title>graphflip</title></head>'
    "<body><h1>graphflip</h1><p>{}</p></body></html>\n"
)


def _same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _address(origin: str) -> str | None:
    """Host and port of an origin, or None if it has no host."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """The whole body of a request, or None if it has more than `limit` bytes."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A channel that delivers the body that was read already, and then the messages that follow it."""
    delivered = False

    async def replayed() -> Message:
        nonlocal delivered
        if delivered:
            return await receive()
        delivered = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _wants_page(scope: Scope) -> bool:
    """True for a browser that opens an address, and not for a request of the page or of a program."""
    return scope["method"] == "GET" and b"text/html" in dict(scope["headers"]).get(b"accept", b"")


async def _refuse(send: Send, status: int, text: str, as_page: bool = False) -> None:
    """Send an error response of the form of `ProblemView`, or as a page to read."""
    body = (_PAGE.format(escape(text)) if as_page else json.dumps({"message": text, "field": None})).encode()
    closing = {"connection": "close"} if status == 408 else {}
    kind = "text/html; charset=utf-8" if as_page else "application/json"
    headers = _encoded({"content-type": kind, "content-length": str(len(body)), **closing})
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
