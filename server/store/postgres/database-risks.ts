import { Client } from 'pg'
import { loopback } from '../../../shared/bind-address.ts'
import {
  type DatabaseRisk,
  durabilityMessages,
  type DurabilityRisk,
  durabilityRisks,
} from '../../../shared/domain/database-risks.ts'
import { clusterTimes } from '../election/timings.ts'
import type { StoreLogger } from '../notices.ts'
import { monotonic } from '../system/time.ts'
import { type DatabaseAddress, parseDatabaseAddress } from './database-address.ts'
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

/** Checks regularly whether the settings of the database can lose confirmed changes. Logs each change. */
export class Durability {
  readonly #hosts: number
  readonly #logger: StoreLogger | undefined
  #risks: readonly DurabilityRisk[] = []
  /** The last queried session, and the time of the query by `monotonic()`. */
  #asked: { session: DatabaseSession; at: number } | undefined
  #isUnread = false

  constructor({ hosts }: Pick<DatabaseAddress, 'hosts'>, logger: StoreLogger | undefined) {
    this.#hosts = hosts.length
    this.#logger = logger
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
      if (settings !== undefined) this.#take(risksOf(settings, this.#hosts))
    } catch (error) {
      // The owner of the session handles a lost connection.
      if (session.lost !== undefined || this.#isUnread) return
      this.#isUnread = true
      const err = new Error(`the settings of the database could not be read: ${messageOf(error)}`, { cause: error })
      this.#logger?.warn({ err }, 'It is not known whether the database can lose changes.')
    }
  }

  #take(risks: readonly DurabilityRisk[]): void {
    const before = this.#risks
    this.#risks = risks
    for (const risk of risks) if (!before.includes(risk)) this.#logger?.warn({ risk }, durabilityMessages[risk])
    for (const risk of before)
      if (!risks.includes(risk)) this.#logger?.info({ risk }, 'The database is as durable again as before.')
  }
}

/**
 * Checks whether the connection that pg would make for an address is safe, which also depends on `PGSSLMODE`. Returns
 * undefined if the connection is safe, or stays on this machine.
 * @throws DatabaseError when the address is invalid
 */
export function databaseRisk(address: string): DatabaseRisk | undefined {
  const risks = parseDatabaseAddress(address).hosts.map((connectionString): DatabaseRisk | undefined => {
    const { host, ssl } = hostAndTlsOf(new Client({ connectionString }))
    if (host.startsWith('/') || loopback.test(host)) return undefined
    if (ssl === undefined || ssl === false) return 'plain'
    const checks = typeof ssl === 'object' && ssl !== null
    const skips =
      checks && ('checkServerIdentity' in ssl || ('rejectUnauthorized' in ssl && ssl.rejectUnauthorized === false))
    return skips ? 'unverified' : undefined
  })
  return risks.find((risk) => risk === 'plain') ?? risks.find((risk) => risk !== undefined)
}

/** Returns the host and TLS options of a client. The types of `pg` do not declare that `ssl` may hold TLS options. */
function hostAndTlsOf({ host, ssl }: Client): { host: string; ssl: unknown } {
  return { host, ssl }
}
