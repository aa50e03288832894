/** Address of the room page; the media API's `/jroom/` redirects to it. */

/** Folder of the page on a node. */
export const roomPagePath = '/room/'
/** Web app manifest of a room's page, below that folder: `manifest.webmanifest?roomId=…`. */
export const manifestFile = 'manifest.webmanifest'
/**
 * Folder of the background blur's files, below that folder. It contains the version of their package, so that its files
 * never change.
 */
export const blurFolder = 'assets/blur-3.2.0/'
/** Program of the background blur, in that folder. */
export const blurWorker = 'twilio-gaussian-blur-background-processor-pipeline-worker.js'
/** Query parameter with the room. */
export const roomParameter = 'roomId'
/** Parameter of the fragment with the join token: a fragment is never sent to a server, so no log contains it. */
export const tokenParameter = 'token'

/**
 * Returns a join link. Redirects keep the fragment.
 * @param base e.g. `http://10.0.0.5:7080/jroom/`
 * @param token empty: the page asks for the host password
 */
export function joinLink(base: string, roomId: string, token: string): string {
  const fragment = token === '' ? '' : `#${tokenParameter}=${token}`
  return `${base}?${roomParameter}=${encodeURIComponent(roomId)}${fragment}`
}
