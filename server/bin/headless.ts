import { join } from 'node:path'
import { ConsoleError } from '../../shared/console/procedure.ts'
import { Controller } from '../controller/controller.ts'
import type { ControllerOptions } from '../controller/options.ts'
import { CrashGuard } from './crash-guard.ts'
import { ListenError } from '../edge/listen-error.ts'
import { LaunchError, readLaunchOptions, usage } from './launch-options.ts'
import { janusConfiguration, JanusConfigError } from './janus-config.ts'
import { checkLog } from './verify-log.ts'
import { type ListenerName, portFlag } from '../http/listeners.ts'
import { forkMediaProcess } from '../nodes/embedded/fork-process.ts'
import { createLog } from '../observe/log.ts'
import { replaceProcess } from './replace-process.ts'
import { passRestarts, takeRestarts } from '../controller/restarts.ts'
import type { SiteController } from '../cluster/site-controller.ts'
import { readSiteFile, SiteFileError } from '../controller/site-file.ts'
import { StoreLockedError } from '../store/files/folder-lock.ts'
import { StoreFileError } from '../store/files/store-file-error.ts'
import { StoreVersionError } from '../store/migrations.ts'
import { DatabaseError } from '../store/postgres/database-error.ts'
import { withPasswordOf } from '../store/postgres/database-password.ts'
import { databaseRisk, databaseRiskMessages } from '../store/postgres/database-safety.ts'
import { KeyFileError } from '../store/files/key-file.ts'
import { productVersion } from './version.ts'

/** The built program of the embedded node, and its page. */
const mediaProgram = join(import.meta.dirname, 'media-node.js')
const roomPage = join(import.meta.dirname, '../room-page')
const playerPage = join(import.meta.dirname, '../player')
/** Folder of the built console, beside the built program. */
const consolePage = join(import.meta.dirname, '../renderer')

/** Ends the start with exit code 1 and one line that says what to mend. */
function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** An error that the operator can mend gets one line; any other is a fault of ours and is printed whole. */
function explain(error: unknown): never {
  if (error instanceof ListenError) {
    refuse(
      `${error.message} Choose another with ${portFlag(error.listener)}, or the setting listeners.${error.listener}_port.`,
    )
  }
  const known = [
    LaunchError,
    SiteFileError,
    StoreLockedError,
    StoreVersionError,
    StoreFileError,
    DatabaseError,
    KeyFileError,
    ConsoleError,
    JanusConfigError,
  ].some((type) => error instanceof type)
  if (error instanceof Error && known) refuse(error.message)
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    refuse(`Cannot start: ${error.message}`)
  console.error(error)
  process.exit(1)
}

const shownPassword =
  'The password of the database is an argument of this program, and every user of this machine can read those (ps): use --store-password-file, or ~/.pgpass.'

