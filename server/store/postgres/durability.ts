import { type DurabilityRisk, durabilityRisks } from '../../../shared/domain/durability.ts'
import { clusterTimes } from '../election/timings.ts'
import { monotonic } from '../system/time.ts'
import type { DatabaseAddress } from './database-address.ts'
import type { DatabaseSession } from './database-session.ts'
import { messageOf } from './server-answers.ts'

/** Settings that determine whether a confirmed change can be lost (PostgreSQL documentation, 19.5.1 and 19.6.2). */
interface Settings {
  fsync: string
  full_page_writes: string
  synchronous_commit: string
  synchronous_standby_names: string
}

function risksOf(settings: Settings, hosts: number): DurabilityRisk[] {
  const standbys = settings.synchronous_standby_names.trim() !== ''
  const found: Record<DurabilityRisk, boolean> = {
    fsync: settings.fsync === 'off',
    fullPageWrites: settings.full_page_writes === 'off',
    localCommit: standbys && settings.synchronous_commit === 'local',
    asynchronous: hosts > 1 && !standbys,
  }
  return durabilityRisks.filter((risk) => found[risk])
}

export interface DurabilityOptions {
  address: DatabaseAddress
  /** Called with a sentence for each new risk. */
  onFound: (risk: DurabilityRisk, sentence: string) => void
  /** Called when a risk no longer exists. */
  onGone: (risk: DurabilityRisk) => void
  /** Called once when the settings cannot be read. */
  onUnread: (error: unknown) => void
}

/** Checks regularly whether the settings of the database can lose confirmed changes. */
export class Durability {
  readonly #options: DurabilityOptions
  #risks: readonly DurabilityRisk[] = []
  /** Last session that was queried, and when. */
  #asked: { session: DatabaseSession; at: number } | undefined
  #isUnread = false

  constructor(options: DurabilityOptions) {
    this.#options = options
  }

  /** Risks found by the last check. */
  get risks(): readonly DurabilityRisk[] {
    return this.#risks
  }

  /**
   * Checks the settings on a new connection, and again a minute after the last check: settings may change while a
   * server runs. Never rejects.
   */
  async look(session: DatabaseSession): Promise<void> {
    const asked = this.#asked
    if (asked?.session === session && monotonic() - asked.at < clusterTimes.betweenSettings) return
    this.#asked = { session, at: monotonic() }
    try {
      const { rows } = await session.query<Settings>(
        `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
           current_setting('synchronous_commit') as synchronous_commit,
           current_setting('synchronous_standby_names') as synchronous_standby_names`,
        [],
        'settings',
      )
      const [settings] = rows
      if (settings !== undefined) this.#take(risksOf(settings, this.#options.address.hosts.length))
    } catch (error) {
      // The owner of the session handles a lost connection.
      if (session.lost !== undefined || this.#isUnread) return
      this.#isUnread = true
      this.#options.onUnread(
        new Error(`the settings of the database could not be read: ${messageOf(error)}`, { cause: error }),
      )
    }
  }

  #take(risks: readonly DurabilityRisk[]): void {
    const before = this.#risks
    this.#risks = risks
    for (const risk of risks) if (!before.includes(risk)) this.#options.onFound(risk, durabilityMessages[risk])
    for (const risk of before) if (!risks.includes(risk)) this.#options.onGone(risk)
  }
}

/** Sentences for logs and the console's API: the risk and its remedy. */
export const durabilityMessages: Record<DurabilityRisk, string> = {
  fsync:
    'The database runs with fsync=off: when its machine loses power, everything can be lost. Set fsync=on and restart PostgreSQL.',
  fullPageWrites:
    'The database runs with full_page_writes=off: when its machine loses power in the middle of a write, tables can be damaged. Set full_page_writes=on and reload PostgreSQL.',
  localCommit:
    'The database confirms changes before its synchronous standbys have them (synchronous_commit=local): a failover can lose confirmed changes. Set synchronous_commit=on.',
  asynchronous:
    'The address of the database names several servers, and none is a synchronous standby: a failover can lose the last confirmed changes. Set synchronous_standby_names (docs/operate/high-availability.md).',
}
