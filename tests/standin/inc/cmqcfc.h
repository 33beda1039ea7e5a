/* pymqi 1.12.13 includes this header and takes nothing from it. Written for this project; not IBM's header. */
#ifndef MQVITALS_STANDIN_CMQCFC_H
#define MQVITALS_STANDIN_CMQCFC_H
#endif
