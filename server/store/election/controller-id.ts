import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { uuid } from '../system/system.ts'
import { replaceDurably } from '../files/durable-files.ts'

const form = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) (\S+)\n$/

/**
 * Returns the id of a controller of the site. The id is stored in the data folder with the host name, so that a copy of
 * the folder on another machine gets a new id.
 * The caller must hold the folder's lock.
 */
export async function controllerId(folder: string): Promise<string> {
  const known = await readControllerId(folder)
  if (known !== undefined) return known
  const made = uuid()
  await replaceDurably(join(folder, 'controller.id'), `${made} ${hostname()}\n`)
  return made
}

/**
 * Reads the id of the controller with this data folder; undefined: none yet, or the folder is a copy from another host.
 * Read-only.
 */
export async function readControllerId(folder: string): Promise<string | undefined> {
  try {
    const [, id, host] = form.exec(await readFile(join(folder, 'controller.id'), 'utf8')) ?? []
    return host === hostname() ? id : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Returns a text that identifies a data folder on this machine since its last boot. A copy of the folder, or of the
 * machine, has a different text.
 */
export async function idOfFolder(folder: string, bootFile = '/proc/sys/kernel/random/boot_id'): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true })
  // Only Linux has a boot id. On other systems each start has a new id, so an earlier row counts as another folder's
  // until it expires.
  const boot = await readFile(bootFile, 'utf8').catch(() => uuid())
  return `${boot.trim()} ${dev} ${ino}`
}
