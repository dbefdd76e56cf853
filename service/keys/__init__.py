"""API keys, in a small store beside the log: the log is public, and knows principals by their opaque ids only."""

from service.keys.daily import ATTESTATIONS, ISSUES, DailyLimit, DailyLimits, Use
from service.keys.store import Denial, Key, KeyStore

__all__ = ["ATTESTATIONS", "ISSUES", "DailyLimit", "DailyLimits", "Denial", "Key", "KeyStore", "Use"]
