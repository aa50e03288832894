/** Address of the room page; the media API's `/jroom/` redirects to it. */

/** Folder of the page on a node. */
export const roomPagePath = '/room/'
/** Name of the web app manifest of a room's page in that folder: `manifest.webmanifest?roomId=…`. */
export const manifestFile = 'manifest.webmanifest'
/**
 * Path of the background blur's files, below the folder of the page. It contains the version of their package, so that
 * the content of a path never changes.
 */
export const blurFolder = 'assets/blur-3.2.0/'
/** Name of the background blur's worker in `blurFolder`. */
export const blurWorker = 'twilio-gaussian-blur-background-processor-pipeline-worker.js'
/** Name of the query parameter with the room_id. */
export const roomParameter = 'roomId'
/**
 * Parameter of the fragment with the join token. Browsers never send a fragment to a server, so no log contains the
 * token.
 */
export const tokenParameter = 'token'

/**
 * Returns a join link. The token is in the fragment, which redirects preserve.
 * @param base e.g. `http://10.0.0.5:7080/jroom/`
 * @param token join token; empty: the page asks for the host password
 */
export function joinLink(base: string, roomId: string, token: string): string {
  const fragment = token === '' ? '' : `#${tokenParameter}=${token}`
  return `${base}?${roomParameter}=${encodeURIComponent(roomId)}${fragment}`
}
