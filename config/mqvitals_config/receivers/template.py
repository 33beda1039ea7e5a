"""Templates that a site writes: of the messages to a receiver, and of the link to its own page about an alert.

They are Jinja2's. Here only their form is checked; ``mqvitals_agent.notify.template`` fills them in.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from mqvitals_config.decoding.problem import LocatedText, did_you_mean, listing
from mqvitals_config.decoding.schema import Convert, Doc

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

MESSAGE_NAMES: Final = (
    *("title", "plain", "status", "severity", "receiver", "repeated", "more"),
    *("alerts", "firing", "resolved", "labels", "common_labels"),
)
"""What a template of a message knows."""
LINK_NAMES: Final = ("rule", "object", "owner", "kind", "name", "severity", "fingerprint", "labels")
"""What the template of the link knows."""

MOST_CHARACTERS: Final = 20_000
TEMPLATE_FORM: Final = "a template of Jinja2"
LINK_FORM: Final = "a template of Jinja2 for an address, such as https://wiki.example.com/mq/{{ rule }}"


def template_environment(**options: object) -> SandboxedEnvironment:
    """Where templates are compiled: no template can reach beyond what it is given, nor change it.

    A name that does not exist is a mistake, not an empty text.
    """
    # Its import takes 75 ms, for which only a site with a template waits.
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        **options,
    )


def checked_template(text: LocatedText, names: Collection[str]) -> LocatedText:
    """A template that knows ``names``. Raises ValueError, with the template's line, for one that cannot be used."""
    from jinja2 import TemplateSyntaxError, meta

    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a template has at most {MOST_CHARACTERS:,} characters, not {len(text):,}")
    environment = template_environment()
    try:
        parsed = environment.parse(text)
        environment.compile(text)
    except TemplateSyntaxError as error:
        raise ValueError(f"{error.message} (line {error.lineno} of the template)") from None
    unknown = sorted(meta.find_undeclared_variables(parsed) - set(names) - set(environment.globals))
    if unknown:
        there_is = did_you_mean(unknown[0], names) or f"; there is {listing(names)}"
        raise ValueError(f"a template here does not know {unknown[0]}{there_is}")
    if any(True for _ in meta.find_referenced_templates(parsed)):
        raise ValueError("a template here stands by itself: it cannot include, import or extend another one")
    return text


def message_template(text: LocatedText) -> LocatedText:
    """A template of a message's title or text. Raises ValueError."""
    return checked_template(text, MESSAGE_NAMES)


def link_template(text: LocatedText) -> LocatedText:
    """The template of the link. Raises ValueError for one that does not begin as an address."""
    if not text.startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    if any(character.isspace() for character in text.strip().partition("{")[0]):
        raise ValueError("an address holds no blanks")
    return checked_template(text, LINK_NAMES)


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """Words of the site's own for the messages to a receiver."""

    title: Annotated[
        Annotated[LocatedText, Convert(message_template, TEMPLATE_FORM)] | None,
        Doc("What stands above the message, or in its subject.", default="`{{ title }}`"),
    ] = None
    text: Annotated[
        Annotated[LocatedText, Convert(message_template, TEMPLATE_FORM)] | None,
        Doc("The message itself.", default="each alert with its facts, laid out as the receiver can show them"),
    ] = None

    def __post_init__(self) -> None:
        if self.title is None and self.text is None:
            raise ValueError("a template has a title, a text, or both")

    def refuse_title(self) -> None:
        """Raises ValueError when there is a title, for receivers that get nothing but a text."""
        if self.title is not None:
            raise ValueError("this receiver takes no title: template.text makes all that it gets")
