"""The kinds of questions, as a server describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import UsageError
from .fields import Json, read_list, read_object, read_str, read_strings
from .model import Message, Question, group, texts
from .names import among


@dataclass(frozen=True)
class Field:
    """A field of the questions of a kind. choices are what it may hold; None for all."""

    name: str
    text: str
    form: str
    required: bool
    default: str
    filled: str
    choices: tuple[str, ...] | None
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Field:
        f = read_object(value, "field")
        return cls(
            read_str(f, "name"), Message.read(f.get("text")).text, read_str(f, "form"), f.get("required") is True,
            str(f.get("default") or ""), str(f.get("filled") or ""), read_strings(f, "choices"), f,
        )

    def __str__(self) -> str:
        notes = [self.form]
        if self.required:
            notes.append("required")
        if self.default:
            notes.append("default " + self.default)
        if self.filled:
            notes.append(f"default: the {self.filled} of the book")
        if self.choices is not None:
            several = "any of " if self.form in ("groups", "columns") else "one of "
            notes.append(several + ", ".join(self.choices) if self.choices else "nothing can be chosen")
        return f"{self.name}: {self.text} ({'; '.join(notes)})"


@dataclass(frozen=True)
class Kind:
    """A kind of question. str() is a text for people: what the answer is, and the fields."""

    name: str
    text: str
    fields: tuple[Field, ...]
    noises: tuple[str, ...]
    unit: str
    margin: str
    raw: Json = field(repr=False)

    @classmethod
    def read(cls, value: Any) -> Kind:
        f = read_object(value, "kind")
        return cls(
            read_str(f, "kind"), Message.read(f.get("text")).text, tuple(read_list(f, "fields", Field.read)),
            read_strings(f, "noises") or (), str(f.get("unit") or ""), str(f.get("margin") or ""), f,
        )

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.text}", *(f"  {one}" for one in self.fields)]
        if self.noises:
            lines.append(f"  noise: the mechanism (one of {', '.join(self.noises)})")
        bounds = {"rank": "the error of the rank, in records", "none": ""}.get(self.margin, "the error of the value")
        lines.append("  margin or pay: how close the answer must be (" + bounds + "), or what is paid" if bounds else "  pay: what is paid")
        return "\n".join(lines)


def asked(kind: str, members: Json) -> Question:
    """A question of a kind from its fields as a caller writes them."""
    if "kind" in members:
        raise UsageError("kind: is the question itself; leave it out")
    out = dict(members)
    if "by" in out or "keys" in out:
        out.update(group(out.get("by"), out.get("keys")))
    for name in ("bounds", "bins", "values", "columns"):
        value = out.get(name)
        if isinstance(value, str):
            raise UsageError(f"{name}: expected a list, got a text")
        if value is not None:
            out[name] = texts(value)
    return Question.make(kind, **out)


def one_of(name: str, known: Sequence[Kind]) -> Kind:
    """The kind of a name."""
    for kind in known:
        if kind.name == name:
            return kind
    raise UsageError(f"kind: expected the name of a kind, got {name!r}; {among(name, [k.name for k in known])}")
