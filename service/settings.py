"""Settings. Each is an environment variable ``KERNELINDEX_…`` with a safe default."""

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.auth import is_loopback


class Settings(BaseSettings):
    """What an operator can choose. The description of a field is its reason."""

    model_config = SettingsConfigDict(env_prefix="KERNELINDEX_", extra="ignore", frozen=True)

    data_dir: Path = Field(Path("kernelindex-data"), description="the folder of the log and the views; back up the log")
    base_url: str = Field(
        "", description="where readers reach this index: permalinks begin with it; empty means http://HOST:PORT"
    )
    log_origin: str = Field(
        "kernelindex.localhost/log",
        pattern=r"^[^\s+]{1,200}$",
        description="the name of a new log, for ever in its first event; take a domain that you hold",
    )
    host: str = Field("127.0.0.1", description="the address to serve on; loopback unless you say otherwise")
    port: int = Field(8000, ge=0, le=65535, description="the port to serve on")
    trusted_proxies: str = Field(
        "", description="addresses of proxies, with commas between, whose X-Forwarded-For says who asks; none by itself"
    )
    key_secret: SecretStr | None = Field(
        None, min_length=32, description="what keys are hashed under; else the file keys.secret, made on first use"
    )
    checkpoint_key: SecretStr | None = Field(
        None, description="the private key that signs checkpoints; else the file checkpoint.key, made on first start"
    )
    checkpoint_verifier: str = Field(
        "", description="the verifier key of the host that signs: this one then has no key and serves that one's word"
    )
    requests_per_minute: int = Field(
        600, ge=1, description="how many requests an address without a key may send in a minute"
    )
    requests_per_minute_with_key: int = Field(
        6_000, ge=1, description="how many requests a principal may send in a minute, with all of its keys"
    )
    writes_per_minute: int = Field(
        120, ge=1, description="how many of the requests of one principal or address in a minute may write"
    )
    subscriptions_per_caller: int = Field(
        200, ge=1, description="how many subscriptions a principal, or an address without a key, may have at once"
    )
    rerun_lease_s: int = Field(
        3_600, ge=1, description="how long a runner has a rerun to itself before others may start it; it can renew that"
    )
    query_timeout_s: float = Field(10.0, gt=0, description="a query that takes longer is stopped")
    min_position_wait_s: float = Field(
        5.0, ge=0, description="how long a query may wait for the position that X-KernelIndex-Min-Position asks for"
    )
    fragment_cache_bytes: int = Field(
        32 * 1024 * 1024, ge=0, description="how many bytes of documents and parts of answers to keep; 0 keeps none"
    )
    response_cache_bytes: int = Field(
        32 * 1024 * 1024, ge=0, description="how many bytes of answers to keep, until the log goes on; 0 keeps none"
    )
    max_lag_events: int = Field(10_000, ge=0, description="/readyz says no while the views are further behind the log")

    @property
    def public_url(self) -> str:
        """``base_url`` without a slash at its end, or where the server listens."""
        return self.base_url.rstrip("/") or f"http://{self.host}:{self.port}"

    @property
    def is_public(self) -> bool:
        """Whether ``base_url`` is an address that others than this machine can reach."""
        host = urlsplit(self.base_url).hostname
        return host is not None and not is_loopback(host) and not host.endswith(".localhost")
