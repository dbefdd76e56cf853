"""Settings. Each is an environment variable ``KERNELINDEX_…`` with a safe default."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from domain.errors import InvalidInput, Problem, raise_if_any
from service.auth import is_loopback

PREFIX: Final = "KERNELINDEX_"
MIN_SECRET: Final = 32


class Secret:
    """A text that settings don't show when they are printed."""

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class KeySecret(Secret):
    """What keys are hashed under. Raises :class:`ValueError` where it is so short that it could be guessed."""

    def __init__(self, text: str) -> None:
        if len(text) < MIN_SECRET:
            raise ValueError(f"Expected at least {MIN_SECRET} characters")
        super().__init__(text)


@dataclass(frozen=True, init=False)
class Settings:
    """What an operator can choose. The description of a field is its reason."""

    data_dir: Annotated[Path, Meta(description="the folder of the log and the views; back up the log")] = Path(
        "kernelindex-data"
    )
    base_url: Annotated[
        str, Meta(description="where readers reach this index: permalinks begin with it; empty means http://HOST:PORT")
    ] = ""
    log_origin: Annotated[
        str,
        Meta(
            pattern=r"^[^\s+]{1,200}$",
            description="the name of a new log, for ever in its first event; take a domain that you hold",
        ),
    ] = "kernelindex.localhost/log"
    host: Annotated[str, Meta(description="the address to serve on; loopback unless you say otherwise")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="the port to serve on")] = 8000
    trusted_proxies: Annotated[
        str,
        Meta(
            description="addresses of proxies, with commas between, whose X-Forwarded-For says who asks; none by itself"
        ),
    ] = ""
    key_secret: Annotated[
        KeySecret | None, Meta(description="what keys are hashed under; else the file keys.secret, made on first use")
    ] = None
    checkpoint_key: Annotated[
        Secret | None,
        Meta(description="the private key that signs checkpoints; else the file checkpoint.key, made on first start"),
    ] = None
    checkpoint_verifier: Annotated[
        str,
        Meta(
            description="the verifier key of the host that signs: this one then has no key and serves that one's word"
        ),
    ] = ""
    requests_per_minute: Annotated[
        int, Meta(ge=1, description="how many requests an address without a key may send in a minute")
    ] = 600
    requests_per_minute_with_key: Annotated[
        int, Meta(ge=1, description="how many requests a principal may send in a minute, with all of its keys")
    ] = 6_000
    writes_per_minute: Annotated[
        int, Meta(ge=1, description="how many of the requests of one principal or address in a minute may write")
    ] = 120
    subscriptions_per_caller: Annotated[
        int, Meta(ge=1, description="how many subscriptions a principal, or an address without a key, may have at once")
    ] = 200
    rerun_lease_s: Annotated[
        int,
        Meta(ge=1, description="how long a runner has a rerun to itself before others may start it; it can renew that"),
    ] = 3_600
    query_timeout_s: Annotated[float, Meta(gt=0, description="a query that takes longer is stopped")] = 10.0
    min_position_wait_s: Annotated[
        float,
        Meta(ge=0, description="how long a query may wait for the position that X-KernelIndex-Min-Position asks for"),
    ] = 5.0
    fragment_cache_bytes: Annotated[
        int, Meta(ge=0, description="how many bytes of documents and parts of answers to keep; 0 keeps none")
    ] = 32 * 1024 * 1024
    response_cache_bytes: Annotated[
        int, Meta(ge=0, description="how many bytes of answers to keep, until the log goes on; 0 keeps none")
    ] = 32 * 1024 * 1024
    max_lag_events: Annotated[
        int, Meta(ge=0, description="/readyz says no while the views are further behind the log")
    ] = 10_000

    def __init__(self, **given: Any) -> None:
        """What is given, else what the environment says. Raises :class:`InvalidInput` with each that can't be."""
        if unknown := given.keys() - _types().keys():
            raise TypeError(f"there is no setting {', '.join(sorted(unknown))}")
        problems: list[Problem] = []
        for name, hint in _types().items():
            variable = f"{PREFIX}{name.upper()}"
            value = given.get(name, os.environ.get(variable, getattr(type(self), name)))
            try:
                object.__setattr__(self, name, msgspec.convert(value, hint, strict=name in given, dec_hook=_made))
            except msgspec.ValidationError as error:
                problems.append(_refused(variable, str(error), get_args(hint)[1].description))
        raise_if_any(problems)

    @property
    def public_url(self) -> str:
        """``base_url`` without a slash at its end, or where the server listens."""
        return self.base_url.rstrip("/") or f"http://{self.host}:{self.port}"

    @property
    def is_public(self) -> bool:
        """Whether ``base_url`` is an address that others than this machine can reach."""
        host = urlsplit(self.base_url).hostname
        return host is not None and not is_loopback(host) and not host.endswith(".localhost")


@cache
def _types() -> Mapping[str, Any]:
    return get_type_hints(Settings, include_extras=True)


def _made(kind: type[Any], given: Any) -> Any:
    return given if isinstance(given, kind) else kind(given)


def _refused(variable: str, why: str, description: str) -> Problem:
    expected = why.removesuffix(", got `str`")
    return InvalidInput.because(
        f"{expected[:1].lower()}{expected[1:]}", path=variable, remedy=f"it sets: {description}"
    ).problems[0]
