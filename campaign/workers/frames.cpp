#include "campaign/workers/frames.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

namespace difffuzz {
namespace {

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Fills `bytes`; false at the end of the stream before the first byte.
bool receive_all(int socket, char* bytes, std::size_t length) {
    std::size_t done = 0;
    while (done < length) {
        const ssize_t got = ::recv(socket, bytes + done, length - done, 0);
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (got == 0) {
            if (done == 0) {
                return false;
            }
            throw std::runtime_error("the other side ended within a message");
        } else if (errno != EINTR) {
            throw_errno("receiving a message");
        }
    }
    return true;
}

union ControlBuffer {
    cmsghdr header;
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

}  // namespace

std::string make_frame(std::string_view text) {
    if (text.size() > max_frame_bytes) {
        throw std::runtime_error("a message is longer than a worker may send");
    }
    std::string frame;
    frame.reserve(frame_header_bytes + text.size());
    for (unsigned shift = 0; shift < 32; shift += 8) {
        frame.push_back(static_cast<char>((text.size() >> shift) & 0xff));
    }
    return frame.append(text);
}

std::uint32_t frame_length(std::string_view header) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < frame_header_bytes; ++i) {
        length |= std::uint32_t{static_cast<unsigned char>(header.at(i))} << (8 * i);
    }
    if (length > max_frame_bytes) {
        throw std::runtime_error("a message announces more bytes than allowed");
    }
    return length;
}

void send_frame(int socket, std::string_view text) {
    const std::string frame = make_frame(text);
    std::size_t done = 0;
    while (done < frame.size()) {
        const ssize_t sent = ::send(socket, frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
        if (sent >= 0) {
            done += static_cast<std::size_t>(sent);
        } else if (errno != EINTR) {
            throw_errno("sending a message");
        }
    }
}

std::optional<std::string> receive_frame(int socket) {
    std::array<char, frame_header_bytes> header{};
    if (!receive_all(socket, header.data(), header.size())) {
        return std::nullopt;
    }
    std::string text(frame_length({header.data(), header.size()}), '\0');
    if (!text.empty() && !receive_all(socket, text.data(), text.size())) {
        throw std::runtime_error("the other side ended within a message");
    }
    return text;
}

void send_descriptor(int socket, int descriptor) {
    char mark = 'd';
    iovec part{&mark, 1};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) {
            throw_errno("handing a directory to a worker");
        }
    }
}

int receive_descriptor(int socket) {
    char mark = 0;
    iovec part{&mark, 1};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    while (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0) {
        if (errno != EINTR) {
            throw_errno("taking over a directory");
        }
    }
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
        throw std::runtime_error("no directory was handed over");
    }
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

}  // namespace difffuzz
