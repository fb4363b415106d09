"""Security: who may ask, how much they may send, and what a browser may do with the answer."""

import json
import logging
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """Stands before the application: checks Host and Origin, bounds the body, adds headers, keeps tracebacks inside.

    The Host check keeps out pages of other sites whose name was made to point here (DNS rebinding), the Origin check
    requests that other sites send from a visitor's browser.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], max_bytes: int):
        self.app, self.hosts, self.max_bytes = app, hosts, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message["headers"], *_encoded(HEADERS)]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            body = await _body(receive, self.max_bytes)
            if body is None:
                refusal = 413, f"A request must have at most {self.max_bytes} bytes. Send a smaller file, or a part."
            else:
                receive = _replay(body, receive)
        if refusal is not None:
            await _refuse(guarded, *refusal)
            return
        try:
            await self.app(scope, receive, guarded)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await _refuse(guarded, 500, "Something went wrong on the server; its log says what.")

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if _hostname(f"//{host}") not in self.hosts:
            return 421, "This server does not answer to that host name. Start it with --name to add one."
        if origin is not None and _address(origin) != host.lower():
            return 403, "Requests from other sites are not answered."
        length = headers.get(b"content-length", "0")
        if length.isdigit() and int(length) > self.max_bytes:
            return 413, f"A request must have at most {self.max_bytes} bytes. Send a smaller file, or a part."
        return None


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _address(origin: str) -> str | None:
    """Host and port of an origin; None if it has none."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


async def _body(receive: Receive, limit: int) -> bytes | None:
    """The whole body, or None if it is too long."""
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
    """A channel that gives the body once, and then whatever comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _refuse(send: Send, status: int, text: str) -> None:
    body = json.dumps({"message": text, "field": None}).encode()
    headers = _encoded({"content-type": "application/json", "content-length": str(len(body))})
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
