import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { AppInput, UpdateProblemName, UpdatesView } from '../../shared/app-contract.ts'
import { needsNobody } from '../../shared/unattended-update.ts'
import { inBackground, mustNotFail } from '../../shared/unawaited.ts'
import type { PreferencesFile } from '../preferences.ts'
import { debianInstallCommand, installPackage } from './debian-package.ts'
import { fetchInstaller, isAsAnnounced } from './fetch-installer.ts'
import { type InstallWay, installWay, replaceAppImage, runInstaller } from './install-update.ts'
import { InstallCountdown } from './install-countdown.ts'
import { lookMs, QuietMoment } from './quiet-moment.ts'
import { programFiles, ReplacedProgram } from './replaced-program.ts'
import { readRelease, type UpdateTarget, type VerifiedRelease } from './release.ts'
import { proveSignature } from './signed-description.ts'
import { problemOf, UpdateProblem } from './update-problem.ts'
import { updateSource } from './update-source.ts'

/** Delay from the start to the first check, and interval between checks, in milliseconds. */
const times = { first: 60_000, every: 6 * 3_600_000 }

/** Stored instead of a version if the app was updated by another installer. */
const byOtherMeans = 'other means'

/** Properties of the machine and the app that determine how updates are installed. */
interface UpdateMachine extends Omit<UpdateTarget, 'isAppImage'> {
  isPackaged: boolean
  program: string
  /** Path of the running AppImage, if any. */
  appImage: string | undefined
  /** Whether the app was installed from a Debian package that the system can replace on request. */
  isManagedPackage: () => Promise<boolean>
  /** Whether Windows asks an administrator before it installs an update. */
  asksAdministrator: () => Promise<boolean>
}

export interface UpdatesOptions {
  preferences: PreferencesFile
  logger: Logger
  /** Folder of the downloaded installer. */
  folder: string
  version: string
  /** Public keys of the app's publisher; empty: the app accepts no updates, because they could not be verified. */
  keys: readonly KeyObject[]
  machine: UpdateMachine
  /** Whether people are in a room; undefined: unknown. */
  isOccupied: () => boolean | undefined
  /**
   * Warns people in rooms that the server restarts in this many milliseconds; undefined: revokes the warning.
   * @throws Error if they cannot be warned
   */
  warnPeople: (inMs: number | undefined) => Promise<void>
  /** Ends the app gracefully, and starts it again. */
  restart: () => void
  /** Whether the app is about to end. */
  isEnding: () => boolean
  /** Opens a file with its default program. Resolves to an error message; empty: success. */
  open: (file: string) => Promise<string>
  onChange: () => void
}

/** Updates of the app from an update source of the site. Without a source, no requests are made. */
export class Updates {
  readonly #options: UpdatesOptions
  /** Facts about the machine. Until they have been read, these values prevent an unattended installation. */
  #facts = { isManagedPackage: false, asksAdministrator: true }
  readonly #countdown: InstallCountdown
  readonly #program: ReplacedProgram | undefined
  #state: UpdatesView['state'] = 'idle'
  #release: VerifiedRelease | undefined
  #installer = ''
  #problem: UpdateProblem | undefined
  /**
   * Version that could not be installed; empty: none. It is not retried automatically, because each attempt ends the
   * app.
   */
  #failed = ''
  #checkedAt = 0
  #received = 0
  readonly #moment = new QuietMoment()
  /** Whether the app runs for the first time since it was updated. */
  readonly wasUpdated: boolean

  constructor(options: UpdatesOptions) {
    this.#options = options
    const { logger, warnPeople, onChange } = options
    this.#countdown = new InstallCountdown({ logger, warn: warnPeople, install: () => this.install(), onChange })
    const files = programFiles(options.machine)
    this.#program = files.length === 0 ? undefined : new ReplacedProgram(files)
    const { installing } = this.#stored
    this.wasUpdated = installing === options.version || installing === byOtherMeans
    if (installing === '') return
    this.#store({ installing: '' })
    if (this.wasUpdated) options.logger.info({ version: options.version }, 'the app was updated')
    else {
      this.#failed = installing
      this.#problem = new UpdateProblem('notInstalled', installing)
    }
  }

