"""The viewer's application: the page, its API, and what stands before and behind them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from importlib import resources
from pathlib import PurePosixPath

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ..report.draw.palette import page_style
from ..version import __version__
from .api import Crowded, NotFound, Office, router
from .config import ViewerConfig
from .queue import Busy, Desk, Line
from .security import Guard
from .worker import AbstractWorker, Interrupted, Refused, Worker

_PAGES = {"/": "index.html", "/docs": "docs.html"}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def create_app(settings: ViewerConfig, hire: Callable[[ViewerConfig], AbstractWorker] = Worker) -> FastAPI:
    """The application of a viewer with these settings; its workers, which `hire` makes, start and end with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        line = Line([hire(settings) for _ in range(settings.workers)], settings.waiting, settings.seconds)
        desk = Desk(hire(settings), settings.waiting * 4, settings.quick_seconds)
        app.state.office = Office(settings, line, desk)
        try:
            await asyncio.gather(desk.start(), line.start())
            yield
        finally:
            await asyncio.gather(desk.stop(), line.stop())

    app = FastAPI(title="graphflip", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.include_router(router)
    for address, content in _assets().items():
        _serve(app, address, content)
    _say_what_is_wrong(app)
    app.add_middleware(Guard, hosts=settings.hosts, max_bytes=settings.max_bytes)
    return app


def _assets() -> dict[str, bytes]:
    """The page's files, which the package carries, by address: nothing else can be fetched.

    The address of all but the pages themselves has a digest in it, so that a browser asks for them once.
    """
    folder = resources.files("graphflip.viewer") / "assets"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if PurePosixPath(file.name).suffix in _TYPES}
    pages = {address: files.pop(name).decode() for address, name in _PAGES.items()}
    files["drawing.css"] = page_style().encode()
    digest = _digest(b"".join(name.encode() + content for name, content in sorted(files.items())))
    shown = {address: text.replace("/assets/", f"/assets/{digest}/").encode() for address, text in pages.items()}
    return shown | {f"/assets/{digest}/{name}": content for name, content in files.items()}


def _serve(app: FastAPI, address: str, content: bytes) -> None:
    is_page = address in _PAGES
    headers = {
        "etag": f'"{_digest(content)}"',
        "cache-control": "no-cache" if is_page else "public, max-age=31536000, immutable",
        "content-type": _TYPES[".html" if is_page else PurePosixPath(address).suffix],
    }

    async def asset(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers)

    app.add_route(address, asset, methods=["GET", "HEAD"], include_in_schema=False)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=12).hexdigest()


def _say_what_is_wrong(app: FastAPI) -> None:
    """Every error has the form of `Problem`, and none says more than the person who asked needs."""

    def problem(status: int, message: str, field: str | None = None, **headers: str) -> JSONResponse:
        return JSONResponse({"message": message, "field": field}, status, headers)

    @app.exception_handler(RequestValidationError)
    async def unusable(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
        return problem(422, f"{where or 'The body'}: {first['msg']}", where or None)

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return problem(422, str(error), "input")

    @app.exception_handler(NotFound)
    async def missing(_: Request, error: NotFound) -> JSONResponse:
        return problem(404, str(error))

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> JSONResponse:
        after = {"retry-after": str(error.retry_after)}
        return problem(429 if isinstance(error, Crowded) else 503, str(error), **after)

    @app.exception_handler(Interrupted)
    async def interrupted(_: Request, error: Interrupted) -> JSONResponse:
        if error.reason == "time":
            return problem(422, "This takes longer than the server allows. Choose something smaller.", "input")
        return problem(503, "The computation was interrupted. Try again.", **{"retry-after": "1"})

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), **dict(error.headers or {}))
