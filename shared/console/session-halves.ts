/**
 * A console session has two halves. Browsers send the cookie to every port of the host (RFC 6265, section 8.5),
 * including other web servers. The page's half is kept in the storage of the page's origin, which includes the port.
 * Neither half is sufficient alone.
 */

/** Header with the page's half: in the response to a sign-in, and in each request of the page. */
export const pageHalfHeader = 'roomdesk-session'
/**
 * Query parameter of `GET /session` with which the page requests the state of its session; a missing session is then
 * not an error.
 */
export const sessionStateParameter = 'state'
/**
 * Query parameter of a download, to which browsers add no header: a ticket for this path instead of the page's half.
 */
export const ticketParameter = 'ticket'
/** Paths for which tickets are issued. */
export const downloadPrefix = '/recordings/exports/'

/** Subprotocol of the console's WebSocket. */
export const consoleSubprotocol = 'roomdesk.console'
const halfPrefix = 'roomdesk.session.'

/** Returns the subprotocols that a page offers, because browsers send no other custom header with a WebSocket. */
export function offeredSubprotocols(half: string): string[] {
  return half === '' ? [consoleSubprotocol] : [consoleSubprotocol, `${halfPrefix}${half}`]
}

/** Reads the page's half from a `Sec-WebSocket-Protocol` header; empty if it is missing. */
export function halfOfSubprotocols(header: string): string {
  const offered = header.split(',').map((one) => one.trim())
  return offered.find((one) => one.startsWith(halfPrefix))?.slice(halfPrefix.length) ?? ''
}
