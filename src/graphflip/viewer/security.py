"""Security: checks of every request before the application sees it, and headers of every response."""

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
    """Middleware that checks Host and Origin, limits the body, adds headers, and hides tracebacks.

    The Host check stops DNS rebinding: pages of another site whose name was made to point to this server. The Origin
    check stops requests that pages of other sites send from a visitor's browser.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], max_bytes: int):
        self.app, self.hosts, self.max_bytes = app, hosts, max_bytes

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
        if refusal is None:
            body = await _read_body(receive, self.max_bytes)
        if body is None:
            await _refuse(send_guarded, *(refusal or self._too_large()))
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
        if _hostname(f"//{host}") not in self.hosts:
            return 421, "This server does not answer to that host name. Start it with --name to add one."
        if origin is not None and _address(origin) != host.lower():
            return 403, "Requests from other sites are not answered."
        length = headers.get(b"content-length", "0")
        if length.isdigit() and int(length) > self.max_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> tuple[int, str]:
        return 413, f"A request must have at most {self.max_bytes} bytes. Send a smaller file, or a part."


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


async def _refuse(send: Send, status: int, text: str) -> None:
    """Send an error response of the form of `ProblemView`."""
    body = json.dumps({"message": text, "field": None}).encode()
    headers = _encoded({"content-type": "application/json", "content-length": str(len(body))})
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
