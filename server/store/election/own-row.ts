import { monotonic } from '../system/time.ts'
import { DatabaseError } from '../postgres/database-error.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { report } from './controller-rows.ts'
import type { ControllerPlace, JoiningController, KnownController } from './site-member.ts'
import { clusterTimes } from './timings.ts'

/**
 * Number of missed reports of another process after which its row is free, and number of rejected reports of this
 * process after which the other process certainly runs.
 */
const missed = 3
const refused = 4

export interface OwnRowOptions {
  id: string
  name: string
  version: string
  /** Id of the data folder on this machine since the last boot: see `idOfFolder`. */
  folder: string
  /** Path of the folder, for a message. */
  path: string
  /** Interval of reports, in milliseconds. */
  betweenMs: number
  hasSeveralServers: boolean
  /** Start of this controller's current role, in milliseconds since the epoch. */
  since: number
}

/**
 * Row that this controller writes about itself. A copied data folder has the same controller id as the original: the
 * first of the two controllers keeps the row, and the second controller reports an error.
 * The folder's lock prevents a second process with the same folder, so this process may overwrite a row of the same
 * folder.
 */
export class OwnRow {
  readonly #options: OwnRowOptions
  #place: ControllerPlace = { media: '', device: '', node: '', console: '', event: '', certificate: '' }
  #since: number
  #isKept = false
  #refusedSince: number | undefined
  /** Connection and time of the last confirmed report. */
  #confirmed: { by: DatabaseSession; at: number } | undefined

  constructor(options: OwnRowOptions) {
    this.#options = options
    this.#since = options.since
  }

  /** Whether the row was written at least once. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** Error if another controller with this id is running; undefined: none is known. */
  get shared(): DatabaseError | undefined {
    const { id, betweenMs, path } = this.#options
    if (this.#refusedSince === undefined || monotonic() - this.#refusedSince < refused * betweenMs) return undefined
    return new DatabaseError(
      `Another controller of this site runs with the id of this one (${id}), because the data folder ${path} was copied: delete controller.id in the copy, and start it again.`,
    )
  }

  /** This controller, for a registration with the leader. */
  get joiner(): JoiningController {
    const { id, name, version } = this.#options
    return { id, name, version, place: this.#place }
  }

  /** Changes the addresses of this controller. @returns whether the leader must register them again */
  announce(place: ControllerPlace): boolean {
    const { console: before, certificate } = this.#place
    this.#place = place
    return place.console !== before || place.certificate !== certificate
  }

  /** Records that this controller has a new role. @param since milliseconds since the epoch */
  changesRole(since: number): void {
    this.#since = since
  }

  /** Returns this controller as the leader. @param now milliseconds since the epoch */
  asLeader(now: number): KnownController {
    return { ...this.joiner, role: 'leader', behind: 0, behindFor: 0, seenAt: now, since: this.#since }
  }

  /**
   * Writes the report. If the database has several servers, the first report of a connection, and then one report every
   * few seconds, is confirmed like a change. An old primary that still runs answers statements, but confirms no commit.
   * @param applied number of the last journal line in memory
   * @returns false: another controller writes the row
   */
  async write(session: DatabaseSession, applied: number): Promise<boolean> {
    const { folder, betweenMs, hasSeveralServers } = this.#options
    const isConfirmed = hasSeveralServers && !this.#hasConfirmed(session)
    const said = { ...this.joiner, applied, since: this.#since }
    const isOurs = await report(session, said, { folder, freeAfterMs: missed * betweenMs }, isConfirmed)
    if (isConfirmed) this.#confirmed = { by: session, at: monotonic() }
    if (isOurs) {
      this.#isKept = true
      this.#refusedSince = undefined
      return true
    }
    this.#refusedSince ??= monotonic()
    return false
  }

  #hasConfirmed(session: DatabaseSession): boolean {
    return this.#confirmed?.by === session && monotonic() - this.#confirmed.at < clusterTimes.betweenConfirmed
  }
}
