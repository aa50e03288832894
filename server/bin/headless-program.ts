import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { DestinationStream } from 'pino'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { errorCode } from '../../shared/error-code.ts'
import type { SiteController } from '../cluster/site-controller.ts'
import { Controller } from '../controller/controller.ts'
import type { ControllerOptions } from '../controller/options.ts'
import { type Restarts, takeRestarts } from '../controller/restarts.ts'
import { readSiteFile, SiteFileError } from '../controller/site-file.ts'
import { ListenError } from '../edge/listen-error.ts'
import { portFlag } from '../http/listeners.ts'
import { exitCodes } from '../lab/command.ts'
import { EarlyProcess } from '../nodes/embedded/media-process.ts'
import { createLog, RecentLog, standardError, surviveLostOutput } from '../observe/log.ts'
import { StoreLockedError } from '../store/files/folder-lock.ts'
import { KeyFileError } from '../store/files/key-file.ts'
import { StoreFileError } from '../store/files/store-file-error.ts'
import { StoreVersionError } from '../store/migrations.ts'
import { DatabaseError } from '../store/postgres/database-error.ts'
import { withPasswordOf } from '../store/postgres/database-password.ts'
import { type DatabaseRisk, databaseRiskMessages } from '../../shared/domain/database-risks.ts'
import { commandUsage, namesCommand, runCommand, UnknownCommandError } from './commands.ts'
import { CrashGuard } from './crash-guard.ts'
import { JanusConfigError } from './janus-config.ts'
import { LaunchError, type LaunchOptions, type ProgramFiles, readLaunchOptions, usage } from './launch-options.ts'
import { readyLine } from './ready-line.ts'
import type { Report } from './verify-log.ts'
import { productVersion } from './version.ts'

/** Parts that differ between the programs that run a headless controller: Node, and the desktop application. */
export interface HeadlessProgram extends ProgramFiles {
  flags: readonly string[]
  /** Returns the sealer of a site's secrets in this data folder; undefined: a key file is used. */
  sealing?: (dataFolder: string) => Promise<Pick<ControllerOptions, 'sealer' | 'siteKey'>>
  /** Log of this program; undefined: stderr. */
  logTo?: DestinationStream
  /** Files of the log, the current file first; undefined: none. */
  logFiles?: readonly string[]
  /** Folder of crash reports; undefined: this program writes none. */
  crashFolder?: string
  /** Message for the log of a controller. */
  notice?: string | undefined
  /** Whether the working directory was deleted, which makes relative paths invalid. */
  inDeletedFolder?: boolean
  /** Replaces this process by a new process. */
  startAgain: (restarts: Restarts) => void
  /** Calls `stop` with the reason when this program should end gracefully. */
  followEnd: (stop: (reason: string) => void) => void
  /**
   * Calls `restart` when the files of this program were replaced and all rooms are empty; undefined: replacement is not
   * checked.
   */
  followReplacement?: (isOccupied: () => boolean, restart: () => void) => void
  end: (code: number) => void
}

/**
 * Runs a controller without a window until a signal ends it, or runs a command and exits. Never rejects: an error that
 * the operator can resolve is printed in one line on stderr, with exit code 1. Other errors are printed in full.
 */
export async function runHeadless(program: HeadlessProgram): Promise<void> {
  surviveLostOutput()
  try {
    await run(program)
  } catch (error) {
    process.stderr.write(explain(error))
    program.end(error instanceof UnknownCommandError ? exitCodes.noVerdict : 1)
  }
}

/** Returns one line for an error that the operator can resolve. Other errors are defects and are returned in full. */
function explain(error: unknown): string {
  if (error instanceof ListenError)
    return `${error.message} Choose another with ${portFlag(error.listener)}, or the setting listeners.${error.listener}_port.\n`
  const known = [
    LaunchError,
    SiteFileError,
    StoreLockedError,
    StoreVersionError,
    StoreFileError,
    DatabaseError,
    KeyFileError,
    RefusalError,
    JanusConfigError,
  ].some((type) => error instanceof type)
  if (error instanceof Error && known) return `${error.message}\n`
  if (error instanceof Error && errorCode(error) !== '') return `Cannot start: ${error.message}\n`
  return `${inspect(error)}\n`
}

