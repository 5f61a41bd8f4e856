"""The checker of facts, as the tests call it: one checker, which users have too (`caveman-engine check`)."""

from caveman_wasm.check_claims import Claim, check, parse
from caveman_wasm.check_fields import JsonUnit, LogUnit, RowUnit, Token, Unit

__all__ = ["Claim", "JsonUnit", "LogUnit", "RowUnit", "Token", "Unit", "check", "parse"]
