import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { uuid } from '../system/random.ts'
import { replaceDurably } from '../files/durable-files.ts'

const form = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) (\S+)\n$/

/**
 * Id of a controller among those of its site: kept in its data folder with the name of the machine, so that a copy of the folder on another machine is another controller.
 * The caller holds the folder's lock.
 */
export async function controllerId(folder: string): Promise<string> {
  const known = await readControllerId(folder)
  if (known !== undefined) return known
  const made = uuid()
  await replaceDurably(join(folder, 'controller.id'), `${made} ${hostname()}\n`)
  return made
}

/** The id of the controller whose data folder this is; undefined where it has none yet. Changes nothing. */
export async function readControllerId(folder: string): Promise<string | undefined> {
  try {
    const [, id, host] = form.exec(await readFile(join(folder, 'controller.id'), 'utf8')) ?? []
    return host === hostname() ? id : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Tells a data folder from others on this machine since its last boot: a copy of the folder, or of the machine, has another one. */
export async function idOfFolder(folder: string, bootFile = '/proc/sys/kernel/random/boot_id'): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true })
  // Only Linux tells one boot from another: elsewhere a row counts as that of another folder until it is old.
  const boot = await readFile(bootFile, 'utf8').catch(() => uuid())
  return `${boot.trim()} ${dev} ${ino}`
}
