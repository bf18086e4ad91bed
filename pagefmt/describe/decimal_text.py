"""IEEE 754 decimals of AMQP as text: the binary-integer encoding (BID), 32, 64 or 128 bits."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_SHAPES: Final = {4: (8, 101, 7), 8: (10, 398, 16), 16: (14, 6176, 34)}  # size: exponent bits, bias, digits


def decimal_text(raw: bytes) -> str:
    """Return a decimal as ``Decimal`` writes it. A coefficient with too many digits counts as zero (IEEE 754)."""
    exponent_bits, bias, digits = _SHAPES[len(raw)]
    bits = int.from_bytes(raw, "big")
    width = 8 * len(raw)
    sign, top = bits >> (width - 1), bits >> (width - 6) & 0x1F
    # IEEE 754 binary integer decimals: the five bits after the sign are 1111x for infinity and NaN; 11xxx means that
    # the coefficient has the implicit leading bits 100, which shifts the exponent by two bits to the right.
    if top >> 1 == 0xF:
        return _special(sign, top & 1)
    if top >> 3 == 3:
        shift = width - 3 - exponent_bits
        coefficient = (bits & (1 << shift) - 1) | 8 << shift
    else:
        shift = width - 1 - exponent_bits
        coefficient = bits & (1 << shift) - 1
    exponent = (bits >> shift & (1 << exponent_bits) - 1) - bias
    if coefficient >= 10**digits:
        coefficient = 0
    return str(Decimal((sign, tuple(map(int, str(coefficient))), exponent)))


def _special(sign: int, nan: int) -> str:
    return "NaN" if nan else ("-Infinity" if sign else "Infinity")
