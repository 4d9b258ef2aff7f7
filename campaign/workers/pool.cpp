#include "campaign/workers/pool.hpp"

#include <algorithm>
#include <cassert>

#include "core/errors.hpp"

namespace difffuzz {

using nlohmann::json;

struct WorkerPool::Slot {
    std::unique_ptr<WorkerLink> link;
    bool ready = false;
    bool asked_usage = false;
    std::optional<Task> task;
    std::size_t told_saturated = 0;
};

WorkerPool::WorkerPool(boost::asio::io_context& context, const std::string& executable, int staging,
                       const WorkerSetup& setup, unsigned count)
    : context_(context), executable_(executable), staging_(staging), setup_(to_json(setup)) {
    for (unsigned i = 0; i < count; ++i) {
        slots_.push_back(std::make_unique<Slot>());
        start(*slots_.back());
    }
    poll_until([this] {
        return std::all_of(slots_.begin(), slots_.end(),
                           [](const auto& slot) { return slot->ready; });
    });
}

WorkerPool::~WorkerPool() = default;

void WorkerPool::start(Slot& slot) {
    slot.ready = false;
    slot.told_saturated = 0;
    slot.link = std::make_unique<WorkerLink>(
        context_, executable_, staging_, setup_,
        [this, &slot](const json& message) { on_message(slot, message); },
        [this, &slot] { on_closed(slot); });
}

void WorkerPool::on_message(Slot& slot, const json& message) {
    if (!slot.ready) {
        WorkerReady ready = ready_from_json(message);
        if (!ready.error.empty()) {
            failure_ = ready.error;
            return;
        }
        slot.ready = true;
        if (ready_.tools.empty()) {
            ready_ = std::move(ready);
        }
    } else if (slot.asked_usage) {
        const WorkerUsage usage = usage_from_json(message);
        usage_.own_cpu_us += usage.own_cpu_us;
        usage_.tools_cpu_us += usage.tools_cpu_us;
        usage_.tools_wall_us += usage.tools_wall_us;
        usage_.commands += usage.commands;
        usage_.peak_memory_bytes = std::max(usage_.peak_memory_bytes, usage.peak_memory_bytes);
        slot.asked_usage = false;
    } else if (message.contains("error")) {
        failure_ = message.at("error");
    } else if (message.contains("usage_error")) {
        failure_ = message.at("usage_error");
        usage_failure_ = true;
    } else if (slot.task) {
        const Task task = *std::exchange(slot.task, std::nullopt);
        handlers_->done(task, report_from_json(message));
    }
    feed();
}

void WorkerPool::on_closed(Slot& slot) {
    if (!slot.ready) {
        failure_ = "a worker ended before it was ready; its last words are above";
        return;
    }
    slot.asked_usage = false;
    const std::optional<Task> task = std::exchange(slot.task, std::nullopt);
    // This runs inside the link: it is replaced once its own code has returned.
    context_.post([this, &slot] {
        if (!stopped_) {
            start(slot);
        }
    });
    if (task && handlers_ != nullptr) {
        handlers_->lost(*task);
    }
}

void WorkerPool::feed() {
    if (handlers_ == nullptr || stopped_ || !failure_.empty()) {
        return;
    }
    for (const auto& slot : slots_) {
        if (!slot->ready || slot->task || nothing_left_) {
            continue;
        }
        NextTask next = handlers_->next();
        if (std::holds_alternative<NothingLeft>(next)) {
            nothing_left_ = true;
            return;
        }
        if (std::holds_alternative<WaitForOthers>(next)) {
            return;
        }
        Task task = std::get<Task>(std::move(next));
        task.saturated.assign(
            saturated_.begin() + static_cast<std::ptrdiff_t>(slot->told_saturated),
            saturated_.end());
        slot->told_saturated = saturated_.size();
        slot->link->send(to_json(task));
        slot->task = std::move(task);
    }
}

std::size_t WorkerPool::running() const {
    return static_cast<std::size_t>(std::count_if(
        slots_.begin(), slots_.end(), [](const auto& slot) { return slot->task.has_value(); }));
}

void WorkerPool::run(const Handlers& handlers) {
    handlers_ = &handlers;
    nothing_left_ = false;
    feed();
    poll_until([this] {
        // A task that was lost on the way may have made `next` give again.
        if (nothing_left_ && running() == 0) {
            nothing_left_ = false;
            feed();
        }
        return stopped_ || (nothing_left_ && running() == 0);
    });
    handlers_ = nullptr;
}

void WorkerPool::stop() {
    stopped_ = true;
    // Wakes the loop up.
    context_.post([] {});
}

WorkerUsage WorkerPool::collect_usage() {
    for (const auto& slot : slots_) {
        if (slot->ready && !slot->task) {
            slot->asked_usage = true;
            slot->link->send(json{{"stop", true}});
        }
    }
    poll_until([this] {
        return std::none_of(slots_.begin(), slots_.end(),
                            [](const auto& slot) { return slot->asked_usage; });
    });
    return usage_;
}

void WorkerPool::poll_until(const std::function<bool()>& condition) {
    while (failure_.empty() && !condition()) {
        context_.restart();
        context_.run_one();
    }
    if (!failure_.empty() && usage_failure_) {
        throw UsageError(failure_);
    }
    if (!failure_.empty()) {
        throw EnvironmentError(failure_);
    }
}

}  // namespace difffuzz