async function run(): Promise<void> {
  const options = readLaunchOptions(process.argv.slice(2), process.env)
  if (options.help) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const { storePasswordFile: passwordFile } = options
  if (passwordFile !== undefined && options.store !== undefined)
    options.store = await withPasswordOf(passwordFile, options.store)
  if (options.verifyLog) return await checkLog(options)
  if (options.janusConfig !== undefined) {
    const { dataDir: dataFolder, store: database, site: sitePath, janusConfig: name, host, eventPort } = options
    process.stdout.write(await janusConfiguration({ dataFolder, database, sitePath, name, host, eventPort }))
    return
  }
  if (options.moveStore !== undefined) {
    const { dataDir: folder, store: database, moveStore: to } = options
    const { moveStore } = await import('../store/move-site.ts')
    process.stdout.write(`${await moveStore({ folder, database, to })}\n`)
    return
  }
  const logger = createLog(options.logLevel)
  const restarts = takeRestarts(process.env)
  // Before it was ready once, an error is one of the start: it is printed, without a restart.
  const state: { controller?: Controller | SiteController; runsOn: boolean } = { runsOn: restarts.total > 0 }
  new CrashGuard({
    logger,
    before: restarts,
    ports: () => ({ ...restarts.ports, ...state.controller?.ports() }),
    abandon: async () => await state.controller?.abandon(),
    runsOn: () => state.runsOn,
    startAgain: (next) => replaceProcess(passRestarts(process.env, next)),
    end: (code, line) => {
      process.stderr.write(`${line}\n`)
      process.exit(code)
    },
  }).watch()
  const site = options.site === undefined ? undefined : await readSiteFile(options.site)
  const database =
    options.store ??
    (passwordFile === undefined || site?.store === undefined
      ? site?.store
      : await withPasswordOf(passwordFile, site.store))
  if (options.storePasswordShown) logger.warn(shownPassword)
  const risk = database === undefined ? undefined : databaseRisk(database)
  if (risk !== undefined) logger.warn({ risk }, databaseRiskMessages[risk])
  const opened = await openController({
    dataFolder: options.dataDir,
    recordingsDir: options.recordingsDir,
    database,
    databaseRisk: risk,
    sealKey: options.sealKey,
    name: options.controllerName,
    allowPlainControllers: options.allowPlainControllers,
    logger,
    restarts,
    version: productVersion,
    site,
    sitePath: options.site,
    keySignIn: options.consoleKey,
    consolePage,
    playerPage,
    media: {
      spawn: forkMediaProcess(mediaProgram, [roomPage], options.recordingsDir ?? join(options.dataDir, 'recordings')),
      pageFolder: roomPage,
      ffmpeg: options.ffmpeg,
    },
    compatibility: { older_clients: options.olderClients, get_access_token: options.getAccessToken },
    overrides: {
      host: options.host,
      media_port: options.mediaPort,
      device_port: options.devicePort,
      node_port: options.nodePort,
      console_port: options.consolePort,
      event_port: options.eventPort,
    },
  })
  state.controller = opened
  const stop = (signal: string): void => {
    logger.info({ signal }, 'stopping')
    state.runsOn = false
    opened.stop().then(
      () => process.exit(0),
      (error: unknown) => explain(error),
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  await opened.start()
  state.runsOn = true
  process.stdout.write(`ready ${JSON.stringify(readyLine(opened))}\n`)
  reportFirstStart(opened)
}

/** A site in files has one controller; one in a database may have several. */
async function openController({ database, ...options }: ControllerOptions): Promise<Controller | SiteController> {
  if (database === undefined) return await Controller.open(options)
  // A site in files does not load what it does not use.
  const { SiteController: OneOfSeveral } = await import('../cluster/site-controller.ts')
  return await OneOfSeveral.open({ ...options, database })
}

function readyLine(controller: Controller | SiteController): Record<string, unknown> {
  const url = (name: ListenerName): string => controller.url(name)
  const event = url('event') === '' ? {} : { event: url('event') }
  const { pid } = process
  const role = 'role' in controller ? { role: controller.role } : {}
  return {
    media: url('media'),
    device: url('device'),
    node: url('node'),
    console: url('console'),
    ...event,
    pid,
    ...role,
  }
}

/** The console's URL with its key only goes to a terminal: never into a log file or a pipe. */
function reportFirstStart(controller: Controller | SiteController): void {
  const { firstStart, consoleKey } = controller
  if (firstStart === undefined || consoleKey === undefined) return
  const lines = [
    `This is a new site. A first credential was created: access_key ${firstStart.accessKey}`,
    `Its secret_key is shown in the console under Credentials, or by POST ${controller.url('console')}/rpc/credentials.reveal with the key in ${consoleKey.file}`,
    `The media node of this machine was created (${firstStart.nodeName}): people and cameras join there.`,
  ]
  if (process.stderr.isTTY) lines.push(`Open the console: ${controller.url('console')}/#key=${consoleKey.value}`)
  process.stderr.write(`${lines.join('\n')}\n`)
}

run().catch(explain)
