#include "campaign/triage/scheduler.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace difffuzz {
namespace {

class Scheduler {
public:
    Scheduler(WorkerPool& pool, std::deque<std::unique_ptr<TriageSession>> sessions,
              unsigned at_once, const std::function<void(TriageSession&)>& ended)
        : pool_(pool), waiting_(std::move(sessions)), at_once_(at_once), ended_(ended) {}

    void run() {
        WorkerPool::Handlers handlers;
        handlers.next = [this] { return next(); };
        handlers.done = [this](const Task& task, const CaseReport& report) { put(task, report); };
        handlers.lost = [this](const Task& task) { lost(task); };
        pool_.run(handlers);
    }

private:
    struct Out {
        TriageSession* session;
        std::string id;
    };

    NextTask next() {
        if (!again_.empty()) {
            // Alone, as it may be what ended the worker.
            if (pool_.running() > 0) {
                return WaitForOthers{};
            }
            running_alone_ = true;
            Task task = std::move(again_.front());
            again_.pop_front();
            return task;
        }
        while (active_.size() < at_once_ && !waiting_.empty()) {
            active_.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
        }
        if (active_.empty()) {
            return NothingLeft{};
        }
        if (running_alone_) {
            return WaitForOthers{};
        }
        // What runs alone first: the longer it waits, the more stands still in the end.
        if (alone_) {
            return give_alone();
        }
        for (std::size_t ahead = 1; ahead <= at_once_; ++ahead) {
            for (const auto& session : active_) {
                auto wanted = session->next(ahead);
                if (!wanted) {
                    continue;
                }
                const bool alone = wanted->alone;
                Task task = ticketed(*session, *std::move(wanted));
                if (!alone) {
                    return task;
                }
                alone_ = std::move(task);
                return give_alone();
            }
        }
        return WaitForOthers{};
    }

    NextTask give_alone() {
        if (pool_.running() > 0) {
            return WaitForOthers{};
        }
        running_alone_ = true;
        return *std::exchange(alone_, std::nullopt);
    }

    Task ticketed(TriageSession& session, TriageSession::Wanted wanted) {
        Task task = std::move(wanted.task);
        task.ticket = ++last_ticket_;
        out_[last_ticket_] = {&session, std::move(wanted.id)};
        return task;
    }

    void put(const Task& task, const CaseReport& report) {
        running_alone_ = false;
        const Out out = out_.extract(task.ticket).mapped();
        if (out.session->ended()) {
            return;
        }
        out.session->put(out.id, report);
        if (out.session->ended()) {
            ended_(*out.session);
            retire(*out.session);
        }
    }

    void retire(const TriageSession& session) {
        const auto place =
            std::ranges::find_if(active_, [&](const auto& one) { return one.get() == &session; });
        // Candidates that were run ahead may still come in.
        retired_.push_back(std::move(*place));
        active_.erase(place);
        std::erase_if(retired_, [&](const auto& one) {
            return std::ranges::none_of(
                out_, [&](const auto& out) { return out.second.session == one.get(); });
        });
    }

    void lost(const Task& task) {
        running_alone_ = false;
        if (lost_once_.insert(task.ticket).second) {
            again_.push_back(task);
            return;
        }
        CaseReport report;
        report.index = task.index;
        report.terminal = Terminal::harness_killed;
        put(task, report);
    }

    WorkerPool& pool_;
    std::deque<std::unique_ptr<TriageSession>> waiting_;
    std::vector<std::unique_ptr<TriageSession>> active_;
    std::vector<std::unique_ptr<TriageSession>> retired_;
    std::size_t at_once_;
    const std::function<void(TriageSession&)>& ended_;
    std::map<std::uint64_t, Out> out_;  // by ticket
    std::uint64_t last_ticket_ = 0;
    std::optional<Task> alone_;  // until nothing else runs
    bool running_alone_ = false;
    std::deque<Task> again_;
    std::set<std::uint64_t> lost_once_;
};

}  // namespace

void run_sessions(WorkerPool& pool, std::deque<std::unique_ptr<TriageSession>> sessions,
                  unsigned at_once, const std::function<void(TriageSession&)>& ended) {
    Scheduler(pool, std::move(sessions), at_once, ended).run();
}

}  // namespace difffuzz
