import { monotonic } from '../system/time.ts'
import { DatabaseError } from '../postgres/database-error.ts'
import type { Session } from '../postgres/database-session.ts'
import { type ControllerReport, report } from './controller-rows.ts'
import { clusterTimes } from './timings.ts'

/** Reports that another process may miss before its row is free, and after how many of ours that are refused it is certain that it lives. */
const missed = 3
const refused = 4

export interface OwnRowOptions {
  /** Names the data folder on this machine, since its last boot. */
  folder: string
  /** Where the folder is, for a message. */
  path: string
  /** Between two reports, in milliseconds. */
  betweenMs: number
  content: () => ControllerReport
  /** The database has several servers. */
  hasSeveralServers: boolean
}

/**
 * The row that this controller writes about itself. A copied data folder has the id of the one it was copied from: the first of both keeps the row, and the second one is told.
 * The folder's lock keeps a second process of the same folder away, so a row of this folder is free.
 */
export class OwnRow {
  readonly #options: OwnRowOptions
  #isKept = false
  #refusedSince: number | undefined
  /** Connection by which a report was confirmed last, and when. */
  #confirmed: { by: Session; at: number } | undefined

  constructor(options: OwnRowOptions) {
    this.#options = options
  }

  /** Whether it was written at least once. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** Error that says that another controller with this id lives; undefined: as far as is known none does. */
  get shared(): DatabaseError | undefined {
    const { betweenMs, path, content } = this.#options
    if (this.#refusedSince === undefined || monotonic() - this.#refusedSince < refused * betweenMs) return undefined
    return new DatabaseError(
      `Another controller of this site runs with the id of this one (${content().id}), because the data folder ${path} was copied: delete controller.id in the copy, and start it again.`,
    )
  }

  /**
   * Writes the report. Where there are several servers the first one of a connection, and one every few seconds, is confirmed as a change is: an old primary that still runs
   * answers, and confirms nothing.
   * @returns false: another controller has the row
   */
  async write(session: Session): Promise<boolean> {
    const { folder, betweenMs, content, hasSeveralServers } = this.#options
    const isConfirmed = hasSeveralServers && !this.#hasConfirmed(session)
    const isOurs = await report(session, content(), { folder, freeAfterMs: missed * betweenMs }, isConfirmed)
    if (isConfirmed) this.#confirmed = { by: session, at: monotonic() }
    if (isOurs) {
      this.#isKept = true
      this.#refusedSince = undefined
      return true
    }
    this.#refusedSince ??= monotonic()
    return false
  }

  #hasConfirmed(session: Session): boolean {
    return this.#confirmed?.by === session && monotonic() - this.#confirmed.at < clusterTimes.betweenConfirmed
  }
}
