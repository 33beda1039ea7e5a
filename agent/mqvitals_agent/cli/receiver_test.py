"""``mqvitals alerts test``: does a receiver get what it is sent?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mqvitals_agent.cli.agent import address_file
from mqvitals_agent.commandline.arguments import now_ms
from mqvitals_agent.commandline.failure import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.receiver import Receiver

_TEST = """\
Posts a test alert to a receiver of the configuration, firing and then resolved, and says what came back. The alert is
marked as a test: its name is MQVITALS-TEST, its label test is true. Exit code 0 when both were accepted, else 2.
Nothing is tried twice, and no store is needed.
"""


def add_test_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts test``."""
    parser.description = _TEST
    parser.add_argument("receiver", metavar="RECEIVER", nargs="?", help="the receiver's name in the configuration")
    parser.add_argument("--config", metavar="FILE", help="the configuration file (else MQVITALS_CONFIG)")
    parser.add_argument(
        "--webhook", metavar="URL", help="post to this address instead of to a receiver of the configuration"
    )
    parser.add_argument(
        "--webhook-file", metavar="FILE", dest="webhook", type=address_file, help="the same, with the address in a file"
    )


def run_test(arguments: argparse.Namespace) -> int:
    """Post the test alert; returns the exit code. Raises Failure when there is no such receiver, or it did not take it."""
    from mqvitals_agent.bounded_call import run_in_loop
    from mqvitals_agent.notify.delivery import make_receiver
    from mqvitals_agent.notify.receiver import DeliveryStatus, send_test_alert
    from mqvitals_agent.text.terminal import safe

    settings, now = _receiver(arguments), now_ms()
    receiver = make_receiver(settings, lambda: now)
    for status, outcome in run_in_loop(send_test_alert(receiver, settings, now)):
        if outcome.status is not DeliveryStatus.ACCEPTED:
            raise Failure(
                f"receiver {settings.name} did not accept the test alert, {status.value}: {safe(outcome.text)}",
                hint="the agent would try it again for a day, and then give it up"
                if outcome.status is DeliveryStatus.REFUSED
                else "the agent would go on trying",
            )
        print(f"{status.value:<8}  {outcome.status.value}  {safe(outcome.text)}")
    return ExitCode.DONE


def _receiver(arguments: argparse.Namespace) -> Receiver:
    from mqvitals_agent.commandline.settings import settings_in_force
    from mqvitals_config.receiver import receiver_of

    if arguments.webhook is not None:
        try:
            return receiver_of(arguments.webhook, name=arguments.receiver or "webhook")
        except ValueError as error:
            raise Failure(f"--webhook: {error}") from error
    if not arguments.receiver:
        raise Failure("no receiver is named", hint="name one of the configuration, or an address with --webhook URL")
    known = settings_in_force(arguments.config, {}).settings.receivers
    for receiver in known:
        if receiver.name == arguments.receiver:
            return receiver
    names = ", ".join(str(receiver.name) for receiver in known)
    raise Failure(
        f"there is no receiver {arguments.receiver!r}",
        hint=f"there is {names}"
        if names
        else "the configuration names none, see receivers in 'mqvitals help configuration'",
    )
