// difffuzz's side of one worker: asynchronous messages over its socket.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <nlohmann/json.hpp>

#include "campaign/workers/frames.hpp"
#include "campaign/workers/process.hpp"

namespace difffuzz {

// Owns the worker process: destruction kills it and waits for its end (everything in its PID
// namespace ends with it).
class WorkerLink {
public:
    using OnMessage = std::function<void(nlohmann::json)>;
    using OnClosed = std::function<void()>;

    // Starts the worker, hands it `staging`, and sends `setup`. `on_message` gets every answer,
    // `on_closed` is called once when the worker is gone. Both run in `context`; neither is called
    // after destruction. Throws EnvironmentError.
    WorkerLink(boost::asio::io_context& context, const std::string& executable, int staging,
               const nlohmann::json& setup, OnMessage on_message, OnClosed on_closed);
    ~WorkerLink();
    WorkerLink(const WorkerLink&) = delete;
    WorkerLink& operator=(const WorkerLink&) = delete;

    void send(const nlohmann::json& message);

private:
    struct State;
    std::shared_ptr<State> state_;
};

// The command line of a worker: a sub-command that users do not see.
inline constexpr const char* worker_command = "__worker";

}  // namespace difffuzz
