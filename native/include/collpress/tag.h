/* Names for the parts of an algorithm: its phases, and in them rounds or whatever it has. The steps that an algorithm
 * marks, and all that it does on the interface, are tagged without its help.
 *
 * Tags are scopes that nest. In a plugin that is compiled without COLLPRESS_TAGS they are nothing at all; for a source
 * that uses them, a second plugin is compiled with it, which only the pass that attributes time runs.
 *
 *     CP_TAG_BEGIN(p2p, "reduce-scatter");      in C
 *     ...
 *     CP_TAG_END(p2p);
 *
 *     CP_TAG(comm, "reduce-scatter");           in C++, up to the end of the scope
 *
 * A name is a string literal: it is kept by its address. */
#ifndef COLLPRESS_TAG_H
#define COLLPRESS_TAG_H

#include "collpress/algorithm.h"

#ifdef COLLPRESS_TAGS
#define CP_TAG_BEGIN(p2p, name) ((p2p)->tag_begin((p2p)->self, "" name))
#define CP_TAG_END(p2p) ((p2p)->tag_end((p2p)->self))
#else
#define CP_TAG_BEGIN(p2p, name) ((void)0)
#define CP_TAG_END(p2p) ((void)0)
#endif

#ifdef __cplusplus
#ifdef COLLPRESS_TAGS

namespace collpress {

class ScopedTag {
  public:
    ScopedTag(const collpress_p2p *p2p, const char *name) : p2p_(p2p) { p2p->tag_begin(p2p->self, name); }
    ~ScopedTag() { p2p_->tag_end(p2p_->self); }
    ScopedTag(const ScopedTag &) = delete;
    ScopedTag &operator=(const ScopedTag &) = delete;

  private:
    const collpress_p2p *p2p_;
};

} // namespace collpress

#define COLLPRESS_TAG_NAME_(line) collpress_tag_##line
#define COLLPRESS_TAG_NAME(line) COLLPRESS_TAG_NAME_(line)
#define CP_TAG(comm, name) const collpress::ScopedTag COLLPRESS_TAG_NAME(__LINE__)((comm).raw(), "" name)
#else
#define CP_TAG(comm, name) ((void)0)
#endif
#endif

#endif
