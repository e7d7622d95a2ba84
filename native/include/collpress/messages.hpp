// Messages that are started one after another and completed together.
//
// Post the receives first: a message that finds its receive posted goes straight into its buffer.
#ifndef COLLPRESS_MESSAGES_HPP
#define COLLPRESS_MESSAGES_HPP

#include "collpress/p2p.hpp"

#include <vector>

namespace collpress {

class Messages {
  public:
    // `expected`: how many are in flight at most, if known; memory is taken once.
    explicit Messages(const P2p &comm, std::int32_t expected = 2) : comm_(comm) {
        open_.reserve(static_cast<std::size_t>(std::max(expected, 0)));
    }

    // Empty messages are not sent: both sides know the counts.
    void send(const void *buffer, std::size_t elements, std::int32_t to) {
        if (elements != 0) open_.push_back(comm_.send(buffer, elements, to));
    }
    void receive(void *buffer, std::size_t elements, std::int32_t from) {
        if (elements != 0) open_.push_back(comm_.receive(buffer, elements, from));
    }
    void complete() {
        for (const collpress_request request : open_) comm_.wait(request);
        open_.clear();
    }

  private:
    P2p comm_;
    std::vector<collpress_request> open_;
};

} // namespace collpress

#endif
