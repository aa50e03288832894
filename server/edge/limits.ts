/** Limits of one port against clients that are slow, silent or numerous. */
export interface ConnectionLimits {
  connections: number
  /** Maximum number per address (a /64 IPv6 network counts as one). */
  perAddress: number
}

/** Time limits of a connection, in milliseconds. */
export interface ConnectionTimeouts {
  /**
   * Maximum time from the connection, or from the first byte of a further request, to the end of the request's headers.
   * The TLS handshake has a separate limit of the same length.
   */
  headersMs: number
  /** Maximum time to the end of the request's body. */
  requestMs: number
  /** Interval at which `headersMs` and `requestMs` are checked. */
  checkMs: number
  /**
   * Maximum idle time between two requests on one connection. Must be longer than the idle timeout of a load balancer in
   * front; otherwise the load balancer may send a request on a closed connection.
   */
  keepAliveMs: number
  /** Maximum time without a byte in either direction while an answer is awaited or read. */
  stallMs: number
  /** Time without reading after which a connection with an unread answer may be closed if the port is full. */
  unreadMs: number
}

/**
 * Connection limits of each port. One address never gets more than about half of the connections, so it cannot block a
 * port for others. Half of the connections is still enough for a whole site behind one reverse proxy or NAT. If an
 * address is at its limit, its oldest idle connection is closed for its newest. A connection costs about 20 kB (50 kB
 * with TLS).
 */
export const connectionLimits = {
  /** Integrators' servers: few addresses, many connections each. */
  api: { connections: 10_000, perAddress: 5_000 },
  /**
   * A person has one WebSocket and a few requests. A room of 400 people behind one NAT is far below the limit per
   * address, which is below the 5,000 WebSockets of the signaling.
   */
  node: { connections: 10_000, perAddress: 4_000 },
  /** Operators: a few browsers and scripts. */
  console: { connections: 1_000, perAddress: 500 },
  /** Janus nodes: one connection each. */
  event: { connections: 400, perAddress: 200 },
  /** Port that sends one sentence and closes. */
  notice: { connections: 100, perAddress: 50 },
} as const satisfies Record<string, ConnectionLimits>

/** Default timeouts of each port. */
export const connectionTimeouts: ConnectionTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Load balancers and proxies keep idle connections for 60 s (AWS, nginx), 90 s (Go, Traefik), 2 min (Caddy), 4 min
  // (Azure), 10 min (Google). If an address is at its limit, or a port is full, idle connections are closed first, so
  // they block no clients.
  keepAliveMs: 620_000,
  stallMs: 60_000,
  unreadMs: 3_000,
}

/** Time in milliseconds after which a request with an unfinished body may be closed when its port is full. */
export const slowBodyMs = 3_000

/**
 * Time in milliseconds for which input of a closing connection is still read. Closing with unread bytes resets the
 * connection, and its client loses the answer.
 */
export const lingerMs = 500

/**
 * Maximum number of unfinished requests per connection (pipelining). Node parses all requests of a received chunk,
 * thousands of them, before it checks for unanswered requests. Each request costs about 8 kB until its answer is read.
 * Most clients send one request at a time; a few send ten.
 */
export const maxUnanswered = 64
