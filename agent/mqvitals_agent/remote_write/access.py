"""How an engine is reached, whatever it is asked: the secrets of its settings, the header Authorization, certificates."""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Mapping

from mqvitals_agent.notify.receivers.attempt import Reveal, context_of
from mqvitals_agent.notify.receivers.http_text import header_text
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.sections.engine_access import EngineAccess


def read_access(settings: EngineAccess, reveal: Reveal) -> tuple[dict[Secret, str], ssl.SSLContext | bool]:
    """The texts of all secrets, without blanks around them, and how the engine's certificate is checked; True: as the
    operating system does it. It reads files, which may hang. Raises SecretError and AttemptError.
    """
    return {secret: reveal(secret).strip() for secret in _secrets(settings)}, _tls(settings)


def _secrets(settings: EngineAccess) -> list[Secret]:
    found = [settings.bearer_token_file]
    if settings.basic_auth is not None:
        found.append(settings.basic_auth.password_file)
    if settings.authorization is not None:
        found.append(settings.authorization.credentials_file)
    return [each for each in found if each is not None]


def authorization_of(settings: EngineAccess, texts: Mapping[Secret, str]) -> str:
    """The header of that name; empty: none. Raises ValueError when a secret cannot be in one."""
    if (basic := settings.basic_auth) is not None:
        return basic_authorization(basic.username, texts[basic.password_file])
    if (other := settings.authorization) is not None:
        secret = other.credentials_file
        return f"{other.type} {header_text(texts[secret], secret)}"
    if (token := settings.bearer_token_file) is not None:
        return f"Bearer {header_text(texts[token], token, 'token')}"
    return ""


def basic_authorization(username: str, password: str) -> str:
    """The value of the header Authorization for a name and a password. Raises ValueError for a name with a colon."""
    if ":" in username:
        raise ValueError("a username for basic authentication holds no colon")
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode()}"


def _tls(settings: EngineAccess) -> ssl.SSLContext | bool:
    tls = settings.tls_config
    if tls.ca_file is None and tls.cert_file is None:
        return not tls.insecure_skip_verify
    context = context_of(tls.ca_file, tls.cert_file, tls.key_file, ("cert_file", "key_file"))
    if tls.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