  /** Starts regular checks for updates. If the operator has enabled this, also installs updates at a quiet moment. */
  start(): void {
    mustNotFail(this.#program?.look())
    inBackground(this.#readFacts(), 'the machine does not tell how updates are installed', this.#options.logger)
    setTimeout(() => mustNotFail(this.check()), times.first).unref()
    setInterval(() => mustNotFail(this.check()), times.every).unref()
    setInterval(
      () => inBackground(this.#lookForQuiet(), 'an update was not installed', this.#options.logger),
      lookMs,
    ).unref()
  }

  get #hasKey(): boolean {
    return this.#options.keys.length > 0
  }

  get #way(): InstallWay {
    return installWay({ ...this.#options.machine, ...this.#facts })
  }

  async #readFacts(): Promise<void> {
    const { platform, appImage, isManagedPackage, asksAdministrator } = this.#options.machine
    this.#facts = {
      isManagedPackage: platform === 'linux' && appImage === undefined && (await isManagedPackage()),
      asksAdministrator: platform === 'win32' && (await asksAdministrator()),
    }
    this.#options.onChange()
  }

  view(): UpdatesView {
    const { source, install, hour } = this.#stored
    const release = this.#release
    const problem = this.#hasKey ? this.#problem : new UpdateProblem('noKey')
    return {
      source,
      install,
      hour,
      way: this.#way,
      version: this.#options.version,
      state: this.#state,
      checked_at: this.#checkedAt,
      release: release === undefined ? null : { version: release.version, notes: release.notes, size: release.size },
      received: this.#received,
      installs_at: this.#countdown.at,
      file: this.#installer,
      command: this.#installer.endsWith('.deb') ? debianInstallCommand(this.#installer) : '',
      problem: problem === undefined ? null : { name: problem.problem, detail: problem.detail },
    }
  }

  set({ source, install, hour }: AppInput<'updates.set'>): void {
    if (source !== this.#stored.source) {
      this.#failed = ''
      mustNotFail(this.#countdown.cancel())
      this.#forget()
    }
    if (source !== '') this.#try('badSource', () => void updateSource(source))
    this.#store({ source, install, hour })
    this.#options.onChange()
  }

  /** Checks the source for a newer release, and downloads and verifies its installer. */
  async check(): Promise<void> {
    const { source } = this.#stored
    if (!this.#hasKey || source === '' || this.#state !== 'idle' || this.#countdown.at !== 0) return
    this.#enter('checking')
    try {
      const from = updateSource(source)
      const { machine, version, keys } = this.#options
      const { platform, arch, appImage } = machine
      const release = await readRelease(from, { platform, arch, isAppImage: appImage !== undefined }, { version, keys })
      this.#checkedAt = Date.now()
      this.#forget()
      if (release !== undefined) await this.#fetch(release)
    } catch (error) {
      this.#fail(problemOf(error, 'unreadable'))
    } finally {
      // The operator may have chosen another source meanwhile.
      if (source !== this.#stored.source) this.#forget()
      this.#enter('idle')
    }
  }

  async #fetch(release: VerifiedRelease): Promise<void> {
    const { folder, machine, logger } = this.#options
    this.#release = release
    this.#received = 0
    if (release.version !== this.#failed) {
      this.#failed = ''
      this.#problem = undefined
    }
    this.#enter('fetching')
    let told = 0
    const installer = await fetchInstaller(updateSource(this.#stored.source), release, folder, (bytes) => {
      this.#received = bytes
      if (bytes - told < release.size / 50) return
      told = bytes
      this.#options.onChange()
    })
    if (machine.platform === 'win32') await proveSignature(installer, machine.program)
    await this.#readFacts()
    this.#installer = installer
    logger.info({ version: release.version }, 'an update is ready')
  }

  /** Warns people in rooms, and installs two minutes later. @throws Error if people cannot be warned */
  async installWithWarning(): Promise<void> {
    if (this.#mayInstall) await this.#countdown.begin()
  }

  /** Cancels a scheduled installation, and revokes its warning. */
  async cancel(): Promise<void> {
    await this.#countdown.cancel()
  }

  get #mayInstall(): boolean {
    return this.#isReady && this.#way !== 'byHand' && this.#way !== 'image'
  }

  get #isReady(): boolean {
    return this.#release !== undefined && this.#installer !== '' && this.#state === 'idle'
  }

  /** Opens the downloaded disk image, from which the operator replaces the app. */
  async open(): Promise<void> {
    const release = this.#release
    if (release === undefined || this.#way !== 'image' || !this.#isReady) return
    try {
      await this.#prove(release)
      const failure = await this.#options.open(this.#installer)
      if (failure !== '') throw new UpdateProblem('notStarted', failure)
      this.#problem = undefined
    } catch (error) {
      this.#fail(problemOf(error, 'notStarted'))
    }
    this.#options.onChange()
  }

  /** Verifies the installer again, because the file may have changed since its download. @throws UpdateProblem */
  async #prove(release: VerifiedRelease): Promise<void> {
    if (!(await isAsAnnounced(this.#installer, release))) throw new UpdateProblem('checksum', release.file)
  }

  /** Installs the downloaded release and restarts the app. Resolves to whether the app will end. */
  async install(): Promise<boolean> {
    const release = this.#release
    const { appImage, platform, program } = this.#options.machine
    if (release === undefined || !this.#mayInstall) return false
    this.#enter('installing')
    try {
      await this.#prove(release)
      if (platform === 'win32') await proveSignature(this.#installer, program)
      this.#store({ installing: release.version })
      this.#options.logger.info({ version: release.version }, 'the update is installed')
      if (this.#way === 'installer' || this.#way === 'elevated') return await runInstaller(this.#installer)
      if (this.#way === 'package') await installPackage(this.#installer, release)
      else await replaceAppImage(this.#installer, appImage ?? '', release)
      this.#options.restart()
      return true
    } catch (error) {
      // If the installer has ended the app, errors are ignored: the next start compares the versions.
      if (this.#options.isEnding()) return true
      this.#store({ installing: '' })
      this.#failed = release.version
      this.#fail(problemOf(error, 'notStarted'))
      this.#enter('idle')
      return false
    }
  }

  async #lookForQuiet(): Promise<void> {
    const { install, hour } = this.#stored
    const now = Date.now()
    const quiet = this.#moment.look(this.#options.isOccupied(), now)
    const isReplaced = this.#state === 'idle' && (await this.#program?.look()) === true
    if (isReplaced && quiet && this.#countdown.at === 0) return this.#restartReplaced()
    if (install !== 'quiet' || !needsNobody(this.#way) || !quiet || this.#failed !== '' || this.#countdown.at !== 0)
      return
    if (hour === null || new Date(now).getHours() === hour) await this.install()
  }

  #restartReplaced(): void {
    this.#options.logger.info('the program was replaced: restarting')
    this.giveWayToInstaller()
    this.#options.restart()
  }

  /**
   * Records that an external installer replaces this app.
   * @returns false if the installer belongs to the app's own update, and therefore starts the app itself
   */
  giveWayToInstaller(): boolean {
    if (this.#state === 'installing') return false
    this.#enter('installing')
    this.#store({ installing: byOtherMeans })
    return true
  }

  get #stored(): PreferencesFile['current']['updates'] {
    return this.#options.preferences.current.updates
  }

  #store(change: Partial<PreferencesFile['current']['updates']>): void {
    this.#options.preferences.set({ updates: { ...this.#stored, ...change } })
  }

  #enter(state: UpdatesView['state']): void {
    this.#state = state
    this.#options.onChange()
  }

  #forget(): void {
    this.#release = undefined
    this.#installer = ''
    // The reason of a failed update stays visible.
    if (this.#failed === '') this.#problem = undefined
  }

  #fail(problem: UpdateProblem): void {
    this.#problem = problem
    this.#options.logger.warn({ err: problem }, 'an update was not installed')
  }

  #try(otherwise: UpdateProblemName, work: () => void): void {
    try {
      work()
      this.#problem = undefined
    } catch (error) {
      this.#problem = problemOf(error, otherwise)
    }
  }
}

/** Returns the folder of the downloaded installer, inside the app's own folder. */
export const updatesFolder = (userData: string): string => join(userData, 'updates')
