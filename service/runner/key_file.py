"""The file of a runner's private key: readable by its owner only."""

import base64
import os
import stat
from pathlib import Path

from domain.errors import InvalidInput
from service.data_folder import PRIVATE
from service.signatures import PrivateKey, from_pem, generate, public_bytes, to_pem


def make(path: Path) -> PrivateKey:
    """Make a key in a new file. A file that is there already stays as it is: ``FileExistsError``."""
    private = generate()
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(to_pem(private))
        file.flush()
        os.fsync(file.fileno())
    return private


def read(path: Path) -> PrivateKey:
    """The key in a file. Raises :class:`InvalidInput` where others than its owner may read or change it."""
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & ~PRIVATE:
            raise InvalidInput.because(
                f"others can read or change it (mode {mode:04o})",
                document=str(path),
                remedy=f"chmod 600 {path}; if others may have read it, make another and have that approved",
            )
        return from_pem(file.read(), str(path))


def public_text(private: PrivateKey) -> str:
    """Its public key as ``approveRunner`` takes it: the base64 of the 32 bytes."""
    return base64.b64encode(public_bytes(private)).decode()
