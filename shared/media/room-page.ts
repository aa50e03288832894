/** How the room page is reached; the media API's `/jroom/` redirects to it. */

/** Folder of the page on a node. */
export const roomPagePath = '/room/'
/** Query parameter that names the room. */
export const roomParameter = 'roomId'
/** Parameter of the fragment that holds the join token: a fragment is never sent to a server, so no log has it. */
export const tokenParameter = 'token'

/**
 * A join link. Redirects keep the fragment.
 * @param base e.g. `http://10.0.0.5:7080/jroom/`
 * @param token empty: the page asks for the host password
 */
export function joinLink(base: string, roomId: string, token: string): string {
  const fragment = token === '' ? '' : `#${tokenParameter}=${token}`
  return `${base}?${roomParameter}=${encodeURIComponent(roomId)}${fragment}`
}
