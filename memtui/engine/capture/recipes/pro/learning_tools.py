"""The plugin's learning files at work: logging, review, skills, and the files at a session's start."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.engine.capture.recipes.pro.mirror import iso
from memtui.engine.capture.recipes.pro.settings import LearningSettings
from memtui.engine.capture.recipes.pro.tools import Caller, ToolAnswer
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.learnings import learning_entries
from memtui.engine.capture.stages.turns import memory_subsession
from memtui.engine.core.javascript import trim

LEARNINGS, ERRORS = "LEARNINGS.md", "ERRORS.md"

HEADS = {
    LEARNINGS: "# Learnings: corrections, gaps in knowledge and better ways, newest last",
    ERRORS: "# Errors: what failed, why, and what mended it, newest last",
}

REMINDER = "SELF_IMPROVEMENT_REMINDER.md"

REMINDER_TEXT = (
    "Write down what you learn: corrections in .learnings/LEARNINGS.md, failures in .learnings/ERRORS.md."
)

RESET_REMINDER = "A session has ended: write down now what was learnt in it, before it is forgotten."

LOOP = "Next: look through what is pending, promote what holds, make a skill of what comes back."

TODO = "Fill this in from the learning."

SOURCE = "memory-lancedb-pro/self_improvement_log"

_ID = re.compile(r"(?:LRN|ERR)-[0-9]{8}-[0-9]{3}")

_SKILL = re.compile(r"[a-z0-9-]+")


def self_improvement_log(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Log a learning or an error: type, summary, details, suggestedAction, category, area, priority."""
    kind = params.get("type")
    found = log_entry(
        world,
        caller.workspace,
        kind="error" if kind == "error" else "learning",
        summary=str(params.get("summary") or ""),
        details=str(params.get("details") or ""),
        action=str(params.get("suggestedAction") or ""),
        category=str(params.get("category") or "best_practice"),
        area=str(params.get("area") or "config"),
        priority=str(params.get("priority") or "medium"),
        source=SOURCE,
    )
    name = ERRORS if kind == "error" else LEARNINGS
    path = f"{caller.workspace}/.learnings/{name}"
    counts = {"entryCount": found["count"], "maxEntries": found["most"]}
    if found["id"] is None:
        return ToolAnswer(
            f"Skipped {kind} entry: .learnings/{name} already has {found['count']}/{found['most']} entries."
            " Review, archive, or raise selfImprovement.maxEntries.",
            {"action": "skipped_limit", "type": kind, "filePath": path, **counts},
        )
    return ToolAnswer(
        f"Logged {kind} entry {found['id']} to .learnings/{name}",
        {"action": "logged", "type": kind, "id": found["id"], "filePath": path, **counts},
    )


def log_entry(
    world: World,
    workspace: str,
    *,
    kind: str,
    summary: str,
    details: str,
    action: str,
    category: str,
    area: str,
    priority: str,
    source: str,
    status: str = "pending",
) -> dict[str, Any]:
    """Append an entry; its id (None where the file is full), the number of entries and the limit."""
    ensure_files(world, workspace)
    prefix = "ERR" if kind == "error" else "LRN"
    path = f"{workspace}/.learnings/{ERRORS if kind == 'error' else LEARNINGS}"
    text = world.files.read(path) or ""
    count = learning_entries(text)[prefix.lower()]
    most = _settings(world).max_entries
    if count >= most:
        return {"id": None, "count": count, "most": most}
    now = iso(world.now_ms)
    day = now[:10].replace("-", "")
    number = len(re.findall(rf"{prefix}-{day}-[0-9]{{3}}", text)) + 1
    name = f"{prefix}-{day}-{number:03d}"
    heading = f"## [{name}]" if kind == "error" else f"## [{name}] {category}"
    entry = (
        f"{heading}\n\n**Logged**: {now}\n**Priority**: {priority}\n**Status**: {status}\n**Area**: {area}\n\n"
        f"### Summary\n{trim(summary)}\n\n### Details\n{trim(details) or '-'}\n\n"
        f"### Suggested Action\n{trim(action) or '-'}\n\n### Metadata\n- Source: {source}\n---\n"
    )
    world.files.write(path, f"{text}\n\n{entry}" if text else entry)
    return {"id": name, "count": count + 1, "most": most}


def ensure_files(world: World, workspace: str) -> None:
    """Make the learning files of a workspace where they are missing or blank."""
    for name, head in HEADS.items():
        path = f"{workspace}/.learnings/{name}"
        if not trim(world.files.read(path) or ""):
            world.files.write(path, f"{head}\n")


