import { stat } from 'node:fs/promises'
import { type Check, found } from './finding.ts'

/** Rights of the group and of others. */
const others = 0o077

/** Checks that only this user can read the key of stored secrets. @param file its path */
export function keyFileCheck(file: string, platform: NodeJS.Platform = process.platform): Check {
  return async () => {
    // On Windows a file has the rights of its folder.
    if (platform === 'win32') return found('keyFile')
    const { mode } = await stat(file)
    if ((mode & others) === 0) return found('keyFile')
    return found('keyOpen', { mode: (mode & 0o777).toString(8).padStart(4, '0'), file })
  }
}
