"""Ed25519, by the vectors of RFC 8032, section 7.1."""

import pytest

from service.signatures import verify

VECTORS = {
    "empty": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "one byte": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
}


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS.values(), ids=VECTORS)
class TestTheVectors:
    def test_fit(self, key: str, message: str, signature: str) -> None:
        assert verify(bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature))

    def test_fit_no_other_message_key_or_signature(self, key: str, message: str, signature: str) -> None:
        other = next(one for one, _, _ in VECTORS.values() if one != key)
        assert not verify(bytes.fromhex(key), bytes.fromhex(message) + b"!", bytes.fromhex(signature))
        assert not verify(bytes.fromhex(other), bytes.fromhex(message), bytes.fromhex(signature))
        assert not verify(bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)[::-1])


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33)], ids=len)
def test_a_key_of_another_length_fits_nothing(key: bytes) -> None:
    assert not verify(key, b"", bytes(64))


@pytest.mark.parametrize("signature", [b"", bytes(63), bytes(65)], ids=len)
def test_a_signature_of_another_length_fits_nothing(signature: bytes) -> None:
    key, message, _ = VECTORS["empty"]
    assert not verify(bytes.fromhex(key), bytes.fromhex(message), signature)
