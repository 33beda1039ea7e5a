"""Which parameters hold no names: their texts stay. Every other text is redacted, also of parameters that are not known."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.pcf import constants as mq

SAFE: Final = frozenset(
    {
        # dates and times
        mq.MQCA_CREATION_DATE,
        mq.MQCA_CREATION_TIME,
        mq.MQCA_ALTERATION_DATE,
        mq.MQCA_ALTERATION_TIME,
        mq.MQCAMO_START_DATE,
        mq.MQCAMO_START_TIME,
        mq.MQCAMO_END_DATE,
        mq.MQCAMO_END_TIME,
        mq.MQCACF_UOW_START_DATE,
        mq.MQCACF_UOW_START_TIME,
        mq.MQCACF_UOW_LOG_START_DATE,
        mq.MQCACF_UOW_LOG_START_TIME,
        mq.MQCACF_FAIL_DATE,
        mq.MQCACF_FAIL_TIME,
        mq.MQCACF_BACKUP_DATE,
        mq.MQCACF_BACKUP_TIME,
        mq.MQCACF_RECOVERY_DATE,
        mq.MQCACF_RECOVERY_TIME,
        mq.MQCACF_SYSP_Q_MGR_DATE,
        mq.MQCACF_SYSP_Q_MGR_TIME,
        mq.MQCACF_LAST_PUT_DATE,
        mq.MQCACF_LAST_PUT_TIME,
        mq.MQCACF_LAST_GET_DATE,
        mq.MQCACF_LAST_GET_TIME,
        mq.MQCACF_Q_MGR_START_DATE,
        mq.MQCACF_Q_MGR_START_TIME,
        mq.MQCACH_LAST_MSG_DATE,
        mq.MQCACH_LAST_MSG_TIME,
        mq.MQCACH_CHANNEL_START_DATE,
        mq.MQCACH_CHANNEL_START_TIME,
        mq.MQCACH_SSL_KEY_RESET_DATE,
        mq.MQCACH_SSL_KEY_RESET_TIME,
        # positions in the log and numbers of units of work, in hexadecimal
        mq.MQCACF_USAGE_LOG_RBA,
        mq.MQCACF_USAGE_LOG_LRSN,
        mq.MQCACF_CF_STRUC_BACKUP_START,
        mq.MQCACF_CF_STRUC_BACKUP_END,
        mq.MQCACF_SYSP_Q_MGR_RBA,
        mq.MQCACF_SYSP_LOG_RBA,
        mq.MQCACF_SYSP_OFFLINE_RBA,
        mq.MQCACH_CURRENT_LUWID,
        mq.MQCACH_LAST_LUWID,
        # versions, products, words of MQSC
        mq.MQCA_VERSION,
        mq.MQCACH_REMOTE_VERSION,
        mq.MQCACH_REMOTE_PRODUCT,
        mq.MQCACH_SSL_CIPHER_SPEC,
        mq.MQCACF_CF_OFFLOAD_SIZE1,
        mq.MQCACF_CF_OFFLOAD_SIZE2,
        mq.MQCACF_CF_OFFLOAD_SIZE3,
        mq.MQCACF_EXCL_OPERATOR_MESSAGES,
    }
)
"""Texts that stay: none of them is chosen by a site."""

FREE_TEXT: Final = frozenset(
    {
        mq.MQCA_Q_DESC,
        mq.MQCA_Q_MGR_DESC,
        mq.MQCA_STORAGE_CLASS_DESC,
        mq.MQCA_CF_STRUC_DESC,
        mq.MQCA_CERT_LABEL,
        mq.MQCA_SSL_CERT_ISSUER_NAME,
        mq.MQCACF_AUX_ERROR_DATA_STR_1,
        mq.MQCACF_AUX_ERROR_DATA_STR_2,
        mq.MQCACF_AUX_ERROR_DATA_STR_3,
        mq.MQCACF_COMMAND_MQSC,
        mq.MQCACF_APPL_DESC,
        mq.MQCACH_DESC,
        mq.MQCACH_SSL_PEER_NAME,
        mq.MQCACH_SSL_SHORT_PEER_NAME,
        mq.MQCACH_SSL_CERT_ISSUER_NAME,
    }
)
"""Texts of several words: of them only the length stays. So it is with every other text that has not the form of a name."""
