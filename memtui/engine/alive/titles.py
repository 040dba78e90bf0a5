"""What each cause of a silent memory is called, in a few words that fit a line."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "A1": "the plugin lacks the permission for conversation hooks",
    "A2": "the plugin lacks the permission to inject",
    "A3": "another plugin has the memory slot",
    "A4": "the plugin of the memory slot is not installed",
    "A5": "the plugin is switched off",
    "A5b": "the plugin is not on the allow list",
    "A6": "the plugin could not be loaded",
    "A7": "the plugin refuses its configuration",
    "A8": "automatic capture or recall is off",
    "A9": "memory search is off",
    "A10": "the tool policy denies the memory tools",
    "A11": "another plugin has tools of the same names",
    "A12": "recall took longer than the host allows",
    "B1": "the embedding service fails",
    "B2": "the embedding service is too slow",
    "B3": "the model's vectors do not fit the table",
    "B4": "another model made the stored vectors",
    "B5": "the embedding provider of the index fails",
    "B6": "the index was made with other settings",
    "C1": "rows belong to an agent that is not configured",
    "C2": "a second agent moved the workspace",
    "C2b": "turns run in another workspace",
    "C3": "the workspace was changed",
    "C4": "two state folders are in use",
    "C5": "the store lies inside the plugin's folder",
    "C6": "the table has no column for the agent",
    "C7": "the configuration has an old form",
    "D1": "active memory names no agent",
    "D2": "these turns are not eligible for memory",
    "D3": "active memory took too long",
    "D4": "entries without a usable trigger or project",
    "D5": "the file was written by an untrusted sender",
    "D5b": "a stranger's note counts as the agent's",
    "D6": "MEMORY.md is too long for the prompt",
    "D7": "dreaming does not run",
    "D7b": "dreaming fails and reports success",
    "D8": "no notes are written for a new session",
    "D9": "sessions are not searched",
    "D10": "the index is behind its files",
    "D11": "keyword or vector search is not available",
    "D12": "nothing was recalled that could be promoted",
    "D13": "the wiki is not connected",
    "D14": "the configuration is refused",
    "H1": "no fact is drawn from the sessions",
    "H2": "turns are missing between others",
    "H3": "answers are stored without their questions",
    "H4": "the plugin can no longer write the table",
    "H5": "the model's vectors do not fit the table",
    "H6": "the configuration cannot be read",
}
"""By code: A1 to D14 of spec/openclaw.md, section 6; H1 to H6 are the Hermes plugin's."""


def title_of(code: str) -> str:
    """The name of a cause; the code itself for one that has none."""
    return TITLES.get(code, code)
