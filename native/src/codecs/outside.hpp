// Libraries of others, which are loaded when a context is made: no codec is linked to one, so that it compiles without
// its headers and is only unsupported where the library is missing.
#ifndef COLLPRESS_CODECS_OUTSIDE_HPP
#define COLLPRESS_CODECS_OUTSIDE_HPP

#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>

namespace collpress::codecs {

class OutsideLibrary {
  public:
    OutsideLibrary() = default;
    OutsideLibrary(const OutsideLibrary &) = delete;
    OutsideLibrary &operator=(const OutsideLibrary &) = delete;
    ~OutsideLibrary() {
        if (handle_ != nullptr) dlclose(handle_);
    }

    // The library that the variable names (workflow/collpress/codecs/outside.py sets it), else the first of `names`
    // that the loader finds.
    bool load(const char *variable, std::initializer_list<const char *> names) {
        const char *path = std::getenv(variable);
        if (path != nullptr && *path != '\0') handle_ = dlopen(path, kMode);
        for (const char *name : names)
            if (handle_ == nullptr) handle_ = dlopen(name, kMode);
        return handle_ != nullptr;
    }

    template <class F>
    bool find(F &function, const char *name) const {
        function = reinterpret_cast<F>(dlsym(handle_, name));
        return function != nullptr;
    }

  private:
    // Not unloaded with the last context: threads that a library has started (libzfp's OpenMP) do not survive that.
    static constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

    void *handle_ = nullptr;
};

} // namespace collpress::codecs
#endif
