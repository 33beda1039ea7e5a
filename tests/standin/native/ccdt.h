/* Channel definitions from a CCDT in its JSON form. */
#ifndef MQVITALS_STANDIN_CCDT_H
#define MQVITALS_STANDIN_CCDT_H

/* Texts end in NUL; empty is absent. */
struct route {
    char channel[21];
    char addresses[265]; /* host(port), separated by commas */
    char cipher[33];
    char peer[1025];
    char label[65];
};

/* The route to that queue manager from the table at file://... ; 0 when there is none. */
int find_route(const char *url, const char *queue_manager, struct route *route);

#endif
