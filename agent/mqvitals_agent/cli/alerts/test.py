"""``mqvitals alerts test``: sends a test alert to a receiver."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_config_argument, webhook_file
from mqvitals_agent.commandline.time_arguments import now_ms
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.receivers.receiver import ReceiverSettings

_DESCRIPTION = """\
Posts a test alert to a receiver of the configuration, firing and then resolved, and shows the responses. The alert
is marked as a test: its name is MQVITALS-TEST, its label test is true. Exit code 0 when both were accepted, else 2.
The command does not retry and needs no store. --show prints what would be sent, without secrets, and sends nothing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts test``."""
    parser.description = _DESCRIPTION
    parser.add_argument("receiver", metavar="RECEIVER", nargs="?", help="the receiver's name in the configuration")
    parser.add_argument(
        "--show", action="store_true", help="print the request, firing and resolved, without secrets; send nothing"
    )
    add_config_argument(parser)
    parser.add_argument(
        "--webhook", metavar="URL", help="post to this address instead of to a receiver of the configuration"
    )
    parser.add_argument(
        "--webhook-file", metavar="FILE", dest="webhook", type=webhook_file, help="the same, with the address in a file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Post the test alert; returns the exit code.

    Raises Failure when there is no such receiver, or it did not take it.
    """
    from mqvitals_agent.notify.delivery import make_receiver
    from mqvitals_agent.notify.receiver import DeliveryStatus, send_test_alert, shown_test_alert
    from mqvitals_agent.text.terminal import safe
    from mqvitals_agent.threads import run_in_loop

    (settings, link), now = _receiver(arguments), now_ms()
    receiver = make_receiver(settings, lambda: now, link=link)
    if arguments.show:
        for index, text in enumerate(shown_test_alert(receiver, settings, now)):
            print("\n" * (index > 0) + "\n".join(safe(line) for line in text.split("\n")))
        return ExitCode.DONE
    for status, outcome in run_in_loop(send_test_alert(receiver, settings, now)):
        if outcome.status is not DeliveryStatus.ACCEPTED:
            raise Failure(
                f"receiver {settings.name} did not accept the test alert, {status.value}: {safe(outcome.text)}",
                hint="the agent would retry for a day, then give up"
                if outcome.status is DeliveryStatus.REFUSED
                else "the agent would go on trying",
            )
        print(f"{status.value:<8}  {outcome.status.value}  {safe(outcome.text)}")
    return ExitCode.DONE


def _receiver(arguments: argparse.Namespace) -> tuple[ReceiverSettings, str | None]:
    """The receiver, and the template of links."""
    from mqvitals_agent.commandline.settings import settings_in_force
    from mqvitals_config.receivers.http import webhook_of

    if arguments.webhook is not None:
        try:
            return webhook_of(arguments.webhook, name=arguments.receiver or "webhook"), None
        except ValueError as error:
            raise Failure(f"--webhook: {error}") from error
    if not arguments.receiver:
        raise Failure("no receiver is named", hint="name one of the configuration, or an address with --webhook URL")
    settings = settings_in_force(arguments.config, {}).settings
    known = settings.receivers
    for receiver in known:
        if receiver.name == arguments.receiver:
            return receiver, settings.link
    names = ", ".join(str(receiver.name) for receiver in known)
    raise Failure(
        f"there is no receiver {arguments.receiver!r}",
        hint=f"there is {names}"
        if names
        else "the configuration names none, see receivers in 'mqvitals help configuration'",
    )
