// SHA-256 (FIPS 180-4).
#pragma once

#include <cstddef>
#include <string>

namespace collpress {

std::string sha256_hex(const void *data, std::size_t bytes);

} // namespace collpress
