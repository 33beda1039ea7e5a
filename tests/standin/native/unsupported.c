/* What the bindings link to and a monitor never calls: every verb here answers 2298, function not supported. */
#include "cmqbc.h"
#include "cmqc.h"

#define UNUSED __attribute__((unused))
#define REFUSE(verb, ...)                                                                                              \
    void verb(__VA_ARGS__, MQLONG *cc, MQLONG *rc)                                                                     \
    {                                                                                                                  \
        *cc = MQCC_FAILED;                                                                                             \
        *rc = MQRC_FUNCTION_NOT_SUPPORTED;                                                                             \
    }

REFUSE(MQBEGIN, UNUSED MQHCONN hconn, UNUSED void *bo)
REFUSE(MQSET, UNUSED MQHCONN hconn, UNUSED MQHOBJ hobj, UNUSED MQLONG selector_count, UNUSED MQLONG *selectors,
       UNUSED MQLONG int_count, UNUSED MQLONG *ints, UNUSED MQLONG char_length, UNUSED char *chars)
REFUSE(MQSUB, UNUSED MQHCONN hconn, UNUSED void *sd, UNUSED MQHOBJ *hobj, UNUSED MQHOBJ *hsub)
REFUSE(MQSUBRQ, UNUSED MQHCONN hconn, UNUSED MQHOBJ hsub, UNUSED MQLONG action, UNUSED void *sro)
REFUSE(MQSTAT, UNUSED MQHCONN hconn, UNUSED MQLONG type, UNUSED void *sts)
REFUSE(MQCB, UNUSED MQHCONN hconn, UNUSED MQLONG operation, UNUSED void *cbd, UNUSED MQHOBJ hobj, UNUSED void *md,
       UNUSED void *gmo)
REFUSE(MQCTL, UNUSED MQHCONN hconn, UNUSED MQLONG operation, UNUSED void *ctlo)
REFUSE(MQCRTMH, UNUSED MQHCONN hconn, UNUSED void *cmho, UNUSED MQHMSG *hmsg)
REFUSE(MQDLTMH, UNUSED MQHCONN hconn, UNUSED MQHMSG *hmsg, UNUSED void *dmho)
REFUSE(MQSETMP, UNUSED MQHCONN hconn, UNUSED MQHMSG hmsg, UNUSED void *smpo, UNUSED void *name, UNUSED void *pd,
       UNUSED MQLONG type, UNUSED MQLONG length, UNUSED void *value)
REFUSE(MQINQMP, UNUSED MQHCONN hconn, UNUSED MQHMSG hmsg, UNUSED void *impo, UNUSED void *name, UNUSED void *pd,
       UNUSED MQLONG *type, UNUSED MQLONG room, UNUSED void *value, UNUSED MQLONG *length)
REFUSE(MQDLTMP, UNUSED MQHCONN hconn, UNUSED MQHMSG hmsg, UNUSED void *dmpo, UNUSED void *name)

/* pymqi's C module wants these to load; nothing calls them. */
void mqCreateBag(void) {}
void mqDeleteBag(void) {}
void mqAddByteString(void) {}
void mqAddInquiry(void) {}
void mqAddInteger(void) {}
void mqAddIntegerFilter(void) {}
void mqAddString(void) {}
void mqAddStringFilter(void) {}
void mqCountItems(void) {}
void mqExecute(void) {}
void mqInquireBag(void) {}
void mqInquireByteString(void) {}
void mqInquireInteger(void) {}
void mqInquireItemInfo(void) {}
void mqInquireString(void) {}
