/**
 * A console session has two halves. The cookie is sent by the browser to every port of the host (RFC 6265, section 8.5), so that another web server there
 * receives it. The page's half stays in the storage of the page's origin, which includes the port. Neither half opens anything alone.
 */

/** Header with the page's half: in the answer to a sign-in, and in each request of the page. */
export const pageHalfHeader = 'roomdesk-session'
/** Query parameter of `GET /session`, with which the page asks whether there is a session: none is no error then. */
export const sessionStateParameter = 'state'
/** Query parameter of a download, to which the browser adds no header: a ticket for this path instead of the page's half. */
export const ticketParameter = 'ticket'
/** Paths for which tickets are issued. */
export const downloadPrefix = '/recordings/exports/'

/** Subprotocol of the console's WebSocket. */
export const consoleSubprotocol = 'roomdesk.console'
const halfPrefix = 'roomdesk.session.'

/** Subprotocols that a page offers: browsers send no other header with a WebSocket. */
export function offeredSubprotocols(half: string): string[] {
  return half === '' ? [consoleSubprotocol] : [consoleSubprotocol, `${halfPrefix}${half}`]
}

/** Reads the page's half from a `Sec-WebSocket-Protocol` header; empty when there is none. */
export function halfOfSubprotocols(header: string): string {
  const offered = header.split(',').map((one) => one.trim())
  return offered.find((one) => one.startsWith(halfPrefix))?.slice(halfPrefix.length) ?? ''
}
