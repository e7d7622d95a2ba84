// Functions that run in turn on one thread, each on a stack of its own until it waits: the ranks of a recorded run. No
// handing over between threads, so a run takes the time of its work however busy the machine is, and is the same each
// time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

namespace collpress {

class Fibers {
  public:
    using Id = std::size_t;

    void add(std::function<void()> body) {
        fibers_.push_back(std::make_unique<Fiber>(std::move(body)));
        ready_.push_back(fibers_.size() - 1);
    }

    // Until all have ended. `stuck` is called when all that have not are asleep, and wakes some.
    void run(const std::function<void()> &stuck) {
        std::size_t ended = 0;
        while (ended < fibers_.size()) {
            if (ready_.empty()) stuck();
            current_ = ready_.front();
            ready_.pop_front();
            Fiber &fiber = *fibers_[current_];
            if (!fiber.started) start(fiber);
            swapcontext(&scheduler_, &fiber.context);
            if (fiber.ended) ++ended;
        }
    }

    // Of the running fiber.
    Id current() const { return current_; }
    void sleep() { swapcontext(&fibers_[current_]->context, &scheduler_); }
    void wake(Id fiber) { ready_.push_back(fiber); }

  private:
    static constexpr std::size_t stack_bytes = std::size_t{1} << 20; // only what is touched takes memory

    struct Fiber {
        explicit Fiber(std::function<void()> work)
            : body(std::move(work)), stack(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
            if (stack == MAP_FAILED) throw std::bad_alloc();
        }
        ~Fiber() { munmap(stack, stack_bytes); }
        Fiber(const Fiber &) = delete;
        Fiber &operator=(const Fiber &) = delete;

        std::function<void()> body;
        void *stack;
        ucontext_t context{};
        bool started = false;
        bool ended = false;
    };

    void start(Fiber &fiber) {
        fiber.started = true;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack;
        fiber.context.uc_stack.ss_size = stack_bytes;
        fiber.context.uc_link = &scheduler_;
        starting = &fiber; // makecontext passes only ints
        makecontext(&fiber.context, enter, 0);
    }
    static void enter() {
        Fiber &fiber = *starting;
        fiber.body();
        fiber.ended = true;
    }

    static inline thread_local Fiber *starting = nullptr;

    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::deque<Id> ready_;
    ucontext_t scheduler_{};
    Id current_ = 0;
};

} // namespace collpress
