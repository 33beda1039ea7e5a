/* The administration bags that pymqi's C module links to. Its Python part never calls them, so they have no types here:
 * pymqi is compiled as C17, where empty brackets say nothing of the arguments. Written for this project; not IBM's header.
 */
#ifndef MQVITALS_STANDIN_CMQBC_H
#define MQVITALS_STANDIN_CMQBC_H

#include "cmqc.h"

typedef MQLONG MQHBAG;

enum {
    MQHB_UNUSABLE_HBAG = -1,
    MQHB_NONE = -2,
    MQBL_NULL_TERMINATED = -1,
    MQIND_NONE = -1,
    MQIASY_COMP_CODE = -5,
    MQIASY_REASON = -6,
    MQSEL_ANY_USER_SELECTOR = -30002,
    MQSEL_ALL_USER_SELECTORS = -30004,
    MQCBO_ADMIN_BAG = 1,
    MQIT_INTEGER = 1,
    MQIT_STRING = 2,
    MQITEM_BYTE_STRING = 8,
    MQHA_BAG_HANDLE = 4001
};

void mqCreateBag();
void mqDeleteBag();
void mqAddByteString();
void mqAddInquiry();
void mqAddInteger();
void mqAddIntegerFilter();
void mqAddString();
void mqAddStringFilter();
void mqCountItems();
void mqExecute();
void mqInquireBag();
void mqInquireByteString();
void mqInquireInteger();
void mqInquireItemInfo();
void mqInquireString();

#endif
