import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { boundUrl, listenerUrl } from '../edge/network-addresses.ts'
import { filesOfNode } from '../nodes/janus/configuration/files-of-node.ts'
import { printedFiles } from '../nodes/janus/configuration/node-files.ts'
import { applySiteFile, readSiteFile } from '../controller/site-file.ts'
import type { SiteFile } from '../../shared/site-file.ts'
import { StoreLockedError } from '../store/files/folder-lock.ts'
import { openStore, readSite, UnreadableSiteError } from '../store/open-store.ts'
import { DatabaseInUseError } from '../store/postgres/database-error.ts'
import { loadKeyFile } from '../store/files/key-file.ts'
import { createSealer } from '../store/sealer.ts'
import { siteSettings, unsealIn } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'

/** Thrown if the files cannot be generated; the message contains the remedy. */
export class JanusConfigError extends Error {
  override readonly name = 'JanusConfigError'
}

/** Node whose files are requested. */
export interface JanusConfigOptions {
  dataFolder: string
  /** Address of the database with the site; undefined: read from the site file, or the site is in files. */
  database?: string | undefined
  /**
   * Site file to apply first, unless a running controller uses the folder and applies its own site file; undefined:
   * none.
   */
  sitePath: string | undefined
  name: string
  /** Flags of the controller, which override the settings. */
  host: string | undefined
  eventPort: number | undefined
}

/**
 * Returns the configuration files of a Janus node, one after another, each preceded by its name as a comment. Works
 * while a controller uses the folder.
 * @throws JanusConfigError; SiteFileError, KeyFileError, StoreVersionError
 */
export async function janusConfiguration({
  dataFolder,
  sitePath,
  name,
  ...flags
}: JanusConfigOptions): Promise<string> {
  const site = sitePath === undefined ? undefined : await readSiteFile(sitePath)
  const database = flags.database ?? site?.store
  if (site !== undefined) await applyFirst(dataFolder, database, site)
  const keyFile = join(dataFolder, 'seal.key')
  // The command must not create a folder or a key.
  if (!existsSync(keyFile)) {
    const where = 'The desktop app, whose key is in the keychain, has a button for this beside the node.'
    throw new JanusConfigError(
      `${keyFile} is missing: this is not the data folder of a site (see --data-dir). ${where}`,
    )
  }
  const sealer = createSealer(await loadKeyFile(keyFile))
  const state = await readSite(dataFolder, database).catch((error: unknown) => {
    if (error instanceof UnreadableSiteError) throw new JanusConfigError(error.message, { cause: error })
    throw error
  })
  const { nodes } = state
  const node = nodes.get(name)
  if (node?.kind !== 'janus') {
    const names = [...nodes.values()].filter(({ kind }) => kind === 'janus').map((each) => each.name)
    const has = names.length === 0 ? 'It has no Janus node.' : `Its Janus nodes: ${names.join(', ')}.`
    throw new JanusConfigError(`The site in ${dataFolder} has no Janus node named ${JSON.stringify(name)}. ${has}`)
  }
  const get: Store['get'] = (collection, key) => state[collection].get(key)
  const secrets: Pick<Store, 'get' | 'unseal'> = {
    get,
    unseal: (text, place) => unsealIn({ get }, sealer, text, place),
  }
  const { listeners, tls } = siteSettings(secrets)
  const { host = listeners.host, eventPort = listeners.event_port } = flags
  const scheme = tls.mode === 'off' ? 'http' : 'https'
  // A port picked by a running controller is known only to that controller.
  const eventUrl =
    eventPort === null ? '' : eventPort === 0 ? undefined : boundUrl(listenerUrl(host, eventPort, scheme), host)
  return printedFiles(await filesOfNode(node, secrets, eventUrl))
}

/**
 * Applies a site file. Does nothing if a running controller uses the site, because that controller applies its own site
 * file.
 */
async function applyFirst(folder: string, database: string | undefined, site: SiteFile): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let store: Store
  try {
    store = await openStore({ folder, database, sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))) })
  } catch (error) {
    if (error instanceof StoreLockedError || error instanceof DatabaseInUseError) return
    throw error
  }
  try {
    await applySiteFile(store, site)
  } finally {
    await store.close()
  }
}
