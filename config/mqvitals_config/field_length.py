"""How many bytes the fields of the MQI's structures hold. What is longer cannot be said to MQ, and is never cut.

Sources: the lengths of MQCD, MQCNO, MQSCO and MQCSP in IBM's headers cmqc.h and cmqxc.h (``MQ_CHANNEL_NAME_LENGTH`` and
so on).
"""

from __future__ import annotations

from typing import Final

CHANNEL_LENGTH: Final = 20
ADDRESSES_LENGTH: Final = 264
NAME_LENGTH: Final = 48
APPLICATION_LENGTH: Final = 28
CIPHER_LENGTH: Final = 32
KEY_REPOSITORY_LENGTH: Final = 256
LABEL_LENGTH: Final = 64
PEER_NAME_LENGTH: Final = 1024
URL_LENGTH: Final = 1024
CREDENTIAL_LENGTH: Final = 1024
