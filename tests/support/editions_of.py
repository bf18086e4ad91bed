"""Which profile stands for the broker that wrote a golden case."""

from __future__ import annotations

from pagefmt.editions import Edition

EDITION_OF = {
    "hornetq-2.3.25": Edition.HORNETQ_2_4,
    "hornetq-2.4.7": Edition.HORNETQ_2_4,
    "artemis-1.5.6": Edition.ARTEMIS_1_5,
    "2.10.1": Edition.ARTEMIS_2_10,
    "2.17.0": Edition.ARTEMIS_2_17,
    "2.28.0": Edition.ARTEMIS_2_28,
    "2.44.0": Edition.ARTEMIS_2_44,
    "2.56.0": Edition.ARTEMIS_2_56,
}
