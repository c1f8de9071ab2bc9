// A connection of a client, over the Unix socket or TCP, and who is at its other end.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "supervisor/window/api/http/http.hpp"
#include "supervisor/window/api/http/places.hpp"

namespace trainward::api {

using Protocol = boost::asio::generic::stream_protocol;
using Socket = Protocol::socket;
using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;

// What the kernel tells of a connected socket: the user as of connect(), or the address. An address
// of IPv4 is written as one, whichever socket it came by.
Peer peer_of(int socket);
// How it counts among the others. Root and the daemon's own user own it, over the Unix socket. Over
// TCP a network of IPv6 (/64) counts as one, since who has one has all its addresses; this machine,
// where proxies and forwarded ports all come from, has three shares.
Places::Visitor visitor_of(const Peer& peer);
// Of TCP: answers leave at once, and a peer that is gone without a word is noticed in minutes.
void tune(int socket);

}  // namespace trainward::api
