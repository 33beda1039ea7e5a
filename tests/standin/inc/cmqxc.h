/* Channel structures as far as pymqi 1.12.13 needs them. Written for this project; not IBM's header. */
#ifndef MQVITALS_STANDIN_CMQXC_H
#define MQVITALS_STANDIN_CMQXC_H

#define MQCD_CURRENT_LENGTH 1992

#endif
