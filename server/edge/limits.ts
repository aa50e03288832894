/** Bounds of one port against clients that are slow, silent or many. */
export interface ConnectionLimits {
  /** Connections at a time. */
  connections: number
  /** Limit for one address (an IPv6 network of 64 bits counts as one). */
  perAddress: number
}

/** Bounds of a connection in time, in milliseconds. */
export interface ConnectionTimeouts {
  /** From the connection, or the first byte of a further request, to the end of its head. With TLS, as much again for the handshake. */
  headersMs: number
  /** To the end of its body. */
  requestMs: number
  /** Between two looks at these two. */
  checkMs: number
  /** Between two requests of one connection. Longer than a load balancer in front keeps an idle one, or a request meets the end of its connection. */
  keepAliveMs: number
  /** Without a byte in either direction while an answer is awaited or read. */
  stallMs: number
  /** An answer of which its client takes no byte for so long may be ended when its port is full. */
  unreadMs: number
}

/**
 * How many connections each port takes. One address never gets more than about half, so it cannot close a port to the others; half is still enough for a whole site
 * behind one reverse proxy or NAT, because an address at its share makes room for itself: its oldest idle connection ends for its newest.
 * A connection costs about 20 kB (50 kB with TLS).
 */
export const connectionLimits = {
  /** Integrators' servers: few addresses, many connections each. */
  api: { connections: 10_000, perAddress: 5_000 },
  /**
   * A person holds one WebSocket and a few requests; a room of 400 behind one NAT is far below its share, which in turn is below the 5,000 WebSockets that the
   * signalling takes.
   */
  node: { connections: 10_000, perAddress: 4_000 },
  /** Operators: a handful of browsers and scripts. */
  console: { connections: 1_000, perAddress: 500 },
  /** Janus nodes: one connection each. */
  event: { connections: 400, perAddress: 200 },
  /** Says one sentence and closes. */
  notice: { connections: 100, perAddress: 50 },
} as const satisfies Record<string, ConnectionLimits>

/** Timeouts of each port, unless its options name others. */
export const connectionTimeouts: ConnectionTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Load balancers and proxies keep idle connections for 60 s (AWS, nginx), 90 s (Go, Traefik), 2 min (Caddy), 4 min (Azure), 10 min (Google). An address at its
  // share and a full port end idle connections first, so they take no place from others.
  keepAliveMs: 620_000,
  stallMs: 60_000,
  unreadMs: 3_000,
}

/** A request whose body is still on its way after so long may be ended when its port is full. Milliseconds. */
export const slowBodyMs = 3_000

/** Time in milliseconds that an ending connection is still read: closing over unread bytes resets it, and its client loses the answer. */
export const lingerMs = 500

/**
 * Requests of one connection whose answers are not out yet (pipelining). Node reads all that came in one piece before it looks at what is unanswered, thousands of them; each
 * costs about 8 kB until its answer is read. Clients send one, a few send ten.
 */
export const maxUnanswered = 64