const shownPassword =
  'The password of the database is an argument of this program, and every user of this machine can read those (ps): use --store-password-file, or ~/.pgpass.'

async function run(program: HeadlessProgram): Promise<void> {
  if (namesCommand(program.flags)) {
    const { env: environment, stdout, stderr } = process
    const { followEnd, pages, spawnMedia } = program
    const code = await runCommand(program.flags, { environment, stdout, stderr, followEnd, pages, spawnMedia })
    return await endAfterOutput(program, code)
  }
  const options = readLaunchOptions(program.flags, process.env, program.inDeletedFolder !== true)
  const report = await reportOf(options)
  if (report === undefined) return await serve(program, options)
  await endAfterOutput(program, report.code, report.text)
}

/** Ends this process when its output has been written. @param text last output */
async function endAfterOutput(program: HeadlessProgram, code: number, text = ''): Promise<void> {
  const lost = await new Promise<unknown>((resolve) => process.stdout.write(text, resolve))
  // A reader such as `head` may close the pipe early.
  const incomplete = lost instanceof Error && errorCode(lost) !== 'EPIPE'
  if (incomplete) process.stderr.write(`Cannot write the output: ${lost.message}\n`)
  program.end(incomplete ? 1 : code)
}

async function serve(program: HeadlessProgram, options: LaunchOptions): Promise<void> {
  const { storePasswordFile: passwordFile, dataDir: dataFolder } = options
  const recentLog = new RecentLog(program.logTo ?? standardError())
  const logger = createLog(options.logLevel, recentLog)
  const restarts = takeRestarts(process.env)
  // An error before the process was first ready is a failed start: the error is printed, and the process is not
  // restarted.
  const state: { controller?: Controller | SiteController; runsOn: boolean } = { runsOn: restarts.total > 0 }
  new CrashGuard({
    logger,
    before: restarts,
    ports: () => ({ ...restarts.ports, ...state.controller?.listeners?.numbers() }),
    abandon: async () => await state.controller?.abandon(),
    runsOn: () => state.runsOn,
    startAgain: program.startAgain,
    end: (code, line) => {
      process.stderr.write(`${line}\n`)
      program.end(code)
    },
  }).watch()
  const site = options.site === undefined ? undefined : await readSiteFile(options.site)
  const store = options.store ?? site?.store
  const database = passwordFile === undefined || store === undefined ? store : await withPasswordOf(passwordFile, store)
  if (options.storePasswordShown) logger.warn(shownPassword)
  if (program.notice !== undefined) logger.warn(program.notice)
  const risk = await riskOf(database)
  if (risk !== undefined) logger.warn({ risk }, databaseRiskMessages[risk])
  const roomPage = join(program.pages, 'room-page')
  const recordings = options.recordingsDir ?? join(dataFolder, 'recordings')
  const media = new EarlyProcess(program.spawnMedia(recordings, roomPage))
  // Not for a site in a database, in which this controller may not become leader. The folder must exist when the
  // process starts; the first start of the site creates it.
  if (database === undefined && existsSync(recordings)) media.begin()
  const opened = await openController({
    dataFolder,
    recordingsDir: options.recordingsDir,
    database,
    databaseRisk: risk,
    sealKey: options.sealKey,
    ...(options.sealKey === undefined && database === undefined && (await program.sealing?.(dataFolder))),
    name: options.controllerName,
    allowPlainControllers: options.allowPlainControllers,
    logger,
    diagnostics: { recentLog: () => recentLog.text, logFiles: program.logFiles, crashFolder: program.crashFolder },
    restarts,
    version: productVersion,
    site,
    sitePath: options.site,
    keySignIn: options.consoleKey,
    consolePage: join(program.pages, 'renderer'),
    playerPage: join(program.pages, 'player'),
    media: {
      spawn: media.take,
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
  const stop = (reason: string, after = () => program.end(0)): void => {
    if (stopping) return
    stopping = true
    logger.info({ signal: reason }, 'stopping')
    state.runsOn = false
    opened.stop().then(after, (error: unknown) => {
      process.stderr.write(explain(error))
      program.end(1)
    })
  }
  let stopping = false
  program.followEnd((reason) => stop(reason))
  await opened.start()
  media.release()
  state.runsOn = true
  program.followReplacement?.(
    () => opened.people > 0,
    () => {
      const ports = opened.listeners?.numbers() ?? {}
      stop('the program was replaced', () => program.startAgain({ times: [], total: 0, ports }))
    },
  )
  process.stdout.write(`${readyLine(opened)}\n`)
  reportFirstStart(opened)
}

async function riskOf(database: string | undefined): Promise<DatabaseRisk | undefined> {
  if (database === undefined) return undefined
  // Loaded only for a site in a database.
  const { databaseRisk } = await import('../store/postgres/database-risks.ts')
  return databaseRisk(database)
}

/** A site in files has one controller; a site in a database may have several. */
async function openController({ database, ...options }: ControllerOptions): Promise<Controller | SiteController> {
  if (database === undefined) return await Controller.open(options)
  const { SiteController: OneOfSeveral } = await import('../cluster/site-controller.ts')
  return await OneOfSeveral.open({ ...options, database })
}

/**
 * Prints the result of a first start. The URL with the console key is printed only on a terminal, never into a log file
 * or a pipe.
 */
function reportFirstStart(controller: Controller | SiteController): void {
  const { firstStart, consoleKey } = controller
  if (firstStart === undefined || consoleKey === undefined) return
  const url = controller.listeners?.url('console') ?? ''
  const lines = [
    `This is a new site. A first credential was created: access_key ${firstStart.accessKey}`,
    'Its secret_key is shown in the console under Credentials, or by:',
    `  curl -H "Authorization: Bearer $(cat '${consoleKey.file}')" -d '{"access_key":"${firstStart.accessKey}"}' ${url}/rpc/credentials.reveal`,
    `The media node of this machine was created (${firstStart.nodeName}): people and cameras join there.`,
  ]
  if (process.stderr.isTTY) lines.push(`Open the console: ${url}/#key=${consoleKey.value}`)
  process.stderr.write(`${lines.join('\n')}\n`)
}

/**
 * Returns the output of a flag that prints something and exits, such as `--version`.
 * @returns undefined: there is no such flag, so a controller should run
 * @throws errors that the operator can resolve, with a one-line message
 */
async function reportOf(given: LaunchOptions): Promise<Report | undefined> {
  if (given.help) return { text: `${usage}\n\n${commandUsage}\n`, code: 0 }
  if (given.version) return { text: `${productVersion}\n`, code: 0 }
  const { storePasswordFile, store } = given
  const withPassword = storePasswordFile !== undefined && store !== undefined
  const options = withPassword ? { ...given, store: await withPasswordOf(storePasswordFile, store) } : given
  // Loaded on demand.
  if (options.verifyLog) {
    const { checkLog } = await import('./verify-log.ts')
    return await checkLog(options)
  }
  if (options.janusConfig !== undefined) {
    const { dataDir: dataFolder, store: database, site: sitePath, janusConfig: name, host, eventPort } = options
    const { janusConfiguration } = await import('./janus-config.ts')
    return { text: await janusConfiguration({ dataFolder, database, sitePath, name, host, eventPort }), code: 0 }
  }
  if (options.moveStore === undefined) return undefined
  const { dataDir: folder, store: database, moveStore: to } = options
  const { moveStore } = await import('../store/move-site.ts')
  return { text: `${await moveStore({ folder, database, to })}\n`, code: 0 }
}