def _settings(world: World) -> LearningSettings:
    return world.settings.learning or LearningSettings()


def self_improvement_review(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Count what waits in the learning files."""
    most = _settings(world).max_entries
    texts = {name: world.files.read(f"{caller.workspace}/.learnings/{name}") or "" for name in HEADS}
    whole = "\n".join(texts.values())
    entries = {name: learning_entries(text)["all"] for name, text in texts.items()}
    stats = {
        "pending": len(re.findall(r"\*\*Status\*\*:\s*pending", whole, re.IGNORECASE)),
        "high": len(re.findall(r"\*\*Priority\*\*:\s*(?:high|critical)", whole, re.IGNORECASE)),
        "promoted": len(re.findall(r"\*\*Status\*\*:\s*promoted(?:_to_skill)?", whole, re.IGNORECASE)),
        "total": sum(entries.values()),
        "files": {
            name: {"entries": count, "maxEntries": most, "atLimit": count >= most}
            for name, count in entries.items()
        },
    }
    lines = [
        "Self-Improvement Governance Snapshot:",
        f"- Total entries: {stats['total']}",
        f"- Pending: {stats['pending']}",
        f"- High/Critical: {stats['high']}",
        f"- Promoted: {stats['promoted']}",
        *(f"- {name}: {count}/{most}" for name, count in entries.items()),
        "",
        LOOP,
    ]
    return ToolAnswer("\n".join(lines), {"action": "review", "stats": stats})


def self_improvement_extract_skill(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Make a skill's file of a learning: learningId, skillName, sourceFile, outputDir."""
    name, skill = str(params.get("learningId") or ""), str(params.get("skillName") or "")
    if not _ID.fullmatch(name):
        return ToolAnswer(
            "Invalid learningId format. Use LRN-YYYYMMDD-001 / ERR-...",
            {"error": "invalid_learning_id"},
        )
    if not _SKILL.fullmatch(skill):
        return ToolAnswer(
            "Invalid skillName. Use lowercase letters, numbers, and hyphens only.",
            {"error": "invalid_skill_name"},
        )
    file = params.get("sourceFile") or LEARNINGS
    path = f"{caller.workspace}/.learnings/{file}"
    text = world.files.read(path) or ""
    heading = re.search(rf"^## \[{name}\][^\n]*$", text, re.MULTILINE)
    if heading is None:
        return ToolAnswer(
            f"Learning entry {name} not found in .learnings/{file}",
            {"error": "learning_not_found", "learningId": name, "sourceFile": file},
        )
    folder = str(params.get("outputDir") or "skills").strip("/")
    title = " ".join(word[:1].upper() + word[1:] for word in skill.split("-") if word)
    world.files.write(
        f"{caller.workspace}/{folder}/{skill}/SKILL.md",
        f'---\nname: {skill}\ndescription: "Extracted from learning {name}. {TODO}"\n---\n\n# {title}\n\n'
        f"## Why\nSummarize the source learning here.\n\n## When To Use\n- [TODO] {TODO}\n\n"
        f"## Steps\n1. [TODO] {TODO}\n2. [TODO] {TODO}\n\n"
        f"## Source Learning\n- Learning ID: {name}\n- Source File: .learnings/{file}\n",
    )
    mark = f"\n**Status**: promoted_to_skill\n- Skill-Path: {folder}/{skill}\n"
    world.files.write(path, text[: heading.end()] + mark + text[heading.end() :])
    where = f"{folder}/{skill}/SKILL.md"
    return ToolAnswer(
        f"Extracted skill scaffold to {where} and updated {name}.",
        {
            "action": "skill_extracted",
            "learningId": name,
            "sourceFile": file,
            "skillPath": where,
        },
    )


def bootstrap(world: World, event: Mapping[str, Any]) -> list[Any]:
    """The files that a session starts with: the learning files are made, and a reminder is added once."""
    context = event.get("context") or {}
    files: Sequence[Any] = context.get("bootstrapFiles") or []
    settings = world.settings.learning
    if settings is None or not settings.enabled:
        return list(files)
    key = str(event.get("sessionKey") or "")
    if settings.skip_subagents and memory_subsession(key):
        return list(files)
    workspace = str(context.get("workspaceDir") or "")
    if settings.ensure_files and workspace:
        ensure_files(world, workspace)
    if any(isinstance(file, Mapping) and file.get("path") == REMINDER for file in files):
        return list(files)
    own = trim(world.files.read(f"{workspace}/{REMINDER}") or "")
    return [*files, {"path": REMINDER, "content": own or REMINDER_TEXT, "virtual": True}]
