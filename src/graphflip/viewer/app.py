"""The viewer's web application: its pages and their files, the API, and the form of error responses."""

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

from ..report import goes_by
from ..report.draw.palette import switchable_page_style
from ..version import __version__
from .api import router
from .config import ViewerConfig
from .queue import Busy, JobQueue
from .quick import QuickWorkers
from .security import Guard
from .state import NotFound, ServerState, TooManyJobs
from .table_api import router as table_router
from .worker import AbstractWorker, Interrupted, Refused, Worker, WorkerHost

_PAGES = {"/": "index.html", "/docs": "docs.html"}
_SEARCHES, _PICTURES = 2, 5
"""Nice levels by which other programs go before a worker."""
_QUICK = 2
"""Workers for what is quick, so that reading does not wait for another person's or tab's reading."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def create_app(config: ViewerConfig, make_worker: Callable[[WorkerHost, int], AbstractWorker] = Worker) -> FastAPI:
    """The web application of a viewer. Its workers, which `make_worker` creates, start and stop with it.

    The second argument of `make_worker` is how far other programs go before the worker: searches let all others go
    first.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        host = WorkerHost(config)
        searching = [make_worker(host, _SEARCHES) for _ in range(config.workers)]
        queue = JobQueue(searching, config.max_waiting, config.seconds, config.patience)
        reading, drawing = [make_worker(host, 0) for _ in range(_QUICK)], [make_worker(host, _PICTURES)]
        quick = QuickWorkers(reading, config.max_waiting * 4, config.quick_seconds)
        pictures = QuickWorkers(drawing, config.max_waiting * 4, config.seconds)
        app.state.server = ServerState(config, queue, quick, pictures)
        try:
            await asyncio.gather(quick.start(), pictures.start(), queue.start())
            yield
        finally:
            await asyncio.gather(quick.stop(), pictures.stop(), queue.stop())
            await host.stop()

    app = FastAPI(title="graphflip", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.include_router(router)
    app.include_router(table_router)
    for address, content in _assets(config).items():
        _serve(app, address, content)
    _answer_bad_requests(app)
    _answer_when_busy(app)
    app.add_middleware(Guard, config=config)
    return app


def _assets(config: ViewerConfig) -> dict[str, bytes]:
    """Pages, scripts and styles of the package by address; nothing else can be fetched.

    All addresses but those of the pages contain a digest of the files, so that a browser can keep them for ever.
    """
    folder = resources.files("graphflip.viewer") / "assets"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if PurePosixPath(file.name).suffix in _TYPES}
    pages = {address: files.pop(name).decode() for address, name in _PAGES.items()}
    pages[goes_by.ADDRESS] = goes_by.page(config.summaries, dict(zip(config.titles, config.models, strict=True)))
    files |= {"drawing.css": switchable_page_style().encode(), goes_by.STYLE: goes_by.style()}
    digest = _digest(b"".join(name.encode() + content for name, content in sorted(files.items())))
    pages_served = {address: text.replace("/assets/", f"/assets/{digest}/").encode() for address, text in pages.items()}
    return pages_served | {f"/assets/{digest}/{name}": content for name, content in files.items()}


def _serve(app: FastAPI, address: str, content: bytes) -> None:
    """Serve a file at an address; a browser that has it already is told so."""
    is_page = address in (*_PAGES, goes_by.ADDRESS)
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


def _answer_bad_requests(app: FastAPI) -> None:
    """Answer requests that cannot be served with a `ProblemView`: one sentence, and nothing of the server's inside."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
        return _problem(422, f"{field or 'The body'}: {first['msg']}", field or None)

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return JSONResponse({"message": str(error), "field": "input", "actions": error.actions}, 422)

    @app.exception_handler(NotFound)
    async def missing(_: Request, error: NotFound) -> JSONResponse:
        return _problem(404, str(error))

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, str(error.detail), **dict(error.headers or {}))


def _answer_when_busy(app: FastAPI) -> None:
    """Answer requests for which there is no room or no time with a `ProblemView` that says when to try again."""

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> JSONResponse:
        after = {"retry-after": str(error.retry_after)}
        return _problem(429 if isinstance(error, TooManyJobs) else 503, str(error), **after)

    @app.exception_handler(Interrupted)
    async def interrupted(_: Request, error: Interrupted) -> JSONResponse:
        if error.reason == "time":
            return _problem(422, "This takes longer than the server allows. Choose something smaller.", "input")
        return _problem(503, "The computation was interrupted. Try again.", **{"retry-after": "1"})


def _problem(status: int, message: str, field: str | None = None, **headers: str) -> JSONResponse:
    return JSONResponse({"message": message, "field": field}, status, headers)
