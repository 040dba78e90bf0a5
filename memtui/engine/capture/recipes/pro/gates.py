"""The gates of the plugin's capture: their order, the settings behind them, the known faults of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtui.engine.capture.recipes.base import Steps
from memtui.engine.capture.trace import CaptureText

STEPS: Steps = (
    ("who said it", ("role",)),
    ("something said", ("envelope", "not captured")),
    ("worth and room", ("low value", "compression", "no room")),
    ("no complaint", ("noise",)),
    ("enough texts", ("too few texts", "model failed")),
    ("form", ("too short", "too long", "recalled memories", "markup", "formatted list", "emoji")),
    ("no order", ("talk about the memory itself",)),
    ("trigger or model", ("no trigger word", "not extracted", "too many")),
    ("turn's limit", ("enough of this turn",)),
    ("grounding", ("grounding",)),
    ("boundary", ("boundary",)),
    ("embedded", ("embedding failed",)),
    ("said once", ("said twice",)),
    ("admission", ("admission", "utility veto")),
    ("not stored yet", ("duplicate",)),
)

FAULTS: Mapping[str, str] = {
    "low value": "a fault of pro: these texts are gone, not deferred",
    "noise": "a fault of pro: these texts are gone, not deferred",
    "envelope": "a fault of pro: a run of nothing but these counts as failed and is read again each turn",
}
"""Gates at which one of its known faults loses more than the rule means to."""


def settings_for(text: CaptureText, settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The settings that belong to the gate that stopped a text, the nearest value first."""
    gate, value = text.gate, text.value
    number = value if isinstance(value, int | float) else None
    if gate == "role" and text.role == "assistant":
        return [("captureAssistant", True)]
    if gate == "too few texts" and number is not None:
        return [("extractMinMessages", int(number)), ("sessionEnd", True)]
    if gate == "low value":
        return [("extractionThrottle.skipLowValue", False)]
    if gate in ("compression", "no room") and number is not None:
        fits = [("extractMaxChars", int(number))]
        return [*fits, ("sessionCompression.enabled", False)] if gate == "compression" else fits
    if gate == "boundary":
        return [("workspaceBoundary.userMdExclusive.enabled", False)]
    if gate == "utility veto":
        return [("admissionControl.utilityVetoThreshold", 0)]
    if gate == "admission" and number is not None:
        return [("admissionControl.rejectThreshold", number), ("admissionControl.enabled", False)]
    return []
