/* An algorithm written in C, for the smallest case: every rank sends its vector to its neighbour and passes it on, p-1
 * times. */
#include "collpress/algorithm.h"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const size_t bytes = call->count * p2p->element_bytes;
    const int32_t right = (p2p->rank + 1) % p2p->size;
    const int32_t left = (p2p->rank + p2p->size - 1) % p2p->size;
    char *visiting[2] = {p2p->scratch(p2p->self, bytes), p2p->scratch(p2p->self, bytes)};
    const void *outgoing = call->send;
    p2p->copy(p2p->self, call->recv, call->send, bytes);
    for (int32_t hop = 1; hop < p2p->size; ++hop) {
        p2p->step(p2p->self);
        char *incoming = visiting[hop % 2];
        const collpress_request received = p2p->receive(p2p->self, incoming, bytes, left);
        const collpress_request sent = p2p->send(p2p->self, outgoing, bytes, right);
        p2p->wait(p2p->self, received);
        p2p->wait(p2p->self, sent);
        p2p->reduce(p2p->self, call->recv, incoming, call->count);
        outgoing = incoming;
    }
}

static const collpress_algorithm interface = {"allreduce", 0, 1, 0, 0, run, 0, 0, 0, 0, 0};
static const collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_ALGORITHM, "whole vectors around the ring",
                                          &interface};

const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
