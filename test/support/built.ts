import { join } from 'node:path'

const dist = join(import.meta.dirname, '../../dist')

/**
 * Returns the path of a file or folder of the build, such as `server/headless.js`. `npm test` builds before it runs a
 * test file that imports this module, directly or through others.
 */
export const built = (path: string): string => join(dist, path)

/** Program of the media node as it is delivered. */
export const builtMediaProgram = built('server/media-node.js')
