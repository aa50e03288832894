import { join } from 'node:path'
import { app, dialog } from 'electron'
import type { Logger } from 'pino'
import { leavesMachine } from '../shared/bind-address.ts'
import { Controller } from '../server/controller/controller.ts'
import { ListenError } from '../server/edge/listen-error.ts'
import type { ProgramTraces } from '../server/controller/options.ts'
import type { ListenerOverrides } from '../server/http/listeners.ts'
import type { Restarts } from '../server/controller/restarts.ts'
import type { Checks } from '../server/readiness/readiness.ts'
import type { SiteFile } from '../shared/site-file.ts'
import { spawnMediaProcess } from './media-process.ts'
import { type DataKey, KeychainError, loadDataKey, sealingWith } from './key.ts'
import type { DesktopLaunch } from './launch.ts'
import { startAppAgain } from './relaunch.ts'
import type { Texts } from './texts.ts'

/** Built program of the embedded node, and the folders of the built pages. */
const mediaProgram = join(import.meta.dirname, '../server/media-node.js')
const roomPage = join(import.meta.dirname, '../room-page')
const playerPage = join(import.meta.dirname, '../player')
const consolePage = join(import.meta.dirname, '../renderer')

export interface StartOptions {
  launch: DesktopLaunch
  /** Site file, applied before any port opens. */
  site: SiteFile | undefined
  logger: Logger
  diagnostics: ProgramTraces
  checks: (key: DataKey) => Checks
  restarts: Restarts
  texts: () => Texts
}

/** The operator chose to quit in a dialog about a failed start. */
export class GaveUpError extends Error {
  override readonly name = 'GaveUpError'
}

/**
 * Opens the site and its ports. If the keychain does not return the key, the operator can retry or quit. If a port is
 * in use, the operator can retry, use free ports this time, or quit.
 * @throws GaveUpError; errors of opening the data folder
 */
export async function startController(options: StartOptions): Promise<Controller> {
  const { launch, site, logger, restarts, texts } = options
  const key = await openKey(options)
  if (key.protection === 'file') logger.warn(texts().plainKey)
  const sealing = sealingWith(key)
  let overrides: ListenerOverrides = {
    host: launch.host,
    media_port: launch.mediaPort,
    device_port: launch.devicePort,
    node_port: launch.nodePort,
    console_port: launch.consolePort,
    event_port: launch.eventPort,
  }
  for (;;) {
    const controller = await Controller.open({
      dataFolder: launch.dataFolder,
      recordingsDir: launch.recordingsDir,
      logger,
      site,
      sitePath: launch.site,
      keySignIn: launch.consoleKey,
      version: app.getVersion(),
      ...sealing,
      overrides,
      compatibility: { older_clients: launch.olderClients, get_access_token: launch.getAccessToken },
      restarts,
      readinessChecks: options.checks(key),
      diagnostics: options.diagnostics,
      playerPage,
      consolePage,
      consoleIsChosen: true,
      media: { spawn: spawnMediaProcess(mediaProgram), pageFolder: roomPage, ffmpeg: launch.ffmpeg },
    })
    if (controller.firstStart !== undefined) await explainFirewall(launch.host, texts())
    try {
      await controller.start()
      return controller
    } catch (error) {
      if (!(error instanceof ListenError)) throw error
      logger.error({ err: error }, 'cannot listen')
      const choice = await askAboutPort(error, texts())
      if (choice === 'quit') throw new GaveUpError(error.message, { cause: error })
      if (choice === 'free') overrides = { ...overrides, media_port: 0, device_port: 0, node_port: 0 }
    }
  }
}

/**
 * Loads the key of the site. If the keychain does not return it, the operator can retry or quit.
 * @throws GaveUpError; errors of loadDataKey
 */
async function openKey({ launch, logger, restarts, texts }: StartOptions): Promise<DataKey> {
  try {
    return await loadDataKey(launch.dataFolder)
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error
    logger.error({ err: error }, 'the keychain does not open the key of the site')
    const choice = await askAboutKeychain(error, texts())
    if (choice === 'quit') throw new GaveUpError(error.message, { cause: error })
    // Electron keeps its choice of keychain until it ends, so a retry requires another process.
    startAppAgain(restarts)
    return await new Promise<never>(() => {})
  }
}

async function askAboutKeychain({ isLocked, message }: KeychainError, texts: Texts): Promise<'again' | 'quit'> {
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'Roomdesk',
    message: isLocked ? texts.keychainLocked : texts.keychainRefuses,
    detail: `${message}\n\n${isLocked ? texts.keychainLockedDetail : texts.keychainRefusesDetail}`,
    buttons: [texts.tryAgain, texts.quit],
    defaultId: 0,
    cancelId: 1,
  })
  return response === 0 ? 'again' : 'quit'
}

/**
 * Explains the firewall prompt before a new site accepts connections from other machines. Some systems show the prompt
 * at the first connection from another machine, which is delayed until the operator answers.
 */
export async function explainFirewall(host: string | undefined, texts: Texts): Promise<void> {
  const { platform } = process
  if (host === undefined || !leavesMachine(host) || (platform !== 'win32' && platform !== 'darwin')) return
  await dialog.showMessageBox({
    type: 'info',
    title: 'Roomdesk',
    message: texts.openToOthers,
    detail: texts.openToOthersDetail[platform],
    buttons: [texts.goOn],
  })
}

async function askAboutPort({ message }: ListenError, texts: Texts): Promise<'again' | 'free' | 'quit'> {
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'Roomdesk',
    message: texts.portTaken,
    detail: `${message}\n\n${texts.portTakenDetail}`,
    buttons: [texts.tryAgain, texts.useFreePorts, texts.quit],
    defaultId: 0,
    cancelId: 2,
  })
  return (['again', 'free', 'quit'] as const)[response] ?? 'quit'
}
