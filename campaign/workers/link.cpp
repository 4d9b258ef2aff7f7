#include "campaign/workers/link.hpp"

#include <array>
#include <csignal>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <sys/wait.h>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

using nlohmann::json;
namespace asio = boost::asio;

struct WorkerLink::State : std::enable_shared_from_this<WorkerLink::State> {
    State(asio::io_context& context, const WorkerProcess& process, OnMessage message,
          OnClosed closed)
        : pid(process.pid),
          pidfd(process.pidfd),
          socket(context, asio::local::stream_protocol(), process.socket),
          on_message(std::move(message)),
          on_closed(std::move(closed)) {}

    void read_header() {
        asio::async_read(
            socket, asio::buffer(header),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (error) {
                    self->close();
                    return;
                }
                self->read_body();
            });
    }

    void read_body() {
        try {
            body.resize(frame_length({header.data(), header.size()}));
        } catch (const std::runtime_error&) {
            close();
            return;
        }
        asio::async_read(
            socket, asio::buffer(body),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (error) {
                    self->close();
                    return;
                }
                self->deliver();
            });
    }

    void deliver() {
        if (!open) {
            return;
        }
        json message = json::parse(body, nullptr, false);
        if (message.is_discarded()) {
            close();
            return;
        }
        // Big answers are rare; their memory is not kept.
        std::string().swap(body);
        read_header();
        on_message(std::move(message));
    }

    void write_next() {
        asio::async_write(
            socket, asio::buffer(queue.front()),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (error) {
                    self->close();
                    return;
                }
                self->queue.pop_front();
                if (!self->queue.empty()) {
                    self->write_next();
                }
            });
    }

    void close() {
        if (!open) {
            return;
        }
        open = false;
        end_process();
        on_closed();
    }

    void end_process() {
        if (pid > 0) {
            ::kill(pid, SIGKILL);
            while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
            }
            pid = -1;
        }
        boost::system::error_code ignored;  // the socket may be broken already
        socket.close(ignored);
    }

    pid_t pid;
    FileDescriptor pidfd;
    asio::local::stream_protocol::socket socket;
    OnMessage on_message;
    OnClosed on_closed;
    bool open = true;
    std::array<char, frame_header_bytes> header{};
    std::string body;
    std::deque<std::string> queue;
};

WorkerLink::WorkerLink(asio::io_context& context, const std::string& executable, int staging,
                       const json& setup, OnMessage on_message, OnClosed on_closed) {
    const WorkerProcess process = start_worker(executable, {worker_command});
    state_ = std::make_shared<State>(context, process, std::move(on_message), std::move(on_closed));
    send_descriptor(process.socket, staging);
    state_->read_header();
    send(setup);
}

WorkerLink::~WorkerLink() {
    state_->open = false;
    state_->end_process();
}

void WorkerLink::send(const json& message) {
    state_->queue.push_back(make_frame(message.dump()));
    if (state_->queue.size() == 1) {
        state_->write_next();
    }
}

}  // namespace difffuzz
