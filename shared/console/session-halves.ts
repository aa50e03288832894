/**
 * The secret of a console session has two halves. Browsers send the cookie, the first half, to every port of the host
 * (RFC 6265, section 8.5), including other web servers. The page's half is kept in the storage of the page's origin,
 * which is separate for each port. Neither half alone is sufficient.
 */

/** Header with the page's half of the session secret: in the response to a sign-in, and in each request of the page. */
export const pageHalfHeader = 'roomdesk-session'
/**
 * Query parameter of `GET /session` with which the page requests the state of its session. With this parameter, a
 * missing session is not an error.
 */
export const sessionStateParameter = 'state'
/**
 * Query parameter of a download: a ticket for its path. It replaces the page's half of the session secret, because
 * browsers send no custom header with a download.
 */
export const ticketParameter = 'ticket'
/** Paths for which tickets are issued. */
export const downloadPrefix = '/recordings/exports/'

/** Subprotocol of the console's WebSocket. */
export const consoleSubprotocol = 'roomdesk.console'
const halfPrefix = 'roomdesk.session.'

/**
 * Returns the subprotocols that a page offers. They contain the page's half of the session secret, because browsers
 * send no custom headers with a WebSocket.
 */
export function offeredSubprotocols(half: string): string[] {
  return half === '' ? [consoleSubprotocol] : [consoleSubprotocol, `${halfPrefix}${half}`]
}

/** Returns the page's half of the session secret from a `Sec-WebSocket-Protocol` header; empty: missing. */
export function halfOfSubprotocols(header: string): string {
  const offered = header.split(',').map((one) => one.trim())
  return offered.find((one) => one.startsWith(halfPrefix))?.slice(halfPrefix.length) ?? ''
}
