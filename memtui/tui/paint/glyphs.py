"""Every special character on the screen, by meaning, in two sets: one cell wide each."""

from __future__ import annotations

import locale
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set. All glyphs are one cell wide, so that a painter may count characters as cells."""

    name: str
    core: str
    working: str
    peripheral: str
    cursor: str
    mark: str
    up: str
    down: str
    cross: str
    pending: str
    replaced: str
    expired: str
    asleep: str
    """Held back from recall for now."""
    warn: str
    closed: str
    open: str
    skeleton: str
    blocks: str
    """Fractions of a cell from one eighth to a full one; a single character where there are none."""
    loss: str
    spark: str
    """Heights from lowest to highest; empty where there are none."""
    full: str
    empty: str
    rule: str
    dot: str
    ellipsis: str
    braille: bool
    busy: str
    idle: str
    back: str
    forth: str
    floor: str
    axis: str
    tick: str
    corner: str
    track_left: str
    track_right: str
    knob: str
    shades: str
    """Five fills from nothing to full, told apart without colour."""
    grades: str
    """How well a memory answers, from 0 to 3: signs that never read as a digit of the number beside them."""
    dashes: str
    """How the three lines of a chart look in a legend: solid, dashed, dotted."""

    def tier(self, tier: str | None) -> str:
        """The mark of a tier; an unknown one has none."""
        return {"core": self.core, "working": self.working, "peripheral": self.peripheral}.get(
            tier or "", " "
        )


UNICODE = Glyphs(
    name="unicode",
    core="◆",
    working="◇",
    peripheral="·",
    cursor="▌",
    mark="✓",
    up="▲",
    down="▼",
    cross="✗",
    pending="○",
    replaced="≠",
    expired="†",
    asleep="z",
    warn="!",
    closed="▸",
    open="▾",
    skeleton="┄",
    blocks="▏▎▍▌▋▊▉█",
    loss="░",
    spark="▁▂▃▄▅▆▇█",
    full="▰",
    empty="▱",
    rule="─",
    dot="·",
    ellipsis="…",
    braille=True,
    busy="○",
    idle="●",
    back="◂",
    forth="→",
    floor="┊",
    axis="│",
    tick="┤",
    corner="└",
    track_left="├",
    track_right="┤",
    knob="●",
    shades=" ░▒▓█",
    grades="⁰¹²³",
    dashes="━┅┈",
)

ASCII = Glyphs(
    name="ascii",
    core="C",
    working="W",
    peripheral="p",
    cursor=">",
    mark="*",
    up="^",
    down="v",
    cross="x",
    pending="o",
    replaced="#",
    expired="+",
    asleep="z",
    warn="!",
    closed="+",
    open="-",
    skeleton=".",
    blocks="#",
    loss="-",
    spark="",
    full="#",
    empty=".",
    rule="-",
    dot=".",
    ellipsis="~",
    braille=False,
    busy="o",
    idle="*",
    back="<",
    forth=">",
    floor=":",
    axis="|",
    tick="+",
    corner="+",
    track_left="|",
    track_right="|",
    knob="o",
    shades=" .:+#",
    grades="-.+*",
    dashes="=-.",
)


def choose(environ: Mapping[str, str], encoding: str | None = None) -> Glyphs:
    """The set that this terminal can show: `MEMTUI_GLYPHS` decides, else the encoding of the locale."""
    wanted = environ.get("MEMTUI_GLYPHS", "").strip().lower()
    if wanted == "ascii":
        return ASCII
    if wanted == "unicode":
        return UNICODE
    name = (encoding or locale.getpreferredencoding(False)).lower().replace("-", "")
    return UNICODE if name in ("utf8", "utf16", "utf32", "gb18030") else ASCII
