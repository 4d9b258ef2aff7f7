// Workers at work: hands out tasks, replaces workers that died, never holds results back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "campaign/workers/link.hpp"
#include "campaign/workers/messages.hpp"

namespace difffuzz {

struct WaitForOthers {};  // nothing to hand out until a running task has ended
struct NothingLeft {};
using NextTask = std::variant<Task, WaitForOthers, NothingLeft>;

class WorkerPool {
public:
    struct Handlers {
        std::function<NextTask()> next;
        std::function<void(const Task&, CaseReport)> done;
        // The worker that ran this task died; `next` may hand it out again.
        std::function<void(const Task&)> lost;
    };

    // Starts `count` workers and waits until all are ready; throws EnvironmentError when one is
    // not. `staging` outlives this.
    WorkerPool(boost::asio::io_context& context, const std::string& executable, int staging,
               const WorkerSetup& setup, unsigned count);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // What the first worker said when it was ready.
    const WorkerReady& ready() const { return ready_; }

    // Runs until `next` says NothingLeft and no task runs any more, or stop() was called. Throws
    // what a worker reported as EnvironmentError.
    void run(const Handlers& handlers);
    // Makes run() return as soon as possible; tasks that are running are given up.
    void stop();
    bool stopped() const { return stopped_; }
    // No more full records are wanted for this fingerprint.
    void saturate(const std::string& bucket_key) { saturated_.push_back(bucket_key); }
    std::size_t running() const;

    // Asks all workers what they used; call once, after the last run().
    WorkerUsage collect_usage();

private:
    struct Slot;

    void start(Slot& slot);
    void on_message(Slot& slot, const nlohmann::json& message);
    void on_closed(Slot& slot);
    void feed();
    void poll_until(const std::function<bool()>& condition);

    boost::asio::io_context& context_;
    std::string executable_;
    int staging_;
    nlohmann::json setup_;
    std::vector<std::unique_ptr<Slot>> slots_;
    WorkerReady ready_;
    const Handlers* handlers_ = nullptr;
    std::vector<std::string> saturated_;
    WorkerUsage usage_;
    std::string failure_;         // an error that a worker reported
    bool usage_failure_ = false;  // it is about what the user gave
    bool nothing_left_ = false;
    bool stopped_ = false;
};

}  // namespace difffuzz
